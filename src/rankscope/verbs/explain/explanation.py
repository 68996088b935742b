"""One ranking's value, position by position: what each earns, what a perfect ranking would earn there, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from rankscope.lists import Array, Judged
from rankscope.metrics import Metric
from rankscope.metrics.base import Terms
from rankscope.scoring.ceilings import candidates, why_not
from rankscope.scoring.ranking import Ranking
from rankscope.verbs.explain.whatif import Swap, best_swap, if_perfect

FEW = 10  # positions shown of a metric without a cutoff, where no later one earns anything


@dataclass(frozen=True)
class Position:
    """One rank: who stands there, what the metric's factors are, and what it adds to the value.

    ``doc_id`` is None at a rank that the ranking does not reach and a perfect one does. ``grade`` is None where nobody judged the document, ``factors`` are empty then. ``ideal_grade`` and ``ideal_adds`` are those of
    a perfect ranking at this rank (None beyond its end, or where the metric knows no perfect ranking).
    """

    rank: int
    doc_id: str | None
    grade: float | None
    factors: Mapping[str, float]
    adds: float
    so_far: float
    ideal_grade: float | None = None
    ideal_adds: float | None = None

    @property
    def lost(self) -> float | None:
        """What a perfect ranking earns here and this one does not."""
        return None if self.ideal_adds is None else self.ideal_adds - self.adds


@dataclass(frozen=True)
class Rest:
    """A part of the value that no one position earns."""

    what: str
    adds: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """A value taken apart: the ``adds`` of ``positions`` and ``rest`` sum to it.

    ``worth`` is what the query is worth (what is earned is divided by it); ``best`` the value of a perfect ranking, NaN where there
    is none to be had.
    """

    run: str
    metric: Metric
    ranking: Ranking
    judged: Judged
    value: float
    earned: float
    worth: float
    positions: Sequence[Position]
    rest: Sequence[Rest] = ()
    best: float = math.nan
    left_out: int = 0
    by_doc: Mapping[str, float] = field(default_factory=dict)

    @property
    def query_id(self) -> str:
        """The query."""
        return self.ranking.query_id

    @cached_property
    def costliest(self) -> Position | None:
        """The position that loses most against a perfect ranking; None where none loses anything."""
        losing = [p for p in self.positions if self._loss(p) > 1e-12]
        return max(losing, key=self._loss, default=None)

    def _loss(self, position: Position) -> float:
        lost = position.lost or 0.0
        return -lost if self.metric.better == "lower" else lost

    @cached_property
    def unjudged(self) -> tuple[int, float]:
        """How many of the documents looked at nobody judged, and the value if they were all of the top grade."""
        return if_perfect(self)

    @cached_property
    def swap(self) -> Swap | None:
        """The exchange of two retrieved documents that gains most; None where none gains anything."""
        return best_swap(self)


def explanation(run: str, metric: Metric, judged: Judged, ranking: Ranking) -> Explanation:
    """Take apart the value of one query. ``judged`` holds this query alone, in the order of ``ranking``.

    The law: the adds of all rows sum to the value within 1e-12, for every metric.
    """
    lists = judged.lists(np.arange(1))
    terms = metric.taken_apart(lists)
    value = float(terms.value[0])
    shares = terms.shares[0]
    cells = {int(lists.rank[0, j]): j for j in np.flatnonzero(lists.shown[0]).tolist()}
    counted = terms.lists.shown[0]
    adds = {rank: float(shares[j]) if counted[j] else 0.0 for rank, j in cells.items()}
    ideal = _ideal(metric, judged)
    last = _last(metric, adds, len(ranking.doc_ids))
    return Explanation(
        run=run,
        metric=metric,
        ranking=ranking,
        judged=judged,
        value=value,
        earned=math.fsum(terms.earned[0].tolist()),
        worth=float(terms.worth[0]),
        positions=list(_positions(ranking, cells, adds, terms, ideal, last)),
        rest=_rest(terms, value, math.fsum(adds.values())),
        best=math.nan if ideal is None else ideal.value,
        left_out=len(ranking.doc_ids) - last,
        by_doc={ranking.doc_ids[rank - 1]: add for rank, add in adds.items()},
    )


@dataclass(frozen=True)
class _Ideal:
    value: float
    grades: Sequence[float]
    adds: Sequence[float]


def _positions(
    ranking: Ranking,
    cells: Mapping[int, int],
    adds: Mapping[int, float],
    terms: Terms,
    ideal: _Ideal | None,
    last: int,
) -> list[Position]:
    out, so_far = [], 0.0
    for rank, doc in enumerate(ranking.doc_ids[:last], start=1):
        cell = cells.get(rank)
        inside = cell is not None and bool(terms.lists.shown[0, cell])
        factors = {name: _at(factor, cell) for name, factor in terms.factors.items()} if inside else {}
        so_far += adds.get(rank, 0.0)
        within = ideal is not None and rank <= len(ideal.adds)
        out.append(
            Position(
                rank,
                doc,
                ranking.grades.get(doc),
                factors,
                adds.get(rank, 0.0),
                so_far,
                ideal.grades[rank - 1] if ideal and within else None,
                ideal.adds[rank - 1] if ideal and within else (0.0 if ideal else None),
            )
        )
    return out + _empty(ideal, len(out), so_far) if last == len(ranking.doc_ids) else out


def _empty(ideal: _Ideal | None, reached: int, so_far: float) -> list[Position]:
    """The ranks beyond the end of a ranking at which a perfect one earns something."""
    if ideal is None:
        return []
    earning = max((rank for rank, add in enumerate(ideal.adds, start=1) if add), default=0)
    return [
        Position(rank, None, None, {}, 0.0, so_far, ideal.grades[rank - 1], ideal.adds[rank - 1])
        for rank in range(reached + 1, earning + 1)
    ]


def _at(factor: Array, cell: int | None) -> float:
    assert cell is not None
    values = np.asarray(factor, dtype=float)
    if values.ndim < 2:  # one number for the query, or for all
        return float(values.ravel()[0])
    return float(np.broadcast_to(values, (1, max(values.shape[1], cell + 1)))[0, cell])


def _last(metric: Metric, adds: Mapping[int, float], retrieved: int) -> int:
    """The last rank that is shown: the cutoff, else the last that earns anything."""
    cutoff = getattr(metric, "cutoff", None)
    if cutoff is None or getattr(metric, "judged_only", False):
        cutoff = max([FEW, cutoff or 0, *(rank for rank, add in adds.items() if add)])
    return min(int(cutoff), retrieved)


def _rest(terms: Terms, value: float, earned: float) -> list[Rest]:
    """What no position earns: unjudged documents together, a constant, a transformation of the sum, and that there is no value."""
    if math.isnan(value):
        return []
    parts = [
        Rest("documents nobody judged, together", float(terms.unjudged_share[0])),
        Rest("a part that does not depend on positions", float(np.broadcast_to(terms.base, 1)[0])),
    ]
    rest = [part for part in parts if part.adds]
    if terms.link is not None:
        whole = math.fsum([earned, *(part.adds for part in rest)])
        rest.append(Rest("the transformation of the sum", value - whole))
    return rest


def _ideal(metric: Metric, judged: Judged) -> _Ideal | None:
    """What the best ranking earns, rank by rank; None where no order is known to be best."""
    if why_not(metric):
        return None
    lists = replace(judged, aspects=None).lists(np.arange(1))
    sign = -1.0 if metric.better == "lower" else 1.0
    rankings = [make(lists) for make in candidates(metric)]
    best = max(
        rankings, key=lambda ranking: sign * float(np.nan_to_num(metric.score(ranking)[0], nan=-np.inf))
    )
    terms = metric.taken_apart(best)
    ranks = np.flatnonzero(terms.lists.shown[0])
    return _Ideal(float(terms.value[0]), best.grade[0][ranks].tolist(), terms.shares[0][ranks].tolist())
