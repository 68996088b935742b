"""The marks of each form of chart: intervals, bars, stacks, heat, points and lines."""

from __future__ import annotations

import json
import math
from typing import Any

from rankscope import words
from rankscope.blocks import Chart
from rankscope.show.charts.canvas import (
    Canvas,
    colour_of,
    domain_of,
    faint,
    labels,
    limits_of,
    log_scale,
    name_axis,
    outline,
    series_of,
    value_axis,
    zero_line,
)
from rankscope.show.charts.data import has_intervals, names_of, numbers_of, safe
from rankscope.show.charts.theme import BLUE, GREY, ORANGE

UPRIGHT = (14, 16)  # as many names, as long, have room below upright bars
WRITTEN = 150  # as many cells of a heat chart have their values written in
Plot = tuple[list[Any], float]
"""Layers, from the lowest up, and the height of the plot in pixels."""


def _beside(chart: Chart, header: str) -> int:
    """How many series stand side by side for one name: 1 where each name has one row only."""
    series = series_of(chart)
    if series is None or chart.series == header:
        return 1
    at, panel = chart.at(header), chart.at(chart.panel) if chart.panel else chart.at(header)
    keys = {(row[at], row[panel]) for row in chart.rows}
    return len(series.names) if len(keys) < len(chart.rows) else 1


def intervals(canvas: Canvas) -> Plot:
    """A point and its interval with caps at both ends, a name a line."""
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
        caps = [
            canvas.plain("tick", thickness=2, size=9, orient="vertical").encode(x=end, **place, **plain)
            for end in (low, high)
        ]
        layers += [ends, *caps]
    hollow: dict[str, Any] = {}
    if chart.marked:
        test = f"datum['{canvas.field(chart.marked)}'] === 0"
        hollow["fillOpacity"] = alt.FillOpacityValue(1, condition={"test": test, "value": 0})
        hollow["stroke"] = outline(canvas)
    point = canvas.mark("point", filled=True, size=64, strokeWidth=2).encode(x=x, **place, **colour, **hollow)
    return [*layers, point, *labels(canvas, x, y, None)], (14 * beside + 10 if beside > 1 else 24)


def lying(chart: Chart) -> bool:
    """Whether bars lie on their sides, for their names have no room below them."""
    names = names_of(chart, chart.x)
    longest = max(map(len, names), default=0)
    return len(names) > UPRIGHT[0] or longest > UPRIGHT[1] or len(names) * _beside(chart, chart.x) > 36


def bars(canvas: Canvas) -> Plot:
    """Bars side by side, upright where names have room below them, else lying."""
    chart, alt = canvas.chart, canvas.alt
    names, beside, flat = names_of(chart, chart.x), _beside(chart, chart.x), lying(chart)
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
    """Counts of a name one after the other, written where there is room."""
    chart, alt = canvas.chart, canvas.alt
    series = series_of(chart)
    field = canvas.field(chart.x)
    value = f"datum['{canvas.field(chart.series or chart.x)}']"
    counting = {"tickMinStep": 1, "format": ",d"} if chart.columns[chart.at(chart.x)].kind == "count" else {}
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
    text = canvas.plain("text", fontSize=11).encode(
        **{**place, "x": alt.X(f"{field}:Q", stack="zero", bandPosition=0.5, scale=scale)}
    )
    text = text.encode(
        text=alt.TextValue({"expr": f"datum['{field}'] > {room!r} ? format(datum['{field}'], ',.4~f') : ''"})
    )
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
    """Cells with a value as colour, and as text where there is room for it."""
    chart, alt = canvas.chart, canvas.alt
    field = canvas.field(chart.colour)
    across, down = names_of(chart, chart.x), names_of(chart, chart.y)
    counts = chart.columns[chart.at(chart.colour)].kind == "count"
    dense = len(across) > 60
    long = len(across) > 12 or sum(max(map(len, across), default=0) + 1 for _ in across) > 60
    title = safe(chart.x) + (f" ({words.count(len(across))})" if dense else "")
    x = name_axis(
        canvas,
        chart.x,
        "X",
        labelAngle=-40 if long else 0,
        labelLimit=110,
        labels=not dense,
        labelOverlap=True,
        orient="bottom",
        title=title,
    )
    y = name_axis(canvas, chart.y, "Y", labels=len(down) <= 200, labelOverlap=True)
    gap = 0.06 if len(across) <= 60 and len(down) <= 60 else 0
    for axis in (x, y):
        axis.scale = alt.Scale(paddingInner=gap, paddingOuter=0)
    legend = alt.Legend(title=safe(chart.colour), gradientLength=160, format="," if counts else ".2~f")
    colour = alt.Color(f"{field}:Q", scale=alt.Scale(**_shades(chart)), legend=legend)
    layers = [canvas.mark("rect").encode(x=x, y=y, color=colour)]
    if len(chart.rows) <= WRITTEN and len(across) <= 12:
        how = ",.4~f" if counts else ".2f"
        ink = ink_on(f"scale('color', datum['{field}'])")
        said = f"isNumber(datum['{field}']) ? format(datum['{field}'], '{how}') : '–'"
        text = canvas.plain("text", fontSize=11).encode(
            x=x,
            y=y,
            text=alt.TextValue({"expr": said}),
            color=alt.ColorValue({"expr": f"isNumber(datum['{field}']) ? {ink} : '{GREY}'"}),
        )
        layers.append(text)
    steps = ((30, 40), (20, 120), (14, 300))
    return layers, next((step for step, most in steps if len(down) <= most), max(1.0, 2400 / max(len(down), 1)))


