"""Every format of a result of ``evaluate`` holds the same numbers."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.scoring.scores import Scores

QRELS: dict[str, dict[str, int]] = {"q1": {"a": 2, "b": 0}, "q2": {"a": 1, "c": 3}, "q3": {"a": 0}, "q4": {"d": 1}}
ONE = {"q1": {"b": 2.0, "a": 2.0}, "q2": {"x": 1.0, "c": 1.0, "a": 0.5}, "q3": {"a": 1.0}}
TWO = {"q1": {"a": 2.0}, "q2": {"c": 1.0, "a": 0.5}, "q4": {"d": 1.0}}


@pytest.fixture(params=[{}, {"ties": "expected"}, {"no_relevant": "skip"}, {"weights": dict.fromkeys(QRELS, 1.5)}],
                ids=["plain", "ties", "undefined", "weights"])  # fmt: skip
def scores(request: pytest.FixtureRequest) -> Scores:
    found: Scores = rs.evaluate(QRELS, {"one": ONE, "two": TWO}, ["nDCG@2", "AP", "NumRet"], **request.param)
    return found


def records_of(text: str) -> list[dict[str, Any]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("table", ["results", "per_query", "facts", "distribution", "first_relevant"])
def test_records_frames_csv_and_lines_agree(scores: Scores, table: str) -> None:
    records = scores.to_dicts(table)
    assert [json.loads(line) for line in scores.to_jsonl(table).splitlines()] == records
    frame = scores.to_polars(table)
    rows = records_of(scores.to_csv(table))
    assert len(frame) == len(rows) == len(records)
    for record, row, framed in zip(records, rows, frame.to_dicts(), strict=True):
        for name, value in framed.items():
            assert record.get(name, 0) == value or (value is None and record[name] is None)
            assert row[name] == ("" if value is None else str(value))


def test_json_holds_every_table(scores: Scores) -> None:
    whole = json.loads(scores.to_json(per_query=True, distribution=True))
    assert whole["schema"] == "rankscope/evaluate/1"
    for view in scores.views:
        if view.name == "slices":  # which were not asked for
            assert view.name not in whole
            continue
        assert whole[view.name] == scores.to_dicts(view.name)
    few = json.loads(scores.to_json())
    assert few["per_query"] == []
    assert not {"facts", "distribution", "first_relevant"} & set(few)
    assert few["results"] == whole["results"] == scores.rows


def test_frames_keep_their_columns_and_types(scores: Scores) -> None:
    assert dict(scores.means.schema) == {
        "run": pl.String, "metric": pl.String, "value": pl.Float64, "queries": pl.Int64, "ci_lower": pl.Float64,
        "ci_upper": pl.Float64,
    }  # fmt: skip
    weight = {} if scores.request.policies.weights is None else {"weight": pl.Float64}
    assert dict(scores.per_query.schema) == {
        "run": pl.String, "query_id": pl.String, "metric": pl.String, "value": pl.Float64, **weight,
    }  # fmt: skip
    assert scores.first_relevant.columns == ["run", "rank", "queries"]
    assert scores.to_polars().equals(scores.to_polars("results"))


def test_text_markdown_and_latex_show_the_board(scores: Scores) -> None:
    for mean in scores.board:
        shown = f"{mean.value:.0f}" if mean.metric.aggregate == "sum" else f"{mean.value:.4f}"
        for text in (scores.to_text(120), scores.to_markdown(), scores.to_latex(), str(scores)):
            assert shown in text
    assert scores.request.small_print().split(" · ")[0] in " ".join(scores.to_text(120).split())


def test_trec_lines_hold_the_board(scores: Scores) -> None:
    lines = [line.split() for line in scores.write("trec")]
    shown = [(name, value) for name, query, value in lines if query == "all" and name != "runid"]
    assert [float(value) for _, value in shown] == pytest.approx([m.value for m in scores.board], abs=5e-5)


def test_charts_show_the_values(scores: Scores) -> None:
    spread, ranks = scores.charts()
    assert (spread.name, ranks.name) == ("distribution", "first-relevant")
    assert {row[2] for row in spread.rows} == {row[2] for row in ranks.rows} == {"one", "two"}
    assert sum(int(str(row[1])) for row in ranks.rows) == sum(len(run.query_ids) for run in scores.runs)


def test_a_table_or_a_format_that_there_is_not(scores: Scores) -> None:
    with pytest.raises(InputError, match="no table is called 'mean': there are results, per_query"):
        scores.to_dicts("mean")
    with pytest.raises(InputError, match="written as table, json, jsonl, csv, markdown, latex, trec, not as xml"):
        list(scores.write("xml"))
