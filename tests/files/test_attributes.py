"""Attributes, clusters and costs: what is read, how queries are cut into slices, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.errors import DataError, InputError
from rankscope.files.side_tables import NONE, attributes_of, clusters_of, costs_of


def members(found: dict[str, Any], queries: list[str]) -> dict[str, list[str]]:
    return {name: [q for q, kept in zip(queries, mask, strict=True) if kept] for name, mask in found.items()}


# --- attributes ----------------------------------------------------------------------------------------


def test_columns_of_text_numbers_and_truth(write: Any) -> None:
    found = attributes_of(write("a.csv", "query_id,lang,length,head\nq1,en,3,True\nq2,,4,False\nq3,de,,True\n"))
    assert found.by_query == {
        "q1": {"lang": "en", "length": 3.0, "head": "true"},
        "q2": {"lang": None, "length": 4.0, "head": "false"},
        "q3": {"lang": "de", "length": None, "head": "true"},
    }
    queries = ["q1", "q2", "q3", "q4"]
    slices = found.slices(queries)
    assert members(slices["lang"], queries) == {"de": ["q3"], "en": ["q1"], NONE: ["q2", "q4"]}
    assert members(slices["length"], queries) == {"length 3": ["q1"], "length 4": ["q2"], NONE: ["q3", "q4"]}
    assert members(slices["head"], queries) == {"false": ["q2"], "true": ["q1", "q3"], NONE: ["q4"]}


def test_the_same_from_every_container(write: Any) -> None:
    rows = [("q1", "en", 3.0, True), ("q2", None, 4.0, False)]
    frame = pl.DataFrame(rows, schema=["qid", "lang", "length", "head"], orient="row")
    by_query = {q: {"lang": a, "length": b, "head": c} for q, a, b, c in rows}
    expected = attributes_of(by_query).by_query
    assert attributes_of(frame).by_query == expected
    assert attributes_of(frame.select("lang", "qid", "length", "head")).by_query == expected
    frame.write_csv(write("a.csv", ""))
    assert attributes_of("a.csv").by_query == expected
    frame.write_csv("a.tsv", separator="\t")
    assert attributes_of("a.tsv").by_query == expected
    frame.write_ndjson("a.jsonl")
    assert attributes_of("a.jsonl").by_query == expected
    frame.write_parquet("a.parquet")
    assert attributes_of("a.parquet").by_query == expected
    assert attributes_of("a.parquet").label == "a.parquet"


def test_thirds() -> None:
    queries = [f"q{n}" for n in range(1, 10)]
    found = attributes_of({q: {"length": n} for n, q in enumerate(queries, 1)}).slices(queries)["length"]
    assert members(found, queries) == {
        "length 1 to 3": queries[:3], "length 4 to 6": queries[3:6], "length 7 to 9": queries[6:],
    }  # fmt: skip


def test_equal_values_stay_together() -> None:
    values = [1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7]
    queries = [f"q{n}" for n in range(len(values))]
    found = attributes_of({q: {"n": v} for q, v in zip(queries, values, strict=True)}).slices(queries)["n"]
    # the fifth and the tenth of fourteen values end the first two thirds
    assert {name: int(mask.sum()) for name, mask in found.items()} == {"n 1": 8, "n 2 to 3": 2, "n 4 to 7": 4}


def test_names_tell_slices_apart() -> None:
    values = {f"q{n}": {"x": 1000.00001 + n * 1e-5} for n in range(9)}
    found = attributes_of(values).slices(list(values))["x"]
    assert len(found) == 3
    assert all(name.startswith("x 1000.000") for name in found)


@given(st.lists(st.one_of(st.none(), st.integers(-5, 5), st.floats(-1e6, 1e6), st.just(0.1)), min_size=1, max_size=40))
def test_every_query_is_in_one_slice(values: list[float | None]) -> None:
    by_query = {f"q{n}": {"x": value} for n, value in enumerate(values)}
    queries = list(by_query)
    found = attributes_of(by_query).slices(queries)["x"]
    assert (np.array(list(found.values())).sum(axis=0) == 1).all()
    assert all(mask.any() for mask in found.values())
    other = attributes_of(by_query).slices(queries[::-1])["x"]
    assert list(found) == list(other)
    for name, mask in found.items():
        np.testing.assert_array_equal(mask, other[name][::-1])


def test_unknown_queries() -> None:
    found = attributes_of({"q1": {"a": 1}, "q2": {"a": 2}})
    assert found.unknown(["q2", "q3"]) == ["q1"]
    assert found.remarks(["q1", "q2"]) == []
    assert found.remarks(["q2", "q3"]) == [
        "attributes: 1 query is not scored (q1)", "attributes: 1 scored query is not in it (q3)",
    ]  # fmt: skip
    with pytest.raises(DataError, match="its queries have no scores; it has q1 and q2, the scores 1 and 2"):
        found.remarks(["1", "2"])


def test_a_header_that_is_missing(write: Any) -> None:
    found = attributes_of(write("a.tsv", "q1\ten\nq2\tde\n"))
    with pytest.raises(InputError, match="begins with the query 'q1', not with a header"):
        found.remarks(["q1", "q2"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("query_id,a\nq1,x\nq1,y\n", "a.csv line 3: query 'q1' is there twice"),
        ("query_id,a\nq1,x\n,y\n", "a.csv line 3: no query"),
        ("query_id,a\nq1,x,y\n", "a.csv line 2: 3 columns, the header has 2"),
        ("query_id\nq1\n", "one column only"),
        ("query_id,a\nq1,1\nq2,inf\n", "a.csv line 3, column a: 'inf' is infinite"),
    ],
)
def test_faulty_attributes(write: Any, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        attributes_of(write("a.csv", content))


# --- clusters ------------------------------------------------------------------------------------------


def test_clusters(write: Any) -> None:
    queries = ["q3", "q1", "q2"]
    for source in (
        {"q1": "u1", "q2": "u0", "q3": "u1", "q9": "u9"},
        pl.DataFrame({"query_id": ["q1", "q2", "q3"], "user": ["u1", "u0", "u1"]}),
        write("a.csv", "query,user\nq1,u1\nq2,u0\nq3,u1\n"),
        write("b.tsv", "q1\tu1\nq2\tu0\nq3\tu1\n"),
    ):
        codes, names = clusters_of(source, queries)
        assert names == ["u0", "u1"]
        assert codes.tolist() == [1, 1, 0]
    codes, names = clusters_of({"q1": 7, "q2": 3}, ["q1", "q2"])
    assert (codes.tolist(), names) == ([1, 0], ["3", "7"])


def test_faulty_clusters(write: Any) -> None:
    with pytest.raises(DataError, match=r"query 'q2' has no cluster \(1 of 2 queries has none\)"):
        clusters_of({"q1": "a"}, ["q1", "q2"])
    with pytest.raises(DataError, match="query 'q2' has no cluster"):
        clusters_of(write("a.csv", "query,user\nq1,a\nq2,\n"), ["q1", "q2"])
    with pytest.raises(InputError, match=r"a.csv: query q1 has two clusters"):
        clusters_of(write("a.csv", "query,user\nq1,a\nq1,b\n"), ["q1"])
    with pytest.raises(InputError, match="3 columns; clusters are a table of two"):
        clusters_of(write("a.csv", "query,user,x\nq1,a,1\n"), ["q1"])


# --- costs ---------------------------------------------------------------------------------------------


def test_costs(write: Any) -> None:
    costs = costs_of(write("a.csv", "system,latency_ms,index_size\nlarge,250,1e6\nsmall,45,2000\n"))
    assert costs.columns == ("latency_ms", "index_size")
    assert costs.of(["small"]) == {"small": {"latency_ms": 45, "index_size": 2000}}
    assert costs_of(costs.by_run).by_run == costs.by_run
    assert costs.remarks(["small"]) == ["a.csv: 1 run without a score (large)"]
    with pytest.raises(InputError, match=r"a.csv: unknown run 'smal', did you mean small\?"):
        costs.of(["large", "smal"])
    with pytest.raises(InputError, match=r"no column 'latency', did you mean latency_ms\?"):
        costs.column("latency")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("run,cost\na,\n", "a.csv line 2, column cost: the number is missing"),
        ("run,cost\na,-1\n", "a.csv line 2, column cost: -1.0 is not a cost"),
        ("run,cost\na,45 ms\n", "a.csv line 2, column cost: '45 ms' is not a number"),
        ("run,cost\na,1\na,2\n", "a.csv line 3: run 'a' is there twice"),
        ("run,qps\na,1\n", "column qps: of a cost less is better"),
        ("run,queries_per_second\na,1\n", "of a throughput more"),
        ("run\na\n", "no cost is there"),
    ],
)
def test_faulty_costs(write: Any, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        costs_of(write("a.csv", content))


def test_faulty_costs_in_a_dict() -> None:
    with pytest.raises(InputError, match="run b has no cost"):
        costs_of({"a": {"cost": 1}, "b": {}})
    with pytest.raises(InputError, match="run a, cost: 'x' is not a cost"):
        costs_of({"a": {"cost": "x"}})
    assert costs_of({"a": 3}).columns == ("cost",)
