"""TREC runs and qrels: lines of columns without a header."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import (
    EXPECTED,
    NO_ROWS,
    QRELS_LINE,
    RUN_LINE,
    Findings,
    content_lines,
    hint_at_names,
    is_text,
    line_finder,
    make_qrels,
    make_run,
    stem,
)
from rankscope.files.parts import PartFacts, QueryPlace, RunHead, RunParts, cut, piece_size
from rankscope.files.raw import BLANK_BYTES, BOM, HEAD, LINE, UNREADABLE, Raw
from rankscope.files.roles import ORDER
from rankscope.parallel import map_parts
from rankscope.tables import Array, Qrels, Run, Source


@dataclass(eq=False)
class LineLayout:
    """The columns of a headerless file: all are strings but those named as numbers; its ``title`` and ``note`` for readers.

    ``schema`` are their types in Polars, ``columns`` those that a table keeps, ``needed`` those without which a line is no row: all but
    the rank beside a score.
    """

    names: tuple[str, ...]
    number: str
    line: str
    title: str
    note: str = ""
    schema: dict[str, type[pl.DataType]] = field(init=False)
    columns: list[str] = field(init=False)
    needed: list[str] = field(init=False)

    def __post_init__(self) -> None:
        types: dict[str, type[pl.DataType]] = {"rank": pl.Int32, self.number: pl.Float64}
        used = ("query_id", "doc_id", self.number, "rank", "iteration", "subgroup")
        self.schema = {name: types.get(name, pl.String) for name in self.names}
        self.columns = [name for name in used if name in self.names]
        self.needed = [name for name in self.names if name != "rank" or self.number == "rank"]


RUN = LineLayout(("query_id", "q0", "doc_id", "rank", "score", "tag"), "score", RUN_LINE, "a TREC run")
QRELS = LineLayout(("query_id", "iteration", "doc_id", "grade"), "grade", QRELS_LINE, "TREC qrels")
PRELS = LineLayout(
    ("query_id", "doc_id", "grade", "method", "inclusion"), "grade", QRELS_LINE,
    "TREC prels (query document grade method probability)",
    "columns 4 and 5 (sampling method, inclusion probability) are not used",
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
    """Take the first lines of the file that hold something."""
    head = raw.head.removeprefix(BOM)
    if b"\x00" in head:
        raise InputError(f"{raw.label}: not a text file (it holds zero bytes)")
    if b"\n" not in head and b"\r" in head.rstrip():
        raise InputError(f"{raw.label}: lines end in a lone carriage return (old Mac): run tr '\\r' '\\n' on the file")
    # the last line of a file counts also where it does not end
    whole = head if len(raw.head) < HEAD else head[: head.rfind(b"\n") + 1] or head
    lines = CONTENT.findall(whole)
    return [line.rstrip(b"\r") for line in lines]


def layout_of(raw: Raw, what: str, lines: list[bytes]) -> LineLayout:
    """Tell the layout by the number of columns that most lines have."""
    if not lines:
        raise InputError(f"{raw.label}: no rows, only blank lines or comments; {EXPECTED[what]}")
    split = [line.split() for line in lines[:1000]]
    widths = Counter({6 if what == "run" else 4: 0})  # first, and so chosen where another is as common
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
        said = f"not {'a run' if what == 'run' else 'qrels'}: most lines have {words.counted(width, 'column')}, like {like}"
        raise InputError(f"{raw.label}: {said}; {EXPECTED[what]}")
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
    """Tell preferences, prels and plain qrels with a column more by where the numbers are and what is repeated."""
    fits = {
        PRELS: [words.is_number(f[2]) and words.is_number(f[4]) and 0 <= float(f[4]) <= 1 for f in rows],
        QRELS: [words.is_number(f[3]) for f in rows],
        PREFS: [words.is_number(f[4]) for f in rows],
    }
    most = max(map(sum, fits.values()))
    if 2 * most <= len(rows):
        return QRELS  # whose faults are named
    likely = [layout for layout, fit in fits.items() if sum(fit) == most]
    if PRELS in likely and _is_prels(rows):
        return PRELS
    if QRELS not in likely:
        return PREFS
    if PREFS not in likely:
        return QRELS
    # a judgment stands once for each document, while preferences take two documents or more
    once = len({(f[0], f[1], f[2]) for f in rows}) / len(rows)
    if 0.6 < once < 0.9:
        raise InputError(
            f"{raw.label}: 5 columns, which may be TREC preferences (query judge part document grade) or qrels with a column more "
            "(query iteration document grade ...): leave out the column that is not used, or write a header: query_id doc_id grade"
        )
    return QRELS if once >= 0.9 else PREFS


def _is_prels(rows: list[list[bytes]]) -> bool:
    """Column 2 names documents, each once, where qrels and preferences have few values there."""
    documents = len({(f[0], f[1]) for f in rows})
    return documents >= 0.9 * len(rows) and documents > len({(f[0], f[2]) for f in rows})


BLOCK = 1 << 18  # what a processor's second cache holds
NEWLINE, BLANK = 10, 32
BLANK_SIGNS = b" \t\r\v\f"  # what parts columns, as isspace of C has it
BLANKS = bytes.maketrans(BLANK_SIGNS, b"     ")


def is_regular(data: bytes, separator: str, wide: int, last: bytes | None) -> bool:
    """Look at every byte once: no doubled, leading or trailing blank, ``wide`` fields a line, the ``last`` always the same."""
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
        found = int(np.count_nonzero(blank))
        if found != len(ends) + np.count_nonzero(block == ord(separator)):
            return False
        blanks += found
        lines += len(ends)
    return blanks == lines * wide


def tidy(data: bytes) -> bytes:
    """Leave one space between columns and none around lines, line for line."""
    data = data.removeprefix(BOM)
    if any(blank in data for blank in (b"\t", b"\r", b"\v", b"\f")):
        data = data.translate(BLANKS)
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    return data.replace(b"\n ", b"\n").replace(b" \n", b"\n").strip(b" ")


@dataclass
class _Rows:
    """The good rows, and which lines were not among them.

    ``tags`` are those of a run's lines, that of the last line last; ``comments`` counts the lines that were skipped as such.
    """

    frame: pl.DataFrame
    tags: Sequence[str] = ()
    comments: int = 0
    beyond: int = 0
    findings: Findings = field(default_factory=Findings)
    bad: Array = field(default_factory=lambda: NO_ROWS)


def read_trec(raw: Raw, what: str, name: str | None) -> Run | Qrels:
    """Read a headerless file as a run or as qrels."""
    head = head_lines(raw)
    layout = layout_of(raw, what, head)
    lines = _Lines.of(raw, layout, head[0])
    parsed = lines and (lines.rows(raw.read(LINE)) if raw.is_small else lines.all_rows())
    parsed = parsed or _general(raw, layout)
    found = parsed.findings
    if not len(parsed.frame):
        found.refuse(f"{raw.label}: no rows, only blank lines or comments; {EXPECTED[what]}", "line")
    source = raw.source(f"TREC {what}", line_of=line_finder(lambda: content_lines(raw.read()), parsed.bad))
    found.note_lines(parsed.comments, parsed.beyond, len(layout.names), parsed.tags)
    found.notes += [layout.note] if layout.note else []
    frame = parsed.frame
    if layout is RUN3:
        frame = _with_scores(frame)
    elif what == "run" and (lacking := frame["rank"].null_count()):
        rows = words.counted(lacking, "row has", "rows have")
        found.notes.append(f"the rank column is left out: {rows} no whole number in it")
        frame = frame.drop("rank")
    columns = ("query_id", "doc_id", "score", "rank", "grade", "iteration", "subgroup")
    frame = frame.select([c for c in columns if c in frame.columns])
    if what == "run":
        return make_run(frame, source, found, layout.title, name or found.tag or stem(source.label))
    return make_qrels(frame, source, found, layout.title)


def trec_parts(raw: Raw, name: str | None) -> RunParts | None:
    """A headerless run to be read in parts; None where it can only be read as a whole."""
    first = head_lines(raw)
    layout = layout_of(raw, "run", first)
    lines = _Lines.of(raw, layout, first[0]) if layout is RUN else None
    if lines is None:
        return None

    def reads(pieces: int | None = None) -> Iterator[Callable[[], tuple[Run, PartFacts]]]:
        return (
            partial(lines.read_part, part)
            for part in cut(raw, QueryPlace.first(lines.separator), piece_size(raw, pieces))
        )

    head = RunHead(raw.label, "TREC run", layout.title, stem(raw.label), name, "last")
    line_of = line_finder(lambda: content_lines(raw.read()), NO_ROWS)
    return RunParts(
        raw.label, raw.size, reads, lambda: cast("Run", read_trec(raw, "run", name)), lambda: head,
        lambda: raw.source(head.kind, line_of=line_of),
    )  # fmt: skip


def _with_scores(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows that have a rank alone, with scores that say the same; the ranks stay where all are whole numbers."""
    frame = frame.with_columns(score=-pl.col("rank"))
    whole = frame.filter(pl.col("rank") != pl.col("rank").floor()).is_empty()
    return frame.with_columns(pl.col("rank").cast(pl.Int64)) if whole else frame.drop("rank")


