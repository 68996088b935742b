"""Rows that hold a whole list each: a query and its documents, as JSON lines, Parquet and data frames have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.memory import number_of, quote_value
from rankscope.files.roles import role_names
from rankscope.words import plain_name

# what columns of lists are called, in singular and plain; the first that is there is taken
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
ANY = ("doc", "docs", "document", "id", "corpusid", *(f"{plain}s" for plain in role_names("doc_id")))
IDS = (*role_names("doc_id"), "id", "doc", "document")
VALUES = {"run": ("score",), "qrels": role_names("grade")}


def list_keys(row: Mapping[str, Any]) -> list[str]:
    """The keys under which a row holds a list, or documents with their numbers."""
    return [key for key, value in row.items() if isinstance(value, list | tuple | Mapping | np.ndarray)]


def holds_lists(names: Sequence[str], lists: Sequence[str]) -> bool:
    """Whether rows with these names, of which some are ``lists``, are a query with its documents each."""
    plain = {plain_name(name) for name in names}
    if not lists or any(known in plain.difference(map(plain_name, lists)) for known in role_names("doc_id")):
        return False
    return bool(plain.intersection(role_names("query_id"))) or (len(names) == 1)


def rankings_of(rows: Iterable[Mapping[str, Any]], what: str, place: Iterator[str]) -> dict[str, Any]:
    """The documents of each query, as a dict of a run or of qrels; ``place`` says where each row stands."""
    out: dict[Any, Any] = {}
    by_key: bool | None = None  # whether rows are {query: documents}, as the first one tells
    for row, at in zip(rows, place, strict=False):
        by_key = len(row) == 1 if by_key is None else by_key
        query, documents = next(iter(row.items())) if by_key and len(row) == 1 else _parts_of(row, what, at)
        documents = _documents(documents, what, at)
        if query in out:
            raise InputError(f"{at}: query {query!r} is there twice; put its documents into one list")
        out[query] = documents
    return out


def _parts_of(row: Mapping[str, Any], what: str, at: str) -> tuple[Any, Any]:
    """The query of a row, and its documents."""
    lists = list_keys(row)
    by_plain = {plain_name(name): name for name in list(row)[::-1]}
    query = next((by_plain[name] for name in role_names("query_id") if name in by_plain), None)
    if query is None:
        raise InputError(f"{at}: no query_id among {words.listing(row)}")
    key = _list_key(lists, what, at)
    numbers = next((name for name in lists if plain_name(name).rstrip("s") in VALUES[what] and name != key), None)
    if numbers is None:
        return row[query], row[key]
    ids, values = row[key], row[numbers]
    if len(ids) != len(values):
        raise InputError(
            f"{at}: {key} has {words.counted(len(ids), 'document')}, {numbers} {len(values)}; give each a number"
        )
    return row[query], _pairs(zip(ids, values, strict=True), at)


def _list_key(lists: Sequence[str], what: str, at: str) -> str:
    """The key under which the documents are."""
    plain = {name: plain_name(name) for name in lists}
    if "doc_id" in plain:  # a role that was given
        return "doc_id"
    for known in (LISTS[what], ANY):
        fits = [name for name in lists if plain[name] in known or plain[name].removesuffix("s") in known]
        if len(fits) == 1:
            return fits[0]
        if fits:
            raise InputError(f"{at}: {words.listing(fits)} could each be the documents; keep one")
    other = LISTS["qrels" if what == "run" else "run"]
    rest = [n for n in lists if plain[n].removesuffix("s") not in (*other, *VALUES["run"], *VALUES["qrels"])]
    if len(rest) == 1:
        return rest[0]
    wanted = "retrieved_ids" if what == "run" else "relevant_ids"
    raise InputError(
        f"{at}: no list of documents for {'a run' if what == 'run' else 'qrels'} among {words.listing(lists) or 'none'}; call it {wanted}"
    )


def _documents(value: Any, what: str, at: str) -> Any:
    """Documents as dicts have them: ids in order, or ids with numbers."""
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
        key = next((by_plain[name] for name in IDS if name in by_plain), None)
        if key is None:
            raise InputError(
                f"{at}: {quote_value(item)} is no document; one has a doc_id, and perhaps a {VALUES[what][0]}"
            )
        number = next((by_plain[name] for name in VALUES[what] if name in by_plain), None)
        ids.append(item[key])
        pairs += [(item[key], item[number])] if number is not None else []
    if pairs and len(pairs) < len(ids):
        raise InputError(
            f"{at}: {words.counted(len(ids) - len(pairs), 'document has', 'documents have')} no {VALUES[what][0]}, others do"
        )
    return _pairs(pairs, at) if pairs else ids


def _pairs(pairs: Iterable[tuple[Any, Any]], at: str) -> dict[Any, Any]:
    out: dict[Any, Any] = {}
    for doc, value in pairs:
        if doc in out:
            raise InputError(f"{at}: document {doc!r} is there twice; keep one")
        if number_of(value) is None:
            raise InputError(f"{at}: document {doc!r} has {quote_value(value)}, which is not a number")
        out[doc] = value
    return out


def frame_rankings(data: pl.DataFrame, roles: Mapping[str, str], what: str, label: str) -> dict[str, Any] | None:
    """The documents of each query in a frame that has a column of lists; None for a long table. ``roles`` were given to columns."""
    data = data.rename({name: role for role, name in roles.items()})
    lists = [name for name, kind in data.schema.items() if isinstance(kind, pl.List | pl.Array)]
    if not holds_lists(data.columns, lists):
        return None
    place = (f"{label} row {words.count(n)}" for n in range(1, len(data) + 1))
    return rankings_of(data.iter_rows(named=True), what, place)
