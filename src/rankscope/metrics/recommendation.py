"""Metrics for recommenders and click models."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.lists import Array, Lists, each_rank, not_before, running, total
from rankscope.metrics.base import Cutoff, Example, JudgedOnly, Level, MaxGrade, Metric, NeededCutoff, Terms, gains_of
from rankscope.metrics.relevance import _Binary
from rankscope.metrics.trec import TrecName


class PFound(Metric, aliases=("pFound",)):
    """The probability that a reader is satisfied before giving up, which may happen after any document."""

    formula = "sum of look(rank) · satisfied(rank), look(1) = 1, look(r + 1) = look(r) · (1 - satisfied(r)) · decay"
    convention = (
        "a grade is the probability of being satisfied, from 0 to 1 (CatBoost). max_grade=4 "
        "divides by it, and stops='exponential' uses (2^grade - 1) / 2^max_grade, as ERR does"
    )
    source = "Gulin, Karpovich, Raskovalov and Segalovich, Yandex at ROMIP 2009; CatBoost PFound"
    best_for = "search that one good answer ends, by impatient readers"
    examples = (
        Example("PFound", (0.4, 0, 1), "0.4 + 0.6 * 0.85 * 0.85"),
        Example("PFound(max_grade=4)@2", (2, 4, 4), "1/2 + 1/2 * 0.85"),
    )
    relevance = "graded"

    cutoff: Cutoff = None
    decay: Annotated[float, Param("the chance of reading on after a document that did not satisfy", low=0, high=1)] = (
        0.85
    )
    max_grade: MaxGrade = 1.0
    stops: Annotated[
        Literal["linear", "exponential"],
        Param("the chance that a document satisfies: grade / max_grade, or (2^grade - 1) / 2^max_grade"),
    ] = "linear"
    judged_only: JudgedOnly = False

    def terms(self, lists: Lists) -> Terms:
        self.refuse_grades_above(self.max_grade, lists)
        most = self.max_grade if self.stops == "linear" else 2.0**self.max_grade
        satisfied = gains_of(lists, self.stops) / most
        # unjudged documents, in the gaps between ranks, satisfy no reader but cost patience
        patience = each_rank(lambda r: self.decay ** (r - 1), lists.rank)
        factors = {"satisfied here": satisfied, "not before": not_before(satisfied)}
        return Terms(lists, {**factors, "still reads": patience})


class RelevantPosition(Metric, aliases=("AverageRelevancePosition", "ARP")):
    """The mean rank of the relevant documents returned, weighted by grade."""

    formula = "sum of rank · grade / sum of grade, over the documents returned"
    convention = (
        "lower is better. It ignores documents that were not returned, so compare rankings of the same documents "
        "only. Undefined without a grade above 0. It is not the average popularity of recommendations, also called "
        "ARP"
    )
    source = "Wang et al., The LambdaLoss Framework, CIKM 2018; TF-Ranking ARPMetric"
    best_for = "re-rankers of one candidate list: a mean rank is easy to explain"
    examples = (Example("ARP", (2, 0, 1), "(2 * 1 + 1 * 3) / 3"),)
    relevance = "graded"
    better = "lower"
    bounds = (1.0, float("inf"))
    empty = None  # no document has a rank

    def terms(self, lists: Lists) -> Terms:
        gain = gains_of(lists, "linear")
        worth = total(gain)
        return Terms(lists, {"grade": gain, "rank": lists.rank}, worth, defined=worth > 0)


class HitCount(_Binary, aliases=("HitK",)):
    """The number of relevant documents in the first k, averaged over queries."""

    formula = "relevant in the top k"
    convention = "a number, not a share, averaged over queries: RecPack's HitK. NumRelRet is the sum over queries, Success is 0 or 1"
    source = "RecPack HitK"
    best_for = "the relevant items on a page of fixed length"
    examples = (Example("HitCount@3", (1, 0, 1, 1), "2"),)
    positions = False
    shorthands = (TrecName("hits", sets="cutoff"),)

    cutoff: NeededCutoff = None

    @property
    def range(self) -> tuple[float, float]:
        """At most k."""
        return (0.0, float(self.cutoff or 0))

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, {"relevant": lists.relevant(self.level)})


class FallOut(_Binary, aliases=("Fallout", "FalsePositiveRate", "fall_out")):
    """The share of all non-relevant documents that is in the first k."""

    formula = "judged non-relevant in the top k / judged non-relevant"
    convention = (
        "lower is better. Unjudged documents are ignored, and a query without any non-relevant document scores 0"
    )
    source = "van Rijsbergen, Information Retrieval, 1979; torchmetrics RetrievalFallOut"
    best_for = "the counterpart of recall, if all candidates are labelled"
    better = "lower"
    examples = (Example("FallOut@2", (1, 0, 0, 1, 0), "1 / 3"),)
    positions = False

    cutoff: NeededCutoff = None
    settled_by_grade = False  # a document without a grade costs nothing, a tied non-relevant one does

    def terms(self, lists: Lists) -> Terms:
        other = lists.judged & ~lists.relevant(self.level)
        return Terms(lists, {"non-relevant": other}, lists.known_judged - lists.known(self.level))


class _OverCutoffs(_Binary):
    """A mean over the cutoffs 1 to k, to which a relevant document adds by its rank only."""

    cutoff: NeededCutoff = None

    @property
    def k(self) -> int:
        return int(self.cutoff or 1)


class MeanP(_OverCutoffs, aliases=("MeanPrecision",)):
    """The mean of precision at 1, 2, ... k."""

    formula = "(P@1 + P@2 + ... + P@k) / k"
    convention = (
        "every cutoff counts, also ranks without a relevant document, so it is not average precision, although Elliot "
        "calls it MAP. A perfect list with one relevant document stays below 1"
    )
    source = "Elliot MAP"
    best_for = "comparing with Elliot's numbers"
    examples = (Example("MeanP@3", (1, 0, 1), "(1 + 1/2 + 2/3) / 3"),)

    @cached_property
    def _from(self) -> list[float]:
        """The sum of 1/j for j from each rank to k. Rank 0 is not used."""
        sums = [0.0]
        for rank in range(self.k, 0, -1):
            sums.append(sums[-1] + 1.0 / rank)
        return sums[:0:-1]

    def terms(self, lists: Lists) -> Terms:
        share = each_rank(lambda r: self._from[r - 1] if r <= self.k else 0.0, lists.rank)
        return Terms(lists, {"relevant": lists.relevant(self.level), "1/rank summed to k": share}, float(self.k))


class MeanR(_OverCutoffs, aliases=("MeanRecall", "MAR")):
    """The mean of recall at 1, 2, ... k."""

    formula = "(R@1 + R@2 + ... + R@k) / k"
    convention = "every cutoff counts. It divides by all known relevant documents, so more than k relevant documents keep it low (Elliot's MAR)"
    source = "Elliot MAR"
    best_for = "recall that rewards finding documents early"
    examples = (Example("MeanR@3", (1, 0, 1), "(1/4 + 1/4 + 2/4) / 3", {"known": 4}),)

    def terms(self, lists: Lists) -> Terms:
        cutoffs = np.maximum(self.k - lists.rank + 1.0, 0.0)
        factors = {"relevant": lists.relevant(self.level), "cutoffs that hold it": cutoffs}
        return Terms(lists, factors, self.k * lists.known(self.level))


class pAUC(Metric, aliases=("PAUC", "PartialAUC"), at="negatives"):
    """The share of correctly ordered pairs of a relevant document and one of the first k non-relevant ones."""

    formula = "sum over relevant documents found of max(k - non-relevant above, 0) / (k · known relevant)"
    convention = (
        "k counts non-relevant documents, not ranks, and unjudged documents are non-relevant. A list with fewer "
        "non-relevant documents than k is scored as if the rest followed"
    )
    source = "Dodd and Pepe, Partial AUC Estimation and Regression, Biometrics 2003; PAUC of RecTools"
    best_for = "the left edge of the ROC curve: few false alarms allowed"
    examples = (Example("pAUC@2", (1, 0, 1, 0, 1), "(2 + 1 + 0) / (2 * 3)"),)

    negatives: Annotated[int | None, Param("the number of non-relevant documents to include", low=1, needed=True)] = (
        None
    )
    level: Level = 1.0
    judged_only: JudgedOnly = False

    def choose_relevant(self, lists: Lists) -> tuple[Array, Array]:
        """The relevant documents to include, and their largest possible number."""
        return lists.relevant(self.level), lists.known(self.level)

    def terms(self, lists: Lists) -> Terms:
        relevant, known = self.choose_relevant(lists)
        k = float(self.negatives or 0)
        above = lists.rank - running(lists.relevant(self.level))
        spared = np.where(relevant, np.maximum(k - above, 0.0), 0.0)
        return Terms(lists, {"relevant": relevant, "non-relevant below": spared}, k * known)


class pAP(pAUC, aliases=("PAP", "pAp"), at="negatives"):
    """The share of correctly ordered pairs among the first k relevant and the first k non-relevant documents."""

    formula = "sum over the first k relevant documents of max(k - non-relevant above, 0) / (k · min(k, known relevant))"
    convention = "k counts relevant and non-relevant documents, not ranks. Unjudged documents are non-relevant. It is not average precision"
    source = "Budhiraja et al., Rich-Item Recommendations for Rich-Users, 2020 (pAp@k); PAP of RecTools"
    best_for = "users with many relevant items and a short list"
    examples = (Example("pAP@2", (1, 0, 1, 0, 1), "(2 + 1) / (2 * 2)"),)

    def choose_relevant(self, lists: Lists) -> tuple[Array, Array]:
        """The first k relevant documents."""
        relevant, k = lists.relevant(self.level), float(self.negatives or 0)
        return relevant & (running(relevant) <= k), np.minimum(lists.known(self.level), k)
