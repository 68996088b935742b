"""``Evaluator``: the numbers of ``evaluate`` for every run, whatever it comes as."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs

METRICS = ["nDCG@10", "AP", "RR@3", "R@5", "P@5", "Bpref", "Judged@10", "AUC", "ERR"]


def world(seed: int, tied: bool) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, float]]]:
    """Queries of several sizes; some judged documents are not retrieved, one query is not judged and one not ranked."""
    rng = np.random.default_rng(seed)
    qrels: dict[str, dict[str, Any]] = {}
    run: dict[str, dict[str, float]] = {}
    for q in range(25):
        docs = [f"d{i}" for i in rng.permutation(40)[: int(rng.integers(1, 40))].tolist()]
        score = rng.integers(0, 5, len(docs)).astype(float) if tied else rng.permutation(len(docs)).astype(float)
        run[f"q{q}"] = dict(zip(docs, score.tolist(), strict=True))
        judged = rng.permutation(40)[: int(rng.integers(0, 20))].tolist()
        qrels[f"q{q}"] = {f"d{i}": int(rng.integers(-1, 4)) for i in judged}
    del run["q3"], qrels["q5"]
    return qrels, run


def frame(data: dict[str, dict[str, Any]], value: str) -> pl.DataFrame:
    rows = [(q, d, float(v)) for q, docs in data.items() for d, v in docs.items()]
    return pl.DataFrame(rows, schema={"query_id": pl.String, "doc_id": pl.String, value: pl.Float64}, orient="row")


def same(found: rs.BatchScores, scores: rs.Scores) -> None:
    """Every value and every mean, to the last bit."""
    assert list(found.query_ids) == list(scores.runs[0].query_ids)
    for mean, other in zip(found.board, scores.board, strict=True):
        np.testing.assert_array_equal(
            found.values[mean.metric], scores.runs[0].values[other.metric], err_msg=str(mean.metric)
        )
        np.testing.assert_array_equal(mean.value, other.value)
        assert (mean.queries, mean.undefined) == (other.queries, other.undefined)
    assert set(found.missing) == set(scores.evaluations[0].missing)


POLICIES: list[dict[str, Any]] = [
    {},
    {"ties": "docid"},
    {"ties": "input", "depth": 7},
    {"ties": "expected"},
    {"no_relevant": "skip", "nothing_found": "skip"},
    {"mean": "micro"},
    {"queries": "both"},
    {"queries": "either"},
    {"queries": ["q1", "q2"]},
    {"weights": {f"q{i}": 1 + i % 3 for i in range(25)}},
]


@pytest.mark.parametrize("tied", [True, False], ids=["ties", "no ties"])
@pytest.mark.parametrize("policies", [pytest.param(p, id=" ".join(p) or "the defaults") for p in POLICIES])
def test_the_numbers_of_evaluate(policies: dict[str, Any], tied: bool) -> None:
    qrels, run = world(1, tied)
    evaluator = rs.Evaluator(qrels, METRICS, **policies)
    for one in (run, world(2, tied)[1], run):
        same(evaluator(one), rs.evaluate(qrels, one, METRICS, **policies))


def test_qrels_and_runs_of_any_kind() -> None:
    qrels, run = world(1, tied=True)
    expected = rs.evaluate(frame(qrels, "grade"), frame(run, "score"), METRICS)
    evaluator = rs.Evaluator(frame(qrels, "grade"), METRICS)
    for one in (run, frame(run, "score")):
        found = evaluator.evaluate(one)
        by_id = dict(zip(found.query_ids, found.per_query["AP"].tolist(), strict=True))
        other = dict(zip(expected.runs[0].query_ids, expected.runs[0].values[rs.AP()].tolist(), strict=True))
        assert by_id == other
        assert found.means == {mean.spelling: mean.value for mean in expected.board}


def test_the_same_run_is_scored_the_same_after_others() -> None:
    qrels, run = world(1, tied=False)
    evaluator = rs.Evaluator(qrels, METRICS)
    first = {name: values.copy() for name, values in evaluator(run).per_query.items()}
    evaluator({q: dict.fromkeys(docs, 1.0) for q, docs in run.items()})
    evaluator({q: {} for q in list(run)[:2]} | {"q7": {"d1": 1.0}})
    for name, values in evaluator(run).per_query.items():
        np.testing.assert_array_equal(values, first[name])


def test_ids_that_are_numbers() -> None:
    evaluator = rs.Evaluator({"1": {"7": 1, "8": 0}, "2": {"7": 1}}, "RR")
    assert evaluator({1: {8: 2.0, 7: 1.0}, 2: {7: 1.0}})["RR"] == 0.75
    assert evaluator({"1": {8: 2.0, 7: 1.0}, "2": {7: 1.0}})["RR"] == 0.75
    assert evaluator({"1": {8: 2, 7: 1}, "2": {"7": np.float32(1.0)}})["RR"] == 0.75


@pytest.mark.parametrize(
    ("run", "said"),
    [
        pytest.param({"q1": {"a": float("nan")}}, "query q1, document a: score is NaN", id="NaN"),
        pytest.param({"q1": {"a": None}}, "score is None", id="None"),
        pytest.param({"q1": {"a": "high"}}, "score 'high' is not a number", id="a word"),
        pytest.param({"q1": {"a": "1_000"}}, "score '1_000' is not a number", id="an underscore"),
        pytest.param(
            {"q1": {"b": 2.0, "a": "\uff11"}}, "score '\uff11' is not a number", id="a digit that is not ASCII"
        ),
        pytest.param({"q1": {"b": 1.0, 1: 2.0, "1": 3.0}}, "both as a number and as a string", id="one id twice"),
    ],
)
def test_one_clear_line(run: Any, said: str) -> None:
    evaluator = rs.Evaluator({"q1": {"a": 1}}, "RR")
    with pytest.raises(rs.InputError, match=said):
        evaluator(run)


@pytest.mark.parametrize("high", ["2", "2.0", " 2e0 "])
def test_texts_that_are_numbers_in_files(high: str) -> None:
    qrels, run = {"q1": {"a": 1, "b": "0"}}, {"q1": {"a": high, "b": 1.0}}
    assert rs.Evaluator(qrels, "RR")(run)["RR"] == rs.evaluate(qrels, run, "RR")["RR"] == 1.0


@pytest.mark.parametrize("evaluate", [rs.evaluate, lambda q, r, m: rs.Evaluator(q, m)(r)], ids=["once", "often"])
def test_a_grade_with_an_underscore(evaluate: Any) -> None:
    with pytest.raises(rs.InputError, match="grade '1_0' is not a number"):
        evaluate({"q1": {"a": "1_0"}}, {"q1": {"a": 1.0}}, "RR")


def test_no_query_in_common() -> None:
    with pytest.raises(rs.DataError, match="no query of run is judged"):
        rs.Evaluator({"q1": {"a": 1}}, "RR")({"q2": {"a": 1.0}})


def test_judgments_that_cannot_be_used() -> None:
    with pytest.raises(rs.InputError, match="infinite grade"):
        rs.Evaluator({"q1": {"a": float("inf")}}, "RR")
    with pytest.raises(rs.InputError, match="no option 'tiess'"):
        rs.Evaluator({"q1": {"a": 1}}, "RR", tiess="input")  # type: ignore[call-arg]
