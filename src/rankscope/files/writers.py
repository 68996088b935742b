"""Writers of runs and judgments, in the format of the file's ending."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.readers import read_qrels, read_run
from rankscope.store import write_file
from rankscope.tables import Qrels, Run

BLANK = r"\s"
ENDINGS = (".parquet", ".pq", ".csv", ".tsv", ".jsonl", ".ndjson")  # of tables with any columns


def write_run(run: Any, path: str | Path, *, name: str | None = None) -> Path:
    """Write a run to a file and return its path; ``run`` is any input of ``read_run``.

    The ending sets the format: .csv .tsv .jsonl .json .parquet, and TREC lines for any other; .gz compresses it. ``name`` is the tag of
    TREC lines. Rows are in order of query and rank: the rank column, or score and then document id, both descending. Raises InputError for
    another input, and if the file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_run({"q1": {"a": 1.0, "b": 2.5}}, f"{folder}/mine.run").read_text(), end="")
    q1 Q0 b 1 2.5 mine
    q1 Q0 a 2 1.0 mine
    """
    table = read_run(run).by_query()
    _refuse_faulty(table)
    rows = table.frame.with_columns(place=pl.Series(table.query_code))
    if "rank" in rows.columns:
        rows = rows.sort("place", "rank", maintain_order=True)
    else:
        rows = rows.sort("place", "score", "doc_id", descending=[False, True, True], maintain_order=True)
        rows = rows.with_columns(rank=pl.int_range(pl.len()).over("place") + 1)
    tag = name or (table.name if table.name != "run" else Path(path).name.split(".")[0])
    wanted = rows.select("query_id", "doc_id", "score", "rank")

    def lines() -> str:
        _refuse_blanks(wanted, path, tag)
        score = pl.Series("score", [*map(repr, wanted["score"].to_list())], pl.String)
        parts = wanted.select("query_id", pl.lit("Q0").alias("Q0"), "doc_id", "rank", score)
        text = parts.write_csv(separator=" ", include_header=False, quote_style="never")
        return text.replace("\n", f" {tag}\n")

    return _write(wanted, path, lines, table.queries)


def write_qrels(qrels: Any, path: str | Path) -> Path:
    """Write judgments to a file and return its path; ``qrels`` are any input of ``read_qrels``.

    The ending sets the format: .csv .tsv .jsonl .json .parquet, and TREC lines for any other; .gz compresses it. Raises InputError for
    another input, and if the file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_qrels({"q1": {"a": 2, "b": 0.5}}, f"{folder}/qrels.txt").read_text(), end="")
    q1 0 a 2
    q1 0 b 0.5
    """
    table = read_qrels(qrels).by_query()
    _refuse_faulty(table)
    names = ["query_id", "doc_id", "grade", *(["iteration"] if "iteration" in table.frame.columns else [])]
    wanted = table.frame.select(names)

    def lines() -> str:
        _refuse_blanks(wanted, path)
        rows = wanted if "iteration" in names else wanted.with_columns(iteration=pl.lit("0"))
        return "".join(f"{q} {i} {d} {_grade(g)}\n" for q, d, g, i in rows.iter_rows())

    return _write(wanted, path, lines, table.queries)


def _grade(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _refuse_faulty(table: Run | Qrels) -> None:
    if table.source.faults:
        raise InputError(table.source.faults[0].message)


def _refuse_blanks(rows: pl.DataFrame, path: str | Path, tag: str = "tag") -> None:
    for name in [column for column in ("query_id", "doc_id", "iteration") if column in rows.columns]:
        odd = rows[name].filter(rows[name].str.contains(BLANK) | (rows[name] == "") | rows[name].str.starts_with("#"))
        if len(odd):
            said = f"{name} {words.quote(odd[0])} cannot be written in TREC lines"
            raise InputError(f"{path}: {said}; write .csv, .jsonl or .parquet")
    if any(sign.isspace() for sign in tag):
        said = f"the name {words.quote(tag)} has a blank, which TREC lines part by"
        raise InputError(f"{path}: {said}; name it otherwise")


def _write(rows: pl.DataFrame, path: str | Path, lines: Callable[[], str], queries: list[str]) -> Path:
    place, ending, packed = _ending(path)
    if ending != ".json" and rows["query_id"].n_unique() < len(queries):
        raise InputError(f"{place}: a query without documents has no rows; write .json")
    data: str | bytes
    if ending in ENDINGS:
        data = _as_rows(rows, ending)
    elif ending == ".json":
        data = json.dumps(_by_query(rows, queries, place), ensure_ascii=False) + "\n"
    else:
        data = lines()
    return _keep(place, data, packed)


def _ending(path: str | Path) -> tuple[Path, str, bool]:
    place = Path(path)
    packed = place.suffix.lower() == ".gz"
    ending = (Path(place.stem) if packed else place).suffix.lower()
    if ending in {".zst", ".zstd", ".xz", ".bz2"}:
        raise InputError(f"{place}: only .gz is written; leave {ending} out")
    return place, ending, packed


def _as_rows(rows: pl.DataFrame, ending: str) -> str | bytes:
    if ending in {".parquet", ".pq"}:
        stream = io.BytesIO()
        rows.write_parquet(stream)
        return stream.getvalue()
    if ending in {".csv", ".tsv"}:
        return rows.write_csv(separator="," if ending == ".csv" else "\t")
    return rows.write_ndjson()


def _keep(place: Path, data: str | bytes, packed: bool) -> Path:
    if packed:
        data = gzip.compress(data.encode("utf-8") if isinstance(data, str) else data, mtime=0)
    write_file(place, [data])
    return place


def check_ending(path: str | Path) -> None:
    """Raise InputError for an ending that tables of rows are not written with."""
    place, ending, _ = _ending(path)
    if ending not in ENDINGS:
        said = "use the ending .parquet, .csv, .tsv or .jsonl (also .gz) for rows"
        raise InputError(f"{place}: {said}")


def write_rows(rows: pl.DataFrame, path: str | Path) -> Path:
    """Write a table in the format of the file's ending (.parquet .csv .tsv .jsonl, also .gz) and return its path.

    Times are written in UTC; in text as 2024-01-01T12:00:00.000Z. Raises InputError for another ending.
    """
    check_ending(path)
    place, ending, packed = _ending(path)
    if ending not in {".parquet", ".pq"}:
        rows = rows.with_columns(pl.selectors.datetime(time_zone="*").dt.strftime("%Y-%m-%dT%H:%M:%S%.3fZ"))
    return _keep(place, _as_rows(rows, ending), packed)


def _by_query(rows: pl.DataFrame, queries: list[str], place: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return ``{query: {document: number}}``, or with aspects ``{query: {document: {aspect: number}}}``."""
    value = "score" if "score" in rows.columns else "grade"
    out: dict[str, dict[str, Any]] = {query: {} for query in queries}
    several = "iteration" in rows.columns and rows["iteration"].n_unique() > 1
    if not several and rows.select("query_id", "doc_id").is_duplicated().any():
        said = "a document is there twice for a query, which JSON cannot hold"
        raise InputError(f"{place}: {said}; write .csv or .parquet")
    for row in rows.iter_rows(named=True):
        of_query = out[row["query_id"]]
        if several:
            of_query.setdefault(row["doc_id"], {})[row["iteration"]] = row[value]
        else:
            of_query[row["doc_id"]] = row[value]
    return out
