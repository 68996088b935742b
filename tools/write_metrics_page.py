"""Write docs/metrics.md from the catalogue: every metric, as its class declares it.

Run without arguments; ``tests/house/test_catalogue.py`` fails where the page is out of date.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from rankscope.declared import Lookup, Param, parameters, plain, required_parameters
from rankscope.impressions import COLUMNS
from rankscope.logs.base import OnlineMetric
from rankscope.metrics import Example, Metric, families, parse
from rankscope.metrics.description import unfit_for
from rankscope.testing import variants, worked_out
from rankscope.verbs.catalogue.result import direction, formula, online_metrics

PAGE = Path(__file__).resolve().parents[1] / "docs" / "metrics.md"

HEAD = """\
# Metrics

Every metric that rankscope knows, by family. This page is written from the classes themselves
(`make docs`); `rankscope metrics NAME` prints one entry. A metric is spelled `NAME(parameter=value)@k`,
the same in Python, on the command line and in reports; names are read whatever their case, and
trec_eval's own names are understood. In the worked examples `None` is an unjudged document.

Unless an entry says otherwise, values of queries are averaged, an empty ranking scores 0, and moving a
better document above a worse one never hurts.
"""

ONLINE = """\
## Online

What users did, from a log of what they were shown: [online](online.md) tells how. Each is a ratio of two sums over all
units, in which a unit is a user where the log names users; the interval is that of the delta method at the unit.
"""


def page() -> str:
    """The whole page."""
    found = {name: classes for name, classes in families().items() if classes[0].__module__.startswith("rankscope.")}
    parts = [HEAD]
    for name, classes in found.items():
        room = inspect.getmodule(classes[0])
        parts.append(f"## {name.capitalize()}\n\n{first_line(room)}\n")
        parts += ["\n".join(entry(cls)) + "\n" for cls in classes]
    parts.append(ONLINE)
    parts += [
        "\n".join(online_entry(cls)) + "\n" for cls in online_metrics() if cls.__module__.startswith("rankscope.")
    ]
    return "\n".join(parts)


def first_line(of: Any) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(of) or "").partition("\n")[0]


def entry(cls: type[Metric]) -> Iterator[str]:
    """One metric."""
    usual = parse(cls.examples[0].metric)
    yield f"### {cls.__name__}\n"
    yield f"{first_line(cls)}\n"
    yield f"- **Formula**: {cls.formula}"
    if cls.convention:
        yield f"- **Watch out for**: {cls.convention}"
    yield f"- **Best for**: {cls.best_for}"
    if unfit := unfit_for(usual):
        yield f"- **Not for**: {unfit}"
    yield f"- **Traits**: {traits(usual)}"
    if cls.aliases:
        yield f"- **Also called**: {', '.join(f'`{name}`' for name in cls.aliases)}"
    if names := [f"`{spec.name}`" for spec in cls.__dict__.get("trec", ())]:
        yield f"- **In trec_eval**: {', '.join(names)}"
    for example in cls.examples:
        yield f"- **Example**: {worked(example)}"
    if falling := settings(cls, lambda metric: not metric.monotone and metric.better != "neither"):
        yield f"- **A better document moved up may hurt**: under {falling}"
    if below := settings(cls, lambda metric: metric.looks_below):
        yield f"- **Documents below the cutoff have a say**: under {below}"
    yield f"- **Source**: {cls.source}"
    if parameters(cls):
        yield "\n| parameter | values | default | meaning |"
        yield "|---|---|---|---|"
        for name, (hint, param) in parameters(cls).items():
            yield "| " + " | ".join(cell(text) for text in row(cls, name, hint, param)) + " |"


def online_entry(cls: type[OnlineMetric]) -> Iterator[str]:
    """One online metric."""
    yield f"### {cls.__name__}\n"
    yield f"{first_line(cls)}\n"
    yield f"- **Formula**: {formula(cls)}"
    columns = [f"`{name}` ({COLUMNS[name].about})" for name in cls.needs] or [
        f"any, as `{name}`" for name in cls.of_columns
    ]
    if columns:
        yield f"- **Columns**: {', '.join(columns)}"
    if cls.watch:
        yield f"- **Watch out for**: {cls.watch}"
    if cls.best_for:
        yield f"- **Best for**: {cls.best_for}"
    low, high = cls.range
    span = f"from {low:g} to {high:g}" if high < float("inf") else f"from {low:g}" if low == 0 else "any number"
    windowed = "; counts only those who were observed for long enough" if cls.windowed else ""
    yield f"- **Traits**: of each {cls.unit}; {span}; {direction(cls)}{windowed}"
    if cls.aliases:
        yield f"- **Also called**: {', '.join(f'`{name}`' for name in cls.aliases)}"
    if cls.source:
        yield f"- **Source**: {cls.source}"
    if parameters(cls):
        yield "\n| parameter | values | default | meaning |"
        yield "|---|---|---|---|"
        needed = required_parameters(cls)
        for name, (hint, param) in sorted(parameters(cls).items(), key=lambda item: item[0] not in needed):
            yield "| " + " | ".join(cell(text) for text in row(cls, name, hint, param)) + " |"


def settings(cls: type[Metric], where: Callable[[Metric], bool]) -> str:
    """The settings of single parameters under which something is so."""
    found: dict[Any, str] = {}
    for metric in filter(where, variants(cls)):
        said = {
            f.name: getattr(metric, f.name)
            for f in fields(cls)
            if f.name != "cutoff" and getattr(metric, f.name) != f.default
        }
        if len(said) == 1:
            ((name, value),) = said.items()
            found.setdefault((name, "table" if isinstance(value, Lookup) else value), f"`{name}={plain(value)}`")
    return ", ".join(found.values())


def traits(metric: Metric) -> str:
    """What kind of a metric it is, in a few words."""
    low, high = metric.range
    relevance = {"binary": "relevant or not", "graded": "graded", "none": "blind to grades"}[metric.relevance]
    said = [
        relevance,
        "minds positions" if metric.positions else "blind to order within the top k",
        f"from {low:g} to {high:g}" if high < float("inf") else f"from {low:g}, without an upper end",
    ]
    if metric.counts == "one":
        said.append("only the first relevant document counts")
    said.append(
        {"higher": "higher is better", "lower": "lower is better", "neither": "no better direction"}[metric.better]
    )
    if metric.aggregate != "mean":
        said.append(
            {"sum": "summed over queries", "geometric": "geometric mean over queries"}.get(
                metric.aggregate, "weighted mean over queries"
            )
        )
    if metric.empty != 0:
        what: dict[Any, str] = {
            None: "is undefined",
            "judgments": "scores what the judgments say",
            "varies": "scores what the query makes of it",
        }
        said.append(f"an empty ranking {what.get(metric.empty, f'scores {plain(metric.empty)}')}")
    return "; ".join(said)


def worked(example: Example) -> str:
    """A worked example as a call, its arithmetic and what that comes to."""
    grades = ", ".join(graded(grade) for grade in example.grades)
    more = "".join(f", {name}={value}" for name, value in (example.more or {}).items())
    value = worked_out(example.value)
    rounded = "" if example.value == f"{value:g}" else f" = {value:.4g}"
    return f"`{example.metric}` of `[{grades}]`{more} is `{example.value}`{rounded}"


def graded(grade: Any) -> str:
    """A grade, or the grades by subtopic or judge."""
    if isinstance(grade, Mapping):
        return "{" + ", ".join(f"{name!r}: {plain(value)}" for name, value in grade.items()) + "}"
    return "None" if grade is None else plain(grade)


def row(cls: type[Metric | OnlineMetric], name: str, hint: Any, param: Param) -> tuple[str, str, str, str]:
    """One parameter: its name with the names that others give it, values, default, meaning."""
    also = "".join(f", `{other}`" for other in param.also)
    default = "needed" if name in required_parameters(cls) else f"`{plain(cls.__dataclass_fields__[name].default)}`"
    bounds = f" ({param.bounds})" if "inf" not in param.bounds else ""
    values = [kind for kind in kinds(hint) if not (param.needed and kind == "`None`")]
    return f"`{name}`{also}", ", ".join(values) + bounds, default, param.about


def kinds(hint: Any) -> Iterator[str]:
    """What may be given, in words."""
    if get_origin(hint) in {UnionType, Union}:
        for kind in get_args(hint):
            yield from kinds(kind)
    elif get_origin(hint) is Literal:
        yield from (f"`{value!r}`" for value in get_args(hint))
    elif get_origin(hint) is tuple:
        yield "numbers"
    else:
        words = {
            str: "text",
            int: "whole number",
            float: "number",
            bool: "`True`, `False`",
            type(None): "`None`",
            Lookup: "table `{1: 3, 2: 9}`",
        }
        yield words[hint]


def cell(text: str) -> str:
    """Text that does not break a table."""
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
