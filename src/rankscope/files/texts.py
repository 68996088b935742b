"""Texts of queries and documents by their ids: TSV, CSV, JSONL, TREC topics and documents, SMART, dicts, frames."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import ReaderNotes, id_column
from rankscope.files.memory import frame_of, quote_value, speaks_arrow
from rankscope.files.objects import object_of
from rankscope.files.parquet import open_parquet
from rankscope.files.raw import BOM, Raw, is_path, open_raw
from rankscope.files.text_files import (
    Selection,
    has_marks,
    id_of,
    join_row,
    of_jsonl,
    of_smart,
    plain_text,
    roles_among,
    separator_of,
    texts_of_columns,
    texts_of_marks,
)
from rankscope.tables import Source

Collect = Callable[[pl.LazyFrame], pl.DataFrame]
Noun = Literal["document", "query"]
MANY = {"document": "documents", "query": "queries"}
EXPECTED = "texts are TSV or CSV (id, text), JSONL with an id and a text (as of BEIR), TREC topics or TREC documents"
TAKEN = "a path, a dict {id: text} or a data frame with an id and a text"


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts ``by_id``, with ``notes`` on their reading and their ``source``."""

    label: str
    by_id: Mapping[str, str]
    notes: tuple[str, ...] = ()
    source: Source = field(default_factory=lambda: Source("texts"))


def texts_of(source: Any, ids: Iterable[str] | None = None, noun: Noun = "document") -> Texts:
    """Read texts of documents or queries: all, or only those of ``ids``.

    ``source`` is a path, a dict ``{id: text}`` (or of BEIR: ``{id: {"title": ..., "text": ...}}``), or a data frame. Files are read
    up to the last text in ``ids``, and other texts are not kept. A title comes before its text. The first text of a repeated id is taken.
    Ids are strings: ``01`` is not ``1``. ``noun`` is for messages and for tables with ids of both kinds.

    Raises InputError for an unreadable input, and if no id of the source is one of ``ids``.

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
        ids_here, shown = (words.listing(map(repr, ids), 3) for ids in (selection.first_ids, sorted(selection.ids)))
        ids_differ = f"it has ids like {ids_here}, the {MANY[noun]} are {shown}. Is it the right file?"
        raise InputError(f"{place.label}: it lacks the texts of every {noun} that is shown: {ids_differ}")
    if not selection.first_ids and not by_id:
        remedy = EXPECTED if place.sha256 else f"give {TAKEN}"
        raise InputError(f"{place.label}: {'it' if place.sha256 else kind} has no texts; {remedy}")
    origin = f"{place.label} as {place.kind}" if place.sha256 else f"texts of {MANY[noun]} from {kind}"
    many = words.counted(len(by_id), noun)
    if selection.ids is not None:
        shown = words.counted(len(selection.ids), noun)
        many = f"{words.count(len(by_id))} of {shown} shown {words.agree(len(by_id), 'has')} one"
    notes = (f"read {origin}: {many}", *selection.remarks)
    place = Source(place.label, place.kind, place.path, notes=notes, sha256=place.sha256)
    return Texts(place.label, by_id, notes, place)


def count_tokens(text: str, tokeniser: Callable[[str], Any] | None = None) -> int:
    """The number of tokens of a text. A tokeniser returns tokens or their number. Without one, words between spaces count."""
    tokens = text.split() if tokeniser is None else tokeniser(text)
    return int(tokens) if isinstance(tokens, int | float) else len(tokens)


def _gather(pairs: Iterator[tuple[str, str]], selection: Selection) -> dict[str, str]:
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
        remark = f"{words.counted(again, 'text has', 'texts have')} an id that stood before: the first is taken"
        selection.remarks.append(remark)
    if selection.not_utf8:
        selection.remarks.append("some bytes are not UTF-8 text: they are shown as �")
    return by_id


def _of_file(raw: Raw, selection: Selection, noun: Noun) -> tuple[str, Iterator[tuple[str, str]]]:
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
        problem = f"{raw.label} line 1: {words.quote(raw.first_line.strip())} is not an id with a text"
        raise InputError(f"{problem}; {EXPECTED}")
    return ("TSV" if separator == "\t" else "CSV"), texts_of_columns(raw, separator, selection, noun)


def _of_json(raw: Raw, head: bytes, selection: Selection, noun: Noun) -> tuple[str, Iterator[tuple[str, str]]]:
    first = object_of(head.split(b"\n", 1)[0].decode("utf-8", "replace"))
    roles = None if first is None else roles_among(list(first), noun)
    if roles is not None:
        return "JSONL", of_jsonl(raw, selection, noun, roles)
    data = raw.read().removeprefix(BOM).decode("utf-8", "replace")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        if first is not None:
            keys = words.listing(map(repr, first)) or "none"
            problem = f"{raw.label} line 1: no id and text among the keys {keys}; name them _id and text, or doc_id and contents"
            raise InputError(problem) from None
        where = f" line {words.count(error.lineno)}" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(f"{raw.label}{where}: not JSON ({getattr(error, 'msg', error)}); {EXPECTED}") from None
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
                raise InputError(
                    f"{label}, {words.quote(one)}: the text is missing among the keys {keys}: call it text"
                )
            yield one, join_row(value, roles)
        elif isinstance(value, str | list | None):
            yield one, plain_text(value)
        else:
            raise InputError(f"{label}, {words.quote(one)}: {quote_value(value)} is not a text; {TAKEN}")


def _of_list(source: Any, label: str, selection: Selection, noun: Noun) -> Iterator[tuple[str, str]]:
    for number, value in enumerate(source, 1):
        roles = roles_among(list(value), noun) if isinstance(value, Mapping) else None
        where = f"{label} entry {words.count(number)}"
        if roles is None:
            raise InputError(f"{where}: {quote_value(value)} has no id and text, like _id and text")
        one = id_of(value.get(roles.id), lambda key=f"{where}: {roles.id}": key)  # type: ignore[misc]
        if selection.wants(one):
            yield one, join_row(value, roles)


def _of_frame(
    scan: pl.LazyFrame, label: str, selection: Selection, noun: Noun, collect: Collect = pl.LazyFrame.collect
) -> Iterator[tuple[str, str]]:
    names = scan.collect_schema().names()
    roles = roles_among(names, noun)
    if roles is None:
        id_name = "query_id" if noun == "query" else "doc_id"
        problem = f"{label}: no columns of ids and texts among {words.listing(names) or 'none'}"
        raise InputError(f"{problem}; call them {id_name} and text")
    heads = collect(scan.select(roles.id).head(3))[roles.id]
    for one in id_column(heads, roles.id, label, ReaderNotes()).to_list():
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
        scan = frame.with_columns(id_column(frame[key], key, label, ReaderNotes()).alias(key)).lazy()
    if selection.ids is None:
        return collect(scan)
    return collect(scan.filter(pl.col(key).is_in(pl.Series(sorted(selection.ids), dtype=pl.String).implode())))
