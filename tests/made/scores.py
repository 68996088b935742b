"""Made-up scores and runs of a few systems, for the tests of comparisons."""

from __future__ import annotations

from typing import Any

import numpy as np

import rankscope as rs
from rankscope.panels.contrast import Contrast

Table = dict[str, dict[str, float]]


def table(*rows: Any) -> Table:
    """Scores of systems a, b, c ... on queries q00, q01 ..."""
    return {
        name: {f"q{i:02}": float(v) for i, v in enumerate(row)} for name, row in zip("abcdefghij", rows, strict=False)
    }


def drawn(seed: int, systems: int = 2, queries: int = 30) -> Table:
    """Scores that are correlated over systems, as real ones are."""
    draws = np.random.default_rng(seed)
    hard = draws.random(queries)
    return table(*[np.clip(hard + draws.normal(0.02 * i, 0.2, queries), 0, 1) for i in range(systems)])


def one(scores: Any, metric: str = "AP", **options: Any) -> Contrast:
    """The one contrast between two systems."""
    (found,) = rs.compare(scores, metrics=metric, **options).contrasts
    return found


def as_arrays(scores: Table) -> tuple[Any, Any]:
    """The scores of systems a and b."""
    return np.array(list(scores["a"].values())), np.array(list(scores["b"].values()))


def ranked(ranks: tuple[int, ...]) -> dict[str, dict[str, float]]:
    """A run with the one good document of each query at a rank."""
    docs = [[f"d{j}" for j in range(1, rank)] + ["good"] for rank in ranks]
    return {f"q{i}": {d: -float(j) for j, d in enumerate(row)} for i, row in enumerate(docs)}


def ranked_run(seed: int, queries: int = 24) -> dict[str, dict[str, float]]:
    """Such a run with drawn ranks."""
    draws = np.random.default_rng(seed)
    run = ranked(tuple(int(r) for r in draws.integers(1, 6, queries)))
    return {f"q{int(query[1:]):02}": docs for query, docs in run.items()}
