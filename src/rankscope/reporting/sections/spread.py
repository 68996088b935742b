"""How the values of the queries are spread: the mean hides the spread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Column, Table, Value
from rankscope.lists import Array
from rankscope.panels.charts import column_of, gaps, heat
from rankscope.panels.panel import Panel
from rankscope.reporting.part import PagePart
from rankscope.reporting.subject import Subject
from rankscope.scoring.spread import (
    BARS,
    LINES,
    QUANTILES,
    distribution_chart,
    first_relevant_chart,
    rank_counts,
    spread_of,
)
from rankscope.verbs.compare.charts import unevenness

ROWS = 40  # rows of quantiles that are read at one go


class SpreadPart(PagePart[Subject]):
    """The distribution of the main metric over queries, its quantiles, and where first relevant documents stand."""

    name, title = "spread", "How the queries are spread"

    def blocks(self) -> Iterator[Any]:
        """The distribution, its quantiles and the ranks of first relevant documents."""
        panel, scores = self.subject.lead, self.subject.scores
        if not any(values_of(panel, system).size for system in panel.systems):
            return
        shown, total = self.subject.best(LINES), len(panel.systems)
        which = (
            f" Of {words.count(total)} runs these are shown: {words.listing(shown, LINES)}."
            if len(shown) < total
            else ""
        )
        values = {system: values_of(panel, system) for system in shown}
        yield distribution_chart(column_of(panel), values, panel.sign, panel.bounds, f"{unevenness(panel)}{which}")
        yield from self._quantiles()
        if scores is not None:
            names = list(self.subject.runs_by_merit())
            few = [name for name in self.subject.best(BARS) if name in names] or names[:BARS]
            runs = {run.name: run for run in scores.runs}
            more = f" Shown: {words.listing(few)}; the table has all runs." if len(few) < len(names) else ""
            yield first_relevant_chart([runs[name] for name in few], more, told=len(names) > 1)
            if len(names) > 1:
                rows: tuple[tuple[Value, ...], ...] = tuple((name, *rank_counts(runs[name]).values()) for name in names)
                columns = (Column("run"), *(Column(rank, "count") for rank in rank_counts(runs[names[0]])))
                yield Table(columns, rows, turns=True, name="first-relevant-ranks")

    def lead(self) -> str:
        """What the mean of the best run hides, in numbers."""
        panel = self.subject.lead
        system = next(system for system in self.subject.best(LINES) if values_of(panel, system).size)
        known = values_of(panel, system)
        spread, queries = spread_of(known), words.counted(len(known), "query")
        low, q25, median, q75, high = (_figure(panel, spread[name]) for name in ("min", "q25", "median", "q75", "max"))
        if spread["min"] == spread["max"]:
            return f"{system} scores {low} on {panel.name}, on {'its one query' if len(known) == 1 else f'every one of {queries}'}."
        if spread["q25"] == spread["q75"]:
            level = words.count(int(np.count_nonzero(known == spread["median"])))
            return f"On {level} of {queries} {system} has the same {panel.name}, {median}; the others lie between {low} and {high}."
        worst, top = spread["zeros"], panel.bounds[1]
        best = int(np.count_nonzero(known >= top)) if np.isfinite(top) else 0
        ends = f", {words.counted(worst, 'scores', 'score')} 0" if worst else ", none scores 0"
        full = f" and {words.counted(best, 'scores', 'score')} {words.amount(top)}" if best else ""
        return f"The mean hides the spread: half of the queries of {system} score between {q25} and {q75} on {panel.name}{ends}{full}."

    def _quantiles(self) -> Iterator[Table]:
        """The quantiles of each run, of all metrics where there is room."""
        subject = self.subject
        first, *others = subject.fields if len(subject.fields) * len(subject.systems) <= ROWS else subject.fields[:1]
        if len(subject.systems) == 1:
            (system,) = subject.systems
            rows = [(panel.name, *_row(panel, system)) for panel in (first, *others)]
            yield _quantile_table("metric", rows, "quantiles", "Values of the queries", (first, *others))
            return
        order = {panel.name: [s for s in subject.merit() if values_of(panel, s).size] for panel in (first, *others)}
        rows = [(system, *_row(first, system)) for system in order[first.name]]
        yield _quantile_table("run", rows, "quantiles", f"Values of the queries: {first.name}", [first])
        if others:
            many: list[tuple[Value, ...]] = [(f.name, s, *_row(f, s)) for f in others for s in order[f.name]]
            table = _quantile_table("run", many, "quantiles-others", "Values of the queries: other metrics", others)
            yield replace(table, columns=(Column("metric"), *table.columns), labels=2)


def values_of(panel: Panel, system: str) -> Array:
    """The values that a system has."""
    values = panel.values[panel.row(system)]
    return np.asarray(values[~np.isnan(values)])


def _figure(panel: Panel, value: float) -> str:
    """A value in words: counts without decimals."""
    total = panel.metric is not None and panel.metric.aggregate == "sum"
    return words.count(value) if total and value == round(value) else words.number(value)


def _row(panel: Panel, system: str) -> tuple[Value, ...]:
    known, top = values_of(panel, system), panel.bounds[1]
    spread = spread_of(known)
    full = int(np.count_nonzero(known >= top)) if np.isfinite(top) else None
    return (*(spread[name] for name in QUANTILES), spread["zeros"], full, spread["queries"])


def _quantile_table(
    first: str, rows: Sequence[tuple[Value, ...]], name: str, title: str, panels: Sequence[Panel]
) -> Table:
    hints = {"q05": "5% of the queries score at most this", "q25": "a quarter of the queries scores at most this",
             "median": "half of the queries score at most this", "q75": "three quarters of the queries score at most this",
             "q95": "95% of the queries score at most this"}  # fmt: skip
    columns = (
        Column(first),
        *(Column(name, "value", hint=hints.get(name, "")) for name in QUANTILES),
        Column("zeros", "count", hint="queries that score exactly 0"),
        Column("full", "count", hint="queries that score the highest value possible"),
        Column("queries", "count", hint="queries that have a value"),
    )
    why: dict[str, list[str]] = {}
    for panel in panels:
        if more := unevenness(panel).strip():
            why.setdefault(more, []).append(panel.name)
    said = (more if len(names) == len(panels) else f"{', '.join(names)}: {more}" for more, names in why.items())
    note = f"Every query counts once here. {' '.join(said)}" if why else ""
    return Table(columns, tuple(rows), name=name, title=title, note=note)


class HeatMapPart(PagePart[Subject]):
    """The main metric, a row a run and a column a query: where all fail, where one does, where they disagree."""

    name, title = "heatmap", "Runs and queries"

    def blocks(self) -> Iterator[Any]:
        """The picture, where runs differ on some query."""
        if len(self.subject.lead.systems) > 1 and gaps(self.subject.lead).any():
            yield heat(self.subject.lead, self.subject.merit())

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
