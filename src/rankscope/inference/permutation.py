"""The sign-flip (permutation) test: how often random signs give a sum as far from 0 as the observed one.

Were two systems the same, each difference could as well have had the other sign. Up to ``MANY`` differences every
pattern of signs is counted, above that ``rounds`` patterns are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankscope.inference.base import CLOSE, Estimate, PairedTest, Rounds, Sample, Seed, portions
from rankscope.inference.dealing import ROUNDS, Chance, Units, deal
from rankscope.inference.paired import by_draws
from rankscope.lists import Array, exact_sum

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
