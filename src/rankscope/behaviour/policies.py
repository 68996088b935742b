"""Logging policies: how a list is made of a ranker's scores, by chance or not, and exactly how probable it was."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from rankscope.declared import Declared, Param
from rankscope.lists import Array

TINY = 5e-324  # the smallest number above 0, for anything less probable


class LoggingPolicy(Declared, kind="policy"):
    """Base of every logging policy. The docstring of a class says in one line how it makes a list."""

    def chances(self, scores: Array, items: int) -> Array:
        """The probability of each candidate at each position, whatever the other positions hold: queries x candidates x positions."""
        raise TypeError(f"{type(self).__name__} does not say how probable its items are")

    def show(self, scores: Array, query: Array, noise: Array, items: int) -> tuple[Array, Array]:
        """Make lists, and say how probable each was down to each place.

        ``scores`` are queries x candidates, -inf where there is none; ``query`` is that of each list, ``noise`` uniform, lists x (candidates + 1).
        Gives the candidates (lists x places, -1 past the end) and the probabilities.
        """
        raise TypeError(f"{type(self).__name__} does not say how it makes a list")

    def following(self, scores: Array, order: Array, place: int) -> Array:
        """The probability of each candidate at a place, given the candidates of ``order`` above it: lists x candidates.

        ``scores`` are lists x candidates, ``order`` lists x places. After a beginning that cannot happen any number may be given.
        """
        raise TypeError(f"{type(self).__name__} defines no following()")

    def prefix(self, scores: Array, order: Array) -> Array:
        """The exact probability of each list down to each place: lists x places, 1 for places past the end of a list (-1).

        >>> scores = np.array([[2.0, 1.0, 0.0]])
        >>> TopShuffle(top=2).prefix(scores, np.array([[1, 0, 2]])).tolist()
        [[0.5, 0.5, 0.5]]
        """
        out = np.ones(order.shape)
        for place in range(order.shape[1]):
            chosen = order[:, place]
            chance = self.following(scores, order, place)[np.arange(len(order)), np.maximum(chosen, 0)]
            out[:, place] = np.where(chosen >= 0, chance, 1.0) * (out[:, place - 1] if place else 1.0)
        return out


def ranked(scores: Array, items: int) -> Array:
    """The first candidates by score, -1 beyond their number: rows x positions."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :items]
    return np.where(np.isneginf(np.take_along_axis(scores, order, axis=1)), -1, order)


def _left(scores: Array, order: Array, place: int) -> Array:
    """True for candidates that are not among the first ``place`` of each list: lists x candidates."""
    out = ~np.isneginf(scores)
    for above in order[:, :place].T:
        known = np.flatnonzero(above >= 0)
        out[known, above[known]] = False
    return out


def _only(order: Array, place: int, candidates: int) -> Array:
    """1 for the candidate at a place, else 0: lists x candidates."""
    out = np.zeros((len(order), candidates))
    if place < order.shape[1]:
        known = np.flatnonzero(order[:, place] >= 0)
        out[known, order[known, place]] = 1.0
    return out


def _at_places(scores: Array, items: int) -> Array:
    """1 at the position of a candidate by its score, else 0: queries x candidates x positions."""
    order = ranked(scores, items)
    row, place = np.nonzero(order >= 0)
    out = np.zeros((*scores.shape, items))
    out[row, order[row, place], place] = 1.0
    return out


def _shuffled_prefix(sizes: Array, places: int) -> Array:
    """The probability of the first positions of ``sizes`` items in random order, per row: (n - k)! / n!, and 1 beyond them."""
    left = sizes[:, None] - np.arange(places)[None, :]
    return np.cumprod(1 / np.maximum(left, 1), axis=1)


