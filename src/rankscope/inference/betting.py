"""The capital of a gambler who bets, query after query, that the mean of bounded values is not what is said of it."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from rankscope.declared import Param
from rankscope.errors import InputError
from rankscope.inference.base import CLOSE, Sample
from rankscope.lists import Array

# --- the vocabulary of parameters ----------------------------------------------------------------

Low = Annotated[float, Param("the lowest value there can be", low=-1e9)]
High = Annotated[float, Param("the highest value there can be", high=1e9)]

_AIM = 2 * np.log(2 / 0.05)  # bets are sized for a 95% interval, and right for any other
_CAP = 0.5  # at most this part of the capital can be lost at one query


def fitted(low: float, high: float) -> None:
    """Refuse a range without room."""
    if low >= high:
        raise InputError(
            f"betting(low={low:g}, high={high:g}): low is below high, as in betting(low=0, high=1)"
        )


def within(sample: Sample, low: float, high: float) -> Array:
    """The values on a scale from -1 to 1, in the order given; InputError for one outside low to high."""
    least, most = float(sample.values.min()), float(sample.values.max())
    room = CLOSE * (high - low)  # a score may be above 1 by its rounding
    if least < low - room or most > high + room:
        raise InputError(
            f"betting(low={low:g}, high={high:g}) was given values from {least:g} to {most:g}: say what range they have"
        )
    return np.clip((sample.values - (low + high) / 2) / ((high - low) / 2), -1.0, 1.0)


def bets(values: Array) -> Array:
    """How much is bet at each value, from those before it: large where they vary little, and ever smaller.

    ``values`` are from -1 to 1. The same for the mirror image of the values.
    """
    seen = np.arange(1, len(values) + 1)
    centre = np.cumsum(values) / (seen + 1)
    spread = (1 + np.cumsum((values - centre) ** 2)) / (seen + 1)
    before = np.concatenate([[1.0], spread[:-1]])
    return np.asarray(np.sqrt(_AIM / (before * seen * np.log1p(seen))))


def stakes(sizes: Array, mean: float) -> Array:
    """The bets that a mean allows: whatever the next value is, half the capital is left."""
    return np.minimum(sizes, _CAP / max(1 + mean, 1e-300))


def most_won(values: Array, sizes: Array, mean: float) -> float:
    """The logarithm of the most that betting on a larger mean than this ever made of 1, looking after every value.

    It falls as ``mean`` rises. ``values`` and ``mean`` are from -1 to 1, ``sizes`` the bets.
    """
    return max(0.0, float(np.cumsum(np.log1p(stakes(sizes, mean) * (values - mean))).max()))


def log_capital(values: Array, mean: float) -> float:
    """The logarithm of the most that a gambler had who bets half on a larger and half on a smaller mean."""
    sizes = bets(values)
    return max(most_won(values, sizes, mean), most_won(-values, sizes, -mean)) - float(np.log(2))


def lowest(values: Array, alpha: float) -> float:
    """The lowest mean that is not refuted at this alpha, on the scale from -1 to 1."""
    sizes, enough = bets(values), float(np.log(2 / alpha))
    refuted, left = -1.0, 1.0
    if most_won(values, sizes, refuted) < enough:
        return refuted
    while (middle := (refuted + left) / 2) not in {refuted, left}:
        if most_won(values, sizes, middle) >= enough:
            refuted = middle
        else:
            left = middle
    return refuted
