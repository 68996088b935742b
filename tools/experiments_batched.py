"""Many experiments at once: what ``rankscope experiment`` computes of the units of one, by the same formulas, for thousands.

A ``Side`` is one variant in many experiments, or at many looks at each. ``tests/inference/test_experiments_calibration.py`` holds all
of this against ``rankscope.experiment``, table by table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from rankscope.inference.dealing import SKEWED
from rankscope.inference.sequential import prior
from rankscope.lists import Array
from rankscope.panels.ratios import NEGLIGIBLE


@dataclass(frozen=True, eq=False)
class Side:
    """The moments of one variant's units: how many, means (... x columns) and covariances (... x columns x columns), by n - 1.

    The columns are those of ``panel_of``: what a unit adds above and below the line, then the same of each covariate. ``table`` holds the
    units, experiments x units x columns, of which the first ``count`` are in: ratios of unequal users are corrected for the pull of each.
    """

    count: Array
    mean: Array
    covariance: Array
    table: Array | None = None

    @classmethod
    def of(cls, table: Array) -> Side:
        """Of all units: experiments x units x columns."""
        count = np.full(len(table), float(table.shape[1]))
        mean = table.mean(axis=1)
        around = table - mean[:, None]
        return cls(count, mean, np.matmul(around.transpose(0, 2, 1), around) / _wide(count - 1), table)

    @property
    def plain(self) -> Side:
        """Without covariates."""
        table = None if self.table is None else self.table[..., :2]
        return Side(self.count, self.mean[..., :2], self.covariance[..., :2, :2], table)

    @classmethod
    def at_looks(cls, table: Array, looks: Array) -> Side:
        """Of the first so many units at each look: experiments x looks."""
        centre = table.mean(axis=1, keepdims=True)
        around = table - centre
        columns = table.shape[2]
        count = np.broadcast_to(looks.astype(float), (len(table), len(looks)))
        mean = np.cumsum(around, axis=1)[:, looks - 1] / count[..., None]
        covariance = np.empty((*mean.shape, columns))
        for i in range(columns):
            for j in range(i + 1):
                products = np.cumsum(around[..., i] * around[..., j], axis=1)[:, looks - 1]
                rest = products - count * mean[..., i] * mean[..., j]
                covariance[..., i, j] = covariance[..., j, i] = rest / (count - 1)
        return cls(count, mean + centre, covariance, table)

    def __add__(self, other: Side) -> Side:
        """Both variants together."""
        count = self.count + other.count
        apart = other.mean - self.mean
        mean = self.mean + apart * (other.count / count)[..., None]
        products = self.covariance * _wide(self.count - 1) + other.covariance * _wide(other.count - 1)
        products = products + np.einsum("...i,...j->...ij", apart, apart) * _wide(self.count * other.count / count)
        return Side(count, mean, products / _wide(count - 1))

    def ratio(self, above: int, below: int) -> tuple[Array, Array]:
        """A ratio of two means, and by how much each column moves it."""
        over, under = self.mean[..., above], self.mean[..., below]
        factors = np.zeros(self.mean.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            factors[..., above] += 1 / under
            factors[..., below] -= over / under**2
            return over / under, factors

    def variance(self, factors: Array) -> Array:
        """The variance between units of what moves a value so."""
        return np.asarray(np.maximum((factors[..., None, :] @ self.covariance @ factors[..., None])[..., 0, 0], 0.0))

    def squares(self, factors: Array) -> tuple[Array, Array]:
        """The squared error of a value, and its degrees of freedom: the jackknife's if denominators are unequal."""
        plain, freedom = self.variance(factors) / self.count, self.count - 1
        if self.table is None or np.ptp(self.table[..., 1]) == 0:
            return plain, freedom
        squares, freedom = np.array(plain), np.array(freedom)
        for at in np.ndindex(self.count.shape[1:]):  # each look
            here = (slice(None), *at)
            users = self.table[:, : int(self.count[here][0])]
            below = users[..., 1]
            shares = below / below.sum(axis=1, keepdims=True)
            uneven = (np.ptp(below, axis=1) > 0) & (shares.max(axis=1) > NEGLIGIBLE)
            rest = np.maximum(1 - shares, np.finfo(float).eps)
            pulls = (((users - self.mean[here][:, None]) * factors[here][:, None]).sum(axis=2)) / users.shape[1]
            there = np.count_nonzero(shares, axis=1)
            corrected, b = ((pulls / rest) ** 2).sum(axis=1) * (there - 1) / there, shares**2 / rest
            degrees = 1 / ((shares**2).sum(axis=1) + b.sum(axis=1) ** 2 - (b**2).sum(axis=1))
            squares[here] = np.where(uneven, corrected, squares[here])
            freedom[here] = np.where(uneven, degrees, freedom[here])
        return squares, freedom


