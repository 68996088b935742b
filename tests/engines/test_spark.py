"""Parts of some whole queries, however rows come in batches; needs no Spark."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankscope.engines.spark import Part, PartMapper, RowPacker, fail, is_frame
from rankscope.errors import InputError

COLUMNS = {0: (("query_id", "string"), ("row", "bigint")), 1: (("query_id", "string"), ("grade", "double"))}


class Untouched:
    """A function of parts that gives nothing."""

    def parts(self, parts: Iterator[Part]) -> Iterator[pl.DataFrame]:
        yield from ()


def batches_of(frame: pl.DataFrame, cuts: Sequence[int]) -> Iterator[Any]:
    """The rows as Spark gives them to Python: in Arrow, with the bucket of their query beside them."""
    bucket = pl.col("query_id").fill_null("-1").str.tail(-1).cast(pl.Int16) % 5
    table = frame.with_columns(bucket=bucket).to_arrow(compat_level=pl.CompatLevel.oldest())
    ends = [0, *sorted(min(cut, frame.height) for cut in cuts), frame.height]
    for start, stop in itertools.pairwise(ends):
        yield from table.slice(start, stop - start).to_batches()


def parts_of(rows: pl.DataFrame, grades: pl.DataFrame, cuts: Sequence[int], together: int, part: int) -> list[Part]:
    """Both packed, brought together by Spark and unpacked."""
    import pyarrow as pa

    packed = []
    for source, frame in enumerate((rows, grades)):
        packed += list(RowPacker(source, COLUMNS[source], together)(batches_of(frame, cuts)))
    if not packed:
        return []
    table = pa.Table.from_batches(packed).combine_chunks().sort_by("bucket")
    mapper = PartMapper(Untouched(), part, COLUMNS, ())
    return list(mapper.parts(table.to_batches(max_chunksize=3)))


@settings(max_examples=200)
@given(
    queries=st.lists(st.integers(0, 12), max_size=60), judged=st.lists(st.integers(0, 12), max_size=20),
    cuts=st.lists(st.integers(0, 60), max_size=9), together=st.integers(1, 40), part=st.integers(1, 30), null=st.booleans(),
)  # fmt: skip
def test_every_query_is_whole_in_one_part(
    queries: list[int], judged: list[int], cuts: list[int], together: int, part: int, null: bool
) -> None:
    pytest.importorskip("pyarrow")
    ids = [None if null and query == 3 else f"q{query}" for query in queries]
    rows = pl.DataFrame({"query_id": ids, "row": range(len(ids))}, schema={"query_id": pl.String, "row": pl.Int64})
    grades = pl.DataFrame(
        {"query_id": [f"q{query}" for query in judged], "grade": [float(i) for i in range(len(judged))]},
        schema={"query_id": pl.String, "grade": pl.Float64},
    )
    parts = parts_of(rows, grades, cuts, together, part)
    for source, frame in enumerate((rows, grades)):
        found = pl.concat([frame.clear(), *(p[source] for p in parts)])
        assert found.sort(frame.columns[1]).equals(frame)
    seen = [query for p in parts for query in {*p[0]["query_id"], *p[1]["query_id"]}]
    assert len(seen) == len(set(seen))
    for p in parts[:-1]:
        assert p[0].height + p[1].height >= part


def test_a_giant_query_is_one_part() -> None:
    pytest.importorskip("pyarrow")
    ids = ["q0"] * 2 + ["q1"] * 500 + ["q2"] * 2
    rows = pl.DataFrame({"query_id": ids, "row": range(504)})
    grades = pl.DataFrame({"query_id": ["q1"], "grade": [1.0]})
    parts = parts_of(rows, grades, range(0, 504, 5), 10, 20)
    assert [p[0].filter(pl.col("query_id") == "q1").height for p in parts if p[1].height] == [500]


def test_only_frames_of_spark_are_frames_of_spark() -> None:
    assert not any(map(is_frame, [pl.DataFrame(), {}, "run.txt", None, []]))

    class DataFrame:
        __module__ = "pyspark.sql.classic.dataframe"

    assert is_frame(DataFrame())


def test_asking_loads_neither_spark_nor_polars() -> None:
    code = (
        "import sys, rankscope as rs; rs.evaluate({'q': {'a': 1}}, {'q': {'a': 1.0}}, 'AP'); from rankscope.engines.spark import is_frame; "
        "is_frame(1); sys.exit(bool({'pyspark', 'pyarrow', 'pandas'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_executor_without_the_package_is_told_how_to_get_it() -> None:
    with pytest.raises(InputError, match=r"the executors have no rankscope: install rankscope there .*venv-pack"):
        fail(RuntimeError("PythonException: ...\nModuleNotFoundError: No module named 'rankscope.scoring'\n"))
    with pytest.raises(ZeroDivisionError):
        fail(ZeroDivisionError("x"))
