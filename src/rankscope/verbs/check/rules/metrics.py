"""Metrics that mislead when they are compared or averaged: other cutoffs, other conventions, ideals of what was returned, no ideal at all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.declared import parameters, plain
from rankscope.lists import Array
from rankscope.metrics import CG, DCG, IdealDCG, Metric, nDCG
from rankscope.scoring.runs import RunScores
from rankscope.verbs.check.rules.base import Finding, Rule, counted
from rankscope.verbs.check.rules.derived import (
    derived,
    differences,
    largest,
    listed,
    means_of,
    turn,
    values_by,
)

if TYPE_CHECKING:
    from rankscope.verbs.check.rules.case import Case

CONVENTIONS = ("gain", "ideal", "denominator", "discount")
RETURNED = {  # what makes a metric be out of what was returned, and the value that does not
    "ideal": (frozenset({"retrieved_topk", "retrieved_all", "judged_at_returned"}), "judged"),
    "denominator": (
        frozenset(
            {
                "hits_at_k",
                "positives_in_list",
                "min_k_positives_in_list",
                "min_k_listlen",
                "min_relevant_listlen",
            }
        ),
        "",
    ),
}
RICH = 0.1  # the richest tenth of the queries
APART = 1.5  # so many times what the poorest query has to give, and queries are not alike
NO_GAINS = 2  # fewer queries say nothing about what is the same for all


def _kinds(metrics: Sequence[Metric]) -> dict[type[Metric], list[Metric]]:
    """Metrics by class, those of which there are several."""
    out: dict[type[Metric], list[Metric]] = {}
    for metric in metrics:
        out.setdefault(type(metric), []).append(metric)
    return {cls: group for cls, group in out.items() if len(group) > 1}


class SeveralCutoffs(Rule, code="RS311"):
    """nDCG is asked for at several cutoffs."""

    severity = "information"
    why = (
        "The ideal ranking is cut at k, too, so the value at a larger k may be higher or lower with nothing gained or lost: each k is "
        "another yardstick. nDCG@5 of one run says nothing beside nDCG@10 of another."
    )
    remedy = "compare runs at one k, and name it; never a value at one k with a value at another"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding for all values of one convention."""
        alike: dict[Metric, list[Metric]] = {}
        for metric in case.metrics:
            if isinstance(metric, nDCG):
                alike.setdefault(
                    metric.having(cutoff=None)
                    if metric.ideal not in {"full_k", "max_grade_k"}
                    else metric.having(cutoff=1),
                    [],
                ).append(metric)
        for metrics in alike.values():
            if len(metrics) < 2:
                continue
            run = case.scored_runs[0].name
            values = [case.mean(run, metric) for metric in metrics]
            if any(map(math.isnan, values)):  # nobody has a number to compare
                continue
            said = listed([f"{m} {v:.4f}" for m, v in zip(metrics, values, strict=True)])
            yield self.found(
                f"each cutoff has an ideal of its own ({run}: {said}): compare runs at one of them, never one with the other",
                count=len(metrics),
            )


class SeveralConventions(Rule, code="RS312"):
    """One metric is asked for under several conventions."""

    why = (
        "Gain, ideal, discount and denominator change the number while the name stays: side by side, or in two tables, such values "
        "are taken for better and worse systems."
    )
    remedy = "keep one convention, and show it with the number; rankscope reconcile tells which convention explains another tool's"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a metric."""
        for cls, metrics in _kinds(case.metrics).items():
            differing = [
                name
                for name in CONVENTIONS
                if name in parameters(cls) and len({getattr(m, name) for m in metrics}) > 1
            ]
            if not differing:
                continue
            run = case.scored_runs[0].name
            one = {tuple(getattr(m, name) for name in differing): m for m in reversed(metrics)}
            first, *others = sorted(one.values(), key=metrics.index)
            values = [f"{m} is {case.mean(run, m):.4f}" for m in (first, *others)]
            yield self.found(
                f"{cls.__name__} is asked for with different {listed(differing)}: for {run} {listed(values)}",
                count=len(one),
                effect={
                    str(m): case.mean(run, m) - case.mean(run, first)
                    for m in others
                    if getattr(m, "cutoff", None) == getattr(first, "cutoff", None)
                },
            )


class OutOfReturned(Rule, code="RS313"):
    """A metric is out of what was retrieved, not of what there is."""

    why = (
        "With an ideal (or a denominator) made of retrieved documents, what was missed never costs anything: a run that returns one "
        "good document and stops scores 1, and returning less can score better."
    )
    remedy = "take the ideal of all judged documents (the usual), and divide by all known relevant ones"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a metric, with what the metric out of all judged documents gives."""
        pairs = {m: other for m in case.metrics if (other := out_of_all(m)) is not None}
        means = derived(case, list(pairs.items()))
        for metric, whole in pairs.items() if means else ():
            now = means_of(case, metric)
            name, by = largest(differences(now, means[whole])) or (case.scored_runs[0].name, 0.0)
            found = turn(now, means[whole])
            yield self.found(
                f"{metric} divides by what was retrieved: {name} scores {now[name]:.4f}, out of all judged documents {means[whole][name]:.4f}"
                + (f"; another run wins: {found.said(str(metric), str(whole))}" if found else ""),
                run=name if len(now) > 1 else None,
                effect={str(metric): by},
                hint=f"use {whole}; rankscope reconcile tells which tools compute the other",
            )