def ink_on(paper: str) -> str:
    """An expression for the colour of letters that are read on the colour of another one."""
    return f"luminance({paper}) > 0.18 ? '#10131a' : '#ffffff'"


def _shades(chart: Chart) -> dict[str, Any]:
    """The colours of values: from little to much, or parted at the middle and as far to both sides."""
    numbers = numbers_of(chart, chart.colour)
    if chart.limits:
        numbers = [*numbers, *chart.limits]
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    if chart.middle is None:
        return {"domain": [low, high if high > low else low + 1.0], "range": "heatmap", "interpolate": "rgb"}
    far = max(high - chart.middle, chart.middle - low) or 1.0
    return {"domain": [chart.middle - far, chart.middle + far], "range": "diverging", "interpolate": "rgb"}


# --- charts of values: points, lines, steps, and bars in order with no room for names ------------------


MOST_HOVER_POINTS = 2000  # as many rows of a line chart have a point each to point at
MOST_DOTS = 25  # as many places on x have their points shown
WIDE = 160  # as many bars in order have room to stand side by side


def ordered(canvas: Canvas) -> Plot:
    """A bar a row from 0: side by side, or as lines where there are more of them than pixels."""
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
    if canvas.size <= WIDE:
        gap = 0.42
        start, end = f"datum['{field}'] - {gap}", f"datum['{field}'] + {gap}"
        mark = canvas.mark("bar", minBandSize=1).transform_calculate(start=start, end=end)
        mark = mark.encode(x=alt.X("start:Q", scale=scale, axis=axis), x2="end:Q", y=y, **down)
    else:
        mark = canvas.mark("rule", strokeWidth=1.2 if canvas.size > 500 else 2)
        mark = mark.encode(x=alt.X(f"{field}:Q", scale=scale, axis=axis), y=y, **down)
    base = canvas.once("rule", style="reference").encode(y=alt.datum(0))
    base = [] if log_scale(chart, chart.y) else [base]
    x = alt.X(f"{field}:Q", scale=scale, axis=axis)
    return [mark.encode(**colour, **faint(canvas)), *base, *labels(canvas, x, y, sum(ends) / 2)], -260


def points(canvas: Canvas) -> Plot:
    """A point a row, with a line through some of them, and what is written beside."""
    chart, alt = canvas.chart, canvas.alt
    x, y = value_axis(canvas, chart.x, "X"), value_axis(canvas, chart.y, "Y")
    layers = [*zero_line(canvas, "y"), *_diagonal(canvas)]
    if chart.path:
        test = f"datum['{canvas.field(chart.path)}']"
        layers.append(
            canvas.plain("line", style="joined")
            .transform_filter(test)
            .encode(x=x, y=y, order=alt.Order(f"{canvas.field(chart.x)}:Q"))
        )
    size = 70 if canvas.size <= 100 else 40 if canvas.size <= 1000 else 22
    seen = 0.9 if canvas.size <= 60 else 0.8 if canvas.size <= 300 else 0.65 if canvas.size <= 1000 else 0.5
    for channel, other in (("x", y), ("y", x)):
        header = getattr(chart, channel)
        if has_intervals(chart, header):
            ends = value_axis(canvas, header, channel.upper(), end="_low")
            high = getattr(alt, f"{channel.upper()}2")(f"{canvas.field(header)}_high:Q")
            rest = {channel: ends, f"{channel}2": high, "y" if channel == "x" else "x": other}
            layers.append(
                canvas.plain("rule", strokeWidth=1.5).encode(**rest, **colour_of(canvas), **faint(canvas, 0.6))
            )
    mark = canvas.mark("point", filled=True, size=size)
    layers.append(mark.encode(x=x, y=y, **colour_of(canvas, "shape"), **faint(canvas, seen)))
    return [*layers, *labels(canvas, x, y, _middle(canvas))], -340


def lines(canvas: Canvas) -> Plot:
    """A line a series, with a band where values have intervals."""
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
    line = canvas.plain("line", strokeWidth=2.2 if canvas.size <= MOST_HOVER_POINTS else 1.6, **level)
    layers.append(line.encode(x=x, y=y, **colour_of(canvas, "dash")))
    places = len(set(numbers_of(chart, chart.x)))
    if places <= MOST_DOTS and not level:
        many = series is not None and len(series.names) > 1
        layers.append(
            canvas.mark("point", filled=True, size=34 if many else 40).encode(x=x, y=y, **colour, **faint(canvas))
        )
    elif canvas.size <= MOST_HOVER_POINTS:
        layers.append(canvas.mark("point", filled=True, size=90, opacity=0).encode(x=x, y=y, **colour))
    return [*layers, *labels(canvas, x, y, _middle(canvas))], -300


def _middle(canvas: Canvas) -> float | None:
    """Where the left half of x ends."""
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
