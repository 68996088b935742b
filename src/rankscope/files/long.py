"""Long tables, one row per (query, document): columns found by their usual names, and notes and faults, one line each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.roles import ID_ROLES
from rankscope.tables import Array, Blocks, Fault, Qrels, Run, Source, as_texts, blocks_of

RUN_LINE = "a TREC run line has 6 (query Q0 document rank score tag)"
QRELS_LINE = "a TREC qrels line has 4 (query iteration document grade)"
RUN_EXPECTED = "a TREC run has lines like '301 Q0 FT911-3 1 12.4 bm25'"
QRELS_EXPECTED = "TREC qrels have lines like '301 0 FT911-3 1'"
EXPECTED = {"run": RUN_EXPECTED, "qrels": QRELS_EXPECTED}
FAULTS = 20
BLOCK = 1 << 22
SUFFIXES = {
    ".gz", ".zst", ".txt", ".run", ".trec", ".res", ".qrels", ".tsv", ".csv", ".json", ".jsonl", ".ndjson",
    ".parquet", ".pq",
}  # fmt: skip


# numbers, as text, for grades that are words; set while such judgments are read
GRADES: ContextVar[Mapping[str, str]] = ContextVar("GRADES", default=MappingProxyType({}))


@contextmanager
def named_grades(numbers: Mapping[str, str] | None) -> Iterator[None]:
    """Read grades that are words as these numbers, inside the ``with`` block."""
    token = GRADES.set(numbers or {})
    try:
        yield
    finally:
        GRADES.reset(token)


@dataclass
class ReaderNotes:
    """Notes and faults that a reader collects."""

    notes: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    faulty: int = 0
    tag: str | None = None

    def fault(self, kind: str, message: str, line: int | None = None) -> None:
        """Count a fault, and keep it if it is one of the first."""
        self.faulty += 1
        if len(self.faults) < FAULTS:
            self.faults.append(Fault(kind, message, line))

    def fault_rows(
        self, label: str, rows: Array, fault: Callable[[int], tuple[str, str]], line: Callable[[int], int] | None
    ) -> None:
        """Count these rows as faults and keep the first; ``fault`` gives kind and text of a row, ``line`` its line."""
        for row in rows[:FAULTS].tolist():
            kind, text = fault(row)
            at = None if line is None else line(row)
            place = f"row {words.count(row + 1)}" if at is None else f"line {words.count(at)}"
            self.fault(kind, f"{label} {place}: {text}", at)
        self.faulty += max(len(rows) - FAULTS, 0)

    def note_lines(self, comments: int, beyond: int, columns: int, tags: Sequence[str]) -> None:
        """Note skipped comments, lines with ignored columns, and the last of several tags as the run's name."""
        if comments:
            lines = words.counted(comments, "line that begins", "lines that begin")
            self.notes.append(f"{lines} with # skipped as a comment")
        if beyond:
            lines = words.counted(beyond, "line has", "lines have")
            self.notes.append(f"{lines} more than {columns} columns: the rest is ignored")
        if tags:
            self.tag, distinct = tags[-1], list(dict.fromkeys(tags))
            if len(distinct) > 1:
                several = f"{words.counted(len(distinct), 'tag')} ({words.listing(distinct, 3)})"
                self.notes.append(f"{several}: the last line's, {self.tag}, names the run")

    def refuse(self, otherwise: str, noun: str) -> NoReturn:
        """Raise InputError if no good row is left: with the first fault, or with ``otherwise``."""
        if not self.faults:
            raise InputError(otherwise)
        more = f" ({words.counted(self.faulty, f'such {noun}')}, and no good one)" if self.faulty > 1 else ""
        raise InputError(f"{min(self.faults, key=lambda fault: fault.line or 0).message}{more}")

    def added_to(self, source: Source, first: str) -> Source:
        """Return the source with a ``first`` note, all notes and faults, and the number of faults beyond those kept."""
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


def ends_of_path(path: str) -> Iterator[str]:
    """Names for a run by ever more of its path, without its root: ``bm25``, ``bm25.run``, ``a/bm25``, ``a/bm25.run`` ..."""
    place = Path(path)
    folders = [part for part in place.parts[:-1] if part != place.anchor]
    for at in range(len(folders), -1, -1):
        yield "/".join((*folders[at:], stem(path)))
        yield "/".join((*folders[at:], place.name))


