"""XGBoost: its ranking metrics over lists that it scores itself, query by query and in the mean.

The scores are given as margins to a model without a tree, which adds nothing to them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rankscope as rs

CLOSE = 1e-12
KINDS = ("no ties", "ties", "one feature")


@pytest.fixture(scope="module")
def xgboost(need: Callable[[str], ModuleType]) -> ModuleType:
    return need("xgboost")


def theirs(
    xgboost: ModuleType, queries: list[Any], metric: str, weights: list[float] | None = None, **more: Any
) -> tuple[float, list[float]]:
    """What the tool says of all queries together, and of each alone."""

    def matrix(chosen: list[Any], weight: list[float] | None) -> Any:
        labels = np.concatenate([labels for labels, _ in chosen])
        data = xgboost.DMatrix(np.zeros((len(labels), 1)), label=labels)
        data.set_group([len(labels) for labels, _ in chosen])
        data.set_base_margin(np.concatenate([scores for _, scores in chosen]))
        if weight is not None:
            data.set_weight(weight)
        return data

    together = matrix(queries, weights)
    model = xgboost.train(
        {"objective": "rank:ndcg", "eval_metric": metric, "verbosity": 0, **more}, together, num_boost_round=0
    )

    def said(data: Any) -> float:
        return float(model.eval(data).rpartition(":")[2])

    return said(together), [said(matrix([query], None)) for query in queries]


def compare(tool: Any, data: Any, metric: Any, name: str, no_relevant: Any = 1, **more: Any) -> int:
    """Each query and the mean, at several cutoffs; the tool's name for k and a minus come last."""
    count = 0
    for k in (1, 3, 5, 10):
        mean, each = theirs(tool, data.queries, name.format(k=k), **more)
        scores = rs.evaluate(data.qrels, data.run, [metric @ k], ties="input", no_relevant=no_relevant)
        (one,) = scores.runs
        assert one.values[metric @ k].tolist() == pytest.approx(each, abs=CLOSE)
        assert scores[metric @ k] == pytest.approx(mean, abs=CLOSE)
        count += len(each) + 1
    return count


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "no_relevant"), [("ndcg@{k}", 1), ("ndcg@{k}-", 0)])
@pytest.mark.parametrize("gain", ["exponential", "linear"])
def test_ndcg(gain: Any, name: str, no_relevant: Any, kind: str, xgboost: ModuleType, letor: Any) -> None:
    more = {"ndcg_exp_gain": gain == "exponential"}
    assert compare(xgboost, letor[kind], rs.nDCG(gain=gain), name, no_relevant, **more) == 4 * 51


def test_ndcg_without_relevant_documents(xgboost: ModuleType, letor: Any) -> None:
    data = letor["ties"].relabelled(lambda grade: max(grade - 2, 0))
    assert sum(not any(labels) for labels, _ in data.queries) > 5
    for name, value in (("ndcg@{k}", 1), ("ndcg@{k}-", 0)):
        assert compare(xgboost, data, rs.nDCG(gain="exponential"), name, value) == 4 * 51


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("metric", "name", "no_relevant"),
    [
        (rs.AP(denominator="min_k_relevant"), "map@{k}", 1),
        (rs.AP(denominator="min_k_relevant"), "map@{k}-", 0),
        (rs.P(denominator="min_k_listlen"), "pre@{k}", 0),
    ],
    ids=str,
)
def test_binary(metric: Any, name: str, no_relevant: Any, kind: str, xgboost: ModuleType, letor: Any) -> None:
    data = letor[kind].relabelled(lambda grade: float(grade >= 3))
    assert compare(xgboost, data, metric, name, no_relevant, objective="rank:map") == 4 * 51


