"""``make mutants``: changes the package in one place at a time and sees whether a test notices.

mutmut and cosmic-ray were looked at first. mutmut leaves out whatever is decorated (here: properties, cached values, results and metrics,
most of the code), has no seeded sample of a room and forks a process in which Polars has run. cosmic-ray writes into the working tree
and runs one command for all mutants, so the tests of a line cannot be chosen. What is left to do is small:

1. `mutants_record`: which tests run which lines (coverage.py, once for each file of tests that is new or changed);
2. `mutants_sites`: a seeded sample of changes, by room;
3. here: each change in a copy of the package, in a fresh process, against the tests of its line, nearest first, up to the first
   that fails; what survives these is tried by all cases of the nearest files, as of each test only some are recorded.

What was found is kept in `.mutants/results.json` as it is found, so that a run can be stopped and goes on. A mutant is tried again when
its module changes, or, if it survived, when the tests of its line do. Those that were read and judged are in `tools/mutants_judged.json`;
they are tried again only when their module changes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

import mutants_record
from mutants_record import ROOT, SRC
from mutants_sites import ROOMS, Module, Mutant, sample

SEED = 15
AWAY = ROOT / ".mutants"
RESULTS = AWAY / "results.json"
JUDGED = frozenset(json.loads((ROOT / "tools" / "mutants_judged.json").read_text(encoding="utf-8")))
ROUNDS = (
    6.0,
    30.0,
)  # how many seconds the tests of each round took when they were recorded; what survives the first is tried by the second
NEAREST_FILES = 4  # that are run with all their cases on what survives
WIDE_LIMIT = 240  # seconds of processor time for them; what takes longer has not been noticed
CASES_OF_METRICS = ("tests/metrics", "tests/laws", "tests/worked", "tests/verbs/catalogue")
GRACE = 10  # seconds of processor time beside three times what the tests took
# what takes longest to load is loaded once; Polars starts its threads when it is first used, which is after the fork
PRELOADED = ["pytest", "numpy", "scipy.special", "polars", "hypothesis", "click", "rich.table"]


class Record:
    """The tests of each line, of the files as they are now."""

    def __init__(self) -> None:
        self.tests: dict[str, tuple[float, int]] = {}
        self.lines: dict[str, dict[int, list[str]]] = {}
        here = [path for place in mutants_record.TESTED for path in mutants_record.files_of(ROOT / place)]
        fresh = {str(path.relative_to(ROOT)): mutants_record.stamp(path) for path in here}
        for one in mutants_record.recorded():
            files = {path for path, mark in one["files"].items() if fresh.get(path) == mark}
            new = {
                i: test
                for i, test in enumerate(one["tests"])
                if test.partition("::")[0] in files and test not in self.tests
            }
            self.tests |= {test: (one["tests"][test][0], one["tests"][test][1]) for test in new.values()}
            for path, lines in one["lines"].items():
                held = self.lines.setdefault(path, {})
                for line, tests in lines.items():
                    held.setdefault(int(line), []).extend(new[i] for i in tests if i in new)

    def nearest(self, mutant: Mutant) -> list[str]:
        """The tests that run a line; where none does (it is run when the module is imported), those of the lines beside it."""
        lines = self.lines.get(mutant.path, {})
        used = [line for line, tests in lines.items() if tests]
        # what is run when the module is imported is recorded for one test alone: any that runs another line may notice
        imported = mutant.home == "(module)" or mutant.home.rpartition(".")[2][:1].isupper()
        if imported or mutant.line not in used:
            used.sort(key=lambda line: (abs(line - mutant.line), line))
            tests = {test for line in used[: None if imported else 5] for test in lines[line]}
        else:
            tests = set(lines[mutant.line])
        # a line that all tests run has more of them than are recorded: those of its room are tried last
        room = tuple(mutant.path.split("/")[: 2 if mutant.room == "verbs" else 1])
        beside = {test for test in self.tests if tuple(test.split("/")[1 : len(room) + 1]) == room} - tests
        cost = {test: self.distance(mutant, test) * (50 if test in beside else 1) for test in tests | beside}
        return sorted(cost, key=lambda test: (cost[test], test)) if tests else []

    def distance(self, mutant: Mutant, test: str) -> float:
        """How long a test takes and how much else it runs; less where it mirrors the module."""
        seconds, wide = self.tests[test]
        parts = set(mutant.path.removesuffix(".py").split("/"))
        shared = len(parts & set(test.partition("::")[0].replace("test_", "").removesuffix(".py").split("/")))
        return float((seconds + 0.02) * (wide + 100) / 4**shared)

    def rounds(self, tests: list[str]) -> Iterator[list[str]]:
        """Those that are tried first, and those that are tried on what survives them."""
        left = list(tests)
        for longest in ROUNDS:
            ends = [*accumulate(self.tests[test][0] for test in left)]
            count = max(sum(end <= longest for end in ends), 1)
            if left:
                yield left[:count]
            left = left[count:]

    def all_cases(self, mutant: Mutant, tests: list[str]) -> list[str]:
        """What pytest is told to run all cases of the nearest files; for a metric, the cases that are named after it."""
        name = mutant.key.partition("::")[2].partition(":")[0].partition(".")[0]
        if mutant.room == "metrics" and name[:1].isupper():
            return ["-k", name, *CASES_OF_METRICS]
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))[:NEAREST_FILES]
        return ["tests/metrics", *files] if mutant.room == "metrics" else files

    def seconds(self, tests: Iterable[str]) -> float:
        """How long they took when they were recorded; those that were not take a second."""
        return sum(self.tests[test][0] if test in self.tests else 1.0 for test in tests)


# --- one try, in a process of its own


class Watch:
    """Runs tests in the order in which they were named, and says which failed first."""

    def __init__(self, order: list[str], said: Any) -> None:
        self.order, self.said = {name: i for i, name in enumerate(order)}, said

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Nearest first."""
        last = len(self.order)
        items.sort(key=lambda item: self.order.get(item.nodeid, last))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Tells the first failure."""
        if report.failed:
            self.said.put(report.nodeid)


def attempt(tree: str, tests: list[str], seconds: float, said: Any) -> None:
    """Runs tests on a copy of the package; the exit code is that of pytest."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 5))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.chdir(ROOT)
    os.environ["PYTHONPATH"] = os.pathsep.join([tree, *filter(None, [os.environ.get("PYTHONPATH")])])
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    sys.path.insert(0, tree)
    # one counterexample is enough: to make it small would take longer than all else; the profile of the tests builds on this one
    settings.register_profile("first", phases=(Phase.explicit, Phase.generate), report_multiple_bugs=False)
    settings.load_profile("first")
    options = [
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--tb=no",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
    ]
    code = pytest.main([*options, *tests], plugins=[Watch(tests, said)])
    said.close()
    said.join_thread()
    os._exit(int(code))


