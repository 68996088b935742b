"""The main metrics at every cutoff, and precision at every recall."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankscope.blocks import Paragraph
from rankscope.reporting.part import PagePart
from rankscope.reporting.subject import Subject
from rankscope.scoring.curves import Curve, RecallCurve, by_cutoff, by_recall


class CutoffsPart(PagePart[Subject]):
    """Each run at cutoffs from 1 to 100."""

    name, title = "cutoffs", "Results by cutoff"
    judged = True
    curves: list[Curve]
    left_out: str

    def blocks(self) -> Iterator[Any]:
        """A chart and a table a metric, and what is not drawn."""
        runs, self.left_out = self.subject.few_runs()
        self.curves, reasons = by_cutoff(self.scores, runs, self.subject.metric)
        for curve in self.curves:
            yield from (curve.chart(), curve.table())
        more = [self.left_out] if self.left_out and self.curves else []
        yield from (Paragraph(text, quiet=True) for text in [*reasons, *more])

    def lead(self) -> str:
        """Which run leads at which cutoffs, and of which metric that is."""
        if not self.curves:
            return ""
        first, lead = self.curves[0], self.subject.metric
        said = first.sentence(bool(self.left_out))
        if lead is None or lead == first.metric:
            return said
        why = "has no cutoff" if getattr(lead, "cutoff", None) is None else "is not drawn at other cutoffs"
        return f"The main metric, {lead}, {why}; this is {first.name}. {said}"


class RecallPart(PagePart[Subject]):
    """Precision against recall, interpolated at eleven points."""

    name, title = "recall", "Precision and recall"
    judged = True
    curve: RecallCurve | str | None

    def blocks(self) -> Iterator[Any]:
        """The chart and its table, or why there are none."""
        runs, left_out = self.subject.few_runs()
        self.curve = by_recall(self.scores, runs, float(getattr(self.subject.metric, "level", 1.0)))
        if isinstance(self.curve, str):
            self.folded = True
            yield Paragraph(f"Not drawn: {self.curve}.", quiet=True)
        elif self.curve is not None:
            yield from (self.curve.chart(), self.curve.table())
            yield from [Paragraph(left_out, quiet=True)] if left_out else []

    def lead(self) -> str:
        """What half of the relevant documents cost."""
        return self.curve.sentence(self.subject.first_run) if isinstance(self.curve, RecallCurve) else ""
