"""Metrics against the grades: scales and gains that a metric does not see, sees too well, or takes for others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from rankscope import words
from rankscope.declared import plain
from rankscope.errors import InputError
from rankscope.metrics import CG, DCG, ERR, Metric, nDCG
from rankscope.panels.samples import leaders
from rankscope.scoring.health import REMEDIES
from rankscope.verbs.check.case import Alternative, CheckCase, against
from rankscope.verbs.check.rule import Finding, Rule, changes

MANY_GRADES = 5  # grades in use; with more of them 2^grade - 1 leaves little to all but the top one
STEEP = 1000.0  # the highest grade of which 2^grade is taken
STRAY = 0.01  # a smaller part of the judgments than this is no grade in use


def _in_use(grades: Mapping[float, int]) -> bool:
    """Whether there are several grades above 0, more than a stray one beside the lowest."""
    return len(grades) > 1 and sum(grades.values()) - max(grades.values()) >= STRAY * sum(grades.values())


def _knows_no_grades(metric: Metric) -> bool:
    """Whether a metric sees documents as relevant or not, and could see grades instead."""
    return (
        metric.relevance == "binary"
        and metric.better == "higher"
        and metric.aggregate in {"mean", "geometric"}
        and hasattr(metric, "level")
        and not metric.needs
        and not metric.counts_ties
    )


class BinaryOnGraded(Rule, code="RS301", severity="information"):
    """A binary metric is used on graded judgments."""

    why = (
        "AP, RR, P, R and Success treat a document of the lowest relevant grade like the best one. A run that finds the best documents "
        "gains nothing by it; if another run finds more of the passable ones, that one wins."
    )
    remedy = "report nDCG beside it, or say which grade counts, as in AP(level=2)"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding for all metrics; and one for each that names another winner than graded gain does, a warning where that is clear."""
        grades = case.positive
        metrics = [m for m in case.metrics if _knows_no_grades(m)]
        if not _in_use(grades) or not metrics:
            return
        changed = self._winners(case, metrics) if case.several else {}
        for metric, one in changed.items():
            clear = case.decides(one)
            changes_winner = "that changes the winner" if clear else "that changes which run is ahead, if not clearly"
            yield self.finding(f"{metric} does not see grades, and {changes_winner}: {one.winners}", serious=clear)
        same = [m for m in metrics if m not in changed]
        if same:
            lowest, highest, whole = min(grades), max(grades), sum(grades.values())
            low, high = words.amount(lowest), words.amount(highest)
            of_low, of_high = words.share(grades[lowest] / whole), words.share(grades[highest] / whole)
            pair = f"difference between grades {low} and {high}"
            between = pair if len(grades) == 2 else f"differences among grades {low} to {high}"
            yield self.finding(
                f"{words.listing(same, most=4)} {words.agree(len(same), 'ignores')} the {between} "
                f"({of_low} of the judgments above 0 are {low}, {of_high} {high})"
                + ("; seeing them would not change which run wins" if case.several else "")
            )

    def _winners(self, case: CheckCase, metrics: list[Metric]) -> dict[Metric, Alternative]:
        """The metrics that name another winner than graded gain does, where it is the grades that decide, and who wins."""
        graded = {m: self._with_gain(m, "linear") for m in metrics}
        binary = {m: self._with_gain(m, {g: float(g >= m.level) for g in case.positive}) for m in metrics}  # type: ignore[attr-defined]
        means = case.other_means([*graded.items(), *binary.items()])
        out = {}
        for m in metrics if means else ():
            # not where it is the discount that decides: the same metric without grades must disagree, too
            one, two = (Alternative(m, graded[m], now, means[graded[m]]) for now in (case.means(m), means[binary[m]]))
            if one.winners and two.winners:
                out[m] = one
        return out

    @staticmethod
    def _with_gain(metric: Metric, gain: Any) -> Metric:
        """The graded metric nearest to one that knows no grades: blind to order where that one is."""
        known = {name: getattr(metric, name) for name in ("cutoff", "judged_only") if hasattr(metric, name)}
        return nDCG(gain=gain, discount="log2" if metric.positions else "none", **known)


