"""Where runs differ: by how much on each metric, on how many queries, and in parts of the queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from rankscope import words
from rankscope.blocks import Chart, Column, Notes, Paragraph, Value
from rankscope.panels.charts import is_clear
from rankscope.panels.contrast import Contrast
from rankscope.panels.slices import SliceContrast
from rankscope.reporting.part import PagePart
from rankscope.reporting.subject import SubjectOfComparison
from rankscope.show.result import caution_notes
from rankscope.verbs.compare.charts import CLEARLY, file_names, forests, outcome_counts, ranged, side_of
from rankscope.verbs.compare.tables import FEW, slice_table

REVERSED = "RS404"
EVERY = "all queries"


class DifferencesPart(PagePart[SubjectOfComparison]):
    """The differences of the means with their intervals, and counts of queries."""

    name, title = "differences", "Differences"
    subjects = SubjectOfComparison

    def blocks(self) -> Iterator[Any]:
        """Forest plots, what is not drawn, and queries better, same and worse."""
        yield from forests(self.subject.result.family)
        bare = [c for c in self.subject.result.contrasts if ranged(c.difference, c.adjusted) is None]
        if bare:
            c = bare[0]
            reason = c.adjusted.reason or c.bounds.reason or "it has no end"
            more = f" (and {words.count(len(bare) - 1)} more)" if len(bare) > 1 else ""
            yield Paragraph(
                f"Not drawn, without an interval: {c.run} against {c.baseline} on {c.metric}{more}: {reason}.",
                quiet=True,
            )
        yield from outcome_counts(self.subject.result.family)

    def lead(self) -> str:
        """On how many queries the first rival differs."""
        c = next((c for c in self.subject.rivals if c.queries), None)
        if c is None:
            return "No query has a value for two of the runs."
        pair = f"{c.run} against {c.baseline} on {c.metric}"
        if not c.differing:
            return f"{pair}: unchanged on {words.counted(c.queries, 'query')}."
        up, down = ("better", "worse") if c.panel.sign else ("higher", "lower")
        same = f", unchanged on {words.count(c.ties)}" if c.ties else ""
        return f"{pair}: {up} on {words.counted(c.wins, 'query')}, {down} on {words.count(c.losses)}{same}."


class SlicesPart(PagePart[SubjectOfComparison]):
    """The main metric slice by slice, with what reverses."""

    name, title = "slices", "Slices"
    subjects = SubjectOfComparison

    @cached_property
    def mine(self) -> list[SliceContrast]:
        """The slices on the main metric."""
        found = self.subject.result
        return [p for p in found.slices.contrasts if p.contrast.metric == found.primary] if found.slices else []

    def blocks(self) -> Iterator[Any]:
        """Reversals, a chart a rival, the table of slices and what it rests on."""
        found = self.subject.result
        if found.slices is None:
            return
        if doubts := caution_notes([w for w in found.warnings if w.code == REVERSED]):
            yield Notes(tuple(doubts))
        if self.mine:
            yield from self._charts()
            yield replace(slice_table(found.family, found.slices.contrasts, parted=True), name="slices", title="Slices")
            size = words.counted(max(part.contrast.comparisons for part in self.mine), "comparison")
            unclear = sum(part.contrast.verdict == "cannot tell" for part in self.mine)
            few = f" Slices have fewer queries than the whole: {words.count(unclear)} of {words.count(len(self.mine))} are inconclusive."
            said = f"p and intervals of slices are corrected for {size}; *: a clear difference."
            yield Paragraph(said + (few if 2 * unclear > len(self.mine) else ""), quiet=True)
        yield from (Paragraph(note, quiet=True) for note in found.slices.notes)

    def lead(self) -> str:
        """How many slices go which way for the first rival, and whether some go against the whole."""
        if not self.mine:
            return "No attribute makes slices."
        whole = self.subject.rivals[0]
        parts = self._of(whole)
        contrasts = [part.contrast for part in parts]
        better, worse = (sum(c.verdict == verdict for c in contrasts) for verdict in ("better", "worse"))
        said = f"{whole.run} against {whole.baseline} on {whole.metric}: better in {better:,} of {words.counted(len(parts), 'slice')}, worse in {worse:,}"
        said += f", no clear difference in {len(parts) - better - worse:,}" if len(parts) > better + worse else ""
        against = [part for part in parts if part.contrast.difference * whole.difference < 0]
        if against:
            up, down = ("better", "worse") if whole.improved else ("worse", "better")
            if not whole.panel.sign:
                up, down = ("higher", "lower") if whole.difference > 0 else ("lower", "higher")
            clear = sum(is_clear(part.contrast) for part in against)
            which = f"{clear:,} of {len(against):,} clear" if clear else "not clear"
            said += f". The mean is {up} over all queries and {down} in {words.listing([p.equation for p in against], FEW)} ({which})"
        return f"{said}."

    def _of(self, whole: Contrast) -> list[SliceContrast]:
        """The slices of one pair of runs."""
        return [p for p in self.mine if (p.contrast.run, p.contrast.baseline) == (whole.run, whole.baseline)]

    def _charts(self) -> Iterator[Chart]:
        """A forest of slices for each of the first rivals, under the difference over all queries."""
        rivals = self.subject.rivals[:FEW]
        files = file_names(rivals)
        for whole in rivals:
            parts = [(EVERY, whole), *((p.equation, p.contrast) for p in self._of(whole))]
            rows: list[tuple[Value, ...]] = [
                (label, value, c.queries, c.verdict, is_clear(c))
                for label, c in parts
                if (value := ranged(c.difference, c.adjusted)) is not None
            ]
            if len(rows) < 2:
                continue
            columns = (
                Column("slice"), Column("difference", "value", hint=f"{whole.run} minus {whole.baseline}"), Column("queries", "count"),
                Column("verdict"), CLEARLY,
            )  # fmt: skip
            better = f"{side_of([whole.panel])} " if whole.panel.sign else ""
            missing = " A slice without an interval is not drawn." if len(rows) < len(parts) else ""
            yield Chart(
                "slices" if len(rivals) == 1 else f"slices-{files[whole.run, whole.baseline]}",
                f"{whole.run} against {whole.baseline} on {whole.metric}, slice by slice",
                "intervals", columns, tuple(rows), x="difference", y="slice", marked="clear", guide="zero",
                caption=f"Difference of the means with the {words.percent(self.subject.result.method.level)} interval, corrected over all slices; "
                f"that of {EVERY} is the one of the comparison above. {better}Fainter: no clear difference.{missing}",
            )  # fmt: skip
