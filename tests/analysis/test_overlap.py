"""Pairs of runs by what they share: of a few runs every pair is told, of many the most and the least alike to each."""

from __future__ import annotations

from itertools import combinations

import pytest

from rankscope.analysis.overlap import RunOverlap, RunOverlaps


def overlaps(size: int) -> RunOverlaps:
    """Runs 0, 1, 2 ... of which those further apart share less: 0.9 to the next one, then 0.8, 0.7 ..."""
    pairs = [RunOverlap(f"run{i}", f"run{j}", 5, 1 - (j - i) / 10, 0.5, 4.0) for i, j in combinations(range(size), 2)]
    return RunOverlaps([f"run{i}" for i in range(size)], pairs, k=10, queries=5, looked_at=5)


def test_of_eight_runs_every_pair_is_told() -> None:
    table = overlaps(8).table()
    assert len(table.rows) == 28
    shares = [row[2] for row in table.rows]
    assert all(isinstance(share, float) for share in shares)
    assert shares == sorted(shares, reverse=True)  # type: ignore[type-var]
    assert all(chart.told for chart in overlaps(8).charts())


def test_of_nine_runs_the_most_and_the_least_alike_to_each() -> None:
    table = overlaps(9).table()
    assert [column.header for column in table.columns][1] == "most alike"
    assert [(row[0], row[5]) for row in table.rows] == [
        ("run0", "run8"), ("run1", "run8"), ("run2", "run8"), ("run3", "run8"), ("run4", "run0"), ("run5", "run0"),
        ("run6", "run0"), ("run7", "run0"), ("run8", "run0"),
    ]  # fmt: skip
    assert table.rows[0][2] == pytest.approx(0.9)
    assert table.rows[0][6] == pytest.approx(0.2)
    assert not any(chart.told for chart in overlaps(9).charts())
