"""Diversified runs: their documents, their metrics before and after, the trade-off, bad input."""

from __future__ import annotations

from typing import Any

import pytest

import rankscope as rs
from rankscope.rankers.diversifiers import Diversifier

RUN = {f"q{i}": {f"d{d}": 20.0 - d for d in range(20)} for i in range(8)}
FEATURES = {f"d{d}": "abcd"[d // 5] for d in range(20)}
QRELS = {query: {f"d{d}": int(d % 5 < 2) for d in range(20)} for query in RUN}
METHODS = list(dict.fromkeys(Diversifier.catalogue.values()))


@pytest.mark.parametrize("method", METHODS, ids=lambda one: str(one.__name__))
def test_every_document_is_kept_and_the_top_covers_more(method: type[Diversifier]) -> None:
    found = rs.diversify(RUN, method(diversity=0.7), features=FEATURES, qrels=QRELS)
    frame = found.run.frame
    assert {q: set(g["doc_id"]) for (q,), g in frame.group_by("query_id")} == {q: set(docs) for q, docs in RUN.items()}
    assert found["alpha_nDCG@10"].difference > 0
    assert found["distance@10"].difference > 0
    assert [level.diversity for level in found.levels] == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert next(found.charts()).name == "trade_off"


def test_values_are_those_of_compare_with_judgments_by_category() -> None:
    found = rs.diversify(RUN, "xQuAD(diversity=0.8)", features=FEATURES, qrels=QRELS)
    subtopics = {q: {d: {FEATURES[d]: g} for d, g in docs.items() if g} for q, docs in QRELS.items()}
    for metric, judged in (("alpha_nDCG@10", subtopics), ("ERR_IA@10", subtopics), ("nDCG@10", QRELS)):
        other = rs.compare(judged, {"before": RUN, "after": found.run}, metric)["after", metric]
        assert found[metric].difference == other.difference
        assert found[metric].p_value == pytest.approx(other.p_value, nan_ok=True)


def test_subtopics_of_the_judgments_come_before_categories() -> None:
    import polars as pl

    rows = [(q, s, d, 1) for q in RUN for s, d in (("1", "d0"), ("2", "d19"))]
    qrels = pl.DataFrame(
        rows + [(q, "2", "d0", 1) for q in RUN], schema=["query_id", "iteration", "doc_id", "grade"], orient="row"
    )
    found = rs.diversify(RUN, "MMR(diversity=0.9)", features=FEATURES, qrels=qrels, metrics=["StRecall@5", "nDCG@5"])
    assert found["StRecall@5"].baseline_value == 1.0  # the first document is about both
    assert found["nDCG@5"].queries == 8


def test_the_rest_of_a_ranking_follows_the_pool() -> None:
    run = rs.diversify(RUN, "MMR(diversity=0.9)", features=FEATURES, pool=6).run
    assert run.frame.filter(run.frame["query_id"] == "q0")["doc_id"].to_list()[6:] == [f"d{d}" for d in range(6, 20)]


def test_texts_and_targets_are_features_and_shares() -> None:
    texts = {doc: f"{name} {name} common" for doc, name in FEATURES.items()}
    by_text = rs.diversify(RUN, "MMR(diversity=0.7)", docs_text=texts).run
    assert len({FEATURES[d] for d in by_text.frame["doc_id"][:4]}) == 4
    wanted = rs.diversify(RUN, "Calibrated(diversity=1)", features=FEATURES, targets={q: {"d": 1} for q in RUN}).run
    assert {FEATURES[d] for d in wanted.frame["doc_id"][:5]} == {"d"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "add features=|add --features"),
        ({"features": {"x": "a"}}, "no document of the run has features"),
        ({"features": FEATURES, "pool": 1}, "whole number of 2 or more"),
        ({"features": FEATURES, "metrics": "nDCG@10"}, "metrics need judgments"),
        ({"features": FEATURES, "method": "MRM"}, "did you mean MMR"),
        ({"features": FEATURES, "qrels": QRELS, "levels": [2]}, "from 0 to 1"),
        ({"features": {"d0": [1.0]}, "method": "PM2"}, "needs categories"),
        ({"features": {"d0": [1.0]}, "qrels": QRELS, "metrics": "ERR_IA@10"}, "need judgments by subtopic"),
        ({"features": FEATURES, "docs_text": FEATURES}, "are both given"),
        ({"features": {"d0": [1.0, float("nan")]}}, "missing or not finite"),
        ({"features": {"d0": {"a": float("inf")}}}, "weights are numbers of 0 or more"),
        ({"features": FEATURES, "method": "Calibrated", "targets": {"x": {"a": 1}}}, "no query of the run has targets"),
    ],
)
def test_bad_options_are_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises((rs.InputError, rs.DataError), match=message) as error:
        rs.diversify(RUN, **options)
    assert "\n" not in str(error.value)


def test_what_lacks_features_and_targets_is_counted() -> None:
    run = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 1.0}}
    features: dict[str, Any] = {"a": ["x"], "b": [], "z": "y"}
    found = rs.diversify(run, "Calibrated", features=features, targets={"q1": {"x": 1, "y": 1}})
    assert found.notes == [
        "2 of 3 documents to reorder have no features (distance 1 to all others)",
        "1 of 2 queries has no targets (default: the features of the documents)",
    ]
    assert rs.diversify(run, features=dict.fromkeys("abc", "x")).notes == []


def test_an_infinite_score_is_refused_with_its_query() -> None:
    with pytest.raises(rs.InputError, match="query q1: a score is infinite"):
        rs.diversify({"q1": {"a": float("inf"), "b": 1.0}}, features={"a": ["x"], "b": ["y"]})
