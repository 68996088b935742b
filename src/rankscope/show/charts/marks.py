"""The elements of charts: axes, colours of series, tooltips, and the marks of each form."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rankscope import words
from rankscope.blocks import Chart, NumberText, ValueRange
from rankscope.show.cells import number_headers
from rankscope.show.charts.data import field_of, has_intervals, names_of, numbers_of, parts_of, safe
from rankscope.show.charts.theme import BLUE, DASHES, GREY, MEANINGS, MUTED, ORANGE, PALETTE, SHAPES

MAX_SPOKEN_MARKS = 200  # screen readers read marks one by one up to this number
MIN_SCALE_RATIO = 5.0  # panels get their own scales if their spans differ by this factor
MAX_UPRIGHT_NAMES, MAX_UPRIGHT_LENGTH = 14, 16
MAX_CELLS_WITH_TEXT = 150
MAX_HOVER_POINTS = 2000
MAX_DOTS = 25
MAX_BARS = 160
LONG = 20  # names below each other
UPPER = 450  # pixels of names: of more a page shows the upper part first, so that their axis is on top
DAY = "864e5 * datum.value"  # a number of days as the milliseconds that utcFormat takes
Plot = tuple[list[Any], float]
"""Layers, from the lowest up, and the height of the plot in pixels."""


@dataclass(frozen=True)
class Canvas:
    """A chart, the module that draws it, and its width in pixels (None: as wide as its place)."""

    chart: Chart
    alt: Any
    width: int | None = None

    def field(self, header: str) -> str:
        """The field of a column."""
        return field_of(self.chart, header)

    def mark(self, kind: str, **looks: Any) -> Any:
        """Return a mark of one kind for each row, with its tooltip."""
        tooltips = tellings(self.chart)
        if self.chart.query:
            looks["cursor"] = "pointer"
        # a page has a table for screen readers
        spoken = len(self.chart.rows) <= MAX_SPOKEN_MARKS and self.width is not None
        base = getattr(self.alt.Chart(), f"mark_{kind}")(aria=spoken, **looks)
        hover = ", ".join(f"{json.dumps(header)}: {text}" for header, text in tooltips)
        base = base.encode(tooltip=self.alt.TooltipValue({"expr": f"{{{hover}}}"}))
        if spoken:
            speech = " + '; ' + ".join(f"{json.dumps(header + ': ')} + ({text})" for header, text in tooltips)
            base = base.encode(description=self.alt.DescriptionValue({"expr": speech}))
        return base

    def plain(self, kind: str, **looks: Any) -> Any:
        """Return a mark without a tooltip: the second part of another."""
        return getattr(self.alt.Chart(), f"mark_{kind}")(aria=False, tooltip=None, **looks)

    def once(self, kind: str, **looks: Any) -> Any:
        """Return a mark that is drawn once."""
        return self.plain(kind, **looks).properties(data=self.alt.sequence(0, 1, as_="once"))


def tellings(chart: Chart) -> list[tuple[str, str]]:
    """Return the tooltip of a row: headers, each with an expression for the text of its value."""
    tooltips, headers = [], number_headers([safe(column.header) for column in chart.columns])
    for at, column in enumerate(chart.columns):
        if column.header in {chart.marked, chart.path}:
            continue  # visible in the mark itself
        value = f"datum['c{at}']"
        if column.kind == "date":
            text = f"utcFormat({DAY.replace('datum.value', value)}, '%Y-%m-%d')"
        elif column.kind == "text":
            text = f"isValid({value}) ? '' + {value} : '–'"
        else:
            how = ",.4~f" if column.kind != "value" else ",.1f" if in_percent(column.header) else ",.4f"
            if any(isinstance(row[at], NumberText) for row in chart.rows):
                how = ".3~g"  # a number of its own writing may be far below four decimals
            number = f"format({value}, '{how}')"
            if has_intervals(chart, column.header):
                low, high = f"datum['c{at}_low']", f"datum['c{at}_high']"
                ends = f"' (' + format({low}, '{how}') + ' to ' + format({high}, '{how}') + ')'"
                number = f"{number} + (isNumber({low}) && isNumber({high}) ? {ends} : '')"
            text = f"isNumber({value}) ? {number} : isValid({value}) ? '' + {value} : '–'"
        tooltips.append((headers[at], text))
    return tooltips


def in_percent(header: str) -> bool:
    """True if the numbers of a column are percentages, which are read with one decimal."""
    return header.endswith("in percent")


def name_axis(canvas: Canvas, header: str, channel: str, **looks: Any) -> Any:
    """An axis of names, in the order of the rows, long ones cut."""
    most = 180 if canvas.width is None else max(90, min(180, round(canvas.width * 0.3)))
    limit = most if canvas.width else {"expr": f"max(90, min({most}, 0.3 * (containerSize()[0] || 600)))"}
    if canvas.chart.panel:
        limit = 110
    looks = {"labelLimit": limit, "title": None if channel == "Y" else safe(header), **looks}
    axis, scale = canvas.alt.Axis(**looks), canvas.alt.Scale(paddingInner=0.2)
    return getattr(canvas.alt, channel)(f"{canvas.field(header)}:N", sort=None, axis=axis, scale=scale)


def value_axis(canvas: Canvas, header: str, channel: str, zero: bool = False, end: str = "") -> Any:
    """An axis of numbers; ``zero`` includes 0, ``end`` is one end of the intervals (_low, _high)."""
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
    elif chart.columns[chart.at(header)].kind == "date":
        axis |= {"tickMinStep": 1, "labelExpr": f"utcFormat({DAY}, '%-d %b')", "labelOverlap": "greedy"}
    if channel == "X" and chart.form == "intervals" and len(names_of(chart, chart.y)) > LONG:
        axis["orient"] = "top"  # a page shows the upper part first
    field = f"{canvas.field(header)}{end}:Q"
    return getattr(alt, channel)(field, scale=alt.Scale(**scale), axis=alt.Axis(**axis), stack=None)


def log_scale(chart: Chart, header: str) -> bool:
    """True for a logarithmic axis: declared, and all values above 0."""
    if ("x" if header == chart.x else "y") not in chart.logs:
        return False
    at = chart.at(header)
    values = [row[at].value if isinstance(row[at], ValueRange) else row[at] for row in chart.rows]  # type: ignore[union-attr]
    numbers = [value for value in values if isinstance(value, int | float) and math.isfinite(value)]
    return bool(numbers) and min(numbers) > 0


def ticks(numbers: Sequence[float], chosen: bool = False) -> list[float]:
    """Return the ticks of a logarithmic axis: 1, 2 and 5 times powers of ten, or the numbers if these are few and ``chosen``.

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
    """True if panels need their own scales: on a common one some would vanish."""
    if not chart.panel or chart.limits or chart.guide == "equal" or chart.form == "heat":
        return False
    parts = [numbers_of(part, scale_of_values(chart)) for part in parts_of(chart)]
    sizes = [size for numbers in parts if (size := max(map(abs, numbers), default=0.0)) > 0]
    return bool(sizes) and max(sizes) > MIN_SCALE_RATIO * min(sizes)


