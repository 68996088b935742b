"""torchmetrics: its retrieval metrics, query by query and with its three answers to queries without relevant documents.

Scores are between 0 and 1 here: the tool takes documents with scores of 0 and below for not relevant in some of
its metrics, and passes scores above 1 through a function that makes high ones equal in others.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import rankscope as rs

CLOSE = 1e-6  # the tool works in single precision


@pytest.fixture(scope="module")
def torch(need: Callable[[str], ModuleType]) -> ModuleType:
    return need("torch")


@pytest.fixture(scope="module")
def retrieval(torch: ModuleType, need: Callable[[str], ModuleType]) -> ModuleType:
    return need("torchmetrics.retrieval")


@pytest.fixture(scope="module")
def functional(torch: ModuleType, need: Callable[[str], ModuleType]) -> ModuleType:
    return need("torchmetrics.functional.retrieval")


@pytest.fixture(scope="module")
def binary(letor: Any) -> Any:
    """The real lists without ties, with labels that are 0 or 1 and scores between 0 and 1."""
    qrels, run = letor["no ties"].relabelled(lambda grade: float(grade >= 2))
    return type(letor["no ties"])(qrels, {q: {d: s / 1024 for d, s in docs.items()} for q, docs in run.items()})


def each_of(torch: ModuleType, function: Any, data: Any, **more: Any) -> list[float]:
    """What the tool says of each query."""
    return [
        float(function(torch.tensor(scores), torch.tensor(labels).long(), **more)) for labels, scores in data.queries
    ]


def mean_of(torch: ModuleType, metric: Any, data: Any) -> float:
    """What one of the tool's objects says of all queries together."""
    labels, scores, sizes = data.flat
    index = [i for i, size in enumerate(sizes) for _ in range(size)]
    return float(metric(torch.tensor(scores), torch.tensor(labels).long(), indexes=torch.tensor(index)))


CUT: Any = [
    ("precision", rs.P()),
    ("recall", rs.R()),
    ("average_precision", rs.AP(denominator="hits_at_k")),
    ("reciprocal_rank", rs.RR()),
    ("hit_rate", rs.Success()),
    ("fall_out", rs.FallOut()),
    ("auroc", rs.AUC(single_class=0)),
]


@pytest.mark.parametrize("k", [1, 3, 5, 30])
@pytest.mark.parametrize(("name", "metric"), CUT, ids=lambda x: x if isinstance(x, str) else "")
def test_binary(name: str, metric: Any, k: int, torch: ModuleType, functional: ModuleType, binary: Any) -> None:
    expected = each_of(torch, getattr(functional, f"retrieval_{name}"), binary, top_k=k)
    ours = rs.evaluate(binary.qrels, binary.run, [metric @ k]).runs[0].values[metric @ k]
    assert len(expected) == 50
    assert ours.tolist() == pytest.approx(expected, abs=CLOSE)


def test_precision_of_short_lists(torch: ModuleType, functional: ModuleType, binary: Any) -> None:
    metric = rs.P(denominator="min_k_listlen", cutoff=15)
    expected = each_of(torch, functional.retrieval_precision, binary, top_k=15, adaptive_k=True)
    ours = rs.evaluate(binary.qrels, binary.run, [metric]).runs[0].values[metric]
    assert ours.tolist() == pytest.approx(expected, abs=CLOSE)
    assert ours.tolist() != pytest.approx(each_of(torch, functional.retrieval_precision, binary, top_k=15))


@pytest.mark.parametrize(
    ("name", "metric"), [("r_precision", rs.Rprec()), ("average_precision", rs.AP()), ("auroc", rs.AUC(single_class=0))]
)
def test_whole_lists(name: str, metric: Any, torch: ModuleType, functional: ModuleType, binary: Any) -> None:
    expected = each_of(torch, getattr(functional, f"retrieval_{name}"), binary)
    ours = rs.evaluate(binary.qrels, binary.run, [metric]).runs[0].values[metric]
    assert ours.tolist() == pytest.approx(expected, abs=CLOSE)


@pytest.mark.parametrize("k", [None, 1, 3, 5, 10])
@pytest.mark.parametrize("kind", ["no ties", "ties", "one feature"])
def test_ndcg_is_the_mean_over_orders_of_ties(
    kind: str, k: int | None, torch: ModuleType, functional: ModuleType, letor: Any
) -> None:
    metric = rs.nDCG(cutoff=k)
    expected = each_of(torch, functional.retrieval_normalized_dcg, letor[kind], top_k=k)
    ours = rs.evaluate(letor[kind].qrels, letor[kind].run, [metric], ties="expected")
    assert ours.runs[0].values[metric].tolist() == pytest.approx(expected, abs=CLOSE)


@pytest.mark.parametrize(
    ("name", "metric", "published"),
    [("RetrievalPrecision", rs.P(), 0.2778), ("RetrievalRecall", rs.R(), 0.3333), ("RetrievalMRR", rs.RR(), 0.3889),
     ("RetrievalNormalizedDCG", rs.nDCG(), 0.3180)],
)  # fmt: skip
def test_six_users(
    name: str, metric: Any, published: float, torch: ModuleType, retrieval: ModuleType, six_users: Any
) -> None:
    """The figures on record for this release."""
    mean = mean_of(torch, getattr(retrieval, name)(top_k=3), six_users)
    scores = rs.evaluate(six_users.qrels, six_users.run, [metric @ 3], ties="input", no_relevant=0)
    assert scores[metric @ 3] == pytest.approx(mean, abs=CLOSE)
    assert mean == pytest.approx(published, abs=5e-5)


