"""What one run loses on a metric, query by query: by what it retrieved, and by how it ordered that; with documents as examples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rankscope.lists import Array, Judged
from rankscope.metrics import RR, Metric
from rankscope.panels.samples import mean
from rankscope.scoring.ceilings import Ceilings, worthy
from rankscope.scoring.inputs import clean
from rankscope.scoring.ranking import Ranking, order_of, part_of, ranking_of
from rankscope.scoring.scores import Scores
from rankscope.verbs.diagnose.failures import (
    HIGH,
    KINDS,
    DepthCounts,
    QueryFacts,
    RankCounts,
    at_ranks,
    depths_of,
    kind_of,
    typical,
)  # fmt: skip

FEW = 3  # examples of each thing


@dataclass(frozen=True, kw_only=True)
class Loss:
    """What is lost on a metric against ideal rankings, and why: over all queries of a run, or on one of them.

    ``loss = never_retrieved + ordered_badly``, none of them below 0: what was not among the documents retrieved, and what those
    retrieved would score more in the best order. ``ceiling`` is the value in that order, ``tops[n]`` the value if only the first n
    were put in the best order. NaN where it is not known. ``sign`` is -1 where lower is better.
    """

    value: float
    ceiling: float
    best: float
    sign: float = 1.0
    tops: Mapping[int, float] = field(default_factory=dict)

    @property
    def never_retrieved(self) -> float:
        """What is lost because documents were not retrieved."""
        return self.sign * (self.best - self.ceiling)

    @property
    def ordered_badly(self) -> float:
        """What is lost by the order of what was retrieved."""
        return self.sign * (self.ceiling - self.value)

    @property
    def total(self) -> float:
        """How much better an ideal ranking is."""
        return self.never_retrieved + self.ordered_badly

    @property
    def share(self) -> float | None:
        """The share of it that was never retrieved; None where nothing is lost."""
        return self.never_retrieved / self.total if self.total > 0 else None


@dataclass(frozen=True, kw_only=True)
class QueryDiagnosis(Loss):
    """One query of one run: its value, what it could be, and how it fails.

    ``regret`` is how much better the best of the runs is on it, which is ``best_run``. NaN where a number is not known.
    """

    run: str
    query_id: str
    kind: str
    known: int
    found: int
    first_relevant: int
    regret: float = 0.0
    best_run: str = ""

    @property
    def loss(self) -> float:
        """How much better an ideal ranking is."""
        return self.total


@dataclass(frozen=True, eq=False)
class RunDiagnosis:
    """One run: what it loses over all queries, and how each query fails.

    ``whole`` is the value over all queries, as ``evaluate`` gives it. Arrays have one entry a query: those that the metric averages,
    the undefined among them; for a pooled metric, which is no mean, the values of the queries are those of each query alone.
    """

    name: str
    metric: Metric
    query_ids: Sequence[str]
    whole: float
    value: Array
    weight: Array
    ceilings: Ceilings
    facts: QueryFacts
    judged: Judged

    @property
    def sign(self) -> float:
        """1 where higher is better, -1 where lower is."""
        return -1.0 if self.metric.better == "lower" else 1.0

    @cached_property
    def loss(self) -> Loss:
        """What is lost over all queries, and why."""
        limits = self.ceilings
        tops = {depth: self._mean(top) for depth, top in limits.tops.items() if depth is not None}
        ceiling, best = self._mean(limits.ceiling), self._mean(limits.best)
        return Loss(value=self.whole, ceiling=ceiling, best=best, sign=self.sign, tops=tops)

    def _mean(self, values: Array) -> float:
        return mean(self.metric, values, self.weight)

    @cached_property
    def kind(self) -> Array:
        """The number of each query's kind in ``failures.KINDS``."""
        return kind_of(self.facts)

    @cached_property
    def kinds(self) -> dict[str, int]:
        """How many queries fail in each way; they sum to the queries."""
        count = np.bincount(self.kind, minlength=len(KINDS)).tolist()
        return dict(zip((kind.name for kind in KINDS), count, strict=True))

    @cached_property
    def high(self) -> list[RankCounts]:
        """What stands at the first ranks."""
        return at_ranks(self.metric, self.judged)

    @cached_property
    def depths(self) -> list[DepthCounts]:
        """How deep relevant documents were found, grade by grade."""
        return depths_of(self.metric, self.judged)

    @property
    def depth(self) -> DepthCounts:
        """How deep relevant documents of any grade were found."""
        return DepthCounts.of(math.nan, self.judged.rank[worthy(self.metric, self.judged.grade)])

    @cached_property
    def typical(self) -> tuple[float, float]:
        """The typical ranks of the first relevant document: the harmonic mean, which is 1 / RR, and the lower median; infinite where half of the queries or more show none."""
        first = self.facts.first
        if isinstance(self.metric, RR):  # below its cutoff nothing is found, and a query without a value does not count
            first = np.where(first > (self.metric.cutoff or np.inf), 0, first)[~np.isnan(self.value)]
        return typical(first)

    @property
    def worst_first(self) -> Array:
        """The numbers of the queries, those that lose most first; without a known loss by their values."""
        lost = -self.sign * self.value if self.ceilings.reason else self.facts.lost
        return np.argsort(-np.nan_to_num(lost, nan=-np.inf), kind="stable")

    def queries(self) -> Iterator[QueryDiagnosis]:
        """Every query."""
        limits, facts = self.ceilings, self.facts
        numbers = (self.value, limits.ceiling, limits.best, self.kind, facts.known, facts.found, facts.first)
        for query, row in zip(self.query_ids, zip(*(one.tolist() for one in numbers), strict=True), strict=True):
            value, ceiling, best, kind, known, found, first = row
            yield QueryDiagnosis(
                run=self.name, query_id=query, value=value, ceiling=ceiling, best=best, sign=self.sign, kind=KINDS[kind].name,
                known=known, found=found, first_relevant=first,
            )  # fmt: skip


