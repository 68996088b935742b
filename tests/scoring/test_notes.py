"""What is said and shown beside the numbers: how runs were read, single queries where they are asked for, what is wrong with an id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.errors import InputError


def test_many_runs_are_summed_up_from_the_smallest_to_the_largest(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    runs = []
    for size in range(1, 8):
        lines = [f"q1 Q0 d{i} {i + 1} {9 - i} run{size}\n" for i in range(size)]
        runs.append(tmp_path / f"run{size}.run")
        runs[-1].write_text("".join(lines))
    found = rs.evaluate(tmp_path / "qrels.txt", runs, "RR")
    assert "read 7 runs as TREC runs: 1 to 7 rows, 1 queries each" in found.reader_notes()


def test_lists_in_memory_are_not_runs_that_were_read(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    for name in ("popular", "b", "c", "d"):
        (tmp_path / f"{name}.run").write_text(f"q1 Q0 a 1 1 {name}\n")
    files = [tmp_path / f"{name}.run" for name in ("popular", "b", "c", "d")]
    how: Any = {"history": {"q2": ["a"], "q3": ["b"]}, "references": True}
    few, many = (rs.evaluate(tmp_path / "qrels.txt", files[:n], "RR", **how) for n in (2, 4))
    assert [run.name for run in few.runs] == ["popular.run", "b", "random", "popular", "oracle"]
    assert [note.split()[0] for note in few.reader_notes()] == ["read"] * 3
    assert "read 4 runs as TREC runs: 1 rows, 1 queries each" in many.reader_notes()
    assert "qrels" in many.reader_notes()[0]


def test_queries_and_their_distribution_are_shown_where_they_are_asked_for() -> None:
    qrels = {"first": {"a": 1, "b": 0}, "second": {"a": 1}}
    found = rs.evaluate(qrels, {"first": {"b": 2.0, "a": 1.0}, "second": {"a": 1.0}}, "P@1")
    assert "first" not in found.to_text()
    assert "first" in found.to_text(per_query=True)
    assert "median" not in found.to_text()
    assert "median" in found.to_text(distribution=True)


@pytest.mark.parametrize(
    ("qrels", "run", "said"),
    [
        ({1.5: {"a": 1}}, {"q": {"a": 1.0}}, "qrels: query id 1.5 is of type float; ids are strings or integers"),
        ({"q": {"a": 1}}, {True: {"a": 1.0}}, "run: the id True is a bool; ids are strings or whole numbers"),
        (
            {"q": {"a": 1}},
            {"q": {None: 1.0}},
            "run: query q: the id None is a NoneType; ids are strings or whole numbers",
        ),
    ],
    ids=["a fraction", "yes", "nothing"],
)
def test_what_is_no_id_is_told(qrels: Any, run: Any, said: str) -> None:
    with pytest.raises(InputError) as told:
        rs.evaluate(qrels, run, "RR")
    assert str(told.value) == said
