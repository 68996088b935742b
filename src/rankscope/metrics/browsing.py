"""Metrics that follow a reader down the list, who stops at some point."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.lists import Array, Lists, by_rank
from rankscope.metrics.base import (
    Cutoff,
    Example,
    JudgedOnly,
    Level,
    MaxGrade,
    Metric,
    Terms,
    gains,
    refuse_grades_above,
)
from rankscope.metrics.trec import TrecName


class ERR(Metric, aliases=("ExpectedReciprocalRank",)):
    """One over the rank at which a reader is satisfied, who stops there: good documents hide those below."""

    formula = "sum over ranks of (1/rank) · satisfied here · not satisfied before, satisfied = (2^grade - 1) / 2^max_grade"
    convention = "max_grade is the top of the scale, 4 unless said, never the best grade of the query; 1 cannot be reached"
    source = "Chapelle et al., Expected Reciprocal Rank for Graded Relevance, CIKM 2009"
    best_for = "graded judgments where one good answer ends the search"
    examples = (Example("ERR(max_grade=3)", (3, 0, 2), "7/8 + (1/8) * (3/8) / 3"),)
    relevance = "graded"

    cutoff: Cutoff = None
    max_grade: MaxGrade = 4.0
    judged_only: JudgedOnly = False

    def terms(self, lists: Lists) -> Terms:
        refuse_grades_above(self, lists, self.max_grade)
        gain = np.where(lists.judged, gains(lists.grade, "exponential"), 0.0)
        satisfied = gain / 2.0**self.max_grade
        read_on = np.cumprod(1.0 - satisfied, axis=1)
        reaches = np.hstack([np.ones((len(lists), 1)), read_on[:, :-1]])
        return Terms(
            lists, {"satisfied here": satisfied, "reaches here": reaches, "1/rank": 1.0 / lists.rank}
        )


class RBP(Metric, aliases=("RankBiasedPrecision",)):
    """Gain met by a reader who goes on to the next document with a fixed chance p."""

    formula = "(1 - p) · sum of gain · p^(rank - 1)"
    convention = (
        "p=0.8; relevant or not at level. With max_grade=2 the gain is grade/2; with max_grade='query' it is grade over the query's "
        "best grade where that is above 1, as trec_eval 10"
    )
    source = "Moffat and Zobel, Rank-biased precision, TOIS 2008; trec_eval rbp"
    best_for = "judgments that go unevenly deep: what is unjudged has a bounded weight"
    examples = (
        Example("RBP(p=0.5)", (1, 0, 1), "0.5 * (1 + 0.25)"),
        Example("RBP(max_grade=2, p=0.5)", (2, 0, 1), "0.5 * (1 + 0.25 / 2)"),
    )
    trec = (TrecName("rbp", fixed={"p": 0.9, "max_grade": "query"}),)

    cutoff: Cutoff = None
    p: Annotated[float, Param("the chance of going on to the next document", low=0, high=1)] = 0.8
    level: Level = 1.0
    max_grade: Annotated[
        float | Literal["query"] | None,
        Param(
            "gain is grade / max_grade instead of relevant or not; 'query' takes the query's best",
            above=0,
            also={"max_rel": {}},
        ),
    ] = None
    judged_only: JudgedOnly = False

    @property
    def relevance(self) -> Literal["binary", "graded"]:  # type: ignore[override]
        """Graded where there is a scale to divide by."""
        return "binary" if self.max_grade is None else "graded"

    def gained(self, lists: Lists) -> Array:
        """Relevant or not, or the grade as a share of the scale."""
        grade = np.where(lists.judged, lists.grade, 0.0)
        if self.max_grade is None:
            return lists.relevant(self.level).astype(float)
        if self.max_grade == "query":
            return np.asarray(grade / np.maximum(lists.ideal.grade.max(axis=1), 1.0)[:, None])
        refuse_grades_above(self, lists, float(self.max_grade))
        return grade / float(self.max_grade)

    def terms(self, lists: Lists) -> Terms:
        name = "relevant" if self.max_grade is None else "gain"
        looks = by_rank(lambda r: (1.0 - self.p) * self.p ** (r - 1), lists.rank)
        return Terms(lists, {name: self.gained(lists), "looks here": looks})


__all__ = ["ERR", "RBP"]
