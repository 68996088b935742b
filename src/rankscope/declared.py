"""The base of everything declared by name: parameters, catalogue, ``@``, and the grammar that reads spellings.

A kind (metrics, statistical tests, intervals, click models ...) is a subclass of ``Declared`` with ``kind="..."``. Each class of a
kind is an object, a string and an entry of the kind's catalogue: ``nDCG(gain="exponential") @ 10``,
``"nDCG(gain='exponential')@10"`` and ``rankscope metrics nDCG``. ``read`` of the kind takes all of them.

>>> class Decay(Declared, kind="decay"):
...     "A weight that falls with the rank."
>>> class power(Decay, aliases=("pow",)):
...     "1 / rank^exponent."
...
...     exponent: float = 1.0
>>> Decay.read("pow(exponent=2)"), Decay.read(power), list(Decay.catalogue)
(power(exponent=2), power, ['power', 'pow'])
"""

from __future__ import annotations

import ast
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from functools import cache
from inspect import Parameter, Signature, getdoc
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, NoReturn, Self, Union

from typing import dataclass_transform, get_args, get_origin, get_type_hints  # isort: skip

from rankscope import words
from rankscope.errors import HUGE, LARGEST_INT, InputError


@dataclass(frozen=True)
class Param:
    """The meaning of a parameter, its bounds, and its other names.

    A ``needed`` parameter may be missing at first, as in ``P(level=2) @ 5``, but not in use. With ``takes_sequence`` a table may also
    be a sequence, the values of rank 1, 2 and so on. ``also`` maps other names to values with another spelling there. The values in
    ``need_at`` need the parameter that ``@`` sets. ``reason_against`` returns the reason to refuse a value of the right type
    within the bounds. Empty if there is none. ``reads`` turns a given value into another first, like the name of a file into its content.
    """

    about: str
    low: float = -math.inf
    high: float = math.inf
    above: float = -math.inf
    also: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict)
    needed: bool = False
    takes_sequence: bool = False
    need_at: tuple[str, ...] = ()
    reason_against: Callable[[Any], str] | None = None
    reads: Callable[[Any], Any] | None = None

    @property
    def bounds(self) -> str:
        """The bounds in words."""
        low = f"above {self.above:g}" if self.above > -math.inf else f"at least {self.low:g}"
        if self.high == math.inf:
            return low
        return f"{low} and at most {self.high:g}" if self.above > -math.inf else f"from {self.low:g} to {self.high:g}"


class Lookup(tuple[tuple[float, float], ...]):
    """A small function written out: ``{1: 3, 2: 9}``. Sorted and hashable. A sequence is numbered from 1."""

    __slots__ = ()

    @classmethod
    def of(cls, value: Any) -> Lookup:
        """Read a mapping or a sequence of numbers."""
        if isinstance(value, Lookup):
            return value
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value, start=1)
        return cls(sorted((_number(k), _number(v)) for k, v in pairs))

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{plain(k)}: {plain(v)}' for k, v in self)}}}"


