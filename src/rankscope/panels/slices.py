"""Comparisons on parts of the queries: by length, by intent, head or tail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankscope.panels.contrast import Contrast, contrast
from rankscope.panels.families import Pairs, corrected
from rankscope.panels.method import Method
from rankscope.panels.panel import Panel

_NUMBERS = frozenset("-0123456789")  # a name of numbers begins with its attribute
MOST = 30  # values of an attribute beyond which it makes no slices: it tells queries apart rather than kinds of them


@dataclass(frozen=True, eq=False)
class SliceContrast:
    """A contrast on the queries of one slice: those whose ``attribute`` is ``name``."""

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
        said, space, numbers = self.name.partition(" ")
        if space and said == self.attribute and numbers[:1] in _NUMBERS:
            return f"{said} = {numbers}"
        return f"{self.attribute} = {self.name}"


@dataclass(frozen=True, eq=False)
class Slices:
    """The contrasts of each slice, corrected over all slices and runs within a metric, and what to say about the attributes."""

    contrasts: Sequence[SliceContrast]
    notes: Sequence[str]


def sliced(source: Any, fields: Sequence[Panel], pairs: Pairs, method: Method) -> Slices:
    """Compare within each slice that a table of query attributes makes.

    The p-values of all slices, runs and attributes are corrected together, metric by metric (a joint correction knows no slices,
    so Holm's stands in for it). An attribute of very many values is left out, and said. Raises DataError where the table shares
    no query with the runs.
    """
    from rankscope.files.attributes import attributes_of
    from rankscope.inference.corrections import holm

    table = attributes_of(source)
    ids = fields[0].query_ids
    notes = table.remarks(list(ids))
    attributes = {}
    for attribute, parts in table.slices(list(ids)).items():
        if len(parts) > MOST:
            notes.append(
                f"{table.label}: {attribute} has {len(parts):,} values, too many for slices; it is left out"
            )
        else:
            attributes[attribute] = parts
    if method.correction.joint:
        method = replace(method, correction=holm())
    out = []
    for field in fields:
        labels, found = [], []
        for attribute, parts in attributes.items():
            for name, inside in parts.items():
                if inside.any():
                    part = field.within(inside)
                    found += [contrast(part, *pair, method) for pair in pairs]
                    labels += [(attribute, name)] * len(pairs)
        out += [SliceContrast(*label, c) for label, c in zip(labels, corrected(found), strict=True)]
    return Slices(out, notes)
