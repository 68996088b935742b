"""Quantiles of the normal and of Student's distribution, without the third of a second that scipy takes to load."""

from __future__ import annotations

import math
from functools import cache

FAR = 1e-6  # farther out in the tail the closed form loses digits, and scipy is asked
MANY = 1_000  # with more degrees of freedom the expansion around the normal is exact to the last digits


@cache
def normal(outside: float) -> float:
    """The value that a standard normal variable exceeds with this chance, which is below one half.

    >>> round(normal(0.025), 6)
    1.959964
    """
    # a rational start (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.23), then Newton's steps
    t = math.sqrt(-2 * math.log(outside))
    z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)))
    for _ in range(4):
        density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        z += (math.erfc(z / math.sqrt(2)) / 2 - outside) / density
    return z


@cache
def student(freedom: float, outside: float) -> float:
    """The value that Student's t with so many degrees of freedom exceeds with this chance, which is below one half.

    A fraction of a degree of freedom is scipy's affair.

    >>> round(student(4, 0.025), 6)
    2.776445
    """
    if outside < FAR or freedom % 1:
        from scipy.special import stdtrit

        return -float(stdtrit(freedom, outside))
    freedom = int(freedom)
    if freedom == 1:
        return 1 / math.tan(math.pi * outside)
    z = normal(outside)
    if freedom > MANY:
        return _expanded(freedom, z)
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    value = z  # left of the root of a convex function, so Newton's steps only rise towards it
    for _ in range(200):
        density = scale * (1 + value * value / freedom) ** (-(freedom + 1) / 2)
        step = (_tail(freedom, value) - outside) / density
        value += step
        if step <= 1e-15 * value:
            break
    return value


def _tail(freedom: int, value: float) -> float:
    """The chance that t exceeds a value: a finite sum for whole degrees of freedom (the same, 26.7.3 and 26.7.4)."""
    angle = math.atan(value / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    whole = term
    for i in range(3 if odd else 2, freedom, 2):
        term *= (i - 1) / i * cosine * cosine
        whole += term
    inside = 2 / math.pi * (angle + sine * whole) if odd else sine * whole
    return (1 - inside) / 2


def _expanded(freedom: int, z: float) -> float:
    """Student's quantile from the normal one, in powers of 1 / freedom (the same, 26.7.5)."""
    s = z * z
    terms = (
        z,
        z * (s + 1) / 4,
        z * (5 * s**2 + 16 * s + 3) / 96,
        z * (3 * s**3 + 19 * s**2 + 17 * s - 15) / 384,
        z * (79 * s**4 + 776 * s**3 + 1482 * s**2 - 1920 * s - 945) / 92160,
    )
    return math.fsum(term / freedom**i for i, term in enumerate(terms))
