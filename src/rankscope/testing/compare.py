"""What a law is, and how a change to a case is compared with the case itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankscope.lists import Array
from rankscope.metrics import Metric
from rankscope.testing.cases import Case, accepted, values

CLOSE = 1e-12


@dataclass(frozen=True)
class Breach:
    """A case in which a law does not hold, and what happened; the case is None where the law needs none."""

    case: Case | None
    said: str


def every_metric(metric: Metric) -> bool:
    """Whom a law is about that says nothing else."""
    return True


@dataclass(frozen=True)
class Law:
    """A sentence about metrics, the metrics that it is about, and how to look for a breach."""

    sentence: str
    broken: Callable[[Metric, Sequence[Case]], Breach | None]
    about: Callable[[Metric], bool] = every_metric


LAWS: list[Law] = []


def law(about: Callable[[Metric], bool] = every_metric) -> Callable[[Any], Any]:
    """Enter a function into the book of laws; its docstring is the law."""

    def enter(broken: Any) -> Any:
        said = broken.__doc__.rstrip(".")
        LAWS.append(Law(said[0].lower() + said[1:], broken, about))
        return broken

    return enter


def compared(
    metric: Metric,
    cases: Sequence[Case],
    changes: Callable[[Case], Iterable[Case]],
    holds: Callable[[Array, Array], Array],
) -> Breach | None:
    """Change each case in every way given, and compare the values before and after."""
    pairs = [(number, after) for number, case in enumerate(cases) for after in changes(case) if after != case]
    if not pairs:
        return None
    taken = accepted(metric, [after for _, after in pairs])
    pairs = [pair for pair, ok in zip(pairs, taken, strict=True) if ok]
    before = values(metric, cases)[[number for number, _ in pairs]]
    after = values(metric, [case for _, case in pairs])
    wrong = np.flatnonzero(~holds(before, after))
    if not len(wrong):
        return None
    number, changed = pairs[wrong[0]]
    return Breach(cases[number], f"gives {before[wrong[0]]!s}, but {after[wrong[0]]!s} after a change to {changed}")


def same(before: Array, after: Array) -> Array:
    """Equal to the last bit, or both undefined."""
    return np.asarray((before == after) | (np.isnan(before) & np.isnan(after)))


def close(before: Array, after: Array) -> Array:
    """Equal but for rounding, as when a sum is added in another order."""
    return np.asarray(same(before, after) | (np.abs(before - after) <= CLOSE * np.maximum(1.0, np.abs(before))))


def level_of(metric: Metric) -> float:
    """The lowest grade that is relevant; a negative one never is."""
    return max(float(getattr(metric, "level", 1.0)), 0.0)


def edge(metric: Metric, case: Case) -> int:
    """How many documents stand above the cutoff: all that are retrieved, or those up to the k-th graded one."""
    k = getattr(metric, "cutoff", None)
    if k is None:
        return len(case.ranking)
    if not getattr(metric, "judged_only", False):
        return min(int(k), len(case.ranking))
    graded = [i for i, grade in enumerate(case.ranking, start=1) if grade is not None and grade >= 0]
    return graded[k - 1] if len(graded) >= k else len(case.ranking)
