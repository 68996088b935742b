"""Scores computed by other tools: long tables, matrices of systems and queries, dicts, arrays."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NoReturn

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import DataError, InputError, RankscopeError
from rankscope.files.catalogue import kind_of
from rankscope.files.long import stem
from rankscope.files.memory import number_of, quote_value, speaks_arrow
from rankscope.files.parquet import open_parquet
from rankscope.files.raw import is_path, open_raw
from rankscope.files.sheets import QUERY, SYSTEM, Sheet, label_of, open_sheet
from rankscope.tables import Array

Systems = Literal["auto", "rows", "columns"]
NAMELESS = "score"  # the name of a metric without one
TOP = 1000  # rows of a large table that are read first
METRIC, VALUE = ("metric", "measure"), ("value", "score")
ROLES = (*QUERY, *SYSTEM, *METRIC)
HOW = "name it query_id or run, or set systems='columns' or systems='rows'"
EXPECTED = (
    "scores are a table of run, query_id, metric, value (as evaluate --per-query writes), a table with a system a column "
    "and a query a row, {system: {query: value}} or an array of systems x queries"
)
_METRIC = re.compile(
    r"(f1|[a-z_]+)(\(.*\))?@\d+|(n?dcg|n?err|p|r|precision|recall|ap|map|rr|mrr|gmap|bpref|hit_rate|success|f1|auc|gauc|rprec|rbp)([_.(]\S*)?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Part:
    """One table of scores, with one row per system, query and metric, and its label."""

    frame: pl.DataFrame
    label: str
    layout: Literal["columns", "rows", "long", "other"] = "other"
    without_ids: bool = False


def is_metric(name: str) -> bool:
    """True if a name looks like a metric, and not like a system or a query."""
    return _METRIC.fullmatch(name) is not None


def tall(systems: Sequence[str], queries: Sequence[str], values: Array, metric: str = NAMELESS) -> pl.DataFrame:
    """Return a matrix of systems x queries as rows."""
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
    """Find the shape of a table and read it."""
    query, system = sheet.role(QUERY), _system_column(sheet)
    if query is not None and system is not None and query != system:
        return _long(sheet, query, system, name, metric)
    if query is not None:
        return _by_query(sheet, query, (name, fallback), systems, metric)
    if system is not None and name is None and system == sheet.frame.columns[0]:
        return _by_system(sheet, system, systems)
    return _bare(sheet, name, systems, metric)


def _system_column(sheet: Sheet) -> str | None:
    """Return the column of system names; a column of fractions is a system."""
    name = sheet.role(SYSTEM)
    if name is None:
        return None
    column = sheet.frame[name]
    values = column.cast(pl.Float64, strict=False).drop_nulls().drop_nans()
    return None if (values != values.floor()).any() else name


def _long(sheet: Sheet, query: str, system: str, name: str | None, metric: str | None) -> Part:
    systems = sheet.ids(system, "system")
    if name is not None:
        names = systems.unique(maintain_order=True).to_list()
        if len(names) > 1:
            several = f"{words.counted(len(names), 'system')} ({words.listing(names, 3)})"
            raise InputError(f"{sheet.label}: holds {several}, but is given as the one system {name!r}")
        systems = pl.repeat(name, len(systems), dtype=pl.String, eager=True)
    return _rows(sheet, systems, query, {query, system}, metric)


def _rows(sheet: Sheet, systems: pl.Series, query: str, used: set[str], metric: str | None) -> Part:
    queries = sheet.ids(query, "query")
    named, value = sheet.role(METRIC), sheet.role(VALUE)
    if named is not None and named not in used:
        if value is None:
            raise InputError(f"{sheet.label}: a column {named}, but no column value; {EXPECTED}")
        columns = [(sheet.ids(named, "metric"), sheet.numbers(value))]
    else:
        names = _value_columns(sheet, used, metric)
        columns = [
            (pl.repeat(_metric_name(n), len(queries), dtype=pl.String, eager=True), sheet.numbers(n)) for n in names
        ]
    parts = [
        pl.DataFrame({"system": systems, "query_id": queries, "metric": metrics, "value": values})
        for metrics, values in columns
    ]
    _refuse_repeats(sheet, parts[0])
    return Part(pl.concat(parts), sheet.label, "long")


def _value_columns(sheet: Sheet, used: set[str], metric: str | None) -> list[str]:
    names = [name for name in sheet.frame.columns if name not in used]
    if not names:
        raise InputError(f"{sheet.label}: only the columns {words.listing(sorted(used))}, and no values; {EXPECTED}")
    fits = [name for name in names if metric is not None and name.casefold() == metric.casefold()]
    return fits or names


def _metric_name(column: str) -> str:
    return NAMELESS if column.casefold() in VALUE else column


def _refuse_repeats(sheet: Sheet, frame: pl.DataFrame) -> None:
    keys = frame.select("system", "query_id", "metric")
    if keys.is_duplicated().any():
        row = int(np.flatnonzero(~keys.select(pl.struct(pl.all())).to_series().is_first_distinct().to_numpy())[0])
        system, query, metric = keys.row(row)
        of = "" if metric == NAMELESS else f" for {metric}"
        raise InputError(f"{sheet.at(row)}: system {system!r} has query {query!r} twice{of}; keep one")


def _by_query(sheet: Sheet, query: str, names: tuple[str | None, str], systems: Systems, metric: str | None) -> Part:
    if systems == "rows":
        raise InputError(f"{sheet.label}: a column {query}, so its rows are queries; leave systems='rows' out")
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
            "or set systems='columns'"
        )
    if one:
        system = pl.repeat(names[0] or names[1], len(sheet.frame), dtype=pl.String, eager=True)
        return _rows(sheet, system, query, {query}, metric)
    return _columns(sheet, sheet.distinct(query, "query"), others)


def _by_system(sheet: Sheet, system: str, systems: Systems) -> Part:
    others = [name for name in sheet.frame.columns if name != system]
    if systems == "columns":
        return _columns(sheet, sheet.distinct(system, "query"), others)
    if sheet.role(METRIC) or (others and all(is_metric(name) for name in others)):
        reason = "holds means of systems, no values of queries"
        raise InputError(f"{sheet.label}: {reason}: write it with evaluate --per-query")
    return _transpose(sheet, sheet.distinct(system, "system"), others)


def _bare(sheet: Sheet, name: str | None, systems: Systems, metric: str | None) -> Part:
    columns = sheet.frame.columns
    first, column = columns[0], sheet.frame.to_series(0)
    texts = column.dtype == pl.String and column.str.strip_chars().cast(pl.Float64, strict=False).is_null().all()
    has_ids = first == "" or texts
    if systems == "auto":
        _refuse_unclear(sheet, has_ids)
    if systems == "rows":
        names = sheet.distinct(first, "system") if has_ids else _numbered("system", len(column))
        return _transpose(sheet, names, columns[1:] if has_ids else columns)
    queries = sheet.distinct(first, "query") if has_ids else _numbered("q", len(column))
    values = columns[1:] if has_ids else columns
    if name is None:
        return _columns(sheet, queries, values, without_ids=not has_ids)
    frame = [tall([name], queries, sheet.numbers(c)[None, :], _metric_name(c)) for c in values]
    return Part(pl.concat(frame), sheet.label, "other", without_ids=not has_ids)


def _refuse_unclear(sheet: Sheet, has_ids: bool) -> None:
    first, *others = sheet.frame.columns
    if has_ids:
        what = f"the first column {first!r} holds texts" if first else "the first column has no name"
        raise InputError(f"{sheet.label}: {what}, and may name queries or systems: {HOW}")
    if (number := next(filter(_NUMBER.fullmatch, sheet.frame.columns), None)) is not None:
        raise InputError(
            f"{sheet.label}: a column is called {number}: is the header line missing? A header names the systems; "
            "if it does, set systems='columns', and systems='rows' if it names the queries"
        )
    values, *rest = (sheet.numbers(name) for name in (first, *others))
    whole = len(values) > 1 and len(set(values.tolist())) == len(values) and (values == np.floor(values)).all()
    if whole and any((other != np.floor(other)).any() for other in rest):
        reason = f"column {first} holds another whole number in every row"
        raise InputError(f"{sheet.label}: {reason}: if it names the queries or systems, {HOW}")


def _numbered(word: str, count: int) -> list[str]:
    return [f"{word}{n}" for n in range(1, count + 1)]


def _columns(sheet: Sheet, queries: Sequence[str], systems: Sequence[str], without_ids: bool = False) -> Part:
    if not systems:
        raise InputError(f"{sheet.label}: no column of a system; {EXPECTED}")
    values = np.array([sheet.numbers(name) for name in systems])
    return Part(tall(systems, queries, values), sheet.label, "columns", without_ids)


def _transpose(sheet: Sheet, systems: Sequence[str], queries: Sequence[str]) -> Part:
    if not queries:
        raise InputError(f"{sheet.label}: no column of a query; {EXPECTED}")
    values = np.array([sheet.numbers(name) for name in queries]).T
    return Part(tall(systems, queries, values), sheet.label, "rows")


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """One value per system, query and metric: ``values[metric]`` is systems x queries, NaN for an undefined or absent value.

    ``note`` describes the input in one line. Systems and queries are in order of first appearance.
    """

    systems: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: dict[str, Array]
    note: str


def scores_of(source: Any, metric: str | None = None, systems: Systems = "auto") -> ScoreTable:
    """Read scores of systems on queries from any input.

    ``source`` is a path (CSV, TSV, Parquet, JSON, JSONL), a data frame, ``{system: {query: value}}``, ``{system: [values]}`` (also series),
    a NumPy array of systems x queries, or several: a list, or ``{system: source}`` with one system each. Tables are long
    (run, query_id, metric, value) or wide; ``systems`` places the systems of a wide one. ``metric`` picks one metric, or names the values
    if nothing else does.

    Raises InputError for any other input, DataError if systems share no query or no metric.

    >>> table = scores_of({"a": {"q1": 0.5, "q2": 1.0}, "b": {"q2": 0.25}}, metric="AP")
    >>> table.systems, table.query_ids, table.values["AP"].tolist()
    (('a', 'b'), ('q1', 'q2'), [[0.5, 1.0], [nan, 0.25]])
    """
    if systems not in ("auto", "rows", "columns"):
        raise InputError(f"systems={systems!r}: systems are in 'rows' or 'columns', or 'auto' detects them")
    if isinstance(source, ScoreTable):
        if metric is not None and metric not in source.values:
            _refuse_metric(metric, list(source.values), "the scores")
        return source if metric is None else replace(source, values={metric: source.values[metric]})
    parts = list(_parts(source, None, systems, metric))
    if not parts:
        raise InputError(f"scores: nothing is there to read; {EXPECTED}")
    frame = pl.concat([part.frame.with_columns(part=pl.lit(n)) for n, part in enumerate(parts)])
    if metric is not None:
        frame = frame.with_columns(pl.col("metric").replace({NAMELESS: metric}))
        frame = _choose(frame, metric, parts)
    _refuse_twice(frame, parts)
    return _table(frame, parts)


def holds_scores(path: str) -> bool:
    """Return True if a file is a table of scores of several systems.

    The first rows of a Parquet file with queries and without systems are read first: if they are no scores, the table is none.
    """
    try:
        raw = open_raw(path, EXPECTED)
        if kind_of(raw) == "parquet":
            file = open_parquet(raw)
            top = Sheet(raw.label, file.collect(file.scan.head(TOP)))
            if top.role(QUERY) is not None and top.role(SYSTEM) is None:
                part_of(top, None, stem(raw.label), "auto", None)
        return len(scores_of(path).systems) > 1
    except RankscopeError:
        return False


def _parts(source: Any, name: str | None, systems: Systems, metric: str | None) -> Iterator[Part]:
    if isinstance(source, list | tuple):
        if source and all(isinstance(item, float | int) for item in source):
            raise InputError(f"scores: a list of numbers has no system; {EXPECTED}")
        for item in source:
            yield from _parts(item, None, systems, metric)
        return
    if isinstance(source, np.ndarray):
        yield _of_array(source, systems)
        return
    label = name or "scores"
    sheet = open_sheet(source, label, EXPECTED, ROLES)
    if isinstance(sheet, Mapping):
        yield from _of_mapping(sheet, label_of(source, sheet, label), systems, metric)
    else:
        yield part_of(sheet, name, stem(sheet.label), systems, metric)


def _of_array(values: Array, systems: Systems) -> Part:
    if values.ndim != 2 or not np.issubdtype(values.dtype, np.number):
        shape = f"scores: an array of {values.ndim} dimensions and type {values.dtype}"
        raise InputError(f"{shape}; it should be systems x queries, of numbers")
    values = (values.T if systems == "columns" else values).astype(float)
    if np.isinf(values).any():
        row, query = np.argwhere(np.isinf(values))[0].tolist()
        raise InputError(f"scores: row {row}, column {query} of the array is infinite; NaN is undefined")
    frame = tall(_numbered("system", len(values)), _numbered("q", values.shape[1]), values)
    return Part(frame, "an array", "columns" if systems == "columns" else "rows", without_ids=True)


def _of_mapping(source: Mapping[Any, Any], label: str, systems: Systems, metric: str | None) -> Iterator[Part]:
    """Read ``{system: source}``, ``{system: {query: value}}``, ``{system: {query: {metric: value}}}`` or ``{system: [values]}``."""
    source = {name: _of_series(str(name), value, label) for name, value in source.items()}
    _refuse_measures(source, label)
    for name, value in source.items():
        if isinstance(value, Mapping):
            yield _of_queries(str(name), value, label)
        elif is_path(value) or speaks_arrow(value):
            yield from _parts(value, str(name), systems, metric)
        elif isinstance(value, np.ndarray | Sequence) and np.ndim(np.asarray(value, dtype=object)) == 1:
            yield _of_queries(str(name), {f"q{n}": one for n, one in enumerate(value, 1)}, label)
        else:
            raise InputError(f"{label}: system {name!r} has {quote_value(value)}; {EXPECTED}")
    sizes = {name: len(value) for name, value in source.items() if isinstance(value, np.ndarray | list | tuple)}
    if len(set(sizes.values())) > 1:
        counts = ", ".join(f"{name} {words.count(size)}" for name, size in list(sizes.items())[:3])
        raise InputError(f"{label}: lists of different lengths ({counts}); give {{query: value}} for each system")


def _of_series(name: str, value: Any, label: str) -> Any:
    """Return a pandas series as a mapping by its index and other series as a list. Other values are unchanged."""
    if hasattr(value, "columns") or not hasattr(value, "to_list"):
        return value
    index: Any = getattr(value, "index", None)
    if not hasattr(index, "is_unique") or type(index).__name__ == "RangeIndex":
        return value.to_list()
    if not index.is_unique:
        raise InputError(f"{label}: the index of system {name!r} has a query twice; keep one")
    return value.to_dict()


def _refuse_measures(source: Mapping[Any, Any], label: str) -> None:
    """Reject pytrec_eval's result for one run: ``{query: {measure: value}}`` has no system."""
    inner = [str(key) for value in source.values() if isinstance(value, Mapping) for key in value]
    if inner and all(map(is_metric, inner)):
        raise InputError(
            f"{label}: the inner keys are metrics ({words.listing(dict.fromkeys(inner), 3)}), so the outer ones are queries: "
            "give {system: {query: {metric: value}}}"
        )


