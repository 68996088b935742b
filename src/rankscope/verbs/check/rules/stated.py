"""What the caller states about the data beside it: the scale of the grades, the texts of documents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rankscope.errors import InputError
from rankscope.files.sheets import opened

IDS = ("doc_id", "docid", "docno", "id", "_id", "document", "item", "item_id", "pid", "docid_text")
TEXTS = ("text", "contents", "content", "body", "passage", "document_text", "title", "abstract")
_NUMBER = r"[+-]?\d+(?:\.\d+)?"


def scale_of(said: Any) -> tuple[float, float] | None:
    """The lowest and the highest grade of a scale: ``0-3``, ``0..3`` or a pair of numbers.

    >>> scale_of("0-3")
    (0.0, 3.0)
    """
    if said is None:
        return None
    if isinstance(said, str):
        match = re.fullmatch(rf"\s*({_NUMBER})\s*(?:-|–|\.\.|:|,)\s*({_NUMBER})\s*", said)
        pair: Any = match.groups() if match else ()
    else:
        pair = said if isinstance(said, tuple | list | range) else ()
        pair = (pair[0], pair[-1]) if len(pair) > 1 else ()
    try:
        low, high = (float(value) for value in pair)
    except (TypeError, ValueError):
        low, high = 1.0, 0.0
    if not low < high:
        raise InputError(
            f"scale={said!r}: a scale is its lowest and its highest grade, like 0-3, the lowest first"
        )
    return low, high


def texts_of(source: Any) -> Mapping[str, str] | None:
    """The texts of documents by id: a dict, or any table with an id and a text (JSONL, CSV, TSV, Parquet)."""
    if source is None:
        return None
    expected = "texts of documents are a table with the columns doc_id and text, or {id: text}"
    found = opened(source, "texts", expected)
    if isinstance(found, Mapping):
        return {str(doc): str(text) for doc, text in found.items()}
    ids = found.role(IDS) or found.frame.columns[0]
    texts = [name for name in found.frame.columns if name.casefold() in TEXTS and name != ids]
    if not texts:
        raise InputError(f"{found.label}: no column of texts ({', '.join(found.frame.columns)}); {expected}")
    joined: list[str] = [""] * found.frame.height
    for name in texts:
        joined = [
            f"{a} {b}".strip() if b else a
            for a, b in zip(joined, found.frame[name].cast(str).to_list(), strict=True)
        ]
    return dict(zip(found.ids(ids, "document id").to_list(), joined, strict=True))
