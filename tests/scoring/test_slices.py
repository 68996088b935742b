"""Means on parts of the queries: each slice is an evaluation of its queries alone."""

from __future__ import annotations

import csv
import io
import json
from random import Random
from typing import Any

import pytest

import rankscope as rs
from rankscope.errors import DataError, InputError
from rankscope.scoring.scores import Scores

RNG = Random(5)
IDS = [f"q{i:02}" for i in range(24)]
DOCS = [f"d{i}" for i in range(8)]
QRELS = {query: {doc: RNG.choice([0, 0, 1, 2]) for doc in DOCS[:6]} for query in IDS}
RUNS = {name: {query: {doc: RNG.random() for doc in DOCS} for query in IDS} for name in ("one", "two")}
KINDS = {query: {"kind": ("head", "tail", "torso")[i % 3], "words": i // 4} for i, query in enumerate(IDS)}
METRICS = ["nDCG@5", "AP", "GMAP", "AUC", "GAUC", "AUC(pooled=True)", "NumRelRet"]


def sliced(**more: Any) -> Scores:
    found: Scores = rs.evaluate(QRELS, RUNS, METRICS, slices=KINDS, **more)
    return found


def test_a_slice_is_the_evaluation_of_its_queries_alone() -> None:
    parts = {(p.attribute, p.name, p.mean.run, p.mean.metric): p.mean for p in sliced().slices}
    assert len(parts) == (3 + 6) * 2 * len(METRICS)
    for kind in ("head", "tail", "torso"):
        inside = [query for query in IDS if KINDS[query]["kind"] == kind]
        alone = rs.evaluate({query: QRELS[query] for query in inside}, RUNS, METRICS)
        for mean in alone.board:
            part = parts["kind", kind, mean.run, mean.metric]
            assert (part.value, part.queries, part.undefined) == (mean.value, mean.queries, mean.undefined)
            assert (part.bounds.method, part.bounds.known) == (mean.bounds.method, mean.bounds.known)
            if mean.bounds.known:
                assert (part.bounds.lower, part.bounds.upper) == (mean.bounds.lower, mean.bounds.upper)


def test_weights_and_clusters_hold_on_slices() -> None:
    weights = {query: 1.0 + i % 4 for i, query in enumerate(IDS)}
    users = {query: f"u{i % 5}" for i, query in enumerate(IDS)}
    found = rs.evaluate(QRELS, RUNS, "AP", slices=KINDS, weights=weights, clusters=users)
    inside = [query for query in IDS if KINDS[query]["kind"] == "tail"]
    alone = rs.evaluate({query: QRELS[query] for query in inside}, RUNS, "AP", weights=weights, clusters=users)
    part = next(p.mean for p in found.slices if p.name == "tail" and p.mean.run == "two")
    assert part.value == alone["two", "AP"]
    assert (part.bounds.lower, part.bounds.upper) == (alone.board[1].bounds.lower, alone.board[1].bounds.upper)


def test_every_format_holds_the_slices() -> None:
    found = sliced()
    records = found.to_dicts("slices")
    assert json.loads(found.to_json())["slices"] == records
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["attribute"] for row in rows[: len(found.board)]] == [""] * len(found.board)
    assert [float(row["value"]) for row in rows[len(found.board) :]] == [record["value"] for record in records]
    assert len(found.to_jsonl().splitlines()) == len(found.board) + len(records)
    text = found.to_text(width=120)
    assert "slices by kind" in text
    assert "slices by words" in text
    assert "head" in found.to_markdown()
    with pytest.raises(InputError, match="cannot hold slices"):
        found.write("trec")
    assert "slices" not in json.loads(rs.evaluate(QRELS, RUNS, METRICS).to_json())


def test_what_is_wrong_with_slices_is_one_line() -> None:
    with pytest.raises(DataError, match="use one set of query ids"):
        rs.evaluate(QRELS, RUNS, "AP", slices={"other": {"kind": "head"}})
    with pytest.raises(InputError, match="leave out slices"):
        rs.evaluate(QRELS, RUNS["one"], "AP", slices=KINDS, partition="1/2")
    many = {query: {"kind": f"k{i}"} for i, query in enumerate(IDS * 2)} | {
        f"x{i}": {"kind": f"x{i}"} for i in range(9)
    }
    assert any("x0" in note for note in rs.evaluate(QRELS, RUNS, "AP", slices=many).notes)


def test_what_queries_weigh_is_shown() -> None:
    weights = dict.fromkeys(IDS, 1.0) | {"q03": 25.0}
    found = rs.evaluate(QRELS, RUNS["one"], "AP", weights=weights)
    assert "weights of weights: 1 to 25, half of the weight on 1 of 24 queries" in found.to_text()
    assert found.per_query.filter(query_id="q03")["weight"].to_list() == [25.0]
    assert found.to_dicts("per_query")[0] == {
        "run": "run", "query_id": "q00", "metric": "AP", "value": found.runs[0].values[rs.AP()][0], "weight": 1.0,
    }  # fmt: skip
    assert "weight" in found.to_text(per_query=True).splitlines()[0]
    assert "weight" not in rs.evaluate(QRELS, RUNS["one"], "AP").per_query.columns


def test_auc_says_which_pairs_it_is_of() -> None:
    small = rs.evaluate(QRELS, RUNS["one"], ["AUC", "GAUC"]).request.small_print()
    assert "AUC, GAUC: pairs within each query" in small
    assert "as of a classifier, is AUC(pooled=True)" in small
    assert "AUC(pooled=True): all pairs of documents of all queries" in rs.evaluate(
        QRELS, RUNS["one"], "AUC(pooled=True)"
    ).to_text(width=200)
    assert "pairs" not in rs.evaluate(QRELS, RUNS["one"], "AP").request.small_print()
