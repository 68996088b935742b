"""Which queries there are: missing from a run, without judgments, without anything relevant, none in common."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from rankscope import words
from rankscope.blocks import Caution
from rankscope.engines.base import score
from rankscope.lists import Judged
from rankscope.panels.samples import mean
from rankscope.scoring.runs import RunScores
from rankscope.verbs.check.rules.case import CheckCase
from rankscope.verbs.check.rules.rule import Finding, Rule, changes

MANY_HOPELESS = 0.1  # from this share of queries without a relevant document on it is a warning


def health_cautions(case: CheckCase, run: RunScores | None, code: str) -> list[Caution]:
    """What ``evaluate`` warns of under a code, for one run or for all together."""
    health = {r.name: r.health for r in case.scored_runs if run is None or r.name == run.name}
    return [w for w in case.request.with_metrics(*case.metrics).cautions(health) if w.code == code]


def cost(case: CheckCase, run: RunScores, without: Sequence[str]) -> dict[str, float]:
    """By metric, the mean as it is less the mean without some queries."""
    by_metric = {
        str(metric): case.mean(run.name, metric) - case.mean_over(run.name, metric, without=without)
        for metric in case.metrics
        if metric.aggregate != "sum"
    }
    return {metric: by for metric, by in by_metric.items() if not math.isnan(by)}


def cost_in_words(effect: Mapping[str, float]) -> str:
    """What some queries do to the means, as the end of a message; empty where it is too little to tell."""
    return changes(effect, ": ", " compared with leaving them out")


class MissingQueries(Rule, code="RS101"):
    """A judged query has no ranking in the run."""

    why = (
        "It scores as empty, which is 0 for most metrics, and pulls the mean down. A tool that averages over the queries of the run "
        "leaves it out, and prints a higher number for a system that answered less."
    )
    remedy = "find out why they are missing; --queries both leaves them out, for all runs alike"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run."""
        for run in case.scored_runs:
            missing = sorted(case.evaluation(run.name).missing)
            for caution in health_cautions(case, run, self.code):
                effect = cost(case, run, missing)
                yield self.finding(
                    caution.message + cost_in_words(effect),
                    hint=caution.hint,
                    run=run.name,
                    count=len(missing),
                    effect=effect,
                    queries=missing,
                )
            if missing and case.population in {"run", "both"}:
                yield self._left_out(case, run, missing)

    def _left_out(self, case: CheckCase, run: RunScores, missing: Sequence[str]) -> Finding:
        """Where the policy leaves the missing queries out: what counting them would give."""
        count, effect = run.health.judged_queries, {}
        for m in case.metrics:
            kept = int(np.count_nonzero(~np.isnan(run.values[m])))
            if m.aggregate == "mean" and m.empty == 0 and case.population == "both" and m not in run.weights and kept:
                effect[str(m)] = -case.mean(run.name, m) * len(missing) / (kept + len(missing))
        return self.finding(
            f"{run.name} has no ranking for {words.count(len(missing))} of {words.counted(count, 'judged query')} "
            f"({words.sample(missing)}), left out of the mean" + changes(effect, "; counted as empty: "),
            severity="information",
            run=run.name,
            count=len(missing),
            effect=effect,
            queries=missing,
        )


