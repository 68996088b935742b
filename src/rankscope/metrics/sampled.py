"""Metrics of lists that hold a random sample of the candidates, corrected to all candidates."""

from __future__ import annotations

import math
from functools import cache
from typing import Annotated, Any, Literal

import numpy as np

from rankscope import words
from rankscope.declared import Param
from rankscope.errors import InputError
from rankscope.lists import Array, Ideal, Lists, total
from rankscope.metrics.base import Example, Level, Metric, Terms

MAX_ITEMS = 1_000_000
BLOCK = 1 << 20  # probabilities in memory at once


def reason_against_metric(value: Any) -> str:
    """Return the reason to refuse a metric, empty if its value follows from the rank of one relevant item."""
    try:
        metric = Metric.read(value)
    except InputError as error:
        return str(error)
    if metric.needs or metric.better != "higher" or metric.aggregate != "mean":
        return f"{metric} is not a value by the rank of one relevant item: choose one like nDCG@10, R@10, AP or RR"
    by_rank = value_by_rank(metric, 3)
    if not np.isfinite(by_rank).all() or not by_rank[0] > 0:
        return f"{metric} has no value for one relevant item by itself: choose one like nDCG@10, R@10, AP or RR"
    return ""


def read_metric(value: Any) -> Any:
    """The canonical spelling of a metric. Any other value as it is."""
    try:
        return str(Metric.read(value))
    except (InputError, TypeError):
        return value


OneMetric = Annotated[
    str | None,
    Param(
        "a metric by the rank of one relevant item: nDCG@10, R@10, AP, RR", reason_against=reason_against_metric,
        reads=read_metric, needed=True,
    ),
]  # fmt: skip


@cache
def value_by_rank(metric: Metric, depth: int) -> Array:
    """The value of a list whose only relevant item is at rank 1, 2, ... ``depth``."""
    grade = np.full((depth, 1), max(1.0, float(getattr(metric, "level", 1.0))))
    rank, shown = np.arange(1, depth + 1)[:, None], np.ones((depth, 1), dtype=bool)
    ones = np.ones((depth, 1), dtype=np.int64)
    return metric.score(Lists(grade, rank, shown, np.full(depth, float(depth)), rank, ones, Ideal(grade, shown)))


@cache
def estimates(of: str, items: int, negatives: int, estimator: str, gamma: float) -> Array:
    """The estimate of a metric for an item above which 0, 1, ... ``negatives`` of the sampled negatives are.

    Source: Krichene and Rendle, On sampled metrics for item recommendation, KDD 2020, sections 5 and 6.
    """
    metric = Metric.read(of)
    above = np.arange(negatives + 1)
    if estimator == "none":
        return value_by_rank(metric, negatives + 1)
    value = value_by_rank(metric, items)
    if estimator == "rank":
        return np.asarray(value[np.floor(above * (items - 1) / max(negatives, 1) + 0.5).astype(np.int64)])
    chance = np.arange(items) / max(items - 1, 1)  # that a sampled negative is above an item at this rank
    size = negatives + 1
    gram, right, often, step = np.zeros((size, size)), np.zeros(size), np.zeros(size), max(1, BLOCK // size)
    for at in range(0, items, step):
        likely = _binomial(negatives, chance[at : at + step])
        gram += likely.T @ likely / items
        right += likely.T @ value[at : at + step] / items
        often += likely.sum(axis=0) / items
    solved: Array = np.linalg.lstsq((1.0 - gamma) * gram + gamma * np.diag(often), right, rcond=None)[0]
    return solved


def _binomial(n: int, p: Array) -> Array:
    k = np.arange(n + 1)
    ways = np.array([math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in k.tolist()])
    inside = np.clip(p, 1e-300, 1.0 - 1e-16)[:, None]
    return np.asarray(np.exp(ways + k * np.log(inside) + (n - k) * np.log1p(-inside)))


class Sampled(Metric, aliases=("SampledMetric",)):
    """A metric over all candidates, estimated from lists with a random sample of the negative ones."""

    formula = (
        "mean over relevant items of an estimate by r, the rank among the sampled negatives. bv: the estimates with the least mean of (1 - gamma) · bias² + "
        "gamma · variance over all ranks alike; rank: the metric at rank 1 + (r - 1) · (items - 1) / negatives; none: the metric at r"
    )
    convention = (
        "negatives are drawn uniformly with replacement, and are all items of the list that are not relevant. Each relevant item is ranked against "
        "them, as if it were the only one; one that is missing from the list earns nothing. estimator='none' is the usual sampled metric, "
        "which may order systems in another way than the metric. bv with a smaller gamma has less bias and more variance, and may leave the range of the metric"
    )
    source = "Krichene and Rendle, On sampled metrics for item recommendation, KDD 2020"
    best_for = "results with 99 or 100 sampled negatives per user, if the full ranking is not available"
    not_for = "negatives drawn by popularity, and lists of the best candidates of another system"
    examples = (
        Example("Sampled(metric='R@1', items=3, estimator='none')", (0, 1), "0"),
        Example("Sampled(metric='RR', items=5, estimator='rank')", (0, 1, 0), "1 / 3"),
        Example("Sampled(metric='R@1', items=2, gamma=0)", (1, 0), "1"),
    )
    bounds = (-math.inf, math.inf)
    monotone = False  # estimates with little bias may rise and fall with the rank
    settled_by_grade = False
    of_sample = True

    metric: OneMetric = None
    items: Annotated[
        int | None,
        Param("the number of all candidates, one relevant item included", low=2, high=MAX_ITEMS, needed=True),
    ] = None
    estimator: Annotated[
        Literal["bv", "rank", "none"],
        Param("bias and variance weighed by gamma, the metric at the estimated rank, or no correction"),
    ] = "bv"
    gamma: Annotated[float, Param("the weight of variance relative to bias, for bv", low=0, high=1)] = 0.1
    level: Level = 1.0

    @property
    def assumption(self) -> str:
        """The design of the sample, and the correction."""
        if self.estimator == "none":
            return f"of a sample of {words.count(self.items or 0)} candidates, not corrected"
        return (
            f"estimated for {words.count(self.items or 0)} candidates from negatives drawn uniformly with replacement"
        )

    def terms(self, lists: Lists) -> Terms:
        relevant = lists.relevant(self.level)
        above = (lists.rank - lists.relevant_so_far(self.level)) * relevant
        negatives = (lists.retrieved - total(relevant)).astype(np.int64)
        here = np.zeros(relevant.shape)
        for number in np.unique(negatives).tolist():
            rows = negatives == number
            here[rows] = estimates(str(self.metric), int(self.items or 2), number, self.estimator, self.gamma)[
                above[rows].astype(np.int64)
            ]
        return Terms(lists, {"relevant": relevant, "estimate": here}, lists.known(self.level))
