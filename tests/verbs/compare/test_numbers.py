"""The numbers of a comparison: those of other tools, and those of means, directions and gaps by arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import stats
from tests.made.scores import as_arrays, drawn, one, ranked_run, table

import rankscope as rs
from rankscope.errors import DataError, InputError

# --- other tools ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.2])
def test_t_is_that_of_scipy(seed: int, alpha: float) -> None:
    scores = drawn(seed)
    a, b = as_arrays(scores)
    found, theirs = one(scores, alpha=alpha), stats.ttest_rel(b, a)
    low, high = theirs.confidence_interval(1 - alpha)
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-10)
    assert (found.bounds.lower, found.bounds.upper) == pytest.approx((low, high), abs=1e-12)
    assert found.difference == pytest.approx(b.mean() - a.mean(), abs=1e-12)
    assert (found.wins, found.losses, found.ties) == ((b > a).sum(), (b < a).sum(), (b == a).sum())
    assert found.effect == pytest.approx((b - a).mean() / (b - a).std(ddof=1))


@pytest.mark.parametrize("seed", range(3))
def test_other_tests_are_those_of_scipy(seed: int) -> None:
    scores = drawn(seed, queries=15)
    a, b = as_arrays(scores)
    zero = b == a
    exact = stats.permutation_test(
        (b, a), lambda x, y: (x - y).mean(), permutation_type="samples", n_resamples=2**15, vectorized=False
    )
    assert one(scores, test="permutation").p_value == pytest.approx(exact.pvalue, rel=1e-10)
    assert one(scores).sign_flip == pytest.approx(exact.pvalue, rel=1e-10)
    assert one(scores, test="wilcoxon").p_value == pytest.approx(stats.wilcoxon(b, a).pvalue, rel=1e-10)
    wins = int((b > a).sum())
    signs = stats.binomtest(wins, int((~zero).sum())).pvalue
    assert one(scores, test="sign").p_value == pytest.approx(signs, rel=1e-10)


@pytest.mark.parametrize("margin", [0.01, 0.05, 0.2])
def test_equivalence_is_that_of_statsmodels(margin: float, need: Callable[[str], ModuleType]) -> None:
    need("statsmodels")
    weightstats = need("statsmodels.stats.weightstats")
    scores = drawn(4, queries=60)
    a, b = as_arrays(scores)
    found = one(scores, margin=margin)
    assert found.equivalence is not None
    p, lower, _ = weightstats.ttost_paired(b, a, -margin, margin)
    assert found.equivalence.p_value == pytest.approx(p, rel=1e-9)
    assert found.not_worse == pytest.approx(lower[1], rel=1e-9)
    low, high = stats.ttest_rel(b, a).confidence_interval(0.9)
    assert (found.equivalence.lower, found.equivalence.upper) == pytest.approx((low, high), abs=1e-12)
    inside = -margin < low and high < margin
    assert (found.equivalence.p_value <= 0.05) == inside


def test_a_margin_makes_practically_the_same() -> None:
    a, _ = as_arrays(drawn(1, queries=100))
    close = table(a, a + np.random.default_rng(0).normal(0, 0.01, 100))
    assert one(close, margin=0.05).verdict == "equivalent"
    assert one(close).verdict == "cannot tell"
    lower = one(table(a, a + np.random.default_rng(1).normal(0.02, 0.1, 100)), margin=0.02)
    assert lower.verdict == "not worse"
    assert lower.equivalence is not None
    assert lower.equivalence.p_value > 0.05


def test_sakais_values(shared_data: Callable[[str], Path]) -> None:
    """Laboratory Experiments in Information Retrieval, table 5.1: t = 2.1158, p = .0478, effect .4731."""
    columns = {name: str(shared_data(f"elinor/{name}.csv")) for name in "YX"}
    found = one(columns, metric="nDCG@5")
    assert found.effect == pytest.approx(0.4731, abs=5e-5)
    assert found.effect * math.sqrt(20) == pytest.approx(2.1158, abs=5e-5)
    assert found.p_value == pytest.approx(0.0478, abs=5e-5)
    assert found.verdict == "better"


# --- directions, undefined values, weights, means of other kinds ------------------------------------------


def test_lower_is_better() -> None:
    low, high = [0.1 + i / 100 for i in range(10)], [0.5] * 10
    found = one(table(high, low), "LabelRankingLoss")
    assert found.difference < 0
    assert (found.verdict, found.wins, found.losses) == ("better", 10, 0)
    assert found.superiority == 1
    assert one(table(low, high), "LabelRankingLoss").verdict == "worse"
    assert found.p_value == one(table(high, low), "AP").p_value


def test_lower_is_better_with_a_margin_and_chances() -> None:
    draws = np.random.default_rng(5)
    a = draws.random(80)
    scores = table(a, a - 0.02 + draws.normal(0, 0.1, 80))
    low, high = (one(scores, metric, margin=0.02, bayes=True) for metric in ("LabelRankingLoss", "AP"))
    assert low.not_worse is not None
    assert high.not_worse is not None
    assert low.not_worse < 0.05 < high.not_worse
    assert low.chances is not None
    assert high.chances is not None
    assert low.chances["better"] == high.chances["worse"] > 0.5


def test_no_direction() -> None:
    low, high = [float(i) for i in range(10)], [float(i + 1 + i % 2) for i in range(10)]
    found = one(table(low, high), "NumRet")
    assert (found.verdict, found.wins, found.losses) == ("different", 10, 0)
    assert found.not_worse is None


def test_only_queries_with_both_values_are_paired() -> None:
    scores = table([0.1, 0.2, 0.3, 0.4, 0.9, math.nan, 0.2, 0.1], [0.2, 0.4, 0.4, math.nan, 0.8, 0.7, 0.3, 0.3])
    found = one(scores)
    kept = [0, 1, 2, 4, 6, 7]
    a, b = (np.array(list(scores[s].values()))[kept] for s in "ab")
    assert found.queries == 6
    assert found.difference == pytest.approx((b - a).mean())
    assert (found.value, found.baseline_value) == pytest.approx((b.mean(), a.mean()))
    assert found.p_value == pytest.approx(stats.ttest_rel(b, a).pvalue, rel=1e-10)
    assert found.pair.undefined_for_one == 2
    warned = [w.code for w in rs.compare(scores, metrics="AP").warnings]
    assert "RS407" in warned


def test_area_under_the_curve_leaves_out_queries_of_one_class() -> None:
    qrels = {f"q{i:02}": {f"d{j}": int(j <= i % 4) for j in range(4)} for i in range(20)}  # 4 of 4: undefined
    draws = np.random.default_rng(0)
    runs = {name: {q: {d: float(draws.random()) for d in qrels[q]} for q in qrels} for name in "ab"}
    found = rs.compare(qrels, runs, "AUC")["b", "AUC"]
    assert found.queries == 15
    values = rs.evaluate(qrels, runs, "AUC").per_query.drop_nulls()
    by = {n: values.filter(run=n).sort("query_id")["value"].to_numpy() for n in "ab"}
    assert found.p_value == pytest.approx(stats.ttest_rel(by["b"], by["a"]).pvalue, rel=1e-10)


def test_no_query_in_common() -> None:
    with pytest.raises(DataError, match="shares no query"):
        rs.compare({"a": {"q1": 0.1}, "b": {"q2": 0.3}}, metrics="AP")
    chain = {"a": {"q1": 0.1, "q2": 0.2}, "b": {"q2": 0.2, "q3": 0.3}, "c": {"q3": 0.3, "q4": 0.1}}
    found = rs.compare(chain, metrics="AP")["c", "AP"]
    assert (found.queries, found.verdict) == (0, "cannot tell")
    assert math.isnan(found.p_value)
    assert math.isnan(found.difference)


def test_a_difference_of_weighted_means() -> None:
    qrels = {f"q{i:02}": {"good": 1} for i in range(24)}
    runs = {"a": ranked_run(3), "b": ranked_run(4)}
    weights = {query: float(i % 4) for i, query in enumerate(qrels)}  # some weigh nothing
    scores = rs.evaluate(qrels, runs, "RR", weights=weights)
    found = rs.compare(qrels, runs, "RR", weights=weights)["b", "RR"]
    assert found.difference == pytest.approx(scores["b", "RR"] - scores["a", "RR"], abs=1e-12)
    assert found.value == pytest.approx(scores["b", "RR"], abs=1e-12)
    assert found.queries == 18
    # the linearised standard error of a ratio of two sums, corrected for uneven weights (CR2)
    table_ = scores.per_query.pivot("run", index="query_id", values="value").sort("query_id")
    d = (table_["b"] - table_["a"]).to_numpy()
    w = np.array([weights[q] for q in table_["query_id"]])
    d, w = d[w > 0], w[w > 0]
    share = w / w.sum()
    parts = share * (d - share @ d)
    t = found.difference / math.sqrt((parts**2 / (1 - share)).sum())
    pulls = share**2 / (1 - share)
    freedom = 1 / ((share**2).sum() + pulls.sum() ** 2 - (pulls**2).sum())
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), freedom), rel=1e-9)


def test_weights_that_are_all_the_same_change_nothing() -> None:
    qrels = {f"q{i:02}": {"good": 1} for i in range(24)}
    runs = {"a": ranked_run(3), "b": ranked_run(4)}
    even = rs.compare(qrels, runs, "RR", weights=dict.fromkeys(qrels, 3.0))["b", "RR"]
    plain = rs.compare(qrels, runs, "RR")["b", "RR"]
    assert even.p_value == pytest.approx(plain.p_value, rel=1e-10)
    assert even.difference == pytest.approx(plain.difference, abs=1e-15)


def test_geometric_means_and_sums() -> None:
    qrels = {f"q{i:02}": {"good": 1, "fine": 1} for i in range(24)}
    runs = {"a": ranked_run(3), "b": ranked_run(4)}
    scores = rs.evaluate(qrels, runs, ["GMAP", "NumRelRet"])
    found = rs.compare(qrels, runs, ["GMAP", "NumRelRet"])
    for metric in ("GMAP", "NumRelRet"):
        expected = scores["b", metric] - scores["a", metric]
        assert found["b", metric].difference == pytest.approx(expected, abs=1e-3 if metric == "GMAP" else 0)


def test_micro_means_differ_by_their_wholes() -> None:
    """Every query has the same precision, but the queries weigh differently: what is compared is the mean over documents."""
    qrels = {f"q{i:02}": {"r1": 1, "r2": 1, "r3": 1, "n1": 0} for i in range(12)}
    draws = np.random.default_rng(3)
    runs = {
        name: {q: dict.fromkeys(("r1", "r2", "n1", "x1", "x2")[: 1 + int(draws.integers(5))], 1.0) for q in qrels}
        for name in "ab"
    }
    scores = rs.evaluate(qrels, runs, "SetP", mean="micro")
    found = rs.compare(qrels, runs, "SetP", mean="micro")["b", "SetP"]
    assert found.difference == pytest.approx(scores["b", "SetP"] - scores["a", "SetP"], abs=1e-12)


def test_micro_means_are_not_the_same_where_weights_differ() -> None:
    qrels = {f"q{i}": {"r1": 1, "r2": 1, "n1": 0, "n2": 0} for i in range(14)}
    few, many = {"r1": 2.0, "n1": 1.0}, {"r1": 4.0, "n1": 3.0, "r2": 2.0, "n2": 1.0}  # both 1/2
    runs = {
        name: {f"q{i}": half if i < 7 else {"n1": 1.0} for i in range(14)} for name, half in (("a", few), ("b", many))
    }
    found = rs.compare(qrels, runs, "SetP", mean="micro")["b", "SetP"]
    assert found.difference == pytest.approx(14 / (28 + 7) - 7 / (14 + 7))
    assert found.verdict != "same"


def test_pooled_metrics_of_stored_scores_are_refused() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(8)}
    run = {q: {"a": 1.0, "b": 2.0} for q in qrels}
    scores = rs.evaluate(qrels, {"x": run, "y": run}, ["AUC(pooled=True)"])
    with pytest.raises(InputError, match="leave it out"):
        rs.compare(replace(scores, evaluations=()))