def limits_of(chart: Chart, header: str) -> tuple[float, float] | None:
    """The known ends of an axis."""
    both = chart.guide == "equal" and header in {chart.x, chart.y}
    return chart.limits if both or header == scale_of_values(chart) else None


def domain_of(chart: Chart, header: str, zero: bool = False) -> list[float] | None:
    """Return the ends of an axis if they must be set: known ones, those shared by two axes, or 0."""
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
        low, high = max(low - edge, -sys.float_info.max), min(high + edge, sys.float_info.max)
    return [low, high] if high > low else [low - 0.5, high + 0.5]


class Series(NamedTuple):
    """The names of colours, and the look of each."""

    names: tuple[str, ...]
    colours: tuple[str, ...]
    shapes: tuple[str, ...]
    dashes: tuple[tuple[int, ...], ...]


def series_of(chart: Chart) -> Series | None:
    """Return the look of each series: its own colour for the first eight, grey for the rest; None without series."""
    names, palette = names_of(chart, chart.series), MUTED if chart.series == "metric" else PALETTE
    if not names:
        return None
    place = {safe(name): i for i, name in enumerate(chart.order or MEANINGS)}
    names = sorted(names, key=lambda name: place.get(name, len(place)))
    own = {name: place[name] for name in names if chart.order and place.get(name, len(palette)) < len(palette)}
    taken = {MEANINGS[name][0] for name in names if name in MEANINGS} | {palette[i] for i in own.values()}
    free = iter([i for i, colour in enumerate(palette) if colour not in taken])
    looks: list[tuple[str, str, tuple[int, ...]]] = []
    for name in names:
        at = own[name] if name in own else None if name in MEANINGS else next(free, None)
        colour, shape = (palette[at], SHAPES[at]) if at is not None else MEANINGS.get(name, (GREY, "circle"))
        looks.append((colour, shape, DASHES[at] if at is not None else (1, 0)))
    return Series(tuple(names), *zip(*looks, strict=True))


