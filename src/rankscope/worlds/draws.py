"""Where chance comes from: a stream of its own for each thing that is random, so that one does not move another."""

from __future__ import annotations

from typing import Literal

import numpy as np

STREAMS = (
    "items", "users", "visits", "lists", "queries", "variants", "policies", "rankings", "teams", "examination", "clicks", "dwell", "orders", "moods",
)  # fmt: skip
Phase = Literal["log", "before", "truth"]
PHASES = ("log", "before", "truth")


def stream(seed: int, name: str, phase: Phase = "log", part: int = 0) -> np.random.Generator:
    """The stream of chance of this name, for one part of the users in one phase.

    >>> float(stream(1, "clicks").random()) == float(stream(1, "clicks").random()) != float(stream(1, "dwell").random())
    True
    """
    return np.random.default_rng([seed, PHASES.index(phase), part, STREAMS.index(name)])
