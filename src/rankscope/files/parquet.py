"""Runs and judgments in Parquet files, which are looked over before Polars reads them."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NoReturn, cast

import numpy as np
import polars as pl

from rankscope.errors import InputError
from rankscope.files.footers import READ, DamageError, Footer, check_pages, read_footer
from rankscope.files.long import Findings, id_column, make_qrels, make_table
from rankscope.files.parts import PartFacts, RunParts, table_part, table_parts
from rankscope.files.raw import UNREADABLE, Raw
from rankscope.files.roles import roles_of
from rankscope.lists import Array, narrowed
from rankscope.parallel import check_memory, map_parts
from rankscope.tables import MARK, PARTIAL, SEED, Blocks, PackedQrels, Qrels, Run

PART = 1 << 19  # rows of a part
PIECE = 1 << 20  # rows of a piece of which few columns are read
MANY = 1 << 20  # judgments from which on they are kept in few bytes
BEYOND = 1 << 10  # rows read beyond a part at first, to find where its last query ends
VIEW = 16  # bytes that a text takes in a table beside its letters


class _Stderr:
    """Where the process writes what is not Python's: a panic of Polars tells of itself there before it can be caught."""

    lock = threading.Lock()
    users, panicked, own, held = 0, False, -1, -1

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Nothing is written there meanwhile. It is in the end, unless Polars panicked."""
        with self.lock:
            self.users += 1
            if self.users == 1:
                self._take()
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

    def _take(self) -> None:
        self.panicked = False
        try:
            self.own = os.dup(2)
        except OSError:  # it is closed
            return
        self.held = os.memfd_create("stderr") if hasattr(os, "memfd_create") else os.open(os.devnull, os.O_RDWR)
        os.dup2(self.held, 2)

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
    """A Parquet file whose footer is sound: ``scan`` has its columns, for ``collect``; ``sound`` are those whose pages were looked over."""

    raw: Raw
    feed: Path | bytes
    footer: Footer
    scan: pl.LazyFrame
    sound: set[str] = field(default_factory=set)

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        return (
            list(dict.fromkeys(chunk.leaf.name for chunk in self.footer.chunks)) or self.scan.collect_schema().names()
        )

    @property
    def pieces(self) -> Iterator[pl.LazyFrame]:
        """Its rows in pieces that end where a row group does, so that none is unpacked twice."""
        start = stop = 0
        for size in self.footer.groups:
            if stop > start and stop + size - start > PIECE:
                yield self.scan.slice(start, stop - start)
                start = stop
            stop += size
        yield self.scan.slice(start, stop - start)

    @property
    def finite(self) -> frozenset[str]:
        """The columns of floats in which no number is infinite, as the file says."""
        odd = {chunk.leaf.name for chunk in self.footer.chunks if not chunk.finite}
        return frozenset(self.names) - odd

    def size_of(self, columns: Iterable[str]) -> int:
        """About how many bytes these columns take as a table."""
        wanted = set(columns)
        written = sum(chunk.unpacked for chunk in self.footer.chunks if chunk.leaf.name in wanted)
        return written + VIEW * self.footer.rows * len(wanted)

    def check(self, columns: Iterable[str]) -> None:
        """See that the pages of these columns are sound. Raises InputError where they are not."""
        new = set(columns) - self.sound
        if not new:
            return
        with _reading(self.raw, self.feed) as (read, _):
            for chunk in self.footer.chunks:
                if chunk.leaf.name in new:
                    check_pages(read, chunk, self.footer.start)
        self.sound |= new

    def collect(self, scan: pl.LazyFrame) -> pl.DataFrame:
        """What is asked of its columns, which were looked over. Raises InputError where they cannot be read."""
        try:
            with stderr.hold():
                return scan.collect()
        except UNREADABLE as error:
            _fail(self.raw, _said(error), error)

    def table(self, columns: Iterable[str] | None = None) -> pl.DataFrame:
        """These columns, or all. Raises InputError where they cannot be read, or take more memory than there is."""
        columns = list(dict.fromkeys(columns)) if columns is not None else self.names
        check_memory(self.raw.label, self.size_of(columns), "what its columns hold")
        self.check(columns)
        return self.collect(self.scan.select(columns))


def open_parquet(raw: Raw) -> ParquetFile:
    """A Parquet file, to be read when its columns are asked for. Raises InputError for a damaged one and for a partial result."""
    on_disk = isinstance(raw.feed, Path) and not raw.compression
    feed = raw.feed if on_disk else raw.read()
    with _reading(raw, feed) as (read, size):
        footer = read_footer(read, size)
    try:
        with stderr.hold():
            scan = pl.scan_parquet(io.BytesIO(feed) if isinstance(feed, bytes) else feed, glob=False)
            partial_result = MARK in scan.collect_schema()
    except UNREADABLE as error:
        _fail(raw, _said(error), error)
    if partial_result:
        raise InputError(f"{raw.label}: {PARTIAL}")
    return ParquetFile(raw, feed, footer, scan)


@contextmanager
def _reading(raw: Raw, feed: Path | bytes) -> Iterator[tuple[READ, int]]:
    """A function that reads so many bytes from a place, and how many there are. What is damaged becomes InputError."""
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
        _fail(raw, str(error), error)
    except OSError as error:
        raw.fail(error)


def _said(error: BaseException) -> str:
    """The first line of what Polars said; a panic is about its own code."""
    panic = isinstance(error, pl.exceptions.PanicException)
    return "its pages are damaged" if panic else (str(error).splitlines() or [type(error).__name__])[0]


def _fail(raw: Raw, said: str, error: BaseException) -> NoReturn:
    raise InputError(f"{raw.label}: not a whole Parquet file ({said}): fetch or write it again") from None


def read_parquet(raw: Raw, what: str, name: str | None) -> Run | Qrels:
    """Read the columns that matter from a Parquet file."""
    return _read(open_parquet(raw), what, name)


def _read(file: ParquetFile, what: str, name: str | None) -> Run | Qrels:
    found = Findings()
    roles = roles_of(file.names, what, file.raw.label, found.notes, file.raw.columns)
    if what == "qrels" and file.footer.rows >= MANY and (packed := _read_packed(file, roles, found)) is not None:
        return packed
    frame = file.table(roles.values())
    return make_table(frame, roles, file.raw.source(f"Parquet {what}"), found, what, name)


def _read_packed(file: ParquetFile, roles: dict[str, str], found: Findings) -> Qrels | None:
    """Judgments of many queries, read part by part and kept in few bytes; None where something is odd, which takes all rows to tell."""
    wanted, label = [roles.get(role, "") for role in ("query_id", "doc_id", "grade")], file.raw.label
    kinds = file.scan.collect_schema()
    texts = all(kinds.get(name) == pl.String or kinds.get(name, pl.Null).is_integer() for name in wanted[:2])
    if len(roles) > len(wanted) or not texts or not kinds.get(wanted[2], pl.Null).is_numeric():
        return None
    file.check(wanted)
    scan = file.scan.select(wanted)

    def read(start: int) -> tuple[Blocks, pl.Series, Array, Array] | None:
        rows = _whole_queries(file, scan, wanted[0], start, PART)
        ids = [id_column(rows[name], name, label, found) for name in wanted[:2]]
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
    if (hashes[1:] == hashes[:-1]).any():  # a query comes back, or seems to
        return None
    size = np.concatenate([blocks.size for blocks, *_ in kept])
    blocks = Blocks(np.cumsum(size) - size, size, names, np.arange(len(size)), whole=True)
    documents, grades = pl.concat([part[1] for part in kept], rechunk=False), np.concatenate([part[2] for part in kept])
    all_grades = pl.Series(np.concatenate([part[3] for part in kept]))
    named = make_qrels(pl.DataFrame(), file.raw.source("Parquet qrels"), found, "Parquet qrels", (blocks, all_grades))
    return PackedQrels.of(blocks, documents, grades, named.source)


def parquet_parts(raw: Raw, name: str | None) -> RunParts:
    """A run in a Parquet file, to be read in parts."""
    found, file = Findings(), open_parquet(raw)
    roles = roles_of(file.names, "run", raw.label, found.notes, raw.columns)
    wanted = list(dict.fromkeys(roles.values()))
    columns = file.scan.select(wanted)
    query = roles["query_id"]

    def read(start: int, size: int) -> tuple[Run, PartFacts]:
        return table_part(_whole_queries(file, columns, query, start, size), roles, raw.label)

    def reads(pieces: int | None = None) -> Iterator[Callable[[], tuple[Run, PartFacts]]]:
        file.check(wanted)
        count = file.footer.rows
        size = PART if pieces is None else max(min(PART, -(-count // pieces)), 1)
        return (partial(read, start, size) for start in range(0, count, size))

    parts = table_parts(raw, "Parquet run", name, found, reads, lambda: cast("Run", _read(file, "run", name)))
    return replace(parts, size=file.size_of(wanted))


def _whole_queries(file: ParquetFile, scan: pl.LazyFrame, query: str, start: int, size: int) -> pl.DataFrame:
    """The rows of a part: from where the first query begins in it to where the last one ends, which may be beyond it."""
    before, beyond = min(start, 1), BEYOND
    while True:
        rows = file.collect(scan.slice(start - before, before + size + beyond))
        end = min(before + size, len(rows))
        first, last = (_next_query(rows[query], at) for at in (before, end))
        if first >= end and end:  # all of it belongs to a query that begins in an earlier part
            return rows.clear()
        if last < len(rows) or len(rows) < before + size + beyond:
            return rows.slice(first, last - first)
        beyond *= 8


def _next_query(queries: pl.Series, at: int) -> int:
    """The first row from this one on with which a query begins; as many as there are, where none does."""
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
