"""Where runs differ: by how much on each metric, and on how many queries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from rankscope.blocks import Block, Chart, Column, Paragraph, Section, Value
from rankscope.panels.contrast import Contrast
from rankscope.panels.panel import Panel
from rankscope.panels.verdicts import counted
from rankscope.reporting.subject import Subject
from rankscope.reporting.wording import each_pair, interval_said, is_clear, name_of, p_said, ranged, rivals_of, way
from rankscope.verbs.compare.result import Comparison
from rankscope.verbs.compare.tables import ROOM, p_cell

LARGE = 2.0  # differences on a metric of a wider range have a scale of their own


def section(subject: Subject) -> Section | None:
    """Differences with their intervals, and counts of queries."""
    found = subject.comparison
    if found is None:
        return None
    blocks: list[Block | Chart] = [*forests(found), *_without(found), *_counts(found)]
    rivals = [c for c in rivals_of(subject) if c.queries]
    lead = _lead(rivals[0]) if rivals else "No query has a value for two of the runs."
    return Section("differences", "Differences", tuple(blocks), lead)


def _lead(c: Contrast) -> str:
    """On how many queries the first rival differs."""
    pair = f"{c.run} against {c.baseline} on {c.metric}"
    if not c.differing:
        return f"{pair}: nothing changes on any of {counted(c.queries)}."
    up, down = ("better", "worse") if c.measured.sign else ("higher", "lower")
    said = f"{pair}: {counted(c.wins)} {up}, {c.losses:,} {down}"
    return said + (f"; on {c.ties:,} of {c.queries:,} nothing changes." if c.ties else f" of {c.queries:,}.")


# --- means ---------------------------------------------------------------------------------------


def forests(found: Comparison) -> Iterator[Chart]:
    """The differences of the means with their adjusted intervals, as one chart or several small ones.

    With one rival a row is a metric, else a row is a run and the leading metric has a chart of its own. A metric of a wide
    range (a count, a total) does not share its scale with others.
    """
    first, *others = found.fields
    alike = [field for field in others if _wide(field) == _wide(first)]
    unlike = [field for field in others if _wide(field) != _wide(first)]
    if len(found.of(first.name)) == 1:
        yield from _forest(found, [first, *alike], "forest", by_metric=True)
        for i, field in enumerate(unlike, start=2):
            yield from _forest(found, [field], f"forest-{i}", by_metric=True)
        return
    yield from _forest(found, [first], "forest")
    if alike:
        yield from _forest(found, alike, "forest-others")
    for i, field in enumerate(unlike, start=2):
        yield from _forest(found, [field], f"forest-{i}")


def _wide(field: Panel) -> bool:
    """Whether differences may be far beyond those of a share; scores of an unknown range tell by their values."""
    low, high = field.bounds
    if math.isfinite(high - low):
        return high - low > LARGE
    known = field.values[~np.isnan(field.values)]
    return bool(known.size) and float(np.abs(known).max()) > LARGE


def _forest(found: Comparison, fields: Sequence[Panel], name: str, by_metric: bool = False) -> Iterator[Chart]:
    rows: list[tuple[Value, ...]] = []
    for field in fields:
        label = f"{field.name} (lower is better)" if field.sign < 0 else field.name
        for c in _in_order(found, field):
            value = ranged(c.difference, c.adjusted)
            if value is not None:
                names = (label, c.run) if by_metric else (name_of(found, c), label)
                rows.append((*names, value, p_cell(c.p_value_adjusted), c.verdict, c.queries, is_clear(c)))
    if not rows:
        return
    heads = ("metric", "run") if by_metric else ("run", "metric")
    columns = (
        *map(Column, heads),
        Column("difference", "value", hint=_difference(found)),
        Column("p", "value", hint=p_said(found)),
        Column("verdict"),
        Column("queries", "count"),
        Column("clear", "count", hint="1 where the two are told apart"),
    )
    c = found.of(fields[0].name)[0]
    if each_pair(found):
        title = f"Differences of pairs on {fields[0].name}"
    else:
        which = f"{c.run} against {c.baseline}" if by_metric else f"Differences from {found.baseline}"
        title = which if len(fields) > 1 else f"{which} on {fields[0].name}"
    several = len(fields) > 1 and not by_metric
    yield Chart(
        name, title if len(fields) == 1 or by_metric else f"{title}, other metrics", "intervals", columns, tuple(rows),
        x="difference", y=heads[0], panel="metric" if several else "", marked="clear", guide="zero",
        caption=_read(found, fields),
    )  # fmt: skip


def _in_order(found: Comparison, field: Panel) -> list[Contrast]:
    """The contrasts on a metric, the runs in order of merit on the leading one; of many pairs those that differ most."""
    mine = found.of(field.name)
    if each_pair(found):
        return sorted(mine, key=lambda c: -np.nan_to_num(abs(c.difference)))[:ROOM]
    place = {run: i for i, run in enumerate(found.fields[0].by_merit)}
    return sorted(mine, key=lambda c: place[c.run])


def _difference(found: Comparison) -> str:
    return "run minus baseline" if not each_pair(found) else "the first of the pair minus the second"


def _read(found: Comparison, fields: Sequence[Panel]) -> str:
    """How to read a forest."""
    left = len(found.of(fields[0].name)) - ROOM
    more = f" The {ROOM} largest differences; {left:,} more are not drawn." if each_pair(found) and left > 0 else ""
    ways = {field.sign for field in fields}
    read = {
        1: "Right of 0 is better.",
        -1: "Left of 0 is better, as lower is.",
        0: f"{fields[0].name}: {way(fields[0])}.",
    }
    said = read[ways.pop()] if len(ways) == 1 else "Right of 0 is better, but for metrics marked otherwise."
    return (
        f"Difference of the means, {_difference(found)}, with {interval_said(found)}. {said} "
        f"An interval that holds 0 is drawn fainter: the two cannot be told apart.{more}"
    )


def _without(found: Comparison) -> Iterator[Paragraph]:
    """What is not drawn, and why."""
    bare = [c for c in found.contrasts if ranged(c.difference, c.adjusted) is None]
    if bare:
        c = bare[0]
        reason = c.adjusted.reason or c.bounds.reason or "it has no end"
        more = f" (and {len(bare) - 1:,} more)" if len(bare) > 1 else ""
        yield Paragraph(
            f"No interval, so not drawn: {c.run} against {c.baseline} on {c.metric}{more}: {reason}.", quiet=True
        )


# --- counts --------------------------------------------------------------------------------------


def _counts(found: Comparison) -> Iterator[Chart]:
    """Queries better, same and worse: a row a metric for one rival, else a row a run on the leading metric."""
    alone = len(found.of(found.primary)) == 1
    mine = [c for field in found.fields for c in found.of(field.name)] if alone else _in_order(found, found.fields[0])
    rows: list[tuple[Value, ...]] = []
    for c in mine:
        up, down = ("better", "worse") if c.measured.sign else ("higher", "lower")
        name = c.metric if alone else name_of(found, c)
        rows += [(name, up, c.wins), (name, "same", c.ties), (name, down, c.losses)]
    if not any(row[2] for row in rows):
        return
    head = "metric" if alone else "run"
    on = "" if alone else f" on {found.primary}"
    against = "the other of the pair" if each_pair(found) else found.baseline
    yield Chart(
        "win-loss", f"Queries better, same and worse{on}", "stacked",
        (Column(head), Column("outcome"), Column("queries", "count")), tuple(rows),
        x="queries", y=head, series="outcome",
        caption=f"On how many queries {mine[0].run if alone else 'a run'} scores better than {against}, the same, or worse. "
        "A small lead on many queries and a large one on few are different things.",
    )  # fmt: skip