def _of_queries(name: str, values: Mapping[Any, Any], label: str) -> Part:
    rows: list[tuple[str, str, str, float]] = []
    for query, value in values.items():
        by_metric = value if isinstance(value, Mapping) else {NAMELESS: value}
        where = f"{label}: system {name!r}, query {query!r}"
        rows += [(name, str(query), str(m), _number(v, where)) for m, v in by_metric.items()]
    if not rows:
        raise InputError(f"{label}: system {name!r} has no query; {EXPECTED}")
    schema = {"system": pl.String, "query_id": pl.String, "metric": pl.String, "value": pl.Float64}
    return Part(pl.DataFrame(rows, schema=schema, orient="row"), label)


def _number(value: Any, where: str) -> float:
    number = float("nan") if value is None else number_of(value)
    if number is None or abs(number) == float("inf"):
        raise InputError(f"{where}: {quote_value(value)} is not a finite number; NaN is undefined")
    return number


def _choose(frame: pl.DataFrame, metric: str, parts: Sequence[Part]) -> pl.DataFrame:
    names = frame["metric"].unique(maintain_order=True).to_list()
    fits = [metric] if metric in names else [n for n in names if n.casefold() == metric.casefold()]
    if not fits:
        _refuse_metric(metric, names, words.listing([part.label for part in parts], 3))
    return frame.filter(pl.col("metric").is_in(fits)).with_columns(metric=pl.lit(metric))


