"""Rankings in memory as dicts: what is asked in a loop, and the mean over all orders of equal scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks import fusion
from benchmarks.data import make_dicts
from benchmarks.measure import Answer, Call, Trial
from benchmarks.scope import METRICS, OURS, Scope

SHAPES = ((10, 100), (100, 100), (100, 1000), (1000, 1000))
JUDGED = 30
SLOW = 100_000  # documents beyond which those that take longest are left out
Work = Callable[[], Answer]


def trials(scope: Scope) -> Iterator[Trial]:
    """Sizes growing tenfold, and ties."""
    for queries, depth in SHAPES[:-1] if scope.small else SHAPES:
        size, arguments = queries * depth, {"queries": queries, "depth": depth}
        repeats = max(20_000 // size, 1)
        slow = {tool: Call(f"benchmarks.dicts:{tool}", arguments, repeats=repeats) for tool in ("ir_measures", "ranx")}
        fits = size <= SLOW
        yield Trial(
            f"dicts/evaluate/{size}",
            f"dicts, {queries:,} queries × {depth:,} documents",
            size,
            "documents",
            {
                "rankscope": Call("benchmarks.dicts:rankscope", arguments, repeats=repeats),
                "pytrec_eval": Call("benchmarks.dicts:pytrec_eval", arguments, repeats=repeats),
                **(slow if fits else {}),
            },
            "dicts/evaluate",
            times=3,
            skipped={} if fits else dict.fromkeys(slow, f"timed up to {SLOW:,} documents"),
        )
    yield from fusion.trials(scope)
    queries = 1_000 if scope.small else 10_000
    yield Trial(
        f"dicts/ties/{queries * 100}",
        f"all scores equal: their order by id, and the mean over all orders, {queries:,} queries × 100 documents",
        queries * 100,
        "documents",
        {
            f"rankscope, ties {policy}": Call("benchmarks.dicts:ties", {"queries": queries, "policy": policy})
            for policy in ("trec", "expected")
        },
        tolerance=1.0,  # they are to differ
    )


def rankscope(queries: int, depth: int) -> Work:
    """``rs.evaluate`` from dicts, with the counts of data health."""
    import rankscope as rs

    qrels, run = make_dicts(queries, depth, JUDGED)

    def work() -> Answer:
        scores = rs.evaluate(qrels, run, METRICS)
        return {metric: scores[metric] for metric in METRICS}

    return work


def pytrec_eval(queries: int, depth: int) -> Work:
    """Its evaluator, made anew for each call, and the means."""
    import pytrec_eval as peer

    from benchmarks.jobs import MEASURES

    qrels, run = make_dicts(queries, depth, JUDGED)

    def work() -> Answer:
        found = peer.RelevanceEvaluator(qrels, MEASURES).evaluate(run)
        names = next(iter(found.values()))
        means = {name: sum(values[name] for values in found.values()) / len(found) for name in names}
        return {OURS[name]: value for name, value in means.items() if name in OURS}

    return work


def ir_measures(queries: int, depth: int) -> Work:
    """Its means from dicts."""
    import ir_measures as peer
    from ir_measures import AP, RR, P, R, nDCG

    qrels, run = make_dicts(queries, depth, JUDGED)
    measures = [nDCG @ 10, AP, RR @ 10, R @ 100, P @ 10]
    return lambda: {str(measure): value for measure, value in peer.calc_aggregate(measures, qrels, run).items()}


def ranx(queries: int, depth: int) -> Work:
    """Its means from dicts; what it compiles is compiled before the rounds that count."""
    from ranx import Qrels, Run, evaluate

    names = {"nDCG@10": "ndcg@10", "AP": "map", "RR@10": "mrr@10", "R@100": "recall@100", "P@10": "precision@10"}
    qrels, run = make_dicts(queries, depth, JUDGED)
    relevant: Any = {query: {doc: grade for doc, grade in row.items() if grade} for query, row in qrels.items()}

    def work() -> Answer:
        found: Any = evaluate(Qrels(relevant), Run(run), [*names.values()])
        return {name: float(found[theirs]) for name, theirs in names.items()}

    return work


def ties(queries: int, policy: Any) -> Work:
    """A scorer that gives every document the same score."""
    import numpy as np

    import rankscope as rs

    metrics = ["nDCG@10", "P@10", "R@100", "DCG@20", "RBP"]
    grades = np.random.default_rng(1).integers(0, 4, (queries, 100)).tolist()
    qrels = {f"q{i}": {f"d{j}": grade for j, grade in enumerate(row)} for i, row in enumerate(grades)}
    run = {query: dict.fromkeys(graded, 1.0) for query, graded in qrels.items()}

    def work() -> Answer:
        scores = rs.evaluate(qrels, run, metrics, ties=policy)
        return {"nDCG@10": scores["nDCG@10"]}

    return work
