"""A folder of files, or what a pattern names, is one run: the same numbers as from one file, and faults named with their file."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import rankscope as rs
from rankscope.files import read_qrels, read_run

ROWS = [(f"q{query}", f"d{doc}", 9.0 - doc + query / 10, doc + 1) for query in range(6) for doc in range(4)]
FRAME = pl.DataFrame(ROWS, schema=["query_id", "doc_id", "score", "rank"], orient="row")
QRELS = {f"q{query}": {"d1": 1, "d3": 2} for query in range(6)}


def write_trec(path: Path, frame: pl.DataFrame) -> None:
    path.write_text("".join(f"{q} Q0 {d} {r} {s} made\n" for q, d, s, r in frame.iter_rows()), encoding="utf-8")


def write_packed(path: Path, frame: pl.DataFrame) -> None:
    write_trec(path, frame)
    path.write_bytes(gzip.compress(path.read_bytes()))


WRITERS: dict[str, Callable[[Path, pl.DataFrame], object]] = {
    "part.parquet": lambda path, frame: frame.write_parquet(path),
    "part.csv": lambda path, frame: frame.write_csv(path),
    "part.jsonl": lambda path, frame: frame.write_ndjson(path),
    "part.txt": write_trec,
    "part.txt.gz": write_packed,
}


def folder_of(tmp_path: Path, kind: str, at: tuple[int, ...] = (9, 12)) -> Path:
    """The rows in three files of a folder, as Spark leaves them."""
    folder = tmp_path / "deep run"
    folder.mkdir()
    edges = [0, *at, FRAME.height]
    for number, (start, stop) in enumerate(itertools.pairwise(edges)):
        WRITERS[kind](folder / kind.replace("part", f"part-{number:05}"), FRAME.slice(start, stop - start))
    (folder / "_SUCCESS").touch()
    (folder / ".part-00000.crc").write_bytes(b"\x00crc")
    return folder


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("at", [(8, 12), (9, 13)], ids=["queries whole", "a query in two files"])
def test_a_folder_is_one_run(tmp_path: Path, kind: str, at: tuple[int, int]) -> None:
    folder = folder_of(tmp_path, kind, at)
    whole = rs.evaluate(QRELS, FRAME, ["AP", "nDCG@3"])
    for source in (folder, f"{folder}/part-*"):
        scores = rs.evaluate(QRELS, source, ["AP", "nDCG@3"])
        assert scores.per_query["value"].to_list() == whole.per_query["value"].to_list()
        assert scores.runs[0].name == ("made" if "txt" in kind else "deep run")
        assert [note.partition(": ")[2].partition(", tag")[0] for note in scores.notes] == ["24 rows, 6 queries"]
    assert read_run(folder).frame.select("query_id", "doc_id", "score").rows() == [row[:3] for row in ROWS]


def test_a_folder_of_judgments(tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / f"part-{number}.csv").write_text(f"query_id,doc_id,grade\nq{number},d,1\n", encoding="utf-8")
    qrels = read_qrels(tmp_path)
    assert qrels.frame.rows() == [("q0", "d", 1.0), ("q1", "d", 1.0)]
    assert "qrels in 2 files: 2 judgments, 2 queries, grades 1" in qrels.source.notes[0]


def test_the_digest_is_that_of_all_files(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "part.csv")
    digest = read_run(folder).source.sha256
    assert digest is not None
    before = digest()
    (folder / "part-00001.csv").write_text("query_id,doc_id,score\nq9,d,1\n", encoding="utf-8")
    with pytest.raises(rs.DataError, match="has changed since it was read"):
        digest()
    again = read_run(folder).source.sha256
    assert again is not None
    assert again() != before


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param("q9,d1\n", r"part-00002.csv line 14: 2 columns, the header has 4", id="a row cut short"),
        pytest.param("q9,d,nan,1\n", r"part-00002.csv line 14: the score is NaN", id="a score NaN"),
        pytest.param("q0,d0,1,1\n", r"part-00002.csv line 14: document d0 of query q0 is ranked twice", id="a document twice"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_file_and_line(tmp_path: Path, line: str, message: str) -> None:
    last = folder_of(tmp_path, "part.csv") / "part-00002.csv"
    with last.open("a", encoding="utf-8") as file:
        file.write(line)
    with pytest.raises(rs.InputError, match=message):
        rs.evaluate(QRELS, last.parent, "AP")


def test_what_names_no_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "_SUCCESS").touch()
    with pytest.raises(rs.InputError, match="no files in this folder"):
        rs.evaluate(QRELS, tmp_path, "AP")
    with pytest.raises(rs.InputError, match="no files of such names"):
        rs.evaluate(QRELS, f"{tmp_path}/part-*.csv", "AP")


def test_a_folder_of_several_runs_is_refused(tmp_path: Path) -> None:
    for name in ("bm25", "dense"):
        (tmp_path / f"{name}.run").write_text(f"q0 Q0 {name} 1 1.0 {name}\n", encoding="utf-8")
    for read in (read_run, lambda path: rs.evaluate(QRELS, path, "AP")):
        with pytest.raises(rs.InputError, match=r"of 2 runs \(bm25 and dense\), .* name the files themselves"):
            read(tmp_path)


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "run[1].csv")
    assert read_run(tmp_path / "run[1].csv").frame.height == 24
