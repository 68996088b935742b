"""Metrics and the grades in use: graded or not, gains, the top of the scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.metrics import CG, DCG, ERR, Metric, nDCG
from rankscope.verbs.check.rules.case import CheckCase
from rankscope.verbs.check.rules.leads import LeadChange, against, differences, largest, lead_change, leaders, swaps
from rankscope.verbs.check.rules.rule import Finding, Rule, changes

MANY_GRADES = 5  # grades in use; with more of them 2^grade - 1 leaves little to all but the top one
STEEP = 1000.0  # the highest grade of which 2^grade is taken


def grades_in_use(case: CheckCase) -> dict[float, int]:
    """How many judgments there are of each grade, the lowest first; pooled documents without a grade are left out."""
    frame = case.judgments.filter((pl.col("grade") >= 0) & pl.col("grade").is_finite())
    counts = frame.group_by("grade").len().sort("grade")
    return {float(grade): int(number) for grade, number in counts.iter_rows()}


def positive(case: CheckCase) -> dict[float, int]:
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
    """A binary metric is used on graded judgments."""

    severity = "information"
    why = (
        "AP, RR, P, R and Success treat a document of the lowest relevant grade like the best one. A run that finds the best documents "
        "gains nothing by it; if another run finds more of the passable ones, that one wins."
    )
    remedy = "report nDCG beside it, or say which grade counts, as in AP(level=2)"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding for all metrics; and a warning for each that names another winner than graded gain does."""
        grades = positive(case)
        metrics = [m for m in case.metrics if knows_no_grades(m)]
        if len(grades) < 2 or not metrics:
            return
        changed = _changes_of_winner(case, metrics, list(grades)) if len(case.scored_runs) > 1 else {}
        for metric, (graded, found) in changed.items():
            yield self.finding(
                f"{metric} does not see grades, and that changes the winner: {found.sentence(metric, graded)}",
                severity="warning",
            )
        same = [m for m in metrics if m not in changed]
        if same:
            yield self.finding(_treats_alike(same, grades, len(case.scored_runs) > 1))


def _treats_alike(metrics: Sequence[Metric], grades: dict[float, int], several: bool) -> str:
    low, high = min(grades), max(grades)
    between = (
        f"difference between grades {low:g} and {high:g}"
        if len(grades) == 2
        else f"differences among grades {low:g} to {high:g}"
    )
    text = (
        f"{words.listing(metrics, most=4)} {words.agree(len(metrics), 'ignores')} the {between} "
        f"({words.share(grades[low] / sum(grades.values()))} of the judgments above 0 are {low:g}, "
        f"{words.share(grades[high] / sum(grades.values()))} {high:g})"
    )
    return text + ("; seeing them would not change which run wins" if several else "")


