"""The what-if mode starts with the numbers that the page has, and says where it cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.browser.exploring import show
from tests.reporting.made_subjects import looked, scored, world


@pytest.fixture(autouse=True)
def report(need: Callable[[str], Any]) -> None:
    """What pages are made with."""
    need("jinja2")


def started(opened: Any, metric: Any, **policies: Any) -> list[tuple[float, float | None, str]]:
    """Of some queries: the value that the page has, the one that the what-if starts with, and what is said of the two."""
    qrels, runs = world(11)
    explorer = looked(scored(qrels, {"low": runs["low"]}, metric, **policies))
    tab = show(opened, explorer)
    out = []
    for query in [one for one in explorer.queries if one.documents][:5]:
        tab.evaluate("(id) => { window.location.hash = '#q=' + encodeURIComponent(id); }", query.query_id)
        tab.wait_for_function(
            "(id) => document.querySelector('.explorer-title h3').innerText === id", arg=query.query_id
        )
        tab.get_by_role("button", name="What if?").click()
        row = tab.locator(f'.whatif-metrics button[title="{explorer.metrics[0]}"]')
        now = float(row.locator("xpath=ancestor::tr").locator(".whatif-start").inner_text()) if row.count() else None
        other = tab.locator(".whatif-other")
        out.append((query.values[0][0], now, other.inner_text() if other.count() else ""))
    return out


@pytest.mark.parametrize(
    "metric",
    [
        "RBP(p=0.5)", "ERR(max_grade=3)@10", "ERR@5", "nDCG(gain='exponential')@7", "P(level=2)@5", "AP(level=2)", "RR@3",
        "RBP(p=0.9, level=2)", "R@20", "AP@4",
    ],
)  # fmt: skip
def test_it_starts_where_the_page_is(opened: Any, metric: str) -> None:
    found = started(opened, metric)
    assert any(value > 0 for value, _, _ in found)
    assert any(now is not None for _, now, _ in found)
    for value, now, other in found:
        if now is not None:  # RR@3 of a list of three is RR, and has no row of its own
            assert now == pytest.approx(value, abs=5.1e-5)
        assert other == ""


def test_parameters_of_metrics_that_do_not_lead_go_along(opened: Any) -> None:
    qrels, runs = world(11)
    explorer = looked(scored(qrels, {"low": runs["low"]}, ["nDCG@10", "RBP(p=0.5)", "ERR(max_grade=3)@10"]))
    tab = show(opened, explorer)
    tab.get_by_role("button", name="What if?").click()
    names = tab.locator(".whatif-metrics button").evaluate_all("all => all.map((one) => one.title)")
    assert set(explorer.metrics) <= set(names)


@pytest.mark.parametrize(
    "metric", ["nDCG(ideal='retrieved_all')@10", "P(denominator='min_k_relevant')@40", "RBP@5", "NumRelRet"]
)
def test_what_it_does_not_compute_it_says(opened: Any, metric: str) -> None:
    found = started(opened, metric)
    assert found
    for value, now, other in found:
        assert now is None
        assert "a metric that cannot be tried here" in other
        assert f"{value:.4f}" in other


def test_where_conventions_of_a_query_part_them_it_says_both(opened: Any) -> None:
    found = started(opened, "P(level=3)@5", no_relevant=1)
    assert all((other != "") == (abs((now or 0.0) - value) > 1e-4) for value, now, other in found)
    tied = started(opened, "RR", ties="worst")
    assert any(other for _, _, other in tied)
    for value, now, other in tied:
        assert now is not None
        assert (other != "") == (abs(now - value) > 1e-4)
        if other:
            assert f"{now:.4f}" in other
            assert f"{value:.4f}" in other
