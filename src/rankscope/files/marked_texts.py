"""Texts between marks: TREC topics and documents, old and new, and the SMART format of Cranfield.

Old topics are no XML (their marks are never closed), so nothing here is parsed as XML: marks are looked for, and what stands between
them is the text. A document type is passed over, so that no entity is ever declared, expanded or fetched.
"""

from __future__ import annotations

import html
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.raw import BOM, Raw
from rankscope.files.text_lines import Wanted, joined_texts, lines_of, stream_of

BLOCK = 1 << 22
LONGEST = 1 << 28  # bytes of one record: what is longer was never closed
_I = re.IGNORECASE
_OPEN = re.compile(rb"<(topic|top|doc)(\s[^<>]*)?>|<!--", _I)
_CLOSE = {name: re.compile(rb"</" + name + rb"\s*>", _I) for name in (b"topic", b"top", b"doc")}
_AGAIN = {name: re.compile(rb"<" + name + rb"(\s[^<>]*)?>", _I) for name in (b"topic", b"top", b"doc")}
_ID = re.compile(
    rb"<(docno|docid|num|number|qid|id)(?:\s[^<>]*)?>\s*(?:(?:Number|Topic)\s*:)?\s*([^<>]*?)\s*(?=<|$)", _I
)
_OWN_ID = re.compile(rb"\b(?:number|num|id|qid|docno)\s*=\s*[\"']([^\"']*)[\"']", _I)
_MARK = re.compile(r"<(/?)([A-Za-z][\w:.-]*)(?:\s[^<>]*)?/?>")
_LABEL = re.compile(r"^\s*(?:Topic|Title|Description|Narrative|Query)\s*:", _I)
_HIDDEN = re.compile(r"<!--.*?-->|<(script|style|dochdr)\b[^<>]*>.*?</\1\s*>", _I | re.DOTALL)
_RAW = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
TITLES = ("title", "query", "headline", "head", "ttl", "hl")
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


def is_marked(head: bytes) -> bool:
    r"""Whether a file begins like TREC topics or documents, or like XML.

    >>> is_marked(b"<top>"), is_marked(b"<?xml version='1.0'?>"), is_marked(b"1\t<b>bold</b>")
    (True, True, False)
    """
    return re.match(rb"<[A-Za-z?!]", head) is not None


def of_marked(raw: Raw, wanted: Wanted) -> Iterator[tuple[str, str]]:
    """The topics or documents of a file: ids and texts."""
    for record in _records(raw):
        one = _id_of(record, raw.label, wanted)
        if wanted.wants(one):
            text = wanted.text(record.body)
            yield one, _document(text) if record.name == b"doc" else _topic(text)


def _id_of(record: _Record, label: str, wanted: Wanted) -> str:
    found = None if record.name == b"doc" else _OWN_ID.search(record.own)
    data = found[1] if found else _inner_id(record.body)
    one = html.unescape(wanted.text(data)).strip()
    if not one:
        mark = record.name.decode()
        raise InputError(
            f"{label} line {words.count(record.line)}: a <{mark}> without an id; {EXAMPLE[record.name]}"
        )
    return one


def _inner_id(body: bytes) -> bytes:
    """The id between marks: a DOCID beside a DOCNO is the collection's own business."""
    second = b""
    for found in _ID.finditer(body):
        if found[2] and found[1].lower() != b"docid":
            return found[2]
        second = second or found[2]
    return second


def _records(raw: Raw) -> Iterator[_Record]:
    """Each record of a file, read in blocks; InputError for one that is never closed, and where there is none."""
    buffer, line, at, number = b"", 1, 0, 0
    for block in _blocks(raw):
        buffer = buffer[at:] + block
        at = 0
        while True:
            opened = _OPEN.search(buffer, at)
            if opened is None:
                passed = max(at, buffer.rfind(b"<"))  # a mark may be cut in two
                line += buffer.count(b"\n", at, passed)
                at = passed
                break
            line += buffer.count(b"\n", at, opened.start())
            at = opened.start()
            end = _end_of(buffer, opened, f"{raw.label} line {words.count(line)}")
            if end is None:
                break
            if opened[1] is not None:
                number += 1
                name = opened[1].lower()
                body = buffer[opened.end() : end[0]]
                yield _Record(line, name, opened[2] or b"", body)
            line += buffer.count(b"\n", at, end[1])
            at = end[1]
    rest = _OPEN.search(buffer, at)
    if rest is not None and rest[1] is not None:
        line += buffer.count(b"\n", at, rest.start())
        _refuse_open(f"{raw.label} line {words.count(line)}", rest[1])
    if not number:
        first = buffer.removeprefix(BOM).strip()[:60].decode("utf-8", "replace").split("\n")[0]
        raise InputError(
            f"{raw.label}: begins with {words.quote(first)} and holds no <top>, <topic> or <DOC>"
        )


