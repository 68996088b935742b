"""Both engines against a naive one: sort everything, walk down the list."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankscope.engines import local, mappings
from rankscope.engines.base import TIES, Order
from rankscope.lists import Judged
from rankscope.tables import Qrels, Run

# ids whose order by bytes is not that of numbers, of letters or of UTF-16
NAMES = ("a", "A", "aa", "b", "B", "10", "9", "01", "1", "é", "z", "\uffee", "\U0001f600", "a b", "-", "~")
SCORES = (0.0, -0.0, 1.0, 1.0, 2.5, -3.0, 1e-300, 1e300, float("inf"), float("-inf"), 0.1 + 0.2, 0.3)
GRADES = (0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5, 2.75)


@dataclass(frozen=True)
class World:
    """A run and judgments as rows; a run's rows are (query, document, score, rank)."""

    run: list[tuple[str, str, float, int]]
    qrels: list[tuple[str, str, float]]

    def tables(self) -> tuple[Run, Qrels]:
        text = {"query_id": pl.String, "doc_id": pl.String}
        run = pl.DataFrame(self.run, schema=text | {"score": pl.Float64, "rank": pl.Int64}, orient="row")
        qrels = pl.DataFrame(self.qrels, schema=text | {"grade": pl.Float64}, orient="row")
        return Run(run), Qrels(qrels)

    def dicts(self) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
        run: dict[str, dict[str, float]] = {}
        qrels: dict[str, dict[str, float]] = {}
        for query, doc, score, _ in self.run:
            run.setdefault(query, {})[doc] = score
        for query, doc, grade in self.qrels:
            qrels.setdefault(query, {})[doc] = grade
        return run, qrels


@st.composite
def worlds(draw: Any) -> World:
    """A few queries, judged, ranked or both, their rows in order, interleaved or shuffled."""
    run, qrels = [], []
    for query in ("q2", "q10", "Q", "é"):
        docs = draw(st.permutations(NAMES))
        ranked = docs[: draw(st.integers(0, len(docs)))]
        scores = draw(
            st.lists(
                st.sampled_from(SCORES[: draw(st.integers(1, len(SCORES)))]), min_size=len(ranked), max_size=len(ranked)
            )
        )
        if draw(st.booleans()):
            scores = sorted(scores, reverse=True)
        ranks = draw(st.permutations(range(len(ranked))))
        run += [(query, d, s, r) for d, s, r in zip(ranked, scores, ranks, strict=True)]
        judged = draw(st.lists(st.sampled_from([*NAMES, "never found"]), unique=True, max_size=12))
        qrels += [(query, d, draw(st.sampled_from(GRADES))) for d in judged]
    if draw(st.booleans()):
        run, qrels = draw(st.permutations(run)), draw(st.permutations(qrels))
    return World(run, qrels)


def naive(world: World, order: Order) -> dict[str, Any]:
    """For each query what ``Judged`` should hold, by sorting all its documents."""
    names = list(dict.fromkeys(query for query, _, _ in world.qrels))
    if order.extra:
        names = list(dict.fromkeys([*names, *(query for query, *_ in world.run)]))
    out = {}
    for query in names:
        rows = [row[1:] for row in world.run if row[0] == query]
        if order.ties == "trec":
            rows = sorted(rows, key=lambda row: row[0].encode(), reverse=True)
        elif order.ties == "docid":
            rows = sorted(rows, key=lambda row: row[0].encode())
        rows = sorted(rows, key=lambda row: row[2] if order.ties == "rank" else -row[1])
        equals = [[i for i, other in enumerate(rows) if other[1] == row[1]] for row in rows]
        place = {row[0]: i for i, row in enumerate(rows) if order.depth is None or i < order.depth}
        grades = {doc: grade for q, doc, grade in world.qrels if q == query}
        found = sorted((place[doc], grade) for doc, grade in grades.items() if doc in place)
        out[query] = {
            "retrieved": len(place),
            "found": [(grade, i + 1) for i, grade in found],
            "score": [rows[i][1] for i, _ in found],
            "lost": sorted((grade for doc, grade in grades.items() if doc not in place), reverse=True),
            # by rank nobody is tied
            "ties": [(i + 1, 1) if order.ties == "rank" else (equals[i][0] + 1, len(equals[i])) for i, _ in found],
        }
    return out


