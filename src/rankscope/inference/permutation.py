"""Fisher's randomisation test: whether the signs of the differences could have fallen like this by chance."""

from __future__ import annotations

import math

import numpy as np

from rankscope.inference.base import PairedTest, Rounds, Sample, Seed
from rankscope.inference.flips import MANY, Flips, flipped
from rankscope.lists import Array


class permutation(PairedTest, aliases=("sign_flip", "fisher", "randomisation", "randomization")):
    """Counts how often the mean of differences with random signs is as far from 0 as it was.

    Exact up to 40 queries (or clusters) that differ, whatever ``rounds`` is; above that ``rounds`` patterns of signs
    are drawn and p = (b + 1) / (rounds + 1). Sums that differ only by rounding count as equal. Where queries come in
    clusters, whole clusters are flipped.

    Seven wins of one size and one loss: of 256 patterns of signs 18 are as extreme.

    >>> permutation().p_value(Sample(np.array([0.1, 0.1, 0.1, -0.1, 0.1, 0.1, 0.1, 0.1]))) == 18 / 256
    True
    """

    of = "swaps"
    hypothesis = "the two systems are the same: each difference could as well have had the other sign"
    source = "Fisher, The design of experiments, 1935; Smucker, Allan and Carterette, A comparison of statistical significance tests for information retrieval evaluation, CIKM 2007"
    best_for = "few queries, or scores of few values such as P@10: it assumes no distribution"

    rounds: Rounds = 100_000
    seed: Seed = 0

    def p_value(self, sample: Sample) -> float:
        """The two-sided p-value: 1 where no query differs, NaN without queries."""
        return self.flips(sample).p_value if sample.count else math.nan

    def smallest(self, sample: Sample) -> float:
        """That of all differences going one way: counted out for up to 40, one of the draws above."""
        count = int(np.count_nonzero(_together(sample)))
        return 2.0 ** (1 - count) if count <= MANY else 1 / (self.rounds + 1)

    def flips(self, sample: Sample) -> Flips:
        """The p-value, whether it is exact, and how many patterns of signs were counted or drawn."""
        return flipped(_together(sample), self.rounds, self.seed)


def _together(sample: Sample) -> Array:
    """What is flipped as a whole: each query's difference, or each cluster's sum."""
    if sample.clusters is None:
        return sample.values
    parts: dict[int, list[float]] = {}
    for cluster, value in zip(sample.clusters.tolist(), sample.values.tolist(), strict=True):
        parts.setdefault(cluster, []).append(value)
    return np.array([math.fsum(part) for part in parts.values()])
