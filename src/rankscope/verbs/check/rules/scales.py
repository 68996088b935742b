"""Metrics that need to know the top of the scale, beside the grades in use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rankscope.errors import InputError
from rankscope.metrics import ERR, Metric
from rankscope.verbs.check.rules.base import Finding, Rule
from rankscope.verbs.check.rules.derived import derived, differences, largest, means_of, turn
from rankscope.verbs.check.rules.graded import grades_in_use

if TYPE_CHECKING:
    from rankscope.verbs.check.rules.case import Case


class OtherScale(Rule, code="RS305"):
    """A metric takes another grade for the top of the scale than the judgments have."""

    severity = "information"
    why = (
        "ERR and its kin turn a grade into the chance that the reader is satisfied, relative to max_grade (4 unless said). Where the "
        "best grade in use is lower, the best document satisfies hardly anybody: grade 2 of 4 stops 3 readers of 16 instead of 3 of 4."
    )
    remedy = "say the top of the scale, as in ERR(max_grade=3)@20; numbers with different max_grade must not be compared"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a metric; a warning where the top of the scale names another winner, or a grade is above it."""
        grades = grades_in_use(case)
        if not grades:
            return
        top = max(grades) if case.said.scale is None else case.said.scale[1]
        for asked in case.call.metrics:
            most = _top_of(asked.metric)
            if most is not None and most < max(grades):
                yield self.found(
                    f"{asked.metric} takes grade {most:g} for the best, and {max(grades):g} is in use: evaluate refuses it",
                    severity="warning",
                    hint=f"say {_over(asked.metric, max(grades)) or f'max_grade={max(grades):g}'}",
                )
        too_high = [m for m in case.metrics if (most := _top_of(m)) is not None and most > top > 0]
        pairs = {m: right for m in too_high if (right := _over(m, top)) is not None}
        means = derived(case, list(pairs.items()))
        for metric, right in pairs.items() if means else ():
            yield self._of(case, metric, right, means[right])

    def _of(self, case: Case, metric: Metric, right: Metric, means: dict[str, float]) -> Finding:
        now = means_of(case, metric)
        name, by = largest(differences(now, means)) or (case.scored_runs[0].name, 0.0)
        found = turn(now, means, metric.better)
        top = f"{right.max_grade:g}"  # type: ignore[attr-defined]
        grade = "the top of the scale stated is" if case.said.scale else "the best grade in use is"
        said = f"{metric} takes grade {metric.max_grade:g} for the best, and {grade} {top}: with max_grade={top} {by:+.3f}"  # type: ignore[attr-defined]
        if isinstance(metric, ERR):
            most = metric.max_grade
            said += f" (a document of grade {top} stops {_stops(float(top), most):.0%} of readers instead of {_stops(float(top), float(top)):.0%})"
        if found:
            said += f"; another run wins: {found.said(str(metric), str(right))}"
        return self.found(
            said,
            severity="warning" if found else "information",
            effect={str(metric): by},
            run=name if len(case.scored_runs) > 1 else None,
            hint=f"say {right}, unless the scale goes up to {metric.max_grade:g} and nothing was that good (--scale 0-{metric.max_grade:g})",  # type: ignore[attr-defined]
        )


def _top_of(metric: Metric) -> float | None:
    """The grade that a metric takes for the top of the scale; None where it has none, or takes that of each query."""
    most = getattr(metric, "max_grade", None)
    return float(most) if isinstance(most, int | float) else None


def _over(metric: Metric, top: float) -> Metric | None:
    """The metric with another top of the scale; None where its other parameters do not allow it."""
    try:
        return metric.having(max_grade=float(top))
    except InputError:
        return None


def _stops(grade: float, most: float) -> float:
    """The share of readers whom a document of a grade satisfies, as ERR has it."""
    return float((2.0**grade - 1) / 2.0**most)
