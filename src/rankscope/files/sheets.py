"""A table of any columns, with the place of every row: ids and numbers are taken from it, or one line says what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import id_column
from rankscope.files.notes import Found
from rankscope.tables import Array

UNDEFINED = ("", "nan", "na", "n/a", "null", "none")
QUERY = (
    "query_id", "qid", "q_id", "query-id", "query", "topic", "topic_id", "id", "user_id", "user", "session_id", "session",
)  # fmt: skip
SYSTEM = ("run", "system", "model", "name", "run_id", "runid", "system_id", "tag")


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table as it was given: files of text give strings. ``lines`` has the 1-based line of each row, where there are lines."""

    label: str
    frame: pl.DataFrame
    lines: Callable[[], Array] | None = None

    def at(self, row: int) -> str:
        """Say where a 0-based row stands: ``scores.csv line 3``."""
        if self.lines is None:
            return f"{self.label} row {words.count(row + 1)}"
        return f"{self.label} line {words.count(int(self.lines()[row]))}"

    def role(self, aliases: Sequence[str]) -> str | None:
        """The first column with one of these names, whatever its case."""
        by_lower = {name.casefold(): name for name in reversed(self.frame.columns)}
        return next((by_lower[alias] for alias in aliases if alias in by_lower), None)

    def ids(self, name: str, noun: str) -> pl.Series:
        """A column of ids as strings; every row must have one."""
        ids = id_column(self.frame[name], name, self.label, Found()).str.strip_chars()
        empty = np.flatnonzero((ids.fill_null("") == "").to_numpy())
        if len(empty):
            raise InputError(f"{self.at(int(empty[0]))}: no {noun} (column {name or 1} is empty)")
        return ids

    def distinct(self, name: str, noun: str) -> list[str]:
        """A column of ids, each in one row."""
        ids = self.ids(name, noun)
        again = np.flatnonzero(~ids.is_first_distinct().to_numpy())
        if len(again):
            row = int(again[0])
            raise InputError(f"{self.at(row)}: {noun} {ids[row]!r} is there twice; keep one row")
        return ids.to_list()

    def numbers(self, name: str) -> Array:
        """A column of numbers, NaN where a cell is empty or says nan; the first other cell is refused."""
        column = self.frame[name]
        if column.dtype == pl.String:
            text = column.fill_null("").str.strip_chars()
            missing = text.str.to_lowercase().is_in(UNDEFINED)
            values = text.cast(pl.Float64, strict=False)
            odd = (values.is_null() & ~missing).to_numpy()
        elif column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
            values, odd = column.cast(pl.Float64), np.zeros(len(column), dtype=bool)
        else:
            raise InputError(f"{self.label}: column {name} is of type {column.dtype}; it should hold numbers")
        out = values.fill_null(float("nan")).to_numpy().astype(float)
        odd = np.flatnonzero(odd | np.isinf(out))
        if len(odd):
            self._refuse(int(odd[0]), name, str(column[int(odd[0])]).strip())
        return out

    def _refuse(self, row: int, name: str, text: str) -> NoReturn:
        what = "is not a number"
        if re.fullmatch(r"[+-]?\d+,\d+", text):
            what += f"; write {text.replace(',', '.')}, with a point"
        elif re.fullmatch(r"[+-]?(inf(inity)?|\d.*)", text, re.IGNORECASE) and _infinite(text):
            what = "is infinite; leave the cell empty where a value is undefined"
        raise InputError(f"{self.at(row)}, column {name}: {words.quote(text)} {what}")


def _infinite(text: str) -> bool:
    try:
        return abs(float(text)) == float("inf")
    except ValueError:
        return False
