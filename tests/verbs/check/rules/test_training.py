"""Rules about training data: a minimal bad case and a clean one each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.verbs.check.made_findings import QRELS, QUERIES, RUN, finder

of = finder("P@2")


TRAIN = {q: {"e": 1, "f": 1} for q in QUERIES}
WHOLE = TRAIN | {"other": {"a": 1, "b": 1}}


@pytest.mark.parametrize("code", ["RS501", "RS502", "RS503", "RS504"])
def test_a_clean_split_is_left_in_peace(code: str) -> None:
    assert of(code, QRELS, RUN, train=WHOLE) == []
    assert of(code, QRELS, RUN) == []


def test_test_items_that_were_trained_on() -> None:
    (found,) = of("RS501", QRELS, RUN, train=WHOLE | {"q0": {"a": 1, "e": 1}})
    assert found.count == 1
    assert "1 of 20 relevant test items (5%)" in found.message
    assert found.documents == (("q0", "a"),)
    assert found.effect == {"P@2": pytest.approx(-1 / 2 / 10)}


def test_seen_items_that_are_recommended() -> None:
    run = {q: {"e": 9.0, **docs} for q, docs in RUN.items()}
    (found,) = of("RS502", QRELS, run, train=WHOLE)
    assert "50% of the top 2" in found.message
    assert found.effect == {"P@2": pytest.approx(1 - 1 / 2)}


def test_training_after_the_test(tmp_path: Path) -> None:
    test, train = tmp_path / "test.csv", tmp_path / "train.csv"
    test.write_text("user_id,item_id,rating,timestamp\nq0,a,1,100\nq1,b,1,100\nq2,a,1,100\n")
    train.write_text("user_id,item_id,rating,timestamp\nq0,e,1,50\nq1,e,1,150\nq1,f,1,90\nq2,a,1,10\nq3,b,1,500\n")
    (found,) = of("RS503", test, RUN, train=train)
    assert (found.count, found.queries) == (1, ("q1",))
    assert "1 of 3 users" in found.message
    train.write_text("user_id,item_id,rating,timestamp\nq0,e,1,50\nq1,e,1,99\n")
    assert of("RS503", test, RUN, train=train) == []


def test_dates_are_times_too(tmp_path: Path) -> None:
    test, train = tmp_path / "test.csv", tmp_path / "train.csv"
    test.write_text("user_id,item_id,rating,date\nq0,a,1,2024-03-01\n")
    train.write_text("user_id,item_id,rating,date\nq0,e,1,2024-02-28\nq0,f,1,2024-03-02\n")
    assert of("RS503", test, RUN, train=train)[0].documents == (("q0", "f"),)


def test_cold_users_and_items() -> None:
    users, items = of("RS504", QRELS, RUN, train={q: {"a": 1} for q in QUERIES[:9]})
    assert users.queries == ("q9",)
    assert "1 of 10 users" in users.message
    assert "1 of 2 relevant items" in items.message
    assert users.effect
    assert not items.effect
    assert users.severity == items.severity == "information"


@pytest.mark.parametrize("kind", ["dict", "table"])
def test_seen_items_are_looked_for_where_items_were_scored(kind: str) -> None:
    tied = {q: {"f": 1.0, "x": 1.0, "e": 1.0} for q in RUN}  # the document e comes last in the file and first by id
    run: Any = tied
    if kind == "table":
        rows = [(q, d, s, r) for q, docs in tied.items() for r, (d, s) in enumerate(docs.items(), 1)]
        run = pl.DataFrame(rows, schema=["query_id", "doc_id", "score", "rank"], orient="row")

    def seen(**policies: Any) -> int:
        found = of("RS502", QRELS, run, train={q: {"e": 1} for q in TRAIN}, **policies)
        return sum(one.count or 0 for one in found)

    assert seen(ties="docid") == len(QRELS)
    assert seen() == seen(ties="input") == 0
    assert seen(ties="docid", depth=1) == len(QRELS)
    if kind == "table":
        assert seen(ties="rank") == 0
    own = {q: {q: 3.0, "f": 2.0, "e": 1.0} for q in RUN}  # each query finds itself first
    seen_last = of("RS502", QRELS, own, train={q: {"e": 1} for q in TRAIN}, self_match="drop")
    assert sum(one.count or 0 for one in seen_last) == len(QRELS)
    assert of("RS502", QRELS, own, train={q: {"e": 1} for q in TRAIN}) == []
    assert of("RS502", QRELS, own, train={q: {"e": 1} for q in TRAIN}, self_match="drop", depth=1) == []
