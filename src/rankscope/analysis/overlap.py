"""The similarity of runs: rank-biased overlap and Jaccard of each pair, and runs that are the same ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from rankscope import words
from rankscope.blocks import Chart, Column, NumberText, Table, Value
from rankscope.lists import Array
from rankscope.lists.overlap import count_shared_by_depth, jaccard_by_query, rbo_by_query, same_values
from rankscope.metrics import Metric
from rankscope.scoring.ranking import top_of
from rankscope.scoring.scores import Scores

PERSISTENCE = 0.9  # with it the first 10 ranks weigh 86 % (Webber, Moffat and Zobel, 2010)
DEPTH = 100  # ranks compared: those below weigh 0.9**100
USUAL = 10  # the cutoff of a metric without one
QUERIES = 500  # queries compared, so that a report does not wait for them
PAIRS = 60_000  # pairs of runs times queries
MATRIX = 8  # runs that a table has columns for
RBO = (
    "Rank-biased overlap of each pair of runs: 1 if two rankings are the same, 0 if they share no document. The top counts most: "
    f"a share of {words.amount(PERSISTENCE)} of the attention goes on from each rank to the next, and documents below rank {DEPTH} are assumed to agree as those above."
)


@dataclass(frozen=True)
class RunOverlap:
    """Two runs: their mean overlap over the ``queries`` that both rank. ``in_common`` is how many documents their first k have in common."""

    one: str
    other: str
    queries: int
    rbo: float
    jaccard: float
    in_common: float

    def partner(self, name: str) -> str:
        """The other one of the two."""
        return self.other if self.one == name else self.one


@dataclass(frozen=True, eq=False)
class RunOverlaps:
    """Each pair of runs: the overlap of their first ``k`` documents and of their whole tops, on ``looked_at`` of the ``queries``."""

    runs: Sequence[str]
    pairs: Sequence[RunOverlap]
    k: int
    queries: int
    looked_at: int

    @property
    def known(self) -> list[RunOverlap]:
        """The pairs that rank a query in common."""
        return [pair for pair in self.pairs if pair.queries]

    def charts(self) -> tuple[Chart, Chart]:
        """A square of runs for rank-biased overlap, and one for the documents of the top."""
        k = self.k
        jaccard = f"Jaccard of the first {k} of each pair of runs: 1 if they hold the same documents, in any order."
        title = f"Documents in the first {k} of both runs, out of the documents in the first {k} of either"
        return (
            self._heat("agreement-rbo", f"Rank-biased overlap (p={words.amount(PERSISTENCE)})", "RBO", "rbo", RBO),
            self._heat("agreement-jaccard", title, f"Jaccard@{k}", "jaccard", jaccard),
        )

    def _heat(self, name: str, title: str, header: str, part: str, caption: str) -> Chart:
        values = {frozenset((p.one, p.other)): getattr(p, part) for p in self.pairs}
        rows = tuple(
            (one, other, 1.0 if one == other else words.finite(values[frozenset((one, other))]))
            for one, other in product(self.runs, repeat=2)
        )
        columns = Column("run"), Column("other"), Column(header, "value")
        return Chart(
            name, title, "heat", columns, rows, x="other", y="run", colour=header, caption=caption, limits=(0.0, 1.0),
            axes=(("other", "other run"),),
            told=len(self.runs) <= MATRIX,  # of more runs the table has but the most and the least alike
        )  # fmt: skip

    def table(self) -> Table:
        """Every pair, or with many runs, for each the most and the least alike."""
        last = (
            Column("RBO", "value"), Column(f"Jaccard@{self.k}", "value"),
            Column(f"shared of {self.k}", "value", hint=f"documents in the first {self.k} of both"),
        )  # fmt: skip
        rows: list[tuple[Value, ...]] = []
        if len(self.runs) <= MATRIX:
            order = sorted(self.pairs, key=lambda p: -(words.finite(p.rbo) or 0.0))
            rows += [(pair.one, pair.other, *_cells(pair), pair.queries) for pair in order]
            columns = (Column("run"), Column("other"), *last, Column("queries", "count"))
            title = "Pairs of runs, the most alike first"
            return Table(columns, tuple(rows), labels=2, name="agreement-table", title=title)
        for name in self.runs:
            own = [pair for pair in self.known if name in (pair.one, pair.other)]
            if own:
                near, far = max(own, key=lambda p: p.rbo), min(own, key=lambda p: p.rbo)
                rows.append((name, near.partner(name), *_cells(near), far.partner(name), words.finite(far.rbo)))
        header = (Column("run"), Column("most alike"), *last, Column("least alike"), Column("its RBO", "value"))
        return Table(header, tuple(rows), name="agreement-table", title="The most and the least alike to each run")

    def sentence(self) -> str:
        """Which runs share most, and which least."""
        near, far = max(self.known, key=lambda p: p.rbo), min(self.known, key=lambda p: p.rbo)
        most = f"{self._shares(near)} (rank-biased overlap {words.number(near.rbo, digits=2)})."
        if len(self.known) == 1:
            return most
        return f"Most alike: {most} Least alike: {self._shares(far)} ({words.number(far.rbo, digits=2)})."

    def _shares(self, pair: RunOverlap) -> str:
        return f"{pair.one} and {pair.other} share {words.number(pair.in_common, digits=1)} of their first {self.k}"


def _cells(pair: RunOverlap) -> tuple[Value, ...]:
    shared = None if math.isnan(pair.in_common) else NumberText(words.number(pair.in_common, digits=1), pair.in_common)
    return words.finite(pair.rbo), words.finite(pair.jaccard), shared


def overlaps_of(scores: Scores, metric: Metric, runs: Mapping[str, Any]) -> RunOverlaps:
    """Each pair of ``runs``, on as many queries as time allows."""
    names = list(runs)
    ids = sorted({query for scored in scores.runs for query in scored.query_ids})
    queries = sample_queries(ids, len(names))
    k = getattr(metric, "cutoff", None) or USUAL
    tops = _tops(scores, metric, runs, queries, min(max(DEPTH, k), scores.request.policies.depth or DEPTH))
    pairs = [
        _pair(one, other, a, b, len(queries), k)
        for (one, a), (other, b) in combinations(zip(names, tops, strict=True), 2)
    ]
    return RunOverlaps(names, pairs, k, len(ids), len(queries))


def sample_queries(ids: Sequence[str], runs: int) -> list[str]:
    """Queries at even steps of their sorted ids, fewer for many runs."""
    most = max(1, min(QUERIES, PAIRS // max(runs * (runs - 1) // 2, 1)))
    return list(ids) if len(ids) <= most else [ids[i * len(ids) // most] for i in range(most)]


class _Top(NamedTuple):
    """The top of one run: rows of query number, document number and rank, and the length of each query's ranking."""

    query: Array
    doc: Array
    rank: Array
    size: Array


