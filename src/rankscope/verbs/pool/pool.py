"""Leave each run out of the pool: score it without the judgments of documents that no other run found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Unpack

from rankscope.declared import whole_number
from rankscope.engines.base import TIES, Order
from rankscope.engines.top import top
from rankscope.errors import InputError
from rankscope.metrics import Metric
from rankscope.panels.samples import SIGNS
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.inputs import clean, read_inputs
from rankscope.scoring.keywords import PolicyOptions, with_policies
from rankscope.scoring.policies import refuse_unknown
from rankscope.scoring.request import Request
from rankscope.scoring.scores import Scores
from rankscope.verbs.pool.result import Contribution, LeftOut, PoolReport

USUAL = 100  # how deep pools of retrieval experiments go
Judgments = Mapping[str, Mapping[str, float]]
Pair = tuple[str, str]


# fmt: off
@with_policies
def pool(
    qrels: Any, runs: Any, metrics: Any = None, *, pool_depth: int = USUAL, **policies: Unpack[PolicyOptions],
) -> PoolReport:
    """Test if judgments favour the runs of their pool, and if metrics agree on the order of the systems.

    Each run is left out of the pool: it is scored again without the judgments of the documents that it alone has among the first
    ``pool_depth`` of a query (Zobel, 1998). What it loses is what a new run, which nobody pooled, may lose. Kendall's tau tells how far
    two metrics order the systems alike. Takes what ``evaluate`` takes.

    {policies}

    Raises InputError for fewer than two runs, and what ``evaluate`` raises.

    >>> import rankscope as rs
    >>> qrels = {"q1": {"a": 1, "b": 1, "c": 0}}
    >>> found = rs.pool(qrels, {"x": {"q1": {"a": 2.0, "b": 1.0}}, "y": {"q1": {"a": 2.0, "c": 1.0}}}, "P@2")
    >>> [(one.run, one.value, one.without) for one in found.left_out]
    [('x', 1.0, 0.5), ('y', 0.5, 0.5)]
    """
    refuse_unknown(policies, "pool", ("pool_depth",))
    whole_number("pool_depth", pool_depth, 1, "how many documents of each ranking were pooled, a whole number of at least 1")
    request = Request.of(metrics, policies)
    grades, read = read_inputs(qrels, runs, request.policies)
    if len(read) < 2:
        raise InputError("a pool is made of several runs: give two or more")
    scores = evaluate_request(grades, read, request)
    judged = clean(grades, request.policies, "qrels", scores.metrics).mapping
    left_out, contributions = [], []
    for run, (_, data), pairs in zip(scores.runs, read, _in_pool(scores, judged, [data for _, data in read], pool_depth), strict=True):
        own, count = pairs
        contributions.append(Contribution(run.name, count, len(own), sum(judged[query][doc] >= 1 for query, doc in own)))
        left_out += _without_own(scores, judged, data, run.name, own)
    return PoolReport(left_out, contributions, scores, pool_depth)
# fmt: on


def _in_pool(scores: Scores, judged: Judgments, runs: list[Any], depth: int) -> Iterator[tuple[set[Pair], int]]:
    """Yield for each run the number of judged documents among its first that no other run has there, and their total number."""
    policies = scores.request.policies
    ties: Any = policies.ties if policies.ties in TIES else "trec"
    judged_pairs: list[list[Pair]] = []
    for run, data in zip(scores.runs, runs, strict=True):
        rows = top(clean(data, policies, "run").data, Order(ties, policies.depth), depth, run.name)
        pairs = zip(rows["query_id"].to_list(), rows["doc_id"].to_list(), strict=True)
        judged_pairs.append([(query, doc) for query, doc in pairs if doc in judged.get(query, {})])
    times = Counter(pair for pairs in judged_pairs for pair in set(pairs))
    return (({pair for pair in pairs if times[pair] == 1}, len(pairs)) for pairs in judged_pairs)


def _without_own(scores: Scores, judged: Judgments, data: Any, run: str, own: set[Pair]) -> list[LeftOut]:
    """Return each metric of a run without the judgments of its own documents."""
    kept = {query: {doc: g for doc, g in docs.items() if (query, doc) not in own} for query, docs in judged.items()}
    again = evaluate_request(kept, [(run, data)], scores.request)
    values = [(m, scores[run, str(m)], again[run, str(m)]) for m in scores.metrics]
    return [LeftOut(run, m, v, w, _rank(scores, m, run, v), _rank(scores, m, run, w)) for m, v, w in values]


def _rank(scores: Scores, metric: Metric, run: str, value: float) -> int | None:
    """Return the position of a run with this value among the others, or None if neither high nor low is better."""
    if metric.better == "neither":
        return None
    sign = SIGNS[metric.better]
    others = [mean.value for mean in scores.board if mean.metric == metric and mean.run != run]
    return 1 + sum(sign * other > sign * value for other in others)
