"""Metrics of preferences between pairs of documents, and of several judges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.errors import InputError
from rankscope.lists import Array, Lists, ratio
from rankscope.metrics.base import Cutoff, Example, Level, Metric, NeededCutoff, Terms, over_aspects
from rankscope.metrics.trec import CUTOFFS, FIFTHS, TrecName, two_places

BELOW = 1 << 40  # below any rank


@dataclass(frozen=True, eq=False)
class Preferences:
    """The preferences of each judge, and the pairs of documents that the ranking orders, query by query."""

    lists: Lists
    pairs: str

    @cached_property
    def grade(self) -> Array:
        """The grade of each document by each judge."""
        return by_judge(self.lists)

    @cached_property
    def retrieved(self) -> Array:
        """True for judged documents that were retrieved."""
        out = np.zeros(self.grade.shape[:2], dtype=bool)
        out[:, : self.lists.shown.shape[1]] = self.lists.shown
        return out

    @cached_property
    def place(self) -> Array:
        """The rank. Documents not retrieved follow in the order of their ids."""
        assert self.lists.pool is not None
        return np.where(self.retrieved, self.lists.pool.rank, BELOW + self.lists.pool.by_id)

    @cached_property
    def in_parts(self) -> Array:
        """True if a judge judged a query in several parts: ``[query, judge]``."""
        pool = self.lists.pool
        assert pool is not None
        used = ~np.isnan(pool.aspects).all(axis=1)
        judges = range(self.grade.shape[2])
        return np.stack([(used & (pool.group == judge)).sum(axis=1) > 1 for judge in judges], axis=1)

    def prefers(self, query: int, judge: int) -> Array:
        """True if this judge prefers the first document of a pair to the second: ``[first, second]``, closed over several parts."""
        grade, pool = self.grade[query, :, judge], self.lists.pool
        assert pool is not None
        if not self.in_parts[query, judge]:
            return np.asarray(grade[:, None] > grade)
        seen = np.flatnonzero(~np.isnan(grade))
        over = np.zeros((len(seen), len(seen)), dtype=np.float32)
        for aspect in np.flatnonzero(pool.group[query] == judge):
            part = pool.aspects[query, seen, aspect]
            over[part[:, None] > part] = 1.0
        size = -1
        while size != (size := int(np.count_nonzero(over))):
            over = ((over + over @ over) > 0).astype(np.float32)
        if over.diagonal().any():
            raise InputError(
                f"{pool.where or 'the judgments'}: the preferences of one judge contradict each other: two documents are in one order in "
                "one part, and in the reverse order in others; give the parts to two judges (column 2)"
            )
        out = np.zeros((len(grade),) * 2, dtype=bool)
        out[np.ix_(seen, seen)] = over > 0
        return out

    def by_query(self) -> Iterator[tuple[int, Array, Array, Array]]:
        """Each query with its pairs ``[first, second]``: preferences of each judge, pairs that count, and pairs ranked in this order (the first retrieved)."""
        for query in range(len(self.grade)):
            first, second, place = self.retrieved[query, :, None], self.retrieved[query], self.place[query]
            counting = first & second if self.pairs == "retrieved" else first | second
            if self.pairs == "all":
                counting = np.ones_like(counting)
            over = np.stack([self.prefers(query, judge) for judge in range(self.grade.shape[2])])
            yield query, over, counting, counting & first & (place[:, None] < place)

    def by_judge(self, first_nonrelevant: bool = False) -> tuple[Array, Array]:
        """The number of preferences fulfilled by each document, and of all: ``[query, document, judge]``, ``[query, judge]``.

        With ``first_nonrelevant``, only the first R non-relevant documents of a judge with R relevant ones count.
        """
        fulfilled, possible = np.zeros(self.grade.shape), np.zeros(self.in_parts.shape)
        for query, over, counting, above in self.by_query():
            which = self._among_first(query, over) if first_nonrelevant else over
            fulfilled[query] = np.count_nonzero(which & above, axis=2).T
            possible[query] = np.count_nonzero(which & counting, axis=(1, 2))
        return fulfilled[:, : self.lists.shown.shape[1]], possible

    def by_pair(self) -> tuple[Array, Array]:
        """For each document, the share of judges who prefer it, summed over the pairs that it leads, and the number of pairs."""
        fulfilled, pairs = np.zeros(self.grade.shape), np.zeros(len(self.grade))
        for query, over, counting, above in self.by_query():
            ours = over.sum(axis=0)
            both = ours + ours.T  # judges with a preference
            for number in range(1, len(over) + 1):
                fulfilled[query, :, number - 1] = np.where((both == number) & above, ours, 0).sum(axis=1) / number
            pairs[query] = np.count_nonzero((both > 0) & counting) / 2  # every pair is counted from both sides
        return over_aspects(fulfilled)[:, : self.lists.shown.shape[1]], pairs

    @cached_property
    def relevant(self) -> Array:
        """Documents relevant to each judge."""
        return np.asarray(self.grade > 0)

    @cached_property
    def nonrelevant(self) -> Array:
        """Documents that each judge graded as not relevant."""
        return np.asarray(self.grade <= 0)

    def known(self, documents: Array) -> Array:
        """The number of these documents per judge, or of retrieved ones if only retrieved pairs count."""
        looked_at = self.retrieved[:, :, None] if self.pairs == "retrieved" else True
        return np.asarray((documents & looked_at).sum(axis=1))

    @cached_property
    def _many(self) -> Array:
        """True for judges with more non-relevant than relevant documents."""
        return np.asarray(self.known(self.nonrelevant) > self.known(self.relevant))

    @cached_property
    def _keep(self) -> Array:
        order = np.argsort(self.place, axis=1, kind="stable")[:, :, None]
        ranked = np.take_along_axis(self.nonrelevant, order, axis=1)
        number = np.empty(ranked.shape, dtype=np.int64)
        np.put_along_axis(number, np.broadcast_to(order, ranked.shape), np.cumsum(ranked, axis=1), axis=1)
        # with parts, trec_eval also counts relevant documents that were not retrieved
        most = np.where(self.in_parts, self.relevant.sum(axis=1), self.known(self.relevant))
        return np.asarray(~(self.nonrelevant & (number > most[:, None, :]) & self._many[:, None, :]))

    def _among_first(self, query: int, over: Array) -> Array:
        kept, nonrelevant = self._keep[query].T, self.nonrelevant[query].T
        over = over & kept[:, None, :]
        # without parts, trec_eval pairs every non-relevant document with the kept ones, including itself
        each_other = nonrelevant[:, :, None] & (nonrelevant & kept & self._many[query][:, None])[:, None, :]
        return np.asarray(np.where(self.in_parts[query][:, None, None], over & kept[:, :, None], over | each_other))


Pairs = Annotated[
    Literal["all", "implied", "retrieved"],
    Param("the pairs that count: all, pairs with at least one retrieved document, or with two"),
]
Fewer = Annotated[Literal["all", "retrieved"], Param("the pairs that count: all, or pairs of two retrieved documents")]


class _PreferenceMetric(Metric):
    """Base of metrics of preferences, which use the grades of every judge."""

    relevance = "graded"
    needs = frozenset({"aspects"})
    monotone = False  # judges may disagree about the better document
    trec_ties = "docid"


class Prefs(_PreferenceMetric, aliases=("Preferences",)):
    """The share of the judges' preferences between two documents that the ranking satisfies."""

    formula = "preferences with the better document above / preferences"
    convention = (
        "grades of a judge only order two documents, their difference does not count. Documents that were not "
        "retrieved rank below all others. By default a pair of two unretrieved documents counts as a failure (pairs='all'). "
        "average='pair' takes the share of judges pair by pair, average='judge' the share of "
        "pairs judge by judge. A judge without preferences counts as 0. For preferences trec_eval sorts tied "
        "documents by ascending id, as ties='trec' does here"
    )
    source = "trec_eval prefs_simp, prefs_pair, prefs_avgjg and their _ret and _imp"
    best_for = "judgments of the better of two documents, even if judges disagree"
    examples = (
        Example("Prefs", (2, 0, 1), "2 / 3"),
        Example("Prefs", ({"ann": 2, "bob": 1}, {"ann": 0}, {"ann": 1, "bob": 2}), "2 / 4"),
        Example("Prefs(average='pair')", ({"ann": 2, "bob": 1}, {"ann": 0}, {"ann": 1, "bob": 2}), "(1 + 1/2 + 0) / 3"),
        Example("Prefs(average='judge')", ({"ann": 2, "bob": 1}, {"ann": 0}, {"ann": 1, "bob": 2}), "(2/3 + 0/1) / 2"),
    )
    trec: ClassVar[tuple[TrecName, ...]] = tuple(
        TrecName(f"prefs_{name}{end}", {"average": average, "pairs": pairs})
        for end, pairs in (("", "all"), ("_ret", "retrieved"), ("_imp", "implied"))
        for name, average in (("simp", "simple"), ("pair", "pair"), ("avgjg", "judge"))
    )

    average: Annotated[
        Literal["simple", "pair", "judge"],
        Param("the unit of equal weight: every preference, every pair of documents, or every judge"),
    ] = "simple"
    pairs: Pairs = "all"
    cutoff: Cutoff = None

    def terms(self, lists: Lists) -> Terms:
        preferences = Preferences(lists, self.pairs)
        if self.average == "pair":
            fulfilled, pairs = preferences.by_pair()
            return Terms(lists, {"share of judges, over pairs fulfilled": fulfilled}, pairs)
        fulfilled, possible = preferences.by_judge()
        if self.average == "simple":
            return Terms(lists, {"preferences fulfilled": over_aspects(fulfilled)}, over_aspects(possible))
        shares = over_aspects(ratio(fulfilled, possible[:, None, :]))
        return Terms(lists, {"share of preferences fulfilled, over judges": shares}, judges_of(preferences.grade))


