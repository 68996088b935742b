"""Users of made-up experiments: a large population of each kind, from which the users of every experiment are drawn.

Each has the columns of ``panel_of_variants``: what a user adds above and below the line, then the same of a covariate. The population is
what an experiment is about, so the truth is known exactly: it is the value of the whole population under either variant.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from rankscope.lists import Array

SEED = 20
PEOPLE = 200_000
LIFT = 0.2  # what a variant with an effect adds


def generator(*cell: object) -> np.random.Generator:
    """The random numbers of a cell: its own, whatever other cells there are."""
    return np.random.default_rng([SEED, zlib.crc32(repr(cell).encode())])


@dataclass(frozen=True, eq=False)
class World:
    """A population under a variant without an effect (``usual``) and under one with it (``lifted``): users x columns."""

    name: str
    usual: Array
    lifted: Array

    def draw(self, rng: np.random.Generator, experiments: int, users: int, *, lifted: bool = False) -> Array:
        """The users of one variant: experiments x users x columns."""
        people = self.lifted if lifted else self.usual
        return people[rng.integers(0, len(people), (experiments, users))]

    def truth(self, *, lifted: bool) -> tuple[float, float]:
        """The true difference, and the lift."""
        usual, other = (float(one[:, 0].sum() / one[:, 1].sum()) for one in (self.usual, self.lifted))
        return (other - usual, other / usual - 1) if lifted else (0.0, 0.0)

    @cached_property
    def plain(self) -> World:
        """Without the covariate."""
        return replace(self, usual=self.usual[:, :2], lifted=self.lifted[:, :2])

    @cached_property
    def skewness(self) -> float:
        """The skewness of what users add, less the value times what is below the line."""
        left = self.usual[:, 0] - self.usual[:, 0].sum() / self.usual[:, 1].sum() * self.usual[:, 1]
        return float(np.mean((left / left.std()) ** 3))


def _converting(rate: float) -> Callable[[np.random.Generator], tuple[Array, Array]]:
    """A share of users does it, some of whom did it before."""

    def made(rng: np.random.Generator) -> tuple[Array, Array]:
        chance = rng.beta(2 * rate, 2 * (1 - rate), PEOPLE)
        before, draw, one = rng.random(PEOPLE) < chance, rng.random(PEOPLE), np.ones(PEOPLE)
        both = [np.column_stack([draw < chance * by, one, before, one]) for by in (1, 1 + LIFT)]
        return both[0], both[1]

    return made


def _revenue(rng: np.random.Generator) -> tuple[Array, Array]:
    """One user in ten buys, for an amount whose logarithm is normal; who spent much before spends much."""
    taste, one = rng.normal(0, 0.7, PEOPLE), np.ones(PEOPLE)
    spent = np.where(rng.random(PEOPLE) < 0.1, np.exp(3 + taste + rng.normal(0, 0.7, PEOPLE)), 0.0)
    before = np.exp(taste + rng.normal(0, 0.5, PEOPLE))
    return np.column_stack([spent, one, before, one]), np.column_stack([spent * (1 + LIFT), one, before, one])


def _clicks(rate: float) -> Callable[[np.random.Generator], tuple[Array, Array]]:
    """Clicks out of impressions: users differ in how many they see, how readily they click, and who sees more clicks less."""

    def made(rng: np.random.Generator) -> tuple[Array, Array]:
        pace = rng.gamma(1.0, 1.0, PEOPLE)
        seen, seen_before = (1 + rng.poisson(11 * pace) for _ in range(2))
        mean = np.clip(rate * np.where(pace > 1, 0.8, 1.2), 0, 0.8)
        chance = rng.beta(3 * mean, 3 * (1 - mean))
        before = rng.binomial(seen_before, chance)
        both = [
            np.column_stack([rng.binomial(seen, np.minimum(chance * by, 1)), seen, before, seen_before]).astype(float)
            for by in (1, 1 + LIFT)
        ]
        return both[0], both[1]

    return made


KINDS: Mapping[str, Callable[[np.random.Generator], tuple[Array, Array]]] = {
    "users who convert, 2%": _converting(0.02),
    "users who convert, 10%": _converting(0.1),
    "revenue, 1 in 10 buys": _revenue,
    "clicks out of impressions, 1%": _clicks(0.01),
    "clicks out of impressions, 5%": _clicks(0.05),
    "clicks out of impressions, 20%": _clicks(0.2),
    "clicks out of impressions, 50%": _clicks(0.5),
}
RATIOS = tuple(name for name in KINDS if name.startswith("clicks"))


@cache
def world(name: str) -> World:
    """The population of a kind."""
    return World(name, *(np.asarray(table, dtype=float) for table in KINDS[name](generator("world", name))))
