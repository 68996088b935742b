"""The tops of several rankings, joined: documents, their rank in each run, and their shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from rankscope.engines.base import Order
from rankscope.engines.top import top
from rankscope.engines.values import cut
from rankscope.files import qrels_of
from rankscope.lists import Array, Judged
from rankscope.metrics import Metric
from rankscope.reporting.subject import Subject
from rankscope.scoring.inputs import CleanInput, clean
from rankscope.scoring.judging import judge_clean
from rankscope.scoring.ranking import order_of, part_of
from rankscope.scoring.scores import Scores
from rankscope.tables import Qrels

SPAN = 1 << 32  # more than any rank: queries and ranks as one number
MISSED = 5  # documents of a query


@dataclass(frozen=True, eq=False)
class RankingSource:
    """The data behind the values of one metric: judgments and runs after the policies, and the judged documents of each run.

    ``order`` is the one that documents are shown in; ``over_orders`` says that the values are means over all orders of equal scores.
    ``number`` numbers the queries looked at.
    """

    metric: Metric
    names: tuple[str, ...]
    qrels: Qrels
    runs: Sequence[CleanInput]
    judged: Sequence[Judged]
    order: Order
    over_orders: bool
    number: Mapping[str, int]

    @cached_property
    def places(self) -> list[Array]:
        """For each run, the engine's number of each query, -1 for queries left out."""
        return [np.array([self.number.get(query, -1) for query in one.query_id], dtype=np.int64) for one in self.judged]

    @cached_property
    def owners(self) -> list[Array]:
        """For each run, the query of each judged document."""
        return [np.repeat(place, one.size) for place, one in zip(self.places, self.judged, strict=True)]

    @cached_property
    def sizes(self) -> Array:
        """The number of retrieved documents: runs x queries."""
        return self._by_query([one.retrieved for one in self.judged])

    def unjudged(self, top: int) -> Array:
        """The number of unjudged documents in the first ``top``: runs x queries."""
        first = [_count(one, (one.rank > 0) & (one.rank <= top)) for one in self.judged]
        return self._by_query([np.minimum(one.retrieved, top) - n for one, n in zip(self.judged, first, strict=True)])

    @cached_property
    def good(self) -> Array:
        """The number of retrieved documents of a grade above 0: runs x queries."""
        return self._by_query([_count(one, (one.rank > 0) & (one.grade > 0)) for one in self.judged])

    def _by_query(self, columns: Sequence[Array]) -> Array:
        out = np.zeros((len(self.judged), len(self.number)), dtype=np.int64)
        for run, (place, column) in enumerate(zip(self.places, columns, strict=True)):
            out[run, place[place >= 0]] = column[place >= 0]
        return out

    @cached_property
    def grade_counts(self) -> list[list[tuple[float, int]]]:
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


def _count(judged: Judged, wanted: Array) -> Array:
    """The number of judged documents to fetch per query."""
    return np.bincount(np.repeat(np.arange(len(judged)), judged.size)[wanted], minlength=len(judged))


def source_of(
    subject: Subject[Any], scores: Scores, names: tuple[str, ...], metric: Metric, queries: Sequence[str], few: bool
) -> RankingSource:
    """Return the data behind a metric for these queries; for ``few`` of them the rest is dropped first."""
    policy = scores.request.policies
    over_orders = scores.request.of_metric(metric).convention.ties in {"expected", "best", "worst"}
    at, evaluations = scores.request.place(metric), dict(zip(subject.run_names, scores.evaluations, strict=True))
    judged = [evaluations[name].judged[at] for name in names]
    if over_orders:  # the engine read to the end, as a document below the depth may be tied with one above
        judged = [cut(one, policy.depth) for one in judged]
    runs = [part_of(subject.runs[name], queries) if few else subject.runs[name] for name in names]
    qrels = qrels_of(clean(subject.qrels, policy, "qrels", scores.metrics).data)
    number = {query: number for number, query in enumerate(queries)}
    cleaned = [clean(run, policy, "run") for run in runs]
    return RankingSource(metric, names, qrels, cleaned, judged, order_of(scores, metric), over_orders, number)


@dataclass(frozen=True, eq=False)
class DocumentPool:
    """Documents in the top of some run, each once per query; queries follow one another, best ranks first.

    ``query`` numbers the query of each, ``best`` is its best rank in any run, ``grade`` NaN where it is not in the qrels. ``ranks`` and
    ``adds`` are runs x documents: 0 where a run did not retrieve it.
    """

    query: Array
    best: Array
    doc_ids: Array
    grade: Array
    ranks: Array
    adds: Array

    def within(self, kept: Array) -> DocumentPool:
        """Some of the documents: a mask, or positions in their order."""
        return DocumentPool(*(getattr(self, f.name)[..., kept] for f in fields(self)))

    def beside(self, other: DocumentPool) -> DocumentPool:
        """These and others, query by query."""
        parts = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        both = DocumentPool(*(np.concatenate(pair, axis=-1) for pair in parts))
        return both.within(np.argsort(both.query, kind="stable"))


