"""``judge`` for many runs over the same judgments, all in dicts. The layout of the judgments is computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from operator import itemgetter

import numpy as np

from rankscope import words
from rankscope.engines import mappings
from rankscope.engines.base import Order
from rankscope.engines.mappings import NAN
from rankscope.lists import Array, Ideal, Judged, LazyJudged, Lists
from rankscope.lists.judged import rectangle

NOT_SHOWN = np.iinfo(np.int64).max  # the rank of what was not retrieved, while cells are put in order
NOTHING: Mapping[str, float] = {}


@dataclass(frozen=True, eq=False)
class _Layout:
    """The rectangle of the judged documents of some queries: their positions in the flat arrays, and their gains."""

    queries: Array
    cells: Array
    inside: Array
    full: bool
    grade: Array
    ideal: Ideal


class PreparedQrels:
    """Judgments as dicts ``{query: {document: grade}}``, looked through once."""

    def __init__(self, qrels: Mapping[str, Mapping[str, float]]) -> None:
        """Raises InputError for an invalid judgment."""
        self.qrels = {q: mappings.as_text(grades, f"qrels: query {q}") for q, grades in qrels.items()}
        judged, _ = mappings.judge({}, self.qrels, Order())  # refuses other values
        self.names, self.size = list(self.qrels), judged.size
        self.documents = [tuple(grades) for grades in self.qrels.values()]
        self.pick = [itemgetter(*ids) if len(ids) > 1 else _picker(ids) for ids in self.documents]
        self.start = np.cumsum(self.size) - self.size
        flat = (float(grade) for grades in self.qrels.values() for grade in grades.values())
        self.grade = np.fromiter(flat, dtype=float, count=int(self.size.sum()))
        self.layouts = [self._lay_out(judged, queries) for queries in judged.chunks(200_000)]
        self.queries = np.repeat(np.arange(len(self.names)), self.size)

    def _lay_out(self, judged: Judged, queries: Array) -> _Layout:
        cells, inside = rectangle(self.start[queries], self.size[queries])
        grade = self.grade[cells] if len(self.grade) else np.zeros(cells.shape)
        return _Layout(queries, cells, inside, bool(inside.all()), grade, judged.lists(queries).ideal)

    def judge(self, run: Mapping[str, Mapping[str, float]], order: Order, label: str = "run") -> PreparedRun:
        """Find each query's judged documents in ``{query: {document: score}}``: the same answer as of ``mappings.judge``."""
        rankings = [run.get(query, NOTHING) for query in self.names]
        length = np.fromiter(map(len, rankings), dtype=np.int64, count=len(rankings))
        try:
            scores = mappings.numbers_of(list(chain.from_iterable(r.values() for r in rankings)))
            document_scores: list[float] = []
            for number, (ranking, pick) in enumerate(zip(rankings, self.pick, strict=True)):
                try:
                    document_scores += pick(ranking)
                except (
                    KeyError
                ):  # there are documents that it does not rank; runs that follow are likely to leave out some, too
                    self.pick[number] = _picker(self.documents[number])
                    document_scores += self.pick[number](ranking)
            score = mappings.numbers_of(document_scores)
        except mappings.NO_NUMBER:
            scores, score = np.array([NAN]), np.empty(0)
        if np.isnan(scores).any():
            mappings.judge(
                run, self.qrels, order, label
            )  # names the fault and its place. Texts that are numbers are refused
            whole = {query: {doc: words.as_number(score) for doc, score in docs.items()} for query, docs in run.items()}
            return self.judge(whole, order, label)  # type: ignore[arg-type]
        absent = np.isnan(score)
        if absent.any():
            for number in np.unique(self.queries[absent]).tolist():
                texts = mappings.as_text(rankings[number], f"{label}: query {self.names[number]}")
                if texts is not rankings[number]:  # ids that were numbers
                    rankings[number] = texts
                    here = slice(self.start[number], self.start[number] + self.size[number])
                    score[here] = [texts.get(document, NAN) for document in self.documents[number]]
            absent = np.isnan(score)
        alike = bool(len(length)) and bool((length == length[0]).all())
        if alike:
            scores.reshape(len(length), -1).sort(axis=1)
        places = mappings.places_of(scores, length, score, self.documents, rankings, order.ties, alike)
        return PreparedRun(
            qrels=self, scores=score, length=length, places=places, order=order, query_id=self.names, size=self.size,
            retrieved=length if order.depth is None else np.minimum(length, order.depth),
        )  # fmt: skip


def _picker(documents: Sequence[str]) -> Callable[[Mapping[str, float]], Iterable[float]]:
    return lambda ranking: map(ranking.get, documents, repeat(NAN))


class PreparedRun(LazyJudged):
    """A run judged by prepared judgments. Its documents are computed only if they are asked for."""

    qrels: PreparedQrels
    scores: Array
    length: Array
    places: mappings.Places
    order: Order

    @cached_property
    def flat(self) -> Judged:
        """The same document by document."""
        qrels = self.qrels
        return mappings.lay_out(qrels.names, qrels.size, qrels.grade, self.scores, self.length, self.places, self.order)

    @cached_property
    def _shown_rank(self) -> Array:
        rank, depth = self.places.rank, self.order.depth
        hidden = np.isnan(self.scores) if depth is None else np.isnan(self.scores) | (rank > depth)
        return np.where(hidden, NOT_SHOWN, rank)

    def chunks(self, cells: int = 0) -> list[Array]:
        """The numbers of queries with one layout."""
        return [layout.queries for layout in self.qrels.layouts]

    def lists(self, queries: Array) -> Lists:
        """The rectangle of the queries with these numbers."""
        for layout in self.qrels.layouts:
            if layout.queries is queries:
                return self._rectangle(layout)
        return self.flat.lists(queries)

    def _rectangle(self, layout: _Layout) -> Lists:
        places, ranks = self.places, self._shown_rank
        retrieved = self.retrieved[layout.queries].astype(float)
        if not len(ranks):
            return self.flat.lists(layout.queries)
        key = ranks[layout.cells]
        if not layout.full:
            key = np.where(layout.inside, key, NOT_SHOWN)
        by = np.argsort(key, axis=1) + np.arange(0, key.size, key.shape[1])[:, None]  # cells of the rectangle laid flat
        rank = key.take(by)
        shown = rank < NOT_SHOWN
        width = max(int(shown.sum(axis=1).max(initial=0)), 1)
        by, shown = by[:, :width], shown[:, :width]
        rank = np.where(shown, rank[:, :width], 1)
        start, size = rank, np.broadcast_to(1, rank.shape)
        if places.tied:
            at = layout.cells.take(by)
            start, size = np.where(shown, places.tie_start[at], 1), np.where(shown, places.tie_size[at], 1)
        grade = np.where(shown, layout.grade.take(by), 0.0)
        return Lists(grade, rank, shown, retrieved, start, size, layout.ideal)
