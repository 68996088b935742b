"""Score rankings as a request asks: judge each run, compute its values, average the queries that count."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rankscope import words
from rankscope.diagnostics.rule import active_cautions
from rankscope.engines.values import Values, score, score_under_ties
from rankscope.errors import DataError, InputError
from rankscope.lists import Array, Ids, Judged
from rankscope.panels.samples import mean
from rankscope.scoring.health import Health, examine
from rankscope.scoring.input_checks import costs_of_empty_rankings, input_cautions, looks_to_the_end
from rankscope.scoring.inputs import CleanInput, clean, distinct_names, fraction_in, named_runs, read_any
from rankscope.scoring.judging import JudgedRun, judge_run
from rankscope.scoring.policies import OVER_ORDERS, POLICIES
from rankscope.scoring.request import MetricRequest, Request
from rankscope.scoring.runs import Mean, RunEvaluation, RunScores
from rankscope.scoring.scores import Scores

if TYPE_CHECKING:
    from rankscope.inference.base import Bounds
    from rankscope.metrics import Metric

Judge = Callable[[Any, str | None, int, CleanInput, Request], JudgedRun]
MOSTLY = 0.9  # of the top unjudged
NO_QUERY = "no query is judged and in every run: compare fewer runs, or use --queries judged"


KeptValues = dict[tuple[int, str, Any], Values]  # before policies, by judged documents, ties and metric


def evaluate_request(
    qrels: Any, runs: Any, request: Request, progress: Callable[[str], None] | None = None,
    judging: Callable[[CleanInput, Request], Judge] | None = None, earlier: Scores | None = None,
) -> Scores:  # fmt: skip
    """Score rankings as a request asks. ``judging`` returns the function that judges each run. ``earlier`` are scores on the same judgments, whose runs come first."""
    grades = read_judgments(qrels, request)
    if earlier is not None and earlier.judgments_sha256 != grades.content_sha256:
        raise InputError("the judgments changed since these scores: evaluate all runs again")
    if request.facts or request.policies.dialect is not None:
        check_grades(grades, request)
    judge = judge_run if judging is None else judging(grades, request)
    known, evaluations = (
        ([], []) if earlier is None or earlier.data is None else (list(earlier.data[1]), list(earlier.evaluations))
    )
    named = list(named_runs(runs))
    for number, (name, run) in enumerate(named, start=len(known) + 1):
        evaluations.append(evaluate_judged(judge(run, name, number, grades, request), grades.duplicates, request))
        if progress is not None:
            progress(evaluations[-1].labels[0])
    if request.policies.folding is not None and judging is None:
        (request.policies.fold or request.policies.fold_by).refuse_unused()
    if request.policies.columns is not None:
        request.policies.columns.refuse_absent()
    data = (qrels, [*known, *named])
    return scores_of(request, evaluations, grades.queries, grades.source, data, lambda: grades.content_sha256)


def read_judgments(qrels: Any, request: Request) -> CleanInput:
    """Read judgments and clean them as a request asks."""
    table = read_any("qrels", qrels, reading=request.policies)
    return clean(table, request.policies, "qrels", [m.metric for m in request.metrics])


def scores_of(
    request: Request, evaluations: Sequence[RunEvaluation], queries: Collection[str], qrels: Any, data: Any = None,
    content: Callable[[], str | None] | None = None,
) -> Scores:  # fmt: skip
    """The result for these runs. ``queries`` and ``content`` (the digest) are of the qrels, ``data`` are the inputs. Raises DataError without queries to average."""
    for e in evaluations:
        if e.health.missing_queries == e.health.judged_queries:
            label = e.labels[0] if e.source is None else e.source.label
            raise DataError(none_judged(label, e.health.extra, e.missing))
    if not isinstance(request.policies.queries, str):
        refuse_unjudged(request.policies.queries, queries)
    evaluations = mark_averaged(request, evaluations, len(queries))
    if not all(inside.any() for e in evaluations for inside in e.inside):
        raise DataError(NO_QUERY)
    names = distinct_names([e.labels for e in evaluations])
    scored = [run_scores(name, e, request) for name, e in zip(names, evaluations, strict=True)]
    clustered = request.intervals.clusters is not None
    codes = request.intervals.codes([run.query_ids for run in scored]) if clustered else [None] * len(scored)
    board = [
        replace(m, interval=_interval_of(m, request, run, e, clusters))
        for run, e, clusters in zip(scored, evaluations, codes, strict=True)
        for m in board_of(run.name, request, e)
    ]
    incomplete = any(run.health.missing_queries or run.health.empty_queries for run in scored)
    costs = costs_of_empty_rankings(evaluations, scored) if incomplete else {}
    cautions = request.cautions(
        {run.name: run.health for run in scored}, costs, partial(rescored, request, evaluations, names)
    )
    kept = [columns.get("kept", columns) for columns in (vars(e.judged[0]) for e in evaluations)]  # in few bytes or not
    reach = {int(columns["retrieved"].max(initial=0)) for columns in kept}
    strange = [_is_strange(run.health, columns["rank"]) for run, columns in zip(scored, kept, strict=True)]

    if (
        len({m.value for m in board[:: len(request.metrics)]}) < len(scored)
        or (len(reach) > 1 and min(reach) < _deepest(request))
        or any(strange)
        or incomplete
        or any((columns["grade"] != np.rint(columns["grade"])).any() for columns in kept[:1])
    ):  # something is odd: a second look
        again = partial(_means_of, request), partial(rescored, request, evaluations, names)
        second = input_cautions(request, evaluations, scored, strange, data, *again)
        cautions += active_cautions(second, request.policies.ignore)
    sources = [s for s in (qrels, *(e.source for e in evaluations)) if s is not None]
    notes = [note for source in sources for note in source.notes]
    if request.policies.weights is not None:
        notes += request.policies.weights.note_unused({query for run in scored for query in run.query_ids})
    return Scores(
        request=request, runs=scored, board=board,
        warnings=cautions, inputs=sources, notes=notes,
        evaluations=evaluations, data=data, content=content,
    )  # fmt: skip


def rescored(
    request: Request, evaluations: Sequence[RunEvaluation], names: Sequence[str], metric: Metric, other: Metric,
    ties: Literal["", "best", "worst"] = "",
) -> dict[str, float]:  # fmt: skip
    """Return the means of the runs on another metric, under the conventions and queries of a requested one. Other ``ties`` order whole lists again."""
    metric_request, place = request.of_metric(metric), request.place(metric)
    convention = replace(metric_request.convention, ties=ties) if ties else metric_request.convention
    here = request.with_metrics(replace(metric_request, metric=other, convention=convention))
    runs = [replace(e, judged=[e.judged[place]], inside=[e.inside[place]]) for e in evaluations]
    boards = [board_of("", here, replace(e, values=values_of(here, e.judged))) for e in runs]
    return {name: board[0].value for name, board in zip(names, boards, strict=True)}


def _is_strange(health: Health, rank: Array) -> bool:
    """Return True if nearly all of the top is unjudged and most judged documents are missing: ids may be spelled differently."""
    unjudged = max(health.unjudged_at_cutoff.values(), default=0.0)
    return unjudged >= MOSTLY and bool(2 * np.count_nonzero(rank) < len(rank))


def _deepest(request: Request) -> float:
    to_the_end = any(looks_to_the_end(m.metric) for m in request.metrics)
    return math.inf if to_the_end else max(request.orders[0].cutoffs, default=0)


def _means_of(request: Request, qrels: Any, run: Any) -> dict[Any, float]:
    grades = read_judgments(qrels, request)
    evaluation = evaluate_judged(judge_run(run, None, 1, grades, request), grades.duplicates, request)
    return {m.metric: m.value for m in scores_of(request, [evaluation], grades.queries, grades.source).board}


def _interval_of(
    m: Mean, request: Request, run: RunScores, e: RunEvaluation, clusters: Array | None
) -> Callable[[], Bounds]:
    if m.metric.aggregate == "pooled":
        return partial(bounds_of_pooled, request, m.metric, e, run.query_ids, clusters)
    values, weights = run.values[m.metric], run.weights.get(m.metric)
    return partial(request.intervals.of_mean, m.metric, values, weights, clusters)


def bounds_of_pooled(
    request: Request, metric: Metric, e: RunEvaluation, queries: Sequence[str], clusters: Array | None
) -> Bounds:
    """The interval of a pooled value of a run over these queries. ``clusters`` has the number of each query's cluster."""
    from rankscope.panels.pooled import bounds_of_pool, pool_of

    order = sorted(range(len(queries)), key=queries.__getitem__)
    places = {queries[i]: place for place, i in enumerate(order)}
    pool = pool_of(metric, e.judged[request.place(metric)], places)
    if pool is None:
        return request.intervals.of_mean(metric, np.empty(0), None, None)
    codes = None if clusters is None else np.unique(clusters[order], return_inverse=True)[1]
    intervals = request.intervals
    return bounds_of_pool(pool, codes, intervals.interval, intervals.level, metric.range)


