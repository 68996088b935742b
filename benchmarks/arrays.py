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
    """Lists of grades, a matrix of labels, tensors, and dicts in a loop."""
    yield _grades()
    for queries, documents in DENSE[:-1] if scope.small else DENSE:
        yield _dense(queries * documents, {"queries": queries, "documents": documents})
    for queries, documents in TENSORS[:-1] if scope.small else TENSORS:
        yield _tensors(queries * documents, {"queries": queries, "documents": documents})
    for queries, depth in LOOPS:
        yield _loop(queries * depth, {"queries": queries, "depth": depth})


def _grades() -> Trial:
    queries, depth = 4_000, 120
    arguments = {"queries": queries, "depth": depth}
    return Trial(
        f"arrays/grades/{queries * depth}",
        f"nDCG of lists of grades, {queries:,} lists × {depth:,} grades",
        queries * depth,
        "grades",
        {
            "rankscope, nDCG.of(array)": Call(f"{HERE}of_grades", arguments, repeats=3),
            "rankscope, nDCG.of(lists)": Call(f"{HERE}of_grades", {**arguments, "lists": True}, repeats=3),
            "NumPy, five lines": Call(f"{HERE}grades_by_hand", arguments, repeats=3),
        },
        times=2,
        floors=("NumPy, five lines",),
    )


def _dense(size: int, arguments: dict[str, int]) -> Trial:
    repeats = max(1_000_000 // size, 1)
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "rankscope, evaluate_arrays": ("dense", {}),
        "rankscope, ties expected": ("dense", {"ties": "expected"}),
        "scikit-learn, ndcg_score": ("sklearn", {}),
        "scikit-learn, ignore_ties": ("sklearn", {"ignore_ties": True}),
        "NumPy, five lines": ("numpy_lines", {}),
    }
    return Trial(
        f"arrays/dense/{size}",
        f"nDCG@10 of arrays, {arguments['queries']:,} queries × {arguments['documents']:,} documents",
        size,
        "documents",
        {name: Call(HERE + work, {**arguments, **more}, repeats=repeats) for name, (work, more) in calls.items()},
        "arrays/dense",
        floors=("NumPy, five lines",),
    )


def _tensors(size: int, arguments: dict[str, int]) -> Trial:
    slow = {"torchmetrics": Call(f"{HERE}torchmetrics", arguments)}
    ours = {"rankscope, evaluate_arrays": Call(f"{HERE}tensors", arguments, repeats=5)}
    return Trial(
        f"arrays/tensors/{size}",
        f"nDCG@10 of tensors, {arguments['queries']:,} queries × {arguments['documents']:,} documents",
        size,
        "documents",
        ours | (slow if size <= SLOW else {}),
        "arrays/tensors",
        tolerance=1e-5,  # torchmetrics computes in 32 bits
        skipped={} if size <= SLOW else dict.fromkeys(slow, f"timed up to {SLOW:,} documents"),
    )


def _loop(size: int, arguments: dict[str, int]) -> Trial:
    repeats = max(250_000 // size, 1)
    return Trial(
        f"arrays/loop/{size}",
        f"judgments made ready once, a run of dicts scored, {arguments['queries']:,} queries × {arguments['depth']:,} documents",
        size,
        "documents",
        {
            "rankscope, Evaluator": Call(f"{HERE}evaluator", arguments, repeats=repeats),
            "pytrec_eval, RelevanceEvaluator": Call(f"{HERE}pytrec_eval", arguments, repeats=repeats),
        },
        times=2,
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


def _random_grades(queries: int, depth: int) -> Any:
    import numpy as np

    return np.random.default_rng(1).integers(0, 4, (queries, depth))


def of_grades(queries: int, depth: int, lists: bool = False) -> Work:
    """``rs.nDCG().of`` of a matrix, or of lists of lists."""
    import numpy as np

    import rankscope as rs

    grades = _random_grades(queries, depth)
    given = grades.tolist() if lists else grades
    return lambda: {"nDCG": float(np.mean(rs.nDCG().of(given)))}


def grades_by_hand(queries: int, depth: int) -> Work:
    """The same, as one writes it."""
    import numpy as np

    grades = _random_grades(queries, depth)

    def work() -> Answer:
        discount = 1 / np.log2(np.arange(2, depth + 2))
        earned = (grades * discount).sum(axis=1)
        ideal = (-np.sort(-grades, axis=1) * discount).sum(axis=1)
        return {"nDCG": float(np.divide(earned, ideal, out=np.zeros(queries), where=ideal > 0).mean())}

    return work


def dense(queries: int, documents: int, ties: str = "input") -> Work:
    """``rs.evaluate_arrays`` of two matrices."""
    evaluate_arrays = part("evaluate_arrays")
    labels, scores = labels_and_scores(queries, documents)
    return lambda: {"nDCG@10": evaluate_arrays(labels, scores, metrics=["nDCG@10"], ties=ties)["nDCG@10"]}


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
