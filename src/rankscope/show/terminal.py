"""Blocks as text for a terminal, plain or with a little colour; tables upright, transposed, or in several parts."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from itertools import pairwise
from typing import Any

from rich.cells import cell_len

from rankscope.blocks import Block, Chart, Code, Facts, Heading, Notes, Paragraph, Table
from rankscope.show.cells import note_text, sides_of, values_of
from rankscope.show.terminal_charts import GAP, in_text
from rankscope.words import printable

TIED = "\N{NO-BREAK SPACE}"
P_VALUE = re.compile(r"\bp [=<] \d")
WIDEST = 100  # running text is not read well beyond
BOLD, DIM, YELLOW, OFF = "\x1b[1m", "\x1b[2m", "\x1b[33m", "\x1b[0m"


@dataclass(frozen=True)
class _Paint:
    """Escape codes, or nothing; the available width, and the width of running text."""

    colour: bool
    width: int
    reading: int

    def __call__(self, text: str, code: str) -> str:
        return f"{code}{text}{OFF}" if self.colour and code and text.strip() else text


def render(blocks: Sequence[Block | Chart], width: int = 80, colour: bool = False) -> str:
    r"""Render blocks one below the other, no line wider than ``width`` if possible.

    >>> from rankscope.blocks import Paragraph
    >>> render([Paragraph("30 judged queries")])
    ' 30 judged queries\n'
    """
    width = max(width, 20)
    paint = _Paint(colour, width, min(width, WIDEST))
    return "".join(line.rstrip() + "\n" for block in blocks for line in _lines_of(block, paint))


@singledispatch
def _lines_of(block: Any, paint: _Paint) -> Iterator[str]:
    raise TypeError(f"no block: {block!r}")


@_lines_of.register
def _prose(block: Paragraph | Heading, paint: _Paint) -> Iterator[str]:
    yield from [] if block.text else [""]
    code = BOLD if isinstance(block, Heading) else DIM if block.quiet else ""
    for line in _wrap(printable(block.text), paint.reading, " ", " "):
        yield paint(line, code)


@_lines_of.register
def _notes(block: Notes, paint: _Paint) -> Iterator[str]:
    for note in block.items:
        lines = _wrap(printable(note_text(note)), paint.reading, " ▲ ", "   ")
        for line in lines:
            yield line.replace("▲", paint("▲", YELLOW), 1) if line is lines[0] else line


@_lines_of.register
def _facts(block: Facts, paint: _Paint) -> Iterator[str]:
    items = [(printable(term), printable(text)) for term, text in block.items]
    indent = max(min(max((cell_len(term) for term, _ in items), default=0), 24), block.room) + 3
    for term, text in items:
        lines = _wrap(text, paint.reading, " " * indent, " " * indent) or [""]
        if cell_len(term) + 3 > indent:
            yield f" {term}"
            yield from lines
        else:
            yield f" {term}{' ' * (indent - 1 - cell_len(term))}{lines[0].strip()}"
            yield from lines[1:]


@_lines_of.register
def _code(block: Code, paint: _Paint) -> Iterator[str]:
    yield from (f"   {printable(line)}" for line in block.lines)


@_lines_of.register
def _table(block: Table, paint: _Paint) -> Iterator[str]:
    parts = lay_out(block, paint.width)
    for i, (grid, widths) in enumerate(parts):
        if i:
            yield ""
        yield from (paint(line, DIM) for line in _row(grid.header, -1, grid, widths, _Paint(False, 80, 80)))
        for number, row in enumerate(grid.rows):
            yield from _row(row, number, grid, widths, paint)
    shown, ranged = parts[0][0].beside
    for note in (block.note if shown or not ranged else "", block.unranged if shown < ranged else ""):
        if note:
            yield from _prose(Paragraph(note, quiet=True), paint)


@_lines_of.register
def _chart(block: Chart, paint: _Paint) -> Iterator[str]:
    for part in in_text(block, paint.width):
        yield from _lines_of(part, paint)


def _row(cells: Sequence[str], number: int, grid: Grid, widths: Widths, paint: _Paint) -> Iterator[str]:
    wraps = grid.wraps or (False,) * len(cells)
    folded = [lines_of(text, width, w) for text, width, w in zip(cells, widths, wraps, strict=True)]
    height = max(map(len, folded))
    for line in range(height):
        parts = []
        for i, (pieces, width, right) in enumerate(zip(folded, widths, grid.right, strict=True)):
            # headers are aligned at the bottom, so they are filled from below
            at = line - (height - len(pieces)) if number < 0 else line
            text = pieces[at] if 0 <= at < len(pieces) else ""
            space = " " * (width - cell_len(text))
            text = paint(text, BOLD) if (number, i) in grid.best else text
            parts.append(space + text if right else text + space)
        yield " " + (" " * GAP).join(parts)


def _wrap(text: str, width: int, first: str, rest: str) -> list[str]:
    """Lines that break within no p-value. Text of parts with dots between them breaks at dots, unless that makes a fourth line."""

    def wrapped(text: str) -> list[str]:
        return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)

    text = P_VALUE.sub(lambda match: match[0].replace(" ", TIED), text)
    parts, lines = text.split(" · "), wrapped(text)
    if len(parts) > 1 and max(map(cell_len, parts)) <= width - 5:
        tied = wrapped(f"{TIED}· ".join(part.replace(" ", TIED) for part in parts))
        lines = tied if len(tied) <= max(len(lines), 3) else lines
    return [line.replace(TIED, " ") for line in lines]


FEW = 7  # as many metrics as are read well side by side
SCREEN = 40  # lines of a screen: a table in parts that fits shows all intervals
FOLDED = (24, 16, 10)  # widths to which names are folded, until the table fits
Widths = list[int]


@dataclass(frozen=True)
class Grid:
    """Text in rows and columns. The first ``labels`` columns are repeated if a grid is split.

    ``sides`` are the intervals of the cells; ``beside`` counts the columns of values that show them, and those that could.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[bool, ...]
    labels: int = 1
    best: frozenset[tuple[int, int]] = frozenset()
    wraps: tuple[bool, ...] = ()
    sides: tuple[tuple[str, ...], ...] = ()
    beside: tuple[int, int] = (0, 0)

    def columns(self, kept: Sequence[int]) -> Grid:
        """Return a grid of these columns."""
        place = {column: i for i, column in enumerate(kept)}
        header, *rows = (tuple(row[i] for i in kept) for row in (self.header, *self.rows))
        right, wraps = (tuple(flags[i] for i in kept) if flags else () for flags in (self.right, self.wraps))
        best = frozenset((row, place[column]) for row, column in self.best if column in place)
        return Grid(header, tuple(rows), right, self.labels, best, wraps, beside=self.beside)

    def transpose(self) -> Grid:
        """Rows and columns exchanged."""
        return Grid(
            header=("", *(row[0] for row in self.rows)),
            rows=tuple(zip(self.header, *self.rows, strict=True))[self.labels :],
            right=(False, *(True for _ in self.rows)),
            labels=self.labels,
            best=frozenset((column - 1, row + 1) for row, column in self.best),
            sides=tuple(("", *column) for column in zip(*self.sides, strict=True))[self.labels :],
            beside=self.beside,
        )

    def with_intervals(self, columns: int) -> Grid:
        """The same with the intervals of its first columns of values, intervals below intervals."""
        ranged = [i for i in range(len(self.header)) if any(row[i] for row in self.sides)]
        shown, header, rows = ranged[:columns], list(self.header), [list(row) for row in self.rows]
        for i in shown:
            wide = max(cell_len(row[i]) for row in self.rows)
            reach = max(len(row[i]) for row in self.sides)
            for row, sides in zip(rows, self.sides, strict=True):
                row[i] = f"{row[i]:>{wide}} {sides[i]:<{reach}}"
            header[i] += " " * (wide + 1 + reach - cell_len(header[i]))  # align the header with the values
        beside = (len(shown), len(ranged))
        return replace(self, header=tuple(header), rows=tuple(map(tuple, rows)), sides=(), beside=beside)


