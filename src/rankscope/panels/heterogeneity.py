"""Whether the difference of two variants depends on an attribute of their units: one test an attribute, corrected over all of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

import numpy as np
import polars as pl

from rankscope.inference.heterogeneity import equal_effects
from rankscope.lists import Array
from rankscope.logs.base import OnlineMetric
from rankscope.logs.rollup import Units
from rankscope.moments import Moments
from rankscope.panels.contrast import Contrast
from rankscope.panels.experiments import adjusted_ratios
from rankscope.panels.method import Method
from rankscope.panels.variants import Variants, unit_numbers

FEWEST_IN_SLICE = 30  # units of an arm below which what is known of a slice's error is too little for this test


@dataclass(frozen=True, eq=False)
class Heterogeneity:
    """The test that the difference of a variant and the baseline is the same in all slices of an attribute.

    ``slices`` are the contrasts by value that were tested together; ``shared`` units are in several of them, which the test takes into
    account. ``p_value_adjusted`` is corrected for ``comparisons``, the attributes and variants that were looked at.
    """

    attribute: str
    metric: str
    run: str
    baseline: str
    slices: Mapping[str, Contrast]
    shared: int
    statistic: float
    freedom: tuple[float, float]
    p_value: float
    p_value_adjusted: float = float("nan")
    comparisons: int = 1
    significant: bool = False


def heterogeneity(
    variants: Variants, metric: OnlineMetric, attribute: str, units: Units, contrasts: Mapping[str, Sequence[Contrast]]
) -> list[Heterogeneity]:
    """Test for each variant whether its difference depends on an attribute; nothing where fewer than two values have units enough.

    ``units`` are those of the variants by attribute, ``contrasts`` those of each value.
    """
    own = {str(value): value for value in units.groups[attribute].drop_nulls().unique().to_list()}
    slices = {value: (units.groups[attribute] == own[value]).fill_null(value=False) for value in contrasts}
    found = []
    for pair in zip(*contrasts.values(), strict=True):
        within = {value: c for value, c in zip(contrasts, pair, strict=True) if _is_known(c, units, slices[value])}
        if len(within) < 2:
            continue
        of = next(iter(within.values()))
        covariance, shared = _covariance(variants, metric, units, slices, within)
        test = equal_effects(
            [c.difference for c in within.values()], covariance, [c.pair.means.freedom for c in within.values()]
        )
        found.append(
            Heterogeneity(
                attribute, str(metric), of.run, of.baseline, within, shared, test.statistic, test.freedom, test.p_value
            )
        )
    return found


def correct_heterogeneity(found: Iterable[Heterogeneity], method: Method) -> list[Heterogeneity]:
    """The tests with p-values that take into account how many attributes and variants were looked at."""
    tests = list(found)
    if not tests:
        return []
    adjusted = method.correction.adjusted(np.array([test.p_value for test in tests])).tolist()
    return [
        replace(test, p_value_adjusted=p, comparisons=len(tests), significant=p <= method.alpha)
        for test, p in zip(tests, adjusted, strict=True)
    ]


def _is_known(c: Contrast, units: Units, inside: pl.Series) -> bool:
    """Whether each of the two variants has units enough in a slice, and they differ."""
    variant = units.groups["variant"].filter(inside)
    enough = min(int((variant == name).sum()) for name in (c.run, c.baseline)) >= FEWEST_IN_SLICE
    return enough and c.pair.means.freedom > 0 and c.pair.means.error > 0


def _covariance(
    variants: Variants,
    metric: OnlineMetric,
    units: Units,
    slices: Mapping[str, pl.Series],
    within: Mapping[str, Contrast],
) -> tuple[Array, int]:
    """The covariance of the differences of slices, and how many units are in several of them: those are all that it has off its diagonal."""
    out = np.diag([c.pair.means.error**2 for c in within.values()])
    of = next(iter(within.values()))
    compared = units.groups["variant"].is_in([of.run, of.baseline])
    tested = compared & reduce(or_, (slices[value] for value in within))
    if units.ids is None or not (again := units.ids.filter(tested).is_duplicated()).any():
        return out, 0
    code = unit_numbers(units)
    pulls = np.zeros((int(code.max()) + 1, len(within)))
    for place, value in enumerate(within):
        own = compared.filter(slices[value]).to_numpy()
        pulls[code[slices[value].to_numpy()], place] = own * _pulls(variants, metric, units.filter(slices[value]))
    products = pulls.T @ pulls
    return out + products - np.diag(np.diagonal(products)), int(units.ids.filter(tested).filter(again).n_unique())


def _pulls(variants: Variants, metric: OnlineMetric, units: Units) -> Array:
    """By how much each unit moves the value of its variant; their squares add up to the square of its error."""
    table, variant = variants.table(metric, units), units.groups["variant"]
    inside = {name: (variant == name).to_numpy() for name in variants.names}
    arms = {name: Moments.of_set(table[at]) for name, at in inside.items()}
    out = np.zeros(units.count)
    ratios = adjusted_ratios([*arms.values()], table.shape[1] // 2 - 1)
    for (name, arm), (_, factors) in zip(arms.items(), ratios, strict=True):
        out[inside[name]] = (table[inside[name]] - arm.mean) @ factors / math.sqrt(arm.count * (arm.count - 1))
    return out
