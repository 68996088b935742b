"""Looks at an experiment that were planned, of which each spends a part of alpha: where a difference must be at each."""

from __future__ import annotations

import math
from functools import cache
from typing import Annotated, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.errors import InputError
from rankscope.inference.intervals import normal
from rankscope.lists import Array

Look = Annotated[int, Param("which look this is, from 1", low=1, high=50)]
Looks = Annotated[int, Param("how many looks were planned, at equal numbers of units", low=1, high=50)]
Spending = Annotated[
    Literal["obrien_fleming", "pocock"],
    Param("how alpha is spent: obrien_fleming keeps nearly all for the end, pocock spends it evenly"),
]
FAR = 8.0  # standard errors beyond which nothing is left of a normal distribution
STEPS = 400  # points of the grid on which the density of what goes on is held


def spent(part: float, alpha: float, spending: str) -> float:
    """How much of alpha is spent when this part of the units is in.

    Source: Lan and DeMets, Discrete sequential boundaries for clinical trials, Biometrika 70(3), 1983.

    >>> round(spent(1.0, 0.05, "obrien_fleming"), 4), round(spent(0.5, 0.05, "pocock"), 4)
    (0.05, 0.031)
    """
    if spending == "pocock":
        return alpha * math.log1p((math.e - 1) * part)
    return 2 * math.erfc(normal(alpha / 4) / math.sqrt(part) / math.sqrt(2))  # half of alpha on each side


@cache
def critical(looks: int, of: int, alpha: float, spending: str) -> tuple[float, ...]:
    """How many standard errors a difference must be away from 0, at each look up to this one.

    What is left of the normal density after each look is carried to the next on a grid (Armitage, McPherson and Rowe, 1969).

    >>> [round(z, 3) for z in critical(5, 5, 0.05, "pocock")]
    [2.438, 2.427, 2.41, 2.397, 2.386]
    >>> [round(z, 3) for z in critical(5, 5, 0.05, "obrien_fleming")]
    [4.877, 3.357, 2.68, 2.29, 2.031]
    """
    step = 1 / of
    spread = math.sqrt(step)
    ends: list[float] = []
    grid, density = np.zeros(1), np.ones(1)  # of the sum so far, whose variance is the part of the units that is in
    before = 0.0
    for look in range(1, looks + 1):
        now = spent(look * step, alpha, spending)
        end = _end(grid, density, spread, now - before)
        ends.append(end / math.sqrt(look * step))
        before = now
        points = np.linspace(-end, end, STEPS + 1)
        weights = np.ones(STEPS + 1)
        weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0  # Simpson's rule
        kernel = np.exp(-0.5 * ((points[:, None] - grid[None, :]) / spread) ** 2) / (spread * math.sqrt(2 * math.pi))
        density = (kernel @ density) * weights * (2 * end / STEPS / 3)
        grid = points
    return tuple(ends)


def _end(grid: Array, density: Array, spread: float, part: float) -> float:
    """Where the next sum must be so that this part of all experiments ends there, by bisection."""
    from scipy.special import ndtr

    low, high = 0.0, FAR
    for _ in range(80):
        end = (low + high) / 2
        beyond = float((density * (ndtr((-end - grid) / spread) + ndtr((grid - end) / spread))).sum())
        low, high = (end, high) if beyond > part else (low, end)
    return (low + high) / 2


class Planned:
    """What the test and the interval of a planned look share."""

    look: int
    looks: int
    spending: str

    def check(self) -> None:
        """A look is one of those that were planned."""
        if self.look > self.looks:
            raise InputError(f"group_sequential(look={self.look}, looks={self.looks}): look is at most looks")

    def reach(self, alpha: float) -> float:
        """How many standard errors away a difference must be at this look."""
        return critical(self.look, self.looks, alpha, self.spending)[-1]
