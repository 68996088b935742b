"""Position bias: known curves are found by every method that a log identifies, and a log without interventions is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.reference.click_models import harvest

from rankscope.behaviour.policies import SwapFirst
from rankscope.click_models.bias import BiasEstimator, ShownTraffic, all_pairs, harvesting, randomised, swaps
from rankscope.lists.pages import Pages

PLACES, QUERIES = 6, 60
THETA = np.arange(1, PLACES + 1) ** -0.85


@cache
def world(kind: str, lists: int = 40_000, seed: int = 1) -> Pages:
    """Pages whose order is swapped, shuffled, by one of three rankers, or fixed; clicks are position-based."""
    draws = np.random.default_rng(seed)
    attraction = np.random.default_rng(9).beta(2, 3, (QUERIES, PLACES))
    query, rows = draws.integers(0, QUERIES, lists), np.arange(lists)
    order = np.argsort(-attraction, axis=1)[query]
    ranker, chance = np.zeros(lists, dtype=int), np.ones((lists, PLACES))
    if kind == "swaps":
        other = draws.integers(0, PLACES, lists)
        order[rows, 0], order[rows, other] = order[rows, other], order[rows, 0].copy()
        chance[:] = 1 - 1 / PLACES
        chance[:, 0] = 1 / PLACES
    if kind == "shuffled":
        order, chance = np.argsort(draws.random((lists, PLACES)), axis=1), np.full((lists, PLACES), 1 / PLACES)
    if kind == "rankers":
        ranker = draws.integers(0, 3, lists)
        scores = [attraction + 0.4 * np.random.default_rng(20 + i).random(attraction.shape) for i in range(3)]
        order = np.stack([np.argsort(-score, axis=1) for score in scores])[ranker, query]
    item = query[:, None] * PLACES + order
    click = draws.random((lists, PLACES)) < THETA * attraction.ravel()[item]
    return replace(Pages.of(item, click, QUERIES * PLACES), ranker=ranker, chance=None if kind == "rankers" else chance)


def estimated(method: str | BiasEstimator, pages: Pages) -> np.ndarray:
    one = BiasEstimator.read(method)
    used = one.use(ShownTraffic.of(pages))
    assert one.validity(used).holds
    return one.curve(used).alpha


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        ("swaps", "swaps"), ("swaps", "regression_em"), ("shuffled", "randomised"), ("shuffled", "randomised(top=6)"),
        ("shuffled", "swaps"), ("shuffled", "regression_em"), ("rankers", "harvesting"), ("rankers", "regression_em"),
    ],
)  # fmt: skip
def test_a_known_curve_is_found(kind: str, method: str) -> None:
    assert np.abs(estimated(method, world(kind)) - THETA).max() < 0.03


def test_several_rankers_and_all_pairs_say_more_than_pairs_with_the_first_place() -> None:
    errors = {
        name: np.mean([np.abs(estimated(name, world("rankers", 5000, seed)) - THETA).max() for seed in range(8)])
        for name in ("swaps", "harvesting")
    }
    assert errors["harvesting"] < errors["swaps"]


def test_trust_is_found_by_grades() -> None:
    draws = np.random.default_rng(3)
    alpha, beta = np.array([1.0, 0.6, 0.4]), np.array([0.0, 0.1, 0.05])
    grade, place = draws.integers(0, 4, 200), np.argsort(draws.random((200_000, 3)), axis=1)
    item = draws.integers(0, 66, 200_000)[:, None] * 3 + place
    attraction = 0.1 + 0.2 * grade
    click = draws.random(item.shape) < alpha * attraction[item] + beta
    pages = replace(Pages.of(item, click, 200), label=grade[item].astype(float))
    one = BiasEstimator.read("trust")
    curve = one.curve(one.use(ShownTraffic.of(pages)))
    assert curve.alpha.tolist() == pytest.approx(alpha.tolist(), abs=0.02)
    assert curve.beta is not None
    assert curve.beta.tolist() == pytest.approx(beta.tolist(), abs=0.02)


@pytest.mark.parametrize("kind", ["swaps", "shuffled"])
def test_trust_is_found_by_the_clicks_of_the_other_half(kind: str) -> None:
    alpha, beta = np.array([1.0, 0.65, 0.5, 0.4, 0.3, 0.25]), np.array([0.0, 0.06, 0.05, 0.04, 0.03, 0.02])
    pages = world(kind, 100_000)
    attraction = np.random.default_rng(9).beta(2, 3, (QUERIES, PLACES)).ravel()[pages.item]
    click = np.random.default_rng(4).random(pages.item.shape) < alpha * attraction + beta
    one, traffic = BiasEstimator.read("trust"), ShownTraffic.of(replace(pages, click=click))
    assert one.validity(one.use(traffic)).holds
    curve = one.curve(one.use(traffic))
    known = ~np.isnan(curve.alpha)
    assert known.sum() >= 2
    assert np.abs(curve.alpha - alpha)[known].max() < 0.02
    assert curve.beta is not None
    assert np.abs(curve.beta - beta)[known].max() < 0.02


def test_trust_of_a_short_log_says_how_much_more_is_needed() -> None:
    one = BiasEstimator.read("trust")
    reason = one.validity(one.use(ShownTraffic.of(world("swaps", 600)))).reason
    assert "differ too little in attraction for their clicks, and about" in reason


def test_two_places_by_arithmetic() -> None:
    pages = Pages.of([[0, 1]] * 4 + [[1, 0]] * 4, [[1, 0], [1, 1], [0, 0], [1, 0], [1, 1], [0, 0], [1, 0], [0, 0]])
    # item 0: 3 of 4 clicks at place 1, 1 of 4 at place 2; item 1: 2 of 4 and 1 of 4
    clicks, skips = ShownTraffic.of(pages).interventions
    assert clicks[1, 0] == pytest.approx((1 + 1) / 2)  # each pair has half of its views at either place
    assert clicks[0, 1] == pytest.approx((3 + 2) / 2)
    assert (clicks + skips)[0, 1] == (clicks + skips)[1, 0] == 4
    assert all_pairs(clicks, skips).tolist() == pytest.approx([1.0, 2 / 5])


def test_all_pairs_is_the_maximum_of_the_likelihood_of_the_paper() -> None:
    draws = np.random.default_rng(4)
    clicks, skips = draws.uniform(5, 30, (4, 4)), draws.uniform(20, 60, (4, 4))
    p = all_pairs(clicks, skips)
    from rankscope.click_models.bias import _relevance

    off = ~np.eye(4, dtype=bool)
    r = _relevance(np.where(off, clicks, 0), np.where(off, skips, 0), p)
    best = harvest(clicks.tolist(), skips.tolist(), p.tolist(), r.tolist())
    for k in range(1, 4):
        for step in (0.98, 1.02):
            moved = p.copy()
            moved[k] *= step
            assert harvest(clicks.tolist(), skips.tolist(), moved.tolist(), r.tolist()) < best
    for k, j in [(0, 1), (2, 3)]:
        for step in (0.98, 1.02):
            moved_r = r.copy()
            moved_r[k, j] = moved_r[j, k] = r[k, j] * step
            assert harvest(clicks.tolist(), skips.tolist(), p.tolist(), moved_r.tolist()) < best


@pytest.mark.parametrize("method", list(BiasEstimator.catalogue))
def test_a_fixed_ranker_identifies_nothing(method: str) -> None:
    one = BiasEstimator.read(method)
    found = one.validity(one.use(ShownTraffic.of(world("fixed"))))
    assert (found.holds, found.exit_code) == (False, 4)
    assert found.reason


@pytest.mark.parametrize(
    ("one", "pages", "reason"),
    [
        (harvesting(), "swaps", "there is a single ranker"),
        (randomised(), "rankers", "the log has no column p_item_pos"),
        (randomised(top=4), "fixed", "the items at the first 4 places are not in random order"),
        (swaps(), "fixed", "no item changed places with the one at place 1"),
    ],
    ids=["one ranker", "no probabilities", "not shuffled", "swaps that were none"],
)
def test_what_is_not_identified_says_why(one: BiasEstimator, pages: str, reason: str) -> None:
    assert reason in one.validity(one.use(ShownTraffic.of(world(pages)))).reason


def test_probabilities_of_lists_that_never_change_are_not_believed() -> None:
    pages = replace(world("fixed"), chance=np.full((40_000, PLACES), 1 / PLACES))
    one = randomised()
    assert "every item was always at one place" in one.validity(one.use(ShownTraffic.of(pages))).reason


def test_harvesting_needs_names_of_rankers() -> None:
    one, pages = harvesting(), replace(world("rankers"), ranker=None)
    assert "names no rankers" in one.validity(one.use(ShownTraffic.of(pages))).reason


def test_a_swap_has_its_exact_probabilities() -> None:
    scores = np.array([[3.0, 2.0, 1.0, -np.inf], [1.0, 4.0, 2.0, 3.0]])
    policy, draws = SwapFirst(top=3), np.random.default_rng(5)
    chances = policy.chances(scores, 4)
    order, prefix = policy.show(scores, np.repeat([0, 1], 30_000), draws.random((60_000, 5)), 4)
    for query in (0, 1):
        mine = order[query * 30_000 : (query + 1) * 30_000]
        for item in range(4):
            rate = (mine == item).mean(axis=0)
            assert np.abs(rate - chances[query, item]).max() < 0.015
    assert (prefix == 1 / 3).all()
    assert chances.sum(axis=1)[1].tolist() == pytest.approx([1, 1, 1, 1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "method"), [("swaps", "swaps"), ("rankers", "harvesting"), ("shuffled", "randomised")]
)
def test_a_curve_is_within_two_hundredths_at_100_000_pages(kind: str, method: str) -> None:
    assert np.abs(estimated(method, world(kind, 100_000)) - THETA).max() < 0.02


def unclicked_at(place: int, pages: Pages) -> Pages:
    click = pages.click.copy()
    click[:, place] = False
    return replace(pages, click=click)


def test_a_place_without_a_click_is_not_known_to_be_ignored() -> None:
    curve = estimated("swaps", unclicked_at(3, world("swaps", lists=2_000)))
    assert np.isnan(curve).nonzero()[0].tolist() == [3]
