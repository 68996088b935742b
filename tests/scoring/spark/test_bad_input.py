"""What cannot be scored is told in one line that names column, query and remedy; rows are looked at on executors, columns here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankscope as rs

pytestmark = pytest.mark.filterwarnings("ignore:::pyspark")  # not ours to mend

QRELS = "query_id string, doc_id string, grade int"
RUN = "query_id string, doc_id string, score double"
GOOD = [("q1", "a", 1.0), ("q2", "b", 1.0)]
JUDGED = [("q1", "a", 1), ("q2", "b", 0)]
NAN = float("nan")


@pytest.mark.parametrize(
    ("schema", "rows", "told"),
    [
        ("query_id string, doc string, score double", GOOD, "no column for doc_id among query_id, doc and score"),
        ("query_id double, doc_id string, score double", [(1.0, "a", 1.0), (1.5, "a", 1.0)], "run: column query_id holds fractions (1.5), not ids"),
        ("query_id string, doc_id float, score double", [("q1", 2.5, 1.0)], "run: column doc_id holds fractions (2.5), not ids"),
        ("query_id string, doc_id double, score double", [("q1", 2.0**53, 1.0)], "as an id; floats from 9,007,199,254,740,992 on can mean several"),
        ("query_id string, doc_id double, score double", [("q1", NAN, 1.0)], "run query q1: no doc_id (column doc_id is empty)"),
        ("query_id double, doc_id string, score double", [(None, "a", 1.0)], "run: no query_id (column query_id is empty)"),
        ("query_id boolean, doc_id string, score double", [(True, "a", 1.0)], "column query_id is of type boolean; ids are strings or integers; cast it"),
        ("query_id string, doc_id date, score double", [], "column doc_id is of type date; ids are strings or integers"),
        ("query_id string, doc_id string, score timestamp", [], "column score is of type timestamp; it should hold numbers"),
        ("query_id string, doc_id array<string>, score double", [], "column doc_id is of type array<string>; ids"),
        (RUN, [], "the data frame has no rows"),
        (RUN, [*GOOD, (None, "c", 1.0)], "run: no query_id (column query_id is empty)"),
        (RUN, [*GOOD, ("q2", None, 1.0)], "run query q2: no doc_id (column doc_id is empty)"),
        (RUN, [*GOOD, ("q2", "c", None)], "run query q2: no score (column score is empty)"),
        (RUN, [*GOOD, ("q2", "c", NAN)], "run query q2: the score is NaN; give a number or leave the document out"),
        (RUN, [*GOOD, ("q2", "b", 3.0)], "run query q2: document b of query q2 is ranked twice; remove one, or choose duplicates="),
        ("query_id string, doc_id string, score string", [("q1", "a", "high")], "run query q1: score 'high' is not a number"),
        ("query_id string, doc_id string, score double, run string", [("q1", "a", 1.0, "x"), ("q2", "a", 1.0, "y")], "column run names"),
    ],
)  # fmt: skip
def test_runs(schema: str, rows: list[Any], told: str, spark: Any) -> None:
    qrels, run = spark.createDataFrame(JUDGED, QRELS), spark.createDataFrame(rows, schema)
    with pytest.raises(rs.InputError) as raised:
        rs.evaluate(qrels, run, "AP")
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("broadcast", [0, 1000])
@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([*JUDGED, (None, "c", 1)], "qrels: no query_id"),
        ([*JUDGED, ("q1", "c", None)], "qrels query q1: no grade (column grade is empty)"),
        ([*JUDGED, ("q1", "a", 2)], "qrels query q1: document a of query q1 is judged twice"),
        ([], "qrels: the data frame has no rows"),
    ],
)
def test_judgments(rows: list[Any], told: str, broadcast: int, spark: Any, settings: Callable[..., None]) -> None:
    settings(rankscope_broadcast_rows=broadcast)
    with pytest.raises(rs.InputError) as raised:
        rs.evaluate(spark.createDataFrame(rows, QRELS), spark.createDataFrame(GOOD, RUN), "AP")
    assert str(raised.value).startswith(told)


def test_what_is_true_of_all_parts_together(spark: Any) -> None:
    qrels, run = spark.createDataFrame(JUDGED, QRELS), spark.createDataFrame(GOOD, RUN)
    other = spark.createDataFrame([("x1", "a", 1.0)], RUN)
    with pytest.raises(
        rs.DataError, match=r"no query of run is judged: the run has ids like 'x1', the qrels like 'q1', 'q2'"
    ):
        rs.evaluate(qrels, other, "AP")
    with pytest.raises(rs.DataError, match=r"queries: 'q9' is not judged \(1 of 2"):
        rs.evaluate(qrels, run, "AP", queries=["q1", "q9"])
    one, two = (spark.createDataFrame([row], RUN) for row in GOOD)
    with pytest.raises(rs.DataError, match="no query is judged and in every run"):
        rs.evaluate(qrels, {"a": one, "b": two}, "AP", queries="both")
    with pytest.raises(rs.DataError, match="has no weight"):
        rs.evaluate(qrels, run, "AP", weights={"q1": 1.0})
    with pytest.raises(rs.InputError, match="qrels names no subtopics"):
        rs.evaluate(qrels, run, "alpha_nDCG@10")
    with pytest.raises(rs.InputError, match="above max_grade=4"):
        rs.evaluate(spark.createDataFrame([("q1", "a", 7)], QRELS), run, "ERR@10")


def test_what_spark_does_not_do(spark: Any, settings: Callable[..., None]) -> None:
    qrels, run = spark.createDataFrame(JUDGED, QRELS), spark.createDataFrame(GOOD, RUN)
    here = pl.DataFrame(GOOD, schema=["query_id", "doc_id", "score"], orient="row")
    with pytest.raises(rs.InputError, match="some runs are Spark frames and this one is not"):
        rs.evaluate(qrels, {"a": run, "b": here}, "AP")
    with pytest.raises(rs.InputError, match="the qrels are a Spark frame and the runs are not"):
        rs.evaluate(qrels, here, "AP")
    with pytest.raises(rs.InputError, match="documents of all queries together"):
        rs.evaluate(qrels, run, "AUC(pooled=True)")
    settings(rankscope_part_rows="many")
    with pytest.raises(rs.InputError, match=r"spark.rankscope.part.rows='many': give the number of rows"):
        rs.evaluate(qrels, run, "AP")


def test_an_executor_of_another_version_says_so(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from rankscope.scoring.spark import evaluation, task

    monkeypatch.setattr(evaluation, "Scoring", partial(task.Scoring, version="0.0.1"))
    with pytest.raises(rs.InputError, match=r"the executors have rankscope .*, and this is 0\.0\.1: install the same"):
        rs.evaluate(spark.createDataFrame(JUDGED, QRELS), spark.createDataFrame(GOOD, RUN), "AP")


def test_executors_without_the_package(spark: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nclass Hidden:\n    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'rankscope':\n"
        '            raise ModuleNotFoundError(f"No module named {name!r}", name=name)\nsys.meta_path.insert(0, Hidden())\n'
    )
    qrels, run = spark.createDataFrame(JUDGED, QRELS), spark.createDataFrame(GOOD, RUN)
    # as spark.executorEnv.PYTHONPATH, from here on: other workers are started for it
    monkeypatch.setitem(spark.sparkContext.environment, "PYTHONPATH", str(tmp_path))
    with pytest.raises(
        rs.InputError, match=r"^the executors have no rankscope: install rankscope there in the same version, or ship"
    ):
        rs.evaluate(qrels, run, "AP")
