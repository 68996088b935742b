"""Numbers by rank: values at every cutoff and recall, differences by rank, weights of ranks, overlap of rankings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from rankscope import words
from rankscope.analysis.bands import Band, reach_by_rank
from rankscope.analysis.curves import Curve, RecallCurve, by_cutoff, by_recall
from rankscope.analysis.overlap import RunOverlaps, overlaps_of
from rankscope.blocks import Chart, Column, Paragraph, Table, Value
from rankscope.errors import DataError, InputError
from rankscope.lists import Array
from rankscope.metrics import Metric, parse
from rankscope.metrics.base import MAX_EXPONENTIAL_GRADE
from rankscope.metrics.browsing import ERR
from rankscope.metrics.rank_weights import DEPTH, TOP, chart, table, weight_below, weights_of
from rankscope.panels.contrast_result import signed_cell
from rankscope.reporting.subject import LINES, PagePart
from rankscope.scoring.rescore import judged_of
from rankscope.verbs.explain.explain import explain_origin, why_not_by_rank
from rankscope.verbs.explain.result import Origin


# --- at every cutoff and recall
class CutoffsPart(PagePart):
    """Each run at cutoffs from 1 to 100."""

    name, title, needs_scores = "cutoffs", "Results by cutoff", True
    label = "Cutoffs"
    warned = frozenset({"RS402"})
    curves: list[Curve]
    left_out: str

    def blocks(self) -> Iterator[Any]:
        runs, self.left_out = self.subject.few_runs()
        self.curves, reasons = by_cutoff(self.scores, runs, self.subject.metric)
        for curve in self.curves:
            yield from (curve.chart(), curve.table())
        more = [self.left_out] if self.left_out and self.curves else []
        yield from (Paragraph(text, quiet=True) for text in [*reasons, *more])

    def lead(self) -> str:
        if not self.curves:
            return ""
        first, lead = self.curves[0], self.subject.metric
        text = first.sentence(bool(self.left_out))
        if lead is None or lead == first.metric:
            return text
        why = "has no cutoff" if getattr(lead, "cutoff", None) is None else "is not drawn at other cutoffs"
        return f"The main metric, {lead}, {why}. This is {first.name}. {text}"


class RecallPart(PagePart):
    """Precision against recall, interpolated at eleven points."""

    name, title, needs_scores = "recall", "Precision and recall", True
    label = "Precision"
    curve: RecallCurve | str | None

    def blocks(self) -> Iterator[Any]:
        runs, left_out = self.subject.few_runs()
        self.curve = by_recall(self.scores, runs, float(getattr(self.subject.metric, "level", 1.0)))
        if isinstance(self.curve, str):
            yield Paragraph(f"Not drawn: {self.curve}.", quiet=True)
        elif self.curve is not None:
            yield from (self.curve.chart(), self.curve.table())
            yield from [Paragraph(left_out, quiet=True)] if left_out else []

    def lead(self) -> str:
        return self.curve.sentence(self.subject.first_run) if isinstance(self.curve, RecallCurve) else ""


# --- how alike rankings are
class AgreementPart(PagePart):
    """Every pair of runs: rank-biased overlap and Jaccard at a cutoff."""

    name, title, needs_rankings = "agreement", "How alike the runs are", True
    label = "Overlap"
    warned = frozenset({"RS115"})
    overlaps: RunOverlaps

    def blocks(self) -> Iterator[Any]:
        if len(self.subject.runs) < 2:
            return
        runs = {name: self.subject.runs[name] for name in self.subject.runs_by_merit()}
        self.overlaps = overlaps_of(self.scores, self.subject.ranking_metric, runs)
        if not self.overlaps.known:
            yield Paragraph("No two runs rank the same query, so runs cannot be compared.")
            return
        yield from (*self.overlaps.charts(), self.overlaps.table())
        looked_at, queries = self.overlaps.looked_at, self.overlaps.queries
        if looked_at < queries:
            text = f"From {words.count(looked_at)} of {words.counted(queries, 'query')}, picked evenly by their ids."
            yield Paragraph(text, quiet=True)

    def lead(self) -> str:
        return self.overlaps.sentence() if self.overlaps.known else ""


# --- the weight of a rank --------------------------------------------------------------------------------

DRAWN = {
    "RR: 1/rank": "RR", "DCG, nDCG: 1/log2(rank+1)": "DCG", "RBP(p=0.95)": "RBP(p=0.95)", "RBP(p=0.8)": "RBP(p=0.8)",
    "RBP(p=0.5)": "RBP(p=0.5)", "P@10": "P@10",
}  # fmt: skip
RECIPROCAL, LOGARITHMIC, *_ = DRAWN
REACH = "ERR reach, "
OWN = 2  # runs with readers drawn next to the discounts
SEEN = (12, 14, 17, 20, 25, 30, 40, 50, 65, 80, DEPTH)  # ranks below 10 that are drawn, on an axis of logarithms
WORTH = (
    "The weight of a relevant document at each rank, relative to rank 1. The sooner a line falls, the more its metric depends on the "
    "first few ranks."
)
ABOUT_REACH = (
    "ERR reach is the share of readers still reading, not a discount: readers who under {} still read a rank of the run's own rankings, "
    "as each document satisfies some of them, and all stop at the end. A document there can add 1/rank, "
    "the discount of ERR, times this share: rankscope metrics ERR --plot draws only the discount."
)


def _told_ranks(drawn: Chart) -> tuple[tuple[Value, ...], ...]:
    """Return the points that are visible on an axis of logarithms: fewer further down, and both ends of a fall to 0."""
    weight: dict[Any, Value] = {(row[0], row[1]): row[2] for row in drawn.rows}
    falls = {
        (name, rank)
        for name, rank in weight
        if weight[name, rank] == 0 and weight.get((name, rank - 1)) not in (0, None)
    }
    falls |= {(name, rank - 1) for name, rank in falls}
    shown = {(name, rank) for name, rank in weight if rank <= 10 or rank in SEEN} | falls
    return tuple(row for row in drawn.rows if (row[0], row[1]) in shown)


class DiscountsPart(PagePart):
    """The discounts of the usual metrics and of the main one; with rankings, how many readers are left at each rank."""

    name, title, needs_scores = "discounts", "The weight of a rank", True
    label = "Weights"

    @cached_property
    def weights(self) -> dict[str, Array]:
        """Return the usual discounts, and the main metric's own if it differs."""
        curves, metric = {name: weights_of(parse(spelling)) for name, spelling in DRAWN.items()}, self.subject.metric
        try:
            own = None if metric is None else weights_of(metric)
        except InputError:
            own = None
        if own is not None and not any(np.allclose(own, other) for other in curves.values()):
            curves[str(metric)] = own
        return curves

    @cached_property
    def reach(self) -> dict[str, Array]:
        """The readers of the baseline and the best runs; empty without rankings or relevant documents."""
        metric, scores = self._err(), self.subject.scores
        if metric is None or scores is None:
            return {}
        runs, _ = self.subject.few_runs(min(LINES - len(self.weights), OWN))
        lines = ((run, reach_by_rank(*judged_of(scores, run, scores.metrics[0]), metric, DEPTH)) for run in runs)
        return {f"{REACH}{run}": line for run, line in lines if not np.isnan(line).any()}

    def blocks(self) -> Iterator[Any]:
        curves = {**self.weights, **self.reach}
        drawn = chart(curves, "discounts", "Weight of each rank", WORTH)
        yield replace(drawn, rows=_told_ranks(drawn), told=True)
        yield from [Paragraph(ABOUT_REACH.format(self._err()), quiet=True)] if self.reach else []
        yield table(curves, list(self.reach))

    def lead(self) -> str:
        log, reciprocal = (weight_below(self.weights[name]) for name in (LOGARITHMIC, RECIPROCAL))
        text = (
            f"Down to rank {DEPTH}, {words.share(log)} of the weight of DCG is below rank {TOP} and {words.share(reciprocal)} of 1/rank: "
            "metrics without a cutoff give much weight to ranks few people see."
        )
        for name, reach in list(self.reach.items())[:1]:
            text += f" Under ERR {words.share(float(reach[TOP - 1]))} of the readers of {name.removeprefix(REACH)} would get to rank {TOP}."
        return text

    def _err(self) -> ERR | None:
        """Return the ERR of the page, otherwise one on the scale of the judgments. None without rankings or relevant documents."""
        scores = self.subject.scores
        if scores is None or not scores.evaluations:
            return None
        for metric in scores.metrics:
            if type(metric) is ERR:
                return metric.having(cutoff=None)
        top = max(float(evaluation.judged[0].grade.max(initial=0.0)) for evaluation in scores.evaluations)
        return ERR(max_grade=top) if 0 < top <= MAX_EXPONENTIAL_GRADE else None


