"""What readers report: names, notes and faults, one line each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import NoReturn

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.tables import Array, Blocks, Fault, Qrels, Run, Source, blocks_of

RUN_LINE = "a TREC run line has 6 (query Q0 document rank score tag)"
QRELS_LINE = "a TREC qrels line has 4 (query iteration document grade)"
RUN_EXPECTED = "a TREC run has lines like '301 Q0 FT911-3 1 12.4 bm25'"
QRELS_EXPECTED = "TREC qrels have lines like '301 0 FT911-3 1'"
EXPECTED = {"run": RUN_EXPECTED, "qrels": QRELS_EXPECTED}
ORDER = "the order is QRELS RUN..."
FAULTS = 20
SUFFIXES = {
    ".gz", ".zst", ".txt", ".run", ".trec", ".res", ".qrels", ".tsv", ".csv", ".json", ".jsonl", ".ndjson",
    ".parquet", ".pq",
}  # fmt: skip


@dataclass
class Findings:
    """Notes and faults that a reader collects."""

    notes: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    faulty: int = 0
    tag: str | None = None
    blocks: Blocks | None = None

    def fault(self, kind: str, message: str, line: int | None = None) -> None:
        """Keep the first faults and count all."""
        self.faulty += 1
        if len(self.faults) < FAULTS:
            self.faults.append(Fault(kind, message, line))

    def fault_rows(
        self, label: str, rows: Array, fault: Callable[[int], tuple[str, str]], line: Callable[[int], int] | None
    ) -> None:
        """Keep the first faults of these rows, each a kind and a text, and count all; ``line`` gives the line of a row."""
        for row in rows[:FAULTS].tolist():
            kind, text = fault(row)
            at = None if line is None else line(row)
            place = f"row {words.count(row + 1)}" if at is None else f"line {words.count(at)}"
            self.fault(kind, f"{label} {place}: {text}", at)
        self.faulty += max(len(rows) - FAULTS, 0)

    def refuse(self, otherwise: str, noun: str) -> NoReturn:
        """Raise InputError where no good row is left: the first fault, or what is to be said where there is none."""
        if not self.faults:
            raise InputError(otherwise)
        more = f" ({words.counted(self.faulty, f'such {noun}')}, and no good one)" if self.faulty > 1 else ""
        raise InputError(f"{self.faults[0].message}{more}")

    def added_to(self, source: Source, first: str) -> Source:
        """A source with what was found, after a ``first`` note; of more faults than are kept the last one says how many."""
        left_out = [f"left out {words.counted(self.faulty, 'faulty row')}"] if self.faulty else []
        faults = sorted(self.faults, key=lambda fault: fault.line or 0)
        if self.faulty > len(faults):
            rest = words.counted(self.faulty - len(faults), "more faulty row")
            faults.append(Fault("more", f"{source.label}: {rest}, {words.count(self.faulty)} in all"))
        return replace(source, tag=self.tag, notes=(first, *self.notes, *left_out), faults=tuple(faults))


def stem(path: str) -> str:
    """Name a run by its file, without folder and known endings: ``runs/bm25.run.gz`` is ``bm25``."""
    name = Path(path).name
    while (suffix := Path(name).suffix.lower()) in SUFFIXES:
        name = name[: -len(suffix)]
    return name or path


def grades_of(grade: pl.Series) -> str:
    """List the grades: ``grades 0 1 2``, or their range where there are many."""
    distinct = grade.unique().sort().to_list()
    if not distinct:
        return "no grades"
    if len(distinct) <= 8:
        return f"grades {' '.join(f'{value:g}' for value in distinct)}"
    return f"{words.counted(len(distinct), 'different grade')} from {distinct[0]:g} to {distinct[-1]:g}"


def make_run(frame: pl.DataFrame, source: Source, found: Findings, what: str, name: str) -> Run:
    """Build the run; its first note says how it was read."""
    blocks = found.blocks or blocks_of(frame["query_id"])
    tag = f", tag {found.tag}" if found.tag else ""
    first = f"read {source.label} as {what}: {words.counted(len(frame), 'row')}, {words.counted(len(blocks.query), 'query')}{tag}"
    infinite = int(frame["score"].is_infinite().sum())
    if infinite:
        found.notes.append(f"{words.counted(infinite, 'score is', 'scores are')} infinite")
    run = Run(frame, found.added_to(source, first), name=name)
    run.__dict__["blocks"] = blocks  # a cached property, found already
    return run


def make_qrels(frame: pl.DataFrame, source: Source, found: Findings, what: str) -> Qrels:
    """Build the qrels; their first note says how they were read."""
    blocks = found.blocks or blocks_of(frame["query_id"])
    rows = words.counted(len(frame), "judgment")
    first = f"read {source.label} as {what}: {rows}, {words.counted(len(blocks.query), 'query')}, {grades_of(frame['grade'])}"
    qrels = Qrels(frame, found.added_to(source, first))
    qrels.__dict__["blocks"] = blocks
    return qrels


def line_finder(content: Callable[[], Array], left_out: Array) -> Callable[[int], int]:
    """A function that gives the 1-based line of a row; lines are found only when it is first called.

    ``content`` gives the lines that hold rows, ``left_out`` those among them (0-based) that gave no row.
    """

    @cache
    def lines() -> Array:
        return np.delete(content(), left_out)

    return lambda row: int(lines()[row])


def content_lines(data: bytes) -> Array:
    """1-based numbers of the lines that are neither blank nor comments."""
    kept = (
        number
        for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1)
        if (text := line.strip()) and not text.startswith(b"#")
    )
    return np.fromiter(kept, dtype=np.int64)
