"""Texts in rows: names of ids and texts; JSON lines, TSV and CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, NoReturn, TextIO

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.memory import quote_value
from rankscope.files.objects import lines_of, object_of, refuse_line
from rankscope.files.raw import BROKEN, LINE, Raw, check_lines
from rankscope.files.roles import ALIASES
from rankscope.words import plain_name

IDS = ("_id", "id", "number", "num")
OWN_IDS = {"document": (*ALIASES["doc_id"], "pid"), "query": ALIASES["query_id"]}
TEXTS = (
    "text", "contents", "content", "body", "passage", "segment", "abstract", "document", "query_text", "query", "question",
    "utterance",
)  # fmt: skip
TITLES = ("title", "headline", "name")
LARGEST = 1 << 28  # characters of a cell of CSV: the library's own limit is 128 KiB
SEPARATOR = " · "


@dataclass
class Selection:
    """The ids to read (None: all); ``first_ids`` are the first ids read, ``remarks`` notes about the reading."""

    ids: frozenset[str] | None
    first_ids: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    not_utf8: bool = False

    def wants(self, one: str) -> bool:
        """Return True if the text of this id is selected."""
        if len(self.first_ids) < 3:
            self.first_ids.append(one)
        return self.ids is None or one in self.ids

    def text(self, data: bytes) -> str:
        """Bytes as text; invalid UTF-8 becomes the replacement character."""
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            self.not_utf8 = True
            return data.decode("utf-8", "replace")


@dataclass(frozen=True)
class Roles:
    """Which key or column holds the id, and which the texts, a title first."""

    id: str
    texts: tuple[str, ...]


@lru_cache(maxsize=256)
def _roles(names: tuple[str, ...], noun: str, needs_id: bool) -> Roles | None:
    by_lower = {name.strip().casefold(): name for name in reversed(names)}
    by_plain = {plain_name(name): name for name in reversed(names)}

    def find(known: Sequence[str], taken: Sequence[str] = ()) -> str | None:
        there = (by_lower.get(name, by_plain.get(plain_name(name))) for name in known)
        return next((name for name in there if name is not None and name not in taken), None)

    texts = tuple(name for name in (find(TITLES), find(TEXTS)) if name is not None)
    if not needs_id:
        return Roles("", texts) if texts else None
    other = "query" if noun == "document" else "document"
    # "query" may be the id of a text, or the text of an id
    one = find((*OWN_IDS[noun], *IDS, *OWN_IDS[other]), texts)
    if one is None and "" in by_lower and texts:
        one = by_lower[""]  # the index of a data frame, written without a name
    return Roles(one, texts) if one is not None and texts else None


def roles_among(names: Sequence[Any], noun: str, needs_id: bool = True) -> Roles | None:
    """Return the names of the id and the texts, in any spelling; None if either is missing.

    >>> roles_among(["_id", "title", "text"], "document")
    Roles(id='_id', texts=('title', 'text'))
    >>> roles_among(["query", "text"], "query"), roles_among(["qid", "query"], "query")
    (Roles(id='query', texts=('text',)), Roles(id='qid', texts=('query',)))
    >>> roles_among(["productId", "Title"], "document")
    Roles(id='productId', texts=('Title',))
    """
    return _roles(tuple(map(str, names)), noun, needs_id)


def join_row(row: Mapping[str, Any], roles: Roles) -> str:
    """Join the texts of a row; a title at the start of the text is kept once."""
    return join_texts([plain_text(row.get(name)) for name in roles.texts])


def join_texts(parts: Sequence[str]) -> str:
    """Title and text as one, each once."""
    kept = [" ".join(part.split()) for part in parts]
    kept = [part for part in kept if part]
    if len(kept) == 2 and kept[1].casefold().startswith(kept[0].rstrip(".").casefold()):
        return kept[1]
    return SEPARATOR.join(kept)


def plain_text(value: Any) -> str:
    """Return a value of JSON as text: lists are joined, null is empty."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list):
        return " ".join(map(plain_text, value))
    return json.dumps(value, ensure_ascii=False)


