"""What a value leaves out: documents that were judged and not retrieved, queries that have no pair; by hand."""

from __future__ import annotations

import polars as pl
import pytest

import rankscope as rs


def test_pooled_auc_looks_at_retrieved_documents_only() -> None:
    """Of a over b and c over b the first holds: 1/2. With x, which was not retrieved, it would be 3/4."""
    qrels = {"q1": {"a": 1, "b": 0, "x": 0}, "q2": {"c": 1}}
    run = {"q1": {"a": 0.9, "b": 0.8}, "q2": {"c": 0.4}}
    assert rs.evaluate(qrels, run, "AUC(pooled=True)")["AUC(pooled=True)"] == 0.5


def test_label_ranking_loss_of_a_query_without_a_pair_is_0() -> None:
    """All labels hold and one was not returned: there is no false label that could stand above a true one."""
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1, "b": 0}}
    run = {"q1": {"a": 0.9}, "q2": {"a": 0.1, "b": 0.9}}
    scores = rs.evaluate(qrels, run, "LabelRankingLoss")
    assert scores["LabelRankingLoss"] == 0.5
    assert scores.per_query["value"].to_list() == [0.0, 1.0]


@pytest.mark.parametrize("first", [[3.0, 2.0, 1.0], [3.0, 2.0, 2.0], [2.0, 2.0, 2.0]], ids=["no tie above", "a tie above", "all tied above"])  # fmt: skip
@pytest.mark.parametrize("second", [[3.0, 2.0, 1.0], [3.0, 2.0, 2.0], [5.0, 5.0, 1.0]], ids=["no tie", "a tie across rank 2", "a tie in the top"])  # fmt: skip
def test_ties_at_a_cutoff_in_every_query(first: list[float], second: list[float]) -> None:
    """The share of the documents in the top 2 with the score of another document of their query."""
    rows = [(query, f"d{i}", s) for query, scores in (("q1", first), ("q2", second)) for i, s in enumerate(scores)]
    table = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    qrels = {"q1": {"d0": 1}, "q2": {"d1": 1}}
    run = {query: {doc: s for one, doc, s in rows if one == query} for query in qrels}
    tops = [sum(scores.count(s) > 1 for s in sorted(scores, reverse=True)[:2]) for scores in (first, second)]
    across = sum(min(scores) == sorted(scores)[1] for scores in (first, second))
    for data in (table, run):
        (scored,) = rs.evaluate(qrels, data, "P@2").runs
        assert scored.health.tied_at_cutoff[2] == sum(tops) / 4
        assert scored.health.ties_at_cutoff[2] == across
