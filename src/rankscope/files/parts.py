"""Formats of runs, and runs in parts of whole queries: each part is read, judged and dropped while it is in the processor's cache.

A file is cut at ends of queries, and a folder or the files that a pattern names are one run, as Spark writes it.
"""

from __future__ import annotations

import hashlib
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from glob import glob, has_magic
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import ReaderNotes, grades_of, long_table, make_run, stem, tags_of
from rankscope.files.raw import BROKEN, Raw, check_lines, is_blank
from rankscope.parallel import part_size
from rankscope.tables import Qrels, Run, Source


class RunFormat(ABC):
    """A format of runs and judgments in files: how to recognise it and how to read it.

    ``name`` is the format in messages and settings, ``endings`` are those of its files. ``holds`` is the kind of file that it is written
    in, if other formats are written in the same (lists of documents are JSON lines). Files without its ending are of the format only if
    they begin as ``begins`` says and have ``within`` in their first line.
    """

    name: ClassVar[str]
    endings: ClassVar[tuple[str, ...]] = ()
    holds: ClassVar[str] = ""
    begins: ClassVar[tuple[bytes, ...]] = ()
    within: ClassVar[str] = ""

    @abstractmethod
    def recognises(self, raw: Raw) -> bool:
        """Return True if a file is certainly of this format. Formats are asked in the order of the catalogue."""

    @abstractmethod
    def read(self, raw: Raw, what: str, name: str | None) -> Run | Qrels:
        """Read a file; ``what`` is "run" or "qrels", ``name`` the run's name if the caller gave one."""

    def parts(self, raw: Raw, name: str | None) -> RunParts | None:
        """Return a large run to be read in parts; None if the format, or this file, is read whole."""
        return None


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

    ``kind`` is the kind of its source, ``what`` the same in a sentence. ``name`` is its name if no tag names it, ``given_name`` the name that
    the caller gave. ``tag`` is "last" if the last tag names the run, and "only" if a second tag is an error with the message
    ``several``. ``notes`` come before the notes of parts, ``more_notes`` after them.
    """

    label: str
    kind: str
    what: str
    name: str
    given_name: str | None = None
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
        return make_run(NO_RUN, source, notes, self.what, self.given_name or notes.tag or self.name, sizes)


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
    """Return a run in a table with a header, to be read in parts."""

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


Open = Callable[[Path, str | None], Run | RunParts]


def files_of(path: str | Path) -> list[Path] | None:
    """Return the files of a folder or of a pattern like ``part-*.csv``, by name; None for another path.

    Hidden files and those that begin with an underscore (``_SUCCESS``) are skipped. Raises InputError if no file is left.
    """
    folder = Path(os.path.expanduser(path))  # Path.expanduser raises for an unknown user
    if folder.is_dir():
        all_files = {file: file.relative_to(folder).parts for file in folder.rglob("*")}
        candidates = [file for file, parts in all_files.items() if not any(part[0] in "._" for part in parts)]
    elif not folder.exists():
        candidates = [Path(file) for file in glob(str(folder)) if Path(file).name[0] not in "._"]
    else:
        return None
    files = sorted(file for file in candidates if file.is_file())
    if not files:
        none = f"no files {'in this folder' if folder.is_dir() else 'of such names'}"
        raise InputError(f"{path}: {none} (hidden ones and _SUCCESS are passed over)")
    return files


def folder_run(path: str | Path, files: Sequence[Path], name: str | None, open_run: Open) -> RunParts:
    """The files of a folder or pattern as one run, to be read in parts; ``open_run`` opens each."""
    sources: list[Source] = []

    def reads(pieces: int | None = None) -> Iterator[Callable[[], tuple[Run, PartFacts]]]:
        sources.clear()
        for file in files:  # opened one after the other, as formats without parts are read at once
            run = open_run(file, None)
            sources.append(run.source if isinstance(run, Run) else run.without_rows([], 0).source)
            yield from [partial(_rows_in_order, run)] if isinstance(run, Run) else run.reads(pieces)

    def whole() -> Run:
        runs = [run if isinstance(run, Run) else run.whole() for run in (open_run(file, None) for file in files)]
        return _join(str(path), name, runs)

    size = sum(file.stat().st_size for file in files)
    head, source = partial(_joint_head, str(path), name, sources), partial(joint_source, str(path), sources)
    return RunParts(str(path), size, reads, whole, head, source)


def _rows_in_order(run: Run) -> tuple[Run, PartFacts]:
    if run.source.faults:
        raise InputError(run.source.faults[0].message)
    return run.by_query(), _facts(run)


def _facts(run: Run) -> PartFacts:
    tags = () if run.source.tag is None else (run.source.tag,)
    return PartFacts(run.frame.height, int(run.frame["score"].is_infinite().sum()), tags)


def _joint_head(label: str, name: str | None, sources: Sequence[Source]) -> RunHead:
    notes = tuple(dict.fromkeys(note for source in sources for note in source.notes[1:]))
    kinds = list(dict.fromkeys(source.kind.removesuffix(" run") for source in sources))
    what = f"a run in {words.counted(len(sources), words.listing(kinds, last='and') + ' file')}"
    own = Path(label).resolve()
    otherwise = stem((own.parent if has_magic(own.name) else own).name)
    several = "its files are of {}, and a folder is read as one: name the files themselves"
    return RunHead(label, "folder", what, otherwise, name, several=several, more_notes=notes)


def joint_source(label: str, sources: Sequence[Source], kind: str = "folder", **more: Any) -> Source:
    """Return the source of several files; its digest is of their names and digests."""

    def digest() -> str:
        lines = [f"{Path(source.label).name} {source.sha256() if source.sha256 else ''}\n" for source in sources]
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def same() -> None:
        for source in sources:
            if source.same is not None:
                source.same()

    return Source(label, kind, label, sha256=digest, same=same, **more)


def joint_places(tables: Sequence[tuple[int, Callable[[int], str]]]) -> Callable[[int], str]:
    """Return the place of a row of several tables, given the rows and the places of each."""
    ends = np.cumsum([rows for rows, _ in tables])

    def place_of(row: int) -> str:
        number = int(np.searchsorted(ends, row, side="right"))
        rows, at = tables[number]
        return at(row - int(ends[number] - rows))

    return place_of


def _join(label: str, name: str | None, runs: Sequence[Run]) -> Run:
    frame = _common_rows(runs, ("query_id", "doc_id", "score", "rank"))
    sources, queries = [run.source for run in runs], frame["query_id"].n_unique()
    run = _joint_head(label, name, sources).run(joint_source(label, sources), [_facts(run) for run in runs], queries)
    return Run(frame, _placed(run.source, runs), name=run.name)


def folder_qrels(path: str | Path, files: Sequence[Path], read_qrels: Callable[[Path], Qrels]) -> Qrels:
    """The files of a folder or pattern as judgments; ``read_qrels`` reads each."""
    parts = [read_qrels(file) for file in files]
    frame = _common_rows(parts, ("query_id", "doc_id", "grade", "iteration", "subgroup"))
    notes = dict.fromkeys(note for part in parts for note in part.source.notes[1:])
    rows = f"{words.counted(frame.height, 'judgment')}, {words.counted(frame['query_id'].n_unique(), 'query')}, {grades_of(frame['grade'])}"
    source = joint_source(str(path), [part.source for part in parts])
    first = f"read {source.label} as qrels in {words.counted(len(parts), 'file')}: {rows}"
    return Qrels(frame, _placed(replace(source, notes=(first, *notes)), parts))


def _common_rows(tables: Sequence[Run] | Sequence[Qrels], columns: Sequence[str]) -> pl.DataFrame:
    common = [column for column in columns if all(column in table.frame.columns for table in tables)]
    return pl.concat([table.frame.select(common) for table in tables], how="vertical_relaxed", rechunk=True)


def _placed(source: Source, tables: Sequence[Run] | Sequence[Qrels]) -> Source:
    faults = tuple(fault for table in tables for fault in table.source.faults)
    places = joint_places([(table.frame.height, table.source.at) for table in tables])
    return replace(source, faults=faults, place_of=places)
