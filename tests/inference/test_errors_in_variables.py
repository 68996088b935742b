"""The relation of true numbers behind measured ones, in worlds whose truth is known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.made.samples import EVERYTHING

from rankscope.inference.errors_in_variables import FEWEST, NoisyPairs, best_weights, true_relation

ROUNDS = 600 if EVERYTHING else 150


def pairs(
    r: float,
    count: int,
    draws: np.random.Generator,
    reliability: float = 0.6,
    uneven: bool = False,
    rejected: bool = False,
) -> NoisyPairs:
    """Normal pairs with mean 0.3 and 0.2, variance 1 and correlation r."""
    x, y = draws.multivariate_normal([0.3, 0.2], [[1, r], [r, 1]], count).T
    noise = (1 - reliability) / reliability
    wide = np.exp(draws.normal(size=(2, count)) * 0.7 - 0.245) * noise if uneven else np.full((2, count), noise)
    x, y = x + draws.normal(size=count) * np.sqrt(wide[0]), y + draws.normal(size=count) * np.sqrt(wide[1])
    if rejected:
        y = np.where(x > np.median(x), y, math.nan)
    return NoisyPairs(x, wide[0], y, wide[1])


def test_without_errors_it_is_the_plain_correlation_and_slope() -> None:
    draws = np.random.default_rng(1)
    x, y = draws.multivariate_normal([1, 2], [[2, 0.5], [0.5, 1]], 300).T
    found = true_relation(NoisyPairs(x, np.zeros(300), y, np.zeros(300)))
    assert found.reliability == (1.0, 1.0)
    assert found.correlation()[0] == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert found.slope()[0] == pytest.approx(np.cov(x, y)[0, 1] / np.var(x, ddof=1))


def test_the_covariance_of_the_errors_is_subtracted() -> None:
    draws = pairs(0.5, 400, np.random.default_rng(2))
    found, noise = np.cov(draws.x, draws.y), 0.4 / 0.6
    expected = found[0, 1] / math.sqrt((found[0, 0] - noise) * (found[1, 1] - noise))
    assert true_relation(draws).correlation()[0] == pytest.approx(expected)
    joint = NoisyPairs(draws.x, draws.x_variance, draws.y, draws.y_variance, np.full(400, 0.1))
    expected = (found[0, 1] - 0.1) / math.sqrt((found[0, 0] - noise) * (found[1, 1] - noise))
    assert true_relation(joint).correlation()[0] == pytest.approx(expected)


def test_errors_that_pairs_share_are_not_subtracted() -> None:
    draws = pairs(0.5, 400, np.random.default_rng(2))
    found, noise = np.cov(draws.x, draws.y), 0.4 / 0.6
    shared = NoisyPairs(draws.x, draws.x_variance, draws.y, draws.y_variance, shared=0.2)
    expected = found[0, 1] / math.sqrt((found[0, 0] - noise + 0.2) * (found[1, 1] - noise))
    assert true_relation(shared).correlation()[0] == pytest.approx(expected)
    of_users = replace(shared, y_shared=0.1)
    expected = found[0, 1] / math.sqrt((found[0, 0] - noise + 0.2) * (found[1, 1] - noise + 0.1))
    assert true_relation(of_users).correlation()[0] == pytest.approx(expected)


def test_units_do_not_matter() -> None:
    draws = pairs(0.7, 100, np.random.default_rng(3), uneven=True)
    scaled = NoisyPairs(draws.x * 1e-4 + 5, draws.x_variance * 1e-8, draws.y * 1e5, draws.y_variance * 1e10)
    one, other = true_relation(draws), true_relation(scaled)
    assert other.correlation()[0] == pytest.approx(one.correlation()[0], rel=1e-6)
    assert other.correlation()[1].upper == pytest.approx(one.correlation()[1].upper, rel=1e-6)
    assert other.slope()[0] == pytest.approx(one.slope()[0] * 1e9, rel=1e-6)


@pytest.mark.parametrize("uneven", [False, True], ids=["equal errors", "unequal errors"])
@pytest.mark.parametrize("rejected", [False, True], ids=["all launched", "half rejected"])
@pytest.mark.parametrize("r", [0.0, 0.5, 0.9])
def test_the_interval_covers_the_true_correlation(r: float, uneven: bool, rejected: bool) -> None:
    draws = np.random.default_rng(7)
    found = [
        true_relation(pairs(r, 200 if rejected else 100, draws, uneven=uneven, rejected=rejected))
        for _ in range(ROUNDS)
    ]
    told = [one.correlation() for one in found if one.known]
    assert len(told) == ROUNDS
    chance = 3 * math.sqrt(0.05 * 0.95 / ROUNDS)
    assert 0.92 - chance / 2 <= np.mean([b.lower <= r <= b.upper for _, b in told]) <= min(0.97 + chance / 2, 1.0)
    spread = 1.25 * 3 * np.std([value for value, _ in told]) / math.sqrt(ROUNDS)
    assert abs(np.median([value for value, _ in told]) - r) <= 0.03 + spread
    if r:
        assert np.median([one.naive for one in found]) < 0.75 * r  # attenuated


def test_rank_correlations_and_signs_follow_from_the_normal_model() -> None:
    found = true_relation(pairs(0.6, 20_000, np.random.default_rng(5)))
    true = np.random.default_rng(6).multivariate_normal([0.3, 0.2], [[1, 0.6], [0.6, 1]], 200_000)
    ranks = true.argsort(axis=0).argsort(axis=0)
    assert found.spearman()[0] == pytest.approx(np.corrcoef(ranks[:, 0], ranks[:, 1])[0, 1], abs=0.03)
    assert found.kendall()[0] == pytest.approx(2 / math.pi * math.asin(0.6), abs=0.03)
    assert found.agreement()[0] == pytest.approx(np.mean((true > 0).all(axis=1) | (true < 0).all(axis=1)), abs=0.02)


def test_the_chance_to_win_is_that_of_launches_like_it() -> None:
    draws = np.random.default_rng(8)
    true = draws.multivariate_normal([0.3, 0.2], [[1, 0.6], [0.6, 1]], 2_000_000)
    measured = true[:, 0] + draws.normal(size=len(true)) * 0.5
    near = np.abs(measured - 0.8) < 0.05
    chance, bounds = true_relation(pairs(0.6, 2000, draws)).wins(0.8, 0.25)
    assert chance == pytest.approx(np.mean(true[near, 1] > 0), abs=0.03)
    assert bounds.lower < chance < bounds.upper


@pytest.mark.parametrize(
    ("count", "reliability", "unclear"),
    [(8, 0.99, "few"), (100, 0.001, "x"), (FEWEST - 1, 0.6, "few")],
    ids=["eight launches", "only noise", "one too few"],
)
def test_it_cannot_tell(count: int, reliability: float, unclear: str) -> None:
    found = true_relation(pairs(0.9, count, np.random.default_rng(1), reliability))
    assert (found.known, found.unclear) == (False, unclear)
    assert math.isnan(found.correlation()[0])
    assert not found.slope()[1].known
    assert not found.agreement()[1].known
    assert found.reason


def test_weights_are_those_of_the_true_numbers() -> None:
    draws, n = np.random.default_rng(4), 50_000
    true = draws.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], n)
    y = true @ [0.7, 0.2]
    shared = np.array([[0.5, 0.4], [0.4, 0.5]])
    x = true + draws.multivariate_normal([0, 0], shared, n)
    found = best_weights(x, np.broadcast_to(shared, (n, 2, 2)), y, np.zeros((n, 2)))
    assert found == pytest.approx([0.7, 0.2], abs=0.03)
