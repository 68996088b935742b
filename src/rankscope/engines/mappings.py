"""``judge`` for dicts: look up the judged documents, count the scores above. No table is made."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from struct import error as StructError  # noqa: N812 - an exception like others
from struct import pack
from typing import Any

import numpy as np

from rankscope import words
from rankscope.engines.base import DataFacts, Order
from rankscope.errors import HUGE, InputError
from rankscope.lists import Array, Judged, judged_order

Ranking = Mapping[str, float]
NO_NUMBER = (TypeError, ValueError, OverflowError, StructError)  # what is raised where a value is no number


def judge(
    run: Mapping[str, Ranking], qrels: Mapping[str, Ranking], order: Order, label: str = "run"
) -> tuple[Judged, DataFacts]:
    """Find each query's judged documents in ``{query: {document: score}}``; the same answer as from tables."""
    if order.ties == "rank":
        raise InputError(
            f"{label}: a dict has no rank column, which ties='rank' needs; use ties='input' for the order given"
        )
    extra = tuple(query for query in run if query not in qrels)
    names = [*qrels, *extra] if order.extra else list(qrels)
    found = _Judgments(order)
    counts = _Counts(order.cutoffs)
    for number, query in enumerate(names):
        scores, grades = run.get(query, {}), qrels.get(query, {})
        scores = as_text(scores, f"{label}: query {query}")
        grades = as_text(grades, f"qrels: query {query}")
        ordered = _numbers(scores, f"{label}: query {query}", "score")
        rising = _numbers(grades, f"qrels: query {query}", "grade")
        if len(rising) and not -HUGE <= rising[0] <= rising[-1] <= HUGE:
            kind = "an infinite grade" if np.isinf(rising[[0, -1]]).any() else f"a grade beyond {HUGE:g}"
            raise InputError(f"qrels: query {query} has {kind}; grades are finite numbers")
        found.add(number, scores, ordered, grades)
        counts.add(ordered, query in qrels)
    for query in extra if not order.extra else ():
        counts.add(_numbers(run[query], f"{label}: query {query}", "score"), False)
    seen = DataFacts(
        rows=counts.rows,
        queries=len(run),
        missing=tuple(query for query in qrels if query not in run),
        extra=extra,
        tied_rows=counts.tied,
        tied_at=dict(counts.at),
        tied_in_top=dict(counts.top),
    )
    return found.judged(names), seen


class _Judgments:
    """Judged documents, collected query by query and laid out at the end."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.retrieved: list[int] = []
        self.size: list[int] = []
        self.grade: list[float] = []
        self.score: list[Array] = []
        self.first: list[Array] = []
        self.last: list[Array] = []
        self.ahead: list[tuple[int, int]] = []

    def add(self, number: int, scores: Ranking, ordered: Array, grades: Ranking) -> None:
        """Add one query: where each judged document's score stands among all scores."""
        if grades:
            nan = float("nan")
            score = np.array([scores.get(doc, nan) for doc in grades], dtype=float)
            first, last = ordered.searchsorted(score, "left"), ordered.searchsorted(score, "right")
            tied = np.flatnonzero(last - first > 1)
            if len(tied):
                docs = list(grades)
                ahead = places_among_equals([docs[i] for i in tied.tolist()], scores, self.order.ties)
                self.ahead += zip((len(self.grade) + tied).tolist(), ahead, strict=True)
            # counted from the top
            self.first.append(len(ordered) - last)
            self.last.append(len(ordered) - first)
            self.grade.extend(grades.values())
            self.score.append(score)
        self.size.append(len(grades))
        self.retrieved.append(len(ordered))

    def judged(self, names: list[str]) -> Judged:
        """All of it, the retrieved documents of each query first and by rank."""
        score = np.concatenate(self.score) if self.score else np.empty(0)
        grade = np.array(self.grade, dtype=float)
        above = np.concatenate(self.first) if self.first else np.empty(0, dtype=np.int64)
        tie_size = (np.concatenate(self.last) if self.last else above) - above
        rank = above + 1
        for row, ahead in self.ahead:
            rank[row] += ahead
        retrieved = np.array(self.retrieved, dtype=np.int64)
        found = ~np.isnan(score)
        if self.order.depth is not None:
            found &= rank <= self.order.depth
            retrieved = np.minimum(retrieved, self.order.depth)
        query = np.repeat(np.arange(len(names)), self.size)
        by = judged_order(query, np.where(found, rank, 0), grade)
        found = found[by]
        return Judged(
            query_id=names,
            retrieved=retrieved,
            size=np.array(self.size, dtype=np.int64),
            in_run=np.bincount(query, weights=found, minlength=len(names)).astype(np.int64),
            grade=grade[by],
            rank=np.where(found, rank[by], 0),
            tie_start=np.where(found, above[by] + 1, 0),
            tie_size=np.where(found, tie_size[by], 1),
            score=np.where(found, score[by], np.nan) if "score" in self.order.needs else None,
        )


