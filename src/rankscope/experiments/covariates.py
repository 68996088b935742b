"""What was known of units before an experiment, named for each metric: it takes chance away from differences (CUPED)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from rankscope import words
from rankscope.errors import InputError
from rankscope.impressions import OUTCOMES, Log
from rankscope.logs.base import OnlineMetric, parse_online
from rankscope.logs.metrics import Attribute, Quantile

NOT_OUTCOMES = (
    "unit_id",
    "impression_id",
    "session_id",
    "query_id",
    "timestamp",
    "item_id",
    "position",
    "shown",
    "examined",
    "variant",
)
Covariates = dict[OnlineMetric, tuple[OnlineMetric, ...]]


def covariates_of(said: Any, metrics: Collection[OnlineMetric]) -> Covariates:
    """By metric, the covariates it is adjusted for: ``{"Mean(revenue)": "before"}``, or ``"Mean(revenue)=before"``, or several such.

    A covariate is a column of numbers, of which each unit has one (its first value), or an online metric. Raises InputError for what names none, and for a metric that is not computed.
    """
    out: Covariates = {}
    for text, value in covariate_pairs(said):
        metric = parse_online(text)
        if metric not in metrics:
            raise InputError(f"covariate of {metric}: it is not computed; there are {words.listing(metrics)}")
        if isinstance(metric, Quantile):
            raise InputError(
                f"covariate of {metric}: a quantile is not adjusted for covariates; leave it out, or ask for a Mean"
            )
        each = [value] if isinstance(value, str | OnlineMetric) else list(value)
        out[metric] = (*out.get(metric, ()), *map(_covariate, each))
    return out


def refuse_outcomes(log: Log, covariates: Covariates) -> None:
    """Raise InputError for a covariate that the variant may have changed: an outcome of the log, or a column of its own metric."""
    for metric, others in covariates.items():
        own = _columns(log, metric)
        for other in others:
            if outcomes := _columns(log, other) & (own | {*OUTCOMES}):
                column = min(log.roles.get(name, name) for name in outcomes)
                raise InputError(
                    f"covariate {other} of {metric}: {column} is an outcome of the experiment, so that adjusting for it hides what the variant did: "
                    "name a column that was measured before"
                )


def _columns(log: Log, metric: OnlineMetric) -> set[str]:
    """Return the columns that a metric sums."""
    return {*metric.needs, *(log.column(getattr(metric, name)) for name in metric.of_columns)} - set(NOT_OUTCOMES)


def covariate_pairs(said: Any) -> list[tuple[Any, Any]]:
    """Return pairs of a metric and its covariate as given. Raises InputError for a text without both."""
    if isinstance(said, Mapping):
        return list(said.items())
    return [_pair(text) for text in ([said] if isinstance(said, str) else said or ())]


def _pair(text: str) -> tuple[str, str]:
    metric, equals, column = text.rpartition("=")
    if not equals or not metric.strip() or not column.strip():
        raise InputError(f"covariate {text}: write METRIC=COLUMN, like 'Mean(revenue)=revenue_before'")
    return metric.strip(), column.strip()


def _covariate(said: Any) -> OnlineMetric:
    if isinstance(said, str) and "(" not in said and said not in OnlineMetric.catalogue:
        return Attribute(column=said)  # rows of a log repeat it, and more rows come of the treatment
    found = parse_online(said)
    if isinstance(found, Quantile):
        raise InputError(f"covariate {found}: a quantile is no number of each unit; name a column, a Mean or a Ratio")
    return found
