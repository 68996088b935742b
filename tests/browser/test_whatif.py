"""The what-if mode: its arithmetic equals rankscope's, and a document can be moved by every means."""

from __future__ import annotations

import random
from collections.abc import Sequence
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from rankscope import words
from rankscope.metrics import CATALOGUE, parse
from rankscope.metrics.single import ranked_lists

SCRIPTS = ("metrics", "words", "state", "list", "table")
KEYS = ["P", "R", "RR", "RR@k", "AP", "AP@k", "DCG", "DCGexp", "nDCG", "nDCGexp", "ERR", "RBP"]
Found = list[dict[str, Any]]


def static(name: str) -> str:
    return files("rankscope.show.html").joinpath("static", name).read_text(encoding="utf-8")


def page_of(body: str = "") -> str:
    """A page with the what-if mode and nothing else."""
    scripts = ["core.js", *(f"whatif_{name}.js" for name in SCRIPTS), "whatif.js"]
    return (
        "<!doctype html><html class='js'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        f"<style>{static('base.css')}{static('whatif.css')}</style></head><body><main id='here'></main>"
        f"{''.join(f'<script>{static(name)}</script>' for name in scripts)}{body}</body></html>"
    )


MOUNT = "list => rankscope.whatif.mount(document.getElementById('here'), list)"


def mounted(opened: Any, given: dict[str, Any], **options: Any) -> Any:
    page = opened(page_of(), **options)
    page.evaluate(MOUNT, given)
    return page


def a_list(grades: Sequence[float | None], missing: Sequence[float] = (), **more: Any) -> dict[str, Any]:
    """A list as the page takes it: grades in ranked order, and those of judged documents that were not retrieved."""
    judged = [g for g in grades if g is not None] + list(missing)
    return {
        "docs": [{"id": f"d{i + 1}", "text": "", "grade": grade} for i, grade in enumerate(grades)],
        "judged": [[grade, judged.count(grade)] for grade in dict.fromkeys(judged)],
        "beyond": [],
        "size": len(grades),
        "k": 5,
        "level": 1,
        "topGrade": 3,
        **more,
    }


# -- the arithmetic -----------------------------------------------------------------------------------------


def made(rng: random.Random) -> dict[str, Any]:
    """A random list with options: some empty, some with nothing relevant, some with relevant documents below or missing."""
    pool: list[float | None] = [None, 0, 0, 1, 2, 3, 4, -1]
    pool = rng.choice([pool, [None, 0, -2], [0, 0.5, 1.25, 2.75, None], [0, 1, None], [5, 0, 1]])
    grades = [rng.choice(pool) for _ in range(rng.choice([0, 1, 2, 5, 9, 14]))]
    some = [g for g in pool if g]
    beyond = []
    if grades and rng.random() < 0.4:
        places = sorted(rng.sample(range(len(grades) + 1, len(grades) + 30), rng.randint(1, 4)))
        beyond = [[place, grade] for place in places if (grade := rng.choice(some or [1])) and grade > 0]
    missing = [rng.choice([g for g in pool if g is not None]) for _ in range(rng.choice([0, 0, 1, 6]))]
    judged = [g for g in grades if g is not None] + [g for _, g in beyond] + missing
    size = max([len(grades), *(place for place, _ in beyond)])
    return {
        "list": {
            "grades": grades,
            "beyond": beyond,
            "size": size,
            "judged": [[g, judged.count(g)] for g in dict.fromkeys(judged)],
        },
        "options": {
            "k": rng.choice([1, 2, 3, 5, 10, 40]),
            "level": rng.choice([1, 1, 1, 2, 3, 0.5]),
            "p": rng.choice([0.8, 0.8, 0.5, 0.95, 0, 1]),
        },
    }


