"""Runs and qrels that are in memory already: dicts, data frames, and the objects of other tools."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, repeat
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError, MissingExtraError
from rankscope.files.long import (
    EXACT,
    FLOAT_NOTE,
    FLOAT_REMEDY,
    GRADES,
    ReaderNotes,
    hint_at_names,
    make_qrels,
    make_run,
    make_table,
    stem,
)
from rankscope.files.raw import Raw
from rankscope.files.roles import ID_ROLES, NAMES, roles_of
from rankscope.tables import NO_ROWS, Blocks, Fault, Qrels, Run, Source, column
from rankscope.words import plain_name

UNNAMED = "(index)"  # the column of an index without a name
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

    def repeated(self, names: Iterable[str]) -> str | None:
        """Return the first of these keys that comes twice."""
        keys = [key for key, _ in self._pairs]
        return next((name for name in names if keys.count(name) > 1), None)

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
    """True if a text has half of a character (a lone surrogate), and so cannot be written."""
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            return True
    return False


def speaks_arrow(source: object) -> bool:
    """True for a data frame that can be read through Arrow."""
    return isinstance(source, pl.LazyFrame) or hasattr(source, "__arrow_c_stream__")


def read_frame(data: pl.DataFrame, what: str, name: str | None, columns: Any = None) -> Run | Qrels:
    """Read the rows of a data frame."""
    label = name or what
    reader_notes = ReaderNotes()
    roles = roles_of(data.columns, what, label, reader_notes.notes, columns)
    if not len(data):
        raise InputError(f"{label}: the data frame has no rows")
    whole = tuple(r for r in ID_ROLES if r in roles and data[roles[r]].dtype.is_numeric())
    return make_table(data, roles, Source(label, "data frame", whole=whole), reader_notes, what, name)


def take_frame(source: Any, what: str, label: str, columns: Any = None) -> pl.DataFrame:
    """Return the columns of a data frame of pandas, Polars, PyArrow, DuckDB or another library with Arrow."""
    if isinstance(source, pl.Series):
        raise InputError(f"{label}: a series, not a data frame")
    if is_pandas(source):
        source = with_index(
            source, {*NAMES, *map(str, columns or ())}, "score" if what == "run" else "grade", always=False
        )
    return frame_of(source, label)


def is_pandas(source: object) -> bool:
    """True for an object of pandas, without importing it."""
    return type(source).__module__.partition(".")[0] == "pandas"


def with_index(source: Any, roles: Collection[str], value: str = "", always: bool = True) -> Any:
    """Return a pandas frame whose first columns are the levels of its index with one of these names.

    With ``always``, an index of any name becomes a column if no column has one of the names; without a name it is the column ``UNNAMED``,
    unless it is a number next to several columns. A series is a column with its name or ``value``, and its index names the rows.
    """
    index, is_series = source.index, source.ndim == 1
    source = source.to_frame(source.name or value or "value") if is_series else source.copy(deep=False)
    source.columns = [str(name) for name in source.columns]
    known = set(map(plain_name, roles))
    levels = {n: str(name) for n, name in enumerate(index.names) if name is not None and plain_name(str(name)) in known}
    if always and not levels and not any(plain_name(name) in known for name in source.columns):
        is_number = index.nlevels == 1 and index.dtype.kind in "iu" and index.name is None
        if is_series or not is_number or (source.shape[1] == 1 and type(index).__name__ != "RangeIndex"):
            levels = {n: UNNAMED if name is None else str(name) for n, name in enumerate(index.names)}
    for place, (n, name) in enumerate(levels.items()):
        if name not in source.columns:
            source.insert(place, name, index.get_level_values(n))
    return source


def frame_of(source: Any, label: str) -> pl.DataFrame:
    """Convert a data frame of any library to Polars. Raises InputError with the reason in one line."""
    if isinstance(source, pl.DataFrame):
        return as_stored(source.lazy()).collect()
    try:
        try:
            return as_stored(source if isinstance(source, pl.LazyFrame) else pl.DataFrame(source).lazy()).collect()
        except ImportError:
            if not is_pandas(source):
                raise
            return _of_pandas(source)
    except ImportError:
        kind = type(source).__module__.partition(".")[0]
        text = f"{label}: {kind} hands over its columns through pyarrow, which is not installed: pip install pyarrow"
        raise MissingExtraError(text) from None
    except (Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001 - whatever the other library raises
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        hint = "are texts and numbers mixed in one column? astype(str) makes ids strings"
        if unknown := re.search(r"`(\w*interval\w*)` type", text):  # of DuckDB
            text, hint = f"a column is of type {unknown[1]}", "leave it out, or cast it to text or a number"
        raise InputError(f"{label}: the data frame cannot be read: {text}; {hint}") from None


def as_stored(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Return a frame with the stored values of extension types; decimals of a database are texts of numbers."""
    extensions = [name for name, kind in frame.collect_schema().items() if isinstance(kind, pl.BaseExtension)]
    return frame.with_columns(pl.col(extensions).ext.storage()) if extensions else frame


