"""Intervals and tests of many samples at once: ``values`` is samples x queries, what comes back is one a sample.

The library looks at one sample at a time; a simulation of hundreds of thousands cannot. ``tests/inference/test_calibration.py``
holds these against the library, sample by sample.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankscope.inference.base import CLOSE
from rankscope.lists import Array

Ends = tuple[Array, Array]


def mean_and_error(values: Array) -> Ends:
    """The mean of each sample and its standard error."""
    n = values.shape[1]
    return values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(n)


def inside(ends: Ends, truth: float) -> Array:
    """Whether the interval of each sample holds the truth; where there is none, it does not."""
    return np.asarray((ends[0] <= truth) & (truth <= ends[1]))


# --- intervals -----------------------------------------------------------------------------------


def t_ends(values: Array) -> Ends:
    """Student's interval; none without spread."""
    from scipy.special import stdtrit

    mean, error = mean_and_error(values)
    error = np.where(np.ptp(values, axis=1) > 0, error, np.nan)
    away = stdtrit(values.shape[1] - 1, 0.975) * error
    return mean - away, mean + away


def linearised(values: Array, weights: Array) -> Array:
    """Values whose plain means are the weighted ones, and that vary around them as these do."""
    shares = weights / weights.sum()
    mean = (values @ shares)[:, None]
    return np.asarray(mean + len(weights) * shares * (values - mean))


def clustered_ends(values: Array, sizes: Array, weights: Array) -> Ends:
    """Student's interval with the error between clusters (CR2) and Satterthwaite's degrees of freedom.

    Clusters lie side by side in these sizes; the values are linearised where queries weigh differently.
    """
    from scipy.special import stdtrit

    n = values.shape[1]
    mean = values.mean(axis=1)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    shares = np.add.reduceat(weights / weights.sum(), starts)
    sums = np.add.reduceat(values - mean[:, None], starts, axis=1)
    error = np.sqrt((sums**2 / (1 - shares)).sum(axis=1)) / n
    # how the residuals of two clusters go together where queries vary alike and independently
    together = (np.diag(shares) - np.outer(shares, shares)) / np.sqrt(np.outer(1 - shares, 1 - shares))
    away = stdtrit(together.trace() ** 2 / (together**2).sum(), 0.975) * error
    return mean - away, mean + away


def counts(rounds: int, n: int, rng: np.random.Generator) -> Array:
    """How often each query is in each resample: rounds x queries."""
    drawn = rng.integers(0, n, (rounds, n)) + n * np.arange(rounds)[:, None]
    return np.bincount(drawn.ravel(), minlength=rounds * n).reshape(rounds, n).astype(float)


def bootstrap_ends(values: Array, times: Array) -> dict[str, Ends]:
    """The percentile, BCa and studentised intervals from the same resamples, ``times`` as ``counts`` made them."""
    n = values.shape[1]
    mean, error = mean_and_error(values)
    around = values - mean[:, None]
    noise = CLOSE * np.abs(around).max(axis=1, keepdims=True)
    means = around @ times.T / n
    squares = np.maximum(around**2 @ times.T - n * means**2, 0)
    means[np.abs(means) <= noise] = 0.0
    spread = squares > n * np.maximum(noise, 1e-8 * np.sqrt((around**2).mean(axis=1, keepdims=True))) ** 2
    student = np.where(means == 0, 0.0, np.copysign(np.inf, means))
    np.divide(means, np.sqrt(squares / (n - 1) / n), out=student, where=spread & (means != 0))
    student.sort(axis=1)
    means.sort(axis=1)
    tails = np.full(len(values), 0.025)
    return {
        "percentile": (mean + quantile(means, tails), mean + quantile(means, 1 - tails)),
        "BCa": _bca(around, mean, means),
        "studentised": (mean - quantile(student, 1 - tails) * error, mean - quantile(student, tails) * error),
    }


