"""Claims about estimates of other policies: what ``estimate`` says of logs of users whose truth under the target is known."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import rankscope as rs
from claims import Claim
from rankscope.lists import Array

FEW = 60  # worlds in tests
PLACE = np.linspace(-1, 1, 8)  # of each item on a scale: the log shows the lowest most often, the target the highest
RATES = np.linspace(0.05, 0.4, 8)
# how far apart both policies are, and users: the largest weight is exp(2 x the first)
GOOD = {"weights up to 2.7": (0.5, 1000), "weights up to 9": (1.1, 1500)}
POOR = {
    "weights up to 9, 10 users": (1.1, 10),
    "weights up to 40, 60 users": (1.85, 60),
    "weights up to 245, 200 users": (2.75, 200),
    "weights up to 992, 500 users": (3.45, 500),
    "weights up to 992, 2,000 users": (3.45, 2000),
}


def chances(apart: float) -> tuple[Array, Array]:
    """The chance of each item under the policy that ran, and under the target."""
    logged = np.exp(-apart * PLACE) / np.exp(apart * PLACE).sum()
    return logged, logged[::-1]


def log(apart: float, users: int, clustered: bool, rng: np.random.Generator) -> dict[str, Array]:
    """Rows of single items: three of each user, who clicks more or less than others, or one."""
    user = np.repeat(np.arange(users), 3) if clustered else np.arange(3 * users)
    mood = rng.choice([0.4, 1.6], size=users)[user] if clustered else np.ones(len(user))
    logged, wanted = chances(apart)
    item = rng.choice(len(logged), size=len(user), p=logged)
    click = rng.random(len(user)) < RATES[item] * mood
    return {"user": user, "item": item, "click": click, "p_item_pos": logged[item], "p_new": wanted[item]}


def held(
    estimator: str, apart: float, users: int, clustered: bool, rng: np.random.Generator, **more: Any
) -> bool | None:
    """The interval of the target's value holds it."""
    target = "uniform" if estimator == "DR" else "p_new"
    found = rs.estimate(log(apart, users, clustered, rng), target, estimator, **more).value_of(target)
    truth = RATES.mean() if estimator == "DR" else chances(apart)[1] @ RATES
    low, high = found.ends
    return None if found.refused or not found.bounds.known else bool(low <= truth <= high)


def held_at_every_look(apart: float, users: int, rng: np.random.Generator) -> bool:
    """The anytime-valid interval holds the value after each fifth of the users."""
    whole = log(apart, users, True, rng)
    truth = chances(apart)[1] @ RATES
    for look in range(1, 6):
        part = {name: column[: 3 * users * look // 5] for name, column in whole.items()}
        low, high = rs.estimate(part, "p_new", "IPS", interval="anytime", force=True).value_of("p_new").ends
        if not low <= truth <= high:
            return False
    return True


def warned(estimator: str, apart: float, users: int, rng: np.random.Generator) -> bool | None:
    """The estimate has a warning or is refused."""
    found = rs.estimate(log(apart, users, True, rng), "p_new", estimator).value_of("p_new")
    return bool(found.cautions)


def _claims() -> Iterator[Claim]:
    for cell, (apart, users) in GOOD.items():
        for estimator in ("IPS", "SNIPS", "DR"):
            for clustered in (True, False):
                named = f"{estimator}, {cell}, {'three rows per user' if clustered else 'one row per user'}"
                trial = partial(held, estimator, apart, users, clustered)
                samples = 1500 if apart > 1 else 500  # where it is close
                yield Claim("estimate: interval holds the value", named, "95", 93, 97, trial, samples, few=FEW)
        looks = partial(held_at_every_look, apart, users)
        yield Claim(
            "estimate: anytime holds the value at each of 5 looks", cell, "at least 95", 95, 100, looks, 300, few=FEW
        )
    for cell, (apart, users) in (GOOD | POOR).items():
        bound = f"bernstein(low=0, high={1.001 * np.exp(2 * apart):.6g})"
        trial = partial(held, "IPS", apart, users, True, interval=bound, force=True)
        yield Claim("estimate: bernstein holds the value", cell, "at least 95", 95, 100, trial, 300, few=FEW)
    for cell, (apart, users) in POOR.items():
        for estimator in ("IPS", "SNIPS"):
            named, trial = f"{estimator}, {cell}", partial(held, estimator, apart, users, True, force=True)
            yield Claim(
                "estimate: interval holds the value, poor support", named, "none, below 85", 0, 85, trial, 300, few=FEW
            )
            trial = partial(warned, estimator, apart, users)
            yield Claim(
                "estimate: warning or refusal, poor support", named, "at least 90", 90, 100, trial, 300, few=FEW
            )


CLAIMS = tuple(_claims())
