"""Frozen named things, declared once: parameters, catalogue, ``@`` and the grammar that reads them back.

A kind (a metric, a statistical test, an interval, a correction, a rule) subclasses ``Declared``; each class of a kind is then an
object, a string and an entry of the kind's catalogue: ``nDCG(gain="exponential") @ 10``, ``"nDCG(gain='exponential')@10"`` and
``rankscope metrics nDCG``.
"""

from __future__ import annotations

import ast
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from functools import cache
from inspect import Parameter, Signature, getdoc
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NoReturn,
    Self,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from rankscope import words
from rankscope.errors import HUGE, MOST, InputError


@dataclass(frozen=True)
class Param:
    """What a parameter means, its bounds, and the other names people know it by.

    A parameter that is ``needed`` may be left out at first, as in ``P(level=2) @ 5``, but not when it is used.
    Where it is a table, a sequence is taken only with ``takes_sequence``: the values of rank 1, 2 and so on.
    ``also`` maps another name to the values that are spelled differently there, if any. The values in ``need_at`` speak of
    what ``@`` sets, and so need it. ``reason_against`` says why a value cannot be taken that is of the right type and within
    the bounds; nothing where it can.
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

    @property
    def bounds(self) -> str:
        """The bounds in words."""
        low = f"above {self.above:g}" if self.above > -math.inf else f"at least {self.low:g}"
        if self.high == math.inf:
            return low
        return f"{low} and at most {self.high:g}" if self.above > -math.inf else f"from {self.low:g} to {self.high:g}"


class Lookup(tuple[tuple[float, float], ...]):
    """A small function written out: ``{1: 3, 2: 9}``. Sorted and hashable; a sequence is numbered from 1."""

    __slots__ = ()

    @classmethod
    def of(cls, value: Any) -> Lookup:
        """Read a mapping or a sequence of numbers."""
        if isinstance(value, Lookup):
            return value
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value, start=1)
        return cls(sorted((_number(k), _number(v)) for k, v in pairs))

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{plain(k)}: {plain(v)}" for k, v in self) + "}"


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
    """What a class or a module says of itself, all of it, also where Python was started with -OO, which drops it: from its source then.

    >>> doc_of(Lookup).partition(":")[0]
    'A small function written out'
    """
    if sys.flags.optimize < 2:
        return getdoc(owner) or ""
    for one in getattr(owner, "__mro__", (owner,)):
        places = _docs_in(sys.modules.get(getattr(one, "__module__", None) or one.__name__))
        if text := places.get(getattr(one, "__qualname__", "")):
            return text
    return ""


@cache
def _docs_in(module: Any) -> Mapping[str, str]:
    """The text of each class of a module at its top, and under no name that of the module; nothing where its source is not at hand."""
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
    except (ValueError, RecursionError):  # a whole number of thousands of digits has no repr
        text = f"a very long {type(value).__name__}"
    return words.short(text, 200)


def plain(value: Any) -> str:
    """A value as it is written in a spelling: 2 rather than 2.0."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, tuple) and not isinstance(value, Lookup):
        return "(" + ", ".join(map(plain, value)) + ("," if len(value) == 1 else "") + ")"
    return repr(value)


