"""The cells of calibration that look at a family of comparisons: ten systems, every pair of them, no true difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import calibrate_batched as many
from calibrate_cells import Row, by_metric
from calibrate_scores import ALPHA, SYSTEMS, Population, Rate, Size, generator
from rankscope.inference.base import CLOSE
from rankscope.lists import Array

TEN = 10
FIRST, SECOND = np.triu_indices(TEN, 1)
TOGETHER = 100  # families at once, each such batch with draws of its own


def recentred(matrix: Array, n: int, rng: np.random.Generator) -> Array:
    """Ten systems, each moved to mean 0."""
    of = rng.choice(SYSTEMS, TEN, replace=False)
    return np.asarray((matrix - matrix.mean(axis=0))[rng.integers(0, len(matrix), n)][:, of].T)


def shuffled(matrix: Array, n: int, rng: np.random.Generator) -> Array:
    """Ten systems that change places at random in every query."""
    of = rng.choice(SYSTEMS, TEN, replace=False)
    return np.asarray(rng.permuted(matrix[rng.integers(0, len(matrix), n)][:, of], axis=1).T)


def turned(matrix: Array, n: int, rng: np.random.Generator) -> Array:
    """Ten systems whose differences all change their sign in a random half of the queries: each is symmetric around 0."""
    of = rng.choice(SYSTEMS, TEN, replace=False)
    drawn = matrix[rng.integers(0, len(matrix), n)][:, of]
    around = drawn - drawn.mean(axis=1, keepdims=True)
    return np.asarray((around * rng.choice([-1.0, 1.0], (n, 1))).T)


def variants(matrix: Array, n: int, rng: np.random.Generator) -> Array:
    """Two systems moved to the mean of a third, and eight variants of this one: each differs in a tenth of the queries.

    There it gains or loses, as likely the one as the other, what parts two of the systems.
    """
    base, *others = rng.choice(SYSTEMS, 3, replace=False)
    drawn = matrix[rng.integers(0, len(matrix), n)] - matrix.mean(axis=0)
    moved = (drawn[:, others[0]] - drawn[:, others[1]]) * rng.choice([-1.0, 1.0], (8, n))
    near = drawn[:, base] + moved * (rng.random((8, n)) < 0.1)
    return np.vstack([near, drawn[:, others].T])


FAMILIES: tuple[tuple[str, Callable[..., Array], int], ...] = (
    ("recentred", recentred, 25),
    ("recentred", recentred, 50),
    ("recentred", recentred, 100),
    ("all differences turned at random", turned, 50),
    ("systems change places at random", shuffled, 50),
    ("8 near variants, 2 others", variants, 50),
)


def tukey_rejects(scores: Array) -> Array:
    """Whether the two-way analysis of variance with Tukey's range finds any difference: ``scores`` families x systems x queries."""
    from scipy.stats import studentized_range

    _, k, n = scores.shape
    free = (k - 1) * (n - 1)
    means = scores.mean(axis=2)
    left = scores - means[:, :, None] - scores.mean(axis=1, keepdims=True) + scores.mean(axis=(1, 2), keepdims=True)
    error = np.sqrt((left**2).sum(axis=(1, 2)) / free / n)
    return np.asarray(np.ptp(means, axis=1) > studentized_range.ppf(1 - ALPHA, k, free) * error)


def randomised_tukey_p(scores: Array, places: Array) -> Array:
    """The smallest p-value of the randomised Tukey HSD of each family; ``places`` rounds x queries x systems: who goes where."""
    n, k = scores.shape[2], scores.shape[1]
    flat = places + k * np.arange(n)[None, :, None]
    out = np.empty(len(scores))
    for i, family in enumerate(scores):
        observed = np.ptp(family.sum(axis=1))
        ranges = np.ptp(family.T.ravel()[flat].sum(axis=1), axis=1)
        near = CLOSE * np.abs(family).sum()
        out[i] = ((ranges >= observed - near).sum() + 1) / (len(places) + 1)
    return out


def family_wise(scores: Population, size: Size) -> Iterator[Row]:
    """How often at least one of the 45 pairs is called different at 5%."""
    for kind, draw, n in FAMILIES:

        def cell(
            matrix: Array, metric: str, kind: str = kind, draw: Callable[..., Array] = draw, n: int = n
        ) -> dict[str, Rate]:
            rng = generator("families", kind, metric, n)
            parts: dict[str, list[Array]] = {}
            for start in range(0, size.families, TOGETHER):
                count = min(TOGETHER, size.families - start)
                batch = np.array([draw(matrix, n, rng) for _ in range(count)])
                for name, rejected in errors(batch, size, rng).items():
                    parts.setdefault(name, []).append(rejected)
            return {name: Rate.of(np.concatenate(found)) for name, found in parts.items()}

        for name, rates in by_metric(scores, cell).items():
            yield kind, str(n), name, *rates


def errors(batch: Array, size: Size, rng: np.random.Generator) -> dict[str, Array]:
    """Of each family whether each correction errs. Holm errs where the smallest p-value times their number is within alpha."""
    n = batch.shape[2]
    apart = batch[:, FIRST] - batch[:, SECOND]
    flat = apart.reshape(-1, n)
    pairs = len(FIRST)

    def holm(p: Array) -> Array:
        return np.asarray(p.reshape(-1, pairs).min(axis=1) * pairs <= ALPHA)

    places = rng.permuted(np.broadcast_to(np.arange(TEN), (size.rounds, n, TEN)), axis=2)
    return {
        "Holm on t": holm(many.t_p(flat)),
        "Holm on sign-flip": holm(many.flip_p(flat, many.signs(size.rounds_of_families, n, rng))),
        "max_t": many.largest_t_p(apart, many.signs(size.rounds, n, rng)) <= ALPHA,
        "randomised_tukey": randomised_tukey_p(batch, places) <= ALPHA,
        "tukey": tukey_rejects(batch),
    }
