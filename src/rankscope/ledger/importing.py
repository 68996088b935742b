"""Launches in files: one line per launch and metric, as CSV or JSON lines."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.raw import open_raw
from rankscope.ledger.launch import Launch, Measurement, day_of
from rankscope.ledger.recording import check_pairs

NEEDED = ("launch", "side", "metric", "difference", "standard_error")
COLUMNS = (
    *NEEDED, "date", "baseline", "candidate", "launched", "better", "baseline_value", "units", "verdict", "conventions",
    "judgments", "covariances", "tags", "notes",
)  # fmt: skip
EXPECTED = f"launches are a table with the columns {', '.join(NEEDED)} (and {', '.join(COLUMNS[len(NEEDED) :])})"
YES, NO = {"yes", "true", "1"}, {"no", "false", "0"}


def launches_from(path: str) -> list[Launch]:
    """Read launches from a CSV or JSON lines file, or from standard input (``-``).

    Raises InputError with the line for a value that cannot be used.
    """
    raw = open_raw(path, EXPECTED)
    try:
        text = raw.text().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{raw.label}: not UTF-8 text; {EXPECTED}") from None
    rows = _json_lines(text, raw.label) if text.lstrip().startswith("{") else _csv(text, raw.label)
    return launches_of_rows(rows, raw.label)


def _csv(text: str, label: str) -> Iterator[tuple[int, dict[str, Any]]]:
    first = text.partition("\n")[0]
    reader = csv.DictReader(io.StringIO(text), delimiter="\t" if "\t" in first else ",", strict=True)
    try:
        _check_columns(reader.fieldnames or (), label)
        for row in reader:
            if None in row or None in row.values():
                raise InputError(f"{label}:{reader.line_num}: a line with another number of cells than the header")
            yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"{label}:{reader.line_num}: not CSV: {error}") from None


def _json_lines(text: str, label: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError:
                raise InputError(f"{label}:{number}: not a JSON object; {EXPECTED}") from None
            if not isinstance(row, dict):
                raise InputError(f"{label}:{number}: not a JSON object; {EXPECTED}")
            _check_columns(row, f"{label}:{number}")
            yield number, row


def _check_columns(names: Iterable[str], label: str) -> None:
    for name in NEEDED:
        if name not in names:
            raise InputError(f"{label}: there is no column {name}: {EXPECTED}")
    if unknown := [name for name in names if name not in COLUMNS]:
        raise InputError(f"{label}: column {unknown[0]!r}{words.hint(unknown[0], COLUMNS, f': {EXPECTED}')}")


def launches_of_rows(rows: Iterable[tuple[int, Mapping[str, Any]]], label: str) -> list[Launch]:
    """Return the launches of numbered rows, one row per launch and metric. Raises InputError with the number of a row."""
    heads: dict[str, Launch] = {}
    measured: dict[str, list[Measurement]] = {}
    for number, row in rows:
        try:
            launch, m = _launch(row), _measurement(row)
            known = heads.setdefault(launch.name, launch)
            _check_facts(launch, known)
            measured.setdefault(launch.name, []).append(m)
        except InputError as error:
            raise InputError(f"{label}:{number}: {error}") from None
    out = []
    for name, head in heads.items():
        try:
            out.append(replace(head, measurements=tuple(measured[name])))
            check_pairs(out[-1])
        except InputError as error:
            raise InputError(f"{label}: {error}") from None
    if not out:
        raise InputError(f"{label}: no launch is in it; {EXPECTED}")
    return out


def _check_facts(launch: Launch, known: Launch) -> None:
    """Refuse a row that contradicts an earlier one of its launch."""
    for fact in ("baseline", "candidate", "day", "launched", "notes", "tags"):
        if getattr(launch, fact) not in (None, "", (), getattr(known, fact)):
            raise InputError(f"launch {launch.name} has another {fact} in an earlier line")


def _launch(row: Mapping[str, Any]) -> Launch:
    day, said, tags = (
        row.get("date"),
        str(row.get("launched") if row.get("launched") is not None else "").casefold(),
        row.get("tags") or (),
    )
    if said not in YES | NO | {""}:
        raise InputError(f"launched {said!r}: write yes or no")
    return Launch(
        str(row["launch"]), str(row.get("baseline") or ""), str(row.get("candidate") or ""),
        day if isinstance(day, date) else day_of(str(day)) if day else None, True if said in YES else False if said in NO else None,
        str(row.get("notes") or ""), tuple(tags.split()) if isinstance(tags, str) else tuple(map(str, tags)),
    )  # fmt: skip


def _measurement(row: Mapping[str, Any]) -> Measurement:
    given = row.get("covariances") or {}
    covariances = (
        _pairs(given) if isinstance(given, str) else {str(k): number_of("covariance", v) for k, v in given.items()}
    )
    value, units = row.get("baseline_value"), row.get("units")
    return Measurement(
        str(row["side"]).strip(), str(row["metric"]).strip(),  # type: ignore[arg-type]  # checked there
        number_of("difference", row["difference"]), number_of("standard_error", row["standard_error"]),
        str(row.get("better") or "higher"), None if value in (None, "") else number_of("baseline_value", value),
        None if units in (None, "") else int(number_of("units", units)), str(row.get("verdict") or ""),
        str(row.get("conventions") or ""), str(row.get("judgments") or ""), covariances,
    )  # fmt: skip


def _pairs(text: str) -> dict[str, float]:
    """Return covariances written as ``AP=0.0001; RR@10=0.0002``."""
    out = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, equals, value = part.rpartition("=")
        if not equals:
            raise InputError(f"covariances {part!r}: write the metric and the covariance of the errors, like AP=0.0001")
        out[name.strip()] = number_of("covariance", value)
    return out


def number_of(name: str, value: Any) -> float:
    """Return a typed number. Raises InputError if it is something else."""
    found = None if isinstance(value, bool) else words.as_number(value)
    if found is None or not math.isfinite(found):
        raise InputError(f"{name} {value!r}: a finite number is needed")
    return found