def in_python(case: dict[str, Any], spelling: str, whole: bool) -> tuple[float, Any]:
    """The value and the terms that rankscope has for a list; the value by ``of`` where ``whole``, which takes longer."""
    given = case["list"]
    ranking = list(given["grades"])
    for place, grade in given["beyond"]:
        ranking += [None] * (place - 1 - len(ranking)) + [grade]
    ideal = [grade for grade, count in given["judged"] for _ in range(count)]
    metric = parse(spelling)
    judged = ranked_lists(
        ranking,
        getattr(metric, "level", 1.0),
        {"scores": None, "known": None, "ideal": ideal, "relevant": None, "judgments": None},
    )
    terms = metric.taken_apart(judged.lists(np.arange(1)))
    return metric.of(ranking, ideal=ideal) if whole else float(terms.value[0]), terms


def test_it_computes_what_rankscope_computes(opened: Any) -> None:
    rng = random.Random(6)
    cases = [made(rng) for _ in range(240)]
    tab = opened(page_of())
    told: list[Found] = tab.evaluate("cases => cases.map(c => rankscope.whatif.values(c.list, c.options))", cases)
    for i, (case, found) in enumerate(zip(cases, told, strict=True)):
        assert [one["key"] for one in found] == KEYS
        for one in found:
            value, terms = in_python(case, one["spelling"], i < 40)
            assert near(one["value"], value), (one["spelling"], case)
            assert_same_terms(one, terms)


def near(ours: float, theirs: float) -> bool:
    """Equal but for the last bits."""
    return abs(ours - theirs) <= 1e-12 * max(1.0, abs(theirs))


def assert_same_terms(one: dict[str, Any], terms: Any) -> None:
    """Factors, what a position adds and what the query is worth, at every document that was judged."""
    assert one["factors"] == list(terms.factors)
    assert near(one["worth"], float(terms.worth[0]))
    rows = {row["rank"]: row for row in one["rows"]}
    factors = [np.broadcast_to(factor, terms.lists.shown.shape)[0].tolist() for factor in terms.factors.values()]
    ranks, shares = terms.lists.rank[0].tolist(), terms.shares[0].tolist()
    so_far = 0.0
    for cell in np.flatnonzero(terms.lists.shown[0]).tolist():
        row = rows.pop(ranks[cell])
        assert all(near(ours, theirs[cell]) for ours, theirs in zip(row["factors"], factors, strict=True))
        assert near(row["adds"], shares[cell])
        so_far += row["adds"]
        assert near(row["soFar"], so_far)
    assert near(so_far, one["value"])
    assert all(row["adds"] == 0 for row in rows.values())  # those of documents that nobody judged


def test_worked_arithmetic(opened: Any) -> None:
    tab = opened(page_of())
    given = {"grades": [1, 0, 1, 0, 0, 1], "judged": [[1, 3], [0, 3]], "beyond": [], "size": 6}
    found = {m["key"]: m["value"] for m in tab.evaluate("l => rankscope.whatif.values(l, {k: 3})", given)}
    assert found["AP"] == pytest.approx((1 / 1 + 2 / 3 + 3 / 6) / 3, abs=1e-15)
    assert (found["P"], found["R"], found["RR"]) == (2 / 3, 2 / 3, 1)
    assert found["RBP"] == pytest.approx(0.2 * (1 + 0.8**2 + 0.8**5), abs=1e-15)


def test_a_grade_off_the_scale_has_no_value(opened: Any) -> None:
    tab = opened(page_of())
    given = {"grades": [2000, 1], "judged": [[2000, 1], [1, 1]], "beyond": [], "size": 2}
    found = {m["key"]: m["value"] for m in tab.evaluate("l => rankscope.whatif.values(l, {k: 2})", given)}
    assert [key for key, value in found.items() if value is None] == ["DCGexp", "nDCGexp", "ERR"]
    found = {m["key"]: m["value"] for m in tab.evaluate(
        "l => rankscope.whatif.values(l, {k: 2, maxGrade: 4})", {**given, "grades": [5, 1], "judged": [[5, 1], [1, 1]]}
    )}  # fmt: skip
    assert [key for key, value in found.items() if value is None] == ["ERR"]


