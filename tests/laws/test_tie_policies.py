"""The laws under every tie policy: range, order of worst, expected and best, batch, names, and the engine's own orders in between."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache, lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import pytest
from tests.made.samples import sampled

from rankscope.engines import local, mappings
from rankscope.engines.base import SEVERAL, Order
from rankscope.engines.values import depends_on_order, score_under_ties
from rankscope.files import qrels_of, run_of
from rankscope.lists import Judged
from rankscope.metrics import CATALOGUE, Metric
from rankscope.testing import variants
from rankscope.testing.cases import Case, accepts, aspects_of, made_up, top_grade

CLOSE = 1e-9
ORDERS = ("trec", "docid", "input")
CLASSES = [
    cls
    for cls in dict.fromkeys(CATALOGUE.values())
    if cls.__module__.startswith("rankscope.") and not (isinstance(cls.needs, frozenset) and "items" in cls.needs)
]


def few_orders(case: Case) -> bool:
    """Cases whose orders can all be tried, so that nothing is drawn."""
    count = math.prod(math.factorial(len(list(group))) for _, group in groupby(case.scores))
    return any(case.tied) and count <= 720


@cache
def drawn(top: float) -> list[Case]:
    return [case for case in made_up(250, 77, top) if few_orders(case)]


@lru_cache(maxsize=64)
def judged(cases: tuple[Case, ...], needs: frozenset[str], order_of_ties: str, turn: int = 0) -> Judged:
    """The cases through an engine, with ids that do not sort as they rank, another naming at each turn."""
    run: dict[str, dict[str, float]] = {}
    qrels: dict[str, Any] = {}
    for number, case in enumerate(cases):
        count = len(case.ranking) + len(case.missing)
        names = [f"d{(i * 7919 + number + turn * 101) % 997:03}" for i in range(count)]
        run[f"q{number}"] = dict(zip(names, case.scores, strict=False))
        graded = zip(names, (*case.ranking, *case.missing), strict=True)
        qrels[f"q{number}"] = {n: g for n, g in graded if g is not None}
    order = Order(order_of_ties, needs=needs)  # type: ignore[arg-type]
    if not needs & SEVERAL:
        return mappings.judge(run, qrels, order)[0]
    several: dict[str, Any] = {q: {doc: aspects_of(g) for doc, g in docs.items()} for q, docs in qrels.items()}
    several["more"] = {"d": {"a": 0.0, "b": 0.0}}  # subtopics have names, whatever the cases
    found = local.judge(run_of(run), qrels_of(several), order)[0]
    place = {query: i for i, query in enumerate(found.query_id)}
    return found.of(np.array([place[query] for query in qrels]))


def through_engine(cases: tuple[Case, ...], metric: Metric, ties: str, turn: int = 0) -> Judged:
    return judged(cases, metric.needs, ties if ties in ORDERS else "trec", turn)


def value(data: Judged, metric: Metric, ties: str) -> Any:
    if ties in ORDERS:  # one order: no metric may see that its documents are tied
        data = replace(data, tie_start=data.rank, tie_size=np.ones_like(data.tie_size))
    return score_under_ties(data, [metric], ties, None, 0)[0].value


@pytest.mark.parametrize("cls", CLASSES, ids=[cls.__name__ for cls in CLASSES])
def test_every_policy_keeps_the_laws(cls: type[Metric]) -> None:
    for metric in sampled([one for one in variants(cls)[:12] if "items" not in one.needs], 4):
        every = drawn(top_grade(metric))
        cases = tuple(case for case, ok in zip(every, accepts(metric, every), strict=True) if ok)[:30]
        if not cases:
            continue
        bounded = metric.better != "neither" or not depends_on_order(metric)
        policies = [*ORDERS, "expected", *(["best", "worst"] if bounded else [])]
        found = {ties: value(through_engine(cases, metric, ties), metric, ties) for ties in policies}
        low, high = metric.range
        for ties, values in found.items():
            known = values[~np.isnan(values)]
            assert (known >= low - CLOSE).all(), (metric, ties)
            assert (known <= high + CLOSE).all(), (metric, ties)
            alone = through_engine(cases, metric, ties)
            for i in range(0, len(cases), 5):
                one = value(alone.of(np.array([i])), metric, ties)[0]
                assert one == values[i] or (np.isnan(one) and np.isnan(values[i])), (metric, ties)
        between(metric, found)
        if "identities" not in metric.needs:
            for ties in policies[3:]:
                renamed = value(through_engine(cases, metric, ties, turn=3), metric, ties)
                np.testing.assert_allclose(renamed, found[ties], rtol=1e-9, atol=1e-12, err_msg=f"{metric} {ties}")


def between(metric: Metric, found: dict[str, Any]) -> None:
    """Every order, and the mean of all, lies between the worst and the best."""
    if "best" not in found:
        return
    sign = -1.0 if metric.better == "lower" else 1.0
    worst, best = sign * found["worst"], sign * found["best"]
    for ties in (*ORDERS, "expected"):
        here = sign * found[ties]
        known = ~(np.isnan(here) | np.isnan(worst) | np.isnan(best))
        assert (here[known] >= worst[known] - CLOSE).all(), (metric, ties)
        assert (here[known] <= best[known] + CLOSE).all(), (metric, ties)