@dataclass(frozen=True)
class ExampleDocument:
    """One document as an example: ``rank`` is None where it was not retrieved."""

    run: str
    what: str
    query_id: str
    doc_id: str
    grade: float
    rank: int | None


@dataclass(frozen=True, eq=False)
class Examples:
    """Finds examples with the ids of their documents in what was evaluated."""

    qrels: Any
    runs: Mapping[str, Any]
    scores: Scores

    def of(self, run: RunDiagnosis) -> list[ExampleDocument]:
        """Documents judged not relevant at the first ranks, relevant ones never retrieved, and those found far down.

        A few of each, from the queries that lose most, a document a query.
        """
        rows = list(_rows(run))
        queries = list(dict.fromkeys(run.query_ids[query] for _, query, _ in rows))
        policies, order = self.scores.request.policies, order_of(self.scores, run.metric)
        grades = clean(part_of(self.qrels, queries), policies, "qrels", [run.metric])
        ranked = clean(part_of(self.runs[run.name], queries), policies, "run")
        rankings = {query: ranking_of(ranked, grades, query, order) for query in queries}
        made = (_example(what, rankings[run.query_ids[query]], run, row) for what, query, row in rows)
        return [example for example in made if example is not None]


def _rows(run: RunDiagnosis) -> Iterator[tuple[str, int, int]]:
    """The examples: what each is of, its query, and its row among the judged documents."""
    judged = run.judged
    query = np.repeat(np.arange(len(judged)), judged.size)
    place = np.argsort(run.worst_first)
    relevant = worthy(run.metric, judged.grade)

    def first(what: str, rows: Array, *keys: Array) -> Iterator[tuple[str, int, int]]:
        at = np.flatnonzero(rows)
        at = at[np.lexsort([place[query[at]], *(key[at] for key in keys)])]
        once = at[np.sort(np.unique(query[at], return_index=True)[1])][:FEW]
        yield from ((what, int(query[row]), row) for row in once.tolist())

    bad = (judged.grade >= 0) & ~relevant & np.isin(judged.rank, HIGH)
    yield from first("not relevant, high up", bad, judged.rank)
    yield from first("relevant, never retrieved", relevant & (judged.rank == 0), -judged.grade)
    yield from first("relevant, far down", relevant & (judged.rank > run.facts.k), -judged.rank, -judged.grade)


def _example(what: str, ranking: Ranking, run: RunDiagnosis, row: int) -> ExampleDocument | None:
    rank, grade = int(run.judged.rank[row]), float(run.judged.grade[row])
    docs: Sequence[str] = ranking.doc_ids[rank - 1 : rank]
    if not rank:
        docs = sorted(doc for doc in set(ranking.grades).difference(ranking.doc_ids) if ranking.grades[doc] == grade)
    return ExampleDocument(run.name, what, ranking.query_id, docs[0], grade, rank or None) if docs else None
