"""The relation between two numbers with known errors: correlation, slope, agreement of signs, prediction.

The covariance of measured numbers is that of the true ones plus that of the errors. Here the known covariance of the errors is
subtracted (deconvolved), so that noise neither hides a correlation nor makes one. Source: Fuller, Measurement Error Models, 1987;
Tripuraneni et al., Choosing a proxy metric from past experiments, KDD 2024.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankscope.inference.base import Bounds
from rankscope.inference.effects import roots
from rankscope.lists import Array

FEWEST = 9  # fewest pairs for an answer
DRAWS = 2000
FLOOR = 0.05  # the lowest share of true variance when pairs are weighted
SMALLEST = 1e-12
REASONS = {
    "": "", "few": f"{{count}} with both values, and {FEWEST} or more are needed",
    "x": "{x} varies no more than its errors may explain", "y": "{y} varies no more than its errors may explain",
}  # fmt: skip
MEAN_X, MEAN_Y, VAR_X, VAR_Y, COV = range(5)


@dataclass(frozen=True, eq=False)
class NoisyPairs:
    """Pairs of numbers with the variances of their errors, one entry per pair in each array.

    ``y`` is NaN if only x was measured, as for a candidate that was not launched. ``covariance`` is the covariance of the two errors
    of a pair, ``shared`` the mean covariance of the errors of x of two different pairs, as if they were
    measured on the same queries, and ``y_shared`` that of the errors of y.
    """

    x: Array
    x_variance: Array
    y: Array
    y_variance: Array
    covariance: Array | float = 0.0
    shared: float = 0.0
    y_shared: float = 0.0

    @cached_property
    def both(self) -> Array:
        """True for pairs with both numbers."""
        return np.isfinite(self.y)

    def take(self, which: Array) -> NoisyPairs:
        """Return some of the pairs."""
        joint = np.broadcast_to(self.covariance, self.x.shape)[which]
        return NoisyPairs(
            self.x[which], self.x_variance[which], self.y[which], self.y_variance[which], joint, self.shared, self.y_shared
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class TrueRelation:
    """The normal distribution of the true pairs: ``estimate`` has both means, both variances and the covariance, ``spread`` their covariance.

    ``count`` is the number of complete pairs, ``naive`` their correlation with the errors in it, ``reliability`` the share of the
    variance of each measured number that is true, ``lowest`` the lower 95% bound of each true variance. ``unclear`` is ``few`` if pairs are too
    few, ``x`` or ``y`` if its lower bound is 0, and empty if there is an answer.
    """

    estimate: Array
    spread: Array
    count: int
    naive: float
    reliability: tuple[float, float]
    lowest: tuple[float, float]
    unclear: str = ""

    @property
    def known(self) -> bool:
        """True if the pairs allow an answer."""
        return not self.unclear

    @property
    def reason(self) -> str:
        """The reason why there is no answer."""
        return REASONS[self.unclear].format(count=self.count, x="x", y="y")

    def correlation(self, level: float = 0.95) -> tuple[float, Bounds]:
        """Return Pearson's correlation of the true numbers, with its interval by Fieller's method; it ends at -1 and 1."""
        if not self.known:
            return math.nan, Bounds.none(self.reason)
        a, b, c = map(float, self.estimate[VAR_X:])
        size = math.sqrt(a * b)
        by = np.array([0, 0, math.sqrt(b / a) / 2, math.sqrt(a / b) / 2, 0])
        bounds = self._ratio(c, size, by, level)
        ends = bounds if bounds.known else Bounds(-1.0, 1.0, "fieller")
        return min(max(c / size, -1.0), 1.0), ends.clipped(-1.0, 1.0)

    def spearman(self, level: float = 0.95) -> tuple[float, Bounds]:
        """Return Spearman's correlation of the true numbers if they are normal: 6 / pi * asin(r / 2)."""
        return self._of_ranks(lambda r: 6 / math.pi * math.asin(r / 2), level)

    def kendall(self, level: float = 0.95) -> tuple[float, Bounds]:
        """Return Kendall's tau of the true numbers if they are normal: 2 / pi * asin(r)."""
        return self._of_ranks(lambda r: 2 / math.pi * math.asin(r), level)

    def slope(self, level: float = 0.95) -> tuple[float, Bounds]:
        """Return the change of the true y per unit of the true x, with its interval by Fieller's method."""
        if not self.known:
            return math.nan, Bounds.none(self.reason)
        by = np.array([0.0, 0, 1, 0, 0])
        cov, var = float(self.estimate[COV]), float(self.estimate[VAR_X])
        return cov / var, self._ratio(cov, var, by, level)

    @property
    def slope_error(self) -> float:
        """The standard error of the slope, by the delta method."""
        slope = self.estimate[COV] / self.estimate[VAR_X]
        v = self.spread
        squared = v[COV, COV] - 2 * slope * v[COV, VAR_X] + slope**2 * v[VAR_X, VAR_X]
        return math.sqrt(max(float(squared), 0.0)) / float(self.estimate[VAR_X])

    def agreement(self, level: float = 0.95) -> tuple[float, Bounds]:
        """Return the posterior mean and interval of the probability that both true numbers have the same sign."""
        return self._posterior(_same_sign, level)

    def wins(self, x: float, variance: float, level: float = 0.95) -> tuple[float, Bounds]:
        """Return the probability that the true y of a new pair is above 0, given its measured x, with its interval."""
        from scipy.special import ndtr

        def chance(t: Array) -> Array:
            mean, left = _conditional(t, x, variance)
            chances: Array = ndtr(mean / np.sqrt(left))
            return chances

        return self._posterior(chance, level)

    def expected(self, x: float, variance: float, level: float = 0.95) -> tuple[float, Bounds]:
        """Return the expected true y of a new pair, given its measured x, with the interval that holds the true y."""
        if not self.known:
            return math.nan, Bounds.none(self.reason)
        mean, left = _conditional(self._draws(), x, variance)
        noise = np.random.default_rng(1).standard_normal(len(mean))
        at, _ = _conditional(self.estimate[None], x, variance)
        return float(at[0]), _quantiles(mean + noise * np.sqrt(left), level)

    # -- how intervals are made ---------------------------------------------------------------------

    def _ratio(self, above: float, below: float, by: Array, level: float) -> Bounds:
        """The interval of ``above / below`` by Fieller's method; ``above`` is the covariance, ``by`` the gradient of ``below``."""
        from scipy.special import stdtrit

        reach = float(stdtrit(self.count - 2, 0.5 + level / 2)) ** 2
        v = self.spread
        squared = below**2 - reach * float(by @ v @ by)
        crossed = above * below - reach * float(v[COV] @ by)
        return roots(squared, crossed, above**2 - reach * float(v[COV, COV]), below)

    def _of_ranks(self, turn: Callable[[float], float], level: float) -> tuple[float, Bounds]:
        value, bounds = self.correlation(level)
        if not self.known:
            return value, bounds
        return turn(value), replace(bounds, lower=turn(bounds.lower), upper=turn(bounds.upper))

    def _draws(self) -> Array:
        """Return draws of the estimates, normal with their covariance, inside of possible variances and covariances."""
        values, vectors = np.linalg.eigh(self.spread)
        noise = np.random.default_rng(0).standard_normal((DRAWS, 5)) * np.sqrt(np.maximum(values, 0.0))
        out: Array = self.estimate + noise @ vectors.T
        for at in (VAR_X, VAR_Y):
            out[:, at] = np.maximum(out[:, at], self.estimate[at] / 100)
        most = 0.9999 * np.sqrt(out[:, VAR_X] * out[:, VAR_Y])
        out[:, COV] = np.clip(out[:, COV], -most, most)
        return out

    def _posterior(self, of: Callable[[Array], Array], level: float) -> tuple[float, Bounds]:
        if not self.known:
            return math.nan, Bounds.none(self.reason)
        values = of(self._draws())
        return float(values.mean()), _quantiles(values, level)


