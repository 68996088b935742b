"""Values of a type that an option does not take: one line that says what it takes, in every verb."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rankscope as rs

QRELS: Any = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
RUN: Any = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 1.0}}
OTHER: Any = {"q1": {"a": 2.0}, "q2": {"c": 1.0}}
FIVE: Any = 5
NOTHING: Any = None
LABELS: Any = {"a": "x", "b": "y", "c": "x"}


def tune(**options: Any) -> Any:
    return rs.tune(QRELS, [RUN, OTHER], "AP", **{"method": "RRF", "space": {"k": [1, 60]}, "folds": 2, **options})


def rerank(**options: Any) -> Any:
    texts: Any = {"queries_text": {"q1": "u", "q2": "v"}, "docs_text": LABELS}
    return rs.rerank(RUN, lambda _query, docs: [1.0] * len(docs), **texts, **options)


CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "a run as the baseline of unjudged": (
        lambda: rs.unjudged(QRELS, [RUN, OTHER], baseline=RUN),
        "no run is called that: there are run1 and run2",
    ),
    "a run as the baseline of tune": (lambda: tune(baseline=RUN), "no run is called that: there are run1 and run2"),
    "folds as text": (lambda: tune(folds="2"), "folds='2'"),
    "a number as a space": (lambda: tune(space=5), "it maps parameters to values"),
    "a number as guardrails": (lambda: tune(guardrails=5), "guardrails=5"),
    "a number as systems": (lambda: rs.compare(QRELS, {"a": RUN, "b": OTHER}, "AP", systems=FIVE), "systems=5"),
    "a number as a feature": (lambda: rs.diversify(RUN, features={"a": 5}), "document a has '5': give a label"),
    "a number as a target": (
        lambda: rs.diversify(RUN, features=LABELS, targets={"q1": 5}),
        "query q1 has '5'; targets are",
    ),
    "a dict as a scale": (lambda: rs.check(QRELS, RUN, "AP", scale={"low": 0}), "a scale is its lowest"),
    "a number as a rule": (lambda: rs.check(QRELS, RUN, "AP", select=FIVE), "no rule is called 5"),
    "no depth": (lambda: rerank(depths=None), "depths=None"),
    "a number as a metric": (lambda: rs.catalogue(FIVE), "no metric is called 5"),
    "no metric at all": (lambda: rs.catalogue([]), "the name is empty"),
    "a number as a measure": (lambda: rs.agree([RUN, OTHER], 5), "agreement 5"),
    "a number as notes": (lambda: rs.report(QRELS, RUN, "AP", notes=5), "5: no JSON"),
    "judgments as features": (lambda: rs.learn(QRELS), "a file is needed, not a dict; features are lines"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_an_option_takes_is_said_in_one_line(case: str) -> None:
    call, message = CASES[case]
    with pytest.raises(rs.InputError) as error:
        call()
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_rules_of_none_are_all_rules() -> None:
    found = rs.check(QRELS, RUN, "AP")
    assert rs.check(QRELS, RUN, "AP", select=NOTHING, ignore=NOTHING).to_json() == found.to_json()


def test_a_method_without_weights_is_told_parameters_that_it_takes() -> None:
    with pytest.raises(rs.InputError, match=r"like space=\{'phi': \[0.4, 0.8\]\}"):
        tune(method="RBC", space=None)


def test_a_single_judgment_of_0_is_one_grade() -> None:
    with pytest.raises(rs.DataError, match="the only grade is 0 or below"):
        rs.advise({"q1": {"a": 0}})
