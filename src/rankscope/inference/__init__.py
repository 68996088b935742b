"""Inference: intervals, paired tests, corrections, power, looking more than once. It knows arrays, and nothing of runs or metrics."""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeVar

from rankscope.declared import Declared, parameters, parse_all
from rankscope.errors import InputError
from rankscope.inference.base import Correction, Interval, PairedTest

# the modules that declare each kind; imported when one is first asked for
DECLARE = {
    Interval: ("intervals", "bootstrap", "sequences"),
    PairedTest: ("paired", "permutation", "bootstrap", "sequential"),
    Correction: ("corrections", "max_t", "anova"),
}

USUAL = {Interval: "t", PairedTest: "t", Correction: "holm"}

T = TypeVar("T", bound=Declared)


def called(kind: type[T], said: Any, seed: int | None = None) -> T:
    """The test, interval or correction that was said: an object, a class, or a spelling like ``permutation(rounds=20000)``.

    A ``seed`` is where its random numbers start, unless it was said with one of its own. Raises InputError with the nearest name.

    >>> called(Correction, "holm")
    holm
    """
    for module in DECLARE[kind]:
        import_module(f"rankscope.inference.{module}")
    if isinstance(said, kind):
        found = said
    elif isinstance(said, type) and issubclass(said, kind):
        found = said()
    elif isinstance(said, str):
        found = parse_all(kind, said)[0]
    else:
        raise InputError(f"{kind.kind}={said!r}: give the name of one, like {USUAL[kind]!r}")
    if seed and "seed" in parameters(type(found)) and getattr(found, "seed", seed) == 0:
        found = found.having(seed=seed)
    return found
