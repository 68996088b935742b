"""Rules for judgments beside rankings, texts and training data: a minimal bad case and a clean one each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.verbs.check.rules import Finding

QUERIES = [f"q{i}" for i in range(10)]
QRELS = {q: {"a": 2, "b": 1, "c": 0, "d": 0} for q in QUERIES}
RUN = {q: {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0} for q in QUERIES}


def of(code: str, qrels: Any, run: Any, metrics: Any = "P@2", **options: Any) -> list[Finding]:
    return list(rs.check(qrels, run, metrics, select=[code], **options))


# --- judgments ---------------------------------------------------------------------------------------


def test_judged_tops_are_left_in_peace() -> None:
    assert of("RS204", QRELS, RUN) == []


def test_unjudged_documents_and_what_leaving_them_out_gives() -> None:
    run = {q: {"x": 9.0, **docs} for q, docs in RUN.items()}
    (found,) = of("RS204", QRELS, run, "nDCG@2")
    assert found.severity == "warning"
    assert "50% of its top 2" in found.message
    # x, a against a, b; the ideal is a, b: (2/log2(3)) / (2 + 1/log2(3)) against 1
    ideal = 2 + 1 / np.log2(3)
    assert found.effect == {"nDCG@2": pytest.approx(1 - (2 / np.log2(3)) / ideal)}


def test_more_unjudged_in_one_run_than_in_another() -> None:
    run = {q: {"x": 9.0, **docs} for q, docs in RUN.items()}
    (found,) = of("RS204", QRELS, {"old": RUN, "new": run})
    assert found.run == "new"
    assert "(old: 0%), an uneven comparison" in found.message


def test_qrels_of_relevant_documents_only_say_nothing_of_the_rest() -> None:
    (found,) = of("RS204", {q: {"a": 1} for q in QUERIES}, RUN)
    assert found.severity == "information"
    assert "relevant documents only" in found.message


def test_grades_off_the_scale_that_was_stated() -> None:
    assert of("RS112", QRELS, RUN, scale="0-2") == []
    assert of("RS112", QRELS, RUN) == []  # nothing was stated
    odd = QRELS | {"q0": {"a": 20, "b": 1, "c": 0, "d": 0}}
    run = {q: {"b": 2.0, "a": 1.0} for q in QUERIES}
    (found,) = of("RS112", odd, run, "nDCG@2", scale=(0, 2))
    assert found.count == 1
    high, low = (1 + 20 / np.log2(3)) / (20 + 1 / np.log2(3)), (1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3))
    assert found.effect == {"nDCG@2": pytest.approx((low - high) / 10)}
    assert of(
        "RS112", QRELS | {"q0": {"a": 0.5}}, RUN, scale="0-2"
    )  # no half grades on a scale of whole ones
    assert of("RS112", QRELS | {"q0": {"a": -1, "b": 1}}, RUN, scale="0-2") == []  # pooled, not judged


def test_differences_that_so_few_queries_cannot_show() -> None:
    worse = RUN | {"q0": {"c": 2.0, "d": 1.0}}
    (found,) = of("RS409", QRELS, {"one": RUN, "two": worse}, "P@2")
    assert found.severity == "information"
    assert "differ by 0.1000 on P@2" in found.message
    # one difference of 1 in ten: deviation sqrt(0.1), t quantiles of 9 degrees of freedom 2.2622 and 0.8834
    assert f"of {(2.2622 + 0.8834) * np.sqrt(0.1) / np.sqrt(10):.3f} or more" in found.message
    assert of("RS409", QRELS, {"one": RUN, "same": RUN}) == []
    nothing = {q: {"c": 2.0 + i / 10, "d": 1.0} for i, q in enumerate(QUERIES)}
    assert of("RS409", QRELS, {"one": RUN, "none": nothing}) == []  # far apart in every query


# --- texts -------------------------------------------------------------------------------------------

TEXTS = {
    "a": "The quick brown fox jumps over the lazy dog again",
    "b": "the quick, brown fox jumps over the lazy dog again!",
    "c": "Something else entirely, about rankings and their judgments",
    "d": "A fourth text, which shares the and nothing more",
}


def test_near_duplicates_in_the_top() -> None:
    (found,) = of("RS206", QRELS, RUN, texts=TEXTS)
    assert found.count == 10
    assert found.effect == {"P@2": pytest.approx(1 / 2 - 1)}  # a, c instead of a, b
    assert found.documents[0] == ("q0", "b")
    assert of("RS206", QRELS, RUN) == []
    assert of("RS206", QRELS, RUN, texts=TEXTS | {"b": "A text of its own, with a few words"}) == []


def test_texts_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    pl.DataFrame({"_id": list(TEXTS), "title": "", "text": list(TEXTS.values())}).write_ndjson(path)
    assert of("RS206", QRELS, RUN, texts=path)[0].count == 10


def test_a_copy_with_one_word_changed_is_a_copy() -> None:
    words = " ".join(f"word{i}" for i in range(30))
    texts = {"a": words, "b": words.replace("word7 ", "other "), "c": words.replace("word", "w")}
    (found,) = of("RS206", QRELS, RUN, texts=texts)
    assert found.count == 10


# --- training ----------------------------------------------------------------------------------------

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
    train.write_text(
        "user_id,item_id,rating,timestamp\nq0,e,1,50\nq1,e,1,150\nq1,f,1,90\nq2,a,1,10\nq3,b,1,500\n"
    )
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
    assert users.severity == items.severity == "information"


@pytest.mark.parametrize("kind", ["dict", "table"])
def test_seen_items_are_looked_for_where_items_were_scored(kind: str) -> None:
    tied = {
        q: {"f": 1.0, "x": 1.0, "e": 1.0} for q in RUN
    }  # the document e comes last in the file and first by id
    run: Any = tied
    if kind == "table":
        rows = [(q, d, s, r) for q, docs in tied.items() for r, (d, s) in enumerate(docs.items(), 1)]
        run = pl.DataFrame(rows, schema=["query_id", "doc_id", "score", "rank"], orient="row")

    def seen(**policies: Any) -> int:
        found = of("RS502", QRELS, run, train={q: {"e": 1} for q in TRAIN}, **policies)
        return sum(one.count for one in found)

    assert seen(ties="docid") == len(QRELS)
    assert seen() == seen(ties="input") == 0
    assert seen(ties="docid", depth=1) == len(QRELS)
    if kind == "table":
        assert seen(ties="rank") == 0
    own = {q: {q: 3.0, "f": 2.0, "e": 1.0} for q in RUN}  # each query finds itself first
    seen_last = of("RS502", QRELS, own, train={q: {"e": 1} for q in TRAIN}, self_match="drop")
    assert sum(one.count for one in seen_last) == len(QRELS)
    assert of("RS502", QRELS, own, train={q: {"e": 1} for q in TRAIN}) == []
    assert of("RS502", QRELS, own, train={q: {"e": 1} for q in TRAIN}, self_match="drop", depth=1) == []
