"""Click models in plain loops, from their papers: every way in which a user could have looked is written out and summed.

Nothing here knows of rankscope. A page is a list of clicks (0, 1) with the attraction and the satisfaction of the item at each place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

Onward = Callable[
    [int, bool, bool, int], float
]  # place from 1, clicked there, satisfied there, last click: goes on to the next?


def ways(
    clicks: Sequence[int], attraction: Sequence[float], satisfaction: Sequence[float], onward: Onward, independent: bool
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield each way to have looked at the places with the probability of it and of the clicks."""
    places = len(clicks)
    for looked in product((0, 1), repeat=places):
        for content in product((0, 1), repeat=places):
            chance, last = 1.0 if looked[0] else 0.0, 0
            for k in range(places):
                if looked[k]:
                    chance *= attraction[k] if clicks[k] else 1 - attraction[k]
                elif clicks[k]:
                    chance = 0.0
                if clicks[k]:
                    last = k + 1
                    chance *= satisfaction[k] if content[k] else 1 - satisfaction[k]
                elif content[k]:
                    chance = 0.0
                if k + 1 < places:
                    goes = onward(k + 1, bool(clicks[k]), bool(content[k]), last) if looked[k] or independent else 0.0
                    chance *= goes if looked[k + 1] else 1 - goes
            if chance:
                yield looked, chance


def position_based(theta: Sequence[float]) -> Onward:
    """Examination of the next place, whatever happened."""
    return lambda place, clicked, content, last: theta[place]


def user_browsing(gamma: dict[tuple[int, int], float]) -> Onward:
    """Examination by the place and the last click above."""
    return lambda place, clicked, content, last: gamma[place + 1, last]


def cascade() -> Onward:
    """Down to the first click."""
    return lambda place, clicked, content, last: 0.0 if clicked else 1.0


def dependent_clicks(again: Sequence[float]) -> Onward:
    """After a click a user goes on by the place."""
    return lambda place, clicked, content, last: again[place] if clicked else 1.0


def click_chain(skipped: float, unsatisfied: float, satisfied: float) -> Onward:
    """After a click a user goes on by whether it satisfied, which is as probable as the attraction."""
    return lambda place, clicked, content, last: (satisfied if content else unsatisfied) if clicked else skipped


def dynamic_bayesian(gamma: float) -> Onward:
    """Until a click satisfies, with gamma at each place."""
    return lambda place, clicked, content, last: 0.0 if content else gamma


def harvest(
    clicks: Sequence[Sequence[float]],
    skips: Sequence[Sequence[float]],
    p: Sequence[float],
    r: Sequence[Sequence[float]],
) -> float:
    """The log-likelihood of intervention harvesting over all pairs of places (Agarwal et al., WSDM 2019)."""
    from math import log

    places = range(len(p))
    return sum(
        clicks[k][j] * log(p[k] * r[k][j]) + skips[k][j] * log(1 - p[k] * r[k][j])
        for k in places
        for j in places
        if k != j
    )
