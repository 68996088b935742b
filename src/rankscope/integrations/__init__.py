"""Metrics of rankscope in training: LightGBM, XGBoost, and loops of PyTorch and others.

>>> from rankscope.integrations import LightGBMMetric, RankingMetric, XGBoostMetric

Nothing here imports those packages: it takes their arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankscope.engines.values import Values
from rankscope.errors import InputError
from rankscope.lists import Array
from rankscope.lists.arrays import as_array
from rankscope.scoring.batches import LabelledBatch, labelled_batch
from rankscope.verbs.evaluate.arrays import batch_scores, request_of
from rankscope.verbs.evaluate.result import BatchScores


class _RoundMetric:
    """A metric evaluated after each round: the metrics and policies of ``evaluate_arrays``, read once."""

    def __init__(self, metrics: Any = "nDCG@10", *, ties: str | None = None, **policies: Any) -> None:
        """``metrics``, ``ties`` and the other policies are those of ``evaluate_arrays``. Raises InputError for invalid ones."""
        self.request = request_of(metrics, ties, policies, type(self).__name__)
        for m in self.request.metrics:
            if m.metric.better == "neither":
                raise InputError(f"{m.metric} has no better direction: no training stops by it")
        self.__name__ = "_".join(m.spelling for m in self.request.metrics)  # the tools print this name

    @property
    def maximize(self) -> bool:
        """True if higher is better. All metrics must agree. XGBoost's early stopping asks for it."""
        directions = {m.metric.better == "higher" for m in self.request.metrics}
        if len(directions) > 1:
            names = ", ".join(str(m.metric) for m in self.request.metrics)
            raise InputError(f"{names} have different better directions: stop by only one")
        return directions.pop()

    def scores(self, labels: Any, predictions: Any, group: Any = None) -> BatchScores:
        """Return ``evaluate_arrays`` of these labels and predictions. ``group`` is the number of rows of each query."""
        sizes = None if group is None or not len(group) else group
        return batch_scores(self.request, labelled_batch(labels, predictions, sizes, group_is="sizes"))


class LightGBMMetric(_RoundMetric):
    """A metric for LightGBM: as ``feval=`` of ``lightgbm.train`` and ``cv``, and as ``eval_metric=`` of ``LGBMRanker.fit``.

    It returns ``(name, value, is_higher_better)``, or a list of these for several metrics. Every query weighs the same. Set ``metric="None"``
    in the parameters to stop early by this one.

    >>> import numpy as np
    >>> metric = LightGBMMetric("RR")
    >>> metric(np.array([0, 1, 1, 0]), np.array([0.9, 0.5, 0.7, 0.1]), None, np.array([2, 2]))
    ('RR', 0.75, True)
    """

    def __call__(
        self, first: Any, second: Any, weight: Any = None, group: Any = None
    ) -> tuple[str, float, bool] | list[tuple[str, float, bool]]:
        """``(predictions, dataset)`` from ``train``, ``(labels, predictions, weight, group)`` from the ranker."""
        if hasattr(second, "get_label"):
            first, second, group = second.get_label(), first, second.get_group()
        scores = self.scores(first, second, group)
        out = [(mean.spelling, mean.value, mean.metric.better == "higher") for mean in scores.board]
        return out if len(out) > 1 else out[0]


class XGBoostMetric(_RoundMetric):
    """A metric for XGBoost: as ``custom_metric=`` of ``xgboost.train`` and ``cv``.

    It returns ``(name, value)``, or a list of these for several metrics. XGBoost does not know the better direction: give
    ``xgboost.callback.EarlyStopping(rounds=10, metric_name="nDCG@10", maximize=metric.maximize)``. Every query weighs the same.
    """

    def __call__(self, predictions: Any, data: Any) -> tuple[str, float] | list[tuple[str, float]]:
        """The predictions of a ``DMatrix``."""
        scores = self.scores(data.get_label(), predictions, data.get_group())
        # XGBoost puts names and values into one line, parted by colons
        out = [(mean.spelling.replace(":", "="), mean.value) for mean in scores.board]
        return out if len(out) > 1 else out[0]


