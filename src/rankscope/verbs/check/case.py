"""The data of one call of ``check``: rankings with their faults and numbers, or a log; the functions that find problems in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from rankscope import words
from rankscope.analysis.ceilings import why_not
from rankscope.blocks import Caution
from rankscope.diagnostics.rankings import BREAKS_TIES
from rankscope.diagnostics.rule import MAX_EXAMPLES, Finding, Rule
from rankscope.dialects.base import Convention
from rankscope.engines.base import Order
from rankscope.engines.pairs import PAIR, Frame
from rankscope.engines.top import top
from rankscope.engines.values import map_kernels, score_under_ties
from rankscope.errors import InputError, RankscopeError
from rankscope.files.items import with_history
from rankscope.files.long import named_grades
from rankscope.files.side_tables import interactions_of, timed_interactions
from rankscope.files.texts import Texts, texts_of
from rankscope.impressions import Log
from rankscope.lists import Array, ItemTable, Judged, Lists
from rankscope.logs.health import LogHealth, examine
from rankscope.metrics import Metric
from rankscope.panels.contrast import CLEAR
from rankscope.panels.contrast_result import comparison_cautions
from rankscope.panels.families import Family, pairs_of
from rankscope.panels.method import method_of
from rankscope.panels.panel import Panel
from rankscope.panels.samples import EVEN, Measure, leaders, mean
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.health import Raised
from rankscope.scoring.input_checks import DEPTH_OF_IDS
from rankscope.scoring.inputs import clean
from rankscope.scoring.measurements import CUTOFFS, panels_of
from rankscope.scoring.ranking import one_order
from rankscope.scoring.references import depth_of, reference_lists
from rankscope.scoring.request import Request
from rankscope.scoring.rescore import places_of, rescore
from rankscope.scoring.runs import RunEvaluation, RunScores
from rankscope.scoring.scores import Scores
from rankscope.tables import Qrels, Run, Source

TableT = TypeVar("TableT", Run, Qrels)

Means = Mapping[str, float]  # by run


def against(one: float, other: float) -> str:
    """Return two means for comparison."""
    return f"{words.number(one, digits=4)} vs {words.number(other, digits=4)}"


@dataclass(frozen=True)
class Alternative:
    """A metric and another one in its place: the means of all runs ``now`` and with the other metric (``then``)."""

    metric: Metric
    other: Metric
    now: Means
    then: Means

    @property
    def moves(self) -> dict[str, float]:
        """The change of the mean by run."""
        return {n: self.then[n] - v for n, v in self.now.items() if not math.isnan(self.then.get(n, math.nan) - v)}

    @property
    def most(self) -> tuple[str, float]:
        """The run with the largest change, and the change."""
        return max(self.moves.items(), key=lambda move: abs(move[1]), default=(next(iter(self.now)), 0.0))

    @property
    def swaps(self) -> list[tuple[str, str]]:
        """Pairs of runs that the two metrics order differently, the run that is ahead now first."""
        names, now, then = list(self.moves), self.now, self.then
        return [(a, b) for a in names for b in names if now[a] - now[b] > EVEN and then[b] - then[a] > EVEN]

    @property
    def rivals(self) -> tuple[str, str] | None:
        """The leading run under each metric; None if one run leads under both, or all are even."""
        one, two = leaders(self.now, self.metric.better), leaders(self.then, self.metric.better)
        return None if not one or not two or set(one) & set(two) else (one[0], two[0])

    @property
    def winners(self) -> str:
        """The leading runs in words; empty if one run leads under both metrics, or all are even."""
        if self.rivals is None:
            return ""
        first, second = self.rivals
        return (
            f"{first} leads on {self.metric} ({against(self.now[first], self.now[second])}) "
            f"and {second} on {self.other} ({against(self.then[second], self.then[first])})"
        )


@dataclass(frozen=True, eq=False)
class InputTable(Generic[TableT]):
    """A run or qrels: the ``table`` as it was read, with its faults and repeated rows, and its ``name`` in messages."""

    name: str
    table: TableT

    @cached_property
    def sound(self) -> TableT:
        """The table without rows that cannot be scored: faulty lines, NaN scores, infinite grades. Repeated rows stay."""
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
        """Return the lines of the first rows, like ``bm25.run line 7: document d1 of query q2``; rows of ``sound``, or of ``table``."""
        at = (self._sound_rows[rows[:MAX_EXAMPLES]] if of_sound else rows[:MAX_EXAMPLES]).tolist()
        frame, source = self.table.frame, self.table.source
        return [f"{source.at(row)}: document {frame['doc_id'][row]} of query {frame['query_id'][row]}" for row in at]

    @cached_property
    def query_set(self) -> frozenset[str]:
        """The ids of all queries."""
        return frozenset(self.table.queries)


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoredRun(RunScores):
    """A scored run: its values, ``input``, ``evaluation``, ``means``, and the ``request`` of the metrics that could be computed."""

    input: InputTable[Run]
    evaluation: RunEvaluation
    means: Mapping[Metric, float]
    request: Request

    @cached_property
    def at(self) -> Array:
        """The places of the averaged queries among all queries of the ``evaluation``."""
        return places_of(self.query_ids, self.evaluation)

    def judged(self, metric: Metric | None = None) -> Judged:
        """Return the judged documents as a metric sees them (the first metric by default), for all queries of the ``evaluation``."""
        return self.evaluation.judged[0 if metric is None else self.request.place(metric)]

    def mean_over(self, metric: Metric, values: Array | None = None, without: Collection[str] = ()) -> float:
        """Return the mean of a metric over other ``values`` of its queries, or ``without`` some. NaN for a pooled metric. Undefined queries stay undefined."""
        if metric.aggregate == "pooled":
            return math.nan
        kept = np.array([query not in without for query in self.query_ids], dtype=bool)
        own = self.values[metric]
        value = own if values is None else np.where(np.isnan(own), np.nan, values)
        return mean(metric, value[kept], self.weights.get(metric, np.ones(len(value)))[kept])

    def shifts(self, values: Mapping[Metric, Array]) -> dict[Metric, float]:
        """Return the change of the mean by metric under other values of the queries."""
        return {metric: self.mean_over(metric, value) - self.means[metric] for metric, value in values.items()}

    def cost(self, queries: Collection[str]) -> dict[Metric, float]:
        """Return, by metric, the mean minus the mean without some queries."""
        left = frozenset(queries)
        return {m: v - self.mean_over(m, without=left) for m, v in self.means.items() if m.aggregate != "sum"}

    def under(self, metrics: Sequence[Metric], ties: str = "") -> list[Array]:
        """Return the query values of other metrics, or under another tie policy, from the same judgments and with what they keep."""
        judged, policies = self.judged(), self.request.policies
        judged = judged if len(self.at) == len(judged) else judged.of(self.at)
        ties = ties or self.request.metrics[0].convention.ties
        return [v.value for v in score_under_ties(judged, metrics, ties, policies.depth, policies.seed)]

    def of_lists(self, metric: Metric, kernel: Callable[[Lists], Array]) -> Array:
        """Return the result of a function over the lists that a metric sees, one per query."""
        return map_kernels(self.judged(metric), [kernel])[0][self.at]


@dataclass(frozen=True, eq=False)
class CheckCase:
    """One call of ``check``: its input, and on demand its numbers.

    ``qrels`` and ``runs`` are as read. ``scores`` are evaluated over their sound rows, keeping the first of repeated documents, for the
    metrics that can be computed and the runs that share a query with the qrels. ``scale`` is the lowest and the highest grade, ``train``
    the training data of a recommender, ``docs_text`` the texts of documents; the last two are read when a rule needs them.
    """

    qrels: InputTable[Qrels]
    runs: Sequence[InputTable[Run]]
    request: Request
    scale: tuple[float, float] | None = None
    train: Any = None
    docs_text: Any = None
    test: Any = None  # the source of the qrels

    of: ClassVar[str] = "judgments"

    @property
    def sources(self) -> list[Source]:
        """The sources of the qrels and the runs."""
        return [self.qrels.table.source, *(run.table.source for run in self.runs)]

    @property
    def conventions(self) -> Mapping[str, Any]:
        """The policies of the numbers; empty if nothing could be scored."""
        return self.scores.conventions if self.scores else {}

    @property
    def data_health(self) -> Mapping[str, Any]:
        """The state of the data of each run; empty if nothing could be scored."""
        return self.scores.data_health if self.scores else {}

    @cached_property
    def comparable(self) -> list[InputTable[Run]]:
        """The runs that share a query with the qrels."""
        return [run for run in self.runs if run.query_set & self.qrels.query_set]

    @cached_property
    def _attempt(self) -> tuple[Scores | None, dict[str, str]]:
        """The scores of the metrics that can be computed, and the reasons against the others."""
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
        """The scores; None if no metric could be computed or no run shares a query with the qrels."""
        return self._attempt[0]

    @property
    def refusals(self) -> Mapping[str, str]:
        """The reason of ``evaluate`` against a metric, by its spelling."""
        return self._attempt[1]

    @cached_property
    def scored_runs(self) -> list[ScoredRun]:
        """The runs with their values and means; empty if nothing could be scored."""
        if self.scores is None:
            return []
        parts = zip(self.scores.runs, self.comparable, self.scores.evaluations, strict=True)
        means = {
            run.name: {m.metric: m.value for m in self.scores.board if m.run == run.name} for run in self.scores.runs
        }
        rest: dict[str, Any] = {"request": self.scores.request}
        return [ScoredRun(**vars(r), input=data, evaluation=e, means=means[r.name], **rest) for r, data, e in parts]

    @property
    def metrics(self) -> Sequence[Metric]:
        """The metrics of the request that could be computed."""
        return self.scores.metrics if self.scores else ()

    @property
    def several(self) -> bool:
        """True if there is more than one scored run."""
        return len(self.scored_runs) > 1

    def raised(self, rule: Rule, *runs: ScoredRun) -> list[Raised]:
        """Return the warnings of ``evaluate`` of a rule, with their numbers: for these runs, or for all runs together."""
        health = {run.name: run.health for run in runs or self.scored_runs}
        return [one for one in self.request.with_metrics(*self.metrics).raised(health) if one[0].code == rule.code]

    @property
    def convention(self) -> Convention:
        """The conventions of the first metric: the order of ties, the averaged queries."""
        return self.request.metrics[0].convention

    @property
    def plain(self) -> bool:
        """True without a policy for queries that have no relevant document, or find nothing."""
        conventions = [m.convention for m in self.request.metrics]
        return all(c.no_relevant == "metric" and c.nothing_found == "metric" for c in conventions)

    @property
    def whole(self) -> bool:
        """True if rankings are not cut at a depth."""
        return self.request.policies.depth is None

    @property
    def breaks_ties(self) -> bool:
        """True if ties are put in one of several possible orders."""
        return self.whole and self.convention.ties in BREAKS_TIES

    @property
    def cutoff(self) -> int:
        """The cutoff of the metrics that is nearest to 10."""
        return min(self.request.orders[0].cutoffs, key=lambda k: (abs(k - 10), k))

    def means(self, metric: Metric) -> dict[str, float]:
        """Return the mean of a metric by run."""
        return {run.name: run.means[metric] for run in self.scored_runs}

    def other_means(self, pairs: Collection[tuple[Metric, Metric]]) -> dict[Metric, dict[str, float]]:
        """Return the means by metric and run for ``pairs`` of a requested metric and another with its conventions. Empty if these judgments do not allow one."""
        out: dict[Metric, dict[str, float]] = {}
        try:
            for mean in rescore(self.scores, list(pairs)) if self.scores else ():
                out.setdefault(mean.metric, {})[mean.run] = mean.value
        except RankscopeError:
            out.clear()
        return out

    def alternatives(self, others: Mapping[Metric, Metric]) -> list[Alternative]:
        """Return metrics of the request, each with another one in its place; empty if one of these cannot be computed."""
        means = self.other_means(others.items())
        return [Alternative(m, other, self.means(m), means[other]) for m, other in others.items()] if means else []

    def is_clear(self, metric: Metric, one: str, other: str, like: Metric | None = None) -> bool:
        """Return True if ``compare`` finds a clear difference of two runs, corrected for all. Another metric has the conventions of ``like``. Even runs are worth no warning."""
        if (metric, one) not in self._clear:
            self._clear[metric, one] = frozenset()
            with suppress(RankscopeError, ValueError):  # no comparison without common queries
                request = self.request.with_metrics(metric, like=like or metric)
                if scores := self.scores if metric in self.metrics else self._evaluate(request):
                    (panel,) = panels_of(scores, [metric])
                    contrasts = Family([panel], pairs_of(panel.systems, one, False), method_of(), one).contrasts
                    self._clear[metric, one] = frozenset(c.run for c in contrasts if c.verdict in CLEAR)
        return other in self._clear[metric, one]

    @cached_property
    def _clear(self) -> dict[tuple[Metric, str], frozenset[str]]:
        return {}

    def decides(self, one: Alternative) -> bool:
        """Return True if an alternative names another winner, and the two runs differ clearly on both metrics."""
        if one.rivals is None or not self.is_clear(one.metric, *one.rivals):
            return False
        return self.is_clear(one.other, *one.rivals, like=one.metric)

    def other_winner(self, one: Alternative | None) -> dict[str, str]:
        """Return the runs that lead under each metric: ``winners`` if the lead is clear, else ``leaders``; empty if one run leads."""
        return {"winners" if self.decides(one) else "leaders": one.winners} if one and one.winners else {}

    def evaluated_means(self, metrics: Sequence[Metric], like: Metric) -> dict[Metric, dict[str, float]]:
        """Return means by metric and run that need all runs to be judged again, with conventions of ``like``, without weights. Empty if impossible."""
        request = self.request.with_metrics(*metrics, like=like).with_policies(weights=None)
        with suppress(RankscopeError):
            board = self._evaluate(request).board
            return {metric: {m.run: m.value for m in board if m.metric == metric} for metric in metrics}
        return {}

    def again(
        self, run: InputTable[Run], *, table: Run | None = None, qrels: Qrels | None = None, **policies: Any
    ) -> dict[Metric, float]:
        """Return the means of a run judged again with another ``table`` or other policies, for the effect of a finding. Empty if there are none."""
        request = (self.scores.request if self.scores else self.request).with_policies(**policies)
        with suppress(RankscopeError):
            board = evaluate_request(qrels or self.qrels.sound, [(run.name, table or run.sound)], request).board
            return {m.metric: m.value for m in board if not math.isnan(m.value)}
        return {}

    def change(self, run: InputTable[Run], **other: Any) -> dict[Metric, float]:
        """Return the change of the means of a run under the arguments of ``again``; empty if the run has no means now."""
        for scored in self.scored_runs:
            if scored.input is run:
                return {m: v - scored.means[m] for m, v in self.again(run, **other).items()}
        return {}

    @cached_property
    def doubts(self) -> list[Caution]:
        """The doubts of ``compare`` about these runs against the first, for metrics with a direction and one value per query."""
        metrics = [m for m in self.metrics if m.better != "neither" and m.aggregate != "pooled"]
        with suppress(RankscopeError):  # no comparison without common queries
            if self.scores is not None and self.several and metrics:
                panels = panels_of(self.scores, metrics)
                first = panels[0].systems[0]
                family = Family(panels, pairs_of(panels[0].systems, first, False), method_of(), first)
                return comparison_cautions(family, curve=self._curve(metrics[0]))
        return []

    def _curve(self, metric: Metric) -> list[Panel]:
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
        """Return the top k documents of a run (at most 20 or the cutoff) as in the scores: ``query_id``, ``doc_id`` and the 1-based ``rank``."""
        if run.name not in self._tops:
            table = clean(run.sound, self.request.policies, "run").data
            depth, deepest = self.request.policies.depth, max(DEPTH_OF_IDS, self.cutoff)
            order = Order(one_order(self.convention.ties, self.request.metrics[0].metric), depth)
            try:
                self._tops[run.name] = top(table, order, deepest, run.name)
            except InputError:
                self._tops[run.name] = top(table, Order(depth=depth), deepest, run.name)
        documents = self._tops[run.name]
        return documents.filter(documents["rank"] <= k)

    @cached_property
    def _tops(self) -> dict[str, Frame]:
        return {}

    def judged_top(self, run: ScoredRun) -> Frame:
        """Return the top ``cutoff`` of a run, for judged queries only."""
        documents = self.top(run.input, self.cutoff)
        return documents.filter(documents["query_id"].is_in(list(self.qrels.query_set)))

    @cached_property
    def texts(self) -> Texts | None:
        """The texts of the documents in the top ``cutoff`` of judged queries; None without texts."""
        if self.docs_text is None:
            return None
        return texts_of(self.docs_text, {doc for run in self.scored_runs for doc in self.judged_top(run)["doc_id"]})

    @cached_property
    def interactions(self) -> Frame:
        """The training interactions: ``query_id`` (the user), ``doc_id`` (the item), ``time``; read when first needed."""
        with named_grades(self.request.policies.grades):
            return interactions_of(self.train, self.request.policies.columns)

    @cached_property
    def timed_test(self) -> Frame | None:
        """The test interactions with their times, None if they or the training interactions have none."""
        return None if self.interactions["time"].is_null().all() else timed_interactions(self.test)

    @cached_property
    def bounds(self) -> dict[Metric, float]:
        """The highest means that lists of items that can be shown reach, by metric; empty if there are none."""
        kept = tuple(m for m in self.request.metrics if m.metric.better == "higher" and not why_not(m.metric))
        with suppress(RankscopeError, ValueError):  # no metric is left
            lists = reference_lists(self.qrels.sound.mapping, self.known_items, depth_of([m.metric for m in kept]))
            request = replace(self.request, metrics=kept).with_policies(queries="judged")
            board = evaluate_request(self.qrels.sound, [("oracle", lists["oracle"])], request).board
            return {one.metric: one.value for one in board if not math.isnan(one.value)}
        return {}

    @property
    def items(self) -> ItemTable | None:
        """The catalogue with the features of items, None without one."""
        table: ItemTable | None = self.request.policies.items
        return table

    @cached_property
    def known_items(self) -> ItemTable:
        """The items that a recommender can show (the catalogue, or those of the training data) and the users that had them."""
        return with_history(self.items, self.interactions)

    @cached_property
    def judgments(self) -> Frame:
        """The sound judgments: ``query_id``, ``doc_id``, ``grade``; one row per pair, the first of repeated ones."""
        frame = self.qrels.sound.frame.select(*PAIR, "grade")
        return frame.unique(PAIR, keep="first", maintain_order=True) if len(self.qrels.sound.repetitions) else frame

    @property
    def relevant(self) -> Frame:
        """The judgments of grade 1 or more."""
        return self.judgments.filter(self.judgments["grade"] >= 1)

    @property
    def wanted(self) -> Frame:
        """The judgments that are relevant at the level of the request."""
        return self.judgments.filter(self.judgments["grade"] >= self.request.relevant_from)

    @cached_property
    def grades(self) -> dict[float, int]:
        """The number of judgments by grade, the lowest first, without pooled documents that have no grade."""
        grade = self.judgments["grade"].to_numpy()
        values, counts = np.unique(grade[(grade >= 0) & np.isfinite(grade)], return_counts=True)
        return dict(zip(values.tolist(), counts.tolist(), strict=True))

    @property
    def positive(self) -> dict[float, int]:
        """The grades above 0."""
        return {grade: number for grade, number in self.grades.items() if grade > 0}


@dataclass(frozen=True, eq=False)
class LogCase:
    """One call of ``check`` on a log. ``covariates`` are columns measured before the start."""

    log: Log
    covariates: Sequence[str] = ()

    of: ClassVar[str] = "log"
    conventions: ClassVar[Mapping[str, Any]] = {}

    @cached_property
    def health(self) -> LogHealth:
        """The problems of the log, with all checks."""
        return examine(self.log, whole=True, covariates=self.covariates)

    def findings(self, code: str) -> list[Finding]:
        """Return the findings of a code; the log is not named, as there is only one."""
        name = f"{self.log.label}: "
        return [replace(fact, message=fact.message.removeprefix(name)) for fact in self.health.of(code)]

    @property
    def sources(self) -> list[Source]:
        """The source of the log."""
        return [self.log.source]

    @property
    def data_health(self) -> dict[str, Any]:
        """The number of rows, and of rows or groups per code."""
        return {self.log.label: self.health.as_dict()}


Finder = Callable[[CheckCase], Iterable[Finding]]
FINDERS: dict[str, Finder] = {}  # by the code of a rule


def finds(rule: Rule) -> Callable[[Finder], Finder]:
    """Register a function as the one that finds the problem of a rule."""
    return lambda finder: FINDERS.setdefault(rule.code, finder)
