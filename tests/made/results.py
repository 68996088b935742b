"""One result of every verb, on a small world with ties, holes in the judgments and a query that one run lacks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.made.experiments import log_of_days, users

import rankscope as rs
from rankscope.files.svmlight import RankingData

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


@cache
def ledger() -> str:
    """A ledger with simulated launches."""
    place = str(Path(tempfile.mkdtemp()) / "launches.db")
    rs.launches.import_(rs.simulate_launches(120, seed=3).rows, place)
    return place


def one() -> dict[str, dict[str, float]]:
    """The first run."""
    return world()[1]["base"]


def features() -> dict[str, str]:
    """A category of each document."""
    return {f"d{d}": "abc"[d % 3] for d in range(DOCS)}


def texts(letter: str = "q", count: int = QUERIES) -> dict[str, str]:
    """A text of each query or document."""
    return {
        f"{letter}{number:02}" if letter == "q" else f"{letter}{number}": f"text {number}" for number in range(count)
    }


def numbers_of_texts(query: str, documents: Any) -> list[float]:
    """Scores of documents by their texts."""
    return [float(text.split()[1]) % 7 for text in documents]


def labelled() -> RankingData:
    """Features and grades of four documents for each of 24 queries."""
    draws = np.random.default_rng(13)
    x, count = draws.normal(size=(4 * QUERIES, 3)), np.full(QUERIES, 4)
    grades = (x[:, 0] + 0.5 * x[:, 1] + draws.normal(size=len(x)) > 0) * 1.0
    return RankingData("made", x, grades, count, list(texts()), ["a", "b", "c", "d"] * QUERIES)


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


def logged() -> dict[str, list[Any]]:
    """A log of single items with the probability of each, and that of another policy."""
    draws = np.random.default_rng(13)
    chances, others = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    item = draws.choice(3, size=1500, p=chances)
    return {
        "user": [f"u{number % 300}" for number in range(1500)], "country": [["de", "fr"][number % 2] for number in range(1500)],
        "item": [f"d{number}" for number in item], "p_item_pos": chances[item].tolist(), "p_new": others[item].tolist(),
        "click": (draws.random(1500) < 0.2 + 0.1 * item).astype(int).tolist(),
    }  # fmt: skip


def questions() -> list[dict[str, Any]]:
    """Questions of which one has two passages of evidence, one only an answer, and one neither."""
    return [
        {
            "question": "q1",
            "contexts": ["It is in Paris, France.", "The tower was built in 1889."],
            "reference_contexts": ["built in 1889"],
        },
        {
            "question": "q2",
            "contexts": ["one two three four", "five six seven"],
            "reference_contexts": ["two three four", "eight nine ten"],
        },
        {"question": "q3", "contexts": ["The answer is forty two."], "reference": "Forty two"},
        {"question": "q4", "contexts": ["nothing to see here"]},
    ]


def interleaved() -> dict[str, list[Any]]:
    """A log of interleaved lists of three items, of which users like those of ranker a more."""
    draws = np.random.default_rng(14)
    rows = [
        (i, f"u{draws.integers(15)}", place, "ab"[(place + i * (place < 3)) % 2])
        for i in range(60)
        for place in (1, 2, 3)
    ]
    return {
        "user": [rows[3 * (at // 3)][1] for at in range(len(rows))], "country": [["de", "fr"][i % 2] for i, *_ in rows],
        "list_id": [f"l{i}" for i, *_ in rows], "position": [place for _, _, place, _ in rows], "team": [team for *_, team in rows],
        "click": [int(draws.random() < (0.6 if team == "a" else 0.3) / place) for _, _, place, team in rows],
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
    "tune": lambda: rs.tune(
        world()[0], world()[1], METRICS[:2], method="RRF", space={"k": [1, 60]}, guardrails="RR@10"
    ),
    "diversify": lambda: rs.diversify(one(), "xQuAD", features=features(), qrels=world()[0], levels=[0, 1]),
    "rerank": lambda: rs.rerank(
        one(), numbers_of_texts, queries_text=texts(), docs_text=texts("d", DOCS), depths=[5, 10], qrels=world()[0]
    ),
    "learn": lambda: rs.learn(labelled(), learners="Linear", metrics=METRICS[:2]),
    "unjudged": lambda: rs.unjudged(*world(), "nDCG@10"),
    "reproduce": lambda: rs.reproduce(one(), pair()["good"], METRICS, qrels=world()[0]),
    "agree": lambda: rs.agree(world()[1], per_query=True),
    "contexts": lambda: rs.contexts(questions(), per_query=True),
    "pool": lambda: rs.pool(*world(), METRICS),
    "ties": lambda: rs.ties(*world(), METRICS),
    "reconcile": lambda: rs.reconcile(*world(), "nDCG@10"),
    "advise": lambda: rs.advise(*world()),
    "position bias": lambda: rs.position_bias(clicks(), ["swaps", "regression_em"], rounds=20),
    "position bias that is not identified": lambda: rs.position_bias(clicks(), "harvesting"),
    "clicks": lambda: rs.clicks(clicks(), ["RCTR", "PBM", "DBN"]),
    "simulate": lambda: rs.simulate(users=60, items=5, seed=3),
    "simulate an experiment": lambda: rs.simulate("experiment", users=60, items=5, seed=3, truth=60, metrics="CTR"),
    "simulate launches": lambda: rs.simulate_launches(20, seed=3),
    "launches": lambda: rs.launches.list(ledger()),
    "correlations of launches": lambda: rs.launches.correlate(ledger()),
    "prediction of a launch": lambda: rs.launches.predict({"nDCG@10": (0.01, 0.004)}, ledger()),
    "simulate aa": lambda: rs.simulate_aa(users(seed=5, count=100), REVENUE, rounds=20),
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
    "estimate": lambda: rs.estimate(logged(), ["uniform", "p_new"], ["SNIPS", "IPS"], slices="country"),
    "experiment": lambda: rs.experiment(users(seed=5), REVENUE, slices="country"),
    "interleaving": lambda: rs.interleaving(interleaved(), slices="country"),
    "power of interleaving": lambda: rs.power(
        rs.simulate(users=80, items=6, seed=5, interleave=True, quality=(0.3, 0.8)).log, design="interleaving"
    ),
    "gate of a log": lambda: rs.gate(users(seed=5), metrics=REVENUE, slices="country"),
    "agreement": lambda: rs.agreement(
        rs.compare(world()[0], pair(), METRICS), rs.experiment(users(seed=5, lift=-3.0), REVENUE)
    ),
}


@cache
def result(name: str) -> Any:
    """A result by its name, made once."""
    return RESULTS[name]()
