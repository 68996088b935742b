"""How much worse a system may be: tolerances of metrics, and what is known about a loss beyond them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from rankscope import words
from rankscope.errors import InputError
from rankscope.inference.intervals import largest_share, without_interval
from rankscope.inference.paired import permutation
from rankscope.panels.contrast import Contrast, choose_test
from rankscope.panels.method import POWER, HasRange, Margin, read_tolerance
from rankscope.panels.samples import mean

M = TypeVar("M", bound=HasRange)
USUAL = 0.01  # of a metric on a scale from 0 to 1
ENDLESS = 10_000_000  # more queries than anyone has
ROUNDING = 1e-12  # a loss that exceeds its tolerance by less is rounding


class Defaults(dict[str, Any]):
    """Tolerances by metric in the settings of a project; those of other metrics are ignored until a call gates these."""


def tolerances_of(
    source: Any, metrics: Iterable[tuple[str, M]], read: Callable[[Any], M], usual: Margin | None = None
) -> dict[M, Margin]:
    """Return the tolerance of each metric; ``metrics`` are given with their spellings, and ``read`` parses one.

    ``source`` is a number, ``"2%"``, or a mapping of these by metric, whose ``default`` holds for all metrics that are not named. Without
    either the tolerance is ``usual``, or 0.01 on a scale from 0 to 1. Raises InputError for other values, for a metric that is not gated
    (unless in ``Defaults``), and for a metric with no tolerance, or two.
    """
    known = list(dict.fromkeys(metrics))
    chosen: dict[M, Margin] = {}
    keys: dict[M, Any] = {}
    general = usual
    for key, value in (source if isinstance(source, Mapping) else {"default": source}).items():
        if value is source is None:
            continue
        if key == "default":
            general = read_tolerance(value, "tolerance")
            continue
        tolerance = read_tolerance(value, f"tolerance of {key}")
        for metric in _named(key, known, read, spare=isinstance(source, Defaults)):
            if metric in chosen:
                raise InputError(f"tolerance of {key}: {metric} has one already, as {keys[metric]}: give one")
            chosen[metric], keys[metric] = tolerance, key
    return {metric: (chosen.get(metric) or general or _usual(metric)).fitting(metric) for _, metric in known}


def _usual(metric: HasRange) -> Margin:
    low, high = metric.range
    if not -1 <= low <= high <= 1:
        raise InputError(
            f"{metric} is not on a scale from 0 to 1, so it needs a tolerance of its own, like --tolerance '{metric}=2%'"
        )
    return Margin(USUAL)


def _named(key: Any, known: list[tuple[str, M]], read: Callable[[Any], M], spare: bool) -> set[M]:
    """Return the metrics that a tolerance is for; none if it is ``spare`` and its metric is not gated."""
    name = str(key)
    named = {metric for spelling, metric in known if name in {spelling, str(metric)}}
    if not named:
        meant = read(key)
        named = {metric for _, metric in known if metric == meant}
    if not named and not spare:
        names = dict.fromkeys(str(metric) for _, metric in known)
        hint = words.hint(name, names, otherwise=f", only at {words.listing(names, 99)}")
        raise InputError(f"tolerance of {name}: the gate does not look at it{hint}")
    return named


# --- what is known about a loss ------------------------------------------------------------------------


@dataclass(frozen=True)
class LossEvidence:
    """Whether a loss beyond a tolerance is more than chance: the two-sided p-value, and whether the test sees a loss.

    ``by_flips`` tells that it comes from sign flips, because the differences have no spread.
    """

    p_value: float
    loses: bool
    by_flips: bool


def evidence_of_loss(c: Contrast, tolerance: float = 0.0) -> LossEvidence:
    """Test whether a run loses more than a tolerance.

    If there is no tolerance, it is the test of the contrast itself, with its p-value. With one, the same test is given the same sample, every
    difference made better by the tolerance.
    """
    sign, test = c.panel.sign, choose_test(c.pair, c.method)
    sample = c.pair.sample_for(test, sign * tolerance)
    p_value = test.p_value(sample) if tolerance else c.p_value
    by_flips = isinstance(test, permutation) and bool(without_interval(c.pair.means))
    return LossEvidence(p_value, sign * test.direction(sample) < 0, by_flips)


def losses_alone(c: Contrast) -> float:
    """What the mean loses if the queries that got better had stayed as they were."""
    pair, panel = c.paired, c.panel
    worse = (np.minimum if panel.sign > 0 else np.maximum)(pair.run, pair.baseline)

    every = np.ones((len(panel.systems), len(panel.units))) if panel.weights is None else panel.weights
    before, after = (
        mean(panel.measure, values, every[panel.systems.index(system)][pair.inside])
        for system, values in ((c.baseline, pair.baseline), (c.run, worse))
    )
    return max(0.0, panel.sign * (before - after))


def largest_loss(c: Contrast) -> float:
    """The largest loss of the mean that is not ruled out: Clopper and Pearson's bound for units that lose, times the range.

    Clusters count as one unit each, all with the size of the largest. One-sided at half of alpha, as the interval of a check is.
    """
    sample, (low, high) = c.paired.means, c.panel.measure.range
    worse = c.panel.sign * c.paired.gains < 0
    count = int(np.count_nonzero(sample.sum_clusters(worse.astype(float))))
    share = largest_share(count, sample.groups, c.method.alpha / 2)
    uneven = 1.0 if sample.shares is None else float(sample.shares.max()) * sample.groups
    return min(share * uneven, 1.0) * (high - low)


def differing_clusters(c: Contrast) -> int | None:
    """In how many clusters some query differs; None without clusters."""
    clusters = c.paired.means.clusters
    return None if clusters is None else len(np.unique(clusters[c.paired.swaps.values != 0]))


def queries_to_settle(c: Contrast, tolerance: float, beyond: bool) -> int | None:
    """How many queries would show, at 80% power, that a loss stays within a tolerance or that there is one (``beyond`` it).

    Difference and spread are taken to stay as they are. None where no number of queries would do.
    """
    from rankscope.inference.power import queries_needed

    sample = c.pair.means
    gain = c.panel.sign * c.difference
    gap = max(gain + tolerance, -gain - (tolerance if beyond else 0.0))
    deviation = sample.error * math.sqrt(sample.count)  # as large as clusters make it
    if not gap > ROUNDING or not deviation > 0:
        return None
    needed = queries_needed(deviation, gap, POWER, c.method.alpha)
    return needed if needed < ENDLESS else None
