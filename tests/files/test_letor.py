"""Labels of LETOR rows as judgments."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankscope.errors import InputError
from rankscope.files import read_qrels, read_run


def write(folder: Path, *lines: str) -> Path:
    path = folder / "labels.txt"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.mark.parametrize(
    "comment",
    ["#docid = GX1 inc = 1 prob = 0.2", "# GX1 words of the query", "#GX1", "# docid:GX1"],
    ids=["LETOR 4", "Quepid", "short", "colon"],
)
def test_documents_in_comments(comment: str, tmp_path: Path) -> None:
    qrels = read_qrels(write(tmp_path, f"2 qid:10 1:0.5 2:0.1 {comment}", "", "0 qid:10 1:0.1 # GX2", "1 qid:11 # GX1"))
    assert qrels.frame.rows() == [("10", "GX1", 2.0), ("10", "GX2", 0.0), ("11", "GX1", 1.0)]
    assert qrels.source.at(1).endswith("labels.txt line 3")


def test_a_comment_may_hold_signs_that_break_lines_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "labels.txt"
    path.write_bytes("2 qid:10 1:0.5 # GX1 a\u2028b\x0bc\x85d\r\n\r\n0 qid:10 1:0.1 # GX2\r\n".encode())
    qrels = read_qrels(path)
    assert (qrels.frame.rows(), qrels.source.faults) == ([("10", "GX1", 2.0), ("10", "GX2", 0.0)], ())
    assert qrels.source.at(1).endswith("labels.txt line 3")


def test_rows_without_documents_are_counted_in_their_query(tmp_path: Path) -> None:
    qrels = read_qrels(write(tmp_path, "2 qid:a 1:0.5", "0 qid:b 1:0.1", "1 qid:a 1:0.2"))
    assert qrels.frame.rows() == [("a", "1", 2.0), ("b", "1", 0.0), ("a", "2", 1.0)]
    assert "3 rows name no document: its place in its query, from 1, is its id" in qrels.source.notes


def test_what_is_no_row(tmp_path: Path) -> None:
    qrels = read_qrels(write(tmp_path, "2 qid:10 1:0.5", "x qid:10 1:0.5", "nothing"))
    assert [(fault.line, fault.message.split(": ", 1)[1]) for fault in qrels.source.faults] == [
        (2, "label 'x' is not a number; LETOR has lines like '2 qid:10 1:0.03'"),
        (3, "no label; LETOR has lines like '2 qid:10 1:0.03'"),
    ]
    with pytest.raises(InputError, match="LETOR rows hold labels and features, no ranking"):
        read_run(write(tmp_path, "2 qid:10 1:0.5"))
