"""The variants within slices of an attribute, and whether their difference depends on it: one test an attribute, corrected over all."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankscope import words
from rankscope.experiments.arms import places_of
from rankscope.experiments.variants import Variants
from rankscope.inference.base import Estimate
from rankscope.inference.effects import equal_effects
from rankscope.lists import Array
from rankscope.logs.base import OnlineMetric
from rankscope.logs.metrics import Quantile
from rankscope.logs.rollup import UnitTotals
from rankscope.moments import Moments
from rankscope.panels.contrast import Contrast
from rankscope.panels.families import Family, SliceContrast, compare_within
from rankscope.panels.method import Method
from rankscope.panels.panel import Panel
from rankscope.panels.ratios import adjusted_ratios, shares_of_arm


@dataclass(frozen=True, eq=False)
class SharedUnits:
    """The units that are in several parts, with the ``variant`` of each.

    ``there`` says in which parts it is, and ``influences`` by how much it moves the value of its variant there: both are units x parts.
    """

    variant: Any
    there: Array
    influences: Array

    def covariance(self, name: str) -> Array:
        """The covariance of the values of a variant in each two parts; 0 on the diagonal."""
        own = self.influences[self.variant == name]
        products = np.asarray(own.T @ own)
        return products - np.diag(np.diagonal(products))

    def count(self, names: Collection[str], places: Sequence[int]) -> int:
        """How many units of some variants are in several of some parts."""
        own = self.there[np.isin(self.variant, list(names))][:, places]
        return int((own.sum(axis=1) > 1).sum())


def shared_units(variants: Variants, metric: OnlineMetric, units: UnitTotals, parts: Sequence[Any]) -> SharedUnits:
    """The units that several parts share; ``parts`` are columns of true and false, which of ``units`` are in each."""
    ids = units.ids
    if ids is None or not (again := ids.is_duplicated()).any():
        return SharedUnits(np.empty(0, dtype=object), np.zeros((0, len(parts)), dtype=bool), np.zeros((0, len(parts))))
    number = np.zeros(units.count, dtype=np.int64)
    number[again.to_numpy()] = ids.filter(again).rank("dense").to_numpy().astype(np.int64) - 1
    count = int(number.max()) + 1
    there, influences = np.zeros((count, len(parts)), dtype=bool), np.zeros((count, len(parts)))
    variant: Any = np.empty(count, dtype=object)
    for place, inside in enumerate(parts):
        several = again.filter(inside).to_numpy()
        own = number[inside.to_numpy()][several]
        there[own, place] = True
        influences[own, place] = influence_of(variants, metric, units.filter(inside))[several]
        variant[own] = units.groups["variant"].filter(inside).to_numpy()[several]
    return SharedUnits(variant, there, influences)


def influence_of(variants: Variants, metric: OnlineMetric, units: UnitTotals) -> Array:
    """By how much each unit pulls the value of its variant away from what it would be: the squares add up to that of its error."""
    places = places_of(units, variants.names)
    out = np.zeros(units.count)
    if isinstance(metric, Quantile):
        panel = variants.panel(metric, units)
        for name, own in places.items():
            out[own] = _influence_on_quantile(metric, units, own, panel.estimate(name))
        return out
    table = variants.table(metric, units)
    arms = {name: Moments.of_set(table[own]) for name, own in places.items()}
    ratios = adjusted_ratios([*arms.values()], table.shape[1] // 2 - 1)
    for (name, arm), ratio in zip(arms.items(), ratios, strict=True):
        out[places[name]] = shares_of_arm(table[places[name]], arm, ratio)
    return out


def _influence_on_quantile(metric: Quantile, units: UnitTotals, own: Array, value: Any) -> Array:
    """As more rows of a unit lie below a quantile than of others, it pulls it down."""
    rows = units.rows_of(metric, own)
    sizes = rows.sizes.astype(np.float64)
    below = np.bincount(rows.units[rows.values <= value.mean], minlength=len(own)).astype(np.float64)
    rest = below.sum() / max(sizes.sum(), 1.0) * sizes - below
    spread = math.sqrt(float(rest @ rest))
    return rest / spread * value.error if spread and math.isfinite(value.error) else np.zeros(len(rest))


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
    variants: Variants,
    metric: OnlineMetric,
    attribute: str,
    units: UnitTotals,
    contrasts: Mapping[str, Sequence[Contrast]],
) -> list[Heterogeneity]:
    """Test for each variant whether its difference depends on an attribute; no test if fewer than two values have enough units."""
    own = {str(value): value for value in units.groups[attribute].drop_nulls().unique().to_list()}
    parts = [(units.groups[attribute] == own[value]).fill_null(value=False) for value in contrasts]
    shared = shared_units(variants, metric, units, parts)
    tests = []
    for pair in zip(*contrasts.values(), strict=True):
        within = {value: c for value, c in zip(contrasts, pair, strict=True) if _is_known(c)}
        if len(within) < 2:
            continue
        of = next(iter(within.values()))
        places = [place for place, value in enumerate(contrasts) if value in within]
        together = shared.covariance(of.run) + shared.covariance(of.baseline)
        means = [c.pair.means for c in within.values()]
        covariance = np.diag([mean.error**2 for mean in means]) + together[np.ix_(places, places)]
        test = equal_effects([mean.mean for mean in means], covariance, [mean.freedom for mean in means])
        several = shared.count((of.run, of.baseline), places)
        subject, outcome = (attribute, of.metric, of.run, of.baseline), (test.statistic, test.freedom, test.p_value)
        tests.append(Heterogeneity(*subject, within, several, *outcome))
    return tests


def correct_heterogeneity(
    uncorrected: Iterable[Heterogeneity], method: Method, others: Sequence[float] = ()
) -> list[Heterogeneity]:
    """The tests with p-values corrected for all attributes and variants, and for ``others``: tests over days share their alpha."""
    tests = list(uncorrected)
    if not tests:
        return []
    adjusted = method.correction.adjusted(np.array([*(test.p_value for test in tests), *others])).tolist()
    return [
        replace(test, p_value_adjusted=p, comparisons=len(adjusted), significant=p <= method.alpha)
        for test, p in zip(tests, adjusted, strict=False)
    ]


def _is_known(c: Contrast) -> bool:
    """True if each of the two variants has enough units in a slice, they differ, and no few units decide their error."""
    enough = min(c.pair.run_sample.count, c.pair.baseline_sample.count) >= FEWEST_IN_SLICE
    means = c.pair.means
    return enough and means.freedom > 0 and means.error > 0 and not (isinstance(means, Estimate) and means.beyond_t)


def slices_of(
    variants: Variants, attributes: Sequence[str], metric: OnlineMetric, primary: Family
) -> tuple[list[SliceContrast], list[Heterogeneity], list[str]]:
    """Return the contrasts within each value of the attributes, tests of whether the difference depends on one, and notes."""
    panels: dict[tuple[str, str], Panel] = {}
    units: dict[str, UnitTotals] = {}
    notes: list[str] = []
    for attribute in attributes:
        units[attribute] = variants.units_by(attribute, metric)
        own, left_out = variants.slices(attribute, metric, units[attribute])
        panels |= {(attribute, value): panel for value, panel in own.items()}
        notes += left_out
    parts = compare_within(panels, replace(primary, method=replace(primary.method, margin=None)))
    tests: list[Heterogeneity] = []
    for attribute, of_attribute in units.items():
        by_value: dict[str, list[Contrast]] = {}
        for part in parts:
            if part.attribute == attribute:
                by_value.setdefault(part.name, []).append(part.contrast)
        if by_value:
            tests += heterogeneity(variants, metric, attribute, of_attribute, by_value)
    return parts, correct_heterogeneity(tests, primary.method), notes


def sentences_of_slices(tests: Sequence[Heterogeneity], method: Method) -> Iterator[str]:
    """On which attributes the difference depends, where that is clear after correction."""
    for test in tests:
        if test.significant:
            ordered = sorted(test.slices.items(), key=lambda item: item[1].difference)
            low, high = (
                f"{words.number(c.difference, sign=True, digits=c.panel.measure.decimals)} where it is {value}"
                for value, c in (ordered[0], ordered[-1])
            )
            corrected = method.corrected_for(test.comparisons, "test")
            yield (
                f"The difference between {test.run} and {test.baseline} on {test.metric} depends on {test.attribute}: "
                f"from {low} to {high} ({words.p_value(test.p_value_adjusted)}{corrected})."
            )


def remark_on_slices(tests: Sequence[Heterogeneity]) -> str:
    """What to say, quietly, where no slices were told apart."""
    if not tests or any(test.significant for test in tests):
        return ""
    attributes = dict.fromkeys(test.attribute for test in tests)
    return f"No difference between slices can be told ({words.listing(attributes, most=4)})."
