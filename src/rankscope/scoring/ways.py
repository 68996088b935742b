"""Ways to compute a number: a metric with its conventions, in what two differ, all that lie near one, and those of other tools."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from itertools import combinations, product
from typing import Any, Literal, get_args, get_origin

from rankscope.declared import parameters, plain
from rankscope.dialects.base import Convention, Dialect, LooksAt, Says
from rankscope.errors import InputError
from rankscope.metrics import Metric, parse
from rankscope.scoring.policies import BY_METRIC

CHOICES: dict[str, Sequence[Any]] = {p.name: tuple(p.values) for p in BY_METRIC} | {"looks_at": get_args(LooksAt)}


@dataclass(frozen=True)
class Way:
    """One way to compute a number: a metric and its conventions."""

    metric: Metric
    convention: Convention = field(default_factory=Convention)

    def departs(self, plain: Way) -> list[tuple[str, Any]]:
        """In what it differs from another way: names of parameters and policies with the values here."""
        if type(self.metric) is not type(plain.metric):
            return [("metric", str(self.metric))]
        parts = (self.metric, plain.metric), (self.convention, plain.convention)
        return [
            (f.name, value)
            for ours, theirs in parts
            for f in fields(ours)
            if (value := getattr(ours, f.name)) != getattr(theirs, f.name)
        ]

    def having(self, changes: Mapping[str, Any]) -> Way | None:
        """The same with other parameters and policies, or None where they do not go together."""
        policies = {name: value for name, value in changes.items() if name in CHOICES}
        own = {name: value for name, value in changes.items() if name not in CHOICES}
        try:
            metric = self.metric.having(**own).ready()
        except (InputError, TypeError):
            return None
        return Way(metric, replace(self.convention, **policies))


def options_of(plain: Way) -> dict[str, list[Any]]:
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
    """Every way to change this many conventions at once."""
    for names in combinations(options, count):
        for values in product(*(options[name] for name in names)):
            yield dict(zip(names, values, strict=True))


def family(metric: Metric) -> str:
    """The name under which a dialect speaks of a metric."""
    return type(metric).__name__


def said_of(dialect: Dialect, metric: Metric) -> Says | None:
    """What a dialect says of a metric; None where it has no such metric."""
    return dialect.says(family(metric), cut=_cut(metric))


def convention_of(dialect: Dialect, metric: Metric) -> Convention:
    """The conventions of a dialect for a metric."""
    return dialect.of(family(metric), cut=_cut(metric))


def _cut(metric: Metric) -> bool:
    return getattr(metric, "cutoff", None) is not None


def computes(dialect: Dialect, metric: Metric) -> bool:
    """Whether a dialect has a number for this metric that follows from conventions."""
    says = said_of(dialect, metric)
    return says is not None and bool(says.metric)


def translate(dialect: Dialect, metric: Metric, spelling: str = "") -> Metric:
    """What a dialect computes under the name of a metric: its own parameters, and the cutoff and level asked for.

    A parameter that it takes squared is read so, unless the ``spelling`` was trec_eval's, which has no parentheses.
    """
    says = said_of(dialect, metric)
    if says is None:
        raise InputError(f"dialect {dialect.name!r} has no {family(metric)}: it has {', '.join(dialect.metrics)}")
    if not says.metric:
        raise InputError(
            f"dialect {dialect.name!r}: its {family(metric)} is a defect that is never computed as ours ({says.defect}); "
            "rankscope reconcile shows it"
        )
    k = getattr(metric, type(metric).at, None)
    try:
        if says.metric == family(metric) and not says.squared:
            return metric.ready()  # as here
        theirs = parse(says.metric if k is None else f"{says.metric}@{plain(k)}")
    except InputError as error:
        if k is None and "cutoff" in str(error):
            said = f"{family(metric)}@10"
            raise InputError(f"dialect {dialect.name!r}: its {family(metric)} needs a cutoff, write {said}") from None
        raise
    ours = {f.name: value for f in fields(metric) if (value := getattr(metric, f.name)) != f.default}
    if says.squared in ours and "(" in (spelling or str(metric)):
        ours[says.squared] = math.sqrt(ours[says.squared])
    free = {f.name for f in fields(theirs) if f.default is not MISSING and getattr(theirs, f.name) == f.default}
    return theirs.having(**{name: value for name, value in ours.items() if name in free}).ready()
