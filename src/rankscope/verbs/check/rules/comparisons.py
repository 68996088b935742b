"""What ``compare`` doubts about the runs, each under its code: metrics that disagree, leads that few queries carry, queries that cannot be paired."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from rankscope.blocks import Caution
from rankscope.errors import RankscopeError
from rankscope.panels.doubts import doubts_of
from rankscope.panels.families import Family, pairs_of
from rankscope.panels.method import method_of
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure
from rankscope.scoring.measurements import CUTOFFS, panels_of
from rankscope.verbs.check.rules.base import Finding, Rule
from rankscope.verbs.check.rules.derived import derived, means_of

if TYPE_CHECKING:
    from rankscope.verbs.check.rules.case import Case

SHOWN = 3  # findings of one code; the rest is counted

_found: WeakKeyDictionary[Case, list[Caution]] = WeakKeyDictionary()


def doubts(case: Case) -> list[Caution]:
    """What ``compare`` would doubt about these runs against the first, over the metrics that have a direction and a value a query."""
    if case not in _found:
        _found[case] = _doubts(case)
    return _found[case]


def _doubts(case: Case) -> list[Caution]:
    scores = case.scores
    metrics = [m for m in case.metrics if m.better != "neither" and m.aggregate != "pooled"]
    if scores is None or len(scores.runs) < 2 or not metrics:
        return []
    try:
        panels = panels_of(scores, metrics)
        first = panels[0].systems[0]
        family = Family(panels, pairs_of(panels[0].systems, first, False), method_of(), first)
        return doubts_of(family, curve=_curve(case, panels[0]))
    except RankscopeError:  # nothing that can be compared
        return []


def _curve(case: Case, first: Panel) -> list[Panel]:
    """The means of the first metric at other cutoffs, each as if there were one query: only the means are looked at."""
    metric = first.metric
    cutoff = getattr(metric, "cutoff", None)
    if metric is None or cutoff is None or metric.aggregate != "mean" or case.call.policies.dialect:
        return []
    others = {
        k: metric.having(cutoff=k) for k in CUTOFFS if k != cutoff and k <= (case.call.policies.depth or k)
    }
    means = derived(case, [(metric, other) for other in others.values()])
    if not means:
        return []
    by_cutoff = {k: means[other] for k, other in others.items()} | {cutoff: means_of(case, metric)}
    out = []
    for k in sorted(by_cutoff):
        column = np.array([[by_cutoff[k][system]] for system in first.systems])
        at = metric.having(cutoff=k)
        out.append(Panel(Measure.of(at), first.systems, ("mean",), column))
    return out


class _OfComparison(Rule):
    """A doubt of ``compare`` shown by ``check``."""

    runs_needed: ClassVar[int] = 2

    def find(self, case: Case) -> Iterator[Finding]:
        """What ``compare`` says under this code; of many alike the first few."""
        if len(case.scored_runs) < self.runs_needed:
            return
        said = [warned for warned in doubts(case) if warned.code == self.code]
        for number, warned in enumerate(said[:SHOWN], start=1):
            more = f" (and {len(said) - SHOWN:,} more like it)" if number == SHOWN < len(said) else ""
            yield self.found(warned.message + more, hint=warned.hint)


class MetricsDisagree(_OfComparison, code="RS401"):
    """A run is clearly better on one metric and clearly worse on another."""

    why = "Whoever picks the metric picks the winner. The difference is real on both: the run does one thing better and another worse."
    remedy = (
        "decide which metric stands for what users need, before looking; rankscope compare --primary names it"
    )


class CutoffDecides(_OfComparison, code="RS402"):
    """Another run is ahead at another cutoff."""

    severity = "information"
    why = "The winner at k = 10 is not the winner at k = 3 or 100: the conclusion depends on a number that is often left at its default."
    remedy = "name the cutoff that users see, and say it before looking"


class FewQueriesDecide(_OfComparison, code="RS403"):
    """A few queries carry a difference that looks clear."""

    why = "Without one query in twenty, or fewer, the lead is gone. Such a lead depends on whether these queries are like those to come."
    remedy = "look at these queries first (rankscope compare names how many); judge more like them"


class SliceReversed(_OfComparison, code="RS404"):
    """A run is better over all queries and worse in a slice of them."""

    said_by = "rankscope compare --slices"
    why = "A mean over all queries can rise while those of one language, or one kind of user, get worse results."
    remedy = "ask who sends these queries before shipping; slices are given to rankscope compare --slices"


class TooFewDiffer(_OfComparison, code="RS405"):
    """Two runs differ on fewer than six queries."""

    why = "With five differing queries no test of signs can reach 5%, whatever the difference: 2 x 1/2^5 is 6.25%."
    remedy = "judge more queries, above all such on which the two answer differently"


class OutOfReach(_OfComparison, code="RS406"):
    """The test cannot give a p-value small enough for so many comparisons."""

    severity = "information"
    why = "Corrected for many comparisons, the smallest p-value that the test can give on these queries is still above 5%."
    remedy = "compare fewer runs, or judge more queries"


class NotPaired(_OfComparison, code="RS407"):
    """Queries have a value for only one of two runs."""

    why = (
        "The means are then over different queries, and their difference mixes what the systems do with which queries were left out: "
        "a run that skips hard queries looks better."
    )
    remedy = (
        "compare over the queries that both have (rankscope compare does), or give the missing ones a value"
    )


class JointWithGaps(_OfComparison, code="RS410"):
    """A correction that looks at all runs together leaves out queries that one run has no value for."""

    said_by = "rankscope compare --correction"
    severity = "information"
    why = "max-T and Tukey need a value of every run for every query. One run with gaps takes queries away from the comparison of all others."
    remedy = "leave out the run with gaps, or take --correction holm"
