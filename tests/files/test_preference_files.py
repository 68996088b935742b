"""TREC preferences: five columns, told from the other files of five columns by what stands in them."""

from __future__ import annotations

from typing import Any

import pytest

from rankscope.errors import InputError
from rankscope.files import read_qrels, read_run

PREFERENCES = "1 ann p dA 1\n1 ann p dB 0\n1 bob p dB 2.5\n"
ROWS = [("1", "dA", 1.0, "ann", "p"), ("1", "dB", 0.0, "ann", "p"), ("1", "dB", 2.5, "bob", "p")]


@pytest.mark.parametrize(
    "text",
    [
        PREFERENCES,
        PREFERENCES.replace(" ", "\t"),
        PREFERENCES.replace(" p ", " \t p  "),
        "# by hand\n" + PREFERENCES.replace("1 bob", "# one more\n1 bob"),
        PREFERENCES.replace("\n", "\r\n"),
    ],
)
def test_five_columns(write: Any, text: str) -> None:
    qrels = read_qrels(write("p.txt", text))
    assert qrels.frame.columns == ["query_id", "doc_id", "grade", "iteration", "subgroup"]
    assert qrels.frame.rows() == ROWS
    assert not qrels.source.faults
    assert qrels.source.notes[0] == "read p.txt as TREC preferences: 3 judgments, 1 query, grades 0 1 2.5"
    assert "columns 2 and 3 name the judge and the part of the judge's preferences" in qrels.source.notes


@pytest.mark.parametrize(
    "text",
    [
        "1 0 0 71 1\n1 0 0 72 0\n1 1 0 71 0\n1 1 0 72 1\n",  # ids that are numbers
        "1 0 0 71 1\n1 0 0 72 0\n1 0 1 71 1\n1 0 1 73 0\n1 0 2 73 1\n1 0 2 74 0\n",  # a part for each pair
        "".join(f"1 {judge} 0 {doc} {doc % 2}\n" for judge in range(9) for doc in (71, 72)),  # many judges
        "1 0 0 d1 1\n1 0 0 d2 0\n1 0 0 d3 x\n1 0 0 44 0\n",  # a line that is wrong, an id that is a number
    ],
)
def test_numbers_throughout(write: Any, text: str) -> None:
    rows = [line.split() for line in text.splitlines()]
    qrels = read_qrels(write("p.txt", text))
    expected = [(q, doc, float(grade), judge, part) for q, judge, part, doc, grade in rows if grade != "x"]
    assert qrels.frame.rows() == expected
    assert len(qrels.source.faults) == text.count("x")


def test_prels_are_prels(write: Any) -> None:
    text = "".join(f"{query} 7{doc} {doc % 2} 1 0.5\n" for query in (1, 2) for doc in range(5))
    qrels = read_qrels(write("p.txt", text))
    assert qrels.frame.columns == ["query_id", "doc_id", "grade"]
    assert qrels.frame["doc_id"].to_list() == ["70", "71", "72", "73", "74"] * 2
    assert "prels" in qrels.source.notes[0]


def test_the_prels_and_preferences_of_others(data: Any) -> None:
    notes = {
        path: read_qrels(data / path).source.notes[0].partition(" as ")[2]
        for path in ("trec_eval/prefs.test", "trec_eval/prefs.comment.test", "qrels/prels.web.1-50.txt")
    }
    assert [note[:17].split(":")[0] for note in notes.values()] == [
        "TREC preferences", "TREC preferences", "TREC prels (query",
    ]  # fmt: skip


def test_a_comment_sign_inside_an_id_is_no_comment(data: Any) -> None:
    plain, commented = (read_qrels(data / "trec_eval" / name).frame for name in ("prefs.test", "prefs.comment.test"))
    differ = [(a, b) for a, b in zip(plain.rows(), commented.rows(), strict=True) if a != b]
    assert [(a[1], b[1]) for a, b in differ] == [("CR93E-10505", "CR93E-10505#37")]


def test_plain_qrels_with_a_column_more(write: Any) -> None:
    qrels = read_qrels(write("p.txt", "1 0 71 0 1\n1 0 72 2 1\n2 0 71 1 1\n"))
    assert qrels.frame["doc_id"].to_list() == ["71", "72", "71"]
    assert qrels.source.notes[1] == "3 lines have more than 4 columns: the rest is ignored"


def test_what_cannot_be_told(write: Any) -> None:
    with pytest.raises(InputError) as caught:
        read_qrels(write("p.txt", "1 0 0 71 1\n1 0 0 72 0\n1 1 0 71 0\n1 1 1 72 1\n"))
    assert str(caught.value) == (
        "p.txt: 5 columns, which may be TREC preferences (query judge part document grade) or qrels with a column more "
        "(query iteration document grade ...): leave out the column that is not used, or write a header: query_id doc_id grade"
    )


def test_preferences_are_no_run(write: Any) -> None:
    with pytest.raises(InputError) as caught:
        read_run(write("p.txt", PREFERENCES))
    assert str(caught.value) == (
        "p.txt: these are TREC preferences (5 columns: query judge part document grade), not a run; "
        "the order is QRELS RUN..."
    )


def test_a_line_that_is_short(write: Any) -> None:
    qrels = read_qrels(write("p.txt", PREFERENCES + "1 bob dC 1\n"))
    assert [fault.message for fault in qrels.source.faults] == [
        "p.txt line 4: 4 columns, a line of TREC preferences has 5 (query judge part document grade): '1 bob dC 1'"
    ]