class ExtraQueries(Rule, code="RS102"):
    """The run ranks queries that have no judgments."""

    severity = "information"
    why = (
        "They are left out of the mean. A tool that averages over the queries of the run counts each as 0, and the number falls "
        "with every unjudged query."
    )
    remedy = "expected where a run covers more than the qrels do; --queries run counts them"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run."""
        for run in case.scored_runs:
            for caution in health_cautions(case, run, self.code):
                effect = self._effect(case, run)
                yield self.finding(
                    caution.message + changes(effect, "; counting them: "),
                    hint=caution.hint,
                    run=run.name,
                    count=run.health.extra_queries,
                    effect=effect,
                    queries=run.health.extra,
                )

    def _effect(self, case: CheckCase, run: RunScores) -> dict[str, float]:
        """What averaging the queries without judgments in would change, where they are left out."""
        if case.population not in {"judged", "both"} or not case.plain or case.request.weights is not None:
            return {}
        table = case.input(run.name).sound.by_query()
        known = case.qrels.query_set
        sizes = [
            n
            for query, n in zip(table.blocks.query.to_list(), table.blocks.size.tolist(), strict=True)
            if query not in known
        ]
        none, whole = np.zeros(len(sizes), dtype=np.int64), np.empty(0, dtype=np.int64)
        empty = Judged([""] * len(sizes), np.array(sizes), none, none, np.empty(0), whole, whole, whole)
        metrics = [m for m in case.metrics if m.aggregate == "mean" and not m.needs]
        out = {}
        for metric, more in zip(metrics, score(empty, metrics), strict=True):
            now = run.values[metric]
            weight = np.append(run.weights.get(metric, np.ones(len(now))), more.weight)
            new = mean(metric, np.append(now, more.value), weight)
            out[str(metric)] = new - case.mean(run.name, metric)
        return {metric: by for metric, by in out.items() if not math.isnan(by)}


class NothingRelevant(Rule, code="RS103"):
    """A judged query has no relevant document."""

    severity = "information"
    why = (
        "Any ranking scores 0 on most metrics, for every system: all means fall by the same factor, and no difference changes its "
        "sign. Tools that leave such queries out, or count them as 1, print another number."
    )
    remedy = "keep them to match trec_eval, or leave them out with --no-relevant skip, and say which"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding for all runs."""
        for caution in health_cautions(case, None, self.code):
            best = case.judgments.group_by("query_id").max()
            hopeless = sorted(best.filter(best["grade"] < 1)["query_id"].to_list())
            hopeless += sorted(case.qrels.query_set.difference(best["query_id"].to_list()))
            count = case.scored_runs[0].health.judged_queries
            effect = cost(case, case.scored_runs[0], hopeless)
            yield self.finding(
                caution.message + cost_in_words(effect),
                hint=self.remedy,
                severity="warning" if len(hopeless) >= MANY_HOPELESS * count else "information",
                count=len(hopeless),
                effect=effect,
                queries=hopeless,
            )


class EmptyRankings(Rule, code="RS106"):
    """A judged query has a ranking without any document."""

    why = "It scores as empty, which is 0 for most metrics. Files cannot hold such a ranking, so a saved run loses the query."
    remedy = "find out why nothing was returned"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run."""
        for run in case.scored_runs:
            for caution in health_cautions(case, run, self.code):
                found = case.evaluation(run.name)
                retrieved = found.judged[0].retrieved
                empty = [
                    q
                    for q, n in zip(found.query_id, retrieved.tolist(), strict=True)
                    if not n and q not in found.missing and q in case.qrels.query_set
                ]
                effect = cost(case, run, empty)
                yield self.finding(
                    caution.message + cost_in_words(effect),
                    run=run.name,
                    count=len(empty),
                    effect=effect,
                    queries=empty,
                )


class NoSharedQuery(Rule, code="RS110"):
    """No query of the run is judged."""

    why = "There is nothing to score, and evaluate stops. A tool that carries on prints 0, or an empty table."
    remedy = "check that run and qrels belong to the same collection, and that their query ids are written alike"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run."""
        for run in case.runs:
            if run not in case.comparable:
                have, want = run.table.queries[:2], case.qrels.table.queries[:2]
                yield self.finding(
                    f"no query of {run.name} is judged: the run has ids like {_quoted(have)}, the qrels {_quoted(want)}",
                    run=run.name,
                    count=len(run.query_set),
                    queries=have,
                )


class NoSharedDocument(Rule, code="RS111"):
    """No judged document is retrieved by the run for any query."""

    why = "Everything retrieved counts as not relevant and the number is 0, which looks like a bad system but measures nothing."
    remedy = "check that the document ids of run and qrels are those of the same collection, written alike"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run."""
        for run in case.scored_runs:
            judged = case.judged(run.name)
            if case.request.policies.depth is not None:  # what stands below it was not looked at
                return
            if len(judged.grade) and not judged.found.sum():
                have = case.input(run.name).sound.frame["doc_id"].head(2).to_list()
                want = case.judgments["doc_id"].head(2).to_list()
                yield self.finding(
                    f"{run.name}: none of {words.counted(len(judged.grade), 'judged document')} is retrieved: the run has ids like "
                    f"{_quoted(have)}, the qrels {_quoted(want)}",
                    run=run.name,
                )


def _quoted(ids: Sequence[str]) -> str:
    return ", ".join(repr(i) for i in ids) or "none"
