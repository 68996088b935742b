"""What is compared: runs evaluated here, a result of ``evaluate``, or a table of scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankscope.errors import DataError, InputError
from rankscope.metrics import DEFAULT, Metric, in_order, parse
from rankscope.scoring.measurements import Measurements, panels_of
from rankscope.scoring.policies import POLICIES, refuse_unknown
from rankscope.scoring.score_tables import known, merged, of_table
from rankscope.scoring.scores import Scores

USUAL = tuple(name for name in DEFAULT if not name.startswith("Judged"))
OPTIONS = (
    "baseline", "all_pairs", "primary", "test", "interval", "correction", "family", "alpha", "margin", "bayes", "clusters",
    "slices", "costs", "limits", "systems", "tried", "progress",
)  # fmt: skip
CUTOFFS = (1, 2, 3, 5, 10, 20, 50, 100)  # where it is looked whether the winner changes with k


def measure(
    qrels: Any,
    runs: Any,
    metrics: Any,
    *,
    primary: Any = None,
    clusters: Any = None,
    systems: Mapping[str, str] | str | None = None,
    as_given: bool = False,
    **policies: Any,
) -> Measurements:
    """Whatever was given, as metrics over systems and queries, which are sorted by id unless they are to stay ``as_given``."""
    refuse_unknown(policies, "compare", OPTIONS)
    if runs is None:
        _refuse_policies(policies)
    elif isinstance(qrels, Scores) or (isinstance(runs, str) and not Path(runs).exists() and known(runs)):
        raise InputError(f"{runs!r} stands where runs do: name metrics with metrics={runs!r}")
    if runs is not None:
        found = _evaluated(qrels, runs, metrics, primary, as_given, policies)
    elif isinstance(qrels, Scores):
        found = _of_scores(qrels, metrics, primary, as_given)
    else:
        found = of_table(qrels, metrics, primary, as_given, _where(systems))
    for one in found.fields:
        if one.metric and one.metric.aggregate == "pooled":
            raise InputError(
                f"{one.name} is {one.reason} and has no value of a query to compare: leave it out"
            )
    if systems and not isinstance(systems, str):
        found = merged(found, systems)
    return found if clusters is None else _clustered(found, clusters)


def _where(systems: Any) -> Any:
    """Where a table has its systems: as was said, else as it looks."""
    if systems is None or not isinstance(systems, str):
        return "auto"
    if systems not in {"rows", "columns"}:
        raise InputError(
            f"systems={systems!r}: say 'rows' or 'columns', where a table has its systems, or which runs are of one system"
        )
    return systems


def _refuse_policies(policies: Iterable[str]) -> None:
    """One line for policies that say how rankings become scores, where scores are given."""
    for name in policies:
        if name in POLICIES and name != "seed":
            raise InputError(
                f"{name} says how rankings become scores, and these are scores already: leave it out"
            )


def _evaluated(
    qrels: Any, runs: Any, metrics: Any, primary: Any, as_given: bool, policies: dict[str, Any]
) -> Measurements:
    from rankscope.scoring.evaluation import evaluate_request
    from rankscope.scoring.request import Request

    wanted = led(USUAL if metrics is None else metrics, primary)
    first = wanted[0]
    deepest = policies.get("depth") or CUTOFFS[-1]
    curve = [m for m in _curve_of(first) if m.cutoff <= deepest]  # type: ignore[attr-defined]
    extra = [] if policies.get("dialect") else [m for m in curve if m not in wanted]
    progress, intervals = (
        policies.pop("progress", None),
        {n: policies.pop(n) for n in ("interval", "level") if n in policies},
    )
    request = Request.of([*wanted, *extra], policies, **intervals)
    scores = evaluate_request(qrels, runs, request, progress)
    if policies.get("dialect"):
        wanted = scores.metrics
    kept = _without(scores, extra)
    curve = [*extra, first] if extra else []
    return Measurements(
        panels_of(scores, wanted, as_given=as_given),
        kept,
        panels_of(scores, sorted(curve, key=lambda m: m.cutoff)),  # type: ignore[attr-defined]
        list(scores.notes),
    )


def _without(scores: Scores, extra: Sequence[Metric]) -> Scores:
    """A result without metrics that nobody asked for, and without the warnings that are theirs."""
    kept = [metric for metric in scores.metrics if metric not in extra]
    cutoffs = {c for m in kept if (c := getattr(m, "cutoff", None))} or {10}
    runs = [replace(run, health=run.health.at(cutoffs)) for run in scores.runs]
    request = scores.request.with_metrics(*kept)
    return replace(
        scores,
        runs=runs,
        board=[mean for mean in scores.board if mean.metric in kept],
        request=request,
        warnings=request.cautions({run.name: run.health for run in runs}),
    )


def led(metrics: Any, primary: Any = None) -> list[Metric]:
    """The metrics asked for, the one that leads first: the one declared, or the first asked for."""
    asked = _asked(metrics)
    first = _first(primary, asked)
    return [first, *(metric for metric in asked if metric != first)]


def _asked(metrics: Any) -> list[Metric]:
    given = [metrics] if isinstance(metrics, str | Metric | type) else list(metrics)
    if not given:
        raise InputError("no metric was given: name one, like nDCG@10, or leave metrics out")
    return [metric for _, metric in in_order(given)]


def _first(primary: Any, asked: Sequence[Metric]) -> Metric:
    """The metric that leads: the one declared, or the first asked for."""
    return asked[0] if primary is None else parse(primary)


def _curve_of(metric: Metric) -> list[Metric]:
    cutoff = getattr(metric, "cutoff", None)
    if cutoff is None or metric.better == "neither":
        return []
    return [metric.having(cutoff=k) for k in CUTOFFS if k != cutoff]


def _of_scores(scores: Scores, metrics: Any, primary: Any, as_given: bool) -> Measurements:
    asked = scores.metrics if metrics is None else _asked(metrics)
    missing = [str(m) for m in asked if m not in scores.metrics]
    if missing:
        raise InputError(f"{missing[0]} was not evaluated: there are {', '.join(map(str, scores.metrics))}")
    first = _first(primary, asked)
    if first not in scores.metrics:
        raise InputError(
            f"primary {first}: it was not evaluated, there are {', '.join(map(str, scores.metrics))}"
        )
    return Measurements(
        panels_of(scores, [first, *(m for m in asked if m != first)], as_given=as_given), scores
    )


def _clustered(given: Measurements, source: Any) -> Measurements:
    """The queries numbered by the cluster they belong to."""
    from rankscope.files.attributes import clusters_of

    ids = given.fields[0].query_ids
    codes, names = clusters_of(source, list(ids))
    if len(names) < 2:
        raise DataError(
            f"clusters: all {len(ids)} queries are in one cluster; two or more are needed to tell how clusters vary"
        )
    return replace(given, fields=[replace(f, clusters=codes) for f in given.fields])
