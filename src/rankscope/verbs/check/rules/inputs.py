"""What was given: lines that cannot be read, scores that are not numbers, repeated documents, grades off their scale, ids that do not match."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.scoring.inputs import taker_of_one_grade
from rankscope.tables import Run
from rankscope.verbs.check.rules.case import CheckCase, InputTable
from rankscope.verbs.check.rules.rule import Finding, Rule, changes

LOOKED_AT = 20  # documents at the top of a ranking that are compared with judged ones
CHUNK = r"(?i)(?:(?:[#_:/|@.-]|::)?(?:chunk|passage|part|segment|seg|para|sent)[#_:.-]?|[#_:|@-])\d+(?:-\d+)?$"


# --- what evaluate refuses ---------------------------------------------------------------------------


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
            bad = given.table.nan_rows
            if len(bad):
                fault = "the score is NaN" if run else "the grade is not a finite number"
                yield self.finding(
                    f"{given.table.source.label}: {fault} in {words.counted(len(bad), 'row')}, which evaluate refuses",
                    run=run,
                    count=len(bad),
                    places=given.places(bad, of_sound=False),
                )
            if run:
                yield from self._infinite(run, given)

    def _infinite(self, run: str, given: InputTable[Any]) -> Iterator[Finding]:
        score = given.table.frame["score"].to_numpy()
        rows = np.flatnonzero(np.isinf(score))
        if not len(rows):
            return
        # minus infinity is how systems mask what they leave out
        yield self.finding(
            f"{given.name}: the score is infinite in {words.counted(len(rows), 'row')}, and equal infinite scores are ties",
            severity="warning" if (score[rows] > 0).any() else "information",
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
                queries = run.sound.frame["query_id"][rows].n_unique()
                effect = case.change(run, duplicates="best")
                yield self.finding(
                    f"{run.name}: {words.counted(len(rows), 'row')} of {words.counted(queries, 'query')} "
                    f"{words.agree(len(rows), 'repeats')} a document"
                    + changes(effect, "; keeping the best score instead of the first row: "),
                    run=run.name,
                    count=len(rows),
                    effect=effect,
                    places=run.places(rows),
                )

    def _of_qrels(self, case: CheckCase) -> Iterator[Finding]:
        table = case.qrels.sound
        taker = taker_of_one_grade([a.metric for a in case.request.metrics])
        several = len(table.repeated_by_aspect) < len(table.repeated)
        rows = table.repeated_by_aspect if several and taker is None else table.repeated
        if not len(rows):
            return
        pair = ["query_id", "doc_id"]
        grades = table.frame.join(table.frame[rows].select(pair).unique(), on=pair, how="semi")
        kinds = grades.group_by(pair).agg(n=pl.col("grade").n_unique())["n"]
        name = table.source.label
        if several and taker:
            message = (
                f"{name}: {words.counted(len(kinds), 'document has', 'documents have')} several grades, by subtopic or judge, "
                f"and {taker} takes one"
            )
            hint = "alpha_nDCG, ERR_IA and similar metrics take several; --duplicates best keeps the highest grade"
        else:
            message = (
                f"{name}: {words.counted(len(kinds), 'document is', 'documents are')} judged more than once, "
                f"{words.count(int((kinds > 1).sum()))} with different grades"
            )
            hint = self.remedy
        effect = case.change(case.runs[0], duplicates="best")
        yield self.finding(
            message + changes(effect, "; the highest grade instead of the first: "),
            hint=hint,
            count=len(rows),
            effect=effect,
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
        reasons: dict[str, list[str]] = {}
        for metric, message in case.refused.items():
            reasons.setdefault(message, []).append(metric)
        for message, metrics in reasons.items():
            yield self.finding(f"{words.sample(metrics)} cannot be computed: {message}", count=len(metrics))


class OffScale(Rule, code="RS112"):
    """A grade is not on the stated scale."""

    needs = "scale"
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
        grade, table = pl.col("grade"), case.qrels.sound
        whole = low % 1 == 0 and high % 1 == 0
        odd = ((grade < low) & (grade >= 0)) | (grade > high) | ((grade % 1 != 0) if whole else pl.lit(False))
        rows = np.flatnonzero(table.frame.select(odd).to_series().to_numpy())
        if not len(rows):
            return
        values = table.frame["grade"][rows].unique().sort().to_list()
        effect: dict[str, float] = {}
        if case.scored_runs:
            clipped = pl.when(grade < 0).then(grade).otherwise(grade.clip(low, high))
            effect = case.change(case.comparable[0], grades=table._having(table.frame.with_columns(grade=clipped)))
        yield self.finding(
            f"{words.counted(len(rows), 'grade is', 'grades are')} not on the scale {low:g} to {high:g} "
            f"({words.sample([f'{v:g}' for v in values], most=4)})"
            + changes(effect, "; moved to the ends of the scale: "),
            count=len(rows),
            effect=effect,
            places=case.qrels.places(rows),
        )


# --- ids that mean the same and are written differently ----------------------------------------------


@dataclass(frozen=True)
class Variant:
    """A way in which ids differ: in words, and the expression that removes the difference from a column.

    ``sides`` says whose ids are changed: ``both``, or those of the ``run`` or of the ``qrels`` alone.
    """

    words: str
    pattern: str
    instead: str = ""
    sides: str = "both"

    def key(self, column: str, side: str) -> pl.Expr:
        """The ids of a column without the difference."""
        ids = pl.col(column)
        if self.sides not in {"both", side}:
            return ids
        return ids.str.to_lowercase() if self.words == "case" else ids.str.replace_all(self.pattern, self.instead)


VARIANTS = (
    Variant("spaces", r"^[\s\x{a0}\x{200b}\x{feff}]+|[\s\x{a0}\x{200b}\x{feff}]+$|([ _\x{a0}])[\s_\x{a0}]*", ""),
    Variant("case", ""),
    Variant("leading zeros", r"(^|[^0-9])0+([0-9])", "${1}${2}"),
    Variant("a decimal point", r"^([0-9]+)\.0+$", "${1}"),
)
PREFIX = r"^[^0-9]+([0-9]+)$"
QUERY_VARIANTS = (
    *VARIANTS,
    Variant("a prefix", PREFIX, "${1}", sides="run"),
    Variant("a prefix", PREFIX, "${1}", sides="qrels"),
)
DOC_VARIANTS = (
    *VARIANTS,
    Variant("a file extension", r"(?i)\.(?:txt|html?|pdf|xml|json|md)$"),
    Variant("a chunk number", CHUNK, sides="run"),
    Variant("a chunk number (in the qrels)", CHUNK, sides="qrels"),
)
Match = tuple[Variant, pl.DataFrame]


class QueryIdsAlike(Rule, code="RS113"):
    """Query ids of run and qrels look alike and differ."""

    why = (
        "Ids are strings: 01 is not 1, and q7 is not 7. A query of the run whose id is not in the qrels is left out, and the judged "
        "one scores as empty."
    )
    remedy = "write the ids alike; spreadsheets and data frames drop leading zeros and add .0"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run: the spelling that makes most unmatched queries match."""
        for run in case.runs:
            missing = _column("judged", case.qrels.query_set - run.query_set)
            extra = _column("ranked", run.query_set - case.qrels.query_set)
            best: Match | None = None
            for variant in QUERY_VARIANTS:
                ranked = extra.with_columns(key=variant.key("ranked", "run")).unique("key", keep="none")
                judged = missing.with_columns(key=variant.key("judged", "qrels")).unique("key", keep="none")
                best = _better(best, variant, ranked.join(judged, on="key").sort("judged"))
            if best is not None:
                yield self._finding(case, run, *best)

    def _finding(self, case: CheckCase, run: InputTable[Run], variant: Variant, pairs: pl.DataFrame) -> Finding:
        renamed = run.sound.frame.with_columns(query_id=pl.col("query_id").replace(pairs["ranked"], pairs["judged"]))
        effect, would = _effect(case, run, replace(run.sound, frame=renamed, more_queries=()))
        unjudged = words.counted(pairs.height, "query without judgments", "queries without judgments")
        return self.finding(
            f"{run.name}: {unjudged} {_only_in(variant, pairs)}{would}",
            run=run.name,
            count=pairs.height,
            effect=effect,
            queries=pairs["ranked"].to_list(),
        )


