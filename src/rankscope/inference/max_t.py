"""Corrections that look at all systems together and at the largest difference that chance alone produces."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from rankscope.inference.base import CLOSE, Correction, Joint, Rounds, Sample, Seed, portions
from rankscope.inference.paired import patterns
from rankscope.lists import Array, exact_sum

_ROUNDS_AT_ONCE = 1 << 13  # a vector of so many doubles stays in the cache


class max_t(Correction):
    """Compares each |t| with the largest |t| of the family under random signs; near-identical runs cost little.

    In each round one sign a query, shared by all comparisons, is flipped at random, and each comparison's mean
    difference is divided by its standard error in that round. Adjusted p = (b + 1) / (rounds + 1), where b counts the
    rounds whose largest |t| reaches the pair's own (single step). A pair equal on all queries has p = 1. A pair whose
    differences are all the same has an infinite t, which rounds with equal signs reach; its standard error is 0, and
    ``critical`` is infinite where those rounds are more than alpha.
    """

    joint = True
    title = "max-T"
    calibration = (
        "errs in 4.5 to 7.4 % of families at alpha = 5 % (10 systems, 50 queries of TREC scores; 25 queries: 6.4 to 10.3 %), and in "
        "4.9 to 5.6 % among near variants"
    )
    in_words = "the max-t correction of Westfall and Young"
    source = "Westfall and Young, Resampling-based multiple testing, 1993"
    best_for = "many comparisons of similar runs, from about 50 queries on"

    rounds: Rounds = 10_000
    seed: Seed = 0

    def over(self, scores: Array, pairs: Array, level: float = 0.95) -> Joint:
        """All comparisons of a family; ``critical`` multiplies the standard error of each pair's difference.

        ``single`` is each pair's own sign-flip p-value by the same flips; it does not depend on the other systems.
        """
        whole, unit = _on_lattice(scores)
        family = [_sizes_of(scores[a] - scores[b]) for a, b in pairs.tolist()]
        error, sizes, weight = np.array(family).reshape(-1, 3).T
        close = CLOSE * sizes
        sums = whole.sum(axis=1, keepdims=True) * unit
        reach = np.array([abs(float(d[0])) for d in _differences(sums, pairs)]) - close
        beyond, largest = np.zeros(len(pairs), dtype=np.int64), np.zeros(self.rounds)
        for rounds, sums in _sums_of_flips(whole, unit, self.rounds, self.seed):
            for i, size in enumerate(_differences(sums, pairs)):
                np.abs(size, out=size)
                beyond[i] += np.count_nonzero(size >= reach[i])
                np.maximum(largest[rounds], np.multiply(size, weight[i], out=size), out=largest[rounds])
        adjusted, limit = _adjust(largest, reach * weight, 1 - level)
        critical, single = _as_t(limit + close * weight, scores.shape[1]), (beyond + 1) / (self.rounds + 1)
        return Joint(adjusted=adjusted, critical=critical, error=error, single=single)


class randomised_tukey(Correction, aliases=("randomized_tukey",)):
    """Compares each difference with that of the best and worst system after shuffling each query's scores.

    In each round the scores of every query are permuted among all systems. Adjusted p = (b + 1) / (rounds + 1), where
    b counts the rounds whose best and worst mean are as far apart as the pair's. It supposes that all systems
    vary alike: near-identical runs make the common spread small, and the others' differences then look large.
    ``error`` is 1 and ``critical`` a difference of means, the same for all pairs; there is no ``single``.
    """

    joint = True
    title = "randomised Tukey HSD"
    anova = True
    controls = "the chance of any difference if all systems are the same"
    calibration = (
        "errs in 5.2 to 6.7 % of families at alpha = 5 % (10 systems, 50 queries of TREC scores). With eight near variants and two others it "
        "errs in 11.7 to 13.8 %: use max_t or Holm then"
    )
    in_words = "the randomised Tukey test"
    source = "Carterette, Multiple testing in statistical analysis of systems-based information retrieval experiments, TOIS 30(1), 2012; Sakai, Laboratory experiments in information retrieval, 2018"
    best_for = "all pairs of systems that vary alike, from about 100 queries on"

    rounds: Rounds = 10_000
    seed: Seed = 0

    def over(self, scores: Array, pairs: Array, level: float = 0.95) -> Joint:
        """All comparisons of a family, against the range of all systems of ``scores``, also those in no pair."""
        queries = scores.shape[1]
        dealt = np.sort(scores, axis=0)  # the order of the systems changes nothing
        dealt = dealt - dealt[:1]  # nor does what all have in common
        ranges = _dealt_ranges(dealt, self.rounds, self.seed)
        close = CLOSE * exact_sum(dealt[-1:])
        apart = np.array([abs(exact_sum(scores[a] - scores[b])) for a, b in pairs.tolist()])
        adjusted, limit = _adjust(ranges, apart - close, 1 - level)
        critical = (limit + close) / queries if queries else math.inf
        return Joint(adjusted, np.full(len(pairs), critical), np.ones(len(pairs)))


def _sizes_of(differences: Array) -> tuple[float, float, float]:
    """The standard error of a pair's differences, the sum of their sizes, and the weight that makes their sum a share u = |sum| / sqrt(n Q).

    Flips keep the sum of squares Q, so t = u sqrt(n - 1) / sqrt(1 - u²), and the largest u is the largest t. A pair that never differs has u = 0.
    """
    sample, sizes = Sample(differences), np.abs(differences)
    peak = float(sizes.max(initial=0.0))
    error = 0.0 if sample.constant and sample.count > 1 else sample.error
    root = math.sqrt(len(sizes) * exact_sum((sizes / peak) ** 2)) if peak else math.inf
    return error, exact_sum(sizes), 1 / root / (peak or 1.0)


def _on_lattice(scores: Array) -> tuple[Array, Array]:
    """The scores as whole multiples of a unit per system, a power of 2, so fine that every sum of them is exact in any order."""
    _, power = np.frexp(np.array([exact_sum(np.abs(row)) for row in scores]))
    return np.rint(np.ldexp(scores, 52 - power[:, None])), np.ldexp(1.0, power - 52)[:, None]


def _sums_of_flips(whole: Array, unit: Array, rounds: int, seed: int) -> Iterator[tuple[slice, Array]]:
    """The sums of the systems' scores under the flips of some rounds: which rounds, and systems x rounds."""
    draws, totals = np.random.PCG64(seed), whole.sum(axis=1, keepdims=True)
    for these in portions(rounds, 1, _ROUNDS_AT_ONCE):
        count = these.stop - these.start
        sums = np.empty((len(whole), count))
        for some, flips in patterns(whole.shape[1], count, draws):
            with np.errstate(all="ignore"):  # some libraries raise flags that mean nothing
                sums[:, some] = whole @ flips.T
        yield these, (totals - 2 * sums) * unit


