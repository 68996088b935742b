"""Judged documents of millions of queries, with each column in the smallest type that holds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from rankscope.lists.ids import Ids
from rankscope.lists.judged import Judged, rectangle
from rankscope.lists.sums import Array

OF_QUERIES = ("retrieved", "size", "in_run")
OF_DOCUMENTS = ("grade", "rank")
OF_TIES = ("tie_start", "tie_size")
MAX_QUERIES = 1 << 16  # gathered at once


class NarrowJudged(Judged):
    """The same as ``Judged`` in a tenth of the memory.

    A column gets its usual type on first use. ``kept`` holds the narrow one. Without ties no columns of ties are kept.
    """

    kept: dict[str, Array]

    def __init__(self, **columns: Any) -> None:
        values = vars(self)  # the class is frozen
        values |= {"scored": {}, "score": None, "aspects": None, "by_id": None} | columns
        kept = {name: narrowed(values.pop(name)) for name in (*OF_QUERIES, *OF_DOCUMENTS)}
        start, size = (values.pop(name) for name in OF_TIES)
        if (size != 1).any() or (start != columns["rank"]).any():
            kept |= {"tie_start": narrowed(start), "tie_size": narrowed(size)}
        values["kept"] = kept

    @classmethod
    def narrow(cls, judged: Judged) -> Judged:
        """Return the documents in narrow columns, unless they have more than grades and ranks."""
        more = judged.aspects, judged.score, judged.by_id
        if isinstance(judged, NarrowJudged) or any(one is not None for one in more):
            return judged
        return cls(**{field.name: getattr(judged, field.name) for field in fields(judged) if field.init})

    @classmethod
    def join(cls, parts: Sequence[Judged]) -> Judged:
        """The queries of several parts end to end."""
        if len(parts) == 1 or not isinstance(parts[0], NarrowJudged):
            return Judged.join(parts)
        narrow = [part for part in map(cls.narrow, parts) if isinstance(part, NarrowJudged)]
        names = [*OF_QUERIES, *OF_DOCUMENTS, *(OF_TIES if any("tie_size" in part.kept for part in narrow) else ())]
        columns = {name: np.concatenate([part.held(name) for part in narrow]) for name in names}
        return cls._holding(Ids.join([part.query_id for part in narrow]), columns)

    @classmethod
    def _holding(cls, query_id: Sequence[str], kept: dict[str, Array]) -> NarrowJudged:
        made = cls.__new__(cls)
        vars(made).update(query_id=query_id, kept=kept, scored={}, score=None, aspects=None, by_id=None)
        return made

    def __len__(self) -> int:
        return len(self.kept["retrieved"])

    def __getattr__(self, name: str) -> Array:
        """A column in its usual type, converted on first use."""
        kept = vars(self).get("kept", {})
        if name not in kept and not (kept and name in OF_TIES):
            raise AttributeError(name)
        kind = np.float64 if name == "grade" else np.int64
        wide: Array = vars(self).setdefault(name, self.held(name).astype(kind))
        return wide

    def held(self, name: str) -> Array:
        """A column in its narrow type."""
        if name in OF_TIES and name not in self.kept:
            rank = self.kept["rank"]
            return rank if name == "tie_start" else np.ones(len(rank), dtype=np.int8)
        return self.kept[name]

    def of(self, queries: Array) -> Judged:
        """The judged documents of the queries with these numbers, which may be repeated."""
        size = self.kept["size"]
        start = np.cumsum(size, dtype=np.int64) - size
        parts: dict[str, list[Array]] = {name: [self.kept[name][:0]] for name in self.kept}
        for at in range(0, len(queries), MAX_QUERIES):
            some = queries[at : at + MAX_QUERIES]
            rows, inside = rectangle(start[some], size[some])
            here = rows[inside]
            for name, columns_of_part in parts.items():
                columns_of_part.append(self.kept[name][some if name in OF_QUERIES else here])
        columns = {name: np.concatenate(arrays) for name, arrays in parts.items()}
        return self._holding(Ids.take(self.query_id, queries), columns)


def narrowed(values: Array) -> Array:
    """The same numbers in the smallest type that holds them."""
    if not len(values) or values.dtype.itemsize == 1:
        return values
    low, high = values.min(), values.max()
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:  # false for NaN
            narrow = values.astype(kind)
            whole = values.dtype.kind == "i" or ((narrow == values).all() and not np.signbit(values[narrow == 0]).any())
            return narrow if whole else values
    return values
