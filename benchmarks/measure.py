"""How work is timed, and what is worked out from the times.

A ``Trial`` is one piece of work done by several jobs, which take turns: a round runs each of them once, and ratios are taken within a
round, because machines are noisy and ratios are less so. A job is a ``Command`` (a whole process, from its start to its end) or a
``Call`` (work on input that is in memory already, in a process of its own that waits between its turns). This module and all that
describe trials import nothing large: the peak memory of a child is never less than that of the process that started it.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean, median
from typing import Any, Protocol

ROOT = Path(__file__).resolve().parents[1]
MEGA = 1e6
Answer = dict[str, float]


class LeftOutError(Exception):
    """A job cannot run here: its tool is not installed, or it failed. The message says which, in one line."""


@dataclass(frozen=True)
class Cost:
    """What one run of a job took, and what it answered.

    Wall and CPU seconds, and the peak memory of its process in megabytes (its input included, where that lies in memory); None where
    the system does not tell.
    """

    seconds: float
    cpu: float | None
    memory: float | None
    answer: Answer = field(default_factory=dict)


class Process(Protocol):
    """A job that can be run again and again."""

    def run(self) -> Cost:
        """Do the work once."""

    def close(self) -> None:
        """End what still runs."""


class Job(Protocol):
    """Something that can be timed."""

    def start(self) -> Process:
        """Get ready. Raises LeftOutError where the job cannot run here."""


@dataclass(frozen=True)
class Trial:
    """The same work done by several jobs.

    ``name`` stays the same from run to run, ``size`` counts what is worked on in ``unit``, and trials of one ``family`` grow tenfold.
    Ratios are to the job called ``first`` (the first of all where nothing is said). ``tolerance`` is how far the answers of jobs may
    differ before it is said that they do not agree; ``times`` multiplies the rounds where work is short; ``skipped`` holds jobs that are left out on
    purpose, with the reason, and ``facts`` what else is known of the work, as the bytes of a file. ``floors`` are jobs that do less
    than is asked, which nothing can be faster than.
    """

    name: str
    title: str
    size: int
    unit: str
    jobs: Mapping[str, Job]
    family: str = ""
    first: str = ""
    tolerance: float = 1e-6
    times: int = 1
    skipped: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, float] = field(default_factory=dict)
    floors: tuple[str, ...] = ()


# --- jobs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Command:
    """A whole process. ``reads`` takes an answer from what it prints; ``needs`` are packages that must be there."""

    argv: tuple[str, ...]
    reads: Callable[[bytes], Answer] | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()

    def start(self) -> Process:
        """Look whether all that it needs is there."""
        for package in self.needs:
            if find_spec(package) is None:
                raise LeftOutError(f"{package} is not installed")
        return self

    def run(self) -> Cost:
        """Run it to its end."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            start = time.perf_counter()
            try:
                child = subprocess.Popen(self.argv, stdout=out, stderr=errors, env=_environment(self.env), cwd=ROOT)
            except OSError as error:
                raise LeftOutError(f"{Path(self.argv[0]).name} cannot be started: {error.strerror}") from error
            _, status, usage = os.wait4(child.pid, 0)
            seconds = time.perf_counter() - start
            child.returncode = os.waitstatus_to_exitcode(status)
            if status:
                raise LeftOutError(f"it failed with exit {child.returncode}: {_last_line(errors)}")
            out.seek(0)
            answer = self.reads(out.read()) if self.reads else {}
        kilobytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
        return Cost(seconds, usage.ru_utime + usage.ru_stime, kilobytes * 1024 / MEGA, answer)

    def close(self) -> None:
        """Nothing: each run ends by itself."""


@dataclass(frozen=True)
class Call:
    """Work on input that is in memory: ``module:function`` makes the input from the arguments and returns the work.

    ``python`` is the interpreter of another environment, where the tool needs one. Work that takes no more than milliseconds is done
    ``repeats`` times a turn, as in a loop, and a turn takes the mean of them. ``env`` is set in its process.
    """

    function: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    python: str = sys.executable
    repeats: int = 1
    env: Mapping[str, str] = field(default_factory=dict)

    def start(self) -> Process:
        """Start the process that holds the input, and wait until it has it."""
        if not Path(self.python).exists():
            raise LeftOutError("its environment is not here (make peers, or RANKSCOPE_BENCH_RECOMMENDERS)")
        return Worker(self)


