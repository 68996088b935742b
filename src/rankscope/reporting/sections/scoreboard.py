"""The scoreboard: every run on every metric, what is clear of the baseline, which run leads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Block, Column, NumberText, Paragraph, Table, Value, ValueRange
from rankscope.lists import Array
from rankscope.panels.charts import column_of
from rankscope.panels.contrast import Contrast
from rankscope.panels.families import separated
from rankscope.panels.panel import Panel
from rankscope.reporting.part import PagePart
from rankscope.reporting.subject import SubjectOfComparison, SubjectOfScores
from rankscope.verbs.compare.charts import ranged
from rankscope.verbs.compare.tables import effects_table, p_cell

MOST_EFFECTS = 60  # pairs whose effect sizes are read
MOST_NAMES = 12  # runs of a top group that are named
DIGITS = 4  # to which the best value is told


class ScoresPart(PagePart[SubjectOfScores]):
    """The scoreboard of ``evaluate``, with what each metric is."""

    name, title = "scoreboard", "Scoreboard"
    subjects = SubjectOfScores

    def blocks(self) -> Iterator[Any]:
        """The board, the best run first, and what it rests on."""
        board = self.subject.scores.table()
        place = {name: i for i, name in enumerate(self.subject.merit())}
        order = sorted(range(len(board.rows)), key=lambda i: place[str(board.rows[i][0])])
        hints = {panel.name: column_of(panel) for panel in self.subject.fields}
        yield replace(
            board,
            columns=tuple(replace(hints.get(c.header, c), header=c.header, kind=c.kind) for c in board.columns),
            rows=tuple(board.rows[i] for i in order),
            best=frozenset((order.index(i), j) for i, j in board.best),
            name="scoreboard",
            title="Values",
            unranged="",
        )
        yield from (Paragraph(text, quiet=True) for text in self.subject.scores.queries_in_words())

    def lead(self) -> str:
        """What stands on the board, and in which order."""
        if len(self.subject.systems) == 1:
            return f"{self.subject.systems[0]} on {self.subject.queries}, metric by metric. Point at a heading for the definition of its metric."
        return f"{_of(self.subject)} {_best_marked(self.subject)}"


class ComparisonPart(PagePart[SubjectOfComparison]):
    """Runs x metrics with intervals, differences from the baseline with their marks, effect sizes, top groups."""

    name, title = "scoreboard", "Scoreboard"
    subjects = SubjectOfComparison

    def blocks(self) -> Iterator[Any]:
        """Values, marks, top groups and effects."""
        yield self._values()
        yield from (Paragraph(text, quiet=True) for text in self._unsaid())
        if not self.subject.each_pair:
            yield self._marks()
        yield from self._groups()
        if len(self.subject.mine) <= MOST_EFFECTS:
            yield self._effects()

    def lead(self) -> str:
        """Which run has the best values."""
        said, lead = _of(self.subject), self.subject.lead
        if not lead.sign:
            return f"{said} {_best_marked(self.subject)}"
        best = lead.by_merit[0]
        winners = [{p.systems[i] for i in _best(p, p.systems)} for p in self.subject.fields]
        differing = [p.name for p, at in zip(self.subject.fields, winners, strict=True) if at]
        first = [p.name for p, at in zip(self.subject.fields, winners, strict=True) if best in at]
        if not differing:
            return f"{said} All have the same values."
        if len(first) < len(differing):
            rest = len(differing) - len(first)
            return f"{said} {best} has the best value on {words.listing(first) or 'none'}; other runs lead on {f'the remaining {rest}' if first else 'all'}."
        return f"{said} {best} has the best value{' on every metric that differs' if len(differing) > 1 else ''}."

    def _values(self) -> Table:
        """Runs as rows, the best on the main metric first, metrics as columns; the best values are marked."""
        order, panels, level = self.subject.merit(), self.subject.fields, self.subject.result.method.level
        rows: list[tuple[Value, ...]] = [(s, *(_cell(panel, s, level) for panel in panels)) for s in order]
        ranges = any(isinstance(cell, ValueRange) for row in rows for cell in row)
        clustered = "" if panels[0].clusters is None else " in clusters"
        note = f"± is half of the {words.percent(level)} interval over queries{clustered}, - and + its two sides where they differ"
        return Table(
            (Column("run"), *map(column_of, panels)), tuple(rows), turns=True, note=note if ranges else "", name="scoreboard", title="Values",
            best=frozenset((i, j) for j, panel in enumerate(panels, start=1) for i in _best(panel, order)),
        )  # fmt: skip

    def _unsaid(self) -> Iterator[str]:
        """How many queries have no value, metric by metric, and what was assumed."""
        for panel in self.subject.fields:
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
            yield self.subject.scores.request.small_print()

    def _marks(self) -> Table:
        """The difference of each run from the baseline on each metric, marked where it is clear."""
        found, panels = self.subject.result, self.subject.fields
        by_key = {(c.run, c.metric): c for c in found.contrasts}
        rows: list[tuple[Value, ...]] = [
            (run, *(_marked(by_key[run, panel.name]) for panel in panels))
            for run in self.subject.merit()
            if run != found.baseline
        ]
        note = (
            f"* better, † worse than {found.baseline} at {words.percent(found.method.alpha)} ({self.subject.method}); "
            "without a mark: no clear difference, or the same"
        )
        if any(not panel.sign for panel in panels):
            note += "; of metrics that are neither better nor worse when higher, * is different"
        return Table(
            (Column("run"), *(Column(panel.name, "value") for panel in panels)), tuple(rows), turns=True, note=note,
            name="against-baseline", title=f"Difference from {found.baseline}",
        )  # fmt: skip

    def _groups(self) -> Iterator[Block]:
        """Which runs are statistically tied for first on each metric, and the share of pairs that a metric separates."""
        found = self.subject.result
        if found.groups:
            rows: tuple[tuple[Value, ...], ...] = tuple(
                (g.metric, g.systems[0], words.listing(g.systems[1:], MOST_NAMES) or "none", len(g.systems))
                for g in found.groups
            )
            columns = (
                Column("metric"), Column("best"), Column("cannot be told apart from it", wraps=True),
                Column("runs", "count", hint=f"how many of the {words.count(len(found.systems))} runs are in the top group"),
            )  # fmt: skip
            note = "found by comparing each run with each, so that the best is not favoured for being the best"
            yield Table(columns, rows, note=note, name="top-groups", title="Top groups")
        if self.subject.each_pair:
            shares = ", ".join(f"{m} {words.share(separated(found.of(m)))}" for m in found.metrics)
            yield Paragraph(f"Pairs with a clear difference on these queries (discriminative power): {shares}.")

    def _effects(self) -> Table:
        """How large the differences are in other units, on the main metric."""
        found, mine = self.subject.result, self.subject.mine
        table = effects_table(found.family, found.family.primary)
        place = {run: i for i, run in enumerate(self.subject.merit())}
        rows = [(*map(_known, row), p_cell(c.p_value_adjusted)) for row, c in zip(table.rows, mine, strict=True)]
        note = (
            "p is after the correction; the intervals of the relative differences are not"
            if self.subject.corrected
            else ""
        )
        return replace(
            table, columns=tuple(self._effect_columns(table.columns)), rows=tuple(sorted(rows, key=lambda row: place[str(row[0])])),
            note=note, name="effect-sizes", title=f"Effect sizes on {found.primary}",
        )  # fmt: skip

    def _effect_columns(self, columns: Sequence[Column]) -> Iterator[Column]:
        """The columns of effect sizes with what each is; of one comparison alone where it is not corrected."""
        run, against, relative, interval, spread, _, carried = columns
        sign, corrected = self.subject.lead.sign, self.subject.corrected
        better, ahead = ("better", "ahead") if sign else ("higher", "with the higher mean")
        alone = ", of this comparison alone, not corrected for the others" if corrected else ""
        yield from (run, against)
        yield replace(relative, hint="the difference relative to the mean of the run it is compared with")
        yield replace(
            interval,
            header=f"{interval.header}{', not corrected' if corrected else ''}",
            hint=f"of the relative difference{alone} (Fieller)",
        )
        yield replace(spread, hint="the difference in standard deviations of the differences of the queries")
        yield Column(f"queries {better}", "value", hint=f"share of the queries on which the run is {better}, ties half")
        yield replace(
            carried,
            hint=f"how many of the queries that favour the run {ahead} most must go for its lead to vanish, whichever of the two it is",
        )
        yield Column("p", "value", hint=self.subject.p_value)


def _of(subject: SubjectOfScores | SubjectOfComparison) -> str:
    order = f"the best on {subject.lead.name} first" if subject.lead.sign else "in the order given"
    return f"{words.counted(len(subject.systems), 'run')} on {subject.queries}, {order}."


def _best_marked(subject: SubjectOfScores | SubjectOfComparison) -> str:
    directed = [panel.name for panel in subject.fields if panel.sign]
    if not directed:
        return "None of the values is best."
    return f"The best value of {'each metric' if len(directed) == len(subject.fields) else words.listing(directed)} is marked."


def _cell(panel: Panel, system: str, level: float) -> Value:
    mean = panel.mean(system)
    return (None if panel.reason else ranged(mean, panel.interval(system, level))) or words.finite(mean)


def _best(panel: Panel, order: Sequence[str]) -> list[int]:
    """The rows with the best value, as far as can be seen; none where all are the same."""
    seen = [words.finite(panel.mean(system)) for system in order]
    known = [round(value, DIGITS) for value in seen if value is not None]
    if not panel.sign or len(known) < 2 or len(set(known)) == 1:
        return []
    top = max(known) if panel.sign > 0 else min(known)
    return [i for i, value in enumerate(seen) if value is not None and round(value, DIGITS) == top]


def _counts(marked: Array) -> str:
    """How many queries are marked, of systems x queries; the range where runs differ."""
    counts = marked.sum(axis=1).tolist()
    low, high = min(counts), max(counts)
    return (
        words.counted(low, "query")
        if low == high
        else f"{words.count(low)} to {words.counted(high, 'query')} (it depends on the run)"
    )


def _marked(c: Contrast) -> Value:
    """A difference with its mark; None where no query has a value for both."""
    mark = {"better": " *", "different": " *", "worse": " †"}.get(c.verdict, "")
    return (
        None if words.finite(c.difference) is None else NumberText(f"{words.signed(c.difference)}{mark}", c.difference)
    )


def _known(value: Value) -> Value:
    """None for an effect without a number: a dash, as everywhere."""
    return None if isinstance(value, NumberText) and words.finite(value.value) is None else value
