"""Side tables: attributes and clusters of queries, costs of runs, and training data of a recommender."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.files.catalogue import qrels_of
from rankscope.files.memory import ids_of, number_of, quote_value
from rankscope.files.raw import is_path
from rankscope.files.roles import ColumnRoles
from rankscope.files.sheets import QUERY, SYSTEM, Sheet, label_of, open_sheet
from rankscope.sources import UNDEFINED
from rankscope.tables import Array, as_texts

# --- attributes of queries, which divide them into slices, and clusters of queries --------------------------------------


NONE = "(none)"
FEW = 6  # most values of a number that is cut by value
EXPECTED = "attributes are a table with a query id first and an attribute in each further column, or {query: {attribute: value}}"
CLUSTERS = "clusters are a table of two columns, query and cluster, or {query: cluster}"

Attribute = str | float | None


@dataclass(frozen=True, eq=False)
class Attributes:
    """The attributes of each query (texts, numbers, or None if missing) and their source.

    ``key`` is the name of the column of queries in the header.
    """

    by_query: dict[str, dict[str, Attribute]]
    label: str
    key: str = ""

    @property
    def names(self) -> list[str]:
        """The attributes, in the order of the columns."""
        return list(dict.fromkeys(name for attributes in self.by_query.values() for name in attributes))

    def slices(self, query_ids: Sequence[str]) -> dict[str, dict[str, Array]]:
        """Return the slices of each attribute, as masks over these queries; every query is in one slice.

        Texts and numbers of at most six different values are cut by value, other numbers into thirds that are as equal as ties allow.
        A query without the attribute is in the slice ``(none)``.

        >>> found = attributes_of({"q1": {"lang": "en"}, "q2": {"lang": "de"}}).slices(["q1", "q2", "q3"])
        >>> {name: mask.tolist() for name, mask in found["lang"].items()}
        {'de': [False, True, False], 'en': [True, False, False], '(none)': [False, False, True]}
        """
        return {
            name: _slices(name, [self.by_query.get(query, {}).get(name) for query in query_ids]) for name in self.names
        }

    def unknown(self, query_ids: Sequence[str]) -> list[str]:
        """Return the queries of the file that are not among these."""
        scored = set(query_ids)
        return [query for query in self.by_query if query not in scored]

    def remarks(self, query_ids: Sequence[str]) -> list[str]:
        """Return notes on queries that only the file or only the scores have."""
        if self.key in query_ids:
            remedy = "not with a header; name its columns in the first line"
            raise InputError(f"{self.label}: begins with the query {self.key!r}, {remedy}")
        unknown = self.unknown(query_ids)
        if len(unknown) == len(self.by_query):
            has = f"it has {words.listing(unknown, 3)}, the scores {words.listing(query_ids, 3)}"
            raise DataError(f"{self.label}: its queries have no scores; {has}: use one set of query ids")
        lacking = [query for query in query_ids if query not in self.by_query]
        out = []
        for ids, kind, what in ((unknown, "", "not scored"), (lacking, "scored ", "not in it")):
            many = words.counted(len(ids), f"{kind}query is", f"{kind}queries are")
            out += [f"{self.label}: {many} {what} ({words.listing(ids, 3)})"] if ids else []
        return out


def attributes_of(source: Any) -> Attributes:
    """Read attributes from a file, a data frame or ``{query: {attribute: value}}``.

    The query is in a column called query_id, qid, query or topic, or in the first. A column has numbers if every cell with a value is a
    number. Raises InputError for a query without id or with two rows.
    """
    if isinstance(source, Attributes):
        return source
    table = open_sheet(source, "attributes", EXPECTED, QUERY)
    label = label_of(source, table, "attributes")
    if isinstance(table, Mapping):
        return Attributes(_of_mapping(table, label), label)
    key = table.role(QUERY) or table.frame.columns[0]
    names = [name for name in table.frame.columns if name != key]
    if not names:
        raise InputError(f"{label}: one column only; {EXPECTED}")
    queries = table.distinct(key, "query")
    values = {name: _column(table, name) for name in names}
    return Attributes({q: {name: values[name][n] for name in names} for n, q in enumerate(queries)}, label, key)


def clusters_of(source: Any, query_ids: Sequence[str]) -> tuple[Array, list[str]]:
    """Return the cluster of each query, numbered from 0 in the order of cluster names, and the names.

    Takes a file or a data frame of two columns, query and cluster, or ``{query: cluster}``. Raises InputError for a query with two
    clusters, DataError for one without a cluster.

    >>> codes, names = clusters_of({"q1": "u2", "q2": "u1", "q3": "u2"}, ["q1", "q2", "q3"])
    >>> codes.tolist(), names
    ([1, 0, 1], ['u1', 'u2'])
    """
    table = open_sheet(source, "clusters", CLUSTERS, QUERY)
    label = label_of(source, table, "clusters")
    by_query = _clusters(table, label, set(query_ids))
    without = [query for query in query_ids if by_query.get(query) is None]
    if without:
        many = f"{words.count(len(without))} of {words.counted(len(query_ids), 'query')} {words.agree(len(without), 'has')} none"
        raise DataError(f"{label}: query {without[0]!r} has no cluster ({many}): give every scored query one")
    names, codes = np.unique([str(by_query[query]) for query in query_ids], return_inverse=True)
    return codes.astype(np.int64), names.tolist()


def _of_mapping(source: Mapping[Any, Any], label: str) -> dict[str, dict[str, Attribute]]:
    if not source:
        raise InputError(f"{label}: the dict is empty; {EXPECTED}")
    out: dict[str, dict[str, Attribute]] = {}
    for query, attributes in zip(ids_of(source, label, "query"), source.values(), strict=True):
        values = attributes if isinstance(attributes, Mapping) else {"attribute": attributes}
        if query in out:
            raise InputError(f"{label}: query {query} is there as text and as number: keep one")
        out[query] = {str(name): _value(value, f"{label}: query {query}, {name}") for name, value in values.items()}
    for name in dict.fromkeys(name for values in out.values() for name in values):
        if {str, float} <= {type(values.get(name)) for values in out.values()}:  # numbers among texts are texts
            for values in out.values():
                values[name] = _as_text(values.get(name))
    return out


def _value(value: Any, where: str) -> Attribute:
    if value is None or (isinstance(value, float | np.floating) and np.isnan(value)):
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | float | np.integer | np.floating) and np.isfinite(value):
        return float(value)
    if isinstance(value, str):
        return None if value.strip().casefold() in UNDEFINED else value.strip()
    raise InputError(f"{where}: {quote_value(value)} should be a text or a finite number")


def _column(sheet: Sheet, name: str) -> list[Attribute]:
    column = sheet.frame[name]
    if column.dtype == pl.Boolean:
        return [None if value is None else str(value).lower() for value in column]
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        raise InputError(f"{sheet.label}: column {name} is of type {column.dtype}: an attribute is a text or a number")
    if column.dtype != pl.String and not column.dtype.is_numeric():
        column = column.cast(pl.String, strict=False)
    if column.dtype == pl.String:
        text = column.fill_null("").str.strip_chars()
        has_value = ~text.str.to_lowercase().is_in(UNDEFINED)
        if not has_value.any() or text.filter(has_value).cast(pl.Float64, strict=False).null_count():
            plain = text.replace(["True", "TRUE", "False", "FALSE"], ["true", "true", "false", "false"])
            return [value if has else None for value, has in zip(plain, has_value, strict=True)]
    return [None if np.isnan(value) else value for value in sheet.numbers(name).tolist()]


def _clusters(table: Sheet | Mapping[Any, Any], label: str, scored: set[str]) -> dict[str, str | None]:
    rows: list[tuple[str, Any]] = []
    if isinstance(table, Mapping):
        rows += zip(ids_of(table, label, "query"), table.values(), strict=True)
    else:
        key, other = table.pair(CLUSTERS)
        rows += [(key, other)] if key in scored else []  # a query in the header
        rows += zip(table.ids(key, "query"), table.frame[other].to_list(), strict=True)
    out: dict[str, str | None] = {}
    for query, cluster in rows:
        if query in out:
            raise InputError(f"{label}: query {query!s} has two clusters; keep one")
        out[query] = _as_text(_value(cluster, f"{label}: query {query!s}"))
    return out


def _slices(name: str, values: list[Attribute]) -> dict[str, Array]:
    numbers = [value for value in values if isinstance(value, float)]
    out: dict[str, Array] = {}
    if numbers:
        column = np.array([value if isinstance(value, float) else np.nan for value in values])
        cuts = sorted(set(numbers))
        if len(cuts) > FEW:
            ordered, many = sorted(numbers), len(numbers)
            cuts = sorted({ordered[-(-part * many // 3) - 1] for part in (1, 2, 3)})
        out = _up_to(name, column, cuts)
    for text in sorted({value for value in values if isinstance(value, str)}):
        out[text] = np.array([value == text for value in values])
    nothing = np.array([value is None for value in values], dtype=bool)
    if nothing.any():
        out[NONE] = nothing | out.pop(NONE, np.zeros(len(values), dtype=bool))
    return out


def _up_to(name: str, column: Array, cuts: Sequence[float]) -> dict[str, Array]:
    """Return the slices that end at these values, named by their lowest and highest value."""
    masks = [(column > low) & (column <= high) for low, high in pairwise([-np.inf, *cuts])]
    ends = [(float(column[mask].min()), float(column[mask].max())) for mask in masks]
    for spelling in (_plain, repr):  # repr differs for any two numbers
        names = [f"{name} {spelling(a)}" + (f" to {spelling(b)}" if b > a else "") for a, b in ends]
        if len(set(names)) == len(names):
            break
    return dict(zip(names, masks, strict=True))


def _as_text(value: Attribute) -> str | None:
    return _plain(value) if isinstance(value, float) else value


def _plain(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"


# --- costs of runs, such as latency or money: one run per row, one cost per column --------------------------------------


COSTS = (
    "costs are a table with a run first and a cost in each further column (latency_ms, cost), or {run: {column: value}}"
)
_MORE_IS_BETTER = re.compile(
    r"(?i)throughput|(^|[^a-z])[qr]ps($|[^a-z])|(queries|requests|documents|docs|items|tokens)[ _-]?per[ _-]?s"
)


@dataclass(frozen=True, eq=False)
class Costs:
    """The costs of each run: numbers of at least 0, lower is better."""

    columns: tuple[str, ...]
    by_run: dict[str, dict[str, float]]
    label: str

    def of(self, runs: Iterable[str]) -> dict[str, dict[str, float]]:
        """Return the costs of these runs. Raises InputError for a run without costs."""
        runs = list(runs)
        for run in runs:
            if run not in self.by_run:
                others = [name for name in self.by_run if name not in runs]
                raise InputError(f"{self.label}: unknown run {run!r}{words.hint(run, others)}")
        return {run: self.by_run[run] for run in runs}

    def column(self, name: str) -> str:
        """Return the name of a column, or raise InputError with the nearest name."""
        if name not in self.columns:
            raise InputError(f"{self.label}: no column {name!r}{words.hint(name, self.columns)}")
        return name

    def remarks(self, runs: Sequence[str]) -> list[str]:
        """Return a note on runs with a cost and without a score."""
        left = [run for run in self.by_run if run not in runs]
        note = f"{self.label}: {words.counted(len(left), 'run')} without a score ({words.listing(left, 3)})"
        return [note] if left else []


def costs_of(source: Any) -> Costs:
    """Read costs of runs from a file, a data frame or ``{run: {column: value}}``.

    The run is in a column called run, system, model or name, or in the first. Every other column holds numbers of at least 0; less is
    better. Raises InputError for anything else.

    >>> costs = costs_of({"large": {"latency_ms": 250}, "small": {"latency_ms": 45}})
    >>> costs.columns, costs.by_run["small"]
    (('latency_ms',), {'latency_ms': 45.0})
    """
    if isinstance(source, Costs):
        return source
    table = open_sheet(source, "costs", COSTS, SYSTEM)
    if isinstance(table, Mapping):
        return _costs_of_mapping(table, label_of(source, table, "costs"))
    key = table.role(SYSTEM) or table.frame.columns[0]
    names = [name for name in table.frame.columns if name != key]
    runs = table.distinct(key, "run")
    values: dict[str, list[float]] = {name: table.numbers(name).tolist() for name in names}
    for name, column in values.items():
        if (row := next((n for n, value in enumerate(column) if not value >= 0), None)) is not None:
            _refuse_cost(f"{table.at(row)}, column {name}", None if np.isnan(column[row]) else column[row])
    by_run = {run: {name: values[name][n] for name in names} for n, run in enumerate(runs)}
    return _check_cost(names, by_run, table.label)


def _costs_of_mapping(source: Mapping[Any, Any], label: str) -> Costs:
    by_run: dict[str, dict[str, float]] = {}
    for run, costs in source.items():
        values = costs if isinstance(costs, Mapping) else {"cost": costs}
        by_run[str(run)] = {str(name): _cost_of(v, f"{label}: run {run!s}, {name}") for name, v in values.items()}
    names = list(dict.fromkeys(name for values in by_run.values() for name in values))
    for run, values in by_run.items():
        if (lacking := next((name for name in names if name not in values), None)) is not None:
            raise InputError(f"{label}: run {run!s} has no {lacking}; give every run each cost, or leave {lacking} out")
    return _check_cost(names, by_run, label)


def _cost_of(value: Any, where: str) -> float:
    number = number_of(value)
    if number is None or not 0 <= number < float("inf"):
        _refuse_cost(where, value)
    return number


def _refuse_cost(where: str, value: Any) -> NoReturn:
    problem = "the number is missing" if value is None else f"{quote_value(value)} is not a cost"
    raise InputError(f"{where}: {problem}; every run needs a cost of at least 0")


def _check_cost(names: Sequence[str], by_run: dict[str, dict[str, float]], label: str) -> Costs:
    if not names or not by_run:
        raise InputError(f"{label}: no cost is there; {COSTS}")
    if more := next(filter(_MORE_IS_BETTER.search, names), None):
        remedy = "give the time that a query takes"
        raise InputError(f"{label}: column {more}: of a cost less is better, of a throughput more; {remedy}")
    return Costs(tuple(names), by_run, label)


# --- training data of a recommender: users, their items, and times ------------------------------------------------------


USERS = ("user_id", "user", "userid", "query_id", "qid", "session_id", "customer_id")
ITEMS = ("item_id", "item", "itemid", "movieid", "movie_id", "doc_id", "docid", "product_id", "article_id", "iid")
TIMES = ("timestamp", "time", "unix_timestamp", "datetime", "date", "ts", "t_dat", "event_time", "created_at")
INTERACTIONS = "interactions are a table with the columns user_id and item_id"


@dataclass(frozen=True, eq=False)
class Interactions:
    """Users and their items, read from ``source`` when first needed."""

    source: Any

    @property
    def label(self) -> str:
        """The name of the file, or ``history``."""
        return str(self.source) if is_path(self.source) else "history"

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The interactions, with ids that may be whole numbers."""
        return interactions_of(self.source, whole=True)

    @property
    def frame(self) -> pl.DataFrame:
        """The interactions, as ``interactions_of`` reads them."""
        return self.rows.with_columns(as_texts(self.rows["query_id"]), as_texts(self.rows["doc_id"]))


