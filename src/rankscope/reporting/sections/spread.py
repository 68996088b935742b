"""The distribution of query values, which the mean hides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Column, Table, Value
from rankscope.lists import Array
from rankscope.panels.panel import Panel
from rankscope.reporting.subject import LINES, PagePart, column_of
from rankscope.scoring.spread import (
    BARS,
    QUANTILES,
    distribution_chart,
    first_relevant_chart,
    gaps,
    heat_map_chart,
    rank_table,
    spread_of,
)
from rankscope.verbs.compare.charts import unevenness

ROWS = 40  # rows of quantiles that are read at one go
COLUMNS = (
    Column("min", "value"), Column("q05", "value", hint="5% of the queries score at most this"),
    Column("q25", "value", hint="a quarter of the queries scores at most this"),
    Column("median", "value", hint="half of the queries score at most this"),
    Column("q75", "value", hint="three quarters of the queries score at most this"),
    Column("q95", "value", hint="95% of the queries score at most this"), Column("max", "value"),
    Column("zeros", "count", hint="queries that score exactly 0"),
    Column("full", "count", hint="queries that score the highest value possible"),
    Column("queries", "count", hint="queries that have a value"),
)  # fmt: skip


class SpreadPart(PagePart):
    """The distribution of the main metric over queries, its quantiles, and the ranks of first relevant documents."""

    name, title = "spread", "How the queries are spread"

    def blocks(self) -> Iterator[Any]:
        """The distribution, its quantiles and the ranks of first relevant documents."""
        panel, scores = self.subject.lead, self.subject.scores
        if np.isnan(panel.values).all():
            return
        shown, total = self.subject.best(LINES), len(panel.systems)
        which = f" Of {words.count(total)} runs these are shown: {words.listing(shown, LINES)}."
        note = f"{unevenness(panel)}{which if len(shown) < total else ''}"
        values = {system: values_of(panel, system) for system in shown}
        yield distribution_chart(column_of(panel), values, panel.sign, panel.measure.range, note)
        yield from self._quantiles()
        if scores is not None:
            names = list(self.subject.runs_by_merit())
            few = [name for name in self.subject.best(BARS) if name in names] or names[:BARS]
            runs = {run.name: run for run in scores.runs}
            more = f" Shown: {words.listing(few)}; the table has all runs." if len(few) < len(names) else ""
            yield first_relevant_chart([runs[name] for name in few], more, told=len(names) > 1)
            if len(names) > 1:
                yield replace(rank_table([runs[name] for name in names]), name="first-relevant-ranks")

    def lead(self) -> str:
        """Return the spread behind the mean of the best run, in numbers."""
        panel = self.subject.lead
        system = next(system for system in self.subject.best(LINES) if values_of(panel, system).size)
        known, total = values_of(panel, system), panel.measure.aggregate == "sum"
        spread, queries = spread_of(known), words.counted(len(known), "query")

        def figure(value: float) -> str:
            return words.count(value) if total and value == round(value) else words.number(value)

        low, q25, median, q75, high = (figure(spread[name]) for name in ("min", "q25", "median", "q75", "max"))
        if spread["min"] == spread["max"]:
            return f"{system} scores {low} on {panel.name}, on {'its one query' if len(known) == 1 else f'every one of {queries}'}."
        if spread["q25"] == spread["q75"]:
            level = words.count(int(np.count_nonzero(known == spread["median"])))
            return f"On {level} of {queries} {system} has the same {panel.name}, {median}; the others lie between {low} and {high}."
        worst, full = spread["zeros"], _full(panel, known)
        ends = f", {words.counted(worst, 'scores', 'score')} 0" if worst else ", none scores 0"
        ends += f" and {words.counted(full, 'scores', 'score')} {words.amount(panel.measure.range[1])}" if full else ""
        return f"The mean hides the spread: half of the queries of {system} score between {q25} and {q75} on {panel.name}{ends}."

    def _quantiles(self) -> Iterator[Table]:
        """Return the quantiles of each run, of as many metrics as fit."""
        systems, panels, title = self.subject.merit(), self.subject.panels, "Values of the queries"
        if len(panels) * len(systems) > ROWS:
            panels = panels[:1]
        rows = [
            (p, s, (p.name, s, *_spread(p, s)))
            for p in panels
            for s in systems
            if len(systems) == 1 or values_of(p, s).size
        ]
        if len(systems) == 1:
            yield _quantile_table(
                [(name, *row) for _, _, (name, _, *row) in rows], ["metric"], panels, "quantiles", title
            )
            return
        first, *others = panels
        lead = [tuple(row) for panel, _, (_, *row) in rows if panel is first]
        yield _quantile_table(lead, ["run"], [first], "quantiles", f"{title}: {first.name}")
        if others:
            more = [row for panel, _, row in rows if panel is not first]
            yield _quantile_table(more, ["metric", "run"], others, "quantiles-others", f"{title}: other metrics")


def values_of(panel: Panel, system: str) -> Array:
    """The values that a system has."""
    values = panel.values[panel.systems.index(system)]
    return np.asarray(values[~np.isnan(values)])


def _full(panel: Panel, known: Array) -> int | None:
    """Return the number of values at the maximum; None without a maximum."""
    top = panel.measure.range[1]
    return int(np.count_nonzero(known >= top)) if np.isfinite(top) else None


def _spread(panel: Panel, system: str) -> tuple[Value, ...]:
    known = values_of(panel, system)
    spread = spread_of(known)
    return (*(spread[name] for name in QUANTILES), spread["zeros"], _full(panel, known), spread["queries"])


def _quantile_table(
    rows: Sequence[tuple[Value, ...]], labels: Sequence[str], panels: Sequence[Panel], name: str, title: str
) -> Table:
    """Return quantiles under labels, with a note for metrics whose mean differs."""
    why: dict[str, list[str]] = {}
    for panel in panels:
        if more := unevenness(panel).strip():
            why.setdefault(more, []).append(panel.name)
    texts = (more if len(names) == len(panels) else f"{', '.join(names)}: {more}" for more, names in why.items())
    note = f"Every query counts once here. {' '.join(texts)}" if why else ""
    columns = (
        *map(Column, labels),
        *(COLUMNS if len(labels) == 1 else (replace(column, hint="") for column in COLUMNS)),
    )  # shown above
    return Table(columns, tuple(rows), labels=len(labels), name=name, title=title, note=note)


class HeatMapPart(PagePart):
    """The main metric, one row per run and one column per query: queries where all fail, one fails, or they disagree."""

    name, title = "heatmap", "Runs and queries"

    def blocks(self) -> Iterator[Any]:
        """Yield the picture, if runs differ on some query."""
        if len(self.subject.lead.systems) > 1 and gaps(self.subject.lead).any():
            yield heat_map_chart(self.subject.lead, self.subject.merit(), column_of(self.subject.lead))

    def lead(self) -> str:
        """The query on which runs disagree most, and counts that add up to all queries."""
        panel = self.subject.lead
        gap, known = gaps(panel), ~np.isnan(panel.values)
        widest, level = int(np.argmax(gap)), gap == 0
        whole, none = known.all(axis=0), ~known.any(axis=0)
        counts = {
            "all score the same": level & whole,
            "not every run has a value": level & ~whole & ~none,
            "no run has a value": level & none,
        }
        others = (f"; on {words.count(n)} {what}" for what, at in counts.items() if (n := int(np.count_nonzero(at))))
        return (
            f"Runs disagree most on {words.short(panel.units[widest])}: {words.number(float(gap[widest]))} between the highest and the lowest "
            f"{panel.name}. They differ on {words.count(int(np.count_nonzero(gap > 0)))} of {self.subject.queries}{''.join(others)}."
        )
