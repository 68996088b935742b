"""The catalogue of online metrics, from their declarations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankscope import words
from rankscope.blocks import EMPTY, Block, Chart, Facts, Heading, Paragraph
from rankscope.declared import doc_of, parameters, plain, required_parameters
from rankscope.errors import InputError
from rankscope.show.result import Col, Result, View
from rankscope.syntax import by_caller

if TYPE_CHECKING:  # loads Polars, which offline metrics do not need
    from rankscope.logs.base import OnlineMetric

TITLE = "Online: user behaviour, from a log of impressions (rankscope online)"
DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "neither": "neither way is better"}
FAMILY = "online"
CLOSE = 0.75  # least similarity of a name to an online metric that is suggested


def online_metrics() -> list[type[OnlineMetric]]:
    """Return every online metric of the package, each once, then those of other packages."""
    from rankscope.logs import metrics as declared
    from rankscope.logs.base import OnlineMetric

    known = list(dict.fromkeys(OnlineMetric.catalogue.values()))
    return sorted(known, key=lambda cls: cls.__module__ != declared.__name__)


def find_online(name: str) -> type[OnlineMetric] | None:
    """Return the online metric of a name, an alias or a spelling like ``Retention@7``, or None."""
    from rankscope.logs.base import parse_online

    by_fold = {one.casefold(): cls for cls in online_metrics() for one in (cls.__name__, *cls.aliases)}
    if name.casefold() in by_fold:
        return by_fold[name.casefold()]
    try:
        return type(parse_online(name))
    except InputError:
        return None


def online_catalogue(name: str) -> OnlineCatalogue | None:
    """Return the online metrics of a name: one, or all for ``online``, or None. Raises InputError if a name is near."""
    if name == FAMILY:
        return OnlineCatalogue(tuple(online_metrics()), name)
    if (cls := find_online(name)) is not None:
        return OnlineCatalogue((cls,), name)
    if near := words.nearest(name, [cls.__name__ for cls in online_metrics()], CLOSE):
        raise InputError(f"metric {name!r}: no metric is called {name}, did you mean {near}?")
    return None


def online_spellings() -> Iterator[tuple[str, str]]:
    """Yield names for completion, each with its meaning."""
    return ((_usual(cls), meaning(cls)) for cls in online_metrics())


def meaning(cls: type[OnlineMetric]) -> str:
    """Return the meaning of a metric in one line."""
    return doc_of(cls).splitlines()[0].rstrip(".")


def _usual(cls: type[OnlineMetric]) -> str:
    """Return the usual spelling: with its own columns for a metric of columns."""
    if cls.example:
        return cls.example
    return f"{cls.__name__}({', '.join(name.upper() for name in cls.of_columns)})" if cls.of_columns else str(cls())


def formula(cls: type[OnlineMetric]) -> str:
    """Return the numerator and the denominator; for a quantile, which has neither, its definition."""
    return f"{cls.above} / {cls.below}" if cls.below else cls.above


def direction(cls: type[OnlineMetric]) -> str:
    """Return the better direction, and the parameter that changes it."""
    return f"{DIRECTIONS[cls.better]}{', unless better= changes it' if 'better' in parameters(cls) else ''}"


def needs(cls: type[OnlineMetric]) -> list[str]:
    """The columns of a log that it needs."""
    return list(cls.needs)


def online_list() -> list[Block]:
    """Return all metrics, one line each."""
    facts = tuple((cls.__name__, meaning(cls)) for cls in online_metrics())
    return [Heading(TITLE), Facts(facts, max(len(name) for name, _ in facts))]


def _span(cls: type[OnlineMetric]) -> str:
    return words.in_table("…".join(map(words.amount, cls.range)))


def _in_full(cls: type[OnlineMetric]) -> list[Block]:
    """All there is to know about one."""
    from rankscope.impressions import COLUMNS

    text = meaning(cls)
    text = text if text[1:2].isupper() else text[:1].lower() + text[1:]
    columns = [f"{name} ({COLUMNS[name].about})" for name in cls.needs]
    traits = (
        f"of each {cls.unit}",
        direction(cls),
        f"range {_span(cls)}",
        *(["counts only units that were observed for long enough"] if cls.windowed else []),
    )
    facts = {
        "formula": formula(cls),
        "columns": words.listing(columns or cls.of_columns, most=9),
        "watch out": cls.watch,
        "best for": cls.best_for,
        "traits": " · ".join(traits),
        "source": cls.source,
        "also called": ", ".join(cls.aliases),
    }
    blocks: list[Block] = [
        Heading(f"{cls.__name__}: {text}"),
        EMPTY,
        Facts(tuple((name, said) for name, said in facts.items() if said)),
    ]
    if parameters(cls):
        blocks += [EMPTY, Heading("Parameters"), Facts(tuple(_parameters(cls)))]
    spelling = _usual(cls)
    asked = f'"{spelling}"' if "(" in spelling else spelling
    step = by_caller(f"rankscope online log.csv -m {asked}", f'rs.online("log.csv", "{spelling}")')
    return [*blocks, EMPTY, Paragraph(f"next: {step}", quiet=True)]


def _parameters(cls: type[OnlineMetric]) -> Iterator[tuple[str, str]]:
    needed = required_parameters(cls)
    for name, (_, param) in sorted(parameters(cls).items(), key=lambda item: item[0] not in needed):
        parts = [param.about, *([param.bounds] if param.bounds != "at least -inf" else [])]
        parts += ["must be given"] if name in needed else []
        parts += [f"written {cls.__name__}@7"] if name == cls.at else []
        yield name if name in needed else f"{name}={plain(cls.defaults[name])}", "; ".join(parts)


def _parameter_record(cls: type[OnlineMetric], name: str) -> dict[str, Any]:
    needed = name in required_parameters(cls)
    return {
        "name": name,
        "about": parameters(cls)[name][1].about,
        "required": needed,
        "default": None if needed else cls.defaults[name],
    }


COLUMNS_OF_VIEW = (
    Col("name", of=lambda cls: cls.__name__, head="metric"),
    Col("family", of=lambda _: FAMILY),
    Col("rewards", of=meaning),
    Col("formula", of=formula, head="formula", wraps=True),
    Col("needs", of=needs, head="columns", cell=lambda cls: ", ".join(needs(cls)), wraps=True),
    Col("unit", head="of each"),
    Col("better", head="better"),
    Col("range", of=lambda cls: [words.finite(end) for end in cls.range], head="range", cell=_span),
    Col("windowed"),
    Col("watch"),
    Col("best_for"),
    Col("parameters", of=lambda cls: [_parameter_record(cls, name) for name in parameters(cls)]),
    Col("source"),
    Col("aliases", of=lambda cls: list(cls.aliases)),
)  # fmt: skip
VIEW = View("metrics", COLUMNS_OF_VIEW, lambda catalogue: catalogue.metrics)


@dataclass(frozen=True, eq=False, repr=False)
class OnlineCatalogue(Result):
    """Explanations of online metrics: all, or some by their names."""

    metrics: tuple[type[OnlineMetric], ...]
    name: str = ""

    schema = "metrics/1"
    formats = ("table", "json", "jsonl", "csv", "markdown")
    views = (VIEW,)

    def json_document(self, **_: Any) -> dict[str, Any]:
        """The metrics for other programs, under ``metrics``."""
        found = super().json_document()
        return {"schema": found["schema"], "rankscope": found["rankscope"], "metrics": found["results"]}

    def blocks(self, *, traits: bool = False, **_: Any) -> list[Block | Chart]:
        """Return metrics in full, all of them one line each, or with ``traits`` a table that compares them."""
        if traits:
            return [self.table()]
        if self.name == FAMILY:
            step = by_caller("rankscope metrics CTR", 'rs.catalogue("CTR")')
            return [*online_list(), EMPTY, Paragraph(f"next: {step} explains one", quiet=True)]
        return [block for i, cls in enumerate(self.metrics) for block in [*([EMPTY] if i else []), *_in_full(cls)]]
