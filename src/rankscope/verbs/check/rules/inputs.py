"""What was given: lines, scores and grades, repeated documents, metrics that do not fit, queries and ids that do not match."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rankscope import words
from rankscope.engines.base import score
from rankscope.engines.pairs import PAIR, SameIds, documents_alike, fold_pattern, queries_alike, within
from rankscope.lists import Judged
from rankscope.metrics import Metric
from rankscope.panels.samples import mean
from rankscope.scoring.health import REMEDIES
from rankscope.scoring.inputs import taker_of_one_grade
from rankscope.scoring.suspicions import swapped, twins, twins_in_words
from rankscope.tables import Run
from rankscope.verbs.check.case import LOOKED_AT, CheckCase, InputTable, ScoredRun
from rankscope.verbs.check.rule import Finding, Rule

MANY_HOPELESS = 0.1  # from this share of queries without a relevant document on it is a warning
LEFT_OUT = ": {} compared with leaving them out"


def _inputs(case: CheckCase) -> Iterator[tuple[str | None, InputTable[Any]]]:
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
        for run, given in _inputs(case):
            faults = given.table.source.faults
            if not faults:
                continue
            number = len(faults)
            if faults[-1].kind == "more" and (total := re.search(r"([\d,]+) in all", faults[-1].message)):
                number = int(total[1].replace(",", ""))
            noun = "line" if given.table.source.line_of else "row"
            message = f"{given.table.source.label}: {words.counted(number, noun)} cannot be read"
            yield self.finding(message, run=run, count=number, places=[f.message for f in faults if f.kind != "more"])


class NotANumber(Rule, code="RS108"):
    """A score is NaN or infinite (a grade that is not a number is RS107)."""

    why = (
        "NaN is neither above nor below any score, so the rank of the document depends on how a tool happens to sort; evaluate "
        "refuses it. Infinite scores are all equal, so the document id decides their order."
    )
    remedy = "find out why the system gave no number; leave the document out, or give it a score"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        for run, given in _inputs(case):
            rows = given.table.nan_rows
            if len(rows):
                fault = "the score is NaN" if run else "the grade is not a finite number, or too large to compute with"
                message = (
                    f"{given.table.source.label}: {fault} in {words.counted(len(rows), 'row')}, which evaluate refuses"
                )
                yield self.finding(message, run=run, count=len(rows), places=given.places(rows, of_sound=False))
            score = given.table.frame["score"].to_numpy() if run else np.empty(0)
            rows = np.flatnonzero(np.isinf(score))
            if len(rows):
                yield self.finding(
                    f"{given.name}: the score is infinite in {words.counted(len(rows), 'row')}, and equal infinite scores are ties",
                    serious=bool((score[rows] > 0).any()),  # minus infinity is how systems mask what they leave out
                    run=run, count=len(rows), places=given.places(rows, of_sound=False),
                    hint="look for a division by zero or an overflow; give finite scores",
                )  # fmt: skip


class Repeated(Rule, code="RS104"):
    """A document is ranked, or judged, twice for a query."""

    why = (
        "evaluate refuses it. A tool that counts a relevant document every time it appears can print more than 1 (nDCG 1.31 has been "
        "seen); one that keeps either row prints one of two numbers. Where judgments differ, the tool picks one."
    )
    remedy = REMEDIES["RS104"]

    def find(self, case: CheckCase) -> Iterator[Finding]:
        yield from self._of_qrels(case)
        for run in case.runs:
            rows = run.sound.repetitions
            if len(rows):
                queries = words.counted(run.sound.frame["query_id"][rows].n_unique(), "query")
                yield self.finding(
                    f"{run.name}: {words.counted(len(rows), 'row')} of {queries} {words.agree(len(rows), 'repeats')} a document",
                    tail="; keeping the best score instead of the first row: {}", run=run.name, count=len(rows),
                    effect=case.change(run, duplicates="best"), places=run.places(rows),
                )  # fmt: skip

    def _of_qrels(self, case: CheckCase) -> Iterator[Finding]:
        table = case.qrels.sound
        taker = taker_of_one_grade([m.metric for m in case.request.metrics])
        several = len(table.repetitions_by_aspect) < len(table.repetitions)
        rows = table.repetitions_by_aspect if several and taker is None else table.repetitions
        if not len(rows):
            return
        grades = within(table.frame, table.frame[rows]).select(*PAIR, "grade").unique()
        number, hint = grades.select(PAIR).n_unique(), self.remedy
        if several and taker:
            has = words.counted(number, "document has", "documents have")
            message = f"{has} several grades, by subtopic or judge, and {taker} takes one"
            hint = "alpha_nDCG, ERR_IA and similar metrics take several; --duplicates best keeps the highest grade"
        else:
            pairs = grades.select(PAIR)
            differing = pairs.filter(pairs.is_duplicated()).unique().height
            has = words.counted(number, "document is", "documents are")
            message = f"{has} judged more than once, {words.count(differing)} with different grades"
        yield self.finding(
            f"{table.source.label}: {message}", tail="; the highest grade instead of the first: {}", hint=hint,
            count=len(rows), effect=case.change(case.runs[0], duplicates="best"), places=case.qrels.places(rows),
        )  # fmt: skip


class Refused(Rule, code="RS109"):
    """A metric cannot be computed on these data."""

    why = (
        "evaluate stops with this message. A tool that computes it anyway makes something up: a grade above the scale of ERR, a "
        "subtopic that no judgment names, a fraction cut to a whole number."
    )
    remedy = "give the metric what it needs, or choose another (rankscope metrics NAME tells what it takes)"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        for message in dict.fromkeys(case.refusals.values()):
            metrics = [metric for metric, reason in case.refusals.items() if reason == message]
            yield self.finding(f"{words.sample(metrics)} cannot be computed: {message}", count=len(metrics))


class OffScale(Rule, code="RS112", needs="scale", tail="; moved to the ends of the scale: {}"):
    """A grade is not on the stated scale."""

    why = (
        "Gains grow with the grade: a 30 typed for a 3, or a code for 'unsure' such as 9, outweighs all others in the ideal ranking, and "
        "nDCG of the query falls for every system. Half grades on a scale of whole ones come from averaging judges."
    )
    remedy = "correct the grades, or state the scale that they are on (--scale)"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding, where a scale was stated; negative grades mark documents that were pooled and not judged."""
        if case.scale is None:
            return
        low, high = case.scale
        table = case.qrels.sound
        column = table.frame["grade"]
        grade = column.to_numpy()
        broken = (grade % 1 != 0) & (low % 1 == 0) & (high % 1 == 0)
        rows = np.flatnonzero(((grade < low) & (grade >= 0)) | (grade > high) | broken)
        if not len(rows):
            return
        on_scale = column.zip_with(column < 0, column.clip(low, high))
        clipped = table._having(table.frame.with_columns(grade=on_scale))
        values = [words.amount(value) for value in np.unique(grade[rows])]
        yield self.finding(
            f"{words.counted(len(rows), 'grade is', 'grades are')} not on the scale {words.amount(low)} to {words.amount(high)} "
            f"({words.sample(values, most=4)})",
            count=len(rows), effect=case.change(case.comparable[0], qrels=clipped) if case.scored_runs else None,
            places=case.qrels.places(rows),
        )  # fmt: skip


