"""Systems with parameters to choose, and the value of each on every query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rankscope import words
from rankscope.declared import parameters, whole_number
from rankscope.errors import DataError, InputError
from rankscope.lists import Array
from rankscope.panels.samples import SIGNS, Measure, mean
from rankscope.rankers.catalogue import find_fusion, find_normalisation
from rankscope.rankers.fusions import Fusion
from rankscope.rankers.searches import ParameterValues, Point, Space, read_space
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.fusing import RunsToFuse, refuse_unfit
from rankscope.scoring.inputs import CleanInput
from rankscope.scoring.measurements import panels_of
from rankscope.scoring.request import Request
from rankscope.tables import Run

Queries = frozenset[str]


class System:
    """Base of a system with parameters: ``run`` returns its ranking. One that ``learns`` also takes the queries to learn from."""

    learns = False
    space: Space
    given_runs: Sequence[Run] = ()

    def run(self, point: Point, queries: Queries | None = None) -> Any:
        """Return the ranking of all queries."""
        raise TypeError(f"{type(self).__name__} must define run(): return the ranking of all queries")

    def name(self, point: Point) -> str:
        """Return a point in words."""
        return ", ".join(f"{name}={value}" for name, value in point.items()) or "no parameters"

    @property
    def usual(self) -> Point | None:
        """The point to start from, or None."""
        return _first(self.space)


def _first(space: Space) -> Point:
    return {name: choice.points()[0] for name, choice in space.items()}


class RunChoice(System):
    """One of several runs."""

    def __init__(self, runs: Sequence[Run]) -> None:
        """Raises InputError for a single run."""
        if len(runs) < 2:
            raise InputError("there is one run, so nothing to choose: give more runs, or a method with parameters")
        self.given_runs, self.by_name = runs, {run.name: run for run in runs}
        self.space = {"run": ParameterValues(tuple(self.by_name))}

    def run(self, point: Point, queries: Queries | None = None) -> Any:
        return self.by_name[point["run"]]

    def name(self, point: Point) -> str:
        return str(point["run"])


class Built(System):
    """A function of the caller that returns a run for parameters."""

    def __init__(self, build: Callable[..., Any], space: Mapping[str, Any] | None) -> None:
        """Raises InputError without a space."""
        if not space:
            raise InputError("a function needs the values of its parameters: space={'k1': [0.9, 1.2]}")
        self.build, self.space = build, read_space(space, 2)

    def run(self, point: Point, queries: Queries | None = None) -> Any:
        return self.build(**point)


class Fused(System):
    """A fusion of runs, with parameters of the fusion, its ``normalise`` and its ``method`` to choose."""

    def __init__(
        self, runs: RunsToFuse, fusion: Fusion, normalise: Any, space: Mapping[str, Any], qrels: CleanInput
    ) -> None:
        """Raises InputError for values that the runs or the method cannot have."""
        self.runs, self.fusion, self.normalise, self.qrels = runs, fusion, normalise, qrels
        self.given_runs, self.learns = runs.runs, fusion.learns
        refuse_unfit(fusion, runs.runs)
        self.space = read_space(space, len(runs.runs))
        self.parts(_first(self.space))

    def parts(self, point: Point) -> tuple[Fusion, Any]:
        """Return the fusion and the normalisation at a point."""
        own = {name: value for name, value in point.items() if name not in {"normalise", "method"}}
        fusion = find_fusion(point["method"]) if "method" in point else self.fusion
        if own:
            fusion = fusion.having(**own)
        refuse_unfit(fusion, self.runs.runs)
        return fusion, find_normalisation(point.get("normalise", self.normalise), fusion)

    def run(self, point: Point, queries: Queries | None = None) -> Any:
        fusion, normalisation = self.parts(point)
        learned = self.runs.learn(fusion, self.qrels.table, queries) if fusion.learns else None
        return Run(self.runs.fuse(fusion, normalisation, learned, keep=True), name=self.name(point).replace(" ", ""))

    def name(self, point: Point) -> str:
        fusion, normalisation = self.parts(point)
        return f"{fusion}, {normalisation}" if "normalise" in point else str(fusion)

    @property
    def usual(self) -> Point | None:
        if self.learns:
            return None
        settings = {name: getattr(self.fusion, name) for name in self.space if hasattr(self.fusion, name)}
        return {**_first(self.space), **settings} if {"normalise", "method"} & set(self.space) else settings


def space_of_fusion(fusion: Fusion, normalise: Any, space: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the values of each parameter, by default of the weights, checked before runs are read.

    Raises InputError for an unknown normalisation, parameter or value, and for a method without parameters.
    """
    find_normalisation(normalise, fusion)
    known = parameters(type(fusion))
    values = {"weights": "simplex"} if not space and "weights" in known else space or {}
    if not values and not fusion.learns:
        name, usual = next(((name, getattr(fusion, name)) for name in known), ("normalise", None))
        some = ["min_max", "z_score"] if usual is None else [usual / 2, usual]
        example = words.by_caller(f"--vary {name}={','.join(map(str, some))}", f"space={ {name: some} }")
        raise InputError(f"{fusion} has no weights: name a parameter and its values, like {example}")
    for name in values:
        if name not in {*known, "normalise", "method"}:
            takes = words.listing([*known, "normalise", "method"], 9, last="or")
            raise InputError(f"--vary {name}: {type(fusion).__name__} has no {name}: vary {takes}")
    read_space(values, 2)
    return values


