"""Metrics against the data: conventions side by side, ideals, sums, cutoffs and averages that mislead."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from rankscope import words
from rankscope.declared import parameters, plain
from rankscope.lists.rectangle import perfect
from rankscope.metrics import AUC, CG, DCG, GAUC, LAUC, IdealDCG, Metric, P, nDCG
from rankscope.scoring.bands import by_rank
from rankscope.verbs.check.case import Alternative, CheckCase, ScoredRun
from rankscope.verbs.check.rule import Finding, Rule

CONVENTIONS = ("gain", "ideal", "denominator", "discount")
RETURNED = {  # the ideals and denominators that make a metric be out of what was returned
    "retrieved_topk", "retrieved_all", "judged_at_returned",
    "hits_at_k", "positives_in_list", "min_k_positives_in_list", "min_k_listlen", "min_relevant_listlen",
}  # fmt: skip
RICH = 0.1  # the richest tenth of the queries
APART = 1.5  # so many times what the poorest query has to give, and queries are not alike
FEWEST = 2  # fewer queries say nothing about what is the same for all
SEEN = 10  # the ranks that most readers see
WEIGHTY = 0.5  # of the weight below them
TREC_DEPTH = 1000  # lists that end there or deeper were not cut on purpose
NEAR = 0.95  # a ceiling this near to 1 is none
MOST = 0.5  # of the queries
USUAL = {"P": "k", "R": "relevant", "AP": "relevant"}  # the denominators that keep a metric below 1


class SeveralCutoffs(Rule, code="RS311", severity="information"):
    """nDCG is reported at several cutoffs."""

    why = (
        "The ideal ranking is cut at k, too, so the value at a larger k may be higher or lower with nothing gained or lost: each k is a "
        "different yardstick. nDCG@5 of one run cannot be compared with nDCG@10 of another."
    )
    remedy = "compare runs at one k, and name it; do not compare one run across cutoffs"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        alike: dict[Metric, list[Metric]] = {}
        for metric in case.metrics:
            if isinstance(metric, nDCG):
                fixed = 1 if metric.ideal in {"full_k", "max_grade_k"} else None
                alike.setdefault(metric.having(cutoff=fixed), []).append(metric)
        for metrics in alike.values():
            run = case.scored_runs[0]
            if len(metrics) > 1 and not any(math.isnan(run.means[m]) for m in metrics):
                means = words.listing([f"{m} {words.number(run.means[m], digits=4)}" for m in metrics], most=4)
                yield self.finding(
                    f"each cutoff has an ideal of its own ({run.name}: {means}): compare runs at one cutoff, not one run across cutoffs",
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
        for cls in dict.fromkeys(map(type, case.metrics)):
            metrics = [m for m in case.metrics if type(m) is cls]
            known = [name for name in CONVENTIONS if name in parameters(cls)]
            differing = [name for name in known if len({getattr(m, name) for m in metrics}) > 1]
            if not differing:
                continue
            run = case.scored_runs[0]
            one = {tuple(getattr(m, name) for name in differing): m for m in reversed(metrics)}
            first, *others = sorted(one.values(), key=metrics.index)
            values = [f"{m} is {words.number(run.means[m], digits=4)}" for m in (first, *others)]
            alike = [m for m in others if getattr(m, "cutoff", None) == getattr(first, "cutoff", None)]
            message = f"{cls.__name__} is computed with different {words.listing(differing)}: for {run.name} {words.listing(values, most=4)}"
            yield self.finding(message, count=len(one), effect={m: run.means[m] - run.means[first] for m in alike})


class OutOfReturned(Rule, code="RS313"):
    """A metric divides by what was retrieved, not by all that was judged."""

    why = (
        "With an ideal (or a denominator) made of retrieved documents, what was missed never costs anything: a run that returns one "
        "good document and stops scores 1, and returning less can score better."
    )
    remedy = "use the ideal of all judged documents (the usual one), and divide by all known relevant ones"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        for one in case.alternatives({m: other for m in case.metrics if (other := out_of_all(m))}):
            name, by = one.most
            yield self.finding(
                f"{one.metric} divides by what was retrieved: {name} scores {words.number(one.now[name], digits=4)}, but "
                f"{words.number(one.then[name], digits=4)} out of all judged documents{case.another_wins(one)}",
                run=name if case.several else None, effect={one.metric: by},
                hint=f"use {one.other}; rankscope reconcile tells which tools compute the other",
            )  # fmt: skip


def out_of_all(metric: Metric) -> Metric | None:
    """The metric out of all that is judged, where this one is out of what was retrieved; None where it is not."""
    names = [name for name in ("ideal", "denominator") if getattr(metric, name, None) in RETURNED]
    changed = {name: "judged" if name == "ideal" else getattr(type(metric), name) for name in names}
    return metric.having(**changed) if changed else None


class NotNormalised(Rule, code="RS314", severity="information"):
    """A sum of gains is averaged over queries without being normalised."""

    why = (
        "DCG grows with the number of relevant documents that a query has. Its mean depends on the few queries that have many; a run "
        "that is better on those is ahead, whatever it does on the rest."
    )
    remedy = "report nDCG, which divides every query by what it could give"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a metric, where queries differ in what they have to give; a warning where nDCG names another winner."""
        metrics = [m for m in case.metrics if isinstance(m, CG | DCG) and not isinstance(m, IdealDCG | nDCG)]
        for one in case.alternatives({m: _ndcg_like(m) for m in metrics}):
            run = case.scored_runs[0]
            best, value = run.of_lists(one.metric, _ndcg_like(one.metric).worth), run.values[one.metric]
            kept = ~np.isnan(value) & (best > 0)
            best, value = best[kept], value[kept]
            whole = math.fsum(value.tolist())
            if len(best) < FEWEST or best.max() < APART * best.min() or not whole > 0:
                continue
            number = max(1, round(RICH * len(best)))
            share = math.fsum(value[np.argsort(-best, kind="stable")[:number]].tolist()) / whole
            richest = "richest" if number == 1 else f"{words.count(number)} richest"
            message = (
                f"{one.metric} is not normalised: the {richest} of {words.counted(len(best), 'query')} "
                f"{words.agree(number, 'holds')} {words.share(share)} of its sum ({run.name}){case.another_wins(one)}"
            )
            yield self.finding(message, serious=case.decides(one), count=number, hint=f"report {one.other}")


