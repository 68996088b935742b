"""JSON: the one reader of objects in lines and of whole files; runs and judgments as objects.

Polars decodes a part of JSON lines if nothing in it is odd; otherwise Python reads it line by line and names the faults. Both follow one
rule: a number is a JSON number or a string that holds one; an id is a string or a whole number; a key in use comes once.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NoReturn, cast

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import EXACT, FLOAT_NOTE, FLOAT_REMEDY, ReaderNotes, is_text, make_table
from rankscope.files.memory import DICTS, Pairs, is_half, number_of, pairs_of, quote_value, read_dict
from rankscope.files.parts import QueryPlace, RunFormat, RunParts, cut, piece_size, table_parts
from rankscope.files.raw import BOM, BROKEN, LINE, UNREADABLE, Raw, check_lines
from rankscope.files.roles import PLAIN_NAMES, roles_of
from rankscope.parallel import map_parts
from rankscope.tables import Array, Qrels, Run
from rankscope.words import plain_name

NUMBERS = ("score", "grade", "rank")
OPTIONAL = ("tag", "iteration")
ESCAPED_KEY = re.compile(rb'\\.[^"\\]*"\s*:')
HALF_CHARACTER = re.compile(rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]")
NO_ID = rb"\s*:\s*(?:-?[0-9]+[.eE]|true|false|\[|\{)"
Hook = Callable[[list[tuple[str, Any]]], Any]

# --- JSON of any content --------------------------------------------------------------------------------------------


def object_of(line: str | bytes, hook: Hook = pairs_of) -> Mapping[str, Any] | None:
    """Return the object in a line; None without one."""
    try:  # json would guess the encoding of bytes
        text = line.decode("utf-8") if isinstance(line, bytes) else line
        value = json.loads(text, object_pairs_hook=hook)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Mapping) else None


def lines_of(raw: Raw) -> Iterator[tuple[int, bytes]]:
    """Yield each line with content and its number, while the file is unpacked. Raises InputError for a damaged archive."""
    try:
        with raw.unpack() as file:
            for number, line in enumerate(check_lines(raw.label, iter(partial(file.readline, LINE + 1), b"")), 1):
                text = (line.removeprefix(BOM) if number == 1 else line).strip(b"\r\n")
                if text and not text.isspace():
                    yield number, text
    except BROKEN as error:
        raw.fail(error)


def objects_of(raw: Raw, hook: Hook = pairs_of) -> tuple[list[Mapping[str, Any]], list[int]]:
    """Return the objects of a file of JSON lines, and the line of each. Raises InputError for a line that is not an object."""
    data = raw.text().removeprefix(BOM)
    if not is_text(data):
        raw.fail(UnicodeError("not UTF-8"))
    objects, lines = list[Mapping[str, Any]](), list[int]()
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        value = object_of(line, hook)
        if value is None:
            refuse_line(raw, number, line)
        objects.append(value)
        lines.append(number)
    return objects, lines


def refuse_line(raw: Raw, number: int, line: bytes) -> NoReturn:
    """Raise InputError for a line that is not a JSON object."""
    text = words.quote(line.strip().decode("utf-8", "replace"))
    remedy = "is the file cut off, or a line broken in two?"
    raise InputError(f"{raw.label} line {words.count(number)}: not a JSON object: {text}; {remedy}")


def json_of(raw: Raw, hook: Hook = pairs_of) -> Any:
    """Return the value of a whole file. Raises InputError if it is not JSON."""
    try:
        return json.loads(raw.read().removeprefix(BOM).decode("utf-8"), object_pairs_hook=hook)
    except UnicodeDecodeError as error:
        raw.fail(error)
    except RecursionError:
        text, place = "nested too deeply", ""
    except ValueError as error:
        text = f"not JSON ({getattr(error, 'msg', error)})"
        place = f" line {words.count(error.lineno)}" if isinstance(error, json.JSONDecodeError) else ""
    raise InputError(f"{raw.label}{place}: {text}")


def is_json_lines(raw: Raw) -> bool:
    """True for a file named so, and if the first line is a whole object with a plain value, as a row has."""
    start, named = raw.head.removeprefix(BOM).lstrip(), raw.ending in JsonLines.endings
    if start[:1] != b"{" or named:
        return named and start[:1] != b"["
    value = object_of(start.split(b"\n", 1)[0])
    return value is not None and not all(isinstance(item, Mapping | list) for item in value.values())


# --- runs and judgments ---------------------------------------------------------------------------------------------


def keys_of(raw: Raw) -> list[str]:
    """Return the keys of the first objects in order of appearance. Raises InputError if there are none."""
    keys: dict[str, None] = {}
    for line in raw.head.removeprefix(BOM).split(b"\n")[:200]:
        keys |= dict.fromkeys(object_of(line) or {})
    if not keys:
        text = f"not a JSON object: {words.quote(raw.first_line)}"
        raise InputError(f"{raw.label} line 1: {text}; JSONL has one object per line")
    return list(keys)


class JsonLines(RunFormat):
    """One JSON object per line, with the names of columns as keys."""

    name, endings, begins = "jsonl", (".jsonl", ".ndjson"), (b"{",)

    def recognises(self, raw: Raw) -> bool:
        """Accept a file named so, or with a whole object in the first line."""
        return is_json_lines(raw)

    def read(self, raw: Raw, what: str, name: str | None) -> Run | Qrels:
        """Read one JSON object per line."""
        notes = ReaderNotes()
        roles = roles_of(keys_of(raw), what, raw.label, notes.notes, raw.columns)
        parts = iter([raw.text]) if raw.is_small else cut(raw, _place(roles))
        source, lines = raw.source(f"JSONL {what}"), partial(_content_lines, raw)
        read = list(map_parts(partial(_part, roles), parts))
        plain_rows = [part for part, _ in read if isinstance(part, pl.DataFrame)]
        if len(plain_rows) == len(read):
            return make_table(pl.concat(plain_rows, rechunk=True), roles, source, notes, what, name, lines)
        odd = _OddRows(raw, roles, notes)
        frame = odd.rows(read)
        faults = list(odd.faults.values())
        notes.fault_rows(raw.label, np.arange(len(faults)), lambda i: ("json", faults[i][1]), lambda i: faults[i][0])
        left_out = np.array(list(odd.faults), dtype=np.int64)
        return make_table(frame, roles, source, notes, what, name, lines, left_out)

    def parts(self, raw: Raw, name: str | None) -> RunParts:
        """Return a run to be read in parts."""
        notes = ReaderNotes()
        roles = roles_of(keys_of(raw), "run", raw.label, notes.notes, raw.columns)

        def frames(pieces: int | None) -> Iterator[Callable[[], pl.DataFrame | None]]:
            parts = cut(raw, _place(roles), piece_size(raw, pieces))
            return (partial(lambda part: plain(part(), roles), part) for part in parts)

        whole = partial(self.read, raw, "run", name)
        return table_parts(raw, "JSONL run", name, roles, notes, frames, lambda: cast("Run", whole()))


def _part(roles: Mapping[str, str], part: Callable[[], bytes]) -> tuple[pl.DataFrame | bytes, int]:
    """Return the rows of a part, or its bytes if anything is odd, and its number of lines."""
    data = part()
    rows = plain(data, roles)
    return data if rows is None else rows, data.count(b"\n")


def plain(data: bytes, roles: Mapping[str, str]) -> pl.DataFrame | None:
    """Decode a part in which nothing is odd, numbers as numbers; None if anything may be."""
    data = data.removeprefix(BOM)
    if not is_text(data) or (b"\\" in data and (ESCAPED_KEY.search(data) or HALF_CHARACTER.search(data))):
        return None
    frame = _decode(data, {name: pl.Float64 if role in NUMBERS else pl.String for role, name in roles.items()})
    if frame is None:  # numbers may be strings
        frame = _decode(data, dict.fromkeys(roles.values(), pl.String))
        if frame is None:
            return None
        numbers = [name for role, name in roles.items() if role in NUMBERS]
        frame = frame.with_columns(pl.col(numbers).str.strip_chars().cast(pl.Float64, strict=False))
    for role, name in roles.items():
        if role not in OPTIONAL and frame[name].null_count():
            return None
        key = json.dumps(name, ensure_ascii=False).encode()
        if data.count(key) != len(frame):  # it comes twice, is missing, or is a value as well
            return None
        if role not in NUMBERS and not _all_texts(data, key, len(frame)) and re.search(re.escape(key) + NO_ID, data):
            return None
    return None if "grade" in roles and frame[roles["grade"]].is_nan().any() else frame


def _all_texts(data: bytes, key: bytes, rows: int) -> bool:
    """True if this key has a string in every row, written as in the first."""
    at = data.find(key) + len(key)
    sign = next((sign for sign in (b':"', b': "') if data.startswith(sign, at)), None)
    return sign is not None and data.count(key + sign) == rows


def _decode(data: bytes, schema: Mapping[str, Any]) -> pl.DataFrame | None:
    try:
        return pl.scan_ndjson(io.BytesIO(data), schema=schema, low_memory=True).select(*schema).collect()
    except UNREADABLE:
        return None


@dataclass
class _OddRows:
    """Rows read one by one; ``faults`` has line and message of each faulty row."""

    raw: Raw
    roles: Mapping[str, str]
    notes: ReaderNotes
    faults: dict[int, tuple[int, str]] = field(default_factory=dict)
    floats: dict[str, None] = field(default_factory=dict)

    def rows(self, read: list[tuple[pl.DataFrame | bytes, int]]) -> pl.DataFrame:
        frames, row, line = [], 0, 1
        for part, lines in read:
            if isinstance(part, bytes):
                if not is_text(part):
                    self.raw.fail(UnicodeError("not UTF-8"))
                frames.append(self._one_by_one(part.removeprefix(BOM), row, line))
            else:
                frames.append(part.with_columns(pl.col(pl.Float64).cast(pl.String)))
            row, line = row + len(frames[-1]), line + lines
        self.notes.notes += [f"{key} holds {FLOAT_NOTE}" for key in self.floats]
        return pl.concat(frames, rechunk=True)

    def _one_by_one(self, data: bytes, row: int, first: int) -> pl.DataFrame:
        columns: dict[str, list[str | None]] = {name: [] for name in self.roles.values()}
        for line, text in enumerate(data.split(b"\n"), first):
            if not text.strip():
                continue
            values = object_of(text)
            if values is None:
                self.faults[row] = (line, f"not a JSON object: {words.quote(text.strip().decode())}")
            elif isinstance(values, Pairs) and (twice := values.repeated(self.roles.values())):
                self.faults[row] = (line, f"the key {twice!r} comes twice in one object; keep one")
            for role, name in self.roles.items():
                value = None if row in self.faults else (values or {}).get(name)
                cell = self._cell(role, name, value, line)
                if half := cell is not None and is_half(cell):
                    self.faults[row] = line, f"{name} {quote_value(value)} holds half of a character (a lone surrogate)"
                columns[name].append(None if half else cell)
            row += 1
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))

    def _cell(self, role: str, name: str, value: Any, line: int) -> str | None:
        if value is None or isinstance(value, str):
            return value
        if role in NUMBERS:
            return json.dumps(int(value) if isinstance(value, bool) else value)
        if role in OPTIONAL or (isinstance(value, int) and not isinstance(value, bool)):
            return json.dumps(value)
        place = f"{self.raw.label} line {words.count(line)}"
        if isinstance(value, float) and value.is_integer():
            if abs(value) >= EXACT:
                raise InputError(f"{place}: {name} is {value}; {FLOAT_REMEDY}")
            self.floats[name] = None
            return str(int(value))
        raise InputError(f"{place}: {name} is {quote_value(value)}, not an id; ids are strings or integers")


def _content_lines(raw: Raw) -> Array:
    lines = raw.text().removeprefix(BOM).split(b"\n")
    return np.array([number for number, line in enumerate(lines, 1) if line.strip()], dtype=np.int64)


def _place(roles: Mapping[str, str]) -> QueryPlace:
    key = re.escape(json.dumps(roles["query_id"], ensure_ascii=False).encode())
    return QueryPlace(rb"[^\n]*?%s[ \t]*:[ \t]*" % key, rb'(?:"(?:[^"\\\n]|\\.)*"|[^\s,}"]+)', rb"(?=[\s,}])")


class Json(RunFormat):
    """One JSON object: ``{query: {document: number}}``."""

    name, endings, begins = "json", (".json",), (b"{", b"[")

    def recognises(self, raw: Raw) -> bool:
        """Accept a file that begins with a bracket, or is named so."""
        return True

    def read(self, raw: Raw, what: str, name: str | None) -> Run | Qrels:
        """Read one JSON object ``{query: {document: number}}``."""
        value = json_of(raw)
        if not isinstance(value, Mapping):
            kind, lines = "array" if isinstance(value, list) else "value", "(jq -c '.[]' turns an array into lines)"
            raise InputError(f"{raw.label}: a JSON {kind}; {DICTS[what]}, or one object per line {lines}")
        return read_dict(_merge(value, what, raw.label), what, name, raw)


def _merge(queries: Mapping[str, Any], what: str, label: str) -> dict[str, Any]:
    """Join the documents of queries with repeated keys."""
    out: dict[str, Any] = {}
    for query, value in queries.items():
        if query not in out:
            out[query] = value
        elif isinstance(value, Mapping) and isinstance(out[query], Mapping):
            out[query] = Pairs([*out[query].items(), *value.items()])
        elif what == "qrels" and isinstance(value, list) and isinstance(out[query], list):
            out[query] = [*out[query], *value]
        else:
            raise InputError(f"{label}: query {query!r} is there twice; put its documents into one list")
    return out


# --- rows with a list of documents each: a query and its documents in JSON lines, Parquet and data frames ---------------


# plain names of columns of lists, in singular; the first one found is taken
LISTS = {
    "run": (
        "retrieved", "retrievedid", "retrieveddoc", "retrieveddocid", "retrieveddocument", "retrievedcontextid", "result",
        "resultid", "prediction", "predicted", "recommendation", "recommended", "ranking", "ranked", "hit", "run",
    ),
    "qrels": (
        "relevant", "relevantid", "relevantdoc", "relevantdocid", "relevantdocument", "referencecontextid", "reference",
        "retrievalgt", "groundtruth", "expected", "expectedid", "target", "positive", "gold", "golddoc", "golddocid", "qrel",
    ),
}  # fmt: skip
ANY_LISTS = ("doc", "docs", "document", "id", "corpusid", *(f"{plain}s" for plain in PLAIN_NAMES["doc_id"]))
DOCUMENT_KEYS = (*PLAIN_NAMES["doc_id"], "id", "doc", "document")
NUMBER_KEYS = {"run": ("score",), "qrels": PLAIN_NAMES["grade"]}


class RankedLists(RunFormat):
    """JSON lines with one query and its list of documents per line."""

    name, endings, begins, holds = "lists", JsonLines.endings, JsonLines.begins, "jsonl"

    def recognises(self, raw: Raw) -> bool:
        """Accept JSON lines whose first object is a query with its documents."""
        if not is_json_lines(raw):
            return False
        first = _with_roles(object_of(raw.first_line) or {}, raw, "run")
        return holds_lists(list(first), list_keys(first))

    def read(self, raw: Raw, what: str, name: str | None) -> Run | Qrels:
        """Read one query with its documents per line."""
        objects, lines = objects_of(raw)
        places = [f"{raw.label} line {words.count(line)}" for line in lines]
        for value, place in zip(objects, places, strict=True):
            if isinstance(value, Pairs):
                raise InputError(f"{place}: the key {value.repeated(value)!r} comes twice in one object; keep one")
        rows = [_with_roles(value, raw, what) for value in objects]
        return read_dict(rankings_of(rows, what, iter(places)), what, name, raw, kind="JSONL")


def _with_roles(row: Mapping[str, Any], raw: Raw, what: str) -> Mapping[str, Any]:
    """Rename the keys to which the caller gave roles."""
    roles = {} if raw.columns is None else raw.columns.among([*row], what, raw.label)
    names = {name: role for role, name in roles.items()}
    return {names.get(name, name): value for name, value in row.items()} if names else row


def list_keys(row: Mapping[str, Any]) -> list[str]:
    """Return the keys of a row with a list, or with documents and their numbers."""
    return [key for key, value in row.items() if isinstance(value, list | tuple | Mapping | np.ndarray)]


def holds_lists(names: Sequence[str], lists: Sequence[str]) -> bool:
    """True if rows with these names have a query and its documents each; ``lists`` are the names of lists."""
    plain = {plain_name(name) for name in names}
    if not lists or any(known in plain.difference(map(plain_name, lists)) for known in PLAIN_NAMES["doc_id"]):
        return False
    return bool(plain.intersection(PLAIN_NAMES["query_id"])) or (len(names) == 1)


def rankings_of(rows: Iterable[Mapping[str, Any]], what: str, place: Iterator[str]) -> dict[str, Any]:
    """Return the documents of each query as a dict; ``place`` yields the place of each row for messages."""
    out: dict[Any, Any] = {}
    by_key: bool | None = None  # rows are {query: documents} if the first one is
    for row, at in zip(rows, place, strict=False):
        by_key = len(row) == 1 if by_key is None else by_key
        query, documents = next(iter(row.items())) if by_key and len(row) == 1 else _parts_of(row, what, at)
        documents = _documents_in(documents, what, at)
        if query in out:
            raise InputError(f"{at}: query {query!r} is there twice; put its documents into one list")
        out[query] = documents
    return out


def _parts_of(row: Mapping[str, Any], what: str, at: str) -> tuple[Any, Any]:
    lists = list_keys(row)
    by_plain = {plain_name(name): name for name in list(row)[::-1]}
    query = next((by_plain[name] for name in PLAIN_NAMES["query_id"] if name in by_plain), None)
    if query is None:
        raise InputError(f"{at}: no query_id among {words.listing(row)}")
    key = _list_key(lists, what, at)
    numbers = next((name for name in lists if plain_name(name).rstrip("s") in NUMBER_KEYS[what] and name != key), None)
    if numbers is None:
        return row[query], row[key]
    ids, values = row[key], row[numbers]
    if len(ids) != len(values):
        sizes = f"{key} has {words.counted(len(ids), 'document')}, {numbers} {len(values)}"
        raise InputError(f"{at}: {sizes}; give each a number")
    return row[query], _scored_documents(zip(ids, values, strict=True), at)


def _list_key(lists: Sequence[str], what: str, at: str) -> str:
    plain = {name: plain_name(name) for name in lists}
    if "doc_id" in plain:  # a role from the caller
        return "doc_id"
    for known in (LISTS[what], ANY_LISTS):
        fits = [name for name in lists if plain[name] in known or plain[name].removesuffix("s") in known]
        if len(fits) == 1:
            return fits[0]
        if fits:
            raise InputError(f"{at}: {words.listing(fits)} could each be the documents; keep one")
    other = LISTS["qrels" if what == "run" else "run"]
    rest = [n for n in lists if plain[n].removesuffix("s") not in (*other, *NUMBER_KEYS["run"], *NUMBER_KEYS["qrels"])]
    if len(rest) == 1:
        return rest[0]
    noun, wanted = ("a run", "retrieved_ids") if what == "run" else ("qrels", "relevant_ids")
    among = words.listing(lists) or "none"
    raise InputError(f"{at}: the list of documents for {noun} is missing among {among}: call it {wanted}")


def _documents_in(value: Any, what: str, at: str) -> Any:
    if value is None:
        return []
    if isinstance(value, Mapping):
        return value
    items = list(value)
    if not any(isinstance(item, Mapping) for item in items):
        return items
    pairs, ids = [], []
    for item in items:
        by_plain = {plain_name(name): name for name in list(item)[::-1]} if isinstance(item, Mapping) else {}
        key = next((by_plain[name] for name in DOCUMENT_KEYS if name in by_plain), None)
        if key is None:
            expected = f"which has a doc_id and perhaps a {NUMBER_KEYS[what][0]}"
            raise InputError(f"{at}: {quote_value(item)} is not a document, {expected}")
        number = next((by_plain[name] for name in NUMBER_KEYS[what] if name in by_plain), None)
        ids.append(item[key])
        pairs += [(item[key], item[number])] if number is not None else []
    if pairs and len(pairs) < len(ids):
        lacking = words.counted(len(ids) - len(pairs), "document has", "documents have")
        raise InputError(f"{at}: {lacking} no {NUMBER_KEYS[what][0]}, others do")
    return _scored_documents(pairs, at) if pairs else ids


def _scored_documents(pairs: Iterable[tuple[Any, Any]], at: str) -> dict[Any, Any]:
    out: dict[Any, Any] = {}
    for doc, value in pairs:
        if doc in out:
            raise InputError(f"{at}: document {doc!r} is there twice; keep one")
        if number_of(value) is None:
            raise InputError(f"{at}: document {doc!r} has {quote_value(value)}, which is not a number")
        out[doc] = value
    return out


def frame_rankings(data: pl.DataFrame, roles: Mapping[str, str], what: str, label: str) -> dict[str, Any] | None:
    """Return the documents of each query in a frame with a column of lists; None for a long table."""
    data = data.rename({name: role for role, name in roles.items()})
    lists = [name for name, kind in data.schema.items() if isinstance(kind, pl.List | pl.Array)]
    if not holds_lists(data.columns, lists):
        return None
    place = (f"{label} row {words.count(n)}" for n in range(1, len(data) + 1))
    return rankings_of(data.iter_rows(named=True), what, place)
