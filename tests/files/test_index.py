"""The index of a pandas frame: what names the rows is used, and what does not is never data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.files import qrels_of, run_of
from rankscope.files.side_tables import attributes_of, clusters_of, costs_of
from rankscope.scoring.weights import weights_of

QUERIES = ["q1", "q2", "q3", "q4"]


@pytest.fixture
def frame(need: Callable[[str], ModuleType]) -> Any:
    pandas = need("pandas")
    need("pyarrow")
    return pandas.DataFrame({"query_id": QUERIES, "kind": ["x", "y", "x", "y"]})


def renamed(frame: Any, name: str) -> Any:
    return frame.rename_axis(name)


FRAMES: dict[str, Callable[[Any], Any]] = {
    "plain": lambda f: f,
    "sorted": lambda f: f.sort_values("kind"),
    "filtered and back": lambda f: f.iloc[[3, 1, 0, 2]],
    "an index with a name": lambda f: renamed(f, "row"),
    "sorted, with a name": lambda f: renamed(f.sort_values("kind"), "row"),
    "the query as the index": lambda f: f.set_index("query_id"),
    "the query in camel case as the index": lambda f: (
        f.rename(columns={"query_id": "queryId"}).set_index("queryId").sort_values("kind")
    ),
    "the query and a number": lambda f: f.assign(n=range(4)).set_index(["n", "query_id"]),
    "written and read": lambda f: f.sort_values("kind").reset_index().rename(columns={"index": "Unnamed: 0"}),
    "as Arrow writes it": lambda f: pl.DataFrame(
        {"__index_level_0__": [3, 1, 0, 2], **f.iloc[[3, 1, 0, 2]].to_dict("list")}
    ),
    "ids as an index without a name": lambda f: renamed(f.set_index("query_id"), None),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("shape", FRAMES)
def test_attributes(shape: str, frame: Any) -> None:
    found = attributes_of(FRAMES[shape](frame))
    assert found.names == ["kind"]
    assert {query: said["kind"] for query, said in found.by_query.items()} == dict(zip(QUERIES, "xyxy", strict=True))


@pytest.mark.parametrize("shape", FRAMES)
def test_clusters(shape: str, frame: Any) -> None:
    codes, names = clusters_of(FRAMES[shape](frame), QUERIES)
    assert (codes.tolist(), names) == ([0, 1, 0, 1], ["x", "y"])


@pytest.mark.parametrize("shape", FRAMES)
def test_weights(shape: str, frame: Any) -> None:
    weights = weights_of(FRAMES[shape](frame.assign(kind=[1, 2, 3, 4])))
    assert weights.by_query == dict(zip(QUERIES, [1.0, 2.0, 3.0, 4.0], strict=True))


def test_a_csv_with_its_index(tmp_path: Path, frame: Any) -> None:
    path = tmp_path / "slices.csv"
    frame.sort_values("kind").to_csv(path)
    assert path.read_text().startswith(",query_id,kind\n0,q1,x\n2,")
    assert attributes_of(path).names == ["kind"]


def test_a_named_range_is_a_role_where_its_name_is_one(frame: Any) -> None:
    pandas_index = renamed(frame[["kind"]], "query_id")
    assert type(pandas_index.index).__name__ == "RangeIndex"
    assert attributes_of(pandas_index).by_query["2"] == {"kind": "x"}


def test_an_index_never_becomes_a_slice(frame: Any) -> None:
    """Sorting a frame of attributes must not change what a comparison says."""
    qrels = {q: {"a": 1, "b": 0} for q in QUERIES}
    one, two = ({q: {"a": 1.0, "b": float(n % m)} for n, q in enumerate(QUERIES)} for m in (2, 3))
    rows = [
        rs.compare(qrels, {"one": one, "two": two}, "RR", slices=some).to_dicts("slices")
        for some in (frame, frame.sort_values("kind"))
    ]
    assert rows[0] == rows[1]
    assert {row["attribute"] for row in rows[0]} == {"kind"}


def test_a_series_is_two_columns(frame: Any) -> None:
    series = frame.assign(kind=[1, 2, 3, 4]).set_index("query_id")["kind"]
    assert (
        weights_of(series).by_query == weights_of(series.rename(None)).by_query == {"q1": 1, "q2": 2, "q3": 3, "q4": 4}
    )
    assert clusters_of(series, QUERIES)[1] == ["1", "2", "3", "4"]


def test_costs(frame: Any) -> None:
    costs = frame.rename(columns={"query_id": "run", "kind": "ms"}).assign(ms=[4.0, 3.0, 2.0, 1.0])
    assert costs_of(costs.sort_values("ms")).by_run == costs_of(costs.set_index("run")).by_run == costs_of(costs).by_run


def test_runs_and_qrels_by_their_index(frame: Any) -> None:
    rows = frame.assign(doc_id=["a", "b", "c", "d"], score=[4.0, 3.0, 2.0, 1.0]).drop(columns="kind")
    wanted = run_of(rows).frame.rows()
    assert run_of(rows.set_index("query_id")).frame.rows() == wanted
    assert run_of(rows.set_index(["query_id", "doc_id"])).frame.rows() == wanted
    assert run_of(rows.set_index(["query_id", "doc_id"])["score"]).frame.rows() == wanted
    assert qrels_of(rows.set_index(["query_id", "doc_id"])["score"].rename(None)).frame.rows() == wanted
    assert run_of(rows.set_index(["query_id", "doc_id"], drop=False)).frame.rows() == wanted
