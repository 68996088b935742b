"""A run or qrels as it was given, and what was said about the data beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from rankscope.lists import Array
from rankscope.tables import Qrels, Run
from rankscope.verbs.check.rules.base import EXAMPLES

TableT = TypeVar("TableT", Run, Qrels)


@dataclass(frozen=True, eq=False)
class Given(Generic[TableT]):
    """A run or qrels: the ``table`` as it was read, with its faults and repeated rows, under the ``name`` that messages use."""

    name: str
    table: TableT

    @cached_property
    def sound(self) -> TableT:
        """The table without what no number can be made of: faulty lines, NaN scores, infinite grades. Repeated rows stay."""
        table = self.table
        if self._left_out:
            table = table._having(table.frame[self._kept])
            lines, kept = table.source.line_of, self._kept
            if lines is not None:
                table = replace(
                    table, source=replace(table.source, line_of=lambda row: lines(int(kept[row])))
                )
        if table.source.faults:
            cached = {k: v for k, v in table.__dict__.items() if k in {"blocks", "repeated", "queries"}}
            table = replace(table, source=replace(table.source, faults=()))
            table.__dict__.update(cached)
        return table

    @property
    def _left_out(self) -> int:
        return len(self.table.nan_rows)

    @cached_property
    def _kept(self) -> Array:
        """The rows of ``table`` that are rows of ``sound``."""
        return np.delete(np.arange(self.table.frame.height), self.table.nan_rows)

    def places(self, rows: Array, limit: int = EXAMPLES) -> list[str]:
        """Where rows of ``sound`` stand in the file, and what they are: ``bm25.run line 7: document d1 of query q2``."""
        frame = self.sound.frame
        at = self._kept[rows[:limit]] if self._left_out else rows[:limit]
        return [
            f"{self.table.source.at(int(row))}: document {frame['doc_id'][i]} of query {frame['query_id'][i]}"
            for i, row in zip(rows[:limit].tolist(), at.tolist(), strict=True)
        ]

    @cached_property
    def query_set(self) -> frozenset[str]:
        """The ids of all queries."""
        return frozenset(self.table.queries)


@dataclass(frozen=True)
class Said:
    """What the caller said about the data: the ``scale`` of grades as its lowest and highest, interactions to ``train``, the ``texts`` of documents by id."""

    scale: tuple[float, float] | None = None
    train: Any = None
    texts: Mapping[str, str] | None = None