# --- a difference by ranks --------------------------------------------------------------------------------

PAIRS = 3  # pairs that are taken apart
UNEARNED = "the policies give queries values that no document earned, or no query is scored for both runs."
NOTHING = 1e-9  # rounding errors
REST = "no rank"
ADDS = (
    "The share of documents at these ranks in the difference of the means: the bars of a pair sum to it. A bar above 0 raises the "
    "value of the run named first against the other, one below 0 lowers it."
)


class OriginPart(PagePart):
    """The difference of each of the first rivals by bands of ranks that sum to it."""

    name, title, of_comparison, needs_scores = "origin", "The difference by ranks", True, True
    label = "Ranks"
    origins: Sequence[Origin] = ()

    def blocks(self) -> Iterator[Any]:
        metric = self.subject.metric
        pairs = [pair for pair in self.subject.pairs if set(pair) <= set(self.subject.run_names)]
        if metric is None or not pairs:
            return
        ties = self.scores.request.of_metric(metric).convention.ties
        over_orders = f"under ties={ties} a document has no one rank" if ties in {"expected", "best", "worst"} else ""
        if reason := over_orders or why_not_by_rank(metric):
            yield Paragraph(f"Not shown: {reason}.", quiet=True)
            return
        origins = {pair: self._origin(*pair, metric) for pair in pairs[:PAIRS]}
        split = [one for one in origins.values() if one is not None]
        self.origins = [one for one in split if any(band.adds for band in one.bands) or abs(one.rest) > NOTHING]
        if self.origins:
            rows = _by_band(self.origins)
            yield from (_origin_chart(self.origins, rows, metric), _origin_table(self.origins, rows))
            yield from (Paragraph(_in_words(one)) for one in self.origins[1:])
            for pair, one in origins.items():
                if one is None or one not in self.origins:
                    why = UNEARNED if one is None else "no rank adds to a difference."
                    yield Paragraph(f"{' against '.join(pair)} is left out: {why}", quiet=True)
            if (more := len(pairs) - PAIRS) > 0:
                shown = f"The {PAIRS} pairs with the largest leads are shown"
                yield Paragraph(f"{shown}, {words.counted(more, 'is', 'are')} left out.", quiet=True)
        elif None in origins.values():
            yield Paragraph(f"Not shown: {UNEARNED}", quiet=True)

    def lead(self) -> str:
        return _in_words(self.origins[0]) if self.origins else ""

    def _origin(self, after: str, before: str, metric: Metric) -> Origin | None:
        """Return the parts of a difference, if they sum to it."""
        try:
            origin = explain_origin(self.scores, before, after, metric)
        except DataError:  # no query has a value for both
            return None
        whole = math.fsum([*(band.adds for band in origin.bands), origin.rest])
        # a policy may give a query a value that its documents did not earn
        return origin if abs(whole - origin.value) < NOTHING else None


