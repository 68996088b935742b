"""Tests of paired differences without random draws: t test, Wilcoxon signed ranks, sign test."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np

from rankscope import words
from rankscope.declared import Param
from rankscope.errors import DataError
from rankscope.inference.base import CLOSE, Bounds, Estimate, PairedTest, Sample
from rankscope.inference.intervals import bernstein_terms, without_bernstein
from rankscope.lists import Array

Zeros = Annotated[Literal["wilcox", "pratt", "zsplit"], Param("the treatment of queries without a difference")]
_EXACT = 1000  # as many differing queries as signed ranks are counted out for, in about a second


class t(PairedTest, aliases=("student", "paired_t")):
    """The paired t test: the mean difference over its standard error.

    With clusters the error is between clusters, with one degree of freedom fewer than clusters, or still fewer for clusters of unequal size
    or weight. If all differences are the same and not 0, p is 0, as in scipy; NaN with a single query or cluster. Two sides with separate
    units and no spread get the p-value of the exact permutation test: at least 0.1 for three units against three.

    >>> round(t().p_value(Sample(np.array([0.1, 0.2, 0.0, 0.3]))), 4)  # t = .15 / (.1291 / 2), 3 degrees of freedom
    0.1027
    """

    in_words = "a paired t test"
    source = (
        "Student, The probable error of a mean, Biometrika 6(1), 1908; "
        "Smucker, Allan and Carterette, A comparison of statistical significance tests for information retrieval evaluation, CIKM 2007"
    )
    best_for = "means of 20 queries or more. On real scores without a difference, it rejects 5 %"
    by_moments = by_spread = True

    def statistic(self, sample: Sample | Estimate) -> float:
        """The mean over its standard error: 0 where both are 0, infinite without spread, NaN without freedom."""
        if not sample.count:
            return math.nan
        if sample.largest == 0:
            return 0.0
        if not sample.freedom:
            return math.nan
        if sample.error > sample.rounding:
            return sample.mean / sample.error
        return 0.0 if abs(sample.mean) <= sample.rounding else math.copysign(math.inf, sample.mean)

    def p_value(self, sample: Sample | Estimate) -> float:
        """The two-sided p-value: 1 where all differences are 0, 0 where they are the same otherwise, NaN for a single query."""
        from scipy.special import stdtr

        statistic = self.statistic(sample)
        if math.isnan(statistic) or statistic == 0:
            return math.nan if math.isnan(statistic) else 1.0
        if math.isinf(statistic) and isinstance(sample, Estimate) and sample.least:
            return sample.chance_apart
        return min(2 * float(stdtr(sample.freedom, -abs(statistic))), 1.0)


def by_draws(sample: Estimate) -> float:
    """The two-sided p-value by random draws of the units, by t if nothing varies."""
    if sample.chance is None or not sample.error > sample.rounding:
        return t().p_value(sample)
    return sample.chance.p_value(sample.mean / sample.error)


class bernstein(PairedTest):
    """A test with a guarantee for any number of differences within a stated range: the dual of the empirical Bernstein interval.

    The p-value is 1 less the level at which an end of the interval is 0. State the range of differences beforehand.

    >>> round(bernstein().p_value(Sample(np.array([0.9, 0.8, 1.0, 0.9] * 10))), 5)
    0.0031
    """

    in_words = "an empirical Bernstein test"
    source = "Maurer and Pontil, Empirical Bernstein bounds and sample-variance penalization, COLT 2009"
    best_for = "a guarantee for few or skewed differences, such as weighted clicks"
    has_interval = True

    low: Annotated[float, Param("the lowest difference there can be", low=-1e9)] = -1.0
    high: Annotated[float, Param("the highest difference there can be", high=1e9)] = 1.0

    def p_value(self, sample: Sample) -> float:
        """The two-sided p-value, at most 1; NaN for fewer than two differences."""
        if without_bernstein(sample):
            return math.nan
        by_spread, by_range = bernstein_terms(sample, self.low, self.high)
        root = (math.sqrt(by_spread**2 + 4 * by_range * abs(sample.mean)) - by_spread) / (2 * by_range)
        return min(1.0, 4 * math.exp(-(root**2)))


class wilcoxon(PairedTest, aliases=("signed_rank",)):
    """Wilcoxon's signed-rank test: whether the larger differences go one way.

    Differences that are equal up to rounding are tied, so that scores kept as counts and as fractions give one p-value. ``zeros`` as in
    scipy: 'wilcox' leaves queries without a difference out, 'pratt' ranks them first, 'zsplit' splits their ranks. ``method`` 'auto'
    chooses as scipy does: exact without ties or zeros up to 50 queries, and with them up to 13; else a normal approximation with
    correction for ties. 'exact' counts out all signs, ties as they are.

    >>> differences = Sample(np.array([0.1, 0.2, -0.3, 0.4, 0.5]))  # the ranks below 0 sum to 3
    >>> wilcoxon().p_value(differences)  # to 3 or less in 5 of 32 ways: 2 * 5 / 32
    0.3125
    """

    of = "ranks"
    hypothesis = "the differences are symmetric around 0"
    in_words = "Wilcoxon's signed-rank test"
    source = "Wilcoxon, Individual comparisons by ranking methods, 1945; Pratt 1959; Cureton 1967"
    best_for = "symmetry itself. On skewed scores it rejects an equal mean in 8 to 22 % of samples of 50"

    zeros: Zeros = "wilcox"
    method: Annotated[Literal["auto", "exact", "asymptotic"], Param("how the p-value is found")] = "auto"

    def statistic(self, sample: Sample) -> float:
        """The sum of ranks of the side that has less; NaN without queries."""
        return _Ranks(sample.values, self.zeros).less if sample.count else math.nan

    def smallest(self, sample: Sample) -> float:
        """P-value if all differences go one way: 2 of 2^n sign patterns."""
        return 2.0 ** (1 - sample.differing)

    def direction(self, sample: Sample) -> int:
        """The side whose ranks sum to more."""
        return _Ranks(sample.values, self.zeros).side

    def p_value(self, sample: Sample) -> float:
        """The two-sided p-value: 1 where all differences are 0."""
        self.refuse_clusters(sample)
        if not sample.count:
            return math.nan
        ranked = _Ranks(sample.values, self.zeros)
        if not len(ranked.ranks):
            return 1.0
        at_most = 13 if ranked.uneven else 50
        exact = self.method == "exact" or (self.method == "auto" and sample.count <= at_most)
        return ranked.exact() if exact else ranked.asymptotic()


class sign(PairedTest):
    """The sign test: whether more queries get better than worse, whatever the size of the difference.

    Queries without a difference are left out.

    >>> sign().p_value(Sample(np.array([0.1, 0.2, 0.3, 0.4, -0.1])))  # 2 (1 + 5) / 32
    0.375
    """

    of = "signs"
    hypothesis = "a query is as likely to get better as worse"
    in_words = "the sign test"
    source = "Arbuthnot 1710; Conover, Practical Nonparametric Statistics, 1999"
    best_for = "preferences and wins, not means"

    def statistic(self, sample: Sample) -> float:
        """How many queries get better."""
        return float((on_lattice(sample.values) > 0).sum())

    def smallest(self, sample: Sample) -> float:
        """P-value if all differences go one way: 2 of 2^n sign patterns."""
        return 2.0 ** (1 - sample.differing)

    def direction(self, sample: Sample) -> int:
        """The side that more queries are on."""
        return int(np.sign(np.sign(on_lattice(sample.values)).sum()))

    def p_value(self, sample: Sample) -> float:
        """The two-sided binomial p-value: 1 where all differences are 0. Raises InputError for clusters."""
        from scipy.special import bdtr

        self.refuse_clusters(sample)
        if not sample.count:
            return math.nan
        steps = on_lattice(sample.values)
        better, worse = int((steps > 0).sum()), int((steps < 0).sum())
        return min(2 * float(bdtr(float(min(better, worse)), better + worse, 0.5)), 1.0)


def share_of_wins(better: int, worse: int, level: float = 0.95) -> Bounds:
    """The interval of the share of differing queries that got better: it excludes one half exactly if the sign test has p <= 1 - level.

    Source: Clopper and Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika 26(4), 1934.

    >>> found = share_of_wins(9, 1)
    >>> round(found.lower, 3), round(found.upper, 3)
    (0.555, 0.997)
    """
    from scipy.special import betaincinv

    lower = float(betaincinv(better, worse + 1, (1 - level) / 2)) if better else 0.0
    upper = float(betaincinv(better + 1, worse, (1 + level) / 2)) if worse else 1.0
    return Bounds(lower, upper, "Clopper-Pearson")


def on_lattice(values: Array) -> Array:
    """Differences as signed whole numbers by size, equal up to rounding (1e-9 of the largest): .3 - .2 and .2 - .1 are one step.

    >>> on_lattice(np.array([0.3 - 0.2, 0.1 - 0.2, 0.0, 0.5])).tolist()
    [1.0, -1.0, 0.0, 2.0]
    """
    sizes = np.abs(np.asarray(values, dtype=np.float64))
    order = np.argsort(sizes, kind="stable")
    steps = np.empty(len(sizes))
    steps[order] = np.cumsum(np.diff(sizes[order], prepend=0.0) > CLOSE * sizes.max(initial=0.0))
    return np.sign(values) * steps


class _Ranks:
    """The signed ranks of differences: sums of mid-ranks, which are whole or half, so that no sum is rounded."""

    def __init__(self, values: Array, zeros: str) -> None:
        steps = on_lattice(values)
        if zeros == "wilcox":
            steps = steps[steps != 0]
        _, place, self.tied = np.unique(np.abs(steps), return_inverse=True, return_counts=True)
        ranks = (np.cumsum(self.tied) - (self.tied - 1) / 2)[place]
        self.count, none = len(steps), int((steps == 0).sum())
        self.ranks = ranks[steps != 0]
        shared = float(ranks[steps == 0].sum()) / 2 if zeros == "zsplit" else 0.0
        above, below = float(ranks[steps > 0].sum()), float(ranks[steps < 0].sum())
        self.half, self.without = (above + below) / 2, min(above, below)
        self.less = self.without + shared
        self.side = (above > below) - (above < below)
        self.left = none if zeros == "pratt" else 0
        if self.left:
            self.tied = self.tied[1:]  # zeros come first, and are in Cureton's correction already
        self.uneven = len(steps) < len(values) or none > 0 or bool((self.tied > 1).any())

    def exact(self) -> float:
        """Twice the share of all signs under which the smaller sum is no larger."""
        if len(self.ranks) > _EXACT:
            differ = f"{words.counted(len(self.ranks), 'query')} differ"
            remedy = "use wilcoxon(method='asymptotic')"
            raise DataError(f"{differ}, and exact signed ranks go to {words.count(_EXACT)}; {remedy}")
        doubled = np.sort((2 * self.ranks).astype(np.int64))
        chance = np.zeros(int(doubled.sum()) + 1)
        chance[0], filled = 1.0, 1
        for rank in doubled.tolist():
            chance[rank : filled + rank] += chance[:filled].copy()
            filled += rank
            chance[:filled] /= 2
        return min(2 * math.fsum(chance[: round(2 * self.without) + 1].tolist()), 1.0)

    def asymptotic(self) -> float:
        """By the normal distribution, with the variance that ties leave."""
        from scipy.special import ndtr

        n, z = float(self.count), float(self.left)
        ties = float((self.tied.astype(np.float64) ** 3 - self.tied).sum())
        variance = n * (n + 1) * (2 * n + 1) - z * (z + 1) * (2 * z + 1) - ties / 2
        return min(2 * float(ndtr((self.without - self.half) / math.sqrt(variance / 24))), 1.0)
