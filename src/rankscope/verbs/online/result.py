"""What ``online`` gives: the value of each metric with its interval, by day, by position and by slice."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rankscope import words
from rankscope.blocks import EMPTY, Caution, Chart, Column, Heading, NumberText, Paragraph, Table, Value
from rankscope.diagnostics.rule import active_cautions
from rankscope.inference.base import Bounds
from rankscope.logs.base import OnlineMetric
from rankscope.logs.health import LogHealth
from rankscope.logs.metrics import Quantile
from rankscope.show.result import Col, OfSource, Shown, View, caution_block
from rankscope.tables import Source

LINES = 4  # metrics that have a chart of their own
SHARED = {"metric", "value", "interval", "sums"}  # heads of columns that every part has
APART = "For the intervals name one metric (-m CTR), or take --format json."
OF_QUANTILES = "the smallest value that a share q of the rows do not exceed. Interval by order statistics, from how the share below varies between units"
OBSERVED = "Click rates by position are observed: they mix attention with the quality of the items there."


@dataclass(frozen=True)
class OnlineValue:
    """A metric of a log, or of a part of it: its ``value`` with the interval ``bounds``, and the sums that it is made of.

    ``units`` are those that count, ``censored`` those that were not observed for long enough. ``part`` is the day, the position or
    the value of a slice, ``attribute`` the column of the slice. ``needed`` are the rows that it takes, where these are too few for the interval
    of a quantile. ``decimals`` are those of its column, None for those of its own. ``nouns`` name a row and a unit of the log.
    """

    metric: OnlineMetric
    value: float
    bounds: Bounds
    units: int
    numerator: float
    denominator: float
    censored: int = 0
    part: Any = None
    attribute: str = ""
    needed: int = 0
    decimals: int | None = None
    nouns: tuple[str, str] = ("impression", "user")

    @property
    def is_share(self) -> bool:
        """Whether it is a part of a whole, written in percent."""
        return self.metric.range == (0.0, 1.0)

    def write(self, number: float) -> str:
        """A number on the scale of this value: a share in percent, with as many digits as the value needs."""
        digits = decimals_of([self]) if self.decimals is None else self.decimals
        return words.share(number, digits) if self.is_share else words.number(number, digits=digits)

    @property
    def number(self) -> NumberText:
        """The value on its scale, as a table has it."""
        return NumberText(self.write(self.value), self.value)

    @property
    def interval_in_words(self) -> str:
        """The two ends of the interval; why there is none."""
        if not self.bounds.known:
            return f"no interval: {self.bounds.reason}"
        return f"{self.write(self.bounds.lower)} to {self.write(self.bounds.upper)}"

    @property
    def sums_in_words(self) -> str:
        """What the value is made of: ``3 of 5``, ``250 / 40``."""
        counts = self.is_share or isinstance(self.metric, Quantile)
        return f"{words.amount(self.numerator)} {'of' if counts else '/'} {words.amount(self.denominator)}"

    @property
    def counted(self) -> str:
        """What one of is counted: an impression, a list, a user; of a quantile what has a value."""
        whole = isinstance(self.metric, Quantile) and self.metric.per == "unit"
        noun, (row, unit) = "user" if whole else self.metric.unit, self.nouns
        return {"impression": row, "user": unit}.get(noun, noun)

    @property
    def made_of(self) -> str:
        """The sums that it is made of, in a sentence."""
        above, below = words.amount(self.numerator), words.amount(self.denominator)
        if isinstance(self.metric, Quantile):
            values = "rows with a value" if self.metric.per == "row" else "values"
            return f"{above} of {below} {values} are at or below it"
        named = self.metric.below.replace("users", words.plural(self.nouns[1]))
        if self.metric.unit == "impression" != self.counted:
            named = words.plural(self.counted)
        return f"{above} {'out of' if self.is_share else 'over'} {below}{'' if self.metric.of_columns else f' {named}'}"


def decimals_of(values: Sequence[OnlineValue]) -> int:
    """The decimals of the values of one metric and of their intervals: those of the largest value."""
    if values[0].is_share:
        size = max((abs(one.value) for one in values if not math.isnan(one.value)), default=0.0)
        return 1 if size >= 0.01 or not size else 2 if size >= 0.001 else 3
    return words.decimals_of_amounts(end for one in values for end in (one.value, *one.bounds.ends))


def _columns(*first: Col) -> tuple[Col, ...]:
    return (
        *first,
        Col("metric", of=lambda one: str(one.metric), head="metric"),
        Col("value", head="value", kind="value", cell=lambda one: one.number),
        Col("ci_lower", "ci_upper", of=lambda one: (one.bounds.lower, one.bounds.upper), head="interval", cell=lambda one: one.interval_in_words),
        Col("numerator", head="sums", cell=lambda one: one.sums_in_words),
        Col("denominator"),
        Col("of", of=lambda one: one.counted),
        Col("units", head="" if first else "units", kind="count"),
        Col("censored", kind="count"),
        Col("better", of=lambda one: one.metric.direction),
        Col("interval", of=lambda one: one.bounds.method),
        Col("reason", of=lambda one: one.bounds.reason or None),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class OnlineValues(OfSource):
    """Online metrics of a log: ``values`` over all of it, ``days``, ``positions`` and ``slices`` of parts.

    ``result["CTR"]`` is the value of a metric; ``result.values`` have intervals, too. ``unit`` is what counts as independent (a user;
    or a session, a list, a row, where nothing names users), of which there are ``units``. ``health`` says what is wrong with the log.
        ``remarks`` are sentences on what was left out and what would allow more.
    """

    schema: ClassVar[str] = "online/1"
    header: ClassVar[tuple[str, ...]] = ("verdict", "conventions", "units", "inputs", "data_health")
    views: ClassVar[tuple[View, ...]] = (
        View("results", _columns(), lambda result: result.values),
        View("by_day", _columns(Col("day", of=lambda one: str(one.part), head="day")), lambda result: result.days, "By day", labels=2, held=lambda result: result.days),
        View("by_position", _columns(Col("position", of=lambda one: one.part, head="position", kind="count")), lambda result: result.positions,
             "By position", OBSERVED, labels=2, held=lambda result: result.positions),
        View("slices", _columns(Col("attribute", head="slice"), Col("slice", of=lambda one: one.part, head="is", cell=lambda one: "(empty)" if one.part is None else str(one.part))),
             lambda result: result.slices, "By slice", labels=3, held=lambda result: result.slices),
    )  # fmt: skip

    values: Sequence[OnlineValue]
    source: Source
    health: LogHealth
    units: int
    unit: str
    level: float = 0.95
    days: Sequence[OnlineValue] = ()
    positions: Sequence[OnlineValue] = ()
    slices: Sequence[OnlineValue] = ()
    remarks: Sequence[str] = ()
    ignored: frozenset[str] = frozenset()

    def __getitem__(self, metric: Any) -> float:
        name = str(metric)
        numbers = [one.value for one in self.values if name in {str(one.metric), type(one.metric).__name__}]
        if not numbers:
            raise KeyError(f"{name}: there are {words.listing(map(str, self.metrics), most=30)}")
        return numbers[0]

    @property
    def metrics(self) -> list[OnlineMetric]:
        """The metrics, in the order in which they were asked for."""
        return [one.metric for one in self.values]

    @property
    def conventions(self) -> Mapping[str, Any]:
        """What counts as independent, and how intervals are made."""
        return {
            "unit": self.unit,
            "level": self.level,
            **({"ignore": ",".join(sorted(self.ignored))} if self.ignored else {}),
            "in_words": {
                "value": "the numerator, summed over all units, divided by the denominator",
                "interval": "delta method at the unit, Student's t, or Wilson's if each unit is a success or a failure",
                **({"quantile": OF_QUANTILES} if any(isinstance(metric, Quantile) for metric in self.metrics) else {}),
            },
        }

    @property
    def warnings(self) -> Sequence[Caution]:
        """What is wrong with the log."""
        return active_cautions(self.health.facts, self.ignored)

    @property
    def data_health(self) -> Mapping[str, Any]:
        """The state of the log."""
        return {self.source.label: self.health.as_dict()}

    def sentences(self) -> Iterator[str]:
        """The first metric, what it is of, and what to know of it."""
        first = self.values[0]
        level = f"{words.percent(self.level)} interval " if first.bounds.known else ""
        yield f"{first.metric} is {first.write(first.value)} ({level}{first.interval_in_words}): {first.made_of}."
        rows, units = words.counted(self.health.rows, "row"), words.counted(self.units, self.unit)
        yield f"{rows}." if self.unit == "row" else f"{rows} of {units}."
        yield from self.remarks
        if self.ignored:
            yield f"Warnings ignored: {', '.join(sorted(self.ignored))}."

    def blocks(self, **_: Any) -> list[Shown]:
        """The sentences and the values, then by day, by position and by slice, where these were asked for."""
        first, *rest = self.sentences()
        quiet = (Paragraph(text, quiet=True) for text in rest)
        cautions = [*caution_block(self.warnings), EMPTY] if self.warnings else []
        out: list[Shown] = [Paragraph(first), EMPTY, self.table(), EMPTY, *cautions, *quiet]
        for view in map(self.view, self.extra_views()):
            parts = list(view.rows(self))
            drawn: Sequence[Shown] = [chart for chart in self.charts() if chart.name.startswith(view.name)][:1]
            shown = self.table(view.name) if len({one.metric for one in parts}) == 1 else _side_by_side(view, parts)
            out += [EMPTY, Heading(view.title), shown, *([EMPTY, *drawn] if drawn else [])]
        return out

    def charts(self) -> Iterator[Chart]:
        """The first metrics by day and by position, each with its interval."""
        yield from _lines(self.days, "by_day", "day", "")
        yield from _lines(self.positions, "by_position", "position", "As observed at each position.")


def _side_by_side(view: View, values: Sequence[OnlineValue]) -> Table:
    """Several metrics of the same parts: one row per part, one column per metric, without intervals."""
    metrics = list(dict.fromkeys(one.metric for one in values))
    own = [column for column in view.columns if column.head and column.head not in SHARED]  # type: ignore[union-attr] # a tuple
    rows: dict[tuple[Value, ...], dict[OnlineMetric, OnlineValue]] = {}
    for one in values:
        rows.setdefault(tuple(column.cell(one) for column in own), {})[one.metric] = one
    heads = [Column(column.head, column.kind) for column in own] + [Column(str(metric), "value") for metric in metrics]
    cells = tuple((*key, *(row[m].number if m in row else None for m in metrics)) for key, row in rows.items())
    note = f"{view.note} {APART}".strip()
    return Table(tuple(heads), cells, len(own), note=note, name=view.name, title=view.title)


def _lines(values: Sequence[OnlineValue], name: str, over: str, caption: str) -> Iterator[Chart]:
    """One line per metric over days or positions."""
    for metric in list(dict.fromkeys(str(one.metric) for one in values))[:LINES]:
        known = [one for one in values if str(one.metric) == metric and not math.isnan(one.value)]
        known.sort(key=lambda one: one.part)
        if len(known) < 2:
            continue
        rows: tuple[tuple[Value, ...], ...] = tuple(
            (
                metric,
                words.day_number(one.part) if over == "day" else one.part,
                one.bounds.around(one.value, f"{one.number.text} ({one.interval_in_words})")
                if one.bounds.known
                else one.number,
            )
            for one in known
        )
        columns = Column("metric"), Column(over, "date" if over == "day" else "count"), Column("value", "value")
        yield Chart(
            f"{name}-{metric}", f"{metric} by {over}", "lines", columns, rows, x=over, y="value", caption=caption, told=True,
        )  # fmt: skip