@dataclass(frozen=True, eq=False)
class _Lines:
    """A file whose lines are parsed as they lie, part by part; ``tag`` is what all lines may end with."""

    raw: Raw
    layout: LineLayout
    separator: str
    tag: bytes | None

    @classmethod
    def of(cls, raw: Raw, layout: LineLayout, first: bytes) -> _Lines | None:
        """Judge by the first line; None where any line may need the general way."""
        separator = "\t" if b"\t" in first else " "
        columns = rb"\S+(%s\S+){%d}" % (separator.encode(), len(layout.names) - 1)
        if raw.head.startswith(BOM) or not re.fullmatch(columns, first):
            return None
        return cls(raw, layout, separator, first.split()[-1] if "tag" in layout.names else None)

    def all_rows(self) -> _Rows | None:
        """The rows of all parts; None where a line needs the general way."""
        parts = []
        for rows in map_parts(lambda part: self.rows(part()), cut(self.raw, QueryPlace.first(self.separator))):
            if rows is None:
                return None
            parts.append(rows)
        tags, comments = [tag for rows in parts for tag in rows.tags], sum(rows.comments for rows in parts)
        return _Rows(pl.concat([rows.frame for rows in parts], rechunk=True), tags, comments)

    def read_part(self, part: Callable[[], bytes]) -> tuple[Run, PartFacts]:
        """A part of a run. Raises InputError where a line needs the general way."""
        rows = self.rows(part())
        if rows is None:
            raise InputError(f"{self.raw.label}: a line that takes another way to read it")
        run = Run(rows.frame, Source(self.raw.label))
        facts = PartFacts(len(run.frame), int(run.frame["score"].is_infinite().sum()), tuple(rows.tags), rows.comments)
        return run, facts

    def rows(self, data: bytes) -> _Rows | None:
        """Parse the lines of a part; None where one needs the general way.

        Only the columns that are used are parsed where every line has them all. Comments are looked for only where there are some: telling
        the parser of them costs a third of its speed.
        """
        comment = None
        if data.startswith(BOM) and data[:256] != self.raw.head[: min(len(data), 256)]:
            return None  # a mark within the file, which the parser would take for one before it
        if not data[:64].strip(BLANK_BYTES) and not data.strip(BLANK_BYTES):  # which copies all of it
            return _Rows(pl.DataFrame(schema={name: self.layout.schema[name] for name in self.layout.columns}))
        # a line that lacks a field could pass for a whole one where the tag is a number, or nobody looks at its last column
        sure = not words.is_number(self.tag) if self.tag else self.layout.names[-1] in self.layout.columns
        if (
            sure
            and is_regular(data, self.separator, len(self.layout.names), self.tag)
            and (data.isascii() or is_text(data))
        ):
            frame = self._parse(data, None, *map(pl.col, self.layout.columns))
            tags = () if self.tag is None else (self.tag.decode("utf-8", "replace"),)
            rows = None if frame is None else _Rows(frame, tags)
        else:
            comment = "#" if data.startswith(b"#") or b"\n#" in data else None
            rows = self._careful(data, comment)
        if rows is None or any(rows.frame[name].null_count() for name in rows.frame.columns):
            return None
        nan = self.layout.number == "grade" and rows.frame["grade"].is_nan().any()
        like_comments = comment is None and rows.frame["query_id"].str.starts_with("#").any()
        return None if nan or like_comments else rows

    def _parse(self, data: bytes, comment: str | None, *columns: pl.Expr) -> pl.DataFrame | None:
        scan = pl.scan_csv(
            data, separator=self.separator, has_header=False, quote_char=None, ignore_errors=True, comment_prefix=comment,
            schema=self.layout.schema,
        )  # fmt: skip
        try:
            return scan.select(*columns).collect()
        except UNREADABLE:
            return None

    def _careful(self, data: bytes, comment: str | None) -> _Rows | None:
        """Parse all columns, and see that each line is one row of them or blank."""
        layout, data = self.layout, NO_LINES.sub(b"\n", data)
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        others = BLANK_SIGNS.replace(self.separator.encode(), b"")
        if any(bytes([sign]) in data for sign in others) or not is_text(data):  # which part columns, too
            return None
        keep = [*layout.columns, "tag"] if "tag" in layout.names else layout.columns
        # every column is asked for, also a run's second: only then does the parser tell of columns beyond
        sound = pl.lit(True)
        for name in layout.needed:
            sound &= pl.col(name).is_not_null()
        frame = self._parse(data, comment, *map(pl.col, keep), sound.fill_null(False).alias("sound"))
        if frame is None:
            return None
        odd = frame.filter(~pl.col("sound"))
        frame = frame.drop("sound")
        if odd.height:
            # blank lines, unless what a line holds is no number where one is due
            empty = pl.all_horizontal(pl.col(keep).is_null())
            if odd.filter(empty).height != odd.height or _count_blank(data, comment) != odd.height:
                return None
            frame = frame.filter(~empty)
        tags = () if "tag" not in keep else _tags_of(frame["tag"])
        if any(tag is None or tag.split() != [tag] for tag in tags):  # not the last column
            return None
        return _Rows(frame.select(layout.columns), tags, 0 if comment is None else _count_comments(data))


