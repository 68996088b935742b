"""Partitions in any number, merged in any order, and work that was interrupted give the bits of the whole."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.laws.test_parts import METRICS, WAYS, everything, in_parts, world
from tests.made.samples import sampled

import rankscope as rs
from rankscope.files import raw
from rankscope.sharding import resume

DIVERSITY = ["alpha_nDCG@10", "ERR_IA@10"]
MORE_WAYS: dict[str, dict[str, Any]] = {
    **WAYS,
    "some queries": {"queries": [f"q{i}" for i in range(3, 30)], "nothing_found": "skip"},
    "intervals": {"interval": "bca(rounds=300)", "level": 0.9, "clusters": {f"q{i}": i % 9 for i in range(80)}},
    "the worst order of ties": {"ties": "worst", "seed": 4},
    "a dialect": {"dialect": "lightgbm"},
}
FORMS = ["run", "run.gz", "run.parquet", "run.csv", "folder", "frame", "dict", "three columns"]
TIMES = (1, 2, 3, 7)
# each way on pieces of a file and on a table, each form of file in the order of the qrels and beyond
CASES = [(form, way) for way in MORE_WAYS for form in ("run", "frame")]
CASES += [(form, way) for way in ("as trec_eval", "all queries") for form in FORMS if form not in {"run", "frame"}]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("merge")
    qrels, frame = world()
    lines = [f"{query} Q0 {doc} {rank} {score} tag\n" for query, doc, score, rank in frame.iter_rows()]
    (folder / "qrels").write_text(
        "".join(f"{query} 0 {doc} {grade}\n" for query, docs in qrels.items() for doc, grade in docs.items()),
        encoding="utf-8",
    )
    (folder / "run").write_text("".join(lines), encoding="utf-8")
    (folder / "run.gz").write_bytes(gzip.compress("".join(lines).encode()))
    frame.write_parquet(folder / "run.parquet", row_group_size=50)
    frame.write_csv(folder / "run.csv")
    (folder / "folder").mkdir()
    ends = [0, *np.flatnonzero(np.diff(frame["query_id"].rle_id().to_numpy())).tolist(), len(lines) - 1]
    for number, (first, last) in enumerate(zip(ends[::9], [*ends[9::9], ends[-1]], strict=True)):
        start = 0 if not number else first + 1
        (folder / "folder" / f"part-{number:02}").write_text("".join(lines[start : last + 1]), encoding="utf-8")
    ranked = frame.with_columns(pl.int_range(1, pl.len() + 1).over("query_id").alias("rank"))
    (folder / "three columns").write_text(
        "".join(f"{query} {doc} {rank}\n" for query, doc, _, rank in ranked.iter_rows()), encoding="utf-8"
    )
    by_query: dict[str, dict[str, float]] = {}
    for query, doc, score, _ in frame.iter_rows():
        by_query.setdefault(query, {})[doc] = score
    by_query["empty"] = {}
    paths = {name: folder / name for name in FORMS[:5]} | {"three columns": folder / "three columns"}
    return {"qrels": qrels, "qrels file": folder / "qrels", "frame": frame, "dict": by_query, **paths}


def all_of(scores: rs.Scores) -> str:
    """All that a result holds but the hash of the run's file."""
    bounds = [(str(mean), mean.bounds) for mean in scores.board]
    runs = [(run.name, run.tag, run.query_ids, run.facts, run.first_relevant.tolist()) for run in scores.runs]
    weights = [(str(metric), of.tolist()) for run in scores.runs for metric, of in run.weights.items()]
    envelope = json.loads(scores.to_json(per_query=True, distribution=True))
    envelope["inputs"] = [source["path"] for source in envelope["inputs"]]
    return repr((everything(scores), bounds, runs, weights, scores.request.small_print(), envelope))


def ask(way: str, form: str) -> tuple[list[str], dict[str, Any]]:
    """Metrics and options of a way."""
    if way == "a dialect":
        return ["nDCG@10"], dict(MORE_WAYS[way])
    if way == "the worst order of ties":
        return ["nDCG@10", "AP"], dict(MORE_WAYS[way])
    options = dict(MORE_WAYS[way])
    if "clusters" in options:
        options["clusters"] = {query: str(cluster) for query, cluster in options["clusters"].items()}
    return [m for m in [*METRICS, "relstring.5"] if way != "weighted" or "pooled" not in m], options