@dataclass(frozen=True)
class Verdict:
    """What came of a mutant: killed (by which test), out of time, survived, or not tried as nothing runs its line."""

    what: str
    by: str = ""
    tried: int = 0
    seconds: float = 0.0


def mirrored(source: Path, copy: Path) -> list[str]:
    """Copies what is missing and removes what is gone; the modules that differ are left to who asked."""
    here = {
        path.relative_to(source) for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    }
    for path in [path for path in copy.rglob("*") if path.is_file() and "__pycache__" not in path.parts]:
        if path.relative_to(copy) not in here:
            path.unlink()
    for path in here:
        if not (copy / path).exists():
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / path, copy / path)
    differ = [
        path for path in here if path.suffix == ".py" and (source / path).read_bytes() != (copy / path).read_bytes()
    ]
    return [path.as_posix() for path in differ]


class Bench:
    """A copy of the package in which mutants are put, one after another."""

    def __init__(self, number: int) -> None:
        self.tree = AWAY / f"tree-{number}"
        for path in mirrored(SRC, self.tree / "rankscope"):
            self.place(path, Module(path).source)
        self.context = multiprocessing.get_context("forkserver")
        self.compile()

    def compile(self) -> None:
        """Compiles the copy, as otherwise each try would."""
        import compileall

        compileall.compile_dir(self.tree, quiet=2)

    def place(self, path: str, source: str) -> None:
        """Puts a module's text in the copy; what was compiled of it goes."""
        file = self.tree / "rankscope" / path
        file.write_text(source, encoding="utf-8")
        for old in file.parent.glob(f"__pycache__/{file.stem}.*.pyc"):
            old.unlink()

    def run(self, tests: list[str], limit: float) -> tuple[int | None, str]:
        """The exit code of pytest (none where time ran out) and the test that failed."""
        said = self.context.Queue()
        process = self.context.Process(target=attempt, args=(str(self.tree), tests, limit, said))
        process.start()
        process.join(20 * limit)  # the processor may be shared; a test that waits for nothing is stopped all the same
        if process.is_alive():
            assert process.pid is not None
            os.killpg(process.pid, signal.SIGKILL)
            process.join()
        code = process.exitcode
        failed = "" if said.empty() else said.get()
        said.close()
        return (None if code is not None and code < 0 else code), failed

    def try_mutant(self, mutant: Mutant, record: Record) -> Verdict:
        """Whether a test notices."""
        tests = record.nearest(mutant)
        if not tests:
            return Verdict("not run")
        start, tried = time.monotonic(), 0
        code: int | None = 0
        source = Module(mutant.path).source
        self.place(mutant.path, mutant.apply(source))
        try:
            for chosen in record.rounds(tests):
                limit = GRACE + 3 * record.seconds(chosen)
                code, failed = self.run(chosen, limit)
                tried += len(chosen)
                if code != 0:
                    break
            if code == 0:
                wide = self.run(record.all_cases(mutant, tests), WIDE_LIMIT)
                code, failed = (1, wide[1]) if wide[0] == 1 else (0, "")
        finally:
            self.place(mutant.path, source)
        spent = round(time.monotonic() - start, 1)
        what = "survived" if code == 0 else "out of time" if code is None else "killed"
        by = failed or ("" if code in {0, None} else "it cannot be imported")
        if code not in {0, 1} and self.run(chosen, limit)[0] != 0:  # nor without the change
            what, by = "not tried", "its tests do not run here"
        return Verdict(what, by, tried, spent)


