"""The results of ``explain``: a value split by rank, the difference of two rankings of a query, or of two runs over all queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from operator import attrgetter, itemgetter
from typing import Any, ClassVar, Literal

from rankscope import words
from rankscope.analysis.bands import Band
from rankscope.blocks import EMPTY, Caution, Chart, Column, Facts, Heading, Kind, Paragraph
from rankscope.diagnostics.rankings import Unjudged, UnjudgedNewcomers
from rankscope.diagnostics.rule import MIN_PRINTED_CHANGE, active_cautions
from rankscope.files.texts import Texts
from rankscope.metrics import Metric
from rankscope.scoring.health import warnings_of_judgments
from rankscope.scoring.results import OfScores
from rankscope.scoring.scores import Scores
from rankscope.show.result import Col, Shown, View, caution_block
from rankscope.verbs.explain.parts import ROUNDING, Position, Rest, ValueParts

LISTED = 20  # documents, or queries, that a table shows
SENTENCES = 3  # documents with a sentence each
READ = 160  # characters of a text that are printed
SHOWN = 30  # positions that a terminal shows

Move = Literal["rose", "fell", "stayed", "entered", "left"]


@dataclass(frozen=True, eq=False, repr=False)
class _Explain(OfScores):
    """The base of all explanations: they rest on scores, and print in full."""

    schema = "explain/1"
    main = "rows"

    scores: Scores = field(kw_only=True)
    texts: Texts | None = field(default=None, kw_only=True)
    queries: Texts | None = field(default=None, kw_only=True)

    @property
    def notes(self) -> Sequence[str]:
        """Messages of readers."""
        return [*self.scores.notes, *(note for texts in (self.queries, self.texts) if texts for note in texts.notes)]

    def query_text(self, query_id: str, most: int = READ) -> str:
        """Return the beginning of the text of a query, or an empty text."""
        text = "" if self.queries is None else self.queries.by_id.get(query_id, "")
        return words.short(" ".join(text.split()), most)

    def text_of(self, doc_id: str | None) -> str | None:
        """Return the text of a document, or None if it is unknown."""
        return None if self.texts is None else self.texts.by_id.get(doc_id or "")

    @property
    def _quoted(self) -> str:
        text = self.query_text(getattr(self, "query_id", ""))
        return f" ({text})" if text else ""

    def _text_column(self) -> tuple[Col, ...]:
        return () if self.texts is None else (Col("text", of=lambda row: self.text_of(row.doc_id)),)

    def _text_blocks(self, doc_ids: Iterable[str | None]) -> list[Shown]:
        texts = ((doc, self.text_of(doc)) for doc in doc_ids if doc)
        known = tuple((doc, words.short(" ".join(text.split()), READ)) for doc, text in texts if text)
        return [EMPTY, Heading("document texts"), Facts(known)] if known else []

    def _more(self, left: int, noun: str) -> list[Shown]:
        return [Paragraph(f"{words.counted(left, noun)} (--format json has all)", quiet=True)] if left > 0 else []

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__


def _part(name: str, head: str = "", kind: Kind = "text", cell: Callable[[Any], Any] | None = None) -> Col:
    of = attrgetter(name)
    own, shown = (lambda row: None if isinstance(row, Rest) else of(row)), cell or of
    return Col(name, of=own, head=head, kind=kind, cell=lambda row: "" if isinstance(row, Rest) else shown(row))


DOCUMENT = Col(head="document", cell=lambda row: row.what or row.doc_id or "(nothing)")
FACTORS = Col("factors", of=lambda row: dict(row.factors), rare=True)


def _grade(row: Any) -> str:
    if row.doc_id is None:
        return ""
    return "?" if row.grade is None else words.amount(row.grade)


def _bars(name: str, title: str, of: str, rows: Sequence[tuple[str, float]]) -> Iterator[Chart]:
    columns = (Column(of), Column("adds", "value"))
    yield from [Chart(name, title, "bars", columns, tuple(rows), x=of, y="adds", guide="zero")] if rows else []


def _position_columns(explanation: Explanation) -> tuple[Col, ...]:
    ideal = any(p.ideal_adds is not None for p in explanation.positions)
    return (
        _part("rank", "rank", "count"), DOCUMENT, _part("doc_id"), _part("grade", "grade", "value", _grade), FACTORS,
        *map(_factor, dict.fromkeys(name for p in explanation.positions for name in p.factors)),
        Col("adds", head="adds", kind="value", cell=_three("adds")), _part("so_far", "so far", "value", _three("so_far")),
        _part("ideal_grade", kind="value"), _part("ideal_adds", "ideal" if ideal else "", "value", _ideal),
        _part("lost", "lost" if ideal else "", "value", _lost),
        Col("what"), *explanation._text_column(),
    )  # fmt: skip


def _three(name: str) -> Callable[[Any], str]:
    return lambda row: words.cell(getattr(row, name), 3)


def _factor(name: str) -> Col:
    head = f"{name} ×" if name in {"grade", "rank"} else name
    return Col(head=head, kind="value", cell=lambda row: f"{row.factors[name]:.3g}" if name in row.factors else "")


def _ideal(p: Position) -> str:
    known = p.ideal_grade is not None and p.ideal_adds is not None
    return f"{words.amount(p.ideal_grade or 0)} ({words.cell(p.ideal_adds or 0, 3)})" if known else ""


def _lost(p: Position) -> str:
    return words.cell(p.lost, 3) if p.lost and abs(p.lost) >= MIN_PRINTED_CHANGE else words.UNDEFINED


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(_Explain, ValueParts):
    """The value of one query in parts: the ``adds`` of ``positions`` and ``rest`` sum to it."""

    run: str

    views: ClassVar[tuple[View, ...]] = (View("rows", _position_columns, lambda e: [*e.positions, *e.rest], labels=2),)

    @property
    def query_id(self) -> str:
        """The query."""
        return self.ranking.query_id

    def json_header(self) -> dict[str, Any]:
        """Return the explained value, then the declared header."""
        count, value = self.unjudged
        return {
            "run": self.run, "query": self.query_id, "metric": str(self.metric), "value": self.value,
            "earned": self.earned, "worth": self.worth, "best": words.finite(self.best),
            "swap": None if self.swap is None else asdict(self.swap),
            "unjudged": {"documents": count, "value_if_perfect": words.finite(value)}, **super().json_header(),
        }  # fmt: skip

    def sentences(self) -> Iterator[str]:
        """Yield the value, the largest loss, the largest possible gain, and the unjudged documents."""
        yield self._headline()
        yield from self._remarks()

    def _headline(self) -> str:
        value = words.number(self.value, digits=4)
        if not self.ranking.doc_ids:
            return f"{self.run} has no ranking for query {self.query_id}{self._quoted}: {self.metric} = {value}."
        parts = ""
        if not self.rest and self.worth not in {0.0, 1.0}:
            parts = f" = {words.amount(self.earned)} / {words.amount(self.worth)}"
        return f"{self.run}, query {self.query_id}{self._quoted}: {self.metric} = {value}{parts}."

    def _remarks(self) -> Iterator[str]:
        if self.metric.aggregate == "pooled":
            yield f"{self.metric} pools the documents of all queries into one value. This is its value for this query only."
        worst = self.largest_loss
        if worst is not None:
            grade = "unjudged" if worst.grade is None else f"grade {words.amount(worst.grade)}"
            place = "no document" if worst.doc_id is None else f"{worst.doc_id}, {grade}"
            yield f"Largest loss: rank {worst.rank} ({place}): {words.number(abs(worst.lost or 0), digits=3)}."
        if self.swap is not None:
            gain = words.number(self.swap.gain, sign=True, digits=3)
            yield f"Best swap: ranks {self.swap.upper} and {self.swap.lower} ({gain})."
        yield from self._unjudged()
        if not math.isnan(self.best) and not math.isclose(self.best, 1.0):
            yield f"An ideal ranking scores {words.number(self.best, digits=4)}."

    def _unjudged(self) -> Iterator[str]:
        (count, value), cutoff = self.unjudged, getattr(self.metric, "cutoff", None)
        lower = self.metric.better == "higher" and value < self.value - ROUNDING
        ideal = any(p.ideal_adds is not None for p in self.positions)
        rises = f" (lower, because {'the ideal rises' if ideal else 'more documents are relevant'})"
        if count:
            yield (
                f"? marks {words.counted(count, 'unjudged document')} in {f'the top {cutoff}' if cutoff else 'the ranking'}. "
                f"If {'it' if count == 1 else 'all'} had the top grade, {self.metric} would be "
                f"{words.number(value, digits=3)}{rises if lower else ''}."
            )

    def blocks(self, **_: Any) -> list[Shown]:
        """Return the value, the table of ranks, and the remarks."""
        table, count = self.table(), len(self.positions)
        table = replace(table, rows=(*table.rows[: min(SHOWN, count)], *table.rows[count:]))
        remarks = [*self._more(count - SHOWN, "more rank"), *map(Paragraph, self._remarks())]
        texts = self._text_blocks(p.doc_id for p in self.positions[:SHOWN])
        return [Paragraph(self._headline()), EMPTY, table, *remarks, *texts]

    def charts(self) -> Iterator[Chart]:
        """Yield the chart of the share of each rank."""
        rows = [(f"{p.rank} {p.doc_id or 'nothing retrieved'}", p.adds) for p in self.positions if p.adds]
        yield from _bars("adds", f"Share of each rank in {self.metric}, query {self.query_id}", "document", rows)


@dataclass(frozen=True)
class DocumentChange:
    """One document in two rankings: its ranks (None: absent), the ``factors`` of the second, and its share of the difference."""

    doc_id: str
    grade: float | None
    rank_before: int | None
    rank: int | None
    factors: Mapping[str, float]
    adds_before: float
    adds_after: float

    what: ClassVar[None] = None

    @property
    def adds(self) -> float:
        """Its share of the difference."""
        return self.adds_after - self.adds_before

    @property
    def move(self) -> Move:
        """The kind of change."""
        if self.rank_before is None or self.rank is None:
            return "entered" if self.rank_before is None else "left"
        return "stayed" if self.rank_before == self.rank else "rose" if self.rank < self.rank_before else "fell"

    def __str__(self) -> str:
        move = {
            "rose": f"rose from rank {self.rank_before} to {self.rank}",
            "fell": f"fell from rank {self.rank_before} to {self.rank}",
            "stayed": f"stayed at rank {self.rank}",
            "entered": f"entered at rank {self.rank}",
            "left": f"dropped out (was at rank {self.rank_before})",
        }[self.move]
        return f"{self.doc_id} {move}: {words.number(self.adds, sign=True)}"


def _rank(name: str, head: str) -> Col:
    def cell(row: Any) -> str:
        rank = getattr(row, name, 0)  # 0 for the rest
        return words.UNDEFINED if rank is None else words.count(rank) if rank else ""

    return Col(head=head, kind="value", cell=cell)


CHANGES = (
    _part("rank", kind="count"), _part("rank_before", kind="count"), DOCUMENT, _part("doc_id"),
    _part("grade", "grade", "value", _grade), FACTORS, _rank("rank_before", "before"), _rank("rank", "after"), _part("move"),
    _part("adds_before", "adds before", "value", _three("adds_before")),
    _part("adds_after", "adds after", "value", _three("adds_after")),
    Col("adds", head="difference", kind="value", cell=lambda row: words.cell(row.adds, 3, sign=True)), Col("what"),
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Difference(_Explain):
    """Two rankings of one query: the ``adds`` of ``documents`` and ``rest`` sum to ``value``, the second value less the first."""

    before: Explanation
    after: Explanation
    documents: Sequence[DocumentChange]
    rest: Sequence[Rest]

    views: ClassVar[tuple[View, ...]] = (
        View("rows", lambda d: (*CHANGES, *d._text_column()), lambda d: [*d.documents, *d.rest]),
    )

    @property
    def query_id(self) -> str:
        """The query."""
        return self.before.query_id

    @property
    def value(self) -> float:
        """The second value less the first."""
        return self.after.value - self.before.value

    @cached_property
    def largest(self) -> list[DocumentChange]:
        """The documents that add something, either way, the largest first."""
        return sorted((d for d in self.documents if d.adds), key=lambda d: (-abs(d.adds), d.doc_id))

    @cached_property
    def warnings(self) -> list[Caution]:
        """Problems of the runs, and of new documents that are unjudged."""
        return [*self.scores.warnings, *active_cautions(self._newcomers(), self.scores.request.policies.ignore)]

    def _newcomers(self) -> Iterator[Caution]:
        """Yield a warning if at least half of the new documents are unjudged, though others are judged as not relevant."""
        was, now = len(self.before.positions), len(self.after.positions)
        new = [d for d in self.documents if 0 < (d.rank or 0) <= now and not 0 < (d.rank_before or 0) <= was]
        unjudged = sum(d.grade is None for d in new)
        health = self.scores.runs[-1].health
        all_new = replace(health, unjudged_at_cutoff=dict.fromkeys(health.unjudged_at_cutoff, 1.0))
        matters = any(rule is Unjudged for rule, _ in warnings_of_judgments({"": all_new}, [self.before.metric]))
        if not unjudged or 2 * unjudged < len(new) or not matters:
            return
        partly = unjudged < len(new)
        yield UnjudgedNewcomers.caution(
            query=self.query_id, run=self.after.run, baseline=self.before.run, cutoff=now, count=unjudged, total=len(new),
            part=unjudged if partly else None, all=None if partly else unjudged,
        )  # fmt: skip

    def json_header(self) -> dict[str, Any]:
        """Return the explained difference, then the declared header."""
        return {
            "runs": [self.before.run, self.after.run], "query": self.query_id, "metric": str(self.before.metric),
            "value": self.value, "values": [self.before.value, self.after.value],
            "worths": [self.before.worth, self.after.worth], **super().json_header(),
        }  # fmt: skip

    def sentences(self) -> Iterator[str]:
        """The two values, and the documents that add most to their difference."""
        before, after, metric = self.before, self.after, self.before.metric
        old, new = (words.number(e.value, digits=4) for e in (before, after))
        if not self.largest and not self.rest:
            yield f"query {self.query_id}{self._quoted}: {metric} is {old} for both {before.run} and {after.run}. No document adds to a difference."
            return
        change = words.number(self.value, sign=True, digits=4)
        yield f"query {self.query_id}{self._quoted}: {metric} goes from {old} ({before.run}) to {new} ({after.run}): {change}."
        yield from (f"{document}." for document in self.largest[:SENTENCES])

    def blocks(self, **_: Any) -> list[Shown]:
        """Return the changes by document, the largest first."""
        out: list[Shown] = [*map(Paragraph, self.sentences())]
        if not self.largest and not self.rest:
            return out
        out += [EMPTY, replace(self, documents=self.largest[:LISTED]).table()]
        out += self._more(len(self.largest) - LISTED, "more document")
        moves = {kind: sum(d.move == kind for d in self.documents) for kind in ("rose", "fell", "entered", "left")}
        told = {"left": "dropped out"}  # "4 left" would be those that remain
        counts = ", ".join(f"{words.count(n)} {told.get(kind, kind)}" for kind, n in moves.items() if n) or "none moved"
        texts = self._text_blocks(d.doc_id for d in self.largest[:LISTED])
        own = caution_block(self.warnings[len(self.scores.warnings) :])
        return [*out, *own, Paragraph(f"documents that the metric considers: {counts}", quiet=True), *texts]

    def charts(self) -> Iterator[Chart]:
        """Yield the chart of the share of each document."""
        rows = [(d.doc_id, d.adds) for d in self.largest]
        rows += [(part.what, part.adds) for part in self.rest if part.adds]
        title = f"Share of each document in the difference, query {self.query_id}"
        yield from _bars("adds", title, "document", rows)


@dataclass(frozen=True, eq=False, repr=False)
class Origin(_Explain):
    """The difference of two runs over all queries, split by ranks.

    ``bands`` sum, with ``rest`` (what no rank adds), to ``value``, the mean of the second run less that of the first over the
    queries that both have a value for. ``by_query`` holds each query's difference, the largest first. ``favourable`` is how many
    queries, and what share of all, would have to go for the lead to vanish, those most in its favour first.
    """

    runs: tuple[str, str]
    metric: Metric
    value: float
    bands: Sequence[Band]
    rest: float
    by_query: Sequence[tuple[str, float]]
    favourable: tuple[int, float] | None

    views: ClassVar[tuple[View, ...]] = (
        View(
            "rows",
            (
                Col("ranks", of=lambda row: row.what if isinstance(row, Rest) else row.label, head="ranks"),
                _part("first", kind="count"),
                _part("last", kind="count"),
                Col("adds", head="adds", kind="value", cell=lambda row: words.cell(row.adds, sign=True)),
            ),
            lambda origin: [*origin.bands, *([Rest("not from any rank", origin.rest)] if origin.rest else [])],
        ),
        View(
            "by_query",
            lambda origin: (
                Col("query_id", of=itemgetter(0), head="query", queries=True),
                *([Col("text", of=lambda pair: origin.query_text(pair[0]), head="text", wraps=True)] if origin.queries else []),
                Col("difference", of=itemgetter(1), head="difference", kind="value",
                    cell=lambda pair: words.in_table(words.number(pair[1], sign=True))),
            ),
            lambda origin: origin.by_query,
        ),
    )  # fmt: skip

    def json_header(self) -> dict[str, Any]:
        """Return the explained difference, then the declared header."""
        own = {"runs": list(self.runs), "metric": str(self.metric), "value": self.value}
        carried = {"queries_that_carry_it": self.favourable[0] if self.favourable else None}
        return {**own, **carried, **super().json_header()}

    @property
    def _differing(self) -> int:
        return sum(bool(difference) for _, difference in self.by_query)

    def sentences(self) -> Iterator[str]:
        """The difference, and on how many queries it depends."""
        before, after = self.runs
        queries = words.counted(len(self.by_query), "query")
        if not self._differing:
            where = "the only query" if len(self.by_query) == 1 else f"all {queries}"
            yield f"{after} and {before} have the same {self.metric} on {where}."
            return
        yield f"{after} minus {before} on {self.metric}: {words.number(self.value, sign=True)} on average over {queries}."
        if self.favourable is not None:
            many, share = self.favourable
            ahead = after if (self.value > 0) == (self.metric.better != "lower") else before
            favour = "1 query most" if many == 1 else f"{words.count(many)} queries most"
            yield f"The lead of {ahead} vanishes only if the {favour} in its favour ({words.share(share)}) {words.agree(many, 'is')} removed."

    def blocks(self, **_: Any) -> list[Shown]:
        """The difference, by ranks and by queries."""
        out: list[Shown] = [*map(Paragraph, self.sentences())]
        differing = self._differing
        if not differing:
            return [*out, EMPTY, *caution_block(self.warnings)] if self.warnings else out
        ranks = self.table(most=len(self.bands) + (abs(self.rest) > ROUNDING))
        differ = f"{words.count(differing)} of {words.count(len(self.by_query))} differ"
        queries = self.table("by_query", most=min(LISTED, differing))
        out += [EMPTY, Heading("difference by ranks"), ranks]
        out += [EMPTY, Heading(f"queries with the largest differences ({differ})"), queries]
        out += [EMPTY, *caution_block(self.warnings)] if self.warnings else []
        return [*out, Paragraph(f"next: the same with --query {self.by_query[0][0]} shows its documents", quiet=True)]

    def charts(self) -> Iterator[Chart]:
        """Yield the chart of the bands of ranks."""
        rows = [(band.label, band.adds) for band in self.bands]
        yield from _bars("origin", f"Difference of {self.metric} by ranks", "ranks", rows)