def _quantiles(values: Array, level: float) -> Bounds:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Bounds(float(low), float(high), "posterior")


def _conditional(t: Array, x: float, variance: float) -> tuple[Array, Array]:
    """Return mean and variance of the true y given a measured x, for each row of estimates."""
    total = t[:, VAR_X] + variance
    most = 0.9999 * np.sqrt(t[:, VAR_X] * t[:, VAR_Y])
    cov = np.clip(t[:, COV], -most, most)
    return t[:, MEAN_Y] + cov / total * (x - t[:, MEAN_X]), t[:, VAR_Y] - cov**2 / total


def _same_sign(t: Array) -> Array:
    """Return the probability that x and y have the same sign, for each row of estimates. Source: Owen, Annals of Mathematical Statistics 27, 1956."""
    from scipy.special import ndtr, owens_t

    h, k = t[:, MEAN_X] / np.sqrt(t[:, VAR_X]), t[:, MEAN_Y] / np.sqrt(t[:, VAR_Y])
    h, k = (np.where(np.abs(side) < SMALLEST, SMALLEST, side) for side in (h, k))
    r = t[:, COV] / np.sqrt(t[:, VAR_X] * t[:, VAR_Y])
    rest = np.sqrt(1 - r**2)
    both = (ndtr(h) + ndtr(k)) / 2 - owens_t(h, (k - r * h) / (h * rest)) - owens_t(k, (h - r * k) / (k * rest))
    chance: Array = 1 - ndtr(h) - ndtr(k) + 2 * (both - np.where(h * k < 0, 0.5, 0.0))
    return chance


