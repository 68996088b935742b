"""A query and its list of documents in a row: JSON lines and frames give what dicts give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.files import qrels_of, run_of
from rankscope.files.raw import HEAD

LISTS = {"q1": ["a", "b"], "q2": ["c"]}
SCORES = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 3.0}}


def lines(folder: Path, *rows: Any) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    "key", ["docs", "doc_ids", "retrieved_ids", "retrievedContextIds", "results", "ranking", "candidates"]
)
def test_lists_of_ids(key: str, tmp_path: Path) -> None:
    rows = [{"query_id": query, "text": "words", key: docs} for query, docs in LISTS.items()]
    for source in (lines(tmp_path, *rows), pl.DataFrame(rows)):
        run = run_of(source)
        assert run.frame.rows() == run_of(LISTS).frame.rows()
        assert run.frame["rank"].to_list() == [1, 2, 1]


@pytest.mark.parametrize(
    "row",
    [
        lambda q, d: {"query_id": q, "results": [{"corpus_id": doc, "score": s} for doc, s in d.items()]},
        lambda q, d: {"qid": q, "hits": [{"_id": doc, "title": "t", "score": s} for doc, s in d.items()]},
        lambda q, d: {"query_id": q, "query": "words", "docs": list(d), "scores": list(d.values())},
        lambda q, d: {"query_id": q, "scores": list(d.values()), "retrieved": list(d)},
        lambda q, d: {"query_id": q, "results": d},
        lambda q, d: {q: d},
    ],
    ids=["objects", "objects with underscores", "two lists", "two lists, the other way", "an object", "the query as the key"],
)  # fmt: skip
def test_lists_with_scores(row: Any, tmp_path: Path) -> None:
    path = lines(tmp_path, *(row(query, docs) for query, docs in SCORES.items()))
    assert run_of(path).frame.rows() == run_of(SCORES).frame.rows()


def test_one_file_of_what_was_retrieved_and_what_is_relevant(tmp_path: Path) -> None:
    row = {"query_id": "q1", "retrieved_ids": ["a", "b", "c"], "relevant_ids": ["b", "c"]}
    path = lines(tmp_path, row)
    assert rs.evaluate(path, path, "AP")["AP"] == (1 / 2 + 2 / 3) / 2
    assert rs.evaluate(pl.DataFrame([row]), pl.DataFrame([row]), "AP")["AP"] == (1 / 2 + 2 / 3) / 2
    grades = lines(
        tmp_path, {"query_id": "q1", "relevant": [{"doc_id": "a", "relevance": 2}, {"doc_id": "b", "relevance": 0}]}
    )
    assert qrels_of(grades).frame.rows() == [("q1", "a", 2.0), ("q1", "b", 0.0)]


def test_a_large_file_and_a_query_without_documents(tmp_path: Path) -> None:
    rows = [{"query_id": f"q{n}", "docs": [f"d{n}", "x"]} for n in range(4000)]
    path = lines(tmp_path, *rows, {"query_id": "none", "docs": []})
    assert path.stat().st_size > HEAD
    run = run_of(path)
    assert (run.frame.height, run.queries[-1]) == (8000, "none")
    assert rs.evaluate({"q7": {"x": 1}, "none": {"x": 1}}, path, "RR")["RR"] == 0.25


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"query_id": "q", "docs": ["a"]}, {"query_id": "q", "docs": ["b"]}], "line 2: query 'q' is there twice; put its documents"),
        ([{"query_id": "q", "docs": ["a", "b"], "scores": [1]}], "line 1: docs has 2 documents, scores 1; give each a number"),
        ([{"query_id": "q", "retrieved": ["a"], "results": ["b"]}], "line 1: retrieved and results could each be the documents; keep one"),
        ([{"query_id": "q", "results": [{"text": "a"}]}], "is not a document, which has a doc_id and perhaps a score"),
        ([{"query_id": "q", "results": [{"id": "a", "score": 1}, {"id": "b"}]}], "1 document has no score, others do"),
        ([{"query_id": "q", "results": [{"id": "a", "score": 1}, {"id": "a", "score": 2}]}], "document 'a' is there twice; keep one"),
        ([{"query_id": "q", "relevant_ids": ["a"]}], "the list of documents for a run is missing among relevant_ids: call it retrieved_ids"),
        ([{"query_id": "q", "docs": ["a"]}, {"docs": ["a"]}], "line 2: "),
        ([{"query_id": "q", "docs": ["a", None]}], "document id None is of type NoneType"),
    ],
    ids=["a query twice", "lists of two lengths", "two lists", "no id", "a score missing", "a document twice", "of judgments only",
         "no query", "no document"],
)  # fmt: skip
def test_what_is_no_ranking(rows: list[Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        run_of(lines(tmp_path, *rows))
