"""Texts of queries and documents by their ids: TSV, CSV, JSONL, TREC topics and documents, SMART, dicts, frames."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, Literal, NoReturn

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import ALIASES, Findings, id_column
from rankscope.files.memory import frame_of, quote_value, speaks_arrow
from rankscope.files.parquet import open_parquet
from rankscope.files.raw import BOM, BROKEN, LINE, Raw, check_lines, open_raw
from rankscope.files.sheets import is_path
from rankscope.tables import Source

IDS = ("_id", "id", "number", "num")
OWN_IDS = {
    "document": (*ALIASES["doc_id"], "pid", "passage_id", "document_id"),
    "query": (*ALIASES["query_id"], "topic_id", "topic-id"),
}
TEXTS = (
    "text", "contents", "content", "body", "passage", "segment", "abstract", "document", "query_text", "query", "question",
    "utterance",
)  # fmt: skip
TITLES = ("title", "headline", "name")
LARGEST = 1 << 28  # characters of a cell of CSV: the library's own limit is 128 KiB
SEPARATOR = " · "
Collect = Callable[[pl.LazyFrame], pl.DataFrame]


@dataclass
class Selection:
    """The ids to read (None: all); ``first_ids`` are the first ids read, ``remarks`` notes about the reading."""

    ids: frozenset[str] | None
    first_ids: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    not_utf8: bool = False

    def wants(self, one: str) -> bool:
        """Whether to read the text of this id."""
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
    other = "query" if noun == "document" else "document"
    known = (*OWN_IDS[noun], *IDS, *OWN_IDS[other])
    text = next((by_lower[name] for name in TEXTS if name in by_lower), None)
    title = next((by_lower[name] for name in TITLES if name in by_lower), None)
    texts = tuple(name for name in (title, text) if name is not None)
    if not needs_id:
        return Roles("", texts) if texts else None
    # "query" may be the id beside a text, or the text beside an id
    one = next((by_lower[name] for name in known if name in by_lower and by_lower[name] not in texts), None)
    if one is None and "" in by_lower and texts:
        one = by_lower[""]  # the index of a data frame, written without a name
    return Roles(one, texts) if one is not None and texts else None


def roles_among(names: Sequence[Any], noun: str, needs_id: bool = True) -> Roles | None:
    """Which of these names hold the id and the texts; None where some do not.

    >>> roles_among(["_id", "title", "text"], "document")
    Roles(id='_id', texts=('title', 'text'))
    >>> roles_among(["query", "text"], "query"), roles_among(["qid", "query"], "query")
    (Roles(id='query', texts=('text',)), Roles(id='qid', texts=('query',)))
    """
    return _roles(tuple(map(str, names)), noun, needs_id)


def join_row(row: Mapping[str, Any], roles: Roles) -> str:
    """The texts of a row as one; a title that the text begins with stands once."""
    return join_texts([plain_text(row.get(name)) for name in roles.texts])


def join_texts(parts: Sequence[str]) -> str:
    """Title and text as one, each once."""
    kept = [" ".join(part.split()) for part in parts]
    kept = [part for part in kept if part]
    if len(kept) == 2 and kept[1].casefold().startswith(kept[0].rstrip(".").casefold()):
        return kept[1]
    return SEPARATOR.join(kept)


def plain_text(value: Any) -> str:
    """A value of JSON as text: lists are joined, null is no text."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list):
        return " ".join(map(plain_text, value))
    return json.dumps(value, ensure_ascii=False)


