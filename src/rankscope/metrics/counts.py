"""Counts: how many queries, documents, relevant documents. Added up over queries, not averaged."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.lists import Lists
from rankscope.metrics.base import Example, Level, Metric, Terms
from rankscope.metrics.trec import TrecName


class _Count(Metric):
    """What counts share: they are summed, and neither high nor low is better."""

    positions = False
    bounds = (0.0, float("inf"))
    better: ClassVar[Literal["higher", "lower", "neither"]] = "neither"
    convention = "summed over queries; the value of one query is its own count"
    aggregate = "sum"  # counts are added up


class NumQ(_Count):
    """The number of queries that are scored."""

    formula = "1 for every query"
    source = "trec_eval num_q"
    best_for = "seeing how many queries a mean covers"
    examples = (Example("NumQ", (1, 0), "1"),)
    relevance = "none"
    trec = (TrecName("num_q"),)
    empty = 1.0  # a query without a ranking counts too

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, {}, base=np.ones(len(lists)))


class NumRet(_Count):
    """The number of documents returned."""

    formula = "documents returned"
    source = "trec_eval num_ret"
    best_for = "seeing whether lists were cut"
    examples = (Example("NumRet", (1, 0, 1), "3"), Example("NumRet(min_grade=1)", (1, 0, 1), "2"))
    trec = (TrecName("num_ret"),)

    min_grade: Annotated[
        float | None, Param("count only documents of at least this grade", low=0, also={"rel": {}, "level": {}})
    ] = None

    @property
    def relevance(self) -> Literal["graded", "none"]:  # type: ignore[override]
        """Blind to grades, unless a grade is asked for."""
        return "none" if self.min_grade is None else "graded"

    def terms(self, lists: Lists) -> Terms:
        if self.min_grade is not None:
            return Terms(lists, {"relevant": lists.relevant(self.min_grade)})
        return Terms(lists, {}, base=lists.retrieved)


class NumRel(_Count):
    """The number of known relevant documents."""

    formula = "known relevant documents"
    convention = "respects level, unlike trec_eval -c -l; summed over queries"
    source = "trec_eval num_rel"
    best_for = "seeing what recall is divided by"
    examples = (Example("NumRel", (1, 0, 1), "2"),)
    trec = (TrecName("num_rel"),)

    level: Level = 1.0
    empty = "judgments"  # a fact of the judgments, whatever was returned

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
    convention = "unjudged documents and those with a negative grade do not count; summed over queries"
    source = "trec_eval num_nonrel_judged_ret"
    best_for = "telling known mistakes from unjudged documents"
    examples = (Example("NumNonrelRet", (1, 0, None, 0, -1), "2"),)
    trec = (TrecName("num_nonrel_judged_ret"),)

    level: Level = 1.0

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, {"judged, not relevant": lists.judged & ~lists.relevant(self.level)})
