"""Data health: what is odd about the data, and what that does to the numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from rankscope.blocks import Block, Caution, Column, Heading, Note, Notes, Paragraph, Section, Table, Value, Written
from rankscope.panels.verdicts import counted
from rankscope.reporting.sections.same_runs import alike
from rankscope.reporting.subject import Subject
from rankscope.scoring.health import Health
from rankscope.scoring.scores import Scores
from rankscope.show.result import caution_notes
from rankscope.verbs.compare.result import Comparison

NEAR = 10  # the cutoff that is told about where there are many
CUTOFFS = 3  # cutoffs that are told about
NAMED = 30  # queries that are named


@dataclass(frozen=True)
class _Fact:
    """One thing that may be odd about a run: its column, what it is when it is nothing, and its value."""

    column: Column
    nothing: str
    of: Callable[[Health], Value]


def section(subject: Subject) -> Section:
    """What the runs hold, a row a run, and what to doubt; facts that no run has are folded into a sentence."""
    scores, found = subject.scores, subject.comparison
    blocks: list[Block] = []
    if scores is not None:
        blocks += _of_runs(scores)
    else:
        blocks.append(_of_table(subject))
    warned = found.warnings if found is not None else scores.warnings if scores is not None else []
    doubts = [*(Note(text) for text in alike(subject)), *caution_notes(warned, "the table below lists all")]
    if doubts:
        blocks += [Heading("What to doubt"), Notes(tuple(doubts))]
    if len(caution_notes(warned)) < len(warned):
        blocks.append(_all_of(warned))
    return Section("data", "Data health", tuple(blocks), _lead(subject, len(doubts)))


def notes_read(subject: Subject) -> list[str]:
    """What was read, a line a file or a line for all of many, as the readers of the files say it; each once."""
    read = [note for texts in subject.texts for note in texts.notes]
    return [*_notes(subject.scores, subject.comparison), *read]


def _all_of(warned: Sequence[Caution]) -> Table:
    """Every warning, where the notes do not hold them all."""
    columns = (Column("code"), Column("what", wraps=True), Column("what to do", wraps=True))
    rows = tuple((w.code, w.message, w.hint) for w in sorted(warned, key=lambda w: w.code))
    return Table(columns, rows, name="warnings", title="All warnings")


def _lead(subject: Subject, doubts: int) -> str:
    runs, queries = len(subject.systems), len(subject.lead.query_ids)
    said = f"{'One run' if runs == 1 else f'{runs:,} runs'} on {counted(queries)}"
    if not doubts:
        return f"{said}; nothing is odd about the data."
    return f"{said}; {'one thing' if doubts == 1 else f'{doubts} things'} to know before believing the numbers."


def _notes(scores: Scores | None, found: Comparison | None) -> list[str]:
    """What the readers said, each once."""
    own = [] if scores is None else scores.reader_notes()
    known = set() if scores is None else set(scores.notes)
    more = [] if found is None else [note for note in found.notes if note not in known]
    return list(dict.fromkeys([*own, *more]))


# --- runs ----------------------------------------------------------------------------------------


def _of_runs(scores: Scores) -> Iterator[Block]:
    health = [(run.name, run.health) for run in scores.runs]
    kept, nothing = [], []
    for fact in _facts([h for _, h in health]):
        if any(fact.of(h) for _, h in health):
            kept.append(fact)
        elif any(fact.of(h) is not None for _, h in health):
            nothing.append(fact.nothing)
    if nothing:
        yield Paragraph(f"Looked for and not found: {', '.join(nothing)}.")
    columns = (Column("run"), *(fact.column for fact in kept))
    rows = tuple((name, *(fact.of(h) for fact in kept)) for name, h in health)
    yield Table(columns, rows, turns=True, name="data-health", title="Runs")
    missing = [(name, query) for name, h in health for query in h.missing]
    if missing:
        total = sum(h.missing_queries for _, h in health)
        note = f"{total - NAMED:,} more are missing" if total > NAMED else ""
        found = Table(
            (Column("run"), Column("query", queries=True)),
            tuple(missing[:NAMED]),
            labels=2,
            note=note if len(missing) >= NAMED else _more(total - len(missing)),
            name="missing-queries",
            title="Judged queries without a ranking",
        )
        yield found


def _more(count: int) -> str:
    return f"{count:,} more are missing" if count else ""


# header, what it counts, what to say where it is nothing for all runs, and the entry of Health
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
    yield from _counts(SIZES)
    yield from _at_cutoffs(_cutoffs(health))
    yield from _counts(ODD)


def _counts(told: Sequence[tuple[str, str, str, str]]) -> Iterator[_Fact]:
    for header, hint, nothing, entry in told:
        yield _Fact(_count(header, hint), nothing, attrgetter(entry))


def _at_cutoffs(cutoffs: Sequence[int]) -> Iterator[_Fact]:
    for k in cutoffs:
        yield _Fact(
            Column(f"unjudged@{k}", "value", hint=f"share of the documents in the top {k} that are not in the qrels"),
            f"unjudged documents in the top {k}",
            lambda h, k=k: _share(h.unjudged_at_cutoff.get(k)),  # type: ignore[misc]
        )
    for k in cutoffs:
        yield _Fact(
            _count(f"ties@{k}", f"queries in which equal scores stand on both sides of rank {k}"),
            f"equal scores across rank {k}",
            lambda h, k=k: h.ties_at_cutoff.get(k),  # type: ignore[misc]
        )


def _share(value: float | None) -> Value:
    """A share in per cent; as a number in full."""
    return value if not value else Written(f"{value:.0%}", value)


def _cutoffs(health: Sequence[Health]) -> list[int]:
    """The cutoffs that the metrics have; of many those nearest to the usual one."""
    known = sorted({k for h in health for k in h.unjudged_at_cutoff})
    return sorted(sorted(known, key=lambda k: (abs(k - NEAR), k))[:CUTOFFS])


def _count(header: str, hint: str) -> Column:
    return Column(header, "count", hint=hint)


# --- scores that were given ----------------------------------------------------------------------


def _of_table(subject: Subject) -> Table:
    """What there is to say of scores alone: a row a metric."""
    rows: list[tuple[Value, ...]] = []
    for field in subject.fields:
        undefined = int(np.isnan(field.values).sum())
        rows.append((field.name, len(field.systems), len(field.query_ids), undefined))
    columns = (
        Column("scores of"),
        Column("runs", "count"),
        Column("queries", "count"),
        Column("without a value", "count", hint="pairs of a run and a query that have no value"),
    )
    note = "scores were given and no rankings: nothing is known of documents, ties and judgments"
    return Table(columns, tuple(rows), note=note, name="data-health", title="Scores")
