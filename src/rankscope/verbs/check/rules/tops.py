"""The first documents of every query of a run, without sorting what lies below."""

from __future__ import annotations

import numpy as np
import polars as pl

from rankscope.tables import Array, Run


def top_rows(run: Run, k: int) -> pl.DataFrame:
    """The top k of each query by score, then document id, both descending: ``query_id``, ``doc_id``, ``score``, ``position``.

    Of a document ranked twice the first row counts. Scores are not NaN.
    """
    if len(run.repeated):
        run = run.distinct("first")
    run = run.by_query()
    start, size = run.blocks.start, run.blocks.size
    score = run.frame["score"].to_numpy()
    least = np.array([_kth(score[s : s + n], k) for s, n in zip(start.tolist(), size.tolist(), strict=True)])
    rows = np.flatnonzero(score >= np.repeat(least, size))
    block = np.searchsorted(start, rows, side="right") - 1
    some = run.frame[rows].select("query_id", "doc_id", "score").with_columns(pl.Series("block", block))
    some = some.sort("block", "score", "doc_id", descending=[False, True, True])
    position = pl.int_range(1, pl.len() + 1).over("block").alias("position")
    return some.with_columns(position).filter(pl.col("position") <= k).drop("block")


def _kth(score: Array, k: int) -> float:
    """The k-th largest score, the least of all where there are fewer."""
    if len(score) <= k:
        return -np.inf
    if (score[1:] <= score[:-1]).all():
        return float(score[k - 1])
    return float(np.partition(score, len(score) - k)[len(score) - k])
