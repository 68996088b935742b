"""The result of ``unjudged``: bounds of values, judgments that would reverse a difference, and documents to judge next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, ClassVar

from rankscope import words
from rankscope.blocks import Heading, Paragraph
from rankscope.errors import RankscopeError
from rankscope.metrics import Metric
from rankscope.scoring.results import OfScores
from rankscope.scoring.scores import Scores
from rankscope.show.result import Col, Shown, View

NO_JUDGMENT, NONE_FOUND = "no judgments could", "a search found no way"  # reasons of a turn
SPELLED = 3  # runs that get a sentence each
ALIKE = 0.00005  # values nearer than this look the same
RANKED = 5  # runs whose ranks have a column each
SHOWN = 10  # documents of the worklist in the terminal


@dataclass(frozen=True)
class ValueBounds:
    """A value and its bounds over the grades of unjudged documents.

    ``value`` counts unjudged documents as the metric does. ``worthless`` and ``perfect`` are the values if the unjudged documents of the top
    (``depth`` ranks, None: all) all had grade 0, or all the best grade, ``grade``; judgments also change the ideal of a query. ``lower``
    and ``upper`` are the ends over all ways of grading them, or over the tried ways if not ``exact``. ``condensed`` is the metric over judged
    documents only, None if it has no such form. ``residual`` is the possible gain by unjudged documents: the value of the metric
    ``residual_of``, otherwise upper - lower. ``unjudged`` of the ``shown`` documents in the top of the queries are not in the qrels.
    """

    run: str
    metric: Metric
    value: float
    lower: float
    upper: float
    exact: bool
    worthless: float
    perfect: float
    condensed: float | None
    residual: float
    residual_of: str | None
    unjudged: int
    shown: int
    depth: int | None
    grade: float
    queries: int

    @property
    def share(self) -> float:
        """The share of the top that is unjudged."""
        return self.unjudged / self.shown if self.shown else 0.0

    @property
    def top(self) -> str:
        """The part of the ranking that the metric uses, in words."""
        return "ranking" if self.depth is None else f"top {words.count(self.depth)}"

    def __str__(self) -> str:
        if math.isnan(self.value):
            return f"{self.run}: {self.metric} has no value on any query."
        value = words.number(self.value, digits=3)
        if not self.unjudged:
            return f"{self.run}: every document of its {self.top} is judged, and {self.metric} is {value}."
        ends = words.interval(self.lower, self.upper, digits=3, between=" and ")
        why = "depending on" if self.exact else "under the grades tried for"
        share = f"{self.run}: {words.share(self.share)} of its {self.top} is unjudged"
        text = f"{share}. {self.metric} is {value} as judged, between {ends} {why} unjudged documents."
        outside = f" These bounds are of the {self.top}: relevant documents outside it would lower the value further."
        return text + outside if self.sinks else text

    @property
    def sinks(self) -> bool:
        """True if relevant documents that a ranking missed lower the metric, as they raise its ideal."""
        try:
            grades = [self.grade, 0.0]
            return bool(self.metric.of(grades, ideal=[self.grade] * 9) < self.metric.of(grades))
        except RankscopeError:
            return False


@dataclass(frozen=True)
class Reversal:
    """The judgments that would reverse the difference of two runs.

    ``difference`` is run - baseline as judged, ``lower`` and ``upper`` its ends over ways of grading the ``unjudged`` documents in the top
    of either (``exact``: over all ways). ``needed`` of them with the best ``grade`` would reverse its sign and make it ``turned``: the
    smallest number possible if ``fewest``, otherwise a sufficient number. It is None, with a ``reason``, if none were found.
    """

    run: str
    baseline: str
    metric: Metric
    difference: float
    lower: float
    upper: float
    exact: bool
    unjudged: int
    needed: int | None
    fewest: bool
    turned: float | None
    reason: str = ""
    grade: float = 1.0

    @property
    def ahead(self) -> str | None:
        """The run with the larger value, None if both are equal."""
        if math.isnan(self.difference) or not self.difference:
            return None
        return self.run if self.difference > 0 else self.baseline

    def __str__(self) -> str:
        if self.ahead is None:
            return f"{self.run} and {self.baseline} do not differ on {self.metric}."
        behind = self.baseline if self.ahead == self.run else self.run
        lead = f"{self.ahead} is ahead of {behind} by {words.number(abs(self.difference), digits=4)}"
        if not self.unjudged:
            return f"{lead}, and every document that this depends on is judged."
        documents = words.counted(self.unjudged, "unjudged document")
        if self.needed is None:
            unknown = f"the judgments that would reverse this are unknown ({self.reason})"
            none = {
                NO_JUDGMENT: f"no grades of the {documents} could reverse this",
                NONE_FOUND: f"a search among the {documents} found no way to reverse this",
            }
            return f"{lead}: {none.get(self.reason, unknown)}."
        needed, grade = words.count(self.needed), words.amount(self.grade)
        if self.fewest:
            return f"{lead}: {needed} of {documents} would have to be graded {grade} to reverse this."
        return f"{lead}: {needed} or fewer of {documents}, if graded {grade}, would reverse this."


@dataclass(frozen=True)
class DocumentToJudge:
    """A document to judge: its rank in each run, and the largest change that its judgment could make."""

    query_id: str
    doc_id: str
    ranks: Mapping[str, int]
    effect: float

    @property
    def ranks_in_words(self) -> str:
        """The rank in each run that shows it: ``bm25=3; dense=7``."""
        return "; ".join(f"{run}={rank}" for run, rank in self.ranks.items())


HINTS = {
    "value": "an unjudged document is not relevant",
    "lower": "over all ways of grading the unjudged documents. The ideal changes with them",
    "upper": "over all ways of grading the unjudged documents. The ideal changes with them",
    "condensed": "over judged documents only",
}


def _near(one: float, other: float) -> bool:
    return words.finite(one) == words.finite(other) or abs(one - other) < ALIKE


def _bounds_columns(report: UnjudgedReport) -> tuple[Col, ...]:
    bounds = report.bounds
    names = (
        "value", "lower", "upper", "exact", "worthless", "perfect", "condensed", "residual", "residual_of", "unjudged", "shown",
        "share", "depth", "grade", "queries",
    )  # fmt: skip
    texts, counts = {"exact", "residual_of"}, {"unjudged", "shown", "depth", "queries"}
    heads = {"value": "as judged", "lower": "lowest", "upper": "highest"}
    # all alike is mostly the worst and the best possible
    if not all(_near(b.worthless, b.lower) and _near(b.perfect, b.upper) for b in bounds):
        grades = {words.amount(b.grade) for b in bounds}
        heads |= {"worthless": "all 0", "perfect": f"all {grades.pop() if len(grades) == 1 else 'best'}"}
    beside = "residual" if any(b.residual_of for b in bounds) else "condensed"
    if beside == "residual" or any(b.condensed is not None for b in bounds):
        heads |= {beside: beside}
    return (
        Col("run", head="run"),
        Col("metric", of=lambda b: str(b.metric)),
        *(Col(n, kind="text" if n in texts else "count" if n in counts else "value") for n in names),
        *(_number(name, head) for name, head in heads.items()),
        Col(head="unjudged", kind="count", cell=attrgetter("unjudged"), hint="documents of the top that are not in the qrels"),
        Col(head="share", kind="value", cell=lambda b: words.share(b.share), hint="of the documents of the top"),
    )  # fmt: skip


def _number(name: str, head: str) -> Col:
    return Col(head=head, kind="value", cell=lambda b: words.finite(getattr(b, name)), hint=HINTS.get(name, ""))


def _change(name: str, head: str) -> Col:
    return Col(name, head=head, kind="value", cell=lambda t: words.cell(getattr(t, name), sign=True))


def _needed(turn: Reversal) -> str | None:
    return None if turn.needed is None else f"{'' if turn.fewest else '≤ '}{words.count(turn.needed)}"


def _worklist_columns(report: UnjudgedReport) -> tuple[Col, ...]:
    """A document to judge: for programs, then its rank in each of a few runs, or the best of many."""
    names = [run.name for run in report.scores.runs]
    hint = "the rank in {}; none where it was not retrieved"
    ranks = [Col(head=n, kind="count", cell=lambda d, n=n: d.ranks.get(n), hint=hint.format(n)) for n in names]  # type: ignore[misc]
    if len(names) > RANKED:
        ranks = [
            Col(head="best rank", kind="count", cell=lambda d: min(d.ranks.values())),
            Col(head="runs", kind="count", cell=lambda d: len(d.ranks), hint="how many runs have it in their top"),
        ]
    return (
        Col("query_id", head="query", queries=True),
        Col("doc_id", head="document"),
        Col("ranks", of=lambda d: dict(d.ranks)),
        *ranks,
        Col("effect", head="could change", kind="value", hint="the most that its judgment could change, over all queries"),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class UnjudgedReport(OfScores):
    """The bounds of values per run and metric, ``turns`` per metric and run other than the ``baseline``, and the ``worklist``.

    ``worklist`` is for the first metric, largest effects first: ``considered`` of ``candidates`` documents were tried.
    """

    bounds: Sequence[ValueBounds]
    turns: Sequence[Reversal]
    worklist: Sequence[DocumentToJudge]
    candidates: int
    considered: int
    scores: Scores
    baseline: str

    schema = "unjudged/1"
    header = ("conventions", "inputs", "verdict", "candidates", "considered")
    views: ClassVar[tuple[View, ...]] = (
        View("results", _bounds_columns, lambda report: report.bounds),
        View(
            "turns",
            (
                Col("run", head="run"), Col("baseline", head="against"), Col("metric", of=lambda t: str(t.metric)),
                _change("difference", "change"), _change("lower", "lowest"), _change("upper", "highest"), Col("exact"),
                Col("unjudged", head="unjudged", kind="value", cell=lambda t: words.count(t.unjudged)),
                Col("needed", head="to reverse", kind="value", cell=_needed), Col("fewest"),
                Col("turned", kind="value"), Col("reason"),
            ),
            lambda report: report.turns,
            labels=2,
        ),
        View("worklist", _worklist_columns, lambda report: report.worklist, labels=2),
        View(  # the worklist as a file for judging
            "to_judge",
            (Col("query_id"), Col("doc_id"), Col("ranks", of=lambda d: d.ranks_in_words), Col("effect", kind="value")),
            lambda report: report.worklist,
            held=lambda _: False,
        ),
    )  # fmt: skip

    def __iter__(self) -> Iterator[ValueBounds]:
        return iter(self.bounds)

    def of(self, metric: Metric) -> UnjudgedReport:
        """Return the sentences about one metric."""
        bounds = [one for one in self.bounds if one.metric == metric]
        return replace(self, bounds=bounds, turns=[one for one in self.turns if one.metric == metric])

    def sentences(self) -> Iterator[str]:
        """The answer for the first metric, run by run, and what would reverse the differences."""
        first = self.of(self.bounds[0].metric)
        yield from map(str, [*first.bounds[:SPELLED], *first.turns[:SPELLED]])

    def body(self, **_: Any) -> Iterator[Sequence[Shown]]:
        """Yield the bounds and turns, metric by metric, and the first documents to judge."""
        metrics = list(dict.fromkeys(b.metric for b in self.bounds))
        for own in map(self.of, metrics):
            yield [*([Heading(str(own.bounds[0].metric))] if len(metrics) > 1 else []), own.table()]
            yield [own.table("turns")] if own.turns else []
        if self.worklist:
            purpose = f"a difference in {metrics[0]}" if self.turns else str(metrics[0])
            head = Paragraph(f"Judging these documents could change {purpose} most:")
            yield [head, self.table("worklist", most=SHOWN)]

    def small_print(self) -> Iterator[str]:
        """Yield the meaning of the columns and the conventions."""
        grades = ", ".join(dict.fromkeys(words.amount(b.grade) for b in self.bounds))
        sure = all(b.exact for b in self.bounds) and all(t.exact for t in self.turns)
        yield (
            f"lowest, highest: over ways of grading the unjudged documents of the top, from 0 to {grades}"
            + ("" if sure else ", the widest found if not all ways could be tried")
            + f". The known documents of a query, and so its ideal, change with them · all 0, all {grades}: if each had this grade · "
            "documents below the top, or retrieved by no run, stay as they are"
        )
        if self.turns:
            fewer = "" if all(t.fewest for t in self.turns if t.needed) else ", ≤ if fewer may be enough"
            yield f"to reverse: documents that would do it if graded {grades} while the others stayed unjudged{fewer}"
        if any(b.residual_of for b in self.bounds):
            yield "residual: documents below the end of the list also count"
        if any(b.condensed is not None and not b.residual_of for b in self.bounds):
            yield "condensed: over judged documents only"
        if self.considered < self.candidates and self.worklist:
            considered, candidates = words.count(self.considered), words.count(self.candidates)
            yield f"the {considered} documents of the best ranks were tried one by one, of {candidates}"
        yield self.scores.request.small_print()

    def next_step(self) -> str:
        """Return the option that writes the worklist."""
        return "next: --worklist judge.csv writes the documents to judge" if self.worklist else ""
