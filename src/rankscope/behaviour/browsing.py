"""Browsing models: the positions that users examine in a list, and the item after which they stop."""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from rankscope.declared import Declared, Param
from rankscope.lists import Array, each

STOP, GO, LEARNED = 0, 1, 2  # rows of a table: never, always, and the first probability that a log teaches
Decay = Annotated[
    float, Param("how fast attention falls: place k is examined with the chance k to minus this", low=0.0, high=10.0)
]
Chance = Annotated[float, Param("a probability", low=0.0, high=1.0)]


class TableRows(NamedTuple):
    """The rows of the table of probabilities for one position, given the position above: one number, or one per list.

    ``looked`` holds if the position above was examined, ``unlooked`` if not, ``satisfied`` if a click there satisfied the user.
    """

    looked: Array | int
    unlooked: Array | int
    satisfied: Array | int = STOP


class Browsing(Declared, kind="browsing"):
    """Base of every browsing model. The docstring of a class says in one line how positions are examined.

    A model is a table of probabilities (``chances``) and the choice of a row of it for each position (``rows``). Row 0 never looks, row 1
    always does, and the rows from 2 on are those of ``chances``. Users look at position 1. The same class simulates
    users (``examine``) and is fitted to logs, which replaces ``chances`` by what the log teaches.

    ``satisfies`` says what decides if a click satisfies: ``never`` (there is no satisfaction), ``one`` (a probability for all items),
    ``item`` (each item has its own), or ``attraction`` (the attraction of the item). ``remembers`` says that rows depend on the last click.
    """

    satisfies: ClassVar[str] = "never"
    remembers: ClassVar[bool] = False

    def chances(self, places: int) -> Array:
        """The probabilities of the table for lists of so many places, at the values of the parameters."""
        return np.zeros(0)

    def rows(self, place: int, clicked: Array, last: Array, places: int) -> TableRows:
        """The rows of a position, counted from 0 and at least 1.

        ``clicked`` tells if the position above was clicked, ``last`` is the last position clicked so far, counted from 1, 0 for none.
        """
        raise TypeError(f"{type(self).__name__} does not say which places are examined")

    @property
    def satisfaction(self) -> float:
        """The probability that a click satisfies, if items do not set it."""
        return float(getattr(self, "stop", 0.0))

    def table(self, places: int) -> Array:
        """All rows: never, always, and ``chances``."""
        return np.concatenate([[0.0, 1.0], self.chances(places)])

    def examine(self, tempted: Array, mood: Array) -> Array:
        """Which places are examined: lists x places, true or false.

        ``tempted`` tells where a click follows once a place is examined; ``mood`` is uniform, lists x (places + 1).
        """
        lists, places = tempted.shape
        table, looked = self.table(places), np.ones((lists, places), dtype=bool)
        last = np.zeros(lists, dtype=np.int64)
        for place in range(1, places):
            clicked = tempted[:, place - 1] & looked[:, place - 1]
            last = np.where(clicked, place, last)
            rows = self.rows(place, clicked, last, places)
            sure = clicked * self.satisfaction
            chance = table[rows.looked] * (1 - sure) + table[rows.satisfied] * sure
            chance = np.where(looked[:, place - 1], chance, table[rows.unlooked])
            looked[:, place] = mood[:, place] < chance
        return looked

    def looks(self, attraction: Array) -> Array:
        """The probability that each place is examined: lists x places, the mean of ``examine``.

        ``attraction`` is the probability of a click at each place, once it is examined.
        """
        lists, places = attraction.shape
        table, out = self.table(places), np.ones((lists, places))
        # by the last click: the chance that the place above was examined, and the opposite
        above: dict[int, tuple[Array, Array]] = {0: (np.ones(lists), np.zeros(lists))}
        for place in range(1, places):
            clicked, below = attraction[:, place - 1], dict[int, tuple[Array, Array]]()
            hit = self.rows(place, np.array(True), np.array(place), places)
            after = table[hit.looked] * (1.0 - self.satisfaction) + table[hit.satisfied] * self.satisfaction
            for last, (seen, unseen) in above.items():
                miss = self.rows(place, np.array(False), np.array(last), places)
                ways = (last, seen * (1.0 - clicked), table[miss.looked]), (last, unseen, table[miss.unlooked])
                for at, mass, chance in (*ways, (place, seen * clicked, after)):
                    at = at if self.remembers else 0  # noqa: PLW2901
                    looked, skipped = below.get(at, (np.zeros(lists), np.zeros(lists)))
                    below[at] = looked + mass * chance, skipped + mass * (1.0 - chance)
            above = below
            out[:, place] = np.cumsum([seen for seen, _ in above.values()], axis=0)[-1]
        return out


def attention(places: int, decay: float) -> Array:
    """The chance that each place is examined by its number alone: 1 at the first.

    >>> attention(3, 1.0).round(3).tolist()
    [1.0, 0.5, 0.333]
    """
    return each(lambda place: place**-decay, np.arange(1.0, places + 1.0))


def _step(places: int, decay: float) -> Array:
    """The chance to go on to places 2, 3 and so on from the one above, if attention falls."""
    chance = attention(places, decay)
    return chance[1:] / chance[:-1]


class Everything(Browsing):
    """Every position is examined."""

    def rows(self, place: int, clicked: Array, last: Array, places: int) -> TableRows:
        return TableRows(GO, GO)


