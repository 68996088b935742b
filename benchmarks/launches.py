"""The ledger: correlate 20 offline metrics with users over 100 to 10,000 launches."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.measure import Answer, Call, Trial
from benchmarks.scope import Scope

METRICS = 20


def trials(scope: Scope) -> Iterator[Trial]:
    """The analysis of a SQLite ledger, in sizes growing tenfold."""
    for launches in scope.sizes(100, 1_000, 10_000):
        yield Trial(
            f"launches/correlate/{launches}",
            f"launches correlate, SQLite, {launches:,} launches × {METRICS} offline metrics",
            launches * METRICS,
            "differences",
            {"rankscope": Call("benchmarks.launches:correlate", {"launches": launches})},
            "launches/correlate",
        )


def correlate(launches: int) -> Callable[[], Answer]:
    """``rs.launches.correlate`` on a ledger of simulated launches."""
    import rankscope as rs
    from rankscope.ledger.recording import launches_from
    from rankscope.ledger.store import Ledger
    from rankscope.worlds.launches import LaunchWorld

    place = str(Path(tempfile.mkdtemp()) / "launches.db")
    world = LaunchWorld(launches, 1, {f"metric{i}": i / METRICS for i in range(METRICS)})
    Ledger(place).add(launches_from(world.rows()))
    return lambda: {"answers": float(sum(row["verdict"] != "cannot tell" for row in rs.launches.correlate(place).rows))}
