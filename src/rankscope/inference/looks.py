"""Looks at an experiment that were planned, of which each spends a part of alpha: where a difference must be at each."""

from __future__ import annotations

import math
from functools import cache
from typing import Annotated, Literal

import numpy as np

from rankscope.declared import Lookup, Param, plain
from rankscope.errors import InputError
from rankscope.inference.intervals import normal, student
from rankscope.lists import Array

Look = Annotated[int, Param("which look this is, from 1", low=1, high=50)]
Looks = Annotated[int, Param("how many looks were planned, at equal numbers of units", low=1, high=50)]
Shares = Annotated[
    Lookup | None,
    Param(
        "what part of all planned units was in at each look up to this one, like (0.2, 0.5), where looks were not at equal numbers",
        takes_sequence=True,
    ),
]
Spending = Annotated[
    Literal["obrien_fleming", "pocock"],
    Param("how alpha is spent: obrien_fleming keeps nearly all for the end, pocock spends it evenly"),
]
FAR = 8.0  # standard errors beyond which nothing is left of a normal distribution
LOST = 1e-300  # what is rarer is not told apart
LEAST = 1e-3  # the least part of all units that comes between two looks
STEPS = 400  # points, at least, of the grid on which the density of what goes on is held


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
def critical(looks: int, of: int, alpha: float, spending: str, shares: tuple[float, ...] = ()) -> tuple[float, ...]:
    """How many standard errors a difference must be away from 0, at each look up to this one.

    ``shares`` are the parts of all planned units that were in at each look, equal steps unless given; the last look spends all that is
    left of alpha, also where there are fewer units then than planned, or more. What is left of the normal density after each look
    is carried to the next on a grid (Armitage, McPherson and Rowe, 1969).

    >>> [round(z, 3) for z in critical(5, 5, 0.05, "pocock")]
    [2.438, 2.427, 2.41, 2.397, 2.386]
    >>> [round(z, 3) for z in critical(5, 5, 0.05, "obrien_fleming")]
    [4.877, 3.357, 2.68, 2.29, 2.031]
    >>> [round(z, 3) for z in critical(2, 2, 0.05, "obrien_fleming", (0.3, 1.0))]
    [3.929, 1.96]
    """
    times = [0.0, *(shares or (look / of for look in range(1, looks + 1)))]
    ends: list[float] = []
    grid, density = np.zeros(1), np.ones(1)  # of the sum so far, whose variance is the part of the units that is in
    before = 0.0
    for look in range(1, looks + 1):
        spread = math.sqrt(times[look] - times[look - 1])
        now = alpha if look == of else spent(times[look], alpha, spending)
        end = _end(grid, density, spread, now - before, FAR * max(1.0, math.sqrt(times[look])))
        ends.append(end / math.sqrt(times[look]))
        before = now
        if look < looks:
            edge = min(end, FAR * math.sqrt(times[look]))
            steps = 2 * math.ceil(max(STEPS / 2, 2.5 * edge / math.sqrt(times[look + 1] - times[look])))
            points = np.linspace(-edge, edge, steps + 1)
            weights = np.ones(steps + 1)
            weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0  # Simpson's rule
            kernel = np.exp(-0.5 * ((points[:, None] - grid[None, :]) / spread) ** 2) / (
                spread * math.sqrt(2 * math.pi)
            )
            density = (kernel @ density) * weights * (2 * edge / steps / 3)
            grid = points
    return tuple(ends)


def _end(grid: Array, density: Array, spread: float, part: float, most: float) -> float:
    """Where the next sum must be so that this part of all experiments ends there, by bisection."""
    from scipy.special import ndtr

    low, high = 0.0, most
    for _ in range(80):
        end = (low + high) / 2
        beyond = float((density * (ndtr((-end - grid) / spread) + ndtr((grid - end) / spread))).sum())
        low, high = (end, high) if beyond > part else (low, end)
    return (low + high) / 2


def as_student(z: float, freedom: float) -> float:
    """Where Student's t has as much beyond it as the normal distribution has beyond z: an early look knows its spread only roughly.

    Source: Jennison and Turnbull, Group Sequential Methods with Applications to Clinical Trials, 2000.

    >>> round(as_student(2.438, 18), 3)
    2.696
    """
    return student(freedom, max(math.erfc(z / math.sqrt(2)) / 2, LOST))


def as_normal(t: float, freedom: float) -> float:
    """The reverse of ``as_student``.

    >>> round(as_normal(as_student(2.438, 18), 18), 6)
    2.438
    """
    from scipy.special import ndtri, stdtr

    beyond = float(stdtr(freedom, -t))
    return -float(ndtri(beyond)) if beyond > LOST else t


class Planned:
    """What the test and the interval of a planned look share."""

    look: int
    looks: int
    spending: str
    shares: Lookup | None

    def check(self) -> None:
        """A look is one of those that were planned, and the parts of the units grow to it."""
        if self.look > self.looks:
            raise InputError(f"group_sequential(look={self.look}, looks={self.looks}): look is at most looks")
        if self.shares is None:
            return
        parts = [part for _, part in self.shares]
        said = f"group_sequential(look={self.look}, looks={self.looks}, shares={plain(self.shares)})"
        if [number for number, _ in self.shares] != list(range(1, self.look + 1)):
            raise InputError(
                f"{said}: give a share for each look up to this one, like {_example(self.look, self.looks)}"
            )
        early = parts if self.look < self.looks else parts[:-1]
        if (
            any(later - earlier < LEAST for earlier, later in zip([0.0, *parts], parts, strict=False))
            or max([0.0, *early]) >= 1
        ):
            raise InputError(
                f"{said}: shares are the parts of all planned units that were in at each look: each is above the one before, "
                f"and below 1 until the last look, like {_example(self.look, self.looks)}"
            )

    def reach(self, alpha: float) -> float:
        """How many standard errors away a difference must be at this look."""
        parts = () if self.shares is None else tuple(part for _, part in self.shares)
        return critical(self.look, self.looks, alpha, self.spending, parts)[-1]


def _example(look: int, looks: int) -> str:
    return (
        "shares=("
        + ", ".join(f"{number / looks:.2g}" for number in range(1, look + 1))
        + ("," if look == 1 else "")
        + ")"
    )
