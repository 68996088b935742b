"""Measure what docs/online.md says of quantiles: how often intervals hold the truth, and how often tests err.

The rows of every experiment are those of users drawn from a large population, whose quantile is known. ``--experiments 4000`` takes some minutes.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankscope.inference.base import Estimate
from rankscope.inference.order_statistics import quantile_of
from rankscope.inference.paired import t
from rankscope.lists import Array

USERS = 200_000
SHARES = (0.5, 0.9, 0.95, 0.99)
SIZES = (300, 1000, 3000)


@dataclass(frozen=True, eq=False)
class World:
    """Waiting times of users: ``values`` of their rows, user by user, each of whom has so many (``sizes``)."""

    values: Array
    sizes: Array

    @classmethod
    def made(cls, rng: np.random.Generator, spread: float, whole: bool) -> World:
        """Users whose numbers of rows spread so, in standard deviations of the logarithm; in whole seconds, maybe."""
        sizes = 1 + rng.poisson(np.exp(1.2 - spread**2 / 2 + spread * rng.normal(size=USERS)))
        own = np.repeat(0.8 * rng.normal(size=USERS), sizes)
        values = np.exp(2 + own + 0.6 * rng.normal(size=len(own)))
        return cls(np.ceil(values) if whole else values, sizes)

    @cached_property
    def starts(self) -> Array:
        """Where the rows of each user begin."""
        return np.cumsum(self.sizes) - self.sizes

    def draw(self, rng: np.random.Generator, users: int) -> tuple[Array, Array]:
        """The rows of so many users, and whose they are."""
        chosen = rng.integers(0, USERS, users)
        sizes = self.sizes[chosen]
        user = np.repeat(np.arange(users), sizes)
        within = np.arange(len(user)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self.values[np.repeat(self.starts[chosen], sizes) + within], user


def measured(world: World, q: float, users: int, times: int, rng: np.random.Generator) -> list[str]:
    """How often the interval of a variant holds the truth, tests of users and of rows find a difference, and rows are said to be too few."""
    truth = float(np.quantile(world.values, q, method="inverted_cdf"))
    known, held, few, found, naive, tested = 0, 0, 0, 0, 0, 0
    for _ in range(times):
        drawn = [world.draw(rng, users) for _ in range(2)]
        sides = [quantile_of(*rows, q) for rows in drawn]
        known += sum(side.bounds.known for side in sides)
        held += sum(side.bounds.known and side.bounds.lower <= truth <= side.bounds.upper for side in sides)
        few += sum(side.needed > 0 for side in sides)
        apart = [quantile_of(values, None, q).estimate() for values, _ in drawn]
        naive += t().p_value(Estimate.between(*apart)) <= 0.05
        if not any(side.reason for side in sides):
            tested += 1
            found += t().p_value(Estimate.between(*(side.estimate() for side in sides))) <= 0.05
    return [told(held, known), told(found, tested), told(naive, times), f"{few / times / 2:.0%}"]


def told(hits: int, times: int) -> str:
    """A share with its error."""
    if not times:
        return "-"
    share = hits / times
    return f"{share:.1%} ± {math.sqrt(share * (1 - share) / times):.1%}"


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--experiments", type=int, default=4000)
    options.add_argument("--seed", type=int, default=30)
    said = options.parse_args()
    rng = np.random.default_rng(said.seed)
    worlds = {
        "": World.made(rng, 0.9, whole=False),
        "in whole seconds": World.made(rng, 0.9, whole=True),
        "a few users with most rows": World.made(rng, 1.6, whole=False),
    }
    print(
        "| waiting times | users a variant | q | intervals that hold it | tests of users | tests of rows | told that rows are few |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, world in worlds.items():
        for users in SIZES:
            for q in SHARES:
                cells = measured(world, q, users, said.experiments, rng)
                print(f"| {name} | {users:,} | {q} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
