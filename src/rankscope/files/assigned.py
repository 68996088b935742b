"""Two tables of an experiment: assignments of units to variants, and events of the units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.files.log_formats.inputs import input_of, is_part, places
from rankscope.files.log_formats.joining import (
    BEFORE,
    EVENT,
    MET,
    Days,
    first_assignments,
    placed_events,
    window_of,
    within,
)
from rankscope.files.log_formats.rows import Clock, LogRows, read_times, refuse_faults
from rankscope.files.logs import ColumnsOption, log_from, roles_by_name, rows_from
from rankscope.files.long import restore_floats
from rankscope.files.raw import is_path
from rankscope.files.roles import column_roles
from rankscope.files.sheets import INDEX
from rankscope.impressions import COLUMNS, MOST_VARIANTS, Log, may_name_variants
from rankscope.tables import Source
from rankscope.words import plain_name

KIND = "event"  # the column with the name of the table, if there are several tables of events
A_TIME = r"^\s*\d{4}-\d\d-\d\d"
DISTINCT = 0.5  # share of the rows of assignments from which their ids are units, unless they are more than variants
CLEARLY = 10  # times more ids than in any other column: the column is the unit
OVERLAP = 0.1  # share of events' ids that are ids of assignments, from which both may be the unit


@dataclass(eq=False)
class _LabelledTable:
    """A table in memory, with the columns of roles as the caller or their names give them."""

    label: str
    frame: pl.DataFrame
    roles: dict[str, str]
    notes: list[str]
    clock: Clock
    read: bool = False  # True if its times are read

    def texts(self, name: str) -> pl.Series:
        """The cells of a column as texts, so that ids of two tables meet."""
        column = restore_floats(self.frame.select(name), [name])[name]
        if column.dtype.is_float():
            column = column.cast(pl.Int64, strict=False)
        text = column.cast(pl.String, strict=False).str.strip_chars()
        return text.set(text == "", None)


def read_assigned(
    assignments: Any, events: Any, *, columns: ColumnsOption = None, window: object = None, clock: Clock | None = None,
    days: Days = (None, None),
) -> Log:  # fmt: skip
    """Read two tables as one log: a row per assignment and a row per event of an assigned unit, with its variant.

    Events before the assignment are ``log.before``. Units without events stay. ``events`` may be several tables by name. Units that
    were first assigned before the first of ``days`` or after the last are left out, and events after the last.
    Columns are found by name and content. Raises InputError for a column that may be several.
    """
    pairs = column_roles(columns, "uid=unit_id,arm=variant") if columns else []
    read_by = clock or Clock()
    tables = [_table(assignments, "assignments", pairs, read_by)]
    several = isinstance(events, Mapping) and all(map(is_part, events.values()))
    named = events.items() if several else [("events", events)]
    tables += [_table(table, str(name), pairs, read_by) for name, table in named]
    _refuse_strangers(pairs, tables)
    assigned, *others = tables
    for other in others:
        _find_units(assigned, other)
    _refuse_other_units(assigned, others)
    unit, variant = assigned.roles["unit_id"], _variant_of(assigned)
    at = _times(assigned)
    users, notes = first_assignments(assigned.frame.with_columns(assigned.texts(unit).alias(unit)), unit, variant, at)
    _refuse_experiments(assigned, users)
    if any(days):
        users, lost = _chosen(assigned, users, others, days)
        notes += lost
    whole, remarks = _together(users, others, (unit, variant, at), window)
    event_times = next((name for name in (_times(other) for other in others) if name), None)
    read_as = f"assignments and events: {words.counted(users[unit].n_unique(), 'unit')}, {words.counted(whole.height - users.height, 'event')}"
    both = [*assigned.notes, *(note for other in others for note in other.notes), *notes, *remarks]
    label = " and ".join(table.label for table in tables)
    place_of, remarked = places(label, whole, {unit: plain_name(unit)}), tuple(dict.fromkeys(both))
    source = Source(label, "assignments and events", place_of=place_of, notes=remarked)
    time = at or event_times
    roles = {unit: "unit_id", variant: "variant"} | ({} if time is None else {time: "timestamp"})
    rest = {
        name: role for name, role in pairs if name in whole.columns and role not in roles.values() and name not in roles
    }
    rows = LogRows(whole.lazy(), dict(whole.schema), source, read_as=read_as)
    return log_from(rows, {**roles, **rest}, None if clock is None else Clock(zone=clock.zone))


def _table(source: Any, name: str, pairs: Sequence[tuple[str, str]], clock: Clock) -> _LabelledTable:
    if source is None:
        missing = "assignments" if name == "assignments" else "events"
        raise InputError(f"{missing} missing: give both tables, --assignments FILE --events FILE")
    rows = rows_from(source, input_of(source, ()))
    label = str(Path(str(source)).name) if is_path(source) else name
    frame = rows.collect(rows.frame)
    frame = frame.drop([column for column in frame.columns if INDEX.fullmatch(column)])
    named = {column: role for column, role in pairs if column in frame.columns}
    roles, notes = roles_by_name(frame.columns, named or None, label)
    role_names = ("unit_id", "variant", "timestamp") if name == "assignments" else ("unit_id", "timestamp")
    return _LabelledTable(label, frame, {role: roles[role] for role in role_names if role in roles}, notes, clock)


def _refuse_strangers(pairs: Sequence[tuple[str, str]], tables: Sequence[_LabelledTable]) -> None:
    names = [name for table in tables for name in table.frame.columns]
    for name, _ in pairs:
        if name not in names:
            raise InputError(f"columns: {name!r} is in neither table{words.hint(name, names)}")


def _find_units(assigned: _LabelledTable, other: _LabelledTable) -> None:
    """Find the columns of the unit in both tables by content, if names leave one open. Raises InputError unless one pair fits."""
    here, there = assigned.roles.get("unit_id"), other.roles.get("unit_id")
    if here is not None and there is not None:
        return
    ours = [here] if here else [name for name in assigned.frame.columns if _may_be_unit(assigned, name)]
    ids = (name for name in other.frame.columns if _is_id(other.frame, name) and name != other.roles.get("timestamp"))
    theirs = [there] if there else [*ids]
    pairs = [(a, b) for a in ours for b in theirs if _overlap(assigned.texts(a), other.texts(b)) > OVERLAP]
    pairs = [pair for pair in pairs if pair[0] == pair[1]] or pairs
    counts = {a: assigned.frame[a].n_unique() for a, _ in pairs}
    pairs = [
        (a, b) for a, b in pairs if all(counts[a] >= CLEARLY * count for name, count in counts.items() if name != a)
    ] or pairs
    if len(pairs) != 1:
        problem = "several columns could be" if pairs else "no column of both tables is"
        example = (pairs or [(next(iter(ours), "uid"), next(iter(theirs), "user"))])[0]
        raise InputError(
            f"{assigned.label} and {other.label}: {problem} the unit that was assigned: name it in each table, like --columns '{','.join(f'{name}=unit_id' for name in dict.fromkeys(example))}'"
        )
    (assigned.roles["unit_id"], other.roles["unit_id"]) = pairs[0]
    names = words.listing(dict.fromkeys(pairs[0]), last="and")
    assigned.notes.append(
        f"{names} {'has' if pairs[0][0] == pairs[0][1] else 'have'} the ids of both tables: taken as unit_id"
    )


def _refuse_other_units(assigned: _LabelledTable, others: Sequence[_LabelledTable]) -> None:
    """Raise DataError if there are events, and none is of a unit that was assigned."""
    one, *rest = (table.texts(table.roles["unit_id"]).drop_nulls() for table in (assigned, *others))
    some = [(other, ids) for other, ids in zip(others, rest, strict=True) if len(ids)]
    if some and len(one) and not any(_overlap(one, ids) for _, ids in some):
        pairs = ((assigned, one), some[0])
        here, there = (f"{table.label} has {table.roles['unit_id']} like {str(ids[0])!r}" for table, ids in pairs)
        raise DataError(
            f"no event is of an assigned unit: {here}, and {there}: write ids in one form, or name their columns, like --columns 'uid=unit_id'"
        )


def _is_id(frame: pl.DataFrame, name: str) -> bool:
    column = frame[name]
    whole = column.dtype.is_float() and bool((column.drop_nans() % 1 == 0).all())  # 7.0 may be an id, 7.5 is an amount
    return column.dtype == pl.String or column.dtype.is_integer() or whole


def _may_be_unit(table: _LabelledTable, name: str) -> bool:
    distinct = table.frame[name].n_unique()
    return (
        _is_id(table.frame, name)
        and name not in table.roles.values()
        and (distinct > MOST_VARIANTS or distinct >= DISTINCT * table.frame.height)
    )


def _overlap(ids: pl.Series, others: pl.Series) -> float:
    distinct = others.drop_nulls().unique()
    return float(distinct.is_in(ids.drop_nulls().unique().implode()).mean() or 0.0)  # type: ignore[arg-type] # a share


def _variant_of(table: _LabelledTable) -> str:
    """Return the column of variants, found by name or as the only column with a few values. Raises InputError unless one fits."""
    if "variant" in table.roles:
        return table.roles["variant"]
    taken = {*table.roles.values(), _time_name(table), *_experiment_columns(table.frame)}
    counts = {name: table.frame[name].n_unique() for name in table.frame.columns if name not in taken}
    few = [name for name, count in counts.items() if 2 <= count <= MOST_VARIANTS]
    few = [name for name in few if may_name_variants(name)] or few
    if len(few) != 1:
        several = f"columns {words.listing(few, last='and')} could each be the variant"
        could = several if few else "no column has a few values, as variants do"
        example = (few or [*counts, "group"])[0]
        raise InputError(f"{table.label}: {could}: name it, like --variant '{example}'")
    table.roles["variant"] = few[0]
    table.notes.append(f"column {few[0]} has {words.counted(counts[few[0]], 'value')}: taken as variant")
    return few[0]


def _time_name(table: _LabelledTable) -> str | None:
    """Return the column of times, found by name or as the only column with times."""
    if "timestamp" in table.roles:
        return table.roles["timestamp"]
    kinds, form = table.frame.schema.items(), table.clock.form
    names = [name for name, kind in kinds if isinstance(kind, pl.Datetime) or kind == pl.Date]
    texts = [name for name, kind in kinds if kind == pl.String and name not in table.roles.values()]
    names += [
        name
        for name in texts
        if (cells := table.frame.select(name).drop_nulls().head(100)).height
        and cells.select(
            pl.col(name).str.contains(A_TIME).all()
            if form is None
            else table.clock.parsed(pl.col(name)).is_not_null().all()
        ).item()
    ]
    if len(names) > 1:
        several = f"columns {words.listing(names, last='and')} could each be the time"
        raise InputError(f"{table.label}: {several}: name it, like --columns '{names[0]}=timestamp'")
    return names[0] if names else None


def _times(table: _LabelledTable) -> str | None:
    """Return the column of times, read as times in UTC; None without one."""
    name = _time_name(table)
    if name is not None and not table.read:
        kind = table.frame.schema[name]
        written = kind == pl.String or kind.is_integer()  # in a form
        clock = table.clock if written else replace(table.clock, form=None)
        rows = LogRows(table.frame.lazy(), dict(table.frame.schema), Source(table.label), clock=clock)
        value, faulty, notes = read_times(rows, name)
        if faulty is not None:
            refuse_faults(rows, {name: (faulty, "time")})
        table.frame = table.frame.with_columns(value.alias(name))
        table.roles["timestamp"], table.read = name, True
        table.notes.extend(notes)
    return name


def _experiment_columns(frame: pl.DataFrame) -> list[str]:
    names = {plain_name(one) for one in ("experiment_id", *COLUMNS["experiment_id"].names)}
    return [name for name in frame.columns if plain_name(name) in names]


def _refuse_experiments(assigned: _LabelledTable, users: pl.DataFrame) -> None:
    for name in _experiment_columns(users):
        several = sorted(users[name].drop_nulls().cast(pl.String).unique())
        if len(several) > 1:
            raise InputError(
                f"{assigned.label}: assignments to {words.counted(len(several), 'experiment')} ({words.listing(several)}): keep the rows of one"
            )


def _chosen(
    assigned: _LabelledTable, users: pl.DataFrame, others: Sequence[_LabelledTable], days: Days
) -> tuple[pl.DataFrame, list[str]]:
    """Return the units that were first assigned from the first to the last day, and notes. Remove later events from ``others``."""
    unit, at, end = assigned.roles["unit_id"], _times(assigned), days[1]
    if at is None:
        raise InputError(
            f"{assigned.label}: --from and --to choose units by the day of their assignment, and no column of times is known: name it, like --columns 'NAME=timestamp'"
        )
    inside, named = within(pl.col(at).dt.date().min().over(unit), days)
    kept = users.filter(inside)
    if kept.is_empty():
        every = users[at].dt.date().drop_nulls().sort().cast(pl.String)
        raise DataError(
            f"{assigned.label}: no unit was assigned {named}: assignments are from {' to '.join(every[[0, -1]])}"
        )
    lost = users.join(kept, on=unit, how="anti")
    kept = kept.filter(within(pl.col(at).dt.date(), (None, end))[0])
    late = 0
    for other in others:
        time, theirs = _times(other), other.roles["unit_id"]
        known = other.frame.filter(~other.texts(theirs).is_in(lost[unit].implode()).fill_null(value=False))
        other.frame = (
            known
            if time is None or end is None
            else known.filter(~(pl.col(time).dt.date() > end).fill_null(value=False))
        )
        late += known.height - other.frame.height
    notes = [
        f"units assigned {named} are used: {words.counted(lost[unit].n_unique(), 'unit')} left out, with all events"
    ]
    return kept, notes + ([f"left out: {words.counted(late, 'event')} after {end}"] if late else [])


def _together(
    users: pl.DataFrame, others: Sequence[_LabelledTable], names: tuple[str, str, str | None], window: object
) -> tuple[pl.DataFrame, list[str]]:
    """Return rows of assignments and of events, one after the other, and notes."""
    at = names[2]
    length = window_of(window)
    met = users.rename({at: MET}) if at is not None else users
    parts, notes = (
        [users.with_columns(pl.lit(value=False).alias(EVENT), pl.lit(value=False).alias(BEFORE))],
        list[str](),
    )
    for other in others:
        time = _times(other)
        if length is not None and (time is None or at is None):
            raise InputError(
                f"window={window!r}: {other.label if at else 'assignments'} {'have' if at is None else 'has'} no column of times"
            )
        parts.append(_placed(other, met, time, names, length, notes, several=len(others) > 1))
        if time is None or at is None:
            notes.append(
                f"{other.label}: every event counts, as {'assignments have' if at is None else 'events have'} no times: events before the assignment cannot be left out"
            )
    whole = pl.concat(parts, how="diagonal_relaxed")
    times = next((name for name in (at, *map(_times, others)) if name in whole.columns), None)
    return (whole.sort(times, nulls_last=False, maintain_order=True) if times else whole), list(dict.fromkeys(notes))


def _placed(
    other: _LabelledTable,
    met: pl.DataFrame,
    time: str | None,
    names: tuple[str, str, str | None],
    window: Any,
    notes: list[str],
    several: bool,
) -> pl.DataFrame:
    """Return the events of one table with the columns of the assignments."""
    unit, _, at = names
    theirs = other.roles["unit_id"]
    both = [name for name in other.frame.columns if name in met.columns and name not in {theirs, time}]
    events = other.frame.with_columns(other.texts(theirs)).drop(both).rename({theirs: unit})
    if both:
        notes.append(
            f"{other.label}: {words.listing(both, last='and')} {words.agree(len(both), 'is')} taken from the assignments"
        )
    met = met.drop(time) if time is not None and time in met.columns else met
    rows, remarks = placed_events(met, events, unit, time, window)
    notes += remarks
    rows = rows.drop(MET, strict=False).rename({time: at} if time is not None and at is not None and time != at else {})
    if several and KIND not in rows.columns:
        rows = rows.with_columns(pl.lit(other.label).alias(KIND))
    return rows.with_columns(pl.lit(value=True).alias(EVENT))
