"""Warnings of a page lead to the section that shows more of them."""

from __future__ import annotations

import re

from tests.made.results import METRICS, world

import rankscope as rs
from rankscope.blocks import Notes
from rankscope.diagnostics.rule import Rule
from rankscope.reporting.page import SECTIONS


def test_sections_name_codes_that_there_are_each_once() -> None:
    named = [code for part in SECTIONS for code in part.warned]
    assert set(named) <= set(Rule.catalogue)
    assert len(named) == len(set(named)) > 5


def test_warnings_link_to_sections_of_the_page() -> None:
    page = rs.report(*world(), METRICS)
    shown = {code: part.name for part in SECTIONS for code in part.warned}
    there = {section.name: section.title for section in page.page.sections}
    notes = [n for s in page.page.sections for b in s.blocks if isinstance(b, Notes) for n in b.items if n.code]
    linked = {note.code: (note.at, note.where) for note in notes if note.at}
    assert {"RS101", "RS204"} <= linked.keys()
    for note in notes:
        at = shown.get(note.code, "")
        assert (note.at or at) == at if at in there else not note.at
    for at, title in linked.values():
        assert there[at] == title
        assert re.search(rf'id="{at}"', page.html)
        assert f'<a href="#{at}">{title}</a>' in page.html


def test_runs_that_are_one_are_not_told_where_that_is_ignored() -> None:
    qrels, runs = world()
    twins = {"a": runs["base"], "b": runs["good"], "c": runs["base"]}
    assert "are the same ranking on every query" in rs.report(qrels, twins, METRICS).html
    assert "are the same ranking on every query" not in rs.report(qrels, twins, METRICS, ignore="RS115").html
