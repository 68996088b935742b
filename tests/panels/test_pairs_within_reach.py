"""All pairs of systems: how many differ by less than can be detected, and the nearest of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankscope.metrics import parse
from rankscope.panels.panel import Panel
from rankscope.panels.reach import PowerGoal, pairs_within_reach, reach_of
from rankscope.panels.samples import Measure

NONE = float("nan")


def panel_of(rows: Any, clusters: Any = None, weights: Any = None) -> Panel:
    values = np.array(rows, dtype=float)
    systems, units = (tuple(f"{kind}{i}" for i in range(n)) for kind, n in zip("sq", values.shape, strict=True))
    return Panel(Measure.of(parse("RR")), systems, units, values, clusters=clusters, weights=weights)


def test_clusters_and_weights_are_seen_in_all_pairs() -> None:
    draws = np.random.default_rng(4)
    rows = [0.2 + 0.07 * i + np.repeat(draws.normal(0, 0.05, 6), 4) for i in range(5)]
    clustered = panel_of(rows, clusters=np.repeat(np.arange(6), 4))
    weighted = panel_of(rows, weights=np.broadcast_to(draws.random(24) ** 3 + 0.01, (5, 24)))
    for panel in (clustered, weighted):
        pairs, small, nearest = pairs_within_reach(panel, PowerGoal())
        assert (pairs, 0 < small <= 10) == (10, True)
        assert nearest is not None
        assert nearest == reach_of(panel, (nearest.run, nearest.baseline), PowerGoal(), (), observed=False)
    assert pairs_within_reach(clustered, PowerGoal())[1] > pairs_within_reach(panel_of(rows), PowerGoal())[1]


def test_three_systems_by_hand() -> None:
    """Differences of 0.5, -0.5, 0.5, -0.4 have a mean of 0.025 and a large spread; a gain of 2 everywhere has none, and is large."""
    base = [0.0, 0.5, 0.0, 0.4]
    pairs, small, nearest = pairs_within_reach(
        panel_of([base, [0.5, 0.0, 0.5, 0.0], [one + 2 for one in base]]), PowerGoal()
    )
    assert (pairs, small) == (3, 1)
    assert nearest is not None
    assert (nearest.run, nearest.baseline) == ("s0", "s1")
    assert nearest.difference == pytest.approx(-0.025)


def test_no_pair() -> None:
    assert pairs_within_reach(panel_of([[0.5, 1.0]]), PowerGoal()) == (0, 0, None)
    assert pairs_within_reach(panel_of([[0.5, NONE], [1.0, NONE]]), PowerGoal()) == (0, 0, None)
