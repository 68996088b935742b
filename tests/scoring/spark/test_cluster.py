"""On a cluster of two executors: one is killed, tasks fail and are run again; and by Spark Connect.

A process has one Spark, so each of these two is a process of its own, which runs the scripts of all its tests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer
from types import ModuleType
from typing import Any

import pytest
from tests.scoring.spark.conftest import QUICK, SOURCES

START = """
import gc, json, os, signal, sys, time, traceback
import polars as pl, numpy as np
import rankscope as rs
from pyspark.sql import SparkSession
rng = np.random.default_rng(5)
run = pl.DataFrame({"query_id": [f"q{i // 20}" for i in range(4000)], "doc_id": [f"d{i % 20}" for i in range(4000)], "score": rng.random(4000)})
qrels = run.select("query_id", "doc_id").with_columns(grade=pl.Series(rng.integers(0, 3, 4000).astype(float))).filter(pl.col("grade") > 0)
here = rs.evaluate(qrels, run, ["nDCG@10", "AP"])
# a machine that is busy may be slow to start executors: the cluster tries on
builder = SparkSession.builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "6").config("spark.deploy.maxExecutorRetries", "-1")
"""
CHECK = """
there = rs.evaluate(spark.createDataFrame(qrels.to_pandas()), frame, ["nDCG@10", "AP"])
keys = ["query_id", "metric"]
assert there.to_polars("per_query").sort(keys).equals(here.per_query.sort(keys))
assert [m.value for m in there.board] == [m.value for m in here.board]
"""
CLUSTER = """
spark = builder.master("local-cluster[2,1,1024]").getOrCreate()
executors = spark.sparkContext._jsc.sc().getExecutorMemoryStatus
def new_session():
    while executors().size() < 3:  # the driver is one: where one was killed, another is on its way
        time.sleep(0.1)
    return spark.newSession()
"""
CONNECT = """
spark = builder.remote("local[2]").getOrCreate()
def new_session():
    return spark
"""
# runs each script as a notebook runs its cells: what it defines is of no module that an executor could import
SERVE = """
gc.disable()  # as in all tests on Spark
for line in sys.stdin:
    given = {**globals(), **json.loads(line), "spark": new_session()}
    try:
        exec(given["script"], given)
        failed = ""
    except BaseException:
        failed = traceback.format_exc()
    print(ANSWER + json.dumps(failed), flush=True)
"""
PLAIN = """
plain = spark.createDataFrame(run.to_pandas()).repartition(8)
"""
ONCE = """
def once(batches):
    rows = list(batches)
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        yield from rows
        return
"""
KILLED = (
    ONCE
    + """\
    status = open(f"/proc/{os.getppid()}/status").read()  # the parent of a worker is a daemon, and its parent the executor
    os.kill(int(status.partition("PPid:")[2].split()[0]), signal.SIGKILL)
frame = plain.mapInArrow(once, plain.schema)
"""
)
RETRIED = (
    ONCE
    + """\
    yield rows[0]
    raise RuntimeError("a disk, a network")
frame = plain.mapInArrow(once, plain.schema)
"""
)
# kills its executor when some tasks have read what others packed, and the rows that were packed there are lost with it
LATE = """
class Late(rs.Metric):
    "Half of the relevant documents found."
    def terms(self, lists):
        with open(marker + ".calls", "a") as calls:
            calls.write("x")
        if os.path.getsize(marker + ".calls") > 3 and not os.path.exists(marker):
            open(marker, "x").close()
            status = open(f"/proc/{os.getppid()}/status").read()
            os.kill(int(status.partition("PPid:")[2].split()[0]), signal.SIGKILL)
        return rs.Terms(lists, {"relevant": lists.relevant(1.0)}, 2.0 * lists.known(1.0))
def other(batches):
    for batch in batches:
        yield batch.slice(7) if os.path.exists(marker) else batch
spark.conf.set("spark.sql.adaptive.enabled", "false")
judged = spark.createDataFrame(qrels.to_pandas())
"""
SAME = """
there = rs.evaluate(judged, plain, [Late(), "AP"])
assert there["Late"] == 0.5
assert there["AP"] == here["AP"]
"""
CHANGED = """
# newer versions of Spark see for themselves that rows are others, and have all done anew
spark.conf.set("spark.sql.shuffle.orderIndependentChecksum.enabled", "false")
spark.conf.set("spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch", "false")
try:
    frame = spark.createDataFrame(run.to_pandas())
    rs.evaluate(judged, frame.mapInArrow(other, frame.schema), [Late(), "AP"])
except rs.DataError as error:
    assert "handed " in str(error) and "than it had read: a lost task was run again" in str(error), error
    assert "evaluate that" in str(error), error
else:
    raise SystemExit("rows of two frames were judged as one")
"""


LOGS = """
made = rs.simulate("experiment", users=60, seed=2, truth=0).log.with_columns(pl.col("revenue") * 1.1)
def close(one, other):
    return [[a, b] for a, b in zip(one, other, strict=True) if a != b and not (isinstance(a, float) and abs(a - b) <= 1e-12 * max(abs(a), 1.0))]
