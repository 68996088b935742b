"""Ways of mixing: laws over every class by following all random choices, worked lists, and what is refused."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from itertools import product
from typing import Any

import numpy as np
import pytest

from rankscope.behaviour.mixing import (
    Balanced,
    Coins,
    DebiasedBalanced,
    MixedList,
    Mixing,
    PairwisePreference,
    Probabilistic,
    TeamDraft,
    team_draft,
)
from rankscope.behaviour.optimised import Optimised
from rankscope.errors import DataError, InputError

METHODS = [TeamDraft(), Balanced(), DebiasedBalanced(), Probabilistic(), Optimised(), PairwisePreference()]
EVERY = pytest.mark.parametrize("method", METHODS, ids=str)
SHIFTED = [list("abcd"), list("bcda")]  # balanced interleaving prefers the second for clicks at random


def rankings(seed: int, method: Mixing, docs: str = "abcdef") -> tuple[list[list[str]], int]:
    """Some rankings with items in common and others not, as many as the method takes, and a length."""
    draws = random.Random(seed)
    many = 2 if method.most == 2 or seed % 2 else 3
    return [draws.sample(docs, draws.randint(2, 4)) for _ in range(many)], draws.randint(1, 4)


def every_list(method: Mixing, lists: list[list[str]], k: int) -> dict[MixedList, float]:
    """Each list that can come out, with its probability; the rankings of a method that cannot mix them are passed over."""
    found = method.outcomes(lists, k)
    return {
        MixedList(items, teams, method, tuple(map(tuple, lists))): chance for (items, teams), chance in found.items()
    }


def mixable(method: Mixing) -> list[tuple[list[list[str]], int]]:
    """The cases that a method can mix: a linear program may have no solution."""
    out = []
    for seed in range(8):
        case = rankings(seed, method)
        try:
            method.outcomes(*case)
        except DataError:
            continue
        out.append(case)
    assert len(out) >= 4
    return out


@EVERY
def test_lists_are_whole_and_their_probabilities_add_up(method: Mixing) -> None:
    for lists, k in mixable(method):
        found = method.outcomes(lists, k)
        assert math.fsum(found.values()) == pytest.approx(1, abs=1e-12)
        size = min(k, len({item for ranking in lists for item in ranking}))
        assert all(len(items) == len(set(items)) == len(teams) == size for items, teams in found)
        assert all(
            item in lists[team] for items, teams in found for item, team in zip(items, teams, strict=True) if team >= 0
        )


@EVERY
def test_the_stated_probability_is_that_of_all_choices_followed(method: Mixing) -> None:
    for lists, k in mixable(method):
        followed: dict[Any, float] = defaultdict(float)
        for (items, _), chance in method.outcomes(lists, k).items():
            followed[items] += chance
        for items, chance in followed.items():
            assert method.chance(lists, items) == pytest.approx(chance, abs=1e-12)


@EVERY
def test_places_have_the_probability_of_all_lists_that_begin_so(method: Mixing) -> None:
    if not method.by_place:
        assert TeamDraft().mix(SHIFTED, 2).prefix is not None
        assert method.mix([list("ab"), list("ba")], 2).prefix is None
        return
    for lists, k in mixable(method):
        begins: dict[Any, float] = defaultdict(float)
        for (items, _), chance in method.outcomes(lists, k).items():
            for place in range(1, len(items) + 1):
                begins[items[:place]] += chance
        mixed = next(iter(every_list(method, lists, k)))
        assert mixed.prefix == pytest.approx([begins[mixed.items[: place + 1]] for place in range(len(mixed.items))])


@EVERY
def test_rankers_that_change_places_change_nothing_but_their_names(method: Mixing) -> None:
    for lists, k in mixable(method):
        if len(lists) != 2:
            continue
        one, other = method.outcomes(lists, k), method.outcomes(lists[::-1], k)
        chances = [defaultdict[tuple[Any, ...], float](float) for _ in range(2)]
        for into, found in zip(chances, (one, other), strict=True):
            for (items, teams), chance in found.items():
                turned = teams if into is chances[0] else tuple(1 - team if team >= 0 else team for team in teams)
                into[items, turned] += chance
        if isinstance(method, Optimised):  # other lists may be as good
            continue
        assert chances[0] == pytest.approx(chances[1])


@EVERY
def test_identical_rankers_have_equal_credit_at_each_place_on_average(method: Mixing) -> None:
    found = every_list(method, [list("abcd"), list("abcd")], 3)
    assert isinstance(method, Probabilistic) or {mixed.items for mixed in found} == {("a", "b", "c")}
    if method.credits(next(iter(found))) is None:
        return
    for place in range(3):
        one, other = (
            math.fsum(p * np.asarray(mixed.credits)[ranker][place] for mixed, p in found.items()) for ranker in (0, 1)
        )
        assert one == pytest.approx(other)


def random_clicks(method: Mixing, lists: list[list[str]], k: int, decay: float = 0.0) -> list[float]:
    """The expected credit of each ranker from clicks whose chance depends on the place only."""
    total = [0.0] * len(lists)
    for mixed, chance in every_list(method, lists, k).items():
        for ranker, row in enumerate(mixed.credits or ()):
            total[ranker] += chance * sum(earned * (at + 1) ** -decay for at, earned in enumerate(row))
    return total


def balanced_wins(lists: list[list[str]], k: int) -> float:
    """How often the first ranker wins less how often it loses, for one click at a random place of a balanced list."""
    total = 0.0
    for mixed, chance in every_list(Balanced(), lists, k).items():
        for ranks in zip(*mixed.ranks, strict=True):
            own = [rank or math.inf for rank in ranks]
            lowest = min(own)
            total += chance / len(mixed.items) * ((own[0] <= lowest) - (own[1] <= lowest))
    return total


def test_debiased_balanced_is_fair_for_random_clicks_and_balanced_is_not() -> None:
    # one ranking is the other moved up by one: three of four items are higher in the second
    assert balanced_wins(SHIFTED, 4) == pytest.approx((1 - 3) / 4)
    for lists, k in mixable(DebiasedBalanced(decay=0.5)):
        one, other = random_clicks(DebiasedBalanced(decay=0.5), lists, k, 0.5)
        assert one == pytest.approx(other)


def test_debiased_credit_is_the_clicks_on_the_rankers_own_list() -> None:
    attraction, decay = {"a": 0.9, "b": 0.5, "c": 0.2, "d": 0.1}, 0.85
    total = [0.0, 0.0]
    for mixed, chance in every_list(DebiasedBalanced(), SHIFTED, 4).items():
        for ranker, row in enumerate(mixed.credits or ()):
            total[ranker] += chance * sum(
                earned * (at + 1) ** -decay * attraction[item]
                for at, (item, earned) in enumerate(zip(mixed.items, row, strict=True))
            )
    own = [sum(attraction[item] * rank**-decay for rank, item in enumerate(ranking, 1)) for ranking in SHIFTED]
    assert total == pytest.approx(own)


@pytest.mark.parametrize("gain", ["inverse", "negative"])
def test_optimised_lists_give_equal_credit_down_to_every_depth(gain: Any) -> None:
    method = Optimised(gain=gain)
    for lists, k in mixable(method):
        program, probabilities = method.program(lists, k)
        assert all(p >= 0 for p in probabilities)
        assert sum(probabilities) == pytest.approx(1)
        for depth in range(1, len(program[0]) + 1):
            earned = np.zeros(len(lists))
            for items, chance in zip(program, probabilities, strict=True):
                mixed = MixedList(items, (-1,) * len(items), method, lists)
                earned += chance * np.array(mixed.credits)[:, :depth].sum(axis=1)
            assert np.ptp(earned) < 1e-9


@pytest.mark.parametrize("tau", [0.0, 1.0, 3.0])
def test_probabilistic_credit_is_that_of_all_assignments_of_teams(tau: float) -> None:
    """Brute force: every assignment of rankers to places, weighed by its probability given the list."""
    method = Probabilistic(tau=tau)
    for lists, k in mixable(method):
        mixed = next(iter(every_list(method, lists, k)))
        chances = method.outcomes(lists, k)
        whole, total = 0.0, np.zeros((len(lists), len(mixed.items)))
        for teams in product(range(len(lists)), repeat=len(mixed.items)):
            chance = chances.get((mixed.items, teams), 0.0)
            whole += chance
            for place, team in enumerate(teams):
                total[team, place] += chance
        assert np.array(mixed.credits) == pytest.approx(total / whole)


def test_a_draft_of_many_lists_is_the_draft_of_one() -> None:
    """The lists of simulated users: all coins, followed by both."""
    lists = [list("abcd"), list("bdca")]
    names = sorted("abcd")
    scores = np.array([[[-ranking.index(name) for name in names]] for ranking in lists], float)
    found: dict[Any, float] = defaultdict(float)
    for coins in product([0.25, 0.75], repeat=2):
        coin = np.array([[coins[0], 0, coins[1], 0]])
        order, team, prefix = team_draft(scores[0], scores[1], np.zeros(1, dtype=int), coin, 4)
        items = tuple(names[item] for item in order[0])
        found[items, tuple(team[0].tolist())] += 0.25
        assert prefix[0].tolist() == pytest.approx([TeamDraft().chance(lists, items[: n + 1]) for n in range(4)])
    assert found == pytest.approx(TeamDraft().outcomes(lists, 4))


@EVERY
def test_a_seed_and_an_impression_make_one_list(method: Mixing) -> None:
    lists = [list("abcd"), list("bcde")]
    assert [method.mix(lists, 3, 7, f"i{n}").items for n in range(40)] == [
        method.mix(lists, 3, 7, f"i{n}").items for n in range(40)
    ]
    drawn = Counter(method.mix(lists, 3, 1, n).items for n in range(800))
    expected: dict[Any, float] = defaultdict(float)
    for (items, _), chance in method.outcomes(lists, 3).items():
        expected[items] += 800 * chance
    assert sum((drawn[items] - count) ** 2 / count for items, count in expected.items() if count > 1e-6) < 60


def test_two_rankings_are_mixed_as_they_are_drawn() -> None:
    method, draws = TeamDraft(), random.Random(5)
    for number in range(300):
        docs = range(draws.choice([3, 12, 80]))
        lists, k = [draws.sample(docs, draws.randint(1, len(docs))) for _ in range(2)], draws.randint(1, 70)
        mixed = method.mix(lists, k, 7, number)
        items, teams = method.draw(lists, k, Coins(7, number).pick)
        assert mixed == MixedList(tuple(items), tuple(teams), method, lists)


def test_worked_draft() -> None:
    assert TeamDraft().outcomes([["a", "b"], ["b", "c"]], 2) == {(("a", "b"), (0, 1)): 0.5, (("b", "a"), (1, 0)): 0.5}


def test_a_ranker_without_items_left_lets_the_other_go_on() -> None:
    assert {items for items, _ in TeamDraft().outcomes([["a"], list("bcd")], 4)} == {tuple("abcd"), tuple("bacd")}


REFUSED = [
    ("one ranking", TeamDraft(), [["a"]], 1, r"TeamDraft mixes two rankings or more, and there is 1"),
    ("three rankings for two", Balanced(), [["a"], ["b"], ["c"]], 1, r"Balanced mixes two rankings, and there are 3"),
    ("an empty ranking", TeamDraft(), [["a"], []], 1, r"ranking 2 is empty"),
    ("an item twice", Probabilistic(), [["a", "b", "a"], ["b"]], 2, r"ranking 1 has 'a' twice: keep each item once"),
    ("no length", TeamDraft(), [["a"], ["b"]], 0, r"k=0: the length of a list"),
]


@pytest.mark.parametrize(("method", "lists", "k", "words"), [pytest.param(*rest, id=name) for name, *rest in REFUSED])
def test_wrong_rankings_are_refused(method: Mixing, lists: list[list[str]], k: int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        method.mix(lists, k)


def test_a_program_without_a_solution_is_refused() -> None:
    with pytest.raises(
        DataError, match=r"no mixture of .* lists gives these rankers equal credit: raise lists, or use"
    ):
        Optimised().mix([["b"], ["d", "c"]], 3)
