"""Chunks stand for their documents: by hand, in every form of a run, and in every verb."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs

QRELS = {"q": {"d1": 1, "d2": 1, "d3": 1}, "p": {"d9": 1}}
# two chunks of d1 first: five chunks hold three documents
RUN = {
    "q": {"d1#1": 9.0, "d1#2": 8.0, "d2#1": 7.0, "d1#3": 6.0, "x#1": 5.0, "d3#4": 4.0},
    "p": {"y#1": 2.0, "d9#1": 1.0},
}
CHUNKS = {chunk: chunk.partition("#")[0] for docs in RUN.values() for chunk in docs}
BY: list[dict[str, Any]] = [{"fold": CHUNKS}, {"fold_by": "#.*"}, {"fold_by": "^(.+)#[0-9]+$"}]
ways = pytest.mark.parametrize("by", BY, ids=["a table", "what is cut off", "a group"])


def frame(run: dict[str, dict[str, float]]) -> pl.DataFrame:
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    return pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")


def values(run: Any, metric: str, **how: Any) -> dict[str, float]:
    (one,) = rs.evaluate(QRELS, run, [metric], **how).runs
    (found,) = one.values.values()
    return dict(zip(one.query_ids, found.tolist(), strict=True))


@ways
@pytest.mark.parametrize("made", [dict, frame], ids=["a dict", "a frame"])
def test_cutoffs_count_documents_or_chunks(by: dict[str, Any], made: Any) -> None:
    """Documents d1 d2 x d3 and y d9; chunks d1 (d1) d2 (d1) x d3."""
    assert values(made(RUN), "R@2", **by) == {"q": 2 / 3, "p": 1.0}
    assert values(made(RUN), "R@2", **by, fold_cutoffs="chunks") == {"q": 1 / 3, "p": 1.0}
    assert values(made(RUN), "R@5", **by) == {"q": 3 / 3, "p": 1.0}
    assert values(made(RUN), "R@5", **by, fold_cutoffs="chunks") == {"q": 2 / 3, "p": 1.0}
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert values(made(RUN), "nDCG", **by)["q"] == pytest.approx((1 + 1 / math.log2(3) + 1 / math.log2(5)) / ideal)
    chunks = values(made(RUN), "nDCG", **by, fold_cutoffs="chunks")
    assert chunks["q"] == pytest.approx((1 + 1 / 2 + 1 / math.log2(7)) / ideal)


@pytest.mark.parametrize("made", [dict, frame], ids=["a dict", "a frame"])
def test_what_a_document_scores(made: Any) -> None:
    """a has 2 and 3, b 4, c 1, 3.5 and 0.25: the best are 4, 3.5 and 3, the sums 5, 4.75 and 4, the first 4, 2 and 1."""
    qrels, run = (
        {"q": {"a": 1, "c": 2}},
        {"q": {"a/1": 2.0, "b/1": 4.0, "a/2": 3.0, "c/1": 1.0, "c/2": 3.5, "c/3": 0.25}},
    )
    ranks: dict[Any, tuple[str, ...]] = {"max": ("b", "c", "a"), "sum": ("a", "c", "b"), "first": ("b", "a", "c")}
    for score, order in ranks.items():
        (one,) = rs.evaluate(qrels, made(run), ["DCG"], fold_by="/.*", fold_score=score).board
        gains = {"a": 1, "b": 0, "c": 2}
        assert one.value == pytest.approx(sum(gains[doc] / math.log2(rank + 2) for rank, doc in enumerate(order))), (
            score
        )


def test_folding_by_hand_gives_the_same() -> None:
    """Law: the best of the chunks, in documents, is what keeping the best of each document is; dicts, frames, any parts."""
    rng = np.random.default_rng(4)
    run = {f"q{i}": {f"d{rng.integers(12)}#{j}": float(rng.integers(9)) for j in range(40)} for i in range(30)}
    qrels = {query: {f"d{doc}": int(rng.integers(3)) for doc in range(12)} for query in run}
    metrics = ["nDCG@5", "AP", "R@5", "RR"]
    by_hand = frame(run).with_columns(pl.col("doc_id").str.replace("#.*", ""))
    expected = rs.evaluate(qrels, by_hand, metrics, duplicates="best").to_dicts("per_query")
    for given in (run, frame(run), frame(run).sample(fraction=1.0, shuffle=True, seed=1)):
        assert rs.evaluate(qrels, given, metrics, fold_by="#.*").to_dicts("per_query") == expected
    for score in ("max", "sum", "first"):
        one, other = (rs.evaluate(qrels, r, metrics, fold_by="#.*", fold_score=score) for r in (run, frame(run)))
        assert one.to_dicts("per_query") == other.to_dicts("per_query")
    one, other = (rs.evaluate(qrels, r, metrics, fold_by="#.*", fold_cutoffs="chunks") for r in (run, frame(run)))
    assert one.to_dicts("per_query") == other.to_dicts("per_query")
    assert all(
        a["value"] <= b["value"] + 1e-12
        for a, b in zip(one.rows, rs.evaluate(qrels, run, metrics, fold_by="#.*").rows, strict=True)
    )


def test_a_file_of_chunks(tmp_path: Path) -> None:
    rows = [f"{chunk},{doc}" for chunk, doc in CHUNKS.items()]
    files = {
        "header.csv": ["chunk_id,doc_id", *rows], "plain.csv": rows,
        "backwards.csv": ["doc_id,chunk_id", *(",".join(reversed(row.split(","))) for row in rows)],
    }  # fmt: skip
    for name, lines in files.items():
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        scores = rs.evaluate(QRELS, RUN, ["R@2"], fold=path)
        assert scores["R@2"] == pytest.approx((2 / 3 + 1) / 2), name
        assert scores.conventions["fold"] == str(path)
        assert (scores.conventions["fold_score"], scores.conventions["fold_cutoffs"]) == ("max", "documents")


def test_it_is_said_what_a_cutoff_counts() -> None:
    told = {
        cut: rs.evaluate(QRELS, RUN, ["R@2"], fold_by="#.*", fold_cutoffs=cut).request.small_print()
        for cut in ("documents", "chunks")
    }
    assert "cutoffs count documents" in told["documents"]
    assert "cutoffs count chunks" in told["chunks"]
    assert "fold" not in rs.evaluate(QRELS, RUN, ["R@2"]).request.small_print()


def test_every_verb_folds() -> None:
    other = {query: dict(reversed([(doc, -score) for doc, score in docs.items()])) for query, docs in RUN.items()}
    runs = {"one": RUN, "other": other}
    folded = rs.evaluate(QRELS, runs, ["RR"], fold_by="#.*")
    compared = rs.compare(QRELS, runs, ["RR"], fold_by="#.*")
    assert compared.rows[0]["difference"] == pytest.approx(folded["other", "RR"] - folded["one", "RR"])
    explained = rs.explain(QRELS, RUN, "AP", query="q", fold_by="#.*")
    assert [row["doc_id"] for row in explained.rows if row["grade"]] == ["d1", "d2", "d3"]
    assert (
        rs.diagnose(QRELS, RUN, "AP", fold_by="#.*").scores["AP"]
        == rs.evaluate(QRELS, RUN, ["AP"], fold_by="#.*")["AP"]
    )


def test_a_prepared_evaluator_folds() -> None:
    assert rs.Evaluator(QRELS, ["R@2"], fold_by="#.*").evaluate(RUN)["R@2"] == pytest.approx((2 / 3 + 1) / 2)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "both ways": ({"fold": CHUNKS, "fold_by": "#.*"}, "choose one"),
    "no pattern": ({"fold_by": "("}, "no regular expression"),
    "a pattern that finds nothing": ({"fold_by": "_p[0-9]+$"}, "matches no id of a run"),
    "a table of other chunks": ({"fold": {"u": "v"}}, "matches no id of a run"),
    "no table": ({"fold": {}}, "no chunk is there"),
    "a table of numbers": ({"fold": {"a": 1.5}}, "is of document 1.5"),
    "how without what": ({"fold_score": "sum"}, "set their documents with fold or fold_by"),
    "a sum in chunks": ({"fold_by": "#.*", "fold_score": "sum", "fold_cutoffs": "chunks"}, "leave out fold_cutoffs"),
    "a score where ranks count": ({"fold_by": "#.*", "fold_score": "max", "ties": "rank"}, "choose fold_score='first'"),
    "another word": ({"fold_by": "#.*", "fold_cutoffs": "pages"}, "one of 'documents', 'chunks' or 'both'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong(case: str) -> None:
    how, said = WRONG[case]
    with pytest.raises(rs.InputError, match=said.replace("(", r"\(")):
        rs.evaluate(QRELS, RUN, ["R@2"], **how)


@pytest.mark.parametrize("score", [math.nan, "high", None])
def test_scores_that_are_none_are_refused_as_ever(score: Any) -> None:
    run = {"q": {"d1#1": score, "d1#2": -math.inf, "d1#3": math.inf}}
    for fold_score in ("max", "sum", "first"):
        with pytest.raises(rs.InputError):
            rs.evaluate(QRELS, run, ["R@2"], fold_by="#.*", fold_score=fold_score)


def test_two_documents_for_a_chunk_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "chunks.csv"
    path.write_text("chunk,doc\nc1,a\nc1,b\n", encoding="utf-8")
    with pytest.raises(rs.InputError, match="chunk c1 is of a and of b"):
        rs.evaluate(QRELS, RUN, ["R@2"], fold=path)
    path.write_text("chunk,doc,more\nc1,a,1\n", encoding="utf-8")
    with pytest.raises(rs.InputError, match="3 columns"):
        rs.evaluate(QRELS, RUN, ["R@2"], fold=path)


@pytest.mark.parametrize("made", [dict, frame], ids=["a dict", "a frame"])
@pytest.mark.parametrize("parts", [1, 2])
def test_later_chunks_of_judged_documents_are_not_unjudged(made: Any, parts: int) -> None:
    """Chunks d1 (d1) d2 (d1) x (x): the last two are unjudged, d1 is judged however often it comes; y d9: one of two."""
    run = made({"q": {**RUN["q"], "x#2": 4.5}, "p": RUN["p"]})
    how: dict[str, Any] = {"fold_by": "#.*", "fold_cutoffs": "chunks"}
    if parts == 1:
        scores = rs.evaluate(QRELS, run, ["P@6", "P@3"], **how)
    else:
        scores = rs.merge([rs.evaluate(QRELS, run, ["P@6", "P@3"], partition=f"{i}/2", **how) for i in (1, 2)])
    assert scores.data_health[scores.runs[0].name]["unjudged_at_cutoff"] == {"3": 1 / 5, "6": 3 / 8}


def test_nobody_is_warned_of_chunks_of_judged_documents() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(4)}
    run = {key: {"a#1": 9.0, "a#2": 8.0, "a#3": 7.0, "b#1": 6.0, "b#2": 5.0} for key in qrels}
    for unit in ("documents", "chunks"):
        assert rs.evaluate(qrels, run, "nDCG@5", fold_by="#.*", fold_cutoffs=unit).warnings == []
    other = {key: {**run["q0"], "x#1": 5.5} for key in qrels}
    (told,) = rs.evaluate(qrels, other, "nDCG@5", fold_by="#.*", fold_cutoffs="chunks").warnings
    assert told.message == "run: 20% of its top 5 is unjudged and counted as not relevant"


def test_later_chunks_are_not_among_the_documents_to_judge() -> None:
    found = rs.unjudged(QRELS, {**RUN, "q": {**RUN["q"], "x#2": 4.5}}, "P@6", fold_by="#.*", fold_cutoffs="chunks")
    assert {(one["query_id"], one["doc_id"]) for one in found.to_dicts("to_judge")} == {("q", "x"), ("p", "y")}


@pytest.mark.parametrize("size", [1, 40, 1 << 20], ids=["a query a part", "some", "one part"])
def test_chunks_of_a_file_in_parts_are_counted_alike(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rankscope.files import parts, raw

    monkeypatch.setattr(raw, "SMALL", 0)
    monkeypatch.setattr(parts, "PART", size)
    path = tmp_path / "chunks.run"
    path.write_text("".join(f"{q} Q0 {d} 0 {s} r\n" for q, docs in RUN.items() for d, s in docs.items()))
    how: dict[str, Any] = {"fold_by": "#.*", "fold_cutoffs": "chunks"}
    told = [rs.evaluate(QRELS, run, ["P@3"], **how).data_health for run in (str(path), RUN)]
    assert [next(iter(one.values()))["unjudged_at_cutoff"] for one in told] == [{"3": 1 / 5}] * 2


def test_both_levels_in_one_call() -> None:
    runs = {"a": RUN, "b": {query: dict(reversed(docs.items())) for query, docs in RUN.items()}}
    both = rs.evaluate(QRELS, runs, ["R@2", "nDCG@5"], fold_by="#.*", fold_cutoffs="both")
    assert [run.name for run in both.runs] == ["a by documents", "a by chunks", "b by documents", "b by chunks"]
    for level in ("documents", "chunks"):
        one = rs.evaluate(QRELS, runs, ["R@2", "nDCG@5"], fold_by="#.*", fold_cutoffs=level)
        for name in runs:
            for metric in ("R@2", "nDCG@5"):
                assert both[f"{name} by {level}", metric] == one[name, metric]
    assert "cutoffs count documents in one row of a run and chunks" in both.request.small_print()
    for verb in (rs.compare, rs.unjudged):
        with pytest.raises(rs.RankscopeError, match="fold_cutoffs='both' is for evaluate"):
            verb(QRELS, runs if verb is rs.compare else RUN, "R@2", fold_by="#.*", fold_cutoffs="both")
    with pytest.raises(rs.RankscopeError, match="resume keeps one level"):
        rs.evaluate(QRELS, RUN, "R@2", fold_by="#.*", fold_cutoffs="both", resume="x")
