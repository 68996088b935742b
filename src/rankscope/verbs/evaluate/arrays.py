"""Score labels and scores that lie in arrays."""

from __future__ import annotations

from typing import Any

from rankscope.errors import InputError
from rankscope.scoring.batches import LabelledBatch, labelled_batch, pooled_values, refuse_fractions, values_of_batch
from rankscope.scoring.policies import refuse_unknown
from rankscope.scoring.request import Request
from rankscope.verbs.evaluate.result import BatchScores

# what says something of ids, files or repeated documents means nothing for arrays
POLICIES = ("ties", "depth", "no_relevant", "nothing_found", "mean", "dialect", "seed")


def evaluate_arrays(
    labels: Any, scores: Any, *, group: Any = None, metrics: Any = None, mask: Any = None, lengths: Any = None,
    ties: str | None = None, **policies: Any,
) -> BatchScores:  # fmt: skip
    """Score labels by the scores of a model: arrays in, means and per-query values out, with no table between.

    ``labels`` are grades, NaN if a document was not judged, and ``scores`` the model's, higher is better. Both are of one shape:

    - flat, one row per document, as LightGBM and XGBoost have them: ``group`` is the number of rows of each query, or a query id for each row
      (an array as long as the labels is taken for ids; rows of a query may lie apart). Without it all rows are one query;
    - two-dimensional, a query a row: ``mask`` is true if there is a document, or ``lengths`` says how many there are in each row,
      or labels and scores are both NaN if there is none. Without any, every place holds a document.

    They may be of NumPy, PyTorch, JAX, CuPy or anything else that speaks DLPack or ``__array__``; on the processor they are read where they
    lie, from a device they are copied, and ``notes`` say so. ``metrics`` are named as in ``evaluate``.

    ``ties`` says which document stands first among equal scores. There are no ids here, so the place of a document in its list stands for
    it: ``input`` (the default, and what LightGBM does) and ``docid`` take the first, ``trec`` the last, and ``expected``, ``best`` and
    ``worst`` look at all orders (scikit-learn takes the mean). Where positives come first in the data and a model gives
    equal scores, ``input`` flatters it: ``expected`` does not. The other policies are those of ``evaluate`` that make sense without ids:
    ``depth``, ``no_relevant``, ``nothing_found``, ``mean``, ``seed``, and ``dialect``, which computes as another tool does
    (``"lightgbm"``, ``"xgboost"``, ``"sklearn"``, ``"torchmetrics"``).

    Raises InputError for arrays that do not add up, a score that is NaN, and a tensor that records gradients.

    >>> import numpy as np
    >>> import rankscope as rs
    >>> scores = rs.evaluate_arrays([1, 0, 0, 2], [0.1, 0.9, 0.3, 0.7], group=[2, 2], metrics=["RR", "nDCG@10"])
    >>> scores["RR"], scores.per_query["RR"]
    (0.75, array([0.5, 1. ]))
    >>> rs.evaluate_arrays(
    ...     np.array([[1, 0], [0, 1]]), np.array([[0.1, 0.9], [0.5, 0.5]]), metrics="RR", ties="expected"
    ... )["RR"]
    0.625
    """
    return batch_scores(request_of(metrics, ties, policies), labelled_batch(labels, scores, group, mask, lengths))


def batch_scores(request: Request, labelled: LabelledBatch) -> BatchScores:
    """What lists of labels and scores are worth under a request."""
    refuse_fractions(request, labelled.batch)
    values = values_of_batch(request, labelled)
    return BatchScores(request, values, labelled.query_ids, pooled_values(request, labelled.batch), labelled.notes)


def request_of(metrics: Any, ties: str | None, policies: dict[str, Any], taker: str = "evaluate_arrays") -> Request:
    """What is asked for: equal scores in the order given, unless something else is said, or the dialect says it."""
    for name in sorted(set(policies) - set(POLICIES)):
        refuse_unknown([name], taker)
        raise InputError(f"{taker} has no option {name!r}: it goes by ids, which arrays do not have. evaluate has it")
    if ties is not None or policies.get("dialect") is None:
        policies = policies | {"ties": "input" if ties is None else ties}
    request = Request.of(metrics, policies)
    if request.facts:
        raise InputError(f"{next(iter(request.facts))} is a string for each query, not a number. evaluate reports it")
    return request
