"""A log of impressions, one row per shown item: its columns, the metrics that each of them allows, and the columns that options name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cached_property, reduce
from operator import xor
from typing import Any, Literal, Protocol

import polars as pl

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.sources import UNDEFINED, Source

YES, NO = ("1", "true", "yes", "y", "t"), ("0", "false", "no", "n", "f")
NUMBERS = "numbers are expected, or text with numbers"
Kind = Literal["id", "time", "place", "flag", "number", "probability"]


def number_of_text(column: pl.Expr, *, flags: bool = True) -> tuple[pl.Expr, pl.Expr]:
    """Return the numbers in a column of text, null for empty cells, and which cells are faulty. Yes and no are 1 and 0 if ``flags``."""
    text = column.str.strip_chars().str.to_lowercase()
    value, known = text.cast(pl.Float64, strict=False), ~text.is_in(UNDEFINED)
    if flags:
        value = pl.when(text.is_in(YES)).then(1.0).when(text.is_in(NO)).then(0.0).otherwise(value)
    return pl.when(known).then(value), (known & value.is_null()).fill_null(value=False)


def _is_numbers(cells: pl.Series) -> bool:
    """True for numbers, yes and no, or text with these."""
    if cells.dtype != pl.String:
        return cells.dtype.is_numeric() or cells.dtype == pl.Boolean
    return len(cells) > 0 and not cells.to_frame("cell").select(number_of_text(pl.col("cell"))[1].any()).item()


def plain_of(column: pl.Expr, dtype: pl.DataType, where: str, expected: str = NUMBERS) -> tuple[pl.Expr, pl.DataType]:
    """Return a column with categories as text, and its type: text, numbers, or yes and no. Raises InputError for any other type."""
    if dtype in (pl.Categorical, pl.Enum):
        return column.cast(pl.String), pl.String()
    if dtype.is_numeric() or dtype in (pl.String, pl.Boolean, pl.Null):
        return column, dtype
    raise InputError(f"{where} is of type {dtype}: {expected}")


def one_key(ids: Sequence[str]) -> pl.Expr:
    """Return one number for the ids of a row, which is faster to group by. Two of 5 million ids share one with a chance below one in a million."""
    return reduce(xor, (pl.col(name).hash(seed) for seed, name in enumerate(ids, 1))).alias("key")


def padded(ids: pl.Series) -> bool:
    """True if an id is empty or has a blank, so that ids are to be stripped."""
    return bool(ids.str.contains_any(BLANKS).any() or (ids == "").any())


def first_known(column: pl.Expr) -> pl.Expr:
    """Return the first value of a group that is not null."""
    # drop_nulls().first() gives any number for groups without a value in Polars 1.32
    return column.filter(column.is_not_null()).first()


@dataclass(frozen=True)
class LogColumn:
    """A column that a log may have: its ``name``, its meaning, names that people use, and what it ``allows``, to stand after "with it"."""

    name: str
    kind: Kind
    about: str
    names: tuple[str, ...] = ()
    allows: str = ""


# fmt: off
COLUMNS: dict[str, LogColumn] = {column.name: column for column in (
    LogColumn("unit_id", "id", "the unit that was given a variant: a user, a device, an account",
        ("user_id", "user", "visitor_id", "visitor", "customer_id", "customer", "device_id", "account_id", "client_id", "cookie_id", "anonymous_id", "unit"),
        "intervals stay valid when users return"),
    LogColumn("impression_id", "id", "one list as it was shown",
        ("impression", "list_id", "request_id", "search_id", "serp_id", "slate_id", "ranking_id", "page_view_id"),
        "lists with a click, and abandonment"),
    LogColumn("session_id", "id", "one visit", ("session", "visit_id", "visit"), "sessions: their length, items in them, how often a user comes"),
    LogColumn("query_id", "id", "the query of the user", ("query", "qid", "query_text", "search_term", "keyword", "user_query"),
        "reformulations, and values by query"),
    LogColumn("timestamp", "time", "when it was shown, in UTC", ("time", "datetime", "ts", "event_time", "date", "created_at", "tstamp"),
        "days, return rates, and looks at an experiment as it goes on"),
    LogColumn("item_id", "id", "the shown item", ("item", "doc_id", "docid", "document_id", "product_id", "article_id", "sku", "url", "object_id")),
    LogColumn("position", "place", "its place in the list, from 1", ("rank", "pos", "slot"), "clicks by position"),
    LogColumn("shown", "flag", "whether it was shown", ("displayed", "is_shown", "visible", "served")),
    LogColumn("examined", "flag", "whether it was in view", ("viewable", "viewed", "in_view", "is_viewed")),
    LogColumn("click", "flag", "1 if the item was clicked", ("clicked", "clicks", "is_click", "clk", "click_label"), "click-through rates"),
    LogColumn("dwell_s", "number", "seconds that were spent on it", ("dwell", "dwell_time", "dwell_seconds", "dwell_time_s"), "satisfied clicks"),
    LogColumn("conversion", "flag", "1 for a success, such as a purchase or a booking",
        ("converted", "order", "orders", "purchase", "purchased", "bought", "is_conversion", "conversions"), "conversion rates"),
    LogColumn("revenue", "number", "the revenue of the item", ("amount", "sales", "gmv", "order_value", "income"), "revenue and order value"),
    LogColumn("reward", "number", "a value that should be large", ("rating", "utility")),
    LogColumn("variant", "id", "the variant of the user in an experiment",
        ("group", "arm", "treatment", "bucket", "variation", "variation_id", "experiment_group", "test_group", "cell"), "an experiment"),
    LogColumn("experiment_id", "id", "which experiment", ("experiment", "test_id")),
    LogColumn("logger_id", "id", "which policy made the list", ("logger", "policy", "policy_id")),
    LogColumn("p_item_pos", "probability", "how probable this item was at this place",
        ("pscore", "propensity", "propensity_score", "pscore_item_position", "action_prob"), "estimates for other policies"),
    LogColumn("p_prefix", "probability", "how probable the list was down to this place", ("pscore_cascade",)),
    LogColumn("p_slate", "probability", "how probable the whole list was", ("pscore_slate",)),
    LogColumn("label", "number", "the grade of the item by a judge", ("grade", "relevance")),
    LogColumn("team", "id", "the ranker that contributed the item to an interleaved list", ("picked_by",), "preferences between rankers"),
    LogColumn("merge_method", "id", "how an interleaved list was mixed", ("mixing", "interleaving_method")),
)}
# fmt: on
VARIANT_WORDS = frozenset({"variant", "arm", "group", "version", "treatment", "bucket", "cell", "variation", "segment"})


MOST_VARIANTS = 12  # values of a column that may be variants
SAMPLE = 10_000  # rows at the top whose cells show the role that a column could have


def may_name_variants(name: str) -> bool:
    """Return True if a word of a column's name is one for variants."""
    return not VARIANT_WORDS.isdisjoint(re.findall("[a-z]+", name.lower()))


