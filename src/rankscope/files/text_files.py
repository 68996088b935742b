"""Texts in files: rows of JSON lines, TSV and CSV; records of TREC topics and documents between marks, and of SMART."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, TextIO

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.memory import quote_value
from rankscope.files.objects import lines_of, object_of, refuse_line
from rankscope.files.raw import BOM, BROKEN, LINE, Raw, check_lines
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
            match = at.search(line)
            if match and not selection.wants(selection.text(match[1] if match[1] is not None else match[2]).strip()):
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
            mark = {"\t": "tab", ",": "comma", ";": "semicolon"}[separator]
            fault = f"{words.quote(separator.join(cells))} has too few columns: each line is an id, a {mark} and a text"
            raise InputError(f"{where}: {fault}; is a text broken over lines?")
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


# --- records ------------------------------------------------------------------------------------------------------------


BLOCK = 1 << 22
LONGEST = 1 << 28  # bytes of one record: a longer one was never closed
_I = re.IGNORECASE
_OPEN = re.compile(rb"<(topic|top|doc)(\s[^<>]*)?>|<!--", _I)
_CLOSE = {name: re.compile(rb"</" + name + rb"\s*>", _I) for name in (b"topic", b"top", b"doc")}
_AGAIN = {name: re.compile(rb"<" + name + rb"(\s[^<>]*)?>", _I) for name in (b"topic", b"top", b"doc")}
_ID = re.compile(rb"<(docno|docid|num|number|qid|id)(?:\s[^<>]*)?>([^<>]*)(?=<|$)", _I)
_ID_LABEL = re.compile(rb"\s*(?:Number|Topic)\s*:", _I)
_OWN_ID = re.compile(rb"\b(?:number|num|id|qid|docno)\s*=\s*[\"']([^\"']*)[\"']", _I)
_MARK = re.compile(r"<(/?)([A-Za-z][\w:.-]*)(?:\s[^<>]*)?/?>")
_LABEL = re.compile(r"^\s*(?:Topic|Title|Description|Narrative|Query)\s*:", _I)
_HIDDEN = re.compile(r"<!--|<(script|style|dochdr)\b[^<>]*>", _I)
_RAW = re.compile(r"<!\[CDATA\[")
_RAW_END = re.compile(r"\]\]>")
_COMMENT_END = re.compile("-->")
_LONG_NUMBER = re.compile(r"&#(?=\d{1000})")  # of no character, and Python refuses to read it
TAGS_OF_TITLES = ("title", "query", "headline", "head", "ttl", "hl")
QUESTIONS = ("question", "desc", "description")
NAMES = {"docno", "docid", "num", "number", "qid", "id"}
EXAMPLE = {
    b"doc": "a document has its id in <DOCNO>",
    b"top": "a topic has its id in <num>",
    b"topic": 'a topic has its id in <num>, or as <topic number="1">',
}


@dataclass(frozen=True)
class _Record:
    """One topic or document: its line, its mark, the attributes of the mark, and the text between marks."""

    line: int
    name: bytes
    own: bytes
    body: bytes


def has_marks(head: bytes) -> bool:
    r"""Return True if a file begins like TREC topics or documents, or like XML.

    >>> has_marks(b"<top>"), has_marks(b"<?xml version='1.0'?>"), has_marks(b"1\t<b>bold</b>")
    (True, True, False)
    """
    return re.match(rb"<[A-Za-z?!]", head) is not None


def texts_of_marks(raw: Raw, selection: Selection) -> Iterator[tuple[str, str]]:
    """The topics or documents of a file: ids and texts."""
    for record in _records(raw):
        one = _id_of(record, raw.label, selection)
        if selection.wants(one):
            text = selection.text(record.body)
            yield one, _document(text) if record.name == b"doc" else _topic(text)


def _id_of(record: _Record, label: str, selection: Selection) -> str:
    match = None if record.name == b"doc" else _OWN_ID.search(record.own)
    data = match[1] if match else _inner_id(record.body)
    one = _unescape(selection.text(data)).strip()
    if not one:
        mark = record.name.decode()
        raise InputError(f"{label} line {words.count(record.line)}: a <{mark}> without an id; {EXAMPLE[record.name]}")
    return one


def _inner_id(body: bytes) -> bytes:
    """Return the id between marks; a DOCNO goes before a DOCID."""
    second = b""
    for mark in _ID.finditer(body):
        label = _ID_LABEL.match(mark[2])
        one = mark[2][label.end() if label else 0 :].strip()
        if one and mark[1].lower() != b"docid":
            return one
        second = second or one
    return second


def _records(raw: Raw) -> Iterator[_Record]:
    buffer, line, at, number = b"", 1, 0, 0
    sought = 0  # the search for the end of the record at ``at`` goes on from here
    hidden = 0  # the line of the comment that is open there
    for block in _blocks(raw):
        buffer, sought = buffer[at:] + block, sought - at
        at = 0
        while True:
            opened = None if hidden else _OPEN.search(buffer, at)
            if opened is None:
                closed = buffer.find(b"-->", at) if hidden else -1
                # a mark may be cut in two
                passed = closed + 3 if closed >= 0 else max(at, len(buffer) - 2 if hidden else buffer.rfind(b"<"))
                line += buffer.count(b"\n", at, passed)
                at = passed
                if closed < 0:
                    break
                hidden = 0
                continue
            line += buffer.count(b"\n", at, opened.start())
            at = opened.start()
            if opened[1] is None:
                hidden, at = line, opened.end()
                continue
            closed_by = _end_of(buffer, opened, max(sought, opened.end()), f"{raw.label} line {words.count(line)}")
            if closed_by is None:
                last = buffer.rfind(b"<", opened.end())
                sought = last if last >= 0 else len(buffer)
                break
            number += 1
            yield _Record(line, opened[1].lower(), opened[2] or b"", buffer[opened.end() : closed_by.start()])
            line += buffer.count(b"\n", at, closed_by.end())
            at = closed_by.end()
    if hidden:
        after = f"after record {words.count(number)}" if number else "before the first record"
        problem = f"a comment (<!--) {after} is never closed, so that it hides all that follows"
        raise InputError(f"{raw.label} line {words.count(hidden)}: {problem}: close it with -->, or remove it")
    rest = _OPEN.search(buffer, at)
    if rest is not None and rest[1] is not None:
        line += buffer.count(b"\n", at, rest.start())
        _refuse_open(f"{raw.label} line {words.count(line)}", rest[1])
    if not number:
        first = buffer.removeprefix(BOM).strip()[:60].decode("utf-8", "replace").split("\n")[0]
        raise InputError(f"{raw.label}: begins with {words.quote(first)} and holds no <top>, <topic> or <DOC>")


def _end_of(buffer: bytes, opened: re.Match[bytes], start: int, where: str) -> re.Match[bytes] | None:
    """Return the mark that closes a record, searched from ``start``; None if it is yet to be read."""
    name = opened[1].lower()
    closed = _CLOSE[name].search(buffer, start)
    last = closed.start() if closed else len(buffer)
    if _AGAIN[name].search(buffer, start, last) or last - opened.start() > LONGEST:
        _refuse_open(where, opened[1])
    return closed


def _refuse_open(where: str, name: bytes) -> None:
    mark = name.decode()
    raise InputError(f"{where}: <{mark}> is never closed by </{mark}>; is the file cut off?")


def _blocks(raw: Raw) -> Iterator[bytes]:
    try:
        with raw.unpack() as file:
            yield from iter(partial(file.read, BLOCK), b"")
    except BROKEN as error:
        raw.fail(error)


def _topic(text: str) -> str:
    parts = _parts(text)
    title = next((parts[name] for name in TAGS_OF_TITLES if parts.get(name)), "")
    question = next((parts[name] for name in QUESTIONS if parts.get(name)), "")
    if title or question:
        return join_texts([title, question])
    return " ".join(part for name, part in parts.items() if name not in NAMES and part)


def _parts(text: str) -> dict[str, str]:
    parts: dict[str, list[str]] = {}
    name, at = "", 0
    kept = _shown(text)
    for mark in [*_MARK.finditer(kept), None]:
        part = _LABEL.sub("", kept[at : mark.start() if mark else len(kept)])
        parts.setdefault(name, []).extend(_unescape(part).split())
        if mark is None:
            break
        name, at = ("" if mark[1] else mark[2].lower()), mark.end()
    return {name: " ".join(part) for name, part in parts.items()}


def _enclosed(
    text: str, opening: re.Pattern[str], closing: Callable[[str], re.Pattern[str]]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield begin and end of each mark and of its closing mark; ``closing`` maps the first group of ``opening`` to a pattern."""
    at, never_closed = 0, set[re.Pattern[str]]()
    while opened := opening.search(text, at):
        at = opened.end()
        mark = closing((opened[1] or "").lower() if opening.groups else "")
        closed = None if mark in never_closed else mark.search(text, at)
        if closed is None:
            never_closed.add(mark)
            continue
        yield opened.start(), opened.end(), closed.start(), closed.end()
        at = closed.end()


