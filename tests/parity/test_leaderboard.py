"""The official figures of 24 runs of TREC-COVID round 1, to every decimal that was published."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs

# the column of the published table, and the metric that it holds; its RBP takes grade / 2 as gain
COLUMNS = {
    "ndcg@10": rs.nDCG @ 10,
    "p@5": rs.P @ 5,
    "RBP(p=.5)": rs.RBP(p=0.5, max_grade=2),
    "bpref": rs.Bpref(),
    "MAP": rs.AP(),
}


@pytest.fixture(scope="module")
def published(shared_data: Callable[[str], Path]) -> dict[tuple[str, str], str]:
    with shared_data("trec_covid/round1/leaderboard.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {(row["run"], column): row[column] for row in rows for column in COLUMNS}


@pytest.fixture(scope="module")
def runs(shared_data: Callable[[str], Path]) -> dict[str, Path]:
    files = sorted(shared_data("trec_covid/round1/runs").iterdir())
    return {file.name.removesuffix(".gz"): file for file in files}


def differing(scores: rs.Scores, columns: dict[str, rs.Metric], published: dict[tuple[str, str], str]) -> set[Any]:
    """Which of the figures are not the published ones."""
    figures = {(run.name, c): f"{scores[run.name, str(m)]:.4f}" for run in scores.runs for c, m in columns.items()}
    assert len(figures) == 24 * len(columns)
    return {(key, figure, published[key]) for key, figure in figures.items() if figure != published[key]}


def test_all_120_published_figures(
    published: dict[tuple[str, str], str], runs: dict[str, Path], shared_data: Callable[[str], Path]
) -> None:
    assert 24 * len(COLUMNS) == 120
    scores = rs.evaluate(shared_data("trec_covid/qrels.txt"), runs, list(COLUMNS.values()), depth=1000)
    assert differing(scores, COLUMNS, published) == set()


@pytest.mark.parametrize(
    ("column", "metric", "conventions"),
    [
        ("MAP", rs.AP(), {"ties": "docid"}),
        ("ndcg@10", rs.nDCG @ 10, {"ties": "rank"}),
        ("ndcg@10", rs.nDCG(gain="exponential") @ 10, {}),
        ("RBP(p=.5)", rs.RBP(p=0.5), {}),
        ("MAP", rs.AP(), {"depth": 100}),
        ("MAP", rs.AP(level=2), {}),
        ("bpref", rs.Bpref(level=2), {}),
    ],
)
def test_other_conventions_give_other_figures(
    column: str,
    metric: rs.Metric,
    conventions: dict[str, Any],
    published: dict[tuple[str, str], str],
    runs: dict[str, Path],
    shared_data: Callable[[str], Path],
) -> None:
    """The table is of these conventions and no others: it can tell them apart."""
    scores = rs.evaluate(shared_data("trec_covid/qrels.txt"), runs, [metric], **{"depth": 1000} | conventions)
    assert differing(scores, {column: metric}, published)
