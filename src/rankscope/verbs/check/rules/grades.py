"""Metrics against the grades: scales and gains that a metric does not see, sees too well, or takes for others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from rankscope.declared import plain
from rankscope.diagnostics import metrics as rules
from rankscope.diagnostics.rule import Finding, Rule, changes
from rankscope.errors import InputError
from rankscope.metrics import CG, DCG, ERR, Metric, nDCG
from rankscope.panels.samples import leaders
from rankscope.verbs.check.case import Alternative, CheckCase, against, finds

MAX_GRADES_FOR_EXPONENTIAL_GAIN = 5  # with more, the top grade holds almost all of the gain
MAX_EXPONENT = 1000.0  # the highest grade for which 2^grade is computed
MIN_SHARE_IN_USE = 0.01  # of the judgments; rarer grades are strays


def _in_use(grades: Mapping[float, int]) -> bool:
    """Return True for several grades above 0, not counting strays."""
    return len(grades) > 1 and sum(grades.values()) - max(grades.values()) >= MIN_SHARE_IN_USE * sum(grades.values())


def _ignores_grades(metric: Metric) -> bool:
    binary = metric.relevance == "binary" and metric.better == "higher" and hasattr(metric, "level")
    return binary and metric.aggregate in {"mean", "geometric"} and not metric.needs and not metric.counts_ties


@finds(rules.BinaryOnGraded)
def _binary_on_graded(case: CheckCase) -> Iterator[Finding]:
    """Find metrics that name another winner than graded gain does; the others in one finding."""
    grades = case.positive
    metrics = [m for m in case.metrics if _ignores_grades(m)]
    if not _in_use(grades) or not metrics:
        return
    changed = _other_winners(case, metrics) if case.several else {}
    for metric, one in changed.items():
        yield rules.GradesDecide.finding(metric=metric, **case.other_winner(one), serious=case.decides(one))
    same = [m for m in metrics if m not in changed]
    if same:
        lowest, highest, whole = min(grades), max(grades), sum(grades.values())
        yield rules.BinaryOnGraded.finding(
            metrics=same, number=len(same), **{"pair_low" if len(grades) == 2 else "low": lowest}, lowest=lowest, high=highest,
            low_share=grades[lowest] / whole, high_share=grades[highest] / whole, several=case.several,
        )  # fmt: skip


def _other_winners(case: CheckCase, metrics: list[Metric]) -> dict[Metric, Alternative]:
    """Return the metrics that name another winner than graded gain does, if it is the grades that decide."""
    graded = {m: _with_gain(m, "linear") for m in metrics}
    binary = {m: _with_gain(m, {g: float(g >= m.level) for g in case.positive}) for m in metrics}  # type: ignore[attr-defined]
    means = case.other_means([*graded.items(), *binary.items()])
    out = {}
    for m in metrics if means else ():
        # the same metric without grades must disagree as well: otherwise it is the discount that decides
        one, two = (Alternative(m, graded[m], now, means[graded[m]]) for now in (case.means(m), means[binary[m]]))
        if one.winners and two.winners:
            out[m] = one
    return out


def _with_gain(metric: Metric, gain: Any) -> Metric:
    """Return the graded metric nearest to one that ignores grades: order counts only if it does there."""
    known = {name: getattr(metric, name) for name in ("cutoff", "judged_only") if hasattr(metric, name)}
    return nDCG(gain=gain, discount="log2" if metric.positions else "none", **known)


for _raised in (rules.RatingScale, rules.LooksSampled):  # found by evaluate, with all numbers

    @finds(_raised)
    def _as_raised(case: CheckCase, raised: Rule = _raised) -> Iterator[Finding]:
        for rule, numbers in case.raised(raised):
            yield rule.finding(**numbers)


@finds(rules.LowestGrade)
def _lowest_grade(case: CheckCase) -> Iterator[Finding]:
    counts = {grade: number for grade, number in case.positive.items() if grade >= 1}
    metrics = [m for m in case.metrics if _ignores_grades(m) and getattr(m, "level", None) == 1]
    if not _in_use(counts):
        return
    low, level, *_ = counts
    stricter = case.alternatives({m: m.having(level=level) for m in metrics})
    if not stricter:
        return
    run, _ = max((one.most for one in stricter), key=lambda most: abs(most[1]))
    effect = {str(one.metric): one.moves[run] for one in stricter if run in one.moves}
    moved = bool(changes(effect))
    other = max((one for one in stricter if one.winners), key=case.decides, default=None)
    yield rules.LowestGrade.finding(
        share=counts[low] / sum(counts.values()), low=low, level=level, other=stricter[0].other, same=not moved,
        run=run if case.several else None, run_moved=run if case.several and moved else None,
        effect=effect, serious=other is not None and case.decides(other), **case.other_winner(other),
    )  # fmt: skip


@finds(rules.TopGrade)
def _top_grade(case: CheckCase) -> Iterator[Finding]:
    metrics = [m for m in case.metrics if getattr(m, "gain", None) == "exponential"]
    grades = case.grades
    if not metrics or len(grades) <= MAX_GRADES_FOR_EXPONENTIAL_GAIN or max(grades) > MAX_EXPONENT:
        return
    top = max(grades)
    exponential = {grade: number * (2.0**grade - 1) for grade, number in grades.items()}
    linear = {grade: number * grade for grade, number in grades.items()}
    shares = (weights[top] / math.fsum(weights.values()) for weights in (exponential, linear, grades))
    numbers = dict(zip(("steep", "linear", "share"), shares, strict=True))
    yield rules.TopGrade.finding(grades=len(grades), top=top, metrics=metrics, count=grades[top], **numbers)


@finds(rules.GainDecides)
def _gain_decides(case: CheckCase) -> Iterator[Finding]:
    """Find metrics with linear or exponential gain that order runs differently under the other gain."""
    if not case.several or len(case.positive) < 2 or max(case.positive) > MAX_EXPONENT:
        return
    other = {"linear": "exponential", "exponential": "linear"}
    metrics = [m for m in case.metrics if isinstance(m, CG | DCG) and m.gain in other and m.better == "higher"]
    for change in case.alternatives({m: m.having(gain=other[str(m.gain)]) for m in metrics}):
        if not change.swaps:
            continue
        now, then, best = change.now, change.then, leaders(change.now)
        # the pair with the winner in it, then the pair that is furthest apart
        one, two = max(change.swaps, key=lambda pair: (pair[0] in best, now[pair[0]] - now[pair[1]]))
        pairs = math.comb(len(case.scored_runs), 2)
        yield rules.GainDecides.finding(
            run=one, other=two, metric=change.metric, gain=other[str(change.metric.gain)],  # type: ignore[attr-defined]
            now=against(now[one], now[two]), then=against(then[one], then[two]), count=len(change.swaps),
            pairs=pairs if pairs > 1 else None, same=not change.winners, serious=case.decides(change),
        )  # fmt: skip


@finds(rules.OtherScale)
def _other_scale(case: CheckCase) -> Iterator[Finding]:
    """Find metrics that assume another top grade: a warning if the right one names another winner, or a grade is above it."""
    if not case.grades:
        return
    highest = max(case.grades)
    top = highest if case.scale is None else case.scale[1]
    for metric in (spelled.metric for spelled in case.request.metrics):
        if (most := _top_of(metric)) < highest:
            larger = _with_top(metric, highest) or f"max_grade={plain(highest)}"
            yield rules.AboveScale.finding(metric=metric, most=most, highest=highest, other=larger, serious=True)
    too_high = [m for m in case.metrics if math.inf > _top_of(m) > top > 0]
    for one in case.alternatives({m: other for m in too_high if (other := _with_top(m, top))}):
        yield _lower_scale(case, one, top)


def _lower_scale(case: CheckCase, one: Alternative, top: float) -> Finding:
    metric, most, (name, by) = one.metric, _top_of(one.metric), one.most
    numbers: dict[str, Any] = {}
    if isinstance(metric, ERR):  # a document of this grade satisfies a share of readers
        now, then = ((2.0**top - 1) / 2.0**end for end in (most, top))
        numbers = {"stops": top, "now": now, "then": then}
    return rules.OtherScale.finding(
        metric=metric, most=most, most_plain=plain(most), top=plain(top), change=by, other=one.other,
        **{"stated" if case.scale else "best": top}, **numbers, **case.other_winner(one),
        serious=case.decides(one), effect={metric: by}, run=name if case.several else None,
    )  # fmt: skip


def _top_of(metric: Metric) -> float:
    most = getattr(metric, "max_grade", None)
    return float(most) if isinstance(most, int | float) else math.inf


def _with_top(metric: Metric, top: float) -> Metric | None:
    try:
        return metric.having(max_grade=float(top))
    except InputError:
        return None