def upright(table: Table) -> Grid:
    """The table as it is, in text."""
    sides = tuple(tuple(map(sides_of, row)) for row in table.rows)
    return Grid(
        tuple(printable(c.header) for c in table.columns), tuple(map(tuple, values_of(table))),
        tuple(c.kind != "text" for c in table.columns), table.labels, table.best, tuple(c.wraps for c in table.columns),
        sides, (0, sum(map(any, zip(*sides, strict=True)))),
    )  # fmt: skip


def lay_out(table: Table, width: int) -> list[tuple[Grid, Widths]]:
    """Return one grid, or several if one does not fit, each with the widths of its columns."""
    grid = upright(table)
    shapes = [grid]
    if table.turns and table.labels == 1 and table.rows:
        shapes.append(grid.transpose())
        if len(table.columns) - 1 > max(FEW, len(table.rows)):
            shapes.reverse()
    ranged = grid.beside[1]
    whole = [shape.with_intervals(len(shape.header)) for shape in shapes] if ranged else []
    if (fitting := _first_fitting(whole, width)) is not None:
        return [fitting]
    if whole:
        parts = _in_parts(whole, width)
        if _lines(parts) <= SCREEN and all(_total(widths) <= width for _, widths in parts):
            return parts
    for those in ([grid.with_intervals(count) for count in range(ranged - 1, 0, -1)], shapes):
        if (fitting := _first_fitting(those, width)) is not None:
            return [fitting]
    return _in_parts(shapes, width)


