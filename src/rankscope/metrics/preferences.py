"""Which of two documents each judge prefers, and which of two a ranking puts first: pairs, counted in pieces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.errors import InputError
from rankscope.lists import Array, Lists, ratio
from rankscope.metrics.base import Cutoff, Example, Level, Metric, NeededCutoff, Terms
from rankscope.metrics.trec import CUTOFFS, FIFTHS, TrecName, two_places

CELLS = 1 << 22  # pairs of documents looked at together
BELOW = 1 << 40  # a place below any rank

Piece = tuple[slice, slice]  # queries, and those of their documents that are the first of a pair


@dataclass(frozen=True, eq=False)
class Preferences:
    """Which documents each judge prefers to which, and which of them stand above which; worked out in pieces."""

    lists: Lists
    pairs: str
    # by query and judge, of the queries that are being looked at
    partial: dict[tuple[int, int], Array] = field(default_factory=dict)

    @cached_property
    def grade(self) -> Array:
        """The grade that each judge gave each document."""
        return by_judge(self.lists)

    @cached_property
    def retrieved(self) -> Array:
        """Which of all judged documents were retrieved."""
        out = np.zeros(self.grade.shape[:2], dtype=bool)
        out[:, : self.lists.shown.shape[1]] = self.lists.shown
        return out

    @cached_property
    def place(self) -> Array:
        """The rank; documents not retrieved follow in the order of their ids."""
        assert self.lists.pool is not None
        return np.where(self.retrieved, self.lists.pool.rank, BELOW + self.lists.pool.by_id)

    @cached_property
    def in_parts(self) -> Array:
        """Which judges of which queries judged in several parts: ``[query, judge]``."""
        pool = self.lists.pool
        assert pool is not None
        used = ~np.isnan(pool.aspects).all(axis=1)
        judges = range(self.grade.shape[2])
        return np.stack([(used & (pool.group == judge)).sum(axis=1) > 1 for judge in judges], axis=1)

    def _partial(self, query: int, judge: int) -> Array:
        if (query, judge) not in self.partial:
            self.partial[query, judge] = self._close(query, judge)
        return self.partial[query, judge]

    def _close(self, query: int, judge: int) -> Array:
        """The preferences of a judge in several parts, and what follows from them: A over B and B over C is A over C."""
        pool = self.lists.pool
        assert pool is not None
        seen = np.flatnonzero(~np.isnan(self.grade[query, :, judge]))
        over = np.zeros((len(seen), len(seen)), dtype=np.float32)
        for aspect in np.flatnonzero(pool.group[query] == judge):
            grade = pool.aspects[query, seen, aspect]
            over[grade[:, None] > grade] = 1.0
        size = -1
        while size != (size := int(np.count_nonzero(over))):
            over = ((over + over @ over) > 0).astype(np.float32)
        if over.diagonal().any():
            raise InputError(
                f"{pool.where or 'the judgments'}: the preferences of one judge contradict each other: in one part a document is "
                "preferred to another, in other parts the other to it; give them to two judges (column 2)"
            )
        out = np.zeros((self.grade.shape[1],) * 2, dtype=bool)
        out[np.ix_(seen, seen)] = over > 0
        return out

    def pieces(self) -> Iterator[Piece]:
        """Queries and rows of documents of which all pairs fit into memory."""
        queries, docs = self.grade.shape[:2]
        many = max(1, CELLS // (docs * docs))
        rows = docs if docs * docs <= CELLS else max(1, CELLS // docs)
        for query in range(0, queries, many):
            self.partial.clear()
            for row in range(0, docs, rows):
                yield slice(query, min(query + many, queries)), slice(row, row + rows)

    def prefers(self, piece: Piece, judge: int, turned: bool = False) -> Array:
        """Whether this judge prefers the first document of a pair to the second; ``turned``, the second to the first."""
        queries, rows = piece
        grade = self.grade[queries, :, judge]
        first, second = grade[:, rows, None], grade[:, None, :]
        out = second > first if turned else first > second
        for query in np.flatnonzero(self.in_parts[queries, judge]).tolist():
            over = self._partial(queries.start + query, judge)
            out[query] = over.T[rows] if turned else over[rows]
        return np.asarray(out)

    def above(self, piece: Piece) -> Array:
        """Whether the first document of a pair was retrieved, and the second stands below it or was not."""
        queries, rows = piece
        place, retrieved = self.place[queries], self.retrieved[queries]
        out = retrieved[:, rows, None] & (place[:, rows, None] < place[:, None, :])
        return out & self.counting(piece)

    def counting(self, piece: Piece) -> Array:
        """Which pairs count."""
        queries, rows = piece
        first, second = self.retrieved[queries, rows, None], self.retrieved[queries, None, :]
        if self.pairs == "retrieved":
            return np.asarray(first & second)
        return np.asarray(first | second) if self.pairs == "implied" else np.ones((1, 1, 1), dtype=bool)

    def by_judge(self, first_nonrelevant: bool = False) -> tuple[Array, Array]:
        """The preferences that each document fulfils, and those there are: ``[query, document, judge]``, ``[query, judge]``.

        ``first_nonrelevant`` leaves only the first R documents that are not relevant to a judge who knows R relevant ones,
        where there are more of them.
        """
        fulfilled, possible = np.zeros(self.grade.shape), np.zeros(self.in_parts.shape)
        for piece in self.pieces():
            queries, rows = piece
            above, counting = self.above(piece), self.counting(piece)
            for judge in range(self.grade.shape[2]):
                which = self.prefers(piece, judge)
                if first_nonrelevant:
                    which = self._among_first(which, piece, judge)
                fulfilled[queries, rows, judge] = np.count_nonzero(which & above, axis=2)
                possible[queries, judge] += np.count_nonzero(which & counting, axis=(1, 2))
        return fulfilled[:, : self.lists.shown.shape[1]], possible

    def by_pair(self) -> tuple[Array, Array]:
        """For each document the share of judges who prefer it, summed over the pairs it leads; and how many pairs there are."""
        judges = self.grade.shape[2]
        fulfilled, pairs = np.zeros((*self.grade.shape[:2], judges)), np.zeros(len(self.grade))
        for piece in self.pieces():
            queries, rows = piece
            above, counting = self.above(piece), self.counting(piece)
            ours = np.zeros((), dtype=np.int32)
            both = np.zeros((), dtype=np.int32)
            for judge in range(judges):
                which = self.prefers(piece, judge)
                ours = ours + which
                both = both + which + self.prefers(piece, judge, turned=True)
            for number in range(1, judges + 1):
                which = np.where((both == number) & above, ours, 0)
                fulfilled[queries, rows, number - 1] = which.sum(axis=2) / number
            # every pair stands here twice, once from either side
            pairs[queries] += np.count_nonzero((both > 0) & counting, axis=(1, 2)) / 2
        return over_judges(fulfilled)[:, : self.lists.shown.shape[1]], pairs

    @cached_property
    def relevant(self) -> Array:
        """Documents relevant to each judge."""
        return np.asarray(self.grade > 0)

    @cached_property
    def nonrelevant(self) -> Array:
        """Documents that each judge saw and found not relevant."""
        return np.asarray(self.grade <= 0)

    def known(self, documents: Array) -> Array:
        """How many of these each judge knows, among those retrieved where only they count."""
        looked_at = self.retrieved[:, :, None] if self.pairs == "retrieved" else True
        return np.asarray((documents & looked_at).sum(axis=1))

    @cached_property
    def _keep(self) -> Array:
        """All documents but those after the first R that are not relevant, where there are more than R of them."""
        order = np.argsort(self.place, axis=1, kind="stable")[:, :, None]
        ranked = np.take_along_axis(self.nonrelevant, order, axis=1)
        number = np.empty(ranked.shape, dtype=np.int64)
        np.put_along_axis(number, np.broadcast_to(order, ranked.shape), np.cumsum(ranked, axis=1), axis=1)
        few = self.known(self.relevant)
        many = self.known(self.nonrelevant) > few
        # with parts, trec_eval counts all that are relevant here, also those not retrieved
        most = np.where(self.in_parts, self.relevant.sum(axis=1), few)
        return np.asarray(~(self.nonrelevant & (number > most[:, None, :]) & many[:, None, :]))

    def _among_first(self, which: Array, piece: Piece, judge: int) -> Array:
        queries, rows = piece
        kept = self._keep[queries, :, judge]
        whole = self.in_parts[queries, judge]
        which = which & kept[:, None, :]
        parted = which & kept[:, rows, None]
        # without parts, trec_eval pairs every document that is not relevant with those kept, itself among them
        nonrelevant = self.nonrelevant[queries, :, judge]
        many = (self.known(self.nonrelevant) > self.known(self.relevant))[queries, judge]
        each_other = nonrelevant[:, rows, None] & (nonrelevant & kept & many[:, None])[:, None, :]
        return np.where(whole[:, None, None], parted, which | each_other)


# --- metrics over preferences between pairs of documents -----------------------------------------------


Pairs = Annotated[
    Literal["all", "implied", "retrieved"],
    Param("which pairs count: all, those of which at least one was retrieved, or those of which both were"),
]
Fewer = Annotated[
    Literal["all", "retrieved"], Param("which pairs count: all, or those of which both documents were retrieved")
]


class _PreferenceMetric(Metric):
    """What metrics of preferences share: they look at the grades of every judge."""

    relevance = "graded"
    needs = frozenset({"aspects"})  # the grades of every judge
    monotone = False  # not where the judges disagree which of two documents is the better one
    trec_ties = "docid"  # by rising document id


class Prefs(_PreferenceMetric, aliases=("Preferences",)):
    """The share of the judges' preferences between two documents that the ranking satisfies."""

    formula = "preferences with the better document above / preferences"
    convention = (
        "a judge's grades say which of two documents is preferred, not by how much; documents that were not "
        "retrieved rank below all others, and a pair in which neither was retrieved counts as a failure unless "
        "pairs says otherwise. average='pair' takes the share of judges pair by pair, average='judge' the share of "
        "pairs judge by judge; a judge without preferences counts as 0. For preferences trec_eval sorts tied "
        "documents by ascending id, and so does ties='trec' here"
    )
    source = "trec_eval prefs_simp, prefs_pair, prefs_avgjg and their _ret and _imp"
    best_for = "judgments of which of two documents is better, even where judges disagree"
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
        Param("what counts the same: every preference, every pair of documents, or every judge"),
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
            return Terms(lists, {"preferences fulfilled": over_judges(fulfilled)}, over_judges(possible))
        shares = over_judges(ratio(fulfilled, possible[:, None, :]))
        return Terms(lists, {"share of preferences fulfilled, over judges": shares}, judges_of(preferences.grade))


