"""The scoreboard: every run on every metric, clear differences from the baseline; and the distributions that means hide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Column, NumberText, Paragraph, Table, Value, ValueRange
from rankscope.lists import Array
from rankscope.panels.contrast_result import p_cell
from rankscope.panels.families import discriminative_power
from rankscope.panels.panel import Panel
from rankscope.reporting.subject import LINES, PagePart, column_of
from rankscope.scoring.scores import best_rows
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
from rankscope.verbs.compare.charts import is_corrected, method_in_words, p_in_words, unevenness
from rankscope.verbs.compare.tables import MARKS, effects_table, value_range

MOST_EFFECTS = 60  # pairs with effect sizes


class ScoresPart(PagePart):
    """The scoreboard of ``evaluate``, with the meaning of each metric."""

    name, title, of_comparison = "scoreboard", "Scoreboard", False

    def blocks(self) -> Iterator[Any]:
        board, place = self.scores.table(), self.subject.merit().index
        order = sorted(range(len(board.rows)), key=lambda i: place(str(board.rows[i][0])))
        hints = {panel.name: column_of(panel).hint for panel in self.subject.panels}
        columns = tuple(replace(column, hint=hints.get(column.header, "")) for column in board.columns)
        best = frozenset((order.index(i), j) for i, j in board.best)
        yield replace(
            board, columns=columns, rows=tuple(board.rows[i] for i in order), best=best, name="scoreboard", title="Values", unranged="",
            latex=self.scores.to_latex(),
        )  # fmt: skip
        yield from (Paragraph(text, quiet=True) for text in self.scores.queries_in_words())

    def lead(self) -> str:
        systems = self.subject.systems
        if len(systems) == 1:
            return f"{systems[0]} on {self.subject.queries}, metric by metric. Point at a heading for the definition of its metric."
        directed = [panel.name for panel in self.subject.panels if panel.sign]
        each = "each metric" if len(directed) == len(self.subject.panels) else words.listing(directed)
        marked = f"The best value of {each} is marked." if directed else "None of the values is best."
        return f"{self._order()} {marked}"

    def _order(self) -> str:
        lead = self.subject.lead
        order = f"the best on {lead.name} first" if lead.sign else "in the order given"
        return f"{words.counted(len(self.subject.systems), 'run')} on {self.subject.queries}, {order}."


class ComparisonPart(ScoresPart):
    """Runs x metrics with intervals, differences from the baseline with their marks, effect sizes, top groups."""

    of_comparison = True
    warned = frozenset({"RS401", "RS405", "RS406", "RS407", "RS410"})

    def blocks(self) -> Iterator[Any]:
        comparison = self.comparison
        yield self._values()
        yield from (Paragraph(text, quiet=True) for text in self._left_out())
        if not comparison.family.each_pair:
            yield self._marks()
        if comparison.groups:
            note = "found by comparing each run with each, so that the best is not favoured for being the best"
            yield replace(comparison.table("top_groups"), note=note, name="top-groups", title="Top groups")
        if comparison.family.each_pair:
            shares = ", ".join(f"{m} {words.share(discriminative_power(comparison.of(m)))}" for m in comparison.metrics)
            yield Paragraph(f"Pairs with a clear difference on these queries (discriminative power): {shares}.")
        if len(self.mine) <= MOST_EFFECTS:
            yield self._effects()

    def lead(self) -> str:
        lead = self.subject.lead
        if not lead.sign:
            return super().lead()
        best = next(iter(lead.means))
        winners = {p.name: {p.systems[i] for i in _best(p, p.systems)} for p in self.subject.panels}
        differing = [name for name, at in winners.items() if at]
        first = [name for name, at in winners.items() if best in at]
        if not differing:
            return f"{self._order()} All have the same values."
        if len(first) < len(differing):
            rest = f"the remaining {len(differing) - len(first)}" if first else "all"
            return f"{self._order()} {best} has the best value on {words.listing(first) or 'none'}, and other runs lead on {rest}."
        every = " on every metric that differs" if len(differing) > 1 else ""
        return f"{self._order()} {best} has the best value{every}."

    def _values(self) -> Table:
        """Runs as rows, the best on the main metric first, metrics as columns; the best values are marked."""
        order, panels, level = self.subject.merit(), self.subject.panels, self.comparison.method.level
        rows = tuple((system, *(mean_of(panel, system, level) for panel in panels)) for system in order)
        ranges = [cell for row in rows for cell in row if isinstance(cell, ValueRange)]
        clustered = "" if panels[0].clusters is None else " in clusters"
        note = ValueRange.note(ranges, f"the {words.percent(level)} interval over queries{clustered}")
        return Table(
            (Column("run"), *map(column_of, panels)), rows, turns=True, note=note, name="scoreboard", title="Values",
            latex=self.comparison.to_latex(),
            best=frozenset((i, j) for j, panel in enumerate(panels, start=1) for i in _best(panel, order)),
        )  # fmt: skip

    def _left_out(self) -> Iterator[str]:
        """Yield the number of undefined queries per metric, and the conventions."""
        for panel in self.subject.panels:
            unknown = np.isnan(panel.values)
            if unknown.any():
                yield f"{panel.name} has no value for {_counts(unknown)}: left out of its mean"
            weightless = np.zeros_like(unknown) if panel.weights is None else ~unknown & ~(panel.weights > 0)
            if weightless.any():
                weigh = words.agree(int(weightless.sum(axis=1).max()), "has")
                yield f"{_counts(weightless)} {weigh} no weight in the mean of {panel.name}"
            if panel.reason:
                yield f"no interval of {panel.name}: {panel.reason}"
        if self.subject.scores is not None:
            yield self.scores.request.small_print()

    def _marks(self) -> Table:
        """Return the difference of each run from the baseline on each metric, marked if clear."""
        comparison, panels = self.comparison, self.subject.panels

        def cell(run: str, metric: str) -> Value:
            c = comparison[run, metric]
            text = " ".join([words.number(c.difference, sign=True), *MARKS.get(c.verdict, "")])
            return None if words.finite(c.difference) is None else NumberText(text, c.difference)

        others = [run for run in self.subject.merit() if run != comparison.baseline]
        rows = tuple((run, *(cell(run, panel.name) for panel in panels)) for run in others)
        note = (
            f"* better, † worse than {comparison.baseline} at {words.percent(comparison.method.alpha)} ({method_in_words(comparison.family)}) · "
            "without a mark: no clear difference, or the same"
        )
        if any(not panel.sign for panel in panels):
            note += ". For metrics without a better direction, * is different"
        columns = (Column("run"), *(Column(panel.name, "value") for panel in panels))
        title = f"Difference from {comparison.baseline}"
        return Table(columns, rows, turns=True, note=note, name="against-baseline", title=title)

    def _effects(self) -> Table:
        """Return effect sizes on the main metric, in other units."""
        family, place = self.comparison.family, self.subject.merit().index
        table = effects_table(family, family.primary)
        rows = [(*row, p_cell(c.p_value_adjusted)) for row, c in zip(table.rows, self.mine, strict=True)]
        note = "p is after the correction, the intervals of the relative differences before it"
        columns = (*table.columns, Column("p", "value", hint=p_in_words(family)))
        return replace(
            table, columns=columns, rows=tuple(sorted(rows, key=lambda row: place(str(row[0])))), name="effect-sizes",
            title=f"Effect sizes on {family.primary.name}", note=note if is_corrected(family) else "",
        )  # fmt: skip


def mean_of(panel: Panel, system: str, level: float) -> Value:
    """Return the mean of a system with its interval, if it has one."""
    mean = panel.means[system]
    return (None if panel.reason else value_range(mean, panel.interval(system, level))) or words.finite(mean)


def _best(panel: Panel, order: Sequence[str]) -> list[int]:
    return best_rows(panel.better, [words.finite(panel.means[system]) for system in order])


def _counts(marked: Array) -> str:
    """Return the number of marked queries of systems x queries; a range if runs differ."""
    counts = marked.sum(axis=1).tolist()
    low, high = min(counts), words.counted(max(counts), "query")
    return high if low == max(counts) else f"{words.count(low)} to {high} (it depends on the run)"


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
    label = "Spread"

    def blocks(self) -> Iterator[Any]:
        panel, scores = self.subject.lead, self.subject.scores
        if np.isnan(panel.values).all():
            return
        shown, total = self.subject.best(LINES), len(panel.systems)
        which = f" {len(shown)} of {words.count(total)} runs are shown: {words.listing(shown, LINES)}."
        note = f"{unevenness(panel)}{which if len(shown) < total else ''}"
        values = {system: values_of(panel, system) for system in shown}
        yield distribution_chart(column_of(panel), values, panel.sign, panel.measure.range, note)
        yield from self._quantiles()
        if scores is not None:
            names = list(self.subject.runs_by_merit())
            few = [name for name in self.subject.best(BARS) if name in names] or names[:BARS]
            runs = {run.name: run for run in scores.runs}
            more = f" Shown: {words.listing(few)}. The table has all runs." if len(few) < len(names) else ""
            yield first_relevant_chart([runs[name] for name in few], more, told=len(names) > 1)
            if len(names) > 1:
                yield replace(rank_table([runs[name] for name in names]), name="first-relevant-ranks")

    def lead(self) -> str:
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
            return f"On {level} of {queries} {system} has the same {panel.name}, {median}, and values from {low} to {high} on the others."
        worst, full = spread["zeros"], _full(panel, known)
        ends = f", {words.counted(worst, 'scores', 'score')} 0" if worst else ", no query scores 0"
        ends += f" and {words.counted(full, 'scores', 'score')} {words.amount(panel.measure.range[1])}" if full else ""
        return f"The mean hides the spread: half of the queries of {system} score between {q25} and {q75} on {panel.name}{ends}."

    def _quantiles(self) -> Iterator[Table]:
        """Return the quantiles of each run, of as many metrics as fit."""
        systems, panels, title = self.subject.merit(), self.subject.panels, "Values of the queries"
        if len(panels) * len(systems) > ROWS:
            panels = panels[:1]
        if len(systems) == 1:
            rows = [(panel.name, *_spread(panel, systems[0])) for panel in panels]
            yield _quantile_table(rows, ["metric"], panels, "quantiles", title)
            return
        first, *others = panels
        lead = [(s, *_spread(first, s)) for s in systems if values_of(first, s).size]
        yield _quantile_table(lead, ["run"], [first], "quantiles", f"{title}: {first.name}")
        if others:
            more = [(p.name, s, *_spread(p, s)) for p in others for s in systems if values_of(p, s).size]
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
    shown = COLUMNS if len(labels) == 1 else [replace(column, hint="") for column in COLUMNS]
    return Table((*map(Column, labels), *shown), tuple(rows), labels=len(labels), name=name, title=title, note=note)


class HeatMapPart(PagePart):
    """The main metric, one row per run and one column per query: queries where all fail, one fails, or they disagree."""

    name, title = "heatmap", "Runs and queries"
    label = "Heatmap"

    def blocks(self) -> Iterator[Any]:
        if len(self.subject.lead.systems) > 1 and gaps(self.subject.lead).any():
            yield heat_map_chart(self.subject.lead, self.subject.merit(), column_of(self.subject.lead))

    def lead(self) -> str:
        panel = self.subject.lead
        gap, known = gaps(panel), ~np.isnan(panel.values)
        widest, level = int(np.argmax(gap)), gap == 0
        whole, none = known.all(axis=0), ~known.any(axis=0)
        counts = {
            "all score the same": level & whole, "some runs lack a value": level & ~whole & ~none, "all runs lack a value": level & none,
        }  # fmt: skip
        others = (f"; on {words.count(n)} {what}" for what, at in counts.items() if (n := int(np.count_nonzero(at))))
        return (
            f"Runs disagree most on {words.short(panel.units[widest])}: {words.number(float(gap[widest]))} between the highest and the lowest "
            f"{panel.name}. They differ on {words.count(int(np.count_nonzero(gap > 0)))} of {self.subject.queries}{''.join(others)}."
        )
