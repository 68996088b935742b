"""Which tests run which lines: a pytest plugin that asks coverage.py once for each test, and the record it leaves.

A mutant is tried by the tests that run its line, nearest first, so that most die within a second or two.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src" / "rankscope"
RECORDS = ROOT / ".mutants" / "records"
# what needs a browser, Java or other tools is slow and looks from far away; the house looks at the text of modules
FAR = {"benchmarks", "browser", "faults", "house", "integrations", "made", "parity", "__pycache__"}
TESTED = (
    *sorted(f"tests/{one.name}" for one in (ROOT / "tests").iterdir() if one.is_dir() and one.name not in FAR),
    "tests/house/test_transcripts.py", "README.md", "docs",
)  # fmt: skip
CASES = 3  # of each test function, so that a law that holds for 150 metrics is not recorded 150 times
KEPT = 400  # tests of a line


def order_by_seed(name: str, seed: int) -> str:
    """A place in an order that depends on the seed and the name alone, so that what is added elsewhere moves nothing."""
    return hashlib.sha256(f"{seed} {name}".encode()).hexdigest()


def stamp(path: Path) -> str:
    """What tells one text of a file from another."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


class Recorder:
    """Runs some cases of each test and keeps the lines of the package that each ran."""

    def __init__(self, kept_at: Path, seed: int, files: list[str]) -> None:
        from coverage import Coverage

        self.kept_at, self.seed, self.files = kept_at, seed, files
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self.coverage = Coverage(data_file=None, source=[str(SRC)], config_file=False, messages=False)
        self.coverage.start()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keeps some cases of each test."""
        cases = defaultdict(list)
        for item in sorted(items, key=lambda item: order_by_seed(item.nodeid, self.seed)):
            cases[item.nodeid.partition("[")[0]].append(item.nodeid)
        chosen = {name for names in cases.values() for name in names[:CASES]}
        items[:] = [item for item in items if item.nodeid in chosen and not item.get_closest_marker("skip")]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, None, None]:
        """What runs from here on is run by this test."""
        self.coverage.switch_context(item.nodeid)
        start = time.process_time()
        yield
        self.seconds[item.nodeid] = time.process_time() - start

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails or is skipped can kill nothing."""
        if report.outcome != "passed":
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Writes the nearest tests of each line."""
        self.coverage.stop()
        data = self.coverage.get_data()
        wide: Counter[str] = Counter()
        by_line: dict[str, dict[int, list[str]]] = {}
        for path in data.measured_files():
            found = data.contexts_by_lineno(path)
            by_line[str(Path(path).relative_to(SRC))] = found
            wide.update(test for tests in found.values() for test in tests if test)
        dull = self.failed | {""}
        record: dict[str, Any] = {
            "files": {path: stamp(ROOT / path) for path in self.files},
            "tests": {t: [round(s, 3), wide[t]] for t, s in self.seconds.items() if t not in self.failed},
            "lines": {},  # the numbers of tests, in that order
        }
        number = {test: i for i, test in enumerate(record["tests"])}
        for path, lines in by_line.items():
            record["lines"][path] = {
                line: [number[t] for t in sorted(set(tests) - dull, key=lambda t: self.seconds[t] * wide[t])[:KEPT]]
                for line, tests in lines.items()
            }  # fmt: skip
        self.kept_at.parent.mkdir(parents=True, exist_ok=True)
        self.kept_at.write_text(json.dumps(record))


def pytest_configure(config: pytest.Config) -> None:
    """Takes part where the environment says where the record goes."""
    if place := os.environ.get("RANKSCOPE_MUTANTS_RECORD"):
        config.pluginmanager.register(
            Recorder(Path(place), int(os.environ["RANKSCOPE_MUTANTS_SEED"]), list(config.args))
        )


def recorded() -> Iterator[dict[str, Any]]:
    """The records that there are, the newest first."""
    for path in sorted(RECORDS.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True):
        yield json.loads(path.read_text())


def files_of(place: Path) -> list[Path]:
    """The files with tests at a place, without those on Spark."""
    if place.is_file():
        return [place]
    found = [*place.rglob("test_*.py"), *place.rglob("*.md")]
    return sorted(path for path in found if "spark" not in path.parts and path.stem != "test_spark")


def record(seed: int, places: Sequence[str] = TESTED) -> None:
    """Records the files of tests that are new or changed, place by place."""
    known = {(path, mark) for one in recorded() for path, mark in one["files"].items()}
    for room in places:
        new = [
            name for path in files_of(ROOT / room) if ((name := str(path.relative_to(ROOT))), stamp(path)) not in known
        ]
        if not new:
            continue
        place = RECORDS / f"{room.replace('/', '-')}-{len(list(RECORDS.glob('*.json')))}.json"
        print(f"recording {len(new)} files of {room}", flush=True)
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")])
        env = os.environ | {
            "PYTHONPATH": path,
            "RANKSCOPE_MUTANTS_RECORD": str(place),
            "RANKSCOPE_MUTANTS_SEED": str(seed),
        }
        command = [sys.executable, "-m", "pytest", "-q", "-p", "mutants_record", "-p", "no:cacheprovider", "-p", "no:xdist", *new]  # fmt: skip
        subprocess.run(command, cwd=ROOT, env=env, check=False, capture_output=True)