def _ndcg_like(metric: Metric) -> nDCG:
    known = {name: getattr(metric, name) for name in ("cutoff", "gain", "judged_only")}
    return nDCG(**known, discount=getattr(metric, "discount", "none"))


class Constant(Rule, code="RS315", severity="information"):
    """A metric has the same value for every query."""

    why = (
        "A metric that is 0 (or 1) everywhere cannot tell this run from a worse (or better) one. All zeros usually mean that ids or "
        "grades do not match, not that the system finds nothing."
    )
    remedy = "if all are 0, compare the ids of run and qrels, and the level; else choose a metric that still varies"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        for run in case.scored_runs:
            constant: dict[Metric, float] = {}
            for m in case.metrics:
                known = run.values[m][~np.isnan(run.values[m])]
                tells = m.better != "neither" and m.relevance != "none"
                if tells and len(known) >= FEWEST and np.ptp(known) == 0:
                    constant[m] = float(known[0])
            zero = [m for m, value in constant.items() if value == 0 and m.better == "higher"]
            if zero:
                queries = words.counted(int((~np.isnan(run.values[zero[0]])).sum()), "query")
                yield self.finding(
                    f"{run.name}: {words.listing(zero, most=4)} {words.agree(len(zero), 'is')} 0 for all {queries}",
                    serious=True, run=run.name, count=len(zero),
                    hint="check that ids and grades of run and qrels match, and that the cutoff is deep enough",
                )  # fmt: skip
            rest = [m for m in constant if m not in zero]
            if rest:
                values = words.listing([f"{m} is {plain(round(constant[m], 4))}" for m in rest], most=4)
                low, high = rest[0].range
                best = constant[rest[0]] == (high if rest[0].better == "higher" else low)
                yield self.finding(
                    f"{run.name}: {values} for every query, and cannot tell it from a {'better' if best else 'different'} run",
                    run=run.name, count=len(rest),
                    hint="choose a metric that still varies: a smaller cutoff, or one that sees order and grades",
                )  # fmt: skip