OUTCOMES = ("click", "dwell_s", "conversion", "revenue", "reward")
BLANKS = [" ", "\t", "\n", "\r", "\u00a0"]  # which an id has at its ends where somebody padded it
ROWS = " rows"  # no column of a log is called so
PART = 3 << 22  # rows that are grouped at a time; what they take in memory is the most that a log of any size takes

Query = Callable[[pl.LazyFrame], pl.LazyFrame]


class Elsewhere(Protocol):
    """Rows in parts on other machines."""

    def gather(self, query: pl.LazyFrame, within: str) -> pl.DataFrame:
        """The answers of a query for each part, end to end. Rows with one value of the column ``within`` are in one part."""


@dataclass(frozen=True, eq=False)
class Sums:
    """The columns of a log that has sums over many units in each row.

    ``count`` is the column with the number of units, ``noun`` a unit in words, ``of`` the columns of sums by the names in metrics. ``products`` are
    columns with sums of products by two of these names in alphabetical order, and sums of squares by one name twice.
    """

    count: str
    noun: str
    of: Mapping[str, str]
    products: Mapping[tuple[str, str], str]


@dataclass(frozen=True, eq=False)
class Pieces:
    """The rows of a frame in ``parts`` and as a ``whole``, with raw ids: numbers are not yet text, and texts keep their blanks.

    ``full`` are columns of ids that are known to have no empty cell.
    """

    frame: pl.LazyFrame
    parts: tuple[pl.LazyFrame, ...]
    whole: pl.LazyFrame
    full: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Merged:
    """The rows of a ``frame``, merged into a ``table`` by columns. Its sums are ``ROWS``, and ``n0`` and ``d0`` of the first metric, and so on."""

    frame: pl.LazyFrame
    table: pl.DataFrame
    by: tuple[str, ...]
    metrics: tuple[object, ...]