class MissingQueries(Rule, code="RS101", tail=LEFT_OUT):
    """A judged query has no ranking in the run."""

    why = (
        "It scores as empty, which is 0 for most metrics, and pulls the mean down. A tool that averages over the queries of the run "
        "leaves it out, and prints a higher number for a system that answered less."
    )
    remedy = REMEDIES["RS101"]

    def find(self, case: CheckCase) -> Iterator[Finding]:
        for run in case.scored_runs:
            missing = sorted(run.evaluation.missing)
            for caution in case.cautions(self.code, run):
                effect = run.cost(missing)
                yield self.finding(caution.message, run=run.name, effect=effect, queries=missing)
            if missing and case.convention.queries in {"run", "both"}:
                yield self._left_out(case, run, missing)

    def _left_out(self, case: CheckCase, run: ScoredRun, missing: Sequence[str]) -> Finding:
        effect: dict[Metric, float] = {}
        for m in case.metrics:
            kept = int(np.count_nonzero(~np.isnan(run.values[m])))
            counts = m.aggregate == "mean" and m.empty == 0 and m not in run.weights and kept
            if counts and case.convention.queries == "both":
                effect[m] = -run.means[m] * len(missing) / (kept + len(missing))
        judged = words.counted(run.health.judged_queries, "judged query")
        message = f"{run.name} has no ranking for {words.count(len(missing))} of {judged} ({words.sample(missing)}), left out of the mean"
        return self.finding(
            message, tail="; counted as empty: {}", serious=False, run=run.name, effect=effect, queries=missing
        )


