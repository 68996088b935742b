"""Small experiments: a table of users, and a log in which the rows of a user are alike."""

from __future__ import annotations

import numpy as np
import polars as pl


def users(seed: int, count: int = 2000, lift: float = 0.0) -> pl.DataFrame:
    """One row a user: variant A or B by turns, sessions, orders, revenue (``lift`` more in B) and what they spent before."""
    draws = np.random.default_rng(seed)
    sessions = 1 + draws.poisson(1.5, count)
    before = draws.gamma(0.5, 10.0, count)
    orders = draws.binomial(sessions, 0.3)
    revenue = 0.8 * before + orders * draws.gamma(2.0, 2.0, count) + lift * (np.arange(count) % 2)
    return pl.DataFrame({
        "user": [f"u{i}" for i in range(count)], "variant": ["A", "B"] * (count // 2), "country": draws.choice(["de", "fr", "it"], count),
        "sessions": sessions, "orders": orders, "revenue": revenue, "before": before,
    })  # fmt: skip


def log_of_users(seed: int, count: int = 400, lift: float = 0.02) -> pl.DataFrame:
    """A row a shown item: users differ in how many they see, and in how often they click."""
    draws = np.random.default_rng(seed)
    size = 1 + draws.negative_binomial(1, 0.08, count)
    user = np.repeat(np.arange(count), size)
    chance = np.clip(draws.beta(0.6, 2.4, count) + lift * (np.arange(count) % 2), 0, 1)
    return pl.DataFrame({
        "user": user, "variant": np.where(user % 2 == 0, "A", "B"), "item": draws.integers(0, 50, len(user)),
        "click": draws.random(len(user)) < chance[user],
    }).with_columns(pl.col("user").cast(pl.String))  # fmt: skip


def log_of_days(seed: int, count: int = 600, early: float = 0.0, late: float = 0.0, days: int = 6) -> pl.DataFrame:
    """A row a shown item over some days, with users who come on several: clicks are more likely in B, ``early`` and ``late`` by so much."""
    draws = np.random.default_rng(seed)
    taste, pace = draws.beta(2, 6, count), draws.beta(2, 3, count)
    shown = draws.poisson(4, (count, days)) * (draws.random((count, days)) < pace[:, None])
    user, day = (np.repeat(place.ravel(), shown.ravel()) for place in np.indices((count, days)))
    more = np.where(day < days // 2, early, late) * (user % 2)
    return pl.DataFrame({
        "user": user, "variant": np.where(user % 2 == 0, "A", "B"), "item": draws.integers(0, 50, len(user)),
        "time": np.datetime64("2024-03-01T12:00:00", "ms") + day.astype("timedelta64[D]").astype("timedelta64[ms]"),
        "country": np.array(["de", "fr", "it"])[user // 2 % 3], "device": draws.choice(["phone", "desktop"], len(user)),
        "click": (draws.random(len(user)) < np.clip(taste[user] + more, 0, 1)).astype(float),
    }).with_columns(pl.col("user").cast(pl.String))  # fmt: skip
