"""How numbers of contrasts read in the tables of an experiment."""

from __future__ import annotations

from rankscope import words
from rankscope.blocks import NumberText
from rankscope.inference.base import Bounds
from rankscope.panels.contrast import Contrast


def difference(c: Contrast) -> str:
    """The difference."""
    return words.in_table(words.number(c.difference, sign=True, digits=c.panel.measure.decimals))


def interval(c: Contrast, bounds: Bounds) -> str:
    """An interval of the difference; nothing where there is none."""
    text = words.interval(bounds.lower, bounds.upper, sign=True, digits=c.panel.measure.decimals)
    return words.in_table(text) if bounds.known else ""


def number(c: Contrast, value: float) -> NumberText:
    """A value of a variant."""
    return NumberText(words.in_table(words.number(value, digits=c.panel.measure.decimals)), value)


def lift(c: Contrast) -> str:
    """The difference as a share of the baseline; nothing where there is none."""
    value, _ = c.relative
    return words.relative(value) if words.finite(value) is not None else ""


def lift_interval(bounds: Bounds) -> str:
    """The interval of a lift; nothing where there is none."""
    return f"{words.relative(bounds.lower)} to {words.relative(bounds.upper)}" if bounds.known else ""
