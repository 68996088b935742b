"""The losses of one run on a metric, per query, and the kind of each query's failure, declared with its rule and remedy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from rankscope.analysis.ceilings import Ceilings, worthy
from rankscope.lists import Array, Judged
from rankscope.metrics import RR, Metric
from rankscope.panels.samples import mean
from rankscope.scoring.inputs import clean
from rankscope.scoring.ranking import Ranking, order_of, part_of, ranking_of
from rankscope.scoring.scores import Scores

TOP = 10  # the top of a ranking, for a metric without a cutoff
HIGH = (1, 2, 3)  # ranks at which a document that is not relevant is most in the way
BANDS = ((1, 10), (11, 100), (101, 1000), (1001, None))  # ranks at which relevant documents are found
EQUAL = 1e-12  # a loss below this is due to rounding
FEW = 3  # examples of each thing


@dataclass(frozen=True, eq=False)
class QueryFacts:
    """Facts of each query. All arrays have one entry per query.

    ``known`` relevant documents exist, ``relevant_retrieved`` of them were retrieved anywhere and ``in_top`` within rank ``k``;
    ``first`` is the rank of the first (0: none retrieved). ``retrieved`` counts all documents, ``top`` those within rank k, and ``unjudged``
    the latter that are not in the qrels. ``loss`` is the gap to an ideal ranking; NaN if unknown.
    """

    k: int
    known: Array
    relevant_retrieved: Array
    in_top: Array
    first: Array
    retrieved: Array
    top: Array
    unjudged: Array
    loss: Array

    @property
    def perfect(self) -> Array:
        """True if nothing is lost. For an unknown loss, if the top k starts with a relevant document and holds all the relevant ones it can."""
        packed = self.in_top >= np.minimum(self.known, self.k)
        return np.asarray(np.where(np.isnan(self.loss), packed & self.leads, self.loss <= EQUAL))

    @property
    def leads(self) -> Array:
        """True if the first document is relevant."""
        return np.asarray(self.first == 1)


@dataclass(frozen=True)
class FailureKind:
    """A way to fail: its ``name`` for programs, its ``label`` for people, its ``rule`` (one boolean per query). The first of ``KINDS`` counts."""

    name: str
    label: str
    meaning: str
    remedy: str
    rule: Callable[[QueryFacts], Array]


KINDS = (
    FailureKind(
        "no relevant known", "no known relevant document", "no judged document is relevant",
        "judge more documents for these queries, or leave them out: no ranking can score on them", lambda f: f.known == 0,
    ),
    FailureKind("perfect", "perfect", "no ranking scores better", "nothing to do", lambda f: f.perfect),
    FailureKind(
        "nothing returned", "nothing returned", "the ranking is empty or missing",
        "find out why: a filter, a timeout, an id that differs", lambda f: f.retrieved == 0,
    ),
    FailureKind(
        "top unjudged", "top mostly unjudged", "nothing relevant in the top k, and half of it or more is unjudged",
        "judge these documents first: the low value may be a gap in the judgments",
        lambda f: (f.in_top == 0) & (2 * f.unjudged >= f.top),
    ),
    FailureKind(
        "nothing relevant retrieved", "nothing relevant retrieved", "relevant documents exist, but not in the ranking",
        "a re-ranker cannot help: check the wording of query and documents, the filters, the depth", lambda f: f.relevant_retrieved == 0,
    ),
    FailureKind(
        "below the top", "relevant only below the top", "the first relevant document is ranked below k",
        "a re-ranker can help: the documents are there", lambda f: f.in_top == 0,
    ),
    FailureKind(
        "low in the top", "relevant, but not first", "a relevant document is in the top k, but not first",
        "check the documents ranked above it", lambda f: ~f.leads,
    ),
    FailureKind(
        "partly found", "partly found", "a relevant document is first, but something is lost further down",
        "find the missing documents with `rankscope explain --query`", lambda f: f.leads,
    ),
)  # fmt: skip

LABELS = {kind.name: kind.label for kind in KINDS}
HOPELESS = "no relevant known"
NOTHING = ("nothing returned", "top unjudged", "nothing relevant retrieved", "below the top")  # in the top k


def kind_of(facts: QueryFacts) -> Array:
    """Return the number in ``KINDS`` of each query's kind: the first whose rule holds. Every query has exactly one."""
    holds = [np.asarray(kind.rule(facts), dtype=bool) for kind in KINDS]
    assert np.logical_or.reduce(holds).all(), "every query fails in some way"
    return np.asarray(np.argmax(np.stack(holds), axis=0))


