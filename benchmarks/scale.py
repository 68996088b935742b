"""Files of Parquet up to 100 million rows, ten metrics, whole processes: how time and memory grow."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.data import make
from benchmarks.measure import Trial
from benchmarks.scope import TEN, Scope, evaluate, peer

SIZES = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
SHAPES = {"long": (1000, 10, "rankings of 1,000"), "short": (20, 5, "rankings of 20")}


def trials(scope: Scope) -> Iterator[Trial]:
    """Long rankings, as in search, and short ones, as of a recommender."""
    wanted = [size for size in SIZES if size <= scope.rows]
    for family, (depth, judged, words) in SHAPES.items():
        for rows in scope.sizes(*wanted):
            qrels, run = make("write_parquet", scope.folder, f"{family}-{rows}", rows=rows, depth=depth, judged=judged)
            yield Trial(
                f"scale/{family}/{rows}",
                f"Parquet, {rows:,} rows, {words} ({run.stat().st_size / 1e6:,.1f} MB), ten metrics",
                rows,
                "rows",
                {"rankscope": evaluate(qrels, run, TEN), "Polars, scan only": peer("polars-scan", qrels, run)},
                f"scale/{family}",
                facts={"bytes": run.stat().st_size, "queries": rows // depth},
                floors=("Polars, scan only",),
            )
            for path in (qrels, run):
                path.unlink()  # the largest take gigabytes
