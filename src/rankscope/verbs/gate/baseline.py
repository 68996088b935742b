"""What ``evaluate`` stored, read again: the values of every query, each checked, with what they rest on."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankscope.errors import DataError, InputError
from rankscope.files.raw import Raw
from rankscope.metrics import Metric

SCHEMA = "rankscope/evaluate/1"
ROUNDING = 1e-9  # by how much a value may leave the range of its metric


@dataclass(frozen=True, eq=False)
class Contents:
    """A stored result: ``values[run][metric][query]``, NaN where undefined, and ``counts[run, metric]`` of those defined."""

    values: Mapping[str, Mapping[str, Mapping[str, float]]]
    counts: Mapping[tuple[str, str], int]
    conventions: Mapping[str, Any]
    inputs: tuple[Mapping[str, Any], ...]
    version: str


def document_of(path: Path) -> Any:
    """The JSON that rankscope wrote into a file, packed or not; None for another file, a pipe, or what is not there.

    Raises InputError for a file of rankscope that cannot be read as JSON.
    """
    try:
        if not path.is_file():  # what is read from a pipe is gone, and is left to who reads runs
            return None
        raw = Raw(str(path), path)
        head = raw.head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if not head.startswith(b"{"):
            return None
        document = json.loads(raw.read().decode("utf-8-sig"))
    except (OSError, InputError):
        return None  # told where it is read as a run
    except (ValueError, RecursionError) as error:
        if b'"rankscope/' not in head:
            return None
        raise InputError(
            f"{path}: cannot be read as JSON: {' '.join(str(error).split())}; write it again with rankscope evaluate -o"
        ) from None
    schema = document.get("schema") if isinstance(document, dict) else None
    return document if isinstance(schema, str) and schema.startswith("rankscope/") else None


def contents_of(document: Mapping[str, Any], label: str) -> Contents:
    """A stored result, as ``evaluate`` writes it.

    Raises InputError for one of another kind or shape, DataError for a query that has two values of a metric.
    """
    if document.get("schema") != SCHEMA:
        raise InputError(
            f"{label} holds {document.get('schema')}, and a baseline is {SCHEMA}: write it with rankscope evaluate --per-query -o baseline.json"
        )
    try:
        found = Contents(
            _values(document["per_query"], label),
            {(_text(r["run"]), _text(r["metric"])): _count(r["queries"]) for r in document["results"]},
            _table(document["conventions"]),
            tuple(map(_source, document["inputs"])),
            _text(document["rankscope"]),
        )
    except DataError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{label} is not as rankscope evaluate writes it ({type(error).__name__}: {error}): make it anew"
        ) from None
    if not found.values:
        raise InputError(
            f"{label} has no values of queries: make it anew with rankscope evaluate ... --per-query -o {label}"
        )
    return found


def _values(rows: Iterable[Any], label: str) -> dict[str, dict[str, dict[str, float]]]:
    values: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        run, metric, query = (_text(row[name]) for name in ("run", "metric", "query_id"))
        of_metric = values.setdefault(run, {}).setdefault(metric, {})
        if query in of_metric:
            raise DataError(f"{label} has two values of {metric} for query {query} of {run}: make it anew")
        of_metric[query] = _number(row["value"])
    return values


def unlike(values: Mapping[str, float], metric: Metric, count: int | None) -> str:
    """Why these cannot be the values of a metric that ``evaluate`` wrote; empty where they can."""
    low, high = metric.range
    for query, value in values.items():
        if value < low - ROUNDING or value > high + ROUNDING:
            return f"{metric} of query {query} is {value:g}, and it goes from {low:g} to {high:g}"
    defined = sum(not math.isnan(value) for value in values.values())
    if count != defined:
        said = "says nothing of them" if count is None else f"counts {count:,}"
        return f"{metric} has values of {defined:,} queries, and its results {said}"
    return ""


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{_short(value)} is no text")
    return value


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{_short(value)} is no object")
    return dict(value)


def _source(value: Any) -> dict[str, Any]:
    source = _table(value)
    if source.get("sha256") is not None:
        _text(source["sha256"])
    return source


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{_short(value)} is no number of queries")
    return value


def _number(value: Any) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"the value {_short(value)} is no number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"the value {_short(value)} is too large")
    return number


def _short(value: Any) -> str:
    text = (
        json.dumps(value, default=str)
        if not isinstance(value, int) or abs(value) < 10**12
        else "a huge number"
    )
    return text if len(text) <= 40 else text[:39] + "…"
