"""Runs and qrels that are in memory already: dicts and data frames."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, repeat
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError, MissingExtraError
from rankscope.files.long import Findings, make_qrels, make_run, make_table, roles_of, stem
from rankscope.files.raw import Raw
from rankscope.tables import Fault, Qrels, Run, Source

DICTS = {
    "run": "a run as a dict is {query: {document: score}} or {query: [document, ...]} in rank order",
    "qrels": "qrels as a dict are {query: {document: grade}} or {query: {relevant documents}}",
}


class Pairs(Mapping[Any, Any]):
    """The pairs of a JSON object in which a key comes twice; every pair is kept."""

    def __init__(self, pairs: list[tuple[Any, Any]]) -> None:
        self._pairs = pairs

    def __len__(self) -> int:
        return len(self._pairs)

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self._pairs)

    def __getitem__(self, key: Any) -> Any:
        return dict(self._pairs)[key]

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{key!r}: {value!r}" for key, value in self._pairs) + "}"

    def items(self) -> Any:
        """Every pair."""
        return self._pairs

    def values(self) -> Any:
        """Every value."""
        return [value for _, value in self._pairs]


def pairs_of(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    """A JSON object; one in which a key comes twice keeps every pair, which a dict would lose."""
    plain = dict(pairs)
    return plain if len(plain) == len(pairs) else Pairs(pairs)


def is_half(text: str) -> bool:
    """Whether half of a character (a lone surrogate) stands in a text, so that it cannot be written."""
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            return True
    return False


def speaks_arrow(source: object) -> bool:
    """Whether an object is a data frame that can be read through Arrow."""
    return isinstance(source, pl.LazyFrame) or hasattr(source, "__arrow_c_stream__")


def read_frame(source: Any, what: str, name: str | None) -> Run | Qrels:
    """Read a data frame of any library: pandas, Polars, PyArrow, DuckDB and others that speak Arrow."""
    label = name or what
    if isinstance(source, pl.Series):
        raise InputError(f"{label}: a series, not a data frame")
    data = frame_of(source, label)
    found = Findings()
    roles = roles_of(data.columns, what, label, found)
    if not len(data):
        raise InputError(f"{label}: the data frame has no rows")
    return make_table(data, roles, Source(label, "data frame"), found, what, name)


def frame_of(source: Any, label: str) -> pl.DataFrame:
    """Convert a data frame of any library to Polars; an error says in one line why it cannot be."""
    if isinstance(source, pl.DataFrame):
        return source
    try:
        return source.collect() if isinstance(source, pl.LazyFrame) else pl.DataFrame(source)
    except ImportError as error:
        kind = type(source).__module__.partition(".")[0]
        text = f"{label}: {kind} hands over its columns through pyarrow, which is not installed: pip install pyarrow"
        raise MissingExtraError(text) from error
    except Exception as error:  # whatever the other library raises
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        hint = "does a column mix texts and numbers? astype(str) makes ids strings"
        raise InputError(f"{label}: the data frame cannot be read: {text}; {hint}") from error


def read_dict(
    source: Mapping[Any, Any], what: str, name: str | None, raw: Raw | None = None, aspect: bool = False
) -> Run | Qrels:
    """Read a dict of queries; ``raw`` is the file it came from. Within one ``aspect`` there are no others."""
    label = raw.label if raw else name or what
    if not source:
        raise InputError(f"{label}: the dict is empty; {DICTS[what]}")
    for query, value in source.items():
        _refuse_odd(query, value, what, label)
    rows = {query: _orderly(value) for query, value in source.items()}
    if what == "qrels" and not aspect and has_aspects(source):
        return _read_aspects(rows, label, name, raw)
    sizes = [len(value) for value in rows.values()]
    queries = _ids(source.keys(), label, "query")
    if len(set(queries)) < len(queries):
        twice = next(query for n, query in enumerate(queries) if query in queries[:n])
        raise InputError(f"{label}: query {twice!r} is there twice, as text and as a number; keep one")
    docs = _ids(chain.from_iterable(rows.values()), label, "document")
    found = Findings()
    value = "score" if what == "run" else "grade"
    frame = pl.DataFrame(
        {
            "query_id": pl.Series(queries, dtype=pl.String).gather(np.repeat(np.arange(len(sizes)), sizes)),
            "doc_id": pl.Series(docs, dtype=pl.String),
            value: _values(rows.values(), what),
        }
    )
    if what == "run" and all(not isinstance(value, Mapping) for value in rows.values()):
        frame = frame.with_columns(rank=(-pl.col("score")).cast(pl.Int64))
    frame = _sound(frame, value, rows, label, found)
    more = tuple(query for query, size in zip(queries, sizes, strict=True) if not size)
    plain, title = Source(label, "dict"), "a dict"
    if raw:
        plain, title = raw.source("JSON"), f"JSON {what}"
        name = name or stem(label)
    table: Run | Qrels = make_qrels(frame, plain, found, title) if what == "qrels" else make_run(
        frame, plain, found, title.replace("JSON", "a JSON"), name or "run"
    )  # fmt: skip
    return replace(table, more_queries=more) if more else table


def has_aspects(source: Mapping[Any, Any]) -> bool:
    """Whether qrels as a dict give a document several grades: ``{query: {document: {subtopic: grade}}}``."""
    by_doc = (value for value in source.values() if isinstance(value, Mapping))
    return any(isinstance(graded, Mapping) for value in by_doc for graded in value.values())


def _read_aspects(rows: Mapping[Any, Any], label: str, name: str | None, raw: Raw | None) -> Run | Qrels:
    """Read each aspect as qrels of its own, and put them together."""
    by_aspect: dict[Any, dict[Any, list[tuple[Any, Any]]]] = {}
    if not any(graded for value in rows.values() if isinstance(value, Mapping) for graded in value.values()):
        return read_dict({query: {} for query in rows}, "qrels", name, raw)
    for query, value in rows.items():
        for doc, graded in value.items() if isinstance(value, Mapping) else ((doc, 1) for doc in value):
            for aspect, grade in graded.items() if isinstance(graded, Mapping) else ((0, graded),):
                by_aspect.setdefault(aspect, {}).setdefault(query, []).append((doc, grade))
    parts: list[pl.DataFrame] = []
    faults: tuple[Fault, ...] = ()
    for aspect, (text,) in zip(by_aspect, ([i] for i in _ids(by_aspect, label, "subtopic")), strict=True):
        grades = {query: Pairs(pairs) for query, pairs in by_aspect[aspect].items()}
        part = read_dict(grades, "qrels", name, raw, aspect=True)
        parts.append(part.frame.with_columns(iteration=pl.lit(text)))
        faults += part.source.faults
    empty = [query for query, value in zip(_ids(rows, label, "query"), rows.values(), strict=True) if not value]
    qrels = make_qrels(pl.concat(parts), replace(part.source, notes=(), faults=()), Findings(), "a dict")
    return Qrels(qrels.frame, replace(qrels.source, faults=faults), tuple(empty))


def _refuse_odd(query: Any, value: Any, what: str, label: str) -> None:
    """Refuse what is neither a mapping nor a list of documents."""
    said = ""
    if isinstance(value, Iterator):
        said = f"a {type(value).__name__}, which can be read only once: make it a list"
    elif hasattr(value, "__dataframe__") or isinstance(value, pl.DataFrame):
        said = "a data frame"
    elif isinstance(value, np.ndarray):
        said = "" if value.ndim == 1 else f"an array of {value.ndim} dimensions"
    elif isinstance(value, (str, bytes, bytearray)) or not isinstance(value, Collection):
        said = quote_value(value)
    elif isinstance(value, (set, frozenset)) and what == "run":
        said = "a set, which has no order"
    if said:
        raise InputError(f"{label}: query {query!r} has {said}; {DICTS[what]}")


def _orderly(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    # a set has no order of its own, and a result must not depend on hashing
    return sorted(value, key=str) if isinstance(value, (set, frozenset)) else value


def _ids(values: Iterable[Any], label: str, noun: str) -> list[str]:
    """Ids as strings: integers become strings, anything else is refused."""
    ids = list(values)
    kinds = set(map(type, ids))
    if kinds <= {str}:
        return _whole_letters(ids, label, noun)
    for kind in kinds:
        if issubclass(kind, bool) or not issubclass(kind, (str, int, np.integer)):
            odd = next(value for value in ids if type(value) is kind)
            said = f"{label}: {noun} id {quote_value(odd)} is of type {kind.__name__}"
            raise InputError(f"{said}; ids are strings or integers")
    return _whole_letters([str(value) if isinstance(value, str) else str(int(value)) for value in ids], label, noun)


def _whole_letters(ids: list[str], label: str, noun: str) -> list[str]:
    if is_half("".join(ids)):
        odd = next(one for one in ids if is_half(one))
        raise InputError(f"{label}: {noun} id {quote_value(odd)} holds half of a character (a lone surrogate)")
    return ids


def _values(rows: Collection[Any], what: str) -> pl.Series:
    """Scores or grades, null where one is no number."""

    def values() -> Iterator[Any]:
        return chain.from_iterable(_row_values(value, what) for value in rows)

    if not {str, type(None)} & set(map(type, values())):  # in a text numpy sees more than is a number in any file
        try:
            return pl.Series(np.fromiter(values(), dtype=np.float64, count=sum(map(len, rows))))
        except (TypeError, ValueError, OverflowError):
            pass
    return pl.Series(list(map(words.as_number, values())), dtype=pl.Float64)


def _row_values(value: Any, what: str) -> Iterable[Any]:
    """Give what a dict says; a list says the rank, and a set that its members are relevant."""
    if isinstance(value, Mapping):
        return value.values()
    return range(-1, -len(value) - 1, -1) if what == "run" else repeat(1, len(value))


def _sound(frame: pl.DataFrame, value: str, rows: Mapping[Any, Any], label: str, found: Findings) -> pl.DataFrame:
    good = frame[value].is_not_null()
    if value == "grade":
        good &= frame[value].is_not_nan().fill_null(False)
    if good.all():
        return frame
    given = list(chain.from_iterable(_row_values(v, "qrels") for v in rows.values()))
    for row in np.flatnonzero(~good.to_numpy()).tolist():
        query, doc = frame["query_id"][row], frame["doc_id"][row]
        where = f"{label}: query {query!r}, document {doc!r}"
        found.fault("number", f"{where}: {value} {quote_value(given[row])} is not a number")
    return frame.filter(good)


def number_of(value: Any) -> float | None:
    """A value as a number; None for a text, and for what is none."""
    return None if isinstance(value, str | bytes) else words.as_number(value)


def quote_value(value: Any) -> str:
    """A value in quotes, shortened where it is long."""
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."
