"""Runs that are joined for fusions: what is known of dicts is kept, and what is not known is checked."""

from __future__ import annotations

from typing import Any

import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.files import run_of
from rankscope.tables import blocks_of

UNSORTED = {"q2": {"b": 1.0, "a": 3.0, "c": 2.0}, "q1": {}, "q3": {"a": 1.0, "z": 1.0}}


def test_the_blocks_of_a_dict_are_those_of_its_rows() -> None:
    run = run_of(UNSORTED)
    rows = blocks_of(run.frame["query_id"])
    assert run.blocks.start.tolist() == rows.start.tolist() == [0, 3]
    assert run.blocks.size.tolist() == rows.size.tolist() == [3, 2]
    assert run.blocks.query.to_list() == rows.query.to_list() == ["q2", "q3"]
    assert run.queries == ["q2", "q3", "q1"]


def test_a_run_under_another_name_keeps_its_rows() -> None:
    run = run_of(UNSORTED, "old")
    assert (run.named("new").name, run.name) == ("new", "old")
    assert run.named("new").frame is run.frame
    assert run.named("new").blocks is run.blocks


@pytest.mark.parametrize("docs", [{1: 2.0, "1": 1.0}, ["a", "a"]], ids=["number and text", "list"])
def test_a_document_that_comes_twice_is_refused(docs: Any) -> None:
    with pytest.raises(InputError, match="is ranked twice"):
        rs.fuse([{"q1": docs}, {"q1": {"a": 1.0}}])


def test_runs_whose_queries_and_scores_are_in_any_order_are_fused() -> None:
    other = {"q3": {"z": 2.0}, "q2": {"c": 5.0, "a": 9.0}}
    fused = rs.fuse([UNSORTED, other], "RRF(k=0)", depth=2).to_dict()
    assert fused == {"q2": {"a": 2.0, "c": 1.0}, "q3": {"z": 2.0, "a": 0.5}}


@pytest.mark.parametrize("rows", [1, 3, 1000])
def test_large_runs_with_ties_are_fused_as_small_ones(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [{f"q{i}": {f"d{j}": float(j % 3) for j in range(5)} for i in order} for order in ([0, 1, 2], [2, 0, 1])]
    whole = rs.fuse(runs, "RRF(k=0)").frame
    monkeypatch.setattr("rankscope.scoring.pools.IN_CACHE", rows)
    assert rs.fuse(runs, "RRF(k=0)").frame.equals(whole)
