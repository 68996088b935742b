"""Files to try commands on, in a fresh folder, and a way to run a command in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.cli.runs_to_compare import QUERIES as COMPARED
from tests.cli.runs_to_compare import Run, run_file

from rankscope.cli import main

QRELS = "q1 0 d1 2\nq1 0 d2 0\nq1 0 d3 1\nq2 0 d1 1\nq2 0 d4 0\n"
GOOD = "q1 Q0 d1 1 3.0 good\nq1 Q0 d3 2 2.0 good\nq1 Q0 d2 3 1.0 good\nq2 Q0 d1 1 2.0 good\nq2 Q0 d4 2 1.0 good\n"
POOR = "q1 Q0 d9 1 3.0 my_poor\nq1 Q0 d2 2 2.0 my_poor\nq1 Q0 d3 3 1.0 my_poor\n"


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "RANKSCOPE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    Path("qrels.txt").write_text(QRELS)
    Path("good.run").write_text(GOOD)
    Path("poor.run").write_text(POOR)
    return tmp_path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    def run_one(*args: str) -> Said:
        capsys.readouterr()
        code = main(args)
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Said(code, out, err)

    return run_one


@pytest.fixture
def files(folder: Path) -> Path:
    """Judgments, three runs, attributes and costs."""
    Path("judged.txt").write_text("".join(f"{q} 0 good 1\n" for q in COMPARED))
    Path("bm25.run").write_text(run_file("bm25", [1 + i % 7 for i in range(30)]))
    Path("dense.run").write_text(run_file("dense", [1 + i % 6 for i in range(30)]))
    Path("best.run").write_text(run_file("best", [1 + (i % 7) // 3 for i in range(30)]))
    Path("slices.csv").write_text(
        "query_id,lang\n" + "".join(f"{q},{'en' if i % 2 else 'de'}\n" for i, q in enumerate(COMPARED))
    )
    Path("costs.csv").write_text("run,latency_ms\nbm25,10\ndense,40\nbest,60\n")
    Path("users.csv").write_text("query,user\n" + "".join(f"{q},u{i % 6}\n" for i, q in enumerate(COMPARED)))
    return folder


@pytest.fixture
def compare(files: Path, run: Run) -> Run:
    """Compares the two or three runs of the folder."""

    def compare_them(*args: str, runs: tuple[str, ...] = ("bm25.run", "best.run"), code: int = 0) -> Any:
        said = run("compare", "judged.txt", *runs, *args)
        assert said.code == code, said.err
        return said

    return compare_them
