"""Laws that hold for every metric. Check your own with ``check_metric(MyMetric)``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankscope.metrics import Metric, parse
from rankscope.testing import laws as laws
from rankscope.testing.cases import Case, accepts, made_up, smallest, top_grade
from rankscope.testing.laws import LAWS, Law, Violation
from rankscope.testing.variants import check_example, variants, worked_out


def check_metric(metric: str | Metric | type[Metric], *, examples: int = 200, seed: int = 20240229) -> None:
    """Check a metric against every law that applies to it, on random queries.

    A class is checked in all its ``variants``: the metrics of its worked examples, and each value of each parameter. Raises
    AssertionError with the law, the metric and a smallest counterexample.

    >>> check_metric("nDCG@10", examples=30)
    """
    for one in variants(metric) if isinstance(metric, type) else [parse(metric)]:
        check_cases(one, made_up(examples, seed, top_grade(one)))
    for example in (metric if isinstance(metric, type) else type(parse(metric))).__dict__.get("examples", ()):
        check_example(example)


def check_cases(metric: Metric, cases: Sequence[Case]) -> None:
    """Check a metric against every law that applies to it, on your own queries."""
    taken = [case for case, ok in zip(cases, accepts(metric, cases), strict=True) if ok]
    if cases and 2 * len(taken) < len(cases):
        refused = f"{len(cases) - len(taken)} of {len(cases)} queries"
        raise AssertionError(f"{metric} refuses too many to check it: {refused}")
    for law in LAWS:
        if taken and law.about(metric):
            _check(law, metric, taken)


def _check(law: Law, metric: Metric, cases: Sequence[Case]) -> None:
    violation = _violation(law, metric, cases)
    if violation is None:
        return
    if violation.case is not None:
        least = smallest(violation.case, lambda case: accepts(metric, [case])[0] and _violation(law, metric, [case]))
        violation = _violation(law, metric, [least]) or violation
    where = "" if violation.case is None else f"\n  {violation.case}"
    raise AssertionError(f"{metric} breaks the law: {law.sentence}{where}\n  {violation.message}")


def _violation(law: Law, metric: Metric, cases: Sequence[Case]) -> Violation | None:
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            return law.find_violation(metric, cases)
    except Exception as error:  # noqa: BLE001 - a user's metric may fail in any way
        guilty = (case for case in cases if len(cases) == 1 or _violation(law, metric, [case]))
        return Violation(next(guilty, cases[0]), f"raises {type(error).__name__}: {error}")


__all__ = ["LAWS", "Case", "check_cases", "check_example", "check_metric", "variants", "worked_out"]
