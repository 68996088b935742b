"""CSV, TSV, JSON lines, JSON and Parquet: columns by their usual names."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rankscope.errors import InputError
from rankscope.files import read_qrels, read_run

ORDER = "the order is QRELS RUN..."
RUN_TABLE = "a run table has the columns query_id, doc_id and score (or rank)"
QRELS_TABLE = "a qrels table has the columns query_id, doc_id and grade"


def messages(table: Any) -> list[str]:
    return [fault.message for fault in table.source.faults]


def no(read: Any, name: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(name)
    return str(caught.value)


@pytest.mark.parametrize("query", ["query_id", "qid", "q_id", "query-id", "Query", "topic", "user_id", "user"])
@pytest.mark.parametrize("doc", ["doc_id", "docid", "DOCNO", "corpus-id", "corpus_id", "item_id", "item"])
def test_usual_names(write: Any, query: Any, doc: Any) -> None:
    run = read_run(write("a.csv", f"{query},other,{doc},score\n01,x,d1,1.5\n2,,d2,-inf\n"))
    assert run.frame.rows() == [("01", "d1", 1.5), ("2", "d2", float("-inf"))]
    assert run.source.notes == ("read a.csv as a CSV run: 2 rows, 2 queries", "1 score is infinite")


@pytest.mark.parametrize("grade", ["grade", "relevance", "rel", "label", "Rating"])
def test_usual_names_of_grades(write: Any, grade: Any) -> None:
    qrels = read_qrels(write("a.csv", f"qid,docid,{grade},subtopic\n01,d1,1.5,3\n"))
    assert qrels.frame.rows() == [("01", "d1", 1.5, "3")]
    assert qrels.frame.columns == ["query_id", "doc_id", "grade", "iteration"]


@pytest.mark.parametrize("name", ["test.tsv", "test.txt", "test", "test.tsv.gz", "test.tsv.zst"])
def test_beir(write: Any, name: Any) -> None:
    qrels = read_qrels(write(name, 'query-id\tcorpus-id\tscore\n01\td"1\t1\n01\td2\t0\n'))
    assert qrels.frame.rows() == [("01", 'd"1', 1.0), ("01", "d2", 0.0)]
    assert qrels.source.notes == (
        f"read {name} as TSV qrels: 2 judgments, 1 query, grades 0 1",
        "no grade column: score is taken as the grade",
    )


def test_separator_by_content(write: Any) -> None:
    assert read_run(write("a.csv", "qid;docid;score\n1;d;2\n")).frame.rows() == [("1", "d", 2.0)]
    assert read_run(write("b.csv", "qid\tdocid\tscore\n1\td\t2\n")).frame.rows() == [("1", "d", 2.0)]
    assert read_run(write("c.tsv", "1 Q0 d 1 2.0 t\n")).frame.rows() == [("1", "d", 2.0, 1)]
    assert read_run(write("d.csv", "\ufeffqid,docid,score\r\n1,d,2\r\n")).frame.rows() == [("1", "d", 2.0)]


def test_rank_only(write: Any) -> None:
    run = read_run(write("a.csv", "qid,docid,rank\n1,d,1\n1,e,2\n"))
    assert run.frame.rows() == [("1", "d", -1.0, 1), ("1", "e", -2.0, 2)]
    assert run.source.notes[1] == "no score column: the score is -rank"
    run = read_run(write("a.csv", "qid,docid,rank,score\n1,d,1,7\n1,e,x,6\n"))
    assert run.frame.rows() == [("1", "d", 7.0), ("1", "e", 6.0)]
    assert run.source.notes[1] == "the rank column is left out: it does not hold a whole number in every row"


def test_two_columns_for_one_thing(write: Any) -> None:
    run = read_run(write("a.csv", "query,qid,docid,score\nsome text,1,d,2\n"))
    assert run.frame.rows() == [("1", "d", 2.0)]
    assert run.source.notes[1] == "columns qid and query could all be the query_id: qid is used"


def test_the_run_column_names_the_run(write: Any) -> None:
    run = read_run(write("a.csv", "qid,docid,score,run\n1,d,2,bm25\n"))
    assert run.name == run.source.tag == "bm25"
    assert no(read_run, write("a.csv", "qid,docid,score,run\n1,d,2,a\n1,d,2,b\n")) == (
        "a.csv: column run names 2 runs (a and b); a run table holds one: split it by run, or drop the column"
    )


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_faults_of_csv(write: Any, end: Any) -> None:
    text = 'query_id,doc_id,score\n01,d1,1.5\n\n2,"d,2",x\n"3","d\n3",4\n,d,1\n5,d,\n6,e,nan\n7,e,3,000\n8\n9,"e ""q""",2\n'
    run = read_run(write("a.csv", text.replace("\n", end)))
    assert [tuple(map(str, row)) for row in run.frame.rows()] == [
        ("01", "d1", "1.5"), ("6", "e", "nan"), ("9", 'e "q"', "2.0"),
    ]  # fmt: skip
    assert messages(run) == [
        "a.csv line 4: score 'x' is not a number",
        "a.csv line 5: an id that runs over several lines: is a quote left open?",
        "a.csv line 7: no query_id (column query_id is empty)",
        "a.csv line 8: no score (column score is empty)",
        "a.csv line 10: more columns than the header, which has 3; put quotes around an id with a comma",
        "a.csv line 11: 1 column, the header has 3",
    ]
    assert [run.source.at(row) for row in range(3)] == ["a.csv line 2", "a.csv line 9", "a.csv line 12"]
    assert [fault.line for fault in run.source.faults] == [4, 5, 7, 8, 10, 11]


