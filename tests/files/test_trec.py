"""TREC files: any whitespace, comments, blank lines; what is wrong is named by its line."""

from __future__ import annotations

from typing import Any

import pytest

from rankscope.errors import InputError
from rankscope.files import read_qrels, read_run

RUN = [("1", "d1", 2.5, 1), ("1", "d2", 1.0, 2), ("02", "d1", -0.5, 1)]
PLAIN = "1 Q0 d1 1 2.5 t\n1 Q0 d2 2 1.0 t\n02 Q0 d1 1 -0.5 t\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PLAIN, id="blanks"),
        pytest.param(PLAIN.rstrip("\n"), id="no newline at the end"),
        pytest.param(PLAIN.replace(" ", "\t"), id="tabs"),
        pytest.param(PLAIN.replace(" ", "  "), id="two blanks"),
        pytest.param(PLAIN.replace(" ", " \t "), id="blanks and tabs"),
        pytest.param(PLAIN.replace("\n", "\r\n"), id="carriage returns"),
        pytest.param(PLAIN.replace(" ", "\t").replace("\n", " \r\n"), id="tabs, blanks at the end, carriage returns"),
        pytest.param(PLAIN.replace("\n", "\n\n") + "\n\n", id="empty lines"),
        pytest.param(PLAIN.replace("\n", "\n   \n"), id="lines of blanks"),
        pytest.param("# a comment\n" + PLAIN, id="a comment first"),
        pytest.param(PLAIN.replace("\n", "\n# a comment, 1 Q0 d 1 2 t\n"), id="comments between"),
        pytest.param(PLAIN.replace("\n", "\n  # a comment after blanks\n"), id="comments after blanks"),
        pytest.param("\ufeff" + PLAIN, id="a byte order mark"),
        pytest.param("\ufeff# a comment\n" + PLAIN, id="a byte order mark and a comment"),
        pytest.param("  " + PLAIN.replace("\n", "  \n  "), id="blanks at both ends"),
        pytest.param(PLAIN.replace("1 2.5", "1  2.5"), id="two blanks on one line"),
        pytest.param(PLAIN.replace("1 -0.5", "1\t-0.5"), id="a tab on one line"),
        pytest.param(PLAIN.replace("02 Q0", "02 Q0 "), id="two blanks after Q0"),
        pytest.param(PLAIN.replace("02 Q0 d1", "02 \tQ0 d1"), id="blank and tab after a query"),
        pytest.param(PLAIN.replace("1 -0.5 t", "1 -0.5  t"), id="two blanks before a tag"),
        pytest.param(PLAIN.replace("Q0 d1 1 -0.5", "0 d1 1 -5e-1"), id="another spelling of a number"),
        pytest.param(PLAIN.replace(" ", "\v"), id="vertical tabs"),
    ],
)
def test_any_whitespace_gives_the_same_run(write: Any, text: Any) -> None:
    run = read_run(write("a.run", text))
    assert run.frame.rows() == RUN
    assert run.frame.columns == ["query_id", "doc_id", "score", "rank"]
    assert run.source.faults == ()
    assert run.source.notes[0] == "read a.run as a TREC run: 3 rows, 2 queries, tag t"
    skipped = sum(line.strip().startswith("#") for line in str(text).lstrip("\ufeff").splitlines())
    told = "skipped as a comment" in " ".join(run.source.notes[1:])
    assert told == bool(skipped) or isinstance(text, bytes)
    assert run.name == run.source.tag == "t"
    assert run.queries == ["1", "02"]
    lines = [line.strip("\ufeff \t\v\r") for line in text.split("\n")]
    rows = [number for number, line in enumerate(lines, 1) if line and not line.startswith("#")]
    assert run.source.line_of is not None
    assert [run.source.line_of(row) for row in range(3)] == rows


@pytest.mark.parametrize("deep", ["1 Q0 x  9 7.5 t", "1  Q0 x 9 7.5 t", "1 Q0 x 9 7.5  t", " 1 Q0 x 9 7.5 t", "1 Q0 x 9\t7.5 t", "1\tQ0 x 9 7.5 t", "1 Q0 x\t9 7.5 t", "1 Q0 \tx 9 7.5 t", "1 Q0 x 9 7.5 t\t"])  # fmt: skip
def test_a_line_that_differs_deep_in_a_file_does_not_shift_columns(write: Any, deep: Any) -> None:
    many = "".join(f"1 Q0 d{n} {n} {5000 - n} t\n" for n in range(5000))
    run = read_run(write("a.run", many + deep + "\n" + many))
    assert run.frame.row(5000) == ("1", "x", 7.5, 9)
    assert len(run.frame) == 10001


