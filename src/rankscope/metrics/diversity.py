"""Documents by the subtopics they are about, and the ranking that a greedy reader would make of them."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from rankscope.declared import Param
from rankscope.lists import Array, Lists, by_rank, log2_discounts, total
from rankscope.metrics.base import Cutoff, Example, JudgedOnly, Level, Metric, NeededCutoff, Terms

CLOSE = 1e-13  # gains closer than this differ by rounding alone


def about(lists: Lists, level: float) -> Array:
    """Which subtopics each judged document is about, retrieved or not: ``[query, document, subtopic]``."""
    assert lists.pool is not None, "a metric that looks at subtopics says so in `needs`"
    return np.asarray(lists.pool.shown[:, :, None] & (lists.pool.aspects >= max(level, 0.0)))


def marginal_gain(by_subtopic: Array) -> Array:
    """The sum over subtopics, one after another, so that no query's numbers depend on its neighbours'."""
    return np.asarray(np.cumsum(by_subtopic, axis=2, dtype=float)[:, :, -1])


class _Kinds(NamedTuple):
    """The documents of each query by kind: those about the same subtopics, which gain the same wherever they stand.

    ``[query, kind]``: the documents of a kind are a stretch of ``by_id``, greatest first, of which the next
    stands at ``following`` and ``left`` are left. ``covers[subtopic, query, kind]`` is 1 or 0.
    """

    by_id: Array
    following: Array
    left: Array
    covers: Array


def _kinds(lists: Lists, level: float) -> _Kinds:
    which = about(lists, level)
    query, doc = np.nonzero(which.any(axis=2))
    assert lists.pool is not None
    subtopics, by_id = which[query, doc], lists.pool.by_id[query, doc]
    kind = np.unique(np.packbits(subtopics, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    order = np.lexsort((-by_id, kind, query))
    query, kind = query[order], kind[order]

    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (query[1:] != query[:-1]) | (kind[1:] != kind[:-1])
    start = np.flatnonzero(fresh)
    row = query[start]
    column = np.arange(len(start)) - np.searchsorted(row, row)
    shape = (len(which), int(column.max(initial=0)) + 1)
    following = np.zeros(shape, dtype=np.int64)
    following[row, column] = start
    left = np.zeros(shape, dtype=np.int64)
    left[row, column] = np.diff(start, append=len(order))
    covers = np.zeros((which.shape[2], *shape))
    covers[:, row, column] = subtopics[order[start]].T
    # one more, where the next document is past the last
    return _Kinds(np.append(by_id[order], -1), following, left, covers)


def greedy_gains(lists: Lists, level: float, alpha: float, depth: int | None) -> Array:
    """The gain at each rank when every rank takes the document, of all judged ones, that gains most there.

    A document gains (1 - alpha)^n for each of its subtopics that n documents above it are about. Of
    documents that gain the same, the one with the greatest id is taken; other tools may let rounding decide
    between sums such as 0.1 + 1 + 1 and 1 + 1 + 0.1.
    """
    by_id, following, left, covers = _kinds(lists, level)
    rounds = int(left.sum(axis=1).max(initial=0))
    rounds = rounds if depth is None else min(depth, rounds)
    worth = np.array([(1.0 - alpha) ** n for n in range(rounds + 1)])
    met = np.zeros(covers.shape[:2], dtype=np.int64)
    query = np.arange(len(left))
    out = np.zeros((len(left), max(rounds, 1)))
    for place in range(rounds):
        gain = np.zeros(left.shape)
        for covered, weight in zip(covers, worth[met], strict=True):
            gain += covered * weight[:, None]
        gain[left == 0] = -1.0
        best = gain.max(axis=1)
        going = best >= 0.0
        equal = gain >= (best - CLOSE * np.abs(best))[:, None]
        chosen = np.where(equal, by_id[following], -1).argmax(axis=1)
        out[:, place] = np.where(going, gain[query, chosen], 0.0)
        met += np.where(going, covers[:, query, chosen], 0.0).astype(np.int64)
        left[query, chosen] -= going
        following[query, chosen] += going
    return out


# --- metrics over the subtopics of a query: novelty and coverage ---------------------------------------


Alpha = Annotated[float, Param("the share of its worth that a subtopic loses each time it is met", low=0, high=1)]
Patience = Annotated[float, Param("the chance of going on to the next document", low=0, high=1)]

GREEDY = math.e / (math.e - 1)  # no ranking earns more than this many times what the greedy one does


class _BySubtopic(Metric):
    """A document is about the subtopics for which its grade reaches the level."""

    level: Level = 1.0
    judged_only: JudgedOnly = False
    needs = frozenset({"subtopics"})  # a grade for each subtopic
    # not by grade, which does not say how many subtopics a document is about, or how new they are
    monotone = False

    def count_seen(self, lists: Lists) -> Array:
        """How often a subtopic has been met down to each document, 0 where the document is not about it."""
        met = lists.aspects >= max(self.level, 0.0)
        return np.asarray(np.cumsum(met, axis=1) * met)

    def known(self, lists: Lists) -> Array:
        """How many judged documents are about each subtopic."""
        return np.asarray(about(lists, self.level).sum(axis=1), dtype=float)

    def subtopics(self, lists: Lists) -> Array:
        """How many subtopics each query has; one that no judged document is about does not count."""
        return np.asarray((self.known(lists) > 0).sum(axis=1), dtype=float)


class StRecall(_BySubtopic, aliases=("SubtopicRecall", "S_recall", "strec", "S-Recall")):
    """The share of the query's subtopics that the first k documents cover."""

    formula = "subtopics met in the top k / subtopics"
    convention = "a subtopic with no relevant document does not count"
    source = "Zhai, Cohen and Lafferty, Beyond independent relevance, SIGIR 2003; ndeval strec"
    best_for = "ambiguous queries: is each meaning covered at all?"
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
    convention = "all subtopics weigh the same; divides by k even where fewer documents were returned"
    source = "Agrawal et al., Diversifying search results, WSDM 2009; ndeval P-IA"
    best_for = "how much of a page serves a reader who means one of the subtopics"
    examples = (Example("P_IA@2", ({"a": 1}, {"a": 1, "b": 1}, {"c": 1}), "(2/2 + 1/2 + 0/2) / 3"),)
    positions = False

    cutoff: NeededCutoff = None

    def terms(self, lists: Lists) -> Terms:
        covered = (self.count_seen(lists) > 0).sum(axis=2)
        return Terms(lists, {"subtopics": covered.astype(float)}, self.subtopics(lists) * float(self.cutoff or 0))


