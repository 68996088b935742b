"""What ``diagnose`` gives: what runs lose and why, how queries fail, the worst of them, and documents to look at."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, ClassVar

from rankscope import words
from rankscope.blocks import EMPTY, Chart, Column, Heading, Paragraph, Table, Value
from rankscope.metrics import RR, Metric
from rankscope.scoring.scores import OfScores, Scores
from rankscope.show.result import Col, Shown, View, caution_block
from rankscope.verbs.diagnose.documents import Examples
from rankscope.verbs.diagnose.failures import BANDS, EQUAL, HOPELESS, KINDS, LABELS, NOTHING, Kind
from rankscope.verbs.diagnose.losses import QueryDiagnosis, RunDiagnosis

FEW = 3  # runs that have a sentence, or a column, each


def _number(name: str) -> Callable[[Any], float | None]:
    """A number of a row, None where it is undefined."""
    of = attrgetter(name)
    return lambda row: words.finite(of(row))


# --- columns ----------------------------------------------------------------------------------------------


def _query_record(diagnosis: Diagnosis) -> tuple[Col, ...]:
    """A query of a run, for programs."""
    return (
        Col("run"),
        Col("query_id"),
        Col("metric", of=lambda _: str(diagnosis.metric)),
        Col("value", kind="value"),
        Col("ceiling", kind="value"),
        Col("best", kind="value"),
        Col("lost", of=lambda q: q.loss, kind="value"),
        Col("never_retrieved", kind="value"),
        Col("ordered_badly", kind="value"),
        Col("regret", of=lambda q: q.regret if q.best_run else None, kind="value"),
        Col("best_run", of=lambda q: q.best_run or None),
        Col("kind"),
        Col("relevant_known", of=lambda q: q.known, kind="count"),
        Col("relevant_retrieved", of=lambda q: q.found, kind="count"),
        Col("first_relevant_rank", of=lambda q: q.first_relevant or None, kind="count"),
    )


def _query_columns(diagnosis: Diagnosis) -> tuple[Col, ...]:
    """A query with what it loses."""
    run = [Col(head="run", cell=lambda q: q.run)] if len(diagnosis.runs) > 1 else []
    losses = {} if diagnosis.reason else {"ceiling": "ceiling", "ideal": "best", "lost": "loss"}
    return (
        *_query_record(diagnosis),
        Col(head="query", cell=lambda q: q.query_id),
        *run,
        Col(head="value", kind="value", cell=_number("value")),
        *(Col(head=head, kind="value", cell=_number(name)) for head, name in losses.items()),
        Col(head="how", cell=lambda q: LABELS[q.kind]),
    )


def _regret_columns(diagnosis: Diagnosis) -> tuple[Col, ...]:
    """A query beside the run that is best on it."""
    return (
        *_query_record(diagnosis),
        Col(head="query", cell=lambda q: q.query_id),
        Col(head="run", cell=lambda q: q.run),
        Col(head="value", kind="value", cell=_number("value")),
        Col(head="best run", cell=lambda q: q.best_run),
        Col(head="regret", kind="value", cell=_number("regret")),
        Col(head="how", cell=lambda q: LABELS[q.kind]),
    )


def _run_columns(diagnosis: Diagnosis) -> tuple[Col, ...]:
    """A run with what it loses."""
    missing = all(run.ceilings.missing_only for run in diagnosis.runs)
    heads = {
        "value": str(diagnosis.metric),
        "best": "ideal",
        "total": "lost",
        "never_retrieved": "never retrieved" if missing else "by documents",
        "ordered_badly": "by order",
    }
    names = {
        "value": "value", "ceiling": "ceiling", "best": "best", "lost": "total", "never_retrieved": "never_retrieved",
        "ordered_badly": "ordered_badly", "share_never_retrieved": "share",
    }  # fmt: skip
    return (
        Col("run", of=attrgetter("name"), head="run"),
        Col("metric", of=lambda run: str(run.metric)),
        Col("queries", of=lambda run: len(run.query_ids), kind="count"),
        *(Col(key, of=attrgetter(f"loss.{name}"), kind="value") for key, name in names.items()),
        *(
            Col(head=head, kind="value", cell=_number(f"loss.{name}"))
            for name, head in heads.items()
            if name == "value" or not diagnosis.reason
        ),
        Col("reranked", of=lambda run: {str(n): words.finite(v) for n, v in sorted(run.loss.tops.items())}),
        Col("kinds"),
        Col("typical_first_relevant_rank", of=attrgetter("rank"), kind="value"),
        Col("median_first_relevant_rank", of=attrgetter("median"), kind="value"),
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
    Col("run"),
    Col("what", head="documents to look at"),
    Col("query_id", head="query"),
    Col("doc_id", head="document"),
    Col("grade", head="grade", cell=lambda d: words.amount(d.grade)),
    Col("rank", head="rank", kind="count"),
)


# --- the result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(OfScores):
    """What runs lose on a metric and why, and how their queries fail.

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

    schema = "diagnose/1"
    main = "per_query"
    views: ClassVar[tuple[View, ...]] = (
        View("per_query", _query_columns, lambda d: d.queries),
        View("results", _run_columns, lambda d: d.runs),
        View("hardest", _query_columns, lambda d: d.hardest, labels=lambda d: min(len(d.runs), 2)),
        View("regrets", _regret_columns, lambda d: d.regrets, labels=2),
        View("documents", EXAMPLES, lambda d: [one for run in d.runs for one in d.examples.of(run)]),
    )

    def __getitem__(self, run: str) -> RunDiagnosis:
        known = {one.name: one for one in self.runs}
        if run not in known:
            raise KeyError(f"no run is called {run!r}{words.hint(run, known)}")
        return known[run]

    @property
    def reason(self) -> str:
        """Why no ceiling is known; empty where one is."""
        return self.runs[0].ceilings.reason

    @cached_property
    def queries(self) -> list[QueryDiagnosis]:
        """Every query of every run, with its regret."""
        records = [run.query(at) for run in self.runs for at in range(len(run.query_ids))]
        if len(self.runs) < 2 or self.metric.better == "neither":
            return records
        sign = self.runs[0].sign
        best: dict[str, QueryDiagnosis] = {}
        for one in records:
            other = best.get(one.query_id)
            if not math.isnan(one.value) and (other is None or sign * one.value > sign * other.value):
                best[one.query_id] = one
        return [
            one if (top := best.get(one.query_id)) is None else
            replace(one, regret=sign * (top.value - one.value), best_run=top.run)
            for one in records
        ]  # fmt: skip

    @cached_property
    def hardest(self) -> list[QueryDiagnosis]:
        """The queries that lose most, each once; without a known loss those of the worst values."""
        if self.metric.better == "neither":
            return []
        sign = self.runs[0].sign
        chosen = [
            one for one in self.queries if (len(self.runs) < 2 or one.best_run == one.run) and not math.isnan(one.value)
        ]
        if self.reason:
            return sorted(chosen, key=lambda one: sign * one.value)[: self.queries_shown]
        losing = [one for one in chosen if one.loss > EQUAL]
        return sorted(losing, key=lambda one: -one.loss)[: self.queries_shown]

    @cached_property
    def regrets(self) -> list[QueryDiagnosis]:
        """The queries on which a run is furthest below the best run; empty for one run."""
        behind = [one for one in self.queries if one.regret > EQUAL]
        return sorted(behind, key=lambda q: -q.regret)[: self.queries_shown]

    def facts(self) -> dict[str, Any]:
        """What JSON holds beside the tables."""
        return {
            "metric": str(self.metric),
            "summary": list(self.sentences()),
            **super().facts(),
            "data_health": self.scores.data_health,
            "no_ceiling": self.reason or None,
            "kinds": [{"kind": k.name, "meaning": k.meaning, "remedy": k.remedy} for k in KINDS],
        }

    # -- in words ---------------------------------------------------------------------------------------

    def sentences(self) -> Iterator[str]:
        """What is lost and why, of each run or, where there are many, of the best; how queries fail; the typical first rank."""
        runs = list(self.runs) if len(self.runs) <= FEW else [self._leader()]
        for run in runs:
            yield self._loss(run)
        if len(runs) == 1:
            yield f"{_failures(runs[0])} {_typical(runs[0])}"
        if self.reason:
            yield f"No ceiling is known: {self.reason}."
        if self.metric.aggregate == "pooled":
            yield "The values of single queries are those of each query alone; their mean is another number."

    def _leader(self) -> RunDiagnosis:
        """The best run; the first, of a metric without a direction."""
        if self.metric.better == "neither":
            return self.runs[0]
        return max(self.runs, key=lambda r: -math.inf if math.isnan(r.whole) else r.sign * r.whole)

    def _loss(self, run: RunDiagnosis) -> str:
        metric, loss = self.metric, run.loss
        value = words.amount(loss.value) if metric.aggregate == "sum" else words.number(loss.value)
        if run.kinds[HOPELESS] == len(run.query_ids):
            return (
                f"{run.name} has {metric} {value}: no judged document is relevant, so there is nothing to gain or lose."
            )
        if math.isnan(loss.value):
            return f"{run.name} has no value of {metric} on any query."
        if self.reason or math.isnan(loss.total):
            return f"{run.name} has {metric} {value}."
        value = words.number(loss.value)
        if loss.total <= EQUAL:
            return f"{run.name} loses nothing of {metric} ({value}): no ranking scores better."
        return (
            f"{run.name} loses {words.number(loss.total)} of {metric}: {_why(run)}. A perfect re-ranker of what it retrieved would "
            f"reach {words.number(loss.ceiling)} (now {value}; an ideal ranking scores {words.number(loss.best)})."
        )

    # -- in blocks --------------------------------------------------------------------------------------

    def blocks(self, **_: Any) -> list[Shown]:
        """The sentences, the tables, what to doubt, the conventions, and the next step."""
        blocks: list[Shown] = [*map(Paragraph, self.sentences())]
        for title, table in self._tables():
            if table.rows:
                blocks += [EMPTY, *([Heading(title)] if title else []), table]
        blocks += [EMPTY, *caution_block(self.warnings), Paragraph(" · ".join(self._small_print()), quiet=True)]
        step = self.next_step()
        return [*blocks, Paragraph(step, quiet=True)] if step else blocks

    def _tables(self) -> Iterator[tuple[str, Table]]:
        """The tables with their headings; those without rows are not shown."""
        several = len(self.runs) > 1
        if several or not self.reason:
            yield "", self.table("results")
        if any(run.loss.ordered_badly > EQUAL for run in self.runs):
            yield f"{self.metric} if the first N documents were in the best order", self._reach()
        yield "queries by how they fail", self._kinds()
        yield "relevant documents by the rank at which they were found", self._depths()
        yield f"queries by what is at {'rank 1' if several else 'the first ranks'}", self._ranks()
        what = "score worst" if self.reason else "lose most"
        yield (
            f"queries that {what}" + (", each in the run that is best on it" if several else ""),
            self.table("hardest"),
        )
        yield "queries on which a run is furthest below the best run", self.table("regrets")
        if not several:
            yield "", self.table("documents")

    def _reach(self) -> Table:
        """How far re-ranking only the first documents would bring each run."""
        depths = sorted({depth for run in self.runs for depth in run.loss.tops})
        heads = ("now", *(f"N = {depth}" for depth in depths), "all")
        rows: list[tuple[Value, ...]] = []
        for run in self.runs:
            tops = (run.loss.tops.get(n, run.loss.ceiling) for n in depths)
            rows.append((run.name, *map(words.finite, (run.loss.value, *tops, run.loss.ceiling))))
        return Table((Column("run"), *(Column(head, "value") for head in heads)), tuple(rows))

    def _kinds(self) -> Table:
        """How many queries of each run fail in each way; ways in which no query fails are left out."""
        kinds = [kind for kind in KINDS if any(run.kinds[kind.name] for run in self.runs)]
        if len(self.runs) > FEW:
            counts: list[tuple[Value, ...]] = [
                (run.name, *(run.kinds[kind.name] for kind in kinds)) for run in self.runs
            ]
            return _counts("run", [kind.label for kind in kinds], counts)
        heads = ["queries"] if len(self.runs) == 1 else [run.name for run in self.runs]
        columns = (Column(""), *(Column(head, "count") for head in heads), Column("that is", wraps=True))
        rows: list[tuple[Value, ...]] = [
            (k.label, *(run.kinds[k.name] for run in self.runs), self._meaning(k)) for k in kinds
        ]
        return Table(columns, tuple(rows))

    def _meaning(self, kind: Kind) -> str:
        """What a kind is, with the cutoff in numbers; where no ideal ranking is known, none is perfect for scoring like it."""
        meaning = kind.meaning
        if kind.name == "perfect" and self.reason:
            meaning = "a relevant document is first, and the top k holds all it can"
        k = self.runs[0].facts.k
        return meaning.replace("top k", f"top {k}").replace("below k", f"below rank {k}")

    def _depths(self) -> Table:
        """How deep relevant documents were found: by grade for one run, in all for several."""
        every = [depth for run in self.runs for depth in run.depths]
        bands = [i for i in range(len(BANDS)) if i < 2 or any(depth.bands[i] for depth in every)]
        names = [f"{low}-{high}" if high else f"from {low}" for low, high in (BANDS[i] for i in bands)]
        rows: list[tuple[Value, ...]]
        if len(self.runs) == 1:
            rows = [(f"grade {words.amount(d.grade)}", *(d.bands[i] for i in bands), d.never, d.total) for d in every]
        else:
            rows = [
                (
                    run.name,
                    *(sum(d.bands[i] for d in run.depths) for i in bands),
                    sum(d.never for d in run.depths),
                    sum(d.total for d in run.depths),
                )
                for run in self.runs
            ]
        return _counts("" if len(self.runs) == 1 else "run", (*names, "never", "known"), rows)

    def _ranks(self) -> Table:
        """What is at the first ranks of one run, or at rank 1 of several."""
        one = len(self.runs) == 1
        rows = [
            (f"rank {at.rank}" if one else run.name, at.relevant, at.not_relevant, at.unjudged, at.nothing)
            for run in self.runs
            for at in (run.high if one else run.high[:1])
        ]
        return _counts("" if one else "run", ("relevant", "not relevant", "unjudged", "nothing"), rows)

    def _small_print(self) -> Iterator[str]:
        metric, policies = self.metric, self.scores.request.small_print()
        if "relevant: " not in policies:
            gain, level = getattr(metric, "gain", None), getattr(metric, "level", None)
            grade = "grade above 0" if level is None else f"grade ≥ {words.amount(level)}"
            yield f"relevant: {'a gain above 0' if gain is not None and level is None else grade}"
        if metric.looks_below:
            yield f"{metric} does not count what was never retrieved"
        if not self.reason:
            yield "all: the judged documents that were retrieved, in the best order"
            yield "ideal: any judged documents, in the best order"
        yield policies

    def next_step(self) -> str:
        """The command that takes apart the worst query; empty where there is none."""
        worst = next(iter(self.hardest or self.regrets), None)
        if worst is None:
            return ""
        paths = [source.path for source in self.scores.inputs]
        number = next(i for i, run in enumerate(self.runs) if run.name == worst.run)
        from_files = len(paths) == len(self.runs) + 1
        qrels, run = (paths[0], paths[1 + number]) if from_files else (None, None)
        parts = [qrels or "QRELS", run or "RUN", "--query", worst.query_id, "-m", str(self.metric)]
        return f"next: rankscope explain {shlex.join(parts)}"

    def charts(self) -> Iterator[Chart]:
        """What each run loses, and why."""
        if self.reason:
            return
        columns = (Column("run"), Column("lost", "value"), Column("because"))
        rows = [
            (run.name, lost, why)
            for run in self.runs
            for lost, why in ((run.loss.never_retrieved, "never retrieved"), (run.loss.ordered_badly, "ranked too low"))
        ]
        title = f"What is lost of {self.metric}, and why"
        yield Chart("lost", title, "stacked", columns, tuple(rows), x="lost", y="run", series="because")


