"""Made-up runs and judgments of a given size; the same seed gives the same bytes.

``python -m benchmarks.data MAKER ARGUMENTS`` makes files in a process of its own, so that those who measure stay small.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT

Dicts = tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]
Paths = tuple[Path, Path]
DOCUMENTS = 8_841_823  # a prime
CHUNK = 1_000_000  # rows that are in memory at once


def make(maker: str, folder: Path, name: str, **arguments: Any) -> Paths:
    """Judgments and a run as files, by a maker of this module in another process; those that are there already are kept."""
    ends = "txt" if maker == "write_files" else "parquet"
    paths = folder / f"{name}.qrels.{ends}", folder / f"{name}.run.{ends}"
    if not all(path.exists() for path in paths):
        _run(maker, folder, name, arguments)
    return paths


def make_log(maker: str, folder: Path, name: str, **arguments: Any) -> Path:
    """A log as a Parquet file, in the same way."""
    path = folder / f"{name}.log.parquet"
    if not path.exists():
        _run(maker, folder, name, arguments)
    return path


def _run(maker: str, folder: Path, name: str, arguments: Mapping[str, Any]) -> None:
    said = json.dumps({"folder": str(folder), "name": name, **arguments})
    subprocess.run([sys.executable, "-m", "benchmarks.data", maker, said], check=True, cwd=ROOT)


def write_files(folder: Path, name: str, queries: int, depth: int, judged: int, seed: int = 1, other: int = 0) -> Paths:
    """Write TREC qrels and a TREC run sorted by score; most judged documents are in the run. ``other`` numbers runs of the same queries."""
    import numpy as np

    rng = np.random.default_rng(seed)
    qrels, run = folder / f"{name}.qrels.txt", folder / f"{name}.run.txt"
    ids = np.sort(rng.choice(1_200_000, queries, replace=False))
    rng = np.random.default_rng([seed, other]) if other else rng
    with qrels.open("w", encoding="ascii") as q, run.open("w", encoding="ascii") as r:
        for query in ids.tolist():
            docs = rng.choice(8_841_823, depth, replace=False).tolist()
            scores = np.sort(rng.gamma(2.0, 5.0, depth))[::-1].tolist()
            r.writelines(
                f"{query} Q0 {doc} {rank} {score:.6f} made\n"
                for rank, (doc, score) in enumerate(zip(docs, scores, strict=True), 1)
            )
            picked = rng.choice(depth, min(judged, depth), replace=False).tolist()
            for i in picked:
                doc = docs[i] if rng.random() < 0.85 else 9_000_000 + i
                q.write(f"{query} 0 {doc} {1 if judged == 1 else int(rng.integers(0, 4))}\n")
    return qrels, run


def write_parquet(folder: Path, name: str, rows: int, depth: int, judged: int, grades: int = 4, seed: int = 1) -> Paths:
    """Write judgments and a run of any number of rows as Parquet: never more than ``CHUNK`` rows are in memory.

    Columns are ``query_id``, ``doc_id`` and ``grade``, and ``query_id``, ``doc_id`` and ``score``, ids as text and queries one after the other.
    Grades are drawn from 0 up, as many as ``grades`` says; with 1 all judged documents are relevant.
    """
    import polars as pl
    from polars.io.plugins import register_io_source

    qrels, run = folder / f"{name}.qrels.parquet", folder / f"{name}.run.parquet"
    schemas: tuple[dict[str, Any], dict[str, Any]] = (
        {"query_id": pl.String, "doc_id": pl.String, "grade": pl.Int32},
        {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64},
    )
    for path, schema, at in zip((qrels, run), schemas, (0, 1), strict=True):

        def chunks(_with: Any, _where: Any, _most: Any, _size: Any, at: int = at) -> Iterator[Any]:
            return (tables[at] for tables in _chunks(rows // depth, depth, judged, grades, seed))

        register_io_source(chunks, schema=schema).sink_parquet(path)
    return qrels, run


def text_to_parquet(folder: Path, name: str) -> Paths:
    """Write the judgments and the run of ``write_files`` as Parquet: the same rows in the same order."""
    import polars as pl

    written = folder / f"{name}.qrels.parquet", folder / f"{name}.run.parquet"
    columns = ("query_id", "q0", "doc_id", "grade"), ("query_id", "q0", "doc_id", "rank", "score", "tag")
    kinds = {"grade": pl.Int32, "rank": pl.Int32, "score": pl.Float64}
    for path, names in zip(written, columns, strict=True):
        schema = {column: kinds.get(column, pl.String) for column in names}
        text = pl.scan_csv(path.with_suffix(".txt"), separator=" ", has_header=False, quote_char=None, schema=schema)
        text.drop("q0", "rank", "tag", strict=False).sink_parquet(path)
    return written


def write_log(folder: Path, name: str, rows: int, users: int, texts: bool, seed: int = 1) -> Path:
    """Write a log of an experiment of any number of rows: each is of a user at random, the worst case for who sums by user.

    Columns are ``unit_id`` (a number, or a text of it), ``variant``, ``item_id``, ``position``, ``click``, ``conversion`` and ``revenue``. Some users
    click more than others, and those of B a little more.
    """
    import polars as pl
    from polars.io.plugins import register_io_source

    path = folder / f"{name}.log.parquet"
    kinds: dict[str, Any] = {
        "unit_id": pl.String if texts else pl.Int64, "variant": pl.String, "item_id": pl.Int64, "position": pl.Int64,
        "click": pl.Boolean, "conversion": pl.Boolean, "revenue": pl.Float64,
    }  # fmt: skip

    def chunks(_with: Any, _where: Any, _most: Any, _size: Any) -> Iterator[Any]:
        return (_log(first, min(CHUNK, rows - first), users, texts, seed) for first in range(0, rows, CHUNK))

    register_io_source(chunks, schema=kinds).sink_parquet(path)
    return path


def _log(first: int, rows: int, users: int, texts: bool, seed: int) -> Any:
    import numpy as np
    import polars as pl

    rng = np.random.default_rng([seed, first])
    user = rng.integers(0, users, rows)
    treated, eager = user * 7919 % 65_537 % 2, user * 104_729 % 65_537 / 65_537
    click = rng.random(rows) < (0.02 + 0.16 * eager) * (1 + 0.02 * treated)
    sold = click & (rng.random(rows) < 0.2)
    table = {
        "unit_id": user, "variant": pl.Series(["A", "B"]).gather(treated), "item_id": rng.integers(0, 100_000, rows),
        "position": rng.integers(1, 11, rows), "click": click, "conversion": sold, "revenue": np.where(sold, rng.gamma(2.0, 10.0, rows), 0.0),
    }  # fmt: skip
    return pl.DataFrame(table).with_columns(pl.format("user-{}", "unit_id").alias("unit_id") if texts else "unit_id")


def simulate_log(folder: Path, name: str, users: int, seed: int = 1) -> Path:
    """Write what ``rankscope simulate experiment`` makes: about 68 rows a user in lists of 20, ids as texts."""
    import rankscope as rs

    path = folder / f"{name}.log.parquet"
    rs.simulate("experiment", users=users, truth=100, seed=seed).write_log(path)
    return path


def simulate_lists(folder: Path, name: str, users: int, seed: int = 1, **world: Any) -> Path:
    """Write what ``rankscope simulate log`` makes."""
    import rankscope as rs

    path = folder / f"{name}.log.parquet"
    rs.simulate("log", users=users, seed=seed, **world).write_log(path)
    return path


WRITERS = write_files, write_parquet, text_to_parquet, write_log, simulate_log, simulate_lists
MAKERS = {maker.__name__: maker for maker in WRITERS}


def _chunks(queries: int, depth: int, judged: int, grades: int, seed: int) -> Iterator[tuple[Any, Any]]:
    """Judgments and rankings of some queries after another. A document occurs once a query: a walk of any step meets each once."""
    import numpy as np
    import polars as pl

    step = max(CHUNK // depth, 1)
    for first in range(0, queries, step):
        rng = np.random.default_rng([seed, first])
        many = min(step, queries - first)
        names = pl.Series(range(first, first + many)).cast(pl.String).str.zfill(9)
        at = np.arange(many)
        steps = rng.integers(1, DOCUMENTS, (many, 1))
        docs = (rng.integers(0, DOCUMENTS, (many, 1)) + np.arange(depth) * steps) % DOCUMENTS
        scores = np.sort(rng.gamma(2.0, 5.0, (many, depth)), axis=1)[:, ::-1]
        places = (rng.integers(0, depth, (many, 1)) + np.arange(judged) * max(depth // judged, 1)) % depth
        known = np.where(rng.random((many, judged)) < 0.85, np.take_along_axis(docs, places, 1), 9_000_000 + places)
        known_grades = rng.integers(0, grades, many * judged) if grades > 1 else np.ones(many * judged)
        yield (
            _table(names, at.repeat(judged), known, pl.Series("grade", known_grades, pl.Int32)),
            _table(names, at.repeat(depth), docs, pl.Series("score", scores.ravel())),
        )


def _table(names: Any, at: Any, docs: Any, last: Any) -> Any:
    import polars as pl

    return pl.DataFrame({"query_id": names.gather(at), "doc_id": pl.Series(docs.ravel()).cast(pl.String)}).with_columns(
        last
    )


def make_dicts(queries: int, depth: int, judged: int, seed: int = 1) -> Dicts:
    """The same in memory, as dicts of dicts."""
    import numpy as np

    rng = np.random.default_rng(seed)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(queries):
        docs = [f"d{doc}" for doc in rng.choice(100_000, depth, replace=False).tolist()]
        scores = rng.random(depth).astype(np.float32).tolist()
        run[f"q{number}"] = dict(zip(docs, scores, strict=True))
        picked = rng.choice(depth, judged, replace=False).tolist()
        qrels[f"q{number}"] = {docs[i]: int(rng.integers(0, 3)) for i in picked}
    return qrels, run


if __name__ == "__main__":
    arguments = json.loads(sys.argv[2])
    MAKERS[sys.argv[1]](Path(arguments.pop("folder")), **arguments)
