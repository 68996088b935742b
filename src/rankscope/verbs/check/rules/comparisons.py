"""Doubts about comparing the runs: metrics that disagree, leads that few queries carry, queries that cannot be paired, too few queries."""

from __future__ import annotations

from collections.abc import Iterator

from rankscope import words
from rankscope.panels.doubts import REMEDIES
from rankscope.panels.reach import Aim, pairs_within_reach
from rankscope.scoring.measurements import panels_of
from rankscope.verbs.check.case import CheckCase
from rankscope.verbs.check.rule import Finding, Rule

SHOWN = 3  # findings of one code; the rest is counted


class _OfComparison(Rule):
    """A doubt of ``compare`` shown by ``check``."""

    def find(self, case: CheckCase) -> Iterator[Finding]:
        cautions = [caution for caution in case.doubts if caution.code == self.code]
        for number, caution in enumerate(cautions[:SHOWN], start=1):
            rest = len(cautions) - SHOWN
            more = f" (and {words.count(rest)} more like it)" if number == SHOWN and rest > 0 else ""
            yield self.finding(caution.message + more)


class MetricsDisagree(_OfComparison, code="RS401"):
    """A run is clearly better on one metric and clearly worse on another."""

    why = "Choosing the metric is choosing the winner. The difference is real on both: the run does one thing better and another worse."
    remedy = REMEDIES["RS401"]


class CutoffDecides(_OfComparison, code="RS402", severity="information"):
    """Another run is ahead at another cutoff."""

    why = "The winner at k = 10 is not the winner at k = 3 or 100: the conclusion depends on a number that is often left at its default."
    remedy = REMEDIES["RS402"]


class FewQueriesDecide(_OfComparison, code="RS403"):
    """A few queries carry a difference that looks clear."""

    why = "Without one query in twenty, or fewer, the lead is gone. Such a lead depends on whether future queries are like these."
    remedy = REMEDIES["RS403"]


class SliceReversed(_OfComparison, code="RS404", other_verb="rankscope compare --slices"):
    """A run is better over all queries but worse in a slice of them."""

    why = "A mean over all queries can rise while those of one language, or one kind of user, get worse results."
    remedy = REMEDIES["RS404"]


class TooFewDiffer(_OfComparison, code="RS405"):
    """Two runs differ on fewer than six queries."""

    why = "With five differing queries no test of signs can reach 5%, whatever the difference: 2 x 1/2^5 is 6.25%."
    remedy = REMEDIES["RS405"]


class OutOfReach(_OfComparison, code="RS406", severity="information"):
    """The test cannot give a p-value small enough for so many comparisons."""

    why = "Corrected for many comparisons, the smallest p-value that the test can give on these queries is still above 5%."
    remedy = REMEDIES["RS406"]


class NotPaired(_OfComparison, code="RS407"):
    """Queries have a value for only one of two runs."""

    why = (
        "The means are then over different queries, and their difference mixes how the systems perform with which queries were left "
        "out: a run that skips hard queries looks better."
    )
    remedy = REMEDIES["RS407"]


class JointWithGaps(_OfComparison, code="RS410", severity="information", other_verb="rankscope compare --correction"):
    """A joint correction leaves out queries for which one run has no value."""

    why = "max-T and Tukey need a value of every run for every query. One run with gaps takes queries away from the comparison of all others."
    remedy = REMEDIES["RS410"]


class FewClusters(_OfComparison, code="RS411", severity="information", other_verb="rankscope compare --clusters"):
    """Queries come in few clusters, or in one large one and small ones."""

    why = (
        "Queries of one user, session or topic go together, so what counts is how many of these there are. With few of them the error "
        "between clusters is hardly known: intervals are wide, and one cluster may decide."
    )
    remedy = REMEDIES["RS411"]


class TooEarly(_OfComparison, code="RS412", severity="information", other_verb="rankscope compare --test anytime"):
    """A sequential test looked before it had seen how differences spread."""

    why = (
        "anytime reckons with the spread seen so far. Where most queries gain a little and few lose much, none of the losses may be "
        "there yet: looking from 20 queries on, it refutes a true mean of 0 in 18 of 100 cases, from 100 queries on in 5."
    )
    remedy = REMEDIES["RS412"]


class TooFewQueries(Rule, code="RS409", severity="information"):
    """There are too few queries for the observed differences."""

    why = (
        "With few queries the difference of two means is mostly luck of the draw. Below the smallest difference that so many queries "
        "can detect (80% power at 5%), the next set of queries may name another winner."
    )
    remedy = (
        "see what rankscope compare decides, as it may still be clear; or judge more (rankscope power tells how many)"
    )

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding for the first metric: the pairs of runs whose difference is smaller than what can be shown."""
        metric = next((m for m in case.metrics if m.aggregate in {"mean", "weighted"} and m.better != "neither"), None)
        if metric is None or case.scores is None or any(metric in run.weights for run in case.scored_runs):
            return
        (panel,) = panels_of(case.scores, [metric])
        pairs, small, least = pairs_within_reach(panel, Aim())
        if least is None:
            return
        many = f" ({words.count(small)} of {words.counted(pairs, 'pair')} of runs differ by less than they can detect)"
        clear = case.is_clear(metric, least.run, least.baseline)
        yield self.finding(
            f"{least.run} and {least.baseline} differ by {words.number(abs(least.difference), digits=4)} on {metric}; "
            f"{words.counted(least.queries, 'query')} like these detect {words.number(least.detectable.difference, digits=3)} in four of "
            f"five cases (80% power){', though here compare tells them apart' if clear else ''}{many if pairs > 1 else ''}",
            count=small,
        )


class NoPlan(Rule, code="RS408", severity="information", other_verb="rankscope power"):
    """A pair of runs gives nothing to plan with (reported by rankscope power)."""

    why = (
        "The number of queries that a comparison needs follows from how the differences vary between queries; two runs that differ "
        "on one query, or on none, do not show that."
    )
    remedy = REMEDIES["RS408"]