def check_grades(grades: CleanInput, request: Request) -> None:
    """Refuse fractional grades if a dialect or a metric needs whole numbers."""
    taker, dialect = next(iter(request.facts), ""), request.policies.dialect
    if dialect is not None:
        from rankscope.dialects import DIALECTS

        taker = f"dialect {dialect!r}" if DIALECTS[dialect].whole_grades else taker
    if taker and (where := fraction_in(grades)):
        raise InputError(f"{where}, and {taker} takes whole grades only: round them, or leave it out")


def evaluate_judged(judged_run: JudgedRun, qrels_duplicates: int, request: Request) -> RunEvaluation:
    """The values of a run, or of some whole queries of it: nothing looks beyond a query, so that parts join to the whole."""
    orders = request.orders
    judged, seen = judged_run.by_order[orders[0]]
    count = len(judged) - (len(seen.extra) if orders[0].extra else 0)
    by_metric = [judged_run.by_order[order][0] for order in orders]
    health = examine(
        judged, seen, orders[0].cutoffs, count, request.metrics[0].convention.ties, request.relevant_from,
        duplicates=judged_run.duplicates, self_matches=judged_run.self_matches, qrels_duplicates=qrels_duplicates,
    )  # fmt: skip
    return RunEvaluation(
        judged_run.labels, judged.query_id, by_metric, values_of(request, by_metric), frozenset(seen.missing), health,
        judged_run.source,
    )  # fmt: skip


