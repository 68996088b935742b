"""Judge a run: find its judged documents under each order asked for, in parts of whole queries, on all cores.

Metrics of items also get every item shown, judged or not.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.engines.base import SEVERAL, DataFacts, Order, Ties
from rankscope.engines.values import columns_of, reverse_ties
from rankscope.errors import InputError, RankscopeError
from rankscope.lists import Array, Ids, Judged, NarrowJudged, Shown
from rankscope.lists.judged import with_shown
from rankscope.parallel import check_whole, map_parts
from rankscope.scoring.inputs import CleanInput, clean, label_of, read_any
from rankscope.scoring.policies import OVER_ORDERS, Policies
from rankscope.scoring.request import Request
from rankscope.tables import as_texts, blocks_of, rows_at

if TYPE_CHECKING:
    import polars as pl

    from rankscope.files.parts import PartFacts, RunParts
    from rankscope.metrics import Metric
    from rankscope.tables import Qrels, Run


Findings = tuple[Judged, DataFacts]


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """A judged run: the findings ``by_order``, its possible names ``labels``, its ``source`` (None for a dict), and the rows that policies left out."""

    labels: tuple[str, str, str]
    source: Any
    by_order: dict[Order, Findings]
    duplicates: int
    self_matches: int


@dataclass(frozen=True, eq=False)
class JudgedPart:
    """The findings in a part of a file under each order, the ``facts`` of the reader, the rows ``removed`` by policies, and its queries' ``place``."""

    queries: pl.Series
    findings: list[Findings]
    facts: PartFacts
    removed: tuple[int, int]
    place: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))


class ValuesAhead:
    """Values of the ``count`` queries of the qrels, computed part by part while these are in the processor's cache. None if a metric refuses."""

    def __init__(self, metrics: Sequence[Metric], count: int) -> None:
        self.metrics, self.count = metrics, count
        self.columns: dict[Hashable, Array] = {}
        self.lock = Lock()

    def add(self, judged: Judged, place: Array) -> None:
        """Compute the values of queries at these positions in the qrels."""
        try:
            columns = columns_of(judged, self.metrics, all_cores=False)
        except RankscopeError:
            self.metrics = ()
            return
        with self.lock:  # made once
            for name in columns.keys() - self.columns.keys():
                self.columns[name] = np.empty(self.count)
        adjacent = len(place) and (place[1:] - place[:-1] == 1).all()
        rows = slice(place[0], place[0] + len(place)) if adjacent else place
        for name, values in columns.items():
            self.columns[name][rows] = values

    def give(self, judged: Judged, without: Array) -> None:
        """Store the judged documents of all queries. Queries at the positions ``without`` were in no part."""
        if len(without):
            self.add(judged.of(without), without)
        if self.metrics:
            judged.scored.update(self.columns)


def judge_run(run: Any, name: str | None, number: int, grades: CleanInput, request: Request) -> JudgedRun:
    """Judge the ``number``-th run of a call. ``name`` is the one given to it. Raises InputError for invalid rows."""
    item_metrics = [one.metric for one in request.metrics if "items" in one.metric.needs]
    data = read_any("run", run, name, parts=not item_metrics, reading=request.policies)
    orders = list(dict.fromkeys(request.orders))
    if hasattr(data, "reads"):
        try:
            return _judge_parts(data, name, number, grades.table, request)
        except InputError:
            check_whole(data.label, data.size)
            data = data.whole()  # which can be read, or says what is at fault, and where
    labels = label_of(data, name, number)
    cleaned = clean(data, request.policies, "run")
    findings = judge_clean(cleaned, grades, orders, labels[0])
    if item_metrics:
        findings = with_items(findings, cleaned, grades, item_metrics, request.policies, labels[0])
    return JudgedRun(labels, cleaned.source, findings, cleaned.duplicates, cleaned.self_matches)


def may_look_up(orders: Sequence[Order]) -> bool:
    """True if these orders need no more than to look up the judged documents in a dict."""
    return not any(order.ties == "rank" or order.needs & SEVERAL for order in orders)


def judge_clean(
    run: CleanInput, grades: CleanInput, orders: Sequence[Order], label: str = "run"
) -> dict[Order, Findings]:
    """Judge clean inputs: dicts are looked up if possible, tables are joined."""
    judge: Callable[[Order], Findings]
    if isinstance(run.data, dict) and may_look_up(orders):
        from rankscope.engines import mappings

        judge = partial(mappings.judge, run.data, grades.mapping, label=label)
    else:
        from rankscope.engines import local

        table, qrels = run.data, grades.table
        if isinstance(table, dict):
            from rankscope.files import run_of

            table = run_of(table)
        if "subtopics" in orders[0].needs:
            local.check_subtopics(qrels)
        judge = partial(local.judge if len(table.held) <= local.PART else local.judge_in_parts, table, qrels)
    findings = {order: judge(order) for order in orders} if len(orders) == 1 else _judge_each(judge, orders)
    if run.chunks:
        findings = dict(zip(findings, with_chunks(run, findings.values(), grades.table, list(findings)), strict=True))
    return findings


