"""Several runs of one system whose results vary, as with random seeds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rankscope.errors import InputError
from rankscope.lists import Array, exact_sum


@dataclass(frozen=True, eq=False)
class Replicates:
    """The scores of several runs of one system, averaged for each query, and where their variance comes from.

    ``values`` is one value a query, NaN where no run defines one; ``runs`` how many runs there are. The variances are of the
    ``complete`` queries, which all runs define, and NaN with fewer than two of these or of runs:

    - ``between_queries`` (Sq): the variance over queries of the averages, by queries - 1;
    - ``between_runs`` (W): the variance over runs within a query, by runs - 1, mean over queries;
    - ``deviation``: the standard deviation (Sr is its square) of the means of the runs, by runs - 1;
    - ``residual`` (E): what is left of W without that: (W - Sr) · Q / (Q - 1), with Q queries;
    - ``variance``: that of the mean over Q queries and R runs, new ones of both:
      max(Sq - E / R, 0) / Q + Sr / R;
    - ``removable``: the share of it that goes away with more and more runs: (Sr / R) / variance; 0 without variance.

    Queries and runs are random here: score = mean + query + run + residual, the two-way layout without replication (Searle,
    Casella and McCulloch, Variance Components, 1992). With query, run and residual variances q, r and e, Sq estimates q + e/R,
    Sr estimates r + e/Q, and W estimates r + e, so that ``variance`` estimates q/Q + r/R + e/(QR).
    """

    values: Array
    runs: int
    complete: int
    between_queries: float
    between_runs: float
    deviation: float
    residual: float
    variance: float
    removable: float


def average(scores: Array) -> Replicates:
    """Average runs x queries for each query (NaN is undefined and left out), and estimate where the variance comes from.

    Does not depend on the order of runs or queries. Raises InputError for scores that are not runs x queries.

    >>> two = average(np.array([[0.2, 0.4, 0.9], [0.4, 0.6, 0.5]]))
    >>> two.values.round(3).tolist(), two.runs
    ([0.3, 0.5, 0.7], 2)
    """
    scores = np.asarray(scores, dtype=float)
    if scores.ndim != 2 or not scores.shape[0]:
        raise InputError(f"scores of several runs are runs x queries, not an array of shape {scores.shape}")
    if np.isinf(scores).any():
        raise InputError("scores of several runs are finite, or NaN where undefined; these hold infinity")
    whole = scores[:, ~np.isnan(scores).any(axis=0)]
    runs, complete = len(scores), whole.shape[1]
    values = _means(scores.T)
    if runs < 2 or complete < 2:
        return Replicates(values, runs, complete, *[math.nan] * 6)
    queries_vary = _variance(_means(whole.T))
    within = exact_sum(np.array([_variance(column) for column in whole.T])) / complete
    runs_vary = _variance(_means(whole))
    residual = max((within - runs_vary) * complete / (complete - 1), 0.0)  # below 0 only by rounding
    by_runs = runs_vary / runs
    variance = max(queries_vary - residual / runs, 0.0) / complete + by_runs
    removable = by_runs / variance if variance else 0.0
    parts = queries_vary, within, math.sqrt(runs_vary), residual, variance, removable  # in the order of the fields
    return Replicates(values, runs, complete, *parts)


def _means(rows: Array) -> Array:
    """The mean of each row over what is defined; NaN where nothing is."""
    defined = [row[~np.isnan(row)] for row in rows]
    return np.array([exact_sum(row) / len(row) if len(row) else math.nan for row in defined])


def _variance(values: Array) -> float:
    """The variance by n - 1, from exact sums."""
    if np.ptp(values) == 0:
        return 0.0  # the mean itself may be rounded
    return exact_sum((values - exact_sum(values) / len(values)) ** 2) / (len(values) - 1)
