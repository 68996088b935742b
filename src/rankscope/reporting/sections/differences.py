"""Differences of runs: by metric, by query, by pair, by slice, and by cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import EMPTY, Chart, Column, Heading, Notes, Paragraph, Table, other_than
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.families import SliceContrast, discriminative_power
from rankscope.panels.method import FEWEST
from rankscope.panels.tradeoffs import STEP, TradeOffs
from rankscope.reporting.subject import PagePart, column_of
from rankscope.show.result import caution_notes
from rankscope.verbs.compare import charts
from rankscope.verbs.compare.charts import method_in_words, outcomes_of
from rankscope.verbs.compare.tables import FEW, ROOM, pair_table, slice_table, value_range

REVERSED = "RS404"
EVERY = "all queries"
TOP = 10  # queries shown, with shares of the gain
MATRIX = 15  # runs up to which p-values are a table of runs x runs
MEANS_ONLY = "These are means only: the verdict tests whether a difference is real."
APART = 50  # from this factor between the least and the largest cost on, the axis is logarithmic


class DifferencesPart(PagePart):
    """The differences of the means with their intervals, and counts of queries."""

    name, title, of_comparison = "differences", "Differences", True

    def blocks(self) -> Iterator[Any]:
        family = self.comparison.family
        yield from charts.forests(family)
        bare = [c for c in family.contrasts if value_range(c.difference, c.shown) is None]
        if bare:
            c = bare[0]
            reason = c.shown.reason or c.bounds.reason or "it has no end"
            more = f" (and {words.count(len(bare) - 1)} more)" if len(bare) > 1 else ""
            text = f"No interval, so not drawn: {c.title}{more}: {reason}."
            yield Paragraph(text, quiet=True)
        yield from charts.outcome_counts(family)

    def lead(self) -> str:
        c = next((c for c in self.subject.rivals if c.queries), None)
        if c is None:
            return "No query is scored for two of the runs."
        pair, (up, down) = c.title, outcomes_of(c)
        if not c.differing:
            return f"{pair}: unchanged on {words.counted(c.queries, 'query')}."
        same = f", unchanged on {words.count(c.ties)}" if c.ties else ""
        return f"{pair}: {up} on {words.counted(c.wins, 'query')}, {down} on {words.count(c.losses)}{same}."


# --- query by query
class ByQueryPart(PagePart):
    """Per rival each query's difference: in order, one run against the other, and the queries that differ most."""

    name, title, of_comparison = "by-query", "Query by query: the differences", True
    label = "Query differences"
    warned = frozenset({"RS403"})

    @cached_property
    def rivals(self) -> list[Contrast]:
        """The first rivals that share queries."""
        return [c for c in self.subject.rivals if c.queries][:FEW]

    def blocks(self) -> Iterator[Any]:
        files = charts.file_names(self.rivals)
        for c in self.rivals:
            file = files[c.run, c.baseline]
            if c.differing:
                yield from (charts.waterfall(c, file), charts.scatter(c, file))
                yield charts.differing_queries(c, file, self.subject.queries_text)
            else:
                queries = words.counted(c.queries, "query")
                yield Paragraph(f"{c.run} and {c.baseline} score the same on {c.metric} on {queries}.")
        of, few = len(self.mine), len(self.rivals)
        if self.rivals and of > few:
            text = f"Shown are the {few} pairs with the largest differences in favour of the run, of {words.count(of)}."
            yield Paragraph(text, quiet=True)

    def lead(self) -> str:
        c = self.rivals[0]
        pair, queries = c.title, words.counted(c.queries, "query")
        if not c.differing:
            return f"{pair}: unchanged on {queries}."
        parts, share = [], c.share_of_largest(TOP)
        if share is not None:
            gain = f"the {'gain' if c.is_gain else 'loss'}"
            what = gain if c.panel.sign else "the changes in the direction of the mean"
            parts.append(f"the top {TOP} queries account for {words.share(share)} of {what}")
        parts += [lost] if (lost := _lead_lost(c)) else []
        return f"{pair}: {'; '.join(parts) or f'{words.count(c.differing)} of {queries} differ'}."


def _lead_lost(c: Contrast) -> str:
    """Return the number of queries that carry the lead; empty without one, or for too few queries."""
    if c.favourable is None or c.queries < FEWEST:
        return ""
    count, part = c.favourable
    if count >= int(np.count_nonzero(c.paired.gains * c.difference > 0)):
        return ""
    lead, best = ("lead", "best") if c.panel.sign else ("difference", "largest")
    queries = f"query ({words.share(part, 1)} of all) is"
    if count > 1:
        queries = f"{words.count(count)} ({words.share(part, 1)} of all) are"
    ahead = f" of {c.run if c.is_gain else c.baseline}" if c.panel.sign else ""
    return f"the {lead}{ahead} vanishes only if the {best} {queries} removed"


