"""One result of every verb, on a small world with ties, holes in the judgments and a query that one run lacks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from tests.made.experiments import log_of_days, users

import rankscope as rs

QUERIES, DOCS = 24, 30
METRICS = ["nDCG@10", "AP", "RR@10"]
REVENUE = ["Mean(revenue)", "Mean(orders)"]


@cache
def world() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]]]:
    """Judgments and three runs, with equal scores, documents that nobody judged, and a query without a ranking."""
    draws = np.random.default_rng(11)
    queries = [f"q{number:02}" for number in range(QUERIES)]
    grades = {q: {f"d{d}": int(draws.choice(4, p=[0.5, 0.3, 0.15, 0.05])) for d in range(0, DOCS, 2)} for q in queries}
    for query in queries:
        grades[query]["d0"] = 1  # something relevant everywhere
    runs = {}
    for name, skill in (("base", 0.2), ("good", 0.9), ("other", 0.5)):
        runs[name] = {
            q: {f"d{d}": round(float(skill * grades[q].get(f"d{d}", 0) + draws.normal()), 1) for d in range(DOCS)}
            for q in queries
        }
    del runs["other"]["q03"]
    return grades, runs


def pair() -> dict[str, dict[str, dict[str, float]]]:
    """The first two runs."""
    return {name: world()[1][name] for name in ("base", "good")}


def one() -> dict[str, dict[str, float]]:
    """The first run."""
    return world()[1]["base"]


def clicks() -> dict[str, list[Any]]:
    """A log: lists of three items shown to users over some days, with clicks, one of them on what was not shown."""
    draws = np.random.default_rng(12)
    rows = [(i, user, place) for i in range(40) for user in [int(draws.integers(12))] for place in (1, 2, 3)]
    return {
        "user": [f"u{user}" for _, user, _ in rows], "country": [["de", "fr"][user % 2] for _, user, _ in rows],
        "list_id": [f"l{i}" for i, _, _ in rows], "item": [f"d{(i + place) % 7}" for i, _, place in rows],
        "position": [place for _, _, place in rows], "shown": [place < 3 or i % 2 == 0 for i, _, place in rows],
        "click": [int(draws.random() < 0.5 / place) for _, _, place in rows],
        "time": [f"2024-05-{1 + i // 8:02}T12:00:00Z" for i, _, _ in rows],
    }  # fmt: skip


RESULTS: dict[str, Callable[[], Any]] = {
    "evaluate": lambda: rs.evaluate(*world(), METRICS),
    "evaluate with clusters": lambda: rs.evaluate(*world(), METRICS, clusters={q: int(q[1:]) % 7 for q in world()[0]}),
    "merge": lambda: rs.merge([rs.evaluate(world()[0], one(), METRICS, partition=f"{i}/3") for i in (3, 1, 2)]),
    "evaluate_arrays": lambda: rs.evaluate_arrays(
        [2, 0, 1, 0, 1], [0.9, 0.8, 0.1, 0.7, 0.2], group=[3, 2], metrics=METRICS
    ),
    "an evaluator": lambda: rs.Evaluator(world()[0], METRICS)(world()[1]["other"]),
    "compare": lambda: rs.compare(*world(), METRICS),
    "compare all pairs": lambda: rs.compare(*world(), METRICS, all_pairs=True),
    "gate": lambda: rs.gate(world()[0], one(), pair()["good"], METRICS),
    "power": lambda: rs.power(world()[0], pair(), METRICS),
    "explain one query": lambda: rs.explain(world()[0], one(), "nDCG@10", query="q01"),
    "explain a difference": lambda: rs.explain(world()[0], list(pair().values()), "nDCG@10", query="q01"),
    "explain where it comes from": lambda: rs.explain(world()[0], list(pair().values()), "nDCG@10"),
    "diagnose": lambda: rs.diagnose(world()[0], one(), "nDCG@10"),
    "check": lambda: rs.check(*world(), METRICS),
    "unjudged": lambda: rs.unjudged(*world(), "nDCG@10"),
    "pool": lambda: rs.pool(*world(), METRICS),
    "ties": lambda: rs.ties(*world(), METRICS),
    "reconcile": lambda: rs.reconcile(*world(), "nDCG@10"),
    "advise": lambda: rs.advise(*world()),
    "simulate": lambda: rs.simulate(users=60, items=5, seed=3),
    "simulate an experiment": lambda: rs.simulate("experiment", users=60, items=5, seed=3, truth=60, metrics="CTR"),
    "catalogue": lambda: rs.catalogue("nDCG"),
    "catalogue of online metrics": lambda: rs.catalogue("online"),
    "online": lambda: rs.online(clicks(), by=["day", "position"], slices="country"),
    "experiment by day": lambda: rs.experiment(
        log_of_days(seed=3, count=240),
        ["CTR", "Mean(click)"],
        by="day",
        slices=["country", "device"],
        margin="5%",
        prior=0.05,
    ),
    "check a log": lambda: rs.check(clicks()),
    "experiment": lambda: rs.experiment(users(seed=5), REVENUE, slices="country"),
    "gate of a log": lambda: rs.gate(users(seed=5), metrics=REVENUE, slices="country"),
    "agreement": lambda: rs.agreement(
        rs.compare(world()[0], pair(), METRICS), rs.experiment(users(seed=5, lift=-3.0), REVENUE)
    ),
}


@cache
def result(name: str) -> Any:
    """A result by its name, made once."""
    return RESULTS[name]()