def _tags_of(tag: pl.Series) -> list[str]:
    """The different tags in the order they come, and that of the last line once more at the end."""
    if not len(tag):
        return []
    return [tag[-1]] if (tag == tag[-1]).all() else [*tag.unique(maintain_order=True).to_list(), tag[-1]]


def _count_comments(data: bytes) -> int:
    return len(re.findall(rb"^[^\S\n]*#", data.removeprefix(BOM), re.MULTILINE))


def _count_blank(data: bytes, comment: str | None) -> int:
    """How many lines hold nothing, comments left out."""
    lines = data.split(b"\n")
    return sum(not line.strip() for line in (lines if lines[-1] else lines[:-1]))


def _general(raw: Raw, layout: LineLayout) -> _Rows:
    """Parse any whitespace, and name the lines that are no rows."""
    data = raw.text()
    if not is_text(data):
        raw.fail(UnicodeError("not UTF-8"))
    # columns that most lines have beyond their own, and what only some have beyond those
    widths = Counter({len(layout.names): 0})
    widths.update(len(line.split()) for line in head_lines(raw)[:1000])
    usual = widths.most_common(1)[0][0]
    more = [f"more{number}" for number in range(len(layout.names), usual)]
    names = [*layout.names, *more, "beyond"]
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
    if layout is RUN and more:  # the score may be a rank, and the tag a score
        doubt |= more_cells & pl.col("tag").cast(pl.Float64, strict=False).is_not_null()
    keep = [c for c in layout.names if c != "q0"]
    blank = pl.col("query_id").is_null()  # tidy lines that hold anything hold this
    try:
        frame = scan.select(*keep, good=whole.fill_null(False), beyond=more_cells, doubt=doubt, blank=blank).collect()
    except UNREADABLE as error:
        raw.fail(error)
    found = Findings()
    if frame["blank"].any():
        frame = frame.filter(~pl.col("blank"))
    good = frame["good"].to_numpy()
    if frame["doubt"].any():
        good = good & ~_doubtful(layout, data, frame["doubt"].to_numpy())
    if RETURN.search(data):
        good = good & ~_with_return(data, frame["beyond"].to_numpy())
    bad = np.flatnonzero(~good)
    if len(bad):
        _name_faults(raw, layout, data, bad, found, usual)
        frame = frame.filter(pl.Series(good))
    tags = _tags_of(frame["tag"]) if "tag" in layout.names else ()
    beyond, comments = int(frame["beyond"].sum()), _count_comments(data)
    return _Rows(
        frame.drop("beyond", "good", "doubt", "blank", "tag", strict=False), tags, comments, beyond, found, bad
    )


