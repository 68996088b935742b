"""Parts in any number and on any number of threads give the bits of the whole."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope import tables
from rankscope.engines import local
from rankscope.files import parts, raw, tabular
from rankscope.parallel import THREADS

METRICS = ["nDCG@10", "AP", "RR@10", "Bpref", "infAP", "AUC", "GMAP", "RBP", "Judged@10", "Compat", "AUC(pooled=True)"]
QUERIES = 40
WAYS: dict[str, dict[str, Any]] = {
    "as trec_eval": {},
    "all orders of ties": {"ties": "expected"},
    "the order of the file": {"ties": "input", "depth": 7},
    "the rank column": {"ties": "rank"},
    "all queries": {"queries": "either", "no_relevant": "skip"},
    "weighted": {"weights": {f"q{i}": 1 + i % 3 for i in range(80)}},
}
FORMS = ["run", "run.gz", "run.parquet", "run.csv", "frame"]


def world() -> tuple[dict[str, dict[str, int]], pl.DataFrame]:
    """Rankings of very different lengths with many ties, ranks that contradict scores, queries without judgments and judged ones without rows."""
    draws = np.random.default_rng(5)
    rows = []
    for query in range(QUERIES):
        count = int(draws.integers(1, 60)) if query != 11 else 900
        scores = np.round(draws.random(count), 1 if query % 3 else 9)
        docs = draws.choice(2000, count, replace=False)
        rows += [
            (f"q{query}", f"d{doc}", score, rank) for rank, (doc, score) in enumerate(zip(docs, scores, strict=True), 1)
        ]
    qrels = {
        f"q{query}": {f"d{doc}": int(draws.integers(-1, 4)) for doc in draws.choice(2000, 300, replace=False)}
        for query in [*range(3, QUERIES), 77]
    }
    return qrels, pl.DataFrame(rows, schema=["query_id", "doc_id", "score", "rank"], orient="row")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("parts")
    qrels, frame = world()
    text = "".join(f"{query} Q0 {doc} {rank} {score} tag\n" for query, doc, score, rank in frame.iter_rows())
    (folder / "run").write_text(text, encoding="utf-8")
    (folder / "run.gz").write_bytes(gzip.compress(text.encode()))
    frame.write_parquet(folder / "run.parquet", row_group_size=50)
    frame.write_csv(folder / "run.csv")
    return {"qrels": qrels, "frame": frame, **{name: folder / name for name in FORMS[:-1]}}


def everything(scores: rs.Scores) -> tuple[Any, ...]:
    """All that a result holds."""
    per_query = scores.per_query.with_columns(pl.col("value").cast(pl.Float64)).drop("run")
    board = [(str(mean.metric), mean.value, mean.queries, mean.undefined, mean.error) for mean in scores.board]
    health = [run.health for run in scores.runs]
    return per_query.rows(), board, health, [caution.message for caution in scores.warnings], scores.notes


def in_parts(monkeypatch: pytest.MonkeyPatch, size: int, threads: int, small: int | None = None) -> None:
    """Take parts of about ``size`` rows, and of files of more than ``small`` bytes only."""
    monkeypatch.setenv(THREADS, str(threads))
    monkeypatch.setattr(parts, "PART", min(30 * size, 1 << 22))
    monkeypatch.setattr(raw, "SMALL", size if small is None else small)
    monkeypatch.setattr(tabular, "PART", size)
    monkeypatch.setattr(local, "PART", size)
    monkeypatch.setattr(tables, "IN_CACHE", size)


# each way on the engine's parts and on those of a file, each form of file once
CASES = [(form, way) for way in WAYS for form in ("run", "frame")] + [(form, "as trec_eval") for form in FORMS[1:-1]]


@pytest.mark.parametrize(("form", "way"), CASES)
def test_parts_give_the_bits_of_the_whole(
    files: dict[str, Any], form: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = [m for m in METRICS if way != "weighted" or "pooled" not in m]
    in_parts(monkeypatch, 1 << 30, 1)
    whole = everything(rs.evaluate(files["qrels"], files[form], metrics, **WAYS[way]))
    for size, threads in [(7, 2), (50, 3)]:
        in_parts(monkeypatch, size, threads)
        assert repr(everything(rs.evaluate(files["qrels"], files[form], metrics, **WAYS[way]))) == repr(whole)


FAULTS = {
    "a score that is none": ("q5 Q0 d1 1 high tag\n", "score 'high' is not a number"),
    "a score NaN": ("q5 Q0 new 1 nan tag\n", "the score is NaN"),
    "a line cut short": ("q5 Q0 d\n", "3 columns"),
    "a document twice": ("q39 Q0 twice 1 2 tag\nq39 Q0 twice 2 1 tag\n", "is ranked twice"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("size", [20, 1 << 30])
def test_a_fault_is_told_with_its_line_whatever_the_parts(
    files: dict[str, Any], tmp_path: Path, fault: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, message = FAULTS[fault]
    before = files["run"].read_text(encoding="utf-8")
    (tmp_path / "run").write_text(before + text, encoding="utf-8")
    in_parts(monkeypatch, size, 3)
    with pytest.raises(rs.InputError, match=message) as error:
        rs.evaluate(files["qrels"], tmp_path / "run", "AP")
    assert f"line {before.count(chr(10)) + text.count(chr(10)):,}" in str(error.value)


MIXED: dict[str, Callable[[list[str]], list[str]]] = {
    "a query that comes back": lambda lines: lines[-1:] + lines[:-1],
    "neighbours mixed": lambda lines: [line for i in range(0, len(lines), 4) for line in lines[i : i + 4][::-1]],
    "queries in turn": lambda lines: lines[::2] + lines[1::2],
    "blank lines": lambda lines: [line + "\n" for line in lines],
    "comments": lambda lines: ["# made by hand\n", *lines[:50], "# go on\n", *lines[50:]],
    "several tags": lambda lines: [line.replace("tag", f"tag{i % 3}") for i, line in enumerate(lines)],
    "tabs": lambda lines: [line.replace(" ", "\t") for line in lines],
    "wide gaps": lambda lines: [line.replace(" ", "   ") for line in lines],
    "Windows ends": lambda lines: [line.replace("\n", "\r\n") for line in lines],
    "no last end": lambda lines: [*lines[:-1], lines[-1].rstrip("\n")],
}


@pytest.mark.parametrize("mix", MIXED)
def test_odd_files_are_the_same_in_parts(
    files: dict[str, Any], tmp_path: Path, mix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = files["run"].read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "run").write_bytes("".join(MIXED[mix](lines)).encode())
    found = []
    for size, threads, small in [(1 << 30, 1, 1 << 30), (1 << 30, 1, 0), (20, 3, 0)]:  # at once, as one part, in parts
        in_parts(monkeypatch, size, threads, small)
        scores = rs.evaluate(files["qrels"], tmp_path / "run", METRICS)
        rows, *rest = everything(scores)
        found.append(repr((rows, rest)))
    assert len(set(found)) == 1


@pytest.mark.parametrize("size", [20, 1 << 30])
def test_a_table_of_several_runs_is_refused_whatever_the_parts(
    files: dict[str, Any], tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = files["frame"]
    tags = ["one"] * 1000 + ["two"] * (len(frame) - 1000)
    frame.with_columns(tag=pl.Series(tags)).write_parquet(tmp_path / "run.parquet")
    in_parts(monkeypatch, size, 2)
    with pytest.raises(rs.InputError, match="names 2 runs"):
        rs.evaluate(files["qrels"], tmp_path / "run.parquet", "AP")