def id_of(value: Any, where: Callable[[], str]) -> str:
    """An id as a string; ``where()`` says what it is the id of."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if value is None or value == "":
        raise InputError(f"{where()}: no id")
    raise InputError(f"{where()}: {quote_value(value)} is not an id; ids are strings or integers")


def lines_of(raw: Raw) -> Iterator[tuple[int, bytes]]:
    """Each line that holds something, with its number; damage of a compressed file is told in one line."""
    try:
        with raw.unpack() as file:
            for number, line in enumerate(check_lines(raw.label, iter(partial(file.readline, LINE + 1), b"")), 1):
                text = (line.removeprefix(BOM) if number == 1 else line).strip(b"\r\n")
                if text and not text.isspace():
                    yield number, text
    except BROKEN as error:
        raw.fail(error)


def of_object(line: bytes) -> dict[str, Any] | None:
    """A line as an object; None where it is none."""
    try:
        value = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def of_jsonl(raw: Raw, selection: Selection, noun: str, roles: Roles) -> Iterator[tuple[str, str]]:
    """One object a line; ``roles`` are those of the first. A line whose id nobody asked for is not taken apart."""
    key = json.dumps(roles.id).encode()
    at = re.compile(re.escape(key) + rb'\s*:\s*(?:"([^"\\]*)"|(-?\d+)\s*[,}])')
    for number, line in lines_of(raw):
        if selection.ids is not None and line.count(key) == 1 and line.rstrip().endswith(b"}"):
            found = at.search(line)
            if found and not selection.wants(selection.text(found[1] if found[1] is not None else found[2]).strip()):
                continue
        where = f"{raw.label} line {words.count(number)}"
        value = of_object(line)
        if value is None:
            text = words.quote(line.decode("utf-8", "replace"))
            raise InputError(f"{where}: not a JSON object: {text}; is the file cut off, or a line broken in two?")
        own = roles if roles.id in value else roles_among(list(value), noun) or roles
        own = Roles(own.id, (roles_among(list(value), noun) or own).texts)
        one = id_of(value.get(own.id), lambda where=where: where)  # type: ignore[misc]
        if selection.wants(one):
            selection.text(line)
            yield one, join_row(value, own)


def separator_of(raw: Raw, noun: str) -> str | None:
    """What parts id and text in the first line: a tab before anything else, unless the name says CSV; None where nothing does."""
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
    """Where id and text stand, and whether this first row is a header."""
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
    """Lines parted at tabs: a quote is a quote, unless it stands around a whole cell."""
    for number, line in lines_of(raw):
        yield number, [_unquote(cell) for cell in selection.text(line).split("\t")]


def _unquote(cell: str) -> str:
    if len(cell) < 2 or cell[0] != '"' or cell[-1] != '"':
        return cell
    inside = cell[1:-1].replace('""', "")
    return cell[1:-1].replace('""', '"') if '"' not in inside else cell


def _short_lines(label: str, text: io.TextIOWrapper) -> Iterator[str]:
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
        raise InputError(f"{raw.label} line {words.count(last + 1)}: {error}; {remedy}") from error
    except BROKEN as error:
        raw.fail(error)
    finally:
        csv.field_size_limit(limit)


BLOCK = 1 << 22
LONGEST = 1 << 28  # bytes of one record: what is longer was never closed
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
    """One topic or document: the line it begins on, its mark, and what stands between its marks."""

    line: int
    name: bytes
    own: bytes
    body: bytes


def has_marks(head: bytes) -> bool:
    r"""Whether a file begins like TREC topics or documents, or like XML.

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
    found = None if record.name == b"doc" else _OWN_ID.search(record.own)
    data = found[1] if found else _inner_id(record.body)
    one = _unescape(selection.text(data)).strip()
    if not one:
        mark = record.name.decode()
        raise InputError(f"{label} line {words.count(record.line)}: a <{mark}> without an id; {EXAMPLE[record.name]}")
    return one


def _inner_id(body: bytes) -> bytes:
    """The id between marks: a DOCID beside a DOCNO is the collection's own business."""
    second = b""
    for found in _ID.finditer(body):
        label = _ID_LABEL.match(found[2])
        one = found[2][label.end() if label else 0 :].strip()
        if one and found[1].lower() != b"docid":
            return one
        second = second or one
    return second


def _records(raw: Raw) -> Iterator[_Record]:
    """Each record of a file, read in blocks; InputError for one that is never closed, and where there is none."""
    buffer, line, at, number = b"", 1, 0, 0
    sought, hidden = 0, False  # how far the end of the record at ``at`` was looked for; whether a comment is open there
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
                hidden = False
                continue
            line += buffer.count(b"\n", at, opened.start())
            at = opened.start()
            if opened[1] is None:
                hidden, at = True, opened.end()
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
    rest = None if hidden else _OPEN.search(buffer, at)
    if rest is not None and rest[1] is not None:
        line += buffer.count(b"\n", at, rest.start())
        _refuse_open(f"{raw.label} line {words.count(line)}", rest[1])
    if not number:
        first = buffer.removeprefix(BOM).strip()[:60].decode("utf-8", "replace").split("\n")[0]
        raise InputError(f"{raw.label}: begins with {words.quote(first)} and holds no <top>, <topic> or <DOC>")


def _end_of(buffer: bytes, opened: re.Match[bytes], start: int, where: str) -> re.Match[bytes] | None:
    """The mark that closes a record, looked for from ``start``; None where that is yet to be read."""
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
            while block := file.read(BLOCK):
                yield block
    except BROKEN as error:
        raw.fail(error)


