"""A/A tests on a log: rates are those of experiments on users dealt at random, and bad input is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.made.experiments import log_of_users, users

import rankscope as rs
from rankscope.cli import main
from rankscope.errors import DataError, InputError

REVENUE = "Mean(revenue)"


@pytest.mark.parametrize("metric", [REVENUE, "Ratio(orders, sessions)", "Quantile(revenue, q=0.5)"])
def test_a_round_is_an_experiment_on_users_dealt_at_random(metric: str) -> None:
    table, draws = users(seed=3, count=200).sort("user"), np.random.default_rng(7)
    found = rs.simulate_aa(table, metric, rounds=30, seed=7, split={"A": 0.7, "B": 0.3}).counts[0]
    ways = []
    for _ in range(30):
        dealt = table.with_columns(variant=pl.Series(np.array(["A", "B"])[draws.choice(2, 200, p=[0.7, 0.3])]))
        c = rs.experiment(dealt, metric, split={"A": 0.7, "B": 0.3})["B", metric]
        ways.append(np.sign(c.difference) if c.verdict in {"better", "worse", "different"} else 0)
    assert (found.rounds, found.up, found.down) == (30, ways.count(1), ways.count(-1))


def test_a_sound_metric_has_the_rate_of_alpha() -> None:
    table = users(seed=5, count=400).with_columns(x=pl.Series(np.random.default_rng(5).normal(size=400)))
    for alpha in (0.05, 0.2):
        found = rs.simulate_aa(table, "Mean(x)", rounds=400, alpha=alpha)
        assert found["Mean(x)"] == pytest.approx(alpha, abs=4 * (alpha * (1 - alpha) / 400) ** 0.5)
        assert found.to_dicts()[0]["verdict"] == "as expected"


def test_rows_of_a_user_stay_together() -> None:
    log = log_of_users(seed=6)
    by_user = log.group_by("user", maintain_order=True).agg(pl.col("click").sum(), shown=pl.len())
    rows, rolled = (
        rs.simulate_aa(table, metric, rounds=40) for table, metric in ((log, "CTR"), (by_user, "Ratio(click, shown)"))
    )
    assert rows.to_dicts()[0]["rate"] == rolled.to_dicts()[0]["rate"]


def test_groups_that_are_split_whole_have_the_rate_of_alpha() -> None:
    draws = np.random.default_rng(8)
    of, own = draws.integers(0, 120, 1_200), draws.normal(size=120)
    table = pl.DataFrame({"user": range(1_200), "household": of, "x": own[of] + draws.normal(size=1_200)})
    whole = rs.simulate_aa(table, "Mean(x)", rounds=400, clusters="household")
    apart = rs.simulate_aa(table, "Mean(x)", rounds=400)
    assert whole["Mean(x)"] == pytest.approx(0.05, abs=4 * (0.05 * 0.95 / 400) ** 0.5)
    assert whole.conventions["clusters"] == ["household"]
    assert whole.conventions["unit"] == "cluster"
    assert "clusters" not in apart.conventions


def test_a_round_with_clusters_is_an_experiment_on_clusters() -> None:
    table = users(seed=3, count=200).drop("variant").with_columns(home=pl.int_range(200) % 40)
    found = rs.simulate_aa(table, REVENUE, rounds=20, seed=7, clusters="home").counts[0]
    assert found.up + found.down > 0
    homes = table["home"].unique().cast(pl.String).sort()
    draws, ways = np.random.default_rng(7), []
    for _ in range(20):
        dealt = pl.DataFrame({"of": homes, "variant": np.array(["A", "B"])[draws.choice(2, len(homes), p=[0.5, 0.5])]})
        given = table.with_columns(of=pl.col("home").cast(pl.String)).join(dealt, on="of").drop("of")
        c = rs.experiment(given, REVENUE, clusters="home", covariates="none")["B", REVENUE]
        ways.append(np.sign(c.difference) if c.verdict in {"better", "worse", "different"} else 0)
    assert (found.rounds, found.up, found.down) == (20, ways.count(1), ways.count(-1))


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"split": "A=0.5,B=0.3,C=0.2"}, InputError, "splits units into two variants"),
        ({"rounds": 5}, InputError, "rounds"),
        (
            {"log": {"user": ["a", "b", "c"], "revenue": [1.0, 2.0, 3.0]}},
            DataError,
            "3 users are too few to split at random",
        ),
        ({"covariates": {REVENUE: "revenue"}}, InputError, "revenue is an outcome"),
        ({"clusters": "household"}, InputError, "household"),
    ],
    ids=["three variants", "few rounds", "few users", "an outcome as a covariate", "an unknown column of clusters"],
)
def test_bad_input(options: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        rs.simulate_aa(**{"log": users(seed=1), "metrics": REVENUE, **options})


def test_the_command_measures_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "users.csv"
    users(seed=2, count=100).write_csv(path)
    asked = ["simulate", "aa", str(path), "-m", REVENUE, "--rounds", "20", "--split", "0.8,0.2", "--format", "json"]
    assert main(asked) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["conventions"] | {"rounds": 20, "split": {"A": 0.8, "B": 0.2}} == record["conventions"]
    assert record["results"][0]["metric"] == REVENUE


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["aa"], "give a log"),
        (["aa", "users.csv", "--users", "5"], "--users is for simulate log and experiment"),
        (["log", "--rounds", "50"], "--rounds is for simulate aa LOG"),
        (["log", "users.csv"], "users.csv is for simulate aa LOG"),
    ],
    ids=["no log", "an option of a simulated log", "an option of A/A tests", "a log for a simulated log"],
)
def test_what_the_command_refuses(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    users(seed=2, count=100).write_csv("users.csv")
    assert main(["simulate", *arguments]) == 2
    assert said in capsys.readouterr().err
