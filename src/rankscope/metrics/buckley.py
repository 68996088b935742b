"""Buckley's experiments in trec_eval, and transformations of other metrics."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated

import numpy as np

from rankscope.declared import Param
from rankscope.lists import Array, Lists, each, log2_discounts, ratio, running, total
from rankscope.metrics.base import Example, Level, Terms, gains_of, largest_first
from rankscope.metrics.gain import _GainMetric
from rankscope.metrics.relevance import _Binary
from rankscope.metrics.trec import FIFTHS, TrecName, pair, two_places

# a name of trec_eval's that takes gains, as in G.1=3.5,2=9
TREC_G = TrecName("G", sets="gain", defaults=("linear",), reads=pair, together=True, plain_too=True)


class RprecMult(_Binary, at="multiple"):
    """Precision at a multiple of the number of known relevant documents."""

    formula = "relevant in the top c / c, with c = floor(x · R + 0.9)"
    convention = (
        "x · R is rounded up from a tenth on, as in trec_eval. Divides by c even if fewer documents were returned"
    )
    source = "trec_eval Rprec_mult"
    best_for = (
        "separating runs that are good at the top from runs that are good at depth, at points that fit each query"
    )
    examples = (Example("RprecMult@0.5", (1, 0, 1, 1), "1 / 2", {"known": 4}),)
    trec = (TrecName("Rprec_mult", sets="multiple", defaults=FIFTHS, reads=float, writes=two_places),)

    multiple: Annotated[
        float | None, Param("how many times the number of known relevant documents", above=0, high=1e6, needed=True)
    ] = None

    def terms(self, lists: Lists) -> Terms:
        deep = np.floor(float(self.multiple or 0) * lists.known(self.level) + 0.9)
        return Terms(lists, {"relevant": lists.relevant(self.level), "within x · R": lists.rank <= deep[:, None]}, deep)


class BinG(_Binary):
    """Relevant documents, each discounted by the logarithm of the number of non-relevant documents above it."""

    formula = "sum over relevant documents of 1/log2(2 + documents above that are not relevant) / known relevant"
    convention = (
        "unjudged documents count as not relevant. Relevant documents above do not lower the value of a document"
    )
    source = "Buckley's experiments of 2008; trec_eval binG"
    best_for = "like AP, but with a smaller penalty for a miss near the top"
    examples = (Example("BinG", (1, 0, 1), "(1 / log2(2) + 1 / log2(3)) / 2"),)
    trec = (TrecName("binG"),)
    additive = False  # earnings depend on the documents above

    def terms(self, lists: Lists) -> Terms:
        relevant = lists.relevant(self.level)
        others = np.where(relevant, lists.rank - running(relevant), 0.0).astype(np.int64)
        factors = {"relevant": relevant, "1/log2(2 + others above)": log2_discounts(others + 1)}
        return Terms(lists, factors, lists.known(self.level))


class G(_GainMetric):
    """Gain, discounted by the distance of the list to the ideal list so far."""

    formula = "sum of gain(grade) / log2(2 + cost - gain, both down to the rank), over the gain of all judged documents"
    convention = (
        "the cost of a rank is the gain of the ideal ranking there, at least 1. Linear gain. Both sums include the "
        "document itself, so that an ideal ranking scores 1"
    )
    source = "Buckley's experiments of 2008; trec_eval G"
    best_for = "grades, if better documents above should not penalise a document, as a discount by rank does"
    examples = (Example("G", (2, 0, 1), "(2 / log2(2) + 1 / log2(2 + (2 + 1 + 1) - (2 + 1))) / 3"),)
    trec = (TREC_G,)
    bounds = (0.0, 1.0)
    monotone = False  # a good document is worth more further down, if the list has caught up with the ideal there
    additive = False  # earnings depend on the documents above

    def terms(self, lists: Lists) -> Terms:
        gain, best = gains_of(lists, self.gain), largest_first(gains_of(lists.ideal, self.gain))
        # a rank costs 1 plus the ideal's gain beyond 1
        beyond = running(np.maximum(best - 1.0, 0.0))
        cost = lists.rank + np.take_along_axis(beyond, _column(lists.rank, best), axis=1)
        behind = np.where(lists.shown, 2.0 + cost - running(gain), 2.0)
        factors = {"gain": gain, "1/log2(2 + behind the ideal)": each(lambda b: 1.0 / math.log2(b), behind)}
        return Terms(lists, factors, total(best))


class RnDCG(_GainMetric):
    """The mean of nDCG at the ranks at which the ideal ranking's gain drops."""

    formula = "mean of nDCG at the depths R1, R1 + R2 ..., the numbers of documents per gain, best first, and at the end of the list"
    convention = (
        "as in trec_eval: the end of the list is a point if more than R + 1 documents were returned, and R "
        "documents have a gain. Depths beyond the end use the returned documents. A query without a document of the level "
        "scores 0"
    )
    source = "Buckley's experiments of 2008; trec_eval Rndcg"
    best_for = "averaging nDCG over queries at comparable points"
    examples = (
        Example("RnDCG", (1, 2), "((1 / log2(2)) / (2 / log2(2)) + (1 + 2 / log2(3)) / (2 + 1 / log2(3))) / 2"),
    )
    trec = (replace(TREC_G, name="Rndcg"),)
    bounds = (0.0, 1.0)

    level: Level = 1.0

    def terms(self, lists: Lists) -> Terms:
        best = largest_first(gains_of(lists.ideal, self.gain))
        ideal = _ideal_so_far(best)
        falls = (best > 0) & (best != np.hstack([best[:, 1:], np.zeros((len(best), 1))]))
        worthy = total(best > 0)
        end = (worthy > 0) & (lists.retrieved > worthy + 1)
        here = _from_here_on(_inverse(np.where(falls, ideal, 0.0)), lists.rank)
        discount = log2_discounts(lists.rank)
        weight = here + (end * _inverse(ideal[:, -1]))[:, None]
        factors = {"gain": gains_of(lists, self.gain), "discount": discount, "points from here on": weight}
        return Terms(lists, factors, (total(falls) + end) * (lists.known(self.level) > 0))


