"""Launches from the results of everything that compares systems: comparisons, experiments, estimates, interleavings."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.files.catalogue import kind_of
from rankscope.files.objects import objects_of
from rankscope.files.raw import open_raw
from rankscope.files.sheets import open_sheet
from rankscope.ledger.launch import Launch, Measurement, Side, day_of, hash_of
from rankscope.lists import Array
from rankscope.panels.contrast import Contrast
from rankscope.panels.contrast_result import ContrastResult
from rankscope.panels.panel import PairedValues

SIGNS = 64  # numbers of a sketch
AT_ONCE = 10_000  # units whose signs are held at once


def launches_of(
    result: ContrastResult, name: str | None = None, *, side: Side | None = None, day: date | None = None, launched: bool | None = None,
) -> list[Launch]:  # fmt: skip
    """Return one launch per candidate of a result, named after the candidate or ``name``, with its differences and their errors.

    ``side`` is ``offline`` for means over queries and ``online`` otherwise. Raises DataError if the verdict is withheld or a
    difference has no standard error, InputError for a ``name`` with several candidates and for comparisons without one baseline.
    """
    if not isinstance(result, ContrastResult):
        raise InputError(f"a {type(result).__name__} is not recorded: give the result of compare or experiment")
    if not result.validity.holds:
        raise DataError(f"nothing was recorded, as the verdict is withheld: {result.validity.reason}")
    by_pair: dict[tuple[str, str], list[Contrast]] = {}
    for c in result.contrasts:
        by_pair.setdefault((c.run, c.baseline), []).append(c)
    if len({baseline for _, baseline in by_pair}) > 1:
        raise InputError(
            "several baselines: a launch has one baseline, so record one comparison with a baseline at a time"
        )
    if name is not None and len(by_pair) > 1:
        raise InputError(
            f"--launch {name}: there are {words.counted(len(by_pair), 'candidate')}, so leave it out (each is a launch of its own name), or record one"
        )
    out = []
    for (run, baseline), several in by_pair.items():
        measured = tuple(_measured(result, c, several, side) for c in several if math.isfinite(c.difference))
        if not measured:
            raise DataError(f"{run} against {baseline}: no metric has a difference, so nothing was recorded")
        out.append(Launch(name or run, baseline, run, day or date.today(), launched, measurements=measured))
    return out


def _measured(result: ContrastResult, c: Contrast, several: Sequence[Contrast], side: Side | None) -> Measurement:
    error = float(c.pair.means.error)
    if not math.isfinite(error):
        raise DataError(f"{c.title}: the standard error of the difference is unknown, so nothing was recorded")
    values, better = _residuals(c), "lower" if c.panel.better == "lower" else "higher"
    found: Side = side or ("offline" if c.panel.measure.unit == "query" else "online")
    shares = result.error_shares(c)
    if found == "offline" and values is not None:
        shares = [u for u, there in zip(c.panel.units, c.paired.inside, strict=True) if there], values
    return Measurement(
        found, c.metric, float(c.difference), error, better,
        float(c.baseline_value) if math.isfinite(c.baseline_value) else None, int(c.queries), c.verdict,
        hash_of(result.changing), result.judgments_sha256 or "", _covariances(c, several),
        () if shares is None else _sketch(*shares),
    )  # fmt: skip


def _residuals(c: Contrast) -> Array | None:
    """Return the share of each query in the error of the difference; the sum of squares is its variance. None without units."""
    pair = c.pair
    if not isinstance(pair, PairedValues) or pair.predicted or c.panel.clusters is not None or pair.means.count < 2:
        return None
    values = pair.means.values
    found: Array = (values - values.mean()) / math.sqrt(len(values) * (len(values) - 1))
    return found


def _covariances(c: Contrast, several: Sequence[Contrast]) -> dict[str, float]:
    """Return the covariances with the errors of metrics on the same queries."""
    if (own := _residuals(c)) is None:
        return {}
    others = ((o, _residuals(o)) for o in several if o is not c)
    alike = (
        (o, errors) for o, errors in others if errors is not None and np.array_equal(c.paired.inside, o.paired.inside)
    )
    return {o.metric: float(own @ errors) for o, errors in alike}


def _sketch(units: Sequence[str], values: Array) -> tuple[float, ...]:
    """Return a random projection of the errors of units, with the same signs for the same ids in all launches.

    Source: Achlioptas, Database-friendly random projections, 2003.
    """
    total = np.zeros(SIGNS)
    for start in range(0, len(units), AT_ONCE):
        some = units[start : start + AT_ONCE]
        hashed = b"".join(hashlib.blake2b(unit.encode(), digest_size=SIGNS // 8).digest() for unit in some)
        bits = np.unpackbits(np.frombuffer(hashed, np.uint8)).reshape(len(some), SIGNS)
        total += values[start : start + AT_ONCE] @ (2.0 * bits - 1.0)
    return tuple((total / math.sqrt(SIGNS)).tolist())


def shared_covariance(measurements: Sequence[Measurement]) -> float:
    """Return the mean covariance of two errors of different launches, by their sketches; 0 if unknown.

    Sketches are of the same queries if judgments are the same, and of the same users if units and conventions are.
    """
    by: dict[str, list[Array]] = {}
    for m in measurements:
        if m.sketch and (m.judgments or m.conventions):
            by.setdefault(m.judgments or m.conventions, []).append(np.array(m.sketch))
    total = sum(float(np.sum(np.sum(group, axis=0) ** 2) - np.sum(np.square(group))) for group in by.values())
    count = len(measurements)
    return total / (count * (count - 1)) if count > 1 else 0.0


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
    """Return a typed number. Raises InputError if it is not a number."""
    found = None if isinstance(value, bool) else words.as_number(value)
    if found is None or not math.isfinite(found):
        raise InputError(f"{name} {value!r}: a finite number is needed")
    return found
