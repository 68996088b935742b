"""The catalogues of metrics, offline and online, from their declarations: a list, a table of traits, one in full."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from rankscope import words
from rankscope.blocks import EMPTY, Block, Chart, Code, Facts, Heading, Paragraph
from rankscope.declared import Lookup, doc_of, parameters, plain, required_parameters
from rankscope.errors import InputError
from rankscope.metrics import DEFAULT, NICKNAMES, Example, Metric, describe_family, families, family_of, parse
from rankscope.metrics.description import DIRECTIONS, rewards, unfit_for
from rankscope.show.result import Col, Result, View
from rankscope.words import by_caller

if TYPE_CHECKING:
    from rankscope.logs.base import OnlineMetric

FAMILY = "online"
CLOSE = 0.75  # least similarity of a name to an online metric that is suggested


def online_metrics() -> list[type[OnlineMetric]]:
    """Return every online metric of the package, each once, then metrics of other packages."""
    from rankscope.logs import metrics as declared
    from rankscope.logs.base import OnlineMetric

    known = list(dict.fromkeys(OnlineMetric.catalogue.values()))
    return sorted(known, key=lambda cls: cls.__module__ != declared.__name__)


def find_online(name: str) -> list[type[OnlineMetric]]:
    """Return the online metrics of a name or spelling: one, all for ``online``, or an empty list. Raises InputError if the name is similar to one."""
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


ONLINE = "Online: user behaviour, from a log of impressions (rankscope online)"
BETTER = {"higher": "high", "lower": "low", "neither": "-"}
KINDS = {int: "a whole number", float: "a number", bool: "True or False", Lookup: "a table", NoneType: "None"}
OVER_QUERIES = {
    "mean": "mean over queries", "sum": "sum over queries", "geometric": "geometric mean over queries",
    "weighted": "weighted mean over queries", "pooled": "one value over all queries together",
}  # fmt: skip
COLUMNS = (
    "order: no if only the documents in the top k matter, not their order. Metrics of pairs, "
    "such as AUC, see only the order, not score differences · counts: one if the first relevant document settles the value"
)
GRADES = {"binary": "relevant or not", "graded": "graded relevance", "none": "needs no relevance"}


def all_metrics() -> list[type[Metric]]:
    """Every metric, each once, by family."""
    return [cls for group in families().values() for cls in group]


def usual(cls: type[Metric]) -> Metric:
    """Return the usual spelling of a metric: without parameters, or as in its first example if it needs some."""
    needed = required_parameters(cls)
    if not needed:
        return cls()
    return cls(cutoff=10) if needed == ["cutoff"] else parse(cls.examples[0].metric)


def _next(command: str, call: str, then: str = "") -> Paragraph:
    return Paragraph(f"next: {by_caller(command, call)}{then}", quiet=True)


def _lines(title: str, facts: Sequence[tuple[str, str]], room: int = 0) -> list[Block]:
    return [Heading(title), Facts(tuple(facts), room or max(len(name) for name, _ in facts)), EMPTY]


def _list(groups: Mapping[str, Sequence[type[Metric]]]) -> list[Block]:
    room = max(len(cls.__name__) for group in groups.values() for cls in group)
    blocks = [
        block
        for name, group in groups.items()
        for block in _lines(describe_family(name), [(cls.__name__, rewards(cls)) for cls in group], room)
    ]
    if len(groups) == 1:
        (name,) = groups
        return [
            *blocks,
            _next(f"rankscope metrics --table {name}", f'rs.catalogue("{name}").to_polars()', " compares them"),
        ]
    usually = f"Without -m, evaluate computes {', '.join(DEFAULT)}. Sets: {', '.join(NICKNAMES)}."
    step = _next(
        "rankscope metrics ERR explains one · rankscope metrics --table compares them",
        'rs.catalogue("ERR") explains one in full · rs.catalogue().to_polars() compares them',
    )
    return [*blocks, *_online_list(), Paragraph(usually, quiet=True), step]


def _online_list() -> list[Block]:
    return _lines(ONLINE, [(cls.__name__, meaning(cls)) for cls in online_metrics()])


def _set(name: str, metrics: Sequence[tuple[str, Metric]]) -> list[Block]:
    facts = Facts(tuple((own, str(metric)) for own, metric in metrics), max(len(own) for own, _ in metrics))
    step = _next(f"rankscope evaluate qrels.txt my.run -m {name}", f'rs.evaluate(qrels, run, "{name}")')
    return [Heading(f"{name}: trec_eval's set of {len(metrics)} metrics"), EMPTY, facts, EMPTY, step]


def _explained(cls: Any, text: str, facts: Mapping[str, str], facts_of_parameters: Sequence[Any]) -> list[Block]:
    # the sentence goes on after the name: its first letter is small, unless it begins an abbreviation
    text = text if text[1:2].isupper() else text[:1].lower() + text[1:]
    shown = Facts(tuple((name, fact) for name, fact in facts.items() if fact))
    more: list[Block] = [EMPTY, Heading("Parameters"), Facts(tuple(facts_of_parameters))] if facts_of_parameters else []
    return [Heading(f"{cls.__name__}: {text}"), EMPTY, shown, *more]


def _in_full(cls: type[Metric]) -> list[Block]:
    m = usual(cls)
    blind = "blind to the order within the top k" if "cutoff" in parameters(cls) else "blind to the order"
    traits = (
        GRADES[m.relevance], "sees the order" if m.positions else blind,
        "counts the first relevant document" if m.counts == "one" else "counts every document", DIRECTIONS[m.better],
        f"range {_span(m)}", OVER_QUERIES[m.aggregate],
    )  # fmt: skip
    facts = {
        "formula": cls.formula, "watch out": cls.convention, "best for": cls.best_for, "not for": unfit_for(m),
        "traits": " · ".join(traits), "empty list": _empty(m), "trec_eval": ", ".join(trec_names(cls)),
        "source": cls.source, "also called": ", ".join(cls.aliases),
    }  # fmt: skip
    blocks = _explained(cls, rewards(cls), facts, [_parameter(cls, name) for name in parameters(cls)])
    if cls.examples:
        title = "Worked example" if len(cls.examples) == 1 else "Worked examples"
        blocks += [EMPTY, Heading(title), Code(tuple(_example_lines(cls)))]
    spelling = f'"{m}"' if any(sign in str(m) for sign in "()'* ") else str(m)
    step = _next(f"rankscope evaluate qrels.txt my.run -m {spelling}", f'rs.evaluate(qrels, run, "{spelling}")')
    return [*blocks, EMPTY, step]


def _online_in_full(cls: Any) -> list[Block]:
    from rankscope.impressions import COLUMNS

    columns = [f"{name} ({COLUMNS[name].about})" for name in cls.needs]
    traits = [f"of each {cls.unit}", direction(cls), f"range {_span(cls)}"]
    traits += ["counts only units that were observed for long enough"] if cls.windowed else []
    facts = {
        "formula": formula(cls), "columns": words.listing(columns or cls.of_columns, most=9), "watch out": cls.watch,
        "best for": cls.best_for, "traits": " · ".join(traits), "source": cls.source,
        "also called": ", ".join(cls.aliases),
    }  # fmt: skip
    needed = required_parameters(cls)
    names = sorted(parameters(cls), key=lambda name: name not in needed)
    spelling = usual_spelling(cls)
    quoted = '"' + spelling.replace('"', '\\"') + '"'
    step = _next(
        f"rankscope online log.csv -m {quoted if '(' in spelling else spelling}", f'rs.online("log.csv", {quoted})'
    )
    return [*_explained(cls, meaning(cls), facts, [_parameter(cls, name, 7) for name in names]), EMPTY, step]


def _parameter(cls: Any, name: str, at: float | None = None) -> tuple[str, str]:
    """Return a parameter with its default and its meaning. ``at`` is the value after the @ of an online metric."""
    param, needed = parameters(cls)[name][1], name in required_parameters(cls)
    parts = [param.about, takes(cls, name) if at is None else "", param.bounds.replace("at least -inf", "")]
    parts += ["must be given"] if needed else []
    parts += [f"written {cls.__name__}@{at or (10 if name == 'cutoff' else 0.5)}"] if name == cls.at else []
    parts += [f"also {', '.join(param.also)}"] if param.also else []
    return name if needed else f"{name}={plain(cls.defaults[name])}", "; ".join(filter(None, parts))


def takes(cls: type[Metric], name: str) -> str:
    """Return the words and types that a parameter takes, if its meaning does not list them."""
    hint = parameters(cls)[name][0]
    kinds = get_args(hint) if isinstance(hint, UnionType) or get_origin(hint) is Union else (hint,)
    choices = [repr(value) for kind in kinds if get_origin(kind) is Literal for value in get_args(kind)]
    return " or ".join([", ".join(choices), *(KINDS[kind] for kind in kinds if kind in KINDS)]) if choices else ""


def _example_lines(cls: type[Metric]) -> Iterator[str]:
    for example in cls.examples:
        ids = bool(example.grades) and isinstance(example.grades[0], str | list)
        yield f"{example.metric} of {'items' if ids else 'grades'} {grades_of(example)}"
        yield f"  = {example.value}"
        yield f"  = {words.number(value_of(example), digits=4)}"


def grades_of(example: Example) -> str:
    """Return the grades of a worked example, best rank first, and its other inputs."""
    more = "".join(f", {name} {value}" for name, value in (example.more or {}).items())
    return " ".join(map(_grade_in_words, example.grades)) + more


def _grade_in_words(grade: Any) -> str:
    if isinstance(grade, Mapping):
        same = set(grade.values()) == {1}
        parts = (str(name) if same else f"{name}={words.amount(value)}" for name, value in grade.items())
        return f"{{{' '.join(parts)}}}"
    if isinstance(grade, str | list):
        return grade if isinstance(grade, str) else f"({' '.join(grade)})"
    return "?" if grade is None else words.amount(grade)


def value_of(example: Example) -> float:
    """Return the value of a worked example. A law checks its arithmetic."""
    return float(parse(example.metric).of(list(example.grades), **(example.more or {})))


def _empty(m: Metric) -> str:
    if isinstance(m.empty, str):
        return {"judgments": "by the judgments, for any ranking", "varies": "depends on the query"}[m.empty]
    return "undefined: left out of the mean, and counted" if m.empty is None else f"scores {words.amount(m.empty)}"


def trec_names(cls: type[Metric]) -> list[str]:
    """Return the names of the metric in trec_eval."""
    return [spec.name for spec in cls.__dict__.get("trec", ())]


def _span(metric: Any) -> str:
    return words.in_table("…".join(map(words.amount, metric.range)))


def _example_record(example: Example) -> dict[str, Any]:
    return {
        "metric": example.metric, "grades": list(example.grades), **(example.more or {}), "arithmetic": example.value,
        "value": value_of(example),
    }  # fmt: skip


def _parameter_record(cls: Any, name: str) -> dict[str, Any]:
    needed = name in required_parameters(cls)
    default = None if needed else cls.defaults[name]
    return {"name": name, "about": parameters(cls)[name][1].about, "required": needed, "default": default}


def _full_parameter_record(cls: type[Metric], name: str) -> dict[str, Any]:
    param, known = parameters(cls)[name][1], _parameter_record(cls, name)
    return {
        "name": name, "about": known["about"], "takes": takes(cls, name), "required": known["required"],
        "default": known["default"], "low": words.finite(max(param.above, param.low)),
        "low_excluded": param.above > -math.inf, "high": words.finite(param.high), "aliases": list(param.also),
    }  # fmt: skip


NAME = Col("name", of=lambda cls: cls.__name__, head="metric")
ALIASES = Col("aliases", of=lambda cls: list(cls.aliases))


@dataclass(frozen=True, eq=False, repr=False)
class _Explained(Result):
    """The base of both catalogues: explanations of ``metrics``, all of a ``name`` or some by their names."""

    metrics: tuple[Any, ...]
    name: str = ""

    schema = "metrics/1"
    formats = ("table", "json", "jsonl", "csv", "markdown")

    def json_document(self, **_: Any) -> dict[str, Any]:
        """Return the metrics for other programs, under ``metrics``."""
        document = super().json_document()
        return {"schema": document["schema"], "rankscope": document["rankscope"], "metrics": document["results"]}

    def _all_in_full(self) -> list[Block | Chart]:
        explained = _in_full if isinstance(self, Catalogue) else _online_in_full
        blocks: Iterator[Block | Chart] = (block for cls in self.metrics for block in (EMPTY, *explained(cls)))
        return list(blocks)[1:]


class OnlineCatalogue(_Explained):
    """Explanations of online metrics: all, or some by their names."""

    views = (
        View(
            "metrics",
            (
                NAME, Col("family", of=lambda _: FAMILY), Col("rewards", of=meaning),
                Col("formula", of=formula, head="formula", wraps=True),
                Col("needs", of=lambda cls: list(cls.needs), head="columns", cell=lambda cls: ", ".join(cls.needs), wraps=True),
                Col("unit", head="of each"), Col("better", head="better"),
                Col("range", of=lambda cls: [words.finite(end) for end in cls.range], head="range", cell=_span),
                Col("windowed"), Col("watch"), Col("best_for"),
                Col("parameters", of=lambda cls: [_parameter_record(cls, name) for name in parameters(cls)]),
                Col("source"), ALIASES,
            ),
            lambda catalogue: catalogue.metrics,
        ),
    )  # fmt: skip

    def blocks(self, *, traits: bool = False, **_: Any) -> list[Block | Chart]:
        """Return metrics in full, all of them one line each, or with ``traits`` a table that compares them."""
        if traits:
            return [self.table()]
        if self.name == FAMILY:
            return [*_online_list(), _next("rankscope metrics CTR", 'rs.catalogue("CTR")', " explains one")]
        return self._all_in_full()


@dataclass(frozen=True, eq=False, repr=False)
class Catalogue(_Explained):
    """Explanations of metrics: all, a set or a family, or some by their names.

    ``name`` is the name of a set or a family, empty for all; ``members`` are the metrics of a set like ``official``, each with its name in the set.
    """

    members: tuple[tuple[str, Metric], ...] = ()

    views = (
        View(
            "metrics",
            (
                NAME,
                Col("family", of=family_of),
                Col("rewards", of=rewards),
                Col("formula"),
                Col("convention"),
                Col("relevance", of=lambda cls: usual(cls).relevance, head="grades"),
                Col("positions", of=lambda cls: usual(cls).positions, head="order", cell=lambda cls: "yes" if usual(cls).positions else "no"),
                Col("counts", of=lambda cls: usual(cls).counts, head="counts"),
                Col("better", of=lambda cls: usual(cls).better, head="better", cell=lambda cls: BETTER[usual(cls).better]),
                Col("range", of=lambda cls: [words.finite(end) for end in usual(cls).range], head="range", cell=lambda cls: _span(usual(cls))),
                Col("best_for", head="best for", wraps=True),
                Col("not_for", of=lambda cls: unfit_for(usual(cls))),
                Col("aggregate", of=lambda cls: usual(cls).aggregate),
                Col("empty", of=lambda cls: usual(cls).empty),
                Col("parameters", of=lambda cls: [_full_parameter_record(cls, name) for name in parameters(cls)]),
                Col("examples", of=lambda cls: [_example_record(example) for example in cls.examples]),
                Col("trec_eval", of=trec_names),
                Col("source"),
                ALIASES,
            ),
            lambda catalogue: catalogue.metrics,
        ),
        View(
            "formulas",
            (
                NAME,
                Col("formula", head="formula", wraps=True),
                Col("not_for", of=lambda cls: unfit_for(usual(cls)), head="not for", wraps=True),
            ),
            lambda catalogue: catalogue.metrics,
        ),
    )  # fmt: skip

    def json_document(self, **_: Any) -> dict[str, Any]:
        """Return the metrics under ``metrics``, and with all of them online metrics under ``online_metrics``."""
        whole = super().json_document()
        return whole if self.name else {**whole, "online_metrics": OnlineCatalogue(tuple(online_metrics())).to_dicts()}

    def blocks(self, *, traits: bool = False, **_: Any) -> list[Block | Chart]:
        """Return metrics in full, a set or a family one line each, or with ``traits`` tables that compare them."""
        if traits:
            return [self.table(), Paragraph(COLUMNS, quiet=True), EMPTY, self.table("formulas")]
        if self.members:
            return list(_set(self.name, self.members))
        known = families()
        if not self.name or known.get(self.name) == list(self.metrics):
            return list(_list({self.name: known[self.name]} if self.name else known))
        return self._all_in_full()
