"""Metrics over pairs of a better and a worse document: which of the two scores higher."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.errors import InputError
from rankscope.lists import Array, Judged, Lists, ratio, running, total
from rankscope.metrics.base import Cutoff, Example, Level, Metric, Terms

SingleClass = Annotated[
    float | Literal["skip"],
    Param("the value of a query without pairs. 'skip' leaves it out of the mean", low=0, high=1),
]


class _PairMetric(Metric):
    """Base of shares of pairs, which a query may lack."""

    single_class: SingleClass = "skip"

    @property
    def settled_by_grade(self) -> bool:
        """False if an order may leave one class only, which has its own value."""
        return self.monotone and self.single_class == "skip"

    @property
    def empty(self) -> float | Literal["varies"] | None:
        """The value of a query without pairs."""
        return None if self.single_class == "skip" else self.single_class

    def of_pairs(self, lists: Lists, factors: dict[str, Array], pairs: Array) -> Terms:
        """The share of the pairs, or the value of a query without pairs."""
        if self.single_class == "skip":
            return Terms(lists, factors, pairs, defined=pairs > 0)
        return Terms(lists, factors, pairs, base=np.where(pairs > 0, 0.0, self.single_class))


class AUC(_PairMetric, aliases=("ROC_AUC", "uAUC", "ROC-AUC")):
    """The probability that a relevant document scores above a non-relevant one, both judged and retrieved."""

    formula = "pairs with the relevant document above (ties half) / pairs"
    convention = (
        "only pairs of judged, retrieved documents count, so it ignores missed documents (LAUC counts them). A query "
        "with one class only is undefined: left out of the mean and counted. single_class=0, 0.5 or 1 gives it a "
        "value. pooled=True makes one curve of the documents of all queries, with scores that must be comparable "
        "across queries"
    )
    source = "Hanley and McNeil, The meaning and use of the area under a receiver operating characteristic (ROC) curve, Radiology 1982"
    best_for = "click models and classifiers that rank a given list"
    not_for = "missed documents, which are in no pair"
    examples: ClassVar[tuple[Example, ...]] = (
        Example("AUC", (1, 0, 1, 0), "3 / 4"),
        Example("AUC(single_class=0.5)", (0, 0), "1 / 2"),
        Example("AUC@3", (1, 0, 1, 0), "1 / 2"),
    )

    of_sample = True  # a uniform sample of the negatives leaves the mean as it is

    cutoff: Cutoff = None
    level: Level = 1.0
    pooled: Annotated[bool, Param("one value over the documents of all queries, instead of a mean over queries")] = (
        False
    )

    @property
    def aggregate(self) -> Literal["mean", "weighted", "pooled"]:  # type: ignore[override]
        """The mean over queries that have both classes, or one pooled value."""
        return "pooled" if self.pooled else "mean"

    @property
    def monotone(self) -> bool:
        """False with a cutoff: one more relevant document, low in the top k, has non-relevant ones above it."""
        return self.cutoff is None

    @property
    def counts_ties(self) -> bool:
        """True without a cutoff, which may part a tie: a half is the mean over the orders of a pair."""
        return self.cutoff is None

    @property
    def needs(self) -> frozenset[str]:  # type: ignore[override]
        """Scores, if documents of all queries are pooled."""
        return frozenset({"score"}) if self.pooled else frozenset()

    def classes(self, lists: Lists) -> tuple[Array, Array]:
        """Relevant and non-relevant among the documents that are judged and retrieved."""
        relevant = lists.relevant(self.level)
        return relevant, lists.judged & ~relevant

    def terms(self, lists: Lists) -> Terms:
        relevant, other = self.classes(lists)
        spared = np.where(relevant, below(other, lists.tie_start), 0.0)
        return self.of_pairs(
            lists, {"relevant": relevant, "non-relevant below": spared}, total(relevant) * total(other)
        )

    def pooled_documents(self, judged: Judged) -> tuple[Array, Array, Array]:
        """The judged documents that were retrieved: query, score, and relevance."""
        is_listed = (judged.rank > 0) & (judged.rank <= (self.cutoff or np.inf)) & (judged.grade >= 0)
        return judged.query[is_listed], np.asarray(judged.score)[is_listed], judged.grade[is_listed] >= self.level

    def pool(self, judged: Judged) -> float:
        """The area under one curve over all queries."""
        _, score, is_relevant = self.pooled_documents(judged)
        relevant = is_relevant.astype(float)
        distinct, number = np.unique(score, return_inverse=True)
        positive = np.bincount(number, weights=relevant, minlength=len(distinct))
        negative = np.bincount(number, weights=1.0 - relevant, minlength=len(distinct))
        pairs = positive.sum() * negative.sum()
        lower = np.cumsum(negative) - negative
        if not pairs:
            return float("nan") if self.single_class == "skip" else float(self.single_class)
        return float((positive * (lower + negative / 2)).sum() / pairs)


class GAUC(AUC, aliases=("gAUC", "GroupAUC", "wuAUC")):
    """AUC of each query, averaged with weights, so that busy users count more."""

    formula = "sum of weight · AUC / sum of weights, over queries with both classes"
    convention = (
        "the weights are list lengths (impressions) by default. weights='positives', 'pairs' or 'equal' give other "
        "numbers. single_class=0 or 0.5 does too, for queries with one class, which are otherwise left out"
    )
    source = "Zhu et al., Optimized Cost per Click in Taobao Display Advertising, KDD 2017"
    best_for = "click-through models: order within a user's list, ignoring differences between users"
    not_for = "missed documents, which are in no pair"
    examples = (Example("GAUC", (1, 0, 1, 0), "3 / 4"),)

    weights: Annotated[Literal["length", "positives", "pairs", "equal"], Param("the weight of a query")] = "length"

    @property
    def aggregate(self) -> Literal["weighted", "pooled"]:  # type: ignore[override]
        return "pooled" if self.pooled else "weighted"

    def weight(self, lists: Lists) -> Array:
        relevant, other = (total(c) for c in self.classes(lists.top(self.cutoff)))
        if self.weights == "equal":
            return np.ones(len(lists))
        return {"length": relevant + other, "positives": relevant, "pairs": relevant * other}[self.weights]


class OPA(_PairMetric, aliases=("OrderedPairAccuracy", "PairAccuracy", "XAUC")):
    """The share of pairs of different grades in which the better document scores higher."""

    formula = "pairs with the better document above / pairs of different grade"
    convention = (
        "a pair with equal scores counts half. tied=0 counts it as wrong (TF-Ranking, which also weighs queries by "
        "their pairs: weights='pairs'). Pairs of judged, retrieved documents count. Queries without pairs are "
        "left out of the mean"
    )
    source = "Ordered pair accuracy of TF-Ranking; AUC is the same for two grades"
    best_for = "graded labels, if every pair matters equally, at any rank"
    examples = (
        Example("OPA", (2, 0, 1), "2 / 3"),
        Example("OPA(tied=0)", (1, 0, 2), "(1 + 1) / 3", {"scores": [0.5, 0.5, 0.7]}),
        Example("OPA", (1, 0, 2), "(1 + 1 + 1/2) / 3", {"scores": [0.5, 0.5, 0.7]}),
    )
    relevance = "graded"

    tied: Annotated[float, Param("the value of a pair with equal scores", low=0, high=1)] = 0.5
    weights: Annotated[Literal["equal", "pairs"], Param("the weight of a query")] = "equal"

    @property
    def aggregate(self) -> Literal["mean", "weighted"]:  # type: ignore[override]
        """The mean over queries that have pairs, or over pairs."""
        return "weighted" if self.weights == "pairs" else "mean"

    @property
    def counts_ties(self) -> bool:
        """True for a half, the mean over the orders of a pair."""
        return self.tied == 0.5

    def pairs(self, lists: Lists) -> Array:
        """The number of pairs of different grade of each query."""
        return total(count_lower_grades(lists, np.zeros(lists.rank.shape), tied=1.0))

    def weight(self, lists: Lists) -> Array:
        return self.pairs(lists) if self.weights == "pairs" else np.ones(len(lists))

    def terms(self, lists: Lists) -> Terms:
        lower = count_lower_grades(lists, lists.tie_start, self.tied)
        return self.of_pairs(lists, {"lower graded below": lower}, self.pairs(lists))


class LAUC(_PairMetric, aliases=("LimitedAUC",)):
    """The probability that a relevant document ranks above a non-relevant one, if everything below the top k is in random order."""

    formula = "(pairs with the relevant document above, half of the pairs below k) / (relevant · non-relevant)"
    convention = (
        "documents outside the top k share the position below it, so misses count. Judged documents only are "
        "non-relevant. With candidates=n all others of n items are, judged or not, as in recommenders. Ties keep "
        "the order of the list"
    )
    source = "Schröder et al., Setting Goals and Choosing Metrics for Recommender System Evaluations, UCERSTI 2011; AUC of implicit"
    best_for = "comparing short lists with full rankings by one area"
    examples = (
        Example("LAUC@2", (1, 0, 1, 0), "(2 + 1/2) / 4"),
        Example("LAUC(candidates=1000)@3", (0, None, 1), "(996 + 996/2) / (2 * 998)", {"known": 2}),
    )

    cutoff: Cutoff = None
    level: Level = 1.0
    candidates: Annotated[
        int | None, Param("the number of items to rank, judged or not. By default the judged items", low=10)
    ] = None
    empty = "varies"  # one half if there is a pair, otherwise single_class

    def terms(self, lists: Lists) -> Terms:
        relevant, known = lists.relevant(self.level), lists.known(self.level)
        if self.candidates is None:
            other = lists.known_judged - known
            above = running(lists.judged & ~relevant)
            shown = above[:, -1]
        else:
            refuse_more_than(self, self.candidates, lists)
            other = self.candidates - known
            above = lists.rank - running(relevant)
            shown = lists.retrieved - total(relevant)
        pairs = known * other
        spared = np.where(relevant, other[:, None] - above, 0.0)
        missed = (known - total(relevant)) * (other - shown) / 2
        terms = self.of_pairs(lists, {"relevant": relevant, "non-relevant below": spared}, pairs)
        return replace(terms, base=ratio(missed, pairs) + terms.base)


def below(marked: Array, group: Array, tied: float = 0.5, part: Array | None = None) -> Array:
    """The number of marked cells with a lower score than each cell (the same score counts ``tied``). Cells of a ``group`` are adjacent, parts apart."""
    so_far = running(marked)
    parts = np.zeros(group.shape) if part is None else part
    new_part = parts[:, 1:] != parts[:, :-1]
    new_group = new_part | (group[:, 1:] != group[:, :-1])
    edge = np.ones((len(marked), 1), bool)
    before = np.maximum.accumulate(np.where(np.hstack([edge, new_group]), so_far - marked, 0.0), axis=1)
    upto = _carry_back(so_far, np.hstack([new_group, edge]))
    return np.asarray(_carry_back(so_far, np.hstack([new_part, edge])) - upto + tied * (upto - before))


def _carry_back(so_far: Array, last: Array) -> Array:
    """The running count at the last cell of a stretch, in all its cells."""
    return np.minimum.accumulate(np.where(last, so_far, np.inf)[:, ::-1], axis=1)[:, ::-1]


def count_lower_grades(lists: Lists, group: Array, tied: float) -> Array:
    """The number of judged documents of a lower grade that score below each one (equal scores count ``tied``), each pair at the highest bit of difference."""
    distinct, number = np.unique(lists.grade, return_inverse=True)
    number = number.reshape(lists.grade.shape)
    count = np.zeros(number.shape)
    for bit in range((len(distinct) - 1).bit_length()):
        above = number >> (bit + 1)
        order = np.argsort(above, axis=1, kind="stable")
        better = lists.judged & (number >> bit & 1 == 1)
        worse, ties, part = (
            np.take_along_axis(cells, order, axis=1) for cells in (lists.judged & ~better, group, above)
        )
        lower = np.empty(number.shape)
        np.put_along_axis(lower, order, below(worse, ties, tied, part), axis=1)
        count += np.where(better, lower, 0.0)
    return count


def count_listed(lists: Lists) -> Array:
    """The number of returned or judged documents of each query."""
    return np.asarray(lists.retrieved + lists.known_judged - total(lists.judged))


def refuse_more_than(metric: Metric, candidates: int, lists: Lists) -> None:
    """Refuse a query with more documents than ``candidates``."""
    most = int(count_listed(lists).max(initial=0))
    if most > candidates:
        raise InputError(
            f"{metric}: a query has {most} documents returned or judged, more than candidates={candidates}; "
            "give the number of items to rank"
        )


class Accuracy(Metric):
    """The probability that a retrieved relevant document ranks above a retrieved non-relevant one."""

    family = "accuracy"
    formula = "pairs with the relevant document above / pairs of a relevant and another document, in the top k"
    convention = (
        "unjudged documents count as not relevant (AUC leaves them out), and only retrieved documents count. A "
        "query that has no pair is undefined and left out of the mean"
    )
    source = "ir_measures Accuracy"
    best_for = "checking a ranker on its training lists"
    examples = (Example("Accuracy", (1, None, 1, 0), "3 / 4"), Example("Accuracy@3", (0, 1, 0, 1), "1 / 2"))

    cutoff: Cutoff = None
    level: Level = 1.0

    @property
    def monotone(self) -> bool:
        """False with a cutoff: a relevant document that moves into the top k brings its own pairs."""
        return self.cutoff is None

    empty = None

    def terms(self, lists: Lists) -> Terms:
        relevant = lists.relevant(self.level)
        count = total(relevant)
        others = lists.retrieved - count
        above = lists.rank - running(relevant)
        pairs = count * others
        return Terms(lists, {"relevant": relevant, "others below": others[:, None] - above}, pairs, defined=pairs > 0)
