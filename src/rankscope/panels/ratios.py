"""Totals per unit as panels: ratios of means by the delta method, adjusted for covariates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

from rankscope import words
from rankscope.lists import Array, exact_sum
from rankscope.moments import Moments
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure


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
) -> Panel:
    """Return a panel of ratios of sums, from the totals of each system: units x columns, or their moments.

    The columns are the numerator and the denominator of each unit, then the same of each covariate. The value of a system is the ratio
    of its sums. With ``paired`` all systems have the same units, in one order (policies on events, rankers on impressions), and ``clusters``
    numbers the cluster of each unit; otherwise each system has units of its own, and its value is adjusted for ``covariates``: CUPED, with one
    coefficient per covariate (see ``adjusted_ratios``).
    Source: Deng, Xu, Kohavi and Walker, Improving the sensitivity of online controlled experiments by utilizing pre-experiment data,
    WSDM 2013.

    >>> clicks = {"A": np.array([[1.0, 2.0], [3.0, 4.0]]), "B": np.array([[2.0, 2.0], [3.0, 4.0]])}
    >>> panel = panel_of(Measure("CTR", unit="user"), clicks, paired=True)
    >>> panel.by_unit, {name: round(panel.means[name], 4) for name in clicks}
    (True, {'A': 0.6667, 'B': 0.8333})
    """
    if paired:
        values = np.stack([ratio_parts(np.asarray(table)[:, 0], np.asarray(table)[:, 1]) for table in totals.values()])
        units = tuple(map(str, range(values.shape[1])))
        errors = [float(np.std(row)) / math.sqrt(max(len(row), 1)) for row in values]
        return Panel(in_scale(measure, errors), tuple(totals), units, values, clusters=clusters)
    held = {name: part if isinstance(part, Moments) else Moments.of_set(part) for name, part in totals.items()}
    names, arms = list(held), list(held.values())
    made = []
    for arm, (value, factors) in zip(arms, adjusted_ratios(arms, covariates), strict=True):
        variance = float(factors @ arm.covariance @ factors) if arm.count > 1 else math.nan
        made.append(Moments(arm.count, np.array([value]), np.array([[max(variance, 0.0) * (arm.count - 1)]])))
    errors = [math.sqrt(arm.variance[0] / arm.count) for arm in made]
    return Panel.of_moments(in_scale(measure, errors), names, made)


def ratio_parts(numerators: Array, denominators: Array) -> Array:
    """Return one number per unit whose plain mean is the ratio of the sums, and whose spread gives its error; NaN if nothing is below.

    >>> ratio_parts(np.array([1.0, 1.0]), np.array([1.0, 3.0])).tolist()
    [0.75, 0.25]
    """
    whole = exact_sum(denominators) if len(denominators) else 0.0
    if not whole:
        return np.full(len(numerators), math.nan)
    if (denominators == 1).all():
        return numerators
    value = exact_sum(numerators) / whole
    return np.asarray(value + (numerators - value * denominators) * (len(denominators) / whole))


def in_scale(measure: Measure, errors: Sequence[float]) -> Measure:
    """The measure with as many decimals as differences of the first two variants have digits that count, by the errors of all."""
    return replace(measure, decimals=words.decimals_for(2 * math.hypot(*errors[:2])))


def adjusted_ratios(arms: Sequence[Moments], covariates: int = 0) -> list[tuple[float, Array]]:
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
    found = []
    for arm in arms:
        value, factors = linearise_ratio(arm, 0, 1)
        for i, coefficient in enumerate(coefficients.tolist()):
            centre, theirs = linearise_ratio(arm, 2 + 2 * i, 3 + 2 * i)
            if coefficient:
                value -= coefficient * (centre - centres[i])
                factors = factors - coefficient * theirs
        found.append((value, factors * price))
    return found


def deviation_of_units(units: Moments, covariates: int = 0) -> tuple[float, float]:
    """The value of all units together, and the standard deviation between them of what it is made of, less what covariates explain.

    >>> value, deviation = deviation_of_units(Moments.of([[0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.0, 1.0]]))
    >>> value, round(deviation, 4)
    (0.5, 0.5774)
    """
    value, factors = linearise_ratio(units, 0, 1)
    for i, coefficient in enumerate(_coefficients(units, covariates)[0].tolist()):
        factors = factors - coefficient * linearise_ratio(units, 2 + 2 * i, 3 + 2 * i)[1]
    return value, math.sqrt(max(float(factors @ units.covariance @ factors), 0.0))


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
    found, _, rank, _ = np.linalg.lstsq(spread, shared, rcond=1e-12)
    return np.asarray(found), int(rank)