def id_of(value: Any, where: Callable[[], str]) -> str:
    """Return an id as a string; ``where()`` names its place for messages."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if value is None or value == "":
        raise InputError(f"{where()}: no id")
    raise InputError(f"{where()}: {quote_value(value)} is not an id; ids are strings or integers")


def of_jsonl(raw: Raw, selection: Selection, noun: str, roles: Roles) -> Iterator[tuple[str, str]]:
    """Read one object per line, with the ``roles`` of the first. Lines with other ids than the selection are not parsed."""
    key = json.dumps(roles.id).encode()
    at = re.compile(re.escape(key) + rb'\s*:\s*(?:"([^"\\]*)"|(-?\d+)\s*[,}])')
    for number, line in lines_of(raw):
        if selection.ids is not None and line.count(key) == 1 and line.rstrip().endswith(b"}"):
            found = at.search(line)
            if found and not selection.wants(selection.text(found[1] if found[1] is not None else found[2]).strip()):
                continue
        where = f"{raw.label} line {words.count(number)}"
        value = object_of(line.decode("utf-8", "replace"))
        if value is None:
            refuse_line(raw, number, line)
        own = roles if roles.id in value else roles_among(list(value), noun) or roles
        own = Roles(own.id, (roles_among(list(value), noun) or own).texts)
        one = id_of(value.get(own.id), lambda where=where: where)  # type: ignore[misc]
        if selection.wants(one):
            selection.text(line)
            yield one, join_row(value, own)


def separator_of(raw: Raw, noun: str) -> str | None:
    """Return the separator of id and text in the first line, a tab first unless the name is of CSV; None if there is none."""
    line, ending = raw.first_line, raw.ending
    likely = ",;\t" if ending == ".csv" else "\t,;"
    for separator in likely:
        if roles_among(_cells(line, separator), noun):
            return separator
    if "\t" in line and (ending != ".csv" or "," not in line):
        return "\t"
    return "," if ending == ".csv" and "," in line else None


def _cells(line: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return line.split(separator)


def texts_of_columns(raw: Raw, separator: str, selection: Selection, noun: str) -> Iterator[tuple[str, str]]:
    """Rows of an id and a text, or under a header that names them."""
    rows = _tab_rows(raw, selection) if separator == "\t" else _quoted_rows(raw, separator, selection)
    layout: Callable[[list[str]], tuple[str, str]] | None = None
    for number, cells in rows:
        if layout is None:
            layout, skip = _layout(cells, noun)
            if skip:
                width = len(cells)
                continue
            width = 0
        where = f"{raw.label} line {words.count(number)}"
        if len(cells) < 2 or len(cells) < width:
            _refuse_short(where, cells, separator)
        one, text = layout(cells)
        if not one.strip():
            raise InputError(f"{where}: no id before the text")
        if selection.wants(one.strip()):
            yield one.strip(), text


def _layout(cells: list[str], noun: str) -> tuple[Callable[[list[str]], tuple[str, str]], bool]:
    roles = roles_among(cells, noun)
    if roles is None:
        return (lambda row: (row[0], join_texts(row[1:]) if len(row) > 2 else row[1])), False
    places = [cells.index(name) for name in roles.texts]
    at = cells.index(roles.id)
    return (lambda row: (row[at], join_texts([row[place] for place in places]))), True


def _refuse_short(where: str, cells: list[str], separator: str) -> NoReturn:
    mark = {"\t": "tab", ",": "comma", ";": "semicolon"}[separator]
    raise InputError(
        f"{where}: {words.quote(separator.join(cells))} has too few columns: each line is an id, a {mark} and a text; "
        "is a text broken over lines?"
    )


def _tab_rows(raw: Raw, selection: Selection) -> Iterator[tuple[int, list[str]]]:
    """Split lines at tabs; quotes are text unless they enclose a whole cell."""
    for number, line in lines_of(raw):
        yield number, [_unquote(cell) for cell in selection.text(line).split("\t")]


def _unquote(cell: str) -> str:
    if len(cell) < 2 or cell[0] != '"' or cell[-1] != '"':
        return cell
    inside = cell[1:-1].replace('""', "")
    return cell[1:-1].replace('""', '"') if '"' not in inside else cell


def _short_lines(label: str, text: TextIO) -> Iterator[str]:
    for line in iter(partial(text.readline, LINE + 1), ""):
        if len(line) > LINE:
            next(check_lines(label, iter((line.encode(),))))
        yield line


def _quoted_rows(raw: Raw, separator: str, selection: Selection) -> Iterator[tuple[int, list[str]]]:
    limit = csv.field_size_limit(LARGEST)
    last = 0
    try:
        with raw.unpack() as file, io.TextIOWrapper(file, "utf-8-sig", "replace", newline="") as text:
            reader = csv.reader(_short_lines(raw.label, text), delimiter=separator, strict=True)
            for row in reader:
                start, last = last + 1, reader.line_num
                if any(row):
                    selection.not_utf8 |= any("�" in cell for cell in row)
                    yield start, row
    except csv.Error as error:
        remedy = 'a quote within a text is written twice ("") and closed in the end'
        raise InputError(f"{raw.label} line {words.count(last + 1)}: {error}; {remedy}") from None
    except BROKEN as error:
        raw.fail(error)
    finally:
        csv.field_size_limit(limit)
