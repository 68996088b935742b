"""Which column is what: names however they are spelled, roles that are given, and what is refused rather than guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.files import qrels_of, read_qrels, read_run, run_of

ROWS = {"query_id": ["q1", "q1", "q2"], "doc_id": ["a", "b", "a"], "score": [2.0, 1.0, 3.0]}


def table(**names: str) -> pl.DataFrame:
    return pl.DataFrame(ROWS).rename(names)


@pytest.mark.parametrize(
    "name",
    [
        "userId",
        "UserID",
        "user id",
        "USER_ID",
        "user-id",
        "queryId",
        "topicId",
        "Session ID",
        "customer_id",
        "qid",
        "topic",
    ],
)
def test_a_query_by_any_spelling(name: str) -> None:
    assert run_of(table(query_id=name)).frame.rows() == run_of(table()).frame.rows()


@pytest.mark.parametrize(
    "name",
    ["docId", "document_id", "documentId", "chunk_id", "chunkId", "product_id", "productId", "movieId", "itemId", "passage_id",
     "articleId", "corpus-id", "docno", "item"],
)  # fmt: skip
def test_a_document_by_any_spelling(name: str, tmp_path: Path) -> None:
    assert run_of(table(doc_id=name)).frame.rows() == run_of(table()).frame.rows()
    table(doc_id=name).write_csv(tmp_path / "run.csv")
    assert read_run(tmp_path / "run.csv").frame.rows() == run_of(table()).frame.rows()


@pytest.mark.parametrize("other", ["document_id", "chunk_id", "docno", "itemId", "product_id"])
def test_two_columns_that_could_be_the_document_are_refused(other: str, tmp_path: Path) -> None:
    two = table().with_columns(pl.lit("x").alias(other))
    two.write_parquet(tmp_path / "run.parquet")
    two.write_ndjson(tmp_path / "run.jsonl")
    two.write_csv(tmp_path / "run.csv")
    for source in (two, *(tmp_path / f"run.{ending}" for ending in ("parquet", "jsonl", "csv"))):
        with pytest.raises(
            InputError,
            match=f"columns doc_id and {other} could each be the document: name it, like columns=.{other}=doc_id",
        ):
            run_of(source)
        chosen = read_run(source, columns={other: "doc_id"}).frame["doc_id"].to_list()
        assert chosen == ["x", "x", "x"]
        assert read_run(source, columns={"doc_id": "doc_id"}).frame["doc_id"].to_list() == ["a", "b", "a"]


def test_the_text_of_an_item_beside_its_id_is_no_second_document() -> None:
    assert run_of(table().with_columns(item=pl.lit("a lamp"))).frame["doc_id"].to_list() == ["a", "b", "a"]


def test_columns_with_roles(tmp_path: Path) -> None:
    odd = table(query_id="who", doc_id="what", score="points")
    roles = {"who": "query_id", "what": "docno", "points": "score"}
    odd.write_csv(tmp_path / "odd.csv")
    odd.write_parquet(tmp_path / "odd.parquet")
    odd.write_ndjson(tmp_path / "odd.jsonl")
    for source in (odd, *(tmp_path / f"odd.{ending}" for ending in ("csv", "parquet", "jsonl"))):
        assert read_run(source, "mine", columns=roles).frame.rows() == run_of(table()).frame.rows()
    grades = read_qrels(odd, columns={"who": "query_id", "what": "doc_id", "points": "grade"})
    assert grades.frame.rows() == qrels_of(table()).frame.rows()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"who": "usr_id"}, "columns: 'who' has the unknown role 'usr_id', did you mean query_id"),
        ({"query_id": "doc_id", "doc_id": "doc_id"}, "columns query_id and doc_id both have the role doc_id; name one"),
        (["who"], "give the role of each column that has another name, like"),
    ],
    ids=["an unknown role", "a role twice", "no mapping"],
)
def test_roles_that_cannot_be(columns: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_run(table(), columns=columns)


def test_rows_of_what_users_took_are_relevant() -> None:
    took = pl.DataFrame({"userId": [1, 1, 2, 1], "movieId": [10, 20, 10, 10], "timestamp": [5, 6, 7, 8]})
    qrels = qrels_of(took)
    assert qrels.frame.rows() == [("1", "10", 1.0), ("1", "20", 1.0), ("2", "10", 1.0)]
    assert qrels.source.notes[1:] == (
        "no grade column: every row is taken as relevant, with grade 1",
        "1 row repeats a query and document, and counts once",
    )
    shown = pl.DataFrame({"userId": [1, 1, 2], "movieId": [20, 30, 10], "score": [3.0, 2.0, 1.0]})
    assert rs.evaluate(took, shown, "P@1")["P@1"] == 1.0


def test_a_column_that_may_be_a_grade_is_not_passed_over() -> None:
    odd = pl.DataFrame({"user_id": [1, 1], "item_id": [10, 20], "judgement": [0, 1]})
    with pytest.raises(
        InputError, match=r"no column for grade among .*; if every row is relevant, leave judgement out"
    ):
        qrels_of(odd)
    assert read_qrels(odd, columns={"judgement": "grade"}).frame["grade"].to_list() == [0.0, 1.0]
    with pytest.raises(InputError, match="a rank belongs to a run"):
        qrels_of(pl.DataFrame({"user_id": [1], "item_id": [10], "rank": [1]}))


def test_repeated_rows_of_a_file_keep_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "took.csv"
    path.write_text("user_id,item_id\n1,a\n1,a\n,b\n2,c\n")
    qrels = qrels_of(path)
    assert qrels.frame["doc_id"].to_list() == ["a", "c"]
    assert [qrels.source.at(row) for row in (0, 1)] == [f"{path} line 2", f"{path} line 5"]
    assert [fault.line for fault in qrels.source.faults] == [4]
