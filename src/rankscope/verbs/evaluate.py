"""Score rankings against judgments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rankscope.engines.base import TIES, Order, Ties, Values, score
from rankscope.errors import DataError, InputError
from rankscope.lists import Array, Judged
from rankscope.metrics import DEFAULT, Metric, in_order
from rankscope.verbs.health import Health, examine, warnings_of
from rankscope.verbs.inputs import (
    Cleaned,
    Duplicates,
    Policy,
    SelfMatch,
    clean,
    distinct_names,
    judge,
    label_of,
    named_runs,
    read_any,
    takers,
)
from rankscope.verbs.scores import Mean, RunScores, Scores

Population = Literal["judged", "run", "both"]
POPULATIONS: tuple[Population, ...] = ("judged", "run", "both")
FLOOR = 0.00001  # what a value of 0 counts as in a geometric mean, as in trec_eval

TIES_IN_WORDS = {
    "trec": "score, then document id, both descending",
    "docid": "score descending, then document id ascending",
    "input": "score descending, then order of the file",
    "rank": "the rank column",
}
QUERIES_IN_WORDS = {
    "judged": "all judged queries; one missing from a run scores as empty",
    "run": "all queries of the run; one without judgments scores as if nothing were relevant",
    "both": "queries judged and in every run",
}


@dataclass(frozen=True, eq=False)
class _Evaluated:
    """One run, judged and scored, before the population is known."""

    labels: tuple[str, str, str]
    judged: Judged
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
    queries: Population = "judged",
    depth: int | None = None,
    duplicates: Duplicates = "error",
    self_match: SelfMatch = "keep",
    progress: Callable[[str], None] | None = None,
) -> Scores:
    """Score one or more rankings against judgments.

    ``qrels`` and ``runs`` are paths, dicts, data frames, ``Qrels`` and ``Run``; ``runs`` may also be a list
    or a dict of named runs. ``metrics`` are spellings such as ``"nDCG@10"`` or objects such as
    ``nDCG @ 10``; without any: nDCG@10, AP, RR@10, R@100, P@10 and Judged@10. ``ties`` orders equal
    scores, ``queries`` says which queries are averaged, ``depth`` cuts every ranking first.

    Raises InputError for what cannot be used and DataError where run and qrels share no query.

    >>> import rankscope as rs
    >>> scores = rs.evaluate({"q1": {"a": 2, "b": 0}}, {"q1": {"a": 0.3, "b": 0.9}}, ["nDCG@10", "RR"])
    >>> scores["RR"]
    0.5
    """
    _one_of("ties", ties, TIES)
    _one_of("queries", queries, POPULATIONS)
    _one_of("duplicates", duplicates, ("error", "first", "best"))
    _one_of("self_match", self_match, ("keep", "drop"))
    if depth is not None and (isinstance(depth, bool) or not hasattr(depth, "__index__") or depth < 1):
        raise InputError(f"depth={depth!r}: depth is a whole number of at least 1")
    if ties == "rank" and duplicates == "best":
        raise InputError(
            "duplicates='best' goes by score and ties='rank' does not: choose duplicates='first'"
        )
    asked = _asked(metrics)
    if not asked:
        raise InputError(
            "no metric was given: name one, like nDCG@10, or leave metrics out for the usual ones"
        )
    wanted = [metric for _, metric in asked]
    cutoffs = sorted({c for m in wanted if (c := getattr(m, "cutoff", None))} or {10})
    order = Order(
        ties,
        None if depth is None else int(depth),
        tuple(cutoffs),
        frozenset().union(*(m.needs for m in wanted)),
        queries == "run",
    )
    policy = Policy(duplicates, self_match)

    grades = clean(read_any("qrels", qrels), policy, "qrels", takers(wanted))
    done = []
    for number, (name, run) in enumerate(named_runs(runs), start=1):
        done.append(_evaluate_run(run, name, number, grades, wanted, order, policy))
        if progress is not None:
            progress(done[-1].labels[0])
    return _put_together(done, grades, asked, queries, _conventions(ties, queries, depth, policy, wanted))


def _asked(metrics: Any) -> list[tuple[str, Metric]]:
    if metrics is None:
        return in_order(DEFAULT)
    if isinstance(metrics, str | Metric | type):
        return in_order([metrics])
    if not isinstance(metrics, Iterable):
        raise InputError(f"metrics are names like 'nDCG@10' or objects like nDCG @ 10, not {metrics!r}")
    return in_order(metrics)


def _one_of(name: str, value: Any, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise InputError(f"{name}={value!r}: {name} is one of {', '.join(map(repr, allowed))}")


def _evaluate_run(
    run: Any,
    name: str | None,
    number: int,
    grades: Cleaned,
    metrics: Sequence[Metric],
    order: Order,
    policy: Policy,
) -> _Evaluated:
    data = read_any("run", run, name)
    labels = label_of(data, name, number)
    cleaned = clean(data, policy, "run")
    judged, seen = judge(cleaned, grades, order, labels[0])
    count = len(judged) - (len(seen.extra) if order.extra else 0)
    if len(seen.missing) == count:
        _refuse_no_overlap(
            labels[0] if isinstance(data, dict) else data.source.label, seen.extra, seen.missing
        )
    values = score(judged, metrics)
    health = examine(
        judged,
        seen,
        order.cutoffs,
        count,
        cleaned.duplicates,
        cleaned.self_matches,
        qrels_duplicates=grades.duplicates,
    )
    source = None if isinstance(data, dict) else data.source
    tag = None if source is None else source.tag
    return _Evaluated(labels, judged, values, frozenset(seen.missing), health, source, tag)


def _refuse_no_overlap(name: str, have: Sequence[str], want: Sequence[str]) -> None:
    def some(ids: Sequence[str]) -> str:
        return ", ".join(repr(i) for i in ids[:2]) or "none"

    raise DataError(
        f"no query of {name} is judged: the run has ids like {some(have)}, the qrels like {some(want)}"
    )


def _put_together(
    done: Sequence[_Evaluated],
    grades: Cleaned,
    asked: Sequence[tuple[str, Metric]],
    population: Population,
    conventions: dict[str, Any],
) -> Scores:
    names = distinct_names([e.labels for e in done])
    shared = frozenset().union(*(e.missing for e in done))
    runs, board = [], []
    for name, e in zip(names, done, strict=True):
        left_out = {"judged": frozenset[str](), "run": e.missing, "both": shared}[population]
        kept = np.array(
            [i for i, query in enumerate(e.judged.query_id) if query not in left_out], dtype=np.int64
        )
        if not len(kept):
            raise DataError(
                "no query is judged and in every run: compare fewer runs, or use --queries judged"
            )
        ids = [e.judged.query_id[int(i)] for i in kept] if left_out else list(e.judged.query_id)
        values = {metric: v.value[kept] for (_, metric), v in zip(asked, e.values, strict=True)}
        runs.append(RunScores(name, ids, values, e.health, e.tag))
        for (said, metric), v in zip(asked, e.values, strict=True):
            value = v.value[kept]
            # a pooled value is made of the documents of all queries, also of those that have none alone
            defined = len(value) if metric.aggregate == "pooled" else int(np.count_nonzero(~np.isnan(value)))
            number = (
                metric.pool(e.judged.of(kept))
                if metric.aggregate == "pooled"
                else mean(metric, value, v.weight[kept])
            )
            board.append(Mean(name, metric, said, number, defined, len(value) - defined))
    health = {name: e.health for name, e in zip(names, done, strict=True)}
    sources = [None if grades.is_mapping else grades.data.source, *(e.source for e in done)]
    return Scores(
        runs=runs,
        board=board,
        conventions=conventions,
        warnings=warnings_of(health, population, [metric for _, metric in asked], conventions["ties"]),
        inputs=[s for s in sources if s is not None],
        notes=[note for s in sources if s is not None for note in s.notes],
    )


def mean(metric: Metric, value: Array, weight: Array) -> float:
    """The values of the queries as one number, undefined ones left out; NaN where none is defined.

    Sums are exact before they are rounded, so the order of the queries does not matter.
    """
    defined = ~np.isnan(value)
    value, weight = value[defined], weight[defined]
    if not len(value):
        return math.nan
    if metric.aggregate == "sum":
        return math.fsum(value.tolist())
    if metric.aggregate == "geometric":
        return math.exp(math.fsum(math.log(max(v, FLOOR)) for v in value.tolist()) / len(value))
    if metric.aggregate == "weighted":
        whole = math.fsum(weight.tolist())
        return math.fsum((value * weight).tolist()) / whole if whole else math.nan
    return math.fsum(value.tolist()) / len(value)


def _conventions(
    ties: Ties, queries: Population, depth: int | None, policy: Policy, metrics: Sequence[Metric]
) -> dict[str, Any]:
    return {
        "ties": ties,
        "ties_in_words": TIES_IN_WORDS[ties],
        "queries": queries,
        "queries_in_words": QUERIES_IN_WORDS[queries],
        "depth": depth,
        "duplicates": policy.duplicates,
        "self_match": policy.self_match,
        "metrics": {str(metric): metric.convention for metric in metrics},
    }
