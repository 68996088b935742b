"""A metric over several judges is the mean of the metric over each judge's qrels alone."""

from __future__ import annotations

import random
from typing import Any

import pytest

import rankscope as rs
from rankscope.metrics import AP, AvgAP, AvgP, AvgRprec, P, Rprec


@pytest.fixture(scope="module")
def made() -> tuple[dict[str, Any], dict[str, Any]]:
    """Queries with one to four judges, none of whom saw every document, and rankings with other documents in them."""
    rng = random.Random(5)
    qrels: dict[str, Any] = {}
    run: dict[str, Any] = {}
    for query in map(str, range(40)):
        docs = [f"d{i}" for i in range(rng.randint(3, 20))]
        qrels[query] = {}
        for judge in range(rng.randint(1, 4)):
            for doc in rng.sample(docs, rng.randint(1, len(docs))):
                qrels[query].setdefault(doc, {})[f"j{judge}"] = rng.choice([-1, 0, 0, 1, 2])
        shown = rng.sample([*docs, "x", "y", "z"], rng.randint(1, len(docs)))
        run[query] = {doc: -float(i) for i, doc in enumerate(shown)}
    return qrels, run


@pytest.mark.parametrize(
    ("metric", "alone"),
    [(AvgAP(), AP()), (AvgAP() @ 4, AP() @ 4), (AvgAP(level=2), AP(level=2)), (AvgP() @ 5, P() @ 5), (AvgRprec(), Rprec())],
)  # fmt: skip
def test_the_mean_over_the_judges(made: Any, metric: Any, alone: Any) -> None:
    qrels, run = made
    ours = rs.evaluate(qrels, run, [metric]).runs[0]
    for query, value in zip(ours.query_ids, ours.values[metric].tolist(), strict=True):
        judges = sorted({judge for graded in qrels[query].values() for judge in graded})
        by_judge = [{doc: graded[judge] for doc, graded in qrels[query].items() if judge in graded} for judge in judges]
        each = [
            float(alone.of(sorted(run[query], key=run[query].__getitem__, reverse=True), judgments=grades))
            for grades in by_judge
        ]
        assert value == pytest.approx(sum(each) / len(judges), abs=1e-12)


def test_a_multiple_of_the_relevant_documents() -> None:
    ranking = [1, 1, 0, 0, 1, 0]
    for multiple, depth in ((0.2, 1), (0.4, 2), (1.0, 3), (1.2, 4), (2.0, 6)):
        value = AvgRprec(multiple=multiple).of(ranking)
        assert value == pytest.approx(sum(ranking[:depth]) / depth)
    assert AvgRprec(multiple=0.02).of([1]) == 0.0  # no document at all
    assert AvgRprec(multiple=4).of(ranking) == pytest.approx(3 / 12)


def test_a_judge_who_found_nothing_counts() -> None:
    assert AvgAP().of([{"ann": 1, "bob": 0}]) == pytest.approx(1 / 2)
    assert (AvgP() @ 1).of([{"ann": 1, "bob": 0}]) == pytest.approx(1 / 2)
