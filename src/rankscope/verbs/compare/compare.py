"""Compare runs: which is better, by how much, and whether the difference is real."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.errors import DataError, InputError
from rankscope.panels.families import Family, baseline_of, pairs_of
from rankscope.panels.method import method_of
from rankscope.panels.slices import slices_of
from rankscope.scoring.measurements import Measurements, check_limits, measure
from rankscope.verbs.compare.result import Comparison

if TYPE_CHECKING:
    from rankscope.panels.tradeoffs import TradeOffs


# fmt: off
def compare(  # noqa: PLR0913 - the options of the command line, each with its default
    qrels: Any, runs: Any = None, metrics: Any = None, *,
    baseline: str | None = None, all_pairs: bool = False, primary: Any = None,
    test: Any = None, interval: Any = None, correction: Any = "holm", family: str = "metric", alpha: float = 0.05,
    margin: Any = None, bayes: bool = False,
    clusters: Any = None, slices: Any = None, costs: Any = None, limits: Any = None,
    systems: Mapping[str, str] | str | None = None, tried: int | None = None,
    seed: int = 0, progress: Callable[[str], None] | None = None, **policies: Any,
) -> Comparison:
    """Say which of several runs is better, by how much, and whether the difference is real.

    ``qrels``, ``runs`` and ``metrics`` are as for ``evaluate``, and so are further ``policies`` (``ties``, ``queries``, ``depth``
    ...). Without ``runs``, the first argument is what was scored already: a ``Scores`` of ``evaluate``, or a table of systems and
    queries (a frame or a file; ``{system: {query: score}}``; an array, systems x queries), of the metric named in ``metrics``.

    - ``baseline``: the run that every other is compared with (the first unless named); the difference is run - baseline.
    - ``all_pairs``: compare every run with every other instead.
    - ``primary``: the metric that was declared in advance; it leads the verdict (the first unless named).
    - ``test``: a paired test (t; where fewer than six queries differ, the exact sign-flip test); ``interval``: that of the differences (t).
    - ``correction``: for several comparisons (holm); it holds within each metric, or with ``family="all"`` over all of them.
    - ``alpha``: the share of false differences that is accepted.
    - ``margin``: a difference that would not matter, for all metrics or by metric, ``0.01`` or ``"1%"`` of the baseline; tests equivalence.
    - ``bayes``: also the probabilities by the Bayesian bootstrap.
    - ``clusters``: the user, session or topic of each query.
    - ``slices``: a table of query attributes; runs are compared within each slice, too.
    - ``costs``: a table of what systems cost (latency, price), with ``limits`` on its columns (``{"latency_ms": 100}``).
    - ``systems``: maps runs that are repetitions of one system to its name; they are averaged query by query. Of a table it may say
      where its systems are, ``"rows"`` or ``"columns"``.
    - ``tried``: how many systems were tried on these judgments, where that is known.
    - ``seed``: where random numbers start; ``progress`` is called with the name of each run that is read.

    Raises InputError for what cannot be used, DataError where there is nothing to compare.

    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
    >>> low = {query: {"b": 2.0, "a": 1.0} for query in qrels}
    >>> high = {query: {"a": 2.0, "b": 1.0} for query in qrels} | {"q7": {"b": 1.0}}
    >>> found = rs.compare(qrels, {"low": low, "high": high}, "RR")
    >>> found["high", "RR"].verdict, found["high", "RR"].difference
    ('better', 0.375)
    """
    method = method_of(test=test, interval=interval, correction=correction, family=family, alpha=alpha, margin=margin, bayes=bayes, seed=seed)
    within = None if not limits else check_limits(limits, costs)
    candidates = None if tried is None else _check_tried(tried)
    if all_pairs and baseline is not None:
        raise InputError("all_pairs compares every run with every other: leave out the baseline, or all_pairs")
    given = measure(
        qrels, runs, metrics, primary=primary, clusters=clusters, systems=systems, as_given=method.in_order, progress=progress, seed=seed, **policies,
    )
    names = given.panels[0].systems
    chosen = baseline_of(baseline, names)
    compared = Family(given.panels, pairs_of(names, chosen, all_pairs), method, None if all_pairs else chosen)
    compared.check_margins()
    parts = None if slices is None else slices_of(slices, compared)
    given, priced = (given, None) if costs is None else _tradeoffs(given, costs, within, chosen)
    if not any(c.queries for c in compared.contrasts):
        raise DataError(f"no query has a value for two of the runs: {_why_none(given)}")
    return Comparison(given, compared, chosen, parts, priced, candidates, primary is not None)
# fmt: on


def _tradeoffs(given: Measurements, costs: Any, limits: Any, baseline: str) -> tuple[Measurements, TradeOffs]:
    """What the runs cost against the primary metric, and what is to say about the table of costs."""
    from rankscope.files.side_tables import costs_of
    from rankscope.panels.tradeoffs import tradeoffs

    first = given.panels[0]
    if first.better == "neither":
        raise InputError(f"{first.name} is neither better nor worse when it is higher: name a primary metric that is")
    table = costs_of(costs)
    means = {system: first.means[system] for system in first.systems}
    found = tradeoffs(means, table, metric=first.name, better=first.better, baseline=baseline, within=limits)
    return replace(given, notes=[*given.notes, *table.remarks(first.systems)]), found


def _why_none(given: Measurements) -> str:
    """Why no two runs have a value for one query."""
    ranked = [set(run.query_ids) for run in given.scores.runs] if given.scores is not None else []
    if ranked and not np.isfinite(given.panels[0].values).any():
        return f"{given.panels[0].name} leaves out every query, as the metric or a policy (no_relevant, nothing_found) says"
    return "they are of different queries"


def _check_tried(number: Any) -> int:
    """How many systems were tried, checked."""
    if isinstance(number, bool) or not hasattr(number, "__index__") or int(number) < 1:
        raise InputError(
            f"tried={number!r}: how many systems were tried on these judgments, a whole number of at least 1"
        )
    return int(number)
