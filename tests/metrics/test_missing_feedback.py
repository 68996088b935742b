"""Metrics of sampled candidates and of implicit feedback: on average they give the number for all data, and say what they assume."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.lists import Array
from rankscope.metrics.sampled import estimates, value_by_rank

ITEMS, NEGATIVES = 400, 30


# --- sampled candidates


def sampled_lists(ranks: Array, rng: np.random.Generator) -> list[list[int]]:
    """For each rank among all candidates, a list of the relevant item and of negatives drawn with replacement."""
    above = rng.binomial(NEGATIVES, (ranks - 1) / (ITEMS - 1))
    return [[0] * a + [1] + [0] * (NEGATIVES - a) for a in above.tolist()]


@pytest.mark.parametrize("metric", ["nDCG@10", "R@20", "AP"])
def test_estimates_are_right_on_average(metric: str) -> None:
    """If the relevant item may have any rank, the mean estimate is near the metric, and the sampled metric is far above it."""
    rng = np.random.default_rng(4)
    ranks = rng.integers(1, ITEMS + 1, 20_000)
    lists = sampled_lists(ranks, rng)
    exact = value_by_rank(rs.parse(metric), ITEMS)[ranks - 1].mean()
    spelled = f"Sampled(metric={metric!r}, items={ITEMS}, {{}})"
    found = rs.parse(spelled.format("gamma=0.01")).of(lists)
    naive = rs.parse(spelled.format("estimator='none'")).of(lists)
    assert found.mean() == pytest.approx(exact, abs=4 * found.std() / np.sqrt(len(found)))
    assert naive.mean() > 2 * exact


def test_estimates_have_the_least_bias_and_variance() -> None:
    """Any other estimate of a small case has a larger sum of squared bias and weighted variance."""
    items, negatives, gamma = 6, 3, 0.2
    chance = np.arange(items) / (items - 1)
    ways = np.array([1, 3, 3, 1])
    k = np.arange(negatives + 1)
    likely = ways * chance[:, None] ** k * (1 - chance[:, None]) ** (negatives - k)
    exact = value_by_rank(rs.parse("RR"), items)

    def cost(estimate: Array) -> float:
        mean = likely @ estimate
        variance = likely @ estimate**2 - mean**2
        return float(((mean - exact) ** 2 + gamma * variance).sum())

    best = estimates("RR", items, negatives, "bv", gamma)
    for step in np.vstack([np.eye(negatives + 1), -np.eye(negatives + 1)]) * 1e-3:
        assert cost(best) < cost(best + step)


def test_all_candidates_need_no_correction() -> None:
    """With every negative in the list, the estimated rank is the rank."""
    for rank in (1, 2, 7, 30):
        grades = [0] * (rank - 1) + [1] + [0] * (30 - rank)
        found = rs.parse("Sampled(metric='nDCG@10', items=30, estimator='rank')").of(grades)
        assert found == (rs.nDCG @ 10).of(grades)


def test_several_relevant_items_do_not_compete() -> None:
    metric = rs.parse("Sampled(metric='RR', items=9, estimator='none')")
    assert metric.of([1, 1, 0, 1]) == pytest.approx((1 + 1 + 1 / 2) / 3)


SAMPLE = {f"u{i}": [f"i{i}", *(f"n{j}" for j in range(20))] for i in range(25)}
ONE_EACH = {f"u{i}": {f"i{i}": 1} for i in range(25)}


def test_a_sampled_metric_without_a_label_is_refused() -> None:
    with pytest.raises(rs.InputError, match=r"write Sampled\(metric='nDCG@10', items=N\)"):
        rs.evaluate(ONE_EACH, SAMPLE, "nDCG@10", candidates="sampled")
    found = rs.evaluate(ONE_EACH, SAMPLE, "Sampled(metric='nDCG@10', items=1000)", candidates="sampled")
    assert "estimated for 1,000 candidates" in found.request.small_print()
    assert "uniform sample" in found.request.small_print()


def test_lists_that_look_sampled_are_named() -> None:
    def codes(qrels: object, run: object, metric: str = "nDCG@10") -> set[str]:
        return {warning.code for warning in rs.evaluate(qrels, run, metric).warnings}

    assert "RS341" in codes(ONE_EACH, SAMPLE)
    assert "RS341" in {finding.code for finding in rs.check(ONE_EACH, SAMPLE).findings}
    assert "RS341" not in codes(ONE_EACH, SAMPLE, "Sampled(metric='nDCG@10', items=1000)")
    assert "RS341" not in codes(ONE_EACH, SAMPLE | {"u0": [f"n{j}" for j in range(21)]})  # a relevant item is missing
    assert "RS341" not in codes(ONE_EACH, SAMPLE | {"u0": SAMPLE["u0"][:-1]})  # another length
    assert "RS341" not in codes(ONE_EACH | {"u0": {"i0": 1, "n1": 1}}, SAMPLE)


# --- propensities

N = 60
BOUGHT = {f"v{i}": [f"i{j}" for j in range(N) if i < 200 / (1 + j)] for i in range(200)}


def test_weights_undo_the_bias_to_popular_items() -> None:
    """Users like items of all kinds, and popular likes are observed more often; the run finds popular items only."""
    rng = np.random.default_rng(9)
    propensity = 1 / (1 + np.arange(N) / 10)
    run, qrels, true = {}, {}, []
    for user in range(3_000):
        liked = rng.choice(
            N, 5, replace=False
        )  # few are observed: SNIPS of each user by itself stays near the plain mean
        shown = np.argsort(np.arange(N) + rng.normal(0, 10, N))[:20]
        true.append(np.isin(liked, shown).mean())
        seen = [i for i in liked.tolist() if rng.random() < propensity[i]]
        if seen:
            run[f"u{user}"], qrels[f"u{user}"] = [f"i{i}" for i in shown], {f"i{i}": 1 for i in seen}
    items = {f"i{i}": {"propensity": p} for i, p in enumerate(propensity.tolist())}
    scores = rs.evaluate(qrels, run, ["R@20", "SNIPS(metric='R@20', propensity='items')"], items=items, mean="micro")
    plain, weighted = scores.means["value"].to_list()
    assert plain > np.mean(true) + 0.15
    assert weighted == pytest.approx(np.mean(true), abs=0.03)


def test_special_cases() -> None:
    """Without preference for popular items SNIPS is a plain mean; a propensity of 1 for all makes IPS one."""
    qrels, run = {"v1": {"i3": 1, "i9": 1}, "v2": {"i4": 1}}, {"v1": ["i3", "i5", "i9"], "v2": ["i5", "i6"]}
    found = rs.evaluate(
        qrels, run, ["SNIPS(metric='R@2', gamma=-1)", "IPS(metric='R@2', clip=1)", "R@2"], history=BOUGHT
    )
    assert found["SNIPS(metric='R@2', gamma=-1)"] == found["IPS(metric='R@2', clip=1)"] == found["R@2"]


def test_the_power_law_of_popularity() -> None:
    """i0 has 200 users, i9 20: with gamma 1, its propensity is 0.1."""
    scores = rs.evaluate(
        {"v1": {"i0": 1, "i9": 1}},
        {"v1": ["i9"]},
        ["SNIPS(metric='R@1', gamma=1)", "IPS(metric='R@1', gamma=1)", "ESS(gamma=1)"],
        history=BOUGHT,
    )
    assert scores["SNIPS(metric='R@1', gamma=1)"] == pytest.approx(10 / 11)
    assert scores["IPS(metric='R@1', gamma=1)"] == pytest.approx(10 / 2)
    assert scores["EffectiveSize(gamma=1)"] == pytest.approx(11**2 / (1 + 100) / 2)


def test_a_fitted_gamma_is_the_slope() -> None:
    """Exposures that grow with popularity^1.5 give the numbers of gamma=1.5."""
    popularity = {f"i{j}": sum(f"i{j}" in items for items in BOUGHT.values()) for j in range(N)}
    items = {item: {"exposures": 3 * count**1.5} for item, count in popularity.items()}
    names = ["SNIPS(metric='RR', gamma='fitted')", "SNIPS(metric='RR', gamma=1.5)"]
    found = rs.evaluate({"v1": {"i0": 1, "i9": 1}}, {"v1": ["i1", "i9", "i0"]}, names, items=items, history=BOUGHT)
    fitted, given = found.means["value"].to_list()
    assert fitted == pytest.approx(given)


def test_the_output_names_the_assumption() -> None:
    found = rs.evaluate({"v1": {"i0": 1}}, {"v1": ["i0"]}, "SNIPS(metric='R@1')", history=BOUGHT)
    assert "missing not at random" in found.request.small_print()


BAD: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "no propensities": (
        lambda: {"items": {"a": {"x": "y"}, "b": {"x": "y"}}},
        "no column propensity; add items= with its chance to be observed",
    ),
    "a judged item without a row": (
        lambda: {"items": {"b": {"propensity": 0.5}, "c": {"propensity": 0.5}}},
        "judged and has no row",
    ),
    "an item without a propensity": (
        lambda: {"items": {"a": {"propensity": None}, "b": {"propensity": 0.5}}},
        "item 'a' is missing or not above 0",
    ),
    "a propensity above 1": (
        lambda: {"items": {"a": {"propensity": 2.0}, "b": {"propensity": 0.5}}},
        "a propensity is at most 1",
    ),
    "a propensity in words": (
        lambda: {"items": {"a": {"propensity": "high"}}},
        "propensity of an item must be a number",
    ),
}


@pytest.mark.parametrize(("given", "message"), BAD.values(), ids=BAD)
def test_refused_propensities(given: Callable[[], dict[str, Any]], message: str) -> None:
    with pytest.raises(rs.RankscopeError, match=message):
        rs.evaluate({"q": {"a": 1}}, {"q": ["b"]}, "SNIPS(metric='R@1', propensity='items')", **given())


@pytest.mark.parametrize("metric", ["nDGC", "AUC", "ILD", "FallOut@5", "GMAP"])
def test_refused_metrics(metric: str) -> None:
    with pytest.raises(rs.InputError):
        rs.parse(f"SNIPS(metric={metric!r})")