def _legend(canvas: Canvas, series: Series, **looks: Any) -> Any:
    """Return a legend in as many columns as fit, with the number of grey series."""
    chart, alt = canvas.chart, canvas.alt
    if chart.series in {chart.x, chart.y, chart.panel, chart.label}:
        return None
    grey = [n for n, colour in zip(series.names, series.colours, strict=True) if colour == GREY and n not in MEANINGS]
    shown = [name for name in series.names if name not in grey]
    looks |= {"title": safe(chart.series), "symbolOpacity": 1}
    if len(grey) > 1:
        looks["values"] = [*shown, grey[0]]
        looks["labelExpr"] = f"datum.label === {json.dumps(grey[0])} ? '{len(grey)} others' : datum.label"
    wide = min(max(map(len, shown), default=1), 26) * 7 + 44
    fitting: Any = {"expr": f"max(1, floor(((containerSize()[0] || 600) - 90) / {wide}))"}
    return alt.Legend(**looks, columns=max(1, (canvas.width - 60) // wide) if canvas.width else fitting)


def _differ(canvas: Canvas, names: Sequence[str], channel: str, looks: Sequence[Any], legend: Any) -> Any:
    """Return the encoding of series in a channel, like colour."""
    scale = canvas.alt.Scale(domain=list(names), range=list(looks))
    return getattr(canvas.alt, channel)(f"{canvas.field(canvas.chart.series)}:N", sort=None, legend=legend, scale=scale)


def colour_of(canvas: Canvas, form: str = "") -> dict[str, Any]:
    """Return the encodings of series: a colour and a ``form``, as colour is not enough for all eyes."""
    series = series_of(canvas.chart)
    if series is None:
        return {"color": canvas.alt.value(PALETTE[0])}
    looks: dict[str, Any] = {"symbolType": "stroke", "symbolSize": 400} if form in {"line", "dash"} else {}
    legend = _legend(canvas, series, **looks)
    encodings = {"color": _differ(canvas, series.names, "Color", series.colours, legend)}
    if form == "shape":
        encodings["shape"] = _differ(canvas, series.names, "Shape", series.shapes, legend)
    elif form == "dash":
        encodings["strokeDash"] = _differ(canvas, series.names, "StrokeDash", list(map(list, series.dashes)), legend)
    return encodings


def faint(canvas: Canvas, seen: float = 1.0) -> dict[str, Any]:
    """Return the opacity of a mark: lower in rows that are not ``marked``."""
    chart, alt = canvas.chart, canvas.alt
    if not chart.marked:
        return {"opacity": alt.value(seen)} if seen != 1.0 else {}
    test = f"datum['{canvas.field(chart.marked)}'] === 0"
    return {"opacity": alt.OpacityValue(seen, condition={"test": test, "value": 0.65 * seen})}


def labels(canvas: Canvas, x: Any, y: Any, middle: float | None) -> list[Any]:
    """Return the labels of marks: to the right in the left half (below ``middle``), otherwise to the left."""
    chart, alt = canvas.chart, canvas.alt
    if not chart.label:
        return []
    right = "false" if middle is None else f"datum['{canvas.field(chart.x)}'] > {middle!r}"
    place = {"align": {"expr": f"{right} ? 'right' : 'left'"}, "dx": {"expr": f"{right} ? -8 : 8"}}
    looks = {**place, "dy": -9, "style": "said", "limit": 130}
    text = alt.Text(f"{canvas.field(chart.label)}:N")
    return [canvas.plain("text", **looks).encode(x=x, y=y, text=text, **faint(canvas))]


def zero_line(canvas: Canvas, channel: str) -> list[Any]:
    """Return a line at the value 0."""
    if canvas.chart.guide != "zero" or log_scale(canvas.chart, getattr(canvas.chart, channel)):
        return []
    return [canvas.once("rule", style="reference").encode(**{channel: canvas.alt.datum(0)})]


def _beside(chart: Chart, header: str) -> int:
    """Return the number of series side by side for one name: 1 if each name has one row."""
    series = series_of(chart)
    if series is None or chart.series == header:
        return 1
    at, panel = chart.at(header), chart.at(chart.panel) if chart.panel else chart.at(header)
    keys = {(row[at], row[panel]) for row in chart.rows}
    return len(series.names) if len(keys) < len(chart.rows) else 1


def intervals(canvas: Canvas) -> Plot:
    """Draw a point and its interval with caps, one name per line."""
    chart, alt = canvas.chart, canvas.alt
    field, beside = canvas.field(chart.x), _beside(chart, chart.y)
    y = name_axis(canvas, chart.y, "Y", grid=True, zindex=0)
    place: dict[str, Any] = {"y": y, **faint(canvas)}
    if beside > 1:
        place["yOffset"] = alt.YOffset(f"{canvas.field(chart.series)}:N", sort=None)
    colour = colour_of(canvas, "shape")
    plain = {key: value for key, value in colour.items() if key == "color"}
    x = value_axis(canvas, chart.x, "X")
    layers = zero_line(canvas, "x")
    if has_intervals(chart, chart.x):
        low, high = (value_axis(canvas, chart.x, "X", end="_low"), value_axis(canvas, chart.x, "X", end="_high"))
        ends = canvas.mark("rule", strokeWidth=2).encode(x=low, x2=alt.X2(f"{field}_high:Q"), **place, **plain)
        cap = canvas.plain("tick", thickness=2, size=9, orient="vertical")
        layers += [ends, *(cap.encode(x=end, **place, **plain) for end in (low, high))]
    hollow: dict[str, Any] = {}
    if chart.marked:
        test = f"datum['{canvas.field(chart.marked)}'] === 0"
        hollow["fillOpacity"] = alt.FillOpacityValue(1, condition={"test": test, "value": 0})
        series, stroke = series_of(chart), alt.value(PALETTE[0])
        if series is not None:
            stroke = _differ(canvas, series.names, "Stroke", series.colours, _legend(canvas, series))
        hollow["stroke"] = stroke
    point = canvas.mark("point", filled=True, size=64, strokeWidth=2).encode(x=x, **place, **colour, **hollow)
    return [*layers, point, *labels(canvas, x, y, None)], (14 * beside + 10 if beside > 1 else 24)


def is_horizontal(chart: Chart) -> bool:
    """True if bars are horizontal, as names do not fit below upright ones."""
    names = names_of(chart, chart.x)
    longest = max(map(len, names), default=0)
    return len(names) > MAX_UPRIGHT_NAMES or longest > MAX_UPRIGHT_LENGTH or len(names) * _beside(chart, chart.x) > 36


def bars(canvas: Canvas) -> Plot:
    """Draw bars side by side: upright if names fit below, otherwise horizontal."""
    chart, alt = canvas.chart, canvas.alt
    names, beside, flat = names_of(chart, chart.x), _beside(chart, chart.x), is_horizontal(chart)
    along, across = ("Y", "X") if flat else ("X", "Y")
    slanted = not flat and sum(max(len(name), 3) for name in names) > (24 if chart.panel else 36)
    looks: dict[str, Any] = {"labelAngle": -40 if slanted else 0} if not flat else {}
    name = name_axis(canvas, chart.x, along, **looks)
    value = value_axis(canvas, chart.y, across, zero=True)
    place = {along.lower(): name, **faint(canvas)}
    if beside > 1:
        offset = alt.YOffset if flat else alt.XOffset
        place[f"{along.lower()}Offset"] = offset(f"{canvas.field(chart.series)}:N", sort=None)
    start = {} if log_scale(chart, chart.y) else {f"{across.lower()}2": alt.datum(0)}
    layers = [canvas.mark("bar").encode(**{across.lower(): value}, **start, **place, **colour_of(canvas))]
    if has_intervals(chart, chart.y):
        field = canvas.field(chart.y)
        low = value_axis(canvas, chart.y, across, zero=True, end="_low")
        end = {f"{across.lower()}2": getattr(alt, f"{across}2")(f"{field}_high:Q")}
        layers.append(canvas.plain("rule", style="end").encode(**{across.lower(): low}, **end, **place))
    if min(numbers_of(chart, chart.y), default=0) < 0 or chart.guide == "zero":
        layers.append(canvas.once("rule", style="reference").encode(**{across.lower(): alt.datum(0)}))
    return layers, (14 * beside + 8 if flat else -260)


def stack(canvas: Canvas) -> Plot:
    """Draw the counts of a name in one bar, with numbers if they fit."""
    chart, alt = canvas.chart, canvas.alt
    series = series_of(chart)
    field = canvas.field(chart.x)
    value = f"datum['{canvas.field(chart.series or chart.x)}']"
    counting: dict[str, Any] = {"orient": "top"} if 30 * len(names_of(chart, chart.y)) > UPPER else {}
    if chart.columns[chart.at(chart.x)].kind == "count":
        counting |= {"tickMinStep": 1, "format": ",d"}
    y = name_axis(canvas, chart.y, "Y")
    domain = domain_of(chart, chart.x) if limits_of(chart, chart.x) else None
    scale = alt.Scale(domain=domain, nice=False) if domain else alt.Scale(nice=False)
    x = alt.X(f"{field}:Q", stack="zero", scale=scale, axis=alt.Axis(title=safe(chart.x), **counting))
    place: dict[str, Any] = {"y": y, "x": x}
    if series is not None:
        place["order"] = alt.Order("place:Q")
    ranks = f"indexof({json.dumps(series.names if series else ())}, {value})"
    bar = canvas.mark("bar", style="part").encode(**place, **colour_of(canvas), **faint(canvas))
    room = 0.05 * max(_totals(chart).values(), default=0)
    place["x"] = alt.X(f"{field}:Q", stack="zero", bandPosition=0.5, scale=scale)
    label = f"datum['{field}'] > {room!r} ? format(datum['{field}'], ',.4~f') : ''"
    text = canvas.plain("text", fontSize=11).encode(**place, text=alt.TextValue({"expr": label}))
    text = text.encode(color=alt.ColorValue({"expr": ink_on(f"scale('color', {value})" if series else f"'{BLUE}'")}))
    if series is not None:
        bar, text = bar.transform_calculate(place=ranks), text.transform_calculate(place=ranks)
        text = text.encode(detail=alt.Detail(f"{canvas.field(chart.series)}:N"))
    return [bar, text], 30


def _totals(chart: Chart) -> dict[Any, float]:
    at, value, panel = chart.at(chart.y), chart.at(chart.x), chart.at(chart.panel or chart.y)
    totals: dict[Any, float] = {}
    for row in chart.rows:
        count = row[value]
        if isinstance(count, int | float) and math.isfinite(count):
            totals[row[at], row[panel]] = totals.get((row[at], row[panel]), 0.0) + count
    return totals


def heat(canvas: Canvas) -> Plot:
    """Draw cells with a value as colour, and as text if it fits."""
    chart, alt = canvas.chart, canvas.alt
    field = canvas.field(chart.colour)
    across, down = names_of(chart, chart.x), names_of(chart, chart.y)
    counts = chart.columns[chart.at(chart.colour)].kind == "count"
    dense = len(across) > 60
    long = len(across) > 12 or sum(max(map(len, across), default=0) + 1 for _ in across) > 60
    title = safe(chart.x) + (f" ({words.count(len(across))})" if dense else "")
    steps = ((30, 40), (20, 120), (14, 300))
    step = next((step for step, most in steps if len(down) <= most), max(1.0, 2400 / max(len(down), 1)))
    side = "top" if step * len(down) > UPPER else "bottom"
    angle = 40 if side == "top" else -40
    looks = {"labelAngle": angle if long else 0, "labelLimit": 110, "labels": not dense, "orient": side}
    x = name_axis(canvas, chart.x, "X", labelOverlap=True, title=title, **looks)
    y = name_axis(canvas, chart.y, "Y", labels=len(down) <= 200, labelOverlap=True)
    gap = 0.06 if len(across) <= 60 and len(down) <= 60 else 0
    empty = any(row[chart.at(chart.colour)] is None for row in chart.rows)  # cells without a colour would come last
    for axis, names in ((x, across), (y, down)):
        axis.scale = alt.Scale(paddingInner=gap, paddingOuter=0)
        axis.sort = names if empty else None
    legend = alt.Legend(title=safe(chart.colour), gradientLength=160, format="," if counts else ".2~f")
    colour = alt.Color(f"{field}:Q", scale=alt.Scale(**_shades(chart)), legend=legend)
    layers = [canvas.mark("rect").encode(x=x, y=y, color=colour)]
    if len(chart.rows) <= MAX_CELLS_WITH_TEXT and len(across) <= 12:
        how = ",.4~f" if counts else ".2f"
        ink = ink_on(f"scale('color', datum['{field}'])")
        label = f"isNumber(datum['{field}']) ? format(datum['{field}'], '{how}') : '–'"
        color = alt.ColorValue({"expr": f"isNumber(datum['{field}']) ? {ink} : '{GREY}'"})
        text = canvas.plain("text", fontSize=11)
        layers.append(text.encode(x=x, y=y, text=alt.TextValue({"expr": label}), color=color))
    return layers, step


def ink_on(paper: str) -> str:
    """Return an expression for the colour of letters on the colour ``paper``."""
    return f"luminance({paper}) > 0.18 ? '#10131a' : '#ffffff'"


def _shades(chart: Chart) -> dict[str, Any]:
    """Return the colours of values: from low to high, or diverging from the middle."""
    numbers = [*numbers_of(chart, chart.colour), *(chart.limits or ())]
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    if chart.middle is None:
        return {"domain": [low, high if high > low else low + 1.0], "range": "heatmap", "interpolate": "rgb"}
    far = max(high - chart.middle, chart.middle - low) or 1.0
    return {"domain": [chart.middle - far, chart.middle + far], "range": "diverging", "interpolate": "rgb"}


def ordered(canvas: Canvas) -> Plot:
    """Draw one bar per row from 0, side by side, or as lines if there are more than pixels."""
    chart, alt = canvas.chart, canvas.alt
    field = canvas.field(chart.x)
    places = numbers_of(chart, chart.x)
    y = value_axis(canvas, chart.y, "Y", zero=True)
    colour = colour_of(canvas)
    if series_of(chart) is None:
        test = f"datum['{canvas.field(chart.y)}'] < 0"
        colour = {"color": alt.ColorValue(BLUE, condition={"test": test, "value": ORANGE})}
    ends = [min(places, default=1) - 1, max(places, default=1) + 1]
    scale = alt.Scale(domain=ends, nice=False, zero=False)
    title = chart.columns[chart.at(chart.x)].hint or chart.x
    axis = alt.Axis(title=safe(title), grid=False, format=",d", tickMinStep=1)
    down = {} if log_scale(chart, chart.y) else {"y2": alt.datum(0)}
    if len(chart.rows) <= MAX_BARS:
        start, end = f"datum['{field}'] - 0.42", f"datum['{field}'] + 0.42"
        mark = canvas.mark("bar", minBandSize=1).transform_calculate(start=start, end=end)
        mark = mark.encode(x=alt.X("start:Q", scale=scale, axis=axis), x2="end:Q", y=y, **down)
    else:
        mark = canvas.mark("rule", strokeWidth=1.2 if len(chart.rows) > 500 else 2)
        mark = mark.encode(x=alt.X(f"{field}:Q", scale=scale, axis=axis), y=y, **down)
    base = [canvas.once("rule", style="reference").encode(y=alt.datum(0))] if down else []
    x = alt.X(f"{field}:Q", scale=scale, axis=axis)
    return [mark.encode(**colour, **faint(canvas)), *base, *labels(canvas, x, y, sum(ends) / 2)], -260


def points(canvas: Canvas) -> Plot:
    """Draw one point per row, with a line through some, and labels."""
    chart, alt = canvas.chart, canvas.alt
    x, y = value_axis(canvas, chart.x, "X"), value_axis(canvas, chart.y, "Y")
    layers = [*zero_line(canvas, "y"), *_diagonal(canvas)]
    if chart.most is not None:
        layers.append(canvas.once("rule", style="reference", strokeDash=[4, 4]).encode(x=alt.datum(chart.most)))
    if chart.fit is not None:
        ends = dict(zip(("x", "y", "x2", "y2"), map(alt.datum, chart.fit), strict=True))
        layers.append(canvas.once("rule", color=ORANGE, strokeWidth=2).encode(**ends))
    if chart.path:
        line = canvas.plain("line", style="joined").transform_filter(f"datum['{canvas.field(chart.path)}']")
        layers.append(line.encode(x=x, y=y, order=alt.Order(f"{canvas.field(chart.x)}:Q")))
    count = len(chart.rows)
    size = 70 if count <= 100 else 40 if count <= 1000 else 22
    seen = 0.9 if count <= 60 else 0.8 if count <= 300 else 0.65 if count <= 1000 else 0.5
    for channel, other in (("x", y), ("y", x)):
        header = getattr(chart, channel)
        if has_intervals(chart, header):
            ends = value_axis(canvas, header, channel.upper(), end="_low")
            high = getattr(alt, f"{channel.upper()}2")(f"{canvas.field(header)}_high:Q")
            rest = {channel: ends, f"{channel}2": high, "y" if channel == "x" else "x": other}
            rule = canvas.plain("rule", strokeWidth=1.5)
            layers.append(rule.encode(**rest, **colour_of(canvas), **faint(canvas, 0.6)))
    mark = canvas.mark("point", filled=True, size=size)
    layers.append(mark.encode(x=x, y=y, **colour_of(canvas, "shape"), **faint(canvas, seen)))
    return [*layers, *labels(canvas, x, y, _middle(canvas))], -340


def lines(canvas: Canvas) -> Plot:
    """Draw one line per series, with a band if values have intervals."""
    chart, alt = canvas.chart, canvas.alt
    level: dict[str, Any] = {"interpolate": "step-after"} if chart.form == "steps" else {}
    x, y = value_axis(canvas, chart.x, "X"), value_axis(canvas, chart.y, "Y")
    layers = [*zero_line(canvas, "y"), *_diagonal(canvas)]
    colour = colour_of(canvas, "line")
    series = series_of(chart)
    if has_intervals(chart, chart.y):
        low = value_axis(canvas, chart.y, "Y", end="_low")
        band = canvas.plain("area", opacity=0.14, line=False, **level)
        layers.append(band.encode(x=x, y=low, y2=alt.Y2(f"{canvas.field(chart.y)}_high:Q"), **colour))
    line = canvas.plain("line", strokeWidth=2.2 if len(chart.rows) <= MAX_HOVER_POINTS else 1.6, **level)
    layers.append(line.encode(x=x, y=y, **colour_of(canvas, "dash")))
    places = len(set(numbers_of(chart, chart.x)))
    if places <= MAX_DOTS and not level:
        point = canvas.mark("point", filled=True, size=34 if series is not None and len(series.names) > 1 else 40)
        layers.append(point.encode(x=x, y=y, **colour, **faint(canvas)))
    elif len(chart.rows) <= MAX_HOVER_POINTS:
        layers.append(canvas.mark("point", filled=True, size=90, opacity=0).encode(x=x, y=y, **colour))
    return [*layers, *labels(canvas, x, y, _middle(canvas))], -300


def _middle(canvas: Canvas) -> float | None:
    """Return the middle of x."""
    numbers = numbers_of(canvas.chart, canvas.chart.x)
    if not numbers:
        return None
    if log_scale(canvas.chart, canvas.chart.x):
        numbers = [number for number in numbers if number > 0] or [1.0]
        return math.sqrt(min(numbers)) * math.sqrt(max(numbers))
    return (min(numbers) + max(numbers)) / 2


def _diagonal(canvas: Canvas) -> list[Any]:
    """The line on which x and y are equal, from one end of both axes to the other."""
    chart, alt = canvas.chart, canvas.alt
    domain = domain_of(chart, chart.x) if chart.guide == "equal" else None
    if domain is None or log_scale(chart, chart.x) or log_scale(chart, chart.y):
        return []
    low, high = map(alt.datum, domain)
    return [canvas.once("rule", style="reference", strokeDash=[4, 4]).encode(x=low, y=low, x2=high, y2=high)]
