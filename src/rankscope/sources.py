"""The source of a table, and its faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rankscope import words

UNDEFINED = ("", "nan", "na", "n/a", "null", "none")  # cells without a value


@dataclass(frozen=True)
class Fault:
    """One fault of an input, with its remedy."""

    kind: str
    message: str
    line: int | None = None


@dataclass(frozen=True)
class Source:
    """The source of a table, with ``notes`` and ``faults`` of its reader. Rows have a line or place, ``whole`` ids were whole numbers. ``sha256()`` and ``same()`` raise DataError for a changed file."""

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
        """Return the place of a row: ``bm25.run line 4,812``."""
        if self.place_of is not None:
            return self.place_of(row)
        if self.line_of is None:
            return f"{self.label} row {words.count(row + 1)}"
        return f"{self.label} line {words.count(self.line_of(row))}"