class PrefsR(_PreferenceMetric):
    """The share of preferences satisfied, with at most as many non-relevant documents per judge as relevant ones."""

    formula = "mean over judges of (preferences with the better document above / preferences), among the relevant and the first R others"
    convention = (
        "relevant means a grade above 0. For a judge with R relevant documents and more than R others, the first R others in "
        "rank order count, and the remaining ones are also compared with them. Even a perfect "
        "ranking stays below 1 (trec_eval). With fewer than R others, each relevant document satisfies the missing "
        "pairs. no_pairs='judge' differs from trec_eval, in which one judge without pairs makes the query 0"
    )
    source = "trec_eval prefs_avgjg_Rnonrel, prefs_avgjg_Rnonrel_ret"
    best_for = "preferences with many non-relevant documents, which would outweigh the rest"
    examples = (Example("PrefsR", (2, 0, 1), "(2 + 2) / (3 + 2)"), Example("PrefsR", (1, 0, 0), "1 / (1 + 2)"))
    trec: ClassVar[tuple[TrecName, ...]] = (
        TrecName("prefs_avgjg_Rnonrel"),
        TrecName("prefs_avgjg_Rnonrel_ret", {"pairs": "retrieved"}),
    )

    pairs: Fewer = "all"
    no_pairs: Annotated[
        Literal["query", "judge"],
        Param("the part that counts as 0 if a judge has no pairs: the whole query, or this judge"),
    ] = "query"
    cutoff: Cutoff = None
    needs = frozenset({"aspects", "identities"})  # documents that were not retrieved are ordered by id

    def terms(self, lists: Lists) -> Terms:
        preferences = Preferences(lists, self.pairs)
        fulfilled, possible = preferences.by_judge(first_nonrelevant=True)
        relevant = preferences.relevant
        known = preferences.known(relevant)
        missing = np.maximum(known - preferences.known(preferences.nonrelevant), 0)
        shown = relevant[:, : lists.shown.shape[1]]
        # every relevant document counts, retrieved or not
        possible = possible + relevant.sum(axis=1) * missing
        shares = over_aspects(ratio(fulfilled + shown * missing[:, None, :], possible[:, None, :]))
        factors = {"share of preferences fulfilled, over judges": shares}
        if self.no_pairs == "query":
            there = ~np.isnan(preferences.grade).all(axis=1)
            factors["every judge has pairs"] = ~(there & (possible == 0)).any(axis=1)[:, None]
        return Terms(lists, factors, judges_of(preferences.grade))


