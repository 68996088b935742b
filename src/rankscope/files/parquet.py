"""Runs and judgments in Parquet files. Footers and levels of pages are checked first: Polars panics at some damage, at damaged levels it ends the process.

A level says if a value is missing. Damaged levels let Polars reserve more memory than there is, which no Python code can catch (measured
with 1.32 to 2.1). Names of fields are those of the format's ``parquet.thrift``, written in Thrift's compact protocol.
"""

from __future__ import annotations

import io
import math
import os
import struct
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, cast

import numpy as np
import polars as pl

from rankscope.errors import InputError
from rankscope.files.long import ReaderNotes, id_column, make_qrels, make_table
from rankscope.files.memory import as_stored
from rankscope.files.parts import RunFormat, RunParts, table_parts
from rankscope.files.raw import UNREADABLE, Raw, first_of_zstd
from rankscope.files.roles import roles_of
from rankscope.lists import Array, narrowed
from rankscope.parallel import check_memory, map_parts
from rankscope.tables import MARK, PARTIAL, SEED, Blocks, PackedQrels, Qrels, Run

MAGIC, LOCKED = b"PAR1", b"PARE"
TAIL = 8  # bytes after the footer: its length, and the magic
PAGE_HEAD = 1 << 9  # bytes read for the head of a page; more if its statistics are longer
LONGEST_HEAD = 64 << 20
DEEPEST = 32  # structs within structs
RLE = 3  # the encoding of levels
DATA_PAGE, DATA_PAGE_V2 = 0, 3
TEXT = 6  # the type of texts
ERRORS = (KeyError, TypeError, AttributeError, IndexError, ValueError)  # of values that are missing or of another type
Read = Callable[[int, int], bytes]  # from a place, a number of bytes


class DamageError(Exception):
    """The damage of a file, in words."""


class Thrift:
    """Values in Thrift's compact protocol; a struct is a dict by field number. Raises IndexError if the data end too early."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def number(self) -> int:
        """Read an unsigned number."""
        value = shift = 0
        while shift < 70:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise DamageError("a number without an end")

    def take(self, size: int) -> bytes:
        """Read ``size`` bytes."""
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise IndexError
        return self.data[start : self.at]

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Read the fields of a struct."""
        out: dict[int, Any] = {}
        number = 0
        while head := self.data[self.at]:
            self.at += 1
            number = number + (head >> 4) if head >> 4 else self.value(4, depth)
            kind = head & 15
            out[number] = kind == 1 if kind < 3 else self.value(kind, depth)
        self.at += 1
        return out

    def value(self, kind: int, depth: int) -> Any:
        """Read a value of this kind."""
        if 4 <= kind <= 6:
            value = self.number()
            return (value >> 1) ^ -(value & 1)
        if kind == 8:
            return self.take(self.number())
        if 1 <= kind <= 3:
            return self.take(1)[0]
        if kind == 7:
            return self.take(8)
        if depth > DEEPEST:
            raise DamageError("a struct too deep")
        if kind == 12:
            return self.struct(depth + 1)
        if kind not in {9, 10}:
            raise DamageError("a value of no known kind")
        head = self.take(1)[0]
        count = head >> 4 if head >> 4 < 15 else self.number()
        if count > len(self.data):  # every value takes a byte
            raise IndexError
        return [self.value(head & 15, depth + 1) for _ in range(count)]


@dataclass(frozen=True)
class Chunk:
    """A column of a row group: its name, the place of its pages, their codec, values and unpacked bytes.

    ``optional`` is True if values may be missing, and none are repeated. ``finite`` is True if the file records finite bounds of floats.
    ``full`` is True if it records that no value is missing and each text begins with a letter or sign of ASCII.
    """

    name: str
    start: int
    codec: int
    values: int
    unpacked: int
    optional: bool
    finite: bool
    full: bool


@dataclass(frozen=True)
class Footer:
    """A footer: its place, the number of rows, the columns of every row group, and the rows of each group."""

    start: int
    rows: int
    chunks: tuple[Chunk, ...]
    groups: tuple[int, ...]


