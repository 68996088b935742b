"""JSON: one object a line (JSONL), or one object of queries."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import long_table, made_table, roles_of, tag_of
from rankscope.files.memory import DICTS, Pairs, read_dict, shown_value
from rankscope.files.notes import Found, line_finder
from rankscope.files.raw import BOM, Raw
from rankscope.tables import Array, Qrels, Run, Source


def read_jsonl(raw: Raw, what: str, name: str | None) -> Run | Qrels:
    """Read one JSON object a line, under the same names as columns have."""
    found = Found()
    roles = roles_of(_keys(raw), what, raw.label, found)
    lines = raw.lines_frame()["line"]
    content = np.flatnonzero((lines.fill_null("").str.strip_chars() != "").to_numpy())
    text = lines.gather(content)
    frame, broken = _decoded(text, list(dict.fromkeys(roles.values())))
    frame = _with_ids(frame, text, roles, raw.label, content, found)
    for row in broken[:20].tolist():
        line = int(content[row]) + 1
        found.fault(
            "json", f"{raw.label} line {words.count(line)}: not a JSON object: {words.quote(text[row])}", line
        )
    found.faulty += max(len(broken) - 20, 0)
    kept = np.delete(np.arange(len(frame)), broken)
    if what == "run":
        found.tag = tag_of(frame, roles, raw.label)
    table = long_table(
        frame[kept] if len(broken) else frame, roles, raw.label,
        lambda row: f"{raw.label} line {words.count(content[kept[row]] + 1)}", found,
    )  # fmt: skip
    left_out = np.union1d(broken, kept[table.left_out])
    source = Source(
        raw.label, f"JSONL {what}", str(raw.path) if raw.path else None,
        line_of=line_finder(lambda: content + 1, left_out), sha256=raw.sha256, same=raw.same,
    )  # fmt: skip
    return made_table(table, source, found, what, name)


def _decoded(text: pl.Series, keys: list[str]) -> tuple[pl.DataFrame, Array]:
    """Give the values as strings, one row a line, and the rows that are no JSON objects.

    Polars decodes fast and to the last digit, but stops at anything odd; then Python takes line by line.
    """
    try:
        rows = text.str.json_decode(pl.Struct(dict.fromkeys(keys, pl.String)))
    except pl.exceptions.PolarsError:
        rows = None
    if rows is not None and len(rows) == len(text) and not rows.null_count():
        return rows.struct.unnest(), np.empty(0, dtype=np.int64)
    objects = [_object(line) for line in text]
    broken = np.array([row for row, value in enumerate(objects) if value is None], dtype=np.int64)
    columns = {key: [_text((value or {}).get(key)) for value in objects] for key in keys}
    return pl.DataFrame(columns, schema=dict.fromkeys(keys, pl.String)), broken


def _with_ids(
    frame: pl.DataFrame, text: pl.Series, roles: dict[str, str], label: str, content: Array, found: Found
) -> pl.DataFrame:
    """Refuse ids that are neither strings nor whole numbers, which look like strings once decoded."""
    for key in dict.fromkeys(roles[role] for role in ("query_id", "doc_id")):
        bare = rf"{re.escape(json.dumps(key, ensure_ascii=False))}\s*:\s*(-?[0-9]+[.eE]|true|false|\[|\{{)"
        odd = frame[key].str.contains(r"^(-?[0-9]+[.eE]|true$|false$|\[|\{)").fill_null(False)
        rows = np.flatnonzero(odd.to_numpy())
        rows = rows[text.gather(rows).str.contains(bare).fill_null(False).to_numpy()]
        whole: dict[int, str] = {}
        for row in rows.tolist():
            value = (_object(text[row]) or {}).get(key)
            if isinstance(value, float) and value.is_integer():
                whole[row] = str(int(value))
            elif value is not None and not isinstance(value, str):
                where = f"{label} line {words.count(int(content[row]) + 1)}"
                raise InputError(
                    f"{where}: {key} is {shown_value(value)}, not an id; ids are strings or integers"
                )
        if whole:
            found.notes.append(f"{key} holds ids as floats: 1.0 is read as '1'")
            ids = frame[key].scatter(list(whole), list(whole.values()))
            frame = frame.with_columns(ids.alias(key))
    return frame


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _object(line: str | bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line, parse_constant=_not_json)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _not_json(constant: str) -> NoReturn:
    raise ValueError(constant)


def _keys(raw: Raw) -> list[str]:
    """Keys of the first objects, in order of appearance."""
    keys: dict[str, None] = {}
    for line in raw.head.removeprefix(BOM).split(b"\n")[:200]:
        keys |= dict.fromkeys(_object(line) or {})
    if not keys:
        first = raw.head[:200].split(b"\n")[0].decode("utf-8", "replace")
        raise InputError(
            f"{raw.label} line 1: not a JSON object: {words.quote(first)}; JSONL has one object a line"
        )
    return list(keys)


def is_jsonl(raw: Raw) -> bool:
    """Whether the first line is a whole object with plain values, as a row has."""
    first = raw.head.removeprefix(BOM).lstrip().split(b"\n", 1)[0]
    value = _object(first)
    return value is not None and not all(isinstance(item, (dict, list)) for item in value.values())


def read_json(raw: Raw, what: str, name: str | None) -> Run | Qrels:
    """Read one JSON object ``{query: {document: number}}``."""
    try:
        value = json.loads(raw.read().removeprefix(BOM), object_pairs_hook=_pairs)
    except UnicodeDecodeError as error:
        raw.fail(error)
    except RecursionError as error:
        raise InputError(f"{raw.label}: nested too deeply; {DICTS[what]}") from error
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise InputError(
            f"{raw.label} line {words.count(line)}: not JSON ({getattr(error, 'msg', error)})"
        ) from error
    if not isinstance(value, Mapping):
        raise InputError(
            f"{raw.label}: a JSON {'array' if isinstance(value, list) else 'value'}; {DICTS[what]}, "
            "or one object a line (jq -c '.[]' turns an array into lines)"
        )
    return read_dict(_merged(value, what, raw.label), what, name, raw)


def _pairs(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    """Keep an object's keys that come twice, which a dict would lose."""
    plain = dict(pairs)
    return plain if len(plain) == len(pairs) else Pairs(pairs)


def _merged(queries: Mapping[str, Any], what: str, label: str) -> dict[str, Any]:
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