def _wide(values: Array) -> Array:
    return np.asarray(values)[..., None, None]


@dataclass(frozen=True, eq=False)
class Values:
    """A variant's value in many experiments, with its standard error."""

    count: Array
    value: Array
    error: Array
    freedom: Array


def values_of(sides: list[Side]) -> list[Values]:
    """The values of the variants, adjusted for covariates where there are columns of such."""
    covariates = (sides[0].mean.shape[-1] - 2) // 2
    whole = reduce(Side.__add__, sides)
    coefficients, price = _coefficients(whole, covariates), 1.0
    if covariates > 1:
        free = whole.count - len(sides)
        within = reduce(np.add, (side.covariance * _wide(side.count - 1) for side in sides)) / _wide(free)
        coefficients, price = _coefficients(Side(free + 1, whole.mean, within), covariates), free / (free - covariates)
    out = []
    for side in sides:
        value, factors = side.ratio(0, 1)
        for i in range(covariates):
            centre, theirs = side.ratio(2 + 2 * i, 3 + 2 * i)
            value = value - coefficients[..., i] * (centre - whole.ratio(2 + 2 * i, 3 + 2 * i)[0])
            factors = factors - coefficients[..., i, None] * theirs
        squares, freedom = side.squares(factors)
        out.append(Values(side.count, value, np.sqrt(squares) * price, freedom))
    return out


def _coefficients(whole: Side, covariates: int) -> Array:
    if not covariates:
        return np.zeros((*whole.count.shape, 0))
    own = whole.ratio(0, 1)[1]
    theirs = np.stack([whole.ratio(2 + 2 * i, 3 + 2 * i)[1] for i in range(covariates)], axis=-2)
    moved = theirs @ whole.covariance
    spread, shared = moved @ np.swapaxes(theirs, -1, -2), moved @ own[..., None]
    return np.asarray((np.linalg.pinv(spread, rcond=1e-12) @ shared)[..., 0])


@dataclass(frozen=True, eq=False)
class Contrasts:
    """A difference in many experiments with its error and degrees of freedom (Welch).

    ``count`` is that of all units, ``least`` that of the smaller variant, and ``pooled`` the error if all units varied alike.
    """

    difference: Array
    error: Array
    freedom: Array
    count: Array
    least: Array
    pooled: Array

    @property
    def z(self) -> Array:
        """How many standard errors the difference is away from 0; 0 where nothing varies or differs."""
        return _times(self.difference, self.error)

    @property
    def z_guarded(self) -> Array:
        """The same by the error that looks go by."""
        return _times(self.difference, np.maximum(self.error, self.pooled))

    @property
    def z_planned(self) -> Array:
        """The same as a normal number as rare as Student's t, which planned looks go by."""
        from scipy.special import ndtri, stdtr

        return np.asarray(-ndtri(stdtr(self.freedom, -self.z_guarded)))

    def holds(self, truth: float, level: float = 0.95) -> Array:
        """Whether Student's interval holds the truth, of those experiments that have one: in others nothing varies."""
        there = self.error > 0
        reach = quantiles(self.freedom, (1 + level) / 2) * self.error
        return np.asarray((np.abs(self.difference - truth) <= reach)[there])

    def rejects(self, alpha: float = 0.05) -> Array:
        """Whether Welch's test finds a difference."""
        return np.asarray((self.error > 0) & (self.z > quantiles(self.freedom, 1 - alpha / 2)))