class AP_IA(_BySubtopic, aliases=("MAP_IA", "MAP-IA")):
    """Average precision for each subtopic, averaged over the subtopics."""

    formula = "mean over subtopics of AP, in which only the documents about it are relevant"
    convention = (
        "all subtopics weigh the same; each AP divides by all known documents about its subtopic, also with a cutoff"
    )
    source = "Agrawal et al., Diversifying search results, WSDM 2009; ndeval MAP-IA"
    best_for = "finding everything about every subtopic, not one document about each"
    examples = (Example("AP_IA", ({"a": 1}, {"b": 1}, {"a": 1, "b": 1}), "((1/1 + 2/3) / 2 + (1/2 + 2/3) / 2) / 2"),)

    cutoff: Cutoff = None

    def terms(self, lists: Lists) -> Terms:
        known = np.maximum(self.known(lists), 1.0)[:, None, :]
        recall = marginal_gain(self.count_seen(lists) / known)
        return Terms(lists, {"recall of its subtopics": recall, "1/rank": 1.0 / lists.rank}, self.subtopics(lists))


class _Novelty(_BySubtopic):
    """A subtopic is worth less each time it is met."""

    alpha: Alpha = 0.5

    def discounts(self, rank: Array) -> Array:
        """What each rank is worth."""
        return 1.0 / rank

    def worth_when_met(self, times: int) -> float:
        """What a subtopic is worth that is met for this many times."""
        return (1.0 - self.alpha) ** (times - 1)

    def factors(self, lists: Lists) -> dict[str, Array]:
        gain = marginal_gain(by_rank(self.worth_when_met, self.count_seen(lists)))
        return {"gain": gain, "discount": self.discounts(lists.rank)}


class _OfAllSubtopics(_Novelty):
    """Out of what k documents would earn that are each about every subtopic."""

    cutoff: NeededCutoff = None

    def terms(self, lists: Lists) -> Terms:
        # what is met more often than this is worth nothing to the last bit
        enough = 50.0 / self.alpha + 1.0 if self.alpha > 0 else math.inf
        rank = np.arange(1, int(min(self.cutoff or 1, enough)) + 1)[None, :]
        of_one = float(total(by_rank(self.worth_when_met, rank) * self.discounts(rank))[0])
        return Terms(lists, self.factors(lists), self.subtopics(lists) * of_one)


class _OfGreedy(_Novelty):
    """Out of what a ranking earns that takes the document of the highest gain at each rank."""

    convention = (
        "the greedy ranking takes the highest gain at each rank (of equal gains the greater document id) and may be "
        "beaten, so values above 1 are possible"
    )

    cutoff: Cutoff = None
    # a grade for each subtopic; and ids, by which documents of equal gain are told apart
    needs = frozenset({"subtopics", "identities"})

    @property
    def range(self) -> tuple[float, float]:
        """Above 1 where a ranking beats the greedy one, by no more than e / (e - 1)."""
        return (0.0, 1.0 if self.alpha == 0 or self.cutoff == 1 else GREEDY)

    def terms(self, lists: Lists) -> Terms:
        gain = greedy_gains(lists, self.level, self.alpha, self.cutoff)
        rank = np.arange(1, gain.shape[1] + 1)[None, :]
        return Terms(lists, self.factors(lists), total(gain * self.discounts(rank)))


