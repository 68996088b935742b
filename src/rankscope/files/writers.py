"""Writers of runs and judgments, in the format of the file's ending."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.catalogue import read_qrels, read_run
from rankscope.parallel import map_parts
from rankscope.store import as_bytes, write_file
from rankscope.tables import IN_CACHE, Qrels, Run, column

UNFIT = r"\s|^#|^$"  # no id of TREC lines
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
    tag = name or (table.name if table.name != "run" else Path(path).name.split(".")[0])

    def lines() -> Iterator[bytes]:
        _refuse_blanks(table.blocks.query.alias("query_id").to_frame(), path, tag)
        return map_parts(lambda part: _run_lines(part, path, tag), table.parts(IN_CACHE))

    return _write(table, lambda: pl.concat(map_parts(_in_order, table.parts(IN_CACHE))), path, lines)


def _in_order(run: Run) -> pl.DataFrame:
    """The rows of a run with their ranks, best first, query by query."""
    keys = ("place", "rank") if "rank" in run.frame.columns else ("place", "score", "doc_id")
    down = [key not in ("place", "rank") for key in keys]
    rows, after = run.frame.with_columns(place=column(run.query_code)), pl.lit(True)
    for key, falls in reversed([*zip(keys, down, strict=True)]):
        now, before = pl.col(key), pl.col(key).shift(1)
        after = (now < before if falls else now > before) | ((now == before) & after)
    if not rows.select(after.all()).item():
        rows = rows.sort(keys, descending=down, maintain_order=True)
    if "rank" not in rows.columns:
        ranks = np.arange(1, rows.height + 1) - np.repeat(run.blocks.start, run.blocks.size)
        rows = rows.with_columns(rank=column(ranks))
    return rows.select("query_id", "doc_id", "score", "rank")


def _run_lines(run: Run, path: str | Path, tag: str) -> bytes:
    rows = _in_order(run)
    _refuse_blanks(rows.select("doc_id"), path)
    query = (run.blocks.query.alias("query_id") + " Q0")[run.query_code]
    score = pl.col("score").cast(pl.String)  # faster than numbers are written
    stream = io.BytesIO()
    rows.select(query, "doc_id", "rank", score).write_csv(
        stream, separator=" ", line_terminator=f" {tag}\n", include_header=False, quote_style="never"
    )
    return stream.getvalue()


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

    def lines() -> Iterator[str]:
        _refuse_blanks(wanted, path)
        rows = wanted if "iteration" in names else wanted.with_columns(iteration=pl.lit("0"))
        return (f"{q} {i} {d} {_grade(g)}\n" for q, d, g, i in rows.iter_rows())

    return _write(table, lambda: wanted, path, lines)


def _grade(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _refuse_faulty(table: Run | Qrels) -> None:
    if table.source.faults:
        raise InputError(table.source.faults[0].message)


def _refuse_blanks(rows: pl.DataFrame, path: str | Path, tag: str = "tag") -> None:
    for name in (one for one in ("query_id", "doc_id", "iteration") if one in rows.columns):
        odd = rows[name].filter(rows[name].str.contains(UNFIT))
        if len(odd):
            reason = f"{name} {words.quote(odd[0])} cannot be written in TREC lines"
            raise InputError(f"{path}: {reason}; write .csv, .jsonl or .parquet")
    if any(sign.isspace() for sign in tag):
        reason = f"the name {words.quote(tag)} has a blank, which TREC lines part by"
        raise InputError(f"{path}: {reason}; name it otherwise")


def _write(
    table: Run | Qrels, rows: Callable[[], pl.DataFrame], path: str | Path, lines: Callable[[], Iterable[str | bytes]]
) -> Path:
    place, ending, packed = _ending(path)
    if ending != ".json" and len(table.blocks.size) < len(table.queries):
        raise InputError(f"{place}: a query without documents has no rows; write .json")
    if ending in ENDINGS:
        data: Iterable[str | bytes] = [_as_rows(rows(), ending)]
    elif ending == ".json":
        data = [json.dumps(_by_query(rows(), table.queries, place), ensure_ascii=False) + "\n"]
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


def _keep(place: Path, data: Iterable[str | bytes], packed: bool) -> Path:
    write_file(place, [gzip.compress(b"".join(map(as_bytes, data)), mtime=0)] if packed else data)
    return place


def check_ending(path: str | Path) -> None:
    """Raise InputError for an ending that tables of rows are not written with."""
    place, ending, _ = _ending(path)
    if ending not in ENDINGS:
        remedy = "use the ending .parquet, .csv, .tsv or .jsonl (also .gz) for rows"
        raise InputError(f"{place}: {remedy}")


def write_rows(rows: pl.DataFrame, path: str | Path) -> Path:
    """Write a table in the format of the file's ending (.parquet .csv .tsv .jsonl, also .gz) and return its path."""
    check_ending(path)
    place, ending, packed = _ending(path)
    if ending not in {".parquet", ".pq"}:
        rows = rows.with_columns(pl.selectors.datetime(time_zone="*").dt.strftime("%Y-%m-%dT%H:%M:%S%.3fZ"))
    return _keep(place, [_as_rows(rows, ending)], packed)


def _by_query(rows: pl.DataFrame, queries: list[str], place: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return ``{query: {document: number}}``, or with aspects ``{query: {document: {aspect: number}}}``."""
    value = "score" if "score" in rows.columns else "grade"
    out: dict[str, dict[str, Any]] = {query: {} for query in queries}
    several = "iteration" in rows.columns and rows["iteration"].n_unique() > 1
    if not several and rows.select("query_id", "doc_id").is_duplicated().any():
        reason = "a document is there twice for a query, which JSON cannot hold"
        raise InputError(f"{place}: {reason}; write .csv or .parquet")
    for row in rows.iter_rows(named=True):
        of_query = out[row["query_id"]]
        if several:
            of_query.setdefault(row["doc_id"], {})[row["iteration"]] = row[value]
        else:
            of_query[row["doc_id"]] = row[value]
    return out
