"""Quantiles of rows that come in clusters: the value, an interval by order statistics, and the standard error that follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rankscope import words
from rankscope.inference.base import Bounds, Estimate, freedom_of_sizes, rest_of
from rankscope.inference.intervals import normal, student
from rankscope.lists import Array, exact_sum

ROUNDING = 1e-9  # of a rank
SPAN = 0.95  # the level of the interval by whose width the standard error goes
FEW = 20  # rows beyond the quantile, of as many that are independent, from which clusters say how alike they are


@dataclass(frozen=True)
class QuantileEstimate:
    """A quantile of rows in clusters, with its interval ``bounds`` and its standard ``error``.

    ``rows`` counts the rows with a value, ``below`` the rows at or below the quantile, ``clusters`` their clusters. ``effective`` is the number of
    independent rows with the same precision. ``freedom`` is the number of degrees of freedom of the error, ``reason`` the reason if it is
    unknown. ``needed`` is the number of rows for a reliable interval if these are too few, otherwise 0.
    """

    value: float
    bounds: Bounds
    error: float
    freedom: float
    rows: int
    below: int
    clusters: int
    effective: float
    reason: str = ""
    needed: int = 0

    def estimate(self, count: int | None = None) -> Estimate:
        """The quantile and its error as input of tests and intervals of differences; ``count`` is the number of units, by default those with rows."""
        units, size = self.clusters if count is None else count, abs(self.value)
        if self.reason:
            return Estimate(self.value, math.nan, 0, units, size, reason=self.reason)
        return Estimate(self.value, self.error, self.freedom, units, max(size, self.error * math.sqrt(units)))


@dataclass(frozen=True)
class _Share:
    """The precision of the share of rows below the quantile, as a number of ``effective`` independent rows.

    ``exact`` is true if all clusters are of one size and on one side: the number below is then binomial.
    """

    effective: float
    freedom: float
    exact: bool


def quantile_of(values: Array, clusters: Array | None, q: float, level: float = 0.95) -> QuantileEstimate:
    """The quantile of rows in ``clusters`` (numbered from 0; without clusters each row is independent).

    The quantile is the smallest value that a share of at least ``q`` of the rows do not exceed: the inverse of the empirical
    distribution (type 1 of Hyndman and Fan), so it is always an observed value. Its interval is between two observed values. It inverts the
    interval of the share of rows below the quantile (Woodruff): binomial, with the number of independent rows of the same precision, from
    the variation of the share between clusters (Korn and Graubard). There is no interval if too few rows are beyond the quantile for an
    end on that side.

    The standard error is the error of the share, times the rise of values per share along the interval at 95%. If its ends are one value,
    the rise is taken along the values next to it. If the quantile is one of two ends, as for whole seconds, it may jump to the other, so the
    error is at least the size of the interval.

    Source: Woodruff, Confidence intervals for medians and other position measures, JASA 47, 1952; Korn and Graubard, Confidence
    intervals for proportions with small expected number of positive counts estimated from survey data, Survey Methodology 24, 1998;
    Deng, Knoblich and Lu, Applying the delta method in metric analytics, KDD 2018; Hyndman and Fan, Sample quantiles in statistical packages, 1996.

    >>> found = quantile_of(np.arange(1.0, 101.0), None, 0.5)
    >>> found.value, found.bounds.lower, found.bounds.upper  # values 40 and 61 of 100, as the sign test has it
    (50.0, 40.0, 61.0)
    """
    ordered = np.sort(values)
    count = len(ordered)
    if not count:
        return _without(math.nan, 0, 0, 0, "every value is missing")
    rank = max(math.ceil(Fraction(repr(float(q))) * count), 1)  # by the decimals of q, not its bits
    value = float(ordered[rank - 1])
    at, below = (int(np.searchsorted(ordered, value, side)) for side in ("left", "right"))
    # the share strictly below counts if all rows are at or below, or if it is nearer to q
    strict = bool(at) and (below == count or abs(at / count - q) < abs(below / count - q))
    sizes, inside = _counts(values, clusters, value, strict=strict)
    share = _share_of(sizes, inside)
    known = value, below, count, len(sizes)
    if not share.freedom:
        return _without(*known, "fewer than 2 units have a value")
    if not math.isfinite(share.effective):
        return _without(*known, "all units have the same share of their rows below it")
    bounds, needed = _bounds(ordered, share, q, level)
    span = bounds if level == SPAN else _bounds(ordered, share, q, SPAN)[0]
    error = _error(ordered, value, span, math.sqrt(q * (1 - q) / share.effective)) if span.known else math.nan
    reason = "" if math.isfinite(error) else span.reason or "all rows have the same value"
    return QuantileEstimate(
        value, bounds, error, share.freedom, count, below, len(sizes), share.effective, reason, needed
    )


def _without(value: float, below: int, count: int, clusters: int, reason: str) -> QuantileEstimate:
    return QuantileEstimate(value, Bounds.none(reason), math.nan, 0, count, below, clusters, math.nan, reason)


def _counts(values: Array, clusters: Array | None, value: float, *, strict: bool) -> tuple[Array, Array]:
    """The number of rows of each cluster, and of rows below the quantile; without empty clusters."""
    under = values < value if strict else values <= value
    if clusters is None:
        return np.ones(len(values)), under.astype(np.float64)
    sizes = np.bincount(clusters)
    inside = np.bincount(clusters[under], minlength=len(sizes))
    return sizes[sizes > 0].astype(np.float64), inside[sizes > 0].astype(np.float64)


def _share_of(sizes: Array, inside: Array) -> _Share:
    """How sure the share of rows below is, by how it varies between clusters (CR2, with Satterthwaite's degrees of freedom)."""
    groups, freedom, shares = freedom_of_sizes(sizes)
    if groups < 2:
        return _Share(math.nan, 0, exact=False)
    count, below = exact_sum(sizes), exact_sum(inside)
    part = below / count
    if shares is None and bool(((inside == 0) | (inside == sizes)).all()):
        return _Share(float(groups), freedom, exact=True)
    if part in {0.0, 1.0}:  # all rows have one value: as if those of a cluster said the same
        return _Share(count**2 / exact_sum(sizes**2), freedom, exact=False)
    rest = inside - part * sizes
    factor = np.full(groups, (groups - 1) / groups) if shares is None else rest_of(shares)
    spread = exact_sum(rest**2 / factor)
    if spread <= (1e-12 * count) ** 2:
        return _Share(math.inf, freedom, exact=False)
    return _Share(part * (1 - part) * count**2 / spread, freedom, exact=False)


def _bounds(ordered: Array, share: _Share, q: float, level: float) -> tuple[Bounds, int]:
    """The interval between two values in order, and how many rows it takes where these are too few."""
    outside, count, trials = (1 - level) / 2, len(ordered), share.effective
    if not share.exact:
        trials *= (normal(outside) / student(share.freedom, outside)) ** 2
    tail = min(q, 1 - q)
    least = math.log(outside) / math.log1p(-tail)  # independent rows of which all lie on one side with this probability
    enough = least if share.exact else max(least, FEW / tail)
    needed = 0 if trials >= enough else math.ceil(enough / trials * count)
    if trials < least:
        few = f"{words.counted(count, 'row')}, and it takes about {words.rounded(needed, up=True)}"
        return Bounds.none(few), needed
    low, high = _ends(trials, q, outside)
    last = min(math.ceil(count * high / trials - ROUNDING), count)
    first = max(math.ceil(count * low / trials - ROUNDING), 1)
    return Bounds(float(ordered[first - 1]), float(ordered[last - 1]), "order_statistics"), needed


def _ends(trials: float, q: float, outside: float) -> tuple[int, int]:
    """The ranks between which a quantile lies, of so many independent values: the lower and the upper one, each missed as often as ``outside``."""
    from scipy.special import betainc

    def chance(rank: int) -> float:
        """That fewer values than this rank lie below the quantile."""
        if rank <= 0 or rank > trials:
            return float(rank > trials)
        return float(betainc(trials - rank + 1, rank, 1 - q))

    def first(low: int, high: int, wanted: float) -> int:
        """The first rank whose chance exceeds what is wanted."""
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if chance(middle) > wanted else (middle + 1, high)
        return low

    most = math.ceil(trials) + 1
    return max(first(0, most, outside) - 1, 1), first(0, most, 1 - outside)


def _error(ordered: Array, value: float, span: Bounds, of_share: float) -> float:
    """The standard error of a quantile, from the error of the share below it and the rise of values along the interval, or beyond it."""
    low, high = span.lower, span.upper
    if low == high:
        first, last = (int(np.searchsorted(ordered, low, side)) for side in ("left", "right"))
        low, high = float(ordered[max(first - 1, 0)]), float(ordered[min(last, len(ordered) - 1)])
    if low == high:
        return math.nan
    ends = np.array([low, high])
    shares = (np.searchsorted(ordered, ends, "left") + np.searchsorted(ordered, ends, "right")) / 2 / len(ordered)
    error = of_share * float((high - low) / (shares[1] - shares[0]))
    if span.lower < span.upper and value in {span.lower, span.upper}:
        return max(error, (span.upper - span.lower) / normal((1 - SPAN) / 2))
    return error
