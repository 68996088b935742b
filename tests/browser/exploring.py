"""Explorers made by hand, and what a test looks at on their pages."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rankscope.blocks import Document, Explorer, Page, Query, Section

if TYPE_CHECKING:
    from playwright.sync_api import Page as Tab

HOSTILE = [
    "<script>alert(1)</script>", "</script>", "\"quoted\" & 'single' \\", "two\nlines\tand a tab", "\x00\x1b[31mred",
    "\u202egnp.exe", "👩‍🔬 emoji", "עברית עם English", "x" * 500, "a&b=c#d?e/f%25", "  spaces  ",
]  # fmt: skip


def ndcg(grade: float | None, rank: int) -> float:
    """What a document adds to a DCG with a cutoff of 10."""
    return (grade or 0.0) / math.log2(rank + 1) if 0 < rank <= 10 else 0.0


def query(
    query_id: str, *orders: list[str], grades: dict[str, float], text: str = "", depth: int = 10, texts: bool = True
) -> Query:
    """A query whose runs retrieve these documents in these orders; what is not in ``grades`` is not judged."""
    best = sum(ndcg(grade, at + 1) for at, grade in enumerate(sorted(grades.values(), reverse=True))) or 1.0
    ranks = [{doc: at + 1 for at, doc in enumerate(order)} for order in orders]
    values = [(math.fsum(ndcg(grades.get(d), r) for d, r in run.items()) / best, 0.5) for run in ranks]
    shown = dict.fromkeys(doc for order in orders for doc in order[:depth])
    documents = tuple(
        Document(
            doc,
            grades.get(doc),
            tuple(run.get(doc, 0) for run in ranks),
            tuple(ndcg(grades.get(doc), run.get(doc, 0)) / best for run in ranks),
            f"the text of {doc}" if texts else "",
        )
        for doc in shown
    )
    rest = tuple(value[0] - math.fsum(document.adds[at] for document in documents) for at, value in enumerate(values))
    counts = tuple((grade, list(grades.values()).count(grade)) for grade in sorted(set(grades.values())))
    beyond = tuple(
        tuple((rank, grades[doc]) for doc, rank in run.items() if rank > depth and grades.get(doc, 0.0) > 0)
        for run in ranks
    )
    unjudged = tuple(sum(doc not in grades for doc in order[:10]) for order in orders)
    return Query(
        query_id, text, tuple(values), documents, tuple(map(len, orders)), counts, beyond, tuple(rest), unjudged
    )


def explorer(*queries: Query, runs: tuple[str, ...] = ("bm25", "hybrid"), **more: Any) -> Explorer:
    """A block around queries."""
    given: dict[str, Any] = {"better": "higher", "depth": 10, "cutoff": 10, "level": 1.0, "top_grade": 3.0, **more}
    return Explorer(runs, ("nDCG@10", "RR"), queries=queries, **given)


GRADES = {"good": 3.0, "fine": 2.0, "some": 1.0, "bad": 0.0}
FILL = [f"fill{at}" for at in range(30)]
LOSES = query(
    "loses",
    ["good", "fine", *FILL],
    ["bad", *FILL[:8], "good", *FILL[8:], "fine"],
    grades=GRADES,
    text="Where is the Good one",
)
GAINS = query("gains", [*FILL[:12], "good"], ["good", "some", *FILL[:9]], grades=GRADES, text="coronavirus in wards")
LEVEL = query("level", ["good", "bad"], ["good", "bad"], grades=GRADES)
SLIPS = query("slips", ["good", "fine", "some"], ["fine", "good", "some"], grades=GRADES)
EMPTY = query("empty", ["bad", *FILL[:3]], [], grades={"bad": 0.0})
OPEN = query("open", FILL[:10], FILL[5:15], grades={})
USUAL = (SLIPS, LEVEL, GAINS, LOSES, EMPTY, OPEN)


def show(opened: Any, block: Explorer, **options: Any) -> Tab:
    """Opens a page of one explorer."""
    from rankscope.show.html.page import render

    page = Page("A page", "of an explorer", (), (Section("queries", "Query by query", (block,)),))
    tab: Tab = opened(render(page), **options)
    return tab


def ids(tab: Tab) -> list[str]:
    """The queries in the list, from top to bottom."""
    said: list[str] = tab.locator(".explorer-entry .explorer-id").all_inner_texts()
    return said


def title(tab: Tab) -> str:
    """The id of the query that is open."""
    said: str = tab.locator(".explorer-title h3").inner_text()
    return said


def pick(tab: Tab, label: str, value: str) -> None:
    """Choose in one of the lists of choices, or press the chip of a filter."""
    if label == "Which queries to list":
        tab.locator(f".explorer-chip[data-filter={value}]").click()
        return
    tab.get_by_label(label, exact=True).select_option(value)


def ranked(tab: Tab, side: str) -> list[str]:
    """The documents of a ranking."""
    said: list[str] = tab.locator(f"[data-side={side}] .explorer-row .explorer-name").all_inner_texts()
    return said


def load_again(tab: Tab) -> None:
    """Load a page again, with what it stored, as a busy Chromium now and then forgets what a page from a file stored."""
    stored = tab.evaluate("JSON.stringify({...localStorage})")
    tab.add_init_script(f"for (const [key, value] of Object.entries({stored})) localStorage.setItem(key, value)")
    tab.reload()
