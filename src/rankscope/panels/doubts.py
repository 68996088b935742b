"""What to doubt about a comparison: metrics that disagree, a winner that changes with k, a lead that few queries carry."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from rankscope import words
from rankscope.blocks import Caution
from rankscope.inference.base import Sample
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.families import Family
from rankscope.panels.method import FEWEST
from rankscope.panels.panel import Panel
from rankscope.panels.samples import leaders
from rankscope.panels.slices import Slices

REMEDIES = {  # what to do about each doubt, here and where ``check`` explains its rule
    "RS401": "decide before looking which metric stands for what users need (rankscope compare --primary names it)",
    "RS402": "choose the cutoff that users see, before looking (rankscope report draws all of them)",
    "RS403": "look at these queries first (rankscope explain QRELS RUN RUN), as a few may carry the whole difference; judge more like them",
    "RS404": "find out who sends these queries before shipping",
    "RS405": "judge more queries (rankscope power says how many), above all those that the two runs answer differently",
    "RS406": "compare fewer runs, judge more queries, or use --test t",
    "RS407": "trust the difference, not the two means, which are over different queries; or give the missing ones a value",
    "RS408": "leave the pair out of the plan, or judge more queries",
    "RS410": "leave out the run with gaps, or use --correction holm",
    "RS411": "take queries from more clusters: few can show large differences only",
    "RS412": "look from 100 queries on, or use --test betting",
}
FEW_DEGREES = 10.0  # below so many degrees of freedom the quantile of t grows fast
CARRIED = 0.05  # a lead carried by this share of the queries, or less, is told ...
FEWER = 0.5  # ... where that is this part, or less, of what carries such leads otherwise


def doubts_of(family: Family, slices: Slices | None = None, curve: Sequence[Panel] = ()) -> list[Caution]:
    """The doubts about a family of comparisons, each with a stable code; ``curve`` is the primary metric at several cutoffs."""
    contrasts = family.contrasts
    return [
        *(_metrics_disagree(contrasts) if len(family.panels) > 1 else ()),
        *_cutoffs_disagree(curve),
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
            yield Caution(
                "RS401",
                f"{run} is better than {baseline} on {', '.join(up)} and worse on {', '.join(down)}",
                REMEDIES["RS401"],
            )


def _cutoffs_disagree(curve: Sequence[Panel]) -> Iterator[Caution]:
    """Where another system leads at another cutoff."""
    leads: list[tuple[int, str]] = []
    for panel in curve:
        ahead = leaders(panel.means, panel.measure.better)
        if len(ahead) == 1:
            leads.append((int(panel.measure.metric.cutoff), ahead[0]))  # type: ignore[union-attr]
    spans = [(system, [k for k, _ in part]) for system, part in groupby(leads, key=lambda lead: lead[1])]
    if len(spans) > 1:
        name = str(curve[0].name).rpartition("@")[0]
        said = "; ".join(f"{system} at {words.listing(ks, most=20)}" for system, ks in spans)
        yield Caution("RS402", f"which run is ahead on {name} changes with the cutoff: {said}", REMEDIES["RS402"])


def _few_queries_carry(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    for c in contrasts:
        if c.verdict in CLEAR and c.favourable is not None and c.favourable[1] <= CARRIED:
            count, share = c.favourable
            usual = _usual_carriers(c)
            if count <= usual * FEWER:
                yield Caution(
                    "RS403",
                    f"{c.title}: the lead is gone without {count:,} of {c.queries:,} queries ({words.share(share, 1)}; "
                    f"without large differences it would take about {words.count(round(usual))})",
                    REMEDIES["RS403"],
                )


def _usual_carriers(c: Contrast) -> float:
    """How many queries carry a lead like this one where none stands out.

    A small lead is always carried by few, so it is as many as for normal differences of this mean and spread; and where most differences
    are of one size, as with one relevant document a query, as many as are better than worse.
    """
    from rankscope.inference.effects import favourable_if_normal

    sample = c.paired.means
    ahead = abs(c.wins - c.losses) if (c.wins > c.losses) == c.is_gain else math.inf
    return min(favourable_if_normal(sample), ahead)


def _slices_disagree(contrasts: Sequence[Contrast], slices: Slices) -> Iterator[Caution]:
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
                REMEDIES["RS404"],
            )


def _few_queries_differ(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    few = [c for c in contrasts if c.few]
    if few:
        c = few[0]
        more = f" (and {words.counted(len(few) - 1, 'more comparison')} like it)" if few[1:] else ""
        yield Caution(
            "RS405",
            f"{c.run} and {c.baseline} differ on {c.differing} of {words.counted(c.queries, 'query')} on {c.metric}; "
            f"fewer than {FEWEST} cannot show a difference{more}",
            REMEDIES["RS405"],
        )


def _out_of_reach(family: Family) -> Iterator[Caution]:
    """Where no p-value that the test can give is small enough for the correction."""
    correction, alpha = family.method.correction, family.method.alpha
    least = 1 / (getattr(correction, "rounds", math.inf) + 1)
    if correction.joint and least > alpha:
        yield Caution(
            "RS406",
            f"{correction} cannot give an adjusted p-value below {words.number(least)}, so nothing can be clear at {words.amount(alpha)}",
            f"draw more: --correction '{type(correction).__name__}(rounds={math.ceil(20 / alpha)})'",
        )
    lost = [c for c in family.contrasts if c.smallest * c.comparisons > alpha and c.differing and not c.few]
    if lost and correction.least:
        c = lost[0]
        yield Caution(
            "RS406",
            f"{c.test} cannot give a p-value below {words.number(c.smallest)} on {c.differing} differing queries, so none of "
            f"{c.comparisons} comparisons can be clear at {words.amount(alpha)} unless others are ({c.metric})",
            REMEDIES["RS406"],
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
                REMEDIES["RS407"],
            )


def _runs_have_gaps(family: Family) -> Iterator[Caution]:
    """Where a joint correction, which needs a value of every run, sees fewer queries than a pair does."""
    for panel in family.panels:
        whole = panel.complete.shape[1]
        most = max((c.queries for c in family.of(panel.name)), default=0)
        if whole < most:
            yield Caution(
                "RS410",
                f"{panel.name}: {family.method.correction} takes the {whole:,} queries for which every run has a value, while single pairs "
                f"have up to {most:,}",
                REMEDIES["RS410"],
            )


def few_clusters(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    """Where queries come in so few clusters, or so uneven ones, that the error between them is hardly known."""
    least = min((c.pair.means for c in contrasts if c.queries), key=lambda sample: sample.freedom, default=None)
    if isinstance(least, Sample) and least.freedom < FEW_DEGREES:
        queries, clusters = words.counted(least.count, "query"), words.counted(least.groups, "cluster")
        uneven = ""
        if least.shares is not None:
            held = f"holds {words.share(float(least.shares.max()))}"
            weighted = least.weights is not None and least.weights.min() < least.weights.max()
            uneven = f" of unequal {f'weight (one {held} of it)' if weighted else f'size (the largest {held})'}"
        degrees = (
            words.counted(least.groups - 1, "degree")
            if least.shares is None
            else f"{words.number(least.freedom, digits=1)} degrees"
        )
        yield Caution(
            "RS411",
            f"{queries} in {clusters}{uneven}: intervals and p-values rest on {degrees} of freedom",
            REMEDIES["RS411"],
        )


def _too_early(contrasts: Sequence[Contrast]) -> Iterator[Caution]:
    """Where a sequential test has seen too few queries to know how differences spread."""
    test, c = contrasts[0].method.test, min(contrasts, key=lambda c: c.queries)
    if test is not None and c.queries < test.needs_many:
        yield Caution(
            "RS412",
            f"{test} takes {words.counted(c.queries, 'query')} for a picture of all: where large losses are rare, and still to come, it "
            "errs more often than it says",
            REMEDIES["RS412"],
        )
