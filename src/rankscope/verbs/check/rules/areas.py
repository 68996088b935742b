"""Areas under curves: one over all users beside one a user, and users who have none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rankscope.errors import RankscopeError
from rankscope.metrics import AUC, GAUC, Metric
from rankscope.scoring.evaluation import evaluate_request
from rankscope.verbs.check.rules.base import Finding, Rule, counted
from rankscope.verbs.check.rules.derived import turn, values_by

if TYPE_CHECKING:
    from rankscope.verbs.check.rules.case import Case

MOST = 0.5  # of the queries


class PooledAgainstGrouped(Rule, code="RS331"):
    """Pooled AUC and GAUC disagree on which run wins."""

    why = (
        "One curve over all users rewards a model that knows which users click much, even if it orders every user's list badly; GAUC "
        "asks for the order within each list, which is what a ranking is. A pooled AUC of 0.56 can go with a GAUC of 0."
    )
    remedy = "decide by GAUC where lists are ranked for one user at a time; pooled AUC is about calibration across users"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding for each cutoff and level at which an AUC is asked for."""
        metrics = {(m.cutoff, m.level): m for m in case.metrics if isinstance(m, AUC)}
        for (cutoff, level), metric in metrics.items() if len(case.scored_runs) > 1 else ():
            pooled, grouped = AUC(cutoff=cutoff, level=level, pooled=True), GAUC(cutoff=cutoff, level=level)
            means = self._both(case, metric, [pooled, grouped])
            found = turn(means[pooled], means[grouped]) if means else None
            if found is not None:
                yield self.found(
                    f"over all documents and within lists, another run wins: {found.said(str(pooled), str(grouped))}"
                )

    def _both(self, case: Case, asked: Metric, metrics: list[Metric]) -> dict[Metric, dict[str, float]]:
        """The means of both: those that were asked for, or both computed again, with scores."""
        if all(m in case.metrics for m in metrics):
            return {m: {run.name: case.mean(run.name, m) for run in case.scored_runs} for m in metrics}
        call = case.call.with_metrics(*metrics, like=asked).with_policies(weights=None)
        try:
            scores = evaluate_request(
                case.qrels.sound, [(run.name, run.sound) for run in case.comparable], call
            )
        except RankscopeError:
            return {}
        return {m: {mean.run: mean.value for mean in scores.board if mean.metric == m} for m in metrics}


class OneClass(Rule, code="RS332"):
    """Most users have documents of one class only, and no AUC."""

    severity = "information"
    why = (
        "A list in which everything, or nothing, was clicked has no pair to order. Such users are left out of GAUC, which is then "
        "about the few with both; counted as 0, 0.5 or 1 they would make the number."
    )
    remedy = "say how many users the number is about; keep documents that were shown and not clicked in the judgments"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a metric, of the run with fewest users left."""
        for metric in case.metrics:
            if not isinstance(metric, AUC) or metric.aggregate == "pooled":
                continue
            plain = metric.having(single_class="skip")
            left: list[tuple[int, int, str]] = []
            for run in case.scored_runs:
                (values,) = values_by(case, run.name, metric, [plain.score])
                left.append((int((values == values).sum()), len(values), run.name))  # noqa: PLR0124 - NaN is none
            both, queries, name = min(left, key=lambda found: found[0])
            if queries and 1 - both / queries > MOST:
                yield self.found(
                    f"{metric} is about {both:,} of {counted(queries, 'query', 'queries')}: {1 - both / queries:.0%} have retrieved "
                    f"documents of one class only{f' ({name})' if len(case.scored_runs) > 1 else ''}"
                    + ("" if metric.single_class == "skip" else f", and count as {metric.single_class:g}"),
                    count=queries - both,
                )
