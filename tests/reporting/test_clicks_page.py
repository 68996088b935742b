"""Pages of position bias and of click models, and the same sections on the page of a log."""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.blocks import Chart, Page, Table


@cache
def log() -> Any:
    """A small log of swaps."""
    return rs.simulate("log", users=250, items=4, policy="SwapFirst(top=4)", seed=1, queries=10).log


@cache
def of_models() -> Any:
    """Two click models on the log."""
    return rs.clicks(log(), ["RCTR", "PBM"])


def charts(page: Page) -> dict[str, Chart]:
    return {block.name: block for section in page.sections for block in section.blocks if isinstance(block, Chart)}


def tables(page: Page) -> dict[str, Table]:
    return {block.name: block for section in page.sections for block in section.blocks if isinstance(block, Table)}


def test_the_page_of_click_models_shows_them_side_by_side_and_by_position() -> None:
    page = rs.report(of_models()).page
    assert [section.name for section in page.sections] == ["models", "predicted", "perplexity", "reproduce"]
    assert page.verdicts[0].text.startswith(f"{of_models().best} predicts clicks best, of 2 click models.")
    observed = [row for row in charts(page)["predicted"].rows if row[0] == "observed"]
    places = of_models().fits[0].places
    assert [row[2] for row in observed] == [place.clicks / place.shown for place in places]
    assert {row[0] for row in charts(page)["perplexity"].rows} == {"RCTR", "PBM"}
    assert len(tables(page)["models"].rows) == 2


def test_the_page_of_position_bias_names_the_clicks_behind_the_curve() -> None:
    found = rs.position_bias(log(), ["swaps", "harvesting"], rounds=20)
    page = rs.report(found).page
    assert [section.name for section in page.sections] == ["examination", "estimated_from", "checks", "reproduce"]
    [used] = found.used
    assert (used.method, used.items, used.views) == ("swaps", *_moved())
    assert tables(page)["estimated_from"].rows[0][:4] == ("swaps", used.items, used.views, used.clicks)


def _moved() -> tuple[int, int]:
    """Items at several positions, and their views."""
    of_item = (
        log()
        .group_by("query_id", "item_id")
        .agg(pl.col("position").n_unique().alias("places"), pl.len().alias("views"))
    )
    several = of_item.filter(pl.col("places") > 1)
    return len(several), int(several["views"].sum())


def test_a_curve_that_is_not_identified_makes_a_page_with_the_reason() -> None:
    page = rs.report(rs.position_bias(log(), "harvesting")).page
    assert (page.exit_code, page.verdicts[0].tone) == (4, "invalid")
    assert "there is a single ranker" in page.verdicts[0].text


def test_the_page_of_a_log_has_both_on_request() -> None:
    plain, page = (rs.report(log(), clicks=clicks).page for clicks in (None, ["RCTR", "PBM"]))
    more = [section.name for section in page.sections if section not in plain.sections]
    assert more == ["examination", "estimated_from", "checks", "models", "predicted", "perplexity"]
    assert page.sections[-1].name == "reproduce"
    assert "predicts clicks best" in page.verdicts[-1].text


def test_clicks_are_for_the_page_of_a_log() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    with pytest.raises(rs.InputError, match="clicks is about a log of users"):
        rs.report(qrels, run, clicks=True)
    with pytest.raises(rs.InputError, match="clicks is for the page of a log without runs"):
        rs.report(qrels, {"a": run, "b": run}, log=log(), clicks=True)
