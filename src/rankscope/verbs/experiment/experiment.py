"""Analyse an experiment: roll a log up to the units that were given variants, and compare these."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rankscope import words
from rankscope.errors import InputError
from rankscope.impressions import COLUMNS, Log
from rankscope.logs.base import OnlineMetric, parse_online_metrics
from rankscope.logs.cuts import attribute_of
from rankscope.logs.metrics import deciding_metrics
from rankscope.panels.families import Family, pairs_of
from rankscope.panels.method import Method, method_of
from rankscope.panels.panel import Panel
from rankscope.panels.variants import Variants, variants_of
from rankscope.scoring.logs import read_experiment
from rankscope.verbs.experiment.result import Experiment, Role, Slice


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
    given = read_experiment(log, variant=variant, columns=columns)
    roles = _roles(given, metrics, primary, guardrails)
    attributes = [attribute_of(given, name) for name in _names(slices)]
    variants = variants_of(
        given, list(roles), baseline=baseline, split=split, covariates=covariates, strata=strata, winsorise=winsorise,
    )
    families = _compare(variants, roles, method)
    cautions = [*variants.arms.cautions, *variants.doubts(roles)]
    parts = [part for name in attributes for part in _slices(variants, name, next(iter(roles)), method)]
    return Experiment(variants, roles, families, tuple(parts), tuple(cautions), method)
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


# --- the comparison -----------------------------------------------------------------------------------------------


def _compare(variants: Variants, roles: Mapping[OnlineMetric, Role], method: Method) -> list[Family]:
    """The primary metric by itself; all others together; each guardrail that has a margin with it."""
    names, baseline = variants.names, variants.names[0]
    panels = {metric: variants.panel(metric) for metric in roles}
    margins = {
        panels[m].name: _margin(panels[m], role, baseline) for m, role in roles.items() if role.margin is not None
    }
    method = replace(method, margin=margins or None)
    pairs = pairs_of(names, baseline, all_pairs=False)
    first, *others = panels.values()
    return [Family([first], pairs, method, baseline), *([Family(others, pairs, method, baseline)] if others else [])]


def _margin(panel: Panel, role: Role, baseline: str) -> float:
    assert role.margin is not None
    return role.margin * abs(panel.estimate(baseline).mean) if role.relative else role.margin


def _slices(variants: Variants, attribute: str, primary: OnlineMetric, method: Method) -> list[Slice]:
    """The variants on the primary metric within each value of an attribute, corrected over the values."""
    found = variants.slices(attribute, primary)
    if not found:
        return []
    pairs = pairs_of(variants.names, variants.names[0], all_pairs=False)
    family = Family([panel for _, panel in found], pairs, replace(method, margin=None), variants.names[0])
    return [Slice(attribute, value, str(primary), family.of(panel.name)) for value, panel in found]
