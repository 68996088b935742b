"""Metrics averaged over several judges of the same documents."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from rankscope.declared import Param
from rankscope.lists import Array, Lists, ratio
from rankscope.metrics.base import Cutoff, Example, Level, Metric, NeededCutoff, Terms
from rankscope.metrics.trec import CUTOFFS, TrecName, two_places

FIFTHS = tuple(i / 5 for i in range(1, 11))  # 0.2 to 2.0
Multiple = Annotated[
    float, Param("look as far as this many times the number of relevant documents", above=0, high=1000)
]


def by_judge(lists: Lists) -> Array:
    """The grade that each judge gave each judged document, retrieved or not: ``[query, document, judge]``.

    NaN where a judge did not see the document; the highest where one judged in several parts.
    """
    pool = lists.pool
    assert pool is not None, "a metric that looks at judges says so in `needs`"
    out = np.full((*pool.shown.shape, int(pool.group.max(initial=0)) + 1), np.nan)
    query = np.arange(len(lists))[:, None]
    for aspect in range(pool.group.shape[1]):
        judge = np.maximum(pool.group[:, [aspect]], 0)
        place = (query, np.arange(pool.shown.shape[1]), judge)
        out[place] = np.fmax(out[place], pool.aspects[:, :, aspect])
    return out


def judges_of(grade: Array) -> Array:
    """How many judges each query has."""
    return np.asarray((~np.isnan(grade)).any(axis=1).sum(axis=1), dtype=float)


def over_judges(by: Array) -> Array:
    """The sum over the judges, one after another, so that no query's numbers depend on its neighbours'."""
    return np.asarray(np.cumsum(by, axis=-1, dtype=float)[..., -1])


class _OverJudges(Metric):
    """What a judge's relevant documents earn, and the mean over the judges."""

    convention = (
        "uses each judge's own grades: a document that a judge did not grade is not relevant for that judge; a judge who "
        "found nothing relevant counts as 0. Column 2 of the qrels names the judge; without it there is one judge"
    )
    needs = frozenset({"aspects"})  # the grades of every judge
    monotone = False  # not where the judges disagree which of two documents is the better one

    level: Level = 1.0

    def relevant_by_judge(self, lists: Lists, grade: Array) -> tuple[Array, Array]:
        """Relevant cells by judge, and how many relevant documents each judge knows."""
        relevant = grade >= max(self.level, 0.0)
        cells = relevant[:, : lists.shown.shape[1]] & lists.shown[:, :, None]
        return np.asarray(cells), np.asarray(relevant.sum(axis=1), dtype=float)


class AvgAP(_OverJudges, aliases=("map_by_judge",)):
    """Average precision by each judge's grades, averaged over the judges of the query."""

    formula = "mean over judges of AP"
    source = "trec_eval map_avgjg"
    best_for = "queries that several people judged, each with their own relevant documents"
    examples = (
        Example("AvgAP", ({"ann": 1, "bob": 0}, {"bob": 1}), "(1 + 1/2) / 2"),
        Example("AvgAP", (0, 1), "1 / 2"),
    )
    trec = (TrecName("map_avgjg"),)

    cutoff: Cutoff = None

    def terms(self, lists: Lists) -> Terms:
        grade = by_judge(lists)
        relevant, known = self.relevant_by_judge(lists, grade)
        earned = relevant * np.cumsum(relevant, axis=1, dtype=float) / lists.rank[:, :, None]
        shares = ratio(earned, known[:, None, :])
        return Terms(lists, {"precision so far / known, over judges": over_judges(shares)}, judges_of(grade))


class AvgP(_OverJudges):
    """The share of the first k documents that is relevant to a judge, averaged over the judges of the query."""

    formula = "mean over judges of (relevant in the top k / k)"
    source = "trec_eval P_avgjg"
    best_for = "what the first page offers to each of several people"
    positions = False
    examples = (
        Example("AvgP@2", ({"ann": 1, "bob": 1}, {"bob": 1}), "(1/2 + 2/2) / 2"),
        Example("AvgP@3", (1, 0, 1), "2 / 3"),
    )
    trec = (TrecName("P_avgjg", sets="cutoff", defaults=CUTOFFS),)

    cutoff: NeededCutoff = None

    def terms(self, lists: Lists) -> Terms:
        grade = by_judge(lists)
        relevant, _ = self.relevant_by_judge(lists, grade)
        return Terms(
            lists, {"judges to whom it is relevant": over_judges(relevant)}, judges_of(grade) * (self.cutoff or 0)
        )


class AvgRprec(_OverJudges):
    """Precision at a multiple of a judge's number of relevant documents, averaged over the judges of the query."""

    formula = "mean over judges of (relevant in the top c / c), where c is multiple · R of the judge, up to the next whole number"
    convention = (
        "c is multiple · R + 0.9, rounded down (trec_eval), where R counts this judge's relevant documents; divides "
        "by c even where fewer documents were returned"
    )
    source = "trec_eval Rprec_mult_avgjg"
    best_for = "comparing queries and judges with few and many relevant documents"
    examples = (
        Example("AvgRprec", ({"ann": 1, "bob": 0}, {"bob": 1}), "(1 + 0) / 2"),
        Example("AvgRprec(multiple=2)", ({"ann": 1, "bob": 0}, {"bob": 1}), "(1/2 + 1/2) / 2"),
    )
    trec = (TrecName("Rprec_mult_avgjg", sets="multiple", defaults=FIFTHS, reads=float, writes=two_places),)

    multiple: Multiple = 1.0

    def terms(self, lists: Lists) -> Terms:
        grade = by_judge(lists)
        relevant, known = self.relevant_by_judge(lists, grade)
        depth = np.floor(self.multiple * known + 0.9)[:, None, :]
        within = relevant & (lists.rank[:, :, None] <= depth)
        shares = ratio(within.astype(float), depth)
        return Terms(lists, {"1 / c within c, over judges": over_judges(shares)}, judges_of(grade))
