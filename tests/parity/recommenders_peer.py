"""Asks RecTools and RePlay, in an environment of their own: they need an older numpy than rankscope.

Reads one JSON object: ``truth`` (the items of each user), ``lists`` (user, item, score, best first) and ``at``
(cutoffs). Writes another: under the tool and the metric with its cutoff, the value of each user and the mean as "all".
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from importlib import import_module
from typing import Any


def rectools(truth: dict[str, list[str]], rows: list[list[Any]], at: list[int]) -> dict[str, Any]:
    """Its metrics by our names for what they are, with the options that change them."""
    import pandas as pd

    metrics = import_module("rectools.metrics")

    seen: Counter[str] = Counter()
    ranks = []
    for user, _, _ in rows:
        seen[user] += 1
        ranks.append(seen[user])
    reco = pd.DataFrame({"user_id": [r[0] for r in rows], "item_id": [r[1] for r in rows], "rank": ranks})
    pairs = [(user, item) for user, items in truth.items() for item in items]
    interactions = pd.DataFrame(pairs, columns=["user_id", "item_id"])
    kinds: dict[str, Any] = {
        "P": metrics.Precision,
        "R": metrics.Recall,
        "F": metrics.F1Beta,
        "AP": metrics.MAP,
        "RR": metrics.MRR,
        "nDCG": metrics.NDCG,
        "Success": metrics.HitRate,
        "pAUC": metrics.PartialAUC,
        "pAP": metrics.PAP,
        "achievable P": lambda k: metrics.Precision(k, r_precision=True),
        "achievable AP": lambda k: metrics.MAP(k, divide_by_k=True),
        "achievable nDCG": lambda k: metrics.NDCG(k, divide_by_achievable=True),
    }
    out: dict[str, Any] = {}
    for name, kind in kinds.items():
        for k in at:
            metric = kind(k=k)
            each = metric.calc_per_user(reco, interactions)
            mean = float(metric.calc(reco, interactions))
            out[f"{name}@{k}"] = {**{str(u): float(v) for u, v in each.items()}, "all": mean}
    return out


def replay(truth: dict[str, list[str]], rows: list[list[Any]], at: list[int]) -> dict[str, Any]:
    """Its metrics of each user and their mean."""
    import pandas as pd

    metrics = import_module("replay.metrics")

    recs = pd.DataFrame(rows, columns=["query_id", "item_id", "rating"])
    pairs = [(user, item) for user, items in truth.items() for item in items]
    known = pd.DataFrame(pairs, columns=["query_id", "item_id"])
    kinds = {
        "P": metrics.Precision,
        "R": metrics.Recall,
        "AP": metrics.MAP,
        "RR": metrics.MRR,
        "nDCG": metrics.NDCG,
        "Success": metrics.HitRate,
    }
    out: dict[str, Any] = {}
    for name, kind in kinds.items():
        each = kind(at, mode=metrics.PerUser())(recs, known)
        mean = kind(at)(recs, known)
        for k in at:
            per_user = each[f"{kind.__name__}-PerUser@{k}"]
            out[f"{name}@{k}"] = {str(u): float(v) for u, v in per_user.items()}
            out[f"{name}@{k}"]["all"] = float(mean[f"{kind.__name__}@{k}"])
    return out


def main() -> None:
    """One question, one answer."""
    asked = json.load(sys.stdin)
    out = {tool.__name__: tool(asked["truth"], asked["lists"], asked["at"]) for tool in (rectools, replay)}
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main()
