"""The metrics that a class can make: its worked examples and each value of each parameter, read from its declaration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from rankscope.declared import Lookup, Param, parameters, required
from rankscope.errors import InputError
from rankscope.metrics import Metric, parse

# numbers to try, of which those within a parameter's bounds are taken
WHOLE = (1, 3)
NUMBERS = (0.0, 0.5, 1.0, 2.0, 3.0)
TABLES = ({1: 3, 2: 9}, {1: 2, 2: 1, 3: 1}, {1: 1, 2: 0.5, 3: 0.5})


def variants(cls: type[Metric]) -> list[Metric]:
    """The metrics to check for one class, each once: what its examples name, then other values of each parameter.

    >>> from rankscope.metrics import Success
    >>> variants(Success)[:3]
    [Success@3, Success@2, Success@1]
    """
    return list(dict.fromkeys(_variants(cls)))


def _variants(cls: type[Metric]) -> Iterator[Metric]:
    bases = [metric for example in cls.examples if type(metric := parse(example.metric)) is cls]
    bases += _make(cls, {})
    yield from bases
    choices = {name: list(_values(hint, param)) for name, (hint, param) in parameters(cls).items()}
    for name, values in choices.items():
        for value in values:
            found = [changed for base in bases for changed in _make(base, {name: value})]
            # a value that is refused alone may go together with another: ideal='max_grade_k' needs max_grade and a cutoff
            yield from found or _with_others(bases[-1], {name: value}, choices)
            if "cutoff" in choices and name != "cutoff":
                yield from _make(bases[-1], {name: value, "cutoff": 3})


def _with_others(base: Metric, said: dict[str, Any], choices: dict[str, list[Any]]) -> Iterator[Metric]:
    others = [name for name in choices if name not in said]
    for one in others:
        for value in choices[one]:
            made = _make(base, {**said, one: value}) or _make(base, {**said, one: value, "cutoff": 3})
            yield from made


def _make(of: Any, changes: dict[str, Any]) -> list[Metric]:
    """The class or metric with these changes, in a list; an empty one where they do not go together."""
    try:
        if isinstance(of, Metric):
            return [of.having(**changes).ready()]
        hints = parameters(of)
        needed = {name: next(v for v in _values(*hints[name]) if v is not None) for name in required(of)}
        return [of(**{**needed, **changes}).ready()]
    except (InputError, TypeError):
        return []


def _values(hint: Any, param: Param) -> Iterable[Any]:
    if get_origin(hint) in {UnionType, Union}:
        return [value for kind in get_args(hint) for value in _values(kind, param)]
    if get_origin(hint) is Literal:
        return get_args(hint)
    if get_origin(hint) is tuple:
        return [tuple(v for v in NUMBERS if _is_within(v, param)), *((v,) for v in NUMBERS[:2] if _is_within(v, param))]
    if hint is bool:
        return (False, True)
    if hint is NoneType:
        return (None,)
    if hint is Lookup:
        return TABLES
    return (
        [value for value in (WHOLE if hint is int else NUMBERS) if _is_within(value, param)]
        if hint in {int, float}
        else ()
    )


def _is_within(value: float, param: Param) -> bool:
    return param.low <= value <= param.high and value > param.above


def every_pair(cls: type[Metric]) -> list[Metric]:
    """The metrics in which up to two parameters at once differ from a worked example."""
    choices = {name: list(_values(hint, param)) for name, (hint, param) in parameters(cls).items()}
    bases = variants(cls)
    out = list(bases)
    for base in bases:
        for name, values in choices.items():
            out += [changed for value in values for changed in _make(base, {name: value})]
    return list(dict.fromkeys(out))
