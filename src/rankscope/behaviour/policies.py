"""Logging policies: how a list is made of a ranker's scores, by chance or not, and exactly how probable it was."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from rankscope.declared import Declared, Param
from rankscope.lists import Array

TINY = 5e-324  # the smallest number above 0: what is less probable is said to be so probable


class LoggingPolicy(Declared, kind="policy"):
    """Base of every logging policy. The docstring of a class says in one line how it makes a list."""

    def chances(self, scores: Array, items: int) -> Array:
        """How probable each candidate is at each place, whatever stands elsewhere: queries x candidates x places."""
        raise TypeError(f"{type(self).__name__} does not say how probable its items are")

    def show(self, scores: Array, query: Array, noise: Array, items: int) -> tuple[Array, Array]:
        """Make lists, and say how probable each was down to each place.

        ``scores`` are queries x candidates, -inf where there is none; ``query`` is that of each list, ``noise`` uniform, lists x (candidates + 1).
        Gives the candidates (lists x places, -1 past the end) and the probabilities.
        """
        raise TypeError(f"{type(self).__name__} does not say how it makes a list")


def ranked(scores: Array, items: int) -> Array:
    """The candidates by score, the first of them, -1 where there are no more: rows x places."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :items]
    return np.where(np.isneginf(np.take_along_axis(scores, order, axis=1)), -1, order)


def _at_places(scores: Array, items: int) -> Array:
    """1 where a candidate stands by its score, else 0: queries x candidates x places."""
    order = ranked(scores, items)
    row, place = np.nonzero(order >= 0)
    out = np.zeros((*scores.shape, items))
    out[row, order[row, place], place] = 1.0
    return out


def _shuffled_prefix(sizes: Array, places: int) -> Array:
    """How probable the first places are of things in random order, ``sizes`` of them a row: (n - k)! / n!; 1 for what is beyond them."""
    left = sizes[:, None] - np.arange(places)[None, :]
    return np.cumprod(1 / np.maximum(left, 1), axis=1)


class Fixed(LoggingPolicy):
    """The items by score: the same list each time."""

    def chances(self, scores: Array, items: int) -> Array:
        return _at_places(scores, items)

    def show(self, scores: Array, query: Array, noise: Array, items: int) -> tuple[Array, Array]:
        order = ranked(scores, items)[query]
        return order, np.ones(order.shape)


class PlackettLuce(LoggingPolicy):
    """Items drawn one after the other, each in proportion to exp(score / temperature) among those left."""

    temperature: Annotated[
        float, Param("how much is left to chance: near 0 the list by score, very high any order", low=0.05, high=1e6)
    ] = 0.3

    def chances(self, scores: Array, items: int) -> Array:
        return place_chances(np.exp(self._logits(scores)), items)

    def show(self, scores: Array, query: Array, noise: Array, items: int) -> tuple[Array, Array]:
        logits = self._logits(scores)[query]
        # by Gumbel's noise the order of the keys is the draw
        keys = logits - np.log(-np.log(noise[:, : scores.shape[1]]))
        order = np.argsort(-keys, axis=1, kind="stable")
        weights = np.exp(np.take_along_axis(logits, order, axis=1))
        left = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]
        order, weights, left = order[:, :items], weights[:, :items], left[:, :items]
        there = weights > 0
        prefix = np.cumprod(np.divide(weights, left, out=np.ones_like(left), where=there), axis=1)
        return np.where(there, order, -1), np.maximum(prefix, TINY)

    def _logits(self, scores: Array) -> Array:
        """Scores by temperature, 0 for the best; nothing is less probable than exp(-600) times as much."""
        far = (scores - scores.max(axis=1, keepdims=True)) / self.temperature
        return np.where(np.isneginf(scores), -np.inf, np.maximum(far, -600.0))


class EpsilonShuffle(LoggingPolicy):
    """The items by score, but with the chance ``epsilon`` all candidates in random order."""

    epsilon: Annotated[float, Param("how probable a list in random order is", low=0.0, high=1.0)] = 0.1

    def chances(self, scores: Array, items: int) -> Array:
        there = ~np.isneginf(scores)
        sizes = there.sum(axis=1)[:, None, None]
        at_random: Array = (there[:, :, None] & (np.arange(items) < sizes)) / sizes
        return _at_places(scores, items) * (1 - self.epsilon) + at_random * self.epsilon

    def show(self, scores: Array, query: Array, noise: Array, items: int) -> tuple[Array, Array]:
        usual = ranked(scores, items)[query]
        at_random = ranked(np.where(np.isneginf(scores[query]), -np.inf, noise[:, : scores.shape[1]]), items)
        order = np.where((noise[:, -1] < self.epsilon)[:, None], at_random, usual)
        sizes = (~np.isneginf(scores)).sum(axis=1)[query]
        prefix = self.epsilon * _shuffled_prefix(sizes, order.shape[1])
        as_usual = np.logical_and.accumulate(order == usual, axis=1)
        return order, np.maximum(prefix + (1 - self.epsilon) * as_usual, TINY)


