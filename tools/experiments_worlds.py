"""Users of made-up experiments: a large population of each kind, from which the users of every experiment are drawn.

Each has the columns of ``panel_of``: what a user adds above and below the line, then the same of a covariate. The population is
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
LIFT = 0.2  # what a variant with an effect adds, unless told otherwise
Made = tuple[Array, Array]
Maker = Callable[[np.random.Generator, float], Made]


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


def _converting(rate: float) -> Maker:
    """A share of users does it, some of whom did it before."""

    def made(rng: np.random.Generator, lift: float) -> Made:
        chance = rng.beta(2 * rate, 2 * (1 - rate), PEOPLE)
        before, draw, one = rng.random(PEOPLE) < chance, rng.random(PEOPLE), np.ones(PEOPLE)
        both = [np.column_stack([draw < chance * by, one, before, one]) for by in (1, 1 + lift)]
        return both[0], both[1]

    return made


def _revenue(rng: np.random.Generator, lift: float) -> Made:
    """One user in ten buys, for an amount whose logarithm is normal; who spent much before spends much."""
    taste, one = rng.normal(0, 0.7, PEOPLE), np.ones(PEOPLE)
    spent = np.where(rng.random(PEOPLE) < 0.1, np.exp(3 + taste + rng.normal(0, 0.7, PEOPLE)), 0.0)
    before = np.exp(taste + rng.normal(0, 0.5, PEOPLE))
    return np.column_stack([spent, one, before, one]), np.column_stack([spent * (1 + lift), one, before, one])


def _clicks(rate: float, *, evenly: bool = False) -> Maker:
    """Clicks out of impressions: users differ in how many they see, how readily they click, and who sees more clicks less.

    A lift multiplies how readily each clicks, or adds the same to every impression (``evenly``), so that users differ as much as before.
    """

    def made(rng: np.random.Generator, lift: float) -> Made:
        pace = rng.gamma(1.0, 1.0, PEOPLE)
        seen, seen_before = (1 + rng.poisson(11 * pace) for _ in range(2))
        mean = np.clip(rate * np.where(pace > 1, 0.8, 1.2), 0, 0.8)
        chance = rng.beta(3 * mean, 3 * (1 - mean))
        before = rng.binomial(seen_before, chance)
        if evenly:
            clicks = rng.binomial(seen, chance)
            more = clicks + lift * clicks.sum() / seen.sum() * seen
            return np.column_stack([clicks, seen, before, seen_before]), np.column_stack(
                [more, seen, before, seen_before]
            )
        both = [
            np.column_stack([rng.binomial(seen, np.minimum(chance * by, 1)), seen, before, seen_before]).astype(float)
            for by in (1, 1 + lift)
        ]
        return both[0], both[1]

    return made


def _minutes(rng: np.random.Generator, lift: float) -> Made:
    """How long users stay; an effect is as much more for each of them."""
    usual, one = rng.gamma(2.0, 5.0, PEOPLE), np.ones(PEOPLE)
    stays = usual * rng.gamma(4.0, 0.25, PEOPLE)
    return np.column_stack([stays, one, usual, one]), np.column_stack([stays + lift * stays.mean(), one, usual, one])


KINDS: Mapping[str, Maker] = {
    "users who convert, 2%": _converting(0.02),
    "users who convert, 10%": _converting(0.1),
    "revenue, 1 user in 10 buys": _revenue,
    "clicks out of impressions, 1%": _clicks(0.01),
    "clicks out of impressions, 5%": _clicks(0.05),
    "clicks out of impressions, 20%": _clicks(0.2),
    "clicks out of impressions, 50%": _clicks(0.5),
}
PLANNED: Mapping[str, Maker] = {
    "minutes, the same more for each": _minutes,
    "clicks out of impressions, 20%, the same more for each": _clicks(0.2, evenly=True),
}


@cache
def world(name: str, lift: float = LIFT) -> World:
    """The population of a kind, with this lift under a variant that has an effect."""
    made = {**KINDS, **PLANNED}[name](generator("world", name), lift)
    return World(name, *(np.asarray(table, dtype=float) for table in made))
