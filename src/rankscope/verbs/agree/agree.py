"""Measure how much the rankings of runs agree, without judgments."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from rankscope import words
from rankscope.declared import Declared, Param
from rankscope.engines.base import Order
from rankscope.engines.top import top
from rankscope.errors import DataError, InputError
from rankscope.lists import Array
from rankscope.lists.overlap import count_shared_by_depth, jaccard, kendall, rbo, rbo_by_query
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure
from rankscope.scoring.fusing import read_tables
from rankscope.scoring.policies import Policies
from rankscope.tables import Run
from rankscope.verbs.agree.result import RankAgreement
from rankscope.words import in_caller_syntax

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
        """Return the agreement of two rankings, NaN if it is undefined."""
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
    """Return tau_ap of a ranking, given the places of its documents in the reference: the mean share of documents above each one that are also above it there."""
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


DEPTH = 100  # ranks compared: with p = 0.9 a lower rank weighs less than 0.9**100
Ranking = tuple[list[str], Array]


def agree(
    runs: Any, measures: Any = None, *, depth: int = DEPTH, ties: str = "trec", duplicates: str = "error", columns: Any = None,
    per_query: bool = False,
) -> RankAgreement:  # fmt: skip
    """Measure how much the rankings of each two runs agree, per query and over queries. No judgments are needed.

    ``runs`` is a list or a dict of runs, each as for ``evaluate``. ``measures`` are ``RBO(p=0.9)``, ``Jaccard@10``, ``Kendall``, ``TauAP`` and
    ``WeightedTau``, or some of them. Rankings are compared down to ``depth``. Equal scores are ties for RBO, Kendall and WeightedTau. For
    ``Jaccard`` and ``TauAP`` the option ``ties`` orders them. Queries that only one of two runs has are left out, and counted.

    Raises InputError for fewer than two runs or an unknown measure. Raises DataError if no query is in two runs.

    >>> import rankscope as rs
    >>> found = rs.agree({"a": {"q": ["x", "y", "z"]}, "b": {"q": ["x", "z", "y"]}}, ["Kendall", "Jaccard@2"])
    >>> (
    ...     found["a", "b", "Kendall"].value,
    ...     found["a", "b", "Jaccard@2"].value,
    ... )  # 2 of 3 pairs agree, 1 of 3 documents is shared
    (0.3333333333333333, 0.3333333333333333)
    """
    chosen = OfRankings.read_all(measures or USUAL)
    policies = Policies(ties=ties, depth=depth, duplicates=duplicates, columns=columns)
    if policies.ties not in ("trec", "docid", "input", "rank"):
        raise InputError(
            in_caller_syntax(f"--ties {ties}: rankings are compared in one order: trec, docid, input or rank")
        )
    tables = list(read_tables(runs, policies))
    if len(tables) < 2:
        raise InputError(f"agreement needs two runs or more, and {words.counted(len(tables), 'run')} was given")
    order = Order(policies.ties, policies.depth)
    rankings = {run.name: _rankings(run, order) for run in tables}
    pairs = list(combinations(rankings, 2))
    queries = tuple(dict.fromkeys(query for one in rankings.values() for query in one))
    if not any(query in rankings[a] and query in rankings[b] for a, b in pairs for query in queries):
        raise DataError(
            f"no query is in two runs: {words.listing(list(rankings), 5, last='and')} have no ranking to compare"
        )
    values = np.full((len(chosen), len(pairs), len(queries)), np.nan)
    for p, (a, b) in enumerate(pairs):
        for q, query in enumerate(queries):
            if query in rankings[a] and query in rankings[b]:
                (docs, group), (other, groups) = rankings[a][query], rankings[b][query]
                two = Two((docs, other), (group, groups))
                values[:, p, q] = [measure.of(two) for measure in chosen]
    names = tuple(" and ".join(pair) for pair in pairs)
    panels = {
        str(measure): Panel(Measure(str(measure), range=measure.range), names, queries, of_measure)
        for measure, of_measure in zip(chosen, values, strict=True)
    }
    lacking = {(a, b): len(rankings[a].keys() ^ rankings[b].keys()) for a, b in pairs}
    conventions = {"depth": policies.depth, "ties": policies.ties, "measures": [str(one) for one in chosen]}
    notes = [note for run in tables for note in run.source.notes]
    return RankAgreement(pairs, panels, lacking, conventions, notes, per_query)


def _rankings(run: Run, order: Order) -> Mapping[str, Ranking]:
    scores = run.frame.select("query_id", "doc_id", "score")
    rows = top(run, order).join(scores, on=["query_id", "doc_id"], maintain_order="left")
    score = rows["score"].to_numpy()
    group = np.arange(len(score))
    if order.ties != "rank":
        group = np.cumsum(np.append(0, score[1:] != score[:-1])[: len(score)])
    docs, out, at = rows["doc_id"].to_list(), dict[str, Ranking](), 0
    for query, size in rows.group_by("query_id", maintain_order=True).len().rows():
        out[query] = (docs[at : at + size], group[at : at + size])
        at += size
    return out
