"""A run in several files: a folder of parts, as Spark writes them, or the files that a pattern names."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import grades_of, stem
from rankscope.files.parts import PartFacts, RunHead, RunParts
from rankscope.tables import Qrels, Run, Source

Open = Callable[[Path, str | None], Run | RunParts]


def files_of(path: str | Path) -> list[Path] | None:
    """Return the files of a folder or of a pattern like ``part-*.csv``, by name; None for another path.

    Hidden files and those that begin with an underscore (``_SUCCESS``) are skipped. Raises InputError if no file is left.
    """
    folder = Path(os.path.expanduser(path))  # Path.expanduser raises for an unknown user
    if folder.is_dir():
        found = [
            file for file in folder.rglob("*") if not any(part[0] in "._" for part in file.relative_to(folder).parts)
        ]
    elif not folder.exists():
        found = [Path(file) for file in glob(str(folder)) if Path(file).name[0] not in "._"]
    else:
        return None
    files = sorted(file for file in found if file.is_file())
    if not files:
        raise InputError(
            f"{path}: no files {'in this folder' if folder.is_dir() else 'of such names'} (hidden ones and _SUCCESS are passed over)"
        )
    return files


def folder_run(path: str | Path, files: Sequence[Path], name: str | None, open_run: Open) -> RunParts:
    """The files of a folder or pattern as one run, to be read in parts; ``open_run`` opens each."""
    sources: list[Source] = []

    def reads(pieces: int | None = None) -> Iterator[Callable[[], tuple[Run, PartFacts]]]:
        sources.clear()
        for file in files:  # opened one after the other, as formats without parts are read at once
            run = open_run(file, None)
            sources.append(run.source if isinstance(run, Run) else run.without_rows([], 0).source)
            yield from [partial(_table, run)] if isinstance(run, Run) else run.reads(pieces)

    def whole() -> Run:
        runs = [run if isinstance(run, Run) else run.whole() for run in (open_run(file, None) for file in files)]
        return _join(str(path), name, runs)

    size = sum(file.stat().st_size for file in files)
    head, source = partial(_head, str(path), name, sources), partial(joint_source, str(path), sources)
    return RunParts(str(path), size, reads, whole, head, source)


def _table(run: Run) -> tuple[Run, PartFacts]:
    if run.source.faults:
        raise InputError(run.source.faults[0].message)
    return run.by_query(), _facts(run)


def _facts(run: Run) -> PartFacts:
    tags = () if run.source.tag is None else (run.source.tag,)
    return PartFacts(run.frame.height, int(run.frame["score"].is_infinite().sum()), tags)


def _head(label: str, name: str | None, sources: Sequence[Source]) -> RunHead:
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
    frame = _rows(runs, ("query_id", "doc_id", "score", "rank"))
    sources, queries = [run.source for run in runs], frame["query_id"].n_unique()
    run = _head(label, name, sources).run(joint_source(label, sources), [_facts(run) for run in runs], queries)
    return Run(frame, _placed(run.source, runs), name=run.name)


def folder_qrels(path: str | Path, files: Sequence[Path], read_qrels: Callable[[Path], Qrels]) -> Qrels:
    """The files of a folder or pattern as judgments; ``read_qrels`` reads each."""
    parts = [read_qrels(file) for file in files]
    frame = _rows(parts, ("query_id", "doc_id", "grade", "iteration", "subgroup"))
    notes = dict.fromkeys(note for part in parts for note in part.source.notes[1:])
    rows = f"{words.counted(frame.height, 'judgment')}, {words.counted(frame['query_id'].n_unique(), 'query')}, {grades_of(frame['grade'])}"
    source = joint_source(str(path), [part.source for part in parts])
    first = f"read {source.label} as qrels in {words.counted(len(parts), 'file')}: {rows}"
    return Qrels(frame, _placed(replace(source, notes=(first, *notes)), parts))


def _rows(tables: Sequence[Run] | Sequence[Qrels], columns: Sequence[str]) -> pl.DataFrame:
    common = [column for column in columns if all(column in table.frame.columns for table in tables)]
    return pl.concat([table.frame.select(common) for table in tables], how="vertical_relaxed", rechunk=True)


def _placed(source: Source, tables: Sequence[Run] | Sequence[Qrels]) -> Source:
    faults = tuple(fault for table in tables for fault in table.source.faults)
    places = joint_places([(table.frame.height, table.source.at) for table in tables])
    return replace(source, faults=faults, place_of=places)
