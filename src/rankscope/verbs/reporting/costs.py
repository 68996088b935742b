"""Quality against cost: what a better run costs, and which runs nothing beats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rankscope.blocks import EMPTY, Block, Chart, Column, Heading, Section, Table, Value
from rankscope.verbs.comparison.tradeoffs import STEP, TradeOffs
from rankscope.verbs.reporting.subject import Subject
from rankscope.verbs.reporting.wording import apart, column_of, some

APART = 50  # from this factor between the least and the largest cost on, the axis is logarithmic


def section(subject: Subject) -> Section | None:
    """What the runs cost against the leading metric, a chart and a table a cost, with the front."""
    found = None if subject.comparison is None else subject.comparison.tradeoffs
    if found is None:
        return None
    return Section("costs", "Quality and cost", tuple(_blocks(found, subject)), _lead(found))


def _lead(found: TradeOffs) -> str:
    column = found.costs.columns[0]
    front = [place.run for place in found.front(column)]
    beaten = len(found.quality) - len(front)
    rest = (
        f"the other {beaten:,} cost as much or more and are no better"
        if beaten
        else "each costs more than the one before it and is better"
    )
    if len(front) == 1:
        return f"By {column}, {front[0]} beats all others: none is cheaper or better."
    return f"By {column}, {some(front)} are worth a choice; {rest}."


def _blocks(found: TradeOffs, subject: Subject) -> Iterator[Block | Chart]:
    """The sentences and tables of the trade-off, each table under its chart."""
    number = 0
    for block in found.blocks():
        if block == EMPTY:
            continue
        if isinstance(block, Heading):
            yield block
        elif isinstance(block, Table):
            column = found.costs.columns[number]
            number += 1
            yield chart(found, column, number, subject)
            yield replace(block, name=f"costs-{number}")
        else:
            yield block


def chart(found: TradeOffs, column: str, number: int, subject: Subject) -> Chart:
    """Every run as a point, the front as a line."""
    places = found.places(column)
    rows: list[tuple[Value, ...]] = [
        (p.run, p.cost, p.quality, int(p.on_front), p.beaten_by or "", p.price) for p in places
    ]
    x = apart(column, "run", "front", "beaten by")
    y = apart(found.metric, "run", "front", "beaten by", x)
    low, high = min(p.cost for p in places), max(p.cost for p in places)
    logarithmic = low > 0 and high / low >= APART
    better = "lower" if found.better == "lower" else "higher"
    columns = (
        Column("run"), Column(x, "value", hint=f"what a run costs: {column}"), replace(column_of(subject.lead), header=y, kind="value"),
        Column("front", "count", hint="1 where no run is as good or better and costs no more"), Column("beaten by"),
        Column(f"per {STEP}", "value", hint=f"what {STEP} of {found.metric} costs, against the next cheaper run of the front"),
    )  # fmt: skip
    return Chart(
        f"costs-{number}",
        f"{found.metric} against {column}",
        "points",
        columns,
        tuple(rows),
        x=x,
        y=y,
        label="run",
        path="front",
        logs=frozenset({"x"}) if logarithmic else frozenset(),
        caption=f"Left is cheaper, {better} is better. The line joins the runs that none beats (the Pareto front); a run off the line is "
        f"not worth its cost: another is as good or better and costs no more.{' The axis of costs is logarithmic.' if logarithmic else ''}",
    )
