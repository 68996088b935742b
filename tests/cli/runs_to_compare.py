"""Runs that differ in where they put the one good document of each query, and what is asked of the JSON of a comparison."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

KEYS = {
    "run", "baseline", "metric", "difference", "ci_lower", "ci_upper", "p_value", "p_value_adjusted", "test", "wins",
    "losses", "ties", "verdict",
}  # fmt: skip
QUERIES = [f"q{i:02}" for i in range(30)]
Run = Callable[..., Any]


def run_file(name: str, ranks: list[int]) -> str:
    """A run with the one good document of each query at a rank, and its tag."""
    rows = []
    for query, rank in zip(QUERIES, ranks, strict=False):
        docs = [f"d{j}" for j in range(1, 12)]
        docs[rank - 1] = "good"
        rows += [f"{query} Q0 {doc} {j} {20 - j} {name}" for j, doc in enumerate(docs, 1)]
    return "\n".join(rows) + "\n"


THREE = ("bm25.run", "dense.run", "best.run")


def of_json(text: str) -> dict[str, Any]:
    def refuse(word: str) -> float:
        pytest.fail(f"{word} is no JSON")

    envelope: dict[str, Any] = json.loads(text, parse_constant=refuse)
    return envelope
