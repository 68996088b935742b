"""Judge a run: find its judged documents under each order asked for, in parts of whole queries, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.engines.base import SEVERAL, DataFacts, Order
from rankscope.errors import InputError
from rankscope.lists import Array, Judged
from rankscope.parallel import check_whole, map_parts
from rankscope.scoring.inputs import CleanInput, clean, label_of, open_run
from rankscope.scoring.policies import Policies
from rankscope.scoring.request import Request

if TYPE_CHECKING:
    from rankscope.files.parts import PartFacts
    from rankscope.tables import Run

Findings = tuple[Judged, DataFacts]
Read = Callable[[], "tuple[Run, PartFacts] | None"]


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """A run as it was judged: ``by_order`` holds what was found under each order.

    ``labels`` are its name and two longer ones; ``source`` is where it came from, None for a dict. ``duplicates`` and ``self_matches``
    count the rows that the policies left out.
    """

    labels: tuple[str, str, str]
    source: Any
    by_order: dict[Order, Findings]
    duplicates: int
    self_matches: int


@dataclass(frozen=True, eq=False)
class JudgedPart:
    """Some whole queries of a run under each order.

    ``place`` is where each query stands in the qrels, -1 where it has no judgments; ``facts`` are what the reader tells of the rows.
    """

    queries: list[str]
    place: Array
    found: list[Findings]
    duplicates: int = 0
    self_matches: int = 0
    facts: PartFacts | None = None


def judge_run(run: Any, name: str | None, number: int, grades: CleanInput, request: Request) -> JudgedRun:
    """Judge a run from whatever holds one, the ``number``-th of a call; ``name`` is the one given to it.

    Raises InputError for what no number can be made of.
    """
    data, orders = open_run(run, name), list(dict.fromkeys(request.orders))
    if hasattr(data, "reads"):
        judge = PartJudge(grades, orders)
        parts = judge.each(data.reads(), request.policies)
        if parts is not None and any(part.queries for part in parts):
            head = data.without_rows([part.facts for part in parts], sum(len(part.queries) for part in parts))
            removed = [sum(getattr(part, of) for part in parts) for of in ("duplicates", "self_matches")]
            return JudgedRun(label_of(head, name, number), head.source, judge.join(parts), *removed)
        check_whole(data.label, data.size)
        data = data.whole()  # which says what is at fault, and where
    labels = label_of(data, name, number)
    cleaned = clean(data, request.policies, "run")
    found = judge_clean(cleaned, grades, orders, labels[0])
    return JudgedRun(labels, cleaned.source, found, cleaned.duplicates, cleaned.self_matches)


def looks_up(run: CleanInput, orders: Sequence[Order]) -> bool:
    """Whether the judged documents of a run are looked up in it, as in a dict they can be where no order needs more."""
    return isinstance(run.data, dict) and not any(order.ties == "rank" or order.needs & SEVERAL for order in orders)


def judge_clean(
    run: CleanInput, grades: CleanInput, orders: Sequence[Order], label: str = "run"
) -> dict[Order, Findings]:
    """Judge what is clean already: dicts are looked up where that is enough, tables are joined."""
    if looks_up(run, orders):
        from rankscope.engines import mappings

        return {order: mappings.judge(run.data, grades.mapping, order, label) for order in orders}
    from rankscope.files import run_of

    judge = PartJudge(grades, orders)
    return judge.join(map_parts(judge.part, run_of(run.data).by_query().parts()))


class PartJudge:
    """Judges the parts of a run. Nothing crosses a query, so each is judged alone, and the answers are laid end to end."""

    def __init__(self, grades: CleanInput, orders: Sequence[Order]) -> None:
        from rankscope.engines import local

        self.engine, self.qrels, self.orders = local, grades.table, orders
        local.check_subtopics(self.qrels, orders[0].needs)

    def part(self, run: Run) -> JudgedPart:
        """Judge some whole queries under each order."""
        place = self.qrels.places_of(run.queries)
        qrels = self.qrels.only(place[place >= 0])
        return JudgedPart(run.queries, place, [self.engine.judge(run, qrels, order) for order in self.orders])

    def each(self, reads: Iterable[Read], policies: Policies) -> list[JudgedPart] | None:
        """Read, clean and judge parts; None where only who has all rows can read them, or say what is at fault."""

        def work(read: Read) -> JudgedPart | None:
            rows = read()
            if rows is None or not rows[0].blocks.whole:
                return None
            cleaned = clean(rows[0], policies, "run")
            part = self.part(cleaned.data)
            return replace(part, duplicates=cleaned.duplicates, self_matches=cleaned.self_matches, facts=rows[1])

        parts = []
        try:
            for part in map_parts(work, reads):
                if part is None:
                    return None
                parts.append(part)
        except InputError:
            return None
        count = sum(len(part.queries) for part in parts)
        return parts if len({query for part in parts for query in part.queries}) == count else None

    def join(self, parts: Iterable[JudgedPart]) -> dict[Order, Findings]:
        """What was found in all parts, and in the queries of the qrels that no part has."""
        parts = list(parts)
        missing = np.ones(len(self.qrels.queries), dtype=bool)
        for part in parts:
            missing[part.place[part.place >= 0]] = False
        found = [part.found for part in parts]
        if missing.any():
            qrels = self.qrels.only(np.flatnonzero(missing))
            found.append([self.engine.judge_missing(qrels, order) for order in self.orders])
        joined = (
            self.engine.join(each, self.qrels.queries, order) for order, *each in zip(self.orders, *found, strict=True)
        )
        return dict(zip(self.orders, joined, strict=True))
