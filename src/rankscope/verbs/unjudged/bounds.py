"""How low and how high values can be, whatever grades the unjudged documents of a ranking would get.

For a given number of documents of each grade, and where a better document moved above a worse one never hurts (the metric is
``monotone``), a ranking is at its best with the good ones on top, and at its worst with them at the end. So few arrangements have to
be tried, and the extremes are exact. For a difference of two runs this holds where each document earns on its own; for other metrics
all ways of grading are tried where they are few, else the extremes are the widest that were found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from math import comb

import numpy as np

from rankscope.lists import Array, Judged
from rankscope.metrics import Metric
from rankscope.verbs.unjudged.cells import CODE, Cells

BUDGET = 6_000_000  # judged documents in all variants together
MOST = 4096  # variants of a query
ROOM = 4_000_000  # cells of grades at a time
DEEP = 200  # the longest ranking that is made up
PLAIN = frozenset({"trec", "docid", "input", "rank"})


@dataclass(frozen=True, eq=False)
class Extremes:
    """The grades (queries x places, NaN: not touched) under which a value is lowest and highest.

    ``complete`` says that no other grades give less or more, query by query.
    """

    lower: Array
    upper: Array
    complete: bool


@dataclass(frozen=True, eq=False)
class Search:
    """What is graded, and how: each of ``documents`` (queries x places) gets one of the ``levels``.

    ``parts`` says of which runs the value is made, and what each query counts there. ``ordered`` says that the extremes are among
    the arrangements in the order of the ``key`` (least first) and its reverse.
    """

    documents: Array
    key: Array
    levels: Sequence[float]
    parts: Mapping[int, Array]
    ordered: bool


def extremes(cells: Cells, search: Search) -> Extremes:
    """Find the grades under which the value of each query is lowest and highest."""
    lower = np.where(search.documents, search.levels[0], np.nan)
    upper = np.where(search.documents, search.levels[-1], np.nan)
    counts = search.documents.sum(axis=1)
    some = np.flatnonzero(counts)
    if not len(some):
        return Extremes(lower, upper, True)
    weight = sum(float(cells.judged[run].size[cells.rows[run][some]].sum()) for run in search.parts)
    limit = int(min(max(BUDGET / max(weight, 1.0), 4), MOST))
    complete = True
    for count in np.unique(counts[some]).tolist():
        fills, whole = ways(count, search.levels, limit, search.ordered)
        complete &= whole
        for part in _portions(np.flatnonzero(counts == count), len(fills), search.documents.shape[1]):
            complete &= _try_fills(cells, search, part, fills, lower, upper)
    return Extremes(lower, upper, complete)


def _portions(queries: Array, variants: int, width: int) -> Iterator[Array]:
    """Queries in portions of which all variants fit the memory."""
    many = max(1, ROOM // max(variants * width, 1))
    for first in range(0, len(queries), many):
        yield queries[first : first + many]


def _try_fills(cells: Cells, search: Search, part: Array, fills: Array, lower: Array, upper: Array) -> bool:
    """Try all fills of some queries and keep the extremes; False where a value is undefined under some."""
    variants, count = fills.shape
    width = search.documents.shape[1]
    key = np.where(search.documents[part], search.key[part], np.inf)
    order = np.argsort(key, axis=1, kind="stable")[:, :count]
    grades = np.full((len(part), variants, width), np.nan)
    grades[np.arange(len(part))[:, None, None], np.arange(variants)[None, :, None], order[:, None, :]] = fills[None]
    queries = np.repeat(part, variants)
    value = np.zeros(len(queries))
    for run, share in search.parts.items():
        counts = share[queries]
        value += np.where(counts, counts * cells.values(run, queries, grades.reshape(-1, width)), 0.0)
    values = value.reshape(len(part), variants)
    unknown = np.isnan(values)
    rows = np.arange(len(part))
    lower[part] = grades[rows, np.where(unknown, np.inf, values).argmin(axis=1)]
    upper[part] = grades[rows, np.where(unknown, -np.inf, values).argmax(axis=1)]
    return not unknown.any()


def ways(count: int, levels: Sequence[float], limit: int, ordered: bool) -> tuple[Array, bool]:
    """Grades for ``count`` documents, a row a way, and whether no other way can be more extreme.

    All ways where there are no more than ``limit``; else those that rise or fall along the documents; else those of the lowest and
    the highest grade alone; else some of these. ``ordered`` says that rising and falling ones are enough.

    >>> ways(2, (0.0, 1.0), 100, ordered=True)[0].tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]
    """
    if not ordered and len(levels) ** count <= limit:
        return np.array(list(product(levels, repeat=count))), True
    if 2 * comb(count + len(levels) - 1, count) <= limit:
        rising = np.array(list(combinations_with_replacement(levels, count)))
        return np.vstack([rising, rising[:, ::-1]]), ordered
    many = min(count + 1, max(limit // 2, 2))
    low = np.unique(np.linspace(0, count, many).round().astype(np.int64))
    rising = np.where(np.arange(count) < low[:, None], levels[0], levels[-1])
    whole = ordered and len(levels) == 2 and many == count + 1
    return np.vstack([rising, rising[:, ::-1]]), whole


# --- traits of a metric --------------------------------------------------------------------------------


def exchanges(metric: Metric, ties: str) -> bool:
    """Whether, for a given number of documents of each grade, a ranking is at its best with the good ones on top."""
    return metric.monotone and metric.better != "neither" and ties in PLAIN


def alone(metric: Metric, top: float, ties: str = "trec") -> bool:
    """Whether every unjudged document earns on its own: the grades of the others make no difference to it.

    This is tried on small rankings with some judged documents, in which every set of the others is graded. A metric that divides
    by what the query is worth fails, as one more relevant document makes the query worth more.

    >>> from rankscope.metrics import DCG, P, nDCG
    >>> alone(P @ 5, 1.0), alone(DCG @ 5, 2.0), alone(nDCG @ 5, 2.0)
    (True, True, False)
    """
    if ties not in PLAIN or not metric.monotone or getattr(metric, "judged_only", False):
        return False
    cutoff = min(getattr(metric, "cutoff", None) or 5, DEEP)
    return all(_additive(metric, _probe(top, deep), top) for deep in (None, max(cutoff, 5)))


def _additive(metric: Metric, judged: Judged, top: float) -> bool:
    """Whether every set of the four documents is worth what its documents are worth alone."""
    sets = np.array(list(product([np.nan, 0.0, top], repeat=4)))
    queries = np.repeat(np.arange(len(judged)), len(sets))
    cells = Cells(metric, [judged], [np.arange(len(judged))])
    value = cells.values(0, queries, np.tile(sets, (len(judged), 1))).reshape(len(judged), len(sets))
    if np.isnan(value).any():
        return False
    perfect = sets == top
    lone = [
        int(np.flatnonzero((perfect == row).all(axis=1) & np.isnan(sets[:, ~row]).all(axis=1))[0])
        for row in np.eye(4, dtype=bool)
    ]
    step = value[:, lone] - value[:, :1]
    expected = value[:, :1] + (step[:, None, :] * perfect[None]).sum(axis=2)
    return bool(np.allclose(value, expected, rtol=0, atol=1e-9))


def _probe(top: float, deep: int | None) -> Judged:
    """Rankings with four documents to grade, one among them judged or not, and judged ones that were not retrieved.

    Five documents, or with ``deep`` more, all judged: those just below this rank are relevant, to show whether they move up.
    """
    below: list[tuple[float, int]] = []
    if deep is not None:
        below = [(0.0, r) for r in range(6, deep + 1)] + [(min(1.0, top), deep + 1), (top, deep + 2)]
    grade, rank, size, found = [], [], [], []
    for middle in (None, 0.0, min(1.0, top), top):
        for missed in ((), (min(1.0, top),), (0.0, top), (top,) * 8):
            cells = [(CODE + i, r) for i, r in enumerate((1, 2, 4, 5))]
            cells += [] if middle is None else [(middle, 3)]
            cells = sorted(cells, key=lambda cell: cell[1]) + below + [(g, 0) for g in missed]
            grade += [g for g, _ in cells]
            rank += [r for _, r in cells]
            size.append(len(cells))
            found.append(len(cells) - len(missed))
    ranks = np.array(rank, dtype=np.int64)
    return Judged(
        query_id=[f"q{i}" for i in range(len(size))],
        retrieved=np.full(len(size), 5 if deep is None else deep + 2),
        size=np.array(size),
        found=np.array(found),
        grade=np.array(grade),
        rank=ranks,
        tie_start=ranks,
        tie_size=np.ones_like(ranks),
        score=np.where(ranks > 0, -ranks.astype(float), np.nan),
    )
