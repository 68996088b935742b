"""Everything a rule may look at: the input with its faults, the numbers it gives, and what the caller states about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from rankscope import words
from rankscope.blocks import Caution
from rankscope.dialects.base import Convention
from rankscope.engines.base import Order, map_kernels
from rankscope.engines.orders import score_under_ties
from rankscope.engines.pairs import PAIR, Frame
from rankscope.engines.top import top
from rankscope.errors import InputError, RankscopeError
from rankscope.files.interactions import interactions_of
from rankscope.files.long import named_grades
from rankscope.files.texts import Texts, texts_of
from rankscope.lists import Array, Judged, Lists
from rankscope.metrics import Metric
from rankscope.panels.contrast import CLEAR
from rankscope.panels.doubts import doubts_of
from rankscope.panels.families import Family, pairs_of
from rankscope.panels.method import method_of
from rankscope.panels.panel import Panel
from rankscope.panels.samples import EVEN, Measure, leaders, mean
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.health import BREAKS
from rankscope.scoring.inputs import clean
from rankscope.scoring.measurements import CUTOFFS, panels_of
from rankscope.scoring.ranking import one_order
from rankscope.scoring.request import Request
from rankscope.scoring.rescore import places_of, rescore
from rankscope.scoring.runs import RunEvaluation, RunScores
from rankscope.scoring.scores import Scores
from rankscope.tables import Qrels, Run, Source

TableT = TypeVar("TableT", Run, Qrels)

EXAMPLES = 5  # queries, documents and places that a finding names
LOOKED_AT = 20  # documents at the top of a ranking that are compared with judged ones

Means = Mapping[str, float]  # by run


def against(one: float, other: float) -> str:
    """Two means beside each other.

    >>> against(0.5, 0.4)
    '0.5000 vs 0.4000'
    """
    return f"{words.number(one, digits=4)} vs {words.number(other, digits=4)}"


@dataclass(frozen=True)
class Alternative:
    """A metric and another one in its place: the means of all runs ``now``, and those they would have ``then``."""

    metric: Metric
    other: Metric
    now: Means
    then: Means

    @property
    def moves(self) -> dict[str, float]:
        """By run, how far the mean would move."""
        return {n: self.then[n] - v for n, v in self.now.items() if not math.isnan(self.then.get(n, math.nan) - v)}

    @property
    def most(self) -> tuple[str, float]:
        """The run whose mean would move most, and how far."""
        return max(self.moves.items(), key=lambda move: abs(move[1]), default=(next(iter(self.now)), 0.0))

    @property
    def swaps(self) -> list[tuple[str, str]]:
        """Pairs of runs that the two metrics order differently, the one ahead now named first."""
        names, now, then = list(self.moves), self.now, self.then
        return [(a, b) for a in names for b in names if now[a] - now[b] > EVEN and then[b] - then[a] > EVEN]

    @property
    def rivals(self) -> tuple[str, str] | None:
        """Who leads under each metric, where no run leads under both; None where one does, or all are even."""
        one, two = leaders(self.now, self.metric.better), leaders(self.then, self.metric.better)
        return None if not one or not two or set(one) & set(two) else (one[0], two[0])

    @property
    def winners(self) -> str:
        """In words, who leads under each metric, where no run leads under both; empty where one does, or all are even.

        >>> from rankscope.metrics import AP, nDCG
        >>> Alternative(AP(), nDCG(), {"a": 0.5, "b": 0.1}, {"a": 0.3, "b": 0.6}).winners
        'a leads on AP (0.5000 vs 0.1000) and b on nDCG (0.6000 vs 0.3000)'
        """
        if self.rivals is None:
            return ""
        first, second = self.rivals
        return (
            f"{first} leads on {self.metric} ({against(self.now[first], self.now[second])}) "
            f"and {second} on {self.other} ({against(self.then[second], self.then[first])})"
        )


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
            table = table._having(table.frame[self._sound_rows])
            lines, kept = table.source.line_of, self._sound_rows
            if lines is not None:
                table = replace(table, source=replace(table.source, line_of=lambda row: lines(int(kept[row]))))
        if table.source.faults:
            cached = {k: v for k, v in table.__dict__.items() if k in {"blocks", "repeated", "queries"}}
            table = replace(table, source=replace(table.source, faults=()))
            table.__dict__.update(cached)
        return table

    @cached_property
    def _sound_rows(self) -> Array:
        return np.delete(np.arange(self.table.frame.height), self.table.nan_rows)

    def places(self, rows: Array, *, of_sound: bool = True) -> list[str]:
        """Where the first of some rows stand in the file, and what they are: ``bm25.run line 7: document d1 of query q2``.

        Rows are those of ``sound``, or those of ``table`` as it was read.
        """
        at = (self._sound_rows[rows[:EXAMPLES]] if of_sound else rows[:EXAMPLES]).tolist()
        frame, source = self.table.frame, self.table.source
        return [f"{source.at(row)}: document {frame['doc_id'][row]} of query {frame['query_id'][row]}" for row in at]

    @cached_property
    def query_set(self) -> frozenset[str]:
        """The ids of all queries."""
        return frozenset(self.table.queries)


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoredRun(RunScores):
    """A run that was scored: beside its values its ``input``, its ``evaluation``, and its ``means`` as ``evaluate`` prints them.

    ``request`` is that of the metrics that could be computed.
    """

    input: InputTable[Run]
    evaluation: RunEvaluation
    means: Mapping[Metric, float]
    request: Request

    @cached_property
    def at(self) -> Array:
        """Where the queries that are averaged for some metric stand among all of the ``evaluation``."""
        return places_of(self.query_ids, self.evaluation)

    def judged(self, metric: Metric | None = None) -> Judged:
        """The judged documents as a metric sees them (the first metric unless named); queries are those of the ``evaluation``."""
        return self.evaluation.judged[0 if metric is None else self.request.place(metric)]

    def mean_over(self, metric: Metric, values: Array | None = None, without: Collection[str] = ()) -> float:
        """The mean of a metric over other ``values`` of its queries (its own unless given), or ``without`` some queries.

        Queries that are undefined or left out stay so. NaN for a metric whose mean is made of the documents of all queries
        together (``pooled``).
        """
        if metric.aggregate == "pooled":
            return math.nan
        kept = np.array([query not in without for query in self.query_ids], dtype=bool)
        own = self.values[metric]
        value = own if values is None else np.where(np.isnan(own), np.nan, values)
        return mean(metric, value[kept], self.weights.get(metric, np.ones(len(value)))[kept])

    def shifts(self, values: Mapping[Metric, Array]) -> dict[Metric, float]:
        """By metric, how far other values of the queries would move the mean."""
        return {metric: self.mean_over(metric, value) - self.means[metric] for metric, value in values.items()}

    def cost(self, queries: Collection[str]) -> dict[Metric, float]:
        """By metric, the mean as it is less the mean without some queries."""
        left = frozenset(queries)
        return {m: v - self.mean_over(m, without=left) for m, v in self.means.items() if m.aggregate != "sum"}

    def under(self, metrics: Sequence[Metric], ties: str = "") -> list[Array]:
        """The values that other metrics, or another tie policy, have: nothing is read or judged again.

        One value a query of ``query_ids``. A metric must need no more of the judgments (aspects, scores) than those of the request.
        """
        judged, policies = self.judged(), self.request.policies
        judged = judged if len(self.at) == len(judged) else judged.of(self.at)
        ties = ties or self.request.metrics[0].convention.ties
        return [v.value for v in score_under_ties(judged, metrics, ties, policies.depth, policies.seed)]

    def of_lists(self, metric: Metric, kernel: Callable[[Lists], Array]) -> Array:
        """What a plain function gives for the queries, over the lists that a metric sees."""
        return map_kernels(self.judged(metric), [kernel])[0][self.at]


@dataclass(frozen=True, eq=False)
class CheckCase:
    """One call of ``check``: its input, and on demand the numbers it gives.

    ``qrels`` and ``runs`` are as read. ``scores`` are evaluated over what is sound in them, the first of repeated documents kept,
    for the metrics that can be computed and the runs that share a query with the qrels; ``refused`` has what could not be computed.
    The caller may state the lowest and the highest grade (``scale``), what a recommender was trained on (``train``) and the texts of
    documents (``docs_text``): both are as they were given, and read where a rule looks at them.
    """

    qrels: InputTable[Qrels]
    runs: Sequence[InputTable[Run]]
    request: Request
    scale: tuple[float, float] | None = None
    train: Any = None
    docs_text: Any = None

    of: ClassVar[str] = "judgments"

    @property
    def sources(self) -> list[Source]:
        """Where the qrels and the runs came from."""
        return [self.qrels.table.source, *(run.table.source for run in self.runs)]

    @property
    def conventions(self) -> Mapping[str, Any]:
        """The policies under which the numbers were computed; none where nothing could be scored."""
        return self.scores.conventions if self.scores else {}

    @property
    def data_health(self) -> Mapping[str, Any]:
        """The state of the data of each run; nothing where nothing could be scored."""
        return self.scores.data_health if self.scores else {}

    @cached_property
    def comparable(self) -> list[InputTable[Run]]:
        """The runs that share a query with the qrels."""
        return [run for run in self.runs if run.query_set & self.qrels.query_set]

    @cached_property
    def _attempt(self) -> tuple[Scores | None, dict[str, str]]:
        """The scores of the metrics that go together, and why the others do not."""
        if not self.comparable:
            return None, {}
        try:
            return self._evaluate(self.request), {}
        except RankscopeError:
            scores, refused = None, {}
        for one in self.request.metrics:
            kept = scores.request.metrics if scores else ()
            try:
                scores = self._evaluate(replace(self.request, metrics=(*kept, one)))
            except RankscopeError as error:
                refused[one.spelling] = str(error)
        return scores, refused

    def _evaluate(self, request: Request) -> Scores:
        return evaluate_request(self.qrels.sound, [(run.name, run.sound) for run in self.comparable], request)

    @property
    def scores(self) -> Scores | None:
        """The scores; None where no metric could be computed or no run shares a query with the qrels."""
        return self._attempt[0]

    @property
    def refusals(self) -> Mapping[str, str]:
        """By metric, as the caller spelled it, why ``evaluate`` refuses to compute it."""
        return self._attempt[1]

    @cached_property
    def scored_runs(self) -> list[ScoredRun]:
        """The runs with their values and means; none where nothing could be scored."""
        if self.scores is None:
            return []
        means: dict[str, dict[Metric, float]] = {run.name: {} for run in self.scores.runs}
        for m in self.scores.board:
            means[m.run][m.metric] = m.value
        return [
            ScoredRun(
                **vars(run), input=given, evaluation=evaluation, means=means[run.name], request=self.scores.request
            )
            for run, given, evaluation in zip(self.scores.runs, self.comparable, self.scores.evaluations, strict=True)
        ]

    @property
    def metrics(self) -> Sequence[Metric]:
        """The metrics of the request that could be computed."""
        return self.scores.metrics if self.scores else ()

    @property
    def several(self) -> bool:
        """Whether there is more than one run to compare."""
        return len(self.scored_runs) > 1

    def cautions(self, code: str, *runs: ScoredRun) -> list[Caution]:
        """What ``evaluate`` warns of under a code, for these runs alone; for all together without any."""
        health = {run.name: run.health for run in runs or self.scored_runs}
        return [c for c in self.request.with_metrics(*self.metrics).cautions(health) if c.code == code]

    @property
    def convention(self) -> Convention:
        """The conventions of the first metric: how equal scores are ordered, which queries are averaged."""
        return self.request.metrics[0].convention

    @property
    def plain(self) -> bool:
        """Whether values are as metrics give them: no policy for queries without relevant documents, or with nothing found."""
        conventions = [m.convention for m in self.request.metrics]
        return all(c.no_relevant == "metric" and c.nothing_found == "metric" for c in conventions)

    @property
    def whole(self) -> bool:
        """Whether rankings are looked at down to their end: no depth was stated."""
        return self.request.policies.depth is None

    @property
    def breaks_ties(self) -> bool:
        """Whether equal scores stand in one of several orders that they could have."""
        return self.whole and self.convention.ties in BREAKS

    @property
    def cutoff(self) -> int:
        """The cutoff of interest: of those of the metrics the one nearest to 10."""
        return min(self.request.orders[0].cutoffs, key=lambda k: (abs(k - 10), k))

    def means(self, metric: Metric) -> dict[str, float]:
        """By run, the mean of a metric."""
        return {run.name: run.means[metric] for run in self.scored_runs}

    def other_means(self, pairs: Collection[tuple[Metric, Metric]]) -> dict[Metric, dict[str, float]]:
        """By metric and run, the means of other metrics, each under the conventions (ties, queries) of one of the request.

        ``pairs`` are of a metric of the request and the other one, which must need no more of the judgments. Nothing is read or
        judged again. Empty where one of them cannot be computed on these judgments.
        """
        out: dict[Metric, dict[str, float]] = {}
        try:
            for found in rescore(self.scores, list(pairs)) if self.scores else ():
                out.setdefault(found.metric, {})[found.run] = found.value
        except RankscopeError:
            return {}
        return out

    def alternatives(self, others: Mapping[Metric, Metric]) -> list[Alternative]:
        """Metrics of the request, each with another one in its place; none where one of these cannot be computed."""
        means = self.other_means(others.items())
        return [Alternative(m, other, self.means(m), means[other]) for m, other in others.items()] if means else []

    def is_clear(self, metric: Metric, one: str, other: str, like: Metric | None = None) -> bool:
        """Whether ``compare`` tells two runs apart on a metric, corrected for all runs that are compared with the first.

        What changes which of two runs is ahead is worth a warning only then: of runs that are even anything decides. A metric that is
        not in the request has the conventions of the one that it is ``like``.
        """
        if (metric, one) not in self._clear:
            self._clear[metric, one] = self._told_apart(metric, one, like)
        return other in self._clear[metric, one]

    @cached_property
    def _clear(self) -> dict[tuple[Metric, str], frozenset[str]]:
        return {}

    def _told_apart(self, metric: Metric, run: str, like: Metric | None) -> frozenset[str]:
        """The runs that ``compare`` tells apart from one; none where it cannot compare them."""
        known = metric in self.metrics
        try:
            scores = self.scores if known else self._evaluate(self.request.with_metrics(metric, like=like or metric))
            if scores is None:
                return frozenset()
            (panel,) = panels_of(scores, [metric])
            family = Family([panel], pairs_of(panel.systems, run, False), method_of(), run)
            return frozenset(c.run for c in family.contrasts if c.verdict in CLEAR)
        except (RankscopeError, ValueError):
            return frozenset()

    def decides(self, one: Alternative) -> bool:
        """Whether an alternative names another winner than the metric does, and both tell these two runs apart."""
        if one.rivals is None or not self.is_clear(one.metric, *one.rivals):
            return False
        return self.is_clear(one.other, *one.rivals, like=one.metric)

    def another_wins(self, one: Alternative) -> str:
        """Who wins instead, as the end of a message; empty where the same run does."""
        if not one.winners:
            return ""
        lead = "another run wins" if self.decides(one) else "another run is ahead, if not clearly"
        return f"; {lead}: {one.winners}"

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
        self, run: InputTable[Run], *, table: Run | None = None, qrels: Qrels | None = None, **policies: Any
    ) -> dict[Metric, float]:
        """The means of a run with another run or qrels ``table``, or under other policies; empty where there are none.

        It is judged and scored again, so this is for telling what a finding costs, not for looking.
        """
        request = (self.scores.request if self.scores else self.request).with_policies(**policies)
        try:
            board = evaluate_request(qrels or self.qrels.sound, [(run.name, table or run.sound)], request).board
        except RankscopeError:
            return {}
        return {m.metric: m.value for m in board if not math.isnan(m.value)}

    def change(self, run: InputTable[Run], **other: Any) -> dict[Metric, float]:
        """By metric, how far the mean of a run would move under what ``again`` takes; empty where it has none now."""
        for scored in self.scored_runs:
            if scored.input is run:
                return {m: v - scored.means[m] for m, v in self.again(run, **other).items()}
        return {}

    @cached_property
    def doubts(self) -> list[Caution]:
        """What ``compare`` would doubt about these runs against the first, over the metrics with a direction and a value a query."""
        metrics = [m for m in self.metrics if m.better != "neither" and m.aggregate != "pooled"]
        if self.scores is None or not self.several or not metrics:
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
        deepest = policies.depth or max(CUTOFFS)
        curve = [metric.having(cutoff=k) for k in sorted({*CUTOFFS, cutoff}) if k <= deepest or k == cutoff]
        means = self.other_means([(metric, other) for other in curve if other != metric])
        means = {**means, metric: self.means(metric)} if means else {}
        systems = tuple(run.name for run in self.scored_runs)
        values = {m: np.array([[means[m][name]] for name in systems]) for m in curve if m in means}
        return [Panel(Measure.of(m), systems, ("mean",), value) for m, value in values.items()]

    def top(self, run: InputTable[Run], k: int) -> Frame:
        """The documents of a run in the top k, 20 or the cutoff at most: ``query_id``, ``doc_id`` and the 1-based ``rank``.

        They are those that were scored: in the same order, cut at the same depth, repeated ones and self-matches handled alike.
        Under all orders of equal scores, and for a run that cannot be ordered as asked, the order is trec_eval's. Queries
        without judgments are there, too.
        """
        if run.name not in self._tops:
            table = clean(run.sound, self.request.policies, "run").data
            depth, deepest = self.request.policies.depth, max(LOOKED_AT, self.cutoff)
            order = Order(one_order(self.convention.ties, self.request.metrics[0].metric), depth)
            try:
                self._tops[run.name] = top(table, order, deepest, run.name)
            except InputError:
                self._tops[run.name] = top(table, Order(depth=depth), deepest, run.name)
        found = self._tops[run.name]
        return found.filter(found["rank"] <= k)

    @cached_property
    def _tops(self) -> dict[str, Frame]:
        return {}

    def judged_top(self, run: ScoredRun) -> Frame:
        """The top ``cutoff`` of a run, for judged queries only."""
        found = self.top(run.input, self.cutoff)
        return found.filter(found["query_id"].is_in(list(self.qrels.query_set)))

    @cached_property
    def texts(self) -> Texts | None:
        """The texts of the documents in the top ``cutoff`` of judged queries; None where none were given."""
        if self.docs_text is None:
            return None
        return texts_of(self.docs_text, {doc for run in self.scored_runs for doc in self.judged_top(run)["doc_id"]})

    @cached_property
    def interactions(self) -> Frame:
        """The training interactions: ``query_id`` (the user), ``doc_id`` (the item), ``time``; read when first needed."""
        with named_grades(self.request.policies.grades):
            return interactions_of(self.train, self.request.policies.columns)

    @cached_property
    def judgments(self) -> Frame:
        """The sound judgments: ``query_id``, ``doc_id``, ``grade``; one row a pair, the first of repeated ones."""
        frame = self.qrels.sound.frame.select(*PAIR, "grade")
        return frame.unique(PAIR, keep="first", maintain_order=True) if len(self.qrels.sound.repetitions) else frame

    @property
    def relevant(self) -> Frame:
        """The judgments of grade 1 or more."""
        return self.judgments.filter(self.judgments["grade"] >= 1)

    @cached_property
    def grades(self) -> dict[float, int]:
        """How many judgments there are of each grade, the lowest first; pooled documents without a grade are left out."""
        grade = self.judgments["grade"].to_numpy()
        values, counts = np.unique(grade[(grade >= 0) & np.isfinite(grade)], return_counts=True)
        return dict(zip(values.tolist(), counts.tolist(), strict=True))

    @property
    def positive(self) -> dict[float, int]:
        """The grades above 0."""
        return {grade: number for grade, number in self.grades.items() if grade > 0}
