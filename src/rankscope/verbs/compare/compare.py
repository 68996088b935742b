"""Compare runs: which is better, by how much, and whether the difference is real."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.errors import DataError, InputError
from rankscope.panels.families import Family, choose_baselines, pairs_of, pairs_with, slices_of
from rankscope.panels.method import method_of
from rankscope.panels.risk import check_alpha
from rankscope.scoring.measurements import USUAL, Measurements, check_limits, check_predicted, lead_first, measure
from rankscope.scoring.policies import POLICIES, Policies
from rankscope.verbs.compare.result import Comparison

if TYPE_CHECKING:
    from rankscope.panels.tradeoffs import TradeOffs


# fmt: off
def compare(  # noqa: PLR0913 - the options of the command line, each with its default
    qrels: Any, runs: Any = None, metrics: Any = None, *,
    baseline: str | Sequence[str] | None = None, all_pairs: bool = False, primary: Any = None,
    test: Any = None, interval: Any = None, correction: Any = "holm", family: str = "metric", alpha: float = 0.05,
    margin: Any = None, bayes: bool = False, risk: float | None = None,
    clusters: Any = None, slices: Any = None, costs: Any = None, limits: Any = None,
    systems: Mapping[str, str] | str | None = None, tried: int | None = None,
    predicted: Any = None, references: bool = False, seed: int = 0, progress: Callable[[str], None] | None = None, **policies: Any,
) -> Comparison:
    """Say which of several runs is better, by how much, and whether the difference is real.

    ``qrels``, ``runs`` and ``metrics`` are as for ``evaluate``, and so are further ``policies`` (``ties``, ``queries``, ``depth``
    ...). Without ``runs``, the first argument is what was scored already: a ``Scores`` of ``evaluate``, or a table of systems and
    queries (a frame or a file; ``{system: {query: score}}``; an array, systems x queries), of the metric named in ``metrics``.

    - ``baseline``: the run that every other is compared with (the first unless named); the difference is run - baseline. ``"best"`` chooses
      the run with the best mean of the primary metric. All pairs count for the correction then. A list names several baselines.
    - ``all_pairs``: compare every run with every other instead.
    - ``primary``: the metric that was declared in advance; it leads the verdict (the first unless named).
    - ``test``: a paired test (t; where fewer than six queries differ, the exact sign-flip test); ``interval``: that of the differences (t).
    - ``correction``: for several comparisons (holm); it holds within each metric, or with ``family="all"`` over all of them.
    - ``alpha``: the share of false differences that is accepted.
    - ``margin``: a difference that would not matter, for all metrics or by metric, ``0.01`` or ``"1%"`` of the baseline; tests equivalence.
    - ``bayes``: also the probabilities by the Bayesian bootstrap; ``risk``: also U_risk, T_risk and GeoRisk, with losses counted 1 + this number of times.
    - ``clusters``: the user, session or topic of each query.
    - ``slices``: a table of query attributes; runs are compared within each slice, too.
    - ``costs``: a table of what systems cost (latency, price), with ``limits`` on its columns (``{"latency_ms": 100}``).
    - ``systems``: maps runs that are repetitions of one system to its name; they are averaged query by query. Of a table it may say
      where its systems are, ``"rows"`` or ``"columns"``.
    - ``tried``: how many systems were tried on these judgments, where that is known.
    - ``references``: also random, popular and oracle lists of items; ``predicted``: judgments by a model of many queries, corrected by those in ``qrels``; ``seed``: where random numbers start; ``progress`` is called with the name of each run that is read.

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
    candidates, loss = None if tried is None else _check_tried(tried), None if risk is None else check_alpha(risk)
    if all_pairs and baseline is not None:
        raise InputError("all_pairs compares every run with every other: leave out the baseline, or all_pairs")
    score = check_predicted(predicted, runs=runs, clusters=clusters, slices=slices, systems=systems, bayes=bayes or None)
    measurements = measure(
        qrels, _with_references(qrels, runs, metrics, primary, {"seed": seed, **policies}) if references else runs, metrics, primary=primary, clusters=clusters, systems=systems, as_given=method.in_order, score=score, progress=progress, seed=seed, **policies,
    )
    several, looked = choose_baselines(baseline, measurements.panels[0])
    chosen, alone = several[0], len(several) == 1 and not all_pairs
    pairs = pairs_with(measurements.panels[0].systems, several) if several[1:] else pairs_of(measurements.panels[0].systems, chosen, all_pairs)
    compared = Family(measurements.panels, pairs, method, chosen if alone else None, looked=looked)
    compared.check_margins()
    parts = None if slices is None else slices_of(slices, compared)
    measurements, priced = (measurements, None) if costs is None else _tradeoffs(measurements, costs, within, chosen)
    _refuse_none(measurements, compared)
    return Comparison(measurements, compared, chosen, parts, priced, candidates, primary is not None, several, loss)
# fmt: on


def _with_references(qrels: Any, runs: Any, metrics: Any, primary: Any, policies: Mapping[str, Any]) -> Any:
    from rankscope.scoring.references import with_references

    known = {name: value for name, value in policies.items() if name in POLICIES}
    return with_references(qrels, runs, lead_first(USUAL if metrics is None else metrics, primary), Policies(**known))


def _tradeoffs(measurements: Measurements, costs: Any, limits: Any, baseline: str) -> tuple[Measurements, TradeOffs]:
    from rankscope.files.side_tables import costs_of
    from rankscope.panels.tradeoffs import tradeoffs

    first = measurements.panels[0]
    if first.better == "neither":
        raise InputError(f"{first.name} has no better direction: name a primary metric that is")
    table = costs_of(costs)
    means = {system: first.means[system] for system in first.systems}
    result = tradeoffs(means, table, metric=first.name, better=first.better, baseline=baseline, within=limits)
    return replace(measurements, notes=[*measurements.notes, *table.remarks(first.systems)]), result


def _refuse_none(measurements: Measurements, compared: Family) -> None:
    if not any(c.queries for c in compared.contrasts):
        raise DataError(f"no query is scored for two of the runs: {_why_none(measurements)}")


def _why_none(measurements: Measurements) -> str:
    ranked = [set(run.query_ids) for run in measurements.scores.runs] if measurements.scores is not None else []
    if ranked and not np.isfinite(measurements.panels[0].values).any():
        return f"{measurements.panels[0].name} leaves out every query, by the metric or a policy (no_relevant, nothing_found)"
    return "they are of different queries"


def _check_tried(number: Any) -> int:
    if isinstance(number, bool) or not hasattr(number, "__index__") or int(number) < 1:
        raise InputError(
            f"tried={number!r}: how many systems were tried on these judgments, a whole number of at least 1"
        )
    return int(number)
