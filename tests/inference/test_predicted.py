"""Prediction-powered means: people alone without a model, exact arithmetic, the limits of a perfect and of a useless model, and coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankscope.inference.intervals import t
from rankscope.inference.predicted import PowerTuning, Predictions
from rankscope.lists import Array


def drawn(seed: int, people: int, others: int, noise: float) -> Predictions:
    draws = np.random.default_rng(seed)
    truth = np.where(draws.random(people + others) < 0.25, 0.0, draws.beta(2, 2, people + others))
    model = np.clip(truth + noise * draws.normal(size=people + others) + 0.1, 0, 1)
    return Predictions(truth[:people], model[:people], model[people:])


def test_the_mean_is_that_of_people_plus_the_share_of_what_the_model_sees_elsewhere() -> None:
    values = drawn(1, 20, 100, 0.2)
    found = PowerTuning.of(values)
    slope = np.cov(values.people, values.model)[0, 1] / np.var(values.model, ddof=1)
    assert found.share == pytest.approx(slope * 100 / 120)
    expected = values.people.mean() + found.share * (values.others.mean() - values.model.mean())
    assert found.sample(values).mean == pytest.approx(expected)


def test_the_error_is_of_both_sets() -> None:
    values = drawn(1, 20, 100, 0.2)
    found = PowerTuning.of(values)
    residual = values.people - found.share * values.model
    around = values.model - values.model.mean()
    leverage = 1 / 20 + around**2 / (around**2).sum()
    errors = (residual - residual.mean()) / (1 - leverage)
    first = ((errors - errors.mean()) ** 2).sum() / 20**2
    second = found.share**2 * values.others.var(ddof=1) / 100
    assert found.sample(values).error == pytest.approx(math.sqrt(first + second))


@pytest.mark.parametrize("values", [
    Predictions(np.array([0.1, 0.5, 0.9]), np.array([0.5, 0.5, 0.5]), np.array([0.1, 0.2, 0.9])),
    Predictions(np.array([0.1, 0.5, 0.9]), np.array([0.9, 0.5, 0.1]), np.array([0.1, 0.2, 0.9])),
    Predictions(np.array([0.1, 0.5, 0.9]), np.array([0.1, 0.5, 0.9]), np.array([0.3])),
], ids=["a constant model", "a model that is wrong way round", "one other query"])  # fmt: skip
def test_people_alone_decide_if_the_model_is_of_no_use(values: Predictions) -> None:
    found = PowerTuning.of(values)
    ours, people = (
        t().of(found.sample(values)),
        t().of(found.sample(Predictions(values.people, values.people, np.empty(0)))),
    )
    error = values.people.std(ddof=1) / math.sqrt(3)
    assert found.share == 0
    assert ours.lower == people.lower == pytest.approx(0.5 - 4.302652729911275 * error)


def test_an_unrelated_model_costs_little_and_a_good_one_saves_much() -> None:
    draws = np.random.default_rng(2)
    good = drawn(3, 50, 1000, 0.05)
    noise = Predictions(good.people, draws.random(50), draws.random(1000))
    alone = good.people.std(ddof=1) / math.sqrt(50)
    assert PowerTuning.of(good).sample(good).error < 0.4 * alone
    assert PowerTuning.of(noise).sample(noise).error < 1.06 * alone


def test_differences_and_both_values_of_a_pair_agree() -> None:
    one, other = drawn(4, 30, 200, 0.2), drawn(5, 30, 200, 0.2)
    found = PowerTuning.of(one - other)
    run, baseline, difference = (found.sample(part).mean for part in (one, other, one - other))
    assert run - baseline == pytest.approx(difference)


@pytest.mark.parametrize(("people", "noise"), [(30, 0.1), (50, 0.25), (100, 0.5)])
def test_intervals_hold_the_truth_as_often_as_they_state(people: int, noise: float) -> None:
    truth, rounds, hits = 0.75 * 0.5, 600, 0

    def holds(seed: int) -> bool:
        values = drawn(seed, people, 300, noise)
        bounds = t().of(PowerTuning.of(values).sample(values))
        return bool(bounds.lower <= truth <= bounds.upper)

    hits = sum(holds(1000 + seed) for seed in range(rounds))
    assert 95 - 3 * 0.89 <= 100 * hits / rounds <= 95 + 3 * 0.89  # the standard error of 600 rounds is 0.89


def of(values: Array) -> Predictions:
    return Predictions(values, values, values)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_queries_have_no_interval_or_that_of_people(count: int) -> None:
    values = of(np.linspace(0.2, 0.4, count))
    bounds = t().of(PowerTuning.of(values).sample(values))
    assert bounds.known == (count == 2)
