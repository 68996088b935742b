"""Looks that were planned: boundaries as published, p-values that agree with intervals, and errors within alpha."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.inference.base import Estimate, Sample
from rankscope.inference.sequences import group_sequential as interval
from rankscope.inference.sequential import critical, group_sequential, power_at_looks, spent

# two-sided, alpha 5%, equally spaced: Jennison and Turnbull, Group Sequential Methods, 2000, and gsDesign's sfLDOF and sfLDPocock
PUBLISHED = {
    ("obrien_fleming", 2): (2.9626, 1.9686),
    ("obrien_fleming", 3): (3.7103, 2.5114, 1.9930),
    ("obrien_fleming", 5): (4.8769, 3.3569, 2.6803, 2.2898, 2.0310),
    ("pocock", 2): (2.1570, 2.2010),
    ("pocock", 5): (2.4380, 2.4268, 2.4101, 2.3966, 2.3859),
}


@pytest.mark.parametrize(("spending", "looks"), PUBLISHED, ids=lambda part: f"{part}")
def test_boundaries_are_the_published_ones(spending: str, looks: int) -> None:
    assert critical(looks, looks, 0.05, spending) == pytest.approx(PUBLISHED[spending, looks], abs=6e-4)


@pytest.mark.parametrize("spending", ["obrien_fleming", "pocock"])
def test_one_look_is_a_single_test_and_all_is_spent_at_the_end(spending: str) -> None:
    assert critical(1, 1, 0.05, spending)[0] == pytest.approx(1.959964, abs=1e-5)
    assert spent(1.0, 0.05, spending) == pytest.approx(0.05)
    parts = [spent(part, 0.05, spending) for part in (0.1, 0.4, 0.7, 1.0)]
    assert parts == sorted(parts)


@pytest.mark.parametrize("look", [1, 2, 4])
def test_the_p_value_is_where_the_interval_ends_at_0(look: int) -> None:
    found = Estimate(0.3, 0.1, 500, 502, 2.0)
    test = group_sequential(look=look, looks=4)
    p = test.p_value(found)
    bounds = interval(look=look, looks=4).of(found, 1 - p)
    assert bounds.lower == pytest.approx(0.0, abs=1e-5)


def test_a_plan_of_looks_errs_no_more_often_than_alpha() -> None:
    rng = np.random.default_rng(5)
    sums = rng.normal(size=(20_000, 5)).cumsum(axis=1) / np.sqrt(np.arange(1, 6))
    for spending in ("obrien_fleming", "pocock"):
        ends = np.array(critical(5, 5, 0.05, spending))
        rejected = (np.abs(sums) > ends).any(axis=1).mean()
        assert rejected == pytest.approx(0.05, abs=3 * math.sqrt(0.05 * 0.95 / 20_000))
    assert (np.abs(sums) > 1.96).any(axis=1).mean() > 0.12  # a single test, repeated


def test_what_cannot_be_told() -> None:
    assert group_sequential().p_value(Sample(np.zeros(5))) == 1.0
    assert math.isnan(group_sequential().p_value(Sample(np.array([0.3]))))
    assert not interval().of(Sample(np.array([0.3]))).known
    with pytest.raises(InputError, match="look is at most looks"):
        group_sequential(look=3, looks=2)


@pytest.mark.parametrize("count", [5, 30, 400])
def test_one_planned_look_is_the_t_test(count: int) -> None:
    from rankscope.inference.intervals import t as t_interval
    from rankscope.inference.paired import t

    sample = Sample(np.random.default_rng(count).normal(0.2, 1, count))
    assert group_sequential().p_value(sample) == pytest.approx(t().p_value(sample), rel=1e-5)
    ours, theirs = interval().of(sample), t_interval().of(sample)
    assert (ours.lower, ours.upper) == pytest.approx((theirs.lower, theirs.upper), rel=1e-5)


@pytest.mark.parametrize("spending", ["obrien_fleming", "pocock"])
def test_looks_that_users_add_to_have_parts_of_alpha_that_sum_to_it(spending: Any) -> None:
    """The bound of Bonferroni: whatever the correlation of the looks, they err together no more often than alpha."""
    from scipy.stats import norm

    limits = [group_sequential(look=look, looks=5, spending=spending, adding=True).reach(0.05) for look in range(1, 6)]
    assert sum(2 * norm.sf(limits)) == pytest.approx(0.05, rel=1e-9)
    usual = [group_sequential(look=look, looks=5, spending=spending).reach(0.05) for look in range(1, 6)]
    assert all(limit >= one - 1e-6 for limit, one in zip(limits, usual, strict=True))


def test_planned_looks_at_users_who_come_back_are_those_of_users_who_add() -> None:
    draws = np.random.default_rng(12)
    table = pl.DataFrame({
        "user": np.tile(np.arange(200), 3), "variant": ["A", "B"] * 300, "y": draws.gamma(2, 1, 600),
        "timestamp": np.repeat(["2024-05-01T10:00:00", "2024-05-02T10:00:00", "2024-05-03T10:00:00"], 200),
    })  # fmt: skip
    test = "group_sequential(look=2, looks=5)"
    again, once = (rs.experiment(rows, "Mean(y)", test=test)["B", "Mean(y)"] for rows in (table, table.head(200)))
    assert again.test == "group_sequential(look=2, looks=5, adding=True)"
    assert once.test == test


@pytest.mark.parametrize("drift", [0.5, 3.0, 5.0, 7.0, 9.0])
def test_a_plan_finds_at_least_what_its_last_look_finds(drift: float) -> None:
    from scipy.stats import norm

    last = critical(5, 5, 0.05, "obrien_fleming")[-1]
    alone = norm.sf(last - drift) + norm.cdf(-last - drift)
    assert alone - 1e-7 <= power_at_looks(group_sequential(looks=5), 0.05, drift) <= 1 + 1e-7


def test_a_very_early_look_asks_for_the_quantile_of_what_it_spends() -> None:
    from scipy.stats import norm

    for part in (0.02, 0.05, 0.2):
        wanted = norm.isf(spent(part, 0.05, "obrien_fleming") / 2)  # 15.8 standard errors at the first of them
        assert critical(1, 5, 0.05, "obrien_fleming", (part,))[0] == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(
    ("alpha", "shares"),
    [
        pytest.param(0.05, (0.5, 0.7), id="looks apart"),
        pytest.param(0.05, (0.3, 0.301), id="looks close to each other"),
        pytest.param(1e-6, (0.9, 0.901), id="a small alpha"),
        pytest.param(1e-6, (0.998, 0.999), id="a small alpha near the end"),
    ],
)
def test_the_second_look_spends_what_was_left_for_it(alpha: float, shares: tuple[float, float]) -> None:
    """How probable it is to go on at the first look and end at the second, by another integration."""
    from scipy.integrate import quad
    from scipy.stats import norm

    first, second = critical(2, 3, alpha, "pocock", shares)
    edge, end, step = first * math.sqrt(shares[0]), second * math.sqrt(shares[1]), math.sqrt(shares[1] - shares[0])

    def ends(at: float) -> float:
        return float(norm.pdf(at, scale=math.sqrt(shares[0])) * norm.sf((end - at) / step))

    middle = sorted({-edge, *(edge - k * step for k in (1, 2, 4, 8) if edge - k * step > -edge), edge})
    parts = [quad(ends, a, b, epsabs=0, epsrel=1e-11)[0] for a, b in itertools.pairwise(middle)]
    wanted = spent(shares[1], alpha, "pocock") - spent(shares[0], alpha, "pocock")
    assert 2 * math.fsum(parts) == pytest.approx(wanted, rel=1e-4 if alpha > 1e-4 else 1e-2)