def _end_of(buffer: bytes, opened: re.Match[bytes], where: str) -> tuple[int, int] | None:
    """Where a record ends, and where its closing mark ends; None where that is yet to be read."""
    if opened[1] is None:
        end = buffer.find(b"-->", opened.end())
        return (end, end + 3) if end >= 0 else None
    name = opened[1].lower()
    closed = _CLOSE[name].search(buffer, opened.end())
    last = closed.start() if closed else len(buffer)
    if _AGAIN[name].search(buffer, opened.end(), last) or last - opened.start() > LONGEST:
        _refuse_open(where, opened[1])
    return (closed.start(), closed.end()) if closed else None


def _refuse_open(where: str, name: bytes) -> None:
    mark = name.decode()
    raise InputError(f"{where}: <{mark}> is never closed by </{mark}>; is the file cut off?")


def _blocks(raw: Raw) -> Iterator[bytes]:
    try:
        with stream_of(raw) as file:
            while block := file.read(BLOCK):
                yield block
    except (OSError, EOFError, zlib.error) as error:
        raw.fail(error)


# --- what a record says ----------------------------------------------------------------------------------


def _topic(text: str) -> str:
    """The title of a topic, then its question or description; where it has neither, all that it says."""
    parts = _parts(text)
    title = next((parts[name] for name in TITLES if parts.get(name)), "")
    question = next((parts[name] for name in QUESTIONS if parts.get(name)), "")
    if title or question:
        return joined_texts([title, question])
    return " ".join(said for name, said in parts.items() if name not in NAMES and said)


def _parts(text: str) -> dict[str, str]:
    """What stands after each mark, up to the next mark of any name; labels such as Number: are left out."""
    parts: dict[str, str] = {}
    text = _HIDDEN.sub(" ", text)
    name, at = "", 0
    kept = _RAW.sub(lambda found: html.escape(found[1]), text)
    for mark in [*_MARK.finditer(kept), None]:
        said = _LABEL.sub("", kept[at : mark.start() if mark else len(kept)])
        said = " ".join(html.unescape(said).split())
        parts[name] = " ".join(filter(None, [parts.get(name, ""), said]))
        if mark is None:
            break
        name, at = ("" if mark[1] else mark[2].lower()), mark.end()
    return parts


def _document(text: str) -> str:
    """The title of a document, then its text: what stands in <TEXT>, or all but its id where there is none."""
    text = _RAW.sub(lambda found: html.escape(found[1]), _HIDDEN.sub(" ", text))
    title = next((said for name in TITLES if (said := _inside(text, name))), "")
    body = _inside(text, "text")
    if not body:
        for name in (*NAMES, *TITLES):
            text = re.sub(rf"<{name}(?:\s[^<>]*)?>.*?</{name}\s*>", " ", text, flags=_I | re.DOTALL)
        body = text
    return joined_texts([_plain(title), _plain(body)])


def _inside(text: str, name: str) -> str:
    found = re.findall(rf"<{name}(?:\s[^<>]*)?>(.*?)</{name}\s*>", text, _I | re.DOTALL)
    return " ".join(found)


def _plain(text: str) -> str:
    return html.unescape(_MARK.sub(" ", text))


# --- SMART -------------------------------------------------------------------------------------------------


def of_smart(raw: Raw, wanted: Wanted) -> Iterator[tuple[str, str]]:
    """Records that begin with ``.I id``: the title (.T) and the text (.W) of each."""
    one, kept, part = "", False, b""
    said: dict[bytes, list[str]] = {}
    for number, line in lines_of(raw):
        if line.startswith(b".I ") or line == b".I":
            if kept:
                yield one, _of_parts(said)
            one, part, said = wanted.text(line[2:]).strip(), b"", {}
            if not one:
                raise InputError(f"{raw.label} line {words.count(number)}: .I without an id")
            kept = wanted.wants(one)
        elif len(line.rstrip()) == 2 and line[:1] == b"." and line[1:2].isupper():
            part = line[1:2]
        elif kept:
            said.setdefault(part, []).append(wanted.text(line))
    if kept:
        yield one, _of_parts(said)


def _of_parts(said: dict[bytes, list[str]]) -> str:
    return joined_texts([" ".join(said.get(b"T", [])), " ".join(said.get(b"W", []))])
