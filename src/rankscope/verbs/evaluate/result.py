"""What a batch of lists scores: means and the value of every query, light enough for a training loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from rankscope import words
from rankscope.engines.values import Values
from rankscope.errors import InputError
from rankscope.lists import Array
from rankscope.metrics import Metric, parse
from rankscope.scoring.batches import board_of_values, mean_of_values
from rankscope.scoring.request import Request
from rankscope.scoring.runs import Mean
from rankscope.scoring.scores import MEAN
from rankscope.show.result import Col, Result, View


@dataclass(frozen=True, eq=False, repr=False)
class BatchScores(Result):
    """What ``evaluate_arrays`` and an ``Evaluator`` found.

    ``scores["nDCG@10"]`` is the mean as a float, and ``means`` has all of them by name. ``per_query["nDCG@10"]`` is a NumPy array of
    the value of each query in the order of ``query_ids``, NaN if a query has none. Nothing else is made before it is asked for:
    ``bounds_of`` the interval of a mean, ``conventions`` what was assumed, ``to_dicts()``, ``to_polars()`` and the other formats. ``notes``
    say what was done with what was given (a copy from a device), ``missing`` which judged queries had no ranking and scored as empty.
    ``computed`` are the values as they were computed, ``pooled`` those of metrics that are one value over all documents.
    """

    schema: ClassVar[str] = "batch/1"
    views: ClassVar[tuple[View, ...]] = (
        View("results", MEAN, lambda scores: scores.board),
        View("per_query", (Col("query_id"), Col("metric"), Col("value", kind="value")), lambda scores: scores._rows()),
    )

    request: Request
    computed: Sequence[Values]
    query_ids: Sequence[Any] | Array
    pooled: Mapping[Metric, float] = field(default_factory=dict)
    notes: Sequence[str] = field(default_factory=list)
    missing: Sequence[str] = ()
    ids_by_place: bool = True

    def __getitem__(self, metric: Any) -> float:
        known = isinstance(metric, str) and metric in self.means
        return self.means[metric] if known else self.mean_of(metric).value

    def mean_of(self, metric: Any) -> Mean:
        """The mean of a metric, named as in ``scores[metric]``, with the number of queries. Raises KeyError if there is none."""
        for mean in self.board:
            if metric in (mean.spelling, str(mean.metric)) or metric == mean.metric:
                return mean
        try:
            wanted = parse(metric)
        except InputError as error:
            raise KeyError(str(error)) from None
        for mean in self.board:
            if wanted == mean.metric:
                return mean
        raise KeyError(f"{metric} was not computed: there are {', '.join(str(mean.metric) for mean in self.board)}")

    def bounds_of(self, metric: Any) -> Any:
        """The interval of a mean: ``lower``, ``upper`` and the ``method``."""
        return self.mean_of(metric).bounds

    @cached_property
    def board(self) -> list[Mean]:
        """The mean of each metric with what it is made of."""
        return board_of_values(self.request, self.computed, self.pooled)

    @cached_property
    def values(self) -> dict[Metric, Array]:
        """The value of each query for each metric."""
        return {m.metric: values.value for m, values in zip(self.request.metrics, self.computed, strict=True)}

    @cached_property
    def means(self) -> dict[str, float]:
        """The mean of each metric by the name it was asked for."""
        pairs = zip(self.request.metrics, self.computed, strict=True)
        return {m.spelling: mean_of_values(m.metric, values, self.pooled) for m, values in pairs}

    @cached_property
    def per_query(self) -> dict[str, Array]:
        """The value of each query, in the order of ``query_ids``, for each metric by the name it was asked for."""
        return {m.spelling: values.value for m, values in zip(self.request.metrics, self.computed, strict=True)}

    @property
    def conventions(self) -> dict[str, Any]:
        """What was assumed."""
        stated = self.request.conventions()
        return stated | ({"document_ids": "the place of a document in its list"} if self.ids_by_place else {})

    def sentences(self) -> Iterator[str]:
        """The number of scored lists, and what was assumed."""
        yield f"{words.counted(len(self.query_ids), 'query', 'queries')} · {self.request.small_print()}"
        yield from self.notes

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def _rows(self) -> Iterator[dict[str, Any]]:
        for name, values in self.per_query.items():
            for query, value in zip(self.query_ids, values.tolist(), strict=True):
                yield {"query_id": str(query), "metric": name, "value": value}
