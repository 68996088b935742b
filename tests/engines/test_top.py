"""The first documents of every query: ids at the ranks that evaluation used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.engines.base import TIES, Order
from rankscope.engines.top import top
from rankscope.errors import InputError
from rankscope.files import qrels_of, run_of
from rankscope.scoring.inputs import CleanInput
from rankscope.scoring.judging import judge_clean
from rankscope.scoring.ranking import top_of
from rankscope.tables import Run

CODE = 2.0**30
Dicts = dict[str, dict[str, float]]


def made_up(seed: int, queries: int = 25) -> Dicts:
    """Rankings with many ties, infinite scores, zeros of both signs and a query without documents."""
    rng = np.random.default_rng(seed)
    scores = [3.0, 2.0, 1.0, 0.0, -0.0, -1.5, np.inf, -np.inf]
    out: Dicts = {"none": {}}
    for q in range(queries):
        docs = [f"d{i}" for i in rng.permutation(int(rng.integers(1, 40))).tolist()]
        out[f"q{q}"] = {doc: scores[int(rng.integers(len(scores)))] for doc in docs}
    return out


def as_table(run: Dicts, seed: int, mixed: bool, repeated: int = 0) -> Run:
    """The same as a table with a rank column of its own; ``mixed`` scatters the rows, ``repeated`` ones come twice."""
    rng = np.random.default_rng(seed)
    rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    rank: list[int] = []
    for docs in run.values():
        rank += rng.permutation(np.arange(1, len(docs) + 1)).tolist()
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    frame = frame.with_columns(pl.Series("rank", rank, dtype=pl.Int64))
    again = frame[rng.permutation(frame.height)[:repeated]]
    again = again.with_columns(pl.col("score") + 1.0, pl.col("rank") + 1000)
    frame = pl.concat([frame, again])
    return Run(frame[rng.permutation(frame.height)] if mixed else frame)


def codes(docs: list[tuple[str, str]]) -> Dicts:
    """Judgments of these documents that say by their grades which is which."""
    out: Dicts = {}
    for number, (query, doc) in enumerate(docs):
        out.setdefault(query, {})[doc] = CODE + number
    return out


def ranks_in(found: Any, docs: list[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """The rank of each of these documents, as the engine judged them."""
    numbers = (found.grade - CODE).astype(int).tolist()
    return {docs[n]: rank for n, rank in zip(numbers, found.rank.tolist(), strict=True) if rank}


def engine_ranks(run: Any, docs: list[tuple[str, str]], order: Order) -> dict[tuple[str, str], int]:
    """The rank that the engine gives each of these documents, all of them being judged."""
    found, _ = judge_clean(CleanInput(run), CleanInput(codes(docs)), [order])[order]
    return ranks_in(found, docs)


def ranks(rows: pl.DataFrame) -> dict[tuple[str, str], int]:
    return {(query, doc): rank for query, doc, rank in rows.iter_rows()}


@pytest.mark.parametrize("k", [1, 3, 10, 1000, None])
@pytest.mark.parametrize(
    ("kind", "ties"), [(k, t) for k in ("dict", "table", "mixed") for t in TIES if (k, t) != ("dict", "rank")]
)
def test_ranks_are_those_of_the_engine(ties: Any, k: int | None, kind: str) -> None:
    for seed in range(5):
        made = made_up(seed)
        run = made if kind == "dict" else as_table(made, seed, kind == "mixed")
        docs = [(q, d) for q, documents in made.items() for d in documents]
        rows = top(run, Order(ties), k)
        assert ranks(rows) == engine_ranks(run, docs, Order(ties, k))
        # a depth is a cut like k
        assert rows.equals(top(run, Order(ties, k)))
        assert rows.equals(top(run, Order(ties, k), 2000))
        # in the order of the ranks, query by query
        for _, part in rows.group_by("query_id", maintain_order=True):
            assert part["rank"].to_list() == list(range(1, part.height + 1))


@pytest.mark.parametrize("self_match", ["keep", "drop"])
@pytest.mark.parametrize("duplicates", ["first", "best"])
@pytest.mark.parametrize("depth", [None, 2, 7])
@pytest.mark.parametrize("ties", TIES)
def test_documents_shown_are_those_that_were_scored(
    ties: Any, depth: int | None, duplicates: Any, self_match: Any
) -> None:
    if (ties, duplicates) == ("rank", "best"):
        return  # refused: one goes by rank, the other by score
    made = made_up(11, 12) | {"d1": {f"d{i}": 1.0 for i in range(9)}}
    docs = [(q, d) for q, documents in made.items() for d in documents]
    run = as_table(made, 5, mixed=True, repeated=20)
    policies: dict[str, Any] = {"ties": ties, "depth": depth, "duplicates": duplicates, "self_match": self_match}
    scores = rs.evaluate(codes(docs), run, "P@5", **policies)
    (metric,) = scores.metrics
    scored = ranks_in(scores.evaluations[0].judged[0], docs)
    assert ranks(top_of(scores, metric, run)) == scored
    assert ranks(top_of(scores, metric, run, 3)) == {pair: rank for pair, rank in scored.items() if rank <= 3}
    some = {pair: rank for pair, rank in scored.items() if pair[0] in {"q3", "d1"}}
    assert ranks(top_of(scores, metric, run, queries=["q3", "d1", "unknown"])) == some
    if self_match == "drop":
        assert ("d1", "d1") not in scored


@pytest.mark.parametrize("ties", TIES)
def test_real_runs(ties: Any, shared_data: Callable[[str], Path]) -> None:
    run = run_of(str(shared_data("trec_covid/round1/runs") / "DA_IICT_all.gz"), None)
    qrels = qrels_of(str(shared_data("trec_covid/qrels.txt")))
    pairs = [(q, d) for q, d in qrels.frame.select("query_id", "doc_id").unique(maintain_order=True).rows()]
    found = {pair: rank for pair, rank in ranks(top(run, Order(ties), 20)).items() if pair in set(pairs)}
    assert found == engine_ranks(run, pairs, Order(ties, 20))


def test_numbers_as_ids_become_strings() -> None:
    assert top({"q": {7: 1.0, 9: 2.0}}, Order(), 1).rows() == [("q", "9", 1)]


def test_an_empty_run_has_no_rows() -> None:
    empty = Run(pl.DataFrame(schema={"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}))
    assert top(empty, Order(), 5).height == 0
    assert top({"q": {}}, Order(), 5).height == 0


@pytest.mark.parametrize(
    ("run", "ties", "says"),
    [
        ({"q": {"a": 1.0}}, "rank", "a dict has no rank column"),
        ({"q": {"a": 1.0}}, "best", "one order is needed"),
        (Run(pl.DataFrame({"query_id": ["q"], "doc_id": ["a"], "score": [1.0]})), "rank", "no rank column"),
    ],
    ids=["dict-rank", "dict-best", "table-rank"],
)
def test_what_has_no_order_is_one_line(run: Any, ties: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        top(run, Order(ties), 5)
