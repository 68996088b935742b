"""Comparing all systems at once: two-way analysis of variance, Tukey's honestly significant differences, and variance over runs of one system."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rankscope.errors import DataError, InputError
from rankscope.inference.base import CLOSE, Correction, Joint, check_between, portions
from rankscope.inference.intervals import error_places
from rankscope.lists import Array, exact_sum


@dataclass(frozen=True)
class Anova:
    """The result of a two-way analysis of variance without replication: the F test of whether systems differ at all.

    ``between`` is the mean square of systems, ``queries`` that of queries, ``residual`` what is left; ``freedom`` are the degrees of
    freedom of systems and of the residual. ``F`` is between over residual.
    """

    F: float
    p_value: float
    between: float
    queries: float
    residual: float
    freedom: tuple[int, int]


def two_way(scores: Array) -> Anova:
    """Run a two-way analysis of variance on scores, systems x queries, with one value in each cell.

    Where nothing is left beside systems and queries, F is infinite and p 0; where systems have equal means then, F is 0 and p 1.
    With two systems it is the paired t test: F is t squared. Source: Fisher 1925; Sakai, Laboratory Experiments in IR, 2018.

    Raises DataError for fewer than two systems or queries, InputError for what is no table of numbers.

    >>> scores = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 3.0]])  # differences 1, 2, 0: t is 1 over the root of 1/3
    >>> two_way(scores).F
    3.0
    """
    from scipy.special import fdtrc

    table = _table(scores)
    m, n = table.shape
    mean = exact_sum(table) / (m * n)
    systems = np.array([exact_sum(row) / n for row in table]) - mean
    queries = np.array([exact_sum(column) / m for column in table.T]) - mean
    left = table - mean - systems[:, None] - queries
    freedom = (m - 1, (m - 1) * (n - 1))
    rounding = (CLOSE * float(np.abs(table - mean).max())) ** 2
    squares = n * exact_sum(systems**2) / freedom[0], exact_sum(left**2) / freedom[1]
    between, residual = (square if square > rounding else 0.0 for square in squares)
    ratio = between / residual if residual else math.inf if between else 0.0
    p_value = 0.0 if ratio == math.inf else float(fdtrc(*freedom, ratio))
    return Anova(ratio, p_value, between, m * exact_sum(queries**2) / (n - 1), residual, freedom)


class tukey(Correction, aliases=("hsd", "tukey_hsd")):
    """Tukey's honestly significant differences: compares each difference with the largest one expected if all systems were equal.

    Scores are systems x queries, without gaps. Takes the spread around systems and queries as the same for every pair, which similar
    runs do not have: then it finds differences where there are none. Holds for all pairs; for pairs with one baseline it is strict.
    """

    joint = True
    title = "Tukey's HSD"
    anova = True
    calibration = (
        "errs in 5.1 to 6.5 % of families at alpha = 5 % (10 systems, 50 queries of TREC scores). With eight near variants and two others it "
        "errs in 11.8 to 14.1 %: use max_t or Holm then"
    )
    in_words = "Tukey's honestly significant differences"
    source = "Tukey, The problem of multiple comparisons, 1953; Sakai, Laboratory Experiments in IR, 2018"
    best_for = "parity with other tools; holm or max_t keep their error rate"

    def over(self, scores: Array, pairs: Array, level: float = 0.95) -> Joint:
        """Adjusted p-values of pairs (rows of ``scores``), and how far from 0 a difference must be.

        A difference beyond ``critical * error``, where ``error`` is the root of residual / queries, has an adjusted p-value below
        1 - level. Raises as ``two_way``, and InputError for a level outside 0 to 1.
        """
        check_between("level", level, 0.95)
        table, analysis = _table(scores), two_way(scores)
        m, n = table.shape
        error = math.sqrt(analysis.residual / n)
        apart = np.array([abs(exact_sum(table[a] - table[b])) / n for a, b in np.asarray(pairs).tolist()])
        freedom = analysis.freedom[1]
        if not analysis.residual:  # systems differ by the same on every query, or not at all
            adjusted = np.where(apart > CLOSE * np.abs(table).max(), 0.0, 1.0)
        else:
            adjusted = np.where(apart > 0, studentised_range(apart / error, m, freedom), 1.0)
        critical = np.full(len(apart), studentised_range_beyond(1 - level, m, freedom))
        return Joint(adjusted, critical, np.full(len(apart), error))


def studentised_range(q: Array, systems: int, freedom: int) -> Array:
    """The probability that the studentised range of this many systems exceeds q.

    The trapezoidal rule over both integrals, whose integrands die away at both ends, so that it errs by about 1e-12.

    >>> round(float(studentised_range(np.array([3.877]), 3, 10)[0]), 4)  # 3.88 in the tables
    0.05
    """
    q = np.asarray(q, dtype=np.float64)
    errors, weights = error_places(freedom)
    out = np.empty(q.shape)
    for some in portions(len(q), len(errors) * len(_PLACES)):
        near = _range_above(np.multiply.outer(q[some], errors), systems)
        out[some] = (near * weights).sum(axis=-1)
    return np.clip(out, 0.0, 1.0)


_PLACES = np.arange(-90, 140) / 10  # a tenth apart: enough for a thousand systems


def _range_above(w: Array, systems: int) -> Array:
    """The chance that the range of normal numbers is above w: for each place of the largest, that one falls far below."""
    from scipy.special import ndtr

    below = ndtr(_PLACES)
    weights = 0.1 * systems * np.exp(-(_PLACES**2) / 2) / math.sqrt(2 * math.pi) * below ** (systems - 1)
    with np.errstate(divide="ignore"):
        all_near = (systems - 1) * np.log1p(-np.minimum(ndtr(_PLACES - w[..., None]) / below, 1.0))
    return np.asarray((-np.expm1(all_near) * weights).sum(axis=-1))  # row by row, whatever the other rows are


def studentised_range_beyond(share: float, systems: int, freedom: int) -> float:
    """The value that the studentised range exceeds with this probability."""
    low, high = 0.0, 1.0
    while studentised_range(np.array([high]), systems, freedom)[0] > share:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        above = studentised_range(np.array([middle]), systems, freedom)[0] > share
        low, high = (middle, high) if above else (low, middle)
    return high


def _table(scores: Array) -> Array:
    table = np.asarray(scores, dtype=np.float64)
    what = "an analysis of variance"
    if table.ndim != 2 or not np.isfinite(table).all():
        raise InputError(f"{what} takes a table of systems x queries without gaps; leave out queries that some lack")
    if min(table.shape) < 2:
        raise DataError(f"{what} needs two systems and two queries; got {table.shape[0]} and {table.shape[1]}")
    return table


# --- several runs of one system whose results vary, as with random seeds


@dataclass(frozen=True, eq=False)
class Replicates:
    """The scores of several runs of one system, averaged for each query, and the sources of their variance.

    ``values`` has one value per query, NaN if no run defines one; ``runs`` is the number of runs. The variances are of the ``complete``
    queries, which all runs define, and NaN with fewer than two complete queries or runs:

    - ``between_queries`` (Sq): the variance over queries of the averages, by queries - 1;
    - ``between_runs`` (W): the variance over runs within a query, by runs - 1, mean over queries;
    - ``deviation``: the standard deviation (Sr is its square) of the means of the runs, by runs - 1;
    - ``residual`` (E): the rest of W: (W - Sr) · Q / (Q - 1), with Q queries;
    - ``variance``: the variance of the mean over Q new queries and R new runs: max(Sq - E / R, 0) / Q + Sr / R;
    - ``removable``: the share of it that further runs remove: (Sr / R) / variance; 0 without variance.

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
        raise InputError("scores of several runs are finite, or NaN if undefined, but these contain infinity")
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
    return Replicates(values, runs, complete, queries_vary, within, math.sqrt(runs_vary), residual, variance, removable)


def _means(rows: Array) -> Array:
    """The mean of each row over what is defined; NaN where nothing is."""
    defined = [row[~np.isnan(row)] for row in rows]
    return np.array([exact_sum(row) / len(row) if len(row) else math.nan for row in defined])


def _variance(values: Array) -> float:
    """The variance by n - 1, from exact sums."""
    if np.ptp(values) == 0:
        return 0.0  # the mean itself may be rounded
    return exact_sum((values - exact_sum(values) / len(values)) ** 2) / (len(values) - 1)
