"""What all charts share: tooltips, axes, colours of series, labels and reference lines."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rankscope.blocks import Chart, NumberText, ValueRange
from rankscope.show.cells import number_headers
from rankscope.show.charts.data import field_of, has_intervals, names_of, numbers_of, parts_of, safe
from rankscope.show.charts.theme import DASHES, GREY, MEANINGS, PALETTE, SHAPES

SPEAKABLE = 200  # as many marks are read out one by one; more of them would only be noise


@dataclass(frozen=True)
class Canvas:
    """A chart, the module it is drawn with, and how wide it becomes in pixels (None: as wide as where it is put)."""

    chart: Chart
    alt: Any
    width: int | None = None

    def field(self, header: str) -> str:
        """The field of a column."""
        return field_of(self.chart, header)

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.chart.rows)

    def mark(self, kind: str, **looks: Any) -> Any:
        """A mark of one kind for each row, with what is told of it."""
        told = tellings(self.chart)
        if self.chart.query:
            looks["cursor"] = "pointer"
        spoken = self.size <= SPEAKABLE and self.width is not None  # a page says it by a table
        base = getattr(self.alt.Chart(), f"mark_{kind}")(aria=spoken, **looks)
        base = base.encode(tooltip=self.alt.TooltipValue({"expr": hover(told)}))
        if spoken:
            base = base.encode(description=self.alt.DescriptionValue({"expr": speakable(told)}))
        return base

    def plain(self, kind: str, **looks: Any) -> Any:
        """A mark that tells nothing by itself: the second part of another."""
        return getattr(self.alt.Chart(), f"mark_{kind}")(aria=False, tooltip=None, **looks)

    def once(self, kind: str, **looks: Any) -> Any:
        """A mark that is drawn once, whatever the rows."""
        alone = self.alt.sequence(0, 1, as_="once")
        return getattr(self.alt.Chart(alone), f"mark_{kind}")(aria=False, tooltip=None, **looks)


def tellings(chart: Chart) -> list[tuple[str, str]]:
    """All that a row says: headers, each with an expression for the text of its value."""
    told = []
    headers = number_headers([safe(column.header) for column in chart.columns])
    for at, column in enumerate(chart.columns):
        value = f"datum['c{at}']"
        if column.kind == "text":
            text = f"isValid({value}) ? '' + {value} : '–'"
        else:
            how = ",.4f" if column.kind == "value" else ",.4~f"
            if any(isinstance(row[at], NumberText) for row in chart.rows):
                how = ".3~g"  # a number of its own writing may be far below four decimals
            number = f"format({value}, '{how}')"
            if has_intervals(chart, column.header):
                low, high = f"datum['c{at}_low']", f"datum['c{at}_high']"
                ends = f"' (' + format({low}, '{how}') + ' to ' + format({high}, '{how}') + ')'"
                number = f"{number} + (isNumber({low}) && isNumber({high}) ? {ends} : '')"
            text = f"isNumber({value}) ? {number} : isValid({value}) ? '' + {value} : '–'"
        told.append((headers[at], text))
    return told


def hover(told: Sequence[tuple[str, str]]) -> str:
    """An expression for the table that is shown at a mark."""
    return "{" + ", ".join(f"{json.dumps(header)}: {text}" for header, text in told) + "}"


def speakable(told: Sequence[tuple[str, str]]) -> str:
    """An expression for the sentence that is read out at a mark."""
    return " + '; ' + ".join(f"{json.dumps(header + ': ')} + ({text})" for header, text in told)


# --- axes of names and of numbers, and which part of the numbers they show -----------------------------


APART = 5.0  # panels whose values reach so many times as far as those of another have scales of their own


def name_axis(canvas: Canvas, header: str, channel: str, **looks: Any) -> Any:
    """An axis of names, in the order of the rows, cut where they are long."""
    most = 180 if canvas.width is None else max(90, min(180, round(canvas.width * 0.3)))
    limit = most if canvas.width else {"expr": f"max(90, min({most}, 0.3 * (containerSize()[0] || 600)))"}
    if canvas.chart.panel:
        limit = 110
    looks = {"labelLimit": limit, "title": None if channel == "Y" else safe(header), **looks}
    return getattr(canvas.alt, channel)(
        f"{canvas.field(header)}:N", sort=None, axis=canvas.alt.Axis(**looks), scale=canvas.alt.Scale(paddingInner=0.2)
    )


def value_axis(canvas: Canvas, header: str, channel: str, zero: bool = False, end: str = "") -> Any:
    """An axis of numbers; ``zero`` says that 0 is on it, ``end`` that it is of one end of the intervals (_low, _high)."""
    chart, alt = canvas.chart, canvas.alt
    log = log_scale(chart, header)
    domain = domain_of(chart, header, zero and not log)
    scale: dict[str, Any] = {} if log else {"zero": False}
    axis: dict[str, Any] = {"title": safe(header), "titleLimit": 300}
    if chart.form in {"points", "intervals"} and limits_of(chart, header) is None:
        scale["padding"] = 8
    if log:
        above = [number for number in numbers_of(chart, header) if number > 0]
        scale |= {"type": "log", "domain": [min(above), max(above)], "nice": False, "clamp": True}
        axis |= {"format": "~r", "values": ticks(above, chart.form in {"lines", "steps"}), "labelOverlap": "greedy"}
    elif apart(chart) and header == scale_of_values(chart):
        scale["zero"] = zero or chart.guide == "zero"
    elif domain is not None:
        scale |= {"domain": domain, "nice": limits_of(chart, header) is None}
    elif channel == "X":
        axis["tickCount"] = 4 if chart.panel else {"expr": "clamp(ceil(width / 70), 2, 10)"}
    if chart.columns[chart.at(header)].kind == "count":
        axis |= {"format": ",~r"} if log else {"tickMinStep": 1, "format": ",d"}
    return getattr(alt, channel)(
        f"{canvas.field(header)}{end}:Q", scale=alt.Scale(**scale), axis=alt.Axis(**axis), stack=None
    )


def log_scale(chart: Chart, header: str) -> bool:
    """Whether an axis is logarithmic: where that was asked for and all values are above 0, so that none is lost."""
    if ("x" if header == chart.x else "y") not in chart.logs:
        return False
    at = chart.at(header)
    values = [row[at].value if isinstance(row[at], ValueRange) else row[at] for row in chart.rows]  # type: ignore[union-attr]
    numbers = [value for value in values if isinstance(value, int | float) and math.isfinite(value)]
    return bool(numbers) and min(numbers) > 0


def ticks(numbers: Sequence[float], chosen: bool = False) -> list[float]:
    """Where a logarithmic axis is marked: at 1, 2 and 5 times powers of ten, or at the numbers where these were ``chosen`` and are few.

    >>> ticks([3.0, 80.0]), ticks([1.0, 3.0, 1000.0], chosen=True)
    ([5.0, 10.0, 20.0, 50.0], [1.0, 3.0, 1000.0])
    """
    there = sorted(set(numbers))
    if chosen and len(there) <= 12:
        return there
    low, high = math.floor(math.log10(there[0])), math.ceil(math.log10(there[-1]))
    steps = (1, 2, 5) if high - low <= 4 else (1,)
    marks = [step * 10.0**power for power in range(low, high + 1) for step in steps]
    inside = [mark for mark in marks if there[0] <= mark <= there[-1]]
    return inside if len(inside) > 1 else [there[0], there[-1]]


def scale_of_values(chart: Chart) -> str:
    """The header of the value that ``limits`` and the guide at zero are about."""
    if chart.form == "heat":
        return chart.colour
    return chart.x if chart.form in {"intervals", "stacked"} else chart.y


def apart(chart: Chart) -> bool:
    """Whether panels have scales of their own: their values are of different sizes, so that one scale would hide some."""
    if not chart.panel or chart.limits or chart.guide == "equal" or chart.form == "heat":
        return False
    parts = [numbers_of(part, scale_of_values(chart)) for part in parts_of(chart)]
    sizes = [size for numbers in parts if (size := max(map(abs, numbers), default=0.0)) > 0]
    return bool(sizes) and max(sizes) > APART * min(sizes)


def limits_of(chart: Chart, header: str) -> tuple[float, float] | None:
    """The known ends of an axis."""
    both = chart.guide == "equal" and header in {chart.x, chart.y}
    return chart.limits if both or header == scale_of_values(chart) else None


def domain_of(chart: Chart, header: str, zero: bool = False) -> list[float] | None:
    """The ends of an axis where they must be said: known ones, those that two axes share, and where 0 belongs to them."""
    same = chart.guide == "equal"
    numbers = [n for h in ((chart.x, chart.y) if same else (header,)) for n in numbers_of(chart, h)]
    limits = limits_of(chart, header)
    zero = zero or (chart.guide == "zero" and header == scale_of_values(chart))
    if limits is None and not zero and not same:
        return None if numbers else [0.0, 1.0]
    ends = [*numbers, *(limits or ()), *([0.0] if zero else [])]
    if not numbers and limits is None:
        ends = [0.0, 1.0]
    low, high = min(ends), max(ends)
    if limits is None and not zero and high > low:
        edge = (high - low) * 0.03
        low, high = low - edge, high + edge
    return [low, high] if high > low else [low - 0.5, high + 0.5]


# --- what marks look like: colours and shapes of series, fainter rows, labels, lines to compare with ---


@dataclass(frozen=True)
class Series:
    """The names that colours stand for, and how each is drawn."""

    header: str
    names: tuple[str, ...]
    colours: tuple[str, ...]
    shapes: tuple[str, ...]
    dashes: tuple[tuple[int, ...], ...]


def series_of(chart: Chart) -> Series | None:
    """What each series looks like: a colour of its own for the first eight, grey for the rest; None where there are none."""
    names = names_of(chart, chart.series)
    if not names:
        return None
    place = {safe(name): i for i, name in enumerate(chart.order)}
    names = sorted(names, key=lambda name: place.get(name, len(place)))
    own = {name: place[name] for name in names if place.get(name, len(PALETTE)) < len(PALETTE)}
    taken = {MEANINGS[name][0] for name in names if name in MEANINGS} | {PALETTE[i] for i in own.values()}
    free = iter([i for i, colour in enumerate(PALETTE) if colour not in taken])
    colours, shapes, dashes = [], [], []
    for name in names:
        at = own[name] if name in own else None if name in MEANINGS else next(free, None)
        colour, shape = (PALETTE[at], SHAPES[at]) if at is not None else MEANINGS.get(name, (GREY, "circle"))
        colours.append(colour)
        shapes.append(shape)
        dashes.append(DASHES[at] if at is not None else (1, 0))
    return Series(chart.series, tuple(names), tuple(colours), tuple(shapes), tuple(dashes))


def _legend(canvas: Canvas, series: Series, **looks: Any) -> Any:
    """A legend in as many columns as there is room for, which says how many series are grey for want of colours."""
    chart, alt = canvas.chart, canvas.alt
    if series.header in {chart.x, chart.y, chart.panel, chart.label}:
        return None
    grey = [n for n, colour in zip(series.names, series.colours, strict=True) if colour == GREY and n not in MEANINGS]
    shown = [name for name in series.names if name not in grey]
    looks |= {"title": safe(series.header), "symbolOpacity": 1}
    if len(grey) > 1:
        looks["values"] = [*shown, grey[0]]
        looks["labelExpr"] = f"datum.label === {json.dumps(grey[0])} ? '{len(grey)} others' : datum.label"
    wide = min(max(map(len, shown), default=1), 26) * 7 + 44
    looks["columns"] = (
        max(1, (canvas.width - 60) // wide)
        if canvas.width
        else {"expr": f"max(1, floor(((containerSize()[0] || 600) - 90) / {wide}))"}
    )
    return alt.Legend(**looks)


def colour_of(canvas: Canvas, form: str = "", plain: str = PALETTE[0]) -> dict[str, Any]:
    """The encodings of series: a colour, and beside it a ``form``, for colour never tells alone.

    A form is ``shape``, ``dash``, or ``line``: the colour of what goes with lines that have dashes.
    """
    alt, series = canvas.alt, series_of(canvas.chart)
    if series is None:
        return {"color": alt.value(plain)}
    looks: dict[str, Any] = {"symbolType": "stroke", "symbolSize": 400} if form in {"line", "dash"} else {}
    legend, field = _legend(canvas, series, **looks), f"{canvas.field(series.header)}:N"
    names = list(series.names)
    color = alt.Color(field, sort=None, legend=legend, scale=alt.Scale(domain=names, range=list(series.colours)))
    if form == "shape":
        scale = alt.Scale(domain=names, range=list(series.shapes))
        return {"color": color, "shape": alt.Shape(field, sort=None, legend=legend, scale=scale)}
    if form == "dash":
        scale = alt.Scale(domain=names, range=[list(dash) for dash in series.dashes])
        return {"color": color, "strokeDash": alt.StrokeDash(field, sort=None, legend=legend, scale=scale)}
    return {"color": color}


def outline(canvas: Canvas) -> Any:
    """The colour of series as that of an outline."""
    alt, series = canvas.alt, series_of(canvas.chart)
    if series is None:
        return alt.value(PALETTE[0])
    scale = alt.Scale(domain=list(series.names), range=list(series.colours))
    field = f"{canvas.field(series.header)}:N"
    return alt.Stroke(field, sort=None, legend=_legend(canvas, series), scale=scale)


def faint(canvas: Canvas, seen: float = 1.0, unseen: float = 0.5) -> dict[str, Any]:
    """How much a mark shows: less in rows that are not ``marked``."""
    chart, alt = canvas.chart, canvas.alt
    if not chart.marked:
        return {"opacity": alt.value(seen)} if seen != 1.0 else {}
    test = f"datum['{canvas.field(chart.marked)}'] === 0"
    return {"opacity": alt.OpacityValue(seen, condition={"test": test, "value": unseen * seen})}


def labels(canvas: Canvas, x: Any, y: Any, middle: float | None) -> list[Any]:
    """What is written at the marks: to their right in the left half (below ``middle``), else to their left."""
    chart, alt = canvas.chart, canvas.alt
    if not chart.label:
        return []
    right = "false" if middle is None else f"datum['{canvas.field(chart.x)}'] > {middle!r}"
    looks = {
        "align": {"expr": f"{right} ? 'right' : 'left'"},
        "dx": {"expr": f"{right} ? -8 : 8"},
        "dy": -9, "style": "said", "limit": 130,
    }  # fmt: skip
    return [
        canvas.plain("text", **looks).encode(x=x, y=y, text=alt.Text(f"{canvas.field(chart.label)}:N"), **faint(canvas))
    ]


def zero_line(canvas: Canvas, channel: str) -> list[Any]:
    """A line where the value is 0."""
    if canvas.chart.guide != "zero" or log_scale(canvas.chart, getattr(canvas.chart, channel)):
        return []
    return [canvas.once("rule", style="reference").encode(**{channel: canvas.alt.datum(0)})]
