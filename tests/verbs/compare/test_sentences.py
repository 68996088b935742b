"""Verdicts in words: they say what the numbers say, and never contradict themselves."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rankscope as rs
from rankscope.inference.paired import share_of_wins
from rankscope.panels.contrast import Contrast

INTERVAL = re.compile(r"interval (−?[\d.]+) to (−?[\d.]+)")


def one(low: Any, high: Any, metric: str = "nDCG@10", **options: Any) -> Contrast:
    (found,) = rs.compare({"bm25": list(low), "hybrid": list(high)}, metrics=metric, **options).contrasts
    return found


def drawn(systems: int, queries: int = 40, step: float = 0.0, seed: int = 0) -> dict[str, list[float]]:
    draws = np.random.default_rng(seed)
    hard = draws.random(queries) * 0.6
    return {f"s{i}": np.clip(hard + step * i + draws.normal(0.1, 0.1, queries), 0, 1).tolist() for i in range(systems)}


def test_a_clear_verdict_in_full() -> None:
    low = [0.5] * 10
    high = [0.75] * 6 + [0.25] * 1 + [0.5] * 3
    found = one(low, high)
    half = 2.2621571628 * np.std(np.array(high) - low, ddof=1) / np.sqrt(10)  # the quantile of t with 9
    assert found.sentence() == (
        f"No clear difference between hybrid and bm25 on nDCG@10 (+0.125, 95% interval −{half - 0.125:.3f} to {0.125 + half:.3f}, "
        f"p = {found.p_value:.3f}). 10 queries can detect about {found.detectable.difference:.3f}."
    )
    clear = one(low * 2, [0.75] * 14 + [0.25] * 2 + [0.5] * 4)
    gains = np.array([0.25] * 14 + [-0.25] * 2 + [0.0] * 4)
    half = 2.0930240544 * gains.std(ddof=1) / np.sqrt(20)
    assert clear.sentence() == (
        f"hybrid beats bm25 on nDCG@10 by 0.150 (95% interval {0.15 - half:.3f} to {0.15 + half:.3f}, p < 0.001; "
        "better on 14 queries, worse on 2, unchanged on 4)."
    )


def test_a_loss_is_told_with_a_positive_number_and_its_interval() -> None:
    low, high = [0.25] * 20, [0.5 + i / 100 for i in range(20)]
    loss = one(high, low).sentence()
    assert loss.startswith("hybrid loses to bm25 on nDCG@10 by 0.345 (95% interval 0.")
    ends = INTERVAL.search(loss)
    assert ends is not None
    assert 0 < float(ends[1]) < 0.345 < float(ends[2])


def test_lower_is_better_is_told_as_better() -> None:
    text = one([0.5] * 20, [0.2 + i / 100 for i in range(20)], "LabelRankingLoss").sentence()
    assert text.startswith("hybrid beats bm25 on LabelRankingLoss by 0.205 (95% interval 0.")


def test_no_direction_is_told_as_higher_and_lower() -> None:
    few, many = [10 + i % 2 for i in range(20)], [20 + i % 3 for i in range(20)]
    assert one(few, many, "NumRet").sentence().startswith("hybrid is higher than bm25 on NumRet by ")
    assert one(many, few, "NumRet").sentence().startswith("hybrid is lower than bm25 on NumRet by ")


def test_other_verdicts() -> None:
    row = [i / 20 for i in range(20)]
    assert one(row, row).sentence() == "hybrid and bm25 score the same on nDCG@10, on each of 20 queries."
    few = one(row, [0.9, *row[1:]]).sentence()
    assert "only 1 of 20 queries differs" in few
    assert "fewer than 6 cannot show one (p = 1.00)" in few
    wiggled = [v + (-1) ** i / 1000 for i, v in enumerate(row)]
    same = one(row, wiggled, margin=0.01).sentence()
    assert same.startswith("hybrid and bm25 are practically the same on nDCG@10 (90% interval ")
    assert "within ±0.01" in same
    above = [v + 0.02 + 0.1 * (-1) ** i for i, v in enumerate(row)]
    assert (
        one(row, above, margin=0.03)
        .sentence()
        .startswith("hybrid is not worse than bm25 on nDCG@10 by 0.03 or more (p = ")
    )


def test_several_comparisons_carry_the_adjusted_interval() -> None:
    found = rs.compare(drawn(4, step=0.03), metrics="AP")
    for c in found.contrasts:
        text = c.sentence()
        assert ", Holm-corrected for 3 comparisons" in text
        ends = INTERVAL.search(text)
        assert ends is not None
        low, high = sorted((abs(c.adjusted.lower), abs(c.adjusted.upper)))
        shown = sorted((abs(number(ends[1])), abs(number(ends[2]))))
        assert shown == pytest.approx([low, high], abs=6e-4)


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def told(text: str) -> tuple[float, float] | None:
    found = INTERVAL.search(text)
    return (number(found[1]), number(found[2])) if found else None


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    queries=st.integers(2, 40),
    systems=st.integers(2, 4),
    step=st.sampled_from([0.0, 0.02, 0.1]),
    correction=st.sampled_from(["holm", "bonferroni", "bh", "none"]),
)
def test_sentences_do_not_contradict_themselves(
    seed: int, queries: int, systems: int, step: float, correction: str
) -> None:
    found = rs.compare(drawn(systems, queries, step, seed), metrics="AP", correction=correction)
    for c in found.contrasts:
        text = c.sentence()
        ends = told(text)
        assert text.endswith(".")
        assert "\n" not in text
        assert "nan" not in text
        if " beats " in text or " loses to " in text:
            assert c.p_value_adjusted <= 0.05
            assert ends is None or 0 < ends[0] <= abs(c.difference) + 6e-4 <= ends[1] + 1.2e-3
        if "No clear difference" in text and ends is not None:
            assert ends[0] <= 0 <= ends[1]


def test_a_single_comparison_does_not_contradict_its_interval() -> None:
    """The t interval may leave out 0 where the signed ranks do not."""
    contradicted = []
    for seed in range(400):
        draws = np.random.default_rng(seed)
        c = one([0.5] * 12, np.clip(0.5 + draws.normal(0.05, 0.1, 12), 0, 1), test="wilcoxon")
        ends = told(c.sentence())
        if c.verdict == "cannot tell" and ends is not None and not ends[0] <= 0 <= ends[1]:
            contradicted.append(seed)
    assert contradicted == []


@pytest.mark.parametrize(("alpha", "level"), [(0.00001, "99.999%"), (0.00002, "99.998%")])
def test_the_level_is_told_as_it_is(alpha: float, level: str) -> None:
    c = one([0.5] * 20, [0.6 + i / 100 for i in range(20)], alpha=alpha)
    assert f"{level} interval" in c.sentence()


@pytest.mark.parametrize(
    ("alpha", "level"), [(0.05, "95%"), (0.1, "90%"), (0.01, "99%"), (0.001, "99.9%"), (0.025, "97.5%")]
)
def test_usual_levels(alpha: float, level: str) -> None:
    c = one([0.5] * 20, [0.6 + i / 100 for i in range(20)], alpha=alpha)
    assert f"({level} interval" in c.sentence()


def test_the_primary_metric_leads() -> None:
    qrels = {f"q{i:02}": {"good": 1} for i in range(20)}
    draws = np.random.default_rng(2)
    runs = {
        name: {q: {d: float(draws.random()) for d in ("good", "x", "y", "z")} for q in qrels} for name in ("a", "b")
    }
    found = rs.compare(qrels, runs, ["RR", "P@1"], primary="P@2")
    assert found.metrics == ["P@2", "RR", "P@1"]
    text = str(found)
    assert "on P@2" in text
    assert text.index("P@2") < text.index("RR:") < text.index("P@1:")
    assert found.primary_declared


def test_many_runs_are_counted() -> None:
    scores = drawn(6, step=0.06)
    found = rs.compare(scores, metrics="AP")
    (text,) = found.sentences()
    better = [c.run for c in found.contrasts if c.verdict == "better"]
    worse = sum(c.verdict == "worse" for c in found.contrasts)
    assert text.startswith(f"Of 5 runs compared with s0 on AP: {len(better)} better (")
    assert f"{worse} worse" in text
    assert f"{5 - len(better) - worse} without a clear difference (Holm-corrected for 5 comparisons)." in text
    pairs = rs.compare(scores, metrics="AP", all_pairs=True)
    clear = sum(c.verdict in {"better", "worse"} for c in pairs.contrasts)
    assert (
        str(pairs)
        == f"Of 15 pairs of 6 runs, AP shows a clear difference on {clear} ({clear / 15:.0%}, Holm-corrected for 15 comparisons)."
    )


def test_of_many_runs_the_best_and_of_many_pairs_the_furthest_apart_come_first() -> None:
    scores = drawn(6, step=0.06)
    found = rs.compare(scores, metrics="AP")
    (text,) = found.sentences()
    better = sorted((c for c in found.contrasts if c.verdict == "better"), key=lambda c: c.difference, reverse=True)
    assert f"{len(better)} better ({better[0].run}, {better[1].run}" in text
    pairs = rs.compare(scores, metrics="AP", all_pairs=True)
    widest = max(pairs.contrasts, key=lambda c: abs(c.difference))
    table = pairs.to_text().partition(" run ")[2].splitlines()
    assert {widest.run, widest.baseline} == set(table[1].split()[:2])


def test_many_runs_on_a_metric_without_a_direction() -> None:
    scores = {f"s{i}": [10.0 * i + j % 3 for j in range(20)] for i in range(6)}
    found = rs.compare(scores, metrics="NumRet")
    assert all(c.verdict == "different" for c in found.contrasts)
    assert "5 without a clear difference" not in str(found)


def test_many_runs_that_are_practically_the_same() -> None:
    base = drawn(1)["s0"]
    scores = {f"s{i}": [v + ((-1) ** j) * i / 10_000 for j, v in enumerate(base)] for i in range(6)}
    found = rs.compare(scores, metrics="AP", margin=0.01)
    assert all(c.verdict == "equivalent" for c in found.contrasts)
    assert "5 without a clear difference" not in str(found)


def test_what_every_look_leaves_open() -> None:
    found = one([0.5] * 60, [0.5 + (i % 7 - 3) / 50 for i in range(60)], interval="anytime").sentence()
    assert found.endswith("p = 1.00); add queries and look again.")


def test_a_mean_and_a_test_that_point_apart() -> None:
    low, high = [0.5] * 60, [0.51] * 50 + [0.1] * 10
    for test in ("sign", "wilcoxon"):
        assert (
            f"−0.058 in the mean, but {test} sees most differences go the other way"
            in one(low, high, test=test).sentence()
        )
    agreed = one(low, [0.5 + (i % 7 - 3) / 50 for i in range(60)], test="wilcoxon").sentence()
    assert "the other way" not in agreed


@pytest.mark.parametrize(
    ("step", "wiggle", "margin", "said"),
    [
        pytest.param(0.0, 0.001, 0.01, "nDCG@10: practically the same (90% interval ", id="the same"),
        pytest.param(0.02, 0.1, 0.03, "nDCG@10: not worse by 0.03 or more (p = ", id="not worse"),
        pytest.param(0.0, 0.0, 0.03, "nDCG@10: the same on every query.", id="equal"),
        pytest.param(0.1, 0.01, None, "nDCG@10: better by 0.100 (95% interval ", id="better"),
    ],
)
def test_beside_the_sentence_of_another_metric(step: float, wiggle: float, margin: float | None, said: str) -> None:
    row = [i / 20 for i in range(20)]
    found = one(row, [v + step + wiggle * (-1) ** i for i, v in enumerate(row)], margin=margin)
    assert found.short_sentence().startswith(said)


def test_the_one_query_and_each_of_two() -> None:
    assert one([0.5], [0.5]).sentence().endswith("on the one query.")
    assert one([0.5, 0.25], [0.5, 0.25]).sentence().endswith("on each of 2 queries.")


def test_limits_lead_the_verdict_and_what_is_beyond_them_says_so() -> None:
    """The best within the limit first, whatever is better beyond it."""
    steps = {"a": 0.0, "b": 0.1, "c": 0.2}
    scores = {name: {f"q{i}": 0.3 + by + 0.01 * i * by for i in range(12)} for name, by in steps.items()}
    costs = {"a": {"ms": 10}, "b": {"ms": 100}, "c": {"ms": 101}}
    first, *others = rs.compare(scores, metrics="AP", costs=costs, limits={"ms": 100}).sentences()
    assert first == "Best with ms <= 100: b (of 2 runs within the limit); better, but beyond it: c (ms 101)."
    assert [text.startswith("Beyond the limit (ms 101): c beats a") for text in others] == [False, True]
    first, *_ = rs.compare(scores, metrics="AP", costs=costs, limits={"ms": 101}).sentences()
    assert first == "Best with ms <= 101: c (of 3 runs within the limit)."


def test_nothing_falls_by_more_than_all_of_it() -> None:
    """Scores from 0 on cannot fall by more than 100%, whatever a formula for their ratio says; others can."""
    low = {f"q{i}": 0.5 * (i == 0) for i in range(9)}
    high = {f"q{i}": 0.6 + 0.05 * i - 0.5 * (i == 3) for i in range(9)}
    found = {m: rs.compare({"high": high, "low": low}, metrics=m).contrasts[0].relative[1] for m in ("AP", "profit")}
    assert found["profit"].lower < -1
    assert found["AP"].lower == -1
    assert found["AP"].upper == found["profit"].upper


# --- the test, and the interval that goes with it


def test_a_test_other_than_t_is_named_with_its_p_value() -> None:
    low, high = [0.1] * 20, [0.2 + i / 100 for i in range(20)]
    assert "p < 0.001 by Wilcoxon's signed-rank test" in one(low, high, test="wilcoxon").sentence()
    assert " by " not in one(low, high).sentence().partition("(")[2]
    assert "95% t interval" in one(low, high, test="permutation").sentence()


def test_a_sign_test_has_the_interval_of_the_share_of_wins() -> None:
    low, high = [0.5] * 20, [0.6] * 17 + [0.45] * 3
    found = stats.binomtest(17, 20).proportion_ci(0.95, method="exact")
    text = one(low, high, test="sign").sentence()
    assert (
        f"better on 85.0% of differing queries, 95% interval {100 * found.low:.1f}% to {100 * found.high:.1f}%" in text
    )
    assert "by the sign test" in text


@pytest.mark.parametrize(("wins", "losses"), [(9, 1), (8, 2), (15, 5), (14, 6), (16, 5), (0, 7), (30, 30)])
def test_the_interval_of_wins_excludes_one_half_if_the_sign_test_is_clear(wins: int, losses: int) -> None:
    p_value = stats.binomtest(wins, wins + losses).pvalue
    found = share_of_wins(wins, losses)
    assert (p_value <= 0.05) == (not found.lower <= 0.5 <= found.upper)
