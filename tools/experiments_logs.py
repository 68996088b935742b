"""What is measured of whole simulated logs: experiments of users who come back, see lists and click, through ``rankscope.experiment``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

import rankscope as rs
from calibrate_scores import Rate
from experiments_cells import Row, Size
from rankscope.worlds.log import design_effect, played_units, true_effects

USERS = 600
RATE = "Ratio(clicks, impressions)"
FURTHER = 400_000  # users on whom the true difference is measured
Z = 1.959964


def units_of(quality: tuple[float, float], users: int, seed: int) -> pl.DataFrame:
    """So many users of an experiment, a row each."""
    made = rs.simulate("experiment", quality=quality, users=1, truth=0, seed=seed, before=0)
    behaviour = made.scenario.behaviour
    behaviour.world = replace(behaviour.world, users=users)
    return played_units(made.scenario)


def of_rows(units: pl.DataFrame) -> bool:
    """Whether a test of two shares that takes rows for independent finds a difference."""
    sums = units.group_by("variant").agg(pl.col("clicks", "impressions").sum()).sort("variant")
    (a, m), (b, n) = sums.select("clicks", "impressions").rows()
    p, q = a / m, b / n
    return bool(abs(p - q) > Z * math.sqrt(p * (1 - p) / m + q * (1 - q) / n))


def without_difference(size: Size, seed: int = 100) -> tuple[float, list[Row]]:
    """The design effect of experiments of two equal rankers, and how often tests of users and of rows find a difference."""
    units = units_of((0.5, 0.5), size.logs * USERS, seed)
    effect = design_effect(*(units[name].to_numpy() for name in ("clicks", "impressions", "variant")))
    parts = [units[i * USERS : (i + 1) * USERS] for i in range(size.logs)]
    by_users = np.array([rs.experiment(part, RATE)["treatment", RATE].p_value < 0.05 for part in parts])
    by_rows = np.array([of_rows(part) for part in parts])
    expected = 100 * math.erfc(Z / math.sqrt(2 * effect))
    return effect, [
        ("of users, as `rankscope experiment` does", str(Rate.of(by_users)), "5.0"),
        ("of rows, as if they were independent", str(Rate.of(by_rows)), f"{expected:.1f}"),
    ]


def with_difference(size: Size, seed: int = 101) -> tuple[float, Rate]:
    """The true difference of two rankers, and how often 95% intervals hold it."""
    units = units_of((0.5, 0.6), size.logs * USERS, seed)
    made = rs.simulate("experiment", users=1, truth=2, metrics="CTR", seed=seed)
    (truth,) = true_effects(made.scenario, [made.effects[0].metric], FURTHER)
    ends = [_bounds(units[i * USERS : (i + 1) * USERS]) for i in range(size.logs)]
    return truth.difference, Rate.of(np.array([low <= truth.difference <= high for low, high in ends]))


def _bounds(part: pl.DataFrame) -> tuple[float, float]:
    bounds = rs.experiment(part, RATE)["treatment", RATE].bounds
    return bounds.lower, bounds.upper


def text(size: Size) -> Iterator[str]:
    """The part of the page."""
    from calibrate import table

    effect, rows = without_difference(size)
    yield (
        f"Logs of `rankscope simulate experiment`, in which a few users make many of the rows and some click on much: the design effect of CTR is "
        f"{effect:.2f}, so the variance of CTR is that many times as large as if rows were independent. {size.logs:,} experiments of two equal rankers with {USERS} users each; "
        "how often each test finds a difference, and how often it would by the design effect:\n"
    )
    yield table(("test", "finds one", "would"), rows)
    difference, held = with_difference(size)
    yield (
        f"Where the rankers differ (quality 0.5 and 0.6; the true difference of CTR is {difference:.5f}, measured on {FURTHER:,} further users) "
        f"{held} of the 95% intervals hold it.\n"
    )
