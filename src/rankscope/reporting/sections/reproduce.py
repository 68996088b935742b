"""How to reproduce the numbers: command, versions, conventions, inputs; and the paragraph of a paper with its citations."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from rankscope import words
from rankscope._version import __version__
from rankscope.blocks import Block, Code, Column, Facts, Heading, Paragraph, Section, Table, Value
from rankscope.errors import InputError
from rankscope.metrics.description import convention_of
from rankscope.panels.method import FEWEST
from rankscope.reporting.subject import Subject
from rankscope.scoring.request import USUAL
from rankscope.scoring.scores import Scores
from rankscope.show.result import Result
from rankscope.verbs.compare.charts import is_corrected
from rankscope.verbs.compare.methods import interval_of, margins
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
    return _section(command, conventions, columns, _inputs(subject), notes_read(subject), paper_blocks(subject))


def reproduce_result(result: Result, command: str | None) -> Section:
    """The facts of any other result: versions, conventions, inputs."""
    stated = result.conventions.items()
    conventions = [
        (name.replace("_", " "), str(value)) for name, value in stated if isinstance(value, str | int | float)
    ]
    inputs = [one for one in result.json_header().get("inputs", ()) if one]
    rows = [(str(one.get("path", "")), one.get("sha256") or NO_HASH) for one in inputs]
    return _section(command, conventions, ("file", "SHA-256"), rows, list(result.notes))


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


# --- conventions
def _conventions(subject: Subject[Any], scores: Scores) -> Iterator[Fact]:
    """Everything that the values rest on, in words."""
    stated = scores.conventions
    yield from scores.request.in_words()
    if scores.predictions is not None:
        yield "judgments by a model", stated["predicted"]
    if subject.comparison is None:
        yield "interval of means", f"{words.percent(stated['level'])}, {stated['interval']}"
        if stated["clusters"]:
            yield ("clusters", "given in memory" if stated["clusters"] == "clusters" else f"of {stated['clusters']}")
    for metric in scores.metrics:
        if convention := convention_of(metric):
            yield str(metric), convention


def _method(subject: Subject[Any], comparison: Comparison) -> Iterator[Fact]:
    """Yield the method of the comparison."""
    method = comparison.method
    baselines = words.listing(comparison.baselines or [comparison.baseline])
    yield "baseline", "every run against every other" if comparison.all_pairs else baselines
    yield "primary metric", f"{comparison.primary}{'' if comparison.primary_declared else ' (the first one)'}"
    usual = f"paired t, or if fewer than {FEWEST} queries differ, the exact sign-flip test"
    yield "test", usual if method.test is None else str(method.test)
    yield "interval of means", f"{words.percent(method.level)}, {USUAL}"
    joint = method.correction.joint
    level = ", at the level of the correction if there is one" if is_corrected(comparison.family) and not joint else ""
    of = method.correction if joint else interval_of(method)
    yield "interval of differences", f"{words.percent(method.level)}, {of}{level}"
    over = "within each metric" if method.family == "metric" else "over all metrics together"
    yield "correction", f"{method.correction}, {over}"
    yield "alpha", words.amount(method.alpha)
    if method.margin is not None:
        yield "margin", margins(method)
    if subject.lead.clusters is not None:
        yield "clusters", f"queries come in {clusters(subject)}, and intervals and tests use the sum over each"
    for system, runs in next(iter(comparison.measurements.replicates.values()), {}).items():
        yield f"runs of {system}", f"{words.count(runs.runs)}, averaged query by query"
    if comparison.candidates_tried is not None:
        yield "systems tried", words.count(comparison.candidates_tried)
    yield "seed", str(method.seed)


# --- inputs
def _inputs(subject: Subject[Any]) -> Iterator[tuple[Value, ...]]:
    """Return the inputs with the hash of their content."""
    scores, comparison = subject.scores, subject.comparison
    if scores is not None and subject.runs:
        for name, data in (("qrels", subject.qrels), *subject.runs.items()):
            if isinstance(data, dict):
                yield name, None, "dict", sum(map(len, data.values())), NO_HASH
            else:
                path = data.source.label if data.source.sha256 else None
                yield name, path, data.source.kind, data.frame.height, _hash(data.source)
    elif scores is not None:
        yield from ((source.label, source.label, source.kind, None, _hash(source)) for source in scores.inputs)
    elif comparison is not None:
        for one in comparison.measurements.inputs:
            yield "scores", str(one.get("path", "")), "scores", None, str(one.get("sha256") or NO_HASH)
    for texts in subject.texts:
        path = texts.label if texts.source.sha256 else None
        yield "texts" if path else texts.label, path, texts.source.kind, len(texts.by_id), _hash(texts.source)


def _hash(source: Any) -> str:
    return str(source.sha256()) if source.sha256 else NO_HASH


def clusters(subject: Subject[Any]) -> str:
    """Return the number of clusters: ``12 clusters``; only a comparison knows it."""
    codes = subject.lead.clusters
    return "clusters" if codes is None else words.counted(int(codes.max()) + 1, "cluster")


def paper_blocks(subject: Subject[Any]) -> list[Block]:
    """Return the paragraph, and its sources as BibTeX."""
    text, _, sources = subject.result.methods.partition("\n\n")
    return [Heading("For a paper"), Paragraph(text), Code(tuple(sources.splitlines()))]


def methods(result: Scores | Comparison) -> str:
    """Return the statement of method of a result for a paper, then its sources as BibTeX: ``result.methods``.

    ``result`` comes from ``evaluate`` or ``compare``. Raises InputError for another result.

    >>> import rankscope as rs
    >>> found = rs.compare({"a": {"q1": 0.2, "q2": 0.4}, "b": {"q1": 0.3, "q2": 0.6}}, metrics="AP")
    >>> "compared with a by a paired t test" in rs.methods(found)
    True
    """
    if not isinstance(result, Scores | Comparison):
        raise InputError(f"methods takes a result of evaluate or compare, not {type(result).__name__}")
    return result.methods