def facts_of(metric: Metric, judged: Judged, loss: Array) -> QueryFacts:
    """Compute the facts of each query from its judged documents."""
    k = int(getattr(metric, "cutoff", None) or TOP)
    count, retrieved = len(judged), judged.retrieved
    judged = _visible(metric, judged)
    query = np.repeat(np.arange(count), judged.size)
    relevant = worthy(metric, judged.grade)
    there = judged.rank > 0
    within = there & (judged.rank <= k)

    def per_query(cells: Array) -> Array:
        return np.bincount(query[cells], minlength=count)

    at = np.flatnonzero(relevant & there)
    never = np.iinfo(np.int64).max
    first = np.full(count, never)
    np.minimum.at(first, query[at], judged.rank[at])
    top = np.minimum(judged.retrieved, k)
    return QueryFacts(
        k=k, known=per_query(relevant), relevant_retrieved=per_query(relevant & there), in_top=per_query(relevant & within),
        first=np.where(first == never, 0, first), retrieved=retrieved, top=top, unjudged=top - per_query(within),
        loss=loss,
    )  # fmt: skip


def _visible(metric: Metric, judged: Judged) -> Judged:
    if not getattr(metric, "judged_only", False):
        return judged
    graded = (judged.rank > 0) & (judged.grade >= 0)
    so_far = np.append(0, np.cumsum(graded))
    place = so_far[1:] - np.repeat(so_far[judged.start], judged.size)
    kept = so_far[judged.start + judged.size] - so_far[judged.start]
    return replace(judged, rank=np.where(graded, place, 0), retrieved=kept)


@dataclass(frozen=True)
class DepthCounts:
    """Relevant documents of one grade, or of all (NaN): how many were found in each of ``BANDS``, and how many never."""

    grade: float
    bands: tuple[int, ...]
    never: int

    @classmethod
    def of(cls, grade: float, rank: Array) -> DepthCounts:
        """The counts of documents with these ranks, 0 for those that were not found."""
        ends = ((low, np.inf if high is None else high) for low, high in BANDS)
        bands = tuple(int(np.count_nonzero((rank >= low) & (rank <= high))) for low, high in ends)
        return cls(grade, bands, int(np.count_nonzero(rank == 0)))

    @property
    def total(self) -> int:
        """The total over all bands."""
        return sum(self.bands) + self.never


def depths_of(metric: Metric, judged: Judged) -> list[DepthCounts]:
    """Count the ranks of relevant documents by grade, the highest first."""
    relevant = worthy(metric, judged.grade)
    grades = np.unique(judged.grade[relevant])[::-1].tolist()
    return [DepthCounts.of(grade, judged.rank[relevant & (judged.grade == grade)]) for grade in grades]


@dataclass(frozen=True)
class RankCounts:
    """The documents at one rank over all queries: relevant, not relevant, unjudged, or missing."""

    rank: int
    relevant: int
    not_relevant: int
    unjudged: int
    nothing: int


def at_ranks(metric: Metric, judged: Judged) -> list[RankCounts]:
    """Count the documents at the first ranks. Documents that were pooled and left without a grade count as unjudged."""
    relevant = worthy(metric, judged.grade)
    out = []
    for rank in HIGH:
        here = judged.rank == rank
        kinds = (judged.retrieved >= rank, here & relevant, here & ~relevant & (judged.grade >= 0))
        retrieved, good, bad = (int(np.count_nonzero(kind)) for kind in kinds)
        out.append(RankCounts(rank, good, bad, retrieved - good - bad, len(judged) - retrieved))
    return out


