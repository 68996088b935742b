"""Rows with a list of documents each: a query and its documents in JSON lines, Parquet and data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.formats import RunFormat
from rankscope.files.memory import Pairs, number_of, quote_value, read_dict
from rankscope.files.objects import is_json_lines, object_of, objects_of
from rankscope.files.raw import Raw
from rankscope.files.roles import role_names
from rankscope.tables import Qrels, Run
from rankscope.words import plain_name

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
ANY = ("doc", "docs", "document", "id", "corpusid", *(f"{plain}s" for plain in role_names("doc_id")))
IDS = (*role_names("doc_id"), "id", "doc", "document")
VALUES = {"run": ("score",), "qrels": role_names("grade")}


class RankedLists(RunFormat):
    """JSON lines with one query and its list of documents per line."""

    name, holds = "lists", "jsonl"

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
    if not lists or any(known in plain.difference(map(plain_name, lists)) for known in role_names("doc_id")):
        return False
    return bool(plain.intersection(role_names("query_id"))) or (len(names) == 1)


def rankings_of(rows: Iterable[Mapping[str, Any]], what: str, place: Iterator[str]) -> dict[str, Any]:
    """Return the documents of each query as a dict; ``place`` yields the place of each row for messages."""
    out: dict[Any, Any] = {}
    by_key: bool | None = None  # rows are {query: documents} if the first one is
    for row, at in zip(rows, place, strict=False):
        by_key = len(row) == 1 if by_key is None else by_key
        query, documents = next(iter(row.items())) if by_key and len(row) == 1 else _parts_of(row, what, at)
        documents = _documents(documents, what, at)
        if query in out:
            raise InputError(f"{at}: query {query!r} is there twice; put its documents into one list")
        out[query] = documents
    return out


def _parts_of(row: Mapping[str, Any], what: str, at: str) -> tuple[Any, Any]:
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
    plain = {name: plain_name(name) for name in lists}
    if "doc_id" in plain:  # a role from the caller
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
                f"{at}: {quote_value(item)} is not a document, which has a doc_id and perhaps a {VALUES[what][0]}"
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
    """Return the documents of each query in a frame with a column of lists; None for a long table."""
    data = data.rename({name: role for role, name in roles.items()})
    lists = [name for name, kind in data.schema.items() if isinstance(kind, pl.List | pl.Array)]
    if not holds_lists(data.columns, lists):
        return None
    place = (f"{label} row {words.count(n)}" for n in range(1, len(data) + 1))
    return rankings_of(data.iter_rows(named=True), what, place)
