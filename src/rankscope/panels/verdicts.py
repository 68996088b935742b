"""Old names of what ``words`` writes now; it goes as soon as nobody asks here."""

from __future__ import annotations

import math
from typing import Any

from rankscope.inference.base import Bounds

SPELLED = 3  # as many runs get sentences of their own; more are counted
NOTHING = 5e-13  # a difference below this is of rounding, and written as 0


def sentence(c: Any) -> str:
    """One contrast in full."""
    return str(c.sentence())


def also(c: Any) -> str:
    """One contrast beside another of the same two runs."""
    return str(c.beside())


# --- numbers ---------------------------------------------------------------------------------------------


def number(value: float, sign: bool = False) -> str:
    """A difference as people read it: three decimals, more where it is smaller than they show.

    >>> number(0.0214), number(0.00042), number(-0.5, sign=True), number(12.345), number(-2e-17, sign=True)
    ('0.021', '0.00042', '-0.500', '12.345', '+0.000')
    """
    if math.isnan(value):
        return "-"
    size = abs(value)
    digits = 3 if size >= 0.001 or size < NOTHING else min(1 - math.floor(math.log10(size)), 12)
    said = f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"
    return said if float(said) else said.replace("-", "+" if sign else "")


def percent(share: float) -> str:
    """A share as a percentage, with no more digits than it has.

    >>> percent(0.95), percent(0.999), percent(1 - 1e-5)
    ('95%', '99.9%', '99.999%')
    """
    return f"{100 * share:.8g}%"


def counted(queries: int) -> str:
    """A count of queries in words."""
    return f"{queries:,} {'query' if queries == 1 else 'queries'}"


def signed(value: float) -> str:
    """A difference with its sign."""
    return number(value, sign=True)


def ends(bounds: Bounds, turned: bool = False, between: str = " to ") -> str:
    """The ends of an interval, of the opposite difference if ``turned``."""
    low, high = (-bounds.upper, -bounds.lower) if turned else (bounds.lower, bounds.upper)
    return f"{number(low + 0.0)}{between}{number(high + 0.0)}"


def p_of(value: float) -> str:
    """A p-value as people read it.

    >>> p_of(0.01234), p_of(0.00001), p_of(0.25)
    ('p = 0.012', 'p < 0.001', 'p = 0.25')
    """
    if math.isnan(value):
        return "no p-value"
    return "p < 0.001" if value < 0.001 else f"p = {p_plain(value)}"


def p_plain(value: float) -> str:
    """A p-value without its letter: two digits, three decimals at most."""
    if math.isnan(value):
        return "-"
    if value < 0.001:
        return "<.001"
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def rounded(count: int) -> str:
    """A count of queries to two digits: it is no more exact than that.

    >>> rounded(113), rounded(47), rounded(12345)
    ('110', '47', '12,000')
    """
    digits = max(len(str(count)) - 2, 0)
    return f"{round(count, -digits):,}"
