"""Frames that come back hold ids as they were given; pandas without pyarrow."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

import rankscope as rs

ROWS = {"query_id": [1, 1, 2], "doc_id": [7, 8, 7]}
QRELS, RUN = pl.DataFrame({**ROWS, "grade": [1, 0, 2]}), pl.DataFrame({**ROWS, "score": [1.0, 2.0, 3.0]})
WHOLE = {1: {7: 1, 8: 0}, 2: {7: 2}}
TEXT = pl.col("query_id", "doc_id").cast(pl.String)


@pytest.mark.parametrize(
    ("qrels", "run", "kind"),
    [
        (QRELS, RUN, pl.Int64),
        (WHOLE, RUN, pl.Int64),
        (WHOLE, {1: [7], 2: [8]}, pl.Int64),
        (QRELS, RUN.cast({"query_id": pl.Float64}), pl.Int64),
        (QRELS.with_columns(TEXT), RUN, pl.String),
        ({"1": {7: 1}, "2": {7: 1}}, RUN, pl.String),
        (QRELS.with_columns(TEXT), RUN.with_columns(TEXT), pl.String),
    ],
    ids=["frames", "a dict and a frame", "dicts", "floats", "texts and numbers", "a dict of texts", "texts"],
)
def test_frames_that_come_back(qrels: Any, run: Any, kind: Any) -> None:
    scores = rs.evaluate(qrels, run, "AP")
    assert scores.per_query.schema["query_id"] == scores.to_polars("per_query").schema["query_id"] == kind
    record = json.loads(scores.to_json(per_query=True))["per_query"][0]
    assert record["query_id"] == scores.to_dicts("per_query")[0]["query_id"] == "1"  # for programs as it was


def test_files_do_not_count_where_a_frame_says_what_ids_are(tmp_path: Path) -> None:
    qrels = rs.write_qrels(QRELS, tmp_path / "qrels.txt")
    assert rs.evaluate(qrels, RUN, "AP").per_query["query_id"].to_list() == [1, 2]
    assert rs.evaluate(qrels, rs.write_run(RUN, tmp_path / "a.run"), "AP").per_query["query_id"].to_list() == ["1", "2"]
    (tmp_path / "odd.txt").write_text("01 0 7 1\n1 0 7 1\n")
    assert rs.evaluate(tmp_path / "odd.txt", RUN, "AP").per_query["query_id"].to_list() == ["01", "1"]


def test_other_results() -> None:
    run = {1: {9: 1.0, 7: 0.5}, 2: {7: 1.0}}
    for found in (
        rs.unjudged(WHOLE, run, "AP").to_polars("worklist"),
        rs.diagnose(WHOLE, run, "AP").to_polars("documents"),
    ):
        assert (found.schema["query_id"], found.schema["doc_id"]) == (pl.Int64, pl.Int64)  # type: ignore[comparison-overlap]
    assert rs.explain(WHOLE, run, "AP", query="1").to_polars().schema["doc_id"] == pl.Int64


def test_pandas_merges_with_what_was_passed(need: Callable[[str], ModuleType]) -> None:
    pandas = need("pandas")
    need("pyarrow")
    mine = pandas.DataFrame({"query_id": [1, 2], "kind": ["x", "y"]})
    values = rs.evaluate(QRELS.to_pandas(), RUN.to_pandas(), "AP").to_pandas("per_query").merge(mine, on="query_id")
    assert values[["query_id", "value", "kind"]].to_numpy().tolist() == [[1, 0.5, "x"], [2, 1.0, "y"]]


WITHOUT = """
import pandas, polars, rankscope as rs
try:
    import pyarrow
    raise SystemExit("pyarrow is here")
except ImportError:
    pass
qrels = pandas.DataFrame({"query_id": [1, 1, 2], "doc_id": ["a", "b", "a"], "grade": [1, 0, None]})
run = pandas.DataFrame({"query_id": pandas.array([1, 1, 2], "Int64"), "doc_id": pandas.Categorical(["a", "b", "a"]), "score": [1, 2, 3]})
scores = rs.evaluate(qrels[:2], run, "AP", weights=pandas.Series([3], index=[1]))
print(scores.to_pandas("per_query").to_dict("list"))
for odd in (qrels, qrels[:2].assign(doc_id=["a", 1])):
    try:
        rs.evaluate(odd, run, "AP")
    except rs.InputError as error:
        print(error)
"""


def test_pandas_without_pyarrow(need: Callable[[str], ModuleType], tmp_path: Path) -> None:
    folder = Path(str(need("pandas").__file__)).parent.parent
    for package in folder.iterdir():
        if not package.name.startswith("pyarrow"):
            (tmp_path / package.name).symlink_to(package)
    code = f"import sys; sys.path[:0] = {[str(Path(rs.__file__).parent.parent), str(tmp_path)]!r}\n{WITHOUT}"
    done = subprocess.run([sys.executable, "-S", "-E", "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    values, lacking, mixed = done.stdout.splitlines()
    assert values == "{'run': ['run'], 'query_id': [1], 'metric': ['AP'], 'value': [0.5], 'weight': [3.0]}"
    assert lacking == "qrels row 3: no grade (column grade is empty)"
    assert mixed.startswith("qrels: the data frame cannot be read: ")
    assert mixed.endswith("are texts and numbers mixed in one column? astype(str) makes ids strings")
