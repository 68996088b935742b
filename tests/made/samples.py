"""How much is tested: everything in ``.ci/run``, the quick part on a contributor's machine.

``RANKSCOPE_ALL=1``, or a switch that requires other tools, a browser, Spark or LaTeX, runs everything: tests marked ``slow`` too, and
all cases of a combination. Without a switch these tests are left out, and combinations are sampled, each time the same.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from typing import TypeVar

Case = TypeVar("Case")
SWITCHES = ("ALL", *(f"REQUIRE_{name}" for name in ("PARITY", "FRAMES", "SPARK", "BROWSER", "LATEX")))
EVERYTHING = any(os.environ.get(f"RANKSCOPE_{switch}") == "1" for switch in SWITCHES)


def sampled(cases: Iterable[Case], count: int, *, always: Iterable[Case] = ()) -> list[Case]:
    """Return all cases if everything is tested, otherwise ``always`` and a seeded sample of the rest, in their order."""
    every, kept = list(cases), list(always)
    if EVERYTHING or len(every) <= count:
        return every
    rest = [place for place, case in enumerate(every) if case not in kept]
    chosen = random.Random(len(every)).sample(rest, min(max(count - len(kept), 0), len(rest)))
    return [case for place, case in enumerate(every) if place in chosen or case in kept]


def amount(quick: int, everything: int) -> int:
    """Return how many examples to try."""
    return everything if EVERYTHING else quick
