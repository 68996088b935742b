"""Sign flips: laws, enumeration in whole numbers, and scipy's permutation test."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankscope.declared import parse_all
from rankscope.errors import InputError
from rankscope.inference import paired as flips
from rankscope.inference.base import PairedTest, Sample
from rankscope.inference.paired import Flips, flip_signs, permutation
from rankscope.lists import Array

Find = Callable[[str], Path]

STEPS = st.lists(st.integers(-12, 12), max_size=11)
LATTICE = st.sampled_from([1, 3, 5, 7, 10, 20, 97, 2520, 10_000])


def enumerated(whole: list[int]) -> float:
    """The share of all patterns of signs whose sum is as far from 0, in whole numbers."""
    sums = np.array(list(product((1, -1), repeat=len(whole))), dtype=np.int64) @ np.array(whole, dtype=np.int64)
    return float(np.mean(np.abs(sums) >= abs(sum(whole))))  # a count over a power of 2 is exact


# --- laws ----------------------------------------------------------------------------------------


@given(STEPS, LATTICE, st.booleans())
@settings(deadline=None)
def test_equals_enumeration_in_whole_numbers(whole: list[int], per_one: int, subtracted: bool) -> None:
    """Also where each difference is off by the rounding of a subtraction."""
    base = 0.3 if subtracted else 0.0
    values = np.array([(base + n / per_one) - base for n in whole])
    expected = enumerated([n for n in whole if n]) if any(whole) else 1.0
    assert flip_signs(values).p_value == expected
    assert flip_signs(values).p_value == flip_signs(values[::-1]).p_value == flip_signs(-values).p_value


@given(STEPS.filter(any), st.floats(1e-3, 1e3))
@settings(deadline=None)
def test_meeting_in_the_middle_equals_enumeration(whole: list[int], unit: float) -> None:
    """A unit that is no lattice leaves only the two halves; ties of sums are ties all the same."""
    assert flip_signs(np.array(whole) * unit).p_value == enumerated([n for n in whole if n])


@given(st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=1, max_size=60), st.randoms())
@settings(deadline=None, max_examples=60)
def test_order_and_mirror_change_nothing(values: list[float], shuffle: random.Random) -> None:
    shuffled = shuffle.sample(values, len(values))
    first = flip_signs(np.array(values), rounds=999)
    assert first == flip_signs(np.array(shuffled), rounds=999) == flip_signs(-np.array(shuffled), rounds=999)
    assert first.smallest <= first.p_value <= 1


def test_only_sizes_and_the_size_of_the_sum_matter() -> None:
    """Trading signs so that the sum stays: the same p, sampled too."""
    tail = np.linspace(0.01, 0.7, 50)
    one, other = np.r_[0.1, 0.2, -0.3, tail], np.r_[-0.1, -0.2, 0.3, tail]
    assert flip_signs(one) == flip_signs(other)
    assert not flip_signs(one).exact


def test_forty_are_exact_and_forty_one_are_drawn() -> None:
    draw = np.random.default_rng(4).normal(0.05, 0.2, 41)
    exact, drawn = flip_signs(draw[:40]), flip_signs(draw, rounds=999)
    assert (exact.exact, exact.rounds, exact.smallest) == (True, 2**40, 2 / 2**40)
    assert (drawn.exact, drawn.rounds, drawn.smallest) == (False, 999, 1 / 1000)
    assert flip_signs(np.r_[draw[:40], np.zeros(500)]) == exact


def test_forty_of_one_size_are_binomial() -> None:
    """30 wins and 10 losses of one size: the sign test, exactly; the same on and off a lattice."""
    expected = 2 * sum(math.comb(40, k) for k in range(11)) / 2**40
    signs = np.r_[np.ones(30), -np.ones(10)]
    for size in (0.1, 1 / math.pi):
        assert flip_signs(signs * size).p_value == expected


def test_sampled_p_is_near_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(8).normal(0.03, 0.1, 38)
    exact = flip_signs(values).p_value
    monkeypatch.setattr(flips, "MANY", 10)
    for seed in range(5):
        drawn = flip_signs(values, rounds=100_000, seed=seed)
        assert not drawn.exact
        assert abs(drawn.p_value - exact) < 5 * math.sqrt(exact * (1 - exact) / 100_000)


def test_sampled_p_is_counted_on_the_signs_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A naive count on the same bytes: table lookups are only a fast way to the same sums."""
    monkeypatch.setattr(flips, "_ROUNDS_AT_ONCE", 1 << 20)
    whole = np.sort(np.abs(np.random.default_rng(1).integers(1, 9, 45)))
    rounds, groups, draws = 5_000, -(-45 // 8), np.random.PCG64(7)
    raw = (draws.random_raw(-(-rounds // 8)) for _ in range(groups))  # eight bytes a word, the lowest first
    drawn = np.array([words.astype("<u8").view(np.uint8)[:rounds] for words in raw])  # groups x rounds
    bits = np.unpackbits(drawn.T.copy(), axis=1, bitorder="little").reshape(rounds, groups, 8)
    # of a byte, the highest bit is the sign of the group's first
    signs = 1 - 2 * bits.reshape(rounds, -1)[:, :45].astype(np.int64)
    sums = np.abs(signs @ whole)
    observed = int(whole[:10].sum() * -1 + whole[10:].sum())
    expected = (np.count_nonzero(sums >= abs(observed)) + 1) / (rounds + 1)
    values = np.r_[-whole[:10], whole[10:]] / 10
    assert flip_signs(values, rounds=rounds, seed=7).p_value == expected


def test_patterns_do_not_depend_on_how_many_are_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_of(rounds: int) -> Array:
        return np.concatenate([f for _, f in flips.patterns(70, rounds, np.random.PCG64(3))])

    whole = all_of(500)
    monkeypatch.setattr(flips, "_SIGNS_AT_ONCE", 700)
    assert np.array_equal(all_of(500), whole)
    assert np.array_equal(all_of(120), whole[:120])
    assert set(np.unique(whole)) == {0.0, 1.0}
    assert abs(whole.mean() - 0.5) < 0.02


# --- worked --------------------------------------------------------------------------------------


def test_nothing_differs() -> None:
    assert flip_signs(np.zeros(7)) == Flips(1.0, exact=True, rounds=1, smallest=1.0)
    assert permutation().p_value(Sample(np.zeros(3))) == 1.0
    assert math.isnan(permutation().p_value(Sample(np.zeros(0))))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.5], 1.0),
        ([0.0, 0.2, -0.2], 1.0),
        ([0.2] * 5, 2 / 2**5),
        ([0.1, 0.1, 0.1, -0.1], 10 / 16),  # one loss or none, on either side
        ([0.1, 0.2, 0.3, 0.4], 2 / 16),
        ([-0.1, 0.2, 0.3, 0.4], 4 / 16),
        ([0.3, -0.1, -0.2], 1.0),  # 5.6e-17 as doubles
    ],
)
def test_worked(values: list[float], expected: float) -> None:
    assert flip_signs(np.array(values)).p_value == expected


