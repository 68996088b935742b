"""Parameters: what each means, its bounds, and its value in its own type."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from rankscope import words
from rankscope.errors import InputError

MOST = 2**31 - 1  # the largest whole number that a parameter can be
HUGE = 1e100  # and the largest other number: what is computed from it must not overflow


@dataclass(frozen=True)
class Param:
    """What a parameter means, its bounds, and the other names people know it by.

    A parameter that is ``needed`` may be left out at first, as in ``P(level=2) @ 5``, but not when it is used.
    Where it is a table, a sequence is taken only if it is ``numbered``: the values of rank 1, 2 and so on.
    ``also`` maps another name to the values that are spelled differently there, if any.
    """

    about: str
    low: float = -math.inf
    high: float = math.inf
    above: float = -math.inf
    also: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict)
    needed: bool = False
    numbered: bool = False

    @property
    def bounds(self) -> str:
        """The bounds in words."""
        low = f"above {self.above:g}" if self.above > -math.inf else f"at least {self.low:g}"
        if self.high < math.inf:
            return (
                f"from {self.low:g} to {self.high:g}" if self.above == -math.inf else f"{low} and at most {self.high:g}"
            )
        return low


class Table(tuple[tuple[float, float], ...]):
    """A small function written out: ``{1: 3, 2: 9}``. Sorted and hashable; a sequence is numbered from 1."""

    __slots__ = ()

    @classmethod
    def of(cls, value: Any) -> Table:
        """Read a mapping or a sequence of numbers."""
        if isinstance(value, Table):
            return value
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value, start=1)
        return cls(sorted((_number(k), _number(v)) for k, v in pairs))

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{plain(k)}: {plain(v)}" for k, v in self) + "}"


def _number(value: Any) -> float:
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError("not a number")
    number = _float(value)
    if not math.isfinite(number):
        raise TypeError("not a finite number")
    return number


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def brief(value: Any, quoted: bool = False) -> str:
    """A value or text for an error message, shortened."""
    try:
        text = value if isinstance(value, str) and not quoted else repr(value)
    except (ValueError, RecursionError):  # a whole number of thousands of digits has no repr
        text = f"a very long {type(value).__name__}"
    return words.short(text, 200)


def plain(value: Any) -> str:
    """A value as it is written in a spelling: 2 rather than 2.0."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, tuple) and not isinstance(value, Table):
        return "(" + ", ".join(map(plain, value)) + ("," if len(value) == 1 else "") + ")"
    return repr(value)


def check_value(said_as: str, name: str, value: Any, hint: Any, param: Param) -> Any:
    """The value in the parameter's type and within its bounds, or one clear line."""
    kinds = get_args(hint) if isinstance(hint, UnionType) or get_origin(hint) is Union else (hint,)
    for kind in kinds:
        try:
            value = _as(kind, value, param.numbered)
            break
        except (TypeError, ValueError):
            continue
    else:
        raise InputError(f"{said_as}: {name} is {' or '.join(_in_words(kind) for kind in kinds)}")
    for number in value if isinstance(value, tuple) and not isinstance(value, Table) else (value,):
        if isinstance(number, bool) or not isinstance(number, int | float):
            continue
        if not (param.low <= number <= param.high and number > param.above):
            raise InputError(f"{said_as}: {name} is {param.bounds}")
        if number > (MOST if isinstance(number, int) else HUGE):
            most = words.count(MOST) if isinstance(number, int) else f"{HUGE:g}"
            raise InputError(f"{said_as}: {name} is at most {most}")
    return value


def _as(kind: Any, value: Any, numbered: bool) -> Any:
    """The value in the parameter's type, or TypeError."""
    if get_origin(kind) is Literal:
        if isinstance(value, str | int) and value in get_args(kind):
            return value
    elif kind is NoneType:
        if value is None:
            return None
    elif kind is bool:
        if isinstance(value, bool):
            return value
    elif kind is Table:
        sequence = numbered and isinstance(value, Sequence) and not isinstance(value, str | bytes)
        if (isinstance(value, Mapping | Table) or sequence) and len(value):
            return Table.of(value)
    elif kind is int:
        if hasattr(value, "__index__") and not isinstance(value, bool):
            return int(value)
    elif kind is float:
        return _number(value)
    elif get_origin(kind) is tuple:
        if isinstance(value, Sequence) and not isinstance(value, str) and len(value):
            return tuple(_as(get_args(kind)[0], v, numbered) for v in value)
    elif isinstance(value, kind):
        return value
    raise TypeError


def _in_words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return f"one of {words.choices(get_args(kind))}"
    if get_origin(kind) is tuple:
        return "a list of numbers"
    return {
        int: "a whole number",
        float: "a number",
        NoneType: "None",
        bool: "True or False",
        Table: "a table like {1: 3, 2: 9}",
    }.get(kind, str(kind))