def _replace(text: str, spans: Iterable[tuple[int, int, int, int]], by: Callable[[str], str]) -> str:
    parts, at = [], 0
    for start, inner, outer, end in spans:
        parts += [text[at:start], by(text[inner:outer])]
        at = end
    return "".join([*parts, text[at:]])


@lru_cache(maxsize=64)
def _opening(name: str) -> re.Pattern[str]:
    return re.compile(rf"<{name}(?:\s[^<>]*)?>", _I)


@lru_cache(maxsize=64)
def _closing(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}\s*>", _I) if name else _COMMENT_END


def _shown(text: str) -> str:
    text = _replace(text, _enclosed(text, _HIDDEN, _closing), lambda _: " ") if "<" in text else text
    return _replace(text, _enclosed(text, _RAW, lambda _: _RAW_END), html.escape) if "<!" in text else text


def _document(text: str) -> str:
    text = _shown(text)
    title = next((part for name in TAGS_OF_TITLES if (part := _inside(text, name))), "")
    body = _inside(text, "text")
    if not body:
        for name in (*NAMES, *TAGS_OF_TITLES):
            text = _replace(text, _marked(text, name), lambda _: " ")
        body = text
    return join_texts([_plain(title), _plain(body)])


def _marked(text: str, name: str) -> Iterator[tuple[int, int, int, int]]:
    return _enclosed(text, _opening(name), lambda _: _closing(name))


