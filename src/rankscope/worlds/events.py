"""The visits of users, and their actions in the lists shown: clicks, time, money, another query, and whether they come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankscope.behaviour.browsing import Browsing
from rankscope.behaviour.mixing import draft_chances, team_draft
from rankscope.behaviour.policies import LoggingPolicy
from rankscope.lists import Array
from rankscope.worlds.items import Candidates
from rankscope.worlds.world import Phase, World, stream

LOOK = 15.0  # seconds that a list takes, the median, without time on clicked items
PART = 256  # users that are worked on at once; a user's log does not depend on how many there are
MOST_LISTS = 12  # in one visit
MOST_VISITS = 2000  # of one user


@dataclass(frozen=True, eq=False)
class Visits:
    """Some users with their visits and lists in order, as many as there could be if nobody left.

    ``taste`` is how readily each user clicks; ``user`` is the user of each visit and ``time`` its start in seconds from the start; ``visit`` is the
    visit of each list, ``turn`` its number in the visit from 0, ``query`` what it is for. All else that is random is drawn once here, so that
    the same users meet another ranker in the same mood: ``leave`` for each visit, ``again`` and ``pause`` for each list, the others for each place.
    """

    first: int
    taste: Array
    user: Array
    time: Array
    number: Array
    visit: Array
    turn: Array
    query: Array
    leave: Array
    again: Array
    pause: Array
    ranking: Array
    coin: Array
    mood: Array
    click: Array
    dwell: Array
    bought: Array
    spent: Array


def made_visits(
    world: World, candidates: Candidates, part: int, phase: Phase = "log", days: int | None = None
) -> Visits:
    """The users of one part, the visits they could make in ``days``, and their moods."""

    def of(name: str) -> np.random.Generator:
        return stream(world.seed, name, phase, part)

    users = stream(world.seed, "users", "log" if phase == "before" else phase, part)
    span = world.days if days is None else days
    often = world.visits * np.exp(world.activity * users.standard_normal(PART) - world.activity**2 / 2)
    spread = np.log1p(world.taste**2)
    taste = np.exp(np.sqrt(spread) * users.standard_normal(PART) - spread / 2)
    user, time = _visit_times(of("visits"), often, span, come=phase != "before")
    counts = np.bincount(user, minlength=PART)
    number = np.arange(len(user)) - np.repeat(np.cumsum(counts) - counts, counts)
    lists = of("lists")
    turns = np.minimum(lists.geometric(1 - max(world.again_bad, world.again_good), len(user)), MOST_LISTS)
    visit = np.repeat(np.arange(len(user)), turns)
    turn = np.arange(len(visit)) - np.repeat(np.cumsum(turns) - turns, turns)
    many, places = len(visit), world.items
    query = np.searchsorted(np.cumsum(candidates.popularity)[:-1], of("queries").random(many), side="right")
    clicks, orders = of("clicks"), of("orders")
    return Visits(
        part * PART, taste, user, time, number, visit, turn, query, of("moods").random(len(user)), lists.random(many), lists.standard_normal(many),
        of("rankings").random((many, candidates.labels.shape[1] + 1)), of("teams").random((many, places)), of("examination").random((many, places + 1)),
        clicks.random((many, places)), of("dwell").standard_normal((many, places)),
        orders.random((many, places)), orders.standard_normal((many, places)),
    )  # fmt: skip


def _visit_times(draws: np.random.Generator, often: Array, days: float, *, come: bool) -> tuple[Array, Array]:
    """The time of each visit in seconds: visits at random, given that a user who has to ``come`` comes at least once."""
    first = np.zeros(len(often))
    if come:
        first = -np.log1p(-draws.random(len(often)) * -np.expm1(-often * days)) / often
    more = np.minimum(draws.poisson(often * (days - first)), MOST_VISITS)
    user = np.repeat(np.arange(len(often)), more)
    later = first[user] + draws.random(len(user)) * (days - first)[user]
    if come:
        user, later = np.concatenate([np.arange(len(often)), user]), np.concatenate([first, later])
    order = np.lexsort((later, user))
    return user[order], later[order] * 86_400


@dataclass(frozen=True, eq=False)
class Arm:
    """The lists of some users: a ranker's ``scores`` (queries x candidates), shown by a ``policy``. With a ``rival``, two rankers are interleaved."""

    name: str
    scores: Array
    policy: LoggingPolicy
    items: int
    rival: Array | None = None

    @cached_property
    def chances(self) -> Array:
        """The probability of each candidate at each position: queries x candidates x positions."""
        if self.rival is not None:
            return draft_chances(self.scores, self.rival, self.items)
        return self.policy.chances(self.scores, self.items)


