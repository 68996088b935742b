"""Frozen named things, declared once: parameters, catalogue, ``@`` and the grammar that reads them back.

A kind (metric, and later statistical test, estimator, fusion, check rule) subclasses ``Declared``;
each of its class statements is then an object, a string and an entry of the kind's catalogue:
``nDCG(gain="exponential") @ 10``, ``"nDCG(gain='exponential')@10"`` and ``rankscope metrics nDCG``.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from difflib import get_close_matches
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from rankscope.errors import InputError


@dataclass(frozen=True)
class Param:
    """What a parameter means, its bounds, and the other names people know it by.

    ``also`` maps another name to the values that are spelled differently there, if any.
    """

    about: str
    low: float = -math.inf
    high: float = math.inf
    above: float = -math.inf
    also: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict)

    @property
    def bounds(self) -> str:
        """The bounds in words."""
        low = f"above {self.above:g}" if self.above > -math.inf else f"at least {self.low:g}"
        if self.high < math.inf:
            return f"from {self.low:g} to {self.high:g}" if self.above == -math.inf else f"{low} and at most {self.high:g}"
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
    if isinstance(value, bool) or not hasattr(value, "__float__") or not math.isfinite(float(value)):
        raise TypeError(f"{value!r} is not a finite number")
    return float(value)


def plain(value: Any) -> str:
    """A value as it is written in a spelling: 2 rather than 2.0."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, tuple) and not isinstance(value, Table):
        return "(" + ", ".join(map(plain, value)) + ("," if len(value) == 1 else "") + ")"
    return repr(value)


class _Family(type):
    """Lets the class itself be cut: ``nDCG @ 10`` is ``nDCG() @ 10``."""

    def __matmul__(cls, value: Any) -> Any:
        return _cut(cls, {}, value)


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Declared(metaclass=_Family):
    """Base of every kind of named thing. ``at`` names the parameter that ``@`` sets."""

    kind: ClassVar[str] = "thing"
    catalogue: ClassVar[dict[str, Any]] = {}
    aliases: ClassVar[tuple[str, ...]] = ()
    at: ClassVar[str] = "cutoff"

    def __init_subclass__(cls, *, kind: str = "", aliases: tuple[str, ...] = (), at: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        if kind:
            cls.kind, cls.catalogue = kind, {}
        cls.aliases = aliases
        cls.at = at or cls.at
        dataclass(frozen=True, kw_only=True, repr=False)(cls)
        if not kind and not cls.__name__.startswith("_"):
            for name in (cls.__name__, *aliases):
                cls._register(name)

    @classmethod
    def _register(cls, name: str) -> None:
        known = cls.catalogue.get(name)
        if known and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise NameError(f"two of kind {cls.kind} are called {name}: {known.__module__} and {cls.__module__}")
        cls.catalogue[name] = cls

    def __post_init__(self) -> None:
        for name, (said, param) in parameters(type(self)).items():
            value = _checked(f"{type(self).__name__}({name}={getattr(self, name)!r})", name, getattr(self, name), said, param)
            object.__setattr__(self, name, value)
        self.check()

    def check(self) -> None:
        """Refuse parameters that do not go together; override where there are such."""

    def __matmul__(self, value: Any) -> Self:
        said = {f.name: getattr(self, f.name) for f in fields(self)}
        return _cut(type(self), said, value)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        said = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != _default(f)}
        cut = said.pop(self.at, None)
        inside = ", ".join(f"{name}={plain(value)}" for name, value in said.items())
        return type(self).__name__ + (f"({inside})" if inside else "") + (f"@{plain(cut)}" if cut is not None else "")

    __repr__ = __str__

    def having(self, **changes: Any) -> Self:
        """The same with other parameters."""
        return replace(self, **changes)


def _default(f: Any) -> Any:
    return f.default if f.default_factory is MISSING else f.default_factory()


def _cut(cls: Any, said: Mapping[str, Any], value: Any) -> Any:
    if cls.at not in parameters(cls):
        raise InputError(f"{cls.kind} '{cls.__name__}@{value}': {cls.__name__} has no cutoff, write it without @{value}")
    return cls(**{**said, cls.at: value})


@cache
def parameters(cls: type[Declared]) -> dict[str, tuple[Any, Param]]:
    """The parameters of a class: type and meaning of each."""
    hints = get_type_hints(cls, include_extras=True)
    out = {}
    for f in fields(cls):
        hint = hints[f.name]
        said, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        out[f.name] = (said, next((n for n in notes if isinstance(n, Param)), Param("")))
    return out


def required(cls: type[Declared]) -> list[str]:
    """The parameters that have no default."""
    return [f.name for f in fields(cls) if _default(f) is MISSING]


def _checked(said_as: str, name: str, value: Any, hint: Any, param: Param) -> Any:
    kinds = get_args(hint) if isinstance(hint, UnionType) or get_origin(hint) is Union else (hint,)
    for kind in kinds:
        try:
            value = _as(kind, value)
            break
        except (TypeError, ValueError):
            continue
    else:
        raise InputError(f"{said_as}: {name} is {' or '.join(_in_words(kind) for kind in kinds)}")
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not param.low <= value <= param.high or not value > param.above:
            raise InputError(f"{said_as}: {name} is {param.bounds}")
    return value


