"""Everything a rule may look at: the input with its faults, the numbers it gives, and what was said about it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from rankscope.engines.base import Order, score
from rankscope.engines.orders import scored
from rankscope.engines.top import top
from rankscope.errors import InputError, RankscopeError
from rankscope.lists import Array, Judged
from rankscope.metrics import Metric
from rankscope.panels.samples import mean
from rankscope.scoring.evaluation import RunEvaluation, evaluate_request
from rankscope.scoring.inputs import clean, one_order
from rankscope.scoring.request import Request
from rankscope.scoring.scores import RunScores, Scores
from rankscope.tables import Qrels, Run
from rankscope.verbs.check.rules.given import Given, Said


@dataclass(frozen=True, eq=False)
class Case:
    """One call of ``check``: what was given, and on demand what it gives.

    ``qrels`` and ``runs`` are as read. ``scores`` are evaluated over what is sound in them, the first of repeated documents kept,
    for the metrics that can be computed and the runs that share a query with the qrels; ``refused`` has what could not be computed.
    ``kept`` is where rules that share something costly keep it.
    """

    qrels: Given[Qrels]
    runs: Sequence[Given[Run]]
    call: Request
    said: Said = field(default_factory=Said)
    kept: dict[str, Any] = field(default_factory=dict)

    # --- what evaluates ------------------------------------------------------------------------------

    @cached_property
    def comparable(self) -> list[Given[Run]]:
        """The runs that share a query with the qrels."""
        return [run for run in self.runs if run.query_set & self.qrels.query_set]

    @cached_property
    def _attempt(self) -> tuple[Scores | None, dict[str, str]]:
        """The scores, and by metric why it could not be computed."""
        if not self.comparable:
            return None, {}
        try:
            return self._evaluate(self.call), {}
        except RankscopeError as error:
            if len(self.call.asked) == 1:
                return None, {self.call.asked[0].said: str(error)}
        refused: dict[str, str] = {}
        kept = []
        for asked in self.call.asked:
            try:
                self._evaluate(replace(self.call, asked=[asked]))
                kept.append(asked)
            except RankscopeError as error:
                refused[asked.said] = str(error)
        if not kept:
            return None, refused
        try:
            return self._evaluate(replace(self.call, asked=kept)), refused
        except RankscopeError as error:  # metrics that go alone and not together
            return self._evaluate(replace(self.call, asked=kept[:1])), refused | {
                a.said: str(error) for a in kept[1:]
            }

    def _evaluate(self, call: Request) -> Scores:
        return evaluate_request(self.qrels.sound, [(run.name, run.sound) for run in self.comparable], call)

    @property
    def scores(self) -> Scores | None:
        """The scores; None where no metric could be computed or no run shares a query with the qrels."""
        return self._attempt[0]

    @property
    def refused(self) -> Mapping[str, str]:
        """By metric, as it was asked for, why ``evaluate`` refuses to compute it."""
        return self._attempt[1]

    @property
    def scored_runs(self) -> Sequence[RunScores]:
        """The runs with their values (``run.values[metric]``, one a query of ``run.query_ids``) and health; none where nothing could be scored."""
        return self.scores.runs if self.scores else ()

    @property
    def metrics(self) -> Sequence[Metric]:
        """The metrics asked for that could be computed."""
        return self.scores.metrics if self.scores else ()

    @property
    def population(self) -> str:
        """Which queries are averaged, as in ``evaluate``."""
        return self.call.asked[0].convention.queries

    @property
    def ties(self) -> str:
        """How equal scores are ordered, as in ``evaluate``."""
        return self.call.asked[0].convention.ties

    @property
    def plain(self) -> bool:
        """Whether values are as metrics give them: no policy for queries without relevant documents, or with nothing found."""
        conventions = [a.convention for a in self.call.asked]
        return all(c.no_relevant == "metric" and c.nothing_found == "metric" for c in conventions)

    @property
    def cutoff(self) -> int:
        """The cutoff of interest: of those asked for the one nearest to 10."""
        return min(self.call.cutoffs, key=lambda k: (abs(k - 10), k))

    def again(
        self,
        run: Given[Run],
        *,
        table: Run | None = None,
        grades: Qrels | None = None,
        ties: Any = None,
        **policy: Any,
    ) -> dict[Metric, float]:
        """The means of a run with another run or qrels ``table``, ``ties`` or ``policy`` for rows; empty where there are none.

        It is judged and scored again, so this is for what was found, not for looking.
        """
        asked = list(self.call.asked)
        if self.scores is not None:
            asked = [a for a in asked if a.metric in set(self.metrics)]
        if ties is not None:
            asked = [replace(a, convention=replace(a.convention, ties=ties)) for a in asked]
        call = replace(self.call, asked=asked, policy=replace(self.call.policy, **policy))
        try:
            new = evaluate_request(grades or self.qrels.sound, [(run.name, table or run.sound)], call)
        except RankscopeError:
            return {}
        return {m.metric: m.value for m in new.board if not math.isnan(m.value)}

    def change(self, run: Given[Run], **other: Any) -> dict[str, float]:
        """By metric, how far the mean of a run would move under what ``again`` takes; empty where it has none now."""
        if self.scores is None or run not in self.comparable:
            return {}
        old = {m.metric: m.value for m in self.scores.board if m.run == run.name}
        new = self.again(run, **other)
        return {str(m): v - old[m] for m, v in new.items() if m in old and not math.isnan(old[m])}

    # --- below the values ----------------------------------------------------------------------------

    def given(self, name: str) -> Given[Run]:
        """The run of this name, as it was given."""
        return next(run for run in self.runs if run.name == name)

    def found(self, name: str) -> RunEvaluation:
        """What ``evaluate`` found for a run: its judged documents by metric, and values of all queries."""
        assert self.scores is not None
        names = [run.name for run in self.scores.runs]
        return self.scores.found[names.index(name)]

    def judged(self, name: str) -> Judged:
        """The judged documents of a run, in the order of the first metric asked for; queries as in ``found(name).query_id``."""
        return self.found(name).judged[0]

    def mean(self, name: str, metric: Metric) -> float:
        """The mean of a metric, as ``evaluate`` prints it."""
        assert self.scores is not None
        return next(m.value for m in self.scores.board if m.run == name and m.metric == metric)

    def mean_over(self, name: str, metric: Metric, values: Array | None = None, without: Any = ()) -> float:
        """The mean of a metric over other ``values`` of its queries (its own unless given), or ``without`` some queries.

        NaN for a metric whose mean is made of the documents of all queries together (``pooled``).
        """
        run = next(r for r in self.scored_runs if r.name == name)
        if metric.aggregate == "pooled":
            return math.nan
        left = set(without)
        kept = np.array([query not in left for query in run.query_ids], dtype=bool)
        value = run.values[metric] if values is None else values
        weight = run.weights.get(metric, np.ones(len(value)))
        return mean(metric, value[kept], weight[kept])

    def also(self, name: str, metrics: Sequence[Metric]) -> list[Array]:
        """The values that other metrics have for a run, one a query of ``scored_runs``' ``query_ids``: nothing is read or judged again.

        A metric must not need more of the judgments (aspects, scores) than those asked for. Ties are as asked for.
        """
        judged = self._shown(name)
        return [v.value for v in scored(judged, metrics, self.ties, self.call.depth, self.call.seed)]

    def under(self, name: str, ties: str, metrics: Sequence[Metric]) -> list[Array]:
        """Values of metrics by query under another tie policy: ``expected``, ``best`` or ``worst``."""
        judged = self._shown(name)
        return [v.value for v in scored(judged, metrics, ties, self.call.depth, self.call.seed)]

    def plainly(self, name: str, metrics: Sequence[Metric]) -> list[Array]:
        """Values of metrics by query with ties as the engine ordered them."""
        return [v.value for v in score(self._shown(name), metrics)]

    def _shown(self, name: str) -> Judged:
        run, found = next(r for r in self.scored_runs if r.name == name), self.found(name)
        if len(run.query_ids) == len(found.query_id):
            return found.judged[0]
        number = {query: i for i, query in enumerate(found.query_id)}
        return found.judged[0].of(np.array([number[q] for q in run.query_ids], dtype=np.int64))

    def top(self, name: str, k: int | None = None) -> pl.DataFrame:
        """The documents of a run in the top k (``cutoff`` unless given): ``query_id``, ``doc_id`` and the 1-based ``rank``.

        They are those that were scored: in the same order, cut at the same depth, repeated ones and self-matches handled alike.
        Under all orders of equal scores, and for a run that cannot be ordered as asked, the order is trec_eval's. Queries
        without judgments are there, too.
        """
        k = self.cutoff if k is None else k
        if (name, k) not in self._tops:
            self._tops[name, k] = self._top(name, k)
        return self._tops[name, k]

    def _top(self, name: str, k: int) -> pl.DataFrame:
        run = clean(self.given(name).sound, self.call.policy, "run").data
        asked = self.call.asked[0]
        try:
            return top(run, Order(one_order(asked.convention.ties, asked.metric), self.call.depth), k, name)
        except InputError:
            return top(run, Order(depth=self.call.depth), k, name)

    @cached_property
    def _tops(self) -> dict[tuple[str, int], pl.DataFrame]:
        return {}

    @cached_property
    def judgments(self) -> pl.DataFrame:
        """The sound judgments: ``query_id``, ``doc_id``, ``grade``; one row a pair, the first of repeated ones."""
        frame = self.qrels.sound.frame.select("query_id", "doc_id", "grade")
        if not len(self.qrels.sound.repeated):
            return frame
        return frame.unique(["query_id", "doc_id"], keep="first", maintain_order=True)

    @cached_property
    def unjudged_top(self) -> dict[str, pl.DataFrame]:
        """By run, the documents in the top ``cutoff`` of judged queries that are not in the qrels."""
        out = {}
        for run in self.scored_runs:
            top = self.top(run.name).filter(pl.col("query_id").is_in(list(self.qrels.query_set)))
            out[run.name] = top.join(self.judgments, on=["query_id", "doc_id"], how="anti")
        return out