@pytest.mark.parametrize(
    ("name", "metric", "no_relevant", "published"),
    [("ndcg@3", rs.nDCG(gain="exponential"), 1, 0.4846), ("ndcg@3-", rs.nDCG(gain="exponential"), 0, 0.3180),
     ("map@3", rs.AP(denominator="min_k_relevant"), 1, 0.4074),
     ("map@3-", rs.AP(denominator="min_k_relevant"), 0, 0.2407),
     ("pre@3", rs.P(denominator="min_k_listlen"), 0, 0.2778)],
)  # fmt: skip
def test_six_users(
    name: str, metric: Any, no_relevant: Any, published: float, xgboost: ModuleType, six_users: Any
) -> None:
    """The figures on record for this release."""
    mean, each = theirs(xgboost, six_users.queries, name, objective="rank:map")
    scores = rs.evaluate(six_users.qrels, six_users.run, [metric @ 3], ties="input", no_relevant=no_relevant)
    assert scores.runs[0].values[metric @ 3].tolist() == pytest.approx(each, abs=CLOSE)
    assert scores[metric @ 3] == pytest.approx(mean, abs=CLOSE)
    assert mean == pytest.approx(published, abs=5e-5)


@pytest.mark.parametrize(("gain", "published"), [("exponential", 0.5234), ("linear", 0.5025)])
def test_one_graded_list(gain: Any, published: float, xgboost: ModuleType, graded_list: Any) -> None:
    mean, _ = theirs(xgboost, graded_list.queries, "ndcg@3", ndcg_exp_gain=gain == "exponential")
    assert (rs.nDCG(gain=gain) @ 3).of(graded_list.queries[0][0]) == pytest.approx(mean, abs=CLOSE)
    assert mean == pytest.approx(published, abs=5e-5)


def test_area_counts_pairs_of_equal_labels(xgboost: ModuleType) -> None:
    """A defect of the tool: the only relevant document of ten stands last, which is an area of 0."""
    labels, scores = [0.0] * 9 + [1.0], [float(10 - i) for i in range(10)]
    mean, _ = theirs(xgboost, [(labels, scores)], "auc")
    # all pairs are counted, and those of equal labels as in order
    in_order = sum(above >= below for above, below in combinations(labels, 2))
    assert mean == pytest.approx(in_order / math.comb(10, 2), abs=CLOSE) == pytest.approx(0.8, abs=CLOSE)
    assert rs.AUC().of(labels, scores=scores) == rs.OPA().of(labels, scores=scores) == 0


def test_area_of_lists_without_relevant_documents(xgboost: ModuleType) -> None:
    """The same defect: where all labels are equal, the number says in which order the rows came."""
    falling = theirs(xgboost, [([0.0] * 3, [3.0, 2.0, 1.0])], "auc")[0]
    rising = theirs(xgboost, [([0.0] * 3, [1.0, 2.0, 3.0])], "auc")[0]
    assert {falling, rising} == {0.0, 1.0}
    assert np.isnan(rs.AUC().of([0, 0, 0]))


def test_weighted_mean_with_a_query_without_relevant_documents(xgboost: ModuleType) -> None:
    """A defect of the tool's nDCG: such a query adds 1, while its weight is in the divisor. Its MAP does it right."""
    queries = [([0.0, 1.0], [2.0, 1.0]), ([0.0, 0.0], [2.0, 1.0])]
    weights, qrels, run = [1.0, 3.0], {}, {}
    for i, (labels, scores) in enumerate(queries):
        qrels[f"q{i}"] = dict(zip("ab", labels, strict=True))
        run[f"q{i}"] = dict(zip("ab", scores, strict=True))
    gained = 1 / np.log2(3)
    ndcg, _ = theirs(xgboost, queries, "ndcg@2", weights)
    assert ndcg == pytest.approx((1 * gained + 1) / (1 + 3), abs=CLOSE)
    average, _ = theirs(xgboost, queries, "map@2", weights, objective="rank:map")
    assert average == pytest.approx((1 / 2 + 3) / (1 + 3), abs=CLOSE)
    ours = rs.evaluate(qrels, run, ["nDCG@2", "AP@2"], no_relevant=1, weights={"q0": 1, "q1": 3})
    assert ours["nDCG@2"] == pytest.approx((1 * gained + 3) / (1 + 3), abs=CLOSE)
    # the figures on record for this release
    assert (ndcg, ours["nDCG@2"]) == pytest.approx((0.4077, 0.9077), abs=5e-5)
    assert ours["AP@2"] == pytest.approx(average, abs=CLOSE)