class RatingScale(Rule, code="RS306"):
    """Grades look like a scale of ratings, and a low one counts as relevant."""

    why = (
        "On a scale of stars without a 0 the lowest grades mean that somebody did not like it. Binary metrics count from grade 1 on unless "
        "told otherwise: everything that was rated is then relevant, and the metric is about what was rated, not about what was liked."
    )
    remedy = REMEDIES["RS306"]

    def find(self, case: CheckCase) -> Iterator[Finding]:
        for caution in case.cautions(self.code):
            yield self.finding(caution.message)


class LowestGrade(Rule, code="RS302", severity="information"):
    """The lowest grade above 0 counts as relevant, but in some collections means related only."""

    why = (
        "On some scales grade 1 means 'on the topic, does not answer' (TREC Deep Learning passages count from 2). Binary "
        "metrics then count such documents as relevant: AP, R and P are about another set of documents."
    )
    remedy = "look up what the grades mean; use level=2, as in AP(level=2), if grade 1 is not relevant"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        counts = {grade: number for grade, number in case.positive.items() if grade >= 1}
        metrics = [m for m in case.metrics if _knows_no_grades(m) and getattr(m, "level", None) == 1]
        if not _in_use(counts):
            return
        low, level, *_ = counts
        stricter = case.alternatives({m: m.having(level=level) for m in metrics})
        if not stricter:
            return
        run, _ = max((one.most for one in stricter), key=lambda most: abs(most[1]))
        effect = {str(one.metric): one.moves[run] for one in stricter if run in one.moves}
        moved = changes(effect) or "nothing changes"
        by = f" ({run})" if case.several and changes(effect) else ""
        other = max((one for one in stricter if one.winners), key=case.decides, default=None)
        winners = "" if other is None else case.another_wins(other)
        yield self.finding(
            f"{words.share(counts[low] / sum(counts.values()))} of the relevant documents have grade {words.amount(low)}; counting only grade "
            f"{words.amount(level)} and above: {moved}{by}{winners}",
            serious=other is not None and case.decides(other), effect=effect, run=run if case.several else None,
            hint=f"look up what grade {words.amount(low)} means; if it is not relevant, use {stricter[0].other}",
        )  # fmt: skip


class TopGrade(Rule, code="RS303", severity="information"):
    """Exponential gain is used with many grades, so that the top grade holds most of the gain."""

    why = (
        "2^grade - 1 doubles with each grade: 31 for grade 5, 1 for grade 1. With many grades the metric is about the documents of "
        "the top grade, and the order of all others hardly matters."
    )
    remedy = "use linear gain, or a table of gains such as nDCG(gain={1: 1, 2: 3, 3: 5}), and report which"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding for all metrics with exponential gain, where more than five grades are in use."""
        metrics = [m for m in case.metrics if getattr(m, "gain", None) == "exponential"]
        grades = case.grades
        if not metrics or len(grades) <= MANY_GRADES or max(grades) > STEEP:
            return
        top = max(grades)
        weights = (
            {grade: number * (2.0**grade - 1) for grade, number in grades.items()},
            {grade: number * grade for grade, number in grades.items()},
            grades,
        )
        steep, level, number = (words.share(held[top] / math.fsum(held.values())) for held in weights)
        yield self.finding(
            f"{len(grades)} grades are in use; with exponential gain, grade {words.amount(top)} holds {steep} of all gain ({level} with linear "
            f"gain; {number} of the judgments have it): {words.listing(metrics, most=4)}",
            count=grades[top],
        )


class GainDecides(Rule, code="RS304"):
    """Linear and exponential gain order the runs differently."""

    why = (
        "Half of all tools use the grade as gain, the other half 2^grade - 1, and both call it nDCG. If the two order the runs "
        "differently, which run is better depends on a convention that perhaps nobody chose."
    )
    remedy = "decide before looking how much better a top grade is for users; state the gain beside the number"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a metric with a linear or exponential gain; information where the same run wins under both, or none clearly."""
        if not case.several or len(case.positive) < 2 or max(case.positive) > STEEP:
            return
        other = {"linear": "exponential", "exponential": "linear"}
        metrics = [m for m in case.metrics if isinstance(m, CG | DCG) and m.gain in other and m.better == "higher"]
        for found in case.alternatives({m: m.having(gain=other[str(m.gain)]) for m in metrics}):
            if not found.swaps:
                continue
            now, then, best = found.now, found.then, leaders(found.now)
            # the pair with the winner in it, then the one that is furthest apart
            one, two = max(found.swaps, key=lambda pair: (pair[0] in best, now[pair[0]] - now[pair[1]]))
            number, moved = math.comb(len(case.scored_runs), 2), len(found.swaps)
            places = f"; {words.counted(moved, 'pair')} of {words.count(number)} {words.agree(moved, 'changes')} order"
            message = (
                f"{one} is ahead of {two} on {found.metric} ({against(now[one], now[two])}) and behind with "
                f"{other[str(found.metric.gain)]} gain ({against(then[one], then[two])})"  # type: ignore[attr-defined]
                f"{places if number > 1 else ''}{'' if found.winners else '; the same run wins'}"
            )
            yield self.finding(message, serious=case.decides(found), count=moved, run=one)


