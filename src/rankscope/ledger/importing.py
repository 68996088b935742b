"""Launches from tables: one row per launch and metric, in a file of any format or as records."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.catalogue import kind_of
from rankscope.files.objects import objects_of
from rankscope.files.raw import open_raw
from rankscope.files.sheets import open_sheet
from rankscope.ledger.launch import Launch, Measurement, day_of

NEEDED = ("launch", "side", "metric", "difference", "standard_error")
COLUMNS = (
    *NEEDED, "date", "baseline", "candidate", "launched", "better", "baseline_value", "units", "verdict", "conventions",
    "judgments", "covariances", "tags", "notes",
)  # fmt: skip
EXPECTED = f"launches are a table with the columns {', '.join(NEEDED)} (and {', '.join(COLUMNS[len(NEEDED) :])})"
LAUNCHED = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False, "": None}


def launches_from(source: Any) -> list[Launch]:
    """Read launches from a file (``-``: standard input) of CSV, JSON lines or Parquet, from a data frame, or from a list of records.

    Raises InputError with the line of a value that cannot be used.
    """
    label, rows, place = _rows(source)
    launches, measured = dict[str, Launch](), defaultdict[str, list[Measurement]](list)
    for number, row in enumerate(rows):
        try:
            launch, m = _launch(row, launches), _measurement(row)
        except InputError as error:
            raise InputError(f"{place(number)}: {error}") from None
        measured[launch.name].append(m)
    if not launches:
        raise InputError(f"{label}: no launch is in it; {EXPECTED}")
    try:
        return [_checked(replace(launch, measurements=tuple(measured[name]))) for name, launch in launches.items()]
    except InputError as error:
        raise InputError(f"{label}: {error}") from None


def _rows(source: Any) -> tuple[str, Iterable[Mapping[str, Any]], Callable[[int], str]]:
    """Return the name of a source, its rows, and a function that returns the place of a row."""
    if isinstance(source, list | tuple):
        return "launches", source, lambda row: f"row {row + 1}"
    if isinstance(source, str | Path):
        source = open_raw(source, EXPECTED)
        if kind_of(source) == "jsonl":  # covariances may be an object, and tags a list
            rows, lines = objects_of(source, dict)
            return source.label, rows, lambda row: f"{source.label} line {lines[row]}"
    sheet = open_sheet(source, "launches", EXPECTED, NEEDED)
    if isinstance(sheet, Mapping):
        raise InputError(f"launches: one object; {EXPECTED}")
    return sheet.label, sheet.frame.iter_rows(named=True), sheet.at


def _launch(row: Mapping[str, Any], launches: dict[str, Launch]) -> Launch:
    """Return the launch of a row, which an earlier row must not contradict."""
    for name in NEEDED:
        if name not in row:
            raise InputError(f"there is no column {name}: {EXPECTED}")
    if unknown := [name for name in row if name not in COLUMNS]:
        raise InputError(f"column {unknown[0]!r}{words.hint(unknown[0], COLUMNS, f': {EXPECTED}')}")
    said, tags = _text(row, "launched").casefold(), row.get("tags") or ()
    if said not in LAUNCHED:
        raise InputError(f"launched {said!r}: write yes or no")
    found = Launch(
        _text(row, "launch"), _text(row, "baseline"), _text(row, "candidate"), day_of(row.get("date")), LAUNCHED[said],
        _text(row, "notes"), tuple(tags.split()) if isinstance(tags, str) else tuple(map(str, tags)),
    )  # fmt: skip
    known = launches.setdefault(found.name, found)
    if odd := [fact for fact, value in found.facts.items() if value != getattr(known, fact)]:
        raise InputError(f"launch {found.name} has another {odd[0]} in an earlier line")
    return known


def _text(row: Mapping[str, Any], name: str) -> str:
    return "" if row.get(name) is None else str(row[name])


def _measurement(row: Mapping[str, Any]) -> Measurement:
    given = row.get("covariances") or {}
    pairs = _pairs(given) if isinstance(given, str) else given
    value, units = (
        None if row.get(name) in (None, "") else number_of(name, row[name]) for name in ("baseline_value", "units")
    )
    return Measurement(
        str(row["side"]).strip(), str(row["metric"]).strip(),  # type: ignore[arg-type]  # checked there
        number_of("difference", row["difference"]), number_of("standard_error", row["standard_error"]),
        _text(row, "better") or "higher", value, None if units is None else int(units), _text(row, "verdict"),
        _text(row, "conventions"), _text(row, "judgments"), {str(k): number_of("covariance", v) for k, v in pairs.items()},
    )  # fmt: skip


def _pairs(text: str) -> dict[str, str]:
    """Return covariances written as ``AP=0.0001; RR@10=0.0002``."""
    parts = [part.rpartition("=") for part in map(str.strip, text.split(";")) if part]
    if odd := [part for _, equals, part in parts if not equals]:
        raise InputError(f"covariances {odd[0]!r}: write the metric and the covariance of the errors, like AP=0.0001")
    return {name.strip(): value for name, _, value in parts}


def _checked(launch: Launch) -> Launch:
    """Refuse covariances that are larger than both errors allow."""
    for one, other in combinations({m.metric: m for m in launch.measurements}.values(), 2):
        most = one.standard_error * other.standard_error
        for covariance in (one.covariances.get(other.metric, 0.0), other.covariances.get(one.metric, 0.0)):
            if abs(covariance) > most * (1 + 1e-9) + 1e-300:
                raise InputError(
                    f"launch {launch.name}: the covariance of the errors of {one.metric} and {other.metric} is {covariance:g}, "
                    f"and their standard errors allow at most {most:g}"
                )
    return launch


def number_of(name: str, value: Any) -> float:
    """Return a typed number. Raises InputError if it is something else."""
    found = None if isinstance(value, bool) else words.as_number(value)
    if found is None or not math.isfinite(found):
        raise InputError(f"{name} {value!r}: a finite number is needed")
    return found
