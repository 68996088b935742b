"""Pack rows into few values of bytes, column by column, which Spark copies without reading them.

Moving and sorting single rows costs Spark more than scoring them. So rows are packed in place: neighbours of
one query form a block, blocks fall into buckets by the hash of their query, and the blocks of a bucket are concatenated. Blocks are moved whole,
never row by row. The value of a bucket holds the queries of its blocks, their sizes, and for each other column the bytes of
its cells with marks: the length of each text (-1 for null), or a flag for each number.

A packer also counts the rows of each bucket, so unpacking can check that each row came once.
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

PACKED_BYTES = 1 << 28  # most bytes packed together
NUMBERS = {"double": np.float64, "bigint": np.int64}
BUCKET, LENGTH, FLAG = "bucket", np.int32, np.uint8
WORD = (1 << 64) - 1


def packed_columns(pieces: int) -> Columns:
    """Return the columns of packed values with ``pieces`` pieces. The counts of a packer have ``checked`` and no bytes."""
    marks_and_cells = [(f"{what}{i}", "binary") for i in range(pieces) for what in ("marks", "cells")]
    head = [(BUCKET, "smallint"), ("source", "int"), ("rows", "bigint"), ("checked", "bigint")]
    return (*head, ("sizes", "binary"), *marks_and_cells)


def buckets_of(names: Any, buckets: int) -> Array:
    """Return the bucket of each text (Arrow) by its bytes, so all machines and versions agree."""
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
    """Mix all bits of 64-bit numbers (the finaliser of splitmix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    mixed: Array = numbers ^ (numbers >> np.uint64(31))
    return mixed


def check_of(source: int, buckets: Array, rows: Array) -> int:
    """Return a 64-bit checksum of the rows of a source in these buckets. Checksums add up and differ between buckets."""
    keys = _mix(buckets.astype(np.uint64) + np.uint64((source & 0xFFFF) << 16) + np.uint64(1))
    return int((keys * rows.astype(np.uint64)).sum(dtype=np.uint64))


def _texts(column: Any) -> tuple[Array, Array]:
    """Return the offsets of a column of large strings without nulls, and its bytes from the first offset on."""
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
    if data is None or not len(ends):
        return np.zeros(len(column) + 1, dtype=np.int64), np.empty(0, dtype=np.uint8)
    return ends, np.frombuffer(data, dtype=np.uint8)[ends[0] : ends[-1]]


@dataclass(frozen=True)
class RowPacker:
    """Packs batches on an executor: the rows of one bucket, among about ``rows`` rows of at most ``pieces`` columns, become one value."""

    source: int
    columns: Columns
    rows: int
    buckets: int
    pieces: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield batches with one row per bucket, and last a row with the counts."""
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
        """Return the values of some batches, one of their buckets, and their checksum."""
        bucket = 0
        for batch in _whole(batches, self.columns):
            values = self.pack(batch)
            numbers, rows = (values.column(at).to_numpy() for at in (0, 2))
            bucket, check = int(numbers[0]), (check + check_of(self.source, numbers, rows)) & WORD
            yield values
        return bucket, check

    def pack(self, batch: Any) -> Any:
        """Return one value per bucket of a batch, with the rows in order."""
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
        """Return the row with the counts, in a bucket with rows."""
        import pyarrow as pa

        signed = check - (1 << 64) if check >> 63 else check
        cells = ((bucket, pa.int16()), (self.source, pa.int32()), (rows, pa.int64()), (signed, pa.int64()))
        return _fill([pa.array([value], kind) for value, kind in cells], self.pieces)


@dataclass(frozen=True)
class BlockOrder:
    """Blocks in the order of their buckets: ``order`` has their numbers, ``cuts`` the first block of each bucket, and the end."""

    order: Array
    cuts: Array

    def by_bucket(self, data: Any, ends: Array) -> Any:
        """Return one value per bucket from bytes with block i at ``ends[i]`` to ``ends[i + 1]``."""
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
        """Return the bytes of texts without nulls as one value per bucket. Block i has the rows ``rows[i]`` to ``rows[i + 1]``."""
        offsets, data = _texts(column)
        return self.by_bucket(data, (offsets - offsets[0])[rows])


def _whole(batches: Sequence[Any], columns: Columns) -> list[Any]:
    import pyarrow as pa

    kinds = {"string": pa.large_string(), "double": pa.float64(), "bigint": pa.int64()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns])
    joined: list[Any] = pa.Table.from_batches(batches).cast(schema).combine_chunks().to_batches()
    return [batch for batch in joined if batch.num_rows]


def _blocks(queries: Any) -> tuple[Any, Array]:
    import polars as pl

    runs = pl.Series(pl.from_arrow(queries)).rle().struct.unnest()
    return runs["value"].to_arrow(compat_level=pl.CompatLevel.oldest()), runs["len"].to_numpy().astype(np.int64)


def _mark(column: Any) -> tuple[Array, Any]:
    """Return the marks of a column, and the column with its nulls filled."""
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
    import pyarrow as pa

    names = [name for name, _ in packed_columns(pieces)]
    nothing = pa.nulls(len(columns[0]), pa.binary())
    return pa.RecordBatch.from_arrays([*columns, *[nothing] * (len(names) - len(columns))], names)


@dataclass
class PartStream:
    """The parts of a partition: whole buckets of about ``rows`` rows, from packed values sorted by bucket.

    A larger bucket is a part by itself. After the last part, ``rows`` and ``check`` are the unpacked amounts minus the packers' counts.
    Over all partitions both sum to 0 (``check`` modulo 2^64).
    """

    batches: Iterable[Any]
    size: int
    columns: Mapping[int, Columns]
    rows: int = 0
    check: int = 0
    _held: list[Any] = field(default_factory=list)

    def __iter__(self) -> Iterator[Part]:
        """Yield one part after another."""
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
        """Return the values of a batch without the counts of packers, which are added up."""
        has_counts = batch.column(3).is_valid()
        for rows, check in zip(*(batch.filter(has_counts).column(at).to_pylist() for at in (2, 3)), strict=True):
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
        import polars as pl
        import pyarrow as pa

        frames = []
        for values in held:
            mine = values.filter(pa.array(values.column(1).to_numpy() == source))
            if mine.num_rows:
                frames.append(unpack(mine, columns))
        kinds = {"string": pl.String, "double": pl.Float64, "bigint": pl.Int64}
        empty = pl.DataFrame(schema={name: kinds[kind] for name, kind in columns})
        return pl.concat(frames, rechunk=True) if frames else empty


def unpack(values: Any, columns: Columns) -> pl.DataFrame:
    """Return the rows of values of one source."""
    import polars as pl

    sizes = np.frombuffer(_join(values.column(4)), dtype=LENGTH)
    blocks = np.repeat(np.arange(len(sizes)), sizes)
    made = []
    for at, (name, kind) in enumerate(columns):
        marks, cells = (_join(values.column(5 + 2 * at + i)) for i in (0, 1))
        made.append(_column(name, kind, marks, cells))
    return pl.DataFrame([made[0].gather(pl.Series(blocks)), *made[1:]])


def _column(name: str, kind: str, marks: Any, cells: Any) -> pl.Series:
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
    import pyarrow as pa

    values = column.cast(pa.large_binary())
    _, offsets, data = values.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[values.offset : values.offset + len(values) + 1]
    return pa.py_buffer(b"") if data is None else data.slice(int(ends[0]), int(ends[-1] - ends[0]))
