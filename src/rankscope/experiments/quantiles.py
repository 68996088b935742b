"""The variants of an experiment on a quantile: its value in each, and how sure it is as rows of one unit are alike."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from rankscope import words
from rankscope.blocks import Caution
from rankscope.diagnostics.logs import FewBeyondQuantile
from rankscope.errors import DataError, InputError
from rankscope.experiments.arms import counts_of, places_of
from rankscope.inference.order_statistics import QuantileEstimate, quantile_of
from rankscope.logs.base import OnlineMetric
from rankscope.logs.metrics import Quantile
from rankscope.logs.rollup import UnitTotals
from rankscope.panels.panel import Panel
from rankscope.panels.ratios import in_scale
from rankscope.panels.samples import Measure


def quantiles_of_arms(metric: Quantile, units: UnitTotals, names: Sequence[str]) -> dict[str, QuantileEstimate]:
    """The quantile in each variant. Raises DataError where one has no row with a value."""
    estimates = {}
    for name, places in places_of(units, names).items():
        rows = units.rows_of(metric, places)
        if not len(rows.values):
            raise DataError(f"{metric}: {name} has no row with a value")
        estimates[name] = quantile_of(rows.values, rows.units, metric.q)
    return estimates


def panel_of_quantiles(metric: Quantile, units: UnitTotals, arms: Mapping[str, QuantileEstimate]) -> Panel:
    """The variants on a quantile; a variant with too few rows for its error gets a reason instead of an inference."""
    measure = Measure(str(metric), metric.direction, metric.range, unit=units.noun)
    counts = counts_of(units, arms)
    estimates = {name: arm.estimate(counts[name]) for name, arm in arms.items()}
    known = [one.error for one in estimates.values()]
    if not all(map(math.isfinite, known)):  # too few rows tell how sure it is: by the size of the values, then
        known = [abs(one.mean) / 10 for one in estimates.values()]
    return Panel.of_estimates(in_scale(measure, known), estimates)


def few_rows(metric: Quantile, arms: Mapping[str, QuantileEstimate]) -> Caution | None:
    """A caution where a variant has too few rows beyond the quantile."""
    short = {name: arm for name, arm in arms.items() if arm.needed}
    if not short:
        return None
    name, arm = max(short.items(), key=lambda item: item[1].needed / item[1].rows)
    return FewBeyondQuantile.caution(
        metric=metric, variant=name, needed=words.rounded(arm.needed, up=True), count=arm.rows
    )


def deviation_of_quantile(metric: Quantile, units: UnitTotals) -> tuple[float, float]:
    """The quantile of all units together, and the standard deviation between units of its linearisation."""
    rows = units.rows_of(metric)
    estimate = quantile_of(rows.values, rows.units, metric.q)
    if estimate.reason:
        raise DataError(f"{metric}: {estimate.reason}")
    return estimate.value, estimate.error * math.sqrt(units.count)


def refuse_adjustment(metrics: Iterable[OnlineMetric], option: str) -> None:
    """Refuse to adjust a quantile for what only sums can be adjusted for."""
    for metric in metrics:
        if isinstance(metric, Quantile):
            raise InputError(f"{option}: {metric} is not adjusted for strata; leave out one of the two")
