"""Reading spellings such as ``nDCG(gain='exponential')@5,10``, with errors that suggest the nearest name."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from rankscope import words
from rankscope.declared.base import Declared, cut, parameters, required
from rankscope.declared.param import brief
from rankscope.errors import InputError

_SPELLING = re.compile(r"(?P<name>[\w+-]+)\s*(?:\((?P<inside>.*)\))?\s*(?:@(?P<at>[^@()]+))?", re.DOTALL)
_WORDS = {"true": True, "false": False, "none": None}


def family(kind: type[Declared], name: str, text: str) -> Any:
    """The class of this name or alias, ignoring case; or an error that suggests the nearest name."""
    found = kind.catalogue.get(name)
    text, name = brief(text), brief(name)
    if found is None:
        folded = {cls for key, cls in kind.catalogue.items() if key.casefold() == name.casefold()}
        found = folded.pop() if len(folded) == 1 else None
    if found is None:
        near = {key: cls.__name__ for key, cls in kind.catalogue.items()}
        where = f" ({kind.listed_by} lists all)" if kind.listed_by else None
        hint = words.hint(name, near, otherwise=where, most=len(near), offer=near.__getitem__)
        raise InputError(f"{kind.kind} {text!r}: no {kind.kind} is called {name}{hint}")
    return found


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
    text = brief(text)
    if match is None:
        raise InputError(f"cannot read the {kind.kind} {text!r}: write it like {_example_spelling(kind)}")
    cls = family(kind, match["name"], text)
    said = {}
    for key, given in _keywords(kind, match["inside"] or "", text):
        name, value = _own_name(kind, cls, key, given, text)
        if name in said:
            raise InputError(f"{kind.kind} {text!r}: {name} is given twice")
        said[name] = _word(value, parameters(cls)[name][0])
    if match["at"] is not None and cls.at in said:
        raise InputError(f"{kind.kind} {text!r}: {cls.at} is given twice")
    try:
        if match["at"] is None:
            return (_complete(cls, said),)
        return tuple(cut(cls, said, _literal_text(part)).ready() for part in match["at"].split(","))
    except InputError as error:
        message = str(error)
        raise InputError(message if message.startswith(kind.kind) else f"{kind.kind} {text!r}: {message}") from None


def _complete(cls: Any, said: Mapping[str, Any]) -> Any:
    try:
        return cls(**said).ready()
    except TypeError:
        missing = next(name for name in required(cls) if name not in said)
        raise InputError(f"{cls.__name__} needs {missing}: write {cls.__name__}({missing}=...)") from None


def _keywords(kind: type[Declared], inside: str, text: str) -> list[tuple[str, Any]]:
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(
            f"{kind.kind} {text!r}: cannot read the parameters '{brief(inside)}': write them like (level=2, gain='linear')"
        ) from None
    if not isinstance(call, ast.Call) or call.args or any(k.arg is None for k in call.keywords):
        raise InputError(f"{kind.kind} {text!r}: every parameter needs its name, like {_example_parameter(kind)}")
    return [(str(k.arg), _literal(kind, k.value, text)) for k in call.keywords]


def _literal(kind: type[Declared], node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.Name):
        return node.id  # a bare word is a string: gain=exponential
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        raise InputError(f"{kind.kind} {text!r}: cannot read the value '{_source_of(node)}'") from None
    except (RecursionError, MemoryError):
        raise InputError(f"{kind.kind} {text!r}: cannot read the parameters") from None


def _source_of(node: ast.expr) -> str:
    try:
        return brief(ast.unparse(node))
    except (RecursionError, ValueError):
        return "..."


def _word(value: Any, hint: Any) -> Any:
    """True, False and None, written small as elsewhere, unless the parameter knows the word itself."""
    if not isinstance(value, str) or value not in _WORDS or repr(value) in str(hint):
        return value
    return _WORDS[value]


def _literal_text(text: str) -> Any:
    if re.fullmatch(r"\s*0+[0-9]{1,9}\s*", text):
        return int(text)  # P@05, which Python would not read
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
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
    key = brief(key)
    takes, hint = ", ".join(known) or "no parameters", words.hint(key, known, otherwise="")
    raise InputError(f"{kind.kind} {text!r}: {cls.__name__} takes {takes}, not {key}{hint}")
