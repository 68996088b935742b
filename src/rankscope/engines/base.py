"""The words of every engine: the order of documents, the facts about the data, and what metrics need beyond grades."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Ties = Literal["trec", "docid", "input", "rank"]  # one order; what holds over all orders is in `orders`
ASPECTS = frozenset({"aspects", "subtopics", "strata", "identities"})  # inputs that need more of the qrels than a grade
SEVERAL = ASPECTS | {"items"}  # what needs more than the judged documents with a grade each
TIES: tuple[Ties, ...] = ("trec", "docid", "input", "rank")


@dataclass(frozen=True)
class Order:
    """The order of the documents of a query, and the depth to which they are read."""

    ties: Ties = "trec"
    depth: int | None = None
    cutoffs: tuple[int, ...] = ()
    needs: frozenset[str] = frozenset()
    extra: bool = False


@dataclass(frozen=True)
class DataFacts:
    """Facts about the data, counted by the engine and reported next to every number.

    ``tied_at[k]`` counts judged queries in which the documents at ranks k and k + 1 share a score, so that
    the order of equals decides who is in the top k; ``tied_in_top[k]`` counts the documents in the top k of
    judged queries whose score another document of the query shares. ``disagreeing`` counts queries whose rank column
    contradicts their scores. None if there is no rank column. ``again_in_top[k]`` counts the rows in the top k of judged queries that
    stand for a judged document once more, as later chunks of it do. Empty if rankings are of documents.
    """

    rows: int = 0
    queries: int = 0
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    tied_rows: int = 0
    tied_at: Mapping[int, int] = field(default_factory=dict)
    disagreeing: int | None = None
    tied_in_top: Mapping[int, int] = field(default_factory=dict)
    again_in_top: Mapping[int, int] = field(default_factory=dict)
