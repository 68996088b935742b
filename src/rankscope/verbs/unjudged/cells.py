"""The unjudged documents in the top of some rankings, and what a metric would be if they had grades.

The engine gets a code as the grade of every unjudged document. So it finds for these, too, what it finds for judged ones (rank, ties,
score); the code says which is which, and is replaced by a grade or taken out again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from rankscope.lists import Array, Judged
from rankscope.scoring.request import Request
from rankscope.scoring.rescore import values_on
from rankscope.tables import Qrels

CODE = 2.0**40  # plus the number of the document within its query: no grade is as large
CELLS = 3_000_000  # judged documents of one batch of variants
DOCS = ("query_id", "doc_id")


@dataclass(frozen=True, eq=False)
class UnjudgedDocuments:
    """The unjudged documents in the top of some runs, each once.

    ``frame`` has a row a document: ``query_id``, ``doc_id``, ``query`` (the number of the query in ``queries``) and ``place``
    (the number of the document within its query). ``rank`` is runs x queries x places: the rank of each document in the top of
    each run, 0 where it is not there. ``size`` counts all documents in the top of each run, judged or not.
    """

    frame: pl.DataFrame
    queries: Sequence[str]
    rank: Array
    size: Sequence[int]

    @cached_property
    def there(self) -> Array:
        """Which of queries x places hold a document."""
        return np.asarray((self.rank > 0).any(axis=0))

    @cached_property
    def counts(self) -> list[int]:
        """How many of the documents are in the top of each run."""
        return [int((one > 0).sum()) for one in self.rank]

    @property
    def at(self) -> tuple[Array, Array]:
        """The query and the place of each row of the frame."""
        return self.frame["query"].to_numpy(), self.frame["place"].to_numpy()

    @cached_property
    def best_rank(self) -> Array:
        """The best rank that any run gives each document; large where there is no document."""
        return np.asarray(np.where(self.rank > 0, self.rank, np.iinfo(np.int64).max).min(axis=0))


def unjudged_documents(
    tops: Sequence[pl.DataFrame], qrels: Qrels, queries: Sequence[Sequence[str]]
) -> UnjudgedDocuments:
    """The documents of the tops that are not in the qrels, for the ``queries`` that each run is averaged over."""
    parts, size = [], []
    for number, (top, averaged) in enumerate(zip(tops, queries, strict=True)):
        own = top.filter(pl.col("query_id").is_in(list(averaged)))
        size.append(own.height)
        parts.append(own.join(qrels.frame, on=DOCS, how="anti").with_columns(pl.lit(number).alias("run")))
    rows = pl.concat(parts)
    documents = (
        rows.group_by(*DOCS)
        .agg(pl.col("rank").min())
        .sort("query_id", "rank", "doc_id")
        .select(
            *DOCS,
            (pl.col("query_id").rle_id().cast(pl.Int64)).alias("query"),
            pl.int_range(pl.len()).over("query_id").alias("place"),
        )
    )
    names = documents["query_id"].unique(maintain_order=True).to_list()
    at = rows.join(documents, on=DOCS, how="left")
    rank = np.zeros((len(tops), len(names), documents["place"].n_unique()), dtype=np.int64)
    rank[tuple(at[name].to_numpy() for name in ("run", "query", "place"))] = at["rank"].to_numpy()
    return UnjudgedDocuments(documents, names, rank, size)


def with_grades(qrels: Qrels, documents: pl.DataFrame, several: bool = False) -> Qrels:
    """The judgments with more of them: ``documents`` have ``query_id``, ``doc_id`` and ``grade``.

    For a metric that takes ``several`` grades of a document, the grade is given for each subtopic or judge that the query has.
    """
    frame, more = qrels.frame, documents.select(*DOCS, pl.col("grade").cast(pl.Float64))
    aspects = [name for name in ("iteration", "subgroup") if name in frame.columns]
    if several and aspects:
        known = frame.select("query_id", *aspects).unique(maintain_order=True)
        more = more.join(known, on="query_id", how="left", maintain_order="left")
    queries = tuple(dict.fromkeys([*qrels.queries, *more["query_id"].to_list()]))
    both = pl.concat([frame, more], how="diagonal_relaxed").with_columns(
        pl.col(name).fill_null("0" if name == "iteration" else "") for name in aspects
    )
    return Qrels(both.sort(pl.col("query_id").cast(pl.Enum(queries)), maintain_order=True), qrels.source, queries)


def with_codes(qrels: Qrels, documents: UnjudgedDocuments) -> Qrels:
    """The judgments with a code in the place of the grade of every unjudged document."""
    return with_grades(qrels, documents.frame.with_columns((pl.col("place") + CODE).alias("grade")))


@dataclass(frozen=True, eq=False)
class Cells:
    """One metric over some runs, with the unjudged documents among the judged ones.

    ``request`` asks for the metric, ``judged`` is what the engine found for each run with ``with_codes`` judgments, and ``rows`` are
    the numbers of the queries there.
    """

    request: Request
    judged: Sequence[Judged]
    rows: Sequence[Array]

    def values(self, run: int, queries: Array, grades: Array) -> Array:
        """The value of each variant: a query (by number), and a grade for each of its unjudged documents, NaN to leave it unjudged.

        ``grades`` is variants x places. NaN where the metric has no value.
        """
        parts = [np.zeros(0)]
        size = np.maximum(self.judged[run].size[self.rows[run][queries]], 1)
        first = 0
        while first < len(queries):
            many = int(np.searchsorted(np.cumsum(size[first:]), CELLS, side="right"))
            part = slice(first, first + max(1, many))
            data = self._variants(run, queries[part], grades[part])
            parts.append(values_on(self.request, data))
            first = part.stop
        return np.concatenate(parts)

    def _variants(self, run: int, queries: Array, grades: Array) -> Judged:
        data = self.judged[run].of(self.rows[run][queries])
        owner = np.repeat(np.arange(len(queries)), data.size)
        coded = np.flatnonzero(data.grade >= CODE)
        grade = data.grade.copy()
        grade[coded] = grades[owner[coded], (data.grade[coded] - CODE).astype(np.int64)]
        keep = ~np.isnan(grade)
        return replace(
            data,
            size=np.bincount(owner[keep], minlength=len(queries)),
            found=np.bincount(owner[keep & (data.rank > 0)], minlength=len(queries)),
            grade=grade[keep],
            rank=data.rank[keep],
            tie_start=data.tie_start[keep],
            tie_size=data.tie_size[keep],
            score=None if data.score is None else data.score[keep],
            aspects=None,
            by_id=None,
        )