@pytest.mark.parametrize(
    ("action", "no_relevant", "published"), [("neg", 0, 0.3333), ("skip", "skip", 0.4), ("pos", 1, 0.5)]
)
def test_queries_without_relevant_documents(
    action: str, no_relevant: Any, published: float, torch: ModuleType, retrieval: ModuleType, six_users: Any
) -> None:
    mean = mean_of(torch, retrieval.RetrievalMAP(empty_target_action=action, top_k=3), six_users)
    metric = rs.AP(denominator="hits_at_k") @ 3
    assert mean == pytest.approx(published, abs=5e-5)
    # only a query without relevant documents is treated so, not one of which none was found in the top k
    values = [metric.of(labels) for labels, _ in six_users.queries if any(labels)]
    assert len(values) == 5
    said = [*values, *([] if no_relevant == "skip" else [no_relevant])]
    assert mean == pytest.approx(sum(said) / len(said), abs=CLOSE)


@pytest.mark.parametrize(("action", "no_relevant"), [("neg", 0), ("skip", "skip"), ("pos", 1)])
def test_the_same_by_policy(
    action: str, no_relevant: Any, torch: ModuleType, retrieval: ModuleType, six_users: Any
) -> None:
    mean = mean_of(torch, retrieval.RetrievalMAP(empty_target_action=action, top_k=3), six_users)
    metric = rs.AP(denominator="hits_at_k") @ 3
    scores = rs.evaluate(six_users.qrels, six_users.run, [metric], ties="input", no_relevant=no_relevant)
    assert scores[metric] == pytest.approx(mean, abs=CLOSE)


def test_average_precision_over_hits_only(torch: ModuleType, functional: ModuleType) -> None:
    """What the tool calls AP@k divides by what was found, so that it does not fall where much is missed."""
    labels = [1, 0, 1, 0, 1, 1, 1, 1]
    scores = [float(8 - i) for i in range(8)]
    found = 1 / 1 + 2 / 3
    theirs = float(functional.retrieval_average_precision(torch.tensor(scores), torch.tensor(labels), top_k=3))
    assert theirs == pytest.approx(found / 2, abs=CLOSE)
    assert (rs.AP(denominator="hits_at_k") @ 3).of(labels) == pytest.approx(found / 2)
    assert (rs.AP @ 3).of(labels) == pytest.approx(found / 6)
    assert (rs.AP(denominator="min_k_relevant") @ 3).of(labels) == pytest.approx(found / 3)


def test_scores_below_0(torch: ModuleType, functional: ModuleType) -> None:
    """A defect of the tool: some of its metrics take documents with such scores for not relevant, others do not."""
    labels, scores = [1, 0, 0], [-0.1, -0.2, -0.3]
    preds, target = torch.tensor(scores), torch.tensor(labels)
    wrong: Any = {
        "average_precision": ({}, rs.AP()),
        "reciprocal_rank": ({}, rs.RR()),
        "precision": ({"top_k": 1}, rs.P @ 1),
        "recall": ({"top_k": 1}, rs.R @ 1),
    }
    right: Any = {"hit_rate": ({"top_k": 1}, rs.Success @ 1), "normalized_dcg": ({}, rs.nDCG())}
    for expected, names in ((0, wrong), (1, right)):
        for name, (more, metric) in names.items():
            assert float(getattr(functional, f"retrieval_{name}")(preds, target, **more)) == expected
            assert metric.of(labels, scores=scores) == 1


def test_scores_above_1(torch: ModuleType, functional: ModuleType) -> None:
    """A defect of the tool: of scores that are no probabilities, high ones become equal on the way to its area."""
    labels, scores = [1, 0], [60.0, 50.0]
    assert float(functional.retrieval_auroc(torch.tensor(scores), torch.tensor(labels))) == 0.5
    assert rs.AUC().of(labels, scores=scores) == 1


def test_mean_area_with_groups_of_one_class(torch: ModuleType, retrieval: ModuleType) -> None:
    """Where a group has one class only, "skip" leaves it out if nothing in it is relevant, and counts 0 if all is."""
    groups = [
        ([1, 0, 1, 0, 0], [0.9, 0.7, 0.5, 0.3, 0.1]),
        ([1, 1, 0, 0, 0, 0, 0, 0], [0.5, 0.2, 0.9, 0.8, 0.7, 0.5, 0.2, 0.1]),
        ([0, 0, 0], [0.6, 0.4, 0.2]),
        ([1, 1], [0.6, 0.4]),
    ]
    areas = 5 / 6 + (3 + 2 / 2) / 12
    labels = torch.tensor([label for said, _ in groups for label in said])
    scores = torch.tensor([score for _, said in groups for score in said])
    index = torch.tensor([i for i, (said, _) in enumerate(groups) for _ in said])

    def theirs(action: str) -> float:
        return float(retrieval.RetrievalAUROC(empty_target_action=action)(scores, labels, indexes=index))

    assert theirs("neg") == pytest.approx(areas / 4, abs=CLOSE)
    assert theirs("skip") == pytest.approx(areas / 3, abs=CLOSE)
    assert theirs("pos") == pytest.approx((areas + 1) / 4, abs=CLOSE)
    qrels = {f"q{i}": {f"d{j}": g for j, g in enumerate(said)} for i, (said, _) in enumerate(groups)}
    run = {f"q{i}": {f"d{j}": s for j, s in enumerate(said)} for i, (_, said) in enumerate(groups)}
    ours = rs.evaluate(qrels, run, ["AUC", "AUC(single_class=0)"])
    assert ours["AUC"] == pytest.approx(areas / 2, abs=CLOSE)
    assert ours["AUC(single_class=0)"] == pytest.approx(areas / 4, abs=CLOSE)
