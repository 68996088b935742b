"""Metrics of novelty and coverage: documents by subtopic, and the greedy ideal ranking."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from rankscope.declared import Param
from rankscope.lists import Array, Lists, each_rank, log2_discounts, total
from rankscope.metrics.base import Cutoff, Example, JudgedOnly, Level, Metric, NeededCutoff, Terms, over_aspects

CLOSE = 1e-13  # gains closer than this differ only by rounding


def about(lists: Lists, level: float) -> Array:
    """True if a judged document, retrieved or not, is about a subtopic: ``[query, document, subtopic]``."""
    assert lists.pool is not None, "a metric of subtopics declares them in `needs`"
    return np.asarray(lists.pool.shown[:, :, None] & (lists.pool.aspects >= max(level, 0.0)))


def greedy_gains(lists: Lists, level: float, alpha: float, depth: int | None) -> Array:
    """The gain at each rank if every rank takes the judged document with the largest gain.

    A document gains (1 - alpha)^n for each of its subtopics that n documents above it cover. Among equal gains
    the document with the greatest id is taken. In other tools rounding may decide between sums like 0.1 + 1 + 1 and 1 + 1 + 0.1.
    """
    assert lists.pool is not None
    covers, by_id = about(lists, level), lists.pool.by_id
    left = np.asarray(covers.any(axis=2))
    rounds = int(left.sum(axis=1).max(initial=0))
    # the few documents about any subtopic come first, and subtopics one after another
    first = np.argsort(~left, axis=1, kind="stable")[:, : max(rounds, 1)]
    left, by_id = (np.take_along_axis(one, first, axis=1) for one in (left, by_id))
    covers = np.take_along_axis(covers, first[:, :, None], axis=1)
    by_subtopic = np.ascontiguousarray(np.moveaxis(covers, 2, 0), dtype=float)
    rounds = rounds if depth is None else min(depth, rounds)
    worth = np.array([(1.0 - alpha) ** n for n in range(rounds + 1)])
    met = np.zeros((len(covers), covers.shape[2]), dtype=np.int64)
    query = np.arange(len(covers))
    out = np.zeros((len(covers), max(rounds, 1)))
    for place in range(rounds):
        gain = np.zeros(left.shape)
        for covered, of in zip(by_subtopic, worth[met].T, strict=True):
            gain += covered * of[:, None]
        gain = np.where(left, gain, -1.0)
        best = gain.max(axis=1)
        going = best >= 0.0
        equal = gain >= (best - CLOSE * np.abs(best))[:, None]
        chosen = np.where(equal, by_id, -1).argmax(axis=1)
        out[:, place] = np.where(going, gain[query, chosen], 0.0)
        met += covers[query, chosen] & going[:, None]
        left[query, chosen] &= ~going
    return out


Alpha = Annotated[
    float, Param("the share of its gain that a subtopic loses with each document about it", low=0, high=1)
]
Patience = Annotated[float, Param("the chance of going on to the next document", low=0, high=1)]

MAX_OVER_GREEDY = math.e / (math.e - 1)  # the largest possible value relative to the greedy ranking


class _BySubtopic(Metric):
    """Base of metrics of subtopics: a document is about a subtopic if its grade for it reaches the level."""

    level: Level = 1.0
    judged_only: JudgedOnly = False
    needs = frozenset({"subtopics"})
    monotone = False  # the grade does not show the number of subtopics of a document, or if they are new

    def count_seen(self, lists: Lists) -> Array:
        """The number of documents about a subtopic down to each document. 0 if the document is not about it."""
        met = lists.aspects >= max(self.level, 0.0)
        return np.asarray(np.cumsum(met, axis=1) * met)

    def known(self, lists: Lists) -> Array:
        """The number of judged documents about each subtopic."""
        return np.asarray(about(lists, self.level).sum(axis=1), dtype=float)

    def subtopics(self, lists: Lists) -> Array:
        """The number of subtopics of each query with at least one judged document about them."""
        return np.asarray((self.known(lists) > 0).sum(axis=1), dtype=float)


class StRecall(_BySubtopic, aliases=("SubtopicRecall", "S_recall", "strec", "S-Recall")):
    """The share of the query's subtopics that the first k documents cover."""

    formula = "subtopics met in the top k / subtopics"
    convention = "a subtopic with no relevant document does not count"
    source = "Zhai, Cohen and Lafferty, Beyond independent relevance, SIGIR 2003; ndeval strec"
    best_for = "ambiguous queries: is each meaning covered?"
    examples = (
        Example("StRecall@2", ({"a": 1}, {"a": 1}, {"b": 1, "c": 1}), "1 / 3"),
        Example("StRecall@3", ({"a": 1}, {"a": 1}, {"b": 1, "c": 1}), "3 / 3"),
    )
    positions = False

    cutoff: Cutoff = None

    def terms(self, lists: Lists) -> Terms:
        fresh = (self.count_seen(lists) == 1).sum(axis=2)
        return Terms(lists, {"new subtopics": fresh.astype(float)}, self.subtopics(lists))


