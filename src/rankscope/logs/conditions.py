"""Conditions on rows, like ``event = 'purchase' and amount > 10``: read by a small grammar, never run as code."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial, reduce
from operator import and_, eq, ge, gt, le, lt, ne, or_
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.impressions import COLUMNS, NO, YES, Log

EXAMPLE = "event = 'purchase' and amount > 10"
GRAMMAR = "it compares columns by = != < <= > >= in, between, like, is null, joined by and, or, not"
TOKEN = re.compile(
    r"""\s*(?:(?P<text>'(?:[^']|'')*')|(?P<quoted>"[^"]+"|`[^`]+`)|(?P<number>[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)|(?P<word>[^\W\d][\w.]*)|(?P<sign><>|[<>!=]=|[=<>(),]))"""
)
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": eq, "==": eq, "!=": ne, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge,
}  # fmt: skip
WORDS = frozenset({"and", "or", "not", "in", "is", "null", "between", "like", "true", "false"})
Value = str | float | bool


def condition_of(text: str, log: Log) -> pl.Expr:
    """Return the rows of a log that fulfil a condition. An empty cell fulfils only ``is null``.

    Columns have the names of the input or of the log; put a name with blanks in double quotes or backticks, a text in single quotes.
    A column without a comparison is a flag: ``clicked and not returned``. A text column is read as numbers if compared with a number.
    Raises InputError for any other text, and for an unknown column.

    >>> from rankscope.files.logs import read_log
    >>> log = read_log({"user": ["a", "a", "b"], "event": ["view", "purchase", "view"], "amount": [None, 12.0, None]})
    >>> log.collect(log.frame.select(condition_of("event = 'purchase' and amount > 10", log))).to_series().to_list()
    [False, True, False]
    """
    return _Reader(text, log).whole().fill_null(value=False)


def why_no_condition(text: str) -> str:
    """Return the reason against a condition, empty if it can be read."""
    try:
        _Reader(text, None).whole()
    except InputError as error:
        return str(error)
    return ""


