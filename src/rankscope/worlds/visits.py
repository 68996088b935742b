"""Who comes, when, and what for: all visits and lists that could be, before anybody has seen one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankscope.lists import Array
from rankscope.worlds.draws import Phase, stream
from rankscope.worlds.items import Candidates
from rankscope.worlds.world import World

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
    """The users of one part, what they could come for in so many days, and in what mood.

    In the phase ``before`` they are the users of the log, with their tastes and habits.
    """

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
    """Each visit's user and its time in seconds: visits at random, given that a user who has to ``come`` does so at least once."""
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
