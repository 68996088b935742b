"""Measure what docs/online.md says of simulated experiments: how often tests err, and how often intervals hold the truth.

Each experiment has users of its own. ``--experiments 5000 --users 600`` takes some minutes.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

import rankscope as rs
from rankscope.logs.simulation.log import design_effect, played_units, true_effects

Z = 1.959964
RATE = "Ratio(clicks, impressions)"


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


def told(name: str, share: float, times: int, expected: float | None = None) -> None:
    """One line: a share of experiments with its error."""
    error = math.sqrt(share * (1 - share) / times)
    beside = "" if expected is None else f" (expected {expected:.1%})"
    print(f"{name}: {share:.2%} ± {error:.2%} of {times:,}{beside}")


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--experiments", type=int, default=5000)
    options.add_argument("--users", type=int, default=600)
    options.add_argument("--seed", type=int, default=100)
    said = options.parse_args()
    times, users = said.experiments, said.users

    same = units_of((0.5, 0.5), times * users, said.seed)
    effect = design_effect(*(same[name].to_numpy() for name in ("clicks", "impressions", "variant")))
    parts = [same[i * users : (i + 1) * users] for i in range(times)]
    found: list[Any] = [rs.experiment(part, RATE)["treatment", RATE].p_value for part in parts]
    print(f"A/A: {times:,} experiments of {users:,} users, design effect of CTR {effect:.2f}")
    told("tests of users that find a difference", float(np.mean(np.array(found) < 0.05)), times, 0.05)
    told(
        "tests of rows that find one",
        float(np.mean([of_rows(part) for part in parts])),
        times,
        math.erfc(Z / math.sqrt(2 * effect)),
    )

    other = units_of((0.5, 0.6), times * users, said.seed + 1)
    made = rs.simulate("experiment", users=1, truth=0, seed=said.seed + 1)
    truth = true_effects(
        made.scenario, [rs.simulate("experiment", users=1, truth=2, metrics="CTR").effects[0].metric], 400_000
    )[0]
    inside = 0
    for i in range(times):
        bounds = rs.experiment(other[i * users : (i + 1) * users], RATE)["treatment", RATE].bounds
        inside += bounds.lower <= truth.difference <= bounds.upper
    print(f"A/B: the true difference of CTR is {truth.difference:.5f} ± {truth.error:.5f}")
    told("95% intervals that hold it", inside / times, times, 0.95)


if __name__ == "__main__":
    main()
