"""The variants within slices of an attribute, and whether their difference depends on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rankscope import words
from rankscope.experiments.heterogeneity import Heterogeneity, correct_heterogeneity, heterogeneity
from rankscope.experiments.variants import Variants
from rankscope.logs.base import OnlineMetric
from rankscope.logs.rollup import UnitTotals
from rankscope.panels.contrast import Contrast
from rankscope.panels.families import Family, SliceContrast, compare_within
from rankscope.panels.method import Method
from rankscope.panels.panel import Panel


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
