"""Analyse an experiment: roll a log up to the units that were given variants, and compare these."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Caution
from rankscope.errors import DataError, InputError
from rankscope.files.logs import read_log
from rankscope.files.roles import said_columns
from rankscope.impressions import COLUMNS, Log
from rankscope.lists import Array
from rankscope.logs.base import OnlineMetric, parse_online_metrics
from rankscope.logs.covariates import covariates_of
from rankscope.logs.cuts import column_of
from rankscope.logs.health import REMEDIES
from rankscope.logs.metrics import deciding_metrics
from rankscope.logs.rollup import Units, roll_up
from rankscope.moments import Moments
from rankscope.panels.experiments import panel_of_variants, sample_ratio, skew_caution, skewness
from rankscope.panels.families import Family, pairs_of
from rankscope.panels.method import Method, method_of
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure
from rankscope.verbs.experiment.result import Experiment, Role, Slice

CONTROLS = ("control", "baseline", "a", "0", "off", "false", "old")  # what a baseline is called, the likeliest first
FEWEST_UNITS = 2


# fmt: off
def experiment(  # noqa: PLR0913 - the options of the command line, each with its default
    log: Any, metrics: Any = None, *,
    variant: str | None = None, baseline: str | None = None, primary: Any = None, guardrails: Any = None,
    covariates: Any = None, split: Any = None, strata: str | None = None, winsorise: float | None = None,
    slices: Any = None, test: Any = None, interval: Any = None, correction: Any = "holm", alpha: float = 0.05,
    columns: Mapping[str, str] | str | None = None,
) -> Experiment:
    """Say which variant of an experiment is better for users, by how much, and whether that can be believed.

    ``log`` is a log of impressions (a row a shown item, see ``read_log``) or a table with a row a user; whatever its rows are, they are
    rolled up to the units that were given variants, and these are compared: rows of one user are not independent.

    - ``metrics``: online metrics, like ``"CTR"``, ``"Mean(revenue)"`` or ``"Ratio(orders, sessions)"``; the ``primary`` one decides (the
      first unless named). ``guardrails`` must not get worse: a metric, or a metric with the loss that would be accepted, as in
      ``{"Mean(revenue)": "1%"}``.
    - ``variant``: the column of variants, where it has an unusual name; ``baseline``: the variant that others are compared with.
    - ``covariates``: by metric, what was known of units before: a column of numbers (or a metric, or several). It takes chance away (CUPED).
    - ``strata``: a column of units' attributes (country, platform) that is adjusted for in the same way.
    - ``split``: the planned shares of the variants, ``{"A": 0.9, "B": 0.1}``; even unless given.
    - ``winsorise``: cut what units add at this quantile, like 0.99.
    - ``slices``: columns of attributes; variants are compared within each value, too.
    - ``test``, ``interval``, ``correction``, ``alpha`` are as for ``compare``; the metrics beside the primary one are corrected together.
    - ``columns``: roles of columns with unusual names, ``{"visitor": "unit_id"}``.

    Raises InputError for what cannot be used, DataError where there is nothing to compare. Where units were not split as planned
    (p < 0.001) the verdict is withheld, and ``exit_code`` is 3.

    >>> import polars as pl
    >>> users = pl.DataFrame({
    ...     "user": range(2000), "variant": ["A", "B"] * 1000,
    ...     "orders": [int(i % 10 == 0 or i % 10 == 1 and i % 3 == 0 or i % 10 == 5) for i in range(2000)],
    ... })
    >>> found = experiment(users, "Mean(orders)")
    >>> found["B", "Mean(orders)"].verdict, round(found["B", "Mean(orders)"].difference, 3)
    ('better', 0.066)
    """
    method = method_of(test=test, interval=interval, correction=correction, family="all", alpha=alpha)
    said = dict(said_columns(columns, "visitor=unit_id")) if columns else {}
    given = read_log(log, columns={**said, **({variant: "variant"} if variant else {})} or None)
    given.require(("variant",), "an experiment")
    roles = _roles(given, metrics, primary, guardrails)
    adjust = covariates_of(covariates, roles)
    attributes = [_attribute(given, name) for name in _names(slices)]
    stratum = None if strata is None else _attribute(given, strata)
    asked = list(dict.fromkeys([*roles, *(other for others in adjust.values() for other in others)]))
    units = roll_up(given, asked, ["variant"], attributes=[stratum] if stratum else [], ids=True)
    units, mixed, cautions = _sound(units)
    names = _variants(units, baseline)
    ratio = sample_ratio({name: int((units.groups["variant"] == name).sum()) for name in names}, _split(split, names))
    plan = _Plan(method, names, adjust, stratum, winsorise, units.noun)
    found = plan.compare(units, roles)
    cautions += plan.doubts(units, roles)
    parts = [part for name in attributes for part in _slices(given, name, plan, asked, mixed)]
    return Experiment(given, units, roles, found, ratio, tuple(parts), tuple(cautions), plan.statement(), method, names[0])
# fmt: on


# --- what is asked ------------------------------------------------------------------------------------------------


def _names(value: Any) -> list[str]:
    """One name or several."""
    return [] if value is None else [value] if isinstance(value, str) else [str(name) for name in value]


def _roles(log: Log, metrics: Any, primary: Any, guardrails: Any) -> dict[OnlineMetric, Role]:
    """Every metric with its part in the verdict, the primary one first."""
    first = [] if primary is None else parse_online_metrics(primary)
    if len(first) > 1:
        raise InputError(f"primary={primary!r}: one metric decides; name the others with -m")
    guards = dict(
        _guardrail(text) for text in (guardrails.items() if isinstance(guardrails, Mapping) else _names(guardrails))
    )
    others = parse_online_metrics(metrics) if metrics is not None else [] if first else _deciding(log)
    both = [metric for metric in guards if metric in [*first, *others[: not first]]]
    if both:
        raise InputError(f"{both[0]} decides, and is a guardrail: name it as one of the two")
    out: dict[OnlineMetric, Role] = {metric: Role() for metric in [*first, *others] if metric not in guards}
    if not out:
        raise InputError("guardrails alone decide nothing: name the metric that does with --primary")
    lead = next(iter(out))
    return {**out, lead: Role("primary"), **guards}


def _deciding(log: Log) -> list[OnlineMetric]:
    """The metrics that the columns allow, where none is named."""
    found = deciding_metrics(log)
    if not found:
        columns = [name for role, name in log.roles.items() if COLUMNS[role].kind not in {"id", "time"}] + list(
            log.attributes
        )
        like = columns[0] if columns else "column"
        there = words.listing(columns) or "of ids alone"
        raise InputError(
            f"{log.label}: no metric was named: write one like -m 'Mean({like})'; there are the columns {there}"
        )
    return found


def _guardrail(said: Any) -> tuple[OnlineMetric, Role]:
    """A guardrail and the loss that would be accepted: ``METRIC``, ``METRIC=0.01`` or ``METRIC=1%`` of the baseline."""
    name, loss = said if isinstance(said, tuple) else (said, None)
    if isinstance(name, str) and loss is None and (found := re.fullmatch(r"(.*\S)\s*=\s*([\d.]+\s*%?)", name)):
        name, loss = found[1], found[2]
    (metric,) = parse_online_metrics(name)
    if metric.better == "neither":
        raise InputError(f"{metric} is neither better nor worse when it is higher: it cannot be a guardrail")
    if loss is None:
        return metric, Role("guardrail")
    text = str(loss).strip()
    number = words.as_number(text.removesuffix("%").strip())
    if number is None or not number > 0:
        raise InputError(
            f"guardrail {metric}={text}: the loss that would be accepted is a number above 0, like 0.01 or 1%"
        )
    return metric, Role("guardrail", number / 100 if text.endswith("%") else number, text.endswith("%"))


def _attribute(log: Log, name: str) -> str:
    """A column of attributes to group by, under its name here."""
    column = column_of(log, name, "to group by")
    if column == "variant":
        raise InputError(
            f"{log.label}: {name} is the column of variants, which are compared already; name another to group by"
        )
    return column


def _split(said: Any, names: Sequence[str]) -> dict[str, float] | None:
    """The planned shares by variant: a mapping, ``A=0.9,B=0.1`` or several such."""
    if said is None:
        return None
    pairs = (
        said.items()
        if isinstance(said, Mapping)
        else [part.rpartition("=")[::2] for text in _names(said) for part in text.split(",")]
    )
    out: dict[str, float] = {}
    for name, part in pairs:
        number = words.as_number(str(part).strip())
        if number is None or not number > 0:
            raise InputError(f"split {name}={part}: a share is a number above 0, like A=0.9,B=0.1")
        out[str(name).strip()] = number
    unknown = [name for name in out if name not in names]
    if unknown:
        raise InputError(f"split {unknown[0]}: no variant is called that; there are {words.listing(names)}")
    return out


# --- what was read ------------------------------------------------------------------------------------------------


def _sound(units: Units) -> tuple[Units, Any, list[Caution]]:
    """The units that have one variant, the ids of those that have several, and what to say of what is left out."""
    variant = units.groups["variant"]
    cautions: list[Caution] = []
    mixed = None
    kept = variant.is_not_null()
    if not kept.all():
        count = int((~kept).sum())
        text = f"{words.counted(count, units.noun)} of {words.count(units.count)} have no variant, and are left out"
        cautions.append(Caution("RS642", text, REMEDIES["RS642"]))
    # all ids are looked at only where two of their hashes meet
    if units.ids is not None and units.unit == "unit_id" and units.ids.hash().n_unique() < units.count:
        both = units.ids.is_duplicated() & kept
        if both.any():
            mixed = units.ids.filter(both).unique()
            count, whole = units.ids.filter(both).n_unique(), units.ids.n_unique()
            text = f"{words.counted(count, units.noun)} of {words.count(whole)} ({words.share(count / whole, 1)}) were in several variants, and are left out"
            cautions.append(Caution("RS605", text, REMEDIES["RS605"]))
            kept &= ~both
    if units.remark:
        cautions.append(Caution("RS643", units.remark, REMEDIES["RS643"]))
    return (units if kept.all() else units.filter(kept)), mixed, cautions


def _variants(units: Units, baseline: str | None) -> list[str]:
    """The variants, the baseline first. Raises DataError where there are not two."""
    names = sorted(units.groups["variant"].unique().to_list())
    if len(names) < 2:
        only = f"one variant, {names[0]}" if names else "no variant"
        raise DataError(f"there is {only}: an experiment compares two or more")
    if baseline is not None and str(baseline) not in names:
        raise InputError(
            f"baseline {baseline!r}: no variant is called that{words.hint(str(baseline), names)}; there are {words.listing(names)}"
        )
    usual = next((name for control in CONTROLS for name in names if name.casefold() == control), names[0])
    first = str(baseline) if baseline is not None else usual
    few = [name for name in names if int((units.groups["variant"] == name).sum()) < FEWEST_UNITS]
    if few:
        raise DataError(f"variant {few[0]} has one {units.noun}: two or more are needed to know how much chance does")
    return [first, *(name for name in names if name != first)]


# --- the comparison -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Plan:
    """How variants are compared, whichever units are looked at."""

    method: Method
    names: Sequence[str]
    covariates: Mapping[OnlineMetric, tuple[OnlineMetric, ...]]
    stratum: str | None
    winsorise: float | None
    noun: str

    def statement(self) -> dict[str, Any]:
        """What was adjusted for, for people and programs."""
        return {
            "covariates": {str(metric): [str(other) for other in others] for metric, others in self.covariates.items()},
            "strata": self.stratum, "winsorise": self.winsorise,
        }  # fmt: skip

    def compare(self, units: Units, roles: Mapping[OnlineMetric, Role]) -> list[Family]:
        """The primary metric by itself; all others together; each guardrail that has a margin with it."""
        panels = {metric: self.panel(units, metric) for metric in roles}
        margins = {
            panels[m].name: self._margin(panels[m], role) for m, role in roles.items() if role.margin is not None
        }
        method = replace(self.method, margin=margins or None)
        pairs = pairs_of(self.names, self.names[0], all_pairs=False)
        first, *others = panels.values()
        return [
            Family([first], pairs, method, self.names[0]),
            *([Family(others, pairs, method, self.names[0])] if others else []),
        ]

    def _margin(self, panel: Panel, role: Role) -> float:
        assert role.margin is not None
        return role.margin * abs(panel.estimate(self.names[0]).mean) if role.relative else role.margin

    def panel(self, units: Units, metric: OnlineMetric) -> Panel:
        """The variants on a metric, adjusted for its covariates and strata."""
        columns = [
            self._cut(units.columns(metric)),
            *(units.columns(other) for other in self.covariates.get(metric, ())),
        ]
        columns += self._strata(units)
        table = np.vstack([column.T for column in columns])
        arms = {name: Moments.of_set(table.take(inside, axis=1).T) for name, inside in self._arms(units).items()}
        empty = [name for name, arm in arms.items() if not arm.mean[1]]
        if empty:
            raise DataError(f"{metric}: {empty[0]} has no {metric.below or 'value'}")
        measure = Measure(str(metric), metric.better, metric.range, unit=self.noun)
        return panel_of_variants(measure, arms, len(columns) - 1)

    def _arms(self, units: Units) -> dict[str, Array]:
        """The places of each variant's units."""
        variant = units.groups["variant"]
        return {name: np.flatnonzero((variant == name).to_numpy()) for name in self.names}

    def _cut(self, columns: Array) -> Array:
        """What each unit adds, cut at a quantile of all that add something below the line."""
        if self.winsorise is None:
            return columns
        if not 0.5 < self.winsorise < 1:
            raise InputError(f"winsorise={self.winsorise}: cut at a quantile above 0.5 and below 1, like 0.99")
        most = float(np.quantile(columns[:, 0], self.winsorise))
        return np.stack([np.minimum(columns[:, 0], most), columns[:, 1]]).T

    def _strata(self, units: Units) -> list[Array]:
        """Every stratum but the first as a covariate: 1 for its units."""
        if self.stratum is None:
            return []
        values = units.groups[self.stratum].fill_null("")
        return [
            np.column_stack([(values == name).to_numpy().astype(float), np.ones(units.count)])
            for name in sorted(values.unique().to_list())[1:]
        ]

    def doubts(self, units: Units, roles: Mapping[OnlineMetric, Role]) -> list[Caution]:
        """Where units are too few for how skewed they are."""
        found = []
        for metric in roles:
            columns = self._cut(units.columns(metric))
            whole = columns[:, 1].sum()
            left = columns[:, 0] - columns[:, 0].sum() / whole * columns[:, 1] if whole else columns[:, 0]
            arms = {name: left[inside] for name, inside in self._arms(units).items()}
            measure = Measure(str(metric), metric.better, unit=self.noun)
            found.append(skew_caution(measure, {name: (len(arm), skewness(arm)) for name, arm in arms.items()}))
        return [caution for caution in found if caution is not None]