def none_judged(label: str, ranked: Iterable[str], judged: Iterable[str]) -> str:
    """The message about a run and qrels without a common query."""
    from rankscope.engines.pairs import queries_alike

    ranked, judged = list(ranked), sorted(judged)
    ids, qrels_ids = (words.sample(map(repr, islice(some, 2)), most=2) for some in (ranked, judged))
    same = queries_alike(ranked, judged)
    alike = "" if same is None else f"; they differ only in {same.spelling.words}: write the ids alike"
    return f"no query of {label} is judged: the run has ids like {ids}, the qrels like {qrels_ids}{alike}"


def values_of(request: Request, judged: Sequence[Judged], kept: KeptValues | None = None) -> list[Values]:
    """The values of each metric over its judged documents, with all policies applied. ``kept`` holds values for further calls with the same ones."""
    known = {} if kept is None else kept
    keys = [(id(data), m.convention.ties, m.metric) for m, data in zip(request.metrics, judged, strict=True)]
    together: dict[tuple[int, str], dict[Any, Judged]] = {}
    for key, data in zip(keys, judged, strict=True):
        if key not in known:
            together.setdefault(key[:2], {})[key[2]] = data
    policies = request.policies
    for (number, ties), of_metrics in together.items():
        metrics, data = list(of_metrics), next(iter(of_metrics.values()))
        if ties in OVER_ORDERS:
            values = score_under_ties(data, metrics, ties, policies.depth, policies.seed)
        else:
            values = score(data, metrics)
        known.update(((number, ties, metric), one) for metric, one in zip(metrics, values, strict=True))
    out = [known[key] for key in keys]
    for name, policy in POLICIES.items():
        for i, m in enumerate(request.metrics):
            value = getattr(m.convention, name, getattr(policies, name))
            if value == policy.default:
                continue  # a default changes nothing
            out[i] = policy.apply(value, out[i], m.metric, judged[i], m.convention)
    return out


def refuse_unjudged(listed: frozenset[str], judged: Iterable[str]) -> None:
    """Refuse a list of queries that are not all among the judged ones."""
    if unknown := sorted(listed.difference(judged)):
        raise DataError(
            f"queries: {unknown[0]!r} is not judged ({len(unknown)} of {len(listed)} of the list are not); "
            "the list holds ids of judged queries"
        )


def mark_averaged(request: Request, runs: Sequence[RunEvaluation], judged: int) -> list[RunEvaluation]:
    """The runs, each with the queries that each metric averages. ``judged`` counts the queries of the qrels, or of a part of them."""
    # a query that any run lacks is in no population "both"
    lacking = frozenset[str]().union(*(run.missing for run in runs))
    queries = request.policies.queries
    only = frozenset[str]() if isinstance(queries, str) else queries
    out = []
    for run in runs:
        inside: dict[str, Array] = {}
        is_judged = np.arange(len(run.query_id)) < judged  # these come first
        for population in dict.fromkeys(m.convention.queries for m in request.metrics):
            if population == "judged":
                inside[population] = is_judged
            elif population == "either":
                inside[population] = np.ones(len(run.query_id), dtype=bool)
            elif population == "list":
                inside[population] = _among(run.query_id, only)
            else:
                without = _among(run.query_id, run.missing if population == "run" else lacking)
                inside[population] = ~without if population == "run" else is_judged & ~without
        out.append(replace(run, inside=[inside[m.convention.queries] for m in request.metrics]))
    return out


