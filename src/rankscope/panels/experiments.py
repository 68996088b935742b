"""Variants of an experiment, each with units of its own, as panels: ratios, adjusted for covariates; and whether the units were split as planned."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Caution
from rankscope.errors import InputError
from rankscope.inference.base import PairedTest
from rankscope.lists import Array
from rankscope.logs.health import REMEDIES
from rankscope.moments import Moments
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure

UNEQUAL = 0.001  # the p-value below which a split is not the one that was planned
FEW_FOR_SKEW = 355  # units of an arm, times the squared skewness, from which a 95% t interval covers as it says


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


def panel_of_variants(measure: Measure, variants: Mapping[str, Moments], covariates: int = 0) -> Panel:
    """A panel of variants from the moments of their units.

    The columns are what each unit adds above and below the line, then the same of each covariate. A variant's value is the ratio of
    its two means, moved by what its covariates say of chance: CUPED, with one coefficient a covariate (see ``adjusted_ratios``).
    Source: Deng, Xu, Kohavi and Walker, Improving the sensitivity of online controlled experiments by utilizing pre-experiment data,
    WSDM 2013.
    """
    names, arms = list(variants), list(variants.values())
    made = []
    for arm, (value, factors) in zip(arms, adjusted_ratios(arms, covariates), strict=True):
        variance = float(factors @ arm.covariance @ factors) if arm.count > 1 else math.nan
        made.append(Moments(arm.count, np.array([value]), np.array([[max(variance, 0.0) * (arm.count - 1)]])))
    errors = [math.sqrt(arm.variance[0] / arm.count) for arm in made]
    return Panel.of_moments(in_scale(measure, errors), names, made)


def in_scale(measure: Measure, errors: Sequence[float]) -> Measure:
    """The measure with as many decimals as differences of the first two variants have digits that count, by the errors of all."""
    return replace(measure, decimals=words.decimals_for(2 * math.hypot(*errors[:2])))


def adjusted_ratios(arms: Sequence[Moments], covariates: int = 0) -> list[tuple[float, Array]]:
    """The value of each variant, moved by what its covariates say of chance, and by how much each column moves it.

    The columns are those of ``panel_of_variants``. The coefficient of one covariate is that over all units together, as Deng et al. have it.
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


def reduction(plain: Panel, adjusted: Panel, system: str) -> float:
    """The part of a variant's variance that its covariates take away."""
    before, after = plain.estimate(system).error ** 2, adjusted.estimate(system).error ** 2
    return 1 - after / before if before else 0.0


# --- was it split as planned? ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SampleRatio:
    """How units were split over the variants, and how probable a split as uneven is by chance."""

    counts: Mapping[str, int]
    expected: Mapping[str, float]
    p_value: float

    @property
    def holds(self) -> bool:
        """Whether the split can be the one that was planned."""
        return not self.p_value < UNEQUAL

    def record(self) -> dict[str, Any]:
        """The check for programs."""
        return {
            "counts": dict(self.counts), "expected": dict(self.expected), "p_value": words.finite(self.p_value), "holds": self.holds,
        }  # fmt: skip

    def sentence(self, noun: str) -> str:
        """The check in a sentence."""
        apart = ":" if any(name[-1:].isdigit() for name in self.counts) else ""  # of variants 0 and 1: "0: 1,034"
        split = words.listing([f"{name}{apart} {words.count(number)}" for name, number in self.counts.items()], most=12)
        if self.holds:
            return f"Sample ratio: {split} {words.plural(noun)}, as planned ({words.p_value(self.p_value)})."
        planned = words.listing(
            [f"{name}{apart} {words.share(part, 1)}" for name, part in self.expected.items()], most=12
        )
        return (
            f"Sample ratio mismatch: {split} {words.plural(noun)} where {planned} were planned ({words.p_value(self.p_value)}). "
            "Something other than chance decides who is counted, so no difference can be believed: find out what before anything else."
        )


def sample_ratio(counts: Mapping[str, int], planned: Mapping[str, float] | None = None) -> SampleRatio:
    """Compare how units were split with the split that was planned: evenly unless shares are given.

    Two variants are compared by the binomial distribution (its normal limit with a correction for continuity from 1,000 units on),
    more of them by chi square. Raises InputError for shares that are not those of the variants.
    Source: Fabijan et al., Diagnosing sample ratio mismatch in online controlled experiments, KDD 2019.
    """
    from rankscope.inference.counts import split_p_value

    if planned is not None and (set(planned) != set(counts) or not all(part > 0 for part in planned.values())):
        raise InputError(
            f"the split is given for {words.listing(planned)}: give each of {words.listing(counts)} a share above 0, like {next(iter(counts))}=0.5"
        )
    parts = dict.fromkeys(counts, 1.0) if planned is None else {name: float(planned[name]) for name in counts}
    shares = {name: part / math.fsum(parts.values()) for name, part in parts.items()}
    p_value = split_p_value(np.array([*counts.values()]), np.array([*shares.values()]))
    return SampleRatio(dict(counts), shares, p_value)


def name_of_test(test: PairedTest | None) -> str:
    """What compares variants: the test that was asked for, else Welch's t."""
    return "t (Welch)" if test is None else str(test)


def early_caution(test: PairedTest | None, counts: Mapping[str, int], noun: str) -> Caution | None:
    """A caution where a test for looks at any time is asked before a variant has shown how its units differ."""
    name, least = min(counts.items(), key=lambda item: item[1])
    if test is None or not test.every_look or least >= test.needs_many or 2 * least < getattr(test, "first", 0):
        return None
    return Caution(
        "RS412",
        f"{test} takes the {words.counted(least, noun)} of {name} for a picture of all: so early it errs more often than it says",
        f"look from {test.needs_many} {words.plural(noun)} in each variant on",
    )


def skewness(values: Array) -> float:
    """The skewness of values: the third moment in standard deviations; 0 without spread."""
    around = values - values.mean() if len(values) else values
    spread = float(np.sqrt(np.mean(around**2))) if len(values) else 0.0
    around = around / spread if spread > 0 else around
    return float(np.mean(around * around * around)) if spread > 0 else 0.0


def skew_caution(measure: Measure, skews: Mapping[str, tuple[int, float]]) -> Caution | None:
    """A caution where a variant has too few units for how skewed what they add is.

    Source: Kohavi, Deng, Longbotham and Xu, Seven rules of thumb for web site experimenters, KDD 2014: 355 times the squared skewness.
    """
    short = {
        name: (count, math.ceil(FEW_FOR_SKEW * skew**2))
        for name, (count, skew) in skews.items()
        if count < FEW_FOR_SKEW * skew**2
    }
    if not short:
        return None
    name, (count, needed) = max(short.items(), key=lambda item: item[1][1] / item[1][0])
    return Caution(
        "RS640",
        f"{measure.name} is so skewed that intervals of {name} need about {words.rounded(needed)} {words.plural(measure.unit)}, and there are {words.count(count)}",
        REMEDIES["RS640"],
    )
