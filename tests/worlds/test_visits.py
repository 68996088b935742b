"""Visits and effects of simulated users: how many lists a visit has, what orders earn, and sums by arithmetic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.worlds.events import MOST_LISTS, Visits, _before, made_visits
from rankscope.worlds.items import Candidates, judged_candidates, made_candidates, quality_scores
from rankscope.worlds.log import _ratio, design_effect
from rankscope.worlds.world import World


@pytest.mark.parametrize(
    ("name", "more"),
    [
        pytest.param("again_bad", {"attraction": (0.0,)}, id="lists without a click"),
        pytest.param("again_good", {"attraction": (1.0,), "taste": 0.0, "satisfied": 0.0}, id="lists with one"),
    ],
)
@pytest.mark.parametrize("chance", [0.2, 0.5])
def test_a_visit_goes_on_with_the_chance_that_is_set(name: str, more: dict[str, Any], chance: float) -> None:
    """A list is followed by another with this chance, so that visits have 1 / (1 - chance) lists, the longest cut."""
    other: dict[str, Any] = {"again_bad": 0.35, "again_good": 0.35} | {name: chance}
    stays: dict[str, Any] = {"leave_bad": 0.0, "leave_good": 0.0}
    units = rs.simulate(users=1000, items=2, candidates=3, queries=5, **more, **other, **stays).units
    visits, lists = int(units["sessions"].sum()), int(units["lists"].sum())
    expected = (1 - chance**MOST_LISTS) / (1 - chance)
    error = math.sqrt(chance) / (1 - chance) / math.sqrt(visits)
    assert abs(lists / visits - expected) < 4 * error


def visits_of(phase: Any = "log", **options: Any) -> list[Visits]:
    """The visits of 8 x 256 users."""
    world = World(items=2, candidates=3, queries=4, **options)
    return [made_visits(world, made_candidates(world), part, phase) for part in range(8)]


def test_users_come_as_often_and_click_as_readily_as_is_set_in_the_mean() -> None:
    made = visits_of("before", visits=1.0, days=14, activity=0.5, taste=0.6)  # before, nobody has to come
    counts = np.concatenate([np.bincount(one.user, minlength=256) for one in made])
    taste = np.concatenate([one.taste for one in made])
    assert abs(counts.mean() - 14) < 4 * counts.std() / math.sqrt(len(counts))
    assert abs(taste.mean() - 1) < 4 * 0.6 / math.sqrt(len(taste))
    assert taste.std() == pytest.approx(0.6, rel=0.1)


def test_who_comes_at_least_once_comes_as_often_as_chance_says_then_and_at_any_time() -> None:
    made = visits_of(visits=0.15, days=14, activity=0.0)
    counts = np.concatenate([np.bincount(one.user, minlength=256) for one in made])
    days = np.concatenate([one.time for one in made]) / 86_400
    assert counts.min() == 1
    assert abs(counts.mean() - 2.1 / -math.expm1(-2.1)) < 4 * counts.std() / math.sqrt(len(counts))
    assert 0 <= days.min() < days.max() < 14
    assert abs(days.mean() - 14 / 2) < 4 * 14 / math.sqrt(12 * len(days))


def test_queries_are_asked_as_often_as_they_are_popular() -> None:
    asked = np.concatenate([one.query for one in visits_of(popularity=1.0)])
    for query, weight in enumerate((1, 1 / 2, 1 / 3, 1 / 4)):
        share = weight / (1 + 1 / 2 + 1 / 3 + 1 / 4)
        assert abs((asked == query).mean() - share) < 4 * math.sqrt(share * (1 - share) / len(asked))


CERTAIN: dict[str, Any] = {"attraction": (1.0,), "taste": 0.0, "dwell": (30.0,), "dwell_spread": 0.0}


@pytest.mark.parametrize(
    ("satisfied", "stays"), [pytest.param(30.0, True, id="just so long"), pytest.param(30.1, False, id="less")]
)
def test_a_click_satisfies_from_just_so_many_seconds_on(satisfied: float, stays: bool) -> None:
    """Who is satisfied makes one list a visit and comes back; who is not leaves after a visit, and goes on within it."""
    chances: dict[str, Any] = {"again_good": 0.0, "again_bad": 0.9, "leave_good": 0.0, "leave_bad": 1.0, "visits": 1.0}
    units = rs.simulate(users=100, items=2, candidates=3, queries=5, satisfied=satisfied, **CERTAIN, **chances).units
    assert (units["lists"] == units["sessions"]).all() == stays
    assert (units["sessions"] == 1).all() != stays


def test_orders_earn_the_mean_that_is_set() -> None:
    units = rs.simulate(users=1500, items=4, candidates=5, queries=5, conversion=(0.5,), order_spread=0.5).units
    orders = int(units["orders"].sum())
    spread = 40 * math.sqrt(math.expm1(0.5**2))
    assert abs(float(units["revenue"].sum()) / orders - 40) < 4 * spread / math.sqrt(orders)


def test_sums_before_start_again_with_each_group() -> None:
    values, begins = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0]), np.array([0, 3, 5])
    assert _before(values, begins).tolist() == [0, 3, 3 + 1, 0, 1, 0]


def test_queries_have_grades_in_the_shares_that_are_set() -> None:
    made = made_candidates(World(queries=3, candidates=10, grades=(0.5, 0.3, 0.2)))
    for labels in made.labels.tolist():
        assert [labels.count(grade) for grade in (0.0, 1.0, 2.0)] == [5, 3, 2]
    assert np.unique(made.grades).tolist() == [0, 1 / 2, 2 / 2]
    weights = [1.0, 2 ** -World().popularity, 3 ** -World().popularity]
    assert made.popularity == pytest.approx([weight / sum(weights) for weight in weights])


def test_candidates_are_the_first_of_each_run_or_the_best_that_are_judged() -> None:
    qrels = pl.DataFrame({"query_id": ["q"] * 5, "doc_id": list("aabcd"), "grade": [1.0, 0.0, 0.0, 3.0, 2.0]})
    run = pl.DataFrame({"query_id": ["q"] * 4, "doc_id": list("badc"), "rank": [1, 2, 3, 4]})
    world = World(candidates=2)
    (first, scores), (best, none) = judged_candidates(world, qrels, [run]), judged_candidates(world, qrels)
    assert (first.items.to_list(), first.labels.tolist()) == (["a", "b"], [[1.0, 0.0]])
    assert scores[0].tolist() == [[-math.log(2), -math.log(1)]]
    assert (best.items.to_list(), best.labels.tolist(), none) == (["c", "d"], [[3.0, 2.0]], [])


def test_an_effect_has_an_error_from_two_users_on() -> None:
    errors = [rs.simulate("experiment", users=10, truth=users, metrics="CTR").effects[0].error for users in (1, 2)]
    assert [math.isnan(error) for error in errors] == [True, False]


def test_a_ratio_and_what_each_user_adds_to_its_error() -> None:
    value, moved = _ratio(np.array([[1.0, 0.0, 3.0], [2.0, 2.0, 4.0]]))
    assert value == 4 / 8
    assert moved == pytest.approx([(1 - 2 / 2) / (8 / 3), (0 - 2 / 2) / (8 / 3), (3 - 4 / 2) / (8 / 3)])


def test_groups_of_one_user_or_of_no_rows_say_nothing_of_users() -> None:
    clicks, rows = np.array([2.0, 0.0, 2.0, 0.0]), np.full(4, 2.0)
    usual = (4 * 1**2 * 4 / 3) / (8 * 0.5 * 0.5)
    assert design_effect(clicks, rows, np.zeros(4)) == pytest.approx(usual)
    pair = np.array([2.0, 0.0]), np.full(2, 2.0), np.zeros(2)  # one of two users clicks on all
    assert design_effect(*pair) == pytest.approx((2 * 1**2 * 2 / 1) / (4 * 0.5 * 0.5))
    more = np.append(clicks, [1.0, 0.0, 0.0]), np.append(rows, [2.0, 0.0, 0.0])
    assert design_effect(*more, np.array([0, 0, 0, 0, 1, 2, 2])) == pytest.approx(usual)
    assert math.isnan(design_effect(clicks[:1], rows[:1], np.zeros(1)))


def test_memory_is_that_of_rows_of_users_in_work_and_of_candidates() -> None:
    for days in ({"days": 10}, {"days": 3, "before": 10}):
        world: dict[str, Any] = {"users": 1000, "visits": 0.1, "items": 5, "candidates": 8, "queries": 20, **days}
        lists = 1.5 * (1 + 0.1 * 10)  # of a user
        parts = 1000 * lists * 5 * 400, 256 * lists * (12 * 5 + 6 * 8) * 8, 20 * 8 * (8 + 2 * 5) * 8
        assert World(**world).size == sum(parts)


def test_shares_of_grades_may_be_off_by_rounding_and_starts_lie_within_years_that_there_are() -> None:
    for shares in ((0.9991,), (0.5, 0.5009)):
        assert World(grades=shares).grades == shares
    for shares in ((0.999,), (0.5, 0.501)):
        with pytest.raises(InputError, match="the shares of grades must add up to 1"):
            World(grades=shares)
    for start in ("1971-01-01", "2200-12-31"):
        assert str(World(start=start).begins) == f"{start} 00:00:00+00:00"
    for start in ("1970-12-31", "2201-01-01"):
        with pytest.raises(InputError, match="the first day must be in the years 1971 to 2200"):
            World(start=start)


def test_a_score_is_so_many_parts_grade_and_the_rest_noise() -> None:
    noise = np.array([[1.0, -2.0, 0.5, 3.0]])
    labels = np.array([[0.0, 4.0, np.nan, 2.0]])
    made = Candidates(pl.Series(["q"]), np.ones(1), pl.Series(list("abcd")), labels, labels / 4, noise)
    spread = math.sqrt((0.5**2 + 0.5**2 + 0) / 3)  # of the grades 0, 1 and 1/2
    scores = quality_scores(made, 0.25)
    assert scores[0, [0, 1, 3]] == pytest.approx([0.75, 0.25 / spread - 1.5, 0.125 / spread + 2.25], abs=1e-8)
    assert scores[0, 2] == -math.inf
    assert np.argsort(-quality_scores(made, 0)).tolist() == [[3, 0, 1, 2]]
    assert np.argsort(-quality_scores(made, 1)).tolist() == [[1, 3, 0, 2]]
    for wrong in (-0.01, 1.01, True, "1"):
        with pytest.raises(InputError, match="the quality of a ranker is a number from 0"):
            quality_scores(made, wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("items", "candidates"), [(100, 100), (5, 1000)])
def test_the_estimated_memory_holds_what_is_made_at_once_and_not_much_more(items: int, candidates: int) -> None:
    world = World(users=1, queries=1, items=items, candidates=candidates, visits=1.0)
    visits = made_visits(world, made_candidates(world), 0)
    held = sum(value.nbytes for value in vars(visits).values() if isinstance(value, np.ndarray))
    assert held < world.size < 8 * held


def test_the_estimated_memory_holds_the_log_and_not_much_more() -> None:
    for more in ({}, {"days": 28}, {"before": 28}):
        world: dict[str, Any] = {"users": 2000, "items": 10, "candidates": 12, "queries": 5, **more}
        size = rs.simulate(**world).log.estimated_size()
        assert size < World(**world).size < 20 * size


def test_an_effect_is_that_of_each_other_variant_against_the_first() -> None:
    made = rs.simulate("experiment", users=10, quality=(0.2, 0.5, 0.9), truth=300, metrics=["CTR", "ListCTR"])
    assert [(one.arm, one.baseline, str(one.metric)) for one in made.effects] == [
        (name, "control", metric) for name in ("treatment", "treatment_2") for metric in ("CTR", "ListCTR")
    ]
    for metric in ("CTR", "ListCTR"):
        first, second = made["treatment", metric], made["treatment_2", metric]
        assert first.baseline_value == second.baseline_value < first.value < second.value