def test_formulas_are_those_of_the_catalogue(opened: Any) -> None:
    formulas = opened(page_of()).evaluate("rankscope.whatif.FORMULAS")
    assert set(formulas) == {
        parse(name).__class__.__name__ for name in ("P@1", "R@1", "RR", "AP", "DCG", "nDCG", "ERR", "RBP")
    }
    assert all(CATALOGUE[name].formula == formula for name, formula in formulas.items())


# -- the list -----------------------------------------------------------------------------------------------


def ids(tab: Any) -> list[str]:
    return list(tab.locator(".whatif-id").all_inner_texts())


def value(tab: Any, key: str = "nDCG") -> float:
    return float(tab.locator(f".whatif-metrics tr[data-metric='{key}'] .whatif-now").inner_text())


def drag(tab: Any, source: int, target: int) -> None:
    """Takes the document at one rank and lets it go at another, with the mouse."""
    boxes = [handle.bounding_box() for handle in tab.locator(".whatif-handle").all()]
    middles = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]
    tab.mouse.move(*middles[source - 1])
    tab.mouse.down()
    x, y = middles[target - 1]
    down = 3 if target > source else -3
    tab.mouse.move(x, (y + middles[source - 1][1]) / 2, steps=4)
    tab.mouse.move(x, y + down, steps=4)
    tab.mouse.up()


def test_dragging_changes_what_rankscope_says(opened: Any) -> None:
    tab = mounted(opened, a_list([0, 3, 2, 0, 1, 2, 0]))
    assert value(tab) == round(parse("nDCG@5").of([0, 3, 2, 0, 1, 2, 0]), 4)
    drag(tab, 2, 1)
    assert ids(tab) == ["d2", "d1", "d3", "d4", "d5", "d6", "d7"]
    assert value(tab) == round(parse("nDCG@5").of([3, 0, 2, 0, 1, 2, 0]), 4)
    drag(tab, 1, 7)
    assert ids(tab) == ["d1", "d3", "d4", "d5", "d6", "d7", "d2"]
    assert value(tab) == round(parse("nDCG@5").of([0, 2, 0, 1, 2, 0, 3]), 4)
    assert value(tab, "AP") == round(parse("AP").of([0, 1, 0, 1, 1, 0, 1]), 4)


def test_the_metrics_move_while_a_document_is_held(opened: Any) -> None:
    tab = mounted(opened, a_list([0, 0, 3]))
    before = value(tab)
    handle = tab.locator(".whatif-handle").nth(2).bounding_box()
    tab.mouse.move(handle["x"] + 5, handle["y"] + 5)
    tab.mouse.down()
    tab.mouse.move(handle["x"] + 5, handle["y"] - 200, steps=5)
    assert value(tab) == 1
    tab.keyboard.press("Escape")
    assert value(tab) == before
    tab.mouse.up()
    assert ids(tab) == ["d1", "d2", "d3"]


def test_a_finger_moves_a_document(opened: Any) -> None:
    tab = mounted(opened, a_list([0, 1, 0, 2, 3]), viewport=(360, 740), has_touch=True, is_mobile=True)
    boxes = [handle.bounding_box() for handle in tab.locator(".whatif-handle").all()]
    x, first, last = boxes[0]["x"] + 10, boxes[0]["y"] + 10, boxes[4]["y"] + 10
    client = tab.context.new_cdp_session(tab)

    def touch(kind: str, y: float | None) -> None:
        points = [] if y is None else [{"x": x, "y": y}]
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", last)
    for step in range(1, 11):
        touch("touchMove", last + (first - last - 20) * step / 10)
    touch("touchEnd", None)
    assert ids(tab) == ["d5", "d1", "d2", "d3", "d4"]
    assert value(tab) == round(parse("nDCG@5").of([3, 0, 1, 0, 2]), 4)


