"""Problems of the input: lines, scores and grades, repeated documents, metrics that do not fit, queries and ids that do not match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from rankscope import words
from rankscope.diagnostics import inputs as rules
from rankscope.diagnostics.rule import Finding
from rankscope.engines.pairs import PAIR, documents_alike, queries_alike, within, without
from rankscope.engines.values import score
from rankscope.lists import Judged
from rankscope.metrics import Metric
from rankscope.panels.samples import mean
from rankscope.scoring.input_checks import DEPTH_OF_IDS, alike_numbers, grades_from_clicks, looks_like_scores, twins
from rankscope.scoring.inputs import taker_of_one_grade
from rankscope.tables import Run
from rankscope.verbs.check.case import CheckCase, InputTable, ScoredRun, finds

MIN_SHARE_WITHOUT_RELEVANT = 0.1  # of the queries, for a warning
MIN_SHARE_OF_SELF_MATCHES = 0.1  # of the queries


def _inputs(case: CheckCase) -> Iterator[tuple[str | None, InputTable[Any]]]:
    yield None, case.qrels
    for run in case.runs:
        yield run.name, run


@finds(rules.MalformedLines)
def _malformed_lines(case: CheckCase) -> Iterator[Finding]:
    for run, data in _inputs(case):
        source = data.table.source
        if not source.faults:
            continue
        number = len(source.faults)
        if source.faults[-1].kind == "more" and (total := re.search(r"([\d,]+) in all", source.faults[-1].message)):
            number = int(total[1].replace(",", ""))
        places = [fault.message for fault in source.faults if fault.kind != "more"]
        noun = "line" if source.line_of else "row"
        yield rules.MalformedLines.finding(run=run, source=source.label, count=number, noun=noun, places=places)


@finds(rules.NotANumber)
def _not_a_number(case: CheckCase) -> Iterator[Finding]:
    for run, data in _inputs(case):
        rows = data.table.nan_rows
        if len(rows):
            rule = rules.NotANumber if run else rules.GradeNotANumber
            places = data.places(rows, of_sound=False)
            yield rule.finding(run=run, source=data.table.source.label, count=len(rows), places=places)
        scores = data.table.frame["score"].to_numpy() if run else np.empty(0)
        rows = np.flatnonzero(np.isinf(scores))
        if len(rows):
            yield rules.InfiniteScore.finding(
                run=run, source=data.name, count=len(rows), places=data.places(rows, of_sound=False),
                serious=bool((scores[rows] > 0).any()),  # systems mask documents with minus infinity
            )  # fmt: skip


@finds(rules.Repeated)
def _repeated(case: CheckCase) -> Iterator[Finding]:
    yield from _repeated_judgments(case)
    for run in case.runs:
        rows = run.sound.repetitions
        if len(rows):
            yield rules.Repeated.finding(
                run=run.name, count=len(rows), repeating=run.sound.frame["query_id"][rows].n_unique(),
                effect=case.change(run, duplicates="best"), places=run.places(rows),
            )  # fmt: skip


def _repeated_judgments(case: CheckCase) -> Iterator[Finding]:
    table = case.qrels.sound
    taker = taker_of_one_grade([m.metric for m in case.request.metrics])
    several = len(table.repetitions_by_aspect) < len(table.repetitions)
    rows = table.repetitions_by_aspect if several and taker is None else table.repetitions
    if not len(rows):
        return
    pairs = within(table.frame, table.frame[rows]).select(*PAIR, "grade").unique().select(PAIR)
    rule = rules.SeveralGrades if several and taker else rules.JudgedTwice
    yield rule.finding(
        source=table.source.label, pairs=pairs.n_unique(), metric=taker, count=len(rows),
        differing=pairs.filter(pairs.is_duplicated()).unique().height,
        effect=case.change(case.runs[0], duplicates="best"), places=case.qrels.places(rows),
    )  # fmt: skip


@finds(rules.SelfMatch)
def _self_match(case: CheckCase) -> Iterator[Finding]:
    """Find queries that are often ranked first, or high, for themselves; not if ids that are numbers meet by chance."""
    for run in case.scored_runs if case.request.policies.self_match != "drop" else ():
        _, number = run.input.sound.without_self_matches()
        if not number:
            continue
        top, total = case.top(run.input, case.cutoff), run.health.queries
        own = without(top.filter(top["query_id"] == top["doc_id"]), case.judgments)
        first = own.filter(own["rank"] == 1).height
        high = own["query_id"].to_list()
        by_chance = case.cutoff / run.input.sound.frame["doc_id"].n_unique() if len(high) > first else 0.0
        often = MIN_SHARE_OF_SELF_MATCHES
        if first >= max(1, often * total) or len(high) >= max(1, (often + by_chance) * total):
            below = len(high) > first
            yield rules.SelfMatch.finding(
                run=run.name, count=number, total=total, first=None if below else first, high=len(high) if below else None,
                cutoff=case.cutoff, effect=case.change(run.input, self_match="drop"), queries=high,
            )  # fmt: skip


@finds(rules.Refused)
def _refused(case: CheckCase) -> Iterator[Finding]:
    for reason in dict.fromkeys(case.refusals.values()):
        metrics = [metric for metric, why in case.refusals.items() if why == reason]
        yield rules.Refused.finding(metrics=metrics, reason=reason, count=len(metrics))


@finds(rules.OffScale)
def _off_scale(case: CheckCase) -> Iterator[Finding]:
    """Find grades off the stated scale; negative grades mark documents that were pooled and not judged."""
    if case.scale is None:
        return
    low, high = case.scale
    table = case.qrels.sound
    column = table.frame["grade"]
    grade = column.to_numpy()
    fraction = (grade % 1 != 0) & (low % 1 == 0) & (high % 1 == 0)
    rows = np.flatnonzero(((grade < low) & (grade >= 0)) | (grade > high) | fraction)
    if not len(rows):
        return
    on_scale = column.zip_with(column < 0, column.clip(low, high))
    clipped = table._having(table.frame.with_columns(grade=on_scale))
    values = words.sample([words.amount(value) for value in np.unique(grade[rows])], most=4)
    effect = case.change(case.comparable[0], qrels=clipped) if case.scored_runs else None
    places = case.qrels.places(rows)
    yield rules.OffScale.finding(count=len(rows), low=low, high=high, values=values, effect=effect, places=places)


@finds(rules.MissingQueries)
def _missing_queries(case: CheckCase) -> Iterator[Finding]:
    for run in case.scored_runs:
        missing = sorted(run.evaluation.missing)
        for rule, numbers in case.raised(rules.MissingQueries, run):
            yield rule.finding(**numbers | {"queries": missing}, effect=run.cost(missing))
        if missing and case.convention.queries in {"run", "both"}:
            yield rules.MissingLeftOut.finding(
                run=run.name, judged=run.health.judged_queries, queries=missing, serious=False,
                effect=_counted_as_empty(case, run, len(missing)),
            )  # fmt: skip


def _counted_as_empty(case: CheckCase, run: ScoredRun, missing: int) -> dict[Metric, float]:
    kept = {m: int(np.count_nonzero(~np.isnan(run.values[m]))) for m in case.metrics if m not in run.weights}
    plain = {m: n for m, n in kept.items() if n and m.aggregate == "mean" and m.empty == 0}
    both = case.convention.queries == "both"
    return {m: -run.means[m] * missing / (n + missing) for m, n in plain.items()} if both else {}


@finds(rules.ExtraQueries)
def _extra_queries(case: CheckCase) -> Iterator[Finding]:
    for run in case.scored_runs:
        for rule, numbers in case.raised(rules.ExtraQueries, run):
            yield rule.finding(**numbers, effect=_counting_extra(case, run))


def _counting_extra(case: CheckCase, run: ScoredRun) -> dict[Metric, float]:
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


@finds(rules.NothingRelevant)
def _nothing_relevant(case: CheckCase) -> Iterator[Finding]:
    for rule, numbers in case.raised(rules.NothingRelevant):
        queries = sorted(case.qrels.query_set.difference(case.wanted["query_id"].to_list()))
        first = case.scored_runs[0]
        serious = len(queries) >= MIN_SHARE_WITHOUT_RELEVANT * first.health.judged_queries
        yield rule.finding(
            **numbers | {"count": len(queries)}, serious=serious, effect=first.cost(queries), queries=queries
        )


@finds(rules.EmptyRankings)
def _empty_rankings(case: CheckCase) -> Iterator[Finding]:
    for run in case.scored_runs:
        for rule, numbers in case.raised(rules.EmptyRankings, run):
            lengths = zip(run.evaluation.query_id, run.judged().retrieved.tolist(), strict=True)
            known = case.qrels.query_set - run.evaluation.missing
            empty = [query for query, length in lengths if not length and query in known]
            yield rule.finding(**numbers, effect=run.cost(empty), queries=empty)


@finds(rules.NoSharedQuery)
def _no_shared_query(case: CheckCase) -> Iterator[Finding]:
    for run in case.runs:
        if run not in case.comparable:
            ranked, judged = run.table.queries[:2], case.qrels.table.queries[:2]
            ids = {"ranked": _ids(ranked), "judged": _ids(judged)}
            yield rules.NoSharedQuery.finding(run=run.name, count=len(run.query_set), queries=ranked, **ids)


@finds(rules.NoSharedDocument)
def _no_shared_document(case: CheckCase) -> Iterator[Finding]:
    for run in case.scored_runs if case.whole else ():
        judged = run.judged()
        if len(judged.grade) and not judged.in_run.sum():
            ranked, known = (_ids(table["doc_id"].head(2)) for table in (run.input.sound.frame, case.judgments))
            yield rules.NoSharedDocument.finding(run=run.name, total=len(judged.grade), ranked=ranked, judged=known)


def _ids(ids: Iterable[str]) -> str:
    return ", ".join(map(repr, ids)) or "none"


@finds(rules.QueryIdsAlike)
def _query_ids_alike(case: CheckCase) -> Iterator[Finding]:
    """Find, per run, the spelling that matches most unmatched queries."""
    for run in case.runs:
        same = queries_alike(run.query_set - case.qrels.query_set, case.qrels.query_set - run.query_set)
        if same is not None:
            effect = _with_other_ids(case, run, same.with_queries(run.sound))
            yield rules.QueryIdsAlike.finding(
                **alike_numbers(run.name, same), queries=same.pairs["ranked"].to_list(), **effect
            )


@finds(rules.DocIdsAlike)
def _doc_ids_alike(case: CheckCase) -> Iterator[Finding]:
    """Find, per run, the spelling that matches most unjudged documents of its top with judged ones that it lacks."""
    depth = max(DEPTH_OF_IDS, case.cutoff)
    for run in case.comparable:
        same = documents_alike(run.sound, case.top(run, depth), case.judgments)
        if same is not None:
            effect = _with_other_ids(case, run, same.with_documents(run.sound, case.judgments), duplicates="best")
            documents = same.pairs.select("query_id", "ranked").rows()
            yield rules.DocIdsAlike.finding(
                **alike_numbers(run.name, same), cutoff=depth, documents=documents, **effect
            )


def _with_other_ids(case: CheckCase, run: InputTable[Run], table: Run, **policies: Any) -> dict[str, Any]:
    """Return the effect of other ids; the first metric with them if the run has no value now."""
    if run in case.comparable:
        return {"effect": case.change(run, table=table, **policies)}
    for metric, value in case.again(run, table=table, **policies).items():
        return {"metric": metric, "value": value}
    return {}


@finds(rules.TwinRuns)
def _twin_runs(case: CheckCase) -> Iterator[Finding]:
    tables = {run.name: run.input.sound for run in case.scored_runs}
    for group in twins([run.evaluation for run in case.scored_runs], list(tables), tables.get):
        yield rules.TwinRuns.finding(runs=group, run=group[-1], count=len(group))


@finds(rules.GradesFromClicks)
def _grades_from_clicks(case: CheckCase) -> Iterator[Finding]:
    if grades_from_clicks(case.qrels.sound.frame):
        yield rules.GradesFromClicks.finding()


@finds(rules.SwappedInputs)
def _swapped_inputs(case: CheckCase) -> Iterator[Finding]:
    grade = case.judgments["grade"].to_numpy()
    if looks_like_scores(grade[np.isfinite(grade)]) and not grades_from_clicks(case.qrels.sound.frame):
        yield rules.SwappedInputs.finding(share=float(np.mean(grade % 1 != 0)))
