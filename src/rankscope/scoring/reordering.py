"""Rankings as lists of documents by query, and runs made of their reordered top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from rankscope.errors import InputError
from rankscope.lists import Array
from rankscope.scoring.fusing import order_for_fusion, read_tables
from rankscope.scoring.policies import Policies
from rankscope.scoring.pools import map_pools
from rankscope.tables import Run, column


@dataclass(frozen=True, eq=False)
class ReorderedLists:
    """The documents of each query of a run, best first: ``documents[starts[i] : starts[i] + sizes[i]]`` for query i."""

    name: str
    queries: Sequence[str]
    documents: pl.Series
    scores: Array
    starts: Array
    sizes: Array

    @classmethod
    def read(cls, run: Any, policies: Policies) -> ReorderedLists:
        """Read a run and rank its documents. Raises InputError for several runs or an unreadable one."""
        tables = list(read_tables(run, policies))
        if len(tables) != 1:
            raise InputError("one ranking is reordered: give a single run")
        (pool,) = map_pools(tables, order_for_fusion(policies), lambda pool: pool, max(tables[0].frame.height, 1))
        rows = np.lexsort((pool.table.ranks[:, 0], pool.table.query))
        return cls(
            tables[0].name, pool.queries.to_list(), pool.documents.gather(column(rows)), pool.table.scores[rows, 0],
            pool.table.starts, pool.table.sizes,
        )  # fmt: skip

    def top(self, query: int, most: int) -> list[str]:
        """Return the first documents of a query."""
        return self.documents.slice(int(self.starts[query]), min(int(self.sizes[query]), most)).to_list()

    def relevance(self, query: int, most: int) -> Array:
        """Return the scores of the first documents, scaled from 0 to 1. Equal scores are all 1."""
        start = int(self.starts[query])
        scores = self.scores[start : start + min(int(self.sizes[query]), most)]
        spread = np.ptp(scores) if len(scores) else 0.0
        return np.asarray((scores - scores.min()) / spread) if spread > 0 else np.ones(len(scores))

    def reordered(self, orders: Mapping[int, Array], name: str) -> Run:
        """Return a run with other first documents: ``orders`` maps the number of a query to positions among these. The first of n documents scores n."""
        rows = np.arange(len(self.scores))
        for query, order in orders.items():
            start, size = int(self.starts[query]), int(self.sizes[query])
            rest = np.setdiff1d(np.arange(size), order, assume_unique=True)
            rows[start : start + size] = start + np.concatenate([order, rest])
        place = np.arange(len(rows)) - np.repeat(self.starts, self.sizes)
        names = pl.Series("query_id", self.queries).gather(column(np.repeat(np.arange(len(self.sizes)), self.sizes)))
        scores = (np.repeat(self.sizes, self.sizes) - place).astype(np.float64)
        frame = pl.DataFrame({"query_id": names, "doc_id": self.documents.gather(column(rows)), "score": scores})
        return Run(frame, name=name)
