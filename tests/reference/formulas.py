"""Metrics as their textbooks write them, for one query at a time: no code is shared with what they check.

A ranking is the grades of what was retrieved, in order, None for a document that nobody judged; ``judged`` are the grades of all judged documents.
A grade below 0 marks a document that was pooled and not judged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

Grades = Sequence[float | None]


def order(documents: Mapping[str, tuple[float, int | None]], ties: str) -> list[str]:
    """The documents of one query, each with its score and rank, as a policy for ties puts them."""
    if ties == "rank":
        return sorted(documents, key=lambda doc: documents[doc][1] or 0)
    if ties == "trec":  # ids descending: sort by them first, since sorting keeps the order of equals
        given = sorted(documents, reverse=True)
    else:
        given = sorted(documents) if ties == "docid" else list(documents)
    return sorted(given, key=lambda doc: -documents[doc][0])


def is_relevant(grade: float | None) -> bool:
    return grade is not None and grade >= 1


def dcg(grades: Grades, exponential: bool, cutoff: int | None) -> float:
    earned = 0.0
    for rank, grade in enumerate(grades[:cutoff], 1):
        if grade is not None and grade > 0:
            earned += (2**grade - 1 if exponential else grade) / math.log2(rank + 1)
    return earned


def ndcg(grades: Grades, judged: Sequence[float], exponential: bool = False, cutoff: int | None = None) -> float:
    best = dcg(sorted(judged, reverse=True), exponential, cutoff)
    return dcg(grades, exponential, cutoff) / best if best else 0.0


def average_precision(grades: Grades, judged: Sequence[float]) -> float:
    known = sum(map(is_relevant, judged))
    hits, earned = 0, 0.0
    for rank, grade in enumerate(grades, 1):
        if is_relevant(grade):
            hits += 1
            earned += hits / rank
    return earned / known if known else 0.0


def reciprocal_rank(grades: Grades) -> float:
    return next((1 / rank for rank, grade in enumerate(grades, 1) if is_relevant(grade)), 0.0)


def precision(grades: Grades, cutoff: int) -> float:
    return sum(map(is_relevant, grades[:cutoff])) / cutoff


def recall(grades: Grades, judged: Sequence[float], cutoff: int) -> float:
    known = sum(map(is_relevant, judged))
    return sum(map(is_relevant, grades[:cutoff])) / known if known else 0.0


def r_precision(grades: Grades, judged: Sequence[float]) -> float:
    known = sum(map(is_relevant, judged))
    return sum(map(is_relevant, grades[:known])) / known if known else 0.0


def success(grades: Grades, cutoff: int) -> float:
    return float(any(map(is_relevant, grades[:cutoff])))


def expected_reciprocal_rank(grades: Grades, max_grade: float = 4) -> float:
    value, still_reading = 0.0, 1.0
    for rank, grade in enumerate(grades, 1):
        satisfied = (2**grade - 1) / 2**max_grade if grade is not None and grade > 0 else 0.0
        value += still_reading * satisfied / rank
        still_reading *= 1 - satisfied
    return value


def rank_biased_precision(grades: Grades, p: float = 0.8) -> float:
    return (1 - p) * sum(p ** (rank - 1) for rank, grade in enumerate(grades, 1) if is_relevant(grade))


def bpref(grades: Grades, judged: Sequence[float]) -> float:
    relevant = sum(map(is_relevant, judged))
    other = sum(0 <= grade < 1 for grade in judged)
    above, earned = 0, 0.0
    for grade in grades:
        if is_relevant(grade):
            earned += 1 - min(above, relevant) / min(other, relevant) if above else 1
        elif grade is not None and grade >= 0:
            above += 1
    return earned / relevant if relevant else 0.0


def area_under_curve(scored: Sequence[tuple[float, float | None]]) -> float | None:
    """The share of pairs of a relevant and another judged document in which the relevant one scores higher."""
    good = [score for score, grade in scored if is_relevant(grade)]
    other = [score for score, grade in scored if grade is not None and 0 <= grade < 1]
    pairs = [1.0 if a > b else 0.5 if a == b else 0.0 for a in good for b in other]
    return sum(pairs) / len(pairs) if pairs else None


Scored = Sequence[tuple[float, float | None]]
FORMULAS: dict[str, Callable[[Grades, Sequence[float], Scored], float | None]] = {
    "nDCG": lambda grades, judged, _: ndcg(grades, judged),
    "nDCG@3": lambda grades, judged, _: ndcg(grades, judged, cutoff=3),
    "nDCG(gain='exponential')@5": lambda grades, judged, _: ndcg(grades, judged, exponential=True, cutoff=5),
    "AP": lambda grades, judged, _: average_precision(grades, judged),
    "RR": lambda grades, judged, _: reciprocal_rank(grades),
    "P@3": lambda grades, judged, _: precision(grades, 3),
    "R@3": lambda grades, judged, _: recall(grades, judged, 3),
    "ERR": lambda grades, judged, _: expected_reciprocal_rank(grades),
    "RBP": lambda grades, judged, _: rank_biased_precision(grades),
    "Success@2": lambda grades, judged, _: success(grades, 2),
    "Bpref": lambda grades, judged, _: bpref(grades, judged),
    "Rprec": lambda grades, judged, _: r_precision(grades, judged),
    "AUC": lambda grades, judged, scored: area_under_curve(scored),
}
HIGHEST = 4  # ERR refuses grades above its scale


def _height(document: tuple[float, int | None], ties: str) -> float:
    """The score or, where the rank decides everything, what stands for it."""
    score, rank = document
    return -float(rank or 0) if ties == "rank" else score


def values(
    qrels: Mapping[str, Mapping[str, float]],
    run: Mapping[str, Mapping[str, tuple[float, int | None]]],
    ties: str,
    metrics: Sequence[str] = tuple(FORMULAS),
) -> dict[tuple[str, str], float | None]:
    """These metrics of every judged query; a query that the run lacks has an empty ranking."""
    out: dict[tuple[str, str], float | None] = {}
    for query, judged in qrels.items():
        documents = run.get(query, {})
        ranked = order(documents, ties)
        grades = [judged.get(doc) for doc in ranked]
        scored = [(_height(documents[doc], ties), judged.get(doc)) for doc in ranked]
        for metric in metrics:
            out[query, metric] = FORMULAS[metric](grades, list(judged.values()), scored)
    return out