class RankingMetric:
    """Collects batches of predictions and labels of PyTorch, JAX or NumPy, and evaluates them together.

    ``update(preds, target)`` takes two-dimensional batches, one query per row, which are scored at once; with ``mask`` or
    ``lengths`` if rows are padded. ``update(preds, target, indexes)`` takes flat ones with a query for each row, as torchmetrics' retrieval
    metrics do. Rows of one query may come in several batches. ``compute()`` gives the means by name, ``scores()`` the values of every query,
    too. ``metrics``, ``ties`` and the other policies are those of ``evaluate_arrays``.

    Call it under ``torch.no_grad()``, or with ``preds.detach()``. It holds NumPy arrays only, and can be pickled; ``merge`` joins several
    processes.

    >>> metric = RankingMetric(["RR", "nDCG@10"])
    >>> for scores, labels in (([[0.2, 0.9]], [[1, 0]]), ([[0.8, 0.3]], [[1, 0]])):
    ...     metric.update(scores, labels)
    >>> metric.compute()["RR"]
    0.75
    """

    def __init__(self, metrics: Any = None, *, ties: str | None = None, **policies: Any) -> None:
        """Raises InputError for metrics and policies that cannot be used."""
        self.request = request_of(metrics, ties, policies, "RankingMetric")
        for m in self.request.metrics:
            if m.metric.aggregate == "pooled":
                raise InputError(
                    f"{m.metric} is one value over all documents, not made of batches: use evaluate_arrays"
                )
        self.reset()

    def reset(self) -> None:
        """Forget the collected batches."""
        self._scored: list[list[Values]] = []
        self._rows: list[tuple[Array, Array, Array]] = []
        self._notes: dict[str, None] = {}

    def update(self, preds: Any, target: Any, indexes: Any = None, *, mask: Any = None, lengths: Any = None) -> None:
        """Add a batch of predictions and labels. Raises InputError if their shapes differ."""
        labelled = labelled_batch(target, preds, None, mask, lengths)
        self._notes.update(dict.fromkeys(labelled.notes))
        if indexes is None:
            self._score(labelled)
            return
        query = as_array(indexes, "indexes").ravel()
        batch = labelled.batch
        if len(query) != len(batch.grade) or batch.score is None:
            raise InputError(
                f"indexes has {len(query):,} entries for {len(batch.grade):,} labels: give the query of each label"
            )
        # copies, as the memory of a batch is used again for the next
        self._rows.append((np.array(batch.grade), np.array(batch.score), np.array(query)))

    def _score(self, labelled: LabelledBatch) -> None:
        before = sum(len(values[0].value) for values in self._scored)
        numbered = LabelledBatch(labelled.batch, range(before, before + len(labelled.batch)), labelled.notes)
        self._scored.append(list(batch_scores(self.request, numbered).computed))

    def scores(self) -> BatchScores:
        """Return the scores of all batches, with the value of every query: two-dimensional batches first, by number, then by indexes."""
        parts, ids = list(self._scored), list(range(sum(len(values[0].value) for values in self._scored)))
        if self._rows:
            grade, score, query = (np.concatenate(column) for column in zip(*self._rows, strict=True))
            by_index = batch_scores(self.request, labelled_batch(grade, score, query, group_is="ids"))
            parts, ids = [*parts, list(by_index.computed)], [*ids, *np.asarray(by_index.query_ids).tolist()]
        if not parts:
            raise InputError("nothing was collected: call update with a batch before compute")
        return BatchScores(
            self.request, [_join(column) for column in zip(*parts, strict=True)], ids, {}, list(self._notes)
        )

    def compute(self) -> dict[str, float]:
        """The mean of each metric, by its requested name."""
        return self.scores().means

    def merge(self, *others: RankingMetric) -> None:
        """Add the batches of other metrics, from other processes or other parts of the data."""
        for other in others:
            if [m.metric for m in other.request.metrics] != [
                m.metric for m in self.request.metrics
            ] or other.request.differs(self.request):
                raise InputError("the other metric collects other metrics, or under other policies")
            self._scored += other._scored
            self._rows += other._rows
            self._notes.update(other._notes)

    def __call__(
        self, preds: Any, target: Any, indexes: Any = None, *, mask: Any = None, lengths: Any = None
    ) -> dict[str, float]:
        """Add a batch, and return its own value."""
        alone = RankingMetric.__new__(RankingMetric)
        alone.request = self.request
        alone.reset()
        alone.update(preds, target, indexes, mask=mask, lengths=lengths)
        self.merge(alone)
        return alone.compute()


def _join(parts: tuple[Values, ...]) -> Values:
    drawn = sum(values.sampled_queries for values in parts)
    value, weight = (np.concatenate([getattr(values, name) for values in parts]) for name in ("value", "weight"))
    return Values(value, weight, None, drawn)