class DeepCutoff(Rule, code="RS321", severity="information"):
    """Most of the metric's weight lies below rank 10."""

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
            deepest = max(int(run.judged().retrieved.max(initial=1)) for run in case.scored_runs)
            depth = int(getattr(metric, "cutoff", None) or deepest)
            share = weight_below(metric, depth)
            if share > WEIGHTY:
                lead, effect = self._lead(case, metric)
                yield self.finding(
                    f"{words.share(share)} of the weight of {metric} (to rank {words.count(depth)}) lies below rank {SEEN}{lead}",
                    effect=effect, hint=f"report {metric.having(cutoff=SEEN)} beside it, if readers see ten results",
                )  # fmt: skip

    def _lead(self, case: CheckCase, metric: Metric) -> tuple[str, dict[Metric, float]]:
        runs = sorted(case.scored_runs, key=lambda run: -run.means[metric])[:2]
        if len(runs) < 2 or any(math.isnan(run.means[metric]) for run in runs):
            return "", {}
        one, other = runs
        by = _below(one, metric) - _below(other, metric)
        lead = words.number(one.means[metric] - other.means[metric], digits=4)
        part = words.number(by, sign=True, digits=4)
        return f"; {one.name} is ahead of {other.name} by {lead}, of which {part} comes from there", {metric: -by}


def weight_below(metric: DCG, depth: int) -> float:
    """The share of a discount's weight that lies below rank 10, down to a depth.

    >>> from rankscope.metrics import nDCG
    >>> round(weight_below(nDCG @ 100, 100), 2)
    0.78
    """
    weight = metric.discounts(np.arange(1, depth + 1)).tolist()
    whole = math.fsum(weight)
    return math.fsum(weight[SEEN:]) / whole if whole else 0.0


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
    return math.fsum(ranks[SEEN + 1 :].tolist())


class ListsEnd(Rule, code="RS322", severity="information"):
    """A metric has no cutoff, and the lists were cut."""

    why = (
        "AP of lists that end at rank 100 is AP@100 by another name: relevant documents below count as never found, and a run that "
        "was saved to rank 1000 beats one that was saved to 100 for that reason alone."
    )
    remedy = "name the cutoff, as in AP@100, and cut all runs at the same rank"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding for all runs that end at one rank, a warning where another run goes deeper and wins for it."""
        metrics = [m for m in case.metrics if _endless(m)]
        ends = {run.name: end for run in case.scored_runs if (end := _end_of(run))} if metrics and case.whole else {}
        if not ends:
            return
        shallow = min(ends.values())
        at = {m: m.having(cutoff=shallow) for m in metrics}
        cut = case.alternatives(at)
        effect = {str(one.metric): one.most[1] for one in cut if one.most[1]}
        names = [name for name, end in ends.items() if end == shallow]
        message = (
            f"all lists of {words.listing(names, most=4)} end at rank {words.count(shallow)}, so that "
            f"{words.listing(metrics, most=4)} {words.agree(len(metrics), 'is')} {words.listing(at.values(), most=4)} there"
        )
        if len(names) < len(case.scored_runs) and effect:
            name, by = max(effect.items(), key=lambda pair: abs(pair[1]))
            message += f"; cutting all runs there: up to {words.number(by, sign=True, digits=3)} {name}"
        other = max((one for one in cut if one.winners), key=case.decides, default=None)
        winners = "" if other is None else case.another_wins(other)
        hint = f"name the cutoff: {at[metrics[0]]}"
        yield self.finding(message + winners, serious=bool(other and case.decides(other)), effect=effect, hint=hint)


def _endless(metric: Metric) -> bool:
    return (
        "cutoff" in parameters(type(metric))
        and getattr(metric, "cutoff", None) is None
        and metric.positions
        and metric.better != "neither"
        and not metric.counts_ties
        and metric.aggregate in {"mean", "geometric"}
        and not isinstance(metric, LAUC)
    )


def _end_of(run: ScoredRun) -> int | None:
    """The rank at which all lists of a run end, where something relevant may stand below; None where they do not."""
    judged = run.judged()
    lengths = np.unique(judged.retrieved[judged.retrieved > 0]).tolist()
    missed = (judged.grade >= 1) & (judged.rank == 0)
    return lengths[0] if len(lengths) == 1 and lengths[0] < TREC_DEPTH and missed.any() else None


class Ceiling(Rule, code="RS323", severity="information"):
    """No ranking can reach 1, as queries have fewer relevant documents than k, or more."""

    why = (
        "P@10 of a query with 3 relevant documents is at most 0.3; R@10 and AP@10 of one with 50 are at most 0.2. A value near the "
        "ceiling is as good as it gets, and queries with a low ceiling hardly count in the mean."
    )
    remedy = "read the value as a share of the ceiling, or divide by what can be reached: denominator='min_k_relevant'"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a metric that the judgments keep below 1, from the judgments of the queries averaged."""
        for metric in case.metrics:
            cutoff, usual = getattr(metric, "cutoff", None), USUAL.get(type(metric).__name__)
            run = case.scored_runs[0]
            several = run.judged(metric).aspects is not None
            if several or cutoff is None or usual is None or getattr(metric, "denominator", None) != usual:
                continue
            best = run.of_lists(metric, lambda lists, metric=metric: metric.score(perfect(lists)))  # type: ignore[misc]
            best = np.where(np.isnan(run.values[metric]), np.nan, best)
            ceiling = run.mean_over(metric, best)
            below = int(((best < 1) & (best > 0)).sum())
            # queries without a relevant document are another matter
            if not below or not run.mean_over(metric, np.where(best > 0, best, np.nan)) < NEAR:
                continue
            value = run.means[metric]
            share = f"{words.share(value / ceiling)} of it" if ceiling > 0 else ""
            few = "too few relevant documents for" if isinstance(metric, P) else "more relevant documents than"
            yield self.finding(
                f"even a perfect ranking scores {words.number(ceiling, digits=4)} on {metric}: "
                f"{words.counted(below, 'query has', 'queries have')} {few} {cutoff} ranks"
                + (f"; {run.name} reaches {words.number(value, digits=4)}, {share}" if share else ""),
                count=below, hint=f"use {metric.having(denominator='min_k_relevant')}, or compare runs only",
            )  # fmt: skip


