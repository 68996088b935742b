"""Runs that are read once and fused by any method, for ``fuse`` and ``tune``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.engines.base import Order
from rankscope.errors import DataError, InputError
from rankscope.files import run_of
from rankscope.lists import Array
from rankscope.parallel import map_parts
from rankscope.rankers.fusions import Fusion
from rankscope.rankers.normalisations import Normalisation
from rankscope.rankers.rank_table import RankTable
from rankscope.scoring.inputs import clean, distinct_names, label_of, named_runs, read_any
from rankscope.scoring.policies import Policies
from rankscope.scoring.pools import JoinedRuns, map_pools, relevance_of
from rankscope.tables import Qrels, Run, column
from rankscope.words import in_caller_syntax


def read_tables(runs: Any, policies: Policies) -> Iterator[Run]:
    """Yield the runs of a call as tables, cleaned as the policies ask, each under its own name."""
    sources = list(named_runs(runs))
    read = list(map_parts(lambda one: run_of(read_any("run", one[1], one[0], reading=policies)), sources))
    if policies.columns is not None:
        policies.columns.refuse_absent()
    names = (label_of(run, name, at) for at, ((name, _), run) in enumerate(zip(sources, read, strict=True), 1))
    named = [run.named(name) for run, name in zip(read, distinct_names(list(names)), strict=True)]
    yield from map_parts(lambda run: clean(run, policies, "run").data, named)


def order_for_fusion(policies: Policies) -> Order:
    """Return the order of equal scores and the depth. Raises InputError if the policy has no single order."""
    if policies.ties not in ("trec", "docid", "input", "rank"):
        raise InputError(
            in_caller_syntax(f"--ties {policies.ties}: one order of equal scores is needed: trec, docid, input or rank")
        )
    return Order(policies.ties, policies.depth)


def refuse_unfit(fusion: Fusion, runs: Sequence[Run]) -> None:
    """Refuse fewer than two runs and a wrong number of weights (InputError), and runs without a common query (DataError)."""
    if len(runs) < 2:
        raise InputError(f"a fusion needs two runs or more, and {words.counted(len(runs), 'run')} was given")
    weights = len(fusion.run_weights)
    if weights and weights != len(runs):
        raise InputError(
            f"{fusion}: {words.counted(weights, 'weight')} for {len(runs)} runs: give one per run, in their order"
        )
    seen: set[str] = set()
    for run in runs:
        if seen and not seen.isdisjoint(run.queries):
            return
        seen |= set(run.queries)
    raise DataError(
        f"no query is in two runs: {words.listing([run.name for run in runs], 5, last='and')} have nothing to fuse"
    )


@dataclass(frozen=True, eq=False)
class RunsToFuse:
    """Runs in one order of equal scores, to be fused by one method or by many."""

    runs: Sequence[Run]
    order: Order

    @cached_property
    def kept(self) -> list[JoinedRuns]:
        """The joined documents of all queries, held for further fusions."""
        return list(map_pools(self.runs, self.order, lambda pool: pool))

    def learn(self, fusion: Fusion, judgments: Qrels, queries: Iterable[str] | None = None) -> list[Array]:
        """Return the knowledge of a fusion from judgments, of all judged queries or of some. Raises DataError if no query is judged."""
        judged = list(set(judgments.queries) if queries is None else set(judgments.queries) & set(queries))
        known = [
            replace(run, frame=run.frame.filter(run.frame["query_id"].is_in(judged)), more_queries=())
            for run in self.runs
        ]
        tables = list(map_pools(known, self.order, lambda pool: relevance_of(pool, judgments).table))
        if not tables:
            raise DataError("no query of the runs has judgments, so nothing can be learned")
        return fusion.learn(RankTable.joined(tables))

    def fuse(
        self, fusion: Fusion, normalisation: Normalisation | None, learned: list[Array] | None = None, k: int | None = None,
        *, keep: bool = False,
    ) -> pl.DataFrame:  # fmt: skip
        """Return the rows of the fused run. ``keep`` holds the joined documents in memory for the next fusion."""

        def fused(pool: JoinedRuns) -> pl.DataFrame:
            return pool.run_of(self._scores(fusion, normalisation, pool.table, learned), k)

        return pl.concat(map_parts(fused, self.kept) if keep else map_pools(self.runs, self.order, fused))

    def _scores(
        self, fusion: Fusion, normalisation: Normalisation | None, table: RankTable, learned: list[Array] | None
    ) -> Array:
        if normalisation is not None:
            with np.errstate(invalid="ignore", over="ignore"):
                table = table.with_scores(normalisation.apply(table))
        if fusion.of_scores:
            endless = np.isinf(table.score).any()
            what = (
                "infinite scores, which no scale fits: fuse ranks, like RRF"
                if endless
                else "a list without a score above 0 to divide by: normalise by MinMax"
            )
            self._refuse(~np.isfinite(table.scores) & table.found, what)
        if fusion.unsigned:
            self._refuse(
                table.scores < 0,
                f"scores below 0{f' after {normalisation}' if normalisation else ''}, and {fusion} multiplies them by the number of runs, so that agreement would count against a document: normalise them by MinMax",
            )
        return fusion.scores(table) if learned is None else fusion.scores_with(table, learned)

    def _refuse(self, cells: Array, reason: str) -> None:
        """Name the first run with a marked cell, rows x runs."""
        marked = np.flatnonzero(cells.any(axis=0))
        if len(marked):
            raise InputError(in_caller_syntax(f"{self.runs[int(marked[0])].name} has {reason}"))


@dataclass(frozen=True, eq=False)
class ReorderedLists:
    """The documents of each query of a run, best first: ``documents[starts[i] : starts[i] + sizes[i]]`` for query i."""

    name: str
    queries: Sequence[str]
    documents: pl.Series
    scores: Array
    starts: Array
    sizes: Array

    @classmethod
    def read(cls, run: Any, policies: Policies) -> ReorderedLists:
        """Read a run and rank its documents. Raises InputError for several runs or an unreadable one."""
        tables = list(read_tables(run, policies))
        if len(tables) != 1:
            raise InputError("one ranking is reordered: give a single run")
        (pool,) = map_pools(tables, order_for_fusion(policies), lambda pool: pool, max(tables[0].frame.height, 1))
        rows = np.lexsort((pool.table.ranks[:, 0], pool.table.query))
        return cls(
            tables[0].name, pool.queries.to_list(), pool.documents.gather(column(rows)), pool.table.scores[rows, 0],
            pool.table.starts, pool.table.sizes,
        )  # fmt: skip

    def top(self, query: int, most: int) -> list[str]:
        """Return the first documents of a query."""
        return self.documents.slice(int(self.starts[query]), min(int(self.sizes[query]), most)).to_list()

    def relevance(self, query: int, most: int) -> Array:
        """Return the scores of the first documents, scaled from 0 to 1. Equal scores are all 1."""
        start = int(self.starts[query])
        scores = self.scores[start : start + min(int(self.sizes[query]), most)]
        if not np.isfinite(scores).all():
            raise InputError(
                f"{self.name}, query {self.queries[query]}: a score is infinite, and relevance is on a scale: give it a number"
            )
        spread = np.ptp(scores) if len(scores) else 0.0
        return np.asarray((scores - scores.min()) / spread) if spread > 0 else np.ones(len(scores))

    def reordered(self, orders: Mapping[int, Array], name: str) -> Run:
        """Return a run with other first documents: ``orders`` maps the number of a query to positions among these. The first of n documents scores n."""
        rows = np.arange(len(self.scores))
        for query, order in orders.items():
            start, size = int(self.starts[query]), int(self.sizes[query])
            rest = np.setdiff1d(np.arange(size), order, assume_unique=True)
            rows[start : start + size] = start + np.concatenate([order, rest])
        place = np.arange(len(rows)) - np.repeat(self.starts, self.sizes)
        names = pl.Series("query_id", self.queries).gather(column(np.repeat(np.arange(len(self.sizes)), self.sizes)))
        scores = (np.repeat(self.sizes, self.sizes) - place).astype(np.float64)
        frame = pl.DataFrame({"query_id": names, "doc_id": self.documents.gather(column(rows)), "score": scores})
        return Run(frame, name=name)
