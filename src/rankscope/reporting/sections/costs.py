"""Quality against cost: what a better run costs, and which runs nothing beats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rankscope.blocks import EMPTY, Block, Chart, Column, Heading, Section, Table, Value
from rankscope.panels.tradeoffs import STEP, TradeOffs
from rankscope.reporting.subject import Subject
from rankscope.reporting.wording import apart, column_of, slug, some

MEANS_ONLY = "These are means only: the verdict tells whether a difference is real."
APART = 50  # from this factor between the least and the largest cost on, the axis is logarithmic


def section(subject: Subject) -> Section | None:
    """What the runs cost against the leading metric, a chart and a table a cost, with the front."""
    found = None if subject.comparison is None else subject.comparison.tradeoffs
    if found is None:
        return None
    return Section("costs", "Quality and cost", tuple(_blocks(found, subject)), _lead(found))


def _lead(found: TradeOffs) -> str:
    """What is worth a choice by the first cost, and that only means were weighed."""
    column = found.costs.columns[0]
    front = found.front(column)
    names, beaten = [place.run for place in front], len(found.quality) - len(front)
    if len(front) == 1:
        said = f"By {column}, {names[0]} beats all others: none is cheaper or has a {found.better} mean"
    elif beaten:
        others = (
            "the other one costs as much or more and has no"
            if beaten == 1
            else f"the other {beaten:,} cost as much or more and have no"
        )
        said = f"By {column}, {some(names)} are worth a choice; {others} {found.better} mean"
    elif len({place.cost for place in front}) == len(front):
        said = f"By {column}, {some(names)} are worth a choice: each costs more than the one before it and has a {found.better} mean"
    else:
        said = f"By {column}, {some(names)} are worth a choice: none costs less than another and has as good a mean"
    return f"{said}. {MEANS_ONLY}"


def _blocks(found: TradeOffs, subject: Subject) -> Iterator[Block | Chart]:
    """The sentences and tables of the trade-off, each table under its chart, which has its title."""
    columns = iter(found.costs.columns)
    for block in found.blocks():
        if isinstance(block, Table):
            column = next(columns)
            name = slug(column, 30) or "cost"
            yield chart(found, column, name, subject)
            yield replace(block, columns=_columns(found, column, block), name=f"costs-{name}")
        elif block != EMPTY and not isinstance(block, Heading):
            yield block


def _columns(found: TradeOffs, column: str, table: Table) -> tuple[Column, ...]:
    """The columns of a table of costs, numbers as numbers."""
    run, cost, mean, front, price = table.columns
    return (
        run,
        replace(cost, kind="value", hint=f"what a run costs: {column}"),
        mean,
        front,
        replace(
            price, kind="value", hint=f"what {STEP} of {found.metric} costs, against the next cheaper run of the front"
        ),
    )


def chart(found: TradeOffs, column: str, name: str, subject: Subject) -> Chart:
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
        f"quality-by-{name}",
        f"{found.metric} against {column}",
        "points",
        columns,
        tuple(rows),
        x=x,
        y=y,
        label="run",
        told=True,
        path="front",
        logs=frozenset({"x"}) if logarithmic else frozenset(),
        caption=f"Left is cheaper, {better} is better. The line joins the runs that none beats (the Pareto front); a run off the line is "
        f"not worth its cost: another is as good or better and costs no more.{' The axis of costs is logarithmic.' if logarithmic else ''}",
    )