class PrefsR(_PreferenceMetric):
    """The share of preferences satisfied, counting at most as many non-relevant documents of a judge as relevant ones."""

    formula = "mean over judges of (preferences with the better document above / preferences), among the relevant and the first R others"
    convention = (
        "for a judge with R relevant documents (grade above 0) and more than R others, only the first R others in "
        "rank order count, and each of the remaining ones is compared with those too, so that even a perfect "
        "ranking stays below 1 (trec_eval). With fewer than R others, each relevant document satisfies what is "
        "missing. no_pairs='judge' departs from trec_eval, where one judge without pairs makes the query 0"
    )
    source = "trec_eval prefs_avgjg_Rnonrel, prefs_avgjg_Rnonrel_ret"
    best_for = "preferences where many documents were judged not relevant and would outweigh the rest"
    examples = (Example("PrefsR", (2, 0, 1), "(2 + 2) / (3 + 2)"), Example("PrefsR", (1, 0, 0), "1 / (1 + 2)"))
    trec: ClassVar[tuple[TrecName, ...]] = (
        TrecName("prefs_avgjg_Rnonrel"),
        TrecName("prefs_avgjg_Rnonrel_ret", {"pairs": "retrieved"}),
    )

    pairs: Fewer = "all"
    no_pairs: Annotated[
        Literal["query", "judge"], Param("what counts as 0 where a judge has no pairs: the whole query, or this judge")
    ] = "query"
    cutoff: Cutoff = None
    # the ids, too: of the documents that were not retrieved, those come first whose ids do
    needs = frozenset({"aspects", "identities"})

    def terms(self, lists: Lists) -> Terms:
        preferences = Preferences(lists, self.pairs)
        fulfilled, possible = preferences.by_judge(first_nonrelevant=True)
        relevant = preferences.relevant
        known = preferences.known(relevant)
        missing = np.maximum(known - preferences.known(preferences.nonrelevant), 0)
        shown = relevant[:, : lists.shown.shape[1]]
        # every relevant document, also one that was not retrieved, could have these
        possible = possible + relevant.sum(axis=1) * missing
        shares = over_judges(ratio(fulfilled + shown * missing[:, None, :], possible[:, None, :]))
        factors = {"share of preferences fulfilled, over judges": shares}
        if self.no_pairs == "query":
            there = ~np.isnan(preferences.grade).all(axis=1)
            factors["every judge has pairs"] = ~(there & (possible == 0)).any(axis=1)[:, None]
        return Terms(lists, factors, judges_of(preferences.grade))


