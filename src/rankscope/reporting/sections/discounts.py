"""What a rank is worth to each metric, on one axis: the discounts, and how many readers of one's own rankings are still looking."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Paragraph
from rankscope.errors import InputError
from rankscope.lists import Array, Judged
from rankscope.metrics import parse
from rankscope.metrics.base import LARGEST
from rankscope.metrics.browsing import ERR
from rankscope.metrics.rank_weights import DEPTH, TOP, chart, table, weight_below, weights_of
from rankscope.reporting.part import PagePart
from rankscope.reporting.subject import LINES, Subject
from rankscope.scoring.rescore import judged_of

DRAWN = {
    "RR: 1/rank": "RR", "DCG, nDCG: 1/log2(rank+1)": "DCG", "RBP(p=0.95)": "RBP(p=0.95)", "RBP(p=0.8)": "RBP(p=0.8)",
    "RBP(p=0.5)": "RBP(p=0.5)", "P@10": "P@10",
}  # fmt: skip
RECIPROCAL, LOGARITHMIC, *_ = DRAWN
REACH = "ERR reach, "
OWN = 2  # runs whose readers are drawn beside the discounts
CAPTION = (
    "What a relevant document at each rank is worth, compared with rank 1. The sooner a line falls, the more its metric depends on the "
    "first few ranks alone."
)
ABOUT_REACH = (
    "ERR reach is the share of readers still looking, not a discount: those who under {} still look at a rank of the run's own rankings, "
    "as each document satisfies some of them, the better the more, and nobody looks beyond the end. What a document there can add is 1/rank, "
    "the discount of ERR, times this share: rankscope metrics ERR --plot draws the discount alone."
)


class DiscountsPart(PagePart[Subject]):
    """The discounts of the usual metrics and of the main one; with rankings, how many readers are left at each rank."""

    name, title = "discounts", "What a rank is worth"

    @cached_property
    def weights(self) -> dict[str, Array]:
        """The usual discounts, and that of the main metric where it falls in another way."""
        curves = {name: weights_of(parse(spelling)) for name, spelling in DRAWN.items()}
        try:
            own = None if self.subject.metric is None else weights_of(self.subject.metric)
        except InputError:
            own = None
        if own is not None and not any(np.allclose(own, other) for other in curves.values()):
            curves[str(self.subject.metric)] = own
        return curves

    @cached_property
    def reach(self) -> dict[str, Array]:
        """The readers of the baseline and the best runs; empty without rankings or relevant documents."""
        metric, scores = self._err(), self.subject.scores
        if metric is None or scores is None:
            return {}
        runs, _ = self.subject.few_runs(min(LINES - len(self.weights), OWN))
        reach = {}
        for run in runs:
            judged, queries = judged_of(scores, run, scores.metrics[0])
            reach[run] = reach_of(judged, queries, metric)
        return {f"{REACH}{run}": reach[run] for run in runs if not np.isnan(reach[run]).any()}

    def blocks(self) -> Iterator[Any]:
        """The chart, what the readers are, and the table."""
        curves = {**self.weights, **self.reach}
        yield replace(chart(curves, "discounts", "What each rank is worth", CAPTION), told=True)
        yield from [Paragraph(ABOUT_REACH.format(self._err()), quiet=True)] if self.reach else []
        yield table(curves, list(self.reach))

    def lead(self) -> str:
        """How much of a metric depends on what nobody sees on a first page."""
        log, reciprocal = (weight_below(self.weights[name]) for name in (LOGARITHMIC, RECIPROCAL))
        said = (
            f"Down to rank {DEPTH}, {words.share(log)} of the weight of DCG lies below rank {TOP} and {words.share(reciprocal)} of 1/rank: "
            "metrics without a cutoff give much weight to ranks few people see."
        )
        for name, reach in list(self.reach.items())[:1]:
            said += f" Under ERR {words.share(float(reach[TOP - 1]))} of the readers of {name.removeprefix(REACH)} would get to rank {TOP}."
        return said

    def _err(self) -> ERR | None:
        """ERR as it was asked for; else on the scale of the judgments. None without rankings and without relevant documents."""
        scores = self.subject.scores
        if scores is None or not scores.evaluations:
            return None
        asked = next((m for m in scores.metrics if type(m) is ERR), None)
        if asked is not None:
            return asked.having(cutoff=None)
        top = max(float(found.judged[0].grade.max(initial=0.0)) for found in scores.evaluations)
        return ERR(max_grade=top) if 0 < top <= LARGEST else None


def reach_of(judged: Judged, queries: Array, metric: ERR, depth: int = DEPTH) -> Array:
    """The mean share of readers who look at rank 1, 2 ... under ERR, over those of these queries that have a ranking."""
    ranked = queries[judged.retrieved[queries] > 0]
    if not len(ranked):
        return np.full(depth, np.nan)
    looked = []
    inside = np.zeros(len(judged), dtype=bool)
    inside[ranked] = True
    for chunk in judged.chunks():
        here = chunk[inside[chunk]]
        if not len(here):
            continue
        terms = metric.having(cutoff=depth).taken_apart(judged.lists(here))
        stays = np.ones((len(here), depth))
        row, column = np.nonzero(terms.lists.shown)
        stays[row, terms.lists.rank[row, column] - 1] = 1.0 - terms.factors["satisfied here"][row, column]
        reach = np.hstack([np.ones((len(here), 1)), np.cumprod(stays, axis=1)[:, :-1]])
        reach[np.arange(1, depth + 1) > judged.retrieved[here][:, None]] = 0.0
        looked.append(reach)
    return np.array([math.fsum(rank) / len(ranked) for rank in np.vstack(looked).T.tolist()])
