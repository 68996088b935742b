"""Ties over all orders: closed forms, orders one by one, and orders drawn, against brute force through the whole library."""

from __future__ import annotations

import math
import tracemalloc
from decimal import Decimal
from fractions import Fraction
from itertools import permutations, product
from random import Random
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.made.samples import amount

import rankscope as rs
from rankscope.engines.values import MOST_ORDERS, SAMPLE_SIZE, has_closed_form
from rankscope.errors import InputError
from rankscope.lists import rectangle
from rankscope.metrics import parse

QRELS = {"q": {"a": 2, "b": 0, "c": 1, "d": 0, "e": 1, "z": 3}}
RUN = {"q": {"a": 3.0, "x": 3.0, "b": 3.0, "c": 1.0, "d": 0.5, "y": 0.5, "e": 0.5}}
ADDITIVE = ["P@3", "R@2", "F@3", "CG@2", "DCG@4", "nDCG@3", "nDCG", "RBP", "RBP(max_grade=4)@3", "Judged@2", "Rprec"]
FIRST = ["AP", "AP@3", "RR", "RR@2", "Success@2"]
TRIED = ["ERR", "ERR@3", "Bpref", "infAP", "IPrec@0.5", "IPrecAvg", "AP(denominator='hits_at_k')@3"]


def orders(scores: dict[str, float]) -> list[dict[str, float]]:
    """Every order of the documents in which only tied ones change places, as runs without ties."""
    groups: dict[float, list[str]] = {}
    for doc, score in sorted(scores.items(), key=lambda item: -item[1]):
        groups.setdefault(score, []).append(doc)
    out = []
    for chosen in product(*(permutations(group) for group in groups.values())):
        ranked = [doc for group in chosen for doc in group]
        out.append({doc: float(-i) for i, doc in enumerate(ranked)})
    return out


def one_by_one(qrels: Any, scores: dict[str, float], metric: str, **policies: Any) -> list[float]:
    return [rs.evaluate(qrels, {"q": order}, metric, **policies)[metric] for order in orders(scores)]


@pytest.mark.parametrize("metric", [*ADDITIVE, *FIRST, *TRIED])
@pytest.mark.parametrize("depth", [None, 2, 5])
def test_mean_best_and_worst_of_all_orders(metric: str, depth: int | None) -> None:
    every = one_by_one(QRELS, RUN["q"], metric, depth=depth)
    assert len(every) == math.factorial(3) * math.factorial(3)
    found = rs.evaluate(QRELS, RUN, metric, ties="expected", depth=depth)[metric]
    assert found == pytest.approx(fmean(every), rel=1e-12)
    if parse(metric).better != "neither":
        assert rs.evaluate(QRELS, RUN, metric, ties="best", depth=depth)[metric] == pytest.approx(max(every))
        assert rs.evaluate(QRELS, RUN, metric, ties="worst", depth=depth)[metric] == pytest.approx(min(every))


@pytest.mark.parametrize("metric", [*ADDITIVE, *FIRST])
def test_closed_forms_are_used(metric: str) -> None:
    assert has_closed_form(parse(metric), None)


scores = st.dictionaries(st.sampled_from("abcdexyw"), st.sampled_from([1.0, 2.0]), min_size=1, max_size=6)


@settings(max_examples=amount(8, 40), deadline=None)
@given(scores, st.dictionaries(st.sampled_from("abcdez"), st.sampled_from([-1, 0, 1, 3]), min_size=1))
def test_any_small_query(run: dict[str, float], grades: dict[str, int]) -> None:
    names = ["nDCG@2", "AP", "RR@3", "P@2", "R(judged_only=True)@2", "ERR@2", "Bpref"]
    every = {name: one_by_one({"q": grades}, run, name) for name in names}
    for qrels, ranking in (({"q": grades}, {"q": run}), as_frames(grades, run)):
        found = rs.evaluate(qrels, ranking, names, ties="expected")
        for name in names:
            assert found[name] == pytest.approx(fmean(every[name]), rel=1e-12, abs=1e-12), name


def as_frames(grades: dict[str, int], run: dict[str, float]) -> tuple[Any, Any]:
    import polars as pl

    qrels = pl.DataFrame({"query_id": ["q"] * len(grades), "doc_id": list(grades), "grade": list(grades.values())})
    return qrels, pl.DataFrame({"query_id": ["q"] * len(run), "doc_id": list(run), "score": list(run.values())})


