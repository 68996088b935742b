"""One Spark session for all tests of a process, and small worlds as Spark frames."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

import rankscope
from rankscope.scoring.scores import Scores

SOURCES = str(Path(rankscope.__file__).parents[1])
# tests end before code that runs often is worth a second compiler, or garbage a thread of its own
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.fixture(autouse=True)
def no_garbage_collection() -> Iterator[None]:
    """Leaves cycles to the time between tests: py4j tells Java of each object that goes, which breaks a command that is under way."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="session")
def java() -> None:
    """Skips, or fails where Spark must be here, without a Java to run it."""
    if shutil.which("java") is None:
        if os.environ.get("RANKSCOPE_REQUIRE_SPARK") == "1":
            pytest.fail("RANKSCOPE_REQUIRE_SPARK=1, but there is no java")
        pytest.skip("Spark needs Java, which is not installed")


@pytest.fixture(scope="session")
def spark(need: Callable[[str], ModuleType], java: None) -> Iterator[Any]:
    """A session at local[2] whose batches hold seven rows, and whose parts hold twenty."""
    for name in ("pyarrow", "pandas"):
        need(name)
    sql = need("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [SOURCES, os.environ.get("PYTHONPATH", "")]))
    builder = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.driver.extraJavaOptions", QUICK)
        .config("spark.driver.memory", "768m")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "7")
        .config("spark.rankscope.part.rows", "20")
    )
    with warnings.catch_warnings():
        # pyspark forks to start Java, which JAX warns of where this process has tests of a peer that uses it
        warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
        session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def settings(spark: Any) -> Iterator[Callable[..., None]]:
    """Changes settings of the session, which are as they were after the test."""
    before: dict[str, str | None] = {}

    def change(**values: Any) -> None:
        for name, value in values.items():
            key = "spark." + name.replace("_", ".")
            before.setdefault(key, spark.conf.get(key, None))
            spark.conf.set(key, str(value))

    yield change
    for key, value in before.items():
        spark.conf.unset(key) if value is None else spark.conf.set(key, value)


@pytest.fixture(scope="session")
def on_spark(spark: Any) -> Callable[..., Any]:
    """A Polars frame as a Spark frame of so many partitions, its rows scattered over them."""

    def move(frame: pl.DataFrame, partitions: int = 4) -> Any:
        names = [*frame.columns, "place"]
        table = frame.with_row_index("place").select(names).to_arrow(compat_level=pl.CompatLevel.oldest())
        import pyarrow as pa

        plain = {pa.large_string(): pa.string(), pa.uint32(): pa.int64()}
        table = table.cast(pa.schema([(f.name, plain.get(f.type, f.type)) for f in table.schema]))
        return spark.createDataFrame(table).repartition(partitions, "place").drop("place")

    return move


def assert_same(here: Scores, there: Any) -> None:
    """Values of queries and means to the bit, intervals but for rounding, and what is said of the data."""
    keys = ["run", "query_id", "metric"]
    ids = pl.col("query_id").cast(pl.String)  # here whole numbers, where all that was passed are
    mine, theirs = here.per_query.with_columns(ids).sort(keys), there.to_polars("per_query").sort(keys)
    assert mine.equals(theirs)
    for one, other in zip(here.board, there.board, strict=True):
        names = ("run", "metric", "spelling", "queries", "undefined", "sampled_queries")
        assert [getattr(one, name) for name in names] == [getattr(other, name) for name in names]
        assert repr(one.value) == repr(other.value), one.metric
        assert (one.error is None) == (other.error is None)
        assert one.error is None or one.error == pytest.approx(other.error, rel=1e-12)
        assert (one.bounds.method, one.bounds.reason) == (other.bounds.method, other.bounds.reason), one.metric
        ends = (other.bounds.lower, other.bounds.upper)
        assert (one.bounds.lower, one.bounds.upper) == pytest.approx(ends, rel=1e-9, abs=1e-12, nan_ok=True)
    for run, facts in here.data_health.items():
        found = there.data_health[run]
        for name, value in facts.items():
            if name in {"missing", "extra"}:  # Spark has no order of queries: those with the lowest ids are named
                assert len(found[name]) == len(value)
            else:
                assert found[name] == value, name
    assert sorted(w.code for w in there.warnings) == sorted(w.code for w in here.warnings)
