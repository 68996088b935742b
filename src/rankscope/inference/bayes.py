"""The Bayesian bootstrap: how probable it is that one run is better than another."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from rankscope.errors import InputError
from rankscope.inference.base import CLOSE, Sample
from rankscope.inference.bootstrap import Groups
from rankscope.lists import Array

_CELLS = 2_000_000  # weights held at once: some tens of megabytes


@dataclass(frozen=True)
class Posterior:
    """Probabilities of the mean difference, given the queries.

    ``better`` that it is above 0, ``worse`` that it is below; a mean of exactly 0 is neither. ``equal`` that it is no farther
    from 0 than ``margin``, so exactly 0 without a margin. ``clearly_better`` and ``clearly_worse`` lie beyond the margin: with
    ``equal`` they add up to 1. All are NaN for fewer than two queries or clusters.
    """

    better: float
    worse: float
    equal: float
    clearly_better: float
    clearly_worse: float
    margin: float

    @property
    def mirrored(self) -> Posterior:
        """The same with the runs in each other's place."""
        return replace(
            self,
            better=self.worse,
            worse=self.better,
            clearly_better=self.clearly_worse,
            clearly_worse=self.clearly_better,
        )


def bayesian(sample: Sample, margin: float | None = None, rounds: int = 10_000, seed: int = 0) -> Posterior:
    """How probable it is that the mean difference is above 0, below 0, or within a margin of 0.

    Each round weighs the queries (or the clusters) by Dirichlet(1, ..., 1): what is known of the population after seeing them,
    if nothing was known before (Rubin, The Annals of Statistics 9(1), 1981). Does not depend on the order of queries; the
    mirrored sample gets the mirrored probabilities. Raises InputError for a negative margin, or no rounds.

    >>> said = bayesian(Sample(np.array([0.1, 0.2, 0.3])))
    >>> said.better, said.worse, said.equal
    (1.0, 0.0, 0.0)
    """
    within = 0.0 if margin is None else float(margin)
    if not 0 <= within < math.inf:
        raise InputError(f"margin={margin} is no margin: give the smallest difference that matters, like 0.01")
    if rounds < 1 or seed < 0:
        raise InputError(f"rounds={rounds}, seed={seed}: give at least 1 round and a seed from 0")
    if not sample.freedom:
        return Posterior(math.nan, math.nan, math.nan, math.nan, math.nan, within)
    groups, tie = Groups.of(sample), CLOSE * sample.largest
    counts = np.zeros(5)
    for around in _weigh(groups, rounds, seed):
        # where both orientations are the same, each round counts once in each
        for mean in (around, -around) if groups.symmetric else (around,):
            counts += _count(sample.mean + groups.sign * mean, within, tie)
    shares = (counts / (rounds * (1 + groups.symmetric))).tolist()
    better, worse, equal, clearly_better, clearly_worse = shares
    return Posterior(better, worse, equal, clearly_better, clearly_worse, within)


def _weigh(groups: Groups, rounds: int, seed: int) -> list[Array]:
    """The mean of each round, less that of the sample, by chunks."""
    random, count, out = np.random.default_rng(seed), len(groups.parts), []
    at_once = max(_CELLS // count, 1)
    for start in range(0, rounds, at_once):
        weights = random.standard_exponential((min(at_once, rounds - start), count))
        queries = weights.sum(axis=1) if groups.sizes is None else weights @ groups.sizes
        out.append(weights @ groups.parts / queries)
    return out


def _count(means: Array, within: float, tie: float) -> Array:
    """How many rounds are better, worse, equal, clearly better and clearly worse."""
    cases = (means > tie, means < -tie, np.abs(means) <= within + tie, means > within + tie, means < -within - tie)
    return np.array([np.count_nonzero(case) for case in cases], dtype=float)
