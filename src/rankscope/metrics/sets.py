"""Metrics of the returned documents as a set: no order, no cutoff."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal, Self

import numpy as np

from rankscope.declared import Param, plain
from rankscope.errors import InputError
from rankscope.lists import Lists, total
from rankscope.metrics.base import Example, Level, Metric, Terms
from rankscope.metrics.relevance import Beta, _Binary
from rankscope.metrics.trec import TrecName, root, square


class _Set(_Binary):
    """Base of metrics of sets, which ignore the order of documents."""

    positions = False
    best_for = "Boolean search and filters: a set, not a ranking"


class SetP(_Set, aliases=("SetPrecision",)):
    """The share of all returned documents that is relevant."""

    formula = "relevant returned / returned"
    convention = "divides by the number of documents returned, without a cutoff. relative=True (SetRelP of ir_measures) by known relevant if these are fewer"
    source = "trec_eval set_P, set_relative_P"
    examples = (Example("SetP", (1, 0, 1, 0), "2 / 4"),)
    trec = (TrecName("set_P"), TrecName("set_relative_P", parameters={"relative": True}))
    shorthands = (TrecName("SetRelP", parameters={"relative": True}),)

    relative: Annotated[
        bool,
        Param("divide by the largest possible number of hits: the smaller of documents returned and known relevant"),
    ] = False

    def terms(self, lists: Lists) -> Terms:
        most = np.minimum(lists.retrieved, lists.known(self.level)) if self.relative else lists.retrieved
        return Terms(lists, {"relevant": lists.relevant(self.level)}, most)


class SetR(_Set, aliases=("SetRecall",)):
    """The share of the known relevant documents that was returned."""

    formula = "relevant returned / known relevant"
    convention = "grows with the length of the list: compare lists of equal length"
    source = "trec_eval set_recall"
    examples = (Example("SetR", (1, 0, 1, 0), "2 / 3", {"known": 3}),)
    trec = (TrecName("set_recall"),)


class SetF(_Set):
    """The harmonic mean of precision and recall over all returned documents."""

    formula = "(1 + beta²) · relevant returned / (beta² · known relevant + returned)"
    convention = "beta is beta. trec_eval's set_F.x and ir_measures' beta are its square"
    source = "van Rijsbergen, Information Retrieval, 1979; trec_eval set_F"
    examples = (Example("SetF", (1, 0, 1, 0), "2 * 2 / (3 + 4)", {"known": 3}),)
    trec = (TrecName("set_F", sets="beta", defaults=(1.0,), reads=root, writes=square, plain_too=True),)

    beta: Beta = 1.0

    def terms(self, lists: Lists) -> Terms:
        return self.harmonic_mean(lists, self.beta, lists.retrieved)


class SetAP(_Set):
    """The precision of all returned documents, times their recall."""

    formula = "(relevant returned)² / (returned · known relevant)"
    convention = "this is average precision if every relevant document returned has the precision of the whole set"
    source = "trec_eval set_map"
    best_for = "Boolean search and filters, instead of AP"
    examples = (Example("SetAP", (1, 0, 1, 0), "(2 / 4) * (2 / 3)", {"known": 3}),)
    trec = (TrecName("set_map"),)
    additive = False  # if a depth cuts through ties, the number of misses depends on their order

    def terms(self, lists: Lists) -> Terms:
        relevant = lists.relevant(self.level)
        precision = total(relevant) / np.maximum(lists.retrieved, 1)
        factors = {"relevant": relevant, "precision of the set": np.broadcast_to(precision[:, None], relevant.shape)}
        return Terms(lists, factors, lists.known(self.level))


class Utility(_Set):
    """The value of a set in which every document has a weight: relevant or not, returned or not."""

    formula = "a · relevant returned + b · others returned + c · relevant missed + d · others left out"
    convention = (
        "all documents not known to be relevant count as non-relevant, judged or not. weights=(1, -1, 0, 0), and d "
        "needs documents (trec_eval's -N)"
    )
    source = "trec_eval utility; the filtering tracks of TREC"
    best_for = "filters and alerts: every document shown costs the reader time"
    examples = (
        Example("Utility", (1, 0, 1, None, 1), "3 - 2"),
        Example("Utility(weights=(2, -1, -0.5, 0))", (1, 0, 1), "2 * 2 - 1 - 0.5 * 3", {"known": 5}),
    )
    bounds = (-math.inf, math.inf)
    trec = (
        TrecName(
            "utility", sets="weights", defaults=((1.0, -1.0, 0.0, 0.0),), reads=float, together=True, plain_too=True
        ),
    )

    weights: Annotated[
        tuple[float, ...],
        Param("the weight of a document: relevant returned, other returned, relevant missed, other left out"),
    ] = (1.0, -1.0, 0.0, 0.0)
    documents: Annotated[int | None, Param("the number of documents in the collection", low=1)] = None

    def check(self) -> None:
        """Refuse other than four weights."""
        if len(self.weights) != 4:
            raise InputError(
                f"Utility(weights={plain(self.weights)}): there are four weights, of relevant and other documents returned, "
                "then for documents left out, like (1, -1, 0, 0)"
            )

    def ready(self) -> Self:
        """Refuse a weight of documents left out without the number of documents."""
        if self.weights[3] and self.documents is None:
            raise InputError(
                f"{self}: the weight of documents left out needs the number of documents: write {self.having(documents=1000000)}"
            )
        return super().ready()

    @property
    def empty(self) -> float | Literal["varies"]:
        """0, or "varies" if documents missed or left out have a weight."""
        return "varies" if self.weights[2] or self.weights[3] else 0.0

    additive = False  # if a depth cuts through ties, the number of misses depends on their order

    def terms(self, lists: Lists) -> Terms:
        hit, false_hit, missed, left_out = self.weights
        relevant = lists.relevant(self.level)
        lost = lists.known(self.level) - total(relevant)
        rest = (self.documents or 0) - lists.retrieved - lost
        if left_out and (rest < 0).any():
            raise InputError(
                f"{self}: a query has more documents than documents={self.documents}, returned or relevant; "
                "give the number of documents in the collection"
            )
        return Terms(
            lists,
            {"worth": np.where(relevant, hit, false_hit)},
            base=missed * lost + (left_out * rest if left_out else 0.0),
            unjudged=false_hit * (lists.retrieved - total(lists.shown)),
        )


class _Count(Metric):
    """Base of counts, which are summed over queries and have no better direction."""

    family = "counts"
    positions = False
    bounds = (0.0, float("inf"))
    better: ClassVar[Literal["higher", "lower", "neither"]] = "neither"
    convention = "summed over queries. The value of one query is its own count"
    aggregate = "sum"


class NumQ(_Count):
    """The number of queries that are scored."""

    formula = "1 for every query"
    source = "trec_eval num_q"
    best_for = "the number of queries behind a mean"
    examples = (Example("NumQ", (1, 0), "1"),)
    relevance = "none"
    trec = (TrecName("num_q"),)
    empty = 1.0  # a query without a ranking also counts

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, {}, base=np.ones(len(lists)))


class NumRet(_Count):
    """The number of documents returned."""

    formula = "documents returned"
    source = "trec_eval num_ret"
    best_for = "detecting lists that were cut"
    examples = (Example("NumRet", (1, 0, 1), "3"), Example("NumRet(min_grade=1)", (1, 0, 1), "2"))
    trec = (TrecName("num_ret"),)

    min_grade: Annotated[
        float | None, Param("count only documents of at least this grade", low=0, also={"rel": {}, "level": {}})
    ] = None

    @property
    def relevance(self) -> Literal["graded", "none"]:  # type: ignore[override]
        """Grades do not matter without min_grade."""
        return "none" if self.min_grade is None else "graded"

    def terms(self, lists: Lists) -> Terms:
        if self.min_grade is not None:
            return Terms(lists, {"relevant": lists.relevant(self.min_grade)})
        return Terms(lists, {}, base=lists.retrieved)


class NumRel(_Count):
    """The number of known relevant documents."""

    formula = "known relevant documents"
    convention = "respects level, unlike trec_eval -c -l. Summed over queries"
    source = "trec_eval num_rel"
    best_for = "the denominator of recall"
    examples = (Example("NumRel", (1, 0, 1), "2"),)
    trec = (TrecName("num_rel"),)

    level: Level = 1.0
    empty = "judgments"

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, {}, base=lists.known(self.level))


class NumRelRet(_Count, aliases=("Hits",)):
    """The number of relevant documents returned."""

    formula = "relevant documents returned"
    source = "trec_eval num_rel_ret"
    best_for = "recall before division"
    examples = (Example("NumRelRet", (1, 0, 1), "2"),)
    better = "higher"
    trec = (TrecName("num_rel_ret"),)

    level: Level = 1.0

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, {"relevant": lists.relevant(self.level)})


class NumNonrelRet(_Count, aliases=("NumNonrelJudgedRet",)):
    """The number of returned documents that were judged not relevant."""

    formula = "judged documents below the level, returned"
    convention = "unjudged documents and those with a negative grade do not count. Summed over queries"
    source = "trec_eval num_nonrel_judged_ret"
    best_for = "separating known mistakes from unjudged documents"
    examples = (Example("NumNonrelRet", (1, 0, None, 0, -1), "2"),)
    trec = (TrecName("num_nonrel_judged_ret"),)

    level: Level = 1.0

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, {"judged, not relevant": lists.judged & ~lists.relevant(self.level)})
