"""The scoreboard: every run on every metric, what is clear of the baseline, who leads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankscope.blocks import Block, Column, Paragraph, Ranged, Section, Table, Value, Written
from rankscope.lists import Array
from rankscope.panels.contrast import Contrast
from rankscope.panels.families import separated
from rankscope.panels.panel import Panel
from rankscope.panels.verdicts import counted, percent, signed
from rankscope.reporting.subject import Subject
from rankscope.reporting.wording import (
    column_of,
    each_pair,
    is_corrected,
    merit,
    method_said,
    number_or_none,
    p_said,
    ranged,
    some,
)
from rankscope.scoring.scores import Scores
from rankscope.verbs.compare.result import Comparison
from rankscope.verbs.compare.tables import effects_table, p_cell

MOST_EFFECTS = 60  # pairs whose effect sizes are read
DIGITS = 4  # to which the best value is told


def section(subject: Subject) -> Section:
    """Runs x metrics with intervals, differences from the baseline with their marks, effect sizes, top groups."""
    found = subject.comparison
    if found is None:
        assert subject.scores is not None
        return Section("scoreboard", "Scoreboard", tuple(_of_scores(subject.scores, subject)), _lead(subject))
    blocks: list[Block] = [values_table(found)]
    blocks += [Paragraph(text, quiet=True) for text in _unsaid(found)]
    if not each_pair(found):
        blocks.append(marks_table(found))
    blocks += [*_groups(found), *_effects(found)]
    return Section("scoreboard", "Scoreboard", tuple(blocks), _lead(subject))


def _lead(subject: Subject) -> str:
    field, found = subject.lead, subject.comparison
    queries = counted(len(field.query_ids))
    if len(subject.systems) == 1:
        return f"{subject.systems[0]} on {queries}, metric by metric. A heading tells how its metric is defined."
    order = f"the best on {field.name} first" if field.sign else "in the order given"
    said = f"{len(subject.systems):,} runs on {queries}, {order}."
    directed = [one.name for one in subject.fields if one.sign]
    if found is None or not field.sign:
        if len(directed) == len(subject.fields):
            return f"{said} The best value of each metric is marked."
        return (
            f"{said} The best value of {some(directed)} is marked."
            if directed
            else f"{said} None of the values is best."
        )
    best = field.by_merit[0]
    parting = [f for f in found.fields if _best(f, list(f.systems))]
    if not parting:
        return f"{said} All have the same values."
    first = [f.name for f in parting if best in {f.systems[i] for i in _best(f, list(f.systems))}]
    if len(first) < len(parting):
        return f"{said} {best} has the best value on {some(first) or 'none'}; others have it on {len(parting) - len(first):,} more."
    return f"{said} {best} has the best value{' on every metric that differs' if len(parting) > 1 else ''}."


# --- values --------------------------------------------------------------------------------------


def _of_scores(scores: Scores, subject: Subject) -> Iterator[Block]:
    """The scoreboard of ``evaluate``, with what each metric is."""
    board = scores.table()
    place = {name: i for i, name in enumerate(merit(subject))}
    order = sorted(range(len(board.rows)), key=lambda i: place[str(board.rows[i][0])])
    rows = tuple(board.rows[i] for i in order)
    best = frozenset((order.index(i), j) for i, j in board.best)
    hints = {field.name: column_of(field) for field in subject.fields}
    columns = tuple(replace(hints.get(c.header, c), header=c.header, kind=c.kind) for c in board.columns)
    yield replace(board, columns=columns, rows=rows, best=best, name="scoreboard", title="Values", unranged="")
    yield from (Paragraph(text, quiet=True) for text in scores.queries_in_words())


def values_table(found: Comparison) -> Table:
    """Runs as rows, the best on the leading metric first, metrics as columns; the best values are marked."""
    order = found.fields[0].by_merit
    columns = [Column("run"), *map(column_of, found.fields)]
    rows: list[tuple[Value, ...]] = [
        (system, *(_cell(field, system, found) for field in found.fields)) for system in order
    ]
    best = {(i, j) for j, field in enumerate(found.fields, start=1) for i in _best(field, order)}
    ranges = any(isinstance(cell, Ranged) for row in rows for cell in row)
    level = percent(found.method.level)
    clustered = "" if found.fields[0].clusters is None else " in clusters"
    note = (
        f"± is half of the {level} interval over queries{clustered}, - and + its two sides where they differ"
        if ranges
        else ""
    )
    return Table(
        tuple(columns), tuple(rows), best=frozenset(best), turns=True, note=note, name="scoreboard", title="Values"
    )


def _cell(field: Panel, system: str, found: Comparison) -> Value:
    mean = field.mean(system)
    if field.reason:
        return number_or_none(mean)
    return ranged(mean, field.interval(system, found.method.level)) or number_or_none(mean)


def _best(field: Panel, order: list[str]) -> list[int]:
    """The rows with the best value, as far as can be seen; none where all are the same."""
    seen = [number_or_none(field.mean(system)) for system in order]
    known = [round(value, DIGITS) for value in seen if value is not None]
    if not field.sign or len(known) < 2 or len(set(known)) == 1:
        return []
    top = max(known) if field.sign > 0 else min(known)
    return [i for i, value in enumerate(seen) if value is not None and round(value, DIGITS) == top]


def _unsaid(found: Comparison) -> Iterator[str]:
    """How many queries have no value, metric by metric, and what was assumed."""
    for field in found.fields:
        unknown = np.isnan(field.values)
        if unknown.any():
            yield f"{field.name} has no value for {_counts(unknown)}: left out of its mean"
        weightless = _weightless(field)
        if weightless.any():
            weigh = "weighs" if (weightless.sum(axis=1) == 1).all() else "weigh"
            yield f"{_counts(weightless)} {weigh} nothing in the mean of {field.name}"
        if field.reason:
            yield f"no interval of {field.name}: {field.reason}"
    if found.scores is not None:
        yield found.scores.request.small_print()


def _counts(marked: Array) -> str:
    """How many queries are marked, of systems x queries; the range where runs differ."""
    counts = marked.sum(axis=1).tolist()
    low, high = min(counts), max(counts)
    return counted(low) if low == high else f"{low:,} to {high:,} queries (it depends on the run)"


def _weightless(field: Panel) -> Array:
    """The queries with a value whose weight is 0, systems x queries."""
    if field.weights is None:
        return np.zeros(field.values.shape, dtype=bool)
    return np.asarray(~np.isnan(field.values) & ~(field.weights > 0))


# --- against the baseline ------------------------------------------------------------------------


def marks_table(found: Comparison) -> Table:
    """The difference of each run from the baseline on each metric, marked where it is clear."""
    by_key: dict[Any, Contrast] = {(c.run, c.metric): c for c in found.contrasts}
    columns = [Column("run"), *(Column(field.name, "value") for field in found.fields)]
    rows: list[tuple[Value, ...]] = [
        (run, *(_marked(by_key[run, field.name]) for field in found.fields))
        for run in found.fields[0].by_merit
        if run != found.baseline
    ]
    note = (
        f"* better, † worse than {found.baseline} at {percent(found.method.alpha)} ({method_said(found)}); "
        "without a mark: cannot be told apart, or the same"
    )
    if any(not field.sign for field in found.fields):
        note += "; of metrics that are neither better nor worse when higher, * is different"
    return Table(
        tuple(columns),
        tuple(rows),
        turns=True,
        note=note,
        name="against-baseline",
        title=f"Difference from {found.baseline}",
    )


def _marked(c: Contrast) -> Value:
    """A difference with its mark; None where no query has a value for both."""
    if number_or_none(c.difference) is None:
        return None
    mark = {"better": " *", "different": " *", "worse": " †"}.get(c.verdict, "")
    return Written(f"{signed(c.difference)}{mark}", c.difference)


def _groups(found: Comparison) -> Iterator[Block]:
    """Who leads on each metric, and the share of pairs that a metric tells apart."""
    if found.groups:
        rows: tuple[tuple[Value, ...], ...] = tuple(
            (group.metric, group.systems[0], some(group.systems[1:], 12) or "nobody", len(group.systems))
            for group in found.groups
        )
        columns = (
            Column("metric"),
            Column("best"),
            Column("cannot be told apart from it", wraps=True),
            Column("runs", "count", hint=f"how many of the {len(found.systems):,} runs are in the top group"),
        )
        note = "found by comparing each run with each, so that the best is not favoured for being the best"
        yield Table(columns, rows, note=note, name="top-groups", title="Top groups")
    if each_pair(found):
        told = ", ".join(f"{m} {separated(found.of(m)):.0%}" for m in found.metrics)
        yield Paragraph(f"Pairs told apart with these queries (discriminative power): {told}.")


def _effects(found: Comparison) -> Iterator[Block]:
    """How large the differences are in other units, on the leading metric."""
    pairs = found.of(found.primary)
    if len(pairs) > MOST_EFFECTS:
        return
    table = effects_table(found.family, found.fields[0])
    rows = [(*map(_known, row), p_cell(c.p_value_adjusted)) for row, c in zip(table.rows, pairs, strict=True)]
    place = {run: i for i, run in enumerate(found.fields[0].by_merit)}
    columns = _effect_columns(found, table.columns)
    told = tuple(sorted(rows, key=lambda row: place[str(row[0])]))
    title = f"Effect sizes on {found.primary}"
    note = "p is after the correction; the intervals of the relative differences are not" if is_corrected(found) else ""
    yield replace(table, columns=columns, rows=told, note=note, name="effect-sizes", title=title)


def _known(value: Value) -> Value:
    """None for an effect without a number: a dash, as everywhere."""
    return None if isinstance(value, Written) and math.isnan(value.value) else value


def _effect_columns(found: Comparison, columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns of effect sizes with what each is; of one comparison alone where it is not corrected."""
    sign = found.fields[0].sign
    better = "better" if sign else "higher"
    run, against, relative, interval, spread, _, carried = columns
    alone = "of this comparison alone, not corrected for the others" if is_corrected(found) else ""
    bare = f"{interval.header}{', not corrected' if alone else ''}"
    return (
        run,
        against,
        replace(relative, hint="the difference as a part of the mean of the one it is against"),
        replace(interval, header=bare, hint=f"of the relative difference{f', {alone}' if alone else ''} (Fieller)"),
        replace(spread, hint="the difference in standard deviations of the differences of the queries"),
        Column(f"queries {better}", "value", hint=f"share of the queries on which the run is {better}, ties half"),
        replace(carried, hint=f"as many of the queries that favour the one {'ahead' if sign else 'of the higher mean'} most must go for its lead to be gone, "
                "whichever of the two it is"),
        Column("p", "value", hint=p_said(found)),
    )  # fmt: skip
