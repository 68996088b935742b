"""The walk of a user down a page, places x pages: forward and backward sums give the chance of the clicks and the expected counts of a step of EM."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankscope.behaviour.browsing import LEARNED, Browsing, TableRows
from rankscope.lists import Array

LEAST = 1e-6  # the probability of a click or of a skip that a model rules out


@dataclass(frozen=True, eq=False)
class Expected:
    """Expected counts of one step.

    ``tried`` and ``taken`` are of each row of the table, ``examined`` of each place of each page, ``satisfied`` of each place but the last.
    """

    tried: Array
    taken: Array
    examined: Array
    satisfied: Array | None


class Walk:
    """Some pages under a browsing model with its ``table``, and the probabilities that items attract and satisfy.

    ``chance`` is the probability of what was observed at each place, given the clicks above, and ``looked`` that of examination, given the
    clicks down to there. ``sure`` is the probability that the item was clicked and satisfied.
    """

    def __init__(
        self, browsing: Browsing, table: Array, attraction: Array, satisfaction: Array | None, click: Array
    ) -> None:
        self.browsing, self.click, self.skip = browsing, click, ~click
        self.table = np.maximum(table, LEAST)
        self.sure = None if satisfaction is None else (satisfaction * click)[:-1]
        self.emitted = np.where(click, attraction, 1 - attraction)
        self.rows: list[TableRows] = []
        self.chance, self.looked = np.empty(click.shape), np.empty(click.shape)
        self._forward()

    def _forward(self) -> None:
        places, pages = self.click.shape
        last = np.zeros(pages, dtype=np.int32)
        chance: Array | float = 1.0
        for place in range(places):
            if place:
                above = self.click[place - 1]
                if self.browsing.remembers:
                    last = np.where(above, place, last)
                self.rows.append(self.browsing.rows(place, above, last, places))
                chance = self._chance(place)
            self.looked[place] = chance * self.emitted[place]
            self.chance[place] = self.looked[place] + (1 - chance) * self.skip[place]
            self.looked[place] /= self.chance[place]

    def _chance(self, place: int) -> Array:
        """The probability to examine a place, given the clicks above."""
        rows, above = self.rows[place - 1], self.looked[place - 1]
        onward = self.table[rows.looked]
        if rows.unlooked is rows.looked:  # does not depend on examination of the place above
            return np.asarray(onward)
        if self.sure is not None:
            onward = onward + self.sure[place - 1] * (self.table[rows.satisfied] - onward)
        anew = self.table[rows.unlooked]
        return np.asarray(above * (onward - anew) + anew)

    def expected(self) -> Expected:
        """Expected examinations and satisfactions, given all clicks of each page."""
        counts = Expected(np.zeros(len(self.table)), np.zeros(len(self.table)), self.looked.copy(), self.sure)
        after: Array | float = (
            1.0  # the probability of all clicks below, if the place is examined, relative to that given the clicks above
        )
        after_none: Array | float = 1.0  # and if it is not
        for place in range(len(self.click) - 1, 0, -1):
            rows, above = self.rows[place - 1], self.looked[place - 1]
            seen = self.emitted[place] / self.chance[place] * after
            unseen = self.skip[place] / self.chance[place] * after_none
            if rows.unlooked is rows.looked:
                onward = self.table[rows.looked]
                taken = onward * seen
                tried = taken + (1 - onward) * unseen
                after = after_none = tried
                _add(counts, rows.looked, tried, taken)
            else:
                after, after_none = self._before(place, seen, unseen, counts)
                counts.examined[place - 1] = above * after
        return counts

    def _before(self, place: int, seen: Array, unseen: Array, counts: Expected) -> tuple[Array, Array]:
        """What is expected between a place and the one above it, whose own ``after`` and ``after_none`` are returned."""
        rows, above = self.rows[place - 1], self.looked[place - 1]
        gain = seen - unseen
        onward, anew = self.table[rows.looked], self.table[rows.unlooked]
        after, after_none = unseen + onward * gain, unseen + anew * gain
        still = above
        if self.sure is not None and counts.satisfied is not None:
            sure, content = self.sure[place - 1], self.table[rows.satisfied]
            after_content, after_click = unseen + content * gain, after
            still, satisfied = above * (1 - sure), above * sure
            after = after_click + sure * (after_content - after_click)
            counts.satisfied[place - 1] = satisfied * after_content
            _add(counts, rows.satisfied, counts.satisfied[place - 1], satisfied * content * seen)
            _add(counts, rows.looked, still * after_click, still * onward * seen)
        else:
            _add(counts, rows.looked, still * after, still * onward * seen)
        _add(counts, rows.unlooked, (1 - above) * after_none, (1 - above) * anew * seen)
        return after, after_none


def _add(counts: Expected, rows: Array | int, tries: Array, takes: Array) -> None:
    """Add expected counts to their rows of the table; rows that are not learned are left alone."""
    if isinstance(rows, int):
        if rows >= LEARNED:
            counts.tried[rows] += tries.sum()
            counts.taken[rows] += takes.sum()
        return
    counts.tried[:] += np.bincount(rows, tries, minlength=len(counts.tried))
    counts.taken[:] += np.bincount(rows, takes, minlength=len(counts.taken))
