"""Tables of sums: one row per variant (or per day and variant), with the number of users, sums, and sums of squares and products."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.log_formats.rows import LogRows
from rankscope.files.roles import column_roles
from rankscope.impressions import COLUMNS, Sums, number_of_text
from rankscope.words import plain_name

COUNT, SUCCESSES = "n", "successes"  # roles of these tables
NOUNS = ("user", "visitor", "customer", "device", "account", "client", "unit")
COUNTS = (COUNT, "count", "size", "samplesize", "exposures", *(f"{start}{noun}{end}" for noun in NOUNS for start, end in (("", "s"), ("n", "s"), ("num", "s"), ("", "count"))))  # fmt: skip
OF_ROWS = {plain_name(name) for role in ("unit_id", "session_id", "impression_id", "item_id", "position") for name in (role, *COLUMNS[role].names)}  # fmt: skip
SQUARES = re.compile(r"(?P<end>.+?)_?(?:sum_?of_?)?(?:squares|squared|square|sum_?sq|sq)|(?:sum_?of_?|sum_?)?(?:squares?|sq)_?(?:of_?)?(?P<start>.+)", re.IGNORECASE)  # fmt: skip
PRODUCTS = re.compile(r"(?P<end>.+?)_(?:sum_?)?(?:of_?)?products?|(?:sum_?of_?|sum_?)?products?_(?:of_?)?(?P<start>.+)", re.IGNORECASE)  # fmt: skip
A_SUM = re.compile(r"(?P<end>.+)_(?:sum|total)|(?:sum|total)_(?:of_)?(?P<start>.+)", re.IGNORECASE)
ROUNDED = 1e-9  # a share of a sum of squares by which rounding may make it too small


def _base(pattern: re.Pattern[str], name: str) -> str | None:
    match = pattern.fullmatch(name)
    return None if match is None else (match["end"] or match["start"]).strip("_")


def as_sums(rows: LogRows, columns: Any) -> tuple[LogRows, Any]:
    """Return the rows of a table of sums with its sums under the names that metrics use, and the roles of the other columns."""
    names = list(rows.schema)
    pairs = column_roles(columns, "users=n,orders=successes") if columns else []
    if rows.read_as or any(plain_name(name) in OF_ROWS for name in (*names, *(role for _, role in pairs))):
        return rows, columns
    own = {name: plain_name(role) for name, role in pairs if name in names and plain_name(role) in {COUNT, SUCCESSES}}
    squares = {base: name for name in names if (base := _base(SQUARES, name)) is not None and _sum_of(base, names)}
    counts = [name for name, role in own.items() if role == COUNT] or [
        name for name in names if plain_name(name) in COUNTS
    ]
    if not (squares or own) or not counts:
        return rows, columns
    of, products = _columns_of(names, squares, [name for name, role in own.items() if role == SUCCESSES])
    return _read(rows, counts[0], of, products), {name: role for name, role in pairs if name not in own} or None


def _sum_of(base: str, names: list[str]) -> str | None:
    """Return the column with the sums of squares' base: revenue, revenue_sum, sum_revenue or total_revenue."""
    return next((name for name in names if base in {name, _base(A_SUM, name)} or (_base(A_SUM, base) or base) == _base(A_SUM, name)), None)  # fmt: skip


def _columns_of(
    names: list[str], squares: Mapping[str, str], successes: list[str]
) -> tuple[dict[str, str], dict[tuple[str, str], str]]:
    """Return the columns of sums and of sums of products, by the names that metrics use."""
    of: dict[str, str] = {}
    products: dict[tuple[str, str], str] = {}
    for base, squared in squares.items():
        total = _sum_of(base, names) or base
        short = _base(A_SUM, total) or total
        of[short], products[short, short] = total, squared
    for name in successes:
        of[name], products[name, name] = name, name
    for name in names:
        if name not in {*of.values(), *products.values()} and (known := _base(A_SUM, name)) is not None:
            of.setdefault(known, name)
    for name in names:
        if (both := _base(PRODUCTS, name)) is not None:
            pair = next(((a, b) for a in of for b in of if a < b and both in {f"{a}_{b}", f"{b}_{a}"}), None)
            products |= {} if pair is None else {pair: name}
    return of, products


def _read(rows: LogRows, count: str, of: Mapping[str, str], products: Mapping[tuple[str, str], str]) -> LogRows:
    """Return the rows with columns of numbers, sums of products under names that no column of a table has."""
    frame = rows.collect(rows.frame)
    numbers = {name: _numbers(rows, frame[name]) for name in dict.fromkeys([count, *of.values(), *products.values()])}
    n = numbers[count]
    if (odd := (n < 1) | (n != n.round())).any():
        at = int(odd.arg_true()[0])
        raise InputError(
            f"{rows.source.at(at)}, column {count}: {words.amount(n[at])}: the number of units is a whole number from 1"
        )
    for (a, b), name in products.items():
        if a == b and (low := numbers[name] * (1 + ROUNDED) < numbers[of[a]] ** 2 / n).any():
            at = int(low.arg_true()[0])
            raise InputError(
                f"{rows.source.at(at)}: {name} {words.amount(numbers[name][at])} cannot be the sum of squares of {words.amount(n[at])} units "
                f"with the sum {words.amount(numbers[of[a]][at])} ({of[a]}): it would be {words.amount(numbers[of[a]][at] ** 2 / n[at])} or more"
            )
    used = {*numbers}
    hidden = {pair: f" {' '.join(pair)}" for pair in products}
    kept = frame.select(name for name in frame.columns if name not in used)
    clash = [name for name in of if name in kept.columns]
    if clash:
        raise InputError(
            f"{rows.source.label}: columns {clash[0]} and {of[clash[0]]} could each be the sum of {clash[0]}: leave one out"
        )
    made = kept.with_columns(
        n.alias(f" {COUNT}"),
        *(numbers[name].alias(base) for base, name in of.items()),
        *(numbers[name].alias(hidden[pair]) for pair, name in products.items()),
    )
    noun = next((noun for noun in NOUNS if noun in plain_name(count)), "user")
    what = f"sums over {words.counted(int(n.sum()), noun)} in {words.counted(len(made), 'row')} ({words.listing(of, most=12)})"
    sums = Sums(f" {COUNT}", noun, {base: base for base in of}, hidden)
    limits = f"sums do not show skewness: t tests compare them. Each {noun} must be in one row only"
    notes = (*rows.source.notes, limits)
    return replace(rows, frame=made.lazy(), schema=dict(made.schema), source=replace(rows.source, notes=notes), collect=pl.LazyFrame.collect, read_as=what, pieces=(), sums=sums)  # fmt: skip


def _numbers(rows: LogRows, column: pl.Series) -> pl.Series:
    """Return the numbers of a column. Raises InputError for the first cell that is empty or no finite number."""
    text = column.dtype == pl.String
    numbers = column.to_frame().select(number_of_text(pl.col(column.name))[0] if text else pl.col(column.name).cast(pl.Float64, strict=False)).to_series()  # fmt: skip
    odd = numbers.is_null() | ~numbers.is_finite().fill_null(value=True)
    if odd.any():
        at = int(odd.arg_true()[0])
        raise InputError(
            f"{rows.source.at(at)}, column {column.name}: {words.quote(str(column[at]))}: sums are finite numbers in each row"
        )
    return numbers
