"""Lines of columns without a header: TREC runs and qrels, and LETOR.

Polars parses the lines of a part as they are if every line is regular. Otherwise the part is tidied and each line is checked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import cast

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import (
    EXPECTED,
    GRADES,
    NO_ROWS,
    QRELS_LINE,
    RUN_LINE,
    ReaderNotes,
    content_lines,
    hint_at_names,
    is_text,
    line_finder,
    make_qrels,
    make_run,
    stem,
)
from rankscope.files.parts import PartFacts, QueryPlace, RunFormat, RunHead, RunParts, cut, piece_size
from rankscope.files.raw import BLANK_BYTES, BOM, HEAD, OLD_MAC, UNREADABLE, Raw
from rankscope.files.roles import ORDER
from rankscope.parallel import map_parts
from rankscope.tables import Array, Qrels, Run, Source


@dataclass(eq=False)
class LineLayout:
    """The columns of a file without a header; ``number`` names the column of numbers, ``line``, ``title`` and ``note`` are for messages."""

    names: tuple[str, ...]
    number: str
    line: str
    title: str
    note: str = ""

    @cached_property
    def schema(self) -> dict[str, type[pl.DataType]]:
        """The type of each column in Polars."""
        types: dict[str, type[pl.DataType]] = {"rank": pl.Int32, self.number: pl.Float64}
        return {name: types.get(name, pl.String) for name in self.names}

    @cached_property
    def columns(self) -> list[str]:
        """The columns that a table keeps."""
        used = ("query_id", "doc_id", self.number, "rank", "iteration", "subgroup")
        return list(dict.fromkeys(name for name in used if name in self.names))

    @cached_property
    def needed(self) -> list[str]:
        """The columns that every row must have: all except the rank next to a score."""
        return [name for name in self.names if name != "rank" or self.number == "rank"]


RUN = LineLayout(("query_id", "q0", "doc_id", "rank", "score", "tag"), "score", RUN_LINE, "a TREC run")
QRELS = LineLayout(("query_id", "iteration", "doc_id", "grade"), "grade", QRELS_LINE, "TREC qrels")
PRELS = LineLayout(
    ("query_id", "doc_id", "grade", "method", "inclusion"), "grade", QRELS_LINE,
    "TREC prels (query document grade method probability)",
    "columns 4 and 5 (sampling method, inclusion probability) are not used",
)  # fmt: skip
STRATA = LineLayout(
    ("query_id", "ignored", "doc_id", "iteration", "grade"), "grade", "qrels of sample_eval have 5 (query 0 document stratum grade)",
    "TREC qrels of a stratified sample", "column 4 is the stratum of a document, column 5 its grade (negative: not sampled)",
)  # fmt: skip
PREFS = LineLayout(
    ("query_id", "iteration", "subgroup", "doc_id", "grade"), "grade",
    "a line of TREC preferences has 5 (query judge part document grade)",
    "TREC preferences", "columns 2 and 3 name the judge and the part of the judge's preferences",
)  # fmt: skip
RUN3 = LineLayout(
    ("query_id", "doc_id", "rank"), "rank", "an MS MARCO run line has 3 (query document rank)", "an MS MARCO run",
    "no scores: the third column is taken as the rank, and the score is -rank",
)  # fmt: skip
QRELS3 = LineLayout(
    ("query_id", "doc_id", "grade"), "grade", "this file's lines have 3 (query document grade)",
    "headerless qrels of 3 columns", "no header and 3 columns: taken as query, document, grade",
)  # fmt: skip


CONTENT = re.compile(rb"^[^\S\n]*[^\s#].*", re.MULTILINE)  # a line that is neither blank nor a comment
RETURN = re.compile(rb"\r[^\r\n]")  # one that ends no line
NO_LINES = re.compile(rb"\n[\r\n]*\n")  # lines without a byte, of which a file may have any number


def head_lines(raw: Raw) -> list[bytes]:
    """Return the first lines that are neither blank nor comments."""
    head = raw.head.removeprefix(BOM)
    if b"\x00" in head:
        raise InputError(f"{raw.label}: not a text file (it holds zero bytes)")
    if b"\n" not in head and b"\r" in head.rstrip():
        raise InputError(f"{raw.label}: {OLD_MAC}")
    whole = head if len(raw.head) < HEAD else head[: head.rfind(b"\n") + 1] or head
    lines = CONTENT.findall(whole)
    return [line.rstrip(b"\r") for line in lines]


def layout_of(raw: Raw, what: str, lines: list[bytes]) -> LineLayout:
    """Return the layout, detected by the number of columns that most lines have."""
    if not lines:
        raise InputError(f"{raw.label}: no rows, only blank lines or comments; {EXPECTED[what]}")
    split = [line.split() for line in lines[:1000]]
    widths = Counter({6 if what == "run" else 4: 0})  # the first of equal counts is chosen
    widths.update(map(len, split))
    width = widths.most_common(1)[0][0]
    typical = next(fields for fields in split if len(fields) == width)
    other = ""
    if what == "run" and width == 4 and words.is_number(typical[3]):
        other = "these are TREC qrels (4 columns: query iteration document grade), not a run"
    elif what == "qrels" and width >= 6 and words.is_number(typical[4]):
        other = "this is a TREC run (6 columns: query Q0 document rank score tag), not qrels"
    elif what == "run" and width == 5 and words.is_number(typical[4]) and not words.is_number(typical[3]):
        other = "these are TREC preferences (5 columns: query judge part document grade), not a run"
    if other:
        raise InputError(f"{raw.label}: {other}; {ORDER}")
    if width == 3 and words.is_number(typical[2]):
        return _three(raw, what, split)
    if width < 3:
        like = words.quote(b" ".join(typical).decode("utf-8", "replace"))
        shape = f"most lines have {words.counted(width, 'column')}, like {like}"
        raise InputError(f"{raw.label}: not {'a run' if what == 'run' else 'qrels'}: {shape}; {EXPECTED[what]}")
    if what == "qrels" and width == 5:
        return _five(raw, [fields for fields in split if len(fields) == 5])
    return RUN if what == "run" else QRELS


def _three(raw: Raw, what: str, split: list[list[bytes]]) -> LineLayout:
    if what == "qrels":
        return QRELS3
    last: dict[bytes, float] = {}
    for query, _, rank in (fields for fields in split if len(fields) == 3 and words.is_number(fields[2])):
        if float(rank) != last.get(query, 0) + 1:
            raise InputError(
                f"{raw.label}: 3 columns, but the third does not count 1, 2, 3 within a query, as in an MS MARCO run "
                f"(query document rank); {RUN_LINE}, or write a header: query_id doc_id score"
            )
        last[query] = float(rank)
    return RUN3


def _five(raw: Raw, rows: list[list[bytes]]) -> LineLayout:
    """Distinguish preferences, prels and qrels with an extra column by their numbers and repetitions."""
    fits = {
        PRELS: [words.is_number(f[2]) and words.is_number(f[4]) and 0 <= float(f[4]) <= 1 for f in rows],
        QRELS: [words.is_number(f[3]) for f in rows],
        PREFS: [words.is_number(f[4]) for f in rows],
    }
    most = max(map(sum, fits.values()))
    if 2 * most <= len(rows):
        return QRELS  # each line becomes a named fault
    likely = [layout for layout, fit in fits.items() if sum(fit) == most]
    documents = len({(f[0], f[1]) for f in rows})  # prels name each once in column 2, others have few values there
    if PRELS in likely and documents >= 0.9 * len(rows) and documents > len({(f[0], f[2]) for f in rows}):
        return PRELS
    if QRELS not in likely:
        return PREFS
    if PREFS not in likely:
        return QRELS
    if (
        all(f[3].isdigit() for f in rows)
        and any(f[4].startswith(b"-") for f in rows)
        and len({f[3] for f in rows}) < 100
    ):
        return STRATA  # few strata, and documents that were not sampled
    # a judgment names each document once, preferences compare several documents
    once = len({(f[0], f[1], f[2]) for f in rows}) / len(rows)
    if 0.6 < once < 0.9:
        raise InputError(
            f"{raw.label}: 5 columns, which may be TREC preferences (query judge part document grade) or qrels with a column more "
            "(query iteration document grade ...): leave out the column that is not used, or write a header: query_id doc_id grade"
        )
    return QRELS if once >= 0.9 else PREFS


BLOCK = 1 << 18  # fits the second-level cache of a processor
NEWLINE, BLANK = 10, 32
BLANK_SIGNS = b" \t\r\v\f"  # separators of columns, as isspace of C has them
BLANKS = bytes.maketrans(BLANK_SIGNS, b"     ")


def is_regular(data: bytes, separator: str, wide: int, last: bytes | None) -> bool:
    """Return True if lines have no doubled, leading or trailing blank, ``wide`` fields and the same ``last`` field."""
    ending = b"" if last is None else separator.encode() + last
    data = data if data.endswith(b"\n") else data + b"\n"
    start, blanks, lines = 0, 0, 0
    while start < len(data):
        end = (data.rfind(b"\n", start, start + BLOCK) + 1) or data.find(b"\n", start) + 1
        block = np.frombuffer(data, np.uint8, end - start, start)
        start = end
        blank = block <= BLANK
        ends = np.flatnonzero(block == NEWLINE)
        begins = ends - len(ending)
        if blank[0] or (blank[1:] & blank[:-1]).any() or begins[0] < 0:
            return False
        if not all((block[begins + i] == letter).all() for i, letter in enumerate(ending)):
            return False
        count = int(np.count_nonzero(blank))
        if count != len(ends) + np.count_nonzero(block == ord(separator)):
            return False
        blanks += count
        lines += len(ends)
    return blanks == lines * wide


def tidy(data: bytes) -> bytes:
    """Leave one space between columns and strip lines, line for line."""
    if any(blank in data for blank in (b"\t", b"\r", b"\v", b"\f")):
        data = data.translate(BLANKS)
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    return data.replace(b"\n ", b"\n").replace(b" \n", b"\n").strip(b" ")


@dataclass
class _Rows:
    """The good rows of a part, its tags (the last line's last), its counts of comments and of lines with ignored columns.

    ``bad`` are the faulty rows among all ``count`` rows.
    """

    frame: pl.DataFrame
    tags: Sequence[str] = ()
    comments: int = 0
    beyond: int = 0
    bad: Array = field(default_factory=lambda: NO_ROWS)

    @property
    def count(self) -> int:
        return len(self.frame) + len(self.bad)


class Trec(RunFormat):
    """Lines of columns without a header: TREC runs and qrels, MS MARCO runs, prels, preferences."""

    name = "trec"

    def recognises(self, raw: Raw) -> bool:
        """Accept any text; the last format in the catalogue."""
        return True

    def read(self, raw: Raw, what: str, name: str | None) -> Run | Qrels:
        """Read a headerless file as a run or as qrels; grades that are words become numbers first."""
        if what == "qrels" and GRADES.get():
            return _read_named(raw)
        return read_trec(raw, what, name)

    def parts(self, raw: Raw, name: str | None) -> RunParts | None:
        """Return a TREC run of six columns to be read in parts."""
        head = head_lines(raw)
        layout = layout_of(raw, "run", head)
        if layout is not RUN:
            return None
        lines = Lines.of(raw, layout, head)

        def reads(pieces: int | None = None) -> Iterator[Callable[[], tuple[Run, PartFacts]]]:
            places = enumerate(cut(raw, lines.place, piece_size(raw, pieces)))
            return (partial(lines.read_part, part, not number) for number, part in places)

        facts = RunHead(raw.label, "TREC run", layout.title, stem(raw.label), name, "last")
        line_of = line_finder(lambda: content_lines(raw.read()), NO_ROWS)
        return RunParts(
            raw.label, raw.size, reads, lambda: cast("Run", read_trec(raw, "run", name)), lambda: facts,
            lambda: raw.source(facts.kind, line_of=line_of),
        )  # fmt: skip


def read_trec(raw: Raw, what: str, name: str | None) -> Run | Qrels:
    """Read a headerless file as a run or as qrels."""
    head = head_lines(raw)
    layout = layout_of(raw, what, head)
    lines, notes = Lines.of(raw, layout, head), ReaderNotes()
    rows = lines.all_rows()
    if len(rows.bad):
        lines.name_faults(rows.bad, notes)
    if not len(rows.frame):
        notes.refuse(f"{raw.label}: no rows, only blank lines or comments; {EXPECTED[what]}", "line")
    source = raw.source(f"TREC {what}", line_of=line_finder(lambda: content_lines(raw.read()), rows.bad))
    notes.note_lines(rows.comments, rows.beyond, len(layout.names), rows.tags)
    notes.notes += [layout.note] if layout.note else []
    frame = rows.frame
    if layout is RUN3:
        frame = frame.with_columns(score=-pl.col("rank"))
        whole = (frame["rank"] == frame["rank"].floor()).all()
        frame = frame.with_columns(pl.col("rank").cast(pl.Int64)) if whole else frame.drop("rank")
    elif what == "run" and (lacking := frame["rank"].null_count()):
        without = words.counted(lacking, "row has", "rows have")
        notes.notes.append(f"the rank column is left out: {without} no whole number in it")
        frame = frame.drop("rank")
    columns = ("query_id", "doc_id", "score", "rank", "grade", "iteration", "subgroup")
    frame = frame.select([c for c in columns if c in frame.columns])
    if what == "run":
        return make_run(frame, source, notes, layout.title, name or notes.tag or stem(source.label))
    return make_qrels(frame, source, notes, layout.title)


def _read_named(raw: Raw) -> Run | Qrels:
    """Read judgments with words as grades: the fourth word of a line, or the last of three."""
    numbers, lines = GRADES.get(), []
    for line in raw.read().split(b"\n"):
        fields = [*re.finditer(rb"\S+", line)]
        grade = fields[min(3, len(fields) - 1)] if len(fields) > 2 else None
        number = numbers.get(grade[0].decode("utf-8", "replace").casefold()) if grade is not None else None
        if grade is not None and number is not None:
            line = line[: grade.start()] + number.encode() + line[grade.end() :]  # noqa: PLW2901
        lines.append(line)
    data = b"\n".join(lines)
    qrels = read_trec(Raw(raw.label, data, data[:HEAD]), "qrels", None)
    file = raw.source("TREC qrels")
    return replace(qrels, source=replace(qrels.source, path=file.path, sha256=file.sha256, same=file.same))


@dataclass(frozen=True, eq=False)
class Lines:
    """A file of lines in a layout; ``tag`` is the tag of its first line, ``usual`` the number of columns of most lines."""

    raw: Raw
    layout: LineLayout
    separator: str
    tag: bytes | None
    usual: int

    @classmethod
    def of(cls, raw: Raw, layout: LineLayout, head: Sequence[bytes]) -> Lines:
        """Return the lines of a file with these first lines."""
        widths = Counter({len(layout.names): 0})
        widths.update(len(line.split()) for line in head[:1000])
        tag = head[0].split()[-1] if "tag" in layout.names else None
        return cls(raw, layout, "\t" if b"\t" in head[0] else " ", tag, widths.most_common(1)[0][0])

    @property
    def place(self) -> QueryPlace:
        """The position of the query in a line."""
        return QueryPlace.first(self.separator)

    def all_rows(self) -> _Rows:
        """Return the rows of all parts."""
        parts = iter([self.raw.text]) if self.raw.is_small else cut(self.raw, self.place)
        read = list(map_parts(lambda part: self.rows(part[1](), not part[0]), enumerate(parts)))
        frame = pl.concat([rows.frame for rows in read], rechunk=True)
        starts = np.cumsum([0, *(rows.count for rows in read)])
        bad = np.concatenate([rows.bad + start for rows, start in zip(read, starts, strict=False)])
        tags = [tag for rows in read for tag in rows.tags]
        return _Rows(frame, tags, sum(rows.comments for rows in read), sum(rows.beyond for rows in read), bad)

    def read_part(self, part: Callable[[], bytes], first: bool) -> tuple[Run, PartFacts]:
        """Read a part of a run. Raises InputError if its notes or faults need the whole file."""
        rows = self.rows(part(), first)
        if len(rows.bad) or rows.beyond or rows.frame["rank"].null_count():
            raise InputError(f"{self.raw.label}: only the whole file gives its notes and faults")
        infinite = int(rows.frame["score"].is_infinite().sum())
        facts = PartFacts(len(rows.frame), infinite, tuple(rows.tags), rows.comments)
        return Run(rows.frame, Source(self.raw.label)), facts

    def rows(self, data: bytes, first: bool) -> _Rows:
        """Return the rows of a part; the ``first`` may begin with a byte order mark."""
        if not data[:64].strip(BLANK_BYTES) and not data.strip(BLANK_BYTES):  # which copies all of it
            return _Rows(pl.DataFrame(schema={name: self.layout.schema[name] for name in self.layout.columns}))
        plain = data.replace(b"\r\n", b"\n") if b"\r" in data else data
        return self.regular(plain) or self._checked(data.removeprefix(BOM) if first else data)

    def regular(self, data: bytes) -> _Rows | None:
        """Parse the used columns of a part as it is; None unless every line is regular."""
        layout = self.layout
        # a line with a missing field could pass as whole if the tag is a number, or the last column is not parsed
        sure = not words.is_number(self.tag) if self.tag else layout.names[-1] in layout.columns
        if not sure or data.startswith(BOM) or not is_regular(data, self.separator, len(layout.names), self.tag):
            return None
        if not is_text(data):
            return None
        scan = pl.scan_csv(
            data, separator=self.separator, has_header=False, quote_char=None, ignore_errors=True, schema=layout.schema
        )
        try:
            frame = scan.select(layout.columns).collect()
        except UNREADABLE:
            return None
        if any(frame[name].null_count() for name in frame.columns) or frame["query_id"].str.starts_with("#").any():
            return None
        if layout.number == "grade" and frame["grade"].is_nan().any():
            return None
        return _Rows(frame, () if self.tag is None else (self.tag.decode("utf-8", "replace"),))

    def _checked(self, data: bytes) -> _Rows:
        """Parse lines with any whitespace, and check each of them."""
        layout = self.layout
        if not is_text(data):
            self.raw.fail(UnicodeError("not UTF-8"))
        # columns that most lines have beyond the layout, then one for columns that only some lines have
        extra = [f"more{number}" for number in range(len(layout.names), self.usual)]
        names = [*layout.names, *extra, "beyond"]
        header = " ".join(names).encode() + b"\n"
        scan = pl.scan_csv(
            header + NO_LINES.sub(b"\n", tidy(data)), separator=" ", has_header=True, quote_char=None, ignore_errors=True,
            comment_prefix="#", schema={name: layout.schema.get(name, pl.String) for name in names}, truncate_ragged_lines=True,
        )  # fmt: skip
        whole = pl.all_horizontal(pl.col(layout.needed).is_not_null())
        if layout.number == "grade":
            whole &= pl.col("grade").is_not_nan()
        more_cells = pl.col(names[len(layout.names)]).is_not_null()
        doubt = pl.col("beyond").is_not_null() | (more_cells & pl.any_horizontal(pl.col(layout.names).is_null()))
        if layout is RUN and extra:  # the score may be a rank, and the tag a score
            doubt |= more_cells & pl.col("tag").cast(pl.Float64, strict=False).is_not_null()
        keep = [c for c in layout.names if c != "q0"]
        blank = pl.col("query_id").is_null()
        try:
            frame = scan.select(
                *keep, good=whole.fill_null(False), beyond=more_cells, doubt=doubt, blank=blank
            ).collect()
        except UNREADABLE as error:
            self.raw.fail(error)
        if frame["blank"].any():
            frame = frame.filter(~pl.col("blank"))
        good = frame["good"].to_numpy().copy()
        odd = frame["doubt"].to_numpy() | (frame["beyond"].to_numpy() & (RETURN.search(data) is not None))
        if odd.any():
            lines, at = data.split(b"\n"), content_lines(b"\n" + data) - 2  # a byte order mark in a part is content
            for row in np.flatnonzero(odd).tolist():
                good[row] &= not _is_misread(layout, lines[int(at[row])], bool(frame["doubt"][row]))
        bad = np.flatnonzero(~good)
        frame = frame.filter(pl.Series(good)) if len(bad) else frame
        tags: list[str] = []
        if "tag" in layout.names and len(tag := frame["tag"]):  # all in order, and the last line's
            tags = [tag[-1]] if (tag == tag[-1]).all() else [*tag.unique(maintain_order=True).to_list(), tag[-1]]
        comments = len(re.findall(rb"^[^\S\n]*#", data, re.MULTILINE))
        return _Rows(frame.select(layout.columns), tags, comments, int(frame["beyond"].sum()), bad)

    def name_faults(self, bad: Array, notes: ReaderNotes) -> None:
        """Add a fault for each of these rows."""
        layout, usual, data = self.layout, self.usual, self.raw.text()
        lines, width = data.removeprefix(BOM).split(b"\n"), len(layout.names)

        def fault(number: int) -> tuple[str, str]:
            fields = lines[number - 1].split()
            text = words.quote(lines[number - 1].decode("utf-8", "replace").strip())
            value = fields[layout.names.index(layout.number)] if len(fields) >= width else b""
            if (
                len(fields) < width
                or len(fields) > max(usual, width)
                or (len(fields) > width and words.is_number(value))
            ):
                blank = "; is there a blank within an id?" if len(fields) > width else ""
                if blank and b"\r" in lines[number - 1].strip():
                    blank = "; it holds a carriage return, which does not end a line"
                return "columns", f"{words.counted(len(fields), 'column')}, {layout.line}: {text}{blank}"
            cell = value.decode("utf-8", "replace")
            return "number", f"{layout.number} {words.quote(cell)} is not a number{hint_at_names(layout.number, cell)}"

        notes.fault_rows(self.raw.label, content_lines(data)[bad], fault, lambda number: number)


def _is_misread(layout: LineLayout, line: bytes, doubt: bool) -> bool:
    """True if a line with extra columns may have a blank within an id, or be two lines, as a carriage return is within."""
    fields = line.split()
    numbers = [(i, layout.schema[name]) for i, name in enumerate(layout.names) if layout.schema[name] != pl.String]

    def fits(shift: int) -> bool:
        cells = [(fields[i + shift], kind) for i, kind in numbers]
        return all(cell.lstrip(b"+-").isdigit() if kind == pl.Int32 else words.is_number(cell) for cell, kind in cells)

    further = range(1, len(fields) - len(layout.names) + 1)
    return b"\r" in line.strip() or (doubt and (not fits(0) or any(map(fits, further))))


ROW = re.compile(r"\s*(\S+)\s+qid:(\S+)\s*([^#]*)(?:#\s*(.*))?")
DOCUMENT = re.compile(r"(?:docid\s*[=:]\s*)?([^\s=:]+)")


class Letor(RunFormat):
    """Rows of labels, queries and features, as learning to rank uses them."""

    name, within = "letor", " qid:"

    def recognises(self, raw: Raw) -> bool:
        """Accept a file whose first line is a label and ``qid:``."""
        row = ROW.match(raw.first_line)
        return row is not None and words.is_number(row[1])

    def read(self, raw: Raw, what: str, name: str | None) -> Run | Qrels:
        """Read labels as judgments; a row's comment names its document, or the row's place in its query does."""
        if what == "run":
            raise InputError(f"{raw.label}: LETOR rows hold labels and features, no ranking. Labels are qrels: {ORDER}")
        notes, rows, counts = ReaderNotes(), list[tuple[str, str, float]](), dict[str, int]()
        try:
            lines = raw.read().removeprefix(BOM).decode("utf-8").split("\n")
        except UnicodeDecodeError as error:
            raw.fail(error)
        named, at = 0, list[int]()
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            row = ROW.match(line)
            if row is None or not words.is_number(row[1]):
                lacks = "no label" if row is None else f"label {words.quote(row[1])} is not a number"
                place = f"{raw.label} line {words.count(number)}"
                notes.fault("number", f"{place}: {lacks}; LETOR has lines like '2 qid:10 1:0.03'", number)
                continue
            counts[row[2]] = counts.get(row[2], 0) + 1
            doc = DOCUMENT.match(row[4] or "")
            named += doc is not None
            rows.append((row[2], doc[1] if doc else str(counts[row[2]]), float(row[1])))
            at.append(number)
        if not rows:
            notes.refuse(f"{raw.label}: no row", "line")
        if named < len(rows):
            unnamed = words.counted(len(rows) - named, "row names", "rows name")
            notes.notes.append(f"{unnamed} no document: its place in its query, from 1, is its id")
        schema = {"query_id": pl.String, "doc_id": pl.String, "grade": pl.Float64}
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        return make_qrels(frame, replace(raw.source("LETOR qrels"), line_of=at.__getitem__), notes, "LETOR labels")
