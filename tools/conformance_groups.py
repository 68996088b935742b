"""More tools of learning to rank: CatBoost and torchmetrics, given labelled lists."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from conformance_base import Pair, Said, Tool
from conformance_data import CORNERS, Data, demo
from conformance_learning import Queries, binary, flat, lists, queries_of, untied

# --- CatBoost ------------------------------------------------------------------------------------------


def said_by_catboost(queries: Queries, metric: str) -> float:
    """Its mean."""
    from catboost.utils import eval_metric

    labels, scores, sizes = flat(queries)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return float(eval_metric(labels.tolist(), scores.tolist(), metric, group_id=groups.tolist(), thread_count=1)[0])


def _catboost(metric: str, share: float, data: Data) -> Said:
    queries: Any = [([label / share for label in labels], scores) for labels, scores in queries_of(data)]
    each = [said_by_catboost([query], metric) for query in queries]
    return Said(said_by_catboost(queries, metric), dict(zip(data.qrels, each, strict=True)))


def catboost() -> Tool:
    """Its ranking metrics."""

    def pair(
        call: str,
        ours: str,
        plain: str = "",
        no_relevant: int = 0,
        dialect: str = "",
        view: Callable[[Data], Data] = binary,
        share: float = 1,
    ) -> Pair:
        policy = {} if "AUC" in call else {"ties": "worst"} | ({"no_relevant": 1} if no_relevant else {})
        return Pair(call, ours, partial(_catboost, call, share), plain, policy, dialect, view)

    return Tool(
        "CatBoost",
        "catboost",
        "`catboost.utils.eval_metric`, with groups. It keeps labels in single precision. Lists as above; for PFound, which takes "
        "chances, labels are divided by 4.",
        (demo(), CORNERS),
        [
            pair("NDCG:top=10", "nDCG@10", "", 1, "catboost", lists),
            pair("NDCG:top=10;type=Exp", "nDCG(gain='exponential')@10", "nDCG@10", 1, "", lists),
            pair("NDCG:top=10;denominator=Position", "nDCG(discount='reciprocal')@10", "nDCG@10", 1, "", lists),
            pair("DCG:top=10", "DCG@10", "", 0, "", lists),
            pair("MAP:top=10", "AP(denominator='min_k_relevant')@10", "AP@10", 0, "catboost"),
            pair("MRR:top=10", "RR@10", "", 0, "catboost"),
            pair("PrecisionAt:top=10", "P(denominator='min_k_listlen')@10", "P@10", 0, "catboost"),
            pair("RecallAt:top=10", "R@10", "", 1, "catboost"),
            pair("PFound:top=10", "PFound(max_grade=4)@10", "", 0, "", lists, 4),
            pair("QueryAUC:type=Classic", "AUC(single_class=0)", "AUC"),
            pair("QueryAUC:type=Ranking", "OPA(single_class=0)", "OPA", view=lists),
        ],
        close=1e-6,
        digits=4,
    )


# --- torchmetrics --------------------------------------------------------------------------------------


def _torchmetrics(kind: str, function: str, more: dict[str, Any], action: str, data: Data) -> Said:
    import torch
    from torchmetrics import retrieval

    each_of: Any = getattr(import_module("torchmetrics.functional.retrieval"), f"retrieval_{function}")
    labels, scores, sizes = flat(queries_of(data))
    index = torch.tensor(np.repeat(np.arange(len(sizes)), sizes))
    whole = getattr(retrieval, f"Retrieval{kind}")(empty_target_action=action, **more)
    mean = whole(torch.tensor(scores).float(), torch.tensor(labels).long(), indexes=index)
    each = {
        query: float(each_of(torch.tensor(own).float(), torch.tensor(grades).long(), **more))
        for query, grades, own in data.lists
    }
    return Said(float(mean), each if action == "neg" else {})


def torchmetrics() -> Tool:
    """Its retrieval metrics."""

    def pair(
        kind: str, function: str, k: int | None, ours: str, plain: str = "", action: str = "neg", dialect: str = ""
    ) -> Pair:
        ties = {"ties": "expected"} if kind == "NormalizedDCG" else {}
        answers: dict[str, dict[str, Any]] = {"neg": {}, "pos": {"no_relevant": 1}, "skip": {"no_relevant": "skip"}}
        hopeless = answers[action]
        more = {} if k is None else {"top_k": k}
        said = [*(f"{name}={value}" for name, value in more.items())]
        said += [f"empty_target_action={action!r}"] if action != "neg" else []
        theirs = partial(_torchmetrics, kind, function, more, action)
        view = lists if ties else untied
        return Pair(f"Retrieval{kind}({', '.join(said)})", ours, theirs, plain, {**ties, **hopeless}, dialect, view)

    found = "AP(denominator='hits_at_k')@10"
    neg = {"dialect": "torchmetrics"}
    return Tool(
        "torchmetrics",
        "torchmetrics",
        "`torchmetrics.retrieval`, and its functions for the value of each query. It works in single precision. Lists as above, with scores between "
        "0 and 1, and without ties except for nDCG: its order of equal scores is up to torch.",
        (demo(), CORNERS),
        [
            pair("NormalizedDCG", "normalized_dcg", 10, "nDCG@10", **neg),
            pair("NormalizedDCG", "normalized_dcg", 10, "nDCG@10", "", "pos", "torchmetrics-pos"),
            pair("MAP", "average_precision", None, "AP"),
            pair("MAP", "average_precision", 10, found, "AP@10", **neg),
            pair("MAP", "average_precision", 10, found, "AP@10", "skip"),
            pair("MRR", "reciprocal_rank", 10, "RR@10", **neg),
            pair("Precision", "precision", 10, "P@10", **neg),
            pair("Recall", "recall", 10, "R@10", **neg),
            pair("HitRate", "hit_rate", 10, "Success@10", **neg),
            pair("RPrecision", "r_precision", None, "Rprec"),
        ],
        close=1e-6,
        digits=4,
    )