class nDCGRel(_GainMetric):
    """The mean of nDCG at the rank of each document with a gain."""

    formula = "mean over documents with a gain of nDCG at their rank, at the end of the list for documents that were not returned"
    convention = "linear gain. The ideal is cut at the rank at which nDCG is taken, and stays whole beyond its end"
    source = "Buckley's experiments of 2008; trec_eval ndcg_rel"
    best_for = "averaging nDCG over the list as AP averages precision"
    examples = (
        Example(
            "nDCGRel", (0, 1), "((1 / log2(3)) / (1 + 1 / log2(3)) + (1 / log2(3)) / (1 + 1 / log2(3))) / 2",
            {"known": 2},
        ),
    )  # fmt: skip
    trec = (replace(TREC_G, name="ndcg_rel"),)
    bounds = (0.0, 1.0)
    monotone = False  # a document that moves up moves the point at which nDCG is taken
    additive = False  # earnings depend on the documents above

    def terms(self, lists: Lists) -> Terms:
        gain, best = gains_of(lists, self.gain), largest_first(gains_of(lists.ideal, self.gain))
        ideal = _ideal_so_far(best)
        is_relevant = gain > 0
        at_rank = np.where(is_relevant, np.take_along_axis(_inverse(ideal), _column(lists.rank, best), axis=1), 0.0)
        from_here = running(at_rank[:, ::-1])[:, ::-1]
        worthy = total(best > 0)
        at_end = (worthy - total(is_relevant)) * _inverse(ideal[:, -1])
        discount = log2_discounts(lists.rank)
        factors = {"gain": gain, "discount": discount, "points from here on": from_here + at_end[:, None]}
        return Terms(lists, factors, worthy)


class YAAP(_Binary):
    """Average precision as log-odds, so that a mean over queries keeps the extremes."""

    formula = "ln((1 + S) / (1 + R - S)), with S the sum over relevant documents of the precision at their rank"
    convention = "natural logarithm. Below 0 if S is less than half of R, and 0 for a query without a relevant document"
    source = "Robertson, On Smoothing Average Precision, ECIR 2012; trec_eval yaap"
    best_for = "means over easy and hard queries"
    examples = (Example("YAAP", (1, 0, 1), "log((1 + 1 + 2 / 3) / (1 + 2 - 1 - 2 / 3))"),)
    bounds = (-math.inf, math.inf)
    trec = (TrecName("yaap"),)
    empty = "varies"  # lower with more relevant documents
    additive = False  # the mean of a logarithm is not the logarithm of a mean

    def terms(self, lists: Lists) -> Terms:
        relevant, known = lists.relevant(self.level), lists.known(self.level)
        factors = {"relevant": relevant, "precision so far": running(relevant) / lists.rank}
        return Terms(lists, factors, link=lambda total: each(math.log, (1.0 + total) / (1.0 + known - total)))


def _column(rank: Array, best: Array) -> Array:
    """The column of the ideal ranking at the rank of each cell. The last one for ranks beyond it."""
    return np.clip(rank, 1, best.shape[1]) - 1


def _ideal_so_far(best: Array) -> Array:
    """The discounted gain of the ideal ranking down to each rank."""
    rank = np.broadcast_to(np.arange(1, best.shape[1] + 1), best.shape)
    return running(best * log2_discounts(rank))


def _inverse(values: Array) -> Array:
    return ratio(np.ones(values.shape), values)


def _from_here_on(points: Array, rank: Array) -> Array:
    """The sum of the values of ranks 1, 2 ... from each cell's own rank on."""
    rest = running(points[:, ::-1])[:, ::-1]
    return np.where(rank <= points.shape[1], np.take_along_axis(rest, _column(rank, points), axis=1), 0.0)
