"""Ids of a column as texts, which are made on first use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, overload

from rankscope.lists.sums import Array

MANY = 1000  # ids; texts of shorter columns are made at once


class Ids(Sequence[str]):
    """The ids in a ``column`` of a table. A million texts take time and memory, and are rarely needed.

    >>> import polars as pl
    >>> ids = Ids(pl.Series(["q1", "q2"]))
    >>> len(ids), ids == ["q1", "q2"], ids[1]
    (2, True, 'q2')
    """

    def __init__(self, column: Any) -> None:
        self.column = column

    @cached_property
    def texts(self) -> list[str]:
        """All ids."""
        texts: list[str] = self.column.to_list()
        return texts

    @classmethod
    def join(cls, parts: Sequence[Sequence[str]]) -> Sequence[str]:
        """Several sequences of ids end to end."""
        columns = [part.column for part in parts if isinstance(part, Ids)]
        if not columns or len(columns) < len(parts):
            return [text for part in parts for text in part]
        whole = columns[0].clone()
        for column in columns[1:]:
            whole.append(column)
        return cls(whole.rechunk())

    @classmethod
    def take(cls, ids: Sequence[str], places: Array) -> Sequence[str]:
        """The ids at these places."""
        if isinstance(ids, Ids) and "texts" not in vars(ids):
            return cls(ids.column.gather(places))
        return list(map(ids.__getitem__, places.tolist()))

    def __len__(self) -> int:
        return len(self.column)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        return self.texts[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __contains__(self, text: object) -> bool:
        return text in self.texts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self.texts == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.texts)

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """The place of the first id with this value."""
        return self.texts.index(value, start, len(self.texts) if stop is None else stop)
