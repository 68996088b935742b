"""The first screen in a browser: at most 150 words, every lift and verdict also on a phone, all rows and charts on paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from tests.made.experiments import log_of_days, users

import rankscope as rs

if TYPE_CHECKING:
    from playwright.sync_api import Page

WORDS = """() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let words = 0;
  while (walk.nextNode()) {
    const node = walk.currentNode, parent = node.parentElement;
    if (parent.closest("script, style, noscript, .unseen") || !parent.checkVisibility({ visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = [...range.getClientRects()].find((one) => one.width > 1 && one.height > 1);
    if (box && box.top < innerHeight && box.bottom > 0 && box.left >= 0) words += node.textContent.split(/\\s+/).filter(Boolean).length;
  }
  return words;
}"""
METRICS = ["nDCG@10", "AP", "RR@10", "R@100", "P@10"]


@pytest.fixture(autouse=True)
def report(need: Callable[[str], Any]) -> None:
    """What pages are made with."""
    for name in ("jinja2", "altair", "vl_convert"):
        need(name)


def runs(count: int) -> tuple[Any, Any]:
    """Judgments of 40 queries, and runs of which the later ones are better."""
    rng = np.random.default_rng(count)
    qrels = {f"q{q}": {f"d{d}": int(d < 4) for d in range(20)} for q in range(40)}
    made = {
        f"run{r}": {q: {d: float(g * 0.15 * r + rng.normal()) for d, g in docs.items()} for q, docs in qrels.items()}
        for r in range(count)
    }
    return qrels, made


def test_an_experiment_is_answered_on_one_screen_and_on_a_phone(opened: Any, tmp_path: Path) -> None:
    path = rs.report(log_of_days(seed=37), metrics="CTR", slices="country").save(tmp_path / "page.html")
    tab: Page = opened(path, viewport=(1440, 900))
    assert tab.evaluate(WORDS) <= 150
    tab.wait_for_function("() => document.querySelectorAll('.plot svg').length >= 3")  # nothing was scrolled
    ticks = tab.locator("#chart-by_day svg text, #chart-by-day svg text").all_text_contents()
    assert any("Mar" in text for text in ticks)
    phone: Page = opened(path, viewport=(390, 844))
    assert phone.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    for row in phone.locator(".board tbody tr:not(.group)").all():
        lift, verdict = row.locator(".interval"), row.locator("td").last
        for part in (lift, verdict):
            box = part.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390


def test_three_variants_with_guardrails_are_answered_on_one_screen(opened: Any, tmp_path: Path) -> None:
    """The rows of a phone have their names and verdict on one line, and the interval with its chart on the next."""
    table = users(seed=3, count=3000)
    table = table.with_columns(
        variant=pl.Series([("control", "treatment", "treatment_2")[i % 3] for i in range(len(table))])
    )
    metrics, guards = ["Mean(revenue)", "Mean(orders)"], {"Mean(sessions, better='higher')": 0.01}
    found = rs.report(table, metrics=metrics, guardrails=guards, baseline="control", slices="country")
    path = found.save(tmp_path / "page.html")
    assert opened(path, viewport=(1440, 900)).evaluate(WORDS) <= 150
    phone: Page = opened(path, viewport=(390, 844))
    zeros = set()
    for row in phone.locator(".board tbody tr:not(.group)").all():
        name, verdict, bar = (row.locator(part).bounding_box() for part in ("th >> nth=0", "td >> nth=-1", ".interval"))
        assert name
        assert verdict
        assert bar
        assert name["y"] - 3 < verdict["y"] < bar["y"] - 6
        assert bar["y"] > name["y"] + name["height"] / 2
        zeros.add((round(bar["x"]), round(bar["width"])))
    assert len(zeros) == 1, "all intervals are drawn on one scale"


def test_an_invalid_split_is_red_and_its_numbers_are_folded(opened: Any, tmp_path: Path) -> None:
    path = rs.report(users(seed=5), metrics="Mean(revenue)", split={"A": 0.9, "B": 0.1}).save(tmp_path / "page.html")
    tab: Page = opened(path, viewport=(1440, 900))
    said = tab.locator(".answer.invalid .said")
    assert said.inner_text() == "Invalid split: do not use these results"
    red, green, blue = map(
        int, said.evaluate("e => getComputedStyle(e).color").removeprefix("rgb(").rstrip(")").split(",")
    )
    assert red > 2 * max(green, blue)
    assert not tab.locator("#results table").first.is_visible()
    phone: Page = opened(path, viewport=(390, 844))
    for cell in phone.locator(".board td:last-child").all():  # the planned share of each variant
        assert cell.inner_text().endswith("%")
        box = cell.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390


@pytest.mark.parametrize("count", [2, 5, 24], ids=["two runs", "five runs", "many runs"])
def test_runs_are_answered_on_one_screen_and_printed_in_full(count: int, opened: Any, tmp_path: Path) -> None:
    qrels, made = runs(count)
    qrels = {
        q: {d: g for d, g in docs.items() if d != "d7"} for q, docs in qrels.items()
    }  # a caution: some are not judged
    texts = {q: f"a question of many words that is the {q} of all" for q in qrels}
    page = rs.report(qrels, made, METRICS, queries_text=texts).save(tmp_path / "page.html")
    tab: Page = opened(page, viewport=(1440, 900))
    assert tab.evaluate(WORDS) <= 150
    tab.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    tab.emulate_media(media="print")
    for block in tab.locator("#scoreboard .table").all():
        rows = block.locator("tbody tr")
        shown = sum(row.is_visible() for row in rows.all())
        assert shown == (rows.count() if rows.count() <= 50 else 10)
    for text in tab.locator(".printed").all():
        assert "10 of " in text.inner_text()
    tab.set_viewport_size({"width": 703, "height": 900})  # A4 less its margins; what is wider makes all of it smaller
    tab.wait_for_function("() => [...document.querySelectorAll('.plot')].every((plot) => plot.querySelector('svg'))")
    assert tab.evaluate("() => document.documentElement.scrollWidth") <= 703


def test_a_figure_has_one_menu_and_says_what_it_shows(opened: Any, tmp_path: Path) -> None:
    qrels, made = runs(3)
    tab: Page = opened(rs.report(qrels, made, METRICS).save(tmp_path / "page.html"), viewport=(1440, 900))
    tab.locator("#differences summary").first.click()
    figure = tab.locator("#differences .chart").first
    assert " values of difference, from " in (figure.locator(".plot").get_attribute("aria-label") or "")
    menu = figure.locator(":scope > .tools .save")
    assert figure.locator(":scope > .tools button:visible").count() == 0
    menu.locator("summary").click()
    assert menu.locator("button:visible").all_text_contents() == ["SVG", "PNG", "CSV", "JSON"]
    tab.keyboard.press("Escape")
    assert menu.locator("button:visible").count() == 0
    tab.keyboard.press("Home")
    skips = tab.locator("a.skip").all_text_contents()
    assert skips == ["To the content", "To the queries"]