class NumPrefs(_PreferenceMetric):
    """The number of the judges' preferences between two documents."""

    formula = "preferences, over judges"
    convention = "summed over queries and judges: a pair of documents counts once for each judge"
    source = "trec_eval prefs_num_prefs_poss"
    best_for = "the denominator of the share of preferences"
    examples = (Example("NumPrefs", (2, 0, 1), "3"),)
    better: ClassVar[Literal["higher", "lower", "neither"]] = "neither"
    positions = False
    bounds = (0.0, float("inf"))
    aggregate = "sum"
    trec = (TrecName("prefs_num_prefs_poss"),)
    empty = "judgments"

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, {}, base=over_aspects(Preferences(lists, "all").by_judge()[1]))


class NumPrefsFul(_PreferenceMetric):
    """The number of the judges' preferences that the ranking satisfies."""

    formula = "preferences with the better document above, over judges"
    convention = "summed over queries and judges. A document that was not retrieved ranks below all others"
    source = "trec_eval prefs_num_prefs_ful, prefs_num_prefs_ful_ret"
    best_for = "the numerator of the share of preferences"
    examples = (
        Example("NumPrefsFul", (2, 0, 1), "2"),
        Example("NumPrefsFul(pairs='retrieved')", (1, 0), "1", {"known": 3}),
    )
    bounds = (0.0, float("inf"))
    aggregate = "sum"
    trec: ClassVar[tuple[TrecName, ...]] = (
        TrecName("prefs_num_prefs_ful"),
        TrecName("prefs_num_prefs_ful_ret", {"pairs": "retrieved"}),
    )

    pairs: Fewer = "all"
    cutoff: Cutoff = None

    def terms(self, lists: Lists) -> Terms:
        fulfilled, _ = Preferences(lists, self.pairs).by_judge()
        return Terms(lists, {"preferences fulfilled": over_aspects(fulfilled)})


