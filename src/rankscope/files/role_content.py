"""Checks of a log's columns by content: a column whose name fits an id must hold ids."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.log_formats.inputs import LogRows
from rankscope.words import plain_name

IDS = ("unit_id", "session_id", "impression_id")
COUNTS = frozenset({"session", "visit", "impression"})  # plain names of ids that are as often counts
NUMBER = "number"  # the role of a column that is only a number
# roles of tables with several rows per unit
ONE_ROW_EACH = ("item_id", "impression_id", "session_id", "position", "shown")
# keys of things that a unit has several of
OTHER_KEYS = ("event", "row", "order", "transaction", "record", "log", "line", "request")
KEY_WORDS = frozenset({"id", "key", "uid", "uuid", "guid", "hash"})
PEOPLE = {
    "user",
    "customer",
    "client",
    "visitor",
    "member",
    "player",
    "account",
    "shopper",
    "subscriber",
    "cookie",
    "device",
}
FLAGS = ("0", "1", "0.0", "1.0", "true", "false", "yes", "no", "y", "n", "t", "f")
SAMPLE = 10_000  # rows at the top that are searched
FEWEST = 20  # rows below which a column with two values may hold ids
PER_ID = 20  # rows per value from which a few numbers are counts rather than ids


def check_ids(rows: LogRows, roles: Mapping[str, str], chosen: Collection[str]) -> tuple[dict[str, str], list[str]]:
    """Return the roles without id columns that hold flags or counts, with a unique key as unit, and notes about both.

    ``chosen`` are roles that the caller chose: they are not checked. Raises InputError for a column that may be ids or counts.
    """
    id_columns = {role: roles[role] for role in IDS if role in roles and role not in chosen}
    kept, notes = dict(roles), list[str]()
    texts = [rows.cells(name, "id")[0].cast(pl.String).alias(role) for role, name in id_columns.items()]
    sample = rows.collect(rows.frame.head(SAMPLE).select(texts)) if id_columns else pl.DataFrame()
    cells = {role: sample[role].drop_nulls() for role in id_columns}
    for role, name in id_columns.items():
        if _is_flag(cells[role]):
            del kept[role]
            notes.append(
                f"column {name} holds only yes and no, so it is not taken as {role} (--columns '{name}={role}' does so)"
            )
    key = None if "unit_id" in kept else _unique_key(rows, kept, cells)
    if key is not None:
        kept = {"unit_id": key, **kept}
        notes.append(f"each {key} has one row: it is taken as unit_id")
    for role, name in id_columns.items():
        if role not in kept or not _may_be_counts(name, cells[role]):
            continue
        if key is None and role == next(one for one in IDS if one in kept):
            values = words.counted(cells[role].n_unique(), "value")
            raise InputError(
                f"{rows.source.label}: column {name} has {values} in {words.counted(len(cells[role]), 'row')}: it may be {role} or a number; "
                f"name its role, like --columns '{name}={role}' or --columns '{name}={NUMBER}'"
            )
        del kept[role]
        notes.append(
            f"column {name} holds a few numbers, so it is not taken as {role} (--columns '{name}={role}' does so)"
        )
    people = _repeated_key(rows, kept) if "unit_id" not in kept and rows.settle is None else None
    if people is not None:
        notes.append(f"column {people} may name the users: --columns '{people}=unit_id'")
    return kept, notes


def _repeated_key(rows: LogRows, roles: Mapping[str, str]) -> str | None:
    """Return the first column without a role that is named like the id of a user, if several rows at the top share a value."""
    names = [name for name in rows.schema if name not in roles.values() and _names_people(name)]
    if not names:
        return None
    sample = rows.collect(rows.frame.head(SAMPLE).select(names))
    return next((name for name in names if FEWEST <= sample[name].n_unique() < len(sample)), None)


def _names_people(name: str) -> bool:
    parts = [part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)]
    return bool(parts) and (parts[-1] in KEY_WORDS or not PEOPLE.isdisjoint(parts)) and not set(OTHER_KEYS) & set(parts)


def _is_flag(cells: pl.Series) -> bool:
    """True if a column has two values, which say yes and no."""
    if len(cells) < FEWEST or cells.n_unique() < 2:
        return False
    return bool(cells.str.strip_chars().str.to_lowercase().is_in(FLAGS).all())


def _may_be_counts(name: str, cells: pl.Series) -> bool:
    """True if a column that is named like a count has a few numbers, each in many rows."""
    if plain_name(name) not in COUNTS or len(cells) < PER_ID:
        return False
    numbers = cells.str.strip_chars().cast(pl.Float64, strict=False)
    return not numbers.has_nulls() and len(cells) >= PER_ID * cells.n_unique()


def _unique_key(rows: LogRows, roles: Mapping[str, str], cells: Mapping[str, pl.Series]) -> str | None:
    """Return the first column named like an id with unique cells, in a table with one row per unit; None without one."""
    counts = {role for role, name in roles.items() if role in cells and _may_be_counts(name, cells[role])}
    if rows.settle is not None or set(ONE_ROW_EACH) & (set(roles) - counts):
        return None
    names = [
        name
        for name in rows.schema
        if name not in roles.values() and plain_name(name).endswith("id") and not any(other in plain_name(name) for other in OTHER_KEYS)
    ]  # fmt: skip
    for name in names:
        column = pl.col(name)
        unique, full, count = rows.collect(
            rows.frame.select(
                (column.n_unique() == pl.len()).alias("u"), (column.null_count() == 0).alias("f"), pl.len().alias("n")
            )
        ).row(0)
        if unique and full and count >= FEWEST:
            return name
    return None