def typical(first: Array) -> tuple[float, float]:
    """The typical rank of a first relevant document: the harmonic mean of the ranks, and the lower median. A query without one counts as infinitely deep."""
    ranks = sorted(float(rank) if rank else math.inf for rank in first.tolist())
    inverse = math.fsum(1.0 / rank for rank in ranks)
    return (len(ranks) / inverse if inverse else math.inf, ranks[(len(ranks) - 1) // 2]) if ranks else (math.nan,) * 2


@dataclass(frozen=True, kw_only=True)
class Loss:
    """The loss of a run or query: documents never retrieved, and those ordered badly. ``tops[n]`` is the value with the first n in the best order. ``sign`` -1 if lower is better."""

    value: float
    ceiling: float
    best: float
    sign: float = 1.0
    tops: Mapping[int, float] = field(default_factory=dict)

    @property
    def never_retrieved(self) -> float:
        """The loss because documents were not retrieved."""
        return self.sign * (self.best - self.ceiling)

    @property
    def ordered_badly(self) -> float:
        """The loss because of the order of the retrieved documents."""
        return self.sign * (self.ceiling - self.value)

    @property
    def total(self) -> float:
        """The gap to an ideal ranking."""
        return self.never_retrieved + self.ordered_badly

    @property
    def share(self) -> float | None:
        """The share of the loss that was never retrieved. None without a loss."""
        return self.never_retrieved / self.total if self.total > 0 else None


@dataclass(frozen=True, kw_only=True)
class QueryDiagnosis(Loss):
    """One query of one run: its value, ceilings, kind of failure, and ``regret``, the gap to ``best_run``. NaN if a number is unknown."""

    run: str
    query_id: str
    kind: str
    relevant_known: int
    relevant_retrieved: int
    first_relevant: int
    regret: float = 0.0
    best_run: str = ""

    @property
    def loss(self) -> float:
        """The gap to an ideal ranking."""
        return self.total


@dataclass(frozen=True, eq=False)
class RunDiagnosis:
    """One run: its value over the ``whole``, its losses, and one entry in each array per query that the metric averages, the undefined among them."""

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
        """1 if higher is better, -1 if lower is."""
        return -1.0 if self.metric.better == "lower" else 1.0

    @cached_property
    def loss(self) -> Loss:
        """The loss over all queries, and its causes."""
        over = partial(mean, self.metric, weight=self.weight)
        limits = self.ceilings
        tops = {depth: over(top) for depth, top in limits.tops.items() if depth is not None}
        return Loss(value=self.whole, ceiling=over(limits.ceiling), best=over(limits.best), sign=self.sign, tops=tops)

    @cached_property
    def kind(self) -> Array:
        """The number of each query's kind in ``KINDS``."""
        return kind_of(self.facts)

    @cached_property
    def kinds(self) -> dict[str, int]:
        """The number of queries of each kind. They sum to the queries."""
        count = np.bincount(self.kind, minlength=len(KINDS)).tolist()
        return dict(zip((kind.name for kind in KINDS), count, strict=True))

    @cached_property
    def high(self) -> list[RankCounts]:
        """The documents at the first ranks."""
        return at_ranks(self.metric, self.judged)

    @cached_property
    def depths(self) -> list[DepthCounts]:
        """The depth of relevant documents, by grade."""
        return depths_of(self.metric, self.judged)

    @property
    def depth(self) -> DepthCounts:
        """The depth of relevant documents of any grade."""
        return DepthCounts.of(math.nan, self.judged.rank[worthy(self.metric, self.judged.grade)])

    @cached_property
    def typical(self) -> tuple[float, float]:
        """The typical ranks of the first relevant document: the harmonic mean, which is 1 / RR, and the lower median. Infinite if at least half of the queries have no relevant document."""
        first = self.facts.first
        if isinstance(self.metric, RR):  # below its cutoff nothing is found, and a query without a value does not count
            first = np.where(first > (self.metric.cutoff or np.inf), 0, first)[~np.isnan(self.value)]
        return typical(first)

    @property
    def worst_first(self) -> Array:
        """The numbers of the queries by their losses, largest first, or by their values if losses are unknown."""
        loss = -self.sign * self.value if self.ceilings.reason else self.facts.loss
        return np.argsort(-np.nan_to_num(loss, nan=-np.inf), kind="stable")

    def queries(self) -> Iterator[QueryDiagnosis]:
        """Every query."""
        limits, facts = self.ceilings, self.facts
        numbers = {
            "value": self.value, "ceiling": limits.ceiling, "best": limits.best, "relevant_known": facts.known,
            "relevant_retrieved": facts.relevant_retrieved, "first_relevant": facts.first,
        }  # fmt: skip
        rows = zip(*(one.tolist() for one in numbers.values()), strict=True)
        for query, kind, row in zip(self.query_ids, self.kind.tolist(), rows, strict=True):
            known: dict[str, Any] = dict(zip(numbers, row, strict=True))
            yield QueryDiagnosis(run=self.name, query_id=query, sign=self.sign, kind=KINDS[kind].name, **known)


@dataclass(frozen=True)
class ExampleDocument:
    """One document as an example: ``rank`` is None if it was not retrieved."""

    run: str
    what: str
    query_id: str
    doc_id: str
    grade: float
    rank: int | None


@dataclass(frozen=True, eq=False)
class Examples:
    """Finds examples with the ids of their documents in an evaluation."""

    qrels: Any
    runs: Mapping[str, Any]
    scores: Scores

    def of(self, run: RunDiagnosis) -> list[ExampleDocument]:
        """Documents judged not relevant at the first ranks, relevant ones never retrieved or far down: a few of each kind, one per query."""
        rows = list(_rows(run))
        queries = list(dict.fromkeys(run.query_ids[query] for _, query, _ in rows))
        policies, order = self.scores.request.policies, order_of(self.scores, run.metric)
        grades = clean(part_of(self.qrels, queries), policies, "qrels", [run.metric])
        ranked = clean(part_of(self.runs[run.name], queries), policies, "run")
        rankings = {query: ranking_of(ranked, grades, query, order) for query in queries}
        made = (_example(what, rankings[run.query_ids[query]], run, row) for what, query, row in rows)
        return [example for example in made if example is not None]


def _rows(run: RunDiagnosis) -> Iterator[tuple[str, int, int]]:
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
