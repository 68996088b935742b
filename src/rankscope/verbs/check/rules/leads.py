"""Who leads: whether other numbers name another winner, and how far the means move."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from rankscope import words

EVEN = 1e-12  # means closer than this have no winner

Means = Mapping[str, float]  # by run


@dataclass(frozen=True)
class LeadChange:
    """Another run leads: ``first`` under one metric, ``second`` under the other, with their means in that order."""

    first: str
    second: str
    before: tuple[float, float]
    after: tuple[float, float]

    def sentence(self, before: object, after: object) -> str:
        """In words, for the names of the two metrics."""
        one, other = self.before, (self.after[1], self.after[0])
        return f"{self.first} leads on {before} ({against(*one)}) and {self.second} on {after} ({against(*other)})"


def against(one: float, other: float) -> str:
    """Two means beside each other.

    >>> against(0.5, 0.4)
    '0.5000 vs 0.4000'
    """
    return f"{words.number(one, digits=4)} vs {words.number(other, digits=4)}"


def leaders(means: Means, better: str = "higher") -> frozenset[str]:
    """The runs with the best mean; all that are even. Nobody where nothing is better."""
    sign = {"higher": 1.0, "lower": -1.0}.get(better, math.nan)
    known = {name: sign * value for name, value in means.items() if not math.isnan(sign * value)}
    best = max(known.values(), default=math.nan)
    return frozenset(name for name, value in known.items() if best - value <= EVEN * max(1.0, abs(best)))


def lead_change(before: Means, after: Means, better: str = "higher") -> LeadChange | None:
    """Where no run that leads under one metric leads under the other; None where the same one does, or all are even.

    >>> lead_change({"a": 0.5, "b": 0.4}, {"a": 0.3, "b": 0.6}).second
    'b'
    >>> lead_change({"a": 0.5, "b": 0.5}, {"a": 0.3, "b": 0.6})
    """
    one, other = leaders(before, better), leaders(after, better)
    if not one or not other or one & other:
        return None
    first = next(name for name in before if name in one)
    second = next(name for name in after if name in other)
    return LeadChange(first, second, (before[first], before[second]), (after[first], after[second]))


def swaps(before: Means, after: Means) -> list[tuple[str, str]]:
    """Pairs of runs that two metrics order differently, the one ahead under the first named first."""
    names = [n for n in before if not (math.isnan(before[n]) or math.isnan(after.get(n, math.nan)))]
    return [(a, b) for a in names for b in names if before[a] - before[b] > EVEN and after[b] - after[a] > EVEN]


def differences(now: Means, other: Means) -> dict[str, float]:
    """By run, how far the mean would move."""
    return {n: other[n] - now[n] for n in now if n in other and not math.isnan(other[n] - now[n])}


def largest(changes: Mapping[str, float]) -> tuple[str, float] | None:
    """The run that would move most, and by how much."""
    return max(changes.items(), key=lambda pair: abs(pair[1]), default=None)
