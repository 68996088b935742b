"""Laying out a table for a given width: upright, transposed, or in several parts."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rich.cells import cell_len

from rankscope.blocks import Table
from rankscope.show.cells import sides_of, values_of
from rankscope.words import printable

GAP = 2
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
