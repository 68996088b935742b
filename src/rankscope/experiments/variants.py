"""The variants of an experiment, from a log: their panels on each metric, whole and within slices, and whether they can be compared.

Covariates, which were known of units before the experiment, take chance away from differences (CUPED).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Caution
from rankscope.diagnostics.logs import CutLeavesNothing, MixedUnitsLeftOut, OnlyEvents, OnlyEventsAfter, RepeatedUnits
from rankscope.diagnostics.rule import Finding
from rankscope.errors import DataError, InputError
from rankscope.experiments.arms import (
    FEWEST_UNITS,
    MOST_MIXED,
    Arms,
    SampleRatio,
    arms_of,
    counts_of,
    early_caution,
    places_of,
    planned_split,
    sample_ratio,
    skew_caution,
)
from rankscope.experiments.quantiles import few_rows, panel_of_quantiles, quantiles_of_arms, refuse_adjustment
from rankscope.impressions import COLUMNS, OUTCOMES, Log, attribute_of, cluster_columns
from rankscope.inference.base import PairedTest
from rankscope.inference.order_statistics import QuantileEstimate
from rankscope.lists import Array
from rankscope.logs.base import Earning, OnlineMetric, before, parse_online
from rankscope.logs.cuts import come_back
from rankscope.logs.health import MAX_ROWS_FOR_GROUPED_CHECKS, empty_cells, examine
from rankscope.logs.metrics import Attribute, Count, Mean, Quantile, Share
from rankscope.logs.rollup import UnitTotals, left_out_of_window, roll_up
from rankscope.logs.sums import UnitSums, refuse_rows, totals_of
from rankscope.moments import Moments
from rankscope.panels.families import MAX_VALUES, too_many_values
from rankscope.panels.method import Method, Validity
from rankscope.panels.panel import Panel
from rankscope.panels.ratios import error_shares, panel_of
from rankscope.panels.samples import Measure
from rankscope.words import option_named

FEWEST_OF_STRATUM = 4  # units a stratum has on average, below which strata say more of chance than of units


@dataclass(frozen=True)
class Adjustment:
    """What variants are adjusted for: ``covariates`` by metric, a ``stratum``, and the quantile at which what units add is cut."""

    covariates: Covariates = field(default_factory=dict)
    stratum: str | None = None
    winsorise: float | None = None
    automatic: bool = False  # the covariates are a default

    def statement(self) -> dict[str, Any]:
        """What was adjusted for, for people and programs."""
        return {
            "covariates": {str(metric): [str(other) for other in others] for metric, others in self.covariates.items()},
            "covariates_automatic": self.automatic, "strata": self.stratum, "winsorise": self.winsorise,
        }  # fmt: skip

    def remarks(self) -> Iterator[str]:
        """What was adjusted for, for the small print."""
        for metric, others in self.covariates.items():
            yield f"{metric} adjusted for {words.listing(others)} (CUPED{', automatic: --covariate none leaves it out' * self.automatic})"
        if self.stratum:
            yield f"adjusted for {self.stratum}"
        if self.winsorise:
            yield f"cut at the {words.share(self.winsorise, 1)} quantile"


@dataclass(frozen=True, eq=False)
class Variants:
    """The variants of an experiment, the baseline first, and how they were split; ``panel`` has their values on a metric."""

    log: Log
    arms: Arms
    sample_ratio: SampleRatio
    adjustment: Adjustment
    clusters: tuple[str, ...] = ()
    every: bool = False  # panels keep the values of every unit, for tests of ranks

    @property
    def names(self) -> tuple[str, ...]:
        """The variants, the baseline first."""
        return self.arms.names

    @property
    def validity(self) -> Validity:
        """Whether the variants can be compared: if units were split as planned, and under a tenth were in several variants."""
        several, p_value = words.plural(self.noun), words.p_value(self.sample_ratio.p_value)
        if not self.sample_ratio.holds:
            return Validity.unless(False, f"{several} were not split as planned ({p_value})")
        mixed = words.share(self.arms.mixed_share, 1)
        return Validity.unless(self.arms.mixed_share < MOST_MIXED, f"{mixed} of {several} were in several variants")

    def looked_at(self, test: PairedTest | None) -> Variants:
        """Return the same variants, as a test needs them: a check of the split that holds at looks, or the values of every unit."""
        if test is None or not (test.has_interval or test.of == "units"):
            return self
        if test.of == "units":
            return replace(self, every=True)
        return replace(
            self, sample_ratio=sample_ratio(self.sample_ratio.counts, self.sample_ratio.expected, at_looks=True)
        )

    def method_for(self, method: Method, metrics: Iterable[OnlineMetric]) -> Method:
        """Return the method, with planned looks that hold if users go on adding to a metric after their first day."""
        if (
            getattr(method.test, "looks", 1) < 2
            or all(metric.windowed for metric in metrics)
            or not come_back(self.log)
        ):
            return method
        test = None if method.test is None else method.test.having(adding=True)
        return replace(
            method, test=test, interval=None if method.interval is None else method.interval.having(adding=True)
        )

    @property
    def noun(self) -> str:
        """The noun for a unit with a variant: a user, a session ..."""
        return self.arms.units.noun

    @property
    def notes(self) -> list[str]:
        """What was read, and how it was rolled up."""
        if self.log.sums is not None:
            return [*self.log.source.notes]
        units, rows = self.arms.units.single, words.counted(self.arms.units.rows, "row")
        rolled = (
            f"{rows}, each its own {'unit' if units.noun == 'row' else units.noun}"
            if units.rows == units.count
            else f"{rows} rolled up to {words.counted(units.count, units.noun)}"
        )
        if self.clusters:
            rolled = f"{rows} of {words.counted(self.users, units.noun)} in {words.counted(self.arms.units.count, 'cluster')} ({words.listing(self.clusters)})"
        return [*self.log.source.notes, rolled, *self._unobserved(), *self._without_covariate()]

    @property
    def users(self) -> int:
        """The number of users, each counted once even if in several clusters."""
        single = self.arms.units.single
        return single.count if single.ids is None else single.ids.n_unique()

    def _unobserved(self) -> Iterator[str]:
        """A note about each windowed metric that leaves units out."""
        units = self.arms.units.single
        for metric in units.metrics:
            seen = int(np.count_nonzero(units.columns(metric)[:, 1])) if metric.windowed else units.count
            if seen < units.count:
                yield left_out_of_window(metric, seen, units.count - seen, units.noun)

    def _without_covariate(self) -> Iterator[str]:
        """Yield a note about each covariate that some units do not have."""
        units = self.arms.units.single
        for covariate in dict.fromkeys(one for others in self.adjustment.covariates.values() for one in others):
            missing = units.count - int(np.count_nonzero(units.columns(covariate)[:, 1]))
            if missing == units.count:
                yield f"{covariate} is empty for all {words.counted(missing, units.noun)}: it adjusts nothing"
            elif missing:
                yield f"{covariate} is empty for {words.counted(missing, units.noun)}: they count as the mean of the others, and an indicator marks them"

    @cached_property
    def _quantiles(self) -> dict[OnlineMetric, dict[str, QuantileEstimate]]:
        """Each quantile that was asked for, in each variant."""
        units = self.arms.units
        quantiles = [metric for metric in units.metrics if isinstance(metric, Quantile)]
        return {metric: quantiles_of_arms(metric, units, self.names) for metric in quantiles}

    @cached_property
    def _panels(self) -> dict[OnlineMetric, Panel]:
        return {}

    def panel(self, metric: OnlineMetric, units: UnitTotals | None = None) -> Panel:
        """The variants on a metric, adjusted for its covariates and strata; of some of the units where these are given."""
        if units is not None:
            return self._panel(metric, units)
        if metric not in self._panels:
            self._panels[metric] = self._panel(metric, self.arms.units)
        return self._panels[metric]

    def _panel(self, metric: OnlineMetric, units: UnitTotals) -> Panel:
        if isinstance(metric, Quantile):
            whole = units is self.arms.units
            return panel_of_quantiles(
                metric, units, self._quantiles[metric] if whole else quantiles_of_arms(metric, units, self.names)
            )
        present, units = units, units.counted(metric)
        unseen = [name for name, count in counts_of(units, self.names).items() if count < FEWEST_UNITS]
        if unseen and units is not present:
            raise DataError(f"{metric}: {unseen[0]} has fewer than two {words.plural(units.noun)} with a value")
        arms = self._arms(metric, units)
        empty = [name for name, arm in arms.items() if not (arm.mean if isinstance(arm, Moments) else arm.T)[1].sum()]
        if empty:
            raise DataError(f"{metric}: {empty[0]} has no {metric.below or 'value'}")
        first = next(iter(arms.values()))
        covariates = (len(first.mean) if isinstance(first, Moments) else first.shape[1]) // 2 - 1
        if covariates > 1 and units.count - len(arms) < 2 * covariates:
            raise DataError(
                f"{metric}: {words.counted(units.count, units.noun)} are too few to adjust for {covariates} covariates and strata: "
                "name fewer, or a column of strata with fewer values"
            )
        measure = Measure(self.name_of(metric), metric.direction, metric.range, unit=units.noun)
        return panel_of(measure, arms, covariates=covariates, every=self.every)

    def _arms(self, metric: OnlineMetric, units: UnitTotals) -> dict[str, Array | Moments]:
        """The units of each variant, or their moments if only sums are known."""
        places = places_of(units, self.names)
        if isinstance(units, UnitSums):
            others, of = self.adjustment.covariates.get(metric, ()), units.groups["variant"]
            return {name: units.filter(of == name).moments(metric, others) for name in places}
        table = self.table(metric, units)
        return {name: table.T.take(inside, axis=1).T for name, inside in places.items()}

    def table(self, metric: OnlineMetric, units: UnitTotals) -> Array:
        """The numerator and denominator of a metric by unit, then those of its covariates and strata: units x columns."""
        single, covariates = units.single, self.adjustment.covariates.get(metric, ())
        others = [columns for other in covariates for columns in single.adjusting(other)]
        own = self._cut(metric, single.columns(metric))
        table = np.vstack([columns.T for columns in (own, *others, *self._strata(single))]).T
        if self.clusters and metric.leaves_out():
            table[own[:, 1] == 0] = 0.0
        return units.summed(table)

    def error_shares(self, metric: OnlineMetric, run: str, baseline: str) -> tuple[list[str], Array] | None:
        """The ids of the units of two variants and the share of each in the error of their difference; None if rows are units, and for quantiles."""
        units = self.arms.units.counted(metric)
        if units.ids is None or units.unit != "unit_id" or isinstance(metric, Quantile):
            return None
        table, places = self.table(metric, units), places_of(units, (run, baseline))
        shares = error_shares(table[places[run]], table[places[baseline]], table.shape[1] // 2 - 1)
        return [str(one) for name in (run, baseline) for one in units.ids.gather(places[name]).to_list()], shares

    def units_by(self, column: str, metric: OnlineMetric, log: Log | None = None) -> UnitTotals:
        """The units of the variants by the value of a column. A unit with rows of several values is in several."""
        refuse_rows(self.log, f"a value by {column}")
        stratum = self.adjustment.stratum
        metrics = [metric, *self.adjustment.covariates.get(metric, ())]
        more = [stratum] if stratum else []
        by = list(dict.fromkeys(["variant", column]))
        log = self.log if log is None else log
        units = roll_up(log, metrics, list(dict.fromkeys([*by, *self.clusters])), attributes=more, ids=True)
        return self.arms.of(units.clustered(self.clusters, by))

    def slices(self, attribute: str, metric: OnlineMetric, units: UnitTotals) -> tuple[dict[str, Panel], list[str]]:
        """The variants on a metric within each value of an attribute, and notes on the values that are left out."""
        groups, several = units.groups[attribute], words.plural(units.noun)
        values = sorted(groups.drop_nulls().unique().to_list(), key=str)
        if len(values) > MAX_VALUES:
            return {}, [too_many_values(attribute, len(values))]
        panels: dict[str, Panel] = {}
        few: list[str] = []
        for value in values:
            part = units.filter((groups == value).fill_null(value=False))
            if min(counts_of(part, self.names).values()) < FEWEST_UNITS:
                few.append(str(value))
                continue
            try:
                panels[str(value)] = self.panel(metric, part)
            except DataError:
                few.append(str(value))
        notes = []
        if few:
            notes.append(
                f"{attribute}: {words.listing(few, 5)} {words.agree(len(few), 'has')} too few {several} for {metric} in a variant, "
                f"and {words.agree(len(few), 'is')} left out"
            )
        if without := groups.null_count():
            notes.append(
                f"{attribute}: {words.counted(without, f'{units.noun} has', f'{several} have')} rows without it, which are in no slice"
            )
        return panels, notes

    def cautions(self, metrics: Iterable[OnlineMetric], test: PairedTest | None = None) -> list[Caution]:
        """The warnings of the experiment: problems of the log with the codes of ``check``, units that are left out, and doubts about metrics."""
        if self.log.sums is not None:
            return [*self.arms.cautions]
        codes = {caution.code for caution in self.arms.cautions}
        if self.clusters:  # users may change variants, clusters may not
            codes.add(MixedUnitsLeftOut.code)
        short = self.arms.units.rows <= MAX_ROWS_FOR_GROUPED_CHECKS
        others = [other for each in self.adjustment.covariates.values() for other in each]
        measured = [getattr(other, name) for other in others for name in other.of_columns]
        used = [*metrics, *others]
        facts = examine(self.log, metrics=used, covariates=measured).facts if short else ()
        faults = [fact for fact in facts if fact.code not in codes]
        empty = empty_cells(self.log, self.arms.units, facts)
        return [*faults, *self.arms.cautions, *self._only_events(metrics, faults), *empty, *self._doubts(metrics, test)]

    def _only_events(self, metrics: Iterable[OnlineMetric], faults: Sequence[Finding]) -> Iterator[Caution]:
        """Warn of a table of events, if it has several rows per unit and a metric is a mean, count or share of units."""
        units, log = self.arms.units.single, self.log
        per_unit = any(isinstance(metric, Mean | Count | Share) for metric in metrics)
        several = units.rows > units.count == self.users and log.has("unit_id")
        events = several and log.events is None and not log.of_impressions
        if events and per_unit and all(fault.code != RepeatedUnits.code for fault in faults):
            rule = OnlyEvents if log.before is None else OnlyEventsAfter
            yield rule.caution(log=log.label, rows=units.rows, unit=units.noun, total=units.count)

    def _doubts(self, metrics: Iterable[OnlineMetric], test: PairedTest | None) -> list[Caution]:
        """Warn if there are too few units for their skewness or for a test at any look, or too few rows for a far quantile."""
        cautions = [early_caution(test, self.arms.counts, self.noun)]
        for metric in metrics:
            if isinstance(metric, Quantile):
                cautions.append(few_rows(metric, self._quantiles[metric]))
                continue
            cautions.append(self._uncut(metric))
            cautions.append(skew_caution(self.panel(metric), test))
        return [caution for caution in cautions if caution is not None]

    def name_of(self, metric: OnlineMetric) -> str:
        """Return the name of a metric in results: ``Mean(y), cut at 15.2`` if the totals of units are cut there."""
        most = self._limits.get(metric)
        return str(metric) if most is None else f"{metric}, cut at {words.amount(most)}"

    @cached_property
    def _limits(self) -> dict[Earning, float]:
        """The total of a unit at which each metric is cut: a quantile over all units. It must change some totals, not all."""
        quantile = self.adjustment.winsorise
        if quantile is None:
            return {}
        metrics = [metric for metric in self.arms.units.metrics if not isinstance(metric, Quantile)]
        sums = {metric: each for metric in metrics if len(each := self._sums_of(metric))}
        limits = {metric: float(np.quantile(each, quantile)) for metric, each in sums.items()}
        return {metric: most for metric, most in limits.items() if sums[metric].min() < most < sums[metric].max()}

    def _sums_of(self, metric: Earning) -> Array:
        """The numerators of the units that a metric counts."""
        return self.arms.units.single.counted(metric).columns(metric)[:, 0]

    def _cut(self, metric: OnlineMetric, columns: Array) -> Array:
        """Return the numerators and denominators of units, the numerators cut at the limit of the metric."""
        most = self._limits.get(metric)
        return columns if most is None else np.stack([np.minimum(columns[:, 0], most), columns[:, 1]]).T

    def _uncut(self, metric: OnlineMetric) -> Caution | None:
        """A caution where a cut would have left nothing of a metric."""
        share, sums = self.adjustment.winsorise, self._sums_of(metric)
        if share is None or not len(sums) or np.quantile(sums, share) > sums.min() or not np.ptp(sums) > 0:
            return None
        above = float((sums > sums.min()).mean())
        return CutLeavesNothing.caution(metric=metric, above=above, unit=self.arms.units.single.noun, quantile=share)

    def _strata(self, units: UnitTotals) -> list[Array]:
        """Every stratum but the first as a covariate: 1 for its units."""
        if self.adjustment.stratum is None:
            return []
        values = units.groups[self.adjustment.stratum].fill_null("")
        return [
            np.column_stack([(values == name).to_numpy().astype(float), np.ones(units.count)])
            for name in sorted(values.unique().to_list())[1:]
        ]


def variants_of(  # noqa: PLR0913 - the options of an experiment
    log: Log,
    metrics: Sequence[OnlineMetric],
    *,
    baseline: str | None = None,
    split: Any = None,
    covariates: Any = None,
    strata: str | None = None,
    winsorise: float | None = None,
    clusters: Any = None,
) -> Variants:
    """Roll a log up to the units that were given variants."""
    check_winsorise(winsorise)
    refuse_totals(log)
    for option, value in {"strata": strata, "winsorise": winsorise}.items():
        if value is not None:
            refuse_rows(log, option_named(option))
    stratum = None if strata is None else attribute_of(log, strata)
    if stratum is not None:
        refuse_adjustment(metrics, f"strata={strata}")
    automatic = covariates is None
    chosen = automatic_covariates(log, metrics) if automatic else covariates_of(covariates, metrics, log)
    adjustment = Adjustment(chosen, stratum, winsorise, automatic and bool(chosen))
    refuse_outcomes(log, adjustment.covariates)
    needed = list(dict.fromkeys([*metrics, *(one for others in adjustment.covariates.values() for one in others)]))
    within = cluster_columns(log, clusters)
    units = totals_of(log, needed, ["variant", *within], attributes=[stratum] if stratum else [], ids=True)
    arms = arms_of(units.clustered(within, ["variant"]), baseline)
    single = arms.units.single
    if stratum is not None and (values := single.groups[stratum].n_unique()) * FEWEST_OF_STRATUM > arms.units.count:
        raise InputError(
            f"strata={strata}: it has {words.counted(values, 'value')} for {words.counted(arms.units.count, arms.units.noun)}: "
            "name a column with few values, like country, or take a number as a covariate"
        )
    ratio = sample_ratio(arms.counts, planned_split(split, arms.names))
    return Variants(log, arms, ratio, adjustment, tuple(within))


def refuse_totals(log: Log) -> None:
    """Raise InputError for a table of totals per variant: its rows are not users, so their spread says nothing about chance."""
    squares = [name for name in log.attributes if re.search(r"(squares?|sum_?sq|sumsq)$", name.casefold())]
    if squares and log.sums is None and not log.has("unit_id") and not log.of_impressions:
        raise InputError(
            f"{log.label}: column {squares[0]} holds a sum of squares, so these rows are totals of many users: name the column with their number, "
            "like --columns 'NAME=n', and a sum next to each sum of squares (revenue_sum, revenue_sum_squares)"
        )


def check_winsorise(quantile: float | None) -> None:
    """Refuse a quantile at which nothing of use is cut."""
    if quantile is not None and not 0.5 < quantile < 1:
        raise InputError(f"winsorise={quantile}: cut at a quantile above 0.5 and below 1, like 0.99")


GROWTHBOOK = "GrowthBook"  # sources with a column of each metric before the first exposure
OFF = "none"
FEWEST_ROWS = 30  # from before the assignment, below which they hardly describe units
BEFORE = "before"  # the covariate that is the same metric before the assignment
NOT_OUTCOMES = {name for name, column in COLUMNS.items() if column.kind in {"id", "time", "place"}} | {
    "shown",
    "examined",
}
Covariates = dict[OnlineMetric, tuple[OnlineMetric, ...]]


def covariates_of(covariates: Any, metrics: Collection[OnlineMetric], log: Log | None = None) -> Covariates:
    """By metric, the covariates it is adjusted for: ``{"Mean(revenue)": "before"}``, or ``"Mean(revenue)=before"``, or several such.

    If the ``log`` is of assignments and events, ``before`` is the same metric before the assignment.
    A covariate is a column of numbers, of which each unit has one (its first value), or an online metric. Raises InputError for what names none, and for a metric that is not computed.
    """
    out: Covariates = {}
    has_before = log is not None and log.before is not None
    for text, value in covariate_pairs(covariates):
        metric = parse_online(text)
        if metric not in metrics:
            raise InputError(f"covariate of {metric}: it is not computed; there are {words.listing(metrics)}")
        if isinstance(metric, Quantile):
            raise InputError(
                f"covariate of {metric}: a quantile is not adjusted for covariates; leave it out, or ask for a Mean"
            )
        each = [value] if isinstance(value, str | OnlineMetric) else list(value)
        out[metric] = (
            *out.get(metric, ()),
            *(before(metric) if one == BEFORE and has_before else _covariate(one) for one in each),
        )
    return out


def automatic_covariates(log: Log, metrics: Collection[OnlineMetric]) -> Covariates:
    """By metric, the same metric before the assignment, if the log holds that time."""
    if log.before is not None and log.before.rows >= FEWEST_ROWS:
        sums = [metric for metric in metrics if isinstance(metric, Share) or metric.rowwise]
        return {metric: (before(metric),) for metric in sums if not isinstance(metric, Quantile)}
    if log.source.kind != GROWTHBOOK:
        return {}
    names = {metric: f"{metric.column}_{BEFORE}" for metric in metrics if isinstance(metric, Mean) and not metric.where}
    return {metric: (Attribute(column=name),) for metric, name in names.items() if name in log.attributes}


def refuse_outcomes(log: Log, covariates: Covariates) -> None:
    """Raise InputError for a covariate that the variant may have changed: an outcome of the log, or a column of its own metric."""
    for metric, others in covariates.items():
        own = metric.reads(log) - NOT_OUTCOMES
        for other in others:
            if outcomes := (other.reads(log) - NOT_OUTCOMES) & (own | {*OUTCOMES}):
                column = min(log.roles.get(name, name) for name in outcomes)
                raise InputError(
                    f"covariate {other} of {metric}: {column} is an outcome of the experiment, so that adjusting for it hides what the variant did: "
                    "name a column that was measured before"
                )


def covariate_pairs(covariates: Any) -> list[tuple[Any, Any]]:
    """Return pairs of a metric and its covariate as given. Raises InputError for a text without both."""
    if isinstance(covariates, Mapping):
        return list(covariates.items())
    texts = [covariates] if isinstance(covariates, str) else list(covariates or ())
    return [] if texts == [OFF] else [_pair(text) for text in texts]


def _pair(text: str) -> tuple[str, str]:
    metric, equals, column = text.rpartition("=")
    if not equals or not metric.strip() or not column.strip():
        raise InputError(f"covariate {text}: write METRIC=COLUMN, like 'Mean(revenue)=revenue_before'")
    return metric.strip(), column.strip()


def _covariate(covariate: Any) -> OnlineMetric:
    if isinstance(covariate, str) and "(" not in covariate and covariate not in OnlineMetric.catalogue:
        return Attribute(column=covariate)  # rows of a log repeat it, and more rows come of the treatment
    metric = parse_online(covariate)
    if isinstance(metric, Quantile):
        raise InputError(f"covariate {metric}: a quantile has no value per unit; name a column, a Mean or a Ratio")
    return metric
