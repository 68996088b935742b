"""Metrics that mislead when they are compared, averaged or cut."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rankscope import words
from rankscope.declared import parameters, plain
from rankscope.lists import Array, Lists
from rankscope.lists.rectangle import perfect
from rankscope.metrics import AUC, CG, DCG, GAUC, LAUC, IdealDCG, Metric, P, nDCG
from rankscope.scoring.bands import by_rank
from rankscope.scoring.runs import RunScores
from rankscope.verbs.check.rules.case import CheckCase
from rankscope.verbs.check.rules.leads import differences, largest, lead_change
from rankscope.verbs.check.rules.rule import Finding, Rule

CONVENTIONS = ("gain", "ideal", "denominator", "discount")
RETURNED = {  # what makes a metric be out of what was returned, and the value that does not
    "ideal": ({"retrieved_topk", "retrieved_all", "judged_at_returned"}, "judged"),
    "denominator": (
        {"hits_at_k", "positives_in_list", "min_k_positives_in_list", "min_k_listlen", "min_relevant_listlen"},
        "",
    ),
}  # fmt: skip
RICH = 0.1  # the richest tenth of the queries
APART = 1.5  # so many times what the poorest query has to give, and queries are not alike
FEWEST = 2  # fewer queries say nothing about what is the same for all
SEEN = 10  # the ranks that most readers see
WEIGHTY = 0.5  # of the weight below them
TREC_DEPTH = 1000  # lists that end there or deeper were not cut on purpose
NEAR = 0.95  # a ceiling this near to 1 is none
MOST = 0.5  # of the queries


class SeveralCutoffs(Rule, code="RS311"):
    """nDCG is reported at several cutoffs."""

    severity = "information"
    why = (
        "The ideal ranking is cut at k, too, so the value at a larger k may be higher or lower with nothing gained or lost: each k is a "
        "different yardstick. nDCG@5 of one run cannot be compared with nDCG@10 of another."
    )
    remedy = "compare runs at one k, and name it; do not compare one run across cutoffs"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding for all values of one convention."""
        alike: dict[Metric, list[Metric]] = {}
        for metric in case.metrics:
            if isinstance(metric, nDCG):
                fixed = 1 if metric.ideal in {"full_k", "max_grade_k"} else None
                alike.setdefault(metric.having(cutoff=fixed), []).append(metric)
        for metrics in alike.values():
            if len(metrics) < 2:
                continue
            run = case.scored_runs[0].name
            values = [case.mean(run, metric) for metric in metrics]
            if any(map(math.isnan, values)):  # nobody has a number to compare
                continue
            means = [f"{m} {words.number(v, digits=4)}" for m, v in zip(metrics, values, strict=True)]
            yield self.finding(
                f"each cutoff has an ideal of its own ({run}: {words.listing(means, most=4)}): compare runs at one cutoff, not one run "
                "across cutoffs",
                count=len(metrics),
            )


