"""Comparisons on parts of the queries: each slice is a comparison of its own, corrected over all slices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rankscope as rs
from rankscope.errors import DataError, InputError
from rankscope.panels.contrast import CLEAR
from rankscope.verbs.compare.result import Comparison

IDS = [f"q{i:02}" for i in range(45)]
LANG = {query: {"lang": ("en", "de", "fr")[i % 3]} for i, query in enumerate(IDS)}


def drawn(systems: int = 2, seed: int = 0) -> dict[str, dict[str, float]]:
    draws = np.random.default_rng(seed)
    hard = draws.random(len(IDS))
    rows = [np.clip(hard + draws.normal(0.05 * i, 0.15, len(IDS)), 0, 1) for i in range(systems)]
    return {f"s{i}": dict(zip(IDS, row.tolist(), strict=True)) for i, row in enumerate(rows)}


def parts(found: Comparison) -> dict[tuple[str, str], Any]:
    assert found.slices is not None
    return {(p.name, p.contrast.run): p.contrast for p in found.slices.contrasts}


def test_a_slice_is_the_comparison_of_its_queries() -> None:
    scores = drawn(3)
    found = rs.compare(scores, metrics="AP", slices=LANG)
    assert set(parts(found)) == {(lang, run) for lang in ("en", "de", "fr") for run in ("s1", "s2")}
    for (lang, run), c in parts(found).items():
        inside = [q for q in IDS if LANG[q]["lang"] == lang]
        alone = rs.compare({s: {q: row[q] for q in inside} for s, row in scores.items()}, metrics="AP")[run, "AP"]
        assert c.queries == len(inside) == 15
        assert (c.difference, c.p_value, c.bounds) == (alone.difference, alone.p_value, alone.bounds)
        a, b = ([scores[s][q] for q in inside] for s in ("s0", run))
        assert c.p_value == pytest.approx(stats.ttest_rel(b, a).pvalue, rel=1e-9)


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh"])
def test_all_slices_of_all_attributes_are_one_family(correction: str, need: Callable[[str], ModuleType]) -> None:
    need("statsmodels")
    multipletests = need("statsmodels.stats.multitest").multipletests
    slices = {q: {"lang": LANG[q]["lang"], "head": "yes" if i < 20 else "no"} for i, q in enumerate(IDS)}
    found = rs.compare(drawn(3, seed=2), metrics="AP", slices=slices, correction=correction)
    assert found.slices is not None
    mine = [p.contrast for p in found.slices.contrasts]
    assert len(mine) == (3 + 2) * 2
    method = {"bh": "fdr_bh"}.get(correction, correction)
    expected = multipletests([c.p_value for c in mine], 0.05, method)[1]
    assert [c.p_value_adjusted for c in mine] == pytest.approx(expected, rel=1e-10)
    assert {c.comparisons for c in mine} == {10}
    for c in mine:
        outside = not c.adjusted.lower <= 0 <= c.adjusted.upper
        assert outside == (c.p_value_adjusted <= 0.05) == (c.verdict in CLEAR)


def test_slices_change_nothing_of_the_whole() -> None:
    scores = drawn(3)
    plain, cut = rs.compare(scores, metrics="AP"), rs.compare(scores, metrics="AP", slices=LANG)
    assert plain.to_dicts() == cut.to_dicts()


def test_a_joint_correction_leaves_slices_to_holm() -> None:
    found = rs.compare(drawn(3), metrics="AP", slices=LANG, correction="max_t(rounds=999)")
    holm = rs.compare(drawn(3), metrics="AP", slices=LANG)
    assert [c.p_value_adjusted for c in parts(found).values()] == [c.p_value_adjusted for c in parts(holm).values()]


def test_queries_of_which_nothing_is_said_are_a_slice() -> None:
    found = rs.compare(drawn(), metrics="AP", slices={q: LANG[q] for q in IDS[:30]})
    assert {(name, c.queries) for (name, _), c in parts(found).items()} == {
        ("en", 10), ("de", 10), ("fr", 10), ("(none)", 15),
    }  # fmt: skip
    assert any("15 scored queries are not in it" in note for note in found.notes)


def test_numbers_are_cut_into_thirds() -> None:
    found = rs.compare(drawn(), metrics="AP", slices={q: {"length": i} for i, q in enumerate(IDS)})
    assert [c.queries for c in parts(found).values()] == [15, 15, 15]


def test_small_slices_cannot_tell() -> None:
    slices = {q: {"kind": "rare" if i < 4 else "usual"} for i, q in enumerate(IDS)}
    scores = drawn()
    for q in IDS:
        scores["s1"][q] = scores["s0"][q] + 0.3
    rare = parts(rs.compare(scores, metrics="AP", slices=slices))["rare", "s1"]
    assert (rare.verdict, rare.queries, rare.p_value) == ("cannot tell", 4, 2 / 2**4)


def test_an_attribute_of_very_many_values_makes_no_slices() -> None:
    found = rs.compare(drawn(), metrics="AP", slices={q: {"text": f"about {q}", "lang": "en"} for q in IDS})
    assert {name for name, _ in parts(found)} == {"en"}
    assert any("too many for slices" in note for note in found.notes)


def test_slices_with_clusters() -> None:
    clusters = {q: f"u{i // 3}" for i, q in enumerate(IDS)}
    slices = {q: {"half": "first" if i < 24 else "second"} for i, q in enumerate(IDS)}
    scores = drawn()
    first = parts(rs.compare(scores, metrics="AP", slices=slices, clusters=clusters))["first", "s1"]
    alone = rs.compare(
        {s: dict(list(row.items())[:24]) for s, row in scores.items()},
        metrics="AP",
        clusters={q: clusters[q] for q in IDS[:24]},
    )["s1", "AP"]
    assert first.p_value == pytest.approx(alone.p_value, rel=1e-12)


def test_unknown_queries_are_told_and_only_unknown_ones_refused(tmp_path: Path) -> None:
    path = tmp_path / "attributes.csv"
    path.write_text("query_id,lang\nq00,en\nq01,de\nalien,fr\n")
    found = rs.compare(drawn(), metrics="AP", slices=path)
    assert any("attributes.csv: 1 query is not scored (alien)" in note for note in found.notes)
    path.write_text("query_id,lang\nx,en\ny,de\n")
    with pytest.raises(DataError, match="use one set of query ids"):
        rs.compare(drawn(), metrics="AP", slices=path)
    path.write_text("query_id\nq00\n")
    with pytest.raises(InputError, match="one column only"):
        rs.compare(drawn(), metrics="AP", slices=path)


def test_slices_in_the_envelope() -> None:
    found = rs.compare(drawn(3), metrics="AP", slices=LANG)
    rows = found.json_document()["slices"]
    assert len(rows) == 6
    assert all({"attribute", "slice", "difference", "ci_lower_adjusted", "verdict"} <= set(row) for row in rows)
    assert {row["slice"] for row in rows} == {"en", "de", "fr"}


def test_values_of_every_metric_are_shown_on_every_slice() -> None:
    qrels = {query: {"a": 2, "b": 1} for query in IDS}
    runs = {
        name: {q: {"a": i % k, "b": 0.5, "c": i % 4} for i, q in enumerate(IDS)} for name, k in (("x", 2), ("y", 3))
    }
    found = rs.compare(qrels, runs, ["AP", "nDCG@10"], slices=LANG)
    text = found.to_text(width=100)
    assert "values on slices, all metrics" in text
    assert found.slices is not None
    for part in found.slices.contrasts:
        assert f"{part.contrast.value:.4f}" in text
        assert f"{part.contrast.baseline_value:.4f}" in text