def test_no_ties_no_difference() -> None:
    run = {"q": {doc: float(i) for i, doc in enumerate("abcdexyz")}}
    names = [*ADDITIVE, *FIRST, *TRIED]
    plain = rs.evaluate(QRELS, run, names).runs[0].values
    for ties in ("expected", "best", "worst"):
        wanted = [name for name in names if ties == "expected" or parse(name).better != "neither"]
        found = rs.evaluate(QRELS, run, wanted, ties=ties).runs[0].values
        for metric, values in found.items():
            np.testing.assert_array_equal(values, plain[metric], str(metric))


def test_a_constant_scorer_earns_the_share_of_relevant_documents() -> None:
    """Every rank holds a relevant document with the same chance: P@k is R/n at every k, and AP has a closed form."""
    n, relevant = 200, 30
    qrels = {"q": {f"d{i}": int(i < relevant) for i in range(n)}}
    run = {"q": dict.fromkeys(qrels["q"], 0.0)}
    found = rs.evaluate(qrels, run, ["P@1", "P@10", "P@100", "AP", "RR"], ties="expected")
    for k in (1, 10, 100):
        assert found[f"P@{k}"] == pytest.approx(relevant / n)
    # a relevant document at rank r has (r - 1)(R - 1)/(n - 1) relevant ones above it in the mean
    ap = fmean((1 + (r - 1) * (relevant - 1) / (n - 1)) / r for r in range(1, n + 1))
    assert found["AP"] == pytest.approx(ap)
    rr = sum(math.comb(n - r, relevant - 1) / math.comb(n, relevant) / r for r in range(1, n - relevant + 2))
    assert found["RR"] == pytest.approx(rr)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 60, 300])
