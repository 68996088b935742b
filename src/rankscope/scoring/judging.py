"""Judge a run: find its judged documents under each order asked for, in parts of whole queries, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankscope.engines.base import SEVERAL, DataFacts, Order
from rankscope.errors import InputError
from rankscope.lists import Judged
from rankscope.parallel import map_parts
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
class _Part:
    """Some whole queries of a run under each order; ``facts`` are what their reader tells of them."""

    queries: Sequence[str]
    found: Sequence[Findings]
    duplicates: int
    self_matches: int
    facts: PartFacts


def judge_run(run: Any, name: str | None, number: int, grades: CleanInput, request: Request) -> JudgedRun:
    """Judge a run from whatever holds one, the ``number``-th of a call; ``name`` is the one given to it.

    Raises InputError for what no number can be made of.
    """
    data, orders = open_run(run, name), list(dict.fromkeys(request.orders))
    if hasattr(data, "reads"):
        judge = _Judge(grades, orders)
        parts = judge.each(data.reads(), request.policies)
        if parts is not None:
            head = data.head([part.facts for part in parts], sum(len(part.queries) for part in parts))
            removed = [sum(getattr(part, of) for part in parts) for of in ("duplicates", "self_matches")]
            found = judge.join([(part.queries, part.found) for part in parts])
            return JudgedRun(label_of(head, name, number), head.source, found, *removed)
        data = data.whole()  # which says what is at fault, and where
    labels = label_of(data, name, number)
    cleaned = clean(data, request.policies, "run")
    found = judge_clean(cleaned, grades, orders, labels[0])
    return JudgedRun(labels, cleaned.source, found, cleaned.duplicates, cleaned.self_matches)


def judge_clean(
    run: CleanInput, grades: CleanInput, orders: Sequence[Order], label: str = "run"
) -> dict[Order, Findings]:
    """Judge what is clean already: dicts are looked up where that is enough, tables are joined."""
    if isinstance(run.data, dict) and not any(order.ties == "rank" or order.needs & SEVERAL for order in orders):
        from rankscope.engines import mappings

        return {order: mappings.judge(run.data, grades.mapping, order, label) for order in orders}
    from rankscope.files import run_of

    judge = _Judge(grades, orders)
    return judge.join(map_parts(judge.part, run_of(run.data).by_query().parts()))


class _Judge:
    """Judges the parts of a run. Nothing crosses a query, so each is judged alone, and the answers are laid end to end."""

    def __init__(self, grades: CleanInput, orders: Sequence[Order]) -> None:
        from rankscope.engines import local

        self.engine, self.qrels, self.orders = local, grades.table, orders
        local.check_subtopics(self.qrels, orders[0].needs)

    def part(self, run: Run) -> tuple[Sequence[str], list[Findings]]:
        """The queries of a part, and what is found in it under each order."""
        qrels = self.qrels.only(run.queries)
        return run.queries, [self.engine.judge(run, qrels, order) for order in self.orders]

    def each(self, reads: Iterable[Read], policies: Policies) -> list[_Part] | None:
        """Read, clean and judge parts; None where only who has all rows can read them, or say what is at fault."""

        def work(read: Read) -> _Part | None:
            rows = read()
            if rows is None or not rows[0].blocks.whole:
                return None
            cleaned = clean(rows[0], policies, "run")
            return _Part(*self.part(cleaned.data), cleaned.duplicates, cleaned.self_matches, rows[1])

        parts = []
        try:
            for part in map_parts(work, reads):
                if part is None:
                    return None
                parts.append(part)
        except InputError:
            return None
        count = sum(len(part.queries) for part in parts)
        return parts if len({query for part in parts for query in part.queries}) == count > 0 else None

    def join(self, parts: Iterable[tuple[Sequence[str], Sequence[Findings]]]) -> dict[Order, Findings]:
        """What was found in all parts, and in the queries of the qrels that no part has."""
        parts = list(parts)
        there = {query for queries, _ in parts for query in queries}
        if missing := [query for query in self.qrels.queries if query not in there]:
            qrels = self.qrels.only(missing)
            parts.append((missing, [self.engine.judge_missing(qrels, order) for order in self.orders]))
        return {
            order: self.engine.join([found[i] for _, found in parts], self.qrels, order)
            for i, order in enumerate(self.orders)
        }
