"""The report of the demo in a real browser: from the verdict to a document, and the sizes at which it is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope import words
from rankscope.reporting.report import demo_report
from rankscope.verbs.demo import demo


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, need: Callable[[str], Any]) -> Path:
    for name in ("altair", "jinja2", "vl_convert"):
        need(name)
    return demo_report().save(tmp_path_factory.mktemp("demo") / "demo.html")


def chosen(tab: Any) -> tuple[str, str]:
    """The two runs that the explorer shows."""
    return tuple(
        tab.locator("[data-explorer] select").nth(i).evaluate("s => s.selectedOptions[0].text") for i in (2, 3)
    )


def test_from_the_verdict_to_the_documents_in_two_clicks(opened: Any, page: Path) -> None:
    tab = opened(page)
    first = tab.locator(".answer")
    assert (
        "hybrid beats bm25: +0.082 nDCG@10 (95% interval +0.051 to +0.114); clear on 4 of 5 metrics"
        in first.inner_text()
    )
    link = first.locator(".deciding a").first
    query = link.inner_text()
    link.click()
    tab.wait_for_function("() => location.hash.startsWith('#q=')")
    assert chosen(tab) == ("bm25", "hybrid")
    assert query in tab.locator(".explorer-main, [data-explorer]").first.inner_text()
    tab.locator(".explorer-row").first.click()


def test_each_verdict_opens_its_own_two_runs(opened: Any, page: Path) -> None:
    tab = opened(page)
    tab.locator(".statistics > summary").click()
    for place, pair in ((".verdict", ("bm25", "dense")), (".answer .deciding", ("bm25", "hybrid"))):
        tab.locator(place).locator("a").first.click()
        tab.wait_for_timeout(100)
        assert chosen(tab) == pair


def test_what_the_page_tells_of_a_query_is_what_explain_tells(opened: Any, page: Path) -> None:
    folder = demo.folder()
    runs = {name: str(folder / f"{name}.run.gz") for name in ("bm25", "hybrid")}
    found = rs.explain(str(folder / "qrels.txt"), runs, "nDCG@10", query="q136")
    tab = opened(page, fragment="q=q136&a=bm25&b=hybrid")
    tab.wait_for_selector(".explorer-row")
    said = tab.locator("[data-explorer]").inner_text()
    assert words.number(found.value, sign=True) in said
    for moved in found.largest[:3]:  # type: ignore[union-attr]
        assert moved.doc_id in said
        assert words.number(moved.adds, sign=True) in said


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_at_any_width(opened: Any, page: Path, width: int, scheme: Any) -> None:
    tab = opened(page, viewport=(width, 900), scheme=scheme)
    tab.evaluate("() => window.scrollTo(0, document.body.scrollHeight)")
    tab.wait_for_timeout(200)
    assert tab.evaluate("() => document.documentElement.scrollWidth") <= width


def test_without_scripts_the_verdict_and_the_numbers_are_there(opened: Any, page: Path) -> None:
    tab = opened(page, java_script=False)
    said = tab.locator("body").inner_text()
    assert "hybrid beats bm25: +0.082 nDCG@10" in said
    assert "Judge next" in said
    assert "0.4640" in said  # the mean of hybrid, in the scoreboard
    assert "q136" in said


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_the_answer_its_board_and_its_doubt_are_on_the_first_screen(opened: Any, page: Path, width: int) -> None:
    height = 844 if width < 500 else 900
    tab = opened(page, viewport=(width, height))
    for part in (".answer .said", ".answer .board", ".answer .caution"):
        box = tab.locator(part).bounding_box()
        assert box["y"] + box["height"] <= height, part
    cells = tab.locator(".answer .board tbody tr").first.locator("th, td")
    inside = tab.locator(".answer").bounding_box()
    for i in range(cells.count()):  # no column is clipped
        box = cells.nth(i).bounding_box()
        if box is not None:
            assert inside["x"] <= box["x"] <= box["x"] + box["width"] <= inside["x"] + inside["width"] + 1


def test_all_but_the_explorer_is_closed_to_its_headline_and_opens_where_a_link_leads(opened: Any, page: Path) -> None:
    tab = opened(page)
    closed = tab.locator(".part > details.folded")
    assert closed.count() == tab.locator(".part").count() - 1
    assert tab.locator(".part > details.folded[open]").count() == 0
    assert tab.evaluate("() => document.documentElement.scrollHeight") < 6000
    tab.locator(".answer .caution a").click()
    tab.wait_for_selector("#worklist > details[open]")
    assert tab.locator("#worklist").bounding_box()["y"] < 400


def test_the_demo_takes_few_pages_of_paper_with_letters_that_can_be_read(opened: Any, page: Path) -> None:
    tab = opened(page, viewport=(1440, 900))
    tab.wait_for_timeout(500)
    paper = tab.pdf(format="A4", prefer_css_page_size=True)
    assert 2 <= len(re.findall(rb"/Type\s*/Page[^s]", paper)) <= 13  # tables of up to 50 rows are there in full
    # as it is laid out on paper: charts are drawn as wide as they stand there, so that letters are not made smaller
    tab.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    tab.wait_for_timeout(4000)
    tab.emulate_media(media="print")
    assert not tab.locator(".glossary").first.is_visible()
    sizes = tab.evaluate(
        """() => [...document.querySelectorAll(".plot svg")].flatMap((svg) => {
          const shown = svg.getBoundingClientRect().width / (svg.viewBox.baseVal.width || svg.width.baseVal.value || 1);
          return [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim() && t.getAttribute("opacity") !== "0")
            .map((t) => shown * parseFloat(getComputedStyle(t).fontSize) * 0.75);
        })"""
    )
    assert len(sizes) > 100
    assert min(sizes) >= 7