def test_the_chance_to_be_first_is_exact(size: int) -> None:
    """RR of n equal scores of which R are relevant, by fractions, whatever R."""
    for relevant in sorted({1, 2, size // 3, size // 2, size - 1, size} & set(range(1, size + 1))):
        qrels = {"q": {f"d{i}": int(i < relevant) for i in range(size)}}
        found = rs.evaluate(qrels, {"q": dict.fromkeys(qrels["q"], 1.0)}, ["RR", "RR@2", "Success@2"], ties="expected")
        first = [
            Fraction(math.comb(size - r, relevant - 1), math.comb(size, relevant))
            for r in range(1, size - relevant + 2)
        ]
        exact = {
            "RR": sum(chance / r for r, chance in enumerate(first, 1)),
            "RR@2": sum(chance / r for r, chance in enumerate(first[:2], 1)),
            "Success@2": sum(first[:2]),
        }
        for name, value in exact.items():
            assert found[name] == pytest.approx(float(value), abs=1e-14), (name, relevant)


def test_the_chance_to_be_first_among_thousands() -> None:
    """RR of 20,000 equal scores, which binomials of as many digits would take minutes for."""
    size, relevant = 20_000, 6_000
    qrels = {"q": {f"d{i}": int(i < relevant) for i in range(size)}}
    found = rs.evaluate(qrels, {"q": dict.fromkeys(qrels["q"], 1.0)}, "RR", ties="expected")
    none_yet, value = 1.0, 0.0
    for rank in range(1, size - relevant + 2):
        left = size - rank + 1
        value += none_yet * relevant / left / rank
        none_yet *= (left - relevant) / left
    assert found["RR"] == pytest.approx(value, abs=1e-12)


def test_two_groups_of_many_sizes_keep_their_own_chances() -> None:
    """Groups of one size with other numbers of relevant documents, and of other sizes, in one call: each as alone."""
    shapes = [(5, 2), (5, 3), (4, 2), (9, 1), (2, 2)]
    qrels = {f"q{i}": {f"d{j}": int(j < relevant) for j in range(size)} for i, (size, relevant) in enumerate(shapes)}
    run = {query: dict.fromkeys(docs, 0.5) for query, docs in qrels.items()}
    values = rs.evaluate(qrels, run, "RR", ties="expected").runs[0].values[parse("RR")].tolist()
    for value, (size, relevant) in zip(values, shapes, strict=True):
        ways = math.comb(size, relevant)
        wanted = sum(math.comb(size - r, relevant - 1) / ways / r for r in range(1, size - relevant + 2))
        assert value == pytest.approx(wanted, abs=1e-15)


def big(metric: str, seed: int = 0, **more: Any) -> tuple[float, float | None]:
    qrels = {"q": {f"d{i}": i % 3 for i in range(30)}}
    run = {"q": dict.fromkeys([*qrels["q"], *(f"u{i}" for i in range(10))], 1.0)}
    scores = rs.evaluate(qrels, run, metric, ties="expected", seed=seed, **more)
    return scores.board[0].value, scores.board[0].error


def test_too_many_orders_are_drawn_and_the_error_is_told() -> None:
    value, error = big("ERR@5")
    assert error is not None
    assert 0 < error < 0.05
    others = [big("ERR@5", seed=seed)[0] for seed in range(1, 30)]
    assert value == big("ERR@5")[0]
    assert len(set(others)) > 25
    # the spread of the estimates is what the standard error says
    assert np.std(others, ddof=1) == pytest.approx(error, rel=0.4)
    assert abs(value - fmean(others)) < 4 * error
    assert MOST_ORDERS >= 120
    assert SAMPLE_SIZE >= 100


def test_a_query_draws_the_same_alone_and_in_company() -> None:
    qrels = {f"q{n}": {f"d{i}": (i * n) % 4 for i in range(20)} for n in range(4)}
    run = {query: dict.fromkeys(docs, 1.0) for query, docs in qrels.items()}
    together = rs.evaluate(qrels, run, "ERR", ties="expected").runs[0]
    for i, query in enumerate(together.query_ids):
        alone = rs.evaluate({query: qrels[query]}, {query: run[query]}, "ERR", ties="expected")
        assert alone["ERR"] == together.values[parse("ERR")][i]


def test_closed_forms_have_no_error() -> None:
    assert big("nDCG@5")[1] is None
    assert big("AP")[1] is None


@pytest.mark.parametrize("ties", ["best", "worst"])
def test_what_knows_no_better_has_no_best(ties: Any) -> None:
    with pytest.raises(InputError, match="Judged@10 has no better direction"):
        rs.evaluate(QRELS, RUN, ["nDCG@10", "Judged@10"], ties=ties)
    names = [str(metric) for metric in rs.evaluate(QRELS, RUN, ties=ties).metrics]
    assert "Judged@10" not in names
    assert "nDCG@10" in names
    assert rs.evaluate(QRELS, RUN, "NumRet", ties=ties)["NumRet"] == len(RUN["q"])


def test_auc_counts_ties_half_under_every_order_of_one() -> None:
    every = one_by_one(QRELS, RUN["q"], "AUC")
    assert rs.evaluate(QRELS, RUN, "AUC")["AUC"] == pytest.approx(fmean(every))
    assert rs.evaluate(QRELS, RUN, "AUC", ties="expected")["AUC"] == pytest.approx(fmean(every))
    assert rs.evaluate(QRELS, RUN, "AUC", ties="best")["AUC"] == pytest.approx(max(every))


def test_lower_is_better_turns_best_and_worst() -> None:
    metric = "AverageRelevancePosition"
    every = one_by_one(QRELS, RUN["q"], metric)
    assert rs.evaluate(QRELS, RUN, metric, ties="best")[metric] == pytest.approx(min(every))
    assert rs.evaluate(QRELS, RUN, metric, ties="worst")[metric] == pytest.approx(max(every))


def test_subtopics_are_told_apart() -> None:
    qrels = {"q": {"a": {"s": 1}, "b": {"t": 1}, "c": {"s": 1, "t": 1}, "d": {"s": 0, "t": 0}}}
    scores = dict.fromkeys("abcdx", 1.0)
    for metric in ("alpha_DCG@2", "StRecall@2", "alpha_nDCG@3"):
        every = one_by_one(qrels, scores, metric)
        assert rs.evaluate(qrels, {"q": scores}, metric, ties="expected")[metric] == pytest.approx(fmean(every))
        assert rs.evaluate(qrels, {"q": scores}, metric, ties="best")[metric] == pytest.approx(max(every))


def test_sklearn_and_torchmetrics_average_over_ties(need: Any) -> None:
    ndcg_score = need("sklearn.metrics").ndcg_score
    grades = np.array([[0, 3, 1, 2, 0, 1, 0, 2]], dtype=float)
    said = np.array([[1, 1, 1, 2, 2, 3, 3, 3]], dtype=float)
    qrels = {"q": {f"d{i}": g for i, g in enumerate(grades[0].tolist())}}
    run = {"q": {f"d{i}": s for i, s in enumerate(said[0].tolist())}}
    for k in (1, 2, 3, 5, 8):
        ours = rs.evaluate(qrels, run, f"nDCG@{k}", ties="expected")[f"nDCG@{k}"]
        assert ours == pytest.approx(ndcg_score(grades, said, k=k), rel=1e-12)


@pytest.mark.parametrize(
    "metric", ["nDCG", "DCG@20", "AP", "AP(level=2)", "RBP", "RR", "P@5", "nDCG(judged_only=True)"]
)
def test_more_grades_than_are_held_at_once(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Grades that are no whole numbers have a place each: a query of many is taken in parts, and its mean stays the same."""
    rng = Random(5)
    grades = {f"d{i}": rng.random() * 4 - 0.5 for i in range(150)}
    run = {"q": {doc: float(rng.randrange(3)) for doc in list(grades)[:-2]}}
    whole = rs.evaluate({"q": grades}, run, metric, ties="expected")[metric]
    parts = []
    spread = rectangle._spread
    monkeypatch.setattr(rectangle, "_spread", lambda kinds, upto=None: parts.append(upto) or spread(kinds, upto))  # type: ignore[func-returns-value]
    monkeypatch.setattr(rectangle, "MAX_SPREAD_CELLS", 50)
    assert rs.evaluate({"q": grades}, run, metric, ties="expected")[metric] == pytest.approx(whole, rel=1e-13)
    assert len(parts) > (
        0 if rs.parse(metric).relevance == "binary" else 3
    )  # where grades above a level are alike, there are few


def test_the_memory_of_many_grades() -> None:
    """1,500 grades that all differ, of equal scores: 2.25 million places for each of three queries."""
    grades = {f"d{i}": 1 + i / 1500 for i in range(1500)}
    qrels = dict.fromkeys(("a", "b", "c"), grades)
    run = dict.fromkeys(qrels, dict.fromkeys(grades, 1.0))
    tracemalloc.start()
    try:
        value = rs.evaluate(qrels, run, "nDCG", ties="expected")["nDCG"]
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    discount = [1 / math.log2(rank + 1) for rank in range(1, 1501)]
    gains = sorted(grades.values(), reverse=True)
    ideal = math.fsum(gain * share for gain, share in zip(gains, discount, strict=True))
    assert value == pytest.approx(math.fsum(gains) / 1500 * math.fsum(discount) / ideal, rel=1e-12)
    assert most < 250e6  # all places at once take 800 MB


def test_queries_with_too_many_orders_are_counted() -> None:
    many = {f"d{i}": i % 4 for i in range(12)}
    qrels = {"q1": many, "q2": {"a": 1, "b": 0}, "q3": many}
    run = {"q1": dict.fromkeys(many, 1.0), "q2": {"a": 1.0, "b": 1.0}, "q3": {d: i // 2 for i, d in enumerate(many)}}
    for ties in ("expected", "best", "worst"):
        (mean,) = rs.evaluate(qrels, run, "infAP", ties=ties).board
        assert mean.sampled_queries == 1


@pytest.mark.parametrize(("ties", "sign"), [("best", -1), ("worst", 1)])
def test_the_extremes_of_many_orders_are_those_by_grade(ties: str, sign: int) -> None:
    grades = {f"d{i}": grade for i, grade in enumerate([3, 1, 0, 2, 0, 1, 3, 2, 0, 0, 1, 2])}
    qrels = {"q": {**grades, "top": 2, "end": 1}}
    tied = {"q": {**dict.fromkeys(grades, 1.0), "top": 2.0, "end": 0.5}}
    ordered = ["top", *sorted(grades, key=lambda doc: sign * grades[doc]), "end"]
    for metric in ("ERR", "infAP", "Bpref", "IPrecAvg"):
        expected = rs.evaluate(qrels, {"q": ordered}, metric)[metric]
        assert rs.evaluate(qrels, tied, metric, ties=ties)[metric] == pytest.approx(expected, rel=1e-12)  # type: ignore[call-overload]


@pytest.mark.parametrize("ties", ["trec", "docid", "input", "expected", "best", "worst"])
@pytest.mark.parametrize(
    "equal",
    [
        (2**53, 2**53 + 1),
        (1_700_000_000_000_000_002, 1_700_000_000_000_000_001),
        ("1", "1.0"),
        (Decimal("0.1"), 0.1),
        (Fraction(1, 3), 1 / 3),
        (True, 1.0),
    ],
)
def test_scores_are_equal_as_the_numbers_that_rank(equal: tuple[Any, Any], ties: Any) -> None:
    qrels = {"q": {"a": 1, "b": 0, "z": 2}}
    for run in (dict(zip("ab", equal, strict=True)), dict(zip("ba", equal, strict=True))):
        plain = {"q": {doc: float(score) for doc, score in run.items()}}
        metrics = ["nDCG", "AP", "RR"]
        assert (
            rs.evaluate(qrels, {"q": run}, metrics, ties=ties).to_dict()
            == rs.evaluate(qrels, rs.read_run(plain), metrics, ties=ties).to_dict()
        )
