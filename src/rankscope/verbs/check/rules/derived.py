"""What metrics made from those asked for would give: another gain, ideal, level or cutoff, from the judged documents already found."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankscope.engines.base import mapped
from rankscope.errors import RankscopeError
from rankscope.lists import Array, Lists
from rankscope.metrics import Metric
from rankscope.scoring.rescore import rescored

if TYPE_CHECKING:
    from rankscope.verbs.check.rules.case import Case

EVEN = 1e-12  # means closer than this have no winner

Means = Mapping[str, float]  # by run


def derived(case: Case, pairs: Sequence[tuple[Metric, Metric]]) -> dict[Metric, dict[str, float]]:
    """By metric and run, the means of other metrics, each under the conventions (ties, queries) of one that was asked for.

    ``pairs`` are of a metric asked for and the other one, which must need no more of the judgments. Nothing is read or judged
    again. Empty where one of them cannot be computed on these judgments.
    """
    scores = case.scores
    if scores is None or not pairs:
        return {}
    out: dict[Metric, dict[str, float]] = {other: {} for _, other in pairs}
    try:
        for mean in rescored(scores, pairs):
            out[mean.metric][mean.run] = mean.value
    except RankscopeError:
        return {}
    return out


def values_by(
    case: Case, name: str, metric: Metric, kernels: Sequence[Callable[[Lists], Array]]
) -> list[Array]:
    """What plain functions give for the queries of a run that are shown, over the lists that a metric sees."""
    judged = case.found(name).judged[_places(case)[metric]]
    found = mapped(judged, kernels)
    at = shown_at(case, name)
    return [values[at] for values in found]


def shown_at(case: Case, name: str) -> Array:
    """The places of a run's shown queries among all queries that were found."""
    run, found = next(r for r in case.scored_runs if r.name == name), case.found(name)
    number = {query: i for i, query in enumerate(found.query_id)}
    return np.array([number[query] for query in run.query_ids], dtype=np.int64)


def judged_of(case: Case, name: str, metric: Metric) -> int:
    """The place of a metric's judged documents in ``case.found(name).judged``."""
    return _places(case)[metric]


def _places(case: Case) -> dict[Metric, int]:
    """Where each metric stands among those that were computed; in a dialect two names may be one metric."""
    assert case.scores is not None
    first = case.scores.runs[0].name
    out: dict[Metric, int] = {}
    for place, metric in enumerate(mean.metric for mean in case.scores.board if mean.run == first):
        out.setdefault(metric, place)
    return out


# --- who wins ----------------------------------------------------------------------------------------


def means_of(case: Case, metric: Metric) -> dict[str, float]:
    """By run, the mean of a metric as ``evaluate`` prints it."""
    return {run.name: case.mean(run.name, metric) for run in case.scored_runs}


def leaders(means: Means, better: str = "higher") -> frozenset[str]:
    """The runs with the best mean; all that are even. Nobody where nothing is better."""
    sign = {"higher": 1.0, "lower": -1.0}.get(better, math.nan)
    known = {name: sign * value for name, value in means.items() if not math.isnan(sign * value)}
    best = max(known.values(), default=math.nan)
    return frozenset(name for name, value in known.items() if best - value <= EVEN * max(1.0, abs(best)))


@dataclass(frozen=True)
class Turn:
    """Another run leads: ``first`` under one metric, ``second`` under the other, with their means in that order."""

    first: str
    second: str
    before: tuple[float, float]
    after: tuple[float, float]

    def said(self, before: str, after: str) -> str:
        """In words, for the names of the two metrics."""
        return (
            f"{self.first} leads on {before} ({self.before[0]:.4f} against {self.before[1]:.4f}) and {self.second} on {after} "
            f"({self.after[1]:.4f} against {self.after[0]:.4f})"
        )


def turn(before: Means, after: Means, better: str = "higher", better_after: str = "") -> Turn | None:
    """Where no run that leads under one metric leads under the other; None where the same one does, or all are even.

    >>> turn({"a": 0.5, "b": 0.4}, {"a": 0.3, "b": 0.6}).second
    'b'
    >>> turn({"a": 0.5, "b": 0.5}, {"a": 0.3, "b": 0.6})
    """
    one, other = leaders(before, better), leaders(after, better_after or better)
    if not one or not other or one & other:
        return None
    first = next(name for name in before if name in one)
    second = next(name for name in after if name in other)
    return Turn(first, second, (before[first], before[second]), (after[first], after[second]))


def swapped(before: Means, after: Means) -> list[tuple[str, str]]:
    """Pairs of runs that two metrics order differently, the one ahead under the first named first."""
    names = [n for n in before if not (math.isnan(before[n]) or math.isnan(after.get(n, math.nan)))]
    return [
        (a, b) for a in names for b in names if before[a] - before[b] > EVEN and after[b] - after[a] > EVEN
    ]


def differences(now: Means, other: Means) -> dict[str, float]:
    """By run, how far the mean would move."""
    return {n: other[n] - now[n] for n in now if n in other and not math.isnan(other[n] - now[n])}


def largest(changes: Mapping[str, float]) -> tuple[str, float] | None:
    """The run that would move most, and by how much."""
    return max(changes.items(), key=lambda pair: abs(pair[1]), default=None)


def listed(names: Sequence[object], most: int = 4) -> str:
    """Names in words: ``AP, RR and P@10``.

    >>> listed(["AP", "RR", "P@10"])
    'AP, RR and P@10'
    """
    words = [str(name) for name in names]
    if len(words) > most:
        words = [*words[: most - 1], f"{len(words) - most + 1} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
