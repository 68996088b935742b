"""The command: what it writes, what it says, and what it refuses before any work."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import rankscope as rs
from rankscope.cli import main

SMALL = ["--users", "300", "--items", "6", "--seed", "3", "--set", "queries=40"]


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


def test_an_experiment_is_written_and_analysed(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--quality", "0.1,0.9", "--truth", "500", "-o", "log.parquet", "--units", "users.csv"]
    assert main(["simulate", "experiment", *SMALL, *words]) == 0
    out, err = capsys.readouterr()
    assert "The truth: treatment changes CTR by +" in out
    log, users = pl.read_parquet("log.parquet"), pl.read_csv("users.csv")
    assert err.splitlines() == [f"wrote log.parquet ({len(log):,} rows)", "wrote users.csv (300 rows)"]
    made = rs.simulate("experiment", users=300, items=6, seed=3, queries=40, quality=(0.1, 0.9), truth=0)
    assert log.equals(made.log)
    assert users.equals(made.units)
    assert main(["experiment", "log.parquet", "--primary", "CTR"]) == 0
    said = capsys.readouterr().out
    assert "Sample ratio: control" in said
    assert "treatment beats control on CTR" in said


def test_json_holds_what_was_made(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(
            ["simulate", "experiment", *SMALL, "--truth", "300", "-m", "CTR", "--set", "taste=0.2", "--format", "json"]
        )
        == 0
    )
    out, err = capsys.readouterr()
    said = json.loads(out)
    made = rs.simulate("experiment", users=300, items=6, seed=3, queries=40, taste=0.2, truth=300, metrics="CTR")
    assert said["schema"] == "rankscope/simulate/1"
    assert said["conventions"]["taste"] == 0.2
    assert (said["rows"], said["clicks"]) == (len(made.log), made.log["click"].sum())
    assert [row["clicks"] for row in said["results"]] == [p.clicks for p in made.places]
    assert said["effects"][0]["difference"] == made["CTR"].difference
    assert said["design_effect"] == made.design_effect
    assert err == "nothing was written: add -o log.parquet to keep the log\n"


def test_real_runs_and_judgments_are_taken_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    Path("qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n")
    Path("old.run").write_text("q1 Q0 b 1 2 x\nq1 Q0 a 2 1 x\nq2 Q0 c 1 1 x\n")
    Path("new.run").write_text("q1 Q0 a 1 2 y\nq1 Q0 b 2 1 y\nq2 Q0 c 1 1 y\n")
    words = ["--qrels", "qrels.txt", "--run", "before=old.run", "--run", "new.run", "--truth", "300", "-o", "log.csv"]
    assert main(["simulate", "experiment", "--users", "100", *words]) == 0
    assert "y changes CTR by +" in capsys.readouterr().out
    assert set(pl.read_csv("log.csv")["variant"]) == {"before", "y"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["log", "-o", "log.xlsx"], "log.xlsx: use the ending .parquet, .csv, .tsv or .jsonl", id="ending"),
        pytest.param(["log", "-o", "-"], "-o -: name a file, like -o log.parquet", id="standard output"),
        pytest.param(["log", "--units", "-"], "--units -: name a file", id="users to standard output"),
        pytest.param(["log", "-o", "a.csv", "--units", "a.csv"], "a.csv cannot hold both", id="one file for both"),
        pytest.param(["log", "-o", "no/a.csv"], "there is no folder no", id="no folder"),
        pytest.param(
            ["log", "--quality", "good"], "--quality good: write numbers, like --quality 0.5,0.6", id="quality"
        ),
        pytest.param(["log", "--set", "taste"], "--set taste: write a parameter and its value", id="no value"),
        pytest.param(
            ["log", "--set", "users=3", "--users", "4"],
            "--set users: --users sets it already: leave one out",
            id="said twice",
        ),
        pytest.param(["log", "--set", "tast=1"], "did you mean taste?", id="unknown parameter"),
        pytest.param(["log", "--qrels", "none.txt"], "none.txt: no such file", id="no judgments"),
        pytest.param(["logs"], "is not one of 'log', 'experiment'", id="unknown kind"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["simulate", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
