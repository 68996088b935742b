"""Judged rankings of many queries, end to end and as rectangles.

``Judged`` is the output of an engine: the judged documents of each query, end to end.
``Lists`` is the input of a metric: one row per query, one column per retrieved judged document in rank order,
with its rank. Unjudged documents take no cell. They are the gaps between ranks. ``RankedBatch`` makes both from arrays of
whole lists.
"""

from __future__ import annotations

from rankscope.lists.batches import Batch, RankedBatch
from rankscope.lists.ids import MANY, Ids
from rankscope.lists.items import LENGTHS, ItemTable, Labels, Shown, ShownLists
from rankscope.lists.judged import Aspects, Judged, LazyJudged, NarrowJudged, judged_order, narrowed
from rankscope.lists.rectangle import Ideal, Lists, Pool
from rankscope.lists.sums import Array, each, each_rank, exact_sum, log2_discounts, not_before, ratio, running, total

__all__ = [
    "LENGTHS", "MANY", "Array", "Aspects", "Batch", "Ideal", "Ids", "ItemTable", "Judged", "Labels", "LazyJudged", "Lists", "NarrowJudged", "Pool",
    "RankedBatch", "Shown", "ShownLists", "each", "each_rank", "exact_sum", "judged_order", "log2_discounts", "narrowed", "not_before", "ratio",
    "running", "total",
]  # fmt: skip