@dataclass(frozen=True, eq=False)
class Events:
    """What happened: one row per list that there was, with what lies at each place.

    ``order`` has the candidates (-1 where there are none), ``team`` the ranker that put each there (0, 1; -1 without interleaving), and
    ``prefix`` how probable the list was down to there. ``dwell`` is NaN where nothing was clicked.
    """

    lists: Array
    visit: Array
    user: Array
    arm: Array
    time: Array
    order: Array
    team: Array
    prefix: Array
    examined: Array
    click: Array
    dwell: Array
    conversion: Array
    revenue: Array


class Behaviour:
    """The actions of simulated users on candidates. ``events`` simulates some visits, each list under its arm."""

    def __init__(self, world: World, candidates: Candidates, browsing: Browsing) -> None:
        self.world, self.candidates, self.browsing = world, candidates, browsing
        self.attraction = candidates.by_grade(world.attraction)
        self.conversion = candidates.by_grade(world.conversion)
        self.dwell = np.log(candidates.by_grade(world.dwell))
        self.order_value = np.log(max(world.order_value, 1e-12)) - world.order_spread**2 / 2

    def events(
        self, visits: Visits, arms: Sequence[Arm], arm: Array, *, stay: bool = False, days: float | None = None
    ) -> Events:
        """The events of lists shown by their ``arm``. With ``stay`` no user leaves for good."""
        order, team, prefix = self._shown(visits, arms, arm)
        there = order >= 0
        cell = visits.query[:, None], order
        tempted = there & (visits.click < self.attraction[cell] * visits.taste[visits.user[visits.visit]][:, None])
        examined = there & self.browsing.examine(tempted, visits.mood)
        row, place = np.nonzero(examined & tempted)
        clicked = visits.query[row], order[row, place]
        seconds = np.round(np.exp(self.dwell[clicked] + self.world.dwell_spread * visits.dwell[row, place]), 1)
        bought = visits.bought[row, place] < self.conversion[clicked]
        paid = np.exp(self.order_value + self.world.order_spread * visits.spent[row, place])
        paid = np.maximum(np.round(paid, 2), 0.01) if self.world.order_value else np.zeros(len(row))
        money = np.where(bought, paid, 0.0)
        good = np.zeros(len(order), dtype=bool)
        good[row[seconds >= self.world.satisfied]] = True
        kept, time = self._happening(visits, good, np.bincount(row, seconds, minlength=len(order)), stay, days)
        dwell, conversion, revenue = (np.full(order.shape, empty) for empty in (np.nan, 0.0, 0.0))
        for matrix, values in ((dwell, seconds), (conversion, bought), (revenue, money)):
            matrix[row, place] = values
        visit = visits.visit[kept]
        return Events(
            kept, visit, visits.user[visit], arm[kept], time[kept], order[kept], team[kept], prefix[kept], examined[kept],
            (examined & tempted)[kept], dwell[kept], conversion[kept], revenue[kept],
        )  # fmt: skip

    def _shown(self, visits: Visits, arms: Sequence[Arm], arm: Array) -> tuple[Array, Array, Array]:
        order = np.full((len(arm), self.world.items), -1)
        team, prefix = np.full(order.shape, -1, dtype=np.int8), np.ones(order.shape)
        for number, one in enumerate(arms):
            rows = np.flatnonzero(arm == number)
            if not len(rows):
                continue
            query = visits.query[rows]
            if one.rival is None:
                lists, chance = one.policy.show(one.scores, query, visits.ranking[rows], self.world.items)
            else:
                lists, teams, chance = team_draft(one.scores, one.rival, query, visits.coin[rows], self.world.items)
                team[rows, : teams.shape[1]] = teams
            prefix[rows, : chance.shape[1]] = chance
            prefix[rows, chance.shape[1] :] = chance[:, -1:]
            order[rows, : lists.shape[1]] = lists
        return order, team, prefix

    def _happening(
        self, visits: Visits, good: Array, seconds: Array, stay: bool, days: float | None
    ) -> tuple[Array, Array]:
        """The lists that happen, and their times: lists that no stop or departure prevents, in order of time."""
        world = self.world
        most = max(world.again_bad, world.again_good)
        goes_on = visits.again * most < np.where(good, world.again_good, world.again_bad)
        begins = np.flatnonzero(visits.turn == 0)
        lasts = LOOK * np.exp(0.5 * visits.pause) + seconds
        reached = _before(~goes_on, begins) == 0
        time = np.round(visits.time[visits.visit] + _before(lasts, begins), 3)
        reached &= time < (world.days if days is None else days) * 86_400
        if len(begins) and not stay:
            success = np.logical_or.reduceat(reached & good, begins)
            left = visits.leave < np.where(success, world.leave_good, world.leave_bad)
            starts = np.flatnonzero(visits.number == 0)
            reached &= (_before(left, starts) == 0)[visits.visit]
        return np.flatnonzero(reached), time


def _before(values: Array, begins: Array) -> Array:
    """The sum of the values before each value in its group. ``begins`` marks the first value of each group."""
    total: Array = np.cumsum(values, dtype=float) - values
    return np.asarray(total - np.repeat(total[begins], np.diff(np.append(begins, len(values)))))
