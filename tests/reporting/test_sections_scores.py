"""Sections made from scores and comparisons: they stand whatever is compared, and on real data."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.reporting.made_sections import SUBJECTS, all_sections, charts, column, first_by, numbers, tables

import rankscope as rs
from rankscope.blocks import Chart, Table
from rankscope.reporting.answer import verdicts
from rankscope.reporting.subject import Subject

# --- whatever is compared ------------------------------------------------------------------------


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_section_stands_whatever_is_compared(name: str) -> None:
    subject = SUBJECTS[name]()
    found = all_sections(subject)
    said = verdicts(subject)
    assert said
    assert all(v.text.strip() for v in said)
    assert {"data", "scoreboard"} <= {section.name for section in found}
    names = [b.name for section in found for b in section.blocks if isinstance(b, Chart | Table)]
    assert all(names)
    assert len(names) == len(set(names)), "a name is a file of its own"
    for section in found:
        assert section.lead.endswith(".")
        assert all(map(math.isfinite, numbers(section))), section.name
        for block in section.blocks:
            if isinstance(block, Chart | Table):
                assert all(len(row) == len(block.columns) for row in block.rows)
            if isinstance(block, Chart):
                _is_drawable(block)


def _is_drawable(chart: Chart) -> None:
    headers = [c.header for c in chart.columns]
    assert len(headers) == len(set(headers)), "columns are found by their headers"
    said = (
        chart.x,
        chart.y,
        chart.series,
        chart.panel,
        chart.label,
        chart.query,
        chart.colour,
        chart.path,
        chart.marked,
    )
    assert {name for name in said if name} <= set(headers)
    assert chart.rows
    assert chart.caption.endswith(".")
    assert chart.limits is None or chart.limits[0] < chart.limits[1]
    assert not chart.query or chart.columns[chart.at(chart.query)].queries


@pytest.mark.parametrize("name", SUBJECTS)
def test_sections_are_the_same_each_time(name: str) -> None:
    assert all_sections(SUBJECTS[name]()) == all_sections(SUBJECTS[name]())
    assert verdicts(SUBJECTS[name]()) == verdicts(SUBJECTS[name]())


# --- real data -----------------------------------------------------------------------------------


def test_trec_covid(shared_data: Callable[[str], Path]) -> None:
    qrels, folder = shared_data("trec_covid/qrels.txt"), shared_data("trec_covid/round1/runs")
    runs = [str(path) for path in sorted(folder.iterdir())[:5]]
    found = rs.compare(str(qrels), runs)
    subject = Subject(found)
    sections = {section.name: section for section in all_sections(subject)}
    assert list(sections) == ["data", "scoreboard", "differences", "by-query", "spread", "heatmap"]
    for section in sections.values():
        assert all(map(math.isfinite, numbers(section)))
    health = tables(sections["data"])["data-health"]
    assert set(column(health, "judged")) == {30}
    assert column(health, "rank column").count(30) == 1  # one of them ranks against its own scores, in all topics
    waterfall = first_by(charts(sections["by-query"]), "waterfall")
    (run, baseline), *_ = subject.pairs
    assert math.fsum(column(waterfall, "difference")) / 30 == pytest.approx(
        found[run, baseline, "nDCG@10"].difference, abs=1e-12
    )
    judged = {query for v in verdicts(subject) for query, _ in v.queries}
    assert judged <= set(subject.lead.units)
    assert judged
