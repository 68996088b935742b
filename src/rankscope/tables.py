"""Runs and qrels as tables: the columns, their types, and one check for each thing that can be wrong.

A table says nothing of where it came from beyond its ``source``; readers in ``files/`` make it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

Array = npt.NDArray[Any]

RUN_COLUMNS = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
QRELS_COLUMNS = {"query_id": pl.String, "doc_id": pl.String, "grade": pl.Float64}


@dataclass(frozen=True)
class Fault:
    """One thing wrong with an input, and what to do about it."""

    kind: str
    message: str
    line: int | None = None


@dataclass(frozen=True)
class Source:
    """Where a table came from: what was assumed in reading it, and what was found wrong.

    ``line_of(row)`` is the 1-based line of a 0-based row, in formats that have lines.
    """

    label: str
    kind: str = "table"
    path: str | None = None
    tag: str | None = None
    notes: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    line_of: Callable[[int], int] | None = None
    sha256: Callable[[], str] | None = None

    def at(self, row: int) -> str:
        """Say where a row stands: ``bm25.run line 4,812``."""
        if self.line_of is None:
            return f"{self.label} row {row + 1:,}"
        return f"{self.label} line {self.line_of(row):,}"


@dataclass(frozen=True)
class Blocks:
    """Consecutive rows of one query: where each block starts, and the query it belongs to."""

    start: Array
    size: Array
    query: pl.Series
    code: Array

    @property
    def whole(self) -> bool:
        """Whether every query stands in one block, as in nearly every file."""
        return len(self.code) == 0 or int(self.code[-1]) == len(self.code) - 1


def blocks_of(query: pl.Series) -> Blocks:
    """Find the blocks of equal neighbours in a column of query ids."""
    if query.is_empty():
        empty = np.empty(0, dtype=np.int64)
        return Blocks(empty, empty, query, empty)
    fresh = (query != query.shift(1)).fill_null(True).to_numpy()
    start = np.flatnonzero(fresh)
    size = np.diff(np.append(start, len(query)))
    names = query.gather(start)
    unique = names.unique(maintain_order=True)
    if len(unique) == len(names):
        return Blocks(start, size, names, np.arange(len(names)))
    code = pl.DataFrame({"q": unique}).with_row_index("code")
    codes = pl.DataFrame({"q": names}).join(code, on="q", how="left", maintain_order="left")
    return Blocks(start, size, unique, codes["code"].to_numpy().astype(np.int64))


@dataclass(frozen=True, eq=False)
class _Table:
    """What runs and qrels share: rows of (query, document), with the set of queries beside them."""

    frame: pl.DataFrame
    source: Source = field(default_factory=lambda: Source("table"))
    more_queries: tuple[str, ...] = ()

    @cached_property
    def blocks(self) -> Blocks:
        """Where each query's rows stand."""
        return blocks_of(self.frame["query_id"])

    @cached_property
    def queries(self) -> list[str]:
        """Every query in order of first appearance; those without rows come last."""
        seen: list[str] = self.blocks.query.to_list()
        return [*seen, *sorted(set(self.more_queries).difference(seen))] if self.more_queries else seen

    @cached_property
    def query_code(self) -> Array:
        """For each row, the number of its query in ``queries``."""
        return np.repeat(self.blocks.code, self.blocks.size)

    @cached_property
    def repeated(self) -> Array:
        """The rows whose (query, document) pair stood in an earlier row.

        Pairs are compared by a 64-bit hash first; only those whose hashes meet are compared in full.
        """
        code = self.query_code.astype(np.uint64)
        key = self.frame["doc_id"].hash(seed=17).to_numpy() ^ (code * np.uint64(0x9E3779B97F4A7C15))
        ordered = np.sort(key)
        same = ordered[1:][ordered[1:] == ordered[:-1]]
        if not len(same):
            return np.empty(0, dtype=np.int64)
        suspects = np.flatnonzero(np.isin(key, np.unique(same)))
        rows = self.frame[suspects].select("query_id", "doc_id")
        return suspects[(~rows.select(pl.struct("query_id", "doc_id").is_first_distinct()).to_series()).to_numpy()]

    def without_self_matches(self) -> tuple[Any, int]:
        """The table without documents that are their own query, and how many were left out."""
        same = self.frame["query_id"] == self.frame["doc_id"]
        count = int(same.sum())
        return (self._having(self.frame.filter(~same)) if count else self), count

    def _having(self, frame: pl.DataFrame) -> Any:
        # the query set stays what it was, though a query may lose all its rows
        return type(self)(frame, self.source, tuple(self.queries))


@dataclass(frozen=True, eq=False)
class Run(_Table):
    """A system's rankings: ``query_id``, ``doc_id``, ``score`` and, where there is one, ``rank``.

    Rows stand in the order of the input. ``name`` is the tag or, without one, the file's name.
    """

    name: str = "run"

    @cached_property
    def nan_rows(self) -> Array:
        """The rows whose score is not a number."""
        score = self.frame["score"]
        return np.flatnonzero(score.is_nan().to_numpy()) if score.is_nan().any() else np.empty(0, dtype=np.int64)

    def distinct(self, keep: str) -> Run:
        """One row a pair: the ``first`` in the file, or the ``best`` by score."""
        frame = self.frame
        if keep == "best":
            frame = frame.with_row_index("row").sort("score", descending=True, maintain_order=True)
            frame = frame.unique(["query_id", "doc_id"], keep="first").sort("row").drop("row")
        else:
            frame = frame.unique(["query_id", "doc_id"], keep="first", maintain_order=True)
        return self._having(frame)

    def _having(self, frame: pl.DataFrame) -> Run:
        return Run(frame, self.source, tuple(self.queries), self.name)


@dataclass(frozen=True, eq=False)
class Qrels(_Table):
    """Relevance judgments: ``query_id``, ``doc_id``, ``grade`` and ``iteration`` (column 2) where given.

    A grade of 0 or more is a judgment; a negative one marks a document that was pooled but not judged.
    """

    def distinct(self, keep: str) -> Qrels:
        """One grade a pair: the ``first`` in the file, or the ``best``."""
        frame = self.frame
        if keep == "best":
            frame = frame.with_row_index("row").sort("grade", descending=True, maintain_order=True)
            frame = frame.unique(["query_id", "doc_id"], keep="first").sort("row").drop("row")
        else:
            frame = frame.unique(["query_id", "doc_id"], keep="first", maintain_order=True)
        return self._having(frame)

    @cached_property
    def mapping(self) -> dict[str, dict[str, float]]:
        """The same judgments as ``{query: {document: grade}}``."""
        out: dict[str, dict[str, float]] = {query: {} for query in self.queries}
        for query, doc, grade in self.frame.select("query_id", "doc_id", "grade").iter_rows():
            out[query][doc] = grade
        return out


Rows = Sequence[int]
