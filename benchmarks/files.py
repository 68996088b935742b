"""Files of runs, whole processes: few long rankings, many short ones, gzip and Parquet."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.data import make
from benchmarks.measure import Answer, Call, Command, Job, Trial
from benchmarks.scope import METRICS, TEN, Scope, evaluate, on_threads, peer, printed

HUGE = 69_800  # queries of the file that is made where it may be so large
WHOLE = 7_000_000  # lines beyond which those that hold a whole file are left out
SLOW = 700_000  # lines beyond which those that take longest are left out
MANY = 20_000  # queries beyond which trec_eval is left out
TOLERANCE = 6e-5  # trec_eval prints four decimals
DEPTH = 1000


def trials(scope: Scope) -> Iterator[Trial]:
    """Sizes growing tenfold, then the largest in other forms, and ten times the largest where files may be so large (``--rows``)."""
    for queries in scope.sizes(7, 70, 698, 6980):
        yield _text(scope, "deep", queries, DEPTH, judged=1)
    for queries in scope.sizes(1_000, 10_000, 100_000):
        yield _text(scope, "many", queries, 10, judged=3)
    yield from _forms(scope, queries=scope.sizes(698, 6980)[-1])
    if scope.rows >= HUGE * DEPTH and not scope.small:
        yield _text(scope, "deep", HUGE, DEPTH, judged=1)


def _text(scope: Scope, family: str, queries: int, depth: int, judged: int) -> Trial:
    name = f"{family}-{queries}"
    qrels, run = make("write_files", scope.folder, name, queries=queries, depth=depth, judged=judged)
    lines, others = queries * depth, _others(scope, qrels, run)
    skipped = {job: why for job, (_, most, why) in others.items() if (queries if job == "trec_eval" else lines) > most}
    if not scope.trec_eval:
        skipped["trec_eval"] = "its binary was not given (--trec-eval or RANKSCOPE_BENCH_TREC_EVAL)"
    return Trial(
        f"files/{family}/{lines}",
        f"TREC file, {queries:,} queries × {depth:,} documents ({run.stat().st_size / 1e6:,.1f} MB)",
        lines,
        "lines",
        {"rankscope": evaluate(qrels, run)} | {job: of for job, (of, _, _) in others.items() if job not in skipped},
        f"files/{family}",
        tolerance=TOLERANCE,
        skipped=skipped,
        floors=("Polars, parsing only",),
    )


def _others(scope: Scope, qrels: Path, run: Path) -> dict[str, tuple[Job, int, str]]:
    """Other jobs with the most lines (trec_eval: queries) that they are given, and why."""
    whole, slow = f"timed up to {WHOLE:,} lines, as it holds all of the file", f"timed up to {SLOW:,} lines"
    square = f"timed up to {MANY:,} queries, as its time grows with their square"
    paths = {"qrels": str(qrels), "run": str(run)}
    return {
        "Polars, parsing only": (peer("polars-parse", qrels, run), WHOLE, whole),
        "pytrec_eval": (peer("pytrec_eval", qrels, run, needs="pytrec_eval"), WHOLE, whole),
        "trec_eval": (trec_eval(scope.trec_eval, qrels, run), MANY, square),
        "ir_measures": (peer("ir_measures", qrels, run, needs="ir_measures"), SLOW, slow),
        "ranx, warm": (Call("benchmarks.files:ranx", paths), SLOW, slow),
    }


def ranx(qrels: str, run: str) -> Callable[[], Answer]:
    """Files by its own readers, in a process in which all that it compiles is compiled: a whole process takes seconds for that."""
    from ranx import Qrels, Run, evaluate

    names = {"nDCG@10": "ndcg@10", "AP": "map", "RR@10": "mrr@10", "R@100": "recall@100", "P@10": "precision@10"}

    def work() -> Answer:
        files: Any = Qrels.from_file(qrels, kind="trec"), Run.from_file(run, kind="trec")
        found: Any = evaluate(*files, [*names.values()])
        return {name: float(found[theirs]) for name, theirs in names.items()}

    return work


def started(qrels: str, run: str) -> Callable[[], Answer]:
    """Files by rankscope in a process that has loaded all it needs: what is left is reading, judging and scoring."""
    import rankscope as rs

    def work() -> Answer:
        scores = rs.evaluate(qrels, run, METRICS)
        return {metric: scores[metric] for metric in METRICS}

    return work


def trec_eval(binary: str, qrels: Path, run: Path) -> Command:
    """trec_eval itself, with the measures that are nearest to ours."""
    asked = ("-m", "ndcg_cut.10", "-m", "map", "-m", "recip_rank", "-m", "recall.100", "-m", "P.10")
    return Command((binary, *asked, str(qrels), str(run)), printed)


def _forms(scope: Scope, queries: int) -> Iterator[Trial]:
    """The largest file with one metric and ten, on one thread and two (whole processes, and one that has started), packed, and as Parquet."""
    qrels, run = make("write_files", scope.folder, f"deep-{queries}", queries=queries, depth=DEPTH, judged=1)
    lines, what = queries * DEPTH, f"{queries:,} queries × {DEPTH:,} documents"
    yield Trial(
        f"files/metrics/{lines}",
        f"one metric and ten, TREC file, {what}",
        lines,
        "lines",
        {
            "rankscope, one metric": evaluate(qrels, run, METRICS[:1]),
            "rankscope, ten metrics": evaluate(qrels, run, TEN),
        },
    )
    yield Trial(
        f"files/threads/{lines}",
        f"one thread and two, TREC file, {what}",
        lines,
        "lines",
        {
            "rankscope, 2 threads": evaluate(qrels, run, threads=2),
            "rankscope, 1 thread": evaluate(qrels, run, threads=1),
        },
    )
    paths = {"qrels": str(qrels), "run": str(run)}
    yield Trial(
        f"files/threads-started/{lines}",
        f"one thread and two in a process that has started, TREC file, {what}",
        lines,
        "lines",
        {
            "rankscope, 2 threads": Call("benchmarks.files:started", paths, env=on_threads(2)),
            "rankscope, 1 thread": Call("benchmarks.files:started", paths, env=on_threads(1)),
        },
    )
    yield from _packed(qrels, run, lines, what)
    yield from _parquet(scope, qrels, run, lines, what)


def _packed(qrels: Path, run: Path, lines: int, what: str) -> Iterator[Trial]:
    packed, gzip = run.with_suffix(".txt.gz"), shutil.which("gzip")
    if gzip is None:
        print("gzip is not installed: no packed file is timed")
        return
    if not packed.exists():
        with packed.open("wb") as file:
            subprocess.run([gzip, "-c", str(run)], stdout=file, check=True)
    yield Trial(
        f"files/gzip/{lines}",
        f"packed with gzip, {what}",
        lines,
        "lines",
        {"rankscope": evaluate(qrels, packed), "gzip -dc": Command((gzip, "-dc", str(packed)))},
        floors=("gzip -dc",),
    )


def _parquet(scope: Scope, qrels: Path, run: Path, lines: int, what: str) -> Iterator[Trial]:
    made = make("text_to_parquet", scope.folder, run.name.removesuffix(".run.txt"))
    jobs = {
        "rankscope, Parquet": evaluate(*made),
        "Polars, scan only": peer("polars-scan", *made),
        "pytrec_eval, same rows as TREC": peer("pytrec_eval", qrels, run, needs="pytrec_eval"),
    }
    yield Trial(
        f"files/parquet/{lines}",
        f"Parquet, {what}",
        lines,
        "rows",
        jobs,
        tolerance=TOLERANCE,
        floors=("Polars, scan only",),
    )
