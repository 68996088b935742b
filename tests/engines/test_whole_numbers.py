"""Ids that are whole numbers: they are compared as numbers, and give what the same ids give as texts."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.files.items import numbered
from rankscope.files.readers import qrels_of, run_of
from rankscope.lists import Ids

METRICS = ["nDCG@3", "AP", "ILD(by='genre')@3", "Novelty@3", "Serendipity@3", "Coverage@3", "Unseen@3"]
RUN = {
    "query_id": [3, 3, 3, 3, 1, 1, 1, 12, 12],
    "doc_id": [10, 9, -7, 4, 9, 10, 100_000_000_000, 4, 9],
    "score": [1.0, 1.0, 0.5, 0.2, 0.9, 0.8, 0.1, 1.0, 1.0],
}
QRELS = {"query_id": [3, 3, 1, 12, 5], "doc_id": [9, 4, 100_000_000_000, 4, 4], "grade": [1, 2, 1, 1, 1]}
ITEMS = {"item_id": [4, 9, 10, -7, 100_000_000_000], "genre": ["a", "b", "a|b", "", "a"]}
HISTORY = {"user_id": [1, 1, 3, 7, 12], "item_id": [9, 4, 9, 9, 77]}


def frame(columns: Any, texts: bool) -> pl.DataFrame:
    """The columns, with ids as texts or as they are."""
    whole = pl.DataFrame(columns)
    return whole.with_columns(pl.col("^.*_id$").cast(pl.String)) if texts else whole


def values(*texts: bool) -> Any:
    """The value of each query, of inputs whose ids are texts or not."""
    qrels, run, items, history = (
        frame(one, text) for one, text in zip((QRELS, RUN, ITEMS, HISTORY), texts, strict=True)
    )
    scores = rs.evaluate(qrels, run, METRICS, items=items, history=history)
    return scores.runs[0].query_ids, {str(name): one.tolist() for name, one in scores.runs[0].values.items()}


@pytest.mark.parametrize("texts", [(False,) * 4, (True, False, False, False), (False, True, False, True)])
def test_numbers_give_what_texts_give(texts: tuple[bool, ...]) -> None:
    """In every metric and query, whichever of the inputs have texts."""
    assert repr(values(*texts)) == repr(values(True, True, True, True))


def test_a_table_keeps_numbers_and_shows_texts() -> None:
    """Equal scores are ordered by the texts of their ids, in which 9 is above 10."""
    run = run_of(frame(RUN, texts=False))
    assert run.held["doc_id"].dtype == pl.Int64
    assert run.frame.equals(run_of(frame(RUN, texts=True)).frame)
    assert run.in_texts().doc_hash.tolist() == run_of(frame(RUN, texts=True)).doc_hash.tolist()


def test_a_missing_number_is_a_fault() -> None:
    """A column with a gap is read as texts, which says where the gap is."""
    rows = frame(QRELS, texts=False).with_columns(doc_id=pl.Series([9, None, 4, 4, 4]))
    assert [fault.kind for fault in qrels_of(rows).source.faults] == ["missing"]


@pytest.mark.parametrize("known", [["7", "07", "x", "9"], ["7", "07", "9000000000000", "9"]])
def test_a_number_is_only_what_is_written_like_it(known: list[str]) -> None:
    """07 is another id than 7, whether numbers have a cell each or are joined."""
    ids = pl.Series([9, 7, 8, -3])
    assert numbered(ids, known).tolist() == [3, 0, -1, -1]
    assert numbered(ids.cast(pl.String), Ids(pl.Series(known))).tolist() == [3, 0, -1, -1]
