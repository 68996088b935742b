"""Metrics over preferences between pairs of documents."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.lists import Array, Lists
from rankscope.metrics.base import Cutoff, Example, Metric, Terms
from rankscope.metrics.judges import judges_of, over_judges
from rankscope.metrics.preferred import Preferences
from rankscope.metrics.trec import TrecName

Pairs = Annotated[
    Literal["all", "implied", "retrieved"],
    Param("which pairs count: all, those of which at least one was retrieved, or those of which both were"),
]
Fewer = Annotated[
    Literal["all", "retrieved"],
    Param("which pairs count: all, or those of which both documents were retrieved"),
]


class _Preferred(Metric):
    relevance = "graded"

    @property
    def needs(self) -> frozenset[str]:
        """The grades of every judge."""
        return frozenset({"aspects"})

    @property
    def monotone(self) -> bool:
        """Not where the judges disagree which of two documents is the better one."""
        return False

    @property
    def trec_ties(self) -> Literal["docid"]:
        """By rising document id."""
        return "docid"


class Prefs(_Preferred, aliases=("Preferences",)):
    """The share of judges' preferences for one document over another that the ranking fulfils."""

    formula = "preferences with the better document above / preferences"
    convention = (
        "a judge's grades say which of two documents is preferred, not by how much; documents not retrieved stand below all that "
        "were, and a pair of which neither was counts as a failure unless pairs says otherwise. average='pair' takes the share "
        "of judges pair by pair, average='judge' the share of pairs judge by judge; a judge without preferences counts as 0. For preferences trec_eval puts tied "
        "documents in the rising order of their ids, and so does ties='trec' for it"
    )
    source = "trec_eval prefs_simp, prefs_pair, prefs_avgjg and their _ret and _imp"
    best_for = "judgments that say which of two documents is better, also where judges contradict each other"
    examples = (
        Example("Prefs", (2, 0, 1), "2 / 3"),
        Example("Prefs", ({"ann": 2, "bob": 1}, {"ann": 0}, {"ann": 1, "bob": 2}), "2 / 4"),
        Example(
            "Prefs(average='pair')",
            ({"ann": 2, "bob": 1}, {"ann": 0}, {"ann": 1, "bob": 2}),
            "(1 + 1/2 + 0) / 3",
        ),
        Example(
            "Prefs(average='judge')",
            ({"ann": 2, "bob": 1}, {"ann": 0}, {"ann": 1, "bob": 2}),
            "(2/3 + 0/1) / 2",
        ),
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
        shares = _over(fulfilled, possible)
        return Terms(
            lists, {"share of preferences fulfilled, over judges": shares}, judges_of(preferences.grade)
        )


class PrefsR(_Preferred):
    """The share of preferences fulfilled when a judge's documents that are not relevant are as many as the relevant ones."""

    formula = "mean over judges of (preferences with the better document above / preferences), among the relevant and the first R others"
    convention = (
        "a judge with R relevant documents (grade above 0) and more others: of those only the first R in rank order count, and each of "
        "the others is set against those, too, so that even a perfect ranking stays below 1 (trec_eval). With fewer others, each "
        "relevant document fulfils what is missing. no_pairs='judge' does not follow trec_eval, where one judge without pairs makes the query 0"
    )
    source = "trec_eval prefs_avgjg_Rnonrel, prefs_avgjg_Rnonrel_ret"
    best_for = "preferences where many documents were judged not relevant, which would drown the rest"
    examples = (
        Example("PrefsR", (2, 0, 1), "(2 + 2) / (3 + 2)"),
        Example("PrefsR", (1, 0, 0), "1 / (1 + 2)"),
    )
    trec: ClassVar[tuple[TrecName, ...]] = (
        TrecName("prefs_avgjg_Rnonrel"),
        TrecName("prefs_avgjg_Rnonrel_ret", {"pairs": "retrieved"}),
    )

    pairs: Fewer = "all"
    no_pairs: Annotated[
        Literal["query", "judge"],
        Param("what counts as 0 where a judge has no pairs: the whole query, or this judge"),
    ] = "query"
    cutoff: Cutoff = None

    @property
    def needs(self) -> frozenset[str]:
        """The ids, too: of the documents that were not retrieved, those come first whose ids do."""
        return frozenset({"aspects", "identities"})

    def terms(self, lists: Lists) -> Terms:
        preferences = Preferences(lists, self.pairs)
        fulfilled, possible = preferences.by_judge(first_nonrelevant=True)
        relevant = preferences.relevant
        known = preferences.known(relevant)
        missing = np.maximum(known - preferences.known(preferences.nonrelevant), 0)
        shown = relevant[:, : lists.shown.shape[1]]
        # every relevant document, also one that was not retrieved, could have these
        possible = possible + relevant.sum(axis=1) * missing
        shares = _over(fulfilled + shown * missing[:, None, :], possible)
        factors = {"share of preferences fulfilled, over judges": shares}
        if self.no_pairs == "query":
            there = ~np.isnan(preferences.grade).all(axis=1)
            factors["every judge has pairs"] = ~(there & (possible == 0)).any(axis=1)[:, None]
        return Terms(lists, factors, judges_of(preferences.grade))


class NumPrefs(_Preferred):
    """How many preferences for one document over another the judges have."""

    formula = "preferences, over judges"
    convention = "summed over queries, and over judges: a pair of documents counts once for each judge"
    source = "trec_eval prefs_num_prefs_poss"
    best_for = "seeing what a share of preferences is a share of"
    examples = (Example("NumPrefs", (2, 0, 1), "3"),)
    bounds = (0.0, float("inf"))
    better: ClassVar[Literal["higher", "lower", "neither"]] = "neither"
    positions = False
    trec = (TrecName("prefs_num_prefs_poss"),)

    @property
    def empty(self) -> Literal["judgments"]:
        """A fact of the judgments, whatever was returned."""
        return "judgments"

    @property
    def aggregate(self) -> Literal["sum"]:
        """Counts are added up."""
        return "sum"

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, {}, base=over_judges(Preferences(lists, "all").by_judge()[1]))


class NumPrefsFul(_Preferred):
    """How many of the judges' preferences the ranking fulfils."""

    formula = "preferences with the better document above, over judges"
    convention = "summed over queries, and over judges; a document not retrieved stands below all that were"
    source = "trec_eval prefs_num_prefs_ful, prefs_num_prefs_ful_ret"
    best_for = "a share of preferences before division"
    examples = (
        Example("NumPrefsFul", (2, 0, 1), "2"),
        Example("NumPrefsFul(pairs='retrieved')", (1, 0), "1", {"known": 3}),
    )
    bounds = (0.0, float("inf"))
    trec: ClassVar[tuple[TrecName, ...]] = (
        TrecName("prefs_num_prefs_ful"),
        TrecName("prefs_num_prefs_ful_ret", {"pairs": "retrieved"}),
    )

    pairs: Fewer = "all"
    cutoff: Cutoff = None

    @property
    def aggregate(self) -> Literal["sum"]:
        """Counts are added up."""
        return "sum"

    def terms(self, lists: Lists) -> Terms:
        fulfilled, _ = Preferences(lists, self.pairs).by_judge()
        return Terms(lists, {"preferences fulfilled": over_judges(fulfilled)})


def _over(fulfilled: Array, possible: Array) -> Array:
    """The sum over judges of the share that each document fulfils."""
    whole = np.broadcast_to(possible[:, None, :], fulfilled.shape)
    return over_judges(np.divide(fulfilled, whole, out=np.zeros(fulfilled.shape), where=whole > 0))


__all__ = ["NumPrefs", "NumPrefsFul", "Prefs", "PrefsR"]
