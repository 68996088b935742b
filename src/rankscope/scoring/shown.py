"""Every item that a run shows, judged or not, for metrics of items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.engines.base import DataFacts, Order
from rankscope.files.items import numbered
from rankscope.lists import Array, Ids, Judged, Shown
from rankscope.lists.judged import with_shown
from rankscope.scoring.inputs import CleanInput
from rankscope.tables import as_texts, blocks_of, rows_at

if TYPE_CHECKING:
    from rankscope.scoring.policies import Policies
    from rankscope.scoring.request import Request

Findings = tuple[Judged, DataFacts]


def with_items(
    findings: Mapping[Order, Findings], run: CleanInput, grades: CleanInput, request: Request, label: str
) -> dict[Order, Findings]:
    """The judged documents with every item shown, for the metrics that look at items."""
    item_metrics = [one.metric for one in request.metrics if "items" in one.metric.needs]
    cutoffs = [getattr(metric, "cutoff", None) for metric in item_metrics]
    k = None if None in cutoffs else max(filter(None, cutoffs))
    out = {}
    for order, (judged, facts) in findings.items():
        out[order] = (with_shown(judged, _shown(judged, run, grades, request.policies, order, k, label)), facts)
    return out


def _shown(
    judged: Judged, run: CleanInput, grades: CleanInput, policies: Policies, order: Order, k: int | None, label: str
) -> Shown:
    import polars as pl

    from rankscope.engines.top import top, top_rows

    table, names = policies.item_table, judged.query_id
    if isinstance(run.data, dict):
        frame = top(run.data, order, k, label)
        blocks, items = blocks_of(frame["query_id"]), frame["doc_id"]
        size = blocks.size
    else:
        data = run.data.by_query()
        size, rows = top_rows(data, order, k)
        blocks, items = data.blocks, rows_at(data.held["doc_id"], rows)
    block = numbered(blocks.query, names)
    if (block[1:] < block[:-1]).any() or (
        block < 0
    ).any():  # the run has its queries in another order, or unjudged ones
        query = np.repeat(block, size)
        by = np.argsort(query, kind="stable")
        items = items.gather(by[query[by] >= 0])
    codes = _codes(items, table, label)
    held = block >= 0
    count = np.bincount(block[held], size[held], len(judged)).astype(np.int64)
    histories = table.histories
    asking = names.column if isinstance(names, Ids) else pl.Series(names, dtype=pl.String)
    user = np.full(len(judged), -1) if histories is None else numbered(asking, histories.users)
    at = np.flatnonzero(judged.rank > 0)
    query, rank, grade = judged.query[at], judged.rank[at], np.full(len(codes), np.nan)
    inside = rank <= count[query]
    grade[((np.cumsum(count) - count)[query] + rank - 1)[inside]] = judged.grade[at[inside]]

    def find_wanted() -> tuple[Array, Array, Array]:
        """An item that the catalogue lacks is wanted, and belongs to no group."""
        pairs = grades.table.frame.select("query_id", "doc_id", "grade").filter(pl.col("grade") > 0)
        pairs = pairs.unique(["query_id", "doc_id"], keep="first")
        wanted = pairs.with_columns(query=pl.Series(numbered(pairs["query_id"], names)))
        wanted = wanted.filter(pl.col("query") >= 0).sort("query", "doc_id")
        there = numbered(wanted["doc_id"], table.number)
        return wanted["query"].to_numpy(), there, wanted["grade"].to_numpy()

    return Shown(count, codes, grade, user, table, find_wanted)


def _codes(ids: Any, table: Any, label: str) -> Array:
    """The numbers of items. An unknown one gets a further number, or is refused."""
    code = numbered(ids, table.ids)
    if (code < 0).any():
        table.codes(as_texts(ids.unique(maintain_order=True)).to_list(), label)
        code = numbered(ids, table.number)
    return code
