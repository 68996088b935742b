"""Small subjects of reports, made up: judgments, runs with equal scores, and what is looked into."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl

import rankscope as rs
from rankscope.blocks import Explorer, Query
from rankscope.reporting.explorer.rankings import explorer_of
from rankscope.reporting.subject import Subject
from rankscope.scoring.scores import Scores
from rankscope.tables import Qrels, Run

Dicts = dict[str, dict[str, float]]


def world(seed: int = 0, queries: int = 8, docs: int = 30) -> tuple[Dicts, dict[str, Dicts]]:
    """Judgments with negative grades, and runs with many equal scores, a missing query and one that nobody judged."""
    rng = np.random.default_rng(seed)
    names = [f"d{i}" for i in range(docs)]
    qrels = {
        f"q{q}": {d: float(rng.choice([-1, 0, 1, 2, 3])) for d in names if rng.random() < 0.5} or {"d0": 1.0}
        for q in range(queries)
    }
    runs: dict[str, Dicts] = {}
    for name in ("low", "high"):
        runs[name] = {
            query: {
                d: float(rng.integers(0, 12)) for d in rng.permutation(names)[: int(rng.integers(3, docs))].tolist()
            }
            for query in qrels
        }
    del runs["high"]["q1"]
    runs["low"]["nobody"] = {"d1": 1.0}
    return qrels, runs


def in_tables(qrels: Dicts, runs: dict[str, Dicts]) -> tuple[Qrels, dict[str, Run]]:
    def rows(given: Dicts, worth: str) -> pl.DataFrame:
        flat = [(q, d, float(v)) for q, docs in given.items() for d, v in docs.items()]
        return pl.DataFrame(flat, schema=["query_id", "doc_id", worth], orient="row")

    return Qrels(rows(qrels, "grade")), {name: Run(rows(run, "score"), name=name) for name, run in runs.items()}


def subject(qrels: Any, runs: Any, metrics: Any, **policies: Any) -> Subject[Any]:
    """A comparison where there are several runs, else scores of one."""
    if len(runs) > 1:
        found = rs.compare(qrels, runs, metrics, **policies)
        return Subject(found, qrels, runs)
    return Subject(rs.evaluate(qrels, runs, metrics, **policies), qrels, runs)


def scored(qrels: Any, runs: Any, metrics: Any, **policies: Any) -> Subject[Scores]:
    return Subject(rs.evaluate(qrels, runs, metrics, **policies), qrels, runs)


def looked(found: Subject[Any], **options: Any) -> Explorer:
    explorer = explorer_of(found, **options)
    assert explorer is not None
    return explorer


def by_id(explorer: Explorer) -> dict[str, Query]:
    return {query.query_id: query for query in explorer.queries}


def adds_up(explorer: Explorer) -> None:
    for query in explorer.queries:
        for run in range(len(explorer.runs)):
            value = query.values[run][0]
            parts = [*(document.adds[run] for document in query.documents), query.rest[run]]
            if math.isnan(value):
                assert not any(parts)
            else:
                assert abs(math.fsum(parts) - value) <= 1e-12 * max(1.0, abs(value))


def with_aspects(qrels: Any) -> Any:
    """Several grades of a document need a table."""
    first = next(iter(next(iter(qrels.values())).values()))
    if not isinstance(first, dict):
        return qrels
    rows = [(q, d, s, g) for q, docs in qrels.items() for d, by in docs.items() for s, g in by.items()]
    return Qrels(pl.DataFrame(rows, schema=["query_id", "doc_id", "iteration", "grade"], orient="row"))