@dataclass(frozen=True, eq=False)
class Log:
    """A log of impressions, or a table with one row per unit, under the names of ``COLUMNS``.

    ``frame`` has the columns in their types: ids as text, times in UTC, flags and numbers as doubles, of which null says that it was
    not observed and 0 that it was observed not to be. ``roles`` has the name that each column had in the input; ``attributes`` are
    all others, as they were: users' countries, devices, numbers of their own. ``rows`` counts the rows, ``gather`` asks something of them.
    ``parts`` are the rows of the frame in pieces that are quick to read, where they are known, and ``merged`` are its rows where they were merged.

    ``collect`` runs a query over the frame. Where the rows lie ``elsewhere`` the frame has none: it only says what its columns are.
    """

    frame: pl.LazyFrame
    roles: Mapping[str, str]
    attributes: tuple[str, ...] = ()
    source: Source = field(default_factory=lambda: Source("log"))
    collect: Callable[[pl.LazyFrame], pl.DataFrame] = pl.LazyFrame.collect
    parts: Pieces | None = None
    elsewhere: Elsewhere | None = None
    before: Log | None = None  # the rows of the same units before they were assigned to variants
    sums: Sums | None = None  # if rows are sums over many units
    most: int | None = None  # a bound of the number of rows, if it is known before they are read
    part: int | None = None  # rows that are grouped at a time; None: ``PART``
    merged: Merged | None = None
    events: str | None = None  # a column of true and false, if some rows are assignments to variants and not events

    def gather(self, query: Query, within: str = "", ids: Sequence[str] = ()) -> pl.DataFrame:
        """What a query gives for each part of the rows, end to end: whoever asks adds up what parts say.

        ``within`` names a column (of ids) whose rows of one value are never in two parts; without it they may be. A log on this machine is one
        part, or several of about 12 million rows each where it has more and they are grouped ``within`` a column. In all of them rows keep their order.
        ``ids`` are columns of ids, if the query looks at no other ids and gives all of these: they are read faster, and stripped only if one is padded.

        >>> log = Log(
        ...     pl.LazyFrame({"unit_id": ["a", "b", "a"], "click": [1.0, 0.0, 1.0]}),
        ...     {"unit_id": "user", "click": "click"},
        ... )
        >>> log.gather(lambda frame: frame.group_by("unit_id").agg(pl.col("click").sum()), "unit_id").sort(
        ...     "unit_id"
        ... ).rows()
        [('a', 2.0), ('b', 0.0)]
        """
        if self.elsewhere is not None:
            return self.elsewhere.gather(query(self.frame), within)
        if ids:
            frame = self._in_parts(query, within, self._with_ids_as_given)
            if not any(padded(frame[name]) for name in ids):
                return frame
        return self._in_parts(query, within, self.frame)

    def _in_parts(self, query: Query, within: str, frame: pl.LazyFrame) -> pl.DataFrame:
        parts = -(-(self.most or self.rows) // (self.part or PART)) if within else 1
        if parts < 2:
            return self.collect(query(frame))
        place = pl.col(within).hash() % parts
        return pl.concat([self.collect(query(frame.filter(place == part))) for part in range(parts)])

    @property
    def zone(self) -> str:
        """The time zone of days."""
        return getattr(self.schema.get("timestamp"), "time_zone", None) or "UTC"

    def days(self) -> tuple[date, ...]:
        """Return the first and the last day (in its zone), or the only one. Empty without times."""
        if not self.has("timestamp"):
            return ()
        ends = self.gather(
            lambda frame: frame.select(pl.col("timestamp").min().alias("a"), pl.col("timestamp").max().alias("b"))
        )
        known = [moment.date() for moment in (ends["a"].min(), ends["b"].max()) if isinstance(moment, datetime)]
        return tuple(dict.fromkeys(known))

    @property
    def label(self) -> str:
        """The name of the log in messages."""
        return self.source.label

    @property
    def _pieces(self) -> Pieces | None:
        return self.parts if self.parts is not None and self.parts.frame is self.frame else None

    @property
    def pieces(self) -> tuple[pl.LazyFrame, ...]:
        """The rows, part by part, with ids as in the input."""
        return (self.frame,) if self._pieces is None else self._pieces.parts

    def some_empty(self, name: str) -> bool:
        """True if a cell of a column is empty. Rows are read only if the file does not record it."""
        known_full = self._pieces is not None and name in self._pieces.full
        return not known_full and bool(
            self.gather(lambda frame: frame.select(pl.col(name).is_null().any()))[name].any()
        )

    @property
    def _with_ids_as_given(self) -> pl.LazyFrame:
        ids = [name for name in self.roles if COLUMNS[name].kind == "id"]
        return self.frame if self._pieces is None else self._pieces.whole.with_columns(pl.col(ids).cast(pl.String))

    def turned(self, change: Query) -> Log:
        """Return the log with its rows changed one by one, in all its pieces."""
        frame = change(self.frame)
        held = self._pieces
        parts = None if held is None else Pieces(frame, tuple(map(change, held.parts)), change(held.whole))
        return replace(self, frame=frame, parts=parts)

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.gather(lambda frame: frame.select(pl.len())).sum().item())

    @property
    def of_impressions(self) -> bool:
        """True if each row is a shown item, false if each row is a user with numbers."""
        return self.has("item_id") or self.has("impression_id") or self.has("position") or self.has("shown")

    @property
    def unit_noun(self) -> str:
        """The noun for a unit: user if a column names users, row if there is no such column."""
        if "unit_id" not in self.roles:
            return "row"
        plain = words.plain_name(self.roles["unit_id"]).removesuffix("id")
        return plain if plain in {"user", "visitor", "customer", "device", "account", "client"} else "unit"

    def has(self, *names: str) -> bool:
        """True if it has all these columns."""
        return all(name in self.roles for name in names)

    def require(self, names: Sequence[str], what: str) -> None:
        """Refuse a request for missing columns, and say how to name them."""
        missing = [name for name in names if name not in self.roles]
        if missing:
            wanted = words.listing([f"{name} ({COLUMNS[name].about})" for name in missing], last="and")
            named = [name for name in self.roles.values() if name not in COLUMNS]
            others = self.fitting(missing[0], [*self.attributes, *(named if missing[0] == "variant" else ())])
            names = f"; if {words.listing(others, 3, last='or')} is that, name it: --columns "
            rest = f"{names}'{others[0]}={missing[0]}'" if others else ""
            raise DataError(f"{self.label}: {what} needs the column {wanted}{rest}")

    def fitting(self, role: str, names: Sequence[str]) -> list[str]:
        """The columns whose first cells a role could have: variants are few, and outcomes are numbers, or yes and no. The likeliest come first."""
        sample = self.gather(
            lambda rows: rows.select(pl.col(self.column(name)).alias(name) for name in names).head(SAMPLE)
        )
        if role == "variant":
            few = [name for name in names if 2 <= sample[name].drop_nulls().n_unique() <= MOST_VARIANTS]
            return sorted(few, key=lambda name: (name.lower() not in VARIANT_WORDS, not may_name_variants(name)))
        if COLUMNS[role].kind in {"id", "time"}:
            return list(names)
        return [name for name in names if _is_numbers(sample[name].drop_nulls())]

    def column(self, name: str, purpose: str = "") -> str:
        """What a column is called here, by the name that it has in the input or here. Raises InputError where there is none.

        ``purpose`` is what it is wanted for, to stand in the message: ``to slice by``.
        """
        here = {own: role for role, own in self.roles.items()} | {own: own for own in (*self.roles, *self.attributes)}
        if name not in here:
            there = words.hint(name, [*self.roles.values(), *self.attributes])
            raise InputError(f"{self.label}: no column {name!r}{f' {purpose}' if purpose else ''}{there}")
        return here[name]

    def number(self, name: str) -> pl.Expr:
        """A column of numbers by the name it has in the input or here. Text is read as numbers where it is such.

        Raises InputError where there is no such column, or it cannot hold numbers.
        """
        column = self.column(name)
        kind = COLUMNS[column].kind if column in self.roles else ""
        if kind in {"id", "time"}:
            raise InputError(
                f"{self.label}: column {name} is taken as {column} ({COLUMNS[column].about}): a column of numbers is expected"
            )
        cells, dtype = plain_of(pl.col(column), self.schema[column], f"{self.label}: column {name}")
        if dtype != pl.String:
            return cells.cast(pl.Float64, strict=False).fill_nan(None)
        value, faulty = number_of_text(cells)
        first = [faulty.arg_true().first().alias("row"), pl.col(column).filter(faulty).first().alias("cell")]
        faults = self.gather(lambda frame: frame.select(first)).drop_nulls()
        if len(faults):
            row, cell = faults.row(0)
            raise InputError(f"{self.source.at(row)}, column {name}: {words.quote(cell)} is not a number")
        return value

    @cached_property
    def schema(self) -> Mapping[str, pl.DataType]:
        """The type of each column."""
        return self.frame.collect_schema()

    def allowance(self) -> str:
        """Return a sentence about the metrics that further columns would allow, or an empty text."""
        wanted = ("unit_id", "impression_id", "position", "timestamp", "variant")
        parts = [f"{name} ({COLUMNS[name].allows})" for name in wanted if name not in self.roles]
        with_them = f"column{'s' if len(parts) > 1 else ''} {words.listing(parts, most=len(parts), last='and')}"
        return f"More could be asked with the {with_them}." if parts else ""