def _counts(label: str, heads: Sequence[str], rows: Sequence[tuple[Value, ...]]) -> Table:
    return Table((Column(label), *(Column(head, "count") for head in heads)), tuple(rows))


def _why(run: RunDiagnosis) -> str:
    """The two parts of a loss, or the one where the other is nothing."""
    loss = run.loss
    never, order = "because of which documents were returned", "because of their order"
    if run.ceilings.missing_only:
        never, order = "because relevant documents were never retrieved", "because they are ranked too low"
    if loss.ordered_badly <= EQUAL:
        return f"all of it {never}"
    if loss.never_retrieved <= EQUAL:
        return f"all of it {order.replace('they', 'relevant documents')}"
    parts = ((loss.never_retrieved, loss.share or 0.0, never), (loss.ordered_badly, 1 - (loss.share or 0.0), order))
    return ", ".join(f"{words.number(part)} ({words.share(share)}) {why}" for part, share, why in parts)


def _failures(run: RunDiagnosis) -> str:
    """How many queries show nothing relevant, and how many start with what is not."""
    k, queries = run.facts.k, words.counted(len(run.query_ids), "query")
    hopeless = run.kinds[HOPELESS]
    empty = hopeless + sum(run.kinds[name] for name in NOTHING)
    first = run.high[0].not_relevant
    begin = f"{words.count(first) if first else 'none'} {'start' if first > 1 else 'starts'} with a document judged not relevant"
    if not empty:
        return f"Every query has a relevant result in the top {k}; of {queries}, {begin}."
    show = f"{words.count(empty)} {words.agree(empty, 'shows')} nothing relevant in the top {k}"
    if hopeless:
        show += f" ({words.count(hopeless)} of them {words.agree(hopeless, 'has')} no known relevant document)"
    return f"Of {queries}, {show}, and {begin}."


def _typical(run: RunDiagnosis) -> str:
    if not math.isfinite(run.rank):
        return "No relevant document was retrieved."
    median = "half of the queries show none" if math.isinf(run.median) else f"median {run.median:.0f}"
    reciprocal = isinstance(run.metric, RR) and math.isclose(run.rank * run.loss.value, 1.0)
    how = "1 / RR, the harmonic mean" if reciprocal else "harmonic mean"
    return f"Typical first relevant rank {words.number(run.rank, digits=1)} ({how}; {median})."
