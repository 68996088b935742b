"""Weights of queries: from a dict, a data frame or a file of two columns."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope import words
from rankscope.errors import HUGE, DataError, InputError
from rankscope.lists import Array, each

if TYPE_CHECKING:
    from rankscope.files.sheets import Sheet

EXPECTED = "weights are a table of two columns, query and weight, or {query: weight}"
UNITS = (
    "session_id",
    "session",
    "user_id",
    "user",
    "customer_id",
)  # that weigh the same, however many queries each has
LATER = 4.0  # sDCG's base of the logarithm: the fourth query of a session counts half of the first


@dataclass(frozen=True, eq=False)
class Weights:
    """The weight of each query, and the source of the weights."""

    by_query: Mapping[str, float]
    label: str

    def of(self, queries: Sequence[str]) -> Array:
        """Return the weights of these queries. Every query must have one."""
        without = [query for query in queries if query not in self.by_query]
        if without:
            raise DataError(
                f"{self.label}: query {without[0]!r} has no weight ({len(without)} of {len(queries)} queries lack one): "
                "give every scored query one, 0 leaves it out"
            )
        return np.array([self.by_query[query] for query in queries], dtype=float)

    def in_words(self, queries: Iterable[str]) -> str:
        """The spread of the weights of queries in words: the smallest, the largest, and the number of queries with half of the weight."""
        weights = sorted((self.by_query[query] for query in queries), reverse=True)
        low, high = words.amount(weights[-1]), words.amount(weights[0])
        if low == high:
            return f"weights of {self.label}: all {low}"
        so_far = np.cumsum(weights)
        many = int(np.searchsorted(so_far, so_far[-1] / 2)) + 1
        return f"weights of {self.label}: {low} to {high}, half of the weight on {many:,} of {words.counted(len(weights), 'query')}"

    def note_unused(self, scored: Set[str]) -> list[str]:
        """The note about weights for queries that are not scored."""
        left = sorted(set(self.by_query) - scored)
        what = words.counted(len(left), "weight is of a query", "weights are of queries")
        return [f"{self.label}: {what} that no run is scored on ({words.sample(left)})"] if left else []


def weights_of(source: Any) -> Weights:
    """Read weights: a dict, a frame or a file with a query and a weight in each row, or with sessions or users that weigh the same."""
    if isinstance(source, Weights):
        return source
    from rankscope.files.memory import ids_of

    if isinstance(source, Mapping):
        return _check(list(zip(ids_of(source, "weights", "query"), source.values(), strict=True)), "weights")
    from rankscope.files.catalogue import kind_of
    from rankscope.files.raw import is_path, open_raw
    from rankscope.files.sheets import QUERY, open_sheet

    if is_path(source):
        raw = open_raw(source, EXPECTED)
        heading = re.split(r"[,;\t]", raw.head.split(b"\n", 1)[0].decode("utf-8-sig", "replace"))
        if kind_of(raw) not in {"json", "jsonl", "parquet"} and not _unit_in(heading):
            return _check(_rows_of_text(raw.read(), raw.label), raw.label)
    table = open_sheet(source, "weights", EXPECTED, QUERY)
    label = str(source) if is_path(source) else "weights"
    if isinstance(table, Mapping):
        return _check(list(table.items()), label)
    if unit := _unit_in(table.frame.columns):
        return _of_units(table, unit, label)
    key, weight = table.pair(EXPECTED)
    return _check(list(zip(table.ids(key, "query"), table.frame[weight], strict=True)), label)


def _unit_in(columns: Sequence[str]) -> str:
    from rankscope.files.sheets import QUERY

    units, queries = ({words.plain_name(name) for name in names} for names in (UNITS, QUERY))
    plain = {words.plain_name(name.strip().strip('"')): name for name in columns}
    return next((plain[name] for name in plain if name in units), "") if (queries - units) & plain.keys() else ""


def _of_units(table: Sheet, unit: str, label: str) -> Weights:
    """Weights under which each session or user counts the same. Within it by ``weight``, by 1 / (1 + log4 ``place``) (Järvelin et al., ECIR 2008), or evenly."""
    from rankscope.files.sheets import QUERY

    key = table.role([name for name in QUERY if name not in UNITS])
    assert key is not None, "a unit stands next to a query"
    weight, place = table.role(("weight",)), table.role(("place", "position"))
    weights = np.ones(len(table.frame))
    if weight:
        weights = table.numbers(weight)
    elif place:
        weights = table.numbers(place)
        if not (weights >= 1).all():
            raise InputError(
                f"{label}: a {place} is not a number of 1 or more: number the queries of each {unit} from 1"
            )
        weights = each(lambda m: 1.0 / (1.0 + math.log(m, LATER)), weights)
    plain = _check(list(zip(table.distinct(key, "query"), weights.tolist(), strict=True)), label)
    code = table.ids(unit, unit).rank("dense").to_numpy().astype(np.int64) - 1
    whole = np.bincount(code, weights)
    if not whole.all():
        raise InputError(f"{label}: the queries of a {unit} have no weight together: give one a weight above 0")
    shares = weights / whole[code]
    return Weights(dict(zip(plain.by_query, shares.tolist(), strict=True)), label)


def _rows_of_text(content: bytes, label: str) -> list[tuple[str, str]]:
    from rankscope.files.long import IS_FLOAT_ID
    from rankscope.files.sheets import QUERY
    from rankscope.words import plain_name

    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{label}: not UTF-8 text; {EXPECTED}") from None
    rows: list[tuple[str, str]] = []
    heading: list[str] | None = None
    queries = set(map(plain_name, QUERY))
    for number, line in enumerate(text.splitlines(), start=1):
        cells = [cell.strip().strip('"') for cell in line.split("," if "," in line else None)]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if len(cells) != 2:
            raise InputError(
                f"{label} line {number:,}: {len(cells)} columns, a line of weights has 2 (query weight): {line[:80]!r}"
            )
        if heading is None:  # a first line without a number
            heading = [] if words.is_number(cells[1]) else [plain_name(cell) for cell in cells]
            if heading:
                continue
        backwards = heading and heading[1] in queries and heading[0] not in queries
        rows.append((cells[1], cells[0]) if backwards else (cells[0], cells[1]))
    if rows and all(IS_FLOAT_ID(query) for query, _ in rows):  # as a frame writes whole numbers that became floats
        from rankscope.files.memory import ids_of

        return list(zip(ids_of((float(query) for query, _ in rows), label, "query"), (w for _, w in rows), strict=True))
    return rows


def _check(rows: Sequence[tuple[Any, Any]], label: str) -> Weights:
    if not rows:
        raise InputError(f"{label}: no weight is there; give a query and its weight in each row, like q1 2.5")
    out: dict[str, float] = {}
    for query, value in rows:
        weight = words.as_number(value)
        if weight is None or not 0 <= weight <= HUGE:
            raise InputError(f"{label}: query {query!s} weighs {value!r}: a weight must be a number of at least 0")
        if str(query) in out:
            raise InputError(f"{label}: query {query!s} has two weights: keep one")
        out[str(query)] = weight
    if not any(out.values()):
        raise InputError(f"{label}: no query weighs anything: give at least one a weight above 0")
    return Weights(out, label)
