"""Everything a rule may look at: the input with its faults, the numbers it gives, and what the caller states about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import polars as pl

from rankscope.blocks import Caution
from rankscope.engines.base import Order, mapped
from rankscope.engines.orders import scored
from rankscope.engines.top import top
from rankscope.errors import InputError, RankscopeError
from rankscope.files.texts import Texts, texts_of
from rankscope.lists import Array, Judged, Lists
from rankscope.metrics import Metric
from rankscope.panels.doubts import doubts_of
from rankscope.panels.families import Family, pairs_of
from rankscope.panels.method import method_of
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure, mean
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.inputs import clean, one_order
from rankscope.scoring.measurements import CUTOFFS, panels_of
from rankscope.scoring.request import Request
from rankscope.scoring.rescore import places_of, rescored
from rankscope.scoring.runs import RunEvaluation, RunScores
from rankscope.scoring.scores import Scores
from rankscope.tables import Qrels, Run
from rankscope.verbs.check.rules.interactions import interactions_of

TableT = TypeVar("TableT", Run, Qrels)

EXAMPLES = 5  # queries, documents and places that a finding names


@dataclass(frozen=True, eq=False)
class InputTable(Generic[TableT]):
    """A run or qrels: the ``table`` as it was read, with its faults and repeated rows, under the ``name`` that messages use."""

    name: str
    table: TableT

    @cached_property
    def sound(self) -> TableT:
        """The table without what cannot be scored: faulty lines, NaN scores, infinite grades. Repeated rows stay."""
        table = self.table
        if len(table.nan_rows):
            table = table._having(table.frame[self._kept])
            lines, kept = table.source.line_of, self._kept
            if lines is not None:
                table = replace(table, source=replace(table.source, line_of=lambda row: lines(int(kept[row]))))
        if table.source.faults:
            cached = {k: v for k, v in table.__dict__.items() if k in {"blocks", "repeated", "queries"}}
            table = replace(table, source=replace(table.source, faults=()))
            table.__dict__.update(cached)
        return table

    @cached_property
    def _kept(self) -> Array:
        """The rows of ``table`` that are rows of ``sound``."""
        return np.delete(np.arange(self.table.frame.height), self.table.nan_rows)

    def places(self, rows: Array, *, of_sound: bool = True) -> list[str]:
        """Where the first of some rows stand in the file, and what they are: ``bm25.run line 7: document d1 of query q2``.

        Rows are those of ``sound``, or those of ``table`` as it was read.
        """
        at = (self._kept[rows[:EXAMPLES]] if of_sound else rows[:EXAMPLES]).tolist()
        frame, source = self.table.frame, self.table.source
        return [f"{source.at(row)}: document {frame['doc_id'][row]} of query {frame['query_id'][row]}" for row in at]

    @cached_property
    def query_set(self) -> frozenset[str]:
        """The ids of all queries."""
        return frozenset(self.table.queries)


@dataclass(frozen=True, eq=False)
class Background:
    """What the caller states about the data, for the rules that need it.

    ``scale`` holds the lowest and the highest grade; ``train`` (the interactions that a recommender was trained on) and ``texts``
    (of documents) are as they were given, and read where a rule looks at them.
    """

    scale: tuple[float, float] | None = None
    train: Any = None
    texts: Any = None

    @cached_property
    def interactions(self) -> pl.DataFrame:
        """The training interactions: ``query_id`` (the user), ``doc_id`` (the item), ``time``; read when first needed."""
        return interactions_of(self.train)


@dataclass(frozen=True, eq=False)
class CheckCase:
    """One call of ``check``: its input, and on demand the numbers it gives.

    ``qrels`` and ``runs`` are as read. ``scores`` are evaluated over what is sound in them, the first of repeated documents kept,
    for the metrics that can be computed and the runs that share a query with the qrels; ``refused`` has what could not be computed.
    """

    qrels: InputTable[Qrels]
    runs: Sequence[InputTable[Run]]
    request: Request
    background: Background = field(default_factory=Background)

    # --- what evaluates ------------------------------------------------------------------------------

    @cached_property
    def comparable(self) -> list[InputTable[Run]]:
        """The runs that share a query with the qrels."""
        return [run for run in self.runs if run.query_set & self.qrels.query_set]

    @cached_property
    def _attempt(self) -> tuple[Scores | None, dict[str, str]]:
        """The scores, and by metric why it could not be computed."""
        if not self.comparable:
            return None, {}
        try:
            return self._evaluate(self.request), {}
        except RankscopeError as error:
            if len(self.request.metrics) == 1:
                return None, {self.request.metrics[0].spelling: str(error)}
        refused: dict[str, str] = {}
        kept = []
        for asked in self.request.metrics:
            try:
                self._evaluate(replace(self.request, metrics=(asked,)))
                kept.append(asked)
            except RankscopeError as error:
                refused[asked.spelling] = str(error)
        if not kept:
            return None, refused
        try:
            return self._evaluate(self.request.with_metrics(*kept)), refused
        except RankscopeError as error:  # metrics that go alone and not together
            return self._evaluate(self.request.with_metrics(*kept[:1])), refused | {
                a.spelling: str(error) for a in kept[1:]
            }

    def _evaluate(self, request: Request) -> Scores:
        return evaluate_request(self.qrels.sound, [(run.name, run.sound) for run in self.comparable], request)

    @property
    def scores(self) -> Scores | None:
        """The scores; None where no metric could be computed or no run shares a query with the qrels."""
        return self._attempt[0]

    @property
    def refused(self) -> Mapping[str, str]:
        """By metric, as the caller spelled it, why ``evaluate`` refuses to compute it."""
        return self._attempt[1]

    @property
    def scored_runs(self) -> Sequence[RunScores]:
        """The runs with their values (``run.values[metric]``, one a query of ``run.query_ids``) and health; none where nothing could be scored."""
        return self.scores.runs if self.scores else ()

    @property
    def metrics(self) -> Sequence[Metric]:
        """The metrics of the request that could be computed."""
        return self.scores.metrics if self.scores else ()

    @property
    def population(self) -> str:
        """Which queries are averaged, as in ``evaluate``."""
        return self.request.metrics[0].convention.queries

    @property
    def ties(self) -> str:
        """How equal scores are ordered, as in ``evaluate``."""
        return self.request.metrics[0].convention.ties

    @property
    def plain(self) -> bool:
        """Whether values are as metrics give them: no policy for queries without relevant documents, or with nothing found."""
        conventions = [a.convention for a in self.request.metrics]
        return all(c.no_relevant == "metric" and c.nothing_found == "metric" for c in conventions)

    @property
    def cutoff(self) -> int:
        """The cutoff of interest: of those of the metrics the one nearest to 10."""
        return min(self.request.cutoffs, key=lambda k: (abs(k - 10), k))

    # --- a run and its numbers -----------------------------------------------------------------------

    def input(self, name: str) -> InputTable[Run]:
        """The run of this name, as it was read."""
        return next(run for run in self.runs if run.name == name)

    def run(self, name: str) -> RunScores:
        """The values of a run that was scored."""
        return next(run for run in self.scored_runs if run.name == name)

    def evaluation(self, name: str) -> RunEvaluation:
        """What ``evaluate`` knows of a run: its judged documents by metric, and values of all queries."""
        assert self.scores is not None
        return self.scores.evaluations[[run.name for run in self.scores.runs].index(name)]

    def judged(self, name: str, metric: Metric | None = None) -> Judged:
        """The judged documents of a run as a metric sees them (the first metric unless named); queries as in ``evaluation(name).query_id``."""
        assert self.scores is not None
        return self.evaluation(name).judged[0 if metric is None else self.scores.request.place(metric)]

    def places(self, name: str) -> Array:
        """Where the queries of a run that are averaged for some metric stand among all of its ``evaluation``."""
        return places_of(self.run(name).query_ids, self.evaluation(name))

    def mean(self, name: str, metric: Metric) -> float:
        """The mean of a metric, as ``evaluate`` prints it."""
        assert self.scores is not None
        return next(m.value for m in self.scores.board if m.run == name and m.metric == metric)

    def means(self, metric: Metric) -> dict[str, float]:
        """By run, the mean of a metric."""
        return {run.name: self.mean(run.name, metric) for run in self.scored_runs}

    def mean_over(self, name: str, metric: Metric, values: Array | None = None, without: Any = ()) -> float:
        """The mean of a metric over other ``values`` of its queries (its own unless given), or ``without`` some queries.

        NaN for a metric whose mean is made of the documents of all queries together (``pooled``).
        """
        run = self.run(name)
        if metric.aggregate == "pooled":
            return math.nan
        left = set(without)
        kept = np.array([query not in left for query in run.query_ids], dtype=bool)
        value = run.values[metric] if values is None else values
        weight = run.weights.get(metric, np.ones(len(value)))
        return mean(metric, value[kept], weight[kept])

    def values(self, name: str, metrics: Sequence[Metric], ties: str = "") -> list[Array]:
        """The values that other metrics, or another tie policy, have for a run: nothing is read or judged again.

        One value a query of ``run(name).query_ids``. A metric must need no more of the judgments (aspects, scores) than those
        of the request.
        """
        judged, at, policies = self.judged(name), self.places(name), self.request.policies
        judged = judged if len(at) == len(judged) else judged.of(at)
        return [v.value for v in scored(judged, metrics, ties or self.ties, policies.depth, policies.seed)]

    def values_from(self, name: str, metric: Metric, kernels: Sequence[Callable[[Lists], Array]]) -> list[Array]:
        """What plain functions give for the queries of a run, over the lists that a metric sees."""
        at = self.places(name)
        return [values[at] for values in mapped(self.judged(name, metric), kernels)]

    # --- what other metrics, rows or policies would give ---------------------------------------------

    def other_means(self, pairs: Collection[tuple[Metric, Metric]]) -> dict[Metric, dict[str, float]]:
        """By metric and run, the means of other metrics, each under the conventions (ties, queries) of one of the request.

        ``pairs`` are of a metric of the request and the other one, which must need no more of the judgments. Nothing is read or
        judged again. Empty where one of them cannot be computed on these judgments.
        """
        out: dict[Metric, dict[str, float]] = {other: {} for _, other in pairs}
        try:
            for found in rescored(self.scores, list(pairs)) if self.scores else ():
                out[found.metric][found.run] = found.value
        except RankscopeError:
            return {}
        return out if self.scores else {}

    def evaluated_means(self, metrics: Sequence[Metric], like: Metric) -> dict[Metric, dict[str, float]]:
        """By metric and run, means that need more of the rankings than was kept: all runs are judged again.

        Conventions are those of the metric ``like``, without weights of queries. Empty where they cannot be computed.
        """
        request = self.request.with_metrics(*metrics, like=like).with_policies(weights=None)
        try:
            board = self._evaluate(request).board
        except RankscopeError:
            return {}
        return {metric: {m.run: m.value for m in board if m.metric == metric} for metric in metrics}

    def again(
        self,
        run: InputTable[Run],
        *,
        table: Run | None = None,
        grades: Qrels | None = None,
        ties: Any = None,
        **policy: Any,
    ) -> dict[Metric, float]:
        """The means of a run with another run or qrels ``table``, ``ties`` or ``policy`` for rows; empty where there are none.

        It is judged and scored again, so this is for telling what a finding costs, not for looking.
        """
        asked = list(self.request.metrics)
        if self.scores is not None:
            asked = [a for a in asked if a.metric in set(self.metrics)]
        changes = policy if ties is None else {"ties": ties, **policy}
        request = self.request.with_metrics(*asked).with_policies(**changes)
        try:
            new = evaluate_request(grades or self.qrels.sound, [(run.name, table or run.sound)], request)
        except RankscopeError:
            return {}
        return {m.metric: m.value for m in new.board if not math.isnan(m.value)}

    def change(self, run: InputTable[Run], **other: Any) -> dict[str, float]:
        """By metric, how far the mean of a run would move under what ``again`` takes; empty where it has none now."""
        if self.scores is None or run not in self.comparable:
            return {}
        old = {m.metric: m.value for m in self.scores.board if m.run == run.name}
        new = self.again(run, **other)
        return {str(m): v - old[m] for m, v in new.items() if m in old and not math.isnan(old[m])}

    # --- comparisons ---------------------------------------------------------------------------------

    @cached_property
    def doubts(self) -> list[Caution]:
        """What ``compare`` would doubt about these runs against the first, over the metrics with a direction and a value a query."""
        metrics = [m for m in self.metrics if m.better != "neither" and m.aggregate != "pooled"]
        if self.scores is None or len(self.scored_runs) < 2 or not metrics:
            return []
        try:
            panels = panels_of(self.scores, metrics)
            first = panels[0].systems[0]
            family = Family(panels, pairs_of(panels[0].systems, first, False), method_of(), first)
            return doubts_of(family, curve=self._curve(metrics[0]))
        except RankscopeError:  # nothing that can be compared
            return []

    def _curve(self, metric: Metric) -> list[Panel]:
        """The means of a metric at several cutoffs, each as if there were one query: only the means are looked at."""
        cutoff, policies = getattr(metric, "cutoff", None), self.request.policies
        if cutoff is None or metric.aggregate != "mean" or policies.dialect:
            return []
        others = {k: metric.having(cutoff=k) for k in CUTOFFS if k != cutoff and k <= (policies.depth or k)}
        means = self.other_means([(metric, other) for other in others.values()])
        if not means:
            return []
        systems = tuple(run.name for run in self.scored_runs)
        by_cutoff = {k: means[other] for k, other in others.items()} | {cutoff: self.means(metric)}
        return [
            Panel(
                Measure.of(metric.having(cutoff=k)), systems, ("mean",), np.array([[by_cutoff[k][s]] for s in systems])
            )
            for k in sorted(by_cutoff)
        ]  # fmt: skip

    # --- documents -----------------------------------------------------------------------------------

    def top(self, name: str, k: int | None = None) -> pl.DataFrame:
        """The documents of a run in the top k (``cutoff`` unless given): ``query_id``, ``doc_id`` and the 1-based ``rank``.

        They are those that were scored: in the same order, cut at the same depth, repeated ones and self-matches handled alike.
        Under all orders of equal scores, and for a run that cannot be ordered as asked, the order is trec_eval's. Queries
        without judgments are there, too.
        """
        k = self.cutoff if k is None else k
        if (name, k) not in self._tops:
            run = clean(self.input(name).sound, self.request.policies, "run").data
            first, depth = self.request.metrics[0], self.request.policies.depth
            try:
                found = top(run, Order(one_order(first.convention.ties, first.metric), depth), k, name)
            except InputError:
                found = top(run, Order(depth=depth), k, name)
            self._tops[name, k] = found
        return self._tops[name, k]

    @cached_property
    def _tops(self) -> dict[tuple[str, int], pl.DataFrame]:
        return {}

    def judged_top(self, name: str) -> pl.DataFrame:
        """The top ``cutoff`` of a run, for judged queries only."""
        return self.top(name).filter(pl.col("query_id").is_in(list(self.qrels.query_set)))

    @cached_property
    def texts(self) -> Texts | None:
        """The texts of the documents in the top ``cutoff`` of judged queries; None where none were given."""
        if self.background.texts is None:
            return None
        tops = [self.judged_top(run.name)["doc_id"] for run in self.scored_runs]
        return texts_of(self.background.texts, {doc for docs in tops for doc in docs.to_list()})

    @cached_property
    def judgments(self) -> pl.DataFrame:
        """The sound judgments: ``query_id``, ``doc_id``, ``grade``; one row a pair, the first of repeated ones."""
        frame = self.qrels.sound.frame.select("query_id", "doc_id", "grade")
        if not len(self.qrels.sound.repeated):
            return frame
        return frame.unique(["query_id", "doc_id"], keep="first", maintain_order=True)
