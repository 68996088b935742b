"""The result of ``ties``: the range of each metric over all orders of ties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rankscope import words
from rankscope.blocks import Caution
from rankscope.diagnostics.rankings import TiesAtCutoff
from rankscope.diagnostics.rule import MIN_PRINTED_CHANGE
from rankscope.metrics import Metric
from rankscope.scoring.results import OfScores
from rankscope.scoring.scores import Scores
from rankscope.show.result import Col, View
from rankscope.words import in_caller_syntax

LEGEND = (
    "by id: score, then document id, both descending, as trec_eval · expected: the mean over all orders of equal scores · "
    "queries: with a value that depends on the order · tied: share of the top k (10 without a cutoff) that shares its score"
)


@dataclass(frozen=True)
class TieRange:
    """One metric of one run under all orders of ties.

    ``value`` uses trec_eval's order, ``expected`` is the mean over all orders, ``worst`` and ``best`` are the ends (None for a metric
    without a better direction). The value of ``queries`` of ``of`` queries depends on the order. ``tied`` is the share of ties in the
    top k (10 without a cutoff).
    """

    run: str
    metric: Metric
    value: float
    expected: float
    worst: float | None
    best: float | None
    queries: int
    of: int
    tied: float
    error: float | None = None

    @property
    def width(self) -> float:
        """The distance between worst and best."""
        return 0.0 if self.best is None or self.worst is None else abs(self.best - self.worst)


def _columns(report: TieReport) -> tuple[Col, ...]:
    heads = {"value": "by id", "expected": "expected", "worst": "worst", "best": "best"}
    return (
        Col("run", head="run" if len(report.scores.runs) > 1 else ""),
        Col("metric", of=lambda s: str(s.metric), head="metric"),
        *(Col(name, head=head, kind="value") for name, head in heads.items()),
        Col("queries_that_move", of=lambda s: s.queries, head="queries", cell=lambda s: f"{words.count(s.queries)} of {words.count(s.of)}"),
        Col("queries", of=lambda s: s.of),
        Col("tied_in_top", of=lambda s: s.tied, head="tied", cell=lambda s: words.share(s.tied)),
        Col("standard_error_of_expected", of=lambda s: s.error, kind="value"),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class TieReport(OfScores):
    """One ``TieRange`` per run and metric."""

    ranges: Sequence[TieRange]
    scores: Scores

    schema = "ties/1"
    header = ("conventions",)
    views = (View("results", _columns, lambda r: r.ranges, note=LEGEND, labels=lambda r: min(len(r.scores.runs), 2)),)

    def __iter__(self) -> Iterator[TieRange]:
        return iter(self.ranges)

    @property
    def warnings(self) -> Sequence[Caution]:
        """Problems of the data that affect the numbers, other than ties."""
        return [one for one in self.scores.warnings if one.code != TiesAtCutoff.code]

    @property
    def conventions(self) -> dict[str, Any]:
        """The averaged queries."""
        stated = self.scores.conventions
        return {name: stated[name] for name in ("queries", "queries_in_words")}

    def sentences(self) -> Iterator[str]:
        """The effect of the order of ties."""
        widest = max(self, key=lambda s: s.width, default=None)
        if widest is None or widest.worst is None or widest.best is None or widest.width < MIN_PRINTED_CHANGE:
            yield f"Equal scores do not matter here: every metric moves by less than {words.amount(MIN_PRINTED_CHANGE)}."
            return
        of = f" of {widest.run}" if len(self.scores.runs) > 1 else ""
        ends = words.interval(widest.worst, widest.best, digits=4, between=" and ")
        yield (
            f"Equal scores matter: depending on their order, {widest.metric}{of} is between {ends} "
            f"({words.number(widest.expected, digits=4)} on average). "
            + in_caller_syntax("Give distinct scores, or report --ties expected.")
        )
