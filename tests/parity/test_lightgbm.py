"""LightGBM: its ranking metrics over lists that it scores itself, query by query and in the mean.

The scores are given as those that training starts from; one round on a constant feature leaves them as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.files.svmlight import RankingData, ranking_data_of

CLOSE = 1e-12
KINDS = ("no ties", "ties", "one feature")


@pytest.fixture(scope="module")
def lightgbm(need: Callable[[str], ModuleType]) -> ModuleType:
    return need("lightgbm")


def theirs(
    lightgbm: ModuleType,
    queries: list[Any],
    metric: str,
    at: list[int],
    weights: list[float] | None = None,
    **more: Any,
) -> tuple[dict[int, float], list[dict[int, float]]]:
    """What the tool says of all queries together, and of each alone, at each cutoff."""

    def dataset(chosen: list[Any], weight: list[float] | None, reference: Any = None) -> Any:
        labels = np.concatenate([labels for labels, _ in chosen])
        sizes = [len(labels) for labels, _ in chosen]
        return lightgbm.Dataset(
            np.zeros((len(labels), 1)),
            label=labels,
            group=sizes,
            init_score=np.concatenate([scores for _, scores in chosen]),
            weight=None if weight is None else np.repeat(weight, sizes),
            reference=reference,
        )

    together = dataset(queries, weights)
    each = [dataset([query], None, together) for query in queries]
    said: dict[str, Any] = {}
    lightgbm.train(
        {"objective": "lambdarank", "metric": metric, "eval_at": at, "verbosity": -1, **more},
        together,
        num_boost_round=1,
        valid_sets=[together, *each],
        valid_names=["all", *map(str, range(len(each)))],
        callbacks=[lightgbm.record_evaluation(said)],
    )

    def found(name: str) -> dict[int, float]:
        return {k: float(said[name][f"{metric}@{k}"][0]) for k in at}

    return found("all"), [found(str(i)) for i in range(len(each))]


def compare(tool: Any, data: Any, metric: Any, name: str, at: list[int], **more: Any) -> int:
    """Each query and the mean; a query without a relevant document counts as 1."""
    mean, each = theirs(tool, data.queries, name, at, **more)
    count = 0
    for k in at:
        scores = rs.evaluate(data.qrels, data.run, [metric @ k], ties="input", no_relevant=1)
        (one,) = scores.runs
        assert one.values[metric @ k].tolist() == pytest.approx([said[k] for said in each], abs=CLOSE)
        assert scores[metric @ k] == pytest.approx(mean[k], abs=CLOSE)
        count += len(each) + 1
    return count


@pytest.mark.parametrize("kind", KINDS)
def test_ndcg(kind: str, lightgbm: ModuleType, letor: Any) -> None:
    assert compare(lightgbm, letor[kind], rs.nDCG(gain="exponential"), "ndcg", [1, 3, 5, 10]) == 4 * 51


@pytest.mark.parametrize("gain", [{1: 1, 2: 2, 3: 3, 4: 4}, {1: 5, 2: 6, 3: 40, 4: 50}])
def test_ndcg_with_a_table_of_gains(gain: Any, lightgbm: ModuleType, letor: Any) -> None:
    table = [0.0, *(float(gain[grade]) for grade in (1, 2, 3, 4))]
    assert compare(lightgbm, letor["ties"], rs.nDCG(gain=gain), "ndcg", [3, 10], label_gain=table) == 2 * 51


@pytest.mark.parametrize("kind", KINDS)
def test_average_precision(kind: str, lightgbm: ModuleType, letor: Any) -> None:
    # good documents only, so that many lists have none; the tool takes any label above 0 for relevant
    data = letor[kind].relabelled(lambda grade: float(grade >= 3))
    assert sum(not any(labels) for labels, _ in data.queries) > 5
    metric = rs.AP(denominator="min_k_relevant")
    assert compare(lightgbm, data, metric, "map", [1, 3, 5, 10]) == 4 * 51


@pytest.mark.parametrize("kind", KINDS)
def test_area_under_one_curve(kind: str, lightgbm: ModuleType, letor: Any) -> None:
    data = letor[kind].relabelled(lambda grade: float(grade >= 2))
    labels, scores, _ = data.flat
    said: dict[str, Any] = {}
    whole = lightgbm.Dataset(np.zeros((len(labels), 1)), label=np.array(labels), init_score=np.array(scores))
    lightgbm.train(
        {"objective": "binary", "metric": "auc", "verbosity": -1, "learning_rate": 1e-300},
        whole,
        num_boost_round=1,
        valid_sets=[whole],
        valid_names=["all"],
        callbacks=[lightgbm.record_evaluation(said)],
    )
    value = rs.evaluate(data.qrels, data.run, ["AUC(pooled=True)"])["AUC(pooled=True)"]
    assert value == pytest.approx(said["all"]["auc"][0], abs=CLOSE)


def test_six_users(lightgbm: ModuleType, six_users: Any) -> None:
    compare(lightgbm, six_users, rs.nDCG(gain="exponential"), "ndcg", [3])
    compare(lightgbm, six_users, rs.AP(denominator="min_k_relevant"), "map", [3])
    # the figures on record for this release
    assert theirs(lightgbm, six_users.queries, "ndcg", [3])[0][3] == pytest.approx(0.4846, abs=5e-5)
    assert theirs(lightgbm, six_users.queries, "map", [3])[0][3] == pytest.approx(0.4074, abs=5e-5)


@pytest.mark.parametrize(
    ("gain", "more", "published"), [("exponential", {}, 0.5234), ("linear", {"label_gain": "0,1,2,3"}, 0.5025)]
)
def test_one_graded_list(gain: Any, more: Any, published: float, lightgbm: ModuleType, graded_list: Any) -> None:
    compare(lightgbm, graded_list, rs.nDCG(gain=gain), "ndcg", [3], **more)
    assert (rs.nDCG(gain=gain) @ 3).of(graded_list.queries[0][0]) == pytest.approx(published, abs=5e-5)


def test_weighted_mean_with_a_query_without_relevant_documents(lightgbm: ModuleType) -> None:
    """A defect of the tool's nDCG: such a query adds 1, while its weight is in the divisor. Its MAP does it right."""
    queries = [([0, 1], [2.0, 1.0]), ([0, 0], [2.0, 1.0])]
    weights = [1.0, 2.0]
    one = {"nDCG": 1 / np.log2(3), "AP": 1 / 2}
    ndcg, _ = theirs(lightgbm, queries, "ndcg", [2], weights)
    assert ndcg[2] == pytest.approx((1 * one["nDCG"] + 1) / (1 + 2), abs=CLOSE)
    average, _ = theirs(lightgbm, queries, "map", [2], weights)
    assert average[2] == pytest.approx((1 * one["AP"] + 2 * 1) / (1 + 2), abs=CLOSE)
    qrels = {f"q{i}": dict(zip("ab", labels, strict=True)) for i, (labels, _) in enumerate(queries)}
    run = {f"q{i}": dict(zip("ab", scores, strict=True)) for i, (_, scores) in enumerate(queries)}
    ours = rs.evaluate(qrels, run, ["nDCG@2", "AP@2"], no_relevant=1, weights={"q0": 1, "q1": 2})
    assert ours["nDCG@2"] == pytest.approx((1 * one["nDCG"] + 2 * 1) / (1 + 2), abs=CLOSE)
    assert ours["AP@2"] == pytest.approx(average[2], abs=CLOSE)


