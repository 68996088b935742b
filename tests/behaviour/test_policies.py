"""Logging policies: every probability that a log says is that of the list, by enumeration and by drawing."""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

from rankscope.behaviour.mixing import draft_chances, team_draft
from rankscope.behaviour.policies import EpsilonShuffle, Fixed, LoggingPolicy, PlackettLuce, TopShuffle, place_chances
from rankscope.errors import InputError

SCORES = np.array([[0.4, -1.0, 0.9, 0.1], [1.5, 1.5, -2.0, -np.inf]])
POLICIES = [
    Fixed(),
    PlackettLuce(),
    PlackettLuce(temperature=0.05),
    PlackettLuce(temperature=50),
    EpsilonShuffle(epsilon=0.3),
    EpsilonShuffle(epsilon=1),
    TopShuffle(top=2),
    TopShuffle(top=9),
]


def lists_of(policy: LoggingPolicy, scores: Any, items: int) -> dict[tuple[int, ...], float]:
    """Every list of the first query with its probability, written down from what the policy is said to be."""
    there = [i for i, score in enumerate(scores) if np.isfinite(score)]
    usual = tuple(sorted(there, key=lambda i: -scores[i]))
    out: dict[tuple[int, ...], float] = {}
    for order in permutations(there):
        chance = 0.0
        if isinstance(policy, PlackettLuce):
            chance, left = 1.0, list(there)
            for item in order:
                weights = {i: np.exp((scores[i] - max(scores[j] for j in left)) / policy.temperature) for i in left}
                chance *= weights[item] / sum(weights.values())
                left.remove(item)
        elif isinstance(policy, EpsilonShuffle):
            every = len(list(permutations(there)))
            chance = policy.epsilon / every + (1 - policy.epsilon) * (order == usual)
        else:
            top = policy.top if isinstance(policy, TopShuffle) else 0
            alike = set(order[:top]) == set(usual[:top]) and order[top:] == usual[top:]
            chance = alike / len(list(permutations(usual[:top])))
        out[order[:items]] = out.get(order[:items], 0.0) + chance
    return out


@pytest.mark.parametrize("query", [0, 1], ids=["all candidates", "a candidate fewer and a tie"])
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_chances_of_places_are_those_of_all_lists(policy: LoggingPolicy, query: int) -> None:
    expected = np.zeros((4, 3))
    for order, chance in lists_of(policy, SCORES[query], 3).items():
        for place, item in enumerate(order):
            expected[item, place] += chance
    assert np.abs(policy.chances(SCORES, 3)[query] - expected).max() < 1e-12


@pytest.mark.parametrize("query", [0, 1], ids=["all candidates", "a candidate fewer and a tie"])
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_drawn_lists_say_how_probable_they_were(policy: LoggingPolicy, query: int) -> None:
    """Both by the probability that stands beside each list, down to each place, and by how often it is drawn."""
    many = 40_000
    noise = np.random.default_rng(5).random((many, 5))
    order, prefix = policy.show(SCORES, np.full(many, query), noise, 3)
    known = lists_of(policy, SCORES[query], 3)
    seen, counts = np.unique(order, axis=0, return_counts=True)
    for one, count in zip(seen, counts, strict=True):
        chance = known[tuple(i for i in one.tolist() if i >= 0)]
        of_list = prefix[(order == one).all(axis=1)][0]
        for place in range(3):
            begins = sum(p for other, p in known.items() if other[: place + 1] == tuple(one[: place + 1].tolist()))
            if one[place] >= 0:
                assert of_list[place] == pytest.approx(begins, rel=1e-12)
        assert of_list[-1] == pytest.approx(chance, rel=1e-12)  # of the whole list
        assert abs(count - many * chance) <= 5 * np.sqrt(many * chance * (1 - chance)) + 1e-9
    assert (np.diff(prefix, axis=1) <= 1e-15).all()


def test_a_place_always_holds_one_item() -> None:
    weights = np.exp(np.random.default_rng(2).standard_normal((50, 40)) * 4)
    table = place_chances(weights, 40)
    assert np.abs(table.sum(axis=1) - 1).max() < 1e-11  # some item at each place
    assert np.abs(table.sum(axis=2) - 1).max() < 1e-11  # and each item at some place


def test_equal_weights_make_every_place_equally_probable() -> None:
    assert np.abs(place_chances(np.ones((1, 25)), 10) - 1 / 25).max() < 1e-12