def _refuse_metric(metric: str, names: Sequence[str], label: str) -> NoReturn:
    raise InputError(f"{label}: unknown metric {metric!r}{words.hint(metric, names)}")


def _refuse_twice(frame: pl.DataFrame, parts: Sequence[Part]) -> None:
    keys = frame.select("system", "query_id", "metric")
    again = np.flatnonzero(keys.is_duplicated().to_numpy())
    if not len(again):
        return
    system, query, metric = keys.row(int(again[0]))
    same = frame.filter(system=system, query_id=query, metric=metric)["part"].unique().sort().to_list()
    labels = list(dict.fromkeys(parts[n].label for n in same))
    what = f"system {system!r} has query {query!r} twice" + (f" for {metric}" if metric != NAMELESS else "")
    if len(same) > 1:
        raise InputError(f"{' and '.join(labels)}: {what}; name each system with a dict {{name: source}}")
    raise InputError(f"{labels[0]}: {what}; keep one")


def _table(frame: pl.DataFrame, parts: Sequence[Part]) -> ScoreTable:
    names = {key: frame[key].unique(maintain_order=True) for key in ("system", "query_id", "metric")}
    axes = [(frame[key], names[key]) for key in ("metric", "system", "query_id")]
    shape = tuple(len(labels) for _, labels in axes)
    values, there = np.full(shape, np.nan), np.zeros(shape, dtype=bool)
    place = tuple(column.replace_strict(one, pl.int_range(len(one), eager=True)).to_numpy() for column, one in axes)
    values[place], there[place] = frame["value"].to_numpy(), True
    systems, queries, metrics = (tuple(labels.to_list()) for labels in names.values())
    _refuse_apart(systems, queries, there, parts)
    lacking = int((~np.asarray(there.any(axis=0))).sum())
    note = _note(parts, (systems, queries, metrics), lacking)
    return ScoreTable(systems, queries, dict(zip(metrics, values, strict=True)), note)


