"""Doubts about comparisons, as ``check`` shows them: those of ``compare``, under its codes and in its words."""

from __future__ import annotations

from typing import Any

import pytest

import rankscope as rs
from rankscope.diagnostics.codes import rule_named
from rankscope.diagnostics.rule import Finding
from rankscope.verbs.check.check import check

QRELS = {f"q{i:02}": {"good": 1} for i in range(40)}


def placed(ranks: list[int]) -> dict[str, dict[str, float]]:
    """A run with the one good document of each query at a rank."""
    return {
        f"q{i:02}": {("good" if j == rank else f"d{j}"): -float(j) for j in range(1, 12)}
        for i, rank in enumerate(ranks)
    }


def found(runs: Any, metrics: Any, code: str = "RS40", **options: Any) -> list[Finding]:
    ignored = ["RS409"]  # of the judgments, not of compare
    return list(check(QRELS, runs, metrics, select=[code], ignore=ignored, **options))


OPPOSED = {"base": placed([3] * 40), "run": placed([1] * 20 + [11] * 20)}
BY_CUTOFF = {"deep": placed([2] * 40), "top": placed([1] * 30 + [11] * 10)}
FEW = {"base": placed([2] * 40), "run": placed([1] * 5 + [2] * 35)}
UNPAIRED = {"base": placed([1, 2] * 20), "run": placed([1, 2, 2, 1] * 10) | {"q00": {"x": 1.0}}}
CASES = [
    (OPPOSED, ["RR", "Success@5"], "RS401", "warning"),
    (BY_CUTOFF, ["Success@5"], "RS402", "information"),
    (FEW, ["RR"], "RS405", "warning"),
    (UNPAIRED, ["RR(not_found='skip')@5"], "RS407", "warning"),
]


@pytest.mark.parametrize(("runs", "metrics", "code", "severity"), CASES)
def test_each_doubt_is_named_in_the_words_of_compare(runs: Any, metrics: list[str], code: str, severity: str) -> None:
    theirs = [w.message for w in rs.compare(QRELS, runs, metrics).warnings if w.code == code]
    ours = found(runs, metrics, code)
    assert theirs
    assert [f.message for f in ours] == theirs
    assert {f.severity for f in ours} == {severity}
    assert all(f.hint for f in ours)


@pytest.mark.parametrize(("runs", "metrics", "code", "severity"), CASES)
def test_one_run_has_nothing_to_be_compared_with(runs: Any, metrics: list[str], code: str, severity: str) -> None:
    assert not found(dict([next(iter(runs.items()))]), metrics)


def test_a_lead_that_few_queries_carry() -> None:
    # 5 queries gain 10/11, 95 lose 1/40 - 1/41: without the five the lead is gone
    ids = [f"q{i}" for i in range(100)]
    qrels = {q: {"good": 1} for q in ids}

    def run(low: int, high: int) -> dict[str, dict[str, float]]:
        at = [low if i < 5 else high for i in range(100)]
        return {
            q: {("good" if j == k else f"d{j}"): -float(j) for j in range(1, 42)} for q, k in zip(ids, at, strict=True)
        }

    (f,) = check(qrels, {"base": run(11, 40), "run": run(1, 41)}, "RR", select=["RS403"])
    assert f.severity == "warning"
    assert "the lead is gone without 5 of 100 queries (5.0%; without large differences it would take about" in f.message


def test_a_clear_comparison_is_left_in_peace() -> None:
    worse, better = placed([4, 5, 6, 3] * 10), placed([1, 2, 1, 1] * 10)
    assert not found({"worse": worse, "better": better}, ["nDCG@10", "RR"])


@pytest.mark.parametrize(
    ("runs", "metric", "options"),
    [
        (OPPOSED, "nDCG@5", {}),
        (BY_CUTOFF, "nDCG@5", {"depth": 2}),
        (BY_CUTOFF, "P@3", {"queries": "both"}),
        (UNPAIRED, "Success@3", {"queries": "both"}),
        (FEW, "AP@20", {"ties": "docid"}),
    ],
)
def test_all_codes_are_those_of_compare(runs: Any, metric: str, options: Any) -> None:
    theirs = [(w.code, w.message) for w in rs.compare(QRELS, runs, metric, **options).warnings if w.code[2] == "4"]
    assert sorted((f.code, f.message) for f in found(runs, metric, **options)) == sorted(theirs)


@pytest.mark.parametrize("metric", ["GAUC(weights='equal')", "GAUC"])
def test_weights_that_are_equal_and_pairs_that_are_none(metric: str) -> None:
    qrels = {q: {"good": 1, "bad": 0} for q in ("q1", "q2")}
    right, wrong = ({q: {"good": sign, "bad": -sign} for q in qrels} for sign in (1.0, -1.0))
    assert rs.compare(qrels, {"wrong": wrong, "right": right}, metric)["right", metric].difference == 1
    one_class = {q: {"good": 1} for q in qrels}
    assert not list(check(one_class, {"wrong": wrong, "right": right}, metric, select=["RS40"], ignore=["RS409"]))


def test_metrics_without_direction_or_queries_are_passed_over() -> None:
    assert not found(OPPOSED, ["Judged@5", "NumRel"])


def test_many_alike_are_counted() -> None:
    skipping = [UNPAIRED["run"] | {f"q{i:02}": {"x": 1.0}} for i in range(1, 6)]  # each leaves one or two queries out
    runs = {"base": UNPAIRED["base"]} | {f"run{i}": run for i, run in enumerate(skipping)}
    metrics = [f"RR(not_found='skip')@{k}" for k in (3, 4, 5, 6, 7)]
    found_here = found(runs, metrics, "RS407")
    assert len(found_here) == 3
    assert found_here[-1].message.endswith("(and 2 more like it)")


@pytest.mark.parametrize("code", [f"RS40{n}" for n in range(1, 8)])
def test_each_code_is_explained(code: str) -> None:
    rule = rule_named(code)
    assert rule.why
    assert rule.remedy
