"""The query explorer in a real browser: what it lists, what it opens, where it leads, and what it saves."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.browser.exploring import FILL, GAINS, GRADES, HOSTILE, LEVEL, USUAL, explorer, ids, pick, query, show, title

if TYPE_CHECKING:
    from playwright.sync_api import Download


@pytest.fixture(autouse=True)
def report(need: Callable[[str], Any]) -> None:
    """What pages are made with."""
    need("jinja2")


def test_the_largest_loss_is_first_and_open(opened: Any) -> None:
    tab = show(opened, explorer(*USUAL))
    assert ids(tab)[0] == title(tab) == "loses"
    assert ids(tab)[-1] == "gains"
    assert tab.locator("[aria-selected=true]").get_attribute("id") == "explorer-at-3"
    assert tab.locator(".explorer-count").inner_text() == "6 queries"
    assert tab.evaluate("document.activeElement === document.body"), "loading moves no focus"
    assert tab.evaluate("window.scrollY") == 0
    assert tab.evaluate("window.location.hash") == ""


def test_order_filter_and_search(opened: Any) -> None:
    tab = show(opened, explorer(*USUAL))
    pick(tab, "Order of the queries", "gain")
    assert ids(tab)[0] == "gains"
    pick(tab, "Order of the queries", "id")
    assert ids(tab) == sorted(q.query_id for q in USUAL)
    pick(tab, "Order of the queries", "unjudged")
    assert set(ids(tab)[:2]) == {"open", "gains"}
    pick(tab, "Order of the queries", "change")
    assert set(ids(tab)[:2]) == {"gains", "loses"}
    expected = {
        "worse": {"loses", "slips"},
        "better": {"gains"},
        "same": {"level", "empty", "open"},
        "flips": {"gains"},
        "none": {"empty", "open"},
    }
    for key, kept in expected.items():
        pick(tab, "Which queries to list", key)
        assert set(ids(tab)) == kept, key
        assert tab.locator(".explorer-count").inner_text() == f"{len(kept)} of 6 queries"
        assert f" {len(kept)}" in tab.locator(".explorer-chip[aria-pressed=true]").inner_text()
    pick(tab, "Which queries to list", "all")
    search = tab.get_by_label("Search queries and documents by id or text")
    search.fill("CORONA")
    assert ids(tab) == ["gains"]
    search.fill("LOS")
    assert ids(tab) == ["loses"]
    search.fill("nothing like it")
    assert ids(tab) == []
    search.press("Escape")
    assert len(ids(tab)) == 6


def test_the_keyboard_is_enough(opened: Any) -> None:
    tab = show(opened, explorer(*USUAL))
    tab.keyboard.press("/")
    assert tab.evaluate("document.activeElement.type") == "search"
    tab.keyboard.type("/")
    assert tab.get_by_label("Search queries and documents by id or text").input_value() == "/", (
        "a slash can be searched for"
    )
    tab.keyboard.press("Escape")
    tab.keyboard.press("ArrowDown")
    order = ids(tab)
    for key, place in (
        ("j", 1),
        ("ArrowDown", 2),
        ("k", 1),
        ("End", 5),
        ("ArrowDown", 5),
        ("Home", 0),
        ("ArrowUp", 0),
        ("j", 1),
    ):
        tab.keyboard.press(key)
        active = tab.get_by_role("listbox").get_attribute("aria-activedescendant")
        assert tab.locator(f"#{active} .explorer-id").inner_text() == order[place]
    assert title(tab) == order[0], "moving opens nothing"
    tab.keyboard.press("Enter")
    assert title(tab) == order[1]
    assert tab.evaluate("document.activeElement.getAttribute('role')") == "listbox"


def test_next_and_previous_follow_order_and_filter(opened: Any) -> None:
    tab = show(opened, explorer(*USUAL))
    pick(tab, "Which queries to list", "same")
    following = tab.get_by_role("button", name="Next query")
    opened = []
    for _ in range(3):
        following.click()
        opened.append(title(tab))
    assert opened == ids(tab)
    assert tab.locator(".explorer-place").inner_text() == "3 of 3"
    tab.get_by_role("button", name="Previous query").click()
    assert title(tab) == ids(tab)[1]


def test_a_query_has_an_address(opened: Any) -> None:
    tab = show(opened, explorer(*USUAL, runs=("bm25", "hybrid")), fragment="q=gains")
    assert title(tab) == "gains"
    tab.evaluate("window.location.hash = '#q=slips&a=hybrid&b=bm25'")
    tab.wait_for_function("document.querySelector('.explorer-title h3').innerText === 'slips'")
    assert tab.get_by_label("baseline").input_value() == "1"
    tab.locator(".explorer-entry").filter(has_text="level").click()
    assert tab.evaluate("window.location.hash") == "#q=level&a=hybrid&b=bm25"
    tab.go_back()
    tab.wait_for_function("document.querySelector('.explorer-title h3').innerText === 'slips'")
    tab.evaluate("window.location.hash = '#q=no%20such'")
    tab.wait_for_selector(".explorer-missing")
    assert tab.locator(".explorer-missing").inner_text() == "No query here has the id no such."
    tab.locator(".explorer-entry").filter(has_text="level").click()
    assert title(tab) == "level"


def test_the_address_of_a_query_can_be_copied(opened: Any) -> None:
    tab = show(opened, explorer(*USUAL), permissions=["clipboard-read", "clipboard-write"])
    tab.get_by_role("button", name="copy link").click()
    tab.get_by_role("button", name="copied").wait_for()
    assert tab.evaluate("navigator.clipboard.readText()").endswith(".html#q=loses")
    tab.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }")
    tab.get_by_role("button", name="Next query").click()
    tab.get_by_role("button", name="copy link").click()
    tab.get_by_role("button", name="copied").wait_for()
    assert tab.evaluate("navigator.clipboard.readText()").endswith(".html#q=slips"), "the old way works too"
    assert tab.locator("body > pre").count() == 0


def test_hostile_text_is_text(opened: Any) -> None:
    odd = [query(text, [text, "good"], ["good"], grades={text: 1.0, "good": 2.0}, text=text) for text in HOSTILE]
    block = explorer(LEVEL, *odd, runs=(HOSTILE[0], "x" * 500), notes=tuple(HOSTILE))
    tab = show(opened, block)
    scripts = tab.evaluate("document.scripts.length")
    pick(tab, "Order of the queries", "given")
    for at, text in enumerate(HOSTILE, 1):
        tab.locator(".explorer-entry").nth(at).click()
        written = tab.evaluate("(text) => rankscope.explorer.cut(rankscope.explorer.name(text), 120)", text)
        for place in (".explorer-title h3", ".explorer-told", "[data-side=a] .explorer-name"):
            assert written[:39] in tab.locator(place).first.evaluate("(e) => e.textContent"), text
        if text.startswith("<"):
            assert written == text
        address = tab.evaluate("window.location.hash")
        assert tab.evaluate("(hash) => rankscope.explorer.asked(hash).q", address) == text
        assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "no sideways scrolling"
    assert tab.evaluate("document.scripts.length") == scripts
    again = show(opened, block, fragment=address[1:], viewport=(360, 740))
    assert again.locator(".explorer-missing").count() == 0
    assert again.evaluate("rankscope.explorer.mounted.state.query") == len(HOSTILE)
    assert again.evaluate("document.documentElement.scrollWidth") == 360


def test_forty_runs_can_be_chosen_from(opened: Any) -> None:
    runs = tuple(f"run {at}" for at in range(40))
    one = query("q", *([["good", *FILL[:at]] for at in range(40)]), grades=GRADES)
    tab = show(opened, explorer(one, runs=runs))
    pick(tab, "run", "39")
    assert tab.evaluate("window.location.hash") == "#q=q&a=run%200&b=run%2039"
    tab.get_by_role("button", name="Exchange the two runs").click()
    assert tab.get_by_label("baseline").input_value() == "39"


def lines(download: Download) -> list[list[str]]:
    """The cells of a saved file, whose lines end as those of every file that rankscope writes."""
    text = Path(download.path()).read_bytes().decode("utf-8")
    assert "\r" not in text
    assert text.endswith("\n")
    return list(csv.reader(io.StringIO(text, newline="")))


def test_what_is_listed_and_shown_can_be_saved(opened: Any) -> None:
    odd = query('a "b", c\nd', ["good"], ["bad", "good"], grades=GRADES, text="x, y")
    tab = show(opened, explorer(odd, GAINS))
    with tab.expect_download() as saved:
        tab.locator(".explorer-queries button", has_text="CSV").click()
    rows = lines(saved.value)
    assert rows[0] == [
        "query_id",
        "text",
        "bm25 nDCG@10",
        "bm25 RR",
        "hybrid nDCG@10",
        "hybrid RR",
        "hybrid - bm25 nDCG@10",
    ]
    assert [row[0] for row in rows[1:]] == ['a "b", c\nd', "gains"]
    assert float(rows[1][6]) == pytest.approx(odd.values[1][0] - odd.values[0][0], abs=1e-5)
    with tab.expect_download() as saved:
        tab.locator(".explorer-query button", has_text="CSV").click()
    rows = lines(saved.value)
    assert rows[0] == [
        "query_id",
        "doc_id",
        "grade",
        "rank bm25",
        "rank hybrid",
        "adds bm25",
        "adds hybrid",
        "to the difference",
        "text",
    ]
    assert rows[2][:5] == ['a "b", c\nd', "bad", "0", "", "1"]


def test_a_phone_shows_one_ranking_at_a_time(opened: Any) -> None:
    tab = show(opened, explorer(*USUAL), viewport=(360, 740), fragment="q=loses")
    assert tab.evaluate("document.documentElement.scrollWidth") == 360
    assert [tab.locator(f"[data-side={side}]").is_visible() for side in "ab"] == [False, True]
    tab.locator(".explorer-tab").first.click()
    assert [tab.locator(f"[data-side={side}]").is_visible() for side in "ab"] == [True, False]
    tab.locator("[data-side=a] .explorer-name").first.click()
    assert [tab.locator(f"[data-side={side}]").is_visible() for side in "ab"] == [False, True], (
        "its other place is shown"
    )


def test_without_scripts_there_is_a_table(opened: Any) -> None:
    tab = show(opened, explorer(*USUAL), java_script=False)
    rows = tab.locator(".explorer-plain tbody tr")
    assert rows.count() == 6
    assert rows.first.locator("th").inner_text() == "loses"
    assert rows.first.locator("td").last.inner_text().startswith("-0.")
    assert rows.first.get_attribute("id") == "q=loses"


def test_many_queries_are_few_elements(opened: Any) -> None:
    queries = [query(f"q{at}", ["good"], ["bad", "good"][at % 2 :], grades=GRADES, texts=False) for at in range(5000)]
    tab = show(opened, explorer(*queries))
    assert tab.locator(".explorer-entry").count() < 60
    tab.get_by_role("listbox").focus()
    tab.keyboard.press("End")
    tab.keyboard.press("Enter")
    assert tab.locator(".explorer-place").inner_text() == "5,000 of 5,000"
