"""The report of the demo in a real browser: from the verdict to a document, and the sizes at which it is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope import words
from rankscope.reporting.demo import demo_report
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
    first = tab.locator(".verdict").first
    assert "hybrid beats bm25 on nDCG@10 by 0.082" in first.inner_text()
    link = first.locator("a").first
    query = link.inner_text()
    link.click()
    tab.wait_for_function("() => location.hash.startsWith('#q=')")
    assert chosen(tab) == ("bm25", "hybrid")
    assert query in tab.locator(".explorer-main, [data-explorer]").first.inner_text()
    tab.locator(".explorer-row").first.click()


def test_each_verdict_opens_its_own_two_runs(opened: Any, page: Path) -> None:
    tab = opened(page)
    for number, pair in ((1, ("bm25", "dense")), (0, ("bm25", "hybrid"))):
        tab.locator(".verdict").nth(number).locator("a").first.click()
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
    assert "hybrid beats bm25 on nDCG@10 by 0.082" in said
    assert "0.4640" in said  # the mean of hybrid, in the scoreboard
    assert "q136" in said
