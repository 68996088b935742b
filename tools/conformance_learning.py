"""Tools of learning to rank and of machine learning: scikit-learn, LightGBM, XGBoost.

They are given labelled lists: what was retrieved, labelled 0 where nobody judged.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from conformance_base import Pair, Said, Tool, averaged
from conformance_data import CORNERS, Data, demo

Queries = list[tuple[list[int], list[float]]]


def lists(data: Data) -> Data:
    """Labelled lists with scores that are exact in single precision."""
    return data.exact.candidates


def binary(data: Data) -> Data:
    """The same, relevant or not."""
    return data.exact.candidates.at(1)


def untied(data: Data) -> Data:
    """The same without ties."""
    return data.untied.candidates.at(1)


def queries_of(data: Data) -> Queries:
    """The labels and the scores of each query."""
    return [(labels, scores) for _, labels, scores in data.lists]


def flat(queries: Queries) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], list[int]]:
    """All labels, all scores, and how many documents each query has."""
    labels = np.concatenate([np.array(labels, dtype=float) for labels, _ in queries])
    scores = np.concatenate([np.array(scores, dtype=float) for _, scores in queries])
    return labels, scores, [len(labels) for labels, _ in queries]


# --- scikit-learn --------------------------------------------------------------------------------------


def _sklearn(name: str, more: dict[str, Any], rows: bool, data: Data) -> Said:
    from sklearn import metrics

    function = getattr(metrics, name)
    each = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for query, labels, scores in data.lists:
            each[query] = float(function([labels], [scores], **more) if rows else function(labels, scores, **more))
    return averaged(each)


def sklearn() -> Tool:
    """Functions of sklearn.metrics, a list at a time."""
    expected = {"ties": "expected"}

    def pair(call: str, name: str, ours: str, plain: str = "", **more: Any) -> Pair:
        rows = name not in {"average_precision_score", "roc_auc_score"}
        policy = expected if "dcg" in name else {"no_relevant": 0} if name == "average_precision_score" else {}
        given = partial(_sklearn, name, more, rows)
        return Pair(
            call, ours, given, plain, policy, DIALECTS_SKLEARN.get(call, ""), lists if "dcg" in name else binary
        )

    return Tool(
        "scikit-learn",
        "scikit-learn",
        "`sklearn.metrics`, one list at a time, and the mean of its answers. Lists hold what was retrieved, labelled 0 where nobody judged.",
        (demo(), CORNERS),
        [
            pair("ndcg_score(k=10)", "ndcg_score", "nDCG@10", k=10),
            pair("ndcg_score()", "ndcg_score", "nDCG"),
            pair("dcg_score(k=10)", "dcg_score", "DCG@10", k=10),
            pair("roc_auc_score", "roc_auc_score", "AUC"),
            pair("average_precision_score", "average_precision_score", "LRAP", "AP"),
            pair("label_ranking_average_precision_score", "label_ranking_average_precision_score", "LRAP"),
            pair("label_ranking_loss", "label_ranking_loss", "LabelRankingLoss"),
            pair("coverage_error", "coverage_error", "CoverageError"),
        ],
    )


DIALECTS_SKLEARN = {"ndcg_score(k=10)": "sklearn", "dcg_score(k=10)": "sklearn"}


# --- LightGBM ------------------------------------------------------------------------------------------


def said_by_lightgbm(
    queries: Queries, metric: str, k: int, weights: list[float] | None = None, **more: Any
) -> tuple[float, list[float]]:
    """Its mean and each query alone: the scores are what training starts from, and one round leaves them as they are."""
    import lightgbm

    def dataset(chosen: Queries, weight: list[float] | None, reference: Any = None) -> Any:
        labels, scores, sizes = flat(chosen)
        weighted = None if weight is None else np.repeat(weight, sizes)
        zeros = np.zeros((len(labels), 1))
        return lightgbm.Dataset(
            zeros, label=labels, group=sizes, init_score=scores, weight=weighted, reference=reference
        )

    together = dataset(queries, weights)
    each = [dataset([query], None, together) for query in queries]
    said: dict[str, Any] = {}
    lightgbm.train(
        {"objective": "lambdarank", "metric": metric, "eval_at": [k], "verbosity": -1, "num_threads": 1, **more},
        together,
        num_boost_round=1,
        valid_sets=[together, *each],
        valid_names=["all", *map(str, range(len(each)))],
        callbacks=[lightgbm.record_evaluation(said)],
    )
    values = {name: float(found[f"{metric}@{k}"][0]) for name, found in said.items()}
    return values["all"], [values[str(i)] for i in range(len(each))]


def _lightgbm(metric: str, k: int, more: dict[str, Any], data: Data) -> Said:
    mean, each = said_by_lightgbm(queries_of(data), metric, k, **more)
    return Said(mean, dict(zip(data.qrels, each, strict=True)))


def lightgbm() -> Tool:
    """Its ranking metrics."""
    policy = {"ties": "input", "no_relevant": 1}

    def pair(call: str, k: int, ours: str, plain: str, dialect: str = "", **more: Any) -> Pair:
        metric = call.partition("@")[0]
        view = lists if metric == "ndcg" else binary
        return Pair(call, f"{ours}@{k}", partial(_lightgbm, metric, k, more), f"{plain}@{k}", policy, dialect, view)

    return Tool(
        "LightGBM",
        "lightgbm",
        "`lightgbm.train`, with the scores as `init_score`, which one round on a constant feature leaves as they are. Lists as above.",
        (demo(), CORNERS),
        [
            pair("ndcg@10", 10, "nDCG(gain='exponential')", "nDCG", "lightgbm"),
            pair("ndcg@3", 3, "nDCG(gain='exponential')", "nDCG", "lightgbm"),
            pair("ndcg@10, label_gain=0,1,2,3", 10, "nDCG", "nDCG", label_gain="0,1,2,3"),
            pair("map@10", 10, "AP(denominator='min_k_relevant')", "AP", "lightgbm"),
            pair("map@3", 3, "AP(denominator='min_k_relevant')", "AP", "lightgbm"),
        ],
        close=1e-12,
    )


# --- XGBoost -------------------------------------------------------------------------------------------


def said_by_xgboost(
    queries: Queries, metric: str, weights: list[float] | None = None, each: bool = True, **more: Any
) -> tuple[float, list[float]]:
    """Its mean and each query alone: the scores are the margins of a model without a tree."""
    import xgboost

    def matrix(chosen: Queries, weight: list[float] | None) -> Any:
        labels, scores, sizes = flat(chosen)
        made = xgboost.DMatrix(np.zeros((len(labels), 1)), label=labels, nthread=1)
        made.set_group(sizes)
        made.set_base_margin(scores)
        if weight is not None:
            made.set_weight(weight)
        return made

    together = matrix(queries, weights)
    said = {"objective": "rank:ndcg", "eval_metric": metric, "verbosity": 0, "nthread": 1, **more}
    model = xgboost.train(said, together, num_boost_round=0)

    def value(made: Any) -> float:
        return float(model.eval(made).rpartition(":")[2])

    return value(together), [value(matrix([query], None)) for query in queries] if each else []


def _xgboost(metric: str, more: dict[str, Any], data: Data) -> Said:
    mean, each = said_by_xgboost(queries_of(data), metric, **more)
    return Said(mean, dict(zip(data.qrels, each, strict=True)))


def xgboost() -> Tool:
    """Its ranking metrics."""

    def pair(call: str, ours: str, plain: str, no_relevant: int, dialect: str = "xgboost", **more: Any) -> Pair:
        policy = {"ties": "input"} | ({"no_relevant": 1} if no_relevant else {})
        metric = call.partition(",")[0]
        view = lists if metric.startswith("ndcg") else binary
        return Pair(call, ours, partial(_xgboost, metric, more), plain, policy, dialect, view)

    exp, short = "nDCG(gain='exponential')@10", "AP(denominator='min_k_relevant')@10"
    by_map = {"objective": "rank:map"}
    return Tool(
        "XGBoost",
        "xgboost",
        "`Booster.eval` of a model without a tree, with the scores as `base_margin`. It works in single precision. Lists as above.",
        (demo(), CORNERS),
        [
            pair("ndcg@10", exp, "nDCG@10", 1),
            pair("ndcg@10-", exp, "nDCG@10", 0, "xgboost-minus"),
            pair("ndcg@10, ndcg_exp_gain=False", "nDCG@10", "nDCG@10", 1, "", ndcg_exp_gain=False),
            pair("map@10", short, "AP@10", 1, **by_map),
            pair("map@10-", short, "AP@10", 0, "xgboost-minus", **by_map),
            pair("pre@10", "P(denominator='min_k_listlen')@10", "P@10", 0, **by_map),
        ],
        close=1e-6,
        digits=4,
    )
