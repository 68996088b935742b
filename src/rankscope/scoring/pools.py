"""Documents of several runs joined by query and document, part by part, for fusions and re-rankers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from rankscope.engines.base import Order
from rankscope.engines.local import RankedRun
from rankscope.lists import Array
from rankscope.rankers.rank_table import RankTable
from rankscope.tables import Qrels, Run, column

ROWS = 1 << 18  # rows of all runs joined at once: the arrays of a part fit the processor's cache


@dataclass(frozen=True, eq=False)
class JoinedRuns:
    """The documents of some whole queries: their ids by row, the queries' names, and the table of scores and ranks."""

    queries: pl.Series
    documents: pl.Series
    table: RankTable

    def run_of(self, scores: Array, most: int | None = None) -> pl.DataFrame:
        """Return the rows by score, then document id, both descending, and at most ``most`` per query."""
        names = self.queries.gather(column(self.table.query)).alias("query_id")
        frame = pl.DataFrame({"query_id": names, "doc_id": self.documents, "score": scores})
        ranked = RankedRun(Run(frame), Order("trec"))
        places = np.arange(len(scores))
        if most is not None:
            places = places[places - self.table.starts[self.table.query] < most]
        return frame[column(ranked.row_at(places))]


@dataclass(frozen=True, eq=False)
class _Ranked:
    """A run in order of rank, and the position of each of its queries among the queries of all runs."""

    run: Run
    rows: Array  # best first, query by query
    place: Array  # of each query of the run

    @classmethod
    def of(cls, run: Run, order: Order, names: pl.DataFrame) -> _Ranked:
        run = run.by_query()
        ranked = RankedRun(run, order)
        own = pl.DataFrame({"query": run.blocks.query})
        place = own.join(names, on="query", how="left", maintain_order="left")["place"].to_numpy().astype(np.int64)
        return cls(run, ranked.row_at(np.arange(run.frame.height)), place)

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


def pools_of(runs: Sequence[Run], order: Order, rows: int = ROWS) -> Iterator[JoinedRuns]:
    """Yield the documents of all runs, in parts of whole queries with about this many rows.

    Queries come in the order of their first appearance in the runs. A run must hold no pair twice and no NaN score.
    """
    queries = pl.concat([run.by_query().blocks.query.alias("query") for run in runs]).unique(maintain_order=True)
    names = pl.DataFrame({"query": queries}).with_row_index("place")
    ranked = [_Ranked.of(run, order, names) for run in runs]
    sizes = np.zeros(len(queries), dtype=np.int64)
    for one in ranked:
        sizes[one.place] += one.run.blocks.size
    ends, first = np.cumsum(sizes), 0
    while first < len(sizes):
        until = int(np.searchsorted(ends, (ends[first - 1] if first else 0) + rows, side="right"))
        last = max(first + 1, until)
        yield _pool(ranked, queries.slice(first, last - first), first, order.depth)
        first = last


def _pool(ranked: Sequence[_Ranked], queries: pl.Series, first: int, depth: int | None) -> JoinedRuns:
    parts = [one.part(first, first + len(queries), depth) for one in ranked]
    texts = pl.concat(
        [one.run.frame["doc_id"].gather(column(part[0])) for one, part in zip(ranked, parts, strict=True)]
    )
    query = np.concatenate([part[1] for part in parts])
    row, documents, size = _numbered(texts, query, len(queries))
    scores = np.full((len(documents), len(ranked)), np.nan)
    ranks, at = scores.copy(), 0
    for number, (one, (rows, _, rank)) in enumerate(zip(ranked, parts, strict=True)):
        mine = row[at : at + len(rows)]
        scores[mine, number] = one.run.frame["score"].to_numpy()[rows]
        ranks[mine, number] = rank + 1.0
        at += len(rows)
    return JoinedRuns(queries, documents, RankTable(scores, ranks, size))


def _numbered(texts: pl.Series, query: Array, queries: int) -> tuple[Array, pl.Series, Array]:
    """Number the different (query, document) pairs, query by query: each row's number, the documents, and their count per query."""
    # the query on top of the hash, so that sorting keeps queries together
    bits = np.uint64(max(queries.bit_length(), 1))
    key: Any = (texts.hash(seed=1).to_numpy() >> bits) | (query.astype(np.uint64) << (np.uint64(64) - bits))
    _, place, row = np.unique(key, return_index=True, return_inverse=True)
    documents = texts.gather(column(place))
    if not documents.gather(column(row)).equals(texts):  # two documents of a query share a hash: compare texts
        pairs = pl.DataFrame({"query": query, "doc": texts}).with_columns(
            pair=pl.struct("query", "doc").rank("dense").cast(pl.Int64) - 1
        )
        row = pairs["pair"].to_numpy()
        _, place = np.unique(row, return_index=True)
        documents = texts.gather(column(place))
    return row, documents, np.bincount(query[place], minlength=queries)


def join_frames(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The rows of several frames, one after the other."""
    return pl.concat(frames)


def relevance_of(pool: JoinedRuns, judgments: Qrels, level: float = 1.0) -> JoinedRuns:
    """The same documents, marked as relevant by judgments, with the number of relevant documents per query."""
    relevant = judgments.frame.filter(pl.col("grade") >= level).select("query_id", "doc_id").unique()
    names = pool.queries.gather(column(pool.table.query)).alias("query_id")
    rows = pl.DataFrame({"query_id": names, "doc_id": pool.documents})
    marked = rows.join(
        relevant.with_columns(hit=pl.lit(1.0)), on=["query_id", "doc_id"], how="left", maintain_order="left"
    )
    count = relevant.group_by("query_id").agg(known=pl.len())
    asked = pool.queries.rename("query_id").to_frame().join(count, on="query_id", how="left", maintain_order="left")
    known = asked["known"].fill_null(0).to_numpy().astype(np.float64)
    return replace(pool, table=replace(pool.table, relevant=marked["hit"].fill_null(0.0).to_numpy(), known=known))
