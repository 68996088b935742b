"""Other values for some queries, as policies demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from rankscope.engines.base import Values, map_kernels
from rankscope.lists import Array, Judged
from rankscope.metrics import Metric


def cached_per_query(judged: Judged, metric: Metric, name: str, kernel: Callable[..., Array]) -> Array:
    """Run a kernel on each query once per metric and name. Other conventions of the metric use the cached values."""
    cache: dict[Any, Array] = vars(judged).setdefault("cached_per_query", {})
    if (metric, name) not in cache:
        cache[metric, name] = map_kernels(judged, [kernel])[0]
    return cache[metric, name]


def override_values(
    values: Values, metric: Metric, judged: Judged, kernel: Callable[..., Array], instead: float, name: str
) -> Values:
    """Set another value for queries for which the kernel returns 1, unless the metric ignores relevance."""
    if metric.relevance == "none" or metric.aggregate in {"sum", "pooled"}:
        return values
    return replace(values, value=np.where(cached_per_query(judged, metric, name, kernel) == 1, instead, values.value))
