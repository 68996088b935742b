"""Tools of learning to rank and of general machine learning."""

from __future__ import annotations

from rankscope.dialects.base import Dialect

LEARNING: tuple[Dialect, ...] = ()
