"""The first screen: one plain line, a board with an interval a row, one doubt with its size; the best run first of many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope import words
from rankscope.blocks import Answer, ValueRange

QUERIES = [f"q{i:02}" for i in range(24)]
QRELS = {query: {f"d{j}": 3 - j // 2 for j in range(6)} for query in QUERIES}
STRENGTHS = {"base": 0.5, "near": 0.55, "good": 1.3, "poor": 0.0}
METRICS = ["nDCG@5", "RR", "P@5"]


def run(strength: float, unjudged: bool = False) -> dict[str, dict[str, float]]:
    """Six judged documents and four others; where some are unjudged, these stand first."""
    out = {}
    for i, query in enumerate(QUERIES):
        noise = np.random.default_rng(i).normal(0, 1, 10)
        worth = np.array([3, 3, 2, 2, 1, 1, 0, 0, 0, 0])
        out[query] = {f"d{j}": float(strength * worth[j] + noise[j]) for j in range(10)}
        if unjudged:
            out[query]["nobody saw it"] = 99.0
    return out


RUNS = {name: run(strength) for name, strength in STRENGTHS.items()}


def first(*given: Any, **options: Any) -> Answer:
    page = rs.report(*given, **options).page
    assert page.answer is not None
    return page.answer


def pick(*names: str) -> dict[str, Any]:
    return {name: RUNS[name] for name in names}


def test_two_runs_are_told_in_one_line_with_the_difference_and_a_row_per_metric() -> None:
    said = first(QRELS, pick("base", "good"), METRICS)
    found = rs.compare(QRELS, pick("base", "good"), METRICS)
    c = found["good", "nDCG@5"]
    ends = words.interval(c.adjusted.lower, c.adjusted.upper, sign=True)
    assert said.text == f"good beats base: {words.number(c.difference, sign=True)} nDCG@5 (95% interval {ends})"
    assert [row[0] for row in said.board.rows] == METRICS
    for row, one in zip(said.board.rows, found.contrasts, strict=True):
        lift, bounds = one.relative_adjusted
        assert isinstance(row[3], ValueRange)
        assert (row[1], row[2]) == (one.baseline_value, one.value)
        assert (row[3].value, row[3].lower, row[3].upper) == (lift, bounds.lower, bounds.upper)
        assert str(row[4]).endswith(one.verdict)
    assert said.tone == "better"


def test_a_difference_that_is_not_clear_is_not_called_a_win() -> None:
    halves = [
        {q: RUNS[name if i % 2 else other][q] for i, q in enumerate(QUERIES)}
        for name, other in (("good", "poor"), ("poor", "good"))
    ]
    runs = {"odd": halves[0], "even": halves[1]}
    said = first(QRELS, runs, "nDCG@5")
    assert rs.compare(QRELS, runs, "nDCG@5")["even", "nDCG@5"].verdict == "cannot tell"
    assert said.text.startswith("No clear difference between even and odd: ")
    assert said.tone == "unclear"


def test_the_board_holds_the_means_and_the_intervals_of_the_comparison() -> None:
    found = rs.compare(QRELS, RUNS, METRICS, baseline="base")
    board = first(QRELS, RUNS, METRICS, baseline="base").board
    assert [column.header for column in board.columns[:2]] == ["run", METRICS[0]]  # the scoreboard has the others
    for name, value, drawn in board.rows:
        assert value == found.panels[0].means[str(name)]
        if name == "base":
            assert drawn is None
            continue
        c = found[str(name), "nDCG@5"]
        assert isinstance(drawn, ValueRange)
        assert (drawn.value, drawn.lower, drawn.upper) == (c.difference, c.adjusted.lower, c.adjusted.upper)


def test_of_four_runs_the_best_is_what_others_are_compared_with_not_the_first() -> None:
    page = rs.report(QRELS, RUNS, METRICS).page
    assert page.answer is not None
    assert page.answer.text.startswith("good is best of 4 runs: nDCG@5 ")
    assert page.answer.board.rows[0][0] == "good"
    assert page.answer.board.columns[-1].header == "nDCG@5: difference from good"


def test_a_baseline_that_is_named_stays_the_baseline_and_the_best_is_first_all_the_same() -> None:
    said = first(QRELS, RUNS, METRICS, baseline="poor")
    assert said.text.startswith("good is best of 4 runs: nDCG@5 ")
    assert "good" in rs.compare(QRELS, RUNS, METRICS, baseline="poor").groups[0].systems
    assert said.board.rows[0][0] == "good"
    assert said.board.columns[-1].header == "nDCG@5: difference from poor"


def test_three_runs_keep_the_first_as_baseline() -> None:
    said = first(QRELS, pick("poor", "good", "base"), "nDCG@5")
    assert said.board.columns[-1].header == "nDCG@5: difference from poor"


def test_many_runs_leave_the_board_short_with_the_baseline_on_it() -> None:
    runs = {f"run{i}": run(0.1 * i) for i in range(14)}
    said = first(QRELS, runs, "nDCG@5", baseline="run0")
    names = [row[0] for row in said.board.rows]
    assert len(names) == 6
    assert "run0" in names
    means = rs.evaluate(QRELS, runs, "nDCG@5")
    values = [means[str(name), "nDCG@5"] for name in names]
    assert values == sorted(values, reverse=True)
    assert "6 of 14 runs" in said.board.note


def test_the_doubt_has_a_size_and_leads_to_a_section_that_is_there() -> None:
    page = rs.report(QRELS, {"base": RUNS["base"], "new": run(1.3, unjudged=True)}, "nDCG@5").page
    assert page.answer is not None
    assert page.answer.caution_at == "worklist"
    assert "unjudged document" in page.answer.caution
    assert page.answer.caution_at in {section.name for section in page.sections}


def test_one_run_has_a_board_of_its_metrics() -> None:
    said = first(QRELS, pick("good"), METRICS)
    assert said.text.startswith("good: nDCG@5 ")
    assert [row[0] for row in said.board.rows] == METRICS
    assert all(isinstance(row[1], ValueRange) for row in said.board.rows)


@pytest.mark.parametrize("given", [METRICS, ["RR"]], ids=["several metrics", "one metric"])
def test_all_pairs_have_an_answer_too(given: list[str]) -> None:
    said = first(QRELS, RUNS, given, all_pairs=True)
    assert "is best of 4 runs" in said.text


def test_below_the_explorer_every_section_is_closed_but_its_headline() -> None:
    page = rs.report(QRELS, RUNS, METRICS).page
    assert [section.name for section in page.sections if not section.folded] == ["queries"]
    assert all(section.lead for section in page.sections if section.name not in {"queries", "recall"})


def test_a_pair_has_the_colour_of_its_run() -> None:
    page = rs.report(QRELS, pick("base", "near", "good"), METRICS).page
    charts = [b for s in page.sections for b in s.blocks if getattr(b, "series", "") == "pair"]
    assert charts
    for chart in charts:
        assert [name.partition(" against ")[0] for name in chart.order] == ["base", "good", "near"]  # type: ignore[union-attr]


def test_a_tie_for_first_is_in_the_headline() -> None:
    runs = {"base": RUNS["poor"], "good": run(1.3), "also good": run(1.25)}
    said, found = first(QRELS, runs, "nDCG@5"), rs.compare(QRELS, runs, "nDCG@5")
    assert found.groups[0].systems == ("good", "also good")
    assert said.text.startswith("good beats base: ")
    assert said.text.endswith("; not clearly ahead of also good")


def test_the_best_of_many_has_its_lead_on_the_runner_up_with_the_interval() -> None:
    said, found = first(QRELS, RUNS, "nDCG@5"), rs.compare(QRELS, RUNS, "nDCG@5", baseline="best")
    c = found[list(found.panels[0].means)[1], "nDCG@5"]  # from the side of the runner-up
    ends = words.interval(-c.adjusted.upper, -c.adjusted.lower, sign=True)
    lead = f"{words.number(-c.difference, sign=True)} (95% interval {ends}) on {c.run}"
    assert lead in said.text
    assert said.tone == ("better" if len(found.groups[0].systems) == 1 else "unclear")


def test_of_many_runs_the_caution_and_the_worklist_are_about_the_first_ones() -> None:
    near = {f"near{i}": run(1.3 + 0.01 * i) for i in range(3)}
    page = rs.report(
        QRELS, {**near, "last": run(-2.0, unjudged=True), "last but one": run(-1.0, unjudged=True)}, "nDCG@5"
    ).page
    assert page.answer is not None
    assert "last" not in page.answer.caution
    blocks = [b for section in page.sections if section.name == "worklist" for b in section.blocks]
    assert not any("last" in str(row) for b in blocks for row in getattr(b, "rows", ()))
