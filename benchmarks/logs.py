"""Logs of millions of rows in Parquet files: CTR, CVR and the verdict of an experiment, whole processes."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data import make_log
from benchmarks.measure import Answer, Command, Trial
from benchmarks.scope import Scope, peer

SIMULATED = 68  # rows that a simulated user makes, about


def trials(scope: Scope) -> Iterator[Trial]:
    """Ten rows a user at random, ids as numbers and as texts, in sizes growing tenfold; then a simulated log, whose rows stand in lists."""
    for rows in scope.sizes(100_000, 1_000_000, 10_000_000):
        for ids in ("numbers", "texts"):
            log = make_log(
                "write_log", scope.folder, f"{ids}-{rows}", rows=rows, users=rows // 10, texts=ids == "texts"
            )
            yield _trial(f"logs/{ids}", rows, log, f"{rows:,} rows, {rows // 10:,} users, ids as {ids}")
    users = scope.sizes(15_000, 150_000)[-1]
    log = make_log("simulate_log", scope.folder, f"simulated-{users}", users=users)
    yield _trial("logs/simulated", users * SIMULATED, log, f"simulated, {users:,} users")
    yield Trial(
        f"logs/whole/{users * SIMULATED}",
        f"a check and a page of a log with days and lists, Parquet, simulated, {users:,} users",
        users * SIMULATED,
        "rows",
        {
            "rankscope experiment": Command(
                (sys.executable, "-m", "rankscope", "experiment", str(log), "--format", "csv")
            ),
            "rankscope check": Command((sys.executable, "-m", "rankscope", "check", str(log))),
            "rankscope report": Command(
                (sys.executable, "-m", "rankscope", "report", str(log), "-o", str(log.with_suffix(".html")))
            ),
        },
        "logs/whole",
    )


def _trial(family: str, rows: int, log: Path, what: str) -> Trial:
    return Trial(
        f"{family}/{rows}",
        f"experiment, CTR and CVR, Parquet, {what}",
        rows,
        "rows",
        {
            "rankscope experiment": _ours("experiment", log, "--primary", "CTR", "-m", "CVR"),
            "rankscope online, no verdict": _ours("online", log, "-m", "CTR", "-m", "CVR"),
            "Polars, sums by user only": peer("polars-users", log),
            "pandas and tea-tasting": peer("tea-tasting", log, needs="pandas pyarrow tea_tasting"),
        },
        family,
        tolerance=1e-9,
        floors=("Polars, sums by user only",),
    )


def _ours(verb: str, log: Path, *options: str) -> Command:
    return Command((sys.executable, "-m", "rankscope", verb, str(log), *options, "--format", "csv"), found)


def found(output: bytes) -> Answer:
    """What CSV says of an experiment: the difference of each metric, and its p-value. The values of ``online`` are no answer to that."""
    rows = csv.DictReader(output.decode("utf-8").splitlines())
    pairs = [(row["metric"], row["difference"], row["p_value"]) for row in rows if "difference" in row]
    return {metric: float(difference) for metric, difference, _ in pairs} | {
        f"{metric}.p_value": float(p) for metric, _, p in pairs
    }
