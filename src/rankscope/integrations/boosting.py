"""Metrics that LightGBM and XGBoost call after each round of training."""

from __future__ import annotations

from typing import Any

from rankscope.errors import InputError
from rankscope.scoring.batches import labelled_batch
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
        """True if higher is better; all metrics must agree. XGBoost's early stopping asks for it."""
        directions = {m.metric.better == "higher" for m in self.request.metrics}
        if len(directions) > 1:
            names = ", ".join(str(m.metric) for m in self.request.metrics)
            raise InputError(f"{names} have different better directions: stop by one of them")
        return directions.pop()

    def scores(self, labels: Any, predictions: Any, group: Any = None) -> BatchScores:
        """Return ``evaluate_arrays`` of these labels and predictions; ``group`` is the number of rows of each query."""
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
        found = self.scores(first, second, group)
        out = [(mean.spelling, mean.value, mean.metric.better == "higher") for mean in found.board]
        return out if len(out) > 1 else out[0]


class XGBoostMetric(_RoundMetric):
    """A metric for XGBoost: as ``custom_metric=`` of ``xgboost.train`` and ``cv``.

    It returns ``(name, value)``, or a list of these for several metrics. XGBoost does not know the better direction: give
    ``xgboost.callback.EarlyStopping(rounds=10, metric_name="nDCG@10", maximize=metric.maximize)``. Every query weighs the same.
    """

    def __call__(self, predictions: Any, data: Any) -> tuple[str, float] | list[tuple[str, float]]:
        """The predictions of a ``DMatrix``."""
        found = self.scores(data.get_label(), predictions, data.get_group())
        # XGBoost puts names and values into one line, parted by colons
        out = [(mean.spelling.replace(":", "="), mean.value) for mean in found.board]
        return out if len(out) > 1 else out[0]
