"""The risk of a run to lose on single queries: U_risk and T_risk against a baseline, GeoRisk among all runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankscope.errors import InputError
from rankscope.inference.base import Bounds
from rankscope.lists import exact_sum
from rankscope.panels.families import Family
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure
from rankscope.words import in_caller_syntax

NOTE = (
    "U_risk: the mean difference with each loss counted {times} times, and its interval (not corrected) · T_risk: U_risk / its standard error; "
    "below −2 the risk is more than chance · GeoRisk: compares all runs here and changes with them; higher is better"
)


@dataclass(frozen=True, eq=False)
class Risk:
    """The risk of a run against a baseline: ``value`` is U_risk, ``t`` T_risk, ``geo`` the GeoRisk of the run (NaN if it has none).

    ``lost`` is the part of U_risk of the queries on which the run is worse.

    Source: Wang, Bennett and Collins-Thompson, Robust ranking models via risk-sensitive optimization, SIGIR 2012 (U_risk); Dinçer, Macdonald
    and Ounis, Hypothesis testing for the risk-sensitive evaluation of retrieval systems, SIGIR 2014 (T_risk); the same, Risk-sensitive
    evaluation and learning to rank using multiple baselines, SIGIR 2016 (GeoRisk).
    """

    run: str
    baseline: str
    metric: str
    value: float
    bounds: Bounds
    t: float
    lost: float
    geo: float
    queries: int


def check_alpha(value: object) -> float:
    """Return the weight of losses in U_risk, a number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise InputError(
            in_caller_syntax(f"--risk {value}: how much more a loss counts than a gain, a number of at least 0, like 1")
        )
    return float(value)


def risks_of(family: Family, alpha: float) -> Iterator[Risk]:
    """The risk of each run on each metric whose value is a mean over queries. Raises InputError without such a metric."""
    panels = [
        one for one in family.panels if one.sign and one.by_unit and one.measure.aggregate == "mean" and not one.reason
    ]
    if not panels:
        about = "risk is of a mean over queries with a better direction; name a metric like nDCG@10"
        raise InputError(in_caller_syntax(f"--risk {alpha:g}: {about}"))
    for panel in panels:
        geo = georisk(panel, alpha)
        for run, baseline in family.pairs:
            pair = panel.pair(run, baseline)
            gains = panel.sign * pair.ranks.values
            felt = np.where(gains < 0, (1.0 + alpha) * gains, gains)
            one = Panel(
                Measure(f"U_risk of {panel.name}"), (run,), panel.units, felt[None, :], clusters=pair.ranks.clusters
            )
            sample, count = one.estimate(run), max(len(felt), 1)
            t = sample.mean / sample.error if sample.error > 0 else math.nan
            lost = exact_sum(np.minimum(felt, 0.0)) / count
            bounds = one.interval(run, family.method.level)
            yield Risk(run, baseline, panel.name, sample.mean, bounds, t, lost, geo[run], len(felt))


def georisk(panel: Panel, alpha: float) -> dict[str, float]:
    """The GeoRisk of each system: the geometric mean of its mean and of its chance of a standardised gain, on queries with all values.

    A query is expected to give a system its share of all values. NaN if lower is better, if values are below 0, or if queries weigh differently.

    >>> two = Panel(Measure("P"), ("a", "b"), ("q1", "q2"), np.array([[0.5, 0.5], [0.5, 0.5]]))
    >>> georisk(two, 1.0)["a"] == (0.5 * 0.5) ** 0.5  # as expected on each query
    True
    """
    values = panel.values[:, np.isfinite(panel.values).all(axis=0)]
    if panel.sign < 0 or panel.weights is not None or not values.size or values.min() < 0:
        return dict.fromkeys(panel.systems, math.nan)
    by_query = values.sum(axis=0)
    expected = values.sum(axis=1)[:, None] * by_query / (by_query.sum() or 1.0)
    z = np.divide(values - expected, np.sqrt(expected), out=np.zeros(values.shape), where=expected > 0)
    shift = np.where(z < 0, (1.0 + alpha) * z, z).mean(axis=1)
    chance = [0.5 * (1.0 + math.erf(one / math.sqrt(2.0))) for one in shift.tolist()]
    return {
        system: math.sqrt(mean * p)
        for system, mean, p in zip(panel.systems, values.mean(axis=1).tolist(), chance, strict=True)
    }
