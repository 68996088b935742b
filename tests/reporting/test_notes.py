"""Notes and grades of readers: taken back as they were saved, refused in one line where they are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs

QRELS = {f"q{i}": {"a": 2, "b": 1} for i in range(6)}
RUNS = {"old": {q: {"b": 2.0, "a": 1.0} for q in QRELS}, "new": {q: {"a": 2.0, "b": 1.0} for q in QRELS}}
NOTES = {
    "schema": "rankscope/notes/1",
    "queries": [
        {"query_id": "q1", "note": "ambiguous </script>"},
        {"query_id": "not here", "note": "kept all the same"},
    ],
    "documents": [
        {"query_id": "q1", "doc_id": "x", "grade": 2, "note": "a good one"},
        {"query_id": "q2", "doc_id": "y", "grade": 0},
    ],
}


def marks(report: rs.Report) -> Any:
    explorer = report.page.explorer
    assert explorer is not None
    return json.loads(explorer.marks) if explorer.marks else None


def test_a_page_carries_the_notes_of_the_file_also_on_queries_that_it_does_not_have(tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    path.write_text(json.dumps(NOTES), encoding="utf-8")
    report = rs.report(QRELS, RUNS, "nDCG@5", notes=path)
    assert marks(report) == NOTES
    assert marks(rs.report(QRELS, RUNS, "nDCG@5", notes=NOTES)) == NOTES
    assert "ambiguous </script>" not in report.html
    assert "ambiguous \\u003c/script>" in report.html


def test_a_page_without_notes_carries_none() -> None:
    assert marks(rs.report(QRELS, RUNS, "nDCG@5")) is None


WRONG: dict[str, tuple[Any, str]] = {
    "no JSON": ("{", "no JSON"),
    "another schema": (
        {"schema": "rankscope/evaluate/1"},
        'not the notes of a report ("schema" is not "rankscope/notes/1")',
    ),
    "a list": ([], "not the notes of a report"),
    "queries that are no list": ({**NOTES, "queries": {}}, '"queries" is not a list'),
    "a query without an id": ({**NOTES, "queries": [{"note": "x"}]}, "an entry without query_id"),
    "a document without an id": ({**NOTES, "documents": [{"query_id": "q1"}]}, "an entry without query_id and doc_id"),
    "a grade that is text": (
        {**NOTES, "documents": [{"query_id": "q1", "doc_id": "a", "grade": "high"}]},
        "it must be a number",
    ),
    "a note that is a number": ({**NOTES, "queries": [{"query_id": "q1", "note": 3}]}, "it must be text"),
}


@pytest.mark.parametrize(("given", "said"), WRONG.values(), ids=WRONG)
def test_what_is_no_file_of_notes_is_refused_in_one_line(given: Any, said: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    path.write_text(given if isinstance(given, str) else json.dumps(given), encoding="utf-8")
    with pytest.raises(rs.InputError) as refused:
        rs.report(QRELS, RUNS, "nDCG@5", notes=path)
    assert said in str(refused.value)
    assert "notes.json" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(rs.InputError, match=r"none\.json: cannot be read"):
        rs.report(QRELS, RUNS, "nDCG@5", notes=tmp_path / "none.json")
