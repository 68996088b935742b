"""Planning: its laws, its numbers against statsmodels and by hand, what it refuses."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankscope as rs
from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.panels.reach import summary_of_all_pairs
from rankscope.verbs.power.power import power
from rankscope.verbs.power.result import Plan

BASE = np.linspace(0.1, 0.5, 30)
NOISE = np.random.default_rng(7).normal(0, 0.2, (3, 30))


def table(*rows: Any) -> dict[str, dict[str, float]]:
    """Scores by system, a, b, c ..., and query."""
    names = "abcdefgh"[: len(rows)]
    return {name: {f"q{i:03}": float(v) for i, v in enumerate(row)} for name, row in zip(names, rows, strict=True)}


SCORES = table(*np.clip([BASE, BASE + 0.03 + NOISE[0], BASE + NOISE[1], BASE + NOISE[2] / 2], 0, 1))
PAIR = {name: SCORES[name] for name in "ab"}
DIFFERENCES = np.array([SCORES["b"][q] - SCORES["a"][q] for q in SCORES["a"]])


# --- laws --------------------------------------------------------------------------------------------


def test_the_queries_at_hand_are_what_the_detectable_difference_needs() -> None:
    found = power(PAIR, metrics="x")["x"].detectable.difference
    at = power(PAIR, metrics="x", difference=[found * (1 - 1e-6), found * (1 + 1e-6)])["x"]
    assert [t.queries for t in at.targets] == [31, 30]


def test_planning_for_the_queries_at_hand_changes_nothing() -> None:
    now, planned = (power(SCORES, metrics="x", n=n)["d", "x"] for n in (None, 30))
    assert planned.detectable.difference == pytest.approx(now.detectable.difference, rel=1e-12)
    assert planned.detectable.low == pytest.approx(now.detectable.low, rel=1e-12)
    assert [t.power for t in planned.chosen_targets] == [t.power for t in now.chosen_targets]
    assert [t.queries for t in planned.targets] == [t.queries for t in now.targets]


@settings(max_examples=25, deadline=None)
@given(order=st.permutations(range(30)), scale=st.sampled_from([0.5, 2.0, 4.0]))
def test_order_does_not_matter_and_scale_goes_through(order: list[int], scale: float) -> None:
    shuffled = {name: {q: row[q] for q in [list(row)[i] for i in order]} for name, row in PAIR.items()}
    assert power(shuffled, metrics="x").rows == power(PAIR, metrics="x").rows
    larger = {name: {q: scale * v for q, v in row.items()} for name, row in PAIR.items()}
    one, other = (power(PAIR, metrics="x", difference=0.1), power(larger, metrics="x", difference=0.1 * scale))
    assert other["x"].detectable.difference == pytest.approx(scale * one["x"].detectable.difference)
    assert other["x"].targets[0].queries == one["x"].targets[0].queries
    assert other["x"].targets[0].power == pytest.approx(one["x"].targets[0].power)


def test_turned_pairs_and_other_runs_say_the_same() -> None:
    one = power(SCORES, metrics="x", baseline="a")["b", "x"]
    turned = power(SCORES, metrics="x", baseline="b")["a", "x"]
    assert turned.detectable == one.detectable
    assert turned.targets == one.targets
    assert turned.difference == -one.difference
    assert power(PAIR, metrics="x")["x"] == one


@settings(max_examples=25, deadline=None)
@given(difference=st.floats(0.005, 0.5), chance=st.floats(0.5, 0.95), alpha=st.floats(0.001, 0.1), m=st.integers(1, 20))
def test_asking_for_more_never_takes_less(difference: float, chance: float, alpha: float, m: int) -> None:
    def needed(**changed: Any) -> int:
        said: Any = {"difference": difference, "power": chance, "alpha": alpha, "comparisons": m} | changed
        plan = power(None, deviation=0.2, **said)
        assert isinstance(plan, Plan)
        return plan.reaches[0].targets[0].queries

    assert needed() <= needed(difference=difference / 2)
    assert needed() <= needed(power=(1 + chance) / 2)
    assert needed() <= needed(alpha=alpha / 2)
    assert needed() <= needed(comparisons=m + 1)
    assert needed() == needed(alpha=alpha / m, comparisons=1)


def test_queries_in_clusters_of_one_are_queries() -> None:
    clusters = {q: f"user {i}" for i, q in enumerate(SCORES["a"])}
    one, other = power(PAIR, metrics="x")["x"], power(PAIR, metrics="x", clusters=clusters)["x"]
    assert other.detectable.difference == pytest.approx(one.detectable.difference, rel=1e-12)
    assert [(t.queries, t.low, t.high) for t in other.targets] == [(t.queries, t.low, t.high) for t in one.targets]


def test_queries_repeated_in_clusters_show_no_more_than_one_of_each() -> None:
    once = power(PAIR, metrics="x", difference=0.05)["x"]
    twice = {name: {f"{q}.{i}": v for q, v in row.items() for i in "12"} for name, row in PAIR.items()}
    clusters = {q: q[:-2] for q in twice["a"]}
    both = power(twice, metrics="x", difference=0.05, clusters=clusters)["x"]
    assert both.detectable.difference == pytest.approx(once.detectable.difference, rel=1e-12)
    assert both.targets[0].queries == 2 * once.targets[0].queries  # as many clusters, of two queries each
    assert both.targets[0].power == pytest.approx(once.targets[0].power, rel=1e-12)
    more = power(twice, metrics="x", difference=0.05, clusters=clusters, n=120)["x"]
    assert more.targets[0].power == pytest.approx(
        power(PAIR, metrics="x", difference=0.05, n=60)["x"].targets[0].power, rel=1e-12
    )


def test_it_agrees_with_compare() -> None:
    for level in (0.05, 0.01):
        contrasts = rs.compare(SCORES, metrics="x", alpha=level).contrasts
        planned = power(SCORES, metrics="x", alpha=level, comparisons=len(contrasts))
        for contrast in contrasts:
            reach = planned[contrast.run, "x"]
            assert reach.detectable == contrast.detectable
            assert reach.difference == contrast.difference
            assert reach.observed_target is not None
            assert reach.observed_target.queries == contrast.queries_needed


# --- worked, and against another tool ----------------------------------------------------------------


def test_the_formula_by_hand() -> None:
    differences = np.array(
        [0.1, -0.1] * 5
    )  # s = 0.1 * sqrt(10 / 9); the quantile 0.8 of noncentral t[9] around 2.262157
    found = power(table(np.full(10, 0.5), 0.5 + differences), metrics="x")["x"]
    s = 0.1 * math.sqrt(10 / 9)
    assert found.deviation == pytest.approx(s)
    assert found.detectable.difference == pytest.approx(3.436997 * s / math.sqrt(10), rel=1e-5)
    assert found.detectable.low == pytest.approx(found.detectable.difference * math.sqrt(9 / 19.022768), rel=1e-6)
    assert found.detectable.high == pytest.approx(found.detectable.difference * math.sqrt(9 / 2.700389), rel=1e-6)
    assert found.observed_target is None  # the mean difference is 0


def test_statsmodels_says_the_same(need: Callable[[str], ModuleType]) -> None:
    theirs = need("statsmodels.stats.power").TTestPower()
    s = float(DIFFERENCES.std(ddof=1))
    for m in (1, 6):
        for target in power(deviation=s, difference=[0.02, 0.05, 0.1], n=30, comparisons=m).reaches[0].targets:
            size = target.difference / s
            assert target.power == pytest.approx(theirs.power(size, 30, 0.05 / m), abs=1e-6)
            exact = math.ceil(theirs.solve_power(size, power=0.8, alpha=0.05 / m))
            assert abs(target.queries - exact) <= 2
    for target in power(deviation=0.3, difference=[0.05, 0.1], power=0.9, n=80).reaches[0].targets:
        assert target.power == pytest.approx(theirs.power(target.difference / 0.3, 80, 0.05), abs=1e-6)
        assert abs(target.queries - theirs.solve_power(target.difference / 0.3, power=0.9, alpha=0.05)) <= 2
    design = power(design="t", variance=0.04, difference=[0.05, 0.1], comparisons=2)
    for size, topics in design.sizes:
        assert topics == math.ceil(theirs.solve_power(size / 0.2, power=0.8, alpha=0.025))


@pytest.mark.parametrize("comparisons", [1, 6])
def test_from_runs_power_is_the_average_over_the_spreads_that_may_be(comparisons: int) -> None:
    from scipy.stats import nct, t

    found = power(PAIR, metrics="x", difference=[0.02, 0.05, 0.1], comparisons=comparisons)["x"]
    assert found.deviation == pytest.approx(float(DIFFERENCES.std(ddof=1)))
    beyond = t.ppf(1 - 0.025 / comparisons, 29)
    for target in found.targets:
        far = target.difference / found.deviation * math.sqrt(30)
        assert target.power == pytest.approx(nct.cdf(far, 29, beyond) + nct.cdf(-far, 29, beyond), abs=1e-6)
    assert found.detectable.difference == pytest.approx(
        nct.ppf(0.8, 29, beyond) * found.deviation / math.sqrt(30), rel=1e-5
    )


def test_statsmodels_designs_for_an_analysis_of_variance_alike(need: Callable[[str], ModuleType]) -> None:
    theirs = need("statsmodels.stats.power").FTestAnovaPower()
    for systems, size in ((2, 0.1), (10, 0.1), (10, 0.2)):
        found = power(design="anova", systems=systems, variance=0.05, difference=size).sizes[0][1]
        effect = size / math.sqrt(0.05) * math.sqrt(1 / (2 * systems))
        chances = [theirs.power(effect, n * systems, 0.05, k_groups=systems) for n in (found - 1, found)]
        assert chances[0] < 0.8 <= chances[1]


def test_the_promise_of_the_power_is_kept() -> None:
    needed = power(deviation=1.0, difference=0.4).reaches[0].targets[0].queries
    drawn = np.random.default_rng(3).normal(0.4, 1.0, (20000, needed))
    t = drawn.mean(axis=1) / drawn.std(axis=1, ddof=1) * math.sqrt(needed)
    found = float((abs(t) > 2.0086).mean())  # t[0.975] of 51, 50, 52 degrees of freedom: 2.008, 2.009, 2.007
    assert 49 <= needed <= 54
    assert found == pytest.approx(0.8, abs=0.012)  # 4 standard errors of the share


def test_the_range_of_a_plan_goes_from_low_to_high() -> None:
    """The ends of the interval of s, 30 queries: s times the root of 29 over chi square of 29."""
    plan = power(PAIR, metrics="x")
    can = plan["x"].detectable
    low, high = (can.difference * math.sqrt(29 / chi2) for chi2 in (45.7223, 16.0471))
    assert (can.low, can.high) == pytest.approx((low, high), rel=1e-4)
    assert plan.to_text().count(f"{words.number(low)} to {words.number(high)}") == 2  # the sentence and the table


def test_a_summary_is_the_median_and_range_over_pairs(shared_data: Callable[[str], Path]) -> None:
    found = power(str(shared_data("system_scores/adhoc5_ap.csv")), metrics="AP", all_pairs=True, n=100)
    one = found.summary[0]
    assert one.pairs == len(found.reaches) == 61 * 60 // 2
    reach = [r.detectable.difference for r in found.reaches]
    assert (one.detectable_difference.median, one.detectable_difference.lowest, one.detectable_difference.highest) == (
        float(np.median(reach)), min(reach), max(reach),
    )  # fmt: skip
    needed = [r.chosen_targets[1].queries for r in found.reaches]
    assert one.wanted[1].difference == 0.02
    assert (one.wanted[1].queries_needed.median, one.wanted[1].queries_needed.highest) == (
        float(np.median(needed)),
        max(needed),
    )
    field = found.measurements.panels[0] if found.measurements else None
    assert field is not None
    assert one.variance_within_runs == pytest.approx(float(field.values.var(axis=1, ddof=1).mean()))


# --- pairs without an answer ------------------------------------------------------------------------


def test_pairs_without_spread_are_left_out_and_told() -> None:
    found = power(table(BASE, BASE + 0.1, BASE + NOISE[0]), metrics="x")
    assert "differ by the same on all 30 queries of x" in found["b", "x"].reason
    assert (found.summary[0].pairs, found.summary[0].pairs_left_out) == (1, 1)
    assert [w.code for w in found.warnings] == ["RS408"]
    rows = found.rows
    assert all(list(row) == found.results.columns for row in rows)
    assert rows[0]["reason"]
    assert rows[0]["queries_needed"] is None
    assert found.results.height == 5  # one without an answer, four differences


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        (table(BASE, BASE), "a score the same on all 30 queries"),
        (table([0.5], [0.6]), "only one query has a value for both b and a"),
        (table(BASE, BASE + 0.1), "without spread nothing can be planned"),
        (table(BASE), "there is one run, a"),
    ],
)
def test_nothing_to_plan_from_is_one_line(scores: Any, says: str) -> None:
    with pytest.raises(DataError, match=says) as error:
        power(scores, metrics="x")
    assert "\n" not in str(error.value)


def test_few_differing_queries_are_doubted() -> None:
    changed = BASE.copy()
    changed[:3] += 0.2
    assert [w.code for w in power(table(BASE, changed), metrics="x").warnings] == ["RS405"]


def test_too_few_queries_say_that_they_show_nothing() -> None:
    text = str(power(table([0.1, 0.9, 0.5], [0.9, 0.1, 0.6]), metrics="AP"))
    assert text.startswith("3 queries cannot detect any difference in AP with 80% power: it would have to be about")
    assert "no two runs are more than 1 apart" in text


# --- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({}, "nothing to plan from"),
        ({"qrels": PAIR, "metrics": "AP", "difference": 5}, "AP is between 0 and 1"),
        ({"qrels": PAIR, "metrics": "x", "baseline": "aa"}, "no run is called that, did you mean a"),
        ({"qrels": PAIR, "metrics": "x", "baseline": "a", "all_pairs": True}, "ask for only one"),
        ({"qrels": PAIR, "metrics": "x", "systems": 3}, "runs are counted"),
        ({"qrels": PAIR, "deviation": 0.2}, "one at a time"),
        ({"deviation": 0.2, "design": "t"}, "one at a time"),
        ({"deviation": 0.2, "variance": 0.04}, "variance belongs to a design"),
        ({"deviation": 0.2, "all_pairs": True}, "all_pairs belongs to a plan from runs"),
        ({"deviation": 0}, "a number above 0"),
        ({"deviation": math.nan}, "a number above 0"),
        ({"deviation": 0.2, "difference": [0.1, -0.1]}, "difference=-0.1"),
        ({"deviation": 0.2, "difference": "0.1"}, "difference='0.1'"),
        ({"deviation": 0.2, "power": 1}, "power=1"),
        ({"deviation": 0.2, "alpha": 0.7}, "alpha=0.7"),
        ({"deviation": 0.2, "comparisons": 0}, "comparisons=0"),
        ({"deviation": 0.2, "n": 1}, "n=1"),
        ({"design": "f", "variance": 1, "difference": 1}, "design is one of 't', 'anova', 'interval'"),
        ({"design": "t", "difference": 1}, "needs the variance of the differences"),
        ({"design": "t", "variance": 1}, "needs a difference"),
        ({"design": "t", "variance": 1, "difference": 1, "systems": 3}, "it is about two systems"),
        ({"design": "t", "variance": 1, "difference": 1, "width": 1}, "width does not belong"),
        ({"design": "interval", "variance": 1, "difference": 1}, "it takes a width"),
        ({"design": "anova", "variance": 1, "difference": 1}, "how many systems will be compared"),
        ({"design": "t", "variance": 1, "difference": 1, "n": 9}, "n belongs to a plan from runs or a deviation"),
    ],
)  # fmt: skip
def test_what_cannot_be_planned_is_refused_in_one_line(said: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says) as error:
        power(**said)
    assert "\n" not in str(error.value)


def test_totals_are_refused() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(8)}
    runs = {"one": {q: {"a": 1.0} for q in qrels}, "two": {q: {"b": 1.0} for q in qrels}}
    with pytest.raises(InputError, match="NumRel is a total"):
        power(qrels, runs, ["RR", "NumRel"])


# --- in words -----------------------------------------------------------------------------------


def test_the_sentence_is_of_the_largest_difference_beyond_reach() -> None:
    found = power(PAIR, metrics="AP")
    assert str(found).startswith("30 queries can detect a difference of about 0.0")
    assert ") in AP between a and b with 80% power; detecting 0.05 would take about " in str(found)
    assert str(power(PAIR, metrics="AP", difference=0.5)).endswith("0.5 would be detected with >99% power.")
    assert str(power(PAIR, metrics="AP", n=500)).startswith("500 queries like these 30 can detect")
    assert "(median of 6 pairs of runs; " in str(power(SCORES, metrics="AP", all_pairs=True))
    fewer = {"a": PAIR["a"], "b": PAIR["b"], "c": {q: v for q, v in SCORES["c"].items() if q > "q003"}}
    assert str(power(fewer, metrics="AP")).startswith("These queries can detect")
    assert str(power(fewer, metrics="AP", n=90)).startswith("90 queries like these can detect")


def test_the_envelope_holds_it_all() -> None:
    found = power(SCORES, metrics="AP", comparisons=3).json_document()
    assert found["schema"] == "rankscope/power/1"
    assert found["conventions"]["alpha_of_each"] == pytest.approx(0.05 / 3)
    assert len(found["results"]) == 3 * 4
    assert found["summary"][0]["pairs"] == 3
    assert power(design="t", variance=1, difference=1).rows[0]["topics"] > 1


def test_the_chart_is_of_the_first_metric_and_not_of_clusters() -> None:
    chart = power(SCORES, metrics="AP").chart("power")
    assert chart is not None
    assert {row[2] for row in chart.rows} == {"b against a", "c against a", "d against a"}
    clusters = {q: i // 3 for i, q in enumerate(SCORES["a"])}
    assert power(PAIR, metrics="AP", clusters=clusters).chart("power") is None
    assert power(deviation=0.2).chart("power") is None


def test_all_pairs_of_a_panel_are_summed_up_alike() -> None:
    found = power(SCORES, metrics="AP", all_pairs=True)
    assert found.measurements is not None
    alone, one = summary_of_all_pairs(found.measurements.panels[0]), found.summary[0]
    assert alone is not None
    assert (alone.pairs, alone.detectable_difference, alone.deviation) == (
        one.pairs,
        one.detectable_difference,
        one.deviation,
    )


def test_the_observed_difference_has_no_power_of_its_own() -> None:
    observed = power(PAIR, metrics="x")["x"].observed_target
    assert observed is not None
    assert observed.power is None
    assert observed.difference == pytest.approx(abs(float(DIFFERENCES.mean())))


def test_a_difference_is_held_against_the_widest_metric() -> None:
    """Two is no difference of metrics up to 1; it is one where a metric without an upper end is planned for, too."""
    docs = ("a", "b", "c")
    qrels = {f"q{i}": {"a": 1, "b": i % 3} for i in range(6)}
    one = {query: dict(zip(docs, (3.0, 2.0, 1.0), strict=True)) for query in qrels}
    other = {
        query: dict(zip(docs, (1.0, 2.0, 3.0) if i % 2 else (3.0, 1.0, 2.0), strict=True))
        for i, query in enumerate(qrels)
    }
    runs = {"one": one, "other": other}
    assert power(qrels, runs, ["nDCG@3", "P@3"], difference=1).reaches
    for metrics in (["nDCG@3", "P@3"], ["P@3", "nDCG@3"]):
        with pytest.raises(InputError, match=r"difference=1.5: nDCG@3|difference=1.5: P@3"):
            power(qrels, runs, metrics, difference=1.5)
    for metrics in (["nDCG@3", "DCG@3"], ["DCG@3", "nDCG@3"]):
        assert power(qrels, runs, metrics, difference=1.5).reaches


def test_clusters_are_counted_and_names_that_do_not_fit_are_told() -> None:
    found = power(PAIR, metrics="AP", clusters={q: i // 3 for i, q in enumerate(SCORES["a"])})
    assert "queries in 10 clusters. The plan is for more clusters like these" in " ".join(found.to_text().split())
    with pytest.raises(
        KeyError, match=r"name the runs and the metric, like plan\['run', 'metric'\]: there are b, a, AP"
    ):
        found["c", "AP"]


def test_what_was_noted_of_the_runs_is_told() -> None:
    lists = {name: {q: {"d": 2.0, "e": 1.0} for q in SCORES["a"]} for name in "ab"}
    del lists["b"]["q003"]
    lists["b"]["q005"] = {"e": 2.0, "d": 1.0}
    qrels = {q: {"d": 1} for q in SCORES["a"]}
    found = power(qrels, lists, "RR")
    assert found.measurements is not None
    assert list(found.notes) == list(found.measurements.notes)
    assert power(deviation=0.2).notes == ()
