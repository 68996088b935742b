"""Values of which one is to be chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rankscope.errors import InputError


def choices(values: Iterable[Any]) -> str:
    """These values as Python writes them, with commas between."""
    return ", ".join(map(repr, values))


def one_of(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Refuse what is none of these."""
    if value not in allowed:
        raise InputError(f"{name}={value!r}: {name} is one of {choices(allowed)}")
