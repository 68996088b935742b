"""A file in parts of some whole queries: each is read, judged and dropped while it lies in the processor's cache."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import Findings, long_table, make_run, stem, tags_of
from rankscope.files.raw import BROKEN, Raw, check_lines, is_blank
from rankscope.parallel import part_size
from rankscope.tables import Run, Source

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


@dataclass(frozen=True)
class RunHead:
    """What is known of a run before its rows are read.

    ``kind`` is that of its source, ``what`` the same in a sentence, ``name`` is its name where no tag gives one, and ``given`` the one
    that was given. ``tag`` says which tag names the run: the last, or the only one that there may be; of ``several`` that is what is said. ``notes`` are said
    before what the parts tell, ``more_notes`` after it.
    """

    label: str
    kind: str
    what: str
    name: str
    given: str | None = None
    tag: Literal["last", "only"] = "only"
    several: str = ""
    notes: tuple[str, ...] = ()
    more_notes: tuple[str, ...] = ()

    def run(self, source: Source, parts: Sequence[PartFacts], queries: int) -> Run:
        """The run without its rows, from what was told of all its parts and the number of its queries."""
        found = Findings(notes=[*self.notes])
        tags = [tag for part in parts for tag in part.tags]
        if self.tag == "last":
            found.note_lines(sum(part.comments for part in parts), 0, 0, tags)
        else:
            several = list(dict.fromkeys(tags))
            if len(several) > 1:
                what = f"{words.counted(len(several), 'run')} ({words.listing(several, 3)})"
                raise InputError(f"{self.label}: {self.several.format(what)}")
            found.tag = several[0] if several else None
        found.notes += self.more_notes
        sizes = sum(part.rows for part in parts), queries, sum(part.infinite for part in parts)
        return make_run(NO_RUN, source, found, self.what, self.given or found.tag or self.name, sizes)


@dataclass(frozen=True)
class QueryPlace:
    """Where a line names its query, as patterns: what stands ``before`` it, the ``query`` itself, and what tells that it ends.

    A cut that they put in the wrong place costs time and no number: a query that comes back sends the file the general way.
    """

    before: bytes
    query: bytes
    after: bytes

    @classmethod
    def first(cls, separator: str) -> QueryPlace:
        """The first column of a line without quotes."""
        sign = re.escape(separator.encode())
        return cls(b"", rb"[^\n%s]*" % sign, sign)


@dataclass(frozen=True, eq=False)
class RunParts:
    """A run in a file, to be read part by part.

    ``size`` is about how many bytes it has when unpacked. ``reads`` gives a function for each part that reads it; it raises InputError
    where only the whole file can be read, by ``whole``, or can tell what is at fault. Told how many pieces are wanted at least, it cuts a file that is no stream into so many, the
    same on every machine. ``head`` gives what is known of the run before its rows are read, ``source`` where it came from.
    """

    label: str
    size: int
    reads: Callable[..., Iterator[Callable[[], tuple[Run, PartFacts]]]]
    whole: Callable[[], Run]
    head: Callable[[], RunHead]
    source: Callable[[], Source]

    def without_rows(self, parts: Sequence[PartFacts], queries: int) -> Run:
        """The run without its rows, its name and its source, from what was told of all parts and the number of queries."""
        return self.head().run(self.source(), parts, queries)


def piece_size(raw: Raw, pieces: int | None) -> int | None:
    """How many bytes a piece has where so many are wanted; None where the size of parts is free.

    It depends on nothing but the file, so that every machine cuts it at the same places.
    """
    if pieces is None:
        return None
    on_disk = isinstance(raw.feed, Path) and not raw.compression
    return min(PART, max(-(-raw.size // pieces), 1)) if on_disk else PART


def cut(raw: Raw, place: QueryPlace, size: int | None = None) -> Iterator[Callable[[], bytes]]:
    """Parts of a file of lines that name a query, each as a function that gives its bytes.

    A part ends where the query of the next line is another. A compressed file or a stream is unpacked while it is cut; a file on disk is
    read by whoever calls the function. Raises InputError for a damaged archive.
    """
    size = part_size(PART) if size is None else size
    if isinstance(raw.feed, Path) and not raw.compression:
        yield from (partial(_read, raw, start, stop) for start, stop in _cut_file(raw, raw.feed, place, size))
        return
    yield from (partial(bytes, part) for part in _cut_stream(raw, place, size))


def _read(raw: Raw, start: int, stop: int) -> bytes:
    try:
        with raw.open() as file:
            file.seek(start)
            return file.read(stop - start)
    except OSError as error:
        raw.fail(error)


def _cut_file(raw: Raw, path: Path, place: QueryPlace, size: int) -> Iterator[tuple[int, int]]:
    try:
        length, start = path.stat().st_size, 0
        with path.open("rb") as file:
            while start < length:
                at, window = start + size, min(WINDOW, max(size, 64))
                end = -1 if at < length else 0
                while end < 0 and at + window // 2 < length:
                    file.seek(at)
                    data = next(check_lines(raw.label, iter((file.read(window),))))
                    # blank lines, of which a file may have any number, are cut anywhere
                    end = _border(data, place) if not is_blank(data) else data.find(b"\n") + 1
                    window *= 2
                stop = at + end if end > 0 else length
                yield start, stop
                start = stop
    except OSError as error:
        raw.fail(error)


def _cut_stream(raw: Raw, place: QueryPlace, size: int) -> Iterator[bytes]:
    buffer = bytearray()
    try:
        with raw.unpack() as file:
            for piece in check_lines(raw.label, iter(partial(file.read, size), b"")):
                if is_blank(piece) and (not buffer or buffer.endswith(b"\n")):
                    continue  # blank lines, of which a file may have any number
                buffer += piece
                at = size - size // 8
                while len(buffer) > size and (end := _border(memoryview(buffer)[at:], place)) > 0:
                    yield bytes(memoryview(buffer)[: at + end])
                    del buffer[: at + end]
    except BROKEN as error:
        raw.fail(error)
    if buffer:
        yield bytes(buffer)


def _border(data: bytes | memoryview, place: QueryPlace) -> int:
    """Where the first line begins whose query is not that of the first whole line; -1 where no such line is there whole."""
    data = bytes(data)
    start = data.find(b"\n") + 1
    naming = rb"^%s(%s)%s" % (place.before, place.query, place.after)
    first = re.compile(naming, re.MULTILINE).search(data, start) if start else None
    if first is None:
        return -1
    other = rb"\n(?!%s%s%s)[^\n]*\n" % (place.before, re.escape(first[1]), place.after)
    found = re.compile(other).search(data, first.end())
    return found.start() + 1 if found else -1


def table_parts(
    raw: Raw, kind: str, name: str | None, found: Findings, reads: Callable[..., Any], whole: Callable[[], Run]
) -> RunParts:
    """A run in a table with a header, to be read in parts; ``found`` is what its header told."""
    several = "its rows are of {}, and a run table holds one: split it by run, or drop the column"
    head = RunHead(raw.label, kind, f"a {kind}", stem(raw.label), name, several=several, notes=tuple(found.notes))
    return RunParts(raw.label, raw.size, reads, whole, lambda: head, lambda: raw.source(kind))


def table_part(rows: pl.DataFrame, roles: dict[str, str], label: str) -> tuple[Run, PartFacts]:
    """A part of a table as a run, with what is told of it. Raises InputError for what only the whole table tells."""
    told = Findings()
    table, bad = long_table(rows, roles, label, None, told)
    if len(bad) or told.notes:
        raise InputError(f"{label}: what only the whole table tells")
    return Run(table, Source(label)), PartFacts(
        table.height, int(table["score"].is_infinite().sum()), tuple(tags_of(rows, roles, label))
    )
