"""Judgments beside rankings: documents that nobody judged, grades off their scale, too few queries."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankscope.declared import parameters
from rankscope.inference.base import Sample
from rankscope.inference.power import detectable
from rankscope.metrics import Metric
from rankscope.verbs.check.rules.base import Finding, Rule, counted, moved
from rankscope.verbs.check.rules.queries import said_by_evaluate

if TYPE_CHECKING:
    from rankscope.verbs.check.rules.case import Case


POSITIVE = 0.05  # with fewer judgments of "not relevant" than this share, unjudged says little


class Unjudged(Rule, code="RS204"):
    """Much of the top k is unjudged, or more of one run than of another."""

    why = (
        "A document that nobody judged counts as not relevant. The number is then too low by an unknown amount; where one run has "
        "more such documents than another (often the new kind of system, which was not pooled), the comparison is unfair to it."
    )
    remedy = "judge the unjudged documents in the top k, or report Judged@k and metrics with judged_only=True beside the others"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding for all runs; information where the judgments name relevant documents only."""
        for warned in said_by_evaluate(case, None, self.code):
            negative = case.judgments.filter(pl.col("grade") < 1).height
            positive = negative < POSITIVE * case.judgments.height or case.said.train is not None
            k = case.cutoff
            shares = {r.name: r.health.unjudged_at_cutoff.get(k, 0.0) for r in case.scored_runs}
            worst = max(shares, key=lambda name: shares[name])
            if positive:
                yield self.found(
                    f"the qrels name {'relevant documents only' if not negative else 'hardly any document that is not relevant'}: {shares[worst]:.0%} of the top {k} of {worst} is not in them, and "
                    "counts as not relevant",
                    hint="expected with clicks, purchases and one answer a query; what is not known to be relevant may be",
                    severity="information",
                    run=worst,
                )
                continue
            effect = self._judged_only(case, worst)
            size = moved(effect)
            yield self.found(
                warned.message + (f"; leaving unjudged documents out: {size}" if size else ""),
                hint=warned.hint,
                run=worst,
                effect=effect,
            )

    def _judged_only(self, case: Case, name: str) -> dict[str, float]:
        """What each metric would gain if unjudged documents were taken out of the ranking."""
        out: dict[str, float] = {}
        for metric in case.metrics if case.plain and case.ties in {"trec", "docid", "input", "rank"} else ():
            if "judged_only" not in parameters(type(metric)) or getattr(metric, "judged_only", True):
                continue
            (values,) = case.plainly(name, [metric.having(judged_only=True)])
            by = case.mean_over(name, metric, values) - case.mean(name, metric)
            if not math.isnan(by):
                out[str(metric)] = by
        return out


class OffScale(Rule, code="RS112"):
    """A grade is not on the scale that was stated."""

    needs = "scale"
    why = (
        "Gains grow with the grade: one grade of 30 for 3, or a code for 'unsure' such as 9, outweighs all others in the ideal, and "
        "nDCG of the query falls for every system. Half grades on a scale of whole ones come from averaging judges."
    )
    remedy = "correct the grades, or state the scale that they are on (--scale)"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding, where a scale was stated; negative grades mark documents that were pooled and not judged."""
        if case.said.scale is None:
            return
        low, high = case.said.scale
        grade = pl.col("grade")
        whole = low % 1 == 0 and high % 1 == 0
        odd = ((grade < low) & (grade >= 0)) | (grade > high) | ((grade % 1 != 0) if whole else pl.lit(False))
        table = case.qrels.sound
        rows = np.flatnonzero(table.frame.select(odd).to_series().to_numpy())
        if not len(rows):
            return
        values = table.frame["grade"][rows].unique().sort().to_list()
        effect = self._effect(case)
        size = moved(effect)
        yield self.found(
            f"{counted(len(rows), 'grade is', 'grades are')} not on the scale {low:g} to {high:g} "
            f"({', '.join(f'{v:g}' for v in values[:4])}{' ...' if len(values) > 4 else ''})"
            + (f"; set to its ends: {size}" if size else ""),
            count=len(rows),
            effect=effect,
            places=case.qrels.places(rows),
        )

    def _effect(self, case: Case) -> dict[str, float]:
        assert case.said.scale is not None
        low, high = case.said.scale
        table = case.qrels.sound
        if not case.scored_runs:
            return {}
        clipped = (
            pl.when(pl.col("grade") < 0).then(pl.col("grade")).otherwise(pl.col("grade").clip(low, high))
        )
        grades = table._having(table.frame.with_columns(grade=clipped))
        return case.change(case.comparable[0], grades=grades)


class TooFewQueries(Rule, code="RS409"):
    """There are too few queries for the differences seen."""

    severity = "information"
    why = (
        "With few queries the difference of two means is mostly the luck of which queries they are. Below the smallest difference "
        "that so many queries show (80% power at 5%), a winner can turn with the next set of queries."
    )
    remedy = (
        "this plans at 80% power, where a smaller difference may still be clear: see what rankscope compare decides, or judge more "
        "queries (rankscope power tells how many)"
    )

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a metric: the pairs of runs whose difference is smaller than what can be shown."""
        if len(case.scored_runs) < 2:
            return
        metric = next(
            (m for m in case.metrics if m.aggregate in {"mean", "weighted"} and m.better != "neither"), None
        )
        if metric is not None and not any(metric in run.weights for run in case.scored_runs):
            yield from self._of(case, metric)

    def _of(self, case: Case, metric: Metric) -> Iterator[Finding]:
        pairs, small = 0, []
        for a, b in combinations(case.scored_runs, 2):
            found = _difference(a, b, metric)
            if found is None:
                continue
            pairs += 1
            if 0 < abs(found[0]) < found[1]:
                small.append((a.name, b.name, *found))
        if not small:
            return
        one, other, by, shown, queries = min(small, key=lambda pair: abs(pair[2]) / pair[3])
        many = f" ({len(small):,} of {pairs:,} pairs of runs are too close like this)" if pairs > 1 else ""
        yield self.found(
            f"{one} and {other} differ by {abs(by):.4f} on {metric}; {counted(queries, 'query', 'queries')} like these show a difference "
            f"of {shown:.3f} or more{many}",
            count=len(small),
        )


class NoPlan(Rule, code="RS408"):
    """A pair of runs gives nothing to plan with (said by rankscope power)."""

    said_by = "rankscope power"
    severity = "information"
    why = (
        "The number of queries that a comparison needs follows from how the differences of its queries vary; two runs that differ "
        "on one query, or on none, do not tell."
    )
    remedy = "leave the pair out of the plan, or judge more queries"

    def find(self, case: Case) -> Iterator[Finding]:
        """Nothing: only a plan can have this fault."""
        return iter(())


def _difference(a: Any, b: Any, metric: Metric) -> tuple[float, float, int] | None:
    """The mean difference of two runs over the queries of both, the smallest that can be shown, and how many queries there are."""
    first = dict(zip(a.query_ids, a.values[metric].tolist(), strict=True))
    pairs = [(first[q], v) for q, v in zip(b.query_ids, b.values[metric].tolist(), strict=True) if q in first]
    parts = np.array([x - y for x, y in pairs if not (math.isnan(x) or math.isnan(y))])
    if len(parts) < 2:
        return None
    sample = Sample(parts)
    return sample.mean, detectable(sample).difference, len(parts)
