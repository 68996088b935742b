"""CSV and TSV: every row has as many cells as the header, or is named by its line.

Polars parses columns that are used and tells nothing of the rest, so rows are counted out before: a part without quotes by looking at
every byte once, another by where its quotes are.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, NoReturn, cast

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import Findings, is_float_id, is_text, make_table, restore_floats
from rankscope.files.parts import PartFacts, QueryPlace, RunParts, cut, piece_size, table_part, table_parts
from rankscope.files.raw import BOM, UNREADABLE, Raw
from rankscope.files.roles import ID_ROLES, roles_of
from rankscope.parallel import map_parts
from rankscope.tables import Array, Qrels, Run

NAMES = {",": "CSV", "\t": "TSV", ";": "CSV (apart by semicolons)"}
_WORDS = {",": "a comma", "\t": "a tab", ";": "a semicolon"}
NEWLINE, RETURN, QUOTE = 10, 13, 34
QUOTING = 'a cell in quotes begins and ends with one, and a quote within it is written twice ("")'
BLANK_LINES = re.compile(rb"[\r\n]*")
OPTIONAL = ("tag", "iteration")  # roles whose cells may be empty


def header_of(raw: Raw, separator: str) -> list[str]:
    """Names in the first line."""
    try:
        return next(csv.reader([raw.first_line], delimiter=separator), [])
    except csv.Error:
        return []


@dataclass(frozen=True, eq=False)
class Rows:
    """Where the rows of a text ``begin`` and ``end`` that have as many cells as they should.

    ``odd`` has the others that are not blank: where they begin, and how many cells they have, 0 with a carriage return among them.
    """

    begin: Array
    end: Array
    odd: list[tuple[int, int]]
    blank: int

    def only(self, text: bytes) -> bytes:
        """The rows alone, without what stands between them."""
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
    """The same lines, each with a plain end: carriage returns before it are left out."""
    while b"\r\n" in data:
        data = data.replace(b"\r\n", b"\n")
    data = data.rstrip(b"\r") if data.endswith(b"\r") else data
    return data if data.endswith(b"\n") or not data else data + b"\n"


@dataclass(frozen=True, eq=False)
class Columns:
    """A file of rows under a header; ``quoted`` tells whether quotes are quotes in it.

    ``header`` are its bytes without the blank lines before it, of which some may have been left out on the way.
    """

    raw: Raw
    separator: str
    quoted: bool
    names: list[str]
    header: bytes

    @classmethod
    def of(cls, raw: Raw, separator: str) -> Columns:
        """Read the header. Raises InputError where it is none."""
        # quotes are quotes in CSV; in TSV only where the first lines use them around a whole cell
        head = raw.head.removeprefix(BOM)
        quoted = separator != "\t" or re.search(rb'(^|\t)"[^\t\n]*"(\t|\r?$)', head, re.MULTILINE) is not None
        header = _first_row(raw.head, quoted) or _first_row(raw.text(), quoted) or raw.text()[_begin(raw.text()) :]
        line = header.removeprefix(BOM).strip(b"\r\n")
        if b"\r" in line and b"\n" not in header:
            raise InputError(
                f"{raw.label}: lines end in a lone carriage return (old Mac): run tr '\\r' '\\n' on the file"
            )
        if not is_text(line):
            raw.fail(UnicodeError("not UTF-8"))
        letters = np.frombuffer(line, np.uint8)
        if quoted and _broken_quote(letters, np.flatnonzero(letters == QUOTE), ord(separator)) >= 0:
            raise InputError(f"{raw.label} line 1: quotes in the header that are not sound; {QUOTING}")
        text = io.StringIO(line.decode(), newline="")
        style: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
        try:
            names = next(csv.reader(text, delimiter=separator, quoting=style), [])
        except csv.Error as error:
            raise InputError(f"{raw.label} line 1: the header cannot be read ({error})") from None
        return cls(raw, separator, quoted, names, header)

    @cached_property
    def _others(self) -> bytes:
        """All bytes but those that part cells and rows."""
        signs = self.separator.encode() + (b'\r\n"' if self.quoted else b"\r\n")
        return bytes(set(range(256)).difference(signs))

    def is_regular(self, text: bytes) -> bool:
        """Whether there are no quotes in it, and every line has the cells of the header."""
        signs = text.translate(None, self._others)
        row = self.separator.encode() * (len(self.names) - 1) + b"\n"
        return len(row) > 1 and signs == row * (len(signs) // len(row))

    def plain(self, data: bytes, roles: Mapping[str, str], first: bool = False) -> pl.DataFrame | None:
        """A part of the file whose rows are all good, numbers as such; None where one is not. The ``first`` has the header."""
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
        number = {
            role: pl.Float64 if role != "rank" or "score" not in roles else pl.Int32
            for role in ("score", "grade", "rank")
        }
        frame = self.parse(text, {name: number.get(role, pl.String) for role, name in roles.items()})
        needed = [name for role, name in roles.items() if role not in OPTIONAL]
        if frame is None or any(frame[name].null_count() for name in needed):
            return None
        if "grade" in roles and frame[roles["grade"]].is_nan().any():
            return None
        return None if self.quoted and b'"' in text and len(over_lines(frame, roles)) else frame

    def all_plain(self, roles: Mapping[str, str]) -> pl.DataFrame | None:
        """All rows; None where one is at fault."""
        parts = iter([self.raw.text]) if self.raw.is_small else cut(self.raw, self.place(roles))
        frames = []
        for frame in map_parts(lambda part: self.plain(part[1](), roles, not part[0]), enumerate(parts)):
            if frame is None:
                return None
            frames.append(frame)
        return pl.concat(frames, rechunk=True) if len(frames) > 1 else frames[0]

    def place(self, roles: Mapping[str, str]) -> QueryPlace:
        """Where a row names its query."""
        sign = re.escape(self.separator.encode())
        cell = rb'(?:"(?:[^"\n]|"")*"|[^"%s\r\n]*)' % sign if self.quoted else rb"[^%s\r\n]*" % sign
        before = rb"(?:%s%s){%d}" % (cell, sign, self.names.index(roles["query_id"]))
        return QueryPlace(before, cell, rb"(?=[%s\r\n])" % sign)

    def parse(self, text: bytes, kinds: Mapping[str, Any]) -> pl.DataFrame | None:
        """These columns of rows that are sound, empty cells as null; None where they cannot be parsed."""
        schema = {f"{number}": pl.String for number in range(len(self.names))}
        place = {name: f"{self.names.index(name)}" for name in kinds}
        schema |= {place[name]: kind for name, kind in kinds.items()}
        quotes = self.quoted and b'"' in text
        if text.startswith(BOM):  # which Polars would leave out
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

    def body(self) -> bytes:
        """All that follows the header, with plain line ends. Raises InputError for what is no text."""
        data = self.raw.text()
        if not is_text(data):
            self.raw.fail(UnicodeError("not UTF-8"))
        return plain_ends(data[_begin(data) + len(self.header) :])

    def begins_with_floats(self, roles: Mapping[str, str]) -> bool:
        """Whether an id of the first row is written as a float; only all of its column tell what it is then."""
        lines = io.StringIO(self.raw.head[len(self.header) :].decode("utf-8", "replace"), newline="")
        style: Literal[0, 3] = csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE
        try:
            cells = next(filter(None, csv.reader(lines, delimiter=self.separator, quoting=style)), [])
        except csv.Error:
            return False
        row = dict(zip(self.names, cells, strict=False))
        return any(is_float_id(row.get(roles[role], "")) for role in ID_ROLES if role in roles)

    def rows(self, text: bytes, refuse: bool = True) -> Rows | None:
        """The rows of a text with plain line ends. Where quotes are not sound this raises InputError, or gives None."""
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
        good = wide & (end - begin >= len(self.names))  # else its separators are all there is
        nothing = b" \t" + self.separator.encode()
        edge = np.frombuffer(nothing, np.uint8)  # rows that begin and end so may hold no more
        for i in np.flatnonzero(good)[
            np.isin(letters[begin[good]], edge) & np.isin(letters[end[good] - 1], edge)
        ].tolist():
            good[i] = bool(text[begin[i] : end[i]].strip(nothing))
        odd = [(int(begin[i]), int(cells[i])) for i in np.flatnonzero(~wide) if text[begin[i] : end[i]].strip(nothing)]
        return Rows(begin[good], end[good], odd, len(good) - int(good.sum()) - len(odd))

    def _refuse_quote(self, text: bytes, quotes: Array, broken: int) -> NoReturn:
        """Say in which line the cell begins whose quotes are not sound."""
        opened = int(quotes[max(broken - 1, 0) if broken % 2 else broken])
        if broken == len(quotes):
            what, opened = "a quote is opened and never closed", int(quotes[-1])
        else:
            what = "a double quote stands where none can"
        raise InputError(f"{self.raw.label} line {words.count(self.line(text, opened))}: {what}; {QUOTING}")

    def line(self, text: bytes, at: int) -> int:
        """The 1-based line of the file in which this byte of its body stands."""
        return self._lines_above + text.count(b"\n", 0, at) + 1

    @cached_property
    def _lines_above(self) -> int:
        """How many lines there are above the rows."""
        data = self.raw.text()
        return data.count(b"\n", 0, _begin(data)) + self.header.count(b"\n")

    def lines(self) -> Array:
        """The 1-based line on which each row begins."""
        text = self.body()
        rows = cast("Rows", self.rows(text))
        newlines = np.flatnonzero(np.frombuffer(text, np.uint8) == NEWLINE)
        return np.searchsorted(newlines, rows.begin) + self._lines_above + 1


def _begin(text: bytes) -> int:
    """Where the first line begins that is not blank."""
    at = len(BOM) if text.startswith(BOM) else 0
    return cast("re.Match[bytes]", BLANK_LINES.match(text, at)).end()


def _first_row(text: bytes, quoted: bool) -> bytes:
    """The first row that is not blank, to the end of its line; nothing where it does not end."""
    begin = _begin(text)
    end = text.find(b"\n", begin)
    while quoted and end >= 0 and text.count(b'"', begin, end) % 2:
        end = text.find(b"\n", end + 1)
    return text[begin : end + 1]


def _broken_quote(letters: Array, quotes: Array, separator: int) -> int:
    """The first of these quotes that neither opens nor closes a cell nor is doubled, their number for one left open, else -1."""
    before = np.where(quotes > 0, letters[quotes - 1], NEWLINE)
    after = letters[np.minimum(quotes + 1, len(letters) - 1)]
    beside = np.where(np.arange(len(quotes)) % 2 == 0, before, after)
    wrong = np.flatnonzero((beside != separator) & (beside != NEWLINE) & (beside != QUOTE))
    if len(wrong):
        return int(wrong[0])
    return len(quotes) if len(quotes) % 2 else -1


def over_lines(frame: pl.DataFrame, roles: Mapping[str, str]) -> Array:
    """The rows with an id that runs over several lines."""
    broken = pl.any_horizontal(pl.col(roles[role]).str.contains("[\r\n]") for role in ID_ROLES if role in roles)
    return np.flatnonzero(frame.select(broken.fill_null(False)).to_series().to_numpy())


def read_columns(raw: Raw, what: str, name: str | None, separator: str) -> Run | Qrels:
    """Read a table with a header; ids are read as strings, so that ``01`` stays ``01``."""
    found, table = Findings(), Columns.of(raw, separator)
    roles = roles_of(table.names, what, raw.label, found.notes, raw.columns)
    source = raw.source(f"{NAMES[separator]} {what}")
    frame = table.all_plain(roles)
    ids = [roles[role] for role in ID_ROLES if role in roles]
    if frame is not None:
        return make_table(restore_floats(frame, ids), roles, source, found, what, name, table.lines)
    text = table.body()
    rows = cast("Rows", table.rows(text))
    frame = table.parse(rows.only(text), dict.fromkeys(roles.values(), pl.String))
    if frame is None or len(frame) != len(rows.begin):
        raw.fail(ValueError("its rows cannot be told apart"))
    width, odd = len(table.names), np.array([at for at, _ in rows.odd], dtype=np.int64)
    over = over_lines(frame, roles)
    found.fault_rows(
        raw.label,
        np.arange(len(odd)),
        lambda i: ("columns", _odd_row(rows.odd[i][1], width, separator)),
        lambda i: table.line(text, int(odd[i])),
    )
    broken = "an id that runs over several lines: is a quote left open?"
    found.fault_rows(raw.label, over, lambda _: ("columns", broken), lambda row: table.line(text, int(rows.begin[row])))
    return make_table(restore_floats(frame, ids), roles, source, found, what, name, table.lines, over)


def _odd_row(cells: int, width: int, separator: str) -> str:
    """What is wrong with a row of another number of cells than the header has."""
    if not cells:
        return "a carriage return within the line, which ends no line"
    if cells > width:
        return f"more columns than the header, which has {width}; an id that holds {_WORDS[separator]} must stand in quotes"
    return f"{words.counted(cells, 'column')}, the header has {width}"


def columns_parts(raw: Raw, name: str | None, separator: str) -> RunParts | None:
    """A run under a header, to be read in parts; None where only the whole tells what it holds."""
    found, table = Findings(), Columns.of(raw, separator)
    roles = roles_of(table.names, "run", raw.label, found.notes, raw.columns)
    if table.begins_with_floats(roles):
        return None

    def read(number: int, part: Callable[[], bytes]) -> tuple[Run, PartFacts]:
        rows = table.plain(part(), roles, not number)
        if rows is None:
            raise InputError(f"{raw.label}: a row that takes another way to read it")
        return table_part(rows, roles, raw.label)

    def reads(pieces: int | None = None) -> Iterator[Callable[[], tuple[Run, PartFacts]]]:
        parts = cut(raw, table.place(roles), piece_size(raw, pieces))
        return (partial(read, number, part) for number, part in enumerate(parts))

    return table_parts(
        raw,
        f"{NAMES[separator]} run",
        name,
        found,
        reads,
        lambda: cast("Run", read_columns(raw, "run", name, separator)),
    )
