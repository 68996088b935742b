"""What is said of how runs were read: line by line of a few, summed up of many."""

from __future__ import annotations

from pathlib import Path

import rankscope as rs


def test_many_runs_are_summed_up_from_the_smallest_to_the_largest(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    runs = []
    for size in range(1, 8):
        lines = [f"q1 Q0 d{i} {i + 1} {9 - i} run{size}\n" for i in range(size)]
        runs.append(tmp_path / f"run{size}.run")
        runs[-1].write_text("".join(lines))
    found = rs.evaluate(tmp_path / "qrels.txt", runs, "RR")
    assert "read 7 runs as TREC runs: 1 to 7 rows, 1 queries each" in found.reader_notes()
