"""Bound values over unjudged documents, count the judgments that reverse a difference, and list documents to judge, by searches in ``Cells`` and evaluations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.declared import whole_number
from rankscope.engines.base import ASPECTS, SEVERAL
from rankscope.engines.top import top as top_of
from rankscope.errors import HUGE, InputError
from rankscope.files import qrels_of
from rankscope.lists import Array
from rankscope.metrics import Metric
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.fold import AGAIN
from rankscope.scoring.inputs import CleanInput, clean, read_inputs
from rankscope.scoring.judging import judge_clean
from rankscope.scoring.policies import refuse_unknown
from rankscope.scoring.request import MetricRequest, Request
from rankscope.scoring.scores import Scores
from rankscope.tables import Qrels
from rankscope.verbs.unjudged import search
from rankscope.verbs.unjudged.result import (
    NO_JUDGMENT,
    NONE_FOUND,
    DocumentToJudge,
    Reversal,
    UnjudgedReport,
    ValueBounds,
)

MOST = 5_000_000  # documents of all runs together: minutes of work


def unjudged(
    qrels: Any, runs: Any, metrics: Any = "nDCG@10", *, baseline: str | None = None, grade: float | None = None,
    n: int = 50, **policies: Any,
) -> UnjudgedReport:  # fmt: skip
    """Bound values over the grades of unjudged documents.

    For each run and metric: the value, and its bounds if the documents in the top that are not in the qrels get grades; with several
    runs, how many of them would have to be relevant to reverse the difference to the ``baseline`` (the first run unless named); and
    the ``n`` documents whose judgment could change most. ``grade`` is the best grade a document can get: the highest of the qrels,
    or a metric's ``max_grade`` where it was given one. The rest are the policies of ``evaluate``. Raises what ``evaluate`` raises.

    >>> import rankscope as rs
    >>> found = rs.unjudged({"q1": {"a": 1, "b": 0}}, {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}}, "P@2")
    >>> [(b.value, b.lower, b.upper, b.share) for b in found]
    [(0.5, 0.5, 1.0, 0.5)]
    >>> [(d.doc_id, d.ranks, d.effect) for d in found.worklist]
    [('x', {'run': 2}, 0.5)]
    """
    refuse_unknown(policies, "unjudged", ("baseline", "grade", "n"))
    request = Request.of("nDCG@10" if metrics is None else metrics, policies)
    number = isinstance(grade, int | float) and not isinstance(grade, bool)
    if grade is not None and not (number and 0 < grade <= HUGE):
        most = f", and at most {HUGE:g}" if number and grade > HUGE else ""
        raise InputError(f"grade={grade!r}: the best grade of a document must be a number above 0{most}, like 3")
    whole_number("n", n, 0, "the length of the worklist is a whole number of at least 0")
    grades, read = read_inputs(qrels, runs, request.policies)
    scores = evaluate_request(grades, read, _with_beside(request))
    names = [run.name for run in scores.runs]
    if baseline is not None and baseline not in names:
        raise InputError(f"baseline {baseline!r}: no run is called that{words.hint(baseline, names)}")
    first = 0 if baseline is None else names.index(baseline)
    studies = [study_of(scores, m.metric, grades, [run for _, run in read], grade) for m in request.metrics]
    others = [number for number in range(len(names)) if number != first]
    return UnjudgedReport(
        bounds=[study.bounds(number) for study in studies for number in range(len(names))],
        turns=[study.turn(number, first) for study in studies for number in others], worklist=studies[0].worklist(n),
        candidates=studies[0].candidates, considered=studies[0].considered, scores=scores, baseline=names[first],
    )  # fmt: skip


def _with_beside(request: Request) -> Request:
    every = [*request.metrics]
    for m in request.metrics:
        every += request.with_metrics(*metrics_beside(m.metric).values(), like=m.metric).metrics
    once = {m.metric: m for m in reversed(every)}
    return request.with_metrics(*(m for m in every if once[m.metric] is m))


@dataclass(eq=False)
class Study:
    """One metric: its values by run, the unjudged documents, and their possible effect.

    ``request`` asks for this metric only, ``qrels`` and ``runs`` are the inputs of ``scores``. ``top`` is the best grade of a document,
    ``depth`` the last rank that counts, ``levels`` are the grades of the judgments. Runs are named by their numbers.
    """

    request: Request
    qrels: Qrels
    runs: Sequence[CleanInput]
    scores: Scores
    documents: search.UnjudgedDocuments
    depth: int | None
    top: float
    levels: Sequence[float]

    def __post_init__(self) -> None:
        self.metric, self.ties = self.request.metrics[0].metric, self.request.metrics[0].convention.ties
        self.reason = reason_against_single_documents(self.request.metrics[0])
        self.candidates = int(self.documents.there.sum())
        self.values = [self._mean(self.scores, run.name) for run in self.scores.runs]
        self._known_values: dict[tuple[int, bytes], float] = {}

    @property
    def considered(self) -> int:
        """The number of candidates that were tried one by one."""
        return 0 if self.reason or not self.candidates else int(self.singles.considered.sum())

    @cached_property
    def alone(self) -> bool:
        """True if every document earns on its own."""
        return search.alone(self.metric, self.top, self.ties)

    @property
    def fewest(self) -> bool:
        """True if the greedy number is the smallest possible: each document earns on its own, and all were tried."""
        return self.alone and self.considered == self.candidates

    @cached_property
    def cells(self) -> search.Cells:
        """The cells of all runs."""
        order = self.request.orders[0]
        codes = self.documents.frame.with_columns(grade=pl.col("place") * search.STEP + search.CODE)
        grades = CleanInput(search.with_grades(self.qrels, codes))
        judged = [judge_clean(run, grades, [order])[order][0] for run in self.runs]
        return search.Cells(self.request, judged, [_places(self.documents.queries, one.query_id) for one in judged])

    @cached_property
    def means(self) -> list[search.MeanParts]:
        """The parts of the mean of each run."""
        out = []
        for run in self.scores.runs:
            values = run.values[self.metric]
            weights = run.weights.get(self.metric, np.ones(len(values)))
            # a query that is not averaged is put after the last one
            values, weights = np.append(values, np.nan), np.append(np.nan_to_num(weights), 0.0)
            at = _places(self.documents.queries, run.query_ids)
            out.append(search.MeanParts.of(self.metric.aggregate, values, weights, at))
        return out

    @cached_property
    def singles(self) -> search.SingleEffects:
        """The effect of each document."""
        return search.single_effects(self.cells, self.documents, self.means, self.top)

    def bounds(self, run: int) -> ValueBounds:
        """Return the value of a run, and its bounds over grades of the unjudged documents of its top."""
        documents, value = self.documents.rank[run] > 0, self.values[run]
        worthless, perfect, exact = value, value, True
        ends = [value]
        if documents.any():
            worthless, perfect = (self.value(run, np.where(documents, g, np.nan)) for g in (0.0, self.top))
            ends, exact = [worthless, perfect], False
            if not self.reason:
                # for a given number of documents per grade, a ranking is best with the good ones on top
                exchangeable = self.metric.monotone and self.metric.better != "neither" and self.ties in search.PLAIN
                key, parts = self.documents.rank[run].astype(float), {run: self.means[run].share}
                *fills, exact = search.find_extremes(
                    self.cells, documents, key, self._levels, parts, self.alone or exchangeable
                )
                ends += [self.value(run, grades) for grades in fills]
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
        return [0.0, self.top] if self.alone else self.levels

    def turn(self, run: int, baseline: int, ends: bool = True) -> Reversal:
        """Return the difference of two runs, its bounds (NaN without ``ends``), and the judgments that would reverse it."""
        documents = (self.documents.rank[run] > 0) | (self.documents.rank[baseline] > 0)
        low, high, exact = self._difference_bounds(run, baseline, documents) if ends else (math.nan, math.nan, False)
        needed, reverse, reason = self._reversal(run, baseline, documents)
        names = [one.name for one in self.scores.runs]
        return Reversal(
            run=names[run], baseline=names[baseline], metric=self.metric,
            difference=self.values[run] - self.values[baseline], lower=low, upper=high, exact=exact,
            unjudged=int(documents.sum()), needed=needed, fewest=needed is not None and self.fewest,
            turned=reverse, reason=reason, grade=self.top,
        )  # fmt: skip

    def _difference_bounds(self, run: int, baseline: int, documents: Array) -> tuple[float, float, bool]:
        """The bounds of run - baseline over grades of the documents, and whether no other grades give less or more."""
        if not documents.any():
            difference = self.values[run] - self.values[baseline]
            return difference, difference, True
        fills, exact = [np.where(documents, grade, np.nan) for grade in (0.0, self.top)], False
        if not self.reason:
            step = np.nan_to_num(self.singles.perfect[run] - self.singles.perfect[baseline])
            parts = {run: self.means[run].share, baseline: -self.means[baseline].share}
            *more, exact = search.find_extremes(self.cells, documents, step, self._levels, parts, self.alone)
            fills += more
            # the order of documents that were not tried is not known; geometric means are no sum over queries
            exact = exact and (self.fewest or not self.alone) and self.metric.aggregate != "geometric"
        return *_range(self._difference(run, baseline, grades) for grades in fills), exact

    def _reversal(self, run: int, baseline: int, documents: Array) -> tuple[int | None, float | None, str]:
        difference = self.values[run] - self.values[baseline]
        if self.reason:
            return None, None, self.reason
        if math.isnan(difference) or abs(difference) <= search.SAME:
            return None, None, "the runs do not differ"
        if not documents.any():
            return None, None, "every document in the top of both is judged"
        perfect = np.where(documents, self.singles.perfect, 0.0)
        effects = replace(self.singles, perfect=perfect, considered=self.singles.considered & documents)
        picks = search.find_reversal(self.cells, self.means, (run, baseline), effects, self.top, self.alone)
        if picks is None:
            return None, None, NO_JUDGMENT if self.fewest else NONE_FOUND
        grades = np.full(documents.shape, np.nan)
        grades[tuple(np.array(picks).T)] = self.top
        reverse = self._difference(run, baseline, grades)
        return (len(picks), reverse, "") if reverse * difference < 0 else (None, None, NONE_FOUND)

    def worklist(self, n: int) -> list[DocumentToJudge]:
        """Return the documents with the largest effects, each with its rank in the runs that have it in their top."""
        if not self.considered:
            return []
        queries, places = self.documents.at
        tried = np.flatnonzero(self.singles.considered[queries, places])
        queries, places = queries[tried], places[tried]
        effect = self.singles.effect[queries, places]
        # effects that differ only by rounding are equal
        order = np.lexsort((places, queries, self.documents.best_rank[queries, places], -effect.round(12)))[:n]
        ids = self.documents.frame.select("query_id", "doc_id")[tried[order]].rows()
        ranks = self.documents.rank[:, queries[order], places[order]].T.tolist()
        names = [run.name for run in self.scores.runs]
        return [
            DocumentToJudge(query, doc, {name: r for name, r in zip(names, row, strict=True) if r}, float(effect[i]))
            for (query, doc), row, i in zip(ids, ranks, order.tolist(), strict=True)
        ]

    def value(self, run: int, grades: Array) -> float:
        """Return the value of a run with these grades of documents (queries x places), NaN for documents left unjudged."""
        key = run, blake2b(grades.tobytes()).digest()
        if key not in self._known_values:
            queries = list(self.scores.runs[run].query_ids)
            more = self.documents.frame.with_columns(pl.Series("grade", grades[self.documents.at]))
            # queries that only another run brings in are left out
            more = more.filter(pl.col("grade").is_not_nan(), pl.col("query_id").is_in(queries))
            request = replace(self.request, facts={})
            if self.request.metrics[0].convention.queries == "both":  # which depends on all runs
                request = request.with_policies(queries=queries)
            qrels = search.with_grades(self.qrels, more, bool(self.metric.needs & ASPECTS))
            scores = evaluate_request(qrels, [("run", self.runs[run].data)], request)
            self._known_values[key] = self._mean(scores, scores.runs[0].name)
        return self._known_values[key]

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
    if (residual := getattr(metric, "residual", None)) is not None:
        out["residual"] = residual
    return out


def study_of(scores: Scores, metric: Metric, qrels: Any, runs: Sequence[Any], grade: float | None = None) -> Study:
    """Make the study of a metric on the inputs of ``scores``. ``grade`` is the best grade. Raises InputError for too many documents."""
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
            f"{metric} looks at {where}, here {words.counted(size, 'document')}, too many to try: look less deep, with a cutoff or "
            "a depth (--depth 100)"
        )
    again = AGAIN if policies.fold_cutoffs == "chunks" else ""
    documents = search.unjudged_documents(tops, grades, [run.query_ids for run in scores.runs], again)
    known = sorted({0.0, *grades.frame["grade"].filter(grades.frame["grade"] > 0)})
    best = top_grade(metric, known[-1]) if grade is None else float(grade)
    if max(best, known[-1]) >= search.CODE:
        raise InputError(
            f"a grade of {max(best, known[-1]):g} is too large to try other grades: give grades on a smaller scale"
        )
    return Study(request, grades, ranked, scores, documents, depth, best, [*(g for g in known if g < best), best])


def top_grade(metric: Metric, highest: float) -> float:
    """Return the best grade of a document: the metric's if it was given one, otherwise the ``highest`` of the qrels, and at least relevant."""
    own = getattr(metric, "max_grade", None)
    if isinstance(own, int | float) and own != getattr(type(metric), "max_grade", None):
        return float(own)
    return max(highest, 1.0, float(getattr(metric, "level", None) or 1.0))


def reason_against_single_documents(request: MetricRequest) -> str:
    """Return the reason that values cannot be combined query by query, empty if they can."""
    metric, convention = request.metric, request.convention
    if metric.relevance == "none":
        return f"{metric} does not depend on grades"
    if "items" in metric.needs:
        return f"{metric} looks at every item shown, judged or not"
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
