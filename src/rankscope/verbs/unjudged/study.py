"""One metric over some runs and the documents in their tops that nobody judged: what they could do to it.

What to try is searched for with the judged documents that the engine found (``Cells``). The numbers that are reported come from
``evaluate``, on judgments to which the grades were added.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b

import numpy as np
import polars as pl

from rankscope.engines.base import SEVERAL
from rankscope.engines.top import top as top_of
from rankscope.errors import InputError
from rankscope.lists import Array
from rankscope.scoring.conventions import MetricRequest
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.inputs import judge
from rankscope.scoring.scores import Scores
from rankscope.verbs.unjudged.bounds import Search, alone, exchanges, extremes
from rankscope.verbs.unjudged.cells import Cells, Unseen, coded, filled, unseen
from rankscope.verbs.unjudged.effects import Averaged, Singles, singles
from rankscope.verbs.unjudged.given import Given, reason_of, top_grade
from rankscope.verbs.unjudged.turn import SAME, Pair, turning

MOST = 5_000_000  # documents of all runs together: minutes of work


@dataclass(frozen=True)
class Ends:
    """A value under the grades that were tried."""

    worthless: float
    perfect: float
    lower: float
    upper: float
    exact: bool


@dataclass(eq=False)
class Study:
    """One metric: its values by run, the documents nobody judged, and what they could do.

    ``top`` is the best grade a document can get, ``depth`` how far down each ranking is looked at, ``reason`` says why only the
    extremes of all documents alike are known, where that is so.
    """

    given: Given
    asked: MetricRequest
    scores: Scores
    found: Unseen
    depth: int | None
    top: float
    reason: str
    _known: dict[tuple[int, bytes], float] = field(default_factory=dict)

    @cached_property
    def values(self) -> list[float]:
        """The value of each run as judged."""
        return [self._mean(self.scores, run.name) for run in self.scores.runs]

    @cached_property
    def levels(self) -> list[float]:
        """The grades that a document may get."""
        return [*(level for level in self.given.levels if level < self.top), self.top]

    @property
    def considered(self) -> int:
        """How many documents were tried one by one."""
        return 0 if self.reason or not self.found.queries else int(self.singles.considered.sum())

    @cached_property
    def alone(self) -> bool:
        """Whether every document earns on its own."""
        return alone(self.asked.metric, self.top, self.asked.convention.ties)

    @property
    def fewest(self) -> bool:
        """Whether the greedy number is the smallest there is: each document earns on its own, and all were tried."""
        return self.alone and self.considered == int(self.found.there.sum())

    @cached_property
    def cells(self) -> Cells:
        """The cells of all runs."""
        call = replace(self.given.call, asked=[self.asked])
        order, grades = call.order(self.asked), coded(self.given.qrels, self.found)
        judged = [judge(run, grades, order, "run")[0] for run in self.given.runs]
        how = {"ties": self.asked.convention.ties, "depth": call.depth, "seed": call.seed}
        return Cells.of(self.asked.metric, judged, self.found.queries, **how)

    @cached_property
    def averaged(self) -> list[Averaged]:
        """What the mean of each run is made of."""
        out = []
        for run in self.scores.runs:
            place = {query: i for i, query in enumerate(run.query_ids)}
            values = run.values[self.asked.metric]
            weights = run.weights.get(self.asked.metric, np.ones(len(values)))
            # a query that is not averaged stands after the last one
            values, weights = np.append(values, np.nan), np.append(np.nan_to_num(weights), 0.0)
            at = np.array([place.get(query, len(place)) for query in self.found.queries], dtype=np.int64)
            out.append(Averaged.of(self.asked.metric.aggregate, values, weights, at))
        return out

    @cached_property
    def singles(self) -> Singles:
        """What each document alone would do."""
        return singles(self.cells, self.found, self.averaged, self.top)

    # -- one run ----------------------------------------------------------------------------------

    def bounds(self, run: int) -> Ends:
        """The value of a run when the unjudged documents of its top get grades."""
        documents = self.found.rank[run] > 0
        if not documents.any():
            value = self.values[run]
            return Ends(value, value, value, value, exact=True)
        worthless = self.value(run, np.where(documents, 0.0, np.nan))
        perfect = self.value(run, np.where(documents, self.top, np.nan))
        ends = [worthless, perfect]
        exact = False
        if not self.reason:
            ordered = self.alone or exchanges(self.asked.metric, self.asked.convention.ties)
            levels = [0.0, self.top] if self.alone else self.levels
            key = self.found.rank[run].astype(float)
            found = extremes(
                self.cells,
                Search(documents, key, levels, {run: self.averaged[run].share}, ordered),
            )
            ends += [self.value(run, found.lower), self.value(run, found.upper)]
            exact = found.complete
        return Ends(worthless, perfect, _least(ends), _most(ends), exact)

    # -- two runs ---------------------------------------------------------------------------------

    def between(self, run: int, baseline: int) -> int:
        """How many unjudged documents stand in the top of either run."""
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
            levels = [0.0, self.top] if self.alone else self.levels
            parts = {run: self.averaged[run].share, baseline: -self.averaged[baseline].share}
            found = extremes(self.cells, Search(documents, step, levels, parts, self.alone))
            fills += [found.lower, found.upper]
            # the order of documents that were not tried is not known; geometric means are no sum over queries
            sorted_out = self.fewest or not self.alone
            exact = found.complete and sorted_out and self.asked.metric.aggregate != "geometric"
        ends = [self.value(run, grades) - self.value(baseline, grades) for grades in fills]
        return _least(ends), _most(ends), exact

    def turn(self, run: int, baseline: int) -> tuple[list[tuple[int, int]] | None, float | None, str]:
        """Documents that would turn the difference if perfect, the difference there then is, and why there are none."""
        difference = self.values[run] - self.values[baseline]
        documents = self._of_either(run, baseline)
        if self.reason:
            return None, None, self.reason
        if math.isnan(difference) or abs(difference) <= SAME:
            return None, None, "there is no difference to turn"
        if not documents.any():
            return None, None, "every document in the top of both is judged"
        only = replace(
            self.singles,
            perfect=np.where(documents, self.singles.perfect, 0.0),
            considered=self.singles.considered & documents,
        )
        picked = turning(self.cells, self.averaged, Pair(run, baseline), only, self.top, self.alone)
        if picked is None:
            sure = "no judgment of them could" if self.fewest else "none were found that do"
            return None, None, sure
        grades = np.full(documents.shape, np.nan)
        grades[tuple(np.array(picked).T)] = self.top
        turned = self.value(run, grades) - self.value(baseline, grades)
        if turned * difference >= 0:
            return None, None, "none were found that do"
        return picked, turned, ""

    def _of_either(self, run: int, baseline: int) -> Array:
        return np.asarray((self.found.rank[run] > 0) | (self.found.rank[baseline] > 0))

    # -- what to judge ----------------------------------------------------------------------------

    def wanted(self, n: int) -> Iterator[tuple[str, str, list[int], float]]:
        """The documents that could change most: query, document, its rank in each run (0: not in the top), effect."""
        if self.reason or not self.found.queries:
            return
        queries, places = np.nonzero(self.singles.considered & self.found.there)
        effect = self.singles.effect[queries, places]
        # what differs by rounding alone is the same
        order = np.lexsort((places, queries, self.found.best_rank[queries, places], -effect.round(12)))
        # rows of the frame follow queries and places
        size = self.found.there.sum(axis=1)
        rows = (np.cumsum(size) - size)[queries[order[:n]]] + places[order[:n]]
        names = self.found.frame.select("query_id", "doc_id")[rows].rows()
        for (query, doc), i in zip(names, order[:n].tolist(), strict=True):
            yield query, doc, self.found.rank[:, queries[i], places[i]].tolist(), float(effect[i])

    # -- through evaluate -------------------------------------------------------------------------

    def value(self, run: int, grades: Array) -> float:
        """The value of a run when these documents (queries x places) have these grades, NaN for those left unjudged."""
        key = run, blake2b(grades.tobytes()).digest()
        if key not in self._known:
            at = self.found.frame["query"].to_numpy(), self.found.frame["place"].to_numpy()
            mine = pl.Series(list(self.scores.runs[run].query_ids), dtype=pl.String).implode()
            # a query that another run alone brings in is none of this one's
            given = self.found.frame.with_columns(pl.Series("grade", grades[at])).filter(
                pl.col("grade").is_not_nan() & pl.col("query_id").is_in(mine)
            )
            asked, only = self.asked, self.given.call.only
            if asked.convention.queries == "both":  # which needs all runs to be told
                asked = replace(asked, convention=replace(asked.convention, queries="list"))
                only = frozenset(self.scores.runs[run].query_ids)
            call = replace(self.given.call, asked=[asked], only=only, facts={})
            several = bool(self.asked.metric.needs & SEVERAL)
            more = filled(self.given.qrels, given, several)
            scores = evaluate_request(more, [("run", self.given.runs[run].data)], call)
            self._known[key] = self._mean(scores, scores.runs[0].name)
        return self._known[key]

    def _mean(self, scores: Scores, name: str) -> float:
        return next(m.value for m in scores.board if m.run == name and m.metric == self.asked.metric)


def study_of(given: Given, asked: MetricRequest, scores: Scores, grade: float | None) -> Study:
    """Find the documents that nobody judged in what a metric looks at."""
    call = replace(given.call, asked=[asked])
    cutoff = None if asked.metric.looks_below else getattr(asked.metric, "cutoff", None)
    depth = min((k for k in (cutoff, call.depth) if k is not None), default=None)
    order = call.order(asked)
    tops = [top_of(run.data, order, depth, f"run {number}") for number, run in enumerate(given.runs, start=1)]
    rows = sum(rows.height for rows in tops)
    if rows > MOST:
        where = "whole rankings" if depth is None else f"the top {depth:,}"
        raise InputError(
            f"{asked.metric} looks at {where}, here {rows:,} documents, too many to be tried: look less deep, with a cutoff or a depth "
            "(--depth 100)"
        )
    found = unseen(tops, given.qrels, [run.query_ids for run in scores.runs])
    top = top_grade(asked.metric, given.levels[-1]) if grade is None else float(grade)
    return Study(given, asked, scores, found, depth, top, reason_of(asked))


def _least(values: Sequence[float]) -> float:
    return min((v for v in values if not math.isnan(v)), default=math.nan)


def _most(values: Sequence[float]) -> float:
    return max((v for v in values if not math.isnan(v)), default=math.nan)