def _among(queries: Sequence[str], some: frozenset[str]) -> Array:
    return np.fromiter(map(some.__contains__, queries), dtype=bool, count=len(queries))


def run_scores(name: str, e: RunEvaluation, request: Request) -> RunScores:
    """The score of each query of a run that is averaged."""
    at = np.flatnonzero(np.logical_or.reduce(list(e.inside)))
    by_metric = list(zip(request.metrics, e.values, e.inside, strict=True))
    depth, all_kept = request.policies.depth, len(at) == len(e.query_id)
    weights = {}
    for m, v, kept in by_metric:
        if request.policies.weights is not None or (v.weight != 1).any():
            weight = np.full(len(kept), np.nan)
            weight[kept] = weight_of(m, v, e.query_id, np.flatnonzero(kept), request)
            weights[m.metric] = weight[at]
    return RunScores(
        name, e.query_id if all_kept else Ids.take(e.query_id, at),
        {m.metric: v.value if kept.all() else np.where(kept, v.value, np.nan)[at] for m, v, kept in by_metric}, e.health,
        None if e.source is None else e.source.tag,
        {fact: relstrings(e.judged[0], at, min(signs, depth or signs)) for fact, signs in request.facts.items()},
        weights, partial(first_ranks, e.judged[0], at, depth),
    )  # fmt: skip


def first_ranks(judged: Judged, queries: Array, depth: int | None) -> Array:
    """The rank of the first document of grade 1 or more for each of these queries, 0 if none was retrieved."""
    relevant = (judged.rank > 0) & (judged.grade >= 1)
    if depth is not None:
        relevant &= judged.rank <= depth
    at = np.flatnonzero(relevant)
    query = np.repeat(np.arange(len(judged)), judged.size)[at]
    out = np.zeros(len(judged), dtype=np.int64)
    # the documents of a query stand by rank, so that the first one met has the lowest
    first = np.append(True, query[1:] != query[:-1])[: len(query)]
    out[query[first]] = judged.rank[at[first]]
    return out[queries]


def relstrings(judged: Judged, queries: Array, depth: int) -> list[str]:
    """The first documents of each query by their grades: a digit (``>`` above 9), ``.`` for a negative grade, ``-`` for an unjudged document."""
    out = []
    for number in queries.tolist():
        at = int(judged.start[number])
        here = slice(at, at + int(judged.in_run[number]))
        signs = ["-"] * min(depth, int(judged.retrieved[number]))
        for rank, grade in zip(judged.rank[here].tolist(), judged.grade[here].tolist(), strict=True):
            if rank <= depth:
                signs[rank - 1] = "." if grade < 0 else str(int(grade)) if grade < 10 else ">"
        out.append("".join(signs))
    return out


def board_of(run: str, request: Request, evaluation: RunEvaluation) -> list[Mean]:
    """The means of one run."""
    e, out = evaluation, []
    for m, values, judged, kept in zip(request.metrics, e.values, e.judged, e.inside, strict=True):
        at = np.flatnonzero(kept)
        value, weight = values.value[at], values.weight[at]
        if request.policies.weights is not None:
            weight = weight_of(m, values, e.query_id, at, request)
        known = ~np.isnan(value)
        # a pooled value uses the documents of all queries, even queries without a value
        if m.metric.aggregate == "pooled":
            number, defined = m.metric.pool(judged if len(at) == len(kept) else judged.of(at)), len(value)
        else:
            number, defined = mean(m.metric, value, weight), int(np.count_nonzero(known))
        error = None
        if values.error is not None:  # the part of a mean's error that comes from sampling orders of tied documents
            whole = math.fsum(weight[known].tolist())
            squares = math.fsum(((weight * values.error[at])[known] ** 2).tolist())
            error = math.sqrt(squares) / whole if whole else math.nan
        out.append(
            Mean(run, m.metric, m.spelling, number, defined, len(value) - defined, error, values.sampled_queries)
        )
    return out


def weight_of(m: MetricRequest, values: Values, query_id: Sequence[str], at: Array, request: Request) -> Array:
    """The weights of the queries at these positions in the mean of a metric: its own weights times the given ones."""
    weight, weights = values.weight[at], request.policies.weights
    if weights is None or m.metric.aggregate == "sum":
        return weight
    if m.metric.aggregate == "pooled":
        raise InputError(f"{m.metric} is made of all documents together: it takes no weights of queries")
    of_queries: Array = weights.of([query_id[int(i)] for i in at])
    return weight * of_queries
