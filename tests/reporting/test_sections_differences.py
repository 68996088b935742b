"""Differences in a report: every bar, interval and count is that of the contrast it shows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.made.scores import drawn, ranked
from tests.reporting.made_sections import (
    COMPARED,
    charts,
    column,
    compared,
    first,
    first_by,
    found_by,
    section_of,
    tables,
)

from rankscope.blocks import NumberText, ValueRange
from rankscope.reporting.answer import verdicts
from rankscope.reporting.subject import Subject
from rankscope.show.html.tables import LONG
from rankscope.verbs.compare.charts import MOST


@pytest.mark.parametrize("name", ["two", "lower is better", "no direction", "gaps", "weights", "runs", "clusters"])
def test_the_bars_are_the_gains_of_the_contrast(name: str) -> None:
    subject = COMPARED[name]()
    (run, baseline), *_ = subject.pairs
    c = next(c for c in subject.result.of(subject.result.primary) if (c.run, c.baseline) == (run, baseline))
    chart = first_by(charts(section_of("by-query", subject)), "waterfall")
    ids = [q for q, kept in zip(c.panel.units, c.paired.inside.tolist(), strict=True) if kept]
    assert dict(zip(column(chart, "query"), column(chart, "difference"), strict=True)) == dict(
        zip(ids, c.paired.gains.tolist(), strict=True)
    )
    assert column(chart, "place") == list(range(1, c.queries + 1))
    signed = [(c.panel.sign or 1) * float(v) for v in column(chart, "difference")]
    assert signed == sorted(signed, reverse=True)
    counts = Counter(column(chart, "outcome"))
    up, down = ("better", "worse") if c.panel.sign else ("higher", "lower")
    assert (counts[up], counts[down], counts["same"]) == (c.wins, c.losses, c.ties)


@pytest.mark.parametrize("name", ["two", "gaps", "unknown metric", "of all kinds", "all pairs", "forty", "repetitions"])
def test_the_forest_shows_the_adjusted_intervals(name: str) -> None:
    subject = COMPARED[name]()
    drawn_rows = {}
    for chart in charts(section_of("differences", subject)).values():
        if chart.form == "intervals":
            for row in chart.rows:
                cells = dict(zip((c.header for c in chart.columns), row, strict=True))
                metric = str(cells["metric"]).removesuffix(" (lower is better)")
                drawn_rows[str(cells["run"]), metric] = cells
    for c in subject.result.contrasts:
        key = (f"{c.run} − {c.baseline}" if subject.result.all_pairs else c.run, c.metric)
        if c.adjusted.known:
            cells = drawn_rows.pop(key)
            assert cells["difference"] == ValueRange(c.difference, c.adjusted.lower, c.adjusted.upper)
            assert isinstance(cells["p"], NumberText)
            assert cells["p"].value == c.p_value_adjusted
            assert cells["verdict"] == c.verdict
            assert cells["clear"] == int(c.verdict in {"better", "worse", "different"})
    assert not drawn_rows


@pytest.mark.parametrize("name", ["two", "gaps", "all pairs", "forty", "lower is better", "runs"])
def test_wins_ties_and_losses_are_all_queries(name: str) -> None:
    subject = COMPARED[name]()
    chart = charts(section_of("differences", subject))["win-loss"]
    by_row: dict[Any, dict[str, Any]] = {}
    for label, outcome, count in chart.rows:
        by_row.setdefault(label, {})[str(outcome)] = count
    for c in subject.result.contrasts:
        label = (
            c.metric if chart.y == "metric" else c.run if not subject.result.all_pairs else f"{c.run} − {c.baseline}"
        )
        if chart.y == "metric" or c.metric == subject.result.primary:
            assert by_row[label] == {"better": c.wins, "same": c.ties, "worse": c.losses}
            assert sum(by_row[label].values()) == c.queries


@pytest.mark.parametrize("metric", ["AP", "CoverageError"])
def test_b_against_a_mirrors_a_against_b(metric: str) -> None:
    scores = drawn(12)
    there = section_of("differences", compared(scores, metrics=metric))
    back = section_of("differences", compared(scores, metrics=metric, baseline="b"))
    ours, theirs = charts(there), charts(back)
    mine, yours = (charts(section_of("by-query", compared(scores, metrics=metric, baseline=b))) for b in "ab")
    gains = [
        dict(zip(column(c, "query"), column(c, "difference"), strict=True))
        for c in (found_by(mine, "waterfall"), found_by(yours, "waterfall"))
    ]
    assert gains[0] == {q: -v for q, v in gains[1].items()}
    ((*_, a, _, _, _, _),), ((*_, b, _, _, _, _),) = ours["forest"].rows, theirs["forest"].rows
    assert isinstance(a, ValueRange)
    assert isinstance(b, ValueRange)
    assert (a.value, a.lower, a.upper) == (-b.value, -b.upper, -b.lower)
    swap = {"better": "worse", "worse": "better", "same": "same"}
    assert set(ours["win-loss"].rows) == {(m, swap[str(o)], n) for m, o, n in theirs["win-loss"].rows}
    points = [
        sorted((r[0], r[1], r[3]) for r in found_by(mine, "scatter").rows),
        sorted((r[1], r[0], r[3]) for r in found_by(yours, "scatter").rows),
    ]
    assert points[0] == points[1]
    said = [verdicts(compared(scores, metrics=metric, baseline=b))[0] for b in "ab"]
    assert {one.tone for one in said} in ({"better", "worse"}, {"unclear"})
    assert [q for q, _ in said[0].queries] == [q for q, _ in said[1].queries]


def test_equal_points_are_one_mark_that_counts_them() -> None:
    low, high = ranked((1, 2, 2, 2, 1, 3)), ranked((1, 1, 1, 2, 1, 1))
    subject = compared({f"q{i}": {"good": 1} for i in range(6)}, {"low": low, "high": high}, "RR")
    chart = found_by(charts(section_of("by-query", subject)), "scatter")
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
    table, c = found_by(tables(section_of("by-query", subject)), "differing"), first(subject)
    gains = c.paired.gains
    shown = [cell.value for cell in column(table, "difference")]  # written with their signs
    assert len(shown) == MOST > LONG, "a page folds it"
    assert np.abs(shown).tolist() == np.sort(np.abs(gains))[::-1][:MOST].tolist()
    assert min(shown) < 0 < max(shown)
    assert table.note == f"{np.count_nonzero(gains) - MOST} more queries differ (69.0% of all)"
    step = np.array(column(table, "run")) - np.array(column(table, "baseline"))
    assert step == pytest.approx(np.array(shown))
    texts = {str(table.rows[0][0]): "what is known of x"}
    section = section_of("by-query", Subject(subject.result, queries_text=texts))
    assert found_by(tables(section), "differing").rows[0][1] == "what is known of x"


def test_of_equal_differences_the_first_query_comes_first() -> None:
    base = {f"q{i}": 0.5 for i in range(8)}
    step = dict(zip(base, (1, -3, 3, 0, -1, 2, -2, 4), strict=True))
    subject = compared({"a": base, "b": {q: 0.5 + v / 16 for q, v in step.items()}}, metrics="AP")
    table = found_by(tables(section_of("by-query", subject)), "differing")
    assert column(table, "query") == sorted((q for q in base if step[q]), key=lambda q: -abs(step[q]))
    assert not table.note


def test_a_lead_says_how_few_queries_carry_it() -> None:
    base = {f"q{i:02}": 0.5 for i in range(40)}
    better = {q: 0.5 + (0.4 if i < 10 else 0.1 if i < 20 else 0.0) for i, (q, _) in enumerate(base.items())}
    subject = compared({"a": base, "b": better}, metrics="AP")
    section, queries = section_of("differences", subject), section_of("by-query", subject)
    assert queries is not None
    share = 10 * 0.4 / (10 * 0.4 + 10 * 0.1)
    assert "better on 20 queries, worse on 0, unchanged on 20" in section.lead
    assert f"the top 10 queries account for {share:.0%} of the gain" in queries.lead
    assert "favour" not in queries.lead, "all that favour it carry it: that says nothing"
    lost = {q: v - (0.3 if i >= 32 else 0.0) for i, (q, v) in enumerate(better.items())}
    carried = section_of("by-query", compared({"a": base, "b": lost}, metrics="AP"))
    assert carried is not None
    # 10 * 0.4 + 10 * 0.1 - 8 * 0.3 = 2.6: seven of the largest gains are more than that
    assert "the lead of b vanishes only if the best 7 (17.5% of all) are removed" in carried.lead
    worse = section_of("by-query", compared({"b": lost, "a": base}, metrics="AP"))
    assert worse is not None
    assert "of the loss; the lead of b vanishes only if the best 7" in worse.lead


def test_many_queries_are_thinned_from_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankscope.verbs.compare.charts.BARS", 10)
    subject = compared(drawn(2, queries=60), metrics="AP")
    chart = first_by(charts(section_of("by-query", subject)), "waterfall")
    gains = np.abs(first(subject).paired.gains)
    assert sorted(np.abs(np.array(column(chart, "difference"), dtype=float))) == sorted(gains)[-10:]
    assert "50 queries" in chart.caption


def test_a_forest_says_what_its_intervals_are_after() -> None:
    many = charts(section_of("differences", COMPARED["gaps"]()))["forest"]
    assert "the corrected 95% interval (paired t test, Holm over 2 comparisons)" in many.caption
    one = charts(section_of("differences", COMPARED["clusters"]()))["forest"]
    assert "the 95% interval (paired t test, queries in 6 clusters)" in one.caption


def test_files_are_called_by_their_runs() -> None:
    scores = dict(zip(("a" * 40 + "1", "a" * 40 + "2", "Ünï.run"), drawn(3, systems=3).values(), strict=True))
    section = section_of("by-query", compared(scores, metrics="AP", baseline="Ünï.run"))
    names = list(charts(section))
    assert names == [
        "waterfall-aaaaaaaaaaaaaaaaaa-against-n-run", "scatter-aaaaaaaaaaaaaaaaaa-against-n-run",
        "waterfall-aaaaaaaaaaaaaaaaaa-against-n-run-2", "scatter-aaaaaaaaaaaaaaaaaa-against-n-run-2",
    ]  # fmt: skip
    assert all(len(name) < 60 for name in [*names, *tables(section)])
