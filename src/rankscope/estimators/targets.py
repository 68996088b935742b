"""TargetPolicy policies on logged events: exact probabilities of shown items, of lists, and of items that were not shown."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations

import numpy as np

from rankscope.behaviour.policies import Fixed, LoggingPolicy
from rankscope.errors import DataError
from rankscope.estimators.events import MOST_CELLS, Codes, Level, LoggedEvents, Predict, TargetPolicy, slices
from rankscope.lists import Array

AT_ONCE = 4_000_000  # numbers that are held at once
MOST_LISTS = 20_000  # lists of one query that are enumerated


@dataclass(frozen=True, eq=False)
class Recorded(TargetPolicy):
    """A policy by columns of the log: the probability of each row under it, by level."""

    name: str
    columns: dict[Level, Array]

    def chance(self, events: LoggedEvents, level: Level) -> Array:
        if level in self.columns:
            return self.columns[level].copy()
        raise DataError(
            f"{self.name}: the log has no column with the probability of the {level} under this policy: add {self.name}_{level}"
        )


@dataclass(frozen=True, eq=False)
class Dense(TargetPolicy):
    """A policy by a matrix: the probability of each item (column, in the order of ``events.items``) for each row of the log.

    The positions of a list are drawn independently of each other.
    """

    name: str
    matrix: Array

    def chance(self, events: LoggedEvents, level: Level) -> Array:
        item: Array = self.matrix[np.arange(events.count), events.item]
        if level == "item":
            return item
        by_place = np.ones((len(events.starts), events.places))
        by_place[events.list_number, events.position] = item
        prefix: Array = np.cumprod(by_place, axis=1)[events.list_number, events.position]
        return prefix if level == "prefix" else prefix[events.last][events.list_number]

    def expect(self, events: LoggedEvents, predict: Predict, rows: Codes) -> Array:
        out = np.zeros(len(rows))
        for item in range(self.matrix.shape[1]):
            out += self.matrix[rows, item] * predict(rows, np.full(len(rows), item))
        return out


@dataclass(frozen=True, eq=False)
class OfPolicy(TargetPolicy):
    """A logging policy on the scores of a ranker.

    ``scores`` are contexts x candidates, -inf for padding; ``items`` the item of each candidate, -1 for padding. Items that the log never
    shows have numbers from ``len(events.items)``.
    """

    name: str
    policy: LoggingPolicy
    scores: Array
    items: Codes
    _tables: dict[int, Array] = field(default_factory=dict, init=False)

    def table(self, places: int) -> Array:
        """Return the probability of each candidate at each position: contexts x candidates x positions."""
        if places not in self._tables:
            self._tables[places] = self.policy.chances(self.scores, places)
        return self._tables[places]

    @cached_property
    def _lookup(self) -> tuple[Codes, Codes, int]:
        """The different pairs of context and item as numbers, their candidates, and the number of items (and one that never occurs)."""
        size = int(self.items.max(initial=0)) + 2
        keys = (np.arange(len(self.items))[:, None] * size + self.items)[self.items >= 0]
        places = np.nonzero(self.items >= 0)[1]
        if len(self.items) * size <= MOST_CELLS:  # a table is faster than a search
            table = np.full(len(self.items) * size, -1)
            table[keys] = places
            return np.zeros(0, dtype=np.int64), table, size
        order = np.argsort(keys, kind="stable")
        return keys[order], places[order], size

    def candidates(self, context: Codes, item: Codes) -> Codes:
        """Return the candidate of each item in its context, -1 if the policy never shows it there."""
        keys, places, size = self._lookup
        known = np.minimum(item, size - 1)
        wanted = known if len(self.items) == 1 else context * size + known
        if not len(keys):
            return places[wanted]
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[at] == wanted, places[at], -1)

    def _context(self, events: LoggedEvents) -> Codes:
        return events.context if len(self.scores) > 1 else np.broadcast_to(np.int64(0), events.count)

    def chance(self, events: LoggedEvents, level: Level) -> Array:
        if level == "item":
            return self._chance_of_items(events)
        context = self._context(events)
        shown = self.candidates(context, events.item)
        order = np.full((len(events.starts), events.places), -1)
        order[events.list_number, events.position] = shown
        prefix, of_list = np.empty(order.shape), context[events.starts]
        for part in slices(len(order), max(1, AT_ONCE // max(self.scores.shape[1], 1))):
            prefix[part] = self.policy.prefix(self.scores[of_list[part]], order[part])
        rows = prefix[events.list_number, events.position]
        # an item that the policy never shows makes the rest of the list impossible
        latest = np.maximum.accumulate(np.where(shown < 0, np.arange(events.count), -1))
        rows = np.where(latest >= events.starts[events.list_number], 0.0, rows)
        return rows if level == "prefix" else rows[events.last][events.list_number]

    def _chance_of_items(self, events: LoggedEvents) -> Array:
        table, context = self.table(events.places), self._context(events)
        contexts, items = len(self.items), len(events.items)
        if contexts * items * events.places > MOST_CELLS:
            shown = self.candidates(context, events.item)
            return np.where(shown >= 0, table[context, shown, events.position], 0.0)
        shown = self.candidates(np.repeat(np.arange(contexts), items), np.tile(np.arange(items), contexts))
        found = np.where(shown[:, None] >= 0, table[np.repeat(np.arange(contexts), items), shown], 0.0).ravel()
        pairs = events.place_of_item
        return found[pairs if contexts == 1 else pairs + context * (items * events.places)]

    def expect(self, events: LoggedEvents, predict: Predict, rows: Codes) -> Array:
        context, position = self._context(events)[rows], events.position[rows]
        table = self.table(events.places)
        return self._mean(lambda candidate: table[context, candidate, position], context, predict, rows)

    def _mean(self, chance_of: Callable[[int], Array], context: Codes, predict: Predict, rows: Codes) -> Array:
        out = np.zeros(len(rows))
        for candidate in range(self.items.shape[1]):
            item, chance = self.items[context, candidate], chance_of(candidate)
            used = (chance > 0) & (item >= 0)
            out[used] += chance[used] * predict(rows[used], item[used])
        return out

    def follow(self, events: LoggedEvents, predict: Predict) -> Array:
        """Return the mean prediction at each row given the items above it in its list: conditional on the list so far."""
        context = self._context(events)
        order = np.full((len(events.starts), events.places), -1)
        order[events.list_number, events.position] = self.candidates(context, events.item)
        scores = self.scores[context[events.starts]]
        out = np.zeros(events.count)
        for place in range(events.places):
            rows = np.flatnonzero(events.position == place)
            chances = self.policy.following(scores, order, place)[events.list_number[rows]]
            out[rows] = self._mean(chances.T.__getitem__, context[rows], predict, rows)
        return out

    def unseen(self, events: LoggedEvents) -> float:
        beyond = (self.items >= len(events.items))[:, :, None]
        if not beyond.any():
            return 0.0
        lost = (self.table(events.places) * beyond).sum(axis=1)
        return float(lost[self._context(events), events.position].mean())

    def gains(self, events: LoggedEvents, earnings: Array) -> Array:
        context = self._context(events)
        shown = self.candidates(context, events.item)
        if isinstance(self.policy, Fixed):
            order = np.argsort(-self.scores, axis=1, kind="stable")
            ranks = np.empty_like(order)
            np.put_along_axis(ranks, order, np.arange(order.shape[1])[None, :], axis=1)
            by_candidate = np.append(earnings, np.zeros(order.shape[1]))[ranks]
        else:
            by_candidate = self.table(len(earnings)) @ earnings
        return np.where(shown >= 0, by_candidate[context, shown], 0.0)

    def lists(self, context: int, places: int) -> tuple[Codes, Array]:
        """Return all lists of this context with their probabilities. Raises DataError if there are more than 20,000."""
        count = int((self.items[context] >= 0).sum())
        if math.perm(count, min(places, count)) > MOST_LISTS:
            raise DataError(
                f"{self.name}: {count} items at {places} positions have more than {MOST_LISTS:,} lists to enumerate: use PI(policy='product')"
            )
        order = np.array(list(permutations(range(count), min(places, count))), dtype=np.int64)
        scores = np.repeat(self.scores[context : context + 1], len(order), axis=0)
        return order, self.policy.prefix(scores, order)[:, -1]