class ERR_IA(_OfAllSubtopics, aliases=("ERR-IA",)):
    """ERR for a reader who means one of the subtopics: one divided by the rank where that reader is satisfied."""

    formula = "sum over ranks of (1/rank) · gain / the same of k documents about every subtopic; gain = sum over subtopics of (1 - alpha)^(times met above)"
    convention = (
        "alpha is the probability that a document about the subtopic ends the search, whatever its grade; "
        "normalised at k = 1 too, unlike in ndeval"
    )
    source = (
        "Chapelle et al., Intent-based diversification of web search results, Information Retrieval 2011; ndeval ERR-IA"
    )
    best_for = "ambiguous web queries, when values are to be compared between collections"
    examples = (
        Example("ERR_IA@1", ({"a": 1}, {"b": 1}), "1 / 2"),
        Example("ERR_IA@2", ({"a": 1}, {"a": 1, "b": 1}), "(1 + (1 + 0.5) / 2) / (2 + 2 * 0.5 / 2)"),
    )


class nERR_IA(_OfGreedy, aliases=("nERR-IA",)):
    """ERR_IA as a share of a greedy ranking's."""

    formula = "sum over ranks of (1/rank) · gain / the same of the greedy ranking; gain = sum over subtopics of (1 - alpha)^(times met above)"
    source = "Chapelle et al., Intent-based diversification of web search results, Information Retrieval 2011; ndeval nERR-IA"
    best_for = "ambiguous web queries, every query weighing the same"
    examples = (Example("nERR_IA@2", ({"a": 1}, {"a": 1, "b": 1}), "(1 + (1 + 0.5) / 2) / (2 + 0.5 / 2)"),)


class alpha_DCG(_OfAllSubtopics, aliases=("alpha-DCG", "α_DCG", "α-DCG")):
    """Discounted gain in which a subtopic is worth less each time it is covered."""

    formula = "sum of gain / log2(rank + 1), over the same of k documents about every subtopic; gain = sum over subtopics of (1 - alpha)^(times met above)"
    convention = (
        "a share of what k documents about every subtopic would gain, as in ndeval, which does not divide at k = 1"
    )
    source = "Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR 2008; ndeval alpha-DCG"
    best_for = "novelty and diversity, when values are to be compared between collections"
    examples = (
        Example("alpha_DCG@1", ({"a": 1}, {"b": 1}), "1 / 2"),
        Example("alpha_DCG@2", ({"a": 1}, {"a": 1, "b": 1}), "(1 + (1 + 0.5) / log2(3)) / (2 + 2 * 0.5 / log2(3))"),
    )
    discounts = staticmethod(log2_discounts)


class alpha_nDCG(_OfGreedy, aliases=("alpha-nDCG", "α_nDCG", "α-nDCG")):
    """Discounted gain in which a subtopic is worth less each time it is covered, as a share of a greedy ranking's."""

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
    """The gain of a reader who goes on with a fixed probability, where a subtopic is worth less each time it is covered."""

    formula = "(1 - (1 - alpha) · beta) · sum of gain · beta^(rank - 1) / subtopics; gain = sum over subtopics of (1 - alpha)^(times met above)"
    convention = (
        "a value of 1 would take infinitely many documents about every subtopic; always 0 for alpha=0 with beta=1"
    )
    source = "Clarke, Kolla and Vechtomova, An effectiveness measure for ambiguous and underspecified queries, ICTIR 2009; ndeval NRBP"
    best_for = "ambiguous queries, without a cutoff to choose"
    examples = (Example("NRBP", ({"a": 1}, {"a": 1, "b": 1}), "(1 - 0.5 * 0.5) * (1 + (1 + 0.5) * 0.5) / 2"),)

    beta: Patience = 0.5
    cutoff: Cutoff = None

    def discounts(self, rank: Array) -> Array:
        """Who reads this far, over how far anyone could."""
        return by_rank(lambda r: (1.0 - (1.0 - self.alpha) * self.beta) * self.beta ** (r - 1), rank)

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, self.factors(lists), self.subtopics(lists))


class nNRBP(_OfGreedy):
    """NRBP as a share of a greedy ranking's."""

    formula = "sum of gain · beta^(rank - 1), over the same of the greedy ranking; gain = sum over subtopics of (1 - alpha)^(times met above)"
    source = "Clarke, Kolla and Vechtomova, An effectiveness measure for ambiguous and underspecified queries, ICTIR 2009; ndeval nNRBP"
    best_for = "ambiguous queries, without a cutoff to choose, every query weighing the same"
    examples = (Example("nNRBP", ({"a": 1}, {"a": 1, "b": 1}), "(1 + (1 + 0.5) * 0.5) / (2 + 0.5 * 0.5)"),)

    beta: Patience = 0.5

    def discounts(self, rank: Array) -> Array:
        """Who reads this far."""
        return by_rank(lambda r: self.beta ** (r - 1), rank)