def _as(kind: Any, value: Any) -> Any:
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
        if isinstance(value, Mapping | Sequence) and not isinstance(value, str) and len(value):
            return Table.of(value)
    elif kind is int:
        if hasattr(value, "__index__") and not isinstance(value, bool):
            return int(value)
    elif kind is float:
        return _number(value)
    elif get_origin(kind) is tuple:
        if isinstance(value, Sequence) and not isinstance(value, str) and len(value):
            return tuple(_as(get_args(kind)[0], v) for v in value)
    elif isinstance(value, kind):
        return value
    raise TypeError


def _in_words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(map(repr, get_args(kind)))
    if get_origin(kind) is tuple:
        return "a list of numbers"
    return {int: "a whole number", float: "a number", NoneType: "None", bool: "True or False", Table: "a table like {1: 3, 2: 9}"}.get(
        kind, str(kind)
    )


# --- reading a spelling back -----------------------------------------------------------------------

_SPELLING = re.compile(r"(?P<name>[\w+-]+)\s*(?:\((?P<inside>.*)\))?\s*(?:@(?P<at>[^@()]+))?", re.DOTALL)


def family(kind: type[Declared], name: str, text: str) -> Any:
    """The class of this name or alias, whatever its case; or an error that offers the nearest."""
    found = kind.catalogue.get(name)
    if found is None:
        folded = {cls for key, cls in kind.catalogue.items() if key.casefold() == name.casefold()}
        found = folded.pop() if len(folded) == 1 else None
    if found is None:
        near = {key.casefold(): cls.__name__ for key, cls in kind.catalogue.items()}
        close = get_close_matches(name.casefold(), near, n=1, cutoff=0.6)
        hint = f", did you mean {near[close[0]]}?" if close else f" (rankscope {kind.kind}s lists all)"
        raise InputError(f"{kind.kind} {text!r}: no {kind.kind} is called {name}{hint}")
    return found


def parse_all(kind: type[Declared], text: str) -> tuple[Any, ...]:
    """Read ``nDCG(gain='exponential')@10`` or, with several cutoffs, ``nDCG@5,10,20``."""
    match = _SPELLING.fullmatch(text.strip())
    if match is None:
        raise InputError(f"cannot read the {kind.kind} {text!r}: write it like nDCG@10 or P(level=2)@5")
    cls = family(kind, match["name"], text)
    said = {}
    for key, value in _keywords(kind, match["inside"] or "", text):
        name, value = _own_name(kind, cls, key, value, text)
        if name in said:
            raise InputError(f"{kind.kind} {text!r}: {name} is given twice")
        said[name] = value
    try:
        if match["at"] is None:
            if missing := [name for name in required(cls) if name not in said]:
                how = f"{cls.__name__}@10" if missing == [cls.at] == ["cutoff"] else f"{cls.__name__}({missing[0]}=...)"
                raise InputError(f"{cls.__name__} needs {missing[0]}: write {how}")
            return (cls(**said),)
        return tuple(_cut(cls, said, _literal_text(part)) for part in match["at"].split(","))
    except InputError as error:
        message = str(error)
        raise InputError(message if message.startswith(kind.kind) else f"{kind.kind} {text!r}: {message}") from None


def _keywords(kind: type[Declared], inside: str, text: str) -> list[tuple[str, Any]]:
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
    except (SyntaxError, ValueError):
        raise InputError(f"{kind.kind} {text!r}: cannot read the parameters '{inside}': write them like (level=2, gain='linear')") from None
    if not isinstance(call, ast.Call) or call.args or any(k.arg is None for k in call.keywords):
        raise InputError(f"{kind.kind} {text!r}: every parameter needs its name, like (level=2)")
    return [(str(k.arg), _literal(kind, k.value, text)) for k in call.keywords]


def _literal(kind: type[Declared], node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.Name):
        return node.id  # a bare word is a string: gain=exponential
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        raise InputError(f"{kind.kind} {text!r}: cannot read the value '{ast.unparse(node)}'") from None


def _literal_text(text: str) -> Any:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text.strip()


def _own_name(kind: type[Declared], cls: type[Declared], key: str, value: Any, text: str) -> tuple[str, Any]:
    """A parameter's own name and value, from an alias if need be."""
    known = parameters(cls)
    if key in known:
        return key, value
    for name, (_, param) in known.items():
        if key in param.also:
            spelled = param.also[key]
            return name, spelled.get(value, value) if isinstance(value, str) else value
    takes = ", ".join(known) or "no parameters"
    close = get_close_matches(key, known, n=1)
    hint = f", did you mean {close[0]}?" if close else ""
    raise InputError(f"{kind.kind} {text!r}: {cls.__name__} takes {takes}, not {key}{hint}")