@pytest.fixture(scope="module")
def trained(lightgbm: ModuleType, shared_data: Callable[[str], Path]) -> tuple[RankingData, Any]:
    """The test queries, and a model that ``learn`` trained on the others."""
    train, test = (ranking_data_of(str(shared_data(f"lambdarank/{name}"))) for name in ("rank.train.gz", "rank.test"))
    width = max(train.features.shape[1], test.features.shape[1])
    found = rs.learn(train.wide(width), test.wide(width), "LambdaMART", ["nDCG@5", "nDCG@1", "nDCG@3"])
    return test.wide(width), found


def test_a_trained_model_has_the_values_that_the_tool_reports(
    lightgbm: ModuleType, trained: Any, tmp_path: Path
) -> None:
    """The tool evaluates its own model on the test queries while it trains; here its predictions are evaluated in its dialect."""
    held, found = trained
    (model,) = found.models.values()
    model.save(str(tmp_path / "model.txt"))
    saved = lightgbm.Booster(model_file=str(tmp_path / "model.txt")).predict(held.features, num_iteration=model.rounds)
    assert model.predict(held.features).tolist() == saved.tolist()
    cuts = np.cumsum(held.sizes)[:-1]
    queries = [
        (labels.tolist(), scores.tolist())
        for labels, scores in zip(np.split(held.grades, cuts), np.split(saved, cuts), strict=True)
    ]
    reported, each = theirs(lightgbm, queries, "ndcg", [1, 3, 5])
    ours = rs.evaluate(held.table(held.grades), held.table(saved), "nDCG@1,3,5", dialect="lightgbm")
    for mean in ours.board:
        k = int(mean.spelling.partition("@")[2])
        assert mean.value == pytest.approx(reported[k], abs=1e-9)
        assert ours.runs[0].values[mean.metric].tolist() == pytest.approx([values[k] for values in each], abs=1e-9)


def test_values_during_training_are_those_of_the_dialect(lightgbm: ModuleType, trained: Any) -> None:
    held, _ = trained
    said: dict[str, Any] = {}
    own = lightgbm.Dataset(held.features, held.grades, group=held.sizes, free_raw_data=False)
    booster = lightgbm.train(
        {"objective": "lambdarank", "metric": "ndcg", "eval_at": [1, 3, 5], "verbosity": -1, "num_threads": 1},
        own, num_boost_round=5, valid_sets=[own], valid_names=["all"], callbacks=[lightgbm.record_evaluation(said)],
    )  # fmt: skip
    for rounds in (1, 5):
        run = held.table(booster.predict(held.features, num_iteration=rounds))
        ours = rs.evaluate(held.table(held.grades), run, "nDCG@1,3,5", dialect="lightgbm")
        reported = [said["all"][f"ndcg@{k}"][rounds - 1] for k in (1, 3, 5)]
        assert [mean.value for mean in ours.board] == pytest.approx(reported, abs=1e-9)


def test_the_model_beats_the_best_feature_of_the_training_queries(trained: Any) -> None:
    _, found = trained
    assert {c.metric for c in found.contrasts} == {"nDCG@1", "nDCG@3", "nDCG@5"}
    assert all(c.bounds.lower > 0 for c in found.contrasts)
