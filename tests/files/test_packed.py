"""Many judgments in Parquet are read in parts and kept in few bytes: they say what they say when they are read whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.files import parquet
from rankscope.parallel import THREADS
from rankscope.tables import PackedQrels, Qrels

METRICS = ["nDCG@10", "AP", "Bpref", "Judged@10", "AUC"]


def judgments(grade: Any = float) -> pl.DataFrame:
    """Three to nine judgments a query."""
    draws = np.random.default_rng(9)
    rows = [
        (f"query {query}", f"d{doc}", grade(draws.integers(-1, 4)))
        for query in range(40)
        for doc in draws.choice(50, int(draws.integers(3, 10)), replace=False).tolist()
    ]
    return pl.DataFrame(rows, schema=["query_id", "doc_id", "grade"], orient="row")


def ranking(queries: list[int]) -> dict[str, dict[str, float]]:
    """Rankings of these queries."""
    return {f"query {query}": {f"d{doc}": float(50 - doc) for doc in range(query % 3, 50, 2)} for query in queries}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Read judgments in parts of so many rows; whole, where none is said."""

    def read(path: Path, part: int | None) -> Any:
        monkeypatch.setenv(THREADS, "2")
        monkeypatch.setattr(parquet, "MANY", 1 if part else 1 << 40)
        monkeypatch.setattr(parquet, "PART", part or 1 << 19)
        return rs.read_qrels(path)

    return read


FRAMES = {
    "grades as floats": judgments(),
    "grades as whole numbers": judgments(int),
    "fractions": judgments(lambda grade: grade + 0.5),
    "ids as whole numbers": judgments(int).with_columns(pl.col("doc_id").str.slice(1).cast(pl.Int64)),
    "other names": judgments(int).rename({"query_id": "qid", "grade": "relevance"}),
    "a column more": judgments(int).with_columns(note=pl.lit("x")),
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("part", [1, 7, 1000])
def test_what_is_packed_says_what_the_whole_says(tmp_path: Path, read: Any, kind: str, part: int) -> None:
    FRAMES[kind].write_parquet(tmp_path / "qrels.parquet", row_group_size=20)
    whole, packed = read(tmp_path / "qrels.parquet", None), read(tmp_path / "qrels.parquet", part)
    assert isinstance(packed, PackedQrels)
    assert not isinstance(whole, PackedQrels)
    assert packed.frame.equals(whole.frame)
    assert packed.frame.schema == whole.frame.schema
    assert packed.queries == whole.queries
    assert packed.content_sha256 == whole.content_sha256
    assert packed.source.notes == whole.source.notes
    assert packed.mapping == whole.mapping
    for places in ([3, 4, 5], [30, 2, 7], [], list(range(40))):
        some = [table.only(np.array(places, dtype=np.int64)) for table in (packed, whole)]
        assert some[0].frame.equals(some[1].frame)
        assert some[0].queries == some[1].queries
    assert type(packed.distinct("best")) is Qrels


@pytest.mark.parametrize("order", ["as they stand", "in reverse", "some", "others, too"])
def test_runs_score_the_same(tmp_path: Path, read: Any, order: str) -> None:
    FRAMES["grades as whole numbers"].write_parquet(tmp_path / "qrels.parquet")
    queries = {"in reverse": range(39, -1, -1), "some": range(7, 30, 3), "others, too": range(20, 60)}
    run = ranking(list(queries.get(order, range(40))))
    found = [rs.evaluate(read(tmp_path / "qrels.parquet", part), run, METRICS) for part in (None, 11)]
    rows = [scores.per_query.rows() for scores in found]
    assert repr(rows[0]) == repr(rows[1])
    assert found[0].to_dicts() == found[1].to_dicts()
    assert found[0].data_health == found[1].data_health


ODD = {
    "a pair twice": lambda rows: pl.concat([rows[:1], rows]),
    "a query that comes back": lambda rows: pl.concat([rows[1:], rows[:1]]),
    "no document": lambda rows: rows.with_columns(doc_id=pl.when(pl.row_index() == 30).then(None).otherwise("doc_id")),
    "an empty query": lambda rows: rows.with_columns(query_id=pl.col("query_id").replace("query 7", "")),
    "a grade that is none": lambda rows: rows.with_columns(
        grade=pl.when(pl.row_index() == 9).then(float("nan")).otherwise("grade")
    ),
    "a missing grade": lambda rows: rows.with_columns(grade=pl.when(pl.row_index() == 9).then(None).otherwise("grade")),
    "grades as texts": lambda rows: rows.with_columns(pl.col("grade").cast(pl.String)),
    "subtopics": lambda rows: rows.with_columns(iteration=pl.lit("1")),
    "no grades": lambda rows: rows.drop("grade"),
}


@pytest.mark.parametrize("kind", ODD)
def test_what_is_odd_is_told_as_ever(tmp_path: Path, read: Any, kind: str) -> None:
    ODD[kind](judgments()).write_parquet(tmp_path / "qrels.parquet")
    said: list[tuple[Any, ...]] = []
    for part in (None, 7):
        try:
            qrels = read(tmp_path / "qrels.parquet", part)
            found = rs.evaluate(qrels, ranking(list(range(40))), "nDCG@10")
            said.append((type(qrels), found.per_query.rows(), found.notes))
        except rs.InputError as error:
            said.append((str(error),))
    assert said[0] == said[1]
