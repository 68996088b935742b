"""What marks look like: colours and shapes of series, fainter rows, labels, lines to compare with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from rankscope.blocks import Chart
from rankscope.show.charts.axes import logged
from rankscope.show.charts.canvas import Canvas
from rankscope.show.charts.data import names_of, safe
from rankscope.show.charts.theme import DASHES, GREY, MEANT, PALETTE, SHAPES


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
    taken = {MEANT[name][0] for name in names if name in MEANT} | {PALETTE[i] for i in own.values()}
    free = iter([i for i, colour in enumerate(PALETTE) if colour not in taken])
    colours, shapes, dashes = [], [], []
    for name in names:
        at = own[name] if name in own else None if name in MEANT else next(free, None)
        colour, shape = (PALETTE[at], SHAPES[at]) if at is not None else MEANT.get(name, (GREY, "circle"))
        colours.append(colour)
        shapes.append(shape)
        dashes.append(DASHES[at] if at is not None else (1, 0))
    return Series(chart.series, tuple(names), tuple(colours), tuple(shapes), tuple(dashes))


def _legend(canvas: Canvas, series: Series, **looks: Any) -> Any:
    """A legend in as many columns as there is room for, which says how many series are grey for want of colours."""
    chart, alt = canvas.chart, canvas.alt
    if series.header in {chart.x, chart.y, chart.panel, chart.label}:
        return None
    grey = [
        n for n, colour in zip(series.names, series.colours, strict=True) if colour == GREY and n not in MEANT
    ]
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


def coloured(canvas: Canvas, form: str = "", plain: str = PALETTE[0]) -> dict[str, Any]:
    """The encodings of series: a colour, and beside it a ``form``, for colour never tells alone.

    A form is ``shape``, ``dash``, or ``line``: the colour of what goes with lines that have dashes.
    """
    alt, series = canvas.alt, series_of(canvas.chart)
    if series is None:
        return {"color": alt.value(plain)}
    looks: dict[str, Any] = {"symbolType": "stroke", "symbolSize": 400} if form in {"line", "dash"} else {}
    legend, field = _legend(canvas, series, **looks), f"{canvas.field(series.header)}:N"
    names = list(series.names)
    color = alt.Color(
        field, sort=None, legend=legend, scale=alt.Scale(domain=names, range=list(series.colours))
    )
    if form == "shape":
        scale = alt.Scale(domain=names, range=list(series.shapes))
        return {"color": color, "shape": alt.Shape(field, sort=None, legend=legend, scale=scale)}
    if form == "dash":
        scale = alt.Scale(domain=names, range=[list(dash) for dash in series.dashes])
        return {"color": color, "strokeDash": alt.StrokeDash(field, sort=None, legend=legend, scale=scale)}
    return {"color": color}


def outlined(canvas: Canvas) -> Any:
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
        canvas.plain("text", **looks).encode(
            x=x, y=y, text=alt.Text(f"{canvas.field(chart.label)}:N"), **faint(canvas)
        )
    ]


def zero_line(canvas: Canvas, channel: str) -> list[Any]:
    """A line where the value is 0."""
    if canvas.chart.guide != "zero" or logged(canvas.chart, getattr(canvas.chart, channel)):
        return []
    return [canvas.once("rule", style="reference").encode(**{channel: canvas.alt.datum(0)})]
