"""Arrays in, as scikit-learn and torchmetrics take them: the same numbers, each with the conventions that it follows."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rankscope as rs

CLOSE = 1e-9
RNG = np.random.default_rng(2)
LABELS = RNG.integers(0, 5, (200, 30))
APART, TIED = RNG.random((200, 30)), RNG.integers(0, 4, (200, 30)) / 4
BINARY = (LABELS > 2).astype(int)
BINARY[:7] = 0  # queries without a relevant document


@pytest.fixture(scope="module")
def sklearn(need: Callable[[str], ModuleType]) -> Any:
    return need("sklearn.metrics")


@pytest.mark.parametrize("scores", [pytest.param(APART, id="no ties"), pytest.param(TIED, id="ties")])
@pytest.mark.parametrize("k", [None, 1, 10])
@pytest.mark.parametrize("gain", ["linear", "exponential"])
def test_ndcg_of_scikit_learn(sklearn: Any, gain: str, k: int | None, scores: Any) -> None:
    worth = LABELS if gain == "linear" else 2**LABELS - 1
    metric = rs.nDCG(gain=gain, cutoff=k)  # type: ignore[arg-type]
    ours = rs.evaluate_arrays(LABELS, scores, metrics=metric, ties="expected")[metric]
    assert ours == pytest.approx(sklearn.ndcg_score(worth, scores, k=k), abs=CLOSE)
    dcg = rs.DCG(gain=gain, cutoff=k)  # type: ignore[arg-type]
    ours = rs.evaluate_arrays(LABELS, scores, metrics=dcg, ties="expected")[dcg]
    assert ours == pytest.approx(sklearn.dcg_score(worth, scores, k=k), abs=CLOSE)
    if scores is APART:
        ours = rs.evaluate_arrays(LABELS, scores, metrics=metric)[metric]
        assert ours == pytest.approx(sklearn.ndcg_score(worth, scores, k=k, ignore_ties=True), abs=CLOSE)


@pytest.mark.parametrize("k", [None, 10])
def test_the_dialect_of_scikit_learn(sklearn: Any, k: int | None) -> None:
    name = "nDCG" if k is None else f"nDCG@{k}"
    assert rs.evaluate_arrays(LABELS, TIED, metrics=name, dialect="sklearn").means[name] == pytest.approx(
        sklearn.ndcg_score(LABELS, TIED, k=k), abs=CLOSE
    )


def test_label_ranking_of_scikit_learn(sklearn: Any) -> None:
    ours = rs.evaluate_arrays(BINARY, TIED, metrics=["LRAP", "LabelRankingLoss", "CoverageError"])
    assert ours["LRAP"] == pytest.approx(sklearn.label_ranking_average_precision_score(BINARY, TIED), abs=CLOSE)
    assert ours["LabelRankingLoss"] == pytest.approx(sklearn.label_ranking_loss(BINARY, TIED), abs=CLOSE)
    assert ours["CoverageError"] == pytest.approx(sklearn.coverage_error(BINARY, TIED), abs=CLOSE)


@pytest.mark.parametrize("action", ["neg", "skip", "pos"])
@pytest.mark.parametrize(
    ("name", "metric"),
    [("RetrievalMRR", "RR@10"), ("RetrievalPrecision", "P@10"), ("RetrievalRecall", "R@10"), ("RetrievalHitRate", "Success@10"),
     ("RetrievalMAP", "AP@10"), ("RetrievalNormalizedDCG", "nDCG@10")],
)  # fmt: skip
def test_retrieval_metrics_of_torchmetrics(
    need: Callable[[str], ModuleType], name: str, metric: str, action: str
) -> None:
    torch, retrieval = need("torch"), need("torchmetrics.retrieval")
    scores, labels = torch.tensor(APART), torch.tensor(BINARY)
    indexes = torch.arange(len(labels))[:, None].expand(labels.shape)
    theirs = getattr(retrieval, name)(top_k=10, empty_target_action=action)
    theirs.update(scores.flatten(), labels.flatten(), indexes.flatten())
    ours = rs.evaluate_arrays(labels, scores, metrics=metric, dialect=f"torchmetrics-{action}")
    assert ours[metric] == pytest.approx(float(theirs.compute()), abs=1e-6)  # the tool works in single precision
    one_by_one = float(torch.stack([torch.as_tensor(ours.per_query[metric])]).nanmean())
    assert ours[metric] == pytest.approx(one_by_one, abs=CLOSE)
