"""Where bytes come from: compressed, streamed, missing, broken."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from rankscope.errors import InputError
from rankscope.files import qrels_of, read_qrels, read_run, run_of

PLAIN = "1 Q0 d1 1 2.5 t\n1 Q0 d2 2 1.0 t\n"
ROWS = [("1", "d1", 2.5, 1), ("1", "d2", 1.0, 2)]


def no(read: Any, name: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(name, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@pytest.mark.parametrize("gap", [" ", "\t", "  "])
def test_compressed(write: Any, ending: Any, gap: Any) -> None:
    name = write(f"a.run{ending}", "# c\n" + PLAIN.replace(" ", gap) + "1 Q0 x\n")
    run = read_run(name)
    assert run.frame.rows() == ROWS
    assert run.source.path == name
    assert run.source.faults[0].line == 4
    assert run.source.line_of is not None
    assert run.source.line_of(1) == 3
    assert run.source.sha256 is not None
    assert run.source.sha256() == hashlib.sha256(Path(name).read_bytes()).hexdigest()


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_compression_is_told_by_the_bytes(write: Any, ending: Any) -> None:
    Path(write(f"a{ending}", PLAIN)).rename("a.run")
    assert read_run("a.run").frame.rows() == ROWS


def test_several_gzip_members(write: Any) -> None:
    Path(write("a.gz", "")).write_bytes(gzip.compress(PLAIN.encode()) + gzip.compress(PLAIN.encode()))
    assert read_run("a.gz").frame.rows() == ROWS * 2


@pytest.mark.parametrize(("ending", "kind"), [(".gz", "gzip"), (".zst", "zstd")])
@pytest.mark.parametrize("gap", [" ", "  "])
@pytest.mark.parametrize("kept", [0.02, 0.5, 0.9, 0.9999])
def test_truncated(write: Any, ending: Any, kind: Any, gap: Any, kept: Any) -> None:
    text = "".join(f"{n} Q0 d{n * 7919 % 100003} 1 {n * 104729 % 1000003} t\n" for n in range(50000))
    path = Path(write(f"a.run{ending}", text.replace(" ", gap)))
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * kept)])
    early = f"a.run{ending}: the {kind} file ends too early (a download or copy that stopped?): fetch or copy it again"
    assert no(read_run, path) == early


def test_damaged(write: Any) -> None:
    path = Path(write("a.run.gz", "".join(f"{n} Q0 d{n * 7919 % 10007} 1 1 t\n" for n in range(5000))))
    whole = path.read_bytes()
    path.write_bytes(whole[:500] + b"xxxxxxxx" + whole[508:])
    assert no(read_run, path) == "a.run.gz: the gzip file is damaged: fetch or copy it again"


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_standard_input(monkeypatch: Any, pack: Any, ending: Any) -> None:
    sent = pack[ending](PLAIN.encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sent)))
    run = run_of("-")
    assert run.frame.rows() == ROWS
    assert run.source.notes[0] == "read standard input as a TREC run: 2 rows, 1 query, tag t"
    assert run.source.at(1) == "standard input line 2"
    assert run.source.path is None
    assert run.source.sha256 is not None
    assert run.source.sha256() == hashlib.sha256(sent).hexdigest()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_gives_its_bytes_once(tmp_path: Any) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text("# c\n" + PLAIN.replace(" ", "  ")))
    writer.start()
    assert read_run(pipe).frame.rows() == ROWS
    writer.join()


def test_names_of_runs(write: Any) -> None:
    text = "query_id,doc_id,score\n1,d,1\n"
    for name in ("a.b.csv", "a.b.csv.gz", "a.b.csv.zst"):
        assert read_run(write(name, text)).name == "a.b"


def test_a_name_with_signs_of_patterns(write: Any) -> None:
    assert read_run(write("run[1]*.txt", PLAIN)).frame.rows() == ROWS


def test_no_file(write: Any) -> None:
    write("bm25.run", PLAIN)
    assert no(read_run, "other") == "other: no such file"
    assert no(read_run, "bm52.run") == "bm52.run: no such file, did you mean bm25.run?"
    Path("none").mkdir()
    assert no(read_run, "none") == "none: no files in this folder (hidden ones and _SUCCESS are passed over)"
    assert no(read_run, "a\0b") == r"a\x00b: cannot be opened: embedded null byte"
    assert (
        no(read_qrels, write("empty", "")) == "empty: the file is empty; TREC qrels have lines like '301 0 FT911-3 1'"
    )


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_no_permission(write: Any) -> None:
    Path(write("a.run", PLAIN)).chmod(0)
    assert no(read_run, "a.run") == "a.run: no permission to read this file (chmod +r makes it readable)"


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (b"PK\x03\x04..", "a.run: the zip archive cannot be read (File is not a zip file): fetch or copy it again"),
        (b"BZh91AY", "a.run: this is bzip2, which rankscope does not read: run bunzip2 on it first"),
        ("1 Q0".encode("utf-16"), "a.run: this is UTF-16 text, which rankscope does not read: write it as UTF-8"),
    ],
    ids=["zip", "bzip2", "UTF-16"],
)
def test_foreign_files(write: Any, start: Any, said: Any) -> None:
    assert no(read_run, write("a.run", start)) == said


def test_what_is_taken() -> None:
    assert no(run_of, 5) == (
        "a run cannot be read from int; taken are a path, a dict ({query: {document: score}} or "
        "{query: [document, ...]}), a data frame, a list of scored documents or a Run"
    )
    assert no(qrels_of, None) == (
        "qrels cannot be read from NoneType; taken are a path, a dict ({query: {document: grade}} or "
        "{query: {relevant documents}}), a data frame, a list of judged documents or Qrels"
    )


def test_tables_are_returned_as_they_are(write: Any) -> None:
    run, qrels = run_of({"1": ["d"]}), qrels_of({"1": ["d"]})
    assert run_of(run) is run
    assert qrels_of(qrels) is qrels
    assert "not a run" in no(run_of, qrels)
    assert "not qrels" in no(qrels_of, run)
    assert run_of(Path(write("a.run", PLAIN))).source.label == "a.run"
