"""Metrics in the loops of other packages: the real ones, trained for a few rounds on made-up data."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.integrations import LightGBMMetric, RankingMetric, XGBoostMetric

RNG = np.random.default_rng(11)
SIZES = RNG.integers(2, 30, 40)
FEATURES = RNG.normal(size=(int(SIZES.sum()), 4)).round(1)
LABELS = np.clip((FEATURES[:, 0] + RNG.normal(size=len(FEATURES))).round(), 0, 3)
CLOSE = 1e-12


def test_nothing_else_is_imported() -> None:
    code = (
        "import sys, rankscope.integrations; print([n for n in ('lightgbm', 'xgboost', 'torch') if n in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# --- LightGBM ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lightgbm(need: Callable[[str], ModuleType]) -> Any:
    return need("lightgbm")


def trained(lightgbm: Any, feval: Any, **params: Any) -> tuple[Any, dict[str, list[float]]]:
    """A booster after ten rounds, and what was said after each."""
    data = lightgbm.Dataset(FEATURES, LABELS, group=SIZES, free_raw_data=False)
    history: dict[str, Any] = {}
    booster = lightgbm.train(
        {
            "objective": "lambdarank",
            "verbose": -1,
            "min_data_in_leaf": 5,
            "deterministic": True,
            "num_threads": 1,
            **params,
        },
        data,
        num_boost_round=10,
        valid_sets=[data],
        valid_names=["same"],
        feval=feval,
        callbacks=[lightgbm.record_evaluation(history)],
    )
    return booster, history["same"]


def test_lightgbm_is_told_what_evaluate_arrays_says(lightgbm: Any) -> None:
    metric = LightGBMMetric(["nDCG@10", "RR", "RelevantPosition"])
    booster, history = trained(lightgbm, metric, metric="None")
    assert set(history) == {"nDCG@10", "RR", "RelevantPosition"}
    scores = rs.evaluate_arrays(
        LABELS, booster.predict(FEATURES), group=SIZES, metrics=["nDCG@10", "RR", "RelevantPosition"]
    )
    assert {name: values[-1] for name, values in history.items()} == scores.means
    data = lightgbm.Dataset(FEATURES, LABELS, group=SIZES).construct()
    said: Any = metric(booster.predict(FEATURES), data)
    higher = {name: higher for name, _, higher in said}
    assert higher == {"nDCG@10": True, "RR": True, "RelevantPosition": False}


def test_its_dialect_says_what_lightgbm_says_itself(lightgbm: Any) -> None:
    own = {"metric": ["ndcg", "map"], "eval_at": [5], "label_gain": [0, 1, 3, 7]}
    _, history = trained(lightgbm, LightGBMMetric(["nDCG@5", "AP@5"], dialect="lightgbm"), **own)
    np.testing.assert_allclose(history["nDCG@5"], history["ndcg@5"], rtol=0, atol=CLOSE)
    np.testing.assert_allclose(history["AP@5"], history["map@5"], rtol=0, atol=CLOSE)


def test_the_ranker_of_lightgbm_takes_it(lightgbm: Any) -> None:
    ranker = lightgbm.LGBMRanker(n_estimators=5, min_child_samples=5, verbose=-1, n_jobs=1)
    ranker.fit(
        FEATURES,
        LABELS,
        group=SIZES,
        eval_X=FEATURES,
        eval_y=LABELS,
        eval_group=[SIZES],
        eval_metric=LightGBMMetric("nDCG@10"),
    )
    said = next(iter(ranker.evals_result_.values()))["nDCG@10"][-1]
    assert said == rs.evaluate_arrays(LABELS, ranker.predict(FEATURES), group=SIZES, metrics="nDCG@10")["nDCG@10"]


def test_lightgbm_stops_early_by_it(lightgbm: Any) -> None:
    data = lightgbm.Dataset(FEATURES, LABELS, group=SIZES)
    labels = LABELS[::-1].copy()  # nothing to learn
    other = lightgbm.Dataset(FEATURES, labels, group=SIZES, reference=data)
    booster = lightgbm.train(
        {"objective": "lambdarank", "verbose": -1, "metric": "None", "min_data_in_leaf": 5, "num_threads": 1}, data, num_boost_round=60,
        valid_sets=[other], feval=LightGBMMetric("nDCG@10"), callbacks=[lightgbm.early_stopping(3, verbose=False)],
    )  # fmt: skip
    values = [
        rs.evaluate_arrays(labels, booster.predict(FEATURES, num_iteration=i), group=SIZES, metrics="nDCG@10")[
            "nDCG@10"
        ]
        for i in range(1, booster.current_iteration() + 1)
    ]
    assert booster.current_iteration() < 60
    assert booster.best_iteration == 1 + int(np.argmax(values))


# --- XGBoost -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def xgboost(need: Callable[[str], ModuleType]) -> Any:
    return need("xgboost")


def test_xgboost_is_told_what_evaluate_arrays_says(xgboost: Any) -> None:
    data = xgboost.DMatrix(FEATURES, LABELS, group=SIZES)
    metric = XGBoostMetric(["nDCG@10", "RR"])
    history: dict[str, Any] = {}
    booster = xgboost.train(
        {"objective": "rank:ndcg", "disable_default_eval_metric": 1, "nthread": 1}, data, num_boost_round=5,
        evals=[(data, "same")], custom_metric=metric, evals_result=history, verbose_eval=False,
        callbacks=[xgboost.callback.EarlyStopping(rounds=3, metric_name="nDCG@10", maximize=metric.maximize)],
    )  # fmt: skip
    scores = rs.evaluate_arrays(LABELS, booster.predict(data), group=SIZES, metrics=["nDCG@10", "RR"])
    for name, values in history["same"].items():  # XGBoost prints six places, and reads them
        assert values[-1] == pytest.approx(scores[name], abs=1e-6)
    assert metric(booster.predict(data), data) == [("nDCG@10", scores["nDCG@10"]), ("RR", scores["RR"])]


def test_its_dialect_says_what_xgboost_says_itself(xgboost: Any) -> None:
    data = xgboost.DMatrix(FEATURES, LABELS, group=SIZES)
    history: dict[str, Any] = {}
    xgboost.train(
        {"objective": "rank:ndcg", "eval_metric": "ndcg@5", "nthread": 1}, data, num_boost_round=5, evals=[(data, "same")],
        custom_metric=XGBoostMetric("nDCG@5", dialect="xgboost"), evals_result=history, verbose_eval=False,
    )  # fmt: skip
    np.testing.assert_allclose(history["same"]["nDCG@5"], history["same"]["ndcg@5"], rtol=0, atol=2e-6)


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        pytest.param("IdealDCG", "has no better direction", id="no direction"),
        pytest.param(["P@5", "relstring"], "a string for each query", id="a fact"),
        pytest.param("nonsense", "no metric is called", id="no metric"),
    ],
)
@pytest.mark.parametrize("kind", [LightGBMMetric, XGBoostMetric])
def test_metrics_that_no_training_follows(kind: Any, metrics: Any, said: str) -> None:
    with pytest.raises(rs.InputError, match=said):
        kind(metrics)


def test_directions_that_differ() -> None:
    assert XGBoostMetric("nDCG@10").maximize
    assert not XGBoostMetric("RelevantPosition").maximize
    with pytest.raises(rs.InputError, match="stop by only one"):
        XGBoostMetric(["nDCG@10", "RelevantPosition"]).maximize  # noqa: B018 - a property


# --- loops ---------------------------------------------------------------------------------------------------

METRICS = ["nDCG@10", "RR", "R@5", "AP"]


def batches() -> list[tuple[Any, Any]]:
    rng = np.random.default_rng(5)
    return [(rng.random((n, 20)), rng.integers(0, 3, (n, 20))) for n in (8, 8, 3)]


def test_batches_together_are_one_evaluation() -> None:
    metric = RankingMetric(METRICS)
    for preds, target in batches():
        alone = metric(preds, target)
        assert alone == rs.evaluate_arrays(target, preds, metrics=METRICS).means
    preds, target = (np.concatenate(column) for column in zip(*batches(), strict=True))
    whole = rs.evaluate_arrays(target, preds, metrics=METRICS)
    assert metric.compute() == whole.means
    for name, values in whole.per_query.items():
        np.testing.assert_array_equal(metric.scores().per_query[name], values)
    metric.reset()
    with pytest.raises(rs.InputError, match="call update with a batch"):
        metric.compute()


def test_queries_that_come_in_several_batches() -> None:
    preds, target = (np.concatenate(column) for column in zip(*batches(), strict=True))
    indexes = np.repeat(np.arange(len(preds)), 20)
    metric, order = RankingMetric(METRICS), np.argsort(np.tile(np.arange(20), len(preds)), kind="stable")
    for part in np.array_split(order, 7):
        metric.update(preds.ravel()[part], target.ravel()[part], indexes[part])
    assert metric.compute() == rs.evaluate_arrays(target, preds, metrics=METRICS).means


def test_memory_that_is_used_again_changes_nothing() -> None:
    metric, preds = RankingMetric("RR"), np.array([0.1, 0.9])
    metric.update(preds, np.array([1, 0]), np.array([7, 7]))
    preds[:] = [0.9, 0.1]
    assert metric.compute() == {"RR": 0.5}


def test_several_processes() -> None:
    parts = [RankingMetric(METRICS) for _ in batches()]
    for metric, (preds, target) in zip(parts, batches(), strict=True):
        metric.update(preds, target)
    first, *others = (pickle.loads(pickle.dumps(metric)) for metric in parts)
    first.merge(*others)
    preds, target = (np.concatenate(column) for column in zip(*batches(), strict=True))
    assert first.compute() == rs.evaluate_arrays(target, preds, metrics=METRICS).means
    with pytest.raises(rs.InputError, match="other metrics, or under other policies"):
        first.merge(RankingMetric(METRICS, ties="trec"))


def test_orders_that_are_drawn_do_not_depend_on_batches() -> None:
    target = np.random.default_rng(1).integers(0, 5, (6, 30))
    preds = np.zeros((6, 30))
    metric = RankingMetric("ERR@10", ties="expected")
    for row in range(6):
        metric.update(preds[row : row + 1], target[row : row + 1])
    assert metric.compute() == rs.evaluate_arrays(target, preds, metrics="ERR@10", ties="expected").means


def test_what_a_loop_does_wrong() -> None:
    metric = RankingMetric("RR")
    with pytest.raises(rs.InputError, match="indexes has 1 entries for 2 labels"):
        metric.update([0.1, 0.2], [1, 0], [3])
    with pytest.raises(rs.InputError, match="give a score for each label"):
        metric.update([[0.1, 0.2]], [[1, 0, 1]])


@pytest.fixture(scope="module")
def torch(need: Callable[[str], ModuleType]) -> Any:
    return need("torch")


def test_a_loop_of_torch(torch: Any) -> None:
    metric = RankingMetric("RR")
    model = torch.nn.Linear(2, 1)
    features, target = torch.ones(3, 4, 2), torch.tensor([[1, 0, 0, 0]] * 3)
    with pytest.raises(rs.InputError, match=r"detach\(\)"):
        metric.update(model(features).squeeze(-1), target)
    with torch.no_grad():
        metric.update(model(features).squeeze(-1), target)
    assert metric.compute() == {"RR": 1.0}
    metric.update(torch.tensor([0.1, 0.9]), torch.tensor([1, 0]), torch.tensor([9, 9]))
    assert metric.scores().per_query["RR"].tolist() == [1, 1, 1, 0.5]
