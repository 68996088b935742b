"""The first documents of every query with their ids, in the order in which ``judge`` ranks them, as judging keeps only judged documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from rankscope.engines.base import TIES, Order, Ties
from rankscope.engines.local import PART, RankedRun
from rankscope.engines.mappings import as_text
from rankscope.errors import InputError
from rankscope.lists import Array
from rankscope.parallel import map_parts
from rankscope.tables import Run, as_texts

SCHEMA = {"query_id": pl.String, "doc_id": pl.String, "rank": pl.Int64}


def top(run: Any, order: Order, k: int | None = None, label: str = "run") -> pl.DataFrame:
    """The first ``k`` documents of every query: ``query_id``, ``doc_id`` and the 1-based ``rank``, one row per document.

    ``run`` is what ``judge`` takes: a ``Run``, or ``{query: {document: score}}``, with no pair twice and no NaN. Rankings end at
    ``order.depth``, and without ``k`` they are given down to there. Rows follow the queries of the run, and within a query the
    rank. Raises InputError for a tie policy that is no single order, and for ``rank`` without a column of ranks.
    """
    if isinstance(run, Run):
        run = run.by_query()
        size, rows = top_rows(run, order, k)
        ids: pl.DataFrame = run.held.select("query_id", "doc_id")[rows]
        rank = pl.Series("rank", ranks_of(size), dtype=pl.Int64)
        return ids.with_columns(*map(as_texts, ids.get_columns()), rank)
    depth = _depth(order, k)
    if order.ties == "rank":
        raise InputError(f"{label}: a dict has no rank column, which ties='rank' needs; use ties='input'")
    return _of_mapping(run, order.ties, depth, label)


def top_rows(run: Run, order: Order, k: int | None) -> tuple[Array, Array]:
    """Return the number of documents of each query, at most ``k``, and their rows. The rows of each query of the run must be adjacent."""
    parts, depth = list(run.parts(PART)), _depth(order, k)
    found = list(map_parts(lambda part: _of_part(part, order, depth), parts))
    before = np.cumsum([0, *(part.held.height for part in parts[:-1])])
    rows = [rows + first for (_, rows), first in zip(found, before.tolist(), strict=True)]
    return np.concatenate([size for size, _ in found]), np.concatenate(rows)


def _depth(order: Order, k: int | None) -> int | None:
    if order.ties not in TIES:
        raise InputError(f"ties={order.ties!r}: one order is needed here: {', '.join(TIES)}")
    return min((limit for limit in (k, order.depth) if limit is not None), default=None)


def _of_part(run: Run, order: Order, k: int | None) -> tuple[Array, Array]:
    ranked = RankedRun(run, order)
    size = ranked.size if k is None else np.minimum(ranked.size, k)
    return size, ranked.row_at(np.repeat(ranked.start, size) + ranks_of(size) - 1)


def ranks_of(size: Array) -> Array:
    """The ranks of lists of these sizes, end to end."""
    return np.asarray(np.arange(1, int(size.sum()) + 1) - np.repeat(np.cumsum(size) - size, size))


def _of_mapping(run: Mapping[Any, Any], ties: Ties, k: int | None, label: str) -> pl.DataFrame:
    query_id: list[str] = []
    doc_id: list[str] = []
    rank: list[int] = []
    for query, documents in run.items():
        scores = as_text(documents, f"{label}: query {query}")
        docs = list(scores)
        first = _first(docs, np.fromiter(scores.values(), dtype=float, count=len(docs)), ties, k)
        query_id += [query] * len(first)
        doc_id += [docs[i] for i in first]
        rank += range(1, len(first) + 1)
    return pl.DataFrame({"query_id": query_id, "doc_id": doc_id, "rank": rank}, schema=SCHEMA)


def _first(docs: list[str], score: Array, ties: Ties, k: int | None) -> list[int]:
    if k is None or k >= len(docs):
        places = list(range(len(docs)))
    else:
        places = np.flatnonzero(score >= np.partition(score, len(docs) - k)[len(docs) - k]).tolist()
    if ties != "input":  # strings compare by code point, which is the order of their UTF-8 bytes
        places.sort(key=lambda i: docs[i], reverse=ties == "trec")
    places.sort(key=lambda i: -score[i])
    return places[:k]
