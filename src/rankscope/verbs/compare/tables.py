"""The tables of a comparison: runs against a baseline, pairs, metrics, slices, effects."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from rankscope.blocks import Column, Ranged, Table, Value, Written
from rankscope.inference.base import Bounds
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.panel import Panel
from rankscope.panels.verdicts import SPELLED, ends, number, p_plain, percent, signed

if TYPE_CHECKING:
    from rankscope.panels.slices import Slices
    from rankscope.verbs.compare.compare import Comparison

ROOM = 30  # rows of tables that are read at one go


def run_table(found: Comparison, field: Panel) -> Table:
    """Runs as rows, the best first: the value, the difference from the baseline, its interval, p-values, counts of queries."""
    contrasts = {c.run: c for c in found.of(field.name)}
    layout = Layout.of(found)
    if layout.flips:
        p_values = np.array([c.sign_flip for c in contrasts.values()])
        corrected = found.method.correction.adjusted(p_values).tolist()
        layout = replace(layout, flipped=dict(zip(contrasts, corrected, strict=True)))
    columns = [Column("run"), Column("value", "value"), *layout.columns()]
    rows: list[tuple[Value, ...]] = []
    for system in in_order_of_merit(field):
        c = contrasts.get(system)
        if c is None:
            rows.append((system, field.mean(system), *[""] * (len(columns) - 2)))
        else:
            rows.append((system, c.value, *layout.cells(c)))
    return Table(tuple(columns), tuple(rows))


def in_order_of_merit(field: Panel) -> list[str]:
    """The systems, the best first; in the order given on a metric without a direction."""
    means = {system: field.sign * field.mean(system) for system in field.systems}
    return sorted(field.systems, key=lambda s: math.inf if math.isnan(means[s]) else -means[s])


def pair_table(found: Comparison, field: Panel, all_of_them: bool, parted: bool = False) -> Table:
    """Pairs as rows, the one ahead first, the largest differences on top; only the clear ones where there are many.

    ``parted`` gives each count of queries a column of its own.
    """
    contrasts = sorted(found.of(field.name), key=lambda c: -abs(c.difference))
    clear = [c for c in contrasts if c.verdict in CLEAR]
    shown = contrasts if all_of_them else clear[:ROOM]
    layout = replace(Layout.of(found), parted=parted)
    rows: list[tuple[Value, ...]] = [
        (*((c.baseline, c.run) if _behind(c) else (c.run, c.baseline)), *layout.cells(c)) for c in shown
    ]
    left = len(contrasts) - len(shown)
    note = (
        f"{left:,} more pairs, {len(clear) - len(shown):,} of them clear: --details shows all" if left else ""
    )
    return Table((Column("run"), Column("against"), *layout.columns()), tuple(rows), labels=2, note=note)


@dataclass(frozen=True)
class Layout:
    """Which columns there is room for; what a table leaves out is in JSON and CSV.

    Numbers are written as people read them, and hold themselves in full. ``parted`` counts get a column each.
    """

    level: float
    flips: bool = False
    counts: bool = True
    detects: bool = False
    turned: bool = False
    parted: bool = False
    flipped: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, found: Comparison) -> Layout:
        """Few runs get the sign-flip test, as sentences tell what their queries could show; many get that in the table."""
        pairs, few = len(found.of(found.primary)), len(found.systems) <= SPELLED + 1
        usual = (
            found.method.test is None or str(found.method.test) == "t"
        ) and not found.method.correction.joint
        level = found.method.level
        if found.all_pairs:
            return cls(level, counts=pairs > ROOM, detects=pairs <= ROOM, turned=True)
        return cls(level, flips=usual and few, detects=not few and not found.method.looking)

    def columns(self) -> tuple[Column, ...]:
        """The columns of a contrast."""
        return (
            Column("change", "value"),
            Column(f"{percent(self.level)} interval", "value"),
            Column("p", "value"),
            *([Column("flip p", "value")] if self.flips else []),
            *(self._counts() if self.counts else []),
            *([Column("detects", "value")] if self.detects else []),
        )

    def _counts(self) -> tuple[Column, ...]:
        if self.parted:
            return tuple(Column(name, "count") for name in ("better", "worse", "same"))
        return (Column("W/L/T", "value"),)

    def cells(self, c: Contrast) -> tuple[Value, ...]:
        """A contrast under these columns."""
        turned = self.turned and _behind(c)
        difference = -c.difference if turned else c.difference
        won, lost = (c.losses, c.wins) if turned else (c.wins, c.losses)
        unclear = c.verdict not in CLEAR and c.verdict != "same"
        return (
            _change(difference, "*" if c.verdict in CLEAR else " "),
            _interval(difference, c.adjusted, turned),
            written_p(c.p_value_adjusted),
            *([written_p(self.flipped.get(c.run, math.nan))] if self.flips else []),
            *(self._counted(won, lost, c.ties) if self.counts else []),
            *([_written(c.detectable.difference) if unclear else ""] if self.detects else []),
        )

    def _counted(self, *counts: int) -> tuple[Value, ...]:
        return counts if self.parted else ("/".join(f"{count:,}" for count in counts),)

    def legend(self) -> Iterator[str]:
        """What the columns mean that do not say it themselves."""
        if self.flips:
            yield "flip p: Fisher's sign-flip test, corrected alike"
        if self.counts:
            yield "W/L/T: queries better, worse, same"
        if self.detects:
            yield "detects: what so many queries would show with 80% power, in one comparison"


def written_p(value: float) -> Value:
    """A p-value as people read it; None where there is none."""
    return None if math.isnan(value) else Written(p_plain(value), value)


def _change(difference: float, mark: str) -> Value:
    """A difference with its mark."""
    said = f"{signed(difference)} {mark}"
    return said if math.isnan(difference) else Written(said, difference)


def _written(value: float) -> Value:
    """A difference as people read it; None where there is none."""
    return None if math.isnan(value) else Written(number(value), value)


def _interval(difference: float, bounds: Bounds, turned: bool) -> Value:
    """The ends of an interval, of the opposite difference if ``turned``; None where they are not known."""
    if not bounds.known:
        return None
    low, high = (-bounds.upper, -bounds.lower) if turned else (bounds.lower, bounds.upper)
    return Ranged(difference, low + 0.0, high + 0.0, ends(bounds, turned, ", "))


def _behind(c: Contrast) -> bool:
    """Whether a pair is read the other way round: the second of the two is ahead."""
    return c.difference < 0 if not c.measured.sign else not c.improved and bool(c.difference)


def board(found: Comparison) -> Table:
    """Runs as rows and metrics as columns: values, marked where they differ from the baseline."""
    marks = {(c.run, c.metric): _mark(c) for c in found.contrasts if not found.all_pairs}
    columns = [Column("run"), *(Column(field.name, "value") for field in found.fields)]
    rows: list[tuple[Value, ...]] = []
    for system in in_order_of_merit(found.fields[0]):
        cells = [
            f"{field.mean(system):.4f}{marks.get((system, field.name), '')}"
            if field.sample(system).count
            else None
            for field in found.fields
        ]
        rows.append((system, *cells))
    return Table(tuple(columns), tuple(rows), turns=True)


def _mark(c: Contrast) -> str:
    if c.verdict in {"better", "different"}:
        return "*"
    return "†" if c.verdict == "worse" else ""


def effects_table(found: Comparison, field: Panel) -> Table:
    """How large each difference is, in other units: relative to the baseline, in standard deviations, in queries."""
    columns = (
        Column("run"),
        Column("against"),
        Column("relative", "value"),
        Column(f"{percent(found.method.level)} interval", "value"),
        Column("in sd", "value"),
        Column("P(better)", "value"),
        Column("carried by", "value"),
    )
    rows: list[tuple[Value, ...]] = []
    for c in found.of(field.name):
        share, bounds = c.relative
        carried = c.favourable
        shown = f"{bounds.lower:+.1%}, {bounds.upper:+.1%}"
        rows.append(
            (
                c.run,
                c.baseline,
                Written(f"{share:+.1%}", share),
                Ranged(share, bounds.lower, bounds.upper, shown) if bounds.known else None,
                Written(f"{c.effect:+.2f}", c.effect),
                Written(f"{c.superiority:.2f}", c.superiority),
                None if carried is None else Written(f"{carried[0]:,} of {c.queries:,}", carried[0]),
            )
        )
    note = (
        "in sd: standard deviations of the differences · P(better): share of queries that are better, ties half · "
        "carried by: as many of the most favourable queries must go for the lead to be gone"
    )
    return Table(columns, tuple(rows), labels=2, note=note)


def slice_table(found: Comparison, slices: Slices, parted: bool = False) -> Table:
    """Slices as rows, the primary metric on the queries of each.

    ``parted`` gives each count of queries a column of its own, and writes slices as ``kind = head``.
    """
    several = len(found.systems) > 2
    layout = Layout(found.method.level, counts=not several, detects=not found.all_pairs, parted=parted)
    headers = ("slice", "run", "against") if found.all_pairs else ("slice", "run")
    labels = headers[: 1 + several * 2]
    rows: list[tuple[Value, ...]] = []
    for part in slices.contrasts:
        c = part.contrast
        if c.metric == found.primary:
            label = part.equation if parted else part.label
            names = (label, c.run, c.baseline)[: len(labels)]
            rows.append((*names, c.queries, *layout.cells(c)))
    columns = (*map(Column, labels), Column("queries", "count"), *layout.columns())
    return Table(columns, tuple(rows), labels=len(labels))
