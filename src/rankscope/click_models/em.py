"""The fit of a click model by expectation maximisation, over blocks of pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from rankscope.behaviour.browsing import LEARNED, Browsing
from rankscope.click_models.walk import LEAST, Walk
from rankscope.lists import Array

BLOCK = 1 << 12  # pages that are walked at once: their arrays stay in the processor's cache
TABLE_PRIOR = 1.0  # imagined trials of each probability of examination, with and without success
ALIKE_PAGES, ALIKE_ROUNDS = 50_000, 15  # of the fit in which all items are alike
SATISFIED = 0.5  # the probability of satisfaction without evidence
Progress = Callable[[int, float], None]


def blocks(pages: int) -> Iterator[slice]:
    """Some pages at a time."""
    for first in range(0, pages, BLOCK):
        yield slice(first, first + BLOCK)


@dataclass(frozen=True, eq=False)
class Observed:
    """Clicks and the ``group`` (one attraction) of each shown item, places x pages. ``size`` is the number of groups, and the group of empty places."""

    group: Array
    click: Array
    size: int

    def alike(self) -> Observed:
        """Some of the pages, with all items in one group."""
        step = max(1, self.click.shape[1] // ALIKE_PAGES)
        group = (self.group[:, ::step] == self.size).astype(np.int32)
        return Observed(group, np.ascontiguousarray(self.click[:, ::step]), 1)


@dataclass(frozen=True, eq=False)
class FittedEstimates:
    """The probabilities of the table of examination, of attraction, of satisfaction, and the means of the priors of the last two."""

    table: Array
    attraction: Array
    satisfaction: Array | None
    prior: tuple[float, float]
    trace: tuple[float, ...] = ()
    converged: bool = False


class Fit:
    """A fit of a browsing model to observed pages. ``satisfies`` is as in ``Browsing``, ``smoothing`` the weight of priors in views."""

    def __init__(
        self, browsing: Browsing, seen: Observed, satisfies: str, smoothing: float, start: FittedEstimates
    ) -> None:
        self.browsing, self.seen, self.by, self.smoothing = browsing, seen, satisfies, smoothing
        self.prior = start.prior
        self.table, self.attraction = start.table, np.full(seen.size, start.prior[0])
        self.satisfaction = np.full({"one": 1, "item": seen.size}.get(satisfies, 0), start.prior[1])
        self.clicks = self._sums(seen.group[seen.click])
        self.open = seen.click[:-1]  # clicks with a place below, which tell if they satisfied
        self.open_group = seen.group[:-1][self.open]
        self.open_clicks = self._sums(self.open_group)

    def _sums(self, group: Array, values: Array | None = None) -> Array:
        return np.bincount(group, values, minlength=self.seen.size + 1)[:-1].astype(float)

    def step(self) -> float:
        """Make one step, and return the log-likelihood before it, priors included."""
        group, click = self.seen.group, self.seen.click
        attraction = np.append(self.attraction, 0.0)
        satisfying = {"one": np.resize(self.satisfaction, len(attraction)), "attraction": attraction}
        satisfaction = np.append(self.satisfaction, 0.0) if self.by == "item" else satisfying.get(self.by)
        tried, taken, logs = np.zeros(len(self.table)), np.zeros(len(self.table)), self._log_prior()
        views: Array = np.zeros(self.seen.size)
        content = np.zeros(self.open.shape if satisfaction is not None else 0)
        examined = np.empty(click.shape) if self.seen.size > 1 else None
        for block in blocks(click.shape[1]):
            cells = group[:, block]
            own = None if satisfaction is None else satisfaction[cells]
            walk = Walk(self.browsing, self.table, attraction[cells], own, click[:, block])
            logs += float(np.log(walk.chance).sum())
            expected = walk.expected()
            tried += expected.tried
            taken += expected.taken
            if examined is None:
                views[0] += float(expected.examined[cells == 0].sum())
            else:
                examined[:, block] = expected.examined
            if expected.satisfied is not None:
                content[:, block] = expected.satisfied
        if examined is not None:
            views = self._sums(group.ravel(), examined.ravel())
        self._update(views, content[self.open] if content.size else content, tried, taken)
        return logs

    def _update(self, views: Array, content: Array, tried: Array, taken: Array) -> None:
        weight, (rate, satisfied), clicks = self.smoothing, self.prior, self.clicks
        sums = self._sums(self.open_group, content) if content.size else np.zeros(self.seen.size)
        if self.by == "attraction":
            clicks, views = clicks + sums, views + self.open_clicks
        elif self.by == "one":
            above, below = sums.sum(keepdims=True) + satisfied, self.open_clicks.sum(keepdims=True) + 1
            self.satisfaction = _ratio(above, below, satisfied)
        elif self.by == "item":
            self.satisfaction = _ratio(sums + weight * satisfied, self.open_clicks + weight, satisfied)
        self.attraction = _ratio(clicks + weight * rate, views + weight, rate)
        learned = (taken[LEARNED:] + TABLE_PRIOR) / (tried[LEARNED:] + 2 * TABLE_PRIOR)
        self.table = np.concatenate([self.table[:LEARNED], learned])

    def _log_prior(self) -> float:
        weight, (rate, satisfied) = self.smoothing, self.prior
        total = weight * _log_beta(self.attraction, rate) + 2 * TABLE_PRIOR * _log_beta(self.table[LEARNED:], 0.5)
        return total + (weight if self.by == "item" else 1.0) * _log_beta(self.satisfaction, satisfied)

    def run(self, rounds: int, tolerance: float, progress: Progress | None = None) -> FittedEstimates:
        """Step until a step gains less than ``tolerance`` in log-likelihood per page, or ``rounds`` are over."""
        trace: list[float] = []
        while len(trace) < rounds and not self._settled(trace, tolerance):
            trace.append(self.step() / self.seen.click.shape[1])
            if progress is not None:
                progress(len(trace), trace[-1])
        satisfaction = self.satisfaction if self.satisfaction.size else None
        settled = self._settled(trace, tolerance)
        return FittedEstimates(self.table, self.attraction, satisfaction, self.prior, tuple(trace), settled)

    @staticmethod
    def _settled(trace: list[float], tolerance: float) -> bool:
        return len(trace) > 1 and trace[-1] - trace[-2] < tolerance


def fit(
    browsing: Browsing, seen: Observed, smoothing: float, rounds: int, tolerance: float, progress: Progress | None
) -> FittedEstimates:
    """Fit a browsing model to pages. The means of the priors are those that fit if all items are alike, and the fit starts there."""
    table = browsing.table(len(seen.click))
    table[LEARNED:] = np.clip(table[LEARNED:], 0.05, 0.95)
    start = FittedEstimates(table, table, None, (float(seen.click[seen.group < seen.size].mean()), SATISFIED))
    alike = "one" if browsing.satisfies == "item" else browsing.satisfies
    first = Fit(browsing, seen.alike(), alike, 0.0, start).run(ALIKE_ROUNDS, tolerance)
    prior = float(first.attraction[0]), SATISFIED if first.satisfaction is None else float(first.satisfaction[0])
    start = replace(first, prior=prior)
    return Fit(browsing, seen, browsing.satisfies, smoothing, start).run(rounds, tolerance, progress)


def _ratio(above: Array, below: Array, otherwise: float) -> Array:
    ratio = np.divide(above, below, out=np.full(len(above), otherwise), where=below > 0)
    return np.asarray(np.clip(ratio, LEAST, 1 - LEAST))


def _log_beta(values: Array, mean: float) -> float:
    """The logarithm of a beta prior with this mean and the weight of one view, summed over values."""
    return float((mean * np.log(values) + (1 - mean) * np.log1p(-values)).sum())