def grades_of(grade: pl.Series) -> str:
    """List the grades: ``grades 0 1 2``, or their range if there are more than eight."""
    distinct = grade.unique().sort().to_list()
    if not distinct:
        return "no grades"
    if len(distinct) <= 8:
        return f"grades {' '.join(words.in_table(words.amount(grade)) for grade in distinct)}"
    low, high = (words.in_table(words.amount(grade)) for grade in (distinct[0], distinct[-1]))
    return f"{words.counted(len(distinct), 'different grade')} from {low} to {high}"


def make_run(
    frame: pl.DataFrame,
    source: Source,
    notes: ReaderNotes,
    what: str,
    name: str,
    sizes: tuple[int, int, int] | None = None,
    blocks: Blocks | None = None,
) -> Run:
    """Build the run; its first note names the format.

    ``sizes`` counts rows, queries and infinite scores of a run whose rows are not in ``frame``.
    """
    blocks = blocks or blocks_of(frame["query_id"])
    rows, queries, infinite = sizes or (len(frame), len(blocks.query), int(np.isinf(frame["score"].to_numpy()).sum()))
    tag = f", tag {notes.tag}" if notes.tag else ""
    if infinite:
        notes.notes.append(f"{words.counted(infinite, 'score is', 'scores are')} infinite")
    first = f"read {source.label} as {what}: {words.counted(rows, 'row')}, {words.counted(queries, 'query')}{tag}"
    return Run(NOTHING, notes.added_to(source, first), name=name).having(frame, blocks=blocks)


def make_qrels(
    frame: pl.DataFrame, source: Source, notes: ReaderNotes, what: str, whole: tuple[Blocks, pl.Series] | None = None
) -> Qrels:
    """Build the qrels; their first note names the format."""
    blocks, grades = whole or (blocks_of(frame["query_id"]), frame["grade"])
    sizes = words.counted(int(blocks.size.sum()), "judgment"), words.counted(len(blocks.query), "query")
    first = f"read {source.label} as {what}: {', '.join(sizes)}, {grades_of(grades)}"
    return Qrels(NOTHING, notes.added_to(source, first)).having(frame, blocks=blocks)


def line_finder(content: Callable[[], Array], left_out: Array) -> Callable[[int], int]:
    """Return a function from a row to its 1-based line; lines are found at its first call."""

    @cache
    def lines() -> Array:
        return np.delete(content(), left_out)

    return lambda row: int(lines()[row])


def content_lines(data: bytes) -> Array:
    """Return the 1-based numbers of the lines that are neither blank nor comments."""

    def kept() -> Iterator[int]:
        start, before = 3 if data.startswith(b"\xef\xbb\xbf") else 0, 1
        while start < len(data):  # in blocks, as there may be millions of blank lines
            end = (data.rfind(b"\n", start, start + BLOCK) + 1) or (data.find(b"\n", start) + 1) or len(data)
            block = data[start:end]
            if block.strip():
                for number, line in enumerate(block.split(b"\n"), before):
                    if (text := line.strip()) and not text.startswith(b"#"):
                        yield number
            start, before = end, before + block.count(b"\n")

    return np.fromiter(kept(), dtype=np.int64)


NO_ROWS, NOTHING = np.empty(0, dtype=np.int64), pl.DataFrame()
EXACT = 2**53  # below this, each whole number has its own float
FLOAT_ID = r"-?(?:\d+\.0+|\d(?:\.\d+)?[eE]\+\d+)"  # a whole number written as a float
IS_FLOAT_ID = re.compile(rf"\s*{FLOAT_ID}\s*").fullmatch
FLOAT_NOTE = "ids as floats: 1.0 is read as '1'"
FLOAT_REMEDY = (
    f"floats from {EXACT:,} on can mean several whole numbers: keep ids as integers or strings before they become floats "
    "(a join fills gaps with NaN; in pandas dtype 'Int64' does not)"
)


