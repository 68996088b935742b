"""PairedValues tests: their laws, arithmetic, and scipy's numbers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats

from rankscope.declared import parse_all
from rankscope.errors import DataError, InputError
from rankscope.inference.base import PairedTest, Sample
from rankscope.inference.paired import on_lattice, sign, t, wilcoxon
from rankscope.lists import Array

Zeros = Literal["wilcox", "pratt", "zsplit"]
Method = Literal["auto", "exact", "asymptotic"]
ZEROS: list[Zeros] = ["wilcox", "pratt", "zsplit"]
# ours and scipy's: asymptotic has its name there since 1.14 and is still read by the older one
METHODS: list[tuple[Method, str]] = [("auto", "auto"), ("asymptotic", "approx")]
TESTS = [
    t(), sign(),
    *(wilcoxon(zeros=z, method=m) for z in ("wilcox", "pratt", "zsplit") for m in ("auto", "exact", "asymptotic")),
]  # fmt: skip
STEPS = st.lists(st.integers(-6, 6), min_size=1, max_size=60)


def of(values: ArrayLike, clusters: Array | None = None) -> Sample:
    return Sample(np.asarray(values, dtype=float), clusters)


# --- laws ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", TESTS, ids=str)
@settings(deadline=None, max_examples=40)
@given(STEPS, st.randoms())
def test_neither_order_nor_direction_nor_unit_matters(test: PairedTest, steps: list[int], random: Random) -> None:
    here = test.p_value(of(steps))
    assert math.isnan(here) or 0 <= here <= 1
    shuffled = list(steps)
    random.shuffle(shuffled)
    assert test.p_value(of(shuffled)) == here or math.isnan(here)
    assert test.p_value(of(steps).mirror) == here or math.isnan(here)
    assert test.p_value(of(np.array(steps) / 10)) == pytest.approx(here, rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("test", TESTS, ids=str)
def test_equal_on_all_queries_is_one_and_no_queries_is_nothing(test: PairedTest) -> None:
    assert test.p_value(of([0.0] * 5)) == test.p_value(of([0.0])) == 1
    assert math.isnan(test.p_value(of([])))


@pytest.mark.parametrize("test", TESTS, ids=str)
def test_a_spelling_is_read_back(test: PairedTest) -> None:
    assert parse_all(PairedTest, str(test)) == (test,)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=60))
def test_counts_and_fractions_give_one_p_value(hits: list[tuple[int, int]]) -> None:
    """P@10 as a count or as a share: .3 - .2 is not .2 - .1, but both are one hit."""
    run, baseline = np.array(hits).T
    for test in (wilcoxon(), wilcoxon(zeros="pratt"), sign()):
        assert test.p_value(of(run / 10 - baseline / 10)) == test.p_value(of(run - baseline))


def test_rounding_noise_is_no_difference() -> None:
    noisy = of([0.1 + 0.2 - 0.3, 0.2, -0.1, 0.3])  # the first is 5.6e-17
    assert on_lattice(noisy.values).tolist() == [0, 2, -1, 3]
    assert sign().p_value(noisy) == sign().p_value(of([0, 0.2, -0.1, 0.3]))


# --- arithmetic ----------------------------------------------------------------------------------


def test_t_of_the_textbook(shared_data: Callable[[str], Path]) -> None:
    x, y = (np.loadtxt(shared_data(f"elinor/{name}.csv"), delimiter=",", skiprows=1, usecols=1) for name in "XY")
    sample = of(x - y)
    assert round(t().statistic(sample), 4) == 2.1158  # Sakai, Laboratory Experiments in IR, 2018, Table 5.1
    assert round(t().p_value(sample), 4) == 0.0478


def test_t_without_spread() -> None:
    assert t().p_value(of([0.1, 0.1, 0.1])) == 0
    assert t().p_value(of([0.3 - 0.2, 0.2 - 0.1, 0.1])) == 0  # the same up to rounding
    assert t().statistic(of([-0.1, -0.1])) == -math.inf
    assert math.isnan(t().p_value(of([0.1])))


def test_t_between_clusters() -> None:
    """Three clusters of two: sums around the mean of 2 are -3, 0, 3; the error is sqrt(3/2 * 18) / 6, on 2 degrees."""
    sample = of([0, 1, 2, 2, 3, 4], np.array([0, 0, 1, 1, 2, 2]))
    assert t().statistic(sample) == pytest.approx(2 / (math.sqrt(3 / 2 * 18) / 6), rel=1e-14)
    assert t().p_value(sample) == pytest.approx(2 * stats.t.sf(t().statistic(sample), 2), rel=1e-13)
    apart = of([1.0, 2.0, 4.0], np.array([2, 0, 1]))
    assert t().p_value(apart) == pytest.approx(t().p_value(of([1.0, 2.0, 4.0])), rel=1e-14)
    assert math.isnan(t().p_value(of([1.0, 2.0], np.array([0, 0]))))
    assert t().p_value(of([1.0, -1.0, 2.0, -2.0], np.array([0, 0, 1, 1]))) == 1


def test_sign_counts() -> None:
    assert sign().p_value(of([1, 1, 1, 1, 1, 0])) == 2 / 2**5
    assert sign().p_value(of([1, 1, -1, -1])) == 1
    assert sign().statistic(of([1, 1, -1, 0])) == 2


def all_signs(values: list[int], zeros: Zeros) -> float:
    """The exact p-value by writing out every sign."""
    d = np.asarray(values, dtype=float)
    d = d[d != 0] if zeros == "wilcox" else d
    ranks = stats.rankdata(np.abs(d))[d != 0]
    signs = (np.arange(2 ** len(ranks))[:, None] >> np.arange(len(ranks))) & 1
    sums, seen = signs @ ranks, ranks[d[d != 0] > 0].sum()
    return float(min(1, 2 * min((sums <= seen).mean(), (sums >= seen).mean())))


@pytest.mark.parametrize("zeros", ["wilcox", "pratt", "zsplit"])
@pytest.mark.parametrize(
    "values", [[1, 2, 3, -4], [1, 1, -1, 2, 0, 0, 3], [2, 2, 2, 2, -2], [-1, 0], list(range(-3, 11))]
)
def test_exact_signed_ranks_write_out_all_signs(values: list[int], zeros: Zeros) -> None:
    assert wilcoxon(zeros=zeros, method="exact").p_value(of(values)) == all_signs(values, zeros)


# --- scipy ---------------------------------------------------------------------------------------


def real(shared_data: Callable[[str], Path], name: str, first: int, second: int) -> tuple[Array, Array]:
    table = np.loadtxt(shared_data(f"system_scores/{name}.csv"), delimiter=",", skiprows=1)
    return table[:, first], table[:, second]


@pytest.mark.parametrize("name", ["adhoc5_ap", "adhoc6_p10", "adhoc7_rr"])
@pytest.mark.parametrize("pair", [(0, 1), (3, 20), (30, 7)])
def test_scipy_on_real_scores(shared_data: Callable[[str], Path], name: str, pair: tuple[int, int]) -> None:
    a, b = real(shared_data, name, *pair)
    assert t().p_value(of(a - b)) == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-10)
    steps = on_lattice(a - b)
    for zeros in ZEROS:
        theirs = stats.wilcoxon(steps, zero_method=zeros).pvalue
        assert wilcoxon(zeros=zeros).p_value(of(a - b)) == pytest.approx(theirs, rel=1e-10)
    better, worse = (a > b).sum(), (a < b).sum()
    assert sign().p_value(of(a - b)) == pytest.approx(stats.binomtest(better, better + worse).pvalue, rel=1e-10)


def scipys(values: Array, zeros: Zeros, method: str) -> Any:
    """What scipy finds; the older one warns where a sample is small."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sample size too small", UserWarning)
        return stats.wilcoxon(values, zero_method=zeros, method=method)