def with_chunks(run: CleanInput, findings: Iterable[Findings], qrels: Qrels, orders: Sequence[Order]) -> list[Findings]:
    """The judged lists under each order, if rankings contain later chunks of documents. A later chunk of a judged document is not unjudged."""
    from rankscope.scoring.fold import count_again

    return [
        (judged, replace(facts, again_in_top=count_again(run.data, qrels, order)))
        for (judged, facts), order in zip(findings, orders, strict=True)
    ]


def _judge_each(judge: Callable[[Order], Findings], orders: Sequence[Order]) -> dict[Order, Findings]:
    twins: dict[str, Ties] = {"trec": "docid", "docid": "trec"}
    findings: dict[Order, Findings] = {}
    for order in orders:
        twin = None
        if order.ties in twins and order.depth is None:
            twin = findings.get(replace(order, ties=twins[order.ties]))
        findings[order] = judge(order) if twin is None else (reverse_ties(twin[0]), twin[1])
    return findings


def judge_reads(
    reads: Iterable[Callable[[], tuple[Run, PartFacts]]], qrels: Qrels, orders: Sequence[Order], policies: Policies,
    ahead: Sequence[ValuesAhead | None] = (),
) -> list[JudgedPart]:  # fmt: skip
    """The findings in parts of a file, which are read, cleaned and judged on all cores. Raises InputError if it takes all rows to read one."""
    from rankscope.engines import local

    def work(read: Callable[[], tuple[Run, PartFacts]]) -> JudgedPart:
        rows, facts = read()
        cleaned = clean(rows, policies, "run")
        findings = [local.judge_part(cleaned.data, qrels, order) for order in orders]
        if cleaned.chunks:
            findings = with_chunks(cleaned, findings, qrels, orders)
        removed, place = (cleaned.duplicates, cleaned.self_matches), qrels.places_of(cleaned.data.names)
        place = place[place >= 0]
        for values, (judged, _) in zip(ahead, findings, strict=False):
            if values is not None:
                values.add(judged, place)
        if not ahead:
            return JudgedPart(rows.names, findings, facts, removed, place)
        narrow = [(NarrowJudged.narrow(judged), seen) for judged, seen in findings]
        return JudgedPart(rows.names.clear(), narrow, facts, removed, place)

    if "subtopics" in orders[0].needs:
        local.check_subtopics(qrels)
    return list(map_parts(work, reads))


def _judge_parts(file: RunParts, name: str | None, number: int, qrels: Qrels, request: Request) -> JudgedRun:
    """Read, clean, judge and score a file part by part. Raises InputError if it takes all rows to read them."""
    from rankscope.engines import local

    orders, count = list(dict.fromkeys(request.orders)), len(qrels.names)
    ahead = [_ahead(order, request, count) for order in orders]
    parts = judge_reads(file.reads(), qrels, orders, request.policies, ahead)
    without = np.ones(count, dtype=bool)
    for part in parts:
        if not without[part.place].all():
            raise InputError("a query comes back in a later part")
        without[part.place] = False
    extra = [query for part in parts for query in part.findings[0][1].extra]
    queries = sum(len(part.place) for part in parts) + len(extra)
    if not queries or len(set(extra)) < len(extra):
        raise InputError("a query comes back in a later part")
    head = file.without_rows([part.facts for part in parts], queries)
    duplicates, self_matches = map(sum, zip(*(part.removed for part in parts), strict=True))
    findings = {}
    for i, (order, values) in enumerate(zip(orders, ahead, strict=True)):
        findings[order] = local.join([part.findings[i] for part in parts], qrels, order)
        if values is not None:
            values.give(findings[order][0], np.flatnonzero(without))
    return JudgedRun(label_of(head, name, number), head.source, findings, duplicates, self_matches)


def _ahead(order: Order, request: Request, count: int) -> ValuesAhead | None:
    pairs = zip(request.metrics, request.orders, strict=True)
    metrics = [m.metric for m, of_metric in pairs if of_metric == order and m.convention.ties not in OVER_ORDERS]
    return ValuesAhead(metrics, count) if metrics and not order.extra else None


def with_items(
    findings: Mapping[Order, Findings],
    run: CleanInput,
    grades: CleanInput,
    item_metrics: Sequence[Metric],
    policies: Policies,
    label: str,
) -> dict[Order, Findings]:
    """The judged documents with every item shown, down to the largest cut-off."""
    cutoffs = [getattr(metric, "cutoff", None) for metric in item_metrics]
    k = None if None in cutoffs else max(filter(None, cutoffs))
    out = {}
    for order, (judged, facts) in findings.items():
        out[order] = (with_shown(judged, _shown(judged, run, grades, policies, order, k, label)), facts)
    return out


def _shown(
    judged: Judged, run: CleanInput, grades: CleanInput, policies: Policies, order: Order, k: int | None, label: str
) -> Shown:
    import polars as pl

    from rankscope.engines.top import top, top_rows
    from rankscope.files.items import numbered

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
    elsewhere = (block[1:] < block[:-1]).any()  # the run has its queries in another order
    if elsewhere or (block < 0).any():
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
    from rankscope.files.items import numbered

    code = numbered(ids, table.ids)
    if (code < 0).any():
        table.codes(as_texts(ids.unique(maintain_order=True)).to_list(), label)
        code = numbered(ids, table.number)
    return code
