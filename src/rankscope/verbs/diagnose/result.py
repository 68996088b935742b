"""The result of ``diagnose``: losses of runs and their causes, kinds of failures, the worst queries, and documents to inspect."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import starmap
from operator import attrgetter
from typing import Any, ClassVar

from rankscope import words
from rankscope.blocks import Chart, Column, Heading, Table, Value
from rankscope.files.texts import Texts
from rankscope.metrics import RR, Metric
from rankscope.scoring.policies import OVER_ORDERS
from rankscope.scoring.results import OfScores
from rankscope.scoring.scores import Scores
from rankscope.show.result import Col, Shown, View
from rankscope.verbs.diagnose.losses import (
    BANDS,
    EQUAL,
    HOPELESS,
    KINDS,
    LABELS,
    NOTHING,
    Examples,
    FailureKind,
    QueryDiagnosis,
    RunDiagnosis,
)
from rankscope.words import by_caller

READ = 80  # characters of the text of a query
FEW = 3  # runs that have a sentence, or a column, each


def _number(head: str, name: str) -> Col:
    of = attrgetter(name)
    return Col(head=head, kind="value", cell=lambda row: words.finite(of(row)))


def _query_record(diagnosis: Diagnosis) -> tuple[Col, ...]:
    numbers = {name: name for name in ("value", "ceiling", "best")} | {"lost": "total"}
    numbers |= {name: name for name in ("never_retrieved", "ordered_badly")}
    return (
        Col("run"), Col("query_id"), Col("metric", of=lambda _: str(diagnosis.metric)),
        *(Col(key, of=attrgetter(name), kind="value") for key, name in numbers.items()),
        Col("regret", of=lambda q: q.regret if q.best_run else None, kind="value"),
        Col("best_run", of=lambda q: q.best_run or None), Col("kind"),
        Col("relevant_known", kind="count"), Col("relevant_retrieved", kind="count"),
        Col("first_relevant_rank", of=lambda q: q.first_relevant or None, kind="count"),
    )  # fmt: skip


QUERY, RUN = Col(head="query", cell=attrgetter("query_id")), Col(head="run", cell=attrgetter("run"))
HOW = Col(head="how", cell=lambda q: LABELS[q.kind])


def _text(diagnosis: Diagnosis) -> tuple[Col, ...]:
    if diagnosis.texts is None:
        return ()
    by_id = diagnosis.texts.by_id
    short = lambda q: words.short(" ".join(by_id.get(q.query_id, "").split()), READ)  # noqa: E731
    return (Col("text", of=short, head="text", wraps=True),)


def _query_columns(diagnosis: Diagnosis) -> tuple[Col, ...]:
    losses = {} if diagnosis.reason else {"ceiling": "ceiling", "ideal": "best", "lost": "total"}
    numbers = ({"value": "value"} | losses).items()
    labels = (QUERY, *_text(diagnosis), *([RUN] if diagnosis.several else []))
    return (*_query_record(diagnosis), *labels, *starmap(_number, numbers), HOW)


def _regret_columns(diagnosis: Diagnosis) -> tuple[Col, ...]:
    best = Col(head="best run", cell=attrgetter("best_run"))
    shown = (_number("value", "value"), best, _number("regret", "regret"), HOW)
    return (*_query_record(diagnosis), QUERY, *_text(diagnosis), RUN, *shown)


def _run_columns(diagnosis: Diagnosis) -> tuple[Col, ...]:
    missing = all(run.ceilings.missing_only for run in diagnosis.runs)
    heads = {str(diagnosis.metric): "value"}
    if not diagnosis.reason:
        never = "never retrieved" if missing else "by documents"
        heads |= {"ideal": "best", "lost": "total", never: "never_retrieved", "by order": "ordered_badly"}
    names = {
        "value": "value", "ceiling": "ceiling", "best": "best", "lost": "total", "never_retrieved": "never_retrieved",
        "ordered_badly": "ordered_badly", "share_never_retrieved": "share",
    }  # fmt: skip
    return (
        Col("run", of=attrgetter("name"), head="run"),
        Col("metric", of=lambda run: str(run.metric)),
        Col("queries", of=lambda run: len(run.query_ids), kind="count"),
        *(Col(key, of=attrgetter(f"loss.{name}"), kind="value") for key, name in names.items()),
        *(_number(head, f"loss.{name}") for head, name in heads.items()),
        Col("reranked", of=lambda run: {str(n): words.finite(v) for n, v in sorted(run.loss.tops.items())}),
        Col("kinds"),
        Col("typical_first_relevant_rank", of=lambda run: run.typical[0], kind="value"),
        Col("median_first_relevant_rank", of=lambda run: run.typical[1], kind="value"),
        Col("ranks", of=lambda run: [vars(at) for at in run.high]),
        Col("relevant_documents", of=_depth_records),
    )


def _depth_records(run: RunDiagnosis) -> list[dict[str, Any]]:
    names = [f"{low}-{high}" if high else f"{low}+" for low, high in BANDS]
    return [
        {"grade": d.grade, **dict(zip(names, d.bands, strict=True)), "never": d.never, "known": d.total}
        for d in run.depths
    ]


EXAMPLES = (
    Col("run"), Col("what", head="documents to inspect"), Col("query_id", head="query"),
    Col("doc_id", head="document"), Col("grade", head="grade", cell=lambda d: words.amount(d.grade)),
    Col("rank", head="rank", kind="count"),
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(OfScores):
    """The losses of runs on a metric, their causes, and the failures of queries.

    ``runs`` are in the order given, ``queries`` hold every query of every run. ``hardest`` are the queries that lose most (with
    several runs, in the run that is best on them), ``regrets`` the queries on which a run is furthest below the best run.
    ``reason`` says why no ceilings are known, where that is so. ``examples`` finds documents with their ids. Printed, it is the
    answer in sentences.
    """

    metric: Metric
    runs: Sequence[RunDiagnosis]
    scores: Scores
    queries_shown: int
    examples: Examples
    texts: Texts | None = None

    schema = "diagnose/1"
    main = "per_query"
    header = ("metric", "summary", "conventions", "inputs", "data_health")
    views: ClassVar[tuple[View, ...]] = (
        View("per_query", _query_columns, lambda d: d.queries),
        View("results", _run_columns, lambda d: d.runs),
        View("hardest", _query_columns, lambda d: d.hardest, labels=lambda d: min(len(d.runs), 2)),
        View("regrets", _regret_columns, lambda d: d.regrets, labels=2),
        View("documents", EXAMPLES, lambda d: [one for run in d.runs for one in d.examples.of(run)]),
    )

    def __getitem__(self, run: str) -> RunDiagnosis:
        known = {one.name: one for one in self.runs}
        if run in known:
            return known[run]
        raise KeyError(f"no run is called {run!r}{words.hint(run, known)}")

    @property
    def several(self) -> bool:
        """True if there is more than one run."""
        return len(self.runs) > 1

    @property
    def reason(self) -> str:
        """The reason why no ceiling is known. Empty if one is."""
        return self.runs[0].ceilings.reason

    @cached_property
    def queries(self) -> list[QueryDiagnosis]:
        """Every query of every run, with its regret."""
        every = [one for run in self.runs for one in run.queries()]
        if not self.several or self.metric.better == "neither":
            return every
        best: dict[str, QueryDiagnosis] = {}
        for one in every:
            other = best.setdefault(one.query_id, one)
            if one.sign * one.value > one.sign * other.value or math.isnan(other.value):
                best[one.query_id] = one
        return [
            one if math.isnan(top.value) else replace(one, regret=one.sign * (top.value - one.value), best_run=top.run)
            for one in every
            for top in [best[one.query_id]]
        ]

    @cached_property
    def hardest(self) -> list[QueryDiagnosis]:
        """The queries with the largest losses, each once, or with the worst values if losses are unknown."""
        chosen = [q for q in self.queries if q.best_run in ("", q.run) and not math.isnan(q.value)]
        chosen = [q for q in chosen if self.metric.better != "neither" and (self.reason or q.total > EQUAL)]
        chosen.sort(key=lambda q: q.sign * q.value if self.reason else -q.total)
        return chosen[: self.queries_shown]

    @cached_property
    def regrets(self) -> list[QueryDiagnosis]:
        """The queries on which a run is furthest below the best run, empty for one run."""
        return sorted((q for q in self.queries if q.regret > EQUAL), key=lambda q: -q.regret)[: self.queries_shown]

    def json_header(self) -> dict[str, Any]:
        """Return the declared header, the reason why no ceiling is known, and the kinds of failures."""
        kinds = [{"kind": k.name, "meaning": k.meaning, "remedy": k.remedy} for k in KINDS]
        return {**super().json_header(), "no_ceiling": self.reason or None, "kinds": kinds}

    def sentences(self) -> Iterator[str]:
        """Yield the losses and causes of each run or, for many, of the best, the failures of queries, and the typical first rank."""
        runs = list(self.runs) if len(self.runs) <= FEW else [self._leader()]
        yield from map(self._loss, runs)
        if len(runs) == 1:
            yield f"{_failures(runs[0])} {_typical(runs[0])}"
        if self.reason:
            yield f"No ceiling is known: {self.reason}."
        if self.metric.aggregate == "pooled":
            yield "The values of single queries are computed per query. Their mean is another number."

    def _leader(self) -> RunDiagnosis:
        if self.metric.better == "neither":
            return self.runs[0]
        return max(self.runs, key=lambda r: -math.inf if math.isnan(r.whole) else r.sign * r.whole)

    def _loss(self, run: RunDiagnosis) -> str:
        metric, loss, value = self.metric, run.loss, words.number(run.loss.value)
        has = f"{run.name} has {metric} {words.amount(loss.value) if metric.aggregate == 'sum' else value}"
        if run.kinds[HOPELESS] == len(run.query_ids):
            return f"{has}: no judged document is relevant, so no value can be gained or lost."
        if math.isnan(loss.value):
            return f"{run.name} has no value of {metric} on any query."
        if self.reason or math.isnan(loss.total):
            return f"{has}."
        if loss.total <= EQUAL:
            return f"{run.name} loses nothing of {metric} ({value}): no ranking scores better."
        return (
            f"{run.name} loses {words.number(loss.total)} of {metric}: {_why(run)}. A perfect re-ranker of its documents would "
            f"reach {words.number(loss.ceiling)} (now {value}, an ideal ranking scores {words.number(loss.best)})."
        )

    def body(self, **_: Any) -> Iterator[Sequence[Shown]]:
        """Yield the tables that have rows, each below its title."""
        for title, table in self._tables():
            if table.rows:
                yield [*([Heading(title)] if title else []), table]

    def _tables(self) -> Iterator[tuple[str, Table]]:
        if self.several or not self.reason:
            yield "", self.table("results")
        if any(run.loss.ordered_badly > EQUAL for run in self.runs):
            yield f"{self.metric} if the first N documents were in the best order", self._reach()
        yield "queries by how they fail", self._kinds()
        yield "relevant documents by the rank at which they were found", self._depths()
        yield f"queries by the document at {'rank 1' if self.several else 'the first ranks'}", self._ranks()
        each = ", each in the run that is best on it" if self.several else ""
        yield f"queries with {'the worst scores' if self.reason else 'the largest losses'}{each}", self.table("hardest")
        yield "queries on which a run is furthest below the best run", self.table("regrets")
        if not self.several:
            yield "", self.table("documents")

    def _reach(self) -> Table:
        depths = sorted({depth for run in self.runs for depth in run.loss.tops})
        heads = ("now", *(f"N = {depth}" for depth in depths), "all")
        rows: list[tuple[Value, ...]] = []
        for run in self.runs:
            tops = (run.loss.tops.get(n, run.loss.ceiling) for n in depths)
            rows.append((run.name, *map(words.finite, (run.loss.value, *tops, run.loss.ceiling))))
        return Table((Column("run"), *(Column(head, "value") for head in heads)), tuple(rows))

    def _kinds(self) -> Table:
        kinds = [kind for kind in KINDS if any(run.kinds[kind.name] for run in self.runs)]
        if len(self.runs) > FEW:
            rows = [(run.name, *(run.kinds[kind.name] for kind in kinds)) for run in self.runs]
            return _counts("run", [kind.label for kind in kinds], rows)
        heads = [run.name for run in self.runs] if self.several else ["queries"]
        rows = [(k.label, *(run.kinds[k.name] for run in self.runs), self._meaning(k)) for k in kinds]
        return _counts("", heads, rows, Column("that is", wraps=True))

    def _meaning(self, kind: FailureKind) -> str:
        """Return the meaning of a kind, with the cutoff in numbers. Without a known ideal ranking, perfect means a good top k."""
        meaning = kind.meaning
        if kind.name == "perfect" and self.reason:
            meaning = "a relevant document is first, and the top k holds all it can"
        k = self.runs[0].facts.k
        return meaning.replace("top k", f"top {k}").replace("below k", f"below rank {k}")

    def _depths(self) -> Table:
        counts = [(f"grade {words.amount(depth.grade)}", depth) for depth in self.runs[0].depths]
        counts = [(run.name, run.depth) for run in self.runs] if self.several else counts
        shown = [i for i in range(len(BANDS)) if i < 2 or any(depth.bands[i] for _, depth in counts)]
        names = [f"{low}-{high}" if high else f"from {low}" for low, high in (BANDS[i] for i in shown)]
        rows = [(name, *(depth.bands[i] for i in shown), depth.never, depth.total) for name, depth in counts]
        return _counts("run" if self.several else "", (*names, "never", "known"), rows)

    def _ranks(self) -> Table:
        counts = [(f"rank {at.rank}", at) for at in self.runs[0].high]
        counts = [(run.name, run.high[0]) for run in self.runs] if self.several else counts
        rows = [(name, at.relevant, at.not_relevant, at.unjudged, at.nothing) for name, at in counts]
        return _counts("run" if self.several else "", ("relevant", "not relevant", "unjudged", "nothing"), rows)

    def small_print(self) -> Iterator[str]:
        """Yield the conventions of the tables and of the scores."""
        metric, policies = self.metric, self.scores.request.small_print()
        if "relevant: " not in policies:
            gain, level = getattr(metric, "gain", None), getattr(metric, "level", None)
            grade = "grade above 0" if level is None else f"grade ≥ {words.amount(level)}"
            yield f"relevant: {'a gain above 0' if gain is not None and level is None else grade}"
        if metric.looks_below:
            yield f"{metric} ignores documents that were never retrieved"
        if not self.reason:
            yield "all: the judged documents that were retrieved, in the best order"
            yield "ideal: any judged documents, in the best order"
        yield policies

    def next_step(self) -> str:
        """Return the command that explains the worst query, empty if there is none."""
        worst = next(iter(self.hardest or self.regrets), None)
        if worst is None:
            return ""
        paths = [source.path for source in self.scores.inputs]
        number = next(i for i, run in enumerate(self.runs) if run.name == worst.run)
        from_files = len(paths) == len(self.runs) + 1
        qrels, run = (paths[0], paths[1 + number]) if from_files else (None, None)
        parts = [qrels or "QRELS", run or "RUN", "--query", worst.query_id, "-m", str(self.metric)]
        request = self.scores.request
        plain = request.with_policies(ties="trec") if request.policies.ties in OVER_ORDERS else request
        arguments = f"{qrels!r}, {run!r}" if from_files else "qrels, run"
        call = f'rs.explain({arguments}, "{self.metric}", query={worst.query_id!r})'
        return f"next: {by_caller(f'rankscope explain {shlex.join(parts)}{plain.options()}', call)}"

    def charts(self) -> Iterator[Chart]:
        """Yield the chart of losses and causes."""
        columns = (Column("run"), Column("lost", "value"), Column("because"))
        parts = {"never_retrieved": "never retrieved", "ordered_badly": "ranked too low"}
        rows = tuple((run.name, getattr(run.loss, name), why) for run in self.runs for name, why in parts.items())
        if not self.reason:
            title = f"Loss of {self.metric}, by cause"
            yield Chart("lost", title, "stacked", columns, rows, x="lost", y="run", series="because")


def _counts(label: str, heads: Iterable[str], rows: Sequence[tuple[Any, ...]], *more: Column) -> Table:
    return Table((Column(label), *(Column(head, "count") for head in heads), *more), tuple(rows))


def _why(run: RunDiagnosis) -> str:
    loss = run.loss
    never, order = "because of the returned documents", "because of their order"
    if run.ceilings.missing_only:
        never, order = "because relevant documents were never retrieved", "because they are ranked too low"
    if loss.ordered_badly <= EQUAL:
        return f"all of it {never}"
    if loss.never_retrieved <= EQUAL:
        return f"all of it {order.replace('they', 'relevant documents')}"
    parts = ((loss.never_retrieved, loss.share or 0.0, never), (loss.ordered_badly, 1 - (loss.share or 0.0), order))
    return ", ".join(f"{words.number(part)} ({words.share(share)}) {why}" for part, share, why in parts)


def _failures(run: RunDiagnosis) -> str:
    k, queries = run.facts.k, words.counted(len(run.query_ids), "query")
    hopeless = run.kinds[HOPELESS]
    empty = hopeless + sum(run.kinds[name] for name in NOTHING)
    first = run.high[0].not_relevant
    begin = f"{words.count(first) if first else 'none'} {'start' if first > 1 else 'starts'} with a document judged not relevant"
    if not empty:
        return f"Every query has a relevant result in the top {k}. Of {queries}, {begin}."
    show = f"{words.count(empty)} {words.agree(empty, 'shows')} nothing relevant in the top {k}"
    if hopeless:
        show += f" ({words.count(hopeless)} {words.agree(hopeless, 'has')} no known relevant document)"
    return f"Of {queries}, {show}, and {begin}."


def _typical(run: RunDiagnosis) -> str:
    rank, middle = run.typical
    if not math.isfinite(rank):
        return "No relevant document was retrieved."
    median = f"half of the queries have {'none' if math.isinf(middle) else f'one by rank {words.count(middle)}'}"
    reciprocal = isinstance(run.metric, RR) and math.isclose(rank * run.loss.value, 1.0)
    how = "1 / RR, the harmonic mean" if reciprocal else "harmonic mean"
    return f"Typical first relevant rank {words.number(rank, digits=1)} ({how}); {median}."