def _pair(one: str, other: str, a: _Top, b: _Top, queries: int, k: int) -> RunOverlap:
    both = np.flatnonzero((a.size > 0) & (b.size > 0))
    if not len(both):
        return RunOverlap(one, other, 0, math.nan, math.nan, math.nan)
    _, in_a, in_b = np.intersect1d(a.doc, b.doc, assume_unique=True, return_indices=True)
    depth = int(max(a.size.max(initial=1), b.size.max(initial=1)))
    shared = count_shared_by_depth(a.query[in_a], np.maximum(a.rank[in_a], b.rank[in_b]), queries, depth)[both]
    sizes = a.size[both], b.size[both]
    overlaps = rbo_by_query(shared, *sizes, PERSISTENCE), jaccard_by_query(shared, *sizes, k)
    parts = (*overlaps, shared[:, min(k, depth) - 1])
    return RunOverlap(one, other, len(both), *(math.fsum(part.tolist()) / len(part) for part in parts))


def _tops(scores: Scores, metric: Metric, runs: Mapping[str, Any], queries: Sequence[str], depth: int) -> list[_Top]:
    number = pl.DataFrame({"query_id": list(queries)}, schema={"query_id": pl.String}).with_row_index("query")
    tops = (top_of(scores, metric, run, depth, queries, name) for name, run in runs.items())
    frames = [top.join(number, on="query_id").with_columns(run=pl.lit(i)) for i, top in enumerate(tops)]
    whole = pl.concat(frames).with_columns((pl.struct("query", "doc_id").rank("dense") - 1).alias("doc"))
    out = []
    for i in range(len(frames)):
        rows = whole.filter(pl.col("run") == i)
        query, doc, rank = (rows[name].to_numpy().astype(np.int64) for name in ("query", "doc", "rank"))
        out.append(_Top(query, doc, rank, np.bincount(query, minlength=len(queries))))
    return out


def same_rankings(scores: Scores, metric: Metric, runs: Mapping[str, Any]) -> list[list[str]]:
    """The runs that hold the same documents in the same order on every query scored, two or more together."""
    out = []
    # rankings are compared only if all values are equal
    for names in same_values({run.name: (tuple(run.query_ids), *run.values.values()) for run in scores.runs}):
        kept: list[tuple[pl.DataFrame, list[str]]] = []
        for name in names:
            scored = next(run for run in scores.runs if run.name == name)
            rows = top_of(scores, metric, runs[name], label=name)
            rows = rows.filter(pl.col("query_id").is_in(list(scored.query_ids))).sort("query_id", "rank")
            group = next((group for frame, group in kept if frame.equals(rows)), [])
            group.append(name)
            if len(group) == 1:
                kept.append((rows, group))
        out += [group for _, group in kept if len(group) > 1]
    return out