class ExtraQueries(Rule, code="RS102", severity="information", tail="; counting them: {}"):
    """The run ranks queries that have no judgments."""

    why = (
        "They are left out of the mean. A tool that averages over the queries of the run counts each as 0, and the number falls "
        "with every unjudged query."
    )
    remedy = REMEDIES["RS102"]

    def find(self, case: CheckCase) -> Iterator[Finding]:
        for run in case.scored_runs:
            for caution in case.cautions(self.code, run):
                yield self.finding(
                    caution.message, run=run.name, count=run.health.extra_queries,
                    effect=self._effect(case, run), queries=run.health.extra,
                )  # fmt: skip

    def _effect(self, case: CheckCase, run: ScoredRun) -> dict[Metric, float]:
        weighed = case.request.policies.weights is not None
        if case.convention.queries not in {"judged", "both"} or not case.plain or weighed:
            return {}
        blocks = run.input.sound.by_query().blocks
        extra = [query not in case.qrels.query_set for query in blocks.query.to_list()]
        sizes = blocks.size[np.array(extra)]
        none, whole = np.zeros(len(sizes), dtype=np.int64), np.empty(0, dtype=np.int64)
        empty = Judged([""] * len(sizes), sizes, none, none, np.empty(0), whole, whole, whole)
        metrics = [m for m in case.metrics if m.aggregate == "mean" and not m.needs]
        out = {}
        for metric, more in zip(metrics, score(empty, metrics), strict=True):
            now = run.values[metric]
            weight = np.append(run.weights.get(metric, np.ones(len(now))), more.weight)
            out[metric] = mean(metric, np.append(now, more.value), weight) - run.means[metric]
        return out


class NothingRelevant(Rule, code="RS103", severity="information", tail=LEFT_OUT):
    """A judged query has no relevant document."""

    why = (
        "Any ranking scores 0 on most metrics, for every system: all means fall by the same factor, and no difference changes its "
        "sign. Tools that leave such queries out, or count them as 1, print another number."
    )
    remedy = REMEDIES["RS103"]

    def find(self, case: CheckCase) -> Iterator[Finding]:
        for caution in case.cautions(self.code):
            hopeless = sorted(case.qrels.query_set.difference(case.relevant["query_id"].to_list()))
            first = case.scored_runs[0]
            yield self.finding(
                caution.message,
                serious=len(hopeless) >= MANY_HOPELESS * first.health.judged_queries, effect=first.cost(hopeless),
                queries=hopeless,
            )  # fmt: skip


class EmptyRankings(Rule, code="RS106", tail=LEFT_OUT):
    """A judged query has a ranking without any document."""

    why = "It scores as empty, which is 0 for most metrics. Files cannot hold such a ranking, so a saved run loses the query."
    remedy = REMEDIES["RS106"]

    def find(self, case: CheckCase) -> Iterator[Finding]:
        for run in case.scored_runs:
            for caution in case.cautions(self.code, run):
                lengths = zip(run.evaluation.query_id, run.judged().retrieved.tolist(), strict=True)
                known = case.qrels.query_set - run.evaluation.missing
                empty = [query for query, length in lengths if not length and query in known]
                yield self.finding(caution.message, run=run.name, effect=run.cost(empty), queries=empty)


class NoSharedQuery(Rule, code="RS110"):
    """No query of the run is judged."""

    why = "There is nothing to score, and evaluate stops. A tool that carries on prints 0, or an empty table."
    remedy = "check that run and qrels belong to the same collection, and that their query ids are written alike"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        for run in case.runs:
            if run not in case.comparable:
                have, want = run.table.queries[:2], case.qrels.table.queries[:2]
                message = f"no query of {run.name} is judged: the run has ids like {_ids(have)}, the qrels {_ids(want)}"
                yield self.finding(message, run=run.name, count=len(run.query_set), queries=have)


