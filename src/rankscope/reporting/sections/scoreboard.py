"""The scoreboard: every run on every metric, clear differences from the baseline, the leading run."""

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
from rankscope.reporting.subject import PagePart, column_of
from rankscope.scoring.scores import best_rows
from rankscope.verbs.compare.charts import is_corrected, method_in_words, p_in_words
from rankscope.verbs.compare.tables import MARKS, effects_table, value_range

MOST_EFFECTS = 60  # pairs with effect sizes


class ScoresPart(PagePart):
    """The scoreboard of ``evaluate``, with the meaning of each metric."""

    name, title, of_comparison = "scoreboard", "Scoreboard", False

    def blocks(self) -> Iterator[Any]:
        """Yield the board, the best run first, and its conventions."""
        board, place = self.scores.table(), self.subject.merit().index
        order = sorted(range(len(board.rows)), key=lambda i: place(str(board.rows[i][0])))
        hints = {panel.name: column_of(panel).hint for panel in self.subject.panels}
        yield replace(
            board,
            columns=tuple(replace(column, hint=hints.get(column.header, "")) for column in board.columns),
            rows=tuple(board.rows[i] for i in order),
            best=frozenset((order.index(i), j) for i, j in board.best),
            name="scoreboard",
            title="Values",
            unranged="",
            latex=self.scores.to_latex(),
        )
        yield from (Paragraph(text, quiet=True) for text in self.scores.queries_in_words())

    def lead(self) -> str:
        """Return the content of the board and its order."""
        systems = self.subject.systems
        if len(systems) == 1:
            return f"{systems[0]} on {self.subject.queries}, metric by metric. Point at a heading for the definition of its metric."
        return f"{self._order()} {self._best_marked()}"

    def _order(self) -> str:
        lead = self.subject.lead
        order = f"the best on {lead.name} first" if lead.sign else "in the order given"
        return f"{words.counted(len(self.subject.systems), 'run')} on {self.subject.queries}, {order}."

    def _best_marked(self) -> str:
        directed = [panel.name for panel in self.subject.panels if panel.sign]
        if not directed:
            return "None of the values is best."
        each = "each metric" if len(directed) == len(self.subject.panels) else words.listing(directed)
        return f"The best value of {each} is marked."


class ComparisonPart(ScoresPart):
    """Runs x metrics with intervals, differences from the baseline with their marks, effect sizes, top groups."""

    of_comparison = True
    warned = frozenset({"RS401", "RS405", "RS406", "RS407", "RS410"})

    def blocks(self) -> Iterator[Any]:
        """Values, marks, top groups and effects."""
        found = self.comparison
        yield self._values()
        yield from (Paragraph(text, quiet=True) for text in self._left_out())
        if not found.family.each_pair:
            yield self._marks()
        if found.groups:
            note = "found by comparing each run with each, so that the best is not favoured for being the best"
            yield replace(found.table("top_groups"), note=note, name="top-groups", title="Top groups")
        if found.family.each_pair:
            shares = ", ".join(f"{m} {words.share(discriminative_power(found.of(m)))}" for m in found.metrics)
            yield Paragraph(f"Pairs with a clear difference on these queries (discriminative power): {shares}.")
        if len(self.mine) <= MOST_EFFECTS:
            yield self._effects()

    def lead(self) -> str:
        """Which run has the best values."""
        lead = self.subject.lead
        if not lead.sign:
            return f"{self._order()} {self._best_marked()}"
        best = next(iter(lead.means))
        winners = {p.name: {p.systems[i] for i in _best(p, p.systems)} for p in self.subject.panels}
        differing = [name for name, at in winners.items() if at]
        first = [name for name, at in winners.items() if best in at]
        if not differing:
            return f"{self._order()} All have the same values."
        if len(first) < len(differing):
            rest = f"the remaining {len(differing) - len(first)}" if first else "all"
            return f"{self._order()} {best} has the best value on {words.listing(first) or 'none'}; other runs lead on {rest}."
        return (
            f"{self._order()} {best} has the best value{' on every metric that differs' if len(differing) > 1 else ''}."
        )

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
        found, panels = self.comparison, self.subject.panels

        def cell(run: str, metric: str) -> Value:
            c = found[run, metric]
            text = " ".join([words.number(c.difference, sign=True), *MARKS.get(c.verdict, "")])
            return None if words.finite(c.difference) is None else NumberText(text, c.difference)

        others = [run for run in self.subject.merit() if run != found.baseline]
        rows = tuple((run, *(cell(run, panel.name) for panel in panels)) for run in others)
        note = (
            f"* better, † worse than {found.baseline} at {words.percent(found.method.alpha)} ({method_in_words(found.family)}); "
            "without a mark: no clear difference, or the same"
        )
        if any(not panel.sign for panel in panels):
            note += "; of metrics that are neither better nor worse when higher, * is different"
        columns = (Column("run"), *(Column(panel.name, "value") for panel in panels))
        title = f"Difference from {found.baseline}"
        return Table(columns, rows, turns=True, note=note, name="against-baseline", title=title)

    def _effects(self) -> Table:
        """Return effect sizes on the main metric, in other units."""
        family, place = self.comparison.family, self.subject.merit().index
        table = effects_table(family, family.primary)
        rows = [(*row, p_cell(c.p_value_adjusted)) for row, c in zip(table.rows, self.mine, strict=True)]
        note = "p is after the correction; the intervals of the relative differences are not"
        return replace(
            table,
            columns=(*table.columns, Column("p", "value", hint=p_in_words(family))),
            rows=tuple(sorted(rows, key=lambda row: place(str(row[0])))),
            note=note if is_corrected(family) else "",
            name="effect-sizes",
            title=f"Effect sizes on {family.primary.name}",
        )


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