def test_ties_of_sums_are_found_in_any_order() -> None:
    """0.1 + 0.2 is not 0.3 to a computer, but as extreme."""
    values = np.array([0.1, 0.2, -0.3, 0.7, 0.7, 0.1 + 0.2])
    assert flip_signs(values).p_value == enumerated([1, 2, -3, 7, 7, 3])


def test_what_rounding_leaves_of_zeros_changes_nothing() -> None:
    out = flip_signs(np.r_[np.full(10, 0.1), np.full(5, 1e-17)])
    assert out.p_value == out.smallest == 2 / 2**10


def test_whole_clusters_are_flipped() -> None:
    """Three users whose sums are 0.1, 0.4 and -0.1."""
    values = np.array([0.1, 0.3, -0.2, 0.2, 0.1, -0.1])
    clusters = np.array([0, 1, 0, 0, 1, 2])
    sample = Sample(values, clusters)
    assert permutation().p_value(sample) == enumerated([1, 4, -1])
    assert permutation().p_value(sample.mirror) == enumerated([1, 4, -1])
    order = [5, 3, 1, 0, 2, 4]
    assert permutation().p_value(Sample(values[order], clusters[order])) == enumerated([1, 4, -1])
    assert permutation().p_value(Sample(values)) == enumerated([1, 3, -2, 2, 1, -1])


def test_a_cluster_a_query_is_no_cluster() -> None:
    values = np.random.default_rng(2).normal(0.1, 0.3, 60)
    alone = Sample(values, clusters=np.arange(60)[::-1])
    assert permutation(rounds=999).p_value(alone) == permutation(rounds=999).p_value(Sample(values))