def test_keys_move_a_document_and_say_so(opened: Any) -> None:
    tab = mounted(opened, a_list([0, 3, 2, 0, 1, 2, 0]))
    handle = tab.get_by_role("button", name="d6, rank 6 of 7: arrow keys, Home and End move it")
    handle.focus()
    tab.keyboard.press("ArrowUp")
    tab.keyboard.press("ArrowUp")
    assert ids(tab) == ["d1", "d2", "d3", "d6", "d4", "d5", "d7"]
    tab.keyboard.press("Home")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("End")
    assert ids(tab)[-1] == "d6"
    assert tab.evaluate("document.activeElement.closest('li').dataset.key") == "d5"
    tab.keyboard.press("Home")
    before, after = (parse("nDCG@5").of(g) for g in ([0, 3, 2, 0, 1, 0, 2], [2, 0, 3, 2, 0, 1, 0]))
    said = tab.get_by_role("status").inner_text()
    assert said.startswith(f"d6 moved to rank 1: nDCG@5 {before:.4f} → {after:.4f}.")


def test_buttons_move_a_document(opened: Any) -> None:
    tab = mounted(opened, a_list([0, 3, 2]))
    tab.get_by_role("button", name="Move d2 up").click()
    tab.get_by_role("button", name="Move d1 down").click()
    assert ids(tab) == ["d2", "d3", "d1"]
    assert tab.get_by_role("button", name="Move d2 up").is_disabled()


def test_a_grade_is_changed(opened: Any) -> None:
    tab = mounted(opened, a_list([1, None, 2]))
    tab.get_by_role("combobox", name="Grade of d2").select_option("3")
    assert value(tab) == round(parse("nDCG@5").of([1, 3, 2]), 4)
    tab.get_by_role("button", name="Lower grade for d1").click()
    assert value(tab, "R") == 1
    assert value(tab) == round(parse("nDCG@5").of([0, 3, 2]), 4)
    tab.get_by_role("button", name="Lower grade for d1").click()
    assert tab.get_by_role("combobox", name="Grade of d1").input_value() == "?"
    assert tab.get_by_role("button", name="Lower grade for d1").is_disabled()
    tab.get_by_role("button", name="Higher grade for d1").click()
    tab.get_by_role("button", name="Reset").click()
    assert value(tab) == round(parse("nDCG@5").of([1, None, 2]), 4)


def test_orders(opened: Any) -> None:
    tab = mounted(opened, a_list([0, 1, None, 3, 2, 0, 1]))
    worst = parse("nDCG@5").of([0, 0, 0, 1, 1, 2, 3])
    tab.get_by_role("button", name="Best order").click()
    assert (value(tab), value(tab, "nDCGexp"), value(tab, "AP")) == (1, 1, 1)
    tab.get_by_role("button", name="Worst order").click()
    assert value(tab) == round(worst, 4)
    tab.get_by_role("button", name="Reset").click()
    assert ids(tab) == [f"d{i}" for i in range(1, 8)]
    tab.get_by_role("button", name="Reverse").click()
    assert ids(tab) == [f"d{i}" for i in range(7, 0, -1)]
    orders = []
    for _ in range(2):  # the same again after a reset
        tab.get_by_role("button", name="Reset").click()
        for _ in range(2):
            tab.get_by_role("button", name="Shuffle").click()
            orders.append(ids(tab))
    assert orders[:2] == orders[2:]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == [f"d{i}" for i in range(1, 8)]