def _number(value: Any) -> float:
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError("not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise TypeError("not a finite number")
    return number


def doc_of(owner: Any) -> str:
    """The docstring of a class or a module. Read from the source under ``python -OO``, which drops docstrings."""
    if sys.flags.optimize < 2:
        return getdoc(owner) or ""
    for one in getattr(owner, "__mro__", (owner,)):
        places = _docs_in(sys.modules.get(getattr(one, "__module__", None) or one.__name__))
        if text := places.get(getattr(one, "__qualname__", "")):
            return text
    return ""


@cache
def _docs_in(module: Any) -> Mapping[str, str]:
    """The docstrings of a module's classes by name, and of the module under "". Empty without its source."""
    try:
        with open(module.__file__, encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (AttributeError, TypeError, OSError, ValueError, SyntaxError):
        return {}
    texts = {node.name: ast.get_docstring(node) for node in tree.body if isinstance(node, ast.ClassDef)}
    return {name: text for name, text in {"": ast.get_docstring(tree), **texts}.items() if text}


def brief(value: Any, quoted: bool = False) -> str:
    """A value or text for an error message, shortened."""
    try:
        text = value if isinstance(value, str) and not quoted else repr(value)
    except (ValueError, RecursionError):  # a whole number of thousands of digits
        text = f"a very long {type(value).__name__}"
    return words.short(text, 200)


def plain(value: Any) -> str:
    """A value in a spelling: 2 instead of 2.0."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, tuple) and not isinstance(value, Lookup):
        return "(" + ", ".join(map(plain, value)) + ("," if len(value) == 1 else "") + ")"
    return repr(value)


def one_of(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Refuse any other value."""
    if value not in allowed:
        raise InputError(f"{name}={value!r}: {name} is one of {words.choices(allowed)}")


def whole_number(name: str, value: Any, least: int, expects: str) -> None:
    """Refuse anything but a whole number from ``least`` to ``LARGEST_INT``, with the expectation in ``expects``."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
        raise InputError(f"{name}={value!r}: {expects}")
    if value > LARGEST_INT:
        raise InputError(f"{name}={brief(value)}: {name} is at most {LARGEST_INT:,}")


def check_value(owner: str, name: str, value: Any, hint: Any, param: Param) -> Any:
    """Return a parameter's value in its type, or raise InputError if it has another type or is out of bounds."""

    def refuse(text: str) -> NoReturn:
        raise InputError(f"{owner}({name}={brief(original, quoted=True)}): {text}")

    original = value
    if param.reads is not None:
        value = param.reads(value)
    kinds = get_args(hint) if isinstance(hint, UnionType) or get_origin(hint) is Union else (hint,)
    for kind in kinds:
        with suppress(TypeError, ValueError):
            value = _as(kind, value, param.takes_sequence)
            break
    else:
        refuse(f"{name} must be {' or '.join(map(_in_words, kinds))}")
    numbers = value if isinstance(value, tuple) and not isinstance(value, Lookup) else (value,)
    for number in (one for one in numbers if isinstance(one, int | float) and not isinstance(one, bool)):
        if not (param.low <= number <= param.high and number > param.above):
            refuse(f"{name} must be {param.bounds}")
        if number > (LARGEST_INT if isinstance(number, int) else HUGE):
            refuse(f"{name} must be at most {words.count(LARGEST_INT) if isinstance(number, int) else f'{HUGE:g}'}")
    if isinstance(value, Lookup) and any(abs(number) > HUGE for pair in value for number in pair):
        refuse(f"its numbers must be at most {HUGE:g}")
    if param.reason_against and (reason := param.reason_against(value)):
        refuse(reason)
    return value


def _as(kind: Any, value: Any, takes_sequence: bool) -> Any:
    listed = isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 0
    if kind is float:
        return _number(value)
    if get_origin(kind) is Literal:
        fits = isinstance(value, str | int) and value in get_args(kind)
    elif kind is Lookup:
        sequence = takes_sequence and listed and not isinstance(value, bytes)
        if sequence or (isinstance(value, Mapping | Lookup) and len(value)):
            return Lookup.of(value)
        fits = False
    elif get_origin(kind) is tuple:
        if listed:
            return tuple(_as(get_args(kind)[0], v, takes_sequence) for v in value)
        fits = False
    elif kind is int:
        if fits := hasattr(value, "__index__") and not isinstance(value, bool):
            value = int(value)
    else:
        fits = isinstance(value, kind)
    if not fits:
        raise TypeError
    return value


def _in_words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return f"one of {words.choices(get_args(kind))}"
    plainly = {int: "a whole number", float: "a number", NoneType: "None", bool: "True or False", str: "text"}
    plainly |= {Lookup: "a table like {1: 3, 2: 9}", tuple: "a list of numbers"}
    return plainly.get(get_origin(kind) or kind, str(kind))


class _DeclaredType(type):
    """The type of declared classes, with ``@``: ``nDCG @ 10`` is ``nDCG() @ 10``."""

    def __matmul__(cls, value: Any) -> Any:
        return cut(cls, {}, value)

    @property
    def __signature__(cls) -> Signature:
        known = fields(cls)  # type: ignore[arg-type] # every subclass is made a dataclass
        usual = {f.name: Parameter.empty if f.default is MISSING else f.default for f in known}
        return Signature(
            [Parameter(f.name, Parameter.KEYWORD_ONLY, default=usual[f.name], annotation=f.type) for f in known]
        )


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Declared(metaclass=_DeclaredType):
    """Base of every kind. ``at`` names the parameter that ``@`` sets, ``listed_by`` the command that lists the kind. Classes may have a method ``check``."""

    kind: ClassVar[str] = "thing"
    catalogue: ClassVar[dict[str, Any]] = {}
    aliases: ClassVar[tuple[str, ...]] = ()
    at: ClassVar[str] = "cutoff"
    listed_by: ClassVar[str] = ""

    @classmethod
    def also_written(cls, name: str) -> str:
        """Return another remedy for an unknown name, or an empty text."""
        del name
        return ""

    @classmethod
    def in_other_units(cls, values: Mapping[str, Any], value: Any) -> Any:
        """Return the object for a text after ``@``, like ``2048tok``. None if it is no text of the kind."""
        del values, value
        return None

    defaults: ClassVar[dict[str, Any]] = {}  # by parameter; MISSING if it has none

    def __init_subclass__(cls, *, kind: str = "", aliases: tuple[str, ...] = (), at: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        if kind:
            cls.kind, cls.catalogue = kind, {}
        cls.aliases = aliases
        cls.at = at or cls.at
        # methods are written once below, not compiled by dataclass for each class: a hundred metrics load in milliseconds
        dataclass(init=False, repr=False, eq=False, kw_only=True)(cls)
        cls.defaults = {f.name: f.default for f in fields(cls)}  # type: ignore[arg-type] # it is one now
        for name in () if kind or cls.__name__.startswith("_") else (cls.__name__, *aliases):
            known = cls.catalogue.get(name)
            if known and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
                raise NameError(f"two of kind {cls.kind} are called {name}: {known.__module__} and {cls.__module__}")
            cls.catalogue[name] = cls

    def __init__(self, **values: Any) -> None:
        cls = type(self)
        if not values.keys() <= cls.defaults.keys():
            values = _by_own_names(cls, values)
        for name, default in cls.defaults.items():
            value = values.get(name, default)
            if value is MISSING:
                raise TypeError(f"{cls.__name__}.__init__() missing the keyword-only argument {name!r}")
            if value is not default:
                value = check_value(cls.__name__, name, value, *parameters(cls)[name])
            object.__setattr__(self, name, value)
        if check := getattr(self, "check", None):
            check()

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Declared) or type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.defaults)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in self.defaults))

    @classmethod
    def read(cls, value: Any) -> Self:
        """Return the object of this kind for an object, a class or a spelling. Raises InputError, with the nearest name."""
        if isinstance(value, type) and issubclass(value, cls):
            value = value()
        if isinstance(value, cls):
            return value
        if not isinstance(value, str):
            raise InputError(f"{cls.kind} {brief(value, quoted=True)}: write it like {_example_spelling(cls)}")
        spelled = parse_all(cls, value)
        if len(spelled) != 1:
            raise _unread(cls, value, f"it names {len(spelled)}, but only one fits here")
        return spelled[0]  # type: ignore[no-any-return]

    @classmethod
    def read_all(cls, named: Any) -> list[Self]:
        """Return the objects of this kind for one, for several, or for texts that name several. Raises InputError, with the nearest name."""
        several = [named] if isinstance(named, str | type | Declared) or not isinstance(named, Iterable) else named
        parts = (part for one in several for part in (split_spellings(one) if isinstance(one, str) else (one,)))
        return [one for part in parts for one in (parse_all(cls, part) if isinstance(part, str) else (cls.read(part),))]

    def ready(self) -> Self:
        """Return the object itself, or raise InputError if a required parameter is missing."""
        missing = []
        for name, (_, param) in parameters(type(self)).items():
            value = getattr(self, name)
            if param.needed and value is None:
                missing.append(name)
            if value in param.need_at and getattr(self, self.at) is None:
                raise InputError(f"{self}: {name}={value!r} needs a cutoff, write {self}@10")
        if missing:
            how = f"{self}@10" if missing == [self.at] == ["cutoff"] else f"{type(self).__name__}({missing[0]}=...)"
            raise InputError(f"{self} needs {missing[0]}: write {how}")
        return self

    def __matmul__(self, value: Any) -> Self:
        return cut(type(self), {name: getattr(self, name) for name in self.defaults}, value)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        changed = {name: value for name, usual in self.defaults.items() if (value := getattr(self, name)) != usual}
        cut = changed.pop(self.at, None)
        inside = ", ".join(f"{name}={plain(value)}" for name, value in changed.items())
        return type(self).__name__ + (f"({inside})" if inside else "") + (f"@{plain(cut)}" if cut is not None else "")

    __repr__ = __str__

    def having(self, **changes: Any) -> Self:
        """Return a copy with other parameters."""
        return type(self)(**{name: getattr(self, name) for name in self.defaults} | changes)


