"""Files to try commands on, in a fresh folder, and a way to run a command in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

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
