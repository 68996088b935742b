"""A job in a process of its own: ``python -m benchmarks.worker MODULE:FUNCTION ARGUMENTS REPEATS``.

The function makes its input from the arguments (a JSON object) and returns the work, which takes nothing and returns its answer (a dict
of numbers) or None. The work is done for each line on standard input, as often as is said. It runs with other tools' environments, too, and so with
the standard library alone.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def main() -> None:
    """Get ready, say so, and work when told to."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a tool prints is no answer

    def say(**words: Any) -> None:
        out.write(json.dumps(words) + "\n")
        out.flush()

    module, _, name = sys.argv[1].partition(":")
    try:
        work = getattr(import_module(module), name)(**json.loads(sys.argv[2]))
    except ModuleNotFoundError as error:
        say(left_out=f"{error.name} is not installed")
        return
    except AttributeError as error:  # a part of rankscope that this version does not have
        say(left_out=str(error))
        return
    say(ready=True)
    for _ in sys.stdin:
        say(**timed(work, int(sys.argv[3])))


def timed(work: Callable[[], Any], repeats: int = 1) -> dict[str, Any]:
    """What doing the work once takes, as the mean of some: wall and CPU seconds, and peak megabytes, those of child processes included."""
    _forget_peak()
    below, cpu, start = _child_seconds(), time.process_time(), time.perf_counter()
    for _ in range(repeats):
        answer = work()
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu + _child_seconds() - below
    return {"seconds": seconds / repeats, "cpu": cpu / repeats, "memory": _peak(), "answer": answer or {}}


def _forget_peak() -> None:
    """Start the peak of memory from what is held now, where the system can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def _peak() -> float | None:
    """Megabytes at the peak of this process and those below it, whose peaks need not have been at one time."""
    try:
        return sum(_peak_of(pid) for pid in [os.getpid(), *_below()]) / 1e6
    except OSError:
        return None


def _peak_of(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0.0


def _child_seconds() -> float:
    """CPU seconds of the processes below this one that are alive (as the Java machine of Spark is)."""
    total = 0.0
    for pid in _below():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        total += (int(fields[11]) + int(fields[12]) + int(fields[13]) + int(fields[14])) / TICKS
    return total


def _below(pid: int | None = None) -> list[int]:
    """The processes that this one started, and theirs."""
    found: list[int] = []
    try:
        for thread in Path(f"/proc/{pid or 'self'}/task").iterdir():
            found += map(int, (thread / "children").read_text(encoding="ascii").split())
    except OSError:
        return found
    return [*found, *(below for child in found for below in _below(child))]


if __name__ == "__main__":
    main()
