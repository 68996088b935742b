"""Choose parameters, and measure the gain on queries that did not choose them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankscope import words
from rankscope.errors import InputError
from rankscope.lists import Array
from rankscope.metrics import Metric, parse
from rankscope.panels.contrast import Contrast
from rankscope.panels.families import Family
from rankscope.panels.method import Margin, Method, method_of, read_margin, split_margin
from rankscope.panels.panel import Panel
from rankscope.panels.samples import SIGNS
from rankscope.rankers.catalogue import find_fusion
from rankscope.rankers.fusions import Fusion
from rankscope.rankers.searches import Point, Search
from rankscope.scoring.evaluation import read_judgments
from rankscope.scoring.fusing import RunsToFuse, order_for_fusion, read_tables
from rankscope.scoring.measurements import in_clusters, lead_first
from rankscope.scoring.policies import refuse_unknown
from rankscope.scoring.request import Request
from rankscope.verbs.tune.candidates import (
    Built,
    Fused,
    Queries,
    RunChoice,
    System,
    TriedPoints,
    folds_of,
    space_of_fusion,
)
from rankscope.verbs.tune.result import FoldChoice, Tuning

TUNED = "tuned"


# fmt: off
def tune(  # noqa: PLR0913 - one keyword per option
    qrels: Any, runs: Any, metrics: Any = None, *,
    method: Any = None, space: Mapping[str, Any] | None = None, normalise: Any = None, search: Any = "grid",
    baseline: str | None = None, guardrails: Any = None, folds: int = 5, test: Any = None, interval: Any = None, alpha: float = 0.05,
    clusters: Any = None, seed: int = 0, progress: Callable[[str], None] | None = None, **policies: Any,
) -> Tuning:
    """Choose the parameters of a system on judged queries, and measure the gain on queries that did not choose them.

    ``runs`` are runs to choose from. With ``method`` they are fused, and the parameters of the fusion are chosen. A function
    ``build(**parameters)`` that returns a run can be given instead. ``qrels``, ``metrics`` and ``policies`` are as for ``evaluate``; the first
    metric (nDCG@10 unless named) decides.

    - ``space``: values of each parameter: a list, ``"1,10,60"``, ``"1..100"``, ``"1..100:log"``, or ``"simplex"`` for weights. ``normalise`` and
      ``method`` of a fusion can vary, too. Default: the weights of the runs.
    - ``search``: ``grid``, ``random(trials=50)`` or ``bayes(trials=50)``, which needs optuna.
    - ``baseline``: the run to gain upon. Default: the method with its own parameters, or the first run.
    - ``guardrails``: metrics that must not fall on the queries that choose, optionally by more than a limit, as in ``{"R@100": "1%"}``.
    - ``folds``: each fold is scored with the parameters that the other folds choose. ``clusters`` keeps queries of one user in one fold.
    - ``test``, ``interval`` and ``alpha`` are as for ``compare``.

    Raises InputError for unusable input, DataError for too few queries.

    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(10)}
    >>> low, high = {q: {"b": 2.0, "a": 1.0} for q in qrels}, {q: {"a": 2.0, "b": 1.0} for q in qrels}
    >>> found = rs.tune(qrels, {"low": low, "high": high}, "RR")
    >>> found.choice, found["RR"].difference, found.optimistic.difference
    ('high', 0.5, 0.5)
    """
    refuse_unknown(policies, "tune", ("method", "space", "search", "guardrails", "folds"))
    lead, guards = lead_first("nDCG@10" if metrics is None else metrics), _guardrails(guardrails)
    both = [metric for metric in guards if metric == lead[0]]
    if both:
        raise InputError(f"{both[0]} decides, and is a guardrail: name another guardrail")
    request = Request.of(list(dict.fromkeys([*lead, *guards])), {"seed": seed, **policies})
    _refuse_without_mean(request)
    margins = {str(metric): margin for metric, margin in guards.items() if margin is not None}
    how = method_of(test=test, interval=interval, alpha=alpha, margin=margins or None, seed=seed)
    fusion = None if method is None else find_fusion(method)
    finder, values = Search.read(search), _values(runs, fusion, normalise, space)
    grades = read_judgments(qrels, request)
    system = _system(runs, fusion, normalise, values, request, grades)
    queries = sorted(grades.queries)
    candidates = TriedPoints(system, qrels, request, queries, progress)
    label, base = _baseline(candidates, baseline)
    empty = Panel(candidates.measures[0], ("",), tuple(queries), np.zeros((1, len(queries))))
    codes = in_clusters([empty], clusters)[0].clusters
    judge = _Selection(candidates, finder, base, [str(m.metric) in {str(g) for g in guards} for m in request.metrics], how, folds, codes, seed)
    return _measured(judge, label, request, how, codes, [str(metric) for metric in guards])
# fmt: on


@dataclass(frozen=True, eq=False)
class _Selection:
    """Chooses the best point on some queries: the highest mean of the first metric among points that break no guardrail."""

    candidates: TriedPoints
    search: Search
    base: Array
    guarded: Sequence[bool]
    method: Method
    folds: int
    clusters: Array | None
    seed: int

    @cached_property
    def fold(self) -> Array:
        """The fold of each query."""
        return folds_of(self.candidates.queries, self.folds, self.clusters, self.seed)

    def names(self, inside: Array) -> Queries:
        """The ids of some queries."""
        return frozenset(query for query, kept in zip(self.candidates.queries, inside.tolist(), strict=True) if kept)

    def values(self, point: Point, inside: Array) -> Array:
        """The values by which a point is chosen. A system that learns is scored on inner folds that it did not learn from."""
        if not self.candidates.system.learns:
            return self.candidates.values(point)
        out = np.full_like(self.base, np.nan)
        places = np.flatnonzero(inside)
        groups = None if self.clusters is None else self.clusters[places]
        inner = folds_of([self.candidates.queries[i] for i in places.tolist()], self.folds, groups, self.seed)
        for number in range(self.folds):
            held = places[inner == number]
            rest = inside.copy()
            rest[held] = False
            out[:, held] = self.candidates.values(point, self.names(rest))[:, held]
        return out

    def best(self, inside: Array) -> Point:
        """Return the best point on some queries."""
        floor = self.candidates.means(self.base, inside)

        def value_of(point: Point) -> float:
            means = self.candidates.means(self.values(point, inside), inside)
            for m, guarded, mean, least in zip(self.candidates.measures, self.guarded, means, floor, strict=True):
                margin = self.method.margin_of(m.name) if guarded else None
                if guarded and mean < least - (0.0 if margin is None else margin.of(least)) - 1e-12:
                    return -math.inf
            return -math.inf if math.isnan(means[0]) else means[0]

        return self.search.best(self.candidates.system.space, value_of, self.seed)


def _measured(
    judge: _Selection, label: str, request: Request, method: Method, clusters: Array | None, guards: list[str]
) -> Tuning:
    """Score each fold with the point that the others choose, and all queries with the point that all choose."""
    candidates, everything = judge.candidates, np.ones(len(judge.candidates.queries), dtype=bool)
    chosen = judge.best(everything)
    same = candidates.values(chosen, judge.names(everything))
    fold, held_out, parts, frames = judge.fold, np.full_like(same, np.nan), [], []
    for number in range(judge.folds):
        inside = fold == number
        point = judge.best(~inside)
        values = candidates.values(point, judge.names(~inside))
        held_out[:, inside] = values[:, inside]
        gains = [
            candidates.means(v, where)[0] - candidates.means(judge.base, where)[0]
            for v, where in ((judge.values(point, ~inside), ~inside), (values, inside))
        ]
        parts.append(FoldChoice(number + 1, candidates.system.name(point), int(inside.sum()), *gains))
        frames.append((judge.names(inside), point, judge.names(~inside)))

    def contrasts(values: Array) -> Family:
        panels = [
            Panel(m, (label, TUNED), tuple(candidates.queries), np.stack([judge.base[i], values[i]]),
                  None if (candidates.weights[i] == 1).all() else np.stack([candidates.weights[i]] * 2), clusters)
            for i, m in enumerate(candidates.measures)
        ]  # fmt: skip
        return Family(panels, [(TUNED, label)], method, label)

    optimistic: Contrast = contrasts(same).contrasts[0]
    system = candidates.system
    tried = [(point, candidates.means(candidates.known[key, None], everything)[0] * SIGNS[candidates.measures[0].better])
             for key, point in candidates.points.items() if (key, None) in candidates.known]  # fmt: skip
    return Tuning(
        [contrasts(held_out)], optimistic, parts, chosen, system.name(chosen), str(judge.search), request, guards, tried,
        lambda: system.run(chosen, judge.names(everything)), lambda: [(q, system.run(p, t)) for q, p, t in frames],
    )  # fmt: skip


def _builds(runs: Any) -> bool:
    """True for a function that builds runs."""
    return callable(runs) and not hasattr(runs, "frame")


def _values(runs: Any, fusion: Fusion | None, normalise: Any, space: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the values of each parameter. Raises InputError before anything is read."""
    if not isinstance(space, Mapping | None):
        raise InputError(f"space={space!r}: it maps parameters to values, like {{'k': [10, 60]}}")
    if fusion is not None:
        if _builds(runs):
            raise InputError("method fuses runs, and a function was given: leave method out, or give runs")
        return space_of_fusion(fusion, normalise, space)
    if not _builds(runs) and (space or normalise is not None):
        raise InputError("parameters belong to a method: add --method, like --method RRF")
    return space or {}


