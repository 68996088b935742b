"""What was known of units before an experiment, named for each metric: it takes chance away from differences (CUPED)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from rankscope import words
from rankscope.errors import InputError
from rankscope.impressions import COLUMNS, OUTCOMES, Log
from rankscope.logs.base import OnlineMetric, before, parse_online
from rankscope.logs.metrics import Attribute, Mean, Quantile, Share

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
