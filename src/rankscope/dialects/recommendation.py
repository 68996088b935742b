"""Tools of recommendation."""

from __future__ import annotations

from rankscope.dialects.base import Dialect

RECOMMENDATION: tuple[Dialect, ...] = ()
