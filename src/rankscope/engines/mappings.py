"""``judge`` for dicts: look up the judged documents, count the scores above. No table is made."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from struct import error as StructError  # noqa: N812 - an exception like others
from struct import pack
from typing import Any

import numpy as np

from rankscope import words
from rankscope.engines.base import DataFacts, Order
from rankscope.errors import HUGE, InputError
from rankscope.lists import Array, Judged, judged_order

Ranking = Mapping[str, float]
NAN = float("nan")
NO_NUMBER = (TypeError, ValueError, OverflowError, StructError)  # raised if a value is not a number


def judge(
    run: Mapping[str, Ranking], qrels: Mapping[str, Ranking], order: Order, label: str = "run"
) -> tuple[Judged, DataFacts]:
    """Find each query's judged documents in ``{query: {document: score}}``. The same answer as from tables."""
    if order.ties == "rank":
        raise InputError(
            f"{label}: a dict has no rank column, which ties='rank' needs; use ties='input' for the order given"
        )
    extra = tuple(query for query in run if query not in qrels)
    names = [*qrels, *extra] if order.extra else list(qrels)
    rankings, documents = list[Ranking](), list[list[str]]()
    ordered, document_scores, grade = list[Array](), list[float](), list[float]()
    for query in names:
        scores = as_text(run.get(query, {}), f"{label}: query {query}")
        grades = as_text(qrels.get(query, {}), f"qrels: query {query}")
        ordered.append(_numbers(scores, f"{label}: query {query}", "score"))
        rising = _numbers(grades, f"qrels: query {query}", "grade")
        if len(rising) and not -HUGE <= rising[0] <= rising[-1] <= HUGE:
            kind = "an infinite grade" if np.isinf(rising[[0, -1]]).any() else f"a grade beyond {HUGE:g}"
            raise InputError(f"qrels: query {query} has {kind}: grades must be finite numbers")
        rankings.append(scores)
        documents.append(list(grades))
        document_scores += map(scores.get, grades, repeat(NAN))
        grade += grades.values()
    score, length = np.array(document_scores, dtype=float), np.array(list(map(len, ordered)), dtype=np.int64)
    others = [_numbers(run[query], f"{label}: query {query}", "score") for query in extra if not order.extra]
    rising = np.concatenate([np.empty(0), *ordered, *others])
    places = places_of(rising, length, score, documents, rankings, order.ties)
    judged = lay_out(
        names,
        np.array(list(map(len, documents)), dtype=np.int64),
        np.array(grade, dtype=float),
        score,
        length,
        places,
        order,
    )
    missing = tuple(query for query in qrels if query not in run)
    ends = np.cumsum([*length, *map(len, others)], dtype=np.int64)
    return judged, DataFacts(
        len(rising), len(run), missing, extra, **_tie_facts(rising, ends, len(qrels), order.cutoffs)
    )


@dataclass(frozen=True, eq=False)
class Places:
    """The rank of each judged document in a run, and the first rank and the number of documents with its score."""

    rank: Array
    tie_start: Array
    tie_size: Array
    tied: bool


def places_of(
    scores: Array, length: Array, score: Array, documents: Sequence[Sequence[str]], rankings: Sequence[Ranking], ties: str, rising: bool = True
) -> Places:  # fmt: skip
    """Find the judged ``documents`` of each query among all scores, sorted here if not ``rising``. NaN is absent, ``length`` the scores of each query."""
    upto = np.empty(len(score), dtype=np.int64)  # number of scores <= it
    sizes = list(map(len, documents))
    at = to = 0
    for n, judged in zip(length.tolist(), sizes, strict=True):
        row = scores[at : at + n]
        if not rising:
            row.sort()
        upto[to : to + judged] = row.searchsorted(score[to : to + judged], "right")
        at, to = at + n, to + judged
    first = np.cumsum(length) - length
    rank = np.repeat(length, sizes) - upto + 1
    # true if the score before is the same. Documents that were not retrieved have NaN
    place = np.repeat(first, sizes) + upto - 2
    before = scores.take(place, mode="wrap") if len(scores) else np.full(len(score), NAN)
    tied = np.flatnonzero((before == score) & (upto > 1))
    start, size = rank, np.ones(len(rank), dtype=np.int64)
    if len(tied):
        rank = rank.copy()
        starts = np.cumsum(sizes) - sizes
        numbers, cuts = np.unique(np.searchsorted(starts, tied, "right") - 1, return_index=True)
        for number, here in zip(numbers.tolist(), np.split(tied, cuts[1:]), strict=True):
            row = scores[first[number] : first[number] + length[number]]
            size[here] = upto[here] - row.searchsorted(score[here], "left")
            docs = [documents[number][i] for i in (here - starts[number]).tolist()]
            rank[here] += places_among_equals(docs, rankings[number], ties)
    return Places(rank, start, size, bool(len(tied)))


