"""The costs of runs, such as latency or money: one run per row, one cost per column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.memory import number_of, quote_value
from rankscope.files.sheets import SYSTEM, label_of, open_sheet

EXPECTED = (
    "costs are a table with a run first and a cost in each further column (latency_ms, cost), or {run: {column: value}}"
)
_MORE_IS_BETTER = re.compile(
    r"(?i)throughput|(^|[^a-z])[qr]ps($|[^a-z])|(queries|requests|documents|docs|items|tokens)[ _-]?per[ _-]?s"
)


@dataclass(frozen=True, eq=False)
class Costs:
    """The costs of each run: numbers of at least 0, lower is better."""

    columns: tuple[str, ...]
    by_run: dict[str, dict[str, float]]
    label: str

    def of(self, runs: Iterable[str]) -> dict[str, dict[str, float]]:
        """Return the costs of these runs. Raises InputError for a run without costs."""
        runs = list(runs)
        for run in runs:
            if run not in self.by_run:
                others = [name for name in self.by_run if name not in runs]
                raise InputError(f"{self.label}: no run {run!r}{words.hint(run, others)}")
        return {run: self.by_run[run] for run in runs}

    def column(self, name: str) -> str:
        """Return the name of a column, or raise InputError with the nearest name."""
        if name not in self.columns:
            raise InputError(f"{self.label}: no column {name!r}{words.hint(name, self.columns)}")
        return name

    def remarks(self, runs: Sequence[str]) -> list[str]:
        """Return a note on runs with a cost and without a score."""
        left = [run for run in self.by_run if run not in runs]
        said = f"{self.label}: {words.counted(len(left), 'run')} without a score ({words.listing(left, 3)})"
        return [said] if left else []


def costs_of(source: Any) -> Costs:
    """Read costs of runs from a file, a data frame or ``{run: {column: value}}``.

    The run is in a column called run, system, model or name, or in the first. Every other column holds numbers of at least 0; less is
    better. Raises InputError for anything else.

    >>> costs = costs_of({"large": {"latency_ms": 250}, "small": {"latency_ms": 45}})
    >>> costs.columns, costs.by_run["small"]
    (('latency_ms',), {'latency_ms': 45.0})
    """
    if isinstance(source, Costs):
        return source
    found = open_sheet(source, "costs", EXPECTED, SYSTEM)
    if isinstance(found, Mapping):
        return _of_mapping(found, label_of(source, found, "costs"))
    key = found.role(SYSTEM) or found.frame.columns[0]
    names = [name for name in found.frame.columns if name != key]
    runs = found.distinct(key, "run")
    values = {name: found.numbers(name) for name in names}
    for name, column in values.items():
        odd = np.flatnonzero(~(column >= 0))
        if len(odd):
            row = int(odd[0])
            _refuse(f"{found.at(row)}, column {name}", None if np.isnan(column[row]) else float(column[row]))
    by_run = {run: {name: float(values[name][n]) for name in names} for n, run in enumerate(runs)}
    return _check_cost(names, by_run, found.label)


def _of_mapping(source: Mapping[Any, Any], label: str) -> Costs:
    by_run: dict[str, dict[str, float]] = {}
    for run, said in source.items():
        values = said if isinstance(said, Mapping) else {"cost": said}
        by_run[str(run)] = {str(name): _number(v, f"{label}: run {run!s}, {name}") for name, v in values.items()}
    names = list(dict.fromkeys(name for values in by_run.values() for name in values))
    for run, values in by_run.items():
        lacking = next((name for name in names if name not in values), None)
        if lacking is not None:
            raise InputError(f"{label}: run {run!s} has no {lacking}; give every run each cost, or leave {lacking} out")
    return _check_cost(names, by_run, label)


def _number(value: Any, where: str) -> float:
    number = number_of(value)
    if number is None or not 0 <= number < float("inf"):
        _refuse(where, value)
    return number


def _refuse(where: str, value: Any) -> NoReturn:
    said = "the number is missing" if value is None else f"{quote_value(value)} is not a cost"
    raise InputError(f"{where}: {said}; a cost is a number of at least 0, and every run has one")


def _check_cost(names: Sequence[str], by_run: dict[str, dict[str, float]], label: str) -> Costs:
    if not names or not by_run:
        raise InputError(f"{label}: no cost is there; {EXPECTED}")
    if more := next(filter(_MORE_IS_BETTER.search, names), None):
        remedy = "give the time that a query takes"
        raise InputError(f"{label}: column {more}: of a cost less is better, of a throughput more; {remedy}")
    return Costs(tuple(names), by_run, label)
