"""Random deals and draws: units of two systems, divided again or drawn again at random, give the distribution of the studentised difference.

If values are skewed and one side has fewer units, Student's t errs: the small side mostly misses the few large values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rankscope.errors import DataError
from rankscope.lists import Array
from rankscope.moments import Moments

SKEWED = 0.1  # skewness of a difference up to which t rejects in 4.5 to 5.5% of tests without a difference
FAR = 500  # units per system with values of their own, the farthest from the mean: sums of the others are normal
ROUNDS = 4_999
AT_ONCE = 1_000_000  # random numbers held at once
CLOSE = 1e-9  # statistics closer than this part of themselves are equal


@dataclass(frozen=True, eq=False)
class Units:
    """The units of one system: all as ``moments``, and those that move its value most row by row, as ``far``.

    The columns are a numerator and a denominator, then the same of each covariate, which has a coefficient. ``price`` multiplies the error.
    ``second`` and ``third`` are the mean square and the mean cube of the amounts by which units move the value.
    """

    moments: Moments
    far: Array
    coefficients: tuple[float, ...]
    price: float
    second: float
    third: float

    @classmethod
    def of(
        cls, table: Array, moments: Moments, pulls: Array, coefficients: tuple[float, ...], price: float, every: bool = False
    ) -> Units:  # fmt: skip
        """Keep the units with the largest pulls, or ``every`` one; the same ones in any order of the rows."""
        sizes = np.abs(pulls)
        far = table
        if len(table) > FAR and not every:  # units at the edge that are alike are all left to the others
            edge = np.partition(sizes, len(sizes) - FAR - 1)[-FAR - 1]
            far = table[sizes > edge]
        squares = pulls * pulls
        sums = float(squares.sum()), float((squares * pulls).sum())
        count = max(len(table), 1)
        return cls(moments, far[np.lexsort(far.T)], coefficients, price, sums[0] / count, sums[1] / count)


def skewness_of_difference(run: Units, baseline: Units) -> float:
    """The skewness of a difference if both sides had the same values: 0 for sides of one size, larger the smaller one side is.

    With g the skewness of all units around the mean of their side it is g · (1/n² - 1/m²) / (1/n + 1/m)^1.5, for n and m units.
    """
    n, m = run.moments.count, baseline.moments.count
    second, third = ((n * a + m * b) / (n + m) for a, b in ((run.second, baseline.second), (run.third, baseline.third)))
    if not second > 0:
        return 0.0
    return float(third / second**1.5 * (1 / n**2 - 1 / m**2) / (1 / n + 1 / m) ** 1.5)


class Chance(NamedTuple):
    """Studentised differences of random draws, ascending, the ``error`` of the true difference by the same formula, and the name of the method."""

    draws: Array
    error: float
    by: str = "permutation"

    @property
    def mirror(self) -> Chance:
        """The same for the two systems in reverse."""
        return self._replace(draws=-self.draws[::-1])

    @property
    def smallest(self) -> float:
        """The smallest two-sided p-value."""
        return 2 / (len(self.draws) + 1)

    def above(self, statistic: float) -> float:
        """The probability of this statistic or a larger one, if the observed one counts as a draw."""
        reached = np.searchsorted(self.draws, statistic - CLOSE * abs(statistic), side="left")
        return float(len(self.draws) - reached + 1) / (len(self.draws) + 1)

    def p_value(self, statistic: float) -> float:
        """Twice the smaller of the two one-sided probabilities, at most 1."""
        return min(2 * min(self.above(statistic), self.mirror.above(-statistic)), 1.0)

    def reach(self, outside: float) -> float:
        """The smallest size beyond which ``above`` is at most ``outside``, infinite if the draws are too few."""
        beyond = math.floor(outside * (len(self.draws) + 1) + CLOSE)
        return float(self.draws[-beyond]) * (1 + CLOSE) if beyond else math.inf


def deal(run: Units, baseline: Units, rounds: int = ROUNDS, seed: int = 0) -> Chance:
    """Deal the units of both systems at random, keeping how many each has, and studentise the difference each time.

    A system with more than ``FAR`` units has normal sums of the others, which are near the mean, so that this changes little.

    Source: Janssen, Studentized permutation tests for non-i.i.d. hypotheses, Statistics and Probability Letters 36, 1997; Chung and Romano,
    Exact and asymptotically robust permutation tests, Annals of Statistics 41(2), 2013.
    """
    run, baseline = _centred(run, baseline)
    far = np.concatenate([run.far, baseline.far])
    sides = run.moments.count, baseline.moments.count
    whole = run.moments + baseline.moments
    rest = _without(whole, far)
    root = _root(rest, whole)
    total = _sums(run.moments) + _sums(baseline.moments)
    drawn = []
    generator = np.random.default_rng(seed)
    products = _with_products(far)
    at_once = max(AT_ONCE // max(len(far), 1), 1)
    for start in range(0, rounds, at_once):
        some = min(at_once, rounds - start)
        mine = _dealt(products, rest, root, sides[0], some, generator)
        drawn.append(_studentised(mine, total - mine, sides, run)[0])
    observed = _studentised(_sums(run.moments)[None], _sums(baseline.moments)[None], sides, run)
    return Chance(np.sort(np.concatenate(drawn)), float(observed[1][0]))


def resample(run: Units, baseline: Units, rounds: int = ROUNDS, seed: int = 0) -> Chance:
    """Draw the units of each system with replacement, and studentise the distance from the true difference each time.

    A system with more than ``FAR`` units has normal sums of the others, as in ``deal``.

    Source: Hall, Theoretical comparison of bootstrap confidence intervals, The Annals of Statistics 16(3), 1988.
    """
    run, baseline = _centred(run, baseline)
    generator = np.random.default_rng(seed)
    sides = run.moments.count, baseline.moments.count
    true = _values(_sums(run.moments)[None], _sums(baseline.moments)[None], sides, run)
    most = max(len(run.far), len(baseline.far), 1)
    drawn = []
    for some in range(0, rounds, at_once := max(AT_ONCE // most, 1)):
        mine, others = (_drawn(side, min(at_once, rounds - some), generator) for side in (run, baseline))
        drawn.append(_studentised(mine, others, sides, run, float(true[0][0]))[0])
    return Chance(np.sort(np.concatenate(drawn)), float(true[1][0]), "bootstrap")


def _drawn(side: Units, rounds: int, generator: np.random.Generator) -> Array:
    """The sums of units of one system drawn with replacement, in each round."""
    count, far = side.moments.count, len(side.far)
    rest = _without(side.moments, side.far)
    times = generator.multinomial(count, [*([1 / count] * far), rest.count / count], rounds).astype(np.float64)
    sums = times[:, :-1] @ _with_products(side.far)
    if rest.count:
        columns, others = len(rest.mean), times[:, -1]
        sums += others[:, None] * (_sums(rest) / rest.count)
        noise = generator.standard_normal((rounds, columns)) @ _root(rest, side.moments).T
        sums[:, :columns] += np.sqrt(others)[:, None] * noise
    return np.asarray(sums)


def _centred(run: Units, baseline: Units) -> tuple[Units, Units]:
    """Both systems less a multiple of the denominator in each numerator, which moves the ratios of both by the same number."""
    whole = run.moments + baseline.moments
    move = np.eye(len(whole.mean))
    for above in range(0, len(move), 2):
        if whole.mean[above + 1]:
            move[above, above + 1] = -whole.mean[above] / whole.mean[above + 1]
    one, other = (
        replace(side, far=side.far @ move.T, moments=Moments(m.count, move @ m.mean, move @ m.products @ move.T))
        for side, m in ((run, run.moments), (baseline, baseline.moments))
    )
    return one, other


def scores(run: Units, baseline: Units) -> tuple[Array, Array]:
    """The amounts by which units move the value of all units together, one per unit of each system. Raises DataError if most units are held as moments.

    Scores of a mean have the order of its values.
    """
    if any(len(side.far) < side.moments.count for side in (run, baseline)):
        raise DataError("ranks need every unit, and only the moments of most are held")
    whole = run.moments + baseline.moments
    factors = np.zeros(len(whole.mean))
    for at, coefficient in enumerate((1.0, *(-c for c in run.coefficients))):
        above, below = whole.mean[2 * at : 2 * at + 2].tolist()
        if below:
            factors[2 * at], factors[2 * at + 1] = coefficient / below, -coefficient * above / below**2
    one, other = (np.asarray(side.far @ factors) for side in (run, baseline))
    return one, other


def _with_products(rows: Array) -> Array:
    """Rows with the products of each two of their columns."""
    return np.concatenate([rows, (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), rows.shape[1] ** 2)], axis=1)


def _sums(moments: Moments) -> Array:
    """The sums of all columns, then of the products of each two."""
    products = moments.products + moments.count * np.outer(moments.mean, moments.mean)
    return np.concatenate([moments.count * moments.mean, products.ravel()])


def _without(whole: Moments, far: Array) -> Moments:
    """The moments of all other units."""
    count = whole.count - len(far)
    if not count:
        return Moments.empty(len(whole.mean))
    left = _sums(whole) - _sums(Moments.of(far)) if len(far) else _sums(whole)
    columns = len(whole.mean)
    return Moments.of_sums(count, left[:columns], left[columns:].reshape(columns, columns))


def _root(rest: Moments, whole: Moments) -> Array:
    """A root of the covariance of units: 0 for what rounding left of units that are alike."""
    scale = np.sqrt(np.maximum(np.diagonal(whole.products), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(rest.products / np.outer(scale, scale))
    values = np.where(values > CLOSE, values, 0.0)
    return np.asarray(scale[:, None] * vectors * np.sqrt(values / max(rest.count, 1)))


def _dealt(
    products: Array, rest: Moments, root: Array, size: int, rounds: int, generator: np.random.Generator
) -> Array:
    """The sums of ``size`` random units for one system, in each round."""
    keys, far = generator.random((rounds, len(products))), len(products)
    if not rest.count:
        edge = np.partition(keys, size - 1, axis=1)[:, size - 1 : size]
        return np.asarray((keys <= edge).astype(np.float64) @ products)
    chosen = generator.hypergeometric(far, rest.count, size, rounds)
    edges = np.concatenate([np.full((rounds, 1), -1.0), np.sort(keys, axis=1)], axis=1)[np.arange(rounds), chosen]
    sums = (keys <= edges[:, None]).astype(np.float64) @ products
    others = size - chosen
    spread = np.sqrt(others * np.maximum(1 - others / rest.count, 0.0))
    columns = len(rest.mean)
    sums += others[:, None] * (_sums(rest) / rest.count)
    sums[:, :columns] += spread[:, None] * (generator.standard_normal((rounds, columns)) @ root.T)
    return np.asarray(sums)


def _studentised(
    mine: Array, others: Array, sides: tuple[int, int], units: Units, true: float = 0.0
) -> tuple[Array, Array]:
    """The distance of the difference of two systems from the ``true`` one over its error, and the error, in each round."""
    difference, error = _values(mine, others, sides, units)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = (difference - true) / error
    return np.nan_to_num(statistic, nan=0.0, posinf=np.inf, neginf=-np.inf), error


def _values(mine: Array, others: Array, sides: tuple[int, int], units: Units) -> tuple[Array, Array]:
    """The difference of the values of two systems and its error, in each round."""
    values, squares = [], []
    columns = len(units.moments.mean)
    for sums, count in zip((mine, others), sides, strict=True):
        mean = sums[:, :columns] / count
        products = sums[:, columns:].reshape(-1, columns, columns) / count - mean[:, :, None] * mean[:, None, :]
        value, factors = np.zeros(len(sums)), np.zeros(mean.shape)
        for at, coefficient in enumerate((1.0, *(-c for c in units.coefficients))):
            above, below = mean[:, 2 * at], mean[:, 2 * at + 1]
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = above / below
                moves = np.stack([coefficient / below, -coefficient * ratio / below], axis=1)
            unknown = (below == 0) & (at > 0)  # a covariate that no unit of the side has moves nothing: its centre is 0
            factors[:, 2 * at : 2 * at + 2] = np.where(unknown[:, None], 0.0, moves)
            value += np.where(unknown, 0.0, coefficient * ratio)
        values.append(value)
        squares.append(np.einsum("ri,rij,rj->r", factors, products, factors) * units.price**2 / max(count - 1, 1))
    return np.asarray(values[0] - values[1]), np.sqrt(np.maximum(squares[0] + squares[1], 0.0))
