"""Fusions: one score per document from the scores or ranks of several runs."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Annotated, ClassVar

import numpy as np

from rankscope.declared import Declared, Param
from rankscope.lists import Array
from rankscope.rankers.rank_table import RankTable

Weights = Annotated[
    tuple[float, ...], Param("the weight of each run, in the order of the runs, or () for equal weights")
]

BELOW_ALL = 1e15  # the rank of a document that a run did not retrieve, in duels


class Fusion(Declared, kind="fusion"):
    """Base of every fusion. A subclass returns one score per document, higher is better: ``scores(table)``.

    ``of_scores`` is true if it needs scores on one scale (a normalisation), false if it needs only ranks. ``unsigned`` fusions need
    scores of 0 or more, because a document that more runs retrieve would lose by a negative score. A fusion that ``learns`` from judgments
    returns the values of each run from ``learn``, and uses them in ``scores_with``.
    """

    of_scores: ClassVar[bool] = False
    unsigned: ClassVar[bool] = False
    learns: ClassVar[bool] = False
    source: ClassVar[str] = ""

    def scores(self, table: RankTable) -> Array:
        """Return one score per row of the table."""
        raise TypeError(f"{type(self).__name__} does not return scores")

    def learn(self, table: RankTable) -> list[Array]:
        """Return an array per run from a table with ``relevant``."""
        raise TypeError(f"{type(self).__name__} does not learn")

    def scores_with(self, table: RankTable, learned: list[Array]) -> Array:
        """Return one score per row, with the values of ``learn``, of the same runs in the same order."""
        raise TypeError(f"{type(self).__name__} does not learn")

    @property
    def run_weights(self) -> tuple[float, ...]:
        """The weights of the runs, empty if all count alike."""
        return tuple(getattr(self, "weights", ()))

    def weights_of(self, table: RankTable) -> Array:
        """The weight of each run as an array."""
        return np.asarray(self.run_weights or (1.0,) * table.runs, dtype=np.float64)


class _OfScores(Fusion):
    of_scores = True


class CombMIN(_OfScores, aliases=("min", "comb_min")):
    """The lowest score among the runs that retrieved a document."""

    source = "Fox and Shaw, Combination of multiple searches, TREC-2, 1994"

    def scores(self, table: RankTable) -> Array:
        return np.asarray(np.fmin.reduce(table.scores, axis=1))


class CombMAX(_OfScores, aliases=("max", "comb_max")):
    """The highest score among the runs that retrieved a document."""

    source = CombMIN.source

    def scores(self, table: RankTable) -> Array:
        return np.asarray(np.fmax.reduce(table.scores, axis=1))


class CombMED(_OfScores, aliases=("med", "median", "comb_med")):
    """The median score among the runs that retrieved a document."""

    source = CombMIN.source

    def scores(self, table: RankTable) -> Array:
        rising = np.sort(table.scores, axis=1)  # NaN last
        count, row = (~np.isnan(rising)).sum(axis=1), np.arange(len(rising))
        return np.asarray((rising[row, (count - 1) // 2] + rising[row, count // 2]) / 2.0)


class CombSUM(_OfScores, aliases=("sum", "comb_sum")):
    """The sum of scores. A run that did not retrieve a document adds 0.

    >>> import numpy as np
    >>> table = RankTable.of(np.array([[1.0, 0.5], [np.nan, 1.0]]), np.array([[1.0, 2], [np.nan, 1]]), np.array([2]))
    >>> CombSUM().scores(table).tolist()
    [1.5, 1.0]
    """

    source = CombMIN.source

    def scores(self, table: RankTable) -> Array:
        return table.total(table.scores)


class CombANZ(_OfScores, aliases=("anz", "comb_anz")):
    """The mean score over the runs that retrieved a document."""

    source = CombMIN.source

    def scores(self, table: RankTable) -> Array:
        return table.total(table.scores) / table.hits


class CombMNZ(_OfScores, aliases=("mnz", "comb_mnz")):
    """The sum of scores times the number of runs that retrieved a document."""

    unsigned = True
    source = CombMIN.source

    def scores(self, table: RankTable) -> Array:
        return table.total(table.scores) * table.hits


class CombGMNZ(_OfScores, aliases=("gmnz", "comb_gmnz")):
    """The sum of scores times a power of the number of runs that retrieved a document."""

    gamma: Annotated[float, Param("the exponent: 0 is CombSUM, 1 is CombMNZ")] = 1.0
    unsigned = True
    source = "Lee, Analyses of multiple evidence combination, SIGIR 1997"

    def scores(self, table: RankTable) -> Array:
        return table.total(table.scores) * table.hits**self.gamma


class WeightedSum(_OfScores, aliases=("wsum", "weighted_sum")):
    """The weighted sum of scores. A run that did not retrieve a document adds 0."""

    weights: Weights = ()

    def scores(self, table: RankTable) -> Array:
        return table.total(table.scores, self.weights_of(table))


class WeightedMNZ(_OfScores, aliases=("wmnz", "weighted_mnz")):
    """The sum of scores times the sum of the weights of the runs that retrieved a document."""

    weights: Weights = ()
    unsigned = True
    source = "Wu and Crestani, Data fusion with estimated weights, CIKM 2002"

    def scores(self, table: RankTable) -> Array:
        return np.asarray(table.total(table.scores) * (table.found * self.weights_of(table)).sum(axis=1))


class Mixed(_OfScores, aliases=("mixed",)):
    """The weighted sum of scores times the square root of the number of runs that retrieved a document."""

    weights: Weights = ()
    unsigned = True

    def scores(self, table: RankTable) -> Array:
        return table.total(table.scores, self.weights_of(table)) * np.sqrt(table.hits)


class RRF(Fusion, aliases=("rrf", "reciprocal_rank_fusion")):
    """The sum of weight / (k + rank): reciprocal rank fusion.

    >>> import numpy as np
    >>> table = RankTable.of(np.ones((2, 2)), np.array([[1.0, 2], [2, np.nan]]), np.array([2]))
    >>> (RRF(k=60).scores(table) == [1 / 61 + 1 / 62, 1 / 62]).tolist()
    [True, True]
    """

    k: Annotated[float, Param("added to every rank: a larger k gives lower ranks more weight", above=-1.0)] = 60
    weights: Weights = ()
    source = "Cormack, Clarke and Büttcher, Reciprocal rank fusion outperforms Condorcet, SIGIR 2009"

    def scores(self, table: RankTable) -> Array:
        return table.total_at_ranks(
            lambda rank: 1.0 / (self.k + rank), self.weights_of(table) if self.weights else None
        )


class ISR(Fusion, aliases=("isr",)):
    """The sum of 1 / rank^2 times the number of runs that retrieved a document."""

    source = "Mourão, Martins and Magalhães, Inverse square rank fusion for multimodal search, CBMI 2014"

    def scores(self, table: RankTable) -> Array:
        return table.total_at_ranks(lambda rank: rank**-2.0) * table.hits


class LogISR(Fusion, aliases=("log_isr",)):
    """The sum of 1 / rank^2 times the logarithm of the number of runs that retrieved a document: 0 for a single run."""

    source = "Mourão, Martins and Magalhães, Multimodal medical information retrieval with unsupervised rank fusion, CMIG 2015"

    def scores(self, table: RankTable) -> Array:
        return table.total_at_ranks(lambda rank: rank**-2.0) * np.log(table.hits)


class LogNISR(Fusion, aliases=("logn_isr",)):
    """The sum of 1 / rank^2 times ln(n + sigma), for n runs that retrieved a document."""

    sigma: Annotated[float, Param("added to the number of runs, so that a single run counts", above=0.0)] = 0.01
    source = LogISR.source

    def scores(self, table: RankTable) -> Array:
        return table.total_at_ranks(lambda rank: rank**-2.0) * np.log(table.hits + self.sigma)


class RBC(Fusion, aliases=("rbc", "rank_biased_centroid")):
    """The sum of (1 - phi) phi^(rank - 1): rank-biased centroid."""

    phi: Annotated[
        float, Param("the patience of a reader: the probability of reading the next rank", low=0.0, high=1.0)
    ] = 0.8
    source = "Bailey, Moffat, Scholer and Thomas, Retrieval consistency in the presence of query variations, SIGIR 2017"

    def scores(self, table: RankTable) -> Array:
        return table.total_at_ranks(lambda rank: (1.0 - self.phi) * self.phi ** (rank - 1.0))


class Borda(Fusion, aliases=("borda", "bordafuse", "w_bordafuse")):
    """Votes by rank: of c documents in all lists the first gets c points, the next c - 1. Missing ones share the points left over."""

    weights: Weights = ()
    source = "Aslam and Montague, Models for metasearch, SIGIR 2001"

    def scores(self, table: RankTable) -> Array:
        count = np.repeat(table.sizes, table.sizes)[:, None].astype(np.float64)
        points = np.where(table.found, count - table.ranks + 1.0, (count - table.retrieved + 1.0) / 2.0)
        return table.total(points, self.weights_of(table))


class Condorcet(Fusion, aliases=("condorcet", "w_condorcet")):
    """Order documents so that most runs rank each above the next. A run ranks a retrieved document above a missing one.

    Documents are sorted by majorities, in the order of their Borda points at first, and equal votes keep that order. Scores are n for the
    first of n documents, down to 1. Majorities can be circular, and then the order depends on the start of the sort.
    """

    weights: Weights = ()
    source = "Montague and Aslam, Condorcet fusion for improved retrieval, CIKM 2002"

    def scores(self, table: RankTable) -> Array:
        ranks, weights = np.nan_to_num(table.ranks, nan=BELOW_ALL), self.weights_of(table)
        points, out = Borda(weights=self.weights).scores(table), np.empty(len(ranks))
        for start, size in zip(table.starts.tolist(), table.sizes.tolist(), strict=True):
            rows = start + np.argsort(-points[start : start + size], kind="stable")
            mine = ranks[rows]

            def votes(a: int, b: int, mine: Array = mine) -> int:
                return int(np.sign(weights @ np.sign(mine[a] - mine[b])))

            order = sorted(range(size), key=cmp_to_key(votes))
            out[rows[order]] = np.arange(size, 0, -1)
        return out