class _CountOfPreferences(_PreferenceMetric):
    """What counts of preferences share: they are summed."""

    bounds = (0.0, float("inf"))
    aggregate = "sum"


class NumPrefs(_CountOfPreferences):
    """The number of preferences between two documents that the judges have."""

    formula = "preferences, over judges"
    convention = "summed over queries and judges: a pair of documents counts once for each judge"
    source = "trec_eval prefs_num_prefs_poss"
    best_for = "seeing what the share of preferences is a share of"
    examples = (Example("NumPrefs", (2, 0, 1), "3"),)
    better: ClassVar[Literal["higher", "lower", "neither"]] = "neither"
    positions = False
    trec = (TrecName("prefs_num_prefs_poss"),)
    empty = "judgments"  # a fact of the judgments, whatever was returned

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, {}, base=over_judges(Preferences(lists, "all").by_judge()[1]))


class NumPrefsFul(_CountOfPreferences):
    """The number of the judges' preferences that the ranking satisfies."""

    formula = "preferences with the better document above, over judges"
    convention = "summed over queries and judges; a document that was not retrieved ranks below all others"
    source = "trec_eval prefs_num_prefs_ful, prefs_num_prefs_ful_ret"
    best_for = "the share of preferences before division"
    examples = (
        Example("NumPrefsFul", (2, 0, 1), "2"),
        Example("NumPrefsFul(pairs='retrieved')", (1, 0), "1", {"known": 3}),
    )
    trec: ClassVar[tuple[TrecName, ...]] = (
        TrecName("prefs_num_prefs_ful"),
        TrecName("prefs_num_prefs_ful_ret", {"pairs": "retrieved"}),
    )

    pairs: Fewer = "all"
    cutoff: Cutoff = None

    def terms(self, lists: Lists) -> Terms:
        fulfilled, _ = Preferences(lists, self.pairs).by_judge()
        return Terms(lists, {"preferences fulfilled": over_judges(fulfilled)})


# --- metrics averaged over several judges of the same documents


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

    family = "judges"
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
        factors = {"judges to whom it is relevant": over_judges(relevant)}
        return Terms(lists, factors, judges_of(grade) * (self.cutoff or 0))


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
