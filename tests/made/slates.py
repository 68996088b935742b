"""Small worlds whose every list can be enumerated: the exact mean of an estimator is a sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations, product

import numpy as np

from rankscope.behaviour.policies import LoggingPolicy
from rankscope.estimators.base import Estimator
from rankscope.estimators.events import Codes, Level, LoggedEvents, Predict, TargetPolicy
from rankscope.estimators.rewards import RewardModel
from rankscope.estimators.targets import Dense, OfPolicy
from rankscope.lists import Array

ITEMS = ("a", "b", "c", "d")
Reward = Callable[[tuple[int, ...], int], float]  # of a list and a place


class Guess(RewardModel):
    """Predictions that are fixed and wrong: a number per item and position."""

    seed: int = 0

    def fit(self, events: LoggedEvents, reward: Array, rows: Codes) -> Predict:
        """Draw the predictions."""
        table = np.random.default_rng(self.seed).random((len(events.items) + 1, events.places))
        return lambda at, item: table[item, events.position[at]]


def independent(shown: tuple[int, ...], place: int) -> float:
    """The reward of a position depends on its own item and the position."""
    return (0.1 + 0.2 * shown[place]) / (1 + place)


def cascade(shown: tuple[int, ...], place: int) -> float:
    """The reward of a position depends on the items above it, too."""
    return (0.1 + 0.2 * shown[place]) * (0.6 if 3 in shown[:place] else 1.0) / (1 + place)


def anything(shown: tuple[int, ...], place: int) -> float:
    """The reward of a position depends on all items of the list."""
    return (0.1 + 0.2 * shown[place]) * (0.5 if shown[-1] == 2 else 1.0) * (1.5 if shown[0] == 1 else 1.0)


def policy(chosen: LoggingPolicy, scores: tuple[float, ...], name: str = "target") -> OfPolicy:
    """A policy on the four items."""
    return OfPolicy(name, chosen, np.array([scores]), np.arange(len(scores))[None, :])


def every_list(places: int) -> list[tuple[int, ...]]:
    """All lists of different items."""
    return list(permutations(range(len(ITEMS)), places))


def events_of(lists: list[tuple[int, ...]], reward: Reward, **more: object) -> LoggedEvents:
    """Each list once, with its expected rewards, no propensities yet."""
    places = len(lists[0])
    number = np.repeat(np.arange(len(lists)), places)
    zeros = np.zeros(len(number), dtype=np.int64)
    rewards = np.array([reward(shown, place) for shown in lists for place in range(places)])
    made = LoggedEvents(
        rewards,
        number,
        len(lists),
        number,
        np.tile(np.arange(places), len(lists)),
        np.array(lists).ravel(),
        ITEMS,
        zeros,
        zeros,
        {},
    )
    return replace(made, **more)  # type: ignore[arg-type]


def logged_by(events: LoggedEvents, logger: TargetPolicy) -> tuple[LoggedEvents, Array]:
    """The events with exact propensities, and the probability of each list."""
    names: tuple[Level, ...] = ("item", "prefix", "slate")
    levels = {level: logger.chance(events, level) for level in names}
    chances = levels["slate"][events.starts]
    known = {
        level: np.where(values > 0, values, 1.0) for level, values in levels.items()
    }  # lists that never happen count 0 times
    return replace(events, propensities=known, logging=logger), chances


def product_lists(places: int) -> list[tuple[int, ...]]:
    """All lists of items that may repeat, as independent positions draw them."""
    return list(product(range(len(ITEMS)), repeat=places))


def product_policy(table: Array, lists: int, name: str = "product") -> Dense:
    """A policy that draws each position independently: ``table`` is places x items."""
    return Dense(name, np.tile(table, (lists, 1)))


def mean_of(estimator: Estimator, events: LoggedEvents, target: TargetPolicy, chances: Array) -> float:
    """The exact mean of an estimator of one list, over the lists that the logger makes."""
    ((above, _),) = estimator.earn(events.under(target)).parts
    return float(chances @ events.sum_lists(above))


def truth_of(events: LoggedEvents, target: TargetPolicy) -> float:
    """The mean reward of a list under the target."""
    return float(target.chance(events, "slate")[events.starts] @ events.sum_lists(events.reward))
