"""Compare a reproduced run with the original: order of documents, scores of queries, effects over a baseline."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from rankscope.engines.base import TIES, Order
from rankscope.engines.top import top
from rankscope.errors import DataError, InputError
from rankscope.lists.overlap import kendall, rbo_to_depth
from rankscope.panels.families import Family
from rankscope.panels.method import method_of
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.inputs import clean, named_runs, read_any
from rankscope.scoring.keywords import PolicyOptions, with_policies
from rankscope.scoring.measurements import panels_of
from rankscope.scoring.policies import Policies, refuse_unknown
from rankscope.scoring.request import Request
from rankscope.scoring.scores import Scores
from rankscope.verbs.reproduce.result import MetricEffect, OrderOfQuery, Reproduction

PERSISTENCE, DEPTH = 0.95, 1000  # as repro_eval has them


# fmt: off
@with_policies
def reproduce(  # noqa: PLR0913 - the options of the command line
    original: Any, mine: Any, metrics: Any = None, *, qrels: Any = None, original_baseline: Any = None, baseline: Any = None,
    p: float = PERSISTENCE, depth_of_overlap: int = DEPTH, **policies: Unpack[PolicyOptions],
) -> Reproduction:
    """Measure how close a reproduced run is to the original one, as repro_eval does (Breuer et al., SIGIR 2020).

    Rankings have Kendall's tau of the union of their documents, and rank-biased overlap with persistence ``p``, query by query
    down to ``depth_of_overlap``. With ``qrels``: the root mean square error of the values of queries, and p of the paired t test. With the
    ``original_baseline`` and my ``baseline``: the effect ratio (my mean improvement divided by the original's, 1 is perfect) and
    the difference of the relative improvements (original less mine, 0 is perfect).

    {policies}

    Raises InputError for one baseline without the other or without judgments, DataError for runs that share no query.

    >>> import rankscope as rs
    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> original, mine = {"q1": ["a", "b"], "q2": ["b", "a"]}, {"q1": ["a", "b"], "q2": ["a", "b"]}
    >>> found = rs.reproduce(original, mine, "RR", qrels=qrels)
    >>> found.tau, found["RR"].rmse == (0.5**2 / 2) ** 0.5  # one order of two is turned
    (0.0, True)
    """
    refuse_unknown(policies, "reproduce", ("qrels", "original_baseline", "baseline", "p", "depth_of_overlap"))
    if not isinstance(p, int | float) or not 0 < p < 1:
        raise InputError(f"p={p!r}: the chance of going on to the next rank must be above 0 and below 1")
    if isinstance(depth_of_overlap, bool) or not isinstance(depth_of_overlap, int) or depth_of_overlap < 1:
        raise InputError(f"depth_of_overlap={depth_of_overlap!r}: the compared ranks are a whole number of at least 1, like 1000")
    baselines = [one for one in (original_baseline, baseline) if one is not None]
    if len(baselines) == 1 or (baselines and qrels is None):
        raise InputError("an effect ratio needs judgments and two baselines: --original-baseline and --baseline")
    request = Request.of(metrics, policies)
    named = [pair for run in (original, mine, *baselines) for pair in named_runs(run)]
    if len(named) != 2 + len(baselines):
        raise InputError("name one original run and one reproduced run")
    grades = None if qrels is None else read_any("qrels", qrels, reading=request.policies)
    read = [(name, read_any("run", run, name, reading=request.policies)) for name, run in named]
    scores = None if qrels is None else evaluate_request(grades, read, request)
    names = ("original", "mine") if scores is None else (scores.runs[0].name, scores.runs[1].name)
    by_query, alone = _orders(read[0][1], read[1][1], request.policies, (p, depth_of_overlap))
    return Reproduction(names, by_query, [] if scores is None else _effects(scores), p, depth_of_overlap, request, scores, alone)
# fmt: on


def _orders(
    original: Any, mine: Any, policies: Policies, how: tuple[float, int]
) -> tuple[list[OrderOfQuery], tuple[int, int]]:
    """The order of each query that both rank, and how many queries each ranks alone."""
    p, depth = how
    ties: Any = policies.ties if policies.ties in TIES else "trec"
    lists = []
    for run in (original, mine):
        rows = top(clean(run, policies, "run").data, Order(ties, policies.depth), depth)
        grouped: dict[str, list[str]] = {}
        for query, document in rows.select("query_id", "doc_id").iter_rows():
            grouped.setdefault(query, []).append(document)
        lists.append(grouped)
    shared = [query for query in lists[0] if query in lists[1]]
    if not shared:
        raise DataError("the two runs share no query: are they of one collection, with ids written alike?")
    out = []
    for query in shared:
        one, other = lists[0][query], lists[1][query]
        places = {document: i for i, document in enumerate(sorted({*one, *other}))}
        size = min(len(one), len(other))
        union = kendall(*(np.array([places[doc] for doc in docs[:size]]) for docs in (one, other)))
        rank = {document: i for i, document in enumerate(other)}
        both = [(i, rank[document]) for i, document in enumerate(one) if document in rank]
        common = kendall(*np.array(both, dtype=float).reshape(-1, 2).T)
        out.append(OrderOfQuery(query, union, common, len(both), rbo_to_depth(one, other, p, depth), one == other))
    return out, (len(lists[0]) - len(shared), len(lists[1]) - len(shared))


def _effects(scores: Scores) -> list[MetricEffect]:
    out = []
    for panel in panels_of(scores):
        original, mine, *baselines = panel.systems
        pairs = [(mine, original), *([(original, baselines[0]), (mine, baselines[1])] if baselines else [])]
        contrasts = Family([panel], pairs, method_of(test="t", correction="none")).contrasts
        improvements = tuple((c.difference, c.baseline_value) for c in contrasts[1:])
        first = contrasts[0]
        errors = first.paired.run - first.paired.baseline
        most = np.maximum(first.paired.baseline, 1 - first.paired.baseline)
        rmse = float(np.sqrt(np.mean(errors**2))) if len(errors) else float("nan")
        worst = float(np.sqrt(np.mean(most**2))) if len(errors) and panel.measure.range == (0.0, 1.0) else float("nan")
        out.append(
            MetricEffect(panel.measure.metric, first, rmse, rmse / worst if worst else float("nan"), improvements)
        )
    return out