class TopShuffle(LoggingPolicy):
    """The items by score, the first ``top`` of them in random order: what clicks say of places, whatever stands there."""

    top: Annotated[int, Param("how many of the first items are put in random order", low=1, high=1000)] = 5

    def chances(self, scores: Array, items: int) -> Array:
        usual = _at_places(scores, max(items, self.top))
        first = usual[:, :, : self.top].sum(axis=2)
        sizes = np.minimum((~np.isneginf(scores)).sum(axis=1), self.top)[:, None, None]
        among = np.arange(usual.shape[2]) < sizes
        return np.where(among, first[:, :, None] / sizes, usual)[:, :, :items]

    def show(self, scores: Array, query: Array, noise: Array, items: int) -> tuple[Array, Array]:
        usual = ranked(scores, max(items, self.top))[query]
        first = usual[:, : self.top]
        shuffle = np.argsort(np.where(first >= 0, noise[:, : first.shape[1]], 2.0), axis=1, kind="stable")
        order = np.hstack([np.take_along_axis(first, shuffle, axis=1), usual[:, self.top :]])[:, :items]
        sizes = (first >= 0).sum(axis=1)
        return order, _shuffled_prefix(sizes, order.shape[1])


def place_chances(weights: Array, places: int) -> Array:
    """How probable each item is at each place where items are drawn in proportion to their weights: rows x items x places.

    Item i, drawn so, is the first of independent waiting times with rates ``weights`` that ends; it stands at place k where k - 1 others end
    before it. That is an integral over one time, of a smooth function that vanishes at both ends, so that the trapezoid rule in a
    double-exponential scale gives it to about 12 digits. Items of weight 0 are never drawn.

    >>> place_chances(np.array([[2.0, 1.0]]), 2).round(12).tolist()
    [[[0.666666666667, 0.333333333333], [0.333333333333, 0.666666666667]]]
    """
    out = np.empty((*weights.shape, places))
    size = max(1, 4_000_000 // (weights.shape[1] ** 2 * 150))
    for first in range(0, len(weights), size):
        out[first : first + size] = _place_chances(weights[first : first + size], places)
    return np.maximum(out, 0.0)


def _place_chances(weights: Array, places: int) -> Array:
    step, least = 0.15, np.where(weights > 0, weights, np.inf).min(axis=1)
    total = weights.sum(axis=1)
    # time = exp(x - exp(-x)) / total; from where nothing has happened yet to where all has
    last = np.log(40.0 * float((total / least).max())) + 1.0
    x = np.arange(-4.0, last, step)
    times = np.exp(x - np.exp(-x))
    speed = times * (1 + np.exp(-x)) * step
    rates = (weights / total[:, None])[:, None, :] * times[None, :, None]  # rows x nodes x items
    passed = -np.expm1(-rates)
    density = (weights / total[:, None])[:, None, :] * np.exp(-rates) * speed[None, :, None]
    return _counts_without(passed, density, places)


def _counts_without(passed: Array, density: Array, places: int) -> Array:
    """The chance that k of the others have passed, summed over times with the density of each item: rows x items x places.

    The counts of all are built up factor by factor; that of an item is divided out from the side from which this loses no digits.
    """
    rows, nodes, items = passed.shape
    counts = np.zeros((items + 1, rows, nodes))
    counts[0] = 1.0
    for i in range(items):
        p = passed[:, :, i]
        counts[1 : i + 2] = counts[1 : i + 2] * (1 - p) + counts[: i + 1] * p
        counts[0] *= 1 - p
    low = passed <= 0.5
    p = np.where(low, passed, 1 - passed)
    odds, scale = p / (1 - p), density / (1 - p)
    out = np.zeros((rows, items, places))
    up = np.zeros(passed.shape)  # from the lowest count on, where the item has hardly passed
    for k in range(min(places, items)):
        up = counts[k][:, :, None] - odds * up
        up[~low] = 0.0
        out[:, :, k] += (up * scale).sum(axis=1)
        up = np.where(low, up, 0.0)
    down = np.zeros(passed.shape)  # from the highest count down, where it surely has
    for k in range(items - 1, -1, -1):
        down = np.where(low, 0.0, counts[k + 1][:, :, None] - odds * down)
        if k < places:
            out[:, :, k] += (down * scale).sum(axis=1)
    return out