class Fixed(LoggingPolicy):
    """The items by score: the same list each time."""

    def chances(self, scores: Array, items: int) -> Array:
        return _at_places(scores, items)

    def show(self, scores: Array, query: Array, noise: Array, items: int) -> tuple[Array, Array]:
        order = ranked(scores, items)[query]
        return order, np.ones(order.shape)

    def following(self, scores: Array, order: Array, place: int) -> Array:
        return _only(ranked(scores, place + 1), place, scores.shape[1])


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

    def following(self, scores: Array, order: Array, place: int) -> Array:
        weights = np.where(_left(scores, order, place), np.exp(self._logits(scores)), 0.0)
        return np.asarray(weights / np.maximum(weights.sum(axis=1, keepdims=True), TINY))

    def _logits(self, scores: Array) -> Array:
        """Scores divided by temperature, 0 for the best. No probability is below exp(-600) times the largest."""
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

    def following(self, scores: Array, order: Array, place: int) -> Array:
        left, usual = _left(scores, order, place), ranked(scores, place + 1)
        sizes = (~np.isneginf(scores)).sum(axis=1)
        shuffled = _shuffled_prefix(sizes, place)[:, -1] if place else np.ones(len(scores))
        same = (1 - self.epsilon) * (order[:, :place] == usual[:, :place]).all(axis=1)
        shuffled = self.epsilon * shuffled
        both = left / np.maximum(left.sum(axis=1, keepdims=True), 1) * shuffled[:, None]
        both += _only(usual, place, scores.shape[1]) * same[:, None]
        return np.asarray(both / np.maximum(shuffled + same, TINY)[:, None])


class TopShuffle(LoggingPolicy):
    """The items by score, with the first ``top`` of them in random order, so that clicks show the effect of positions."""

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

    def following(self, scores: Array, order: Array, place: int) -> Array:
        if place >= self.top:
            return _only(ranked(scores, place + 1), place, scores.shape[1])
        first = _at_places(scores, self.top).sum(axis=2) > 0
        left = _left(scores, order, place) & first
        return np.asarray(left / np.maximum(left.sum(axis=1, keepdims=True), 1))


class SwapFirst(LoggingPolicy):
    """The items by score, but the first changes places with one of the first ``top``, drawn at random, so that clicks show the effect of positions."""

    top: Annotated[int, Param("how many of the first items the first may change places with", low=1, high=1000)] = 10

    def chances(self, scores: Array, items: int) -> Array:
        usual = _at_places(scores, max(items, self.top))
        rank = np.where(usual.any(axis=2), usual.argmax(axis=2), usual.shape[2])
        sizes = np.minimum((~np.isneginf(scores)).sum(axis=1), self.top)[:, None]
        first, moved = rank == 0, (rank > 0) & (rank < sizes)
        out = np.where(moved[:, :, None], usual * (1 - 1 / sizes)[:, :, None], usual)
        out[:, :, 0] = np.where(moved | first, 1 / sizes, out[:, :, 0])
        among = np.arange(usual.shape[2]) < sizes
        return np.where(first[:, :, None], (among / sizes)[:, None, :], out)[:, :, :items]

    def show(self, scores: Array, query: Array, noise: Array, items: int) -> tuple[Array, Array]:
        usual = ranked(scores, max(items, self.top))[query]
        sizes = np.minimum((usual >= 0).sum(axis=1), self.top)
        partner, rows = (noise[:, -1] * sizes).astype(np.int64), np.arange(len(usual))
        order = usual.copy()
        order[rows, 0], order[rows, partner] = usual[rows, partner], usual[:, 0]
        return order[:, :items], np.repeat(1 / np.maximum(sizes, 1)[:, None], min(items, order.shape[1]), axis=1)


def place_chances(weights: Array, places: int) -> Array:
    """How probable each item is at each place where items are drawn in proportion to their weights: rows x items x places.

    Item i, drawn so, is the first of independent waiting times with rates ``weights`` that ends. It stands at place k where k - 1 others end
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
    # time = exp(x - exp(-x)) / total, from a time before all events to a time after all events
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

    The counts of all are built up factor by factor. That of an item is divided out from the side from which this loses no digits.
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
    up = np.zeros(passed.shape)  # from the lowest count on, if the item has probably not passed
    for k in range(min(places, items)):
        up = counts[k][:, :, None] - odds * up
        up[~low] = 0.0
        out[:, :, k] += (up * scale).sum(axis=1)
        up = np.where(low, up, 0.0)
    down = np.zeros(passed.shape)  # from the highest count down, if it probably has
    for k in range(items - 1, -1, -1):
        down = np.where(low, 0.0, counts[k + 1][:, :, None] - odds * down)
        if k < places:
            out[:, :, k] += (down * scale).sum(axis=1)
    return out
