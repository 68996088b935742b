"""Data health: problems of the data and their effect on the numbers; and the unjudged documents to judge next."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

import numpy as np

from rankscope import words
from rankscope.analysis.overlap import same_rankings
from rankscope.blocks import Block, Caution, Column, Heading, Note, Notes, NumberText, Paragraph, Table, Value
from rankscope.errors import RankscopeError
from rankscope.lists.overlap import same_values
from rankscope.reporting.answer import DOUBTFUL
from rankscope.reporting.explorer.pool import ranks_of, source_of
from rankscope.reporting.subject import MANY, PagePart, Subject
from rankscope.scoring.health import Health
from rankscope.scoring.scores import Scores
from rankscope.show.result import caution_notes
from rankscope.verbs.unjudged.result import NO_JUDGMENT, RANKED, DocumentToJudge, Reversal, UnjudgedReport
from rankscope.verbs.unjudged.unjudged import Study, study_of

NEAR = 10  # the cutoff to show among several
CUTOFFS = 3  # cutoffs that are shown
NAMED = 30  # queries that are named


class DataPart(PagePart):
    """The contents of the runs, one row per run, and caveats; facts that no run has are folded into a sentence."""

    name, title = "data", "Data health"
    label = "Data"

    @cached_property
    def doubts(self) -> list[Note]:
        """The warnings of the data."""
        # in more words here
        cautions = [w for w in self.subject.result.warnings if not (self.same and w.code == "RS115")]
        return [*(Note(text, "", "RS115") for text in self.same), *caution_notes(cautions, "the table below lists all")]

    @cached_property
    def same(self) -> list[str]:
        """Yield one sentence per set of identical runs."""
        comparison, scores = self.subject.comparison, self.subject.scores
        ignored = scores.request.policies.ignore if scores is not None else None
        ignored = ignored if comparison is None else comparison.measurements.ignored
        return [] if "RS115" in (ignored or ()) else list(alike(self.subject))

    def blocks(self) -> Iterator[Any]:
        scores, cautions = self.subject.scores, self.subject.result.warnings
        yield from [_of_panels(self.subject)] if scores is None else _of_runs(scores)
        if self.doubts:
            yield from (Heading("Caveats"), Notes(tuple(self.doubts)))
        if len(caution_notes(cautions)) < len(cautions):
            yield warnings_table(cautions)

    def lead(self) -> str:
        doubts = f"{words.counted(len(self.doubts), 'warning')} to read first"
        runs = f"{words.counted(len(self.subject.systems), 'run')} on {self.subject.queries}"
        return f"{runs}; {doubts if self.doubts else 'no problems found in the data'}."

    def caution(self) -> str:
        place = {system: i for i, system in enumerate(self.subject.merit())}
        # of the best run first
        outside = [re.escape(name) for name in place if name not in self.subject.contenders]
        other = re.compile(rf"(?<![\w.-])({'|'.join(outside)})(?![\w-])") if outside else None
        of_answer = [c for c in self.subject.result.warnings if other is None or not other.search(c.message)]
        cautions = sorted(of_answer, key=lambda c: place.get(c.message.partition(": ")[0], len(place)))
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
    comparison = subject.comparison
    if subject.scores is not None and subject.runs:
        groups = same_rankings(subject.scores, subject.ranking_metric, subject.runs)
        what = "are the same ranking on every query"
    else:
        panels = subject.panels
        groups = same_values({name: [p.values[p.systems.index(name)] for p in panels] for name in subject.lead.systems})
        what = "have the same value of every metric on every query"
    corrected = comparison is not None and len(subject.systems) > 2 and comparison.method.correction.corrects
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
    ("none relevant", "judged queries without a relevant document", "queries without a relevant document",
     "queries_without_relevant"),
)  # fmt: skip
ODD = (
    ("rank column", "queries with a rank column that contradicts the scores", "rank columns that contradict the scores", "rank_disagreements"),
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
    # of many those nearest to the usual one
    cutoffs = sorted(sorted(known, key=lambda k: (abs(k - NEAR), k))[:CUTOFFS])
    for header, hint, nothing, entry in SIZES:
        yield Column(header, "count", hint=hint), nothing, attrgetter(entry)
    for k in cutoffs:
        hint = f"share of the documents in the top {k} that are not in the qrels"
        share = partial(_unjudged, k=k)
        yield Column(f"unjudged@{k}", "value", hint=hint), f"unjudged documents in the top {k}", share
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


LISTED = 50  # documents to judge
# unjudged documents up to which there is time to look for the ends of values, and for what would reverse differences
BOUNDED, TURNED = 15_000, 5_000
PAIRS = 3  # pairs that are told in words
WHOLE = "rankscope unjudged"
LIST = "judging-worklist"
BARE = "Unjudged documents count as not relevant."


class WorklistPart(PagePart):
    """The documents to judge next on the main metric; nothing where all that it looks at is judged, or where no grade matters to it.

    Where there are too many for the time a page may take, the worklist is of those at the best ranks, and bounds are left to
    ``rankscope unjudged``. Where documents cannot be told apart by what they could do, bounds stand alone.
    """

    name, title, needs_rankings = "worklist", "Documents to judge next", True
    label = "Judge next"
    warned = frozenset({"RS204"})
    listed = False
    turns: list[Reversal]

    def blocks(self) -> Iterator[Any]:
        names = self.subject.contending_runs()
        runs = [self.subject.runs[name] for name in names]
        kept = [one for one in self.scores.runs if one.name in names]
        try:
            study = study_of(replace(self.scores, runs=kept), self.subject.ranking_metric, self.subject.qrels, runs)
            if study.metric.relevance == "none" or not any(study.documents.counts):
                return
            made = list(self._of(study))
        except RankscopeError as error:
            judged = (evaluation.judged[0] for evaluation in self.scores.evaluations)
            if all((one.retrieved == one.in_run).all() for one in judged):
                return
            made = [Paragraph(f"Too many unjudged documents to try one by one: {error}", quiet=True)]
        self.listed = any(isinstance(block, Table) and block.name == LIST for block in made)
        yield from made

    def lead(self) -> str:
        return f"{BARE} Judging these could change the result most." if self.listed else BARE

    def caution(self) -> str:
        pair = self.subject.pairs[:1]
        turn = next(
            (turn for turn in getattr(self, "turns", ()) if [(turn.run, turn.baseline)] == pair and turn.needed), None
        )
        if turn is None or turn.needed is None:
            return ""
        documents, grade = words.counted(turn.unjudged, "unjudged document"), words.amount(turn.grade)
        few = "" if turn.fewest or turn.needed == 1 else " or fewer"
        behind, ahead = sorted((turn.run, turn.baseline), key=lambda name: name == turn.ahead)
        what = "reverse this" if len(self.subject.systems) < MANY else f"put {behind} ahead of {ahead}"
        return f"{words.count(turn.needed)}{few} of {documents}, if graded {grade}, would {what}"

    def _of(self, study: Study) -> Iterator[Any]:
        candidates, considered, top = study.candidates, study.considered, words.amount(study.top)
        bounds = [study.bounds(at) for at in range(len(study.runs))] if study.reason or candidates <= BOUNDED else []
        names = self.subject.contending_runs()
        self.turns = turns = []
        if not study.reason and candidates <= TURNED:  # the first pairs
            pairs = [pair for pair in self.subject.pairs if set(pair) <= set(names)][:PAIRS]
            studied = (study.turn(names.index(run), names.index(baseline), ends=False) for run, baseline in pairs)
            turns += [
                turn for turn in studied
                if turn.ahead and turn.unjudged and (turn.needed is not None or turn.reason == NO_JUDGMENT)
            ]  # fmt: skip
        by_name = {run.name: run for run in study.scores.runs}
        scores = replace(study.scores, runs=[by_name[name] for name in self.subject.runs_in_order() if name in names])
        result = UnjudgedReport(bounds, turns, self._worklist(study), candidates, considered, scores, "")
        if bounds:
            note = f"over grades from 0 to {top}{'' if all(b.exact for b in bounds) else ', as far as they could be tried'}"
            title = f"How far {study.metric} could move"
            yield replace(result.table(), note=note, name="unjudged-bounds", title=title)
        else:
            tops = "The rankings" if study.depth is None else f"The first {words.count(study.depth)} ranks"
            unjudged = words.counted(candidates, "unjudged document")
            yield Paragraph(f"{tops} hold {unjudged}: {WHOLE} shows how far they could move each value.", quiet=True)
        if study.reason:
            yield Paragraph(
                f"No order of judging is known: {study.reason}. The bounds assume grade 0 for every document, or "
                f"grade {top}. Other grades may exceed them."
            )
        if turns:
            yield Paragraph(" ".join(map(str, turns)))
        if result.worklist:
            title = "Documents to judge, those that matter most first"
            yield replace(result.table("worklist"), name=LIST, title=title)
        if considered < candidates and not study.reason:
            tried = words.counted(considered, "document")
            text = f"{tried} at the best ranks were tried, of {words.count(candidates)}. {WHOLE} takes a depth."
            yield Paragraph(text, quiet=True)

    def _worklist(self, study: Study) -> Sequence[DocumentToJudge]:
        """The documents to judge; of a few runs with their ranks also below what the metric looks at."""
        wanted = [one for one in study.worklist(LISTED) if one.effect > 0]
        names = self.subject.contending_runs()
        if not wanted or len(names) > RANKED:
            return wanted
        queries = list(dict.fromkeys(one.query_id for one in wanted))
        source = source_of(self.subject, self.scores, names, study.metric, queries, few=True)
        ranks = ranks_of(source, [one.query_id for one in wanted], [one.doc_id for one in wanted]).T.tolist()
        deep = [{name: rank for name, rank in zip(names, row, strict=True) if rank} for row in ranks]
        return [replace(one, ranks={**more, **one.ranks}) for one, more in zip(wanted, deep, strict=True)]
