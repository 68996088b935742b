"""Metrics of a reader who goes down the list and stops at some point."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from rankscope.declared import Lookup, Param, plain
from rankscope.errors import InputError
from rankscope.lists import Array, Ideal, Lists, each, each_rank, not_before, total
from rankscope.metrics.base import (
    Cutoff,
    Example,
    JudgedOnly,
    Level,
    MaxGrade,
    Metric,
    Terms,
    gains_of,
    reason_against_gains,
)
from rankscope.metrics.trec import RbpName, TrecName

Persistence = Annotated[float, Param("the chance of going on to the next document", low=0, high=1)]


class ERR(Metric, aliases=("ExpectedReciprocalRank",)):
    """One divided by the rank at which a reader stops satisfied: documents below good ones count less."""

    formula = (
        "sum over ranks of (1/rank) · satisfied here · not satisfied before, satisfied = (2^grade - 1) / 2^max_grade"
    )
    convention = (
        "max_grade is the top of the scale (4 by default), not the best grade of the query. A value of 1 cannot be reached. "
        "stops='ntcireval' is NTCIREVAL's ERR: satisfied = grade / (max_grade + 1)"
    )
    source = "Chapelle et al., Expected Reciprocal Rank for Graded Relevance, CIKM 2009"
    best_for = "graded judgments, if one good answer ends the search"
    examples = (
        Example("ERR(max_grade=3)", (3, 0, 2), "7/8 + (1/8) * (3/8) / 3"),
        Example("ERR(max_grade=3, stops='ntcireval')", (3, 0, 2), "3/4 + (1/4) * (2/4) / 3"),
    )
    relevance = "graded"

    cutoff: Cutoff = None
    max_grade: MaxGrade = 4.0
    judged_only: JudgedOnly = False
    stops: Annotated[
        Literal["exponential", "ntcireval"],
        Param("the chance that a grade satisfies: (2^grade - 1) / 2^max_grade, or grade / (max_grade + 1)"),
    ] = "exponential"

    def satisfied(self, cells: Lists | Ideal) -> Array:
        """The chance that each document satisfies the reader."""
        if self.stops == "ntcireval":
            return gains_of(cells, "linear") / (self.max_grade + 1.0)
        return np.asarray(gains_of(cells, "exponential") / 2.0**self.max_grade)

    def terms(self, lists: Lists) -> Terms:
        self.refuse_grades_above(self.max_grade, lists)
        satisfied = self.satisfied(lists)
        factors = {"satisfied here": satisfied, "reaches here": not_before(satisfied)}
        return Terms(lists, {**factors, "1/rank": 1.0 / lists.rank})


class RBP(Metric, aliases=("RankBiasedPrecision",)):
    """The gain of a reader who moves on to the next document with a fixed probability p."""

    formula = "(1 - p) · sum of gain · p^(rank - 1)"
    convention = (
        "p=0.8. Documents are relevant or not (level). Next to RBPResidual a table shows both in one cell. With max_grade=2 the gain is grade/2. With max_grade='query' "
        "it is the grade over the query's best grade if that is above 1, as in trec_eval 10"
    )
    source = "Moffat and Zobel, Rank-biased precision, TOIS 2008; trec_eval rbp"
    best_for = "judgments of uneven depth: the effect of unjudged documents has a known bound"
    examples = (
        Example("RBP(p=0.5)", (1, 0, 1), "0.5 * (1 + 0.25)"),
        Example("RBP(max_grade=2, p=0.5)", (2, 0, 1), "0.5 * (1 + 0.25 / 2)"),
    )
    trec = (RbpName("rbp", parameters={"p": 0.9, "max_grade": "query"}, sets="gain"),)

    cutoff: Cutoff = None
    p: Persistence = 0.8
    level: Level = 1.0
    max_grade: Annotated[
        float | Literal["query"] | None,
        Param(
            "gain is grade / max_grade instead of relevant or not. 'query' takes the query's best",
            above=0,
            also={"max_rel": {}},
        ),
    ] = None
    gain: Annotated[
        Lookup | None,
        Param(
            "the gain of each grade before it is divided by max_grade: a table like {1: 1, 2: 3}; a grade missing from it is its "
            "own gain",
            reason_against=reason_against_gains,
        ),
    ] = None
    judged_only: JudgedOnly = False

    def check(self) -> None:
        """Refuse gains above the top of the scale."""
        if self.gain is None:
            return
        most = max(worth for _, worth in self.gain)
        if self.max_grade != "query" and most > float(self.max_grade or 1):
            scale, top = f"max_grade={plain(self.max_grade)}" if self.max_grade else "1", plain(most)
            raise InputError(
                f"RBP(gain={self.gain!r}): a gain of {top} is above {scale}; "
                f"write RBP(gain={self.gain!r}, max_grade={top}) or max_grade='query'"
            )

    additive = True  # a position earns by its own gain and rank

    @property
    def monotone(self) -> bool:
        """False with a table, which may give a better grade a lower gain, if only a grade that it leaves out."""
        return self.gain is None

    @property
    def relevance(self) -> Literal["binary", "graded"]:  # type: ignore[override]
        """Graded if there is a scale to divide by."""
        return "binary" if self.max_grade is None and self.gain is None else "graded"

    def _gain(self, lists: Lists) -> Array:
        if self.gain is not None:
            return self.of_table(lists, self.gain)
        grade = np.where(lists.judged, lists.grade, 0.0)
        if self.max_grade is None:
            return lists.relevant(self.level).astype(float)
        if self.max_grade == "query":
            return np.asarray(grade / np.maximum(lists.ideal.grade.max(axis=1), 1.0)[:, None])
        self.refuse_grades_above(float(self.max_grade), lists)
        return grade / float(self.max_grade)

    def of_table(self, lists: Lists, table: Lookup) -> Array:
        """Return gains from a table, as a share of the scale."""
        gain, best = gains_of(lists, table), gains_of(lists.ideal, table).max(axis=1)
        if self.max_grade == "query":
            # as in trec_eval, the scale holds all of the table and every whole grade up to the query's best
            top = np.maximum(lists.ideal.grade.max(axis=1), 0.0)
            left_out = each(lambda g: _largest_outside(table, g), top)
            scale = np.maximum(np.maximum(best, left_out), max(1.0, *(worth for _, worth in table)))
            return np.asarray(gain / scale[:, None])
        most = float(np.max(best, initial=0.0))
        if most > float(self.max_grade or 1):
            scale = plain(float(self.max_grade or 1))
            raise InputError(
                f"{self}: a document gains {plain(most)}, above {scale}; write {self.having(max_grade=most)}"
            )
        return gain / float(self.max_grade or 1)

    @property
    def residual(self) -> Metric | None:
        """The metric of the earnings that unjudged documents could add. None if gains have a table or holes are left out."""
        plain = not self.judged_only and self.gain is None
        return RBPResidual(p=self.p, cutoff=self.cutoff) if plain else None

    def terms(self, lists: Lists) -> Terms:
        name = "relevant" if self.relevance == "binary" else "gain"
        return Terms(lists, {name: self._gain(lists), "looks here": looks(self.p, lists.rank)})


class RBPResidual(Metric, aliases=("RBPResid", "RankBiasedPrecisionResidual")):
    """How much higher rank-biased precision could be if all unjudged documents were perfect."""

    formula = "p^n + (1 - p) · sum over unjudged documents of p^(rank - 1), with n documents returned"
    convention = (
        "p=0.8. Documents with a negative grade count as unjudged. Everything below the end of the list is also unknown "
        "(p^n), which trec_eval leaves out if every returned document was judged: tail='with_unjudged'"
    )
    source = "Moffat and Zobel, Rank-biased precision, TOIS 2008; trec_eval rbp_resid"
    best_for = "how reliable rank-biased precision is: its true value is between RBP and RBP plus this"
    examples = (
        Example("RBPResidual(p=0.5)", (1, None, 0), "0.5**3 + 0.5 * 0.5"),
        Example("RBPResidual(p=0.5)@2", (1, None, 0), "0.5**2 + 0.5 * 0.5"),
    )
    better = "lower"
    trec = (TrecName("rbp_resid", parameters={"p": 0.9, "tail": "with_unjudged"}),)

    cutoff: Cutoff = None
    p: Persistence = 0.8
    tail: Annotated[
        Literal["always", "with_unjudged"],
        Param(
            "when ranks below the end of the list count: always, or only if a returned document is unjudged "
            "(otherwise the residual is 0)"
        ),
    ] = "always"
    settled_by_grade = False  # documents without gain differ: judged or not

    @property
    def empty(self) -> float:
        """1 or 0: everything is unknown if no document was returned."""
        return 1.0 if self.tail == "always" else 0.0

    def terms(self, lists: Lists) -> Terms:
        look = looks(self.p, lists.rank)
        below = each(lambda n: self.p**n, lists.retrieved)
        outside = lists.retrieved - total(lists.shown)
        # the weight of all ranks, less the ranks of documents in the qrels
        unseen = np.where(outside > 0, np.maximum(1.0 - below - total(np.where(lists.shown, look, 0.0)), 0.0), 0.0)
        counts = (self.tail == "always") | (outside > 0) | lists.pooled.any(axis=1)
        factors = {"pooled, without a grade": lists.pooled, "looks here": look}
        return Terms(lists, factors, base=below * counts, unjudged=unseen)


def looks(p: float, rank: Array) -> Array:
    """The share of all looks that each rank gets."""
    return each_rank(lambda r: (1.0 - p) * p ** (r - 1), rank)


def _largest_outside(table: Lookup, best: float) -> float:
    """The largest whole grade, up to the best, that a table leaves out."""
    inside = {grade for grade, _ in table}
    return next((float(g) for g in range(int(best), 0, -1) if g not in inside), 0.0)


class Compat(Metric, aliases=("Compatibility",)):
    """The rank-biased overlap of the ranking with an ideal ranking."""

    family = "overlap"
    formula = (
        "sum over depths d of p^(d-1) · |top d of the ranking and of the ideal| / d, over the same of the ideal with itself "
        "(normalize=False: over the sum of p^(d-1))"
    )
    convention = (
        "the ideal holds all documents graded above 0, best first, equal grades in the order of the ranking. Depths "
        "go to the longer of the two. ir_measures orders tied scores by document id and gives unretrieved documents "
        "a score of 0"
    )
    source = "Clarke, Vtyurina and Smucker, Assessing Top-k Preferences, TOIS 2021; ir_measures Compat"
    best_for = "preferences and grades of many levels, if the top matters most"
    examples = (
        Example("Compat(p=0.5)", (0, 1), "1/4 / (1 + 1/4)"),
        Example("Compat(p=0.5)", (1, 2), "1/2 / (1 + 1/2)"),
        Example("Compat(p=0.5, normalize=False)", (2, 0), "(1 + 1/4) / (1 + 1/2)", {"known": 1}),
    )
    relevance = "graded"

    p: Annotated[float, Param("the chance of going on to the next depth", low=0, high=1)] = 0.95
    normalize: Annotated[
        bool, Param("divide by the ideal ranking's overlap with itself, so that a short ranking can reach 1")
    ] = True

    def terms(self, lists: Lists) -> Terms:
        wanted = lists.shown & (lists.grade > 0)
        size = (lists.ideal.shown & (lists.ideal.grade > 0)).sum(axis=1)
        depth = np.maximum(lists.retrieved.astype(np.int64), size)
        weight = np.full(int(depth.max(initial=0)) + 1, self.p)
        weight[0] = 1.0
        np.cumprod(weight, out=weight)  # of depth 1, 2 and so on
        at = np.arange(1, len(weight) + 1)
        upto = np.concatenate([[0.0], np.cumsum(weight / at)])  # index: the last depth that is counted

        def from_here_on(rank: Array) -> Array:
            return np.asarray(upto[depth][:, None] - upto[np.minimum(rank - 1, depth[:, None])])

        # a document is in both tops from the deeper of its two ranks on
        both = np.where(wanted, np.maximum(lists.rank, ideal_rank(lists, wanted)), 1)
        place = np.arange(1, max(int(size.max(initial=0)), 1) + 1)
        inside = place <= size[:, None]
        whole = np.concatenate([[0.0], np.cumsum(weight)])[depth]
        best = total(np.where(inside, from_here_on(np.broadcast_to(place, inside.shape)), 0.0))
        factors = {"in the ideal": wanted, "in both from here on": from_here_on(both)}
        return Terms(lists, factors, best if self.normalize else whole)


def ideal_rank(lists: Lists, wanted: Array) -> Array:
    """The rank of each wanted cell in the ideal: by grade, within a grade retrieved documents first, in their order."""
    row = np.broadcast_to(np.arange(len(lists))[:, None], wanted.shape)[wanted]
    # negative grades come before the padding, which is 0; set to 0 they also keep the rows in order
    every = np.maximum(lists.ideal.grade, 0.0)
    grades, code = np.unique(np.concatenate([lists.grade[wanted], every.ravel()]), return_inverse=True)
    width = every.shape[1]
    # keys rise along the rows of the ideal, from its best grade on, and from row to row
    worse = len(grades) - 1 - code
    cells = worse[: len(row)] + row * len(grades)
    ideal = worse[len(row) :] + np.repeat(np.arange(len(lists)), width) * len(grades)
    better = np.searchsorted(ideal, cells) - row * width
    order = np.argsort(cells, kind="stable")
    alike = np.empty(len(cells), dtype=np.int64)
    alike[order] = np.arange(len(cells)) - np.searchsorted(cells[order], cells[order])
    out = np.ones(wanted.shape, dtype=np.int64)
    out[wanted] = better + alike + 1
    return out
