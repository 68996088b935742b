"""Comparisons on parts of the queries: by length, by intent, head or tail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankscope.lists import Array
from rankscope.panels.contrast import Contrast
from rankscope.panels.families import Family
from rankscope.panels.panel import Panel

_NUMBERS = frozenset("-0123456789")  # a name of numbers begins with its attribute
MAX_VALUES = 30  # an attribute with more values makes no slices: it tells queries or users apart, not kinds of them


@dataclass(frozen=True, eq=False)
class SliceContrast:
    """A contrast on the queries of one slice: those with ``name`` as ``attribute``."""

    attribute: str
    name: str
    contrast: Contrast

    @property
    def label(self) -> str:
        """The slice in words: names of numbers say their attribute themselves."""
        return self.name if self.name.startswith(self.attribute) else f"{self.attribute} {self.name}"

    @property
    def equation(self) -> str:
        """The slice as what holds of its queries: ``kind = head``, ``terms = 3 to 5``."""
        attribute, space, numbers = self.name.partition(" ")
        if space and attribute == self.attribute and numbers[:1] in _NUMBERS:
            return f"{attribute} = {numbers}"
        return f"{self.attribute} = {self.name}"


@dataclass(frozen=True, eq=False)
class Slices:
    """The contrasts of each slice, corrected over all slices and runs within a metric, and what to say about the attributes."""

    contrasts: Sequence[SliceContrast]
    notes: Sequence[str]


def too_many_values(attribute: str, count: int) -> str:
    """Return the note about an attribute that makes no slices."""
    return f"{attribute} has {count:,} values, too many for slices (at most {MAX_VALUES}), and is left out"


def parts_of(source: Any, ids: Sequence[str]) -> tuple[list[tuple[str, str, Array]], list[str]]:
    """The slices that a table of attributes makes of these queries: attribute, name and queries; and notes on the table."""
    from rankscope.files.side_tables import attributes_of

    table = attributes_of(source)
    notes = table.remarks(list(ids))
    parts: list[tuple[str, str, Array]] = []
    for attribute, inside in table.slices(list(ids)).items():
        if len(inside) > MAX_VALUES:
            notes.append(f"{table.label}: {too_many_values(attribute, len(inside))}")
        else:
            parts += [(attribute, name, which) for name, which in inside.items() if which.any()]
    return parts, notes


def slices_of(source: Any, family: Family) -> Slices:
    """Compare within each slice that a table of query attributes makes, as the family does over all queries."""
    parts, notes = parts_of(source, family.panels[0].units)
    contrasts: list[SliceContrast] = []
    for panel in family.panels:
        within = {(attribute, name): panel.within(inside) for attribute, name, inside in parts}
        contrasts += compare_within(within, family)
    return Slices(contrasts, notes)


def compare_within(panels: Mapping[tuple[str, str], Panel], family: Family) -> list[SliceContrast]:
    """Compare the pairs of a family on the panel of each slice, by attribute and name."""
    from rankscope.inference.corrections import holm

    correction = holm() if family.method.correction.joint else family.method.correction
    method = replace(family.method, family="all", correction=correction)
    within = Family([*panels.values()], family.pairs, method, validity=family.validity, looked=family.looked)
    labels = [label for label in panels for _ in family.pairs]
    return [SliceContrast(*label, c) for label, c in zip(labels, within.contrasts, strict=True)]