class SeveralConventions(Rule, code="RS312"):
    """One metric is reported under several conventions."""

    why = (
        "Gain, ideal, discount and denominator change the number while the name stays: side by side, or in two tables, such values "
        "look like better and worse systems."
    )
    remedy = "keep one convention, and show it with the number; rankscope reconcile tells which convention explains another tool's"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a metric."""
        kinds: dict[type[Metric], list[Metric]] = {}
        for metric in case.metrics:
            kinds.setdefault(type(metric), []).append(metric)
        for cls, metrics in kinds.items():
            differing = [
                name for name in CONVENTIONS if name in parameters(cls) and len({getattr(m, name) for m in metrics}) > 1
            ]
            if not differing:
                continue
            run = case.scored_runs[0].name
            one = {tuple(getattr(m, name) for name in differing): m for m in reversed(metrics)}
            first, *others = sorted(one.values(), key=metrics.index)
            values = [f"{m} is {words.number(case.mean(run, m), digits=4)}" for m in (first, *others)]
            yield self.finding(
                f"{cls.__name__} is computed with different {words.listing(differing)}: for {run} {words.listing(values, most=4)}",
                count=len(one),
                effect={
                    str(m): case.mean(run, m) - case.mean(run, first)
                    for m in others
                    if getattr(m, "cutoff", None) == getattr(first, "cutoff", None)
                },
            )


class OutOfReturned(Rule, code="RS313"):
    """A metric divides by what was retrieved, not by all that was judged."""

    why = (
        "With an ideal (or a denominator) made of retrieved documents, what was missed never costs anything: a run that returns one "
        "good document and stops scores 1, and returning less can score better."
    )
    remedy = "use the ideal of all judged documents (the usual one), and divide by all known relevant ones"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a metric, with what the metric out of all judged documents gives."""
        pairs = {m: other for m in case.metrics if (other := out_of_all(m)) is not None}
        means = case.other_means(pairs.items())
        for metric, whole in pairs.items() if means else ():
            now = case.means(metric)
            name, by = largest(differences(now, means[whole])) or (case.scored_runs[0].name, 0.0)
            found = lead_change(now, means[whole])
            yield self.finding(
                f"{metric} divides by what was retrieved: {name} scores {words.number(now[name], digits=4)}, but "
                f"{words.number(means[whole][name], digits=4)} out of all judged documents"
                + (f"; another run wins: {found.sentence(metric, whole)}" if found else ""),
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
    """A sum of gains is averaged over queries without being normalised."""

    severity = "information"
    why = (
        "DCG grows with the number of relevant documents that a query has. Its mean depends on the few queries that have many; a run "
        "that is better on those is ahead, whatever it does on the rest."
    )
    remedy = "report nDCG, which divides every query by what it could give"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a metric, where queries differ in what they have to give; a warning where nDCG names another winner."""
        metrics = [m for m in case.metrics if isinstance(m, CG | DCG) and not isinstance(m, IdealDCG | nDCG)]
        pairs = {m: _normalised(m) for m in metrics}
        means = case.other_means(pairs.items())
        for metric, whole in pairs.items() if means else ():
            found = lead_change(case.means(metric), means[whole])
            rich = self._rich(case, case.scored_runs[0], metric)
            if rich is None:
                continue
            number, queries, share = rich
            richest = "richest" if number == 1 else f"{words.count(number)} richest"
            yield self.finding(
                f"{metric} is not normalised: the {richest} of {words.counted(queries, 'query')} "
                f"{words.agree(number, 'holds')} {words.share(share)} of its sum ({case.scored_runs[0].name})"
                + (f"; nDCG names another winner: {found.sentence(metric, whole)}" if found else ""),
                severity="warning" if found else "information",
                count=number,
                hint=f"report {whole}",
            )

    def _rich(self, case: CheckCase, run: RunScores, metric: Metric) -> tuple[int, int, float] | None:
        """How many queries are the richest tenth, of how many, and their share of the sum; None where queries are alike."""
        (best,) = case.values_from(run.name, metric, [_normalised(metric).worth])
        value = run.values[metric]
        kept = ~np.isnan(value) & (best > 0)
        best, value = best[kept], value[kept]
        whole = math.fsum(value.tolist())
        if len(best) < FEWEST or best.max() < APART * best.min() or not whole > 0:
            return None
        number = max(1, round(RICH * len(best)))
        richest = np.argsort(-best, kind="stable")[:number]
        return number, len(best), math.fsum(value[richest].tolist()) / whole


def _normalised(metric: Metric) -> nDCG:
    known = {name: getattr(metric, name) for name in ("cutoff", "gain", "judged_only")}
    return nDCG(**known, discount=getattr(metric, "discount", "none"))


class Constant(Rule, code="RS315"):
    """A metric has the same value for every query."""

    severity = "information"
    why = (
        "A metric that is 0 (or 1) everywhere cannot tell this run from a worse (or better) one. All zeros usually mean that ids or "
        "grades do not match, not that the system finds nothing."
    )
    remedy = (
        "if all are 0, compare the ids of run and qrels, and the level; otherwise choose a metric that still varies"
    )

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run for metrics that are 0, a warning; one for other constants."""
        for run in case.scored_runs:
            constant = {m: v for m in case.metrics if (v := _same_for_all(run.values[m], m)) is not None}
            zero = [m for m, value in constant.items() if value == 0 and m.better == "higher"]
            if zero:
                queries = int((~np.isnan(run.values[zero[0]])).sum())
                yield self.finding(
                    f"{run.name}: {words.listing(zero, most=4)} {words.agree(len(zero), 'is')} 0 for all {words.counted(queries, 'query')}",
                    severity="warning",
                    run=run.name,
                    count=len(zero),
                    hint="check that ids and grades of run and qrels match, and that the cutoff is deep enough",
                )
            rest = [m for m in constant if m not in zero]
            if rest:
                values = words.listing([f"{m} is {plain(round(constant[m], 4))}" for m in rest], most=4)
                yield self.finding(
                    f"{run.name}: {values} for every query, and cannot tell it from a {_other_end(rest[0], constant[rest[0]])} run",
                    run=run.name,
                    count=len(rest),
                    hint="choose a metric that still varies: a smaller cutoff, or one that sees order and grades",
                )


def _same_for_all(values: Array, metric: Metric) -> float | None:
    """The value that all queries share; None where they differ, or where it tells nothing about the run."""
    known = values[~np.isnan(values)]
    if metric.better == "neither" or metric.relevance == "none" or len(known) < FEWEST:
        return None
    return float(known[0]) if np.ptp(known) == 0 else None


def _other_end(metric: Metric, value: float) -> str:
    low, high = metric.range
    best = high if metric.better == "higher" else low
    return "better" if value == best else "different"


class DeepCutoff(Rule, code="RS321"):
    """Most of the metric's weight lies below rank 10."""

    severity = "information"
    why = (
        "1/log2(rank + 1) falls slowly: at k = 100 ranks 11 and below hold 78% of the weight. Two runs can then differ, or be equal, "
        "because of ranks that hardly anyone sees."
    )
    remedy = "report nDCG@10 beside it; a deep cutoff is right where all results are read, or passed to another stage"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a metric with a discount, and how much of the difference of the two best runs comes from there."""
        for metric in case.metrics:
            if not isinstance(metric, DCG) or isinstance(metric, IdealDCG) or metric.aggregate != "mean":
                continue
            depth = int(getattr(metric, "cutoff", None) or _deepest(case))
            share = weight_below(metric, depth)
            if share > WEIGHTY:
                lead, effect = self._lead(case, metric)
                yield self.finding(
                    f"{words.share(share)} of the weight of {metric} (to rank {words.count(depth)}) lies below rank {SEEN}{lead}",
                    effect=effect,
                    hint=f"report {metric.having(cutoff=SEEN)} beside it, if readers see ten results",
                )

    def _lead(self, case: CheckCase, metric: Metric) -> tuple[str, dict[str, float]]:
        """What the ranks below add to the difference of the two runs with the best means."""
        means = case.means(metric)
        runs = sorted(case.scored_runs, key=lambda run: -means[run.name])[:2]
        if len(runs) < 2 or math.isnan(means[runs[0].name] - means[runs[1].name]):
            return "", {}
        one, other = runs
        by = _below(case, one, metric) - _below(case, other, metric)
        lead = words.number(means[one.name] - means[other.name], digits=4)
        part = words.number(by, sign=True, digits=4)
        return f"; {one.name} is ahead of {other.name} by {lead}, of which {part} comes from there", {str(metric): -by}


def weight_below(metric: DCG, depth: int) -> float:
    """The share of a discount's weight that lies below rank 10, down to a depth.

    >>> from rankscope.metrics import nDCG
    >>> round(weight_below(nDCG @ 100, 100), 2)
    0.78
    """
    weight = metric.discounts(np.arange(1, depth + 1)).tolist()
    whole = math.fsum(weight)
    return math.fsum(weight[SEEN:]) / whole if whole else 0.0


def _deepest(case: CheckCase) -> int:
    return max(int(case.judged(run.name).retrieved.max(initial=1)) for run in case.scored_runs)


def _below(case: CheckCase, run: RunScores, metric: Metric) -> float:
    """What the ranks below 10 add to the mean of a run."""
    queries = len(case.evaluation(run.name).query_id)
    at, values = case.places(run.name), run.values[metric]
    known = ~np.isnan(values)
    weights = np.where(known, run.weights.get(metric, np.ones(len(values))), 0.0)
    whole = math.fsum(weights.tolist())
    if not whole:
        return 0.0
    kept, weight = np.zeros(queries, dtype=bool), np.zeros(queries)
    kept[at[known]] = True
    weight[at] = weights / whole
    ranks, _ = by_rank(metric, case.judged(run.name, metric), kept, weight)
    return math.fsum(ranks[SEEN + 1 :].tolist())


class ListsEnd(Rule, code="RS322"):
    """A metric has no cutoff, and the lists were cut."""

    severity = "information"
    why = (
        "AP of lists that end at rank 100 is AP@100 by another name: relevant documents below count as never found, and a run that "
        "was saved to rank 1000 beats one that was saved to 100 for that reason alone."
    )
    remedy = "name the cutoff, as in AP@100, and cut all runs at the same rank"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding for all runs that end at one rank, a warning where another run goes deeper and wins for it."""
        metrics = [m for m in case.metrics if _endless(m)]
        if not metrics or case.request.policies.depth is not None:
            return
        ends = {run.name: end for run in case.scored_runs if (end := _end_of(case, run))}
        if not ends:
            return
        shallow = min(ends.values())
        at = {m: m.having(cutoff=shallow) for m in metrics}
        means = case.other_means(at.items())
        effect, found = {}, None
        for metric, cut in at.items() if means else ():
            now = case.means(metric)
            if most := largest(differences(now, means[cut])):
                effect[str(metric)] = most[1]
            if found is None and (lead := lead_change(now, means[cut], metric.better)):
                found = lead.sentence(metric, cut)
        names = [name for name, end in ends.items() if end == shallow]
        message = (
            f"all lists of {words.listing(names, most=4)} end at rank {words.count(shallow)}, so that "
            f"{words.listing(metrics, most=4)} {words.agree(len(metrics), 'is')} {words.listing(at.values(), most=4)} there"
        )
        if len(names) < len(case.scored_runs) and any(effect.values()):
            name, by = max(effect.items(), key=lambda pair: abs(pair[1]))
            message += f"; cutting all runs there: up to {words.number(by, sign=True, digits=3)} {name}"
        if found:
            message += f", and another run wins: {found}"
        yield self.finding(
            message,
            severity="warning" if found else "information",
            effect={name: by for name, by in effect.items() if by},
            hint=f"name the cutoff: {at[metrics[0]]}",
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


def _end_of(case: CheckCase, run: RunScores) -> int | None:
    """The rank at which all lists of a run end, where something relevant may stand below; None where they do not."""
    judged = case.judged(run.name)
    lengths = judged.retrieved[judged.retrieved > 0]
    if not len(lengths) or lengths.min() != lengths.max() or lengths[0] >= TREC_DEPTH:
        return None
    missed = (judged.grade >= 1) & (judged.rank == 0)
    return int(lengths[0]) if missed.any() else None


class Ceiling(Rule, code="RS323"):
    """No ranking can reach 1, as queries have fewer relevant documents than k, or more."""

    severity = "information"
    why = (
        "P@10 of a query with 3 relevant documents is at most 0.3; R@10 and AP@10 of one with 50 are at most 0.2. A value near the "
        "ceiling is as good as it gets, and queries with a low ceiling hardly count in the mean."
    )
    remedy = "read the value as a share of the ceiling, or divide by what can be reached: denominator='min_k_relevant'"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a metric, from the judgments of the queries averaged."""
        for metric in case.metrics:
            if not _bounded_by_judgments(metric):
                continue
            run = case.scored_runs[0]
            if case.judged(run.name, metric).aspects is not None:
                continue
            (best,) = case.values_from(run.name, metric, [_best_of(metric)])
            best = np.where(np.isnan(run.values[metric]), np.nan, best)
            ceiling = case.mean_over(run.name, metric, best)
            below = int(((best < 1) & (best > 0)).sum())
            # queries without a relevant document are another matter
            if not below or not case.mean_over(run.name, metric, np.where(best > 0, best, np.nan)) < NEAR:
                continue
            value = case.mean(run.name, metric)
            of = (
                f"; {run.name} reaches {words.number(value, digits=4)}, {words.share(value / ceiling)} of it"
                if ceiling > 0
                else ""
            )
            few = "too few relevant documents for" if isinstance(metric, P) else "more relevant documents than"
            yield self.finding(
                f"even a perfect ranking scores {words.number(ceiling, digits=4)} on {metric}: "
                f"{words.counted(below, 'query has', 'queries have')} {few} {metric.cutoff} ranks{of}",  # type: ignore[attr-defined]
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


class PooledAgainstGrouped(Rule, code="RS331"):
    """Pooled AUC and GAUC disagree on which run wins."""

    why = (
        "One curve over all users rewards a model that knows which users click a lot, even if it orders every user's list badly; GAUC "
        "looks at the order within each list, which is what a ranking is. A pooled AUC of 0.56 can go with a GAUC of 0."
    )
    remedy = (
        "decide by GAUC where lists are ranked for one user at a time; pooled AUC is about calibration across users"
    )

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding for each cutoff and level of an AUC."""
        metrics = {(m.cutoff, m.level): m for m in case.metrics if isinstance(m, AUC)}
        for (cutoff, level), metric in metrics.items() if len(case.scored_runs) > 1 else ():
            pooled, grouped = AUC(cutoff=cutoff, level=level, pooled=True), GAUC(cutoff=cutoff, level=level)
            both: list[Metric] = [pooled, grouped]
            if all(m in case.metrics for m in both):
                means = {m: case.means(m) for m in both}
            else:
                means = case.evaluated_means(both, metric)
            found = lead_change(means[pooled], means[grouped]) if means else None
            if found is not None:
                yield self.finding(
                    f"over all documents and within lists, another run wins: {found.sentence(pooled, grouped)}"
                )


class OneClass(Rule, code="RS332"):
    """Most users have documents of one class only, so they have no AUC."""

    severity = "information"
    why = (
        "A list in which everything, or nothing, was clicked has no pair to order. Such users are left out of GAUC, which is then "
        "about the few with both; counted as 0, 0.5 or 1 they would decide the number."
    )
    remedy = (
        "report how many users the number is about; keep documents that were shown and not clicked in the judgments"
    )

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a metric, of the run with fewest users left."""
        for metric in case.metrics:
            if not isinstance(metric, AUC) or metric.aggregate == "pooled":
                continue
            plain = metric.having(single_class="skip")
            left: list[tuple[int, int, str]] = []
            for run in case.scored_runs:
                (values,) = case.values_from(run.name, metric, [plain.score])
                left.append((int((values == values).sum()), len(values), run.name))  # noqa: PLR0124 - NaN is none
            both, queries, name = min(left, key=lambda found: found[0])
            if queries and 1 - both / queries > MOST:
                yield self.finding(
                    f"{metric} is about {words.count(both)} of {words.counted(queries, 'query')}: {words.share(1 - both / queries)} "
                    f"have retrieved documents of one class only{f' ({name})' if len(case.scored_runs) > 1 else ''}"
                    + ("" if metric.single_class == "skip" else f", and count as {metric.single_class:g}"),
                    count=queries - both,
                )
