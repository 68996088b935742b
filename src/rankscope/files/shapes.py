"""Which shape a table of scores has: long, or wide with its systems in columns or in rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.sheets import QUERY, SYSTEM, Sheet
from rankscope.tables import Array

Systems = Literal["auto", "rows", "columns"]
NAMELESS = "score"  # the metric's name where nothing says one
METRIC, VALUE = ("metric", "measure"), ("value", "score")
HOW = "name it query_id or run, or say systems='columns' or systems='rows'"
EXPECTED = (
    "scores are a table of run, query_id, metric, value (as evaluate --per-query writes), a table with a system a column "
    "and a query a row, {system: {query: value}} or an array of systems x queries"
)
_METRIC = re.compile(
    r"(f1|[a-z_]+)(\(.*\))?@\d+|(n?dcg|n?err|p|r|precision|recall|ap|map|rr|mrr|gmap|bpref|hit_rate|success|f1|auc|gauc|rprec|rbp)([_.(]\S*)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class Part:
    """Scores as rows of system, query_id, metric and value, and what they were read from."""

    frame: pl.DataFrame
    label: str
    layout: Literal["columns", "rows", "long", "other"] = "other"
    numbered: bool = False


def is_metric(name: str) -> bool:
    """Whether a name looks like a metric's and not like a system's or a query's."""
    return _METRIC.fullmatch(name) is not None


def tall(
    systems: Sequence[str], queries: Sequence[str], values: Array, metric: str = NAMELESS
) -> pl.DataFrame:
    """A matrix of systems x queries as rows."""
    many, wide = len(systems), len(queries)
    return pl.DataFrame(
        {
            "system": pl.Series(systems, dtype=pl.String).gather(np.repeat(np.arange(many), wide)),
            "query_id": pl.Series(queries, dtype=pl.String).gather(np.tile(np.arange(wide), many)),
            "metric": pl.repeat(metric, many * wide, dtype=pl.String, eager=True),
            "value": pl.Series(values.reshape(-1), dtype=pl.Float64),
        }
    )


def part_of(sheet: Sheet, name: str | None, fallback: str, systems: Systems, metric: str | None) -> Part:
    """Find the shape of a table and read it.

    ``name`` is its one system where that was said, ``fallback`` the name of one system where nothing else says it.
    """
    query, system = sheet.role(QUERY), _system_column(sheet)
    if query is not None and system is not None and query != system:
        return _long(sheet, query, system, name, metric)
    if query is not None:
        return _by_query(sheet, query, (name, fallback), systems, metric)
    if system is not None and name is None and system == sheet.frame.columns[0]:
        return _by_system(sheet, system, systems)
    return _bare(sheet, name, systems, metric)


def _system_column(sheet: Sheet) -> str | None:
    """The column that names systems; one of fractions is a system that happens to be called so."""
    name = sheet.role(SYSTEM)
    if name is None:
        return None
    column = sheet.frame[name]
    values = column.cast(pl.Float64, strict=False).drop_nulls().drop_nans()
    return None if (values != values.floor()).any() else name


# --- long ----------------------------------------------------------------------------------------------


def _long(sheet: Sheet, query: str, system: str, name: str | None, metric: str | None) -> Part:
    systems = sheet.ids(system, "system")
    if name is not None:
        names = systems.unique(maintain_order=True).to_list()
        if len(names) > 1:
            raise InputError(
                f"{sheet.label}: holds {words.counted(len(names), 'system')} ({words.listing(names, 3)}), but is given as the one system {name!r}"
            )
        systems = pl.repeat(name, len(systems), dtype=pl.String, eager=True)
    return _rows(sheet, systems, query, {query, system}, metric)


def _rows(sheet: Sheet, systems: pl.Series, query: str, used: set[str], metric: str | None) -> Part:
    """Rows of one system and query each: their values stand in one column beside the metric's name, or in a column a metric."""
    queries = sheet.ids(query, "query")
    named, value = sheet.role(METRIC), sheet.role(VALUE)
    if named is not None and named not in used:
        if value is None:
            raise InputError(f"{sheet.label}: a column {named}, but no column value; {EXPECTED}")
        columns = [(sheet.ids(named, "metric"), sheet.numbers(value))]
    else:
        names = _value_columns(sheet, used, metric)
        columns = [
            (pl.repeat(_named(n), len(queries), dtype=pl.String, eager=True), sheet.numbers(n)) for n in names
        ]
    parts = [
        pl.DataFrame({"system": systems, "query_id": queries, "metric": metrics, "value": values})
        for metrics, values in columns
    ]
    _refuse_twice(sheet, parts[0])
    return Part(pl.concat(parts), sheet.label, "long")


def _value_columns(sheet: Sheet, used: set[str], metric: str | None) -> list[str]:
    names = [name for name in sheet.frame.columns if name not in used]
    if not names:
        raise InputError(
            f"{sheet.label}: only the columns {words.listing(sorted(used))}, none of values; {EXPECTED}"
        )
    fits = [name for name in names if metric is not None and name.casefold() == metric.casefold()]
    return fits or names


def _named(column: str) -> str:
    return NAMELESS if column.casefold() in VALUE else column


