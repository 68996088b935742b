"""What was given: lines, scores and grades, repeated documents, metrics that do not fit, ids that do not match."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankscope import words
from rankscope.engines.pairs import PAIR, SameIds, documents_alike, queries_alike, shared
from rankscope.scoring.inputs import takers
from rankscope.tables import Run
from rankscope.verbs.check.case import LOOKED_AT, CheckCase, InputTable
from rankscope.verbs.check.rule import Finding, Rule


def _inputs(case: CheckCase) -> Iterator[tuple[str | None, InputTable[Any]]]:
    """The qrels (with None) and every run (with its name)."""
    yield None, case.qrels
    for run in case.runs:
        yield run.name, run


class MalformedLines(Rule, code="RS107"):
    """A line of a file cannot be read."""

    why = (
        "evaluate refuses the file. A tool that skips such lines scores the rest silently: the documents on them count as not "
        "retrieved, or as unjudged, and the number is off by what was lost."
    )
    remedy = "correct the lines, or remove them if they are not data; an interrupted copy leaves half a line"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a file."""
        for run, given in _inputs(case):
            faults = given.table.source.faults
            if not faults:
                continue
            number = len(faults)
            if faults[-1].kind == "more" and (total := re.search(r"([\d,]+) in all", faults[-1].message)):
                number = int(total[1].replace(",", ""))
            noun = "line" if given.table.source.line_of else "row"
            yield self.finding(
                f"{given.table.source.label}: {words.counted(number, noun)} cannot be read",
                run=run,
                count=number,
                places=[fault.message for fault in faults if fault.kind != "more"],
            )


class NotANumber(Rule, code="RS108"):
    """A score is NaN or infinite (a grade that is not a number is RS107)."""

    why = (
        "NaN is neither above nor below any score, so the rank of the document depends on how a tool happens to sort; evaluate "
        "refuses it. Infinite scores are all equal, so the document id decides their order."
    )
    remedy = "find out why the system gave no number; leave the document out, or give it a score"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a file for NaN, one for infinite scores."""
        for run, given in _inputs(case):
            rows = given.table.nan_rows
            if len(rows):
                fault = "the score is NaN" if run else "the grade is not a finite number"
                yield self.finding(
                    f"{given.table.source.label}: {fault} in {words.counted(len(rows), 'row')}, which evaluate refuses",
                    run=run,
                    count=len(rows),
                    places=given.places(rows, of_sound=False),
                )
            score = given.table.frame["score"].to_numpy() if run else np.empty(0)
            rows = np.flatnonzero(np.isinf(score))
            if len(rows):
                yield self.finding(
                    f"{given.name}: the score is infinite in {words.counted(len(rows), 'row')}, and equal infinite scores are ties",
                    serious=bool((score[rows] > 0).any()),  # minus infinity is how systems mask what they leave out
                    run=run,
                    count=len(rows),
                    places=given.places(rows, of_sound=False),
                    hint="look for a division by zero or an overflow; give finite scores",
                )


class Repeated(Rule, code="RS104"):
    """A document is ranked, or judged, twice for a query."""

    why = (
        "evaluate refuses it. A tool that counts a relevant document every time it appears can print more than 1 (nDCG 1.31 has been "
        "seen); one that keeps either row prints one of two numbers. Where judgments differ, the tool picks one."
    )
    remedy = "remove the repeated rows at their source; --duplicates first or best says which one to keep"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding for the qrels, and one a run."""
        yield from self._of_qrels(case)
        for run in case.runs:
            rows = run.sound.repeated
            if len(rows):
                queries = words.counted(run.sound.frame["query_id"][rows].n_unique(), "query")
                yield self.finding(
                    f"{run.name}: {words.counted(len(rows), 'row')} of {queries} {words.agree(len(rows), 'repeats')} a document",
                    tail="; keeping the best score instead of the first row: {}",
                    run=run.name,
                    count=len(rows),
                    effect=case.change(run, duplicates="best"),
                    places=run.places(rows),
                )

    def _of_qrels(self, case: CheckCase) -> Iterator[Finding]:
        table = case.qrels.sound
        taker = takers([m.metric for m in case.request.metrics])
        several = len(table.repeated_by_aspect) < len(table.repeated)
        rows = table.repeated_by_aspect if several and taker.of_one is None else table.repeated
        if not len(rows):
            return
        grades = shared(table.frame, table.frame[rows]).select(*PAIR, "grade").unique()
        number, hint = grades.select(PAIR).n_unique(), self.remedy
        if several and taker.of_one:
            has = words.counted(number, "document has", "documents have")
            message = f"{has} several grades, by subtopic or judge, and {taker.of_one} takes one"
            hint = "alpha_nDCG, ERR_IA and similar metrics take several; --duplicates best keeps the highest grade"
        else:
            pairs = grades.select(PAIR)
            differing = pairs.filter(pairs.is_duplicated()).unique().height
            has = words.counted(number, "document is", "documents are")
            message = f"{has} judged more than once, {words.count(differing)} with different grades"
        yield self.finding(
            f"{table.source.label}: {message}",
            tail="; the highest grade instead of the first: {}",
            hint=hint,
            count=len(rows),
            effect=case.change(case.runs[0], duplicates="best"),
            places=case.qrels.places(rows),
        )


