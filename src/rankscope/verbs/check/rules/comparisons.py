"""Problems of comparisons that only ``check`` reports."""

from __future__ import annotations

from collections.abc import Iterator

from rankscope.diagnostics.comparisons import TooFewQueries
from rankscope.diagnostics.rule import Finding
from rankscope.panels.reach import Aim, pairs_within_reach
from rankscope.scoring.measurements import panels_of
from rankscope.verbs.check.case import CheckCase
from rankscope.verbs.check.finders import finds


@finds(TooFewQueries)
def _too_few_queries(case: CheckCase) -> Iterator[Finding]:
    """Find pairs of runs with a difference, on the first metric, that these queries cannot detect."""
    metric = next((m for m in case.metrics if m.aggregate in {"mean", "weighted"} and m.better != "neither"), None)
    if metric is None or case.scores is None or any(metric in run.weights for run in case.scored_runs):
        return
    (panel,) = panels_of(case.scores, [metric])
    pairs, small, least = pairs_within_reach(panel, Aim())
    if least is None:
        return
    clear = case.is_clear(metric, least.run, least.baseline)
    yield TooFewQueries.finding(
        one=least.run, other=least.baseline, difference=abs(least.difference), metric=metric, known=least.queries,
        detectable=least.detectable.difference, clear=clear, count=small, pairs=pairs if pairs > 1 else None,
    )  # fmt: skip
