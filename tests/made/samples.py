"""How much is tested: the quick part on a contributor's machine, slow tests and other tools in ``.ci/run``, everything with ``RANKSCOPE_ALL=1``.

``RANKSCOPE_ALL=1`` runs all cases of a combination. A switch that requires other tools, a browser, Spark or LaTeX runs tests marked ``slow``.
Without a switch these tests are left out. Samples are the same each time.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from typing import TypeVar

Case = TypeVar("Case")
SWITCHES = ("ALL", *(f"REQUIRE_{name}" for name in ("PARITY", "FRAMES", "SPARK", "BROWSER", "LATEX", "POSTGRES")))
EVERYTHING = os.environ.get("RANKSCOPE_ALL") == "1"
SLOW = any(os.environ.get(f"RANKSCOPE_{switch}") == "1" for switch in SWITCHES)  # slow tests and other tools


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
