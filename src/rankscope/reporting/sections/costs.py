"""Quality against cost: what a better run costs, and which runs nothing beats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rankscope import words
from rankscope.blocks import EMPTY, Chart, Column, Heading, Table, Value
from rankscope.panels.charts import column_of, other_than
from rankscope.panels.tradeoffs import STEP, TradeOffs
from rankscope.reporting.part import PagePart
from rankscope.reporting.subject import SubjectOfComparison
from rankscope.verbs.compare.charts import slug

MEANS_ONLY = "These are means only: the verdict says whether a difference is real."
APART = 50  # from this factor between the least and the largest cost on, the axis is logarithmic


class CostsPart(PagePart[SubjectOfComparison]):
    """What the runs cost against the main metric, a chart and a table a cost, with the front."""

    name, title = "costs", "Quality and cost"
    subjects = SubjectOfComparison

    def blocks(self) -> Iterator[Any]:
        """The sentences and tables of the trade-off, each table under its chart, which has its title."""
        found = self.subject.result.tradeoffs
        if found is None:
            return
        columns = iter(found.costs.columns)
        for block in found.blocks():
            if isinstance(block, Table):
                column = next(columns)
                name = slug(column, 30) or "cost"
                yield self._chart(found, column, name)
                run, cost, mean, front, price = block.columns
                cost, price = (
                    replace(cost, kind="value", hint=_cost(column)),
                    replace(price, kind="value", hint=_price(found)),
                )
                yield replace(block, columns=(run, cost, mean, front, price), name=f"costs-{name}")
            elif block != EMPTY and not isinstance(block, Heading):
                yield block

    def lead(self) -> str:
        """What is on the Pareto front by the first cost, and that only means were compared."""
        found = self.subject.result.tradeoffs
        assert found is not None
        column = found.costs.columns[0]
        front = found.front(column)
        names, beaten = words.listing([place.run for place in front]), len(found.quality) - len(front)
        if len(front) == 1:
            return f"By {column}, {names} beats all others: none is cheaper or has a {found.better} mean. {MEANS_ONLY}"
        if beaten:
            others = "the other one costs" if beaten == 1 else f"the other {words.count(beaten)} cost"
            why = f"; {others} as much or more and {words.agree(beaten, 'has')} no {found.better} mean"
        elif len({place.cost for place in front}) == len(front):
            why = f": each costs more than the one before it and has a {found.better} mean"
        else:
            why = ": none costs less than another and has as good a mean"
        return f"By {column}, {names} are on the Pareto front{why}. {MEANS_ONLY}"

    def _chart(self, found: TradeOffs, column: str, name: str) -> Chart:
        """Every run as a point, the front as a line."""
        places = found.places(column)
        rows: tuple[tuple[Value, ...], ...] = tuple(
            (p.run, p.cost, p.quality, int(p.on_front), p.beaten_by or "", p.price) for p in places
        )
        x = other_than(column, "run", "front", "beaten by")
        y = other_than(found.metric, "run", "front", "beaten by", x)
        low, high = min(p.cost for p in places), max(p.cost for p in places)
        logarithmic = low > 0 and high / low >= APART
        better = "lower" if found.better == "lower" else "higher"
        columns = (
            Column("run"), Column(x, "value", hint=_cost(column)), replace(column_of(self.subject.lead), header=y, kind="value"),
            Column("front", "count", hint="1 where no run is as good or better and costs no more"), Column("beaten by"),
            Column(f"per {STEP}", "value", hint=_price(found)),
        )  # fmt: skip
        return Chart(
            f"quality-by-{name}", f"{found.metric} against {column}", "points", columns, rows, x=x, y=y, label="run", told=True, path="front",
            logs=frozenset({"x"}) if logarithmic else frozenset(),
            caption=f"Left is cheaper, {better} is better. The line joins the runs on the Pareto front; a run off the line is "
            f"not worth its cost: another is as good or better and costs no more.{' The axis of costs is logarithmic.' if logarithmic else ''}",
        )  # fmt: skip


def _cost(column: str) -> str:
    return f"what a run costs: {column}"


def _price(found: TradeOffs) -> str:
    return f"what {STEP} of {found.metric} costs, against the next cheaper run of the front"
