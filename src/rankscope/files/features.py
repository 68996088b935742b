"""Features of documents (categories, vectors, words) and the shares of features that queries want."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.files.sheets import QUERY, Sheet, label_of, open_sheet
from rankscope.files.side_tables import ITEMS
from rankscope.tables import Array

NAMES = (
    "feature", "category", "categories", "subtopic", "aspect", "genre", "genres", "tag", "facet", "class", "cluster", "source"
)  # fmt: skip
WEIGHTS = ("weight", "probability", "share", "value", "grade")
EXPECTED = (
    "features are a table of doc_id and feature (and weight, query_id if it depends on the query), a table of doc_id and a number per column, "
    "or {document: features}"
)
TARGETS = "targets are a table of query_id, feature and weight, or {query: {feature: weight}}"
WORD = re.compile(r"\w+")
Weighted = Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Features:
    """Features by document, or by query and document. ``names`` are the features; ``named`` is false for the columns of vectors."""

    label: str
    by_document: Mapping[Any, Weighted | Array]
    names: tuple[str, ...] = ()
    by_query: bool = False

    @property
    def named(self) -> bool:
        """True if features are categories or subtopics."""
        return bool(self.names)

    @cached_property
    def places(self) -> dict[str, int]:
        """The column of each feature."""
        return {name: place for place, name in enumerate(self.names)}

    def of(self, query: str, documents: Sequence[str]) -> Array:
        """Return documents x features, zeros for a document without features."""
        features = [self.by_document.get((query, doc) if self.by_query else doc) for doc in documents]
        width = len(self.names) or max((len(row) for row in features if row is not None), default=1)
        out = np.zeros((len(documents), width))
        for place, row in enumerate(features):
            if isinstance(row, Mapping):
                for name, weight in row.items():
                    out[place, self.places[name]] = weight
            elif row is not None:
                out[place] = row
        return out

    def lacking(self, documents: Iterable[tuple[str, str]]) -> list[str]:
        """A note of the documents without features. Raises DataError if none has features."""
        distinct = dict.fromkeys(pair if self.by_query else pair[1] for pair in documents)
        bare = [one for one in distinct if not len(self.by_document.get(one, ()))]
        if len(bare) == len(distinct):
            some = words.sample(map(str, self.by_document), len(self.by_document))
            raise DataError(f"{self.label}: no document of the run has features; it has ids like {some}")
        count = f"{words.count(len(bare))} of {words.counted(len(distinct), 'document')} to reorder"
        return [f"{count} {words.agree(len(bare), 'has')} no features (distance 1 to all others)"] * bool(bare)


def features_of(source: Any) -> Features:
    """Read features of documents from a file, a frame or a dict.

    Cells like ``Comedy|Drama`` hold several features. A dict maps documents to a feature, several features, ``{feature: weight}``, or a
    vector of numbers. Raises InputError for an unreadable table, a weight below 0, and vectors of different lengths.

    >>> found = features_of({"d1": ["comedy", "drama"], "d2": "drama"})
    >>> found.names, found.of("q", ["d2", "d3"]).tolist()
    (('comedy', 'drama'), [[0.0, 1.0], [0.0, 0.0]])
    """
    if isinstance(source, Features):
        return source
    table = open_sheet(source, "features", EXPECTED, (*QUERY, *ITEMS))
    label = label_of(source, table, "features")
    if isinstance(table, Mapping):
        filled = {
            str(doc): value
            for doc, value in table.items()
            if not (value is None or (isinstance(value, Sized) and not len(value)))
        }
        rows = {doc: _of_value(label, doc, value) for doc, value in filled.items()}
        return _checked(label, rows)
    doc, name, query = table.role(ITEMS), table.role(NAMES), table.role(QUERY)
    if doc is None:
        raise InputError(f"{label}: no column doc_id among {words.listing(table.frame.columns, 8)}; {EXPECTED}")
    ids = table.ids(doc, "document").to_list()
    if name is None:
        columns = [column for column in table.frame.columns if column not in {doc, query}]
        vectors = np.column_stack([table.numbers(column) for column in columns]) if columns else np.empty((len(ids), 0))
        if not columns:
            raise InputError(f"{label}: one column only; {EXPECTED}")
        return _checked(label, dict(zip(ids, vectors, strict=True)))
    keys = list(zip(table.ids(query, "query").to_list(), ids, strict=True)) if query else ids
    return _checked(label, _of_rows(table, keys, name), bool(query))


def _of_rows(sheet: Sheet, keys: Sequence[Any], name: str) -> dict[Any, dict[str, float]]:
    column = sheet.role(WEIGHTS)
    weights = np.ones(len(keys)) if column is None else sheet.numbers(column)
    rows: dict[Any, dict[str, float]] = {}
    for number, (key, cell, weight) in enumerate(zip(keys, sheet.frame[name].to_list(), weights.tolist(), strict=True)):
        if not weight >= 0:
            raise InputError(f"{sheet.at(number)}: weights are 0 or more, not {words.amount(weight)}")
        of_key = rows.setdefault(key, {})
        for feature in filter(None, map(str.strip, str(cell if cell is not None else "").split("|"))):
            of_key[feature] = of_key.get(feature, 0.0) + weight
    return rows


def _of_value(label: str, doc: str, value: Any) -> dict[str, float] | Array:
    if isinstance(value, str):
        return {value: 1.0}
    if isinstance(value, Mapping):
        row = {str(name): float(weight) for name, weight in value.items()}
        if not all(0 <= weight < math.inf for weight in row.values()):
            raise InputError(f"{label}: document {doc}: weights are numbers of 0 or more")
        return row
    try:
        several = list(value)
        return dict.fromkeys(several, 1.0) if several and isinstance(several[0], str) else np.asarray(several, float)
    except (TypeError, ValueError):
        wanted = "give a label, labels with weights, or a vector of numbers"
        raise InputError(f"{label}: document {doc} has {words.quote(str(value))}: {wanted}") from None


def _checked(label: str, rows: Mapping[Any, dict[str, float] | Array], by_query: bool = False) -> Features:
    named = [isinstance(row, dict) for row in rows.values()]
    if not rows or any(named) != all(named):
        raise InputError(f"{label}: {'both categories and vectors' if rows else 'empty'}; {EXPECTED}")
    if not all(named):
        lengths = {len(row) for row in rows.values()}
        if len(lengths) > 1:
            raise InputError(
                f"{label}: vectors of {words.listing(sorted(lengths), 4)} numbers; all vectors have one length"
            )
        if not np.isfinite(np.array(list(rows.values()), dtype=float)).all():
            raise InputError(f"{label}: a number in a vector is missing or not finite; {EXPECTED}")
        return Features(label, rows)
    names = sorted({name for row in rows.values() for name in row})
    return Features(label, rows, tuple(names), by_query)


@dataclass(frozen=True, eq=False)
class WordFeatures(Features):
    """The words of documents, weighted by (1 + ln tf) ln(N / df), as features of a list: only the cosine of two documents has a meaning."""

    counts: Mapping[str, Counter[str]] = field(default_factory=dict)
    documents_with: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of_texts(cls, label: str, texts: Mapping[str, str]) -> WordFeatures:
        """Count the words of each text."""
        counts = {doc: Counter(WORD.findall(text.casefold())) for doc, text in texts.items()}
        with_word = Counter(word for one in counts.values() for word in one)
        return cls(label, counts, counts=counts, documents_with=with_word)

    def of(self, query: str, documents: Sequence[str]) -> Array:
        """Return one row per document, one column per word."""
        rows: list[Mapping[str, int]] = [self.counts.get(doc, {}) for doc in documents]
        places = {word: place for place, word in enumerate(dict.fromkeys(word for row in rows for word in row))}
        out = np.zeros((len(documents), max(len(places), 1)))
        for at, row in enumerate(rows):
            for word, count in row.items():
                rare = math.log(len(self.counts) / self.documents_with[word])
                out[at, places[word]] = (1.0 + math.log(count)) * rare
        return out


def targets_of(source: Any, names: Sequence[str]) -> dict[str, Array]:
    """Read the share that each query wants of each feature, as shares that sum to 1. Raises InputError for an unknown feature.

    >>> targets_of({"q1": {"comedy": 3, "drama": 1}}, ["comedy", "drama"])["q1"].tolist()
    [0.75, 0.25]
    """
    table = open_sheet(source, "targets", TARGETS, QUERY)
    label = label_of(source, table, "targets")
    if isinstance(table, Mapping):
        rows: Mapping[Any, Any] = table
    else:
        query, name = table.role(QUERY), table.role(NAMES)
        if query is None or name is None:
            raise InputError(
                f"{label}: no columns query_id and feature among {words.listing(table.frame.columns, 8)}; {TARGETS}"
            )
        rows = _of_rows(table, table.ids(query, "query").to_list(), name)
    places = {name: place for place, name in enumerate(names)}
    out: dict[str, Array] = {}
    for query_id, row in rows.items():
        if not isinstance(row, Mapping):
            raise InputError(f"{label}: query {query_id} has {words.quote(str(row))}; {TARGETS}")
        if unknown := [name for name in row if str(name) not in places]:
            raise InputError(
                f"{label}: query {query_id} wants {unknown[0]!r}, a feature that no document has{words.hint(str(unknown[0]), names)}"
            )
        share = np.zeros(len(names))
        share[[places[str(name)] for name in row]] = list(row.values())
        if not share.sum() > 0 or (share < 0).any():
            raise InputError(f"{label}: query {query_id}: weights are numbers of 0 or more, with a sum above 0")
        out[str(query_id)] = share / share.sum()
    return out