def test_a_document_is_put_in_and_taken_out(opened: Any) -> None:
    given = a_list([0, 1], missing=[3, 3], beyond=[[9, 2]], size=20)
    given["judged"].append([2, 1])
    tab = mounted(opened, given)
    ideal = [0, 1, 2, 3, 3]
    assert value(tab) == round(parse("nDCG@5").of([0, 1, *[None] * 6, 2], ideal=ideal), 4)
    tab.get_by_label("A document that is not in the list").select_option(
        label="a document of grade 3, not retrieved (2 left)"
    )
    tab.get_by_role("button", name="Insert").click()
    assert ids(tab) == ["new 1", "d1", "d2"]
    assert value(tab) == round(parse("nDCG@5").of([3, 0, 1], ideal=ideal), 4)
    assert value(tab, "AP") == round(parse("AP").of([3, 0, 1, *[None] * 6, 2], ideal=ideal), 4)
    tab.get_by_label("A document that is not in the list").select_option(label="the document of grade 2 at rank 10")
    tab.get_by_label("Rank to put it at").fill("2")
    tab.get_by_role("button", name="Insert").click()
    assert ids(tab) == ["new 1", "new 2", "d1", "d2"]
    assert value(tab, "AP") == round(parse("AP").of([3, 2, 0, 1], ideal=ideal), 4)
    tab.get_by_role("button", name="Take d2 out of the list").click()
    assert value(tab, "R") == round(2 / 4, 4)
    assert "d2 (grade 1)" in tab.get_by_label("A document that is not in the list").inner_text()
    for name in ("d1", "new 1", "new 2"):
        tab.get_by_role("button", name=f"Take {name} out of the list").click()
    assert value(tab) == 0
    tab.get_by_role("button", name="Insert").click()
    assert value(tab, "RR") == 1


def test_options(opened: Any) -> None:
    grades = [1, 2, 0, 3, 1, 0, 2]
    tab = mounted(opened, a_list(grades))
    tab.get_by_label("cutoff k").fill("3")
    tab.get_by_label("cutoff k").press("Enter")
    assert value(tab) == round(parse("nDCG@3").of(grades), 4)
    tab.get_by_label("relevant from grade").select_option("2")
    assert value(tab, "AP") == round(parse("AP(level=2)").of(grades), 4)
    tab.get_by_label("RBP’s p").fill("0.5")
    tab.get_by_label("RBP’s p").press("Enter")
    assert value(tab, "RBP") == round(parse("RBP(p=0.5, level=2)").of(grades), 4)
    for wrong, kept in (("", "3"), ("-4", "1"), ("99", "7")):
        tab.get_by_label("cutoff k").fill(wrong)
        tab.get_by_label("cutoff k").press("Enter")
        assert tab.get_by_label("cutoff k").input_value() == kept


def test_a_metric_is_taken_apart(opened: Any) -> None:
    tab = mounted(opened, a_list([3, 0, 2], missing=[1]))
    for key in ("P", "AP", "nDCGexp", "ERR", "RBP"):
        tab.locator(f"button[data-metric='{key}']").click()
        adds = [float(text) for text in tab.locator(".whatif-positions td:nth-last-child(2)").all_inner_texts()]
        assert sum(adds) == pytest.approx(value(tab, key), abs=2e-4)
        assert f"{value(tab, key):.4f}" in tab.locator(".whatif-sum").inner_text()
        assert "blind to" in tab.locator(".whatif-apart").inner_text()
        assert tab.evaluate("document.activeElement.dataset.metric") == key


STOOD = [
    ([3, 1, 0], 1, 2, "P@5, R@5, RR, AP and RBP did not move: the same ranks hold relevant documents"),
    ([1, 0, 2], 3, 2, "P@5 and R@5 did not move: the top 5 still hold 2 relevant documents, in whatever order."),
    ([0, 0, 1], 1, 2, "No metric moved: every rank still earns what it did."),
    ([1, 0, 0, 0, 0, 0, 2], 7, 6, "did not move: they see nothing below rank 5."),
    ([1, 0, 0, 0, 0, 2], 6, 5, "RR did not move: the first relevant document is still at rank 1."),
]


def test_it_says_why_a_metric_stood_still(opened: Any) -> None:
    tab = opened(page_of())
    for grades, source, target, sentence in STOOD:
        tab.evaluate(MOUNT, a_list(grades))
        way = "up" if target < source else "down"
        tab.get_by_role("button", name=f"Move d{source} {way}").click()
        assert sentence in tab.get_by_role("status").inner_text()


