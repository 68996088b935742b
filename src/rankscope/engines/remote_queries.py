"""Queries over rows on other machines: lazy frames of Polars over a stand-in, sent as bytes and run over each part; answers are bytes of Arrow."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from threading import Lock
from types import ModuleType
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source

from rankscope.engines.packing import Columns
from rankscope.errors import DataError, InputError, RankscopeError

ORDER = " row"  # beside the columns of a row, a number that rises with the rows of the frame
HELD = 1 << 16  # rows that are made ready at a time

_lock = Lock()
_part: list[pl.DataFrame] = []  # the rows that stand-ins stand for, while a query runs
_read: set[str] = set()  # the columns that it reads of them


def stand_in(schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
    """A frame with these columns that represents remote rows."""
    return register_io_source(_rows, schema=pl.Schema(schema))


def _rows(
    columns: list[str] | None, predicate: pl.Expr | None, most: int | None, _: int | None
) -> Iterator[pl.DataFrame]:
    part = _part[0]
    _read.update(
        part.columns if columns is None else columns, predicate.meta.root_names() if predicate is not None else ()
    )
    rows = part.lazy() if predicate is None else part.lazy().filter(predicate)
    rows = rows if columns is None else rows.select(columns)
    yield (rows if most is None else rows.head(most)).collect()


def answer(query: pl.LazyFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the answer of a query on these rows."""
    return _asked(query, rows)[0]


def columns_read(query: pl.LazyFrame, schema: Mapping[str, pl.DataType]) -> list[str]:
    """The columns that a query reads from its stand-in, at least one."""
    _, read = _asked(query, pl.DataFrame(schema=schema))
    return [name for name in schema if name in read] or list(schema)[:1]


def _asked(query: pl.LazyFrame, rows: pl.DataFrame) -> tuple[pl.DataFrame, set[str]]:
    with _lock:
        _part.append(rows)
        _read.clear()
        try:
            return query.collect(), set(_read)
        finally:
            _part.clear()


def plan_of(query: pl.LazyFrame, pickler: ModuleType) -> bytes:
    """A query as bytes, for a process with the same version of Polars. ``pickler`` stands in for cloudpickle if that is not installed."""
    lacking = find_spec("cloudpickle") is None
    if lacking:
        sys.modules["cloudpickle"] = pickler
    try:
        return query.serialize()
    finally:
        if lacking:
            del sys.modules["cloudpickle"]


@lru_cache(maxsize=8)
def query_of(plan: bytes) -> pl.LazyFrame:
    """The query that these bytes are of. Raises InputError if they were written by another version of Polars."""
    try:
        return pl.LazyFrame.deserialize(io.BytesIO(plan))
    except pl.exceptions.PolarsError as error:
        raise InputError(f"the executors have Polars {pl.__version__}, which cannot read the query: {error}") from None


def kind_sent(kind: pl.DataType) -> str:
    """The type in which the cells of a column are sent: ``string``, ``double`` or ``bigint``, empty if they cannot be sent."""
    if kind == pl.String or kind.is_decimal():
        return "string"
    if kind.is_float():
        return "double"
    return "bigint" if kind.is_integer() or kind.is_temporal() or kind == pl.Boolean else ""


def frames_of(batches: Iterable[Any], rows: int) -> Iterator[pl.DataFrame]:
    """Join Arrow batches into frames of at least ``rows`` rows, except the last."""
    held: list[Any] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count >= rows:
            yield pl.DataFrame(pl.from_arrow(held))
            held, count = [], 0
    if count:
        yield pl.DataFrame(pl.from_arrow(held))


def _to_be_sent(name: str, kind: pl.DataType) -> pl.Expr:
    column = pl.col(name).to_physical() if kind.is_temporal() else pl.col(name)
    return column.cast({"string": pl.String(), "double": pl.Float64(), "bigint": pl.Int64()}[kind_sent(kind)])


def _as_it_was(name: str, kind: pl.DataType) -> pl.Expr:
    column = pl.col(name)
    return (column.cast(pl.Int32) if kind == pl.Date else column).cast(kind)


@dataclass(frozen=True)
class RowReading:
    """The query that an executor runs on batches before it packs them: ``plan`` makes columns of ``schema`` from ``inputs`` (c0, c1 ...)."""

    plan: bytes
    inputs: tuple[tuple[str, pl.DataType], ...]
    schema: tuple[tuple[str, pl.DataType], ...]

    @property
    def columns(self) -> Columns:
        """The columns that are sent."""
        return (*((name, kind_sent(kind)) for name, kind in self.schema), (ORDER, "bigint"))

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches to send."""
        sent = [_to_be_sent(name, kind) for name, kind in self.schema]
        for rows in frames_of(batches, HELD):
            frame = self.read(rows).select(sent).with_columns(rows[ORDER])
            yield from frame.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()

    def read(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the query's rows for rows as given."""
        # an executor may call a time zone by another name
        columns = [pl.col(f"c{at}").cast(kind).alias(name) for at, (name, kind) in enumerate(self.inputs)]
        return answer(query_of(self.plan), rows.select(columns))

    def unpacked(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows that were sent, in their order and types."""
        return rows.sort(ORDER).select(_as_it_was(name, kind) for name, kind in self.schema)


ANSWER = (("answer", "binary"), ("also", "binary"))  # a frame, or an object beside the answers


def answered(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame as it is sent back."""
    out = io.BytesIO()
    frame.write_ipc(out, compression="zstd")
    return pl.DataFrame({"answer": [out.getvalue()]}, schema={"answer": pl.Binary})


def answers_of(frame: pl.DataFrame) -> list[pl.DataFrame]:
    """The frames that were sent back."""
    return [pl.read_ipc(io.BytesIO(one)) for one in frame["answer"].drop_nulls()]


def tell(value: object) -> pl.DataFrame:
    """Return a row with an object next to the answers, for ``sent_objects``."""
    return pl.DataFrame({"also": [pickle.dumps(value)]}, schema={"also": pl.Binary})


def sent_objects(frame: pl.DataFrame) -> list[Any]:
    """Return the objects next to the answers. Raises the first error among them."""
    values = [pickle.loads(one) for one in frame["also"].drop_nulls()]  # noqa: S301 - Spark hands over results in the same way
    if errors := [one for one in values if isinstance(one, RankscopeError)]:
        raise min(errors, key=lambda error: (type(error).__name__, str(error)))
    return values


def with_errors(
    answers: Iterable[pl.DataFrame], versions: Mapping[str, tuple[str, str]], *kinds: type[Exception]
) -> Iterator[pl.DataFrame]:
    """Yield the answers of a partition, and errors of its data (of rankscope or these ``kinds``). Nothing is computed if ``versions`` differ."""
    caught: tuple[type[Exception], ...] = (RankscopeError, *kinds)
    for package, (here, there) in versions.items():
        if here != there:
            yield tell(InputError(f"the executors have {package} {here}, and this is {there}: install the same"))
            return
    try:
        yield from answers
    except caught as error:
        yield tell((DataError if isinstance(error, DataError) else InputError)(str(error)))
