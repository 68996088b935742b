"""Asks RecTools, RePlay and LensKit (where it is there), in an environment of their own: two need an older numpy than rankscope.

Reads one JSON object: ``truth`` (the items of each user), ``lists`` (user, item, score, best first), ``train`` (the items that each
user had before), ``labels`` (of each item) and ``at`` (cutoffs). Writes another: under the tool and the metric with its cutoff, the value of each user and the mean as "all".
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
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


def _each(values: Any, mean: float) -> dict[str, float]:
    """The value of each user, and the mean."""
    return {**{str(user): float(value) for user, value in values.items()}, "all": float(mean)}


def rectools_beyond(asked: dict[str, Any]) -> dict[str, Any]:
    """Its metrics beyond accuracy. Coverage has no value of a user."""
    import pandas as pd

    metrics = import_module("rectools.metrics")
    seen: Counter[str] = Counter()
    rows = []
    for user, item, _ in asked["lists"]:
        seen[user] += 1
        rows.append((user, item, seen[user]))
    reco = pd.DataFrame(rows, columns=["user_id", "item_id", "rank"])
    test, train = (
        pd.DataFrame([(u, i) for u, items in asked[part].items() for i in items], columns=["user_id", "item_id"])
        for part in ("truth", "train")
    )
    catalog = list(asked["labels"])
    names = sorted({label for labels in asked["labels"].values() for label in labels})
    features = pd.DataFrame(
        [[float(name in asked["labels"][item]) for name in names] for item in catalog], index=catalog, columns=names
    )
    distances = metrics.PairwiseHammingDistanceCalculator(features)
    out: dict[str, Any] = {}
    for k in asked["at"]:
        out[f"CatalogCoverage@{k}"] = {"all": float(metrics.CatalogCoverage(k=k, normalize=True).calc(reco, catalog))}
        for name, metric, given in (
            ("MeanInvUserFreq", metrics.MeanInvUserFreq(k=k), (reco, train)),
            ("AvgRecPopularity", metrics.AvgRecPopularity(k=k), (reco, train)),
            ("AvgRecPopularity normalised", metrics.AvgRecPopularity(k=k, normalize=True), (reco, train)),
            ("Serendipity", metrics.Serendipity(k=k), (reco, test, train, catalog)),
            ("IntraListDiversity", metrics.IntraListDiversity(k=k, distance_calculator=distances), (reco,)),
            ("SufficientReco", metrics.SufficientReco(k=k), (reco,)),
        ):
            out[f"{name}@{k}"] = _each(metric.calc_per_user(*given), metric.calc(*given))
    return out


def replay_beyond(asked: dict[str, Any]) -> dict[str, Any]:
    """Its metrics beyond accuracy. The category of an item is its first label."""
    import pandas as pd

    metrics = import_module("replay.metrics")
    names = ["query_id", "item_id", "rating"]
    recs = pd.DataFrame(asked["lists"], columns=names)
    train = pd.DataFrame([(u, i, 1.0) for u, items in asked["train"].items() for i in items], columns=names)
    categories = recs.assign(category_id=[asked["labels"][item][0] for item in recs["item_id"]]).drop(columns="item_id")
    out: dict[str, Any] = {}
    for name in ("Novelty", "Surprisal"):
        kind = getattr(metrics, name)
        each, mean = kind(asked["at"], mode=metrics.PerUser())(recs, train), kind(asked["at"])(recs, train)
        for k in asked["at"]:
            out[f"{name}@{k}"] = _each(each[f"{name}-PerUser@{k}"], mean[f"{name}@{k}"])
    coverage = metrics.Coverage(asked["at"])(recs, train)
    diversity = metrics.CategoricalDiversity(asked["at"], mode=metrics.PerUser())(categories)
    whole = metrics.CategoricalDiversity(asked["at"])(categories)
    for k in asked["at"]:
        out[f"Coverage@{k}"] = {"all": float(coverage[f"Coverage@{k}"])}
        out[f"CategoricalDiversity@{k}"] = _each(
            diversity[f"CategoricalDiversity-PerUser@{k}"], whole[f"CategoricalDiversity@{k}"]
        )
    return out


def lenskit(asked: dict[str, Any]) -> dict[str, Any]:
    """Its metrics of each user with a list and test items, and its metrics of all lists. Geometric weights have a patience of 0.85."""
    import numpy as np

    lists, metrics, ranking = import_module("lenskit.data"), import_module("lenskit.metrics"), import_module("lenskit.metrics.ranking")  # fmt: skip
    shown: dict[str, list[str]] = {}
    for user, item, _ in asked["lists"]:
        shown.setdefault(user, []).append(item)
    recs = {user: lists.ItemList(item_ids=items, ordered=True) for user, items in shown.items()}
    test = {user: lists.ItemList(item_ids=asked["truth"][user]) for user in recs if asked["truth"].get(user)}
    kinds = {
        "P": metrics.Precision, "R": metrics.Recall, "AP": ranking.AveragePrecision, "nDCG": metrics.NDCG,
        "RR": metrics.RecipRank, "Success": metrics.Hit, "RBP": metrics.RBP,
    }  # fmt: skip
    out: dict[str, Any] = {}
    for k in asked["at"]:
        for name, kind in kinds.items():
            metric = kind(n=k)
            out[f"{name}@{k}"] = {
                user: float(metric.measure_list(recs[user], of_user)) for user, of_user in test.items()
            }
        if not asked.get("labels"):
            continue
        names = sorted({label for labels in asked["labels"].values() for label in labels})
        row = {
            item: np.array([(name in labels) / len(labels) for name in names])
            for item, labels in asked["labels"].items()
        }
        out[f"entropy@{k}"] = {
            user: float(ranking.entropy(recs[user], np.array([row[item] for item in items]), n=k))
            for user, items in shown.items()
        }
        for name, metric in (
            ("ListGini", metrics.ListGini(n=k, items=len(row))),
            ("ExposureGini", metrics.ExposureGini(n=k, items=len(row))),
            ("ExposureGini log", metrics.ExposureGini(n=k, items=len(row), weight=metrics.LogRankWeight(offset=1))),
        ):
            out[f"{name}@{k}"] = {
                "all": float(metric.global_aggregate([metric.compute_list_data(one, None) for one in recs.values()]))
            }
    return out


def main() -> None:
    """One question, one answer."""
    asked = json.load(sys.stdin)
    out = {tool.__name__: tool(asked["truth"], asked["lists"], asked["at"]) for tool in (rectools, replay)}
    if asked.get("train"):
        out["rectools"] |= rectools_beyond(asked)
        out["replay"] |= replay_beyond(asked)
    if "labels" in asked and find_spec("lenskit") is not None:
        out["lenskit"] = lenskit(asked)
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main()