def _of_pandas(source: Any) -> pl.DataFrame:
    columns = []
    for name in source.columns:
        column, missing = source[name], source[name].isna().to_numpy()
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufb":
            columns.append(pl.Series(str(name), column.to_numpy(), nan_to_null=True))
            continue
        values = [None if gone else value for value, gone in zip(column.tolist(), missing, strict=True)]
        columns.append(pl.Series(str(name), values, strict=True))
    return pl.DataFrame(columns)


def read_dict(
    source: Mapping[Any, Any],
    what: str,
    name: str | None,
    raw: Raw | None = None,
    aspect: bool = False,
    kind: str = "JSON",
) -> Run | Qrels:
    """Read a dict of queries; ``raw`` is its file, of a ``kind``. ``aspect`` is True for the grades of one aspect."""
    label = raw.label if raw else name or what
    if not source:
        raise InputError(f"{label}: the dict is empty; {DICTS[what]}")
    if str(source.get("schema")).startswith("rankscope/"):
        verb = str(source["schema"]).split("/")[1]
        raise InputError(
            f"{label}: a result of rankscope {verb}, not {'a run' if what == 'run' else what}; give the file it was made from"
        )
    rows = {q: value if type(value) is dict else _checked(q, value, what, label) for q, value in source.items()}
    if what == "qrels" and not aspect and has_aspects(source):
        return _read_aspects(rows, label, name, raw)
    sizes = np.array([len(value) for value in rows.values()])
    reader_notes = ReaderNotes()
    queries = ids_of(source.keys(), label, "query", reader_notes)
    if len(set(queries)) < len(queries):
        twice = next(query for n, query in enumerate(queries) if query in queries[:n])
        raise InputError(f"{label}: query {twice!r} is there as text and as number: keep one")
    doc_ids, are_texts = _id_column(list(chain.from_iterable(rows.values())), label, reader_notes)
    value = "score" if what == "run" else "grade"
    names = pl.Series("query", queries, dtype=pl.String)
    query_ids = names.gather(column(np.repeat(np.arange(len(sizes)), sizes)))
    frame = pl.DataFrame({"query_id": query_ids, "doc_id": doc_ids, value: _values(rows.values(), what)})
    if what == "run" and all(not isinstance(value, Mapping) for value in rows.values()):
        frame = frame.with_columns(rank=(-pl.col("score")).cast(pl.Int64))
    frame, every_row = _sound(frame, value, rows, label, reader_notes), frame
    more = tuple(query for query, size in zip(queries, sizes.tolist(), strict=True) if not size)
    plain, title = Source(label, "dict"), "a dict"
    if raw:
        plain, title = raw.source(kind), f"{kind} {what}"
        name = name or stem(label)
    table: Run | Qrels = make_qrels(frame, plain, reader_notes, title) if what == "qrels" else make_run(
        frame, plain, reader_notes, title.replace(kind, f"a {kind}", 1), name or "run",
        blocks=None if frame is not every_row else Blocks.of(sizes[sizes > 0], names.filter(sizes > 0)),
    )  # fmt: skip
    if more:
        object.__setattr__(table, "more_queries", more)
    if are_texts and frame is every_row and all(isinstance(value, dict) for value in rows.values()):
        table.__dict__["repetitions"] = NO_ROWS  # as keys of a dict differ
    return table


def has_aspects(source: Mapping[Any, Any]) -> bool:
    """True if qrels as a dict give a document several grades: ``{query: {document: {subtopic: grade}}}``."""
    by_doc = (value for value in source.values() if isinstance(value, Mapping))
    return any(isinstance(graded, Mapping) for value in by_doc for graded in value.values())


