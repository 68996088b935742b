"""Blocks of text: tables, paragraphs, notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EVEN = 0.0001  # where the sides of an interval differ by less, half of it tells both ends to four decimals


@dataclass(frozen=True)
class ValueRange:
    """A value with the ends of its interval; ``text`` stands for all three where it is given."""

    value: float
    lower: float
    upper: float
    text: str = ""

    @property
    def even(self) -> bool:
        """Whether both sides are the same, as far as four decimals tell."""
        return abs((self.value - self.lower) - (self.upper - self.value)) < EVEN


@dataclass(frozen=True)
class NumberText:
    """A number with its text: ``+0.082 *``, ``<.001``, ``49 of 200``. Where numbers are wanted in full, it is ``value``."""

    text: str
    value: float


Value = str | int | float | ValueRange | NumberText | None


@dataclass(frozen=True)
class Column:
    """A column of a table.

    A ``value`` is shown with four decimals, a ``count`` without any, and None as a dash. A ``ValueRange`` value is followed by the
    half of its interval, 0.5120 ±0.0610, or by both sides where these differ, 0.9800 -0.0484 +0.0139. A column that
    ``wraps`` holds running text, broken over lines where there is little room. ``hint`` says in full what the header stands for,
    where there is a place to say it. The cells of a column of ``queries`` are ids of queries, which a page lets one look into.
    """

    header: str
    kind: Literal["text", "value", "count"] = "text"
    wraps: bool = False
    hint: str = ""
    queries: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of values under columns.

    The first ``labels`` columns name a row. ``best`` are the cells (row, column) to stress. A table that
    ``turns`` may be shown with its rows and columns exchanged. A ``note`` says what its marks mean, and stays with it;
    ``unranged`` replaces it where no interval fits, and is added where only some fit.
    ``name`` is what the file of an exported table is called; ``title`` stands above it on a page. ``pair`` names the two runs that its
    queries are to be looked into with, the baseline first.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    labels: int = 1
    best: frozenset[tuple[int, int]] = frozenset()
    turns: bool = False
    note: str = ""
    unranged: str = ""
    name: str = ""
    title: str = ""
    pair: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paragraph:
    """Running text; ``quiet`` text is the small print."""

    text: str
    quiet: bool = False


@dataclass(frozen=True)
class Heading:
    """What the next blocks are about."""

    text: str


@dataclass(frozen=True)
class Caution:
    """One thing a reader of the numbers should know: a stable code, what it is, what to do."""

    code: str
    message: str
    hint: str

    def as_dict(self) -> dict[str, str]:
        """As it stands in JSON."""
        return {"code": self.code, "message": self.message, "hint": self.hint}


@dataclass(frozen=True)
class Note:
    """One thing a reader should know: what it is, what to do, and its stable code."""

    text: str
    hint: str = ""
    code: str = ""


@dataclass(frozen=True)
class Notes:
    """Several notes, one below the other."""

    items: tuple[Note, ...]


@dataclass(frozen=True)
class Facts:
    """Terms and what there is to say about each; ``room`` is kept for the terms where several lists are to align."""

    items: tuple[tuple[str, str], ...]
    room: int = 0


@dataclass(frozen=True)
class Code:
    """Lines to be shown as they are: commands, files."""

    lines: tuple[str, ...]


Block = Table | Paragraph | Heading | Notes | Facts | Code
"""What a terminal, a file and a page show alike."""

EMPTY = Paragraph("")
