"""How deep metrics look: weight far down, lists that end before the metric does, and values that no ranking can reach."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from rankscope.declared import parameters
from rankscope.lists import Array, Lists
from rankscope.lists.rectangle import perfect
from rankscope.metrics import DCG, LAUC, IdealDCG, Metric, P
from rankscope.scoring.sources import by_rank
from rankscope.verbs.check.rules.base import Finding, Rule, counted
from rankscope.verbs.check.rules.derived import (
    derived,
    differences,
    judged_of,
    largest,
    listed,
    means_of,
    shown_at,
    turn,
    values_by,
)

if TYPE_CHECKING:
    from rankscope.scoring.runs import RunScores
    from rankscope.verbs.check.rules.case import Case

SEEN = 10  # the ranks that most readers see
WEIGHTY = 0.5  # of the weight below them
USUAL = 1000  # so deep TREC runs go; a cut above it is one
NEAR = 0.95  # a ceiling this near to 1 is none


class DeepCutoff(Rule, code="RS321"):
    """Most of the metric's weight lies below rank 10."""

    severity = "information"
    why = (
        "1/log2(rank + 1) falls slowly: at k = 100 the ranks from 11 on hold 78 % of the weight. Two runs can then differ, or be the "
        "same, by what stands where hardly anybody looks."
    )
    remedy = "report nDCG@10 beside it; a deep cutoff is right where all results are read, or handed on"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a metric with a discount, and how much of the difference of the two best runs comes from there."""
        for metric in case.metrics:
            if not isinstance(metric, DCG) or isinstance(metric, IdealDCG) or metric.aggregate != "mean":
                continue
            depth = int(getattr(metric, "cutoff", None) or _deepest(case))
            share = weight_below(metric, depth)
            if share > WEIGHTY:
                said, effect = self._difference(case, metric)
                yield self.found(
                    f"{share:.0%} of the weight of {metric} (to rank {depth:,}) lies below rank {SEEN}{said}",
                    effect=effect,
                    hint=f"report {metric.having(cutoff=SEEN)} beside it, if readers see ten results",
                )

    def _difference(self, case: Case, metric: Metric) -> tuple[str, dict[str, float]]:
        """What the ranks below add to the difference of the two runs with the best means."""
        means = means_of(case, metric)
        runs = sorted(case.scored_runs, key=lambda run: -means[run.name])[:2]
        if len(runs) < 2 or math.isnan(means[runs[0].name] - means[runs[1].name]):
            return "", {}
        found = [_below(case, run, metric) for run in runs]
        by, whole = found[0] - found[1], means[runs[0].name] - means[runs[1].name]
        names = f"{runs[0].name} is ahead of {runs[1].name} by {whole:.4f}"
        return f"; {names}, of which {by:+.4f} comes from there", {str(metric): -by}


def weight_below(metric: DCG, depth: int) -> float:
    """The share of a discount's weight that lies below rank 10, down to a depth.

    >>> from rankscope.metrics import nDCG
    >>> round(weight_below(nDCG @ 100, 100), 2)
    0.78
    """
    weight = metric.discounts(np.arange(1, depth + 1)).tolist()
    whole = math.fsum(weight)
    return math.fsum(weight[SEEN:]) / whole if whole else 0.0


def _deepest(case: Case) -> int:
    return max(int(case.judged(run.name).retrieved.max(initial=1)) for run in case.scored_runs)


def _below(case: Case, run: RunScores, metric: Metric) -> float:
    """What the ranks below 10 add to the mean of a run."""
    found = case.found(run.name)
    at, values = shown_at(case, run.name), run.values[metric]
    known = ~np.isnan(values)
    weights = np.where(known, run.weights.get(metric, np.ones(len(values))), 0.0)
    whole = math.fsum(weights.tolist())
    if not whole:
        return 0.0
    kept, weight = np.zeros(len(found.query_id), dtype=bool), np.zeros(len(found.query_id))
    kept[at[known]] = True
    weight[at] = weights / whole
    ranks, _ = by_rank(metric, found.judged[judged_of(case, run.name, metric)], kept, weight)
    return math.fsum(ranks[SEEN + 1 :].tolist())


class ListsEnd(Rule, code="RS322"):
    """A metric has no cutoff, and the lists were cut."""

    severity = "information"
    why = (
        "AP of lists that end at rank 100 is AP@100 by another name: relevant documents below count as never found, and a run that "
        "was saved to rank 1000 is ahead of one that was saved to 100 for that alone."
    )
    remedy = "say the cutoff, as in AP@100, and cut all runs at the same rank"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding for all runs that end at one rank, a warning where another run goes deeper and wins for it."""
        metrics = [m for m in case.metrics if _endless(m)]
        if not metrics or case.call.policies.depth is not None:
            return
        ends = {run.name: end for run in case.scored_runs if (end := _end_of(case, run))}
        if not ends:
            return
        shallow = min(ends.values())
        at = {m: m.having(cutoff=shallow) for m in metrics}
        means = derived(case, list(at.items()))
        turned = [
            (m, found)
            for m in metrics
            if means and (found := turn(means_of(case, m), means[at[m]], m.better))
        ]
        effect = {
            str(m): most[1]
            for m in metrics
            if means and (most := largest(differences(means_of(case, m), means[at[m]])))
        }
        names = [name for name, end in ends.items() if end == shallow]
        message = (
            f"all lists of {listed(names)} end at rank {shallow:,}, so that {listed(metrics)} "
            f"{'is' if len(metrics) == 1 else 'are'} {listed(list(at.values()))} there"
        )
        if len(names) < len(case.scored_runs) and any(effect.values()):
            most_moved, by = max(effect.items(), key=lambda pair: abs(pair[1]))
            message += f"; cutting all runs there: up to {by:+.3f} {most_moved}"
        if turned:
            metric, found = turned[0]
            message += f", and another run wins: {found.said(str(metric), str(at[metric]))}"
        yield self.found(
            message,
            severity="warning" if turned else "information",
            effect={name: by for name, by in effect.items() if by},
            hint=f"say {at[metrics[0]]}",
        )


