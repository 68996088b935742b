"""CSV and TSV: the one reader of tables of text. A row with another number of cells than the header is a fault with its line.

Polars parses only the columns in use and reports nothing about the others, so cells are counted first: in a part without quotes by one
look at every byte, otherwise by the places of quotes.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, NoReturn, cast

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import IS_FLOAT_ID, ReaderNotes, is_text, make_table, restore_floats
from rankscope.files.parts import QueryPlace, RunFormat, RunParts, cut, piece_size, table_parts
from rankscope.files.raw import BOM, OLD_MAC, UNREADABLE, Raw
from rankscope.files.roles import ID_ROLES, known_header, known_names, roles_of
from rankscope.parallel import map_parts
from rankscope.tables import Array, Qrels, Run

NEWLINE, RETURN, QUOTE = 10, 13, 34
QUOTING = 'a cell in quotes begins and ends with one, and a quote within it is written twice ("")'
BLANK_LINES = re.compile(rb"[\r\n]*")
OPTIONAL = ("tag", "iteration")  # roles whose cells may be empty


def header_of(raw: Raw, separator: str) -> list[str]:
    """Return the names in the first line."""
    try:
        return next(csv.reader([raw.first_line], delimiter=separator), [])
    except csv.Error:
        return []


def kind_by_header(raw: Raw) -> str | None:
    """Return the format with the separator that gives a header of known names; None for lines without a header."""
    line, ending = raw.first_line, SEPARATED_BY_ENDING.get(raw.ending, "")
    if not any(separator in line for separator in SEPARATORS.values()):
        return None
    likely = [ending, *(kind for kind in SEPARATORS if kind != ending)] if ending else [*SEPARATORS]
    headers = {kind: header_of(raw, SEPARATORS[kind]) for kind in likely}
    if raw.columns:
        headers = {kind: [raw.columns.get(name, name) for name in names] for kind, names in headers.items()}
    for kind, names in headers.items():
        if known_header(names) or known_names(names) >= 2:
            return kind
    names = headers.get(ending, [])
    if len(names) > 1 and (ending == "csv" or not any(words.is_number(name) for name in names)):
        return ending  # the reader names the columns that it needs
    return None


class Separated(RunFormat):
    """Tables of text with a header, whose cells are parted by a ``separator``; ``label`` and ``sign`` are for messages."""

    separator: ClassVar[str]
    label: ClassVar[str]
    sign: ClassVar[str]

    def recognises(self, raw: Raw) -> bool:
        """Accept a file with a header of known names, or with the ending of the format."""
        return kind_by_header(raw) == self.name

    def read(self, raw: Raw, what: str, name: str | None) -> Run | Qrels:
        """Read a table with a header; ids are strings, so ``01`` stays ``01``."""
        notes, table = ReaderNotes(), Columns.of(raw, self.separator)
        roles = roles_of(table.names, what, raw.label, notes.notes, raw.columns)
        source = raw.source(f"{self.label} {what}")
        frame = table.all_plain(roles)
        ids = [roles[role] for role in ID_ROLES if role in roles]
        if frame is not None:
            return make_table(restore_floats(frame, ids), roles, source, notes, what, name, table.lines)
        text = table.body()
        rows = cast("Rows", table.rows(text))
        frame = table.parse_rows(text, rows, roles.values())
        odd = np.array([at for at, _ in rows.odd], dtype=np.int64)
        multiline = multiline_ids(frame, roles)
        notes.fault_rows(
            raw.label,
            np.arange(len(odd)),
            lambda i: ("columns", self._odd_row(rows.odd[i][1], len(table.names))),
            lambda i: table.line(text, int(odd[i])),
        )
        open_quote = "columns", "an id that runs over several lines: is a quote left open?"
        notes.fault_rows(raw.label, multiline, lambda _: open_quote, lambda row: table.line(text, int(rows.begin[row])))
        return make_table(restore_floats(frame, ids), roles, source, notes, what, name, table.lines, multiline)

    def _odd_row(self, cells: int, width: int) -> str:
        if not cells:
            return "a carriage return within the line, which ends no line"
        if cells > width:
            return f"more columns than the header, which has {width}; put quotes around an id with {self.sign}"
        return f"{words.counted(cells, 'column')}, the header has {width}"

    def parts(self, raw: Raw, name: str | None) -> RunParts | None:
        """Return a run under a header, to be read in parts; None if only the whole file shows the type of its ids."""
        notes, table = ReaderNotes(), Columns.of(raw, self.separator)
        roles = roles_of(table.names, "run", raw.label, notes.notes, raw.columns)
        if table.begins_with_floats(roles):
            return None

        def frames(pieces: int | None) -> Iterator[Callable[[], pl.DataFrame | None]]:
            parts = enumerate(cut(raw, table.place(roles), piece_size(raw, pieces)))
            return (partial(lambda number, part: table.plain(part(), roles, not number), *part) for part in parts)

        kind = f"{self.label} run"
        return table_parts(raw, kind, name, roles, notes, frames, lambda: cast("Run", self.read(raw, "run", name)))


class Csv(Separated):
    """CSV: cells parted by commas under a header, quotes around cells."""

    name, endings, label, sign = "csv", (".csv",), "CSV", "a comma"
    separator = within = ","


class Tsv(Separated):
    """TSV: cells parted by tabs under a header."""

    name, endings, label, sign = "tsv", (".tsv",), "TSV", "a tab"
    separator = within = "\t"


class Semicolons(Separated):
    """CSV with semicolons between cells, as spreadsheets write it in some languages."""

    name, label, sign = "semicolon", "CSV (apart by semicolons)", "a semicolon"
    separator = within = ";"


SEPARATED = (Csv(), Tsv(), Semicolons())
SEPARATORS = {one.name: one.separator for one in SEPARATED}
SEPARATED_BY_ENDING = {ending: one.name for one in SEPARATED for ending in one.endings}


@dataclass(frozen=True, eq=False)
class Rows:
    """Places in a text: ``begin`` and ``end`` of its rows with the right number of cells.

    ``odd`` has begin and number of cells of each other row that is not blank; the number is 0 for a row with a carriage return.
    """

    begin: Array
    end: Array
    odd: list[tuple[int, int]]
    blank: int

    def only(self, text: bytes) -> bytes:
        """Return only the text of these rows."""
        if not self.odd and not self.blank:
            return text
        apart = np.flatnonzero(self.begin[1:] != self.end[:-1] + 1)
        first, last = np.append(0, apart + 1), np.append(apart, len(self.end) - 1)
        if not len(self.begin):
            return b""
        return b"".join(
            text[self.begin[i] : self.end[j] + 1] for i, j in zip(first.tolist(), last.tolist(), strict=True)
        )


def plain_ends(data: bytes) -> bytes:
    """Return the same lines without carriage returns at their ends."""
    while b"\r\n" in data:
        data = data.replace(b"\r\n", b"\n")
    data = data.rstrip(b"\r") if data.endswith(b"\r") else data
    return data if data.endswith(b"\n") or not data else data + b"\n"


@dataclass(frozen=True, eq=False)
class Columns:
    """A file of rows under a header; ``quoted`` is True if quotes enclose cells.

    ``header`` has the bytes of the header, without the blank lines before it.
    """

    raw: Raw
    separator: str
    quoted: bool
    names: list[str]
    header: bytes

    @classmethod
    def of(cls, raw: Raw, separator: str) -> Columns:
        """Read the header. Raises InputError if it cannot be read."""
        # in TSV quotes enclose cells only if the first lines have a whole cell in quotes
        head = raw.head.removeprefix(BOM)
        quoted = separator != "\t" or re.search(rb'(^|\t)"[^\t\n]*"(\t|\r?$)', head, re.MULTILINE) is not None
        header = _first_row(raw.head, quoted) or _first_row(raw.text(), quoted) or raw.text()[_begin(raw.text()) :]
        line = header.removeprefix(BOM).strip(b"\r\n")
        if b"\r" in line and b"\n" not in header:
            raise InputError(f"{raw.label}: {OLD_MAC}")
        if not is_text(line):
            raw.fail(UnicodeError("not UTF-8"))
        letters = np.frombuffer(line, np.uint8)
        if quoted and _broken_quote(letters, np.flatnonzero(letters == QUOTE), ord(separator)) >= 0:
            raise InputError(f"{raw.label} line 1: unsound quotes in the header; {QUOTING}")
        text = io.StringIO(line.decode(), newline="")
        style: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
        try:
            names = next(csv.reader(text, delimiter=separator, quoting=style), [])
        except csv.Error as error:
            raise InputError(f"{raw.label} line 1: the header cannot be read ({error})") from None
        return cls(raw, separator, quoted, names, header)

    @cached_property
    def _others(self) -> bytes:
        """All bytes except separators of cells and rows."""
        signs = self.separator.encode() + (b'\r\n"' if self.quoted else b"\r\n")
        return bytes(set(range(256)).difference(signs))

    def is_regular(self, text: bytes) -> bool:
        """True if there are no quotes, and every line has as many cells as the header."""
        signs = text.translate(None, self._others)
        row = self.separator.encode() * (len(self.names) - 1) + b"\n"
        return len(row) > 1 and signs == row * (len(signs) // len(row))

    def plain(self, data: bytes, roles: Mapping[str, str], first: bool = False) -> pl.DataFrame | None:
        """Parse a part of the file, numbers as numbers; None unless all rows are good. The ``first`` part has the header."""
        if first:
            begin = _begin(data)
            if not data.startswith(self.header, begin):
                return None
            data = data[begin + len(self.header) :]
        if not is_text(data):
            return None
        text = plain_ends(data)
        if not self.is_regular(text):
            rows = self.rows(text, refuse=False)
            if rows is None or rows.odd:
                return None
            text = rows.only(text)
        number: dict[str, Any] = dict.fromkeys(("score", "grade"), pl.Float64)
        number["rank"] = pl.Int32 if "score" in roles else pl.Float64
        frame = self.parse(text, {name: number.get(role, pl.String) for role, name in roles.items()})
        needed = [name for role, name in roles.items() if role not in OPTIONAL]
        if frame is None or any(frame[name].null_count() for name in needed):
            return None
        if "grade" in roles and frame[roles["grade"]].is_nan().any():
            return None
        return None if self.quoted and b'"' in text and len(multiline_ids(frame, roles)) else frame

    def all_plain(self, roles: Mapping[str, str]) -> pl.DataFrame | None:
        """Parse all rows in parts; None unless all are good."""
        parts = iter([self.raw.text]) if self.raw.is_small else cut(self.raw, self.place(roles))
        frames = []
        for frame in map_parts(lambda part: self.plain(part[1](), roles, not part[0]), enumerate(parts)):
            if frame is None:
                return None
            frames.append(frame)
        return pl.concat(frames, rechunk=True) if len(frames) > 1 else frames[0]

    def place(self, roles: Mapping[str, str]) -> QueryPlace:
        """Return where a row names its query."""
        sign = re.escape(self.separator.encode())
        cell = rb'(?:"(?:[^"\n]|"")*"|[^"%s\r\n]*)' % sign if self.quoted else rb"[^%s\r\n]*" % sign
        before = rb"(?:%s%s){%d}" % (cell, sign, self.names.index(roles["query_id"]))
        return QueryPlace(before, cell, rb"(?=[%s\r\n])" % sign)

    def parse(self, text: bytes, kinds: Mapping[str, Any]) -> pl.DataFrame | None:
        """Parse these columns of sound rows, empty cells as null; None if they cannot be parsed."""
        schema = {f"{number}": pl.String for number in range(len(self.names))}
        place = {name: f"{self.names.index(name)}" for name in kinds}
        schema |= {place[name]: kind for name, kind in kinds.items()}
        quotes = self.quoted and b'"' in text
        if text.startswith(BOM):  # Polars drops one
            text = BOM + text
        if not text:
            return pl.DataFrame(schema={name: kinds[name] for name in kinds})
        scan = pl.scan_csv(
            text, separator=self.separator, has_header=False, quote_char='"' if quotes else None, schema=schema,
            ignore_errors=True,
        )  # fmt: skip
        try:
            frame = scan.select(pl.col(at).alias(name) for name, at in place.items()).collect()
        except UNREADABLE:
            return None
        return frame.with_columns(pl.col(pl.String).replace("", None)) if quotes else frame

    def parse_rows(self, text: bytes, rows: Rows, names: Iterable[str]) -> pl.DataFrame:
        """Parse these columns of the rows as strings. Raises InputError if Polars sees other rows."""
        frame = self.parse(rows.only(text), dict.fromkeys(names, pl.String))
        if frame is None or len(frame) != len(rows.begin):
            self.raw.fail(ValueError("its rows cannot be separated"))
        return frame

    def body(self) -> bytes:
        """Return the text below the header, with plain line ends. Raises InputError for invalid UTF-8."""
        data = self.raw.text()
        if not is_text(data):
            self.raw.fail(UnicodeError("not UTF-8"))
        return plain_ends(data[_begin(data) + len(self.header) :])

    def begins_with_floats(self, roles: Mapping[str, str]) -> bool:
        """True if an id of the first row is written as a float; its type then depends on the whole column."""
        lines = io.StringIO(self.raw.head[len(self.header) :].decode("utf-8", "replace"), newline="")
        style: Literal[0, 3] = csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE
        try:
            cells = next(filter(None, csv.reader(lines, delimiter=self.separator, quoting=style)), [])
        except csv.Error:
            return False
        row = dict(zip(self.names, cells, strict=False))
        return any(IS_FLOAT_ID(row.get(roles[role], "")) for role in ID_ROLES if role in roles)

    def rows(self, text: bytes, refuse: bool = True) -> Rows | None:
        """Find the rows of a text with plain line ends. Unsound quotes raise InputError, or give None."""
        letters = np.frombuffer(text, np.uint8)
        marks = np.flatnonzero((letters == ord(self.separator)) | (letters == NEWLINE))
        returns = np.flatnonzero(letters == RETURN) if b"\r" in text else marks[:0]
        if self.quoted and b'"' in text:
            quotes = np.flatnonzero(letters == QUOTE)
            broken = _broken_quote(letters, quotes, ord(self.separator))
            if broken >= 0:
                return self._refuse_quote(text, quotes, broken) if refuse else None
            marks = marks[np.searchsorted(quotes, marks) % 2 == 0]
            returns = returns[np.searchsorted(quotes, returns) % 2 == 0]
        ends = np.flatnonzero(letters[marks] == NEWLINE)
        cells, end = np.diff(ends, prepend=-1), marks[ends]
        begin = np.append(0, end[:-1] + 1)[: len(end)]
        cells[np.searchsorted(end, returns)] = 0
        wide = cells == len(self.names)
        good = wide & (end - begin >= len(self.names))  # shorter rows hold only separators
        nothing = b" \t" + self.separator.encode()
        edge = np.frombuffer(nothing, np.uint8)  # rows that begin and end with these may be empty
        maybe_empty = np.isin(letters[begin[good]], edge) & np.isin(letters[end[good] - 1], edge)
        for i in np.flatnonzero(good)[maybe_empty].tolist():
            good[i] = bool(text[begin[i] : end[i]].strip(nothing))
        odd = [(int(begin[i]), int(cells[i])) for i in np.flatnonzero(~wide) if text[begin[i] : end[i]].strip(nothing)]
        return Rows(begin[good], end[good], odd, len(good) - int(good.sum()) - len(odd))

    def _refuse_quote(self, text: bytes, quotes: Array, broken: int) -> NoReturn:
        opened = int(quotes[max(broken - 1, 0) if broken % 2 else broken])
        if broken == len(quotes):
            what, opened = "a quote is opened and never closed", int(quotes[-1])
        else:
            what = "a double quote in a wrong place"
        raise InputError(f"{self.raw.label} line {words.count(self.line(text, opened))}: {what}; {QUOTING}")

    def line(self, text: bytes, at: int) -> int:
        """Return the 1-based line of this byte of the body in the file."""
        return self._lines_above + text.count(b"\n", 0, at) + 1

    @cached_property
    def _lines_above(self) -> int:
        data = self.raw.text()
        return data.count(b"\n", 0, _begin(data)) + self.header.count(b"\n")

    def lines(self) -> Array:
        """Return the 1-based line of each row."""
        text = self.body()
        rows = cast("Rows", self.rows(text))
        newlines = np.flatnonzero(np.frombuffer(text, np.uint8) == NEWLINE)
        return np.searchsorted(newlines, rows.begin) + self._lines_above + 1


def _begin(text: bytes) -> int:
    at = len(BOM) if text.startswith(BOM) else 0
    return cast("re.Match[bytes]", BLANK_LINES.match(text, at)).end()


def _first_row(text: bytes, quoted: bool) -> bytes:
    begin = _begin(text)
    end = text.find(b"\n", begin)
    while quoted and end >= 0 and text.count(b'"', begin, end) % 2:
        end = text.find(b"\n", end + 1)
    return text[begin : end + 1]


def _broken_quote(letters: Array, quotes: Array, separator: int) -> int:
    """Return the first quote that neither opens nor closes a cell nor is doubled, their number for one left open, or -1."""
    before = np.where(quotes > 0, letters[quotes - 1], NEWLINE)
    after = letters[np.minimum(quotes + 1, len(letters) - 1)]
    beside = np.where(np.arange(len(quotes)) % 2 == 0, before, after)
    wrong = np.flatnonzero((beside != separator) & (beside != NEWLINE) & (beside != QUOTE))
    if len(wrong):
        return int(wrong[0])
    return len(quotes) if len(quotes) % 2 else -1


def multiline_ids(frame: pl.DataFrame, roles: Mapping[str, str]) -> Array:
    """Return the rows with an id that runs over several lines."""
    broken = pl.any_horizontal(pl.col(roles[role]).str.contains("[\r\n]") for role in ID_ROLES if role in roles)
    return np.flatnonzero(frame.select(broken.fill_null(False)).to_series().to_numpy())
