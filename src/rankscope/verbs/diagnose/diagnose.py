"""The losses of rankings over all queries, their causes, and the kinds of failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rankscope import words
from rankscope.analysis.ceilings import ceilings
from rankscope.declared import whole_number
from rankscope.errors import InputError
from rankscope.files.texts import texts_of
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.inputs import read_inputs
from rankscope.scoring.request import Request
from rankscope.scoring.rescore import judged_of
from rankscope.scoring.runs import RunScores
from rankscope.scoring.scores import Scores
from rankscope.verbs.diagnose.losses import Examples, RunDiagnosis, facts_of
from rankscope.verbs.diagnose.result import Diagnosis


def diagnose(
    qrels: Any, runs: Any, metric: Any = "nDCG@10", *, queries_shown: int = 10, queries_text: Any = None,
    progress: Callable[[str], None] | None = None, **policies: Any,
) -> Diagnosis:  # fmt: skip
    """Compute the losses of rankings on a metric, their causes, and the kinds of failure.

    Each query's loss against an ideal ranking has two parts: documents never retrieved, and documents ranked too low. The value with
    all that was retrieved in the best order is the ceiling of a re-ranker. Every query is of one kind of ``KINDS``.
    ``queries_shown`` is how many of the worst queries are listed, with their ``queries_text`` if it is given. Further ``policies`` (``ties``, ``queries``, ``depth`` ...) are
    those of ``evaluate``. Raises InputError for several metrics at once, and for invalid input of ``evaluate``.

    >>> import rankscope as rs
    >>> found = rs.diagnose({"q1": {"a": 1, "b": 1}}, {"q1": {"c": 3.0, "a": 2.0}}, "P@2")
    >>> loss = found.runs[0].loss  # "b" was never retrieved; "a" could be first, which makes no difference to P@2
    >>> loss.value, loss.ceiling, loss.best, loss.never_retrieved, loss.ordered_badly
    (0.5, 0.5, 1.0, 0.5, 0.0)
    >>> found.runs[0].kinds["low in the top"]
    1
    """
    whole_number("queries_shown", queries_shown, 0, "how many queries to list is a whole number of at least 0")
    request = Request.of(metric, policies)
    grades, read = read_inputs(qrels, runs, request.policies)
    scores = evaluate_request(grades, read, request, progress)
    if len(scores.metrics) != 1:
        metrics = words.sample(map(str, scores.metrics))
        raise InputError(f"a diagnosis is of one metric at a time, like nDCG@10: this asks for {metrics}")
    by_name = {run.name: data for run, (_, data) in zip(scores.runs, read, strict=True)}
    diagnosis = diagnosis_of(scores, grades, by_name, int(queries_shown))
    if queries_text is None:
        return diagnosis
    shown = {one.query_id for one in (*diagnosis.hardest, *diagnosis.regrets)}
    return replace(diagnosis, texts=texts_of(queries_text, shown, "query"))


def diagnosis_of(scores: Scores, qrels: Any, runs: Mapping[str, Any], queries_shown: int = 10) -> Diagnosis:
    """Diagnose scores on their first metric. ``qrels`` and ``runs`` (by name) are read only for documents."""
    diagnoses = [_diagnose_run(run, scores) for run in scores.runs]
    return Diagnosis(scores.metrics[0], diagnoses, scores, queries_shown, Examples(qrels, runs, scores))


def _diagnose_run(run: RunScores, scores: Scores) -> RunDiagnosis:
    metric = scores.metrics[0]
    convention = scores.request.of_metric(metric).convention
    judged, places = judged_of(scores, run.name, metric)
    judged = judged.of(places) if len(places) < len(judged) else judged
    value = run.values[metric]
    facts = facts_of(metric, judged, np.full(len(value), np.nan))
    # queries whose value is set by a policy, because no relevant document is known (or, in some dialects, retrieved)
    none = (facts.relevant_retrieved if convention.looks_at == "list" else facts.known) == 0
    fixed = none & (convention.no_relevant != "metric")
    limit = ceilings(metric, judged, value, convention.mean == "micro", fixed)
    loss = (limit.best - value) * (-1.0 if metric.better == "lower" else 1.0)
    whole = next(mean.value for mean in scores.board if (mean.run, mean.metric) == (run.name, metric))
    weight = run.weights.get(metric, np.ones(len(value)))
    return RunDiagnosis(run.name, metric, run.query_ids, whole, value, weight, limit, replace(facts, loss=loss), judged)
