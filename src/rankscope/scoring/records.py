"""Scores as plain records, for other programs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from rankscope._version import __version__
from rankscope.metrics import Metric
from rankscope.scoring.distribution import distribution, first_relevant
from rankscope.scoring.scores import RunScores, Scores
from rankscope.show.result import input_record, null

MEAN_COLUMNS = ("run", "metric", "value", "queries", "undefined", "ci_lower", "ci_upper", "interval")
QUERY_COLUMNS = ("run", "query_id", "metric", "value")


def envelope(scores: Scores, per_query: bool = False, spread: bool = False) -> dict[str, Any]:
    """All of a result, with what it rests on; keys are added to it but never renamed."""
    return {
        "schema": "rankscope/evaluate/1",
        "rankscope": __version__,
        "conventions": dict(scores.conventions),
        "inputs": [input_record(source) for source in scores.inputs],
        "data_health": scores.data_health,
        "results": list(means(scores)),
        "per_query": list(query_values(scores)) if per_query else [],
        **({"facts": list(facts(scores))} if per_query else {}),
        **(
            {"distribution": list(distribution(scores)), "first_relevant": list(first_relevant(scores))}
            if spread
            else {}
        ),
        "warnings": [warned.as_dict() for warned in scores.warnings],
    }


def means(scores: Scores) -> Iterator[dict[str, Any]]:
    """One record a run and metric; ``undefined`` counts the queries left out, where there are any.

    ``ci_lower`` and ``ci_upper`` are the ends of the interval, null where there is none, which ``interval_reason`` then explains.
    ``standard_error_of_ties`` is there where the orders of equal scores were sampled.
    """
    for mean in scores.board:
        record = {
            "run": mean.run,
            "metric": str(mean.metric),
            "asked": mean.asked,
            "value": null(mean.value),
            "queries": mean.queries,
            "ci_lower": null(mean.bounds.lower),
            "ci_upper": null(mean.bounds.upper),
            "interval": mean.bounds.method,
        }
        if mean.bounds.reason:
            record["interval_reason"] = mean.bounds.reason
        if mean.undefined:
            record["undefined"] = mean.undefined
        if mean.error is not None:
            record["standard_error_of_ties"] = null(mean.error)
        if mean.drawn:
            record["queries_with_orders_drawn"] = mean.drawn
        yield record


def query_values(scores: Scores) -> Iterator[dict[str, Any]]:
    """One record a run, query and metric."""
    for run in scores.runs:
        columns = {str(metric): values.tolist() for metric, values in run.values.items()}
        for i, query in enumerate(run.query_ids):
            for metric, values in columns.items():
                yield {"run": run.name, "query_id": query, "metric": metric, "value": null(values[i])}


def facts(scores: Scores) -> Iterator[dict[str, Any]]:
    """One record a run and query with what is no number: the run's id, and the facts that were asked for."""
    for run in scores.runs:
        for i, query in enumerate(run.query_ids):
            yield {
                "run": run.name,
                "query_id": query,
                "runid": run.tag,
                **{name: said[i] for name, said in run.facts.items()},
            }


def trec_lines(scores: Scores, per_query: bool = False) -> Iterator[str]:
    """The lines that trec_eval prints: name, query and value; runs one after the other, each under its id."""
    several = len(scores.runs) > 1
    for run in scores.runs:
        means = {mean.metric: mean.value for mean in scores.board if mean.run == run.name}
        if several:
            yield _runid(run.name)
        if per_query:
            yield from _query_lines(run)
        if run.tag and not several:
            yield _runid(run.tag)
        for metric, value in means.items():
            yield from _trec_line(metric, "all", value)


def _runid(name: str) -> str:
    return f"{'runid':<22}\tall\t{name}\n"


def _query_lines(run: RunScores) -> Iterator[str]:
    # as in trec_eval, what is only a fact of all queries together is not printed for one
    shown = {
        metric: values
        for metric, values in run.values.items()
        if metric.aggregate != "geometric" and metric.trec_name() != "num_q"
    }
    for i, query in sorted(
        enumerate(run.query_ids), key=lambda pair: pair[1].encode("utf-8", "surrogateescape")
    ):
        for metric, values in shown.items():
            yield from _trec_line(metric, query, float(values[i]))
        for name, said in run.facts.items():
            yield f"{name:<22}\t{query}\t'{said[i]}'\n"


def _trec_line(metric: Metric, query: str, value: float) -> Iterator[str]:
    if not math.isnan(value):
        said = f"{value:.0f}" if metric.aggregate == "sum" else f"{value:6.4f}"
        yield f"{metric.trec_name() or metric!s:<22}\t{query}\t{said}\n"