def out_of_all(metric: Metric) -> Metric | None:
    """The metric out of all that is judged, where this one is out of what was retrieved; None where it is not."""
    changes: dict[str, Any] = {}
    for name, (returned, usual) in RETURNED.items():
        if getattr(metric, name, None) in returned:
            changes[name] = usual or getattr(type(metric), name)
    return metric.having(**changes) if changes else None


class NotNormalised(Rule, code="RS314"):
    """A sum of gains that is not normalised is averaged over queries."""

    severity = "information"
    why = (
        "DCG grows with the number of relevant documents that a query has. Its mean is about the few queries that have many; a run "
        "that is better on those is ahead, however it does on the rest."
    )
    remedy = "report nDCG, which takes every query as a part of what it could give"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a metric, where queries differ in what they have to give; a warning where nDCG names another winner."""
        metrics = [m for m in case.metrics if isinstance(m, CG | DCG) and not isinstance(m, IdealDCG | nDCG)]
        pairs = {m: _normalised(m) for m in metrics}
        means = derived(case, list(pairs.items()))
        for metric, whole in pairs.items() if means else ():
            found = turn(means_of(case, metric), means[whole])
            rich = self._rich(case, case.scored_runs[0], metric)
            if rich is None:
                continue
            number, queries, share = rich
            yield self.found(
                f"{metric} is not normalised: {counted(number, 'query', 'queries')} of {queries:,} with most to give "
                f"{'holds' if number == 1 else 'hold'} {share:.0%} of its sum ({case.scored_runs[0].name})"
                + (
                    f"; another run wins than on nDCG: {found.said(str(metric), str(whole))}" if found else ""
                ),
                severity="warning" if found else "information",
                count=number,
                hint=f"report {whole}",
            )

    def _rich(self, case: Case, run: RunScores, metric: Metric) -> tuple[int, int, float] | None:
        """How many queries are the richest tenth, of how many, and their share of the sum; None where queries are alike."""
        (best,) = values_by(case, run.name, metric, [_best_of(metric)])
        value = run.values[metric]
        kept = ~np.isnan(value) & (best > 0)
        best, value = best[kept], value[kept]
        whole = math.fsum(value.tolist())
        if len(best) < NO_GAINS or best.max() < APART * best.min() or not whole > 0:
            return None
        number = max(1, round(RICH * len(best)))
        richest = np.argsort(-best, kind="stable")[:number]
        return number, len(best), math.fsum(value[richest].tolist()) / whole


def _normalised(metric: Metric) -> nDCG:
    known = {name: getattr(metric, name) for name in ("cutoff", "gain", "judged_only")}
    return nDCG(**known, discount=getattr(metric, "discount", "none"))


def _best_of(metric: Metric) -> Any:
    return lambda lists: _normalised(metric).worth(lists)


class Constant(Rule, code="RS315"):
    """A metric has the same value for every query."""

    severity = "information"
    why = (
        "A metric that is 0 (or 1) everywhere cannot tell this run from a worse (or better) one. All zeros mostly mean that ids or "
        "grades do not fit, not that the system finds nothing."
    )
    remedy = (
        "for zeros compare the ids of run and qrels, and the level; otherwise take a metric that still moves"
    )

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a run for metrics that are 0, a warning; one for other constants."""
        for run in case.scored_runs:
            constant = {m: v for m in case.metrics if (v := _same_for_all(run.values[m], m)) is not None}
            zero = [m for m, value in constant.items() if value == 0 and m.better == "higher"]
            if zero:
                queries = int((~np.isnan(run.values[zero[0]])).sum())
                yield self.found(
                    f"{run.name}: {listed(zero)} {'is' if len(zero) == 1 else 'are'} 0 for all {queries:,} queries",
                    severity="warning",
                    run=run.name,
                    count=len(zero),
                    hint="see whether ids and grades of run and qrels fit together, and whether the cutoff is deep enough",
                )
            rest = [m for m in constant if m not in zero]
            if rest:
                said = listed([f"{m} is {plain(round(constant[m], 4))}" for m in rest])
                yield self.found(
                    f"{run.name}: {said} for every query, and cannot tell it from a {_other_end(rest[0], constant[rest[0]])} run",
                    run=run.name,
                    count=len(rest),
                    hint="take a metric that still moves: a smaller cutoff, or one that sees order and grades",
                )


def _same_for_all(values: Array, metric: Metric) -> float | None:
    """The value that all queries share; None where they differ, or where it tells nothing about the run."""
    known = values[~np.isnan(values)]
    if metric.better == "neither" or metric.relevance == "none" or len(known) < NO_GAINS:
        return None
    return float(known[0]) if np.ptp(known) == 0 else None


def _other_end(metric: Metric, value: float) -> str:
    low, high = metric.range
    best = high if metric.better == "higher" else low
    return "better" if value == best else "different"
