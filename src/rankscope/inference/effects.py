"""How large a difference is, whether it is small enough not to matter, and how few queries carry it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from rankscope.errors import InputError
from rankscope.inference.base import CLOSE, Bounds, Estimate, Interval, PairedTest, Sample
from rankscope.inference.intervals import t
from rankscope.lists import exact_sum

FAR = 200  # powers of 2 beyond which products of four values may be too large or too small for a number


def standardised(sample: Sample) -> float:
    """The mean difference in standard deviations of the differences, Cohen's d of paired values.

    0 where all differences are 0; NaN for fewer than two queries, and where all differences are the same otherwise. Clusters do not
    change it. Source: Sakai, On the reliability of statistics in IR, 2014: t over the root of n.

    >>> round(standardised(Sample(np.array([1.0, 2.0, 3.0]))), 6)
    2.0
    """
    if sample.count < 2:
        return math.nan
    if sample.deviation > CLOSE * sample.largest:
        return sample.mean / sample.deviation
    return math.nan if sample.largest else 0.0


def relative(
    run: Sample, baseline: Sample, level: float = 0.95, method: Literal["fieller", "delta"] = "fieller"
) -> tuple[float, Bounds]:
    """Return the relative difference of two paired means, as a share of the size of the baseline's mean, and its interval.

    Fieller's interval excludes 0 exactly if the t interval of the difference does, and inverts if the runs change places. There is none
    if the baseline's mean is not clear of 0. 'delta' is symmetric around the value. The clusters are those of ``run``. The value has the
    sign of the difference, and is NaN for a baseline of mean 0. Source: Fieller, Some problems in interval estimation, 1954.

    Raises InputError for samples of unequal length, an unknown method, or a level outside 0 to 1.

    >>> value, bounds = relative(Sample(np.array([0.3, 0.5, 0.4])), Sample(np.array([0.2, 0.4, 0.4])))
    >>> round(value, 4)
    0.2
    """
    if run.count != baseline.count or method not in {"fieller", "delta"} or not 0 < level < 1:
        raise InputError(
            "a relative difference takes as many values of the baseline, method='fieller' or 'delta', and a level between 0 and 1; "
            f"got {run.count} and {baseline.count} values, method={method!r}, level={level}"
        )
    _, power = math.frexp(max(run.largest, baseline.largest))
    unit = math.ldexp(1.0, -power) if abs(power) > FAR and power > -1000 else 1.0
    above = replace(run, values=(run.values - baseline.values) * unit)
    base = replace(run, values=baseline.values * unit)
    if base.mean < 0:
        base = base.mirror
    if not base.count or base.mean == 0:
        return math.nan, Bounds.none("the mean of the baseline is 0" if base.count else "no queries")
    value = above.mean / base.mean
    left = replace(run, values=above.values - value * base.values)
    if not above.freedom:
        return value, Bounds.none(f"fewer than 2 {'queries' if run.clusters is None else 'clusters'}")
    if left.error <= CLOSE * float(max(np.abs(above.values).max(), abs(value) * np.abs(base.values).max())):
        return value, Bounds.none("every query has the same relative difference")
    reach = _quantile(above, (1 + level) / 2)
    if method == "fieller":
        return value, _fieller(above, base, reach)
    error = reach * left.error / abs(base.mean)
    return value, Bounds(value - error, value + error, "delta")


def _fieller(above: Sample, base: Sample, reach: float) -> Bounds:
    """Return all x for which the mean of ``above - x * base`` is within ``reach`` standard errors of 0."""
    a, b = (side.sum_clusters(side.values - side.mean) for side in (above, base))
    if above.shares is None:
        scale = reach**2 * above.groups / (above.groups - 1) / above.count**2
    else:  # as the standard error has it
        scale = reach**2 / above.count**2
        a, b = above.corrected(a), above.corrected(b)
    squared = base.mean**2 - scale * exact_sum(b * b)
    crossed = above.mean * base.mean - scale * exact_sum(a * b)
    free = above.mean**2 - scale * exact_sum(a * a)
    return _roots(squared, crossed, free, base.mean)


def _roots(squared: float, crossed: float, free: float, base: float) -> Bounds:
    """Return the x between the roots of ``squared * x**2 - 2 * crossed * x + free``; none if the baseline is not clear of 0."""
    if squared <= CLOSE * base**2:
        return Bounds.none("the mean of the baseline is not clear of 0")
    root = math.sqrt(max(crossed**2 - squared * free, 0.0))
    far = crossed + math.copysign(root, crossed)  # the root without cancellation; the other from their product
    ends = (far / squared, free / far if far else 0.0)
    return Bounds(min(ends), max(ends), "fieller")


def relative_of_own(
    run: Sample | Estimate, baseline: Sample | Estimate, level: float = 0.95, interval: Interval | None = None
) -> tuple[float, Bounds]:
    """Return the relative difference of two means over units of their own, as a share of the size of the baseline's, and its interval.

    Fieller's interval, with the quantile and the error of the difference: it excludes 0 exactly if the interval of the difference does.
    ``interval`` is Student's t by default; intervals for experiments that are analysed while they run also work. There is none if the
    baseline is not clear of 0. The value has the sign of the difference, and is NaN for a baseline of mean 0.

    >>> one, other = Estimate.of(1.1, 0.04, 100), Estimate.of(1.0, 0.04, 100)
    >>> value, bounds = relative_of_own(one, other)
    >>> round(value, 3), round(bounds.lower, 3), round(bounds.upper, 3)
    (0.1, 0.043, 0.16)
    """
    if not baseline.mean:
        return math.nan, Bounds.none("the mean of the baseline is 0" if baseline.count else "no units")
    between = Estimate.between(run, baseline)
    side = math.copysign(1.0, baseline.mean)
    value = side * (run.mean / baseline.mean - 1)
    bounds = (interval or t()).of(between, level)  # type: ignore[arg-type] # such an interval takes either
    if not bounds.known:
        return value, bounds
    reach = (bounds.upper - bounds.lower) / 2
    of_baseline = (reach / between.error * baseline.error) ** 2
    size = abs(baseline.mean)
    crossed = between.mean * size + side * of_baseline
    return value, _roots(size**2 - of_baseline, crossed, between.mean**2 - reach**2, size)


def ratio_in_logarithms(run: Sample | Estimate, baseline: Sample | Estimate) -> Estimate | str:
    """The logarithm of the ratio of two means over units of their own, by the delta method; the reason in words where there is none.

    >>> logs = ratio_in_logarithms(Estimate.of(1.1, 0.04, 100), Estimate.of(1.0, 0.04, 100))
    >>> [round(number, 4) for number in (logs.mean, logs.error, logs.freedom)]
    [0.0953, 0.027, 196.2282]
    """
    if not (run.mean > 0 and baseline.mean > 0):
        return "both means must be above 0"
    if not (run.freedom and baseline.freedom):
        return run.reason or baseline.reason or "fewer than 2 units"
    if not (run.error or baseline.error):
        return "no unit differs from another"
    return Estimate.between(_logarithm(run), _logarithm(baseline))


def _logarithm(side: Sample | Estimate) -> Estimate:
    """The logarithm of a mean above 0, by the delta method."""
    error, largest = side.error / side.mean, side.largest / side.mean
    return Estimate(math.log(side.mean), error, side.freedom, side.count, largest)


def favourable_if_normal(sample: Sample) -> float:
    """As ``favourable``, the number of queries for normally distributed differences of this mean and spread.

    With the mean at d standard deviations a share q of the best must go, where d (1 - q) is the density of the standard normal
    distribution at its quantile 1 - q: a lead of a tenth of a standard deviation is gone without the best 4.5%, whatever it is of.

    >>> around = np.linspace(-1, 1, 2001)
    >>> round(favourable_if_normal(Sample(around + around.std(ddof=1) / 10)) / 2001, 3)
    0.045
    """
    if not sample.deviation > 0:
        return math.inf
    size = abs(sample.mean) / sample.deviation
    low, high = -40.0, 40.0
    for _ in range(60):
        z = (low + high) / 2
        kept = math.erfc(-z / math.sqrt(2)) / 2
        low, high = (low, z) if size * kept > math.exp(-z * z / 2) / math.sqrt(2 * math.pi) else (z, high)
    return math.erfc(high / math.sqrt(2)) / 2 * sample.count


@dataclass(frozen=True)
class Equivalence:
    """The result of an equivalence test: the larger of two one-sided p-values, and the matching interval.

    ``lower`` and ``upper`` are an interval at confidence ``level``, 1 - 2 alpha for t: it lies within the margin exactly if
    ``p_value`` <= alpha.
    """

    source: ClassVar[str] = "Schuirmann, A comparison of the two one-sided tests procedure, 1987"

    p_value: float
    lower: float
    upper: float
    level: float


def equivalence(sample: Sample | Estimate, margin: float, alpha: float = 0.05) -> Equivalence:
    """Two one-sided t tests: that the mean is above -margin, and that it is below margin.

    NaN for fewer than two queries (or clusters). Without spread the p-value is 0 within the margin and 1 outside.
    Raises InputError for a margin that is not above 0.

    >>> equivalence(Sample(np.array([0.01, -0.01, 0.02, -0.02])), margin=0.1).p_value < 0.05
    True
    """
    _check(margin, alpha)
    p_value = max(_above(sample, -margin), _above(sample.mirror, -margin))
    reach = _reach(sample, alpha)
    return Equivalence(p_value, sample.mean - reach, sample.mean + reach, 1 - 2 * alpha)


def equivalence_at_looks(
    test: PairedTest, interval: Interval, sample: Estimate, margin: float, alpha: float = 0.05
) -> Equivalence:
    """As ``equivalence``, by a test and its interval that hold at every look, or at those that were planned.

    Both sides are tested by the two-sided test, so that it says what the interval at 1 - alpha says.
    """
    _check(margin, alpha)
    bounds = interval.of(sample, 1 - alpha)  # type: ignore[arg-type] # such an interval takes either
    p_value = max(above_at_looks(test, side, -margin) for side in (sample, sample.mirror))
    return Equivalence(p_value, bounds.lower, bounds.upper, 1 - alpha)


def above_at_looks(test: PairedTest, sample: Estimate, bound: float) -> float:
    """The p-value that a mean is above a bound, by a two-sided test that holds at looks: 1 where it lies below.

    >>> from rankscope.inference.sequential import anytime
    >>> above_at_looks(anytime(), Estimate(0.1, 0.01, 98, 100, 1.0), 0.0) < 0.001
    True
    """
    moved = replace(sample, mean=sample.mean - bound)
    p_value = test.p_value(moved)  # type: ignore[arg-type] # such a test takes either
    return p_value if moved.mean > 0 or math.isnan(p_value) else 1.0


@dataclass(frozen=True)
class NonInferiority:
    """The result of a non-inferiority test: the one-sided p-value, and the matching one-sided bound.

    ``bound`` is the worst mean difference that a one-sided test at alpha does not reject.
    """

    p_value: float
    bound: float


def noninferiority(
    sample: Sample | Estimate, margin: float, better: str = "higher", alpha: float = 0.05
) -> NonInferiority:
    """A one-sided t test that the mean difference is not worse than the margin.

    ``better`` is 'higher' or 'lower'. NaN for fewer than two queries (or clusters). Raises InputError for another ``better`` and for
    a margin that is not above 0.

    >>> noninferiority(Sample(np.array([0.01, -0.01, 0.02, -0.02])), margin=0.1).p_value < 0.05
    True
    """
    _check(margin, alpha)
    if better not in {"higher", "lower"}:
        raise InputError(f"better={better!r}: not worse needs a direction, 'higher' or 'lower'")
    side = 1 if better == "higher" else -1
    p_value = _above(sample if side > 0 else sample.mirror, -margin)
    return NonInferiority(p_value, sample.mean - side * _reach(sample, alpha))


def _above(sample: Sample | Estimate, bound: float) -> float:
    """The one-sided p-value that the mean is above a bound."""
    from scipy.special import stdtr

    if not sample.freedom:
        return math.nan
    distance = sample.mean - bound
    if sample.error > CLOSE * sample.largest:
        return float(stdtr(sample.freedom, -distance / sample.error))
    return 0.0 if distance > 0 else 1.0


def _reach(sample: Sample | Estimate, outside: float) -> float:
    return _quantile(sample, 1 - outside) * sample.error if sample.freedom else math.nan


def _quantile(sample: Sample | Estimate, share: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(sample.freedom, share))


def _check(margin: float, alpha: float) -> None:
    if not (0 < margin < math.inf and 0 < alpha < 0.5):
        remedy = "a margin is a difference above 0 that would not matter, like 0.01, and alpha lies between 0 and 0.5"
        raise InputError(f"margin={margin}, alpha={alpha}: {remedy}")
