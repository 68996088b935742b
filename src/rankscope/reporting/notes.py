"""Notes and grades of readers of a page: as it saves them, and as it takes them back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankscope import words
from rankscope.errors import InputError

SCHEMA = "rankscope/notes/1"
WANTED = 'it takes what "save notes" of a report wrote'


def read_notes(source: Any) -> dict[str, Any]:
    """Read notes on queries, and notes and grades on documents, from the JSON that a page saved.

    ``queries`` are ``{"query_id", "note"}``, ``documents`` ``{"query_id", "doc_id", "grade", "note"}``; ``grade`` and ``note`` may be
    left out. Raises InputError for anything else.

    >>> read_notes({"schema": "rankscope/notes/1", "queries": [{"query_id": "q1", "note": "ambiguous"}]})
    {'schema': 'rankscope/notes/1', 'queries': [{'query_id': 'q1', 'note': 'ambiguous'}], 'documents': []}
    """
    name = "notes" if isinstance(source, Mapping) else str(source)
    whole = source if isinstance(source, Mapping) else _parsed(name, source)
    if not isinstance(whole, Mapping) or whole.get("schema") != SCHEMA:
        raise InputError(f'{name}: these are no notes ("schema" is not "{SCHEMA}"); {WANTED}')
    queries = [_checked(name, one, ("query_id",), ("note",)) for one in _list(name, whole, "queries")]
    documents = [
        _checked(name, one, ("query_id", "doc_id"), ("grade", "note")) for one in _list(name, whole, "documents")
    ]
    return {"schema": SCHEMA, "queries": queries, "documents": documents}


def _parsed(name: str, source: Any) -> Any:
    try:
        return json.loads(Path(source).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: no JSON ({error}); {WANTED}") from error


def _list(name: str, whole: Mapping[str, Any], key: str) -> list[Any]:
    found = whole.get(key, [])
    if not isinstance(found, list):
        raise InputError(f'{name}: "{key}" is no list; {WANTED}')
    return found


def _checked(name: str, one: Any, ids: tuple[str, ...], more: tuple[str, ...]) -> dict[str, Any]:
    """An entry with the keys it may have, each as it must be."""
    if not isinstance(one, Mapping) or any(not isinstance(one.get(key), str) for key in ids):
        raise InputError(f"{name}: an entry without {words.listing(ids)}: {words.short(str(one))}")
    out = {key: one[key] for key in ids}
    for key in more:
        value = one.get(key)
        if value in (None, ""):
            continue
        fits = (
            isinstance(value, str)
            if key == "note"
            else isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        )
        if not fits:
            right = "text" if key == "note" else "a number"
            raise InputError(
                f"{name}: {key} of {words.listing(out.values())} is {words.short(str(value))}: it must be {right}"
            )
        out[key] = value
    return out