def interactions_of(source: Any, columns: ColumnRoles | None = None, whole: bool = False) -> pl.DataFrame:
    """Read interactions from a table of users and items, from ``{user: [item, ...]}``, or from any input of qrels.

    With ``whole``, ids that are whole numbers stay numbers.
    """
    if isinstance(source, Interactions):
        return source.frame
    if isinstance(source, Mapping) and all(isinstance(some, list | tuple | set) for some in source.values()):
        pairs = [(str(user), str(item)) for user, some in source.items() for item in some]
        rows = pl.DataFrame(pairs, {"query_id": pl.String, "doc_id": pl.String}, orient="row")
        return rows.with_columns(time=pl.lit(None, pl.Float64))
    sheet = _sheet(source)
    given_roles = columns.among(sheet.frame.columns, "qrels", sheet.label) if sheet is not None and columns else {}
    user, item = (sheet.role(USERS), sheet.role(ITEMS)) if sheet else (None, None)
    user, item = given_roles.get("query_id", user), given_roles.get("doc_id", item)
    if sheet is not None and user and item:
        frame = pl.DataFrame({"query_id": sheet.ids(user, "user", whole), "doc_id": sheet.ids(item, "item", whole)})
        time = sheet.role(TIMES)
        return frame.with_columns(time=_seconds(sheet.frame[time]) if time else pl.lit(None, pl.Float64))
    qrels = qrels_of(source, columns)
    return (qrels.held if whole else qrels.frame).select("query_id", "doc_id", time=pl.lit(None, pl.Float64))


def timed_interactions(source: Any) -> pl.DataFrame | None:
    """Read interactions from a table with a column of times; None for any other input."""
    source = source.source if isinstance(source, Interactions) else source
    sheet = _sheet(source)
    return None if sheet is None or sheet.role(TIMES) is None else interactions_of(source)


def _sheet(source: Any) -> Sheet | None:
    if isinstance(source, Mapping) or not (is_path(source) or hasattr(source, "__arrow_c_stream__")):
        return None
    try:
        table = open_sheet(source, "train", INTERACTIONS, (*USERS, *ITEMS))
    except InputError:
        return None
    return table if isinstance(table, Sheet) else None


def _seconds(column: pl.Series) -> pl.Series:
    if column.dtype.is_numeric():
        return column.cast(pl.Float64)
    if column.dtype == pl.String:
        numbers = column.cast(pl.Float64, strict=False)
        if numbers.is_not_null().any():
            return numbers
        column = column.str.replace("T", " ").str.slice(0, 19)
        dates = column.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False)
        column = dates.fill_null(column.str.slice(0, 10).str.to_datetime("%Y-%m-%d", strict=False))
    return column.cast(pl.Datetime).dt.epoch("s").cast(pl.Float64)
