"""The variants within slices of an attribute, and whether their difference depends on it: one test an attribute, corrected over all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankscope import words
from rankscope.experiments.shared import shared_units
from rankscope.experiments.variants import Variants
from rankscope.inference.base import Estimate
from rankscope.inference.effects import equal_effects
from rankscope.logs.base import OnlineMetric
from rankscope.logs.rollup import UnitTotals
from rankscope.panels.contrast import Contrast
from rankscope.panels.families import Family, SliceContrast, compare_within
from rankscope.panels.method import Method
from rankscope.panels.panel import Panel

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
