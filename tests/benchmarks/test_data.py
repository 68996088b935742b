"""Made-up runs: the same seed gives the same bytes, and the rows are what they are said to be."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from benchmarks import data


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        data.write_files(tmp_path / folder, "x", queries=5, depth=20, judged=3)
        data.write_parquet(tmp_path / folder, "y", rows=100, depth=20, judged=3)
    for path in (tmp_path / "a").iterdir():
        if path.suffix == ".txt":
            assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
        else:
            assert pl.read_parquet(path).equals(pl.read_parquet(tmp_path / "b" / path.name))


@pytest.mark.parametrize("chunk", [20, 60, 1_000_000], ids=["a query a chunk", "three queries a chunk", "one chunk"])
def test_parquet_has_whole_rankings_without_repeats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(data, "CHUNK", chunk)
    qrels, run = map(pl.read_parquet, data.write_parquet(tmp_path, "x", rows=200, depth=20, judged=4, grades=1))
    assert (run.height, qrels.height) == (200, 40)
    assert run.select("query_id", "doc_id").is_unique().all()
    assert qrels.select("query_id", "doc_id").is_unique().all()
    assert run["query_id"].is_sorted()
    assert run.group_by("query_id").len()["len"].to_list() == [20] * 10
    assert run.group_by("query_id").agg(pl.col("score").is_sorted(descending=True))["score"].all()
    assert qrels["grade"].unique().to_list() == [1]
    assert 0 < qrels.join(run, on=["query_id", "doc_id"]).height <= 40


def test_the_same_rows_as_text_and_as_parquet(tmp_path: Path) -> None:
    data.write_files(tmp_path, "x", queries=3, depth=10, judged=2)
    qrels, run = data.text_to_parquet(tmp_path, "x")
    lines = [line.split() for line in (tmp_path / "x.run.txt").read_text(encoding="ascii").splitlines()]
    assert pl.read_parquet(run).rows() == [(q, d, float(s)) for q, _, d, _, s, _ in lines]
    judged = [line.split() for line in (tmp_path / "x.qrels.txt").read_text(encoding="ascii").splitlines()]
    assert pl.read_parquet(qrels).rows() == [(q, d, int(g)) for q, _, d, g in judged]


@pytest.mark.parametrize("chunk", [300, 1_000_000], ids=["four chunks", "one chunk"])
@pytest.mark.parametrize("texts", [False, True], ids=["ids as numbers", "ids as texts"])
def test_a_log_has_rows_of_users_with_one_variant_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, texts: bool
) -> None:
    monkeypatch.setattr(data, "CHUNK", chunk)
    written = [data.write_log(tmp_path, name, rows=1000, users=50, texts=texts) for name in ("a", "b")]
    log = pl.read_parquet(written[0])
    assert log.equals(pl.read_parquet(written[1]))
    assert (log.height, log["unit_id"].n_unique()) == (1000, 50)
    assert log.schema["unit_id"] == (pl.String if texts else pl.Int64)
    assert log.group_by("unit_id").agg(pl.col("variant").n_unique())["variant"].unique().to_list() == [1]
    assert sorted(log["variant"].unique()) == ["A", "B"]
    assert log.filter("conversion")["click"].all()
    assert (log["revenue"] > 0).to_list() == log["conversion"].to_list()


def test_a_simulated_log_is_one_that_the_peers_read(tmp_path: Path) -> None:
    log = pl.read_parquet(data.simulate_log(tmp_path, "x", users=60))
    assert {"unit_id", "variant", "click", "conversion"} <= set(log.columns)
    assert log["unit_id"].n_unique() == 60
