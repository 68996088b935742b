"""How to reproduce the numbers: command, versions, conventions, inputs; and the text for a paper."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from rankscope import words
from rankscope._version import __version__
from rankscope.blocks import Block, Code, Column, Facts, Heading, Paragraph, Section, Table, Value
from rankscope.metrics.description import convention_of
from rankscope.panels.method import FEWEST
from rankscope.reporting import paper
from rankscope.reporting.subject import Subject
from rankscope.scoring.request import USUAL
from rankscope.scoring.scores import Scores
from rankscope.show.result import Result
from rankscope.verbs.compare.charts import is_corrected
from rankscope.verbs.compare.result import Comparison

PACKAGES = ("numpy", "polars", "scipy", "altair")
NO_HASH = "in memory"
Fact = tuple[str, str]


def reproduce(subject: Subject[Any], command: str | None) -> Section:
    """The section that reproduces a page. ``command`` is the command or call, None if unknown.

    It holds nothing that differs from one making of the page to the next: no time, no place but those the reader typed.
    """
    conventions = [] if subject.scores is None else list(_conventions(subject, subject.scores))
    if subject.comparison is not None:
        conventions += _method(subject, subject.comparison)
    columns = ("input", "file", "kind", "rows", "SHA-256")
    return _section(command, conventions, columns, _inputs(subject), notes_read(subject), paper.blocks(subject))


def reproduce_result(result: Result, command: str | None) -> Section:
    """The facts of any other result: versions, conventions, inputs."""
    stated = dict(getattr(result, "conventions", {})).items()
    conventions = [
        (name.replace("_", " "), str(value)) for name, value in stated if isinstance(value, str | int | float)
    ]
    inputs = [one for one in result.json_header().get("inputs", ()) if one]
    rows = [(str(one.get("path", "")), one.get("sha256") or NO_HASH) for one in inputs]
    return _section(command, conventions, ("file", "SHA-256"), rows, list(getattr(result, "notes", ())))


def _section(
    command: str | None, conventions: Sequence[Fact], columns: Sequence[str], inputs: Iterable[Sequence[Value]],
    notes: Sequence[str], more: Iterable[Block] = (),
) -> Section:  # fmt: skip
    blocks: list[Block] = [*([Code((command,))] if command else []), Facts(tuple(versions()))]
    if conventions:
        blocks += [Heading("Conventions"), Facts(tuple(conventions))]
    if rows := tuple(map(tuple, inputs)):
        heads = tuple(Column(name, "count" if name == "rows" else "text") for name in columns)
        blocks.append(Table(heads, rows, name="inputs", title="Inputs"))
    if notes:
        blocks += [Heading("Inputs"), *(Paragraph(note, quiet=True) for note in notes)]
    lead = "Everything needed to get the same numbers again."
    return Section("reproduce", "Reproduce", (*blocks, *more), lead, folded=True)


def versions() -> Iterator[Fact]:
    """Return the versions of the software."""
    yield "rankscope", __version__
    yield "Python", platform.python_version()
    for package in PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue


def notes_read(subject: Subject[Any]) -> list[str]:
    """Return the notes of readers, one line per file or one for many, each once."""
    scores = subject.scores
    own = [] if scores is None else scores.reader_notes()
    known = set() if scores is None else set(scores.notes)
    more = [note for note in subject.result.notes if note not in known]
    return [*dict.fromkeys([*own, *more]), *(note for texts in subject.texts for note in texts.notes)]


# --- conventions -------------------------------------------------------------------------------------------


def _conventions(subject: Subject[Any], scores: Scores) -> Iterator[Fact]:
    """Everything that the values rest on, in words."""
    stated = scores.conventions
    yield from scores.request.in_words()
    if subject.comparison is None:
        yield "interval of means", f"{words.percent(stated['level'])}, {stated['interval']}"
        if stated["clusters"]:
            yield ("clusters", "given in memory" if stated["clusters"] == "clusters" else f"of {stated['clusters']}")
    for metric in scores.metrics:
        if convention := convention_of(metric):
            yield str(metric), convention


def _method(subject: Subject[Any], found: Comparison) -> Iterator[Fact]:
    """Yield the method of the comparison."""
    method = found.method
    yield "baseline", "every run against every other" if found.all_pairs else found.baseline
    yield "primary metric", f"{found.primary}{'' if found.primary_declared else ' (the first one)'}"
    usual = f"paired t; where fewer than {FEWEST} queries differ, the exact sign-flip test"
    yield "test", usual if method.test is None else str(method.test)
    yield "interval of means", f"{words.percent(method.level)}, {USUAL}"
    joint = method.correction.joint
    level = ", at the level of the correction where there is one" if is_corrected(found.family) and not joint else ""
    of = method.correction if joint else paper.interval_of(method)
    yield "interval of differences", f"{words.percent(method.level)}, {of}{level}"
    over = "within each metric" if method.family == "metric" else "over all metrics together"
    yield "correction", f"{method.correction}, {over}"
    yield "alpha", words.amount(method.alpha)
    if method.margin is not None:
        yield "margin", paper.margins(method)
    if subject.lead.clusters is not None:
        yield "clusters", f"queries come in {paper.clusters(subject)}; intervals and tests are of the sums over each"
    for system, runs in next(iter(found.measurements.replicates.values()), {}).items():
        yield f"runs of {system}", f"{words.count(runs.runs)}, averaged query by query"
    if found.candidates_tried is not None:
        yield "systems tried", words.count(found.candidates_tried)
    yield "seed", str(method.seed)


# --- inputs ------------------------------------------------------------------------------------------------


def _inputs(subject: Subject[Any]) -> Iterator[tuple[Value, ...]]:
    """Return the inputs with the hash of their content."""
    scores, found = subject.scores, subject.comparison
    if scores is not None and subject.runs:
        for name, data in (("qrels", subject.qrels), *subject.runs.items()):
            if isinstance(data, dict):
                yield name, None, "dict", sum(map(len, data.values())), NO_HASH
            else:
                path = data.source.label if data.source.sha256 else None
                yield name, path, data.source.kind, data.frame.height, _hash(data.source)
    elif scores is not None:
        yield from ((source.label, source.label, source.kind, None, _hash(source)) for source in scores.inputs)
    elif found is not None:
        for one in found.measurements.inputs:
            yield "scores", str(one.get("path", "")), "scores", None, str(one.get("sha256") or NO_HASH)
    for texts in subject.texts:
        path = texts.label if texts.source.sha256 else None
        yield "texts" if path else texts.label, path, texts.source.kind, len(texts.by_id), _hash(texts.source)


def _hash(source: Any) -> str:
    return str(source.sha256()) if source.sha256 else NO_HASH
