"""Judged rankings of many queries, as flat lists and as a rectangle.

``Judged`` is what an engine hands over: for each query its judged documents, laid end to end.
``Lists`` is what a metric sees: a row is a query, a column is the j-th judged document that was
retrieved, in rank order, with its rank beside it. Unjudged documents take no cell; they show
only as gaps between ranks. ``RankedBatch`` makes the same of arrays that hold many whole lists.
"""

from __future__ import annotations

from rankscope.lists.batches import Batch, RankedBatch
from rankscope.lists.ids import MANY, Ids
from rankscope.lists.judged import Aspects, Judged, judged_order
from rankscope.lists.narrow import NarrowJudged, narrowed
from rankscope.lists.rectangle import Ideal, Lists, Pool
from rankscope.lists.sums import Array, by_rank, each, exact_sum, log2_discounts, not_before, ratio, running, total

__all__ = [
    "MANY", "Array", "Aspects", "Batch", "Ideal", "Ids", "Judged", "Lists", "NarrowJudged", "Pool", "RankedBatch", "by_rank", "each", "exact_sum", "judged_order", "log2_discounts", "narrowed", "not_before", "ratio", "running", "total",
]  # fmt: skip
