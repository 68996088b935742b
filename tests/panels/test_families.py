"""Several comparisons at once: corrections, their intervals, the top group, how many pairs a metric tells apart."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rankscope as rs
from rankscope.errors import InputError
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.families import TopGroup, discriminative_power
from rankscope.verbs.compare.result import Comparison

Table = dict[str, dict[str, float]]
BY_P = ("holm", "bonferroni", "bh", "none")
JOINT = ("max_t(rounds=999)", "tukey", "randomised_tukey(rounds=999)")
STATSMODELS = {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh"}


def drawn(seed: int, systems: int, queries: int = 40, step: float = 0.03) -> Table:
    """Systems of which each is a little better than the one before, on queries that are hard or easy for all."""
    draws = np.random.default_rng(seed)
    hard = draws.random(queries)
    return {
        f"s{i}": {
            f"q{j:03}": float(v)
            for j, v in enumerate(np.clip(hard + draws.normal(step * i, 0.15, queries), 0, 1).round(3))
        }
        for i in range(systems)
    }


def outside(c: Contrast) -> bool:
    return c.adjusted.known and not c.adjusted.lower <= 0 <= c.adjusted.upper


@pytest.fixture(scope="module")
def covid(shared_data: Callable[[str], Path]) -> Comparison:
    """The 24 runs of TREC-COVID's first round against a BM25."""
    folder = shared_data("trec_covid/round1/runs")
    runs = sorted(str(path) for path in folder.iterdir())
    qrels = str(shared_data("trec_covid/qrels.txt"))
    return rs.compare(qrels, runs, ["nDCG@10", "P@5"], baseline="bm25_basline")


# --- corrections ------------------------------------------------------------------------------------------


def test_holm_on_real_runs(covid: Comparison, need: Callable[[str], ModuleType]) -> None:
    need("statsmodels")
    multipletests = need("statsmodels.stats.multitest").multipletests
    assert covid.scores is not None
    for metric in covid.metrics:
        values = covid.scores.per_query.filter(metric=metric).pivot("run", index="query_id", values="value")
        mine = covid.of(metric)
        assert len(mine) == 23
        p = [stats.ttest_rel(values[c.run], values[c.baseline]).pvalue for c in mine]
        assert [c.p_value for c in mine] == pytest.approx(p, rel=1e-9)
        rejected, adjusted, *_ = multipletests(p, 0.05, "holm")
        assert [c.p_value_adjusted for c in mine] == pytest.approx(adjusted, rel=1e-9)
        assert [c.verdict in CLEAR for c in mine] == list(rejected)
        assert [outside(c) for c in mine] == list(rejected)


def test_the_top_group_of_real_runs(covid: Comparison) -> None:
    assert [group.metric for group in covid.groups] == covid.metrics
    for group in covid.groups:
        means = {c.run: c.value for c in covid.of(group.metric)}
        assert group.systems[0] == max(means, key=lambda run: means[run])
        assert group.of == 24
        assert "yn-r1-concepttext" not in group.systems
        values = [means.get(s, covid.panels[0].means[s]) for s in group.systems]
        assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("correction", STATSMODELS)
@pytest.mark.parametrize("seed", range(3))
def test_corrections_are_those_of_statsmodels(correction: str, seed: int, need: Callable[[str], ModuleType]) -> None:
    need("statsmodels")
    multipletests = need("statsmodels.stats.multitest").multipletests
    found = rs.compare(drawn(seed, 6), metrics="AP", correction=correction, all_pairs=True)
    assert len(found.contrasts) == 15
    expected = multipletests([c.p_value for c in found.contrasts], 0.05, STATSMODELS[correction])[1]
    assert [c.p_value_adjusted for c in found.contrasts] == pytest.approx(expected, rel=1e-10)


tables = st.builds(
    drawn,
    seed=st.integers(0, 10_000),
    systems=st.integers(2, 6),
    queries=st.integers(5, 25),
    step=st.sampled_from([0.0, 0.03, 0.1]),
)


@settings(max_examples=15, deadline=None)
@pytest.mark.parametrize("correction", BY_P)
@given(scores=tables, alpha=st.sampled_from([0.01, 0.05, 0.2]), all_pairs=st.booleans())
def test_interval_and_p_value_agree(correction: str, scores: Table, alpha: float, all_pairs: bool) -> None:
    found = rs.compare(scores, metrics="AP", correction=correction, alpha=alpha, all_pairs=all_pairs, test="t")
    for c in found.contrasts:
        assert outside(c) == (c.p_value_adjusted <= alpha and c.differing >= 6)
        assert (c.verdict in CLEAR) == outside(c)
        assert c.p_value_adjusted >= c.p_value
        assert c.comparisons == len(found.contrasts)


