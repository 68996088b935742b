"""One ranking's value taken apart, rank by rank, and the difference of two, document by document."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankscope import words
from rankscope.lists import Array, Judged
from rankscope.metrics import Metric
from rankscope.metrics.base import Terms
from rankscope.scoring.ceilings import candidates, why_not
from rankscope.scoring.ranking import Ranking
from rankscope.scoring.scores import Scores
from rankscope.verbs.explain.result import Difference, DocumentChange, Explanation, Position, Rest

FEW = 10  # positions shown of a metric without a cutoff, where no later one earns anything


# --- one ranking ------------------------------------------------------------------------------------------


def explain_ranking(run: str, metric: Metric, judged: Judged, ranking: Ranking, scores: Scores) -> Explanation:
    """Take apart the value of one query. ``judged`` holds this query alone, in the order of ``ranking``; ``scores`` are what they were taken from.

    The law: the adds of all rows sum to the value within 1e-12, for every metric.
    """
    lists = judged.lists(np.arange(1))
    terms = metric.taken_apart(lists)
    value = float(terms.value[0])
    shares = terms.shares[0]
    cells = {int(lists.rank[0, j]): j for j in np.flatnonzero(lists.shown[0]).tolist()}
    counts = terms.lists.shown[0]
    adds = {rank: float(shares[j]) if counts[j] else 0.0 for rank, j in cells.items()}
    ideal = _ideal(metric, judged)
    last = _last(metric, adds, len(ranking.doc_ids))
    return Explanation(
        run=run,
        metric=metric,
        ranking=ranking,
        judged=judged,
        value=value,
        earned=math.fsum(terms.earned[0].tolist()),
        worth=float(terms.worth[0]),
        positions=list(_positions(ranking, cells, adds, terms, ideal, last)),
        rest=list(_rest(terms, value, adds, last)),
        best=math.nan if ideal is None else ideal.value,
        by_doc={ranking.doc_ids[rank - 1]: add for rank, add in adds.items()},
        scores=scores,
    )


@dataclass(frozen=True)
class _Ideal:
    value: float
    grades: Sequence[float]
    adds: Sequence[float]


def _positions(
    ranking: Ranking, cells: Mapping[int, int], adds: Mapping[int, float], terms: Terms, ideal: _Ideal | None, last: int
) -> Iterator[Position]:
    so_far = 0.0
    for rank, doc in enumerate(ranking.doc_ids[:last], start=1):
        cell = cells.get(rank)
        inside = cell is not None and bool(terms.lists.shown[0, cell])
        factors = {name: _at(factor, cell) for name, factor in terms.factors.items()} if inside else {}
        so_far += adds.get(rank, 0.0)
        best: tuple[float | None, float | None] = (None, None if ideal is None else 0.0)
        if ideal is not None and rank <= len(ideal.adds):
            best = ideal.grades[rank - 1], ideal.adds[rank - 1]
        yield Position(rank, doc, ranking.grades.get(doc), factors, adds.get(rank, 0.0), so_far, *best)
    if ideal is not None and last == len(ranking.doc_ids):
        # ranks beyond the end of the ranking at which an ideal one earns something
        earning = max((rank for rank, add in enumerate(ideal.adds, start=1) if add), default=0)
        for rank in range(last + 1, earning + 1):
            yield Position(rank, None, None, {}, 0.0, so_far, ideal.grades[rank - 1], ideal.adds[rank - 1])


def _at(factor: Array, cell: int | None) -> float:
    assert cell is not None
    values = np.asarray(factor, dtype=float)
    if values.ndim < 2:  # one number for the query, or for all
        return float(values.ravel()[0])
    return float(np.broadcast_to(values, (1, max(values.shape[1], cell + 1)))[0, cell])


def _last(metric: Metric, adds: Mapping[int, float], retrieved: int) -> int:
    """The last rank that is shown: the cutoff, else the last that earns anything."""
    cutoff = getattr(metric, "cutoff", None)
    if cutoff is None or getattr(metric, "judged_only", False):
        cutoff = max([FEW, cutoff or 0, *(rank for rank, add in adds.items() if add)])
    return min(int(cutoff), retrieved)


def _rest(terms: Terms, value: float, adds: Mapping[int, float], last: int) -> Iterator[Rest]:
    """What the positions shown do not earn: lower ranks, unjudged documents together, a constant, a transformation of the sum."""
    below = math.fsum(add for rank, add in adds.items() if rank > last)
    if below:
        yield Rest("documents below these ranks", below)
    if math.isnan(value):
        return
    parts = [
        Rest("unjudged documents, together", float(terms.unjudged_share[0])),
        Rest("a part that does not depend on positions", float(np.broadcast_to(terms.base, 1)[0])),
    ]
    parts = [part for part in parts if part.adds]
    yield from parts
    if terms.link is not None:
        whole = math.fsum([*adds.values()])
        whole = math.fsum([whole, *(part.adds for part in parts)])
        yield Rest("the transformation of the sum", value - whole)


def _ideal(metric: Metric, judged: Judged) -> _Ideal | None:
    """What the best ranking earns, rank by rank; None where no order is known to be best."""
    if why_not(metric):
        return None
    lists = replace(judged, aspects=None).lists(np.arange(1))
    sign = -1.0 if metric.better == "lower" else 1.0
    rankings = [make(lists) for make in candidates(metric)]
    best = max(rankings, key=lambda ranking: sign * float(np.nan_to_num(metric.score(ranking)[0], nan=-np.inf)))
    terms = metric.taken_apart(best)
    ranks = np.flatnonzero(terms.lists.shown[0])
    return _Ideal(float(terms.value[0]), best.grade[0][ranks].tolist(), terms.shares[0][ranks].tolist())


# --- two rankings -----------------------------------------------------------------------------------------


def explain_difference(before: Explanation, after: Explanation) -> Difference:
    """Compare two explanations of one query under one metric, by documents' shares.

    A document adds its share in the second ranking (what it earns, over what the query is worth there) less its share in the
    first. Where the query is worth another amount in the second (as where a value is divided by what was returned), a row says so.
    """
    docs = dict.fromkeys([*before.ranking.doc_ids, *after.ranking.doc_ids])
    documents = [change for doc in docs if (change := _change(doc, before, after)) is not None]
    names = dict.fromkeys(part.what for part in (*before.rest, *after.rest) if part.what not in BY_DOCUMENT)
    rest = [Rest(name, adds) for name in names if (adds := _adds(after, name) - _adds(before, name))]
    if not math.isclose(before.worth, after.worth, rel_tol=1e-12):
        rest.append(Rest(f"divided by {words.amount(after.worth)} now, by {words.amount(before.worth)} before", 0.0))
    return Difference(before, after, documents, rest, scores=after.scores)


BY_DOCUMENT = frozenset({"documents below these ranks"})  # each of them is a row of a difference


def _change(doc: str, before: Explanation, after: Explanation) -> DocumentChange | None:
    """What a document adds to a difference; None where neither value looks at it."""
    was, now = before.by_doc.get(doc, 0.0), after.by_doc.get(doc, 0.0)
    old, new = before.ranking.rank_of(doc), after.ranking.rank_of(doc)
    if not was and not now and not before.looks_at(old) and not after.looks_at(new):
        return None
    factors = next((p.factors for p in after.positions if p.doc_id == doc), {})
    return DocumentChange(doc, before.ranking.grades.get(doc), old, new, factors, was, now)


def _adds(explanation: Explanation, name: str) -> float:
    return math.fsum(part.adds for part in explanation.rest if part.what == name)
