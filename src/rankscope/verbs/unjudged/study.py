"""One metric over some runs, and the possible effect of the unjudged documents in their tops.

The search uses the judged documents that the engine found (``Cells``). The numbers that are reported come from the evaluation, on
judgments to which the grades were added.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.engines.base import SEVERAL
from rankscope.engines.top import top as top_of
from rankscope.errors import InputError
from rankscope.files import qrels_of
from rankscope.lists import Array
from rankscope.metrics import RBP, Metric, RBPResidual
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.fold import AGAIN
from rankscope.scoring.inputs import CleanInput, clean
from rankscope.scoring.judging import judge_clean
from rankscope.scoring.request import MetricRequest, Request
from rankscope.scoring.scores import Scores
from rankscope.tables import Qrels
from rankscope.verbs.unjudged.result import NO_JUDGMENT, NONE_FOUND, DocumentToJudge, Reversal, ValueBounds
from rankscope.verbs.unjudged.search import (
    CODE,
    SAME,
    Cells,
    MeanParts,
    Search,
    SingleEffects,
    UnjudgedDocuments,
    alone,
    exchanges,
    reversal,
    single_effects,
    unjudged_documents,
    with_codes,
    with_grades,
)  # fmt: skip

MOST = 5_000_000  # documents of all runs together: minutes of work


@dataclass(eq=False)
class Study:
    """One metric: its values by run, the unjudged documents, and what they could do.

    ``request`` asks for this metric alone, ``qrels`` and ``runs`` are what it was scored on. ``top`` is the best grade a document
    can get, ``depth`` how far down each ranking is looked at, ``levels`` are the grades of the judgments. ``reason`` says why
    documents cannot be tried one by one, where that is so. Runs are named by their numbers.
    """

    request: Request
    qrels: Qrels
    runs: Sequence[CleanInput]
    scores: Scores
    documents: UnjudgedDocuments
    depth: int | None
    top: float
    levels: Sequence[float]
    _values: dict[tuple[int, bytes], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.metric = self.request.metrics[0].metric
        self.ties = self.request.metrics[0].convention.ties
        self.reason = why_not_one_by_one(self.request.metrics[0])
        self.candidates = int(self.documents.there.sum())
        self.values = [self._mean(self.scores, run.name) for run in self.scores.runs]

    @property
    def considered(self) -> int:
        """The number of candidates that were tried one by one."""
        return 0 if self.reason or not self.candidates else int(self.singles.considered.sum())

    @cached_property
    def alone(self) -> bool:
        """True if every document earns on its own."""
        return alone(self.metric, self.top, self.ties)

    @property
    def fewest(self) -> bool:
        """True if the greedy number is the smallest possible: each document earns on its own, and all were tried."""
        return self.alone and self.considered == self.candidates

    @cached_property
    def cells(self) -> Cells:
        """The cells of all runs."""
        order, grades = self.request.orders[0], CleanInput(with_codes(self.qrels, self.documents))
        judged = [judge_clean(run, grades, [order])[order][0] for run in self.runs]
        return Cells(self.request, judged, [_places(self.documents.queries, one.query_id) for one in judged])

    @cached_property
    def means(self) -> list[MeanParts]:
        """The parts of the mean of each run."""
        out = []
        for run in self.scores.runs:
            values = run.values[self.metric]
            weights = run.weights.get(self.metric, np.ones(len(values)))
            # a query that is not averaged is put after the last one
            values, weights = np.append(values, np.nan), np.append(np.nan_to_num(weights), 0.0)
            at = _places(self.documents.queries, run.query_ids)
            out.append(MeanParts.of(self.metric.aggregate, values, weights, at))
        return out

    @cached_property
    def singles(self) -> SingleEffects:
        """The effect of each document."""
        return single_effects(self.cells, self.documents, self.means, self.top)

    def bounds(self, run: int) -> ValueBounds:
        """The value of a run, and its ends if the unjudged documents of its top get grades."""
        documents, value = self.documents.rank[run] > 0, self.values[run]
        worthless, perfect, exact = value, value, True
        ends = [value]
        if documents.any():
            worthless, perfect = (self.value(run, np.where(documents, g, np.nan)) for g in (0.0, self.top))
            ends, exact = [worthless, perfect], False
            if not self.reason:
                ordered = self.alone or exchanges(self.metric, self.ties)
                key, parts = self.documents.rank[run].astype(float), {run: self.means[run].share}
                found = Search(self.cells, documents, key, self._levels, parts, ordered).extremes()
                ends += [self.value(run, found.lower), self.value(run, found.upper)]
                exact = found.complete
        low, high = _range(ends)
        scores = self.scores.runs[run]
        means = {mean.metric: mean.value for mean in self.scores.board if mean.run == scores.name}
        beside = {name: metric for name, metric in metrics_beside(self.metric).items() if metric in means}
        residual, condensed = beside.get("residual"), beside.get("condensed")
        return ValueBounds(
            run=scores.name, metric=self.metric, value=value, lower=low, upper=high, exact=exact,
            worthless=worthless, perfect=perfect,
            condensed=None if condensed is None else means[condensed],
            residual=high - low if residual is None else means[residual],
            residual_of=None if residual is None else str(residual),
            unjudged=self.documents.counts[run], shown=self.documents.size[run],
            depth=self.depth, grade=self.top, queries=len(scores.query_ids),
        )  # fmt: skip

    @property
    def _levels(self) -> Sequence[float]:
        """The grades to try; only the ends if each document earns on its own."""
        return [0.0, self.top] if self.alone else self.levels

    def turn(self, run: int, baseline: int, ends: bool = True) -> Reversal:
        """The difference of two runs, its ends (NaN where these are not looked for), and what would reverse it."""
        low, high, exact = self._difference_bounds(run, baseline) if ends else (math.nan, math.nan, False)
        needed, reverse, reason = self.reversal(run, baseline)
        names = [one.name for one in self.scores.runs]
        return Reversal(
            run=names[run], baseline=names[baseline], metric=self.metric,
            difference=self.values[run] - self.values[baseline], lower=low, upper=high, exact=exact,
            unjudged=int(self._of_either(run, baseline).sum()), needed=needed, fewest=needed is not None and self.fewest,
            turned=reverse, reason=reason, grade=self.top,
        )  # fmt: skip

    def _of_either(self, run: int, baseline: int) -> Array:
        """Return True for the unjudged documents in the top of either run."""
        return np.asarray((self.documents.rank[run] > 0) | (self.documents.rank[baseline] > 0))

    def _difference_bounds(self, run: int, baseline: int) -> tuple[float, float, bool]:
        """The least and the most that run - baseline could be, and whether no other grades give less or more."""
        documents = self._of_either(run, baseline)
        if not documents.any():
            difference = self.values[run] - self.values[baseline]
            return difference, difference, True
        fills = [np.where(documents, grade, np.nan) for grade in (0.0, self.top)]
        exact = False
        if not self.reason:
            step = np.nan_to_num(self.singles.perfect[run] - self.singles.perfect[baseline])
            parts = {run: self.means[run].share, baseline: -self.means[baseline].share}
            found = Search(self.cells, documents, step, self._levels, parts, self.alone).extremes()
            fills += [found.lower, found.upper]
            # the order of documents that were not tried is not known; geometric means are no sum over queries
            in_order = self.fewest or not self.alone
            exact = found.complete and in_order and self.metric.aggregate != "geometric"
        return *_range(self._difference(run, baseline, grades) for grades in fills), exact

    def reversal(self, run: int, baseline: int) -> tuple[int | None, float | None, str]:
        """How many documents of the top grade would reverse the difference, the difference there then is, and why there are none."""
        documents = self._of_either(run, baseline)
        difference = self.values[run] - self.values[baseline]
        if self.reason:
            return None, None, self.reason
        if math.isnan(difference) or abs(difference) <= SAME:
            return None, None, "there is no difference to reverse"
        if not documents.any():
            return None, None, "every document in the top of both is judged"
        perfect = np.where(documents, self.singles.perfect, 0.0)
        effects = replace(self.singles, perfect=perfect, considered=self.singles.considered & documents)
        picks = reversal(self.cells, self.means, (run, baseline), effects, self.top, self.alone)
        if picks is None:
            return None, None, NO_JUDGMENT if self.fewest else NONE_FOUND
        grades = np.full(documents.shape, np.nan)
        grades[tuple(np.array(picks).T)] = self.top
        reverse = self._difference(run, baseline, grades)
        return (len(picks), reverse, "") if reverse * difference < 0 else (None, None, NONE_FOUND)

    def worklist(self, n: int) -> list[DocumentToJudge]:
        """The documents that could change most, with the rank in each run that has them in its top."""
        if not self.considered:
            return []
        queries, places = self.documents.at
        tried = np.flatnonzero(self.singles.considered[queries, places])
        queries, places = queries[tried], places[tried]
        effect = self.singles.effect[queries, places]
        # effects that differ by rounding alone are the same
        order = np.lexsort((places, queries, self.documents.best_rank[queries, places], -effect.round(12)))[:n]
        ids = self.documents.frame.select("query_id", "doc_id")[tried[order]].rows()
        ranks = self.documents.rank[:, queries[order], places[order]].T.tolist()
        names = [run.name for run in self.scores.runs]
        return [
            DocumentToJudge(query, doc, {name: r for name, r in zip(names, row, strict=True) if r}, float(effect[i]))
            for (query, doc), row, i in zip(ids, ranks, order.tolist(), strict=True)
        ]

    def value(self, run: int, grades: Array) -> float:
        """The value of a run if these documents (queries x places) have these grades, NaN for those left unjudged."""
        key = run, blake2b(grades.tobytes()).digest()
        if key not in self._values:
            queries = list(self.scores.runs[run].query_ids)
            more = self.documents.frame.with_columns(pl.Series("grade", grades[self.documents.at]))
            # queries that only another run brings in are left out
            more = more.filter(pl.col("grade").is_not_nan(), pl.col("query_id").is_in(queries))
            request = replace(self.request, facts={})
            if self.request.metrics[0].convention.queries == "both":  # which depends on all runs
                request = request.with_policies(queries=queries)
            qrels = with_grades(self.qrels, more, bool(self.metric.needs & SEVERAL))
            scores = evaluate_request(qrels, [("run", self.runs[run].data)], request)
            self._values[key] = self._mean(scores, scores.runs[0].name)
        return self._values[key]

    def _difference(self, run: int, baseline: int, grades: Array) -> float:
        return self.value(run, grades) - self.value(baseline, grades)

    def _mean(self, scores: Scores, name: str) -> float:
        return next(m.value for m in scores.board if m.run == name and m.metric == self.metric)


def _places(queries: Iterable[str], among: Sequence[str]) -> Array:
    places = {query: i for i, query in enumerate(among)}
    return np.array([places.get(query, len(among)) for query in queries], dtype=np.int64)


def metrics_beside(metric: Metric) -> dict[str, Metric]:
    """Return the companions of a metric: the same over judged documents only, and its residual."""
    out: dict[str, Metric] = {}
    if getattr(metric, "judged_only", None) is False:
        out["condensed"] = metric.having(judged_only=True)
    if type(metric) is RBP and not metric.judged_only and metric.gain is None:
        out["residual"] = RBPResidual(p=metric.p, cutoff=metric.cutoff)
    return out


def study_of(scores: Scores, metric: Metric, qrels: Any, runs: Sequence[Any], grade: float | None = None) -> Study:
    """The unjudged documents in what a metric looks at; ``qrels`` and ``runs`` are those that ``scores`` were made of.

    ``grade`` is the best grade a document can get: the highest of the qrels, or the metric's, unless given. Raises InputError where
    there are too many documents.
    """
    request = scores.request.with_metrics(metric)
    policies = request.policies
    grades = qrels_of(clean(qrels, policies, "qrels", scores.metrics).data)
    ranked = [clean(run, policies, "run") for run in runs]
    cutoff = None if metric.looks_below else getattr(metric, "cutoff", None)
    depth = min((k for k in (cutoff, policies.depth) if k is not None), default=None)
    order = request.orders[0]
    tops = [top_of(run.data, order, depth, f"run {number}") for number, run in enumerate(ranked, start=1)]
    size = sum(top.height for top in tops)
    if size > MOST:
        where = "whole rankings" if depth is None else f"the top {words.count(depth)}"
        raise InputError(
            f"{metric} looks at {where}, here {words.counted(size, 'document')}, too many to be tried: look less deep, with a cutoff or "
            "a depth (--depth 100)"
        )
    again = AGAIN if policies.fold_cutoffs == "chunks" else ""
    documents = unjudged_documents(tops, grades, [run.query_ids for run in scores.runs], again)
    known = sorted({0.0, *grades.frame["grade"].filter(grades.frame["grade"] > 0)})
    best = top_grade(metric, known[-1]) if grade is None else float(grade)
    if max(best, known[-1]) >= CODE:
        raise InputError(
            f"a grade of {max(best, known[-1]):g} is too large to try others beside it: give grades on a smaller scale"
        )
    return Study(request, grades, ranked, scores, documents, depth, best, [*(g for g in known if g < best), best])


def top_grade(metric: Metric, highest: float) -> float:
    """The best grade a document can get: the metric's where it was given one, else the ``highest`` of the qrels, and relevant at least.

    >>> from rankscope.metrics import ERR, P, RBP
    >>> [top_grade(m, 2.0) for m in (P @ 5, ERR @ 5, RBP(max_grade=3))], top_grade(P(level=2) @ 5, 1.0)
    ([2.0, 2.0, 3.0], 2.0)
    """
    own = getattr(metric, "max_grade", None)
    if isinstance(own, int | float) and own != getattr(type(metric), "max_grade", None):
        return float(own)
    return max(highest, 1.0, float(getattr(metric, "level", None) or 1.0))


def why_not_one_by_one(request: MetricRequest) -> str:
    """Return the reason why values cannot be combined query by query; empty if they can."""
    metric, convention = request.metric, request.convention
    if metric.relevance == "none":
        return f"{metric} does not depend on grades"
    if metric.needs & SEVERAL:
        return f"{metric} takes several grades of a document"
    if metric.aggregate not in {"mean", "sum", "geometric"}:
        return f"{metric} is not a plain mean over queries"
    if convention.mean != "macro" or convention.no_relevant != "metric" or convention.nothing_found != "metric":
        return "which queries count, and how much, would change with the judgments"
    return ""


def _range(values: Iterable[float]) -> tuple[float, float]:
    known = [v for v in values if not math.isnan(v)]
    return min(known, default=math.nan), max(known, default=math.nan)
