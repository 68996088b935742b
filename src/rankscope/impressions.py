"""A log of impressions: what users were shown and what they did, a row a shown item; its columns, and what each of them allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol

import polars as pl

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.sources import UNDEFINED, Source

YES, NO = ("1", "true", "yes", "y", "t"), ("0", "false", "no", "n", "f")
Kind = Literal["id", "time", "place", "flag", "number", "probability"]


def number_of_text(column: pl.Expr, *, flags: bool = True) -> tuple[pl.Expr, pl.Expr]:
    """Return the numbers in a column of text, null for empty cells, and which cells are faulty; yes and no are 1 and 0 if ``flags``."""
    text = column.str.strip_chars().str.to_lowercase()
    value, known = text.cast(pl.Float64, strict=False), ~text.is_in(UNDEFINED)
    if flags:
        value = pl.when(text.is_in(YES)).then(1.0).when(text.is_in(NO)).then(0.0).otherwise(value)
    return pl.when(known).then(value), (known & value.is_null()).fill_null(value=False)


def first_known(column: pl.Expr) -> pl.Expr:
    """Return the first value of a group that is not null."""
    # drop_nulls().first() gives any number for groups without a value in Polars 1.32
    return column.filter(column.is_not_null()).first()


@dataclass(frozen=True)
class LogColumn:
    """A column that a log may have: its ``name`` here, what it means, and the names by which people call it.

    ``allows`` says what can be asked where it is there, to stand after "with it".
    """

    name: str
    kind: Kind
    about: str
    names: tuple[str, ...] = ()
    allows: str = ""


# fmt: off
COLUMNS: dict[str, LogColumn] = {column.name: column for column in (
    LogColumn("unit_id", "id", "who was given a variant: a user, a device, an account",
        ("user_id", "user", "visitor_id", "visitor", "customer_id", "customer", "device_id", "account_id", "client_id", "cookie_id", "anonymous_id", "unit"),
        "users are told apart, so that intervals hold where a user comes back"),
    LogColumn("impression_id", "id", "one list as it was shown",
        ("impression", "list_id", "request_id", "search_id", "serp_id", "slate_id", "ranking_id", "page_view_id"),
        "lists with a click, and abandonment"),
    LogColumn("session_id", "id", "one visit", ("session", "visit_id", "visit"), "sessions: their length, items in them, how often a user comes"),
    LogColumn("query_id", "id", "what was asked for", ("query", "qid", "query_text", "search_term", "keyword", "user_query"),
        "reformulations, and values by query"),
    LogColumn("timestamp", "time", "when it was shown, in UTC", ("time", "datetime", "ts", "event_time", "date", "created_at", "tstamp"),
        "days, return rates, and looks at an experiment as it goes on"),
    LogColumn("item_id", "id", "what was shown", ("item", "doc_id", "docid", "document_id", "product_id", "article_id", "sku", "url", "object_id")),
    LogColumn("position", "place", "its place in the list, from 1", ("rank", "pos", "slot"), "clicks by position"),
    LogColumn("shown", "flag", "whether it was shown", ("displayed", "is_shown", "visible", "served")),
    LogColumn("examined", "flag", "whether it was in view", ("viewable", "viewed", "in_view", "is_viewed")),
    LogColumn("click", "flag", "whether it was clicked", ("clicked", "clicks", "is_click", "clk", "click_label"), "click-through rates"),
    LogColumn("dwell_s", "number", "seconds that were spent on it", ("dwell", "dwell_time", "dwell_seconds", "dwell_time_s"), "satisfied clicks"),
    LogColumn("conversion", "flag", "whether it was bought, booked, or whatever success is",
        ("converted", "order", "orders", "purchase", "purchased", "bought", "is_conversion", "conversions"), "conversion rates"),
    LogColumn("revenue", "number", "what it earned", ("amount", "sales", "gmv", "order_value", "income"), "revenue and order value"),
    LogColumn("reward", "number", "what is to be as large as possible", ("rating", "utility")),
    LogColumn("variant", "id", "what the user was given in an experiment",
        ("group", "arm", "treatment", "bucket", "variation", "variation_id", "experiment_group", "test_group", "cell"), "an experiment"),
    LogColumn("experiment_id", "id", "which experiment", ("experiment", "test_id")),
    LogColumn("logger_id", "id", "which policy made the list", ("logger", "policy", "policy_id")),
    LogColumn("p_item_pos", "probability", "how probable this item was at this place",
        ("pscore", "propensity", "propensity_score", "pscore_item_position", "action_prob"), "estimates for other policies"),
    LogColumn("p_prefix", "probability", "how probable the list was down to this place", ("pscore_cascade",)),
    LogColumn("p_slate", "probability", "how probable the whole list was", ("pscore_slate",)),
    LogColumn("label", "number", "what judges said of it", ("grade", "relevance")),
)}
# fmt: on
OUTCOMES = ("click", "dwell_s", "conversion", "revenue", "reward")
BLANKS = [" ", "\t", "\n", "\r", "\u00a0"]  # which an id has at its ends where somebody padded it
PART = 3 << 22  # rows that are grouped at a time; what they take in memory is the most that a log of any size takes

Query = Callable[[pl.LazyFrame], pl.LazyFrame]


class Elsewhere(Protocol):
    """Rows that lie in parts on other machines."""

    def gather(self, query: pl.LazyFrame, within: str) -> pl.DataFrame:
        """What a query gives for each part, end to end; rows of one value of the column ``within`` are in one part."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """The rows of a frame in ``parts``, one after the other, with ids as they lie: numbers not yet text, texts not stripped of blanks."""

    frame: pl.LazyFrame
    parts: tuple[pl.LazyFrame, ...]


@dataclass(frozen=True, eq=False)
class Log:
    """A log of impressions, or a table with one row a unit, under the names of ``COLUMNS``.

    ``frame`` has the columns in their types: ids as text, times in UTC, flags and numbers as doubles, of which null says that it was
    not observed and 0 that it was observed not to be. ``roles`` has the name that each column had in the input; ``attributes`` are
    all others, as they were: users' countries, devices, numbers of their own. ``rows`` counts the rows, ``gather`` asks something of them.
    ``parts`` are the rows of the frame in pieces that are quick to read, where they are known.

    ``collect`` runs a query over the frame. Where the rows lie ``elsewhere`` the frame has none: it only says what its columns are.
    """

    frame: pl.LazyFrame
    roles: Mapping[str, str]
    attributes: tuple[str, ...] = ()
    source: Source = field(default_factory=lambda: Source("log"))
    collect: Callable[[pl.LazyFrame], pl.DataFrame] = pl.LazyFrame.collect
    parts: Pieces | None = None
    elsewhere: Elsewhere | None = None

    def gather(self, query: Query, within: str = "") -> pl.DataFrame:
        """What a query gives for each part of the rows, end to end: whoever asks adds up what parts say.

        ``within`` names a column (of ids) whose rows of one value are never in two parts; without it they may be. A log on this machine is one
        part, or several of about 12 million rows each where it has more and they are grouped ``within`` a column. In all of them rows keep their order.

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
        parts = -(-self.rows // PART) if within else 1
        if parts < 2:
            return self.collect(query(self.frame))
        place = pl.col(within).hash() % parts
        return pl.concat([self.collect(query(self.frame.filter(place == part))) for part in range(parts)])

    @property
    def label(self) -> str:
        """What messages call it."""
        return self.source.label

    @property
    def pieces(self) -> tuple[pl.LazyFrame, ...]:
        """The rows, piece by piece; ids may be as they lie in the input."""
        return self.parts.parts if self.parts is not None and self.parts.frame is self.frame else (self.frame,)

    @cached_property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.gather(lambda frame: frame.select(pl.len())).sum().item())

    @property
    def of_impressions(self) -> bool:
        """Whether its rows are what was shown; else each is a user, with numbers of their own."""
        return self.has("item_id") or self.has("impression_id") or self.has("position") or self.has("shown")

    @property
    def unit_noun(self) -> str:
        """What a unit is called: a user where the column said so; a row where there is none."""
        if "unit_id" not in self.roles:
            return "row"
        plain = words.plain_name(self.roles["unit_id"]).removesuffix("id")
        return plain if plain in {"user", "visitor", "customer", "device", "account", "client"} else "unit"

    def has(self, *names: str) -> bool:
        """Whether it has all these columns."""
        return all(name in self.roles for name in names)

    def require(self, names: Sequence[str], what: str) -> None:
        """Refuse what needs columns that there are not, and say how to name them."""
        missing = [name for name in names if name not in self.roles]
        if missing:
            wanted = words.listing([f"{name} ({COLUMNS[name].about})" for name in missing], last="and")
            others = [name for name in self.roles.values() if name not in COLUMNS] + list(self.attributes)
            names = f"; if {words.listing(others, 3, last='or')} is that, say so: --columns "
            rest = f"{names}'{others[0]}={missing[0]}'" if others else ""
            raise DataError(f"{self.label}: {what} needs a column {wanted}{rest}")

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
        """A column of numbers by the name it has in the input or here; text is read as numbers where it is such.

        Raises InputError where there is no such column, or it cannot hold numbers.
        """
        column = self.column(name)
        kind = COLUMNS[column].kind if column in self.roles else ""
        if kind in {"id", "time"}:
            raise InputError(
                f"{self.label}: column {name} is taken as {column} ({COLUMNS[column].about}); a column of numbers is expected"
            )
        if self.schema[column] != pl.String:
            return pl.col(column).cast(pl.Float64, strict=False).fill_nan(None)
        value, faulty = number_of_text(pl.col(column))
        first = [faulty.arg_true().first().alias("row"), pl.col(column).filter(faulty).first().alias("cell")]
        found = self.gather(lambda frame: frame.select(first)).drop_nulls()
        if len(found):
            row, cell = found.row(0)
            raise InputError(f"{self.source.at(row)}, column {name}: {words.quote(cell)} is not a number")
        return value

    @cached_property
    def schema(self) -> Mapping[str, pl.DataType]:
        """The type of each column."""
        return self.frame.collect_schema()

    def allowance(self) -> str:
        """What further columns would allow, in a sentence; empty where nothing of note is missing."""
        wanted = ("unit_id", "impression_id", "position", "timestamp", "variant")
        parts = [f"{name} ({COLUMNS[name].allows})" for name in wanted if name not in self.roles]
        with_them = f"column{'s' if len(parts) > 1 else ''} {words.listing(parts, most=len(parts), last='and')}"
        return f"More could be asked with the {with_them}." if parts else ""
