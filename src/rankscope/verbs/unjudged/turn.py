"""Which unjudged documents, if relevant, would reverse the difference of two runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rankscope.lists import Array
from rankscope.verbs.unjudged.cells import Cells
from rankscope.verbs.unjudged.effects import MeanParts, SingleEffects, as_terms

STEPS = 5000  # documents that are graded one after the other
SAME = 1e-12  # a difference as small as this is none


@dataclass(frozen=True)
class Pair:
    """Two of the runs, by number; their difference is the first less the second."""

    first: int
    second: int

    @property
    def signed(self) -> tuple[tuple[int, float], tuple[int, float]]:
        """Each run with the sign it has in the difference."""
        return (self.first, 1.0), (self.second, -1.0)


@dataclass(eq=False)
class _Climb:
    """Documents that get the top grade one after the other, each the one that helps most beside those before it.

    ``gain`` is what each document would take from the difference, of which there is ``left``.
    """

    cells: Cells
    means: Sequence[MeanParts]
    pair: Pair
    top: float
    left: float
    sign: float
    gain: Array
    tried: Array
    grades: Array = field(init=False)

    def __post_init__(self) -> None:
        self.grades = np.full(self.gain.shape, np.nan)

    def take(self, query: int, place: int, alone: bool) -> None:
        """Give one more document the top grade; where documents do not earn ``alone``, look again at those of its query."""
        self.left -= self.gain[query, place]
        self.grades[query, place] = self.top
        self.gain[query, place] = 0.0
        if not alone:
            self._look_again(query)

    def _look_again(self, query: int) -> None:
        others = np.flatnonzero(self.tried[query] & np.isnan(self.grades[query]))
        rows = np.tile(self.grades[query], (len(others) + 1, 1))
        rows[np.arange(len(others)) + 1, others] = self.top
        moved = np.zeros(len(rows))
        for run, sign in self.pair.signed:
            mean = self.means[run]
            value = self.cells.values(run, np.full(len(rows), query), rows)
            terms = as_terms(mean.aggregate, value)
            moved += sign * mean.weight[query] * (terms - terms[0]) / mean.whole
        self.gain[query] = 0.0
        self.gain[query, others] = -self.sign * np.nan_to_num(moved[1:], nan=0.0)


def reversing(
    cells: Cells, means: Sequence[MeanParts], pair: Pair, effects: SingleEffects, top: float, alone: bool
) -> list[tuple[int, int]] | None:
    """Documents (query and place) that would reverse a difference if they had the top grade; None where none were found.

    The one that helps most is taken first, then the one that helps most beside it, and so on: the fewest there are where each
    document earns on its own (``alone``), else no more than are needed for certain.
    """
    difference = means[pair.first].mean - means[pair.second].mean
    if math.isnan(difference) or abs(difference) <= SAME:
        return None
    sign = math.copysign(1.0, difference)
    step = sum(s * means[run].step_in_terms(effects.perfect[run]) for run, s in pair.signed)
    climb = _Climb(
        cells,
        means,
        pair,
        top,
        left=abs(difference),
        sign=sign,
        gain=-sign * np.nan_to_num(step, nan=0.0),
        tried=effects.considered,
    )
    picked: list[tuple[int, int]] = []
    while climb.left >= -SAME:
        query, place = (int(i) for i in np.unravel_index(int(climb.gain.argmax()), climb.gain.shape))
        if climb.gain[query, place] <= SAME or len(picked) >= STEPS:
            return None
        climb.take(query, place, alone)
        picked.append((query, place))
    return picked
