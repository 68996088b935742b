"""How queries fail: every query in exactly one kind, each kind declared with its rule, its meaning and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rankscope.lists import Array, Judged
from rankscope.metrics import Metric
from rankscope.scoring.ceilings import worthy

TOP = 10  # the top of a ranking, for a metric without a cutoff
HIGH = (1, 2, 3)  # ranks at which a document that is not relevant is most in the way
BANDS = ((1, 10), (11, 100), (101, 1000), (1001, None))  # ranks at which relevant documents are found
EQUAL = 1e-12  # a loss below this is due to rounding


@dataclass(frozen=True, eq=False)
class QueryFacts:
    """What is true of each query; all arrays have one entry a query.

    ``known`` relevant documents exist, ``found`` of them were retrieved anywhere and ``in_top`` within rank ``k``; ``first`` is the
    rank of the first (0: none retrieved). ``retrieved`` counts all documents, ``top`` those within rank k, and ``unjudged`` how many
    of the latter are not in the qrels. ``lost`` is how much the best ranking there is scores more; NaN where that is not known.
    """

    k: int
    known: Array
    found: Array
    in_top: Array
    first: Array
    retrieved: Array
    top: Array
    unjudged: Array
    lost: Array

    @property
    def perfect(self) -> Array:
        """Whether nothing is lost; where the loss is not known, whether the top k starts with a relevant document and holds all the relevant ones it can."""
        packed = self.in_top >= np.minimum(self.known, self.k)
        return np.asarray(np.where(np.isnan(self.lost), packed & self.leads, self.lost <= EQUAL))

    @property
    def leads(self) -> Array:
        """Whether the first document is relevant."""
        return np.asarray(self.first == 1)


@dataclass(frozen=True)
class FailureKind:
    """A way to fail: its ``name`` for programs, and the ``label`` that people read.

    ``rule`` says of each query whether it is so; of several rules that hold, the first of ``KINDS`` counts.
    """

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
        "nothing returned", "nothing returned", "the ranking is empty, or the run has none",
        "find out why: a filter, a timeout, an id that differs", lambda f: f.retrieved == 0,
    ),
    FailureKind(
        "top unjudged", "top mostly unjudged", "nothing relevant in the top k, and half of it or more is unjudged",
        "judge these documents first: the low value may be a gap in the judgments",
        lambda f: (f.in_top == 0) & (2 * f.unjudged >= f.top),
    ),
    FailureKind(
        "nothing relevant retrieved", "nothing relevant retrieved", "relevant documents exist and none is in the ranking, at any rank",
        "a re-ranker cannot help: check the wording of query and documents, the filters, the depth", lambda f: f.found == 0,
    ),
    FailureKind(
        "below the top", "relevant only below the top", "the first relevant document is ranked below k",
        "a re-ranker can help: the documents are there", lambda f: f.in_top == 0,
    ),
    FailureKind(
        "low in the top", "relevant, but not first", "a relevant document is in the top k, but not first",
        "look at what is ranked above it", lambda f: ~f.leads,
    ),
    FailureKind(
        "partly found", "partly found", "a relevant document is first, but something is lost further down",
        "see what is missing with `rankscope explain --query`", lambda f: f.leads,
    ),
)  # fmt: skip

LABELS = {kind.name: kind.label for kind in KINDS}
HOPELESS = "no relevant known"
NOTHING = ("nothing returned", "top unjudged", "nothing relevant retrieved", "below the top")  # in the top k


def kind_of(facts: QueryFacts) -> Array:
    """The number in ``KINDS`` of each query's kind: the first whose rule holds. Every query has exactly one.

    >>> one = np.array([1])
    >>> facts = QueryFacts(10, 2 * one, one, one, 4 * one, 10 * one, 10 * one, 6 * one, np.array([0.5]))
    >>> [KINDS[number].name for number in kind_of(facts)]
    ['low in the top']
    """
    holds = [np.asarray(kind.rule(facts), dtype=bool) for kind in KINDS]
    assert np.logical_or.reduce(holds).all(), "every query fails in some way"
    return np.asarray(np.argmax(np.stack(holds), axis=0))


def facts_of(metric: Metric, judged: Judged, lost: Array) -> QueryFacts:
    """What is true of each query, from its judged documents."""
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
        k=k,
        known=per_query(relevant),
        found=per_query(relevant & there),
        in_top=per_query(relevant & within),
        first=np.where(first == never, 0, first),
        retrieved=retrieved,
        top=top,
        unjudged=top - per_query(within),
        lost=lost,
    )


def _visible(metric: Metric, judged: Judged) -> Judged:
    """The documents at the ranks that the metric sees: without unjudged ones, where it leaves these out."""
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
        """All of them."""
        return sum(self.bands) + self.never


def depths_of(metric: Metric, judged: Judged) -> list[DepthCounts]:
    """How deep relevant documents were found, grade by grade, the highest first."""
    relevant = worthy(metric, judged.grade)
    grades = np.unique(judged.grade[relevant])[::-1].tolist()
    return [DepthCounts.of(grade, judged.rank[relevant & (judged.grade == grade)]) for grade in grades]


@dataclass(frozen=True)
class RankCounts:
    """What stands at one rank, in how many queries: relevant, judged and not relevant, not judged, or nothing at all."""

    rank: int
    relevant: int
    not_relevant: int
    unjudged: int
    nothing: int


def at_ranks(metric: Metric, judged: Judged) -> list[RankCounts]:
    """What stands at the first ranks; documents that were pooled and left without a grade count as not judged."""
    relevant = worthy(metric, judged.grade)
    out = []
    for rank in HIGH:
        here = judged.rank == rank
        kinds = (judged.retrieved >= rank, here & relevant, here & ~relevant & (judged.grade >= 0))
        retrieved, good, bad = (int(np.count_nonzero(kind)) for kind in kinds)
        out.append(RankCounts(rank, good, bad, retrieved - good - bad, len(judged) - retrieved))
    return out


def typical(first: Array) -> tuple[float, float]:
    """The typical rank of a first relevant document: the harmonic mean of the ranks, and the lower median. None found is infinitely deep.

    >>> typical(np.array([1, 2, 0, 4]))  # 4 / (1 + 1/2 + 0 + 1/4), and the second of 1, 2, 4, never
    (2.2857142857142856, 2.0)
    """
    if not len(first):
        return math.nan, math.nan
    ranks = sorted(float(rank) if rank else math.inf for rank in first.tolist())
    inverse = math.fsum(1.0 / rank for rank in ranks)
    return (len(ranks) / inverse if inverse else math.inf), ranks[(len(ranks) - 1) // 2]