def test_numbers_are_rounded_as_in_python(opened: Any) -> None:
    values = [j / 32 for j in range(-70, 70)] + [0.00005, 0.12345, 0.99995, 1 / 3, 12.34565, 0.0]
    told = opened(page_of()).evaluate("values => values.map(rankscope.whatif.shown)", values)
    assert told == [words.number(value, digits=4) for value in values]


def test_hostile_text_is_text(opened: Any) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)></script>"
    given = a_list([1, 2])
    given["docs"] = [{"id": evil, "text": evil, "grade": 1}, {"id": "x" * 500, "text": "y" * 5000, "grade": 2}]
    tab = mounted(opened, given, viewport=(360, 740))
    assert tab.locator(".whatif-text").first.inner_text() == evil
    assert tab.evaluate("document.querySelectorAll('img').length") == 0
    tab.get_by_role("button", name="Reverse").click()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360


UNSEEN = "a\x00\x1b[31m\u202e\u2028\ufeff\u200b\n\t b "
WRITTEN = "a\\x00\\x1b[31m\\u202e\\u2028\\ufeff\\u200b\\n\\t b␣"


def test_ids_and_texts_show_every_sign(opened: Any) -> None:
    given = a_list([1, 2])
    given["docs"][0] |= {"id": UNSEEN, "text": UNSEEN}
    given["docs"][1] |= {"id": "👩\U0001f600" * 40, "text": "\U0001f600" * 300}
    given["others"] = [{"id": UNSEEN[:10], "text": "", "grade": 3}]
    given["judged"] += [[3, 1]]
    tab = mounted(opened, given)
    assert tab.locator(".whatif-id").first.inner_text() == WRITTEN
    assert tab.locator(".whatif-id").first.get_attribute("title") == WRITTEN
    assert tab.locator(".whatif-name").first.inner_text() == WRITTEN
    assert tab.locator(".whatif-handle").first.get_attribute("aria-label").startswith(f"{WRITTEN}, rank 1")
    assert f"{WRITTEN[:31]} (grade 3)" in tab.locator(".whatif-tray option").all_inner_texts()
    tab.get_by_role("button", name="Insert").click()
    assert f"{WRITTEN[:31]} is in at rank 1" in tab.get_by_role("status").inner_text()
    tab.locator(".whatif-handle").nth(1).press("ArrowDown")
    assert f"{WRITTEN[:39]}… moved to rank 3" in tab.get_by_role("status").inner_text()
    said = tab.evaluate(
        "() => [...document.querySelectorAll('#here, #here *')].flatMap(e => [e.textContent, e.title, e.getAttribute('aria-label') || ''])"
    )
    assert not any(sign in text for text in said for sign in "\x00\x1b\u202e\u2028\ufeff\u200b")
    assert not any("\ud800" <= sign <= "\udfff" for text in said for sign in text), "no sign is halved"


def test_an_empty_list(opened: Any) -> None:
    tab = mounted(opened, a_list([], missing=[2]))
    assert (value(tab), value(tab, "P")) == (0, 0)
    tab.get_by_role("button", name="Insert").click()
    assert value(tab) == 1


def test_nothing_is_wider_than_the_screen(opened: Any) -> None:
    tab = mounted(opened, a_list([3, 0, None, 2.5, -1, 4], topGrade=4))
    for width in (360, 700, 1280):
        tab.set_viewport_size({"width": width, "height": 800})
        for key in ("nDCGexp", "ERR", "AP"):
            tab.locator(f"button[data-metric='{key}']").click()
            assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_bars_grow_with_what_a_position_adds(opened: Any) -> None:
    tab = mounted(opened, a_list([3, 2, 1, 0]))
    parts = [float(bar.evaluate("b => b.style.getPropertyValue('--part')")) for bar in tab.locator(".whatif-bar").all()]
    assert parts[0] == 1
    assert parts[-1] == 0
    assert all(a > b for a, b in pairwise(parts))