class _Reader:
    """A reader of one condition, which checks only the grammar if no ``log`` is given."""

    def __init__(self, text: str, log: Log | None) -> None:
        self.text, self.log, self.at = text, log, 0
        self.tokens = self._tokens()

    def _tokens(self) -> list[tuple[str, str]]:
        tokens, place = [], 0
        while self.text[place:].strip():
            match = TOKEN.match(self.text, place)
            if match is None:
                raise self.refusal(self.text[place:].strip())
            tokens.append((str(match.lastgroup), match[str(match.lastgroup)]))
            place = match.end()
        return tokens

    def refusal(self, near: str) -> InputError:
        near = f"cannot read {words.quote(near, 60)}" if near else "it ends too early"
        return InputError(f"{near} in a condition: {GRAMMAR}, like {EXAMPLE}")

    def peek(self) -> str:
        """Return the next keyword or sign in small letters, empty for a name, a value, or at the end."""
        kind, token = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        return token.lower() if kind == "sign" or (kind == "word" and token.lower() in WORDS) else ""

    def take(self, *wanted: str) -> str:
        """Move past a wanted keyword or sign and return it, or return an empty text."""
        token = self.peek()
        self.at += token in wanted and token != ""
        return token if token in wanted else ""

    def need(self, wanted: str) -> None:
        if not self.take(wanted):
            raise self.stop()

    def stop(self) -> InputError:
        return self.refusal(self.tokens[self.at][1] if self.at < len(self.tokens) else "")

    # -- the grammar --------------------------------------------------------------------------------

    def whole(self) -> pl.Expr:
        try:
            condition = self.either()
        except RecursionError:
            raise self.refusal("") from None
        if self.at < len(self.tokens):
            raise self.stop()
        return condition

    def either(self) -> pl.Expr:
        parts = [self.both()]
        while self.take("or"):
            parts.append(self.both())
        return reduce(or_, parts)

    def both(self) -> pl.Expr:
        parts = [self.single()]
        while self.take("and"):
            parts.append(self.single())
        return reduce(and_, parts)

    def single(self) -> pl.Expr:
        if self.take("not"):
            return ~self.single().fill_null(value=False)
        if self.take("("):
            inside = self.either()
            self.need(")")
            return inside
        name = self.name()
        if sign := self.take(*COMPARE):
            if (kind := self.kind()) in {"quoted", "word"} and self.peek() not in {"true", "false"}:
                return COMPARE[sign](self.number(name), self.number(self.name())) if kind else pl.lit(0)
            return self.compare(name, COMPARE[sign], self.value())
        if self.take("is"):
            negated = self.take("not")
            self.need("null")
            empty = self.column(name).cast(pl.String).str.strip_chars().fill_null("") == ""
            return ~empty if negated else empty
        negated = self.take("not")
        condition = self.ranged(name, negated)
        return ~condition if negated else condition

    def ranged(self, name: str, negated: str) -> pl.Expr:
        """Return a condition with ``in``, ``between`` or ``like``, or the flag of a column."""
        if self.take("in"):
            self.need("(")
            values = [self.value()]
            while self.take(","):
                values.append(self.value())
            self.need(")")
            return reduce(or_, (self.compare(name, eq, value) for value in values))
        if self.take("between"):
            low = self.value()
            self.need("and")
            return self.compare(name, ge, low) & self.compare(name, le, self.value())
        if self.take("like"):
            pattern = str(self.value())
            parts = {"%": ".*", "_": "."}
            return self.column(name).cast(pl.String).str.contains(
                "(?s)^" + "".join(parts.get(sign, re.escape(sign)) for sign in pattern) + "$"
            )  # fmt: skip
        if negated:
            raise self.stop()
        return self.number(name) > 0

    def kind(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def name(self) -> str:
        if self.kind() not in {"quoted", "word"} or self.peek():
            raise self.stop()
        kind, token = self.tokens[self.at]
        self.at += 1
        if self.peek() == "(":
            raise self.refusal(f"{token}(")
        return token[1:-1] if kind == "quoted" else token

    def value(self) -> Value:
        kind, token = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        self.at += 1
        if kind == "text":
            return token[1:-1].replace("''", "'")
        if kind == "number":
            return float(token)
        if token.lower() in {"true", "false"}:
            return token.lower() == "true"
        self.at -= 1
        raise self.stop()

    # -- columns of the log -------------------------------------------------------------------------

    def column(self, name: str) -> pl.Expr:
        return pl.lit(None) if self.log is None else pl.col(self.log.column(name, f"for the condition {self.text!r}"))

    def number(self, name: str) -> pl.Expr:
        return pl.lit(0.0) if self.log is None else self.log.number(name)

    def compare(self, name: str, sign: Callable[[Any, Any], Any], value: Value) -> pl.Expr:
        """Compare a column with a value, both in the type that fits them."""
        if self.log is None:
            return pl.lit(value=True)
        at = self.log.column(name, f"for the condition {self.text!r}")
        kind, dtype = COLUMNS[at].kind if at in self.log.roles else "", self.log.schema[at]
        compared = partial(sign, pl.col(at).cast(pl.String))
        if dtype.is_temporal():
            return sign(pl.col(at), self.time(name, value, dtype))  # type: ignore[no-any-return] # Polars gives one
        if kind == "id":
            text = f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)
            return compared(text)  # type: ignore[no-any-return]
        if not isinstance(value, str):
            return sign(self.log.number(name), float(value))  # type: ignore[no-any-return]
        if dtype.is_numeric() or dtype == pl.Boolean:
            number = words.as_number(value)
            plain = value.strip().lower()
            number = 1.0 if plain in YES else 0.0 if plain in NO else number
            if number is None:
                raise InputError(f"condition {self.text!r}: column {name} holds numbers, and {value!r} is a text")
            return sign(self.log.number(name), number)  # type: ignore[no-any-return]
        return compared(value)  # type: ignore[no-any-return]

    def time(self, name: str, value: Value, dtype: pl.DataType) -> pl.Expr:
        try:
            at = datetime.fromisoformat(str(value))
        except ValueError:
            raise InputError(
                f"condition {self.text!r}: column {name} holds times: write one like '2024-05-01' or '2024-05-01T12:00:00'"
            ) from None
        if not (zone := getattr(dtype, "time_zone", None)):
            return pl.lit(at)
        at = at.replace(tzinfo=at.tzinfo or ZoneInfo(zone))  # days are in the zone of the log, as for --from
        return pl.lit(at.astimezone(UTC)).dt.convert_time_zone(zone)
