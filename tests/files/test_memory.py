"""Dicts and data frames."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.files import qrels_of, run_of


def library(name: Any) -> Any:
    if os.environ.get("RANKSCOPE_REQUIRE_FRAMES") == "1":
        return importlib.import_module(name)
    return pytest.importorskip(name)


def messages(table: Any) -> list[str]:
    return [fault.message for fault in table.source.faults]


def no(read: Any, source: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(source)
    return str(caught.value)


def test_dicts_of_scores() -> None:
    run = run_of({"q": {"a": 1, "b": 2.5}, 2: {7: np.float32(0.5)}})
    assert run.frame.rows() == [("q", "a", 1.0), ("q", "b", 2.5), ("2", "7", 0.5)]
    assert run.frame.schema == {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    assert run.source.notes == ("read run as a dict: 3 rows, 2 queries",)
    assert (run.name, run.source.kind, run.source.at(2)) == ("run", "dict", "run row 3")
    assert run_of({"q": {"a": 1}}, name="bm25").name == "bm25"


def test_lists_are_in_rank_order() -> None:
    run = run_of({"q": ["a", "b"], "r": ("c",), "s": np.array(["d", "e"])})
    assert run.frame.rows() == [
        ("q", "a", -1.0, 1), ("q", "b", -2.0, 2), ("r", "c", -1.0, 1), ("s", "d", -1.0, 1), ("s", "e", -2.0, 2),
    ]  # fmt: skip
    mixed = run_of({"q": ["a"], "r": {"b": 3}})
    assert mixed.frame.rows() == [("q", "a", -1.0), ("r", "b", 3.0)]


@pytest.mark.parametrize("kind", [set, frozenset, list, tuple])
def test_relevant_documents(kind: Any) -> None:
    qrels = qrels_of({"q": kind(["b", "a"]), "r": kind([])})
    assert sorted(qrels.frame.rows()) == [("q", "a", 1.0), ("q", "b", 1.0)]
    assert qrels.queries == ["q", "r"]
    assert qrels.mapping == {"q": {"a": 1.0, "b": 1.0}, "r": {}}


def test_grades() -> None:
    assert qrels_of({"q": {"a": 2, "b": -1, "c": True}}).frame["grade"].to_list() == [2.0, -1.0, 1.0]


def test_queries_without_documents_are_kept() -> None:
    run = run_of({"q": {}, "r": {"a": 1}})
    assert run.queries == ["r", "q"]
    assert run_of({"q": []}).frame.schema["doc_id"] == pl.String


def test_faults_of_dicts() -> None:
    run = run_of({"q": {"a": None, "b": float("nan"), "c": "x", "d": "1.5"}})
    assert messages(run) == [
        "run: query 'q', document 'a': score None is not a number",
        "run: query 'q', document 'c': score 'x' is not a number",
    ]
    assert run.nan_rows.tolist() == [0]
    assert run.frame["doc_id"].to_list() == ["b", "d"]
    assert messages(qrels_of({"q": {"a": float("nan")}})) == [
        "qrels: query 'q', document 'a': grade nan is not a number"
    ]
    many = run_of({"q": dict.fromkeys(range(30), "x")})
    assert messages(many)[-1] == "run: 10 more faulty rows, 30 in all"


RIGHT = "a run as a dict is {query: {document: score}} or {query: [document, ...]} in rank order"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, f"run: the dict is empty; {RIGHT}"),
        ({"q": "abc"}, f"run: query 'q' has 'abc'; {RIGHT}"),
        ({"q": 5}, f"run: query 'q' has 5; {RIGHT}"),
        ({"q": {"a"}}, f"run: query 'q' has a set, which has no order; {RIGHT}"),
        ({1.5: ["a"]}, "run: query id 1.5 is of type float; ids are strings or integers"),
        ({True: ["a"]}, "run: query id True is of type bool; ids are strings or integers"),
        ({"q": [["a"]]}, "run: document id ['a'] is of type list; ids are strings or integers"),
        ({"q": [("a", 0.5)]}, "run: document id ('a', 0.5) is of type tuple; ids are strings or integers"),
        ({"q": {None: 1}}, "run: document id None is of type NoneType; ids are strings or integers"),
        ({1: ["a"], "1": ["b"]}, "run: query '1' is there as text and as number: keep one"),
    ],
)
def test_what_is_no_run(source: Any, message: Any) -> None:
    assert no(run_of, source) == message


ROWS = [("1", "01", 2.5), ("1", "b", 1.0)]


def test_polars() -> None:
    frame = pl.DataFrame({"qid": [1, 1], "docno": ["01", "b"], "score": [2.5, 1.0]})
    assert run_of(frame).frame.rows() == run_of(frame.lazy()).frame.rows() == ROWS
    assert run_of(frame).source.notes == ("read run as a data frame: 2 rows, 1 query",)
    assert run_of(frame.with_columns(pl.col("docno").cast(pl.Categorical))).frame.rows() == ROWS
    assert run_of(frame, name="x").source.at(1) == "x row 2"


def test_pandas() -> None:
    pd = library("pandas")
    library("pyarrow")
    frame = pd.DataFrame({"qid": [1, 1], "docno": ["01", "b"], "score": [2.5, 1.0], "label": [2, 0]})
    assert run_of(frame).frame.rows() == ROWS
    assert run_of(frame.astype({"docno": object})).frame.rows() == ROWS
    assert run_of(frame.astype({"docno": "category"})).frame.rows() == ROWS
    assert qrels_of(frame).frame["grade"].to_list() == [2.0, 0.0]
    lacking = run_of(frame.assign(score=[1, None], docno=["a", "b"]))
    assert messages(lacking) == ["run row 2: no score (column score is empty)"]
    said = no(run_of, frame.assign(docno=["a", 2]))
    assert said.startswith("run: the data frame cannot be read: ")
    assert said.endswith("; are texts and numbers mixed in one column? astype(str) makes ids strings")


def test_pyarrow() -> None:
    pa = library("pyarrow")
    table = pa.table({"query": ["1", "1"], "item": ["01", "b"], "score": [2.5, 1.0]})
    assert run_of(table).frame.rows() == ROWS


def test_duckdb() -> None:
    library("duckdb")
    # in a process of its own: DuckDB tells of objects that it left behind when Python ends
    lines = (
        "import duckdb",
        "from rankscope.files import run_of",
        "rows = \"values (1, '01', 2.5::decimal(9, 2)), (1, 'b', 1)\"",
        "relation = duckdb.sql(f'select * from ({rows}) as t(query_id, doc_id, score)')",
        "print(run_of(relation).frame.rows())",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(ROWS)


def test_float_ids() -> None:
    whole = run_of(pl.DataFrame({"qid": [1.0, None], "docid": ["a", "b"], "score": [1, 2]}))
    assert whole.frame.rows() == [("1", "a", 1.0)]
    assert whole.source.notes[1] == "column qid holds ids as floats: 1.0 is read as '1'"
    assert messages(whole) == ["run row 2: no query_id (column qid is empty)"]
    said = no(run_of, pl.DataFrame({"qid": [1.5], "docid": ["a"], "score": [1]}))
    assert said == "run: column qid holds fractions (1.5), not ids; ids are strings or integers"


def test_frames_that_are_no_runs() -> None:
    assert no(run_of, pl.DataFrame({"qid": [[1]], "docid": ["a"], "score": [1]})) == (
        "run: column qid is of type List(Int64); ids are strings or integers"
    )
    assert no(run_of, pl.DataFrame({"qid": [1], "docid": ["a"], "score": [[1]]})) == (
        "run: column score is of type List(Int64); it should hold numbers"
    )
    assert no(run_of, pl.DataFrame({"qid": [], "docid": [], "score": []})) == "run: the data frame has no rows"
    assert no(run_of, pl.Series("qid", [1])) == "run: a series, not a data frame"


def test_floats_larger_than_any_whole_number_are_no_ids() -> None:
    frame = pl.DataFrame({"qid": [1.0, 9e200], "docid": ["a", "b"], "rel": [1, 2]})
    with pytest.raises(InputError, match=r"column qid holds 9e\+200 as an id; floats from 9,007,199,254,740,992 on"):
        qrels_of(frame)


def test_a_name_of_a_run_is_no_list() -> None:
    frame = pl.DataFrame({"qid": ["q"], "docid": ["d"], "score": [1.0], "run": [["a"]]})
    with pytest.raises(InputError, match=r"column run is of type List\(String\); it should hold the name of the run"):
        run_of(frame)


def test_a_cursor_of_a_database_is_told_which_rows_to_give() -> None:
    class Cursor:
        def fetch_arrow_table(self) -> None: ...

    with pytest.raises(
        InputError, match=r"^log: cannot be read from Cursor; give the rows of the query: \.fetch_arrow_table\(\)$"
    ):
        rs.read_log(Cursor())


def test_a_column_of_intervals_is_refused_by_its_type() -> None:
    pa = library("pyarrow")
    spans = pa.array([pa.MonthDayNano([0, 3, 0])] * 2)
    log = pa.table({"user_id": ["a", "b"], "click": [1, 0], "took": spans})
    with pytest.raises(InputError, match="cannot be read: a column is of type month_day_nano_interval; leave it out"):
        rs.online(log, "CTR")
