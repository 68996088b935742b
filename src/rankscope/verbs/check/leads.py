"""Which run leads: whether another metric names another winner, and how far the means move."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from rankscope import words
from rankscope.metrics import Metric

EVEN = 1e-12  # means closer than this have no winner

Means = Mapping[str, float]  # by run


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


@dataclass(frozen=True)
class Alternative:
    """A metric and another one in its place: the means of all runs ``now``, and those they would have ``then``."""

    metric: Metric
    other: Metric
    now: Means
    then: Means

    @property
    def moves(self) -> dict[str, float]:
        """By run, how far the mean would move."""
        return {n: self.then[n] - v for n, v in self.now.items() if not math.isnan(self.then.get(n, math.nan) - v)}

    @property
    def most(self) -> tuple[str, float]:
        """The run whose mean would move most, and how far."""
        return max(self.moves.items(), key=lambda move: abs(move[1]), default=(next(iter(self.now)), 0.0))

    @property
    def swaps(self) -> list[tuple[str, str]]:
        """Pairs of runs that the two metrics order differently, the one ahead now named first."""
        names, now, then = list(self.moves), self.now, self.then
        return [(a, b) for a in names for b in names if now[a] - now[b] > EVEN and then[b] - then[a] > EVEN]

    @property
    def winners(self) -> str:
        """Who leads under each metric, where no run leads under both; empty where one does, or all are even.

        >>> from rankscope.metrics import AP, nDCG
        >>> Alternative(AP(), nDCG(), {"a": 0.5, "b": 0.1}, {"a": 0.3, "b": 0.6}).winners
        'a leads on AP (0.5000 vs 0.1000) and b on nDCG (0.6000 vs 0.3000)'
        """
        one, two = leaders(self.now, self.metric.better), leaders(self.then, self.metric.better)
        if not one or not two or one & two:
            return ""
        first, second = (
            next(name for name in means if name in ahead) for means, ahead in ((self.now, one), (self.then, two))
        )
        return (
            f"{first} leads on {self.metric} ({against(self.now[first], self.now[second])}) "
            f"and {second} on {self.other} ({against(self.then[second], self.then[first])})"
        )
