"""One measure of several systems on units, wherever it comes from: evaluated here, a table of scores, a log."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Literal, cast

import numpy as np

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.inference.base import TINY, Bounds, Estimate, PairedTest, Sample, Sides
from rankscope.inference.dealing import scores
from rankscope.inference.intervals import linearise, t
from rankscope.inference.predicted import PowerTuning, Predictions
from rankscope.lists import Array, exact_sum
from rankscope.metrics import Metric
from rankscope.panels.method import require_own_units
from rankscope.panels.pooled import Pool, bounds_of_pool, sample_of_pool, sample_of_pools
from rankscope.panels.samples import NO_SAMPLE, SIGNS, Measure, bounds_of, logs_of, number_clusters, parts_of, sample_of

SAME = 1e-12  # values closer than this part of the larger differ only by rounding
SLIGHT = 1e-3  # differences all below this part of the values carry rounding that tests would see ...
LAST = 1e-15  # ... of this part of the values
MOST_ROUNDINGS = 4  # differences further apart are different sizes


@dataclass(frozen=True, eq=False)
class PairedValues:
    """Two systems on the units for which both have a value.

    ``inside`` marks these units among those of the panel, ``run`` and ``baseline`` are their values, and ``gains`` the differences,
    run minus baseline, 0 where they differ by rounding alone. What tests are given are samples of one number a unit: ``means``,
    ``signs``, ``ranks`` and ``swaps``, as a ``PairedTest`` says it is ``of``. For a plain mean all of them are the gains; ``weights``
    is what each gain adds to the difference, where that is a multiple of the gain. ``run_sample`` and ``baseline_sample`` hold what
    each unit adds to the two means. Of the ``queries`` so many are ``differing``, and ``higher`` or ``lower`` in the run;
    ``undefined_for_one`` counts those of the panel that only one of the two has a value for. With ``predicted`` the units are those judged
    by people, and ``means`` and both samples also have the predictions for other units.
    """

    by_unit: ClassVar[bool] = True

    inside: Array
    run: Array
    baseline: Array
    run_sample: Sample
    baseline_sample: Sample
    gains: Array
    signs: Sample
    means: Sample
    swaps: Sample
    ranks: Sample
    weights: Array | None
    queries: int
    differing: int
    higher: int
    lower: int
    undefined_for_one: int
    predicted: bool = False

    def sample_for(self, test: PairedTest, shift: float = 0.0) -> Sample:
        """The input of a test, chosen here alone, by ``test.of``."""
        if self.predicted and not test.by_moments and self.means.error:
            raise InputError(f"the test {test} looks at single queries, and predictions correct only means: use t")
        kinds = {"means": self.means, "signs": self.signs, "ranks": self.ranks, "swaps": self.swaps}
        if test.of == "units":
            raise InputError(
                f"the test {test} is for systems that share no units, as variants of an experiment: use wilcoxon"
            )
        if test.of not in kinds:
            raise InputError(f"the test {test} has of = {test.of!r}: it must be {', '.join(kinds)}")
        chosen = kinds[test.of]
        if not shift:
            return chosen
        if test.of in {"ranks", "swaps"} and self.weights is not None:
            return replace(chosen, values=(self.gains + shift) * self.weights)
        linear = self.signs if test.of == "signs" else self.means  # a geometric mean is shifted where it is linear
        return replace(linear, values=linear.values + shift)


@dataclass(frozen=True, eq=False)
class EstimatedPair:
    """Two systems of which the difference of the means is known, and its error, but no difference of a unit.

    So it is where each system has units of its own. ``run_sample`` and ``baseline_sample`` are the two means with their errors.
    """

    by_unit: ClassVar[bool] = False
    higher: ClassVar[int] = 0
    lower: ClassVar[int] = 0
    undefined_for_one: ClassVar[int] = 0

    means: Estimate
    run_sample: Sample | Estimate
    baseline_sample: Sample | Estimate

    @property
    def queries(self) -> int:
        """How many units there are."""
        return self.means.count

    @property
    def differing(self) -> int:
        """The number of units; 0 if nothing varies or differs."""
        return self.means.differing

    def drawn_for(self, test: PairedTest) -> EstimatedPair:
        """The pair with the chance of random draws of its units if the test makes some."""
        return replace(self, means=self.means.drawn(test))

    def sample_for(self, test: PairedTest, shift: float = 0.0) -> Sample:
        """The estimate, moved by ``shift``, or the values of the units of both sides. Raises InputError for a test of units that are shared."""
        require_own_units(test)
        if not test.by_moments and len(self.means.units) < 2:
            raise InputError(
                f"the test {test} needs the values of all units, and a quantile or a table of sums lacks them: use t"
            )
        if test.of == "units":
            run, baseline = scores(*self.means.units)
            return cast(Sample, Sides(run + shift, baseline))
        return cast(Sample, replace(self.means, mean=self.means.mean + shift))  # such a test takes either


WITHOUT_UNITS = "these systems have no units in common, or only their moments are held"
Pair = PairedValues | EstimatedPair


@dataclass(frozen=True, eq=False)
class Panel:
    """One measure of several systems on units: queries, users, impressions, events.

    ``values`` is systems x units, NaN where undefined. ``weights`` is like ``values``, where units weigh differently in the
    mean; ``clusters`` numbers the cluster of each unit, where units come in such. Systems with units of their own, as variants of an
    experiment have users of their own, are held as ``estimates``, one a system. Of a measure of the documents of all units
    together, ``pools`` holds these for each system, and ``values`` what each unit adds. ``predicted`` is like ``values``, by a model, for
    these and other units: ``values`` of people correct its means.

    ``name``, ``metric`` and ``better`` are those of the measure, and ``sign`` is 1 where higher is better, -1 where lower is, 0 where
    neither. ``reason`` says why nothing can be inferred about this measure; it is empty where something can. ``by_unit`` tells that
    systems can be compared unit by unit: they share their units, whose values are held.
    """

    measure: Measure
    systems: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    weights: Array | None = None
    clusters: Array | None = None
    estimates: tuple[Estimate, ...] = field(default=())
    pools: tuple[Pool, ...] = field(default=())
    predicted: Array | None = None
    name: str = field(init=False, repr=False)
    metric: Metric | None = field(init=False, repr=False)
    better: Literal["higher", "lower", "neither"] = field(init=False, repr=False)
    sign: int = field(init=False, repr=False)
    reason: str = field(init=False, repr=False)
    by_unit: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        of = self.measure
        vars(self).update(
            name=of.name,
            metric=of.metric,
            better=of.better,
            sign=SIGNS[of.better],
            reason="" if self.pools else NO_SAMPLE.get(of.aggregate, ""),
            by_unit=not self.estimates,
        )

    @classmethod
    def of_estimates(cls, measure: Measure, estimates: Mapping[str, Estimate]) -> Panel:
        """A panel of systems with separate units, each system with a known value and error."""
        empty = np.empty((len(estimates), 0))
        return cls(measure, tuple(estimates), (), empty, estimates=tuple(estimates.values()))

    # -- one system ----------------------------------------------------------------------------------

    def estimate(self, system: str) -> Sample | Estimate:
        """The mean of a system and its error: what each unit adds to the mean, or the two numbers alone."""
        at = self.systems.index(system)
        if self.pools:
            return sample_of_pool(self.pools[at], self.clusters)
        if self.predicted is not None:
            values = self.predictions(at)
            return PowerTuning.of(values).sample(values)
        if self.estimates:
            return self.estimates[at]
        weights = None if self.weights is None else self.weights[at]
        return sample_of(parts_of(self.measure, self.values[at], weights), self.clusters, weights)

    def interval(self, system: str, level: float = 0.95) -> Bounds:
        """The interval of the mean of a system, clipped to the range of the measure."""
        if self.estimates or self.predicted is not None:
            return t().of(self.estimate(system), level).clipped(*self.measure.range)
        at = self.systems.index(system)
        if self.pools:
            return bounds_of_pool(self.pools[at], self.clusters, None, level, self.measure.range)
        weights = None if self.weights is None else self.weights[at]
        return bounds_of(self.measure, self.values[at], weights, level=level, clusters=self.clusters)

    # -- two systems ---------------------------------------------------------------------------------

    def pair(self, run: str, baseline: str, inside: Array | None = None) -> PairedValues:
        """Two systems on the units for which both have a value, and that are ``inside`` if that is given."""
        if not self.by_unit:
            raise DataError(f"{self.name}: {WITHOUT_UNITS}")
        a, b = self.systems.index(run), self.systems.index(baseline)
        known = ~np.isnan(self.values[[a, b]])
        both = np.asarray(known.all(axis=0))
        if self.weights is not None:
            both &= (self.weights[a] > 0) & (self.weights[b] > 0)
        if inside is not None:
            both &= inside
        clusters = None if self.clusters is None else number_clusters(self.clusters[both])
        pools = [self.pools[row].within(both) for row in (a, b)] if self.pools else []
        ours, theirs = [pool.parts() for pool in pools] or [self.values[a][both], self.values[b][both]]
        gains = _without_rounding(ours - theirs, ours, theirs)
        signs = means = swaps = ranks = Sample(gains, clusters)
        here, there, pulls = ours, theirs, None
        weights: Array | None = np.ones(len(gains))
        if pools:
            signs = means = swaps = ranks = sample_of_pools(pools[0], pools[1], gains, clusters)
        elif self.weights is not None or self.measure.aggregate != "mean":
            here, there = self._parts(a, both)[both], self._parts(b, both)[both]
            pulls = self._pulls(a, b, both)
            means = swaps = Sample(_without_rounding(here - there, here, there), clusters, weights=pulls)
            weights = self._multiples(a, b, both)
            if weights is not None:
                geometric = self.measure.aggregate == "geometric"
                added = np.where(gains == 0, 0.0, logs_of(ours) - logs_of(theirs)) if geometric else gains
                swaps = ranks = Sample(added * weights, clusters)
                if geometric and len(added):
                    both_means = [exact_sum(one) / len(one) for one in (here, there)]
                    means, weights = _of_logarithms(added, clusters, pulls, both_means), None
        predicted = self.predicted is not None
        here_sample, there_sample = Sample(here, clusters, weights=pulls), Sample(there, clusters, weights=pulls)
        if predicted:
            one, other = self.predictions(a, both), self.predictions(b, both)
            tuning = PowerTuning.of(one - other)
            here_sample, there_sample, means = map(tuning.sample, (one, other, one - other))
        return PairedValues(
            both, ours, theirs, here_sample, there_sample,
            gains, signs, means, swaps, ranks, weights,
            queries=len(gains),
            differing=int(np.count_nonzero(swaps.values)),
            higher=int(np.count_nonzero(gains > 0)),
            lower=int(np.count_nonzero(gains < 0)),
            undefined_for_one=int(np.count_nonzero(known[0] != known[1])),
            predicted=predicted,
        )  # fmt: skip

    def predictions(self, at: int, judged: Array | None = None) -> Predictions:
        """The values of a system by people and by the model, on units that all systems have predictions for. ``judged`` marks people's units."""
        assert self.predicted is not None
        known = ~np.isnan(self.predicted).any(axis=0)
        by_people = ~np.isnan(self.values).any(axis=0)
        both = known & (~np.isnan(self.values[at]) if judged is None else judged)
        return Predictions(self.values[at][both], self.predicted[at][both], self.predicted[at][known & ~by_people])

    @property
    def counted(self) -> str:
        """The number of units in words. With predictions also the units judged by people and by the model."""
        if self.predicted is None:
            return words.counted(len(self.units), self.measure.unit)
        values = self.predictions(0)
        people, others = len(values.people), len(values.others)
        by_model = f" and {words.count(others)} by a model that they correct (PPI++); changes are corrected by themselves, and can differ from differences of values"
        return f"{words.counted(people, self.measure.unit)} judged by people{by_model if others else ''}"

    def _multiples(self, a: int, b: int, both: Array) -> Array | None:
        """How much each unit weighs in the difference, 1 on average; None where it weighs differently in the two systems."""
        count = int(np.count_nonzero(both))
        if self.weights is None or self.measure.aggregate == "sum" or not count:
            return np.ones(count)
        weight = self.weights[a][both]
        return weight * (count / exact_sum(weight)) if np.array_equal(weight, self.weights[b][both]) else None

    def _pulls(self, a: int, b: int, both: Array) -> Array | None:
        """What each unit weighs in the difference, by which clusters are of unequal size; the middle where it differs in the two systems."""
        if self.weights is None:
            return None
        here, there = self.weights[a][both], self.weights[b][both]
        even = np.array_equal(here, there)
        return np.asarray(here if even else here / exact_sum(here) + there / exact_sum(there))

    def pair_of_means(self, run: str, baseline: str) -> EstimatedPair:
        """Two systems by their means, if each has its own units."""
        each = self.estimate(run), self.estimate(baseline)
        return EstimatedPair(Estimate.between(*each), *each)

    # -- all systems ---------------------------------------------------------------------------------

    @cached_property
    def means(self) -> dict[str, float]:
        """The mean of each system over the units for which it has a value, the best first; in the order given where there is no better."""
        means = {system: self.estimate(system).mean for system in self.systems}
        return dict(sorted(means.items(), key=lambda item: math.inf if math.isnan(item[1]) else -self.sign * item[1]))

    @cached_property
    def complete(self) -> Array:
        """What each unit adds to each system's mean, systems x units, on the units for which all have a value."""
        if not self.by_unit:
            raise InputError(f"{self.name}: all systems together are compared per unit, and {WITHOUT_UNITS}; use holm")
        inside = np.asarray(~np.isnan(self.values).any(axis=0))
        return np.stack([self._parts(i, inside)[inside] for i in range(len(self.systems))])

    def of_rows(self, rows: Sequence[int]) -> Panel:
        """The same of some of the systems."""
        return replace(
            self,
            systems=tuple(self.systems[row] for row in rows),
            values=self.values[rows],
            weights=None if self.weights is None else self.weights[rows],
            pools=tuple(self.pools[row] for row in rows) if self.pools else (),
        )

    def within(self, inside: Array) -> Panel:
        """The same on some of the units."""
        pools = tuple(pool.within(inside) for pool in self.pools)
        values = np.stack([pool.parts() for pool in pools]) if pools else self.values[:, inside]
        return replace(
            self,
            pools=pools,
            units=tuple(unit for unit, kept in zip(self.units, inside.tolist(), strict=True) if kept),
            values=values,
            weights=None if self.weights is None else self.weights[:, inside],
            clusters=None if self.clusters is None else number_clusters(self.clusters[inside]),
        )

    def _parts(self, at: int, inside: Array) -> Array:
        """What each unit adds to a system's mean over the units that are inside; NaN outside."""
        weights = None if self.weights is None else np.where(inside, self.weights[at], 0.0)
        return parts_of(self.measure, np.where(inside, self.values[at], np.nan), weights)


