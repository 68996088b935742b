"""What is compared, wherever it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankscope.inference.replicates import Replicates
from rankscope.metrics import Metric
from rankscope.panels.panel import Panel
from rankscope.scoring.scores import Scores


@dataclass(frozen=True, eq=False)
class Measurements:
    """What is compared: each metric over all systems, the primary metric first.

    ``curve`` holds the primary metric at other cutoffs, ``replicates`` the variances of systems that ran several times, by metric
    and system, and ``members`` the runs of each such system; ``scores`` is there where runs were evaluated.
    """

    fields: Sequence[Panel]
    scores: Scores | None = None
    curve: Sequence[Panel] = ()
    notes: Sequence[str] = ()
    replicates: Mapping[str, Mapping[str, Replicates]] = field(default_factory=dict)
    inputs: Sequence[Mapping[str, Any]] = ()
    members: Mapping[str, Sequence[str]] = field(default_factory=dict)


def panels_of(
    scores: Scores,
    metrics: Sequence[Metric] | None = None,
    clusters: Mapping[str, int] | None = None,
    as_given: bool = False,
) -> list[Panel]:
    """The metrics of a result, each over all its runs and the union of their queries, sorted by id unless they stay ``as_given``."""
    known = dict.fromkeys(query for run in scores.runs for query in run.query_ids)
    ids = tuple(known if as_given else sorted(known))
    places = {query: i for i, query in enumerate(ids)}
    at = [np.array([places[query] for query in run.query_ids], dtype=int) for run in scores.runs]
    codes = None if clusters is None else np.array([clusters[query] for query in ids])
    out = []
    for metric in scores.metrics if metrics is None else metrics:
        values = np.full((len(scores.runs), len(ids)), np.nan)
        weights = np.ones_like(values) if any(metric in run.weights for run in scores.runs) else None
        for row, run in enumerate(scores.runs):
            values[row, at[row]] = run.values[metric]
            if weights is not None and metric in run.weights:
                weights[row, at[row]] = np.nan_to_num(run.weights[metric])
        names = tuple(run.name for run in scores.runs)
        out.append(
            Panel(str(metric), names, ids, values, metric, metric.better, metric.range, weights, codes)
        )
    return out