def _changes_of_winner(
    case: CheckCase, metrics: Sequence[Metric], grades: Sequence[float]
) -> dict[Metric, tuple[Metric, LeadChange]]:
    """The metrics that name another winner than graded gain does, where it is the grades that decide."""
    graded = {m: _with_gain(m, "linear") for m in metrics}
    plain = {m: _with_gain(m, {g: float(g >= m.level) for g in grades}) for m in metrics}  # type: ignore[attr-defined]
    means = case.other_means([*graded.items(), *plain.items()])
    out = {}
    for metric in metrics if means else ():
        with_grades, without = means[graded[metric]], means[plain[metric]]
        found = lead_change(case.means(metric), with_grades)
        # not where it is the discount that decides: the same metric without grades must disagree, too
        if found is not None and lead_change(without, with_grades) is not None:
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
    """The lowest grade above 0 counts as relevant, but in some collections means related only."""

    severity = "information"
    why = (
        "On some scales grade 1 means 'on the topic, does not answer' (TREC Deep Learning passages count from 2). Binary "
        "metrics then count such documents as relevant: AP, R and P are about another set of documents."
    )
    remedy = "look up what the grades mean; use level=2, as in AP(level=2), if grade 1 is not relevant"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding for all metrics at their usual level; a warning where the next level names another winner."""
        grades = [grade for grade in positive(case) if grade >= 1]
        metrics = [m for m in case.metrics if knows_no_grades(m) and getattr(m, "level", None) == 1]
        if len(grades) < 2 or not metrics:
            return
        level = grades[1]
        means = case.other_means([(m, m.having(level=level)) for m in metrics])
        if not means:
            return
        stricter = {m: means[m.having(level=level)] for m in metrics}
        changed = [(m, found) for m in metrics if (found := lead_change(case.means(m), stricter[m]))]
        run, effect = _largest_of(case, metrics, stricter)
        counts = positive(case)
        share = counts[grades[0]] / sum(number for grade, number in counts.items() if grade >= 1)
        by = f" ({run})" if len(case.scored_runs) > 1 else ""
        message = (
            f"{words.share(share)} of the relevant documents have grade {grades[0]:g}; counting only grade {level:g} and above: "
            + (changes(effect, after=by) or "nothing changes")
        )
        if changed:
            metric, found = changed[0]
            message += f", and another run wins: {found.sentence(metric, metric.having(level=level))}"
        yield self.finding(
            message,
            severity="warning" if changed else "information",
            effect=effect,
            run=run if len(case.scored_runs) > 1 else None,
            hint=f"look up what grade {grades[0]:g} means; if it is not relevant, use {metrics[0].having(level=level)}",
        )


def _largest_of(
    case: CheckCase, metrics: Sequence[Metric], other: dict[Metric, dict[str, float]]
) -> tuple[str, dict[str, float]]:
    """The run whose means would move most, and how far each would."""
    by_metric = {m: differences(case.means(m), other[m]) for m in metrics}
    most = max(
        (found for m in metrics if (found := largest(by_metric[m]))),
        key=lambda pair: abs(pair[1]),
        default=(case.scored_runs[0].name, 0.0),
    )
    return most[0], {str(m): by_metric[m][most[0]] for m in metrics if most[0] in by_metric[m]}


class TopGrade(Rule, code="RS303"):
    """Exponential gain is used with many grades, so that the top grade holds most of the gain."""

    severity = "information"
    why = (
        "2^grade - 1 doubles with each grade: 31 for grade 5, 1 for grade 1. With many grades the metric is about the documents of "
        "the top grade, and the order of all others hardly matters."
    )
    remedy = "use linear gain, or a table of gains such as nDCG(gain={1: 1, 2: 3, 3: 5}), and report which"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding for all metrics with exponential gain, where more than five grades are in use."""
        metrics = [m for m in case.metrics if getattr(m, "gain", None) == "exponential"]
        grades = grades_in_use(case)
        if not metrics or len(grades) <= MANY_GRADES or max(grades) > STEEP:
            return
        top = max(grades)
        steep = {grade: number * (2.0**grade - 1) for grade, number in grades.items()}
        level = {grade: number * grade for grade, number in grades.items()}
        yield self.finding(
            f"{len(grades)} grades are in use; with exponential gain, grade {top:g} holds "
            f"{words.share(steep[top] / sum(steep.values()))} of all gain "
            f"({words.share(level[top] / sum(level.values()))} with linear gain; "
            f"{words.share(grades[top] / sum(grades.values()))} of the judgments have it): {words.listing(metrics, most=4)}",
            count=grades[top],
        )