def test_policies_are_read_as_they_are_written() -> None:
    for policy in POLICIES:
        assert LoggingPolicy.read(str(policy)) == policy


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("Placket", "did you mean PlackettLuce", id="a name like another"),
        pytest.param("PlackettLuce(temperature=0)", "temperature must be from 0.05", id="no temperature"),
        pytest.param("EpsilonShuffle(epsilon=2)", "epsilon must be from 0 to 1", id="no chance"),
        pytest.param(7, "policy 7: write it like", id="a number"),
    ],
)
def test_what_is_no_policy_is_refused_in_one_line(text: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        LoggingPolicy.read(text)
    assert "\n" not in str(refused.value)


def test_team_draft_takes_the_best_that_is_left_of_whose_turn_it_is() -> None:
    one, other = np.array([[4.0, 3.0, 2.0, 1.0]]), np.array([[1.0, 4.0, -np.inf, 3.0]])
    for coins, order, team in [
        ([0.1, 0, 0.1, 0], [0, 1, 2, 3], [0, 1, 0, 1]),
        ([0.9, 0, 0.9, 0], [1, 0, 3, 2], [1, 0, 1, 0]),
        ([0.1, 0, 0.9, 0], [0, 1, 3, 2], [0, 1, 1, 0]),
        ([0.9, 0, 0.1, 0], [1, 0, 2, 3], [1, 0, 0, 1]),
    ]:
        found = team_draft(one, other, np.zeros(1, dtype=int), np.array([coins]), 4)
        assert (found[0].tolist(), found[1].tolist()) == ([order], [team])


def test_team_draft_goes_on_with_who_has_items_left() -> None:
    one, other = np.array([[2.0, 1.0, 0.0]]), np.array([[5.0, -np.inf, -np.inf]])
    order, team, _ = team_draft(one, other, np.zeros(1, dtype=int), np.array([[0.9, 0.0, 0.9, 0.0]]), 4)
    assert order.tolist() == [[0, 1, 2, -1]]
    assert team.tolist() == [[1, 0, 0, -1]]


RIVALS = {
    "the same ranking": ([4.0, 3.0, 2.0, 1.0, 0.0], [4.0, 3.0, 2.0, 1.0, 0.0]),
    "turned round": ([4.0, 3.0, 2.0, 1.0, 0.0], [0.0, 1.0, 2.0, 3.0, 4.0]),
    "the same first": ([4.0, 3.0, 2.0, 1.0, 0.0], [9.0, 0.0, 1.0, 2.0, 3.0]),
    "the same pair in another order": ([4.0, 3.0, 2.0, 1.0, 0.0], [3.0, 4.0, 0.0, 2.0, 1.0]),
    "one has few": ([4.0, 3.0, 2.0, 1.0, 0.0], [-np.inf, -np.inf, 2.0, -np.inf, 3.0]),
    "none has all": ([4.0, -np.inf, 2.0, -np.inf, 0.0], [-np.inf, -np.inf, 2.0, 7.0, 3.0]),
}


@pytest.mark.parametrize("items", [1, 4, 5, 7])
@pytest.mark.parametrize("rivals", RIVALS.values(), ids=RIVALS)
def test_drafts_are_as_probable_as_all_coins_say(rivals: Any, items: int) -> None:
    one, other = (np.array([scores]) for scores in rivals)
    rounds = -(-items // 2)
    lists: dict[tuple[int, ...], float] = defaultdict(float)
    said: dict[tuple[int, ...], list[float]] = {}
    for coins in product([0.1, 0.9], repeat=rounds):
        coin = np.repeat(coins, 2)[None]
        order, _, prefix = team_draft(one, other, np.zeros(1, dtype=int), np.pad(coin, ((0, 0), (0, 2))), items)
        lists[tuple(order[0].tolist())] += 0.5**rounds
        said.setdefault(tuple(order[0].tolist()), prefix[0].tolist())
        assert said[tuple(order[0].tolist())] == prefix[0].tolist()  # whoever picked what
    chances = draft_chances(one, other, items)[0]
    for shown, chances_down in said.items():
        for place in range(items):
            alike = sum(p for those, p in lists.items() if those[: place + 1] == shown[: place + 1])
            assert chances_down[place] == pytest.approx(alike, abs=1e-15)
    for item in range(5):
        for place in range(items):
            there = sum(p for those, p in lists.items() if those[place] == item)
            assert chances[item, place] == pytest.approx(there, abs=1e-15)
