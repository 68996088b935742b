"""The decision by a rule: its outcome follows from the verdicts, and a false "ship" is as rare as it states."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.made.experiments import users

import rankscope as rs
from rankscope.cli import main


@pytest.mark.parametrize(("lift", "guardrails", "ship", "reason"), [
    (3.0, {"Mean(sessions, better='higher')": "20%"}, True, ""),
    (0.0, {"Mean(sessions, better='higher')": "20%"}, False, "not clearly better on Mean(revenue)"),
    (3.0, {"Mean(sessions, better='higher')": "0.1%"}, False, "a loss of 0.1% of the baseline"),
    (3.0, "Mean(sessions, better='higher')", True, ""),
    (3.0, None, True, ""),
], ids=["all holds", "no gain", "a loss is possible", "a guardrail that can only alarm", "no guardrail"])  # fmt: skip
def test_the_outcome_follows_from_the_verdicts(lift: float, guardrails: Any, ship: bool, reason: str) -> None:
    found = rs.experiment(users(seed=14, lift=lift), primary="Mean(revenue)", guardrails=guardrails, decide=True)
    (decision,) = json.loads(found.to_json())["decision"]
    text = list(found.sentences())[-1]
    assert decision["ship"] == ship == text.startswith("Decision: ship B")
    assert reason in text
    assert decision["false_ship_if_not_better"] == 0.025
    assert decision["false_ship_if_guardrail_fails"] == (0.05 if isinstance(guardrails, dict) else None)


def test_a_split_that_went_wrong_ships_nothing() -> None:
    table = users(seed=14, lift=3.0)
    found = rs.experiment(table, primary="Mean(revenue)", split={"A": 0.6, "B": 0.4}, decide=True)
    assert "do not ship B, as users were not split as planned" in list(found.sentences())[-1]


def test_without_the_option_there_is_no_decision() -> None:
    found = rs.experiment(users(seed=14, lift=3.0), primary="Mean(revenue)")
    assert "decision" not in json.loads(found.to_json())
    assert not any(text.startswith("Decision") for text in found.sentences())


@pytest.mark.parametrize(
    ("gain", "loss", "most"), [(0.0, 0.0, 0.025), (1.0, 0.1, 0.05)], ids=["no gain", "a guardrail loses as accepted"]
)
def test_a_false_ship_is_as_rare_as_it_states(gain: float, loss: float, most: float) -> None:
    rounds, ships, draws = 300, 0, np.random.default_rng(5)
    treated = np.arange(400) % 2
    for _ in range(rounds):
        table = pl.DataFrame({
            "user": range(400), "variant": np.where(treated, "B", "A"),
            "money": draws.normal(size=400) + 5 + gain * treated, "speed": draws.normal(size=400) + 5 - loss * treated,
        })  # fmt: skip
        (decision,) = rs.experiment(
            table, primary="Mean(money)", guardrails={"Mean(speed, better='higher')": 0.1}, decide=True
        ).decisions
        ships += decision.ship
    assert ships / rounds <= most + 3 * (most * (1 - most) / rounds) ** 0.5


def test_the_command_line_decides(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    users(seed=14, lift=3.0).write_csv(tmp_path / "users.csv")
    assert main(["experiment", str(tmp_path / "users.csv"), "--primary", "Mean(revenue)", "--decide"]) == 0
    assert "Decision: ship B." in capsys.readouterr().out
