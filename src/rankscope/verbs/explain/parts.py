"""One value split by rank, and its change if documents had other ranks or other grades."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from rankscope.analysis.ceilings import candidates, why_not
from rankscope.engines.values import map_kernels, rerank
from rankscope.lists import Array, Judged, Lists
from rankscope.metrics import Metric
from rankscope.metrics.base import Terms
from rankscope.scoring.ranking import Ranking

FEW = 10  # positions shown, and ranks tried, of a metric without a cutoff
MOST = 200  # judged documents that are tried at other ranks
ROUNDING = 1e-12  # smaller amounts are due to rounding
BELOW = "documents below these ranks"


@dataclass(frozen=True)
class Rest:
    """A part of the value that no one position earns."""

    what: str
    adds: float

    factors: ClassVar[Mapping[str, float]] = {}  # a row of the same table as positions, which have some


@dataclass(frozen=True)
class Position:
    """One rank: its document (None beyond the ranking), grade (None: unjudged), factors, share of the value, and those of an ideal ranking."""

    rank: int
    doc_id: str | None
    grade: float | None
    factors: Mapping[str, float]
    adds: float
    so_far: float
    ideal_grade: float | None = None
    ideal_adds: float | None = None

    what: ClassVar[None] = None  # only rows of the rest have a description

    @property
    def lost(self) -> float | None:
        """The loss at this rank against an ideal ranking."""
        return None if self.ideal_adds is None else self.ideal_adds - self.adds


@dataclass(frozen=True)
class Swap:
    """Two ranks with the largest gain if they are exchanged, and the gain in the better direction."""

    upper: int
    lower: int
    gain: float


@dataclass(frozen=True, eq=False)
class ValueParts:
    """The value of one query of ``judged``, in the order of ``ranking``: the ``adds`` of ``positions`` and ``rest`` sum to it within 1e-12."""

    metric: Metric
    ranking: Ranking
    judged: Judged

    @cached_property
    def terms(self) -> Terms:
        """The factors of the metric, their sum, and the worth of the query."""
        return self.metric.taken_apart(self._lists)

    @cached_property
    def _lists(self) -> Lists:
        return self.judged.lists(np.arange(1))

    @property
    def value(self) -> float:
        """The value."""
        return float(self.terms.value[0])

    @property
    def earned(self) -> float:
        """The sum before it is divided by the worth of the query."""
        return math.fsum(self.terms.earned[0].tolist())

    @property
    def worth(self) -> float:
        """The worth of the query (the denominator)."""
        return float(self.terms.worth[0])

    @cached_property
    def _cells(self) -> dict[int, int]:
        lists = self.terms.lists if self._of_items else self._lists
        return {int(lists.rank[0, j]): j for j in np.flatnonzero(lists.shown[0]).tolist()}

    @property
    def _of_items(self) -> bool:
        """True if the cells of the metric are all items shown, not the judged documents."""
        return "items" in self.metric.needs

    @cached_property
    def by_rank(self) -> dict[int, float]:
        """The share of each judged document, also below the positions shown."""
        shares, counts = self.terms.shares[0], self.terms.lists.shown[0]
        return {rank: float(shares[j]) if counts[j] else 0.0 for rank, j in self._cells.items()}

    def adds_of(self, rank: int | None) -> float:
        """Return the share of the document at a rank, 0 if it was not retrieved."""
        return 0.0 if rank is None else self.by_rank.get(rank, 0.0)

    @cached_property
    def last(self) -> int:
        """The last rank that is shown: the cutoff, otherwise the last with a share."""
        cutoff = getattr(self.metric, "cutoff", None)
        if cutoff is None or getattr(self.metric, "judged_only", False):
            cutoff = max([FEW, cutoff or 0, *(rank for rank, add in self.by_rank.items() if add)])
        return min(int(cutoff), len(self.ranking.doc_ids))

    @cached_property
    def ideal(self) -> tuple[float, Sequence[tuple[float, float]]] | None:
        """The value of the best ranking, and the grade and share of each rank. None if no order is known to be best."""
        metric, sign = self.metric, -1.0 if self.metric.better == "lower" else 1.0
        if why_not(metric):
            return None
        lists = replace(self.judged, aspects=None).lists(np.arange(1))
        rankings = [make(lists) for make in candidates(metric)]
        best = max(rankings, key=lambda ranking: sign * float(np.nan_to_num(metric.score(ranking)[0], nan=-np.inf)))
        terms = metric.taken_apart(best)
        ranks = np.flatnonzero(terms.lists.shown[0])
        pairs = zip(best.grade[0][ranks].tolist(), terms.shares[0][ranks].tolist(), strict=True)
        return float(terms.value[0]), list(pairs)

    @property
    def best(self) -> float:
        """The value of an ideal ranking, NaN if no order is known to be best."""
        return math.nan if self.ideal is None else self.ideal[0]

    @cached_property
    def positions(self) -> list[Position]:
        """The ranks, also those beyond the end of the ranking at which an ideal one earns something."""
        docs, ranks, so_far = self.ranking.doc_ids, [] if self.ideal is None else self.ideal[1], 0.0
        earning = max((rank for rank, (_, add) in enumerate(ranks, start=1) if add), default=0)
        out = []
        for rank in range(1, max(self.last, earning if self.last == len(docs) else 0) + 1):
            doc = docs[rank - 1] if rank <= self.last else None
            adds = 0.0 if doc is None else self.adds_of(rank)
            so_far += adds
            best = ranks[rank - 1] if rank <= len(ranks) else (None, None if self.ideal is None else 0.0)
            grade, cell = None if doc is None else self.ranking.grades.get(doc), self._cells.get(rank)
            known = doc is not None and cell is not None and self.terms.lists.shown[0, cell]
            factors = {name: _at(factor, cell or 0) for name, factor in self.terms.factors.items()} if known else {}
            out.append(Position(rank, doc, grade, factors, adds, so_far, *best))
        return out

    @cached_property
    def rest(self) -> list[Rest]:
        """The rest of the value: lower ranks, unjudged documents together, a constant, a transformation of the sum."""
        terms = self.terms
        out = [Rest(BELOW, math.fsum(add for rank, add in self.by_rank.items() if rank > self.last))]
        if not math.isnan(self.value):
            unjudged, constant = float(terms.unjudged_share[0]), float(np.broadcast_to(terms.base, 1)[0])
            out += [Rest("unjudged documents, together", unjudged)]
            out += [Rest("a part that does not depend on positions", constant)]
        out = [part for part in out if part.adds]
        if terms.link is not None and not math.isnan(self.value):
            whole = math.fsum([math.fsum(self.by_rank.values()), unjudged, constant])
            out.append(Rest("the transformation of the sum", self.value - whole))
        return out

    @cached_property
    def largest_loss(self) -> Position | None:
        """The position with the largest loss against an ideal ranking. None without a loss."""
        sign = -1.0 if self.metric.better == "lower" else 1.0
        worst = max(self.positions, key=lambda position: sign * (position.lost or 0.0), default=None)
        return worst if worst is not None and sign * (worst.lost or 0.0) > ROUNDING else None

    @cached_property
    def unjudged(self) -> tuple[int, float]:
        """Count the unjudged documents that the metric considers, and compute the value if all had the top grade of the query."""
        judged = self.judged
        if self._of_items:
            return 0, self.value
        retrieved = int(judged.retrieved[0])
        depth = min(retrieved, getattr(self.metric, "cutoff", None) or retrieved)
        missing = np.setdiff1d(np.arange(1, depth + 1), judged.rank)
        more = len(missing)
        if not more or judged.aspects is not None:
            return more, self.value
        top = max(float(np.max(judged.grade, initial=1.0)), 1.0)
        rank, grade = np.append(judged.rank, missing), np.append(judged.grade, np.full(more, top))
        by = np.argsort(np.where(rank > 0, rank, np.iinfo(rank.dtype).max), kind="stable")
        size, in_run = judged.size + more, judged.in_run + more
        filled = replace(judged, size=size, in_run=in_run, grade=grade[by], rank=rank[by], by_id=None)
        return more, float(_values(self.metric, _without_ties(filled))[0])

    @cached_property
    def swap(self) -> Swap | None:
        """Return the exchange of two retrieved documents with the largest gain, None without a gain."""
        metric, judged, value = self.metric, self.judged, self.value
        ranks = judged.rank[: int(judged.in_run[0])]
        count = min(len(ranks), MOST)
        sign = {"higher": 1.0, "lower": -1.0, "neither": 0.0}[metric.better]
        if not sign or math.isnan(value) or self._of_items:
            return None
        limit = min(getattr(metric, "cutoff", None) or FEW, len(self.ranking.doc_ids))
        places = sorted({*range(1, limit + 1), *ranks[:count].tolist()})
        pairs = [(j, place) for j in range(count) for place in places if place != ranks[j]]
        if not pairs:
            return None
        moved, target = np.array(pairs).T
        ranks_tried = np.tile(ranks, (len(pairs), 1))
        tried, at = np.nonzero(ranks_tried == target[:, None])  # ranks with a judged document
        ranks_tried[tried, at] = ranks[moved[tried]]
        ranks_tried[np.arange(len(pairs)), moved] = target
        gains = sign * (_values(metric, _at_ranks(judged, ranks_tried)) - value)
        best = int(np.nanargmax(gains)) if not np.isnan(gains).all() else 0
        if not gains[best] > ROUNDING:
            return None
        upper, lower = sorted((int(ranks[moved[best]]), int(target[best])))
        return Swap(upper, lower, float(gains[best]))


def _at(factor: Array, cell: int) -> float:
    values = np.asarray(factor, dtype=float)
    if values.ndim < 2:  # one number for the query, or for all
        return float(values.ravel()[0])
    return float(np.broadcast_to(values, (1, max(values.shape[1], cell + 1)))[0, cell])


def _values(metric: Metric, judged: Judged) -> Array:
    return map_kernels(judged, [metric.score])[0]


def _at_ranks(judged: Judged, ranks: Array) -> Judged:
    """Copies of one query with its retrieved judged documents at other ranks: ``ranks`` is copies x found, distinct in a row."""
    copies, size = len(ranks), int(judged.size[0])
    rank = np.pad(ranks, ((0, 0), (0, size - ranks.shape[1])))  # 0: not retrieved
    many = judged.of(np.zeros(copies, dtype=np.int64))
    return _without_ties(rerank(many, rank.ravel(), many.retrieved))


def _without_ties(judged: Judged) -> Judged:
    score = None if judged.score is None else -judged.rank.astype(float)
    return replace(judged, tie_start=judged.rank, tie_size=np.ones_like(judged.rank), score=score)
