"""How alike the runs are: rank-biased overlap and Jaccard at a cutoff, run by run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankscope import words
from rankscope.blocks import Paragraph
from rankscope.reporting.part import PagePart
from rankscope.reporting.subject import Subject
from rankscope.scoring.overlap import RunOverlaps, overlaps_of


class AgreementPart(PagePart[Subject]):
    """Every pair of runs."""

    name, title = "agreement", "How alike the runs are"
    ranked = True
    found: RunOverlaps

    def blocks(self) -> Iterator[Any]:
        """Two squares of runs and a table."""
        if len(self.subject.runs) < 2:
            return
        runs = {name: self.subject.runs[name] for name in self.subject.runs_by_merit()}
        self.found = overlaps_of(self.scores, self.subject.ranking_metric, runs)
        if not self.found.known:
            yield Paragraph("No two runs rank the same query, so there is nothing to compare.")
            return
        yield from (*self.found.charts(), self.found.table())
        if self.found.looked_at < self.found.queries:
            text = f"Of {words.count(self.found.looked_at)} of {words.counted(self.found.queries, 'query')}, picked evenly by their ids."
            yield Paragraph(text, quiet=True)

    def lead(self) -> str:
        """Which runs share most, and which least."""
        return self.found.sentence() if self.found.known else ""
