"""How much worse a system may be: tolerances of metrics, and what is known about a loss beyond them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rankscope import words
from rankscope.errors import InputError
from rankscope.inference.intervals import without_interval
from rankscope.inference.permutation import permutation
from rankscope.metrics import Metric, parse
from rankscope.panels.contrast import Contrast, choose_test
from rankscope.panels.method import POWER, Method
from rankscope.panels.samples import mean

if TYPE_CHECKING:
    from rankscope.logs.base import OnlineMetric

    M = TypeVar("M", Metric, OnlineMetric)

USUAL = 0.01  # of a metric on a scale from 0 to 1
ENDLESS = 10_000_000  # more queries than anyone has
ROUNDING = 1e-12  # a loss that exceeds its tolerance by less is rounding


@dataclass(frozen=True)
class Allowance:
    """A tolerance as it was chosen: a number, or a share of the baseline's mean."""

    number: float
    relative: bool = False

    def of(self, baseline: float) -> float:
        """As a number, for a baseline with this mean."""
        return self.number * abs(baseline) if self.relative else self.number

    def __str__(self) -> str:
        return f"{self.number * 100:g}% of the baseline" if self.relative else f"{self.number:g}"

    def fitting(self, metric: Metric | OnlineMetric) -> Allowance:
        """This allowance for a metric. InputError where nothing could ever exceed it."""
        low, high = metric.range
        if not self.relative and self.number >= high - low:
            raise InputError(
                f"tolerance {self} for {metric}, which goes from {words.amount(low)} to {words.amount(high)}, would pass everything; "
                f"{self.number:g} percent of the baseline is written '{self.number:g}%'"
            )
        return self


class Defaults(dict[str, Any]):
    """Tolerances by metric of a project: those of metrics that are not asked for wait for a call that asks for them."""


def tolerances_of(source: Any, metrics: Iterable[tuple[str, Metric]]) -> dict[Metric, Allowance]:
    """The tolerance of each metric, all with their spellings: a number, ``"2%"``, or a mapping of these by metric.

    In a mapping ``default`` stands for all metrics that are not named; without either it is 0.01 where the scale is from 0 to 1.
    Raises InputError for what is no tolerance, for a metric that is not asked for (which ``Defaults`` may hold), and for a metric
    that has none, or two.
    """
    return _by_metric(source, metrics, parse, _usual)


def online_tolerances_of(source: Any, metrics: Iterable[OnlineMetric]) -> dict[OnlineMetric, Allowance]:
    """The tolerance of each online metric, as ``tolerances_of`` does; without one it is 1% of the baseline, whatever the scale is."""
    from rankscope.logs.base import parse_online

    known = [(str(metric), metric) for metric in metrics]
    return _by_metric(source, known, parse_online, lambda _: Allowance(USUAL, relative=True))


def _by_metric(
    source: Any, metrics: Iterable[tuple[str, M]], read: Callable[[Any], M], usual: Callable[[M], Allowance]
) -> dict[M, Allowance]:
    known = list(dict.fromkeys(metrics))
    chosen: dict[M, Allowance] = {}
    keys: dict[M, Any] = {}
    general = None
    for key, value in (source if isinstance(source, Mapping) else {"default": source}).items():
        if value is source is None:
            continue
        everywhere = key == "default"
        allowance = _allowance(value, "tolerance" if everywhere else f"tolerance of {key}")
        if everywhere:
            general = allowance
            continue
        for metric in _named(key, known, read, spare=isinstance(source, Defaults)):
            if metric in chosen:
                raise InputError(f"tolerance of {key}: {metric} has one already, as {keys[metric]}: give one")
            chosen[metric], keys[metric] = allowance, key
    return {metric: (chosen.get(metric) or general or usual(metric)).fitting(metric) for _, metric in known}


def _usual(metric: Metric) -> Allowance:
    low, high = metric.range
    if not -1 <= low <= high <= 1:
        raise InputError(
            f"{metric} is not on a scale from 0 to 1, so it needs a tolerance of its own, like --tolerance '{metric}=2%'"
        )
    return Allowance(USUAL)


def _named(key: Any, known: list[tuple[str, M]], read: Callable[[Any], M], spare: bool) -> set[M]:
    """The metrics that a tolerance is for; none where it is ``spare`` and not asked for."""
    spelled = str(key)
    named = {metric for spelling, metric in known if spelled in {spelling, str(metric)}}
    if not named:
        meant = read(key)
        named = {metric for _, metric in known if metric == meant}
    if not named and not spare:
        names = dict.fromkeys(str(metric) for _, metric in known)
        hint = words.hint(spelled, names, otherwise=f", only at {words.listing(names, 99)}")
        raise InputError(f"tolerance of {spelled}: the gate does not look at it{hint}")
    return named


def _allowance(value: Any, name: str) -> Allowance:
    number, relative = words.as_share(value) or (math.nan, False)
    if not 0 <= number < math.inf or (relative and number > 1):
        raise InputError(
            f"{name} {value!r}: a tolerance is a number of at least 0 like 0.01, or a percentage of the baseline like '2%'"
        )
    return Allowance(number, relative)


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

    Without a tolerance it is the test of the contrast itself, with its p-value. With one, the same test is given the same sample, every
    difference made better by the tolerance. Differences without spread have no error to divide by: where a test says nothing of
    them, exact sign flips do; where units are of one system each, nothing does.
    """
    sign, test = c.panel.sign, choose_test(c.pair, c.method)
    sample = c.pair.sample_for(test, sign * tolerance)
    p_value = test.p_value(sample) if tolerance else c.p_value
    even = bool(without_interval(sample))
    if math.isnan(p_value) and sample.freedom and even and c.panel.by_unit:
        test = permutation(seed=c.method.seed)
        p_value = test.p_value(sample)
    return LossEvidence(p_value, sign * test.direction(sample) < 0, even and isinstance(test, permutation))


def corrected_p(p_values: Sequence[float], method: Method) -> list[float]:
    """The p-values of several tests, corrected for their number; one that is undefined stays so, and does not count.

    Where nothing can be tested nothing can be found by mistake either, so that it takes nothing from the others (Tarone 1990).
    """
    known = [p for p in p_values if not math.isnan(p)]
    adjusted = iter(method.correction.adjusted(np.array(known)).tolist() if known else [])
    return [math.nan if math.isnan(p) else next(adjusted) for p in p_values]


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
