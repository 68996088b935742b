"""Joint corrections: laws, a naive count of every pattern of signs, and what the two methods are known to do."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankscope.declared import parse_all
from rankscope.errors import InputError
from rankscope.inference import max_t as module
from rankscope.inference.base import Correction, Joint, Sample
from rankscope.inference.max_t import max_t, randomised_tukey
from rankscope.inference.paired import flip_signs, patterns
from rankscope.lists import Array

Find = Callable[[str], Path]

JOINT: list[Any] = [max_t(rounds=1999), randomised_tukey(rounds=1999)]


def all_pairs(systems: int) -> Array:
    return np.array(list(combinations(range(systems), 2)))


def made(systems: int, queries: int, seed: int = 0, shift: float = 0.05) -> Array:
    """Scores of systems that share what makes queries hard."""
    draw = np.random.default_rng(seed)
    hard = draw.random(queries)
    return np.clip(hard + draw.normal(0, 0.15, (systems, queries)) + shift * np.arange(systems)[:, None], 0, 1.5)


def naive_t(differences: Array) -> Array:
    """|t| of each row, infinite where a row is constant but not 0, and 0 where it is 0."""
    mean, spread = differences.mean(axis=-1), differences.std(axis=-1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t: Array = np.abs(mean) / (spread / math.sqrt(differences.shape[-1]))
    t[spread < 1e-12] = np.inf
    t[np.abs(differences).max(axis=-1) == 0] = 0
    return t


def naive(scores: Array, pairs: Array, signs: Array) -> tuple[Array, Array]:
    """Single and adjusted counts of a naive max-T under these rows of signs."""
    differences = scores[pairs[:, 0]] - scores[pairs[:, 1]]
    observed = naive_t(differences)
    flipped_t = naive_t(signs[:, None, :] * differences)
    reach = np.where(np.isinf(observed), observed, observed * (1 - 1e-9) - 1e-9)
    return (flipped_t >= reach).sum(axis=0), (flipped_t.max(axis=1)[:, None] >= reach).sum(axis=0)


def signs_of(method: max_t, queries: int) -> Array:
    drawn = [flips for _, flips in patterns(queries, method.rounds, np.random.PCG64(method.seed))]
    signs: Array = 1 - 2 * np.concatenate(drawn)
    return signs


def single_of(joint: Joint) -> Array:
    assert joint.single is not None
    return joint.single


# --- laws ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", JOINT, ids=str)
def test_pairs_mirror_and_come_in_any_order(method: Correction) -> None:
    scores, pairs = made(5, 23), all_pairs(5)
    here, there = method.over(scores, pairs), method.over(scores, pairs[::-1, ::-1])
    for one, other in ((here.adjusted, there.adjusted), (here.critical, there.critical), (here.error, there.error)):
        assert np.array_equal(one, other[::-1])


@pytest.mark.parametrize("method", JOINT, ids=str)
def test_systems_come_in_any_order(method: Correction) -> None:
    scores, pairs, order = made(5, 23), all_pairs(5), np.array([3, 0, 4, 2, 1])
    place = np.argsort(order)
    here, there = method.over(scores, pairs), method.over(scores[order], place[pairs])
    assert np.array_equal(here.adjusted, there.adjusted)
    assert np.array_equal(here.critical, there.critical)


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("method", [*JOINT, max_t(rounds=999), randomised_tukey(rounds=99)], ids=str)
def test_beyond_critical_is_significant(method: Correction, level: float) -> None:
    """|difference| > critical * error exactly where the adjusted p-value is alpha or less; also on tenths."""
    for scores in (made(6, 30, seed=2), np.round(made(6, 30, seed=3, shift=0.1), 1)):
        pairs = all_pairs(6)
        joint = method.over(scores, pairs, level)
        apart = np.abs([Sample(scores[a] - scores[b]).mean for a, b in pairs])
        significant = joint.adjusted <= round(1 - level, 6)
        assert np.array_equal(apart > joint.critical * joint.error, significant)
        assert significant.any()
        assert not significant.all()


def test_too_few_rounds_make_nothing_significant() -> None:
    joint = max_t(rounds=99).over(made(3, 20, shift=1), all_pairs(3), level=0.995)
    assert np.isinf(joint.critical).all()
    assert (joint.adjusted >= 0.01).all()


def test_single_knows_no_other_system() -> None:
    scores = made(6, 41)
    scores[4] *= 1e6
    alone = max_t(rounds=999).over(scores[:2], np.array([[0, 1]]))
    family = max_t(rounds=999).over(scores, all_pairs(6))
    assert single_of(alone)[0] == single_of(family)[0] == alone.adjusted[0]
    assert (family.adjusted >= single_of(family)).all()


def test_rounds_at_once_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, pairs = made(4, 70), all_pairs(4)
    whole = max_t(rounds=1000).over(scores, pairs)
    monkeypatch.setattr(module, "_ROUNDS_AT_ONCE", 64)
    parts = max_t(rounds=1000).over(scores, pairs)
    assert np.array_equal(whole.adjusted, parts.adjusted)
    assert np.array_equal(whole.critical, parts.critical)
    assert np.array_equal(single_of(whole), single_of(parts))


def test_sums_are_exact_whatever_the_library_adds_first() -> None:
    """The same bits from sums of one query after the other as from a matrix product."""
    scores = made(3, 500) / 3
    whole, unit = module._on_lattice(scores)
    assert np.abs(whole * unit - scores).max() < 1e-13
    (_, flips), *_ = patterns(500, 20, np.random.PCG64(0))
    (_, sums), *_ = module._sums_of_flips(whole, unit, 20, 0)
    by_hand = [[math.fsum(np.where(f, -s, s)) for f in flips] for s in whole * unit]
    assert np.array_equal(sums, by_hand)


@pytest.mark.parametrize("method", JOINT, ids=str)
@pytest.mark.parametrize("queries", [0, 1, 2])
def test_hardly_any_queries(method: Correction, queries: int) -> None:
    joint = method.over(made(3, 4, shift=0.3)[:, :queries], all_pairs(3))
    assert joint.adjusted.shape == (3,)
    assert (joint.adjusted > 0.05).all()
    assert not (joint.critical * joint.error < 0.1).any()
    if queries < 2 and isinstance(method, max_t):
        assert (joint.adjusted == 1).all()
        assert np.isinf(joint.critical).all()


# --- worked --------------------------------------------------------------------------------------


@pytest.mark.parametrize("tenths", [False, True])
@pytest.mark.parametrize("queries", [3, 8, 65])
def test_counts_what_a_naive_count_counts(queries: int, tenths: bool) -> None:
    """On the same signs; with tenths and few queries some rounds have an infinite t."""
    scores = made(4, queries, seed=queries)
    scores = np.round(scores, 1) if tenths else scores
    method, pairs = max_t(rounds=3000, seed=5), all_pairs(4)
    single, adjusted = naive(scores, pairs, signs_of(method, queries))
    joint = method.over(scores, pairs)
    assert np.array_equal(single_of(joint), (single + 1) / 3001)
    assert np.array_equal(joint.adjusted, (adjusted + 1) / 3001)


def test_near_all_patterns_of_signs() -> None:
    scores, pairs, rounds = made(4, 9, seed=6), all_pairs(4), 20_000
    single, adjusted = naive(scores, pairs, np.array(list(product((1, -1), repeat=9))))
    joint = max_t(rounds=rounds).over(scores, pairs)
    for drawn, exact in ((single_of(joint), single / 512), (joint.adjusted, adjusted / 512)):
        assert (np.abs(drawn - exact) <= 5 * np.sqrt(exact * (1 - exact) / rounds) + 1 / rounds).all()
    for p, (a, b) in zip(single / 512, pairs, strict=True):
        assert p == flip_signs(scores[a] - scores[b]).p_value


def test_errors_are_standard_errors() -> None:
    scores, pairs = made(4, 31), all_pairs(4)
    expected = [np.std(scores[a] - scores[b], ddof=1) / math.sqrt(31) for a, b in pairs]
    assert max_t(rounds=99).over(scores, pairs).error == pytest.approx(np.array(expected), rel=1e-12)


def test_a_pair_that_never_differs_is_left_out_of_the_largest() -> None:
    """Two runs that are the same: p = 1, and the others as if the pair were not there."""
    scores = made(3, 25)
    double = np.concatenate([scores, scores[:1]])
    joint = max_t(rounds=999).over(double, np.array([[0, 1], [0, 3], [1, 2]]))
    without = max_t(rounds=999).over(scores, np.array([[0, 1], [1, 2]]))
    assert joint.adjusted[1] == single_of(joint)[1] == 1.0
    assert joint.error[1] == 0.0
    assert np.array_equal(joint.adjusted[[0, 2]], without.adjusted)
    assert randomised_tukey(rounds=99).over(double, np.array([[0, 3]])).adjusted[0] == 1.0
    for method in JOINT:
        assert (method.over(np.ones((3, 10)) * 0.3, all_pairs(3)).adjusted == 1.0).all()


def test_the_same_difference_everywhere() -> None:
    """Ten times 0.1: t is infinite, and 2 of 1,024 patterns reach that; three times is nothing: 2 of 8."""
    scores = np.array([0.3, 0.4])[:, None] + np.linspace(0, 0.5, 10)
    joint = max_t(rounds=20_000).over(scores, np.array([[1, 0]]))
    assert joint.adjusted[0] == pytest.approx(2 / 1024, abs=0.002)
    assert joint.error[0] * joint.critical[0] < 0.1
    few = max_t(rounds=9_999).over(np.array([[0.5] * 3, [0.25] * 3]), np.array([[1, 0]]))
    assert few.adjusted[0] == pytest.approx(2 / 8, abs=0.02)
    assert few.error[0] == 0.0
    assert few.critical[0] == math.inf


def test_tukey_near_all_ways_to_deal() -> None:
    """Three systems, four queries: every one of 6 to the 4th ways to deal the scores out."""
    scores, rounds = np.round(made(3, 4, seed=1, shift=0.2), 2), 20_000
    ways = [np.array(list(permutations(query))) for query in scores.T]
    totals = [
        np.sum([w[i] for w, i in zip(ways, chosen, strict=True)], axis=0) for chosen in product(range(6), repeat=4)
    ]
    ranges = np.ptp(np.array(totals), axis=1)
    joint = randomised_tukey(rounds=rounds).over(scores, all_pairs(3))
    for (a, b), p in zip(all_pairs(3), joint.adjusted, strict=True):
        exact = np.mean(ranges >= abs((scores[a] - scores[b]).sum()) - 1e-9)
        assert abs(p - exact) <= 5 * math.sqrt(exact * (1 - exact) / rounds) + 1 / rounds


def test_tukey_of_two_is_the_permutation_test() -> None:
    scores, rounds = made(2, 14, seed=2), 20_000
    exact = flip_signs(scores[0] - scores[1]).p_value
    drawn = randomised_tukey(rounds=rounds).over(scores, np.array([[0, 1]])).adjusted[0]
    assert abs(drawn - exact) <= 5 * math.sqrt(exact * (1 - exact) / rounds) + 1 / rounds


def test_tukey_is_near_the_studentised_range_on_real_scores(shared_data: Find) -> None:
    """Scipy's studentised range, by the spread of the systems' scores within queries: the limit for many queries."""
    from scipy.stats import studentized_range

    scores = np.loadtxt(shared_data("system_scores/adhoc5_ap.csv"), delimiter=",", skiprows=1).T[:20:4]
    error = math.sqrt(scores.var(axis=0, ddof=1).sum()) / scores.shape[1]
    joint, pairs = randomised_tukey(rounds=10_000).over(scores, all_pairs(5)), all_pairs(5)
    apart = np.array([abs(scores[a].mean() - scores[b].mean()) for a, b in pairs])
    assert joint.adjusted == pytest.approx(studentized_range.sf(apart / error, 5, np.inf), abs=0.025)
    assert np.ptp(joint.adjusted) > 0.5


def test_errs_as_seldom_as_it_says() -> None:
    """No system is better: max-T finds something in about 5 % of families, far from the 20 % of no correction."""
    draw, pairs, found = np.random.default_rng(11), all_pairs(5), 0
    for _ in range(200):
        scores = draw.random(30) + draw.normal(0, 0.1, (5, 30))
        found += bool((max_t(rounds=399).over(scores, pairs).adjusted <= 0.05).any())
    assert 1 <= found <= 22  # 10 expected, standard deviation 3.1


# --- as they are declared --------------------------------------------------------------------------


def test_they_are_declared() -> None:
    assert parse_all(Correction, "max_t(rounds=20000, seed=1)") == (max_t(rounds=20_000, seed=1),)
    assert parse_all(Correction, "randomized_tukey") == (randomised_tukey(),)
    assert all(method.joint and method.calibration and "%" in method.calibration for method in JOINT)


@pytest.mark.parametrize("kind", [max_t, randomised_tukey])
@pytest.mark.parametrize("bad", [{"rounds": 0}, {"rounds": "many"}, {"seed": -1}])
def test_bad_parameters(kind: type[Correction], bad: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        kind(**bad)
