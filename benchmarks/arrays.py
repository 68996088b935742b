"""Arrays, dicts in a loop and interactions in frames, beside the tools that people have for them."""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import make_dicts

Timing = tuple[float, float]
Race = Callable[[str, dict[str, Callable[[], Timing]], int], None]
FIVE = ["nDCG@10", "AP@10", "RR@10", "R@10", "P@10"]  # as RecTools has them


def timed(work: Callable[[], object], times: int = 1) -> Callable[[], Timing]:
    """Seconds of so many calls."""

    def timing() -> Timing:
        start = time.perf_counter()
        for _ in range(times):
            work()
        return time.perf_counter() - start, 0.0

    return timing


def lists_of_grades(race: Race, rounds: int) -> None:
    """``of`` on a batch beside nDCG in five lines of NumPy."""
    import rankscope as rs

    grades = np.random.default_rng(1).integers(0, 4, (4_000, 120))
    as_lists = grades.tolist()

    def five_lines() -> Any:
        discount = 1 / np.log2(np.arange(2, grades.shape[1] + 2))
        dcg = (grades * discount).sum(axis=1)
        ideal = (-np.sort(-grades, axis=1) * discount).sum(axis=1)
        return np.divide(dcg, ideal, out=np.zeros(len(dcg)), where=ideal > 0)

    jobs = {
        "rankscope nDCG.of(array)": timed(lambda: rs.nDCG().of(grades)),
        "rankscope nDCG.of(lists)": timed(lambda: rs.nDCG().of(as_lists)),
        "five lines of NumPy": timed(five_lines),
    }
    race("nDCG of 4,000 lists x 120 grades", jobs, 3 * rounds)


def dense(race: Race, rounds: int, small: bool) -> None:
    """``evaluate_arrays`` beside scikit-learn."""
    from sklearn.metrics import ndcg_score

    import rankscope as rs

    rng = np.random.default_rng(1)
    shape = (1_000 if small else 10_000, 1_000)
    labels, scores = rng.integers(0, 5, shape), rng.random(shape)
    jobs = {
        "rankscope evaluate_arrays": timed(lambda: rs.evaluate_arrays(labels, scores, metrics="nDCG@10")),
        "rankscope, ties expected": timed(
            lambda: rs.evaluate_arrays(labels, scores, metrics="nDCG@10", ties="expected")
        ),
        "sklearn ndcg_score": timed(lambda: ndcg_score(labels, scores, k=10)),
    }
    race(f"nDCG@10 of {shape[0]:,} x {shape[1]:,} labels and scores", jobs, rounds)


def tensors(race: Race, rounds: int) -> None:
    """``evaluate_arrays`` on tensors beside torchmetrics."""
    import torch
    from torchmetrics.retrieval import RetrievalNormalizedDCG

    import rankscope as rs

    torch.manual_seed(1)
    scores, labels = torch.rand(1_024, 100), torch.randint(0, 2, (1_024, 100))
    indexes = torch.arange(1_024)[:, None].expand(1_024, 100)

    def theirs() -> float:
        metric = RetrievalNormalizedDCG(top_k=10)
        metric.update(scores.flatten(), labels.flatten(), indexes.flatten())
        return float(metric.compute())

    warnings.filterwarnings("ignore", category=UserWarning)
    jobs = {
        "rankscope evaluate_arrays": timed(lambda: rs.evaluate_arrays(labels, scores, metrics="nDCG@10").means),
        "torchmetrics": timed(theirs),
    }
    race("nDCG@10 of tensors of 1,024 x 100", jobs, rounds)


def loops(race: Race, rounds: int) -> None:
    """``Evaluator`` beside pytrec_eval's, each scoring a run again and again."""
    import pytrec_eval

    import rankscope as rs
    from benchmarks.jobs import MEASURES

    for queries, depth, times in ((50, 100, 50), (1_000, 1_000, 1)):
        qrels, run = make_dicts(queries, depth, 30)
        ours = rs.Evaluator(qrels, ["nDCG@10", "AP", "RR@10", "R@100", "P@10"])
        theirs = pytrec_eval.RelevanceEvaluator(qrels, MEASURES)
        jobs = {
            "rankscope Evaluator": timed(lambda ours=ours, run=run: ours(run), times),  # type: ignore[misc]
            "the same, with means": timed(lambda ours=ours, run=run: ours(run).means, times),  # type: ignore[misc]
            "pytrec_eval": timed(lambda theirs=theirs, run=run: theirs.evaluate(run), times),  # type: ignore[misc]
        }
        runs = "a run" if times == 1 else f"{times} runs"
        race(
            f"{runs} of {queries:,} queries x {depth:,} documents from dicts, judgments made ready before",
            jobs,
            3 * rounds,
        )


def interactions(race: Race, rounds: int, small: bool, peer: Path | None) -> None:
    """RecTools' five metrics on interactions in pandas, each in a process of its own: seconds of the work, peak of the process."""
    users = 10_000 if small else 100_000
    script = Path(__file__).with_name("recommended.py")

    def job(python: str, tool: str) -> Callable[[], Timing]:
        def timing() -> Timing:
            said = subprocess.run([python, str(script), tool, str(users)], capture_output=True, text=True, check=True)
            seconds, memory = map(float, said.stdout.split()[-2:])
            return seconds, memory

        return timing

    jobs = {"rankscope evaluate": job(sys.executable, "rankscope")}
    if peer is not None:
        jobs["RecTools"] = job(str(peer), "rectools")
    race(f"five metrics on {users * 20:,} interactions from pandas", jobs, rounds)


def arrays(race: Race, rounds: int, small: bool, peer: Path | None = None) -> None:
    """All of it; ``peer`` is the Python of an environment with RecTools, which needs an older NumPy."""
    lists_of_grades(race, rounds)
    dense(race, rounds, small)
    tensors(race, rounds)
    loops(race, rounds)
    interactions(race, rounds, small, peer)
