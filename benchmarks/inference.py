"""Sign flips beside scipy's, and what many comparisons cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from benchmarks.measure import Call, Trial
from benchmarks.scope import Scope

QUERIES = 500
Work = Callable[[], None]


def trials(scope: Scope) -> Iterator[Trial]:
    """A sign-flip test beside scipy's, an exact one, and fifty systems compared with one another."""
    here = "benchmarks.inference:"
    for draws in scope.sizes(1_000, 10_000, 100_000):
        repeats = max(20_000 // draws, 1)
        yield Trial(
            f"inference/flips/{draws}",
            f"sign-flip test, {draws:,} flips of {QUERIES} queries",
            draws,
            "flips",
            {
                "rankscope": Call(f"{here}flips", {"draws": draws}, repeats=repeats),
                "scipy, in batches of 1,000": Call(f"{here}scipy_flips", {"draws": draws}, repeats=repeats),
            },
            "inference/flips",
        )
    yield Trial(
        "inference/exact",
        "sign-flip test, all flips of as many queries as are enumerated",
        1,
        "test",
        {"rankscope": Call(f"{here}exact")},
    )
    systems, metrics = (20, 2) if scope.small else (50, 10)
    pairs = systems * (systems - 1) // 2
    yield Trial(
        f"inference/systems/{systems}",
        f"{systems} systems, {pairs:,} pairs, 200 queries, 10,000 shared draws",
        pairs,
        "pairs",
        {
            f"rankscope, max-t, {metrics} metrics": Call(f"{here}shared", {"systems": systems, "metrics": metrics}),
            "rankscope, randomised Tukey, 1 metric": Call(f"{here}tukey", {"systems": systems}),
        },
    )


def scores(systems: int, queries: int, seed: int) -> Any:
    """Values of queries that are hard or easy for all systems alike."""
    import numpy as np

    draw = np.random.default_rng(seed)
    hard, better = draw.random(queries), draw.normal(0, 0.02, (systems, 1))
    return np.clip(hard + better + draw.normal(0, 0.1, (systems, queries)), 0, 1)


def _differences() -> Any:
    better, worse = scores(2, QUERIES, 1)
    return better - worse


def flips(draws: int) -> Work:
    """The sign-flip test of rankscope."""
    from rankscope.inference.paired import flip_signs

    differences = _differences()
    return lambda: _nothing(flip_signs(differences, draws))


def exact() -> Work:
    """The same over all flips."""
    from rankscope.inference.paired import MANY, flip_signs

    differences = _differences()[:MANY]
    return lambda: _nothing(flip_signs(differences, 0))


def scipy_flips(draws: int) -> Work:
    """The test of scipy, vectorised, in batches that fit in memory."""
    import numpy as np
    from scipy.stats import permutation_test

    differences = _differences()

    def mean(values: Any, axis: int) -> Any:
        return np.mean(values, axis=axis)

    return lambda: _nothing(
        permutation_test(
            (differences,), mean, permutation_type="samples", vectorized=True, n_resamples=draws, batch=1000
        )
    )


def shared(systems: int, metrics: int) -> Work:
    """All pairs of systems on several metrics, with draws in common."""
    import numpy as np

    from rankscope.inference.max_t import max_t

    tables = [scores(systems, 200, seed) for seed in range(metrics)]
    pairs = np.array(list(combinations(range(systems), 2)))
    return lambda: _nothing([max_t().over(table, pairs) for table in tables])


def tukey(systems: int) -> Work:
    """All pairs of systems on one metric."""
    import numpy as np

    from rankscope.inference.max_t import randomised_tukey

    table, pairs = scores(systems, 200, 0), np.array(list(combinations(range(systems), 2)))
    return lambda: _nothing(randomised_tukey().over(table, pairs))


def _nothing(_: object) -> None:
    """What a test answers depends on its draws, and is not compared."""
