"""The catalogue of metrics, from their declarations: a list, a table of traits, one in full."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from rankscope import words
from rankscope.blocks import EMPTY, Block, Chart, Code, Facts, Heading, Paragraph
from rankscope.declared import Lookup, parameters, plain, required_parameters
from rankscope.metrics import DEFAULT, NICKNAMES, Example, Metric, describe_family, families, family_of, parse
from rankscope.metrics.description import DIRECTIONS, rewards, unfit_for
from rankscope.show.result import Col, Result, View
from rankscope.syntax import by_caller
from rankscope.verbs.catalogue.online import OnlineCatalogue, online_list, online_metrics

BETTER = {"higher": "high", "lower": "low", "neither": "-"}
KINDS = {int: "a whole number", float: "a number", bool: "True or False", Lookup: "a table", NoneType: "None"}
OVER_QUERIES = {
    "mean": "mean over queries",
    "sum": "sum over queries",
    "geometric": "geometric mean over queries",
    "weighted": "weighted mean over queries",
    "pooled": "one value over all queries together",
}
COLUMNS = (
    "order: no if only the documents in the top k matter, not their order; metrics of pairs, "
    "such as AUC, see only the order, not how far apart scores are · counts: one if the first relevant document settles the value"
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
    if needed == ["cutoff"]:
        return cls(cutoff=10)
    return parse(cls.examples[0].metric)


# --- for people ---


def _list(groups: Mapping[str, Sequence[type[Metric]]]) -> list[Block]:
    """The metrics of families, one line each."""
    blocks: list[Block] = []
    room = max(len(cls.__name__) for group in groups.values() for cls in group)
    for name, group in groups.items():
        title = describe_family(name)
        blocks += [Heading(title), Facts(tuple((cls.__name__, rewards(cls)) for cls in group), room), EMPTY]
    if len(groups) == 1:
        step = by_caller(f"rankscope metrics --table {name}", f'rs.catalogue("{name}").to_polars()')
        return [*blocks, Paragraph(f"next: {step} compares them", quiet=True)]
    blocks += [*online_list(), EMPTY]
    usually = f"Without -m, evaluate computes {', '.join(DEFAULT)}. Sets: {', '.join(NICKNAMES)}."
    step = by_caller(
        "rankscope metrics ERR explains one · rankscope metrics --table compares them",
        'rs.catalogue("ERR") tells one in full · rs.catalogue().to_polars() compares them',
    )
    return [*blocks, Paragraph(usually, quiet=True), Paragraph(f"next: {step}", quiet=True)]


def _set(name: str, metrics: Sequence[tuple[str, Metric]]) -> list[Block]:
    """The metrics of a set, one line each: the name in the set and the spelling here."""
    facts = Facts(tuple((own, str(metric)) for own, metric in metrics), max(len(own) for own, _ in metrics))
    command, call = f"rankscope evaluate qrels.txt my.run -m {name}", f'rs.evaluate(qrels, run, "{name}")'
    step = Paragraph(f"next: {by_caller(command, call)}", quiet=True)
    return [Heading(f"{name}: trec_eval's set of {len(metrics)} metrics"), EMPTY, facts, EMPTY, step]


def _in_full(cls: type[Metric]) -> list[Block]:
    """All there is to know about one metric."""
    m = usual(cls)
    blind = "blind to the order within the top k" if "cutoff" in parameters(cls) else "blind to the order"
    traits = (
        GRADES[m.relevance],
        "sees the order" if m.positions else blind,
        "counts the first relevant document" if m.counts == "one" else "counts every document",
        DIRECTIONS[m.better],
        f"range {_span(m.range)}",
        OVER_QUERIES[m.aggregate],
    )
    facts = {
        "formula": cls.formula,
        "watch out": cls.convention,
        "best for": cls.best_for,
        "not for": unfit_for(m),
        "traits": " · ".join(traits),
        "empty list": _empty(m),
        "trec_eval": ", ".join(trec_names(cls)),
        "source": cls.source,
        "also called": ", ".join(cls.aliases),
    }
    # the sentence goes on after the name: its first letter is small, unless it begins an abbreviation
    meaning = rewards(cls)
    meaning = meaning if meaning[1:2].isupper() else meaning[:1].lower() + meaning[1:]
    shown = Facts(tuple((name, text) for name, text in facts.items() if text))
    blocks: list[Block] = [Heading(f"{cls.__name__}: {meaning}"), EMPTY, shown]
    if parameters(cls):
        blocks += [EMPTY, Heading("Parameters"), Facts(tuple(_parameters(cls)))]
    if cls.examples:
        title = "Worked example" if len(cls.examples) == 1 else "Worked examples"
        blocks += [EMPTY, Heading(title), Code(tuple(_example_lines(cls)))]
    spelling = f'"{m}"' if any(sign in str(m) for sign in "()'* ") else str(m)
    step = by_caller(f"rankscope evaluate qrels.txt my.run -m {spelling}", f'rs.evaluate(qrels, run, "{spelling}")')
    return [*blocks, EMPTY, Paragraph(f"next: {step}", quiet=True)]


def _parameters(cls: type[Metric]) -> Iterator[tuple[str, str]]:
    needed = required_parameters(cls)
    for name, (_, param) in parameters(cls).items():
        parts = [param.about, takes(cls, name)]
        parts += [param.bounds] if param.bounds != "at least -inf" else []
        parts += ["must be given"] if name in needed else []
        parts += [f"written {cls.__name__}@{10 if name == 'cutoff' else 0.5}"] if name == cls.at else []
        parts += [f"also {', '.join(param.also)}"] if param.also else []
        yield (
            name if name in needed else f"{name}={plain(default_of(cls, name))}",
            "; ".join(part for part in parts if part),
        )


def takes(cls: type[Metric], name: str) -> str:
    """Return the words and types that a parameter takes, if its meaning does not list them."""
    hint = parameters(cls)[name][0]
    kinds = get_args(hint) if isinstance(hint, UnionType) or get_origin(hint) is Union else (hint,)
    choices = [repr(value) for kind in kinds if get_origin(kind) is Literal for value in get_args(kind)]
    return " or ".join([", ".join(choices), *(KINDS[kind] for kind in kinds if kind in KINDS)]) if choices else ""


def default_of(cls: type[Metric], name: str) -> Any:
    """The default of a parameter."""
    return next(f.default for f in fields(cls) if f.name == name)


def _example_lines(cls: type[Metric]) -> Iterator[str]:
    """Return the examples as arithmetic, with their values."""
    for example in cls.examples:
        yield f"{example.metric} of grades {grades_of(example)}"
        yield f"  = {example.value}"
        yield f"  = {words.number(value_of(example), digits=4)}"


def grades_of(example: Example) -> str:
    """Return the grades of a worked example, best rank first, and its other inputs."""
    more = "".join(f", {name} {value}" for name, value in (example.more or {}).items())
    return " ".join(map(_grade_in_words, example.grades)) + more


def _grade_in_words(grade: Any) -> str:
    """A grade, or the grades by subtopic or judge."""
    if isinstance(grade, Mapping):
        same = set(grade.values()) == {1}
        return (
            "{"
            + " ".join(str(name) if same else f"{name}={words.amount(value)}" for name, value in grade.items())
            + "}"
        )
    return "?" if grade is None else words.amount(grade)


def value_of(example: Example) -> float:
    """Return the value of a worked example; a law checks its arithmetic."""
    return float(parse(example.metric).of(list(example.grades), **(example.more or {})))


def _empty(m: Metric) -> str:
    if isinstance(m.empty, str):
        return {"judgments": "by the judgments, for any ranking", "varies": "depends on the query"}[m.empty]
    return "undefined: left out of the mean, and counted" if m.empty is None else f"scores {words.amount(m.empty)}"


def trec_names(cls: type[Metric]) -> list[str]:
    """The names that trec_eval has for it."""
    return [spec.name for spec in cls.__dict__.get("trec", ())]


def _span(bounds: tuple[float, float]) -> str:
    return words.in_table("…".join(map(words.amount, bounds)))


# --- for programs ---


def _example_record(example: Example) -> dict[str, Any]:
    return {
        "metric": example.metric,
        "grades": list(example.grades),
        **(example.more or {}),
        "arithmetic": example.value,
        "value": value_of(example),
    }


def _parameter_record(cls: type[Metric], name: str) -> dict[str, Any]:
    param = parameters(cls)[name][1]
    needed = name in required_parameters(cls)
    low = param.above if param.above > -math.inf else param.low
    return {
        "name": name,
        "about": param.about,
        "takes": takes(cls, name),
        "required": needed,
        "default": None if needed else default_of(cls, name),
        "low": low if math.isfinite(low) else None,
        "low_excluded": param.above > -math.inf,
        "high": param.high if math.isfinite(param.high) else None,
        "aliases": list(param.also),
    }


@dataclass(frozen=True, eq=False, repr=False)
class Catalogue(Result):
    """Explanations of metrics: all, a set or a family, or some by their names.

    ``name`` is the name of a set or a family, empty for all; ``members`` are the metrics of a set like ``official``, each with its name in the set.
    """

    metrics: tuple[type[Metric], ...]
    name: str = ""
    members: tuple[tuple[str, Metric], ...] = ()

    schema = "metrics/1"
    formats = ("table", "json", "jsonl", "csv", "markdown")
    views = (
        View(
            "metrics",
            (
                Col("name", of=lambda cls: cls.__name__, head="metric"),
                Col("family", of=family_of),
                Col("rewards", of=rewards),
                Col("formula"),
                Col("convention"),
                Col("relevance", of=lambda cls: usual(cls).relevance, head="grades"),
                Col("positions", of=lambda cls: usual(cls).positions, head="order", cell=lambda cls: "yes" if usual(cls).positions else "no"),
                Col("counts", of=lambda cls: usual(cls).counts, head="counts"),
                Col("better", of=lambda cls: usual(cls).better, head="better", cell=lambda cls: BETTER[usual(cls).better]),
                Col("range", of=lambda cls: [words.finite(end) for end in usual(cls).range], head="range", cell=lambda cls: _span(usual(cls).range)),
                Col("best_for", head="best for", wraps=True),
                Col("not_for", of=lambda cls: unfit_for(usual(cls))),
                Col("aggregate", of=lambda cls: usual(cls).aggregate),
                Col("empty", of=lambda cls: usual(cls).empty),
                Col("parameters", of=lambda cls: [_parameter_record(cls, name) for name in parameters(cls)]),
                Col("examples", of=lambda cls: [_example_record(example) for example in cls.examples]),
                Col("trec_eval", of=trec_names),
                Col("source"),
                Col("aliases", of=lambda cls: list(cls.aliases)),
            ),
            lambda catalogue: catalogue.metrics,
        ),
        View(
            "formulas",
            (
                Col("name", of=lambda cls: cls.__name__, head="metric"),
                Col("formula", head="formula", wraps=True),
                Col("not_for", of=lambda cls: unfit_for(usual(cls)), head="not for", wraps=True),
            ),
            lambda catalogue: catalogue.metrics,
        ),
    )  # fmt: skip

    def json_document(self, **_: Any) -> dict[str, Any]:
        """Return the metrics for other programs, under ``metrics``; with all, online metrics under ``online_metrics``."""
        found = super().json_document()
        whole = {"schema": found["schema"], "rankscope": found["rankscope"], "metrics": found["results"]}
        if self.name:
            return whole
        return {**whole, "online_metrics": OnlineCatalogue(tuple(online_metrics())).to_dicts()}

    def blocks(self, *, traits: bool = False, **_: Any) -> list[Block | Chart]:
        """Return metrics in full, a set or a family one line each, or with ``traits`` tables that compare them."""
        if traits:
            return [self.table(), Paragraph(COLUMNS, quiet=True), EMPTY, self.table("formulas")]
        if self.members:
            return list(_set(self.name, self.members))
        if not self.name:
            return list(_list(families()))
        if (group := families().get(self.name)) == list(self.metrics):
            return list(_list({self.name: group}))
        return [block for i, cls in enumerate(self.metrics) for block in [*([EMPTY] if i else []), *_in_full(cls)]]
