"""Analysis of variance and Tukey's test: their laws, arithmetic, and the numbers of statsmodels and scipy."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankscope.errors import DataError, InputError
from rankscope.inference.anova import studentised_range, studentised_range_beyond, tukey, two_way
from rankscope.inference.base import Sample
from rankscope.inference.paired import t
from rankscope.lists import Array

PAIRS = np.array([(0, 1), (0, 2), (1, 2)])
TABLE = st.integers(0, 1000).map(lambda seed: np.random.default_rng(seed).beta(2, 3, (3, 3 + seed % 20)))


def elinor(shared_data: Callable[[str], Path]) -> Array:
    return np.array([np.loadtxt(shared_data(f"elinor/{n}.csv"), delimiter=",", skiprows=1, usecols=1) for n in "XYZ"])


@settings(deadline=None, max_examples=15)
@given(TABLE, st.randoms())
def test_order_does_not_matter(table: Array, random: Random) -> None:
    places = list(range(table.shape[1]))
    random.shuffle(places)
    there, here = two_way(table[[2, 0, 1]][:, places]), two_way(table)
    assert (there.F, there.p_value) == pytest.approx((here.F, here.p_value), rel=1e-9)
    turned = tukey().over(table[:, places], PAIRS[:, ::-1])
    assert turned.adjusted == pytest.approx(tukey().over(table, PAIRS).adjusted, rel=1e-9)


@settings(deadline=None, max_examples=15)
@given(TABLE)
def test_two_systems_are_the_paired_t_test(table: Array) -> None:
    sample = Sample(table[0] - table[1])
    found, joint = two_way(table[:2]), tukey().over(table[:2], PAIRS[:1])
    theirs = t().statistic(sample) ** 2, t().p_value(sample)
    assert (found.F, found.p_value) == pytest.approx(theirs, rel=1e-9)
    assert joint.adjusted[0] == pytest.approx(t().p_value(sample), rel=1e-9)


@settings(deadline=None, max_examples=15)
@given(TABLE, st.sampled_from([0.9, 0.95, 0.99]))
def test_beyond_the_critical_error_is_below_alpha(table: Array, level: float) -> None:
    joint = tukey().over(table, PAIRS, level)
    apart = np.abs(table.mean(axis=1)[PAIRS[:, 0]] - table.mean(axis=1)[PAIRS[:, 1]])
    assert ((apart > joint.critical * joint.error) == (joint.adjusted <= 1 - level)).all()
    assert joint.single is None


def test_a_pair_is_the_same_in_any_company() -> None:
    table = np.random.default_rng(1).beta(2, 3, (60, 20))
    pairs = np.array([(i, j) for i in range(60) for j in range(i)])
    everyone, alone = tukey().over(table, pairs), tukey().over(table, pairs[777:778])
    assert everyone.adjusted[777] == alone.adjusted[0]


def test_the_textbook(shared_data: Callable[[str], Path]) -> None:
    found = two_way(elinor(shared_data))
    assert (round(found.F, 4), round(found.p_value, 4)) == (2.4749, 0.0976)  # Sakai 2018
    assert found.freedom == (2, 38)


def test_by_hand() -> None:
    """Systems 1 apart on average, left over by turns +-1/2: 2 * (1/2)**2 * 2 between, 4 * 1/4 left on 1 degree."""
    found = two_way(np.array([[0.0, 2.0], [2.0, 2.0]]))
    assert (found.between, found.residual, found.queries, found.F) == (1, 1, 1, 1)
    assert found.p_value == pytest.approx(1 / 2)  # F of 1 on 1 and 1 degrees


def test_without_anything_left() -> None:
    same = np.tile([0.1, 0.5, 0.7], (3, 1))
    assert (two_way(same).F, two_way(same).p_value) == (0, 1)
    assert tukey().over(same, PAIRS).adjusted.tolist() == [1, 1, 1]
    shifted = same + np.array([[0.0], [0.0], [0.1]])
    assert (two_way(shifted).F, two_way(shifted).p_value) == (math.inf, 0)
    assert tukey().over(shifted, PAIRS).adjusted.tolist() == [1, 0, 0]
    twins = np.random.default_rng(0).beta(2, 2, (3, 10))
    twins[1] = twins[0]
    assert tukey().over(twins, PAIRS).adjusted[0] == 1


def test_statsmodels(shared_data: Callable[[str], Path], need: Callable[[str], ModuleType]) -> None:
    pandas, AnovaRM = need("pandas"), need("statsmodels.stats.anova").AnovaRM
    table = elinor(shared_data)
    systems, queries = np.indices(table.shape)
    frame = pandas.DataFrame({"y": table.ravel(), "system": systems.ravel(), "query": queries.ravel()})
    theirs = AnovaRM(frame, "y", "query", within=["system"]).fit().anova_table.iloc[0]
    found = two_way(table)
    assert (found.F, found.p_value) == pytest.approx((theirs["F Value"], theirs["Pr > F"]), rel=1e-10)
    assert found.freedom == (theirs["Num DF"], theirs["Den DF"])


@pytest.mark.parametrize(("systems", "freedom"), [(2, 1), (2, 3), (3, 2), (3, 38), (10, 441), (50, 2401)])
def test_scipys_studentised_range(systems: int, freedom: int) -> None:
    q = np.array([0.01, 1, 2, 3, 4, 5, 6, 50])
    found, theirs = studentised_range(q, systems, freedom), stats.studentized_range.sf(q, systems, freedom)
    assert found == pytest.approx(theirs, abs=1e-11)
    critical = studentised_range_beyond(0.05, systems, freedom)
    assert critical == pytest.approx(stats.studentized_range.ppf(0.95, systems, freedom), rel=1e-10)


def test_two_normal_numbers_are_a_t_test() -> None:
    """The range of two is the root of 2 times t: the far tail too, to its last digits."""
    for freedom in (1, 2, 7, 49, 1000, 100_000):
        q = np.array([0.1, 1.0, 4.0, 9.0])
        exact = 2 * stats.t.sf(q / math.sqrt(2), freedom)
        assert studentised_range(q, 2, freedom) == pytest.approx(exact, rel=1e-9, abs=1e-17)


def test_bad_input() -> None:
    with pytest.raises(InputError, match="without gaps"):
        two_way(np.array([[1.0, np.nan], [1.0, 2.0]]))
    with pytest.raises(InputError, match="systems x queries"):
        two_way(np.array([1.0, 2.0]))
    with pytest.raises(DataError, match="two systems and two queries"):
        two_way(np.array([[1.0, 2.0]]))
    with pytest.raises(InputError, match="level"):
        tukey().over(np.eye(3), PAIRS, 1.0)