# --- estimates -------------------------------------------------------------------------------------------


def true_relation(pairs: NoisyPairs) -> TrueRelation:
    """Estimate the distribution of the true pairs from measured ones by deconvolved moments, precise pairs weighing more.

    With pairs of which y is missing because of a small x, the moments of y are those of all pairs (Pearson and Lawley): the
    regression of y on the measured x is the same in any selection on it. Needs no normal distribution for Pearson's correlation and slope.

    >>> draws = np.random.default_rng(1)
    >>> true = draws.normal(size=500)
    >>> ones = np.ones(500)
    >>> found = true_relation(NoisyPairs(true + draws.normal(size=500), ones, 2 * true + draws.normal(size=500), ones))
    >>> round(found.naive, 1), round(found.correlation()[0], 1), round(found.slope()[0])
    (0.6, 1.0, 2)
    """
    both, count = pairs.both, int(pairs.both.sum())
    x_errors = np.maximum(pairs.x_variance - pairs.shared, 0.0)
    pairs = replace(pairs, y_variance=np.maximum(pairs.y_variance - pairs.y_shared, 0.0))
    if count < FEWEST:
        return _without(count, "few")
    y_seen, y_errors = pairs.y[both], pairs.y_variance[both]
    scale = np.array([pairs.x.std(), y_seen.std()])
    if not (scale > 0).all():
        return _without(count, "y" if scale[0] > 0 else "x")
    lowest = (_lower_variance(pairs.x, x_errors), _lower_variance(y_seen, y_errors))
    middle = np.array([pairs.x.mean(), y_seen.mean()])
    shape = _scaled(pairs, x_errors, middle, scale)
    estimate, influence = shape.solve()
    # moments of small samples vary more than their influences
    spread = influence @ influence.T / len(pairs.x) ** 2 * count / (count - 8)
    units = np.array([*scale, *scale**2, scale[0] * scale[1]])
    estimate, spread = estimate * units, spread * np.outer(units, units)
    estimate[:2] += middle
    a, b = (max(float(variance), 0.0) for variance in estimate[[VAR_X, VAR_Y]])
    reliability = a / (a + shape.noise[0] * scale[0] ** 2), b / (b + shape.noise[1] * scale[1] ** 2)
    naive = float(np.corrcoef(pairs.x[both], y_seen)[0, 1]) if np.ptp(pairs.x[both]) > 0 else math.nan
    unclear = "x" if min(lowest[0], a) <= 0 else "y" if min(lowest[1], b) <= 0 else ""
    return TrueRelation(estimate, spread, count, naive, reliability, lowest, unclear)


def _without(count: int, unclear: str) -> TrueRelation:
    nan, nothing = np.full((6, 5), math.nan), (math.nan, math.nan)
    return TrueRelation(nan[0], nan[1:], count, math.nan, nothing, nothing, unclear)


@dataclass(frozen=True, eq=False)
class _Moments:
    """Scaled pairs with the weights of each pair: ``every`` for x, ``chosen`` for both (0 if y is missing)."""

    x: Array
    y: Array
    x_errors: Array
    y_errors: Array
    covariance: Array
    every: Array
    chosen: Array

    def solve(self) -> tuple[Array, Array]:
        """Return means, variances and covariance of the true pairs, and the influence of each pair on them."""
        first = np.stack([self.every, self.every * self.x, self.every * self.x**2, self.every * self.x_errors])
        of_x, turn = _with_derivatives(self._of_x, first.mean(axis=1))
        on_x = turn @ (first - first.mean(axis=1)[:, None])
        second = self._features(of_x)
        moments = second.mean(axis=1)
        estimate, turn = _with_derivatives(lambda m: self._of_both(m, of_x), moments)
        _, chain = _with_derivatives(lambda t: self._of_both(self._features(t).mean(axis=1), t), of_x)
        return estimate, turn @ (second - moments[:, None]) + chain @ on_x

    @property
    def noise(self) -> tuple[float, float]:
        """The mean variances of the errors."""
        sides = (self.x_errors, self.every), (self.y_errors, self.chosen)
        first, second = (float(np.average(errors, weights=weights)) for errors, weights in sides)
        return first, second

    def _of_x(self, m: Array) -> Array:
        """Return the mean and the variance of the true x."""
        mean = m[1] / m[0]
        return np.array([mean, _small(self.every) * (m[2] / m[0] - mean**2) - m[3] / m[0]])

    def _features(self, of_x: Array) -> Array:
        """Return the powers of y and of the expected x given the measured one, on which y depends in any selection by measured x."""
        mean, var = of_x
        share = var / (var + self.x_errors)
        u, w = share * (self.x - mean), self.chosen
        errors = w * self.y_errors, w * self.covariance
        return np.stack([w, w * u, w * self.y, w * u**2, w * u * self.y, w * self.y**2, *errors, w * share])

    def _of_both(self, m: Array, of_x: Array) -> Array:
        mean, var = of_x
        u, y, uu, uy, yy, noise, joint, share = m[1:] / m[0]
        uu, uy, yy = (_small(self.chosen) * one for one in (uu - u**2, uy - u * y, yy - y**2))
        measured = uy / uu
        slope = measured - joint / var
        return np.array([mean, y - measured * u, var, yy - noise - measured**2 * (uu - var * share), slope * var])


