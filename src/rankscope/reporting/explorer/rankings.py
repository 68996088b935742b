"""The rankings of a report to look into: query by query, the top of every run with what each document adds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rankscope import words
from rankscope.blocks import Document, Explorer, Query
from rankscope.lists import Array
from rankscope.metrics import Metric
from rankscope.reporting.explorer.budget import (
    LEAST,
    interest,
    most_queries,
    room_of_documents,
    room_of_queries,
    room_of_text,
    workable,
)
from rankscope.reporting.explorer.pool import (
    DocumentPool,
    RankingSource,
    below,
    pool_of_missed,
    pool_of_tops,
    source_of,
)
from rankscope.reporting.part import PagePart
from rankscope.reporting.subject import Subject
from rankscope.scoring.scores import Scores

USUAL, DEEPEST = 10, 20  # documents of each ranking: at least, and at most unless asked for
TEXT = 300  # characters of a text
SHARE = 0.5  # of the room that is for ids, where there are texts to be shown
WHATIF = {"RBP": ("p",), "ERR": ("max_grade",)}  # parameters that a what-if needs to compute the same
_SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")


def explorer_of(
    subject: Subject, *, depth: int | None = None, budget: int = 9_000_000, texts: bool = True
) -> Explorer | None:
    """The rankings behind a result, in about ``budget`` bytes; None where scores were given and no rankings.

    Every query that the leading metric is averaged over, with the first ``depth`` documents of every run, each once; its rank in
    the other runs is told however deep it stands there. Without ``depth`` as many as the metric looks at, from 10 to 20, and fewer
    where these would be too many. ``adds`` and ``rest`` sum to the value of the leading metric (both are 0 where that has none).
    Texts are cut to 300 characters, and go to the queries that differ most first. Where even the ids are too many, queries that
    differ least are left out; ``notes`` say what is not there.
    """
    made = _looked(subject, depth, budget, texts)
    return None if made is None else made.explorer(len(subject.lead.units))


def documents_of(subject: Subject, depth: int | None = None, budget: int = 9_000_000) -> list[str]:
    """The ids of the documents that ``explorer_of`` would have room for, each once; without texts there is room for the most."""
    made = _looked(subject, depth, budget, texts=False)
    return [] if made is None else list(dict.fromkeys(made.pool.doc_ids))


def _looked(subject: Subject, depth: int | None, budget: int, texts: bool) -> _Made | None:
    """An explorer that knows its documents; None where there are no rankings."""
    scores = subject.scores
    if scores is None or not subject.runs or subject.metric is None:
        return None
    names = subject.runs_in_order()
    metrics = [f.metric for f in subject.fields if f.metric is not None and f.metric in scores.metrics]
    queries = list(subject.lead.units)
    values = _values(scores, names, metrics, queries)
    order = interest(values[:, 0], subject.lead.sign)
    cutoff = getattr(metrics[0], "cutoff", None)
    wanted = min(max(cutoff or USUAL, USUAL), DEEPEST) if depth is None else depth
    most = most_queries(budget, len(names), len(metrics), wanted)
    picked = np.sort(order[:most])
    mine = [queries[at] for at in picked.tolist()]
    source = source_of(subject, scores, names, metrics[0], mine, few=len(mine) < len(queries))
    made = _Made(subject, source, metrics, values[:, :, picked], np.argsort(order)[picked], budget, texts)
    made.look(wanted, exactly=depth is not None)
    return made


def _values(scores: Scores, names: Sequence[str], metrics: Sequence[Metric], queries: Sequence[str]) -> Array:
    """The values of runs x metrics x queries, NaN where there is none."""
    number = {query: at for at, query in enumerate(queries)}
    scored = {run.name: run for run in scores.runs}
    out = np.full((len(names), len(metrics), len(queries)), np.nan)
    for row, name in enumerate(names):
        run = scored[name]
        at = np.array([number.get(query, -1) for query in run.query_ids], dtype=np.int64)
        for column, metric in enumerate(metrics):
            out[row, column, at[at >= 0]] = run.values[metric][at >= 0]
    return out


@dataclass(eq=False)
class _Made:
    """An explorer on its way: ``place`` is where each query comes when those that differ most come first."""

    subject: Subject
    source: RankingSource
    metrics: Sequence[Metric]
    values: Array
    place: Array
    budget: int
    texts: bool
    notes: list[str] = field(default_factory=list)

    @property
    def queries(self) -> list[str]:
        return list(self.source.number)

    @property
    def cutoff(self) -> int | None:
        return getattr(self.source.metric, "cutoff", None)

    @property
    def docs_text(self) -> Mapping[str, str]:
        return self.subject.docs_text if self.texts else {}

    @property
    def queries_text(self) -> Mapping[str, str]:
        return self.subject.queries_text if self.texts else {}

    def look(self, wanted: int, exactly: bool) -> None:
        """Find the documents, as deep as there is room unless it is to be ``exactly`` so deep, and the queries that are kept."""
        deep = wanted if exactly else workable(wanted, len(self.queries), len(self.source.names))
        pool = pool_of_tops(self.source, deep, self.values[:, 0])
        room = room_of_documents(pool, bool(self.docs_text))
        fixed = self._fixed_room()
        self.depth = wanted if exactly else self._depth(pool, room, int(fixed.sum()), deep)
        shown = pool.best <= self.depth
        if self.depth < wanted:
            self.notes.append(
                f"the first {self.depth} documents of each ranking are shown, so that the page stays small"
            )
        room = np.where(shown, room, 0)
        each = fixed + np.bincount(pool.query, weights=room, minlength=len(self.queries))
        by_place = np.argsort(self.place)
        fits = np.cumsum(each[by_place]) <= self.budget
        fits[:1] = True
        self.kept = np.zeros(len(self.queries), dtype=bool)
        self.kept[by_place[fits]] = True
        self.left = self.budget - int(each[self.kept].sum())
        self.pool = pool.within(shown & self.kept[pool.query])
        if len(self.source.names) == 1:
            self._add_missed()

    def _add_missed(self) -> None:
        """Of one run, the best documents that it does not show, if there is room for all: a reader asks which they are."""
        missed = pool_of_missed(self.source, self.pool, self.kept, self.values[:, 0])
        room = int(room_of_documents(missed, bool(self.docs_text)).sum())
        if room <= self.left:
            self.left -= room
            self.pool = self.pool.beside(missed)

    def _fixed_room(self) -> Array:
        texts = [self.queries_text.get(query, "") for query in self.queries]
        graded = np.array([len(grades) for grades in self.source.graded]) + self.source.good.sum(axis=0)
        return room_of_queries(self.queries, [text[:TEXT] for text in texts], graded, self.values.shape[:2])

    def _depth(self, pool: DocumentPool, room: Array, fixed: int, wanted: int) -> int:
        """The most documents of each ranking whose ids fit; texts have a share of the room only where these are not fewer than usual."""
        upto = fixed + np.cumsum(np.bincount(pool.best, weights=room, minlength=wanted + 1))[: wanted + 1]

        def fitting(share: float) -> int:
            return int(np.searchsorted(upto, share * self.budget, side="right")) - 1

        whole = fitting(1.0)
        beside = max(fitting(SHARE), min(whole, USUAL)) if self.docs_text else whole
        return max(beside, min(LEAST, wanted))

    def explorer(self, population: int) -> Explorer:
        """The block itself."""
        left_out = population - int(self.kept.sum())
        if left_out:
            least = "on which the runs differ least" if len(self.source.names) > 1 else "of the best values"
            self.notes.append(
                f"{words.counted(left_out, 'query is', 'queries are')} left out, so that the page stays small: those {least}"
            )
        if self.source.averaged:
            self.notes.append(
                "equal scores are shown in trec_eval's order, with what documents add in that order; the values are over all orders"
            )
        self.notes.extend(_notes_of_members(self.subject.members))
        level = getattr(self.source.metric, "level", None)
        top = max((float(one.grade.max(initial=0.0)) for one in self.source.judged), default=0.0)
        level = 1.0 if level is None else float(level)
        return Explorer(
            runs=self.source.names,
            metrics=tuple(map(str, self.metrics)),
            better=self.subject.lead.better,
            queries=tuple(self._queries()),
            depth=self.depth,
            cutoff=self.cutoff,
            level=level,
            top_grade=max(top, level, 1.0),
            left_out=left_out,
            notes=tuple(self.notes),
            members=tuple((system, tuple(runs)) for system, runs in self.subject.members.items()),
            parameters=parameters_of(self.metrics),
        )

    def _queries(self) -> Iterator[Query]:
        documents = self._documents()
        beyond = below(self.source, self.pool)
        sizes = self.source.sizes.T.tolist()
        unjudged = self.source.unjudged(self.cutoff or self.depth).T.tolist()
        values = self.values.transpose(2, 0, 1).tolist()
        for number, query in enumerate(self.queries):
            if not self.kept[number]:
                continue
            shown = documents[number]
            yield Query(
                query_id=query,
                text=shortened(self.queries_text.get(query, "")),
                values=tuple(map(tuple, values[number])),
                documents=shown,
                sizes=tuple(sizes[number]),
                judged=tuple(self.source.graded[number]),
                beyond=tuple(tuple(lists[number]) for lists in beyond),
                rest=tuple(_rest(of_run[0], run, shown) for run, of_run in enumerate(values[number])),
                unjudged=tuple(unjudged[number]),
            )

    def _documents(self) -> list[tuple[Document, ...]]:
        """The documents of each query."""
        pool = self.pool
        texts = self._texts()
        size = np.bincount(pool.query, minlength=len(self.queries))
        ends = np.cumsum(size)
        ranks, adds = list(map(tuple, pool.ranks.T.tolist())), list(map(tuple, pool.adds.T.tolist()))
        grades = [None if math.isnan(grade) else grade for grade in pool.grade.tolist()]
        made = [
            Document(doc, grade, rank, add, texts.get(doc, ""))
            for doc, grade, rank, add in zip(pool.doc_ids, grades, ranks, adds, strict=True)
        ]
        return [tuple(made[end - many : end]) for end, many in zip(ends.tolist(), size.tolist(), strict=True)]

    def _texts(self) -> dict[str, str]:
        """The texts that there is room for: those of the queries that differ most."""
        if not self.docs_text:
            return {}
        out: dict[str, str] = {}
        missing: set[str] = set()
        left = self.left
        for at in np.argsort(self.place[self.pool.query], kind="stable").tolist():
            doc = self.pool.doc_ids[at]
            if doc in out or doc in missing or not (whole := self.docs_text.get(doc)):
                continue
            text = shortened(whole) if left >= 0 else ""
            left -= room_of_text(text)
            if left < 0:  # from here on there is no room: texts that nobody sees are not looked at
                missing.add(doc)
            else:
                out[doc] = text
        if missing:
            of = words.counted(len(missing), "document is", "documents are")
            self.notes.append(f"the texts of {of} left out, so that the page stays small")
        return out


def _rest(value: float, run: int, documents: Sequence[Document]) -> float:
    """What no document shown adds to a value."""
    if math.isnan(value):
        return 0.0
    rest = value - math.fsum(document.adds[run] for document in documents)
    return 0.0 if abs(rest) < 1e-15 else rest


def shortened(text: str, room: int = TEXT) -> str:
    r"""A text on one line, cut where it is longer than its room.

    >>> shortened("  one\n two\x00 three ", 8)
    'one two…'
    """
    said = _SPACE.sub(" ", text[: 2 * room]).strip()
    if len(said) <= room and len(text) > 2 * room:  # much of it was space
        said = _SPACE.sub(" ", text).strip()
    return said if len(said) <= room else f"{said[: room - 1].rstrip()}…"


def _notes_of_members(members: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """What a reader should know of systems that are the mean of several runs, a sentence each."""
    for system, runs in members.items():
        yield (
            f"{system} is the mean of {words.listing(runs)}: the verdicts, tables and charts are of that mean, "
            f"the rankings here are of one run at a time, and {runs[0]} stands for {system} where a query is opened from there."
        )


def parameters_of(metrics: Sequence[Metric]) -> tuple[tuple[str, float], ...]:
    """The parameters of the metrics that a what-if needs; of several metrics of one class the first.

    >>> from rankscope.metrics import ERR, RBP
    >>> parameters_of([RBP(p=0.5), ERR(max_grade=3) @ 10, RBP(p=0.9)])
    (('p', 0.5), ('max_grade', 3.0))
    """
    found: dict[str, float] = {}
    for metric in metrics:
        for name in WHATIF.get(type(metric).__name__, ()):
            found.setdefault(name, float(getattr(metric, name)))
    return tuple(found.items())


class QueriesPart(PagePart[Subject]):
    """Every query to look into: rankings side by side, document by document."""

    name, title = "queries", "Query by query"
    ranked = True
    several = False

    def blocks(self) -> Iterator[Explorer]:
        """The explorer."""
        explorer = explorer_of(self.subject, depth=self.subject.shown)
        if explorer is not None:
            self.several = len(explorer.runs) > 1
            yield explorer

    def lead(self) -> str:
        """What to do with it."""
        what = "which documents make the difference" if self.several else "its ranking beside the ideal one"
        return f"Pick a query to see {what}."
