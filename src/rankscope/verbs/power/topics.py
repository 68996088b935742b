"""How many topics a test collection needs, designed before it is built."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from rankscope.declared import one_of
from rankscope.errors import InputError
from rankscope.inference.power import topic_set_size
from rankscope.panels.reach import Aim
from rankscope.verbs.power.result import VARIANCE_OF, Design, DesignKind


def design_of(
    kind: str, variance: Any, differences: Sequence[float], widths: Sequence[float], systems: Any, aim: Aim
) -> Design:
    """The topics that a design needs, after Sakai. Raises InputError for what is missing or does not belong."""
    one_of("design", kind, tuple(VARIANCE_OF))
    kind = cast(DesignKind, kind)
    if not hasattr(variance, "__float__") or not 0 < float(variance) < math.inf:
        raise InputError(
            f"variance={variance!r}: design {kind!r} needs the variance {VARIANCE_OF[kind]}, a number above 0"
        )
    needs, other = ("width", "difference") if kind == "interval" else ("difference", "width")
    sizes, extra = (widths, differences) if kind == "interval" else (differences, widths)
    if extra:
        raise InputError(f"{other} does not belong to design {kind!r}: it takes a {needs}")
    if not sizes:
        raise InputError(f"design {kind!r} needs a {needs}, like 0.1")
    if kind == "anova":
        if isinstance(systems, bool) or not hasattr(systems, "__index__") or systems < 2:
            raise InputError(f"systems={systems!r}: design 'anova' needs how many systems will be compared, 2 or more")
    elif systems is not None:
        raise InputError(f"systems does not belong to design {kind!r}: it is about two systems")
    topics = (_topics(kind, float(variance), {needs: size}, systems, aim) for size in sizes)
    return Design(kind, float(variance), systems, tuple(zip(sizes, topics, strict=True)), aim)


def _topics(kind: DesignKind, variance: float, size: dict[str, float], systems: int | None, aim: Aim) -> int:
    return topic_set_size(kind, variance=variance, systems=systems, power=aim.power, alpha=aim.each, **size)
