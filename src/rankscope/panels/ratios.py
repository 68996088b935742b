"""Totals per unit as panels: ratios of means by the delta method, adjusted for covariates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, reduce
from operator import add
from typing import NamedTuple

import numpy as np

from rankscope import words
from rankscope.inference.base import Estimate, freedom_of_sizes, rest_of
from rankscope.inference.dealing import Units
from rankscope.lists import Array, exact_sum
from rankscope.moments import Moments
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure

_numbers = lru_cache(maxsize=1)(lambda count: tuple(map(str, range(count))))  # several estimators have the same units
NEGLIGIBLE = 1e-4  # share of a unit in all denominators up to which its pull on the ratio does not matter


def linearise_ratio(moments: Moments, above: int, below: int) -> tuple[float, Array]:
    """A ratio of means, and by how much each column moves it: the delta method.

    Source: Deng, Knoblich and Lu, Applying the delta method in metric analytics, KDD 2018.

    >>> value, factors = linearise_ratio(Moments.of([[1.0, 2.0], [3.0, 4.0]]), 0, 1)
    >>> round(value, 4), factors.round(4).tolist()
    (0.6667, [0.3333, -0.2222])
    """
    over, under = float(moments.mean[above]), float(moments.mean[below])
    factors = np.zeros(len(moments.mean))
    if not under:
        return math.nan, np.full(len(factors), math.nan)
    factors[above] += 1 / under
    factors[below] -= over / under**2
    return over / under, factors


def panel_of(
    measure: Measure,
    totals: Mapping[str, Array | Moments],
    *,
    paired: bool = False,
    covariates: int = 0,
    clusters: Array | None = None,
    every: bool = False,
) -> Panel:
    """Return a panel of ratios of sums, from the totals of each system: units x columns, or their moments.

    The columns are the numerator and the denominator of each unit, then the same of each covariate. The value of a system is the ratio
    of its sums. With ``paired`` all systems have the same units, in one order (policies on events, rankers on impressions), and ``clusters``
    numbers the cluster of each unit. Further pairs of columns are further ratios, and the value of a system is the sum of all. Otherwise each system has units of its own, and its value is adjusted for ``covariates``: CUPED, with one
    coefficient per covariate (see ``adjusted_ratios``). ``every`` keeps the values of every unit, for tests of ranks.
    Source: Deng, Xu, Kohavi and Walker, Improving the sensitivity of online controlled experiments by utilizing pre-experiment data,
    WSDM 2013.

    >>> clicks = {"A": np.array([[1.0, 2.0], [3.0, 4.0]]), "B": np.array([[2.0, 2.0], [3.0, 4.0]])}
    >>> panel = panel_of(Measure("CTR", unit="user"), clicks, paired=True)
    >>> panel.by_unit, {name: round(panel.means[name], 4) for name in clicks}
    (True, {'A': 0.6667, 'B': 0.8333})
    """
    if paired:
        values = np.stack([_sum_of_ratios(np.asarray(table)) for table in totals.values()])
        units = _numbers(values.shape[1])
        errors = [float(np.std(row)) / math.sqrt(max(len(row), 1)) for row in values]
        return Panel(in_scale(measure, errors), tuple(totals), units, values, clusters=clusters)
    arms = [part if isinstance(part, Moments) else Moments.of_set(part) for part in totals.values()]
    ratios = adjusted_ratios(arms, covariates)
    made = [estimate_of(*each, every=every) for each in zip(totals.values(), arms, ratios, strict=True)]
    return Panel.of_estimates(in_scale(measure, [one.error for one in made]), dict(zip(totals, made, strict=True)))


def _sum_of_ratios(table: Array) -> Array:
    """Return one number per unit whose mean is the sum of the ratios of columns 0 and 1, 2 and 3 and so on."""
    return np.asarray(reduce(add, map(ratio_parts, table.T[::2], table.T[1::2])))


def estimate_of(table: Array | Moments, arm: Moments, ratio: Ratio, every: bool = False) -> Estimate:
    """The value of a system with its error, from its units, their moments and its ratio. Moments as units hold no units.

    If denominators are unequal the error is the jackknife's (see ``parts_of_error``), with Satterthwaite's degrees of freedom.
    """
    estimate = Estimate.of(ratio.value, arm.variance_of(ratio.factors), arm.count)
    if isinstance(table, Moments) or math.isnan(estimate.error):
        return estimate
    moved = pulls(table, arm, ratio.factors)
    units = Units.of(table, arm, moved, ratio.coefficients, ratio.price, every)
    shares = uneven_shares(table[:, 1]) if estimate.error else None
    if shares is None:
        return replace(estimate, units=(units,))
    error = math.sqrt(exact_sum(parts_of_error(moved, shares) ** 2))
    return replace(estimate, error=error, freedom=freedom_of_sizes(shares[shares > 0])[1], units=(units,))


def pulls(table: Array, arm: Moments, factors: Array) -> Array:
    """The amount by which each unit moves the value of its system, times the number of units. It depends on no other row."""
    columns = zip(table.T, arm.mean.tolist(), factors.tolist(), strict=True)
    return np.asarray(
        sum(((column - mean) * factor for column, mean, factor in columns if factor), np.zeros(len(table)))
    )


def uneven_shares(denominators: Array) -> Array | None:
    """The share of each unit in the denominators, or None: if they are equal, below 0, or so small that no unit pulls the ratio."""
    low, high = denominators.min(), denominators.max()
    if not 0 <= low < high or high <= NEGLIGIBLE * (whole := exact_sum(denominators)):
        return None
    return np.asarray(denominators / whole)


def parts_of_error(moved: Array, shares: Array | None) -> Array:
    """The part of each unit in the error of its system, whose squares add up to the variance, from its pull and its share in the denominators.

    The ratio moves so far without the unit: the jackknife, CV3 if units are seen as clusters of their events. Rows of a user go
    together, so that users vary more than in proportion to their denominators. CR2, which takes rows as independent, is then too small;
    the jackknife is not, whatever units vary like. Denominators that are equal have the share None, and then both are the usual error.
    Sources: Efron and Stein, The jackknife estimate of variance, The Annals of Statistics 9(3), 1981; Hansen, Jackknife standard errors
    for clustered regression, The Review of Economic Studies, 2025.

    >>> parts_of_error(np.array([1.0, 0.0, -1.0]), np.array([0.5, 0.25, 0.25])).round(
    ...     4
    ... ).tolist()  # 1 / 3 / 0.5, times root 2/3
    [0.5443, 0.0, -0.3629]
    """
    count = len(moved)
    if shares is None:
        return moved / math.sqrt(max(count - 1, 1) * count)
    there = np.count_nonzero(shares)
    return np.asarray(moved / rest_of(shares) * (math.sqrt((there - 1) / there) / count))


def ratio_parts(numerators: Array, denominators: Array, sums: tuple[float, float] | None = None) -> Array:
    """Return one number per unit whose plain mean is the ratio of the sums, and whose spread gives its error; NaN if nothing is below.

    ``sums`` are those of both, if they are known.

    >>> ratio_parts(np.array([1.0, 1.0]), np.array([1.0, 3.0])).tolist()
    [0.75, 0.25]
    """
    whole = sums[1] if sums else exact_sum(denominators) if len(denominators) else 0.0
    if not whole:
        return np.full(len(numerators), math.nan)
    if (denominators == 1).all():
        return numerators
    value = (sums[0] if sums else exact_sum(numerators)) / whole
    return np.asarray(value + (numerators - value * denominators) * (len(denominators) / whole))


def in_scale(measure: Measure, errors: Sequence[float]) -> Measure:
    """The measure with as many decimals as differences of the first two variants have digits that count, by the errors of all."""
    return replace(measure, decimals=words.decimals_for(2 * math.hypot(*errors[:2])))


class Ratio(NamedTuple):
    """The value of a system, how much each column moves it, the coefficient of each covariate, and the factor of its error."""

    value: float
    factors: Array
    coefficients: tuple[float, ...]
    price: float


def adjusted_ratios(arms: Sequence[Moments], covariates: int = 0) -> list[Ratio]:
    """The value of each variant, moved by what its covariates say of chance, and by how much each column moves it.

    The columns are those of ``panel_of``. The coefficient of one covariate is that over all units together, as Deng et al. have it.
    Several, as strata are, would so take from a difference itself what the variants' units happen to differ in, a part of k out of n for
    k coefficients of n units. They are those within the variants, and then each has its price: what is left varies less than without having
    chosen them, and chance differences in covariates add to the error. Either is a factor of (n - v) / (n - v - k) to the variance
    for v variants, on average, so what columns move is that much larger.
    """
    whole = reduce(add, arms)
    coefficients, price = _coefficients(whole, covariates)[0], 1.0
    if covariates > 1:
        free = whole.count - len(arms)
        within = Moments(free + 1, whole.mean, reduce(add, (arm.products for arm in arms)))
        coefficients, rank = _coefficients(within, covariates)
        price = free / (free - rank) if free > rank else math.inf
    centres = [linearise_ratio(whole, 2 + 2 * i, 3 + 2 * i)[0] for i in range(covariates)]
    ratios = []
    for arm in arms:
        value, factors = linearise_ratio(arm, 0, 1)
        for i, coefficient in enumerate(coefficients.tolist()):
            centre, theirs = linearise_ratio(arm, 2 + 2 * i, 3 + 2 * i)
            if coefficient and math.isfinite(centre):  # an arm without a value has no centre
                value -= coefficient * (centre - centres[i])
                factors = factors - coefficient * theirs
        ratios.append(Ratio(value, factors * price, tuple(coefficients.tolist()), price))
    return ratios


def deviation_of_units(units: Moments) -> tuple[float, float]:
    """The value of all units together, and the standard deviation between them of what it is made of.

    >>> value, deviation = deviation_of_units(Moments.of([[0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.0, 1.0]]))
    >>> value, round(deviation, 4)
    (0.5, 0.5774)
    """
    value, factors = linearise_ratio(units, 0, 1)
    return value, math.sqrt(units.variance_of(factors))


def _coefficients(whole: Moments, covariates: int) -> tuple[Array, int]:
    """By how much a metric moves with each covariate, 0 for one that does not vary; and how many of them say something of their own."""
    if not covariates or whole.count < 2:
        return np.zeros(covariates), 0
    _, own = linearise_ratio(whole, 0, 1)
    theirs = np.stack([linearise_ratio(whole, 2 + 2 * i, 3 + 2 * i)[1] for i in range(covariates)])
    if not (np.isfinite(own).all() and np.isfinite(theirs).all()):
        return np.zeros(covariates), 0
    spread = theirs @ whole.covariance @ theirs.T
    shared = theirs @ whole.covariance @ own
    if covariates == 1:
        return np.array([shared[0] / spread[0, 0] if spread[0, 0] > 0 else 0.0]), int(spread[0, 0] > 0)
    coefficients, _, rank, _ = np.linalg.lstsq(spread, shared, rcond=1e-12)
    return np.asarray(coefficients), int(rank)


def error_shares(run: Array, baseline: Array, covariates: int = 0) -> Array:
    """The share of each unit in the error of a difference, units of the run first; the sum of the squares is its variance.

    >>> found = error_shares(np.array([[1.0, 1.0], [3.0, 1.0]]), np.array([[2.0, 1.0], [4.0, 1.0], [6.0, 1.0]]))
    >>> abs(float(found @ found) - (2.0 / 2 + 4.0 / 3)) < 1e-12
    True
    """
    arms = [Moments.of_set(table) for table in (run, baseline)]
    ratios = adjusted_ratios(arms, covariates)
    one, other = (shares_of_arm(*each) for each in zip((run, baseline), arms, ratios, strict=True))
    return np.concatenate([one, -other])


def shares_of_arm(table: Array, arm: Moments, ratio: Ratio) -> Array:
    """The share of each unit in the error of its system."""
    shares = uneven_shares(table[:, 1]) if len(table) else None
    return parts_of_error(pulls(table, arm, ratio.factors), shares)
