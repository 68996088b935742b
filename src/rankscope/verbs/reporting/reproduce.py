"""How to get the same numbers again: command, versions, conventions, inputs; and how to tell of them in a paper."""

from __future__ import annotations

import platform
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from rankscope import __version__
from rankscope.blocks import Block, Code, Column, Facts, Heading, Paragraph, Section, Table, Value
from rankscope.inference import called
from rankscope.inference.base import Interval, PairedTest
from rankscope.verbs.comparison.compare import Comparison
from rankscope.verbs.comparison.method import FEWEST
from rankscope.verbs.comparison.sentences import percent
from rankscope.verbs.reporting.subject import Subject
from rankscope.verbs.scores import Scores

PACKAGES = ("numpy", "polars", "scipy", "altair")
NO_HASH = "in memory"
IN_WORDS: dict[str, dict[Any, str]] = {
    "no_relevant": {
        "metric": "as each metric says",
        "skip": "left out",
        0: "scores 0",
        1: "scores 1",
    },
    "nothing_found": {
        "metric": "as each metric says",
        "skip": "left out if in the top",
        "skip_list": "left out if in the list",
    },
    "mean": {"macro": "every query weighs the same", "micro": "every query weighs what it is worth"},
    "duplicates": {"error": "refused", "first": "the first row counts", "best": "the best row counts"},
    "self_match": {"keep": "kept", "drop": "left out: documents that are their own query"},
}
TITLES = {
    "no_relevant": "queries without relevant documents",
    "nothing_found": "queries with nothing relevant found",
    "mean": "means",
    "duplicates": "documents that stand twice",
    "self_match": "self-matches",
}


def section(subject: Subject, command: str | None) -> Section:
    """What it takes to get the same page again. ``command`` is how it was made, None where that is not known.

    Says nothing that differs from one making of the page to the next: no time, no place but those the reader typed.
    """
    blocks: list[Block] = []
    if command:
        blocks += [Code((command,))]
    blocks += [Facts(tuple(_versions()))]
    conventions = [*_conventions(subject.scores), *_method(subject.comparison)]
    if conventions:
        blocks += [Heading("Conventions"), Facts(tuple(conventions))]
    inputs = _inputs(subject)
    if inputs.rows:
        blocks += [inputs]
    blocks += [Heading("For a paper"), Paragraph(methods(subject)), Code(tuple(bibliography(subject)))]
    return Section(
        "reproduce", "Reproduce", tuple(blocks), "What it takes to get the same numbers again.", folded=True
    )


def _versions() -> Iterator[tuple[str, str]]:
    yield "rankscope", __version__
    yield "Python", platform.python_version()
    for package in PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue


# --- conventions -------------------------------------------------------------------------------------------


def _conventions(scores: Scores | None) -> Iterator[tuple[str, str]]:
    """Everything that the values rest on, in words."""
    if scores is None:
        return
    said = scores.conventions
    if said.get("dialect"):
        yield "dialect", f"{said['dialect']}: everything as this tool computes it"
    yield "equal scores", str(said["ties_in_words"])
    yield "queries", str(said["queries_in_words"])
    for name, title in TITLES.items():
        yield title, IN_WORDS[name].get(said[name], str(said[name]))
    yield (
        "depth",
        "whole rankings"
        if said["depth"] is None
        else f"the first {said['depth']:,} documents of each ranking",
    )
    if said["weights"]:
        yield "weights", f"of {said['weights']}"
    for metric, convention in said["metrics"].items():
        if convention:
            yield metric, convention


def _method(found: Comparison | None) -> Iterator[tuple[str, str]]:
    """How runs were compared."""
    if found is None:
        return
    method = found.method
    yield "baseline", "every run against every other" if found.all_pairs else found.baseline
    yield "primary metric", f"{found.primary}{'' if found.declared else ' (the first asked for)'}"
    usual = f"paired t; where fewer than {FEWEST} queries differ, the exact sign-flip test"
    yield "test", usual if method.test is None else str(method.test)
    yield "interval of differences", f"{percent(method.level)}, {method.interval or 't'}"
    over = "within each metric" if method.family == "metric" else "over all metrics together"
    yield "correction", f"{method.correction}, {over}"
    yield "alpha", f"{method.alpha:g}"
    if method.margin is not None:
        margins = (
            method.margin.items() if isinstance(method.margin, Mapping) else [("all metrics", method.margin)]
        )
        yield "margin", ", ".join(f"{name} {value:g}" for name, value in margins)
    if found.tried is not None:
        yield "systems tried", f"{found.tried:,}"
    yield "seed", str(method.seed)


# --- inputs ------------------------------------------------------------------------------------------------


def _inputs(subject: Subject) -> Table:
    """What was read, with what identifies its content."""
    rows: list[tuple[Value, ...]] = []
    if subject.scores is not None and subject.runs:
        rows.append(_input("qrels", subject.qrels))
        rows += [_input(name, run) for name, run in subject.runs.items()]
    elif subject.scores is not None:
        rows += [
            (source.label, source.label, source.kind, None, _hash(source)) for source in subject.scores.inputs
        ]
    elif subject.comparison is not None:
        rows += [
            ("scores", str(one.get("path", "")), "scores", None, str(one.get("sha256") or NO_HASH))
            for one in subject.comparison.given.inputs
        ]
    for texts in subject.texts:
        path = texts.label if texts.source.sha256 else None
        rows.append(("texts", path, texts.source.kind, len(texts.by_id), _hash(texts.source)))
    columns = (Column("input"), Column("file"), Column("kind"), Column("rows", "count"), Column("SHA-256"))
    return Table(columns, tuple(rows), name="inputs", title="Inputs")


