"""The explorer follows the metric, finds documents, keeps notes and grades, and the worklist is graded in the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.browser.exploring import HOSTILE, USUAL, explorer, ids, load_again, query, show, title

import rankscope as rs

SEARCH = "Search queries and documents by id or text"
QRELS = {f"q{i}": {"a": 3, "b": 1, "c": 0, "d": 2} for i in range(8)}
OLD = {q: {"x": 5.0, "c": 4.0, "b": 3.0, "a": 2.0, "d": 1.0} for q in QRELS}
NEW = {q: {"a": 5.0, "y": 4.0, "b": 3.0, "d": 2.0, "c": 1.0 + i} for i, q in enumerate(QRELS)}


@pytest.fixture(autouse=True)
def report(need: Callable[[str], Any]) -> None:
    """What pages are made with."""
    for name in ("jinja2", "altair", "vl_convert"):
        need(name)


def whole(opened: Any, tmp_path: Path, **options: Any) -> Any:
    """A real report, with notes if there are some."""
    made = rs.report(QRELS, {"old": OLD, "new": NEW}, ["nDCG@3", "AP", "RR", "Bpref"], **options)
    return opened(made.save(tmp_path / "report.html"))


def test_list_order_filters_and_adds_follow_the_metric(opened: Any, tmp_path: Path) -> None:
    tab = whole(opened, tmp_path)
    values = rs.evaluate(QRELS, {"old": OLD, "new": NEW}, ["nDCG@3", "AP", "RR", "Bpref"])
    for metric in ("AP", "RR", "nDCG@3"):
        tab.get_by_label("metric", exact=True).select_option(label=metric)
        tab.wait_for_timeout(100)
        frame = {(r["run"], r["query_id"]): r["value"] for r in values.per_query.to_dicts() if r["metric"] == metric}
        one = title(tab)
        story = tab.locator(".explorer-story p").first.inner_text()
        change = frame["new", one] - frame["old", one]
        shown = tab.locator("[aria-selected=true] .explorer-change").inner_text()
        assert float(shown.replace("−", "-")) == pytest.approx(change, abs=6e-4)
        adds = tab.locator("[data-change]").evaluate_all("all => all.map((e) => Number(e.dataset.change))")
        assert sum(adds) == pytest.approx(change, abs=1e-4), (metric, story)
        assert "adds" in tab.locator("[data-side=b] .explorer-heads").inner_text()
        assert metric in tab.locator("[data-side=b] .explorer-add").first.get_attribute("title")


def test_the_metric_is_part_of_the_address(opened: Any, tmp_path: Path) -> None:
    tab = whole(opened, tmp_path)
    tab.get_by_label("metric", exact=True).select_option(label="RR")
    tab.wait_for_function("() => location.hash.includes('m=RR')")
    again = opened(tmp_path / "report.html", fragment=tab.evaluate("location.hash.slice(1)"))
    again.wait_for_selector(".explorer-row")
    assert again.get_by_label("metric", exact=True).evaluate("s => s.selectedOptions[0].text") == "RR"


def test_what_documents_add_to_a_metric_that_the_page_cannot_compute_is_left_open(opened: Any, tmp_path: Path) -> None:
    tab = whole(opened, tmp_path)
    tab.get_by_label("metric", exact=True).select_option(label="Bpref")
    tab.wait_for_timeout(100)
    adds = tab.locator(".explorer-row [data-change]").evaluate_all("all => all.map((e) => Number(e.dataset.change))")
    assert set(adds) <= {0}
    difference = float(tab.locator("[aria-selected=true] .explorer-change").inner_text().replace("−", "-"))
    if difference:
        assert "what is not shown" in tab.locator(".explorer-story").inner_text()


def test_documents_are_found_by_id_and_text_and_nothing_found_can_be_cleared(opened: Any) -> None:
    tab = show(opened, explorer(*USUAL))
    search = tab.get_by_label(SEARCH)
    search.fill("the text of fill29")
    assert ids(tab) == []
    assert tab.locator(".explorer-nothing").inner_text() == "No query matches; clear"
    tab.locator(".explorer-nothing button").click()
    assert len(ids(tab)) == len(USUAL)
    assert search.input_value() == ""
    search.fill("fine")
    assert set(ids(tab)) == {q.query_id for q in USUAL if any(d.doc_id == "fine" for d in q.documents)}
    assert not tab.locator(".explorer-nothing").is_visible()


def test_the_link_says_what_it_is_of(opened: Any) -> None:
    tab = show(opened, explorer(*USUAL))
    assert tab.get_by_role("button", name="copy link to loses").count() == 1
    tab.get_by_role("button", name="Next query").click()
    assert tab.get_by_role("button", name=f"copy link to {title(tab)}").count() == 1


def test_notes_and_grades_stay_are_saved_and_come_back(opened: Any, tmp_path: Path) -> None:
    tab = whole(opened, tmp_path)
    first = title(tab)
    note = tab.get_by_label(f"Your note on query {first}")
    assert not note.is_visible()
    tab.get_by_role("button", name="Notes and grades").click()
    note.fill("which one is meant?")
    note.blur()
    tab.locator("[data-side=b]").get_by_label("Your grade of y").select_option("grade 2")
    tab.get_by_role("button", name="Next query").click()
    tab.get_by_role("button", name="Previous query").click()
    assert tab.get_by_label(f"Your note on query {first}").input_value() == "which one is meant?"
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="save notes (2)").click()
    saved = json.loads(Path(waiting.value.path()).read_text())
    assert saved == {
        "schema": "rankscope/notes/1",
        "queries": [{"query_id": first, "note": "which one is meant?"}],
        "documents": [{"query_id": first, "doc_id": "y", "grade": 2}],
    }
    (tmp_path / "more").mkdir()
    other = whole(opened, tmp_path / "more", notes=saved)
    assert other.get_by_label(f"Your note on query {first}").input_value() == "which one is meant?"
    assert (
        other.locator("[data-side=b]").get_by_label("Your grade of y").evaluate("s => s.selectedOptions[0].text")
        == "grade 2"
    )


def test_the_worklist_is_graded_in_the_page_and_saved_as_qrels_that_rankscope_reads(
    opened: Any, tmp_path: Path
) -> None:
    tab = whole(opened, tmp_path)
    tab.locator("#worklist summary").first.click()
    rows = tab.locator('.table[data-name="judging-worklist"] tbody tr').evaluate_all(
        "rows => rows.map((r) => [r.cells[0].textContent, r.cells[1].textContent])"
    )
    tab.get_by_role("button", name="Grade these here").click()
    cards = tab.locator(".judged")
    assert cards.count() == len(rows) > 2
    assert "rank" not in " ".join(cards.all_inner_texts()).lower(), "blind unless one wishes to see"
    said = [[line for line in card.split("\n") if line][:2] for card in cards.all_inner_texts()]
    assert sorted((q.removeprefix("query ").strip(), d.strip()) for q, d in said) == sorted(map(tuple, rows))
    tab.get_by_label("blind to ranks and runs").uncheck()
    assert "old" in cards.first.inner_text() or "new" in cards.first.inner_text()
    tab.get_by_label("random order").uncheck()
    assert [card.split("\n")[0].removeprefix("query ").strip() for card in cards.all_inner_texts()] == [
        q for q, _ in rows
    ]
    cards.nth(0).get_by_label("2", exact=True).check()
    cards.nth(1).get_by_label("0", exact=True).check()
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Save 2 grades as qrels").click()
    path = tmp_path / "mine.qrels"
    path.write_bytes(Path(waiting.value.path()).read_bytes())
    read = rs.read_qrels(path).frame.to_dicts()
    found = {(row["query_id"], row["doc_id"], row["grade"]) for row in read}
    assert found == {(*rows[0], 2), (*rows[1], 0)}


def test_digits_grade_the_worklist_and_go_on_and_the_page_counts(opened: Any, tmp_path: Path) -> None:
    tab = whole(opened, tmp_path)
    tab.locator("#worklist summary").first.click()
    tab.get_by_role("button", name="Grade these here").click()
    many, told = tab.locator(".judged").count(), tab.locator(".judging-tools [role=status]")
    assert told.inner_text().startswith(f"0 of {many} graded; keys 0 1 2")
    for at, key in enumerate("20"):
        tab.keyboard.press(key)
        card = tab.locator(".judged").nth(at)
        assert card.locator("input:checked").evaluate("i => i.parentElement.textContent.trim()") == key
        assert told.inner_text().startswith(f"{at + 1} of {many} graded")
    assert tab.evaluate("() => document.activeElement.closest('.judged').previousElementSibling !== null")


def test_a_note_is_kept_while_it_is_typed(opened: Any, tmp_path: Path) -> None:
    tab = whole(opened, tmp_path)
    tab.get_by_role("button", name="Notes and grades").click()
    note = tab.get_by_label(f"Your note on query {title(tab)}")
    note.press_sequentially("half a sen")
    load_again(tab)  # the field never lost the focus
    tab.wait_for_selector(".explorer-row")
    assert tab.get_by_label(f"Your note on query {title(tab)}").input_value() == "half a sen"


def test_notes_with_markup_stay_text(opened: Any) -> None:
    hostile = query("hostile", ["good"], ["fine"], grades={"good": 1.0})
    marks = {"schema": "rankscope/notes/1", "queries": [{"query_id": "hostile", "note": HOSTILE[0]}], "documents": []}
    tab = show(opened, explorer(hostile, marks=json.dumps(marks)))
    assert tab.locator(".explorer-notes textarea").input_value() == HOSTILE[0]


def test_what_if_offers_documents_by_name_and_lets_one_be_dragged_from_below(opened: Any) -> None:
    tab = show(opened, explorer(*USUAL), fragment="q=loses", viewport=(1280, 1600))
    tab.locator("[data-side=b] button", has_text="What if?").click()
    below = tab.locator(".whatif-under")
    assert below.all_inner_texts()[0].split("\n")[1] == "fine (grade 2), at rank 33"
    assert "fine (grade 2), at rank 33" in tab.locator(".whatif-tray option").all_inner_texts()
    below.first.drag_to(tab.locator(".whatif-row").first, target_position={"x": 60, "y": 2})
    assert tab.locator(".whatif-row .whatif-id").all_inner_texts()[0] == "fine"
    assert below.count() == 0
