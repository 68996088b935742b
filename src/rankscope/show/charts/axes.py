"""Axes of names and of numbers, and which part of the numbers they show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rankscope.blocks import Chart, Ranged
from rankscope.show.charts.canvas import Canvas
from rankscope.show.charts.data import numbers_of, parts_of, safe

APART = 5.0  # panels whose values reach so many times as far as those of another have scales of their own


def name_axis(canvas: Canvas, header: str, channel: str, **looks: Any) -> Any:
    """An axis of names, in the order of the rows, cut where they are long."""
    most = 180 if canvas.width is None else max(90, min(180, round(canvas.width * 0.3)))
    limit = most if canvas.width else {"expr": f"max(90, min({most}, 0.3 * (containerSize()[0] || 600)))"}
    if canvas.chart.panel:
        limit = 110
    looks = {"labelLimit": limit, "title": None if channel == "Y" else safe(header), **looks}
    return getattr(canvas.alt, channel)(
        f"{canvas.field(header)}:N",
        sort=None,
        axis=canvas.alt.Axis(**looks),
        scale=canvas.alt.Scale(paddingInner=0.2),
    )


def value_axis(canvas: Canvas, header: str, channel: str, zero: bool = False, end: str = "") -> Any:
    """An axis of numbers; ``zero`` says that 0 is on it, ``end`` that it is of one end of the intervals (_low, _high)."""
    chart, alt = canvas.chart, canvas.alt
    log = logged(chart, header)
    domain = domain_of(chart, header, zero and not log)
    scale: dict[str, Any] = {} if log else {"zero": False}
    axis: dict[str, Any] = {"title": safe(header), "titleLimit": 300}
    if chart.form in {"points", "intervals"} and limits_of(chart, header) is None:
        scale["padding"] = 8
    if log:
        above = [number for number in numbers_of(chart, header) if number > 0]
        scale |= {"type": "log", "domain": [min(above), max(above)], "nice": False, "clamp": True}
        axis |= {
            "format": "~r",
            "values": ticks(above, chart.form in {"lines", "steps"}),
            "labelOverlap": "greedy",
        }
    elif apart(chart) and header == valued(chart):
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


def logged(chart: Chart, header: str) -> bool:
    """Whether an axis is logarithmic: where that was asked for and all values are above 0, so that none is lost."""
    if ("x" if header == chart.x else "y") not in chart.logs:
        return False
    at = chart.at(header)
    values = [row[at].value if isinstance(row[at], Ranged) else row[at] for row in chart.rows]  # type: ignore[union-attr]
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


def valued(chart: Chart) -> str:
    """The header of the value that ``limits`` and the guide at zero are about."""
    if chart.form == "heat":
        return chart.colour
    return chart.x if chart.form in {"intervals", "stacked"} else chart.y


def apart(chart: Chart) -> bool:
    """Whether panels have scales of their own: their values are of different sizes, so that one scale would hide some."""
    if not chart.panel or chart.limits or chart.guide == "equal" or chart.form == "heat":
        return False
    parts = [numbers_of(part, valued(chart)) for part in parts_of(chart)]
    sizes = [size for numbers in parts if (size := max(map(abs, numbers), default=0.0)) > 0]
    return bool(sizes) and max(sizes) > APART * min(sizes)


def limits_of(chart: Chart, header: str) -> tuple[float, float] | None:
    """The known ends of an axis."""
    both = chart.guide == "equal" and header in {chart.x, chart.y}
    return chart.limits if both or header == valued(chart) else None


def domain_of(chart: Chart, header: str, zero: bool = False) -> list[float] | None:
    """The ends of an axis where they must be said: known ones, those that two axes share, and where 0 belongs to them."""
    same = chart.guide == "equal"
    numbers = [n for h in ((chart.x, chart.y) if same else (header,)) for n in numbers_of(chart, h)]
    limits = limits_of(chart, header)
    zero = zero or (chart.guide == "zero" and header == valued(chart))
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
