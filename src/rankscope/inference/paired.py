"""Tests of paired differences: t test, Wilcoxon signed ranks, sign test, and the sign-flip (permutation) test.

Were two systems the same, each difference could as well have had the other sign: the sign-flip test counts how often random signs
give a sum as far from 0 as the observed one. Up to ``MANY`` differences every pattern of signs is counted, above that ``rounds``
patterns are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from rankscope import words
from rankscope.declared import Param
from rankscope.errors import DataError
from rankscope.inference.base import CLOSE, Bounds, Estimate, PairedTest, Rounds, Sample, Seed, portions
from rankscope.inference.dealing import ROUNDS, Chance, Units, deal
from rankscope.inference.intervals import bernstein_terms, without_bernstein
from rankscope.lists import Array, exact_sum

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


MANY = 40  # up to so many differences every pattern of signs is counted
_ROUNDS_AT_ONCE = 1 << 16
_GROUPS_AT_ONCE = 1 << 12  # tables of 256 doubles: 8 MB
_SIGNS_AT_ONCE = 1 << 22  # 32 MB of doubles


@dataclass(frozen=True)
class Flips:
    """The result of a sign-flip test over ``rounds`` patterns of signs, all of them if ``exact``; ``smallest`` is the smallest possible p-value."""

    p_value: float
    exact: bool
    rounds: int
    smallest: float


def flip_signs(values: Array, rounds: int = 100_000, seed: int = 0) -> Flips:
    """The two-sided sign-flip p-value of the sum of ``values``: exact for up to 40 values other than 0, sampled for more.

    ``values`` are the differences of queries, or their sums over clusters, one-dimensional and finite. Zeros are dropped. The result depends
    only on the sizes of the differences and the size of their sum. Sums closer than 1e-9 of the largest possible one are equal, and equal
    counts as at least as extreme. Sampled, p = (b + 1) / (rounds + 1).

    Five differences of one sign: only the 2 patterns of 32 with equal signs are as extreme.

    >>> flip_signs(np.array([0.1, 0.2, 0.0, 0.1, 0.3, 0.1]))
    Flips(p_value=0.0625, exact=True, rounds=32, smallest=0.0625)

    Source: Fisher, The design of experiments, 1935; Horowitz and Sahni, J. ACM 21, 1974 (meeting in the middle).
    """
    values = values[values != 0]
    sizes, count = np.sort(np.abs(values)), len(values)
    if not count:
        return Flips(1.0, exact=True, rounds=1, smallest=1.0)
    exact, largest = count <= MANY, exact_sum(sizes)
    tried = 2**count if exact else rounds
    close = CLOSE * largest
    # what rounding left of a difference of 0 makes no pattern more extreme than another
    smallest = 2 / 2 ** int(np.count_nonzero(sizes > close / 2)) if exact else 1 / (tried + 1)
    apart = abs(exact_sum(values)) - close
    if apart <= 0:
        return Flips(1.0, exact, tried, smallest)
    # flipping a part of the differences takes twice its sum away: how large may the part be?
    most = (largest - apart) / 2
    if exact:
        one, other = _sums(sizes[::2]), _sums(sizes[1::2])
        room = most - one[one <= most][::-1]  # ascending, so that the search runs through memory once
        extreme = int(np.searchsorted(other, room, side="right").sum())
        return Flips(2 * extreme / tried, exact, tried, smallest)
    return Flips((_drawing(sizes, apart, rounds, seed) + 1) / (rounds + 1), exact, tried, smallest)


def _sums(sizes: Array) -> Array:
    """The sums of all parts of ``sizes``, ascending."""
    sums = np.zeros(1)
    for size in sizes.tolist():
        sums = np.concatenate([sums, sums + size])
    sums.sort()
    return sums


def _drawing(sizes: Array, apart: float, rounds: int, seed: int) -> int:
    """The number of random patterns whose sum is as far from 0 as ``apart``: a random byte picks one of the 256 sums of eight differences."""
    draws = np.random.PCG64(seed)
    padded = np.zeros((-(-len(sizes) // 8), 8))
    padded.ravel()[: len(sizes)] = sizes
    extreme = 0
    for start in range(0, rounds, _ROUNDS_AT_ONCE):
        sums = np.zeros(min(_ROUNDS_AT_ONCE, rounds - start))
        for first in range(0, len(padded), _GROUPS_AT_ONCE):
            for table in _tables(padded[first : first + _GROUPS_AT_ONCE]):
                raw = np.asarray(draws.random_raw(-(-len(sums) // 8)), dtype="<u8").view(np.uint8)
                sums += table[raw[: len(sums)]]
        extreme += int(np.count_nonzero(np.abs(sums) >= apart))
    return extreme


def _tables(groups: Array) -> Array:
    """For each group of eight sizes its sums under the 256 patterns of signs."""
    tables = np.zeros((len(groups), 1))
    for size in groups.T[:, :, None]:
        tables = np.concatenate([tables + size, tables - size], axis=1)
    return tables


def patterns(queries: int, rounds: int, draws: np.random.PCG64) -> Iterator[tuple[slice, Array]]:
    """Random patterns of signs, some rounds at a time: the slice of rounds, and rounds x queries of 1 (flipped) and 0.

    The pattern of a round depends only on its number, the number of queries and the seed.

    >>> [(rounds, flips.shape) for rounds, flips in patterns(70, 100, np.random.PCG64(0))]
    [(slice(0, 100, None), (100, 70))]
    """
    words = -(-queries // 64)
    for some in portions(rounds, queries, _SIGNS_AT_ONCE):
        count = some.stop - some.start
        raw = np.asarray(draws.random_raw(count * words), dtype="<u8").view(np.uint8)
        bits = np.unpackbits(raw.reshape(count, 8 * words), axis=1, count=queries, bitorder="little")
        yield some, bits.astype(np.float64)


class permutation(PairedTest, aliases=("sign_flip", "fisher", "randomisation", "randomization")):
    """Counts how often the mean of differences with random signs is as far from 0 as it was.

    Exact up to 40 queries (or clusters) that differ, whatever ``rounds`` is; above that ``rounds`` patterns of signs
    are drawn and p = (b + 1) / (rounds + 1). Sums that differ only by rounding count as equal. Where queries come in
    clusters, whole clusters are flipped.

    If each system has units of its own, as variants have users, it divides all units between the two at random, at most 4,999 times. The
    p-value is twice the smaller share of deals with a difference, over its error, as high or as low. This is the default if values are
    skewed and variants are of unequal size.

    Seven wins of one size and one loss: of 256 patterns of signs 18 are as extreme.

    >>> permutation().p_value(Sample(np.array([0.1, 0.1, 0.1, -0.1, 0.1, 0.1, 0.1, 0.1]))) == 18 / 256
    True
    """

    of = "swaps"
    hypothesis = "each difference could have either sign"
    in_words = "a sign-flip test (paired permutations)"
    of_own_units = "a permutation test"
    source = "Fisher, The design of experiments, 1935; Smucker, Allan and Carterette, A comparison of statistical significance tests for information retrieval evaluation, CIKM 2007"
    best_for = "few queries, or scores of few values such as P@10: it assumes no distribution"

    rounds: Rounds = 100_000
    seed: Seed = 0

    def draws(self, run: Units, baseline: Units) -> Chance:
        """Random deals of all units."""
        return deal(run, baseline, min(self.rounds, ROUNDS), self.seed)

    def p_value(self, sample: Sample | Estimate) -> float:
        """The two-sided p-value: 1 where no query differs, NaN without queries."""
        if isinstance(sample, Estimate):
            return by_draws(sample)
        sums = sample.sum_clusters(sample.values)
        return flip_signs(sums, self.rounds, self.seed).p_value if sample.count else math.nan

    def smallest(self, sample: Sample | Estimate) -> float:
        """P-value if all differences go one way: counted out for up to 40, one of the draws above."""
        if isinstance(sample, Estimate):
            return 0.0 if sample.chance is None else sample.chance.smallest
        count = int(np.count_nonzero(sample.sum_clusters(sample.values)))
        return 2.0 ** (1 - count) if count <= MANY else 1 / (self.rounds + 1)
