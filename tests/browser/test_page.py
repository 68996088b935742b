"""The page in a real browser: it opens alone and in silence, and all that it offers works."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import pytest
from tests.browser import pages
from tests.browser.exploring import load_again

from rankscope.blocks import Chart, Column, Paragraph, Section, ValueRange
from rankscope.blocks import Page as PageOf

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.browser.conftest import Opened


def scrolled(page: Page) -> None:
    """Goes through the whole page, so that every chart comes near."""
    for plot in page.locator(".plot").all():
        plot.scroll_into_view_if_needed()
        plot.locator("svg, canvas").first.wait_for()


def test_it_opens_in_silence_with_its_verdict_and_its_charts(made: Callable[[str], str], opened: Opened) -> None:
    page = opened(made("whole"))
    assert page.locator("h1").inner_text() == "hybrid and dense against bm25"
    first = page.locator(".verdicts .verdict").first
    assert "hybrid beats bm25 on nDCG@10 by 0.0213" in first.inner_text()
    assert "Better" in first.inner_text()
    scrolled(page)
    assert page.locator(".plot svg").count() == len(pages.charts())
    assert page.locator(".failed").count() == 0


def test_what_decides_a_verdict_is_one_click_away(made: Callable[[str], str], opened: Opened) -> None:
    page = opened(made("whole"))
    page.locator(".deciding a", has_text="q7").click()
    assert page.evaluate("location.hash") == "#q=q7"


def test_without_scripts_verdict_and_numbers_are_there(made: Callable[[str], str], opened: Opened) -> None:
    page = opened(made("whole"), java_script=False)
    assert page.locator(".verdict").first.is_visible()
    assert page.locator("#queries tbody tr").last.is_visible()  # no row waits for a button
    assert page.locator("[data-export]").first.is_hidden()
    assert page.locator(".themes").is_hidden()
    assert page.locator("noscript p").first.is_visible()
    numbers = page.locator("#chart-forest .numbers")
    numbers.locator("> summary").click()
    assert numbers.locator("tbody tr").count() == 3
    assert numbers.locator("tbody tr").first.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_themes(made: Callable[[str], str], opened: Opened, scheme: Literal["light", "dark"]) -> None:
    page = opened(made("whole"), scheme=scheme)

    colours = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 22, 26)"}

    def wait_for_paper(theme: str) -> None:
        """A page that was just loaded or told to change takes its time while all cores are busy."""
        page.wait_for_function(
            "colour => document.body && getComputedStyle(document.body).backgroundColor === colour", arg=colours[theme]
        )

    wait_for_paper(scheme)
    page.locator("#chart-cutoffs .plot").scroll_into_view_if_needed()
    page.locator("#chart-cutoffs svg").wait_for()
    before = page.locator("#chart-cutoffs .plot").inner_html()
    other = {"light": "Dark", "dark": "Light"}[scheme]
    button = page.get_by_role("button", name=other, exact=True)
    button.click()
    wait_for_paper(other.lower())
    assert button.get_attribute("aria-pressed") == "true"
    page.locator("#chart-cutoffs .plot").scroll_into_view_if_needed()  # the button stands far above
    page.wait_for_function(
        "before => { const plot = document.querySelector('#chart-cutoffs .plot');"
        " return plot.querySelector('svg') && plot.innerHTML !== before; }",
        arg=before,
    )  # charts take the colours too
    load_again(page)
    wait_for_paper(other.lower())  # it is remembered
    page.get_by_role("button", name="System", exact=True).click()
    wait_for_paper(scheme)


def test_a_header_sorts_by_pointer_and_by_keys(made: Callable[[str], str], opened: Opened) -> None:
    page = opened(made("plain"))
    head = page.locator("#table-scoreboard thead th").nth(4)
    wins = page.locator("#table-scoreboard tbody tr > :nth-child(5)")
    assert wins.all_inner_texts() == ["-", "1,204", "2,101"]
    head.get_by_role("button").click()
    assert wins.all_inner_texts() == ["2,101", "1,204", "-"]
    assert head.get_attribute("aria-sort") == "descending"
    page.keyboard.press("Enter")
    assert wins.all_inner_texts() == ["1,204", "2,101", "-"]  # what has no value comes last either way
    assert head.get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert wins.all_inner_texts() == ["-", "1,204", "2,101"]
    assert head.get_attribute("aria-sort") is None
    names = page.locator("#table-per-query tbody tr > :first-child")
    page.locator("#table-per-query thead button").first.click()
    assert names.all_text_contents()[:12] == [f"q{i}" for i in range(12)]  # 10 after 9


def test_definitions_are_shown_on_hover_and_on_focus(made: Callable[[str], str], opened: Opened) -> None:
    page = opened(made("plain"), viewport=(360, 740))
    button = page.locator("#table-scoreboard thead button").nth(1)
    button.focus()
    bubble = page.locator(".bubble")
    assert "each discounted by its rank" in bubble.inner_text()
    box = bubble.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    page.keyboard.press("Escape")
    assert bubble.is_hidden()
    button.hover()
    assert bubble.is_visible()
    page.locator(".glossary summary").first.click()
    assert page.locator(".glossary dd").first.is_visible()


def test_long_tables_unfold_into_a_box_of_their_own(made: Callable[[str], str], opened: Opened) -> None:
    page = opened(made("plain"))
    rows, box = page.locator("#table-per-query tbody tr:visible"), page.locator("#table-per-query .scroll")
    assert rows.count() == 10
    page.get_by_role("button", name="Show all 45").click()
    assert rows.count() == 45
    assert box.evaluate("(box) => box.scrollHeight > box.clientHeight && box.clientHeight <= 0.75 * innerHeight + 1")
    assert "gradient" in box.evaluate("(box) => getComputedStyle(box).backgroundImage")
    box.evaluate("(box) => (box.scrollTop = 400)")
    top = "(part) => part.getBoundingClientRect().top"
    assert abs(page.locator("#table-per-query thead th").first.evaluate(top) - box.evaluate(top)) < 3
    page.get_by_role("button", name="Show fewer").click()
    assert rows.count() == 10


def test_further_charts_of_a_folded_section_are_folded_under_their_titles(
    opened: Opened, made: Callable[[str], str]
) -> None:
    made("plain")  # where the packages are missing, it is skipped here
    from rankscope.show.html.page import render

    one, two, three, *_ = pages.charts()
    told = Paragraph("Shown are 3 pairs.", quiet=True)
    blocks = (one, pages.board(), two, three, pages.per_query(3), told)
    page = opened(render(PageOf("t", "", (), (Section("s", "S", blocks, folded=True),))), fragment="s")
    further = page.locator(".further")
    assert further.count() == 1
    assert further.locator("> summary").inner_text().strip() == two.title
    assert further.locator(".chart").count() == 2
    assert page.get_by_text("Shown are 3 pairs.").is_visible()
    assert page.locator("#chart-forest").is_visible()
    assert page.locator("#chart-waterfall").is_hidden()
    further.locator("> summary").click()
    page.locator("#chart-waterfall svg").wait_for()
    left, right = (page.locator(f"#chart-{name}").bounding_box() for name in ("waterfall", "scatter"))
    assert left is not None
    assert right is not None
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]


def test_a_mark_opens_its_query(made: Callable[[str], str], opened: Opened) -> None:
    page = opened(made("whole"))
    plot = page.locator("#chart-waterfall .plot")
    plot.scroll_into_view_if_needed()
    plot.locator("svg .mark-rect path").nth(1).click()
    page.wait_for_function("() => location.hash.startsWith('#q=q')")


def test_small_charts_stand_side_by_side_where_there_is_room(made: Callable[[str], str], opened: Opened) -> None:
    made("plain")  # where the packages are missing, it is skipped here
    from rankscope.show.html.page import render

    columns = (Column("run"), Column("difference", "value"), Column("metric"))
    rows = tuple((run, ValueRange(0.1, 0.0, 0.2), metric) for metric in ("AP", "RR", "P@10") for run in pages.RUNS)
    chart = Chart("three", "Three", "intervals", columns, rows, x="difference", y="run", panel="metric")
    page = opened(render(PageOf("t", "", (), (Section("s", "S", (chart,)),))))
    page.locator(".plot svg").wait_for()
    wide = page.locator(".plot svg").bounding_box()
    page.set_viewport_size({"width": 360, "height": 740})
    page.wait_for_function("() => document.querySelector('.plot svg')?.getBoundingClientRect().width < 350")
    narrow = page.locator(".plot svg").bounding_box()
    assert wide is not None
    assert narrow is not None
    assert wide["width"] > 2 * wide["height"]
    assert narrow["height"] > narrow["width"] > 200
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_chart_that_fails_says_so_and_the_others_stand(made: Callable[[str], str], opened: Opened) -> None:
    broken = made("whole").replace('"fields":{', '"fields":{"bad":{"of":0,"at":0},', 1)
    page = opened(broken)
    page.locator("#chart-forest").scroll_into_view_if_needed()
    page.locator("#chart-forest .failed").wait_for()
    assert "could not be drawn" in page.locator("#chart-forest .failed").inner_text()
    page.locator("#chart-waterfall").scroll_into_view_if_needed()
    page.locator("#chart-waterfall svg").wait_for()


@pytest.mark.parametrize("name", ["whole", "odd"])
def test_nothing_runs_and_nothing_sticks_out(made: Callable[[str], str], opened: Opened, name: str) -> None:
    page = opened(made(name), viewport=(360, 740))
    alerts: list[str] = []
    page.on("dialog", lambda dialog: alerts.append(dialog.message))
    page.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = true))")
    scrolled(page)
    for width in (360, 768, 1280):
        page.set_viewport_size({"width": width, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not alerts
    assert page.locator("body img").count() == 0
    if name == "odd":
        assert page.locator("h1").inner_text() == pages.EVIL
        assert pages.EVIL in page.locator(".verdict .said").first.inner_text()
        assert pages.EVIL in page.locator(".chart h3").first.inner_text()
        assert page.title() == pages.EVIL


def test_marks_say_markup_as_text(made: Callable[[str], str], opened: Opened) -> None:
    page = opened(made("odd"))
    plot = page.locator("#charts .plot").nth(1)
    plot.scroll_into_view_if_needed()
    plot.locator("svg .mark-rect path").first.hover()
    page.locator(".tip").wait_for()
    assert pages.EVIL in page.locator(".tip").inner_text()
    assert page.locator(".tip img").count() == 0
