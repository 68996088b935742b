"""Fusion of the TREC-COVID runs, in memory, each tool with its own setup, and of two files beside their evaluation."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.data import make
from benchmarks.measure import ROOT, Answer, Call, Command, Trial
from benchmarks.scope import METRICS, Scope, evaluate

FOLDER = ROOT.parent / "shared" / "data" / "trec_covid" / "round1" / "runs"


def trials(scope: Scope) -> Iterator[Trial]:
    """RRF of two TREC files; then of 24 runs of 30 topics, if the data are here."""
    for queries in scope.sizes(698, 6980):
        yield _of_files(scope, queries)
    if not FOLDER.exists():
        return
    jobs = {tool: Call(f"benchmarks.fusion:{tool}", {"folder": str(FOLDER)}) for tool in ("rankscope", "ranx")}
    yield Trial("fusion/trec_covid", "RRF of 24 runs, 30 topics × 1,000 documents", 654_678, "lines", jobs)


def _of_files(scope: Scope, queries: int) -> Trial:
    (qrels, one), (_, other) = (
        make(
            "write_files",
            scope.folder,
            f"fused-{queries}-{number}",
            queries=queries,
            depth=1000,
            judged=1,
            other=number,
        )
        for number in range(2)
    )
    out = scope.folder / f"fused-{queries}.txt"
    argv = (sys.executable, "-m", "rankscope", "fuse", str(one), str(other), "-o", str(out))
    return Trial(
        f"fusion/files/{queries * 1000}",
        f"RRF of two TREC files of {queries:,} queries × 1,000 documents",
        queries * 1000,
        "lines",
        {"rankscope evaluate": evaluate(qrels, one, METRICS, str(other)), "rankscope fuse": Command(argv)},
        "fusion/files",
    )


def _runs(folder: str) -> dict[str, dict[str, dict[str, float]]]:
    out: dict[str, dict[str, dict[str, float]]] = {}
    for path in sorted(Path(folder).glob("*.gz")):
        run = out.setdefault(path.name, {})
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            query, _, doc, _, score, _ = line.split()
            run.setdefault(query, {})[doc] = float(score)
    return out


def rankscope(folder: str) -> Callable[[], Answer]:
    """``rs.fuse`` from dicts."""
    import rankscope as rs

    runs = _runs(folder)
    return lambda: {"documents": float(rs.fuse(runs, "RRF(k=60)").frame.height)}


def ranx(folder: str) -> Callable[[], Answer]:
    """Its runs from dicts, and the fusion; its compiled code is kept in its cache."""
    from ranx import Run, fuse

    runs = _runs(folder)

    def work() -> Answer:
        given = [Run(run, name=name) for name, run in runs.items()]
        fused: Any = fuse(given, norm=None, method="rrf", params={"k": 60})
        return {"documents": float(sum(len(docs) for docs in fused.run.values()))}

    return work
