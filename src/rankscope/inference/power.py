"""Statistical power: which differences the given queries can detect, and how many queries others need."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import Literal

from rankscope import words
from rankscope.declared import plain
from rankscope.errors import DataError, InputError
from rankscope.inference.base import Estimate, PairedTest, Sample
from rankscope.inference.intervals import error_places

FINEST = 64  # critical values from here on, of few degrees of freedom, are integrated no more finely
_MANY = 10**9  # up to here numbers of queries are searched, beyond they follow from the normal distribution


@dataclass(frozen=True)
class Detectable:
    """The smallest mean difference that a t test detects with the given power.

    ``low`` and ``high`` are what it is at the ends of the 95 % interval of the standard deviation, which is only estimated.
    """

    difference: float
    low: float
    high: float


def detectable(sample: Sample | Estimate, power: float = 0.8, alpha: float = 0.05) -> Detectable:
    """The smallest difference that as many new queries would detect, in standard errors that are themselves estimated from these.

    If the spread were known, (t[1 - alpha/2] + t[power]) standard errors would do. It may be larger than estimated, and power falls by more
    there than it gains elsewhere. So the number of standard errors is the quantile at the power of noncentral t around t[1 - alpha/2]: the
    average power over the spreads that are possible. Degrees of freedom are the sample's. With clusters the error is that between clusters.
    The range is from the chi square distribution of the variance. A difference with random deals has their quantile instead of t[1 - alpha/2].
    0 without spread, NaN for fewer than two queries (or clusters).
    Source: Julious and Owen, Sample size calculations for clinical studies allowing for uncertainty about the variance, Pharmaceutical
    Statistics 5(1), 2006; Bloom, Minimum detectable effects, Evaluation Review, 1995.

    >>> import numpy as np
    >>> found = detectable(
    ...     Sample(np.array([-1.0, 1.0] * 25))
    ... )  # sqrt(50 / 49) / sqrt(50), times 2.901, and not 2.0096 + 0.8490
    >>> round(found.difference, 3)
    0.414
    """
    from scipy.special import chdtri

    _check(power, alpha)
    nu = sample.freedom
    if not nu:
        return Detectable(math.nan, math.nan, math.nan)
    clear = sample.error > sample.rounding  # of rounding
    quantiles = _quantiles(nu, power, alpha, nu)
    if isinstance(sample, Estimate) and sample.chance is not None:
        quantiles = _of_pilot(nu, power, max(side.reach(alpha / 2) for side in (sample.chance, sample.chance.mirror)))
    difference = quantiles * sample.error if clear else 0.0
    low, high = (math.sqrt(nu / float(chdtri(nu, above))) for above in (0.025, 0.975))
    return Detectable(difference, low * difference, high * difference)


def detectable_difference(
    n: float, deviation: float, power: float = 0.8, alpha: float = 0.05, pilot: float = math.inf
) -> float:
    """The smallest difference that n queries can detect, from the standard deviation of the differences.

    ``pilot`` is the number of degrees of freedom of a deviation that was estimated, as in ``detectable``; infinite for a known one.

    Raises InputError for fewer than two queries and a deviation below 0.

    >>> round(detectable_difference(50, deviation=0.2), 4)  # (2.0096 + 0.8490) * 0.2 / sqrt(50)
    0.0809
    """
    _check(power, alpha)
    if n < 2 or not 0 <= deviation < math.inf:
        remedy = "give at least 2 queries and a deviation of 0 or more"
        raise InputError(f"n={n}, deviation={plain(float(deviation))}: {remedy}")
    return _quantiles(n - 1, power, alpha, pilot) * deviation / math.sqrt(n)


def queries_needed(
    deviation: float,
    difference: float,
    power: float = 0.8,
    alpha: float = 0.05,
    exact: bool = False,
    pilot: float = math.inf,
) -> int:
    """The smallest number of queries with which ``detectable_difference`` is at most ``difference``, at least 2.

    ``deviation`` is the standard deviation of the differences, and ``pilot`` how well it is known. ``exact`` asks instead for ``power_of`` to reach the power, by the
    noncentral t distribution, as other tools do; for hundreds of queries the two differ by one or two.

    Raises InputError for a deviation below 0, a difference of 0, and for power or alpha out of range.

    >>> queries_needed(deviation=0.2, difference=0.1, exact=True)  # as G*Power: d = .5, two-sided
    34
    """
    _check(power, alpha)
    if not (0 <= deviation < math.inf and 0 < abs(difference) < math.inf):
        remedy = "give a deviation of 0 or more and a difference that is not 0"
        raise InputError(f"deviation={deviation}, difference={difference}: {remedy}")
    if not deviation:
        return 2
    ratio = abs(difference) / deviation
    if exact:
        return _smallest(lambda n: _power_t(n - 1, ratio * math.sqrt(n), alpha) >= power)
    if (limit := _without_end(ratio, power, alpha, pilot)) > _MANY:
        return limit
    if math.isinf(pilot):
        return _smallest(lambda n: _quantiles(n - 1, power, alpha) <= ratio * math.sqrt(n))
    return _smallest(lambda n: _power_of_pilot(pilot, ratio * math.sqrt(n), _beyond(n - 1, alpha)) >= power)


def units_needed(
    deviation: float, difference: float, power: float = 0.8, alpha: float = 0.05, share: float = 0.5
) -> int:
    """How many units two variants need together so that a t test finds a difference of their means, one variant having this share.

    ``deviation`` is the standard deviation between units, the same in both. By the noncentral t distribution, two-sided.

    Raises InputError for a deviation below 0, a difference of 0, and for power, alpha or share out of range.

    >>> units_needed(deviation=1.0, difference=0.5)  # as G*Power: d = .5, two-sided, 64 in each group
    128
    """
    _check(power, alpha)
    if not (0 <= deviation < math.inf and 0 < abs(difference) < math.inf and 0 < share < 1):
        remedy = "give a deviation of 0 or more, a difference that is not 0, and a share between 0 and 1"
        raise InputError(f"deviation={deviation}, difference={difference}, share={share}: {remedy}")
    if not deviation:
        return 4
    ratio = abs(difference) / deviation * math.sqrt(share * (1 - share))
    about = _without_end(ratio, power, alpha)
    if about > _MANY:
        return about
    return max(_smallest(lambda n: n > 3 and _power_t(n - 2, ratio * math.sqrt(n), alpha) >= power), 4)


def detectable_of_variants(
    units: float, deviation: float, power: float = 0.8, alpha: float = 0.05, share: float = 0.5
) -> float:
    """The smallest difference that two variants of ``units`` in total can detect, one with this ``share``.

    >>> round(detectable_of_variants(128, deviation=1.0), 3)
    0.499
    """
    _check(power, alpha)
    if units < 4 or not 0 <= deviation < math.inf or not 0 < share < 1:
        raise InputError(
            f"units={units}, deviation={deviation}, share={share}: two variants need at least 2 units each"
        )
    return _quantiles(units - 2, power, alpha) * deviation / math.sqrt(units * share * (1 - share))


def inflation_of_looks(test: PairedTest | None, units: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """The units that a test with looks needs, in units of one t test: 1 for any other test.

    Planned looks: by the chance to end at any of them. ``anytime``: by its limit at the last of ``units``; looks before add a little power.

    >>> from rankscope.inference.sequential import group_sequential
    >>> round(inflation_of_looks(group_sequential(looks=5), 1000), 2)
    1.02
    >>> round(inflation_of_looks(group_sequential(looks=5, spending="pocock"), 1000), 2)
    1.21
    """
    from scipy.special import ndtri

    from rankscope.inference import sequential

    alone = float(ndtri(1 - alpha / 2) + ndtri(power))
    if isinstance(test, sequential.anytime):
        x = sequential.prior(int(units), test.narrowest)
        reach = math.sqrt((1 + 1 / x) * (math.log1p(x) - 2 * math.log(alpha)))
        return ((reach + float(ndtri(power))) / alone) ** 2
    if not isinstance(test, sequential.group_sequential):
        return 1.0
    low, high = alone, 2 * alone
    for _ in range(18):
        middle = (low + high) / 2
        low, high = (middle, high) if sequential.power_at_looks(test, alpha, middle) < power else (low, middle)
    return (high / alone) ** 2


def power_of(deviation: float, difference: float, n: float, alpha: float = 0.05, pilot: float = math.inf) -> float:
    """The chance that a two-sided t test of n queries finds a true mean difference: noncentral t beyond both critical values.

    Its noncentrality is ``difference / deviation`` times the root of n. A ``pilot`` asks for the average over what the deviation may be,
    as in ``detectable``. A difference of 0 gives alpha. Raises InputError for fewer
    than two queries and a deviation below 0.

    >>> round(power_of(deviation=0.2, difference=0.1, n=34), 3)
    0.808
    """
    _check(0.8, alpha)
    if n < 2 or not 0 <= deviation < math.inf or not math.isfinite(difference):
        raise InputError(
            f"n={n}, deviation={plain(float(deviation))}: power takes at least 2 queries and a deviation of 0 or more"
        )
    if not difference:
        return alpha
    if not deviation:
        return 1.0
    size = abs(difference) / deviation * math.sqrt(n)
    return _power_t(n - 1, size, alpha) if math.isinf(pilot) else _power_of_pilot(pilot, size, _beyond(n - 1, alpha))


def topic_set_size(
    method: Literal["t", "anova", "interval"] = "t",
    *,
    variance: float,
    difference: float | None = None,
    width: float | None = None,
    systems: int | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
) -> int:
    """How many topics a test collection needs, designed before it is built.

    't': the smallest n at which a paired two-sided t test finds a true ``difference``; ``variance`` is that of the differences.
    Noncentral t, n - 1 degrees of freedom, noncentrality difference * sqrt(n / variance).

    'anova': the smallest n at which the F test of a one-way analysis of variance of m ``systems`` finds the best and the worst
    ``difference`` apart, the others in the middle; ``variance`` is that within a system. Noncentral F, m - 1 and m (n - 1) degrees of
    freedom, noncentrality n * difference**2 / (2 variance).

    'interval': the smallest n at which the 1 - alpha interval of a paired difference is expected to be no wider than ``width``, from
    end to end: 2 t[1 - alpha/2] sqrt(variance / n) * sqrt(2 / (n - 1)) Gamma(n / 2) / Gamma((n - 1) / 2).

    Source: Sakai, Topic set size design, Information Retrieval Journal, 2016.
    Raises InputError where a number that the method needs is missing or out of range, DataError beyond a billion topics.

    >>> topic_set_size("t", variance=0.04, difference=0.1)
    34
    """
    from scipy.special import fdtri, ncfdtr, poch, stdtrit

    _check(power, alpha)
    if method not in {"t", "anova", "interval"}:
        raise InputError(f"method={method!r}: a topic set is designed by 't', 'anova' or 'interval'")
    if not 0 < variance < math.inf:
        raise InputError(f"variance={variance}: a variance is above 0")
    name, size = ("width", width) if method == "interval" else ("difference", difference)
    if size is None or not 0 < size < math.inf:
        raise InputError(f"{name}={size}: method={method!r} needs a {name} above 0")
    if method == "interval":  # with the mean of the standard deviation in place of the one that will be seen

        def width_of(n: int) -> float:
            shrink = math.sqrt(2 / (n - 1)) * float(poch((n - 1) / 2, 0.5))
            return 2 * float(stdtrit(n - 1, 1 - alpha / 2)) * shrink * math.sqrt(variance / n)

        return _smallest(lambda n: width_of(n) <= size)
    if method == "t":
        return queries_needed(math.sqrt(variance), size, power, alpha, exact=True)
    if systems is None or systems < 2:
        raise InputError(f"systems={systems}: an analysis of variance needs how many systems it is of, 2 or more")
    each, between = size**2 / (2 * variance), systems - 1

    def chance(n: int) -> float:
        within = systems * (n - 1)
        return 1 - float(ncfdtr(between, within, n * each, float(fdtri(between, within, 1 - alpha))))

    return _smallest(lambda n: chance(n) >= power)


def _power_t(freedom: float, noncentrality: float, alpha: float) -> float:
    """Both tails of noncentral t: of a normal number over the spread that is estimated beside it."""
    from scipy.special import ndtr, stdtrit

    errors, weights = error_places(freedom, finer=max(1.0, noncentrality / 2))
    beyond = float(stdtrit(freedom, 1 - alpha / 2)) * errors
    return min(float((weights * (ndtr(noncentrality - beyond) + ndtr(-noncentrality - beyond))).sum()), 1.0)


def _quantiles(freedom: float, power: float, alpha: float, pilot: float = math.inf) -> float:
    """The smallest detectable difference in standard errors, for a known deviation or one estimated by a pilot."""
    from scipy.special import stdtrit

    beyond = _beyond(freedom, alpha)
    return beyond + float(stdtrit(freedom, power)) if math.isinf(pilot) else _of_pilot(pilot, power, beyond)


def _beyond(freedom: float, alpha: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 1 - alpha / 2))


@cache
def _of_pilot(pilot: float, power: float, beyond: float) -> float:
    """The size, in estimated errors, of a difference that exceeds ``beyond`` true errors with this power: a quantile of noncentral t."""
    if math.isinf(beyond):
        return beyond
    low, high = 0.0, beyond + 1
    while _power_of_pilot(pilot, high, beyond) < power:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in {low, high}:
        low, high = (middle, high) if _power_of_pilot(pilot, middle, beyond) < power else (low, middle)
    return high


def _power_of_pilot(pilot: float, size: float, beyond: float) -> float:
    """The chance that a difference of ``size`` estimated errors exceeds ``beyond`` true errors, on average over the possible true errors."""
    from scipy.special import ndtr

    errors, weights = _places(pilot, 2 ** math.ceil(math.log2(min(max(beyond, 2.0), FINEST) / 2)))
    return min(float((weights * (ndtr(size * errors - beyond) + ndtr(-size * errors - beyond))).sum()), 1.0)


_places = lru_cache(256)(error_places)


def _without_end(ratio: float, power: float, alpha: float, pilot: float = math.inf) -> int:
    """The number of queries by the normal distribution: right where it is large, and never too large for a number."""
    from scipy.special import ndtri

    beyond = float(ndtri(1 - alpha / 2))
    both = beyond + float(ndtri(power)) if math.isinf(pilot) else _of_pilot(pilot, power, beyond)
    return math.ceil((Fraction(both) / Fraction(ratio)) ** 2)


def _smallest(enough: Callable[[int], bool]) -> int:
    """The smallest n from 2 on that is enough, where every larger one is too."""
    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
        if high > 2 * _MANY:
            raise DataError(f"more than {words.count(_MANY)} queries would be needed; ask for a larger difference")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _check(power: float, alpha: float) -> None:
    if not (0 < alpha < 1 and alpha < power < 1):
        remedy = "both are between 0 and 1, like 0.8 and 0.05, and power above alpha"
        raise InputError(f"power={power}, alpha={alpha}: {remedy}")
