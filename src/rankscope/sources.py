"""Where a table came from, and what was found wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rankscope import words

UNDEFINED = ("", "nan", "na", "n/a", "null", "none")  # what a cell says that has no value


@dataclass(frozen=True)
class Fault:
    """One thing wrong with an input, and what to do about it."""

    kind: str
    message: str
    line: int | None = None


@dataclass(frozen=True)
class Source:
    """Where a table came from: what was assumed in reading it, and what was found wrong.

    ``line_of(row)`` is the 1-based line of a 0-based row, in formats that have lines; of several files ``place_of(row)`` says in which of
    them it stands, too. ``whole`` are the ids that were whole numbers in a data frame. ``sha256()`` raises DataError, and so does ``same()``, where the file has changed since it was read.
    """

    label: str
    kind: str = "table"
    path: str | None = None
    tag: str | None = None
    notes: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    line_of: Callable[[int], int] | None = None
    sha256: Callable[[], str] | None = None
    same: Callable[[], None] | None = None
    place_of: Callable[[int], str] | None = None
    whole: tuple[str, ...] = ()

    def at(self, row: int) -> str:
        """Say where a row stands: ``bm25.run line 4,812``."""
        if self.place_of is not None:
            return self.place_of(row)
        if self.line_of is None:
            return f"{self.label} row {words.count(row + 1)}"
        return f"{self.label} line {words.count(self.line_of(row))}"
