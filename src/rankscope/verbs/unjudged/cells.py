"""The unjudged documents in the top of some rankings, and what a metric would be if they had grades.

The engine gets a code as the grade of every unjudged document. So it finds for these, too, what it finds for judged ones (rank, ties,
score); the code says which is which, and is replaced by a grade or taken out again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from rankscope.engines.orders import scored
from rankscope.lists import Array, Judged
from rankscope.metrics import Metric
from rankscope.scoring.inputs import CleanInput
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

    @cached_property
    def best_rank(self) -> Array:
        """The best rank that any run gives each document; large where there is no document."""
        return np.asarray(np.where(self.rank > 0, self.rank, np.iinfo(np.int64).max).min(axis=0))


def unjudged_documents(
    tops: Sequence[pl.DataFrame], qrels: CleanInput, queries: Sequence[Sequence[str]]
) -> UnjudgedDocuments:
    """The documents of the tops that are not in the qrels, for the ``queries`` that each run is averaged over."""
    judged = _pairs(qrels)
    parts, size = [], []
    for number, (top, averaged) in enumerate(zip(tops, queries, strict=True)):
        mine = top.filter(pl.col("query_id").is_in(pl.Series(list(averaged), dtype=pl.String).implode()))
        size.append(mine.height)
        parts.append(mine.join(judged, on=DOCS, how="anti").with_columns(pl.lit(number).alias("run")))
    rows = pl.concat(parts)
    names = sorted(set(rows["query_id"].to_list()))
    number_of = pl.DataFrame({"query_id": names}, schema={"query_id": pl.String}).with_row_index("query")
    documents = (
        rows.group_by(*DOCS)
        .agg(pl.col("rank").min().alias("best"))
        .sort("query_id", "best", "doc_id")
        .join(number_of, on="query_id", how="left", maintain_order="left")
        .with_columns(pl.int_range(pl.len()).over("query_id").alias("place"))
        .select(*DOCS, pl.col("query").cast(pl.Int64), pl.col("place").cast(pl.Int64))
    )
    at = rows.join(documents, on=DOCS, how="left")
    width = int(documents["place"].max() or 0) + 1 if documents.height else 0  # type: ignore[arg-type]
    rank = np.zeros((len(tops), len(names), width), dtype=np.int64)
    rank[at["run"].to_numpy(), at["query"].to_numpy(), at["place"].to_numpy()] = at["rank"].to_numpy()
    return UnjudgedDocuments(documents, names, rank, size)


def _pairs(qrels: CleanInput) -> pl.DataFrame:
    """The judged pairs of query and document."""
    if not qrels.is_mapping:
        return pl.DataFrame(qrels.data.frame.select(*DOCS).unique())
    pairs = [(query, str(doc)) for query, documents in qrels.data.items() for doc in documents]
    return pl.DataFrame(pairs, schema=dict.fromkeys(DOCS, pl.String), orient="row")


def with_grades(qrels: CleanInput, more: pl.DataFrame, several: bool = False) -> Any:
    """The judgments with more of them: ``more`` has ``query_id``, ``doc_id`` and ``grade`` of documents that have none.

    For a metric that takes ``several`` grades of a document, the grade is given for each subtopic or judge that the query has.
    """
    if qrels.is_mapping:
        out = {query: dict(grades) for query, grades in qrels.data.items()}
        for query, doc, grade in more.select(*DOCS, "grade").iter_rows():
            out.setdefault(query, {})[doc] = grade
        return out
    frame, more = qrels.data.frame, more.select(*DOCS, pl.col("grade").cast(pl.Float64))
    aspects = [name for name in ("iteration", "subgroup") if name in frame.columns]
    if several and aspects:
        known = frame.select("query_id", *aspects).unique(maintain_order=True)
        more = more.join(known, on="query_id", how="left", maintain_order="left")
    queries = list(dict.fromkeys([*qrels.data.queries, *more["query_id"].to_list()]))
    number_of = pl.DataFrame({"query_id": queries}).with_row_index("number")
    both = pl.concat([frame, more], how="diagonal_relaxed")
    both = both.with_columns(pl.col(name).fill_null("0" if name == "iteration" else "") for name in aspects)
    ordered = both.join(number_of, on="query_id", how="left", maintain_order="left").sort("number", maintain_order=True)
    return Qrels(ordered.drop("number"), qrels.data.source, tuple(queries))


def with_codes(qrels: CleanInput, documents: UnjudgedDocuments) -> CleanInput:
    """The judgments with a code in the place of the grade of every unjudged document."""
    grades = documents.frame.with_columns((pl.col("place").cast(pl.Float64) + CODE).alias("grade"))
    return CleanInput(with_grades(qrels, grades))


@dataclass(frozen=True, eq=False)
class Cells:
    """One metric over some runs, with the unjudged documents among the judged ones.

    ``judged`` is what the engine found for each run with ``with_codes`` judgments; ``rows`` the number of each query there.
    """

    metric: Metric
    judged: Sequence[Judged]
    rows: Sequence[Array]
    ties: str = "trec"
    depth: int | None = None
    seed: int = 0

    @classmethod
    def of(cls, metric: Metric, judged: Sequence[Judged], queries: Sequence[str], **how: Any) -> Cells:
        """The cells of these queries."""
        rows = []
        for one in judged:
            place = {query: i for i, query in enumerate(one.query_id)}
            rows.append(np.array([place[query] for query in queries], dtype=np.int64))
        return cls(metric, judged, rows, **how)

    def values(self, run: int, queries: Array, grades: Array) -> Array:
        """The value of each variant: a query (by number), and a grade for each of its unjudged documents, NaN to leave it unjudged.

        ``grades`` is variants x places. NaN where the metric has no value.
        """
        out = np.full(len(queries), np.nan)
        size = np.maximum(self.judged[run].size[self.rows[run][queries]], 1)
        first = 0
        while first < len(queries):
            many = int(np.searchsorted(np.cumsum(size[first:]), CELLS, side="right"))
            last = first + max(1, many)
            data = self._variants(run, queries[first:last], grades[first:last])
            out[first:last] = scored(data, [self.metric], self.ties, self.depth, self.seed)[0].value
            first = last
        return out

    def _variants(self, run: int, queries: Array, grades: Array) -> Judged:
        data = self.judged[run].of(self.rows[run][queries])
        owner = np.repeat(np.arange(len(queries)), data.size)
        coded = np.flatnonzero(data.grade >= CODE)
        grade = data.grade.copy()
        grade[coded] = grades[owner[coded], (data.grade[coded] - CODE).astype(np.int64)]
        keep = ~np.isnan(grade)
        found = keep & (data.rank > 0)
        return Judged(
            query_id=data.query_id,
            retrieved=data.retrieved,
            size=np.bincount(owner[keep], minlength=len(queries)),
            found=np.bincount(owner[found], minlength=len(queries)),
            grade=grade[keep],
            rank=data.rank[keep],
            tie_start=data.tie_start[keep],
            tie_size=data.tie_size[keep],
            score=None if data.score is None else data.score[keep],
        )
