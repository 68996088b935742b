"""Runs and judgments in Parquet files, which are checked for damage before Polars reads them."""

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
from rankscope.files.footers import MAGIC, DamageError, Footer, Read, check_pages, read_footer
from rankscope.files.long import ReaderNotes, id_column, make_qrels, make_table
from rankscope.files.memory import as_stored
from rankscope.files.parts import RunFormat, RunParts, table_parts
from rankscope.files.raw import UNREADABLE, Raw
from rankscope.files.roles import roles_of
from rankscope.lists import Array, narrowed
from rankscope.parallel import check_memory, map_parts
from rankscope.tables import MARK, PARTIAL, SEED, Blocks, PackedQrels, Qrels, Run

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

    name, endings = "parquet", (".parquet", ".pq")

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
