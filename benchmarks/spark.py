"""Spark on this machine: rankscope on Spark and without it, and RePlay on Spark, all from the same Parquet files.

A session is started, and the files have been read once, before the rounds that count.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from benchmarks.data import make
from benchmarks.measure import Answer, Call, Trial
from benchmarks.recommenders import OURS, replay_metrics
from benchmarks.scope import Scope

DEPTH, JUDGED = 20, 5
USERS = (10_000, 100_000, 1_000_000)
Work = Callable[[], Answer]


def trials(scope: Scope) -> Iterator[Trial]:
    """As many users as the largest file may have (``--rows``)."""
    for users in scope.sizes(*(users for users in USERS if users * DEPTH <= scope.rows)):
        rows = users * DEPTH
        paths = make("write_parquet", scope.folder, f"users-{rows}", rows=rows, depth=DEPTH, judged=JUDGED, grades=1)
        arguments = {"qrels": str(paths[0]), "run": str(paths[1])}
        yield Trial(
            f"spark/users/{rows}",
            f"Parquet, {users:,} users × {DEPTH} items, Spark on two cores of this machine",
            rows,
            "rows",
            {
                "rankscope without Spark": Call("benchmarks.spark:local", arguments),
                "rankscope on Spark": Call("benchmarks.spark:rankscope", arguments),
                "RePlay on Spark": Call("benchmarks.spark:replay", arguments, python=scope.recommenders),
            },
            "spark/users",
        )


def session() -> Any:
    """A session on two cores of this machine. Raises AttributeError with one line where Spark cannot be started."""
    sql = import_module("pyspark.sql")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable  # executors in the environment of the tool
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    quiet = builder.config("spark.sql.shuffle.partitions", "8").config("spark.driver.memory", "2g")
    try:
        started = quiet.getOrCreate()
    except Exception as error:
        raise AttributeError(f"Spark cannot be started: {str(error).strip().splitlines()[0][:150]}") from error
    started.sparkContext.setLogLevel("ERROR")
    return started


def local(qrels: str, run: str) -> Work:
    """From the files, without Spark."""
    import rankscope as rs

    def work() -> Answer:
        scores = rs.evaluate(qrels, run, [*OURS])
        return {name: scores[metric] for metric, name in OURS.items()}

    return work


def rankscope(qrels: str, run: str) -> Work:
    """On frames of Spark."""
    import rankscope as rs

    import_module("pyspark")
    try:
        import_module("rankscope.engines.spark")
    except ModuleNotFoundError as error:
        raise AttributeError("this version of rankscope has no engine for Spark") from error
    spark = session()

    def work() -> Answer:
        scores = rs.evaluate(spark.read.parquet(qrels), spark.read.parquet(run), [*OURS])
        return {name: float(scores[metric]) for metric, name in OURS.items()}

    return work


def replay(qrels: str, run: str) -> Work:
    """On frames of Spark."""
    means = replay_metrics(query_column="query_id", item_column="doc_id", rating_column="score")
    spark = session()

    def work() -> Answer:
        liked = spark.read.parquet(qrels).where("grade >= 1").select("query_id", "doc_id")
        return means(spark.read.parquet(run), liked)

    return work