@pytest.mark.parametrize(
    "options",
    [
        *({"correction": joint} for joint in JOINT),
        {"test": "wilcoxon"},
        {"test": "permutation(rounds=500)"},
        {"test": "sign"},
        {"test": "bootstrap(rounds=500)"},
        {"test": "sign", "interval": "percentile(rounds=500)"},
        {"interval": "bca(rounds=500)", "correction": "bh"},
        {"test": "wilcoxon", "correction": "bonferroni"},
        {"test": "wilcoxon", "correction": "none"},
        {"test": "anytime"},
    ],
)
def test_no_interval_leaves_out_0_where_the_p_value_is_not_small(options: dict[str, Any]) -> None:
    for seed in range(8):
        scores = drawn(seed, 2 + seed % 4, queries=8 + 6 * seed)
        for c in rs.compare(scores, metrics="AP", **options).contrasts:
            if c.p_value_adjusted > 0.05:
                assert not outside(c)
                assert c.verdict == "cannot tell"


def test_a_family_of_all_metrics_counts_all() -> None:
    qrels = {f"q{i:02}": {"x": 1, "y": 1} for i in range(20)}
    draws = np.random.default_rng(1)
    runs = {name: {q: {d: float(draws.random()) for d in ("x", "y", "u", "v", "w")} for q in qrels} for name in "abc"}
    metrics = ["AP", "RR", "P@2"]
    by_metric = rs.compare(qrels, runs, metrics, correction="bonferroni")
    over_all = rs.compare(qrels, runs, metrics, correction="bonferroni", family="all")
    assert {c.comparisons for c in by_metric.contrasts} == {2}
    assert {c.comparisons for c in over_all.contrasts} == {6}
    for one, other in zip(by_metric.contrasts, over_all.contrasts, strict=True):
        assert one.p_value == other.p_value
        assert one.p_value_adjusted == min(1, 2 * one.p_value)
        assert other.p_value_adjusted == min(1, 6 * other.p_value)
    assert over_all.json_document()["conventions"]["family"] == "all metrics and runs"


def test_a_single_comparison_is_not_corrected() -> None:
    for correction in ("holm", "bonferroni", "bh", "none"):
        (c,) = rs.compare(drawn(3, 2), metrics="AP", correction=correction).contrasts
        assert (c.p_value_adjusted, c.adjusted, c.comparisons) == (c.p_value, c.bounds, 1)


# --- corrections over all scores ------------------------------------------------------------------------


def test_tukey_is_that_of_the_studentised_range() -> None:
    scores = drawn(2, 4, queries=20)
    found = rs.compare(scores, metrics="AP", all_pairs=True, correction="tukey")
    table = np.array([list(row.values()) for row in scores.values()])
    left = table - table.mean(axis=0) - table.mean(axis=1)[:, None] + table.mean()
    error = math.sqrt((left**2).sum() / (3 * 19) / 20)
    for c in found.contrasts:
        p = stats.studentized_range.sf(abs(c.difference) / error, 4, 3 * 19)
        assert c.p_value_adjusted == pytest.approx(p, abs=1e-10)
    reach = stats.studentized_range.ppf(0.95, 4, 3 * 19) * error
    assert found.contrasts[0].adjusted.upper - found.contrasts[0].difference == pytest.approx(reach, rel=1e-6)


@pytest.mark.parametrize("correction", JOINT)
def test_joint_corrections_keep_the_t_test_beside(correction: str) -> None:
    scores = drawn(5, 4)
    found = rs.compare(scores, metrics="AP", correction=correction)
    plain = rs.compare(scores, metrics="AP")
    assert [c.p_value for c in found.contrasts] == [c.p_value for c in plain.contrasts]
    assert [c.bounds for c in found.contrasts] == [c.bounds for c in plain.contrasts]
    for c in found.contrasts:
        assert 0 < c.p_value_adjusted <= 1
        assert outside(c) == (c.verdict in CLEAR)


