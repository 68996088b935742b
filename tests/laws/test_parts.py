"""Parts in any number and on any number of threads give the bits of the whole."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope import tables
from rankscope.engines import local
from rankscope.files import open_run, parquet, parts, raw
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
FORMS = ["run", "run.gz", "run.parquet", "run.csv", "quoted.csv", "last.tsv", "run.jsonl", "frame"]


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
    frame.with_columns(note=pl.lit('a, "b"')).select("note", *frame.columns).write_csv(
        folder / "quoted.csv", quote_style="non_numeric", line_terminator="\r\n"
    )
    frame.write_ndjson(folder / "run.jsonl")
    frame.select("rank", "doc_id", "score", "query_id").write_csv(folder / "last.tsv", separator="\t")
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
    monkeypatch.setattr(raw, "SMALL_PACKED", size if small is None else small)
    monkeypatch.setattr(parquet, "PART", size)
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


def csv_lines(files: dict[str, Any]) -> list[str]:
    return list(files["run.csv"].read_text(encoding="utf-8").splitlines(keepends=True))


def json_lines(files: dict[str, Any]) -> list[str]:
    return list(files["run.jsonl"].read_text(encoding="utf-8").splitlines(keepends=True))


ODD_TABLES: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "a cell with a line break": ("a.csv", lambda files: "note," + '"a\nb",'.join(csv_lines(files))),
    "quotes where they need not be": ("a.csv", lambda files: re.sub(r",(d1\d*),", r',"\1",', "".join(csv_lines(files)))),
    "blank lines among rows": ("a.csv", lambda files: "\n".join(csv_lines(files))),
    "empty rows at the end": ("a.csv", lambda files: "".join(csv_lines(files)) + ",,,\n" * 9),
    "ends written twice": ("a.csv", lambda files: "".join(csv_lines(files)).replace("\n", "\r\r\n")),
    "no last end of a line": ("a.csv", lambda files: "".join(csv_lines(files))[:-1]),
    "a query that comes back in CSV": ("a.csv", lambda files: "".join(csv_lines(files)) + "q0,new,1,1\n"),
    "a rank that is none": ("a.csv", lambda files: "".join(csv_lines(files)) + "q99,d1,1,first\n"),
    "scores as strings": ("a.jsonl", lambda files: "".join(json_lines(files)).replace('"score":', '"score": "').replace(',"rank"', '","rank"')),
    "blank lines among objects": ("a.jsonl", lambda files: "\n".join(json_lines(files))),
    "an infinite score": ("a.jsonl", lambda files: "".join(json_lines(files)) + '{"query_id": "q99", "doc_id": "d1", "score": 1e999, "rank": 1}\n'),
    "ids that are numbers": ("a.jsonl", lambda files: "".join(json_lines(files)).replace('"doc_id":"d', '"doc_id":7').replace('","score"', ',"score"')),
    "an escaped id": ("a.jsonl", lambda files: "".join(json_lines(files)).replace('"d1', '"\\u0064\\n')),
}  # fmt: skip


@pytest.mark.parametrize("odd", ODD_TABLES)
def test_odd_tables_are_the_same_in_parts(
    files: dict[str, Any], tmp_path: Path, odd: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, make = ODD_TABLES[odd]
    (tmp_path / name).write_bytes(make(files).encode())
    found = []
    for size, threads, small in [(1 << 30, 1, 1 << 30), (1 << 30, 1, 0), (20, 3, 0)]:  # at once, as one part, in parts
        in_parts(monkeypatch, size, threads, small)
        rows, *rest = everything(rs.evaluate(files["qrels"], tmp_path / name, METRICS, duplicates="first"))
        found.append(repr((rows, rest)))
    assert len(set(found)) == 1


@pytest.mark.parametrize("form", FORMS[:-1])
def test_files_whose_rows_are_plain_need_no_other_way(
    files: dict[str, Any], form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_parts(monkeypatch, 40, 2)
    run = open_run(files[form])
    assert isinstance(run, parts.RunParts)
    assert len([read() for read in run.reads()]) > 5


FAULTY_TABLES = {
    "a cell too many": ("run.csv", "q39,d1,d2,1,7\n", "more columns than the header, which has 4"),
    "a cell missing": ("run.csv", "q39,d1,1\n", "3 columns, the header has 4"),
    "a score that is no number": ("run.csv", "q39,new,1_000,7\n", "score '1_000' is not a number"),
    "a key that comes twice": (
        "run.jsonl", '{"query_id": "q39", "doc_id": "new", "score": 1, "score": 2, "rank": 3}\n', "the key 'score' comes twice in one object",
    ),
    "half of a character": ("run.jsonl", '{"query_id": "q39", "doc_id": "\\ud800", "score": 1, "rank": 3}\n', "holds half of a character"),
    "half an object": ("run.jsonl", '{"query_id": "q39", "doc_id": "\n', "not a JSON object"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTY_TABLES)
@pytest.mark.parametrize("size", [20, 1 << 30])
def test_a_fault_of_a_table_is_told_with_its_line_whatever_the_parts(
    files: dict[str, Any], tmp_path: Path, fault: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    form, text, message = FAULTY_TABLES[fault]
    before = files[form].read_text(encoding="utf-8")
    (tmp_path / form).write_text(before + text, encoding="utf-8")
    in_parts(monkeypatch, size, 3)
    with pytest.raises(rs.InputError, match=message) as error:
        rs.evaluate(files["qrels"], tmp_path / form, "AP")
    assert f"{form} line {before.count(chr(10)) + 1:,}: " in str(error.value)


@pytest.mark.parametrize(
    "first", [b"", b"\xef\xbb\xbf"], ids=["without one before the file", "with one before the file"]
)
def test_a_byte_order_mark_where_a_part_begins_is_of_the_id(
    first: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files put one behind another: the mark of the second stands before the id of a query."""
    lines = [f"q{i} Q0 d1 1 9 t".encode() for i in range(40)]
    lines[17] = b"\xef\xbb\xbf" + lines[17]
    path = tmp_path / "a.run"
    path.write_bytes(first + b"\n".join(lines) + b"\n")
    whole = rs.read_run(str(path)).frame["query_id"].to_list()
    assert whole[0] == "q0"
    assert "\ufeffq17" in whole
    in_parts(monkeypatch, 1, 2)
    qrels = {query: {"d1": 1} for query in whole}
    assert set(rs.evaluate(qrels, str(path), "RR").runs[0].query_ids) == set(whole)
    assert rs.evaluate(qrels, str(path), "RR")["RR"] == 1.0
