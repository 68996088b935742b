"""Variants of an experiment as panels."""

from __future__ import annotations

import numpy as np
import pytest

from rankscope.errors import InputError
from rankscope.experiments.arms import early_caution, sample_ratio, skew_caution
from rankscope.inference.base import PairedTest
from rankscope.moments import Moments
from rankscope.panels.method import find_method
from rankscope.panels.ratios import panel_of
from rankscope.panels.samples import Measure


@pytest.mark.parametrize(("scale", "decimals"), [pytest.param(1.0, 2, id="near one"), pytest.param(1e-3, 5, id="small"), pytest.param(1e4, 0, id="large")])  # fmt: skip
def test_differences_are_written_with_decimals_that_say_something(scale: float, decimals: int) -> None:
    rows = np.random.default_rng(3).normal(2 * scale, scale, (200, 2))
    variants = {name: Moments.of(np.column_stack([rows[:, i], np.ones(200)])) for i, name in enumerate("ab")}
    assert panel_of(Measure("Mean(revenue)"), variants).measure.decimals == decimals


@pytest.mark.parametrize(
    ("names", "said"),
    [
        pytest.param(("control", "treatment"), "control 1,034 and treatment 966 users", id="words"),
        pytest.param(("0", "1"), "0: 1,034 and 1: 966 users", id="numbers"),
    ],
)
def test_names_of_variants_are_told_from_counts(names: tuple[str, str], said: str) -> None:
    counts = dict(zip(names, (1034, 966), strict=True))
    assert sample_ratio(counts).sentence("user").startswith(f"Sample ratio: {said}, no sign of a mismatch (p = 0.13)")
    counts_near_alarm = dict(zip(names, (1062, 938), strict=True))
    assert "no sign of a mismatch (p = 0.006; alarm below 0.001)" in sample_ratio(counts_near_alarm).sentence("user")
    assert f"{names[0]}{':' if names[0] == '0' else ''} 90.0%" in sample_ratio(
        counts, dict(zip(names, (0.9, 0.1), strict=True))
    ).sentence("user")


def test_a_split_has_a_share_above_nothing_for_each_variant() -> None:
    assert sample_ratio({"A": 9, "B": 1}, {"A": 9, "B": 1}).expected == {"A": 0.9, "B": 0.1}
    assert sample_ratio({"A": 5, "B": 5}).expected == {"A": 0.5, "B": 0.5}
    for planned in ({"A": 1.0}, {"A": 1.0, "C": 1.0}, {"A": 1.0, "B": 0.0}, {"A": 0.0, "B": 1.0}):
        with pytest.raises(InputError, match=r"give each of A and B a share above 0, like A=0\.5"):
            sample_ratio({"A": 5, "B": 5}, planned)


@pytest.mark.parametrize(
    ("test", "counts", "told"),
    [
        pytest.param("anytime(first=100)", {"A": 60, "B": 50}, "anytime(first=100) takes the 50 users of B", id="at the first look"),
        pytest.param("anytime(first=100)", {"A": 60, "B": 49}, "", id="before the first look"),
        pytest.param("anytime(first=20)", {"A": 99, "B": 300}, "anytime takes the 99 users of A", id="just too few"),
        pytest.param("anytime(first=20)", {"A": 100, "B": 300}, "", id="just enough"),
        pytest.param("t", {"A": 60, "B": 50}, "", id="a test for one look"),
        pytest.param(None, {"A": 60, "B": 50}, "", id="the default"),
    ],
)  # fmt: skip
def test_a_look_before_spreads_are_known_is_told_with_the_smallest_variant(
    test: str | None, counts: dict[str, int], told: str
) -> None:
    caution = early_caution(None if test is None else find_method(PairedTest, test), counts, "user")
    assert (caution is None) == (not told)
    if caution is not None:
        assert told in caution.message
        assert "look from 100 users in each variant on" in str(caution)


@pytest.mark.parametrize(
    ("base", "run", "named"),
    [pytest.param(300, 60, "b", id="a smaller variant"), pytest.param(60, 300, "a", id="a smaller baseline")],
)
def test_the_smaller_of_two_skewed_variants_is_told_with_what_it_needs(base: int, run: int, named: str) -> None:
    """One unit in ten adds 10 and the others nothing: a skewness of 0.8 / 0.3 in each variant, 0.25 at this split."""
    arms = {n: np.column_stack([10.0 * (np.arange(m) % 10 == 0), np.ones(m)]) for n, m in (("a", base), ("b", run))}
    panel = panel_of(Measure("Mean(revenue)", unit="user"), arms)
    caution = skew_caution(panel, None)
    assert caution is not None
    assert f"needs about 380 users of {named}, and there are 60; permutation decides" in caution.message
    told = skew_caution(panel, find_method(PairedTest, "t"))
    assert told is not None
    assert "decides" not in told.message
    even = dict.fromkeys("ab", arms["a"])
    assert skew_caution(panel_of(Measure("Mean(revenue)", unit="user"), even), None) is None
