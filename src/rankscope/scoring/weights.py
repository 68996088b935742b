"""Weights of queries: from a dict, a data frame or a file of two columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankscope.errors import DataError, InputError
from rankscope.lists import Array


@dataclass(frozen=True, eq=False)
class Weights:
    """What each query weighs, and where that was said."""

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

    def unused(self, scored: Set[str]) -> list[str]:
        """What to say of weights whose query is not scored."""
        left = sorted(set(self.by_query) - scored)
        if not left:
            return []
        said = "1 weight is of a query" if len(left) == 1 else f"{len(left):,} weights are of queries"
        return [
            f"{self.label}: {said} that no run is scored on ({', '.join(left[:3])}{' ...' if len(left) > 3 else ''})"
        ]


def weights_of(source: Any) -> Weights | None:
    """Read weights: ``{query: weight}``, a data frame or a file with a query and a weight in each row."""
    if source is None:
        return None
    if isinstance(source, Mapping):
        return _checked(list(source.items()), "weights")
    if isinstance(source, str | Path):
        return _checked(_rows_of_file(str(source)), str(source))
    import polars as pl

    try:
        frame = source if isinstance(source, pl.DataFrame) else pl.DataFrame(source)
    except Exception as error:  # whatever the other library raises
        raise InputError(
            f"weights: a {type(source).__name__} cannot be read; give a dict {{query: weight}}, a data frame or a file"
        ) from error
    if frame.width != 2:
        raise InputError(f"weights: the data frame has {frame.width} columns; it needs 2, query and weight")
    return _checked(frame.rows(), "weights")


def _rows_of_file(path: str) -> list[tuple[str, str]]:
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise InputError(
            f"{path}: is no UTF-8 text; a file of weights has a query and a weight in each line"
        ) from None
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        cells = [cell.strip().strip('"') for cell in line.split("," if "," in line else None)]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if len(cells) != 2:
            raise InputError(
                f"{path} line {number:,}: {len(cells)} columns, a line of weights has 2 (query weight): {line[:80]!r}"
            )
        if number > 1 or _number(cells[1]) is not None:  # a first line without a number is a heading
            rows.append((cells[0], cells[1]))
    return rows


def _checked(rows: Sequence[tuple[Any, Any]], label: str) -> Weights:
    if not rows:
        raise InputError(f"{label}: no weight is there; give a query and its weight in each row, like q1 2.5")
    out: dict[str, float] = {}
    for query, said in rows:
        weight = _number(said)
        if weight is None or not math.isfinite(weight) or weight < 0:
            raise InputError(f"{label}: query {query!s} weighs {said!r}; a weight is a number of at least 0")
        if str(query) in out:
            raise InputError(f"{label}: query {query!s} has two weights; keep one")
        out[str(query)] = weight
    if not any(out.values()):
        raise InputError(f"{label}: no query weighs anything; give at least one a weight above 0")
    return Weights(out, label)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None