class _Counts:
    """Rows and ties met on the way."""

    def __init__(self, cutoffs: tuple[int, ...]) -> None:
        self.rows = self.tied = 0
        self.at = dict.fromkeys(cutoffs, 0)
        self.top = dict.fromkeys(cutoffs, 0)

    def add(self, ordered: Array, judged: bool) -> None:
        """Count one query, its scores in rising order; only judged queries count at the cutoffs."""
        n = len(ordered)
        self.rows += n
        same = ordered[1:] == ordered[:-1]
        if same.any():
            tied = np.append(same, False) | np.append(False, same)
            self.tied += int(np.count_nonzero(tied))
            for k in self.at if judged else ():
                self.at[k] += bool(n > k and same[n - k - 1])
                self.top[k] += int(np.count_nonzero(tied[-k:]))


def numbers_of(values: Collection[Any]) -> Array:
    """Numbers as an array, in a third of the time that numpy takes. Raises one of ``NO_NUMBER`` if one is none, or a text."""
    if len(values) > 100_000:
        if str in set(map(type, values)):
            raise TypeError("a text")
        return np.fromiter(values, dtype=float, count=len(values))
    return np.frombuffer(bytearray(pack(f"{len(values)}d", *values)))


def _numbers(values: Ranking, where: str, what: str) -> Array:
    """The values in rising order; an error names the first that is no number."""
    try:
        out = numbers_of(values.values())
    except NO_NUMBER:
        found = [math.nan if value is None else words.as_number(value) for value in values.values()]
        if None in found:
            doc, bad = list(values.items())[found.index(None)]
            named = what == "grade" and isinstance(bad, str) and bad.isalpha()
            hint = f"; name grades with --grades '{bad}=3,...'" if named else ""
            raise InputError(f"{where}, document {doc}: {what} {bad!r} is not a number{hint}") from None
        out = np.array(found, dtype=float)
    out.sort()
    if len(out) and np.isnan(out[-1]):  # NaN sorts last
        doc, bad = next((d, v) for d, v in values.items() if v is None or math.isnan(float(v)))
        raise InputError(
            f"{where}, document {doc}: {what} is {'None' if bad is None else 'NaN'}; give it a number or leave the document out"
        )
    return out


def as_text(ids: Mapping[Any, float], where: str) -> Ranking:
    """The same mapping with string ids; whole numbers become strings."""
    try:
        "".join(ids)
    except TypeError:
        out = {id_text(key, where): value for key, value in ids.items()}
        if len(out) < len(ids):
            twice = "an id is given both as a number and as a string; make the ids strings"
            raise InputError(f"{where}: {twice}") from None
        return out
    return ids


def id_text(key: Any, where: str) -> str:
    """An id as a string."""
    if isinstance(key, str):
        return key
    if hasattr(key, "__index__") and not isinstance(key, bool):
        return str(int(key))
    raise InputError(f"{where}: the id {key!r} is a {type(key).__name__}; ids are strings or whole numbers")


def places_among_equals(docs: Sequence[str], scores: Ranking, ties: str) -> list[int]:
    """The number of documents with the same score before each of these."""
    wanted = {scores[doc] for doc in docs}
    equals: dict[float, list[str]] = {score: [] for score in wanted}
    for doc, score in scores.items():
        if score in wanted:
            equals[score].append(doc)
    if ties != "input":
        # strings compare by code point, which is the order of their UTF-8 bytes
        for group in equals.values():
            group.sort(reverse=ties == "trec")
    place = {doc: i for group in equals.values() for i, doc in enumerate(group)}
    return [place[doc] for doc in docs]
