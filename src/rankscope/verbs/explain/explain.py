"""Explain a score, or the difference of two: one query position by position, or where a difference over all queries comes from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from rankscope.errors import DataError, InputError
from rankscope.inference.effects import favourable
from rankscope.lists import Array, Judged
from rankscope.metrics import Metric, parse
from rankscope.scoring.evaluation import evaluate
from rankscope.scoring.inputs import clean, named_runs, read_any, takers
from rankscope.scoring.measurements import panels_of
from rankscope.scoring.ranking import order_of, ranking_of
from rankscope.scoring.request import policy_of
from rankscope.scoring.scores import Scores
from rankscope.scoring.sources import Band, bands_of, by_rank
from rankscope.show.notebook import InNotebook
from rankscope.verbs.explain.difference import Difference, difference
from rankscope.verbs.explain.explanation import Explanation, explanation

if TYPE_CHECKING:
    from rankscope.scoring.evaluation import RunEvaluation

ORDERS = ("trec", "docid", "input", "rank")


@dataclass(frozen=True, eq=False)
class Explained(InNotebook):
    """What ``explain`` found for one query: an ``Explanation``, or with two runs a ``Difference``, and what it rests on."""

    shown_by: ClassVar[str] = "rankscope.verbs.explain.result"

    found: Explanation | Difference
    conventions: Mapping[str, Any]
    notes: Sequence[str] = field(default_factory=list)
    inputs: Sequence[Any] = field(default_factory=list)

    @property
    def value(self) -> float:
        """The value, or the difference of the two values (the second run less the first)."""
        return self.found.value

    def __str__(self) -> str:
        from rankscope.show.terminal import render
        from rankscope.verbs.explain.result import blocks_of

        return render(blocks_of(self))

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class Sourced(InNotebook):
    """Where the difference of two runs over all queries comes from.

    ``bands`` sum, with ``rest`` (what no rank adds), to ``value``, the mean of the second run less that of the first over the queries
    that both have a value for. ``by_query`` holds each query's difference, the largest first.
    """

    shown_by: ClassVar[str] = "rankscope.verbs.explain.result"

    runs: tuple[str, str]
    metric: Metric
    value: float
    bands: Sequence[Band]
    rest: float
    by_query: Sequence[tuple[str, float]]
    carried: tuple[int, float] | None
    conventions: Mapping[str, Any]
    notes: Sequence[str] = field(default_factory=list)
    inputs: Sequence[Any] = field(default_factory=list)

    def __str__(self) -> str:
        from rankscope.show.terminal import render
        from rankscope.verbs.explain.result import blocks_of

        return render(blocks_of(self))

    __repr__ = __str__


@overload
def explain(
    qrels: Any, runs: Any, metric: Any = "nDCG@10", *, query: str, ties: str = "trec", **policies: Any
) -> Explained: ...
@overload
def explain(
    qrels: Any, runs: Any, metric: Any = "nDCG@10", *, query: None = None, ties: str = "trec", **policies: Any
) -> Sourced: ...
def explain(
    qrels: Any,
    runs: Any,
    metric: Any = "nDCG@10",
    *,
    query: str | None = None,
    ties: str = "trec",
    **policies: Any,
) -> Explained | Sourced:
    """Say why a ranking scores what it scores, or why two differ.

    With a ``query`` and one run: rank by rank the document, its grade, each factor of the metric, what it adds, what a perfect
    ranking adds there, and what is lost. With two runs: what each document adds to the difference (second less first), as it was
    promoted, demoted, entered or left. What the rows add sums to the value (within 1e-12), for every metric. Without a query,
    for two runs: which ranks the difference of the means comes from, and which queries carry it. (For one run over all queries
    there is ``diagnose``.)

    Takes what ``evaluate`` takes; ``ties`` is one order (``trec``, ``docid``, ``input`` or ``rank``). Raises InputError for a query
    that is neither judged nor ranked, for more than two runs, and what ``evaluate`` raises.

    >>> import rankscope as rs
    >>> found = rs.explain({"q": {"a": 2, "b": 1}}, {"q": {"x": 3.0, "a": 2.0}}, "nDCG@10", query="q")
    >>> [(p.doc_id, round(p.adds, 4)) for p in found.found.positions]
    [('x', 0.0), ('a', 0.4796)]
    """
    if ties not in ORDERS:
        raise InputError(
            f"ties={ties!r}: an explanation is of one order, so ties is one of {', '.join(ORDERS)}"
        )
    asked = parse(metric)
    given = [(name, read_any("run", run, name)) for name, run in named_runs(runs)]
    if len(given) > 2:
        raise InputError(
            f"there are {len(given)} runs: give one to explain its value, or two to explain their difference"
        )
    if query is None and len(given) == 1:
        raise InputError(
            "name a query to explain, or give two runs; diagnose tells of one run over all queries"
        )
    grades = read_any("qrels", qrels)
    scores = evaluate(grades, given, [asked], ties=ties, **policies)  # type: ignore[arg-type]
    if query is None:
        return _sourced(scores)
    return _explained(scores, grades, [run for _, run in given], str(query), ties, policies)


# --- one query ------------------------------------------------------------------------------------------


def _explained(
    scores: Scores, grades: Any, runs: Sequence[Any], query: str, ties: str, policies: Mapping[str, Any]
) -> Explained:
    metric = scores.metrics[0]
    policy = policy_of(policies.get("duplicates", "error"), policies.get("self_match", "keep"), ties)  # type: ignore[arg-type]
    judgments = clean(grades, policy, "qrels", takers([metric]))
    order = order_of(scores, metric)
    found = []
    for scored, evaluated, run in zip(scores.runs, scores.found, runs, strict=True):
        ranking = ranking_of(clean(run, policy, "run"), judgments, query, order)
        found.append(explanation(scored.name, metric, _alone(evaluated, query), ranking))
    whole = found[0] if len(found) == 1 else difference(found[0], found[1])
    if math.isnan(whole.value):
        undefined = next(f.run for f in found if math.isnan(f.value))
        raise DataError(f"query {query!r}: {metric} has no value for {undefined}; {metric.convention}")
    return Explained(whole, scores.conventions, list(scores.notes), list(scores.inputs))


def _alone(evaluated: RunEvaluation, query: str) -> Judged:
    """The judged documents of one query."""
    if query not in evaluated.query_id:
        raise DataError(
            f"query {query!r} is not judged, so that no ranking of it has a value; --queries run scores such queries"
        )
    return evaluated.judged[0].of(np.array([list(evaluated.query_id).index(query)]))


# --- all queries ----------------------------------------------------------------------------------------


def inseparable(metric: Metric) -> str:
    """Why the difference of two means does not part by rank; empty where it does."""
    if metric.aggregate in {"pooled", "sum", "geometric"}:
        return f"{metric} is no mean over queries, so that its difference does not part by rank"
    return ""


def _sourced(scores: Scores) -> Sourced:
    reason = inseparable(scores.metrics[0])
    if reason:
        raise InputError(f"{reason}; name a query, or another metric")
    before, after = (scored.name for scored in scores.runs)
    return sourced(scores, before, after, scores.metrics[0])


def sourced(scores: Scores, before: str, after: str, metric: Metric) -> Sourced:
    """Where the difference of two runs comes from, ``after`` less ``before``, on a metric that was evaluated under one order of equal scores.

    The metric must not be ``inseparable``. Raises DataError where no query has a value for both runs.
    """
    names = [scored.name for scored in scores.runs]
    at = [names.index(before), names.index(after)]
    (field,) = panels_of(replace(scores, runs=[scores.runs[i] for i in at]), [metric])
    pair = field.pair(after, before)
    if not pair.queries:
        raise DataError(f"no query has a value of {metric} for both runs")
    ids = [query for query, kept in zip(field.query_ids, pair.inside.tolist(), strict=True) if kept]
    place = [mean.metric for mean in scores.board if mean.run == before].index(metric)
    parts = []
    for row, i in enumerate(at):
        weights = None if field.weights is None else field.weights[row][pair.inside]
        parts.append(_ranks(scores.found[i], place, metric, ids, weights))
    bands = bands_of(parts[0][0], parts[1][0])
    by_query = sorted(zip(ids, pair.gains.tolist(), strict=True), key=lambda item: (-abs(item[1]), item[0]))
    return Sourced(
        (before, after),
        metric,
        pair.difference,
        bands,
        parts[1][1] - parts[0][1],
        by_query,
        favourable(pair.sample),
        scores.conventions,
        list(scores.notes),
        list(scores.inputs),
    )


def _ranks(
    evaluated: RunEvaluation, place: int, metric: Metric, ids: Sequence[str], weights: Array | None
) -> tuple[Array, float]:
    """What each rank adds to the mean of one run over these queries, with their weights."""
    places = {query: i for i, query in enumerate(evaluated.query_id)}
    at = np.array([places[query] for query in ids])
    kept = np.zeros(len(evaluated.query_id), dtype=bool)
    kept[at] = True
    weight = np.zeros(len(kept))
    weight[at] = 1.0 if weights is None else weights
    return by_rank(metric, evaluated.judged[place], kept, weight / math.fsum(weight.tolist()))
