"""scikit-learn: the area under the curve, nDCG, average precision and label ranking, with ties and float scores."""

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
    defined = [(value, len(docs)) for value, docs, two in zip(expected, run.values(), both, strict=True) if two]
    assert scores[f"AUC(level={level})"] == pytest.approx(sum(v for v, _ in defined) / len(defined), abs=CLOSE)
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
    assert value["AUC(pooled=True)"] == pytest.approx(sklearn_metrics.roc_auc_score(labels, scores), abs=CLOSE)
    assert value["AUC(pooled=True)"] != pytest.approx(value["AUC"], abs=1e-3)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.floats(-1e300, 1e300) | st.sampled_from([0.0, -0.0, 1.0])), max_size=30))
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
        assert value == pytest.approx(sklearn_metrics.dcg_score([worth], [list(run[query].values())], k=10), abs=CLOSE)


KINDS = ("no ties", "ties", "one feature")
LABELS: Any = [
    ("label_ranking_average_precision_score", rs.LRAP),
    ("label_ranking_loss", rs.LabelRankingLoss),
    ("coverage_error", rs.CoverageError),
]


def each_and_mean(data: Any, metric: Any, **policy: Any) -> tuple[list[float], float]:
    scores = rs.evaluate(data.qrels, data.run, [metric], **policy)
    return scores.runs[0].values[metric].tolist(), scores[metric]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize(("name", "metric"), LABELS)
def test_label_ranking_of_real_lists(
    name: str, metric: Any, level: int, kind: str, sklearn_metrics: ModuleType, letor: Any
) -> None:
    function = getattr(sklearn_metrics, name)
    expected = [function([[g >= level for g in labels]], [said]) for labels, said in letor[kind].queries]
    values, mean = each_and_mean(letor[kind], metric(level=level))
    assert values == pytest.approx(expected, abs=CLOSE)
    assert mean == pytest.approx(sum(expected) / len(expected), abs=CLOSE)


@pytest.mark.parametrize(("name", "metric"), LABELS)
def test_label_ranking_of_one_table(name: str, metric: Any, sklearn_metrics: ModuleType) -> None:
    """As the other tool is used: a row a sample, a column a label; some samples have no label, some have all."""
    rng = np.random.default_rng(21)
    labels = rng.random((300, 7)) < rng.choice([0.0, 0.2, 0.5, 1.0], size=(300, 1))
    scores = np.round(rng.random((300, 7)), 1)
    assert 20 < (~labels.any(axis=1)).sum() < 150 > labels.all(axis=1).sum() > 20
    expected = getattr(sklearn_metrics, name)(labels, scores)
    values = metric().of(labels.astype(float), scores=scores)
    assert values.mean() == pytest.approx(expected, abs=CLOSE)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 1.0])), min_size=2, max_size=8))
def test_label_ranking_of_any_list(sklearn_metrics: ModuleType, documents: list[tuple[bool, float]]) -> None:
    labels, scores = [label for label, _ in documents], [score for _, score in documents]
    for name, metric in LABELS:
        expected = getattr(sklearn_metrics, name)([labels], [scores])
        assert metric().of([int(label) for label in labels], scores=scores) == pytest.approx(expected, abs=CLOSE)


@pytest.mark.parametrize("kind", KINDS)
def test_average_precision_of_real_lists(kind: str, sklearn_metrics: ModuleType, letor: Any) -> None:
    """The other tool steps over thresholds, so that tied documents have the last of their ranks, as in LRAP."""
    expected = [
        sklearn_metrics.average_precision_score([g >= 3 for g in labels], said)
        if any(g >= 3 for g in labels)
        else float("nan")
        for labels, said in letor[kind].queries
    ]
    values, _ = each_and_mean(letor[kind], rs.LRAP(level=3, no_relevant="skip"))
    assert values == pytest.approx(expected, abs=CLOSE, nan_ok=True)
    if kind == "no ties":
        values, mean = each_and_mean(letor[kind], rs.AP(level=3), no_relevant="skip")
        assert mean == pytest.approx(np.nanmean(expected), abs=CLOSE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", [1, 3])
def test_areas_of_real_lists(kind: str, level: int, sklearn_metrics: ModuleType, letor: Any) -> None:
    expected = []
    for labels, said in letor[kind].queries:
        relevant = [g >= level for g in labels]
        both = len(set(relevant)) == 2
        expected.append(sklearn_metrics.roc_auc_score(relevant, said) if both else float("nan"))
    assert each_and_mean(letor[kind], rs.AUC(level=level))[0] == pytest.approx(expected, abs=CLOSE, nan_ok=True)
    sizes = [
        0 if np.isnan(area) else len(labels) for area, (labels, _) in zip(expected, letor[kind].queries, strict=True)
    ]
    weighted = np.average(np.nan_to_num(expected), weights=sizes)
    assert each_and_mean(letor[kind], rs.GAUC(level=level))[1] == pytest.approx(weighted, abs=CLOSE)
    labels, said, _ = letor[kind].flat
    pooled = sklearn_metrics.roc_auc_score([g >= level for g in labels], said)
    assert each_and_mean(letor[kind], rs.AUC(level=level, pooled=True))[1] == pytest.approx(pooled, abs=CLOSE)


@pytest.mark.parametrize("k", [None, 1, 3, 10])
def test_gain_of_real_lists(k: int | None, sklearn_metrics: ModuleType, letor: Any) -> None:
    data = letor["no ties"]
    for metric, name in ((rs.nDCG(cutoff=k), "ndcg_score"), (rs.DCG(cutoff=k), "dcg_score")):
        expected = [getattr(sklearn_metrics, name)([y], [s], k=k) for y, s in data.queries]
        values, mean = each_and_mean(data, metric)
        assert values == pytest.approx(expected, abs=CLOSE)
        assert mean == pytest.approx(sum(expected) / len(expected), abs=CLOSE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [None, 1, 3, 10])
def test_gain_of_real_lists_is_the_mean_over_orders_of_ties(
    kind: str, k: int | None, sklearn_metrics: ModuleType, letor: Any
) -> None:
    for metric, name in ((rs.nDCG(cutoff=k), "ndcg_score"), (rs.DCG(cutoff=k), "dcg_score")):
        expected = [getattr(sklearn_metrics, name)([y], [s], k=k) for y, s in letor[kind].queries]
        values, mean = each_and_mean(letor[kind], metric, ties="expected")
        assert values == pytest.approx(expected, abs=CLOSE)
        assert mean == pytest.approx(sum(expected) / len(expected), abs=CLOSE)


def test_six_users(sklearn_metrics: ModuleType, six_users: Any) -> None:
    """The figure on record for this release, in which a user who liked nothing counts as 0."""
    labels, said = ([list(side) for side in zip(*six_users.queries, strict=True)][at] for at in (0, 1))
    expected = sklearn_metrics.ndcg_score(labels, said, k=3)
    assert each_and_mean(six_users, rs.nDCG @ 3)[1] == pytest.approx(expected, abs=CLOSE)
    assert expected == pytest.approx(0.3180, abs=5e-5)
    for name, metric in LABELS:
        _, mean = each_and_mean(six_users, metric())
        assert mean == pytest.approx(getattr(sklearn_metrics, name)(labels, said), abs=CLOSE)


def test_one_graded_list(sklearn_metrics: ModuleType, graded_list: Any) -> None:
    ((labels, said),) = graded_list.queries
    expected = sklearn_metrics.ndcg_score([labels], [said], k=3)
    assert (rs.nDCG @ 3).of(labels, scores=said) == pytest.approx(expected, abs=CLOSE)
    assert expected == pytest.approx(0.5025, abs=5e-5)
