"""Measure how close the corrected correlation of launches comes to the truth, and how often its interval covers it.

    python tools/measure_launches.py [--rounds 1000] [--launches 100] [--reliability 0.6]

In each round launches are drawn whose true differences are normal with a known correlation, and errors are added on both sides. Printed
are the median of the correlation with and without the errors in it, and the share of 95% intervals that cover the truth. Half rejected:
twice the candidates, of which the lower half on the measured offline difference has no online result.
"""

from __future__ import annotations

import argparse
import math

import numpy as np

from rankscope.inference.errors_in_variables import NoisyPairs, true_relation

CORRELATIONS = (0.0, 0.5, 0.9)
SPREAD = 0.7  # of the logarithms of unequal error variances


def pairs(
    r: float, count: int, draws: np.random.Generator, reliability: float, uneven: bool, rejected: bool
) -> NoisyPairs:
    """Return launches with true means 0.3 and 0.2, true variances 1 and the correlation r."""
    x, y = draws.multivariate_normal([0.3, 0.2], [[1, r], [r, 1]], count).T
    noise = (1 - reliability) / reliability
    wide = np.full((2, count), noise)
    if uneven:
        wide *= np.exp(draws.normal(size=(2, count)) * SPREAD - SPREAD**2 / 2)
    x, y = x + draws.normal(size=count) * np.sqrt(wide[0]), y + draws.normal(size=count) * np.sqrt(wide[1])
    return NoisyPairs(x, wide[0], np.where(x > np.median(x), y, math.nan) if rejected else y, wide[1])


def line(r: float, uneven: bool, rejected: bool, said: argparse.Namespace) -> str:
    """Return one line of the table."""
    draws = np.random.default_rng([said.seed, round(10 * r), uneven, rejected])
    count = said.launches * (1 + rejected)
    found = [true_relation(pairs(r, count, draws, said.reliability, uneven, rejected)) for _ in range(said.rounds)]
    known = [one.correlation() for one in found if one.known]
    naive, value = np.median([one.naive for one in found]), np.median([value for value, _ in known])
    covered = np.mean([bounds.lower <= r <= bounds.upper for _, bounds in known])
    world = f"{'unequal' if uneven else 'equal':<8} errors  {'half rejected' if rejected else 'all launched':<13}"
    return f"{r:4.1f}  {world}  {naive:6.3f}  {value:9.3f}  {covered:8.1%}  {1 - len(known) / len(found):11.1%}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--launches", type=int, default=100)
    parser.add_argument("--reliability", type=float, default=0.6)
    parser.add_argument("--seed", type=int, default=7)
    said = parser.parse_args()
    print("true  world                           naive  corrected   covered  cannot tell")
    for r in CORRELATIONS:
        for uneven in (False, True):
            for rejected in (False, True):
                print(line(r, uneven, rejected, said), flush=True)


if __name__ == "__main__":
    main()