class PooledAgainstGrouped(Rule, code="RS331"):
    """Pooled AUC and GAUC disagree on which run wins."""

    why = (
        "One curve over all users rewards a model that knows which users click a lot, even if it orders every user's list badly; GAUC "
        "looks at the order within each list, which is what a ranking is. A pooled AUC of 0.56 can go with a GAUC of 0."
    )
    remedy = "decide by GAUC where each list is for one user; pooled AUC is about calibration across users"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        metrics = {(m.cutoff, m.level): m for m in case.metrics if isinstance(m, AUC)}
        for (cutoff, level), metric in metrics.items() if case.several else ():
            pooled, grouped = AUC(cutoff=cutoff, level=level, pooled=True), GAUC(cutoff=cutoff, level=level)
            both: list[Metric] = [pooled, grouped]
            known = all(m in case.metrics for m in both)
            means = {m: case.means(m) for m in both} if known else case.evaluated_means(both, metric)
            found = Alternative(pooled, grouped, means[pooled], means[grouped]) if means else None
            if found is not None and found.rivals:
                clear = case.is_clear(grouped, *found.rivals, like=metric)  # a pooled value has no spread over queries
                message = f"over all documents and within lists, another run {'wins' if clear else 'is ahead'}: {found.winners}"
                yield self.finding(message, serious=clear)


class OneClass(Rule, code="RS332", severity="information"):
    """Most users have documents of one class only, so they have no AUC."""

    why = (
        "A list in which everything, or nothing, was clicked has no pair to order. Such users are left out of GAUC, which is then "
        "about the few with both; counted as 0, 0.5 or 1 they would decide the number."
    )
    remedy = "report how many users the number is about; keep what was shown and not clicked in the judgments"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        for metric in case.metrics:
            if not isinstance(metric, AUC) or metric.aggregate == "pooled":
                continue
            kernel = metric.having(single_class="skip").score
            defined = {run.name: ~np.isnan(run.of_lists(metric, kernel)) for run in case.scored_runs}
            name = min(defined, key=lambda run: int(defined[run].sum()))
            both, queries = int(defined[name].sum()), len(defined[name])
            if queries and 1 - both / queries > MOST:
                yield self.finding(
                    f"{metric} is about {words.count(both)} of {words.counted(queries, 'query')}: {words.share(1 - both / queries)} "
                    f"have retrieved documents of one class only{f' ({name})' if case.several else ''}"
                    + ("" if metric.single_class == "skip" else f", and count as {words.amount(metric.single_class)}"),
                    count=queries - both,
                )
