"""Blocks as text for a terminal, plain or with a little colour."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from rich.cells import cell_len

from rankscope.blocks import Block, Chart, Code, Facts, Heading, Notes, Paragraph, Table
from rankscope.show.cells import note_text
from rankscope.show.grid import GAP, Grid, Widths, lay_out, lines_of
from rankscope.show.terminal_charts import in_text
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
