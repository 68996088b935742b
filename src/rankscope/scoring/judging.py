"""Judge a run: find its judged documents under each order asked for, in parts of whole queries, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rankscope.engines.base import SEVERAL, DataFacts, Order, Ties
from rankscope.errors import InputError
from rankscope.lists import Judged
from rankscope.parallel import check_whole, map_parts
from rankscope.scoring.inputs import CleanInput, clean, label_of, read_any
from rankscope.scoring.policies import Policies
from rankscope.scoring.request import Request

if TYPE_CHECKING:
    import polars as pl

    from rankscope.files.parts import PartFacts, RunParts
    from rankscope.tables import Qrels, Run

Findings = tuple[Judged, DataFacts]


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """A run as it was judged: ``by_order`` holds what was found under each order.

    ``labels`` are what it may be called (see ``label_of``); ``source`` is where it came from, None for a dict. ``duplicates`` and ``self_matches``
    count the rows that the policies left out.
    """

    labels: tuple[str, str, str]
    source: Any
    by_order: dict[Order, Findings]
    duplicates: int
    self_matches: int


@dataclass(frozen=True, eq=False)
class JudgedPart:
    """What was found in a part of a file under each order; ``facts`` and ``removed`` are what the reader and the policies tell."""

    queries: pl.Series
    found: list[Findings]
    facts: PartFacts
    removed: tuple[int, int]


def judge_run(run: Any, name: str | None, number: int, grades: CleanInput, request: Request) -> JudgedRun:
    """Judge a run from whatever holds one, the ``number``-th of a call; ``name`` is the one given to it.

    Raises InputError for what no number can be made of.
    """
    data, orders = read_any("run", run, name, parts=True), list(dict.fromkeys(request.orders))
    if hasattr(data, "reads"):
        try:
            return _judge_parts(data, name, number, grades.table, orders, request.policies)
        except InputError:
            check_whole(data.label, data.size)
            data = data.whole()  # which can be read, or says what is at fault, and where
    labels = label_of(data, name, number)
    cleaned = clean(data, request.policies, "run")
    found = judge_clean(cleaned, grades, orders, labels[0])
    return JudgedRun(labels, cleaned.source, found, cleaned.duplicates, cleaned.self_matches)


def may_look_up(orders: Sequence[Order]) -> bool:
    """Whether these orders need no more than to look up the judged documents in a dict."""
    return not any(order.ties == "rank" or order.needs & SEVERAL for order in orders)


def judge_clean(
    run: CleanInput, grades: CleanInput, orders: Sequence[Order], label: str = "run"
) -> dict[Order, Findings]:
    """Judge what is clean already: dicts are looked up where that is enough, tables are joined."""
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
        judge = partial(local.judge if len(table.frame) <= local.PART else local.judge_in_parts, table, qrels)
    found = {order: judge(order) for order in orders} if len(orders) == 1 else _judge_each(judge, orders)
    if run.chunks:
        found = dict(zip(found, with_chunks(run, found.values(), grades.table, list(found)), strict=True))
    return found


def with_chunks(run: CleanInput, found: Iterable[Findings], qrels: Qrels, orders: Sequence[Order]) -> list[Findings]:
    """What was found under each order in a ranking that holds later chunks of documents, which are not unjudged where these are judged."""
    from rankscope.scoring.fold import count_again

    return [
        (judged, replace(facts, again_in_top=count_again(run.data, qrels, order)))
        for (judged, facts), order in zip(found, orders, strict=True)
    ]


def _judge_each(judge: Callable[[Order], Findings], orders: Sequence[Order]) -> dict[Order, Findings]:
    """What is found under each order. Equal scores by rising ids are those by falling ids in reverse, and are not looked up again."""
    from rankscope.engines.orders import reverse_ties

    twins: dict[str, Ties] = {"trec": "docid", "docid": "trec"}
    found: dict[Order, Findings] = {}
    for order in orders:
        twin = None
        if order.ties in twins and order.depth is None:
            twin = found.get(replace(order, ties=twins[order.ties]))
        found[order] = judge(order) if twin is None else (reverse_ties(twin[0]), twin[1])
    return found


def judge_reads(
    reads: Iterable[Callable[[], tuple[Run, PartFacts]]], qrels: Qrels, orders: Sequence[Order], policies: Policies
) -> list[JudgedPart]:
    """What is found in each of these parts of a file, which are read, cleaned and judged on all cores.

    Raises InputError where it takes all rows to read one, or to say what is at fault.
    """
    from rankscope.engines import local

    def work(read: Callable[[], tuple[Run, PartFacts]]) -> JudgedPart:
        rows, facts = read()
        cleaned = clean(rows, policies, "run")
        found = [local.judge_part(cleaned.data, qrels, order) for order in orders]
        if cleaned.chunks:
            found = with_chunks(cleaned, found, qrels, orders)
        return JudgedPart(rows.names, found, facts, (cleaned.duplicates, cleaned.self_matches))

    if "subtopics" in orders[0].needs:
        local.check_subtopics(qrels)
    return list(map_parts(work, reads))


def _judge_parts(
    file: RunParts, name: str | None, number: int, qrels: Qrels, orders: Sequence[Order], policies: Policies
) -> JudgedRun:
    """Read, clean and judge a file part by part, on all cores.

    Raises InputError where it takes all rows to read them, or to say what is at fault.
    """
    import polars as pl

    from rankscope.engines import local

    parts = judge_reads(file.reads(), qrels, orders, policies)
    count = sum(len(part.queries) for part in parts)
    if not count or pl.concat([part.queries for part in parts]).n_unique() < count:
        raise InputError("a query comes back in a later part")
    head = file.without_rows([part.facts for part in parts], count)
    found = {order: local.join([part.found[i] for part in parts], qrels, order) for i, order in enumerate(orders)}
    duplicates, self_matches = map(sum, zip(*(part.removed for part in parts), strict=True))
    return JudgedRun(label_of(head, name, number), head.source, found, duplicates, self_matches)
