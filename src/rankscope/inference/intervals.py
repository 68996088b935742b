"""Intervals of a mean by formula, and the quantiles they need, without loading scipy (a third of a second)."""

from __future__ import annotations

import math
from functools import cache
from typing import Annotated

import numpy as np

from rankscope.declared import Param
from rankscope.errors import InputError
from rankscope.inference.base import CELLS, Bounds, Estimate, Interval, Sample, check_between
from rankscope.lists import Array, exact_sum

FAR = 1e-6  # farther out in the tail the closed form loses digits, and scipy is asked
MANY = 1_000  # with more degrees of freedom the expansion around the normal is exact to the last digits


@cache
def normal(outside: float) -> float:
    """The value that a standard normal variable exceeds with this probability, which is below one half.

    >>> round(normal(0.025), 6)
    1.959964
    """
    # a rational start (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.23), then Newton's steps
    t = math.sqrt(-2 * math.log(outside))
    z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)))
    for _ in range(4):
        density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        z += (math.erfc(z / math.sqrt(2)) / 2 - outside) / density
    return z


@cache
def student(freedom: float, outside: float) -> float:
    """The value that Student's t with this many degrees of freedom exceeds with this probability, which is below one half.

    With a fraction of a degree of freedom scipy is asked.

    >>> round(student(4, 0.025), 6)
    2.776445
    """
    if outside < FAR or freedom % 1:
        from scipy.special import stdtrit

        return -float(stdtrit(freedom, outside))
    freedom = int(freedom)
    if freedom == 1:
        return 1 / math.tan(math.pi * outside)
    z = normal(outside)
    if freedom > MANY:
        return _expand(freedom, z)
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    value = z  # left of the root of a convex function, so Newton's steps only rise towards it
    for _ in range(200):
        density = scale * (1 + value * value / freedom) ** (-(freedom + 1) / 2)
        step = (_tail(freedom, value) - outside) / density
        value += step
        if step <= 1e-15 * value:
            break
    return value