def _system(
    runs: Any, fusion: Fusion | None, normalise: Any, values: Mapping[str, Any], request: Request, grades: Any
) -> System:
    if _builds(runs):
        return Built(runs, values)
    tables = list(read_tables(runs, request.policies))
    if fusion is None:
        return RunChoice(tables)
    return Fused(RunsToFuse(tables, order_for_fusion(request.policies)), fusion, normalise, values, grades)


def _baseline(candidates: TriedPoints, named: str | None) -> tuple[str, Array]:
    """Return the name and the values of the baseline."""
    system = candidates.system
    known = {run.name: run for run in system.given_runs}
    if named is None and system.usual is not None:
        return system.name(system.usual), candidates.values(system.usual)
    name = next(iter(known)) if named is None else str(named)
    if name not in known:
        raise InputError(f"baseline {name!r}: no run is called that{words.hint(name, known)}")
    return name, candidates.of_run(name, known[name])


def _guardrails(guardrails: Any) -> dict[Metric, Margin | None]:
    named = guardrails.items() if isinstance(guardrails, Mapping) else guardrails or []
    out: dict[Metric, Margin | None] = {}
    if not isinstance(named, Iterable):
        raise InputError(f"guardrails={named!r}: they are metrics, like R@100, or map metrics to losses")
    for guardrail in [named] if isinstance(named, str) else named:
        name, loss = split_margin(guardrail)
        meaning = "the loss that would be accepted"
        out[parse(name)] = None if loss is None else read_margin(loss, f"guardrail {name}={loss}", meaning)
    return out


def _refuse_without_mean(request: Request) -> None:
    for m in request.metrics:
        if m.metric.better == "neither" or m.metric.aggregate not in {"mean", "geometric"}:
            raise InputError(
                f"{m.metric} has no direction or no mean over queries: tune by another metric, like nDCG@10"
            )
