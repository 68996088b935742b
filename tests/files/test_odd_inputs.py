"""Odd inputs: keys that come twice, arrays and views, paths that are none, ids that are no ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.files import qrels_of, read_qrels, read_run, run_of


def file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_json_keys_that_come_twice_are_kept(tmp_path: Path) -> None:
    queries = file(tmp_path, "a.json", '{"q1": {"d1": 1}, "q2": {"d3": 1}, "q1": {"d2": 2}}')
    rows = [("q1", "d1", 1.0), ("q1", "d2", 2.0), ("q2", "d3", 1.0)]
    assert read_run(queries).frame.rows() == rows
    assert read_qrels(queries).frame.rows() == rows
    docs = file(tmp_path, "b.json", '{"q1": {"d1": 1, "d1": 2, "d2": 0}}')
    twice = read_qrels(docs)
    assert twice.frame.rows() == [("q1", "d1", 1.0), ("q1", "d1", 2.0), ("q1", "d2", 0.0)]
    assert list(twice.repetitions) == [1]
    with pytest.raises(InputError, match="document d1 of query q1 is judged twice"):
        rs.evaluate(docs, {"q1": {"d1": 1.0}}, "P@1")
    with pytest.raises(InputError, match="document d1 of query q1 is ranked twice"):
        rs.evaluate({"q1": {"d1": 1}}, docs, "P@1")


def test_json_lists_of_one_query(tmp_path: Path) -> None:
    lists = file(tmp_path, "a.json", '{"q": ["a", "b"], "q": ["c"]}')
    assert read_qrels(lists).frame["doc_id"].to_list() == ["a", "b", "c"]
    with pytest.raises(InputError, match="query 'q' is there twice; put its documents into one list"):
        read_run(lists)
    deep = file(tmp_path, "b.json", '{"q": ' + "[" * 200_000)
    with pytest.raises(InputError, match=r"nested too deeply|not JSON"):
        read_run(deep)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"qid": "q", "doc_id": 1.5, "score": 1}', r"line 2: doc_id is 1.5, not an id"),
        ('{"qid": 2.5, "doc_id": "d", "score": 1}', r"line 2: qid is 2.5, not an id"),
        ('{"qid": "q", "doc_id": true, "score": 1}', r"line 2: doc_id is True, not an id"),
        ('{"qid": "q", "doc_id": ["d"], "score": 1}', r"line 2: doc_id is \['d'\], not an id"),
    ],
)
def test_jsonl_ids_are_ids(tmp_path: Path, line: str, said: str) -> None:
    path = file(tmp_path, "a.jsonl", '{"qid": "q", "doc_id": "2405.1", "score": 2}\n' + line + "\n")
    with pytest.raises(InputError, match=said):
        read_run(path)


def test_jsonl_ids_that_look_like_numbers(tmp_path: Path) -> None:
    text = '{"qid": 1, "doc_id": "2405.10", "score": 2}\n{"qid": 1.0, "doc_id": "true", "score": 1}\n'
    run = read_run(file(tmp_path, "a.jsonl", text))
    assert run.frame.rows() == [("1", "2405.10", 2.0), ("1", "true", 1.0)]


def test_arrays_and_views_are_rankings() -> None:
    rows = [("q", "b", -1.0), ("q", "a", -2.0)]
    rankings: list[Any] = [np.array(["b", "a"]), np.array(["b", "a"], dtype=object), {"b": 0, "a": 0}.keys()]
    for ranking in rankings:
        assert run_of({"q": ranking}).frame.select("query_id", "doc_id", "score").rows() == rows
        for runs in ({"q": ranking}, {"mine": {"q": ranking}}):
            assert "0.5" in str(rs.evaluate({"q": {"a": 1}}, runs, "RR@5"))
    assert run_of({1: np.array([3, 2])}).frame["doc_id"].to_list() == ["3", "2"]
    assert qrels_of({"q": np.array(["b", "a"])}).frame["grade"].to_list() == [1, 1]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ((d for d in "ab"), "query 'q' has a generator, which can be read only once: make it a list"),
        (np.array("a"), "query 'q' has an array of 0 dimensions"),
        (np.array([["a"]]), "query 'q' has an array of 2 dimensions"),
        (b"ab", "query 'q' has b'ab'"),
    ],
)
def test_what_is_no_ranking(value: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        run_of({"q": value})


@pytest.mark.parametrize(("read", "what"), [(read_run, "a run"), (read_qrels, "qrels")])
def test_paths_that_are_none(read: Any, what: str) -> None:
    for path, kind in ((None, "NoneType"), (5, "int"), (b"x", "bytes")):
        with pytest.raises(InputError, match=f"{what} cannot be read from {kind}; taken are a path, a dict"):
            read(path)
    with pytest.raises(InputError, match="the path is empty"):
        read("")


def test_infinite_scores_are_told(tmp_path: Path) -> None:
    run = read_run(file(tmp_path, "a.run", "q Q0 a 1 1e999 t\nq Q0 b 2 1 t\nq Q0 c 3 -1e999 t\n"))
    assert "2 scores are infinite" in run.source.notes
    assert not any("infinite" in note for note in run_of({"q": {"a": 1.0}}).source.notes)


NUMBERS = ["1e3", " 2.5", "+1", ".5", "inf", "7."]
NO_NUMBERS = ["1_000", "\u0661", "0x10", "1,5", "", "true", "1e", "NaN(1)"]


@pytest.mark.parametrize(
    "text", [*NUMBERS, *NO_NUMBERS], ids=lambda text: repr(text) if text.isascii() else "an Arabic digit"
)
def test_one_rule_tells_numbers_in_every_format(tmp_path: Path, text: str) -> None:
    quoted = '"' + text.replace("\u0661", "\\u0661") + '"'
    files = [
        file(tmp_path, "a.csv", f'qid,docid,score\n"q","d","{text}"\nq,e,1\n'),
        file(tmp_path, "a.tsv", f"qid\tdocid\tscore\nq\td\t{text}\nq\te\t1\n"),
        file(tmp_path, "a.jsonl", f'{{"qid": "q", "docid": "d", "score": {quoted}}}\n{{"qid": "q", "docid": "e", "score": 1}}\n'),
        file(tmp_path, "a.json", f'{{"q": {{"d": {quoted}, "e": 1}}}}'),
    ]  # fmt: skip
    if text and text.split() == [text]:
        files.append(file(tmp_path, "a.run", f"q Q0 d 1 {text} t\nq Q0 e 2 1 t\n"))
    for path in files:
        rows = read_run(path).frame.select("doc_id", "score").rows()
        assert rows == ([("d", float(text)), ("e", 1.0)] if text in NUMBERS else [("e", 1.0)]), path.name


def test_true_and_false_are_numbers_in_json(tmp_path: Path) -> None:
    rows = [("q", "d", 1.0), ("q", "e", 0.0)]
    assert read_qrels(file(tmp_path, "a.json", '{"q": {"d": true, "e": false}}')).frame.rows() == rows
    lines = '{"qid": "q", "docid": "d", "grade": true}\n{"qid": "q", "docid": "e", "grade": false}\n'
    assert read_qrels(file(tmp_path, "a.jsonl", lines)).frame.rows() == rows


@pytest.mark.parametrize("half", ["\\ud800", "\\udc00", "a\\ud83dx", "\\ud83d\\ud83d", "\\ude00\\ud83d"])
def test_half_a_character_is_no_id(tmp_path: Path, half: str) -> None:
    said = "holds half of a character"
    for name, text in (
        ("a.json", f'{{"q": {{"{half}": 1}}}}'),
        ("b.json", f'{{"{half}": {{"d": 1}}}}'),
        ("a.jsonl", f'{{"qid": "q", "docid": "{half}", "score": 1}}\n'),
        ("b.jsonl", f'{{"qid": "{half}", "docid": "d", "score": 1}}\n'),
    ):
        with pytest.raises(InputError, match=said):
            read_run(file(tmp_path, name, text))
    with pytest.raises(InputError, match=said):
        run_of({"q": {"\ud800": 1}})


def test_a_whole_character_in_two_halves_is_one(tmp_path: Path) -> None:
    text = '{"qid": "q", "docid": "\\ud83d\\ude00", "score": 1}\n'
    assert read_run(file(tmp_path, "a.jsonl", text)).frame["doc_id"].to_list() == ["\U0001f600"]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param('{"qid": "q", "docid": "d", "score": 1, "score": 2}', id="a score"),
        pytest.param('{"qid": "q", "docid": "d", "docid": "d", "score": 1}', id="the same document"),
        pytest.param('{"qid": "q", "docid": "d", "score": 1, "\\u0073core": 2}', id="one that is escaped"),
    ],
)
@pytest.mark.parametrize("other", ["", "{bad\n"], ids=["alone", "with a line that is none"])
def test_a_key_that_is_used_comes_once(tmp_path: Path, line: str, other: str) -> None:
    good = '{"qid": "q", "docid": "a", "score": 1, "note": 1, "note": 2}\n'
    run = read_run(file(tmp_path, "a.jsonl", good + line + "\n" + other))
    assert "comes twice in one object" in run.source.faults[0].message
    assert run.source.faults[0].line == 2
    assert run.frame["doc_id"].to_list() == ["a"]


def test_a_query_may_be_called_as_parquet_begins(tmp_path: Path) -> None:
    assert read_run(file(tmp_path, "a.run", "PAR1 Q0 d 1 2 t\nPAR12 Q0 d 1 1 t\n")).queries == ["PAR1", "PAR12"]


def test_grades_by_subtopic_are_not_nested_deeper(tmp_path: Path) -> None:
    deeper = read_qrels(file(tmp_path, "a.json", '{"q": {"d": {"s": 1}, "e": {"t": {"u": 2}}}}'))
    assert [fault.message.partition(": ")[2] for fault in deeper.source.faults] == [
        "query 'q', document 'e': grade {'u': 2} is not a number"
    ]
    twice = read_qrels(file(tmp_path, "b.json", '{"q": {"d": {"s": 1}, "d": {"s": 2}}}'))
    assert twice.frame["grade"].to_list() == [1.0, 2.0]


def test_a_byte_order_mark_stands_at_the_beginning_alone(tmp_path: Path) -> None:
    mark, good = "\ufeff", '{"qid": "q", "docid": "d", "score": 1}\n'
    run = read_run(file(tmp_path, "a.jsonl", mark + good + mark + good))
    assert [(fault.kind, fault.line) for fault in run.source.faults] == [("json", 2)]
    assert len(run.frame) == 1


def test_the_first_fault_in_the_file_is_told_first(tmp_path: Path) -> None:
    """Also where it is of another kind than a later one, and no row is good."""
    with pytest.raises(InputError, match="line 2: no query_id"):
        read_qrels(file(tmp_path, "a.csv", "query_id,doc_id,grade,note\n,d2,1,b\nq1,d1,1,x,y\n"))
