"""Rows that are packed come out again, each once, in parts of some whole queries, however they come in batches; needs no Spark."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankscope.engines.packing import Columns, Part, PartStream, RowPacker, buckets_of

pytest.importorskip("pyarrow")

RUN = (("query_id", "string"), ("row", "bigint"), ("doc_id", "string"), ("score", "double"))
GRADES = (("query_id", "string"), ("grade", "double"))
COLUMNS: dict[int, Columns] = {0: RUN, -1: GRADES}
TYPES = {"string": pl.String, "bigint": pl.Int64, "double": pl.Float64}


def frame_of(columns: Columns, rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={name: TYPES[kind] for name, kind in columns}, orient="row")


def values_of(source: int, frame: pl.DataFrame, cuts: Sequence[int], together: int) -> list[Any]:
    """What becomes of the rows of a partition that Spark gives to Python in batches that end here."""
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    ends = [0, *sorted(min(cut, frame.height) for cut in cuts), frame.height]
    batches = [b for start, stop in itertools.pairwise(ends) for b in table.slice(start, stop - start).to_batches()]
    return list(RowPacker(source, COLUMNS[source], together, 5, len(RUN))(batches))


def parts_of(values: Sequence[Any], size: int) -> tuple[list[Part], PartStream]:
    """Values brought together by Spark, and taken apart."""
    import pyarrow as pa

    table = pa.Table.from_batches(values).combine_chunks().sort_by("bucket")
    parts = PartStream(table.to_batches(max_chunksize=3), size, COLUMNS)
    return list(parts), parts


TEXTS = st.sampled_from(["", "a", "bb", "é", "\N{SNOWMAN}" * 9, "\x00", "x" * 300, None])
NUMBERS = st.sampled_from([0.0, -0.0, 1.5, float("inf"), float("nan"), None])


@settings(max_examples=200)
@given(
    rows=st.lists(st.tuples(st.integers(0, 12), TEXTS, NUMBERS), max_size=60), judged=st.lists(st.tuples(st.integers(0, 12), NUMBERS), max_size=20),
    cuts=st.lists(st.integers(0, 60), max_size=9), together=st.integers(1, 40), size=st.integers(1, 30), grouped=st.booleans(),
    split=st.integers(0, 60),
)  # fmt: skip
def test_every_row_comes_out_once_and_every_query_in_one_part(
    rows: list[Any], judged: list[Any], cuts: list[int], together: int, size: int, grouped: bool, split: int
) -> None:
    names = {3: None, 4: "", 5: "a name of a query that does not fit into a view of Arrow"}
    rows = sorted(rows, key=lambda row: row[0]) if grouped else rows
    run = frame_of(RUN, [(names.get(q, f"q{q}"), at, doc, score) for at, (q, doc, score) in enumerate(rows)])
    grades = frame_of(GRADES, [(names.get(q, f"q{q}"), grade) for q, grade in judged])
    values = [
        *values_of(0, run[:split], cuts, together),
        *values_of(0, run[split:], cuts, together),
        *values_of(-1, grades, cuts, together),
    ]
    if not values:
        return
    found, parts = parts_of(values, size)
    assert pl.concat([run.clear(), *(part[0] for part in found)]).sort("row").equals(run)
    assert sorted(map(repr, pl.concat([grades.clear(), *(part[-1] for part in found)]).iter_rows())) == sorted(
        map(repr, grades.iter_rows())
    )
    seen = [query for part in found for query in {*part[0]["query_id"], *part[-1]["query_id"]}]
    assert len(seen) == len(set(seen))
    assert all(part[0].height + part[-1].height >= size for part in found[:-1])
    assert (parts.rows, parts.check % 2**64) == (0, 0)


def test_a_giant_query_is_one_part() -> None:
    run = frame_of(RUN, [(f"q{(i > 1) + (i > 501)}", i, f"d{i}", 1.0) for i in range(504)])
    values = [*values_of(0, run, range(0, 504, 5), 10), *values_of(-1, frame_of(GRADES, [("q1", 1.0)]), [], 10)]
    found, _ = parts_of(values, 20)
    assert [part[0].filter(pl.col("query_id") == "q1").height for part in found if part[-1].height] == [500]


RUN_A = frame_of(RUN, [(f"q{i // 4}", i, f"d{i}", 1.0) for i in range(200)])


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(RUN_A[:-40], id="queries are gone"),
        pytest.param(pl.concat([RUN_A, RUN_A[:40]]), id="queries come twice"),
        pytest.param(
            RUN_A.with_columns(pl.col("query_id").str.replace("q1", "other")), id="as many rows of other queries"
        ),
    ],
)
def test_a_task_that_read_other_rows_when_it_was_run_again_is_seen(second: pl.DataFrame) -> None:
    """Some buckets were fetched before the values of a task were lost, the others after it was run again."""
    import pyarrow as pa

    def fetched(frame: pl.DataFrame, first: bool) -> list[Any]:
        tables = [pa.Table.from_batches([value]).to_pandas() for value in values_of(0, frame, [50], 64)]
        kept = [table[(table["bucket"] < 3) == first] for table in tables]
        schema = values_of(0, RUN_A, [], 64)[0].schema
        return [pa.RecordBatch.from_pandas(t, schema, preserve_index=False) for t in kept if len(t)]

    _, same = parts_of([*fetched(RUN_A, True), *fetched(RUN_A, False)], 30)
    assert (same.rows, same.check % 2**64) == (0, 0)
    _, other = parts_of([*fetched(RUN_A, True), *fetched(second, False)], 30)
    _, swapped = parts_of([*fetched(second, True), *fetched(RUN_A, False)], 30)
    assert all((parts.rows, parts.check % 2**64) != (0, 0) for parts in (other, swapped))


def test_rows_in_another_order_are_the_same_rows() -> None:
    """A shuffle before may hand rows over in another order when it is fetched again."""
    mixed = RUN_A.sample(fraction=1.0, shuffle=True, seed=3)
    one, two = (values_of(0, frame, [], 64) for frame in (RUN_A, mixed))
    assert one[-1].column(2).to_pylist() == two[-1].column(2).to_pylist() == [200]
    assert one[-1].column(3).to_pylist() == two[-1].column(3).to_pylist()


def test_buckets_depend_on_the_text_alone_and_are_even() -> None:
    import pyarrow as pa

    names = pa.array([f"{i:09}" for i in range(20_000)], pa.large_string())
    found = buckets_of(names, 512)
    assert (buckets_of(names.slice(500, 90), 512) == found[500:590]).all()
    count = np.bincount(found, minlength=512)
    assert abs(count / (20_000 / 512) - 1).max() < 0.8  # five standard deviations
    # what an older version put somewhere else would split a query between executors
    assert buckets_of(pa.array(["", "q1", "\x00", "é"], pa.large_string()), 512).tolist() == [0, 160, 485, 210]
