"""The rankings of a report: query by query, the top of every run with the share of each document."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Document, Explorer, Query
from rankscope.lists import Array
from rankscope.metrics import Metric
from rankscope.reporting.explorer.pool import (
    DocumentPool,
    RankingSource,
    below,
    pool_of_missed,
    pool_of_tops,
    source_of,
)
from rankscope.reporting.subject import PagePart, Subject
from rankscope.scoring.scores import Scores

USUAL, DEEPEST = 10, 20  # documents of each ranking: at least, and at most unless asked for
TEXT = 300  # characters of a text
SHARE = 0.5  # of the room that is for ids, where there are texts to be shown
BUDGET = 9_000_000  # bytes for all rankings
OTHERS = 0.1  # of the room that is for ids of relevant documents that no ranking shows
WHATIF = {"RBP": ("p",), "ERR": ("max_grade",)}  # parameters that a what-if needs to compute the same
# bytes in compact JSON, as measured on pages of the demo and of TREC-COVID and rounded up
LEAST = 5  # documents of each ranking that are shown before queries are left out
CELLS = 12_000_000  # ranks, and as many shares, that are held at once
ID, NUMBER, VALUE, KEYS, GRADE = 3, 2, 12, 90, 7
_SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")


def explorer_of(subject: Subject[Any], *, depth: int | None = None, budget: int = BUDGET) -> Explorer | None:
    """Return the rankings behind a result, in about ``budget`` bytes; None for scores without rankings.

    Every query that the leading metric is averaged over, with the first ``depth`` documents of every run, each once; its rank in
    the other runs is told however deep it stands there. Without ``depth`` as many as the metric looks at, from 10 to 20, and fewer
    where these would be too many. ``adds`` and ``rest`` sum to the value of the leading metric (both are 0 where that has none).
    Texts are cut to 300 characters, and go to the queries that differ most first. Where even the ids are too many, queries that
    differ least are left out; ``notes`` say what is not there.
    """
    draft = _draft(subject, depth, budget)
    return None if draft is None else draft.explorer(len(subject.lead.units))


def documents_of(subject: Subject[Any], depth: int | None = None, budget: int = BUDGET) -> list[str]:
    """The ids of the documents that ``explorer_of`` would have room for, each once; without texts there is room for the most."""
    draft = _draft(replace(subject, queries_text={}, docs_text={}), depth, budget)
    return [] if draft is None else list(dict.fromkeys(draft.pool.doc_ids))


def _draft(subject: Subject[Any], depth: int | None, budget: int) -> _Draft | None:
    """Return an explorer with its documents; None without rankings."""
    scores = subject.scores
    if scores is None or not subject.runs or subject.metric is None:
        return None
    names = subject.runs_in_order()
    metrics = [p.metric for p in subject.panels if p.metric is not None and p.metric in scores.metrics]
    queries = list(subject.lead.units)
    values = _values(scores, names, metrics, queries)
    order = interest(values[:, 0], subject.lead.sign)
    cutoff = getattr(metrics[0], "cutoff", None)
    wanted = min(max(cutoff or USUAL, USUAL), DEEPEST) if depth is None else depth
    # read more queries than fit with the fewest documents, within the memory
    runs, least = len(names), min(LEAST, wanted)
    room = KEYS + 3 * runs * len(metrics) + least * (ID + 2 * NUMBER + NUMBER * runs)
    picked = np.sort(order[: max(1, min(budget // room, 2 * CELLS // (runs * runs * least)))])
    mine = [queries[at] for at in picked.tolist()]
    source = source_of(subject, scores, names, metrics[0], mine, few=len(mine) < len(queries))
    draft = _Draft(subject, source, metrics, values[:, :, picked], np.argsort(order)[picked], budget)
    draft.look(wanted, exactly=depth is not None)
    return draft


def _values(scores: Scores, names: Sequence[str], metrics: Sequence[Metric], queries: Sequence[str]) -> Array:
    """Return the values of runs x metrics x queries, NaN if undefined."""
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
class _Draft:
    """An unfinished explorer: ``place`` is the position of each query if queries that differ most come first."""

    subject: Subject[Any]
    source: RankingSource
    metrics: Sequence[Metric]
    values: Array
    place: Array
    budget: int

    def __post_init__(self) -> None:
        self.notes: list[str] = []
        self.queries = list(self.source.number)
        self.docs_text, self.queries_text = self.subject.docs_text, self.subject.queries_text
        self.cutoff: int | None = getattr(self.source.metric, "cutoff", None)

    def look(self, wanted: int, exactly: bool) -> None:
        """Find the documents, to the depth that fits or ``exactly`` the ``wanted`` one, and the queries that are kept."""
        # ranks and shares fit the memory even if runs share no document
        workable = max(LEAST, CELLS // max(1, len(self.queries) * len(self.source.names) ** 2))
        deep = wanted if exactly else min(wanted, workable)
        pool = pool_of_tops(self.source, deep, self.values[:, 0])
        room = room_of_documents(pool, bool(self.docs_text))
        texts = [self.queries_text.get(query, "")[:TEXT] for query in self.queries]
        graded = np.array([len(grades) for grades in self.source.grade_counts]) + self.source.good.sum(axis=0)
        runs, metrics = self.values.shape[:2]
        words_room = np.array([_bytes(query) + _bytes(text) for query, text in zip(self.queries, texts, strict=True)])
        # the size of each query without its documents
        fixed = words_room.astype(np.int64) + KEYS + runs * (9 * metrics + 9 + 3 * NUMBER) + GRADE * graded
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
        if len(self.source.names) == 1:  # also the best documents that it misses, if all fit
            missed = pool_of_missed(self.source, self.pool, self.kept, self.values[:, 0])
            needed = int(room_of_documents(missed, bool(self.docs_text)).sum())
            if needed <= self.left:
                self.left -= needed
                self.pool = self.pool.beside(missed)
        self._find_others()

    def _find_others(self) -> None:
        """Find documents of a grade above 0 that no ranking shows, for what-if questions: queries that differ most first."""
        missed = pool_of_missed(self.source, self.pool, self.kept, self.values[:, 0], most=None)
        order = np.argsort(self.place[missed.query], kind="stable")
        room = np.cumsum(room_of_documents(missed, False)[order])
        fits = int(np.searchsorted(room, min(OTHERS * self.budget, self.left), side="right"))
        self.left -= int(room[fits - 1]) if fits else 0
        self.others = missed.within(np.sort(order[:fits]))

    def _depth(self, pool: DocumentPool, room: Array, fixed: int, wanted: int) -> int:
        """Return the largest depth whose ids fit; texts get space only if the depth stays usual."""
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
            queries = words.counted(left_out, "query is", "queries are")
            self.notes.append(f"{queries} left out, so that the page stays small: those {least}")
        if self.source.over_orders:
            order = "equal scores are shown in trec_eval's order, with the contributions of documents in that order"
            self.notes.append(f"{order}. The values are over all orders")
        for system, runs in self.subject.members.items():
            self.notes.append(
                f"{system} is the mean of {words.listing(runs)}. The verdicts, tables and charts are about the mean, the rankings here are "
                f"from one run at a time. A query of {system} opens with {runs[0]}."
            )
        level = getattr(self.source.metric, "level", None)
        level = 1.0 if level is None else float(level)
        top = max((float(one.grade.max(initial=0.0)) for one in self.source.judged), default=0.0)
        return Explorer(
            runs=self.source.names, metrics=tuple(map(str, self.metrics)), better=self.subject.lead.better, queries=tuple(self._queries()),
            depth=self.depth, cutoff=self.cutoff, level=level, top_grade=max(top, level, 1.0), left_out=left_out, notes=tuple(self.notes),
            members=tuple((system, tuple(runs)) for system, runs in self.subject.members.items()),
            parameters=parameters_of(self.metrics), marks=self.subject.marks, betters=tuple(metric.better for metric in self.metrics),
            cutoffs=tuple(getattr(metric, "cutoff", None) for metric in self.metrics),
        )  # fmt: skip

    def _queries(self) -> Iterator[Query]:
        documents = self._documents(self.pool, self._texts())
        others = self._documents(self.others, {})
        beyond = below(self.source, self.pool.beside(self.others))
        sizes = self.source.sizes.T.tolist()
        unjudged = self.source.unjudged(self.cutoff or self.depth).T.tolist()
        values = self.values.transpose(2, 0, 1).tolist()
        for number, query in enumerate(self.queries):
            if not self.kept[number]:
                continue
            shown = documents[number]
            yield Query(
                query_id=query, text=excerpt(self.queries_text.get(query, "")), values=tuple(map(tuple, values[number])), documents=shown,
                sizes=tuple(sizes[number]), judged=tuple(self.source.grade_counts[number]),
                beyond=tuple(tuple(lists[number]) for lists in beyond), unjudged=tuple(unjudged[number]), others=others[number],
                rest=tuple(_rest(of_run[0], run, shown) for run, of_run in enumerate(values[number])),
            )  # fmt: skip

    def _documents(self, pool: DocumentPool, texts: Mapping[str, str]) -> list[tuple[Document, ...]]:
        """The documents of each query."""
        grades = [None if math.isnan(grade) else grade for grade in pool.grade.tolist()]
        columns = pool.doc_ids, grades, map(tuple, pool.ranks.T.tolist()), map(tuple, pool.adds.T.tolist())
        out: list[list[Document]] = [[] for _ in self.queries]
        for query, doc, grade, ranks, adds in zip(pool.query.tolist(), *columns, strict=True):
            out[query].append(Document(doc, grade, ranks, adds, texts.get(doc, "")))
        return list(map(tuple, out))

    def _texts(self) -> dict[str, str]:
        """Return the texts that fit: queries that differ most first."""
        if not self.docs_text:
            return {}
        out: dict[str, str] = {}
        missing: set[str] = set()
        left = self.left
        for at in np.argsort(self.place[self.pool.query], kind="stable").tolist():
            doc = self.pool.doc_ids[at]
            if doc in out or doc in missing or not (whole := self.docs_text.get(doc)):
                continue
            text = excerpt(whole) if left >= 0 else ""
            left -= _bytes(text) + ID + text.count('"') + text.count("\\") + 5 * text.count("<")
            if left < 0:  # from here on there is no room: texts that nobody sees are not looked at
                missing.add(doc)
            else:
                out[doc] = text
        if missing:
            of = words.counted(len(missing), "document is", "documents are")
            self.notes.append(f"the texts of {of} left out, so that the page stays small")
        return out


def _rest(value: float, run: int, documents: Sequence[Document]) -> float:
    """Return the part of a value that no shown document adds."""
    if math.isnan(value):
        return 0.0
    rest = value - math.fsum(document.adds[run] for document in documents)
    return 0.0 if abs(rest) < 1e-15 else rest


def excerpt(text: str, room: int = TEXT) -> str:
    r"""A text on one line, cut to its width.

    >>> excerpt("  one\n two\x00 three ", 8)
    'one two…'
    """
    visible = _SPACE.sub(" ", text[: 2 * room]).strip()
    if len(visible) <= room and len(text) > 2 * room:  # much of it was space
        visible = _SPACE.sub(" ", text).strip()
    return visible if len(visible) <= room else f"{visible[: room - 1].rstrip()}…"


def parameters_of(metrics: Sequence[Metric]) -> tuple[tuple[str, float], ...]:
    """Return the parameters of the metrics for what-if questions; of several metrics of one class the first.

    >>> from rankscope.metrics import ERR, RBP
    >>> parameters_of([RBP(p=0.5), ERR(max_grade=3) @ 10, RBP(p=0.9)])
    (('p', 0.5), ('max_grade', 3.0))
    """
    parameters: dict[str, float] = {}
    for metric in metrics:
        for name in WHATIF.get(type(metric).__name__, ()):
            parameters.setdefault(name, float(getattr(metric, name)))
    return tuple(parameters.items())


# --- how much room there is on a page
def interest(values: Array, sign: int) -> Array:
    """Return the order of queries: first those with a score of 0 in only one run, then by the size of the difference.

    ``values`` is runs x queries. With one run the worst values come first. Equal ones stay as they were given.

    >>> interest(np.array([[0.5, 0.0, 0.2], [0.9, 0.1, 0.2]]), 1).tolist()
    [1, 0, 2]
    """
    if len(values) == 1:
        return np.argsort(np.where(np.isnan(values[0]), np.inf, (sign or 1) * values[0]), kind="stable")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a query without any value
        spread = np.nan_to_num(np.nanmax(values, axis=0) - np.nanmin(values, axis=0))
    flips = (values == 0).any(axis=0) & (values > 0).any(axis=0)
    return np.lexsort((-spread, ~flips))


def room_of_documents(pool: DocumentPool, with_text: bool) -> Array:
    """Return the size of each document without its text."""
    ids = np.array([_bytes(doc) for doc in pool.doc_ids], dtype=np.int64)
    digits = np.floor(np.log10(np.maximum(pool.ranks, 1))).astype(np.int64) + NUMBER
    adds = VALUE * (pool.adds != 0)
    return np.asarray(ids + ID + NUMBER + digits.sum(axis=0) + adds.sum(axis=0) + 5 * with_text)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


class QueriesPart(PagePart):
    """Every query to look into: rankings side by side, document by document."""

    name, title, needs_rankings = "queries", "Query by query", True
    label = "Queries"
    warned = frozenset({"RS101", "RS103", "RS106"})
    several, folded = False, False

    def blocks(self) -> Iterator[Explorer]:
        explorer = explorer_of(self.subject, depth=self.subject.depth)
        if explorer is not None:
            self.several = len(explorer.runs) > 1
            yield explorer

    def lead(self) -> str:
        what = "which documents make the difference" if self.several else "its ranking next to the ideal one"
        return f"Pick a query to see {what}."
