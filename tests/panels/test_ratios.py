"""Panels of ratios: paired where systems share units, with clusters, and independent where each has its own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankscope.lists import Array
from rankscope.panels.contrast import contrast
from rankscope.panels.method import method_of
from rankscope.panels.ratios import panel_of, ratio_parts
from rankscope.panels.samples import Measure

METHOD = method_of()
CLICKS = Measure("CTR", unit="impression")


def totals(seed: int, units: int) -> dict[str, Array]:
    """Clicks and impressions of two rankers on the same units."""
    draws = np.random.default_rng(seed)
    shown = draws.integers(0, 9, (2, units)).astype(float)
    return {name: np.column_stack([draws.binomial(below.astype(int), 0.3), below]) for name, below in zip("AB", shown, strict=True)}  # fmt: skip


def by_cluster(table: Array, size: int) -> Array:
    """The totals of clusters of so many units each."""
    return np.asarray(table.reshape(-1, size, 2).sum(axis=1))


def test_a_paired_ratio_is_that_of_sums_and_its_error_that_of_the_delta_method() -> None:
    rows = totals(1, 400)
    found = contrast(panel_of(CLICKS, rows, paired=True), "B", "A", METHOD)
    values = {name: table[:, 0].sum() / table[:, 1].sum() for name, table in rows.items()}
    assert found.difference == pytest.approx(values["B"] - values["A"], rel=1e-12)
    pulls = [(table[:, 0] - values[name] * table[:, 1]) / table[:, 1].mean() for name, table in rows.items()]
    deviation = float(np.std(pulls[1] - pulls[0], ddof=1))
    assert found.pair.means.error == pytest.approx(deviation / math.sqrt(400), rel=1e-12)


def test_units_of_clusters_of_one_size_are_as_sure_as_their_clusters() -> None:
    rows, size = totals(2, 600), 3
    clusters = np.repeat(np.arange(200), size)
    units = contrast(panel_of(CLICKS, rows, paired=True, clusters=clusters), "B", "A", METHOD)
    whole = contrast(panel_of(CLICKS, {name: by_cluster(table, size) for name, table in rows.items()}, paired=True), "B", "A", METHOD)  # fmt: skip
    assert units.difference == pytest.approx(whole.difference, rel=1e-12)
    assert units.pair.means.error == pytest.approx(whole.pair.means.error, rel=1e-9)
    assert units.p_value == pytest.approx(whole.p_value, rel=1e-6)


def test_pairing_takes_away_what_units_share() -> None:
    rows = totals(3, 500)
    rows["B"] = rows["A"] + np.column_stack([np.arange(500) % 50 == 0, np.zeros(500)])
    own, shared = (contrast(panel_of(CLICKS, rows, paired=paired), "B", "A", METHOD) for paired in (False, True))
    assert own.difference == pytest.approx(shared.difference, rel=1e-9)
    assert shared.pair.means.error < own.pair.means.error / 3


def test_a_ratio_of_nothing_is_undefined() -> None:
    assert np.isnan(ratio_parts(np.ones(3), np.zeros(3))).all()
