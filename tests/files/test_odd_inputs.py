"""Odd inputs: keys that come twice, arrays and views, paths that are none, ids that are no ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.files import qrels_of, read_qrels, read_run, run_of


def file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_json_keys_that_come_twice_are_kept(tmp_path: Path) -> None:
    queries = file(tmp_path, "a.json", '{"q1": {"d1": 1}, "q2": {"d3": 1}, "q1": {"d2": 2}}')
    rows = [("q1", "d1", 1.0), ("q1", "d2", 2.0), ("q2", "d3", 1.0)]
    assert read_run(queries).frame.rows() == rows
    assert read_qrels(queries).frame.rows() == rows
    docs = file(tmp_path, "b.json", '{"q1": {"d1": 1, "d1": 2, "d2": 0}}')
    twice = read_qrels(docs)
    assert twice.frame.rows() == [("q1", "d1", 1.0), ("q1", "d1", 2.0), ("q1", "d2", 0.0)]
    assert list(twice.repetitions) == [1]
    with pytest.raises(InputError, match="document d1 of query q1 is judged twice"):
        rs.evaluate(docs, {"q1": {"d1": 1.0}}, "P@1")
    with pytest.raises(InputError, match="document d1 of query q1 is ranked twice"):
        rs.evaluate({"q1": {"d1": 1}}, docs, "P@1")


def test_json_lists_of_one_query(tmp_path: Path) -> None:
    lists = file(tmp_path, "a.json", '{"q": ["a", "b"], "q": ["c"]}')
    assert read_qrels(lists).frame["doc_id"].to_list() == ["a", "b", "c"]
    with pytest.raises(InputError, match="query 'q' is there twice; put its documents into one list"):
        read_run(lists)
    deep = file(tmp_path, "b.json", '{"q": ' + "[" * 200_000)
    with pytest.raises(InputError, match=r"nested too deeply|not JSON"):
        read_run(deep)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"qid": "q", "doc_id": 1.5, "score": 1}', r"line 2: doc_id is 1.5, not an id"),
        ('{"qid": 2.5, "doc_id": "d", "score": 1}', r"line 2: qid is 2.5, not an id"),
        ('{"qid": "q", "doc_id": true, "score": 1}', r"line 2: doc_id is True, not an id"),
        ('{"qid": "q", "doc_id": ["d"], "score": 1}', r"line 2: doc_id is \['d'\], not an id"),
    ],
)
def test_jsonl_ids_are_ids(tmp_path: Path, line: str, said: str) -> None:
    path = file(tmp_path, "a.jsonl", '{"qid": "q", "doc_id": "2405.1", "score": 2}\n' + line + "\n")
    with pytest.raises(InputError, match=said):
        read_run(path)


def test_jsonl_ids_that_look_like_numbers(tmp_path: Path) -> None:
    text = '{"qid": 1, "doc_id": "2405.10", "score": 2}\n{"qid": 1.0, "doc_id": "true", "score": 1}\n'
    run = read_run(file(tmp_path, "a.jsonl", text))
    assert run.frame.rows() == [("1", "2405.10", 2.0), ("1", "true", 1.0)]


def test_arrays_and_views_are_rankings() -> None:
    rows = [("q", "b", -1.0), ("q", "a", -2.0)]
    rankings: list[Any] = [np.array(["b", "a"]), np.array(["b", "a"], dtype=object), {"b": 0, "a": 0}.keys()]
    for ranking in rankings:
        assert run_of({"q": ranking}).frame.select("query_id", "doc_id", "score").rows() == rows
        for runs in ({"q": ranking}, {"mine": {"q": ranking}}):
            assert "0.5" in str(rs.evaluate({"q": {"a": 1}}, runs, "RR@5"))
    assert run_of({1: np.array([3, 2])}).frame["doc_id"].to_list() == ["3", "2"]
    assert qrels_of({"q": np.array(["b", "a"])}).frame["grade"].to_list() == [1, 1]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ((d for d in "ab"), "query 'q' has a generator, which can be read only once: make it a list"),
        (np.array("a"), "query 'q' has an array of 0 dimensions"),
        (np.array([["a"]]), "query 'q' has an array of 2 dimensions"),
        (b"ab", "query 'q' has b'ab'"),
    ],
)
def test_what_is_no_ranking(value: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        run_of({"q": value})


@pytest.mark.parametrize("read", [read_run, read_qrels])
def test_paths_that_are_none(read: Any) -> None:
    for path, kind in ((None, "NoneType"), (5, "int"), (b"x", "bytes")):
        with pytest.raises(InputError, match=f"a path is a string or a Path, not {kind}"):
            read(path)
    with pytest.raises(InputError, match="the path is empty"):
        read("")


def test_infinite_scores_are_told(tmp_path: Path) -> None:
    run = read_run(file(tmp_path, "a.run", "q Q0 a 1 1e999 t\nq Q0 b 2 1 t\nq Q0 c 3 -1e999 t\n"))
    assert "2 scores are infinite" in run.source.notes
    assert not any("infinite" in note for note in run_of({"q": {"a": 1.0}}).source.notes)
