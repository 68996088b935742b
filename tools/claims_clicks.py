"""Claims about examination curves: what ``position_bias`` finds in clicks whose curve is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from claims import Claim
from rankscope.click_models.bias import BiasEstimator
from rankscope.lists.pages import Pages
from rankscope.verbs.position_bias.position_bias import curves

EXAMINATION, QUERIES, LISTS = np.array([1.0, 0.6, 0.35]), 10, 3
METHODS = {
    "swaps": (600, 400),
    "harvesting": (600, 100),
    "randomised": (600, 400),
    "regression_em": (400, 100),
}  # users and samples


def pages(method: str, users: int, rng: np.random.Generator) -> Pages:
    """Three lists of each user, whose mood makes all clicks more or less probable; the order is as the method needs it."""
    lists, places = users * LISTS, len(EXAMINATION)
    unit, query, row = np.repeat(np.arange(users), LISTS), rng.integers(0, QUERIES, lists), np.arange(lists)
    attraction, mood = rng.beta(2, 2, (QUERIES, places)), rng.uniform(0.5, 1.0, users)
    ranker, order = rng.integers(0, 3, lists), np.tile(np.arange(places), (lists, 1))
    if method == "swaps":
        other = rng.integers(0, places, lists)
        order[row, 0], order[row, other] = order[row, other], order[row, 0].copy()
    elif method == "harvesting":
        order = (order + ranker[:, None]) % places
    else:
        order = np.argsort(rng.random(order.shape), axis=1)
    item = query[:, None] * places + order
    click = rng.random(item.shape) < EXAMINATION * attraction.ravel()[item] * mood[unit][:, None]
    return replace(
        Pages.of(item, click, QUERIES * places), unit=unit, ranker=ranker, chance=np.full(item.shape, 1 / places)
    )


def held(method: str, users: int, rng: np.random.Generator) -> bool | None:
    """The interval of one of the lower positions holds its examination."""
    points, _, _ = curves(
        [BiasEstimator.read(method)], pages(method, users, rng), 0.95, None, int(rng.integers(1 << 30))
    )
    place = int(rng.integers(1, len(EXAMINATION)))
    bounds = points[place].bounds if points else None
    return None if bounds is None or not bounds.known else bool(bounds.lower <= EXAMINATION[place] <= bounds.upper)


def _claims() -> Iterator[Claim]:
    for method, (users, samples) in METHODS.items():
        cell = f"{method}, {users} users with 3 lists each"
        yield Claim("interval of the examination holds it", cell, "95", 92, 97, partial(held, method, users), samples)


CLAIMS = tuple(_claims())