class Worker:
    """The process of a ``Call``."""

    def __init__(self, call: Call) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # as long as the process
        self._child = subprocess.Popen(
            [
                call.python,
                "-m",
                "benchmarks.worker",
                call.function,
                json.dumps(dict(call.arguments)),
                str(call.repeats),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=_environment(call.env),
            cwd=ROOT,
        )
        try:
            self._hear()
        except LeftOutError:
            self.close()
            raise

    def run(self) -> Cost:
        """Have the work done once."""
        assert self._child.stdin is not None
        self._child.stdin.write("go\n")
        self._child.stdin.flush()
        return Cost(**self._hear())

    def _hear(self) -> dict[str, Any]:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        heard: dict[str, Any] = json.loads(line) if line else {"left_out": f"it ended: {_last_line(self._errors)}"}
        if "left_out" in heard:
            raise LeftOutError(heard["left_out"])
        return heard

    def close(self) -> None:
        """End the process: it stops where nothing more comes."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.close()
        self._child.wait()
        self._child.stdout.close()
        self._errors.close()


def _environment(own: Mapping[str, str]) -> dict[str, str]:
    """What a job runs in. Compiled modules are kept, as where people work: the first round compiles them."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | dict(own)


def _last_line(errors: Any) -> str:
    errors.seek(0)
    lines = errors.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:200] if lines else "no reason was given"


# --- a trial -----------------------------------------------------------------------------------------------------


def measure(trial: Trial, rounds: int) -> dict[str, Any]:
    """Run the jobs of a trial in turn and return what they took, round by round, as data.

    A round before them does not count: files come into the cache, and what compiles has compiled. A job that cannot run, or fails, is
    left out with its reason.
    """
    left_out = dict(trial.skipped)
    taken: dict[str, list[Cost]] = {}
    answers: dict[str, Answer] = {}
    with ExitStack() as running:
        processes: dict[str, Process] = {}
        for name, job in trial.jobs.items():
            try:
                process = job.start()
                running.callback(process.close)
                answers[name] = process.run().answer
                processes[name], taken[name] = process, []
            except LeftOutError as error:
                left_out[name] = str(error)
        for _ in range(rounds * trial.times):
            for name, process in list(processes.items()):
                try:
                    taken[name].append(process.run())
                except LeftOutError as error:
                    left_out[name] = str(error)
                    del processes[name], taken[name], answers[name]
    first = trial.first or next(iter(trial.jobs))
    return {
        "name": trial.name,
        "title": trial.title,
        "family": trial.family,
        "size": trial.size,
        "unit": trial.unit,
        "facts": dict(trial.facts),
        "floors": [*trial.floors],
        "first": first,
        "jobs": {name: _columns(costs) for name, costs in taken.items()},
        "answers": {name: answer for name, answer in answers.items() if answer},
        "differ": disagreements(answers, first, trial.tolerance),
        "left_out": left_out,
    }


def _columns(costs: Sequence[Cost]) -> dict[str, list[float | None]]:
    return {
        "seconds": [round(cost.seconds, 6) for cost in costs],
        "cpu": [None if cost.cpu is None else round(cost.cpu, 6) for cost in costs],
        "memory": [None if cost.memory is None else round(cost.memory, 2) for cost in costs],
    }


def disagreements(answers: Mapping[str, Answer], first: str, tolerance: float) -> list[str]:
    """The jobs whose answer to a question that the first job answers, too, is further from its answer than the tolerance."""
    ours = answers.get(first, {})
    return [
        name
        for name, answer in answers.items()
        if any(abs(answer[key] - ours[key]) > tolerance for key in answer.keys() & ours.keys())
    ]


# --- arithmetic --------------------------------------------------------------------------------------------------


def ratio(numbers: Sequence[float], to: Sequence[float]) -> float:
    """The median of the ratios pair by pair: a round in which the machine was slow is slow for both.

    >>> ratio([2.0, 6.0, 8.0], to=[1.0, 2.0, 4.0])
    2.0
    """
    return median(mine / other for mine, other in zip(numbers, to, strict=True))


def slope(sizes: Sequence[float], amounts: Sequence[float]) -> float:
    """The exponent with which amounts grow with sizes: the line of least squares through both logarithms.

    1 is growth in proportion, 0 is none.

    >>> slope([10, 100, 1000], [3.0, 30.0, 300.0])
    1.0
    """
    if len(set(sizes)) < 2:
        raise ValueError("a slope needs two sizes or more")
    xs, ys = [math.log10(size) for size in sizes], [math.log10(amount) for amount in amounts]
    x, y = fmean(xs), fmean(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def each_more(sizes: Sequence[float], amounts: Sequence[float]) -> float:
    """What one more costs, from the two largest sizes: what is paid once, as the start of a process, is not in it.

    >>> each_more([100, 10, 1000], [12.0, 3.0, 102.0])
    0.1
    """
    (size, amount), (larger, most) = sorted(zip(sizes, amounts, strict=True))[-2:]
    return (most - amount) / (larger - size)


def at_size(size: float, sizes: Sequence[float], amounts: Sequence[float]) -> float:
    """The amount at a size beyond those measured, if what one more costs stays what it was between the two largest.

    >>> at_size(10_000, [100, 1000], [12.0, 102.0])
    1002.0
    """
    largest, amount = max(zip(sizes, amounts, strict=True))
    return amount + (size - largest) * max(each_more(sizes, amounts), 0.0)
