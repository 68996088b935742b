"""The two runs that a query is opened with, wherever a page leads to it; a run beside itself, and means of several runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.browser.exploring import FILL, GRADES, explorer, pick, query, show

from rankscope.blocks import Column, Explorer, Page, Section, Table, Verdict

RUNS = ("base", "best", "odd & name")
ORDERS = (["good", "fine", *FILL[:3]], ["fine", "good", "some"], ["bad", "good"])


@pytest.fixture(autouse=True)
def report(need: Callable[[str], Any]) -> None:
    """What pages are made with."""
    need("jinja2")


def block(**more: Any) -> Explorer:
    text = "a rather long question about what is where, " * 3
    return explorer(
        query("q1", *ORDERS, grades=GRADES, text=text), query("q 2", *ORDERS, grades=GRADES), runs=RUNS, **more
    )


def page_of(*verdicts: Verdict, pair: tuple[str, ...] = ("base", "odd & name"), **more: Any) -> str:
    from rankscope.show.html.page import render

    table = Table((Column("query", queries=True), Column("x", "value")), (("q 2", 0.5),), name="t", pair=pair)
    sections = (Section("tables", "Tables", (table,)), Section("queries", "Queries", (block(**more),)))
    return render(Page("A page", "", verdicts, sections))


FIRST = Verdict(
    "first", "better", "best against base", (("q1", "best +0.1"), ("q 2", "best +0.05")), pairs=(("base", "best"),) * 2
)


def runs_of(tab: Any) -> tuple[str, str]:
    return tuple(
        tab.get_by_label(label, exact=True).evaluate("s => s.selectedOptions[0].text") for label in ("baseline", "run")
    )


def test_a_link_is_the_whole_address(opened: Any) -> None:
    html = page_of(FIRST)
    tab = opened(html)
    assert tab.locator(".verdict a").nth(1).get_attribute("href") == "#q=q%202&a=base&b=best"
    link = tab.locator(".table a")
    assert link.get_attribute("href") == "#q=q%202&a=base&b=odd%20%26%20name"
    link.click()
    tab.wait_for_function("document.querySelector('.explorer-title h3').innerText === 'q 2'")
    assert runs_of(tab) == ("base", "odd & name")
    again = opened(html, fragment=(link.get_attribute("href") or "")[1:])
    assert runs_of(again) == ("base", "odd & name")


def test_without_scripts_the_link_leads_to_the_row(opened: Any) -> None:
    tab = opened(page_of(FIRST), java_script=False, viewport=(1280, 200))
    for link in (tab.locator(".verdict a").nth(1), tab.locator(".table a")):
        tab.goto(tab.url.partition("#")[0])
        link.click()
        assert tab.locator("[id]:target").count() == 1
        row = tab.locator("tr:has(:target)")
        assert row.locator("th").inner_text() == "q 2"
        assert row.evaluate(
            "row => { const box = row.getBoundingClientRect(); return box.top < 200 && box.bottom > 0; }"
        )


def test_without_scripts_no_link_of_many_is_dead(opened: Any) -> None:
    from rankscope.show.html.page import render

    many = [query(f"m{at}", ["bad", "good"], ["good"], grades=GRADES, texts=False) for at in range(600)]
    verdict = Verdict("said", "better", "x", (("m599", "best +0.1"),), pairs=(("base", "best"),))
    table = Table((Column("query", queries=True),), (("m598",),), name="t", pair=("best", "base"))
    sections = (Section("queries", "Queries", (explorer(*many, runs=RUNS[:2]),)), Section("tables", "Tables", (table,)))
    tab = opened(render(Page("A page", "", (verdict,), sections)), java_script=False)
    rows = tab.locator(".explorer-plain tbody tr")
    assert rows.count() == 500
    for link, found in (("verdict", "m599"), ("table", "m598")):
        tab.locator(f".{link} a").click()
        assert tab.locator("tr:has(:target) th").inner_text() == found


def test_beside_a_query_names_are_short_and_spaces_seen(opened: Any) -> None:
    from rankscope.show.html.page import render

    base, best = "x" * 500, "x" * 500 + "y"
    said = f"{best} against {base} +0.100"
    verdict = Verdict(
        "said", "better", "x", ((" q", said), ("q ", said), ("q", "short +0.1")), pairs=((base, best),) * 3
    )
    queries = [query(name, ["good"], ["bad"], grades=GRADES) for name in (" q", "q ", "q")]
    section = Section("queries", "Queries", (explorer(*queries, runs=(base, best)),))
    tab = opened(render(Page("A page", "", (verdict,), (section,))))
    assert tab.locator(".deciding a").all_inner_texts() == ["␣q", "q␣", "q"]
    beside = tab.locator(".deciding .text")
    cut = "x" * 39 + "…"
    assert beside.first.inner_text() == f"{cut} against {cut} +0.100"
    assert beside.first.get_attribute("title") == said
    assert (beside.last.inner_text(), beside.last.get_attribute("title")) == ("short +0.1", None)
    tab.locator(".deciding a").nth(1).click()
    tab.wait_for_function("document.querySelector('.explorer-title h3').innerText === 'q␣'")


def test_a_mean_of_runs_opens_its_first(opened: Any) -> None:
    verdict = Verdict("said", "better", "x", (("q1", "mean +0.1"),), pairs=(("mean", "base"),))
    tab = opened(page_of(verdict, members=(("mean", ("best", "odd & name")),), notes=("mean is a mean",)))
    tab.locator(".verdict a").click()
    tab.wait_for_function("location.hash.includes('&a=')")
    assert runs_of(tab) == ("best", "base")
    assert "mean is a mean" in tab.locator("[data-explorer]").inner_text()


@pytest.mark.parametrize("pair", [("nobody", "base"), ("base", "base"), ()])
def test_a_pair_that_is_none_opens_the_first_two(opened: Any, pair: tuple[str, ...]) -> None:
    tab = opened(page_of(pair=pair))
    assert tab.locator(".table a").get_attribute("href") == "#q=q%202"
    tab.locator(".table a").click()
    assert runs_of(tab) == ("base", "best")


def test_what_decides_has_a_label_and_is_said_once(opened: Any) -> None:
    other = Verdict("third", "worse", "odd", (("q1", "odd -0.1"),), pairs=(("base", "odd & name"),))
    losing = Verdict("fourth", "plain", "what is lost", (("q 2", "0.1"),))
    tab = opened(page_of(FIRST, FIRST, other, losing))
    said = tab.locator(".verdict").all_inner_texts()
    assert ["largest differences" in text for text in said] == [True, False, True, False]
    assert "queries to look at" in said[3]
    asked = tab.locator(".verdict").first.locator(".asked")
    assert asked.count() == 1, "q 2 has no text"
    assert len(asked.inner_text()) <= 60
    assert asked.inner_text().endswith("…")
    assert (asked.get_attribute("title") or "").startswith(asked.inner_text()[:-1])


def test_a_run_beside_itself_says_so(opened: Any) -> None:
    tab = show(opened, block(), fragment="q=q1&a=best&b=best")
    story = tab.locator(".explorer-story").inner_text()
    assert "selected on both sides" in story
    assert tab.locator("[data-side=best] .explorer-row").count() == 3
    assert "good" in tab.locator("[data-side=best] .explorer-row").first.inner_text()
    assert tab.locator(".explorer-differences").count() == 0
    assert "→" not in tab.locator(".explorer-entry").first.inner_text()
    pick(tab, "run", "2")
    assert "selected on both sides" not in tab.locator(".explorer-story").inner_text()
    assert tab.locator("[data-side=b] .explorer-row").count() == 2


def test_numbers_are_those_that_python_writes(opened: Any) -> None:
    from rankscope.words import cell, count, number

    tab = show(opened, block())
    values = [k / 32 for k in range(-65, 66)] + [0.0004, -0.00042, 0.000999, 0.0005, 1 / 3, -2 / 3, 12.345, 1234.5]
    each = "(v) => [rankscope.explorer.written(v), rankscope.explorer.signed(v), rankscope.cell(v, true)]"
    written = tab.evaluate(f"(all) => all.map({each})", values)
    assert written == [[number(v), number(v, sign=True), cell(v, sign=True).replace("-", "−")] for v in values]
    assert tab.evaluate("[1, 999, 8691, 1234567].map(rankscope.count)") == list(map(count, (1, 999, 8691, 1234567)))
    assert tab.evaluate("[NaN, null, Infinity].map((v) => rankscope.number(v))") == ["-", "-", "∞"]


def test_what_one_run_misses_is_named(opened: Any) -> None:
    from dataclasses import replace

    from rankscope.blocks import Document

    one = query("q", ["bad", *FILL[:12]], grades=GRADES, depth=5)
    missed = (Document("good", 3.0, (0,), (0.0,)), Document("fine", 2.0, (12,), (0.0,)))
    tab = show(opened, explorer(replace(one, documents=(*one.documents, *missed)), runs=("bm25",), depth=5))
    rows = tab.locator("[data-side=best] .explorer-row").all_inner_texts()
    assert "good" in rows[0]
    assert "missed" in rows[0]
    assert "fine" in rows[1]
    assert "▲ 10" in rows[1]
    assert "a document of grade 1" in rows[2]
    tab.get_by_role("button", name="What if?").click()
    options = tab.locator(".whatif-tray option").all_inner_texts()
    assert any("good" in text for text in options)


def test_a_relevant_document_that_no_run_shows_is_found_by_its_id(opened: Any) -> None:
    from dataclasses import replace

    from rankscope.blocks import Document

    one = query("q", ["bad", *FILL[:12]], grades=GRADES, depth=5)
    names = [f"hidden-{i}" for i in range(14)]
    others = tuple(Document(name, 3.0, (7 if name == "hidden-4" else 0,), (0.0,)) for name in names)
    tab = show(opened, explorer(replace(one, others=others, judged=((3.0, 14), (1.0, 2))), runs=("bm25",), depth=5))
    tab.get_by_role("button", name="What if?").click()
    tray, find = tab.locator(".whatif-tray option"), tab.get_by_label("Find a document that is not in the list")
    assert all(any(name in text for text in tray.all_inner_texts()) for name in names)
    find.fill("HIDDEN-4")
    assert tray.all_inner_texts() == ["hidden-4 (grade 3), at rank 7"]
    find.fill("nowhere")
    assert tray.all_inner_texts() == ["No document matches"]
    assert tab.get_by_role("button", name="Insert").is_disabled()
    find.fill("den-11")
    find.press("Enter")
    first = tab.locator(".whatif-list > li").first
    assert "hidden-11" in first.inner_text()
    assert not any("hidden-11" in text for text in tray.all_inner_texts())
