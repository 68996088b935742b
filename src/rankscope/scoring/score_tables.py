"""Tables of scores as what is compared, and runs of one system averaged query by query."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.errors import InputError
from rankscope.inference.replicates import Replicates, averaged
from rankscope.metrics import Metric, parse
from rankscope.panels.panel import Panel
from rankscope.scoring.measurements import Measurements

if TYPE_CHECKING:
    from rankscope.files.matrices import ScoreTable


def of_table(source: Any, metrics: Any, primary: Any, as_given: bool, systems: Any = "auto") -> Measurements:
    """The metrics of a table of scores, as files, frames or dicts hold it.

    Raises InputError for a metric that the table does not hold.
    """
    from rankscope.files.matrices import NAMELESS, scores_of

    names = _names(metrics)
    table = scores_of(source, names[0] if names and len(names) == 1 else None, systems)
    fields = [_of_matrix(table, name, as_given) for name in _wanted(table, names)]
    if primary is not None:
        names = [str(primary), str(parse(primary))]
        if not any(f.name in names for f in fields):
            raise InputError(f"primary {primary!r}: there are scores of {', '.join(f.name for f in fields)}")
        fields.sort(key=lambda f: f.name not in names)
    notes = [table.note] if table.note else []
    notes += [
        f"{f.name} is no metric known here: higher is taken as better"
        for f in fields
        if not known(f.name) and f.name != NAMELESS
    ]
    return Measurements(fields, notes=notes, inputs=[_file(path) for path in _paths(source)])


def known(name: str) -> bool:
    """Whether a name is that of a metric."""
    try:
        parse(name)
    except InputError:
        return False
    return True


def _paths(source: Any) -> list[str]:
    """The files that scores were read from."""
    parts = (
        source.values()
        if isinstance(source, Mapping)
        else source
        if isinstance(source, list | tuple)
        else [source]
    )
    return [str(part) for part in parts if isinstance(part, str | Path)]


def _file(path: str) -> dict[str, Any]:
    """A file's path, and the hash of what is in it; standard input has none."""
    if path == "-":
        return {"path": path, "sha256": None}
    with Path(path).open("rb") as stream:
        return {"path": path, "sha256": hashlib.file_digest(stream, "sha256").hexdigest()}


def _names(metrics: Any) -> list[str] | None:
    """What the scores are said to be of: names as they were written, metrics as they are spelled."""
    if metrics is None:
        return None
    given = [metrics] if isinstance(metrics, str | Metric | type) else list(metrics)
    return [m if isinstance(m, str) else str(parse(m)) for m in given]


def _wanted(table: ScoreTable, names: Sequence[str] | None) -> list[str]:
    """The metrics of a table that were asked for: all of them unless several were named."""
    if names is None or len(names) == 1:
        return list(table.values)
    for name in names:
        if name not in table.values:
            close = get_close_matches(name, table.values, n=1)
            hint = f", did you mean {close[0]}?" if close else f": there are {', '.join(table.values)}"
            raise InputError(f"metric {name!r}: the scores hold no such metric{hint}")
    return list(names)


LARGEST = 1e150  # beyond it squares are infinite


def _of_matrix(table: ScoreTable, name: str, as_given: bool) -> Panel:
    """One metric of a table of scores; its direction and range are known where its name is that of a metric."""
    places = range(len(table.query_ids))
    order = list(places) if as_given else sorted(places, key=lambda i: table.query_ids[i])
    values = table.values[name][:, order]
    ids = tuple(table.query_ids[i] for i in order)
    largest = float(np.abs(values[~np.isnan(values)]).max(initial=0.0))
    if largest > LARGEST:
        raise InputError(
            f"{name}: a score of {largest:g} is too large to be squared: give scores on a smaller scale"
        )
    try:
        metric = parse(name)
    except InputError:
        return Panel(name, table.systems, ids, values)
    low, high = metric.range
    known = values[~np.isnan(values)]
    inside = bool(((known >= low - 1e-9) & (known <= high + 1e-9)).all())
    return Panel(
        str(metric),
        table.systems,
        ids,
        values,
        None,
        metric.better,
        (low, high) if inside else (-np.inf, np.inf),
    )


def merged(given: Measurements, systems: Mapping[str, str]) -> Measurements:
    """Runs of one system averaged query by query."""
    names = given.fields[0].systems
    for run in systems:
        if run not in names:
            close = get_close_matches(run, names, n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names[:10])}"
            raise InputError(f"systems: no run is called {run!r}, {hint}")
    of = {name: systems.get(name, name) for name in names}
    several = [system for system in systems.values() if list(systems.values()).count(system) > 1]
    taken = [name for name in names if name not in systems and name in several]
    if taken:
        raise InputError(
            f"systems: {taken[0]} is both a run and a system of several runs: give one another name"
        )
    replicates: dict[str, dict[str, Replicates]] = {}

    def merge(field: Panel) -> Panel:
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(field.systems):
            rows.setdefault(of[name], []).append(row)
        if field.weights is not None and len(rows) < len(field.systems):
            field = replace(field, weights=np.where(np.isnan(field.values), 0.0, field.weights))
        parts = {system: averaged(field.values[at]) for system, at in rows.items()}
        replicates[field.name] = {s: p for s, p in parts.items() if p.runs > 1}
        weights = (
            None
            if field.weights is None
            else np.stack([field.weights[at].max(axis=0) for at in rows.values()])
        )
        return replace(
            field, systems=tuple(rows), values=np.stack([p.values for p in parts.values()]), weights=weights
        )

    return replace(
        given,
        fields=[merge(f) for f in given.fields],
        curve=[merge(f) for f in given.curve],
        replicates=replicates,
        members={s: tuple(run for run in names if of[run] == s) for s in dict.fromkeys(several)},
    )