def test_many_queries_and_many_rounds() -> None:
    """More groups than are tabled at once, and more rounds."""
    values = np.where(np.arange(40_000) % 2, 0.5, -0.5)
    values[:200] = 0.5  # a sum of 100, of standard deviation 100: p = .317
    out = flip_signs(values, rounds=1_000, seed=1)
    assert abs(out.p_value - math.erfc(1 / math.sqrt(2))) < 5 * math.sqrt(0.317 * 0.683 / 1000)


# --- parity --------------------------------------------------------------------------------------


def scipy_p(values: Array) -> Any:
    from scipy.stats import permutation_test

    def mean(x: Array, axis: int) -> Any:
        return np.mean(x, axis=axis)

    return permutation_test((values,), mean, permutation_type="samples", n_resamples=np.inf, vectorized=True).pvalue


@pytest.mark.parametrize("seed", range(12))
def test_equals_scipy(seed: int) -> None:
    draw = np.random.default_rng(seed)
    values = draw.normal(0.1, 0.3, 2 + seed % 11)
    assert flip_signs(values).p_value == pytest.approx(scipy_p(values), abs=1e-15)


def test_equals_scipy_on_real_scores(shared_data: Find) -> None:
    """Scipy takes sums as equal within 100 roundings of the observed one, so it misses ties where that is 0.

    Subtracting tenths then leaves something like 3e-17, and half of the patterns that sum to 0 fall below it.
    Everywhere else the two agree.
    """
    exceptions = 0
    for metric in ("p10", "ap"):
        scores = np.loadtxt(shared_data(f"system_scores/adhoc5_{metric}.csv"), delimiter=",", skiprows=1).T
        for a, b in zip(range(20), range(6, 26), strict=True):
            values = (scores[a] - scores[b])[:11]
            if abs(values.sum()) < 1e-12:
                exceptions += 1
                assert flip_signs(values).p_value == 1
            else:
                assert flip_signs(values).p_value == pytest.approx(scipy_p(values), abs=1e-15), (metric, a, b)
    assert exceptions <= 3


def test_where_scipy_loses_ties() -> None:
    """Precision at 10 of two runs of TREC 5 on eleven topics: wins and losses of the same sum, so p is 1."""
    steps = [4, 1, 1, 1, -8, -2, -3, 2, 2, -2, 4]
    base = np.array([0.4, 0.1, 0.1, 0.3, 0.0, 0.1, 0.0, 0.2, 0.8, 0.0, 0.5])
    values = (base + np.array(steps) / 10) - base
    assert sum(steps) == 0
    assert values.sum() != 0
    assert flip_signs(values).p_value == enumerated(steps) == 1.0
    assert scipy_p(values) < 1.0


def test_real_precision_equals_whole_numbers(shared_data: Find) -> None:
    scores = np.loadtxt(shared_data("system_scores/adhoc5_p10.csv"), delimiter=",", skiprows=1).T
    whole = np.rint(scores * 10).astype(np.int64)
    tested = 0
    for a in range(20):
        values, steps = scores[a] - scores[a + 20], whole[a] - whole[a + 20]
        steps = steps[steps != 0]
        if len(steps) <= 40:
            size = np.abs(steps)
            ways = {0: 1}  # a dict of sums, another way to count
            for step in size.tolist():
                ways = {s: ways.get(s - step, 0) + ways.get(s + step, 0) for w in ways for s in (w - step, w + step)}
            extreme = sum(n for s, n in ways.items() if abs(s) >= abs(steps.sum()))
            assert flip_signs(values).p_value == extreme / 2 ** len(steps)
            tested += 1
    assert tested > 5


# --- as it is declared -----------------------------------------------------------------------------


def test_it_is_declared() -> None:
    (read,) = parse_all(PairedTest, "permutation(rounds=20000)")
    assert read == permutation(rounds=20_000)
    assert str(permutation(seed=3)) == "permutation(seed=3)"
    for alias in ("sign_flip", "fisher", "randomisation", "randomization"):
        assert parse_all(PairedTest, alias) == (permutation(),)


@pytest.mark.parametrize("given_", [{"rounds": 10}, {"rounds": 1.5}, {"seed": -1}, {"rounds": 10**9}])
def test_bad_parameters(given_: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        permutation(**given_)
