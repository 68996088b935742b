"""A metric for training loops, in the style of torchmetrics: ``update`` with each batch, ``compute`` at the end, ``reset``."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankscope.engines.base import Values
from rankscope.errors import InputError
from rankscope.lists import Array
from rankscope.lists.arrays import as_array
from rankscope.scoring.batches import LabelledBatch, labelled_batch
from rankscope.verbs.evaluate.arrays import batch_scores, request_of
from rankscope.verbs.evaluate.result import BatchScores


class RankingMetric:
    """Collects batches of predictions and labels of PyTorch, JAX or NumPy, and evaluates them together.

    ``update(preds, target)`` takes two-dimensional batches, one query per row, which are scored at once; with ``mask`` or
    ``lengths`` if rows are padded. ``update(preds, target, indexes)`` takes flat ones with a query for each row, as torchmetrics' retrieval
    metrics do; rows of one query may come in several batches. ``compute()`` gives the means by name, ``scores()`` the values of every query,
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
        given = labelled_batch(target, preds, None, mask, lengths)
        self._notes.update(dict.fromkeys(given.notes))
        if indexes is None:
            self._score(given)
            return
        query = as_array(indexes, "indexes").ravel()
        batch = given.batch
        if len(query) != len(batch.grade) or batch.score is None:
            raise InputError(
                f"indexes has {len(query):,} entries for {len(batch.grade):,} labels: give the query of each label"
            )
        # copies, as the memory of a batch is used again for the next
        self._rows.append((np.array(batch.grade), np.array(batch.score), np.array(query)))

    def _score(self, given: LabelledBatch) -> None:
        before = sum(len(values[0].value) for values in self._scored)
        numbered = LabelledBatch(given.batch, range(before, before + len(given.batch)), given.notes)
        self._scored.append(list(batch_scores(self.request, numbered).found))

    def scores(self) -> BatchScores:
        """Return the scores of all batches, with the value of every query: two-dimensional batches first, by number, then by indexes."""
        parts, ids = list(self._scored), list(range(sum(len(values[0].value) for values in self._scored)))
        if self._rows:
            grade, score, query = (np.concatenate(column) for column in zip(*self._rows, strict=True))
            found = batch_scores(self.request, labelled_batch(grade, score, query, group_is="ids"))
            parts, ids = [*parts, list(found.found)], [*ids, *np.asarray(found.query_ids).tolist()]
        if not parts:
            raise InputError("nothing was collected: call update with a batch before compute")
        return BatchScores(
            self.request, [_join(column) for column in zip(*parts, strict=True)], ids, {}, list(self._notes)
        )

    def compute(self) -> dict[str, float]:
        """The mean of each metric, by the name it was asked for."""
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
    """The values of several batches."""
    drawn = sum(values.sampled_queries for values in parts)
    value, weight = (np.concatenate([getattr(values, name) for values in parts]) for name in ("value", "weight"))
    return Values(value, weight, None, drawn)