class P_IA(_BySubtopic, aliases=("P-IA", "Precision-IA")):
    """Precision for each subtopic, averaged over the subtopics."""

    formula = "mean over subtopics of (documents about it in the top k / k)"
    convention = "all subtopics weigh the same. Divides by k even if fewer documents were returned"
    source = "Agrawal et al., Diversifying search results, WSDM 2009; ndeval P-IA"
    best_for = "the share of a page that serves a reader with one subtopic in mind"
    examples = (Example("P_IA@2", ({"a": 1}, {"a": 1, "b": 1}, {"c": 1}), "(2/2 + 1/2 + 0/2) / 3"),)
    positions = False

    cutoff: NeededCutoff = None

    def terms(self, lists: Lists) -> Terms:
        covered = (self.count_seen(lists) > 0).sum(axis=2)
        return Terms(lists, {"subtopics": covered.astype(float)}, self.subtopics(lists) * float(self.cutoff or 0))


class AP_IA(_BySubtopic, aliases=("MAP_IA", "MAP-IA")):
    """Average precision for each subtopic, averaged over the subtopics."""

    formula = "mean over subtopics of AP, with only the documents about the subtopic relevant"
    convention = (
        "all subtopics weigh the same. Each AP divides by all known documents about its subtopic, also with a cutoff"
    )
    source = "Agrawal et al., Diversifying search results, WSDM 2009; ndeval MAP-IA"
    best_for = "finding all documents about every subtopic, not only one about each"
    examples = (Example("AP_IA", ({"a": 1}, {"b": 1}, {"a": 1, "b": 1}), "((1/1 + 2/3) / 2 + (1/2 + 2/3) / 2) / 2"),)

    cutoff: Cutoff = None

    def terms(self, lists: Lists) -> Terms:
        known = np.maximum(self.known(lists), 1.0)[:, None, :]
        recall = over_aspects(self.count_seen(lists) / known)
        return Terms(lists, {"recall of its subtopics": recall, "1/rank": 1.0 / lists.rank}, self.subtopics(lists))


class _Novelty(_BySubtopic):
    """Base of metrics in which a subtopic gains less with each document about it."""

    alpha: Alpha = 0.5

    def discounts(self, rank: Array) -> Array:
        """The weight of each rank."""
        return 1.0 / rank

    def worth_when_met(self, times: int) -> float:
        """The gain of a subtopic that is met for the n-th time."""
        return (1.0 - self.alpha) ** (times - 1)

    def factors(self, lists: Lists) -> dict[str, Array]:
        gain = over_aspects(each_rank(self.worth_when_met, self.count_seen(lists)))
        return {"gain": gain, "discount": self.discounts(lists.rank)}


class _OfAllSubtopics(_Novelty):
    """Base of metrics divided by the earnings of k documents about every subtopic."""

    cutoff: NeededCutoff = None

    def terms(self, lists: Lists) -> Terms:
        # after this many documents, a subtopic adds nothing to the last bit
        enough = 50.0 / self.alpha + 1.0 if self.alpha > 0 else math.inf
        rank = np.arange(1, int(min(self.cutoff or 1, enough)) + 1)[None, :]
        of_one = float(total(each_rank(self.worth_when_met, rank) * self.discounts(rank))[0])
        return Terms(lists, self.factors(lists), self.subtopics(lists) * of_one)


