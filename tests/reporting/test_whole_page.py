"""What holds for a page as a whole: its marks and p-values are the corrected ones, its pairs stand the right way round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.reporting.made_sections import section_of

import rankscope as rs
from rankscope.blocks import (
    Chart,
    Code,
    Column,
    Facts,
    Heading,
    Note,
    Notes,
    NumberText,
    Paragraph,
    Section,
    Table,
    Value,
    Verdict,
)
from rankscope.reporting.subject import Subject
from rankscope.show.result import fragment

QUERIES = [f"q{i:02}" for i in range(24)]
QRELS = {query: {f"d{j}": 3 - j // 2 for j in range(6)} for query in QUERIES}


def ranking(query: int, strength: float) -> dict[str, float]:
    """The six judged documents and four others, the better on top the larger the strength is."""
    draw = np.random.default_rng(query)
    noise = draw.normal(0, 1, 10)
    worth = np.array([3, 3, 2, 2, 1, 1, 0, 0, 0, 0])
    return {f"d{j}": float(strength * worth[j] + noise[j]) for j in range(10)}


RUNS = {
    name: {query: ranking(i, strength) for i, query in enumerate(QUERIES)}
    for name, strength in {"base": 0.5, "good": 1.3, "near": 0.55, "poor": 0.0}.items()
}


@pytest.fixture(scope="module")
def found() -> rs.Comparison:
    return rs.compare(QRELS, RUNS, ["nDCG@5", "RR", "P@5"])


@pytest.fixture(scope="module")
def page(found: rs.Comparison) -> rs.Report:
    return rs.report(QRELS, RUNS, ["nDCG@5", "RR", "P@5"], baseline="base")


def blocks(page: rs.Report) -> Iterator[tuple[Section, Table | Chart]]:
    for section in page.page.sections:
        for block in section.blocks:
            if isinstance(block, Table | Chart):
                yield section, block


def number(value: Value) -> float:
    assert isinstance(value, NumberText | float | int), value
    return value.value if isinstance(value, NumberText) else float(value)


def test_the_correction_makes_a_difference_here(found: rs.Comparison) -> None:
    assert any(c.p_value_adjusted > 1.5 * c.p_value for c in found.contrasts)


def test_every_p_value_is_the_corrected_one(found: rs.Comparison, page: rs.Report) -> None:
    corrected = [c.p_value_adjusted for c in found.contrasts]
    seen = 0
    for section, block in blocks(page):
        heads = [column.header for column in block.columns]
        for at in [i for i, head in enumerate(heads) if head in {"p", "p-value", "evidence"}]:
            for row in block.rows:
                p = number(row[at])
                seen += 1
                assert min(abs(p - q) for q in corrected) < 1e-12, (section.name, block.name, p)
    assert seen >= len(found.of("nDCG@5"))


def test_marks_say_what_the_verdicts_say(found: rs.Comparison, page: rs.Report) -> None:
    table = next(b for _, b in blocks(page) if b.name == "against-baseline")
    heads = [column.header for column in table.columns]
    for row in table.rows:
        for metric in found.metrics:
            cell, c = row[heads.index(metric)], found[str(row[0]), metric]
            text = cell.text if isinstance(cell, NumberText) else str(cell)
            mark = {"better": "*", "worse": "†"}.get(c.verdict, "")
            assert [sign for sign in "*†" if sign in text] == [*mark]
            assert number(cell) == c.difference


def test_the_worst_run_is_worse_and_the_best_better(found: rs.Comparison) -> None:
    assert found["good", "nDCG@5"].verdict == "better"
    assert found["poor", "nDCG@5"].verdict == "worse"


def test_pairs_name_the_baseline_first(page: rs.Report) -> None:
    told = [block.pair for _, block in blocks(page) if block.pair]
    assert {pair[0] for pair in told} == {"base"}
    assert {pair[1] for pair in told} == {"good", "near", "poor"}
    for _, block in blocks(page):
        if block.pair:
            assert block.pair[1] in block.title
    verdicts = [verdict for verdict in page.page.verdicts if verdict.queries]
    for verdict in verdicts:
        assert isinstance(verdict, Verdict)
        assert len(verdict.pairs) == len(verdict.queries)
        for (_, said), (before, after) in zip(verdict.queries, verdict.pairs, strict=True):
            assert before == "base"
            assert said.startswith(after)


def test_a_run_has_one_colour_on_the_whole_page(page: rs.Report) -> None:
    orders = {
        block.order for _, block in blocks(page) if isinstance(block, Chart) and block.series == "run" and block.rows
    }
    assert orders == {("base", "good", "near", "poor")}


def test_colours_go_to_the_baseline_and_then_by_merit(found: rs.Comparison) -> None:
    turned = rs.compare(QRELS, RUNS, "nDCG@5", baseline="poor")
    assert Subject(turned).colours() == ("poor", "good", "near", "base")


def test_anchors_and_names_of_files_are_distinct(page: rs.Report) -> None:
    sections = [section.name for section in page.page.sections]
    assert len(set(sections)) == len(sections)
    names = [block.name for _, block in blocks(page) if block.rows]
    assert len(set(names)) == len(names), names


def test_one_run_keeps_its_interval_its_clusters_and_its_primary_metric() -> None:
    clusters = {query: f"user{i // 4}" for i, query in enumerate(QUERIES)}
    run = RUNS["good"]
    report = rs.report(QRELS, run, ["RR", "nDCG@5"], primary="nDCG@5", clusters=clusters, interval="percentile")
    expected = rs.evaluate(QRELS, run, ["nDCG@5"], clusters=clusters, interval="percentile").bounds_of("nDCG@5")
    assert "nDCG@5" in report.page.verdicts[0].text
    assert f"{expected.lower:.3f} to {expected.upper:.3f}" in report.page.verdicts[0].text


ENTRIES = {
    "rows": "rows",
    "ranked": "queries",
    "judged": "judged_queries",
    "missing": "missing_queries",
    "empty": "empty_queries",
    "extra": "extra_queries",
    "none relevant": "queries_without_relevant",
    "rank column": "rank_disagreements",
    "repeated": "duplicates",
    "own query": "self_matches",
    "repeated judgments": "qrels_duplicates",
}


def test_every_entry_of_the_health_table_is_its_own(found: rs.Comparison) -> None:
    assert found.scores is not None
    numbers: dict[str, Any] = {entry: 100 + i for i, entry in enumerate(ENTRIES.values())}
    health = replace(
        found.scores.runs[0].health, ties_at_cutoff={5: 7}, unjudged_at_cutoff={5: 0.25}, missing=(), **numbers
    )
    scores = replace(found.scores, runs=[replace(found.scores.runs[0], health=health)])
    section = section_of("data", Subject(scores))
    table = next(b for b in section.blocks if isinstance(b, Table) and b.name == "data-health")
    row = dict(zip([column.header for column in table.columns], table.rows[0], strict=True))
    for header, entry in ENTRIES.items():
        assert row[header] == numbers[entry], header
    assert row["ties@5"] == 7
    assert number(row["unjudged@5"]) == 0.25


def test_few_runs_are_the_best_and_the_baseline() -> None:
    many = {f"run{i:02}": {q: ranking(j, i / 5) for j, q in enumerate(QUERIES)} for i in range(12)}
    found = rs.compare(QRELS, many, "nDCG@5", baseline="run00")
    kept, said = Subject(found, QRELS, many).few_runs(5)
    means = {name: found.panels[0].means[name] for name in many}
    best = sorted((name for name in many if name != "run00"), key=lambda name: -means[name])[:4]
    assert set(kept) == {"run00", *best}
    assert "7 runs are left out" in said


def test_what_a_notebook_shows_is_text() -> None:
    evil = "<script>alert(1)</script>"
    told: list[Any] = [
        Paragraph(evil), Heading(evil), Notes((Note(evil, evil, evil),)), Facts(((evil, evil),)), Code((evil,)),
        Table((Column(evil, hint=evil),), ((evil,),), note=evil, title=evil), Verdict(evil, about=evil, more=(evil,)),
        Chart("c", evil, "bars", (Column("a"), Column("b", "value")), ((evil, 1.0),), x="a", y="b", caption=evil),
    ]  # fmt: skip
    for block in told:
        said = fragment([block])
        assert said is not None
        assert "<script" not in said, block
        assert "alert(1)" in said
