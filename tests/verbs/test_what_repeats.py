"""Warnings of many runs are said once, with their size, and every result has what the others have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest
from tests.made.results import RESULTS

import rankscope as rs

QRELS = {f"q{i}": {"a": 1, "b": 0, "c": 1} for i in range(20)}


def runs(many: int, tied: int) -> dict[str, Any]:
    plain = {"a": 3.0, "b": 2.0, "c": 1.0}
    equal = {"a": 2.0, "b": 2.0, "c": 1.0}
    return {f"r{n:02}": {q: equal if i < tied - n else plain for i, q in enumerate(QRELS)} for n in range(many)}


def test_ties_are_one_warning_with_the_largest_range() -> None:
    found = rs.evaluate(QRELS, runs(3, 5), "P@1")
    (said,) = [one for one in found.warnings if one.code == "RS203"]
    # a or b is first in 5 of 20 queries
    assert said.message == "r00: ties across rank 1 in 5 queries: P@1 is 0.7500 to 1.0000 (2 more runs like it)"
    assert " ▲ r00: ties across rank 1 in 5 queries: P@1 is 0.7500 to 1.0000 (2 more runs\n" in found.to_text(80)
    assert said.hint.startswith("give distinct scores")
    assert said.hint[5:20] not in found.to_text(80)


def test_ties_that_move_no_printed_digit_are_no_warning() -> None:
    graded = {q: {"a": 1, "b": 1, "c": 0} for q in QRELS}
    assert rs.evaluate(graded, runs(2, 5), "P@1").data_health["r00"]["ties_at_cutoff"] == {"1": 5}
    assert not any(one.code == "RS203" for one in rs.evaluate(graded, runs(2, 5), "P@1").warnings)


def test_findings_of_many_runs_are_one_row_led_by_the_largest() -> None:
    many = {f"r{n:02}": dict(list(run.items())[1 + n :]) for n, run in enumerate(runs(8, 0).values())}
    found = rs.check(QRELS, many, "P@1", select="RS101")
    assert len(found.findings) == len(found.to_dicts()) == 8
    text = " ".join(found.to_text(200).split())
    assert text.count("RS101 warning") == 1
    assert "r07 has no ranking for 8 of 20 judged queries" in text
    assert "(and 7 more runs like it, which to_json() lists)" in text
    assert "8 warnings" in text


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_has_conventions_notes_and_warnings(name: str) -> None:
    result = RESULTS[name]()
    assert isinstance(result.conventions, Mapping)
    assert all(isinstance(note, str) for note in result.notes)
    assert all(one.code and one.message for one in result.warnings)


def test_the_catalogue_is_a_frame() -> None:
    frame = rs.catalogue("official").to_polars()
    assert frame.height == len(rs.catalogue("official").to_dicts())


def test_queries_of_frames_of_numbers_are_numbers() -> None:
    qrels = pl.DataFrame({"query_id": [210, 211], "doc_id": [1, 2], "relevance": [1, 1]})
    run = pl.DataFrame({"query_id": [210, 211], "doc_id": [1, 3], "score": [2.0, 1.0]})
    numbered: Any = rs.evaluate(qrels, run, "P@1").to_dict()
    assert numbered == {210: {"P@1": 1.0}, 211: {"P@1": 0.0}}
    assert rs.evaluate({"210": {"a": 1}}, {"210": {"a": 1.0}}, "P@1").to_dict() == {"210": {"P@1": 1.0}}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        pytest.param("{}.0", "a decimal point", id="a decimal point behind letters"),
        pytest.param("query_{}", "a prefix", id="a prefix before letters"),
        pytest.param("{}-test", "a suffix", id="a suffix"),
    ],
)
def test_queries_that_are_written_otherwise_are_named(query: str, words: str) -> None:
    other = {query.format(q): {"a": 1.0} for q in QRELS}
    with pytest.raises(rs.RankscopeError, match=words):
        rs.evaluate(QRELS, other, "P@1")


def test_a_prefix_of_documents_is_found_among_many_unjudged_ones() -> None:
    qrels = {f"q{i}": {str(100 + 7 * i + j): 1 for j in range(3)} for i in range(10)}
    run = {q: {f"doc_{d}": 9.0 - n for n, d in enumerate([*docs, *range(900, 912)])} for q, docs in qrels.items()}
    (said,) = [one for one in rs.evaluate(qrels, run, "P@1").warnings if one.code == "RS114"]
    assert "a prefix" in said.message
