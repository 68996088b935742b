"""The metrics there are, told from their declarations: a list, a table of traits, one in full."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from rankscope.blocks import EMPTY, Block, Code, Column, Facts, Heading, Paragraph, Table
from rankscope.declared import Table as Written
from rankscope.declared import family, parameters, plain, required
from rankscope.errors import InputError
from rankscope.metrics import DEFAULT, NICKNAMES, Example, Metric, families, parse, parse_many


def metric_called(name: str) -> type[Metric]:
    """The metric of a name, an alias or any spelling such as ``ndcg_cut_10``; or an error that offers the nearest."""
    try:
        return family(Metric, name, name)  # type: ignore[no-any-return]
    except InputError:
        try:
            return type(parse_many(name)[0][1])
        except InputError as error:
            raise error from None


def set_called(name: str) -> list[tuple[str, Metric]]:
    """The metrics of a set such as ``official``, each with the name that the set has for it; none for other names."""
    return parse_many(name) if name in NICKNAMES else []


def rewards(cls: type[Metric]) -> str:
    """What a metric rewards, in one sentence."""
    return _one_line(inspect.getdoc(cls) or "")


def everything() -> list[type[Metric]]:
    """Every metric, each once, by family."""
    return [cls for group in families().values() for cls in group]


def usual(cls: type[Metric]) -> Metric:
    """A metric as it is mostly asked for: without parameters, or as in its first example where it needs some."""
    needed = required(cls)
    if not needed:
        return cls()
    if needed == ["cutoff"]:
        return cls(cutoff=10)  # type: ignore[call-arg]
    return parse(cls.examples[0].metric)


def spellings(cutoffs: Sequence[int]) -> Iterator[tuple[str, str]]:
    """Names to offer to someone who types, each with what it rewards."""
    for group in families().values():
        for cls in group:
            if not cutoffs or "cutoff" not in required(cls):
                yield cls.__name__, rewards(cls)
            if cutoffs and "cutoff" in parameters(cls):
                yield from ((f"{cls.__name__}@{k}", rewards(cls)) for k in cutoffs)
    if cutoffs:
        yield from ((name, "trec_eval's set of this name") for name in NICKNAMES)


# --- as blocks -----------------------------------------------------------------------------------


def listed() -> list[Block]:
    """Every metric by family, one line each."""
    blocks: list[Block] = []
    room = max(len(cls.__name__) for cls in everything())
    for family_name, group in families().items():
        blocks += [
            Heading(_title(family_name)),
            Facts(tuple((cls.__name__, rewards(cls)) for cls in group), room),
            EMPTY,
        ]
    return [
        *blocks,
        Paragraph(
            f"Without -m, evaluate computes {', '.join(DEFAULT)}. Sets: {', '.join(NICKNAMES)}.", quiet=True
        ),
        Paragraph(
            "next: rankscope metrics ERR tells one in full · rankscope metrics --table compares them",
            quiet=True,
        ),
    ]


def members(name: str) -> list[Block]:
    """The metrics of a set, one line each: the name in the set and the spelling here."""
    found = set_called(name)
    return [
        Heading(f"{name}: trec_eval's set of {len(found)} metrics"),
        EMPTY,
        Facts(tuple((asked, str(metric)) for asked, metric in found), max(len(asked) for asked, _ in found)),
        EMPTY,
        Paragraph(f"next: rankscope evaluate qrels.txt my.run -m {name}", quiet=True),
    ]


def traits() -> list[Block]:
    """What sets the metrics apart, one row each."""
    names = ("metric", "grades", "order", "counts", "better", "range", "best for")
    better = {"higher": "high", "lower": "low", "neither": "-"}
    columns = tuple(Column(name, wraps=name == "best for") for name in names)
    rows = []
    for group in families().values():
        for cls in group:
            m = usual(cls)
            rows.append(
                (
                    cls.__name__,
                    m.relevance,
                    "yes" if m.positions else "no",
                    m.counts,
                    better[m.better],
                    _span(m.range),
                    m.best_for,
                )
            )
    return [Table(columns, tuple(rows))]


def in_full(cls: type[Metric]) -> list[Block]:
    """All there is to know about one metric."""
    m = usual(cls)
    seen = (
        "sees the order"
        if m.positions
        else "blind to the order within the top k"
        if "cutoff" in parameters(cls)
        else "blind to the order"
    )
    graded = {"binary": "relevant or not", "graded": "graded relevance", "none": "needs no relevance"}[
        m.relevance
    ]
    better = {
        "higher": "higher is better",
        "lower": "lower is better",
        "neither": "neither high nor low is better",
    }[m.better]
    counted = "counts the first relevant document" if m.counts == "one" else "counts every document"
    facts = [("formula", cls.formula), ("convention", cls.convention), ("best for", cls.best_for)]
    facts += [
        ("traits", " · ".join([graded, seen, counted, better, f"range {_span(m.range)}", _over_queries(m)]))
    ]
    facts += [
        ("empty list", _empty(m)),
        ("trec_eval", ", ".join(trec_names(cls))),
        ("source", cls.source),
        ("also called", ", ".join(cls.aliases)),
    ]
    blocks: list[Block] = [
        Heading(f"{cls.__name__}: {_lower(rewards(cls))}"),
        EMPTY,
        Facts(tuple(f for f in facts if f[1])),
    ]
    if parameters(cls):
        blocks += [EMPTY, Heading("Parameters"), Facts(tuple(_parameters(cls)))]
    if cls.examples:
        blocks += [
            EMPTY,
            Heading("Worked example" if len(cls.examples) == 1 else "Worked examples"),
            Code(tuple(_worked(cls))),
        ]
    return [
        *blocks,
        EMPTY,
        Paragraph(f"next: rankscope evaluate qrels.txt my.run -m {_quoted(str(m))}", quiet=True),
    ]


def _quoted(text: str) -> str:
    return f'"{text}"' if any(sign in text for sign in "()'* ") else text


def _parameters(cls: type[Metric]) -> Iterator[tuple[str, str]]:
    needed = required(cls)
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
    """The words and kinds that a parameter takes, where its meaning does not say so."""
    hint = parameters(cls)[name][0]
    kinds = get_args(hint) if isinstance(hint, UnionType) or get_origin(hint) is Union else (hint,)
    words = [repr(value) for kind in kinds if get_origin(kind) is Literal for value in get_args(kind)]
    other = {
        int: "a whole number",
        float: "a number",
        bool: "True or False",
        Written: "a table",
        NoneType: "None",
    }
    if not words:
        return ""
    return " or ".join(
        [
            ", ".join(words),
            *(other.get(kind, "") for kind in kinds if get_origin(kind) is not Literal and kind in other),
        ]
    )


def default_of(cls: type[Metric], name: str) -> Any:
    """The default of a parameter."""
    return next(f.default for f in fields(cls) if f.name == name)


def _worked(cls: type[Metric]) -> Iterator[str]:
    """The examples as arithmetic, with what it comes to."""
    for example in cls.examples:
        grades = " ".join(map(_graded, example.grades))
        more = "".join(f", {name} {value}" for name, value in (example.more or {}).items())
        yield f"{example.metric} of grades {grades}{more}"
        yield f"  = {example.value}"
        yield f"  = {value_of(example):.4f}"


def _graded(grade: Any) -> str:
    """A grade, or the grades by subtopic or judge."""
    if isinstance(grade, Mapping):
        same = set(grade.values()) == {1}
        return (
            "{" + " ".join(str(name) if same else f"{name}={value:g}" for name, value in grade.items()) + "}"
        )
    return "?" if grade is None else f"{grade:g}"


def value_of(example: Example) -> float:
    """What a worked example comes to; the laws say that its arithmetic agrees."""
    return float(parse(example.metric).of(list(example.grades), **(example.more or {})))


def _over_queries(m: Metric) -> str:
    return {
        "mean": "mean over queries",
        "sum": "sum over queries",
        "geometric": "geometric mean over queries",
        "weighted": "weighted mean over queries",
        "pooled": "one value over all queries together",
    }[m.aggregate]


def _empty(m: Metric) -> str:
    if m.empty is None:
        return "undefined: left out of the mean, and counted"
    if m.empty == "judgments":
        return "as the judgments say, whatever is returned"
    if m.empty == "varies":
        return "depends on the query"
    return f"scores {m.empty:g}"


def trec_names(cls: type[Metric]) -> list[str]:
    """The names that trec_eval has for it."""
    return [spec.name for spec in cls.__dict__.get("trec", ())]


def _span(bounds: tuple[float, float]) -> str:
    low, high = (
        "∞" if value == math.inf else "-∞" if value == -math.inf else f"{value:.3g}" for value in bounds
    )
    return f"{low}…{high}"


def _title(family_name: str) -> str:
    """What a family is, by the first line of its module."""
    return _one_line(sys.modules[f"rankscope.metrics.{family_name}"].__doc__ or family_name).split(". ")[0]


def _one_line(text: str) -> str:
    return text.strip().split("\n\n")[0].replace("\n", " ").rstrip(".")


def _lower(text: str) -> str:
    """The first letter small, unless it begins an abbreviation."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