def test_tabs_within_a_line_of_spaces_are_columns(write: Any) -> None:
    # six columns by spaces, seven by whitespace: the fifth is the score
    run = read_run(write("a.run", PLAIN + "3\tQ0 d 1 2.5 t u\n" + "3 Q0\td 1 2.5 t u\n"))
    assert run.frame.rows()[3:] == [("3", "d", 2.5, 1)] * 2
    run = read_run(write("a.run", PLAIN + "3\tQ0 d 1 2.5 9\n"))
    assert run.frame.rows()[3:] == [("3", "d", 2.5, 1)]


def test_numbers(write: Any) -> None:
    scores = ["nan", "NaN", "inf", "-inf", "1e3", "+1.5", "-0", "1E-400", ".5"]
    text = "".join(f"1 Q0 d{n} 1 {score} t\n" for n, score in enumerate(scores))
    run = read_run(write("a.run", text))
    assert [str(x) for x in run.frame["score"].to_list()] == [str(float(x)) for x in scores]
    assert run.nan_rows.tolist() == [0, 1]
    assert run.source.faults == ()


def test_what_is_wrong_is_named_by_line(write: Any) -> None:
    text = "# c\n\n1 Q0 d 1 2.0 t\r\n1\tQ0 e  2 1.0 t\n301 Q0 FT911-3 7 12.4\n1 Q0 x 1 abc t\n \n1\n1 Q0 f 3 0.5 t\n"
    run = read_run(write("a.run", text))
    assert [(fault.kind, fault.line, fault.message) for fault in run.source.faults] == [
        ("columns", 5, "a.run line 5: 5 columns, a TREC run line has 6 (query Q0 document rank score tag): '301 Q0 FT911-3 7 12.4'"),
        ("number", 6, "a.run line 6: score 'abc' is not a number"),
        ("columns", 8, "a.run line 8: 1 column, a TREC run line has 6 (query Q0 document rank score tag): '1'"),
    ]  # fmt: skip
    assert run.frame["doc_id"].to_list() == ["d", "e", "f"]
    assert [run.source.at(row) for row in range(3)] == ["a.run line 3", "a.run line 4", "a.run line 9"]
    assert run.source.notes == (
        "read a.run as a TREC run: 3 rows, 1 query, tag t",
        "1 line that begins with # skipped as a comment",
        "left out 3 faulty rows",
    )


def test_many_faults_are_counted(write: Any) -> None:
    run = read_run(write("a.run", PLAIN * 1000 + "1 Q0 e 2 x t\n" * 1234))
    assert len(run.source.faults) == 21
    assert run.source.faults[0].message == "a.run line 3,001: score 'x' is not a number"
    assert run.source.faults[-1].message == "a.run: 1,214 more faulty rows, 1,234 in all"
    assert run.source.notes[-1] == "left out 1,234 faulty rows"
    assert len(run.frame) == 3000


def test_first_line_short(write: Any) -> None:
    run = read_run(write("a.run", "1 Q0 d 1\n" + PLAIN))
    assert run.frame.rows() == RUN
    assert run.source.faults[0].line == 1


def test_more_columns_are_ignored_and_counted(write: Any) -> None:
    run = read_run(write("a.run", PLAIN + "2 Q0 d 1 2.0 t more of it\n"))
    assert run.frame.row(3) == ("2", "d", 2.0, 1)
    assert run.source.notes[1] == "1 line has more than 6 columns: the rest is ignored"


@pytest.mark.parametrize(
    ("read", "line", "columns"),
    [
        pytest.param(read_run, "2 Q0 my doc 1 2.5 t", 7, id="a blank in a document"),
        pytest.param(read_run, "2 Q0 doc 3 1 2.5 t", 7, id="a number after a blank in a document"),
        pytest.param(read_run, "2 Q0 a 1 2 3.5 t", 7, id="two ways to read it"),
        pytest.param(read_run, "a query Q0 d 1 2.5 t", 7, id="a blank in a query"),
        pytest.param(read_run, "2 Q0 one two three 1 2.5 t", 8, id="two blanks in a document"),
        pytest.param(read_run, "2\tQ0\tmy doc\t1\t2.5\tt", 7, id="a blank among tabs"),
        pytest.param(read_qrels, "2 0 my doc 1", 5, id="a blank in a judged document"),
        pytest.param(read_qrels, "2 0 doc 3 1", 5, id="a number after a blank in a judged document"),
    ],
)
def test_a_blank_within_an_id_is_a_fault(write: Any, read: Any, line: str, columns: int) -> None:
    plain = PLAIN if read is read_run else "1 0 d1 1\n1 0 d2 0\n2 0 d1 1\n"
    table = read(write("a", plain + line + "\n"))
    assert len(table.frame) == 3
    (fault,) = table.source.faults
    assert fault.message.startswith(f"a line 4: {columns} columns, a TREC ")
    assert fault.message.endswith("; is there a blank within an id?")


