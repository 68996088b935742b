"""What Spark computes is what is computed here, to the last bit: for all metrics, in parts of any size, under every policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.laws.test_engines import FOR_ALL, world
from tests.scoring.spark.conftest import assert_same

import rankscope as rs
from rankscope.engines.base import SEVERAL
from rankscope.metrics import CATALOGUE
from rankscope.testing import variants

pytestmark = pytest.mark.filterwarnings("ignore:::pyspark")  # not ours to mend

METRICS = [m for m in FOR_ALL if m.aggregate != "pooled"]
ASPECTS = [
    m
    for cls in dict.fromkeys(CATALOGUE.values())
    if cls.__module__.startswith("rankscope.")
    for m in variants(cls)
    if m.needs & SEVERAL and m.aggregate != "pooled"
]
FEW = ["nDCG@10", "AP", "RR", "Success@1", "GMAP", "NumRel", "Judged@5"]


def made() -> tuple[pl.DataFrame, pl.DataFrame]:
    """A world of ties and grades from below 0 to 4, with queries that are judged or ranked only."""
    rng = np.random.default_rng(11)
    rows, grades = [], []
    for i in range(60):
        docs = rng.permutation(40)
        if i % 9 != 4:
            rows += [(f"q{i}", f"d{d}", float(rng.integers(0, 8)) / 4) for d in docs[: rng.integers(1, 30)]]
        if i % 7 != 3:
            grades += [
                (f"q{i}", f"d{d}", float(rng.integers(-1, 5))) for d in rng.permutation(40)[: rng.integers(1, 12)]
            ]
    names = ["query_id", "doc_id"]
    run = pl.DataFrame(rows, schema=[*names, "score"], orient="row")
    return pl.DataFrame(grades, schema=[*names, "grade"], orient="row"), run


QRELS, RUN = made()


def test_the_whole_catalogue(on_spark: Callable[..., Any]) -> None:
    qrels, run = world()
    grades = pl.DataFrame(
        [(q, d, float(v)) for q, of in qrels.items() for d, v in of.items()], schema=QRELS.schema, orient="row"
    )
    scores = pl.DataFrame(
        [(q, d, float(v)) for q, of in run.items() for d, v in of.items()], schema=RUN.schema, orient="row"
    )
    assert len(METRICS) > 300
    assert_same(rs.evaluate(grades, scores, METRICS), rs.evaluate(on_spark(grades), on_spark(scores), METRICS))


def test_metrics_of_subtopics(on_spark: Callable[..., Any]) -> None:
    aspects = QRELS.with_columns(iteration=pl.format("t{}", pl.col("doc_id").str.tail(1))).with_columns(
        pl.col("grade").clip(0, 1)
    )
    # one query alone names none, so that in a part of its own there are none
    aspects = aspects.with_columns(
        iteration=pl.when(pl.col("query_id") == "q0").then(pl.lit("0")).otherwise("iteration")
    )
    kept = []
    for metric in ASPECTS:
        try:
            rs.evaluate(aspects, RUN, metric)
            kept.append(metric)
        except rs.RankscopeError:
            continue
    assert len(kept) > 10
    assert_same(rs.evaluate(aspects, RUN, kept), rs.evaluate(on_spark(aspects), on_spark(RUN), kept))


@pytest.mark.parametrize(
    ("batch", "part", "broadcast", "partitions"),
    [(1, 1, 0, 2), (7, 20, 0, 50), (7, 1000, 1000, 2), (10_000, 5, 1000, 1), (3, 64, 50, 5)],
)
def test_parts_of_any_size(
    batch: int, part: int, broadcast: int, partitions: int, on_spark: Callable[..., Any], settings: Callable[..., None]
) -> None:
    settings(sql_execution_arrow_maxRecordsPerBatch=batch, rankscope_part_rows=part, rankscope_broadcast_rows=broadcast)
    settings(sql_shuffle_partitions=partitions, sql_adaptive_enabled="false" if partitions == 50 else "true")
    assert_same(rs.evaluate(QRELS, RUN, FEW), rs.evaluate(on_spark(QRELS), on_spark(RUN, 7), FEW))


def test_one_query_with_most_of_the_rows(on_spark: Callable[..., Any]) -> None:
    rng = np.random.default_rng(2)
    giant = pl.DataFrame(
        {"query_id": "q1x", "doc_id": [f"d{i}" for i in range(5000)], "score": rng.random(5000).round(2)}
    )
    judged = pl.DataFrame({"query_id": "q1x", "doc_id": [f"d{i}" for i in range(0, 5000, 9)], "grade": 1.0})
    qrels, run = pl.concat([QRELS, judged]), pl.concat([RUN, giant])
    assert_same(rs.evaluate(qrels, run, FEW), rs.evaluate(on_spark(qrels), on_spark(run, 9), FEW))


@pytest.mark.parametrize(
    "policies",
    [
        {"ties": "docid"},
        {"ties": "expected"},
        {"ties": "best"},
        {"ties": "worst"},
        {"queries": "run"},
        {"queries": "both"},
        {"queries": "either"},
        {"queries": ["q1", "q2", "q5"]},
        {"nothing_found": "skip"},
        {"no_relevant": "skip"},
        {"no_relevant": 1},
        {"depth": 3},
        {"level": 0.9},
        {"interval": "t"},
    ],
)
def test_every_policy(policies: dict[str, Any], on_spark: Callable[..., Any]) -> None:
    metrics = ["nDCG@10", "AP", "RR", "Success@1", "GMAP"]
    assert_same(
        rs.evaluate(QRELS, RUN, metrics, **policies), rs.evaluate(on_spark(QRELS), on_spark(RUN), metrics, **policies)
    )


def test_weights_and_micro_means(on_spark: Callable[..., Any]) -> None:
    qrels, run = on_spark(QRELS), on_spark(RUN)
    weights = {f"q{i}": 1.0 + i % 3 for i in range(60)}
    for more in ({"weights": weights}, {"mean": "micro"}):
        metrics = ["nDCG@10", "AP", "P@5"]
        assert_same(rs.evaluate(QRELS, RUN, metrics, **more), rs.evaluate(qrels, run, metrics, **more))
    assert_same(
        rs.evaluate(QRELS, RUN, ["GMAP", "AP"], weights=weights),
        rs.evaluate(qrels, run, ["GMAP", "AP"], weights=weights),
    )


def test_the_order_of_the_rows_and_repeated_documents(spark: Any) -> None:
    rows = [("q1", "a", 1.0), ("q1", "b", 1.0), ("q1", "a", 3.0), ("q2", "c", 2.0), ("q2", "b", 2.0), ("q2", "c", 2.0)]
    run = pl.DataFrame(rows, schema=RUN.schema, orient="row")
    qrels = pl.DataFrame([("q1", "a", 1.0), ("q2", "b", 2.0)], schema=QRELS.schema, orient="row")
    there = spark.createDataFrame(rows, "query_id string, doc_id string, score double")
    ways: list[Any] = [{"duplicates": "first"}, {"duplicates": "best"}, {"duplicates": "first", "ties": "input"}]
    for more in ways:
        assert_same(rs.evaluate(qrels, run, ["RR", "nDCG"], **more), rs.evaluate(qrels, there, ["RR", "nDCG"], **more))


def test_the_rank_column(on_spark: Callable[..., Any]) -> None:
    run = RUN.with_columns(rank=pl.int_range(1, pl.len() + 1).over("query_id"))
    qrels, there = on_spark(QRELS), on_spark(run)
    assert_same(rs.evaluate(QRELS, run, FEW, ties="rank"), rs.evaluate(qrels, there, FEW, ties="rank"))
    assert_same(rs.evaluate(QRELS, run, FEW), rs.evaluate(qrels, there, FEW))
    bare = run.drop("score")
    assert_same(rs.evaluate(QRELS, bare, FEW), rs.evaluate(qrels, on_spark(bare), FEW))


def test_several_runs_and_other_names(on_spark: Callable[..., Any]) -> None:
    other = RUN.filter(pl.col("query_id") != "q1").with_columns(-pl.col("score"))
    names = {"query_id": "user_id", "doc_id": "item_id"}
    here = rs.evaluate(QRELS, {"a": RUN, "b": other}, FEW, queries="both")
    there = rs.evaluate(
        on_spark(QRELS.rename(names)), {"a": on_spark(RUN.rename(names)), "b": on_spark(other)}, FEW, queries="both"
    )
    assert_same(here, there)


def test_numbers_as_ids_and_as_texts(on_spark: Callable[..., Any]) -> None:
    number = pl.col("query_id").str.tail(-1).cast(pl.Int64)
    qrels, run = QRELS.with_columns(number), RUN.with_columns(number)
    texts = run.with_columns(pl.col("query_id").cast(pl.String), pl.col("score").cast(pl.String))
    assert_same(rs.evaluate(qrels, run, FEW), rs.evaluate(on_spark(qrels), on_spark(texts), FEW))


def test_judgments_from_here(on_spark: Callable[..., Any], settings: Callable[..., None]) -> None:
    qrels: dict[str, dict[str, float]] = {"nothing": {}}
    for query, doc, grade in QRELS.iter_rows():
        qrels.setdefault(query, {})[doc] = grade
    run = on_spark(RUN)
    here = rs.evaluate(qrels, RUN, FEW)
    assert_same(here, rs.evaluate(qrels, run, FEW))
    settings(rankscope_broadcast_rows=0)
    assert_same(here, rs.evaluate(qrels, run, FEW))


def test_relstrings_and_first_ranks(on_spark: Callable[..., Any]) -> None:
    here, there = (
        rs.evaluate(q, r, ["AP", "relstring.5"]) for q, r in ((QRELS, RUN), (on_spark(QRELS), on_spark(RUN)))
    )
    mine, theirs = ({row["query_id"]: row for row in s.to_dicts("facts")} for s in (here, there))
    assert {q: row["relstring_5"] for q, row in mine.items()} == {q: row["relstring_5"] for q, row in theirs.items()}
    assert here.to_dicts("first_relevant") == there.to_dicts("first_relevant")
    assert here.distribution.equals(there.distribution)


def test_intervals_that_look_at_single_queries_say_so(on_spark: Callable[..., Any]) -> None:
    for more in ({"interval": "bca(rounds=500)"}, {"clusters": {f"q{i}": str(i % 6) for i in range(60)}}):
        there = rs.evaluate(on_spark(QRELS), on_spark(RUN), "AP", **more)
        here = rs.evaluate(QRELS.sort("query_id"), RUN, "AP", **more)
        assert_same(here, there)
        assert "brought to the driver" in there.notes[-1]


def test_per_query_is_a_spark_frame(on_spark: Callable[..., Any]) -> None:
    scores = rs.evaluate(on_spark(QRELS), on_spark(RUN), ["AP", "nDCG@10"], no_relevant="skip")
    frame: Any = scores.per_query
    assert type(frame).__module__.startswith("pyspark.sql")
    assert frame.columns == ["run", "query_id", "metric", "value"]
    here = rs.evaluate(QRELS, RUN, ["AP", "nDCG@10"], no_relevant="skip")
    assert frame.count() == here.per_query.height
    assert frame.where("value is null").count() == here.per_query["value"].null_count() > 0
    collected = scores.collect()  # type: ignore[attr-defined]
    assert type(collected) is rs.Scores
    assert collected["AP"] == scores["AP"] == here["AP"]


def test_compare_and_gate(on_spark: Callable[..., Any]) -> None:
    worse = RUN.with_columns(pl.when(pl.col("doc_id").str.ends_with("3")).then(-1.0).otherwise("score").alias("score"))
    qrels, a, b = on_spark(QRELS), on_spark(RUN), on_spark(worse)
    here, there = rs.compare(QRELS, {"a": RUN, "b": worse}, "nDCG@10"), rs.compare(qrels, {"a": a, "b": b}, "nDCG@10")
    assert here.to_dicts() == there.to_dicts()
    one, other = rs.gate(QRELS, ("a", RUN), ("b", worse)), rs.gate(qrels, ("a", a), ("b", b))
    assert one.status == other.status
    assert one.to_dicts() == other.to_dicts()
    scores = rs.evaluate(qrels, {"a": a, "b": b}, "nDCG@10")
    assert rs.compare(scores).to_dicts() == here.to_dicts()


def test_a_second_evaluation_sees_files_that_changed(spark: Any, on_spark: Callable[..., Any], tmp_path: Any) -> None:
    path = str(tmp_path / "run")
    on_spark(RUN).write.parquet(path)
    qrels = on_spark(QRELS)
    first = rs.evaluate(qrels, spark.read.parquet(path), "AP")
    changed = RUN.with_columns(-pl.col("score"))
    on_spark(changed).write.mode("overwrite").parquet(path)
    second = rs.evaluate(qrels, spark.read.parquet(path), "AP")
    assert second["AP"] == rs.evaluate(QRELS, changed, "AP")["AP"] != first["AP"]
