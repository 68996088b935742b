"""The result of ``position_bias``: the examination curve by each method, with intervals and the check of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from rankscope import words
from rankscope.blocks import Chart, Column, NumberText, Value
from rankscope.click_models.bias import REMEDY
from rankscope.errors import DataError
from rankscope.inference.base import Bounds
from rankscope.lists.examination import Examination
from rankscope.panels.method import VALID, Validity
from rankscope.show.result import Col, OfSource, Shown, View
from rankscope.store import write_file
from rankscope.tables import Source

TOLD = (2, 3, 5, 10)  # positions that the first sentence names
DIGITS = 3
APART = "Click rates are observed: they mix examination with how good the items at a position are. Examination is relative to position 1."


@dataclass(frozen=True)
class BiasPoint:
    """The examination of one ``position`` by one method, relative to position 1: ``value``, interval and standard ``error``.

    ``beta`` is the share of clicks from trust, if the method estimates it. ``shown`` and ``clicks`` count the whole log. ``attribute`` and
    ``part`` name the slice.
    """

    method: str
    position: int
    value: float
    bounds: Bounds
    error: float
    beta: float | None
    shown: int
    clicks: int
    attribute: str = ""
    part: str = ""

    @property
    def rate(self) -> float:
        """The observed click rate."""
        return self.clicks / self.shown if self.shown else math.nan


def _text(value: float) -> str:
    return words.in_table(words.number(value, digits=DIGITS))


def _interval(point: BiasPoint) -> Value:
    if not point.bounds.known:
        return point.bounds.reason if point.position > 1 else "reference"
    return point.bounds.around(point.value, words.in_table(words.interval(*point.bounds.ends, digits=DIGITS)))


def _short(point: BiasPoint) -> Value:
    if math.isnan(point.value):
        return None
    reach = f" ± {_text((point.bounds.upper - point.bounds.lower) / 2)}" if point.bounds.known else ""
    return NumberText(f"{_text(point.value)}{reach}", point.value)


def _rate(of: Callable[[Any], BiasPoint]) -> Col:
    def cell(row: Any) -> str:
        return words.share(of(row).rate, 1)

    return Col("ctr", of=lambda row: of(row).rate, head="click rate", kind="value", cell=cell)


def _columns(*first: Col) -> tuple[Col, ...]:
    return (
        *first,
        Col("method", head="method"),
        Col("position", head="position", kind="count"),
        Col("examination", of=lambda point: point.value, head="examination", kind="value", cell=lambda point: "" if math.isnan(point.value) else _text(point.value)),
        Col("ci_lower", "ci_upper", of=lambda point: point.bounds.ends, head="interval", cell=_interval),
        Col("error", kind="value"),
        Col("beta", kind="value", rare=True, fill=None),
        _rate(lambda point: point),
        Col("shown", head="shown", kind="count"),
        Col("clicks", kind="count"),
    )  # fmt: skip


@dataclass(frozen=True)
class Used:
    """The clicks that a ``method`` learns from: views and clicks of ``items``, and ``about`` them."""

    method: str
    about: str
    items: int
    views: int
    clicks: int


@dataclass(frozen=True, eq=False, repr=False)
class PositionBias(OfSource):
    """The examination curve of a log: ``points`` by method and position, ``slices`` of parts of the log.

    ``checks`` has the ``Validity`` of each method. If no method is identified, ``exit_code`` is 4. ``result["swaps"]`` is the curve of
    a method, an ``Examination``, which ``save_curve`` writes for use as a discount or as propensities.
    """

    points: Sequence[BiasPoint]
    slices: Sequence[BiasPoint]
    checks: Mapping[str, Validity]
    source: Source
    lists: int
    unit: str
    level: float = 0.95
    remarks: Sequence[str] = ()
    used: Sequence[Used] = ()

    schema: ClassVar[str] = "position-bias/1"
    header: ClassVar[tuple[str, ...]] = ("verdict", "conventions", "lists", "inputs")
    views: ClassVar[tuple[View, ...]] = (
        View("results", _columns(), lambda result: result.points, note=APART, labels=2),
        View("by_position", lambda result: result.side_by_side(), lambda result: result.positions, note=APART),
        View("slices", _columns(Col("attribute", head="slice"), Col("slice", of=lambda point: point.part, head="is")), lambda result: result.slices, "By slice", labels=4),
        View(
            "estimated_from",
            (Col("method", head="method"), *(Col(name, head=name, kind="count") for name in ("items", "views", "clicks")), Col("about", head="from", wraps=True)),
            lambda result: result.used, "The clicks behind the curve",
        ),
        View(
            "checks",
            (Col("method", of=lambda pair: pair[0], head="method"), Col("identified", of=lambda pair: pair[1].holds),
             Col("reason", of=lambda pair: pair[1].reason or None, head="not identified", wraps=True)),
            lambda result: [pair for pair in result.checks.items() if not pair[1].holds],
            "Not identified by this log",
        ),
    )  # fmt: skip

    @property
    def positions(self) -> list[list[BiasPoint]]:
        """The points of each position, one per method."""
        by: dict[int, list[BiasPoint]] = {}
        for point in self.points:
            by.setdefault(point.position, []).append(point)
        return list(by.values())

    def side_by_side(self) -> Iterator[Col]:
        """Yield the columns of a table with one row per position and one column per method."""
        yield Col("position", of=lambda points: points[0].position, head="position", kind="count")
        for at, method in enumerate(self.methods):
            value, cell = (lambda points, at=at: points[at].value), (lambda points, at=at: _short(points[at]))
            yield Col(method, of=value, head=method, kind="value", cell=cell)
        yield _rate(itemgetter(0))
        yield Col("shown", of=lambda points: points[0].shown, head="shown", kind="count")

    def body(self, **options: Any) -> Iterator[Sequence[Shown]]:
        """Yield the curve of one method with its interval, or several methods side by side; then slices and failed checks."""
        main = "by_position" if len(self.methods) > 1 else "results"
        for name in (main, "slices", *(["checks"] if len(self.checks) > 1 else [])):
            yield self.view(name).part(self)

    @property
    def methods(self) -> list[str]:
        """The methods with a curve."""
        return list(dict.fromkeys(point.method for point in self.points))

    @property
    def validity(self) -> Validity:
        """True if any of the chosen methods is identified."""
        failed = [one for one in self.checks.values() if not one.holds]
        return failed[0] if len(failed) == len(self.checks) else VALID

    @property
    def exit_code(self) -> int:
        """0, or 4 if nothing is identified."""
        return self.validity.exit_code

    def __getitem__(self, method: Any) -> Examination:
        curve = [point for point in self.points if point.method in {str(method), str(method).partition("(")[0]}]
        if not curve:
            raise KeyError(f"{method}: there are {words.listing(self.methods)}")
        return self._curve(curve)

    def _curve(self, points: Sequence[BiasPoint]) -> Examination:
        """The curve down to the first position that is not identified, at most 1."""
        values = np.array([point.value for point in points])
        known = int(np.argmax(np.isnan(values))) if np.isnan(values).any() else len(values)
        most = max(1.0, float(values[:known].max()))
        alpha = np.clip(values[:known] / most, 0.0, 1.0)
        beta = [point.beta for point in points[:known]]
        about = {
            "method": points[0].method, "level": self.level, "log": self.source.label, "lists": self.lists,
            "intervals": [[words.finite(end / most) for end in point.bounds.ends] for point in points[:known]],
            "errors": [words.finite(point.error / most) for point in points[:known]],
        }  # fmt: skip
        if None in beta:
            return Examination(alpha, about=about)
        return Examination(alpha, alpha=alpha, beta=np.clip(np.array(beta, dtype=float) / most, 0.0, 1.0), about=about)

    def save_curve(self, path: str | Path, method: str | None = None) -> Path:
        """Write the curve of a method, by default the first, as JSON. Raises DataError if nothing is identified."""
        if not self.points:
            raise DataError(f"no curve can be saved: {self.validity.reason}")
        write_file(path, [self[method or self.methods[0]].to_json()])
        return Path(path)

    @property
    def conventions(self) -> Mapping[str, Any]:
        """The scale of curves and the method of intervals."""
        return {
            "unit": self.unit, "level": self.level,
            "in_words": {"examination": "relative to position 1", "interval": f"bootstrap over {words.plural(self.unit)}, normal on the scale of the logarithm"},
        }  # fmt: skip

    def sentences(self) -> Iterator[str]:
        """Yield the curve of the first method, how far the others agree, or why nothing is identified."""
        if not self.points:
            yield f"The examination curve is not identified: {self.validity.reason}."
            yield f"To identify it, {REMEDY}."
        else:
            first = [point for point in self.points if point.method == self.methods[0]]
            named = [point for point in first if point.position in TOLD and not math.isnan(point.value)]
            parts = [f"{words.share(point.value)} at {point.position}{_with_interval(point)}" for point in named]
            yield f"Users look at position k, as a share of position 1: {words.listing(parts)} ({first[0].method})."
            if len(self.methods) > 1:
                yield from self._agreement()
        yield f"{words.counted(self.lists, 'list')}. Intervals are by {self.unit}."
        for text in self.remarks:
            yield f"{text[:1].upper()}{text[1:]}."

    def _agreement(self) -> Iterator[str]:
        """Yield the largest difference between two methods at a position."""
        spread = dict[int, float]()
        for points in self.positions[1:]:  # position 1 is the reference of all
            known = [point.value for point in points if not math.isnan(point.value)]
            if len(known) > 1:
                spread[points[0].position] = max(known) - min(known)
        if spread:
            position = max(spread, key=spread.__getitem__)
            most = words.number(spread[position], digits=DIGITS)
            yield f"The {len(self.methods)} methods differ by at most {most} (position {position})."

    def charts(self) -> Iterator[Chart]:
        """The curve of each method with its interval."""
        rows: list[tuple[Value, ...]] = [
            (point.method, point.position, point.bounds.around(point.value))
            for point in self.points if not math.isnan(point.value)
        ]  # fmt: skip
        if len(rows) > 1:
            columns = Column("method"), Column("position", "count"), Column("examination", "value")
            yield Chart(
                "examination", "Examination by position", "lines", columns, tuple(rows), x="position", y="examination", series="method",
                caption="How probable it is that users look at a position, relative to position 1, with intervals.", told=True,
            )  # fmt: skip


def _with_interval(point: BiasPoint) -> str:
    return f" ({words.share(point.bounds.lower)} to {words.share(point.bounds.upper)})" if point.bounds.known else ""
