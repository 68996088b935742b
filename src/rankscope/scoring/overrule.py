"""What policies make of the values of some queries: another value where a plain function of the lists says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from rankscope.engines.base import Values, map_kernels
from rankscope.lists import Array, Judged
from rankscope.metrics import Metric


def looked_up(judged: Judged, metric: Metric, what: str, kernel: Callable[..., Array]) -> Array:
    """What a plain function gives for each query, kept for other conventions of the same metric."""
    known: dict[Any, Array] = vars(judged).setdefault("looked_up", {})
    if (metric, what) not in known:
        known[metric, what] = map_kernels(judged, [kernel])[0]
    return known[metric, what]


def overrule(
    values: Values, metric: Metric, judged: Judged, kernel: Callable[..., Array], instead: float, what: str
) -> Values:
    """Another value for the queries whose lists this kernel gives 1; none for a metric in whose values relevance has no part."""
    if metric.relevance == "none" or metric.aggregate in {"sum", "pooled"}:
        return values
    return replace(values, value=np.where(looked_up(judged, metric, what, kernel) == 1, instead, values.value))
