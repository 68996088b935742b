"""Spaces and searches: the points that they try, the best one, and bad input."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from rankscope.errors import InputError
from rankscope.rankers.searches import Between, Point, Search, Simplex, bayes, grid, random, read_space

SPACE = read_space({"k": "1..100", "weights": "simplex", "name": "a,b"}, 3)


def value(point: Point) -> float:
    return float(0.0 - abs(point["k"] - 37) - abs(point["weights"][0] - 0.5) - (point["name"] == "b"))


def inside(point: Point) -> bool:
    k, weights = point["k"], point["weights"]
    return (
        isinstance(k, int)
        and 1 <= k <= 100
        and abs(sum(weights) - 1) < 1e-3
        and len(weights) == 3
        and point["name"] in "ab"
    )


@pytest.mark.parametrize("search", [grid(), random(trials=40)], ids=str)
def test_points_are_inside_and_the_best_is_returned(search: Search) -> None:
    points = list(search.points(SPACE, 5))
    assert all(map(inside, points))
    assert value(search.best(SPACE, value, 5)) == max(map(value, points))
    assert search.best(SPACE, value, 5) == search.best(SPACE, value, 5)


def test_bayesian_search_beats_random_search_on_average(need: Callable[[str], ModuleType]) -> None:
    need("optuna")
    narrow = {"k": Between(0.0, 100.0)}

    def peak(point: Point) -> float:
        return -abs(float(point["k"]) - 37.0)

    def mean(search: Search) -> float:
        return sum(peak(search.best(narrow, peak, seed)) for seed in range(5)) / 5

    assert mean(bayes(trials=30)) > mean(random(trials=30))
    assert all(inside(bayes(trials=5).best(SPACE, value, seed)) for seed in range(3))


def test_a_grid_has_every_combination_and_weights_that_sum_to_one() -> None:
    assert len(grid().points(read_space({"a": [1, 2], "b": "x,y,z"}, 2), 0)) == 6
    weights = Simplex(2).points()
    assert weights[0] == (1.0, 0.0)
    assert len(weights) == 11
    assert Between(1, 100, log=True, whole=True).points()[::9] == (1, 100)


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({"k": "5..1"}, "a lower and a higher number"),
        ({"k": "0..9:log"}, "above 0 with :log"),
        ({"k": "1..9:lin"}, "like k=1..100:log"),
        ({"k": []}, "write values"),
        ({"k": 3}, "write values"),
        ({"k": "a..b"}, "a lower and a higher number"),
    ],
)
def test_bad_values_are_refused_in_one_line(space: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_space(space, 2)


def test_a_grid_that_is_too_large_is_refused() -> None:
    with pytest.raises(InputError, match="search at random"):
        grid().points(read_space({"a": list(range(200)), "b": list(range(200))}, 2), 0)
    with pytest.raises(InputError, match="too many combinations"):
        Simplex(12).points()


def test_numbers_among_words_stay_numbers() -> None:
    """The value that is refused is then the word."""
    assert list(read_space({"k": "1, 10, x"}, 2)["k"].values) == [1, 10, "x"]  # type: ignore[union-attr]
