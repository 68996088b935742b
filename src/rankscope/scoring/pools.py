"""Documents of several runs joined by query and document, part by part, for fusions and re-rankers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
import polars as pl

from rankscope.engines.base import Order
from rankscope.engines.local import RankedRun
from rankscope.engines.orders import number_texts, order_within
from rankscope.lists import Array
from rankscope.parallel import map_parts
from rankscope.rankers.rank_table import RankTable
from rankscope.tables import IN_CACHE, Qrels, Run

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class JoinedRuns:
    """The documents of some whole queries: their ids by row, falling within a query, the queries' names, and the table of scores and ranks."""

    queries: pl.Series
    documents: pl.Series
    table: RankTable

    def run_of(self, scores: Array, most: int | None = None) -> pl.DataFrame:
        """Return the rows by score, then document id, both descending, and at most ``most`` per query."""
        order = order_within(self.table.query, -scores)
        if most is not None:
            order = order[np.arange(len(order)) - self.table.starts[self.table.query] < most]
        names = self.queries[self.table.query[order]].alias("query_id")
        return pl.DataFrame({"query_id": names, "doc_id": self.documents[order], "score": scores[order]})


@dataclass(frozen=True, eq=False)
class _Ranked:
    """A run in order of rank, and the position of each of its queries among the queries of all runs."""

    run: Run
    rows: Array  # best first, query by query
    place: Array  # of each query of the run

    @classmethod
    def of(cls, run: Run, order: Order, names: pl.DataFrame) -> _Ranked:
        run, rows, at = run.by_query(), [np.empty(0, dtype=np.int64)], 0
        for part in run.parts(IN_CACHE):
            rows.append(at + RankedRun(part, order).row_at(np.arange(part.frame.height)))
            at += part.frame.height
        own = pl.DataFrame({"query": run.blocks.query})
        place = own.join(names, on="query", how="left", maintain_order="left")["place"].to_numpy().astype(np.int64)
        return cls(run, np.concatenate(rows), place)

    def part(self, first: int, last: int, depth: int | None) -> tuple[Array, Array, Array]:
        """The rows of the queries from ``first`` to before ``last``, with the position of each query and each rank."""
        blocks, chosen = self.run.blocks, np.flatnonzero((self.place >= first) & (self.place < last))
        size = blocks.size[chosen] if depth is None else np.minimum(blocks.size[chosen], depth)
        rank = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
        return (
            self.rows[np.repeat(blocks.start[chosen], size) + rank],
            np.repeat(self.place[chosen] - first, size),
            rank,
        )


def map_pools(runs: Sequence[Run], order: Order, then: Callable[[JoinedRuns], T], rows: int = IN_CACHE) -> Iterator[T]:
    """Yield the results of a function on the documents of all runs, in parts of whole queries with about this many rows."""
    queries = pl.concat([run.by_query().blocks.query.alias("query") for run in runs]).unique(maintain_order=True)
    names = pl.DataFrame({"query": queries}).with_row_index("place")
    ranked = list(map_parts(lambda run: _Ranked.of(run, order, names), runs))
    sizes = np.zeros(len(queries), dtype=np.int64)
    for one in ranked:
        sizes[one.place] += one.run.blocks.size
    ends, cuts = np.cumsum(sizes), [0]
    while cuts[-1] < len(sizes):
        done = ends[cuts[-1] - 1] if cuts[-1] else 0
        cuts.append(max(cuts[-1] + 1, int(np.searchsorted(ends, done + rows, side="right"))))
    yield from map_parts(
        lambda cut: then(_pool(ranked, queries.slice(cut[0], cut[1] - cut[0]), cut[0], order.depth)), pairwise(cuts)
    )


def _pool(ranked: Sequence[_Ranked], queries: pl.Series, first: int, depth: int | None) -> JoinedRuns:
    parts = [one.part(first, first + len(queries), depth) for one in ranked]
    texts = pl.concat([one.run.frame["doc_id"][part[0]] for one, part in zip(ranked, parts, strict=True)], rechunk=True)
    query = np.concatenate([part[1] for part in parts])
    first_of, row = number_texts(query, texts, falling=True)
    run = np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])
    score = np.concatenate(
        [one.run.frame["score"].to_numpy()[part[0]] for one, part in zip(ranked, parts, strict=True)]
    )
    rank = np.concatenate([part[2] for part in parts]) + 1.0
    size = np.bincount(query[first_of], minlength=len(queries))
    table = RankTable(row, run, score, rank, len(ranked), size)
    return JoinedRuns(queries, texts[first_of], table)


def join_frames(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The rows of several frames, one after the other."""
    return pl.concat(frames)


def relevance_of(pool: JoinedRuns, judgments: Qrels, level: float = 1.0) -> JoinedRuns:
    """The same documents, marked as relevant by judgments, with the number of relevant documents per query."""
    relevant = judgments.frame.filter(pl.col("grade") >= level).select("query_id", "doc_id").unique()
    names = pool.queries[pool.table.query].alias("query_id")
    rows = pl.DataFrame({"query_id": names, "doc_id": pool.documents})
    marked = rows.join(
        relevant.with_columns(hit=pl.lit(1.0)), on=["query_id", "doc_id"], how="left", maintain_order="left"
    )
    count = relevant.group_by("query_id").agg(known=pl.len())
    counted = pool.queries.rename("query_id").to_frame().join(count, on="query_id", how="left", maintain_order="left")
    known = counted["known"].fill_null(0).to_numpy().astype(np.float64)
    return replace(pool, table=replace(pool.table, relevant=marked["hit"].fill_null(0.0).to_numpy(), known=known))
