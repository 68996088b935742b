"""Recommendations in data frames: RecTools and RePlay, in their own environment, and rankscope in its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from benchmarks.measure import Answer, Call, Trial
from benchmarks.scope import Scope

DEPTH, JUDGED = 20, 10
SLOW = 10_000  # users beyond which the one that takes longest is left out
ITEMS = 99_991  # a prime, so that a walk with any step meets an item once
OURS = {
    "nDCG@10": "nDCG@10",
    "AP(denominator='min_k_relevant')@10": "AP@10",
    "RR@10": "RR@10",
    "R@10": "R@10",
    "P@10": "P@10",
}
Work = Callable[[], Answer]


def trials(scope: Scope) -> Iterator[Trial]:
    """Five metrics of 1,000 to 100,000 users with 20 items each."""
    for users in scope.sizes(1_000, 10_000, 100_000):
        arguments, here = {"users": users}, "benchmarks.recommenders:"
        slow = {"RePlay, pandas": Call(f"{here}replay", arguments, python=scope.recommenders)}
        fits = users <= SLOW
        yield Trial(
            f"recommenders/pandas/{users * DEPTH}",
            f"data frames, {users:,} users × {DEPTH} items",
            users * DEPTH,
            "rows",
            {
                "rankscope, pandas": Call(f"{here}rankscope", arguments),
                "RecTools, pandas": Call(f"{here}rectools", arguments, python=scope.recommenders),
                "RePlay, Polars": Call(f"{here}replay", {**arguments, "kind": "polars"}, python=scope.recommenders),
                **(slow if fits else {}),
            },
            "recommenders/pandas",
            skipped={} if fits else dict.fromkeys(slow, f"timed up to {SLOW:,} users"),
        )
    for name, about, names in (
        ("beyond", "novelty, popularity, serendipity, coverage", [*BEYOND][:4]),
        ("diversity", "intra-list diversity", [*BEYOND][4:]),
        ("all", "all beyond accuracy in one call", [*BEYOND]),
    ):
        for users in scope.sizes(1_000, 10_000, 100_000):
            asked = {"users": users, "names": names}
            yield Trial(
                f"recommenders/{name}/{users * DEPTH}",
                f"{about}, {users:,} users × {DEPTH} items",
                users * DEPTH,
                "rows",
                {
                    "rankscope, pandas": Call("benchmarks.recommenders:rankscope_beyond", asked),
                    "RecTools, pandas": Call(
                        "benchmarks.recommenders:rectools_beyond", asked, python=scope.recommenders
                    ),
                },
                f"recommenders/{name}",
            )


def frames(users: int, seed: int = 1) -> tuple[Any, Any]:
    """What users liked, and what was recommended to them, best first: pandas, with integers for users and items."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(seed)
    items = (rng.integers(0, ITEMS, (users, 1)) + np.arange(DEPTH) * 7919) % ITEMS
    shift = rng.integers(0, 2 * DEPTH, (users, 1))  # half of what is liked was recommended
    places = (shift + np.arange(JUDGED) * 4) % (2 * DEPTH)
    liked = (items[:, :1] + places * 7919) % ITEMS
    who = np.arange(users)
    recommended = {
        "user_id": who.repeat(DEPTH),
        "item_id": items.ravel(),
        "rank": np.tile(np.arange(1, DEPTH + 1), users),
    }
    return pd.DataFrame({"user_id": who.repeat(JUDGED), "item_id": liked.ravel()}), pd.DataFrame(recommended)


BEYOND = {  # the same metric in rankscope and in RecTools
    "novelty": ("Novelty@10", "MeanInvUserFreq"),
    "popularity": ("Popularity@10", "AvgRecPopularity"),
    "serendipity": ("Serendipity@10", "Serendipity"),
    "coverage": ("Coverage@10", "CatalogCoverage"),
    "diversity": ("ILD(by='genre', distance='hamming')@10", "IntraListDiversity"),
}
GENRES = 16


