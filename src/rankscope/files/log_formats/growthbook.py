"""Rows of GrowthBook's queries: exposures of users to variations, and measurements of users, both with times."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.log_formats.inputs import LogFormat, LogInput, LogPart, LogTable, places
from rankscope.files.log_formats.joining import BEFORE, MET, first_assignments, placed_events
from rankscope.files.log_formats.rows import with_times
from rankscope.files.sheets import INDEX, Sheet
from rankscope.impressions import COLUMNS
from rankscope.sources import UNDEFINED
from rankscope.words import plain_name

EXPECTS = "rows of exposures (user_id, timestamp, experiment_id, variation_id) and rows of each metric (user_id, timestamp, value)"
UNITS = [*map(plain_name, COLUMNS["unit_id"].names)]
TIMES = [*map(plain_name, ("timestamp", *COLUMNS["timestamp"].names))]
EXPOSURE = ("experiment_id", "variation_id")
AT = "timestamp"


def _place(names: Sequence[str], wanted: Sequence[str]) -> str | None:
    there = {plain_name(name): name for name in reversed(names)}
    return next((there[name] for name in wanted if name in there), None)


def _has_times(part: LogPart) -> bool:
    return bool(_place(part.names, UNITS)) and bool(_place(part.names, TIMES))


def _is_exposures(part: LogPart) -> bool:
    return set(EXPOSURE) <= set(part.names) and _has_times(part)


def _is_growthbook(log_input: LogInput) -> bool:
    tables = [part for part in log_input.parts if part.names]
    metrics = [part for part in tables if not _is_exposures(part)]
    are_metrics = all(_has_times(part) and not {*EXPOSURE, "item_id"} & set(part.names) for part in metrics)
    return 0 < len(metrics) < len(tables) and are_metrics


def read_growthbook(log_input: LogInput) -> LogTable:
    """Return one row per user: the variation, the time of the first exposure, and the sum of each metric from then on.

    A metric has the name of its file or its key. It is the sum of ``value``, or the number of rows without such a column; other columns of
    numbers are summed as ``METRIC_COLUMN``. ``METRIC_before`` is the sum before the first exposure, a covariate. Users without rows have 0.

    Source: GrowthBook's documentation of experiment assignment queries, fact tables and metrics.
    """
    exposures = [part for part in log_input.parts if _is_exposures(part)]
    if not exposures:
        raise InputError(f"{log_input.label}: no rows of exposures; GrowthBook has {EXPECTS}")
    unit = _place(exposures[0].names, UNITS) or ""
    users, notes = _users(log_input, exposures, unit)
    measured = [part for part in log_input.parts if part not in exposures and part.names]
    for part in measured:
        users, remarks = _with_metric(users, part, unit)
        notes += remarks
    metrics = f", {words.listing([part.name for part in measured])}" if measured else ""
    parts = [*exposures, *measured]
    source = log_input.source("GrowthBook", parts, place_of=places(log_input.label, users, {unit: unit}))
    notes = [*log_input.left_out(parts, "rows"), *dict.fromkeys(notes)]
    return LogTable(users, source, f"GrowthBook: {words.counted(users.height, 'user')} in variations{metrics}", notes)


def _timed(part: LogPart, unit: str) -> tuple[Sheet, pl.DataFrame, list[str]]:
    time = _place(part.names, TIMES)
    if unit not in part.names or time is None:
        problem = f"no columns {unit} and timestamp among {words.listing(part.names)}"
        raise InputError(f"{part.label}: {problem}; each row of a metric needs its user and its time")
    sheet = part.sheet()
    frame, notes = with_times(sheet, time)
    frame = frame.with_columns(pl.col(unit).cast(pl.String)).rename({time: AT} if time != AT else {})
    return sheet, frame.drop([name for name in frame.columns if INDEX.fullmatch(name)]), notes


def _users(log_input: LogInput, parts: Sequence[LogPart], unit: str) -> tuple[pl.DataFrame, list[str]]:
    frames, notes = [], []
    for part in parts:
        _, frame, remarks = _timed(part, unit)
        frames.append(frame.with_columns(pl.col(*EXPOSURE).cast(pl.String)))
        notes += remarks
    rows = pl.concat(frames, how="diagonal_relaxed")
    experiments = sorted(set(rows["experiment_id"].drop_nulls()))
    if len(experiments) > 1:
        several = f"{words.counted(len(experiments), 'experiment')} ({words.listing(experiments)})"
        raise InputError(f"{log_input.label}: exposures to {several}: keep the rows of one")
    users, remarks = first_assignments(rows, unit, "variation_id", AT)
    return users, [*notes, *remarks]


def _with_metric(users: pl.DataFrame, part: LogPart, unit: str) -> tuple[pl.DataFrame, list[str]]:
    """Add the sums of a metric before and from the first exposure."""
    sheet, frame, notes = _timed(part, unit)
    values, remarks = _numbers(sheet, frame, part.name, unit)
    rows, left = placed_events(users.select(unit, "variation_id", pl.col(AT).alias(MET)), values, unit, AT)
    notes += [f"{part.name}: {note}" for note in left]
    columns = [name for name in values.columns if name not in {unit, AT}]
    parts = {"": ~pl.col(BEFORE), "_before": pl.col(BEFORE)}
    for ending, when in parts.items():
        part_rows = rows.filter(when)
        if ending and not part_rows.height:
            continue
        named = [pl.col(name).sum().alias(f"{name}{ending}") for name in columns]
        sums = part_rows.group_by(unit, "variation_id").agg(named)
        users = users.join(sums, on=[unit, "variation_id"], how="left", maintain_order="left")
        users = users.with_columns(pl.col([f"{name}{ending}" for name in columns]).fill_null(0.0))
    return users, [*notes, *remarks]


def _numbers(sheet: Sheet, frame: pl.DataFrame, metric: str, unit: str) -> tuple[pl.DataFrame, list[str]]:
    others, left = {}, []
    for name in [name for name in frame.columns if name not in {unit, AT, "value"}]:
        text = frame[name].cast(pl.String, strict=False).str.strip_chars()
        known = ~text.str.to_lowercase().is_in(UNDEFINED) & text.is_not_null()
        number = text.cast(pl.Float64, strict=False)
        if plain_name(name) in UNITS or (known & number.is_null()).any() or not known.any():
            left.append(name)
        else:
            others[f"{metric}_{name}"] = number.fill_null(0.0)
    values = pl.Series(sheet.numbers("value")).fill_nan(0.0) if "value" in frame.columns else pl.lit(1.0)
    notes = [f"columns of {metric} without numbers are left out: {words.listing(left)}"] if left else []
    named = [column.alias(name) for name, column in others.items()]
    return frame.select(unit, AT).with_columns(values.alias(metric), *named), notes


GROWTHBOOK = LogFormat(
    "growthbook", "GrowthBook's rows: exposures, and a table for each metric", EXPECTS, read_growthbook, [EXPOSURE],
    sure=_is_growthbook, keys=("exposures", "experiment_viewed"),
)  # fmt: skip