def _read_aspects(rows: Mapping[Any, Any], label: str, name: str | None, raw: Raw | None) -> Run | Qrels:
    by_aspect: dict[Any, dict[Any, list[tuple[Any, Any]]]] = {}
    by_doc = [value for value in rows.values() if isinstance(value, Mapping)]
    for value in by_doc:
        ids_of(value, label, "document")  # also documents without a grade
    if not any(graded or not isinstance(graded, Mapping) for value in by_doc for graded in value.values()):
        return read_dict({query: {} for query in rows}, "qrels", name, raw)
    for query, value in rows.items():
        for doc, graded in value.items() if isinstance(value, Mapping) else ((doc, 1) for doc in value):
            for aspect, grade in graded.items() if isinstance(graded, Mapping) else ((0, graded),):
                by_aspect.setdefault(aspect, {}).setdefault(query, []).append((doc, grade))
    parts: list[pl.DataFrame] = []
    faults: tuple[Fault, ...] = ()
    for aspect, (text,) in zip(by_aspect, ([i] for i in ids_of(by_aspect, label, "subtopic")), strict=True):
        grades = {query: Pairs(pairs) for query, pairs in by_aspect[aspect].items()}
        part = read_dict(grades, "qrels", name, raw, aspect=True)
        parts.append(part.frame.with_columns(iteration=pl.lit(text)))
        faults += part.source.faults
    empty = [query for query, value in zip(ids_of(rows, label, "query"), rows.values(), strict=True) if not value]
    qrels = make_qrels(pl.concat(parts), replace(part.source, notes=(), faults=()), ReaderNotes(), "a dict")
    return Qrels(qrels.frame, replace(qrels.source, faults=faults), tuple(empty))


def _checked(query: Any, value: Any, what: str, label: str) -> Any:
    description = ""
    if isinstance(value, Iterator):
        description = f"a {type(value).__name__}, which can be read only once: make it a list"
    elif hasattr(value, "__dataframe__") or isinstance(value, pl.DataFrame):
        description = "a data frame"
    elif isinstance(value, np.ndarray):
        description = "" if value.ndim == 1 else f"an array of {value.ndim} dimensions"
    elif isinstance(value, (str, bytes, bytearray)) or not isinstance(value, Collection):
        description = quote_value(value)
    elif isinstance(value, (set, frozenset)) and what == "run":
        description = "a set, which has no order"
    if description:
        raise InputError(f"{label}: query {query!r} has {description}; {DICTS[what]}")
    if isinstance(value, np.ndarray):
        return value.tolist()
    # a set has no order of its own, and a result must not depend on hashing
    return sorted(value, key=str) if isinstance(value, (set, frozenset)) else value


def ids_of(values: Iterable[Any], label: str, noun: str, reader_notes: ReaderNotes | None = None) -> list[str]:
    """Return ids as strings. Whole numbers, also as floats (with a note), become strings; other values raise InputError."""
    ids: list[Any] = list(values)
    kinds: set[Any] = set(map(type, ids))
    if kinds <= {str}:
        return _whole_letters(ids, label, noun)
    floats = any(issubclass(kind, (float, np.floating)) for kind in kinds)
    for kind in kinds:
        own = (value for value in ids if type(value) is kind)
        if issubclass(kind, (float, np.floating)):
            odd = [value for value in own if not value.is_integer()][:1]
            if not odd and (large := next((v for v in ids if type(v) is kind and abs(v) >= EXACT), None)) is not None:
                raise InputError(f"{label}: {noun} id {large}: {FLOAT_REMEDY}")
        else:
            odd = [] if issubclass(kind, (str, int, np.integer)) and not issubclass(kind, bool) else [next(own)]
        if odd:
            problem = f"{label}: {noun} id {quote_value(odd[0])} is of type {kind.__name__}"
            raise InputError(f"{problem}; ids are strings or integers")
    if floats and reader_notes is not None:
        reader_notes.notes.append(f"{label}: the {noun} ids are {FLOAT_NOTE.removeprefix('ids as ')}")
    return _whole_letters([str(value) if isinstance(value, str) else str(int(value)) for value in ids], label, noun)


def _id_column(ids: list[Any], label: str, notes: ReaderNotes) -> tuple[pl.Series, bool]:
    """Return ids of documents as a column, and True if all were texts."""
    with suppress(TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):  # for numbers and half characters
        texts = pl.Series(ids, dtype=pl.String)
        if not texts.null_count():
            return texts, True
    return pl.Series(ids_of(ids, label, "document", notes), dtype=pl.String), False


def _whole_letters(ids: list[str], label: str, noun: str) -> list[str]:
    if is_half("".join(ids)):
        odd = next(one for one in ids if is_half(one))
        raise InputError(f"{label}: {noun} id {quote_value(odd)} holds half of a character (a lone surrogate)")
    return ids


