"""Score rankings against judgments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankscope.dialects.base import Mean as Averaging
from rankscope.dialects.base import NoRelevant, NothingFound, Population, Ties
from rankscope.engines.base import Order, Seen, Values, mapped
from rankscope.engines.orders import scored
from rankscope.errors import DataError, InputError
from rankscope.lists import Array, Judged
from rankscope.scoring import conventions as said_conventions
from rankscope.scoring.conventions import MetricRequest
from rankscope.scoring.distribution import first_ranks
from rankscope.scoring.facts import relstrings
from rankscope.scoring.health import Health, examine, warnings_of
from rankscope.scoring.inputs import (
    CleanInput,
    Duplicates,
    SelfMatch,
    clean,
    distinct_names,
    fraction_in,
    judge,
    label_of,
    named_runs,
    read_any,
    takers,
)
from rankscope.scoring.means import board_of, population, weight_of
from rankscope.scoring.request import Request, request_of
from rankscope.scoring.scores import RunScores, Scores


@dataclass(frozen=True, eq=False)
class RunEvaluation:
    """One run, judged and scored, before the population is known.

    ``query_id`` are all queries; ``judged`` and ``values`` follow the metrics asked for.
    """

    labels: tuple[str, str, str]
    query_id: Sequence[str]
    judged: Sequence[Judged]
    values: Sequence[Values]
    missing: frozenset[str]
    health: Health
    source: Any
    tag: str | None


def evaluate(  # noqa: PLR0913 - the policies of the command line, each with its default
    qrels: Any,
    runs: Any,
    metrics: Any = None,
    *,
    ties: Ties = "trec",
    queries: Population | Iterable[str] = "judged",
    depth: int | None = None,
    duplicates: Duplicates = "error",
    self_match: SelfMatch = "keep",
    no_relevant: NoRelevant = "metric",
    nothing_found: NothingFound = "metric",
    mean: Averaging = "macro",
    weights: Any = None,
    dialect: str | None = None,
    seed: int = 0,
    interval: Any = None,
    level: float = 0.95,
    clusters: Any = None,
    progress: Callable[[str], None] | None = None,
) -> Scores:
    """Score one or more rankings against judgments.

    ``qrels`` and ``runs`` are paths, dicts, data frames, ``Qrels`` and ``Run``; ``runs`` may also be a list
    or a dict of named runs. ``metrics`` are spellings such as ``"nDCG@10"`` or objects such as
    ``nDCG @ 10``; without any: nDCG@10, AP, RR@10, R@100, P@10 and Judged@10.

    ``ties`` orders equal scores (``trec``, ``docid``, ``input``, ``rank``), or takes all their orders together:
    ``expected`` is the mean over them, ``best`` and ``worst`` the extremes. ``queries`` says which queries are
    averaged (``judged``, ``run``, ``both``, ``either`` or a list of ids), ``depth`` cuts every ranking first.
    ``no_relevant`` is the value of a query without a relevant document (0, 1, or ``skip`` to leave it out),
    ``nothing_found="skip"`` leaves out queries with nothing relevant in the top k (``skip_list``: in the list).
    ``weights`` maps queries to weights; ``mean="micro"`` divides what all queries earn by what all are worth.
    ``dialect`` computes everything as another tool would (``"lightgbm"``, ``"recbole"`` ...). Where the orders
    of tied documents are too many to count, they are sampled with ``seed``.
    ``interval`` (``"t"``, ``"bca(rounds=20000)"``, ``"wilson"`` ...) says how sure each mean is, at a ``level``; without
    one it is t, and wilson for scores of 0 and 1. ``clusters`` maps queries that belong together to their user or topic.

    Raises InputError for what cannot be used and DataError where run and qrels share no query.

    >>> import rankscope as rs
    >>> scores = rs.evaluate({"q1": {"a": 2, "b": 0}}, {"q1": {"a": 0.3, "b": 0.9}}, ["nDCG@10", "RR"])
    >>> scores["RR"]
    0.5
    >>> rs.evaluate({"q1": {"a": 1}}, {"q1": {"a": 1.0, "b": 1.0}}, "RR", ties="expected")["RR"]
    0.75
    """
    policies = {
        "ties": ties, "queries": queries, "depth": depth, "duplicates": duplicates, "self_match": self_match,
        "no_relevant": no_relevant, "nothing_found": nothing_found, "mean": mean, "weights": weights, "dialect": dialect, "seed": seed,
    }  # fmt: skip
    call = request_of(metrics, policies, (interval, level, clusters))
    return evaluate_request(qrels, runs, call, progress)


def evaluate_request(
    qrels: Any, runs: Any, call: Request, progress: Callable[[str], None] | None = None
) -> Scores:
    """Score rankings as a call asks: metrics that each come with conventions of their own."""
    grades = clean(read_any("qrels", qrels), call.policy, "qrels", takers([a.metric for a in call.asked]))
    _refuse_fractions(grades, call)
    done = []
    given = list(named_runs(runs))
    for number, (name, run) in enumerate(given, start=1):
        done.append(_evaluate_run(run, name, number, grades, call))
        if progress is not None:
            progress(done[-1].labels[0])
    return replace(_put_together(done, grades, call), given=(qrels, given))


def _refuse_fractions(grades: CleanInput, call: Request) -> None:
    """One line where a grade is no whole number and what was asked for takes nothing else."""
    whole = call.dialect is not None and said_conventions.dialect_called(call.dialect).whole_grades
    if (whole or call.facts) and (where := fraction_in(grades)):
        taker = f"dialect {call.dialect!r}" if whole else next(iter(call.facts))
        raise InputError(f"{where}, and {taker} takes whole grades only; round them, or leave it out")


def _evaluate_run(
    run: Any, name: str | None, number: int, grades: CleanInput, call: Request
) -> RunEvaluation:
    data = read_any("run", run, name)
    labels = label_of(data, name, number)
    cleaned = clean(data, call.policy, "run")
    found: dict[Order, tuple[Judged, Seen]] = {}
    for a in call.asked:
        order = call.order(a)
        if order not in found:
            found[order] = judge(cleaned, grades, order, labels[0])
    judged, seen = next(iter(found.values()))
    count = len(judged) - (len(seen.extra) if call.extra else 0)
    if len(seen.missing) == count:
        _refuse_no_overlap(
            labels[0] if isinstance(data, dict) else data.source.label, seen.extra, seen.missing
        )
    by_metric = [found[call.order(a)][0] for a in call.asked]
    health = examine(
        judged,
        seen,
        call.cutoffs,
        count,
        cleaned.duplicates,
        cleaned.self_matches,
        qrels_duplicates=grades.duplicates,
    )
    source = None if isinstance(data, dict) else data.source
    tag = None if source is None else source.tag
    values = values_of(call, by_metric)
    return RunEvaluation(
        labels, judged.query_id, by_metric, values, frozenset(seen.missing), health, source, tag
    )


def values_of(call: Request, judged: Sequence[Judged]) -> list[Values]:
    """Every metric's values, those under one tie policy computed together, with the policies for hopeless queries."""
    out: dict[int, Values] = {}
    together: dict[tuple[int, str], list[int]] = {}
    for i, (a, data) in enumerate(zip(call.asked, judged, strict=True)):
        together.setdefault((id(data), a.convention.ties), []).append(i)
    for (_, ties), numbers in together.items():
        metrics = [call.asked[i].metric for i in numbers]
        values = scored(judged[numbers[0]], metrics, ties, call.depth, call.seed)
        out.update(zip(numbers, values, strict=True))
    return [_by_policy(call.asked[i], out[i], judged[i]) for i in range(len(call.asked))]


