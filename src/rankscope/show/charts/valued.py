"""Charts of values: points, lines, steps, and bars in order with no room for names."""

from __future__ import annotations

import math
from typing import Any

from rankscope.show.charts.axes import domain_of, logged, value_axis
from rankscope.show.charts.canvas import Canvas
from rankscope.show.charts.data import numbers_of, ranged, safe
from rankscope.show.charts.looks import coloured, faint, labels, series_of, zero_line
from rankscope.show.charts.named import Drawn
from rankscope.show.charts.theme import BLUE, ORANGE

HOVERED = 2000  # as many rows of a line chart have a point each to point at
DOTTED = 25  # as many places on x have their points shown
WIDE = 160  # as many bars in order have room to stand side by side


def ordered(canvas: Canvas) -> Drawn:
    """A bar a row from 0: side by side, or as lines where there are more of them than pixels."""
    chart, alt = canvas.chart, canvas.alt
    field = canvas.field(chart.x)
    places = numbers_of(chart, chart.x)
    y = value_axis(canvas, chart.y, "Y", zero=True)
    colour = coloured(canvas)
    if series_of(chart) is None:
        test = f"datum['{canvas.field(chart.y)}'] < 0"
        colour = {"color": alt.ColorValue(BLUE, condition={"test": test, "value": ORANGE})}
    ends = [min(places, default=1) - 1, max(places, default=1) + 1]
    scale = alt.Scale(domain=ends, nice=False, zero=False)
    axis = alt.Axis(title=safe(chart.x), grid=False, format=",d", tickMinStep=1)
    down = {} if logged(chart, chart.y) else {"y2": alt.datum(0)}
    if canvas.size <= WIDE:
        gap = 0.42
        start, end = f"datum['{field}'] - {gap}", f"datum['{field}'] + {gap}"
        mark = canvas.mark("bar", minBandSize=1).transform_calculate(start=start, end=end)
        mark = mark.encode(x=alt.X("start:Q", scale=scale, axis=axis), x2="end:Q", y=y, **down)
    else:
        mark = canvas.mark("rule", strokeWidth=1.2 if canvas.size > 500 else 2)
        mark = mark.encode(x=alt.X(f"{field}:Q", scale=scale, axis=axis), y=y, **down)
    base = canvas.once("rule", style="reference").encode(y=alt.datum(0))
    base = [] if logged(chart, chart.y) else [base]
    x = alt.X(f"{field}:Q", scale=scale, axis=axis)
    return [mark.encode(**colour, **faint(canvas)), *base, *labels(canvas, x, y, sum(ends) / 2)], -260


def points(canvas: Canvas) -> Drawn:
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
        if ranged(chart, header):
            ends = value_axis(canvas, header, channel.upper(), end="_low")
            high = getattr(alt, f"{channel.upper()}2")(f"{canvas.field(header)}_high:Q")
            rest = {channel: ends, f"{channel}2": high, "y" if channel == "x" else "x": other}
            layers.append(
                canvas.plain("rule", strokeWidth=1.5).encode(**rest, **coloured(canvas), **faint(canvas, 0.6))
            )
    mark = canvas.mark("point", filled=True, size=size)
    layers.append(mark.encode(x=x, y=y, **coloured(canvas, "shape"), **faint(canvas, seen)))
    return [*layers, *labels(canvas, x, y, _middle(canvas))], -340


def lines(canvas: Canvas) -> Drawn:
    """A line a series, with a band where values have intervals."""
    chart, alt = canvas.chart, canvas.alt
    level: dict[str, Any] = {"interpolate": "step-after"} if chart.form == "steps" else {}
    x, y = value_axis(canvas, chart.x, "X"), value_axis(canvas, chart.y, "Y")
    layers = [*zero_line(canvas, "y"), *_diagonal(canvas)]
    colour = coloured(canvas, "line")
    series = series_of(chart)
    if ranged(chart, chart.y):
        low = value_axis(canvas, chart.y, "Y", end="_low")
        band = canvas.plain("area", opacity=0.14, line=False, **level)
        layers.append(band.encode(x=x, y=low, y2=alt.Y2(f"{canvas.field(chart.y)}_high:Q"), **colour))
    line = canvas.plain("line", strokeWidth=2.2 if canvas.size <= HOVERED else 1.6, **level)
    layers.append(line.encode(x=x, y=y, **coloured(canvas, "dash")))
    places = len(set(numbers_of(chart, chart.x)))
    if places <= DOTTED and not level:
        many = series is not None and len(series.names) > 1
        layers.append(
            canvas.mark("point", filled=True, size=34 if many else 40).encode(
                x=x, y=y, **colour, **faint(canvas)
            )
        )
    elif canvas.size <= HOVERED:
        layers.append(canvas.mark("point", filled=True, size=90, opacity=0).encode(x=x, y=y, **colour))
    return [*layers, *labels(canvas, x, y, _middle(canvas))], -300


def _middle(canvas: Canvas) -> float | None:
    """Where the left half of x ends."""
    numbers = numbers_of(canvas.chart, canvas.chart.x)
    if not numbers:
        return None
    if logged(canvas.chart, canvas.chart.x):
        numbers = [number for number in numbers if number > 0] or [1.0]
        return math.sqrt(min(numbers)) * math.sqrt(max(numbers))
    return (min(numbers) + max(numbers)) / 2


def _diagonal(canvas: Canvas) -> list[Any]:
    """The line on which x and y are equal, from one end of both axes to the other."""
    chart, alt = canvas.chart, canvas.alt
    domain = domain_of(chart, chart.x) if chart.guide == "equal" else None
    if domain is None or logged(chart, chart.x) or logged(chart, chart.y):
        return []
    low, high = map(alt.datum, domain)
    return [canvas.once("rule", style="reference", strokeDash=[4, 4]).encode(x=low, y=low, x2=high, y2=high)]
