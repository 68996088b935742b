"""Archives that unpack to gigabytes take no more memory than their parts do: each is read or refused where little memory may be taken."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.made.samples import sampled

pytest.importorskip("resource", reason="this system has no limits of memory")

MANY = 16  # blocks of 64 MB: 1 GB
BLOCK = 64 << 20
MORE = 512 << 20  # bytes that may be taken beside what a small evaluation took
CHILD = """
import resource, sys
from rankscope.cli import main
main(["evaluate", "qrels.txt", "small.run", "-m", "P@3", "-q"])
main(["evaluate", "qrels.txt", "small.csv.gz", "-m", "P@3", "-q"])
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + int(sys.argv[2]),) * 2)
print("then")
sys.exit(main(["evaluate", "qrels.txt", sys.argv[1], "-m", "P@3", "--format", "csv"]))
"""
ROWS = "".join(f"q1 Q0 d{i} {i} {100 - i}.5 tag\n" for i in range(1, 20)).encode()
CSV = b"query_id,doc_id,score\nq1,d1,2\nq1,d2,1\n"
LINE = "a line is longer than 64 MB"
FULL = "more than there is"
ZSTD: Any = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
PACK: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "zst": ZSTD.compress}
BOMBS = {
    "zero bytes": ("a.run", b"", b"\0", 2, "zero bytes"),
    "one line": ("a.run", b"", b"a", 2, "1 column"),
    "rows and a line without an end": ("a.run", ROWS, b"a", 2, LINE),
    "rows and blanks without an end": ("a.run", ROWS, b" ", 2, LINE),
    "blank lines": ("a.run", b"", b"\n", 2, "only blank lines"),
    "rows and blank lines": ("a.run", ROWS, b"\n", 0, "0.666"),
    "rows, one at fault, and blank lines": ("a.run", ROWS + b"q1 Q0\n", b"\n", 2, FULL),
    "CSV and a line without an end": ("a.csv", CSV, b"a", 2, LINE),
    "CSV and blank lines": ("a.csv", CSV, b"\n", 0, "0.666"),
    "JSON lines and a line without an end": ("a.jsonl", b'{"query_id": "q1", "doc_id": "d1", "score": 1}\n', b" ", 2, LINE),
    "JSON and blanks": ("a.json", b'{"q1": {"d1": 1}}', b" ", 2, FULL),
}  # fmt: skip
AS_GZIP = ("rows and a line without an end", "rows and blank lines", "rows, one at fault, and blank lines")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with judgments and a small run of each kind."""
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 1\n", "ascii")
    Path("small.run").write_bytes(ROWS)
    Path("small.csv.gz").write_bytes(gzip.compress(CSV))


def evaluate_within(path: str, more: int = MORE) -> subprocess.CompletedProcess[str]:
    """Evaluate a file where only so many more bytes may be taken."""
    # one arena for all threads: each of them would reserve 64 MB, as many as happen to be busy at once
    few = {"RANKSCOPE_THREADS": "2", "POLARS_MAX_THREADS": "2", "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, path, str(more)], env={**os.environ, **few}, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip
    done.stdout = done.stdout.partition("then\n")[2]
    return done


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system does not say what a process takes")
@pytest.mark.parametrize(
    ("bomb", "form"), sampled([*((bomb, "zst") for bomb in BOMBS), *((bomb, "gz") for bomb in AS_GZIP)], 3)
)
def test_an_archive_takes_no_more_memory_than_its_parts(bomb: str, form: str) -> None:
    name, first, byte, code, said = BOMBS[bomb]
    pack = PACK[form]
    Path(f"{name}.{form}").write_bytes(pack(first) + pack(byte * BLOCK) * MANY)
    assert Path(f"{name}.{form}").stat().st_size < 3 << 20
    done = evaluate_within(f"{name}.{form}")
    assert done.returncode == code, done.stderr
    assert re.search(said, done.stderr if code else done.stdout)
    assert code == 0 or re.fullmatch(r"[^\n]+\n", done.stderr)
