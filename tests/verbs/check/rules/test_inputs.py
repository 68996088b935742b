"""Rules for what evaluate refuses: each on a minimal bad case and on a clean one."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.verbs.check.made_findings import finder

import rankscope as rs

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 a 1\nq2 0 b 2\n"
RUN = "q1 Q0 a 1 3.0 x\nq1 Q0 b 2 2.0 x\nq2 Q0 b 1 3.0 x\nq2 Q0 a 2 2.0 x\n"


of = finder("nDCG@2")


@pytest.fixture
def files(tmp_path: Path) -> Any:
    def write(qrels: str = QRELS, run: str = RUN) -> tuple[Path, Path]:
        paths = tmp_path / "qrels.txt", tmp_path / "my.run"
        for path, text in zip(paths, (qrels, run), strict=True):
            path.write_text(text, encoding="utf-8")
        return paths

    return write


@pytest.mark.parametrize("code", ["RS104", "RS107", "RS108", "RS109"])
def test_clean_files_are_left_in_peace(code: str, files: Any) -> None:
    assert of(code, *files()) == []


def test_lines_that_cannot_be_read_are_counted_and_placed(files: Any) -> None:
    run = RUN + "q2 Q0 c\n" * 30 + "q2 Q0 d 3 much x\n"
    (found,) = of("RS107", *files(run=run))
    assert found.count == 31
    assert "31 lines cannot be read" in found.message
    assert "line 5: 3 columns" in found.places[0]
    assert found.run == "x"
    (found,) = of("RS107", *files(qrels=QRELS + "q3 0 a\n"))
    assert (found.run, found.count) == (None, 1)


def test_scores_that_are_no_number(files: Any) -> None:
    found = of("RS108", *files(run=RUN + "q1 Q0 c 3 nan x\nq1 Q0 d 4 inf x\nq1 Q0 e 5 -inf x\n"))
    assert [(f.severity, f.count) for f in found] == [("warning", 1), ("warning", 2)]
    assert "line 5: document c of query q1" in found[0].places[0]
    (masked,) = of("RS108", *files(run=RUN + "q1 Q0 e 5 -inf x\n"))
    assert masked.severity == "information"  # how systems leave documents out


def test_grades_that_are_no_number() -> None:
    def grades(last: float) -> pl.DataFrame:
        return pl.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "grade": [1.0, last]})

    (found,) = of("RS108", grades(math.inf), {"q1": {"a": 1.0, "b": 0.5}})
    assert (found.run, found.count, found.severity) == (None, 1, "warning")
    (found,) = of("RS107", grades(math.nan), {"q1": {"a": 1.0, "b": 0.5}})  # no grade at all
    assert "1 row cannot be read" in found.message


def test_a_document_ranked_twice_and_the_size_of_the_choice(files: Any) -> None:
    # a is first at rank 3 of q1, and again with the highest score of all
    run = "q1 Q0 b 1 2.0 x\nq1 Q0 c 2 1.5 x\nq1 Q0 a 3 1.0 x\nq1 Q0 a 4 9.0 x\nq2 Q0 b 1 3.0 x\nq2 Q0 a 2 2.0 x\n"
    qrels, path = files(run=run)
    (found,) = of("RS104", qrels, path, "RR")
    assert (found.count, found.severity) == (1, "warning")
    assert found.places == (f"{path} line 4: document a of query q1",)
    assert found.effect["RR"] == pytest.approx(((1 + 1) - (1 / 3 + 1)) / 2)


def test_places_are_right_where_other_rows_are_left_out(files: Any) -> None:
    run = "q1 Q0 a 1 3 x\nq1 Q0 b 2 nan x\nq1 Q0 c\nq1 Q0 a 3 1 x\n"
    (found,) = of("RS104", *files(run=run))
    assert "line 4: document a of query q1" in found.places[0]


def test_a_document_judged_twice(files: Any) -> None:
    (found,) = of("RS104", *files(qrels=QRELS + "q1 0 b 2\nq2 0 a 1\n"))
    assert "2 documents are judged more than once, 1 with different grades" in found.message
    assert found.run is None
    # the ideal of q1 has another document of grade 2 then: (1 + 2/log2(3)) / (2 + 1/log2(3)) instead of 1
    best = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))
    assert found.effect["nDCG@2"] == pytest.approx((best - 1) / 2)


def test_grades_by_subtopic_are_several_on_purpose(files: Any) -> None:
    qrels, run = files(qrels="q1 1 a 1\nq1 2 a 1\nq2 1 b 1\n")
    (found,) = of("RS104", qrels, run)
    assert "takes one" in found.message
    assert of("RS104", qrels, run, "alpha_nDCG@2") == []


def test_a_metric_that_the_data_refuse(files: Any) -> None:
    qrels, run = files(qrels=QRELS + "q1 0 c 7\n")
    (found,) = of("RS109", qrels, run, metrics=["nDCG@2", "ERR@2"])
    assert "ERR@2 cannot be computed" in found.message
    kept = rs.check(qrels, run, ["nDCG@2", "ERR@2"], select="RS109").case.scores
    assert kept is not None
    assert [str(m) for m in kept.metrics] == ["nDCG@2"]


def test_dicts_and_frames_are_checked_like_files() -> None:
    grades = {1: {"a": 1, "b": 0}}  # integers are strings
    (found,) = of("RS108", grades, {1: {"a": 1.0, "b": math.nan}})
    assert found.count == 1
    run = pl.DataFrame({"query_id": ["1", "1", "1"], "doc_id": ["a", "b", "a"], "score": [3.0, 2.0, 1.0]})
    (found,) = of("RS104", grades, run)
    assert "row 3: document a of query 1" in found.places[0]
    assert of("RS104", grades, {1: ["a", "b"]}) == []