def _by_policy(asked: MetricRequest, values: Values, judged: Judged) -> Values:
    """The values after the policies for queries without relevant documents, and the weights of a micro mean."""
    metric, convention = asked.metric, asked.convention
    value, weight = values.value, values.weight
    if metric.relevance != "none" and metric.aggregate not in {"sum", "pooled"}:
        if convention.no_relevant != "metric":
            in_list = convention.looks_at == "list"
            (hopeless,) = mapped(
                judged, [lambda lists: metric.missed(lists, True) if in_list else metric.hopeless(lists)]
            )
            instead = np.nan if convention.no_relevant == "skip" else float(convention.no_relevant)
            value = np.where(hopeless == 1, instead, value)
        if convention.nothing_found != "metric":
            anywhere = convention.nothing_found == "skip_list"
            (missed,) = mapped(judged, [lambda lists: metric.missed(lists, anywhere)])
            value = np.where(missed == 1, np.nan, value)
    if convention.mean == "micro" and metric.aggregate == "mean":
        (weight,) = mapped(judged, [metric.worth])
    return Values(value, weight, values.error, values.drawn)


def _refuse_no_overlap(name: str, have: Sequence[str], want: Sequence[str]) -> None:
    def some(ids: Sequence[str]) -> str:
        return ", ".join(repr(i) for i in ids[:2]) or "none"

    raise DataError(
        f"no query of {name} is judged: the run has ids like {some(have)}, the qrels like {some(want)}"
    )