class _OfGreedy(_Novelty):
    """Base of metrics divided by the earnings of the greedy ranking."""

    convention = (
        "the greedy ranking takes the highest gain at each rank (the greater document id among equal gains). Some rankings "
        "beat it, so values above 1 are possible"
    )

    cutoff: Cutoff = None
    needs = frozenset({"subtopics", "identities"})

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to e / (e - 1), as a ranking may beat the greedy one."""
        return (0.0, 1.0 if self.alpha == 0 or self.cutoff == 1 else MAX_OVER_GREEDY)

    def terms(self, lists: Lists) -> Terms:
        gain = greedy_gains(lists, self.level, self.alpha, self.cutoff)
        rank = np.arange(1, gain.shape[1] + 1)[None, :]
        return Terms(lists, self.factors(lists), total(gain * self.discounts(rank)))


class ERR_IA(_OfAllSubtopics, aliases=("ERR-IA",)):
    """ERR for a reader who means one of the subtopics: one divided by the rank that satisfies the reader."""

    formula = "sum over ranks of (1/rank) · gain / the same of k documents about every subtopic; gain = sum over subtopics of (1 - alpha)^(times met above)"
    convention = (
        "alpha is the probability that a document about the subtopic ends the search, at any grade; "
        "normalised also at k = 1, unlike in ndeval"
    )
    source = (
        "Chapelle et al., Intent-based diversification of web search results, Information Retrieval 2011; ndeval ERR-IA"
    )
    best_for = "ambiguous web queries, if values are compared between collections"
    examples = (
        Example("ERR_IA@1", ({"a": 1}, {"b": 1}), "1 / 2"),
        Example("ERR_IA@2", ({"a": 1}, {"a": 1, "b": 1}), "(1 + (1 + 0.5) / 2) / (2 + 2 * 0.5 / 2)"),
    )


class nERR_IA(_OfGreedy, aliases=("nERR-IA",)):
    """ERR_IA divided by its value for a greedy ranking."""

    formula = "sum over ranks of (1/rank) · gain / the same of the greedy ranking; gain = sum over subtopics of (1 - alpha)^(times met above)"
    source = "Chapelle et al., Intent-based diversification of web search results, Information Retrieval 2011; ndeval nERR-IA"
    best_for = "ambiguous web queries, with equal weight for every query"
    examples = (Example("nERR_IA@2", ({"a": 1}, {"a": 1, "b": 1}), "(1 + (1 + 0.5) / 2) / (2 + 0.5 / 2)"),)


class alpha_DCG(_OfAllSubtopics, aliases=("alpha-DCG", "α_DCG", "α-DCG")):
    """Discounted gain in which a subtopic gains less with each document about it."""

    formula = "sum of gain / log2(rank + 1), over the same of k documents about every subtopic; gain = sum over subtopics of (1 - alpha)^(times met above)"
    convention = "divided by the gain of k documents about every subtopic, as in ndeval, which does not divide at k = 1"
    source = "Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR 2008; ndeval alpha-DCG"
    best_for = "novelty and diversity, if values are compared between collections"
    examples = (
        Example("alpha_DCG@1", ({"a": 1}, {"b": 1}), "1 / 2"),
        Example("alpha_DCG@2", ({"a": 1}, {"a": 1, "b": 1}), "(1 + (1 + 0.5) / log2(3)) / (2 + 2 * 0.5 / log2(3))"),
    )
    discounts = staticmethod(log2_discounts)


class alpha_nDCG(_OfGreedy, aliases=("alpha-nDCG", "α_nDCG", "α-nDCG")):
    """Discounted gain by subtopic, divided by its value for a greedy ranking (alpha_DCG as a share)."""

    formula = "sum of gain / log2(rank + 1), over the same of the greedy ranking; gain = sum over subtopics of (1 - alpha)^(times met above)"
    source = "Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR 2008; ndeval alpha-nDCG"
    best_for = "novelty and diversity: the usual first choice"
    examples = (
        Example("alpha_nDCG@2", ({"a": 1}, {"a": 1, "b": 1}), "(1 + (1 + 0.5) / log2(3)) / (2 + 0.5 / log2(3))"),
        Example(
            "alpha_nDCG(alpha=0)@2", ({"a": 1}, {"b": 1}, {"a": 1, "b": 1}), "(1 + 1 / log2(3)) / (2 + 1 / log2(3))"
        ),
    )
    discounts = staticmethod(log2_discounts)


class NRBP(_Novelty):
    """The gain of a reader who goes on with a fixed probability, if a subtopic gains less with each document about it."""

    formula = "(1 - (1 - alpha) · beta) · sum of gain · beta^(rank - 1) / subtopics; gain = sum over subtopics of (1 - alpha)^(times met above)"
    convention = "a value of 1 needs infinitely many documents about every subtopic. Always 0 for alpha=0 with beta=1"
    source = "Clarke, Kolla and Vechtomova, An effectiveness measure for ambiguous and underspecified queries, ICTIR 2009; ndeval NRBP"
    best_for = "ambiguous queries, without a cutoff to choose"
    examples = (Example("NRBP", ({"a": 1}, {"a": 1, "b": 1}), "(1 - 0.5 * 0.5) * (1 + (1 + 0.5) * 0.5) / 2"),)

    beta: Patience = 0.5
    cutoff: Cutoff = None

    def discounts(self, rank: Array) -> Array:
        """The share of readers who reach a rank, normalised to an upper limit of 1."""
        return each_rank(lambda r: (1.0 - (1.0 - self.alpha) * self.beta) * self.beta ** (r - 1), rank)

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, self.factors(lists), self.subtopics(lists))


class nNRBP(_OfGreedy):
    """NRBP divided by its value for a greedy ranking."""

    formula = "sum of gain · beta^(rank - 1), over the same of the greedy ranking; gain = sum over subtopics of (1 - alpha)^(times met above)"
    source = "Clarke, Kolla and Vechtomova, An effectiveness measure for ambiguous and underspecified queries, ICTIR 2009; ndeval nNRBP"
    best_for = "ambiguous queries, without a cutoff to choose, with equal weight for every query"
    examples = (Example("nNRBP", ({"a": 1}, {"a": 1, "b": 1}), "(1 + (1 + 0.5) * 0.5) / (2 + 0.5 * 0.5)"),)

    beta: Patience = 0.5

    def discounts(self, rank: Array) -> Array:
        """The share of readers who reach a rank."""
        return each_rank(lambda r: self.beta ** (r - 1), rank)
