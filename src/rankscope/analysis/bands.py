"""The contribution of each rank to the mean of a run, bands of ranks behind a difference, and the readers who reach a rank."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rankscope.lists import Array, Judged
from rankscope.metrics import Metric
from rankscope.metrics.browsing import ERR

BANDS = ((1, 1), (2, 2), (3, 3), (4, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, 1000), (1001, 10**9))


@dataclass(frozen=True)
class Band:
    """Ranks ``first`` to ``last``, and their contribution to the difference of the means."""

    first: int
    last: int
    adds: float

    @property
    def ranks(self) -> str:
        """The labels of ranks on an axis: ``1``, ``4-5``, ``1001+``, as in every table of ranks."""
        if self.first == self.last:
            return f"{self.first}"
        return f"{self.first}-{self.last}" if self.last < 10**9 else f"{self.first}+"

    @property
    def label(self) -> str:
        """The ranks in a sentence: ``rank 1``, ``ranks 4 and 5``, ``ranks 6 to 10``."""
        if self.first == self.last:
            return f"rank {self.first}"
        if self.last >= 10**9:
            return f"ranks from {self.first}"
        return f"ranks {self.first} {'and' if self.last == self.first + 1 else 'to'} {self.last}"


def by_rank(metric: Metric, judged: Judged, kept: Array, weight: Array) -> tuple[Array, float]:
    """The share of each rank in the mean over the queries ``kept``, and the rest of the mean. ``weights`` sum to 1."""
    deepest = int(judged.rank.max(initial=0))
    if judged.shown is not None:
        deepest = max(deepest, int(judged.shown.count.max(initial=0)))
    sums: list[list[float]] = [[] for _ in range(deepest + 1)]
    rest: list[float] = []
    for chunk in judged.chunks():
        here = chunk[kept[chunk]]
        if not len(here):
            continue
        lists = judged.lists(here)
        terms = metric.taken_apart(lists)
        values, shares = terms.value, terms.shares
        shown = terms.lists.shown & (shares != 0)
        for row, number in enumerate(here.tolist()):
            if math.isnan(values[row]):
                continue
            cells = np.flatnonzero(shown[row])
            parts = (shares[row, cells] * weight[number]).tolist()
            for rank, part in zip(terms.lists.rank[row, cells].tolist(), parts, strict=True):
                sums[rank].append(part)
            rest.append(float(weight[number]) * (float(values[row]) - math.fsum(shares[row, cells].tolist())))
    return np.array([math.fsum(parts) for parts in sums]), math.fsum(rest)


def bands_of(before: Array, after: Array) -> list[Band]:
    """The difference by bands of ranks. Bands beyond every ranking are left out."""
    size = max(len(before), len(after))
    change = np.zeros(size)
    change[: len(after)] += after
    change[: len(before)] -= before
    size = int(np.flatnonzero(change)[-1]) + 1 if change.any() else 0
    return [Band(first, last, math.fsum(change[first : last + 1].tolist())) for first, last in BANDS if first < size]


def reach_by_rank(judged: Judged, queries: Array, metric: ERR, depth: int) -> Array:
    """The mean share of readers who look at rank 1, 2 ... under ERR, over the queries with a ranking."""
    inside = np.zeros(len(judged), dtype=bool)
    inside[queries] = judged.retrieved[queries] > 0
    if not inside.any():
        return np.full(depth, np.nan)
    looks = []
    for chunk in judged.chunks():
        here = chunk[inside[chunk]]
        if not len(here):
            continue
        terms = metric.having(cutoff=depth).taken_apart(judged.lists(here))
        stays = np.ones((len(here), depth))
        row, column = np.nonzero(terms.lists.shown)
        stays[row, terms.lists.rank[row, column] - 1] = 1.0 - terms.factors["satisfied here"][row, column]
        reach = np.hstack([np.ones((len(here), 1)), np.cumprod(stays, axis=1)[:, :-1]])
        reach[np.arange(1, depth + 1) > judged.retrieved[here][:, None]] = 0.0
        looks.append(reach)
    return np.array([math.fsum(rank) / len(rank) for rank in np.vstack(looks).T.tolist()])
