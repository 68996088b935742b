"""One metric over some runs: what the unjudged documents in their tops could do to it.

The search uses the judged documents that the engine found (``Cells``). The numbers that are reported come from the evaluation, on
judgments to which the grades were added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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
from rankscope.lists import Array
from rankscope.metrics import RBP, Metric, RBPResidual
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.inputs import CleanInput, clean, judge
from rankscope.scoring.request import MetricRequest, Request
from rankscope.scoring.scores import Scores
from rankscope.verbs.unjudged.bounds import Search, alone, exchanges, extremes
from rankscope.verbs.unjudged.cells import Cells, UnjudgedDocuments, unjudged_documents, with_codes, with_grades
from rankscope.verbs.unjudged.effects import MeanParts, SingleEffects, single_effects
from rankscope.verbs.unjudged.result import NO_JUDGMENT, NONE_FOUND, DocumentToJudge, Turn, ValueBounds
from rankscope.verbs.unjudged.turn import SAME, Pair, reversing

MOST = 5_000_000  # documents of all runs together: minutes of work


@dataclass(eq=False)
class Study:
    """One metric: its values by run, the unjudged documents, and what they could do.

    ``request`` asks for this metric alone, ``qrels`` and ``runs`` are what it was scored on. ``top`` is the best grade a document
    can get, ``depth`` how far down each ranking is looked at, ``levels`` are the grades of the judgments. ``reason`` says why
    documents cannot be tried one by one, where that is so.
    """

    request: Request
    qrels: CleanInput
    runs: Sequence[CleanInput]
    scores: Scores
    documents: UnjudgedDocuments
    depth: int | None
    top: float
    levels: Sequence[float]
    _values: dict[tuple[int, bytes], float] = field(default_factory=dict)

    @property
    def metric(self) -> Metric:
        """The metric."""
        return self.request.metrics[0].metric

    @property
    def reason(self) -> str:
        """Why documents cannot be tried one by one; empty where they can."""
        return why_not_one_by_one(self.request.metrics[0])

    @cached_property
    def values(self) -> list[float]:
        """The value of each run as judged."""
        return [self._mean(self.scores, run.name) for run in self.scores.runs]

    @property
    def candidates(self) -> int:
        """How many unjudged documents there are."""
        return int(self.documents.there.sum())

    @property
    def considered(self) -> int:
        """How many of them were tried one by one."""
        return 0 if self.reason or not self.documents.queries else int(self.singles.considered.sum())

    @property
    def ties(self) -> str:
        """How equal scores are ordered."""
        return self.request.metrics[0].convention.ties

    @cached_property
    def alone(self) -> bool:
        """Whether every document earns on its own."""
        return alone(self.metric, self.top, self.ties)

    @property
    def fewest(self) -> bool:
        """Whether the greedy number is the smallest possible: each document earns on its own, and all were tried."""
        return self.alone and self.considered == self.candidates

    @cached_property
    def cells(self) -> Cells:
        """The cells of all runs."""
        order = self.request.orders[0]
        grades, policies = with_codes(self.qrels, self.documents), self.request.policies
        judged = [judge(run, grades, order, "run")[0] for run in self.runs]
        how = {"ties": self.ties, "depth": policies.depth, "seed": policies.seed}
        return Cells.of(self.metric, judged, self.documents.queries, **how)

    @cached_property
    def means(self) -> list[MeanParts]:
        """What the mean of each run is made of."""
        out = []
        for run in self.scores.runs:
            place = {query: i for i, query in enumerate(run.query_ids)}
            values = run.values[self.metric]
            weights = run.weights.get(self.metric, np.ones(len(values)))
            # a query that is not averaged is put after the last one
            values, weights = np.append(values, np.nan), np.append(np.nan_to_num(weights), 0.0)
            at = np.array([place.get(query, len(place)) for query in self.documents.queries], dtype=np.int64)
            out.append(MeanParts.of(self.metric.aggregate, values, weights, at))
        return out

    @cached_property
    def singles(self) -> SingleEffects:
        """What each document alone would do."""
        return single_effects(self.cells, self.documents, self.means, self.top)

    # -- one run ----------------------------------------------------------------------------------

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
                found = extremes(self.cells, Search(documents, key, self._levels, parts, ordered))
                ends += [self.value(run, found.lower), self.value(run, found.upper)]
                exact = found.complete
        low, high = _range(ends)
        one = self.scores.runs[run]
        means = {mean.metric: mean.value for mean in self.scores.board if mean.run == one.name}
        beside = {name: metric for name, metric in metrics_beside(self.metric).items() if metric in means}
        residual, condensed = beside.get("residual"), beside.get("condensed")
        return ValueBounds(
            run=one.name,
            metric=self.metric,
            value=value,
            lower=low,
            upper=high,
            exact=exact,
            worthless=worthless,
            perfect=perfect,
            condensed=None if condensed is None else means[condensed],
            residual=high - low if residual is None else means[residual],
            residual_of=None if residual is None else str(residual),
            unjudged=self.documents.counts[run],
            shown=self.documents.size[run],
            depth=self.depth,
            grade=self.top,
            queries=len(one.query_ids),
        )

    @property
    def _levels(self) -> Sequence[float]:
        """The grades that are tried; where each document earns on its own, the ends are enough."""
        return [0.0, self.top] if self.alone else self.levels

    # -- two runs ---------------------------------------------------------------------------------

    def between(self, run: int, baseline: int) -> int:
        """How many unjudged documents are in the top of either run."""
        return int(self._of_either(run, baseline).sum())

    def difference_bounds(self, run: int, baseline: int) -> tuple[float, float, bool]:
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
            found = extremes(self.cells, Search(documents, step, self._levels, parts, self.alone))
            fills += [found.lower, found.upper]
            # the order of documents that were not tried is not known; geometric means are no sum over queries
            in_order = self.fewest or not self.alone
            exact = found.complete and in_order and self.metric.aggregate != "geometric"
        ends = [self.value(run, grades) - self.value(baseline, grades) for grades in fills]
        return *_range(ends), exact

    def turn(self, run: int, baseline: int) -> Turn:
        """The difference of two runs, its ends, and what would reverse it."""
        low, high, exact = self.difference_bounds(run, baseline)
        needed, turned, reason = self.reversal(run, baseline)
        return Turn(
            run=self.scores.runs[run].name,
            baseline=self.scores.runs[baseline].name,
            metric=self.metric,
            difference=self.values[run] - self.values[baseline],
            lower=low,
            upper=high,
            exact=exact,
            unjudged=self.between(run, baseline),
            needed=needed,
            fewest=needed is not None and self.fewest,
            turned=turned,
            reason=reason,
            grade=self.top,
        )

    def reversal(self, run: int, baseline: int) -> tuple[int | None, float | None, str]:
        """How many documents of the top grade would reverse the difference, the difference there then is, and why there are none."""
        difference = self.values[run] - self.values[baseline]
        documents = self._of_either(run, baseline)
        if self.reason:
            return None, None, self.reason
        if math.isnan(difference) or abs(difference) <= SAME:
            return None, None, "there is no difference to reverse"
        if not documents.any():
            return None, None, "every document in the top of both is judged"
        only = replace(
            self.singles,
            perfect=np.where(documents, self.singles.perfect, 0.0),
            considered=self.singles.considered & documents,
        )
        picked = reversing(self.cells, self.means, Pair(run, baseline), only, self.top, self.alone)
        if picked is None:
            return None, None, NO_JUDGMENT if self.fewest else NONE_FOUND
        grades = np.full(documents.shape, np.nan)
        grades[tuple(np.array(picked).T)] = self.top
        reverse = self.value(run, grades) - self.value(baseline, grades)
        if reverse * difference >= 0:
            return None, None, NONE_FOUND
        return len(picked), reverse, ""

    def _of_either(self, run: int, baseline: int) -> Array:
        return np.asarray((self.documents.rank[run] > 0) | (self.documents.rank[baseline] > 0))

    # -- what to judge ----------------------------------------------------------------------------

    def worklist(self, n: int) -> list[DocumentToJudge]:
        """The documents that could change most, with the rank in each run that has them in its top."""
        if self.reason or not self.documents.queries:
            return []
        queries, places = np.nonzero(self.singles.considered & self.documents.there)
        effect = self.singles.effect[queries, places]
        # effects that differ by rounding alone are the same
        order = np.lexsort((places, queries, self.documents.best_rank[queries, places], -effect.round(12)))[:n]
        # rows of the frame follow queries and places
        size = self.documents.there.sum(axis=1)
        rows = (np.cumsum(size) - size)[queries[order]] + places[order]
        ids = self.documents.frame.select("query_id", "doc_id")[rows].rows()
        names = [run.name for run in self.scores.runs]
        ranks = self.documents.rank[:, queries[order], places[order]].T.tolist()
        return [
            DocumentToJudge(query, doc, {name: r for name, r in zip(names, row, strict=True) if r}, float(effect[i]))
            for (query, doc), row, i in zip(ids, ranks, order.tolist(), strict=True)
        ]

    # -- through the evaluation -------------------------------------------------------------------

    def value(self, run: int, grades: Array) -> float:
        """The value of a run if these documents (queries x places) have these grades, NaN for those left unjudged."""
        key = run, blake2b(grades.tobytes()).digest()
        if key not in self._values:
            frame, queries = self.documents.frame, list(self.scores.runs[run].query_ids)
            at = frame["query"].to_numpy(), frame["place"].to_numpy()
            # queries that only another run brings in are left out
            mine = pl.Series(queries, dtype=pl.String).implode()
            more = frame.with_columns(pl.Series("grade", grades[at])).filter(
                pl.col("grade").is_not_nan() & pl.col("query_id").is_in(mine)
            )
            request = replace(self.request, facts={})
            if self.request.metrics[0].convention.queries == "both":  # which depends on all runs
                request = request.with_policies(queries=queries)
            qrels = with_grades(self.qrels, more, bool(self.metric.needs & SEVERAL))
            scores = evaluate_request(qrels, [("run", self.runs[run].data)], request)
            self._values[key] = self._mean(scores, scores.runs[0].name)
        return self._values[key]

    def _mean(self, scores: Scores, name: str) -> float:
        return next(m.value for m in scores.board if m.run == name and m.metric == self.metric)


def metrics_beside(metric: Metric) -> dict[str, Metric]:
    """What stands beside a metric: the same over judged documents alone, and its residual."""
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
    grades = clean(qrels, policies, "qrels", scores.metrics)
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
    documents = unjudged_documents(tops, grades, [run.query_ids for run in scores.runs])
    known = _levels(grades)
    best = top_grade(metric, known[-1]) if grade is None else float(grade)
    levels = [*(level for level in known if level < best), best]
    return Study(request, grades, ranked, scores, documents, depth, best, levels)


def _levels(qrels: CleanInput) -> list[float]:
    """The grades of the judgments, lowest first; 0 is one of them."""
    if qrels.is_mapping:
        grades = {float(g) for documents in qrels.data.values() for g in documents.values()}
    else:
        grades = set(qrels.data.frame["grade"].unique().to_list())
    return sorted({0.0, *(g for g in grades if g > 0)})


def top_grade(metric: Metric, highest: float) -> float:
    """The best grade a document can get: the metric's where it was given one, else the ``highest`` of the qrels, and relevant at least.

    >>> from rankscope.metrics import ERR, P, RBP
    >>> [top_grade(m, 2.0) for m in (P @ 5, ERR @ 5, RBP(max_grade=3))], top_grade(P(level=2) @ 5, 1.0)
    ([2.0, 2.0, 3.0], 2.0)
    """
    own = getattr(metric, "max_grade", None)
    if isinstance(own, int | float) and own != getattr(type(metric), "max_grade", None):
        return float(own)
    level = getattr(metric, "level", None)
    return max(highest, 1.0, 1.0 if level is None else float(level))


def why_not_one_by_one(request: MetricRequest) -> str:
    """Why values cannot be put together query by query, where they cannot."""
    metric, convention = request.metric, request.convention
    if metric.relevance == "none":
        return f"{metric} does not depend on grades"
    if metric.needs & SEVERAL:
        return f"{metric} takes several grades of a document"
    if metric.aggregate not in {"mean", "sum", "geometric"}:
        return f"{metric} is no plain mean of its queries"
    if convention.mean != "macro" or convention.no_relevant != "metric" or convention.nothing_found != "metric":
        return "which queries count, and how much, would change with the judgments"
    return ""


def _range(values: Sequence[float]) -> tuple[float, float]:
    """The least and the most of the values that are defined."""
    known = [v for v in values if not math.isnan(v)]
    return (min(known), max(known)) if known else (math.nan, math.nan)
