"""Scores of systems: one table, whatever its shape and container; and one line for what is none."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from rankscope.errors import InputError
from rankscope.files.matrices import ScoreTable, scores_of

nan = float("nan")
SYSTEMS, QUERIES = ("bm25", "dense"), ("q1", "q2", "q3")
VALUES = [[0.5, nan, 0.25], [1.0, 0.125, 0.0]]
LONG = [(s, q, VALUES[i][j]) for i, s in enumerate(SYSTEMS) for j, q in enumerate(QUERIES)]


def said(value: float) -> str:
    return "" if np.isnan(value) else str(value)


def text(header: list[str], rows: list[list[str]], separator: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows([header, *rows])
    return out.getvalue()


def long_text(separator: str = ",") -> str:
    rows = [[s, q, "AP", said(v)] for s, q, v in LONG]
    return text(["run", "query_id", "metric", "value"], rows, separator)


def by_query_text() -> str:
    return text(["query_id", *SYSTEMS], [[q, *(said(row[j]) for row in VALUES)] for j, q in enumerate(QUERIES)])


def by_system_text() -> str:
    return text(["run", *QUERIES], [[s, *map(said, row)] for s, row in zip(SYSTEMS, VALUES, strict=True)])


def frame() -> pl.DataFrame:
    rows = [(s, q, "AP", None if np.isnan(v) else v) for s, q, v in LONG]
    return pl.DataFrame(rows, schema=["run", "query_id", "metric", "value"], orient="row")


def is_the_table(table: ScoreTable, metric: str = "AP") -> None:
    assert table.systems == SYSTEMS
    assert table.query_ids == QUERIES
    assert list(table.values) == [metric]
    np.testing.assert_array_equal(table.values[metric], VALUES)
    assert "\n" not in table.note


def no(source: Any, *parts: str, kind: type[Exception] = InputError, **options: Any) -> str:
    with pytest.raises(kind) as caught:
        scores_of(source, **options)
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message
    return message


# --- the same table from every container ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.txt"])
@pytest.mark.parametrize("make", [long_text, by_query_text, by_system_text])
def test_text_of_any_shape(write: Any, name: str, make: Any) -> None:
    is_the_table(scores_of(write(name, make()), metric="AP"))


@pytest.mark.parametrize(("name", "separator"), [("a.tsv", "\t"), ("a.csv", ";"), ("a", "\t")])
def test_other_separators(write: Any, name: str, separator: str) -> None:
    is_the_table(scores_of(write(name, long_text(separator))))


def test_windows_lines_bom_quotes_and_blank_lines(write: Any) -> None:
    lines = long_text().replace("bm25", '"bm25"').replace("\n", "\r\n\r\n")
    is_the_table(scores_of(write("a.csv", b"\xef\xbb\xbf" + lines.encode())))


def test_json_of_every_kind(write: Any) -> None:
    rows = frame().to_dicts()
    is_the_table(scores_of(write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))))
    is_the_table(scores_of(write("a.json", json.dumps(rows))))
    is_the_table(scores_of(write("b.json", json.dumps({"schema": "rankscope/evaluate/1", "per_query": rows}))))
    is_the_table(scores_of(write("c.json", json.dumps({"schema": "x", "per_query": rows}, indent=1))))
    plain = {
        s: {q: None if np.isnan(v) else v for q, v in zip(QUERIES, row, strict=True)}
        for s, row in zip(SYSTEMS, VALUES, strict=True)
    }
    is_the_table(scores_of(write("d.json", json.dumps(plain, indent=1)), metric="AP"))


def test_parquet_and_polars(tmp_path: Path) -> None:
    frame().write_parquet(tmp_path / "a.parquet")
    is_the_table(scores_of(tmp_path / "a.parquet"))
    is_the_table(scores_of(frame()))
    is_the_table(scores_of(frame().lazy()))


def test_other_frames(need: Any) -> None:
    pandas, duckdb = need("pandas"), need("duckdb")
    need("pyarrow")
    given = frame()  # found by duckdb under its name
    is_the_table(scores_of(given.to_arrow()))
    is_the_table(scores_of(duckdb.sql("select * from given")))
    rows = pandas.DataFrame(given.to_dicts())
    is_the_table(scores_of(rows))
    is_the_table(scores_of(rows[rows.run != "x"].sort_index()))
    is_the_table(scores_of(rows.set_index(["run", "query_id"])))
    wide = pandas.DataFrame(np.array(VALUES).T, index=pandas.Index(QUERIES, name="query_id"), columns=SYSTEMS)
    is_the_table(scores_of(wide, metric="AP"))
    is_the_table(scores_of(wide.T.rename_axis("run"), metric="AP"))
    is_the_table(scores_of(wide.rename_axis(None), metric="AP", systems="columns"))
    is_the_table(scores_of(wide.T.rename_axis(None), metric="AP", systems="rows"))
    no(wide.rename_axis(None), "the first column has no name", "systems='columns'")


def test_a_series_per_system(need: Any) -> None:
    pandas = need("pandas")
    is_the_table(
        scores_of({s: pandas.Series(row, index=QUERIES) for s, row in zip(SYSTEMS, VALUES, strict=True)}, "AP")
    )
    plain = scores_of(dict(zip(SYSTEMS, VALUES, strict=True)), "AP")
    for series in (pandas.Series, pl.Series):
        found = scores_of({s: series(row) for s, row in zip(SYSTEMS, VALUES, strict=True)}, "AP")
        assert found.query_ids == plain.query_ids
        assert np.array_equal(found.values["AP"], plain.values["AP"], equal_nan=True)
    no({"x": pandas.Series([0.1, 0.2], index=["q1", "q1"])}, "the index of system 'x' has a query twice")


def test_pandas_numbering_is_left_out(write: Any, need: Any) -> None:
    pandas = need("pandas")
    name = write("a.csv", pandas.DataFrame(frame().to_dicts()).to_csv())
    is_the_table(scores_of(name))


def test_dicts_and_arrays() -> None:
    is_the_table(
        scores_of(
            {s: dict(zip(QUERIES, row, strict=True)) for s, row in zip(SYSTEMS, VALUES, strict=True)}, metric="AP"
        )
    )
    is_the_table(scores_of(dict(zip(SYSTEMS, VALUES, strict=True)), metric="AP"))
    is_the_table(scores_of({s: np.array(row) for s, row in zip(SYSTEMS, VALUES, strict=True)}), "score")
    nested = {
        s: {q: {"AP": v} for q, v in zip(QUERIES, row, strict=True)} for s, row in zip(SYSTEMS, VALUES, strict=True)
    }
    is_the_table(scores_of(nested))
    table = scores_of(np.array(VALUES))
    assert table.systems == ("system1", "system2")
    np.testing.assert_array_equal(table.values["score"], VALUES)
    np.testing.assert_array_equal(scores_of(np.array(VALUES).T, systems="columns").values["score"], VALUES)
    assert scores_of(table) is table


def test_several_sources_of_one_system(write: Any) -> None:
    for system, row in zip(SYSTEMS, VALUES, strict=True):
        write(f"{system}.csv", text(["query_id", "ndcg@5"], [[q, said(v)] for q, v in zip(QUERIES, row, strict=True)]))
    is_the_table(scores_of(["bm25.csv", "dense.csv"]), "ndcg@5")
    is_the_table(scores_of({"bm25": "bm25.csv", "dense": Path("dense.csv")}), "ndcg@5")
    is_the_table(scores_of(["bm25.csv", "dense.csv"], metric="nDCG@5"), "nDCG@5")
    one = scores_of("bm25.csv")
    assert (one.systems, one.query_ids) == (("bm25",), QUERIES)


def test_order_of_rows_changes_no_value(write: Any) -> None:
    table = scores_of(frame().reverse())
    for i, system in enumerate(SYSTEMS):
        for j, query in enumerate(QUERIES):
            got = table.values["AP"][table.systems.index(system), table.query_ids.index(query)]
            assert got == VALUES[i][j] or (np.isnan(got) and np.isnan(VALUES[i][j]))


def test_what_evaluate_writes_comes_back(write: Any) -> None:
    from rankscope import evaluate

    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    runs = {"x": {"q1": ["a", "b"], "q2": ["a", "b"]}, "y": {"q1": ["b", "a"], "q2": ["b"]}}
    scores = evaluate(qrels, runs, "RR P@1")
    table = scores_of(write("a.json", scores.to_json(per_query=True)))
    assert table.values["RR"].tolist() == [[1, 1 / 2], [1 / 2, 1]]
    assert table.values["P@1"].tolist() == [[1, 0], [0, 1]]
    assert scores_of(list(map(pl.DataFrame, [scores.to_dicts("per_query")]))).values["RR"].tolist() == [
        [1, 1 / 2],
        [1 / 2, 1],
    ]
    assert scores_of(scores.per_query, metric="P@1").values["P@1"].tolist() == [[1, 0], [0, 1]]
    no(write("b.json", scores.to_json()), 'to_csv("per_query")')


# --- real data -----------------------------------------------------------------------------------------


def test_system_scores(shared_data: Any) -> None:
    path = shared_data("system_scores/adhoc5_ap.csv")
    rows = list(csv.reader(path.read_text().splitlines()))
    table = scores_of(path)
    assert table.note == f"read {path} as scores of 61 systems (columns) on 50 queries (rows), numbered q1 to q50"
    assert table.systems == tuple(rows[0])
    assert (table.query_ids[0], table.query_ids[-1]) == ("q1", "q50")
    np.testing.assert_array_equal(table.values["score"], np.array(rows[1:], dtype=float).T)


@pytest.mark.parametrize("name", ["adhoc6_p10", "adhoc7_rr", "adhoc8_ap"])
def test_more_system_scores(shared_data: Any, name: str) -> None:
    path = shared_data(f"system_scores/{name}.csv")
    rows = np.array(list(csv.reader(path.read_text().splitlines()))[1:], dtype=float)
    np.testing.assert_array_equal(scores_of(path, metric="m").values["m"], rows.T)


# --- which shape ---------------------------------------------------------------------------------------


def test_columns_of_metrics(write: Any) -> None:
    table = scores_of(write("bm25.csv", "qid,ndcg@10,AP\n1,.5,.25\n2,1,.75\n"))
    assert table.systems == ("bm25",)
    assert {m: v.tolist() for m, v in table.values.items()} == {"ndcg@10": [[0.5, 1]], "AP": [[0.25, 0.75]]}
    table = scores_of(write("a.csv", "run,qid,ndcg@10,AP\nx,1,.5,.25\ny,1,1,.75\n"))
    assert {m: v.tolist() for m, v in table.values.items()} == {"ndcg@10": [[0.5], [1]], "AP": [[0.25], [0.75]]}
    table = scores_of("bm25.csv", systems="columns")
    assert table.systems == ("ndcg@10", "AP")
    no(
        write("b.csv", "qid,ndcg@10,length\n1,.5,3\n"),
        "ndcg@10 looks like a metric",
        "length like a system",
        "systems='columns'",
    )


def test_a_system_may_be_called_model(write: Any) -> None:
    assert scores_of(write("a.csv", "query_id,bm25,model\n1,.5,.25\n2,1,.75\n")).systems == ("bm25", "model")


def test_ids_are_kept_as_they_are_written(write: Any) -> None:
    assert scores_of(write("a.csv", "topic,x,y\n01,.5,.25\n1,1,.75\n")).query_ids == ("01", "1")


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("nr,x\n301,.5\n302,.25\n", ("a.csv: column nr", "another whole number in every row", "systems='columns'")),
        ("who,x\nann,.5\nbob,.25\n", ("first column 'who' holds texts", "name it query_id or run")),
        (",x\nann,.5\nbob,.25\n", ("first column has no name", "name it query_id or run")),
        ("0.5,0.25\n.5,.25\n", ("a column is called 0.5: is the header line missing?",)),
        ("1,0,1\n0,0,1\n", ("column '1' is there twice", "header line missing")),
        ("run,metric,value,queries\nx,AP,.5,2\n", ("means of systems", 'to_csv("per_query")')),
        ("run,nDCG@10,AP\nx,.4,.5\n", ("means of systems", 'to_csv("per_query")')),
    ],
)
def test_unclear_shapes(write: Any, content: str, parts: tuple[str, ...]) -> None:
    no(write("a.csv", content), *parts)


def test_unclear_shapes_made_clear(write: Any) -> None:
    name = write("a.csv", "who,x,y\nann,.5,1\nbob,.25,0\n")
    assert scores_of(name, systems="columns").query_ids == ("ann", "bob")
    assert scores_of(name, systems="rows").systems == ("ann", "bob")
    assert scores_of(write("b.csv", "301,302\n.5,.25\n"), systems="rows").query_ids == ("301", "302")
    assert scores_of("b.csv", systems="columns").systems == ("301", "302")
    no(write("c.csv", "query_id,x\n1,.5\n"), "rows are queries", systems="rows")
    no(name, "'rows' or 'columns'", systems="across")
