"""Each run against each: which pairs are told apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rankscope.blocks import Block, Chart, Column, Section, Table, Value
from rankscope.panels.contrast import Contrast
from rankscope.panels.families import separated
from rankscope.panels.verdicts import percent
from rankscope.reporting.subject import Subject
from rankscope.reporting.wording import each_pair, is_clear, method_said, number_or_none, p_said, way
from rankscope.verbs.compare.result import Comparison
from rankscope.verbs.compare.tables import ROOM, p_cell, pair_table

MATRIX = 15  # runs whose p-values are read as a table of runs x runs


def section(subject: Subject) -> Section | None:
    """Differences of all pairs on the leading metric as a picture, their p-values as tables."""
    found = subject.comparison
    if found is None or not each_pair(found):
        return None
    mine = found.of(found.primary)
    told = sum(map(is_clear, mine))
    lead = (
        f"{told:,} of {len(mine):,} pairs are told apart on {found.primary} ({separated(mine):.0%}) at "
        f"{percent(found.method.alpha)}: {method_said(found)}."
    )
    blocks: list[Block | Chart] = [_differences(found, mine)]
    if len(found.systems) <= MATRIX:
        blocks.append(_p_values(found, mine))
    many = len(mine) > ROOM
    table = pair_table(found.family, found.fields[0], every=not many, parted=True)
    note = f"the {len(table.rows)} largest differences that are clear, of {len(mine):,} pairs" if many else ""
    if table.rows:
        blocks.append(replace(table, note=note, name="pairs", title=f"Pairs on {found.primary}"))
    return Section("pairs", "Each run against each", tuple(blocks), lead)


def _cells(found: Comparison, mine: Sequence[Contrast]) -> Iterator[tuple[str, str, Contrast | None, int]]:
    """Every pair both ways round, the runs in order of merit: row, column, contrast (None: of a run with itself), 1 or -1 where it is turned."""
    by_pair = {(c.run, c.baseline): c for c in mine}
    order = found.fields[0].by_merit
    for row in order:
        for column in order:
            turned = (row, column) not in by_pair
            c = by_pair.get((column, row) if turned else (row, column))
            yield row, column, c, -1 if turned else 1


def _differences(found: Comparison, mine: Sequence[Contrast]) -> Chart:
    """Runs x runs; a run against itself differs by 0."""
    rows: list[tuple[Value, ...]] = []
    for row, column, c, turned in _cells(found, mine):
        difference = 0.0 if c is None else number_or_none(turned * c.difference + 0.0)
        p_value = None if c is None else p_cell(c.p_value_adjusted)
        if difference is not None:
            rows.append((row, column, difference, p_value, 0 if c is None else is_clear(c)))
    columns = (
        Column("run"),
        Column("against"),
        Column("difference", "value", hint="run minus the one it is against"),
        Column("p", "value", hint=p_said(found)),
        Column("clear", "count", hint="1 where the two are told apart"),
    )
    return Chart(
        "pairs-differences",
        f"Differences on {found.primary}",
        "heat",
        columns,
        tuple(rows),
        x="against",
        y="run",
        colour="difference",
        middle=0.0,
        caption=f"The row minus the column ({way(found.fields[0])}), the best run first. Which pairs are told apart is said below.",
    )


def _p_values(found: Comparison, mine: Sequence[Contrast]) -> Table:
    """Runs x runs; what is clear is stressed."""
    order = found.fields[0].by_merit
    cells = {(row, column): c for row, column, c, _ in _cells(found, mine)}
    rows: list[tuple[Value, ...]] = []
    clear = set()
    for i, row in enumerate(order):
        line: list[Value] = [row]
        for j, column in enumerate(order, start=1):
            c = cells[row, column]
            line.append(None if c is None else p_cell(c.p_value_adjusted))
            if c is not None and is_clear(c):
                clear.add((i, j))
        rows.append(tuple(line))
    columns = (Column("run"), *(Column(name, "value") for name in order))
    note = f"{p_said(found)}; stressed: told apart at {percent(found.method.alpha)}"
    return Table(
        columns, tuple(rows), best=frozenset(clear), note=note, name="pairs-p", title=f"p-values on {found.primary}"
    )