def _times(values: Array, errors: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(errors > 0, np.abs(values) / errors, 0.0)


def quantiles(freedom: Array, share: float) -> Array:
    """Quantiles of Student's t."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.maximum(freedom, 1e-6), share))


def contrasts_of(run: Values, baseline: Values) -> Contrasts:
    """The difference of two variants."""
    counts = run.count, baseline.count
    squares = run.error**2, baseline.error**2
    whole = squares[0] + squares[1]
    freedoms = run.freedom, baseline.freedom
    parts = sum(square**2 / freedom for square, freedom in zip(squares, freedoms, strict=True))
    both = freedoms[0] + freedoms[1]
    within = sum(a * b * c for a, b, c in zip(squares, counts, freedoms, strict=True)) / both
    pooled = np.sqrt(within * (1 / run.count + 1 / baseline.count))
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.where(parts > 0, whole**2 / parts, both)
    unseen = ((run.error == 0) | (baseline.error == 0)) & (pooled**2 > whole)
    error = np.where(unseen, pooled, np.sqrt(whole))
    freedom = np.where(unseen, both, freedom)
    least = np.minimum(run.count, baseline.count)
    return Contrasts(run.value - baseline.value, error, freedom, run.count + baseline.count, least, pooled)


@dataclass(frozen=True, eq=False)
class Lifts:
    """The 95% intervals of lifts in many experiments, by Fieller; NaN, and without an end, if the baseline is not clear of 0."""

    lower: Array
    upper: Array

    def holds(self, truth: float) -> Array:
        """True for each interval that holds the true lift: one without an end does."""
        return np.asarray(np.isnan(self.lower) | ((self.lower <= truth) & (truth <= self.upper)))


def lifts_of(run: Values, baseline: Values) -> Lifts:
    """The lifts of a variant, with the error and the quantile of the difference."""
    between = contrasts_of(run, baseline)
    squared_quantile = quantiles(between.freedom, 0.975) ** 2
    moved = squared_quantile * baseline.error**2
    squared = baseline.value**2 - moved
    crossed = between.difference * baseline.value + moved
    free = between.difference**2 - squared_quantile * between.error**2
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(crossed**2 - squared * free, 0.0))
        ends = np.stack([(crossed - root) / squared, (crossed + root) / squared])
    known = (squared > 1e-9 * baseline.value**2) & (between.error > 0)
    return Lifts(*np.where(known, ends, np.nan))


# --- looks ---------------------------------------------------------------------------------------


def anytime_limits(contrasts: Contrasts, first: int = 20, narrowest: int = 100, alpha: float = 0.05) -> Array:
    """How many standard errors the anytime interval reaches; infinitely many before the first look."""
    x = prior(1, narrowest) * contrasts.count
    reach = np.sqrt((1 + 1 / x) * (np.log1p(x) - 2 * np.log(alpha)))
    return np.asarray(np.where(2 * contrasts.least >= first, reach, np.inf))


# --- winsorising, strata, skewness ---------------------------------------------------------------


def winsorised(one: Array, other: Array, quantile: float) -> tuple[Array, Array]:
    """Both variants' tables with what users add above the line cut at a quantile of all users, where that leaves something."""
    sums = np.concatenate([one[..., 0], other[..., 0]], axis=1)
    most = np.quantile(sums, quantile, axis=1)[:, None]
    most = np.where(most > sums.min(axis=1, keepdims=True), most, np.inf)
    cut = [
        np.concatenate([np.minimum(table[..., :1], most[..., None]), table[..., 1:]], axis=2) for table in (one, other)
    ]
    return cut[0], cut[1]


def with_strata(table: Array, strata: Array, names: int) -> Array:
    """A table with a pair of columns for each stratum but the first."""
    marks = [(strata == name).astype(float) for name in range(1, names)]
    ones = np.ones(table.shape[:2])
    return np.concatenate([table[..., :2], *(np.stack([mark, ones], axis=2) for mark in marks)], axis=2)


def skewness(one: Array, other: Array) -> Array:
    """The skewness of the difference of two variants if both had the same values, as a share of what t allows."""
    sides = [Side.of(table[..., :2]) for table in (one, other)]
    sums, cubes = [], []
    for side, table in zip(sides, (one, other), strict=True):
        _, factors = side.ratio(0, 1)
        pulls = ((table[..., :2] - side.mean[:, None]) * factors[:, None]).sum(axis=2)
        sums.append((pulls**2).sum(axis=1))
        cubes.append((pulls**3).sum(axis=1))
    n, m = one.shape[1], other.shape[1]
    second, third = sum(sums) / (n + m), sum(cubes) / (n + m)
    with np.errstate(divide="ignore", invalid="ignore"):
        g = np.where(second > 0, third / second**1.5, 0.0)
    return np.asarray(np.abs(g * (1 / n**2 - 1 / m**2) / (1 / n + 1 / m) ** 1.5) / SKEWED)
