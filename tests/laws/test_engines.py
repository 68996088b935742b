"""Every metric has the same value from dicts and from tables, to the last bit, ties and all."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.engines.base import SEVERAL
from rankscope.metrics import CATALOGUE
from rankscope.testing import variants
from rankscope.testing.cases import accepts, made_up, top_grade

METRICS = [
    m
    for cls in dict.fromkeys(CATALOGUE.values())
    if cls.__module__.startswith("rankscope.")
    for m in variants(cls)
    if not m.needs & SEVERAL  # those are read from tables alone
]
CASES = made_up(150, 23, 4.0)
FOR_ALL = [m for m in METRICS if top_grade(m) >= 4 and all(accepts(m, CASES))]


def world() -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """The made-up queries with ids that do not sort as they rank."""
    run: dict[str, dict[str, float]] = {}
    qrels: dict[str, dict[str, float]] = {}
    for number, case in enumerate(CASES):
        names = [f"d{(i * 7919 + number) % 1000:03}" for i in range(len(case.ranking) + len(case.missing))]
        run[f"q{number}"] = dict(zip(names, case.scores, strict=False))
        graded = zip(names, (*case.ranking, *case.missing), strict=True)
        qrels[f"q{number}"] = {name: grade for name, grade in graded if grade is not None}
    kept = [q for q in run if run[q] and qrels[q]]
    return {q: qrels[q] for q in kept}, {q: run[q] for q in kept}


def frame(data: dict[str, dict[str, float]], value: str) -> pl.DataFrame:
    rows = [(q, d, float(v)) for q, docs in data.items() for d, v in docs.items()]
    return pl.DataFrame(rows, schema={"query_id": pl.String, "doc_id": pl.String, value: pl.Float64}, orient="row")


@pytest.mark.parametrize("ties", ["trec", "docid", "input"])
def test_dicts_and_tables_agree(ties: Any) -> None:
    qrels, run = world()
    one = rs.evaluate(qrels, run, FOR_ALL, ties=ties)
    two = rs.evaluate(frame(qrels, "grade"), frame(run, "score"), FOR_ALL, ties=ties)
    for a, b in zip(one.runs[0].values.values(), two.runs[0].values.values(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert [m.value for m in one.board] == pytest.approx([m.value for m in two.board], rel=0, abs=0, nan_ok=True)


def test_most_metrics_take_any_grade() -> None:
    assert len(FOR_ALL) > 300