def _values(rows: Collection[Any], what: str) -> pl.Series:
    def values() -> Iterator[Any]:
        return chain.from_iterable(_row_values(value, what) for value in rows)

    with suppress(TypeError, ValueError, OverflowError):  # for texts and other values that are not numbers
        return pl.Series(list(values()), dtype=pl.Float64)
    named = GRADES.get() if what == "qrels" else {}
    worth = [named.get(v.strip().casefold(), v) if isinstance(v, str) else v for v in values()] if named else values()
    return pl.Series(list(map(words.as_number, worth)), dtype=pl.Float64)


def _row_values(value: Any, what: str) -> Iterable[Any]:
    """Return the values of a dict, ranks for a list of a run, 1 for each relevant document."""
    if isinstance(value, Mapping):
        return value.values()
    return range(-1, -len(value) - 1, -1) if what == "run" else repeat(1, len(value))


def _sound(frame: pl.DataFrame, value: str, rows: Mapping[Any, Any], label: str, notes: ReaderNotes) -> pl.DataFrame:
    if not frame[value].null_count() and (value == "score" or not np.isnan(frame[value].to_numpy()).any()):
        return frame
    good = frame[value].is_not_null()
    if value == "grade":
        good &= frame[value].is_not_nan().fill_null(False)
    cells = list(chain.from_iterable(_row_values(v, "qrels") for v in rows.values()))
    for row in np.flatnonzero(~good.to_numpy()).tolist():
        query, doc, cell = frame["query_id"][row], frame["doc_id"][row], cells[row]
        fault = f"{value} {quote_value(cell)} is not a number{hint_at_names(value, str(cell))}"
        notes.fault("number", f"{label}: query {query!r}, document {doc!r}: {fault}")
    return frame.filter(good)


def number_of(value: Any) -> float | None:
    """Return a value as a number; None for a text and any other value."""
    return None if isinstance(value, str | bytes) else words.as_number(value)


def quote_value(value: Any) -> str:
    """Return a value in quotes, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."


# --- lists of scored and of judged documents (ir_measures, ir_datasets), and ranx's runs and qrels ----------------------


VALUE_NAMES = {"run": ("score",), "qrels": ("relevance", "rel", "grade")}


def is_rows(source: Any) -> bool:
    """True for a list of documents with the query of each, such as ``ScoredDoc`` and ``Qrel``.

    >>> from collections import namedtuple
    >>> ScoredDoc = namedtuple("ScoredDoc", "query_id doc_id score")
    >>> is_rows([ScoredDoc("q1", "d7", 2.0)]), is_rows([("q1", "d7")])
    (True, False)
    """
    return isinstance(source, list | tuple) and bool(source) and _is_row(source[0])


def _is_row(row: object) -> bool:  # frames have columns as well
    return hasattr(row, "query_id") and hasattr(row, "doc_id") and not hasattr(row, "columns")


def handed_over(source: Any, what: str) -> Any:
    """Return an object of another tool as a dict or a data frame; None for other objects."""
    if type(source).__module__.partition(".")[0] == "ranx" and hasattr(source, "to_dict"):
        return source.to_dict()
    rows = list(source) if isinstance(source, Iterator) else source
    if is_rows(rows):
        return _frame_of_rows(rows, what)
    if isinstance(source, Iterator):
        problem = "an iterator of no documents with query_id and doc_id"
        raise InputError(f"{what}: {problem}; pass a dict, a data frame or a list")
    return None


def _frame_of_rows(rows: Sequence[Any], what: str) -> pl.DataFrame:
    name = next((name for name in VALUE_NAMES[what] if hasattr(rows[0], name)), None)
    odd = (row for row in rows if not _is_row(row) or name is None or number_of(getattr(row, name, None)) is None)
    if (one := next(odd, None)) is not None or name is None:
        problem = f"{what}: {quote_value(rows[0] if one is None else one)} has no {VALUE_NAMES[what][0]}"
        raise InputError(f"{problem} as a number: each document has a query_id, a doc_id and a {VALUE_NAMES[what][0]}")
    columns = {
        "query_id": ids_of((row.query_id for row in rows), what, "query"),
        "doc_id": ids_of((row.doc_id for row in rows), what, "document"),
        "score" if what == "run" else "grade": [float(getattr(row, name)) for row in rows],
    }
    if what == "qrels" and all(hasattr(row, "iteration") for row in rows):
        columns["iteration"] = [str(row.iteration) for row in rows]
    return pl.DataFrame(columns)
