"""Optimised interleaving: a linear program chooses how often each list is shown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np

from rankscope.behaviour.mixing import Coins, MixedList, Mixing, Pick, Rankings
from rankscope.declared import Param
from rankscope.errors import DataError
from rankscope.lists import Array

Gain = Literal["inverse", "negative"]
KEPT = 4096  # programs of recent queries


class Optimised(Mixing, aliases=("optimised", "optimized", "Optimized", "OI", "OptimisedMultileave")):
    """Each list has a probability: of all choices that give rankers equal credit for random clicks, the one whose lists are most even.

    A click earns a ranker 1 / rank of the item (``inverse``) or minus its rank (``negative``). An item that a ranker does not have is one
    rank below its last. For each depth, clicks at random down to it earn all rankers the same on average. Takes two rankers or more.
    """

    most, by_place = 0, False
    source = "Radlinski and Craswell, Optimized interleaving for online retrieval evaluation, WSDM 2013; Schuth et al., CIKM 2014"

    gain: Annotated[Gain, Param("the credit of a click by the rank of the item: 1 / rank, or minus the rank")] = (
        "inverse"
    )
    lists: Annotated[int, Param("the largest number of lists that the program chooses from", low=2, high=100_000)] = 512

    def draw(self, rankings: Rankings, k: int, pick: Pick) -> tuple[list[Any], list[int]]:
        lists, probabilities = self.program(rankings, k)
        return list(lists[pick(probabilities)]), [-1] * len(lists[0])

    def chance(self, rankings: Rankings, items: Sequence[Any]) -> float:
        lists, probabilities = self.program(rankings, len(items))
        return dict(zip(lists, probabilities, strict=True)).get(tuple(items), 0.0)

    def credits(self, mixed: MixedList) -> list[list[float]] | None:
        return _credits(mixed.rankings, [mixed.items], self.gain)[0].tolist()  # type: ignore[no-any-return] # of numbers

    def program(self, rankings: Rankings, k: int) -> tuple[tuple[tuple[Any, ...], ...], tuple[float, ...]]:
        """Return the lists that may be shown and the probability of each. Raises DataError if rankers cannot get equal credit.

        >>> lists, probabilities = Optimised().program([["a", "b"], ["b", "a"]], 2)
        >>> lists, [round(p, 6) for p in probabilities]
        ((('a', 'b'), ('b', 'a')), [0.5, 0.5])
        """
        return _program(self, tuple(map(tuple, rankings)), k)


@lru_cache(KEPT)
def _program(
    method: Optimised, rankings: tuple[tuple[Any, ...], ...], k: int
) -> tuple[tuple[tuple[Any, ...], ...], tuple[float, ...]]:
    from scipy.optimize import linprog

    lists = _lists(rankings, k, method.lists)
    earned = np.cumsum(_credits(rankings, lists, method.gain), axis=2)  # lists x rankers x depths
    apart = (earned[:, 1:] - earned[:, :-1]).reshape(len(lists), -1)
    equal = np.vstack([np.ones(len(lists)), apart.T])
    clicks = 1 / np.arange(1, earned.shape[2] + 1)
    each = (np.diff(earned, axis=2, prepend=0.0) * clicks).sum(axis=2)
    spread = ((each - each.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    solution = linprog(spread, A_eq=equal, b_eq=[1.0, *[0.0] * apart.shape[1]], bounds=(0, 1))
    if not solution.success:
        raise DataError(
            f"{method}: no mixture of {len(lists):,} lists gives these rankers equal credit: raise lists, or use TeamDraft()"
        )
    probabilities = np.maximum(solution.x, 0.0)
    return tuple(lists), tuple((probabilities / probabilities.sum()).tolist())


def _lists(rankings: Rankings, k: int, most: int) -> list[tuple[Any, ...]]:
    """The lists of items that are each a ranker's best one left: all lists, or the allowed number, drawn at random."""
    lists: dict[tuple[Any, ...], None] = {(): None}
    size = min(k, len({item for ranking in rankings for item in ranking}))
    for _ in range(size):
        longer = {(*items, item): None for items in lists for item in _next(rankings, items)}
        if len(longer) > most:
            break
        lists = longer
    else:
        return list(lists)
    chance, drawn = Coins(0, "lists"), dict[tuple[Any, ...], None]()
    for _ in range(10 * most):
        items: tuple[Any, ...] = ()
        while len(items) < size:
            able = _next(rankings, items)
            items = (*items, able[chance.pick(len(able))])
        drawn[items] = None
        if len(drawn) == most:
            break
    return list(drawn)


def _next(rankings: Rankings, items: Sequence[Any]) -> list[Any]:
    tops = (next((item for item in ranking if item not in items), None) for ranking in rankings)
    return list(dict.fromkeys(item for item in tops if item is not None))


def _credits(rankings: Rankings, lists: Sequence[Sequence[Any]], gain: Gain) -> Array:
    """The credit of each ranker for a click at each place: lists x rankers x places."""
    tables = [{item: rank for rank, item in enumerate(ranking, 1)} for ranking in rankings]
    ranks = np.array(
        [[[table.get(item, len(table) + 1) for item in items] for table in tables] for items in lists], float
    )
    return 1 / ranks if gain == "inverse" else -ranks
