"""Launches for the tests of the ledger, and a process that writes some."""

from __future__ import annotations

import os
import sys
from datetime import date, timedelta

from rankscope.ledger.launch import Launch, Measurement
from rankscope.ledger.recording import launches_from
from rankscope.worlds.launches import LaunchWorld


def launches(count: int = 200, seed: int = 0, **world: object) -> list[Launch]:
    """Simulated launches."""
    return launches_from(LaunchWorld(count, seed, **world).rows())  # type: ignore[arg-type]


def one(name: str, offline: float = 0.01, online: float | None = 0.002, **more: object) -> Launch:
    """A launch with one metric per side."""
    measured = [Measurement("offline", "nDCG@10", offline, 0.004)]
    if online is not None:
        measured.append(Measurement("online", "CTR", online, 0.001))
    facts = {"day": date(2024, 1, 1) + timedelta(days=len(name)), "baseline": "old", "candidate": "new"} | more
    return Launch(name, measurements=tuple(measured), **facts)  # type: ignore[arg-type]


def main(place: str, writers: str, count: str) -> None:
    """Write launches one by one in several processes, and print the name of each when it is acknowledged."""
    from rankscope.ledger.store import Ledger

    children = []
    for writer in range(int(writers)):
        if child := os.fork():
            children.append(child)
            continue
        ledger = Ledger(place)
        for number in range(int(count)):
            ledger.add(one(f"w{writer}-{number:05}"))
            os.write(1, f"w{writer}-{number:05}\n".encode())
        os._exit(0)
    sys.exit(sum(os.waitpid(child, 0)[1] for child in children))


if __name__ == "__main__":
    import rankscope.ledger.store  # noqa: F401 - before there are children

    main(*sys.argv[1:])