def pool_of_tops(source: RankingSource, depth: int, values: Array) -> DocumentPool:
    """Join the first ``depth`` documents of every run; ``values`` (runs x queries) mark the queries that have a value to split."""
    tops = [top(run.data, source.order, depth, name) for name, run in zip(source.names, source.runs, strict=True)]
    rows = pl.concat(tops).join(_number_frame(source.number), on="query_id").group_by("query_id", "query", "doc_id")
    return pool_of(source, rows.agg(pl.col("rank").min().alias("best")).sort("query", "best", "doc_id"), values)


def pool_of(source: RankingSource, rows: pl.DataFrame, values: Array) -> DocumentPool:
    """Return the documents of these rows, one row per document: query_id, query, doc_id and best."""
    keys = ["query_id", "doc_id"]
    query, ranks = rows["query"].to_numpy(), ranks_of(source, *(rows[key].to_list() for key in keys))
    adds = np.zeros(ranks.shape)
    for run in range(len(source.names)):
        adds[run] = _adds(source, run, query, ranks[run], ~np.isnan(values[run]))
    grades = source.qrels.frame.join(rows.select(keys), on=keys, how="semi").group_by(keys).agg(pl.col("grade").max())
    grade = rows.join(grades, on=keys, how="left", maintain_order="left")["grade"].cast(pl.Float64)
    best, doc_ids = rows["best"].to_numpy(), rows["doc_id"].to_numpy()
    return DocumentPool(query, best, doc_ids, grade.fill_null(float("nan")).to_numpy(), ranks, adds)


def ranks_of(source: RankingSource, query_ids: Sequence[str], doc_ids: Sequence[str]) -> Array:
    """The rank of each document in every run, however deep, as the engines order them."""
    rows = {"query_id": query_ids, "doc_id": doc_ids, "grade": range(len(doc_ids))}
    coded = pl.DataFrame(rows, schema={"query_id": pl.String, "doc_id": pl.String, "grade": pl.Float64}, strict=False)
    wanted = CleanInput(Qrels(coded))
    out = np.zeros((len(source.names), len(doc_ids)), dtype=np.int64)
    for run, (name, data) in enumerate(zip(source.names, source.runs, strict=True)):
        judged, _ = judge_clean(data, wanted, [source.order], name)[source.order]
        out[run, judged.grade.astype(np.int64)] = judged.rank
    return out


def _number_frame(number: Mapping[str, int]) -> pl.DataFrame:
    """query_id and query: the queries with their numbers."""
    columns = {"query_id": list(number), "query": list(number.values())}
    return pl.DataFrame(columns, schema={"query_id": pl.String, "query": pl.Int64})


def _adds(source: RankingSource, run: int, query: Array, rank: Array, valued: Array) -> Array:
    """Return the share of each document in the value of a run, by the judged document at its rank."""
    key, share = _shares(source, run, valued)
    if not len(key):
        return np.zeros(len(query))
    wanted = np.where(rank > 0, query * SPAN + rank, -1)
    near = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    return np.where(key[near] == wanted, share[near], 0.0)


def _shares(source: RankingSource, run: int, valued: Array) -> tuple[Array, Array]:
    """Return the non-zero shares of judged documents: query and rank as one ascending number, and the share."""
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
        columns = (column[at].tolist() for column in (owner, judged.rank, judged.grade))
        for query, rank, grade in zip(*columns, strict=True):
            lists[query].append((rank, grade))
        out.append(lists)
    return out


# --- documents that no ranking shows
def pool_of_missed(
    source: RankingSource, pool: DocumentPool, kept: Array, values: Array, most: int | None = MISSED
) -> DocumentPool:
    """Return, for each query that is ``kept``, the ``most`` best documents of a grade above 0 outside the pool (None: all)."""
    there = {"query": pool.query, "doc_id": pool.doc_ids.tolist()}
    keys = ["query", "doc_id"]
    numbers = _number_frame({query: number for query, number in source.number.items() if kept[number]})
    graded = source.qrels.frame.filter(pl.col("grade") > 0).join(numbers, on="query_id")
    rows = (
        graded.group_by("query_id", *keys)
        .agg(pl.col("grade").max().cast(pl.Float64))
        .join(pl.DataFrame(there, schema={"query": pl.Int64, "doc_id": pl.String}), on=keys, how="anti")
        .sort("query", "grade", "doc_id", descending=[False, True, False])
    )
    if most is not None:
        rows = rows.filter(pl.int_range(pl.len()).over("query") < most)
    # no rank of theirs is shown, so that ``best`` does not matter
    return pool_of(source, rows.select("query_id", *keys, best=pl.lit(0, pl.Int64)), values)
