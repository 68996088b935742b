"""Measures of the agreement of two rankings: rank-biased overlap, Jaccard, and correlations of ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankscope.declared import Declared, Param
from rankscope.lists import Array
from rankscope.lists.overlap import count_shared_by_depth, jaccard, kendall, rbo, rbo_by_query

Persistence = Annotated[float, Param("the chance of going on to the next rank", above=0, high=1)]
USUAL = ("RBO(p=0.9)", "Jaccard@10", "Kendall", "TauAP", "WeightedTau")


@dataclass(frozen=True, eq=False)
class Two:
    """Two rankings of one query: documents, best first, and the number of the group of equal scores of each."""

    docs: tuple[Sequence[str], Sequence[str]]
    group: tuple[Array, Array]

    @cached_property
    def tied(self) -> bool:
        """True if a ranking has equal scores."""
        return any(len(np.unique(group)) < len(group) for group in self.group)

    @cached_property
    def shared(self) -> tuple[Array, Array]:
        """The places, from 0, in each ranking of the documents that both have, in the order of the first."""
        place = {doc: i for i, doc in enumerate(self.docs[1])}
        at = [(i, place[doc]) for i, doc in enumerate(self.docs[0]) if doc in place]
        places = np.array(at, dtype=np.int64).reshape(-1, 2)
        return places[:, 0], places[:, 1]

    @cached_property
    def levels(self) -> tuple[Array, Array]:
        """The groups of equal scores of the shared documents in each ranking: lower is better."""
        first, second = self.shared
        return self.group[0][first], self.group[1][second]

    def groups(self, which: int) -> list[list[str]]:
        """A ranking as groups of documents with equal scores."""
        out: dict[int, list[str]] = {}
        for doc, group in zip(self.docs[which], self.group[which].tolist(), strict=True):
            out.setdefault(group, []).append(doc)
        return list(out.values())


class OfRankings(Declared, kind="agreement"):
    """Base of every measure of agreement. The docstring of a class is its line in the help; ``of`` computes it for two rankings."""

    source: ClassVar[str] = ""
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)

    def of(self, two: Two) -> float:
        """The agreement of two rankings, NaN if they have none."""
        raise TypeError(f"{type(self).__name__} has no method of()")


class RBO(OfRankings):
    """Rank-biased overlap: the mean overlap at depth 1, 2, 3 ..., with most weight on the top; 1 if two rankings are the same."""

    source = "Webber, Moffat and Zobel, A similarity measure for indefinite rankings, TOIS 2010; ties: Corsi and Urbano, SIGIR 2024"
    range = (0.0, 1.0)

    p: Persistence = 0.9
    ties: Annotated[
        Literal["w", "a", "b"], Param("equal scores share a rank, have an unknown order, or that corrected")
    ] = "a"

    def of(self, two: Two) -> float:
        """The extrapolated overlap of two rankings."""
        if two.tied:
            return rbo(two.groups(0), two.groups(1), self.p, self.ties).ext
        sizes = tuple(map(len, two.docs))
        deeper = np.maximum(*two.shared) + 1
        shared = count_shared_by_depth(np.zeros(len(deeper), dtype=np.int64), deeper, 1, max(*sizes, 1))
        return float(rbo_by_query(shared, np.array([sizes[0]]), np.array([sizes[1]]), self.p)[0])


class Jaccard(OfRankings):
    """The documents in the first k of both rankings, out of those in the first k of either."""

    source = "Jaccard, 1912"
    range = (0.0, 1.0)

    cutoff: Annotated[int | None, Param("the last rank that counts", low=1, needed=True)] = None

    def of(self, two: Two) -> float:
        """The share of documents in common."""
        return jaccard(list(two.docs[0]), list(two.docs[1]), self.cutoff or 1)


class Kendall(OfRankings, aliases=("tau", "kendall_tau")):
    """Kendall's tau-b of the documents that both rankings have: 1 in the same order, -1 in the opposite order."""

    source = "Kendall, Rank correlation methods, 1948"

    def of(self, two: Two) -> float:
        """The correlation, NaN for fewer than two documents in common."""
        return kendall(*two.levels) if len(two.levels[0]) > 1 else math.nan


class TauAP(OfRankings, aliases=("tau_ap",)):
    """Kendall's tau with most weight on the top, of the documents that both rankings have; the second ranking is the reference."""

    source = "Yilmaz, Aslam and Robertson, A new rank correlation coefficient for information retrieval, SIGIR 2008"

    symmetric: Annotated[bool, Param("the mean of both directions")] = False

    def of(self, two: Two) -> float:
        """The correlation, NaN for fewer than two documents in common."""
        first, second = two.shared
        if len(first) < 2:
            return math.nan
        here = _tau_ap(second)
        return (here + _tau_ap(np.argsort(second, kind="stable"))) / 2.0 if self.symmetric else here


def _tau_ap(place: Array) -> float:
    """tau_ap of a ranking whose documents have these places in the reference: the mean share of the documents above each one that the reference also has above it."""
    above = place[None, :] < place[:, None]
    right = np.tril(above, -1).sum(axis=1)[1:] / np.arange(1, len(place))
    return 2.0 * math.fsum(right.tolist()) / (len(place) - 1) - 1.0


class WeightedTau(OfRankings, aliases=("weighted_tau", "weightedtau")):
    """Kendall's tau in which an exchange weighs 1/rank + 1/rank, the mean of the weights by both rankings."""

    source = "Vigna, A weighted correlation index for rankings with ties, WWW 2015; scipy.stats.weightedtau"

    def of(self, two: Two) -> float:
        """The correlation, NaN for fewer than two documents in common."""
        one, other = (-level.astype(float) for level in two.levels)
        if len(one) < 2:
            return math.nan
        return (_weighted(one, other, one, other) + _weighted(one, other, other, one)) / 2.0


def _weighted(one: Array, other: Array, by: Array, then: Array) -> float:
    rank = np.empty(len(one))
    rank[np.lexsort((-then, -by))] = np.arange(len(one))
    weight = 1.0 / (rank + 1.0)
    pair = weight[:, None] + weight[None, :]
    np.fill_diagonal(pair, 0.0)
    signs = [np.sign(values[:, None] - values[None, :]) for values in (one, other)]
    norms = [float((pair * sign**2).sum()) for sign in signs]
    both = math.sqrt(norms[0] * norms[1])
    return float((pair * signs[0] * signs[1]).sum()) / both if both else math.nan