def test_a_copy_of_a_run_costs_little_under_max_t() -> None:
    scores = drawn(5, 3, queries=50)
    copies = scores | {f"copy{i}": scores["s1"] for i in range(6)}
    alone = rs.compare(scores, metrics="AP", correction="max_t")["s2", "AP"]
    beside = rs.compare(copies, metrics="AP", correction="max_t")["s2", "AP"]
    assert beside.p_value_adjusted == alone.p_value_adjusted
    holm = rs.compare(copies, metrics="AP", correction="bonferroni")["s2", "AP"]
    assert holm.p_value_adjusted == pytest.approx(min(1, 8 * holm.p_value))


@pytest.mark.parametrize("correction", JOINT)
def test_equal_runs_in_joint_corrections(correction: str) -> None:
    scores = drawn(5, 3)
    found = rs.compare(scores | {"twin": scores["s0"]}, metrics="AP", correction=correction)
    twin = found["twin", "AP"]
    assert (twin.p_value, twin.p_value_adjusted, twin.verdict) == (1, 1, "same")
    assert "twin" in rs.compare(scores | {"twin": scores["s2"]}, metrics="AP", correction=correction).groups[0].systems


def test_a_run_with_gaps_changes_no_unadjusted_number_under_max_t() -> None:
    scores = drawn(4, 2)
    gaps = {"gaps": dict(list(scores["s0"].items())[:12])}
    here = rs.compare(scores, metrics="AP", correction="max_t")["s1", "AP"]
    there = rs.compare(scores | gaps, metrics="AP", correction="max_t")["s1", "AP"]
    assert (here.difference, here.queries, here.sign_flip) == (there.difference, there.queries, there.sign_flip)


def test_intervals_stay_within_what_a_difference_can_be() -> None:
    table = np.array([[1.0] * 12 + [0.0] * 2, [0.0] * 13 + [1.0]])
    for correction in ("holm", "max_t"):
        (c,) = rs.compare(table, metrics="AP", correction=correction).contrasts
        assert c.adjusted.lower >= -1


def test_joint_corrections_need_one_metric() -> None:
    with pytest.raises(InputError, match="one metric"):
        rs.compare(drawn(1, 3), metrics="AP", correction="tukey", family="all")


# --- top groups and discriminative power ----------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(scores=tables, metric=st.sampled_from(["AP", "LabelRankingLoss"]), all_pairs=st.booleans())
def test_the_top_group(scores: Table, metric: str, all_pairs: bool) -> None:
    found = rs.compare(scores, metrics=metric, all_pairs=all_pairs)
    if len(scores) < 3:
        assert found.groups == []
        return
    (group,) = found.groups
    means = {name: math.fsum(row.values()) / len(row) for name, row in scores.items()}
    best = max(means.values()) if metric == "AP" else min(means.values())
    assert means[group.systems[0]] == pytest.approx(best, abs=1e-12)
    assert group.of == len(scores)
    assert len(set(group.systems)) == len(group.systems)
    for c in found.contrasts:
        ahead, behind = (c.run, c.baseline) if c.is_gain else (c.baseline, c.run)
        if c.verdict in CLEAR and ahead == group.systems[0]:
            assert behind not in group.systems


def test_the_top_group_agrees_with_the_table_of_all_pairs(shared_data: Callable[[str], Path]) -> None:
    """The table says that run15 cannot be told apart from run70, the line below it that run70 is alone at the top."""
    path = str(shared_data("system_scores/adhoc6_ap.csv"))
    found = rs.compare(path, metrics="AP", all_pairs=True)
    (group,) = found.groups
    best = group.systems[0]
    unclear = {
        c.run if c.baseline == best else c.baseline
        for c in found.contrasts
        if best in {c.run, c.baseline} and c.verdict not in CLEAR
    }
    assert unclear <= set(group.systems)