def told(judged: Judged) -> dict[str, Any]:
    """The same of what an engine found."""
    out = {}
    for i, query in enumerate(judged.query_id):
        at, size, found = int(judged.start[i]), int(judged.size[i]), int(judged.in_run[i])
        here, rest = slice(at, at + found), slice(at + found, at + size)
        assert not judged.rank[rest].any()
        out[query] = {
            "retrieved": int(judged.retrieved[i]),
            "found": list(zip(judged.grade[here].tolist(), judged.rank[here].tolist(), strict=True)),
            "score": None if judged.score is None else judged.score[here].tolist(),
            "lost": judged.grade[rest].tolist(),
            "ties": list(zip(judged.tie_start[here].tolist(), judged.tie_size[here].tolist(), strict=True)),
        }
    return out


orders = st.builds(
    Order,
    ties=st.sampled_from(TIES),
    depth=st.sampled_from([None, None, 1, 3, 8]),
    needs=st.just(frozenset({"score"})),
    extra=st.booleans(),
    cutoffs=st.just((1, 2, 5)),
)


@pytest.mark.parametrize("many", [1, 2, 7])
@settings(max_examples=60, deadline=None)
@given(worlds(), orders)
def test_hashes_that_meet_change_nothing(many: int, world: World, order: Order) -> None:
    """Ids are looked up by hashes: where there are only so many, most pairs must be told apart by the ids."""

    whole = pl.Series.hash

    def meet(ids: pl.Series, seed: int) -> pl.Series:
        return pl.Series(whole(ids, seed=seed).to_numpy() % np.uint64(many) * np.uint64(1 << 61))

    run, qrels = world.tables()
    expected = told(local.judge(run, qrels, order)[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pl.Series, "hash", meet)
        patch.setattr(local, "PART", 3)
        run, qrels = world.tables()
        assert not len(run.repetitions)
        assert not len(qrels.repetitions)
        assert told(local.judge(run, qrels, order)[0]) == expected
        assert told(local.judge_in_parts(run, qrels.by_query(), order)[0]) == expected


@settings(max_examples=150, deadline=None)
@given(worlds(), orders)
def test_tables_against_the_naive_engine(world: World, order: Order) -> None:
    judged, _ = local.judge(*world.tables(), order)
    assert told(judged) == naive(world, order)


@settings(max_examples=150, deadline=None)
@given(worlds(), orders.filter(lambda order: order.ties != "rank"))
def test_dicts_against_the_naive_engine(world: World, order: Order) -> None:
    judged, _ = mappings.judge(*world.dicts(), order)
    assert told(judged) == naive(world, order)


@settings(max_examples=100, deadline=None)
@given(worlds(), orders.filter(lambda order: order.ties != "rank"))
def test_both_engines_hand_over_the_same_bits(world: World, order: Order) -> None:
    one, saw = mappings.judge(*world.dicts(), order)
    two, also = local.judge(*world.tables(), order)
    assert list(one.query_id) == list(two.query_id)
    for field in fields(Judged):
        if field.name != "query_id":
            a, b = np.asarray(getattr(one, field.name)), np.asarray(getattr(two, field.name))
            assert a.dtype == b.dtype, field.name
            np.testing.assert_array_equal(a, b, field.name)
    assert (saw.rows, saw.queries, saw.missing, saw.extra) == (also.rows, also.queries, also.missing, also.extra)
    assert (saw.tied_rows, saw.tied_at) == (also.tied_rows, also.tied_at)


@settings(max_examples=100, deadline=None)
@given(worlds(), orders)
def test_what_was_seen(world: World, order: Order) -> None:
    _, seen = local.judge(*world.tables(), order)
    ranked = list(dict.fromkeys(query for query, *_ in world.run))
    judged = list(dict.fromkeys(query for query, *_ in world.qrels))
    assert seen.rows == len(world.run)
    assert seen.queries == len(ranked)
    assert seen.missing == tuple(query for query in judged if query not in ranked)
    assert seen.extra == tuple(query for query in ranked if query not in judged)
    if order.ties == "rank":
        return
    tied, cut, disagreeing = 0, dict.fromkeys((1, 2, 5), 0), 0
    for query in ranked:
        rows = [row for row in world.run if row[0] == query]
        scores = sorted((row[2] for row in rows), reverse=True)
        tied += sum(scores.count(score) > 1 for score in scores)
        for k in cut:
            cut[k] += query in judged and len(scores) > k and scores[k - 1] == scores[k]
        by_rank = [row[2] for row in sorted(rows, key=lambda row: row[3])]
        disagreeing += by_rank != scores
    assert seen.tied_rows == tied
    assert dict(seen.tied_at) == cut
    assert seen.disagreeing == disagreeing


@settings(max_examples=100, deadline=None)
@given(worlds(), orders.filter(lambda order: order.ties != "input"), st.randoms())
def test_the_order_of_rows_does_not_matter(world: World, order: Order, random: Any) -> None:
    shuffled = World(random.sample(world.run, len(world.run)), random.sample(world.qrels, len(world.qrels)))
    one, two = (told(local.judge(*w.tables(), order)[0]) for w in (world, shuffled))
    assert one == two
    if order.ties != "rank":
        assert told(mappings.judge(*shuffled.dicts(), order)[0]) == one


def test_many_queries_span_more_than_one_part() -> None:
    """Queries that do not fit one span of the table, interleaved, with runs of ties across its edges."""
    rng = np.random.default_rng(4)
    run = [
        (f"q{q}", f"d{d}", float(s), int(r))
        for q in range(5)
        for d, s, r in zip(range(30_000), rng.integers(0, 900, 30_000), rng.permutation(30_000), strict=True)
    ]
    qrels = [
        (f"q{q}", f"d{d}", float(d % 4 - 1)) for q in range(5) for d in rng.choice(40_000, 50, replace=False).tolist()
    ]
    for rows in (run, [row for i in range(3) for row in run[i::3]]):
        world = World(rows, qrels)
        for ties in TIES:
            order = Order(ties, needs=frozenset({"score"}))
            assert told(local.judge(*world.tables(), order)[0]) == quick(world, order)


def quick(world: World, order: Order) -> dict[str, Any]:
    """The naive engine for many rows: groups of equals are counted, not compared pair by pair."""
    out = {}
    for query in dict.fromkeys(query for query, _, _ in world.qrels):
        rows = [row[1:] for row in world.run if row[0] == query]
        if order.ties in {"trec", "docid"}:
            rows.sort(key=lambda row: row[0].encode(), reverse=order.ties == "trec")
        rows.sort(key=lambda row: row[2] if order.ties == "rank" else -row[1])
        first: dict[float, int] = {}
        size: dict[float, int] = {}
        for i, (_, score, _) in enumerate(rows):
            first.setdefault(score, i)
            size[score] = size.get(score, 0) + 1
        place = {row[0]: i for i, row in enumerate(rows)}
        grades = {doc: grade for q, doc, grade in world.qrels if q == query}
        found = sorted((place[doc], grade) for doc, grade in grades.items() if doc in place)
        out[query] = {
            "retrieved": len(rows),
            "found": [(grade, i + 1) for i, grade in found],
            "score": [rows[i][1] for i, _ in found],
            "lost": sorted((grade for doc, grade in grades.items() if doc not in place), reverse=True),
            "ties": [
                (i + 1, 1) if order.ties == "rank" else (first[rows[i][1]] + 1, size[rows[i][1]]) for i, _ in found
            ],
        }
    return out


@pytest.mark.parametrize("cells", [1, 2, 7, 50, 1_000_000])
def test_chunks_hold_every_query_once(cells: int) -> None:
    rng = np.random.default_rng(cells)
    size = np.concatenate([rng.integers(0, 30, 100), np.zeros(20, dtype=np.int64), [1000]]).astype(np.int64)
    empty = np.zeros(int(size.sum()))
    flat = dict.fromkeys(("grade", "rank", "tie_start", "tie_size"), empty)
    judged = Judged(
        query_id=[str(i) for i in range(len(size))],
        retrieved=size,
        size=size,
        in_run=size,
        **flat,  # type: ignore[arg-type]
    )
    chunks = judged.chunks(cells)
    assert sorted(np.concatenate(chunks).tolist()) == list(range(len(size)))
    for chunk in chunks:
        width = max(1, int(size[chunk].max()))
        assert len(chunk) == 1 or len(chunk) * width <= cells


def test_no_query_no_chunk() -> None:
    names = ("retrieved", "size", "in_run", "grade", "rank", "tie_start", "tie_size")
    assert Judged(query_id=[], **dict.fromkeys(names, np.zeros(0, dtype=np.int64))).chunks() == []  # type: ignore[arg-type]
