"""Files in parts of whole queries; each part is read, judged and dropped while it is in the processor's cache."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import ReaderNotes, long_table, make_run, stem, tags_of
from rankscope.files.raw import BROKEN, Raw, check_lines, is_blank
from rankscope.parallel import part_size
from rankscope.tables import Run, Source

PART = 8 << 20  # bytes of a part
NO_RUN = pl.DataFrame(schema={"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64})
WINDOW = 1 << 16  # bytes searched first for the end of a query


@dataclass(frozen=True)
class PartFacts:
    """Facts of a part that the run's notes need: rows, infinite scores, the tags of its lines (the last line's last), comments."""

    rows: int
    infinite: int
    tags: tuple[str, ...] = ()
    comments: int = 0


@dataclass(frozen=True)
class RunHead:
    """Facts of a run before its rows are read.

    ``kind`` is the kind of its source, ``what`` the same in a sentence. ``name`` is its name if no tag names it, ``given`` the name that
    the caller gave. ``tag`` is "last" if the last tag names the run, and "only" if a second tag is an error with the message
    ``several``. ``notes`` come before the notes of parts, ``more_notes`` after them.
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
        """Return the run without its rows, from the facts of all parts and the number of queries."""
        notes = ReaderNotes(notes=[*self.notes])
        tags = [tag for part in parts for tag in part.tags]
        if self.tag == "last":
            notes.note_lines(sum(part.comments for part in parts), 0, 0, tags)
        else:
            several = list(dict.fromkeys(tags))
            if len(several) > 1:
                what = f"{words.counted(len(several), 'run')} ({words.listing(several, 3)})"
                raise InputError(f"{self.label}: {self.several.format(what)}")
            notes.tag = several[0] if several else None
        notes.notes += self.more_notes
        sizes = sum(part.rows for part in parts), queries, sum(part.infinite for part in parts)
        return make_run(NO_RUN, source, notes, self.what, self.given or notes.tag or self.name, sizes)


@dataclass(frozen=True)
class QueryPlace:
    """Patterns that find the query in a line: the text ``before`` it, the ``query`` and the text ``after`` it.

    A cut in the wrong place costs time only: if a query comes back in a later part, the file is read whole.
    """

    before: bytes
    query: bytes
    after: bytes

    @classmethod
    def first(cls, separator: str) -> QueryPlace:
        """Return the place of a query in the first column of lines without quotes."""
        sign = re.escape(separator.encode())
        return cls(b"", rb"[^\n%s]*" % sign, sign)


@dataclass(frozen=True, eq=False)
class RunParts:
    """A run in a file, to be read part by part.

    ``size`` estimates its unpacked bytes. ``reads`` yields one function per part that reads it. A function raises InputError if only the
    ``whole`` file can be read, or can name the fault. With a number of pieces, ``reads`` cuts a file at the same places on every machine.
    ``head`` gives the facts known before rows are read, ``source`` the origin.
    """

    label: str
    size: int
    reads: Callable[..., Iterator[Callable[[], tuple[Run, PartFacts]]]]
    whole: Callable[[], Run]
    head: Callable[[], RunHead]
    source: Callable[[], Source]

    def without_rows(self, parts: Sequence[PartFacts], queries: int) -> Run:
        """Return the run without its rows, with name and source, from the facts of all parts."""
        return self.head().run(self.source(), parts, queries)


def piece_size(raw: Raw, pieces: int | None) -> int | None:
    """Return the bytes of a piece, which depend only on the file; None if the size of parts is free."""
    if pieces is None:
        return None
    return min(PART, max(-(-raw.size // pieces), 1)) if raw.path_on_disk else PART


def cut(raw: Raw, place: QueryPlace, size: int | None = None) -> Iterator[Callable[[], bytes]]:
    """Yield parts of a file of lines, each as a function that returns its bytes.

    A part ends before a line with another query. A compressed file or a stream is unpacked while it is cut; a file on disk is read by the
    caller of the function. Raises InputError for a damaged archive.
    """
    size = part_size(PART) if size is None else size
    if (path := raw.path_on_disk) is not None:
        yield from (partial(_read, raw, start, stop) for start, stop in _cut_file(raw, path, place, size))
    else:
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
                    # any number of blank lines may follow each other: cut them anywhere
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
                    continue
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
    """Return where the first line begins whose query differs from the first whole line's; -1 if there is none."""
    data = bytes(data)
    start = data.find(b"\n") + 1
    naming = rb"^%s(%s)%s" % (place.before, place.query, place.after)
    first = re.compile(naming, re.MULTILINE).search(data, start) if start else None
    if first is None:
        return -1
    other = rb"\n(?!%s%s%s)[^\n]*\n" % (place.before, re.escape(first[1]), place.after)
    border = re.compile(other).search(data, first.end())
    return border.start() + 1 if border else -1


def table_parts(
    raw: Raw,
    kind: str,
    name: str | None,
    roles: dict[str, str],
    notes: ReaderNotes,
    frames: Callable[[int | None], Iterator[Callable[[], pl.DataFrame | None]]],
    whole: Callable[[], Run],
) -> RunParts:
    """Return a run in a table with a header, to be read in parts.

    ``notes`` are those of the header. ``frames`` yields one function per part; it returns None if only the whole file can be read.
    """

    def read(frame_of: Callable[[], pl.DataFrame | None]) -> tuple[Run, PartFacts]:
        part_notes, frame = ReaderNotes(), frame_of()
        if frame is None:
            raise InputError(f"{raw.label}: only the whole file can be read")
        table, bad = long_table(frame, roles, raw.label, None, part_notes)
        if len(bad) or part_notes.notes:
            raise InputError(f"{raw.label}: only the whole table gives its notes and faults")
        tags = tuple(tags_of(frame, roles, raw.label))
        return Run(table, Source(raw.label)), PartFacts(table.height, int(table["score"].is_infinite().sum()), tags)

    def reads(pieces: int | None = None) -> Iterator[Callable[[], tuple[Run, PartFacts]]]:
        return (partial(read, frame_of) for frame_of in frames(pieces))

    several = "its rows are of {}, and a run table holds one: split it by run, or drop the column"
    head = RunHead(raw.label, kind, f"a {kind}", stem(raw.label), name, several=several, notes=tuple(notes.notes))
    return RunParts(raw.label, raw.size, reads, whole, lambda: head, lambda: raw.source(kind))
