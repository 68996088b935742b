"""The top of every ranking: ids and ranks as the engines have them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from rankscope.engines.base import TIES, Order
from rankscope.errors import InputError
from rankscope.files import qrels_of, run_of
from rankscope.scoring.inputs import CleanInput, judge
from rankscope.scoring.ranked_rows import top_rows
from rankscope.tables import Run

CODE = 2.0**30


def made_up(seed: int, queries: int = 25) -> dict[str, dict[str, float]]:
    """Rankings with many ties, infinite scores, zeros of both signs and a query without documents."""
    rng = np.random.default_rng(seed)
    scores = [3.0, 2.0, 1.0, 0.0, -0.0, -1.5, np.inf, -np.inf]
    out: dict[str, dict[str, float]] = {"none": {}}
    for q in range(queries):
        docs = [f"d{i}" for i in rng.permutation(int(rng.integers(1, 40))).tolist()]
        out[f"q{q}"] = {doc: scores[int(rng.integers(len(scores)))] for doc in docs}
    return out


def as_table(run: dict[str, dict[str, float]], seed: int, mixed: bool) -> Run:
    """The same as a table with a rank column of its own; ``mixed`` scatters the rows of the queries."""
    rng = np.random.default_rng(seed)
    rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    rank: list[int] = []
    for docs in run.values():
        rank += rng.permutation(np.arange(1, len(docs) + 1)).tolist()
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    frame = frame.with_columns(pl.Series("rank", rank, dtype=pl.Int64))
    return Run(frame[rng.permutation(frame.height)] if mixed else frame)


def engine_ranks(
    run: CleanInput, docs: list[tuple[str, str]], ties: Any, depth: int | None
) -> dict[Any, int]:
    """The rank that the engine gives each of these documents, all of them being judged."""
    coded: dict[str, dict[str, float]] = {}
    for number, (query, doc) in enumerate(docs):
        coded.setdefault(query, {})[doc] = CODE + number
    found, _ = judge(run, CleanInput(coded), Order(ties, depth), "run")
    numbers = (found.grade - CODE).astype(int).tolist()
    return {docs[n]: rank for n, rank in zip(numbers, found.rank.tolist(), strict=True) if rank}


@pytest.mark.parametrize("k", [1, 3, 10, 1000, None])
@pytest.mark.parametrize(
    ("kind", "ties"),
    [(k, t) for k in ("dict", "table", "mixed") for t in TIES if (k, t) != ("dict", "rank")],
)
def test_ranks_are_those_of_the_engine(ties: Any, k: int | None, kind: str) -> None:
    for seed in range(5):
        run = made_up(seed)
        cleaned = CleanInput(run if kind == "dict" else as_table(run, seed, kind == "mixed"))
        rows = top_rows(cleaned, ties, k)
        ours = {(q, d): r for q, d, r in rows.iter_rows()}
        docs = [(q, d) for q, documents in run.items() for d in documents]
        assert ours == engine_ranks(cleaned, docs, ties, k)
        # in the order of the ranks, query by query
        for _, part in rows.group_by("query_id", maintain_order=True):
            assert part["rank"].to_list() == list(range(1, part.height + 1))


@pytest.mark.parametrize("ties", TIES)
def test_real_runs(ties: Any, shared_data: Callable[[str], Path]) -> None:
    run = CleanInput(run_of(str(shared_data("trec_covid/round1/runs") / "DA_IICT_all.gz"), None))
    qrels = qrels_of(str(shared_data("trec_covid/qrels.txt")))
    pairs = [(q, d) for q, d in qrels.frame.select("query_id", "doc_id").unique(maintain_order=True).rows()]
    ranks = engine_ranks(run, pairs, ties, 20)
    ours = {(q, d): r for q, d, r in top_rows(run, ties, 20).iter_rows()}
    assert {pair: rank for pair, rank in ours.items() if pair in set(pairs)} == ranks


def test_numbers_as_ids_become_strings() -> None:
    assert top_rows(CleanInput({"q": {7: 1.0, 9: 2.0}}), "trec", 1).rows() == [("q", "9", 1)]


def test_an_empty_run_has_no_rows() -> None:
    empty = Run(pl.DataFrame(schema={"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}))
    assert top_rows(CleanInput(empty), "trec", 5).height == 0
    assert top_rows(CleanInput({"q": {}}), "trec", 5).height == 0


@pytest.mark.parametrize(
    ("run", "ties", "says"),
    [
        ({"q": {"a": 1.0}}, "rank", "a dict has no rank column"),
        ({"q": {"a": 1.0}}, "best", "one order is needed"),
    ],
)
def test_what_has_no_order_is_one_line(run: Any, ties: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        top_rows(CleanInput(run), ties, 5)


def test_a_table_without_ranks() -> None:
    frame = pl.DataFrame({"query_id": ["q"], "doc_id": ["a"], "score": [1.0]})
    with pytest.raises(InputError, match="no rank column"):
        top_rows(CleanInput(Run(frame)), "rank", 5)
