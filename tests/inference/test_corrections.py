"""Corrections of p-values: their laws, arithmetic, and statsmodels' numbers."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankscope.declared import parse_all
from rankscope.errors import InputError
from rankscope.inference.base import Correction, Sample
from rankscope.inference.corrections import bh, bonferroni, holm, none
from rankscope.inference.intervals import t as t_interval
from rankscope.inference.paired import t

ALL = [holm(), bonferroni(), bh(), none()]
THEIRS = {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh"}
P = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.025, 0.05, 0.5, 1.0]), st.floats(0, 0.06))
FAMILY = st.lists(P, min_size=1, max_size=12)


@pytest.mark.parametrize("correction", ALL, ids=str)
@settings(deadline=None, max_examples=60)
@given(FAMILY, st.sampled_from([0.01, 0.05, 0.2]))
def test_the_level_says_what_the_adjusted_p_value_says(
    correction: Correction, family: list[float], alpha: float
) -> None:
    p = np.array(family)
    levels, adjusted = correction.levels(p, alpha), correction.adjusted(p)
    assert ((p <= levels) == (adjusted <= alpha)).all()
    assert (levels <= alpha * (1 + 1e-12)).all()
    assert (levels >= alpha / len(p) * (1 - 1e-12)).all()


@pytest.mark.parametrize("correction", ALL, ids=str)
@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 99)), min_size=1, max_size=8))
def test_intervals_at_their_level_agree_with_adjusted_p_values(
    correction: Correction, family: list[tuple[float, int]]
) -> None:
    samples = [Sample(np.random.default_rng(seed).normal(shift, 1, 12)) for shift, seed in family]
    p = np.array([t().p_value(sample) for sample in samples])
    adjusted, levels = correction.adjusted(p), correction.levels(p)
    for sample, value, level in zip(samples, adjusted, levels, strict=True):
        bounds = t_interval().of(sample, 1 - level)
        if abs(value - 0.05) > 1e-9:
            assert (bounds.lower > 0 or bounds.upper < 0) == (value <= 0.05)


@pytest.mark.parametrize("correction", ALL, ids=str)
@settings(deadline=None, max_examples=60)
@given(FAMILY, st.randoms())
def test_laws_of_adjusted_p_values(correction: Correction, family: list[float], random: Random) -> None:
    p = np.array(family)
    adjusted = correction.adjusted(p)
    assert (adjusted >= p * (1 - 1e-12)).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()
    places = list(range(len(p)))
    random.shuffle(places)
    assert (correction.adjusted(p[places]) == adjusted[places]).all()
    assert correction.adjusted(p[:1]) == p[:1]
    with_nan = correction.adjusted(np.append(p, np.nan))
    assert (with_nan[:-1] == adjusted).all()
    assert np.isnan(with_nan[-1])


@settings(deadline=None, max_examples=60)
@given(FAMILY)
def test_holm_is_never_weaker_than_bonferroni_nor_bh_than_holm(family: list[float]) -> None:
    p = np.array(family)
    assert (holm().adjusted(p) <= bonferroni().adjusted(p)).all()
    assert (bh().adjusted(p) <= holm().adjusted(p) * (1 + 1e-12)).all()


def test_levels_by_hand() -> None:
    p = np.array([0.001, 0.012, 0.012, 0.3])
    assert holm().levels(p) == pytest.approx([0.05 / 4, 0.05 / 3, 0.05 / 3, 0.05])
    assert bonferroni().levels(p) == pytest.approx([0.05 / 4] * 4)
    # .3 is the largest and keeps .05; three are as small as .012; .001 is alone below
    assert bh().levels(p) == pytest.approx([0.05 / 4, 0.05 * 3 / 4, 0.05 * 3 / 4, 0.05])
    # the second is carried up to the first's 3 * .03: its level is .05 * .031 / .09
    assert holm().levels(np.array([0.03, 0.031, 1.0])) == pytest.approx([0.05 / 3, 0.05 * 0.031 / 0.09, 0.05])


def test_zeros_have_levels_as_ties_have() -> None:
    p = np.array([0.0, 0.0, 0.5, 0.0])
    for correction in ALL:
        assert correction.levels(p) == pytest.approx(correction.levels(np.array([1e-9, 1e-9, 0.5, 1e-9])), rel=1e-6)
    assert holm().levels(p)[0] == pytest.approx(0.05 / 4)
    assert bh().levels(p)[0] == pytest.approx(0.05 * 3 / 4)


def test_nothing_known_is_nothing_said() -> None:
    for correction in ALL:
        assert np.isnan(correction.adjusted(np.array([np.nan, np.nan]))).all()
        assert np.isnan(correction.levels(np.array([np.nan]))).all()
        assert len(correction.adjusted(np.array([]))) == 0


@pytest.mark.parametrize("correction", ALL[:3], ids=str)
@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_statsmodels(need: Callable[[str], ModuleType], correction: Correction, family: list[float]) -> None:
    multipletests = need("statsmodels.stats.multitest").multipletests
    theirs = multipletests(family, method=THEIRS[str(correction)])[1]
    assert correction.adjusted(np.array(family)) == pytest.approx(theirs, rel=1e-12, abs=1e-15)


def test_names() -> None:
    assert parse_all(Correction, "fdr_bh") == (bh(),)
    assert parse_all(Correction, "no") == (none(),)
    assert [str(c) for c in ALL] == ["holm", "bonferroni", "bh", "none"]


@pytest.mark.parametrize("wrong", [-0.1, 1.1])
def test_p_values_out_of_range(wrong: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        holm().adjusted(np.array([0.1, wrong]))
    with pytest.raises(InputError, match="between 0 and 1"):
        holm().levels(np.array([0.1]), wrong)


def test_joint_corrections_have_no_levels() -> None:
    with pytest.raises(InputError, match="no level"):
        Correction().levels(np.array([0.1]))


def test_which_corrections_rest_on_an_analysis_of_variance() -> None:
    assert not any(found.anova or found.joint for found in (bh(), bonferroni(), holm(), none()))
