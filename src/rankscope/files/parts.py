"""A file in parts of some whole queries: each is read, judged and dropped while it lies in the processor's cache."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from rankscope.files.raw import Raw
from rankscope.parallel import part_size
from rankscope.tables import Run

PART = 8 << 20  # bytes of a part
NO_RUN = pl.DataFrame(schema={"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64})
WINDOW = 1 << 16  # bytes looked at first to find where a query ends


@dataclass(frozen=True)
class PartFacts:
    """What is told of a part when the file is done: its rows, those with an infinite score, and the tags of its lines.

    The last tag is that of the last line.
    """

    rows: int
    infinite: int
    tags: tuple[str, ...] = ()
    comments: int = 0


@dataclass(frozen=True, eq=False)
class RunParts:
    """A run in a file, to be read part by part.

    ``size`` is about how many bytes it has when unpacked. ``reads`` gives a function for each part that reads it; it raises InputError where only the whole file can be read, by ``whole``, or
    can tell what is at fault. ``head`` takes what was told of all parts and the number of queries, and gives the run without its rows:
    its name and its source.
    """

    label: str
    size: int
    reads: Callable[[], Iterator[Callable[[], tuple[Run, PartFacts]]]]
    whole: Callable[[], Run]
    head: Callable[[Sequence[PartFacts], int], Run]


def sizes_of(parts: Sequence[PartFacts], queries: int) -> tuple[int, int, int]:
    """How many rows, queries and infinite scores there are in all parts."""
    return sum(part.rows for part in parts), queries, sum(part.infinite for part in parts)


def cut(raw: Raw, separator: str, size: int | None = None) -> Iterator[Callable[[], bytes]]:
    """Parts of a file of lines that begin with a query and a separator, each as a function that gives its bytes.

    A part ends where the query of the next line is another. A compressed file or a stream is unpacked while it is cut; a file on disk is
    read by whoever calls the function. Raises InputError for a damaged archive.
    """
    size = part_size(PART) if size is None else size
    if isinstance(raw.feed, Path) and not raw.compression:
        yield from (
            partial(_read, raw, start, stop) for start, stop in _cut_file(raw, raw.feed, separator.encode(), size)
        )
        return
    yield from (partial(bytes, part) for part in _cut_stream(raw, separator.encode(), size))


def _read(raw: Raw, start: int, stop: int) -> bytes:
    try:
        with raw.open() as file:
            file.seek(start)
            return file.read(stop - start)
    except OSError as error:
        raw.fail(error)


def _cut_file(raw: Raw, path: Path, separator: bytes, size: int) -> Iterator[tuple[int, int]]:
    try:
        length, start = path.stat().st_size, 0
        with path.open("rb") as file:
            while start < length:
                at, window = start + size, WINDOW
                end = -1 if at < length else 0
                while end < 0 and at + window // 2 < length:
                    file.seek(at)
                    end = _border(file.read(window), separator)
                    window *= 2
                stop = at + end if end > 0 else length
                yield start, stop
                start = stop
    except OSError as error:
        raw.fail(error)


def _cut_stream(raw: Raw, separator: bytes, size: int) -> Iterator[bytes]:
    buffer = bytearray()
    try:
        with raw.unpack() as file:
            while piece := file.read(size):
                buffer += piece
                at = size - size // 8
                while len(buffer) > size and (end := _border(memoryview(buffer)[at:], separator)) > 0:
                    yield bytes(memoryview(buffer)[: at + end])
                    del buffer[: at + end]
    except (OSError, EOFError, zlib.error) as error:
        raw.fail(error)
    if buffer:
        yield bytes(buffer)


def _border(data: bytes | memoryview, separator: bytes) -> int:
    """Where the first line begins whose query is not that of the first whole line; -1 where no such line is there whole."""
    data = bytes(data)
    start = data.find(b"\n") + 1
    query = data[start : data.find(separator, start) + 1]
    found = re.compile(rb"\n(?!" + re.escape(query) + rb")[^\n]*\n").search(data, start) if start and query else None
    return found.start() + 1 if found else -1