def _topic(text: str) -> str:
    """The title of a topic, then its question or description; where it has neither, all that it says."""
    parts = _parts(text)
    title = next((parts[name] for name in TAGS_OF_TITLES if parts.get(name)), "")
    question = next((parts[name] for name in QUESTIONS if parts.get(name)), "")
    if title or question:
        return join_texts([title, question])
    return " ".join(said for name, said in parts.items() if name not in NAMES and said)


def _parts(text: str) -> dict[str, str]:
    """What stands after each mark, up to the next mark of any name; labels such as Number: are left out."""
    parts: dict[str, list[str]] = {}
    name, at = "", 0
    kept = _shown(text)
    for mark in [*_MARK.finditer(kept), None]:
        said = _LABEL.sub("", kept[at : mark.start() if mark else len(kept)])
        parts.setdefault(name, []).extend(_unescape(said).split())
        if mark is None:
            break
        name, at = ("" if mark[1] else mark[2].lower()), mark.end()
    return {name: " ".join(said) for name, said in parts.items()}


def _enclosed(
    text: str, opening: re.Pattern[str], closing: Callable[[str], re.Pattern[str]]
) -> Iterator[tuple[int, int, int, int]]:
    """Where each mark and the first one that closes it begin and end; ``closing`` is told what the first group of ``opening`` holds.

    A mark that nothing closes is passed over. The text is read once: that nothing closes such a mark is looked up once for all that follow.
    """
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


def _replace(text: str, found: Iterable[tuple[int, int, int, int]], by: Callable[[str], str]) -> str:
    """The text with other words in the place of what marks enclose, the marks included."""
    parts, at = [], 0
    for start, inner, outer, end in found:
        parts += [text[at:start], by(text[inner:outer])]
        at = end
    return "".join([*parts, text[at:]])


@lru_cache(maxsize=64)
def _opening(name: str) -> re.Pattern[str]:
    return re.compile(rf"<{name}(?:\s[^<>]*)?>", _I)


@lru_cache(maxsize=64)
def _closing(name: str) -> re.Pattern[str]:
    """What closes a mark; that of a comment has no name."""
    return re.compile(rf"</{name}\s*>", _I) if name else _COMMENT_END


def _shown(text: str) -> str:
    """The text without comments, scripts and headers; what stands in CDATA as text."""
    text = _replace(text, _enclosed(text, _HIDDEN, _closing), lambda _: " ") if "<" in text else text
    return _replace(text, _enclosed(text, _RAW, lambda _: _RAW_END), html.escape) if "<!" in text else text


def _document(text: str) -> str:
    """The title of a document, then its text: what stands in <TEXT>, or all but its id where there is none."""
    text = _shown(text)
    title = next((said for name in TAGS_OF_TITLES if (said := _inside(text, name))), "")
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
    """Characters in the place of their names and numbers; a number of a thousand digits stays as it stands."""
    return html.unescape(_LONG_NUMBER.sub("&amp;#", text))


def of_smart(raw: Raw, selection: Selection) -> Iterator[tuple[str, str]]:
    """Records that begin with ``.I id``: the title (.T) and the text (.W) of each."""
    one, kept, part = "", False, b""
    said: dict[bytes, list[str]] = {}
    for number, line in lines_of(raw):
        if line.startswith(b".I ") or line == b".I":
            if kept:
                yield one, _of_parts(said)
            one, part, said = selection.text(line[2:]).strip(), b"", {}
            if not one:
                raise InputError(f"{raw.label} line {words.count(number)}: .I without an id")
            kept = selection.wants(one)
        elif len(line.rstrip()) == 2 and line[:1] == b"." and line[1:2].isupper():
            part = line[1:2]
        elif kept:
            said.setdefault(part, []).append(selection.text(line))
    if kept:
        yield one, _of_parts(said)


def _of_parts(said: dict[bytes, list[str]]) -> str:
    return join_texts([" ".join(said.get(b"T", [])), " ".join(said.get(b"W", []))])


Noun = Literal["document", "query"]
MANY = {"document": "documents", "query": "queries"}
EXPECTED = "texts are TSV or CSV (id, text), JSONL with an id and a text (as of BEIR), TREC topics or TREC documents"
TAKEN = "a path, a dict {id: text} or a data frame with an id and a text"


@dataclass(frozen=True, eq=False)
class Texts:
    """The texts that were found, ``by_id``; ``notes`` say how they were read, ``source`` where from."""

    label: str
    by_id: Mapping[str, str]
    notes: tuple[str, ...] = ()
    source: Source = field(default_factory=lambda: Source("texts"))


