"""Interleaved lists: two rankers' items by team draft, and exactly how probable a list and an item at its place are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from rankscope.behaviour.policies import ranked
from rankscope.lists import Array


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
    taken = np.zeros((many, wide + 1), dtype=bool)  # the last stands for none
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
        picks = np.where(best[0] < 0, 1, np.where(best[1] < 0, 0, picks))  # who has none left lets the other pick
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
    """Where the best that is left stands in each ranking, from where it stood; the end where none is."""
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
    """Each item that can be picked, at which place, and how probable that is from one set of items that are gone."""
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
    """The first item of a ranking that is not gone; -1 where none is."""
    return next((item for item in ranking if item < 0 or not gone >> item & 1), -1)
