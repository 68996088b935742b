"""Ids that became floats are whole numbers again, by one rule in every reader, or are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankscope as rs
from rankscope.errors import InputError
from rankscope.files import run_of
from rankscope.files.raw import HEAD

EXACT = 2**53
Rows = list[tuple[str, float, float]]  # query, document, score


def frame(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")


def csv(rows: Rows, folder: Path) -> Path:
    path = folder / "run.csv"
    path.write_text("query_id,doc_id,score\n" + "".join(f"{q},{d!r},{s}\n" for q, d, s in rows))
    return path


def quoted(rows: Rows, folder: Path) -> Path:
    path = folder / "quoted.csv"
    path.write_text("query_id,doc_id,score\n" + "".join(f'{q},"{d!r}",{s}\n' for q, d, s in rows))
    return path


def tsv(rows: Rows, folder: Path) -> Path:
    path = folder / "run.tsv"
    path.write_text("query_id\tdoc_id\tscore\n" + "".join(f"{q}\t{d!r}\t{s}\n" for q, d, s in rows))
    return path


def parquet(rows: Rows, folder: Path) -> Path:
    frame(rows).write_parquet(folder / "run.parquet")
    return folder / "run.parquet"


def jsonl(rows: Rows, folder: Path) -> Path:
    path = folder / "run.jsonl"
    path.write_text("".join(json.dumps({"query_id": q, "doc_id": d, "score": s}) + "\n" for q, d, s in rows))
    return path


def by_query(rows: Rows, _: Path) -> dict[str, dict[float, float]]:
    out: dict[str, dict[float, float]] = {}
    for query, doc, score in rows:
        out.setdefault(query, {})[doc] = score
    return out


MAKERS: dict[str, Callable[[Rows, Path], Any]] = {
    "Polars": lambda rows, _: frame(rows), "CSV": csv, "CSV in quotes": quoted, "TSV": tsv, "Parquet": parquet, "JSONL": jsonl,
    "a dict": by_query,
}  # fmt: skip
whole = st.lists(st.integers(0, EXACT - 1), min_size=1, max_size=8, unique=True)


@pytest.mark.parametrize("maker", MAKERS)
@given(ids=whole)
def test_whole_floats_are_their_integers_and_it_is_said(
    maker: str, ids: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = [(f"q{n % 2}", float(one), float(n)) for n, one in enumerate(ids)]
    run = run_of(MAKERS[maker](rows, tmp_path_factory.mktemp("ids")))
    assert sorted(run.frame["doc_id"].to_list()) == sorted(map(str, ids))
    assert any("ids" in note and "floats: 1.0 is read as '1'" in note for note in run.source.notes)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("odd", [float(EXACT), 2.0**60, 2.0**64, -(2.0**53), 1e300], ids=str)
def test_floats_that_may_be_several_integers_are_refused(maker: str, odd: float, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"floats from 9,007,199,254,740,992 on can mean several whole numbers: keep ids as"
    ):
        run_of(MAKERS[maker]([("q", 1.0, 1.0), ("q", odd, 2.0)], tmp_path))


def test_the_last_float_that_is_exact(tmp_path: Path) -> None:
    for maker in MAKERS.values():
        assert run_of(maker([("q", float(EXACT - 1), 1.0)], tmp_path)).frame["doc_id"].to_list() == [str(EXACT - 1)]


def test_pandas(need: Callable[[str], ModuleType]) -> None:
    pandas = need("pandas")
    need("pyarrow")
    run = pandas.DataFrame({"query_id": ["q", "q"], "doc_id": [1221, 8], "score": [2.0, 1.0]})
    joined = run.merge(pandas.DataFrame({"doc_id": [1221, 8, None]}), how="inner", on="doc_id").astype(
        {"doc_id": float}
    )
    qrels = {"q": {"1221": 1}}
    assert rs.evaluate(qrels, joined, "RR")["RR"] == rs.evaluate(qrels, run, "RR")["RR"] == 1.0


@pytest.mark.parametrize(
    "ids",
    [["1.0", "1.1"], ["1.0", "a"], ["1.5", "2.5"], ["01", "1"], ["1e5", "2e5"]],
    ids=["versions", "a word", "fractions", "zeros", "letters of a hash"],
)
def test_what_is_text_in_csv_stays_text(ids: list[str], tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("query_id,doc_id,score\n" + "".join(f"q,{one},{n}\n" for n, one in enumerate(ids)))
    assert run_of(path).frame["doc_id"].to_list() == ids


def test_text_of_a_typed_source_is_text(tmp_path: Path) -> None:
    text = pl.DataFrame({"query_id": ["q"], "doc_id": ["1.0"], "score": [1.0]})
    text.write_ndjson(tmp_path / "run.jsonl")
    text.write_parquet(tmp_path / "run.parquet")
    for source in (text, tmp_path / "run.jsonl", tmp_path / "run.parquet", {"q": {"1.0": 1.0}}):
        assert run_of(source).frame["doc_id"].to_list() == ["1.0"]


@pytest.mark.parametrize("last", ["7.0", "a"], ids=["all floats", "a word at the end"])
def test_a_file_with_parts_is_read_as_a_small_one(last: str, tmp_path: Path) -> None:
    """Whether a column holds floats only all of it tells: the parts of a large file must not decide each for itself."""
    rows = [f"{q},{d}.0,{1 / (d + 1)}\n" for q in range(400) for d in range(60)]
    path = tmp_path / "run.csv"
    path.write_text("query_id,doc_id,score\n" + "".join(rows) + f"400,{last},1\n")
    assert path.stat().st_size > 4 * HEAD
    qrels = {str(q): {"3": 1} for q in range(400)} | {"400": {last.removesuffix(".0"): 1}}
    value = rs.evaluate(qrels, path, "RR")["RR"]
    assert value == pytest.approx((400 / 4 + 1) / 401 if last == "7.0" else 1 / 401)


def test_ids_of_weights_clusters_and_attributes_follow_the_same_rule(tmp_path: Path) -> None:
    qrels = {str(q): {"a": 1, "b": 0} for q in range(1, 9)}
    run = {q: {"a": 1.0, "b": float(int(q) % 2 * 2)} for q in qrels}
    plain = rs.evaluate(qrels, run, "RR", weights={q: int(q) for q in qrels})["RR"]
    (tmp_path / "w.csv").write_text("query,weight\n" + "".join(f"{q}.0,{q}\n" for q in qrels))
    for weights in (
        {float(q): int(q) for q in qrels},
        tmp_path / "w.csv",
        pl.DataFrame({"q": [float(q) for q in qrels], "w": [*map(int, qrels)]}),
    ):
        assert rs.evaluate(qrels, run, "RR", weights=weights)["RR"] == plain
    bounds = rs.evaluate(qrels, run, "RR", clusters={q: int(q) // 2 for q in qrels}).bounds_of("RR")
    for clusters in (
        {float(q): int(q) // 2 for q in qrels},
        pl.DataFrame({"q": [float(q) for q in qrels], "c": [int(q) // 2 for q in qrels]}),
    ):
        assert rs.evaluate(qrels, run, "RR", clusters=clusters).bounds_of("RR") == bounds
