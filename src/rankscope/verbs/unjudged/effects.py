"""What judging one document would do to the mean of each run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankscope.lists import Array
from rankscope.panels.samples import FLOOR
from rankscope.verbs.unjudged.cells import Cells, UnjudgedDocuments

DOCUMENTS = 4_000_000  # judged documents in the variants that are tried, one unjudged document each


@dataclass(frozen=True, eq=False)
class MeanParts:
    """What the mean of a run is made of: ``summed`` over ``whole``, of all queries.

    ``value`` and ``weight`` are of the queries that have unjudged documents, in their order.
    """

    value: Array
    weight: Array
    summed: float
    whole: float
    aggregate: str = "mean"

    @classmethod
    def of(cls, aggregate: str, values: Array, weights: Array, at: Array) -> MeanParts:
        """Of the values of all queries (NaN: undefined); those with unjudged documents are at these places."""
        terms = as_terms(aggregate, values)
        defined = ~np.isnan(terms)
        whole = 1.0 if aggregate == "sum" else math.fsum(weights[defined].tolist())
        weights = np.ones_like(weights) if aggregate == "sum" else weights
        return cls(values[at], weights[at], math.fsum((weights * terms)[defined].tolist()), whole, aggregate)

    @property
    def mean(self) -> float:
        """The mean before it is made geometric."""
        return self.summed / self.whole if self.whole else math.nan

    @property
    def share(self) -> Array:
        """What each of these queries counts in the mean."""
        return self.weight / (self.whole or 1.0)

    def step_in_terms(self, step: Array) -> Array:
        """A step of the mean as a step of what is added up for it."""
        if self.aggregate != "geometric":
            return step
        return np.log1p(step / math.exp(self.mean))

    def change(self, queries: Array, values: Array) -> Array:
        """How the mean would change if these queries, each alone, had these values; NaN where there is no mean."""
        before, after = as_terms(self.aggregate, self.value[queries]), as_terms(self.aggregate, values)
        weight = self.weight[queries]
        had, has = ~np.isnan(before), ~np.isnan(after)
        more = weight * (np.where(has, after, 0.0) - np.where(had, before, 0.0))
        whole = self.whole + (0.0 if self.aggregate == "sum" else weight * (has.astype(float) - had))
        mean = self.mean if self.whole else 0.0
        with np.errstate(invalid="ignore", divide="ignore"):
            step = np.where(has == had, more / self.whole if self.whole else 0.0, (self.summed + more) / whole - mean)
        return np.asarray(np.expm1(step) * math.exp(mean) if self.aggregate == "geometric" else step)


def as_terms(aggregate: str, values: Array) -> Array:
    """What is added up for a mean: the values, or their logarithms."""
    if aggregate != "geometric":
        return values
    return np.array([math.nan if math.isnan(v) else math.log(max(v, FLOOR)) for v in values.tolist()])


@dataclass(frozen=True, eq=False)
class SingleEffects:
    """What each unjudged document alone would do to the mean of each run: runs x queries x places, 0 where none was tried.

    ``perfect`` is for the top grade, ``worthless`` for grade 0. ``considered`` marks the documents that were tried.
    """

    perfect: Array
    worthless: Array
    considered: Array

    @property
    def effect(self) -> Array:
        """The largest difference that a document could make: to a difference between runs, or to the value of the only one."""
        return np.maximum(_reach(self.perfect), _reach(self.worthless))


def _reach(moves: Array) -> Array:
    moves = np.nan_to_num(moves, nan=0.0)
    return np.asarray(np.abs(moves[0]) if len(moves) == 1 else moves.max(axis=0) - moves.min(axis=0))


def single_effects(cells: Cells, documents: UnjudgedDocuments, means: Sequence[MeanParts], top: float) -> SingleEffects:
    """Judge every document alone; where they are too many, those of the best ranks."""
    considered = _considered(cells, documents)
    queries, places = np.nonzero(considered)
    shape = (len(means), *considered.shape)
    perfect, worthless = np.zeros(shape), np.zeros(shape)
    for run, mean in enumerate(means):
        perfect[run][queries, places] = _changes(cells, run, mean, (queries, places), shape[-1], top)
        everyone = np.arange(len(documents.queries))
        none = cells.values(run, everyone, np.where(documents.there, 0.0, np.nan))
        if not np.array_equal(none, mean.value, equal_nan=True):
            worthless[run][queries, places] = _changes(cells, run, mean, (queries, places), shape[-1], 0.0)
    return SingleEffects(perfect, worthless, considered)


def _considered(cells: Cells, documents: UnjudgedDocuments) -> Array:
    """The documents that are tried: all, or those of the best ranks, as many as there is time for."""
    queries, places = np.nonzero(documents.there)
    cost = sum(one.size[rows] for one, rows in zip(cells.judged, cells.rows, strict=True))
    order = np.lexsort((places, queries, documents.best_rank[queries, places]))
    kept = order[: max(1, int(np.searchsorted(np.cumsum(np.asarray(cost)[queries[order]]), DOCUMENTS)))]
    out = np.zeros(documents.there.shape, dtype=bool)
    out[queries[kept], places[kept]] = True
    return out


def _changes(cells: Cells, run: int, mean: MeanParts, at: tuple[Array, Array], width: int, grade: float) -> Array:
    """How the mean of a run would change if each document, alone, had this grade."""
    queries, places = at
    out = np.zeros(len(queries))
    many = max(1, DOCUMENTS // max(width, 1))
    for first in range(0, len(queries), many):
        part = slice(first, first + many)
        grades = np.full((len(queries[part]), width), np.nan)
        grades[np.arange(len(grades)), places[part]] = grade
        out[part] = mean.change(queries[part], cells.values(run, queries[part], grades))
    return out
