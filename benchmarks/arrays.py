"""Arrays and tensors beside scikit-learn and torchmetrics, and an evaluator in a loop beside pytrec_eval's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from benchmarks.data import make_dicts
from benchmarks.measure import Answer, Call, Trial
from benchmarks.scope import METRICS, OURS, Scope

HERE = "benchmarks.arrays:"
DENSE = ((100, 1000), (1_000, 1000), (10_000, 1000))
TENSORS = ((102, 100), (1_024, 100), (10_240, 100))
LOOPS = ((50, 100), (1000, 1000))
SLOW = 110_000  # documents beyond which torchmetrics, which takes longest, is left out
Work = Callable[[], Answer]


def trials(scope: Scope) -> Iterator[Trial]:
    """A matrix of labels, tensors, and dicts in a loop."""
    for queries, documents in DENSE[:-1] if scope.small else DENSE:
        size, arguments = queries * documents, {"queries": queries, "documents": documents}
        yield Trial(
            f"arrays/dense/{size}",
            f"nDCG@10 of arrays, {queries:,} queries × {documents:,} documents",
            size,
            "documents",
            {
                "rankscope, evaluate_arrays": Call(f"{HERE}dense", arguments),
                "scikit-learn, ndcg_score": Call(f"{HERE}sklearn", arguments),
                "scikit-learn, ignore_ties": Call(f"{HERE}sklearn", {**arguments, "ignore_ties": True}),
                "NumPy, five lines": Call(f"{HERE}numpy_lines", arguments),
            },
            "arrays/dense",
            times=2,
            floors=("NumPy, five lines",),
        )
    for queries, documents in TENSORS[:-1] if scope.small else TENSORS:
        size, arguments = queries * documents, {"queries": queries, "documents": documents}
        slow = {"torchmetrics": Call(f"{HERE}torchmetrics", arguments)}
        yield Trial(
            f"arrays/tensors/{size}",
            f"nDCG@10 of tensors, {queries:,} queries × {documents:,} documents",
            size,
            "documents",
            {"rankscope, evaluate_arrays": Call(f"{HERE}tensors", arguments), **(slow if size <= SLOW else {})},
            "arrays/tensors",
            tolerance=1e-5,  # torchmetrics computes in 32 bits
            times=2,
            skipped={} if size <= SLOW else dict.fromkeys(slow, f"timed up to {SLOW:,} documents"),
        )
    for queries, depth in LOOPS:
        arguments = {"queries": queries, "depth": depth}
        yield Trial(
            f"arrays/loop/{queries * depth}",
            f"judgments made ready once, a run of dicts scored, {queries:,} queries × {depth:,} documents",
            queries * depth,
            "documents",
            {
                "rankscope, Evaluator": Call(f"{HERE}evaluator", arguments),
                "pytrec_eval, RelevanceEvaluator": Call(f"{HERE}pytrec_eval", arguments),
            },
            times=4,
        )


def part(name: str) -> Any:
    """A part of rankscope. Raises AttributeError where this version does not have it."""
    import rankscope as rs

    try:
        return getattr(rs, name)
    except AttributeError as error:
        raise AttributeError(f"this version of rankscope has no {name}") from error


def labels_and_scores(queries: int, documents: int) -> tuple[Any, Any]:
    """Grades of 0 to 4, and scores that know something of them."""
    import numpy as np

    draw = np.random.default_rng(1)
    labels = draw.choice(5, (queries, documents), p=[0.8, 0.1, 0.05, 0.03, 0.02])
    return labels, labels * 0.3 + draw.normal(0, 1, labels.shape)


def dense(queries: int, documents: int) -> Work:
    """``rs.evaluate_arrays`` of two matrices."""
    evaluate_arrays = part("evaluate_arrays")
    labels, scores = labels_and_scores(queries, documents)
    return lambda: {"nDCG@10": evaluate_arrays(labels, scores, metrics=["nDCG@10"])["nDCG@10"]}


def sklearn(queries: int, documents: int, ignore_ties: bool = False) -> Work:
    """``ndcg_score`` of the same."""
    from sklearn.metrics import ndcg_score

    labels, scores = labels_and_scores(queries, documents)
    return lambda: {"nDCG@10": float(ndcg_score(labels, scores, k=10, ignore_ties=ignore_ties))}


def numpy_lines(queries: int, documents: int) -> Work:
    """What one writes by hand, with no thought of ties."""
    import numpy as np

    labels, scores = labels_and_scores(queries, documents)
    discount = 1 / np.log2(np.arange(2, 12))

    def work() -> Answer:
        first = np.argsort(-scores, axis=1)[:, :10]
        earned = (np.take_along_axis(labels, first, axis=1) * discount).sum(axis=1)
        ideal = (-np.sort(-labels, axis=1)[:, :10] * discount).sum(axis=1)
        return {"nDCG@10": float(np.divide(earned, ideal, out=np.zeros(queries), where=ideal > 0).mean())}

    return work


def tensors(queries: int, documents: int) -> Work:
    """``rs.evaluate_arrays`` of two tensors of 32 bits."""
    evaluate_arrays = part("evaluate_arrays")
    torch = import_module("torch")
    labels, scores = map(torch.from_numpy, labels_and_scores(queries, documents))
    scores = scores.float()
    return lambda: {"nDCG@10": evaluate_arrays(labels, scores, metrics=["nDCG@10"])["nDCG@10"]}


def torchmetrics(queries: int, documents: int) -> Work:
    """Its metric of retrieval, which takes rows with the number of their query."""
    retrieval: Any = import_module("torchmetrics.retrieval")
    torch = import_module("torch")
    labels, scores = map(torch.from_numpy, labels_and_scores(queries, documents))
    flat = scores.float().flatten(), labels.flatten(), torch.arange(queries).repeat_interleave(documents)

    def work() -> Answer:
        return {"nDCG@10": float(retrieval.RetrievalNormalizedDCG(top_k=10)(flat[0], flat[1], indexes=flat[2]))}

    return work


def evaluator(queries: int, depth: int) -> Work:
    """``rs.Evaluator``, made before."""
    qrels, run = make_dicts(queries, depth, 30)
    ready = part("Evaluator")(qrels, METRICS)

    def work() -> Answer:
        scores = ready(run)
        return {metric: scores[metric] for metric in METRICS}

    return work


def pytrec_eval(queries: int, depth: int) -> Work:
    """Its evaluator, made before, and the means."""
    import pytrec_eval as peer

    from benchmarks.jobs import MEASURES

    qrels, run = make_dicts(queries, depth, 30)
    ready = peer.RelevanceEvaluator(qrels, MEASURES)

    def work() -> Answer:
        found = ready.evaluate(run)
        names = next(iter(found.values()))
        means = {name: sum(values[name] for values in found.values()) / len(found) for name in names}
        return {OURS[name]: value for name, value in means.items() if name in OURS}

    return work
