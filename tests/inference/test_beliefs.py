"""Posteriors of lifts: laws of priors and mirrors, integrals of scipy, and priors that are none."""

from __future__ import annotations

import math

import pytest

from rankscope.errors import InputError
from rankscope.inference.base import Estimate
from rankscope.inference.effects import Prior, posterior_of_lift, relative_of_own

ONE, OTHER = Estimate.of(1.08, 0.5, 4000), Estimate.of(1.0, 0.4, 5000)
PRIORS = [Prior(), Prior(0.3), Prior(0.05), Prior(0.004)]
NAMES = ["flat", "wide", "usual", "narrow"]


@pytest.mark.parametrize("prior", PRIORS, ids=NAMES)
@pytest.mark.parametrize("better", ["higher", "lower"])
def test_chance_and_loss_are_integrals_of_prior_times_likelihood(prior: Prior, better: str) -> None:
    from scipy.integrate import quad
    from scipy.stats import norm

    run, base = Estimate.of(1.008, 0.5, 4000), OTHER
    error = math.hypot(run.error / run.mean, base.error / base.mean)

    def density(x: float) -> float:
        before = 1.0 if math.isinf(prior.deviation) else norm.pdf(x, 0, prior.deviation)
        return float(before * norm.pdf(math.log(run.mean / base.mean), x, error))

    whole = quad(density, -0.3, 0.3, epsabs=0, epsrel=1e-10, limit=200)[0]
    above = quad(density, 0, 0.3, epsabs=0, epsrel=1e-10)[0] / whole
    sides = {"higher": (-0.3, 0.0, 1), "lower": (0.0, 0.3, -1)}
    low, high, side = sides[better]
    loss = quad(lambda x: side * (1 - math.exp(x)) * density(x), low, high, epsabs=0, epsrel=1e-10)[0] / whole
    found = posterior_of_lift(run, base, prior, better=better)  # type: ignore[arg-type]
    assert found.chance_better == pytest.approx(above if better == "higher" else 1 - above, rel=1e-8)
    assert found.expected_loss == pytest.approx(loss, rel=1e-7)
    inside = quad(density, math.log1p(found.credible.lower), math.log1p(found.credible.upper), epsabs=0, epsrel=1e-10)
    assert inside[0] / whole == pytest.approx(0.95, rel=1e-8)


def test_a_flat_prior_gives_the_interval_of_the_lift() -> None:
    found, (value, bounds) = posterior_of_lift(ONE, OTHER, Prior()), relative_of_own(ONE, OTHER)
    assert found.credible.lower == pytest.approx(bounds.lower, abs=0.01 * value)
    assert found.credible.upper == pytest.approx(bounds.upper, abs=0.01 * value)


def test_a_very_wide_prior_is_flat() -> None:
    flat, wide = (posterior_of_lift(ONE, OTHER, prior) for prior in (Prior(), Prior(1e6)))
    assert wide.chance_better == pytest.approx(flat.chance_better, rel=1e-9)
    assert wide.expected_loss == pytest.approx(flat.expected_loss, rel=1e-6)


def test_narrower_priors_draw_towards_no_lift() -> None:
    found = [posterior_of_lift(ONE, OTHER, prior) for prior in PRIORS]
    assert [one.centre for one in found] == sorted((one.centre for one in found), reverse=True)
    assert found[-1].centre > 0
    assert all(one.deviation <= found[0].deviation for one in found)


def test_the_other_way_round_the_chance_is_what_is_left() -> None:
    here, there = posterior_of_lift(ONE, OTHER, Prior(0.1)), posterior_of_lift(OTHER, ONE, Prior(0.1))
    assert here.chance_better + there.chance_better == pytest.approx(1)
    assert (1 + here.credible.lower) * (1 + there.credible.upper) == pytest.approx(1)


def test_the_better_direction_turns_the_chance_and_not_the_lift() -> None:
    up, down = (posterior_of_lift(ONE, OTHER, Prior(0.1), better=better) for better in ("higher", "lower"))
    assert up.chance_better + down.chance_better == pytest.approx(1)
    assert up.credible == down.credible
    assert down.expected_loss - up.expected_loss == pytest.approx(math.expm1(up.centre + up.deviation**2 / 2))


def test_without_a_ratio_there_is_none() -> None:
    found = posterior_of_lift(Estimate.of(-1.0, 0.5, 10), OTHER, Prior())
    assert math.isnan(found.chance_better)
    assert found.credible.reason == "both means must be above 0"


@pytest.mark.parametrize(
    ("said", "deviation"),
    [("flat", math.inf), ("Flat", math.inf), (0.05, 0.05), ("0.05", 0.05), ("5%", 0.05), (Prior(0.1), 0.1)],
    ids=["flat", "a capital", "a number", "a text", "a share", "a prior"],
)
def test_priors_as_they_are_said(said: object, deviation: float) -> None:
    assert Prior.of(said).deviation == deviation


@pytest.mark.parametrize(
    "said", [0, -0.1, "x", True, float("nan"), float("inf"), ""],
    ids=["zero", "below zero", "a word", "yes", "no number", "without end", "nothing"],
)  # fmt: skip
def test_what_is_no_prior(said: object) -> None:
    with pytest.raises(InputError, match="a prior is 'flat', or how far lifts usually are from 0"):
        Prior.of(said)
