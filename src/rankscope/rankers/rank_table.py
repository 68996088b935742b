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

    ``scores`` and ``ranks`` (from 1) are NaN if a run did not retrieve the document. Rows of a query are adjacent, and
    ``sizes`` counts them. For training, ``relevant`` is 1 for relevant documents and 0 for others, and ``known`` counts the relevant
    documents per query, retrieved or not. Both are None without judgments.
    """

    scores: Array
    ranks: Array
    sizes: Array
    relevant: Array | None = None
    known: Array | None = None

    @classmethod
    def joined(cls, tables: Sequence[RankTable]) -> RankTable:
        """The rows of several tables of the same runs."""

        def joined(name: str) -> Array | None:
            parts = [getattr(table, name) for table in tables]
            return None if parts[0] is None else np.concatenate(parts)

        scores, ranks, sizes = (
            np.concatenate([getattr(table, name) for table in tables]) for name in ("scores", "ranks", "sizes")
        )
        return cls(scores, ranks, sizes, joined("relevant"), joined("known"))

    @property
    def runs(self) -> int:
        """The number of runs."""
        return int(self.scores.shape[1])

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
        return np.asarray(self.found.sum(axis=1).astype(np.float64))

    @cached_property
    def retrieved(self) -> Array:
        """The number of documents that each run retrieved for the query of each row: rows x runs."""
        return self.per_query(np.add, self.found.astype(np.float64))

    def per_query(self, reduce: np.ufunc, values: Array) -> Array:
        """Reduce the rows of each query (rows x runs), and repeat the result on each of its rows."""
        return np.repeat(reduce.reduceat(values, self.starts, axis=0), self.sizes, axis=0) if len(values) else values

    def with_scores(self, scores: Array) -> RankTable:
        """The same documents with other scores."""
        return replace(self, scores=scores)

    def total(self, values: Array, weights: Array | None = None) -> Array:
        """The sum over runs of values, with weights if given. A missing value counts 0."""
        known = np.where(np.isnan(values), 0.0, values)
        return np.asarray((known if weights is None else known * weights).sum(axis=1))

    def at_ranks(self, value_at: Callable[[Array], Array]) -> Array:
        """A function of the ranks, rows x runs. 0 if a run did not retrieve the document."""
        return np.where(self.found, value_at(self.ranks), 0.0)
