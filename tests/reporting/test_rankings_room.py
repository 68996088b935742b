"""The rankings of a report keep to the room there is, and to what the engines say of real runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.reporting.made_subjects import adds_up, by_id, looked, scored, world

import rankscope as rs
from rankscope.engines.base import Order
from rankscope.engines.top import top
from rankscope.reporting.explorer.rankings import excerpt, interest
from rankscope.reporting.subject import Subject
from rankscope.show.html.explorer_data import encode
from rankscope.verbs.explain.result import Explanation

TREC_COVID = ("BioinfoUA-emb-q", "sab20.1.merged", "RUIR-doc2vec")


def test_the_page_stays_within_its_room() -> None:
    qrels, runs = world(9, queries=150)
    docs = {f"d{i}": f"{i} " + 'words and "more" words ' * 30 for i in range(30)}
    found = scored(qrels, runs, ["nDCG@10", "AP", "P@10"])
    told = Subject(found.result, qrels, runs, dict.fromkeys(qrels, "a question"), docs)
    full = looked(told)
    assert full.left_out == 0
    assert len(encode(full).encode()) < 9_000_000
    spread = {q.query_id: abs(q.values[0][0] - q.values[1][0]) for q in full.queries}
    flips = {q.query_id for q in full.queries if min(v[0] for v in q.values) == 0 < max(v[0] for v in q.values)}
    others = sorted((spread[q] for q in spread if q not in flips), reverse=True)
    for budget in (5_000, 20_000, 60_000):
        small = looked(told, budget=budget)
        assert len(encode(small).encode()) <= budget
        assert small.left_out == 150 - len(small.queries) > 0
        assert any(f"{small.left_out} queries are left out" in note for note in small.notes)
        kept = {q.query_id for q in small.queries}
        assert kept >= flips or kept <= flips
        mine = sorted((spread[q] for q in kept - flips), reverse=True)
        assert mine == others[: len(mine)]
        adds_up(small)


def test_fewer_documents_before_fewer_queries() -> None:
    qrels, runs = world(9, queries=60)
    found = scored(qrels, runs, "nDCG@20")
    depths = [looked(found, budget=budget).depth for budget in (1_000_000, 60_000, 40_000, 25_000)]
    assert depths[0] == 20
    assert depths == sorted(depths, reverse=True)
    assert depths[-1] < 20
    assert looked(found, budget=25_000, depth=20).depth == 20
    assert looked(found, budget=25_000, depth=20).left_out > 0
    assert looked(scored(qrels, runs, "nDCG@5")).depth == 10
    assert looked(scored(qrels, runs, "AP")).depth == 10


def test_texts_go_to_the_queries_that_differ_most() -> None:
    qrels = {f"q{i}": {f"q{i}a": 1.0, f"q{i}b": 0.0} for i in range(40)}
    same = {q: {f"{q}a": 2.0, f"{q}b": 1.0} for q in qrels}
    runs = {"one": same, "two": same | {"q7": {"q7b": 2.0, "q7a": 1.0}}}
    docs = {f"q{i}{x}": "text " * 100 for i in range(40) for x in "ab"}
    told = Subject(rs.evaluate(qrels, runs, "RR"), qrels, runs, {"q3": " what\nis it "}, docs)
    explorer = looked(told, budget=10_000)
    queries = by_id(explorer)
    assert queries["q3"].text == "what is it"
    assert all(d.text and len(d.text) <= 300 and d.text.endswith("…") for d in queries["q7"].documents)
    left = [d for q in explorer.queries for d in q.documents if not d.text]
    assert left
    assert f"the texts of {len(left)} documents are left out, so that the page stays small" in explorer.notes


def test_forty_runs() -> None:
    qrels, runs = world(10, queries=20)
    rng = np.random.default_rng(0)
    many = {
        f"run{i}": {q: {d: float(rng.random()) for d in docs} for q, docs in runs["low"].items()} for i in range(40)
    }
    explorer = looked(scored(qrels, many, "nDCG@10"), budget=200_000)
    assert len(explorer.runs) == 40
    assert len(encode(explorer).encode()) <= 200_000
    adds_up(explorer)


def test_those_to_look_at_first() -> None:
    nan = math.nan
    assert interest(np.array([[0.2, nan, 0.9, 0.1]]), 1).tolist() == [3, 0, 2, 1]
    assert interest(np.array([[0.2, nan, 0.9, 0.1]]), -1).tolist() == [2, 0, 3, 1]
    values = np.array([[0.5, 0.9, nan, 0.0, 0.3], [0.5, 0.1, nan, 0.1, 0.2]])
    assert interest(values, 1).tolist() == [3, 1, 4, 0, 2]


def test_a_text_is_cut_on_one_line() -> None:
    assert excerpt("a\x00b\tc") == "a b c"
    assert excerpt("x" * 301) == "x" * 299 + "…"
    assert excerpt("x" * 300) == "x" * 300
    assert len(excerpt("word " * 100_000)) <= 300


def test_real_runs_with_ties(shared_data: Callable[[str], Path]) -> None:
    qrels = rs.read_qrels(shared_data("trec_covid/qrels.txt"))
    runs = {n: rs.read_run(shared_data(f"trec_covid/round1/runs/{n}.gz")) for n in TREC_COVID}
    explorer = looked(scored(qrels, runs, ["nDCG@10", "AP"]))
    assert len(explorer.queries) == 30
    adds_up(explorer)
    for at, name in enumerate(explorer.runs):
        ranks = {(q, d): r for q, d, r in top(runs[name], Order("trec")).iter_rows()}
        for query in explorer.queries:
            expected = [ranks.get((query.query_id, d.doc_id), 0) for d in query.documents]
            assert [d.ranks[at] for d in query.documents] == expected
    query = explorer.queries[3]
    told = rs.explain(qrels, {TREC_COVID[0]: runs[TREC_COVID[0]]}, "nDCG@10", query=query.query_id)
    assert isinstance(told, Explanation)
    adds = {document.doc_id: document.adds[0] for document in query.documents if document.adds[0]}
    assert adds == {told.ranking.doc_ids[rank - 1]: add for rank, add in told.by_rank.items() if add}