def texts_of(source: Any, ids: Iterable[str] | None = None, noun: Noun = "document") -> Texts:
    """Read texts of documents or queries; only those of ``ids``, where these are given.

    ``source`` is a path, a dict ``{id: text}`` (or of BEIR: ``{id: {"title": ..., "text": ...}}``), or a data frame. Files are read
    from front to back, and no further than the last text that was asked for; what nobody asked for is not kept. A title stands before
    its text. Of an id that comes twice the first text is taken. Ids are strings, as they stand: ``01`` is not ``1``. ``noun`` says
    what the texts are of, for messages and for tables with ids of both kinds.

    Raises InputError for what cannot be read, and where no id of the source is one of ``ids``.

    >>> found = texts_of({"d1": "Tides", "d2": {"title": "Moon", "text": "It pulls."}}, ["d2", "d3"])
    >>> dict(found.by_id), found.notes
    ({'d2': 'Moon · It pulls.'}, ('read texts of documents from a dict: 1 of 2 documents shown has one',))
    """
    if isinstance(source, Texts):
        return source
    selection = Selection(None if ids is None else frozenset(map(str, ids)))
    if is_path(source):
        raw = open_raw(source, EXPECTED)
        kind, pairs = _of_file(raw, selection, noun)
        place = raw.source(f"{kind} texts")
    else:
        kind, pairs = _in_memory(source, selection, noun)
        place = Source(f"texts of {MANY[noun]}", kind)
    by_id = _gather(pairs, selection)
    if selection.ids and not by_id and selection.first_ids:
        _refuse_strangers(place.label, selection, noun)
    if not selection.first_ids and not by_id:
        what = EXPECTED if place.sha256 else f"give {TAKEN}"
        raise InputError(f"{place.label}: no text in {'it' if place.sha256 else kind}; {what}")
    said = f"{place.label} as {place.kind}" if place.sha256 else f"texts of {MANY[noun]} from {kind}"
    notes = (f"read {said}: {_count(by_id, selection, noun)}", *selection.remarks)
    place = Source(place.label, place.kind, place.path, notes=notes, sha256=place.sha256)
    return Texts(place.label, by_id, notes, place)


def _gather(pairs: Iterator[tuple[str, str]], selection: Selection) -> dict[str, str]:
    """The texts asked for, each the first of its id; stops once all are there."""
    by_id: dict[str, str] = {}
    again = 0
    for one, text in pairs:
        if one in by_id:
            again += 1
            continue
        by_id[one] = text.encode("utf-8", "replace").decode("utf-8")  # halves of characters can be written nowhere
        if selection.ids is not None and len(by_id) == len(selection.ids):
            break
    if again:
        said = f"{words.counted(again, 'text has', 'texts have')} an id that stood before: the first is taken"
        selection.remarks.append(said)
    if selection.not_utf8:
        selection.remarks.append("some bytes are not UTF-8 text: they are shown as �")
    return by_id


def _count(by_id: Mapping[str, str], selection: Selection, noun: Noun) -> str:
    if selection.ids is None:
        return words.counted(len(by_id), noun)
    verb = words.agree(len(by_id), "has")
    return f"{words.count(len(by_id))} of {words.counted(len(selection.ids), noun)} shown {verb} one"


def _refuse_strangers(label: str, selection: Selection, noun: Noun) -> None:
    asked = sorted(selection.ids or ())
    raise InputError(
        f"{label}: no text of a {noun} that is shown: it has ids like {words.listing(map(repr, selection.first_ids), 3)}, the {MANY[noun]} are "
        f"{words.listing((repr(one) for one in asked), 3)}; is it the file of these {MANY[noun]}?"
    )


def _of_file(raw: Raw, selection: Selection, noun: Noun) -> tuple[str, Iterator[tuple[str, str]]]:
    """What a file is, told by how it begins, and its texts."""
    head = raw.head.removeprefix(BOM).lstrip()
    if raw.head.startswith(b"PAR1"):
        file = open_parquet(raw)
        file.check(file.names)
        return "Parquet", _of_frame(file.scan, raw.label, selection, noun, file.collect)
    if head[:1] in {b"{", b"["}:
        return _of_json(raw, head, selection, noun)
    if has_marks(head):
        return "TREC", texts_of_marks(raw, selection)
    if head.startswith(b".I "):
        return "SMART", of_smart(raw, selection)
    separator = separator_of(raw, noun)
    if separator is None:
        said = f"{raw.label} line 1: {words.quote(raw.first_line.strip())} is no id with a text"
        raise InputError(f"{said}; {EXPECTED}")
    return ("TSV" if separator == "\t" else "CSV"), texts_of_columns(raw, separator, selection, noun)


