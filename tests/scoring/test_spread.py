"""How values of queries are spread, and the ranks of first relevant documents, by counting."""

from __future__ import annotations

import pytest

import rankscope as rs

QRELS: dict[str, dict[str, int]] = {f"q{i}": {"a": 1, "b": 0} for i in range(6)}
RANKS = (1, 2, 1, 11, 150, 0)  # where a stands; 0: nowhere


def ranked(rank: int) -> dict[str, float]:
    before = {f"x{j}": 999.0 - j for j in range(1, rank or 4)}
    return {**before, "a": 1.0} if rank else before


RUN = {f"q{i}": ranked(rank) for i, rank in enumerate(RANKS)}


def counts(frame: object, run: str = "run") -> dict[str, int]:
    rows = frame.rows()  # type: ignore[attr-defined]
    return {rank: queries for name, rank, queries in rows if queries and name == run}


def test_quantiles_and_zeros() -> None:
    frame = rs.evaluate(QRELS, RUN, ["RR@10", "NumRet"]).distribution
    assert frame.columns == [
        "run", "metric", "queries", "min", "q05", "q25", "median", "q75", "q95", "max", "zeros",
    ]  # fmt: skip
    # 0 0 0 0.5 1 1: the quantile p lies at place 5 p
    run = frame["run"][0]
    assert frame.row(0) == (run, "RR@10", 6, 0.0, 0.0, 0.0, 0.25, pytest.approx(0.875), 1.0, 1.0, 3)
    assert frame.row(1)[2:4] == (6, 1.0)


def test_undefined_values_do_not_count() -> None:
    frame = rs.evaluate(QRELS, RUN, "RR(not_found='skip')@10").distribution
    assert frame.row(0)[2:4] == (3, 0.5)
    nowhere = rs.evaluate({"q": {"a": 1}}, {"q": {"b": 1.0}}, "RR(not_found='skip')@10").distribution
    assert nowhere.row(0)[2:] == (0, *[None] * 7, 0)


def test_first_relevant_ranks() -> None:
    scores = rs.evaluate(QRELS, RUN, "RR")
    name = scores.runs[0].name
    assert counts(scores.first_relevant, name) == {"1": 2, "2": 1, "11-100": 1, "101+": 1, "none": 1}
    assert scores.first_relevant["rank"].to_list() == [*map(str, range(1, 11)), "11-100", "101+", "none"]
    assert scores.first_relevant["queries"].sum() == 6


@pytest.mark.parametrize("ties", ["trec", "expected"])
def test_rankings_that_are_cut_and_queries_left_out(ties: str) -> None:
    scores = rs.evaluate(QRELS, RUN, "RR", depth=10, queries=["q1", "q3", "q5"], ties=ties)  # type: ignore[call-overload]
    assert counts(scores.first_relevant, scores.runs[0].name) == {"2": 1, "none": 2}


def test_queries_without_any_judged_document_have_none() -> None:
    scores = rs.evaluate({"q1": {"a": 1}, "q2": {"b": -1}}, {"q1": {"x": 2.0, "a": 1.0}, "q3": {"a": 1.0}}, "RR", queries="either")  # fmt: skip
    assert counts(scores.first_relevant, scores.runs[0].name) == {"2": 1, "none": 2}
