"""Rules about training data: a minimal bad case and a clean one each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.verbs.check.made_findings import QRELS, QUERIES, RUN, finder

import rankscope as rs

of = finder("P@2")


TRAIN = {q: {"e": 1, "f": 1} for q in QUERIES}
WHOLE = TRAIN | {"other": {"a": 1, "b": 1}}


@pytest.mark.parametrize("code", ["RS501", "RS502", "RS503", "RS504", "RS505", "RS506"])
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
    assert found.message.startswith("1 of 3 users has training interactions later than the user's first")
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


# --- the split itself: history, no runs, the bound, other users' future


def test_a_split_is_audited_without_runs_and_by_the_history_of_evaluate() -> None:
    history = {q: ["a", "e"] for q in QUERIES}
    found = rs.check(QRELS, metrics="P@2", select="RS5", history=history)
    assert [one.code for one in found] == ["RS501", "RS504", "RS505"]
    assert [one.message for one in found] == [
        one.message for one in rs.check(QRELS, metrics="P@2", select="RS5", train=history)
    ]


def test_the_bound_is_the_row_of_the_oracle() -> None:
    """Of a and b, user q0 had a, and b is in no training: P@2 of the others is 1/2 with a alone."""
    history = {"q0": ["a"], "other": ["a", "c"]}
    (found,) = of("RS505", QRELS, RUN, train=history)
    assert found.count == 11
    assert (
        "11 of 20 relevant test items (55%) cannot be hit (10 not in the training data, 1 already had by the user)"
        in found.message
    )
    bound = 9 * (1 / 2) / 10
    assert f"scores {bound:.4f} on P@2" in found.message
    oracle = rs.evaluate(QRELS, {"mine": RUN}, "P@2", history=history, references=True)["oracle", "P@2"]
    assert oracle == pytest.approx(bound)


def test_items_of_the_catalogue_can_be_shown() -> None:
    items = {one: {"g": "x"} for one in "abcdef"}
    assert of("RS505", QRELS, RUN, train=TRAIN, items=items) == []
    (found,) = of("RS505", QRELS, RUN, train=TRAIN, items={one: {"g": "x"} for one in "acdef"})
    assert "10 not in the catalogue" in found.message


def test_a_run_is_read_as_a_share_of_the_bound() -> None:
    half = {q: {"e": 2.0, "a": 1.0} for q in QUERIES}
    (found,) = of("RS505", QRELS, {"half": half}, train={"other": ["a"]})
    assert "half reaches 100% of P@2" in found.message  # 1/2 of at most 1/2


def test_the_relevance_level_of_the_request_decides_what_is_wanted() -> None:
    (found,) = of("RS501", QRELS, RUN, train=WHOLE | {"q0": {"a": 1, "b": 1}}, relevance_level=2)
    assert "1 of 10 relevant test items" in found.message  # b has grade 1


@pytest.mark.parametrize("kind", ["files", "frames"])
def test_training_on_the_future_of_other_users(tmp_path: Path, kind: str) -> None:
    test = pl.DataFrame({"user_id": ["q0", "q1"], "item_id": ["a", "b"], "rating": [1, 1], "timestamp": [100, 200]})
    late = [("q0", "e", 50), ("q1", "e", 150), ("q1", "a", 160), ("q2", "b", 170)]
    columns = dict(zip(("user_id", "item_id", "timestamp"), map(list, zip(*late, strict=True)), strict=True))
    train = pl.DataFrame(columns | {"rating": [1] * 4})
    inputs: list[Any] = [test, train]
    if kind == "files":
        inputs = [tmp_path / "test.csv", tmp_path / "train.csv"]
        test.write_csv(inputs[0])
        train.write_csv(inputs[1])
    (found,) = of("RS506", inputs[0], RUN, train=inputs[1])
    share = (3 / 4 + 0 / 4) / 2  # of four interactions three come after the test of q0, and none after the test of q1
    assert f"{100 * share:.0f}% of the training interactions" in found.message
    assert found.documents == (("q0", "a"),)  # first met at 160, tested at 100
    assert "1 of 2 relevant test items was first met" in found.message
    before = train.filter(pl.col("timestamp") <= 100)
    assert of("RS506", test, RUN, train=before) == []


def test_items_without_features_are_counted_by_column() -> None:
    items = {
        "a": {"g": "x", "e": [1.0, 0.0]},
        "b": {"g": [], "e": [0.0, 0.0]},
        "c": {"g": "y", "e": [0.0, 0.0]},
        "d": {"g": "y", "e": [0.0, 1.0]},
    }
    labels, vectors = of("RS507", QRELS, RUN, items=items)
    assert "50% of its top 2 has no g (1 item: b)" in labels.message
    assert "50% of its top 2 has no e (1 item: b)" in vectors.message  # c is below the cutoff
    assert of("RS507", QRELS, RUN, items={one: {"g": "x"} for one in "abcd"}) == []


def test_features_of_items_that_are_nowhere_else() -> None:
    items = {one: {"g": "x"} for one in "abcdefgh"}
    (found,) = of("RS508", QRELS, RUN, items=items, train=TRAIN)
    assert "2 of 8 items of items (25%) are in no run, judgment and training interaction (g, h)" in found.message
    assert of("RS508", QRELS, RUN, items=items) == []  # most items of a catalogue are shown to none without a history
    assert of("RS508", QRELS, RUN, items={one: {"g": "x"} for one in "abcdef"}, train=TRAIN) == []
