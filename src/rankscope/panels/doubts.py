"""What to doubt about a comparison: metrics that disagree, a winner that changes with k, a lead that few queries carry."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from rankscope import words
from rankscope.blocks import Caution
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.families import Family
from rankscope.panels.method import FEWEST
from rankscope.panels.panel import Panel
from rankscope.panels.slices import Slices

CARRIED = 0.05  # a lead carried by this share of the queries, or less, is told
EVEN = 1e-12  # means closer than this have no winner


def doubts_of(family: Family, slices: Slices | None = None, curve: Sequence[Panel] = ()) -> list[Caution]:
    """The doubts about a family of comparisons, each with a stable code; ``curve`` is the primary metric at several cutoffs."""
    contrasts = family.contrasts
    return [
        *(_opposed(contrasts) if len(family.panels) > 1 else ()),
        *_by_cutoff(curve),
        *_carried(contrasts),
        *(_reversed(contrasts, slices) if slices else ()),
        *_few(contrasts),
        *_out_of_reach(family),
        *_left_out(contrasts),
        *(_gaps(family) if family.method.correction.joint else ()),
    ]


def _opposed(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    by_pair: dict[tuple[str, str], list[Contrast]] = {}
    for c in contrasts:
        by_pair.setdefault((c.run, c.baseline), []).append(c)
    for (run, baseline), clear in sorted(by_pair.items()):
        up = [c.metric for c in clear if c.verdict == "better"]
        down = [c.metric for c in clear if c.verdict == "worse"]
        if up and down:
            yield Caution(
                "RS401",
                f"{run} is better than {baseline} on {', '.join(up)} and worse on {', '.join(down)}",
                "decide which metric stands for what users need, before looking (--primary)",
            )


def _by_cutoff(curve: Sequence[Panel]) -> Iterator[Caution]:
    """Where another system leads at another cutoff."""
    leads: list[tuple[int, str]] = []
    for panel in curve:
        means = {system: panel.sign * panel.mean(system) for system in panel.systems}
        best = max((m for m in means.values() if not math.isnan(m)), default=math.nan)
        ahead = [system for system, m in means.items() if abs(m - best) <= EVEN]
        if len(ahead) == 1:
            leads.append((int(panel.measure.metric.cutoff), ahead[0]))  # type: ignore[union-attr]
    spans = [(system, [k for k, _ in part]) for system, part in groupby(leads, key=lambda lead: lead[1])]
    if len(spans) > 1:
        name = str(curve[0].name).rpartition("@")[0]
        said = "; ".join(f"{system} at {words.listing(ks, most=20)}" for system, ks in spans)
        yield Caution(
            "RS402",
            f"which run is ahead on {name} changes with the cutoff: {said}",
            "name the cutoff that users see, and say it before looking",
        )


def _carried(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    for c in contrasts:
        if c.verdict in CLEAR and c.favourable is not None and c.favourable[1] <= CARRIED:
            count, share = c.favourable
            yield Caution(
                "RS403",
                f"{c.run} against {c.baseline} on {c.metric}: the lead is gone without {count:,} of {c.queries:,} queries ({words.share(share, 1)})",
                "look at these queries first: a few may carry the whole difference",
            )


def _reversed(contrasts: Sequence[Contrast], slices: Slices) -> Iterator[Caution]:
    """Where the whole improves and a slice worsens."""
    whole = {(c.run, c.baseline, c.metric): c for c in contrasts}
    for part in slices.contrasts:
        c = part.contrast
        all_queries = whole[c.run, c.baseline, c.metric]
        if {all_queries.verdict, c.verdict} == {"better", "worse"}:
            yield Caution(
                "RS404",
                f"{c.run} is {all_queries.verdict} than {c.baseline} on {c.metric} over all queries and {c.verdict} in the slice "
                f"{part.label} ({words.number(c.difference, sign=True, digits=4)}, {words.counted(c.queries, 'query')})",
                "ask who sends these queries before shipping",
            )


def _few(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    few = [c for c in contrasts if c.few]
    if few:
        c = few[0]
        more = f" (and {words.counted(len(few) - 1, 'more comparison')} like it)" if few[1:] else ""
        yield Caution(
            "RS405",
            f"{c.run} and {c.baseline} differ on {c.differing} of {words.counted(c.queries, 'query')} on {c.metric}; "
            f"fewer than {FEWEST} cannot show a difference{more}",
            "judge more queries, above all those that the two answer differently",
        )


def _out_of_reach(family: Family) -> Iterator[Caution]:
    """Where no p-value that the test can give is small enough for the correction."""
    correction, alpha = family.method.correction, family.method.alpha
    least = 1 / (getattr(correction, "rounds", math.inf) + 1)
    if correction.joint and least > alpha:
        yield Caution(
            "RS406",
            f"{correction} cannot give an adjusted p-value below {least:.2g}, so nothing can be clear at {alpha:g}",
            f"draw more: --correction '{type(correction).__name__}(rounds={math.ceil(20 / alpha)})'",
        )
    lost = [c for c in family.contrasts if c.smallest * c.comparisons > alpha and c.differing and not c.few]
    if lost and correction.least:
        c = lost[0]
        yield Caution(
            "RS406",
            f"{c.test} cannot give a p-value below {c.smallest:.2g} on {c.differing} differing queries, so none of "
            f"{c.comparisons} comparisons can be clear at {alpha:g} unless others are ({c.metric})",
            "compare fewer runs, judge more queries, or use --test t",
        )


def _left_out(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    """Where some queries have a value for one of the two only."""
    seen = set()
    for c in contrasts:
        without = c.pair.undefined_for_one
        if without and c.metric not in seen:
            seen.add(c.metric)
            yield Caution(
                "RS407",
                f"{c.metric}: {words.counted(without, 'query has', 'queries have')} a value for only one of {c.run} and "
                f"{c.baseline} and cannot be paired: the difference is over the other {c.queries:,}",
                "differences may not equal those of the means over all queries",
            )


def _gaps(family: Family) -> Iterator[Caution]:
    """Where a joint correction, which needs a value of every run, sees fewer queries than a pair does."""
    for panel in family.panels:
        whole = panel.complete.shape[1]
        most = max((c.queries for c in family.of(panel.name)), default=0)
        if whole < most:
            yield Caution(
                "RS410",
                f"{panel.name}: {family.method.correction} takes the {whole:,} queries for which every run has a value, while single pairs "
                f"have up to {most:,}",
                "leave out the run with gaps, or take --correction holm",
            )
