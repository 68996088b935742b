"""What users examine, and who drafts first: by arithmetic, also where a draw lies on the border."""

from __future__ import annotations

import numpy as np
import pytest

from rankscope.behaviour.browsing import Browsing, Cascade, PositionBased, UserBrowsing, attention
from rankscope.behaviour.mixing import team_draft


def test_a_place_is_examined_by_a_draw_below_its_chance() -> None:
    assert attention(4, 1.0).tolist() == [1 / 1, 1 / 2, 1 / 3, 1 / 4]
    mood = np.array([[0.999, 0.5, 0.333, 0.25, 0.0], [0.0, 0.499, 0.334, 0.249, 0.0]])
    examined = PositionBased(decay=1.0).examine(np.zeros((2, 4), dtype=bool), mood)
    assert examined.tolist() == [[True, False, True, False], [True, True, False, True]]


def test_a_cascade_ends_by_patience_or_after_a_click_that_is_enough() -> None:
    tempted = np.array([[False, True, False, True]])
    for stop, patience, expected in [
        ([0.0, 0.0, 0.9, 0.0], 0.2, [True, True, False, False]),  # enough after the second, the first draws no click
        ([0.9, 0.5, 0.9, 0.0], 0.2, [True, True, True, True]),  # a draw on the border does not stop
        ([0.9, 0.9, 0.9, 0.9], 1 / 3, [True, True, False, False]),  # patience below 1/2 and not below 1/3
        ([0.9, 0.9, 0.9, 0.9], 0.25, [True, True, True, False]),
    ]:
        mood = np.array([[*stop, patience]])
        assert Cascade(decay=1.0, stop=0.5).examine(tempted, mood).tolist() == [expected]


def test_attention_starts_anew_at_the_place_after_a_click() -> None:
    """By the last click, none first: the chances of places 2, 3 and 4. No place lies above its last click."""
    table = UserBrowsing(decay=1.0).chances(4).reshape(4, 3).tolist()
    assert table == [[1 / 2, 1 / 3, 1 / 4], [1, 1 / 2, 1 / 3], [0, 1, 1 / 2], [0, 0, 1]]


def test_a_coin_on_the_border_lets_the_other_begin() -> None:
    one, other = np.array([[4.0, 3.0, 2.0, 1.0]]), np.array([[1.0, 2.0, 3.0, 4.0]])
    for coin, order, team in [(0.5, [3, 0], [1, 0]), (np.nextafter(0.5, 0), [0, 3], [0, 1])]:
        found = team_draft(one, other, np.zeros(1, dtype=int), np.array([[coin, 0.0]]), 2)
        assert (found[0].tolist(), found[1].tolist()) == ([order], [team])
        assert found[2].tolist() == [[1 / 2, 1 / 2]]


def test_a_draft_of_one_candidate_is_certain_down_to_every_place() -> None:
    order, team, prefix = team_draft(np.ones((1, 1)), np.ones((1, 1)), np.zeros(1, dtype=int), np.full((1, 3), 0.9), 3)
    assert (order.tolist(), team.tolist(), prefix.tolist()) == ([[0, -1, -1]], [[1, -1, -1]], [[1.0, 1.0, 1.0]])


@pytest.mark.parametrize("name", Browsing.catalogue)
def test_looks_are_the_mean_of_draws(name: str) -> None:
    """Law: what exposure metrics take of a model is what simulated users do, within five standard errors of 40,000 lists."""
    model, rng = Browsing.read(name), np.random.default_rng(4)
    attraction, lists = np.array([[0.9, 0.1, 0.6, 0.3, 0.5]]), 40_000
    drawn = model.examine(rng.random((lists, 5)) < attraction, rng.random((lists, 6))).mean(axis=0)
    looks = model.looks(attraction)[0]
    assert looks[0] == 1.0
    assert np.abs(drawn - looks).max() < 5 * 0.5 / np.sqrt(lists)
    assert np.array_equal(
        model.looks(np.repeat(attraction, 300, axis=0))[299], looks
    )  # a list has one value in any company
