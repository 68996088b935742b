"""Laws over rows of experiments: text, JSON and Python agree, and a withheld verdict is withheld everywhere."""

from __future__ import annotations

import numpy as np
import pytest

import rankscope as rs


def users(seed: int, metrics: int = 4) -> dict[str, list[object]]:
    draws = np.random.default_rng(seed)
    side = np.repeat([0, 1], 150)
    columns = {f"m{i}": (draws.normal(1, 1, 300) + 0.25 * side).tolist() for i in range(metrics)}
    return {"variant": ["AB"[at] for at in side], **columns}


@pytest.mark.parametrize("seed", range(6))
def test_the_interval_beside_a_verdict_is_the_corrected_one(seed: int) -> None:
    result = rs.experiment(users(seed), [f"Mean(m{i})" for i in range(4)])
    for row, c in zip(result.to_dicts(), result.contrasts, strict=True):
        excludes = row["ci_lower_adjusted"] > 0 or row["ci_upper_adjusted"] < 0
        assert excludes == (row["verdict"] in {"better", "worse"})
        assert (row["comparisons"], row["correction"], row["verdict"]) == (c.comparisons, "holm", c.verdict)
    table = result.table()
    at = [column.header for column in table.columns].index("interval")
    for cells, row in zip(table.rows, result.to_dicts(), strict=True):
        interval = cells[at]
        assert (interval.lower, interval.upper) == (row["ci_lower_adjusted"], row["ci_upper_adjusted"])  # type: ignore[union-attr]


def test_a_split_that_was_not_planned_withholds_every_verdict() -> None:
    result = rs.experiment(users(1), ["Mean(m0)", "Mean(m1)"], split={"A": 0.7, "B": 0.3})
    assert result.exit_code == 3
    for c, row in zip(result.contrasts, result.to_dicts(), strict=True):
        assert c.verdict == row["verdict"] == "withheld"
        assert "withheld" in repr(c)
        assert not any(word in repr(c) for word in ("beats", "loses"))
