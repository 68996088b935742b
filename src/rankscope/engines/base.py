"""The interface of every engine: ``judge`` finds the judged documents of each query in a run, ``score`` maps metrics over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import numpy as np

from rankscope.lists import Array, Judged, Lists
from rankscope.parallel import map_parts

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


class Scorable(Protocol):
    """The part of a metric that an engine uses."""

    @property
    def aggregate(self) -> str:
        """Reduce the values of queries to one number. Weights are fetched only if it is ``weighted``."""

    def score(self, lists: Lists) -> Array:
        """The value of each query, NaN if it is undefined."""

    def weight(self, lists: Lists) -> Array:
        """The weight of each query in a weighted mean."""


@dataclass(frozen=True, eq=False)
class Values:
    """One metric's value for every query (NaN: undefined), its weight in a mean, and the standard ``error`` if orders of ties were sampled."""

    value: Array
    weight: Array
    error: Array | None = None
    sampled_queries: int = 0


def map_kernels(judged: Judged, kernels: Sequence[Callable[[Lists], Array]], all_cores: bool = True) -> list[Array]:
    """Map plain functions over judged documents, in chunks of queries that fit the processor's memory."""
    out = [np.full(len(judged), np.nan) for _ in kernels]
    chunks = judged.chunks() if kernels else []

    def work(chunk: Array) -> list[Array]:
        lists = judged.lists(chunk)
        results = [kernel(lists) for kernel in kernels]
        if len(chunks) > 1:
            lists.forget()
        return results

    by_chunk = map_parts(work, chunks) if all_cores and len(chunks) > 1 else map(work, chunks)
    for chunk, of_kernels in zip(chunks, by_chunk, strict=True):
        for values, of_chunk in zip(out, of_kernels, strict=True):
            values[chunk] = of_chunk
    return out


def columns_of(judged: Judged, metrics: Iterable[Scorable], all_cores: bool = True) -> dict[Any, Array]:
    """The value of each metric by query, and its weight under ``(metric, "weight")`` if queries have weights. Nothing is computed twice."""
    kernels: dict[Any, Callable[[Lists], Array]] = {}
    for metric in metrics:
        kernels[metric] = metric.score
        if metric.aggregate == "weighted":
            kernels[metric, "weight"] = metric.weight
    missing = [name for name in kernels if name not in judged.scored]
    columns = map_kernels(judged, [kernels[name] for name in missing], all_cores)
    return judged.scored | dict(zip(missing, columns, strict=True))


def score(judged: Judged, metrics: Iterable[Scorable]) -> list[Values]:
    """Map metrics over judged documents."""
    metrics, plain = list(metrics), np.ones(len(judged))
    if judged.scored:
        known = columns_of(judged, metrics)
        return [Values(known[metric], known.get((metric, "weight"), plain)) for metric in metrics]
    weighted = [metric for metric in metrics if metric.aggregate == "weighted"]
    columns = map_kernels(judged, [*(metric.score for metric in metrics), *(metric.weight for metric in weighted)])
    weights = dict(zip(map(id, weighted), columns[len(metrics) :], strict=True))
    pairs = zip(metrics, columns[: len(metrics)], strict=True)
    return [Values(value, weights.get(id(metric), plain)) for metric, value in pairs]


def cached_per_query(judged: Judged, metric: Any, name: str, kernel: Callable[..., Array]) -> Array:
    """Run a kernel on each query once per metric and name. Other conventions of the metric use the cached values."""
    cache: dict[Any, Array] = vars(judged).setdefault("cached_per_query", {})
    if (metric, name) not in cache:
        cache[metric, name] = map_kernels(judged, [kernel])[0]
    return cache[metric, name]


def override_values(
    values: Values, metric: Any, judged: Judged, kernel: Callable[..., Array], instead: float, name: str
) -> Values:
    """Set another value for queries for which the kernel returns 1, unless the metric ignores relevance."""
    if metric.relevance == "none" or metric.aggregate in {"sum", "pooled"}:
        return values
    return replace(values, value=np.where(cached_per_query(judged, metric, name, kernel) == 1, instead, values.value))