def lay_out(
    names: Sequence[str], size: Array, grade: Array, score: Array, length: Array, places: Places, order: Order
) -> Judged:
    """Return the judged documents of each query end to end, the retrieved ones first and by rank."""
    is_retrieved, depth = ~np.isnan(score), order.depth
    if depth is not None:
        is_retrieved &= places.rank <= depth
    query = np.repeat(np.arange(len(names)), size)
    by = judged_order(query, np.where(is_retrieved, places.rank, 0), grade)
    is_retrieved = is_retrieved[by]
    return Judged(
        query_id=names,
        retrieved=length if depth is None else np.minimum(length, depth),
        size=size,
        in_run=np.bincount(query, weights=is_retrieved, minlength=len(names)).astype(np.int64),
        grade=grade[by],
        rank=np.where(is_retrieved, places.rank[by], 0),
        tie_start=np.where(is_retrieved, places.tie_start[by], 0),
        tie_size=np.where(is_retrieved, places.tie_size[by], 1),
        score=np.where(is_retrieved, score[by], np.nan) if "score" in order.needs else None,
    )


def _tie_facts(scores: Array, ends: Array, judged: int, cutoffs: Sequence[int]) -> dict[str, Any]:
    """Count ties among the rising scores of queries that end at ``ends``. Ties at the cutoffs count for the first ``judged`` queries."""
    same = scores[1:] == scores[:-1]
    same[ends[(ends > 0) & (ends < len(scores))] - 1] = False
    pairs = np.flatnonzero(same)  # of neighbours; the second has the better rank
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same)) if len(pairs) else pairs
    of_pair, of_row = (np.searchsorted(ends, at, side="right") for at in (pairs, tied))
    across = (ends[of_pair] - pairs - 1)[of_pair < judged]
    rank = (ends[of_row] - tied)[of_row < judged]
    return {
        "tied_rows": len(tied),
        "tied_at": {k: int(np.count_nonzero(across == k)) for k in cutoffs},
        "tied_in_top": {k: int(np.count_nonzero(rank <= k)) for k in cutoffs},
    }


def numbers_of(values: Collection[Any]) -> Array:
    """Convert numbers to an array, in a third of NumPy's time. Raises an error of ``NO_NUMBER`` for a text or a missing value."""
    if len(values) > 100_000:
        if str in set(map(type, values)):
            raise TypeError("a text")
        return np.fromiter(values, dtype=float, count=len(values))
    return np.frombuffer(bytearray(pack(f"{len(values)}d", *values)))


def _numbers(values: Ranking, where: str, what: str) -> Array:
    try:
        out = numbers_of(values.values())
    except NO_NUMBER:
        numbers = [math.nan if value is None else words.as_number(value) for value in values.values()]
        if None in numbers:
            doc, bad = list(values.items())[numbers.index(None)]
            named = what == "grade" and isinstance(bad, str) and bad.isalpha()
            hint = f"; name grades with --grades '{bad}=3,...'" if named else ""
            raise InputError(f"{where}, document {doc}: {what} {bad!r} is not a number{hint}") from None
        out = np.array(numbers, dtype=float)
    out.sort()
    if len(out) and np.isnan(out[-1]):  # NaN sorts last
        doc, bad = next((d, v) for d, v in values.items() if v is None or math.isnan(float(v)))
        raise InputError(
            f"{where}, document {doc}: {what} is {'None' if bad is None else 'NaN'}; give it a number or leave the document out"
        )
    return out


def as_text(ids: Mapping[Any, float], where: str) -> Ranking:
    """The same mapping with string ids. Whole numbers become strings."""
    try:
        "".join(ids)
    except TypeError:
        out = {id_text(key, where): value for key, value in ids.items()}
        if len(out) < len(ids):
            twice = "an id is given both as a number and as a string: make the ids strings"
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
    """The number of documents with the same score before each document.

    >>> places_among_equals(["a"], {"a": 2**53, "b": 2**53 + 1}, "trec")  # equal as the numbers that rank
    [1]
    """
    wanted = {float(scores[doc]) for doc in docs}
    equals: dict[float, list[str]] = {score: [] for score in wanted}
    for doc, score in zip(scores, map(float, scores.values()), strict=True):
        if score in wanted:
            equals[score].append(doc)
    if ties != "input":
        # strings compare by code point, which is the order of their UTF-8 bytes
        for group in equals.values():
            group.sort(reverse=ties == "trec")
    place = {doc: i for group in equals.values() for i, doc in enumerate(group)}
    return [place[doc] for doc in docs]