def test_a_run_that_may_begin_a_column_later_is_not_read(write: Any) -> None:
    """Of every line: what stands where the score should may be the rank, and the tag the score."""
    with pytest.raises(
        InputError, match=r"a.run line 1: 7 columns, .* within an id\? \(2 such lines, and no good one\)"
    ):
        read_run(write("a.run", "1 Q0 doc 1 2 3.0 t\n1 Q0 doc 2 1 4.0 t\n"))


@pytest.mark.parametrize(
    ("read", "lines"),
    [
        pytest.param(read_run, ["1 Q0 my doc 1 2.5 t", "1 Q0 d2 2 1.5 t"], id="run"),
        pytest.param(read_run, ["1 Q0 doc 1 2 3.0 t", "1 Q0 d2 1 4.0 t"], id="run with a number after the blank"),
        pytest.param(read_qrels, ["1 0 my doc 1", "1 0 d2 2"], id="qrels"),
    ],
)
def test_of_two_widths_as_common_the_usual_one_counts(write: Any, read: Any, lines: list[str]) -> None:
    table = read(write("a", "\n".join(lines) + "\n"))
    assert table.frame["doc_id"].to_list() == ["d2"]
    assert [fault.line for fault in table.source.faults] == [1]
    assert table.source.faults[0].message.endswith("; is there a blank within an id?")


def test_a_seventh_column_of_every_line_is_ignored(write: Any) -> None:
    run = read_run(write("a.run", PLAIN.replace(" t", " t 7")))
    assert (run.frame.rows(), run.source.faults) == (RUN, ())
    assert run.source.notes[1] == "3 lines have more than 6 columns: the rest is ignored"
    run = read_run(write("a.run", PLAIN.replace(" t", " t 7") + "3 Q0 my doc 1 2.5 t 7\n"))
    assert [fault.line for fault in run.source.faults] == [4]


@pytest.mark.parametrize("blank", ["\f", "\v", "\r", " \f", "\t"])
@pytest.mark.parametrize("tags", ["tt", "tu"], ids=["one tag", "two tags"])
def test_any_blank_parts_columns_wherever_it_stands(write: Any, blank: str, tags: str) -> None:
    text = "".join(f"q{n} Q0 d{n} 1 {n} {tags[n % 2]}\n" for n in range(50))
    wrong = f"q7 Q0 a{blank}b 1 2 t\n"
    assert [fault.line for fault in read_run(write("a", text + wrong + text)).source.faults] == [51]
    sound = f"q7{blank}Q0 ab 1 2{blank}t\n"
    assert read_run(write("a", text + sound + text)).frame.row(50) == ("q7", "ab", 2.0, 1)


def test_ranks_that_are_no_whole_numbers_leave_the_column_out(write: Any) -> None:
    run = read_run(write("a.run", PLAIN + "2 Q0 d 1.5 2.0 t\n"))
    assert run.frame.columns == ["query_id", "doc_id", "score"]
    assert len(run.frame) == 4
    assert run.source.notes[1] == "the rank column is left out: 1 row has no whole number in it"


def test_several_tags(write: Any) -> None:
    run = read_run(write("a.run", PLAIN + "2 Q0 d 1 2.0 u\n"))
    assert run.name == "u"
    assert run.source.notes[1] == "2 tags (t and u): the last line's, u, names the run"


def test_names(write: Any) -> None:
    assert read_run(write("a.run", PLAIN), name="mine").name == "mine"


def test_qrels(write: Any) -> None:
    qrels = read_qrels(write("q.txt", "1 0 d1 1\n1 3 d2 -2\n2 0 d1 0.5\n"))
    assert qrels.frame.rows() == [("1", "d1", 1.0, "0"), ("1", "d2", -2.0, "3"), ("2", "d1", 0.5, "0")]
    assert qrels.frame.columns == ["query_id", "doc_id", "grade", "iteration"]
    assert qrels.source.notes == ("read q.txt as TREC qrels: 3 judgments, 2 queries, grades -2 0.5 1",)


def test_faults_of_qrels(write: Any) -> None:
    qrels = read_qrels(write("q.txt", "1 0 d 1\n1 0 e x\n1 0\n2 0 e nan\n3 0 e 2\n"))
    assert [fault.message for fault in qrels.source.faults] == [
        "q.txt line 2: grade 'x' is not a number",
        "q.txt line 3: 2 columns, a TREC qrels line has 4 (query iteration document grade): '1 0'",
        "q.txt line 4: grade 'nan' is not a number",
    ]
    assert qrels.source.at(1) == "q.txt line 5"