def _doubtful(layout: LineLayout, data: bytes, doubt: Array) -> Array:
    """Which of these lines with more columns than they should have may have a blank within an id.

    Columns to ignore follow those of a whole row, and only if the row could not begin later: numbers stand where they should, and
    nowhere to the right as well.
    """
    lines, at = data.removeprefix(BOM).split(b"\n"), content_lines(data)
    width = len(layout.names)
    numbers = [(i, layout.schema[name]) for i, name in enumerate(layout.names) if layout.schema[name] != pl.String]

    def fits(fields: list[bytes], shift: int) -> bool:
        cells = [(fields[i + shift], kind) for i, kind in numbers]
        return all(cell.lstrip(b"+-").isdigit() if kind == pl.Int32 else words.is_number(cell) for cell, kind in cells)

    out = doubt.copy()
    for row in np.flatnonzero(doubt).tolist():
        fields = lines[int(at[row]) - 1].split()
        out[row] = not fits(fields, 0) or any(fits(fields, shift) for shift in range(1, len(fields) - width + 1))
    return out


def _with_return(data: bytes, beyond: Array) -> Array:
    """Which of these lines with more columns than they should have may be two, as a carriage return stands within."""
    lines, at = data.removeprefix(BOM).split(b"\n"), content_lines(data)
    out = beyond.copy()
    for row in np.flatnonzero(beyond).tolist():
        out[row] = b"\r" in lines[int(at[row]) - 1].strip()
    return out


def _name_faults(raw: Raw, layout: LineLayout, data: bytes, bad: Array, found: Findings, usual: int) -> None:
    """Say what is wrong with these rows, in a file whose lines have so many columns as a rule."""
    lines, width = data.removeprefix(BOM).split(b"\n"), len(layout.names)

    def fault(number: int) -> tuple[str, str]:
        fields = lines[number - 1].split()
        text = words.quote(lines[number - 1].decode("utf-8", "replace").strip())
        value = fields[layout.names.index(layout.number)] if len(fields) >= width else b""
        if len(fields) < width or len(fields) > max(usual, width) or (len(fields) > width and words.is_number(value)):
            blank = "; is there a blank within an id?" if len(fields) > width else ""
            if blank and b"\r" in lines[number - 1].strip():
                blank = "; a carriage return stands within, which ends no line"
            return "columns", f"{words.counted(len(fields), 'column')}, {layout.line}: {text}{blank}"
        said = value.decode("utf-8", "replace")
        return "number", f"{layout.number} {words.quote(said)} is not a number{hint_at_names(layout.number, said)}"

    found.fault_rows(raw.label, content_lines(data)[bad], fault, lambda number: number)
