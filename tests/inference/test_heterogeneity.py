"""One test of several effects: Welch's t of two, Cochran's Q of many known ones, Welch's analysis of variance, effects that share units."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankscope.errors import InputError
from rankscope.inference.effects import equal_effects

draws = np.random.default_rng(61)
GROUPS = [draws.normal(0.2 * i, 1 + i, 30 + 10 * i) for i in range(4)]


def of_groups(groups: list[np.ndarray]) -> tuple[list[float], np.ndarray, list[int]]:
    errors = [group.var(ddof=1) / len(group) for group in groups]
    return [group.mean() for group in groups], np.diag(errors), [len(group) - 1 for group in groups]


def test_two_effects_are_welchs_t() -> None:
    from scipy.stats import ttest_ind

    found, theirs = equal_effects(*of_groups(GROUPS[:2])), ttest_ind(*GROUPS[:2], equal_var=False)
    assert found.statistic == pytest.approx(theirs.statistic**2, rel=1e-10)
    assert found.freedom[1] == pytest.approx(theirs.df, rel=1e-10)
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


def test_means_are_welchs_analysis_of_variance(need: object) -> None:
    oneway = need("statsmodels.stats.oneway")  # type: ignore[operator]
    found, theirs = (
        equal_effects(*of_groups(GROUPS)),
        oneway.anova_oneway(GROUPS, use_var="unequal", welch_correction=True),
    )
    assert found.statistic == pytest.approx(theirs.statistic, rel=1e-10)
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


def test_errors_that_are_known_give_cochrans_q() -> None:
    from scipy.stats import chi2

    effects, errors = np.array([0.1, 0.4, -0.2]), np.array([0.1, 0.2, 0.15])
    weights = errors**-2
    q = float((weights * (effects - (weights * effects).sum() / weights.sum()) ** 2).sum())
    found = equal_effects(effects, np.diag(errors**2), [1e12] * 3)
    assert found.statistic == pytest.approx(q / 2, rel=1e-9)
    assert found.p_value == pytest.approx(chi2.sf(q, 2), rel=1e-6)


def test_the_order_of_effects_and_their_unit_do_not_matter() -> None:
    spread = np.array([[0.04, 0.01, 0.0], [0.01, 0.09, 0.02], [0.0, 0.02, 0.05]])
    effects, freedoms = np.array([0.1, 0.5, -0.3]), np.array([40.0, 60.0, 80.0])
    one = equal_effects(effects, spread, freedoms)
    order = [2, 0, 1]
    for scale in (1.0, 1e3):
        other = equal_effects(scale * effects[order], scale**2 * spread[np.ix_(order, order)], freedoms[order])
        assert (other.statistic, other.p_value) == pytest.approx((one.statistic, one.p_value), rel=1e-9)


def test_effects_that_share_units_are_told_apart_by_their_difference() -> None:
    # two effects with errors 1 and 1 and a correlation of 0.5: their difference has an error of 1
    found = equal_effects([2.0, 0.0], [[1.0, 0.5], [0.5, 1.0]], [100, 100])
    assert found.statistic == pytest.approx(4.0)
    alone = equal_effects([2.0, 0.0], np.eye(2), [100, 100])
    assert alone.statistic == pytest.approx(2.0)


def test_equal_effects_are_equal() -> None:
    found = equal_effects([0.3, 0.3, 0.3], np.eye(3), [10, 20, 30])
    assert (found.statistic, found.p_value) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("effects", "covariance", "freedoms"),
    [([0.1], [[1.0]], [10]), ([0.1, 0.2], np.diag([1.0, 0.0]), [10, 10]), ([0.1, 0.2], np.diag([1.0, math.nan]), [10, 10]),
     ([0.1, 0.2], np.eye(2), [10, 0]), ([0.1, 0.2], np.eye(3), [10, 10])],
    ids=["one effect", "no error", "an unknown error", "no freedom", "another number of errors"],
)  # fmt: skip
def test_what_cannot_be_tested(effects: list[float], covariance: np.ndarray, freedoms: list[float]) -> None:
    with pytest.raises(InputError, match="a test of effects takes two or more, with errors above 0"):
        equal_effects(effects, covariance, freedoms)
