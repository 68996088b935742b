"""The Mann-Whitney test: ranks of the units of two systems that share none."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from rankscope.inference.base import CLOSE, PairedTest, Sides
from rankscope.lists import Array

FEW = 8  # units of the smaller side up to which a p-value without ties is exact, as in scipy
MOST_PAIRS = 1_000_000  # pairs of units up to which it is exact


class mann_whitney(PairedTest, aliases=("rank_sum", "mannwhitneyu")):
    """Mann and Whitney's rank sum test: whether a unit of one system is more often above a unit of the other.

    It is for systems with units of their own, as variants have users. The values of users are ranked, of a ratio their numerators less the
    common ratio times their denominators. Exact without ties if a side has at most 8 units, otherwise by the normal distribution with
    corrections for ties and continuity, as in scipy. It is about ranks: the mean can move the other way.

    >>> mann_whitney().p_value(
    ...     Sides(np.array([4.0, 5.0, 6.0]), np.array([1.0, 2.0, 3.0]))
    ... )  # 2 of the 20 ways to choose three of six
    0.1
    """

    of = "units"
    hypothesis = "a unit of one system is as often above a unit of the other as below"
    in_words = of_own_units = "the Mann-Whitney test"
    source: ClassVar[str] = (
        "Mann and Whitney, On a test of whether one of two random variables is stochastically larger than the other, The Annals of "
        "Mathematical Statistics 18(1), 1947"
    )
    best_for = "whether users as a whole move, if a few large values carry the mean"

    def statistic(self, sample: Sides) -> float:
        """The number of pairs in which the unit of the run is above that of the baseline, ties as a half."""
        return _RankSum(sample).above

    def direction(self, sample: Sides) -> int:  # type: ignore[override] # of two sides
        """The side that is above more often."""
        rank_sum = _RankSum(sample)
        return int(np.sign(rank_sum.above - rank_sum.pairs / 2))

    def p_value(self, sample: Sides) -> float:  # type: ignore[override] # of two sides
        """The two-sided p-value: 1 if all values are the same, NaN without units on a side."""
        rank_sum = _RankSum(sample)
        return rank_sum.p_value() if rank_sum.pairs else math.nan


class _RankSum:
    """The number of pairs in which the run is ``above``, of all ``pairs``, and the sizes of ties."""

    def __init__(self, sample: Sides) -> None:
        self.sizes = len(sample.run), len(sample.baseline)
        self.pairs = self.sizes[0] * self.sizes[1]
        values = np.concatenate([sample.run, sample.baseline])
        order = np.argsort(values, kind="stable")
        apart = np.diff(values[order]) > CLOSE * np.abs(values).max(initial=0.0)
        step = np.concatenate([[0], np.cumsum(apart)]) if len(values) else np.zeros(0, dtype=np.int64)
        self.tied = np.bincount(step) if len(values) else step
        ranks = np.empty(len(values))
        ranks[order] = (np.cumsum(self.tied) - (self.tied - 1) / 2)[step]
        n = self.sizes[0]
        self.above = float(ranks[:n].sum()) - n * (n + 1) / 2

    def p_value(self) -> float:
        far = max(self.above, self.pairs - self.above)
        if min(self.sizes) <= FEW and self.pairs <= MOST_PAIRS and (self.tied == 1).all():
            ways = _ways(min(self.sizes), max(self.sizes))
            return min(2 * float(ways[math.ceil(far) :].sum() / ways.sum()), 1.0)
        from scipy.special import ndtr

        count = sum(self.sizes)
        ties = float((self.tied.astype(np.float64) ** 3 - self.tied).sum()) / (count * max(count - 1, 1))
        deviation = math.sqrt(max(self.pairs / 12 * (count + 1 - ties), 0.0))
        return min(2 * float(ndtr(-(far - self.pairs / 2 - 0.5) / deviation)), 1.0) if deviation else 1.0


def _ways(few: int, many: int) -> Array:
    """The number of orders of two sides without ties by the number of pairs in which one side is above (Gaussian binomial coefficients)."""
    ways = np.zeros(few * many + 1)
    ways[0] = 1.0
    for i in range(1, few + 1):
        ways[many + i :] -= ways[: max(len(ways) - many - i, 0)].copy()
        for start in range(i):
            ways[start::i] = np.cumsum(ways[start::i])
    return ways