# --- each run against each
class PairsPart(PagePart):
    """Differences of all pairs on the main metric as a picture, their p-values as tables."""

    name, title, of_comparison = "pairs", "Each run against each", True
    label = "Pairs"

    def blocks(self) -> Iterator[Any]:
        family, mine, order = self.comparison.family, self.mine, self.subject.merit()
        if not family.each_pair:
            return
        yield charts.pair_differences(order, mine)
        if len(order) <= MATRIX:
            note = f"{charts.p_in_words(family)} · stressed: a clear difference at {words.percent(family.method.alpha)}"
            yield charts.pair_p_values(order, mine, note)
        many = len(mine) > ROOM
        table = pair_table(family, family.primary, every=not many, parted=True)
        note = f"the {len(table.rows)} largest clear differences, of {words.count(len(mine))} pairs" if many else ""
        if table.rows:
            yield replace(table, note=note, name="pairs", title=f"Pairs on {family.primary.name}")

    def lead(self) -> str:
        family, mine = self.comparison.family, self.mine
        clear, alpha = words.count(sum(c.verdict in CLEAR for c in mine)), words.percent(family.method.alpha)
        differ = f"{clear} of {words.count(len(mine))} pairs differ clearly on {family.primary.name}"
        return f"{differ} ({words.share(discriminative_power(mine))}) at {alpha}: {method_in_words(family)}."


# --- slices
class SlicesPart(PagePart):
    """The main metric by slice, with reversals."""

    name, title, of_comparison = "slices", "Slices", True
    warned = frozenset({"RS404"})

    @cached_property
    def parts(self) -> list[SliceContrast]:
        """The slices on the main metric."""
        slices = self.comparison.slices
        parts = slices.contrasts if slices else ()
        return [part for part in parts if part.contrast.metric == self.comparison.primary]

    def blocks(self) -> Iterator[Any]:
        comparison, parts = self.comparison, self.parts
        if comparison.slices is None:
            return
        if doubts := caution_notes([w for w in comparison.warnings if w.code == REVERSED]):
            yield Notes(tuple(doubts))
        if parts:
            yield from self._charts()
            yield replace(
                slice_table(comparison.family, comparison.slices.contrasts, parted=True), name="slices", title="Slices"
            )
            size = words.counted(max(part.contrast.comparisons for part in parts), "comparison")
            unclear = sum(part.contrast.verdict == "cannot tell" for part in parts)
            few = f" Slices have fewer queries than the whole: {words.count(unclear)} of {words.count(len(parts))} are inconclusive."
            text = f"p and intervals of slices are corrected for {size}. *: a clear difference."
            yield Paragraph(text + (few if 2 * unclear > len(parts) else ""), quiet=True)
        yield from (Paragraph(note, quiet=True) for note in comparison.slices.notes)

    def lead(self) -> str:
        if not self.parts:
            return "No attribute makes slices."
        whole = self.subject.rivals[0]
        parts = self._of(whole)
        verdicts = [part.contrast.verdict for part in parts]
        better, worse = verdicts.count("better"), verdicts.count("worse")
        unclear, slices = len(parts) - better - worse, words.counted(len(parts), "slice")
        text = f"{whole.title}: better in {words.count(better)} of {slices}, worse in {words.count(worse)}"
        text += f", no clear difference in {words.count(unclear)}" if unclear else ""
        against = [part for part in parts if part.contrast.difference * whole.difference < 0]
        if against:
            ahead = whole.is_gain if whole.panel.sign else whole.difference > 0
            up, down = outcomes_of(whole) if ahead else reversed(outcomes_of(whole))
            clear = sum(part.contrast.verdict in CLEAR for part in against)
            which = f"{words.count(clear)} of {words.count(len(against))} clear" if clear else "not clear"
            text += f". The mean is {up} over all queries and {down} in {words.listing([p.equation for p in against], FEW)} ({which})"
        return f"{text}."

    def _of(self, whole: Contrast) -> list[SliceContrast]:
        """The slices of one pair of runs."""
        return [p for p in self.parts if (p.contrast.run, p.contrast.baseline) == (whole.run, whole.baseline)]

    def _charts(self) -> Iterator[Chart]:
        """A forest of slices for each of the first rivals, under the difference over all queries."""
        rivals, level = self.subject.rivals[:FEW], words.percent(self.comparison.method.level)
        files = charts.file_names(rivals)
        for whole in rivals:
            parts = [(EVERY, whole), *((p.equation, p.contrast) for p in self._of(whole))]
            drawn = ((label, value_range(c.difference, c.shown), c) for label, c in parts)
            rows = [(label, value, c.queries, c.verdict, int(c.verdict in CLEAR)) for label, value, c in drawn if value]
            if len(rows) < 2:
                continue
            columns = (
                Column("slice"), Column("difference", "value", hint=f"{whole.run} minus {whole.baseline}"), Column("queries", "count"),
                Column("verdict"), charts.CLEARLY,
            )  # fmt: skip
            better = f"{charts.side_of([whole.panel])} " if whole.panel.sign else ""
            missing = " A slice without an interval is not drawn." if len(rows) < len(parts) else ""
            yield Chart(
                "slices" if len(rivals) == 1 else f"slices-{files[whole.run, whole.baseline]}",
                f"{whole.title}, slice by slice",
                "intervals", columns, tuple(rows), x="difference", y="slice", marked="clear", guide="zero",
                caption=f"Difference of the means with the {level} interval, corrected over all slices. The bar of {EVERY} is the one of "
                f"the comparison above. {better}Fainter: no clear difference.{missing}",
            )  # fmt: skip


