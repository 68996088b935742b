"""A share of a run: some whole queries, judged by themselves, and the union of shares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from rankscope import words
from rankscope.engines.base import DataFacts, Order
from rankscope.errors import InputError
from rankscope.files.parts import PartFacts, RunHead
from rankscope.lists import Array, Judged
from rankscope.parallel import check_whole
from rankscope.scoring.inputs import CleanInput, clean, label_of, read_any
from rankscope.scoring.judging import Findings, JudgedPart, JudgedRun, judge_clean, judge_reads, may_look_up
from rankscope.scoring.policies import Policies
from rankscope.scoring.request import Request
from rankscope.tables import Run, Source

if TYPE_CHECKING:
    from rankscope.files.parts import RunParts

NO_FACTS = PartFacts(0, 0)
TOLD = ("label", "kind", "path", "tag", "notes")  # what is kept of where a table came from


@dataclass(frozen=True)
class ShareFacts:
    """What was told of a run while a share of it was read: enough to say of the whole what one reading of it says.

    ``label`` and ``size`` (in bytes; 0 where it lay in memory) tell one run from another, ``given`` is the name given to it. A run that was read
    in pieces has its ``head``, the ``path``, and what each piece told (its number, how many queries it has, its facts). Another was
    read whole: ``name`` and ``source`` are final, and both None for a dict. ``changed`` is when its file was last written, where that matters.
    """

    label: str
    size: int
    given: str | None
    path: str | None = None
    head: RunHead | None = None
    pieces: tuple[tuple[int, int, PartFacts], ...] = ()
    name: str | None = None
    source: Source | None = None
    duplicates: int = 0
    self_matches: int = 0
    changed: int = 0


@dataclass(frozen=True, eq=False)
class JudgedShare:
    """Some whole queries of a run as they were judged.

    ``queries`` are all that it has, in the order of the run within each of the pieces in ``piece``; ``judged`` marks those of the qrels.
    ``findings`` holds what was found of them under each order. ``nothing`` is what is found for every query of the qrels if nothing is
    retrieved: the first share of a run has it, for the queries that no share has.
    """

    queries: list[str]
    piece: Array
    judged: Array
    findings: Mapping[Order, Findings]
    run: ShareFacts
    nothing: Mapping[Order, Judged] = field(default_factory=dict)


def judge_share(run: Any, name: str | None, grades: CleanInput, request: Request, number: int, of: int) -> JudgedShare:
    """Judge share ``number`` of a run, reading nothing else of a file with parts. Raises InputError for invalid rows."""
    data, judge = read_any("run", run, name, parts=True, reading=request.policies), ShareJudge(grades, request)
    if hasattr(data, "reads"):
        numbers: list[int] = []

        def reads() -> Iterator[Callable[[], Any]]:
            for piece, read in enumerate(data.reads(of)):
                if piece % of == number - 1:
                    numbers.append(piece)
                    yield read

        try:
            parts = judge.each(reads(), request.policies)
        except InputError:
            _refuse_to_share(data, request.policies)
        return judge.share(list(zip(numbers, parts, strict=True)), facts_of(data, name, numbers, parts), number == 1)
    cleaned = clean(data, request.policies, "run")
    part = judge.part(cleaned, number, of)
    head = None if isinstance(data, dict) else data
    facts = ShareFacts(
        "the run" if head is None else head.source.label, 0, name, name=None if head is None else head.name,
        source=None if head is None else cleaned.source,
    )  # fmt: skip
    if number == 1:  # of all shares together
        facts = replace(facts, duplicates=cleaned.duplicates, self_matches=cleaned.self_matches)
    return judge.share([(number, part)], facts, number == 1)


def facts_of(data: RunParts, name: str | None, numbers: Sequence[int], parts: Sequence[JudgedPart]) -> ShareFacts:
    """The facts of a run from reading these parts, each with the number of its piece."""
    pieces = tuple((n, len(p.queries), p.facts) for n, p in zip(numbers, parts, strict=True))
    removed = [sum(part.removed[i] for part in parts) for i in (0, 1)]
    return ShareFacts(data.label, data.size, name, data.source().path, data.head(), pieces, None, None, *removed)


def _refuse_to_share(data: RunParts, policies: Policies) -> NoReturn:
    check_whole(data.label, data.size)
    clean(data.whole(), policies, "run")  # which says what is at fault, and where
    raise InputError(
        f"{data.label}: cannot be read in partitions, as the rows of a query are apart or its lines differ in form: evaluate it as a "
        "whole, or sort it by query"
    )


class ShareJudge:
    """Judges shares of a run as the whole is judged."""

    def __init__(self, grades: CleanInput, request: Request) -> None:
        self.grades, self.orders = grades, list(dict.fromkeys(request.orders))
        self.by_dicts = False

    def each(self, reads: Iterable[Callable[[], tuple[Run, PartFacts]]], policies: Policies) -> list[JudgedPart]:
        """Judge each of these parts of a file. Raises InputError, like ``judge_reads``."""
        return judge_reads(reads, self.grades.table, self.orders, policies)

    def part(self, run: CleanInput, number: int, of: int) -> JudgedPart:
        """Judge the share of this ``number`` of a run that was read whole. Shares have equal numbers of queries."""
        import polars as pl

        if isinstance(run.data, dict):
            self.by_dicts, qrels = may_look_up(self.orders), self.grades.mapping
            share: Any = dict(islice(run.data.items(), *_ends(len(run.data), number, of)))
            names = pl.Series(list(share), dtype=pl.String)
            judged: Any = {query: qrels[query] for query in share if query in qrels}
        if not self.by_dicts:
            from rankscope.files import run_of

            table = run_of(run.data).by_query()
            share = table.only_queries(*_ends(len(table.queries), number, of))
            names, places = share.names, self.grades.table.places_of(share.names)
            judged = self.grades.table.only(places[places >= 0])
        findings = judge_clean(replace(run, data=share), CleanInput(judged), self.orders)
        return JudgedPart(names, list(findings.values()), NO_FACTS, (0, 0))

    def share(self, parts: Sequence[tuple[int, JudgedPart]], run: ShareFacts, first: bool) -> JudgedShare:
        """These parts as a share, each with the number of the piece that it is of."""
        queries = [query for _, part in parts for query in part.queries.to_list()]
        piece = np.repeat([n for n, _ in parts], [len(part.queries) for _, part in parts]).astype(np.int64)
        known = frozenset(self.grades.queries)
        judged = np.array([query in known for query in queries], dtype=bool)
        mine = [query for query in queries if query in known]
        findings = {}
        for i, order in enumerate(self.orders):
            if parts:
                findings[order] = _lay_out([part.findings[i] for _, part in parts], mine, order)
        return JudgedShare(queries, piece, judged, findings, run, self._nothing() if first else {})

    def _nothing(self) -> dict[Order, Judged]:
        if self.by_dicts:
            from rankscope.engines import mappings

            return {order: mappings.judge({}, self.grades.mapping, order)[0] for order in self.orders}
        from rankscope.engines import local

        return {order: local.judge_missing(self.grades.table, order)[0] for order in self.orders}


def _ends(count: int, number: int, of: int) -> tuple[int, int]:
    return count * (number - 1) // of, count * number // of


def join_shares(shares: Sequence[JudgedShare], number: int = 1) -> JudgedRun:
    """Join the shares of the run of this ``number``. Raises InputError for a query that is in two shares."""
    shares = [*shares]
    _refuse_queries_apart(shares)
    nothing = next(share.nothing for share in shares if share.nothing)
    extras = [
        (piece, query)
        for share in shares
        for query, piece, judged in zip(share.queries, share.piece.tolist(), share.judged.tolist(), strict=True)
        if not judged
    ]
    extra = tuple(query for _, query in sorted(extras, key=lambda one: one[0]))  # as they follow each other in the run
    have = {query for share in shares for query in share.queries}
    out = {}
    for order, none in nothing.items():
        missing = [i for i, query in enumerate(none.query_id) if query not in have]
        zero = dict.fromkeys(order.cutoffs, 0)
        lacking = DataFacts(
            missing=tuple(none.query_id[i] for i in missing), extra=extra, tied_at=zero, tied_in_top=zero
        )
        findings = [share.findings[order] for share in shares if share.findings]
        parts = [(judged, replace(seen, extra=())) for judged, seen in findings]
        parts.append((none.of(np.array(missing, dtype=np.int64)), lacking))
        out[order] = _lay_out(parts, none.query_id, order)
    run = _run_of(shares)
    labels = label_of({} if run is None else run, shares[0].run.given, number)
    removed = [sum(getattr(share.run, of) for share in shares) for of in ("duplicates", "self_matches")]
    return JudgedRun(labels, None if run is None else run.source, out, *removed)


def _lay_out(parts: Sequence[Findings], queries: Sequence[str], order: Order) -> Findings:
    from rankscope.engines.local import join_facts

    facts = join_facts([part_facts for _, part_facts in parts], order)
    laid = Judged.join([judged for judged, _ in parts])
    names = [*queries, *facts.extra] if order.extra else list(queries)
    place = {query: i for i, query in enumerate(laid.query_id)}
    return laid.of(np.array([place[query] for query in names], dtype=np.int64)), facts


def _run_of(shares: Sequence[JudgedShare]) -> Run | None:
    import polars as pl

    first = shares[0].run
    if first.head is None:
        return None if first.source is None else Run(pl.DataFrame(), first.source, name=first.name or "run")
    pieces = sorted((piece for share in shares for piece in share.run.pieces), key=lambda piece: piece[0])
    source = Source(first.head.label, first.head.kind, first.path)
    return first.head.run(source, [facts for _, _, facts in pieces], sum(count for _, count, _ in pieces))


def has_query_twice(shares: Sequence[JudgedShare]) -> bool:
    """True if rows of one query are in several shares."""
    return len({query for share in shares for query in share.queries}) < sum(len(share.queries) for share in shares)


def _refuse_queries_apart(shares: Sequence[JudgedShare]) -> None:
    if not has_query_twice(shares):
        return
    queries = [query for share in shares for query in share.queries]
    seen: set[str] = set()
    twice = list(dict.fromkeys(query for query in queries if query in seen or seen.add(query)))  # type: ignore[func-returns-value]
    run = shares[0].run.label
    what = f"rows of {words.counted(len(twice), 'query')} ({words.sample(twice)}) are in several partitions of {run}"
    raise InputError(f"{what}: evaluate it as a whole, or sort it by query and make all parts again")
