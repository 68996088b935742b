"""Look up online metrics, and describe them in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rankscope import words
from rankscope.declared import doc_of, parameters
from rankscope.errors import InputError

if TYPE_CHECKING:  # loads Polars, which offline metrics do not need
    from rankscope.logs.base import OnlineMetric

FAMILY = "online"
CLOSE = 0.75  # least similarity of a name to an online metric that is suggested


def online_metrics() -> list[type[OnlineMetric]]:
    """Return every online metric of the package, each once, then those of other packages."""
    from rankscope.logs import metrics as declared
    from rankscope.logs.base import OnlineMetric

    known = list(dict.fromkeys(OnlineMetric.catalogue.values()))
    return sorted(known, key=lambda cls: cls.__module__ != declared.__name__)


def find_online(name: str) -> list[type[OnlineMetric]]:
    """Return the online metrics of a name or spelling: one, all for ``online``, or none. Raises InputError if the name is similar to one."""
    from rankscope.logs.base import parse_online

    known = online_metrics()
    if name == FAMILY:
        return known
    for cls in known:
        if name.casefold() in {one.casefold() for one in (cls.__name__, *cls.aliases)}:
            return [cls]
    try:
        return [type(parse_online(name))]
    except InputError:
        if near := words.nearest(name, [cls.__name__ for cls in known], CLOSE):
            raise InputError(f"metric {name!r}: no metric is called {name}, did you mean {near}?") from None
        return []


def online_spellings() -> Iterator[tuple[str, str]]:
    """Yield names for completion, each with its meaning."""
    return ((usual_spelling(cls), meaning(cls)) for cls in online_metrics())


def meaning(cls: type[OnlineMetric]) -> str:
    """Return the meaning of a metric in one line."""
    return doc_of(cls).splitlines()[0].rstrip(".")


def usual_spelling(cls: type[OnlineMetric]) -> str:
    """Return the usual spelling: with its own columns for a metric of columns."""
    if cls.example:
        return cls.example
    return f"{cls.__name__}({', '.join(name.upper() for name in cls.of_columns)})" if cls.of_columns else str(cls())


def formula(cls: type[OnlineMetric]) -> str:
    """Return the numerator and the denominator. For a quantile, which has neither, its definition."""
    return f"{cls.above} / {cls.below}" if cls.below else cls.above


def direction(cls: type[OnlineMetric]) -> str:
    """Return the better direction, and the parameter that changes it."""
    way = "neither way" if cls.better == "neither" else cls.better or "higher"
    return f"{way} is better{', unless better= changes it' if 'better' in parameters(cls) else ''}"
