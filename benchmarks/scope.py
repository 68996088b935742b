"""What a run of the benchmarks is to measure, and with what."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import ROOT, Answer, Command

METRICS = ["nDCG@10", "AP", "RR@10", "R@100", "P@10"]
TEN = [*METRICS, "ERR@20", "RBP", "Bpref", "infAP", "nDCG(gain=exponential)@20"]


@dataclass(frozen=True)
class Scope:
    """Where files are made, and which sizes and tools are wanted.

    ``small`` leaves out the largest size of everything; ``rows`` is how many the largest file may have; ``trec_eval`` is its binary, and
    ``recommenders`` the interpreter of the environment of RecTools and RePlay, which need an older numpy than rankscope.
    """

    folder: Path
    small: bool = False
    rows: int = 10_000_000
    trec_eval: str = os.environ.get("RANKSCOPE_BENCH_TREC_EVAL", "")
    recommenders: str = os.environ.get(
        "RANKSCOPE_BENCH_RECOMMENDERS", str(ROOT / ".venv-recommenders" / "bin" / "python")
    )

    def sizes(self, *sizes: int) -> Sequence[int]:
        """Sizes that grow tenfold, without the largest where all is to be small."""
        return sizes[:-1] if self.small else sizes


def evaluate(qrels: Path, run: Path, metrics: Sequence[str] = METRICS, *options: str, threads: int = 0) -> Command:
    """The command line, as a user runs it; on so many threads where it is said."""
    asked = [part for metric in metrics for part in ("-m", metric)]
    argv = ("-m", "rankscope", "evaluate", str(qrels), str(run), *asked, "--format", "csv", *options)
    return Command((sys.executable, *argv), means, on_threads(threads) if threads else {})


def on_threads(threads: int) -> dict[str, str]:
    """What a process is told that is to work on so many threads."""
    return dict.fromkeys(("RANKSCOPE_THREADS", "POLARS_MAX_THREADS"), str(threads))


def peer(name: str, *given: Path | str, needs: str = "") -> Command:
    """Another tool, in a process of its own that prints what it finds; ``needs`` names packages."""
    argv = (sys.executable, "-m", "benchmarks.jobs", name, *map(str, given))
    return Command(argv, printed, needs=tuple(needs.split()))


def means(output: bytes) -> Answer:
    """The means in the CSV of ``rankscope evaluate``: run, metric, value, ..."""
    rows = [line.split(",") for line in output.decode("utf-8").splitlines()]
    at, value = rows[0].index("metric"), rows[0].index("value")
    return {row[at]: float(row[value]) for row in rows[1:]}


def printed(output: bytes) -> Answer:
    """The means that a job prints, a name and a number a line; trec_eval's lines have ``all`` between them."""
    pairs = [line.split() for line in output.decode("utf-8").splitlines()]
    return {OURS.get(pair[0], pair[0]): float(pair[-1]) for pair in pairs if pair}


OURS = {"ndcg_cut_10": "nDCG@10", "map": "AP", "recall_100": "R@100", "P_10": "P@10"}
"""Names of trec_eval for what these metrics are here. Its recip_rank has no cutoff and is another metric than RR@10."""