class PositionBased(Browsing):
    """Each position is examined with its own probability, whatever was clicked above: click = examination x attraction."""

    decay: Decay = 0.85

    def chances(self, places: int) -> Array:
        return attention(places, self.decay)[1:]

    def rows(self, place: int, clicked: Array, last: Array, places: int) -> TableRows:
        return TableRows(LEARNED + place - 1, LEARNED + place - 1)


class UserBrowsing(Browsing):
    """A position is examined with a probability that depends on it and on the last click above: attention starts anew there."""

    remembers = True

    decay: Decay = 0.85

    def chances(self, places: int) -> Array:
        last, place = np.meshgrid(np.arange(places), np.arange(1, places), indexing="ij")
        return np.where(place >= last, attention(places, self.decay)[np.maximum(place - last, 0)], 0.0).ravel()

    def rows(self, place: int, clicked: Array, last: Array, places: int) -> TableRows:
        row = LEARNED + last * (places - 1) + place - 1
        return TableRows(row, row)


class Cascade(Browsing):
    """From the top down until patience ends. After a click the reader has enough with the chance ``stop``."""

    satisfies = "one"

    decay: Decay = 0.77
    stop: Annotated[float, Param("how probable it is that a reader stops after a click", low=0.0, high=1.0)] = 0.1

    def chances(self, places: int) -> Array:
        return _step(places, self.decay)

    def rows(self, place: int, clicked: Array, last: Array, places: int) -> TableRows:
        return TableRows(LEARNED + place - 1, STOP)

    def examine(self, tempted: Array, mood: Array) -> Array:
        """The same with one draw of patience per list, so that a reader meets two rankers with the same patience."""
        patient = mood[:, -1:] < attention(tempted.shape[1], self.decay)
        enough = tempted & (mood[:, :-1] < self.stop)
        before = np.zeros_like(enough)
        before[:, 1:] = np.logical_or.accumulate(enough, axis=1)[:, :-1]
        return patient & ~before


class FirstClick(Browsing):
    """From the top down to the first click, where the reader stops."""

    def rows(self, place: int, clicked: Array, last: Array, places: int) -> TableRows:
        return TableRows(np.where(clicked, STOP, GO), STOP)


class DependentClicks(Browsing):
    """From the top down. After a click the reader goes on with a probability that depends on the position."""

    decay: Decay = 0.77

    def chances(self, places: int) -> Array:
        return _step(places, self.decay)

    def rows(self, place: int, clicked: Array, last: Array, places: int) -> TableRows:
        return TableRows(np.where(clicked, LEARNED + place - 1, GO), STOP)


class ClickChain(Browsing):
    """From the top down. A reader goes on with one probability after no click, and with others after a click that did or did not satisfy."""

    satisfies = "attraction"

    skipped: Chance = 0.9
    clicked: Chance = 0.8
    content: Chance = 0.4

    def chances(self, places: int) -> Array:
        return np.array([self.skipped, self.clicked, self.content])

    def rows(self, place: int, clicked: Array, last: Array, places: int) -> TableRows:
        return TableRows(np.where(clicked, LEARNED + 1, LEARNED), STOP, LEARNED + 2)


class UntilSatisfied(Browsing):
    """From the top down until a click satisfies: each item has its own probability to do so."""

    satisfies = "item"

    stop: Annotated[
        float, Param("how probable it is that a click satisfies, for simulated users", low=0.0, high=1.0)
    ] = 0.4

    def rows(self, place: int, clicked: Array, last: Array, places: int) -> TableRows:
        return TableRows(GO, STOP)


class DynamicBayesian(UntilSatisfied):
    """From the top down with one probability to go on at each item, until a click satisfies: each item has its own probability to do so."""

    persistence: Chance = 0.9

    def chances(self, places: int) -> Array:
        return np.array([self.persistence])

    def rows(self, place: int, clicked: Array, last: Array, places: int) -> TableRows:
        return TableRows(LEARNED, STOP)


def click_chances(browsing: Browsing, table: Array, attraction: Array, satisfaction: Array | None) -> Array:
    """The probability of a click at each place, before any click of the page is known: places x pages.

    The state is whether the place above was examined and, if the model remembers it, the last click; all states are carried along.
    """
    places, pages = attraction.shape
    out = np.empty(attraction.shape)
    states = {0: (np.ones(pages), np.zeros(pages))}  # last click: the probability with this place examined, and not
    for place in range(places):
        out[place] = sum(looked for looked, _ in states.values()) * attraction[place]
        if place == places - 1:
            break
        following: dict[int, tuple[Array, Array]] = {}
        for last, (looked, unlooked) in states.items():
            for clicked in (False, True):
                weight = looked * (attraction[place] if clicked else 1 - attraction[place])
                idle = unlooked * (not clicked)
                now = place + 1 if clicked and browsing.remembers else last
                rows = browsing.rows(place + 1, np.full(pages, clicked), np.full(pages, now), places)
                onward = np.broadcast_to(table[rows.looked], (pages,))
                if satisfaction is not None and clicked:
                    onward = onward + satisfaction[place] * (table[rows.satisfied] - onward)
                goes = weight * onward + idle * table[rows.unlooked]
                before = following.get(now, (0.0, 0.0))
                following[now] = (before[0] + goes, before[1] + weight + idle - goes)
        states = following
    return out