# --- all of them


class Results:
    """What was found so far, kept on disk."""

    def __init__(self) -> None:
        self.held: dict[str, dict[str, Any]] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        self.lock = threading.Lock()

    def settled(self, mutant: Mutant, tests: str) -> bool:
        """Whether this was tried on this text of the module, and, where it survived, by these tests."""
        held = self.held.get(mutant.key)
        if held is None or held["module"] != _mark(mutant):
            return False
        return held["what"] in {"killed", "out of time"} or held["tests"] == tests or mutant.key in JUDGED

    def keep(self, mutant: Mutant, tests: str, verdict: Verdict) -> None:
        """Writes one more."""
        with self.lock:
            self.held[mutant.key] = {"module": _mark(mutant), "tests": tests, "line": mutant.line, **vars(verdict)}
            self.write()

    def write(self) -> None:
        """Puts it on disk."""
        new = RESULTS.with_suffix(".new")
        new.write_text(json.dumps(self.held, indent=1, ensure_ascii=False))
        new.replace(RESULTS)


def _mark(mutant: Mutant) -> str:
    return mutants_record.stamp(SRC / mutant.path)


def work(mutants: list[Mutant], jobs: int, until: float) -> Results:
    """Tries those that are not settled, on so many cores, until the time is up."""
    record, results = Record(), Results()
    nearest = {m.key: record.nearest(m) for m in mutants}
    tests = {m.key: " ".join([*record.all_cases(m, nearest[m.key]), *nearest[m.key]]) for m in mutants}
    marks = {key: hashlib.sha256(of.encode()).hexdigest()[:16] for key, of in tests.items()}
    left = [mutant for mutant in mutants if not results.settled(mutant, marks[mutant.key])]
    print(f"{len(mutants)} mutants, {len(left)} to try", flush=True)
    multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
    benches = [Bench(number) for number in range(min(jobs, len(left)))]

    def each(number: int) -> None:
        for mutant in left[number :: len(benches)]:
            if time.monotonic() > until:
                return
            verdict = benches[number].try_mutant(mutant, record)
            results.keep(mutant, marks[mutant.key], verdict)
            print(f"{verdict.what:11} {verdict.seconds:5.1f} s  {mutant.key}", flush=True)

    with ThreadPoolExecutor(max(len(benches), 1)) as pool:
        list(pool.map(each, range(len(benches))))
    if benches:
        forget_false_kills(mutants, benches[0], record, results)
    return results


def forget_false_kills(mutants: list[Mutant], bench: Bench, record: Record, results: Results) -> None:
    """Runs the tests that killed on the package as it is: what a test that fails there killed is to be tried again."""
    found = [results.held[m.key] for m in mutants if m.key in results.held]
    killers = sorted(
        {one["by"] for one in found if one["what"] == "killed" and "::" in one["by"] and "sound" not in one}
    )
    unsound: set[str] = set()
    while killers:
        code, failed = bench.run(killers, GRACE + 3 * record.seconds(killers))
        if code == 0:
            break
        print(f"fails without a change, too: {failed or 'one of these tests'}", flush=True)
        unsound |= {failed} if failed in killers else set(killers)
        killers = [name for name in killers if name not in unsound]
    for one in found:
        if one["by"] in unsound:
            one["what"], one["by"] = "not tried", f"{one['by']} fails without the change, too"
        elif one["what"] == "killed":
            one["sound"] = True
    results.write()


def main() -> None:
    """Reads the options, records, tries, and says how many were killed."""
    parser = argparse.ArgumentParser(
        description="change the package in one place at a time and see whether a test notices"
    )
    parser.add_argument("--room", choices=ROOMS, action="append", help="some rooms only")
    parser.add_argument("--tests", action="append", metavar="PLACE", help="record the tests of some places only")
    parser.add_argument("--size", type=float, default=1.0, help="so many times the usual sample (1: 480 mutants)")
    parser.add_argument("--seed", type=int, default=SEED, help="draw another sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="cores")
    parser.add_argument("--seconds", type=float, default=3600.0, help="stop after so long; the next call goes on")
    parser.add_argument("--no-record", action="store_true", help="use the record as it is")
    parser.add_argument(
        "--write", action="store_true", help="keep what was found in tools/mutants.json, for docs/trust.md"
    )
    given = parser.parse_args()
    until = time.monotonic() + given.seconds
    if not given.no_record:
        mutants_record.record(SEED, given.tests or mutants_record.TESTED)
    rooms = {room: round(size * given.size) for room, size in ROOMS.items() if not given.room or room in given.room}
    mutants = sample(given.seed, rooms)
    results = work(mutants, given.jobs, until)
    for room in rooms:
        found = Counter(results.held[m.key]["what"] for m in mutants if m.room == room and m.key in results.held)
        print(f"{room:10} " + ", ".join(f"{n} {what}" for what, n in found.most_common()))
    if given.write:
        import mutants_page

        mutants_page.write(mutants, results.held, given.seed)


if __name__ == "__main__":
    main()