def _tail(freedom: int, value: float) -> float:
    """The chance that t exceeds a value: a finite sum for whole degrees of freedom (the same, 26.7.3 and 26.7.4)."""
    angle = math.atan(value / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    whole = term
    for i in range(3 if odd else 2, freedom, 2):
        term *= (i - 1) / i * cosine * cosine
        whole += term
    inside = 2 / math.pi * (angle + sine * whole) if odd else sine * whole
    return (1 - inside) / 2


def _expand(freedom: int, z: float) -> float:
    """Student's quantile from the normal one, in powers of 1 / freedom (the same, 26.7.5)."""
    s = z * z
    terms = (
        z,
        z * (s + 1) / 4,
        z * (5 * s**2 + 16 * s + 3) / 96,
        z * (3 * s**3 + 19 * s**2 + 17 * s - 15) / 384,
        z * (79 * s**4 + 776 * s**3 + 1482 * s**2 - 1920 * s - 945) / 92160,
    )
    return math.fsum(term / freedom**i for i, term in enumerate(terms))


def interval_of_mean(
    sample: Sample,
    interval: Interval | None = None,
    level: float = 0.95,
    low: float = -math.inf,
    high: float = math.inf,
) -> Bounds:
    """The interval of a mean by ``interval``; by default Wilson's for scores that are all 0 or 1, otherwise Student's t.

    There is no interval of fewer than two queries (or clusters), or of values that are all the same, except scores of 0 or 1.
    The ends are clipped to ``low`` and ``high``, the range of the values. With a ``low`` below 0 values may be negative (differences), so 0 and 1
    are no successes: Wilson's interval does not mirror. Raises InputError for a level outside 0 to 1.

    >>> import numpy as np
    >>> interval_of_mean(Sample(np.array([0.0, 1.0, 1.0, 1.0])), low=0, high=1).method
    'wilson'
    >>> interval_of_mean(Sample(np.array([0.5, 0.5]))).reason
    'every query has the same value'
    """
    if interval is None:
        may_be_negative = -math.inf < low < 0
        successes = sample.count > 1 and not may_be_negative and not _not_successes(sample)
        interval = wilson() if successes else t()
    return interval.of(sample, level).clipped(low, high)


class t(Interval):
    """Student's interval: the mean, plus and minus its standard error times the quantile of t.

    Queries less one are the degrees of freedom. With clusters the error is that between clusters, and clusters less one are the
    degrees of freedom; where they are of unequal size, or weight, both are corrected for that (CR2 and Satterthwaite's degrees).
    """

    in_words = "t intervals"
    source = "Student, The probable error of a mean, Biometrika 6(1), 1908; clusters: Bell and McCaffrey, Bias reduction in standard errors for linear regression with multi-stage samples, Survey Methodology 28(2), 2002"
    best_for = "means and differences of 20 queries and more. The dual of the t test"
    by_moments = True

    def of(self, sample: Sample | Estimate, level: float = 0.95) -> Bounds:
        """The interval of the mean of a sample; none for fewer than two queries or clusters, or without spread."""
        check_between("level", level, 0.95)
        if reason := without_interval(sample):
            return Bounds.none(reason)
        below, above = reaches(sample, (1 - level) / 2)
        if math.isinf(max(below, above)):
            return Bounds.none("the random draws are too few for this level")
        by = sample.chance.by if isinstance(sample, Estimate) and sample.chance is not None else str(self)
        return Bounds(sample.mean - below, sample.mean + above, by)


def reaches(sample: Sample | Estimate, outside: float) -> tuple[float, float]:
    """The distances of both ends of an interval from the mean, with this probability outside on each side; equal for Student's t."""
    if isinstance(sample, Estimate) and sample.chance is not None:
        below, above = (side.reach(outside) * sample.error for side in (sample.chance, sample.chance.mirror))
        return below, above
    reach = student(sample.freedom, outside) * sample.error if sample.freedom else math.nan
    return reach, reach


class wilson(Interval):
    """Wilson's interval of a proportion: the proportions that a score test at this level does not reject.

    It stays within 0 and 1, and has a width where all queries succeed or none. Takes scores of 0 and 1 without clusters.
    """

    in_words = "Wilson's intervals"
    fits = "if all scores are 0 or 1"
    source = "Wilson, Probable inference, the law of succession, and statistical inference, Journal of the American Statistical Association 22, 1927"
    best_for = "the share of queries that succeed, near 0 or 1 too"

    def of(self, sample: Sample, level: float = 0.95) -> Bounds:
        """The interval of a share; none for clusters, or for values other than 0 and 1."""
        check_between("level", level, 0.95)
        if reason := _not_successes(sample):
            return Bounds.none(reason)
        return self.of_share(sample.count, sample.mean, level)

    def of_share(self, n: int, share: float, level: float = 0.95) -> Bounds:
        """The interval of a share of ``n`` queries.

        >>> wilson().of_share(4, 0.75) == wilson().of(Sample(np.array([0.0, 1.0, 1.0, 1.0])))
        True
        """
        z = normal((1 - level) / 2)
        shrink = 1 + z * z / n
        middle = (share + z * z / (2 * n)) / shrink
        reach = z / shrink * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        lower = 0.0 if share == 0 else max(middle - reach, 0.0)
        upper = 1.0 if share == 1 else min(middle + reach, 1.0)
        return Bounds(lower, upper, str(self))


class bernstein(Interval):
    """An interval with a guarantee for any number of values: the empirical Bernstein bound for values within a stated range.

    The mean plus and minus sqrt(2 v ln(4 / d) / n) + 7 r ln(4 / d) / (3 (n - 1)), with v the variance of ``n`` values, ``r`` = high - low their
    range, and d = 1 - level. State the range beforehand: the range seen in the values guarantees nothing. ``n`` counts clusters if there are any, whose
    sizes are taken as given.
    """

    in_words = "empirical Bernstein intervals"
    source = "Maurer and Pontil, Empirical Bernstein bounds and sample-variance penalization, COLT 2009"
    best_for = "a guarantee for few or skewed values, such as weighted clicks, at the price of a wider interval"
    by_range = has_test = True

    low: Annotated[float, Param("the lowest value there can be", low=-1e9)] = -1.0
    high: Annotated[float, Param("the highest value there can be", high=1e9)] = 1.0

    def check(self) -> None:
        """The range has room."""
        if self.low >= self.high:
            raise InputError(f"{self}: low is below high, as in bernstein(low=0, high=50)")

    def of(self, sample: Sample, level: float = 0.95) -> Bounds:
        """The interval of the mean. Raises InputError for a value outside the range; none for weights or fewer than two values."""
        check_between("level", level, 0.95)
        if reason := without_bernstein(sample):
            return Bounds.none(reason)
        log = math.log(4 / (1 - level))
        by_spread, by_range = bernstein_terms(sample, self.low, self.high)
        reach = by_spread * math.sqrt(log) + by_range * log
        return Bounds(sample.mean - reach, sample.mean + reach, str(self))


def without_bernstein(sample: Sample) -> str:
    """Return the reason that a sample has no empirical Bernstein bound; empty if it has one."""
    if sample.weights is not None:
        return "weighted means have no empirical Bernstein bound"
    return ("fewer than 2 queries" if sample.clusters is None else "fewer than 2 clusters") if sample.groups < 2 else ""


def bernstein_terms(sample: Sample, low: float, high: float) -> tuple[float, float]:
    """Return the terms of the bound that grow with the root of ln(4 / d), and with ln(4 / d). Raises InputError for a value outside low to high."""
    least, most = float(sample.values.min()), float(sample.values.max())
    room = 1e-9 * (high - low)
    if least < low - room or most > high + room:
        raise InputError(
            f"bernstein(low={low:g}, high={high:g}): values range from {least:g} to {most:g}: state the range that they can have"
        )
    n = sample.groups
    scale = n / sample.count
    values = sample.sum_clusters(sample.values) * scale
    largest = float(sample.sum_clusters(np.ones(sample.count)).max()) * scale
    return math.sqrt(2 * float(values.var(ddof=1)) / n), 7 * (high - low) * largest / (3 * (n - 1))


def largest_share(count: int, n: int, outside: float) -> float:
    """The largest share that ``count`` of ``n`` does not refute at this probability: Clopper and Pearson's exact upper bound.

    Source: Clopper and Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika 26(4), 1934.

    >>> round(largest_share(0, 50, 0.025), 3)  # 1 - 0.025 ** (1 / 50)
    0.071
    """
    from scipy.special import betaincinv

    return float(betaincinv(count + 1, n - count, 1 - outside)) if count < n else 1.0


def linearise(values: Array, weights: Array) -> Array:
    """Per-query values x whose plain mean and standard error are those of the weighted mean. Values of two runs may be subtracted.

    x = m + w · (v - m) / mean(w), with m the weighted mean sum(w · v) / sum(w). The standard error of the mean of x is the
    linearised (Taylor) standard error of this ratio of two sums, with n - 1 (Cochran, Sampling Techniques, 1977, section 6).
    A pooled (micro) mean is the same with v = part / whole and w = whole. If all weights, or all values, are equal, x is v.
    Raises InputError unless ``values`` and ``weights`` are one finite number per query, weights not negative and not all 0.

    >>> linearise(np.array([0.0, 1.0]), np.array([1.0, 3.0])).tolist()  # mean 3 / 4
    [0.375, 1.125]
    """
    values, weights = np.asarray(values, dtype=float), np.asarray(weights, dtype=float)
    if values.ndim != 1 or values.shape != weights.shape:
        raise InputError(f"weights are one a value, but there are values {values.shape} and weights {weights.shape}")
    if not (np.isfinite(values).all() and np.isfinite(weights).all()):
        raise InputError("values and weights are finite numbers; leave undefined queries out")
    whole = exact_sum(weights)
    if (weights < 0).any() or not whole > 0:
        raise InputError("weights are 0 or more, and not all 0")
    if np.ptp(weights) == 0 or np.ptp(values) == 0:
        return values.copy()  # as it is, without rounding
    mean = exact_sum(weights * values) / whole
    return np.asarray(mean + weights * (values - mean) * (len(values) / whole))


def without_interval(sample: Sample | Estimate) -> str:
    """Why the spread of a sample says nothing about its mean; empty where it does."""
    groups = "queries" if sample.clusters is None else "clusters"
    if sample.reason:
        return sample.reason
    if sample.count == 0:
        return "no queries"
    if not sample.freedom:
        return f"fewer than 2 {groups}"
    # values that are the same may differ by their rounding, and so may the sums of clusters around the mean
    if sample.error <= sample.rounding:
        return f"every {'query has the same value' if sample.clusters is None else 'cluster has the same mean'}"
    return ""


def _not_successes(sample: Sample) -> str:
    """Why Wilson's interval does not fit a sample; empty where it does."""
    if sample.count == 0:
        return "no queries"
    if sample.clusters is not None:
        return "wilson takes queries as independent, and these come in clusters"
    if not np.isin(sample.values, (0.0, 1.0)).all():
        return "wilson takes only values of 0 and 1"
    return ""


def error_places(freedom: float, finer: float = 1.0) -> tuple[Array, Array]:
    """Points and weights (which sum to 1) to integrate over an estimated standard deviation whose true value is 1.

    A sum over them is the integral over the root of chi square over its ``freedom``, by the trapezoidal rule in the logarithm: for
    what is smooth over a tenth of it or, where ``finer`` is above 1, over a part of that.
    """
    from scipy.special import gammainccinv, gammaincinv

    half = freedom / 2
    least, most = (math.log(end(half, 1e-17) / half) / 2 for end in (gammaincinv, gammainccinv))
    count = max(161, math.ceil((most - least) * 10 * finer))
    logs = np.linspace(least, most, min(count, CELLS))
    heights = half * (2 * logs - np.expm1(2 * logs))
    weights = np.exp(heights - heights.max())
    return np.exp(logs), weights / weights.sum()