def _put_together(done: Sequence[RunEvaluation], grades: CleanInput, call: Request) -> Scores:
    names = distinct_names([e.labels for e in done])
    shared = frozenset[str]().union(*(e.missing for e in done))
    judged_queries = frozenset(grades.data if grades.is_mapping else grades.data.queries)
    runs, board = [], []
    for name, e in zip(names, done, strict=True):
        by_policy = {
            policy: population(policy, e.query_id, judged_queries, e.missing, shared, call.only)
            for policy in dict.fromkeys(a.convention.queries for a in call.asked)
        }
        inside = [by_policy[a.convention.queries] for a in call.asked]
        _refuse_nobody(inside, call)
        shown = np.flatnonzero(np.logical_or.reduce(list(by_policy.values())))
        runs.append(_scores_of_run(name, e, inside, shown, call))
        board += board_of(name, call.asked, e, inside, call.weights)
    health = {name: e.health for name, e in zip(names, done, strict=True)}
    sources = [None if grades.is_mapping else grades.data.source, *(e.source for e in done)]
    label = None if call.weights is None else call.weights.label
    notes = [note for s in sources if s is not None for note in s.notes]
    if call.weights is not None:
        notes += call.weights.unused({query for run in runs for query in run.query_ids})
    conventions = said_conventions.stated(call.asked, call.policy, call.depth, call.dialect, label, call.seed)
    return Scores(
        runs=runs,
        board=call.intervals.beside(board, runs),
        conventions={**conventions, **call.intervals.stated()},
        warnings=warnings_of(
            health, conventions["queries"], [a.metric for a in call.asked], conventions["ties"]
        ),
        inputs=[s for s in sources if s is not None],
        notes=notes,
        found=done,
    )


def _scores_of_run(
    name: str, e: RunEvaluation, inside: Sequence[Array], shown: Array, call: Request
) -> RunScores:
    """The values of the queries shown, NaN where a metric does not average them."""
    asked = list(zip(call.asked, e.values, inside, strict=True))
    ids = [e.query_id[int(i)] for i in shown] if len(shown) < len(e.query_id) else list(e.query_id)
    return RunScores(
        name,
        ids,
        {a.metric: np.where(kept, v.value, np.nan)[shown] for a, v, kept in asked},
        e.health,
        e.tag,
        {a.metric: np.where(kept, v.error, np.nan)[shown] for a, v, kept in asked if v.error is not None},
        {
            fact: relstrings(e.judged[0], shown.tolist(), min(depth, call.depth or depth))
            for fact, depth in call.facts.items()
        },
        {
            a.metric: _laid_out(weight_of(a, v, e.query_id, np.flatnonzero(kept), call.weights), kept)[shown]
            for a, v, kept in asked
            if call.weights is not None or (v.weight != 1).any()
        },
        first_ranks(e.judged[0], call.depth)[shown],
    )


def _laid_out(values: Array, kept: Array) -> Array:
    """Values of some queries at their places among all, NaN elsewhere."""
    out = np.full(len(kept), np.nan)
    out[kept] = values
    return out


def _refuse_nobody(inside: Sequence[Array], call: Request) -> None:
    for a, kept in zip(call.asked, inside, strict=True):
        if not kept.any():
            if a.convention.queries == "list":
                raise DataError("no query of the list is scored: the list is empty")
            raise DataError(
                "no query is judged and in every run: compare fewer runs, or use --queries judged"
            )
