"""Metrics against the data: conventions, ideals, sums, cutoffs and averages that mislead."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankscope import words
from rankscope.analysis.bands import by_rank
from rankscope.declared import parameters, plain
from rankscope.diagnostics import metrics as rules
from rankscope.diagnostics.rule import Finding
from rankscope.lists.rectangle import perfect
from rankscope.metrics import AUC, CG, DCG, GAUC, IdealDCG, Metric, P, nDCG
from rankscope.metrics.rank_weights import weight_below
from rankscope.scoring.input_checks import looks_to_the_end
from rankscope.verbs.check.case import Alternative, CheckCase, ScoredRun, finds

CONVENTIONS = ("gain", "ideal", "denominator", "discount")
OVER_RETRIEVED = {  # ideals and denominators made of retrieved documents
    "retrieved_topk", "retrieved_all", "judged_at_returned",
    "hits_at_k", "positives_in_list", "min_k_positives_in_list", "min_k_listlen", "min_relevant_listlen",
}  # fmt: skip
USUAL_DENOMINATORS = {"P": "k", "R": "relevant", "AP": "relevant"}  # these keep a metric below 1
RICHEST_SHARE = 0.1  # of the queries
MIN_RATIO_OF_IDEALS = 1.5  # between queries, if they are not alike
MIN_QUERIES = 2
RANKS_SEEN = 10  # by most readers
MIN_SHARE_BELOW = 0.5  # of the weight
TREC_DEPTH = 1000  # shorter lists were cut on purpose
MAX_CEILING = 0.95
MAJORITY = 0.5  # of the queries


@finds(rules.SeveralCutoffs)
def _several_cutoffs(case: CheckCase) -> Iterator[Finding]:
    alike: dict[Metric, list[Metric]] = {}
    for metric in case.metrics:
        if isinstance(metric, nDCG):
            fixed = 1 if metric.ideal in {"full_k", "max_grade_k"} else None
            alike.setdefault(metric.having(cutoff=fixed), []).append(metric)
    for metrics in alike.values():
        run = case.scored_runs[0]
        if len(metrics) > 1 and not any(math.isnan(run.means[m]) for m in metrics):
            means = [f"{m} {words.number(run.means[m], digits=4)}" for m in metrics]
            yield rules.SeveralCutoffs.finding(run_shown=run.name, means=means, count=len(metrics))


@finds(rules.SeveralConventions)
def _several_conventions(case: CheckCase) -> Iterator[Finding]:
    for cls in dict.fromkeys(map(type, case.metrics)):
        metrics = [m for m in case.metrics if type(m) is cls]
        known = [name for name in CONVENTIONS if name in parameters(cls)]
        differing = [name for name in known if len({getattr(m, name) for m in metrics}) > 1]
        if not differing:
            continue
        run = case.scored_runs[0]
        one = {tuple(getattr(m, name) for name in differing): m for m in reversed(metrics)}
        first, *others = sorted(one.values(), key=metrics.index)
        alike = [m for m in others if getattr(m, "cutoff", None) == getattr(first, "cutoff", None)]
        yield rules.SeveralConventions.finding(
            name=cls.__name__, conventions=differing, run_shown=run.name, count=len(one),
            values=[f"{m} is {words.number(run.means[m], digits=4)}" for m in (first, *others)],
            effect={m: run.means[m] - run.means[first] for m in alike},
        )  # fmt: skip


@finds(rules.OutOfReturned)
def _out_of_returned(case: CheckCase) -> Iterator[Finding]:
    for one in case.alternatives({m: other for m in case.metrics if (other := out_of_all(m))}):
        name, by = one.most
        yield rules.OutOfReturned.finding(
            metric=one.metric, run_moved=name, now=one.now[name], then=one.then[name], other=one.other,
            run=name if case.several else None, effect={one.metric: by}, **case.other_winner(one),
        )  # fmt: skip


def out_of_all(metric: Metric) -> Metric | None:
    """Return the metric out of all judged documents, for a metric out of the retrieved ones; None for any other."""
    names = [name for name in ("ideal", "denominator") if getattr(metric, name, None) in OVER_RETRIEVED]
    changed = {name: "judged" if name == "ideal" else getattr(type(metric), name) for name in names}
    return metric.having(**changed) if changed else None


@finds(rules.NotNormalised)
def _not_normalised(case: CheckCase) -> Iterator[Finding]:
    """Find sums of gains over queries with different ideals: a warning if nDCG names another winner."""
    metrics = [m for m in case.metrics if isinstance(m, CG | DCG) and not isinstance(m, IdealDCG | nDCG)]
    for one in case.alternatives({m: _ndcg_like(m) for m in metrics}):
        run = case.scored_runs[0]
        best, value = run.of_lists(one.metric, _ndcg_like(one.metric).worth), run.values[one.metric]
        kept = ~np.isnan(value) & (best > 0)
        best, value = best[kept], value[kept]
        whole = math.fsum(value.tolist())
        if len(best) < MIN_QUERIES or best.max() < MIN_RATIO_OF_IDEALS * best.min() or not whole > 0:
            continue
        number = max(1, round(RICHEST_SHARE * len(best)))
        share = math.fsum(value[np.argsort(-best, kind="stable")[:number]].tolist()) / whole
        yield rules.NotNormalised.finding(
            metric=one.metric, several=number if number > 1 else None, total=len(best), count=number, share=share,
            run_shown=run.name, other=one.other, serious=case.decides(one), **case.other_winner(one),
        )  # fmt: skip


def _ndcg_like(metric: Metric) -> nDCG:
    known = {name: getattr(metric, name) for name in ("cutoff", "gain", "judged_only")}
    return nDCG(**known, discount=getattr(metric, "discount", "none"))


@finds(rules.Constant)
def _constant(case: CheckCase) -> Iterator[Finding]:
    for run in case.scored_runs:
        constant: dict[Metric, float] = {}
        for m in case.metrics:
            known = run.values[m][~np.isnan(run.values[m])]
            ranks_runs = m.better != "neither" and m.relevance != "none"
            if ranks_runs and len(known) >= MIN_QUERIES and np.ptp(known) == 0:
                constant[m] = float(known[0])
        zero = [m for m, value in constant.items() if value == 0 and m.better == "higher"]
        if zero:
            total = int((~np.isnan(run.values[zero[0]])).sum())
            yield rules.AllZero.finding(run=run.name, metrics=zero, count=len(zero), total=total, serious=True)
        rest = [m for m in constant if m not in zero]
        if rest:
            low, high = rest[0].range
            best = constant[rest[0]] == (high if rest[0].better == "higher" else low)
            values = [f"{m} is {plain(round(constant[m], 4))}" for m in rest]
            yield rules.Constant.finding(run=run.name, values=values, count=len(rest), best=best, worse=not best)


@finds(rules.DeepCutoff)
def _deep_cutoff(case: CheckCase) -> Iterator[Finding]:
    """Find discounts with most weight below rank 10, and how much of the lead of the best run comes from there."""
    for metric in case.metrics:
        if not isinstance(metric, DCG) or isinstance(metric, IdealDCG) or metric.aggregate != "mean":
            continue
        deepest = max(int(run.judged().retrieved.max(initial=1)) for run in case.scored_runs)
        depth = int(getattr(metric, "cutoff", None) or deepest)
        share = weight_below(metric.discounts(np.arange(1, depth + 1)), RANKS_SEEN)
        if share > MIN_SHARE_BELOW:
            yield rules.DeepCutoff.finding(
                share=share, metric=metric, depth=depth, seen=RANKS_SEEN, shallow=metric.having(cutoff=RANKS_SEEN),
                **_lead_below(case, metric),
            )  # fmt: skip


def _lead_below(case: CheckCase, metric: Metric) -> dict[str, Any]:
    runs = sorted(case.scored_runs, key=lambda run: -run.means[metric])[:2]
    if len(runs) < 2 or any(math.isnan(run.means[metric]) for run in runs):
        return {}
    first, second = runs
    below = _below(first, metric) - _below(second, metric)
    lead = first.means[metric] - second.means[metric]
    return {"ahead": first.name, "behind": second.name, "lead": lead, "below": below, "effect": {metric: -below}}


def _below(run: ScoredRun, metric: Metric) -> float:
    judged, known = run.judged(metric), ~np.isnan(run.values[metric])
    weights = np.where(known, run.weights.get(metric, np.ones(len(known))), 0.0)
    whole = math.fsum(weights.tolist())
    if not whole:
        return 0.0
    kept, weight = np.zeros(len(judged), dtype=bool), np.zeros(len(judged))
    kept[run.at[known]] = True
    weight[run.at] = weights / whole
    ranks, _ = by_rank(metric, judged, kept, weight)
    return math.fsum(ranks[RANKS_SEEN + 1 :].tolist())


@finds(rules.ListsEnd)
def _lists_end(case: CheckCase) -> Iterator[Finding]:
    """Find runs that all end at one rank: a warning if another run goes deeper and wins for it."""
    metrics = [m for m in case.metrics if looks_to_the_end(m)]
    ends = {run.name: end for run in case.scored_runs if (end := _end_of(run))} if metrics and case.whole else {}
    if not ends:
        return
    shallow = min(ends.values())
    at = {m: m.having(cutoff=shallow) for m in metrics}
    cut = case.alternatives(at)
    effect = {str(one.metric): one.most[1] for one in cut if one.most[1]}
    names = [name for name, end in ends.items() if end == shallow]
    numbers: dict[str, Any] = {}
    if len(names) < len(case.scored_runs) and effect:
        name, by = max(effect.items(), key=lambda pair: abs(pair[1]))
        numbers = {"change": by, "most_changed": name}
    other = max((one for one in cut if one.winners), key=case.decides, default=None)
    yield rules.ListsEnd.finding(
        runs=names, depth=shallow, metrics=metrics, number=len(metrics), cut=list(at.values()), named=at[metrics[0]],
        serious=bool(other and case.decides(other)) or "change" in numbers, effect=effect, **numbers, **case.other_winner(other),
    )  # fmt: skip


def _end_of(run: ScoredRun) -> int | None:
    """Return the rank at which all lists of a run end, if a relevant document may be below; None otherwise."""
    judged = run.judged()
    lengths = np.unique(judged.retrieved[judged.retrieved > 0]).tolist()
    missed = (judged.grade >= 1) & (judged.rank == 0)
    return lengths[0] if len(lengths) == 1 and lengths[0] < TREC_DEPTH and missed.any() else None


@finds(rules.Ceiling)
def _ceiling(case: CheckCase) -> Iterator[Finding]:
    """Find metrics that the judgments of the averaged queries keep below 1."""
    for metric in case.metrics:
        cutoff, usual = getattr(metric, "cutoff", None), USUAL_DENOMINATORS.get(type(metric).__name__)
        run = case.scored_runs[0]
        several = run.judged(metric).aspects is not None
        if several or cutoff is None or usual is None or getattr(metric, "denominator", None) != usual:
            continue
        best = run.of_lists(metric, lambda lists, metric=metric: metric.score(perfect(lists)))  # type: ignore[misc]
        best = np.where(np.isnan(run.values[metric]), np.nan, best)
        ceiling = run.mean_over(metric, best)
        below = int(((best < 1) & (best > 0)).sum())
        # queries without a relevant document are another problem
        if below and run.mean_over(metric, np.where(best > 0, best, np.nan)) < MAX_CEILING:
            few = isinstance(metric, P)
            yield rules.Ceiling.finding(
                ceiling=ceiling, metric=metric, count=below, few=few, more=not few, cutoff=cutoff, run_shown=run.name,
                value=run.means[metric], share=run.means[metric] / ceiling if ceiling > 0 else None,
                other=metric.having(denominator="min_k_relevant"),
            )  # fmt: skip


@finds(rules.PooledAgainstGrouped)
def _pooled_against_grouped(case: CheckCase) -> Iterator[Finding]:
    metrics = {(m.cutoff, m.level): m for m in case.metrics if isinstance(m, AUC)}
    for (cutoff, level), metric in metrics.items() if case.several else ():
        pooled, grouped = AUC(cutoff=cutoff, level=level, pooled=True), GAUC(cutoff=cutoff, level=level)
        both: list[Metric] = [pooled, grouped]
        known = all(m in case.metrics for m in both)
        means = {m: case.means(m) for m in both} if known else case.evaluated_means(both, metric)
        one = Alternative(pooled, grouped, means[pooled], means[grouped]) if means else None
        if one is not None and one.rivals:
            clear = case.is_clear(grouped, *one.rivals, like=metric)  # a pooled value has no spread over queries
            yield rules.PooledAgainstGrouped.finding(**{"winners" if clear else "leaders": one.winners}, serious=clear)


@finds(rules.OneClass)
def _one_class(case: CheckCase) -> Iterator[Finding]:
    for metric in case.metrics:
        if not isinstance(metric, AUC) or metric.aggregate == "pooled":
            continue
        kernel = metric.having(single_class="skip").score
        defined = {run.name: ~np.isnan(run.of_lists(metric, kernel)) for run in case.scored_runs}
        name = min(defined, key=lambda run: int(defined[run].sum()))
        both, queries = int(defined[name].sum()), len(defined[name])
        if queries and 1 - both / queries > MAJORITY:
            yield rules.OneClass.finding(
                metric=metric, defined=both, total=queries, share=1 - both / queries, count=queries - both,
                run_shown=name if case.several else None,
                single_class=None if metric.single_class == "skip" else metric.single_class,
            )  # fmt: skip
