"""Data health: what is odd about the data, and what that does to the numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Block, Caution, Column, Heading, Note, Notes, NumberText, Paragraph, Table, Value
from rankscope.reporting.part import PagePart
from rankscope.reporting.subject import Subject, SubjectOfComparison
from rankscope.scoring.health import Health
from rankscope.scoring.overlap import same_rankings, same_values
from rankscope.scoring.scores import Scores
from rankscope.show.result import caution_notes

NEAR = 10  # the cutoff that is told about where there are many
CUTOFFS = 3  # cutoffs that are told about
NAMED = 30  # queries that are named


class DataPart(PagePart[Subject]):
    """What the runs hold, a row a run, and what to doubt; facts that no run has are folded into a sentence."""

    name, title = "data", "Data health"

    @cached_property
    def doubts(self) -> list[Note]:
        """What to know before believing the numbers."""
        return [
            *map(Note, alike(self.subject)),
            *caution_notes(self.subject.result.warnings, "the table below lists all"),
        ]

    def blocks(self) -> Iterator[Any]:
        """The state of the data, the doubts, and all warnings where the notes do not hold them all."""
        scores, warned = self.subject.scores, self.subject.result.warnings
        yield from [_of_panels(self.subject)] if scores is None else _of_runs(scores)
        if self.doubts:
            yield from (Heading("What to doubt"), Notes(tuple(self.doubts)))
        if len(caution_notes(warned)) < len(warned):
            yield warnings_table(warned)

    def lead(self) -> str:
        """How much there is, and whether anything is odd."""
        runs, doubts = len(self.subject.systems), len(self.doubts)
        said = f"{'One run' if runs == 1 else words.counted(runs, 'run')} on {self.subject.queries}"
        if not doubts:
            return f"{said}; no problems found in the data."
        return f"{said}; {'one warning' if doubts == 1 else words.counted(doubts, 'warning')} to read first."


def notes_read(subject: Subject) -> list[str]:
    """What was read, a line a file or a line for all of many, as the readers of the files say it; each once."""
    scores = subject.scores
    own = [] if scores is None else scores.reader_notes()
    known = set() if scores is None else set(scores.notes)
    more = [note for note in subject.result.notes if note not in known]
    return [*dict.fromkeys([*own, *more]), *(note for texts in subject.texts for note in texts.notes)]


def warnings_table(warned: Sequence[Caution]) -> Table:
    """Every warning."""
    columns = (Column("code"), Column("what", wraps=True), Column("what to do", wraps=True))
    rows = tuple((w.code, w.message, w.hint) for w in sorted(warned, key=lambda w: w.code))
    return Table(columns, rows, name="warnings", title="All warnings")


def alike(subject: Subject) -> Iterator[str]:
    """A sentence for each set of runs that are one ranking; of scores without rankings, that have the same values."""
    if subject.scores is not None and subject.runs:
        groups, what = (
            same_rankings(subject.scores, subject.ranking_metric, subject.runs),
            "are the same ranking on every query",
        )
    else:
        values = {name: [panel.values[panel.row(name)] for panel in subject.fields] for name in subject.lead.systems}
        groups, what = same_values(values), "have the same value of every metric on every query"
    for group in groups:
        corrected = isinstance(subject, SubjectOfComparison) and (
            len(subject.systems) > 2
            and set(group) <= set(subject.systems)
            and str(subject.result.method.correction) != "none"
        )
        all_of_them = "both" if len(group) == 2 else f"all {len(group)}"
        yield f"{words.listing(group, 99)} {what}{f': {all_of_them} count in the correction' if corrected else ''}"


# --- runs ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Fact:
    """One thing that may be odd about a run: its column, what it is when it is nothing, and its value."""

    column: Column
    nothing: str
    of: Callable[[Health], Value]


def _of_runs(scores: Scores) -> Iterator[Block]:
    health = [(run.name, run.health) for run in scores.runs]
    kept, nothing = [], []
    for fact in _facts([h for _, h in health]):
        if any(fact.of(h) for _, h in health):
            kept.append(fact)
        elif any(fact.of(h) is not None for _, h in health):
            nothing.append(fact.nothing)
    if nothing:
        yield Paragraph(f"Checks passed: {', '.join(f'no {one}' for one in nothing)}.")
    columns = (Column("run"), *(fact.column for fact in kept))
    rows = tuple((name, *(fact.of(h) for fact in kept)) for name, h in health)
    yield Table(columns, rows, turns=True, name="data-health", title="Runs")
    missing = [(name, query) for name, h in health for query in h.missing]
    if missing:
        left = sum(h.missing_queries for _, h in health) - len(missing[:NAMED])
        columns, title = (Column("run"), Column("query", queries=True)), "Judged queries without a ranking"
        note = f"{words.count(left)} more are missing" if left else ""
        yield Table(columns, tuple(missing[:NAMED]), labels=2, note=note, name="missing-queries", title=title)


# header, what it counts, what there is none of where it is nothing for all runs, and the entry of Health
SIZES = (
    ("rows", "documents in all rankings", "documents", "rows"),
    ("ranked", "queries that have a ranking in the run", "ranked queries", "queries"),
    ("judged", "queries in the qrels", "judged queries", "judged_queries"),
    ("missing", "judged queries without a ranking in the run", "judged queries without a ranking", "missing_queries"),
    ("empty", "judged queries whose ranking is there but holds no document", "empty rankings", "empty_queries"),
    ("extra", "queries of the run that are not in the qrels", "queries without judgments", "extra_queries"),
    (
        "none relevant", "judged queries of which no document is of grade 1 or more", "queries without a relevant document",
        "queries_without_relevant",
    ),
)  # fmt: skip
ODD = (
    (
        "rank column", "queries whose rank column contradicts the scores", "rank columns that contradict the scores",
        "rank_disagreements",
    ),
    ("repeated", "repeated documents that were dropped", "repeated documents", "duplicates"),
    ("own query", "documents that are their own query and were dropped", "documents that are their own query", "self_matches"),
    ("repeated judgments", "judgments that were repeated and dropped", "repeated judgments", "qrels_duplicates"),
)  # fmt: skip


def _facts(health: Sequence[Health]) -> Iterator[_Fact]:
    """What is told about runs: sizes first, then what may be odd, as counts and shares."""
    known = sorted({k for h in health for k in h.unjudged_at_cutoff})
    cutoffs = sorted(
        sorted(known, key=lambda k: (abs(k - NEAR), k))[:CUTOFFS]
    )  # of many those nearest to the usual one
    for header, hint, nothing, entry in SIZES:
        yield _Fact(Column(header, "count", hint=hint), nothing, attrgetter(entry))
    for k in cutoffs:
        column = Column(
            f"unjudged@{k}", "value", hint=f"share of the documents in the top {k} that are not in the qrels"
        )
        yield _Fact(column, f"unjudged documents in the top {k}", partial(_unjudged, k=k))
    for k in cutoffs:
        column = Column(f"ties@{k}", "count", hint=f"queries in which scores tie across rank {k}")
        yield _Fact(column, f"scores tied across rank {k}", partial(_tied, k=k))
    for header, hint, nothing, entry in ODD:
        yield _Fact(Column(header, "count", hint=hint), nothing, attrgetter(entry))


def _unjudged(health: Health, k: int) -> Value:
    value = health.unjudged_at_cutoff.get(k)
    return value if not value else NumberText(words.share(value), value)


def _tied(health: Health, k: int) -> Value:
    return health.ties_at_cutoff.get(k)


def _of_panels(subject: Subject) -> Table:
    """What there is to say of scores alone: a row a metric."""
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (p.name, len(p.systems), len(p.units), int(np.isnan(p.values).sum())) for p in subject.fields
    )
    columns = (
        Column("scores of"), Column("runs", "count"), Column("queries", "count"),
        Column("without a value", "count", hint="pairs of a run and a query that have no value"),
    )  # fmt: skip
    note = "scores were given and no rankings: nothing is known about documents, ties and judgments"
    return Table(columns, rows, note=note, name="data-health", title="Scores")