class TriedPoints:
    """The values of every point that was tried: one row per metric, one column per query, computed once."""

    def __init__(
        self, system: System, qrels: Any, request: Request, queries: Sequence[str], progress: Any = None
    ) -> None:
        """``queries`` are all judged queries."""
        self.system, self.qrels, self.request, self.queries, self.progress = system, qrels, request, queries, progress
        self.measures = [Measure.of(m.metric) for m in request.metrics]
        self.places = {query: place for place, query in enumerate(queries)}
        self.weights = np.ones((len(self.measures), len(queries)))
        self.known: dict[Any, Array] = {}
        self.points: dict[Any, Point] = {}

    def of_run(self, name: str, run: Any) -> Array:
        """Return the values of a run, metrics x queries, NaN if undefined."""
        scores = evaluate_request(self.qrels, [(name, run)], self.request)
        out = np.full(self.weights.shape, np.nan)
        for row, panel in enumerate(panels_of(scores, [m.metric for m in self.request.metrics])):
            at = [self.places[query] for query in panel.units]
            out[row, at] = panel.values[0]
            if panel.weights is not None:
                self.weights[row, at] = panel.weights[0]
        if self.progress is not None:
            self.progress(name)
        return out

    def values(self, point: Point, queries: Queries | None = None) -> Array:
        """Return the values at a point. ``queries`` are those to learn from, for a system that learns."""
        learned = queries if self.system.learns else None
        key = (repr(sorted(point.items())), learned)
        if key not in self.known:
            self.points.setdefault(key[0], point)
            self.known[key] = self.of_run(self.system.name(point), self.system.run(point, learned))
        return self.known[key]

    def means(self, values: Array, inside: Array) -> list[float]:
        """Return the mean of each metric over some queries, higher is better."""
        return [
            SIGNS[m.better] * mean(m, row[inside], weight[inside])
            for m, row, weight in zip(self.measures, values, self.weights, strict=True)
        ]


def folds_of(queries: Sequence[str], folds: Any, clusters: Array | None, seed: int) -> Array:
    """Return the fold of each query, at random. Queries of one cluster share a fold. Raises InputError or DataError."""
    whole_number("folds", folds, 2, "the number of parts of the queries is a whole number of 2 or more")
    groups = np.arange(len(queries)) if clusters is None else clusters
    count = len(np.unique(groups))
    if count < folds:
        parts = words.counted(count, "query" if clusters is None else "cluster")
        remedy = f"set --folds to at most {count}" if count >= 2 else "give at least 2"
        raise DataError(f"{parts} cannot be split into {folds} folds: {remedy}")
    fold = np.arange(count) % folds
    return np.asarray(np.random.default_rng(seed).permutation(fold)[np.unique(groups, return_inverse=True)[1]])
