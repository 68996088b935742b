"""Judged documents in few bytes are the same documents."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from rankscope.engines.values import columns_of, score
from rankscope.lists import Ids, Judged, NarrowJudged, narrowed
from rankscope.metrics import parse

QUERIES = 30
COLUMNS = ("retrieved", "size", "in_run", "grade", "rank", "tie_start", "tie_size")
WORLDS = ("whole grades", "fractions", "a negative zero", "ties", "deep ranks", "no document")


def world(kind: str, seed: int = 1) -> Judged:
    """Queries with up to eight judged documents, some of them retrieved."""
    draws = np.random.default_rng(seed)
    size = draws.integers(0, 9, QUERIES) if kind != "no document" else np.zeros(QUERIES, dtype=np.int64)
    in_run = draws.integers(0, size + 1)
    deepest = 2**20 if kind == "deep ranks" else 40
    rank = np.concatenate(
        [
            np.append(np.sort(draws.choice(np.arange(1, deepest), found, replace=False)), np.zeros(count - found))
            for count, found in zip(size.tolist(), in_run.tolist(), strict=True)
        ]
    ).astype(np.int64)
    grade = draws.integers(-1, 4, len(rank)).astype(float)
    if kind == "fractions":
        grade += 0.25
    if kind == "a negative zero":
        grade[:1] = -0.0
    start, many = rank.copy(), np.ones(len(rank), dtype=np.int64)
    if kind == "ties":
        start, many = np.where(rank > 0, np.maximum(rank - 1, 1), 0), np.where(rank > 0, 2, 1)
    names = [f"q{i}" for i in range(QUERIES)]
    return Judged(names, np.full(QUERIES, deepest), size, in_run, grade, rank, start, many)


def same(one: Judged, other: Judged) -> bool:
    """Whether all columns are of one type and of the same bits."""
    columns = [(getattr(one, name), getattr(other, name)) for name in COLUMNS]
    alike = all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in columns)
    return alike and list(one.query_id) == list(other.query_id)


@pytest.mark.parametrize("kind", WORLDS)
def test_narrow_columns_are_the_same_when_looked_at(kind: str) -> None:
    judged = world(kind)
    assert same(NarrowJudged.narrow(judged), judged)


@pytest.mark.parametrize("kind", WORLDS)
def test_queries_taken_and_joined_are_the_same(kind: str) -> None:
    one, other = world(kind, 1), world("ties" if kind == "whole grades" else kind, 2)
    narrow = [NarrowJudged.narrow(judged) for judged in (one, other)]
    some = np.array([3, 3, 29, 0, 17])
    assert same(narrow[0].of(some), one.of(some))
    assert same(NarrowJudged.join(narrow), Judged.join([one, other]))
    assert same(NarrowJudged.join([narrow[0], other]), Judged.join([one, other]))
    assert same(replace(narrow[0], retrieved=one.retrieved - 1), replace(one, retrieved=one.retrieved - 1))


@pytest.mark.parametrize("kind", WORLDS)
def test_metrics_see_the_same(kind: str) -> None:
    judged, metrics = world(kind), [parse(name) for name in ("nDCG@10", "AP", "Judged@5", "GMAP")]
    for plain, found in zip(score(judged, metrics), score(NarrowJudged.narrow(judged), metrics), strict=True):
        assert plain.value.tobytes() == found.value.tobytes()


def test_what_was_scored_is_not_scored_again() -> None:
    judged, metric, other = world("whole grades"), parse("nDCG@10"), parse("AP")
    judged.scored.update(columns_of(judged, [metric]))
    judged.scored[metric][:] = 0.25
    first, second = score(judged, [metric, other])
    assert (first.value == 0.25).all()
    assert second.value.tobytes() == score(world("whole grades"), [other])[0].value.tobytes()
    assert not judged.of(np.arange(3)).scored  # of which nobody says that they are the same


def test_a_query_takes_few_bytes() -> None:
    narrow = NarrowJudged.narrow(world("whole grades"))
    assert isinstance(narrow, NarrowJudged)
    assert {name: column.itemsize for name, column in narrow.kept.items()} == dict.fromkeys(COLUMNS[:5], 1)
    assert "tie_size" not in narrow.kept


def test_what_more_is_known_of_documents_stays() -> None:
    judged = replace(world("whole grades"), score=np.ones(len(world("whole grades").grade)))
    assert NarrowJudged.narrow(judged) is judged
    assert {field.name for field in fields(Judged)} == {
        *COLUMNS, "query_id", "score", "aspects", "by_id", "scored", "shown"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, -128], "int8"), ([1, 128], "int16"), ([2**31 - 1], "int32"), ([2**31], "int64"), ([1.0, 3.0], "int8"),
        ([1.5], "float64"), ([float("nan"), 1.0], "float64"), ([-0.0], "float64"), ([1e300], "float64"),
    ],
    ids=["a byte", "two bytes", "four bytes", "eight bytes", "whole grades", "a fraction", "no number", "minus zero", "a large grade"],
)  # fmt: skip
def test_numbers_take_as_few_bytes_as_they_need(values: list[float], kind: str) -> None:
    found = narrowed(np.array(values))
    assert found.dtype == kind
    assert found.astype(np.array(values).dtype).tobytes() == np.array(values).tobytes()


def test_ids_are_texts_when_they_are_looked_at() -> None:
    pl = pytest.importorskip("polars")
    ids = Ids(pl.Series(["a", "b", "c"]))
    both = Ids.join([ids, Ids(pl.Series(["d"]))])
    assert isinstance(both, Ids)
    assert "texts" not in vars(ids)
    texts = ["a", "b", "c", "d"]
    assert both == texts
    assert texts == both
    assert both != ["a"]
    assert Ids.join([ids, ["x"]]) == ["a", "b", "c", "x"]
    assert Ids.take(ids, np.array([2, 0])) == ["c", "a"] == Ids.take(["a", "b", "c"], np.array([2, 0]))
    assert ids.index("b") == 1
    assert "b" in ids
    assert "z" not in ids
    assert ids[1:] == ["b", "c"]
