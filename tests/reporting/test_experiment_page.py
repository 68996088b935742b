"""The first screen of an experiment: headline with number and interval, a row per metric, the split, a caution, the next step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.made.experiments import log_of_days, log_of_users, users

import rankscope as rs
from rankscope import words
from rankscope.blocks import Answer, Caution, Chart, Page, Table, ValueRange
from rankscope.cli import main
from rankscope.reporting.experiments import next_step
from rankscope.show.export import records_of

REVENUE, ORDERS = "Mean(revenue)", "Mean(orders)"


def page_of(log: Any, *given: Any, **options: Any) -> tuple[Page, Answer]:
    page = rs.report(log, None, *given, **options).page
    assert page.answer is not None
    return page, page.answer


def test_the_headline_has_the_lift_and_its_interval() -> None:
    table = users(seed=5, lift=3.0)
    page, first = page_of(table, [REVENUE, ORDERS])
    c = rs.experiment(table, [REVENUE, ORDERS])["B", REVENUE]
    value, bounds = c.relative_adjusted
    low, high = words.relative(bounds.lower).removesuffix("%"), words.relative(bounds.upper)
    assert first.text == f"B {words.relative(value)} {REVENUE} (95% interval {low} to {high})"
    assert first.tone == c.verdict == "better"
    assert first.step.startswith("launch B (")
    assert page.title == "B against A"
    assert page.exit_code == 0


def test_the_board_has_metrics_apart_by_their_part_each_with_its_interval() -> None:
    found = rs.experiment(users(seed=5), REVENUE, guardrails=ORDERS)
    board = page_of(found)[1].board
    assert board.parts == ((0, "Primary metric"), (1, "Guardrails"))
    assert [row[0] for row in board.rows] == [REVENUE, ORDERS]
    lifts = [row[-2] for row in board.rows]
    for lift, c in zip(lifts, found.contrasts, strict=True):
        value, bounds = c.relative_adjusted
        assert isinstance(lift, ValueRange)
        assert (lift.value, lift.lower, lift.upper) == (value, bounds.lower, bounds.upper)


def test_an_open_experiment_says_how_many_more_users_it_takes() -> None:
    found = rs.experiment(log_of_users(seed=31), "CTR")
    c = found["B", "CTR"]
    _, first = page_of(found)
    assert (c.verdict, first.tone) == ("cannot tell", "unclear")
    assert c.queries_needed is not None
    assert (
        first.step
        == f"about {words.rounded(c.queries_needed - c.queries)} more users would show a difference of this size"
    )


def test_an_invalid_split_is_the_headline_and_folds_the_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = users(seed=5)
    page, first = page_of(table, REVENUE, split={"A": 0.9, "B": 0.1})
    assert (first.text, first.tone) == ("Invalid split: do not use these results", "invalid")
    assert first.checked.startswith("Sample ratio mismatch")
    assert [row[0] for row in first.board.rows] == ["A", "B"]  # the split, no metric
    assert all(section.folded for section in page.sections if section.name != "warnings")
    assert page.exit_code == 3
    table.write_csv(tmp_path / "users.csv")
    line = [
        "report",
        str(tmp_path / "users.csv"),
        "-m",
        REVENUE,
        "--split",
        "A=0.9,B=0.1",
        "-o",
        str(tmp_path / "page.html"),
    ]
    assert main(line) == 3
    assert 'class="answer invalid"' in (tmp_path / "page.html").read_text()
    assert "wrote" in capsys.readouterr().err


def test_of_several_variants_the_best_leads_and_the_others_follow_with_their_numbers() -> None:
    log = users(seed=9, lift=2.0).with_row_index("row")
    three = pl.when(pl.col("row") % 3 == 0).then(pl.lit("C")).otherwise(pl.col("variant"))
    found = rs.experiment(
        log.with_columns(variant=three).drop("row"), REVENUE, baseline="A", split={"A": 1, "B": 1, "C": 1}
    )
    _, first = page_of(found)
    best, other = sorted(found.contrasts, key=lambda c: -c.difference)
    assert first.text.startswith(f"{best.run} {words.relative(best.relative[0])}")
    assert f"; {other.run} {words.relative(other.relative[0])}" in first.text
    assert len(first.board.rows) == 2


def test_a_guardrail_that_got_worse_stops_a_launch() -> None:
    table = users(seed=5, lift=3.0).with_columns(latency=pl.col("revenue") * 2)
    found = rs.experiment(table, REVENUE, guardrails="Mean(latency, better=lower)")
    assert next_step(found, found["B", REVENUE]).startswith("do not launch B before Mean(latency")


def test_the_caution_is_of_the_primary_metric() -> None:
    other, own = (Caution("RS640", f"{metric} is skewed", "wait for more users") for metric in (ORDERS, REVENUE))
    found = replace(rs.experiment(users(seed=5), [REVENUE, ORDERS]), warnings=[other, own])
    _, first = page_of(found)
    assert (first.caution, first.caution_at) == (own.message, "warnings")
    _, first = page_of(replace(found, warnings=[other]))
    assert first.caution == ""
    _, first = page_of(replace(found, warnings=[other, Caution("RS604", "3 rows are repeated", "drop them")]))
    assert first.caution == "3 rows are repeated"


def test_days_are_dates_on_the_axis_and_in_files() -> None:
    page, _ = page_of(log_of_days(seed=37), "CTR")
    charts = [block for section in page.sections for block in section.blocks if isinstance(block, Chart)]
    chart = next(chart for chart in charts if chart.name == "by_day")
    assert chart.columns[chart.at("day")].kind == "date"
    _, records = records_of(chart.columns, chart.rows)
    assert [record["day"] for record in records] == [f"2024-03-0{day}" for day in range(1, 7)]
    assert page.about.startswith("1 to 6 Mar 2024 · ")


def test_variants_keep_their_colours_and_counts_by_day() -> None:
    page, _ = page_of(log_of_days(seed=37), "CTR")
    charts = {b.name: b for section in page.sections for b in section.blocks if isinstance(b, Chart)}
    assert charts["by_day"].order == charts["exposures"].order == ("A", "B")
    assert {row[0] for row in charts["exposures"].rows} == {"A", "B"}


def test_what_repeats_a_chart_or_pools_variants_is_folded() -> None:
    page, _ = page_of(log_of_days(seed=37), "CTR", slices="country")
    sections = {section.name: section for section in page.sections}
    assert sections["online"].folded
    folded = {b.name: b.folded for s in page.sections for b in s.blocks if isinstance(b, Table)}
    assert folded["slices"]
    assert folded["by_day"]
    assert not folded["change"]
