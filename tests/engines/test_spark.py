"""Parts of some whole queries, however rows come in batches; needs no Spark."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankscope.engines.spark import fail, is_frame, whole_queries
from rankscope.errors import InputError


def batches_of(sizes: Sequence[int], cuts: Sequence[int], null: bool) -> list[pl.DataFrame]:
    ids = [None if null and i == 0 else f"q{i:03}" for i, size in enumerate(sizes) for _ in range(size)]
    frame = pl.DataFrame({"query_id": ids, "row": range(len(ids))}, schema={"query_id": pl.String, "row": pl.Int64})
    ends = [0, *sorted(min(cut, len(ids)) for cut in cuts), len(ids)]
    return [frame[start:stop] for start, stop in itertools.pairwise(ends)]


@settings(max_examples=200)
@given(
    sizes=st.lists(st.integers(1, 12), max_size=12), cuts=st.lists(st.integers(0, 100), max_size=20), rows=st.integers(1, 30),
    null=st.booleans(),
)  # fmt: skip
def test_every_query_is_whole_in_one_part(sizes: list[int], cuts: list[int], rows: int, null: bool) -> None:
    batches = batches_of(sizes, cuts, null)
    parts = list(whole_queries(batches, rows))
    assert all(part.height for part in parts)
    assert pl.concat([*batches, *parts]).height == 2 * sum(sizes)
    assert [row for part in parts for row in part["row"]] == list(range(sum(sizes)))
    seen = [query for part in parts for query in part["query_id"].unique()]
    assert len(seen) == len(set(seen)) == len(sizes)


def test_a_part_is_about_as_large_as_it_should_be() -> None:
    parts = list(whole_queries(batches_of([3] * 100, range(0, 300, 7), False), 30))
    assert {part.height for part in parts[:-1]} <= set(range(24, 40))


def test_a_giant_query_is_one_part() -> None:
    parts = list(whole_queries(batches_of([2, 500, 2], range(0, 504, 5), False), 20))
    assert 500 in {part.filter(pl.col("query_id") == "q001").height for part in parts}


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
