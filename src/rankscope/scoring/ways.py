"""Ways to compute a number: a metric with its conventions, in what two differ, and all that lie near one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import combinations
from typing import Any, Literal, get_args, get_origin

from rankscope.declared import parameters
from rankscope.dialects import Convention
from rankscope.dialects.base import LooksAt
from rankscope.errors import InputError
from rankscope.metrics import Metric
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
        ours = [(f.name, getattr(self.metric, f.name)) for f in fields(self.metric)]
        policies = [(f.name, getattr(self.convention, f.name)) for f in fields(Convention)]
        return [
            *((name, value) for name, value in ours if value != getattr(plain.metric, name)),
            *((name, value) for name, value in policies if value != getattr(plain.convention, name)),
        ]

    def having(self, changes: Mapping[str, Any]) -> Way | None:
        """The same with other parameters and policies, or None where they do not go together."""
        policies = {name: value for name, value in changes.items() if name in CHOICES}
        own = {name: value for name, value in changes.items() if name not in CHOICES}
        try:
            metric = self.metric.having(**own).ready()
        except (InputError, TypeError):
            return None
        return Way(
            metric, Convention(**{f.name: getattr(self.convention, f.name) for f in fields(Convention)} | policies)
        )


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
        yield from _choices({}, names, options)


def _choices(
    said: dict[str, Any], names: Sequence[str], options: Mapping[str, Sequence[Any]]
) -> Iterator[dict[str, Any]]:
    if not names:
        yield said
        return
    for value in options[names[0]]:
        yield from _choices({**said, names[0]: value}, names[1:], options)