class Refused(Rule, code="RS109"):
    """A metric cannot be computed on these data."""

    why = (
        "evaluate stops with this message. A tool that computes it anyway makes something up: a grade above the scale of ERR, a "
        "subtopic that no judgment names, a fraction cut to a whole number."
    )
    remedy = "give the metric what it needs, or choose another (rankscope metrics NAME tells what it takes)"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding for the metrics that are refused for one reason."""
        for message in dict.fromkeys(case.refused.values()):
            metrics = [metric for metric, reason in case.refused.items() if reason == message]
            yield self.finding(f"{words.sample(metrics)} cannot be computed: {message}", count=len(metrics))


class OffScale(Rule, code="RS112"):
    """A grade is not on the stated scale."""

    needs = "scale"
    tail = "; moved to the ends of the scale: {}"
    why = (
        "Gains grow with the grade: a 30 typed for a 3, or a code for 'unsure' such as 9, outweighs all others in the ideal ranking, and "
        "nDCG of the query falls for every system. Half grades on a scale of whole ones come from averaging judges."
    )
    remedy = "correct the grades, or state the scale that they are on (--scale)"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding, where a scale was stated; negative grades mark documents that were pooled and not judged."""
        if case.background.scale is None:
            return
        low, high = case.background.scale
        table = case.qrels.sound
        column = table.frame["grade"]
        grade = column.to_numpy()
        broken = (grade % 1 != 0) & (low % 1 == 0) & (high % 1 == 0)
        rows = np.flatnonzero(((grade < low) & (grade >= 0)) | (grade > high) | broken)
        if not len(rows):
            return
        on_scale = column.zip_with(column < 0, column.clip(low, high))
        clipped = table._having(table.frame.with_columns(grade=on_scale))
        values = [f"{value:g}" for value in np.unique(grade[rows])]
        yield self.finding(
            f"{words.counted(len(rows), 'grade is', 'grades are')} not on the scale {low:g} to {high:g} "
            f"({words.sample(values, most=4)})",
            count=len(rows),
            effect=case.change(case.comparable[0], qrels=clipped) if case.scored else None,
            places=case.qrels.places(rows),
        )


# --- ids that mean the same and are written differently ----------------------------------------------


class _IdsAlike(Rule):
    """Ids of a run that differ from those of the judgments in spelling only."""

    tail = "; treated as the same: {}"

    def _finding(
        self, case: CheckCase, run: InputTable[Run], table: Run, same: SameIds, what: str, **more: Any
    ) -> Finding:
        """A finding with the first pair, and what ``table``, the run with its ids as in the judgments, would have."""
        policies: dict[str, Any] = {} if "queries" in more else {"duplicates": "best"}
        ranked, judged = same.pairs["ranked"][0], same.pairs["judged"][0]
        verb = words.agree(same.pairs.height, "differs")
        message = (
            f"{run.name}: {what} {verb} from a judged one only in {same.spelling.words}: {ranked!r} and {judged!r}"
        )
        if run not in case.comparable:
            for metric, value in list(case.again(run, table=table, **policies).items())[:1]:
                message += f"; treated as the same, {metric} would be {words.number(value, digits=3)}"
        return self.finding(message, run=run.name, effect=case.change(run, table=table, **policies), **more)


class QueryIdsAlike(_IdsAlike, code="RS113"):
    """Query ids of run and qrels look alike and differ."""

    why = (
        "Ids are strings: 01 is not 1, and q7 is not 7. A query of the run whose id is not in the qrels is left out, and the judged "
        "one scores as empty."
    )
    remedy = "write the ids alike; spreadsheets and data frames drop leading zeros and add .0"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run: the spelling that makes most unmatched queries match."""
        for run in case.runs:
            same = queries_alike(run.query_set - case.qrels.query_set, case.qrels.query_set - run.query_set)
            if same is not None:
                queries = same.pairs["ranked"].to_list()
                what = words.counted(len(queries), "query without judgments", "queries without judgments")
                yield self._finding(case, run, same.with_queries(run.sound), same, what, queries=queries)


class DocIdsAlike(_IdsAlike, code="RS114"):
    """Document ids of run and qrels look alike and differ."""

    why = (
        "Ids are strings: a document whose id is written differently in run and qrels counts as not retrieved, and what is ranked in "
        "its place as not relevant. Chunks (d1#2 of d1) never match judgments of whole documents."
    )
    remedy = "write the ids alike; map chunks to their documents before scoring, and keep the best (--duplicates best)"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run: the spelling that makes most unjudged documents of its top match judged ones it lacks."""
        deepest = max(LOOKED_AT, case.cutoff)
        for run in case.comparable:
            same = documents_alike(run.sound, case.top(run, deepest), case.judgments)
            if same is not None:
                what = f"{words.counted(same.pairs.height, 'unjudged document')} of its top {deepest}"
                table = same.with_documents(run.sound, case.judgments)
                documents = same.pairs.select("query_id", "ranked").rows()
                yield self._finding(case, run, table, same, what, documents=documents)