def test_the_top_group_leaves_out_runs_behind_another_at_alpha_over_the_others() -> None:
    """Hsu's comparisons with the best, one-sided; nothing is compared with the runs that lead."""
    scores = drawn(3, 6, queries=40, step=0.05)
    (group,) = rs.compare(scores, metrics="AP", baseline="s0").groups
    values = {name: np.array([*row.values()]) for name, row in scores.items()}
    best = max(values, key=lambda name: values[name].mean())
    assert best != "s0"
    behind = {
        name
        for name, mine in values.items()
        for other in values.values()
        if name != "s0" and stats.ttest_rel(other, mine, alternative="greater").pvalue <= 0.05 / 5
    }
    assert behind
    assert set(values) - set(group.systems) - {"s0"} == behind


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh", "max_t(rounds=199)", "none"])
def test_a_baseline_that_was_chosen_by_looking_counts_all_pairs(correction: str) -> None:
    scores = drawn(3, 5, queries=30, step=0.03)
    found = rs.compare(scores, metrics="AP", baseline="best", correction=correction)
    means = {name: math.fsum(row.values()) / len(row) for name, row in scores.items()}
    assert found.baseline == max(means, key=lambda name: means[name])
    every = rs.compare(scores, metrics="AP", all_pairs=True, correction=correction)
    for c in found.contrasts:
        assert c.comparisons == 10
        of_pair = next(e for e in every.contrasts if {e.run, e.baseline} == {c.run, c.baseline})
        assert c.p_value_adjusted >= of_pair.p_value_adjusted * (1 - 1e-12)
        if correction == "bonferroni":
            assert c.p_value_adjusted == pytest.approx(min(10 * c.p_value, 1))
        assert outside(c) == (c.verdict in CLEAR)
    assert found.conventions["baseline_chosen_as_best"]
    assert not rs.compare(scores, metrics="AP", baseline=found.baseline).conventions["baseline_chosen_as_best"]


def test_a_run_that_is_called_best_is_a_baseline_like_others() -> None:
    scores = {"best" if name == "s0" else name: row for name, row in drawn(3, 5, queries=30).items()}
    assert {c.comparisons for c in rs.compare(scores, metrics="AP", baseline="best").contrasts} == {4}


def test_everyone_is_in_the_top_group_where_nothing_is_clear() -> None:
    scores = drawn(0, 4, queries=12, step=0.0)
    found = rs.compare(scores, metrics="AP", all_pairs=True)
    assert all(c.verdict == "cannot tell" for c in found.contrasts)
    assert set(found.groups[0].systems) == set(scores)


def test_the_best_may_stand_alone() -> None:
    scores = drawn(0, 3, queries=60, step=0.0)
    scores["s1"] = {q: min(1, v + 0.2) for q, v in scores["s1"].items()}
    assert rs.compare(scores, metrics="AP").groups[0].systems == ("s1",)


def test_no_top_group_without_a_direction() -> None:
    assert rs.compare(drawn(0, 3), metrics="NumRet").groups == []


@pytest.mark.parametrize("correction", ["holm", "none", "tukey"])
def test_discriminative_power_is_the_share_of_pairs_told_apart(correction: str) -> None:
    scores = drawn(3, 6, step=0.05)
    found = rs.compare(scores, metrics="AP", all_pairs=True, correction=correction)
    assert {(c.run, c.baseline) for c in found.contrasts} == {(b, a) for a, b in combinations(scores, 2)}
    clear = sum(c.p_value_adjusted <= 0.05 for c in found.contrasts)
    assert 0 < clear < 15
    assert discriminative_power(found.contrasts) == clear / 15
    assert found.json_document()["discriminative_power"] == {"AP": clear / 15}
    assert "discriminative_power" not in rs.compare(scores, metrics="AP").json_document()


def test_real_scores_of_many_systems(shared_data: Callable[[str], Path]) -> None:
    path = str(shared_data("system_scores/adhoc6_ap.csv"))
    found = rs.compare(path, metrics="AP", all_pairs=True)
    systems = len(found.systems)
    assert len(found.contrasts) == systems * (systems - 1) // 2
    assert 0.2 < discriminative_power(found.contrasts) < 0.8
    assert all(outside(c) == (c.verdict in CLEAR) for c in found.contrasts)


def test_a_joint_correction_of_equal_systems_warns_of_nothing() -> None:
    """Chance reaches everything there (an infinite multiple), and the equal pair has no error: infinity times 0."""
    scores = {name: {"q1": value, "q2": value} for name, value in (("a", 0.0), ("b", 0.0), ("c", 0.5))}
    found = rs.compare(scores, metrics="AP", correction="max_t(rounds=99)", all_pairs=True)
    assert {c.verdict for c in found.contrasts} == {"same", "cannot tell"}
    assert not any(c.adjusted.known for c in found.contrasts)


def test_who_is_first_in_words() -> None:
    assert TopGroup("AP", ("a",), 3).sentence() == "AP: a is the best of 3 runs, at 95% confidence"
    assert TopGroup("AP", ("a", "b"), 3).sentence() == "AP: a and b are statistically tied for first: 2 of 3 runs"
    assert TopGroup("AP", ("a", "b"), 2).sentence() == (
        "AP: all 2 runs are statistically tied for first; a has the highest mean"
    )
