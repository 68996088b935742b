"""Rows as few values: those of a bucket, column by column, each as bytes; what Spark moves of them is copied and never looked at.

A row that Spark moves and sorts by itself costs it more than all that is computed of it. So rows are packed where they lie: neighbours of
one query form a block, blocks fall into buckets by the hash of their query, and the blocks of a bucket are laid end to end. Nothing here is done row by
row, as blocks are moved whole. A bucket's value holds the queries of its blocks, their sizes, and for each other column the bytes of
its cells beside marks: how long each text is (-1 for none), or whether a number is there.

Beside the values a packer tells how many rows it packed into which buckets, so that who unpacks them can add up whether each came once.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.lists import Array

if TYPE_CHECKING:
    import polars as pl

Columns = tuple[tuple[str, str], ...]  # names and types of Spark, the query first
Part = Mapping[int, "pl.DataFrame"]  # the rows of some whole queries by the number of their source

PACKED_BYTES = 1 << 28  # rows are packed together up to so many bytes
NUMBERS = {"double": np.float64, "bigint": np.int64}
BUCKET, LENGTH, FLAG = "bucket", np.int32, np.uint8
WORD = (1 << 64) - 1


def packed_columns(pieces: int) -> Columns:
    """The columns of values with so many columns of rows: ``checked`` only where a packer tells what it packed, which has no bytes."""
    marks_and_cells = [(f"{what}{i}", "binary") for i in range(pieces) for what in ("marks", "cells")]
    head = [(BUCKET, "smallint"), ("source", "int"), ("rows", "bigint"), ("checked", "bigint")]
    return (*head, ("sizes", "binary"), *marks_and_cells)


def buckets_of(names: Any, buckets: int) -> Array:
    """The bucket of each of these texts (Arrow): by its bytes alone, so that all machines and versions agree."""
    offsets, data = _texts(names)
    length = np.diff(offsets)
    place = np.arange(len(data)) - np.repeat(offsets[:-1] - offsets[0], length)
    powers = np.full(int(length.max(initial=0)) + 1, 0x9E3779B97F4A7C15, dtype=np.uint64)
    powers[:1] = 1
    weighed = (data.astype(np.uint64) + np.uint64(1)) * np.multiply.accumulate(powers)[place]
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.add.accumulate(weighed)])
    ends = offsets - offsets[0]
    return (_mix(sums[ends[1:]] - sums[ends[:-1]]) % np.uint64(buckets)).astype(np.int16)


def _mix(numbers: Array) -> Array:
    """Numbers of 64 bits whose bits all depend on all bits of these (the finaliser of splitmix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    mixed: Array = numbers ^ (numbers >> np.uint64(31))
    return mixed


def check_of(source: int, buckets: Array, rows: Array) -> int:
    """A number of 64 bits for so many rows of a source in each of these buckets: such numbers add up, and tell other buckets apart."""
    keys = _mix(buckets.astype(np.uint64) + np.uint64((source & 0xFFFF) << 16) + np.uint64(1))
    return int((keys * rows.astype(np.uint64)).sum(dtype=np.uint64))


def _texts(column: Any) -> tuple[Array, Array]:
    """The offsets of a column of large strings that has no nulls, and the bytes they point to, from the first on."""
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
    if data is None or not len(ends):
        return np.zeros(len(column) + 1, dtype=np.int64), np.empty(0, dtype=np.uint8)
    return ends, np.frombuffer(data, dtype=np.uint8)[ends[0] : ends[-1]]


# --- pack ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowPacker:
    """What an executor calls with the batches of a source where they lie: of about so many rows, those of one bucket become one value.

    ``pieces`` is how many columns the source with most columns has.
    """

    source: int
    columns: Columns
    rows: int
    buckets: int
    pieces: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Batches with a row a bucket, and last a row that tells what was packed."""
        held: list[Any] = []
        count = size = packed = check = 0
        last = None
        for batch in batches:
            held.append(batch)
            count, size = count + batch.num_rows, size + batch.nbytes
            if count >= self.rows or size >= PACKED_BYTES:
                last, check = yield from self._values(held, check)
                held, packed, count, size = [], packed + count, 0, 0
        if count:
            last, check = yield from self._values(held, check)
        if last is not None:
            yield self._row(last, packed + count, check)

    def _values(self, batches: Sequence[Any], check: int) -> Generator[Any, None, tuple[int, int]]:
        """The values of some batches; a bucket of them, and what they add to the check."""
        bucket = 0
        for batch in _whole(batches, self.columns):
            values = self.pack(batch)
            numbers, rows = (values.column(at).to_numpy() for at in (0, 2))
            bucket, check = int(numbers[0]), (check + check_of(self.source, numbers, rows)) & WORD
            yield values
        return bucket, check

    def pack(self, batch: Any) -> Any:
        """The rows of a batch, a value a bucket; within a bucket they stay in order."""
        import pyarrow as pa

        names, sizes = _blocks(batch.column(0))
        marks, texts = _mark(names)
        bucket = buckets_of(texts, self.buckets)
        order = np.argsort(bucket, kind="stable")
        numbers, first = np.unique(bucket[order], return_index=True)
        layout = BlockOrder(order, np.append(first, len(order)))
        rows = np.add.reduceat(sizes[order], first)
        blocks, row = np.arange(len(sizes) + 1), np.concatenate([[0], np.cumsum(sizes)])
        cells = [
            layout.by_bucket(sizes.astype(LENGTH), blocks * 4),
            layout.by_bucket(marks, blocks * 4),
            layout.of_texts(texts, blocks),
        ]
        for (_, kind), column in zip(self.columns[1:], batch.columns[1:], strict=True):
            marks, filled = _mark(column)
            cells.append(layout.by_bucket(marks, row * marks.itemsize))
            if kind == "string":
                cells.append(layout.of_texts(filled, row))
            else:
                cells.append(layout.by_bucket(filled.to_numpy(zero_copy_only=False), row * 8))
        head = [pa.array(numbers), pa.array(np.full(len(numbers), self.source, dtype=np.int32)), pa.array(rows)]
        return _fill([*head, pa.nulls(len(numbers), pa.int64()), *cells], self.pieces)

    def _row(self, bucket: int, rows: int, check: int) -> Any:
        """What tells what was packed, in a bucket that has rows."""
        import pyarrow as pa

        signed = check - (1 << 64) if check >> 63 else check
        said = ((bucket, pa.int16()), (self.source, pa.int32()), (rows, pa.int64()), (signed, pa.int64()))
        return _fill([pa.array([value], kind) for value, kind in said], self.pieces)


@dataclass(frozen=True)
class BlockOrder:
    """Blocks in the order of their buckets: ``order`` names them, ``cuts`` says at which of them each bucket begins, and the end."""

    order: Array
    cuts: Array

    def by_bucket(self, data: Any, ends: Array) -> Any:
        """Bytes that lie block by block, block i from ``ends[i]`` to ``ends[i + 1]``, as one value a bucket."""
        import pyarrow as pa

        count = len(self.order)
        blocks = pa.LargeBinaryArray.from_buffers(
            pa.large_binary(),
            count,
            [None, pa.py_buffer(ends.astype(np.int64)), pa.py_buffer(np.ascontiguousarray(data))],
        )
        if (self.order[1:] < self.order[:-1]).any():
            blocks = blocks.take(pa.array(self.order))
        _, offsets, moved = blocks.buffers()
        at = np.frombuffer(offsets, dtype=np.int64)[self.cuts]
        values = pa.LargeBinaryArray.from_buffers(
            pa.large_binary(), len(self.cuts) - 1, [None, pa.py_buffer(at), moved]
        )
        return values.cast(pa.binary())

    def of_texts(self, column: Any, rows: Array) -> Any:
        """The bytes of texts without nulls as one value a bucket; block i has the rows from ``rows[i]`` to ``rows[i + 1]``."""
        offsets, data = _texts(column)
        return self.by_bucket(data, (offsets - offsets[0])[rows])


def _whole(batches: Sequence[Any], columns: Columns) -> list[Any]:
    """Batches as one with offsets of 64 bits, or as few as Arrow makes of them."""
    import pyarrow as pa

    kinds = {"string": pa.large_string(), "double": pa.float64(), "bigint": pa.int64()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns])
    found: list[Any] = pa.Table.from_batches(batches).cast(schema).combine_chunks().to_batches()
    return [batch for batch in found if batch.num_rows]


def _blocks(queries: Any) -> tuple[Any, Array]:
    """The query of each block of equal neighbours, and how many rows it has."""
    import polars as pl

    runs = pl.Series(pl.from_arrow(queries)).rle().struct.unnest()
    return runs["value"].to_arrow(compat_level=pl.CompatLevel.oldest()), runs["len"].to_numpy().astype(np.int64)


def _mark(column: Any) -> tuple[Array, Any]:
    """The marks of a column, and the column with something in place of each null."""
    import pyarrow as pa

    lacking = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    text = pa.types.is_large_string(column.type)
    if lacking is not None:
        column = column.fill_null("" if text else 0)
    marks = np.diff(_texts(column)[0]).astype(LENGTH) if text else np.ones(len(column), dtype=FLAG)
    if lacking is not None:
        marks[lacking] = -1 if text else 0
    return marks, column


def _fill(columns: Sequence[Any], pieces: int) -> Any:
    """A batch of values with nothing in the columns that this source does not have."""
    import pyarrow as pa

    names = [name for name, _ in packed_columns(pieces)]
    nothing = pa.nulls(len(columns[0]), pa.binary())
    return pa.RecordBatch.from_arrays([*columns, *[nothing] * (len(names) - len(columns))], names)


# --- unpack -------------------------------------------------------------------------------------------------------


@dataclass
class PartStream:
    """The parts of a partition: whole buckets of about so many rows, from packed values in which those of a bucket follow one another.

    A bucket of more rows is a part of its own, as large as it is. Once all parts were taken, ``rows`` and ``check`` are what was unpacked
    less what packers said; over all partitions both add up to nothing (``check`` to 64 bits).
    """

    batches: Iterable[Any]
    size: int
    columns: Mapping[int, Columns]
    rows: int = 0
    check: int = 0
    _held: list[Any] = field(default_factory=list)

    def __iter__(self) -> Iterator[Part]:
        """One part after another."""
        count, last = 0, None
        for batch in self.batches:
            values = self._counted(batch)
            start, buckets = 0, values.column(0).to_pylist()
            for at, (bucket, rows) in enumerate(zip(buckets, values.column(2).to_pylist(), strict=True)):
                if bucket != last and count >= self.size:
                    self._held.append(values.slice(start, at - start))
                    yield self._part()
                    start, count = at, 0
                last = bucket
                count += rows
            self._held.append(values.slice(start))
        if count:
            yield self._part()

    def _counted(self, batch: Any) -> Any:
        """The values of a batch, without what packers told of them, which is added up."""
        told = batch.column(3).is_valid()
        for rows, check in zip(*(batch.filter(told).column(at).to_pylist() for at in (2, 3)), strict=True):
            self.rows -= rows
            self.check -= check
        values = batch.filter(batch.column(3).is_null())
        buckets, sources, rows = (values.column(at).to_numpy() for at in range(3))
        for source in np.unique(sources).tolist():
            mine = sources == source
            self.check += check_of(source, buckets[mine], rows[mine])
        self.rows += int(rows.sum())
        return values

    def _part(self) -> Part:
        held, self._held = self._held, []
        return {source: self._rows(held, source, columns) for source, columns in self.columns.items()}

    def _rows(self, held: Sequence[Any], source: int, columns: Columns) -> pl.DataFrame:
        """The rows of a source."""
        import polars as pl
        import pyarrow as pa

        found = []
        for values in held:
            mine = values.filter(pa.array(values.column(1).to_numpy() == source))
            if mine.num_rows:
                found.append(unpack(mine, columns))
        kinds = {"string": pl.String, "double": pl.Float64, "bigint": pl.Int64}
        empty = pl.DataFrame(schema={name: kinds[kind] for name, kind in columns})
        return pl.concat(found, rechunk=True) if found else empty


def unpack(values: Any, columns: Columns) -> pl.DataFrame:
    """The rows of values of one source."""
    import polars as pl

    sizes = np.frombuffer(_join(values.column(4)), dtype=LENGTH)
    blocks = np.repeat(np.arange(len(sizes)), sizes)
    made = []
    for at, (name, kind) in enumerate(columns):
        marks, cells = (_join(values.column(5 + 2 * at + i)) for i in (0, 1))
        made.append(_column(name, kind, marks, cells))
    return pl.DataFrame([made[0].gather(pl.Series(blocks)), *made[1:]])


def _column(name: str, kind: str, marks: Any, cells: Any) -> pl.Series:
    """A column of its marks and cells."""
    import polars as pl
    import pyarrow as pa

    if kind == "string":
        length = np.frombuffer(marks, dtype=LENGTH)
        there = length >= 0
        ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.maximum(length, 0), dtype=np.int64)])
        column = pa.LargeStringArray.from_buffers(len(length), pa.py_buffer(ends), cells, _bits(there))
    else:
        there = np.frombuffer(marks, dtype=FLAG) > 0
        column = pa.array(np.frombuffer(cells, dtype=NUMBERS[kind]), mask=None if there.all() else ~there)
    return pl.Series(pl.from_arrow(column)).alias(name)


def _bits(there: Array) -> Any:
    import pyarrow as pa

    return None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))


def _join(column: Any) -> Any:
    """The bytes of all values of a column, end to end."""
    import pyarrow as pa

    values = column.cast(pa.large_binary())
    _, offsets, data = values.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[values.offset : values.offset + len(values) + 1]
    return pa.py_buffer(b"") if data is None else data.slice(int(ends[0]), int(ends[-1] - ends[0]))
