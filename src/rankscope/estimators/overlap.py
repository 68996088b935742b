"""Diagnostics of weights: the support of a log for a policy, and the traffic that an estimate needs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Caution
from rankscope.diagnostics import estimates as rules
from rankscope.estimators.base import Estimator
from rankscope.estimators.events import LoggedEvents, number_cells, slices, sum_cells
from rankscope.lists import Array

FEW, TOO_FEW = 50, 10  # effective clicks below which a warning is given, and the estimate refused
LARGEST = 0.5  # largest share of one event in an estimate
FAR = 3.0  # standard errors of the mean weight from 1
UNSEEN = 0.01  # share of the target's probability on items without any row
FEWEST = 30  # rows of an item below which its propensities are not checked
CALIBRATED = 0.25  # a logged frequency this far from the propensities, as a share
CONTRADICTED = 0.01  # share of the traffic with such propensities above which estimates are refused
BINS = 14
AT_ONCE = 1 << 13  # numbers that stay in the cache, and that BLAS sums in one thread
RECORDED = (
    "effective_sample_size", "effective_clicks", "largest_share", "largest_weight", "weight_share", "mean_weight", "unseen"
)  # fmt: skip


@dataclass(frozen=True)
class LogSupport:
    """The cover of a policy by a log, for one estimator.

    ``effective_sample_size`` is (sum w)^2 / sum w^2 over events, ``effective_clicks`` the same of weight x reward. ``largest_share`` is the part
    of one event in the estimate, ``weight_share`` the part of one weight in all. ``mean_weight`` should be 1 within ``mean_weight_error`` (between units). ``unseen`` is the share of the target's
    probability on items that the log never shows. ``units_needed`` is the traffic that would give 50 effective clicks.
    """

    estimator: str
    policy: str
    events: int
    unseen: float
    units: int
    noun: str
    weighs: bool = True
    effective_sample_size: float = math.nan
    effective_clicks: float = math.nan
    largest_share: float = math.nan
    largest_weight: float = math.nan
    weight_share: float = math.nan
    mean_weight: float = math.nan
    mean_weight_error: float = math.nan

    @property
    def units_needed(self) -> int | None:
        """The number of units that would give 50 effective clicks; None without clicks."""
        return math.ceil(self.units * FEW / self.effective_clicks) if self.effective_clicks > 0 else None

    @property
    def off(self) -> float:
        """The distance of the mean weight from 1 in standard errors, or 0 without weights."""
        if not math.isfinite(self.mean_weight) or abs(self.mean_weight - 1) < 1e-9:
            return 0.0
        return abs(self.mean_weight - 1) / self.mean_weight_error if self.mean_weight_error > 0 else math.inf

    def record(self) -> dict[str, float | None]:
        """Return the diagnostics for programs."""
        return {name: words.finite(getattr(self, name)) for name in RECORDED}

    def sentence(self) -> str:
        """Return the effective clicks and the largest weight in words; empty for an estimator without weights."""
        if not self.weighs:
            return ""
        clicks = words.counted(round(self.effective_clicks), "effective click")
        return f"Support: {clicks} for {self.policy} by {self.estimator}, the largest weight is {words.amount(round(self.largest_weight, 2))}."

    def cautions(self) -> Iterator[tuple[Caution, bool]]:
        """Yield each warning, and True if it refuses the estimate."""
        named = {"policy": self.policy, "estimator": self.estimator}
        if self.unseen > 0:
            yield rules.NoSupport.caution(**named, share=self.unseen), self.unseen > UNSEEN
        if not self.weighs:
            return
        if self.off > FAR:
            low = rules.MeanWeightOff if self.mean_weight < 1 else rules.MeanWeightHigh
            missing = 1 - self.mean_weight
            yield low.caution(**named, mean=self.mean_weight, error=self.mean_weight_error, share=missing), True
        if self.effective_clicks < FEW:
            clicks, needed = self.effective_clicks, self.units_needed
            traffic = {"clicks": clicks, "needed": needed, "noun": self.noun, "units": self.units}
            yield rules.FewEffectiveClicks.caution(**named, **traffic), clicks < TOO_FEW
        if self.largest_share > LARGEST:
            yield rules.OneEventDominates.caution(**named, share=self.largest_share, weight=self.largest_weight), True
        elif self.weight_share > LARGEST:
            yield rules.OneWeightDominates.caution(**named, share=self.weight_share, weight=self.largest_weight), True


def support_of(estimator: Estimator, events: LoggedEvents, policy: str, noun: str) -> LogSupport:
    """Return the diagnostics of one estimator of one policy.

    Weights of lists are those of their last row, contributions the sum of their rows.
    """
    used, by_list = estimator.used_weights(events), estimator.per == "list"
    unseen = events.target.unseen(events) if events.target is not None else 0.0
    whole_lists = by_list and estimator.level != "item"
    rows = len(events.starts) if whole_lists else events.count
    support = LogSupport(str(estimator), policy, rows, unseen, events.units, noun, used is not None)
    if used is None:
        return support
    raw = events.weights(estimator.level) if estimator.level else None

    def measure() -> dict[str, Any]:
        earned = events.sum_lists(events.weighted(used)) if by_list else events.weighted(used)
        low, high, whole, clicks = effective(earned)
        _, heaviest, weights, size = effective(used[events.last] if whole_lists else used)
        whole = whole if low >= 0 else float(np.abs(earned).sum())
        mean, error = math.nan, math.nan
        if raw is not None and events.target is not None and events.count:  # between units, taken to be of their sizes
            mean = float(raw.mean())
            around = events.sum_units(raw) - mean * events.rows_of_units
            error = float(np.sqrt((around**2).sum()) / events.count)
        return {
            "effective_sample_size": size, "effective_clicks": clicks, "largest_weight": heaviest, "mean_weight": mean, "mean_weight_error": error,
            "largest_share": max(high, -low) / whole if whole else math.nan, "weight_share": heaviest / weights if weights else math.nan,
        }  # fmt: skip

    # most estimators use weights as they are
    key = ("support", events.target, estimator.level, by_list)
    return replace(support, **(events.share(key, measure) if used is raw else measure()))


def effective(values: Array) -> tuple[float, float, float, float]:
    """Return the smallest value (at most 0), the largest (at least 0), the sum, and (sum x)^2 / sum x^2: how many equal values would vary as much.

    >>> effective(np.array([1.0, 1.0, 1.0])), effective(np.array([3.0, 0.0]))
    ((0.0, 1.0, 3.0, 3.0), (0.0, 3.0, 3.0, 1.0))
    """
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    if not (scale := max(high, -low)):
        return low, high, 0.0, 0.0
    whole = squares = 0.0
    for part in slices(len(values), AT_ONCE):
        scaled = values[part] / scale
        whole += float(scaled.sum())
        squares += float(np.dot(scaled, scaled))
    return low, high, whole * scale, whole**2 / squares


def histogram(weights: Array) -> list[tuple[float, float, int]]:
    """Return bins of weights on a logarithmic scale: the lower end, the upper end and the count. Weights of 0 have a bin of their own.

    >>> histogram(np.array([0.0, 1.0, 1.0, 10.0]))[0]
    (0.0, 0.0, 1)
    """
    low, high = float(weights.min(initial=math.inf)), float(weights.max(initial=0.0))
    zero = 0 if low else len(weights) - int(np.count_nonzero(weights))
    out = [(0.0, 0.0, zero)] if zero else []
    if not high:
        return out
    low = low or float(weights[weights > 0].min())
    ends = np.geomspace(low, high, BINS + 1) if high > low * (1 + 1e-9) else np.array([low, high])
    ends[0], ends[-1] = low, high
    above = [len(weights) - zero, *[0] * (len(ends) - 1)]
    for part in slices(len(weights), 8 * AT_ONCE):
        for at, end in enumerate(ends[1:-1], 1):
            above[at] += int(np.count_nonzero(weights[part] >= end))
    counts = (n - m for n, m in pairwise(above))
    return [*out, *((low, high, n) for (low, high), n in zip(pairwise(ends.tolist()), counts, strict=True))]


def calibration(events: LoggedEvents) -> tuple[Caution, bool] | None:
    """Return a warning if logged frequencies do not match the propensities, and True if it refuses estimates; None if they match.

    With right propensities the sum of 1 / propensity over the rows of an item estimates the number of rows in which it could be shown, which is
    at most the number of rows at its position. An item is off if the sum is beyond this number by more than a quarter and 4 standard errors.
    """
    if "item" not in events.propensities:
        return None
    propensities = events.propensities["item"]
    cells, loggers = len(events.items) * events.places, int(events.logger.max(initial=0)) + 1
    cell = events.place_of_item if loggers == 1 else events.logger * cells + events.place_of_item
    names, group = number_cells(cell, loggers * cells)
    sums, counts = sum_cells(events.count, len(names), lambda part: (group[part], 1 / propensities[part]))
    place = names // cells * events.places + names % events.places
    whole = np.maximum(np.bincount(place, weights=counts)[place], 1)
    ratio = sums / whole
    off = (counts >= FEWEST) & (ratio > 1 + CALIBRATED)
    if off.any():  # the errors are rarely needed
        squares = np.bincount(group, weights=propensities**-2.0, minlength=len(names))
        off &= ratio - 1 > 4 * np.sqrt(squares) / whole
    if not off.any():
        return None
    worst = int(np.argmax(np.where(off, ratio, 0.0)))
    item = events.items[int(names[worst]) // events.places % len(events.items)]
    share = float(counts[off].sum() / events.count)
    caution = rules.PropensitiesOff.caution(log=events.label, share=share, item=item, ratio=float(ratio[worst]))
    return caution, share > CONTRADICTED
