"""Scores from a small set of queries judged by people and a large set judged by a model: the people correct the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rankscope import words
from rankscope.diagnostics.inputs import ExtraQueries
from rankscope.errors import DataError, InputError
from rankscope.scoring.dispatch import evaluate_local_or_spark
from rankscope.scoring.measurements import panels_of
from rankscope.scoring.request import Request
from rankscope.scoring.scores import Scores

FEWEST = 3  # queries judged by people, below which a model cannot be corrected


def evaluate_predicted(
    qrels: Any, runs: Any, request: Request, progress: Callable[[str], None] | None = None, *, predicted: Any
) -> Scores:
    """Score rankings by judgments of people, and add judgments by a model (``predicted``) for more queries.

    Means and differences use people's queries, corrected by the model on all other queries (``inference.predicted``).
    Raises InputError for metrics and options that predictions rule out, DataError if fewer than 3 queries are judged by both.
    """
    _refuse(request)
    people = evaluate_local_or_spark(qrels, runs, request, progress)
    model = evaluate_local_or_spark(predicted, runs, request)
    kept = [w for w in people.warnings if w.code != ExtraQueries.code]  # other queries are judged by the model
    unjudged = [w for w in model.warnings if w.code == ExtraQueries.code]
    scores = replace(people, predictions=model, inputs=[*people.inputs, *model.inputs[:1]], warnings=[*kept, *unjudged])
    panels = {panel.name: panel for panel in panels_of(scores)}
    board = []
    for mean in people.board:
        panel = panels[str(mean.metric)]
        values = panel.predictions(panel.systems.index(mean.run))
        if len(values.people) < FEWEST:
            both = words.counted(len(values.people), "query")
            raise DataError(f"{mean.metric}: {both} judged by people and by the model: {FEWEST} or more are needed")
        interval = partial(panel.interval, mean.run, request.intervals.level)
        board.append(
            replace(
                mean, value=panel.estimate(mean.run).mean, queries=len(values.people), interval=interval, error=None
            )
        )
    return replace(scores, board=board, notes=[*people.notes, _note(scores, len(values.people), len(values.others))])


def check_predicted(predicted: Any, *, runs: Any = True, **others: Any) -> Callable[..., Scores] | None:
    """Return the function that scores runs with predictions, None without predictions. Raises InputError without runs, and for options that predictions rule out."""
    if predicted is None:
        return None
    odd = next((name for name, value in others.items() if value is not None), None)
    if odd is not None:
        raise InputError(f"predicted: means are corrected over all queries together: leave out {odd}, or predicted")
    if runs is None:
        raise InputError("predicted: a model's judgments need runs to score: give judgments by people and runs")
    return partial(evaluate_predicted, predicted=predicted)


def _note(scores: Scores, people: int, others: int) -> str:
    known = set(scores.predictions.runs[0].query_ids) if scores.predictions is not None else set()
    lost = int(np.sum([query not in known for query in scores.runs[0].query_ids]))
    left = f" without {words.counted(lost, 'query')} that the model did not judge" if lost else ""
    return f"means are of {words.counted(people, 'query')} judged by people, corrected by a model on {words.count(others)} others (PPI++){left}"


def _refuse(request: Request) -> None:
    interval = request.intervals.interval
    odd = next((m.metric for m in request.metrics if m.metric.aggregate != "mean"), None)
    if odd is not None:
        raise InputError(f"{odd}: predictions correct means over queries only: leave {odd} out, or predicted")
    if request.policies.weights is not None or request.intervals.clusters is not None:
        name = "weights" if request.policies.weights is not None else "clusters"
        raise InputError(f"predicted: queries count as equal and independent: leave out {name}, or predicted")
    if interval is not None and not interval.by_moments:
        raise InputError(f"interval={interval}: predictions correct only means: leave it out, or take t")
