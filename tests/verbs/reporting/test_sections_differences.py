"""Differences in a report: every bar, interval and count is that of the contrast it shows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.verbs.made_scores import drawn, ranked
from tests.verbs.reporting.made_sections import (
    SUBJECTS,
    charts,
    column,
    compared,
    first,
    tables,
)

from rankscope.blocks import Ranged
from rankscope.verbs.reporting import differences
from rankscope.verbs.reporting.differing_queries import EITHER
from rankscope.verbs.reporting.subject import Subject
from rankscope.verbs.reporting.verdicts import verdicts


@pytest.mark.parametrize(
    "name", ["two", "lower is better", "no direction", "gaps", "weights", "runs", "clusters"]
)
def test_the_bars_are_the_gains_of_the_contrast(name: str) -> None:
    subject = SUBJECTS[name]()
    assert subject.comparison is not None
    (run, baseline), *_ = subject.rivals
    c = next(
        c for c in subject.comparison.of(subject.comparison.primary) if (c.run, c.baseline) == (run, baseline)
    )
    chart = charts(differences.section(subject))["waterfall-1"]
    ids = [q for q, kept in zip(c.measured.query_ids, c.paired.inside.tolist(), strict=True) if kept]
    assert dict(zip(column(chart, "query"), column(chart, "difference"), strict=True)) == dict(
        zip(ids, c.paired.gains.tolist(), strict=True)
    )
    assert column(chart, "place") == list(range(1, c.queries + 1))
    signed = [(c.measured.sign or 1) * float(v) for v in column(chart, "difference")]
    assert signed == sorted(signed, reverse=True)
    counts = Counter(column(chart, "outcome"))
    up, down = ("better", "worse") if c.measured.sign else ("higher", "lower")
    assert (counts[up], counts[down], counts["same"]) == (c.wins, c.losses, c.ties)


@pytest.mark.parametrize(
    "name", ["two", "gaps", "unknown metric", "of all kinds", "all pairs", "forty", "repetitions"]
)
def test_the_forest_shows_the_adjusted_intervals(name: str) -> None:
    subject = SUBJECTS[name]()
    assert subject.comparison is not None
    drawn_rows = {}
    for chart in charts(differences.section(subject)).values():
        if chart.form == "intervals":
            for row in chart.rows:
                cells = dict(zip((c.header for c in chart.columns), row, strict=True))
                metric = str(cells["metric"]).removesuffix(" (lower is better)")
                drawn_rows[str(cells["run"]), metric] = cells
    for c in subject.comparison.contrasts:
        key = (f"{c.run} − {c.baseline}" if subject.comparison.all_pairs else c.run, c.metric)
        if c.adjusted.known:
            cells = drawn_rows.pop(key)
            assert cells["difference"] == Ranged(c.difference, c.adjusted.lower, c.adjusted.upper)
            assert cells["verdict"] == c.verdict
            assert cells["clear"] == int(c.verdict in {"better", "worse", "different"})
    assert not drawn_rows


@pytest.mark.parametrize("name", ["two", "gaps", "all pairs", "forty", "lower is better", "runs"])
def test_wins_ties_and_losses_are_all_queries(name: str) -> None:
    subject = SUBJECTS[name]()
    assert subject.comparison is not None
    chart = charts(differences.section(subject))["win-loss"]
    by_row: dict[Any, dict[str, Any]] = {}
    for label, outcome, count in chart.rows:
        by_row.setdefault(label, {})[str(outcome)] = count
    for c in subject.comparison.contrasts:
        label = (
            c.metric
            if chart.y == "metric"
            else c.run
            if not subject.comparison.all_pairs
            else f"{c.run} − {c.baseline}"
        )
        if chart.y == "metric" or c.metric == subject.comparison.primary:
            assert by_row[label] == {"better": c.wins, "same": c.ties, "worse": c.losses}
            assert sum(by_row[label].values()) == c.queries


@pytest.mark.parametrize("metric", ["AP", "CoverageError"])
def test_b_against_a_mirrors_a_against_b(metric: str) -> None:
    scores = drawn(12)
    there = differences.section(compared(scores, metrics=metric))
    back = differences.section(compared(scores, metrics=metric, baseline="b"))
    ours, theirs = charts(there), charts(back)
    gains = [
        dict(zip(column(c, "query"), column(c, "difference"), strict=True))
        for c in (ours["waterfall-1"], theirs["waterfall-1"])
    ]
    assert gains[0] == {q: -v for q, v in gains[1].items()}
    ((*_, a, _, _, _, _),), ((*_, b, _, _, _, _),) = ours["forest"].rows, theirs["forest"].rows
    assert isinstance(a, Ranged)
    assert isinstance(b, Ranged)
    assert (a.value, a.lower, a.upper) == (-b.value, -b.upper, -b.lower)
    swap = {"better": "worse", "worse": "better", "same": "same"}
    assert set(ours["win-loss"].rows) == {(m, swap[str(o)], n) for m, o, n in theirs["win-loss"].rows}
    points = [
        sorted((r[0], r[1], r[3]) for r in ours["scatter-1"].rows),
        sorted((r[1], r[0], r[3]) for r in theirs["scatter-1"].rows),
    ]
    assert points[0] == points[1]
    mine, yours = (
        verdicts(compared(scores, metrics=metric))[0],
        verdicts(compared(scores, metrics=metric, baseline="b"))[0],
    )
    assert {mine.tone, yours.tone} in ({"better", "worse"}, {"unclear"})
    assert [q for q, _ in mine.queries] == [q for q, _ in yours.queries]


def test_equal_points_are_one_mark_that_counts_them() -> None:
    low, high = ranked((1, 2, 2, 2, 1, 3)), ranked((1, 1, 1, 2, 1, 1))
    subject = compared({f"q{i}": {"good": 1} for i in range(6)}, {"low": low, "high": high}, "RR")
    chart = charts(differences.section(subject))["scatter-1"]
    assert [(x, y, n) for x, y, _, n, _, _ in chart.rows] == [
        (1 / 3, 1.0, 1),
        (1 / 2, 1 / 2, 1),
        (1 / 2, 1.0, 2),
        (1.0, 1.0, 2),
    ]
    assert column(chart, "query") == ["q5", "q3", "q1", "q0"]
    assert column(chart, "which") == ["", "", "q1, q2", "q0, q4"]
    assert sum(column(chart, "queries")) == 6


def test_the_queries_that_differ_most() -> None:
    subject = compared(drawn(1, queries=100), metrics="AP")
    table, c = tables(differences.section(subject))["differing-queries-1"], first(subject)
    gains = np.sort(c.paired.gains)[::-1]
    shown = column(table, "difference")
    assert shown[:EITHER] == gains[:EITHER].tolist()
    assert shown[EITHER:] == gains[-EITHER:].tolist()
    step = np.array(column(table, "run")) - np.array(column(table, "baseline"))
    assert step == pytest.approx(np.array(shown))
    texts = {str(table.rows[0][0]): "what is known of x"}
    told = tables(differences.section(Subject(None, subject.comparison, queries_text=texts)))[
        "differing-queries-1"
    ]
    assert told.rows[0][1] == "what is known of x"


def test_a_lead_says_how_few_queries_carry_it() -> None:
    base = {f"q{i:02}": 0.5 for i in range(40)}
    better = {q: 0.5 + (0.4 if i < 10 else 0.1 if i < 20 else 0.0) for i, (q, _) in enumerate(base.items())}
    subject = compared({"a": base, "b": better}, metrics="AP")
    section = differences.section(subject)
    assert section is not None
    share = 10 * 0.4 / (10 * 0.4 + 10 * 0.1)
    assert "20 queries better, 0 worse; on 20 of 40 nothing changes" in section.lead
    assert f"10 queries carry {share:.0%} of all that is gained" in section.lead


def test_many_queries_are_thinned_from_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankscope.verbs.reporting.differing_queries.BARS", 10)
    subject = compared(drawn(2, queries=60), metrics="AP")
    chart = charts(differences.section(subject))["waterfall-1"]
    gains = np.abs(first(subject).paired.gains)
    assert sorted(np.abs(np.array(column(chart, "difference"), dtype=float))) == sorted(gains)[-10:]
    assert "50 queries" in chart.caption