def read_footer(read: Read, size: int) -> Footer:
    """Read the footer of a file of ``size`` bytes. Raises DamageError if it contradicts itself or the file."""
    tail = read(size - TAIL, TAIL) if size >= 4 + TAIL else b""
    if tail[4:] == LOCKED or read(0, 4) == LOCKED:
        raise DamageError("the file is encrypted")
    if tail[4:] != MAGIC:
        raise DamageError("it does not end with PAR1")
    length = int.from_bytes(tail[:4], "little")
    start = size - TAIL - length
    if start < 4 or not length:
        raise DamageError("its footer is longer than the file")
    try:
        footer = Thrift(read(start, length)).struct()
        elements, groups = footer[2][1:], footer[4]
        flat = {part[4]: part.get(3, 0) for part in elements} if len(elements) == footer[2][0].get(5) else {}
        chunks = tuple(_chunk(column[3], flat, start) for group in groups for column in group[1])
        sizes = tuple(group[3] for group in groups)
        if sum(sizes) != footer[3] or min(sizes, default=0) < 0:
            raise DamageError("its row groups do not add up")
    except ERRORS as error:
        raise DamageError("its footer is damaged") from error
    return Footer(start, footer[3], chunks, sizes)


def _chunk(facts: dict[int, Any], flat: dict[bytes, int], end: int) -> Chunk:
    """Return a column from its metadata; ``flat`` has the repetition of each column of a schema without nesting."""
    start = min((facts[field] for field in (9, 11) if facts.get(field, 0) > 0), default=0)
    if min(facts[5], facts[6], facts[7]) < 0 or start < 4 or start + facts[7] > end:
        raise DamageError("a column is outside of the file")
    name = facts[3][0]
    statistics = facts.get(12) or {}
    bounds = [statistics.get(field) for field in (5, 6)]
    form = {4: "<f", 5: "<d"}.get(facts[1], "")
    finite = bool(form) and all(
        isinstance(bound, bytes) and len(bound) == struct.calcsize(form) and math.isfinite(*struct.unpack(form, bound))
        for bound in bounds
    )
    most, least = bounds
    visible = isinstance(most, bytes) and isinstance(least, bytes) and least[:1] > b" " and most[:1] < b"\x7f"
    full = statistics.get(3) == 0 and (facts[1] != TEXT or visible)
    return Chunk(name.decode(), start, facts[4], facts[5], facts[6], flat.get(name) == 1, finite, full)


def check_pages(read: Read, chunk: Chunk, end: int) -> None:
    """Check that the pages of a column lie before ``end`` and their levels add up. Raises DamageError if they do not."""
    at, values = chunk.start, 0
    try:
        while values < chunk.values:
            head, length = _page_head(read, at)
            at += length
            if min(head[2], head[3]) < 0 or at + head[3] > end:
                raise DamageError(f"a page of column {chunk.name} is outside of the file")
            if head[1] in {DATA_PAGE, DATA_PAGE_V2}:
                values += head[5 if head[1] == DATA_PAGE else 8][1]
                if chunk.optional:
                    _check_levels(read, at, chunk.codec, head)
            at += head[3]
    except ERRORS as error:
        raise DamageError(f"a page of column {chunk.name} is damaged") from error
    if values != chunk.values:
        raise DamageError(f"the pages of column {chunk.name} hold more values than it has")


def _page_head(read: Read, at: int) -> tuple[dict[int, Any], int]:
    size = PAGE_HEAD
    while True:
        data = Thrift(read(at, size))
        try:
            return data.struct(), data.at
        except IndexError:
            if len(data.data) < size or size > LONGEST_HEAD:
                raise
            size *= 16


def _check_levels(read: Read, at: int, codec: int, head: dict[int, Any]) -> None:
    """Check the levels of a data page; in version 2 they are not packed, and the head has their length."""
    if head[1] == DATA_PAGE_V2:
        _check_runs(read(at, head[8][5]), head[8][5], head[8][1])
    elif head[5][3] == RLE:
        start = _first_bytes(read(at, min(head[3], 64)), codec, 16)
        if len(start) < 4:
            return
        length = int.from_bytes(start[:4], "little")
        if length > head[2] - 4:
            raise IndexError
        if length > len(start) - 4:  # some values are missing
            start = _first_bytes(read(at, head[3]), codec, 4 + length)
        _check_runs(start[4 : 4 + length], length, head[5][1])


