"""Which queries there are: missing from a run, without judgments, without anything relevant, none in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rankscope import words
from rankscope.engines.base import score
from rankscope.lists import Judged
from rankscope.metrics import Metric
from rankscope.panels.samples import mean
from rankscope.verbs.check.case import CheckCase, ScoredRun
from rankscope.verbs.check.rule import Finding, Rule

MANY_HOPELESS = 0.1  # from this share of queries without a relevant document on it is a warning
LEFT_OUT = ": {} compared with leaving them out"


class MissingQueries(Rule, code="RS101"):
    """A judged query has no ranking in the run."""

    tail = LEFT_OUT
    why = (
        "It scores as empty, which is 0 for most metrics, and pulls the mean down. A tool that averages over the queries of the run "
        "leaves it out, and prints a higher number for a system that answered less."
    )
    remedy = "find out why they are missing; --queries both leaves them out, for all runs alike"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run."""
        for run in case.scored:
            missing = sorted(run.evaluation.missing)
            for caution in case.cautions(self.code, run):
                effect = run.cost(missing)
                yield self.finding(caution.message, hint=caution.hint, run=run.name, effect=effect, queries=missing)
            if missing and case.convention.queries in {"run", "both"}:
                yield self._left_out(case, run, missing)

    def _left_out(self, case: CheckCase, run: ScoredRun, missing: Sequence[str]) -> Finding:
        """Where the policy leaves the missing queries out: what counting them would give."""
        effect: dict[Metric, float] = {}
        for m in case.metrics:
            kept = int(np.count_nonzero(~np.isnan(run.values[m])))
            counts = m.aggregate == "mean" and m.empty == 0 and m not in run.weights and kept
            if counts and case.convention.queries == "both":
                effect[m] = -run.means[m] * len(missing) / (kept + len(missing))
        judged = words.counted(run.health.judged_queries, "judged query")
        return self.finding(
            f"{run.name} has no ranking for {words.count(len(missing))} of {judged} ({words.sample(missing)}), left out of the mean",
            tail="; counted as empty: {}",
            serious=False,
            run=run.name,
            effect=effect,
            queries=missing,
        )


class ExtraQueries(Rule, code="RS102"):
    """The run ranks queries that have no judgments."""

    severity = "information"
    tail = "; counting them: {}"
    why = (
        "They are left out of the mean. A tool that averages over the queries of the run counts each as 0, and the number falls "
        "with every unjudged query."
    )
    remedy = "expected where a run covers more than the qrels do; --queries run counts them"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run."""
        for run in case.scored:
            for caution in case.cautions(self.code, run):
                yield self.finding(
                    caution.message,
                    hint=caution.hint,
                    run=run.name,
                    count=run.health.extra_queries,
                    effect=self._effect(case, run),
                    queries=run.health.extra,
                )

    def _effect(self, case: CheckCase, run: ScoredRun) -> dict[Metric, float]:
        """What averaging the queries without judgments in would change, where they are left out."""
        if (
            case.convention.queries not in {"judged", "both"}
            or not case.plain
            or case.request.policies.weights is not None
        ):
            return {}
        blocks = run.input.sound.by_query().blocks
        extra = [query not in case.qrels.query_set for query in blocks.query.to_list()]
        sizes = blocks.size[np.array(extra)]
        none, whole = np.zeros(len(sizes), dtype=np.int64), np.empty(0, dtype=np.int64)
        empty = Judged([""] * len(sizes), sizes, none, none, np.empty(0), whole, whole, whole)
        metrics = [m for m in case.metrics if m.aggregate == "mean" and not m.needs]
        out = {}
        for metric, more in zip(metrics, score(empty, metrics), strict=True):
            now = run.values[metric]
            weight = np.append(run.weights.get(metric, np.ones(len(now))), more.weight)
            out[metric] = mean(metric, np.append(now, more.value), weight) - run.means[metric]
        return out


class NothingRelevant(Rule, code="RS103"):
    """A judged query has no relevant document."""

    severity = "information"
    tail = LEFT_OUT
    why = (
        "Any ranking scores 0 on most metrics, for every system: all means fall by the same factor, and no difference changes its "
        "sign. Tools that leave such queries out, or count them as 1, print another number."
    )
    remedy = "keep them to match trec_eval, or leave them out with --no-relevant skip, and say which"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding for all runs."""
        for caution in case.cautions(self.code):
            hopeless = sorted(case.qrels.query_set.difference(case.relevant["query_id"].to_list()))
            first = case.scored[0]
            yield self.finding(
                caution.message,
                serious=len(hopeless) >= MANY_HOPELESS * first.health.judged_queries,
                effect=first.cost(hopeless),
                queries=hopeless,
            )


class EmptyRankings(Rule, code="RS106"):
    """A judged query has a ranking without any document."""

    tail = LEFT_OUT
    why = "It scores as empty, which is 0 for most metrics. Files cannot hold such a ranking, so a saved run loses the query."
    remedy = "find out why nothing was returned"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run."""
        for run in case.scored:
            for caution in case.cautions(self.code, run):
                lengths = zip(run.evaluation.query_id, run.judged().retrieved.tolist(), strict=True)
                known = case.qrels.query_set - run.evaluation.missing
                empty = [query for query, length in lengths if not length and query in known]
                yield self.finding(caution.message, run=run.name, effect=run.cost(empty), queries=empty)


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
        """One finding a run, where nothing below a depth was left out of sight."""
        for run in case.scored if case.whole else ():
            judged = run.judged()
            if len(judged.grade) and not judged.found.sum():
                have, want = (table["doc_id"].head(2).to_list() for table in (run.input.sound.frame, case.judgments))
                yield self.finding(
                    f"{run.name}: none of {words.counted(len(judged.grade), 'judged document')} is retrieved: the run has ids like "
                    f"{_quoted(have)}, the qrels {_quoted(want)}",
                    run=run.name,
                )


def _quoted(ids: Sequence[str]) -> str:
    return ", ".join(map(repr, ids)) or "none"