class NoSharedDocument(Rule, code="RS111"):
    """No judged document is retrieved by the run for any query."""

    why = "Everything retrieved counts as not relevant and the number is 0, which looks like a bad system but measures nothing."
    remedy = REMEDIES["RS111"]

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run, where nothing below a depth was left out of sight."""
        for run in case.scored_runs if case.whole else ():
            judged = run.judged()
            if len(judged.grade) and not judged.in_run.sum():
                have, want = (table["doc_id"].head(2).to_list() for table in (run.input.sound.frame, case.judgments))
                yield self.finding(
                    f"{run.name}: none of {words.counted(len(judged.grade), 'judged document')} is retrieved: the run has ids like "
                    f"{_ids(have)}, the qrels {_ids(want)}",
                    run=run.name,
                )


def _ids(ids: Sequence[str]) -> str:
    return ", ".join(map(repr, ids)) or "none"


class _IdsAlike(Rule):
    """Ids of a run that differ from those of the judgments in spelling only."""

    tail = "; treated as the same: {}"

    def _of(self, case: CheckCase, run: InputTable[Run], table: Run, same: SameIds, what: str, **more: Any) -> Finding:
        policies: dict[str, Any] = {} if "queries" in more else {"duplicates": "best"}
        ranked, judged = same.pairs["ranked"][0], same.pairs["judged"][0]
        verb = words.agree(same.pairs.height, "differs")
        message = (
            f"{run.name}: {what} {verb} from a judged one only in {same.spelling.words}: {ranked!r} and {judged!r}"
        )
        if pattern := fold_pattern(same):
            message += f" (--fold-by '{pattern}' folds them)"
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
    remedy = REMEDIES["RS113"]

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run: the spelling that makes most unmatched queries match."""
        for run in case.runs:
            same = queries_alike(run.query_set - case.qrels.query_set, case.qrels.query_set - run.query_set)
            if same is not None:
                queries = same.pairs["ranked"].to_list()
                what = words.counted(len(queries), "query without judgments", "queries without judgments")
                yield self._of(case, run, same.with_queries(run.sound), same, what, queries=queries)


class DocIdsAlike(_IdsAlike, code="RS114"):
    """Document ids of run and qrels look alike and differ."""

    why = (
        "Ids are strings: a document whose id is written differently in run and qrels counts as not retrieved, and what is ranked in "
        "its place as not relevant. Chunks (d1#2 of d1) never match judgments of whole documents."
    )
    remedy = REMEDIES["RS114"]

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run: the spelling that makes most unjudged documents of its top match judged ones it lacks."""
        deepest = max(LOOKED_AT, case.cutoff)
        for run in case.comparable:
            same = documents_alike(run.sound, case.top(run, deepest), case.judgments)
            if same is not None:
                what = f"{words.counted(same.pairs.height, 'unjudged document')} of its top {deepest}"
                table = same.with_documents(run.sound, case.judgments)
                documents = same.pairs.select("query_id", "ranked").rows()
                yield self._of(case, run, table, same, what, documents=documents)


class TwinRuns(Rule, code="RS115"):
    """Two runs show the same rankings."""

    why = (
        "A file that was copied, or a change that never took effect, gives two runs that are one: their difference is 0, which says "
        "nothing about two systems."
    )
    remedy = REMEDIES["RS115"]

    def find(self, case: CheckCase) -> Iterator[Finding]:
        tables = {run.name: run.input.sound for run in case.scored_runs}
        for group in twins([run.evaluation for run in case.scored_runs], list(tables), tables.get):
            yield self.finding(twins_in_words(group), run=group[-1], count=len(group))


class SwappedInputs(Rule, code="RS116"):
    """Judgments look like scores: qrels and run may be swapped."""

    why = "Scores taken as grades give numbers that look right and mean nothing: the order is the judgments first, then the runs."
    remedy = REMEDIES["RS116"]

    def find(self, case: CheckCase) -> Iterator[Finding]:
        grade = case.judgments["grade"].to_numpy()
        if swapped(grade[np.isfinite(grade)]):
            number = words.share(float(np.mean(grade % 1 != 0)))
            yield self.finding(f"{number} of the grades are no whole numbers, as if they were scores")
