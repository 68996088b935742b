"""Features of items and the histories of users, from files, frames and dicts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from rankscope.errors import InputError
from rankscope.files.long import EXACT
from rankscope.files.memory import number_of
from rankscope.files.raw import is_path
from rankscope.files.sheets import Sheet, label_of, open_sheet
from rankscope.files.side_tables import ITEMS, Interactions, interactions_of
from rankscope.files.texts import count_tokens, texts_of
from rankscope.lists import Array, Ids
from rankscope.lists.items import FACTS, LENGTHS, ItemTable, Labels, feature_of, table_of, vectors_of, with_interactions
from rankscope.tables import Qrels, as_texts

EXPECTED = "items are a table with an item id first and a feature in each further column, or {item: {feature: value}}"
NUMBERED = re.compile(r"(.*?)_?\d+")  # emb_0, emb_1 ... are one vector
SPREAD = 16  # times as many cells as ids: whole numbers further apart are joined
SEPARATOR = "|"  # of several labels in one cell
KEYS = (*ITEMS, "id")
DOCUMENTS = (*KEYS, "document", "chunk_id", "chunk", "passage_id", "pid")
TOKENS = ("tokens", "n_tokens", "num_tokens", "token_count", "length", "lengths")
EXPECTED_LENGTHS = f"lengths are a table with {LENGTHS}, or {{id: tokens}}"


def items_of(source: Any) -> ItemTable:
    """Read a catalogue: a file, a frame, a list of ids, or ``{item: {feature: value}}``.

    The item is in a column called item_id, movieId, doc_id or alike, or in the first. Text columns hold labels, several in one cell as
    ``a|b``. Other columns hold numbers. Columns in ``FACTS`` are no features. Columns like ``emb_0, emb_1`` are one vector, as is a column of lists, also of ``[0.1, 0.2]`` in a text. Raises InputError for an item without id or with
    two rows.
    """
    if isinstance(source, ItemTable):
        return source
    if isinstance(source, list | tuple | set | frozenset):
        return table_of(sorted(source, key=str) if isinstance(source, set | frozenset) else list(source))
    table = open_sheet(source, "items", EXPECTED, KEYS)
    if isinstance(table, Mapping):
        return table_of(table, label=str(source) if is_path(source) else "items")
    key = table.role(KEYS) or table.frame.columns[0]
    ids = table.distinct(key, "item")
    facts = {name: table.numbers(name) for name in table.frame.columns if name in FACTS}
    features = dict(_features(table, [name for name in table.frame.columns if name != key and name not in facts]))
    return ItemTable(ids, features, label=table.label, facts=facts)


def _features(sheet: Sheet, names: Sequence[str]) -> Any:
    vectors: dict[str, list[str]] = {}
    for name in names:
        column = sheet.frame[name]
        cells = column.unique() if column.dtype == pl.String else column
        if column.dtype.is_nested() or (column.dtype == pl.String and _written_vectors(cells)):
            values = column.to_list() if column.dtype.is_nested() else _vectors(column).to_list()
            yield name, feature_of(values, name, sheet.label)
        elif column.dtype == pl.String and not _numeric(cells):
            yield name, _labels(column, cells)
        else:
            match = NUMBERED.fullmatch(name)
            vectors.setdefault(match[1] if match and match[1] else name, []).append(name)
    for name, columns in vectors.items():
        matrix = np.column_stack([np.append(sheet.numbers(column), 0.0) for column in columns])
        matrix[np.isnan(matrix).all(axis=1)] = 0.0
        named = name if len(columns) > 1 else columns[0]
        yield named, vectors_of(matrix, named, sheet.label)


def _vectors(column: pl.Series) -> pl.Series:
    """The numbers in cells like ``[0.1, 0.2]``, as pandas and NumPy write lists into CSV; null for other texts."""
    inside = column.str.strip_chars("[] \t\r\n").str.replace_all(r"[,\s]+", ",").str.split(",")
    return inside.cast(pl.List(pl.Float64), strict=False)


def _written_vectors(column: pl.Series) -> bool:
    filled = column.drop_nulls().filter(column.drop_nulls() != "")
    bracketed = len(filled) > 0 and filled.str.contains(r"^\s*\[[^\]]+\]\s*$").all()
    return bracketed and _vectors(filled).explode().null_count() == 0


def _labels(column: pl.Series, cells: pl.Series) -> Labels:
    distinct = cells.fill_null("").unique().to_list()  # each is split once
    labels = Labels.of([list(filter(None, cell.split(SEPARATOR))) for cell in distinct])
    return labels.of_rows(numbered(column.fill_null(""), distinct))


def numbered(ids: pl.Series, number: Mapping[str, int] | Sequence[str], other: int = -1) -> Array:
    """The number of each id, or its place in a sequence, and ``other`` for an unknown one. Ids may be whole numbers."""
    if isinstance(number, Ids) and ids.equals(number.column):
        return np.arange(len(ids))
    texts = number.column if isinstance(number, Ids) else list(number)
    codes = list(number.values()) if isinstance(number, Mapping) else np.arange(len(number))
    known = pl.DataFrame({"id": texts, "code": codes}, {"id": pl.String, "code": pl.Int64})
    if ids.dtype.is_integer():
        whole = known["id"].cast(pl.Int64, strict=False)
        known = known.with_columns(id=whole).filter(whole.cast(pl.String) == known["id"])  # "07" is not 7
        own, at = known["id"].to_numpy(), ids.to_numpy()
        low, high = (int(own.min()), int(own.max())) if len(own) else (0, 0)
        if high - low < SPREAD * len(own) and low > -EXACT and high < EXACT:
            place = np.full(high - low + 3, other)  # with a cell for all below, and for all above
            place[own - low + 1] = known["code"].to_numpy()
            return np.asarray(place[np.clip(at, low - 1, high + 1) - (low - 1)])
    return (
        ids.to_frame("id").join(known, on="id", how="left", maintain_order="left")["code"].fill_null(other).to_numpy()
    )


def lengths_of(source: Any) -> ItemTable:
    """Read the tokens of documents: a file or a frame with a document and its tokens, ``{id: tokens}``, or texts to count.

    Texts are ``{id: text}``, whose words between spaces count, or a pair of texts (a file, a frame or a dict) and a ``tokeniser``. Raises
    InputError for a number that is missing or below 0.
    """
    if isinstance(source, ItemTable):
        return source
    if isinstance(source, tuple) and len(source) == 2 and callable(source[1]):
        texts, tokeniser = texts_of(source[0]).by_id, source[1]
        source = {one: count_tokens(text, tokeniser) for one, text in texts.items()}
    table = open_sheet(source, "lengths", EXPECTED_LENGTHS, DOCUMENTS)
    label = label_of(source, table, "lengths")
    if isinstance(table, Mapping):
        ids: Sequence[str] = list(map(str, table))
        counts = [count_tokens(one) if isinstance(one, str) else one for one in table.values()]
        tokens = np.array([np.nan if (number := number_of(one)) is None else number for one in counts])
    else:
        key = table.role(DOCUMENTS) or table.frame.columns[0]
        others = [name for name in table.frame.columns if name != key]
        column = table.role(TOKENS) or (others[0] if len(others) == 1 else None)
        if column is None:
            raise InputError(f"{label}: no column tokens; {EXPECTED_LENGTHS}")
        ids, tokens = table.distinct(key, "document"), table.numbers(column)
    for at in np.flatnonzero(~(tokens >= 0))[:1].tolist():
        raise InputError(
            f"{label}: the tokens of document {ids[at]!r} are not a number of at least 0; {EXPECTED_LENGTHS}"
        )
    return ItemTable(ids, listed=False, label=label, facts={"tokens": tokens})


def with_lengths(table: ItemTable | None, lengths: ItemTable) -> ItemTable:
    """Add the tokens of documents to a catalogue, or make the documents with tokens one."""
    if table is None:
        return lengths
    at = numbered(pl.Series(list(table.ids), dtype=pl.String), lengths.ids)
    tokens = np.append(lengths.facts["tokens"], np.nan)[at]
    return replace(table, facts={**table.facts, "tokens": tokens}, kept={})


def _numeric(column: pl.Series) -> bool:
    text = column.fill_null("").str.strip_chars()
    cells = text.filter(text != "")
    return bool(len(cells)) and cells.cast(pl.Float64, strict=False).null_count() == 0


def with_history(table: ItemTable | None, source: Any) -> ItemTable:
    """Add the histories of users to a catalogue, or make the items of the histories one."""
    frame = source.rows if isinstance(source, Interactions) else interactions_of(source, whole=True)
    if not len(frame):
        raise InputError("history: no interaction is there; give a table with the columns user_id and item_id")
    if table is None:
        label = (source if isinstance(source, Interactions) else Interactions(source)).label
        made = ItemTable(Ids(as_texts(frame["doc_id"].unique(maintain_order=True))), listed=False, label=label)
    else:
        made = ItemTable(table.ids, table.features, listed=table.listed, label=table.label, facts=table.facts)
    pairs = Qrels(pl.DataFrame()).having(frame).by_query()
    if len(again := pairs.repetitions):
        pairs = pairs.having(pairs.held[np.setdiff1d(np.arange(len(frame)), again)])
    code = numbered(pairs.held["doc_id"], made.ids, made.size)
    return with_interactions(made, Ids(pairs.names), pairs.query_code, code, len(frame))