def _check_runs(levels: bytes, length: int, count: int) -> None:
    """Check that runs of levels add up to ``count`` within ``length`` bytes; bytes beyond ``levels`` are not checked."""
    data, total, whole = Thrift(levels), 0, len(levels) == length
    while total < count and (whole or data.at < len(levels)):
        try:
            run = data.number()
        except IndexError:
            if whole:
                raise
            return
        packed = run & 1  # eight levels per byte, or one level and its repetitions
        total += 8 * (run >> 1) if packed else run >> 1
        data.at += run >> 1 if packed else 1
        if run < 2 or total >= count + (504 if packed else 1) or data.at > length:
            raise DamageError("which values are missing is damaged")


def _first_bytes(data: bytes, codec: int, size: int) -> bytes:
    """Unpack the first bytes of a page; fewer than ``size`` if a codec gives no more."""
    try:
        if codec == 2:
            return zlib.decompressobj(47).decompress(data, size)
        if codec == 6:
            return first_of_zstd(data, size)
    except (OSError, zlib.error) as error:
        raise DamageError("a page cannot be unpacked") from error
    if codec == 1:
        return _first_of_snappy(data)[:size]
    return data[:size] if codec == 0 else b""


def _first_of_snappy(data: bytes) -> bytes:
    """Return the bytes before the first repetition, which hold the levels unless many values are missing."""
    packed = Thrift(data)
    packed.number()
    tag = packed.take(1)[0]
    length = tag >> 2
    if length > 59:
        length = int.from_bytes(packed.take(length - 59), "little")
    return data[packed.at : packed.at + length + 1] if tag & 3 == 0 else b""


PART = 1 << 19  # rows of a part
PIECE = 1 << 20  # rows of a piece of a log, which reads few columns
MANY = 1 << 20  # judgments from which on they are kept packed
BEYOND = 1 << 10  # rows read beyond a part at first, to find the end of its last query
VIEW = 16  # bytes of a text in a table, in addition to its letters


