"""The Bayesian summary of an experiment: it stands beside the verdict, says what it rests on, and changes no other number."""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest
from tests.made.experiments import users

import rankscope as rs
from rankscope.cli import main
from rankscope.errors import InputError

KEYS = {"chance_better", "expected_loss", "credible_lower", "credible_upper"}


def test_the_verdict_and_all_other_numbers_stay() -> None:
    table = users(seed=51, lift=0.3)
    plain, believed = (rs.experiment(table, ["Mean(revenue)", "Mean(orders)"], prior=prior) for prior in (None, 0.05))
    for one, other in zip(plain.to_dicts(), believed.to_dicts(), strict=True):
        assert {name: value for name, value in other.items() if name not in KEYS} == one
        assert other.keys() - one.keys() == KEYS
    assert list(plain.sentences()) == list(believed.sentences())[: len(list(plain.sentences()))]
    assert "posterior" not in plain.json_document()


def test_a_chance_by_hand() -> None:
    table = users(seed=52, lift=0.2)
    (row,) = rs.experiment(table, "Mean(revenue)", prior=0.1).to_dicts()
    b, a = (table.filter(pl.col("variant") == name)["revenue"].to_numpy() for name in "BA")
    error = sum(arm.var(ddof=1) / len(arm) / arm.mean() ** 2 for arm in (a, b))
    centre = math.log(b.mean() / a.mean()) * 0.1**2 / (0.1**2 + error)
    deviation = math.sqrt(1 / (1 / error + 1 / 0.1**2))
    assert row["chance_better"] == pytest.approx(math.erfc(-centre / deviation / math.sqrt(2)) / 2, rel=1e-9)
    assert row["credible_lower"] == pytest.approx(math.exp(centre - 1.959963984540054 * deviation) - 1, rel=1e-9)


def test_the_words_say_which_prior_and_what_a_chance_is_not() -> None:
    flat, normal = (
        list(rs.experiment(users(seed=53), "Mean(revenue)", prior=prior).sentences()) for prior in ("flat", "5%")
    )
    assert flat[2].startswith("Given a flat prior, B is better than A on Mean(revenue) with a probability of ")
    assert normal[2].startswith("Given a prior of lifts around 0 (normal, standard deviation 0.05), B is better than A")
    assert flat[3] == normal[3]
    assert "depends on the prior" in flat[3]


def test_it_is_withheld_with_the_verdict() -> None:
    table = users(seed=54).filter((pl.col("variant") == "A") | (pl.col("orders") > 0))
    found = rs.experiment(table, "Mean(revenue)", prior="flat")
    assert found.exit_code == 3
    assert not any("probability" in text for text in found.sentences())
    assert found.table("posterior").rows == ()


def test_without_a_ratio_the_reason_is_told() -> None:
    table = users(seed=55).with_columns(pl.col("revenue") - 100)
    found = rs.experiment(table, "Mean(revenue)", prior="flat")
    assert found.to_dicts()[0]["chance_better"] is None
    assert "No probability that B is better on Mean(revenue): both means must be above 0." in list(found.sentences())


def test_what_is_no_prior_is_refused() -> None:
    with pytest.raises(InputError, match="prior=0: a prior is 'flat'"):
        rs.experiment(users(seed=56), "Mean(revenue)", prior=0)


def test_the_command_takes_a_prior(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    users(seed=57).write_csv(tmp_path / "users.csv")
    command = ["experiment", str(tmp_path / "users.csv"), "-m", "Mean(sessions)", "--prior"]
    assert main([*command, "0.05", "--format", "json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["conventions"]["prior"] == "normal, standard deviation 0.05, of the logarithm of the ratio"
    assert record["results"][0].keys() >= KEYS
    assert main([*command, "-0.05"]) == 2
    assert "--prior -0.05" in capsys.readouterr().err