def _first_fitting(shapes: Sequence[Grid], width: int) -> tuple[Grid, Widths] | None:
    """Return the first grid that fits, with full names or folded ones."""
    for shape, fold in ((shape, fold) for fold in (None, *FOLDED[:2]) for shape in shapes):
        widths = _widths(shape, width, fold)
        if _total(widths) <= width:
            return shape, widths
    return None


def _in_parts(shapes: Sequence[Grid], width: int) -> list[tuple[Grid, Widths]]:
    """Return the grid in parts that takes the fewest lines."""
    return min((_split_columns(shape, width) for shape in shapes), key=_lines)


def _lines(parts: Sequence[tuple[Grid, Widths]]) -> int:
    return sum(len(part.rows) + 3 for part, _ in parts)


def _total(widths: Widths) -> int:
    return 1 + sum(widths) + GAP * (len(widths) - 1)


def _widths(grid: Grid, width: int, fold: int | None) -> Widths:
    """Return the width of each column; labels and headers are folded to ``fold``, and running text takes the rest."""
    whole = [max(map(cell_len, column)) for column in zip(grid.header, *grid.rows, strict=True)]
    widths = list(whole)
    for i, natural in enumerate(whole):
        if fold is None or (grid.wraps and grid.wraps[i]):
            continue
        content = max((cell_len(row[i]) for row in grid.rows), default=0)
        widths[i] = min(natural, fold) if i < grid.labels else max(content, min(natural, fold))
    running = [i for i, wraps in enumerate(grid.wraps) if wraps]
    if running and _total(widths) > width:
        spare = width - _total([0 if i in running else w for i, w in enumerate(widths)])
        for i in running:
            widths[i] = min(widths[i], max(20, spare // len(running)))
    elif fold is not None and _total(widths) < width:  # give the unused width to the names
        widths[0] = min(whole[0], widths[0] + width - _total(widths))
    return widths


def _split_columns(grid: Grid, width: int) -> list[tuple[Grid, Widths]]:
    """Split the columns into parts that fit, each under the same labels."""
    widest = max(_widths(grid, sys.maxsize, None)[grid.labels :], default=0)
    widths = _widths(grid, 0, FOLDED[0] if widest <= FOLDED[0] else FOLDED[1])
    labels = list(range(grid.labels))
    first = used = _total(widths[: grid.labels])
    starts = [grid.labels]
    for i in range(grid.labels, len(widths)):
        used += GAP + widths[i]
        if used > width and i > starts[-1]:
            starts.append(i)
            used = first + GAP + widths[i]
    kept = [[*labels, *range(start, stop)] for start, stop in pairwise([*starts, len(widths)])]
    spare = width - max(_total([widths[i] for i in columns]) for columns in kept)
    for i in labels:  # names get the unused width of every part, the same in each
        whole = max(cell_len(text) for text in (grid.header[i], *(row[i] for row in grid.rows)))
        more = max(0, min(spare, whole - widths[i]))
        widths[i] += more
        spare -= more
    return [(grid.columns(columns), [widths[i] for i in columns]) for columns in kept]


def lines_of(text: str, width: int, wraps: bool = False) -> list[str]:
    """Return a cell's text in lines; names break after their separators."""
    if cell_len(text) <= width:
        return [text]
    if wraps:
        return textwrap.wrap(text, width, break_on_hyphens=False) or [""]
    pieces, piece = [], ""
    for sign in text:
        if cell_len(piece + sign) > width:
            at = max(piece.rfind(separator) for separator in "-_./,( ") + 1
            at = at if at > len(piece) // 2 else len(piece)
            pieces.append(piece[:at])
            piece = piece[at:]
        piece += sign
    return [*pieces, piece]
