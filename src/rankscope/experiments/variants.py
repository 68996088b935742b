"""The variants of an experiment, from a log: their panels on each metric, whole and within slices, and whether they can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Caution
from rankscope.diagnostics.logs import CutLeavesNothing
from rankscope.errors import DataError, InputError
from rankscope.experiments.arms import FEWEST_UNITS, Arms, arms_of, counts_of, places_of
from rankscope.experiments.covariates import Covariates, covariates_of, refuse_outcomes
from rankscope.experiments.quantiles import few_rows, panel_of_quantiles, quantiles_of_arms, refuse_adjustment
from rankscope.experiments.split import SampleRatio, early_caution, sample_ratio, skew_caution, skewness
from rankscope.impressions import Log
from rankscope.inference.base import PairedTest
from rankscope.inference.order_statistics import QuantileEstimate
from rankscope.lists import Array
from rankscope.logs.base import OnlineMetric
from rankscope.logs.cuts import attribute_of
from rankscope.logs.health import MAX_ROWS_FOR_GROUPED_CHECKS, empty_sums, examine
from rankscope.logs.metrics import Quantile
from rankscope.logs.rollup import UnitTotals, left_out_of_window, roll_up
from rankscope.moments import Moments
from rankscope.panels.panel import Panel
from rankscope.panels.ratios import panel_of
from rankscope.panels.samples import Measure
from rankscope.panels.slices import MAX_VALUES, too_many_values
from rankscope.panels.validity import Validity

FEWEST_OF_STRATUM = 4  # units a stratum has on average, below which strata say more of chance than of units


@dataclass(frozen=True)
class Adjustment:
    """What variants are adjusted for: ``covariates`` by metric, a ``stratum``, and the quantile at which what units add is cut."""

    covariates: Covariates = field(default_factory=dict)
    stratum: str | None = None
    winsorise: float | None = None

    def statement(self) -> dict[str, Any]:
        """What was adjusted for, for people and programs."""
        return {
            "covariates": {str(metric): [str(other) for other in others] for metric, others in self.covariates.items()},
            "strata": self.stratum, "winsorise": self.winsorise,
        }  # fmt: skip

    def remarks(self) -> Iterator[str]:
        """What was adjusted for, for the small print."""
        for metric, others in self.covariates.items():
            yield f"{metric} adjusted for {words.listing(others)} (CUPED)"
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

    @property
    def names(self) -> tuple[str, ...]:
        """The variants, the baseline first."""
        return self.arms.names

    @property
    def validity(self) -> Validity:
        """Whether the variants can be compared: if units were split as planned."""
        p_value = words.p_value(self.sample_ratio.p_value)
        return Validity.unless(
            self.sample_ratio.holds, f"{words.plural(self.noun)} were not split as planned ({p_value})"
        )

    @property
    def noun(self) -> str:
        """The noun for a unit with a variant: a user, a session ..."""
        return self.arms.units.noun

    @property
    def notes(self) -> list[str]:
        """What was read, and how it was rolled up."""
        units, rows = self.arms.units, words.counted(self.arms.units.rows, "row")
        own = units.rows == units.count
        rolled = (
            f"{rows}, each its own {'unit' if self.noun == 'row' else self.noun}"
            if own
            else f"{rows} rolled up to {words.counted(units.count, self.noun)}"
        )
        return [*self.log.source.notes, rolled, *self._unobserved(), *self._without_covariate()]

    def _unobserved(self) -> Iterator[str]:
        """A note about each windowed metric that leaves units out."""
        units = self.arms.units
        for metric in units.metrics:
            seen = int(np.count_nonzero(units.columns(metric)[:, 1])) if metric.windowed else units.count
            if seen < units.count:
                yield left_out_of_window(metric, seen, units.count - seen, units.noun)

    def _without_covariate(self) -> Iterator[str]:
        """Yield a note about each covariate that some units do not have."""
        units = self.arms.units
        for covariate in dict.fromkeys(one for others in self.adjustment.covariates.values() for one in others):
            missing = units.count - int(np.count_nonzero(units.columns(covariate)[:, 1]))
            if missing:
                yield f"{covariate} is empty for {words.counted(missing, units.noun)}: they count as the mean of the others"

    @cached_property
    def _quantiles(self) -> dict[OnlineMetric, dict[str, QuantileEstimate]]:
        """Each quantile that was asked for, in each variant."""
        units = self.arms.units
        asked = [metric for metric in units.metrics if isinstance(metric, Quantile)]
        return {metric: quantiles_of_arms(metric, units, self.names) for metric in asked}

    def panel(self, metric: OnlineMetric, units: UnitTotals | None = None) -> Panel:
        """The variants on a metric, adjusted for its covariates and strata; of some of the units where these are given."""
        units = self.arms.units if units is None else units
        if isinstance(metric, Quantile):
            whole = units is self.arms.units
            return panel_of_quantiles(
                metric, units, self._quantiles[metric] if whole else quantiles_of_arms(metric, units, self.names)
            )
        if (
            metric.windowed or not units.unit
        ):  # a unit that was not observed for long enough, or not shown, has no value
            units = units.observed(metric)
            unseen = [name for name, count in counts_of(units, self.names).items() if count < FEWEST_UNITS]
            if unseen:
                raise DataError(f"{metric}: {unseen[0]} has fewer than two {words.plural(units.noun)} with a value")
        table = self.table(metric, units)
        arms = {
            name: Moments.of_set(table.T.take(inside, axis=1).T)
            for name, inside in places_of(units, self.names).items()
        }
        empty = [name for name, arm in arms.items() if not arm.mean[1]]
        if empty:
            raise DataError(f"{metric}: {empty[0]} has no {metric.below or 'value'}")
        covariates = table.shape[1] // 2 - 1
        if covariates > 1 and units.count - len(arms) < 2 * covariates:
            raise DataError(
                f"{metric}: {words.counted(units.count, units.noun)} are too few to adjust for {covariates} covariates and strata: "
                "name fewer, or a column of strata with fewer values"
            )
        measure = Measure(str(metric), metric.better, metric.range, unit=units.noun)
        return panel_of(measure, arms, covariates=covariates)

    def table(self, metric: OnlineMetric, units: UnitTotals) -> Array:
        """What each unit adds above and below the line of a metric, and then of each of its covariates and strata: units x columns."""
        others = [units.columns(other) for other in self.adjustment.covariates.get(metric, ())]
        return np.vstack([columns.T for columns in (self._cut(units.columns(metric)), *others, *self._strata(units))]).T

    def units_by(self, column: str, metric: OnlineMetric, log: Log | None = None) -> UnitTotals:
        """The units of the variants by the value of a column, too: who has rows of several values is there several times.

        ``log`` is the log unless it was given a column more.
        """
        stratum = self.adjustment.stratum
        asked = [metric, *self.adjustment.covariates.get(metric, ())]
        more = [stratum] if stratum else []
        return self.arms.of(
            roll_up(self.log if log is None else log, asked, ["variant", column], attributes=more, ids=True)
        )

    def slices(self, attribute: str, metric: OnlineMetric, units: UnitTotals) -> tuple[dict[str, Panel], list[str]]:
        """The variants on a metric within each value of an attribute, and notes about what is left out.

        ``units`` are those of ``units_by(attribute, metric)``. An attribute with many values makes no slices.
        """
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
        """What to know before any of it is believed: what is wrong with the log, by the codes of ``check``, which units are left out, and doubts of metrics.

        Of a log of millions of rows nothing is said of what is wrong with it: looking takes longer than comparing.
        """
        told = {caution.code for caution in self.arms.cautions}
        short = self.arms.units.rows <= MAX_ROWS_FOR_GROUPED_CHECKS
        others = [other for each in self.adjustment.covariates.values() for other in each]
        measured = [getattr(other, name) for other in others for name in other.of_columns]
        facts = examine(self.log, covariates=measured).facts if short else ()
        faults = [fact for fact in facts if fact.code not in told]
        return [*faults, *self.arms.cautions, *self._doubts(metrics, test)]

    def _doubts(self, metrics: Iterable[OnlineMetric], test: PairedTest | None) -> list[Caution]:
        """Where units are too few for how skewed they are, or for a test at any look, or rows for how far out a quantile is."""
        units, metrics = self.arms.units, list(metrics)
        found = [early_caution(test, self.arms.counts, units.noun), *empty_sums(self.log, metrics)]
        for metric in metrics:
            if isinstance(metric, Quantile):
                found.append(few_rows(metric, self._quantiles[metric]))
                continue
            found.append(self._uncut(metric))
            columns = self._cut(units.columns(metric))
            whole = columns[:, 1].sum()
            left = columns[:, 0] - columns[:, 0].sum() / whole * columns[:, 1] if whole else columns[:, 0]
            arms = {name: left[inside] for name, inside in places_of(units, self.names).items()}
            measure = Measure(str(metric), metric.better, unit=units.noun)
            found.append(skew_caution(measure, {name: (len(arm), skewness(arm)) for name, arm in arms.items()}))
        return [caution for caution in found if caution is not None]

    def _cut(self, columns: Array) -> Array:
        """What each unit adds, cut at a quantile of what all units add above the line; as it is where that would leave all the same."""
        if self.adjustment.winsorise is None:
            return columns
        most = float(np.quantile(columns[:, 0], self.adjustment.winsorise))
        if most <= columns[:, 0].min():
            return columns
        return np.stack([np.minimum(columns[:, 0], most), columns[:, 1]]).T

    def _uncut(self, metric: OnlineMetric) -> Caution | None:
        """A caution where a cut would have left nothing of a metric."""
        share, sums = self.adjustment.winsorise, self.arms.units.columns(metric)[:, 0]
        if share is None or np.quantile(sums, share) > sums.min() or not np.ptp(sums) > 0:
            return None
        above = float((sums > sums.min()).mean())
        return CutLeavesNothing.caution(metric=metric, above=above, unit=self.arms.units.noun, quantile=share)

    def _strata(self, units: UnitTotals) -> list[Array]:
        """Every stratum but the first as a covariate: 1 for its units."""
        if self.adjustment.stratum is None:
            return []
        values = units.groups[self.adjustment.stratum].fill_null("")
        return [
            np.column_stack([(values == name).to_numpy().astype(float), np.ones(units.count)])
            for name in sorted(values.unique().to_list())[1:]
        ]


def variants_of(
    log: Log,
    metrics: Sequence[OnlineMetric],
    *,
    baseline: str | None = None,
    split: Any = None,
    covariates: Any = None,
    strata: str | None = None,
    winsorise: float | None = None,
) -> Variants:
    """Roll a log up to the units that were given variants.

    The options are those of ``experiment``. Raises InputError for what cannot be used, DataError where there is nothing to compare.
    """
    check_winsorise(winsorise)
    stratum = None if strata is None else attribute_of(log, strata)
    if stratum is not None:
        refuse_adjustment(metrics, f"strata={strata}")
    adjustment = Adjustment(covariates_of(covariates, metrics), stratum, winsorise)
    refuse_outcomes(log, adjustment.covariates)
    asked = list(dict.fromkeys([*metrics, *(one for others in adjustment.covariates.values() for one in others)]))
    arms = arms_of(roll_up(log, asked, ["variant"], attributes=[stratum] if stratum else [], ids=True), baseline)
    if stratum is not None and (values := arms.units.groups[stratum].n_unique()) * FEWEST_OF_STRATUM > arms.units.count:
        raise InputError(
            f"strata={strata}: it has {words.counted(values, 'value')} for {words.counted(arms.units.count, arms.units.noun)}: "
            "name a column with few values, like country, or take a number as a covariate"
        )
    return Variants(log, arms, sample_ratio(arms.counts, planned_split(split, arms.names)), adjustment)


def check_winsorise(quantile: float | None) -> None:
    """Refuse a quantile at which nothing of use is cut."""
    if quantile is not None and not 0.5 < quantile < 1:
        raise InputError(f"winsorise={quantile}: cut at a quantile above 0.5 and below 1, like 0.99")


def planned_split(said: Any, names: Sequence[str]) -> dict[str, float] | None:
    """Return the planned shares by variant, from a mapping or texts like ``A=0.9,B=0.1``; None without a plan."""
    out = shares_of(said)
    unknown = [name for name in out or () if name not in names]
    if unknown:
        raise InputError(f"split {unknown[0]}: no variant is called that{words.hint(unknown[0], names)}")
    return out


def shares_of(said: Any) -> dict[str, float] | None:
    """Return shares by name. Raises InputError for values that are not shares."""
    if said is None:
        return None
    texts = [said] if isinstance(said, str) else said
    pairs = (
        said.items()
        if isinstance(said, Mapping)
        else [part.rpartition("=")[::2] for text in texts for part in str(text).split(",")]
    )
    out: dict[str, float] = {}
    for name, part in pairs:
        if not str(name).strip():
            raise InputError(f"split {part}: name the variant of each share, like A=0.9,B=0.1")
        number = words.as_number(str(part).strip())
        if number is None or not number > 0:
            raise InputError(f"split {name}={part}: a share is a number above 0, like A=0.9,B=0.1")
        out[str(name).strip()] = number
    return out