def partitions(qrels: Any, run: Any, metrics: Any, times: int, folder: Path | None = None, **options: Any) -> list[Any]:
    parts = [rs.evaluate(qrels, run, metrics, partition=f"{i}/{times}", **options) for i in range(1, times + 1)]
    if folder is None:
        return parts
    paths = [folder / f"part{part.number}.parquet" for part in parts]
    for part, path in zip(parts, paths, strict=True):
        part.save(path)
    return paths


@pytest.mark.parametrize(("form", "way"), sampled(CASES, 6))
def test_partitions_give_the_bits_of_the_whole(
    files: dict[str, Any], form: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics, options = ask(way, form)
    in_parts(monkeypatch, 1 << 30, 1)
    qrels = files["qrels"] if form in {"dict", "frame"} else files["qrels file"]
    whole = all_of(rs.evaluate(qrels, files[form], metrics, **options))
    in_parts(monkeypatch, 20, 2)
    draws = np.random.default_rng(7)
    for times in TIMES:
        paths = partitions(qrels, files[form], metrics, times, tmp_path, **options)
        assert all_of(rs.merge([paths[i] for i in draws.permutation(times)])) == whole


def test_several_grades_of_a_document_are_kept(files: dict[str, Any], tmp_path: Path) -> None:
    rows = [
        (q, f"t{i % 3}", doc, grade)
        for q, docs in files["qrels"].items()
        for i, (doc, grade) in enumerate(docs.items())
    ]
    qrels = pl.DataFrame(rows, schema=["query_id", "iteration", "doc_id", "grade"], orient="row")
    whole = all_of(rs.evaluate(qrels, files["run"], DIVERSITY))
    assert all_of(rs.merge(partitions(qrels, files["run"], DIVERSITY, 3, tmp_path))) == whole


@pytest.mark.parametrize("form", ["run", "run.gz", "run.parquet", "folder"])
def test_each_partition_reads_its_share_alone(
    files: dict[str, Any], form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_parts(monkeypatch, 20, 1)
    parts = partitions(files["qrels"], files[form], "AP", 3)
    queries = [query for part in parts for query in part.share.queries]
    assert all(0 < len(part.share.queries) < 40 for part in parts)
    assert sorted(queries) == sorted(set(queries)) == sorted(files["frame"]["query_id"].unique())
    assert sum(facts.rows for part in parts for _, _, facts in part.share.run.pieces) == files["frame"].height


def test_threads_and_memory_do_not_move_the_borders(files: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw, "SMALL", 0)
    found = []
    for threads, memory in (("1", "300MB"), ("4", "2GB")):
        monkeypatch.setenv("RANKSCOPE_THREADS", threads)
        monkeypatch.setenv("RANKSCOPE_MEMORY", memory)
        found.append([part.share.queries for part in partitions(files["qrels"], files["run"], "AP", 5)])
    assert found[0] == found[1]


@pytest.mark.parametrize("form", sampled(["run", "run.gz", "run.parquet", "run.csv", "folder"], 3))
@pytest.mark.parametrize("way", sampled(["as trec_eval", "all queries"], 1))
def test_interrupted_work_goes_on_where_it_stopped(
    files: dict[str, Any], form: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics, options = ask(way, form)
    in_parts(monkeypatch, 20, 2)
    monkeypatch.setattr(resume, "GROUP", 3)
    qrels, run = files["qrels file"], files[form]
    whole = rs.evaluate(qrels, [run, run], metrics, **options)
    folder = tmp_path / "kept"
    saved: list[str] = []
    save = rs.PartialScores.save

    def stop(part: rs.PartialScores, path: Path) -> None:
        if len(saved) == 2:
            raise KeyboardInterrupt
        saved.append(path.name)
        save(part, path)

    monkeypatch.setattr(rs.PartialScores, "save", stop)
    if form != "run.csv":  # read whole: nothing is kept of it
        with pytest.raises(KeyboardInterrupt):
            rs.evaluate(qrels, [run, run], metrics, resume=folder, **options)
        assert sorted(path.name for path in folder.iterdir()) == saved
    again: list[str] = []

    def note(part: rs.PartialScores, path: Path) -> None:
        again.append(path.name)
        save(part, path)

    monkeypatch.setattr(rs.PartialScores, "save", note)
    scores = rs.evaluate(qrels, [run, run], metrics, resume=folder, **options)
    assert not set(again) & set(saved)
    assert all_of(scores) == all_of(whole)
    assert [source.sha256() for source in scores.inputs] == [source.sha256() for source in whole.inputs]
    again.clear()
    assert all_of(rs.evaluate(qrels, [run, run], metrics, resume=folder, **options)) == all_of(whole)
    assert again == []
