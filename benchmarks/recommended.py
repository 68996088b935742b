"""Five metrics of recommendations in pandas, by rankscope or by RecTools: ``python recommended.py TOOL USERS`` prints seconds and megabytes.

It is run in the environment of the tool, so it imports nothing else of this repository.
"""

from __future__ import annotations

import resource
import sys
import time
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd


def made_up(users: int) -> tuple[Any, Any]:
    """Twenty recommendations and ten interactions of each user, with identifiers as they are in a shop: numbers."""
    rng = np.random.default_rng(1)
    reco = pd.DataFrame({
        "user_id": np.repeat(np.arange(users), 20),
        "item_id": (np.tile(np.arange(20), users) * 997 + np.repeat(rng.integers(0, 20_000, users), 20)) % 20_000,
        "rank": np.tile(np.arange(1, 21), users),
    })  # fmt: skip
    picked = np.argsort(rng.random((users, 20)), axis=1)[:, :4]  # some of what they took was recommended
    taken = reco["item_id"].to_numpy().reshape(users, 20)[np.arange(users)[:, None], picked]
    others = 20_000 + np.tile(np.arange(6), (users, 1))
    interactions = pd.DataFrame({
        "user_id": np.repeat(np.arange(users), 10),
        "item_id": np.hstack([taken, others]).ravel(),
    })  # fmt: skip
    return reco, interactions


def rankscope(reco: Any, interactions: Any) -> dict[str, float]:
    """``evaluate`` on the frames as they are, best first."""
    import rankscope as rs

    run = reco.assign(score=-reco["rank"].to_numpy())[["user_id", "item_id", "score"]]
    found = rs.evaluate(interactions.assign(grade=1), run, ["nDCG@10", "AP@10", "RR@10", "R@10", "P@10"])
    return {mean.spelling: mean.value for mean in found.board}


def rectools(reco: Any, interactions: Any) -> dict[str, float]:
    """Its own names for the same."""
    metrics: Any = import_module("rectools.metrics")
    kinds = {
        "nDCG@10": metrics.NDCG(k=10, divide_by_achievable=True),
        "AP@10": metrics.MAP(k=10),
        "RR@10": metrics.MRR(k=10),
        "R@10": metrics.Recall(k=10),
        "P@10": metrics.Precision(k=10),
    }
    return dict(metrics.calc_metrics(kinds, reco=reco, interactions=interactions))


def main() -> None:
    """One call, timed with its imports made before."""
    tool, users = sys.argv[1], int(sys.argv[2])
    work = {"rankscope": rankscope, "rectools": rectools}[tool]
    work(*made_up(100))  # imports, and what is made once
    data = made_up(users)
    start = time.perf_counter()
    found = work(*data)
    seconds = time.perf_counter() - start
    print(found)
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


if __name__ == "__main__":
    main()
