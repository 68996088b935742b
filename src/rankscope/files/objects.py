"""JSON lines, one object a line with the same names as columns have; and JSON, one object of queries.

Polars decodes a part where nothing is odd about it; else Python takes it line by line, and says what is wrong. Both follow one rule: a
number is a JSON number, or a string that holds one; an id is a string or a whole number; a key that is used comes once.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import EXACT, FLOAT_NOTE, FLOAT_REMEDY, Findings, is_text, make_table
from rankscope.files.memory import DICTS, Pairs, is_half, pairs_of, quote_value, read_dict
from rankscope.files.parts import PartFacts, QueryPlace, RunParts, cut, piece_size, table_part, table_parts
from rankscope.files.raw import BOM, UNREADABLE, Raw
from rankscope.files.roles import roles_of
from rankscope.parallel import map_parts
from rankscope.tables import Array, Qrels, Run

NUMBERS = ("score", "grade", "rank")
OPTIONAL = ("tag", "iteration")
ESCAPED_KEY = re.compile(rb'\\.[^"\\]*"\s*:')
HALF = re.compile(rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]")  # of a character
NO_ID = rb"\s*:\s*(?:-?[0-9]+[.eE]|true|false|\[|\{)"


def object_of(line: str | bytes) -> Mapping[str, Any] | None:
    """The object in a line; None where there is none."""
    try:  # of bytes json would guess the encoding
        text = line.decode("utf-8") if isinstance(line, bytes) else line
        value = json.loads(text, object_pairs_hook=pairs_of)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Mapping) else None


def is_jsonl(raw: Raw) -> bool:
    """Whether the first line is a whole object with plain values, as a row has."""
    first = raw.head.removeprefix(BOM).lstrip().split(b"\n", 1)[0]
    value = object_of(first)
    return value is not None and not all(isinstance(item, (Mapping, list)) for item in value.values())


def keys_of(raw: Raw) -> list[str]:
    """Keys of the first objects, in order of appearance. Raises InputError where there are none."""
    keys: dict[str, None] = {}
    for line in raw.head.removeprefix(BOM).split(b"\n")[:200]:
        keys |= dict.fromkeys(object_of(line) or {})
    if not keys:
        said = f"not a JSON object: {words.quote(raw.first_line)}"
        raise InputError(f"{raw.label} line 1: {said}; JSONL has one object a line")
    return list(keys)


def read_jsonl(raw: Raw, what: str, name: str | None) -> Run | Qrels:
    """Read one JSON object a line."""
    if _first_lists(raw, what):
        return _read_lists(raw, what, name)
    found = Findings()
    roles = roles_of(keys_of(raw), what, raw.label, found.notes, raw.columns)
    parts = iter([raw.text]) if raw.is_small else cut(raw, _place(roles))
    source, lines = raw.source(f"JSONL {what}"), partial(_content_lines, raw)
    read = list(map_parts(partial(_part, roles), parts))
    plain_rows = [part for part, _ in read if isinstance(part, pl.DataFrame)]
    if len(plain_rows) == len(read):
        return make_table(pl.concat(plain_rows, rechunk=True), roles, source, found, what, name, lines)
    broken = _Broken(raw, roles, found)
    frame = broken.rows(read)
    left_out = np.array(list(broken.faults), dtype=np.int64)
    line = [at for at, _ in broken.faults.values()]
    told = [("json", text) for _, text in broken.faults.values()]
    found.fault_rows(raw.label, np.arange(len(told)), lambda i: told[i], lambda i: line[i])
    return make_table(frame, roles, source, found, what, name, lines, left_out)


def _part(roles: Mapping[str, str], part: Callable[[], bytes]) -> tuple[pl.DataFrame | bytes, int]:
    """The rows of a part, or its bytes where they are to be taken one by one, and how many lines it has."""
    data = part()
    rows = plain(data, roles)
    return data if rows is None else rows, data.count(b"\n")


def plain(data: bytes, roles: Mapping[str, str]) -> pl.DataFrame | None:
    """The rows of a part in which nothing is odd, numbers as such; None where anything may be."""
    data = data.removeprefix(BOM)
    if not is_text(data) or (b"\\" in data and (ESCAPED_KEY.search(data) or HALF.search(data))):
        return None
    frame = _decode(data, {name: pl.Float64 if role in NUMBERS else pl.String for role, name in roles.items()})
    if frame is None:  # numbers that are strings, perhaps
        frame = _decode(data, dict.fromkeys(roles.values(), pl.String))
        if frame is None:
            return None
        numbers = [name for role, name in roles.items() if role in NUMBERS]
        frame = frame.with_columns(pl.col(numbers).str.strip_chars().cast(pl.Float64, strict=False))
    for role, name in roles.items():
        if role not in OPTIONAL and frame[name].null_count():
            return None
        key = json.dumps(name, ensure_ascii=False).encode()
        if data.count(key) != len(frame):  # comes twice, or not at all, or is a value, too
            return None
        if role not in NUMBERS and not _all_texts(data, key, len(frame)) and re.search(re.escape(key) + NO_ID, data):
            return None
    return None if "grade" in roles and frame[roles["grade"]].is_nan().any() else frame


def _all_texts(data: bytes, key: bytes, rows: int) -> bool:
    """Whether this key is seen to have a string in every row, written as in the first."""
    at = data.find(key) + len(key)
    sign = next((sign for sign in (b':"', b': "') if data.startswith(sign, at)), None)
    return sign is not None and data.count(key + sign) == rows


def _decode(data: bytes, schema: Mapping[str, Any]) -> pl.DataFrame | None:
    try:
        return pl.scan_ndjson(io.BytesIO(data), schema=schema, low_memory=True).select(*schema).collect()
    except UNREADABLE:
        return None


@dataclass
class _Broken:
    """Rows one by one, in a file where something is odd; ``faults`` has the rows that are none: their line, and why."""

    raw: Raw
    roles: Mapping[str, str]
    found: Findings
    faults: dict[int, tuple[int, str]] = field(default_factory=dict)
    whole: dict[str, None] = field(default_factory=dict)

    def rows(self, read: list[tuple[pl.DataFrame | bytes, int]]) -> pl.DataFrame:
        """All rows with their numbers as strings, the faults among them."""
        frames, row, line = [], 0, 1
        for part, lines in read:
            if isinstance(part, bytes):
                if not is_text(part):
                    self.raw.fail(UnicodeError("not UTF-8"))
                frames.append(self._one_by_one(part.removeprefix(BOM), row, line))
            else:
                frames.append(part.with_columns(pl.col(pl.Float64).cast(pl.String)))
            row, line = row + len(frames[-1]), line + lines
        self.found.notes += [f"{key} holds {FLOAT_NOTE}" for key in self.whole]
        return pl.concat(frames, rechunk=True)

    def _one_by_one(self, data: bytes, row: int, first: int) -> pl.DataFrame:
        columns: dict[str, list[str | None]] = {name: [] for name in self.roles.values()}
        for line, text in enumerate(data.split(b"\n"), first):
            if not text.strip():
                continue
            values = object_of(text)
            if values is None:
                self.faults[row] = (line, f"not a JSON object: {words.quote(text.strip().decode())}")
            elif isinstance(values, Pairs) and (twice := self._twice(values)):
                self.faults[row] = (line, f"the key {twice!r} comes twice in one object; keep one")
            for role, name in self.roles.items():
                value = None if row in self.faults else (values or {}).get(name)
                cell = self._cell(role, name, value, line)
                if cell is not None and is_half(cell):
                    cell = None
                    self.faults[row] = (
                        line,
                        f"{name} {quote_value(value)} holds half of a character (a lone surrogate)",
                    )
                columns[name].append(cell)
            row += 1
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))

    def _twice(self, values: Mapping[str, Any]) -> str | None:
        keys = list(values)
        return next((name for name in self.roles.values() if keys.count(name) > 1), None)

    def _cell(self, role: str, name: str, value: Any, line: int) -> str | None:
        """A value as text. Raises InputError for an id that is none."""
        if value is None or isinstance(value, str):
            return value
        if role in NUMBERS:
            return json.dumps(int(value) if isinstance(value, bool) else value)
        if role in OPTIONAL or (isinstance(value, int) and not isinstance(value, bool)):
            return json.dumps(value)
        where = f"{self.raw.label} line {words.count(line)}"
        if isinstance(value, float) and value.is_integer():
            if abs(value) >= EXACT:
                raise InputError(f"{where}: {name} is {value}; {FLOAT_REMEDY}")
            self.whole[name] = None
            return str(int(value))
        raise InputError(f"{where}: {name} is {quote_value(value)}, not an id; ids are strings or integers")


def _content_lines(raw: Raw) -> Array:
    """1-based numbers of the lines that are not blank."""
    lines = raw.text().removeprefix(BOM).split(b"\n")
    return np.array([number for number, line in enumerate(lines, 1) if line.strip()], dtype=np.int64)


def _place(roles: Mapping[str, str]) -> QueryPlace:
    """Where a line names its query."""
    key = re.escape(json.dumps(roles["query_id"], ensure_ascii=False).encode())
    return QueryPlace(rb"[^\n]*?%s[ \t]*:[ \t]*" % key, rb'(?:"(?:[^"\\\n]|\\.)*"|[^\s,}"]+)', rb"(?=[\s,}])")


def _with_roles(row: Mapping[str, Any], raw: Raw, what: str) -> Mapping[str, Any]:
    """A row under the roles that were given to its keys."""
    given = {} if raw.columns is None else raw.columns.among([*row], what, raw.label)
    names = {name: role for role, name in given.items()}
    return {names.get(name, name): value for name, value in row.items()} if names else row


def _first_lists(raw: Raw, what: str) -> bool:
    """Whether the first object is a query with its documents."""
    first = object_of(raw.first_line) or {}
    if raw.columns:
        first = _with_roles(first, raw, what)
    if not any(isinstance(value, list | Mapping) for value in first.values()):
        return False
    from rankscope.files.rankings import holds_lists, list_keys

    return bool(list_keys(first)) and holds_lists(list(first), list_keys(first))


def _read_lists(raw: Raw, what: str, name: str | None) -> Run | Qrels:
    """Read one query with its documents a line."""
    from rankscope.files.rankings import rankings_of

    data = raw.text().removeprefix(BOM)
    if not is_text(data):
        raw.fail(UnicodeError("not UTF-8"))
    rows: list[Mapping[str, Any]] = []
    lines = []
    for line, text in enumerate(data.split(b"\n"), 1):
        if not text.strip():
            continue
        value = object_of(text)
        where = f"{raw.label} line {words.count(line)}"
        if value is None:
            raise InputError(f"{where}: not a JSON object: {words.quote(text.strip().decode())}")
        if isinstance(value, Pairs):
            twice = next(key for n, key in enumerate(value) if key in list(value)[:n])
            raise InputError(f"{where}: the key {twice!r} comes twice in one object; keep one")
        rows.append(_with_roles(value, raw, what) if raw.columns else value)
        lines.append(where)
    return read_dict(rankings_of(rows, what, iter(lines)), what, name, raw, kind="JSONL")


def jsonl_parts(raw: Raw, name: str | None) -> RunParts | None:
    """A run in JSON lines, to be read in parts; None where each is a whole query."""
    if _first_lists(raw, "run"):
        return None
    found = Findings()
    roles = roles_of(keys_of(raw), "run", raw.label, found.notes, raw.columns)

    def read(part: Callable[[], bytes]) -> tuple[Run, PartFacts]:
        rows = plain(part(), roles)
        if rows is None:
            raise InputError(f"{raw.label}: a line that takes another way to read it")
        return table_part(rows, roles, raw.label)

    def reads(pieces: int | None = None) -> Iterator[Callable[[], tuple[Run, PartFacts]]]:
        return (partial(read, part) for part in cut(raw, _place(roles), piece_size(raw, pieces)))

    return table_parts(raw, "JSONL run", name, found, reads, lambda: cast("Run", read_jsonl(raw, "run", name)))


def read_json(raw: Raw, what: str, name: str | None) -> Run | Qrels:
    """Read one JSON object ``{query: {document: number}}``."""
    data = raw.read().removeprefix(BOM)
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=pairs_of)
    except UnicodeDecodeError as error:
        raw.fail(error)
    except RecursionError:
        raise InputError(f"{raw.label}: nested too deeply; {DICTS[what]}") from None
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise InputError(f"{raw.label} line {words.count(line)}: not JSON ({getattr(error, 'msg', error)})") from None
    if not isinstance(value, Mapping):
        kind, lines = "array" if isinstance(value, list) else "value", "(jq -c '.[]' turns an array into lines)"
        raise InputError(f"{raw.label}: a JSON {kind}; {DICTS[what]}, or one object a line {lines}")
    return read_dict(_merge(value, what, raw.label), what, name, raw)


def _merge(queries: Mapping[str, Any], what: str, label: str) -> dict[str, Any]:
    """Put the documents of a query that comes twice together, every one of them."""
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
