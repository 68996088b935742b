"""Whether effects differ: one test of several effects, which may share units, against one effect that all of them have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from rankscope.errors import InputError

KNOWN = 1e9  # degrees of freedom from which errors are as good as known: F is chi square then, which SciPy has to more digits


@dataclass(frozen=True)
class EqualEffects:
    """The result of a test that several effects are one: ``statistic`` (Q over its degrees of freedom, corrected) is F with ``freedom``."""

    source: ClassVar[str] = (
        "Cochran, The combination of estimates from different experiments, Biometrics 10(1), 1954; "
        "Welch, On the comparison of several mean values: an alternative approach, Biometrika 38, 1951"
    )

    statistic: float
    freedom: tuple[float, float]
    p_value: float


def equal_effects(effects: ArrayLike, covariance: ArrayLike, freedoms: ArrayLike) -> EqualEffects:
    """Test that several effects are one, given the covariance of their errors and the degrees of freedom of each error.

    Independent effects give Cochran's Q, the sum of their squared distances from the weighted mean in standard errors; effects that share
    units are contrasted with each other by their covariance (Wald). As errors are estimated, Q is taken as Welch takes it: for two
    independent effects it is the square of Welch's t. Raises InputError for fewer than two effects, or errors that are not above 0.

    >>> found = equal_effects([0.3, 0.1], np.diag([0.01, 0.01]), [50, 50])  # t is 0.2 over the root of 0.02
    >>> round(found.statistic, 6), found.freedom, round(found.p_value, 3)
    (2.0, (1, 100.0), 0.16)
    """
    from scipy.special import chdtrc, fdtrc

    effect, spread, freedom = (np.asarray(part, dtype=np.float64) for part in (effects, covariance, freedoms))
    count = len(effect)
    if count < 2 or spread.shape != (count, count) or not (np.diagonal(spread) > 0).all() or not (freedom > 0).all():
        raise InputError("a test of effects takes two or more, with errors above 0")
    apart = effect[1:] - effect[0]
    between = spread[1:, 1:] - spread[1:, :1] - spread[:1, 1:] + spread[0, 0]
    q = float(apart @ np.linalg.lstsq(between, apart, rcond=1e-12)[0])
    weights = 1 / np.diagonal(spread)
    slack = float(((1 - weights / weights.sum()) ** 2 / freedom).sum())
    statistic = max(q, 0.0) / (count - 1) / (1 + 2 * (count - 2) / (count**2 - 1) * slack)
    free = (count - 1, float((count**2 - 1) / 3 / slack))
    if free[1] > KNOWN:
        return EqualEffects(statistic, free, float(chdtrc(count - 1, (count - 1) * statistic)))
    return EqualEffects(statistic, free, float(fdtrc(*free, statistic)))
