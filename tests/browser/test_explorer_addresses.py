"""The address of a query: where it asks for none that is here, what is said once, and how ids are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.browser.exploring import HOSTILE, USUAL, explorer, ids, pick, query, show, title


@pytest.fixture(autouse=True)
def report(need: Callable[[str], Any]) -> None:
    """What pages are made with."""
    need("jinja2")


def test_where_the_query_is_missing_nothing_else_takes_its_place(opened: Any) -> None:
    """The console stays silent, which the page sees to; the list and the runs go on, and the address says what was asked for."""
    tab = show(opened, explorer(*USUAL), fragment="q=gains", permissions=["clipboard-read", "clipboard-write"])
    for start in ("q=zzz", "q=zz&a=hybrid&b=bm25"):
        tab.evaluate("(hash) => (window.location.hash = hash)", start)
        said = tab.locator(".explorer-missing bdi", has_text=start[2:4])
        said.wait_for()
        tab.get_by_role("button", name="Exchange the two runs").click()
        pick(tab, "run", "0")
        pick(tab, "run", "1")
        pick(tab, "baseline", "0")
        pick(tab, "Which queries to list", "same")
        pick(tab, "Which queries to list", "all")
        assert said.count() == 1
        assert tab.locator(".explorer-title").count() == 0
        assert tab.evaluate("window.location.hash") == f"#{start}"
        assert tab.locator(".explorer-place").inner_text() == ""
        assert tab.locator("[aria-selected=true]").count() == 0
        tab.get_by_role("button", name="copy link").click()
        tab.get_by_role("button", name="copied").wait_for()
        assert tab.evaluate("navigator.clipboard.readText()").endswith(f".html#{start}")
        tab.get_by_role("button", name="copy link").wait_for()
    tab.get_by_role("button", name="Next query").click()
    assert (title(tab), tab.locator(".explorer-place").inner_text()) == (ids(tab)[0], "1 of 6")
    for fragment in ("q=zzz", "q="):
        again = show(opened, explorer(*USUAL), fragment=fragment)
        again.get_by_role("button", name="Exchange the two runs").click()
        again.get_by_role("button", name="Previous query").click()
        assert title(again) == ids(again)[0]


def test_what_is_left_out_is_said_once(opened: Any) -> None:
    note = "76,294 queries are left out, so that the page stays small: those on which the runs differ least"
    block = explorer(*USUAL, left_out=76_294, notes=(note,))
    assert show(opened, block).locator("[data-explorer]").inner_text().count("76,294") == 1
    missing = show(opened, block, fragment="q=zzz").locator(".explorer-missing").inner_text()
    assert missing == "No query here has the id zzz. 76,294 queries are not in this file."
    plain = show(opened, block, java_script=False).locator("[data-explorer] > .explorer-plain").inner_text()
    assert plain.count("76,294") == 1


def test_of_an_address_the_first_counts(opened: Any) -> None:
    tab = show(opened, explorer(*USUAL), fragment="q=slips&q&q=gains&a=hybrid&a=bm25&b=bm25&__proto__=x")
    assert title(tab) == "slips"
    assert tab.get_by_label("baseline").input_value() == "1"


def test_ids_are_written_as_python_writes_them(opened: Any) -> None:
    from rankscope.show.html.tables import visible_id

    signs = "\x00\x1b\x7f\x85\xad\u061c\u200b\u200c\u200d\u200e\u2028\u2029\u202e\u2066\u3000\ue000\ufeff\ufffa\U000e0041\n\r\t\\"
    texts = [*HOSTILE, *(f"a{sign}b" for sign in signs), " ", "a ", "  a", "a b", ""]
    tab = show(opened, explorer(*USUAL))
    assert tab.evaluate("(all) => all.map(rankscope.name)", texts) == [visible_id(text) for text in texts]


def test_an_arrangement_of_what_if_is_in_the_link(opened: Any) -> None:
    """The side and the order come back; another query, or the ranking itself, has none of it."""
    tab = show(opened, explorer(*USUAL), fragment="q=gains")
    tab.locator('[data-side="b"]').get_by_role("button", name="What if?").click()
    rows = "() => [...document.querySelectorAll('[data-side=b] .whatif-row .whatif-id')].map((r) => r.textContent)"
    start = tab.evaluate(rows)
    tab.get_by_role("button", name=f"Move {start[1]} up").click()
    told = tab.evaluate("location.hash.slice(1)")
    assert told.startswith("q=gains&w=b&l=")
    again = show(opened, explorer(*USUAL), fragment=told)
    again.locator(".whatif-row").first.wait_for()
    assert again.evaluate(rows) == [start[1], start[0], *start[2:]]
    assert again.evaluate("location.hash.slice(1)") == told
    again.get_by_role("button", name="Back to the ranking").click()
    assert again.evaluate("location.hash.slice(1)") == "q=gains"
    tab.get_by_role("button", name="Next query").click()
    assert "&l=" not in tab.evaluate("location.hash")


def test_ranks_of_any_length_stand_in_their_column(opened: Any) -> None:
    deep = [f"d{i}" for i in range(1, 1500)]
    far = query("far", ["good", *deep], [*deep, "good"], grades={"good": 3.0, "d1": 1.0})
    tab = show(opened, explorer(far), viewport=(1440, 900))
    for row in tab.locator(".explorer-row").all():
        assert row.evaluate("r => r.firstChild.scrollWidth <= r.firstChild.clientWidth + 1"), row.inner_text()
