"""The base class of formats of logs: how to recognise a format and how to make rows of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from rankscope.files.log_formats.inputs import LogInput
from rankscope.tables import Source


@dataclass(frozen=True, eq=False)
class LogTable:
    """Rows of a log with known names of columns, and their source; ``read_as`` describes the log in a few words."""

    frame: pl.DataFrame
    source: Source
    read_as: str
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class LogFormat:
    """A format of logs that another tool writes.

    ``about`` describes it in a list, ``expects`` its content in a message. ``names`` are other names of it, ``keys`` the names of its
    parts in a dict. ``is_one`` is True only if an input is certainly of the format. ``read`` makes rows and raises InputError if it cannot.
    """

    name: str
    about: str
    expects: str
    is_one: Callable[[LogInput], bool]
    read: Callable[[LogInput], LogTable]
    names: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


def tally(values: pl.Series) -> list[tuple[str, int]]:
    """Count each value; the most frequent comes first, equal counts by name."""
    counts = values.value_counts(name="times")
    return counts.sort(pl.col("times"), pl.col(values.name), descending=[True, False]).rows()