def _small(weights: Array) -> float:
    """Return what corrects a variance with these weights for a small sample: n / (n - 1) if they are equal."""
    return 1 / (1 - float(weights @ weights) / float(weights.sum()) ** 2)


def _with_derivatives(of: Callable[[Array], Array], at: Array) -> tuple[Array, Array]:
    """Return the values of an analytic function and its derivatives, exact by complex steps."""
    steps = [of(at + 1e-20j * unit).imag / 1e-20 for unit in np.eye(len(at))]
    return of(at), np.stack(steps, axis=1)


def _scaled(pairs: NoisyPairs, x_errors: Array, middle: Array, scale: Array) -> _Moments:
    """Return the pairs without units, with their weights: precise ones weigh more."""
    both = pairs.both
    x, ex = (pairs.x - middle[0]) / scale[0], x_errors / scale[0] ** 2
    y = np.where(both, (np.where(both, pairs.y, 0.0) - middle[1]) / scale[1], 0.0)
    ey = np.where(both, np.where(both, pairs.y_variance, 0.0) / scale[1] ** 2, 0.0)
    exy = np.broadcast_to(pairs.covariance, x.shape) / (scale[0] * scale[1])
    a, b = (max(float(v.var() - e.mean()), FLOOR) for v, e in ((x, ex), (y[both], ey[both])))
    chosen = np.where(both, 1 / ((a + ex) * (b + ey)), 0.0)
    every = chosen if both.all() else 1 / (a + ex) ** 2
    return _Moments(x, y, ex, ey, exy, every / every.mean(), chosen / chosen.mean())


def _lower_variance(values: Array, errors: Array, level: float = 0.95) -> float:
    """Return the lower bound of the true variance by the profile of Q; 0 if errors may explain the spread.

    Source: Viechtbauer, Confidence intervals for the amount of heterogeneity in meta-analysis, Statistics in Medicine 26, 2007.
    """
    from scipy.special import chdtri

    limit, most = float(chdtri(len(values) - 1, 1 - level)), float(values.var(ddof=1))
    errors = np.maximum(errors, most * SMALLEST)

    def excess(variance: float) -> float:
        weights = 1 / (errors + variance)
        return float(weights @ (values - weights @ values / weights.sum()) ** 2) - limit

    low, high = 0.0, 2 * most
    if excess(low) <= 0:
        return 0.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return low


# --- several first numbers --------------------------------------------------------------------------------


def best_weights(x: Array, errors: Array, y: Array, covariances: Array) -> Array:
    """Return the weights of the columns of ``x`` that predict the true ``y`` best: true covariances, errors subtracted.

    ``errors`` holds one matrix of error covariances per row of ``x``, ``covariances`` those of each row with the error of y. Directions in which
    the true numbers vary less than 5% of the measured ones are held at that share, so that noise gets no weight.
    """
    scale = x.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    z = (x - x.mean(axis=0)) / scale
    measured = z.T @ z / (len(z) - 1)
    values, vectors = np.linalg.eigh(measured - errors.mean(axis=0) / np.outer(scale, scale))
    target = z.T @ (y - y.mean()) / (len(z) - 1) - covariances.mean(axis=0) / scale
    weights: Array = vectors @ ((vectors.T @ target) / np.maximum(values, FLOOR)) / scale
    return weights


def cross_validate(
    x: Array, errors: Array, y: Array, y_variance: Array, covariances: Array, weigh: Any, folds: int = 5
) -> NoisyPairs:
    """Return the pairs of predicted and measured y, each predicted with weights that ``weigh`` found on the other folds."""
    fold = np.arange(len(y)) % folds
    made, noise, joint = np.empty((3, len(y)))
    for at in range(folds):
        test, train = fold == at, fold != at
        weights = weigh(x[train], errors[train], y[train], covariances[train])
        made[test] = (x[test] - x[train].mean(axis=0)) @ weights
        noise[test] = np.einsum("i,nij,j->n", weights, errors[test], weights)
        joint[test] = covariances[test] @ weights
    return NoisyPairs(made, noise, y, y_variance, joint)