def test_many_faults_of_csv_are_counted(write: Any) -> None:
    run = read_run(write("a.csv", "qid,docid,score\n1,d,2\n" + "1,d,x\n" * 100))
    assert messages(run)[-1] == "a.csv: 80 more faulty rows, 100 in all"


@pytest.mark.parametrize(
    ("read", "name", "text", "message"),
    [
        (read_run, "a.csv", "a,b,c\nx,y,z\n", f"no column for query_id, doc_id and score among a, b and c; {RUN_TABLE}; name it, like columns='a=query_id'"),
        (read_run, "a.csv", "1,d,3\n", f"no column for query_id, doc_id and score among 1, d and 3; {RUN_TABLE}; is the header line missing?"),
        (read_run, "a.tsv", "foo\tbar\n", f"no column for query_id, doc_id and score among foo and bar; {RUN_TABLE}; name it, like columns='foo=query_id'"),
        (read_run, "a.csv", "qid,docid,grade\n1,d,3\n", f"no column for score among qid, docid and grade; {RUN_TABLE}; a grade belongs to qrels: {ORDER}"),
        (read_qrels, "a.csv", "qid,docid,rank\n1,d,3\n", f"no column for grade among qid, docid and rank; {QRELS_TABLE}; a rank belongs to a run: {ORDER}"),
        (read_run, "a.csv", "qid,docid,score\n", "a header and no rows"),
        (read_run, "a.json", '{"schema": "rankscope/evaluate/1",\n"results": []}', "a result of rankscope evaluate, not a run; give the file it was made from"),
        (read_run, "a.json", "[1]", "a JSON array; a run as a dict is {query: {document: score}} or {query: [document, ...]} in rank order, or one object per line (jq -c '.[]' turns an array into lines)"),
        (read_run, "a.parquet", "1 2 3", "named like a Parquet file, but does not begin like one (PAR1)"),
    ],
)  # fmt: skip
def test_what_leaves_no_table(write: Any, read: Any, name: Any, text: Any, message: Any) -> None:
    assert no(read, write(name, text)) == f"{name}: {message}"


def test_a_table_of_faults_only(write: Any) -> None:
    assert no(read_run, write("a.csv", "qid,docid,score\n1,d,x\n1,e,y\n")) == (
        "a.csv line 2: score 'x' is not a number (2 such rows, and no good one)"
    )
    assert no(read_run, write("a.csv", b"qid,docid,score\n1,\xe9,1\n")).startswith("a.csv line 2: not UTF-8 text: ")


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.txt", "a.jsonl.gz", "a.jsonl.zst"])
def test_json_lines(write: Any, name: Any) -> None:
    text = '{"query_id": 1, "doc_id": "01", "score": 2.5}\n\n{"score": 1, "doc_id": "\\u00e9", "query_id": "02"}\n'
    run = read_run(write(name, text))
    assert run.frame.rows() == [("1", "01", 2.5), ("02", "é", 1.0)]
    assert run.source.notes == (f"read {name} as a JSONL run: 2 rows, 2 queries",)
    assert run.source.at(1) == f"{name} line 3"


def test_faults_of_json_lines(write: Any) -> None:
    good = '{"query-id": "1", "corpus-id": "d", "score": 1}\n'
    bad = '{"query-id": "1", "corpus-id": "d", "score": "x"}\n{bad\n\n{"corpus-id": "d", "score": 1}\n[1]\n'
    qrels = read_qrels(write("a.jsonl", good + bad + good))
    assert messages(qrels) == [
        "a.jsonl line 2: grade 'x' is not a number",
        "a.jsonl line 3: not a JSON object: '{bad'",
        "a.jsonl line 5: no query_id (column query-id is empty)",
        "a.jsonl line 6: not a JSON object: '[1]'",
    ]
    assert qrels.source.at(1) == "a.jsonl line 7"
    assert no(read_run, write("a.jsonl", "{bad\n")) == (
        "a.jsonl line 1: not a JSON object: '{bad'; JSONL has one object per line"
    )


def test_json(write: Any) -> None:
    assert read_run(write("a.json", '{"01": {"d": 2, "e": 1}, "2": {}}')).frame.rows() == [
        ("01", "d", 2.0),
        ("01", "e", 1.0),
    ]
    qrels = read_qrels(write("a.json", '{\n"01": {"d": 2}, "2": []}'))
    assert qrels.queries == ["01", "2"]
    assert qrels.source.notes[0] == "read a.json as JSON qrels: 1 judgment, 1 query, grades 2"
    assert no(read_run, write("b.json", '{"01":\n')) == "b.json line 2: not JSON (Expecting value)"


