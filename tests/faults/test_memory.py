"""Memory that does not suffice, and reading that fails half-way: parts fit in what there is, all else is one line."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.faults.conftest import run

# all is loaded, and Polars has its threads; from here on so many bytes are left. Address space that threads only reserve does not count:
# how many of them reserve some at once differs from run to run.
LEFT = """
import resource
import numpy, polars, rankscope.files.parts, rankscope.scoring.health, rankscope.verbs.evaluate.evaluate
polars.DataFrame({"a": [1, 2]}).lazy().select(polars.col("a").sum()).collect()
held = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmData"))
resource.setrlimit(resource.RLIMIT_DATA, (held + %d,) * 2)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory as Linux has them")
def test_a_run_is_evaluated_in_the_memory_of_its_parts(tmp_path: Path) -> None:
    with (tmp_path / "large.run").open("w") as file:
        for query in range(2000):
            file.write("".join(f"q{query} Q0 document-{query}-{d} {d + 1} {500 - d}.5 m\n" for d in range(500)))
    (tmp_path / "qrels.txt").write_text("".join(f"q{query} 0 document-{query}-3 1\n" for query in range(2000)))
    size = (tmp_path / "large.run").stat().st_size
    assert size > 36_000_000
    arguments = ["evaluate", "qrels.txt", "large.run", "-m", "RR", "--threads", "1", "--format", "csv"]
    found = run(arguments, tmp_path, LEFT % 300_000_000)  # its rows in memory, all at once, would take more
    assert found.code == 0, found.err
    assert found.out.decode().splitlines()[1].startswith("m,RR,0.25,2000,")


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (MemoryError(), 70, "not enough memory for this input: "),
        (OSError(errno.EIO, "Input/output error"), 2, "a file could not be read or written: Input/output error: "),
        (
            OSError(errno.EIO, "Input/output error", "a.run"),
            2,
            "a.run: a file could not be read or written: Input/output",
        ),
    ],
    ids=["no memory", "a read error", "a read error in a file"],
)
def test_what_fails_at_work_is_one_line(
    error: Exception, code: int, line: str, files: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    from rankscope.cli import main

    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("rankscope.verbs.evaluate.evaluate.evaluate", fail)
    monkeypatch.chdir(files)
    assert main(["evaluate", "qrels.txt", "old.run"]) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(line)
    assert err.count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="no file that opens and cannot be read")
def test_a_file_that_opens_and_cannot_be_read_is_told(files: Path, tmp_path: Path) -> None:
    found = run(["evaluate", str(files / "qrels.txt"), "/proc/self/mem"], tmp_path)
    assert (found.code, len(found.faults)) == (2, 1)
    assert "Input/output error" in found.faults[0]