IDS = ("unit_id", "impression_id", "session_id", "timestamp")


def refuse_positions(log: Log, least: int = 0) -> None:
    """Raise DataError for a position below the first one."""
    lowest = log.gather(lambda rows: rows.select(pl.col("position").min())).min().item()
    if lowest is not None and lowest < least:
        raise DataError(f"{log.label}: a row has position {lowest}: positions count from 1 (see rankscope check LOG)")


def column_of(log: Log, name: str, purpose: str = "to slice by") -> str:
    """The column to slice or group by, by its name in the input or here. Raises InputError where there is none, or it is of ids or times."""
    column = log.column(name, purpose)
    if column in IDS:
        raise InputError(
            f"{log.label}: column {name} is taken as {column}: slices need columns with few values, like a country or a device"
        )
    if (dtype := log.schema[column]).is_nested() or dtype in (pl.Binary, pl.Object):
        raise InputError(
            f"{log.label}: column {name} is of type {dtype}: slices are of columns of text, numbers or dates"
        )
    return column


def attribute_of(log: Log, name: str) -> str:
    """The column of attributes to group units of an experiment by; the column of variants is refused."""
    column = column_of(log, name, "to group by")
    if column == "variant":
        raise InputError(
            f"{log.label}: {name} is the column of variants, which are compared already: name another to group by"
        )
    if column == "position":
        refuse_positions(log)
    return column