def tries_all_signs() -> bool:
    """Whether scipy's ``auto`` is exact where ranks are tied: the older one takes the table of ranks without ties."""
    values = [1, 1, 2, -1]
    return bool(scipys(np.array(values), "wilcox", "auto").pvalue == all_signs(values, "wilcox"))


@pytest.mark.parametrize("size", [1, 2, 5, 10, 14, 50, 51, 300])
@pytest.mark.parametrize("zeros", ["wilcox", "pratt", "zsplit"])
@pytest.mark.parametrize("kind", ["continuous", "lattice"])
def test_wilcoxon_is_scipys(size: int, zeros: Zeros, kind: str) -> None:
    random = np.random.default_rng(size)
    for _ in range(2):
        d = random.normal(0.3, 1, size) if kind == "continuous" else random.integers(-3, 6, size).astype(float)
        if not d.any():
            continue
        for method, name in METHODS:
            if method == "auto" and kind == "lattice" and not tries_all_signs():
                continue
            theirs = scipys(d, zeros, name)
            assert wilcoxon(zeros=zeros, method=method).p_value(of(d)) == pytest.approx(theirs.pvalue, rel=1e-10)
        assert wilcoxon(zeros=zeros).statistic(of(d)) == theirs.statistic
        if kind == "continuous":
            exact = stats.wilcoxon(d, zero_method=zeros, method="exact").pvalue
            assert wilcoxon(zeros=zeros, method="exact").p_value(of(d)) == pytest.approx(exact, rel=1e-10)


# --- bad input -----------------------------------------------------------------------------------


def test_only_t_takes_clusters() -> None:
    for test in (wilcoxon(), sign()):
        with pytest.raises(InputError, match="with clusters use t"):
            test.p_value(of([1.0, 2.0], np.array([0, 1])))


def test_exact_has_an_end() -> None:
    with pytest.raises(DataError, match="asymptotic"):
        wilcoxon(method="exact").p_value(of(np.arange(1, 1102)))
    unknown: Any = "approx"
    with pytest.raises(InputError, match="method must be one of"):
        wilcoxon(method=unknown)
