"""The playground in a browser: every list shows what rankscope says, and can be played with."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from rankscope.metrics import parse
from rankscope.reporting.playground import LESSONS, playground, value

KEYS = {
    "P": "P@5", "R": "R@5", "RR": "RR", "AP": "AP", "DCG": "DCG@5", "DCGexp": "DCG(gain='exponential')@5", "nDCG": "nDCG@5",
    "nDCGexp": "nDCG(gain='exponential')@5", "ERR": "ERR@5", "RBP": "RBP",
}  # fmt: skip

NOW = """() => Object.fromEntries([...document.querySelectorAll(".whatif-metrics tbody tr")].map(
    row => [row.dataset.metric, row.querySelector(".whatif-now").textContent]))"""


@pytest.fixture(scope="module")
def html(need: Any) -> str:
    """The page."""
    for name in ("jinja2", "altair"):
        need(name)
    from rankscope.show.html.page import render

    return render(playground())


def at(name: str) -> str:
    return f"q={quote(name, safe='')}"


def test_every_list_shows_what_rankscope_says(opened: Any, html: str) -> None:
    tab = opened(html)
    for lesson in LESSONS:
        tab.evaluate("fragment => { location.hash = fragment }", at(lesson.name))
        tab.locator(".explorer-title", has_text=lesson.name).wait_for()
        assert lesson.worked(lesson.exercise) in tab.locator(".explorer-title").inner_text()
        shown = tab.evaluate(NOW)
        for key, metric in KEYS.items():
            assert shown[key] == f"{value(metric, lesson.grades, lesson.missing):.4f}", (lesson.name, metric)


def test_what_a_list_suggests_can_be_done(opened: Any, html: str) -> None:
    tab = opened(html, fragment=at(LESSONS[0].name))
    tab.get_by_role("button", name="Move d2 up").click()
    swapped = [0, 1, 1, 0, 0, 1]
    shown = tab.evaluate(NOW)
    assert shown["RR"] == "0.5000"
    assert shown["nDCG"] == f"{parse('nDCG@5').of(swapped):.4f}"
    assert "P@5 and R@5 did not move" in tab.locator(".whatif-said").inner_text()
    tab.get_by_role("button", name="Best order").click()
    assert tab.evaluate(NOW)["nDCG"] == "1.0000"


def test_missed_documents_can_be_put_in(opened: Any, html: str) -> None:
    lesson = next(one for one in LESSONS if one.missing and max(one.missing) == 3)
    tab = opened(html, fragment=at(lesson.name))
    tab.get_by_role("button", name="Insert").click()
    put_in = parse("nDCG@5").of(
        [3, *lesson.grades], ideal=[*lesson.missing, *(g for g in lesson.grades if g is not None)]
    )
    assert tab.evaluate(NOW)["nDCG"] == f"{put_in:.4f}"
    assert tab.evaluate(NOW)["RR"] == "1.0000"


def test_the_metric_looked_at_stays(opened: Any, html: str) -> None:
    tab = opened(html, fragment=at(LESSONS[1].name))
    tab.locator("button[data-metric='AP']").click()
    assert "0.7222" in tab.locator(".whatif-title").inner_text()
    tab.evaluate("fragment => { location.hash = fragment }", at(LESSONS[2].name))
    tab.locator(".explorer-title", has_text=LESSONS[2].name).wait_for()
    assert tab.locator(".whatif-title").inner_text().startswith("AP = ")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(opened: Any, html: str, scheme: str) -> None:
    tab = opened(html, fragment=at(LESSONS[4].name), viewport=(360, 740), scheme=scheme)
    tab.locator(".whatif-row").first.wait_for()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360


def test_without_scripts_it_says_something(opened: Any, html: str) -> None:
    tab = opened(html, java_script=False)
    text = tab.locator("main").inner_text()
    assert LESSONS[1].name in text
    assert "sum over relevant documents" in text


def test_the_answer_is_hidden_until_it_is_asked_for(opened: Any, html: str) -> None:
    tab = opened(html)
    for lesson in (LESSONS[0], LESSONS[-1]):
        tab.evaluate("fragment => { location.hash = fragment }", at(lesson.name))
        tab.locator(".explorer-title", has_text=lesson.name).wait_for()
        said = tab.locator(".explorer-answer p")
        assert not said.is_visible()
        tab.get_by_text("Show answer").click()
        assert said.inner_text() == lesson.worked(lesson.solution)


def test_the_arrangement_is_in_the_link(opened: Any, html: str) -> None:
    lesson = next(one for one in LESSONS if one.missing and max(one.missing) == 3)
    tab = opened(html, fragment=at(lesson.name))
    tab.get_by_role("button", name="Insert").click()
    tab.get_by_role("button", name="Move d3 up").click()
    tab.locator("select[aria-label='Grade of d5']").select_option("2")
    tab.get_by_role("button", name="Take d4 out of the list").click()
    told = tab.evaluate("location.hash.slice(1)")
    assert "&l=" in told
    again = opened(html, fragment=told)
    again.locator(".whatif-row").first.wait_for()
    rows = "() => [...document.querySelectorAll('.whatif-row')].map((r) => [r.querySelector('.whatif-id').textContent, r.querySelector('select').value])"
    assert again.evaluate(rows) == tab.evaluate(rows)
    assert again.evaluate(NOW) == tab.evaluate(NOW)
    tab.get_by_role("button", name="Reset").click()
    assert "&l=" not in tab.evaluate("location.hash")


@pytest.mark.parametrize(
    "wrong",
    ["d1!d1!d1", "zzz", "d999", "n", "d0~__proto__", "x" * 5000],
    ids=["twice", "words", "none", "no grade", "prototype", "long"],
)
def test_an_arrangement_that_is_none_leaves_the_list(opened: Any, html: str, wrong: str) -> None:
    tab = opened(html, fragment=f"{at(LESSONS[0].name)}&l={quote(wrong)}")
    tab.locator(".whatif-row").first.wait_for()
    assert tab.locator(".whatif-row").count() in {1, len(LESSONS[0].grades)}
