"""Metrics that add up graded gain."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from rankscope.declared import Lookup, Param
from rankscope.errors import InputError
from rankscope.lists import Array, Lists, each_rank, log2_discounts, total
from rankscope.lists.examination import Examination
from rankscope.metrics.base import Cutoff, Example, Gain, GainFrom, JudgedOnly, Metric, Terms, gains, gains_of
from rankscope.metrics.trec import CUTOFFS, TrecName, pair


def reason_against_discounts(table: str | Lookup) -> str:
    """Return the reason to refuse a table of discounts. Empty if it maps ranks to weights of 0 or more."""
    if not isinstance(table, Lookup) or all(rank >= 1 and not rank % 1 and worth >= 0 for rank, worth in table):
        return ""
    return "ranks are whole numbers from 1 and their discounts 0 or more, like {1: 1, 2: 0.5}"


class Curve(Lookup):
    """A table of weights by rank that was read from a file, and is spelled by its name."""

    path: str

    def __repr__(self) -> str:
        return repr(self.path)


def read_curve(value: Any) -> Any:
    """Read the weights of ranks from an examination curve or from its file (.json). Return any other value as it is."""
    if isinstance(value, Examination):
        return Lookup.of(value.probabilities.tolist())
    if not isinstance(value, str) or not value.lower().endswith(".json"):
        return value
    curve = Curve(Lookup.of(Examination.read(value).probabilities.tolist()))
    curve.path = value
    return curve


Discount = Annotated[
    Literal["log2", "log2_rank", "none", "reciprocal"] | Lookup,
    Param(
        "the weight of a rank: 1/log2(rank + 1), 1/log2(rank) from rank 2 on (the first two ranks weigh 1), 1, 1/rank, a table {rank: weight}, or a file with an examination curve (rankscope position-bias LOG --save curve.json); ranks missing from it weigh 0",
        takes_sequence=True,
        reason_against=reason_against_discounts,
        reads=read_curve,
    ),
]


class _GainMetric(Metric):
    """Gain at each position: the base of the cumulated gains."""

    relevance = "graded"
    bounds = (0.0, float("inf"))

    cutoff: Cutoff = None
    gain: Gain = "linear"
    judged_only: JudgedOnly = False

    @property
    def additive(self) -> bool:
        """True unless the ideal is made of the top k."""
        return getattr(self, "ideal", "") != "retrieved_topk"

    @property
    def monotone(self) -> bool:
        """False with a table, which may give a better grade a lower gain, if only a grade that it leaves out."""
        return not isinstance(self.gain, Lookup)


class CG(_GainMetric):
    """The sum of the gains of the first k documents in any order."""

    formula = "sum of gain over the top k"
    convention = "linear gain. Not normalised, so queries with more relevant documents weigh more in the mean"
    source = "Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 2002"
    best_for = "how much a page offers, if its order does not matter"
    examples = (Example("CG@3", (3, 2, 0, 1), "3 + 2"),)
    positions = False

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, {"gain": gains_of(lists, self.gain)})


class DCG(_GainMetric):
    """The sum of the gains, discounted by rank."""

    formula = "sum of gain(grade) · discount(rank)"
    convention = (
        "linear gain and 1/log2(rank + 1). Not normalised, so queries with many relevant documents dominate the mean"
    )
    source = "Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 2002; Burges et al., Learning to rank using gradient descent, ICML 2005 (exponential gain); trec_eval dcg"
    best_for = "a step on the way to nDCG"
    not_for = "means over queries with different numbers of relevant documents: queries with many dominate"
    examples: ClassVar[tuple[Example, ...]] = (
        Example("DCG@3", (3, 2, 0, 1), "3 / log2(2) + 2 / log2(3)"),
        Example("DCG(gain='exponential')@3", (3, 2, 0, 1), "7 / log2(2) + 3 / log2(3)"),
    )
    shorthands = (TrecName("dcg_burges", parameters={"gain": "exponential"}, sets="cutoff"),)
    trec: ClassVar[tuple[TrecName, ...]] = (TrecName("dcg"),)  # in none of trec_eval's sets

    discount: Discount = "log2"

    @property
    def falling(self) -> bool:
        """True if no rank weighs more than the rank above it."""
        if not isinstance(self.discount, Lookup):
            return True
        seen = [(rank, worth) for rank, worth in self.discount if worth]
        worth = [worth for _, worth in seen]
        return [rank for rank, _ in seen] == list(range(1, len(seen) + 1)) and worth == sorted(worth, reverse=True)

    @property
    def monotone(self) -> bool:
        """False if a lower rank weighs more."""
        return super().monotone and self.falling

    def discounts(self, rank: Array) -> Array:
        """The discount at each rank."""
        if self.discount == "log2":
            return log2_discounts(rank)
        if self.discount == "log2_rank":
            return each_rank(lambda r: 1.0 / math.log2(max(r, 2)), rank)
        if self.discount == "reciprocal":
            return 1.0 / rank
        if self.discount == "none":
            return np.ones(rank.shape)
        table = dict(self.discount)
        return each_rank(lambda r: table.get(float(r), 0.0), rank)

    def best_down_to(self, gain: Array, depth: Array | float) -> Array:
        """The discounted gain of documents in the best order, down to a depth (one depth, or one per query)."""
        best = gain
        if (gain[:, 1:] > gain[:, :-1]).any():  # gains need not rise with the grade
            best = -np.sort(-gain, axis=1)
        rank = np.arange(1, best.shape[1] + 1)
        worth = best * self.discounts(rank)
        return total(worth if np.all(np.isinf(depth)) else worth * (rank <= np.reshape(depth, (-1, 1))))

    def best_judged(self, lists: Lists, depth: int | None) -> Array:
        """The discounted gain of all judged documents in the best order, down to a depth."""
        ideal, name = lists.ideal, (type(self), str(self.gain), str(self.discount), depth)
        if name not in lists.ideal.kept:
            if depth is not None and not isinstance(self.gain, Lookup):  # a table may value a better grade less
                ideal = ideal.first(depth)
            gain = gains_of(ideal, self.gain)
            lists.ideal.kept[name] = self.best_down_to(gain, np.inf if depth is None else float(depth))
        return lists.ideal.kept[name]

    def out_of(self, lists: Lists) -> Array | float:
        """The denominator of the discounted gain."""
        return 1.0

    def terms(self, lists: Lists) -> Terms:
        factors = {"gain": gains_of(lists, self.gain), "discount": self.discounts(lists.rank)}
        return Terms(lists, factors, self.out_of(lists))


class IdealDCG(DCG, aliases=("IDCG",)):
    """The discounted gain of the best possible ranking, the denominator of nDCG."""

    formula = "sum over judged documents, best first, of gain(grade) · discount(rank)"
    convention = "depends only on the judgments, so it is the same for every run. Linear gain, cut at k if there is a k"
    source = "trec_eval ideal_dcg"
    best_for = "the total gain that a query offers"
    examples = (Example("IdealDCG@2", (0, 3, 2), "3 / log2(2) + 2 / log2(3)"),)
    positions = False
    better = "neither"
    trec = (TrecName("ideal_dcg"),)
    empty = "judgments"

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, {}, base=self.best_judged(lists, self.cutoff))


class nDCG(DCG, aliases=("NDCG", "normalized_discounted_cumulative_gain")):
    """Discounted gain as a share of the best possible ranking's."""

    formula = "DCG / DCG of the ideal ranking"
    convention = (
        "linear gain, as in trec_eval. The ideal ranks all judged documents by gain and is cut at k. Many tools use "
        "2^grade - 1 (gain='exponential') or an ideal of retrieved documents only (ideal='retrieved_topk'), which "
        "hides missed documents"
    )
    source = (
        "Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 2002; trec_eval ndcg, ndcg_cut"
    )
    best_for = "graded judgments, such as web search: the usual first choice"
    not_for = "queries without a relevant document, which score 0 for every ranking"
    examples = (
        Example("nDCG@3", (3, 2, 0, 1), "(3 / log2(2) + 2 / log2(3)) / (3 / log2(2) + 2 / log2(3) + 1 / log2(4))"),
        Example("nDCG(gain='exponential')@3", (2, 3, 0), "(3 / log2(2) + 7 / log2(3)) / (7 / log2(2) + 3 / log2(3))"),
    )
    shorthands = (TrecName("ndcg_burges", parameters={"gain": "exponential"}, sets="cutoff"),)
    trec = (
        TrecName("ndcg", sets="gain", defaults=("linear",), reads=pair, together=True, plain_too=True),
        TrecName("ndcg_cut", sets="cutoff", defaults=CUTOFFS),
    )

    ideal: Annotated[
        Literal[
            "judged", "judged_uncut", "judged_at_returned", "retrieved_topk", "retrieved_all", "full_k", "max_grade_k"
        ],
        Param(
            "the documents of the ideal ranking. All judged documents: cut at k, never cut, or cut at the number returned. Or "
            "the documents retrieved in the top k, all retrieved, k documents of grade 1, or k documents of max_grade",
            need_at=("full_k", "max_grade_k"),
        ),
    ] = "judged"
    max_grade: Annotated[
        float | None, Param("the grade of the documents in the ideal 'max_grade_k'", above=0, also={"max_rel": {}})
    ] = None

    def check(self) -> None:
        """Refuse max_grade without its ideal, and the reverse."""
        if (self.ideal == "max_grade_k") != (self.max_grade is not None):
            raise InputError(
                f"nDCG: ideal='max_grade_k' and max_grade go together, as in nDCG(ideal='max_grade_k', max_grade=3)@{self.cutoff or 10}"
            )

    @property
    def range(self) -> tuple[float, float]:
        """At most 1 if the ideal is the best possible ranking."""
        own_scale = self.ideal == "full_k" or (self.ideal == "max_grade_k" and isinstance(self.gain, Lookup))
        return (0.0, 1.0 if self.falling and not own_scale else float("inf"))

    @property
    def monotone(self) -> bool:
        """False if the ideal is made of the top k, and grows with it."""
        return super().monotone and not (self.ideal == "retrieved_topk" and self.cutoff is not None)

    @property
    def settled_by_grade(self) -> bool:
        """False if the ideal grows with the documents on top."""
        return self.monotone and self.ideal != "retrieved_topk"

    @property
    def looks_below(self) -> bool:
        """True if the ideal is made of all retrieved documents."""
        return self.ideal == "retrieved_all"

    def out_of(self, lists: Lists) -> Array:
        """The discounted gain of the ideal ranking."""
        if self.ideal == "max_grade_k":
            self.refuse_grades_above(float(self.max_grade or 0), lists)
        if self.ideal in {"full_k", "max_grade_k"}:
            relevant = self.gain.level if isinstance(self.gain, GainFrom) else 1.0
            one = np.full(
                (1, int(self.cutoff or 1)), relevant if self.ideal == "full_k" else float(self.max_grade or 0)
            )
            return np.broadcast_to(self.best_down_to(gains(one, self.gain), np.inf), len(lists))
        if self.ideal in {"judged", "judged_uncut"}:
            return self.best_judged(lists, self.cutoff if self.ideal == "judged" else None)
        if self.ideal == "judged_at_returned":
            return self.best_down_to(gains_of(lists.ideal, self.gain), lists.retrieved)
        seen = lists.whole if self.ideal == "retrieved_all" else lists
        return self.best_down_to(gains_of(seen, self.gain), np.inf if self.cutoff is None else float(self.cutoff))