def _of_logarithms(added: Array, clusters: Array | None, weights: Array | None, centres: Sequence[float]) -> Sample:
    """Differences of logarithms in the scale of a difference of two geometric means: their mean is that difference.

    Their scale is the logarithmic mean of the two means, so a t test of them is the t test of the logarithms. It is written so that swapping the two
    systems changes signs only.
    """
    parts = added if weights is None else linearise(added, weights)
    half = exact_sum(parts) / len(parts) / 2.0
    scale = math.sqrt(centres[0] * centres[1]) * (math.sinh(half) / half if half else 1.0)
    return Sample(parts * scale, clusters, weights=weights)


def _without_rounding(difference: Array, run: Array, baseline: Array) -> Array:
    """Differences without rounding: 0 if two values differ by no more than it, and equal to others within it."""
    sizes = np.maximum(np.abs(run), np.abs(baseline))
    difference = np.where(np.abs(difference) <= SAME * sizes, 0.0, difference)
    largest = sizes.max(initial=0.0)
    return (
        difference if np.abs(difference).max(initial=0.0) >= SLIGHT * largest else _even_out(difference, LAST * largest)
    )


def _even_out(difference: Array, rounding: float) -> Array:
    """Differences with one size for all whose sizes lie next to each other within rounding, and no more decimals than are known."""
    sizes = np.abs(difference)
    order = np.argsort(sizes, kind="stable")
    ascending = sizes[order]
    starts = np.flatnonzero(np.diff(ascending, prepend=-np.inf) > rounding)
    ends = np.append(starts[1:], len(sizes)) - 1
    if (ascending[ends] - ascending[starts] > MOST_ROUNDINGS * rounding).any():
        return difference  # so close to each other by chance
    known = ascending[starts]
    if rounding > TINY:
        known = np.round(known, math.floor(-math.log10(2 * rounding)))
    out = np.empty(len(sizes))
    out[order] = np.repeat(known, np.diff(starts, append=len(sizes)))
    return np.copysign(out, difference)
