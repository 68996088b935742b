"""Metrics beside the grades in use: relevant or not where there are grades, and gains that decide the order of the runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from rankscope.metrics import CG, DCG, Metric, nDCG
from rankscope.verbs.check.rules.base import Finding, Rule, counted, moved
from rankscope.verbs.check.rules.derived import (
    Turn,
    derived,
    differences,
    largest,
    leaders,
    listed,
    means_of,
    swapped,
    turn,
)

if TYPE_CHECKING:
    from rankscope.verbs.check.rules.case import Case

MANY_GRADES = 5  # grades in use; with more of them 2^grade - 1 leaves little to all but the top one
STEEP = 1000.0  # the highest grade of which 2^grade is taken


def grades_in_use(case: Case) -> dict[float, int]:
    """How many judgments there are of each grade, the lowest first; pooled documents without a grade are left out."""
    frame = case.judgments.filter((pl.col("grade") >= 0) & pl.col("grade").is_finite())
    counts = frame.group_by("grade").len().sort("grade")
    return {float(grade): int(number) for grade, number in counts.iter_rows()}


def positive(case: Case) -> dict[float, int]:
    """The grades above 0."""
    return {grade: number for grade, number in grades_in_use(case).items() if grade > 0}


def knows_no_grades(metric: Metric) -> bool:
    """Whether a metric sees documents as relevant or not, and could see grades instead."""
    return (
        metric.relevance == "binary"
        and metric.better == "higher"
        and metric.aggregate in {"mean", "geometric"}
        and hasattr(metric, "level")
        and not metric.needs
        and not metric.counts_ties
    )


class BinaryOnGraded(Rule, code="RS301"):
    """A metric that knows only relevant or not is used on graded judgments."""

    severity = "information"
    why = (
        "AP, RR, P, R and Success count a document of the lowest relevant grade as much as the best one there is. A run that finds "
        "the best documents gains nothing by it, and where another run finds more of the passable ones, that one wins."
    )
    remedy = "report nDCG beside it, or say which grade counts, as in AP(level=2)"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding for all metrics; and a warning for each that names another winner than graded gain does."""
        grades = positive(case)
        metrics = [m for m in case.metrics if knows_no_grades(m)]
        if len(grades) < 2 or not metrics:
            return
        turned = _turned(case, metrics, list(grades)) if len(case.scored_runs) > 1 else {}
        for metric, (graded, found) in turned.items():
            yield self.found(
                f"{metric} does not see grades, and another run wins by it: {found.said(str(metric), str(graded))}",
                severity="warning",
            )
        same = [m for m in metrics if m not in turned]
        if same:
            yield self.found(_takes_for_one(same, grades, len(case.scored_runs) > 1))


def _takes_for_one(metrics: Sequence[Metric], grades: dict[float, int], several: bool) -> str:
    low, high = min(grades), max(grades)
    between = (
        f"between grades {low:g} and {high:g}" if len(grades) == 2 else f"between grades, {low:g} to {high:g}"
    )
    said = (
        f"{listed(metrics)} {'ignores' if len(metrics) == 1 else 'ignore'} the difference {between} "
        f"({grades[low] / sum(grades.values()):.0%} of the judgments above 0 are {low:g}, {grades[high] / sum(grades.values()):.0%} {high:g})"
    )
    return said + ("; seeing them would not change which run wins" if several else "")


def _turned(
    case: Case, metrics: Sequence[Metric], grades: Sequence[float]
) -> dict[Metric, tuple[Metric, Turn]]:
    """The metrics that name another winner than graded gain does, where it is the grades that decide."""
    graded = {m: _with_gain(m, "linear") for m in metrics}
    plain = {m: _with_gain(m, {g: float(g >= m.level) for g in grades}) for m in metrics}  # type: ignore[attr-defined]
    means = derived(case, [(m, other) for part in (graded, plain) for m, other in part.items()])
    out = {}
    for metric in metrics if means else ():
        with_grades, without = means[graded[metric]], means[plain[metric]]
        found = turn(means_of(case, metric), with_grades)
        # not where it is the discount that decides: the same metric without grades must disagree, too
        if found is not None and turn(without, with_grades) is not None:
            out[metric] = graded[metric], found
    return out


def _with_gain(metric: Metric, gain: object) -> Metric:
    """The graded metric nearest to one that knows no grades: blind to order where that one is."""
    discount = "log2" if metric.positions else "none"
    return nDCG(
        cutoff=getattr(metric, "cutoff", None),
        gain=gain,  # type: ignore[arg-type]
        discount=discount,  # type: ignore[arg-type]
        judged_only=getattr(metric, "judged_only", False),
    )


