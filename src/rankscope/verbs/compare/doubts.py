"""What to doubt about a comparison: metrics that disagree, a winner that changes with k, a lead that few queries carry."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rankscope.blocks import Caution
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.method import FEWEST
from rankscope.panels.panel import Panel

if TYPE_CHECKING:
    from rankscope.verbs.compare.compare import Comparison

CARRIED = 0.05  # a lead carried by this share of the queries, or less, is told
EVEN = 1e-12  # means closer than this have no winner


def flags_of(found: Comparison) -> list[Caution]:
    """The doubts about a comparison, each with a stable code."""
    return [
        *_opposed(found.contrasts),
        *_by_cutoff(found.given.curve),
        *_carried(found.contrasts),
        *_reversed(found),
        *_few(found.contrasts),
        *_out_of_reach(found),
        *_left_out(found.contrasts),
        *_gaps(found),
    ]


def _opposed(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    def pair(c: Contrast) -> tuple[str, str]:
        return c.run, c.baseline

    for (run, baseline), group in groupby(sorted(contrasts, key=pair), key=pair):
        clear = list(group)
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
    for field in curve:
        means = {system: field.sign * field.mean(system) for system in field.systems}
        best = max((m for m in means.values() if not math.isnan(m)), default=math.nan)
        ahead = [system for system, m in means.items() if abs(m - best) <= EVEN]
        if len(ahead) == 1:
            leads.append((int(field.metric.cutoff), ahead[0]))  # type: ignore[union-attr]
    spans = [(system, [k for k, _ in part]) for system, part in groupby(leads, key=lambda lead: lead[1])]
    if len(spans) > 1:
        name = str(curve[0].name).rpartition("@")[0]
        said = "; ".join(f"{system} at {listed(ks)}" for system, ks in spans)
        yield Caution(
            "RS402",
            f"which run is ahead on {name} changes with the cutoff: {said}",
            "name the cutoff that users see, and say it before looking",
        )


def listed(cutoffs: Sequence[int]) -> str:
    """The cutoffs that were looked at, each by itself, as what holds between them is not known: ``1, 3 and 5``."""
    *most, last = map(str, cutoffs)
    return f"{', '.join(most)} and {last}" if most else last


def _carried(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    for c in contrasts:
        if c.verdict in CLEAR and c.favourable is not None and c.favourable[1] <= CARRIED:
            count, share = c.favourable
            yield Caution(
                "RS403",
                f"{c.run} against {c.baseline} on {c.metric}: without {count} of {c.queries:,} queries ({share:.1%}) the lead is gone",
                "look at these queries first: few may carry the whole difference",
            )


def _reversed(found: Comparison) -> Iterator[Caution]:
    """Where the whole improves and a slice worsens."""
    if found.slices is None:
        return
    whole = {(c.run, c.baseline, c.metric): c for c in found.contrasts}
    for part in found.slices.contrasts:
        c = part.contrast
        all_queries = whole[c.run, c.baseline, c.metric]
        words = ("better", "worse")
        if {all_queries.verdict, c.verdict} == set(words):
            yield Caution(
                "RS404",
                f"{c.run} is {all_queries.verdict} than {c.baseline} on {c.metric} over all queries and {c.verdict} in the slice "
                f"{part.label} ({c.difference:+.4f}, {c.queries:,} queries)",
                "ask who sends these queries before shipping",
            )


def _few(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    few = [c for c in contrasts if c.few]
    if few:
        c = few[0]
        noun = "comparison" if len(few) == 2 else "comparisons"
        more = f" (and {len(few) - 1} more {noun} like it)" if len(few) > 1 else ""
        yield Caution(
            "RS405",
            f"{c.run} and {c.baseline} differ on {c.differing} of {c.queries:,} queries on {c.metric}; "
            f"fewer than {FEWEST} cannot tell{more}",
            "judge more queries, above all such on which the two answer differently",
        )


def _out_of_reach(found: Comparison) -> Iterator[Caution]:
    """Where no p-value that the test can give is small enough for the correction."""
    joint = found.method.correction
    least = 1 / (getattr(joint, "rounds", math.inf) + 1)
    if joint.joint and least > found.method.alpha:
        yield Caution(
            "RS406",
            f"{joint} cannot give an adjusted p-value below {least:.2g}, so nothing can be clear at {found.method.alpha:g}",
            f"draw more: --correction '{type(joint).__name__}(rounds={math.ceil(20 / found.method.alpha)})'",
        )
    lost = [c for c in found.contrasts if c.smallest * c.comparisons > found.method.alpha and not c.few]
    lost = [c for c in lost if c.differing and str(found.method.correction) in {"holm", "bonferroni"}]
    if lost:
        c = lost[0]
        yield Caution(
            "RS406",
            f"{c.test} cannot give a p-value below {c.smallest:.2g} on {c.differing} differing queries, so none of "
            f"{c.comparisons} comparisons can be clear at {found.method.alpha:g} unless others are ({c.metric})",
            "compare fewer runs, judge more queries, or use --test t",
        )


def _left_out(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    """Where some queries have a value for one of the two only."""
    seen = set()
    for c in contrasts:
        without = c.undefined_for_one
        if without and c.metric not in seen:
            seen.add(c.metric)
            yield Caution(
                "RS407",
                f"{c.metric}: {without:,} {'query has' if without == 1 else 'queries have'} a value for only one of {c.run} and "
                f"{c.baseline} and cannot be paired: the difference is over the other {c.queries:,}",
                "differences may not equal those of the means over all queries",
            )


def _gaps(found: Comparison) -> Iterator[Caution]:
    """Where a joint correction, which needs a value of every run, sees fewer queries than a pair does."""
    if not found.method.correction.joint:
        return
    for field in found.fields:
        whole = field.complete.shape[1]
        most = max((c.queries for c in found.of(field.name)), default=0)
        if whole < most:
            yield Caution(
                "RS410",
                f"{field.name}: {found.method.correction} takes the {whole:,} queries for which every run has a value, while single pairs "
                f"have up to {most:,}",
                "leave out the run with gaps, or take --correction holm",
            )
