"""What a comparison warns of: each doubt where it is due, and only there."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.inference.base import Sample
from rankscope.inference.effects import favourable_if_normal
from rankscope.metrics import parse
from rankscope.panels.contrast import contrast
from rankscope.panels.contrast_result import few_clusters
from rankscope.panels.method import method_of
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure
from rankscope.verbs.compare.result import Comparison

QRELS = {f"q{i:02}": {"good": 1} for i in range(40)}


def placed(ranks: list[int]) -> dict[str, dict[str, float]]:
    """A run with the one good document of each query at a rank."""
    return {
        f"q{i:02}": {("good" if j == rank else f"d{j}"): -float(j) for j in range(1, 12)}
        for i, rank in enumerate(ranks)
    }


def codes(found: Comparison) -> list[str]:
    return [w.code for w in found.warnings if w.code.startswith("RS4")]


def said(found: Comparison, code: str) -> str:
    (message,) = (w.message for w in found.warnings if w.code == code)
    return message


def drawn(systems: int, queries: int = 30, seed: int = 0, step: float = 0.0) -> Any:
    draws = np.random.default_rng(seed)
    hard = draws.random(queries)
    return np.clip([hard * 0.6 + 0.2 + i * step + draws.normal(0, 0.05, queries) for i in range(systems)], 0, 1)


def test_nothing_to_doubt() -> None:
    assert codes(rs.compare(drawn(2, step=0.05), metrics="AP")) == []


# --- metrics that disagree -------------------------------------------------------------------------------


def test_metrics_that_move_in_opposite_directions() -> None:
    base = placed([3] * 40)
    run = placed([1] * 20 + [11] * 20)  # RR rises to (1 + 1/11) / 2, Success@5 falls to 1/2
    found = rs.compare(QRELS, {"base": base, "run": run}, ["RR", "Success@5"])
    assert found["run", "RR"].verdict == "better"
    assert found["run", "Success@5"].verdict == "worse"
    assert said(found, "RS401") == "run is better than base on RR and worse on Success@5"


def test_a_lower_value_that_is_better_is_no_contradiction() -> None:
    values = drawn(2, step=0.1)
    rows = {
        "run": [name for name in "ab" for _ in range(30)] * 2,
        "query_id": [f"q{i}" for i in range(30)] * 4,
        "metric": ["AP"] * 60 + ["LabelRankingLoss"] * 60,
        "value": [*values[0], *values[1], *(1 - values[0]), *(1 - values[1])],
    }
    import polars as pl

    found = rs.compare(pl.DataFrame(rows))
    assert [c.verdict for c in found.contrasts] == ["better", "better"]
    assert "RS401" not in codes(found)


# --- cutoffs ---------------------------------------------------------------------------------------------


def test_a_winner_that_changes_with_the_cutoff() -> None:
    deep, top = placed([2] * 40), placed([1] * 30 + [11] * 10)
    found = rs.compare(QRELS, {"deep": deep, "top": top}, "Success@5")
    means = {k: rs.evaluate(QRELS, {"deep": deep, "top": top}, f"Success@{k}") for k in (1, 3, 20)}
    assert means[1]["top", "Success@1"] > means[1]["deep", "Success@1"]
    assert means[3]["top", "Success@3"] < means[3]["deep", "Success@3"]
    assert means[20]["top", "Success@20"] == means[20]["deep", "Success@20"]  # nobody leads there
    assert said(found, "RS402") == (
        "which run is ahead on Success changes with the cutoff: top at 1; deep at 2, 3, 5 and 10"
    )
    assert found.metrics == ["Success@5"]  # the cutoffs looked at beside are not compared
    assert found.scores is not None
    assert [str(m) for m in found.scores.metrics] == ["Success@5"]


def test_a_winner_at_every_cutoff_is_not_doubted() -> None:
    found = rs.compare(QRELS, {"a": placed([4] * 40), "b": placed([1] * 40)}, "nDCG@10")
    assert "RS402" not in codes(found)
    assert "RS402" not in codes(rs.compare(QRELS, {"a": placed([4] * 40), "b": placed([1] * 40)}, "AP"))


# --- few queries that carry a lead ------------------------------------------------------------------------


def test_a_lead_that_few_queries_carry() -> None:
    gains = [0.9] * 5 + [-0.0005] * 95  # without four the rest sum to .9 - .0475, without five to -.0475
    low = np.full(100, 0.5)
    low[:5] = 0.05
    found = rs.compare(np.array([low, low + gains]), metrics="AP")
    (c,) = found.contrasts
    assert c.verdict == "better"
    assert c.favourable == (5, 5 / 100)
    usual = favourable_if_normal(Sample(np.array(gains)))
    assert said(found, "RS403").endswith(
        f"the lead is gone without 5 of 100 queries (5.0%; without large differences it would take about {usual:.0f})"
    )


@pytest.mark.parametrize("lead", [0.05, 0.1, 0.3])
def test_normal_differences_are_carried_by_as_many_as_is_usual(lead: float) -> None:
    """Without an outlier a small lead is gone without few queries, too: that is no reason to doubt it."""
    gains = np.random.default_rng(3).normal(lead, 1, 7000)
    found = rs.compare(np.array([np.zeros(7000), gains]))
    (c,) = found.contrasts
    assert c.verdict == "better"
    assert c.favourable is not None
    assert c.favourable[0] == pytest.approx(favourable_if_normal(Sample(gains)), rel=0.1)
    assert "RS403" not in codes(found)


def test_where_each_query_has_one_relevant_document_few_carry_a_lead() -> None:
    """180 queries won by 1 and 120 lost by 1, of 7,000: without 60 the lead is gone, and no one of them stands out."""
    gains = np.zeros(7000)
    gains[:180], gains[180:300] = 1, -1
    found = rs.compare(np.array([np.where(gains < 0, 1.0, 0.0), np.where(gains > 0, 1.0, 0.0)]), metrics="Success@10")
    (c,) = found.contrasts
    assert (c.verdict, c.favourable) == ("better", (60, 60 / 7000))
    assert "RS403" not in codes(found)


def test_a_lead_that_many_carry_is_not_doubted() -> None:
    found = rs.compare(drawn(2, step=0.1), metrics="AP")
    assert found.contrasts[0].favourable is not None
    assert found.contrasts[0].favourable[1] > 0.5
    assert "RS403" not in codes(found)


# --- slices ---------------------------------------------------------------------------------------------


def opposed_slices() -> tuple[Any, dict[str, dict[str, str]]]:
    values = drawn(2, queries=60, step=0.0)
    values[1, :45] = np.clip(values[0, :45] + 0.1 + np.arange(45) / 1000, 0, 1)
    values[1, 45:] = np.clip(values[0, 45:] - 0.1 - np.arange(15) / 1000, 0, 1)
    return values, {f"q{i + 1}": {"lang": "en" if i < 45 else "de"} for i in range(60)}


def test_a_whole_that_improves_and_a_slice_that_worsens() -> None:
    values, slices = opposed_slices()
    found = rs.compare(values, metrics="AP", slices=slices)
    assert found.contrasts[0].verdict == "better"
    assert "worse in the slice lang de" in said(found, "RS404")
    assert "15 queries" in said(found, "RS404")
    assert "RS404" not in codes(rs.compare(values, metrics="AP"))


def test_the_flag_does_not_depend_on_who_comes_first_in_all_pairs() -> None:
    values, slices = opposed_slices()
    for rows in (values, values[::-1]):
        assert "RS404" in codes(rs.compare(rows, metrics="AP", slices=slices, all_pairs=True))


# --- too few queries -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("differing", "flagged"), [(0, False), (1, True), (5, True), (6, False)])
def test_fewer_than_six_differing_queries_are_told(differing: int, flagged: bool) -> None:
    high = [0.9] * differing + [0.5] * (20 - differing)
    found = rs.compare(np.array([[0.5] * 20, high]), metrics="AP")
    assert ("RS405" in codes(found)) == flagged
    if flagged:
        assert f"differ on {differing} of 20 queries" in said(found, "RS405")


def test_a_test_that_cannot_reach_what_the_correction_asks() -> None:
    """Seven differing queries: 2 / 2**7 is the smallest p-value, and 4 times that is above 5%."""
    low = np.full(20, 0.5)
    rows = [low]
    for i in range(4):
        row = low.copy()
        row[:7] += np.linspace(0.1, 0.2, 7) + i / 100
        rows.append(row)
    found = rs.compare(np.array(rows), metrics="AP", test="permutation")
    assert [c.p_value for c in found.contrasts] == [2 / 2**7] * 4
    assert math.isclose(found.contrasts[0].smallest, 2 / 2**7)
    assert "none of 4 comparisons can be clear" in said(found, "RS406")
    assert all(c.verdict == "cannot tell" for c in found.contrasts)
    assert "RS406" not in codes(rs.compare(np.array(rows[:3]), metrics="AP", test="permutation"))
    assert "RS406" not in codes(rs.compare(np.array(rows), metrics="AP"))  # t can


@pytest.mark.parametrize(
    "options", [{"correction": "max_t(rounds=99)", "alpha": 0.005}, {"test": "bootstrap(rounds=100)"}]
)
def test_too_few_rounds_are_told(options: dict[str, Any]) -> None:
    found = rs.compare(drawn(8, step=0.1), metrics="AP", **options)
    assert all(c.verdict == "cannot tell" for c in found.contrasts)
    assert "RS406" in codes(found)


# --- undefined values ------------------------------------------------------------------------------------


def test_queries_that_cannot_be_paired_are_counted_once_a_metric() -> None:
    values = drawn(3)
    values[1, :4] = math.nan
    values[2, :2] = math.nan
    found = rs.compare(values, metrics="AP")
    assert codes(found).count("RS407") == 1
    assert "4 queries have a value for only one of system2 and system1" in said(found, "RS407")
    assert "over the other 26" in said(found, "RS407")


def test_queries_undefined_for_both_are_no_matter() -> None:
    values = drawn(2)
    values[:, :4] = math.nan
    found = rs.compare(values, metrics="AP")
    assert codes(found) == []
    assert found.contrasts[0].queries == 26


def test_every_flag_says_what_to_do() -> None:
    values, slices = opposed_slices()
    values[1, 0] = math.nan
    found = rs.compare(values, metrics="AP", slices=slices)
    for warned in found.warnings:
        record = warned.as_dict()
        assert {"code", "message", "hint"} <= set(record)
        assert "\n" not in record["message"]
        assert record["hint"]


# --- clusters, and looks that come early -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        pytest.param(
            [5] * 6,
            "30 queries in 6 clusters: intervals and p-values rest on 5 degrees of freedom",
            id="six of one size",
        ),
        pytest.param(
            [20, 5, 5],  # shares 2/3, 1/6, 1/6; w² / (1 - w) 4/3, 1/30, 1/30: 1 / (1/2 + 8/45 + 1/450)
            "30 queries in 3 clusters of unequal size (the largest holds 67%): intervals and p-values rest on 1.5 degrees of freedom",
            id="one large and two small",
        ),
    ],
)
def test_few_clusters_are_told(sizes: list[int], expected: str) -> None:
    of_query = {f"q{i:02}": f"user{n}" for i, n in enumerate(np.repeat(np.arange(len(sizes)), sizes).tolist())}
    table = {
        name: {q: float(v) for q, v in zip(of_query, row, strict=True)}
        for name, row in zip("ab", drawn(2), strict=True)
    }
    assert said(rs.compare(table, clusters=of_query), "RS411") == expected
    alone = {query: query for query in of_query}
    assert "RS411" not in codes(rs.compare(table, clusters=alone))


def test_weights_that_leave_few_clusters_are_told() -> None:
    units, clusters = tuple(f"q{i:02}" for i in range(30)), np.arange(30) // 3
    weights = np.tile(np.where(clusters == 0, 18.0, 1.0), (2, 1))
    heavy = Panel(Measure.of(parse("nDCG@10")), ("a", "b"), units, drawn(2), weights, clusters)
    # shares 2/3 and nine of 1/27; w² / (1 - w) is 4/3 and nine of 1/702: 1 / (4/9 + 1/81 + 2 (9 · 4/3 + 36/702) / 702)
    degrees = 1 / (4 / 9 + 1 / 81 + 2 * (12 + 36 / 702) / 702)
    (found,) = few_clusters([contrast(heavy, "b", "a", method_of())])
    assert found.message == (
        f"30 queries in 10 clusters of unequal weight (one holds 67% of it): intervals and p-values rest on {degrees:.1f} degrees of freedom"
    )
    (plain,) = few_clusters([contrast(replace(heavy, weights=np.full((2, 30), 2.0)), "b", "a", method_of())])
    assert plain.message == "30 queries in 10 clusters: intervals and p-values rest on 9 degrees of freedom"


@pytest.mark.parametrize(
    ("queries", "test", "told"), [(60, "anytime", True), (100, "anytime", False), (60, "betting", False)]
)
def test_a_sequential_test_that_looks_early_says_so(queries: int, test: str, told: bool) -> None:
    table = {
        name: {f"q{i:03}": float(v) for i, v in enumerate(row)}
        for name, row in zip("ab", drawn(2, queries), strict=True)
    }
    assert ("RS412" in codes(rs.compare(table, test=test))) == told
