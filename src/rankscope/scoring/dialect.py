"""A metric in the dialect of another tool: what that tool computes under its name."""

from __future__ import annotations

from dataclasses import MISSING, fields

from rankscope import words
from rankscope.declared import plain
from rankscope.dialects import DIALECTS, Dialect
from rankscope.errors import InputError
from rankscope.metrics import Metric, parse


def dialect_called(name: str) -> Dialect:
    """The dialect of this name, or an error that offers the nearest."""
    if not isinstance(name, str):
        raise InputError(f"dialect={name!r}: a dialect is the name of one tool, like 'lightgbm'")
    found = DIALECTS.get(name.casefold())
    if found is None:
        hint = words.hint(name, DIALECTS, most=len(DIALECTS))
        raise InputError(f"dialect {name!r}: no dialect is called that{hint}")
    return found


def family(metric: Metric) -> str:
    """The name under which a dialect speaks of a metric."""
    return type(metric).__name__


def computes(dialect: Dialect, metric: Metric) -> bool:
    """Whether a dialect has a number for this metric that follows from conventions."""
    says = dialect.metrics.get(family(metric))
    return says is not None and bool(says.metric)


def translated(dialect: Dialect, metric: Metric) -> Metric:
    """What a dialect computes under the name of a metric: its own parameters, and the cutoff and level asked for."""
    says = dialect.metrics.get(family(metric))
    if says is None:
        raise InputError(f"dialect {dialect.name!r} has no {family(metric)}: it has {', '.join(dialect.metrics)}")
    if not says.metric:
        raise InputError(
            f"dialect {dialect.name!r}: its {family(metric)} is a defect that is never computed as ours ({says.defect}); "
            "rankscope reconcile shows it"
        )
    k = getattr(metric, type(metric).at, None)
    try:
        theirs = parse(says.metric if k is None else f"{says.metric}@{plain(k)}")
    except InputError as error:
        if k is None and "cutoff" in str(error):
            said = f"{family(metric)}@10"
            raise InputError(f"dialect {dialect.name!r}: its {family(metric)} needs a cutoff, write {said}") from None
        raise
    default = {f.name: f.default for f in fields(theirs)}
    ours = {f.name: getattr(metric, f.name) for f in fields(metric) if getattr(metric, f.name) != f.default}
    carried = {
        name: value
        for name, value in ours.items()
        if name in default and getattr(theirs, name) == default[name] and default[name] is not MISSING
    }
    return theirs.having(**carried).ready()