def _bca(around: Array, mean: Array, ordered: Array) -> Ends:
    """The ends of BCa from the ordered means of resamples, less the mean."""
    from scipy.special import ndtr, ndtri

    rounds = ordered.shape[1]
    share = ((ordered < 0).sum(axis=1) + (ordered == 0).sum(axis=1) / 2) / rounds
    bias = ndtri(np.clip(share, 0.5 / rounds, 1 - 0.5 / rounds))
    squares = (around**2).sum(axis=1)
    with np.errstate(invalid="ignore"):
        skewed = np.where(squares > 0, (around**3).sum(axis=1) / (6 * squares**1.5), 0.0)
    ends = []
    for z in ndtri([0.025, 0.975]):
        left = 1 - skewed * (bias + z)
        with np.errstate(divide="ignore"):
            moved = np.where(left > 0, bias + (bias + z) / left, np.copysign(np.inf, bias + z))
        ends.append(mean + quantile(ordered, ndtr(moved)))
    return ends[0], ends[1]


def quantile(ordered: Array, level: Array) -> Array:
    """Of each row another quantile, as the library takes it: that numbered level x (draws + 1), from 1."""
    rounds = ordered.shape[1]
    place = np.clip(np.round(level * (rounds + 1), 6) - 1, 0, rounds - 1)
    rows = np.arange(len(ordered))
    below, above = ordered[rows, np.floor(place).astype(int)], ordered[rows, np.ceil(place).astype(int)]
    part = place % 1
    with np.errstate(invalid="ignore"):
        between = (1 - part) * below + part * above
    both = np.isinf(below) & np.isinf(above)
    between = np.where(both, np.where(level < 0.5, below, above), between)
    return np.asarray(np.where((part == 0) | (below == above), below, between))


# --- tests ---------------------------------------------------------------------------------------


def t_p(values: Array) -> Array:
    """The p-value of the paired t test: 1 where all are 0."""
    from scipy.special import stdtr

    mean, error = mean_and_error(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(values.shape[1] - 1, -np.abs(mean) / error)
    return np.where(values.any(axis=1), p, 1.0)


def signs(rounds: int, n: int, rng: np.random.Generator) -> Array:
    """Signs of a sign-flip test: rounds x queries."""
    return np.asarray(rng.integers(0, 2, (rounds, n)) * 2.0 - 1)


def flip_p(values: Array, flips: Array) -> Array:
    """The p-value of the sign-flip test with these signs."""
    observed = np.abs(values.sum(axis=1))
    near = CLOSE * np.abs(values).sum(axis=1)
    reached = np.zeros(len(values))
    for part in np.array_split(flips, max(1, len(flips) * len(values) // 4_000_000)):
        reached += (np.abs(values @ part.T) >= (observed - near)[:, None]).sum(axis=1)
    return np.asarray((reached + 1) / (len(flips) + 1))


def shifted_p(values: Array, times: Array) -> Array:
    """The p-value of the bootstrap test: resamples of the values around their mean."""
    around = values - values.mean(axis=1, keepdims=True)
    observed = np.abs(values.sum(axis=1))
    near = CLOSE * np.abs(values).sum(axis=1)
    reached = (np.abs(around @ times.T) >= (observed - near)[:, None]).sum(axis=1)
    return np.asarray((reached + 1) / (len(times) + 1))


def largest_t_p(values: Array, flips: Array) -> Array:
    """The smallest p-value of the max-T correction of each family: ``values`` is families x comparisons x queries."""
    sizes = np.sqrt((values**2).sum(axis=2, keepdims=True))
    scaled = values / np.where(sizes > 0, sizes, 1)  # |sum| over this size rises with |t|
    observed = np.abs(scaled.sum(axis=2)).max(axis=1)
    out = np.empty(len(values))
    for i, family in enumerate(scaled):
        highest = np.abs(family @ flips.T).max(axis=0)
        out[i] = ((highest >= observed[i] * (1 - CLOSE)).sum() + 1) / (len(flips) + 1)
    return out


def one_by_one(test: Any, values: Array) -> Array:
    """The p-values by the library itself."""
    from rankscope.inference.base import Sample

    return np.array([test.p_value(Sample(row)) for row in values])
