"""What a format of logs is: how it is told from others, and the function that makes rows of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from rankscope.files.log_formats.inputs import LogInput
from rankscope.tables import Source


@dataclass(frozen=True, eq=False)
class LogTable:
    """Rows of a log under names that are known: ``frame`` and where it came from. ``read_as`` says in a few words what was found."""

    frame: pl.DataFrame
    source: Source
    read_as: str
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class LogFormat:
    """A format of logs that another tool writes.

    ``about`` is what it is, to stand in a list; ``expects`` what it holds, to stand in a message. ``names`` are other names that people
    call it by, and ``keys`` those that its parts have where they are given by name. ``is_one`` tells what was given from all else, and is
    true only where that is certain; ``read`` makes rows of it, and raises InputError for what it cannot read.
    """

    name: str
    about: str
    expects: str
    is_one: Callable[[LogInput], bool]
    read: Callable[[LogInput], LogTable]
    names: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


def tally(values: pl.Series) -> list[tuple[str, int]]:
    """How often each value is there, the most frequent first, by name among equals."""
    counts = values.value_counts(name="times")
    return counts.sort(pl.col("times"), pl.col(values.name), descending=[True, False]).rows()
