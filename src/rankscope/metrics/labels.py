"""Metrics of label ranking, which ask if the true labels are ranked first."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.lists import Array, Lists, ratio, running, total
from rankscope.metrics.base import Example, Level, Metric, Terms
from rankscope.metrics.pairs import below, count_listed, refuse_more_than


class _Labels(Metric):
    """Documents as labels, relevant if the label is true. Labels that were not returned share the last rank."""

    level: Level = 1.0


class LRAP(_Labels, aliases=("LabelRankingAveragePrecision", "label_ranking_average_precision")):
    """For each true label, the share of labels scored as high or higher that are true, averaged."""

    formula = "mean over true labels of (true labels scored no lower / labels scored no lower)"
    convention = (
        "labels with equal scores all get the last of their ranks, unlike in AP. A label that was not returned "
        "earns 0, and without a true label a query scores 1, as in scikit-learn (no_relevant=0 or 'skip' changes "
        "that)"
    )
    source = "Tsoumakas et al., Mining Multi-label Data, 2010; scikit-learn label_ranking_average_precision_score"
    best_for = "multi-label classification: are the true labels ranked first?"
    examples = (
        Example("LRAP", (1, 0, 1), "(1 + 2 / 3) / 2"),
        Example("LRAP", (1, 0, 1), "(1 / 2 + 2 / 3) / 2", {"scores": [0.9, 0.9, 0.1]}),
    )

    no_relevant: Annotated[
        Literal[1, 0, "skip"], Param("the value of a query without a true label. 'skip' leaves it out")
    ] = 1
    monotone = False  # two true labels that are tied lift each other

    @property
    def empty(self) -> Any:
        """0, or the value of a query without a true label."""
        return "varies" if self.no_relevant else 0.0

    def terms(self, lists: Lists) -> Terms:
        relevant, known = lists.relevant(self.level), lists.known(self.level)
        upto = total(relevant)[:, None] - below(relevant, lists.tie_start, tied=0.0)
        last = lists.tie_start + lists.tie_size - 1.0
        factors = {"holds": relevant, "share that holds, no lower": np.where(relevant, upto / last, 0.0)}
        if self.no_relevant == "skip":
            return Terms(lists, factors, known, defined=known > 0)
        return Terms(lists, factors, known, base=np.where(known > 0, 0.0, float(self.no_relevant)))


class LabelRankingLoss(_Labels, aliases=("RankingLoss", "label_ranking_loss")):
    """The share of pairs of a true and a false label in which the false one scores as high or higher."""

    formula = "pairs in which the true label scores no higher / pairs"
    convention = (
        "equal scores count as wrong. Labels that were not returned share the last rank, unjudged labels are left out, "
        "and queries without pairs score 0, as in scikit-learn"
    )
    source = "Tsoumakas et al., Mining Multi-label Data, 2010; scikit-learn label_ranking_loss"
    best_for = "multi-label classification: the distance of the order of labels to a perfect one"
    better = "lower"
    examples = (
        Example("LabelRankingLoss", (1, 0, 1), "1 / 2"),
        Example("LabelRankingLoss", (1, 0, 1), "2 / 2", {"scores": [0.9, 0.9, 0.1]}),
    )
    empty = "varies"  # 1 if there is a pair, as all labels share one rank

    def terms(self, lists: Lists) -> Terms:
        relevant, known = lists.relevant(self.level), lists.known(self.level)
        other = lists.judged & ~relevant
        wrong = total(other)[:, None] - below(other, lists.tie_start, tied=0.0)
        others = lists.known_judged - known
        missed = np.where(others > 0, ratio(known - total(relevant), known), 0.0)
        return Terms(lists, {"holds": relevant, "does not, no lower": wrong}, known * others, base=missed)


class CoverageError(_Labels, aliases=("LabelCoverage", "coverage_error")):
    """The rank down to which a reader must go to see every true label."""

    formula = "the largest rank of a true label"
    convention = (
        "labels with equal scores all get the last of their ranks. If a true label was not returned, all labels "
        "must be read. A query without a true label scores 0, as in scikit-learn. The best value is the number "
        "of true labels, not 0"
    )
    source = "Tsoumakas et al., Mining Multi-label Data, 2010; scikit-learn coverage_error"
    best_for = "the length that a list needs to include every true label"
    better = "lower"
    bounds = (0.0, float("inf"))
    examples = (
        Example("CoverageError", (1, 0, 1, 0), "3"),
        Example("CoverageError", (1, 0, 1, 0), "4", {"scores": [0.9, 0.8, 0.2, 0.2]}),
    )
    empty = "varies"  # all labels, if any is true

    def terms(self, lists: Lists) -> Terms:
        relevant, known = lists.relevant(self.level), lists.known(self.level)
        listed = total(relevant)
        complete = (known > 0) & (listed == known)
        final = relevant & (running(relevant) == known[:, None]) & complete[:, None]
        last = lists.tie_start + lists.tie_size - 1
        factors = {"last that holds": final, "rank": last}
        return Terms(lists, factors, base=np.where(listed < known, count_listed(lists), 0.0))


class PercentileRank(Metric, aliases=("PercentileRanking", "ExpectedPercentileRank", "MPR")):
    """The mean rank of the relevant documents as a share of all items: 0 at the top, one half by chance."""

    formula = "mean over relevant documents of (rank - 1) / n, or (returned + n) / (2n) if not returned"
    convention = (
        "n is the number of candidates, or of all documents returned or judged. Documents that were not returned "
        "share the position below the list. A mean over relevant documents, not over queries, unless weights='equal' "
        "(RecPack gives percent)"
    )
    source = "Hu, Koren and Volinsky, Collaborative Filtering for Implicit Feedback Datasets, ICDM 2008; RecPack"
    best_for = "recommenders that rank a whole catalogue"
    better = "lower"
    examples = (
        Example("PercentileRank", (1, 0, 1, 0), "(0/4 + 2/4) / 2"),
        Example("PercentileRank(candidates=1000)", (0, 1), "(1/1000 + (2 + 1000) / 2000) / 2", {"known": 2}),
    )

    level: Level = 1.0
    candidates: Annotated[
        int | None, Param("the number of items to rank. By default the items returned or judged", low=10)
    ] = None
    weights: Annotated[Literal["relevant", "equal"], Param("the weight of a query")] = "relevant"

    @property
    def aggregate(self) -> Literal["mean", "weighted"]:  # type: ignore[override]
        """A mean over relevant documents, or over queries."""
        return "weighted" if self.weights == "relevant" else "mean"

    empty = "varies"  # one half if there is a relevant document

    def weight(self, lists: Lists) -> Array:
        return lists.known(self.level) if self.weights == "relevant" else np.ones(len(lists))

    def terms(self, lists: Lists) -> Terms:
        relevant, known = lists.relevant(self.level), lists.known(self.level)
        items = np.maximum(count_listed(lists), 1.0)
        if self.candidates is not None:
            refuse_more_than(self, self.candidates, lists)
            items = np.full(len(lists), float(self.candidates))
        depth = np.where(relevant, (lists.rank - 1) / items[:, None], 0.0)
        below_list = ratio(known - total(relevant), known) * (lists.retrieved + items) / (2 * items)
        return Terms(lists, {"relevant": relevant, "(rank - 1) / n": depth}, known, base=below_list, defined=known > 0)
