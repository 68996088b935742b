"""Data health: problems of the data, and their effect on the numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

import numpy as np

from rankscope import words
from rankscope.analysis.overlap import same_rankings
from rankscope.blocks import Block, Caution, Column, Heading, Note, Notes, NumberText, Paragraph, Table, Value
from rankscope.lists.overlap import same_values
from rankscope.reporting.sections.verdicts import DOUBTFUL
from rankscope.reporting.subject import PagePart, Subject
from rankscope.scoring.health import Health
from rankscope.scoring.scores import Scores
from rankscope.show.result import caution_notes

NEAR = 10  # the cutoff to show among several
CUTOFFS = 3  # cutoffs that are shown
NAMED = 30  # queries that are named


class DataPart(PagePart):
    """The contents of the runs, one row per run, and caveats; facts that no run has are folded into a sentence."""

    name, title = "data", "Data health"

    @cached_property
    def doubts(self) -> list[Note]:
        """The warnings of the data."""
        told = [w for w in self.subject.result.warnings if not (self.same and w.code == "RS115")]  # in more words here
        return [*(Note(text, "", "RS115") for text in self.same), *caution_notes(told, "the table below lists all")]

    @cached_property
    def same(self) -> list[str]:
        """Yield one sentence per set of identical runs."""
        found, scores = self.subject.comparison, self.subject.scores
        ignored = scores.request.policies.ignore if scores is not None else None
        ignored = ignored if found is None else found.measurements.ignored
        return [] if "RS115" in (ignored or ()) else list(alike(self.subject))

    def blocks(self) -> Iterator[Any]:
        """Yield the state of the data, the caveats, and all warnings that the notes shorten."""
        scores, cautions = self.subject.scores, self.subject.result.warnings
        yield from [_of_panels(self.subject)] if scores is None else _of_runs(scores)
        if self.doubts:
            yield from (Heading("Caveats"), Notes(tuple(self.doubts)))
        if len(caution_notes(cautions)) < len(cautions):
            yield warnings_table(cautions)

    def lead(self) -> str:
        """Return the size of the data, and the number of problems."""
        runs, doubts = len(self.subject.systems), len(self.doubts)
        text = f"{words.counted(runs, 'run')} on {self.subject.queries}"
        if not doubts:
            return f"{text}; no problems found in the data."
        return f"{text}; {words.counted(doubts, 'warning')} to read first."

    def caution(self) -> str:
        """Return the first caveat without its siblings: one that makes a comparison unfair, of the best runs first."""
        place = {system: i for i, system in enumerate(self.subject.merit())}

        def of_best(caution: Caution) -> int:
            return place.get(caution.message.partition(": ")[0], len(place))

        cautions = sorted(self.subject.result.warnings, key=of_best)
        unfair = sorted((c for c in cautions if c.code in DOUBTFUL), key=lambda c: c.code, reverse=True)
        gravest = [*unfair, *cautions][:1]
        return next(iter(self.same), "") or next(iter(caution_notes(gravest)), Note("")).text


def warnings_table(cautions: Sequence[Caution]) -> Table:
    """Every warning."""
    columns = (Column("code"), Column("what", wraps=True), Column("what to do", wraps=True))
    rows = tuple((w.code, w.message, w.hint) for w in sorted(cautions, key=lambda w: w.code))
    return Table(columns, rows, name="warnings", title="All warnings")


def alike(subject: Subject[Any]) -> Iterator[str]:
    """A sentence for each set of runs that are one ranking; of scores without rankings, that have the same values."""
    found = subject.comparison
    if subject.scores is not None and subject.runs:
        groups = same_rankings(subject.scores, subject.ranking_metric, subject.runs)
        what = "are the same ranking on every query"
    else:
        panels = subject.panels
        groups = same_values({name: [p.values[p.systems.index(name)] for p in panels] for name in subject.lead.systems})
        what = "have the same value of every metric on every query"
    corrected = found is not None and len(subject.systems) > 2 and found.method.correction.corrects
    for group in groups:
        count = "both" if len(group) == 2 else f"all {len(group)}"
        more = f": {count} count in the correction" if corrected and set(group) <= set(subject.systems) else ""
        yield f"{words.listing(group, 99)} {what}{more}"


# --- runs ----------------------------------------------------------------------------------------

# possible problems of a run: header, meaning, the sentence if no run has any, the entry of Health
SIZES = (
    ("rows", "documents in all rankings", "documents", "rows"),
    ("ranked", "queries that have a ranking in the run", "ranked queries", "queries"),
    ("judged", "queries in the qrels", "judged queries", "judged_queries"),
    ("missing", "judged queries without a ranking in the run", "judged queries without a ranking", "missing_queries"),
    ("empty", "judged queries with an empty ranking", "empty rankings", "empty_queries"),
    ("extra", "queries of the run that are not in the qrels", "queries without judgments", "extra_queries"),
    ("none relevant", "judged queries without a document of grade 1 or more", "queries without a relevant document",
     "queries_without_relevant"),
)  # fmt: skip
ODD = (
    ("rank column", "queries whose rank column contradicts the scores", "rank columns that contradict the scores", "rank_disagreements"),
    ("repeated", "repeated documents that were dropped", "repeated documents", "duplicates"),
    ("own query", "documents that are their own query and were dropped", "documents that are their own query", "self_matches"),
    ("repeated judgments", "judgments that were repeated and dropped", "repeated judgments", "qrels_duplicates"),
)  # fmt: skip


def _of_runs(scores: Scores) -> Iterator[Block]:
    health = [(run.name, run.health) for run in scores.runs]
    kept, nothing = [], []
    for column, none, of in _facts([h for _, h in health]):
        values = [of(h) for _, h in health]
        if any(values):
            kept.append((column, of))
        elif any(value is not None for value in values):
            nothing.append(f"no {none}")
    if nothing:
        yield Paragraph(f"Checks passed: {', '.join(nothing)}.")
    columns = (Column("run"), *(column for column, _ in kept))
    rows = tuple((name, *(of(h) for _, of in kept)) for name, h in health)
    yield Table(columns, rows, turns=True, name="data-health", title="Runs")
    missing = [(name, query) for name, h in health for query in h.missing]
    if missing:
        left = sum(h.missing_queries for _, h in health) - len(missing[:NAMED])
        columns, title = (Column("run"), Column("query", queries=True)), "Judged queries without a ranking"
        note = f"{words.count(left)} more are missing" if left else ""
        yield Table(columns, tuple(missing[:NAMED]), labels=2, note=note, name="missing-queries", title=title)


def _facts(health: Sequence[Health]) -> Iterator[tuple[Column, str, Callable[[Health], Value]]]:
    """Return the columns of the runs: sizes first, then problems as counts and shares."""
    known = sorted({k for h in health for k in h.unjudged_at_cutoff})
    cutoffs = sorted(
        sorted(known, key=lambda k: (abs(k - NEAR), k))[:CUTOFFS]
    )  # of many those nearest to the usual one
    for header, hint, nothing, entry in SIZES:
        yield Column(header, "count", hint=hint), nothing, attrgetter(entry)
    for k in cutoffs:
        hint = f"share of the documents in the top {k} that are not in the qrels"
        yield Column(f"unjudged@{k}", "value", hint=hint), f"unjudged documents in the top {k}", partial(_unjudged, k=k)
    for k in cutoffs:
        column = Column(f"ties@{k}", "count", hint=f"queries in which scores tie across rank {k}")
        yield column, f"scores tied across rank {k}", partial(_ties, k=k)
    for header, hint, nothing, entry in ODD:
        yield Column(header, "count", hint=hint), nothing, attrgetter(entry)


def _unjudged(health: Health, k: int) -> Value:
    value = health.unjudged_at_cutoff.get(k)
    return value if not value else NumberText(words.share(value), value)


def _ties(health: Health, k: int) -> Value:
    return health.ties_at_cutoff.get(k)


def _of_panels(subject: Subject[Any]) -> Table:
    """Return the facts of scores without rankings: one row per metric."""
    rows = tuple((p.name, len(p.systems), len(p.units), int(np.isnan(p.values).sum())) for p in subject.panels)
    columns = (
        Column("scores of"), Column("runs", "count"), Column("queries", "count"),
        Column("without a value", "count", hint="pairs of a run and a query that have no value"),
    )  # fmt: skip
    note = "scores were given and no rankings: nothing is known about documents, ties and judgments"
    return Table(columns, rows, note=note, name="data-health", title="Scores")