def long_table(
    frame: pl.DataFrame, roles: dict[str, str], label: str, line: Callable[[int], int] | None, notes: ReaderNotes,
    whole: bool = False,
) -> tuple[pl.DataFrame, Array]:  # fmt: skip
    """Return the columns under rankscope's names and types, and the faulty rows, which are left out.

    With ``whole``, ids that are whole numbers stay numbers.
    """
    columns = {role: frame[name] for role, name in roles.items() if role != "tag"}
    ids = [role for role in ID_ROLES if role in columns]
    value = _value_role(columns)
    if value == "grade" and columns[value].dtype == pl.String and (named := GRADES.get()):
        columns[value] = pl.Series(
            [named.get(text.strip().casefold(), text) if text else text for text in columns[value]], dtype=pl.String
        )
    held = [role for role in ids[:2] if whole and is_whole(columns[role])]
    out: dict[str, pl.Series] = {
        role: columns[role].cast(pl.Int64) if role in held else id_column(columns[role], roles[role], label, notes)
        for role in ids
    }
    out[value] = _numbers(columns[value], roles[value], label)
    sound = out[value].is_not_null()
    if value == "grade" and out[value].is_nan().any():
        sound &= ~out[value].is_nan().fill_null(False)
    good = sound.to_numpy()
    for role in ("query_id", "doc_id"):
        good = good if role in held else good & (out[role] != "").fill_null(False).to_numpy()
    bad = np.flatnonzero(~good)
    notes.fault_rows(label, bad, lambda row: _lacking(columns, out, roles, row), line)
    if value == "rank":
        out["score"] = -out["rank"]
    if "rank" in columns:
        rank = _ranks(columns["rank"], good, notes)
        out.pop("rank", None)
        out |= {} if rank is None else {"rank": rank}
    order = ("query_id", "doc_id", "score", "grade", "rank", "iteration")
    table = pl.DataFrame({role: out[role] for role in order if role in out})
    if "iteration" in out:
        table = table.with_columns(pl.col("iteration").fill_null("0"))
    return (table.filter(pl.Series(good)) if len(bad) else table), bad


def is_text(data: bytes) -> bool:
    """True if the bytes are UTF-8."""
    if not data.isascii():
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            return False
    return True


def id_column(column: pl.Series, name: str, label: str, notes: ReaderNotes) -> pl.Series:
    """Return a column of ids as strings; reject fractions and other types."""
    kind = column.dtype
    if kind == pl.String:
        return column
    if kind.is_integer():
        return as_texts(column)
    if kind in (pl.Categorical, pl.Enum, pl.Null):
        return column.cast(pl.String)
    if kind.is_float():
        whole = column.drop_nulls().drop_nans()
        if len(odd := whole.filter((whole != whole.floor()) | whole.is_infinite())):
            raise InputError(f"{label}: {float_messages(name)[0].format(odd[0])}")
        if len(large := whole.filter(whole.abs() >= EXACT)):
            raise InputError(f"{label}: {float_messages(name)[1].format(large[0])}")
        notes.notes.append(f"column {name} holds {FLOAT_NOTE}")
        return as_texts(column.fill_nan(None).cast(pl.Int64))
    raise InputError(f"{label}: column {name} is of type {kind}; ids are strings or integers")


def is_whole(ids: pl.Series) -> bool:
    """True if all ids are whole numbers of at most 64 bits."""
    return ids.dtype.is_integer() and ids.dtype not in (pl.UInt64, pl.Int128) and not ids.null_count()


def float_messages(name: str) -> tuple[str, str]:
    """Return the messages for a column of ids with fractions, and with floats above ``EXACT``; {} is the number."""
    column = f"column {name.replace('{', '{{').replace('}', '}}')} holds"
    return f"{column} fractions ({{}}), not ids; ids are strings or integers", f"{column} {{}} as an id; {FLOAT_REMEDY}"


