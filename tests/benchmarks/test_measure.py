"""The arithmetic of benchmarks, and what a process is said to take."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import __main__ as main
from benchmarks.measure import (
    Answer,
    Call,
    Command,
    Cost,
    LeftOutError,
    Trial,
    at_size,
    disagreements,
    each_more,
    measure,
    ratio,
    slope,
)
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
AMOUNTS = st.floats(0.001, 1000)
ROUNDS = st.lists(st.tuples(AMOUNTS, AMOUNTS, AMOUNTS), min_size=1, max_size=9)

# --- ratios ------------------------------------------------------------------------------------------------------


@given(ROUNDS)
def test_rounds_in_which_the_machine_was_slow_change_no_ratio(rounds: list[tuple[float, float, float]]) -> None:
    ours, theirs, slowness = zip(*rounds, strict=True)
    slow_ours = [seconds * factor for seconds, factor in zip(ours, slowness, strict=True)]
    slow_theirs = [seconds * factor for seconds, factor in zip(theirs, slowness, strict=True)]
    assert ratio(slow_theirs, slow_ours) == pytest.approx(ratio(theirs, ours))


@given(ROUNDS.filter(lambda rounds: len(rounds) % 2))
def test_the_other_way_round_is_one_over_it(rounds: list[tuple[float, float, float]]) -> None:
    ours, theirs, _ = zip(*rounds, strict=True)
    assert ratio(ours, theirs) == pytest.approx(1 / ratio(theirs, ours))


def test_it_is_the_median_of_ratios_and_not_the_ratio_of_medians() -> None:
    assert ratio([1.0, 10.0, 10.0], to=[1.0, 1.0, 10.0]) == 1.0  # of 1, 10 and 1; the medians are 10 and 1
    assert ratio([3.0, 8.0], to=[1.0, 2.0]) == (3.0 + 4.0) / 2


def test_rounds_without_a_pair_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        ratio([1.0, 2.0], to=[1.0])


# --- growth ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [0, 0.5, 1, 1.5, 2])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 50.0])
def test_the_slope_of_a_power_is_its_exponent(power: float, scale: float) -> None:
    sizes = [10, 100, 1000, 100_000]
    assert slope(sizes, [scale * size**power for size in sizes]) == pytest.approx(power, abs=1e-12)


def test_the_slope_by_hand() -> None:
    # logarithms 0, 1, 2 and 0, 1, 3, whose means are 1 and 4/3
    assert slope([1, 10, 100], [1, 10, 1000]) == pytest.approx(
        ((0 - 1) * (0 - 4 / 3) + (2 - 1) * (3 - 4 / 3)) / (1 + 1)
    )


@given(st.lists(st.tuples(st.integers(1, 10**9), AMOUNTS), min_size=2, max_size=9, unique_by=lambda point: point[0]))
def test_the_slope_is_that_of_numpy(points: list[tuple[int, float]]) -> None:
    sizes, amounts = zip(*points, strict=True)
    xs = np.log10(sizes)
    if np.ptp(xs) < 0.01:
        return  # nearly one size: the system of equations of numpy is ill
    assert slope(sizes, amounts) == pytest.approx(np.polyfit(xs, np.log10(amounts), 1)[0], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("sizes", [[], [10], [10, 10]], ids=["none", "one", "twice the same"])
def test_a_slope_needs_two_sizes(sizes: list[int]) -> None:
    with pytest.raises(ValueError, match="two sizes"):
        slope(sizes, [1.0] * len(sizes))


@given(AMOUNTS, st.floats(1e-9, 1.0))
def test_what_is_paid_once_is_not_in_what_one_more_costs(once: float, each: float) -> None:
    sizes = [1000, 10, 100_000]
    amounts = [once + each * size for size in sizes]
    assert each_more(sizes, amounts) == pytest.approx(each, rel=1e-3)
    assert at_size(10**9, sizes, amounts) == pytest.approx(once + each * 10**9, rel=1e-3)


def test_more_is_never_said_to_take_less() -> None:
    assert at_size(1000, [1, 10, 100], [1.0, 3.0, 2.0]) == 2.0


# --- answers -----------------------------------------------------------------------------------------------------


def test_answers_that_differ_are_said() -> None:
    answers = {
        "ours": {"AP": 0.5, "P": 0.1},
        "near": {"AP": 0.5 + 1e-7},
        "far": {"AP": 0.5, "P": 0.2},
        "other": {"F": 9.0},
    }
    assert disagreements(answers, "ours", 1e-6) == ["far"]
    assert disagreements(answers, "ours", 0.2) == []
    assert disagreements(answers, "absent", 1e-6) == []


# --- turns -------------------------------------------------------------------------------------------------------


class Fake:
    """A job that notes when it runs, and fails from its nth run on."""

    def __init__(self, name: str, log: list[str], fails: int = 99) -> None:
        self.name, self.log, self.fails = name, log, fails

    def start(self) -> Fake:
        if not self.fails:
            raise LeftOutError("it is not installed")
        return self

    def run(self) -> Cost:
        self.log.append(self.name)
        if self.log.count(self.name) > self.fails:
            raise LeftOutError("it failed")
        return Cost(float(len(self.log)), None, 10.0, {"AP": 0.5})

    def close(self) -> None:
        self.log.append(f"{self.name} closed")


def trial(log: list[str], **fails: int) -> Trial:
    return Trial("a", "A", 10, "rows", {name: Fake(name, log, times) for name, times in fails.items()})


def test_jobs_take_turns_after_a_round_that_does_not_count() -> None:
    log: list[str] = []
    found = measure(trial(log, a=99, b=99), rounds=2)
    assert log[:6] == ["a", "b", "a", "b", "a", "b"]
    assert sorted(log[6:]) == ["a closed", "b closed"]
    assert found["jobs"]["a"] == {"seconds": [3.0, 5.0], "cpu": [None, None], "memory": [10.0, 10.0]}
    assert found["jobs"]["b"]["seconds"] == [4.0, 6.0]


@pytest.mark.parametrize(("runs", "why"), [(0, "it is not installed"), (1, "it failed"), (2, "it failed")])
def test_a_job_that_cannot_run_is_left_out_and_the_others_go_on(runs: int, why: str) -> None:
    log: list[str] = []
    found = measure(trial(log, a=99, b=runs), rounds=3)
    assert found["left_out"] == {"b": why}
    assert list(found["jobs"]) == ["a"]
    assert len(found["jobs"]["a"]["seconds"]) == 3
    assert found["differ"] == []


# --- what a process takes ----------------------------------------------------------------------------------------


def python(code: str, reads: Callable[[bytes], Answer] | None = None) -> Command:
    return Command((sys.executable, "-c", code), reads)


def test_a_process_is_timed_from_start_to_end() -> None:
    cost = python("import time; time.sleep(0.3)").run()
    assert cost.seconds >= 0.3
    assert cost.cpu is not None
    assert cost.cpu < cost.seconds
    busy = python("import time\nwhile time.process_time() < 0.3: pass").run()
    assert busy.cpu is not None
    assert busy.cpu >= 0.3


def test_the_peak_of_memory_is_that_of_the_process() -> None:
    """Asked by a small process, as those who measure are: a child's peak is at least that of the process that starts it."""
    code = """
import sys
from benchmarks.measure import Command
for child in ("pass", "b = bytearray(200_000_000)\\nfor i in range(0, len(b), 4096): b[i] = 1"):
    print(Command((sys.executable, "-c", child)).run().memory)
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    small, large = map(float, shown.stdout.split())
    assert small < 60
    assert 200 <= large <= 260


def test_an_answer_is_read_from_what_is_printed() -> None:
    assert python("print('AP 0.5')", lambda out: {"AP": float(out.split()[1])}).run().answer == {"AP": 0.5}


BAD_COMMANDS = {
    "it fails": (python("raise SystemExit('first\\nno such run')"), "it failed with exit 1: no such run"),
    "it fails in silence": (python("raise SystemExit(3)"), "it failed with exit 3: no reason was given"),
    "there is no such binary": (Command(("/no/such/binary",)), "binary cannot be started: No such file or directory"),
    "a package is missing": (Command(("true",), needs=("no_such_tool",)), "no_such_tool is not installed"),
}  # fmt: skip


@pytest.mark.parametrize(("command", "why"), BAD_COMMANDS.values(), ids=[*BAD_COMMANDS])
def test_a_command_that_cannot_run_says_why_in_a_line(command: Command, why: str) -> None:
    with pytest.raises(LeftOutError) as caught:
        command.start().run()
    assert str(caught.value) == why


def call(name: str, **arguments: Any) -> Call:
    return Call(f"tests.benchmarks.works:{name}", arguments)


def run(job: Call, rounds: int = 1) -> list[Cost]:
    process = job.start()
    try:
        return [process.run() for _ in range(rounds)]
    finally:
        process.close()


def test_a_call_answers_each_time() -> None:
    assert [cost.answer for cost in run(call("answers", value=0.25), 3)] == [{"value": 0.25}] * 3


def test_a_call_is_timed_without_its_input() -> None:
    (busy,), (idle,) = run(call("busy", seconds=0.3)), run(call("idle", seconds=0.3))
    assert busy.cpu is not None
    assert idle.cpu is not None
    assert busy.cpu >= 0.3
    assert idle.cpu < 0.1
    assert idle.seconds >= 0.3


def test_work_in_a_loop_takes_the_mean_of_its_turns() -> None:
    (cost,) = run(Call("tests.benchmarks.works:busy", {"seconds": 0.1}, repeats=3))
    assert cost.cpu is not None
    assert 0.1 <= cost.cpu < 0.15


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="this system forgets no peak")
def test_the_peak_of_a_call_is_its_own() -> None:
    first, second = run(call("large_at_first", megabytes=200), 2)
    assert first.memory is not None
    assert second.memory is not None
    assert first.memory >= 200
    assert second.memory < 100
    again = run(call("large", megabytes=200), 2)
    assert all(cost.memory is not None and cost.memory >= 200 for cost in again)


def test_what_a_tool_prints_is_no_answer() -> None:
    assert [cost.answer for cost in run(call("talks"), 2)] == [{"value": 1.0}] * 2


def test_a_tool_that_is_not_installed_is_named() -> None:
    with pytest.raises(LeftOutError, match=r"^a_tool_that_is_not_here is not installed$"):
        call("needs_what_is_not_here").start()


def test_an_environment_that_is_not_there_is_named() -> None:
    with pytest.raises(LeftOutError, match=r"^its environment is not here \(make peers"):
        Call("a:b", python="/no/python").start()


def test_a_call_that_ends_says_why() -> None:
    with pytest.raises(LeftOutError, match="no memory left"):
        run(call("ends"))


# --- the command -------------------------------------------------------------------------------------------------


def test_those_who_measure_stay_small() -> None:
    """The peak of a child is at least that of the process that starts it, which therefore loads nothing large."""
    groups = [f"benchmarks.{name}" for name in main.GROUPS if (ROOT / "benchmarks" / f"{name}.py").exists()]
    code = f"import sys, benchmarks.__main__, {', '.join(groups)}\nprint({{'numpy', 'polars', 'rankscope'}} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert shown.stdout.strip() == "set()"


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["fles"], "there is no group fles: groups are "),
        (["--rounds", "0"], "0 is not 1 or more"),
        (["--rows", "many"], "many is not a whole number"),
        (["--small", "--write"], "without --small"),
        (["startup", "-o", "/no/such/folder/a.json"], "/no/such/folder is no folder"),
        (["startup", "--folder", "/no/such/folder"], "/no/such/folder is no folder"),
    ],
    ids=["an unknown group", "no rounds", "rows in words", "pages of small sizes", "a result for nowhere", "files for nowhere"],
)  # fmt: skip
def test_bad_options_are_refused_in_a_line_before_anything_is_measured(arguments: list[str], why: str) -> None:
    found = bench(*arguments)
    assert found.returncode == 2
    assert why in found.stderr.splitlines()[-1]
    assert found.stdout == ""


def test_a_group_is_measured_and_stored(tmp_path: Path) -> None:
    import json

    found = bench("startup", "--rounds", "1", "--small", "-o", str(tmp_path / "found.json"))
    assert found.returncode == 0, found.stderr
    assert "rankscope evaluate" in found.stdout
    stored = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    group = stored["groups"]["startup"]
    assert [trial["name"] for trial in group["trials"]] == ["startup/help", "startup/evaluate"]
    assert [len(job["seconds"]) for job in group["trials"][1]["jobs"].values()] == [3, 3]
    assert group["machine"]["cores"] >= 1
    assert group["versions"]["rankscope"]
