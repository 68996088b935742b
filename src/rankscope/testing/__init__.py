"""Laws that every metric must keep; test your own with ``check_metric(MyMetric)``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankscope.metrics import Metric, parse
from rankscope.testing import laws as laws
from rankscope.testing.cases import Case, accepts, made_up, smallest, top_grade
from rankscope.testing.laws import LAWS, Breach, Law
from rankscope.testing.variants import check_example, variants, worked_out


def check_metric(metric: str | Metric | type[Metric], *, examples: int = 200, seed: int = 20240229) -> None:
    """Check one metric against every law that is about it, on made-up queries.

    A class is checked in all its ``variants``: those of its worked examples and each value of each
    parameter. Raises AssertionError with the law, the metric and a smallest counterexample.

    >>> check_metric("nDCG@10", examples=30)
    """
    for one in variants(metric) if isinstance(metric, type) else [parse(metric)]:
        cases = made_up(examples, seed, top_grade(one))
        check_cases(one, cases)
    for example in (metric if isinstance(metric, type) else type(parse(metric))).__dict__.get("examples", ()):
        check_example(example)


def check_cases(metric: Metric, cases: Sequence[Case]) -> None:
    """Check a metric against every law, on queries of your own."""
    taken = [case for case, ok in zip(cases, accepts(metric, cases), strict=True) if ok]
    if cases and 2 * len(taken) < len(cases):
        raise AssertionError(
            f"{metric} refuses {len(cases) - len(taken)} of {len(cases)} made-up queries, which is too many to judge it"
        )
    for law in LAWS:
        if taken and law.about(metric):
            _check(law, metric, taken)


def _check(law: Law, metric: Metric, cases: Sequence[Case]) -> None:
    breach = _breach(law, metric, cases)
    if breach is None:
        return
    if breach.case is not None:
        least = smallest(breach.case, lambda case: accepts(metric, [case])[0] and _breach(law, metric, [case]))
        breach = _breach(law, metric, [least]) or breach
    where = "" if breach.case is None else f"\n  {breach.case}"
    raise AssertionError(f"{metric} breaks the law: {law.sentence}{where}\n  {breach.message}")


def _breach(law: Law, metric: Metric, cases: Sequence[Case]) -> Breach | None:
    """A breach of the law; an error, a division by zero or an overflow on the way is one too."""
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            return law.find_breach(metric, cases)
    except Exception as error:  # noqa: BLE001 - a metric of somebody's may fail in any way
        case = cases[0] if len(cases) == 1 else _guilty(law, metric, cases)
        return Breach(case, f"fails on the way: {type(error).__name__}: {error}")


def _guilty(law: Law, metric: Metric, cases: Sequence[Case]) -> Case:
    return next((case for case in cases if _breach(law, metric, [case])), cases[0])


__all__ = ["LAWS", "Case", "check_cases", "check_example", "check_metric", "variants", "worked_out"]
