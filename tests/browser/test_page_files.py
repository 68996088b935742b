"""What is taken away from a page: files of tables and charts, paper, the clipboard."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from tests.browser import pages
from tests.show.made_charts import FORMS, INHERITED, named_as

from rankscope.blocks import Chart, Column, NumberText, Section, Table, Value, ValueRange
from rankscope.blocks import Page as Content

if TYPE_CHECKING:
    from playwright.sync_api import Download, Locator, Page
    from tests.browser.conftest import Opened


def saved(page: Page, button: Locator) -> tuple[str, bytes]:
    """The file that a button of a menu saves."""
    button.evaluate("button => { button.closest('details').open = true; }")
    with page.expect_download() as waiting:
        button.click()
    download: Download = waiting.value
    return download.suggested_filename, Path(download.path()).read_bytes()


def test_tables_are_saved_in_full(made: Callable[[str], str], opened: Opened) -> None:
    page = opened(made("plain"))
    name, content = saved(page, page.locator("#table-scoreboard [data-export=csv]"))
    assert name == "scoreboard.csv"
    rows = list(csv.reader(content.decode().splitlines()))
    assert rows[0] == [
        "run",
        "nDCG@10",
        "nDCG@10 lower",
        "nDCG@10 upper",
        "AP",
        "AP lower",
        "AP upper",
        "R@100",
        "wins",
    ]
    assert rows[1] == ["bm25", "0.51234567890123", "0.4513", "0.5733", "0.3312", "0.2904", "0.372", "0.7011", ""]
    assert float(rows[3][1]) == 0.1 + 0.2
    name, content = saved(page, page.locator("#table-scoreboard [data-export=json]"))
    assert name == "scoreboard.json"
    records = json.loads(content)
    assert records[0]["nDCG@10"] == 0.51234567890123
    assert records[0]["wins"] is None
    assert records[2]["nDCG@10"] == 0.1 + 0.2
    assert records[1]["wins"] == 1204
    _, content = saved(page, page.locator("#table-per-query [data-export=csv]"))
    rows = list(csv.reader(content.decode().splitlines()))
    assert len(rows) == 46  # folded rows too
    assert [float(row[2]) for row in rows[1:]] == [pages.values(0, i) for i in range(45)]


def test_what_is_saved_is_what_rankscope_writes(made: Callable[[str], str], opened: Opened) -> None:
    from rankscope.show.export import records_of
    from rankscope.show.text import as_csv

    page = opened(made("plain"))
    board = pages.board()
    _, content = saved(page, page.locator("#table-scoreboard [data-export=csv]"))
    header, records = records_of(board.columns, board.rows)
    assert content.decode() == "".join(as_csv(header, records))
    _, content = saved(page, page.locator("#table-scoreboard [data-export=json]"))
    assert json.loads(content) == records


def odd() -> tuple[Table, Chart]:
    """A table and a chart of texts that no page can hold, of numbers as text, and of headers that repeat."""
    texts = ("nul\x00x", "constructor", '"\ud800",\n', " \u202e é", "__proto__")
    columns = (Column("run"), Column("run", "value"), Column("kind\x1b"), Column("n", "count"), Column("share"))
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (text, ValueRange(i / 8, i / 16, math.inf), text, 1000 + i, NumberText(f"{i} of 5", i))
        for i, text in enumerate(texts)
    )
    given = (*rows, ("-", math.nan, None, None, None))
    chart = Chart("odd-chart", "Odd", "bars", columns, given, x="n", y="run", series="kind\x1b")
    return Table(columns, given, best=frozenset({(0, 0)}), name="odd-table"), chart


def test_every_text_is_saved_as_it_is(opened: Opened, need: Callable[[str], ModuleType]) -> None:
    for name in ("altair", "jinja2", "vl_convert"):
        need(name)
    from rankscope.show.export import files_of
    from rankscope.show.html.page import render

    given = Content("t", "", (), (Section("s", "S", odd()),))
    files = dict(files_of(given))
    page = opened(render(given))
    for anchor in ("table-odd-table", "chart-odd-chart > .tools"):
        for kind in ("csv", "json"):
            name, content = saved(page, page.locator(f"#{anchor} [data-export={kind}]"))
            if kind == "json":
                assert json.loads(content) == json.loads(files[name]), name
            else:
                assert content == files[name].replace(b".0,", b",") or content == files[name], name


def test_names_that_every_object_has_are_drawn(opened: Opened, need: Callable[[str], ModuleType]) -> None:
    for name in ("altair", "jinja2", "vl_convert"):
        need(name)
    from rankscope.show.html.page import render

    names = [*INHERITED[7:], *INHERITED[:7]]  # __proto__ is a key like no other, and only a browser has it
    charts = [named_as(form, [*names[i:], *names[:i]]) for form in FORMS for i in (0, 5)]
    page = opened(render(Content("t", "", (), (Section("s", "S", tuple(charts)),))))
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.plot')].every((plot) => plot.querySelector('svg [class*=mark-][class*=role-mark] > *'))"
    )
    assert page.locator(".plot.failed").count() == 0
    assert page.locator(".plot svg").count() == len(charts)


def test_a_chart_that_breaks_while_it_is_drawn_says_so(made: Callable[[str], str], opened: Opened) -> None:
    spoilt = made("whole").replace('"of":["bm25","dense","hybrid"]', '"of":["constructor","dense","hybrid"]')
    assert spoilt != made("whole")
    page = opened(spoilt, expected=["push is not a function"])
    wins = page.locator("#chart-wins")
    wins.scroll_into_view_if_needed()
    wins.locator(".failed").wait_for()
    assert "could not be drawn" in wins.locator(".plot").inner_text()
    assert "not a function" in wins.locator(".plot").inner_text()
    assert wins.locator("svg").count() == 0
    wins.locator(":scope > .tools summary").click()
    wins.locator("[data-export=svg]").click()
    page.get_by_text("It could not be saved").wait_for(state="attached")
    _, content = saved(page, wins.locator(":scope > .tools [data-export=csv]"))
    assert content.startswith(b"run,queries,which\nconstructor,20,better\n")


def test_charts_are_saved_as_pictures_and_as_numbers(made: Callable[[str], str], opened: Opened) -> None:
    page = opened(made("whole"), scheme="dark")
    tools = page.locator("#chart-forest > .tools")
    name, content = saved(page, tools.locator("[data-export=svg]"))
    assert name == "forest.svg"
    assert content.startswith(b"<svg")
    assert b"hybrid" in content
    name, content = saved(page, tools.locator("[data-export=png]"))
    assert name == "forest.png"
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert int.from_bytes(content[16:20], "big") > 1000  # sharp enough to print
    name, content = saved(page, tools.locator("[data-export=csv]"))
    assert name == "forest.csv"
    rows = list(csv.reader(content.decode().splitlines()))
    assert rows[0] == ["run", "difference", "difference lower", "difference upper", "metric"]
    assert [float(field) for field in rows[2][1:4]] == [0.02, 0.0, 0.05]
    name, content = saved(page, tools.locator("[data-export=json]"))
    assert name == "forest.json"
    assert json.loads(content)[0] == {
        "run": "bm25", "difference": 0.01, "difference lower": 0.01 - 0.02, "difference upper": 0.01 + 0.03, "metric": "nDCG@10",
    }  # fmt: skip


def test_it_prints_with_its_charts_and_its_folded_parts(made: Callable[[str], str], opened: Opened) -> None:
    page = opened(made("whole"), scheme="dark")
    pdf = page.pdf()
    assert pdf.startswith(b"%PDF")
    assert pdf.count(b"/Type /Page\n") >= 2
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".folded").get_attribute("open") is not None
    assert page.locator(".plot svg").count() == len(pages.charts())  # no waiting: paper does not wait either
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".tools").first.is_hidden()
    # Chromium repeats a head on the next page only without a button in it
    assert page.locator("thead .sort").count() > 0
    assert page.locator("thead .sort:visible").count() == 0
    printed = (
        "(heads) => heads.map((head) => [JSON.parse(getComputedStyle(head, '::before').content), head.textContent])"
    )
    assert all(one == other for one, other in page.locator("[data-head]").evaluate_all(printed))
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".folded").get_attribute("open") is None


def test_code_is_copied(made: Callable[[str], str], opened: Opened) -> None:
    page = opened(made("plain"), fragment="reproduce", permissions=["clipboard-read", "clipboard-write"])
    page.locator(".copy").click()  # the address has opened the folded part
    page.get_by_text("Copied", exact=True).first.wait_for()
    said = page.evaluate("navigator.clipboard.readText()")
    assert said == "pip install rankscope\nrankscope report qrels.txt bm25.run hybrid.run -o report.html\n"
