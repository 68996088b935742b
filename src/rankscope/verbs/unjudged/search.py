"""Search for grades of unjudged documents that make values lowest or highest, or reverse a difference.

If a better document moved above a worse one never hurts (the metric is ``monotone``), then for a given number of documents per grade
a ranking is best with the good ones on top, and worst with them at the end: few arrangements have to be tried. For a difference of two
runs this needs metrics in which each document earns on its own. For other metrics all ways of grading are tried if they are few;
otherwise the extremes are the widest ones tried.

The engine gets a code as the grade of every unjudged document, so that it returns their ranks, ties and scores as well. The code
identifies the document, and is replaced by a grade or removed again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement, product
from math import comb

import numpy as np
import polars as pl

from rankscope.engines.base import Order
from rankscope.lists import Array, Judged
from rankscope.metrics import Metric
from rankscope.panels.samples import logs_of
from rankscope.scoring.inputs import CleanInput
from rankscope.scoring.judging import judge_clean
from rankscope.scoring.request import MetricRequest, Request
from rankscope.scoring.rescore import values_on
from rankscope.tables import Qrels

STEP = 2.0**140
CODE = 2.0**52 * STEP  # plus one step per document of the query: all are exact, and below HUGE
DOCS = ("query_id", "doc_id")
CELLS = 3_000_000  # judged documents of one batch of variants
BUDGET = 6_000_000  # judged documents in all variants together
MOST = 4096  # variants of a query
ROOM = 4_000_000  # cells of grades at a time
DEEP = 200  # the longest ranking that is tried
STEPS = 5000  # documents that are graded one after the other
SAME = 1e-12  # a smaller difference is 0
PLAIN = frozenset({"trec", "docid", "input", "rank"})


@dataclass(frozen=True, eq=False)
class UnjudgedDocuments:
    """The unjudged documents in the top of some runs, each once.

    ``frame`` has one row per document: ``query_id``, ``doc_id``, ``query`` (the number of the query in ``queries``) and ``place``
    (the number of the document within its query). ``rank`` is runs x queries x places: the rank of each document in the top of
    each run, 0 if it is absent. ``size`` counts all documents in the top of each run, judged or not.
    """

    frame: pl.DataFrame
    queries: Sequence[str]
    rank: Array
    size: Sequence[int]

    @cached_property
    def there(self) -> Array:
        """True for queries x places that hold a document."""
        return np.asarray((self.rank > 0).any(axis=0))

    @property
    def counts(self) -> list[int]:
        """The number of the documents in the top of each run."""
        return [int((one > 0).sum()) for one in self.rank]

    @property
    def at(self) -> tuple[Array, Array]:
        """The query and the place of each row of the frame."""
        return self.frame["query"].to_numpy(), self.frame["place"].to_numpy()

    @cached_property
    def best_rank(self) -> Array:
        """The best rank of each document in any run, a large number at positions without a document."""
        return np.asarray(np.where(self.rank > 0, self.rank, np.iinfo(np.int64).max).min(axis=0))


def unjudged_documents(
    tops: Sequence[pl.DataFrame], qrels: Qrels, queries: Sequence[Sequence[str]], again: str = ""
) -> UnjudgedDocuments:
    """Return the documents of the tops that are not in the qrels, for the ``queries`` of each run. An id with ``again`` in it repeats a document."""
    own = [top.filter(pl.col("query_id").is_in(list(some))) for top, some in zip(tops, queries, strict=True)]
    parts = [top.join(qrels.frame, on=DOCS, how="anti").with_columns(run=pl.lit(i)) for i, top in enumerate(own)]
    rows = pl.concat(parts)
    if again:
        rows = rows.filter(~pl.col("doc_id").str.contains(again, literal=True))
    documents = rows.group_by(*DOCS).agg(pl.col("rank").min()).sort("query_id", "rank", "doc_id")
    query, place = pl.col("query_id").rle_id().cast(pl.Int64), pl.int_range(pl.len()).over("query_id")
    documents = documents.select(*DOCS, query.alias("query"), place.alias("place"))
    names = documents["query_id"].unique(maintain_order=True).to_list()
    at = rows.join(documents, on=DOCS, how="left")
    rank = np.zeros((len(tops), len(names), documents["place"].n_unique()), dtype=np.int64)
    rank[tuple(at[name].to_numpy() for name in ("run", "query", "place"))] = at["rank"].to_numpy()
    return UnjudgedDocuments(documents, names, rank, [top.height for top in own])


def with_grades(qrels: Qrels, documents: pl.DataFrame, several: bool = False) -> Qrels:
    """Return the judgments with further ``documents`` and grades, for a metric of ``several`` grades in each subtopic or judge."""
    frame, more = qrels.frame, documents.select(*DOCS, pl.col("grade").cast(pl.Float64))
    aspects = [name for name in ("iteration", "subgroup") if name in frame.columns]
    if several and aspects:
        known = frame.select("query_id", *aspects).unique(maintain_order=True)
        more = more.join(known, on="query_id", how="left", maintain_order="left")
    queries = tuple(dict.fromkeys([*qrels.queries, *more["query_id"].to_list()]))
    both = pl.concat([frame, more], how="diagonal_relaxed").with_columns(
        pl.col(name).fill_null("0" if name == "iteration" else "") for name in aspects
    )
    return Qrels(both.sort(pl.col("query_id").cast(pl.Enum(queries)), maintain_order=True), qrels.source, queries)


@dataclass(frozen=True, eq=False)
class Cells:
    """One metric over some runs, with unjudged documents among ``judged`` ones under a code as their grade. ``rows`` are the queries there."""

    request: Request
    judged: Sequence[Judged]
    rows: Sequence[Array]

    def sizes(self, run: int, queries: Array) -> Array:
        """Return the number of judged documents of each query, with the unjudged ones."""
        return self.judged[run].size[self.rows[run][queries]]

    def values(self, run: int, queries: Array, grades: Array) -> Array:
        """Return the value of each variant: a query, and ``grades`` of its unjudged documents (variants x places), NaN for unjudged or undefined."""
        upto, out, first = np.cumsum(np.maximum(self.sizes(run, queries), 1)), np.empty(len(queries)), 0
        while first < len(queries):
            most = CELLS + (upto[first - 1] if first else 0)
            part = slice(first, max(first + 1, int(np.searchsorted(upto, most, side="right"))))
            data = self.judged[run].of(self.rows[run][queries[part]])
            owner = np.repeat(np.arange(len(queries[part])), data.size)
            coded = np.flatnonzero(data.grade >= CODE)
            grade = data.grade.copy()
            grade[coded] = grades[part][owner[coded], ((data.grade[coded] - CODE) / STEP).astype(np.int64)]
            keep = ~np.isnan(grade)
            size, in_run = (np.bincount(owner[at], minlength=len(data.size)) for at in (keep, keep & (data.rank > 0)))
            variants = replace(
                data, size=size, in_run=in_run, grade=grade[keep], rank=data.rank[keep], tie_start=data.tie_start[keep],
                tie_size=data.tie_size[keep], score=None if data.score is None else data.score[keep], aspects=None, by_id=None,
            )  # fmt: skip
            out[part] = values_on(self.request, variants)
            first = part.stop
        return out


def find_extremes(
    cells: Cells, documents: Array, key: Array, levels: Sequence[float], parts: Mapping[int, Array], in_order: bool
) -> tuple[Array, Array, bool]:
    """Find the grades under which the value of each query is lowest and highest: queries x places, NaN for documents left alone.

    Each of ``documents`` (queries x places) gets one of the ``levels``. ``parts`` maps runs to the weight of each query in the value. If
    ``in_order``, the extremes are among the arrangements in the order of the ``key`` (least first) and its reverse. The third part of
    the answer is True if no other grades give less or more, query by query.
    """
    lower, upper = (np.where(documents, levels[end], np.nan) for end in (0, -1))
    counts = documents.sum(axis=1)
    some = np.flatnonzero(counts)
    weight = sum(float(cells.sizes(run, some).sum()) for run in parts)
    limit = int(min(max(BUDGET / max(weight, 1.0), 4), MOST))
    complete = True
    for count in np.unique(counts[some]).tolist():
        fills, whole = ways(count, levels, limit, in_order)
        complete &= whole
        queries = np.flatnonzero(counts == count)
        many = max(1, ROOM // max(len(fills) * documents.shape[1], 1))
        for first in range(0, len(queries), many):
            part = queries[first : first + many]
            rows, variants = np.arange(len(part)), np.arange(len(fills))
            order = np.argsort(np.where(documents[part], key[part], np.inf), axis=1, kind="stable")[:, :count]
            grades = np.full((len(part), len(fills), documents.shape[1]), np.nan)
            grades[rows[:, None, None], variants[None, :, None], order[:, None, :]] = fills[None]
            repeated, values = np.repeat(part, len(fills)), np.zeros(len(part) * len(fills))
            for run, share in parts.items():
                scores = cells.values(run, repeated, grades.reshape(len(repeated), -1))
                values += np.where(share[repeated], share[repeated] * scores, 0.0)
            table = values.reshape(len(part), len(fills))
            unknown = np.isnan(table)
            lower[part] = grades[rows, np.where(unknown, np.inf, table).argmin(axis=1)]
            upper[part] = grades[rows, np.where(unknown, -np.inf, table).argmax(axis=1)]
            complete &= not unknown.any()
    return lower, upper, complete


def ways(count: int, levels: Sequence[float], limit: int, ordered: bool) -> tuple[Array, bool]:
    """Return grades for ``count`` documents, one row per way, and True if no other way can be more extreme.

    All ways if they are at most ``limit``. Otherwise the ways that rise or fall along the documents, then only those with the
    lowest and the highest grade, then some of these. If ``ordered``, rising and falling ways are enough.
    """
    if not ordered and len(levels) ** count <= limit:
        return np.array(list(product(levels, repeat=count))), True
    if 2 * comb(count + len(levels) - 1, count) <= limit:
        rising = np.array(list(combinations_with_replacement(levels, count)))
        return np.vstack([rising, rising[:, ::-1]]), ordered
    many = min(count + 1, max(limit // 2, 2))
    low = np.unique(np.linspace(0, count, many).round().astype(np.int64))
    rising = np.where(np.arange(count) < low[:, None], levels[0], levels[-1])
    return np.vstack([rising, rising[:, ::-1]]), ordered and len(levels) == 2 and many == count + 1


def alone(metric: Metric, top: float, ties: str = "trec") -> bool:
    """Return True if every unjudged document earns on its own, whatever the grades of the others.

    Small rankings with some judged documents show it, by grading every set of the others. A metric that divides by the ideal fails,
    as one more relevant document changes the ideal.
    """
    if ties not in PLAIN or not metric.monotone or getattr(metric, "judged_only", False):
        return False
    cutoff = min(getattr(metric, "cutoff", None) or 5, DEEP)
    sets = np.array(list(product([np.nan, 0.0, top], repeat=4)))
    singles = 2 * 3 ** np.arange(3, -1, -1)  # the sets with one document of the top grade
    for deep in (5, max(cutoff, 5) + 2):
        judged = _probe(metric, top, deep)
        cells = Cells(Request((MetricRequest(str(metric), metric),)), [judged], [np.arange(len(judged))])
        queries = np.repeat(np.arange(len(judged)), len(sets))
        value = cells.values(0, queries, np.tile(sets, (len(judged), 1))).reshape(len(judged), len(sets))
        step = value[:, singles] - value[:, :1]
        expected = value[:, :1] + (step[:, None, :] * (sets == top)[None]).sum(axis=2)
        if np.isnan(value).any() or not np.allclose(value, expected, rtol=0, atol=1e-9):
            return False
    return True


def _probe(metric: Metric, top: float, deep: int) -> Judged:
    """Rankings of ``deep`` documents, four of the first five to grade, below only judged and at last relevant ones. And judged ones not retrieved."""
    low = min(1.0, top)
    below = [*[0.0] * (deep - 7), low, top] if deep > 5 else []
    qrels: dict[str, dict[str, float]] = {}
    run: dict[str, dict[str, float]] = {}
    for middle, missed in product((None, 0.0, low, top), ((), (low,), (0.0, top), (top,) * 8)):
        ranked = [CODE, CODE + STEP, middle, CODE + 2 * STEP, CODE + 3 * STEP, *below]
        grades = {f"d{rank}": grade for rank, grade in enumerate(ranked) if grade is not None}
        qrels[f"q{len(qrels)}"] = grades | {f"m{number}": grade for number, grade in enumerate(missed)}
        run[f"q{len(run)}"] = {f"d{rank}": -float(rank) for rank in range(len(ranked))}
    order = Order(needs=metric.needs)
    return judge_clean(CleanInput(run), CleanInput(qrels), [order])[order][0]


@dataclass(frozen=True, eq=False)
class MeanParts:
    """The parts of the mean of a run: ``total`` over ``whole``, of all queries. ``value`` and ``weight`` of those with unjudged documents."""

    value: Array
    weight: Array
    total: float
    whole: float
    aggregate: str = "mean"

    @classmethod
    def of(cls, aggregate: str, values: Array, weights: Array, at: Array) -> MeanParts:
        """Make the parts from the values of all queries (NaN: undefined). Queries with unjudged documents are at these positions."""
        terms = as_terms(aggregate, values)
        defined = ~np.isnan(terms)
        weights = np.ones_like(weights) if aggregate == "sum" else weights
        whole = 1.0 if aggregate == "sum" else math.fsum(weights[defined].tolist())
        return cls(values[at], weights[at], math.fsum((weights * terms)[defined].tolist()), whole, aggregate)

    @property
    def mean(self) -> float:
        """The mean before it is made geometric."""
        return self.total / self.whole if self.whole else math.nan

    @property
    def share(self) -> Array:
        """The share of each query in the mean."""
        return self.weight / (self.whole or 1.0)

    def change(self, queries: Array, values: Array) -> Array:
        """Return the change of the mean if one of these queries had its new value, for each query, NaN without a mean."""
        before, after = as_terms(self.aggregate, self.value[queries]), as_terms(self.aggregate, values)
        weight = self.weight[queries]
        had, has = ~np.isnan(before), ~np.isnan(after)
        more = weight * (np.where(has, after, 0.0) - np.where(had, before, 0.0))
        whole = self.whole + (0.0 if self.aggregate == "sum" else weight * (has.astype(float) - had))
        mean = self.mean if self.whole else 0.0
        with np.errstate(invalid="ignore", divide="ignore"):
            step = np.where(has == had, more / self.whole if self.whole else 0.0, (self.total + more) / whole - mean)
        return np.asarray(np.expm1(step) * math.exp(mean) if self.aggregate == "geometric" else step)


def as_terms(aggregate: str, values: Array) -> Array:
    """Return the terms of a mean: the values, or their logarithms."""
    return logs_of(values) if aggregate == "geometric" else values


@dataclass(frozen=True, eq=False)
class SingleEffects:
    """The change of the mean of each run by one unjudged document of the top grade, ``perfect``: runs x queries x places, 0 if not tried.

    ``considered`` marks the documents that were tried. ``effect`` is the largest difference that the judgment of a document could make,
    at the top grade or at 0: to a difference between runs, or to the value of the only one.
    """

    perfect: Array
    effect: Array
    considered: Array


def single_effects(cells: Cells, documents: UnjudgedDocuments, means: Sequence[MeanParts], top: float) -> SingleEffects:
    """Return the effect of judging each document, or the best-ranked ones if there are too many."""
    queries, places = np.nonzero(documents.there)
    cost = sum(cells.sizes(run, np.arange(len(documents.queries))) for run in range(len(means)))
    order = np.lexsort((places, queries, documents.best_rank[queries, places]))
    order = np.sort(order[: max(1, int(np.searchsorted(np.cumsum(np.asarray(cost)[queries[order]]), ROOM)))])
    queries, places, width = queries[order], places[order], documents.there.shape[1]
    moves = np.zeros((2, len(means), *documents.there.shape))  # by a document of the top grade, and of grade 0
    many = max(1, ROOM // max(width, 1))
    for run, mean in enumerate(means):
        none = cells.values(run, np.arange(len(documents.queries)), np.where(documents.there, 0.0, np.nan))
        harmless = np.array_equal(none, mean.value, equal_nan=True)  # grade 0 changes no value
        for grade, out in zip((top,) if harmless else (top, 0.0), moves[:, run], strict=False):
            for first in range(0, len(order), many):
                query, place = queries[first : first + many], places[first : first + many]
                grades = np.where(np.arange(width) == place[:, None], grade, np.nan)
                out[query, place] = mean.change(query, cells.values(run, query, grades))
    known = np.nan_to_num(moves, nan=0.0)
    reach = np.abs(known[:, 0]) if len(means) == 1 else known.max(axis=1) - known.min(axis=1)
    considered = np.zeros_like(documents.there)
    considered[queries, places] = True
    return SingleEffects(moves[0], np.asarray(reach.max(axis=0)), considered)


def find_reversal(
    cells: Cells, means: Sequence[MeanParts], pair: tuple[int, int], effects: SingleEffects, top: float, alone: bool
) -> list[tuple[int, int]] | None:
    """Return documents (query and place) that would reverse a difference with the top grade, most helpful first (the fewest if they earn ``alone``). None if no documents would."""
    signs = dict(zip(pair, (1.0, -1.0), strict=True))
    difference = sum(sign * means[run].mean for run, sign in signs.items())
    if math.isnan(difference) or abs(difference) <= SAME:
        return None
    side, left = math.copysign(1.0, difference), abs(difference)

    def gain_of(moves: Mapping[int, Array]) -> Array:
        """Return the part of the difference that documents remove, from the changes of the means."""
        return -side * np.nan_to_num(sum(sign * moves[run] for run, sign in signs.items()), nan=0.0)

    steps = {run: effects.perfect[run] for run in pair}
    if means[pair[0]].aggregate == "geometric":  # as steps of the mean of logarithms
        steps = {run: np.log1p(step / math.exp(means[run].mean)) for run, step in steps.items()}
    gain = gain_of(steps)
    grades = np.full(gain.shape, np.nan)
    picks: list[tuple[int, int]] = []
    while left >= -SAME:
        query, place = (int(i) for i in np.unravel_index(int(gain.argmax()), gain.shape))
        if gain[query, place] <= SAME or len(picks) >= STEPS:
            return None
        picks.append((query, place))
        left -= gain[query, place]
        grades[query, place] = top
        gain[query, place] = 0.0
        if alone:
            continue
        # with this grade, the others of its query have another effect
        others = np.flatnonzero(effects.considered[query] & np.isnan(grades[query]))
        rows = np.tile(grades[query], (len(others) + 1, 1))
        rows[np.arange(len(others)) + 1, others] = top
        moves = {}
        for run in pair:
            terms = as_terms(means[run].aggregate, cells.values(run, np.full(len(rows), query), rows))
            moves[run] = means[run].weight[query] * (terms - terms[0]) / means[run].whole
        gain[query] = 0.0
        gain[query, others] = gain_of(moves)[1:]
    return picks
