"""Wording habits become rarer: their rates never exceed the ceilings in tools/wording.json, and ceilings only fall."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

import check_wording
from check_wording import Text, clean, hits


def test_no_habit_exceeds_its_ceiling() -> None:
    over = check_wording.excesses(check_wording.count())
    assert not over, "reword (python tools/check_wording.py --show HABIT CORPUS lists the places): " + "; ".join(over)


def test_lowering_the_ceilings_never_raises_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(check_wording, "CEILINGS", tmp_path / "wording.json")
    (tmp_path / "wording.json").write_text('{"where-if": {"docs": 3, "printed": 1}}')
    words = Counter(dict.fromkeys(check_wording.CORPORA, 1000))
    counts = check_wording.Counts(Counter({("where-if", "docs"): 2, ("where-if", "printed"): 5}), words)
    assert check_wording.excesses(counts) == ["where-if in printed: 5.0 per 1,000 words, at most 1"]
    check_wording.write(counts)
    assert check_wording.ceilings()["where-if"] == {"docs": 2, "docstrings": 0, "printed": 1, "comments": 0}


@pytest.mark.parametrize(
    ("habit", "corpus", "words", "times"),
    [
        ("riddle", "docstrings", "What a query is worth.", 1),
        ("riddle", "docs", "What a query is worth.", 0),
        ("riddle", "docstrings", "Return what a query is worth.", 0),
        ("what-noun", "docs", "Who comes back, and what to do.", 1),
        ("where-if", "docs", "Where p is small, and where it is not.", 2),
        ("no-per", "docs", "One finding a run, one row per user.", 1),
        ("negation", "printed", "x is no number", 1),
        ("dated", "printed", "such as these", 0),
        ("long", "docs", "A word. " + "word " * 31 + "end. Another.", 1),
        ("splice", "docs", "One; two; three.", 2),
    ],
)  # fmt: skip
def test_hits(habit: str, corpus: str, words: str, times: int) -> None:
    assert hits(habit, Text(corpus, "a.py", 1, words)) == times


def test_docstrings_and_printed_strings_are_separate_and_examples_skipped() -> None:
    module = ast.parse('"""Return it.\n\n>>> what\n"""\nx = f"one {2} three"\ny = "a b"\nz = "a few more words"\n')
    assert list(check_wording.strings(module, "a.py")) == [
        Text("docstrings", "a.py", 1, "Return it."),
        Text("printed", "a.py", 5, "one N three"),
        Text("printed", "a.py", 7, "a few more words"),
    ]


def test_code_and_generated_tables_of_pages_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_wording, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "# Title\nText `where` goes\non.\n\n```\nwhere\n```\n- bullet\n- where\n\n"
        "<!-- written by a tool -->\nwhere\n<!-- end of it -->\n| cell | where |\n"
    )
    words = [text.words for text in check_wording.paragraphs(page)]
    assert words == ["Title Text goes on.", "bullet", "where", "<!-- end of it -->", "cell | where |"]
    assert clean("see [the page](docs/where.md) **now**") == "see the page now"
