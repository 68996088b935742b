"""Metrics estimated from a stratified sample of the pool."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rankscope.lists import Array, Lists, log2_discounts, ratio, running, total
from rankscope.metrics.base import Cutoff, Example, Gain, Level, Metric, Terms, gains, gains_of, over_aspects
from rankscope.metrics.pooled import SMALL

DESIGN = (
    "every pooled document is in the qrels with its stratum (column 4 of the qrels of sample_eval, or a column named stratum). A document that was "
    "not sampled has a negative grade. Within a stratum all documents have the same chance to be sampled"
)
TWO = {"a": -1}  # a document of stratum a that was not sampled


class Strata:
    """The strata of the pool of each query: ``size``, ``sampled`` documents, and the stratum of each retrieved cell."""

    def __init__(self, lists: Lists) -> None:
        pool = lists.pool
        assert pool is not None, "a metric of strata declares them in `needs`"
        self.lists, self.pool = lists, pool
        has = ~np.isnan(pool.aspects) & pool.shown[:, :, None]
        self.of_pool = has & (np.cumsum(has, axis=2) == 1)
        self.of_cell = self.of_pool[:, : lists.shown.shape[1]] & lists.shown[:, :, None]

    def count(self, documents: Array) -> Array:
        """The number of these documents of the pool in each stratum."""
        return np.asarray((self.of_pool & documents[:, :, None]).sum(axis=1), dtype=float)

    @cached_property
    def weight(self) -> Array:
        """The number of documents that a sampled document of each stratum stands for."""
        return ratio(self.count(self.pool.shown), self.count(self.pool.grade >= 0))

    def at_cells(self, by_stratum: Array) -> Array:
        """The number of its stratum at each retrieved cell, 0 elsewhere."""
        return over_aspects(self.of_cell * by_stratum[:, None, :])

    def at_pool(self, by_stratum: Array) -> Array:
        """The number of its stratum at each document of the pool."""
        return over_aspects(self.of_pool * by_stratum[:, None, :])

    def above(self, cells: Array) -> Array:
        """The number of these cells above each cell, by stratum."""
        inside = self.of_cell & cells[:, :, None]
        return np.asarray(np.cumsum(inside, axis=1) - inside, dtype=float)


class _Sampled(Metric):
    """Base of metrics of strata."""

    needs = frozenset({"strata"})
    monotone = False  # a document moves with its stratum
    settled_by_grade = False

    cutoff: Cutoff = None


class xinfAP(_Sampled, aliases=("xInfAP", "ExtendedInferredAP")):
    """Average precision, estimated from a sample of the pool that was drawn at a different rate in each stratum."""

    formula = (
        "sum over sampled relevant of weight · (1/r + 1/r · sum over strata of pooled above · (relevant above + e) / (sampled above + 3e)) / "
        "sum of their weights; weight = documents / sampled documents of the stratum"
    )
    convention = f"{DESIGN}. e = 0.00001, and 3e as in sample_eval: with one stratum it is infAP, which has 2e. sample_eval reads 1,000 ranks: @1000"
    source = "Yilmaz, Kanoulas and Aslam, A simple and efficient sampling method for estimating AP and NDCG, SIGIR 2008; sample_eval.pl infAP"
    best_for = "TREC and TRECVID tracks with sampled judgments"
    not_for = "complete judgments: AP gives the value without estimating"
    examples = (
        Example(
            "xinfAP",
            ({"a": 1}, {"b": 0}, TWO, {"a": 1}),
            "(1 + 1/4 * (1 + 2 * 1.00001 / 1.00003 + 0.00001 / 1.00003)) / 2",
        ),
    )

    level: Level = 1.0

    def terms(self, lists: Lists) -> Terms:
        strata, relevant = Strata(lists), lists.relevant(self.level)
        rate = (strata.above(relevant) + SMALL) / (strata.above(lists.judged) + 3 * SMALL)
        expected = over_aspects(strata.above(lists.shown) * rate)
        factors = {
            "relevant": relevant,
            "documents it stands for": strata.at_cells(strata.weight),
            "precision expected": (1.0 + expected) / lists.rank,
        }
        is_relevant = strata.pool.grade >= max(self.level, 0.0)
        return Terms(lists, factors, total(strata.count(is_relevant) * strata.weight))


class infNDCG(_Sampled, aliases=("InferredNDCG", "infnDCG")):
    """Graded gain with discount (nDCG), estimated from a sample of the pool drawn at a different rate in each stratum."""

    formula = (
        "sum over strata of retrieved / retrieved and sampled · sum of gain / log2(rank + 1), over the same of an ideal ranking with "
        "estimated numbers of documents of each grade"
    )
    convention = f"{DESIGN}. The numbers of the ideal are rounded to whole documents, as in sample_eval. A small sample may give more than 1. sample_eval reads 1,000 ranks: @1000"
    source = xinfAP.source.replace("infAP", "infNDCG")
    best_for = "TREC tracks with sampled graded judgments, as precision medicine and clinical decision support"
    not_for = "complete judgments: nDCG gives the value without estimating"
    examples = (
        Example("infNDCG", ({"a": 2}, {"b": 1}, TWO), "(2/1 * 2 + 1 / log2(3)) / (2 + 2 / log2(3) + 1 / log2(4))"),
    )
    relevance = "graded"
    bounds = (0.0, float("inf"))

    gain: Gain = "linear"

    def terms(self, lists: Lists) -> Terms:
        strata = Strata(lists)
        retrieved = np.asarray(strata.of_cell.sum(axis=1), dtype=float)
        sampled = np.asarray((strata.of_cell & lists.judged[:, :, None]).sum(axis=1), dtype=float)
        factors = {
            "gain": gains_of(lists, self.gain),
            "documents it stands for": strata.at_cells(ratio(retrieved, sampled)),
            "discount": log2_discounts(lists.rank),
        }
        return Terms(lists, factors, self._ideal(strata))

    def _ideal(self, strata: Strata) -> Array:
        pool, out = strata.pool, np.zeros(len(strata.lists))
        gain = np.where(pool.shown & (pool.grade >= 0), gains(pool.grade, self.gain), 0.0)
        weight = strata.at_pool(strata.weight)
        for query in np.flatnonzero((gain > 0).any(axis=1)).tolist():
            at, worth = 0, 0.0
            for one in sorted({*gain[query].tolist()} - {0.0}, reverse=True):
                number = int(running(np.where(gain[query] == one, weight[query], 0.0)[None, :])[0, -1] + 0.5)
                ranks = np.arange(at + 1, min(at + number, self.cutoff or at + number) + 1)
                worth += one * float(total(log2_discounts(ranks)[None, :])[0]) if len(ranks) else 0.0
                at += number
            out[query] = worth
        return out
