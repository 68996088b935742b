"""Queries written as lists of grades, and the findings of one rule about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankscope.diagnostics.rule import Finding
from rankscope.verbs.check.check import check

Grades = Sequence[float | None]


def ranked(queries: Sequence[Grades]) -> dict[str, dict[str, float]]:
    """One run: document ``d0`` of each query stands first."""
    return {f"q{i}": {f"d{j}": float(len(grades) - j) for j in range(len(grades))} for i, grades in enumerate(queries)}


def judged(queries: Sequence[Grades]) -> dict[str, dict[str, float]]:
    return {
        f"q{i}": {f"d{j}": grade for j, grade in enumerate(grades) if grade is not None}
        for i, grades in enumerate(queries)
    }


def orders(grades: Sequence[float], **runs: Sequence[int]) -> tuple[Any, Any]:
    """The judgments of one query, and runs as orders of its documents, for eight queries alike: what differs, differs clearly."""
    qrels = {f"q{i}": {f"d{j}": grade for j, grade in enumerate(grades)} for i in range(8)}
    made = {
        name: {q: {f"d{j}": float(99 - place) for place, j in enumerate(order)} for q in qrels}
        for name, order in runs.items()
    }
    return qrels, made


def found(code: str, qrels: Any, runs: Any, metrics: Any, **more: Any) -> list[Finding]:
    return list(check(qrels, runs, metrics, select=[code], **more))


def only(code: str, qrels: Any, runs: Any, metrics: Any, **more: Any) -> Finding:
    (finding,) = found(code, qrels, runs, metrics, **more)
    assert finding.code == code
    assert finding.hint
    return finding
