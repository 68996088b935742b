"""Laws over all fusions and normalisations, worked arithmetic, and bad input."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.rankers.catalogue import KINDS
from rankscope.rankers.fusions import Condorcet, Fusion

FUSIONS = list(dict.fromkeys(KINDS["fusion"].catalogue.values()))
PLAIN = [one for one in FUSIONS if not one.learns]
NORMALISATIONS = list(dict.fromkeys(KINDS["normalisation"].catalogue.values()))
Rankings = dict[str, dict[str, float]]


def named(one: Any) -> str:
    return str(one.__name__)


def rankings(seed: int, runs: int = 3, documents: int = 12) -> list[Rankings]:
    """Runs with distinct scores above 0 that share some of their documents and queries."""
    random = np.random.default_rng(seed)
    out: list[Rankings] = []
    for _ in range(runs):
        run: Rankings = {}
        for query in ("q1", "q2", "q3"):
            if random.random() < 0.8 or query == "q1":
                chosen = random.choice(documents, size=int(random.integers(2, documents)), replace=False)
                run[query] = {
                    f"d{doc}": float(score) for doc, score in zip(chosen, random.permutation(100) + 1.0, strict=False)
                }
        out.append(run)
    return out


def qrels_of(runs: list[Rankings]) -> Rankings:
    return {
        query: {doc: float(len(doc) % 2) for run in runs for doc in run.get(query, {})} for query in ("q1", "q2", "q3")
    }


def fused(runs: Any, method: Any, **options: Any) -> Rankings:
    learns = getattr(method, "learns", False)
    run = rs.fuse(runs, method, **options | ({"qrels": qrels_of(runs)} if learns else {}))
    out: Rankings = {}
    for query, doc, score in run.frame.select("query_id", "doc_id", "score").iter_rows():
        out.setdefault(query, {})[doc] = score
    return out


@pytest.mark.parametrize("method", FUSIONS, ids=named)
def test_every_document_of_any_run_is_ranked_once_best_first(method: type[Fusion]) -> None:
    runs = rankings(1)
    found = fused(runs, method)
    for query in ("q1", "q2", "q3"):
        assert set(found.get(query, {})) == {doc for run in runs for doc in run.get(query, {})}
        scores = list(found.get(query, {}).values())
        assert scores == sorted(scores, reverse=True)
        assert all(map(math.isfinite, scores))


@pytest.mark.parametrize("method", FUSIONS, ids=named)
def test_names_of_documents_do_not_matter(method: type[Fusion]) -> None:
    runs = rankings(2)
    renamed = [{q: {f"x{doc[::-1]}": s for doc, s in docs.items()} for q, docs in run.items()} for run in runs]
    plain, other = fused(runs, method), fused(renamed, method) if not method.learns else None
    if other is not None and method is not Condorcet:  # which breaks equal votes by the documents' order
        for query, docs in plain.items():
            assert {f"x{doc[::-1]}": score for doc, score in docs.items()} == pytest.approx(other[query], abs=1e-12)


@pytest.mark.parametrize("method", [one for one in PLAIN if one is not Condorcet], ids=named)
def test_the_order_of_runs_does_not_matter_without_weights(method: type[Fusion]) -> None:
    runs = rankings(3)
    for query, docs in fused(runs, method).items():
        assert docs == pytest.approx(fused(runs[::-1], method)[query], abs=1e-12)


@pytest.mark.parametrize("method", FUSIONS, ids=named)
def test_parts_of_queries_give_the_same_as_the_whole(method: type[Fusion], monkeypatch: pytest.MonkeyPatch) -> None:
    from rankscope.scoring import pools

    runs = rankings(4)
    whole = rs.fuse(runs, method, qrels=qrels_of(runs) if method.learns else None).frame
    parts = pools.map_pools
    monkeypatch.setattr(
        "rankscope.scoring.fusing.map_pools", lambda runs, order, then: parts(runs, order, then, rows=1)
    )
    assert rs.fuse(runs, method, qrels=qrels_of(runs) if method.learns else None).frame.equals(whole)


@pytest.mark.parametrize(("rows", "place"), [(100, "a.run line 3"), (1, "a.run")], ids=["one part", "parts"])
def test_a_rank_given_twice_is_named_with_no_wrong_line(
    rows: int, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankscope.scoring.pools.IN_CACHE", rows)
    (tmp_path / "a.run").write_text("q1 Q0 a 1 3 x\nq2 Q0 b 1 2 x\nq2 Q0 c 1 1 x\n")
    with pytest.raises(InputError, match=f"{place}: rank 1 of query q2 is given twice"):
        rs.fuse([tmp_path / "a.run", {"q1": {"a": 1.0}}], ties="rank")


@pytest.mark.parametrize("method", PLAIN, ids=named)
def test_a_document_ahead_of_another_in_every_run_stays_ahead(method: type[Fusion]) -> None:
    random = np.random.default_rng(5)
    for _ in range(20):
        runs = []
        for _ in range(3):
            scores = np.sort(random.permutation(50)[:8] + 1.0)[::-1]
            order = [f"d{i}" for i in random.permutation(8)]
            a, b = order.index("d0"), order.index("d1")
            if a > b:
                order[a], order[b] = order[b], order[a]
            runs.append({"q": dict(zip(order, scores.tolist(), strict=True))})
        found = fused(runs, method)["q"]
        assert found["d0"] >= found["d1"] - 1e-12


def test_reciprocal_ranks_are_summed_with_weights() -> None:
    runs: Any = {"a": {"q": {"x": 3.0, "y": 2.0}}, "b": {"q": {"y": 9.0}}}
    assert fused(runs, "RRF(k=10)")["q"] == pytest.approx({"y": 1 / 12 + 1 / 11, "x": 1 / 11}, abs=1e-15)
    assert fused(runs, "RRF(k=10, weights=(3, 1))")["q"] == pytest.approx(
        {"x": 3 / 11, "y": 3 / 12 + 1 / 11}, abs=1e-15
    )


def test_votes_by_majority_rank_the_winner_of_every_duel_first() -> None:
    runs: Any = [{"q": ["a", "b", "c"]}, {"q": ["b", "c", "a"]}, {"q": ["b", "a", "c"]}]
    assert list(fused(runs, "Condorcet")["q"]) == ["b", "a", "c"]


def test_no_document_loses_the_duel_with_the_next_one() -> None:
    runs = rankings(6, runs=5, documents=30)
    for query, docs in fused(runs, "Condorcet").items():
        ranks = [
            {doc: rank for rank, doc in enumerate(sorted(run[query], key=run[query].__getitem__, reverse=True))}
            for run in runs
            if query in run
        ]
        order = list(docs)
        for first, second in pairwise(order):
            ahead = [np.sign(rank.get(second, 999) - rank.get(first, 999)) for rank in ranks]
            assert sum(ahead) >= 0


@pytest.mark.parametrize(
    ("normalise", "expected"),
    [
        ("min_max", [1.0, 0.5, 0.0]),
        ("min_max_inverted", [0.0, 0.5, 1.0]),
        ("max", [1.0, 4 / 6, 2 / 6]),
        ("sum", [4 / 6, 2 / 6, 0.0]),
        ("z_score", [2 / math.sqrt(8 / 3), 0.0, -2 / math.sqrt(8 / 3)]),
        ("rank", [1.0, 2 / 3, 1 / 3]),
        ("borda", [1.0, 1 - 1 / 4, 1 - 2 / 4]),
        ("dbsf", [(2 + 3 * 2) / 12, 0.5, (-2 + 3 * 2) / 12]),
        ("three_sigma", [(2 + 3 * 2) / 12, 0.5, (-2 + 3 * 2) / 12]),
        ("none", [6.0, 4.0, 2.0]),
    ],
)
def test_scores_are_normalised_query_by_query(normalise: str, expected: list[float]) -> None:
    runs: Any = [{"q": {"a": 6.0, "b": 4.0, "c": 2.0}}, {"q": {"d": 1.0}}]
    found = fused(runs, "CombMAX" if normalise != "borda" else "WeightedSum(weights=(1, 0))", normalise=normalise)["q"]
    assert [found[doc] for doc in "abc"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("normalise", NORMALISATIONS, ids=named)
def test_a_list_of_one_document_has_a_finite_score(normalise: type[Any]) -> None:
    found = fused([{"q": {"a": -4.0}}, {"q": {"a": 7.0, "b": 7.0}}], "CombSUM", normalise=normalise)["q"]
    assert all(map(math.isfinite, found.values()))
    assert found["a"] >= found["b"]


def test_a_fused_run_is_a_run_for_every_command() -> None:
    runs = rankings(7)
    run = rs.fuse(runs, "RRF", name="hybrid", k=3)
    assert run.name == "hybrid"
    assert run.frame.group_by("query_id").len()["len"].max() == 3
    scores = rs.evaluate(qrels_of(runs), [runs[0], run], "RR")
    assert [one.name for one in scores.runs] == ["run", "hybrid"]


def test_frames_and_equal_hashes_are_joined_by_their_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    first = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [2.0, 1.0]})
    second = pl.DataFrame({"query_id": ["q", "p"], "doc_id": ["b", "a"], "score": [5.0, 1.0]})
    plain = rs.fuse([first, second]).frame
    monkeypatch.setattr(pl.Series, "hash", lambda self, seed=0: pl.Series(np.full(len(self), 7, dtype=np.uint64)))
    assert rs.fuse([first, second]).frame.equals(plain)
    assert plain.rows() == [("q", "b", 1 / 62 + 1 / 61), ("q", "a", 1 / 61), ("p", "a", 1 / 61)]


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("RFF", {}, "did you mean RRF?"),
        ("RRF", {"normalise": "min_max"}, "uses ranks only"),
        ("CombSUM", {"normalise": "minmxa"}, "did you mean"),
        ("CombMNZ", {"normalise": "z_score"}, "has scores below 0 after ZScore"),
        ("WeightedSum(weights=(1, 2, 3))", {}, "3 weights for 2 runs"),
        ("PosFuse", {}, "learns from judgments"),
        ("RRF", {"qrels": {"q1": {"d1": 1}}}, "does not learn"),
        ("RRF", {"ties": "expected"}, "one order of equal scores"),
        ("RRF", {"k": 0}, "whole number of 1 or more"),
        ("RRF(k=-2)", {}, "above -1"),
    ],
)
def test_bad_options_are_refused_in_one_line(method: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(rs.InputError, match=message.replace("?", r"\?")) as error:
        rs.fuse(rankings(8, runs=2), method, **options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("normalise", NORMALISATIONS, ids=named)
@pytest.mark.parametrize("score", [math.inf, -math.inf])
@pytest.mark.filterwarnings("error")
def test_infinite_scores_have_no_scale_but_have_ranks(normalise: type[Any], score: float) -> None:
    runs: Any = [{"q": {"a": score, "b": 1.0, "c": 0.0}}, {"q": {"b": 2.0}}]
    if named(normalise) in {"RankShare", "BordaShare"}:
        assert all(map(math.isfinite, fused(runs, "CombSUM", normalise=normalise)["q"].values()))
        return
    with pytest.raises(rs.InputError, match="run1 has infinite scores, which no scale fits: fuse ranks, like RRF"):
        rs.fuse(runs, "CombSUM", normalise=normalise)
    assert len(fused(runs, "RRF")["q"]) == 3


def test_a_highest_score_divides_only_if_it_is_above_0() -> None:
    with pytest.raises(rs.InputError, match=r"run2 has a list without a score above 0.*MinMax"):
        rs.fuse([{"q": {"a": 1.0}}, {"q": {"a": -1.0, "b": -2.0}}], "CombSUM", normalise="max")
    zeros: Any = [{"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 0.0, "c": 0.0}}]
    assert fused(zeros, "CombSUM", normalise="max")["q"] == {"a": 1.0, "b": 0.5, "c": 0.0}


def test_runs_without_a_common_query_and_a_single_run_are_refused() -> None:
    with pytest.raises(rs.DataError, match="no query is in two runs"):
        rs.fuse([{"q1": {"a": 1.0}}, {"q2": {"a": 1.0}}])
    with pytest.raises(rs.InputError, match="two runs or more, and 1 run was given"):
        rs.fuse([{"q1": {"a": 1.0}}])
