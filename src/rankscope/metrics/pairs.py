"""Metrics over pairs of a relevant and a non-relevant document: which of the two scores higher."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.lists import Array, Judged, Lists, running, total
from rankscope.metrics.base import Example, Level, Metric, Terms


class AUC(Metric, aliases=("ROC_AUC",)):
    """The chance that a relevant document scores above a non-relevant one, both judged and retrieved."""

    formula = "pairs with the relevant document above (ties half) / pairs"
    convention = (
        "a query of one class only is undefined, left out of the mean and counted; pooled=True makes one curve of the documents of "
        "all queries, whose scores must then be comparable across queries"
    )
    source = "Hanley and McNeil, Radiology 1982"
    best_for = "click models and classifiers that rank a given list"
    examples = (Example("AUC", (1, 0, 1, 0), "3 / 4"),)

    level: Level = 1.0
    pooled: Annotated[
        bool, Param("one value over the documents of all queries, instead of the mean over queries")
    ] = False

    @property
    def empty(self) -> None:
        """No pair, no value."""
        return None

    @property
    def aggregate(self) -> Literal["mean", "weighted", "pooled"]:
        """The mean over queries that have both classes, or one pooled value."""
        return "pooled" if self.pooled else "mean"

    @property
    def needs(self) -> frozenset[str]:
        """Scores, where queries are thrown together."""
        return frozenset({"score"}) if self.pooled else frozenset()

    def classes(self, lists: Lists) -> tuple[Array, Array]:
        """Relevant and non-relevant among the documents that are judged and retrieved."""
        relevant = lists.relevant(self.level)
        return relevant, lists.judged & ~relevant

    def terms(self, lists: Lists) -> Terms:
        relevant, other = self.classes(lists)
        pairs = total(relevant) * total(other)
        return Terms(
            lists,
            {"relevant": relevant, "non-relevant below": below(other, lists.tie_start)},
            pairs,
            defined=pairs > 0,
        )

    def pool(self, judged: Judged) -> float:
        """The area under one curve over all queries."""
        found = judged.rank > 0
        grade, score = judged.grade[found], np.asarray(judged.score)[found]
        kept = grade >= 0
        relevant = (grade >= self.level)[kept].astype(float)
        distinct, number = np.unique(score[kept], return_inverse=True)
        positive = np.bincount(number, weights=relevant, minlength=len(distinct))
        negative = np.bincount(number, weights=1.0 - relevant, minlength=len(distinct))
        pairs = positive.sum() * negative.sum()
        lower = np.cumsum(negative) - negative
        return float((positive * (lower + negative / 2)).sum() / pairs) if pairs else float("nan")


class GAUC(AUC, aliases=("gAUC", "GroupAUC")):
    """AUC of each query, averaged with weights, so that busy users count for more."""

    formula = "sum of weight · AUC / sum of weights, over queries with both classes"
    convention = "weights are list lengths (impressions) unless said: weights='positives', 'pairs' or 'equal' give other numbers"
    source = "Zhu et al., Optimized Cost per Click in Taobao Display Advertising, KDD 2017"
    best_for = "click-through models: ranks within a user's list, blind to how users differ"
    examples = (Example("GAUC", (1, 0, 1, 0), "3 / 4"),)

    weights: Annotated[Literal["length", "positives", "pairs", "equal"], Param("what a query weighs")] = (
        "length"
    )

    @property
    def aggregate(self) -> Literal["weighted", "pooled"]:
        """A weighted mean over queries."""
        return "pooled" if self.pooled else "weighted"

    def weight(self, lists: Lists) -> Array:
        """The weight of each query."""
        relevant, other = (total(c) for c in self.classes(lists))
        return {
            "length": relevant + other,
            "positives": relevant,
            "pairs": relevant * other,
            "equal": np.ones(len(lists)),
        }[self.weights]


def below(marked: Array, tie_start: Array) -> Array:
    """How many marked cells have a lower score than each cell; those with the same score count half."""
    so_far = running(marked)
    fresh = np.hstack([np.ones((len(marked), 1), bool), tie_start[:, 1:] != tie_start[:, :-1]])
    last = np.hstack([fresh[:, 1:], np.ones((len(marked), 1), bool)])
    before = np.maximum.accumulate(np.where(fresh, so_far - marked, 0.0), axis=1)
    # a group's last running count, carried back to its first cell: counts never fall, so a minimum from the right
    upto = np.minimum.accumulate(np.where(last, so_far, np.inf)[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(so_far[:, -1:] - upto + (upto - before) / 2)


__all__ = ["AUC", "GAUC"]
