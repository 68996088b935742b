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
from rankscope.tables import IN_CACHE, Blocks, Qrels, Run, column

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
        names = self.queries.gather(column(self.table.query[order]))
        return pl.DataFrame({"query_id": names, "doc_id": self.documents.gather(column(order)), "score": scores[order]})


@dataclass(frozen=True, eq=False)
class _Ranked:
    """A run in order of rank, and the position of each of its queries among the queries of all runs."""

    blocks: Blocks
    documents: pl.Series
    scores: Array
    rows: Array | None  # best first, query by query, or None if documents and scores are in this order
    place: Array  # of each query of the run

    @classmethod
    def of(cls, run: Run, order: Order, place: Array) -> _Ranked:
        rows, at = [np.empty(0, dtype=np.int64)], 0
        for part in run.parts(IN_CACHE):
            rows.append(at + RankedRun(part, order).rows)
            at += part.frame.height
        documents, scores, by = run.frame["doc_id"], run.frame["score"].to_numpy(), np.concatenate(rows)
        if not (by[1:] < by[:-1]).any():
            return cls(run.blocks, documents, scores, None, place)
        if at > IN_CACHE:  # two copies of a large run would need too much memory
            return cls(run.blocks, documents, scores, by, place)
        return cls(run.blocks, documents.gather(column(by)), scores[by], None, place)

    def part(self, first: int, last: int, depth: int | None) -> tuple[pl.Series, Array, Array, Array]:
        """The documents of the queries from ``first`` to before ``last``, with the position of each query, each rank and each score."""
        chosen = np.flatnonzero((self.place >= first) & (self.place < last))
        start, size = self.blocks.start[chosen], self.blocks.size[chosen]
        size = size if depth is None else np.minimum(size, depth)
        rank = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
        query = np.repeat(self.place[chosen] - first, size)
        if self.rows is None and len(chosen) and start[-1] + size[-1] - start[0] == len(rank):  # without a gap
            return self.documents.slice(start[0], len(rank)), query, rank, self.scores[start[0] : start[0] + len(rank)]
        rows = np.repeat(start, size) + rank
        rows = rows if self.rows is None else self.rows[rows]
        return self.documents.gather(column(rows)), query, rank, self.scores[rows]


def map_pools(runs: Sequence[Run], order: Order, then: Callable[[JoinedRuns], T], rows: int = IN_CACHE) -> Iterator[T]:
    """Yield the results of a function on the documents of all runs, in parts of whole queries with about this many rows.

    Queries come in the order of their first appearance in the runs. A run must hold no pair twice and no NaN score.
    """
    runs = [run.by_query() for run in runs]
    every = pl.concat([run.blocks.query.alias("query") for run in runs])
    queries = every.unique(maintain_order=True)
    names = pl.DataFrame({"query": queries}).with_row_index("place")
    place = every.to_frame().join(names, on="query", how="left", maintain_order="left")["place"].to_numpy()
    ends = np.cumsum([len(run.blocks.size) for run in runs])
    places = np.split(place.astype(np.int64), ends[:-1])
    ranked = list(map_parts(lambda pair: _Ranked.of(pair[0], order, pair[1]), zip(runs, places, strict=True)))
    sizes = np.zeros(len(queries), dtype=np.int64)
    for one in ranked:
        sizes[one.place] += one.blocks.size
    ends, cuts = np.cumsum(sizes), [0]
    while cuts[-1] < len(sizes):
        done = ends[cuts[-1] - 1] if cuts[-1] else 0
        cuts.append(max(cuts[-1] + 1, int(np.searchsorted(ends, done + rows, side="right"))))
    yield from map_parts(
        lambda cut: then(_pool(ranked, queries.slice(cut[0], cut[1] - cut[0]), cut[0], order.depth)), pairwise(cuts)
    )


def _pool(ranked: Sequence[_Ranked], queries: pl.Series, first: int, depth: int | None) -> JoinedRuns:
    parts = [one.part(first, first + len(queries), depth) for one in ranked]
    texts = pl.concat([part[0] for part in parts], rechunk=True)
    query, rank, score = (np.concatenate([part[i] for part in parts]) for i in (1, 2, 3))
    first_of, row = number_texts(query, texts, falling=True)
    run = np.repeat(np.arange(len(parts)), [len(part[1]) for part in parts])
    size = np.bincount(query[first_of], minlength=len(queries))
    table = RankTable(row, run, score, rank + 1.0, len(ranked), size)
    return JoinedRuns(queries, texts.gather(column(first_of)), table)


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