def restore_floats(frame: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """Convert columns of ids to floats if a file without types has each id as a float: ``1221.0``."""
    floats = [name for name in names if frame[name].dtype == pl.String and _are_floats(frame[name].drop_nulls())]
    return frame.with_columns(pl.col(floats).str.strip_chars().cast(pl.Float64)) if floats else frame


def _are_floats(ids: pl.Series) -> bool:
    ids = ids.filter(ids != "") if len(ids) and not ids[0] else ids
    return bool(len(ids)) and bool(IS_FLOAT_ID(ids[0])) and bool(ids.str.contains(rf"^\s*{FLOAT_ID}\s*$|^$").all())


def _numbers(column: pl.Series, name: str, label: str) -> pl.Series:
    kind = column.dtype
    if kind == pl.String:
        return column.str.strip_chars().cast(pl.Float64, strict=False)
    if kind.is_numeric() or kind in (pl.Boolean, pl.Null):
        return column.cast(pl.Float64)
    raise InputError(f"{label}: column {name} is of type {kind}; it should hold numbers")


def _ranks(column: pl.Series, good: Array, notes: ReaderNotes) -> pl.Series | None:
    kind = column.dtype
    text = column.str.strip_chars() if kind == pl.String else column
    number = text.cast(pl.Float64, strict=False) if kind == pl.String or kind.is_numeric() else None
    if number is not None:
        used = number.filter(pl.Series(good))
        if not used.null_count() and (used == used.floor()).all() and used.is_finite().all():
            return number.fill_nan(None).cast(pl.Int64, strict=False)
    notes.notes.append("the rank column is left out: it does not hold a whole number in every row")
    return None


def _lacking(
    cells: dict[str, pl.Series], out: dict[str, pl.Series], roles: dict[str, str], row: int
) -> tuple[str, str]:
    for role in ("query_id", "doc_id"):
        if not out[role][row]:
            return "missing", f"no {role} (column {roles[role]} is empty)"
    value = _value_role(cells)
    text = cells[value][row]
    if text is None or text == "":
        return "missing", f"no {value} (column {roles[value]} is empty)"
    return "number", f"{value} {words.quote(str(text))} is not a number{hint_at_names(value, str(text))}"


def hint_at_names(value: str, text: str) -> str:
    """Return the remedy for a grade that is a word, to end a message."""
    is_word = re.fullmatch(r"[^\W\d]{2,}[^\d]*", text)
    if value != "grade" or not is_word or text.casefold() in {"nan", "inf", "infinity", "none", "null"}:
        return ""
    known = f" (named now: {', '.join(GRADES.get())})" if GRADES.get() else ""
    return f"; name grades with --grades '{text.strip()}=3,...'{known}"


def _value_role(columns: dict[str, pl.Series]) -> str:
    return next(role for role in ("grade", "score", "rank") if role in columns)


def tags_of(frame: pl.DataFrame, roles: dict[str, str], label: str) -> list[str]:
    """Return the distinct names of runs in a table. Raises InputError if the column cannot hold names."""
    if "tag" not in roles:
        return []
    column = frame[roles["tag"]]
    if column.dtype.is_nested() or column.dtype == pl.Binary:
        problem = f"column {roles['tag']} is of type {column.dtype}; it should hold the name of the run"
        raise InputError(f"{label}: {problem}")
    return column.drop_nulls().unique(maintain_order=True).cast(pl.String).to_list()


def _distinct(table: pl.DataFrame, bad: Array, rows: int, notes: ReaderNotes) -> tuple[pl.DataFrame, Array]:
    first = table.select(pl.struct("query_id", "doc_id").is_first_distinct()).to_series()
    if first.all():
        return table, bad
    rows_more = words.counted(int((~first).sum()), "row repeats", "rows repeat")
    notes.notes.append(f"{rows_more} a query and document, and counts once")
    again = np.delete(np.arange(rows), bad)[~first.to_numpy()]
    return table.filter(first), np.union1d(bad, again)


def make_table(  # noqa: PLR0913, PLR0917
    frame: pl.DataFrame,
    roles: dict[str, str],
    source: Source,
    notes: ReaderNotes,
    what: str,
    name: str | None,
    lines: Callable[[], Array] | None = None,
    left_out: Array = NO_ROWS,
) -> Run | Qrels:
    """Build the run or the qrels of a table. Raises InputError if no row is good."""
    if what == "run" and (tags := tags_of(frame, roles, source.label)):
        notes.tag, column = tags[0], roles["tag"]
        if len(tags) > 1:
            several = f"column {column} names {words.counted(len(tags), 'run')} ({words.listing(tags, 3)})"
            raise InputError(
                f"{source.label}: {several}; a run table holds one: split it by {column}, or drop the column"
            )
    line = None if lines is None else line_finder(lines, left_out)
    kept = np.delete(np.arange(len(frame)), left_out) if lines is not None or len(left_out) else NO_ROWS
    interactions = what == "qrels" and "grade" not in roles  # each row is a relevant document
    if interactions:
        frame, roles = frame.with_columns(pl.lit(1.0).alias("grade")), {**roles, "grade": "grade"}
    table, bad = long_table(frame[kept] if len(left_out) else frame, roles, source.label, line, notes, whole=True)
    if interactions:
        table, bad = _distinct(table, bad, len(frame) - len(left_out), notes)
    if not len(table):
        notes.refuse(f"{source.label}: a header and no rows", "row")
    if lines is not None:
        source = replace(source, line_of=line_finder(lines, np.union1d(left_out, kept[bad])))
    if what == "run":
        return make_run(table, source, notes, f"a {source.kind}", name or notes.tag or stem(source.label))
    return make_qrels(table, source, notes, source.kind)
