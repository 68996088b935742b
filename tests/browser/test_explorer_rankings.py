"""Two rankings of the explorer in a real browser: where documents stand, and that what they add is the difference."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import pytest
from tests.browser.exploring import FILL, GRADES, LEVEL, LOSES, USUAL, explorer, ids, pick, query, ranked, show, title

from rankscope.blocks import Query
from rankscope.words import number


@pytest.fixture(autouse=True)
def report(need: Callable[[str], Any]) -> None:
    """What pages are made with."""
    need("jinja2")


def test_documents_are_where_their_ranks_say(opened: Any) -> None:
    tab = show(opened, explorer(*USUAL), fragment="q=loses")
    assert ranked(tab, "a") == ["good", "fine", *FILL[:8], "fill8"][:10]
    assert ranked(tab, "b") == ["bad", *FILL[:8], "good", "fine"]
    row = tab.locator("[data-side=b] .explorer-row").filter(has_text="good").first
    assert row.locator(".explorer-rank").inner_text() == "10"
    assert row.locator(".explorer-move").inner_text().startswith("▼ 9")
    gone = tab.locator("[data-side=b] .explorer-row").filter(has_text="bad").first
    assert gone.locator(".explorer-move").inner_text().startswith("new")
    assert tab.locator("[data-side=a] .explorer-grade").all_inner_texts() == ["3", "2", *["?"] * 8]
    assert "more documents not shown" in tab.locator("[data-side=a] .explorer-gap").inner_text()
    texts = tab.locator("[data-side=b] > ol > li").all_inner_texts()
    line = next(at for at, text in enumerate(texts) if "looks no further" in text)
    assert line == 10, "below rank 10"


def test_what_is_on_the_page_adds_up_to_the_difference(opened: Any) -> None:
    third = [["good", "some", *FILL], ["bad", *FILL, "some", "good"], [*FILL[20:], "good", "fine", "some"]]
    deep = query("deep", *third, grades=GRADES, depth=1)
    tab = show(opened, explorer(deep, runs=("a", "b", "c"), depth=1))
    for a, b in (("0", "1"), ("1", "0"), ("0", "2"), ("2", "1"), ("1", "1")):
        pick(tab, "baseline", a)
        pick(tab, "run", b)
        shown = tab.evaluate("[...document.querySelectorAll('[data-change]')].map((e) => Number(e.dataset.change))")
        expected = deep.values[int(b)][0] - deep.values[int(a)][0]
        assert math.fsum(shown) == pytest.approx(expected, abs=2e-5), (a, b)


def test_every_query_adds_up(opened: Any) -> None:
    tab = show(opened, explorer(*USUAL))
    pick(tab, "Order of the queries", "given")
    for at, one in enumerate(USUAL):
        tab.locator(".explorer-entry").nth(at).click()
        assert title(tab) == one.query_id
        shown = tab.evaluate("[...document.querySelectorAll('[data-change]')].map((e) => Number(e.dataset.change))")
        assert math.fsum(shown) == pytest.approx(one.values[1][0] - one.values[0][0], abs=2e-5), one.query_id


def test_a_sentence_says_what_happened(opened: Any) -> None:
    tab = show(opened, explorer(*USUAL), fragment="q=loses")
    one = LOSES.values[1][0] - LOSES.values[0][0]
    adds = {d.doc_id: d.adds[1] - d.adds[0] for d in LOSES.documents}

    assert tab.locator(".explorer-story p").first.inner_text() == (
        f"hybrid loses {number(abs(one))} here: good (grade 3) falls from rank 1 to 10 ({number(adds['good'])}); "
        f"fine (grade 2) falls from rank 2 to 33 ({number(adds['fine'])})."
    )
    assert (
        "3 relevant documents are known: 2 in the top 10 of bm25, the first at rank 1; 1 in the top 10 of hybrid"
        in tab.locator(".explorer-story").inner_text()
    )
    tab.evaluate("window.location.hash = '#q=level'")
    tab.wait_for_function("document.querySelector('.explorer-title h3').innerText === 'level'")
    assert "hybrid and bm25 are equal here" in tab.locator(".explorer-story").inner_text()


def test_lower_may_be_better(opened: Any) -> None:
    tab = show(opened, explorer(*USUAL, better="lower"))
    assert ids(tab)[0] == title(tab) == "gains"
    assert "higher here, which is worse" in tab.locator(".explorer-story").inner_text()
    assert tab.locator(".explorer-lead").get_attribute("data-tone") == "worse"
    neither = show(opened, explorer(*USUAL, better="neither"), fragment="q=gains")
    assert neither.locator(".explorer-lead").get_attribute("data-tone") == "changed"


def test_the_same_document_is_linked(opened: Any) -> None:
    tab = show(opened, explorer(*USUAL), fragment="q=loses")
    tab.locator("[data-side=a] .explorer-name").first.hover()
    assert tab.locator(".explorer-row.explorer-lit .explorer-name").all_inner_texts() == ["good", "good"]
    assert tab.locator("path.explorer-lit").count() == 1
    tab.locator("[data-side=b] .explorer-name").last.focus()
    assert tab.locator(".explorer-row.explorer-lit .explorer-name").all_inner_texts() == ["fine", "fine"]
    tab.locator(".explorer-told").first.click()
    assert tab.evaluate("document.activeElement.innerText") == "good"


def test_one_run_stands_beside_the_best_there_is(opened: Any) -> None:
    one = query("q", ["bad", "some", *FILL[:3]], grades={**GRADES, "other": 2.0}, text="what is there")
    none = query("none", FILL[:3], grades={})
    tab = show(opened, explorer(none, one, runs=("bm25",)), fragment="q=q")
    assert tab.locator("[data-side=best] > ol > li").all_inner_texts()[0].split("\n")[0] == "1"
    best = tab.locator("[data-side=best] .explorer-row").all_inner_texts()
    assert ["a document of grade 3" in row for row in best] == [True, False, False, False]
    assert "some" in best[3]
    assert tab.locator("[data-change]").count() == 0
    assert tab.locator(".explorer-pick", has_text="baseline").count() == 0
    pick(tab, "Which queries to list", "missed")
    assert ids(tab) == ["none"]
    tab.locator(".explorer-entry").click()
    assert "No document is judged" in tab.locator(".explorer-story").inner_text()
    assert "no document of a grade above 0" in tab.locator("[data-side=best]").inner_text()


def test_values_that_are_not_there_are_dashes(opened: Any) -> None:
    one = Query("q", "", ((math.nan, 0.5), (0.25, math.nan)), (), (0, 0), (), ((), ()), (0.0, 0.0), (0, 0))
    tab = show(opened, explorer(one))
    assert "no value here under bm25" in tab.locator(".explorer-story").inner_text()
    assert tab.locator(".explorer-table tbody tr").first.inner_text().split("\t")[1].startswith("-")
    assert "retrieved nothing" in tab.locator("[data-side=a]").inner_text()


def test_what_if_takes_the_place_of_a_ranking(opened: Any) -> None:
    tab = show(opened, explorer(*USUAL), fragment="q=loses")
    if not tab.evaluate("Boolean(rankscope.whatif && rankscope.whatif.mount)"):
        pytest.skip("there is no what-if on this page")
    tab.locator("[data-side=b] button", has_text="What if?").click()
    assert tab.locator(".explorer-try").inner_text()
    assert not tab.locator("[data-side=b] .explorer-ranking").is_visible()
    tab.get_by_role("button", name="Back to the ranking").click()
    assert tab.locator(".explorer-try").count() == 0
    assert tab.locator("[data-side=b] .explorer-ranking").is_visible()
    taken = tab.evaluate(
        "(() => { const e = rankscope.explorer, d = e.mounted.data; return e.whatifList(e.pair(d, d.queries[3], 0, 1), 1); })()"
    )
    assert [doc["id"] for doc in taken["docs"]] == ["bad", *FILL[:8], "good"]
    assert taken["beyond"] == [[33, 2, "fine", "the text of fine"]]
    assert taken["judged"] == [[3, 1], [2, 1], [1, 1], [0, 1]]
    assert taken["size"] == 33


def test_examples_open_as_what_if(opened: Any) -> None:
    example = query("Two at the top", ["good", "bad", "fine"], grades=GRADES, text="A first example")
    tab = show(opened, explorer(example, LEVEL, runs=("example",), teaching=True))
    assert ids(tab) == ["Two at the top", "level"]
    assert title(tab) == "Two at the top"
    assert tab.locator(".explorer-try, .explorer-board").count() == 1


def test_the_demo_adds_up(opened: Any) -> None:
    try:
        demo: Any = importlib.import_module("rankscope.reporting.report")
        report = demo.demo_report()
    except (ImportError, AttributeError) as missing:
        pytest.skip(f"there is no report of the demo yet: {missing}")
    block = report.page.explorer
    tab = show(opened, block)
    for place in range(0, len(block.queries), 20):
        one = block.queries[place]
        tab.evaluate("(id) => { window.location.hash = '#q=' + encodeURIComponent(id); }", one.query_id)
        tab.wait_for_function("(id) => document.querySelector('.explorer-title h3').innerText === id", arg=one.query_id)
        shown = tab.evaluate("[...document.querySelectorAll('[data-change]')].map((e) => Number(e.dataset.change))")
        assert math.fsum(shown) == pytest.approx(one.values[1][0] - one.values[0][0], abs=5e-5)