def _refuse_twice(sheet: Sheet, frame: pl.DataFrame) -> None:
    keys = frame.select("system", "query_id", "metric")
    if keys.is_duplicated().any():
        row = int(
            np.flatnonzero(~keys.select(pl.struct(pl.all())).to_series().is_first_distinct().to_numpy())[0]
        )
        system, query, metric = keys.row(row)
        of = "" if metric == NAMELESS else f" for {metric}"
        raise InputError(f"{sheet.at(row)}: system {system!r} has query {query!r} twice{of}; keep one")


# --- wide ----------------------------------------------------------------------------------------------


def _by_query(
    sheet: Sheet, query: str, names: tuple[str | None, str], systems: Systems, metric: str | None
) -> Part:
    """A query a row: the other columns are metrics of one system, or systems."""
    if systems == "rows":
        raise InputError(
            f"{sheet.label}: a column {query}, so its rows are queries; leave systems='rows' out"
        )
    others = [name for name in sheet.frame.columns if name != query]
    like = [name for name in others if is_metric(name)]
    role = sheet.role(METRIC)
    one = names[0] is not None or len(others) == 1 or (others == like) or role is not None
    if systems == "columns" and role is None and names[0] is None:
        one = False
    elif not one and like:
        rest = next(name for name in others if name not in like)
        raise InputError(
            f"{sheet.label}: column {like[0]} looks like a metric and column {rest} like a system: keep the columns of one kind, "
            "or say systems='columns'"
        )
    if one:
        system = pl.repeat(names[0] or names[1], len(sheet.frame), dtype=pl.String, eager=True)
        return _rows(sheet, system, query, {query}, metric)
    return _columns(sheet, sheet.distinct(query, "query"), others)


def _by_system(sheet: Sheet, system: str, systems: Systems) -> Part:
    """A system a row, a query a column."""
    others = [name for name in sheet.frame.columns if name != system]
    if systems == "columns":
        return _columns(sheet, sheet.distinct(system, "query"), others)
    if sheet.role(METRIC) or (others and all(is_metric(name) for name in others)):
        raise InputError(
            f"{sheet.label}: holds means of systems, no values of queries: write it with evaluate --per-query"
        )
    return _transposed(sheet, sheet.distinct(system, "system"), others)


def _bare(sheet: Sheet, name: str | None, systems: Systems, metric: str | None) -> Part:
    """No column is known by its name: a first column of texts holds ids, otherwise all columns hold values."""
    columns = sheet.frame.columns
    first = columns[0]
    has_ids = first == "" or _holds_texts(sheet, first)
    if systems == "auto":
        _refuse_unclear(sheet, has_ids)
    if systems == "rows":
        names = sheet.distinct(first, "system") if has_ids else _numbered("system", sheet)
        return _transposed(sheet, names, columns[1:] if has_ids else columns)
    queries = sheet.distinct(first, "query") if has_ids else _numbered("q", sheet)
    values = columns[1:] if has_ids else columns
    if name is None:
        return _columns(sheet, queries, values, numbered=not has_ids)
    frame = [tall([name], queries, sheet.numbers(c)[None, :], _named(c)) for c in values]
    return Part(pl.concat(frame), sheet.label, "other", numbered=not has_ids)


def _refuse_unclear(sheet: Sheet, has_ids: bool) -> None:
    columns, first = sheet.frame.columns, sheet.frame.columns[0]
    if has_ids:
        what = f"the first column {first!r} holds texts" if first else "the first column has no name"
        raise InputError(f"{sheet.label}: {what}, and may name queries or systems: {HOW}")
    number = next((name for name in columns if _is_number(name)), None)
    if number is not None:
        raise InputError(
            f"{sheet.label}: a column is called {number}: is the header line missing? A header names the systems; "
            "if it does, say systems='columns', and systems='rows' if it names the queries"
        )
    values = sheet.numbers(first)
    rest = [sheet.numbers(name) for name in columns[1:]]
    whole = (
        len(values) > 1
        and len(set(values.tolist())) == len(values)
        and bool((values == np.floor(values)).all())
    )
    if whole and any((other != np.floor(other)).any() for other in rest):
        raise InputError(
            f"{sheet.label}: column {first} holds another whole number in every row: if it names the queries or systems, {HOW}"
        )


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text, re.IGNORECASE) is not None


def _holds_texts(sheet: Sheet, name: str) -> bool:
    """Whether no cell of a column is a number."""
    column = sheet.frame[name]
    return column.dtype == pl.String and column.str.strip_chars().cast(
        pl.Float64, strict=False
    ).null_count() == len(column)


def _numbered(word: str, sheet: Sheet) -> list[str]:
    return [f"{word}{n}" for n in range(1, len(sheet.frame) + 1)]


def _columns(sheet: Sheet, queries: list[str], systems: Sequence[str], numbered: bool = False) -> Part:
    if not systems:
        raise InputError(f"{sheet.label}: no column of a system; {EXPECTED}")
    values = np.array([sheet.numbers(name) for name in systems])
    return Part(tall(systems, queries, values), sheet.label, "columns", numbered)


def _transposed(sheet: Sheet, systems: list[str], queries: Sequence[str]) -> Part:
    if not queries:
        raise InputError(f"{sheet.label}: no column of a query; {EXPECTED}")
    values = np.array([sheet.numbers(name) for name in queries]).T
    return Part(tall(systems, queries, values), sheet.label, "rows")