def test_parquet(write: Any) -> None:
    frame = pl.DataFrame(
        {"qid": [1, 2, 3], "docid": ["a", "b", None], "score": [1.0, None, 2.0], "run": ["x", "x", None]}
    )
    frame.write_parquet(write("a.parquet", ""))
    run = read_run("a.parquet")
    assert run.frame.rows() == [("1", "a", 1.0)]
    assert run.name == "x"
    assert messages(run) == ["a.parquet row 2: no score (column score is empty)", "a.parquet row 3: no doc_id (column docid is empty)"]  # fmt: skip
    assert run.source.notes[0] == "read a.parquet as a Parquet run: 1 row, 1 query, tag x"
    whole = Path("a.parquet").read_bytes()
    Path("b").write_bytes(whole)
    Path("c.pq.gz").write_bytes(gzip.compress(whole))
    assert read_run("b").frame.equals(run.frame)
    assert read_run("c.pq.gz").frame.equals(run.frame)
    Path("b.parquet").write_bytes(whole[:-20])
    assert no(read_run, "b.parquet").startswith("b.parquet: not a whole Parquet file (")


QUOTES = 'a cell in quotes begins and ends with one, and a quote within it is written twice ("")'
LEFT_OPEN, STRAY = f"a quote is opened and never closed; {QUOTES}", f"a double quote in a wrong place; {QUOTES}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param('qid,docid,score\n1,"d,2\n', f"a.csv line 2: {LEFT_OPEN}", id="a quote left open"),
        pytest.param('qid,docid,score\n1,d,2\n\n1,"d\n2",2\n1,"e,2\n', f"a.csv line 6: {LEFT_OPEN}", id="a quote left open after others"),
        pytest.param('qid,docid,score\n"q1","d1","2"\n"q1","d2","1"6"6"\n', f"a.csv line 3: {STRAY}", id="cells that are glued"),
        pytest.param('qid,docid,score\n1,d"x"y,2\n', f"a.csv line 2: {STRAY}", id="quotes within a cell that has none"),
        pytest.param('qid,docid,score\n1, "d",2\n', f"a.csv line 2: {STRAY}", id="a blank before a quote"),
        pytest.param('qid,docid,score\n1,"d" ,2\n', f"a.csv line 2: {STRAY}", id="a blank after a quote"),
        pytest.param('qid,"do"c"id",score\n1,d,2\n', "a.csv line 1: unsound quotes in the header", id="glued cells in the header"),
    ],
)  # fmt: skip
def test_quotes_that_are_not_sound_are_refused_with_their_line(write: Any, text: str, message: str) -> None:
    assert no(read_run, write("a.csv", text)).startswith(message)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r\r\n"], ids=["plain ends", "Windows ends", "ends written twice"])
@pytest.mark.parametrize("sign", [",", ";", "\t"], ids=["commas", "semicolons", "tabs"])
@pytest.mark.parametrize("quote", ["", '"'], ids=["no quotes", "quotes"])
def test_every_row_has_the_cells_of_the_header_or_is_named(write: Any, sign: str, end: str, quote: str) -> None:
    rows = [
        ["query_id", "doc_id", "price", "grade"], ["q1", "d1", "1", "200"], ["q1", "d2", "1", "200", "2"], ["q1", "d3", "2"], ["", ""],
        ["", "d4", "1", "1"], ["q1", "d5", "7", "2"],
    ]  # fmt: skip
    text = end.join(sign.join(f"{quote}{cell}{quote}" if cell else "" for cell in row) for row in rows)
    qrels = read_qrels(write("a.tsv" if sign == "\t" else "a.csv", text))
    assert qrels.frame.rows() == [("q1", "d1", 200.0), ("q1", "d5", 2.0)]
    assert [fault.line for fault in qrels.source.faults] == [3, 4, 6]
    assert [qrels.source.at(row).rpartition(" ")[2] for row in (0, 1)] == ["2", "7"]
    assert messages(qrels)[1].endswith(" line 4: 3 columns, the header has 4")


def test_quoted_cells_hold_anything(write: Any) -> None:
    text = 'note,qid,docid,score\n"a, ""b""\nc",1,"d,1",2\n"",1,"say ""it""","3"\n,"2","",1\n'
    run = read_run(write("a.csv", text))
    assert run.frame.rows() == [("1", "d,1", 2.0), ("1", 'say "it"', 3.0)]
    assert [run.source.at(row) for row in range(2)] == ["a.csv line 2", "a.csv line 4"]
    assert messages(run) == ["a.csv line 5: no doc_id (column docid is empty)"]


def test_a_carriage_return_ends_no_line(write: Any) -> None:
    run = read_run(write("a.csv", "qid,docid,score\n1,d,2\n1,e\r,1\n"))
    assert messages(run) == ["a.csv line 3: a carriage return within the line, which ends no line"]
    assert "old Mac" in no(read_run, write("a.csv", "qid,docid,score\r1,d,2\r"))
