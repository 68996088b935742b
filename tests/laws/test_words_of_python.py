"""What results say is said in the words of who calls: keywords and calls in Python, options on the command line."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.made.results import METRICS, RESULTS, result, world

import rankscope as rs
from rankscope import words
from rankscope.words import in_caller_syntax

OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
OF_A_SHELL = re.compile(r"rankscope [a-z]+[^.;:,()]*")  # a command that has no call of its own, in full
MORE: dict[str, Any] = {
    "catalogue of all": rs.catalogue, "catalogue of a family": lambda: rs.catalogue("gain"),
    "catalogue of a set": lambda: rs.catalogue("official"), "rules": rs.rules, "one rule": lambda: rs.rules("RS203"),
    "compare many pairs": lambda: rs.compare({f"s{i}": {f"q{j}": (i * j % 7) / 7 for j in range(9)} for i in range(9)}, metrics="AP", all_pairs=True),
    "reconcile a value": lambda: rs.reconcile(*world(), "nDCG@10", value="0.5"),
}  # fmt: skip


def said(found: Any) -> Iterator[tuple[str, str]]:
    """All that a result says to people, each with where it says it."""
    yield "text", " ".join(found.to_text(10_000).split())
    yield "markdown", found.to_markdown()
    yield "notebook", html.unescape(re.sub(r"<[^>]+>", " ", found._repr_html_() or ""))
    yield "string", str(found)
    yield from (("sentence", text) for text in found.sentences())
    yield from (("note", note) for note in getattr(found, "notes", ()))
    yield from (("warning", f"{w.message} / {w.hint}") for w in getattr(found, "warnings", ()))
    yield from (("json", text) for text in re.findall(r'"((?:[^"\\]|\\.)*)"', found.to_json()))
    yield from (("chart", f"{chart.title} {chart.caption}") for chart in found.charts())


@pytest.mark.parametrize("name", [*RESULTS, *MORE])
def test_results_of_python_name_no_option(name: str) -> None:
    found = MORE[name]() if name in MORE else result(name)
    texts = list(said(found))
    assert texts
    for place, text in texts:
        assert not OPTION.search(OF_A_SHELL.sub("", text)), (place, text)
        assert "next: rankscope" not in text, (place, text)


def test_pages_of_python_name_no_option() -> None:
    page = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", rs.report(*world(), METRICS).html, flags=re.DOTALL)
    text = html.unescape(re.sub(r"<[^>]+>", "|", page))
    assert 'queries="both"' in text
    assert not OPTION.search(OF_A_SHELL.sub("", text))


@pytest.mark.parametrize("name", ["evaluate", "gate", "check", "unjudged"])
def test_the_command_line_names_options_in_the_same_places(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(words.MESSAGE_STYLE, "options", True)
    warned = " ".join(text for place, text in said(RESULTS[name]()) if place == "warning")
    assert "--ties expected" in warned
    assert "ties=" not in warned


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the same with --query q02 shows it", "the same with query='q02' shows it"),
        ("(--comparisons M plans for M)", "(comparisons=M plans for M)"),
        ("--fold chunks.csv or --fold-by PATTERN folds", 'fold="chunks.csv" or fold_by=PATTERN folds'),
        ("or use --test betting", 'or use test="betting"'),
        ("9 more rows: --details shows all", "9 more rows: details=True shows all"),
        ("--worklist judge.csv writes them", 'save("judge.csv", table="to_judge") writes them'),
        ("leave --time-zone, --from and --to out", "leave time_zone=, start= and end= out"),
        ("automatic: --covariate none leaves it out", 'automatic: covariates="none" leaves it out'),
        ("rankscope check --list lists all", "rankscope check --list lists all"),
    ],
    ids=[
        "an id",
        "a placeholder",
        "a file",
        "a test",
        "a flag",
        "a method",
        "keywords of other names",
        "a keyword in the plural",
        "a whole command",
    ],
)
def test_options_become_keywords(text: str, expected: str) -> None:
    assert in_caller_syntax(text) == expected
