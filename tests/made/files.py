"""Files that tests go over."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def some(paths: Iterable[Path]) -> list[Path]:
    """The files that a pattern finds, in order; a pattern that finds none is a mistake, as a loop over nothing passes any test."""
    found = sorted(paths)
    if not found:
        raise AssertionError("the pattern finds no file, so nothing would be tested")
    return found