class GainDecides(Rule, code="RS304"):
    """Linear and exponential gain order the runs differently."""

    why = (
        "Half of all tools use the grade as gain, the other half 2^grade - 1, and both call it nDCG. If the two order the runs "
        "differently, which run is better depends on a convention that perhaps nobody chose."
    )
    remedy = (
        "decide before looking how much better a top grade is for users; state the gain wherever the number is shown"
    )

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a metric with a linear or exponential gain; information where the same run wins under both."""
        grades = positive(case)
        if len(case.scored_runs) < 2 or len(grades) < 2 or max(grades) > STEEP:
            return
        other = {"linear": "exponential", "exponential": "linear"}
        metrics = [m for m in case.metrics if isinstance(m, CG | DCG) and m.gain in other and m.better == "higher"]
        pairs = {m: m.having(gain=other[m.gain]) for m in metrics}  # type: ignore[index]
        means = case.other_means(pairs.items())
        for metric, steep in pairs.items() if means else ():
            now, then = case.means(metric), means[steep]
            found = swaps(now, then)
            if not found:
                continue
            best = leaders(now)  # the pair with the winner in it, then the one that is furthest apart
            one, two = max(found, key=lambda pair: (pair[0] in best, now[pair[0]] - now[pair[1]]))
            number = len(case.scored_runs) * (len(case.scored_runs) - 1) // 2
            places = f"; {words.counted(len(found), 'pair')} of {words.count(number)} {words.agree(len(found), 'changes')} order"
            wins = lead_change(now, then) is not None
            yield self.finding(
                f"{one} is ahead of {two} on {metric} ({against(now[one], now[two])}) and behind with {other[str(metric.gain)]} "
                f"gain ({against(then[one], then[two])}){places if number > 1 else ''}{'' if wins else '; the same run wins'}",
                severity="warning" if wins else "information",
                count=len(found),
                run=one,
            )


class OtherScale(Rule, code="RS305"):
    """A metric assumes another top grade than the judgments have."""

    severity = "information"
    why = (
        "ERR and related metrics turn a grade into the chance that the reader is satisfied, relative to max_grade (default 4). If the "
        "best grade in use is lower, the best document satisfies hardly anyone: grade 2 of 4 stops 3 readers in 16 instead of 3 in 4."
    )
    remedy = "set the top of the scale, as in ERR(max_grade=3)@20; do not compare numbers with different max_grade"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a metric; a warning where the top of the scale names another winner, or a grade is above it."""
        grades = grades_in_use(case)
        if not grades:
            return
        top = max(grades) if case.background.scale is None else case.background.scale[1]
        for asked in case.request.metrics:
            most = _top_of(asked.metric)
            if most is not None and most < max(grades):
                yield self.finding(
                    f"{asked.metric} assumes that {most:g} is the top grade, but {max(grades):g} is in use: evaluate refuses it",
                    severity="warning",
                    hint=f"use {_over(asked.metric, max(grades)) or f'max_grade={max(grades):g}'}",
                )
        too_high = [m for m in case.metrics if (most := _top_of(m)) is not None and most > top > 0]
        pairs = {m: right for m in too_high if (right := _over(m, top)) is not None}
        means = case.other_means(pairs.items())
        for metric, right in pairs.items() if means else ():
            yield self._of(case, metric, right, means[right])

    def _of(self, case: CheckCase, metric: Metric, right: Metric, means: dict[str, float]) -> Finding:
        now = case.means(metric)
        name, by = largest(differences(now, means)) or (case.scored_runs[0].name, 0.0)
        found = lead_change(now, means, metric.better)
        top = f"{right.max_grade:g}"  # type: ignore[attr-defined]
        most = f"{metric.max_grade:g}"  # type: ignore[attr-defined]
        grade = "the stated scale ends at" if case.background.scale else "the best grade in use is"
        message = (
            f"{metric} assumes that {most} is the top grade, but {grade} {top}: with max_grade={top} "
            f"{words.number(by, sign=True, digits=3)}"
        )
        if isinstance(metric, ERR):
            now_stops, would_stop = (_stops(float(top), end) for end in (metric.max_grade, float(top)))
            message += f" (a document of grade {top} stops {words.share(now_stops)} of readers instead of {words.share(would_stop)})"
        if found:
            message += f"; another run wins: {found.sentence(metric, right)}"
        return self.finding(
            message,
            severity="warning" if found else "information",
            effect={str(metric): by},
            run=name if len(case.scored_runs) > 1 else None,
            hint=f"use {right}, unless the scale goes up to {most} and no document was that good (--scale 0-{most})",
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
