"""Definitions of a number: a metric with its conventions, their differences and neighbours, and the definitions of other tools."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from itertools import combinations, product
from typing import Any, Literal, get_args, get_origin

from rankscope.declared import parameters, plain
from rankscope.dialects.base import Convention, Dialect, DialectMetric, LooksAt
from rankscope.errors import InputError
from rankscope.metrics import Metric, parse
from rankscope.scoring.policies import BY_METRIC

CHOICES: dict[str, Sequence[Any]] = {p.name: tuple(p.values) for p in BY_METRIC} | {"looks_at": get_args(LooksAt)}


@dataclass(frozen=True)
class MetricDefinition:
    """One definition of a number: a metric and its conventions."""

    metric: Metric
    convention: Convention = field(default_factory=Convention)

    def differences(self, plain: MetricDefinition) -> list[tuple[str, Any]]:
        """The parameters and policies that differ from another definition, with the values here."""
        if type(self.metric) is not type(plain.metric):
            return [("metric", str(self.metric))]
        parts = (self.metric, plain.metric), (self.convention, plain.convention)
        return [
            (f.name, value)
            for ours, theirs in parts
            for f in fields(ours)
            if (value := getattr(ours, f.name)) != getattr(theirs, f.name)
        ]

    def having(self, changes: Mapping[str, Any]) -> MetricDefinition | None:
        """Return a copy with other parameters and policies, or None if they exclude each other."""
        policies = {name: value for name, value in changes.items() if name in CHOICES}
        own = {name: value for name, value in changes.items() if name not in CHOICES}
        try:
            metric = self.metric.having(**own).ready()
        except (InputError, TypeError):
            return None
        return MetricDefinition(metric, replace(self.convention, **policies))


def options_of(plain: MetricDefinition) -> dict[str, list[Any]]:
    """The other values of every convention: parameters with a choice of words, and policies."""
    out: dict[str, list[Any]] = {}
    for name, (hint, _) in parameters(type(plain.metric)).items():
        now = getattr(plain.metric, name)
        words = [word for part in (get_args(hint) or (hint,)) if get_origin(part) is Literal for word in get_args(part)]
        words += list(get_args(hint)) if get_origin(hint) is Literal else []
        words += [True, False] if hint is bool else []
        words += [2.0, 3.0] if name == "level" else []
        out[name] = [word for word in dict.fromkeys(words) if word != now]
    for name, choices in CHOICES.items():
        now = getattr(plain.convention, name)
        out[name] = [c for c in choices if c != now and c not in {"rank", "list"}]
    if plain.metric.better == "neither":
        out["ties"] = [t for t in out["ties"] if t not in {"best", "worst"}]
    if plain.metric.aggregate != "mean":
        out["mean"] = []
    return {name: values for name, values in out.items() if values}


def changes(options: Mapping[str, Sequence[Any]], count: int) -> Iterator[dict[str, Any]]:
    """All changes of this many conventions at once."""
    for names in combinations(options, count):
        for values in product(*(options[name] for name in names)):
            yield dict(zip(names, values, strict=True))


def family(metric: Metric) -> str:
    """The name of a metric in dialects."""
    return type(metric).__name__


def dialect_metric_of(dialect: Dialect, metric: Metric) -> DialectMetric | None:
    """A dialect's entry for a metric, None if it has no such metric."""
    return dialect.metric(family(metric), cut=_cut(metric))


def convention_of(dialect: Dialect, metric: Metric) -> Convention:
    """The conventions of a dialect for a metric."""
    return dialect.of(family(metric), cut=_cut(metric))


def _cut(metric: Metric) -> bool:
    return getattr(metric, "cutoff", None) is not None


def computes(dialect: Dialect, metric: Metric) -> bool:
    """True if a dialect has this metric, and not only with a defect."""
    entry = dialect_metric_of(dialect, metric)
    return entry is not None and bool(entry.metric)


def translate(dialect: Dialect, metric: Metric, spelling: str = "") -> Metric:
    """A dialect's metric for a metric, with its own parameters, and our cutoff and level. A ``spelling`` of trec_eval keeps parameters as they are."""
    entry = dialect_metric_of(dialect, metric)
    if entry is None:
        raise InputError(f"dialect {dialect.name!r} has no {family(metric)}: it has {', '.join(dialect.metrics)}")
    if not entry.metric:
        raise InputError(
            f"dialect {dialect.name!r}: its {family(metric)} has a defect ({entry.defect}) and is never computed; "
            "rankscope reconcile shows it"
        )
    k = getattr(metric, type(metric).at, None)
    try:
        if entry.metric == family(metric) and not entry.squared:
            return metric.ready()  # equal to ours
        theirs = parse(entry.metric if k is None else f"{entry.metric}@{plain(k)}")
    except InputError as error:
        if k is None and "cutoff" in str(error):
            name = family(metric)
            raise InputError(f"dialect {dialect.name!r}: its {name} needs a cutoff, write {name}@10") from None
        raise
    ours = {f.name: value for f in fields(metric) if (value := getattr(metric, f.name)) != f.default}
    if entry.squared in ours and "(" in (spelling or str(metric)):
        ours[entry.squared] = math.sqrt(ours[entry.squared])
    free = {f.name for f in fields(theirs) if f.default is not MISSING and getattr(theirs, f.name) == f.default}
    return theirs.having(**{name: value for name, value in ours.items() if name in free}).ready()
