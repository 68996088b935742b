"""How sure a mean is: the interval asked for, made when somebody looks at it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from rankscope.blocks import Ranged
from rankscope.errors import InputError
from rankscope.inference.base import Bounds, Interval
from rankscope.lists import Array
from rankscope.metrics import Metric
from rankscope.scoring.scores import Mean, RunScores, Scores

USUAL = "t; wilson for scores of 0 and 1"
MANY = 3  # as many runs are named


@dataclass(frozen=True, eq=False)
class Intervals:
    """What was asked: an interval (None: the one that is right for the scores), its level, and the clusters of the queries."""

    interval: Interval | None = None
    level: float = 0.95
    clusters: Any = None

    def beside(self, board: Sequence[Mean], runs: Sequence[RunScores]) -> list[Mean]:
        """These means, each with its interval, which is made when it is first looked at."""
        by_name = {run.name: run for run in runs}
        codes = self._codes(runs)
        return [
            replace(mean, ends=partial(self._of, by_name[mean.run], mean.metric, codes.get(mean.run)))
            for mean in board
        ]

    def _of(self, run: RunScores, metric: Metric, codes: Array | None) -> Bounds:
        from rankscope.panels.samples import bounds_of

        weights = run.weights.get(metric)
        try:
            found = bounds_of(metric, run.values[metric], weights, self.interval, self.level, codes)
        except InputError as error:  # it takes no such values; others on the board have theirs
            return Bounds.none(str(error))
        if math.isinf(found.lower) or math.isinf(found.upper):
            return Bounds.none(f"{found.method} finds no end: too few queries differ")
        return found

    def _codes(self, runs: Sequence[RunScores]) -> dict[str, Array]:
        """The cluster of each query of each run."""
        if self.clusters is None:
            return {}
        from rankscope.files.attributes import clusters_of

        ids = sorted({query for run in runs for query in run.query_ids})
        codes, _ = clusters_of(self.clusters, ids)
        place = {query: i for i, query in enumerate(ids)}
        return {run.name: codes[[place[query] for query in run.query_ids]] for run in runs}

    def stated(self) -> dict[str, Any]:
        """What the result states of it."""
        said = self.clusters
        return {
            "interval": USUAL if self.interval is None else str(self.interval),
            "level": self.level,
            "clusters": None if said is None else str(said) if isinstance(said, str | Path) else "clusters",
        }


def intervals_of(asked: tuple[Any, Any, Any], seed: int) -> Intervals:
    """What was asked of intervals (which, at what level, by what clusters), checked."""
    interval, level, clusters = asked
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0.5 < level < 1:
        raise InputError(f"level={level!r}: a level is a number between 0.5 and 1, like 0.95")
    if interval is not None:
        from rankscope.inference import called

        interval = called(Interval, interval, seed)
    return Intervals(interval, float(level), clusters)


# --- in words ------------------------------------------------------------------------------------


def legend(scores: Scores) -> str:
    """What the marks beside the values mean; empty where no value has an interval."""
    known = [mean for mean in scores.board if mean.bounds.known]
    if not known:
        return ""
    even = [_is_even(mean) for mean in known]
    methods = " or ".join(sorted({mean.bounds.method for mean in known}))
    clustered = " in clusters" if scores.conventions.get("clusters") else ""
    which = f"the {100 * scores.conventions['level']:g}% {methods} interval over queries{clustered}"
    if not any(even):
        return f"- and + are the two sides of {which}"
    return f"± is half of {which}" + ("" if all(even) else ", - and + its two sides where they differ")


def without(scores: Scores) -> Iterator[str]:
    """Which values have no interval, and why: one sentence a reason."""
    bare = [mean for mean in scores.board if not mean.bounds.known and not math.isnan(mean.value)]
    for reason, group in groupby(sorted(bare, key=lambda m: m.bounds.reason), key=lambda m: m.bounds.reason):
        alike = list(group)
        if len(alike) == len(scores.board):
            yield f"no interval: {reason}"
            return
        yield f"no interval of {', '.join(_named(alike, scores))}: {reason}"


def _named(alike: Sequence[Mean], scores: Scores) -> Iterator[str]:
    """The metrics of these means, each with its runs where these are not all."""
    for metric in dict.fromkeys(mean.metric for mean in alike):
        runs = [mean.run for mean in alike if mean.metric == metric]
        some = len(runs) < len(scores.runs)
        said = ", ".join(runs) if len(runs) <= MANY else f"{len(runs)} runs"
        yield f"{metric} ({said})" if some else str(metric)


def _is_even(mean: Mean) -> bool:
    ends = mean.bounds
    return Ranged(mean.value, ends.lower, ends.upper).even
