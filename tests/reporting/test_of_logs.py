"""Pages of logs: the verdict of an experiment first, then online metrics; options of rankings are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.made.experiments import log_of_days, log_of_users, users
from tests.made.results import logged

import rankscope as rs
from rankscope.blocks import Chart, Table
from rankscope.cli import main
from rankscope.errors import InputError


def test_the_page_of_an_experiment() -> None:
    log = log_of_users(seed=31)
    page = rs.report(log).page
    told = [verdict.text for verdict in page.verdicts]
    split, verdict, *rest = rs.experiment(log).sentences()
    assert told == [verdict, split, *rest]  # the verdict leads, and the split follows
    assert page.verdicts[0].tone == "unclear"
    names = [section.name for section in page.sections]
    assert names == [
        "exposures",
        "power",
        "results",
        *(["warnings"] if "warnings" in names else []),
        "online",
        "reproduce",
    ]
    assert len(set(names)) == len(names)


def test_the_headline_of_an_estimate_names_what_is_earned_and_the_estimator() -> None:
    answer = rs.report(logged(), target="p_new").page.answer
    assert answer is not None
    assert " click by SNIPS (95% interval " in answer.text


def test_the_split_leads_where_it_fails() -> None:
    log = log_of_users(seed=31)
    options: dict[str, Any] = {"split": {"A": 0.9, "B": 0.1}}
    page = rs.report(log, **options).page
    assert page.verdicts[0].text.startswith("Sample ratio mismatch")
    assert page.verdicts[0].tone == "invalid"
    assert [verdict.text for verdict in page.verdicts] == list(rs.experiment(log, **options).sentences())


def test_no_table_repeats_the_heading_of_its_section() -> None:
    page = rs.report(log_of_days(seed=37, early=0.2), metrics="CTR", slices="country").page
    titles = [
        (section.title, block.title)
        for section in page.sections
        for block in section.blocks
        if isinstance(block, Table)
    ]
    assert titles
    assert all(own.casefold() != heading.casefold() for heading, own in titles)


def test_the_page_of_a_log_without_variants() -> None:
    page = rs.report(log_of_users(seed=32).drop("variant"), metrics="CTR").page
    assert page.title.startswith("Online metrics of ")
    assert page.verdicts[0].text.startswith("CTR is ")


def test_the_page_of_an_experiment_has_its_days() -> None:
    log = log_of_days(seed=37, early=0.2)
    page = rs.report(log, metrics="CTR", slices="country", margin="2%").page
    names = [section.name for section in page.sections]
    blocks = {block.name for section in page.sections for block in section.blocks if isinstance(block, Table | Chart)}
    assert names[:3] == ["days", "exposures", "slices"]
    assert {"by_day", "change", "slices", "heterogeneity", "exposures"} <= blocks
    assert any("wears off over the days" in verdict.text for verdict in page.verdicts)
    assert "users · " in page.about
    one_day = rs.report(log_of_days(seed=37, days=1), metrics="CTR").page
    assert "days" not in {section.name for section in one_day.sections}


@pytest.mark.parametrize("metric", ["CTR", "ReturnRate@1"], ids=["a variant that comes late", "a metric over days"])
def test_a_page_without_days_to_compare_has_the_rest(metric: str) -> None:
    log = log_of_days(seed=39)
    middle = sorted(log["time"])[len(log) // 2]
    late = log.filter((pl.col("variant") == "A") | (pl.col("time") > middle))
    page = rs.report(late if metric == "CTR" else log, metrics=metric).page
    assert page.verdicts[0].text
    names = {section.name for section in page.sections}
    assert "results" in names
    assert "days" not in names


def test_what_is_wrong_with_an_experiment_is_told_and_not_taken_for_its_days() -> None:
    with pytest.raises(InputError, match="no variant is called that"):
        rs.report(log_of_days(seed=40), metrics="CTR", baseline="C")


def test_the_command_takes_slices_and_margins_of_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log_of_days(seed=38).write_parquet(tmp_path / "log.parquet")
    command = ["report", str(tmp_path / "log.parquet"), "-m", "CTR", "-o", str(tmp_path / "log.html")]
    assert main([*command, "--slices", "country,device", "--margin", "CTR=50%"]) == 0
    assert "device" in (tmp_path / "log.html").read_text()
    capsys.readouterr()
    assert main([*command, "--slices", "planet"]) == 2
    assert "no column 'planet'" in capsys.readouterr().err
    assert main([*command, "--margin", "CTR=x"]) == 2
    assert "--margin x: a margin must be a number, like 0.01, 1% or nDCG@10=0.01" in capsys.readouterr().err


def test_the_page_of_a_table_of_users() -> None:
    page = rs.report(users(seed=33), metrics="Mean(revenue)", baseline="B").page
    assert page.title == "A against B"
    assert {section.name for section in page.sections} - {"warnings"} == {"exposures", "power", "results", "reproduce"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ties": "docid"}, "ties is about rankings: leave it out for log"),
        ({"queries_text": {"q": "a"}}, "are for the page of scores or a comparison"),
        ({"costs": "costs.csv"}, "costs is about rankings"),
    ],
    ids=["a policy of rankings", "texts of queries", "costs of runs"],
)
def test_options_of_rankings_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        rs.report(log_of_users(seed=34), **options)


def test_the_command_line_names_its_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log_of_users(seed=34).write_csv(tmp_path / "log.csv")
    assert main(["report", str(tmp_path / "log.csv"), "--ties", "docid", "-o", str(tmp_path / "page.html")]) == 2
    assert capsys.readouterr().err.startswith("--ties is about rankings: leave it out for ")


def test_options_of_experiments_are_refused_where_there_is_none() -> None:
    with pytest.raises(InputError, match="no column has the variants"):
        rs.report(log_of_users(seed=35).drop("variant"), baseline="A")


def test_the_command_makes_the_page_of_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log_of_users(seed=36).write_parquet(tmp_path / "log.parquet")
    assert main(["report", str(tmp_path / "log.parquet"), "-o", str(tmp_path / "log.html")]) == 0
    assert "<html" in (tmp_path / "log.html").read_text()
    assert "Sample ratio: A 200 and B 200 users" in capsys.readouterr().out


def test_a_table_of_scores_is_no_log() -> None:
    scores = pl.DataFrame(
        {"query": [f"q{i}" for i in range(8)], "a": [0.1 * i for i in range(8)], "b": [0.05 * i for i in range(8)]}
    )
    assert rs.report(scores, None, "AP").page.title.startswith("Online") is False


def test_a_page_takes_guardrails_covariates_and_a_prior() -> None:
    options: dict[str, Any] = {
        "guardrails": {"Ratio(orders, sessions)": "50%"}, "covariates": {"Mean(revenue)": "before"}, "prior": 0.05,
    }  # fmt: skip
    table = users(seed=3)
    page = rs.report(table, metrics="Mean(revenue)", **options).page
    found = rs.experiment(table, "Mean(revenue)", **options)
    split, verdict, *rest = found.sentences()
    assert [told.text for told in page.verdicts] == [verdict, split, *rest]
    assert any(text.startswith("Guardrail") for text in found.sentences())
    assert any(text.startswith("Given a prior") for text in found.sentences())


def test_options_of_experiments_need_a_log() -> None:
    with pytest.raises(InputError, match="guardrails is about a log of users"):
        rs.report({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR", guardrails="RPM")
