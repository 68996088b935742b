"""Weights of queries: from a dict, a data frame or a file of two columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankscope import words
from rankscope.errors import HUGE, DataError, InputError
from rankscope.lists import Array

EXPECTED = "weights are a table of two columns, query and weight, or {query: weight}"


@dataclass(frozen=True, eq=False)
class Weights:
    """The weight of each query, and where the weights came from."""

    by_query: Mapping[str, float]
    label: str

    def of(self, queries: Sequence[str]) -> Array:
        """The weights of these queries; every one must have one."""
        without = [query for query in queries if query not in self.by_query]
        if without:
            raise DataError(
                f"{self.label}: query {without[0]!r} has no weight ({len(without)} of {len(queries)} queries have none); "
                "give every scored query one, 0 leaves it out"
            )
        return np.array([self.by_query[query] for query in queries], dtype=float)

    def in_words(self, queries: Iterable[str]) -> str:
        """How unevenly these queries weigh: from what to what, and on how many half of the weight lies.

        >>> Weights({"q1": 1.0, "q2": 1.0, "q3": 2.0}, "w.csv").in_words(["q1", "q2", "q3"])
        'weights of w.csv: 1 to 2, half of the weight on 1 of 3 queries'
        """
        weights = sorted((self.by_query[query] for query in queries), reverse=True)
        low, high = words.amount(weights[-1]), words.amount(weights[0])
        if low == high:
            return f"weights of {self.label}: all {low}"
        so_far = np.cumsum(weights)
        many = int(np.searchsorted(so_far, so_far[-1] / 2)) + 1
        return f"weights of {self.label}: {low} to {high}, half of the weight on {many:,} of {words.counted(len(weights), 'query')}"

    def note_unused(self, scored: Set[str]) -> list[str]:
        """What to say of weights whose query is not scored."""
        left = sorted(set(self.by_query) - scored)
        what = words.counted(len(left), "weight is of a query", "weights are of queries")
        return [f"{self.label}: {what} that no run is scored on ({words.sample(left)})"] if left else []


def weights_of(source: Any) -> Weights:
    """Read weights: ``{query: weight}``, a data frame or a file with a query and a weight in each row.

    A file may be compressed, and of any format that tables come in; one of text needs no header.
    """
    if isinstance(source, Weights):
        return source
    from rankscope.files.memory import ids_of

    if isinstance(source, Mapping):
        return _check(list(zip(ids_of(source, "weights", "query"), source.values(), strict=True)), "weights")
    from rankscope.files.catalogue import kind_of
    from rankscope.files.raw import open_raw
    from rankscope.files.sheets import QUERY, is_path, open_sheet

    if is_path(source):
        raw = open_raw(source, EXPECTED)
        if kind_of(raw) not in {"json", "jsonl", "parquet"}:
            return _check(_rows_of_text(raw.read(), raw.label), raw.label)
    found = open_sheet(source, "weights", EXPECTED, QUERY)
    label = str(source) if is_path(source) else "weights"
    if isinstance(found, Mapping):
        return _check(list(found.items()), label)
    key, weight = found.pair(EXPECTED)
    return _check(list(zip(found.ids(key, "query"), found.frame[weight], strict=True)), label)


def _rows_of_text(content: bytes, label: str) -> list[tuple[str, str]]:
    from rankscope.files.long import is_float_id
    from rankscope.files.sheets import QUERY
    from rankscope.words import plain_name

    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{label}: is no UTF-8 text; {EXPECTED}") from None
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
    if rows and all(is_float_id(query) for query, _ in rows):  # as a frame writes whole numbers that became floats
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
            raise InputError(f"{label}: query {query!s} weighs {value!r}; a weight is a number of at least 0")
        if str(query) in out:
            raise InputError(f"{label}: query {query!s} has two weights; keep one")
        out[str(query)] = weight
    if not any(out.values()):
        raise InputError(f"{label}: no query weighs anything; give at least one a weight above 0")
    return Weights(out, label)