def cut(cls: Any, values: Mapping[str, Any], value: Any) -> Any:
    """Return an object with the parameter that ``@`` sets."""
    if cls.at not in parameters(cls):
        name, at = cls.__name__, f"@{brief(value)}"
        raise InputError(f"{cls.kind} '{name}{at}': {name} has no cutoff, write it without {at}")
    other = cls.in_other_units(values, value)
    return cls(**{**values, cls.at: value}) if other is None else other


def _by_own_names(cls: type[Declared], values: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments by the parameters' own names, like ``level`` for ``rel``. Raises TypeError for unknown names."""
    out: dict[str, Any] = {}
    for key, value in values.items():
        name, meant = (key, value) if key in cls.defaults else _of_alias(cls, key, value)
        if not name:
            raise TypeError(f"{cls.__name__}.__init__() got an unexpected keyword argument {key!r}")
        if name in out:
            raise TypeError(f"{cls.__name__}.__init__() got {name!r} twice, once as {key!r}")
        out[name] = meant
    return out


def _of_alias(cls: type[Declared], key: str, value: Any) -> tuple[str, Any]:
    """The parameter with this alias, and the value in its own spelling, "" if there is none."""
    for name, (_, param) in parameters(cls).items():
        if key in param.also:
            return name, param.also[key].get(value, value) if isinstance(value, str) else value
    return "", value


@cache
def parameters(cls: type[Declared]) -> dict[str, tuple[Any, Param]]:
    """The type and meaning of each parameter of a class."""
    hints = get_type_hints(cls, include_extras=True)
    out = {}
    for name in cls.defaults:
        hint, *notes = get_args(hints[name]) if get_origin(hints[name]) is Annotated else (hints[name],)
        out[name] = (hint, next((n for n in notes if isinstance(n, Param)), Param("")))
    return out


def required_parameters(cls: type[Declared]) -> list[str]:
    """The parameters without a default, and the needed ones."""
    known = parameters(cls)
    return [name for name, default in cls.defaults.items() if default is MISSING or known[name][1].needed]


_SPELLING = re.compile(r"(?P<name>[\w+-]+)\s*(?:\((?P<inside>.*)\))?\s*(?:@(?P<at>[^@()]+))?", re.DOTALL)
_DIGITS = re.compile(r"\s*[0-9]{1,9}\s*")
_WORDS = {"true": True, "false": False, "none": None}


def _unread(kind: type[Declared], text: str, why: str) -> InputError:
    return InputError(f"{kind.kind} {words.quote(text, 200)}: {why}")


def class_like(kind: type[Declared], name: str, text: str) -> Any:
    """Return the class with this name or alias in another case. Raises InputError with the nearest name."""
    alike = {cls for key, cls in kind.catalogue.items() if key.casefold() == name.casefold()}
    if len(alike) == 1:
        return alike.pop()
    near = {key: cls.__name__ for key, cls in kind.catalogue.items()}
    where = f" ({kind.listed_by} lists all)" if kind.listed_by else None
    hint = words.hint(name, near, otherwise=where, most=len(near), offer=near.__getitem__)
    also = kind.also_written(brief(name))
    more = f"{'' if hint.endswith('?') else ';'} {also}" if also else ""
    raise _unread(kind, text, f"no {kind.kind} is called {brief(name)}{hint}{more}")


def _example_spelling(kind: type[Declared]) -> str:
    usual = "nDCG@10 or P(level=2)@5" if kind.kind == "metric" else "its name"
    some = [cls.__name__ for cls in kind.catalogue.values() if parameters(cls) and kind.kind != "metric"]
    return f"{some[0]} or {some[0]}{_example_parameter(kind, kind)}" if some else usual


def _example_parameter(kind: type[Declared], named: type[Declared]) -> str:
    usual = (f"({name}=...)" for cls in (named, *kind.catalogue.values()) for name in parameters(cls))
    return "(level=2)" if kind.kind == "metric" else next(usual, "(name=...)")


def parse_all(kind: type[Declared], text: str) -> tuple[Any, ...]:
    """Read ``nDCG(gain='exponential')@10`` or, with several cutoffs, ``nDCG@5,10,20``."""
    match = _SPELLING.fullmatch(text.strip())
    if match is None:
        like = _example_spelling(kind)
        raise InputError(f"cannot read the {kind.kind} {words.quote(text, 200)}: write it like {like}")
    cls = kind.catalogue.get(match["name"]) or class_like(kind, match["name"], text)
    values: dict[str, Any] = {}
    for key, written in _keywords(kind, cls, match["inside"], text) if match["inside"] else ():
        name, value = _own_name(kind, cls, key, written, text)
        if name in values:
            raise _unread(kind, text, f"{name} is given twice")
        values[name] = _word(value, parameters(cls)[name][0])
    if match["at"] is not None and cls.at in values:
        raise _unread(kind, text, f"{cls.at} is given twice")
    present = {*values, cls.at} if match["at"] else values
    for name, default in cls.defaults.items():
        if default is MISSING and name not in present:
            raise _unread(kind, text, f"{cls.__name__} needs {name}: write {cls.__name__}({name}=...)")
    try:
        if match["at"] is None:
            return (cls(**values).ready(),)
        # P@05 is valid, but not a number in Python
        parts = (int(part) if _DIGITS.fullmatch(part) else _literal_text(part) for part in match["at"].split(","))
        return tuple(cut(cls, values, part).ready() for part in parts)
    except InputError as error:
        message = str(error)
        raise (error if message.startswith(kind.kind) else _unread(kind, text, message)) from None


SEPARATORS = re.compile(r"[\s,]")
# a comma between cutoffs or values: nDCG@5,10, P.5,10, ndcg.1=3,2=9
_GOES_ON = re.compile(r",(?=[-+]?[\d.]+(?:[eE][-+]?\d+)?(?:=[-+]?[\d.]+)?(?:-l\d+|tok)?(?:,|$))")


# keeps text in quotes, like column names; drops blanks around (, @ and =, and between cutoffs
_LOOSE = re.compile(r"""('[^']*'|"[^"]*")|\s*([(@=])\s*|\s*,\s*(?=[-+\d.])""")


def split_spellings(text: str) -> list[str]:
    """Split a text at blanks and commas between spellings, but not inside parentheses or between cutoffs."""
    close = re.sub(_LOOSE, lambda match: match[1] or match[2] or ",", text)
    spellings = re.findall(r"(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|[^\s()]|\)|\()+", close)
    return [part for spelling in spellings for part in _split_commas(spelling)] or [text]


def _split_commas(text: str) -> list[str]:
    parts, depth, begin = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth <= 0 and not _GOES_ON.match(text, at):
            parts.append(text[begin:at])
            begin = at + 1
    return [part for part in (*parts, text[begin:]) if part]


def _keywords(kind: type[Declared], cls: type[Declared], inside: str, text: str) -> list[tuple[str, Any]]:
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        how = "write them like (level=2, gain='linear')"
        raise _unread(kind, text, f"cannot read the parameters '{brief(inside)}': {how}") from None
    if not isinstance(call, ast.Call) or call.args or any(k.arg is None for k in call.keywords):
        raise _unread(kind, text, f"every parameter needs its name, like {_example_parameter(kind, cls)}")
    return [(str(k.arg), _literal(kind, k.value, text)) for k in call.keywords]


def _literal(kind: type[Declared], node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.Name):
        return node.id  # a bare word is a string: gain=exponential
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        written = "..."
        with suppress(RecursionError, ValueError):
            written = brief(ast.unparse(node))
        raise _unread(kind, text, f"cannot read the value '{written}'") from None
    except (RecursionError, MemoryError):
        raise _unread(kind, text, "cannot read the parameters") from None


def _word(value: Any, hint: Any) -> Any:
    """Read true, false and none, unless they are values of the parameter."""
    if not isinstance(value, str) or value not in _WORDS or hint is str or repr(value) in str(hint):
        return value
    return _WORDS[value]


def _literal_text(text: str) -> Any:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return text.strip()


def _own_name(kind: type[Declared], cls: type[Declared], key: str, value: Any, text: str) -> tuple[str, Any]:
    known = parameters(cls)
    name, meant = (key, value) if key in known else _of_alias(cls, key, value)
    if name:
        return name, meant
    key = brief(key)
    takes, hint = ", ".join(known) or "no parameters", words.hint(key, known, otherwise="")
    raise _unread(kind, text, f"{cls.__name__} takes {takes}, not {key}{hint}")
