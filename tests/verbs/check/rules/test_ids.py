"""Ids that look alike: every way of writing, on both sides, and numbers that only seem alike."""

from __future__ import annotations

from typing import Any

import pytest
from tests.verbs.check.made_findings import finder

import rankscope as rs

QUERIES = [str(i) for i in range(1, 9)]
QRELS = {q: {"d10": 1, "d20": 0} for q in QUERIES}
RUN = {q: {"d20": 2.0, "d10": 1.0} for q in QUERIES}


of = finder("RR")


def test_clean_ids_are_left_in_peace() -> None:
    assert of("RS113", QRELS, RUN) == []
    assert of("RS114", QRELS, RUN) == []


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (lambda q: f"0{q}", "leading zeros"),
        (lambda q: f"{q} ", "spaces"),
        (lambda q: f"\N{NO-BREAK SPACE}{q}", "spaces"),
        (lambda q: f"{q}.0", "a decimal point"),
        (lambda q: f"topic{q}", "a prefix"),
        (lambda q: f"q{q}.0", "a prefix and a decimal point"),
    ],
)
def test_query_ids_that_are_written_otherwise(written: Any, words: str) -> None:
    # half of the queries: the others keep the run comparable
    run = {written(q) if int(q) % 2 else q: docs for q, docs in RUN.items()}
    (found,) = of("RS113", QRELS, run)
    assert found.count == 4
    assert f"only in {words}" in found.message
    assert found.effect == {"RR": pytest.approx(1 / 2 - 1 / 4)}


def test_query_ids_in_other_letters() -> None:
    qrels, run = {"Q-a": {"d": 1}, "q2": {"d": 1}}, {"q-A": {"d": 1.0}, "q2": {"d": 1.0}}
    (found,) = of("RS113", qrels, run)
    assert "only in case" in found.message


def test_all_query_ids_written_otherwise() -> None:
    (found,) = of("RS113", QRELS, {f"q{q}": docs for q, docs in RUN.items()})
    assert found.count == 8
    assert "RR is 0.5000" in found.message


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("d010", "leading zeros"),
        ("D10", "case"),
        ("d10 ", "spaces"),
        ("d10.txt", "a file extension"),
        ("d10#2", "a chunk number"),
        ("d10_3", "a chunk number"),
        ("d10-chunk-0", "a chunk number"),
        ("d10::passage_4", "a chunk number"),
    ],
)
def test_document_ids_that_are_written_otherwise(written: str, words: str) -> None:
    run = {q: {"d20": 2.0, written: 1.0} for q in QUERIES}
    (found,) = of("RS114", QRELS, run)
    assert found.count == 8
    assert f"only in {words}: {written!r} and 'd10'" in found.message
    assert found.effect == {"RR": pytest.approx(1 / 2)}


def test_chunks_in_the_qrels() -> None:
    (found,) = of("RS114", {q: {"d10#1": 1, "x": 0} for q in QUERIES}, {q: {"x": 2.0, "d10": 1.0} for q in QUERIES})
    assert "(in the qrels)" in found.message


def test_several_chunks_of_a_document_count_once() -> None:
    run = {q: {"d10#1": 3.0, "d10#2": 2.0, "d20": 1.0} for q in QUERIES}
    (found,) = of("RS114", QRELS, run)
    assert found.effect == {"RR": pytest.approx(1.0)}


def test_ids_that_are_both_there_are_two_documents() -> None:
    run = {q: {"d20": 3.0, "d10": 2.0, "D10": 1.0, "d10_1": 0.5} for q in QUERIES}
    assert of("RS114", QRELS, run) == []


def test_numbers_in_ids_are_no_chunks_of_what_is_not_judged() -> None:
    qrels = {q: {"FT911-3": 1, "FT911-4": 0} for q in QUERIES}
    run = {q: {"FT911-31": 3.0, "FT911-4": 2.0, "FT91-3": 1.0} for q in QUERIES}
    assert of("RS114", qrels, run) == []


def test_real_ids_that_were_written_in_two_ways(shared_data: Any) -> None:
    # this old collection has CACM-950 in its judgments and CACM-0950 in the run
    qrels, run = shared_data("cacm/qrels.cacm.txt"), shared_data("cacm/cacm-bm25.txt")
    (found,) = rs.check(str(qrels), str(run), "R@100", select="RS114")
    assert found.documents[0] == ("10", "CACM-0950")
    assert found.count == 6


@pytest.mark.parametrize("chunk", ["#2", "_3", "-chunk-0", "::passage_4", "|7", ".part.12"])
def test_the_pattern_that_is_recommended_folds(chunk: str) -> None:
    """It is read off the message and given to evaluate, which then says what it says of documents."""
    (found,) = of(
        "RS114", QRELS, {q: {f"{doc}{chunk}": score for doc, score in docs.items()} for q, docs in RUN.items()}
    )
    pattern = found.message.partition("fold_by='")[2].partition("'")[0]
    run = {q: {f"d20{chunk}": 2.0, f"d10{chunk}": 1.0} for q in QUERIES}
    assert rs.evaluate(QRELS, run, ["RR"], fold_by=pattern)["RR"] == rs.evaluate(QRELS, RUN, ["RR"])["RR"] == 1 / 2