def _differences(sums: Array, pairs: Array) -> Iterator[Array]:
    """Each pair's difference of sums, one after the other in the same memory."""
    room = np.empty(sums.shape[1])
    for a, b in pairs.tolist():
        yield np.subtract(sums[a], sums[b], out=room)


def _dealt_ranges(scores: Array, rounds: int, seed: int) -> Array:
    """For each round the largest less the smallest sum of a system, each query's scores permuted."""
    draws, out = np.random.Generator(np.random.PCG64(seed)), np.empty(rounds)
    for these in portions(rounds, 1, _ROUNDS_AT_ONCE):
        sums = np.zeros((these.stop - these.start, len(scores)))
        for query in scores.T:
            sums += draws.permuted(np.broadcast_to(query, sums.shape), axis=1)
        out[these] = np.ptp(sums, axis=1)
    return out


def _adjust(largest: Array, least: Array, alpha: float) -> tuple[Array, float]:
    """Adjusted p-values, and the limit that a pair's ``least`` exceeds where its p-value is alpha or less."""
    rounds, ascending = len(largest), np.sort(largest)
    adjusted = (rounds - np.searchsorted(ascending, least) + 1) / (rounds + 1)
    allowed = min(math.floor(alpha * (rounds + 1) + 1e-9), rounds)  # 1 - 0.9 is a little less than 0.1
    return adjusted, float(ascending[rounds - allowed]) if allowed > 0 else math.inf


def _as_t(shares: Array, queries: int) -> Array:
    """The multiple of its standard error that each share of the largest possible sum stands for."""
    inside = np.minimum(shares, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.sqrt(max(queries - 1, 0)) * inside / np.sqrt((1 - inside) * (1 + inside))
    return np.where((inside < 1) & (queries > 1), t, np.inf)
