"""The variants within slices of an attribute, and whether their difference depends on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rankscope import words
from rankscope.experiments.heterogeneity import Heterogeneity, correct_heterogeneity, heterogeneity
from rankscope.experiments.variants import Variants
from rankscope.logs.base import OnlineMetric
from rankscope.logs.rollup import UnitTotals
from rankscope.panels.contrast import Contrast
from rankscope.panels.families import Family, pairs_of
from rankscope.panels.method import Method


@dataclass(frozen=True, eq=False)
class Slice:
    """The variants on the primary metric within one value of an attribute."""

    attribute: str
    value: str
    metric: str
    contrasts: Sequence[Contrast]


def slices_of(
    variants: Variants, attributes: Sequence[str], metric: OnlineMetric, method: Method
) -> tuple[list[Slice], list[Heterogeneity], list[str]]:
    """The variants within each value of some attributes, corrected over the values; one test an attribute, corrected over attributes.

    And what is left out, in words.
    """
    parts: list[Slice] = []
    tests: list[Heterogeneity] = []
    notes: list[str] = []
    for attribute in attributes:
        units = variants.units_by(attribute, metric)
        found, left = variants.slices(attribute, metric, units)
        notes += _left_out(attribute, metric, left, units)
        if not found:
            continue
        pairs = pairs_of(variants.names, variants.names[0], all_pairs=False)
        family = Family(
            [panel for _, panel in found], pairs, replace(method, margin=None), variants.names[0], variants.validity
        )
        own = [Slice(attribute, value, str(metric), family.of(panel.name)) for value, panel in found]
        tests += heterogeneity(variants, metric, attribute, units, {part.value: part.contrasts for part in own})
        parts += own
    return parts, correct_heterogeneity(tests, method), notes


def _left_out(attribute: str, metric: OnlineMetric, left: Sequence[str], units: UnitTotals) -> Iterator[str]:
    """Which slices have too few units, and how many units are in none."""
    if left:
        several = words.plural(units.noun)
        yield f"{attribute}: {words.listing(left)} {words.agree(len(left), 'has')} too few {several} for {metric} in a variant, and {words.agree(len(left), 'is')} left out"
    if without := units.groups[attribute].null_count():
        yield f"{attribute}: {words.counted(without, f'{units.noun} has', f'{words.plural(units.noun)} have')} rows without it, which are in no slice"


def sentences_of_slices(tests: Sequence[Heterogeneity], method: Method) -> Iterator[str]:
    """On which attributes the difference depends, where that is clear after correction."""
    for test in tests:
        if test.significant:
            ordered = sorted(test.slices.items(), key=lambda item: item[1].difference)
            low, high = (f"{_signed(c)} where it is {value}" for value, c in (ordered[0], ordered[-1]))
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


def _signed(c: Contrast) -> str:
    return words.number(c.difference, sign=True, digits=c.panel.measure.decimals)
