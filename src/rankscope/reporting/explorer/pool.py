"""The tops of several rankings put together: which documents stand there, at which rank of each run, and what each adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
import polars as pl

from rankscope.engines.base import Order, Ties
from rankscope.engines.mappings import as_text
from rankscope.engines.orders import cut
from rankscope.engines.top import top
from rankscope.lists import Array, Judged
from rankscope.metrics import Metric
from rankscope.reporting.subject import Subject, evaluation_of
from rankscope.scoring.inputs import CleanInput, clean, judge
from rankscope.scoring.ranking import one_order, part_of
from rankscope.scoring.scores import Scores
from rankscope.tables import Qrels

SPAN = 1 << 32  # more than any rank: queries and ranks as one number
MISSED = 5  # documents of a query


@dataclass(frozen=True, eq=False)
class RankingSource:
    """What stands behind the values of one metric: judgments and runs after the policies, and the judged documents of each run.

    ``ties`` is the one order that documents are shown in; ``averaged`` says that the values are of all orders of equal scores.
    ``deepest`` is how far down rankings are read (None: to their end). ``number`` numbers the queries looked at.
    """

    metric: Metric
    names: tuple[str, ...]
    qrels: CleanInput
    runs: Sequence[CleanInput]
    judged: Sequence[Judged]
    ties: Ties
    averaged: bool
    deepest: int | None
    number: Mapping[str, int]

    @cached_property
    def places(self) -> list[Array]:
        """For each run, the number of each query that the engine saw, -1 for those not looked at."""
        return [np.array([self.number.get(query, -1) for query in one.query_id], dtype=np.int64) for one in self.judged]

    @cached_property
    def owners(self) -> list[Array]:
        """For each run, the query of each judged document."""
        return [np.repeat(place, one.size) for place, one in zip(self.places, self.judged, strict=True)]

    @cached_property
    def sizes(self) -> Array:
        """How many documents each run retrieved: runs x queries."""
        return self._laid([one.retrieved for one in self.judged])

    def unjudged(self, top: int) -> Array:
        """How many of the first ``top`` documents are not in the qrels: runs x queries."""
        counts = []
        for one in self.judged:
            owner = np.repeat(np.arange(len(one)), one.size)
            seen = np.bincount(owner[(one.rank > 0) & (one.rank <= top)], minlength=len(one))
            counts.append(np.minimum(one.retrieved, top) - seen)
        return self._laid(counts)

    @cached_property
    def good(self) -> Array:
        """How many documents of a grade above 0 each run retrieved: runs x queries."""
        counts = []
        for one in self.judged:
            owner = np.repeat(np.arange(len(one)), one.size)
            counts.append(np.bincount(owner[(one.rank > 0) & (one.grade > 0)], minlength=len(one)))
        return self._laid(counts)

    def _laid(self, columns: Sequence[Array]) -> Array:
        out = np.zeros((len(self.judged), len(self.number)), dtype=np.int64)
        for run, (place, column) in enumerate(zip(self.places, columns, strict=True)):
            out[run, place[place >= 0]] = column[place >= 0]
        return out

    @cached_property
    def graded(self) -> list[list[tuple[float, int]]]:
        """The grades of the qrels for each query, the best first, each with its count."""
        out: list[list[tuple[float, int]]] = [[] for _ in self.number]
        seen: set[int] = set()
        for place, owner, one in zip(self.places, self.owners, self.judged, strict=True):
            new = np.array([number >= 0 and number not in seen for number in place.tolist()], dtype=bool)
            rows = np.repeat(new, one.size)
            frame = pl.DataFrame({"query": owner[rows], "grade": one.grade[rows]})
            counted = frame.group_by("query", "grade").len().sort("query", "grade", descending=[False, True])
            for query, grade, count in counted.iter_rows():
                out[query].append((grade, count))
            seen |= {number for number in place.tolist() if number >= 0}
            if len(seen) == len(self.number):
                break
        return out


def source_of(
    subject: Subject, scores: Scores, names: tuple[str, ...], metric: Metric, queries: Sequence[str], few: bool
) -> RankingSource:
    """What stands behind a metric, for these queries; where they are ``few`` of those there are, the rest is put aside first."""
    policy = scores.request.policies
    ties = scores.request.of_metric(metric).convention.ties
    averaged = ties in {"expected", "best", "worst"}
    at = scores.request.place(metric)
    judged = [evaluation_of(scores, name).judged[at] for name in names]
    if averaged:  # the engine read to the end, as a document below the depth may be tied with one above
        judged = [cut(one, policy.depth) for one in judged]
    return RankingSource(
        metric=metric,
        names=names,
        qrels=clean(subject.qrels, policy, "qrels", scores.metrics),
        runs=[
            clean(part_of(subject.runs[name], queries) if few else subject.runs[name], policy, "run") for name in names
        ],
        judged=judged,
        ties=one_order(ties, metric),
        averaged=averaged,
        deepest=policy.depth,
        number={query: number for number, query in enumerate(queries)},
    )


@dataclass(frozen=True, eq=False)
class DocumentPool:
    """Documents that stand in the top of some run, each once a query; queries follow one another, best ranks first.

    ``query`` numbers the query of each, ``best`` is its best rank in any run, ``grade`` NaN where it is not in the qrels. ``ranks`` and
    ``adds`` are runs x documents: 0 where a run did not retrieve it.
    """

    query: Array
    best: Array
    doc_ids: Sequence[str]
    grade: Array
    ranks: Array
    adds: Array

    def within(self, kept: Array) -> DocumentPool:
        """Only some of the documents: those that are true, or those at places, in their order."""
        at = np.flatnonzero(kept) if kept.dtype == bool else kept
        return DocumentPool(
            self.query[at],
            self.best[at],
            [self.doc_ids[i] for i in at.tolist()],
            self.grade[at],
            self.ranks[:, at],
            self.adds[:, at],
        )

    def beside(self, other: DocumentPool) -> DocumentPool:
        """These and others, query by query."""
        query = np.concatenate([self.query, other.query])
        both = DocumentPool(
            query,
            np.concatenate([self.best, other.best]),
            [*self.doc_ids, *other.doc_ids],
            np.concatenate([self.grade, other.grade]),
            np.concatenate([self.ranks, other.ranks], axis=1),
            np.concatenate([self.adds, other.adds], axis=1),
        )
        return both.within(np.argsort(query, kind="stable"))


def pool_of_tops(source: RankingSource, depth: int, values: Array) -> DocumentPool:
    """The first ``depth`` documents of every run together; ``values`` (runs x queries) say which queries have a value to be parted."""
    return pool_of(source, _union(source, depth), values)


def pool_of(source: RankingSource, rows: pl.DataFrame, values: Array) -> DocumentPool:
    """The documents of these rows: query_id, query, doc_id and best, a row a document."""
    ranks = ranks_of(source, rows["query_id"].to_list(), rows["doc_id"].to_list())
    query = rows["query"].to_numpy()
    adds = np.zeros(ranks.shape)
    for run in range(len(source.names)):
        adds[run] = _looked_up(source, run, query, ranks[run], ~np.isnan(values[run]))
    return DocumentPool(
        query, rows["best"].to_numpy(), rows["doc_id"].to_list(), _grades(source.qrels, rows), ranks, adds
    )


def _union(source: RankingSource, depth: int) -> pl.DataFrame:
    """query_id, query, doc_id and best: a row a document."""
    numbers = pl.DataFrame(
        {"query_id": list(source.number), "query": list(source.number.values())},
        schema={"query_id": pl.String, "query": pl.Int64},
    )
    order = Order(source.ties, source.deepest)
    tops = [top(run.data, order, depth, name) for name, run in zip(source.names, source.runs, strict=True)]
    rows = pl.concat(tops).join(numbers, on="query_id")
    return (
        rows.group_by("query_id", "query", "doc_id")
        .agg(pl.col("rank").min().alias("best"))
        .sort("query", "best", "doc_id")
    )


def ranks_of(source: RankingSource, query_ids: Sequence[str], doc_ids: Sequence[str]) -> Array:
    """The rank of each document in every run, however deep, as the engines order them.

    To the engine these documents are the judged ones, their grades being their numbers; it then tells the rank of each.
    """
    rows = {"query_id": query_ids, "doc_id": doc_ids, "grade": range(len(doc_ids))}
    coded = pl.DataFrame(rows, schema={"query_id": pl.String, "doc_id": pl.String, "grade": pl.Float64}, strict=False)
    wanted = CleanInput(Qrels(coded))
    out = np.zeros((len(source.names), len(doc_ids)), dtype=np.int64)
    for run, (name, data) in enumerate(zip(source.names, source.runs, strict=True)):
        judged, _ = judge(data, wanted, Order(source.ties, source.deepest), name)
        out[run, judged.grade.astype(np.int64)] = judged.rank
    return out


def _grades(qrels: CleanInput, pool: pl.DataFrame) -> Array:
    """The grade of each document, the highest where it has several; NaN where the qrels do not hold it."""
    if qrels.is_mapping:
        grades: list[float] = []
        known: dict[str, Mapping[str, float]] = {}
        for query, doc in pool.select("query_id", "doc_id").iter_rows():
            if query not in known:
                known = {query: as_text(qrels.data.get(query, {}), f"qrels: query {query}")}
            grades.append(float(known[query].get(doc, np.nan)))
        return np.array(grades, dtype=float)
    keys = ["query_id", "doc_id"]
    mine = qrels.data.frame.select(*keys, "grade").join(pool.select(keys), on=keys, how="semi")
    best = mine.group_by(keys).agg(pl.col("grade").max())
    joined = pool.join(best, on=keys, how="left", maintain_order="left")["grade"]
    return cast("Array", joined.cast(pl.Float64).fill_null(float("nan")).to_numpy())


def _looked_up(source: RankingSource, run: int, query: Array, rank: Array, valued: Array) -> Array:
    """What each document adds to the value of a run: the share of the judged document that stands at its rank."""
    key, share = _shares(source, run, valued)
    if not len(key):
        return np.zeros(len(query))
    wanted = np.where(rank > 0, query * SPAN + rank, -1)
    near = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    return np.where(key[near] == wanted, share[near], 0.0)


def _shares(source: RankingSource, run: int, valued: Array) -> tuple[Array, Array]:
    """What judged documents add, those that add something: query and rank as one number, in rising order, and the share."""
    judged, place = source.judged[run], source.places[run]
    kept = (place >= 0) & np.append(valued, False)[place]
    keys, parts = [np.empty(0, dtype=np.int64)], [np.empty(0)]
    for chunk in judged.chunks():
        here = chunk[kept[chunk]]
        if not len(here):
            continue
        lists = judged.lists(here)
        terms = source.metric.taken_apart(lists)
        shares = terms.shares
        row, cell = np.nonzero(terms.lists.shown & (shares != 0))
        keys.append(place[here[row]] * SPAN + lists.rank[row, cell])
        parts.append(shares[row, cell])
    key, share = np.concatenate(keys), np.concatenate(parts)
    order = np.argsort(key, kind="stable")
    return key[order], share[order]


def below(source: RankingSource, pool: DocumentPool) -> list[list[list[tuple[int, float]]]]:
    """For each run and query, rank and grade of the documents of a grade above 0 that are not in the pool."""
    out: list[list[list[tuple[int, float]]]] = []
    for run, (owner, judged) in enumerate(zip(source.owners, source.judged, strict=True)):
        lists: list[list[tuple[int, float]]] = [[] for _ in source.number]
        at = np.flatnonzero((owner >= 0) & (judged.rank > 0) & (judged.grade > 0))
        key = owner[at] * SPAN + judged.rank[at]
        known = pool.query * SPAN + pool.ranks[run]
        at = at[~np.isin(key, known)]
        for query, rank, grade in zip(
            owner[at].tolist(), judged.rank[at].tolist(), judged.grade[at].tolist(), strict=True
        ):
            lists[query].append((rank, grade))
        out.append(lists)
    return out


# --- documents that no ranking shows ---------------------------------------------------------------------


def pool_of_missed(source: RankingSource, pool: DocumentPool, kept: Array, values: Array) -> DocumentPool:
    """Of each query that is ``kept``, the 5 best documents of a grade above 0 that are not in the pool; equal grades by id."""
    there = pl.DataFrame(
        {"query": pool.query, "doc_id": list(pool.doc_ids)}, schema={"query": pl.Int64, "doc_id": pl.String}
    )
    rows = (
        _graded(source, kept)
        .join(there, on=["query", "doc_id"], how="anti")
        .sort("query", "grade", "doc_id", descending=[False, True, False])
        .filter(pl.int_range(pl.len()).over("query") < MISSED)
    )
    # no rank of theirs is shown, so that ``best`` does not matter
    return pool_of(source, rows.select("query_id", "query", "doc_id", best=pl.lit(0, pl.Int64)), values)


def _graded(source: RankingSource, kept: Array) -> pl.DataFrame:
    """query_id, query, doc_id and grade of the documents of a grade above 0; of several grades the highest."""
    numbers = {query: number for query, number in source.number.items() if kept[number]}
    if source.qrels.is_mapping:
        flat = [
            (query, number, doc, float(grade))
            for query, number in numbers.items()
            for doc, grade in as_text(source.qrels.data.get(query, {}), f"qrels: query {query}").items()
        ]
        schema = {"query_id": pl.String, "query": pl.Int64, "doc_id": pl.String, "grade": pl.Float64}
        return pl.DataFrame(flat, schema=schema, orient="row").filter(pl.col("grade") > 0)
    numbered = pl.DataFrame(
        {"query_id": list(numbers), "query": np.fromiter(numbers.values(), dtype=np.int64)},
        schema={"query_id": pl.String, "query": pl.Int64},
    )
    graded: pl.DataFrame = source.qrels.data.frame.filter(pl.col("grade") > 0).join(numbered, on="query_id")
    return graded.group_by("query_id", "query", "doc_id").agg(pl.col("grade").max().cast(pl.Float64))