class _Stderr:
    """The standard error of the process, where a panic of Polars prints before Python can catch it."""

    lock = threading.Lock()
    users, panicked, own, held = 0, False, -1, -1

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold back standard error, and print it at the end unless Polars panicked."""
        with self.lock:
            self.users += 1
            if self.users == 1:
                self.panicked = False
                with suppress(OSError):  # it is closed
                    self.own, in_memory = os.dup(2), hasattr(os, "memfd_create")
                    self.held = os.memfd_create("stderr") if in_memory else os.open(os.devnull, os.O_RDWR)
                    os.dup2(self.held, 2)
        try:
            yield
        except pl.exceptions.PanicException:
            self.panicked = True
            raise
        finally:
            with self.lock:
                self.users -= 1
                if not self.users and self.own >= 0:
                    self._give_back()

    def _give_back(self) -> None:
        os.dup2(self.own, 2)
        if not self.panicked and (size := os.fstat(self.held).st_size):
            with suppress(OSError):
                os.write(2, os.pread(self.held, size, 0))
        os.close(self.own)
        os.close(self.held)
        self.own = -1


stderr = _Stderr()


@dataclass(eq=False)
class ParquetFile:
    """A Parquet file with a sound footer: ``scan`` has its columns, ``checked`` the names whose pages were checked."""

    raw: Raw
    feed: Path | bytes
    footer: Footer
    scan: pl.LazyFrame
    checked: set[str] = field(default_factory=set)

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        return self.scan.collect_schema().names()

    @property
    def pieces(self) -> Iterator[pl.LazyFrame]:
        """Its rows in pieces of whole row groups, so each group is unpacked once."""
        start = stop = 0
        for size in self.footer.groups:
            if stop > start and stop + size - start > PIECE:
                yield self.scan.slice(start, stop - start)
                start = stop
            stop += size
        yield self.scan.slice(start, stop - start)

    @property
    def finite(self) -> frozenset[str]:
        """The columns of floats without infinite numbers, by the bounds in the footer."""
        odd = {chunk.name for chunk in self.footer.chunks if not chunk.finite}
        return frozenset(self.names) - odd

    @property
    def full(self) -> frozenset[str]:
        """The columns without an empty cell, by the statistics of the footer."""
        return frozenset(self.names) - {chunk.name for chunk in self.footer.chunks if not chunk.full}

    def size_of(self, columns: Iterable[str]) -> int:
        """Estimate the bytes of these columns as a table."""
        wanted = set(columns)
        written = sum(chunk.unpacked for chunk in self.footer.chunks if chunk.name in wanted)
        return written + VIEW * self.footer.rows * len(wanted)

    def check(self, columns: Iterable[str]) -> None:
        """Check the pages of these columns. Raises InputError for damaged ones."""
        new = set(columns) - self.checked
        if not new:
            return
        with _reading(self.raw, self.feed) as (read, _):
            for chunk in self.footer.chunks:
                if chunk.name in new:
                    check_pages(read, chunk, self.footer.start)
        self.checked |= new

    def collect(self, scan: pl.LazyFrame) -> pl.DataFrame:
        """Run a query over columns whose pages were checked. Raises InputError if they cannot be read."""
        with _polars(self.raw):
            return scan.collect()

    def table(self, columns: Iterable[str] | None = None) -> pl.DataFrame:
        """Read these columns, or all. Raises InputError if they cannot be read, or exceed the memory."""
        columns = list(dict.fromkeys(columns)) if columns is not None else self.names
        check_memory(self.raw.label, self.size_of(columns), "the content of its columns")
        self.check(columns)
        return self.collect(self.scan.select(columns))


def open_parquet(raw: Raw) -> ParquetFile:
    """Open a Parquet file; columns are read on demand. Raises InputError for a damaged file and for a partial result."""
    feed = raw.path_on_disk or raw.read()
    with _reading(raw, feed) as (read, size):
        footer = read_footer(read, size)
    with _polars(raw):
        scan = as_stored(pl.scan_parquet(io.BytesIO(feed) if isinstance(feed, bytes) else feed, glob=False))
        partial_result = MARK in scan.collect_schema()
    if partial_result:
        raise InputError(f"{raw.label}: {PARTIAL}")
    return ParquetFile(raw, feed, footer, scan)


@contextmanager
def _reading(raw: Raw, feed: Path | bytes) -> Iterator[tuple[Read, int]]:
    """Yield a function that reads bytes at a place, and the size of the file; damage becomes InputError."""
    try:
        if isinstance(feed, bytes):
            yield (lambda at, size: feed[at : at + size]), len(feed)
            return
        with feed.open("rb", buffering=0) as file:

            def read(at: int, size: int) -> bytes:
                file.seek(at)
                return file.read(size)

            yield read, os.fstat(file.fileno()).st_size
    except DamageError as error:
        _fail(raw, str(error))
    except OSError as error:
        raw.fail(error)


@contextmanager
def _polars(raw: Raw) -> Iterator[None]:
    """Turn errors and panics of Polars into InputError; a panic's text is about Polars' own code."""
    try:
        with stderr.hold():
            yield
    except pl.exceptions.PanicException:
        _fail(raw, "its pages are damaged")
    except UNREADABLE as error:
        _fail(raw, (str(error).splitlines() or [type(error).__name__])[0])


def _fail(raw: Raw, damage: str) -> NoReturn:
    raise InputError(f"{raw.label}: not a whole Parquet file ({damage}): fetch or write it again") from None


class Parquet(RunFormat):
    """Parquet files, compressed or not."""

    name, endings, begins = "parquet", (".parquet", ".pq"), (MAGIC,)

    def recognises(self, raw: Raw) -> bool:
        """Accept a file that begins with PAR1. Raises InputError for another file that is named like one."""
        named, after = raw.ending in self.endings, raw.head[4:5]
        if raw.head.startswith(MAGIC) and (named or after < b"\t" or b"\r" < after < b" "):
            return True  # and not the text of a query PAR1...: binary numbers follow
        if named:
            raise InputError(f"{raw.label}: named like a Parquet file, but does not begin like one (PAR1)")
        return False

    def read(self, raw: Raw, what: str, name: str | None) -> Run | Qrels:
        """Read the columns with a role."""
        return _read(open_parquet(raw), what, name)

    def parts(self, raw: Raw, name: str | None) -> RunParts:
        """Return a run to be read in parts."""
        notes, file = ReaderNotes(), open_parquet(raw)
        roles = roles_of(file.names, "run", raw.label, notes.notes, raw.columns)
        wanted = list(dict.fromkeys(roles.values()))
        columns = file.scan.select(wanted)

        def frames(pieces: int | None) -> Iterator[Callable[[], pl.DataFrame | None]]:
            file.check(wanted)
            count = file.footer.rows
            size = PART if pieces is None else max(min(PART, -(-count // pieces)), 1)
            read = partial(_whole_queries, file, columns, roles["query_id"], size=size)
            return (partial(read, start) for start in range(0, count, size))

        whole = partial(_read, file, "run", name)
        parts = table_parts(raw, "Parquet run", name, roles, notes, frames, lambda: cast("Run", whole()))
        return replace(parts, size=file.size_of(wanted))


def _read(file: ParquetFile, what: str, name: str | None) -> Run | Qrels:
    notes = ReaderNotes()
    roles = roles_of(file.names, what, file.raw.label, notes.notes, file.raw.columns)
    if what == "qrels" and file.footer.rows >= MANY and (packed := _read_packed(file, roles, notes)) is not None:
        return packed
    frame = file.table(roles.values())
    return make_table(frame, roles, file.raw.source(f"Parquet {what}"), notes, what, name)


def _read_packed(file: ParquetFile, roles: dict[str, str], notes: ReaderNotes) -> Qrels | None:
    """Read judgments part by part and keep them packed; None if odd rows need the whole table."""
    wanted, label = [roles.get(role, "") for role in ("query_id", "doc_id", "grade")], file.raw.label
    kinds = file.scan.collect_schema()
    texts = all(kinds.get(name) == pl.String or kinds.get(name, pl.Null).is_integer() for name in wanted[:2])
    if len(roles) > len(wanted) or not texts or not kinds.get(wanted[2], pl.Null).is_numeric():
        return None
    file.check(wanted)
    scan = file.scan.select(wanted)

    def read(start: int) -> tuple[Blocks, pl.Series, Array, Array] | None:
        rows = _whole_queries(file, scan, wanted[0], start, PART)
        ids = [id_column(rows[name], name, label, notes) for name in wanted[:2]]
        grade = rows[wanted[2]].cast(pl.Float64)
        part = Qrels(pl.DataFrame({"query_id": ids[0], "doc_id": ids[1], "grade": grade}))
        odd = any(one.null_count() or (one == "").any() for one in ids) or grade.null_count()
        if odd or len(part.nan_rows) or not part.blocks.whole or len(part.repetitions):
            return None
        return part.blocks, ids[1], narrowed(grade.to_numpy()), grade.unique().to_numpy()

    parts = list(map_parts(read, range(0, file.footer.rows, PART)))
    kept = [part for part in parts if part is not None]
    if len(kept) < len(parts):
        return None
    names = pl.concat([blocks.query for blocks, *_ in kept], rechunk=True)
    hashes = np.sort(names.hash(seed=SEED).to_numpy())
    if (hashes[1:] == hashes[:-1]).any():  # a query comes back in another part, or has the hash of another
        return None
    size = np.concatenate([blocks.size for blocks, *_ in kept])
    blocks = Blocks(np.cumsum(size) - size, size, names, np.arange(len(size)), whole=True)
    documents, grades = pl.concat([part[1] for part in kept], rechunk=False), np.concatenate([part[2] for part in kept])
    all_grades = pl.Series(np.concatenate([part[3] for part in kept]))
    named = make_qrels(pl.DataFrame(), file.raw.source("Parquet qrels"), notes, "Parquet qrels", (blocks, all_grades))
    return PackedQrels.of(blocks, documents, grades, named.source)


def _whole_queries(file: ParquetFile, scan: pl.LazyFrame, query: str, start: int, size: int) -> pl.DataFrame:
    """Return the rows of the queries that begin in a part; the last query may end beyond it."""
    before, beyond = min(start, 1), BEYOND
    while True:
        rows = file.collect(scan.slice(start - before, before + size + beyond))
        end = min(before + size, len(rows))
        first, last = (_next_query(rows[query], at) for at in (before, end))
        if first >= end and end:  # all rows belong to a query of an earlier part
            return rows.clear()
        if last < len(rows) or len(rows) < before + size + beyond:
            return rows.slice(first, last - first)
        beyond *= 8


def _next_query(queries: pl.Series, at: int) -> int:
    """Return the first row from ``at`` on that begins a query, or the number of rows."""
    if not at:
        return 0
    window = 64
    while at < len(queries):
        here = queries.slice(at - 1, window)
        other = here.slice(1).ne_missing(here.head(len(here) - 1)).arg_true()
        if len(other):
            return at + int(other[0])
        at, window = at + len(here) - 1, 8 * window
    return len(queries)
