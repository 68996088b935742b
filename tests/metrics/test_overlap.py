"""Overlap with the ideal ranking, against the definition written out with sets."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import rankscope as rs
from rankscope.metrics.browsing import Compat

Run = dict[str, float]

SCALES: tuple[list[float], ...] = ([0, 1], [-1, 0, 1, 2, 3], [0, 0.5, 2.5], [1], [0], [-2, 0, 4])


def overlap(one: list[str], other: list[str], p: float, depth: int) -> float:
    """Rank-biased overlap of two lists down to a depth, not divided by anything."""
    return sum(p ** (d - 1) * len(set(one[:d]) & set(other[:d])) / d for d in range(1, depth + 1))


def by_definition(judged: Run, run: Run, p: float, normalize: bool) -> float:
    ranking = sorted(run, key=lambda doc: -run[doc])
    wanted = [doc for doc in judged if judged[doc] > 0]
    place = {doc: i for i, doc in enumerate(ranking)}
    ideal = sorted(wanted, key=lambda doc: (-judged[doc], place.get(doc, len(place))))
    depth = max(len(ranking), len(ideal))
    best = overlap(ideal, ideal, p, depth) if normalize else sum(p**d for d in range(depth))
    return overlap(ranking, ideal, p, depth) / best if best else 0.0


def world(seed: int, queries: int) -> tuple[dict[str, Run], dict[str, Run]]:
    """Queries with long and short lists, all, some or none of the judged documents retrieved."""
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for q in range(queries):
        docs = [f"d{i}" for i in rng.permutation(40).tolist()]
        retrieved = docs[: int(rng.integers(1, 30))]
        scale = SCALES[int(rng.integers(len(SCALES)))]
        judged = rng.choice(docs, size=int(rng.integers(1, 20)), replace=False).tolist()
        qrels[f"q{q}"] = dict(zip(judged, map(float, rng.choice(scale, size=len(judged))), strict=True))
        scores = rng.permutation(len(retrieved)) - len(retrieved) / 2
        run[f"q{q}"] = dict(zip(retrieved, scores.tolist(), strict=True))
    return qrels, run


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("p", [0.95, 0.5, 0.0, 1.0])
def test_the_definition(p: float, normalize: bool) -> None:
    qrels, run = world(3, 200)
    metric = Compat(p=p, normalize=normalize)
    (ours,) = rs.evaluate(qrels, run, [metric]).runs
    expected = [by_definition(qrels[q], run[q], p, normalize) for q in ours.query_ids]
    assert ours.values[metric] == pytest.approx(expected, abs=1e-12)
    assert 0 < sum(value > 0 for value in expected) < len(expected) == 200


def test_equal_grades_stand_in_the_ideal_as_they_stand_in_the_ranking() -> None:
    """So no order of equally good documents is better than another, whether or not more of them exist."""
    assert Compat().of([2, 2, 1, 1]) == 1
    assert Compat(p=0.5).of([1, 1], ideal=[1, 1, 1, 1]) == pytest.approx(
        (1 + 1 / 2) / (1 + 1 / 2 + 1 / 4 + 1 / 8) + (1 / 4 * 2 / 3 + 1 / 8 * 2 / 4) / (1 + 1 / 2 + 1 / 4 + 1 / 8)
    )


def test_a_retrieved_document_comes_before_its_equals_also_where_its_score_is_negative() -> None:
    """ir_measures takes a document that was not retrieved to score 0, so there negative scores come after it."""
    qrels = {"q": {"a": 1, "b": 1}}
    one = [rs.evaluate(qrels, {"q": {"a": score, "x": score - 1}}, ["Compat"])["Compat"] for score in (5, -5)]
    assert one[0] == one[1]


def test_better_documents_first() -> None:
    values = [Compat().of(ranking) for ranking in ([3, 2, 1, 0], [2, 3, 1, 0], [2, 1, 3, 0], [0, 1, 2, 3])]
    assert values[0] == 1
    assert all(before > after for before, after in pairwise(values))


def test_a_longer_list_is_compared_deeper() -> None:
    """What nobody judged adds depths, at which the ideal gets more than a list that missed some of it."""
    p = 0.5
    short, long = Compat(p=p).of([1], ideal=[1, 1]), Compat(p=p).of([1, None, None], ideal=[1, 1])
    assert short == pytest.approx((1 + p / 2) / (1 + p))
    assert long == pytest.approx((1 + p / 2 + p**2 / 3) / (1 + p + p**2 * 2 / 3))


def test_many_different_grades() -> None:
    grades = np.random.default_rng(4).random(300)
    best = np.sort(grades)[::-1].tolist()
    assert Compat().of(best) == pytest.approx(1)
    docs = {f"d{i}": grade for i, grade in enumerate(grades.tolist())}
    run = {doc: float(i) for i, doc in enumerate(docs)}
    assert rs.evaluate({"q": docs}, {"q": run}, ["Compat"])["Compat"] == pytest.approx(
        by_definition(docs, run, 0.95, True), abs=1e-12
    )


@pytest.mark.parametrize(
    ("p", "figures"),
    [
        (0.95, {"31_1": 0.51779512165509, "31_2": 0.018400100569017922}),
        (0.9, {"31_1": 0.3761334522946854, "31_2": 0.004344079941789211}),
        (0.8, {"31_1": 0.16723008845234535, "31_2": 0.00022806427320561776}),
    ],
)
def test_the_figures_of_the_authors_script(
    p: float, figures: dict[str, float], shared_data: Callable[[str], Path]
) -> None:
    """Values that ir_measures' tests hold its Compat to."""
    files = shared_data("ir_measures/compat.qrels"), shared_data("ir_measures/compat.run")
    (ours,) = rs.evaluate(*files, [Compat(p=p)]).runs
    values = dict(zip(ours.query_ids, ours.values[Compat(p=p)].tolist(), strict=True))
    assert values == pytest.approx(figures, abs=1e-12)
