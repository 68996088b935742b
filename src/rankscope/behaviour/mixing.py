"""Ways of mixing the rankings of several rankers into one list: one class each, with the exact probability of a list.

``Mixing.mix`` makes one list, for serving. ``team_draft`` makes many at once, for simulated users.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import count, filterfalse, islice
from struct import Struct
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from rankscope import words
from rankscope.behaviour.browsing import Decay, attention
from rankscope.behaviour.policies import ranked
from rankscope.declared import Declared, Param, whole_number
from rankscope.errors import InputError
from rankscope.lists import Array

# --- one list at a time -------------------------------------------------------------------------------------------


Rankings = Sequence[Sequence[Any]]
NUMBERS = Struct("<16I")
Pick = Callable[[int | Sequence[float]], int]  # a place below a number, each as likely, or in proportion to weights


class MixedList(NamedTuple):
    """A mixed list of ``rankings``: its ``items``, and the ranker (0, 1, ...) that contributed each. The team is -1 if no ranker did."""

    items: tuple[Any, ...]
    teams: tuple[int, ...]
    method: Mixing
    rankings: Rankings

    @property
    def probability(self) -> float:
        """The probability of these items in this order."""
        return self.method.chance(self.rankings, self.items)

    @property
    def ranks(self) -> list[list[int | None]]:
        """The rank of each item by each ranker, one row per ranker; None if the ranker does not have it."""
        tables = [{item: rank for rank, item in enumerate(ranking, 1)} for ranking in self.rankings]
        return [[table.get(item) for item in self.items] for table in tables]

    @property
    def prefix(self) -> list[float] | None:
        """The probability of the list down to each place; None if the method knows only whole lists."""
        if not self.method.by_place:
            return None
        return [self.method.chance(self.rankings, self.items[:place]) for place in range(1, len(self.items) + 1)]

    @property
    def credits(self) -> list[list[float]] | None:
        """The credit of each ranker for a click at each place, one row per ranker; None if that depends on other clicks."""
        return self.method.credits(self)


def _drawn(seed: int, impression: Any, used: int) -> bytes:
    """Return the next 16 whole numbers below 2**32 of an impression after ``used`` ones."""
    return blake2b(f"{seed}:{impression}:{used}".encode()).digest()


class Coins:
    """Random numbers of one impression: equal seeds and impressions give equal numbers on every machine.

    >>> one, same = Coins(7, "list-1"), Coins(7, "list-1")
    >>> [one.pick(2) for _ in range(4)] == [same.pick(2) for _ in range(4)]
    True
    """

    def __init__(self, seed: int, impression: Any) -> None:
        self.numbers: Iterator[int] = (
            number for used in count(0, 16) for number in NUMBERS.unpack(_drawn(seed, impression, used))
        )

    def uniform(self) -> float:
        """Return the next number, at least 0 and below 1."""
        return next(self.numbers) / 4_294_967_296.0

    def pick(self, weights: int | Sequence[float]) -> int:
        """Return a place in ``weights``, in proportion to them; of a number, a place below it."""
        if isinstance(weights, int):
            return next(self.numbers) * weights >> 32
        point = self.uniform() * math.fsum(weights)
        for place, weight in enumerate(weights):
            point -= weight
            if point < 0:
                return place
        return max(place for place, weight in enumerate(weights) if weight > 0)


class Mixing(Declared, kind="mixing"):
    """Base of every way of mixing the rankings of two or more rankers into one list.

    A subclass defines ``draw`` (one list, with its random choices made by ``pick``), ``chance`` (the probability of a list), and
    ``credits`` if a click does not earn the ranker of its team. ``most`` is the largest number of rankers. ``credit`` names the usual
    credit of its logs. ``rounds`` is true if every ranker contributes one item per round, ``by_place`` if ``chance`` also takes the
    first places of a list.
    """

    most: ClassVar[int] = 2
    credit: ClassVar[str] = "LoggedCredit"
    rounds: ClassVar[bool] = False
    by_place: ClassVar[bool] = True
    source: ClassVar[str] = ""

    def draw(self, rankings: Rankings, k: int, pick: Pick) -> tuple[list[Any], list[int]]:
        """Return the items of a list and their teams."""
        raise TypeError(f"{type(self).__name__} does not define draw()")

    def chance(self, rankings: Rankings, items: Sequence[Any]) -> float:
        """Return the probability that a list has these items in this order."""
        raise TypeError(f"{type(self).__name__} does not define chance()")

    def credits(self, mixed: MixedList) -> list[list[float]] | None:
        """Return the credit of each ranker for a click at each place: one row per ranker; None if that depends on other clicks."""
        return [[float(team == ranker) for team in mixed.teams] for ranker in range(len(mixed.rankings))]

    def mix(self, rankings: Rankings, k: int = 10, seed: int = 0, impression: Any = "") -> MixedList:
        """Mix rankings, the best item first in each, into one list of ``k`` items, or fewer if there are fewer.

        The list depends only on the rankings, ``k``, ``seed`` and ``impression`` (the id of the list), so it can be made again from a log.
        Raises InputError for fewer than two rankings, too many, an empty ranking, or an item that a ranking has twice.

        >>> found = TeamDraft().mix([["a", "b", "c"], ["b", "d", "a"]], k=3, seed=7, impression="list-1")
        >>> found.items, found.teams, found.probability
        (('a', 'b', 'c'), (0, 1, 0), 0.25)
        """
        check_rankings(self, rankings, k)
        items, teams = self.draw(rankings, k, Coins(seed, impression).pick)
        return MixedList(tuple(items), tuple(teams), self, rankings)

    def outcomes(self, rankings: Rankings, k: int) -> dict[tuple[tuple[Any, ...], tuple[int, ...]], float]:
        """Return every list that can come out, as items and teams, with its probability: all random choices are followed.

        >>> TeamDraft().outcomes([["a", "b"], ["b", "a"]], 1)
        {(('a',), (0,)): 0.5, (('b',), (1,)): 0.5}
        """
        check_rankings(self, rankings, k)
        chances: dict[tuple[tuple[Any, ...], tuple[int, ...]], float] = defaultdict(float)
        ahead: deque[tuple[int, ...]] = deque([()])
        while ahead:
            path = _Path(ahead.popleft(), ahead)
            items, teams = self.draw(rankings, k, path.pick)
            chances[tuple(items), tuple(teams)] += path.chance
        return dict(chances)


class _Path:
    """Choices that follow a path from its start, and queue the paths that branch off after it."""

    def __init__(self, start: tuple[int, ...], ahead: deque[tuple[int, ...]]) -> None:
        self.start, self.ahead, self.taken, self.chance = start, ahead, list[int](), 1.0

    def pick(self, weights: int | Sequence[float]) -> int:
        weights = (1.0,) * weights if isinstance(weights, int) else weights
        possible = [place for place, weight in enumerate(weights) if weight > 0]
        step = len(self.taken)
        choice = self.start[step] if step < len(self.start) else possible[0]
        if step >= len(self.start):
            self.ahead.extend((*self.taken, other) for other in possible[1:])
        self.taken.append(choice)
        self.chance *= weights[choice] / math.fsum(weights)
        return choice


def check_rankings(method: Mixing, rankings: Rankings, k: int) -> None:
    """Refuse rankings that cannot be mixed. Raises InputError."""
    if k.__class__ is not int or k < 1:
        whole_number("k", k, 1, "the length of a list is a whole number of 1 or more")
    if len(rankings) < 2 or (len(rankings) > method.most > 0):
        wanted = "two rankings" if method.most == 2 else "two rankings or more"
        raise InputError(f"{method} mixes {wanted}, and there {words.agree(len(rankings), 'is')} {len(rankings)}")
    for number, ranking in enumerate(rankings, 1):
        if not (size := len(ranking)):
            raise InputError(f"ranking {number} is empty: give at least one item, or show the other ranking as it is")
        if len({*ranking}) < size:
            twice = next(item for place, item in enumerate(ranking) if item in ranking[:place])
            raise InputError(f"ranking {number} has {twice!r} twice: keep each item once, at its best rank")


class TeamDraft(Mixing, aliases=("team_draft", "TDI", "TeamDraftMultileave")):
    """Rankers pick in turns, like captains: in each round, in random order, each adds its best item that is left.

    A click counts for the ranker that picked the item. Takes two rankers or more.
    """

    most, credit, rounds = 0, "TeamCredit", True
    source = "Radlinski, Kurup and Joachims, How does clickthrough data reflect retrieval quality? CIKM 2008; Schuth et al., CIKM 2014"

    def mix(self, rankings: Rankings, k: int = 10, seed: int = 0, impression: Any = "") -> MixedList:
        """Mix as ``draw`` does; two rankings by a shorter way, for serving."""
        if len(rankings) != 2:
            return super().mix(rankings, k, seed, impression)
        first, second = rankings
        if not (k.__class__ is int and k > 0 and len({*first}) == len(first) > 0 < len(second) == len({*second})):
            check_rankings(self, rankings, k)
        picked: dict[Any, int] = {}
        one, other = filterfalse(picked.__contains__, first).__next__, filterfalse(picked.__contains__, second).__next__
        coins = _drawn(seed, impression, 0)[3::4]  # whose first bit is the choice of draw() between 2
        if k > 2 * len(coins):
            coins = b"".join(_drawn(seed, impression, used)[3::4] for used in range(0, k, 16))
        try:
            for coin in coins[: k // 2]:
                if coin > 127:
                    picked[other()] = 1
                    picked[one()] = 0
                else:
                    picked[one()] = 0
                    picked[other()] = 1
            if k % 2:
                picked[other() if coins[k // 2] > 127 else one()] = coins[k // 2] >> 7
        except StopIteration:  # a ranker has no item left: the other goes on
            for ranker, ranking in enumerate(rankings):
                left = (item for item in ranking if item not in picked)
                picked.update(dict.fromkeys(islice(left, k - len(picked)), ranker))
        return tuple.__new__(MixedList, (tuple(picked), tuple(picked.values()), self, rankings))  # faster than a call

    def draw(self, rankings: Rankings, k: int, pick: Pick) -> tuple[list[Any], list[int]]:
        picked: dict[Any, int] = {}  # the team of each item, in the order of the list
        left, able = [iter(ranking) for ranking in rankings], [*range(len(rankings))]
        while able:
            waiting = able.copy()
            while waiting:
                ranker = waiting.pop(pick(len(waiting)) if len(waiting) > 1 else 0)
                for item in left[ranker]:
                    if item not in picked:
                        picked[item] = ranker
                        if len(picked) == k:
                            return [*picked], [*picked.values()]
                        break
                else:
                    able.remove(ranker)
        return [*picked], [*picked.values()]

    def chance(self, rankings: Rankings, items: Sequence[Any]) -> float:
        gone, at = set[Any](), [0] * len(rankings)
        waiting: dict[tuple[int, ...], float] = {(): 1.0}  # the rankers that have not picked in this round
        for item in items:
            able = [ranker for ranker in range(len(rankings)) if _advance(rankings, at, ranker, gone)]
            later: dict[tuple[int, ...], float] = defaultdict(float)
            for state, chance in waiting.items():
                left = [ranker for ranker in state if ranker in able] or able
                for ranker in left:
                    if rankings[ranker][at[ranker]] == item:
                        later[tuple(other for other in left if other != ranker)] += chance / len(left)
            waiting = later
            gone.add(item)
        return math.fsum(waiting.values())


def _advance(rankings: Rankings, at: list[int], ranker: int, gone: set[Any]) -> bool:
    """Move a ranker to its best item that is left. False without one."""
    ranking, place = rankings[ranker], at[ranker]
    while place < len(ranking) and ranking[place] in gone:
        place += 1
    at[ranker] = place
    return place < len(ranking)


class Balanced(Mixing, aliases=("balanced", "BI")):
    """A coin decides which ranker starts; then both add their items in turn, and an item that is already in the list is passed over.

    Clicks are compared down to the lowest clicked item. A ranker can win by this without being better (see ``DebiasedBalanced``).
    """

    credit = "BalancedCredit"
    source = "Joachims, Evaluating retrieval performance using clickthrough data, Text Mining 2003; Radlinski et al., CIKM 2008"

    def draw(self, rankings: Rankings, k: int, pick: Pick) -> tuple[list[Any], list[int]]:
        first = pick(2)
        items, teams, seen, at = list[Any](), list[int](), set[Any](), [0, 0]
        while len(items) < k and (at[0] < len(rankings[0]) or at[1] < len(rankings[1])):
            ranker = first if at[first] <= at[1 - first] else 1 - first
            ranker = ranker if at[ranker] < len(rankings[ranker]) else 1 - ranker
            item = rankings[ranker][at[ranker]]
            at[ranker] += 1
            if item not in seen:
                seen.add(item)
                items.append(item)
                teams.append(ranker)
        return items, teams

    def chance(self, rankings: Rankings, items: Sequence[Any]) -> float:
        return sum(both == list(items) for both in self.both(rankings, len(items))) / 2

    def both(self, rankings: Rankings, k: int) -> list[list[Any]]:
        """Return the two lists, by the ranker that starts."""
        return [self.draw(rankings, k, pick)[0] for pick in (lambda _: 0, lambda _: 1)]

    def credits(self, mixed: MixedList) -> list[list[float]] | None:
        return None


class DebiasedBalanced(Balanced, aliases=("debiased_balanced", "DBI")):
    """Lists as by ``Balanced``; a click earns a ranker the attention that its own list gives the item, over the attention that the item gets on average.

    Attention falls as place to the power of -``decay``. The expected credit of a ranker is the number of clicks on its own list, if users
    examine places by their number. Credit counts down to the rank to which both rankings are always shown, so that neither gains by the cut.
    Source: after Bi et al., Debiased balanced interleaving at Amazon Search, CIKM 2022 (counterfactual credit on balanced lists).
    """

    credit = "LoggedCredit"
    source = "after Bi et al., Debiased balanced interleaving at Amazon Search, CIKM 2022"

    decay: Decay = 0.85

    def credits(self, mixed: MixedList) -> list[list[float]] | None:
        weight = attention(max(len(mixed.items), *map(len, mixed.rankings)), self.decay).tolist()
        both = self.both(mixed.rankings, len(mixed.items))
        average: dict[Any, float] = defaultdict(float)
        for place, items in enumerate(zip(*both, strict=True)):
            for item in items:
                average[item] += weight[place] / 2
        depth = min(
            next((place for place, item in enumerate(ranking) if item not in shown), len(ranking))
            for ranking in mixed.rankings
            for shown in map(set, both)
        )
        return [
            [weight[rank - 1] / average[item] if rank and rank <= depth else 0.0 for rank, item in zip(row, mixed.items, strict=True)]
            for row in mixed.ranks
        ]  # fmt: skip


class Probabilistic(Mixing, aliases=("probabilistic", "PI", "ProbabilisticMultileave")):
    """At each place a ranker is chosen at random, and draws an item that is left in proportion to 1 / rank^tau.

    The credit of a click is the probability of each ranker given the list (marginalised over teams), one division per place. Takes two
    rankers or more.
    """

    most = 0
    source = "Hofmann, Whiteson and de Rijke, A probabilistic method for inferring preferences from clicks, CIKM 2011; Schuth et al., SIGIR 2015"

    tau: Annotated[float, Param("how fast the probability of an item falls with its rank", low=0.0, high=20.0)] = 3.0

    def draw(self, rankings: Rankings, k: int, pick: Pick) -> tuple[list[Any], list[int]]:
        left, items, teams = self._weights(rankings), list[Any](), list[int]()
        while len(items) < k and (able := [ranker for ranker, weights in enumerate(left) if weights]):
            ranker = able[pick(len(able))]
            item = list(left[ranker])[pick(list(left[ranker].values()))]
            for weights in left:
                weights.pop(item, None)
            items.append(item)
            teams.append(ranker)
        return items, teams

    def chance(self, rankings: Rankings, items: Sequence[Any]) -> float:
        return math.prod(math.fsum(step) for step in self._steps(rankings, items))

    def credits(self, mixed: MixedList) -> list[list[float]] | None:
        steps = [[share / math.fsum(step) for share in step] for step in self._steps(mixed.rankings, mixed.items)]
        return [list(row) for row in zip(*steps, strict=True)]

    def _weights(self, rankings: Rankings) -> list[dict[Any, float]]:
        return [{item: rank**-self.tau for rank, item in enumerate(ranking, 1)} for ranking in rankings]

    def _steps(self, rankings: Rankings, items: Sequence[Any]) -> Iterator[list[float]]:
        """The probability of each item by each ranker, given the items before it."""
        left = self._weights(rankings)
        for item in items:
            able = sum(bool(weights) for weights in left)
            yield [weights[item] / math.fsum(weights.values()) / able if item in weights else 0.0 for weights in left]
            for weights in left:
                weights.pop(item, None)


class PairwisePreference(Mixing, aliases=("pairwise_preference", "PPM")):
    """Each place gets any item, equally likely, that a ranker has at this rank or above and that is left.

    A click says that an item is better than the items above it and next to it that were not clicked; it counts for rankers that agree.
    Takes two rankers or more.
    """

    most, credit = 0, "PairwiseCredit"
    source = "Oosterhuis and de Rijke, Sensitive and scalable online evaluation with theoretical guarantees, CIKM 2017"

    def draw(self, rankings: Rankings, k: int, pick: Pick) -> tuple[list[Any], list[int]]:
        items = list[Any]()
        while len(items) < k and (able := _within_rank(rankings, len(items) + 1, items)):
            items.append(able[pick(len(able))])
        return items, [-1] * len(items)

    def chance(self, rankings: Rankings, items: Sequence[Any]) -> float:
        able = [_within_rank(rankings, place + 1, items[:place]) for place in range(len(items))]
        return math.prod((item in some) / len(some) for item, some in zip(items, able, strict=True))

    def credits(self, mixed: MixedList) -> list[list[float]] | None:
        return None


def _within_rank(rankings: Rankings, rank: int, gone: Sequence[Any]) -> list[Any]:
    """The items that some ranking has down to a rank and that are left."""
    return [item for item in dict.fromkeys(item for ranking in rankings for item in ranking[:rank]) if item not in gone]


# --- many lists at once ---------------------------------------------------------------------------------------------


def team_draft(one: Array, other: Array, query: Array, coin: Array, items: int) -> tuple[Array, Array, Array]:
    """Lists of two rankers' items, as two captains choose teams: in each round a coin says who goes first, and each takes its best that is left.

    Gives the candidates (lists x places, -1 past the end), whose pick each is, 0 or 1, and how probable the list was down to each place,
    whoever picked what. Who has taken what says all that the next round depends on, so a list is as probable as its rounds, one
    times the other.
    Source: Radlinski, Kurup and Joachims, How does clickthrough data reflect retrieval quality? CIKM 2008.
    """
    rankings = [ranked(scores, scores.shape[1])[query] for scores in (one, other)]
    many, wide = rankings[0].shape
    rows = np.arange(many)
    taken = np.zeros((many, wide + 1), dtype=bool)  # the last column is for the end of a ranking
    order, team = np.full((many, items), -1), np.full((many, items), -1, dtype=np.int8)
    prefix, before = np.ones((many, items)), np.ones(many)
    first = np.zeros(many, dtype=bool)
    opens: tuple[Array, ...] = ()  # whether the first item of a round is the one that either captain would open with
    at = [np.zeros(many, dtype=int), np.zeros(many, dtype=int)]
    for place in range(min(items, wide)):
        if place % 2 == 0:
            first = coin[:, place] < 0.5
        picks = np.where(first, 0, 1) if place % 2 == 0 else np.where(first, 1, 0)
        best = []
        for captain in (0, 1):
            at[captain] = _next_left(rankings[captain], at[captain], taken)
            best.append(np.append(rankings[captain], np.full((many, 1), -1), axis=1)[rows, at[captain]])
        picks = np.where(best[0] < 0, 1, np.where(best[1] < 0, 0, picks))  # a captain without items lets the other pick
        choice = np.where(picks == 0, best[0], best[1])
        likes = [np.where(best[turn] < 0, best[1 - turn], best[turn]) == choice for turn in (0, 1)]
        if place % 2 == 0:
            opens = (likes[0], likes[1])
            prefix[:, place] = before * (opens[0] / 2 + opens[1] / 2)
        else:  # who did not open goes second
            before = before * ((opens[0] & likes[1]) / 2 + (opens[1] & likes[0]) / 2)
            prefix[:, place] = before
        order[:, place], team[:, place] = choice, np.where(choice >= 0, picks, -1)
        taken[rows, choice] = True
        taken[:, -1] = False
    prefix[:, wide:] = prefix[:, wide - 1 : wide]
    return order, team, prefix


def _next_left(ranking: Array, at: Array, taken: Array) -> Array:
    """The position of the best item left in each ranking, searched from the last position. The length of the ranking if no item is left."""
    rows, wide = np.arange(len(ranking)), ranking.shape[1]
    while True:
        here = np.minimum(at, wide - 1)
        gone = (at < wide) & (ranking[rows, here] >= 0) & taken[rows, ranking[rows, here]]
        if not gone.any():
            return np.where((at < wide) & (ranking[rows, here] < 0), wide, at)
        at = at + gone


def draft_chances(one: Array, other: Array, items: int) -> Array:
    """How probable each candidate is at each place of a draft, whatever stands elsewhere: queries x candidates x places.

    The rounds of a draft are followed with the chance of each set of items that can be gone by then. A captain has always taken the first of
    its ranking, down to some place, so there are no more such sets than places.

    >>> draft_chances(np.array([[3.0, 2.0, 1.0]]), np.array([[3.0, 1.0, 2.0]]), 2)[0].tolist()
    [[1.0, 0.0], [0.0, 0.5], [0.0, 0.5]]
    """
    rankings = [ranked(scores, scores.shape[1]).tolist() for scores in (one, other)]
    out = np.zeros((*one.shape, items))
    for query, both in enumerate(zip(*rankings, strict=True)):
        for item, place, chance in _picks(both, items):
            out[query, item, place] += chance
    return out


def _picks(rankings: Sequence[Sequence[int]], items: int) -> Iterator[tuple[int, int, float]]:
    """Each item that can be picked, its position, and the probability of the pick given one set of items that are gone."""
    gone = {0: 1.0}  # sets as bits
    for place in range(0, items, 2):
        later: dict[int, float] = defaultdict(float)
        for there, chance in gone.items():
            for opener in (0, 1):
                now = there
                for turn, captain in enumerate((opener, 1 - opener)):
                    item = _best_left(rankings[captain], now)
                    item = _best_left(rankings[1 - captain], now) if item < 0 else item
                    if item >= 0 and place + turn < items:
                        now |= 1 << item
                        yield item, place + turn, chance / 2
                later[now] += chance / 2
        gone = later


def _best_left(ranking: Sequence[int], gone: int) -> int:
    """The first item of a ranking that is not gone, -1 if all are gone."""
    return next((item for item in ranking if item < 0 or not gone >> item & 1), -1)
