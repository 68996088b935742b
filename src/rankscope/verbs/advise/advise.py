"""Advise on metrics and cutoffs for the data and the task: the one to declare in advance, and those to avoid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rankscope import words
from rankscope.declared import whole_number
from rankscope.errors import DataError, InputError
from rankscope.files import qrels_of
from rankscope.inference.base import Sample
from rankscope.inference.power import detectable_difference
from rankscope.metrics import Metric
from rankscope.panels.reach import summary_of_all_pairs
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.inputs import clean, named_runs, read_any
from rankscope.scoring.measurements import panels_of
from rankscope.scoring.policies import POLICIES, Policies
from rankscope.scoring.request import Request
from rankscope.scoring.scores import Scores
from rankscope.verbs.advise.result import Advice, Recommendation, Sensitivity
from rankscope.verbs.advise.situation import RESTS, RunFacts, Situation, situation_of
from rankscope.verbs.advise.tasks import SHARED_LAST, WITH_ASPECTS, Pick, Task, guess_task, misfits_of, task_called

PREVIEW_DEPTH = 10  # before a task is known
USUAL_DEVIATION = 0.2  # of the differences of two runs


def advise(
    qrels: Any, runs: Any = None, task: str | None = None, k: int | None = None, *, duplicates: str = "error",
    columns: Mapping[str, str] | str | None = None, grades: Mapping[str, float] | str | None = None,
) -> Advice:  # fmt: skip
    """Advise on metrics and cutoffs for judgments and a task: the one to declare in advance, and those to avoid.

    ``qrels`` and ``runs`` are what ``evaluate`` takes; with ``runs`` the advice also goes by how deep they are, how much of them is
    unjudged, and how their scores vary. ``task`` is one of known-item, question-answering, web, exploratory, recall, entity,
    candidates, re-ranking, feed, next-item, clicks, rag, benchmark (or another name of it); without one, the task that fits the
    data best is taken, and ``sure`` tells how sure that is. ``k`` is how many results people see, or the next stage takes.
    ``duplicates`` is as in ``evaluate``: "best" keeps the highest grade of documents with several, and so are ``columns`` and ``grades``.

    Raises InputError for what cannot be used (an unknown task, k below 1, judgments that cannot be read), DataError where no
    document is relevant, or no query of a run is judged.

    >>> import rankscope as rs
    >>> advice = rs.advise({"q1": {"a": 1}, "q2": {"b": 1}}, task="navigational")
    >>> str(advice.primary), advice.recommended[0].rests_on
    ('RR@10', '2 of 2 queries have exactly one relevant document')
    """
    chosen = None if task is None else task_called(task)
    if k is not None:
        whole_number("k", k, 1, "how many results people see is a whole number of at least 1, like 10")
    policies = Policies(duplicates=duplicates, columns=columns, grades=grades)
    users = _has_user_column(qrels)
    read = read_any("qrels", qrels, reading=policies)
    cleaned = clean(qrels_of(read), policies, "qrels", () if duplicates == "error" else None).data
    judged = situation_of(cleaned, users=users, topics=duplicates == "error")
    _refuse_nothing(judged)
    pairs = [] if runs is None else named_runs(runs)
    named = [(name, read_any("run", run, name, reading=policies)) for name, run in pairs]
    if policies.columns is not None:
        policies.columns.refuse_absent()
    preview = _preview(cleaned, named, judged, duplicates)
    data = _at_ranks(judged, preview, chosen, k)
    likeliest, sure = guess_task(data)
    chosen, sure = (task_called(likeliest[0].task), sure) if chosen is None else (chosen, "said")
    data = _at_ranks(judged, preview, chosen, k)
    recommended = list(_recommend(data, chosen))
    metrics = [one.metric for one in recommended]
    request = Request.of(metrics, {"duplicates": duplicates})
    scores = evaluate_request(cleaned, named, request) if named else None
    return Advice(
        situation=data, task=chosen, sure=sure, likeliest=likeliest, recommended=recommended,
        avoid=list(misfits_of(data, chosen.name, list(map(str, metrics)))),
        showable=_sensitivity(data, metrics[0], scores),
        notes=preview.notes if preview else getattr(getattr(read, "source", None), "notes", ()), scores=scores,
        duplicates=duplicates, columns=_stated(policies, "columns"), grades=_stated(policies, "grades"), qrels=_path(read) if not isinstance(qrels, str | Path) else str(qrels),
        runs=[_run_argument(name, run) for name, run in named], own_cutoff=k,
    )  # fmt: skip


def _stated(policies: Policies, name: str) -> str:
    value = getattr(policies, name)
    return "" if value is None else str(POLICIES[name].statement(value, ()))


def _refuse_nothing(data: Situation) -> None:
    if not data.judgments:
        raise InputError("the qrels hold no judgment: they map queries to documents and grades, like {'q1': {'d1': 1}}")
    if not data.positive:
        grades = f"all {words.count(data.judgments)} grades are" if data.judgments > 1 else "the only grade is"
        raise DataError(f"no document is relevant: {grades} 0 or below, so every metric would be 0")


def _preview(grades: Any, named: Sequence[tuple[str | None, Any]], data: Situation, duplicates: str) -> Scores | None:
    if not named:
        return None
    metrics = [f"Judged@{PREVIEW_DEPTH}"] + ([f"StRecall@{PREVIEW_DEPTH}"] if data.holds("aspects") else [])
    return evaluate_request(grades, named, Request.of(metrics, {"duplicates": duplicates}))


def _at_ranks(data: Situation, preview: Scores | None, task: Task | None, k: int | None) -> Situation:
    """The situation at the ranks of a task, which go no deeper than the runs do unless that is asked for."""
    own, deep = (task.k, task.deep) if task else (PREVIEW_DEPTH, 100)
    evaluations = preview.evaluations if preview else ()
    reach = min((int(run.judged[0].retrieved.max(initial=0)) for run in evaluations), default=0) or max(own, deep)
    seen = k or min(own, reach)
    runs = tuple(_run_facts(preview, i, seen) for i in range(len(evaluations))) if preview else ()
    taste = bool(task and task.taste)
    return replace(data, runs=runs, k=seen, deep=max(seen, min(deep, reach)), taste=taste)


def _run_facts(preview: Scores, number: int, k: int) -> RunFacts:
    name, evaluation = preview.runs[number].name, preview.evaluations[number]
    judged, health = evaluation.judged[0], evaluation.health
    lists = judged.retrieved[judged.retrieved > 0]
    deepest = int(lists.max(initial=0))
    shown = int(np.minimum(lists, k).sum())
    known = int(((judged.rank > 0) & (judged.rank <= k)).sum())
    return RunFacts(
        run=name, lists=len(lists), depth=int(np.median(lists)) if len(lists) else 0, deepest=deepest,
        cut=len(lists) > 1 and 2 * int((lists == deepest).sum()) > len(lists),
        unjudged=(shown - known) / shown if shown else 0.0,
        unjudged_in_all=1 - int(judged.in_run.sum()) / int(lists.sum()) if len(lists) else 0.0,
        tied_in_top_10=health.tied_at_cutoff[PREVIEW_DEPTH], missing_queries=health.missing_queries,
    )  # fmt: skip


def _recommend(data: Situation, task: Task) -> Iterator[Recommendation]:
    seen: set[str] = set()
    picks: tuple[Pick, ...] = (*(WITH_ASPECTS if data.holds("aspects") else task.picks), *SHARED_LAST)
    for pick in picks:
        if not data.holds(*pick.when):
            continue
        metric = data.metric(pick.metric, pick.at, pick.args)
        if str(metric) not in seen:
            why = pick.why.format(k=data.k, deep=data.deep)
            yield Recommendation(metric, why, RESTS[pick.rests](data), primary=not seen)
            seen.add(str(metric))


def _sensitivity(data: Situation, primary: Metric, scores: Scores | None) -> Sensitivity | None:
    if scores is not None and len(scores.runs) > 1:
        over = summary_of_all_pairs(panels_of(scores, [primary])[0])
        if over is None:  # runs that do not differ, a single query
            return None
        count = int(np.isfinite(scores.runs[0].values[primary]).sum())
        return Sensitivity(count, over.detectable_difference.median, over.deviation.median, "pairs", over.pairs)
    if scores is None:
        queries, deviation = data.queries, USUAL_DEVIATION
    else:
        values = scores.runs[0].values[primary]
        sample = Sample(values[np.isfinite(values)])
        queries, deviation = sample.count, sample.deviation
    if queries < 2 or not deviation > 0:
        return None
    return Sensitivity(queries, detectable_difference(queries, deviation), deviation, "scores" if scores else "assumed")


def _path(read: Any) -> str | None:
    return getattr(getattr(read, "source", None), "path", None)


def _run_argument(name: str | None, read: Any) -> str:
    path = _path(read)
    return path or "" if name is None or path is None else f"{name}={path}"


def _has_user_column(source: Any) -> bool:
    columns: Any = getattr(source, "columns", None)
    if columns is None and isinstance(source, str | Path) and Path(source).suffix.lower() in {".csv", ".tsv"}:
        try:
            with Path(source).open(encoding="utf-8", errors="replace") as lines:
                columns = lines.readline().replace("\t", ",").split(",")
        except OSError:  # reported where it is read
            return False
    if isinstance(source, Mapping) or columns is None:
        return False
    return any(str(name).strip(' "\n').casefold() in {"user", "user_id", "userid"} for name in columns)
