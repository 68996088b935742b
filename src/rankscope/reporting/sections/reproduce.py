"""How to get the same numbers again: command, versions, conventions, inputs; and how to tell of them in a paper."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from rankscope import words
from rankscope._version import __version__
from rankscope.blocks import Block, Code, Column, Facts, Heading, Paragraph, Section, Table, Value
from rankscope.metrics.description import convention_of
from rankscope.panels.method import FEWEST
from rankscope.reporting import paper
from rankscope.reporting.sections.data import notes_read
from rankscope.reporting.subject import Subject, SubjectOfComparison, SubjectOfScores
from rankscope.scoring.request import USUAL
from rankscope.scoring.scores import Scores

PACKAGES = ("numpy", "polars", "scipy", "altair")
NO_HASH = "in memory"


def reproduce(subject: Subject, command: str | None) -> Section:
    """What it takes to get the same page again. ``command`` is how it was made, None where that is not known.

    It holds nothing that differs from one making of the page to the next: no time, no place but those the reader typed.
    """
    blocks: list[Block] = []
    if command:
        blocks += [Code((command,))]
    blocks += [Facts(tuple(versions()))]
    conventions = [] if subject.scores is None else list(_conventions(subject, subject.scores))
    conventions += _method(subject) if isinstance(subject, SubjectOfComparison) else []
    if conventions:
        blocks += [Heading("Conventions"), Facts(tuple(conventions))]
    inputs = _inputs(subject)
    if inputs.rows:
        blocks += [inputs]
    if notes := notes_read(subject):
        blocks += [Heading("What was read"), *(Paragraph(note, quiet=True) for note in notes)]
    blocks += paper.blocks(subject)
    return Section("reproduce", "Reproduce", tuple(blocks), "What it takes to get the same numbers again.", folded=True)


def versions() -> Iterator[tuple[str, str]]:
    """The versions of what made the page."""
    yield "rankscope", __version__
    yield "Python", platform.python_version()
    for package in PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue


# --- conventions -------------------------------------------------------------------------------------------


def _conventions(subject: Subject, scores: Scores) -> Iterator[tuple[str, str]]:
    """Everything that the values rest on, in words."""
    said = scores.conventions
    yield from scores.request.in_words()
    if isinstance(subject, SubjectOfScores):
        yield "interval of means", f"{words.percent(said['level'])}, {said['interval']}"
        if said["clusters"]:
            yield ("clusters", "given in memory" if said["clusters"] == "clusters" else f"of {said['clusters']}")
    for metric in scores.metrics:
        if convention := convention_of(metric):
            yield str(metric), convention


def _method(subject: SubjectOfComparison) -> Iterator[tuple[str, str]]:
    """How runs were compared."""
    found = subject.result
    method = found.method
    yield "baseline", "every run against every other" if found.all_pairs else found.baseline
    yield "primary metric", f"{found.primary}{'' if found.declared else ' (the first one)'}"
    usual = f"paired t; where fewer than {FEWEST} queries differ, the exact sign-flip test"
    yield "test", usual if method.test is None else str(method.test)
    yield "interval of means", f"{words.percent(method.level)}, {USUAL}"
    joint = method.correction.joint
    level = ", at the level of the correction where there is one" if subject.corrected and not joint else ""
    of = method.correction if joint else paper.interval_of(method)
    yield "interval of differences", f"{words.percent(method.level)}, {of}{level}"
    over = "within each metric" if method.family == "metric" else "over all metrics together"
    yield "correction", f"{method.correction}, {over}"
    yield "alpha", words.amount(method.alpha)
    if method.margin is not None:
        yield "margin", paper.margins(method)
    if subject.lead.clusters is not None:
        yield ("clusters", f"queries come in {paper.clusters(subject)}; intervals and tests are of the sums over each")
    for system, runs in next(iter(found.given.replicates.values()), {}).items():
        yield f"runs of {system}", f"{words.count(runs.runs)}, averaged query by query"
    if found.tried is not None:
        yield "systems tried", words.count(found.tried)
    yield "seed", str(method.seed)


# --- inputs ------------------------------------------------------------------------------------------------


def _inputs(subject: Subject) -> Table:
    """What was read, with what identifies its content."""
    rows: list[tuple[Value, ...]] = []
    scores = subject.scores
    if scores is not None and subject.runs:
        rows += [_input(name, data) for name, data in (("qrels", subject.qrels), *subject.runs.items())]
    elif scores is not None:
        rows += [(source.label, source.label, source.kind, None, _hash(source)) for source in scores.inputs]
    elif isinstance(subject, SubjectOfComparison):
        given = subject.result.given.inputs
        rows += [
            ("scores", str(one.get("path", "")), "scores", None, str(one.get("sha256") or NO_HASH)) for one in given
        ]
    for texts in subject.texts:
        path = texts.label if texts.source.sha256 else None
        name = "texts" if path else texts.label
        rows.append((name, path, texts.source.kind, len(texts.by_id), _hash(texts.source)))
    columns = (Column("input"), Column("file"), Column("kind"), Column("rows", "count"), Column("SHA-256"))
    return Table(columns, tuple(rows), name="inputs", title="Inputs")


def input_table(inputs: Iterable[tuple[str, str | None]]) -> Table:
    """Files that were read, each with the hash of what is in it."""
    rows = tuple((path, sha256 or NO_HASH) for path, sha256 in inputs)
    return Table((Column("file"), Column("SHA-256")), rows, name="inputs", title="Inputs")


def _input(name: str, data: Any) -> tuple[Value, ...]:
    if isinstance(data, dict):
        return name, None, "dict", sum(len(documents) for documents in data.values()), NO_HASH
    source = data.source
    return name, source.label if source.sha256 else None, source.kind, data.frame.height, _hash(source)


def _hash(source: Any) -> str:
    return str(source.sha256()) if source.sha256 else NO_HASH
