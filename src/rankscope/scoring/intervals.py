"""How sure means are to be told: which interval, at what level, in what clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankscope.errors import InputError
from rankscope.lists import Array

if TYPE_CHECKING:
    from rankscope.inference.base import Bounds, Interval
    from rankscope.metrics import Metric

USUAL = "t; wilson for scores of 0 and 1"


@dataclass(frozen=True, eq=False)
class Intervals:
    """The interval asked for (None: the one that is right for the scores), its level, and the clusters of the queries."""

    interval: Interval | None = None
    level: float = 0.95
    clusters: Any = None

    @classmethod
    def of(cls, interval: Any, level: Any, clusters: Any, seed: int) -> Intervals:
        """What was asked for, checked; an interval that draws starts from ``seed`` unless it names its own."""
        if isinstance(level, bool) or not isinstance(level, int | float) or not 0.5 < level < 1:
            raise InputError(f"level={level!r}: a level is a number between 0.5 and 1, like 0.95")
        if interval is not None:
            from rankscope.inference import find_method
            from rankscope.inference.base import Interval

            interval = find_method(Interval, interval, seed)
        return cls(interval, float(level), clusters)

    def of_mean(self, metric: Metric, values: Array, weights: Array | None, codes: Array | None) -> Bounds:
        """The interval of the mean of these values; without one, the reason."""
        from rankscope.inference.base import Bounds
        from rankscope.panels.samples import bounds_of

        try:
            bounds = bounds_of(metric, values, weights, self.interval, self.level, codes)
        except InputError as error:  # it takes no such values; others on the board have theirs
            return Bounds.none(str(error))
        if math.isinf(bounds.lower) or math.isinf(bounds.upper):
            return Bounds.none(f"{bounds.method} finds no end: too few queries differ")
        return bounds

    def codes(self, runs: Sequence[Sequence[str]]) -> list[Array | None]:
        """The number of the cluster of each query, for the queries of each run."""
        if self.clusters is None:
            return [None] * len(runs)
        from rankscope.files.attributes import clusters_of

        ids = sorted({query for queries in runs for query in queries})
        codes, _ = clusters_of(self.clusters, ids)
        place = {query: i for i, query in enumerate(ids)}
        return [codes[[place[query] for query in queries]] for queries in runs]

    def stated(self) -> dict[str, Any]:
        """What a result states of it."""
        source = self.clusters
        label = str(source) if isinstance(source, str | Path) else "clusters"
        return {
            "interval": USUAL if self.interval is None else str(self.interval),
            "level": self.level,
            "clusters": None if source is None else label,
        }
