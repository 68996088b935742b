"""Comparisons of two runs: laws that hold whatever the scores, and numbers that other tools give."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.made.scores import Table, drawn, one, ranked, ranked_run, table

import rankscope as rs
from rankscope.panels.contrast import Contrast

# the first relevant document at these ranks: the figures of a paper that said "significantly outperforms"
FIRST, SECOND = (2, 1, 5, 3, 1), (1, 1, 2, 1, 1)


def turned(scores: Table) -> Table:
    return dict(reversed(scores.items()))


# tenths with many ties, like P@10, and any number
tenths = st.integers(0, 10).map(lambda i: i / 10)
reals = st.floats(0, 1, allow_nan=False).map(lambda x: round(x, 6))
pairs = st.one_of(
    st.lists(st.tuples(tenths, tenths), min_size=1, max_size=24),
    st.lists(st.tuples(reals, reals), min_size=6, max_size=24),
)
METHODS: list[dict[str, Any]] = [
    {},
    {"test": "t", "alpha": 0.1},
    {"test": "permutation(rounds=500)", "seed": 3},
    {"test": "wilcoxon"},
    {"test": "sign"},
    {"test": "bootstrap(rounds=500)"},
    {"test": "anytime"},
    {"test": "betting"},
    {"interval": "bca(rounds=500)"},
    {"interval": "percentile(rounds=500)"},
    {"interval": "studentised(rounds=500)"},
    {"interval": "asymptotic"},
    {"margin": 0.05},
    {"bayes": True, "margin": 0.1},
    {"correction": "max_t(rounds=500)"},
    {"correction": "tukey"},
]

# --- laws ------------------------------------------------------------------------------------------------


def assert_mirrors(here: Contrast, there: Contrast) -> None:
    """Every number of the one is that of the other, with the opposite sign where it has one."""
    assert (here.run, here.baseline) == (there.baseline, there.run)
    assert here.difference == -there.difference
    same = ("p_value", "p_value_adjusted", "sign_flip", "ties", "queries", "test", "queries_needed", "favourable")
    for name in same:
        mine, other = getattr(here, name), getattr(there, name)
        assert mine == other or (math.isnan(mine) and math.isnan(other)), name
    assert (here.wins, here.losses) == (there.losses, there.wins)
    for bounds, turn in ((here.bounds, there.bounds), (here.adjusted, there.adjusted)):
        assert (bounds.known, bounds.reason) == (turn.known, turn.reason)
        if bounds.known:
            assert (bounds.lower, bounds.upper) == (-turn.upper, -turn.lower)
    assert (here.value, here.baseline_value) == (there.baseline_value, there.value)
    assert here.effect == pytest.approx(-there.effect, nan_ok=True, abs=0)
    assert here.superiority == pytest.approx(1 - there.superiority)
    detected = [(d.difference, d.low, d.high) for d in (here.detectable, there.detectable)]
    assert detected[0] == pytest.approx(detected[1], nan_ok=True, abs=0)
    if here.equivalence is not None and there.equivalence is not None:
        assert here.equivalence.p_value == pytest.approx(there.equivalence.p_value, nan_ok=True, abs=0)
        assert here.equivalence.lower == pytest.approx(-there.equivalence.upper, nan_ok=True, abs=0)
    if here.chances is not None and there.chances is not None:
        assert here.chances["better"] == pytest.approx(there.chances["worse"], nan_ok=True)
        assert here.chances["practically_equal"] == pytest.approx(there.chances["practically_equal"], nan_ok=True)
    mirrored = {"better": "worse", "worse": "better"}
    if "not worse" not in {here.verdict, there.verdict}:  # it is said of one side only
        assert mirrored.get(here.verdict, here.verdict) == there.verdict


@settings(max_examples=12, deadline=None)
@pytest.mark.parametrize("method", METHODS)
@given(pairs=pairs)
@example(pairs=[(0.0, 0.0), (0.0, 0.3), (0.0, 0.3), (0.2, 0.8)])  # symmetric but for rounding
def test_the_mirror(method: dict[str, Any], pairs: list[tuple[float, float]]) -> None:
    if method.get("correction") == "tukey" and len(pairs) < 2:
        return
    scores = table(*zip(*pairs, strict=True))
    assert_mirrors(one(scores, **method), one(scores, baseline="b", **method))


@pytest.mark.parametrize("metric", ["LabelRankingLoss", "NumRet", "P@10", "GMAP", "something of ours"])
def test_the_mirror_in_any_direction(metric: str) -> None:
    for seed in range(4):
        scores = drawn(seed)
        assert_mirrors(one(scores, metric), one(scores, metric, baseline="b"))
        assert_mirrors(one(scores, metric), one(turned(scores), metric))


def test_the_mirror_with_clusters_and_weights() -> None:
    qrels = {f"q{i:02}": {"good": 1} for i in range(24)}
    runs = {"a": ranked_run(3), "b": ranked_run(4)}
    more: dict[str, Any] = {
        "clusters": {query: f"u{i % 5}" for i, query in enumerate(qrels)},
        "weights": {query: 1 + i % 3 for i, query in enumerate(qrels)},
    }
    here, there = (rs.compare(qrels, runs, "RR", baseline=b, **more).contrasts[0] for b in "ab")
    assert_mirrors(here, there)


ADJUSTED = {
    "p_value_adjusted", "ci_lower_adjusted", "ci_upper_adjusted", "comparisons", "verdict", "detectable_difference",
    "detectable_lower", "detectable_upper", "queries_needed",
}  # fmt: skip


def unadjusted(found: Any) -> dict[tuple[str, str, str], dict[str, Any]]:
    """The numbers of each contrast that no other contrast has a part in."""
    return {
        (r["run"], r["baseline"], r["metric"]): {k: v for k, v in r.items() if k not in ADJUSTED}
        for r in found.to_dicts()
    }


@pytest.mark.parametrize(
    "method", [m for m in METHODS if m.get("test") != "betting"] + [{"correction": "bh"}, {"family": "all"}]
)
def test_neither_other_runs_nor_any_order_changes_a_number(method: dict[str, Any]) -> None:
    scores = drawn(8, systems=4)
    whole = unadjusted(rs.compare(scores, metrics="AP", **method))
    two = {name: scores[name] for name in "ac"}
    assert unadjusted(rs.compare(two, metrics="AP", **method)) == {
        key: value for key, value in whole.items() if key[0] == "c"
    }
    shuffled = {name: dict(reversed(row.items())) for name, row in scores.items()}
    again = rs.compare(shuffled, metrics="AP", **method)
    assert unadjusted(again) == whole
    assert again.to_dicts() == (rs.compare(scores, metrics="AP", **method).to_dicts())
    other = {name: scores[name] for name in "dbac"}
    assert unadjusted(rs.compare(other, metrics="AP", baseline="a", **method)) == whole


def test_the_order_of_lines_and_runs_changes_no_number_of_evaluated_runs() -> None:
    qrels = {f"q{i:02}": {"good": 1} for i in range(24)}
    runs = {name: ranked_run(seed) for seed, name in enumerate("abc")}
    back = {n: dict(reversed(runs[n].items())) for n in "cab"}
    here = rs.compare(qrels, runs, ["RR", "Success@1"])
    there = rs.compare(dict(reversed(qrels.items())), back, ["RR", "Success@1"], baseline="a")
    assert unadjusted(here) == unadjusted(there)
    alone = rs.compare(qrels, {"a": runs["a"], "b": runs["b"]}, "RR")
    assert unadjusted(alone)["b", "a", "RR"] == unadjusted(here)["b", "a", "RR"]


@pytest.mark.parametrize("method", METHODS)
def test_runs_that_are_equal_everywhere(method: dict[str, Any]) -> None:
    row = [0.1, 0.9, 0.3, 0.3, 0.0, 1.0, 0.7, 0.2]
    found = one(table(row, row), **method)
    assert (found.p_value, found.p_value_adjusted, found.verdict) == (1, 1, "same")
    assert (found.difference, found.wins, found.losses, found.ties) == (0, 0, 0, 8)
    if found.adjusted.known:
        assert found.adjusted.lower <= 0 <= found.adjusted.upper
    assert one(table([0.5] * 8, [0.5] * 8), **method).verdict == "same"


@pytest.mark.parametrize("test", ["sign", "wilcoxon"])
def test_no_verdict_against_what_the_test_found(test: str) -> None:
    """Thirty small gains and five large losses: the sign test sees the gains, the mean the losses."""
    high = [0.51] * 30 + [0.0] * 5
    found = one(table([0.5] * 35, high), test="sign")
    assert found.p_value < 0.001
    assert (found.wins, found.losses) == (30, 5)
    assert found.verdict != "worse"
    ranks = [0.5 + 0.01 + i / 10_000 for i in range(30)] + [0.0] * 5
    ranked_ones = one(table([0.5] * 35, ranks), test=test)
    assert ranked_ones.p_value < 0.05
    assert ranked_ones.verdict != "worse"


def test_the_mirror_where_the_mean_is_zero() -> None:
    up = [0.5 + 1 / 64] * 24 + [0.5 - 3 / 64] * 8  # 24 - 3 * 8 = 0, and all is exact in binary
    scores = table([0.5] * 32, up)
    here, there = one(scores, test="sign"), one(scores, baseline="b", test="sign")
    assert here.difference == 0
    assert_mirrors(here, there)


def test_rounding_is_no_difference() -> None:
    assert 0.1 + 0.2 != 0.3
    found = one(table([0.3] * 20, [0.1 + 0.2] * 20))
    assert (found.verdict, found.p_value, found.ties) == ("same", 1, 20)
    five = one(table([0.3] * 20, [0.1 + 0.2] * 15 + [0.4] * 5))
    assert (five.wins, five.ties, five.verdict) == (5, 15, "cannot tell")


def test_a_mean_that_is_zero_but_for_rounding_has_no_winner() -> None:
    """Thirty gains of .01 and five losses of .06: exact sums of rounded numbers leave some 1e-17."""
    found = one(table([0.5] * 35, [0.51] * 30 + [0.44] * 5), test="sign")
    assert abs(found.difference) < 1e-15
    assert (found.p_value < 0.001, found.verdict) == (True, "cannot tell")


# --- few queries ------------------------------------------------------------------------------------------


def test_five_queries_cannot_tell() -> None:
    qrels = {f"q{i}": {"good": 1} for i in range(5)}
    runs = {"old": ranked(FIRST), "new": ranked(SECOND)}
    compared = rs.compare(qrels, runs, "RR")
    found = compared["new", "RR"]
    assert found.value == pytest.approx((1 + 1 + 1 / 2 + 1 + 1) / 5)
    assert found.baseline_value == pytest.approx((1 / 2 + 1 + 1 / 5 + 1 / 3 + 1) / 5)
    assert found.p_value == 2 / 2**3  # three differ, all one way
    assert (found.differing, found.verdict) == (3, "cannot tell")
    assert found.test.startswith("permutation")
    (record,) = compared.to_dicts()
    assert record["p_value"] == 0.25
    asked = rs.compare(qrels, runs, "RR", test="t")["new", "RR"]
    gains = [1 - 1 / 2, 0, 1 / 2 - 1 / 5, 1 - 1 / 3, 0]
    assert asked.p_value == pytest.approx(stats.ttest_1samp(gains, 0).pvalue, rel=1e-10)
    assert round(asked.p_value, 3) == 0.092
    assert asked.verdict == "cannot tell"


@pytest.mark.parametrize("differing", range(8))
@pytest.mark.parametrize("method", [{}, {"test": "t"}, {"test": "sign", "alpha": 0.1}])
def test_fewer_than_six_differing_queries_cannot_tell(differing: int, method: dict[str, Any]) -> None:
    low = [0.2] * 20
    high = [0.8 + i / 100 for i in range(differing)] + [0.2] * (20 - differing)
    found = one(table(low, high), **method)
    told = "same" if not differing else "cannot tell" if differing < 6 else "better"
    assert found.verdict == told
    assert 0 < found.p_value <= 1
    if differing < 6 and found.adjusted.known:
        assert found.adjusted.lower <= 0 <= found.adjusted.upper


def test_equivalence_is_not_found_in_too_few_queries_with_a_large_spread() -> None:
    found = one(table([0.5] * 3, [0.9, 0.1, 0.5]), margin=0.05)
    assert found.verdict == "cannot tell"
