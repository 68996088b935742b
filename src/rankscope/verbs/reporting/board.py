"""The scoreboard: every run on every metric, what is clear of the baseline, who leads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rankscope.blocks import Block, Column, Paragraph, Ranged, Section, Table, Value
from rankscope.verbs import scoreboard
from rankscope.verbs.comparison.compare import Comparison
from rankscope.verbs.comparison.compare_tables import effects_table, in_order_of_merit
from rankscope.verbs.comparison.compared import how
from rankscope.verbs.comparison.contrast import Contrast
from rankscope.verbs.comparison.families import separated
from rankscope.verbs.comparison.measured import Measured
from rankscope.verbs.comparison.sentences import counted, p_of, percent, signed
from rankscope.verbs.reporting.subject import Subject
from rankscope.verbs.reporting.wording import column_of, each_pair, merit, number_or_none, ranged, some
from rankscope.verbs.scores import Scores

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
        return (
            f"{subject.systems[0]} on {queries}, metric by metric. A heading tells how its metric is defined."
        )
    order = f"the best on {field.name} first" if field.sign else "in the order given"
    said = f"{len(subject.systems):,} runs on {queries}, {order}."
    if found is None or not field.sign:
        return f"{said} The best value of each metric is marked."
    best = in_order_of_merit(field)[0]
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
    board = scoreboard.board(scores)
    place = {name: i for i, name in enumerate(merit(subject))}
    order = sorted(range(len(board.rows)), key=lambda i: place[str(board.rows[i][0])])
    rows = tuple(board.rows[i] for i in order)
    best = frozenset((order.index(i), j) for i, j in board.best)
    hints = {field.name: column_of(field) for field in subject.fields}
    columns = tuple(replace(hints.get(c.header, c), header=c.header, kind=c.kind) for c in board.columns)
    yield replace(
        board, columns=columns, rows=rows, best=best, name="scoreboard", title="Values", unranged=""
    )
    yield from (Paragraph(text, quiet=True) for text in scoreboard.counted(scores))


def values_table(found: Comparison) -> Table:
    """Runs as rows, the best on the leading metric first, metrics as columns; the best values are marked."""
    order = in_order_of_merit(found.fields[0])
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
        tuple(columns),
        tuple(rows),
        best=frozenset(best),
        turns=True,
        note=note,
        name="scoreboard",
        title="Values",
    )


def _cell(field: Measured, system: str, found: Comparison) -> Value:
    mean = field.mean(system)
    if field.reason:
        return number_or_none(mean)
    return ranged(mean, field.interval(system, found.method.level)) or number_or_none(mean)


def _best(field: Measured, order: list[str]) -> list[int]:
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
        counts = [len(field.query_ids) - field.sample(system).count for system in field.systems]
        if any(counts):
            low, high = min(counts), max(counts)
            said = counted(low) if low == high else f"{low:,} to {high:,} queries, depending on the run"
            yield f"{field.name} has no value for {said}: left out of its mean"
        if field.reason:
            yield f"no interval of {field.name}: {field.reason}"
    if found.scores is not None:
        yield scoreboard.conventions(found.scores)


# --- against the baseline ------------------------------------------------------------------------


def marks_table(found: Comparison) -> Table:
    """The difference of each run from the baseline on each metric, marked where it is clear."""
    by_key: dict[Any, Contrast] = {(c.run, c.metric): c for c in found.contrasts}
    columns = [Column("run"), *(replace(column_of(field), kind="value") for field in found.fields)]
    rows: list[tuple[Value, ...]] = [
        (run, *(_marked(by_key[run, field.name]) for field in found.fields))
        for run in in_order_of_merit(found.fields[0])
        if run != found.baseline
    ]
    note = (
        f"* better, † worse than {found.baseline} at {percent(found.method.alpha)} ({how(found)}); "
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
    return f"{signed(c.difference)}{mark}"


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
    table = effects_table(found, found.fields[0])
    rows = tuple(tuple(None if isinstance(v, str) and "nan%" in v else v for v in row) for row in table.rows)
    # an effect without a number is a dash, as everywhere
    rows = tuple((*row[:4], *(None if v in {"+nan", "nan"} else v for v in row[4:])) for row in rows)
    p_values = tuple(p_of(c.p_value_adjusted) for c in pairs)
    columns = (
        *table.columns,
        Column("evidence", hint="the p-value, after the correction where there is one"),
    )
    place = {run: i for i, run in enumerate(in_order_of_merit(found.fields[0]))}
    told = sorted(zip(rows, p_values, strict=True), key=lambda one: place[str(one[0][0])])
    rows = tuple((*row, p) for row, p in told)
    yield replace(
        table, columns=columns, rows=rows, name="effect-sizes", title=f"Effect sizes on {found.primary}"
    )
