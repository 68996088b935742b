"""The cells of calibration that look at one comparison at a time: coverage of intervals, rejections of tests."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

import calibrate_batched as many
from calibrate_scores import ALPHA, Population, Rate, Size, generator, some_pairs, tilted
from rankscope.inference.base import Sample
from rankscope.inference.intervals import t, wilson
from rankscope.inference.paired import sign, wilcoxon
from rankscope.lists import Array

Row = tuple[str, ...]
COUNTS = (20, 50, 100, 200)
BOOTSTRAPS = ("percentile", "BCa", "studentised")
TESTS = ("t", "sign-flip", "Wilcoxon", "sign", "shifted bootstrap")


def by_metric(scores: Population, cell: Callable[[Array, str], dict[str, Rate]]) -> dict[str, list[str]]:
    """A cell for every metric, as columns: of each row its rates."""
    columns = [cell(matrix, metric) for metric, matrix in scores.items()]
    return {name: [str(column[name]) for column in columns] for name in columns[0]}


# --- intervals -----------------------------------------------------------------------------------


def coverage(scores: Population, size: Size, of: str) -> Iterator[Row]:
    """How often 95% intervals hold the mean of the population: of a ``difference`` of two systems, or of a ``mean``."""
    for n in COUNTS:

        def cell(matrix: Array, metric: str, n: int = n) -> dict[str, Rate]:
            hits: dict[str, list[Array]] = {name: [] for name in ("t", *BOOTSTRAPS)}
            rng = generator("coverage", of, metric, n)
            for one, other in some_pairs(size.pairs, of, metric):
                values = matrix[:, one] - matrix[:, other] * (of == "difference")
                drawn = rng.choice(values, (size.samples, n))
                ends = {"t": many.t_ends(drawn)}
                ends |= many.bootstrap_ends(drawn, many.counts(size.rounds, n, rng))
                for name, both in ends.items():
                    hits[name].append(many.inside(both, values.mean()))
            return {name: Rate.of(np.array(found)) for name, found in hits.items()}

        for name, rates in by_metric(scores, cell).items():
            yield name, str(n), *rates


def tails(scores: Population, size: Size) -> Iterator[Row]:
    """On which side 95% intervals of a mean at 50 queries miss: below the truth, and above it."""
    for side in ("the interval lies below the mean", "the interval lies above the mean"):

        def cell(matrix: Array, metric: str, side: str = side) -> dict[str, Rate]:
            missed: dict[str, list[Array]] = {name: [] for name in ("t", *BOOTSTRAPS)}
            rng = generator("tails", metric)
            for system, _ in some_pairs(size.pairs, "mean", metric):
                values = matrix[:, system]
                drawn = rng.choice(values, (size.samples, 50))
                ends = {"t": many.t_ends(drawn)}
                ends |= many.bootstrap_ends(drawn, many.counts(size.rounds, 50, rng))
                for name, (lower, upper) in ends.items():
                    below, above = upper < values.mean(), lower > values.mean()
                    missed[name].append(below if side.endswith("below the mean") else above)
            return {name: Rate.of(np.array(found)) for name, found in missed.items()}

        for name, rates in by_metric(scores, cell).items():
            yield side, name, *rates


def shares(n: int = 50) -> Iterator[Row]:
    """How often 95% intervals of a share of successes hold it: counted out over all numbers of successes, without error."""
    from scipy.special import comb

    successes = np.arange(n + 1)
    samples = [Sample(np.repeat([1.0, 0.0], [k, n - k])) for k in successes.tolist()]
    for name, interval in (("t", t()), ("Wilson", wilson())):
        bounds = [interval.of(sample) for sample in samples]
        row = []
        for p in (0.98, 0.9, 0.5):
            chance = comb(n, successes) * p**successes * (1 - p) ** (n - successes)
            row.append(f"{100 * sum(c for c, b in zip(chance, bounds, strict=True) if b.lower <= p <= b.upper):.1f}")
        yield name, *row


def clustered(scores: Population, size: Size) -> Iterator[Row]:
    """How often 95% intervals of a difference hold it where queries come in clusters.

    Half of a query's difference is that of its cluster; sizes are log-normal, 10 on average, with deviation 1 of the logarithm, or all
    10. Weights are log-normal with deviation 1, half of its square between clusters and half within.
    """
    for groups, sizes_are in itertools.product((6, 10, 20, 50), ("equal", "unequal", "unequal, with weights")):

        def cell(matrix: Array, metric: str, groups: int = groups, sizes_are: str = sizes_are) -> dict[str, Rate]:
            between, without = [], []
            spread = int(sizes_are != "equal")
            rng = generator("clusters", metric, groups, *(() if sizes_are == "unequal" else (sizes_are,)))
            for one, other in some_pairs(size.pairs, "clusters", metric):
                values = matrix[:, one] - matrix[:, other]
                drawn_sizes = rng.lognormal(np.log(10) - spread**2 / 2, spread, groups)
                sizes = np.maximum(np.round(drawn_sizes), 1).astype(int)
                shared = np.repeat(rng.choice(values, (size.samples, groups)), sizes, axis=1)
                drawn = (shared + rng.choice(values, shared.shape)) / 2
                weights = np.ones(len(drawn[0]))
                if sizes_are.endswith("weights"):
                    weights = np.exp(
                        rng.normal(0, 0.5**0.5, len(weights)) + np.repeat(rng.normal(0, 0.5**0.5, groups), sizes)
                    )
                    drawn = many.linearised(drawn, weights)
                between.append(many.inside(many.clustered_ends(drawn, sizes, weights), values.mean()))
                without.append(many.inside(many.t_ends(drawn), values.mean()))
            return {"t between clusters": Rate.of(np.array(between)), "t as if independent": Rate.of(np.array(without))}

        for name, rates in by_metric(scores, cell).items():
            yield name, str(groups), sizes_are, *rates


# --- tests ---------------------------------------------------------------------------------------


def recentred(values: Array, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """Differences moved to mean 0: what is skewed stays so, and zeros are lost."""
    return np.asarray(rng.choice(values - values.mean(), shape))


def swapped(values: Array, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """Which system is which decided anew for every query."""
    return np.asarray(rng.choice(values, shape) * rng.choice([-1.0, 1.0], shape))


def tilted_to_zero(values: Array, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """Topics drawn with such chances that the mean is 0: no value changes."""
    return np.asarray(rng.choice(values, shape, p=tilted(values)))


def nearly_tied(values: Array, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """As swapped, but only 4 to 7 queries differ at all."""
    drawn = swapped(values[values != 0], shape, rng)
    drawn[np.arange(shape[1]) >= rng.integers(4, 8, (shape[0], 1))] = 0
    return drawn


NULLS = (
    ("recentred", recentred, 50),
    ("recentred", recentred, 200),
    ("labels swapped at random", swapped, 50),
    ("tilted to mean 0", tilted_to_zero, 50),
    ("labels swapped, 4 to 7 differ", nearly_tied, 50),
)


def as_they_are(values: Array, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """The differences of two systems, which do differ."""
    return np.asarray(rng.choice(values, shape))


def power(scores: Population, size: Size) -> Iterator[Row]:
    """How often tests reject at 5% where two systems differ."""
    for _, *row in rejections(scores, size, (("power", as_they_are, 50),)):
        yield tuple(row)


def rejections(
    scores: Population, size: Size, cases: tuple[tuple[str, Callable[..., Array], int], ...] = NULLS
) -> Iterator[Row]:
    """How often tests reject at 5% where there is no difference."""
    for null, draw, n in cases:

        def cell(
            matrix: Array, metric: str, null: str = null, draw: Callable[..., Array] = draw, n: int = n
        ) -> dict[str, Rate]:
            found: dict[str, list[Array]] = {name: [] for name in TESTS}
            rng = generator("rejections", null, metric, n)
            for one, other in some_pairs(size.tested, "rejections", metric):
                drawn = draw(matrix[:, one] - matrix[:, other], (size.tries, n), rng)
                p_values = (
                    many.t_p(drawn),
                    many.flip_p(drawn, many.signs(size.rounds, n, rng)),
                    many.one_by_one(wilcoxon(), drawn),
                    many.one_by_one(sign(), drawn),
                    many.shifted_p(drawn, many.counts(size.rounds, n, rng)),
                )
                for name, p in zip(TESTS, p_values, strict=True):
                    found[name].append(p <= ALPHA)
            return {name: Rate.of(np.array(rejected)) for name, rejected in found.items()}

        for name, rates in by_metric(scores, cell).items():
            yield null, str(n), name, *rates