class OtherScale(Rule, code="RS305", severity="information"):
    """A metric assumes another top grade than the judgments have."""

    why = (
        "ERR and related metrics turn a grade into the chance that the reader is satisfied, relative to max_grade (default 4). If the "
        "best grade in use is lower, the best document satisfies hardly anyone: grade 2 of 4 stops 3 readers in 16 instead of 3 in 4."
    )
    remedy = "set the top of the scale, as in ERR(max_grade=3)@20; do not compare numbers with different max_grade"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a metric; a warning where the top of the scale names another winner, or a grade is above it."""
        if not case.grades:
            return
        highest = max(case.grades)
        top = highest if case.scale is None else case.scale[1]
        for metric in (asked.metric for asked in case.request.metrics):
            if _top_of(metric) < highest:
                yield self.finding(
                    f"{metric} assumes that {words.amount(_top_of(metric))} is the top grade, but {words.amount(highest)} is in use: evaluate refuses it",
                    serious=True, hint=f"use {_over(metric, highest) or f'max_grade={plain(highest)}'}",
                )  # fmt: skip
        too_high = [m for m in case.metrics if math.inf > _top_of(m) > top > 0]
        for one in case.alternatives({m: other for m in too_high if (other := _over(m, top))}):
            yield self._of(case, one, top)

    def _of(self, case: CheckCase, one: Alternative, top: float) -> Finding:
        metric, most, (name, by) = one.metric, _top_of(one.metric), one.most
        grade = "the stated scale ends at" if case.scale else "the best grade in use is"
        message = (
            f"{metric} assumes that {words.amount(most)} is the top grade, but {grade} {words.amount(top)}: with max_grade={plain(top)} "
            f"{words.number(by, sign=True, digits=3)}"
        )
        if isinstance(metric, ERR):  # the share of readers whom a document of this grade satisfies
            now, then = (words.share((2.0**top - 1) / 2.0**end) for end in (most, top))
            message += f" (a document of grade {words.amount(top)} stops {now} of readers instead of {then})"
        return self.finding(
            message + case.another_wins(one),
            serious=case.decides(one), effect={metric: by}, run=name if case.several else None,
            hint=f"use {one.other}, unless the scale goes up to {words.amount(most)} and no document was that good (--scale 0-{plain(most)})",
        )  # fmt: skip


def _top_of(metric: Metric) -> float:
    """The grade that a metric takes for the top of the scale; infinite where it has none, or takes that of each query."""
    most = getattr(metric, "max_grade", None)
    return float(most) if isinstance(most, int | float) else math.inf


def _over(metric: Metric, top: float) -> Metric | None:
    try:
        return metric.having(max_grade=float(top))
    except InputError:
        return None
