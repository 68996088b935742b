"""Metrics of binary relevance."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.lists import Array, Lists, running, total
from rankscope.metrics.base import Cutoff, Example, JudgedOnly, Level, Metric, NeededCutoff, Terms
from rankscope.metrics.trec import CUTOFFS, NAMES_OF_CAPPED_RECALL, TENTHS, TrecName, two_places

Beta = Annotated[float, Param("the weight of recall relative to precision", above=0, high=1e6)]


class _Binary(Metric):
    """Base of metrics of binary relevance."""

    level: Level = 1.0
    judged_only: JudgedOnly = False

    additive = True  # unless earnings depend on more than own relevance and rank

    @property
    def looks_below(self) -> bool:
        """True if the denominator counts relevant documents of the whole list."""
        return str(getattr(self, "denominator", "")).endswith("positives_in_list")

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, {"relevant": lists.relevant(self.level)}, self.out_of(lists))

    def harmonic_mean(self, lists: Lists, beta: float, size: Array | float) -> Terms:
        """The harmonic mean of precision among ``size`` documents and recall, which weighs beta times more."""
        factors = {"relevant": lists.relevant(self.level), "1 + beta²": np.asarray(1 + beta**2)}
        return Terms(lists, factors, beta**2 * lists.known(self.level) + size)

    def out_of(self, lists: Lists) -> Array | float:
        """The denominator: k, or the relevant documents that are known, in the list or in the top k."""
        k, denominator = float(getattr(self, "cutoff", None) or 0), getattr(self, "denominator", "relevant")
        if denominator == "k":
            return k
        if denominator == "min_k_listlen":
            return lists.retrieved
        if denominator == "hits_at_k":
            return total(lists.relevant(self.level))
        worth = total(lists.whole.relevant(self.level)) if self.looks_below else lists.known(self.level)
        if denominator == "min_relevant_listlen":
            return np.minimum(worth, lists.retrieved)
        return np.minimum(worth, k) if denominator.startswith("min_k_") else worth


class P(_Binary, aliases=("Precision",)):
    """The share of the first k documents that is relevant."""

    formula = "relevant in the top k / k"
    convention = "divides by k even if fewer documents were returned. denominator='min_k_listlen' does not"
    source = "trec_eval P, relative_P"
    best_for = "the quality of the first page, if all relevant documents count the same"
    not_for = "queries with fewer relevant documents than k, which cannot reach 1"
    examples = (Example("P@3", (1, 0, 1, 0, 0, 1), "2 / 3"), Example("P@5", (1, 0, 1), "2 / 5"))
    positions = False
    trec = (
        TrecName("P", sets="cutoff", defaults=CUTOFFS),
        TrecName("relative_P", parameters={"denominator": "min_k_relevant"}, sets="cutoff", defaults=CUTOFFS),
    )

    cutoff: NeededCutoff = None
    denominator: Annotated[
        Literal["k", "min_k_listlen", "min_k_relevant"],
        Param("k, or the smaller of k and the documents returned or known relevant"),
    ] = "k"


class R(_Binary, aliases=("Recall",)):
    """The share of all known relevant documents that is in the first k."""

    formula = "relevant in the top k / known relevant"
    convention = "divides by all known relevant documents, so it stays below 1 if there are more than k. denominator='min_k_relevant' does not"
    source = "trec_eval recall"
    best_for = "candidate stages, legal and patent search: missed documents are lost"
    not_for = "a cutoff below the number of relevant documents: it cannot reach 1"
    examples = (Example("R@3", (1, 0, 1, 0, 0, 1), "2 / 8", {"known": 8}),)
    positions = False
    trec = (TrecName("recall", sets="cutoff", defaults=CUTOFFS),)
    shorthands = tuple(
        TrecName(name, parameters={"denominator": "min_k_relevant"}, sets="cutoff") for name in NAMES_OF_CAPPED_RECALL
    )

    cutoff: NeededCutoff = None
    denominator: Annotated[
        Literal["relevant", "min_k_relevant", "positives_in_list"],
        Param("known relevant, the smaller of that and k, or relevant in the returned list"),
    ] = "relevant"


class F(_Binary, aliases=("F1",)):
    """The harmonic mean of precision and recall of the first k documents."""

    formula = "(1 + beta²) · hits / (beta² · known relevant + k)"
    convention = "beta is beta: recall weighs beta times more (trec_eval's x in set_F is beta squared)"
    source = "van Rijsbergen, Information Retrieval, 1979"
    best_for = "one number for precision and recall at a fixed depth"
    examples = (Example("F@4", (1, 0, 1, 0), "2 * 2 / (3 + 4)", {"known": 3}),)
    positions = False

    cutoff: NeededCutoff = None
    beta: Beta = 1.0

    def terms(self, lists: Lists) -> Terms:
        return self.harmonic_mean(lists, self.beta, float(self.cutoff or 0))


class Success(_Binary, aliases=("hit_rate", "HitRate", "hit", "HR")):
    """1 if one of the first k documents is relevant, otherwise 0."""

    formula = "1 if any of the top k is relevant"
    convention = "0 or 1 per query, not the number of hits"
    source = "trec_eval success"
    best_for = "known-item search and question answering: one good answer is enough"
    examples = (Example("Success@3", (0, 0, 1), "1"), Example("Success@2", (0, 0, 1), "0"))
    positions = False
    counts = "one"
    trec = (TrecName("success", sets="cutoff", defaults=(1, 5, 10)),)

    cutoff: NeededCutoff = None

    def terms(self, lists: Lists) -> Terms:
        return Terms(lists, {"first relevant": lists.first_relevant(self.level)})


class RR(_Binary, aliases=("MRR", "ReciprocalRank", "MeanReciprocalRank")):
    """One divided by the rank of the first relevant document."""

    formula = "1 / rank of the first relevant"
    convention = (
        "0 if the top k has no relevant document. not_found='skip' leaves these queries out of the mean and counts them"
    )
    source = "Kantor and Voorhees, TREC-5 Confusion Track, 2000; trec_eval recip_rank"
    best_for = "navigational and known-item search: one right answer, as early as possible"
    not_for = "comparing systems that all have a relevant document at rank 1"
    examples = (Example("RR", (0, 0, 1, 1), "1 / 3"), Example("RR@2", (0, 0, 1), "0"))
    counts = "one"
    trec = (TrecName("recip_rank"),)

    cutoff: Cutoff = None
    not_found: Annotated[Literal[0, "skip"], Param("the value of a query with no relevant document in the top k")] = 0

    @property
    def empty(self) -> float | None:
        """0, or None if such queries are skipped."""
        return None if self.not_found == "skip" else 0.0

    @property
    def additive(self) -> bool:  # type: ignore[override]
        """False if the order decides if a query is skipped."""
        return self.not_found != "skip"

    @property
    def settled_by_grade(self) -> bool:
        """False if a bad order may skip the query instead of giving the worst value."""
        return self.additive

    def terms(self, lists: Lists) -> Terms:
        marked = lists.first_relevant(self.level)
        defined = np.asarray(marked.any(axis=1)) if self.not_found == "skip" else None
        return Terms(lists, {"first relevant": marked, "1/rank": 1.0 / lists.rank}, defined=defined)


class AP(_Binary, aliases=("MAP", "AveragePrecision", "average_precision")):
    """The precision at each relevant document, averaged over all known relevant ones."""

    formula = "sum over relevant documents of (precision at their rank) / known relevant"
    convention = "divides by all known relevant documents, also with a cutoff (as trec_eval). Most recommender tools use denominator='min_k_relevant'"
    source = "trec_eval map, map_cut"
    best_for = "several relevant documents per query that should all rank high"
    examples = (Example("AP", (1, 0, 1, 0, 0, 1), "(1/1 + 2/3 + 3/6) / 3"),)
    trec: ClassVar[tuple[TrecName, ...]] = (TrecName("map"), TrecName("map_cut", sets="cutoff", defaults=CUTOFFS))

    cutoff: Cutoff = None
    denominator: Annotated[
        Literal[
            "relevant", "min_k_relevant", "min_relevant_listlen", "hits_at_k", "k", "positives_in_list",
            "min_k_positives_in_list",
        ],
        Param(
            "known relevant, the smaller of that and k or the list's length, hits in the top k, k, relevant in the returned list, "
            "or the smaller of that and k",
            need_at=("min_k_relevant", "k", "min_k_positives_in_list"),
        ),
    ] = "relevant"  # fmt: skip

    @property
    def monotone(self) -> bool:
        """False if divided by the hits in the top k: one more hit, low in the list, may lower their mean precision."""
        return not (self.denominator == "hits_at_k" and self.cutoff is not None)

    @property
    def additive(self) -> bool:  # type: ignore[override]
        """False if divided by the hits in the top k, which depend on the order."""
        return self.denominator != "hits_at_k"

    @property
    def settled_by_grade(self) -> bool:
        """False if divided by the hits in the top k."""
        return self.additive

    def terms(self, lists: Lists) -> Terms:
        precision = lists.relevant_so_far(self.level) / lists.rank
        factors = {"relevant": lists.relevant(self.level), "precision so far": precision}
        return Terms(lists, factors, self.out_of(lists))


class GMAP(AP, aliases=("GeometricMAP",)):
    """Average precision with a geometric mean over queries, so that hard queries count more."""

    formula = "exp(mean over queries of ln max(AP, 0.00001))"
    convention = "a query at 0 counts as 0.00001"
    source = "Robertson, On GMAP, CIKM 2006; trec_eval gm_map"
    best_for = "improving the queries that fail"
    not_for = "incomplete judgments: badly judged queries dominate"
    examples = (Example("GMAP", (0, 1), "1 / 2"),)
    trec = (TrecName("gm_map"),)
    aggregate = "geometric"


class Rprec(_Binary, aliases=("RPrec", "R_precision", "r-precision", "RPrecision", "R-prec")):
    """Precision at rank R, where R is the number of known relevant documents."""

    formula = "relevant in the top R / R, with R the number of known relevant"
    convention = "divides by R even if fewer documents were returned. One more relevant document makes R larger, and may raise the value"
    source = "trec_eval Rprec"
    best_for = "a cutoff that fits each query"
    examples = (Example("Rprec", (1, 0, 1, 1), "2 / 3"),)
    trec = (TrecName("Rprec"),)

    def terms(self, lists: Lists) -> Terms:
        known = lists.known(self.level)
        return Terms(lists, {"relevant": lists.relevant(self.level), "within R": lists.rank <= known[:, None]}, known)


Compat = Annotated[
    Literal[9, 10],
    Param(
        "the rounding of recall times R to a number of documents, as in this version of trec_eval: 10 half away from zero, 9 floor(x + 0.9)"
    ),
]


def documents_needed(recall: float, known: Array, compat: int) -> Array:
    """The number of relevant documents at a level of recall."""
    exact = recall * known
    if compat == 9:
        return np.floor(exact + 0.9)
    whole = np.floor(exact)
    return whole + (exact - whole >= 0.5)


def best_beyond(relevant: Array, precision: Array, need: Array) -> Array:
    """Mark, in each row, the first cell of the highest precision with at least ``need`` relevant documents."""
    candidate = np.where(relevant & (running(relevant) >= need[:, None]), precision, 0.0)
    best = (candidate == candidate.max(axis=1, keepdims=True)) & (candidate > 0)
    return np.asarray(best & (running(best) == 1))


class IPrec(Metric, aliases=("InterpolatedPrecision",), at="recall"):
    """The best precision at this recall level or beyond."""

    family = "interpolated"
    formula = "max over ranks with recall ≥ x of precision"
    convention = "x · R is rounded half away from zero (trec_eval 10). compat=9 rounds up from a tenth, as trec_eval 9 and pytrec_eval"
    source = "trec_eval iprec_at_recall"
    best_for = "drawing precision against recall"
    examples = (Example("IPrec@0.5", (1, 0, 1, 0), "2 / 3", {"known": 4}),)
    trec = (TrecName("iprec_at_recall", sets="recall", defaults=TENTHS, reads=float, writes=two_places),)

    recall: Annotated[float | None, Param("the share of the known relevant documents", low=0, high=1, needed=True)] = (
        None
    )
    level: Level = 1.0
    compat: Compat = 10
    judged_only: JudgedOnly = False

    def terms(self, lists: Lists) -> Terms:
        relevant = lists.relevant(self.level)
        precision = running(relevant) / lists.rank
        need = documents_needed(float(self.recall or 0), lists.known(self.level), self.compat)
        factors = {"best from here on": best_beyond(relevant, precision, need), "precision so far": precision}
        return Terms(lists, factors)


class IPrecAvg(Metric, aliases=("ElevenPointAverage", "11ptAP")):
    """The mean of interpolated precision over eleven recall levels."""

    family = "interpolated"
    formula = "mean of IPrec at recall 0, 0.1 ... 1"
    convention = "rounds as IPrec does: half away from zero. compat=9 for the older rule"
    source = "trec_eval 11pt_avg"
    best_for = "comparing with papers from before 2000"
    examples = (Example("IPrecAvg", (1, 1), "1"), Example("IPrecAvg", (0, 1), "11 * (1/2) / 11"))
    trec = (TrecName("11pt_avg", sets="points", defaults=(TENTHS,), reads=float, together=True, plain_too=True),)

    points: Annotated[tuple[float, ...], Param("the levels of recall", low=0, high=1)] = TENTHS
    level: Level = 1.0
    compat: Compat = 10
    judged_only: JudgedOnly = False

    def terms(self, lists: Lists) -> Terms:
        relevant, known = lists.relevant(self.level), lists.known(self.level)
        precision = running(relevant) / lists.rank
        marks = (best_beyond(relevant, precision, documents_needed(x, known, self.compat)) for x in self.points)
        factors = {"levels decided here": sum(marks, np.zeros(relevant.shape)), "precision so far": precision}
        return Terms(lists, factors, float(len(self.points)))