def _endless(metric: Metric) -> bool:
    """Whether a metric could be cut, is not, and looks at the whole list."""
    known = parameters(type(metric))
    return (
        "cutoff" in known
        and getattr(metric, "cutoff", None) is None
        and metric.positions
        and metric.better != "neither"
        and not metric.counts_ties
        and metric.aggregate in {"mean", "geometric"}
        and not isinstance(metric, LAUC)
    )


def _end_of(case: Case, run: RunScores) -> int | None:
    """The rank at which all lists of a run end, where something relevant may stand below; None where they do not."""
    judged = case.judged(run.name)
    lengths = judged.retrieved[judged.retrieved > 0]
    if not len(lengths) or lengths.min() != lengths.max() or lengths[0] >= USUAL:
        return None
    missed = (judged.grade >= 1) & (judged.rank == 0)
    return int(lengths[0]) if missed.any() else None


class Ceiling(Rule, code="RS323"):
    """No ranking can reach 1: queries have fewer relevant documents than k, or more."""

    severity = "information"
    why = (
        "P@10 of a query with 3 relevant documents is at most 0.3; R@10 and AP@10 of one with 50 are at most 0.2. A value near the "
        "ceiling is as good as it gets, and the queries with a low ceiling hardly count in the mean."
    )
    remedy = "read the value as a part of the ceiling, or divide by what can be reached: denominator='min_k_relevant'"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a metric, from the judgments of the queries averaged."""
        for metric in case.metrics:
            if not _bounded_by_judgments(metric):
                continue
            run = case.scored_runs[0]
            judged = case.found(run.name).judged[judged_of(case, run.name, metric)]
            if judged.aspects is not None:
                continue
            (best,) = values_by(case, run.name, metric, [_best_of(metric)])
            best = np.where(np.isnan(run.values[metric]), np.nan, best)
            ceiling = case.mean_over(run.name, metric, best)
            below = int(((best < 1) & (best > 0)).sum())
            # queries without a relevant document are another matter
            if not below or not case.mean_over(run.name, metric, np.where(best > 0, best, np.nan)) < NEAR:
                continue
            value = case.mean(run.name, metric)
            of = f"; {run.name} reaches {value:.4f}, {value / ceiling:.0%} of it" if ceiling > 0 else ""
            yield self.found(
                f"even a perfect ranking scores {ceiling:.4f} on {metric}: {counted(below, 'query has', 'queries have')} "
                f"{'too few' if isinstance(metric, P) else 'more'} relevant documents {'for' if isinstance(metric, P) else 'than'} "
                f"{metric.cutoff} places{of}",  # type: ignore[attr-defined]
                count=below,
                hint=f"use {metric.having(denominator='min_k_relevant')}, or compare runs only",
            )


def _bounded_by_judgments(metric: Metric) -> bool:
    usual = {"P": "k", "R": "relevant", "AP": "relevant"}.get(type(metric).__name__)
    at_usual = usual is not None and getattr(metric, "denominator", None) == usual
    return at_usual and getattr(metric, "cutoff", None) is not None


def _best_of(metric: Metric) -> Callable[[Lists], Array]:
    """The value of the best ranking that the judgments allow."""
    return lambda lists: metric.score(perfect(lists))
