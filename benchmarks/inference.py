"""Sign flips beside scipy's, and what many comparisons cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.__main__ import Timing, side_by_side
from rankscope.inference.max_t import max_t, randomised_tukey
from rankscope.inference.permutation import MANY, flip_signs


def _timed(work: Callable[[], object]) -> Callable[[], Timing]:
    def timed() -> Timing:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start, 0.0

    return timed


def _scores(systems: int, queries: int, seed: int) -> Any:
    draw = np.random.default_rng(seed)
    hard, better = draw.random(queries), draw.normal(0, 0.02, (systems, 1))
    return np.clip(hard + better + draw.normal(0, 0.1, (systems, queries)), 0, 1)


def inference(rounds: int, small: bool) -> None:
    """A sign-flip test beside scipy's, an exact one, and fifty systems compared with one another."""
    from scipy.stats import permutation_test

    def mean(values: Any, axis: int) -> Any:
        return np.mean(values, axis=axis)

    draws, (better, worse) = 10_000 if small else 100_000, _scores(2, 500, 1)
    differences = better - worse
    side_by_side(
        f"sign-flip test: {draws:,} flips of 500 queries",
        {
            "rankscope": _timed(lambda: flip_signs(differences, draws)),
            "scipy, a batch of 1,000": _timed(
                lambda: permutation_test(
                    (differences,), mean, permutation_type="samples", vectorized=True, n_resamples=draws, batch=1000
                )
            ),
        },
        rounds,
    )
    side_by_side(
        f"the same, exact: {MANY} queries that differ",
        {"rankscope": _timed(lambda: flip_signs(differences[:MANY]))},
        rounds,
    )
    systems, metrics = (20, 2) if small else (50, 10)
    tables = [_scores(systems, 200, seed) for seed in range(metrics)]
    pairs = np.array(list(combinations(range(systems), 2)))
    side_by_side(
        f"{systems} systems, {len(pairs):,} pairs, 200 queries, 10,000 shared draws",
        {
            f"rankscope max_t, {metrics} metrics": _timed(lambda: [max_t().over(table, pairs) for table in tables]),
            "randomised_tukey, 1 metric": _timed(lambda: randomised_tukey().over(tables[0], pairs)),
        },
        rounds,
    )
