"""What every engine is told and what it hands over; none of them knows a metric.

An engine has two operations: ``judge`` finds the judged documents of each query in a run, and
``score`` maps metrics over what was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from rankscope.lists import Array, Judged, Lists

Ties = Literal["trec", "docid", "input", "rank"]
SEVERAL = frozenset({"aspects", "subtopics", "identities"})  # what needs more of the qrels than a grade
TIES: tuple[Ties, ...] = ("trec", "docid", "input", "rank")


@dataclass(frozen=True)
class Order:
    """How the documents of a query are put in order, and how far down they are read."""

    ties: Ties = "trec"
    depth: int | None = None
    cutoffs: tuple[int, ...] = ()
    needs: frozenset[str] = frozenset()
    extra: bool = False


@dataclass(frozen=True)
class Seen:
    """What the engine saw on the way: the facts about the data that stand beside every number.

    ``tied_at[k]`` counts judged queries in which the documents at ranks k and k + 1 share a score, so that
    the order of equals decides who is in the top k. ``disagreeing`` counts queries whose rank column
    contradicts their scores; None where there is no rank column.
    """

    rows: int = 0
    queries: int = 0
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    tied_rows: int = 0
    tied_at: Mapping[int, int] = field(default_factory=dict)
    disagreeing: int | None = None


class Scorable(Protocol):
    """The part of a metric that an engine uses."""

    @property
    def aggregate(self) -> str:
        """How queries become one number; weights are asked for only where it is ``weighted``."""

    def score(self, lists: Lists) -> Array:
        """The value of each query, NaN where it is undefined."""

    def weight(self, lists: Lists) -> Array:
        """The weight of each query in a weighted mean."""


@dataclass(frozen=True, eq=False)
class Values:
    """One metric's value for every query (NaN: undefined), and the weight of each query in a mean."""

    value: Array
    weight: Array


def score(judged: Judged, metrics: Iterable[Scorable]) -> list[Values]:
    """Map metrics over judged documents, in chunks of queries that fit the processor's memory."""
    metrics = list(metrics)
    out = [Values(np.full(len(judged), np.nan), np.ones(len(judged))) for _ in metrics]
    for chunk in judged.chunks():
        lists = judged.lists(chunk)
        for metric, values in zip(metrics, out, strict=True):
            values.value[chunk] = metric.score(lists)
            if metric.aggregate == "weighted":
                values.weight[chunk] = metric.weight(lists)
    return out
