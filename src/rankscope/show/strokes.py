"""Bars, whiskers and fields of points, drawn with the block characters of a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rich.cells import cell_len

from rankscope.blocks import Ranged, Table, Value, Written
from rankscope.show.cells import printable, sides_of, text_of
from rankscope.show.grid import GAP

EIGHTHS = " ▏▎▍▌▋▊▉"
HEAPS = "·oO●"  # one point, two or three, four to seven, eight or more
LEAST, MOST = 10, 60  # cells that a bar may have


def bar(value: float | None, low: float, high: float, room: int) -> str:
    """A bar from 0 to a value, on a line of ``room`` cells from ``low`` to ``high``; a stroke stands at 0 if some are below it.

    >>> bar(0.5, 0.0, 1.0, 10), bar(-0.5, -1.0, 1.0, 10), bar(1.0, -1.0, 1.0, 10)
    ('█████', '  ██│', '    │█████')
    """
    if value is None or room < 1:
        return ""
    if low >= 0:
        cells = value / (high or 1.0) * room
        full = int(cells)
        return ("█" * full + EIGHTHS[int((cells - full) * 8)]).rstrip() or ("▏" if value > 0 else "")
    zero = cell_of(0.0, low, high, room)
    if value < 0:
        long = max(1, round(value / low * zero))
        return " " * (zero - long) + "█" * long + "│"
    long = max(1, round(value / high * (room - zero - 1))) if value > 0 else 0
    return " " * zero + "│" + "█" * long


def whisker(value: Value, low: float, high: float, room: int) -> str:
    """A point in its interval; a stroke stands at 0 where that is within.

    >>> whisker(Ranged(0.5, 0.25, 0.75), 0.0, 1.0, 11)
    '│ ├──●──┤'
    """
    if room < 1:
        return ""
    cells = [" "] * room
    if low <= 0 <= high:
        cells[cell_of(0.0, low, high, room)] = "│"
    point = number_of(value)
    if point is None:
        return "".join(cells).rstrip()
    if isinstance(value, Ranged) and math.isfinite(value.lower) and math.isfinite(value.upper):
        left, right = cell_of(value.lower, low, high, room), cell_of(value.upper, low, high, room)
        cells[left : right + 1] = "─" * (right + 1 - left)
        cells[left], cells[right] = "├", "┤"
    cells[cell_of(point, low, high, room)] = "●"
    return "".join(cells).rstrip()


def heaps(
    points: Sequence[tuple[float, float]],
    x: tuple[float, float],
    y: tuple[float, float],
    wide: int,
    high: int,
) -> list[str]:
    """Lines of signs, the uppermost first, each sign for how many points are in its cell.

    >>> heaps([(0.0, 0.0), (1.0, 1.0), (1.0, 1.0)], (0.0, 1.0), (0.0, 1.0), 3, 2)
    ['  o', '·']
    """
    counts: dict[tuple[int, int], int] = {}
    for across, up in points:
        at = (cell_of(up, *y, high), cell_of(across, *x, wide))
        counts[at] = counts.get(at, 0) + 1
    signs = {at: HEAPS[min(len(HEAPS) - 1, int(math.log2(count)))] for at, count in counts.items()}
    return [
        "".join(signs.get((line, i), " ") for i in range(wide)).rstrip() for line in reversed(range(high))
    ]


def cell_of(value: float, low: float, high: float, room: int) -> int:
    """The cell of a value on a line of ``room`` cells; the nearest one for a value beyond its ends."""
    if high <= low:
        return 0
    return min(room - 1, max(0, round((value - low) / (high - low) * (room - 1))))


def number_of(value: Value) -> float | None:
    """A finite number, or None."""
    value = value.value if isinstance(value, Ranged | Written) else value
    if value is None or isinstance(value, str) or not math.isfinite(value):
        return None
    return float(value)


def ends_of(
    values: Iterable[Value], limits: tuple[float, float] | None = None, zero: bool = False
) -> tuple[float, float]:
    """The ends of a line that all values are on, ends of intervals too; ``zero`` says that 0 is."""
    found = [*(limits or ()), *([0.0] if zero else [])]
    for value in values:
        parts = (value.value, value.lower, value.upper) if isinstance(value, Ranged) else (value,)
        found += [number for part in parts if (number := number_of(part)) is not None]
    low, high = min(found, default=0.0), max(found, default=1.0)
    return (low, high) if high > low else (low, low + 1.0)


def room_beside(table: Table, width: int) -> int:
    """How many cells a bar may have beside a table with its intervals: none where too few are left to tell anything."""
    taken = 1
    for i, column in enumerate(table.columns):
        values = [printable(text_of(row[i], column.kind)) for row in table.rows]
        sides = max((len(sides_of(row[i])) for row in table.rows), default=0)
        taken += (
            max(cell_len(column.header), max(map(cell_len, values), default=0) + (sides and sides + 1)) + GAP
        )
    room = width - taken
    return min(MOST, room) if room >= LEAST else 0
