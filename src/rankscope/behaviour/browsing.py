"""How users look at a list: which places they examine, and after what they stop."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from rankscope.declared import Declared, Param
from rankscope.lists import Array

Decay = Annotated[
    float, Param("how fast attention falls: place k is examined with the chance k to minus this", low=0.0, high=10.0)
]


class Browsing(Declared, kind="browsing"):
    """Base of every way to look at a list. The docstring of a class says in one line how places are examined."""

    def examine(self, tempted: Array, mood: Array) -> Array:
        """Which places are examined: lists x places, true or false.

        ``tempted`` tells where a click follows once a place is examined; ``mood`` is uniform, lists x (places + 1).
        """
        raise TypeError(f"{type(self).__name__} does not say which places are examined")


def attention(places: int, decay: float) -> Array:
    """The chance that each place is examined by its number alone: 1 at the first.

    >>> attention(3, 1.0).round(3).tolist()
    [1.0, 0.5, 0.333]
    """
    return np.arange(1, places + 1) ** -decay


class PositionBased(Browsing):
    """Each place is examined with a chance of its own, whatever was clicked above: click = examination x attraction."""

    decay: Decay = 0.85

    def examine(self, tempted: Array, mood: Array) -> Array:
        return mood[:, :-1] < attention(tempted.shape[1], self.decay)


class Cascade(Browsing):
    """From the top down until patience ends; after a click the reader has enough with the chance ``stop``."""

    decay: Decay = 0.77
    stop: Annotated[float, Param("how probable it is that a reader stops after a click", low=0.0, high=1.0)] = 0.1

    def examine(self, tempted: Array, mood: Array) -> Array:
        patient = mood[:, -1:] < attention(tempted.shape[1], self.decay)
        enough = tempted & (mood[:, :-1] < self.stop)
        before = np.zeros_like(enough)
        before[:, 1:] = np.logical_or.accumulate(enough, axis=1)[:, :-1]
        return patient & ~before
