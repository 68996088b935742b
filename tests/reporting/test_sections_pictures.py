"""Distributions, heatmaps, pairs, slices and costs in a report."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.made.scores import drawn
from tests.reporting.made_sections import (
    COMPARED,
    QRELS,
    SUBJECTS,
    all_sections,
    charts,
    column,
    compared,
    find_section,
    first,
    section_of,
    tables,
)

from rankscope.analysis.curves import RecallCurve
from rankscope.blocks import Heading, Notes, NumberText, Paragraph, ValueRange
from rankscope.reporting.sections.differences import MEANS_ONLY
from rankscope.reporting.subject import Subject
from rankscope.scoring.spread import cumulative
from rankscope.verbs.compare.result import Comparison
from rankscope.words import p_cell

# --- spread, pictures ----------------------------------------------------------------------------


@given(st.lists(st.integers(0, 20), min_size=1, max_size=400), st.integers(2, 50))
def test_the_steps_are_the_empirical_distribution(values: list[int], most: int) -> None:
    known = np.array(values) / 20
    points = cumulative(known, (0.0, 1.0), most)
    assert points[-1] == (1.0, 1.0)
    assert [x for x, _ in points] == sorted({x for x, _ in points})
    for x, share in points:
        assert share == np.count_nonzero(known <= x) / len(known)
    assert len(points) <= most + 2
    if len(set(values)) <= most:
        assert set(known.tolist()) <= {x for x, _ in points}


@pytest.mark.parametrize("name", ["two", "gaps", "forty", "one run"])
def test_each_line_ends_at_one(name: str) -> None:
    subject = SUBJECTS[name]()
    chart = charts(section_of("spread", subject))["distribution"]
    last = {run: share for _, share, run in chart.rows}
    assert set(last.values()) == {1.0}
    assert len(last) == min(8, len(subject.systems))
    assert subject.systems[0] in last, "the baseline is always there"


def test_quantiles_and_first_ranks_are_those_of_evaluate() -> None:
    subject = SUBJECTS["one run"]()
    assert subject.scores is not None
    found = tables(section_of("spread", subject))["quantiles"]
    for row, record in zip(found.rows, subject.scores.distribution.to_dicts(), strict=True):
        shown = dict(zip((c.header for c in found.columns), row, strict=True))
        assert {k: shown[k] for k in ("metric", "min", "q25", "median", "q95", "max", "zeros", "queries")} == {
            k: v for k, v in record.items() if k in {"metric", "min", "q25", "median", "q95", "max", "zeros", "queries"}
        }
    bars = charts(section_of("spread", subject))["first-relevant"]
    assert sum(column(bars, "queries")) == len(QRELS)
    assert column(bars, "rank") == [*map(str, range(1, 11)), "11-100", "101+", "none"]
    both = charts(section_of("spread", SUBJECTS["runs"]()))["first-relevant"]
    assert sum(column(both, "queries")) == 2 * len(QRELS)


def test_the_heatmap_shows_where_runs_part() -> None:
    subject = SUBJECTS["forty"]()
    field = subject.lead
    chart = charts(section_of("heatmap", subject))["heatmap"]
    assert len({row[0] for row in chart.rows}) == 40
    for query, run, value in chart.rows:
        assert value == field.values[field.systems.index(str(run)), field.units.index(str(query))]
    assert next(iter(dict.fromkeys(column(chart, "run")))) == max(field.systems, key=field.means.__getitem__)
    assert chart.caption.startswith(
        "All queries, the best run on top and the easiest query on the left. A column in one"
    )
    many = drawn(3, systems=3, queries=90)
    wide = compared(many, metrics="AP")
    shown = {str(row[0]) for row in charts(section_of("heatmap", wide))["heatmap"].rows}
    gap = np.ptp(wide.lead.values, axis=0)
    assert min(g for q, g in zip(wide.lead.units, gap, strict=True) if q in shown) >= max(
        g for q, g in zip(wide.lead.units, gap, strict=True) if q not in shown
    )


def test_pairs_mirror_and_hold_what_the_comparison_holds() -> None:
    subject = COMPARED["all pairs"]()
    assert find_section("pairs", SUBJECTS["forty"]()) is None
    chart = charts(section_of("pairs", subject))["pairs-differences"]
    found = {(str(a), str(b)): (d, p) for a, b, d, p, _ in chart.rows}
    for c in subject.result.contrasts:
        p = NumberText(p_cell(c.p_value_adjusted), c.p_value_adjusted)
        assert found[c.run, c.baseline] == (c.difference, p)
        assert found[c.baseline, c.run] == (-c.difference, p)
    assert all(found[run, run] == (0.0, None) for run in subject.systems)
    assert len(found) == 5 * 5
    matrix = tables(section_of("pairs", subject))["pairs-p"]
    assert [c.header for c in matrix.columns[1:]] == [str(row[0]) for row in matrix.rows]
    clear = sum(c.verdict in {"better", "worse"} for c in subject.result.contrasts)
    assert len(matrix.best) == 2 * clear
    listed = tables(section_of("pairs", subject))["pairs"]
    for name, against, change, interval, after, *_ in listed.rows:
        c = subject.result[(*sorted((str(name), str(against)), reverse=True), "AP")]
        turned = 1 if c.run == name else -1
        assert isinstance(change, NumberText)
        assert isinstance(interval, ValueRange)
        assert isinstance(after, NumberText)
        assert change.value == interval.value == turned * c.difference
        assert after.value == c.p_value_adjusted
        assert [interval.lower, interval.upper] == sorted((turned * c.adjusted.lower, turned * c.adjusted.upper))


# --- slices and costs ----------------------------------------------------------------------------


def reversing() -> Subject[Comparison]:
    ids = [f"q{i:02}" for i in range(60)]
    draws = np.random.default_rng(0).normal(0, 0.02, 60)
    step = [-0.1 if i % 3 == 0 else 0.2 for i in range(60)]
    base = dict.fromkeys(ids, 0.4)
    other = {q: 0.4 + step[i] + float(draws[i]) for i, q in enumerate(ids)}
    lang = {q: {"lang": ("en", "de", "fr")[i % 3]} for i, q in enumerate(ids)}
    costs = {"a": {"latency_ms": 10, "price": 2}, "b": {"latency_ms": 1000, "price": 1}}
    return compared({"a": base, "b": other}, metrics="AP", slices=lang, costs=costs)


def test_slices_are_their_contrasts_and_the_reversal_is_told() -> None:
    subject = reversing()
    section = section_of("slices", subject)
    chart = charts(section)["slices"]
    assert subject.result.slices is not None
    whole, *parts = chart.rows
    c = first(subject)
    assert whole[:2] == ("all queries", ValueRange(c.difference, c.adjusted.lower, c.adjusted.upper))
    for row, part in zip(parts, subject.result.slices.contrasts, strict=True):
        bounds = part.contrast.adjusted
        assert row[:3] == (part.equation, ValueRange(part.contrast.difference, bounds.lower, bounds.upper), 20)
    assert (
        "better in 2 of 3 slices, worse in 1. The mean is better over all queries and worse in lang = en"
        in section.lead
    )
    assert [n.code for b in section.blocks if isinstance(b, Notes) for n in b.items] == ["RS404"]
    said = [b.text for b in section.blocks if isinstance(b, Paragraph)]
    assert said == ["p and intervals of slices are corrected for 3 comparisons. *: a clear difference."]
    assert "The bar of all queries is the one of the comparison above" in chart.caption
    table = tables(section)["slices"]
    for cells, part in zip(table.rows, subject.result.slices.contrasts, strict=True):
        one = part.contrast
        assert (cells[0], cells[7]) == (part.equation, one.queries)
        assert isinstance(cells[1], NumberText)
        assert isinstance(cells[2], ValueRange)
        assert (cells[1].value, cells[2].lower, cells[2].upper) == (
            one.difference,
            one.adjusted.lower,
            one.adjusted.upper,
        )
        assert cells[4:7] == (one.wins, one.losses, one.ties)
    assert find_section("slices", SUBJECTS["two"]()) is None


def test_costs_draw_the_front() -> None:
    subject = reversing()
    (section,) = (s for s in all_sections(subject) if s.name == "costs")
    time, price = (charts(section)[name] for name in ("quality-by-latency-ms", "quality-by-price"))
    assert [(r[0], r[3]) for r in time.rows] == [("a", 1), ("b", 1)]
    assert [(r[0], r[3]) for r in price.rows] == [("b", 1), ("a", 0)]
    assert time.logs == {"x"}
    assert not price.logs
    assert [(r[1], r[2]) for r in time.rows] == [(10.0, subject.lead.means["a"]), (1000.0, subject.lead.means["b"])]
    assert time.told
    assert price.told
    assert not any(isinstance(b, Heading) for b in section.blocks), "the chart has the title"
    table = tables(section)["costs-latency-ms"]
    assert not table.title
    assert [column(table, "latency_ms")] == [[NumberText("10", 10.0), NumberText("1,000", 1000.0)]]
    lead = (
        "By latency_ms, a and b are on the Pareto front: each costs more than the one before it and has a higher mean."
    )
    assert section.lead == f"{lead} {MEANS_ONLY}"


@pytest.mark.parametrize(
    ("given_costs", "said"),
    [
        (
            (1, 2, 3),
            "a, b and c are on the Pareto front: each costs more than the one before it and has a higher mean.",
        ),
        ((1, 4, 3), "a and c are on the Pareto front; the other one costs at least the same and has no higher mean."),
        ((3, 3, 3), "c beats all others: no other run costs less or has a higher mean."),
        ((2, 4, 4), "a and c are on the Pareto front; the other one costs at least the same and has no higher mean."),
    ],
)
def test_the_lead_of_costs_is_of_means(given_costs: tuple[int, int, int], said: str) -> None:
    scores = {name: {q: 0.3 + 0.1 * i + j / 1000 for j, q in enumerate(QRELS)} for i, name in enumerate("abc")}
    costs_given = {name: {"cost": cost} for name, cost in zip("abc", given_costs, strict=True)}
    section = section_of("costs", compared(scores, metrics="AP", costs=costs_given))
    assert section.lead == f"By cost, {said} {MEANS_ONLY}"


def test_small_slices_are_called_so_where_they_are() -> None:
    base, other = drawn(0)["a"], drawn(0)["b"]
    parts = {q: {"part": str(i % 10), "length": i} for i, q in enumerate(base)}
    found = section_of("slices", compared({"a": base, "b": other}, metrics="AP", slices=parts))
    assert found is not None
    assert any("of 13 are inconclusive" in b.text for b in found.blocks if isinstance(b, Paragraph))
    names = column(tables(found)["slices"], "slice")
    assert names[0] == "part = 0"
    assert names[-1] == "length = 20 to 29"


def test_precision_at_each_recall_is_drawn_from_0_to_1() -> None:
    assert RecallCurve({"a": [0.5] * 11}, 1.0).chart().limits == (0.0, 1.0)