def _of_json(raw: Raw, head: bytes, selection: Selection, noun: Noun) -> tuple[str, Iterator[tuple[str, str]]]:
    """One object a line, one object of all texts, or a list of objects."""
    first = of_object(head.split(b"\n", 1)[0])
    roles = None if first is None else roles_among(list(first), noun)
    if roles is not None:
        return "JSONL", of_jsonl(raw, selection, noun, roles)
    data = raw.read().removeprefix(BOM).decode("utf-8", "replace")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        if first is not None:
            keys = words.listing(map(repr, first)) or "none"
            said = f"{raw.label} line 1: no id and text among the keys {keys}; such are _id and text, or doc_id and contents"
            raise InputError(said) from error
        where = f" line {words.count(error.lineno)}" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(f"{raw.label}{where}: not JSON ({getattr(error, 'msg', error)}); {EXPECTED}") from error
    read = _of_mapping if isinstance(value, dict) else _of_list
    return "JSON", read(value, raw.label, selection, noun)


def _in_memory(source: Any, selection: Selection, noun: Noun) -> tuple[str, Iterator[tuple[str, str]]]:
    if isinstance(source, Mapping):
        return "a dict", _of_mapping(source, "texts", selection, noun)
    if isinstance(source, list | tuple):
        return "a list", _of_list(source, "texts", selection, noun)
    if speaks_arrow(source) and not isinstance(source, pl.Series):
        return "a data frame", _of_frame(frame_of(source, "texts").lazy(), "texts", selection, noun)
    raise InputError(f"texts cannot be read from {type(source).__name__}; taken are {TAKEN}")


def _of_mapping(source: Mapping[Any, Any], label: str, selection: Selection, noun: Noun) -> Iterator[tuple[str, str]]:
    for key, value in source.items():
        one = id_of(key, lambda key=key: f"{label}: the id {quote_value(key)}")  # type: ignore[misc]
        if not selection.wants(one):
            continue
        if isinstance(value, Mapping):
            roles = roles_among(list(value), noun, needs_id=False)
            if roles is None:
                keys = words.listing(map(repr, value)) or "none"
                raise InputError(f"{label}, {words.quote(one)}: no text among the keys {keys}; call it text")
            yield one, join_row(value, roles)
        elif isinstance(value, str | list | None):
            yield one, plain_text(value)
        else:
            raise InputError(f"{label}, {words.quote(one)}: {quote_value(value)} is no text; {TAKEN}")


def _of_list(source: Any, label: str, selection: Selection, noun: Noun) -> Iterator[tuple[str, str]]:
    for number, value in enumerate(source, 1):
        roles = roles_among(list(value), noun) if isinstance(value, Mapping) else None
        where = f"{label} entry {words.count(number)}"
        if roles is None:
            raise InputError(f"{where}: {quote_value(value)} has no id and text, like _id and text")
        one = id_of(value.get(roles.id), lambda said=f"{where}: {roles.id}": said)  # type: ignore[misc]
        if selection.wants(one):
            yield one, join_row(value, roles)


def _of_frame(
    scan: pl.LazyFrame, label: str, selection: Selection, noun: Noun, collect: Collect = pl.LazyFrame.collect
) -> Iterator[tuple[str, str]]:
    """A table: only the rows asked for leave it."""
    names = scan.collect_schema().names()
    roles = roles_among(names, noun)
    if roles is None:
        own = "query_id" if noun == "query" else "doc_id"
        said = f"{label}: no columns of ids and texts among {words.listing(names) or 'none'}"
        raise InputError(f"{said}; call them {own} and text")
    heads = collect(scan.select(roles.id).head(3))[roles.id]
    for one in id_column(heads, roles.id, label, Findings()).to_list():
        selection.wants(str(one))
    columns = list(dict.fromkeys([roles.id, *roles.texts]))
    frame = _keep(scan.select(columns), roles.id, label, selection, collect)
    for number, row in enumerate(frame.iter_rows(named=True), 1):
        if row[roles.id] in {None, ""}:
            raise InputError(f"{label} row {words.count(number)}: no id (column {roles.id} is empty)")
        yield row[roles.id], join_row(row, roles)


def _keep(scan: pl.LazyFrame, key: str, label: str, selection: Selection, collect: Collect) -> pl.DataFrame:
    if scan.collect_schema()[key] != pl.String:
        frame = collect(scan)
        scan = frame.with_columns(id_column(frame[key], key, label, Findings()).alias(key)).lazy()
    if selection.ids is None:
        return collect(scan)
    asked = pl.Series(sorted(selection.ids), dtype=pl.String).implode()
    return collect(scan.filter(pl.col(key).is_in(asked)))
