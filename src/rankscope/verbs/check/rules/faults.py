"""What ``evaluate`` refuses: lines that cannot be read, scores that are no numbers, documents given twice, metrics that do not fit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankscope.scoring.inputs import takers
from rankscope.verbs.check.rules.base import EXAMPLES, Finding, Rule, counted, moved, some

if TYPE_CHECKING:
    from rankscope.verbs.check.rules.case import Case
    from rankscope.verbs.check.rules.given import Given


def _inputs(case: Case) -> Iterator[tuple[str | None, Given[Any]]]:
    """The qrels (with None) and every run (with its name)."""
    yield None, case.qrels
    for run in case.runs:
        yield run.name, run


def _places(given: Given[Any], rows: Any) -> list[str]:
    """Where rows stand, with the pair they hold."""
    frame, source = given.table.frame, given.table.source
    return [
        f"{source.at(row)}: document {frame['doc_id'][row]} of query {frame['query_id'][row]}"
        for row in rows[:EXAMPLES].tolist()
    ]


class MalformedLines(Rule, code="RS107"):
    """A line of a file cannot be read."""

    why = (
        "evaluate refuses the file. A tool that skips such lines scores the rest without a word: the documents on them count as "
        "not retrieved, or as not judged, and the number is lower or higher by what was lost."
    )
    remedy = "correct the lines, or remove them if they are no rows; a copy that stopped leaves half a line"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a file."""
        for run, given in _inputs(case):
            faults = given.table.source.faults
            if not faults:
                continue
            number = len(faults)
            if faults[-1].kind == "more" and (said := re.search(r"([\d,]+) in all", faults[-1].message)):
                number = int(said[1].replace(",", ""))
            yield self.found(
                f"{given.table.source.label}: {counted(number, 'line' if given.table.source.line_of else 'row')} cannot be read",
                run=run,
                count=number,
                places=[fault.message for fault in faults if fault.kind != "more"],
            )


class NotANumber(Rule, code="RS108"):
    """A score is NaN or infinite (a grade that is no number is RS107)."""

    why = (
        "NaN is neither above nor below any score, so where the document stands depends on how a tool happens to sort; evaluate "
        "refuses it. Infinite scores are all equal, so their order is decided by the document id."
    )
    remedy = "find out why the system gave no number; leave the document out, or give it a score"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a file for NaN, one for infinite scores."""
        for run, given in _inputs(case):
            bad = given.table.nan_rows
            if len(bad):
                what = "score" if run else "grade"
                said = "is NaN" if run else "is no finite number"
                yield self.found(
                    f"{given.table.source.label}: the {what} {said} in {counted(len(bad), 'row')}, which evaluate refuses",
                    run=run,
                    count=len(bad),
                    places=_places(given, bad),
                )
            if run:
                yield from self._infinite(run, given)

    def _infinite(self, run: str, given: Given[Any]) -> Iterator[Finding]:
        score = given.table.frame["score"].to_numpy()
        if not np.isinf(score).any():
            return
        rows = np.flatnonzero(np.isinf(score))
        top = bool((score[rows] > 0).any())
        yield self.found(
            f"{given.name}: the score is infinite in {counted(len(rows), 'row')}, and equal infinite scores are ties",
            severity="warning"
            if top
            else "information",  # minus infinity is how systems mask what they leave out
            run=run,
            count=len(rows),
            places=_places(given, rows),
            hint="look for a division by zero or an overflow; give finite scores",
        )


class Repeated(Rule, code="RS104"):
    """A document is ranked, or judged, twice for a query."""

    why = (
        "evaluate refuses it. A tool that counts a relevant document at each of its places can print more than 1 (nDCG 1.31 has "
        "been seen), and one that keeps either row prints one of two numbers. Of judgments that differ, the tool picks one."
    )
    remedy = "remove the repeated rows where they are made; --duplicates first or best says which one to keep"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding for the qrels, and one a run."""
        yield from self._of_qrels(case)
        for run in case.runs:
            rows = run.sound.repeated
            if len(rows):
                queries = run.sound.frame["query_id"][rows].n_unique()
                effect = case.change(run, duplicates="best")
                said = moved(effect)
                yield self.found(
                    f"{run.name}: {counted(len(rows), 'row')} of {counted(queries, 'query', 'queries')} "
                    f"{'ranks' if len(rows) == 1 else 'rank'} a document again"
                    + (f"; keeping the best score instead of the first row: {said}" if said else ""),
                    run=run.name,
                    count=len(rows),
                    effect=effect,
                    places=run.places(rows),
                )

    def _of_qrels(self, case: Case) -> Iterator[Finding]:
        table = case.qrels.sound
        said = takers([a.metric for a in case.call.metrics])
        several = len(table.repeated_by_aspect) < len(table.repeated)
        rows = table.repeated_by_aspect if several and said.of_one is None else table.repeated
        if not len(rows):
            return
        pairs = table.frame.select("query_id", "doc_id", "grade")
        again = pairs[rows].select("query_id", "doc_id").unique()
        grades = pairs.join(again, on=["query_id", "doc_id"], how="semi")
        differ = int(
            grades.group_by("query_id", "doc_id")
            .agg(n=pl.col("grade").n_unique())
            .filter(pl.col("n") > 1)
            .height
        )
        name = table.source.label
        message = f"{name}: {counted(again.height, 'document')} judged twice or more, {differ:,} with different grades"
        hint = self.remedy
        if several and said.of_one:
            message = (
                f"{name}: {counted(again.height, 'document has', 'documents have')} several grades, by subtopic or judge, "
                f"and {said.of_one} takes one"
            )
            hint = "alpha_nDCG, ERR_IA and their kin take several (-m); --duplicates best keeps the highest grade"
        effect = case.change(case.runs[0], duplicates="best")
        if size := moved(effect):
            message += f"; the highest grade instead of the first: {size}"
        yield self.found(
            message,
            hint=hint,
            count=len(rows),
            effect=effect,
            places=case.qrels.places(rows),
        )


class Refused(Rule, code="RS109"):
    """A metric that was asked for cannot be computed on these data."""

    why = (
        "evaluate stops with this message. A tool that computes it nevertheless makes something up: a grade above the scale of "
        "ERR, a subtopic that no judgment names, a fraction cut to a whole number."
    )
    remedy = "give the metric what it needs, or ask for another (rankscope metrics NAME tells what it takes)"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding for the metrics that are refused for one reason."""
        reasons: dict[str, list[str]] = {}
        for metric, message in case.refused.items():
            reasons.setdefault(message, []).append(metric)
        for message, metrics in reasons.items():
            yield self.found(f"{some(metrics)} cannot be computed: {message}", count=len(metrics))
