"""Ids that are whole numbers: they are compared as numbers, and give what the same ids give as texts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.engines import local, top
from rankscope.files.catalogue import qrels_of, run_of
from rankscope.files.items import items_of, numbered, with_history
from rankscope.lists import Ids, Judged

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


@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("scattered", [False, True])
def test_repetitions_are_the_rows_seen_before(texts: bool, scattered: bool) -> None:
    """In many queries and in one large one, though keys of 32 bits of other pairs are equal there."""
    rng = np.random.default_rng(4)
    query = np.append(np.arange(9000).repeat(20), np.full(140_000, 9000))
    pairs = {"query_id": query, "doc_id": rng.integers(0, 200_000, len(query)), "score": np.zeros(len(query))}
    rows = frame(pairs, texts).sample(fraction=1.0, shuffle=scattered, seed=1)
    first = rows.select(pl.struct("query_id", "doc_id").is_first_distinct()).to_series().to_numpy()
    run = run_of(rows)
    assert len(run.repetitions) > 1000
    assert run.repetitions.tolist() == np.flatnonzero(~first).tolist()


@pytest.mark.parametrize("ties", ["trec", "input"])
def test_items_shown_do_not_depend_on_parts(monkeypatch: pytest.MonkeyPatch, ties: Any) -> None:
    """Lists of several lengths with ties and ranks out of order, whose queries stand in another order than in the judgments."""
    rng = np.random.default_rng(7)
    size = rng.integers(1, 12, 40)
    query = np.arange(40)[::-1].repeat(size)
    rows = {"query_id": query, "doc_id": np.concatenate([rng.permutation(30)[:n] for n in size.tolist()])}
    run = frame(rows | {"score": rng.integers(0, 9, len(query)) / 4}, texts=False)
    qrels = frame({"query_id": np.arange(35).repeat(3), "doc_id": np.tile([1, 4, 9], 35), "grade": np.ones(105)}, False)
    items = {"item_id": np.arange(30), "genre": [("a", "b", "a|b", "c", "")[i % 5] for i in range(30)]}

    def found() -> str:
        scores = rs.evaluate(qrels, run, METRICS, items=pl.DataFrame(items), history=frame(HISTORY, False), ties=ties)
        return repr({name: (scores[name], one.tolist()) for name, one in scores.runs[0].values.items()})

    whole = found()
    for module in (local, top):
        monkeypatch.setattr(module, "PART", 20)
    assert found() == whole


@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("items", [None, {"item_id": ["4", "9", "77"]}])
def test_a_history_counts_each_item_of_a_user_once(items: Any, texts: bool) -> None:
    """Rows of users may be apart. Two items that no catalogue has are two."""
    rows = {"user_id": [7, 1, 7, 1, 7, 1, 7], "item_id": [4, 9, 5, 9, 4, 6, 6]}
    table = with_history(None if items is None else items_of(pl.DataFrame(items)), frame(rows, texts))
    assert table.histories is not None
    assert table.popularity is not None
    by_user = [table.histories.item[at:end].tolist() for at, end in pairwise(table.histories.start.tolist())]
    names = [[table.ids[one] if one < table.size else "-" for one in some] for some in by_user]
    expected = {"7": ["4", "5", "6"], "1": ["9", "6"]}
    assert list(table.histories.users) == ["7", "1"]
    assert names == [[one if one in table.ids else "-" for one in some] for some in expected.values()]
    assert dict(zip(table.ids, table.popularity.tolist(), strict=True)) == {
        one: sum(one in some for some in expected.values()) for one in table.ids
    }


def test_cells_are_filled_if_a_metric_asks() -> None:
    """A query with the grades 0 and 2 at the ranks 1 and 3, and a judged document that was not retrieved."""
    one = np.ones(3, dtype=np.int64)
    judged = Judged(
        query_id=["q"], retrieved=np.array([4]), size=np.array([3]), in_run=np.array([2]), grade=np.array([0.0, 2.0, 1.0]),
        rank=np.array([1, 3, 0]), tie_start=np.array([1, 3, 0]), tie_size=one,
    )  # fmt: skip
    lists = judged.lists(np.array([0]))
    assert lists.retrieved.tolist() == [4]
    assert "grade" not in vars(lists)
    assert lists.top(2).shown.tolist() == [[True, False]]
    assert lists.grade.tolist() == [[0, 2]]
    assert lists.ideal.grade.tolist() == [[2, 1, 0]]
    assert not hasattr(lists, "scores")
