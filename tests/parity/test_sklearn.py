"""scikit-learn: the area under the curve, with ties and float scores, and nDCG of rankings without ties."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankscope as rs

Table = dict[str, dict[str, float]]
CLOSE = 1e-12


@pytest.fixture(scope="module")
def sklearn_metrics(need: Callable[[str], ModuleType]) -> ModuleType:
    return need("sklearn.metrics")


def world(seed: int, queries: int, decimals: int, fewest: int = 1) -> tuple[Table, Table]:
    """Lists of judged documents; with one decimal most scores are shared, with many none is."""
    rng = np.random.default_rng(seed)
    qrels: Table = {}
    run: Table = {}
    for q in range(queries):
        n = int(rng.integers(fewest, 40))
        grades = rng.choice([0, 0, 1, 2, 3], size=n) * int(rng.integers(0, 8) > 0)
        scores = np.round(rng.normal(size=n) + grades / 3, decimals) + 0.0
        qrels[f"q{q}"] = {f"d{i}": float(grade) for i, grade in enumerate(grades.tolist())}
        run[f"q{q}"] = {f"d{i}": score for i, score in enumerate(scores.tolist())}
    return qrels, run


def columns(qrels: Table, run: Table, level: float) -> list[tuple[list[bool], list[float]]]:
    """Labels and scores of each query, side by side."""
    return [([qrels[q][d] >= level for d in run[q]], list(run[q].values())) for q in run]


def tables(qrels: Table, run: Table) -> tuple[Any, Any]:
    rows = [(q, d, qrels[q][d], run[q][d]) for q in run for d in run[q]]
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "grade", "score"], orient="row")
    return frame.select("query_id", "doc_id", "grade"), frame.select("query_id", "doc_id", "score")


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("decimals", [0, 1, 15])
@pytest.mark.parametrize("shape", ["dicts", "frames"])
def test_auc_of_every_query(decimals: int, level: int, shape: str, sklearn_metrics: ModuleType) -> None:
    qrels, run = world(decimals, 200, decimals)
    inputs: tuple[Any, Any] = (qrels, run) if shape == "dicts" else tables(qrels, run)
    scores = rs.evaluate(*inputs, [rs.AUC(level=level), rs.GAUC(level=level)])
    values = scores.runs[0].values[rs.AUC(level=level)].tolist()
    both = [len(set(labels)) == 2 for labels, _ in columns(qrels, run, level)]
    assert 100 < sum(both) < 190
    expected = [
        sklearn_metrics.roc_auc_score(labels, said) if two else float("nan")
        for (labels, said), two in zip(columns(qrels, run, level), both, strict=True)
    ]
    assert values == pytest.approx(expected, abs=CLOSE, nan_ok=True)
    defined = [
        (value, len(docs)) for value, docs, two in zip(expected, run.values(), both, strict=True) if two
    ]
    assert scores[f"AUC(level={level})"] == pytest.approx(
        sum(v for v, _ in defined) / len(defined), abs=CLOSE
    )
    weighted = sum(v * n for v, n in defined) / sum(n for _, n in defined)
    assert scores[f"GAUC(level={level})"] == pytest.approx(weighted, abs=CLOSE)
    assert scores.board[0].undefined == 200 - sum(both)


@pytest.mark.parametrize("decimals", [0, 1, 15])
@pytest.mark.parametrize("shape", ["dicts", "frames"])
def test_pooled_auc(decimals: int, shape: str, sklearn_metrics: ModuleType) -> None:
    qrels, run = world(decimals + 50, 80, decimals)
    inputs: tuple[Any, Any] = (qrels, run) if shape == "dicts" else tables(qrels, run)
    labels = [label for labels, _ in columns(qrels, run, 1) for label in labels]
    scores = [score for _, said in columns(qrels, run, 1) for score in said]
    value = rs.evaluate(*inputs, [rs.AUC(pooled=True), rs.AUC()])
    assert value["AUC(pooled=True)"] == pytest.approx(
        sklearn_metrics.roc_auc_score(labels, scores), abs=CLOSE
    )
    assert value["AUC(pooled=True)"] != pytest.approx(value["AUC"], abs=1e-3)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(st.booleans(), st.floats(-1e300, 1e300) | st.sampled_from([0.0, -0.0, 1.0])), max_size=30
    )
)
def test_auc_of_any_list(sklearn_metrics: ModuleType, documents: list[tuple[bool, float]]) -> None:
    labels, scores = [label for label, _ in documents], [score for _, score in documents]
    value = rs.AUC().of([int(label) for label in labels], scores=scores)
    if len(set(labels)) < 2:
        assert np.isnan(value)
    else:
        assert value == pytest.approx(sklearn_metrics.roc_auc_score(labels, scores), abs=CLOSE)


@pytest.mark.parametrize("k", [None, 1, 3, 10])
def test_ndcg_without_ties(k: int | None, sklearn_metrics: ModuleType) -> None:
    # the other tool refuses a list of one document
    qrels, run = world(7, 200, 15, fewest=2)
    metric = rs.nDCG(cutoff=k)
    values = rs.evaluate(qrels, run, [metric]).runs[0].values[metric].tolist()
    expected = [sklearn_metrics.ndcg_score([[*qrels[q].values()]], [[*run[q].values()]], k=k) for q in run]
    assert values == pytest.approx(expected, abs=CLOSE)


@pytest.mark.parametrize("gain", ["linear", "exponential"])
def test_dcg_without_ties(gain: Any, sklearn_metrics: ModuleType) -> None:
    qrels, run = world(8, 100, 15, fewest=2)
    metric = rs.DCG(gain=gain) @ 10
    values = rs.evaluate(qrels, run, [metric]).runs[0].values[metric].tolist()
    for query, value in zip(run, values, strict=True):
        worth = [2**grade - 1 if gain == "exponential" else grade for grade in qrels[query].values()]
        assert value == pytest.approx(
            sklearn_metrics.dcg_score([worth], [list(run[query].values())], k=10), abs=CLOSE
        )