def _slices(log: Log, name: str, plan: _Plan, asked: Sequence[OnlineMetric], mixed: Any) -> list[Slice]:
    """The variants on the primary metric within each value of an attribute, corrected over the values."""
    primary = asked[0]
    units = roll_up(log, asked, ["variant", name], attributes=[plan.stratum] if plan.stratum else [], ids=True)
    kept_units = units.groups["variant"].is_not_null()
    if mixed is not None and units.ids is not None:
        kept_units &= ~units.ids.is_in(mixed.implode())
    units = units.filter(kept_units)
    panels, kept = [], []
    for value in sorted(units.groups[name].drop_nulls().unique().to_list(), key=str):
        part = units.filter((units.groups[name] == value).fill_null(value=False))
        counts = [int((part.groups["variant"] == variant).sum()) for variant in plan.names]
        if min(counts) < FEWEST_UNITS:
            continue
        try:
            panel = plan.panel(part, primary)
        except DataError:
            continue
        panels.append(replace(panel, measure=replace(panel.measure, name=f"{name}={value}")))
        kept.append(str(value))
    if not panels:
        return []
    family = Family(
        panels, pairs_of(plan.names, plan.names[0], all_pairs=False), replace(plan.method, margin=None), plan.names[0]
    )
    return [Slice(name, value, str(primary), family.of(panel.name)) for value, panel in zip(kept, panels, strict=True)]
