"""Charts in a terminal: bars, whiskers and scatter plots drawn with block characters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from rich.cells import cell_len

from rankscope import words
from rankscope.blocks import Block, Chart, Code, Column, Heading, Kind, Paragraph, Table, Value, ValueRange, plain_value
from rankscope.show.cells import numbers_in, sides_of, text_of
from rankscope.words import printable

GAP = 2  # columns of space between two of a table
EIGHTHS = " ▏▎▍▌▋▊▉"
HEAPS = "·oO●"  # one point, two or three, four to seven, eight or more
SHORTEST, LONGEST = 10, 60  # cells that a bar may have
MAX_ROWS = 20
NAME = 28  # as wide is a name
PARTS = "█▓▒░"  # parts of a whole, the first the darkest
HIGH, MIDDLE = 14, 60  # lines of a field of points, and cells across
Ends = tuple[float, float]


def bar(value: float | None, low: float, high: float, room: int) -> str:
    """Draw a bar from 0 to a value, on a line of ``room`` cells from ``low`` to ``high``; a stroke marks 0 if values are below it.

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
    """Draw a point in its interval; a stroke marks 0 if it is in range.

    >>> whisker(ValueRange(0.5, 0.25, 0.75), 0.0, 1.0, 11)
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
    if isinstance(value, ValueRange) and math.isfinite(value.lower) and math.isfinite(value.upper):
        left, right = cell_of(value.lower, low, high, room), cell_of(value.upper, low, high, room)
        cells[left : right + 1] = "─" * (right + 1 - left)
        cells[left], cells[right] = "├", "┤"
    cells[cell_of(point, low, high, room)] = "●"
    return "".join(cells).rstrip()


def heaps(points: Sequence[Ends], x: Ends, y: Ends, wide: int, high: int) -> list[str]:
    """Lines of signs, the uppermost first, each sign for how many points are in its cell.

    >>> heaps([(0.0, 0.0), (1.0, 1.0), (1.0, 1.0)], (0.0, 1.0), (0.0, 1.0), 3, 2)
    ['  o', '·']
    """
    counts = Counter((cell_of(up, *y, high), cell_of(across, *x, wide)) for across, up in points)
    signs = {at: HEAPS[min(len(HEAPS) - 1, int(math.log2(count)))] for at, count in counts.items()}
    return ["".join(signs.get((line, i), " ") for i in range(wide)).rstrip() for line in reversed(range(high))]


def cell_of(value: float, low: float, high: float, room: int) -> int:
    """The cell of a value on a line of ``room`` cells; the nearest one for a value beyond its ends."""
    if high <= low:
        return 0
    return min(room - 1, max(0, round((value - low) / (high - low) * (room - 1))))


def number_of(value: Value) -> float | None:
    """Return a finite number, or None."""
    value = plain_value(value)
    if value is None or isinstance(value, str) or not math.isfinite(value):
        return None
    return float(value)


def ends_of(values: Iterable[Value], limits: Ends | None = None, zero: bool = False) -> Ends:
    """Return the ends of a line for all values and intervals, including 0 with ``zero``."""
    numbers = [*(limits or ()), *([0.0] if zero else []), *(number for value in values for number in numbers_in(value))]
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    return (low, high) if high > low else (low, low + 1.0)


def room_beside(table: Table, width: int) -> int:
    """Return the width of bars next to a table with intervals; 0 if the rest is too narrow."""
    taken = 1
    for i, column in enumerate(table.columns):
        values = [printable(text_of(row[i], column.kind)) for row in table.rows]
        sides = max((len(sides_of(row[i])) for row in table.rows), default=0)
        taken += max(cell_len(column.header), max(map(cell_len, values), default=0) + (sides and sides + 1)) + GAP
    room = width - taken
    return min(LONGEST, room) if room >= SHORTEST else 0


def in_text(chart: Chart, width: int = 80) -> tuple[Block, ...]:
    """Return a chart as blocks no wider than ``width``: title, numbers with bars, caption.

    If there are too many rows, some are shown, and a line counts the others.

    >>> columns = (Column("rank", "count"), Column("1/rank", "value"))
    >>> chart = Chart("d", "Discount", "lines", columns, ((1, 1.0), (2, 0.5)), x="rank", y="1/rank")
    >>> in_text(chart, 30)[1].rows[1]
    (2, 0.5, '███████▌')
    """
    nothing = (Paragraph("nothing to show", quiet=True),)
    shown = FORMS[chart.form](chart, max(width, 30)) if chart.rows else nothing
    caption = (Paragraph(chart.caption, quiet=True),) if chart.caption else ()
    return (Heading(chart.title), *shown, *caption)


def _intervals(chart: Chart, width: int) -> tuple[Block, ...]:
    labels, values = _labels(chart, chart.y), _column(chart, chart.x)
    ends = ends_of(values, chart.limits, chart.guide == "zero")
    rows = [(*_shorten(row, labels, chart), value) for row, value in zip(chart.rows, values, strict=True)]
    table = _table(chart, labels, chart.x, rows)
    room = room_beside(table, width)
    return (_beside(table, [whisker(value, *ends, room) for value in values]),)


def _bars(chart: Chart, width: int) -> tuple[Block, ...]:
    """Draw one bar per row, or some of many; the position of an ordered one precedes it."""
    name = chart.query or chart.x
    labels = _labels(chart, chart.x, *([name] if name != chart.x else []))
    kept = _space(len(chart.rows)) if chart.form == "ordered" else range(min(len(chart.rows), 2 * MAX_ROWS))
    every = _column(chart, chart.y)
    ends, values = ends_of(every, chart.limits, True), [every[i] for i in kept]
    cells = [(*_shorten(chart.rows[i], labels, chart), every[i]) for i in kept]
    table = _with_bars(_table(chart, labels, chart.y, cells), values, ends, width)
    return (table, *_of(len(kept), len(chart.rows)))


def _stack(chart: Chart, width: int) -> tuple[Block, ...]:
    """Draw one row per name: the count of each series, and one bar of all."""
    labels = [header for header in (chart.panel, chart.y) if header]
    parts = _distinct(chart, chart.series) or [""]
    counts: dict[tuple[str, ...], dict[str, float]] = {}
    for row in chart.rows:
        part = _label(chart, row, chart.series) if chart.series else ""
        of = counts.setdefault(tuple(map(str, _shorten(row, labels, chart))), {})
        of[part] = of.get(part, 0.0) + (number_of(row[chart.at(chart.x)]) or 0.0)
    names = list(counts)[: 2 * MAX_ROWS]
    cells: list[tuple[Value, ...]] = [(*n, *(counts[n].get(part, 0.0) for part in parts)) for n in names]
    marks = [PARTS[i % len(PARTS)] for i in range(len(parts))]
    headers = [f"{part} {mark}".strip() for part, mark in zip(parts, marks, strict=True)]
    columns = (*(Column(header) for header in labels), *(Column(header, "count") for header in headers))
    table = Table(columns, tuple(cells))
    most = max(sum(of.values()) for of in counts.values()) or 1.0
    room = room_beside(table, width)
    drawn = []
    for name in names:
        heights = [sum(counts[name].get(p, 0.0) for p in parts[:i]) for i in range(len(parts) + 1)]
        ends = [round(height / most * room) for height in heights]
        drawn.append("".join(mark * (b - a) for mark, (a, b) in zip(marks, pairwise(ends), strict=True)))
    return (_beside(table, drawn), *_of(len(names), len(counts), "names"))


def _lines(chart: Chart, width: int) -> tuple[Block, ...]:
    """Values at some places on x: a bar each for one series, a table for several."""
    headers = [header for header in (chart.panel, chart.series) if header]
    names = [", ".join(_label(chart, row, header) for header in headers) for row in chart.rows]
    lines: dict[str, dict[float, Value]] = {name: {} for name in names}
    for name, row in zip(names, chart.rows, strict=True):
        if (x := number_of(row[chart.at(chart.x)])) is not None:
            lines[name][x] = row[chart.at(chart.y)]
    level = chart.form == "steps"
    there = sorted({x for line in lines.values() for x in line})
    places = _places(there, level)
    whole = [int(x) if x.is_integer() else x for x in places]
    of = () if level else _of(len(places), len(there), f"values of {chart.x}")
    if len(lines) == 1:
        values = [_value_at(line, x, level) for line in lines.values() for x in places]
        table = _table(chart, [chart.x], chart.y, list(zip(whole, values, strict=True)))
        return (_with_bars(table, values, ends_of(values, chart.limits, True), width), *of)
    columns = (Column(chart.x, _kind(chart, chart.x)), *(Column(_short(name), "value") for name in lines))
    rows = tuple(
        (number, *(plain_value(_value_at(line, x, level)) for line in lines.values()))
        for number, x in zip(whole, places, strict=True)
    )
    return (Table(columns, rows, turns=True), *of)


def _places(there: Sequence[float], level: bool) -> list[float]:
    """Return the values of x to show: all if they are few, otherwise evenly spaced, or denser at small ranks."""
    if len(there) <= MAX_ROWS:
        return list(there)
    if level:
        low, high = there[0], there[-1]
        return [*(low + (high - low) * i / 10 for i in range(10)), high]
    if all(x.is_integer() for x in there) and 0 <= there[0] <= 1:
        wanted = [s * 10**p for p in range(9) for s in (1, 2, 3, 4, 5, 7)]
        return sorted({there[0], there[-1], *(float(w) for w in wanted if float(w) in set(there))})
    return [there[i] for i in _space(len(there))]


def _value_at(line: dict[float, Value], x: float, level: bool) -> Value:
    """Return the value of a line at a position; for a step line the value before it."""
    if x in line or not level:
        return line.get(x)
    before = [place for place in line if place <= x]
    return line[max(before)] if before else None


def _points(chart: Chart, width: int) -> tuple[Block, ...]:
    """Draw a field of characters that count the points of a cell; few points also as a table."""
    pairs = [(number_of(row[chart.at(chart.x)]), number_of(row[chart.at(chart.y)])) for row in chart.rows]
    points = [(x, y) for x, y in pairs if x is not None and y is not None]
    plain = (Table(chart.columns, chart.rows[:MAX_ROWS]), *_of(min(len(chart.rows), MAX_ROWS), len(chart.rows)))
    return plain if len(chart.rows) <= MAX_ROWS or not points else (Code(_field(chart, points, width - 3)),)


def _field(chart: Chart, points: Sequence[tuple[float, float]], width: int) -> tuple[str, ...]:
    """Lines of text: y upwards with its ends, x to the right with its ends."""
    x = ends_of([x for x, _ in points], chart.limits if chart.guide == "equal" else None)
    y = ends_of([y for _, y in points], chart.limits)
    ends = {0: text_of(y[1]), HIGH - 1: text_of(y[0])}
    room = max(map(len, ends.values()))
    left = " " * (room + 2)
    wide = min(MIDDLE, max(16, width - room - 4))
    lines = heaps(points, x, y, wide, HIGH)
    across = _short(f"{text_of(x[0])}  {chart.x}", wide - 8)
    return (
        _short(chart.y),
        *(f"{ends.get(i, ''):>{room}} │{line}".rstrip() for i, line in enumerate(lines)),
        " " * room + " └" + "─" * wide,
        f"{left}{across:<{wide - 8}}{text_of(x[1]):>8}",
        f"{left}{HEAPS[0]} 1  {HEAPS[1]} 2+  {HEAPS[2]} 4+  {HEAPS[3]} 8+",
    )


def _heat(chart: Chart, width: int) -> tuple[Block, ...]:
    """A table of names by names, the longer list downwards."""
    down, across = chart.y, chart.x
    if len(_distinct(chart, across)) > len(_distinct(chart, down)):
        down, across = across, down
    at = chart.at(chart.colour)
    values = {(_label(chart, row, down), _label(chart, row, across)): plain_value(row[at]) for row in chart.rows}
    names, heads = _distinct(chart, down), _distinct(chart, across)
    kept = [names[i] for i in _space(len(names))]
    columns = (Column(down), *(Column(_short(head), _kind(chart, chart.colour)) for head in heads[:MAX_ROWS]))
    rows = tuple((_short(name), *(values.get((name, head)) for head in heads[:MAX_ROWS])) for name in kept)
    return (Table(columns, rows), *_of(len(kept), len(names)), *_of(min(len(heads), MAX_ROWS), len(heads), "columns"))


FORMS: dict[str, Callable[[Chart, int], tuple[Block, ...]]] = {
    "intervals": _intervals, "bars": _bars, "ordered": _bars, "stacked": _stack, "points": _points, "lines": _lines,
    "steps": _lines, "heat": _heat,
}  # fmt: skip


def _table(chart: Chart, labels: Sequence[str], value: str, rows: Sequence[tuple[Value, ...]]) -> Table:
    kinds = {column.header: column.kind for column in chart.columns}
    columns = (*(Column(header, kinds[header]) for header in labels), Column(value, _kind(chart, value)))
    return Table(columns, tuple(rows), unranged="The intervals do not fit here.")


def _beside(table: Table, drawn: Sequence[str]) -> Table:
    """Return a table with drawings in its last column, or without if they do not fit."""
    if not any(drawn):
        return table
    rows = tuple((*row, mark) for row, mark in zip(table.rows, drawn, strict=True))
    return replace(table, columns=(*table.columns, Column("")), rows=rows)


def _with_bars(table: Table, values: Sequence[Value], ends: Ends, width: int) -> Table:
    room = room_beside(table, width)
    return _beside(table, [bar(number_of(value), *ends, room) for value in values])


def _of(shown: int, there: int, what: str = "rows") -> tuple[Block, ...]:
    """Return a line with the number of shown rows."""
    line = Paragraph(f"{words.count(shown)} of {words.count(there)} {what} shown", quiet=True)
    return (line,) if shown < there else ()


def _space(count: int) -> Sequence[int]:
    """Return the places of at most ``MAX_ROWS`` rows, evenly spaced, with the first and the last."""
    return range(count) if count <= MAX_ROWS else [round(i * (count - 1) / (MAX_ROWS - 1)) for i in range(MAX_ROWS)]


def _labels(chart: Chart, *names: str) -> list[str]:
    return list(dict.fromkeys(header for header in (chart.panel, *names, chart.series) if header))


def _shorten(row: Sequence[Value], labels: Sequence[str], chart: Chart) -> tuple[str, ...]:
    return tuple(_short(_label(chart, row, header)) for header in labels)


def _label(chart: Chart, row: Sequence[Value], header: str) -> str:
    at = chart.at(header)
    return text_of(row[at], chart.columns[at].kind)


def _distinct(chart: Chart, header: str) -> list[str]:
    return list(dict.fromkeys(_label(chart, row, header) for row in chart.rows)) if header else []


def _column(chart: Chart, header: str) -> list[Value]:
    at = chart.at(header)
    return [row[at] for row in chart.rows]


def _kind(chart: Chart, header: str) -> Kind:
    kind = chart.columns[chart.at(header)].kind
    return "value" if kind == "text" else kind


def _short(text: str, room: int = NAME) -> str:
    """Cut a name to the available width."""
    text = printable(text)
    if cell_len(text) <= room:
        return text
    text = text[:room]
    while cell_len(text) >= room:
        text = text[:-1]
    return text + "…"
