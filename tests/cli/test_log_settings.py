"""Settings of a project on logs: alpha and fail_on hold for every verb, and experiment has a table of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.made.experiments import users

from rankscope.cli import main
from rankscope.verbs.experiment.experiment import experiment
from rankscope.verbs.gate.gate import gate


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    users(seed=5).write_csv(tmp_path / "users.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "pyproject.toml"


def record(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[dict[str, Any], str]:
    main([*words, "--format", "json"])
    said = capsys.readouterr()
    return json.loads(said.out), said.err


def test_alpha_holds_for_a_gate_on_a_log(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("gate", "users.csv", "-m", "Mean(revenue)")
    plain, said = record(capsys, *command)
    assert "settings" not in said
    project.write_text('[tool.rankscope]\nalpha = 0.2\nties = "best"\ntest = "wilcoxon"\nmetrics = ["nDCG@10"]\n')
    held, said = record(capsys, *command)
    assert (plain["conventions"]["alpha"], held["conventions"]["alpha"]) == (0.05, 0.2)
    assert held["results"] == gate("users.csv", metrics="Mean(revenue)", alpha=0.2).to_dicts()
    assert "settings: pyproject.toml [tool.rankscope]" in said
    assert held["settings"] == "pyproject.toml [tool.rankscope]"
    typed, _ = record(capsys, *command, "--alpha", "0.1")
    assert typed["conventions"]["alpha"] == 0.1


def test_an_experiment_reads_alpha_and_its_own_table(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project.write_text(
        '[tool.rankscope]\nalpha = 0.2\ncorrection = "tukey"\n'
        '[tool.rankscope.experiment]\nprimary = "Mean(sessions)"\nmetrics = ["Mean(revenue)"]\ncorrection = "bh"\nmargin = "5%"\n'
    )
    held, said = record(capsys, "experiment", "users.csv")
    own = experiment("users.csv", "Mean(revenue)", primary="Mean(sessions)", alpha=0.2, correction="bh", margin="5%")
    assert held["results"] == json.loads(json.dumps(own.to_dicts()))
    assert held["conventions"]["alpha"] == 0.2
    assert "settings: pyproject.toml [tool.rankscope]" in said


def test_a_setting_that_an_experiment_does_not_use_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write_text("[tool.rankscope.experiment]\ndepth = 10\n")
    assert main(["experiment", "users.csv", "-m", "Mean(revenue)"]) == 2
    assert "experiment does not use depth: leave it out" in capsys.readouterr().err


def test_a_plan_reads_alpha(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("power", "users.csv", "-m", "Mean(revenue)", "--lift", "5%")
    plain, _ = record(capsys, *command)
    project.write_text("[tool.rankscope]\nalpha = 0.2\n")
    held, _ = record(capsys, *command)
    assert held["results"][0]["detectable_difference"] < plain["results"][0]["detectable_difference"]


def test_a_page_has_the_slices_of_every_column(project: Path) -> None:
    assert main(["experiment", "users.csv", "-m", "Mean(revenue)", "--slices", "country", "--slices", "sessions"]) == 0
    assert (
        main(
            [
                "report",
                "users.csv",
                "-m",
                "Mean(revenue)",
                "--slices",
                "country",
                "--slices",
                "sessions",
                "-o",
                "page.html",
            ]
        )
        == 0
    )
    page = Path("page.html").read_text()
    assert "country: " in page
    assert "sessions: " in page
