"""What one run loses on a metric, query by query: by what it retrieved, and by how it ordered that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from rankscope.lists import Array, Judged
from rankscope.metrics import Metric
from rankscope.panels.samples import mean
from rankscope.scoring.ceilings import Ceilings
from rankscope.verbs.diagnose.failures import KINDS, AtRank, Depth, Facts


@dataclass(frozen=True)
class Loss:
    """What a run loses on a metric against ideal rankings, and why; all numbers are over its queries together.

    ``loss = never_retrieved + ordered_badly``, none of them below 0: what was not among the documents retrieved, and what those
    retrieved would score more in the best order. ``ceiling`` is the value in that order, ``tops[n]`` the value if only the first n
    were put in the best order. NaN where it is not known.
    """

    value: float
    ceiling: float
    best: float
    never_retrieved: float
    ordered_badly: float
    tops: Mapping[int, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """How much better an ideal ranking is."""
        return self.never_retrieved + self.ordered_badly

    @property
    def share(self) -> float | None:
        """The share of it that was never retrieved; None where nothing is lost."""
        return self.never_retrieved / self.total if self.total > 0 else None


@dataclass(frozen=True)
class QueryDiagnosis:
    """One query of one run: its value, what it could be, and how it fails.

    ``regret`` is how much better the best of the runs is on it, which is ``best_run``. NaN where a number is not known.
    """

    run: str
    query_id: str
    value: float
    ceiling: float
    best: float
    never_retrieved: float
    ordered_badly: float
    kind: str
    known: int
    found: int
    first_relevant: int
    regret: float = 0.0
    best_run: str = ""

    @property
    def loss(self) -> float:
        """How much better an ideal ranking is."""
        return self.never_retrieved + self.ordered_badly


@dataclass(frozen=True, eq=False)
class RunDiagnosis:
    """One run: what it loses over all queries, and how each query fails.

    ``whole`` is the value over all queries, as ``evaluate`` gives it. Arrays have one entry a query: those that the metric averages,
    the undefined among them; for a pooled metric, which is no mean, the values of the queries are those of each query alone.
    ``kind`` numbers the entries of ``failures.KINDS``. ``rank`` and ``median`` are the typical ranks of the first relevant document:
    the harmonic mean, which is 1 / RR, and the lower median; infinite where half of the queries or more show none.
    """

    name: str
    metric: Metric
    query_ids: Sequence[str]
    whole: float
    value: Array
    weight: Array
    ceilings: Ceilings
    facts: Facts
    kind: Array
    high: Sequence[AtRank]
    depths: Sequence[Depth]
    rank: float
    median: float
    judged: Judged

    @property
    def sign(self) -> float:
        """1 where higher is better, -1 where lower is."""
        return -1.0 if self.metric.better == "lower" else 1.0

    @cached_property
    def never_retrieved(self) -> Array:
        """What each query loses because documents were not retrieved."""
        return self.sign * (self.ceilings.best - self.ceilings.ceiling)

    @cached_property
    def ordered_badly(self) -> Array:
        """What each query loses by the order of what was retrieved."""
        return self.sign * (self.ceilings.ceiling - self.value)

    @cached_property
    def loss(self) -> Loss:
        """What is lost over all queries, and why."""
        value, ceiling, best = self.whole, self._mean(self.ceilings.ceiling), self._mean(self.ceilings.best)
        tops = {depth: self._mean(top) for depth, top in self.ceilings.tops.items() if depth is not None}
        return Loss(value, ceiling, best, self.sign * (best - ceiling), self.sign * (ceiling - value), tops)

    @cached_property
    def kinds(self) -> dict[str, int]:
        """How many queries fail in each way; they sum to the queries."""
        count = np.bincount(self.kind, minlength=len(KINDS)).tolist()
        return dict(zip((kind.name for kind in KINDS), count, strict=True))

    @property
    def worst_first(self) -> Array:
        """The numbers of the queries, those that lose most first; without a known loss by their values."""
        lost = -self.sign * self.value if self.ceilings.reason else self.facts.lost
        return np.argsort(-np.nan_to_num(lost, nan=-np.inf), kind="stable")

    def _mean(self, values: Array) -> float:
        return mean(self.metric, values, self.weight)

    def query(self, at: int) -> QueryDiagnosis:
        """One query as a record."""
        return QueryDiagnosis(
            self.name,
            self.query_ids[at],
            float(self.value[at]),
            float(self.ceilings.ceiling[at]),
            float(self.ceilings.best[at]),
            float(self.never_retrieved[at]),
            float(self.ordered_badly[at]),
            KINDS[int(self.kind[at])].name,
            int(self.facts.known[at]),
            int(self.facts.found[at]),
            int(self.facts.first[at]),
        )
