"""Reproduced runs: laws, formulas of Breuer et al. (2020) by scipy, and wrong input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.made.results import world

import rankscope as rs
from rankscope.errors import DataError, InputError

QRELS, RUNS = world()
BASE, GOOD, OTHER = RUNS["base"], RUNS["good"], {**RUNS["other"], "q03": RUNS["base"]["q03"]}
ROUNDING = 1e-12


def ranked(run: dict[str, dict[str, float]], query: str) -> list[str]:
    """The documents of a query as trec_eval orders them."""
    return sorted(run[query], key=lambda doc: (run[query][doc], doc), reverse=True)


def test_a_run_reproduces_itself() -> None:
    found = rs.reproduce(GOOD, GOOD, "AP RR", qrels=QRELS, original_baseline=BASE, baseline=BASE, depth_of_overlap=30)
    assert all(one.same for one in found.by_query)
    assert (found.tau, found.tau_shared, found.rbo) == pytest.approx((1, 1, 1))
    for effect in found.effects:
        assert (effect.rmse, effect.nrmse, effect.relative) == (0, 0, 0)
        assert effect.ratio == 1


def test_turned_rankings_are_as_far_as_can_be() -> None:
    found = rs.reproduce({"q": ["a", "b", "c"]}, {"q": ["c", "b", "a"]})
    assert (found.tau, found.tau_shared) == (-1, -1)


def test_which_run_is_the_original_does_not_matter_to_distances() -> None:
    one, other = (rs.reproduce(*pair, "AP", qrels=QRELS) for pair in ((GOOD, BASE), (BASE, GOOD)))
    assert (one.tau, one.tau_shared, one.rbo) == pytest.approx((other.tau, other.tau_shared, other.rbo))
    assert one["AP"].rmse == pytest.approx(other["AP"].rmse)
    assert one["AP"].contrast.p_value == pytest.approx(other["AP"].contrast.p_value)


def test_orders_are_those_of_the_formulas() -> None:
    found = rs.reproduce(GOOD, BASE, depth_of_overlap=10, p=0.8)
    for one in found.by_query:
        first, second = ranked(GOOD, one.query_id)[:10], ranked(BASE, one.query_id)[:10]
        union = sorted({*first, *second})
        tau = stats.kendalltau([union.index(doc) for doc in first], [union.index(doc) for doc in second]).statistic
        assert one.tau == pytest.approx(tau, abs=ROUNDING)
        both = [doc for doc in first if doc in second]
        if len(both) < 2:
            assert np.isnan(one.tau_shared)
            continue
        shared = stats.kendalltau([first.index(doc) for doc in both], [second.index(doc) for doc in both]).statistic
        assert one.tau_shared == pytest.approx(shared, abs=ROUNDING, nan_ok=True)
        weights = 0.8 ** np.arange(10)
        agree = [len({*first[:k]} & {*second[:k]}) / k for k in range(1, 11)]
        assert one.rbo == pytest.approx((weights * agree).sum() / weights.sum(), abs=ROUNDING)


def test_values_and_effects_are_those_of_the_formulas() -> None:
    found = rs.reproduce(GOOD, OTHER, ["AP", "nDCG@10"], qrels=QRELS, original_baseline=BASE, baseline=BASE)
    scores = rs.evaluate(QRELS, {"good": GOOD, "other": OTHER, "base": BASE}, ["AP", "nDCG@10"])
    for metric in ("AP", "nDCG@10"):
        good, other, base = (np.array([scores[run, q, metric] for q in QRELS]) for run in ("good", "other", "base"))
        effect = found[metric]
        assert effect.rmse == pytest.approx(np.sqrt(((good - other) ** 2).mean()), abs=ROUNDING)
        assert effect.nrmse == pytest.approx(
            effect.rmse / np.sqrt((np.maximum(good, 1 - good) ** 2).mean()), abs=ROUNDING
        )
        assert effect.contrast.p_value == pytest.approx(stats.ttest_rel(good, other).pvalue, abs=ROUNDING)
        assert effect.ratio == pytest.approx((other - base).mean() / (good - base).mean(), abs=ROUNDING)
        ours = (good.mean() - base.mean()) / base.mean() - (other.mean() - base.mean()) / base.mean()
        assert effect.relative == pytest.approx(ours, abs=ROUNDING)


def test_an_original_without_an_effect_has_no_ratio() -> None:
    found = rs.reproduce(BASE, GOOD, "AP", qrels=QRELS, original_baseline=BASE, baseline=BASE)
    assert np.isnan(found["AP"].ratio)
    assert "ratio is undefined" in found.to_text().replace("\n ", " ")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"baseline": BASE}, "two baselines"), ({"original_baseline": BASE, "baseline": BASE}, "needs judgments"),
        ({"p": 1}, "above 0 and below 1"), ({"depth_of_overlap": 0}, "at least 1"), ({"depht": 3}, "depht"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        rs.reproduce(GOOD, OTHER, **given)


def test_runs_of_other_queries_are_refused() -> None:
    with pytest.raises(DataError, match="share no query"):
        rs.reproduce({"q1": ["a"]}, {"Q1": ["a"]})


def test_an_unknown_metric_names_those_that_were_computed() -> None:
    with pytest.raises(KeyError, match="there are AP"):
        rs.reproduce(GOOD, OTHER, "AP", qrels=QRELS)["RR"]


def test_queries_of_one_run_alone_are_counted() -> None:
    found = rs.reproduce({"q1": ["a"], "q2": ["b"], "q3": ["c"]}, {"q1": ["a"], "q4": ["d"]})
    assert found.alone == (2, 1)
    assert "Left out of this, as ranked by one run: 2 queries by original alone and 1 query by mine alone." in [
        *found.sentences()
    ]
    assert rs.reproduce(GOOD, GOOD).alone == (0, 0)
