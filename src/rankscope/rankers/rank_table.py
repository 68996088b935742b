"""Documents retrieved by several runs, as one table of scores and ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rankscope.lists import Array


@dataclass(frozen=True, eq=False)
class RankTable:
    """The documents that some runs retrieved: one row per query and document, one column per run.

    ``scores`` and ``ranks`` (from 1) are NaN if a run did not retrieve the document. Rows of a query are adjacent, and ``sizes`` counts them.
    What runs retrieved is also there cell by cell: its ``row`` and ``run``, its ``score`` and ``rank``. For training, ``relevant`` is 1
    for relevant documents and 0 for others, and ``known`` counts the relevant documents per query, retrieved or not. Both are
    None without judgments.
    """

    row: Array
    run: Array
    score: Array
    rank: Array
    runs: int
    sizes: Array
    relevant: Array | None = None
    known: Array | None = None

    @classmethod
    def of(cls, scores: Array, ranks: Array, sizes: Array) -> RankTable:
        """A table of scores and ranks, rows x runs.

        >>> RankTable.of(
        ...     np.array([[9.0, np.nan], [8.0, 7.0]]), np.array([[1.0, np.nan], [2, 1]]), np.array([2])
        ... ).run.tolist()
        [0, 0, 1]
        """
        run, row = np.nonzero(~np.isnan(ranks.T))
        return cls(row, run, scores[row, run], ranks[row, run], ranks.shape[1], sizes)

    @classmethod
    def joined(cls, tables: Sequence[RankTable]) -> RankTable:
        """The rows of several tables of the same runs."""
        rows = np.cumsum([0, *(len(table) for table in tables)]).tolist()

        def joined(name: str) -> Array | None:
            parts = [getattr(table, name) for table in tables]
            return None if parts[0] is None else np.concatenate(parts)

        row = np.concatenate([table.row + first for table, first in zip(tables, rows, strict=False)])
        run, score, rank, sizes = (
            np.concatenate([getattr(table, name) for table in tables]) for name in ("run", "score", "rank", "sizes")
        )
        return cls(row, run, score, rank, tables[0].runs, sizes, joined("relevant"), joined("known"))

    def __len__(self) -> int:
        return int(self.sizes.sum())

    @cached_property
    def scores(self) -> Array:
        """The scores, rows x runs."""
        return self._table(self.score)

    @cached_property
    def ranks(self) -> Array:
        """The ranks, rows x runs."""
        return self._table(self.rank)

    def _table(self, values: Array) -> Array:
        out = np.full((self.runs, len(self)), np.nan)
        out[self.run, self.row] = values
        return out.T  # the values of a run stay side by side

    @cached_property
    def starts(self) -> Array:
        """The first row of each query."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def query(self) -> Array:
        """The position of each row's query."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def found(self) -> Array:
        """True if a run retrieved a document: rows x runs."""
        return ~np.isnan(self.ranks)

    @cached_property
    def hits(self) -> Array:
        """The number of runs that retrieved each document."""
        return np.bincount(self.row, minlength=len(self)).astype(np.float64)

    @cached_property
    def retrieved(self) -> Array:
        """The number of documents that each run retrieved for the query of each row: rows x runs."""
        return self.per_query(np.add, self.found.astype(np.float64))

    def per_query(self, reduce: np.ufunc, values: Array) -> Array:
        """Reduce the rows of each query (rows x runs), and repeat the result on each of its rows."""
        return np.repeat(reduce.reduceat(values, self.starts, axis=0), self.sizes, axis=0) if len(values) else values

    def with_scores(self, scores: Array) -> RankTable:
        """The same documents with other scores, rows x runs."""
        table = replace(self)
        table.__dict__["scores"] = scores
        return table

    def total(self, values: Array, weights: Array | None = None) -> Array:
        """The sum over runs of values, with weights if given. A missing value counts 0."""
        known = np.where(np.isnan(values), 0.0, values)
        return np.asarray((known if weights is None else known * weights).sum(axis=1))

    def total_at_ranks(self, value_at: Callable[[Array], Array], weights: Array | None = None) -> Array:
        """The sum over runs of a function of the rank, with weights if given. A run that did not retrieve the document adds 0."""
        values = value_at(self.rank)
        return np.bincount(self.row, values if weights is None else values * weights[self.run], len(self))