def one_of(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Refuse a value that is none of these."""
    if value not in allowed:
        raise InputError(f"{name}={value!r}: {name} is one of {words.choices(allowed)}")


def whole_number(name: str, value: Any, least: int, expects: str) -> None:
    """Refuse a value that is no whole number of at least ``least``: ``expects`` says what it should be; or that is beyond ``MOST``."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
        raise InputError(f"{name}={value!r}: {expects}")
    if value > MOST:
        raise InputError(f"{name}={brief(value)}: {name} is at most {MOST:,}")


def check_value(owner: str, name: str, value: Any, hint: Any, param: Param) -> Any:
    """The value in the type of a parameter of the ``owner`` and within its bounds, or one clear line."""

    def refuse(text: str) -> NoReturn:
        raise InputError(f"{owner}({name}={brief(given, quoted=True)}): {text}")

    given = value
    kinds = get_args(hint) if isinstance(hint, UnionType) or get_origin(hint) is Union else (hint,)
    for kind in kinds:
        try:
            value = _as(kind, value, param.takes_sequence)
            break
        except (TypeError, ValueError):
            continue
    else:
        refuse(f"{name} is {' or '.join(map(_in_words, kinds))}")
    for number in value if isinstance(value, tuple) and not isinstance(value, Lookup) else (value,):
        if isinstance(number, bool) or not isinstance(number, int | float):
            continue
        if not (param.low <= number <= param.high and number > param.above):
            refuse(f"{name} is {param.bounds}")
        if number > (MOST if isinstance(number, int) else HUGE):
            refuse(f"{name} is at most {words.count(MOST) if isinstance(number, int) else f'{HUGE:g}'}")
    if isinstance(value, Lookup) and any(abs(number) > HUGE for pair in value for number in pair):
        refuse(f"its numbers are at most {HUGE:g}")
    if param.reason_against and (reason := param.reason_against(value)):
        refuse(reason)
    return value


def _as(kind: Any, value: Any, takes_sequence: bool) -> Any:
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
    elif kind is Lookup:
        sequence = takes_sequence and isinstance(value, Sequence) and not isinstance(value, str | bytes)
        if (isinstance(value, Mapping | Lookup) or sequence) and len(value):
            return Lookup.of(value)
    elif kind is int:
        if hasattr(value, "__index__") and not isinstance(value, bool):
            return int(value)
    elif kind is float:
        return _number(value)
    elif get_origin(kind) is tuple:
        if isinstance(value, Sequence) and not isinstance(value, str) and len(value):
            return tuple(_as(get_args(kind)[0], v, takes_sequence) for v in value)
    elif isinstance(value, kind):
        return value
    raise TypeError


def _in_words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return f"one of {words.choices(get_args(kind))}"
    if get_origin(kind) is tuple:
        return "a list of numbers"
    plainly = {int: "a whole number", float: "a number", NoneType: "None", bool: "True or False"}
    return "a table like {1: 3, 2: 9}" if kind is Lookup else plainly.get(kind, str(kind))


# --- the base of every kind of named thing, and its catalogue ------------------------------------------


class _DeclaredType(type):
    """The type of every declared class: it lets a class take a cutoff, so that ``nDCG @ 10`` is ``nDCG() @ 10``."""

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
    """Base of every kind of named thing. ``at`` names the parameter that ``@`` sets; ``listed_by`` is the command that lists all.

    A class with parameters that do not all go together refuses those in a method ``check``.
    """

    kind: ClassVar[str] = "thing"
    catalogue: ClassVar[dict[str, Any]] = {}
    aliases: ClassVar[tuple[str, ...]] = ()
    at: ClassVar[str] = "cutoff"
    listed_by: ClassVar[str] = ""
    defaults: ClassVar[dict[str, Any]] = {}  # of each parameter; MISSING where it has none

    def __init_subclass__(cls, *, kind: str = "", aliases: tuple[str, ...] = (), at: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        if kind:
            cls.kind, cls.catalogue = kind, {}
        cls.aliases = aliases
        cls.at = at or cls.at
        # the methods that a dataclass would write and compile for every class stand once below: a hundred
        # metrics are then declared in a few milliseconds
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

    def ready(self) -> Self:
        """The thing itself, or an error where a required parameter is missing."""
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
        said = {name: value for name, usual in self.defaults.items() if (value := getattr(self, name)) != usual}
        cut = said.pop(self.at, None)
        inside = ", ".join(f"{name}={plain(value)}" for name, value in said.items())
        return type(self).__name__ + (f"({inside})" if inside else "") + (f"@{plain(cut)}" if cut is not None else "")

    __repr__ = __str__

    def having(self, **changes: Any) -> Self:
        """The same with other parameters."""
        return type(self)(**{name: getattr(self, name) for name in self.defaults} | changes)


def cut(cls: Any, said: Mapping[str, Any], value: Any) -> Any:
    """A thing with the parameter that ``@`` sets."""
    if cls.at not in parameters(cls):
        raise InputError(
            f"{cls.kind} '{cls.__name__}@{brief(value)}': {cls.__name__} has no cutoff, write it without @{brief(value)}"
        )
    return cls(**{**said, cls.at: value})


def _by_own_names(cls: type[Declared], values: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments under the parameters' own names, as ``level`` for ``rel``. Raises TypeError for others."""
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
    """A parameter by another name that it has, and what a value of that means; no name where there is none."""
    for name, (_, param) in parameters(cls).items():
        if key in param.also:
            return name, param.also[key].get(value, value) if isinstance(value, str) else value
    return "", value


@cache
def parameters(cls: type[Declared]) -> dict[str, tuple[Any, Param]]:
    """The parameters of a class: type and meaning of each."""
    hints = get_type_hints(cls, include_extras=True)
    out = {}
    for name in cls.defaults:
        said, *notes = get_args(hints[name]) if get_origin(hints[name]) is Annotated else (hints[name],)
        out[name] = (said, next((n for n in notes if isinstance(n, Param)), Param("")))
    return out


def required_parameters(cls: type[Declared]) -> list[str]:
    """The required parameters: those without a default, and those marked as needed."""
    known = parameters(cls)
    return [name for name, default in cls.defaults.items() if default is MISSING or known[name][1].needed]


# --- reading spellings such as nDCG(gain='exponential')@5,10, with errors that suggest the nearest name ---


_SPELLING = re.compile(r"(?P<name>[\w+-]+)\s*(?:\((?P<inside>.*)\))?\s*(?:@(?P<at>[^@()]+))?", re.DOTALL)
_DIGITS = re.compile(r"\s*[0-9]{1,9}\s*")
_WORDS = {"true": True, "false": False, "none": None}


def _unread(kind: type[Declared], text: str, why: str) -> InputError:
    return InputError(f"{kind.kind} {words.quote(text, 200)}: {why}")


def class_like(kind: type[Declared], name: str, text: str) -> Any:
    """The class whose name or alias is this one in another case; or an error that suggests the nearest name."""
    alike = {cls for key, cls in kind.catalogue.items() if key.casefold() == name.casefold()}
    if len(alike) == 1:
        return alike.pop()
    near = {key: cls.__name__ for key, cls in kind.catalogue.items()}
    where = f" ({kind.listed_by} lists all)" if kind.listed_by else None
    hint = words.hint(name, near, otherwise=where, most=len(near), offer=near.__getitem__)
    raise _unread(kind, text, f"no {kind.kind} is called {brief(name)}{hint}")


def _example_spelling(kind: type[Declared]) -> str:
    """Spellings to go by: those of metrics, or the first of a kind that takes parameters."""
    if kind.kind == "metric":
        return "nDCG@10 or P(level=2)@5"
    some = [cls for cls in kind.catalogue.values() if parameters(cls)]
    return f"{some[0].__name__} or {some[0].__name__}{_example_parameter(kind)}" if some else "its name"


def _example_parameter(kind: type[Declared]) -> str:
    """A parameter as it is written: of a metric, or the first that any of a kind takes."""
    if kind.kind == "metric":
        return "(level=2)"
    return next((f"({name}=...)" for cls in kind.catalogue.values() for name in parameters(cls)), "(name=...)")


def parse_all(kind: type[Declared], text: str) -> tuple[Any, ...]:
    """Read ``nDCG(gain='exponential')@10`` or, with several cutoffs, ``nDCG@5,10,20``."""
    match = _SPELLING.fullmatch(text.strip())
    if match is None:
        raise InputError(
            f"cannot read the {kind.kind} {words.quote(text, 200)}: write it like {_example_spelling(kind)}"
        )
    cls = kind.catalogue.get(match["name"]) or class_like(kind, match["name"], text)
    said = {}
    for key, given in _keywords(kind, match["inside"], text) if match["inside"] else ():
        name, value = _own_name(kind, cls, key, given, text)
        if name in said:
            raise _unread(kind, text, f"{name} is given twice")
        said[name] = _word(value, parameters(cls)[name][0])
    if match["at"] is not None and cls.at in said:
        raise _unread(kind, text, f"{cls.at} is given twice")
    there = {*said, cls.at} if match["at"] else said
    if missing := [name for name, default in cls.defaults.items() if default is MISSING and name not in there]:
        needs = f"{cls.__name__} needs {missing[0]}: write {cls.__name__}({missing[0]}=...)"
        raise _unread(kind, text, needs)
    try:
        if match["at"] is None:
            return (cls(**said).ready(),)
        # digits are read here, as P@05 is no number to Python
        parts = (int(part) if _DIGITS.fullmatch(part) else _literal_text(part) for part in match["at"].split(","))
        return tuple(cut(cls, said, part).ready() for part in parts)
    except InputError as error:
        message = str(error)
        raise (error if message.startswith(kind.kind) else _unread(kind, text, message)) from None


APART = re.compile(r"[\s,]")
# a comma that goes on with the cutoffs or values before it: nDCG@5,10, P.5,10, ndcg.1=3,2=9
_GOES_ON = re.compile(r",(?=[-+]?[\d.]+(?:[eE][-+]?\d+)?(?:=[-+]?[\d.]+)?(?:-l\d+)?(?:,|$))")


# what stands in quotes stays as it is, as the name of a column does; blanks go around (, @ and =, and between cutoffs
_LOOSE = re.compile(r"""('[^']*'|"[^"]*")|\s*([(@=])\s*|\s*,\s*(?=[-+\d.])""")


def split_spellings(text: str) -> list[str]:
    """The spellings in a text, each of one name: blanks and commas between metrics part them; blanks and commas inside parentheses do not, nor commas between cutoffs.

    >>> split_spellings("nDCG@5,10 RR, P(level=2)@10")
    ['nDCG@5,10', 'RR', 'P(level=2)@10']
    """
    close = re.sub(_LOOSE, lambda found: found[1] or found[2] or ",", text)
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


def _keywords(kind: type[Declared], inside: str, text: str) -> list[tuple[str, Any]]:
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unread(
            kind, text, f"cannot read the parameters '{brief(inside)}': write them like (level=2, gain='linear')"
        ) from None
    if not isinstance(call, ast.Call) or call.args or any(k.arg is None for k in call.keywords):
        raise _unread(kind, text, f"every parameter needs its name, like {_example_parameter(kind)}")
    return [(str(k.arg), _literal(kind, k.value, text)) for k in call.keywords]


def _literal(kind: type[Declared], node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.Name):
        return node.id  # a bare word is a string: gain=exponential
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        raise _unread(kind, text, f"cannot read the value '{_source_of(node)}'") from None
    except (RecursionError, MemoryError):
        raise _unread(kind, text, "cannot read the parameters") from None


def _source_of(node: ast.expr) -> str:
    try:
        return brief(ast.unparse(node))
    except (RecursionError, ValueError):
        return "..."


def _word(value: Any, hint: Any) -> Any:
    """True, False and None, written small as elsewhere, unless the parameter knows the word itself."""
    if not isinstance(value, str) or value not in _WORDS or hint is str or repr(value) in str(hint):
        return value
    return _WORDS[value]


def _literal_text(text: str) -> Any:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return text.strip()


def _own_name(kind: type[Declared], cls: type[Declared], key: str, value: Any, text: str) -> tuple[str, Any]:
    """A parameter's own name and value, from an alias if need be."""
    known = parameters(cls)
    if key in known:
        return key, value
    name, meant = _of_alias(cls, key, value)
    if name:
        return name, meant
    key = brief(key)
    takes, hint = ", ".join(known) or "no parameters", words.hint(key, known, otherwise="")
    raise _unread(kind, text, f"{cls.__name__} takes {takes}, not {key}{hint}")
