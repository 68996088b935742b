"""Scores that cannot be read: one line that says where and what, and what would be right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from rankscope.errors import DataError, InputError
from rankscope.files.matrices import scores_of

nan = float("nan")


def frame() -> pl.DataFrame:
    rows = [("bm25", "q1", "AP", 0.5), ("dense", "q1", "AP", 1.0)]
    return pl.DataFrame(rows, schema=["run", "query_id", "metric", "value"], orient="row")


def no(source: Any, *parts: str, kind: type[Exception] = InputError, **options: Any) -> str:
    with pytest.raises(kind) as caught:
        scores_of(source, **options)
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message
    return message


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("query_id,x,y\n1,.5,1\n2,no,1\n", ("a.csv line 3, column x: 'no' is not a number",)),
        ("query_id;x;y\n1;0,5;1\n", ("line 2, column x: '0,5' is not a number", "0.5, with a point")),
        ("query_id,x,y\n\n1,.5,1\n2,inf,1\n", ("a.csv line 4, column x: 'inf' is infinite",)),
        ("query_id,x,y\n1,.5,1\n2,1e999,1\n", ("line 3, column x: '1e999' is infinite",)),
        ("query_id,x,y\n1,.5,1\n2,1\n", ("a.csv line 3: 2 columns, the header has 3",)),
        ("query_id,x,y\n1,.5,1\n2,1,1,1\n", ("a.csv line 3: 4 columns, the header has 3",)),
        ("query_id,x,y\n1,.5,1\n2,1,1\n1,1,1\n", ("a.csv line 4: query '1' is there twice",)),
        ("run,1,2\nx,.5,1\nx,1,1\n", ("a.csv line 3: system 'x' is there twice",)),
        ("query_id,x,x\n1,.5,1\n", ("column 'x' is there twice",)),
        ("query_id,x,\n1,.5,1\n", ("column 3 has no name",)),
        ("query_id\n1\n", ("no values",)),
        ("run\nx\n", ("no column of a query",)),
        ("query_id,x\n", ("a header and no rows",)),
        ("query_id,x,y\n,.5,1\n", ("a.csv line 2: no query (column query_id is empty)",)),
        (
            "run,query_id,metric,value\nx,1,AP,1\nx,2,AP,1\nx,1,AP,0\n",
            ("line 4: system 'x' has query '1' twice for AP",),
        ),
        ("run,query_id,metric,AP\nx,1,AP,1\n", ("no column value",)),
    ],
)
def test_faulty_files(write: Any, content: str, parts: tuple[str, ...]) -> None:
    no(write("a.csv", content), *parts)


def test_faulty_objects(write: Any) -> None:
    no({"a": {"q1": "x"}}, "system 'a', query 'q1': 'x' is not a finite number")
    no({"a": {"q1": float("inf")}}, "system 'a', query 'q1': inf is not a finite number")
    no({"a": {}}, "system 'a' has no query")
    no({}, "nothing is there to read")
    no([], "nothing is there to read")
    no([0.5, 0.25], "a list of numbers has no system")
    no({"a": [1, 0], "b": [1]}, "lists of different lengths (a 2, b 1)")
    no({"a": 0.5}, "system 'a' has 0.5")
    no({"q1": {"map": 0.5, "ndcg_cut_10": 1}}, "the inner keys are metrics", "{system: {query: {metric: value}}}")
    no({"a": {1: 0.5, "1": 0.5}}, "query '1' twice")
    no(np.array([1.0]), "systems x queries")
    no(np.array([[1.0, np.inf]]), "infinite")
    no(7, "cannot be read from int")
    no("no.csv", "no such file")
    no(write("a.json", '{"a": {"q1": 1, "q1": 2}}'), "'q1' comes twice")
    no(write("a.jsonl", '{"run": "a", "qid": "1", "value": 1}\n{"run":\n'), "a.jsonl line 2: not a JSON object")
    no(write("a.jsonl", '{"run": "a", "qid": "1", "value": 1}\n{"r\\ud800": 1}\n'), "a.jsonl line 2: not a JSON object")


def test_metrics_that_are_not_there() -> None:
    no(frame(), "unknown metric 'APP', did you mean AP?", metric="APP")
    assert list(scores_of(frame(), metric="ap").values) == ["ap"]


def test_several_sources_that_do_not_fit(write: Any) -> None:
    write("a.csv", "query_id,AP\n1,.5\n2,1\n")
    write("b.csv", "query_id,AP\n301,.5\n302,1\n")
    write("c.csv", "query_id,RR\n1,.5\n2,1\n")
    Path("other").mkdir()
    write("other/a.csv", "query_id,AP\n1,.5\n2,1\n")
    no(["a.csv", "b.csv"], "system 'a' shares no query with the others", "1, 2", "301, 302", kind=DataError)
    no(["a.csv", "c.csv"], "two systems need a metric in common", kind=DataError)
    no(["a.csv", "other/a.csv"], "a.csv and other/a.csv: system 'a' has query '1' twice for AP", "{name: source}")
    assert scores_of({"x": "a.csv", "y": "other/a.csv"}).systems == ("x", "y")
    no({"x": write("d.csv", "run,query_id,value\nu,1,1\nv,1,1\n")}, "holds 2 systems", "the one system 'x'")


def test_absent_queries_are_nan(write: Any) -> None:
    table = scores_of([write("a.csv", "query_id,AP\n1,.5\n2,1\n"), write("b.csv", "query_id,AP\n2,.5\n3,1\n")])
    np.testing.assert_array_equal(table.values["AP"], [[0.5, 1, nan], [nan, 0.5, 1]])
    assert table.note == "read a.csv and b.csv as scores of 2 systems on 3 queries: AP; 2 of 6 are absent"
