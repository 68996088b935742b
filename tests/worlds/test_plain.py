"""Users of a simulated world, list by list in plain loops: the same events, with draws that lie on the borders too."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.behaviour.browsing import PositionBased
from rankscope.behaviour.policies import Fixed
from rankscope.worlds.events import Arm, Behaviour, Visits, _visit_times, made_visits
from rankscope.worlds.items import made_candidates, quality_scores
from rankscope.worlds.log import _sums_of_arms
from rankscope.worlds.world import World, stream

DAYS = 3
ROUND: dict[str, Any] = {  # eighths, so that many draws are just as large as the probability that they are compared with
    "users": 256, "days": DAYS, "visits": 0.6, "items": 5, "candidates": 4, "queries": 6, "grades": (0.25, 0.25, 0.25, 0.25),
    "attraction": (0.125, 0.375, 0.5, 0.75), "conversion": (0.125, 0.25, 0.375, 0.5), "taste": 0.0, "dwell": (10.0, 30.0, 50.0, 80.0),
    "dwell_spread": 0.75, "satisfied": 30.0, "again_bad": 0.5, "again_good": 0.25, "leave_bad": 0.25, "leave_good": 0.125, "order_spread": 0.5,
}  # fmt: skip


def made(**more: Any) -> tuple[World, Behaviour, Visits, list[Arm]]:
    """A world whose draws are eighths, and those of normal variables halves; some visits begin at the end or just before it."""
    world = World(**ROUND | more)
    candidates = made_candidates(world)
    visits = made_visits(world, candidates, 0)
    eighths = {name: np.floor(getattr(visits, name) * 8) / 8 for name in ("leave", "again", "mood", "click", "bought")}
    halves = {name: np.round(getattr(visits, name) * 2) / 2 for name in ("pause", "dwell", "spent")}
    time, last = visits.time.copy(), np.append(visits.user[1:] != visits.user[:-1], True)
    time[np.flatnonzero(last)[::3]] = DAYS * 86_400.0
    time[np.flatnonzero(last)[1::3]] = DAYS * 86_400.0 - 0.001
    arms = [Arm(name, quality_scores(candidates, q), Fixed(), world.items) for name, q in (("a", 0.2), ("b", 0.8))]
    return (
        world,
        Behaviour(world, candidates, PositionBased(decay=1.0)),
        replace(visits, **eighths, **halves, time=time),
        arms,
    )


def played(
    world: World, behaviour: Behaviour, visits: Visits, arms: list[Arm], arm: Any, stay: bool, days: float
) -> Any:
    """What happens, visit by visit and list by list."""
    lists, gone = defaultdict(list), set[int]()
    for number, visit in enumerate(visits.visit.tolist()):
        lists[visit].append(number)
    for visit, user in enumerate(visits.user.tolist()):
        if user in gone:
            continue
        passed, satisfied = 0.0, False
        for one in lists[visit]:
            time = round(float(visits.time[visit]) + passed, 3)
            if time >= days * 86_400:
                break
            query, good, spent, places = visits.query[one], False, 0.0, list[Any]()
            scores = arms[arm[one]].scores[query]
            order = sorted(range(len(scores)), key=lambda item: -scores[item])
            for place in range(world.items):
                if place >= len(order):
                    places.append((-1, False, False, None, False, 0.0))
                    continue
                grade = int(behaviour.candidates.labels[query, order[place]])
                examined = place == 0 or visits.mood[one, place] < 1 / (place + 1)
                clicked = bool(examined and visits.click[one, place] < world.attraction[grade])
                stayed = round(math.exp(math.log(world.dwell[grade]) + 0.75 * visits.dwell[one, place]), 1)
                bought = clicked and bool(visits.bought[one, place] < world.conversion[grade])
                worth = world.order_value * math.exp(0.5 * visits.spent[one, place] - 0.5**2 / 2)
                paid = max(round(worth, 2), 0.01) if world.order_value else 0.0
                places.append((order[place], bool(examined), clicked, stayed if clicked else None, bought, paid if bought else 0.0))  # fmt: skip
                if clicked:
                    spent, good = spent + stayed, good or stayed >= world.satisfied
            yield one, visit, user, arm[one], time, places
            satisfied |= good
            passed += 15.0 * math.exp(visits.pause[one] / 2) + spent
            if not visits.again[one] * 0.5 < (world.again_good if good else world.again_bad):
                break
        if not stay and visits.leave[visit] < (world.leave_good if satisfied else world.leave_bad):
            gone.add(user)


@pytest.mark.parametrize(
    ("more", "stay", "days"),
    [
        pytest.param({}, False, None, id="users who leave"),
        pytest.param({"order_value": 0.0}, True, None, id="users who stay and buy what costs nothing"),
        pytest.param({"order_value": 0.01}, False, 1.5, id="some days alone, and orders of a cent"),
        pytest.param({"again_bad": 0.25, "again_good": 0.5}, False, None, id="users who go on once they are satisfied"),
    ],
)
def test_what_users_do_is_what_plain_loops_say(more: dict[str, Any], stay: bool, days: float | None) -> None:
    world, behaviour, visits, arms = made(**more)
    arm = visits.user[visits.visit] % 2
    found = behaviour.events(visits, arms, arm, stay=stay, days=days)
    expected = [*played(world, behaviour, visits, arms, arm, stay, DAYS if days is None else days)]
    assert len(expected) > 300
    assert found.lists.tolist() == [one for one, *_ in expected]
    for at, name in enumerate(("lists", "visit", "user", "arm", "time")):
        np.testing.assert_allclose(getattr(found, name), [row[at] for row in expected], rtol=0, atol=1e-6)
    cells = [list(zip(*row[-1], strict=True)) for row in expected]
    for at, name in enumerate(("order", "examined", "click", "dwell", "conversion", "revenue")):
        of_lists = np.array([[math.nan if cell is None else cell for cell in row[at]] for row in cells], dtype=float)
        np.testing.assert_allclose(getattr(found, name).astype(float), of_lists, rtol=0, atol=1e-9)
    assert (found.team == -1).all()
    assert (found.prefix == 1).all()
    assert np.isin(found.arm, (0, 1)).all()


def test_visits_and_lists_are_numbered_and_no_user_makes_more_than_there_is_room_for() -> None:
    world = World(users=300, items=2, candidates=3, queries=4, again_bad=0.95, again_good=0.95, visits=1.0)
    candidates = made_candidates(world)
    first, second, before, truth = (
        made_visits(world, candidates, *where) for where in ((0,), (1,), (0, "before", 5), (0, "truth"))
    )
    assert (first.first, second.first, len(first.taste)) == (0, 256, 256)
    for numbers, of in ((first.number, first.user), (first.turn, first.visit)):
        counts: dict[int, int] = defaultdict(int)
        for number, one in zip(numbers.tolist(), of.tolist(), strict=True):
            assert number == counts[one]
            counts[one] += 1
    assert first.turn.max() == 11
    assert before.taste.tolist() == first.taste.tolist() != truth.taste.tolist()
    assert before.time.max() <= 5 * 86_400 < first.time.max()
    assert first.ranking.shape == (len(first.visit), 3 + 1)
    assert (first.coin.shape, first.mood.shape) == ((len(first.visit), 2), (len(first.visit), 2 + 1))
    user, time = _visit_times(np.random.default_rng(1), np.full(3, 1e6), 2.0, come=True)
    assert np.bincount(user).tolist() == [2001] * 3
    assert all((np.diff(time[user == one]) >= 0).all() for one in range(3))


@pytest.mark.parametrize("come", [True, False])
def test_users_and_their_visits_are_drawn_as_is_told(come: bool) -> None:
    """A user's rate and taste are lognormal with the means that are set; a first visit has its chance within the days, others come at random after it."""
    world = World(
        users=4, items=2, candidates=3, queries=4, visits=0.5, activity=0.75, taste=0.5, days=10, seed=3, before=6
    )
    made = made_visits(world, made_candidates(world), 1, "log" if come else "before", None if come else 6)
    draws, days = stream(3, "users", "log", 1), 10 if come else 6
    rate, taste = draws.standard_normal(256), draws.standard_normal(256)
    spread = math.log(1 + 0.5**2)
    assert made.taste == pytest.approx([math.exp(math.sqrt(spread) * one - spread / 2) for one in taste.tolist()])
    often = [0.5 * math.exp(0.75 * one - 0.75**2 / 2) for one in rate.tolist()]
    draws = stream(3, "visits", "log" if come else "before", 1)
    first = [0.0] * 256
    if come:
        first = [
            -math.log(1 - u * (1 - math.exp(-n * days))) / n
            for u, n in zip(draws.random(256).tolist(), often, strict=True)
        ]
    more = draws.poisson([n * (days - at) for n, at in zip(often, first, strict=True)]).tolist()
    later = iter(draws.random(sum(more)).tolist())
    times = [
        sorted([at] * come + [at + next(later) * (days - at) for _ in range(count)])
        for at, count in zip(first, more, strict=True)
    ]
    assert made.user.tolist() == [user for user, each in enumerate(times) for _ in each]
    assert made.time == pytest.approx([at * 86_400 for each in times for at in each], rel=1e-9)


def test_an_effect_has_the_error_of_the_mean_difference_between_users() -> None:
    result = rs.simulate("experiment", users=10, quality=(0.2, 0.9), truth=80, metrics=["CTR"], items=4, candidates=6)
    (batch,) = _sums_of_arms(result.scenario, [result.effects[0].metric], 80)
    base, other = (sums[0] for sums in batch)
    moves = []
    for (one, two), (above, below) in zip(base.T, other.T, strict=True):
        usual, value = base[0].sum() / base[1].sum(), other[0].sum() / other[1].sum()
        moves.append((above - value * below) / other[1].mean() - (one - usual * two) / base[1].mean())
    mean = sum(moves) / 80
    assert result.effects[0].error == pytest.approx(math.sqrt(sum((m - mean) ** 2 for m in moves) / 79 / 80))
    assert (result.effects[0].value, result.effects[0].baseline_value) == pytest.approx((value, usual))


def test_launches_have_the_usual_values_that_are_told() -> None:
    found = rs.simulate_launches()
    assert len({row["launch"] for row in found.rows}) == 200
    usual = {"reliability": 0.7, "shared": 0.7, "uneven": 0.0, "rejected": 0.0, "seed": 0}
    assert {name: found.conventions[name] for name in usual} == usual
