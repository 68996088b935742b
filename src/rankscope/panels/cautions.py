"""Cautions about a comparison: metrics that disagree, a winner that changes with k, a lead that few queries carry."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from rankscope import words
from rankscope.blocks import Caution
from rankscope.diagnostics.comparisons import (
    CutoffDecides,
    FewClusters,
    FewQueriesDecide,
    JointWithGaps,
    MetricsDisagree,
    NotPaired,
    OutOfReach,
    SliceReversed,
    TooEarly,
    TooFewDiffer,
    TooFewDraws,
)
from rankscope.inference.base import Sample
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.families import Family
from rankscope.panels.method import FEWEST
from rankscope.panels.panel import Panel
from rankscope.panels.samples import leaders
from rankscope.panels.slices import Slices

FEW_DEGREES = 10.0  # below so many degrees of freedom the quantile of t grows fast
CARRIED = 0.05  # a lead carried by this share of the queries, or less, is told ...
FEWER = 0.5  # ... where that is this part, or less, of what carries such leads otherwise


def comparison_cautions(family: Family, slices: Slices | None = None, curve: Sequence[Panel] = ()) -> list[Caution]:
    """Return the cautions about a family of comparisons, by stable codes; ``curve`` is the primary metric at several cutoffs."""
    contrasts = family.contrasts
    return [
        *(_metrics_disagree(contrasts) if len(family.panels) > 1 else ()),
        *_cutoffs_disagree(curve, contrasts),
        *_few_queries_carry(contrasts),
        *(_slices_disagree(contrasts, slices) if slices else ()),
        *_few_queries_differ(contrasts),
        *_out_of_reach(family),
        *_left_out(contrasts),
        *(_runs_have_gaps(family) if family.method.correction.joint else ()),
        *(few_clusters(contrasts) if family.panels[0].clusters is not None else ()),
        *(_too_early(contrasts) if family.method.every_look else ()),
    ]


def _metrics_disagree(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    by_pair: dict[tuple[str, str], list[Contrast]] = {}
    for c in contrasts:
        by_pair.setdefault((c.run, c.baseline), []).append(c)
    for (run, baseline), clear in sorted(by_pair.items()):
        up = [c.metric for c in clear if c.verdict == "better"]
        down = [c.metric for c in clear if c.verdict == "worse"]
        if up and down:
            yield MetricsDisagree.caution(run=run, baseline=baseline, better=up, worse=down)


def _cutoffs_disagree(curve: Sequence[Panel], contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    """Warn if another system leads at another cutoff, and two of the leaders clearly differ."""
    leads: list[tuple[int, str]] = []
    for panel in curve:
        ahead = leaders(panel.means, panel.measure.better)
        if len(ahead) == 1:
            leads.append((int(panel.measure.metric.cutoff), ahead[0]))  # type: ignore[union-attr]
    spans = [(system, [k for k, _ in part]) for system, part in groupby(leads, key=lambda lead: lead[1])]
    systems = {system for system, _ in spans}
    if any(c.verdict in CLEAR and {c.run, c.baseline} <= systems for c in contrasts) and len(spans) > 1:
        name = str(curve[0].name).rpartition("@")[0]
        ranges = "; ".join(f"{system} at {words.listing(ks, most=20)}" for system, ks in spans)
        yield CutoffDecides.caution(metric=name, leads=ranges)


def _few_queries_carry(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    for c in contrasts:
        if c.verdict in CLEAR and c.favourable is not None and c.favourable[1] <= CARRIED:
            count, share = c.favourable
            usual = _usual_carriers(c)
            if count <= usual * FEWER:
                numbers = {"count": count, "queries": c.queries, "share": share, "usual": round(usual)}
                yield FewQueriesDecide.caution(contrast=c.title, **numbers)


def _usual_carriers(c: Contrast) -> float:
    """Return the queries that carry such a lead in normal differences, or if most differences have one size: the queries better less worse."""
    from rankscope.inference.effects import favourable_if_normal

    sample = c.paired.means
    ahead = abs(c.wins - c.losses) if (c.wins > c.losses) == c.is_gain else math.inf
    return min(favourable_if_normal(sample), ahead)


def _slices_disagree(contrasts: Sequence[Contrast], slices: Slices) -> Iterator[Caution]:
    """Warn if the whole improves and a slice worsens."""
    whole = {(c.run, c.baseline, c.metric): c for c in contrasts}
    for part in slices.contrasts:
        c, all_queries = part.contrast, whole[part.contrast.run, part.contrast.baseline, part.contrast.metric]
        if {all_queries.verdict, c.verdict} == {"better", "worse"}:
            yield SliceReversed.caution(
                run=c.run, baseline=c.baseline, metric=c.metric, verdict=all_queries.verdict, verdict_here=c.verdict,
                slice=part.label, difference=c.difference, queries=c.queries,
            )  # fmt: skip


def _few_queries_differ(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    few = [c for c in contrasts if c.few]
    if few:
        c = few[0]
        yield TooFewDiffer.caution(
            run=c.run, baseline=c.baseline, metric=c.metric, differing=c.differing, queries=c.queries, fewest=FEWEST,
            more=len(few) - 1 or None,
        )  # fmt: skip


def _out_of_reach(family: Family) -> Iterator[Caution]:
    """Warn if no p-value that the test can give is small enough for the correction."""
    correction, alpha = family.method.correction, family.method.alpha
    least = 1 / (getattr(correction, "rounds", math.inf) + 1)
    if correction.joint and least > alpha:
        name, rounds = type(correction).__name__, str(math.ceil(20 / alpha))
        yield TooFewDraws.caution(correction=correction, name=name, smallest=least, alpha=alpha, rounds=rounds)
    lost = [c for c in family.contrasts if c.smallest * c.comparisons > alpha and c.differing and not c.few]
    if lost and correction.least:
        c = lost[0]
        counts = {"differing": c.differing, "comparisons": c.comparisons}
        yield OutOfReach.caution(test=c.test, smallest=c.smallest, **counts, alpha=alpha, metric=c.metric)


def _left_out(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    """Warn if some queries have a value for one system only."""
    seen = set()
    for c in contrasts:
        without = c.pair.undefined_for_one
        if without and c.metric not in seen:
            seen.add(c.metric)
            yield NotPaired.caution(metric=c.metric, count=without, run=c.run, baseline=c.baseline, queries=c.queries)


def _runs_have_gaps(family: Family) -> Iterator[Caution]:
    """Warn if a joint correction, which needs a value of every run, sees fewer queries than a pair does."""
    for panel in family.panels:
        whole = panel.complete.shape[1]
        most = max((c.queries for c in family.of(panel.name)), default=0)
        if whole < most:
            correction = family.method.correction
            yield JointWithGaps.caution(metric=panel.name, correction=correction, complete=whole, queries=most)


def few_clusters(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    """Warn if clusters are too few or too uneven for a good estimate of the error between them."""
    least = min((c.pair.means for c in contrasts if c.queries), key=lambda sample: sample.freedom, default=None)
    if isinstance(least, Sample) and least.freedom < FEW_DEGREES:
        size = None if least.shares is None else float(least.shares.max())
        weighted = least.weights is not None and least.weights.min() < least.weights.max()
        freedom = least.groups - 1 if least.shares is None else words.number(least.freedom, digits=1)
        yield FewClusters.caution(
            queries=least.count, clusters=least.groups, size=None if weighted else size, weight=size if weighted else None,
            freedom=freedom, unit="degree" if freedom == 1 else "degrees",
        )  # fmt: skip


def _too_early(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    """Warn if a sequential test has seen too few queries to estimate the spread of differences."""
    test, c = contrasts[0].method.test, min(contrasts, key=lambda c: c.queries)
    if test is not None and c.queries < test.needs_many:
        yield TooEarly.caution(test=test, queries=c.queries)
