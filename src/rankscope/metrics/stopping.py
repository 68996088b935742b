"""Metrics of readers who stop at some point: the C/W/L family, and metrics on its scale."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np

from rankscope.declared import Param, plain
from rankscope.errors import InputError
from rankscope.lists import Array, Lists, log2_discounts, total
from rankscope.metrics.base import MAX_EXPONENTIAL_GRADE, Example, Metric, Terms, gains

MAX_DEPTH = 1_000_000  # each rank takes a cell
MAX_CELLS = 2_000_000  # in memory at once

TopGrade = Annotated[
    float | None,
    Param(
        "the highest grade of the scale, with gain 1", above=0, high=MAX_EXPONENTIAL_GRADE, also={"max_rel": {}},
        needed=True,
    ),
]  # fmt: skip
ZeroGrade = Annotated[
    float, Param("the grade up to which the gain is 0", low=0, high=MAX_EXPONENTIAL_GRADE, also={"min_rel": {}})
]
NeededDepth = Annotated[int | None, Param("look no further than this rank", low=1, high=MAX_DEPTH, needed=True)]
Horizon = Annotated[int, Param("the rank at which every reader has stopped", low=1, high=MAX_DEPTH)]


class _ScaledMetric(Metric):
    """Base of metrics whose gain is a share of the scale."""

    relevance = "graded"

    max_grade: TopGrade = None
    min_grade: ZeroGrade = 0.0

    def check(self) -> None:
        """Refuse a scale with a lower end that is not below its upper end."""
        if self.max_grade is not None and self.min_grade >= self.max_grade:
            raise InputError(
                f"{self}: min_grade={plain(self.min_grade)} is not below max_grade={plain(self.max_grade)}; "
                "give the lowest and the highest grade of the scale"
            )

    @property
    def full(self) -> float:
        """The best grade minus the grade of no gain."""
        return float(self.max_grade or 0.0) - self.min_grade

    def points(self, lists: Lists) -> Array:
        """Grades above the grade of no gain. Divided by ``full`` they are gains."""
        self.refuse_grades_above(float(self.max_grade or 0.0), lists)
        return np.where(lists.judged, np.maximum(lists.grade - self.min_grade, 0.0), 0.0)


class _Stopping(_ScaledMetric):
    """Gain per document that a reader looks at. A subclass gives the chance of going on."""

    def goes_on(self, points: Array, rank: Array) -> Array:
        """The chance of going on after each rank. The rows of ``points`` hold every rank."""
        raise TypeError(f"{type(self).__name__} declares no goes_on")

    def looks(self, lists: Lists, points: Array) -> tuple[Array, Array]:
        """The chance that a reader looks at each cell, and the number of documents looked at."""
        stop: Any = getattr(self, "cutoff", None) or getattr(self, "horizon", None)
        depth = int(stop)
        here, looked_at = np.zeros(points.shape), np.zeros(len(lists))
        rank = np.arange(1, depth + 1)
        rows = max(1, MAX_CELLS // depth)
        for first in range(0, len(lists), rows):
            part = slice(first, first + rows)
            within = lists.shown[part] & (lists.rank[part] <= depth)
            row, column = np.nonzero(within)
            at = lists.rank[part][within] - 1
            every = np.zeros((len(within), depth))
            every[row, at] = points[part][within]
            reaches = np.ones(every.shape)
            np.cumprod(self.goes_on(every, rank)[:, :-1], axis=1, out=reaches[:, 1:])
            here[first + row, column] = reaches[row, at]
            looked_at[part] = total(reaches)
        return here, looked_at

    def terms(self, lists: Lists) -> Terms:
        points = self.points(lists)
        here, looked_at = self.looks(lists, points)
        return Terms(lists, {"gain": points / self.full, "looks here": here}, looked_at)


class BPM(_Stopping, aliases=("BejeweledPlayerModel",)):
    """Gain per document of a reader who stops after enough gain, or after k documents."""

    formula = "sum of gain down to the stop / rank of the stop; the reader stops when the gain reaches T, or at k"
    convention = (
        "static: T and k do not depend on the documents found. Below the end of a list shorter than k the gain is 0"
    )
    source = "Zhang et al., Evaluating Web Search with a Bejeweled Player Model, SIGIR 2017; cwl-eval"
    best_for = "readers with a limited need and limited patience"
    examples = (
        Example("BPM(max_grade=1)@4", (0, 1, 1), "1 / 2"),
        Example("BPM(T=2, max_grade=2)@4", (0, 1, 2), "1.5 / 4"),
    )

    cutoff: NeededDepth = None
    T: Annotated[float, Param("the gain at which the reader stops", above=0)] = 1.0
    monotone = False  # a better document above may end the reading before the best one

    def goes_on(self, points: Array, rank: Array) -> Array:
        # sum before scaling, so that six thirds reach 2
        return np.asarray(np.cumsum(points, axis=1) < self.T * self.full, dtype=float)


class INSQ(_Stopping):
    """Gain per document of a reader who is more likely to go on at lower ranks, and the more gain they want."""

    formula = "sum of gain · chance of looking / documents looked at; goes on with ((r + 2T - 1) / (r + 2T))²"
    convention = "all readers have stopped at the horizon, 1000. The weights do not depend on the documents found"
    source = "Moffat, Scholer and Thomas, Models and Metrics, ADCS 2012; cwl-eval"
    best_for = "tasks that need about T documents"
    examples = (
        Example("INSQ(T=0.5, horizon=3, max_grade=1)", (1, 0, 1), "(1 + 1/9) / (1 + 1/4 + 1/9)"),
        Example("INSQ(T=0.5, horizon=3, max_grade=2)", (0, 1), "(1/2 * 1/4) / (1 + 1/4 + 1/9)"),
    )

    T: Annotated[float, Param("the target gain", low=0)] = 1.0
    horizon: Horizon = 1000

    def goes_on(self, points: Array, rank: Array) -> Array:
        return np.broadcast_to(_square(rank + 2.0 * self.T), points.shape)


class INST(_Stopping):
    """Gain per document of a reader with a target gain, who is more likely to stop the closer they are to it."""

    formula = "as INSQ; goes on with ((r + T + T_r - 1) / (r + T + T_r))², T_r = T - gain so far"
    convention = "all readers have stopped at the horizon, 1000. T is at least 0.5: with less, finding gain could make the reader go on"
    source = "Moffat, Bailey, Scholer and Thomas, INST, ADCS 2015; Bailey et al., SIGIR 2015; cwl-eval"
    best_for = "tasks that need about T documents, by readers influenced by the documents they find"
    examples = (
        Example("INST(horizon=2, max_grade=1)", (1, 0), "1 / (1 + (1/2) ** 2)"),
        Example("INST(horizon=2, max_grade=1)", (0, 1), "(2/3) ** 2 / (1 + (2/3) ** 2)"),
    )

    T: Annotated[float, Param("the target gain", low=0.5)] = 1.0
    horizon: Horizon = 1000

    def goes_on(self, points: Array, rank: Array) -> Array:
        return _square(rank + 2.0 * self.T - np.cumsum(points, axis=1) / self.full)


class NERR8(_Stopping):
    """Gain per document of a reader who stops at each document with a probability equal to its gain, down to k."""

    formula = "sum of gain · chance of looking / documents looked at; goes on with 1 - gain, down to k"
    convention = "close to ERR, but a weighted mean of gains, which ERR is not. Follows the published equation"
    source = "Azzopardi, Mackenzie and Moffat, ERR is not C/W/L, ICTIR 2021, equation 8; cwl-eval"
    best_for = "one good answer ends the search, on the scale of a mean gain"
    examples = (Example("NERR8(max_grade=2)@3", (1, 2), "(1/2 + 1/2) / (1 + 1/2)"),)

    cutoff: NeededDepth = None

    def goes_on(self, points: Array, rank: Array) -> Array:
        return 1.0 - points / self.full


class NERR9(NERR8):
    """Gain per document of a reader who stops with a probability equal to the gain, and tires with the rank, down to k."""

    formula = "as NERR8; goes on with r / (r + 1) · (1 - gain), down to k"
    source = "Azzopardi, Mackenzie and Moffat, ERR is not C/W/L, ICTIR 2021, equation 9; cwl-eval"
    examples = (Example("NERR9(max_grade=2)@3", (1, 2), "(1/2 + 1/4) / (1 + 1/4)"),)

    def goes_on(self, points: Array, rank: Array) -> Array:
        return super().goes_on(points, rank) * (rank / (rank + 1.0))


class NERR10(_Stopping):
    """Gain per document of a reader who stops with a probability equal to the gain, and otherwise goes on with probability p."""

    formula = "as NERR8; goes on with p · (1 - gain), to any depth"
    convention = "all readers have stopped at the horizon, 1000. Follows the published equation"
    source = "Azzopardi, Mackenzie and Moffat, ERR is not C/W/L, ICTIR 2021, equation 10; cwl-eval"
    best_for = "one good answer ends the search, with patience as in RBP"
    examples = (Example("NERR10(p=0.5, horizon=3, max_grade=2)", (1, 2), "(1/2 + 1/4) / (1 + 1/4)"),)

    p: Annotated[float, Param("the chance of going on after a document without gain", low=0, high=1)] = 0.9
    horizon: Horizon = 1000

    def goes_on(self, points: Array, rank: Array) -> Array:
        return self.p * (1.0 - points / self.full)


class NERR11(INSQ):
    """Gain per document of a reader who stops with a probability equal to the gain, and otherwise goes on as in INSQ."""

    formula = "as INSQ; goes on with ((r + 2T - 1) / (r + 2T))² · (1 - gain)"
    convention = "all readers have stopped at the horizon, 1000. Follows the published equation"
    source = "Azzopardi, Mackenzie and Moffat, ERR is not C/W/L, ICTIR 2021, equation 11; cwl-eval"
    best_for = "one good answer ends the search, with patience as in INSQ"
    examples = (
        Example("NERR11(T=0.5, horizon=3, max_grade=2)", (1, 2), "(1/2 + 1/8) / (1 + 1/8)"),
        Example("NERR11(T=0.5, horizon=3, max_grade=1)", (0, 0, 1), "1/9 / (1 + 1/4 + 1/9)"),
    )

    def goes_on(self, points: Array, rank: Array) -> Array:
        return super().goes_on(points, rank) * (1.0 - points / self.full)


class SDCG(_ScaledMetric, aliases=("ScaledDCG",)):
    """Discounted gain as a share of k documents of the highest grade."""

    formula = "sum of gain(grade) / log2(rank + 1), over the same of k documents of max_grade"
    convention = "the ideal does not depend on the query, so 1 cannot be reached if fewer than k documents have the highest grade"
    source = "cwl-eval, ir_measures SDCG; the NDCG of C/W/L"
    best_for = "discounted gain with incomplete judgments"
    examples = (
        Example("SDCG(max_grade=2)@2", (2, 1, 2), "(1 + 1/2 / log2(3)) / (1 + 1 / log2(3))"),
        Example("SDCG(gain='exponential', max_grade=2)@1", (1,), "1 / 3"),
    )

    cutoff: NeededDepth = None
    gain: Annotated[
        Literal["linear", "exponential"],
        Param(
            "the gain of a grade: the grade itself, or 2^grade - 1",
            also={"dcg": {"log2": "linear", "exp-log2": "exponential"}},
        ),
    ] = "linear"

    def terms(self, lists: Lists) -> Terms:
        gain = gains(self.points(lists), self.gain) / gains(np.array([self.full]), self.gain)
        best = log2_discounts(np.arange(1, int(self.cutoff or 1) + 1))
        return Terms(lists, {"gain": gain, "discount": log2_discounts(lists.rank)}, total(best[None, :]))


def _square(wanted: Array) -> Array:
    share = (wanted - 1.0) / wanted
    return np.asarray(share * share)
