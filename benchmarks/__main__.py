"""Time rankscope against its peers, in turn, in one run: ``make bench``.

Each row gives the median of whole processes (or of calls, where input is in memory) and the ratio of
medians taken pair by pair, because machines are noisy and ratios are less so.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from benchmarks.data import make_dicts, write_files

METRICS = ["nDCG@10", "AP", "RR@10", "R@100", "P@10"]
TEN = [*METRICS, "ERR@20", "RBP", "Bpref", "infAP", "nDCG(gain=exponential)@20"]
PEER = Path(
    ".venv-recommenders/bin/python"
)  # an environment with RecTools (make data-recommenders), left out where there is none
Timing = tuple[float, float]  # seconds, megabytes


def process(command: Sequence[str]) -> Timing:
    """Run a command to its end: wall seconds and peak megabytes."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"{' '.join(command)} failed: exit {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_maxrss / 1024


def side_by_side(title: str, jobs: dict[str, Callable[[], Timing]], rounds: int, first: str = "") -> None:
    """Run the jobs in turn, round by round, and print medians and ratios to the first, or to the one named."""
    taken: dict[str, list[Timing]] = {name: [] for name in jobs}
    for job in jobs.values():
        job()  # a round that does not count: files into the cache
    for _ in range(rounds):
        for name, job in jobs.items():
            taken[name].append(job())
    print(f"\n{title}")
    first = first or next(iter(jobs))
    for name, timings in taken.items():
        seconds, memory = median(t[0] for t in timings), max(t[1] for t in timings)
        ratio = median(other[0] / mine[0] for other, mine in zip(timings, taken[first], strict=True))
        shown = f"{memory:8,.0f} MB" if memory else " " * 11
        print(
            f"  {name:<28} {seconds:8.3f} s {shown}   {ratio:6.2f} x {'rankscope' if first.startswith('rankscope') else first}"
        )


def rankscope(*arguments: str) -> Callable[[], Timing]:
    """The command line, as a user runs it."""
    return lambda: process([sys.executable, "-m", "rankscope", *arguments])


def job(name: str, qrels: Path, run: Path) -> Callable[[], Timing]:
    """A peer, in a process of its own."""
    return lambda: process([sys.executable, "-m", "benchmarks.jobs", name, str(qrels), str(run)])


def files(folder: Path, rounds: int, small: bool) -> None:
    """Seven million lines, and a hundred thousand short lists."""
    asked = [part for metric in METRICS for part in ("-m", metric)]
    shapes = {"deep": (698 if small else 6980, 1000, 1), "many": (10_000 if small else 100_000, 10, 3)}
    for name, (queries, depth, judged) in shapes.items():
        qrels, run = write_files(folder, name, queries, depth, judged)
        jobs = {
            "rankscope evaluate": rankscope("evaluate", str(qrels), str(run), *asked),
            "pytrec_eval": job("pytrec_eval", qrels, run),
            "polars, parsing only": job("polars-parse", qrels, run),
        }
        size = run.stat().st_size / 1e6
        side_by_side(
            f"{queries:,} queries x {depth:,} documents from TREC files ({size:,.0f} MB), whole process", jobs, rounds
        )
        if name == "deep":
            ten = [part for metric in TEN for part in ("-m", metric)]
            side_by_side(
                "the same file, ten metrics and one",
                {
                    "one metric": rankscope("evaluate", str(qrels), str(run), "-m", METRICS[0]),
                    "ten metrics": rankscope("evaluate", str(qrels), str(run), *ten),
                },
                rounds,
            )


def ties(rounds: int, small: bool) -> None:
    """A scorer that gives every document the same score: the mean over all orders."""
    import numpy as np

    import rankscope as rs

    queries = 1_000 if small else 10_000
    grades = np.random.default_rng(1).integers(0, 4, (queries, 100)).tolist()
    qrels = {f"q{i}": {f"d{j}": grade for j, grade in enumerate(row)} for i, row in enumerate(grades)}
    run = {query: dict.fromkeys(graded, 1.0) for query, graded in qrels.items()}

    def under(policy: str) -> Callable[[], Timing]:
        def timed() -> Timing:
            start = time.perf_counter()
            rs.evaluate(qrels, run, ["nDCG@10", "P@10", "R@100", "DCG@20", "RBP"], ties=policy)  # type: ignore[arg-type]
            return time.perf_counter() - start, 0.0

        return timed

    side_by_side(
        f"{queries:,} queries x 100 documents of one score, from dicts",
        {"ties by id": under("trec"), "ties expected": under("expected")},
        rounds,
    )


def dicts(rounds: int) -> None:
    """A thousand lists of a thousand, already in memory."""
    import pytrec_eval

    import rankscope as rs
    from benchmarks.jobs import MEASURES

    qrels, run = make_dicts(1000, 1000, 30)

    def ours() -> Timing:
        start = time.perf_counter()
        rs.evaluate(qrels, run, METRICS)
        return time.perf_counter() - start, 0.0

    def theirs() -> Timing:
        start = time.perf_counter()
        pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate(run)
        return time.perf_counter() - start, 0.0

    side_by_side(
        "1,000 queries x 1,000 documents from dicts, health counts included",
        {"rankscope": ours, "pytrec_eval": theirs},
        3 * rounds,
    )


def start_up(rounds: int) -> None:
    """What a user waits for before anything happens."""
    jobs = {"rankscope --help": rankscope("--help"), "python -c pass": lambda: process([sys.executable, "-c", "pass"])}
    side_by_side("start-up", jobs, 3 * rounds)


def main() -> None:
    """All of it."""
    from benchmarks.arrays import arrays
    from benchmarks.inference import inference
    from benchmarks.report import report

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="counted rounds of each (default 5)")
    parser.add_argument("--small", action="store_true", help="a tenth of the size, to try it out")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        start_up(arguments.rounds)
        dicts(arguments.rounds)
        ties(arguments.rounds, arguments.small)
        arrays(side_by_side, arguments.rounds, arguments.small, PEER if PEER.exists() else None)
        inference(arguments.rounds, arguments.small)
        report(Path(folder), arguments.rounds, arguments.small)
        files(Path(folder), arguments.rounds, arguments.small)


if __name__ == "__main__":
    main()
