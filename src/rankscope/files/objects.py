"""JSON as tables: a list of objects, one object a line, or what ``evaluate`` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.memory import shown_value
from rankscope.files.raw import BOM, Raw
from rankscope.files.sheets import Sheet


def read_objects(raw: Raw, expected: str) -> Sheet | Mapping[str, Any]:
    """Read a list of objects, what ``evaluate`` writes as JSON, or any other object as it is."""
    try:
        value = json.loads(raw.read().removeprefix(BOM), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        where = f" line {words.count(error.lineno)}" if isinstance(error, json.JSONDecodeError) else ""
        said = getattr(error, "msg", str(error))
        raise InputError(f"{raw.label}{where}: not JSON that can be read ({said})") from error
    return _of_objects(value, raw.label, expected)


def read_lines(raw: Raw, expected: str) -> Sheet | Mapping[str, Any]:
    """Read one object a line."""
    objects, lines = [], []
    for number, line in enumerate(raw.read().removeprefix(BOM).splitlines(), 1):
        if line.strip():
            try:
                value = json.loads(line, object_pairs_hook=_once)
            except (ValueError, RecursionError):
                value = None
            if not isinstance(value, dict):
                text = words.quote(line.decode("utf-8", "replace"))
                raise InputError(f"{raw.label} line {words.count(number)}: not a JSON object: {text}")
            objects.append(value)
            lines.append(number)
    if len(objects) == 1 and "per_query" in objects[0]:
        return _of_objects(objects[0], raw.label, expected)
    return Sheet(raw.label, _columns(objects, raw.label), lambda: np.array(lines))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(k for k in keys if keys.count(k) > 1)!r} comes twice in one object")
    return out


def _of_objects(value: Any, label: str, expected: str) -> Sheet | Mapping[str, Any]:
    """A list of objects as a sheet; of what ``evaluate`` writes, the part with one row a query."""
    if isinstance(value, Mapping) and "per_query" in value:
        value = value["per_query"]
        if not value:
            raise InputError(f"{label}: holds means, no values of queries: write it with --per-query")
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise InputError(f"{label}: JSON that is neither an object nor a list of objects; {expected}")
    return Sheet(label, _columns(value, label))


def _columns(objects: Sequence[Mapping[str, Any]], label: str) -> pl.DataFrame:
    """One column a key, of numbers where all its values are such, else of strings; null where an object lacks it."""
    names = list(dict.fromkeys(key for item in objects for key in item))
    return pl.DataFrame([_column(name, [item.get(name) for item in objects], label) for name in names])


def _column(name: str, values: list[Any], label: str) -> pl.Series:
    kinds = {type(value) for value in values} - {type(None)}
    if not kinds <= {str, int, float, bool}:
        odd = next(value for value in values if isinstance(value, dict | list))
        raise InputError(f"{label}: {name} holds {shown_value(odd)}; a text, a number or null is expected")
    if kinds == {int} and all(value is None or abs(value) < 2**63 for value in values):
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds and kinds <= {int, float} and kinds != {int}:
        return pl.Series(name, [None if v is None else float(v) for v in values], dtype=pl.Float64)
    text = [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
    return pl.Series(name, text, dtype=pl.String)