def context(users: int) -> tuple[Any, Any]:
    """The training data, ten items per user, and a genre for each item of the catalogue, as numbers."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(2)
    had = (rng.integers(0, ITEMS, (users, 1)) + np.arange(JUDGED) * 104_729) % ITEMS
    train = pd.DataFrame({"user_id": np.arange(users).repeat(JUDGED), "item_id": had.ravel()})
    return train, rng.integers(0, GENRES, ITEMS)


def rankscope_beyond(users: int, names: list[str]) -> Work:
    """From the same pandas frames, the catalogue and the training data included."""
    import pandas as pd

    import rankscope as rs

    (liked, recommended), (train, genres) = frames(users), context(users)
    liked["grade"], recommended["score"] = 1, -recommended.pop("rank")
    items = pd.DataFrame({"item_id": range(ITEMS), "genre": [f"g{genre}" for genre in genres]})
    metrics = {BEYOND[name][0]: name for name in names}
    given = {"items": items, "history": train} if names != ["diversity"] else {"items": items}

    def work() -> Answer:
        scores = rs.evaluate(liked, recommended, [*metrics], **given)
        return {name: scores[metric] for metric, name in metrics.items()}

    return work


def rectools_beyond(users: int, names: list[str]) -> Work:
    """All metrics in one call. The distances of items have their features before it. They count labels, of which two items differ in 0 or 2."""
    import numpy as np
    import pandas as pd

    tool = import_module("rectools.metrics")
    (liked, recommended), (train, genres) = frames(users), context(users)
    catalog, made = range(ITEMS), {}
    for name in names:
        kind, more = getattr(tool, BEYOND[name][1]), {}
        if name == "diversity":
            features = pd.DataFrame(np.eye(GENRES)[genres], index=catalog)
            more = {"distance_calculator": tool.PairwiseHammingDistanceCalculator(features)}
        elif name == "coverage":
            more = {"normalize": True}
        made[name] = kind(k=10, **more)

    def work() -> Answer:
        given = {"prev_interactions": train, "catalog": catalog} if names != ["diversity"] else {}
        found = tool.calc_metrics(made, recommended, liked, **given)
        return {name: float(value) / (GENRES if name == "diversity" else 1) for name, value in found.items()}

    return work


def rankscope(users: int) -> Work:
    """From the same pandas frames, with a score where RecTools has a rank."""
    import rankscope as rs

    liked, recommended = frames(users)
    liked["grade"], recommended["score"] = 1, -recommended.pop("rank")

    def work() -> Answer:
        scores = rs.evaluate(liked, recommended, [*OURS])
        return {name: scores[metric] for metric, name in OURS.items()}

    return work


def rectools(users: int) -> Work:
    """All metrics in one call, which shares what they have in common."""
    tool = import_module("rectools.metrics")
    liked, recommended = frames(users)
    metrics = {
        "nDCG@10": tool.NDCG(k=10, divide_by_achievable=True),
        "AP@10": tool.MAP(k=10),
        "RR@10": tool.MRR(k=10),
        "R@10": tool.Recall(k=10),
        "P@10": tool.Precision(k=10),
    }
    return lambda: {name: float(value) for name, value in tool.calc_metrics(metrics, recommended, liked).items()}


REPLAY = {"NDCG@10": "nDCG@10", "MAP@10": "AP@10", "MRR@10": "RR@10", "Recall@10": "R@10", "Precision@10": "P@10"}


def replay_metrics(**columns: str) -> Callable[[Any, Any], Answer]:
    """The same five of RePlay, of recommendations and what is true."""
    tool = import_module("replay.metrics")
    kinds = (tool.NDCG, tool.MAP, tool.MRR, tool.Recall, tool.Precision)

    def means(recommended: Any, liked: Any) -> Answer:
        found = tool.OfflineMetrics([kind(10) for kind in kinds], **columns)(recommended, liked)
        return {REPLAY[name]: float(value) for name, value in found.items()}

    return means


def replay(users: int, kind: str = "pandas") -> Work:
    """All metrics in one call, from pandas or Polars."""
    liked, recommended = frames(users)
    recommended["rating"] = float(DEPTH + 1) - recommended.pop("rank")
    if kind == "polars":
        polars = import_module("polars")
        liked, recommended = polars.from_pandas(liked), polars.from_pandas(recommended)
    means = replay_metrics(query_column="user_id")
    return lambda: means(recommended, liked)