def _refuse_apart(systems: Sequence[str], queries: Sequence[str], there: Array, parts: Sequence[Part]) -> None:
    if len(systems) < 2:
        return
    label = words.listing(dict.fromkeys(part.label for part in parts), 3)
    has = np.asarray(there.any(axis=0))
    alone = np.flatnonzero(~(has & (has.sum(axis=0) > 1)).any(axis=1))
    if len(alone):
        one = int(alone[0])
        places = (np.flatnonzero(mask).tolist() for mask in (has[one], ~has[one]))
        own, others = (words.sample([queries[n] for n in at]) for at in places)
        reason = f"{label}: system {systems[one]!r} shares no query with the others"
        raise DataError(f"{reason}: its queries are {own}, theirs {others}; use one set of query ids")
    if not (there.any(axis=2).sum(axis=1) > 1).any():
        raise DataError(f"{label}: two systems need a metric in common; give the same metric for each")


def _note(parts: Sequence[Part], table: tuple[tuple[str, ...], ...], lacking: int) -> str:
    systems, queries, metrics = table
    layouts = {part.layout for part in parts}
    where = {"columns": (" (columns)", " (rows)"), "rows": (" (rows)", " (columns)")}
    of, on = where.get(layouts.pop(), ("", "")) if len(layouts) == 1 else ("", "")
    facts = [
        f"read {words.listing(dict.fromkeys(part.label for part in parts), 3)} as scores of {words.counted(len(systems), 'system')}{of}",
        f"on {words.counted(len(queries), 'query')}{on}",
    ]
    if any(part.without_ids for part in parts):
        facts[-1] += f", numbered q1 to q{len(queries)}"
    if metrics != (NAMELESS,):
        facts[-1] += f": {words.listing(metrics)}"
    if lacking:
        facts[-1] += f"; {words.count(lacking)} of {words.count(len(systems) * len(queries))} are absent"
    return " ".join(facts)