Multiple = Annotated[float, Param("the depth as a multiple of the number of relevant documents", above=0, high=1000)]


def by_judge(lists: Lists) -> Array:
    """The grade of each judged document by each judge, retrieved or not: ``[query, document, judge]``.

    NaN if the judge did not grade it. The highest grade if the judge graded it in several parts.
    """
    pool = lists.pool
    assert pool is not None, "a metric of several judges declares aspects in `needs`"
    out = np.full((*pool.shown.shape, int(pool.group.max(initial=0)) + 1), np.nan)
    query = np.arange(len(lists))[:, None]
    for aspect in range(pool.group.shape[1]):
        judge = np.maximum(pool.group[:, [aspect]], 0)
        place = (query, np.arange(pool.shown.shape[1]), judge)
        out[place] = np.fmax(out[place], pool.aspects[:, :, aspect])
    return out


def judges_of(grade: Array) -> Array:
    """The number of judges of each query."""
    return np.asarray((~np.isnan(grade)).any(axis=1).sum(axis=1), dtype=float)


class _OverJudges(Metric):
    """Base of metrics averaged over judges."""

    family = "judges"
    convention = (
        "uses each judge's own grades: a document without a grade by a judge is not relevant for this judge. A judge "
        "without relevant documents counts as 0. Column 2 of the qrels names the judge. Without it there is one judge"
    )
    needs = frozenset({"aspects"})
    monotone = False  # judges may disagree about the better document

    level: Level = 1.0

    def relevant_by_judge(self, lists: Lists) -> tuple[Array, Array, Array]:
        """Relevant cells by judge, the number of relevant documents of each judge, and the number of judges."""
        grade = by_judge(lists)
        relevant = grade >= max(self.level, 0.0)
        cells = relevant[:, : lists.shown.shape[1]] & lists.shown[:, :, None]
        return np.asarray(cells), np.asarray(relevant.sum(axis=1), dtype=float), judges_of(grade)


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
        relevant, known, judges = self.relevant_by_judge(lists)
        earned = relevant * np.cumsum(relevant, axis=1, dtype=float) / lists.rank[:, :, None]
        shares = ratio(earned, known[:, None, :])
        return Terms(lists, {"precision so far / known, over judges": over_aspects(shares)}, judges)


class AvgP(_OverJudges):
    """The share of the first k documents that is relevant to a judge, averaged over the judges of the query."""

    formula = "mean over judges of (relevant in the top k / k)"
    source = "trec_eval P_avgjg"
    best_for = "the quality of the first page for each of several people"
    positions = False
    examples = (
        Example("AvgP@2", ({"ann": 1, "bob": 1}, {"bob": 1}), "(1/2 + 2/2) / 2"),
        Example("AvgP@3", (1, 0, 1), "2 / 3"),
    )
    trec = (TrecName("P_avgjg", sets="cutoff", defaults=CUTOFFS),)

    cutoff: NeededCutoff = None

    def terms(self, lists: Lists) -> Terms:
        relevant, _, judges = self.relevant_by_judge(lists)
        factors = {"judges to whom it is relevant": over_aspects(relevant)}
        return Terms(lists, factors, judges * (self.cutoff or 0))


class AvgRprec(_OverJudges):
    """Precision at a multiple of a judge's number of relevant documents, averaged over the judges of the query."""

    formula = "mean over judges of (relevant in the top c / c), with c = multiple · R of the judge, up to the next whole number"
    convention = (
        "c is multiple · R + 0.9, rounded down (trec_eval), and R counts this judge's relevant documents. Divides "
        "by c even if fewer documents were returned"
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
        relevant, known, judges = self.relevant_by_judge(lists)
        depth = np.floor(self.multiple * known + 0.9)[:, None, :]
        within = relevant & (lists.rank[:, :, None] <= depth)
        shares = ratio(within.astype(float), depth)
        return Terms(lists, {"1 / c within c, over judges": over_aspects(shares)}, judges)
