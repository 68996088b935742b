"""Tests of counts: whether units were split over variants as was planned."""

from __future__ import annotations

import math

import numpy as np

from rankscope.lists import Array

EXACT = 1000  # fewer units than this are tested by the binomial distribution itself, ...
FEW = 100  # ... and so are more of them where fewer than this were planned for a variant: limits alarm too often there


def split_p_value(counts: Array, shares: Array) -> float:
    """The two-sided p-value of a split of units over variants with these planned shares, which sum to 1.

    Two variants: the binomial test, from 1,000 units on its normal limit corrected for continuity. More: chi square. Where fewer than
    100 units were planned for a variant these limits alarm too often, and it is the binomial test: of each variant against the
    others, Bonferroni-corrected. NaN without units.

    >>> round(split_p_value(np.array([505, 495]), np.array([0.5, 0.5])), 4)
    0.7759
    >>> round(split_p_value(np.array([30, 30, 60]), np.array([0.25, 0.25, 0.5])), 4)
    1.0
    """
    total = int(counts.sum())
    if not total:
        return math.nan
    if len(counts) == 2:
        return _two(int(counts[1]), total, float(shares[1]))
    from scipy.special import chdtrc

    expected = total * shares
    if expected.min() < FEW:
        least = min(_two(count, total, share) for count, share in zip(counts.tolist(), shares.tolist(), strict=True))
        return min(least * len(counts), 1.0)
    return float(chdtrc(len(counts) - 1, float(((counts - expected) ** 2 / expected).sum())))


def _two(count: int, total: int, share: float) -> float:
    from scipy.special import bdtr, bdtrc, gammaln, ndtr

    if total >= EXACT and total * min(share, 1 - share) >= FEW:
        away = max(abs(count - total * share) - 0.5, 0.0)
        return float(2 * ndtr(-away / math.sqrt(total * share * (1 - share))))
    number = np.arange(total + 1)
    logs = gammaln(total + 1) - gammaln(number + 1) - gammaln(total - number + 1)
    logs = logs + number * math.log(share) + (total - number) * math.log1p(-share)
    likely = logs <= logs[count] + 1e-7  # all counts that are no more probable, rounding aside
    if likely.all():
        return 1.0
    middle = total * share
    low, high = number[likely & (number < middle)], number[likely & (number > middle)]
    below = float(bdtr(int(low.max()), total, share)) if len(low) else 0.0
    above = float(bdtrc(int(high.min()) - 1, total, share)) if len(high) else 0.0
    return min(below + above, 1.0)