class DocIdsAlike(Rule, code="RS114"):
    """Document ids of run and qrels look alike and differ."""

    why = (
        "Ids are strings: a document whose id is written differently in run and qrels counts as not retrieved, and what is ranked in "
        "its place as not relevant. Chunks (d1#2 of d1) never match judgments of whole documents."
    )
    remedy = "write the ids alike; map chunks to their documents before scoring, and keep the best (--duplicates best)"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run: the spelling that makes most unjudged documents of its top match judged ones it lacks."""
        for run in case.comparable:
            top = case.top(run.name, max(LOOKED_AT, case.cutoff)).select("query_id", ranked="doc_id")
            judged = case.judgments.select("query_id", judged="doc_id")
            top = top.filter(pl.col("query_id").is_in(judged["query_id"].unique().to_list()))
            strange = top.join(judged, left_on=["query_id", "ranked"], right_on=["query_id", "judged"], how="anti")
            best: Match | None = None
            for variant in DOC_VARIANTS if strange.height else ():
                pairs = strange.with_columns(key=variant.key("ranked", "run")).join(
                    judged.with_columns(key=variant.key("judged", "qrels")), on=["query_id", "key"]
                )
                if _better(best, variant, pairs) is not best:
                    best = _better(best, variant, _not_retrieved(run.sound, pairs))
            if best is not None:
                yield self._finding(case, run, *best)

    def _finding(self, case: CheckCase, run: InputTable[Run], variant: Variant, pairs: pl.DataFrame) -> Finding:
        judged = case.judgments.select("query_id", judged="doc_id").with_columns(key=variant.key("judged", "qrels"))
        frame = run.sound.frame.with_columns(key=variant.key("doc_id", "run"))
        known = judged.unique(["query_id", "key"], keep="first")
        frame = frame.join(known, on=["query_id", "key"], how="left", maintain_order="left")
        itself = judged.select("query_id", doc_id="judged", itself="judged")
        frame = frame.join(itself, on=["query_id", "doc_id"], how="left", maintain_order="left")
        renamed = frame.with_columns(doc_id=pl.coalesce("itself", "judged", "doc_id"))
        renamed = renamed.drop("key", "judged", "itself")
        effect, would = _effect(case, run, replace(run.sound, frame=renamed), duplicates="best")
        return self.finding(
            f"{run.name}: {words.counted(pairs.height, 'unjudged document')} of its top {max(LOOKED_AT, case.cutoff)} "
            f"{_only_in(variant, pairs)}{would}",
            run=run.name,
            count=pairs.height,
            effect=effect,
            documents=list(pairs.select("query_id", "ranked").iter_rows()),
        )


def _column(name: str, ids: frozenset[str]) -> pl.DataFrame:
    return pl.DataFrame({name: sorted(ids)}, {name: pl.String})


def _better(best: Match | None, variant: Variant, pairs: pl.DataFrame) -> Match | None:
    """The best match so far, or this one where it has more pairs."""
    return (variant, pairs) if pairs.height > (best[1].height if best else 0) else best


def _only_in(variant: Variant, pairs: pl.DataFrame) -> str:
    """How ids differ from judged ones, with the first pair."""
    verb = words.agree(pairs.height, "differs")
    return f"{verb} from a judged one only in {variant.words}: {pairs['ranked'][0]!r} and {pairs['judged'][0]!r}"


def _not_retrieved(run: Run, pairs: pl.DataFrame) -> pl.DataFrame:
    """Of pairs that look alike, those whose judged document is not in the run itself."""
    rows = run.frame.select("query_id", "doc_id")[run.rows_of(pairs["judged"])]
    return pairs.join(rows, left_on=["query_id", "judged"], right_on=["query_id", "doc_id"], how="anti")


def _effect(case: CheckCase, run: InputTable[Run], table: Run, **policy: Any) -> tuple[dict[str, float], str]:
    """What treating the ids as the same would change, and in words."""
    if run in case.comparable:
        effect = case.change(run, table=table, **policy)
        return effect, changes(effect, "; treated as the same: ")
    means: Sequence[tuple[Any, float]] = list(case.again(run, table=table, **policy).items())
    if not means:
        return {}, ""
    return {}, f"; treated as the same, {means[0][0]} would be {words.number(means[0][1], digits=3)}"