class LowestGrade(Rule, code="RS302"):
    """Relevant is the lowest grade above 0, which in some collections means related but not relevant."""

    severity = "information"
    why = (
        "On some scales grade 1 means 'on the topic, does not answer' (TREC Deep Learning passages count from 2). Metrics that know "
        "only relevant or not then count such documents as relevant: AP, R and P are about another set of documents."
    )
    remedy = "look up what the grades mean; say level=2, as in AP(level=2), where grade 1 is not relevant"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding for all metrics at their usual level; a warning where the next level names another winner."""
        grades = [grade for grade in positive(case) if grade >= 1]
        metrics = [m for m in case.metrics if knows_no_grades(m) and getattr(m, "level", None) == 1]
        if len(grades) < 2 or not metrics:
            return
        level = grades[1]
        means = derived(case, [(m, m.having(level=level)) for m in metrics])
        if not means:
            return
        stricter = {m: means[m.having(level=level)] for m in metrics}
        turned = [(m, found) for m in metrics if (found := turn(means_of(case, m), stricter[m]))]
        run, effect = _largest_of(case, metrics, stricter)
        size = moved(effect)
        counts = positive(case)
        share = counts[grades[0]] / sum(number for grade, number in counts.items() if grade >= 1)
        message = (
            f"{share:.0%} of the relevant documents have grade {grades[0]:g}; were relevant only from grade {level:g} on: "
            f"{size or 'nothing moves'}{f' ({run})' if size and len(case.scored_runs) > 1 else ''}"
        )
        if turned:
            metric, found = turned[0]
            message += f", and another run wins: {found.said(str(metric), str(metric.having(level=level)))}"
        yield self.found(
            message,
            severity="warning" if turned else "information",
            effect=effect,
            run=run if len(case.scored_runs) > 1 else None,
            hint=f"look up what grade {grades[0]:g} means; where it is not relevant, say {metrics[0].having(level=level)}",
        )


def _largest_of(
    case: Case, metrics: Sequence[Metric], other: dict[Metric, dict[str, float]]
) -> tuple[str, dict[str, float]]:
    """The run whose means would move most, and how far each would."""
    changes = {m: differences(means_of(case, m), other[m]) for m in metrics}
    most = max(
        (found for m in metrics if (found := largest(changes[m]))),
        key=lambda pair: abs(pair[1]),
        default=(case.scored_runs[0].name, 0.0),
    )
    return most[0], {str(m): changes[m][most[0]] for m in metrics if most[0] in changes[m]}


class TopGrade(Rule, code="RS303"):
    """Exponential gain is used with many grades, so that the top grade holds most of the gain."""

    severity = "information"
    why = (
        "2^grade - 1 doubles with each grade: 31 for grade 5, 1 for grade 1. With many grades the metric is about the documents of "
        "the top grade, and the order of all others hardly shows."
    )
    remedy = "take linear gain, or a table of gains such as nDCG(gain={1: 1, 2: 3, 3: 5}), and say which"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding for all metrics with exponential gain, where more than five grades are in use."""
        metrics = [m for m in case.metrics if getattr(m, "gain", None) == "exponential"]
        grades = grades_in_use(case)
        if not metrics or len(grades) <= MANY_GRADES or max(grades) > STEEP:
            return
        top = max(grades)
        steep = {grade: number * (2.0**grade - 1) for grade, number in grades.items()}
        level = {grade: number * grade for grade, number in grades.items()}
        yield self.found(
            f"{len(grades)} grades are in use, and with exponential gain grade {top:g} holds {steep[top] / sum(steep.values()):.0%} of all "
            f"gain ({level[top] / sum(level.values()):.0%} with linear gain; {grades[top] / sum(grades.values()):.0%} of the judgments "
            f"have it): {listed(metrics)}",
            count=grades[top],
        )


class GainDecides(Rule, code="RS304"):
    """Linear and exponential gain order the runs differently."""

    why = (
        "Half of the tools take the grade as gain, the other half 2^grade - 1, and both call it nDCG. Where the two order the runs "
        "differently, who is better depends on a convention that nobody may have chosen."
    )
    remedy = "decide how much better a top grade is for users, before looking; say the gain wherever the number is shown"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a metric with a linear or exponential gain; information where the same run wins under both."""
        grades = positive(case)
        if len(case.scored_runs) < 2 or len(grades) < 2 or max(grades) > STEEP:
            return
        other = {"linear": "exponential", "exponential": "linear"}
        metrics = [
            m for m in case.metrics if isinstance(m, CG | DCG) and m.gain in other and m.better == "higher"
        ]
        pairs = {m: m.having(gain=other[m.gain]) for m in metrics}  # type: ignore[index]
        means = derived(case, list(pairs.items()))
        for metric, steep in pairs.items() if means else ():
            now, then = means_of(case, metric), means[steep]
            found = swapped(now, then)
            if not found:
                continue
            best = leaders(now)  # the pair with the winner in it, then the one that is furthest apart
            one, two = max(found, key=lambda pair: (pair[0] in best, now[pair[0]] - now[pair[1]]))
            number = len(case.scored_runs) * (len(case.scored_runs) - 1) // 2
            rest = (
                f"; {counted(len(found), 'pair')} of {number:,} {'changes' if len(found) == 1 else 'change'} places"
                if number > 1
                else ""
            )
            wins = turn(now, then) is not None
            yield self.found(
                f"{one} is ahead of {two} on {metric} ({now[one]:.4f} against {now[two]:.4f}) and behind with {other[str(metric.gain)]} "
                f"gain ({then[one]:.4f} against {then[two]:.4f}){rest}{'' if wins else '; the same run wins'}",
                severity="warning" if wins else "information",
                count=len(found),
                run=one,
            )