def _inside(text: str, name: str) -> str:
    return " ".join(text[inner:outer] for _, inner, outer, _ in _marked(text, name))


def _plain(text: str) -> str:
    return _unescape(_MARK.sub(" ", text))


def _unescape(text: str) -> str:
    return html.unescape(_LONG_NUMBER.sub("&amp;#", text))


def of_smart(raw: Raw, selection: Selection) -> Iterator[tuple[str, str]]:
    """Records that begin with ``.I id``: the title (.T) and the text (.W) of each."""
    one, kept, part = "", False, b""
    fields: dict[bytes, list[str]] = {}
    for number, line in lines_of(raw):
        if line.startswith(b".I ") or line == b".I":
            if kept:
                yield one, _of_parts(fields)
            one, part, fields = selection.text(line[2:]).strip(), b"", {}
            if not one:
                raise InputError(f"{raw.label} line {words.count(number)}: .I without an id")
            kept = selection.wants(one)
        elif len(line.rstrip()) == 2 and line[:1] == b"." and line[1:2].isupper():
            part = line[1:2]
        elif kept:
            fields.setdefault(part, []).append(selection.text(line))
    if kept:
        yield one, _of_parts(fields)


def _of_parts(fields: dict[bytes, list[str]]) -> str:
    return join_texts([" ".join(fields.get(b"T", [])), " ".join(fields.get(b"W", []))])