def _input(name: str, data: Any) -> tuple[Value, ...]:
    if isinstance(data, dict):
        return name, None, "dict", sum(len(documents) for documents in data.values()), NO_HASH
    source = data.source
    return name, source.label if source.sha256 else None, source.kind, data.frame.height, _hash(source)


def _hash(source: Any) -> str:
    return str(source.sha256()) if source.sha256 else NO_HASH


# --- for a paper -------------------------------------------------------------------------------------------


def methods(subject: Subject) -> str:
    """The paragraph of a paper that says how these numbers were made, with the sources of metrics and tests."""
    return " ".join([*_scored(subject), *_compared(subject.comparison)])


def _scored(subject: Subject) -> Iterator[str]:
    runs = f"{len(subject.systems):,} {'run' if len(subject.systems) == 1 else 'runs'}"
    queries = len(subject.lead.query_ids)
    on = f"{queries:,} {'query' if queries == 1 else 'queries'}"
    named = "; ".join(
        f"{field.name} ({source})" if (source := _source_of(field.metric)) else field.name
        for field in subject.fields
    )
    if subject.scores is None:
        yield f"Scores of {runs} on {on} were compared with rankscope {__version__}, on {named}."
        return
    said = subject.scores.conventions
    yield f"{runs[0].upper()}{runs[1:]} {'was' if runs.startswith('1 ') else 'were'} scored on {on} with rankscope {__version__}, by {named}."
    if said.get("dialect"):
        yield f"All values are computed as {said['dialect']} does."
    else:
        yield (
            f"Equal scores were ordered by {said['ties_in_words']}."
            if said["ties"] in {"trec", "docid", "input"}
            else (f"Equal scores: {said['ties_in_words']}.")
        )
        yield f"Queries: {said['queries_in_words']}."
    if said["depth"] is not None:
        yield f"Rankings were cut after {said['depth']:,} documents."


def _compared(found: Comparison | None) -> Iterator[str]:
    if found is None:
        return
    method = found.method
    against = "with every other" if found.all_pairs else f"with {found.baseline}"
    test = method.test or called(PairedTest, "t", method.seed)
    name = "a paired t test" if method.test is None else f"the paired test {method.test}"
    exact = (
        f"; where fewer than {FEWEST} queries differed, by the exact sign-flip test"
        if method.test is None
        else ""
    )
    yield f"Every run was compared {against} by {name}, two-sided{_cited(test)}{exact}."
    interval = method.interval or called(Interval, "t", method.seed)
    yield f"Intervals of differences are {percent(method.level)} {interval} intervals{_cited(interval)}."
    over = "the runs of each metric" if method.family == "metric" else "all runs and metrics"
    if str(method.correction) != "none":
        yield f"P-values were corrected over {over} by {method.correction}{_cited(method.correction)}, at alpha = {method.alpha:g}."
    else:
        yield f"P-values were not corrected; alpha = {method.alpha:g}."
    if found.declared:
        yield f"{found.primary} was declared as the primary metric."
    if any("seed" in {f.name for f in fields(part)} for part in (test, interval, method.correction)):
        yield f"Random numbers start from seed {method.seed}."


def _source_of(thing: Any) -> str:
    """Where a metric or a method comes from; what holds for queries in clusters is left out."""
    parts = "" if thing is None else str(getattr(thing, "source", ""))
    return ";".join(part for part in parts.split(";") if not part.strip().startswith("clusters:"))


def _cited(thing: Any) -> str:
    source = _source_of(thing)
    return f" ({source})" if source else ""


def bibliography(subject: Subject) -> Iterator[str]:
    """What to cite, as entries of BibTeX: rankscope, then the sources of the metrics, the test, the interval and the correction."""
    yield from ("@software{rankscope,", "  title = {rankscope},", f"  version = {{{__version__}}},", "}")
    told: dict[str, str] = {}
    for name, thing in _cited_things(subject):
        for source in _source_of(thing).split(";"):
            if re.search(r"\b(1[89]|20)\d\d\b", source):
                told.setdefault(source.strip(), name)
    used: set[str] = set()
    for source, name in told.items():
        key = _key(source, name, used)
        yield from (f"@misc{{{key},", f"  note = {{{source}}},", "}")


def _cited_things(subject: Subject) -> Sequence[tuple[str, Any]]:
    out: list[tuple[str, Any]] = [
        (type(field.metric).__name__, field.metric) for field in subject.fields if field.metric is not None
    ]
    if subject.comparison is not None:
        method = subject.comparison.method
        test, interval = method.test or called(PairedTest, "t"), method.interval or called(Interval, "t")
        out += [(type(thing).__name__, thing) for thing in (test, interval, method.correction)]
    return out


def _key(source: str, name: str, used: set[str]) -> str:
    """A key that no other entry has: who, and when."""
    plain = unicodedata.normalize("NFKD", source).encode("ascii", "ignore").decode()
    author = re.sub(r"\W", "", re.split(r"[\s,]", plain, maxsplit=1)[0]) or name
    year = re.search(r"\b(1[89]|20)\d\d\b", source)
    stem = key = f"{author.casefold()}{year[0] if year else ''}"
    letter = iter("bcdefghijklmnopqrstuvwxyz")
    while key in used:
        key = f"{stem}{next(letter)}"
    used.add(key)
    return key
