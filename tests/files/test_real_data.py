"""Files that others wrote read as a plain split of their lines says."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from rankscope.files import read_qrels, read_run

RUNS = {"trec_covid/round1/runs/*": 24, "robust03/runs/*": 7, "trec_eval/results*": 4}
QRELS = {"trec_covid/qrels.txt": 1, "robust03/*.gz": 2, "trec_eval/qrels*": 7, "qrels/qrels*": 8, "qrels/prels*": 1}


def naive(path: Path) -> list[list[str]]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
    return [line.split() for line in text.split("\n") if line.strip() and not line.startswith("#")]


@pytest.mark.parametrize("pattern", RUNS)
def test_runs(data: Any, pattern: Any) -> None:
    paths = sorted(data.glob(pattern))
    assert len(paths) == RUNS[pattern]
    for path in paths:
        run, rows = read_run(path), naive(path)
        assert run.source.faults == ()
        expected = [(fields[0], fields[2], float(fields[4]), int(fields[3])) for fields in rows]
        assert run.frame.rows() == expected, path.name
        assert run.name == rows[-1][5]


@pytest.mark.parametrize("pattern", QRELS)
def test_qrels(data: Any, pattern: Any) -> None:
    paths = sorted(data.glob(pattern))
    assert len(paths) == QRELS[pattern]
    for path in paths:
        qrels, rows = read_qrels(path), naive(path)
        assert qrels.source.faults == ()
        if path.name.startswith("prels"):
            assert qrels.frame.rows() == [(fields[0], fields[1], float(fields[2])) for fields in rows]
        else:
            assert qrels.frame.rows() == [(f[0], f[2], float(f[3]), f[1]) for f in rows], path.name
