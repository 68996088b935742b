"""Queries that are sent to rows elsewhere: a stand-in for the rows, the bytes of a query, and rows on their way."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from types import ModuleType
from typing import Any

import polars as pl
import pytest

from rankscope.engines import remote_queries as queries
from rankscope.engines.remote_queries import answer, answered, answers_of, columns_read, plan_of, query_of, stand_in
from rankscope.errors import InputError

ROWS = pl.DataFrame(
    {
        "unit": ["a", "b", "a", None],
        "click": [1.0, 0.0, None, 1.0],
        "at": [datetime(2024, 1, day, tzinfo=UTC) for day in (1, 2, 3, 4)],
        "tags": [[1]] * 4,
    }
)
FRAME = stand_in(ROWS.schema)
JOINED = (
    FRAME.group_by("unit")
    .agg(pl.col("at").max())
    .join(FRAME.filter(pl.col("click") > 0).group_by("unit").agg(pl.len()), on="unit", how="left", nulls_equal=True)
)
QUERIES: list[Any] = [
    pytest.param(FRAME.select(pl.len()), 1, id="rows"),
    pytest.param(FRAME.select(pl.col("click").sum()), {"click"}, id="a sum"),
    pytest.param(FRAME.filter(pl.col("at") > datetime(2024, 1, 1, tzinfo=UTC)).group_by("unit").agg(pl.col("click").first()), {"unit", "click", "at"}, id="groups of some rows"),
    pytest.param(JOINED, {"unit", "click", "at"}, id="a join with itself"),
    pytest.param(FRAME.with_columns(day=pl.col("at").dt.date()).select("day", pl.col("click").map_batches(lambda s: s * 2, return_dtype=pl.Float64)), {"click", "at"}, id="a function of Python"),
    pytest.param(FRAME.select("unit").head(2), {"unit"}, id="the first rows"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "read"), QUERIES)
def test_a_query_over_a_stand_in_says_what_it_says_of_the_rows(
    query: pl.LazyFrame, read: Any, need: Callable[[str], ModuleType]
) -> None:
    found = columns_read(query, ROWS.schema)
    assert len(found) == read if isinstance(read, int) else read <= set(found)
    assert "tags" not in found
    sent = query_of(plan_of(query, need("cloudpickle")))
    few = answer(sent, ROWS.select(found))
    key = [name for name in few.columns if name in {"unit", "day"}]
    assert few.sort(key).equals(answer(query, ROWS).sort(key)) if key else few.equals(answer(query, ROWS))
    assert answer(query, ROWS[:0]).schema == few.schema


def test_answers_depend_on_the_rows_at_hand() -> None:
    query = FRAME.select(pl.col("click").sum())
    assert [answer(query, ROWS[:1]).item(), answer(query, ROWS[1:]).item(), answer(query, ROWS[:0]).item()] == [
        1.0,
        1.0,
        0.0,
    ]
    with pytest.raises(pl.exceptions.PolarsError):
        answer(FRAME.select(pl.col("click").str.len_chars()), ROWS)
    assert answer(query, ROWS).item() == 2.0  # an error leaves nothing behind


def test_queries_are_pickled_by_what_there_is(
    monkeypatch: pytest.MonkeyPatch, need: Callable[[str], ModuleType]
) -> None:
    cloud = need("cloudpickle")
    monkeypatch.setattr(queries, "find_spec", lambda name: None)
    monkeypatch.delitem(sys.modules, "cloudpickle", raising=False)
    asked = []

    class Pickler(ModuleType):
        def dumps(self, value: object) -> bytes:
            asked.append(value)
            return bytes(cloud.dumps(value))

    plan = plan_of(FRAME.select(pl.len()), Pickler("pickler"))
    assert asked
    assert "cloudpickle" not in sys.modules
    assert answer(query_of(plan), ROWS).item() == 4


def test_a_query_that_cannot_be_read_is_told() -> None:
    with pytest.raises(InputError, match=r"the executors have Polars .* cannot read the query"):
        query_of(b"no query")


KINDS = {
    "text": ["a", None], "whole": [1, None], "fraction": [0.1, None], "flag": [True, None], "day": [date(2024, 2, 29), None], "time": [datetime(2024, 1, 1, 1, 2, 3, 456789, tzinfo=UTC), None],
    "price": [Decimal("12345678901234567.89"), None], "small": pl.Series([0.1, None], dtype=pl.Float32), "byte": pl.Series([7, None], dtype=pl.Int8),
}  # fmt: skip


def test_cells_come_as_they_were_sent(need: Callable[[str], ModuleType]) -> None:
    need("pyarrow")
    rows = pl.DataFrame(KINDS)
    kinds = tuple(rows.schema.items())
    reading = queries.RowReading(plan_of(stand_in(rows.schema).select(rows.columns), need("cloudpickle")), kinds, kinds)
    lie = rows.rename({name: f"c{at}" for at, name in enumerate(rows.columns)}).with_columns(
        pl.Series(queries.ORDER, [8, 3])
    )
    batches = list(reading(lie.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()))
    sent = pl.concat([pl.DataFrame(pl.from_arrow(batch)) for batch in batches])
    assert [str(kind) for kind in sent.dtypes] == [
        {"string": "String", "double": "Float64", "bigint": "Int64"}[kind] for _, kind in reading.columns
    ]
    assert reading.unpacked(sent).equals(rows.reverse())
    assert reading.unpacked(sent).schema == rows.schema


@pytest.mark.parametrize("kind", [pl.List(pl.Int64), pl.Struct({"a": pl.Int64}), pl.Binary, pl.Null], ids=str)
def test_some_columns_are_not_sent(kind: Any) -> None:
    assert queries.kind_sent(pl.Series([], dtype=kind).dtype) == ""


def test_answers_may_have_any_columns() -> None:
    frames = [ROWS, pl.DataFrame({"n": []}, schema={"n": pl.UInt32})]
    for one, other in zip(frames, answers_of(pl.concat([answered(frame) for frame in frames])), strict=True):
        assert one.equals(other)
        assert one.schema == other.schema


def test_another_process_reads_a_query(need: Callable[[str], ModuleType], tmp_path: Any) -> None:
    (tmp_path / "plan").write_bytes(plan_of(FRAME.select(pl.col("click").sum()), need("cloudpickle")))
    code = (
        "import sys, polars as pl; from rankscope.engines.remote_queries import answer, query_of\n"
        "rows = pl.DataFrame({'unit': ['x'], 'click': [2.5]})\nprint(answer(query_of(open(sys.argv[1], 'rb').read()), rows).item())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "plan")], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "2.5"