# --- costs
class CostsPart(PagePart):
    """The costs of runs against the main metric, one chart and table per cost, with the Pareto front."""

    name, title, of_comparison = "costs", "Quality and cost", True
    label = "Cost"

    def blocks(self) -> Iterator[Any]:
        tradeoffs = self.comparison.tradeoffs
        if tradeoffs is None:
            return
        columns = iter(tradeoffs.costs.columns)
        for block in tradeoffs.blocks():
            if isinstance(block, Table):
                column = next(columns)
                name = charts.slug(column, 30) or "cost"
                yield from (self._chart(tradeoffs, column, name), replace(block, name=f"costs-{name}"))
            elif block != EMPTY and not isinstance(block, Heading):
                yield block

    def lead(self) -> str:
        tradeoffs = self.comparison.tradeoffs
        assert tradeoffs is not None
        column = tradeoffs.costs.columns[0]
        front = tradeoffs.front(column)
        names, beaten = words.listing([place.run for place in front]), len(tradeoffs.quality) - len(front)
        if len(front) == 1:
            return f"By {column}, {names} beats all others: no other run costs less or has a {tradeoffs.better} mean. {MEANS_ONLY}"
        if beaten:
            others = "the other one costs" if beaten == 1 else f"the other {words.count(beaten)} cost"
            why = f"; {others} at least the same and {words.agree(beaten, 'has')} no {tradeoffs.better} mean"
        elif len({place.cost for place in front}) == len(front):
            why = f": each costs more than the one before it and has a {tradeoffs.better} mean"
        else:
            why = ": no run is both cheaper and at least equally good"
        return f"By {column}, {names} are on the Pareto front{why}. {MEANS_ONLY}"

    def _chart(self, tradeoffs: TradeOffs, column: str, name: str) -> Chart:
        """Every run as a point, the front as a line."""
        places = tradeoffs.points(column)
        rows = tuple((p.run, p.cost, p.quality, int(p.on_front), p.dominated_by or "", p.price) for p in places)
        x = other_than(column, "run", "front", "beaten by")
        y = other_than(tradeoffs.metric, "run", "front", "beaten by", x)
        low, high = min(p.cost for p in places), max(p.cost for p in places)
        limit = None if tradeoffs.budget is None else dict(tradeoffs.budget.limits).get(column)
        logarithmic = low > 0 and high / low >= APART
        columns = (
            Column("run"), Column(x, "value", hint=tradeoffs.cost_in_words(column)), replace(column_of(self.subject.lead), header=y, kind="value"),
            Column("front", "count", hint="1 if every run that is as good or better costs more"), Column("beaten by"),
            Column(f"per {STEP}", "value", hint=tradeoffs.price_in_words),
        )  # fmt: skip
        return Chart(
            f"quality-by-{name}", f"{tradeoffs.metric} against {column}", "points", columns, rows, x=x, y=y, label="run", told=True, path="front",
            logs=frozenset({"x"}) if logarithmic else frozenset(),
            caption=f"Left is cheaper, {tradeoffs.better} is better. The line joins the runs on the Pareto front. A run off the line is "
            f"not worth its cost: another is as good or better and costs no more.{' The axis of costs is logarithmic.' if logarithmic else ''}"
            + ("" if limit is None else f" The dashed line is the limit of {words.amount(limit)}."),
            most=limit,
        )  # fmt: skip