def compare(frame):
    for here, there in ((rs.online(made, "CTR ListCTR RPM Retention@2"), rs.online(frame, "CTR ListCTR RPM Retention@2")), (rs.experiment(made, primary="CTR"), rs.experiment(frame, primary="CTR"))):
        for one, other in zip(here.to_dicts(), there.to_dicts(), strict=True):
            assert one.keys() == other.keys() and not close(one.values(), other.values()), (one, other)
"""


ANSWER = "answer: "
Run = Callable[..., None]


def driver(start: str, folder: Path) -> Iterator[Run]:
    """A process with a Spark of its own: runs scripts one after another, each with the names that it is given."""
    path = os.pathsep.join(filter(None, [SOURCES, os.environ.get("PYTHONPATH", "")]))
    quick = (
        f"--conf 'spark.driver.extraJavaOptions={QUICK}' --conf 'spark.executor.extraJavaOptions={QUICK}' pyspark-shell"
    )
    env = {**os.environ, "PYSPARK_SUBMIT_ARGS": quick, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": path}
    words = [sys.executable, "-c", f"ANSWER = {ANSWER!r}\n{START}{start}{SERVE}"]
    said = folder / "stderr"
    with (
        said.open("w") as stderr,
        subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True, env=env
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        to, answers = process.stdin, process.stdout

        def run(script: str, **given: Any) -> None:
            limit = Timer(500, process.kill)
            limit.start()
            print(json.dumps({"script": script, **given}), file=to, flush=True)
            answer = next((line for line in answers if line.startswith(ANSWER)), None)
            limit.cancel()
            assert answer is not None, said.read_text()[-3000:]
            failed = json.loads(answer.removeprefix(ANSWER))
            assert not failed, failed[-3000:]

        yield run
        to.close()


@pytest.fixture(scope="module", autouse=True)
def packages(need: Callable[[str], ModuleType], java: None) -> None:
    for name in ("pyarrow", "pandas", "pyspark"):
        need(name)


@pytest.fixture(scope="module")
def on_cluster(packages: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    yield from driver(CLUSTER, tmp_path_factory.mktemp("cluster"))


@pytest.fixture(scope="module")
def by_connect(
    packages: None, need: Callable[[str], ModuleType], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Run]:
    for name in ("grpc", "grpc_status", "zstandard", "google.rpc"):
        need(name)
    yield from driver(CONNECT, tmp_path_factory.mktemp("connect"))


@pytest.mark.parametrize(
    "accident", [pytest.param(KILLED, id="an executor is killed"), pytest.param(RETRIED, id="a task is run again")]
)
def test_accidents_change_nothing(accident: str, on_cluster: Run, tmp_path: Path) -> None:
    marker = tmp_path / "happened"
    on_cluster(PLAIN + accident + CHECK, marker=str(marker))
    assert marker.exists()


@pytest.mark.parametrize(
    "frame",
    [pytest.param(SAME, id="of a frame that is the same again"), pytest.param(CHANGED, id="of one that is not")],
)
def test_rows_that_were_packed_are_lost(frame: str, on_cluster: Run, tmp_path: Path) -> None:
    marker = tmp_path / "happened"
    on_cluster(PLAIN + LATE + frame, marker=str(marker))
    assert marker.exists()


def test_connect(by_connect: Run) -> None:
    by_connect(
        'frame = spark.createDataFrame(run.to_pandas())\nassert "connect" in type(frame).__module__\n'
        + CHECK
        + 'assert "connect" in type(there.per_query).__module__\n'
    )


def test_a_log_of_a_cluster_by_which_a_task_is_run_again(on_cluster: Run, tmp_path: Path) -> None:
    marker = tmp_path / "happened"
    accident = RETRIED.replace("plain", "logged").replace(
        "frame = ", "logged = spark.createDataFrame(made.to_pandas()).repartition(8)\nframe = "
    )
    on_cluster(LOGS + accident + "compare(frame)\n", marker=str(marker))
    assert marker.exists()


def test_a_log_by_connect(by_connect: Run) -> None:
    by_connect(
        LOGS
        + 'frame = spark.createDataFrame(made.to_pandas())\nassert "connect" in type(frame).__module__\ncompare(frame)\n'
    )


def test_a_metric_of_a_notebook(on_cluster: Run) -> None:
    script = """
class Half(rs.Metric):
    "Half of the relevant documents found."
    def terms(self, lists):
        return rs.Terms(lists, {"relevant": lists.relevant(1.0)}, 2.0 * lists.known(1.0))
frame = spark.createDataFrame(run.to_pandas())
there = rs.evaluate(spark.createDataFrame(qrels.to_pandas()), frame, [Half(), "AP"])
assert there["Half"] == rs.evaluate(qrels, run, [Half()])["Half"] == 0.5, there
"""
    on_cluster(script)
