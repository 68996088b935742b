"""Small pieces of work for ``benchmarks.worker``, as other tools would be."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

Work = Callable[[], Any]


def answers(value: float) -> Work:
    return lambda: {"value": value}


def busy(seconds: float) -> Work:
    def work() -> None:
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass

    return work


def idle(seconds: float) -> Work:
    return lambda: time.sleep(seconds)


def large_at_first(megabytes: int) -> Work:
    """Needs much memory the first time alone."""
    sizes = [megabytes]

    def work() -> None:
        _hold(sizes.pop() if sizes else 0)

    return work


def large(megabytes: int) -> Work:
    return lambda: _hold(megabytes)


def _hold(megabytes: int) -> None:
    held = bytearray(megabytes * 1_000_000)
    for i in range(0, len(held), 4096):
        held[i] = 1


def talks() -> Work:
    """Prints, as some tools do."""

    def work() -> dict[str, float]:
        print("progress: 100%")
        os.system("echo from a child")
        return {"value": 1.0}

    return work


def needs_what_is_not_here() -> Work:
    import a_tool_that_is_not_here  # type: ignore[import-not-found]  # noqa: F401

    return lambda: None


def ends() -> Work:
    def work() -> None:
        sys.exit("no memory left")

    return work
