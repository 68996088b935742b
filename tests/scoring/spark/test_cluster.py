"""On a cluster of two executors: one is killed, tasks fail and are run again, the package is not there; and by Spark Connect.

A process has one Spark, so each of these is a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from tests.scoring.spark.conftest import QUICK, SOURCES

START = """
import os, signal, sys
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
plain = spark.createDataFrame(run.to_pandas()).repartition(8)
marker = sys.argv[1]
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
    print(error)
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


def run_script(script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [SOURCES, os.environ.get("PYTHONPATH", "")]))
    quick = (
        f"--conf 'spark.driver.extraJavaOptions={QUICK}' --conf 'spark.executor.extraJavaOptions={QUICK}' pyspark-shell"
    )
    given = {
        **os.environ,
        "PYSPARK_SUBMIT_ARGS": quick,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": path,
        **environment,
    }
    return subprocess.run(
        [sys.executable, "-c", script, *arguments], check=False, capture_output=True, text=True, env=given, timeout=500
    )


@pytest.fixture(scope="module", autouse=True)
def packages(need: Callable[[str], ModuleType], java: None) -> None:
    for name in ("pyarrow", "pandas", "pyspark"):
        need(name)


@pytest.mark.parametrize(
    "accident", [pytest.param(KILLED, id="an executor is killed"), pytest.param(RETRIED, id="a task is run again")]
)
def test_accidents_change_nothing(accident: str, tmp_path: Path) -> None:
    marker = tmp_path / "happened"
    done = run_script(START + CLUSTER + accident + CHECK, str(marker))
    assert done.returncode == 0, done.stderr[-3000:]
    assert marker.exists()


@pytest.mark.parametrize(
    "frame",
    [pytest.param(SAME, id="of a frame that is the same again"), pytest.param(CHANGED, id="of one that is not")],
)
def test_rows_that_were_packed_are_lost(frame: str, tmp_path: Path) -> None:
    marker = tmp_path / "happened"
    done = run_script(START + CLUSTER + LATE + frame, str(marker))
    assert done.returncode == 0, done.stderr[-3000:]
    assert marker.exists()
    assert ("evaluate that" in done.stdout) == (frame is CHANGED)


def test_executors_without_the_package(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nclass Hidden:\n    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'rankscope':\n"
        '            raise ModuleNotFoundError(f"No module named {name!r}", name=name)\nsys.meta_path.insert(0, Hidden())\n'
    )
    start = (
        f'spark = builder.master("local[2]").config("spark.executorEnv.PYTHONPATH", {str(tmp_path)!r}).getOrCreate()\n'
    )
    script = START + start + "frame = spark.createDataFrame(run.to_pandas())\n" + CHECK
    done = run_script(script)
    assert done.returncode == 1
    assert (
        "InputError: the executors have no rankscope: install rankscope there in the same version, or ship"
        in done.stderr
    )


def test_connect(need: Callable[[str], ModuleType]) -> None:
    for name in ("grpc", "grpc_status", "zstandard", "google.rpc"):
        need(name)
    start = (
        'spark = builder.remote("local[2]").getOrCreate()\nframe = spark.createDataFrame(run.to_pandas())\n'
        'assert "connect" in type(frame).__module__\n'
    )
    done = run_script(START + start + CHECK + 'assert "connect" in type(there.per_query).__module__\n')
    assert done.returncode == 0, done.stderr[-3000:]


def test_a_log_of_a_cluster_by_which_a_task_is_run_again(tmp_path: Path) -> None:
    marker = tmp_path / "happened"
    accident = RETRIED.replace("plain", "logged").replace(
        "frame = ", "logged = spark.createDataFrame(made.to_pandas()).repartition(8)\nframe = "
    )
    done = run_script(START + LOGS + CLUSTER + accident + "compare(frame)\n", str(marker))
    assert done.returncode == 0, done.stderr[-3000:]
    assert marker.exists()


def test_a_log_by_connect(need: Callable[[str], ModuleType]) -> None:
    for name in ("grpc", "grpc_status", "zstandard", "google.rpc"):
        need(name)
    start = 'spark = builder.remote("local[2]").getOrCreate()\nframe = spark.createDataFrame(made.to_pandas())\n'
    done = run_script(START + LOGS + start + 'assert "connect" in type(frame).__module__\ncompare(frame)\n')
    assert done.returncode == 0, done.stderr[-3000:]


def test_a_metric_of_a_notebook() -> None:
    start = """
class Half(rs.Metric):
    "Half of the relevant documents found."
    def terms(self, lists):
        return rs.Terms(lists, {"relevant": lists.relevant(1.0)}, 2.0 * lists.known(1.0))
spark = builder.master("local[2]").getOrCreate()
frame = spark.createDataFrame(run.to_pandas())
there = rs.evaluate(spark.createDataFrame(qrels.to_pandas()), frame, [Half(), "AP"])
assert there["Half"] == rs.evaluate(qrels, run, [Half()])["Half"] == 0.5, there
"""
    done = run_script(START + start)
    assert done.returncode == 0, done.stderr[-3000:]