def attribute_columns(log: Log, slices: Any) -> list[str]:
    """The columns of attributes to slice an experiment by. Raises InputError for any other column."""
    return [attribute_of(log, name) for name in slice_names(log, slices)]


def cluster_columns(log: Log, clusters: Any) -> list[str]:
    """The columns whose values name the cluster that was given a variant. Raises InputError for columns that cannot."""
    columns = [log.column(name, "to cluster by") for name in slice_names(log, clusters, "clusters", "household")]
    for name in columns:
        if name in {"variant", "unit_id"}:
            unit = f"that names each {log.unit_noun}, which is the unit without clusters"
            about = "of variants" if name == "variant" else unit
            raise InputError(
                f"{log.label}: {log.roles.get(name, name)} is the column {about}: name a column of clusters, like household"
            )
    return columns


def slice_names(log: Log, source: Any, option: str = "slices", like: str = "country") -> list[str]:
    """Names of columns to slice by: one, several, or several in one text, apart at commas. Raises InputError for what is no name."""
    names = [] if source is None else [source] if isinstance(source, str) else source
    if isinstance(names, Mapping) or not isinstance(names, Iterable):
        raise InputError(f"{option}: of a log they are names of its columns, like {like}")
    whole = {*log.roles.values(), *log.roles, *log.attributes}  # a name may have a comma of its own
    parts = [part.strip() for name in map(str, names) for part in ([name] if name in whole else name.split(","))]
    return list(dict.fromkeys(parts))
