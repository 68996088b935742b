"""The top of every ranking with its document ids, in the order that the engines give them.

Engines hand over judged documents only. Who the others are is looked up here, without ordering what stands below.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from rankscope.engines.base import TIES, Ties
from rankscope.engines.mappings import as_text
from rankscope.errors import InputError
from rankscope.lists import Array
from rankscope.scoring.inputs import CleanInput
from rankscope.tables import Run, spans

SCHEMA = {"query_id": pl.String, "doc_id": pl.String, "rank": pl.Int64}


def top_rows(run: CleanInput, ties: Ties = "trec", k: int | None = None, label: str = "run") -> pl.DataFrame:
    """The first k documents of every query: ``query_id``, ``doc_id`` and the 1-based ``rank``, a row a document.

    Without ``k`` all of them. ``ties`` is one order of equal scores: ``trec``, ``docid``, ``input`` or ``rank``; judged documents
    have the ranks that the engines give them. Rows follow the queries of the run, and within a query the rank. ``run`` must be
    clean: no pair twice and no NaN. Raises InputError for a tie policy that is no single order, and where ``rank`` has no column.

    >>> run = CleanInput({"q1": {"a": 1.0, "b": 3.0, "c": 3.0}})
    >>> top_rows(run, "trec", 2).rows()
    [('q1', 'c', 1), ('q1', 'b', 2)]
    """
    if ties not in TIES:
        raise InputError(f"ties={ties!r}: one order is needed here: {', '.join(TIES)}")
    if not run.is_mapping:
        return _of_table(run.data, ties, k)
    if ties == "rank":
        raise InputError(f"{label}: a dict has no rank column, which ties='rank' needs; use ties='input'")
    return _of_mapping(run.data, ties, k, label)


def _of_mapping(run: dict[str, Any], ties: Ties, k: int | None, label: str) -> pl.DataFrame:
    query_id: list[str] = []
    doc_id: list[str] = []
    rank: list[int] = []
    for query, given in run.items():
        scores = as_text(given, f"{label}: query {query}")
        docs = _ordered(list(scores), np.fromiter(scores.values(), dtype=float, count=len(scores)), ties, k)
        query_id += [query] * len(docs)
        doc_id += docs
        rank += range(1, len(docs) + 1)
    return pl.DataFrame({"query_id": query_id, "doc_id": doc_id, "rank": rank}, schema=SCHEMA)


def _ordered(docs: Sequence[str], score: Array, ties: Ties, k: int | None) -> list[str]:
    """The first k of the documents of one query."""
    if k is None or k >= len(docs):
        rows = list(range(len(docs)))
    else:
        rows = np.flatnonzero(score >= np.partition(score, len(docs) - k)[len(docs) - k]).tolist()
    if ties != "input":  # strings compare by code point, which is the order of their UTF-8 bytes
        rows.sort(key=lambda i: docs[i], reverse=ties == "trec")
    rows.sort(key=lambda i: -score[i])
    return [docs[i] for i in rows[:k]]


def _of_table(run: Run, ties: Ties, k: int | None) -> pl.DataFrame:
    run = run.by_query()
    if ties == "rank" and "rank" not in run.frame.columns:
        raise InputError(f"{run.source.label} has no rank column of whole numbers, which ties='rank' needs")
    rows = np.concatenate([np.empty(0, dtype=np.int64), *_candidates(run, ties, k)])
    code = np.searchsorted(run.blocks.start, rows, side="right") - 1
    picked = run.frame.select("query_id", "doc_id")[rows].with_columns(
        pl.Series("code", code, dtype=pl.Int64),
        # the first is the best: scores fall, ranks rise; 0 and -0 are one score
        pl.Series("key", _key(run, ties, rows)),
        pl.Series("row", rows, dtype=pl.Int64),
    )
    last = "doc_id" if ties in {"trec", "docid"} else "row"
    ordered = picked.sort("code", "key", last, descending=[False, False, ties == "trec"])
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("code").alias("rank")
    found = ordered.select("query_id", "doc_id", rank)
    return found if k is None else found.filter(pl.col("rank") <= k)


def _key(run: Run, ties: Ties, rows: Array) -> Array:
    if ties == "rank":
        return np.asarray(run.frame["rank"].to_numpy()[rows], dtype=np.int64)
    return np.asarray(0.0 - run.frame["score"].to_numpy()[rows])


def _candidates(run: Run, ties: Ties, k: int | None) -> Iterator[Array]:
    """Rows that may be in the top k of their query: the k best and whoever shares the score of the last of them."""
    if k is None:
        yield np.arange(run.frame.height)
        return
    for first, last in spans(run.blocks):
        at = int(run.blocks.start[first])
        size = run.blocks.size[first:last]
        start = run.blocks.start[first:last] - at
        key = _key(run, ties, np.arange(at, at + int(size.sum())))
        code = np.repeat(np.arange(len(size)), size)
        falls = key[1:] < key[:-1]
        falls[start[1:] - 1] = False
        order = np.lexsort((key, code)) if falls.any() else np.arange(len(key))
        edge = key[order[start + np.minimum(size, k) - 1]] if len(key) else np.empty(0)
        yield np.flatnonzero(key <= edge[code]) + at
