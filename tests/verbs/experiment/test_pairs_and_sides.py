"""All pairs of variants, and one-sided tests of an experiment."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.made.experiments import log_of_days, users

import rankscope as rs
from rankscope.errors import InputError


def three(seed: int, count: int = 1500) -> pl.DataFrame:
    return users(seed, count).with_columns(variant=pl.Series(list("ABC") * (count // 3)))


def test_every_variant_is_compared_with_every_other() -> None:
    table = three(1)
    found = rs.experiment(table, ["Mean(revenue)", "Mean(orders)"], all_pairs=True)
    assert [(c.run, c.baseline) for c in found.of("Mean(revenue)")] == [("B", "A"), ("C", "A"), ("C", "B")]
    assert [row["baseline"] for row in found.to_dicts()[:3]] == ["A", "A", "B"]
    assert [c.comparisons for c in found.contrasts] == [3] * 3 + [3] * 3
    alone = rs.experiment(table.filter(pl.col("variant") != "A"), "Mean(revenue)", baseline="B")
    assert found["C", "B", "Mean(revenue)"].p_value == alone["C", "Mean(revenue)"].p_value
    assert {
        row["against"]
        for row in [
            dict(zip([c.header for c in found.table().columns], cells, strict=True)) for cells in found.table().rows
        ]
    } == {"A", "B"}


def test_slices_days_guardrails_and_decisions_know_all_pairs() -> None:
    log = (
        log_of_days(3, count=900)
        .with_columns(variant=pl.col("user").cast(pl.Int64) % 3)
        .with_columns(pl.col("variant").cast(pl.String))
    )
    found = rs.experiment(
        log, "CTR", all_pairs=True, slices="device", by="day", guardrails="Count(better='higher')", decide=True
    )
    pairs = {("1", "0"), ("2", "0"), ("2", "1")}
    assert {(part.contrast.run, part.contrast.baseline) for part in found.slices} == pairs
    assert found.days is not None
    assert {(day.contrast.run, day.contrast.baseline) for day in found.days.days} == pairs
    assert {(test.run, test.baseline) for test in found.heterogeneity} <= pairs
    assert [decision.variant for decision in found.decisions] == ["1", "2"]
    assert rs.report(found).html


def test_a_baseline_and_all_pairs_are_one_too_many() -> None:
    with pytest.raises(InputError, match="baseline 'A' and all pairs: ask for only one"):
        rs.experiment(three(1, 60), "Mean(revenue)", baseline="A", all_pairs=True)


def test_one_side_decides_and_says_so() -> None:
    table = users(14, lift=0.7)
    both, better, worse = (
        rs.experiment(table, "Mean(revenue)", guardrails="Mean(orders)", alternative=side)
        for side in ("two-sided", "better", "worse")
    )
    c = better["B", "Mean(revenue)"]
    assert c.p_value == both["B", "Mean(revenue)"].p_value / 2
    assert "one-sided" in c.sentence()
    assert "90% interval" in c.sentence()
    assert worse["B", "Mean(revenue)"].verdict == "cannot tell"
    assert "B is not clearly worse than A on Mean(revenue)" in worse["B", "Mean(revenue)"].sentence()
    for found in (better, worse):  # guardrails alarm on both sides
        assert found["B", "Mean(orders)"].p_value == both["B", "Mean(orders)"].p_value
    assert next(iter(better.decisions)).if_not_better == 2 * next(iter(both.decisions)).if_not_better


@pytest.mark.parametrize("side", ["better", "worse", "greater", "less"])
def test_the_interval_beside_a_one_sided_verdict_agrees_with_it(side: str) -> None:
    for seed in range(6):
        found = rs.experiment(
            users(seed, 400, lift=0.8), ["Mean(revenue)", "Mean(orders)", "Mean(sessions)"], alternative=side
        )
        for row in found.to_dicts():
            excludes = row["ci_lower_adjusted"] > 0 or row["ci_upper_adjusted"] < 0
            assert excludes == (row["verdict"] in {"better", "worse"})
            if row["verdict"] in {"better", "worse"}:
                assert row["verdict"] == {"greater": "better", "less": "worse"}.get(side, side)


def test_days_stay_two_sided() -> None:
    log = log_of_days(4, early=0.1)
    options: dict[str, Any] = {"by": "day"}
    one, other = (
        rs.experiment(log, "CTR", alternative=side, **options).to_dicts("change") for side in ("two-sided", "worse")
    )
    assert one == other