def _pair(origin: Origin) -> str:
    before, after = origin.runs
    return f"{after} against {before}"


def _by_band(origins: Sequence[Origin]) -> list[tuple[str, list[float]]]:
    """Return the bands down to the deepest with a share, for each pair."""
    last = max((band.first for one in origins for band in one.bands if band.adds), default=0)
    ranks = {band.first: band.ranks for one in origins for band in one.bands if band.first <= last}
    adds = [{band.first: band.adds for band in one.bands} for one in origins]
    rows = [(ranks[first], [one.get(first, 0.0) for one in adds]) for first in sorted(ranks)]
    return [
        *rows,
        *([(REST, [one.rest for one in origins])] if any(abs(one.rest) > NOTHING for one in origins) else []),
    ]


def _origin_chart(origins: Sequence[Origin], bands: Sequence[tuple[str, list[float]]], metric: Metric) -> Chart:
    rows = tuple((ranks, add, _pair(one)) for ranks, adds in bands for one, add in zip(origins, adds, strict=True))
    return Chart(
        "origin", f"Share of each rank in the difference on {metric}", "bars",
        (Column("ranks"), Column("adds", "value", hint=f"to the difference on {metric}"), Column("pair")),
        rows, x="ranks", y="adds", series="pair", caption=ADDS, guide="zero", told=True,
        axes=(("adds", f"adds to the difference on {metric}"),),
    )  # fmt: skip


def _origin_table(origins: Sequence[Origin], bands: Sequence[tuple[str, list[float]]]) -> Table:
    """One row per pair and one column per band, with the sum; a pair is a row so that names have room."""
    columns = (Column("pair"), *(Column(ranks, "value") for ranks, _ in bands), Column("difference", "value"))
    rows: list[tuple[Value, ...]] = [
        (_pair(one), *(signed_cell(adds[i]) for _, adds in bands), signed_cell(one.value))
        for i, one in enumerate(origins)
    ]
    note = f"{REST}: parts without a document at a rank, such as a constant or a transformation of the sum."
    return Table(columns, tuple(rows), name="origin-table", turns=True, note=note if bands[-1][0] == REST else "")


def _in_words(origin: Origin) -> str:
    """Which ranks make the difference."""
    before, after = origin.runs
    band = max(origin.bands, key=lambda b: abs(b.adds), default=None)
    text = f"{after} and {before} differ by {words.number(origin.value, sign=True)} on {origin.metric}"
    if band is None or not band.adds:
        return f"{text}, and no rank adds to it."
    most = f"{band.label} {_agree(band, 'adds')} most, {words.number(band.adds, sign=True)}"
    against = [b for b in origin.bands if b.adds * band.adds < 0 and abs(b.adds) >= abs(band.adds) / 10]
    if not against:
        return f"{text}: {most}."
    worst = max(against, key=lambda b: abs(b.adds))
    return f"{text}: {most}, {worst.label} {_agree(worst, 'reduces')} it, {words.number(worst.adds, sign=True)}."


def _agree(band: Band, verb: str) -> str:
    return words.agree(1 if band.first == band.last else 2, verb)