def test_many_grades_are_a_range(write: Any) -> None:
    text = "".join(f"1 0 d{n} {n / 10}\n" for n in range(20))
    assert read_qrels(write("q", text)).source.notes[0].endswith("20 different grades from 0 to 1.9")


def test_prels(write: Any) -> None:
    qrels = read_qrels(write("p.txt", "1 d1 0 0 1\n1 d2 2 1 0.5\n1 d3 0 1 0.25\n"))
    assert qrels.frame.rows() == [("1", "d1", 0.0), ("1", "d2", 2.0), ("1", "d3", 0.0)]
    assert qrels.source.notes[1] == "columns 4 and 5 (sampling method, inclusion probability) are not used"


def test_a_fifth_column_of_plain_qrels_is_ignored(write: Any) -> None:
    qrels = read_qrels(write("p.txt", "1 0 7 0 1\n1 0 8 2 0.5\n1 0 9 0 0.25\n"))
    assert qrels.frame["doc_id"].to_list() == ["7", "8", "9"]
    assert qrels.source.notes[1] == "3 lines have more than 4 columns: the rest is ignored"


def test_ms_marco(write: Any) -> None:
    run = read_run(write("m.tsv", "1\t05\t1\n1\t6\t2\n2\t6\t1\n"))
    assert run.frame.rows() == [("1", "05", -1.0, 1), ("1", "6", -2.0, 2), ("2", "6", -1.0, 1)]
    assert run.source.notes[1] == "no scores: the third column is taken as the rank, and the score is -rank"
    assert run.name == "m"
    qrels = read_qrels(write("q.tsv", "1\t05\t1\n1\t6\t2\n"))
    assert qrels.frame.rows() == [("1", "05", 1.0), ("1", "6", 2.0)]
    assert qrels.source.notes[1] == "no header and 3 columns: taken as query, document, grade"


def test_the_last_line_tells_the_columns_also_where_it_does_not_end(write: Any) -> None:
    assert read_qrels(write("q", "q 0 d 1 x\n1 d1 1\n1 d2 1")).frame["doc_id"].to_list() == ["d1", "d2"]
    with pytest.raises(InputError, match="does not count 1, 2, 3"):
        read_run(write("m", "1 d 1\n1 e 1"))


ORDER = "the order is QRELS RUN..."


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        pytest.param(read_qrels, PLAIN, f"a: this is a TREC run (6 columns: query Q0 document rank score tag), not qrels; {ORDER}", id="a run for qrels"),
        pytest.param(read_run, "1 0 d 1\n", f"a: these are TREC qrels (4 columns: query iteration document grade), not a run; {ORDER}", id="qrels for a run"),
        pytest.param(read_run, "1 Q0 d 1 2.5\n" * 2, "a line 1: 5 columns, a TREC run line has 6 (query Q0 document rank score tag): '1 Q0 d 1 2.5' (2 such lines, and no good one)", id="five columns"),
        pytest.param(read_run, "hello world\n", "a: not a run: most lines have 2 columns, like 'hello world'; a TREC run has lines like '301 Q0 FT911-3 1 12.4 bm25'", id="words for a run"),
        pytest.param(read_qrels, "hello\n", "a: not qrels: most lines have 1 column, like 'hello'; TREC qrels have lines like '301 0 FT911-3 1'", id="words for qrels"),
        pytest.param(read_run, "\n#\n", "a: no rows, only blank lines or comments; a TREC run has lines like '301 Q0 FT911-3 1 12.4 bm25'", id="comments alone"),
        pytest.param(read_run, "1 d 10\n1 e 9\n", "a: 3 columns, but the third does not count 1, 2, 3 within a query, as in an MS MARCO run (query document rank); a TREC run line has 6 (query Q0 document rank score tag), or write a header: query_id doc_id score", id="no ranks in the third column"),
        pytest.param(read_run, PLAIN.replace("\n", "\r"), "a: lines end in a lone carriage return (old Mac): run tr '\\r' '\\n' on the file", id="old Mac line ends"),
        pytest.param(read_run, PLAIN.encode() + b"1 Q0 \xe9 1 1 t\n", "a line 4: not UTF-8 text: b'1 Q0 \\xe9 1 1 t'; write the file as UTF-8 (iconv -f latin1 -t utf-8, if it is Latin-1)", id="Latin-1"),
        pytest.param(read_run, b"1\x00", "a: not a text file (it holds zero bytes)", id="zero bytes"),
    ],
)  # fmt: skip
def test_what_leaves_no_table(write: Any, read: Any, text: Any, message: Any) -> None:
    with pytest.raises(InputError) as caught:
        read(write("a", text))
    assert str(caught.value) == message
